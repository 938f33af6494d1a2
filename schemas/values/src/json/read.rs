//! A JSON reader that keeps numbers as written and knows where it is.

use std::borrow::Cow;
use std::sync::Arc;

use super::JsonError;
use crate::walk::{key, position};
use crate::{Number, ObjectType, Path, Step, Type, Value};

/// Documents nested deeper are refused: nobody writes them, and their types are deep too.
const MAX_DEPTH: usize = 2_000;

pub(super) struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    path: Path,
    depth: usize,
}

type Read<T> = Result<T, JsonError>;

impl<'a> Reader<'a> {
    pub fn new(text: &'a [u8]) -> Reader<'a> {
        Reader {
            text,
            at: 0,
            path: Path::default(),
            depth: 0,
        }
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(JsonError {
            offset: self.at,
            path: self.path.clone(),
            message: message.into(),
        })
    }

    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b) = self.text.get(self.at) {
            if !matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(*b);
            }
            self.at += 1;
        }
        None
    }

    fn expect(&mut self, byte: u8) -> Read<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        let next = self.peek();
        self.wrong(match next {
            None => "the JSON text ends early".to_owned(),
            Some(_) => format!("a \"{}\" belongs here", char::from(byte)),
        })
    }

    pub fn end(&mut self) -> Read<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.wrong("there is more text after the JSON value"),
        }
    }

    fn word(&mut self, word: &str) -> Read<()> {
        let rest = self.text.get(self.at..).unwrap_or(&[]);
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        self.wrong("this is no JSON value")
    }

    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            return self.wrong("the JSON text is nested too deeply");
        }
        self.depth += 1;
        let result = crate::with_stack(|| inside(self));
        self.depth -= 1;
        result
    }

    fn within<T>(&mut self, step: Step, inside: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.path.push(step);
        let result = inside(self)?;
        self.path.pop();
        Ok(result)
    }

    /// Goes through `[...]`, calling `each` at the start of each element.
    fn array(&mut self, mut each: impl FnMut(&mut Self, usize) -> Read<()>) -> Read<()> {
        self.expect(b'[')?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        for i in 0.. {
            each(self, i)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.wrong("a comma or \"]\" belongs here"),
            }
        }
        Ok(())
    }

    /// Goes through `{...}`, calling `each` with each key at the start of its value.
    fn object(&mut self, mut each: impl FnMut(&mut Self, Cow<'a, str>) -> Read<()>) -> Read<()> {
        self.expect(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.peek() != Some(b'"') {
                return self.wrong("a key in double quotes belongs here");
            }
            let key = self.string()?;
            self.expect(b':')?;
            each(self, key)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.wrong("a comma or \"}\" belongs here"),
            }
        }
    }

    fn string(&mut self) -> Read<Cow<'a, str>> {
        self.expect(b'"')?;
        let start = self.at;
        let mut owned: Option<Vec<u8>> = None;
        let mut copied = start;
        loop {
            let Some(&b) = self.text.get(self.at) else {
                return self.wrong("the JSON text ends within a string");
            };
            match b {
                b'"' => {
                    let rest = &self.text[copied..self.at];
                    self.at += 1;
                    return Ok(match owned {
                        None => String::from_utf8_lossy(rest),
                        Some(mut all) => {
                            all.extend_from_slice(rest);
                            Cow::Owned(match String::from_utf8(all) {
                                Ok(text) => text,
                                Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
                            })
                        }
                    });
                }
                b'\\' => {
                    let all = owned.get_or_insert_with(Vec::new);
                    all.extend_from_slice(&self.text[copied..self.at]);
                    self.at += 1;
                    let c = self.escape()?;
                    let mut buffer = [0; 4];
                    if let Some(all) = owned.as_mut() {
                        all.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
                    }
                    copied = self.at;
                }
                0..0x20 => return self.wrong("a control character must be escaped in a string"),
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        let Some(&b) = self.text.get(self.at) else {
            return self.wrong("the JSON text ends within a string");
        };
        self.at += 1;
        Ok(match b {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{08}',
            b'f' => '\u{0c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.hex()?;
                if let Some(c) = char::from_u32(first) {
                    return Ok(c);
                }
                // half of a pair; alone it stands for nothing
                let after = self.at;
                if first < 0xdc00 && self.text.get(after..after + 2) == Some(b"\\u") {
                    self.at += 2;
                    let second = self.hex()?;
                    if (0xdc00..0xe000).contains(&second) {
                        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                        return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                    self.at = after;
                }
                char::REPLACEMENT_CHARACTER
            }
            _ => {
                self.at -= 1;
                return self.wrong("this is no escape sequence of JSON");
            }
        })
    }

    fn hex(&mut self) -> Read<u32> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or(&[]);
        let text = std::str::from_utf8(digits).unwrap_or("");
        if digits.len() == 4 && digits.iter().all(u8::is_ascii_hexdigit) {
            self.at += 4;
            return Ok(u32::from_str_radix(text, 16).unwrap_or(0));
        }
        self.wrong("\"\\u\" must be followed by four hexadecimal digits")
    }

    /// The text of a number, checked to be one of JSON's.
    fn number_text(&mut self) -> Read<&'a str> {
        let start = self.at;
        let digit = |s: &Self| s.text.get(s.at).is_some_and(u8::is_ascii_digit);
        let digits = |s: &mut Self| {
            let from = s.at;
            while digit(s) {
                s.at += 1;
            }
            s.at > from
        };
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.text.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else if !digits(self) {
            return self.wrong("this is no JSON value");
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            if !digits(self) {
                return self.wrong("a digit belongs after the decimal point");
            }
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !digits(self) {
                return self.wrong("a digit belongs in the exponent");
            }
        }
        Ok(std::str::from_utf8(&self.text[start..self.at]).unwrap_or(""))
    }

    fn number(&mut self) -> Read<Number> {
        let text = self.number_text()?;
        match Number::parse(text) {
            Ok(number) => Ok(number),
            Err(error) => self.wrong(error.to_string()),
        }
    }

    pub fn implied(&mut self) -> Read<Value> {
        match self.peek() {
            Some(b'"') => Ok(Value::string(self.string()?)),
            Some(b'{') => {
                let mut attributes: Vec<(Arc<str>, Value)> = Vec::new();
                self.nested(|reader| {
                    reader.object(|reader, name| {
                        let name: Arc<str> = crate::normalise(&name).into();
                        let step = Step::Attribute(name.clone());
                        let value = reader.within(step, Self::implied)?;
                        attributes.push((name, value));
                        Ok(())
                    })
                })?;
                Ok(Value::object(attributes))
            }
            Some(b'[') => {
                let mut values = Vec::new();
                self.nested(|reader| {
                    reader.array(|reader, i| {
                        values.push(reader.within(position(i), Self::implied)?);
                        Ok(())
                    })
                })?;
                Ok(Value::tuple(values))
            }
            Some(b't') => self.word("true").map(|()| Value::TRUE),
            Some(b'f') => self.word("false").map(|()| Value::FALSE),
            Some(b'n') => self.word("null").map(|()| Value::NULL),
            Some(_) => Ok(Value::number(self.number()?)),
            None => self.wrong("the JSON text ends early"),
        }
    }

    pub fn typed(&mut self, ty: &Type) -> Read<Value> {
        if self.peek() == Some(b'n') {
            self.word("null")?;
            return Ok(Value::null(ty.clone()));
        }
        match ty {
            Type::Dynamic => self.nested(Self::with_own_type),
            Type::String => match self.peek() {
                Some(b'"') => Ok(Value::string(self.string()?)),
                Some(b't') => self.word("true").map(|()| Value::string("true")),
                Some(b'f') => self.word("false").map(|()| Value::string("false")),
                Some(b'-' | b'0'..=b'9') => Ok(Value::string(self.number()?.to_text())),
                _ => self.wrong("a string belongs here"),
            },
            Type::Number => match self.peek() {
                Some(b'"') => {
                    let text = self.string()?;
                    match Number::parse(&text) {
                        Ok(number) => Ok(Value::number(number)),
                        Err(_) => self.wrong("a number belongs here"),
                    }
                }
                Some(b'-' | b'0'..=b'9') => Ok(Value::number(self.number()?)),
                _ => self.wrong("a number belongs here"),
            },
            Type::Bool => match self.peek() {
                Some(b't') => self.word("true").map(|()| Value::TRUE),
                Some(b'f') => self.word("false").map(|()| Value::FALSE),
                Some(b'"') => match &*self.string()? {
                    "true" | "1" => Ok(Value::TRUE),
                    "false" | "0" => Ok(Value::FALSE),
                    _ => self.wrong("a bool belongs here"),
                },
                _ => self.wrong("a bool belongs here"),
            },
            Type::List(element) => Ok(Value::list((**element).clone(), self.elements(element)?)),
            Type::Set(element) => Ok(Value::set((**element).clone(), self.elements(element)?)),
            Type::Map(element) => {
                if self.peek() != Some(b'{') {
                    return self.wrong("an object belongs here");
                }
                let mut entries: Vec<(Arc<str>, Value)> = Vec::new();
                self.nested(|reader| {
                    reader.object(|reader, name| {
                        let name: Arc<str> = crate::normalise(&name).into();
                        let value = reader.within(key(&name), |reader| reader.typed(element))?;
                        entries.push((name, value));
                        Ok(())
                    })
                })?;
                Ok(Value::map((**element).clone(), entries))
            }
            Type::Tuple(types) => {
                if self.peek() != Some(b'[') {
                    return self.wrong("an array belongs here");
                }
                let mut values = Vec::with_capacity(types.len());
                self.nested(|reader| {
                    reader.array(|reader, i| match types.get(i) {
                        Some(ty) => {
                            values.push(reader.within(position(i), |reader| reader.typed(ty))?);
                            Ok(())
                        }
                        None => reader
                            .wrong(format!("the array has more than {} elements", types.len())),
                    })
                })?;
                if values.len() < types.len() {
                    return self
                        .wrong(format!("the array has fewer than {} elements", types.len()));
                }
                Ok(Value::tuple(values))
            }
            Type::Object(ty) => self.nested(|reader| reader.typed_object(ty)),
        }
    }

    fn elements(&mut self, element: &Type) -> Read<Vec<Value>> {
        if self.peek() != Some(b'[') {
            return self.wrong("an array belongs here");
        }
        let mut values = Vec::new();
        self.nested(|reader| {
            reader.array(|reader, i| {
                values.push(reader.within(position(i), |reader| reader.typed(element))?);
                Ok(())
            })
        })?;
        Ok(values)
    }

    fn typed_object(&mut self, ty: &Arc<ObjectType>) -> Read<Value> {
        if self.peek() != Some(b'{') {
            return self.wrong("an object belongs here");
        }
        let mut values: Vec<Option<Value>> = vec![None; ty.len()];
        self.object(|reader, name| {
            let name = crate::normalise(&name);
            let Some(at) = ty.position(&name) else {
                return reader.wrong(format!("there is no attribute \"{name}\""));
            };
            let step = Step::Attribute(ty.names()[at].clone());
            values[at] = Some(reader.within(step, |reader| reader.typed(&ty.types()[at]))?);
            Ok(())
        })?;
        let values: Vec<Value> = values
            .into_iter()
            .zip(ty.types())
            .map(|(value, ty)| value.unwrap_or_else(|| Value::null(ty.clone())))
            .collect();
        let own_types = ty.types().iter().any(Type::has_dynamic);
        Ok(if own_types {
            Value::object(ty.names().iter().cloned().zip(values))
        } else {
            Value::object_of(ty.clone(), values)
        })
    }

    /// `{"value":...,"type":...}` in either order.
    fn with_own_type(&mut self) -> Read<Value> {
        if self.peek() != Some(b'{') {
            return self.wrong("an object of a value and its type belongs here");
        }
        let mut value: Option<(usize, usize)> = None;
        let mut ty: Option<Type> = None;
        self.object(|reader, name| {
            let start = {
                reader.peek();
                reader.at
            };
            reader.skip()?;
            let span = (start, reader.at);
            match &*name {
                "value" => value = Some(span),
                "type" => match Type::from_json_bytes(&reader.text[span.0..span.1]) {
                    Ok(found) => ty = Some(found),
                    Err(error) => return reader.wrong(error.to_string()),
                },
                _ => return reader.wrong("only \"value\" and \"type\" belong here"),
            }
            Ok(())
        })?;
        let (Some((start, end)), Some(ty)) = (value, ty) else {
            return self.wrong("both \"value\" and \"type\" belong in this object");
        };
        let after = std::mem::replace(&mut self.at, start);
        let text = self.text;
        self.text = text.get(..end).unwrap_or(&[]);
        let value = self.typed(&ty)?;
        self.text = text;
        self.at = after;
        Ok(value)
    }

    /// Goes past a value, checking that it is one.
    fn skip(&mut self) -> Read<()> {
        match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b'{') => self.nested(|reader| reader.object(|reader, _| reader.skip())),
            Some(b'[') => self.nested(|reader| reader.array(|reader, _| reader.skip())),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(_) => self.number_text().map(|_| ()),
            None => self.wrong("the JSON text ends early"),
        }
    }
}
