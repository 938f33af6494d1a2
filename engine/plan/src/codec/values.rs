//! Values as bytes: exactly what they are, types, precision, marks and origins included.
//!
//! A byte says what follows; numbers of things are LEB128; text is its length and its UTF-8 bytes;
//! types and origins are positions in the index's tables. docs/formats/plan-file.md has the table.

use super::types::TypeWriter;
use super::with_stack;
use formwork_values::{Deprecation, Kind, Mark, Marks, Number, Origin, Refinement, Type, Value};
use std::sync::Arc;

const NULL: u8 = 0;
const UNKNOWN: u8 = 1;
const FALSE: u8 = 2;
const TRUE: u8 = 3;
/// A whole number with the precision of a literal.
const WHOLE: u8 = 4;
/// Precision and decimal text.
const NUMBER: u8 = 5;
const STRING: u8 = 6;
const LIST: u8 = 7;
const SET: u8 = 8;
const MAP: u8 = 9;
const OBJECT: u8 = 10;
const TUPLE: u8 = 11;
const MARKED: u8 = 12;

const IS_NOT_NULL: u8 = 1;
const HAS_PREFIX: u8 = 2;
const HAS_LOWER: u8 = 4;
const HAS_UPPER: u8 = 8;
const HAS_MIN: u8 = 16;
const HAS_MAX: u8 = 32;
const HAS_ORIGIN: u8 = 64;

const IS_SENSITIVE: u8 = 1;
const IS_DEPRECATED: u8 = 2;

/// Text of a number longer than this is tried before it is written.
const LONG_NUMBER: usize = 100_000;

/// Why a value cannot be written.
pub(super) enum Refused {
    /// It is marked ephemeral.
    Ephemeral,
    /// A number whose digits are beyond what is read back.
    HugeNumber,
}

/// What writing a value needs besides: tables that grow.
pub(super) trait Tables {
    /// The table of types.
    fn types(&mut self) -> &mut TypeWriter;
    /// The position of an origin in its table.
    fn origin(&mut self, origin: &Origin) -> Result<u32, Refused>;
}

/// Appends a value.
pub(super) fn write(
    out: &mut Vec<u8>,
    value: &Value,
    tables: &mut impl Tables,
) -> Result<(), Refused> {
    with_stack(|| write_step(out, value, tables))
}

fn write_step(out: &mut Vec<u8>, value: &Value, tables: &mut impl Tables) -> Result<(), Refused> {
    match value.kind() {
        Kind::Null(ty) => {
            out.push(NULL);
            let at = tables.types().add(ty);
            count(out, u64::from(at));
        }
        Kind::Unknown(u) => {
            let known = &u.refinement;
            out.push(UNKNOWN);
            let at = tables.types().add(&u.ty);
            count(out, u64::from(at));
            out.push(
                flag(known.not_null, IS_NOT_NULL)
                    | flag(known.prefix.is_some(), HAS_PREFIX)
                    | flag(known.lower.is_some(), HAS_LOWER)
                    | flag(known.upper.is_some(), HAS_UPPER)
                    | flag(known.min_length > 0, HAS_MIN)
                    | flag(known.max_length.is_some(), HAS_MAX)
                    | flag(u.origin.is_some(), HAS_ORIGIN),
            );
            if let Some(prefix) = &known.prefix {
                text(out, prefix);
            }
            for (bound, inclusive) in known.lower.iter().chain(&known.upper) {
                number(out, bound)?;
                out.push(u8::from(*inclusive));
            }
            if known.min_length > 0 {
                count(out, known.min_length);
            }
            if let Some(max) = known.max_length {
                count(out, max);
            }
            if let Some(origin) = &u.origin {
                let at = tables.origin(origin)?;
                count(out, u64::from(at));
            }
        }
        Kind::Bool(b) => out.push(if b { TRUE } else { FALSE }),
        Kind::Number(n) => number(out, n)?,
        Kind::String(s) => {
            out.push(STRING);
            text(out, s);
        }
        Kind::List(values) => collection(out, LIST, value, values, tables)?,
        Kind::Set(values) => collection(out, SET, value, values, tables)?,
        Kind::Map(entries) => {
            out.push(MAP);
            element_type(out, value, tables);
            count(out, entries.len() as u64);
            for (key, value) in entries {
                text(out, key);
                write(out, value, tables)?;
            }
        }
        Kind::Object(ty, values) => {
            out.push(OBJECT);
            let at = tables.types().add_object(ty);
            count(out, u64::from(at));
            for value in values {
                write(out, value, tables)?;
            }
        }
        Kind::Tuple(values) => {
            out.push(TUPLE);
            count(out, values.len() as u64);
            for value in values {
                write(out, value, tables)?;
            }
        }
        Kind::Marked(_, marks) if marks.is_ephemeral() => return Err(Refused::Ephemeral),
        Kind::Marked(inner, marks) => {
            out.push(MARKED);
            let deprecations = marks.deprecations();
            out.push(
                flag(marks.is_sensitive(), IS_SENSITIVE)
                    | flag(!deprecations.is_empty(), IS_DEPRECATED),
            );
            if !deprecations.is_empty() {
                count(out, deprecations.len() as u64);
                for d in deprecations {
                    text(out, &d.source);
                    text(out, &d.message);
                }
            }
            write(out, inner, tables)?;
        }
    }
    Ok(())
}

