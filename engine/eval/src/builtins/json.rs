//! JSON and YAML documents as values and back.
//!
//! The JSON written has sorted keys, no spaces, numbers in full, and `<`, `>`, `&`, U+2028 and
//! U+2029 escaped. Read, a key given twice counts the last time, numbers keep every digit, and half
//! a surrogate pair becomes U+FFFD.

use std::sync::Arc;

use formwork_values::{Kind, Number, Refinement, Type, Value};

use super::{Answer, Given, unknown};
use crate::functions::CallError;

pub(super) fn jsonencode(given: &Given<'_>) -> Answer {
    let value = given.at(0);
    if !value.is_wholly_known() {
        // the text up to the first thing that is not known stays as it is
        let mut known = String::new();
        let _ = write(&mut known, value); // stops there
        return Ok(Value::unknown_with(
            Type::String,
            Refinement::string_prefix(&known),
        ));
    }
    encode(value).map(Value::string).map_err(CallError::call)
}

/// The value as JSON.
///
/// # Errors
/// A sentence if a number is infinite.
pub(super) fn encode(value: &Value) -> Result<String, String> {
    let mut out = String::new();
    write(&mut out, value)?;
    Ok(out)
}

/// Text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_text(&mut out, text);
    out
}

fn write(out: &mut String, value: &Value) -> Result<(), String> {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || write_here(out, value))
}

fn write_here(out: &mut String, value: &Value) -> Result<(), String> {
    match value.kind() {
        Kind::Null(_) => out.push_str("null"),
        Kind::Unknown(u) => {
            if u.refinement.not_null {
                // it begins as its type does
                match (&u.ty, &u.refinement.prefix) {
                    (Type::String, Some(prefix)) => {
                        let text = quoted(prefix);
                        out.push_str(text.strip_suffix('"').unwrap_or(&text));
                    }
                    (Type::String, None) => out.push('"'),
                    (Type::Object(_) | Type::Map(_), _) => out.push('{'),
                    (Type::List(_) | Type::Set(_) | Type::Tuple(_), _) => out.push('['),
                    _ => {}
                }
            }
            return Err("An unknown value has no form in JSON yet.".to_owned());
        }
        Kind::Bool(b) => out.push_str(if b { "true" } else { "false" }),
        Kind::Number(n) if n.is_infinite() => {
            return Err("Infinity has no form in JSON.".to_owned());
        }
        Kind::Number(n) => out.push_str(&n.to_text()),
        Kind::String(s) => write_text(out, s),
        Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
            out.push('[');
            if super::collections::is_open_set(value) {
                return Err("What a set begins with is not known yet.".to_owned());
            }
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(out, item)?;
            }
            out.push(']');
        }
        Kind::Map(entries) => {
            write_entries(out, entries.iter().map(|(k, v)| (k, v)))?;
        }
        Kind::Object(ty, values) => write_entries(out, ty.names().iter().zip(values))?,
        Kind::Marked(inner, _) => write(out, inner)?,
    }
    Ok(())
}

fn write_entries<'a>(
    out: &mut String,
    entries: impl Iterator<Item = (&'a Arc<str>, &'a Value)>,
) -> Result<(), String> {
    out.push('{');
    for (i, (key, value)) in entries.enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_text(out, key);
        out.push(':');
        write(out, value)?;
    }
    out.push('}');
    Ok(())
}

