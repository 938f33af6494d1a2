//! Constants that are written out: until `eval` is there, expressions that compute are refused.

use formwork_diagnostics::{Checked, Diagnostic, Diagnostics};
use formwork_syntax::{Expression, ExpressionKind as K, UnaryOperator, on_deep_stack};
use formwork_values::{Number, Value};

/// The value of a literal.
pub(crate) fn evaluate_literal(e: &Expression) -> Checked<Value> {
    let mut diagnostics = Diagnostics::new();
    let value = literal(e, &mut diagnostics);
    (value, diagnostics)
}

fn literal(e: &Expression, diagnostics: &mut Diagnostics) -> Value {
    on_deep_stack(|| step(e, diagnostics))
}

fn step(e: &Expression, diagnostics: &mut Diagnostics) -> Value {
    match e.kind() {
        K::Invalid => Value::dynamic(),
        K::Null => Value::NULL,
        K::Bool(b) => Value::bool(*b),
        K::String(s) => Value::string(s),
        K::Number(n) => match Number::parse(n) {
            Ok(n) => Value::number(n),
            Err(_) => refuse(e, "Invalid number", diagnostics),
        },
        K::Parentheses(inner) => literal(inner, diagnostics),
        K::Unary {
            operator: UnaryOperator::Negate,
            operand,
            ..
        } => match operand.kind() {
            K::Number(n) => match Number::parse(&format!("-{n}")) {
                Ok(n) => Value::number(n),
                Err(_) => refuse(e, "Invalid number", diagnostics),
            },
            _ => refuse(e, "Not served yet", diagnostics),
        },
        K::Tuple(items) => Value::tuple(items.iter().map(|i| literal(i, diagnostics)).collect()),
        K::Object(items) => {
            let mut all = Vec::with_capacity(items.len());
            for item in items {
                match item.key.as_literal() {
                    Some(k) => all.push((k.clone(), literal(&item.value, diagnostics))),
                    None => return refuse(e, "Not served yet", diagnostics),
                }
            }
            Value::object(all)
        }
        K::Traversal(_) => refuse(e, "Variables not allowed", diagnostics),
        K::FunctionCall(_) => refuse(e, "Function calls not allowed", diagnostics),
        _ => refuse(e, "Not served yet", diagnostics),
    }
}

fn refuse(e: &Expression, summary: &str, diagnostics: &mut Diagnostics) -> Value {
    diagnostics.push(
        Diagnostic::error(
            summary,
            "The value must be written out here: it must be known before anything is evaluated.",
        )
        .at(e.range()),
    );
    Value::dynamic()
}