fn collection(
    out: &mut Vec<u8>,
    tag: u8,
    whole: &Value,
    values: &[Value],
    tables: &mut impl Tables,
) -> Result<(), Refused> {
    out.push(tag);
    element_type(out, whole, tables);
    count(out, values.len() as u64);
    values
        .iter()
        .try_for_each(|value| write(out, value, tables))
}

fn element_type(out: &mut Vec<u8>, collection: &Value, tables: &mut impl Tables) {
    let ty = collection.type_of();
    let at = tables.types().add(ty.element().unwrap_or(&Type::Dynamic));
    count(out, u64::from(at));
}

fn flag(set: bool, bit: u8) -> u8 {
    if set { bit } else { 0 }
}

fn number(out: &mut Vec<u8>, n: &Number) -> Result<(), Refused> {
    let minus_zero = n.is_zero() && n.is_negative();
    match n.to_i64() {
        Some(whole) if n.precision() == Number::ONE.precision() && !minus_zero => {
            out.push(WHOLE);
            // zigzag: small negative numbers are short too
            count(out, ((whole << 1) ^ (whole >> 63)).cast_unsigned());
        }
        _ => {
            let digits = n.to_text();
            if digits.len() > LONG_NUMBER && Number::parse(&digits).is_err() {
                return Err(Refused::HugeNumber);
            }
            out.push(NUMBER);
            count(out, u64::from(n.precision()));
            text(out, &digits);
        }
    }
    Ok(())
}

