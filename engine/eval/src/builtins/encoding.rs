//! Base64, gzip, character encodings, URLs.

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use formwork_values::Value;

use super::{Answer, Given};
use crate::functions::CallError;

/// Bits that stand for nothing at the end are not looked at.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Decodes base64 as everybody's documents have it: padded, line breaks ignored.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let joined;
    let text = if text.contains(['\n', '\r']) {
        joined = text.replace(['\n', '\r'], "");
        &joined
    } else {
        text
    };
    LENIENT.decode(text).ok()
}

pub(super) fn base64encode(given: &Given<'_>) -> Answer {
    Ok(Value::string(STANDARD.encode(given.text(0))))
}

/// The bytes of the first argument, which must be base64.
fn base64_bytes(given: &Given<'_>) -> Result<Vec<u8>, CallError> {
    from_base64(given.text(0)).ok_or_else(|| {
        CallError::call(
            "The text is not base64: only letters, digits, \"+\" and \"/\", padded with \"=\" to a \
             multiple of four, are.",
        )
    })
}

pub(super) fn base64decode(given: &Given<'_>) -> Answer {
    let bytes = base64_bytes(given)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Value::string(text)),
        Err(_) => Err(CallError::call(
            "What the base64 text holds is not text in UTF-8. Bytes of other kinds cannot be values; \
             pass the base64 text on instead.",
        )),
    }
}

pub(super) fn base64gzip(given: &Given<'_>) -> Answer {
    let text = given.text(0).as_bytes();
    gzip(text)
        .map(|bytes| Value::string(STANDARD.encode(bytes)))
        .map_err(|error| CallError::call(format!("The text could not be compressed: {error}.")))
}

/// A gzip stream without name and time, flushed and then closed by an empty stored block, the layout
/// that other tools of the language write. The compressed bytes between depend on the compressor.
fn gzip(data: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    if data.is_empty() {
        // nothing to compress: only the flush
        out.extend([0, 0, 0, 0xff, 0xff]);
    } else {
        let mut deflate =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
        deflate.write_all(data)?;
        deflate.flush()?;
        out.extend_from_slice(deflate.get_ref());
    }
    out.extend([1, 0, 0, 0xff, 0xff]);
    let mut crc = flate2::Crc::new();
    crc.update(data);
    out.extend(crc.sum().to_le_bytes());
    out.extend(crc.amount().to_le_bytes());
    Ok(out)
}

/// The most that a compressed text may hold: a few bytes can stand for any number of them.
const MOST_DECOMPRESSED: u64 = 64 * 1024 * 1024;

pub(super) fn base64gunzip(given: &Given<'_>) -> Answer {
    let bytes = base64_bytes(given)?;
    let mut text = Vec::new();
    let read = flate2::bufread::MultiGzDecoder::new(&bytes[..])
        .take(MOST_DECOMPRESSED + 1)
        .read_to_end(&mut text);
    if let Err(error) = read {
        return Err(CallError::call(format!(
            "What the base64 text holds is not compressed by gzip: {error}."
        )));
    }
    if text.len() as u64 > MOST_DECOMPRESSED {
        return Err(CallError::call(format!(
            "The text holds more than {} MiB when it is decompressed, which is more than is taken here.",
            MOST_DECOMPRESSED / (1024 * 1024)
        )));
    }
    match String::from_utf8(text) {
        Ok(text) => Ok(Value::string(text)),
        Err(_) => Err(CallError::call(
            "What was compressed is not text in UTF-8. Bytes of other kinds cannot be values; pass the \
             base64 text on instead.",
        )),
    }
}

/// As forms of web pages are read: "+" is a space, "%" and two hexadecimal digits are a byte.
pub(super) fn urldecode(given: &Given<'_>) -> Answer {
    let text = given.text(0);
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.bytes().enumerate();
    while let Some((at, byte)) = rest.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = text.get(at + 1..at + 3);
                let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
                let byte = digits.and_then(|d| u8::from_str_radix(d, 16).ok());
                let Some(byte) = byte else {
                    let found: String = text[at..].chars().take(3).collect();
                    return Err(CallError::call(format!(
                        "{found:?} is no encoded byte: \"%\" must be followed by two hexadecimal digits, and \
                         is written \"%25\" where it stands for itself."
                    )));
                };
                rest.nth(1);
                byte
            }
            other => other,
        });
    }
    String::from_utf8(out).map(Value::string).map_err(|_| {
        CallError::call("The bytes that are encoded in the text are not text in UTF-8.")
    })
}

pub(super) fn urlencode(given: &Given<'_>) -> Answer {
    let mut out = String::new();
    for byte in given.text(0).bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    Ok(Value::string(out))
}

