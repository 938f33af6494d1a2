//! Signatures of the provider's functions, which `evaluation` answers.

use formwork_provider_schema::{FunctionParameter, FunctionSignature};
use formwork_values::Type;

pub(crate) fn signatures() -> [(&'static str, FunctionSignature); 3] {
    let of = |parameter: FunctionParameter, result, summary: &str, description: &str| {
        let mut f = FunctionSignature::new([parameter], result);
        f.summary = summary.into();
        f.description = description.into();
        f
    };
    [
        (
            "decode_tfvars",
            of(
                FunctionParameter::new("src", Type::String),
                Type::Dynamic,
                "The values in the text of a variables file",
                "Reads text in the form of a .tfvars file and gives an object of the values in it.",
            ),
        ),
        (
            "encode_expr",
            of(
                FunctionParameter::new("value", Type::Dynamic),
                Type::String,
                "A value as an expression",
                "Gives the text of an expression whose value is as near to the given one as the \
                 language can say without conversions.",
            ),
        ),
        (
            "encode_tfvars",
            of(
                FunctionParameter::new("value", Type::Dynamic),
                Type::String,
                "An object as the text of a variables file",
                "Gives text in the form of a .tfvars file that sets each attribute of the object.",
            ),
        ),
    ]
}