fn text(out: &mut Vec<u8>, text: &str) {
    count(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn count(out: &mut Vec<u8>, mut n: u64) {
    loop {
        let low = (n & 0x7f) as u8;
        n >>= 7;
        if n == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Reads a value from exactly these bytes.
pub(super) fn read(bytes: &[u8], types: &[Type], origins: &[Arc<Origin>]) -> Result<Value, String> {
    let mut reader = Reader {
        rest: bytes,
        types,
        origins,
    };
    let value = reader.value()?;
    if reader.rest.is_empty() {
        Ok(value)
    } else {
        Err("bytes follow a value".to_owned())
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    types: &'a [Type],
    origins: &'a [Arc<Origin>],
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self
            .rest
            .split_at_checked(n)
            .ok_or("a value ends too early")?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?.first().copied().unwrap_or(0))
    }

    fn count(&mut self) -> Result<u64, String> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            n |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err("a count is too long".to_owned())
    }

    fn length(&mut self) -> Result<usize, String> {
        usize::try_from(self.count()?).map_err(|_| "a length is too great".to_owned())
    }

    fn text(&mut self) -> Result<&'a str, String> {
        let length = self.length()?;
        std::str::from_utf8(self.take(length)?).map_err(|_| "text is not UTF-8".to_owned())
    }

    fn ty(&mut self) -> Result<Type, String> {
        let at = self.length()?;
        self.types
            .get(at)
            .cloned()
            .ok_or_else(|| format!("there is no type {at}"))
    }

    fn values(&mut self) -> Result<Vec<Value>, String> {
        let n = self.length()?;
        // every value takes a byte at least, so a false length reserves nothing
        let mut values = Vec::with_capacity(n.min(self.rest.len()));
        for _ in 0..n {
            values.push(self.value()?);
        }
        Ok(values)
    }

    fn number(&mut self, tag: u8) -> Result<Number, String> {
        match tag {
            WHOLE => {
                let n = self.count()?;
                Ok(Number::literal(
                    (n >> 1).cast_signed() ^ -((n & 1).cast_signed()),
                ))
            }
            NUMBER => {
                let precision =
                    u16::try_from(self.count()?).map_err(|_| "a precision is too great")?;
                let digits = self.text()?;
                Number::parse_with_precision(digits, precision)
                    .map_err(|e| format!("a number cannot be read: {e}"))
            }
            _ => Err("a number is wanted".to_owned()),
        }
    }

    fn value(&mut self) -> Result<Value, String> {
        with_stack(|| self.value_step())
    }

    fn value_step(&mut self) -> Result<Value, String> {
        Ok(match self.byte()? {
            NULL => Value::null(self.ty()?),
            UNKNOWN => self.unknown()?,
            FALSE => Value::FALSE,
            TRUE => Value::TRUE,
            tag @ (WHOLE | NUMBER) => Value::number(self.number(tag)?),
            STRING => Value::string(self.text()?),
            LIST => Value::list(self.ty()?, self.values()?),
            SET => Value::set(self.ty()?, self.values()?),
            MAP => {
                let element = self.ty()?;
                let n = self.length()?;
                let mut entries: Vec<(Arc<str>, Value)> =
                    Vec::with_capacity(n.min(self.rest.len()));
                for _ in 0..n {
                    entries.push((self.text()?.into(), self.value()?));
                }
                Value::map(element, entries)
            }
            OBJECT => {
                let Type::Object(ty) = self.ty()? else {
                    return Err("an object has a type that is none".to_owned());
                };
                let mut values = Vec::with_capacity(ty.len());
                for _ in 0..ty.len() {
                    values.push(self.value()?);
                }
                Value::object_of(ty, values)
            }
            TUPLE => Value::tuple(self.values()?),
            MARKED => {
                let marks = self.marks()?;
                self.value()?.with_marks(&marks)
            }
            tag => return Err(format!("{tag} begins no value")),
        })
    }

    fn marks(&mut self) -> Result<Marks, String> {
        let flags = self.byte()?;
        let mut marks = Marks::NONE;
        if flags & IS_SENSITIVE != 0 {
            marks.insert(Mark::Sensitive);
        }
        if flags & IS_DEPRECATED != 0 {
            for _ in 0..self.count()? {
                marks.insert(Mark::Deprecated(Arc::new(Deprecation {
                    source: self.text()?.into(),
                    message: self.text()?.into(),
                })));
            }
        }
        if marks.is_empty() || flags & !(IS_SENSITIVE | IS_DEPRECATED) != 0 {
            return Err("a value carries unknown marks".to_owned());
        }
        Ok(marks)
    }

    fn unknown(&mut self) -> Result<Value, String> {
        let ty = self.ty()?;
        let flags = self.byte()?;
        let has = |bit: u8| flags & bit != 0;
        let mut known = Refinement {
            not_null: has(IS_NOT_NULL),
            ..Refinement::NONE
        };
        if has(HAS_PREFIX) {
            known.prefix = Some(self.text()?.into());
        }
        if has(HAS_LOWER) {
            known.lower = Some(self.bound()?);
        }
        if has(HAS_UPPER) {
            known.upper = Some(self.bound()?);
        }
        if has(HAS_MIN) {
            known.min_length = self.count()?;
        }
        if has(HAS_MAX) {
            known.max_length = Some(self.count()?);
        }
        let value = Value::unknown_with(ty, known);
        if !has(HAS_ORIGIN) {
            return Ok(value);
        }
        let at = self.length()?;
        match self.origins.get(at) {
            Some(origin) => Ok(value.with_origin(origin)),
            None => Err(format!("there is no origin {at}")),
        }
    }

    fn bound(&mut self) -> Result<(Number, bool), String> {
        let tag = self.byte()?;
        Ok((self.number(tag)?, self.byte()? != 0))
    }
}
