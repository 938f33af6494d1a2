//! Marks: what a value carries along besides its content.

use std::sync::Arc;

use crate::Path;

/// One thing a value carries along through every operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// Never to be shown; stored where stores must hold it, with its path.
    Sensitive,
    /// Lives for this run only: never stored, in a plan or in state.
    Ephemeral,
    /// Comes from something its author deprecated; whoever uses it is told.
    Deprecated(Arc<Deprecation>),
}

/// What a deprecated variable, output or attribute says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Deprecation {
    /// What is deprecated, as an address: `module.net.output.cidr`.
    pub source: Arc<str>,
    /// The author's message.
    pub message: Arc<str>,
}

/// A set of marks. Empty, one, or a few: two flags and a rarely used list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marks {
    sensitive: bool,
    ephemeral: bool,
    deprecated: Vec<Arc<Deprecation>>,
}

/// Marks by the path of the value that carried them, in order of a walk.
pub type PathMarks = Vec<(Path, Marks)>;

impl Marks {
    /// No marks.
    pub const NONE: Marks = Marks {
        sensitive: false,
        ephemeral: false,
        deprecated: Vec::new(),
    };

    /// Only [`Mark::Sensitive`].
    pub const SENSITIVE: Marks = Marks {
        sensitive: true,
        ephemeral: false,
        deprecated: Vec::new(),
    };

    /// Only [`Mark::Ephemeral`].
    pub const EPHEMERAL: Marks = Marks {
        sensitive: false,
        ephemeral: true,
        deprecated: Vec::new(),
    };

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        !self.sensitive && !self.ephemeral && self.deprecated.is_empty()
    }

    /// Whether [`Mark::Sensitive`] is among them.
    pub fn is_sensitive(&self) -> bool {
        self.sensitive
    }

    /// Whether [`Mark::Ephemeral`] is among them.
    pub fn is_ephemeral(&self) -> bool {
        self.ephemeral
    }

    /// The deprecations among them, sorted.
    pub fn deprecations(&self) -> &[Arc<Deprecation>] {
        &self.deprecated
    }

    /// Adds a mark.
    pub fn insert(&mut self, mark: Mark) {
        match mark {
            Mark::Sensitive => self.sensitive = true,
            Mark::Ephemeral => self.ephemeral = true,
            Mark::Deprecated(d) => {
                if let Err(at) = self.deprecated.binary_search(&d) {
                    self.deprecated.insert(at, d);
                }
            }
        }
    }

    /// Adds all marks of another set.
    pub fn extend(&mut self, other: &Marks) {
        self.sensitive |= other.sensitive;
        self.ephemeral |= other.ephemeral;
        for d in &other.deprecated {
            self.insert(Mark::Deprecated(d.clone()));
        }
    }

    /// Both sets together.
    pub fn union(mut self, other: &Marks) -> Marks {
        self.extend(other);
        self
    }

    /// The same without [`Mark::Sensitive`].
    pub fn without_sensitive(mut self) -> Marks {
        self.sensitive = false;
        self
    }

    /// The same without [`Mark::Ephemeral`].
    pub fn without_ephemeral(mut self) -> Marks {
        self.ephemeral = false;
        self
    }

    /// The same without deprecations.
    pub fn without_deprecations(mut self) -> Marks {
        self.deprecated.clear();
        self
    }

    /// The marks one by one, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = Mark> + '_ {
        self.sensitive
            .then_some(Mark::Sensitive)
            .into_iter()
            .chain(self.ephemeral.then_some(Mark::Ephemeral))
            .chain(self.deprecated.iter().cloned().map(Mark::Deprecated))
    }
}

impl From<Mark> for Marks {
    fn from(mark: Mark) -> Marks {
        let mut marks = Marks::NONE;
        marks.insert(mark);
        marks
    }
}
