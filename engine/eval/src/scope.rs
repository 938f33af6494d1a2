//! [`Scope`]: what references mean.

use std::collections::BTreeMap;
use std::sync::Arc;

use formwork_diagnostics::{Diagnostic, Diagnostics, nearest};
use formwork_syntax::Traversal;
use formwork_values::Value;

/// What a reference was found to be.
pub struct Resolved {
    /// The value of the root and the first `consumed` steps.
    pub value: Value,
    /// How many steps after the root belong to the reference itself; the evaluator walks the rest.
    /// `var.x.name` has one (`x`), `google_compute_network.rdma[0].id` two (`rdma`, `[0]`).
    pub consumed: usize,
    /// What there is to say. With an error the value does not matter.
    pub diagnostics: Diagnostics,
    /// Whether errors are mistakes in the configuration, such as names that are not declared, which
    /// neither `try` nor `can` nor a short-circuit hides. Otherwise they are like those of an
    /// operation.
    pub firm: bool,
}

impl Resolved {
    /// A value of the root and `consumed` steps, with nothing to say.
    pub fn new(value: Value, consumed: usize) -> Self {
        Self {
            value,
            consumed,
            diagnostics: Diagnostics::new(),
            firm: true,
        }
    }

    /// No value, because of these errors.
    pub fn failed(diagnostics: impl Into<Diagnostics>) -> Self {
        Self {
            value: Value::dynamic(),
            consumed: 0,
            diagnostics: diagnostics.into(),
            firm: true,
        }
    }

    /// No value, because of an error that expressions may ask about, as by `try`.
    pub fn failed_operation(diagnostic: Diagnostic) -> Self {
        Self {
            firm: false,
            ..Self::failed(diagnostic)
        }
    }
}

/// What references mean where an expression stands.
///
/// Names bound by `for` expressions never reach it: the evaluator knows them.
pub trait Scope {
    /// The value of a reference. Unknown attributes of resources come with their origin
    /// ([`Value::with_origin`]) already set.
    ///
    /// Called each time a reference is evaluated, and again to explain an error: memoise what is
    /// dear.
    fn resolve(&self, reference: &Traversal) -> Resolved;

    /// Mistakes that can be told without evaluating: undeclared names. Used by
    /// [`crate::check_references`]; nothing by default.
    fn check(&self, _reference: &Traversal) -> Diagnostics {
        Diagnostics::new()
    }
}

/// A scope in which no reference means anything: for literal-only places.
pub struct EmptyScope;

impl Scope for EmptyScope {
    fn resolve(&self, reference: &Traversal) -> Resolved {
        Resolved::failed(
            Diagnostic::error(
                "Variables not allowed",
                format!(
                    "The reference \"{reference}\" stands where only a fixed value may be given: \
                     this must be known before anything is evaluated. Write the value itself."
                ),
            )
            .at(reference.range()),
        )
    }
}

/// A scope of plain names: the variables of a template file, or a test's.
#[derive(Default)]
pub struct MapScope {
    values: BTreeMap<Arc<str>, Value>,
}

impl MapScope {
    /// No names yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a name a value.
    pub fn insert(&mut self, name: impl Into<Arc<str>>, value: Value) {
        self.values.insert(name.into(), value);
    }
}

impl FromIterator<(Arc<str>, Value)> for MapScope {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Value)>>(iter: I) -> Self {
        Self {
            values: iter.into_iter().collect(),
        }
    }
}

impl Scope for MapScope {
    fn resolve(&self, reference: &Traversal) -> Resolved {
        match self.values.get(&reference.root) {
            Some(value) => Resolved::new(value.clone(), 0),
            None => {
                let mut error = Diagnostic::error(
                    "Unknown variable",
                    format!("There is no variable named \"{}\" here.", reference.root),
                )
                .at(reference.root_range);
                let names = self.values.keys().map(|k| &**k);
                if let Some(near) = nearest(&reference.root, names) {
                    error = error.hint(format!("Did you mean \"{near}\"?"));
                }
                Resolved::failed(error)
            }
        }
    }
}
