//! count and for_each: how often a block exists.

use crate::objects::Expansion;
use crate::origins::origins_of;
use crate::reading::Reading;
use crate::scope::ModuleScope;
use formwork_configuration::Repetition;
use formwork_diagnostics::{Diagnostic, SourceRange};
use formwork_eval::{Functions, explain_unknowns};
use formwork_syntax::Expression;
use formwork_values::{Origin, Type, Value, convert};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How an expansion was read.
pub enum Repeated {
    /// These instances.
    Known(Expansion),
    /// Not known before something is applied: a run may either fail by it or defer the block.
    Unknown(Box<NotKnown>),
    /// Wrong; said in the reading.
    Failed,
}

/// Why it is not known how often a block exists.
pub struct NotKnown {
    /// What to say if the run fails by it. How to go on depends on the block and is the caller's to say.
    pub diagnostic: Diagnostic,
    /// The attributes that must be known first, nearest first; empty where they cannot be told.
    pub origins: Vec<Arc<Origin>>,
}

/// The largest count: beyond it something has surely gone wrong.
const LARGEST: u64 = 10_000_000;

/// Reads how often a block exists.
pub fn expand(
    repetition: &Repetition,
    scope: &ModuleScope<'_>,
    functions: &dyn Functions,
    reading: &mut Reading,
) -> Repeated {
    let before = reading.diagnostics.len();
    let mut repeated = match repetition {
        Repetition::Single => Repeated::Known(Expansion::Single),
        Repetition::Count(expression) => count(expression, scope, functions, reading),
        Repetition::ForEach(expression) => for_each(expression, scope, functions, reading),
        Repetition::Enabled(expression) => enabled(expression, scope, functions, reading),
    };
    if let Some(expression) = repetition.expression() {
        match &mut repeated {
            Repeated::Unknown(unknown) => {
                unknown.diagnostic.values = explain_unknowns(expression, scope);
                unknown.origins = origins_of(expression, scope);
                unknown.diagnostic.detail = detail_of(&unknown.origins);
            }
            _ => reading.explain_since(before, expression, scope),
        }
    }
    repeated
}

/// The expression's value without marks, or what its being unfit amounts to.
fn value_of(
    argument: &str,
    expression: &Expression,
    scope: &ModuleScope<'_>,
    functions: &dyn Functions,
    reading: &mut Reading,
) -> Option<Value> {
    let before = reading.diagnostics.error_count();
    let value = scope.read(expression, functions, reading);
    if reading.diagnostics.error_count() > before || !reading.pending.is_empty() {
        return None;
    }
    let marks = value.all_marks();
    let what = if marks.is_sensitive() {
        "sensitive, and instance keys are shown"
    } else if marks.is_ephemeral() {
        "ephemeral, and instances outlive the run"
    } else {
        return Some(value.unmark_deep().0);
    };
    // Sensitive content within the values of a map is no matter: only keys are shown.
    if argument == "for_each"
        && !value.marks().is_sensitive()
        && !value.marks().is_ephemeral()
        && !is_set(&value)
    {
        return Some(value);
    }
    reading.say(invalid(
        argument,
        expression.range(),
        &format!("Its value is {what}, so it cannot decide how many instances there are."),
    ));
    None
}

fn is_set(value: &Value) -> bool {
    matches!(value.type_of(), Type::Set(_))
}

fn invalid(argument: &str, range: SourceRange, detail: &str) -> Diagnostic {
    Diagnostic::error(format!("Invalid {argument} argument"), detail).at(range)
}

/// What is not known; its origins are looked for when all is read.
fn unknown(argument: &str, range: SourceRange) -> Repeated {
    Repeated::Unknown(Box::new(NotKnown {
        diagnostic: invalid(argument, range, &detail_of(&[])),
        origins: Vec::new(),
    }))
}

/// How many origins a sentence names.
const NAMED: usize = 3;

fn detail_of(origins: &[Arc<Origin>]) -> String {
    let needed = "How many instances there are must be known when planning.";
    let names: Vec<String> = origins
        .iter()
        .take(NAMED)
        .map(|o| format!("{}{}", o.address, o.path))
        .collect();
    let more = if origins.len() > NAMED {
        " and others"
    } else {
        ""
    };
    match names.len() {
        0 => format!("{needed} It depends on values that are known only after apply."),
        1 => format!(
            "{needed} It depends on {}, which is known only after apply.",
            names.concat()
        ),
        _ => format!(
            "{needed} It depends on {}{more}, which are known only after apply.",
            names.join(", ")
        ),
    }
}

