//! Taking secrets out of what others say.
//!
//! Services and programs quote what they were sent: as it was, or as it went over the wire and into
//! their logs. So a secret is looked for raw, by its lines where it has several (keys in PEM), as JSON,
//! HTML, URLs and forms escape it, in hexadecimal, and in base64 of both alphabets, whatever stands
//! before it in the same text. It is not found where it was cut or encoded twice.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use formwork_values::Value;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What stands in place of a secret.
const HIDDEN: &str = "(sensitive value)";

/// The shortest secret of which encodings and lines are looked for: those of shorter ones are found in
/// ordinary words.
const ENCODED_FROM: usize = 8;

/// The secrets of some values in every form in which they are looked for.
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// The sensitive and ephemeral texts of the values.
    pub(crate) fn of(values: &[&Value]) -> Self {
        let mut forms = BTreeSet::new();
        for text in values.iter().flat_map(|v| v.sensitive_texts()) {
            forms_of(&text, &mut forms);
            let lines = text.lines().map(str::trim);
            for line in lines.filter(|l| l.len() >= ENCODED_FROM && **l != *text) {
                forms_of(line, &mut forms);
            }
        }
        let mut forms: Vec<String> = forms.into_iter().collect();
        // the longest first: one may hold another
        forms.sort_by_key(|f| std::cmp::Reverse(f.len()));
        Self(forms)
    }

    /// Takes them out of a text.
    pub(crate) fn hide(&self, text: &mut String) {
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), HIDDEN);
            }
        }
    }
}

fn forms_of(secret: &str, forms: &mut BTreeSet<String>) {
    forms.insert(secret.to_owned());
    let (plain, for_html, ascii) = json(secret);
    forms.extend([plain, for_html, ascii]);
    forms.insert(html(secret, "&#34;", "&#39;"));
    forms.insert(html(secret, "&quot;", "&apos;"));
    forms.insert(html(secret, "&quot;", "&#x27;"));
    for (kept, space) in [
        ("-._~", "%20"),
        ("-._*", "+"),
        ("-._~!$&'()*+,;=:@/", "%20"),
    ] {
        let upper = percent(secret, kept, space);
        forms.insert(upper.replace('%', "\0").to_lowercase().replace('\0', "%"));
        forms.insert(upper);
    }
    if secret.len() < ENCODED_FROM {
        return;
    }
    let hex = secret.bytes().fold(String::new(), |mut out, byte| {
        // writing to a String cannot fail
        let _ = write!(out, "{byte:02x}");
        out
    });
    forms.insert(hex.to_uppercase());
    forms.insert(hex);
    for before in 0..3 {
        let mut bytes = vec![b' '; before];
        bytes.extend(secret.bytes());
        for engine in [&STANDARD, &URL_SAFE] {
            let encoded = engine.encode(&bytes);
            // what mixes with its neighbours is another text there
            let start = [0, 2, 3][before];
            let whole = bytes.len() * 8 / 6;
            if let Some(middle) = encoded.get(start..whole) {
                forms.insert(middle.to_owned());
            }
        }
    }
}

/// As JSON has it between its quotes: with what must be escaped, with what is also escaped for HTML,
/// and with ASCII only.
fn json(text: &str) -> (String, String, String) {
    let (mut plain, mut html, mut ascii) = (String::new(), String::new(), String::new());
    for c in text.chars() {
        let short = match c {
            '"' => Some("\\\""),
            '\\' => Some("\\\\"),
            '\n' => Some("\\n"),
            '\r' => Some("\\r"),
            '\t' => Some("\\t"),
            _ => None,
        };
        if let Some(short) = short {
            for out in [&mut plain, &mut html, &mut ascii] {
                out.push_str(short);
            }
            continue;
        }
        let mut units = [0; 2];
        let long: String = c
            .encode_utf16(&mut units)
            .iter()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect();
        let control = (c as u32) < 0x20;
        for (out, escaped) in [
            (&mut plain, control),
            (&mut html, control || matches!(c, '<' | '>' | '&')),
            (&mut ascii, control || !c.is_ascii()),
        ] {
            if escaped {
                out.push_str(&long);
            } else {
                out.push(c);
            }
        }
    }
    (plain, html, ascii)
}

fn html(text: &str, quote: &str, apostrophe: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', quote)
        .replace('\'', apostrophe)
}

/// Percent-encoded, but for letters, digits and `kept`.
fn percent(text: &str, kept: &str, space: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => out.push_str(space),
            _ if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) => {
                out.push(char::from(byte));
            }
            _ => {
                // writing to a String cannot fail
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_values::Mark;

    #[test]
    fn every_form_is_hidden() {
        let secret = "<kanari>&\"é/+=%\\ zq";
        let values = [
            Value::string(secret).sensitive(),
            Value::string("ephemera 1+1").mark(Mark::Ephemeral),
            Value::string("first line\nsecond line\n").sensitive(),
        ];
        let secrets = Secrets::of(&values.iter().collect::<Vec<_>>());
        let check = |said: &str, expected: &str| {
            let mut text = said.to_owned();
            secrets.hide(&mut text);
            assert_eq!(text, expected, "{said}");
        };
        for said in [
            secret.to_owned(),
            "<kanari>&\\\"é/+=%\\\\ zq".to_owned(),
            "\\u003ckanari\\u003e\\u0026\\\"é/+=%\\\\ zq".to_owned(),
            "<kanari>&\\\"\\u00e9/+=%\\\\ zq".to_owned(),
            "&lt;kanari&gt;&amp;&#34;é/+=%\\ zq".to_owned(),
            "&lt;kanari&gt;&amp;&quot;é/+=%\\ zq".to_owned(),
            "%3Ckanari%3E%26%22%C3%A9%2F%2B%3D%25%5C%20zq".to_owned(),
            "%3ckanari%3e%26%22%c3%a9%2f%2b%3d%25%5c%20zq".to_owned(),
            "%3Ckanari%3E%26%22%C3%A9%2F%2B%3D%25%5C+zq".to_owned(),
            "ephemera%201%2B1".to_owned(),
            "second line".to_owned(),
        ] {
            check(&format!("no {said}!"), "no (sensitive value)!");
        }
        check("3c6b616e6172693e2622c3a92f2b3d255c207a71", HIDDEN);
        // nothing of it is left whatever stands around it
        for before in ["", "a", "ab", "user:"] {
            for after in ["", "x", "yz"] {
                for engine in [&STANDARD, &URL_SAFE] {
                    let encoded = engine.encode(format!("{before}{secret}{after}"));
                    let mut text = encoded.clone();
                    secrets.hide(&mut text);
                    assert!(
                        text.contains(HIDDEN) && text.len() < HIDDEN.len() + 16,
                        "{text}"
                    );
                }
            }
        }
        check("kanari", "kanari");
    }
}
