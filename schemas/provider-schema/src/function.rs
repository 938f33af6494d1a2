//! Signatures of functions: the language's own and those of providers.

use std::sync::Arc;

use formwork_values::Type;

/// How a function is called.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSignature {
    /// Parameters by position.
    pub parameters: Vec<FunctionParameter>,
    /// What every further argument must be, if there may be any.
    pub variadic: Option<FunctionParameter>,
    /// What it yields; dynamic where it depends on the arguments.
    pub return_type: Type,
    /// One line for people.
    pub summary: Arc<str>,
    /// The whole story.
    pub description: Arc<str>,
    /// Its author advises against using it.
    pub deprecated: Option<Arc<str>>,
}

/// One parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionParameter {
    /// Its name, for messages.
    pub name: Arc<str>,
    /// Arguments are converted to this type.
    pub ty: Type,
    /// The function deals with null itself; otherwise null is an error before the call.
    pub allow_null: bool,
    /// The function deals with unknown arguments itself; otherwise the result is unknown then.
    pub allow_unknown: bool,
    /// What it is, for people.
    pub description: Arc<str>,
}

impl FunctionParameter {
    /// A parameter that takes neither null nor unknown.
    pub fn new(name: impl Into<Arc<str>>, ty: Type) -> FunctionParameter {
        FunctionParameter {
            name: name.into(),
            ty,
            allow_null: false,
            allow_unknown: false,
            description: "".into(),
        }
    }

    /// The same, taking null.
    pub fn allow_null(mut self) -> FunctionParameter {
        self.allow_null = true;
        self
    }

    /// The same, taking unknown values.
    pub fn allow_unknown(mut self) -> FunctionParameter {
        self.allow_unknown = true;
        self
    }
}

impl FunctionSignature {
    /// A function of fixed parameters.
    pub fn new(
        parameters: impl IntoIterator<Item = FunctionParameter>,
        return_type: Type,
    ) -> FunctionSignature {
        FunctionSignature {
            parameters: parameters.into_iter().collect(),
            variadic: None,
            return_type,
            summary: "".into(),
            description: "".into(),
            deprecated: None,
        }
    }

    /// The same with further arguments allowed.
    pub fn variadic(mut self, parameter: FunctionParameter) -> FunctionSignature {
        self.variadic = Some(parameter);
        self
    }

    /// The parameter that the argument at this position is for.
    pub fn parameter(&self, position: usize) -> Option<&FunctionParameter> {
        self.parameters.get(position).or(self.variadic.as_ref())
    }
}
