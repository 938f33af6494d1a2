//! `regex`, `regexall`, `replace`.

use std::sync::Arc;

use formwork_values::{Type, Value};

use super::pattern::{Match, Pattern};
use super::{Answer, Given, MOST_TEXT, room_for_pieces, room_for_text, too_long, unknown};
use crate::functions::CallError;

/// What one match yields.
enum Shape {
    /// The text of the match.
    Whole,
    /// The text of each group.
    Groups(usize),
    /// The text of each group by name.
    Named(Vec<Arc<str>>),
}

impl Shape {
    fn of(pattern: &Pattern) -> Result<Shape, CallError> {
        let groups = &pattern.groups;
        let named: Vec<Arc<str>> = groups.iter().flatten().cloned().collect();
        if groups.is_empty() {
            Ok(Shape::Whole)
        } else if named.is_empty() {
            Ok(Shape::Groups(groups.len()))
        } else if named.len() == groups.len() {
            Ok(Shape::Named(named))
        } else {
            Err(CallError::argument(
                0,
                "Some groups of the pattern have names and some have none: name all or none. A group \
                 that is only for grouping is written (?:...).",
            ))
        }
    }

    fn ty(&self) -> Type {
        match self {
            Shape::Whole => Type::String,
            Shape::Groups(n) => Type::tuple((0..*n).map(|_| Type::String)),
            Shape::Named(names) => Type::object(names.iter().map(|n| (n.clone(), Type::String))),
        }
    }

    fn value(&self, found: &Match<'_>) -> Value {
        let text = |group: usize| match found.group(group) {
            Some(text) => Value::string(text),
            None => Value::null(Type::String),
        };
        match self {
            Shape::Whole => text(0),
            Shape::Groups(n) => Value::tuple((1..=*n).map(text).collect()),
            // of several of a name the last counts
            Shape::Named(names) => {
                let all = names.iter().enumerate();
                Value::object(all.map(|(at, n)| (n.clone(), text(at + 1))))
            }
        }
    }
}

fn compiled(given: &Given<'_>) -> Result<Option<(Arc<Pattern>, Shape)>, CallError> {
    let Some(text) = given.at(0).as_str() else {
        return Ok(None);
    };
    let pattern = given
        .builtins
        .patterns
        .compiled(text)
        .map_err(|detail| CallError::argument(0, detail))?;
    let shape = Shape::of(&pattern)?;
    Ok(Some((pattern, shape)))
}

pub(super) fn regex(given: &Given<'_>) -> Answer {
    let Some((pattern, shape)) = compiled(given)? else {
        return Ok(Value::dynamic());
    };
    let Some(text) = given.at(1).as_str() else {
        return Ok(unknown(shape.ty()));
    };
    match pattern.first(text) {
        Some(found) => Ok(shape.value(&found)),
        None => Err(CallError::call(
            "The pattern does not match the text anywhere. Use regexall to get an empty list in that \
             case, or wrap the call in try.",
        )),
    }
}

pub(super) fn regexall(given: &Given<'_>) -> Answer {
    let Some((pattern, shape)) = compiled(given)? else {
        return Ok(unknown(Type::list(Type::Dynamic)));
    };
    let Some(text) = given.at(1).as_str() else {
        return Ok(unknown(Type::list(shape.ty())));
    };
    let mut found = Vec::new();
    for m in pattern.all(text) {
        found.push(shape.value(&m));
        room_for_pieces(found.len())?;
    }
    Ok(Value::list(shape.ty(), found))
}

pub(super) fn replace(given: &Given<'_>) -> Answer {
    let (text, what, by) = (given.text(0), given.text(1), given.text(2));
    let inner = what.strip_prefix('/').and_then(|w| w.strip_suffix('/'));
    let Some(inner) = inner else {
        let grown = text.matches(what).count().saturating_mul(by.len());
        room_for_text(text.len().saturating_add(grown))?;
        return Ok(Value::string(text.replace(what, by)));
    };
    let pattern = given
        .builtins
        .patterns
        .compiled(inner)
        .map_err(|detail| CallError::argument(1, detail))?;
    match pattern.replace_all(text, by, MOST_TEXT) {
        Some(replaced) => Ok(Value::string(replaced)),
        None => Err(too_long()),
    }
}
