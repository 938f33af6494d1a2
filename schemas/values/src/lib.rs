//! Types and values of the language: null, unknown, marks, exact numbers; conversion and codecs.
//!
//! A [`Value`] is what an expression yields, what a state file holds and what a provider is sent.
//! It is immutable and cheap to clone (24 bytes, shared contents). Beside plain content it may be
//! null with a [`Type`], [`Unknown`] (with what is nevertheless known of it, and where it comes
//! from), and at any depth carry [`Marks`]: sensitive, ephemeral, deprecated.
//!
//! Invariants:
//! - objects are positional: an [`ObjectType`] holds the sorted names, the value only the values;
//! - maps are sorted by the bytes of their keys, sets are sorted and without duplicates, so equal
//!   values have equal representations and iteration order never depends on history;
//! - strings are in Unicode normal form C from construction on;
//! - marks never lie inside a set (they are lifted to the set itself), and a value wrapped in marks
//!   never has further marks directly inside;
//! - numbers never pass through `f64` ([`Number`] carries its own precision, as Terraform's do).
//!
//! What leaves a value as text goes through `print`, which redacts, or through
//! [`Value::reveal`] and [`Value::unmark_deep`], whose callers tests/tidy lists. There is no
//! `Display` and no `Serialize`, and `Debug` redacts.
//!
//! What this crate does not know: schemas, expressions, source positions, files.
#![forbid(unsafe_code)]

mod access;
mod construct;
mod convert;
mod debug;
mod encode_error;
mod equality;
mod json;
mod marks;
mod msgpack;
mod number;
mod origin;
mod path;
pub mod print;
mod set_order;
#[cfg(test)]
mod tests;
mod text;
mod type_json;
mod types_of_values;
mod unknown;
mod value;
mod walk;

pub use access::{AccessError, BadIndex};
pub use convert::{
    ConvertError, ConvertErrorKind, can_convert, can_convert_safely, convert, unify, unify_safely,
    unify_values,
};
pub use encode_error::EncodeError;
pub use json::{JsonError, implied_from_json, value_from_json, value_to_json, value_to_json_as};
pub use marks::{Deprecation, Mark, Marks, PathMarks};
pub use msgpack::{MsgpackError, from_msgpack, to_msgpack};
pub use number::{Number, NumberError};
pub use origin::Origin;
pub use path::{Path, Step};
pub use text::{normalise, safe_prefix};
pub use type_json::TypeJsonError;
pub use types_of_values::{ObjectType, Type};
pub use unknown::{Refinement, Unknown};
pub use value::{Kind, Value};

/// Runs a recursive step with room on the stack, so that depth is bounded by memory only.
pub(crate) fn with_stack<R>(step: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(96 * 1024, 2 * 1024 * 1024, step)
}
