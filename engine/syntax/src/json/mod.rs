//! The JSON syntax: the same language in JSON, for programs that write configuration.
//!
//! A JSON body is kept as it was read and interpreted when a reader says what it expects
//! ([`Body::content`](crate::Body::content)), since JSON alone does not tell a block from an argument.
//! Facts that shape it (checked against Terraform 1.11):
//! - A body is an object, or an array of objects read one after the other. Properties may repeat; for
//!   an argument that is an error, blocks add up. A property named `//` is a comment.
//! - A block is an object, an array of objects (several blocks), or null (none); each label is a level
//!   of objects keyed by it, and an array is allowed at each level.
//! - A string is a template where a value is calculated; it is taken as it is where a constant is
//!   wanted (a description, a default); and it is read as native text where a reference, a keyword or
//!   a type is wanted. Errors in it matter only in the first case, so they wait in the expression
//!   ([`Expression::syntax_diagnostics`](crate::Expression::syntax_diagnostics)).
//! - Object keys of values are templates too; there `//` is a key like any other.

mod body;
mod expression;
mod value;

pub(crate) use body::JsonBody;
pub(crate) use expression::JsonText;

use crate::body::Body;
use formwork_diagnostics::{Checked, Diagnostic, FileId, SourceRange};
use std::sync::Arc;
use value::{JsonKind, JsonValue};

/// What strings mean in a JSON file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonStrings {
    /// Templates: configuration.
    Templates,
    /// Themselves: variable values (`.tfvars.json`).
    Literals,
}

/// Reads a file of the JSON syntax.
pub fn parse_json(file: FileId, text: &[u8], strings: JsonStrings) -> Checked<Body> {
    let (value, mut diagnostics) = value::parse(file, text);
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let value = value.unwrap_or_else(|| {
        Arc::new(JsonValue {
            kind: JsonKind::Object(Vec::new()),
            range: SourceRange::new(file, end, end),
        })
    });
    let root_fits = match &value.kind {
        JsonKind::Object(_) => true,
        JsonKind::Array(items) => items
            .iter()
            .all(|item| matches!(item.kind, JsonKind::Object(_))),
        _ => false,
    };
    if !root_fits {
        diagnostics.push(
            Diagnostic::error(
                "Root value must be object",
                "A file of the JSON syntax holds one JSON object, or an array of objects.",
            )
            .at(value.start()),
        );
    }
    (
        Body::from_json(JsonBody::of_file(value, strings)),
        diagnostics,
    )
}
