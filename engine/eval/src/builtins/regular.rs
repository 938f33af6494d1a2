//! `regex`, `regexall`, `replace`.

use formwork_values::{Type, Value};
use regex::{Captures, Regex};

use super::{Answer, Given, pattern, unknown};
use crate::functions::CallError;

/// What one match yields.
enum Shape {
    /// The text of the match.
    Whole,
    /// The text of each group.
    Groups(usize),
    /// The text of each group by name.
    Named(Vec<String>),
}

impl Shape {
    fn of(regex: &Regex) -> Result<Shape, CallError> {
        let groups: Vec<Option<&str>> = regex.capture_names().skip(1).collect();
        let named: Vec<String> = groups.iter().flatten().map(|n| (*n).to_owned()).collect();
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
            Shape::Named(names) => Type::object(names.iter().map(|n| (n.as_str(), Type::String))),
        }
    }

    fn value(&self, found: &Captures<'_>) -> Value {
        let text = |m: Option<regex::Match<'_>>| match m {
            Some(m) => Value::string(m.as_str()),
            None => Value::null(Type::String),
        };
        match self {
            Shape::Whole => text(found.get(0)),
            Shape::Groups(n) => Value::tuple((1..=*n).map(|i| text(found.get(i))).collect()),
            Shape::Named(names) => {
                Value::object(names.iter().map(|n| (n.as_str(), text(found.name(n)))))
            }
        }
    }
}

fn compiled(given: &Given<'_>) -> Result<Option<(Regex, Shape)>, CallError> {
    let Some(text) = given.at(0).as_str() else {
        return Ok(None);
    };
    let regex = pattern::compile(text).map_err(|detail| CallError::argument(0, detail))?;
    let shape = Shape::of(&regex)?;
    Ok(Some((regex, shape)))
}

pub(super) fn regex(given: &Given<'_>) -> Answer {
    let Some((regex, shape)) = compiled(given)? else {
        return Ok(Value::dynamic());
    };
    let Some(text) = given.at(1).as_str() else {
        return Ok(unknown(shape.ty()));
    };
    match regex.captures(text) {
        Some(found) => Ok(shape.value(&found)),
        None => Err(CallError::call(
            "The pattern does not match the text anywhere. Use regexall to get an empty list in that \
             case, or wrap the call in try.",
        )),
    }
}

pub(super) fn regexall(given: &Given<'_>) -> Answer {
    let Some((regex, shape)) = compiled(given)? else {
        return Ok(unknown(Type::list(Type::Dynamic)));
    };
    let Some(text) = given.at(1).as_str() else {
        return Ok(unknown(Type::list(shape.ty())));
    };
    let found = regex.captures_iter(text).map(|c| shape.value(&c)).collect();
    Ok(Value::list(shape.ty(), found))
}

pub(super) fn replace(given: &Given<'_>) -> Answer {
    let (text, what, by) = (given.text(0), given.text(1), given.text(2));
    let inner = what.strip_prefix('/').and_then(|w| w.strip_suffix('/'));
    let Some(inner) = inner else {
        return Ok(Value::string(text.replace(what, by)));
    };
    let regex = pattern::compile(inner).map_err(|detail| CallError::argument(1, detail))?;
    Ok(Value::string(regex.replace_all(text, by)))
}
