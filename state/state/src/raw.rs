//! JSON as text: validated, without white space, otherwise untouched.
//!
//! A decoded JSON number would pass through f64 and lose digits, and a decoded object would be
//! written back in another order. State therefore keeps text. Two texts are equal if they are the
//! same bytes once white space is gone.

use serde_json::value::RawValue;
use std::fmt;
use std::sync::Arc;

/// One JSON value as compact text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawJson(Arc<str>);

/// Why a text is not JSON. Says where, and never quotes the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidJson {
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
    /// What is wrong there, as a clause.
    pub reason: String,
}

impl InvalidJson {
    pub(crate) fn from_serde(error: &serde_json::Error) -> Self {
        let full = error.to_string();
        let reason = match full.rfind(" at line ") {
            Some(end) => full[..end].to_owned(),
            None => full,
        };
        Self {
            line: error.line(),
            column: error.column(),
            reason,
        }
    }
}

impl fmt::Display for InvalidJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.reason
        )
    }
}

impl std::error::Error for InvalidJson {}

impl RawJson {
    /// Reads one JSON value; white space outside texts is dropped, all else stays as written.
    ///
    /// # Errors
    /// Where and why the text is not exactly one JSON value.
    pub fn parse(text: &str) -> Result<Self, InvalidJson> {
        let raw: &RawValue = serde_json::from_str(text).map_err(|e| InvalidJson::from_serde(&e))?;
        Ok(Self::from_raw(raw))
    }

    /// From a value that serde has already validated.
    pub fn from_raw(raw: &RawValue) -> Self {
        Self(compact(raw.get()))
    }

    /// The JSON `null`.
    pub fn null() -> Self {
        Self(Arc::from("null"))
    }

    /// A JSON text of `content`.
    pub fn text(content: &str) -> Self {
        let mut out = String::new();
        push_string(&mut out, content);
        Self(Arc::from(out))
    }

    /// The text, without white space.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// Length of the text in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Never: a JSON value has at least one byte. Here because `len` is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it is the JSON `null`.
    pub fn is_null(&self) -> bool {
        &*self.0 == "null"
    }

    /// With `<`, `>`, `&`, U+2028 and U+2029 as escapes, as Terraform writes them. For texts that an
    /// encoder made; those that were read stay as they are.
    #[must_use]
    pub fn html_escaped(&self) -> Self {
        if !self.0.contains(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            return self.clone();
        }
        let mut out = String::with_capacity(self.0.len() + 16);
        // outside of a string none of these characters can stand in valid JSON
        for c in self.0.chars() {
            push_html_escaped(&mut out, c);
        }
        Self(Arc::from(out))
    }

    /// Appends it to `out`, indented by two spaces a level as Terraform does, the first line at
    /// `depth` levels.
    pub fn push_indented(&self, out: &mut String, depth: usize) {
        let bytes = self.0.as_bytes();
        let mut depth = depth;
        let mut at = 0;
        // everything between two structural characters is copied as one slice
        let mut copied = 0;
        let flush = |out: &mut String, from: usize, to: usize| out.push_str(&self.0[from..to]);
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => at = end_of_string(bytes, at),
                b'{' | b'[' => {
                    at += 1;
                    flush(out, copied, at);
                    copied = at;
                    if matches!(bytes.get(at), Some(b'}' | b']')) {
                        at += 1;
                    } else {
                        depth += 1;
                        push_line(out, depth);
                    }
                }
                b'}' | b']' => {
                    flush(out, copied, at);
                    copied = at;
                    at += 1;
                    depth = depth.saturating_sub(1);
                    push_line(out, depth);
                }
                b',' => {
                    at += 1;
                    flush(out, copied, at);
                    copied = at;
                    push_line(out, depth);
                }
                b':' => {
                    at += 1;
                    flush(out, copied, at);
                    copied = at;
                    out.push(' ');
                }
                _ => at += 1,
            }
        }
        flush(out, copied, bytes.len());
    }
}

