//! `rsadecrypt`: PKCS #1 version 1.5 decryption with a key in PEM form.
//!
//! Written on big integers: the key is the user's own and lies in the configuration, so timing tells
//! nobody anything new.

use dashu_int::UBig;
use dashu_int::fast_div::ConstDivisor;
use formwork_values::Value;

use super::encoding::from_base64;
use super::{Answer, Given};
use crate::functions::CallError;

pub(super) fn rsadecrypt(given: &Given<'_>) -> Answer {
    let Some(cipher) = from_base64(given.text(0)) else {
        return Err(CallError::argument(0, "It is not base64."));
    };
    let (modulus, exponent) =
        private_key(given.text(1)).map_err(|detail| CallError::argument(1, detail))?;
    let length = modulus.to_be_bytes().len();
    let number = UBig::from_be_bytes(&cipher);
    if cipher.len() > length || number >= modulus {
        return Err(CallError::argument(
            0,
            "It is longer than the key can have encrypted.",
        ));
    }
    let ring = ConstDivisor::new(modulus);
    let plain = ring.reduce(number).pow(&exponent).residue().to_be_bytes();
    let mut padded = vec![0u8; length.saturating_sub(plain.len())];
    padded.extend(&plain[..]);
    // 00 02, at least eight bytes that are not zero, 00, the text
    let text = match padded.get(..2) {
        Some([0, 2]) => padded[2..]
            .iter()
            .position(|b| *b == 0)
            .filter(|zero| *zero >= 8)
            .and_then(|zero| padded.get(2 + zero + 1..)),
        _ => None,
    };
    let Some(text) = text else {
        return Err(CallError::call(
            "The key does not fit: it decrypts the text to nonsense.",
        ));
    };
    String::from_utf8(text.to_vec())
        .map(Value::string)
        .map_err(|_| {
            CallError::call("What was encrypted is not text in UTF-8, so it cannot be a value.")
        })
}

/// Modulus and private exponent of a key in PEM, as PKCS #1 or PKCS #8.
fn private_key(pem: &str) -> Result<(UBig, UBig), String> {
    let form = pem.lines().find_map(|line| {
        line.trim()
            .strip_prefix("-----BEGIN ")?
            .strip_suffix("-----")
    });
    let Some(form) = form else {
        return Err(
            "It is no key in PEM form: \"-----BEGIN ... PRIVATE KEY-----\" is missing.".to_owned(),
        );
    };
    if pem.contains("ENCRYPTED") {
        return Err("The key is encrypted with a passphrase; give it decrypted.".to_owned());
    }
    let body: String = pem
        .lines()
        .map(str::trim)
        .skip_while(|l| !l.starts_with("-----BEGIN "))
        .skip(1)
        .take_while(|l| !l.starts_with("-----END "))
        .filter(|l| !l.contains(':'))
        .collect();
    let malformed = || "The key is damaged: its contents cannot be read.".to_owned();
    let der = from_base64(&body).ok_or_else(malformed)?;
    let key = match form {
        "RSA PRIVATE KEY" => der,
        "PRIVATE KEY" => {
            // version, algorithm, then the key of the other form as a string of bytes
            let mut outer = Der(&der).sequence().ok_or_else(malformed)?;
            outer.integer().ok_or_else(malformed)?;
            outer.element(0x30).ok_or_else(malformed)?;
            outer.element(0x04).ok_or_else(malformed)?.to_vec()
        }
        other => return Err(format!("It is no RSA private key, but {other:?}.")),
    };
    let mut fields = Der(&key).sequence().ok_or_else(malformed)?;
    let version = fields.integer();
    let modulus = fields.integer();
    let public = fields.integer();
    let private = fields.integer();
    match (version, modulus, public, private) {
        (Some(_), Some(modulus), Some(_), Some(private)) if modulus > UBig::ONE => {
            Ok((modulus, private))
        }
        _ => Err(malformed()),
    }
}

/// The rest of a DER text.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The contents of the next element, which must have this tag.
    fn element(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_first()?;
        let (length, rest) = rest.split_first()?;
        let (length, rest) = if *length < 0x80 {
            (usize::from(*length), rest)
        } else {
            let count = usize::from(*length & 0x7f);
            if count == 0 || count > 4 {
                return None;
            }
            let (digits, rest) = rest.split_at_checked(count)?;
            (
                digits
                    .iter()
                    .fold(0usize, |n, d| (n << 8) | usize::from(*d)),
                rest,
            )
        };
        let (contents, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        (*first == tag).then_some(contents)
    }

    fn sequence(&mut self) -> Option<Der<'a>> {
        self.element(0x30).map(Der)
    }

    fn integer(&mut self) -> Option<UBig> {
        self.element(0x02).map(UBig::from_be_bytes)
    }
}
