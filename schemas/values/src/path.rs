//! Where a value lies within another.

use std::fmt;
use std::sync::Arc;

use crate::{Kind, Value};

/// One step into a value.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// An attribute of an object.
    Attribute(Arc<str>),
    /// An element: a number for lists and tuples, a string for maps, the element itself for sets.
    Index(Value),
}

/// Steps from a value to one inside it. The empty path is the value itself.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Path(Vec<Step>);

impl Path {
    /// The empty path.
    pub const ROOT: Path = Path(Vec::new());

    /// A path of the given steps.
    pub fn new(steps: Vec<Step>) -> Path {
        Path(steps)
    }

    /// Whether this is the value itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The steps from outside in.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Adds a step.
    pub fn push(&mut self, step: Step) {
        self.0.push(step);
    }

    /// Takes the last step off.
    pub fn pop(&mut self) -> Option<Step> {
        self.0.pop()
    }

    /// One attribute further in.
    pub fn attribute(mut self, name: impl Into<Arc<str>>) -> Path {
        self.0.push(Step::Attribute(name.into()));
        self
    }

    /// One element further in.
    pub fn index(mut self, key: Value) -> Path {
        self.0.push(Step::Index(key));
        self
    }

    /// One element of a list or tuple further in.
    pub fn position(self, position: usize) -> Path {
        self.index(Value::int(i64::try_from(position).unwrap_or(i64::MAX)))
    }

    /// One element of a map further in.
    pub fn key(self, key: impl Into<Arc<str>>) -> Path {
        self.index(Value::shared_string(key.into()))
    }

    /// This path followed by another.
    pub fn joined(mut self, rest: &Path) -> Path {
        self.0.extend(rest.0.iter().cloned());
        self
    }

    /// Whether this path leads to `other` or to something that holds it.
    pub fn is_prefix_of(&self, other: &Path) -> bool {
        other.0.starts_with(&self.0)
    }
}

impl From<Vec<Step>> for Path {
    fn from(steps: Vec<Step>) -> Path {
        Path(steps)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Attribute(name) => write!(f, ".{name}"),
            Step::Index(key) => match key.kind() {
                Kind::Number(n) => write!(f, "[{n}]"),
                Kind::String(s) => {
                    f.write_str("[")?;
                    crate::text::write_quoted(f, s)?;
                    f.write_str("]")
                }
                // the element of a set: naming it whole would be noise and might leak
                _ => f.write_str("[...]"),
            },
        }
    }
}

/// As written after an address: `.disk[0].labels["a b"]`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| step.fmt(f))
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Path({self})")
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
