//! Writing values as JSON: compact, keys in byte order, numbers in full.

use std::fmt::Write as _;

use crate::walk::{key, position};
use crate::{EncodeError, Kind, Path, Step, Type, Value};

/// The value as JSON text, as `jsonencode` answers: sets as arrays, `<`, `>`, `&`, U+2028 and U+2029
/// escaped, and no word of types.
///
/// # Errors
/// Anything unknown, marked or infinite inside.
pub fn value_to_json(value: &Value) -> Result<String, EncodeError> {
    let mut out = String::new();
    write(&mut out, value, None, &mut Path::default())?;
    Ok(out)
}

/// The value as JSON text of the given type: what is dynamic in it is written with its type, as
/// state and plan files have it. [`crate::value_from_json`] reads it back.
///
/// # Errors
/// Anything unknown, marked or infinite inside, and a value that is not of the type.
pub fn value_to_json_as(value: &Value, ty: &Type) -> Result<String, EncodeError> {
    let mut out = String::new();
    write(&mut out, value, Some(ty), &mut Path::default())?;
    Ok(out)
}

fn write(
    out: &mut String,
    value: &Value,
    ty: Option<&Type>,
    path: &mut Path,
) -> Result<(), EncodeError> {
    crate::with_stack(|| write_step(out, value, ty, path))
}

fn inside(
    out: &mut String,
    step: Step,
    value: &Value,
    ty: Option<&Type>,
    path: &mut Path,
) -> Result<(), EncodeError> {
    path.push(step);
    write(out, value, ty, path)?;
    path.pop();
    Ok(())
}

fn write_step(
    out: &mut String,
    value: &Value,
    ty: Option<&Type>,
    path: &mut Path,
) -> Result<(), EncodeError> {
    if value.is_marked() {
        return Err(EncodeError::Marked(path.clone()));
    }
    if let Some(Type::Dynamic) = ty {
        let own = value.type_of();
        if own.is_dynamic() {
            // there is no type to write it by: it is null, or not known at all
            if !value.is_null() {
                return Err(EncodeError::Unknown(path.clone()));
            }
            out.push_str("null");
            return Ok(());
        }
        out.push_str("{\"value\":");
        write(out, value, Some(&own), path)?;
        out.push_str(",\"type\":");
        let _ = write!(out, "{}", own.to_json());
        out.push('}');
        return Ok(());
    }
    let mismatch = |path: &Path| EncodeError::Type {
        path: path.clone(),
        want: ty.cloned().unwrap_or(Type::Dynamic),
        got: value.type_of(),
    };
    let element = match (value.kind(), ty) {
        (_, None) => None,
        (Kind::Null(_) | Kind::Unknown(_), _) => None,
        (Kind::Bool(_), Some(Type::Bool)) => None,
        (Kind::Number(_), Some(Type::Number)) => None,
        (Kind::String(_), Some(Type::String)) => None,
        (Kind::List(_), Some(Type::List(e)))
        | (Kind::Set(_), Some(Type::Set(e)))
        | (Kind::Map(_), Some(Type::Map(e))) => Some(&**e),
        (Kind::Object(own, _), Some(Type::Object(o))) if own.names() == o.names() => None,
        (Kind::Tuple(values), Some(Type::Tuple(ts))) if values.len() == ts.len() => None,
        _ => return Err(mismatch(path)),
    };
    match value.kind() {
        Kind::Marked(..) => return Err(EncodeError::Marked(path.clone())),
        Kind::Unknown(_) => return Err(EncodeError::Unknown(path.clone())),
        Kind::Null(_) => out.push_str("null"),
        Kind::Bool(b) => out.push_str(if b { "true" } else { "false" }),
        Kind::Number(n) if n.is_infinite() => return Err(EncodeError::Infinite(path.clone())),
        Kind::Number(n) => out.push_str(&n.to_text()),
        Kind::String(s) => write_string(out, s),
        Kind::List(values) | Kind::Set(values) => {
            out.push('[');
            for (i, v) in values.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                inside(out, position(i), v, element, path)?;
            }
            out.push(']');
        }
        Kind::Tuple(values) => {
            let types = match ty {
                Some(Type::Tuple(ts)) => Some(ts),
                _ => None,
            };
            out.push('[');
            for (i, v) in values.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                inside(out, position(i), v, types.map(|ts| &ts[i]), path)?;
            }
            out.push(']');
        }
        Kind::Map(entries) => {
            out.push('{');
            for (i, (name, v)) in entries.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_string(out, name);
                out.push(':');
                inside(out, key(name), v, element, path)?;
            }
            out.push('}');
        }
        Kind::Object(own, values) => {
            let types = ty.and_then(Type::as_object);
            out.push('{');
            for (i, (name, v)) in own.names().iter().zip(values).enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_string(out, name);
                out.push(':');
                let ty = types.map(|o| &o.types()[i]);
                inside(out, Step::Attribute(name.clone()), v, ty, path)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{08}' => out.push_str("\\b"),
            '\u{0c}' => out.push_str("\\f"),
            '\0'..'\u{20}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
