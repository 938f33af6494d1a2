//! JSON with ranges: repeated properties and the text of numbers are kept.

use crate::{MAX_NESTING, OffsetMap, on_deep_stack};
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, FileId, SourceRange};
use std::sync::Arc;

pub(crate) struct JsonValue {
    pub kind: JsonKind,
    pub range: SourceRange,
}

pub(crate) enum JsonKind {
    Null,
    Bool(bool),
    /// As written.
    Number(Arc<str>),
    String(JsonString),
    Array(Vec<Arc<JsonValue>>),
    Object(Vec<JsonProperty>),
}

pub(crate) struct JsonProperty {
    pub name: JsonString,
    pub name_range: SourceRange,
    pub colon: SourceRange,
    pub value: Arc<JsonValue>,
}

#[derive(Clone)]
pub(crate) struct JsonString {
    pub text: Arc<str>,
    /// From the unescaped text to the file.
    pub offsets: OffsetMap,
}

impl JsonValue {
    /// The first byte, to point at something large.
    pub fn start(&self) -> SourceRange {
        let end = self.range.end.min(self.range.start + 1);
        SourceRange::new(self.range.file, self.range.start, end)
    }
}

/// Values may be nested deeply: they must not be freed by plain recursion.
impl Drop for JsonValue {
    fn drop(&mut self) {
        if matches!(self.kind, JsonKind::Array(_) | JsonKind::Object(_)) {
            let kind = std::mem::replace(&mut self.kind, JsonKind::Null);
            on_deep_stack(|| drop(kind));
        }
    }
}

/// The value a text holds; `None`, with one diagnostic, if it is no JSON.
pub(crate) fn parse(file: FileId, text: &[u8]) -> Checked<Option<Arc<JsonValue>>> {
    let start = if text.starts_with(&[0xef, 0xbb, 0xbf]) {
        3
    } else {
        0
    };
    let mut reader = Reader {
        file,
        text,
        at: start,
        depth: 0,
    };
    match reader.document() {
        Ok(value) => (Some(value), Diagnostics::new()),
        Err(diagnostic) => (None, Diagnostics::from(*diagnostic)),
    }
}

/// One diagnostic ends the reading. Boxed to keep results small.
type Read<T> = Result<T, Box<Diagnostic>>;

struct Reader<'a> {
    file: FileId,
    text: &'a [u8],
    at: usize,
    depth: u32,
}

