//! Why a value cannot be written.

use std::fmt;

use crate::{Path, Type};

/// Why a value cannot be written in a format. Never holds content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// Something inside is unknown, and the format has no way to say so.
    Unknown(Path),
    /// Something inside is marked: the caller must decide what becomes of the marks first.
    Marked(Path),
    /// A number is infinite.
    Infinite(Path),
    /// The value is not of the type it should be written as.
    Type {
        /// Where.
        path: Path,
        /// What should be there.
        want: Type,
        /// What is.
        got: Type,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |path: &Path| {
            if path.is_empty() {
                String::new()
            } else {
                format!(" at {path}")
            }
        };
        match self {
            EncodeError::Unknown(path) => write!(f, "the value{} is not known yet", at(path)),
            EncodeError::Marked(path) => write!(f, "the value{} still carries marks", at(path)),
            EncodeError::Infinite(path) => write!(f, "the number{} is infinite", at(path)),
            EncodeError::Type { path, want, got } => write!(
                f,
                "the value{} is a {} where a {} belongs",
                at(path),
                got.friendly_name(),
                want.friendly_name()
            ),
        }
    }
}

impl std::error::Error for EncodeError {}
