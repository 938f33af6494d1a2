//! Arguments that must be known before anything is evaluated.

use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_syntax::{Attribute, Body, Expression};
use formwork_values::{Type, Value, convert};
use std::sync::Arc;

/// The value of an expression in which neither references nor calls may stand; `None` if it has
/// none, which has been said.
pub(crate) fn constant(e: &Expression, diagnostics: &mut Diagnostics) -> Option<Value> {
    // Strings of the JSON syntax are no templates here.
    let e = &e.as_constant();
    if e.is_invalid() {
        return None;
    }
    let (value, said) = formwork_eval::evaluate_literal(e);
    let failed = said.has_errors();
    diagnostics.extend(said.into_iter().map(no_calls));
    (!failed).then_some(value)
}

/// In a place without functions no function is known; the mistake is that one is called at all.
fn no_calls(d: Diagnostic) -> Diagnostic {
    if d.summary != "Call to unknown function" {
        return d;
    }
    Diagnostic::error(
        "Function calls not allowed",
        "No function can be called here: this must be known before anything is evaluated. Write the \
         value itself.",
    )
    .at_opt(d.subject)
}

/// A constant of a type; null is none.
fn constant_of(e: &Expression, ty: &Type, diagnostics: &mut Diagnostics) -> Option<Value> {
    let value = constant(e, diagnostics)?;
    let given = value.type_of();
    let is_null = value.is_null();
    match convert(value, ty) {
        Ok(v) if !is_null => Some(v),
        _ => {
            let wanted = match ty {
                Type::Bool => "either true or false",
                Type::String => "a text",
                _ => "a value of another type",
            };
            diagnostics.push(
                Diagnostic::error(
                    "Unsuitable value type",
                    if is_null {
                        format!(
                            "The value must be {wanted}, but it is null. Leave the argument out."
                        )
                    } else {
                        format!(
                            "The value must be {wanted}, but it is of type {}.",
                            given.friendly_name()
                        )
                    },
                )
                .at(e.range()),
            );
            None
        }
    }
}

/// A constant text.
pub(crate) fn text(e: &Expression, diagnostics: &mut Diagnostics) -> Option<Arc<str>> {
    constant_of(e, &Type::String, diagnostics)?
        .as_shared_str()
        .cloned()
}

/// A constant text argument, if it is set.
pub(crate) fn text_argument(
    body: &Body,
    name: &str,
    diagnostics: &mut Diagnostics,
) -> Option<(Arc<str>, Attribute)> {
    let a = body.attribute(name)?;
    Some((text(&a.expression, diagnostics)?, a.clone()))
}

/// A constant flag argument, `None` if it is not set.
pub(crate) fn flag_argument(
    body: &Body,
    name: &str,
    diagnostics: &mut Diagnostics,
) -> Option<bool> {
    let a = body.attribute(name)?;
    constant_of(&a.expression, &Type::Bool, diagnostics)?.as_bool()
}

/// Says so if an expression whose value stands in the text is neither true nor false. What has to be
/// evaluated is judged when it is. Null stands for an argument that is not there.
pub(crate) fn plain_flag(e: &Expression, summary: &str, diagnostics: &mut Diagnostics) {
    let (value, said) = formwork_eval::evaluate_literal(e);
    // What refers to something or calls a function is no literal.
    if said.has_errors() || !value.is_known() {
        return;
    }
    let given = value.type_of();
    if convert(value, &Type::Bool).is_err() {
        diagnostics.push(
            Diagnostic::error(
                summary,
                format!(
                    "The value must be either true or false, but it is of type {}.",
                    given.friendly_name()
                ),
            )
            .at(e.range()),
        );
    }
}
