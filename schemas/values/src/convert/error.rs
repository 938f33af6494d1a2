//! Why a value does not convert.

use std::fmt;
use std::sync::Arc;

use crate::{Path, Type};

/// Why a value does not convert, and where inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertError {
    /// The part that does not.
    pub path: Path,
    /// Why.
    pub kind: ConvertErrorKind,
}

/// Why a value does not convert. Never holds content, only types and names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConvertErrorKind {
    /// A value of this type does not become one of that type.
    Incompatible {
        /// What there is.
        got: Type,
        /// What is wanted.
        want: Type,
    },
    /// Text that should be a number is none.
    NotNumber,
    /// Text that should be a truth value is none.
    NotBool,
    /// The object lacks these attributes.
    MissingAttributes(Vec<Arc<str>>),
    /// The tuple has another length.
    Length {
        /// What is wanted.
        want: usize,
        /// What there is.
        got: usize,
    },
    /// The elements have no type in common.
    NoCommonType {
        /// What is wanted, of any one element type.
        want: Type,
    },
}

impl ConvertError {
    pub(crate) fn at(path: &Path, kind: ConvertErrorKind) -> ConvertError {
        ConvertError {
            path: path.clone(),
            kind,
        }
    }
}

/// What is required, as a clause without a full stop: `a number is required`,
/// `attribute "zone" is required`. The path is not part of it.
impl fmt::Display for ConvertErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConvertErrorKind::Incompatible { want, got } => match want {
                Type::Bool | Type::Number | Type::String => {
                    write!(
                        f,
                        "a {} is required, not {}",
                        want.friendly_name(),
                        named(got)
                    )
                }
                _ => {
                    let want = want.friendly_name_for_constraint();
                    write!(f, "{} is required, not {}", with_article(&want), named(got))
                }
            },
            ConvertErrorKind::NotNumber => {
                f.write_str("a number is required, and this text is not one in decimal digits")
            }
            ConvertErrorKind::NotBool => {
                f.write_str("a bool is required, and this text is neither \"true\" nor \"false\"")
            }
            ConvertErrorKind::MissingAttributes(names) => {
                let quoted: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
                match quoted.as_slice() {
                    [one] => write!(f, "attribute {one} is required"),
                    [rest @ .., last] => {
                        write!(f, "attributes {} and {last} are required", rest.join(", "))
                    }
                    [] => f.write_str("attributes are missing"),
                }
            }
            ConvertErrorKind::Length { want, got } => {
                write!(
                    f,
                    "a tuple of {want} elements is required, and this one has {got}"
                )
            }
            ConvertErrorKind::NoCommonType { want } => {
                let want = match want {
                    Type::Map(_) => "map",
                    Type::Set(_) => "set",
                    _ => "list",
                };
                write!(
                    f,
                    "all elements of a {want} must have one type, and these have none in common"
                )
            }
        }
    }
}

fn named(ty: &Type) -> String {
    with_article(&ty.friendly_name())
}

fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    match name {
        "dynamic" => "a value of a type not known yet".to_owned(),
        "any type" => "a value of any type".to_owned(),
        _ => format!("{article} {name}"),
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "at {}: ", self.path)?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for ConvertError {}
