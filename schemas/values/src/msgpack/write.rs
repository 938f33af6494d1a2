//! Writing.

use rmp::encode as put;

use crate::walk::{key, position};
use crate::{EncodeError, Kind, Number, Path, Refinement, Step, Type, Unknown, Value};

/// The value as MessagePack of the given type.
///
/// # Errors
/// Marks inside, and a value that is not of the type.
pub fn to_msgpack(value: &Value, ty: &Type) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    write(&mut out, value, ty, &mut Path::default())?;
    Ok(out)
}

fn write(out: &mut Vec<u8>, value: &Value, ty: &Type, path: &mut Path) -> Result<(), EncodeError> {
    crate::with_stack(|| write_step(out, value, ty, path))
}

fn inside(
    out: &mut Vec<u8>,
    step: Step,
    value: &Value,
    ty: &Type,
    path: &mut Path,
) -> Result<(), EncodeError> {
    path.push(step);
    write(out, value, ty, path)?;
    path.pop();
    Ok(())
}

/// Writing to memory does not fail, so its results say nothing.
fn write_step(
    out: &mut Vec<u8>,
    value: &Value,
    ty: &Type,
    path: &mut Path,
) -> Result<(), EncodeError> {
    if ty.is_dynamic() && !value.is_marked() {
        let own = value.type_of();
        if !own.is_dynamic() {
            let _ = put::write_array_len(out, 2);
            let _ = put::write_bin(out, own.to_json().to_string().as_bytes());
            return write(out, value, &own, path);
        }
    }
    match (value.kind(), ty) {
        (Kind::Marked(..), _) => return Err(EncodeError::Marked(path.clone())),
        (Kind::Unknown(u), _) => write_unknown(out, u),
        (Kind::Null(_), _) => {
            let _ = put::write_nil(out);
        }
        (Kind::Bool(b), Type::Bool) => {
            let _ = put::write_bool(out, b);
        }
        (Kind::Number(n), Type::Number) => write_number(out, n),
        (Kind::String(s), Type::String) => {
            let _ = put::write_str(out, s);
        }
        (Kind::List(values), Type::List(e)) | (Kind::Set(values), Type::Set(e)) => {
            let _ = put::write_array_len(out, length(values.len()));
            for (i, v) in values.iter().enumerate() {
                inside(out, position(i), v, e, path)?;
            }
        }
        (Kind::Tuple(values), Type::Tuple(ts)) if values.len() == ts.len() => {
            let _ = put::write_array_len(out, length(values.len()));
            for (i, (v, ty)) in values.iter().zip(ts.iter()).enumerate() {
                inside(out, position(i), v, ty, path)?;
            }
        }
        (Kind::Map(entries), Type::Map(e)) => {
            let _ = put::write_map_len(out, length(entries.len()));
            for (name, v) in entries {
                let _ = put::write_str(out, name);
                inside(out, key(name), v, e, path)?;
            }
        }
        (Kind::Object(own, values), Type::Object(o)) if own.names() == o.names() => {
            let _ = put::write_map_len(out, length(values.len()));
            for ((name, ty), v) in o.iter().zip(values) {
                let _ = put::write_str(out, name);
                inside(out, Step::Attribute(name.clone()), v, ty, path)?;
            }
        }
        _ => {
            let (want, got) = (ty.clone(), value.type_of());
            return Err(EncodeError::Type {
                path: path.clone(),
                want,
                got,
            });
        }
    }
    Ok(())
}

fn length(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn write_number(out: &mut Vec<u8>, n: &Number) {
    if let Some(whole) = n.to_i64() {
        let _ = put::write_sint(out, whole);
    } else if n.is_infinite() {
        let _ = put::write_f64(out, n.to_f64());
    } else if let Some(float) = n.to_f64_exact().filter(|_| !n.is_integer()) {
        let _ = put::write_f64(out, float);
    } else {
        let _ = put::write_str(out, &n.to_text());
    }
}

/// Keys of the map in the extension of unknown values.
pub(super) const NULLNESS: u64 = 1;
pub(super) const PREFIX: u64 = 2;
pub(super) const LOWER: u64 = 3;
pub(super) const UPPER: u64 = 4;
pub(super) const MIN_LENGTH: u64 = 5;
pub(super) const MAX_LENGTH: u64 = 6;
/// The extension code of unknown values with such a map.
pub(super) const REFINED: i8 = 12;

fn write_unknown(out: &mut Vec<u8>, unknown: &Unknown) {
    let known = &unknown.refinement;
    if known.is_none() || unknown.ty.is_dynamic() {
        out.extend_from_slice(&[0xd4, 0, 0]);
        return;
    }
    let body = refinement(known);
    let _ = put::write_ext_meta(out, length(body.len()), REFINED);
    out.extend_from_slice(&body);
}

fn refinement(known: &Refinement) -> Vec<u8> {
    let mut count = 0;
    let mut body = Vec::new();
    let mut entry = |key: u64, write: &mut dyn FnMut(&mut Vec<u8>)| {
        count += 1;
        let _ = put::write_uint(&mut body, key);
        write(&mut body);
    };
    if known.not_null {
        entry(NULLNESS, &mut |body| {
            let _ = put::write_bool(body, false);
        });
    }
    if let Some(prefix) = &known.prefix {
        entry(PREFIX, &mut |body| {
            let _ = put::write_str(body, prefix);
        });
    }
    for (key, bound) in [(LOWER, &known.lower), (UPPER, &known.upper)] {
        if let Some((number, inclusive)) = bound {
            entry(key, &mut |body| {
                let _ = put::write_array_len(body, 2);
                write_number(body, number);
                let _ = put::write_bool(body, *inclusive);
            });
        }
    }
    if known.min_length > 0 {
        entry(MIN_LENGTH, &mut |body| {
            let _ = put::write_uint(body, known.min_length);
        });
    }
    if let Some(max) = known.max_length {
        entry(MAX_LENGTH, &mut |body| {
            let _ = put::write_uint(body, max);
        });
    }
    let mut all = Vec::with_capacity(body.len() + 1);
    let _ = put::write_map_len(&mut all, count);
    all.extend_from_slice(&body);
    all
}
