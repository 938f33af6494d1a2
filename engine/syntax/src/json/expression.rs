//! JSON values as expressions.

use super::JsonStrings;
use super::value::{JsonKind, JsonString, JsonValue};
use crate::expression::{Expression, ExpressionKind as K, ObjectItem, ObjectKey};
use crate::{OffsetMap, on_deep_stack, parser};
use formwork_diagnostics::{Diagnostics, FileId, SourceRange};
use std::sync::{Arc, OnceLock};

/// What an expression that was a JSON string knows beyond its kind.
pub(crate) struct JsonText {
    /// The string itself.
    pub text: Arc<str>,
    /// What is wrong with it as a template.
    pub diagnostics: Diagnostics,
    file: FileId,
    offsets: OffsetMap,
    native: OnceLock<Option<Expression>>,
}

impl JsonText {
    /// The string read as an expression of the native syntax, if it is one.
    pub fn native(&self) -> Option<&Expression> {
        self.native
            .get_or_init(|| {
                let bytes = self.text.as_bytes();
                let (expression, diagnostics) =
                    parser::parse_expression(self.file, bytes, &self.offsets);
                (!diagnostics.has_errors()).then_some(expression)
            })
            .as_ref()
    }
}

pub(crate) fn expression(value: &JsonValue, strings: JsonStrings) -> Expression {
    on_deep_stack(|| {
        let kind = match &value.kind {
            JsonKind::Null => K::Null,
            JsonKind::Bool(b) => K::Bool(*b),
            JsonKind::Number(n) => K::Number(n.clone()),
            JsonKind::String(s) => return string(s, value.range, strings),
            JsonKind::Array(items) => {
                K::Tuple(items.iter().map(|v| expression(v, strings)).collect())
            }
            JsonKind::Object(properties) => K::Object(
                properties
                    .iter()
                    .map(|p| ObjectItem {
                        key: ObjectKey::Expression(string(&p.name, p.name_range, strings)),
                        value: expression(&p.value, strings),
                    })
                    .collect(),
            ),
        };
        Expression::new(kind, value.range)
    })
}

fn string(string: &JsonString, range: SourceRange, strings: JsonStrings) -> Expression {
    let mut text = JsonText {
        text: string.text.clone(),
        diagnostics: Diagnostics::new(),
        file: range.file,
        offsets: string.offsets.clone(),
        native: OnceLock::new(),
    };
    let has_sequence = string.text.contains("${") || string.text.contains("%{");
    if strings == JsonStrings::Literals || !has_sequence {
        return Expression::from_json(K::String(text.text.clone()), range, text);
    }
    let bytes = string.text.as_bytes();
    let (template, diagnostics) = parser::parse_template(range.file, bytes, &string.offsets);
    let kind = if diagnostics.has_errors() {
        K::Invalid
    } else {
        template.kind().clone()
    };
    text.diagnostics = diagnostics;
    Expression::from_json(kind, range, text)
}
