//! Conversion of values to types, and the one type that several can convert to.
//!
//! A conversion is first planned from type to type ([`plan`]), which finds every impossibility that
//! types alone show, once, however many elements follow; then it is carried out on the value. A
//! *safe* conversion cannot fail on any value (number to string); an unsafe one may (string to
//! number). Assignments and arguments use unsafe ones; finding a common type prefers safe ones.
//!
//! The rules are Terraform's, found by asking it; the tests record the answers. Notable ones: bool
//! and number never convert to each other; an object converts to one with fewer attributes; a list
//! of an unstated element type takes the type to which all elements convert; null and unknown
//! values convert wherever their types do.

mod carry_out;
mod error;
mod mismatch;
mod plan;
mod unify;

#[cfg(test)]
mod tests;

pub use error::{ConvertError, ConvertErrorKind};
pub use unify::{unify, unify_safely};

use crate::{Path, Type, Value};

/// The value as a value of the given type. Optional attributes that are absent become null.
///
/// [`Type::Dynamic`] in the target stands for any type: it is what the value makes of it.
///
/// # Errors
/// The innermost part that does not convert, and why.
pub fn convert(value: Value, ty: &Type) -> Result<Value, ConvertError> {
    let from = value.type_of();
    if from == *ty {
        return Ok(value);
    }
    match plan::plan(&from, ty, true) {
        Some(plan) => carry_out::carry_out(&plan, value, ty, &mut Path::default()),
        None => Err(mismatch::explain(&from, ty)),
    }
}

/// Whether values of one type may convert to another, if the value allows.
pub fn can_convert(from: &Type, to: &Type) -> bool {
    from == to || plan::plan(from, to, true).is_some()
}

/// Whether every value of one type converts to another.
pub fn can_convert_safely(from: &Type, to: &Type) -> bool {
    from == to || plan::plan(from, to, false).is_some()
}

/// Brings all values to one type, in order. `None` if there is no such type.
pub fn unify_values(values: Vec<Value>) -> Option<(Type, Vec<Value>)> {
    let types: Vec<Type> = values.iter().map(Value::type_of).collect();
    let common = unify(&types)?;
    let converted: Result<Vec<Value>, _> =
        values.into_iter().map(|v| convert(v, &common)).collect();
    Some((common, converted.ok()?))
}