impl Reader<'_> {
    fn range(&self, start: usize, end: usize) -> SourceRange {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        SourceRange::new(self.file, place(start), place(end))
    }

    fn fail<T>(&self, summary: &str, detail: &str, start: usize, end: usize) -> Read<T> {
        let range = self.range(start, end.min(self.text.len()).max(start));
        Err(Box::new(Diagnostic::error(summary, detail).at(range)))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn document(&mut self) -> Read<Arc<JsonValue>> {
        if u32::try_from(self.text.len()).is_err() {
            let detail = "This file is 4 GiB or more, too large to be configuration.";
            return self.fail("File too large", detail, 0, 0);
        }
        if let Err(error) = std::str::from_utf8(self.text) {
            let at = error.valid_up_to();
            return self.fail(
                "Invalid character encoding",
                "These bytes are not UTF-8, which all configuration must be.",
                at,
                at + 1,
            );
        }
        let value = self.value()?;
        self.skip_blanks();
        if self.at < self.text.len() {
            let detail = "The JSON value ends before this; only one value may stand in a file.";
            return self.fail("Extraneous data after value", detail, self.at, self.at + 1);
        }
        Ok(value)
    }

    fn value(&mut self) -> Read<Arc<JsonValue>> {
        self.skip_blanks();
        let start = self.at;
        let kind = match self.peek() {
            None => {
                let detail = "A JSON value is expected here, but the file ends.";
                return self.fail("Missing value", detail, start, start);
            }
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => JsonKind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.keyword()?,
            Some(_) => {
                return self.fail(
                    "Invalid start of value",
                    "A JSON value begins with a brace, a bracket, a double quote or a digit, or is \
                     one of true, false and null.",
                    start,
                    start + 1,
                );
            }
        };
        let range = self.range(start, self.at);
        Ok(Arc::new(JsonValue { kind, range }))
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Read<JsonKind>) -> Read<JsonKind> {
        if self.depth >= MAX_NESTING {
            return self.fail(
                "Nesting too deep",
                "Objects and arrays may stand in each other 1000 deep; this goes deeper.",
                self.at,
                self.at + 1,
            );
        }
        self.depth += 1;
        let result = on_deep_stack(|| inner(self));
        self.depth -= 1;
        result
    }

    fn object(&mut self) -> Read<JsonKind> {
        let open = self.at;
        self.at += 1;
        let mut properties = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'}') if properties.is_empty() => break,
                Some(b'"') => {}
                Some(b'}') => {
                    let detail = "JSON allows no comma after the last property of an object.";
                    return self.fail("Trailing comma in object", detail, self.at, self.at + 1);
                }
                None => return self.unclosed("object", "brace", open),
                Some(_) => {
                    let detail = "The name of a JSON property is a string in double quotes.";
                    return self.fail("Invalid object property name", detail, self.at, self.at + 1);
                }
            }
            let start = self.at;
            let name = self.string()?;
            let name_range = self.range(start, self.at);
            self.skip_blanks();
            if self.peek() != Some(b':') {
                let detail = "A colon and a value are expected after the name of a property.";
                return self.fail("Missing property value colon", detail, self.at, self.at + 1);
            }
            let colon = self.range(self.at, self.at + 1);
            self.at += 1;
            let value = self.value()?;
            properties.push(JsonProperty {
                name,
                name_range,
                colon,
                value,
            });
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                None => return self.unclosed("object", "brace", open),
                Some(_) => {
                    let detail = "A comma is expected between the properties of an object.";
                    return self.fail("Missing attribute separator", detail, self.at, self.at + 1);
                }
            }
        }
        self.at += 1;
        Ok(JsonKind::Object(properties))
    }

    fn unclosed<T>(&self, what: &str, bracket: &str, open: usize) -> Read<T> {
        let detail = format!("This {what} has no closing {bracket} before the end of the file.");
        self.fail(&format!("Unclosed {what}"), &detail, open, open + 1)
    }

    fn array(&mut self) -> Read<JsonKind> {
        let open = self.at;
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b']') if items.is_empty() => break,
                Some(b']') => {
                    let detail = "JSON allows no comma after the last item of an array.";
                    return self.fail("Trailing comma in array", detail, self.at, self.at + 1);
                }
                None => return self.unclosed("array", "bracket", open),
                Some(_) => items.push(self.value()?),
            }
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                None => return self.unclosed("array", "bracket", open),
                Some(_) => {
                    let detail = "A comma is expected between the items of an array.";
                    return self.fail("Missing attribute separator", detail, self.at, self.at + 1);
                }
            }
        }
        self.at += 1;
        Ok(JsonKind::Array(items))
    }

    fn keyword(&mut self) -> Read<JsonKind> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric()) {
            self.at += 1;
        }
        match &self.text[start..self.at] {
            b"null" => Ok(JsonKind::Null),
            b"true" => Ok(JsonKind::Bool(true)),
            b"false" => Ok(JsonKind::Bool(false)),
            other => {
                let detail = format!(
                    "\"{}\" is no JSON keyword; the keywords are true, false and null. Strings stand \
                     in double quotes.",
                    String::from_utf8_lossy(other)
                );
                self.fail("Invalid JSON keyword", &detail, start, self.at)
            }
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Read<JsonKind> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        let mut sound = whole == 1 || (whole > 1 && !leading_zero);
        if self.peek() == Some(b'.') {
            self.at += 1;
            sound &= self.digits() > 0;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            // More digits than that no number can hold.
            sound &= (1..=9).contains(&self.digits());
        }
        let text = String::from_utf8_lossy(&self.text[start..self.at]);
        if sound {
            return Ok(JsonKind::Number(text.into()));
        }
        let detail = "This is not a JSON number: digits without a leading zero, with at most one \
                      fraction and one exponent.";
        self.fail("Invalid JSON number", detail, start, self.at)
    }

    fn string(&mut self) -> Read<JsonString> {
        let open = self.at;
        self.at += 1;
        let mut text: Vec<u8> = Vec::new();
        let mut runs: Vec<(u32, u32)> = Vec::new();
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        loop {
            let start = self.at;
            while self
                .peek()
                .is_some_and(|b| !matches!(b, b'"' | b'\\' | 0..0x20))
            {
                self.at += 1;
            }
            if start < self.at || runs.is_empty() {
                runs.push((place(text.len()), place(start)));
                text.extend_from_slice(&self.text[start..self.at]);
            }
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    runs.push((place(text.len()), place(self.at)));
                    let c = self.escape()?;
                    text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                None => {
                    let detail = "This string has no closing quote before the end of the file.";
                    return self.fail("Invalid JSON string", detail, open, open + 1);
                }
                Some(_) => {
                    let detail = "Control characters, line breaks among them, are written as \
                                  escapes in a JSON string, such as \\n.";
                    return self.fail("Invalid JSON string", detail, self.at, self.at + 1);
                }
            }
        }
        self.at += 1;
        // The text was checked to be UTF-8 as a whole, and was cut at ASCII characters only.
        let text = String::from_utf8_lossy(&text).into();
        let offsets = match runs.as_slice() {
            [(_, start)] => OffsetMap::starting_at(*start),
            _ => OffsetMap::unescaped(runs),
        };
        Ok(JsonString { text, offsets })
    }

    fn escape(&mut self) -> Read<char> {
        let start = self.at;
        self.at += 2;
        Ok(match self.text.get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(start),
            _ => {
                let detail = "JSON knows the escapes \\\", \\\\, \\/, \\b, \\f, \\n, \\r, \\t and \
                              \\uNNNN.";
                return self.fail("Invalid JSON string", detail, start, start + 2);
            }
        })
    }

    fn unicode(&mut self, start: usize) -> Read<char> {
        let Some(first) = self.hex() else {
            let detail = "\\u needs four hexadecimal digits.";
            return self.fail("Invalid JSON string", detail, start, self.at);
        };
        // A surrogate without its partner stands for no character; readers of JSON replace it.
        const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(REPLACEMENT));
        }
        let after = self.at;
        if self.text[after..].starts_with(b"\\u") {
            self.at += 2;
            if let Some(second @ 0xdc00..0xe000) = self.hex() {
                let c = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(c).unwrap_or(REPLACEMENT));
            }
        }
        self.at = after;
        Ok(REPLACEMENT)
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        let text = std::str::from_utf8(digits).ok()?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(text, 16).ok()
    }
}
