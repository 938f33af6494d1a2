//! [`Functions`]: what can be called, and how a call is answered.

use std::sync::Arc;

use formwork_diagnostics::Diagnostics;
use formwork_values::{Type, Value};

/// A call whose answer somebody must fetch: handed out by [`Functions`], understood by its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// How a call is answered.
pub enum Outcome {
    /// With a value, and perhaps warnings or errors of the function's own making.
    Value(Value, Diagnostics),
    /// Not at all.
    Failed(CallError),
    /// Not yet: evaluation ends with this call in [`crate::Evaluated::pending`].
    Pending(CallId),
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The argument at fault, by position, if it is one argument's.
    pub argument: Option<usize>,
    /// What is wrong: full sentences, without the function's name.
    pub detail: String,
}

impl CallError {
    /// The call as a whole.
    pub fn call(detail: impl Into<String>) -> Self {
        Self {
            argument: None,
            detail: detail.into(),
        }
    }

    /// One argument.
    pub fn argument(argument: usize, detail: impl Into<String>) -> Self {
        Self {
            argument: Some(argument),
            detail: detail.into(),
        }
    }
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// What arguments are converted to; [`Type::Dynamic`] takes any.
    pub ty: Type,
    /// Whether null may be given.
    pub nullable: bool,
    /// Whether the function itself deals with unknown values. Else an unknown argument makes the
    /// result unknown without a call.
    pub takes_unknown: bool,
    /// Whether the function itself deals with marks. Else they are taken off, at any depth, and put
    /// on the result.
    pub takes_marks: bool,
}

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Its name, without `core::`.
    pub name: Arc<str>,
    /// Parameters by position.
    pub parameters: Vec<Parameter>,
    /// The parameter all further arguments are for.
    pub variadic: Option<Parameter>,
    /// The type of the result; [`Type::Dynamic`] where it depends on the arguments.
    pub returns: Type,
    /// Whether the result may be null. If not, a result that is unknown because of an argument is at
    /// least known not to be null.
    pub may_answer_null: bool,
}

impl Signature {
    /// The parameter of the argument at a position.
    pub fn parameter(&self, position: usize) -> Option<&Parameter> {
        self.parameters.get(position).or(self.variadic.as_ref())
    }

    /// `name(a, b...)`, for diagnostics.
    pub fn outline(&self) -> String {
        let mut out = format!("{}(", self.name);
        for (i, p) in self.parameters.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            out.push_str(&p.name);
        }
        if let Some(p) = &self.variadic {
            if !self.parameters.is_empty() {
                out.push_str(", ");
            }
            out.push_str(&p.name);
            out.push_str("...");
        }
        out.push(')');
        out
    }
}

/// A call to answer. The arguments are converted; unknown ones and marks are there only where the
/// parameter takes them.
pub struct Call<'a> {
    /// The name as written, with its namespace.
    pub name: &'a str,
    /// The signature found for it.
    pub signature: &'a Signature,
    /// The arguments, expanded.
    pub arguments: &'a [Value],
}

/// What can be called.
///
/// `try`, `can` and `type` are the evaluator's own: their arguments are evaluated by it, lazily.
pub trait Functions {
    /// The signature of a function by the name as written (`upper`, `core::upper`,
    /// `provider::google::region_from_zone`), if there is one.
    fn signature(&self, name: &str) -> Option<Arc<Signature>>;

    /// Answers a call.
    fn call(&self, call: &Call<'_>) -> Outcome;

    /// Names that could have been meant, for suggestions, in a fixed order.
    fn names(&self) -> Vec<Arc<str>>;
}