fn write_text(out: &mut String, text: &str) {
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
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

pub(super) fn jsondecode(given: &Given<'_>) -> Answer {
    decode(given.text(0)).map_err(|(at, problem)| {
        let text = given.text(0);
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        CallError::call(format!(
            "The text is not JSON: {problem} on line {line}, column {column}."
        ))
    })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

type Read<T> = Result<T, (usize, String)>;

/// The one JSON value in the text.
fn decode(text: &str) -> Read<Value> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value()?;
    reader.space();
    if reader.at < text.len() {
        return reader.problem("something follows the value");
    }
    Ok(value)
}

impl Reader<'_> {
    fn problem<T>(&self, what: &str) -> Read<T> {
        Err((self.at, what.to_owned()))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
        }
        found
    }

    fn value(&mut self) -> Read<Value> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.value_here())
    }

    fn value_here(&mut self) -> Read<Value> {
        self.space();
        for (word, value) in [
            ("null", Value::NULL),
            ("true", Value::TRUE),
            ("false", Value::FALSE),
        ] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        match self.peek() {
            None => self.problem("the text ends where a value is missing,"),
            Some(b'"') => Ok(Value::string(self.string()?)),
            Some(b'[') => self.array(),
            Some(b'{') => self.object(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.problem("no value begins"),
        }
    }

    fn array(&mut self) -> Read<Value> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.take(b']') {
            return Ok(Value::tuple(items));
        }
        loop {
            items.push(self.value()?);
            self.space();
            if self.take(b']') {
                return Ok(Value::tuple(items));
            }
            if !self.take(b',') {
                return self.problem("\",\" or \"]\" is missing");
            }
        }
    }

    fn object(&mut self) -> Read<Value> {
        self.at += 1;
        let mut entries: Vec<(String, Value)> = Vec::new();
        self.space();
        if self.take(b'}') {
            return Ok(Value::empty_object());
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return self.problem("a key in double quotes is missing");
            }
            let key = self.string()?;
            let key = formwork_values::normalise(&key).into_owned();
            self.space();
            if !self.take(b':') {
                return self.problem("\":\" is missing");
            }
            entries.push((key, self.value()?));
            self.space();
            if self.take(b'}') {
                return Ok(Value::object(entries));
            }
            if !self.take(b',') {
                return self.problem("\",\" or \"}\" is missing");
            }
        }
    }

    fn number(&mut self) -> Read<Value> {
        let start = self.at;
        self.take(b'-');
        let digits = |reader: &mut Self| {
            let from = reader.at;
            while matches!(reader.peek(), Some(b'0'..=b'9')) {
                reader.at += 1;
            }
            reader.at - from
        };
        let leading_zero = self.peek() == Some(b'0');
        let whole = digits(self);
        let mut fits = whole == 1 || (whole > 1 && !leading_zero);
        if self.take(b'.') {
            fits &= digits(self) > 0;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            fits &= digits(self) > 0;
        }
        match Number::parse(&self.text[start..self.at]) {
            Ok(number) if fits => Ok(Value::number(number)),
            _ => Err((start, "there is a malformed number".to_owned())),
        }
    }

    fn string(&mut self) -> Read<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(plain) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ') else {
                return self.problem("a string is not closed");
            };
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(&mut out)?,
                _ => return self.problem("a control character stands in a string"),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Read<()> {
        self.at += 1;
        let Some(letter) = self.peek() else {
            return self.problem("a string is not closed");
        };
        self.at += 1;
        match letter {
            b'"' | b'\\' | b'/' => out.push(char::from(letter)),
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            b'n' => out.push('\n'),
            b'r' => out.push('\r'),
            b't' => out.push('\t'),
            b'u' => {
                let first = self.four()?;
                let mut code = first;
                if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
                    let back = self.at;
                    self.at += 2;
                    let second = self.four()?;
                    if (0xdc00..0xe000).contains(&second) {
                        code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                    } else {
                        self.at = back;
                    }
                }
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
            _ => {
                self.at -= 1;
                return self.problem("there is an escape that JSON does not have");
            }
        }
        Ok(())
    }

    fn four(&mut self) -> Read<u32> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or("");
        match u32::from_str_radix(digits, 16) {
            Ok(code) if !digits.starts_with('+') && digits.len() == 4 => {
                self.at += 4;
                Ok(code)
            }
            _ => self.problem("an escape \\u lacks its four hexadecimal digits"),
        }
    }
}

pub(super) fn yamlencode(given: &Given<'_>) -> Answer {
    let value = given.at(0);
    if !value.is_wholly_known() {
        return Ok(unknown(Type::String));
    }
    crate::yaml::encode(value)
        .map(Value::string)
        .map_err(CallError::call)
}

pub(super) fn yamldecode(given: &Given<'_>) -> Answer {
    crate::yaml::decode(given.text(0)).map_err(|problem| {
        CallError::call(format!(
            "The text is not YAML that can be read here: {problem}."
        ))
    })
}
