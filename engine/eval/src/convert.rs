//! Conversion by reference, as the evaluator and the functions need it.

use formwork_values::{ConvertError, Type, Value};

pub(crate) trait Converts {
    /// The value as a value of the type.
    fn convert(&self, ty: &Type) -> Result<Value, ConvertError>;
}

impl Converts for Value {
    fn convert(&self, ty: &Type) -> Result<Value, ConvertError> {
        formwork_values::convert(self.clone(), ty)
    }
}

/// The one type to which all of these convert, if there is one.
pub(crate) fn unify(types: &[Type]) -> Option<Type> {
    formwork_values::unify(types)
}
