//! Reading.

use std::sync::Arc;

use rmp::Marker;

use super::MsgpackError;
use super::write::{LOWER, MAX_LENGTH, MIN_LENGTH, NULLNESS, PREFIX, REFINED, UPPER};
use crate::walk::{key, position};
use crate::{Number, Path, Refinement, Step, Type, Value};

/// Values nested deeper are refused.
const MAX_DEPTH: usize = 2_000;
/// A longer description of what is known of an unknown value is not read.
const MAX_REFINEMENT: usize = 1024;

type Read<T> = Result<T, MsgpackError>;

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    path: Path,
    depth: usize,
}

pub(super) fn read(bytes: &[u8], ty: &Type) -> Read<Value> {
    let mut reader = Reader {
        bytes,
        at: 0,
        path: Path::default(),
        depth: 0,
    };
    let value = reader.value(ty)?;
    if reader.at < bytes.len() {
        return reader.wrong("there are more bytes after the value");
    }
    Ok(value)
}

impl<'a> Reader<'a> {
    fn wrong<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(MsgpackError {
            offset: self.at,
            path: self.path.clone(),
            message: message.into(),
        })
    }

    fn take(&mut self, count: usize) -> Read<&'a [u8]> {
        match self
            .at
            .checked_add(count)
            .and_then(|end| self.bytes.get(self.at..end))
        {
            Some(bytes) => {
                self.at += count;
                Ok(bytes)
            }
            None => self.wrong("the bytes end early"),
        }
    }

    fn marker(&mut self) -> Read<Marker> {
        Ok(Marker::from_u8(self.take(1)?.first().copied().unwrap_or(0)))
    }

    fn peek(&self) -> Option<Marker> {
        self.bytes.get(self.at).map(|b| Marker::from_u8(*b))
    }

    /// A big-endian number of that many bytes.
    fn uint(&mut self, bytes: usize) -> Read<u64> {
        Ok(self
            .take(bytes)?
            .iter()
            .fold(0, |n, b| n << 8 | u64::from(*b)))
    }

    fn length(&mut self, bytes: usize) -> Read<usize> {
        let n = self.uint(bytes)?;
        usize::try_from(n).or_else(|_| self.wrong("the length is too great"))
    }

    fn within<T>(&mut self, step: Step, inside: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            return self.wrong("the value is nested too deeply");
        }
        self.depth += 1;
        self.path.push(step);
        let value = crate::with_stack(|| inside(self))?;
        self.path.pop();
        self.depth -= 1;
        Ok(value)
    }

    fn value(&mut self, ty: &Type) -> Read<Value> {
        match self.peek() {
            Some(Marker::Null) => {
                self.at += 1;
                return Ok(Value::null(ty.clone()));
            }
            Some(
                Marker::FixExt1
                | Marker::FixExt2
                | Marker::FixExt4
                | Marker::FixExt8
                | Marker::FixExt16
                | Marker::Ext8
                | Marker::Ext16
                | Marker::Ext32,
            ) => return self.unknown(ty),
            _ => {}
        }
        match ty {
            Type::Dynamic => {
                if self.array()? != Some(2) {
                    return self.wrong("an array of a type and a value belongs here");
                }
                let json = self.bytes_or_text()?;
                let own = match Type::from_json_bytes(json) {
                    Ok(own) => own,
                    Err(error) => return self.wrong(error.to_string()),
                };
                crate::with_stack(|| self.value(&own))
            }
            Type::Bool => match self.marker()? {
                Marker::True => Ok(Value::TRUE),
                Marker::False => Ok(Value::FALSE),
                _ => self.misplaced("a bool"),
            },
            Type::String => Ok(Value::string(self.text()?)),
            Type::Number => Ok(Value::number(self.number()?)),
            Type::List(e) => Ok(Value::list((**e).clone(), self.elements(e)?)),
            Type::Set(e) => Ok(Value::set((**e).clone(), self.elements(e)?)),
            Type::Tuple(ts) => {
                if self.array()? != Some(ts.len()) {
                    return self.wrong(format!("an array of {} elements belongs here", ts.len()));
                }
                let mut values = Vec::with_capacity(ts.len());
                for (i, ty) in ts.iter().enumerate() {
                    values.push(self.within(position(i), |reader| reader.value(ty))?);
                }
                Ok(Value::tuple(values))
            }
            Type::Map(e) => {
                let count = self.map()?;
                let mut entries: Vec<(Arc<str>, Value)> = Vec::new();
                for _ in 0..count {
                    let name: Arc<str> = self.text()?.into();
                    let value = self.within(key(&name), |reader| reader.value(e))?;
                    entries.push((name, value));
                }
                Ok(Value::map((**e).clone(), entries))
            }
            Type::Object(o) => {
                let count = self.map()?;
                let mut values: Vec<Option<Value>> = vec![None; o.len()];
                for _ in 0..count {
                    let name = self.text()?;
                    let Some(at) = o.position(name) else {
                        return self.wrong(format!("there is no attribute \"{name}\""));
                    };
                    let step = Step::Attribute(o.names()[at].clone());
                    let ty = &o.types()[at];
                    values[at] = Some(self.within(step, |reader| reader.value(ty))?);
                }
                if let Some(missing) = values.iter().position(Option::is_none) {
                    return self.wrong(format!("attribute \"{}\" is missing", o.names()[missing]));
                }
                let values: Vec<Value> = values.into_iter().flatten().collect();
                Ok(if o.types().iter().any(Type::has_dynamic) {
                    Value::object(o.names().iter().cloned().zip(values))
                } else {
                    Value::object_of(o.clone(), values)
                })
            }
        }
    }

    fn misplaced<T>(&mut self, wanted: &str) -> Read<T> {
        self.at = self.at.saturating_sub(1);
        self.wrong(format!("{wanted} belongs here"))
    }

    fn elements(&mut self, element: &Type) -> Read<Vec<Value>> {
        let Some(count) = self.array()? else {
            return self.misplaced("an array");
        };
        let mut values = Vec::new();
        for i in 0..count {
            values.push(self.within(position(i), |reader| reader.value(element))?);
        }
        Ok(values)
    }

    fn array(&mut self) -> Read<Option<usize>> {
        Ok(match self.marker()? {
            Marker::FixArray(n) => Some(usize::from(n)),
            Marker::Array16 => Some(self.length(2)?),
            Marker::Array32 => Some(self.length(4)?),
            _ => None,
        })
    }

    fn map(&mut self) -> Read<usize> {
        match self.marker()? {
            Marker::FixMap(n) => Ok(usize::from(n)),
            Marker::Map16 => self.length(2),
            Marker::Map32 => self.length(4),
            _ => self.misplaced("a map"),
        }
    }

    fn bytes_or_text(&mut self) -> Read<&'a [u8]> {
        let length = match self.marker()? {
            Marker::FixStr(n) => usize::from(n),
            Marker::Str8 | Marker::Bin8 => self.length(1)?,
            Marker::Str16 | Marker::Bin16 => self.length(2)?,
            Marker::Str32 | Marker::Bin32 => self.length(4)?,
            _ => return self.misplaced("text"),
        };
        self.take(length)
    }

    fn text(&mut self) -> Read<&'a str> {
        let bytes = self.bytes_or_text()?;
        std::str::from_utf8(bytes).or_else(|_| self.wrong("the text is not UTF-8"))
    }

    fn number(&mut self) -> Read<Number> {
        let marker = self.marker()?;
        let signed = |n: u64, bits: u32| {
            let shift = 64 - bits;
            Number::literal((n << shift).cast_signed() >> shift)
        };
        Ok(match marker {
            Marker::FixPos(n) => Number::literal(i64::from(n)),
            Marker::FixNeg(n) => Number::literal(i64::from(n)),
            Marker::U8 => self.unsigned(1)?,
            Marker::U16 => self.unsigned(2)?,
            Marker::U32 => self.unsigned(4)?,
            Marker::U64 => self.unsigned(8)?,
            Marker::I8 => signed(self.uint(1)?, 8),
            Marker::I16 => signed(self.uint(2)?, 16),
            Marker::I32 => signed(self.uint(4)?, 32),
            Marker::I64 => signed(self.uint(8)?, 64),
            Marker::F32 => {
                let bits = u32::try_from(self.uint(4)?).unwrap_or(0);
                self.float(f64::from(f32::from_bits(bits)))?
            }
            Marker::F64 => {
                let bits = self.uint(8)?;
                self.float(f64::from_bits(bits))?
            }
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                self.at -= 1;
                let text = self.text()?;
                Number::parse(text).or_else(|_| self.wrong("this text is no number"))?
            }
            _ => return self.misplaced("a number"),
        })
    }

    /// Whole numbers and floats get the precision of literals, so that arithmetic on what a provider
    /// answered is as exact as on what the user wrote.
    fn unsigned(&mut self, bytes: usize) -> Read<Number> {
        Ok(Number::from(self.uint(bytes)?).with_precision(crate::number::LITERAL))
    }

    fn float(&self, value: f64) -> Read<Number> {
        match Number::from_f64(value) {
            Some(number) => Ok(number.with_precision(crate::number::LITERAL)),
            None => self.wrong("not-a-number is no number of the language"),
        }
    }

    fn unknown(&mut self, ty: &Type) -> Read<Value> {
        let length = match self.marker()? {
            Marker::FixExt1 => 1,
            Marker::FixExt2 => 2,
            Marker::FixExt4 => 4,
            Marker::FixExt8 => 8,
            Marker::FixExt16 => 16,
            Marker::Ext8 => self.length(1)?,
            Marker::Ext16 => self.length(2)?,
            _ => self.length(4)?,
        };
        let code = self.take(1)?.first().copied().unwrap_or(0).cast_signed();
        let body = self.take(length)?;
        if code != REFINED || body.len() > MAX_REFINEMENT || ty.is_dynamic() {
            return Ok(Value::unknown(ty.clone()));
        }
        let inner = Reader {
            bytes: body,
            at: 0,
            path: self.path.clone(),
            depth: 0,
        };
        match inner.refinement() {
            Ok(known) => Ok(Value::unknown_with(ty.clone(), known)),
            Err(_) => self.wrong("what is said of the unknown value cannot be read"),
        }
    }

    fn refinement(mut self) -> Read<Refinement> {
        let mut known = Refinement::NONE;
        for _ in 0..self.map()? {
            let key = self.number()?.to_u64().unwrap_or(u64::MAX);
            match key {
                // true would say that it is null for certain, which nobody sends
                NULLNESS => known.not_null = matches!(self.marker()?, Marker::False),
                PREFIX => {
                    let text = self.text()?;
                    known.prefix = (!text.is_empty()).then(|| text.into());
                }
                LOWER | UPPER => {
                    if self.array()? != Some(2) {
                        return self.wrong("a bound is a number and a bool");
                    }
                    let number = self.number()?;
                    let inclusive = matches!(self.marker()?, Marker::True);
                    let bound = Some((number, inclusive));
                    if key == LOWER {
                        known.lower = bound;
                    } else {
                        known.upper = bound;
                    }
                }
                MIN_LENGTH => known.min_length = self.number()?.to_u64().unwrap_or(0),
                MAX_LENGTH => known.max_length = self.number()?.to_u64(),
                _ => return self.wrong("an unknown key"),
            }
        }
        Ok(known)
    }
}
