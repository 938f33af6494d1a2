//! Hashes, and identifiers made of hashes or chance.

use base64::Engine as _;
use formwork_values::{Type, Value};
use sha2::Digest;

use super::{Answer, Given, unknown};
use crate::functions::CallError;

pub(super) fn hex_of<D: Digest>(data: &[u8]) -> String {
    hex::encode(D::digest(data))
}

pub(super) fn base64_of<D: Digest>(data: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(D::digest(data))
}

pub(super) fn md5(given: &Given<'_>) -> Answer {
    Ok(Value::string(hex_of::<md5::Md5>(given.text(0).as_bytes())))
}

pub(super) fn sha1(given: &Given<'_>) -> Answer {
    Ok(Value::string(hex_of::<sha1::Sha1>(
        given.text(0).as_bytes(),
    )))
}

pub(super) fn sha256(given: &Given<'_>) -> Answer {
    Ok(Value::string(hex_of::<sha2::Sha256>(
        given.text(0).as_bytes(),
    )))
}

pub(super) fn sha512(given: &Given<'_>) -> Answer {
    Ok(Value::string(hex_of::<sha2::Sha512>(
        given.text(0).as_bytes(),
    )))
}

pub(super) fn base64sha256(given: &Given<'_>) -> Answer {
    Ok(Value::string(base64_of::<sha2::Sha256>(
        given.text(0).as_bytes(),
    )))
}

pub(super) fn base64sha512(given: &Given<'_>) -> Answer {
    Ok(Value::string(base64_of::<sha2::Sha512>(
        given.text(0).as_bytes(),
    )))
}

/// The cost where none is given or the given one is too low to be of use.
const USUAL_COST: u32 = 10;

pub(super) fn bcrypt(given: &Given<'_>) -> Answer {
    if given.arguments.len() > 2 {
        return Err(CallError::call("It takes a text and at most one cost."));
    }
    let cost = match given.arguments.get(1) {
        None => USUAL_COST,
        Some(_) => match given.whole(1)? {
            n if n < 4 => USUAL_COST,
            n if n <= 31 => u32::try_from(n).unwrap_or(USUAL_COST),
            n => {
                return Err(CallError::call(format!(
                    "The cost must lie between 4 and 31, not {n}."
                )));
            }
        },
    };
    let text = given.text(0).as_bytes();
    if text.len() > 72 {
        return Err(CallError::call(
            "Only the first 72 bytes of a text count for bcrypt; this one is longer. Hash it first.",
        ));
    }
    if !given.surroundings().settle_impure {
        return Ok(unknown(Type::String));
    }
    let mut salt = [0u8; 16];
    given.surroundings().randomness.fill(&mut salt);
    match bcrypt::hash_with_salt(text, cost, salt) {
        Ok(hash) => Ok(Value::string(
            hash.format_for_version(bcrypt::Version::TwoA),
        )),
        Err(error) => Err(CallError::call(format!(
            "The hash could not be made: {error}."
        ))),
    }
}

pub(super) fn uuid(given: &Given<'_>) -> Answer {
    if !given.surroundings().settle_impure {
        return Ok(unknown(Type::String));
    }
    let mut bytes = [0u8; 16];
    given.surroundings().randomness.fill(&mut bytes);
    Ok(Value::string(uuid_text(bytes, 4)))
}

pub(super) fn uuidv5(given: &Given<'_>) -> Answer {
    let namespace = match given.text(0) {
        // the registered namespaces of RFC 9562, appendix
        "dns" => Some(well_known(0x10)),
        "url" => Some(well_known(0x11)),
        "oid" => Some(well_known(0x12)),
        "x500" => Some(well_known(0x14)),
        other => read_uuid(other),
    };
    let Some(namespace) = namespace else {
        return Err(CallError::call(
            "The namespace must be \"dns\", \"url\", \"oid\", \"x500\" or a UUID.",
        ));
    };
    let mut hash = sha1::Sha1::new();
    hash.update(namespace);
    hash.update(given.text(1).as_bytes());
    let digest = hash.finalize();
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&digest[..16]);
    Ok(Value::string(uuid_text(bytes, 5)))
}

fn well_known(last: u8) -> [u8; 16] {
    let mut bytes = [
        0x6b, 0xa7, 0xb8, 0x00, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30,
        0xc8,
    ];
    bytes[3] = last;
    bytes
}

fn read_uuid(text: &str) -> Option<[u8; 16]> {
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    let dashes = [8, 13, 18, 23]
        .iter()
        .all(|at| text.as_bytes().get(*at) == Some(&b'-'));
    if text.len() != 36 || !dashes {
        return None;
    }
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    hex::decode(digits).ok()?.try_into().ok()
}

fn uuid_text(bytes: [u8; 16], version: u8) -> String {
    let mut b = bytes;
    b[6] = (b[6] & 0x0f) | (version << 4);
    b[8] = (b[8] & 0x3f) | 0x80;
    let h = hex::encode(b);
    format!(
        "{}-{}-{}-{}-{}",
        &h[..8],
        &h[8..12],
        &h[12..16],
        &h[16..20],
        &h[20..]
    )
}