/// Names of encodings that the registry (IANA) has, of those that are known here.
#[rustfmt::skip] // a table
const REGISTERED: &[&str] = &[
    "866", "ansi_x3.4-1968", "arabic", "asmo-708", "big5", "cp819", "cp866", "csbig5", "cseuckr",
    "cseucpkdfmtjapanese", "csibm866", "csiso2022jp", "csiso88596e", "csiso88596i", "csiso88598e",
    "csiso88598i", "csisolatin1", "csisolatin2", "csisolatin3", "csisolatin4", "csisolatin5",
    "csisolatin6", "csisolatinarabic", "csisolatincyrillic", "csisolatingreek", "csisolatinhebrew",
    "cskoi8r", "csmacintosh", "csshiftjis", "cyrillic", "ecma-114", "ecma-118", "elot_928",
    "euc-jp", "euc-kr", "gb18030", "gbk", "greek", "greek8", "hebrew", "hz-gb-2312", "ibm819",
    "ibm866", "iso-2022-jp", "iso-8859-1", "iso-8859-10", "iso-8859-13", "iso-8859-14",
    "iso-8859-15", "iso-8859-16", "iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5",
    "iso-8859-6", "iso-8859-6-e", "iso-8859-6-i", "iso-8859-7", "iso-8859-8", "iso-8859-8-e",
    "iso-8859-8-e", "iso-8859-8-i", "iso-8859-9", "iso-ir-100", "iso-ir-101", "iso-ir-109",
    "iso-ir-110", "iso-ir-126", "iso-ir-127", "iso-ir-138", "iso-ir-144", "iso-ir-148",
    "iso-ir-157", "iso_8859-1", "iso_8859-15", "iso_8859-1:1987", "iso_8859-2", "iso_8859-2:1987",
    "iso_8859-3", "iso_8859-3:1988", "iso_8859-4", "iso_8859-4:1988", "iso_8859-5",
    "iso_8859-5:1988", "iso_8859-6", "iso_8859-6:1987", "iso_8859-7", "iso_8859-7:1987",
    "iso_8859-8", "iso_8859-8:1988", "iso_8859-9", "iso_8859-9:1989", "koi8-r", "koi8-u", "l1",
    "l2", "l3", "l4", "l5", "l6", "latin1", "latin2", "latin3", "latin4", "latin5", "latin6", "mac",
    "macintosh", "macintosh", "ms_kanji", "shift_jis", "us-ascii", "utf-16", "utf-16be", "utf-16le",
    "utf-8", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254",
    "windows-1255", "windows-1256", "windows-1257", "windows-1258", "windows-874",
];

/// Where Latin 5 differs from Latin 1.
const TURKISH: [(u8, char); 6] = [
    (0xd0, 'Ğ'),
    (0xdd, 'İ'),
    (0xde, 'Ş'),
    (0xf0, 'ğ'),
    (0xfd, 'ı'),
    (0xfe, 'ş'),
];

/// Whether there are controls beyond ASCII. Browsers read and write them where an encoding of single
/// bytes says nothing; the registry's encodings have nothing there.
fn has_controls(text: &str) -> bool {
    text.chars().any(|c| ('\u{80}'..='\u{9f}').contains(&c))
}

/// An encoding of text.
enum Charset {
    Ascii,
    Latin1,
    /// Latin 1 with Turkish letters; browsers mean another one by its names.
    Latin5,
    Utf16 {
        little: bool,
        mark: bool,
    },
    Web(&'static encoding_rs::Encoding),
}

impl Charset {
    /// By its registered name; capitals do not matter.
    fn by_name(name: &str) -> Option<Charset> {
        let lower = name.to_ascii_lowercase();
        Some(match &*lower {
            "iso-8859-1" | "iso_8859-1" | "iso_8859-1:1987" | "iso-ir-100" | "latin1" | "l1"
            | "ibm819" | "cp819" | "csisolatin1" => Charset::Latin1,
            "iso-8859-9" | "iso_8859-9" | "iso_8859-9:1989" | "iso-ir-148" | "latin5" | "l5"
            | "csisolatin5" => Charset::Latin5,
            "utf-16" | "csutf16" => Charset::Utf16 {
                little: false,
                mark: true,
            },
            "utf-16be" | "csutf16be" => Charset::Utf16 {
                little: false,
                mark: false,
            },
            "utf-16le" | "csutf16le" => Charset::Utf16 {
                little: true,
                mark: false,
            },
            "us-ascii" | "iso-ir-6" | "ansi_x3.4-1968" | "ansi_x3.4-1986" | "iso_646.irv:1991"
            | "iso646-us" | "us" | "ibm367" | "cp367" | "csascii" => Charset::Ascii,
            "cp936" | "ms936" | "windows-936" => Charset::Web(encoding_rs::GBK),
            "csutf8" => Charset::Web(encoding_rs::UTF_8),
            "latin10" | "l10" => Charset::Web(encoding_rs::ISO_8859_16),
            "cswindows1252" => Charset::Web(encoding_rs::WINDOWS_1252),
            // browsers know other names too
            other => {
                REGISTERED.binary_search(&other).ok()?;
                Charset::Web(encoding_rs::Encoding::for_label_no_replacement(
                    other.as_bytes(),
                )?)
            }
        })
    }

