//! Content as it arrives, and its sums.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use serde_json::Value;

use crate::error::ApiError;

/// The parts of a `multipart/related` upload: metadata as JSON, then content with its type.
pub(crate) struct Parts {
    pub(crate) metadata: Value,
    pub(crate) content_type: Option<String>,
    pub(crate) content: Vec<u8>,
}

/// Takes a `multipart/related` body apart.
pub(crate) fn parts(content_type: &str, body: &[u8]) -> Result<Parts, ApiError> {
    let wrong = || {
        ApiError::bad("The multipart body is malformed: it needs a JSON part and a content part.")
    };
    let boundary = content_type
        .split(';')
        .filter_map(|parameter| parameter.trim().strip_prefix("boundary="))
        .map(|boundary| boundary.trim_matches(['"', '\'']))
        .next()
        .ok_or_else(wrong)?;
    let mark = format!("--{boundary}").into_bytes();
    let mut found = Vec::new();
    let mut starts = Vec::new();
    let mut at = 0;
    while let Some(next) = find(body.get(at..).unwrap_or_default(), &mark) {
        starts.push(at + next);
        at += next + mark.len();
    }
    for pair in starts.windows(2) {
        let [start, end] = pair else { continue };
        let part = body.get(start + mark.len()..*end).ok_or_else(wrong)?;
        found.push(part);
    }
    let [first, second] = found.as_slice() else {
        return Err(wrong());
    };
    let (_, metadata) = headed(first).ok_or_else(wrong)?;
    let (headers, content) = headed(second).ok_or_else(wrong)?;
    let metadata = serde_json::from_slice(metadata).map_err(|_| wrong())?;
    let content_type = headers.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-type")
            .then(|| value.trim().to_owned())
    });
    Ok(Parts {
        metadata,
        content_type,
        content: content.to_vec(),
    })
}

/// Headers and body of one part; the line end before the next boundary is not the body's.
fn headed(part: &[u8]) -> Option<(String, &[u8])> {
    let part = part
        .strip_prefix(b"\r\n")
        .or_else(|| part.strip_prefix(b"\n"))?;
    let (at, gap) = match (find(part, b"\r\n\r\n"), find(part, b"\n\n")) {
        (Some(at), _) => (at, 4),
        (None, Some(at)) => (at, 2),
        (None, None) => return None,
    };
    let headers = String::from_utf8_lossy(part.get(..at)?).into_owned();
    let body = part.get(at + gap..)?;
    let body = body
        .strip_suffix(b"\r\n")
        .or_else(|| body.strip_suffix(b"\n"))
        .unwrap_or(body);
    Some((headers, body))
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}

/// MD5 in base64, as `md5Hash` has it.
pub(crate) fn md5_hash(content: &[u8]) -> String {
    STANDARD.encode(Md5::digest(content))
}

/// CRC-32C in base64 of its four bytes, big end first, as `crc32c` has it.
pub(crate) fn crc32c(content: &[u8]) -> String {
    let mut crc = u32::MAX;
    for byte in content {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ 0x82f6_3b78
            } else {
                crc >> 1
            };
        }
    }
    STANDARD.encode((!crc).to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_google_s() {
        // the check value of CRC-32C, 0xe3069283, and the MD5 of the same text
        assert_eq!(crc32c(b"123456789"), "4waSgw==");
        assert_eq!(md5_hash(b"123456789"), "JfnnlDI7RTiF9RgfG2JNCw==");
        assert_eq!(crc32c(b""), "AAAAAA==");
    }

    #[test]
    fn a_multipart_body_comes_apart() {
        let body = b"--x\r\nContent-Type: application/json\r\n\r\n{\"name\": \"n\"}\r\n--x\r\nContent-Type: text/plain\r\n\r\nline\r\n\r\nend\r\n--x--";
        let parts = parts("multipart/related; boundary=x", body).unwrap();
        assert_eq!(parts.metadata["name"], "n");
        assert_eq!(parts.content_type.as_deref(), Some("text/plain"));
        assert_eq!(parts.content, b"line\r\n\r\nend");
        assert!(super::parts("multipart/related; boundary=y", body).is_err());
    }
}
