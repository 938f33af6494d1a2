//! Values as JSON.
//!
//! Reading goes from the text straight to values, so a number keeps its digits and a document is
//! held once. With a type ([`value_from_json`]) the text means what the type says, and where the type
//! is dynamic stands `{"value":...,"type":...}`, as in state and plan files. Without one
//! ([`implied_from_json`]) it means what it looks like: objects and tuples, as `jsondecode` answers.
//!
//! Writing refuses marks and unknown values: the caller decides first what becomes of them.

mod read;
mod write;

#[cfg(test)]
mod tests;

use std::fmt;

pub use write::{value_to_json, value_to_json_as};

use crate::{Path, Type, Value};

/// Why a text is not JSON, or not of the type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Byte at which it shows.
    pub offset: usize,
    /// Which value.
    pub path: Path,
    /// What is wrong. Holds no content of strings.
    pub message: String,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "at {}: ", self.path)?;
        }
        write!(f, "{} (byte {})", self.message, self.offset)
    }
}

impl std::error::Error for JsonError {}

/// Reads a value of the given type.
///
/// Attributes that the text lacks are null; ones that the type lacks are an error. A number may
/// stand as text and text as a number, as older states have it.
///
/// # Errors
/// Where the text is not JSON or does not fit the type.
pub fn value_from_json(text: &[u8], ty: &Type) -> Result<Value, JsonError> {
    let mut reader = read::Reader::new(text);
    let value = reader.typed(ty)?;
    reader.end()?;
    Ok(value)
}

/// Reads a value whose type is what the text looks like: strings, numbers, bools, null of no known
/// type, tuples and objects. Of a key given twice the last counts.
///
/// # Errors
/// Where the text is not JSON.
pub fn implied_from_json(text: &[u8]) -> Result<Value, JsonError> {
    let mut reader = read::Reader::new(text);
    let value = reader.implied()?;
    reader.end()?;
    Ok(value)
}