    fn encode(&self, text: &str) -> Option<Vec<u8>> {
        match self {
            Charset::Ascii => text.is_ascii().then(|| text.as_bytes().to_vec()),
            Charset::Latin1 => text
                .chars()
                .map(|c| u8::try_from(u32::from(c)).ok())
                .collect(),
            Charset::Latin5 => text
                .chars()
                .map(|c| match TURKISH.iter().find(|(_, t)| *t == c) {
                    Some((byte, _)) => Some(*byte),
                    None => u8::try_from(u32::from(c))
                        .ok()
                        .filter(|byte| TURKISH.iter().all(|(b, _)| b != byte)),
                })
                .collect(),
            Charset::Utf16 { little, mark } => {
                let units = mark
                    .then_some(0xfeff)
                    .into_iter()
                    .chain(text.encode_utf16());
                Some(
                    units
                        .flat_map(|u| {
                            if *little {
                                u.to_le_bytes()
                            } else {
                                u.to_be_bytes()
                            }
                        })
                        .collect(),
                )
            }
            Charset::Web(encoding) => {
                let (bytes, _, misfit) = encoding.encode(text);
                let misfit = misfit || (encoding.is_single_byte() && has_controls(text));
                (!misfit).then(|| bytes.into_owned())
            }
        }
    }

    fn decode(&self, bytes: &[u8]) -> Option<String> {
        match self {
            Charset::Ascii => String::from_utf8(bytes.to_vec())
                .ok()
                .filter(|t| t.is_ascii()),
            Charset::Latin1 => Some(bytes.iter().map(|b| char::from(*b)).collect()),
            Charset::Latin5 => Some(
                bytes
                    .iter()
                    .map(|b| {
                        let turkish = TURKISH.iter().find(|(byte, _)| byte == b);
                        turkish.map_or(char::from(*b), |(_, c)| *c)
                    })
                    .collect(),
            ),
            Charset::Utf16 { little, mark } => {
                if bytes.len() % 2 == 1 {
                    return None;
                }
                let mut little = *little;
                let mut bytes = bytes;
                if *mark {
                    match bytes {
                        [0xff, 0xfe, rest @ ..] => (little, bytes) = (true, rest),
                        [0xfe, 0xff, rest @ ..] => (little, bytes) = (false, rest),
                        _ => {}
                    }
                }
                let units: Vec<u16> = bytes
                    .chunks_exact(2)
                    .map(|pair| {
                        let pair = [pair[0], pair[1]];
                        if little {
                            u16::from_le_bytes(pair)
                        } else {
                            u16::from_be_bytes(pair)
                        }
                    })
                    .collect();
                String::from_utf16(&units).ok()
            }
            Charset::Web(encoding) => {
                let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
                let misfit = encoding.is_single_byte() && has_controls(&text);
                (!misfit).then(|| text.into_owned())
            }
        }
    }
}

fn charset(name: &str) -> Result<Charset, CallError> {
    Charset::by_name(name).ok_or_else(|| {
        CallError::argument(
            1,
            format!(
                "{name:?} is not the registered (IANA) name of an encoding that is known here."
            ),
        )
    })
}

pub(super) fn textencodebase64(given: &Given<'_>) -> Answer {
    let name = given.text(1);
    match charset(name)?.encode(given.text(0)) {
        Some(bytes) => Ok(Value::string(STANDARD.encode(bytes))),
        None => Err(CallError::argument(
            0,
            format!("It has characters that the encoding {name} cannot express."),
        )),
    }
}

pub(super) fn textdecodebase64(given: &Given<'_>) -> Answer {
    let name = given.text(1);
    let charset = charset(name)?;
    let Some(bytes) = from_base64(given.text(0)) else {
        return Err(CallError::argument(0, "It is not base64."));
    };
    match charset.decode(&bytes) {
        Some(text) => Ok(Value::string(text)),
        None => Err(CallError::argument(
            0,
            format!("What it holds is not text in {name}."),
        )),
    }
}
