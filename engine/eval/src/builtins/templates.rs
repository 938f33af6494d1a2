//! `templatefile` and `templatestring`: templates from elsewhere, evaluated with given variables.

use std::sync::Arc;

use formwork_diagnostics::{Severity, SourceMap};
use formwork_syntax::{OffsetMap, parse_template};
use formwork_values::{Kind, Type, Value};

use super::{Answer, Builtins, Given};
use crate::convert::Converts;
use crate::evaluate::evaluate;
use crate::functions::{Call, CallError, Functions, Outcome, Signature};
use crate::scope::MapScope;

/// The functions a template may call: all but those that would nest templates without end.
struct WithinTemplate<'a>(&'a Builtins);

fn nests(name: &str) -> bool {
    let name = name.strip_prefix("core::").unwrap_or(name);
    name == "templatefile" || name == "templatestring"
}

impl Functions for WithinTemplate<'_> {
    fn signature(&self, name: &str) -> Option<Arc<Signature>> {
        self.0.signature(name)
    }

    fn call(&self, call: &Call<'_>) -> Outcome {
        if nests(call.name) {
            return Outcome::Failed(CallError::call(format!(
                "A template cannot call {}, since that might never end.",
                call.name
            )));
        }
        self.0.call(call)
    }

    fn names(&self) -> Vec<Arc<str>> {
        self.0.names()
    }
}

pub(super) fn templatefile(given: &Given<'_>) -> Answer {
    let text = super::filesystem::text_of(given, 0)?;
    let value = render(given, given.text(0), &text)?;
    if value.unmarked().is_null() {
        return Err(CallError::call(
            "The template yields null, which is nothing to be written.",
        ));
    }
    Ok(value)
}

pub(super) fn templatestring(given: &Given<'_>) -> Answer {
    let value = render(given, "template", given.text(0))?;
    let (bare, marks) = value.unmark();
    if bare.is_null() {
        return Err(CallError::call(
            "The template yields null, which is no text.",
        ));
    }
    bare.convert(&Type::String)
        .map(|v| v.with_marks(&marks))
        .map_err(|error| CallError::call(format!("The template does not yield text: {error}.")))
}

fn render(given: &Given<'_>, name: &str, text: &str) -> Answer {
    // whatever is marked in the variables is on the result, whether the template uses it or not
    let marks = given.at(1).all_marks();
    let (variables, _) = given.at(1).clone().unmark_deep();
    let mut scope = MapScope::new();
    let mut names: Vec<Arc<str>> = Vec::new();
    match variables.kind() {
        Kind::Object(ty, values) => {
            for (name, value) in ty.names().iter().zip(values) {
                names.push(name.clone());
                scope.insert(name.clone(), value.clone());
            }
        }
        Kind::Map(entries) => {
            for (name, value) in entries {
                names.push(name.clone());
                scope.insert(name.clone(), value.clone());
            }
        }
        Kind::Unknown(u) => {
            return match &u.ty {
                Type::Map(_) | Type::Object(_) | Type::Dynamic => {
                    Ok(Value::dynamic().with_marks(&marks))
                }
                _ => Err(not_variables()),
            };
        }
        _ => return Err(not_variables()),
    }
    if let Some(odd) = names.iter().find(|n| !is_name(n)) {
        return Err(CallError::argument(
            1,
            format!(
                "{odd:?} cannot be the name of a variable: names begin with a letter and go on with letters, digits, \"_\" and \"-\"."
            ),
        ));
    }
    let mut sources = SourceMap::new();
    let file = sources.add(name, text.as_bytes());
    let (template, diagnostics) = parse_template(file, text.as_bytes(), OffsetMap::PLAIN);
    refuse(&sources, &diagnostics)?;
    let mut missing = None;
    template.visit_variables(&mut |reference| {
        if missing.is_none() && !names.contains(&reference.root) {
            missing = Some((reference.root.clone(), reference.root_range));
        }
    });
    if let Some((name, range)) = missing {
        return Err(CallError::argument(
            1,
            format!(
                "It has no variable \"{name}\", which the template uses at {}.",
                sources.place(range)
            ),
        ));
    }
    let (value, diagnostics) =
        evaluate(&template, &scope, &WithinTemplate(given.builtins)).into_checked();
    refuse(&sources, &diagnostics)?;
    Ok(value.with_marks(&marks))
}

fn not_variables() -> CallError {
    CallError::argument(
        1,
        "It must be a map or object that gives each variable its value.",
    )
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c == '_' || unicode_ident::is_xid_start(c))
        && chars.all(|c| c == '-' || unicode_ident::is_xid_continue(c))
}

/// The first error in words, with its place in the template.
fn refuse(
    sources: &SourceMap,
    diagnostics: &formwork_diagnostics::Diagnostics,
) -> Result<(), CallError> {
    let Some(first) = diagnostics.iter().find(|d| d.severity == Severity::Error) else {
        return Ok(());
    };
    let place = first
        .subject
        .map(|range| sources.place(range))
        .unwrap_or_default();
    let mut text = format!("At {place}: {}: {}", first.summary, first.detail);
    for hint in &first.hints {
        text.push(' ');
        text.push_str(hint);
    }
    if let Some(range) = first.subject
        && let Some(excerpt) = excerpt(sources, range)
    {
        text.push_str("\n\n");
        text.push_str(&excerpt);
    }
    Err(CallError::call(text))
}

/// The line of a template on which a range begins, and a mark below what is meant; nothing where the line
/// is too long to be read.
fn excerpt(sources: &SourceMap, range: formwork_diagnostics::SourceRange) -> Option<String> {
    const WIDEST: usize = 120;
    let file = sources.get(range.file)?;
    let (start, end) = (file.position(range.start), file.position(range.end));
    let line = file.line(start.line);
    if line.len() > WIDEST || line.chars().any(|c| c.is_control() && c != '\t') {
        return None;
    }
    let before = (start.column as usize).saturating_sub(1);
    let marked = if start.line == end.line {
        (end.column as usize).saturating_sub(before + 1)
    } else {
        line.chars().count().saturating_sub(before)
    };
    let indent: String = line
        .chars()
        .take(before)
        .map(|c| if c == '\t' { '\t' } else { ' ' })
        .collect();
    Some(format!("  {line}\n  {indent}{}", "^".repeat(marked.max(1))))
}
