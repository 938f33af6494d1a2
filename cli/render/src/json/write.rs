//! A small writer of JSON text.
//!
//! Formats here are written field by field, in their own order, and carry pieces of JSON that must
//! not be decoded on the way (attributes of state, numbers beyond a float). Strings are escaped as
//! Terraform's encoder does it, so texts compare equal byte for byte.

use formwork_state::RawJson;
use std::fmt::Write as _;

/// An object being written.
pub(crate) struct Object<'a> {
    out: &'a mut String,
    empty: bool,
}

/// An array being written.
pub(crate) struct Array<'a> {
    out: &'a mut String,
    empty: bool,
}

/// The text of an object.
pub(crate) fn object(fill: impl FnOnce(&mut Object<'_>)) -> String {
    let mut out = String::new();
    push_object(&mut out, fill);
    out
}

/// The text of an array.
pub(crate) fn array(fill: impl FnOnce(&mut Array<'_>)) -> String {
    let mut out = String::new();
    push_array(&mut out, fill);
    out
}

/// Appends an object.
pub(crate) fn push_object(out: &mut String, fill: impl FnOnce(&mut Object<'_>)) {
    out.push('{');
    fill(&mut Object { out, empty: true });
    out.push('}');
}

/// Appends an array.
pub(crate) fn push_array(out: &mut String, fill: impl FnOnce(&mut Array<'_>)) {
    out.push('[');
    fill(&mut Array { out, empty: true });
    out.push(']');
}

/// Appends a string.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..'\u{20}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // writing to a String cannot fail
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// The text with a line per item and two spaces a level, without a line end.
pub(crate) fn indented(compact: &str) -> String {
    match RawJson::parse(compact) {
        Ok(json) => {
            let mut out = String::new();
            json.push_indented(&mut out, 0);
            out
        }
        // what this module writes is JSON; whatever else was handed in stays as it is
        Err(_) => compact.to_owned(),
    }
}

impl Object<'_> {
    fn key(&mut self, key: &str) -> &mut String {
        if !self.empty {
            self.out.push(',');
        }
        self.empty = false;
        push_string(self.out, key);
        self.out.push(':');
        self.out
    }

    pub(crate) fn text(&mut self, key: &str, text: &str) {
        push_string(self.key(key), text);
    }

    /// A text, or null.
    pub(crate) fn text_or_null(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(key, text),
            None => self.raw(key, "null"),
        }
    }

    pub(crate) fn bool(&mut self, key: &str, value: bool) {
        self.raw(key, if value { "true" } else { "false" });
    }

    pub(crate) fn integer(&mut self, key: &str, value: impl Into<i128>) {
        let value: i128 = value.into();
        // writing to a String cannot fail
        let _ = write!(self.key(key), "{value}");
    }

    /// A count.
    pub(crate) fn count(&mut self, key: &str, value: usize) {
        self.integer(key, i128::try_from(value).unwrap_or(i128::MAX));
    }

    /// What is JSON already.
    pub(crate) fn raw(&mut self, key: &str, json: &str) {
        self.key(key).push_str(json);
    }

    pub(crate) fn object(&mut self, key: &str, fill: impl FnOnce(&mut Object<'_>)) {
        push_object(self.key(key), fill);
    }

    pub(crate) fn array(&mut self, key: &str, fill: impl FnOnce(&mut Array<'_>)) {
        push_array(self.key(key), fill);
    }
}

impl Array<'_> {
    fn next(&mut self) -> &mut String {
        if !self.empty {
            self.out.push(',');
        }
        self.empty = false;
        self.out
    }

    pub(crate) fn text(&mut self, text: &str) {
        push_string(self.next(), text);
    }

    /// What is JSON already.
    pub(crate) fn raw(&mut self, json: &str) {
        self.next().push_str(json);
    }

    pub(crate) fn object(&mut self, fill: impl FnOnce(&mut Object<'_>)) {
        push_object(self.next(), fill);
    }

    pub(crate) fn array(&mut self, fill: impl FnOnce(&mut Array<'_>)) {
        push_array(self.next(), fill);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let text = object(|o| {
            o.text("a", "x<\"\n\u{1}é");
            o.text_or_null("b", None);
            o.count("n", 3);
            o.array("c", |a| {
                a.text("1");
                a.raw("1.50");
                a.object(|o| o.bool("t", true));
                a.array(|_| {});
            });
            o.object("d", |_| {});
        });
        assert_eq!(
            text,
            r#"{"a":"x\u003c\"\n\u0001é","b":null,"n":3,"c":["1",1.50,{"t":true},[]],"d":{}}"#
        );
        assert_eq!(
            indented(r#"{"a":[1],"b":{}}"#),
            "{\n  \"a\": [\n    1\n  ],\n  \"b\": {}\n}"
        );
    }
}