impl fmt::Debug for RawJson {
    /// Length only: the text may be sensitive.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawJson({} bytes)", self.0.len())
    }
}

/// A new line with `depth` levels of two spaces.
pub(crate) fn push_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// A JSON string with the escapes that Terraform's encoder writes.
pub(crate) fn push_string(out: &mut String, content: &str) {
    out.push('"');
    for c in content.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => push_escape(out, c),
            c => push_html_escaped(out, c),
        }
    }
    out.push('"');
}

fn push_html_escaped(out: &mut String, c: char) {
    match c {
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => push_escape(out, c),
        c => out.push(c),
    }
}

fn push_escape(out: &mut String, c: char) {
    use fmt::Write;
    // writing to a String cannot fail
    let _ = write!(out, "\\u{:04x}", u32::from(c));
}

/// Index after the closing quote of the string that opens at `at`.
fn end_of_string(bytes: &[u8], at: usize) -> usize {
    let mut i = at + 1;
    while let Some(&b) = bytes.get(i) {
        match b {
            b'"' => return i + 1,
            b'\\' => i += 2,
            _ => i += 1,
        }
    }
    bytes.len()
}

/// Drops white space outside of strings.
fn compact(text: &str) -> Arc<str> {
    let bytes = text.as_bytes();
    let white = |b: u8| matches!(b, b' ' | b'\n' | b'\r' | b'\t');
    if !bytes.iter().any(|b| white(*b)) {
        return Arc::from(text);
    }
    let mut out = String::with_capacity(text.len());
    let (mut at, mut copied) = (0, 0);
    while let Some(&b) = bytes.get(at) {
        if b == b'"' {
            at = end_of_string(bytes, at);
        } else if white(b) {
            out.push_str(&text[copied..at]);
            while bytes.get(at).is_some_and(|b| white(*b)) {
                at += 1;
            }
            copied = at;
        } else {
            at += 1;
        }
    }
    out.push_str(&text[copied..]);
    Arc::from(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_and_indented() {
        for (text, compact, indented) in [
            ("null", "null", "null"),
            (" {  } ", "{}", "{}"),
            (
                "{\"a b\" : [ 1.50,\n2 ], \"c\":[],\"d\\\" {\": \" x \" }",
                "{\"a b\":[1.50,2],\"c\":[],\"d\\\" {\":\" x \"}",
                "{\n    \"a b\": [\n      1.50,\n      2\n    ],\n    \"c\": [],\n    \"d\\\" {\": \" x \"\n  }",
            ),
            (
                "[{\"é\":{}}]",
                "[{\"é\":{}}]",
                "[\n    {\n      \"é\": {}\n    }\n  ]",
            ),
        ] {
            let json = RawJson::parse(text).expect(text);
            assert_eq!(json.get(), compact);
            let mut out = String::new();
            json.push_indented(&mut out, 1);
            assert_eq!(out, indented);
        }
    }

    #[test]
    fn errors_say_where_and_quote_nothing() {
        let e = RawJson::parse("{\n  \"password\": \"hunter2\" x}").expect_err("invalid");
        assert_eq!(e.to_string(), "line 2, column 25: expected `,` or `}`");
        assert_eq!(
            format!("{:?}", RawJson::text("hunter2")),
            "RawJson(9 bytes)"
        );
    }

    #[test]
    fn escapes() {
        assert_eq!(
            RawJson::text("a<b>&\"\\\n\u{8}\u{1}\u{2028}é").get(),
            "\"a\\u003cb\\u003e\\u0026\\\"\\\\\\n\\b\\u0001\\u2028é\""
        );
        let raw = RawJson::parse("[\"<\",\"\\u003c\"]").expect("valid");
        assert_eq!(raw.get(), "[\"<\",\"\\u003c\"]");
        assert_eq!(raw.html_escaped().get(), "[\"\\u003c\",\"\\u003c\"]");
    }
}
