//! Static paths such as `module.net.subnets["rdma-0"].id`.

use formwork_diagnostics::SourceRange;
use std::fmt;
use std::sync::Arc;

/// A name followed by attribute and index steps that are all known from the text alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traversal {
    /// The first name, such as `var` or `google_compute_network`.
    pub root: Arc<str>,
    /// Where the first name stands.
    pub root_range: SourceRange,
    /// What follows it, in order.
    pub steps: Box<[Step]>,
}

/// One step of a [`Traversal`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `.name`
    Attribute {
        /// The name, without its dot.
        name: Arc<str>,
        /// From the dot to the end of the name.
        range: SourceRange,
    },
    /// `["key"]`, `[0]`, or the old form `.0`.
    Index {
        /// What stands between the brackets.
        key: IndexKey,
        /// From the opening bracket (or the dot) to the closing one.
        range: SourceRange,
    },
}

/// The literal key of an index step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IndexKey {
    /// An unescaped string.
    String(Arc<str>),
    /// A number, as written.
    Number(Arc<str>),
}

impl Step {
    /// The range of the step, its dot or brackets included.
    pub fn range(&self) -> SourceRange {
        match self {
            Step::Attribute { range, .. } | Step::Index { range, .. } => *range,
        }
    }

    /// The name, if this is an attribute step.
    pub fn attribute(&self) -> Option<&Arc<str>> {
        match self {
            Step::Attribute { name, .. } => Some(name),
            Step::Index { .. } => None,
        }
    }
}

impl Traversal {
    /// From the start of the root name to the end of the last step.
    pub fn range(&self) -> SourceRange {
        self.steps
            .last()
            .map_or(self.root_range, |step| self.root_range.to(step.range()))
    }

    /// The range of the root and the first `steps` steps.
    pub fn range_of(&self, steps: usize) -> SourceRange {
        match steps.checked_sub(1).and_then(|last| self.steps.get(last)) {
            Some(step) => self.root_range.to(step.range()),
            None if steps == 0 => self.root_range,
            None => self.range(),
        }
    }

    /// The name of step `index`, if there is such a step and it is an attribute.
    pub fn attribute(&self, index: usize) -> Option<&Arc<str>> {
        self.steps.get(index).and_then(Step::attribute)
    }
}

/// As it would be written today: `a.b["c"][0]`.
impl fmt::Display for Traversal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        for step in &self.steps {
            write!(f, "{step}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Attribute { name, .. } => write!(f, ".{name}"),
            Step::Index { key, .. } => write!(f, "[{key}]"),
        }
    }
}

impl fmt::Display for IndexKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IndexKey::Number(n) => f.write_str(n),
            IndexKey::String(s) => f.write_str(&crate::template::quote(s)),
        }
    }
}
