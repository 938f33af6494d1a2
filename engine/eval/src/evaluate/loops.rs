//! `for` expressions and splats.

use std::sync::Arc;

use crate::convert::Converts;
use formwork_diagnostics::Diagnostic;
use formwork_syntax::{Expression, ForExpression, Splat};
use formwork_values::{Kind, Marks, Refinement, Type, Value};
use rustc_hash::FxHashMap;

use super::objects::KeyFound;
use super::{Bookmark, Evaluator, Local, Locals};

/// What there is to go through.
pub(super) enum Elements {
    /// Keys with values.
    Known(Vec<(Value, Value)>),
    /// Nobody knows yet.
    Unknown,
    /// That cannot be gone through; it has been told.
    Failed,
}

impl Evaluator<'_> {
    pub(super) fn for_expression(
        &mut self,
        f: &ForExpression,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let mut marks = Marks::NONE;
        let elements = match self.elements_of(&f.collection, whole, &mut marks, locals) {
            Elements::Known(elements) => elements,
            Elements::Unknown | Elements::Failed => return Value::dynamic().with_marks(&marks),
        };
        let mut complete = true;
        let mut values: Vec<Value> = Vec::new();
        let mut entries: Vec<(Arc<str>, Value)> = Vec::new();
        let mut places: FxHashMap<Arc<str>, usize> = FxHashMap::default();
        let mut groups: Vec<(Arc<str>, Vec<Value>)> = Vec::new();
        // where the first mistake was told: made again with every further element it is no news
        let mut told: Option<Bookmark> = None;
        for (key, value) in &elements {
            let outer = f.key_name.as_ref().map(|(name, _)| Local {
                name,
                value: key,
                outer: locals,
            });
            let local = Local {
                name: &f.value_name.0,
                value,
                outer: outer.as_ref().or(locals),
            };
            let inner = Some(&local);
            let start = self.bookmark();
            if let Some(condition) = &f.condition {
                match self.selects(condition, &mut marks, inner) {
                    Some(Some(true)) => {}
                    Some(Some(false)) => continue,
                    Some(None) => {
                        complete = false;
                        continue;
                    }
                    None => return Value::dynamic(),
                }
            }
            let name = match &f.key {
                None => None,
                Some(key) => {
                    let found = self.value_of(key, inner);
                    if self.failed_since(start) {
                        return Value::dynamic();
                    }
                    let summaries = ["Invalid object key", "Invalid object key"];
                    match self.key_text(found, key, summaries, &mut marks, inner) {
                        KeyFound::Name(name) => Some(name),
                        KeyFound::Unknown => {
                            complete = false;
                            continue;
                        }
                        KeyFound::Failed => return Value::dynamic(),
                    }
                }
            };
            let value = self.value_of(&f.value, inner);
            match told {
                Some(told) => self.forgive(told, self.bookmark()),
                None if self.failed_since(start) => told = Some(self.bookmark()),
                None => {}
            }
            let Some(name) = name else {
                values.push(value);
                continue;
            };
            if f.group {
                let at = *places.entry(name.clone()).or_insert_with(|| {
                    groups.push((name, Vec::new()));
                    groups.len() - 1
                });
                groups[at].1.push(value);
            } else if places.insert(name.clone(), entries.len()).is_some() {
                let key = f.key.as_ref().unwrap_or(&f.value);
                let detail = if marks.is_sensitive() || marks.is_ephemeral() {
                    "Two elements of the result have the same key.".to_owned()
                } else {
                    format!("Two elements of the result have the same key {name:?}.")
                };
                let problem = Diagnostic::error("Duplicate object key", detail).hint(
                    "To collect all values of a key in a list, write \"...\" after the value.",
                );
                return self.tell(problem.at(key.range()).within(whole.range()), key, inner);
            } else {
                entries.push((name, value));
            }
        }
        if !complete {
            return Value::dynamic().with_marks(&marks);
        }
        if f.key.is_none() {
            Value::tuple(values)
        } else if f.group {
            Value::object(
                groups
                    .into_iter()
                    .map(|(name, values)| (name, Value::tuple(values))),
            )
        } else {
            Value::object(entries)
        }
        .with_marks(&marks)
    }

    /// The elements of what a `for` goes through, without the marks of the collection itself.
    pub(super) fn elements_of(
        &mut self,
        collection: &Expression,
        whole: &Expression,
        marks: &mut Marks,
        locals: Locals<'_>,
    ) -> Elements {
        let start = self.bookmark();
        let value = self.value_of(collection, locals);
        if self.failed_since(start) {
            return Elements::Failed;
        }
        let (value, own) = value.unmark();
        marks.extend(&own);
        if let Some(elements) = value.elements() {
            return Elements::Known(elements);
        }
        let ty = value.type_of();
        let iterable = matches!(
            ty,
            Type::List(_) | Type::Set(_) | Type::Map(_) | Type::Object(_) | Type::Tuple(_)
        );
        if !value.is_known() && (iterable || ty.is_dynamic()) {
            return Elements::Unknown;
        }
        let problem = if value.is_null() {
            Diagnostic::error(
                "Iteration over null value",
                "The value to go through is null. Give an empty collection instead, as in \
                 \"x == null ? [] : x\".",
            )
        } else {
            Diagnostic::error(
                "Iteration over non-iterable value",
                format!(
                    "Only lists, sets, maps, tuples and objects can be gone through, but this is {}.",
                    super::explain::a_type(&value)
                ),
            )
        };
        let problem = problem.at(collection.range()).within(whole.range());
        self.tell(problem, collection, locals);
        Elements::Failed
    }

    /// The condition of a `for`: `None` if it failed (that is told), `Some(None)` if unknown.
    #[allow(clippy::option_option)] // failed, unknown and known are three things here
    fn selects(
        &mut self,
        condition: &Expression,
        marks: &mut Marks,
        locals: Locals<'_>,
    ) -> Option<Option<bool>> {
        let start = self.bookmark();
        let value = self.value_of(condition, locals);
        if self.failed_since(start) {
            return None;
        }
        let (value, own) = value.unmark();
        marks.extend(&own);
        let problem = if value.is_null() {
            Diagnostic::error(
                "Condition is null",
                "The \"if\" of a for expression is null for one of the elements, so it does not say \
                 whether to take it.",
            )
        } else {
            match value.convert(&Type::Bool) {
                Ok(truth) => return Some(truth.as_bool()),
                Err(_) => Diagnostic::error(
                    "Invalid 'for' condition",
                    format!(
                        "The \"if\" of a for expression must be true or false, but it is {}.",
                        super::explain::a_type(&value)
                    ),
                ),
            }
        };
        self.tell(problem.at(condition.range()), condition, locals);
        None
    }

    pub(super) fn splat(&mut self, splat: &Splat, locals: Locals<'_>) -> Value {
        let start = self.bookmark();
        let source = self.value_of(&splat.source, locals);
        if self.failed_since(start) {
            return Value::dynamic();
        }
        let (source, marks) = source.unmark();
        let ty = source.type_of();
        let is_sequence = matches!(ty, Type::List(_) | Type::Set(_) | Type::Tuple(_));
        if source.is_null() {
            if !is_sequence {
                return Value::tuple(Vec::new()).with_marks(&marks);
            }
            let problem = Diagnostic::error(
                "Splat of null value",
                format!(
                    "A null {} has no elements to go through. Give an empty one instead.",
                    ty.friendly_name()
                ),
            );
            return self.tell(problem.at(splat.source.range()), &splat.source, locals);
        }
        let result = match source.kind() {
            Kind::List(values) | Kind::Set(values) => {
                let mut results = Vec::with_capacity(values.len());
                for value in values {
                    results.push(self.each(splat, value, locals));
                    if self.failed_since(start) {
                        return Value::dynamic();
                    }
                }
                match results.first().map(Value::type_of) {
                    None => {
                        let element = ty.element().cloned().unwrap_or(Type::Dynamic);
                        let sample = self.sample(splat, element, locals);
                        if self.failed_since(start) {
                            return Value::dynamic();
                        }
                        Value::list(sample.type_of(), results)
                    }
                    Some(first) if results.iter().all(|v| v.type_of() == first) => {
                        Value::list(first, results)
                    }
                    Some(_) => Value::tuple(results),
                }
            }
            Kind::Tuple(values) => {
                let mut results = Vec::with_capacity(values.len());
                for value in values {
                    results.push(self.each(splat, value, locals));
                    if self.failed_since(start) {
                        return Value::dynamic();
                    }
                }
                Value::tuple(results)
            }
            Kind::Unknown(unknown) => match &unknown.ty {
                Type::Dynamic => Value::dynamic(),
                Type::List(element) | Type::Set(element) => {
                    let sample = self.sample(splat, (**element).clone(), locals);
                    if self.failed_since(start) {
                        return Value::dynamic();
                    }
                    Value::unknown_with(
                        Type::list(sample.type_of()),
                        Refinement {
                            not_null: true,
                            // elements of a set may become equal, but a splat keeps each
                            min_length: unknown.refinement.min_length,
                            max_length: unknown.refinement.max_length,
                            ..Refinement::NONE
                        },
                    )
                }
                Type::Tuple(types) => {
                    let mut results = Vec::with_capacity(types.len());
                    for at in 0..types.len() {
                        let element =
                            source.index(&Value::int(i64::try_from(at).unwrap_or(i64::MAX)));
                        results.push(self.each(
                            splat,
                            &element.unwrap_or_else(|_| Value::dynamic()),
                            locals,
                        ));
                        if self.failed_since(start) {
                            return Value::dynamic();
                        }
                    }
                    Value::tuple(results)
                }
                _ => {
                    // one element, or none if it turns out null
                    let only = self.each(splat, &source, locals);
                    if self.failed_since(start) {
                        return Value::dynamic();
                    }
                    if unknown.refinement.not_null {
                        Value::tuple(vec![only])
                    } else {
                        Value::dynamic()
                    }
                }
            },
            _ => {
                let only = self.each(splat, &source, locals);
                if self.failed_since(start) {
                    return Value::dynamic();
                }
                Value::tuple(vec![only])
            }
        };
        result.with_marks(&marks)
    }

    fn each(&mut self, splat: &Splat, element: &Value, locals: Locals<'_>) -> Value {
        self.value_of(
            &splat.each,
            Some(&Local {
                name: "",
                value: element,
                outer: locals,
            }),
        )
    }

    /// What the splat yields of an element of which only the type is known.
    fn sample(&mut self, splat: &Splat, element: Type, locals: Locals<'_>) -> Value {
        self.each(splat, &Value::unknown(element), locals)
    }
}