fn count(
    expression: &Expression,
    scope: &ModuleScope<'_>,
    functions: &dyn Functions,
    reading: &mut Reading,
) -> Repeated {
    let range = expression.range();
    let Some(value) = value_of("count", expression, scope, functions, reading) else {
        return Repeated::Failed;
    };
    if value.is_null() {
        reading.say(invalid(
            "count",
            range,
            "Its value is null. It must be a whole number from 0.",
        ));
        return Repeated::Failed;
    }
    let number = match convert(value.clone(), &Type::Number) {
        Ok(n) => n,
        Err(e) => {
            reading.say(
                Diagnostic::error(
                    "Incorrect value type",
                    format!("count must be a whole number from 0, but {e}."),
                )
                .at(range),
            );
            return Repeated::Failed;
        }
    };
    if !number.is_known() {
        return unknown("count", range);
    }
    let whole = number.as_number().and_then(|n| n.to_i64());
    match whole.and_then(|n| u64::try_from(n).ok()) {
        Some(n) if n <= LARGEST => Repeated::Known(Expansion::Count(n)),
        Some(n) => {
            reading.say(invalid(
                "count",
                range,
                &format!("{n} instances are more than the {LARGEST} that a block may have."),
            ));
            Repeated::Failed
        }
        None => {
            let what = match whole {
                Some(n) => format!("It is {n}, which is less than 0."),
                None => "It is not a whole number.".to_owned(),
            };
            reading.say(invalid(
                "count",
                range,
                &format!("{what} It must be a whole number from 0."),
            ));
            Repeated::Failed
        }
    }
}

fn enabled(
    expression: &Expression,
    scope: &ModuleScope<'_>,
    functions: &dyn Functions,
    reading: &mut Reading,
) -> Repeated {
    let argument = "enabled";
    let Some(value) = value_of(argument, expression, scope, functions, reading) else {
        return Repeated::Failed;
    };
    let wrong = |reading: &mut Reading, what: &str| {
        let detail = format!("It must be either true or false, {what}.");
        reading.say(invalid(argument, expression.range(), &detail));
        Repeated::Failed
    };
    if value.is_null() {
        return wrong(reading, "but it is null");
    }
    match convert(value.clone(), &Type::Bool) {
        Err(_) => {
            let what = format!("but its type is {}", value.type_of().friendly_name());
            wrong(reading, &what)
        }
        Ok(flag) => match flag.as_bool() {
            None => unknown(argument, expression.range()),
            Some(true) => Repeated::Known(Expansion::Single),
            Some(false) => Repeated::Known(Expansion::Disabled),
        },
    }
}

fn for_each(
    expression: &Expression,
    scope: &ModuleScope<'_>,
    functions: &dyn Functions,
    reading: &mut Reading,
) -> Repeated {
    let range = expression.range();
    let Some(value) = value_of("for_each", expression, scope, functions, reading) else {
        return Repeated::Failed;
    };
    let ty = value.type_of();
    let fits = matches!(
        ty,
        Type::Map(_) | Type::Object(_) | Type::Set(_) | Type::Dynamic
    );
    let set_of_text = match &ty {
        Type::Set(element) => matches!(**element, Type::String | Type::Dynamic),
        _ => true,
    };
    let say = |reading: &mut Reading, detail: &str| {
        reading.say(invalid("for_each", range, detail));
        Repeated::Failed
    };
    let of_set = |reading: &mut Reading, detail: &str| {
        reading.say(Diagnostic::error("Invalid for_each set argument", detail).at(range));
        Repeated::Failed
    };
    if value.is_null() {
        return say(
            reading,
            "Its value is null. Use an empty map or set to have no instances.",
        );
    }
    if !fits {
        let advice = match &ty {
            Type::List(_) | Type::Tuple(_) => " toset() makes a set of a list of strings.",
            Type::Bool => " To have a block once or not at all, write count = condition ? 1 : 0.",
            Type::Number => " To have a block several times, use count.",
            Type::String => " For one element, write toset([...]) around it.",
            _ => "",
        };
        return say(
            reading,
            &format!(
                "It must be a map, an object or a set of strings, so that each instance has a key of \
                 its own, but its type is {}.{advice}",
                ty.friendly_name()
            ),
        );
    }
    if !set_of_text && value.is_known() && value.elements().is_none_or(|e| !e.is_empty()) {
        return of_set(
            reading,
            &format!(
                "A set must be of strings, which become the keys of instances, but this is a {}.",
                ty.friendly_name()
            ),
        );
    }
    if !value.is_known() {
        return unknown("for_each", range);
    }
    let mut instances = BTreeMap::new();
    for (key, element) in value.elements().unwrap_or_default() {
        let key = if matches!(ty, Type::Set(_)) {
            &element
        } else {
            &key
        };
        if !key.is_known() {
            return unknown("for_each", range);
        }
        let Some(text) = key.as_shared_str() else {
            reading.say(
                Diagnostic::error(
                    "Invalid for_each set argument",
                    "The set holds null, but its elements become the keys of instances. Take null out \
                     of it, as with compact().",
                )
                .at(range),
            );
            return Repeated::Failed;
        };
        instances.insert(text.clone(), element.clone());
    }
    Repeated::Known(Expansion::ForEach(Arc::new(instances)))
}
