//! Values as MessagePack, as the plugin protocol carries them.
//!
//! Both sides know the type. Whole numbers that fit 64 signed bits are integers, others decimal
//! text; fractions that a 64-bit float holds exactly are floats, others decimal text. Unknown values
//! are an extension: code 0 alone, or code 12 with a map of what is known; any other extension reads
//! as unknown. Where the type is dynamic stands an array of the type as JSON bytes and the value.
//! The byte forms were recorded from a real exchange; the tests hold them.

mod read;
mod write;

#[cfg(test)]
mod tests;

use std::fmt;

pub use write::to_msgpack;

use crate::{Path, Type, Value};

/// Why bytes are not a value of the type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MsgpackError {
    /// Byte at which it shows.
    pub offset: usize,
    /// Which value.
    pub path: Path,
    /// What is wrong. Holds no content of strings.
    pub message: String,
}

impl fmt::Display for MsgpackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "at {}: ", self.path)?;
        }
        write!(f, "{} (byte {})", self.message, self.offset)
    }
}

impl std::error::Error for MsgpackError {}

/// Reads a value of the given type. No bytes at all stand for null.
///
/// # Errors
/// Where the bytes do not hold a value of the type, or hold more than one.
pub fn from_msgpack(bytes: &[u8], ty: &Type) -> Result<Value, MsgpackError> {
    if bytes.is_empty() {
        return Ok(Value::null(ty.clone()));
    }
    read::read(bytes, ty)
}
