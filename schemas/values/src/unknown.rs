//! Unknown values: what is known of them all the same.

use std::sync::Arc;

use crate::{Number, Origin, Type};

/// A value that will be known later.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// The type it will have; [`Type::Dynamic`] if not even that is known.
    pub ty: Type,
    /// What is known of it.
    pub refinement: Refinement,
    /// Whose attribute it is. Not part of equality.
    pub origin: Option<Arc<Origin>>,
}

/// What is known of an unknown value.
///
/// Each field is meaningful for its types only: the prefix for strings, numeric bounds for numbers,
/// length bounds for lists, sets and maps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Refinement {
    /// The value will not be null.
    pub not_null: bool,
    /// The text will begin so. At most 256 bytes, never cut where a later character could change it.
    pub prefix: Option<Arc<str>>,
    /// Smallest possible number, and whether it is itself possible.
    pub lower: Option<(Number, bool)>,
    /// Greatest possible number, and whether it is itself possible.
    pub upper: Option<(Number, bool)>,
    /// Smallest possible length; 0 when unknown.
    pub min_length: u64,
    /// Greatest possible length.
    pub max_length: Option<u64>,
}

impl Refinement {
    /// Nothing is known.
    pub const NONE: Refinement = Refinement {
        not_null: false,
        prefix: None,
        lower: None,
        upper: None,
        min_length: 0,
        max_length: None,
    };

    /// Only that it will not be null.
    pub const NOT_NULL: Refinement = Refinement {
        not_null: true,
        ..Refinement::NONE
    };

    /// Not null, and beginning with this text (cut to what is safe to promise).
    pub fn string_prefix(prefix: &str) -> Refinement {
        let prefix = crate::safe_prefix(prefix);
        Refinement {
            not_null: true,
            prefix: (!prefix.is_empty()).then(|| prefix.into()),
            ..Refinement::NONE
        }
    }

    /// Not null, and with a length within these bounds.
    pub fn length(min: u64, max: Option<u64>) -> Refinement {
        Refinement {
            not_null: true,
            min_length: min,
            max_length: max,
            ..Refinement::NONE
        }
    }

    /// Whether nothing is known.
    pub fn is_none(&self) -> bool {
        *self == Refinement::NONE
    }

    /// What can be said of a value of type `ty` when only this is known: parts that do not belong to
    /// the type are dropped.
    pub fn fit(&self, ty: &Type) -> Refinement {
        let number = matches!(ty, Type::Number);
        let collection = ty.is_collection();
        Refinement {
            not_null: self.not_null && !ty.is_dynamic(),
            prefix: self.prefix.clone().filter(|_| matches!(ty, Type::String)),
            lower: self.lower.clone().filter(|_| number),
            upper: self.upper.clone().filter(|_| number),
            min_length: if collection { self.min_length } else { 0 },
            max_length: self.max_length.filter(|_| collection),
        }
    }

    /// Both statements hold: the tighter of each part.
    pub fn and(&self, other: &Refinement) -> Refinement {
        Refinement {
            not_null: self.not_null || other.not_null,
            prefix: match (&self.prefix, &other.prefix) {
                (Some(a), Some(b)) => Some(if a.len() >= b.len() {
                    a.clone()
                } else {
                    b.clone()
                }),
                (a, b) => a.clone().or_else(|| b.clone()),
            },
            lower: tighter(&self.lower, &other.lower, std::cmp::Ordering::Greater),
            upper: tighter(&self.upper, &other.upper, std::cmp::Ordering::Less),
            min_length: self.min_length.max(other.min_length),
            max_length: match (self.max_length, other.max_length) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
        }
    }

    /// One of the two statements holds: the looser of each part.
    pub fn or(&self, other: &Refinement) -> Refinement {
        let looser = |a: &Option<(Number, bool)>, b: &Option<(Number, bool)>, keep| match (a, b) {
            (Some(_), Some(_)) => tighter(a, b, keep),
            _ => None,
        };
        Refinement {
            not_null: self.not_null && other.not_null,
            prefix: match (&self.prefix, &other.prefix) {
                (Some(a), Some(b)) => common_prefix(a, b).map(Into::into),
                _ => None,
            },
            lower: match looser(&self.lower, &other.lower, std::cmp::Ordering::Less) {
                Some((n, _)) if same_number(&self.lower, &other.lower) => {
                    Some((n, inclusive(&self.lower) || inclusive(&other.lower)))
                }
                found => found,
            },
            upper: match looser(&self.upper, &other.upper, std::cmp::Ordering::Greater) {
                Some((n, _)) if same_number(&self.upper, &other.upper) => {
                    Some((n, inclusive(&self.upper) || inclusive(&other.upper)))
                }
                found => found,
            },
            min_length: self.min_length.min(other.min_length),
            max_length: match (self.max_length, other.max_length) {
                (Some(a), Some(b)) => Some(a.max(b)),
                _ => None,
            },
        }
    }
}

fn inclusive(bound: &Option<(Number, bool)>) -> bool {
    bound.as_ref().is_some_and(|b| b.1)
}

fn same_number(a: &Option<(Number, bool)>, b: &Option<(Number, bool)>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a.0 == b.0)
}

/// Of two bounds the one that compares as `keep` against the other; of equal ones the exclusive.
fn tighter(
    a: &Option<(Number, bool)>,
    b: &Option<(Number, bool)>,
    keep: std::cmp::Ordering,
) -> Option<(Number, bool)> {
    match (a, b) {
        (Some(x), Some(y)) => {
            let order = x.0.cmp(&y.0);
            if order == keep {
                Some(x.clone())
            } else if order.is_eq() {
                Some((x.0.clone(), x.1 && y.1))
            } else {
                Some(y.clone())
            }
        }
        (a, b) => a.clone().or_else(|| b.clone()),
    }
}

fn common_prefix<'a>(a: &'a str, b: &str) -> Option<&'a str> {
    let same = a.char_indices().zip(b.chars()).find(|((_, x), y)| x != y);
    let end = same.map_or(a.len().min(b.len()), |((at, _), _)| at);
    let prefix = crate::safe_prefix(&a[..end]);
    (!prefix.is_empty())
        .then_some(prefix)
        .map(|p| &a[..p.len()])
}
