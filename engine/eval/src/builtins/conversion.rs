//! Types and marks: `tostring` and its kin, `sensitive`, `ephemeralasnull`.

use formwork_values::{Marks, Refinement, Type, Value};

use super::{Answer, Given};
use crate::convert::Converts;
use crate::functions::CallError;

/// `try`, `can` and `convert` are the evaluator's; this is reached only with expanded arguments, whose
/// values are there already.
pub(super) fn lazily(_given: &Given<'_>) -> Answer {
    Err(CallError::call(
        "Its arguments must be written out: \"...\" cannot be used here.",
    ))
}

fn to(given: &Given<'_>, ty: &Type) -> Answer {
    given.at(0).convert(ty).map_err(|error| {
        CallError::argument(
            0,
            format!(
                "It cannot be made a {}: {error}.",
                ty.friendly_name_for_constraint()
            ),
        )
    })
}

pub(super) fn tobool(given: &Given<'_>) -> Answer {
    to(given, &Type::Bool)
}

pub(super) fn tonumber(given: &Given<'_>) -> Answer {
    to(given, &Type::Number)
}

pub(super) fn tostring(given: &Given<'_>) -> Answer {
    to(given, &Type::String)
}

pub(super) fn tolist(given: &Given<'_>) -> Answer {
    to(given, &Type::list(Type::Dynamic))
}

pub(super) fn toset(given: &Given<'_>) -> Answer {
    to(given, &Type::set(Type::Dynamic))
}

pub(super) fn tomap(given: &Given<'_>) -> Answer {
    to(given, &Type::map(Type::Dynamic))
}

pub(super) fn sensitive(given: &Given<'_>) -> Answer {
    Ok(given.at(0).clone().sensitive())
}

pub(super) fn nonsensitive(given: &Given<'_>) -> Answer {
    let (value, marks) = given.at(0).clone().unmark();
    Ok(value.with_marks(&marks.without_sensitive()))
}

pub(super) fn issensitive(given: &Given<'_>) -> Answer {
    let value = given.at(0);
    if value.marks().is_sensitive() {
        return Ok(Value::TRUE);
    }
    if !value.is_known() {
        // it may turn out to be computed from something sensitive
        return Ok(Value::unknown_with(Type::Bool, Refinement::NOT_NULL));
    }
    Ok(Value::FALSE)
}

pub(super) fn ephemeralasnull(given: &Given<'_>) -> Answer {
    let value = given.at(0).clone().transform(&mut |_, part| {
        if part.marks().is_ephemeral() {
            let (bare, marks): (Value, Marks) = part.unmark();
            Value::null(bare.type_of()).with_marks(&marks.without_ephemeral())
        } else {
            part
        }
    });
    Ok(value)
}
