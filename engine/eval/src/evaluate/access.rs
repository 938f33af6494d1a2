//! References, attributes and indices: what stands after dots and in brackets.

use formwork_diagnostics::{Diagnostic, SourceRange, nearest};
use formwork_syntax::{Expression, IndexKey, Step, Traversal};
use formwork_values::{AccessError, BadIndex, Kind, Number, Type, Value};

use super::{Evaluator, Local, Locals};

/// How many names a message lists.
const LISTED: usize = 12;

impl Evaluator<'_> {
    pub(super) fn traversal(
        &mut self,
        traversal: &Traversal,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        if let Some(value) = Local::find(locals, &traversal.root) {
            return self.walk(value.clone(), &traversal.steps, expression, locals);
        }
        let resolved = self.scope.resolve(traversal);
        let failed = resolved.diagnostics.has_errors();
        if resolved.firm {
            self.tell_firm(resolved.diagnostics);
        } else {
            for diagnostic in resolved.diagnostics {
                self.tell(diagnostic, expression, locals);
            }
        }
        if failed {
            return Value::dynamic();
        }
        let rest = traversal.steps.get(resolved.consumed..).unwrap_or(&[]);
        self.walk(resolved.value, rest, expression, locals)
    }

    /// Follows steps from a value.
    pub(super) fn walk(
        &mut self,
        value: Value,
        steps: &[Step],
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let mut here = value;
        for step in steps {
            let next = match step {
                Step::Attribute { name, .. } => here.get_attribute(name),
                Step::Index { key, .. } => match index_key(key) {
                    Some(key) => here.index(&key),
                    None => Err(AccessError::BadIndex(BadIndex::NotWhole)),
                },
            };
            here = match next {
                Ok(value) => value,
                Err(error) => {
                    let problem = match step {
                        Step::Attribute { name, .. } => no_attribute(&here, name, &error),
                        Step::Index { key, .. } => {
                            no_element(&here, index_key(key).as_ref(), &error)
                        }
                    };
                    return self.tell(problem.at(step.range()), expression, locals);
                }
            };
        }
        here
    }

    pub(super) fn index(
        &mut self,
        collection: &Expression,
        key: &Expression,
        brackets: SourceRange,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let start = self.bookmark();
        let value = self.value_of(collection, locals);
        let key_value = self.value_of(key, locals);
        if self.failed_since(start) {
            return Value::dynamic();
        }
        match value.index(&key_value) {
            Ok(found) => found,
            Err(error) => {
                let problem = no_element(&value, Some(&key_value), &error);
                self.tell(problem.at(brackets), expression, locals)
            }
        }
    }
}

fn index_key(key: &IndexKey) -> Option<Value> {
    match key {
        IndexKey::String(s) => Some(Value::shared_string(s.clone())),
        IndexKey::Number(n) => Number::parse(n).ok().map(Value::number),
    }
}

/// `"a", "b" and 3 more`
fn listed<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let total = names.len();
    let mut out = String::new();
    for (i, name) in names.take(LISTED).enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        out.push('"');
        out.push_str(name);
        out.push('"');
    }
    if total > LISTED {
        out.push_str(&format!(" and {} more", total - LISTED));
    }
    out
}

/// The keys of a map or object, unless it is marked: then they are not for showing.
fn keys_of(value: &Value) -> Option<Vec<&str>> {
    match value.kind() {
        Kind::Object(ty, _) => Some(ty.names().iter().map(|n| &**n).collect()),
        Kind::Map(entries) => Some(entries.iter().map(|e| &*e.0).collect()),
        Kind::Unknown(u) => {
            u.ty.as_object()
                .map(|ty| ty.names().iter().map(|n| &**n).collect())
        }
        _ => None,
    }
}

fn with_names(problem: Diagnostic, value: &Value, name: &str, noun: &str) -> Diagnostic {
    let Some(keys) = keys_of(value) else {
        return problem;
    };
    if let Some(near) = nearest(name, keys.iter().copied()) {
        return problem.hint(format!("Did you mean \"{near}\"?"));
    }
    if keys.is_empty() {
        return problem.hint(format!("It has no {noun}s at all."));
    }
    problem.hint(format!(
        "It has the {noun}s {}.",
        listed(keys.iter().copied())
    ))
}

fn no_attribute(value: &Value, name: &str, error: &AccessError) -> Diagnostic {
    if *error == AccessError::Null {
        return Diagnostic::error(
            "Attempt to get attribute from null value",
            format!("The value is null, so it has no attribute \"{name}\"."),
        );
    }
    let ty = value.type_of();
    match &ty {
        Type::Map(_) => with_names(
            Diagnostic::error(
                "Missing map element",
                format!("The map has no element with the key \"{name}\"."),
            ),
            value,
            name,
            "key",
        ),
        Type::Object(_) => with_names(
            Diagnostic::error(
                "Unsupported attribute",
                format!("The object has no attribute named \"{name}\"."),
            ),
            value,
            name,
            "attribute",
        ),
        Type::List(e) | Type::Set(e) => {
            let problem = Diagnostic::error(
                "Unsupported attribute",
                format!(
                    "A {} has no attributes; its elements may. The attribute \"{name}\" was asked \
                     of the collection itself.",
                    ty.friendly_name()
                ),
            );
            match &ty {
                Type::List(_) if matches!(&**e, Type::Object(o) if o.has(name)) => problem.hint(format!(
                    "To get \"{name}\" of all elements write [*].{name}, of the first [0].{name}."
                )),
                Type::Set(_) => problem.hint(format!(
                    "To get it of all elements write [for x in ... : x.{name}]; of the only one, one(...).{name}."
                )),
                _ => problem,
            }
        }
        Type::Tuple(_) => Diagnostic::error(
            "Unsupported attribute",
            format!("A tuple has no attributes, so there is no \"{name}\"."),
        )
        .hint(format!(
            "To get it of all elements write [*].{name}, of the first [0].{name}."
        )),
        _ => Diagnostic::error(
            "Unsupported attribute",
            format!(
                "The value is {}, which has no attributes, so there is no \"{name}\".",
                super::explain::a_type(value)
            ),
        ),
    }
}

fn no_element(value: &Value, key: Option<&Value>, error: &AccessError) -> Diagnostic {
    let marked = value.contains_marks() || key.is_some_and(Value::contains_marks);
    let shown = |key: &Value| match key.kind() {
        Kind::Number(n) => Some(n.to_text()),
        Kind::String(s) => Some(format!("{:?}", &**s)),
        _ => None,
    };
    let named = key.filter(|_| !marked).and_then(shown);
    let invalid = |detail: String| Diagnostic::error("Invalid index", detail);
    match error {
        AccessError::Null => Diagnostic::error(
            "Attempt to index null value",
            "The value is null, so it has no elements.",
        ),
        AccessError::NoElement { ty: Type::Map(_) | Type::Object(_), .. }
        | AccessError::NoAttribute { ty: Type::Object(_), .. } => {
            let noun = if matches!(value.type_of(), Type::Object(_)) { "object" } else { "map" };
            let detail = match &named {
                Some(key) => format!("The {noun} has no element with the key {key}."),
                None => format!("The {noun} has no element with the given key."),
            };
            match key.filter(|_| !marked).and_then(Value::as_str) {
                Some(name) => with_names(invalid(detail), value, name, "key"),
                None => invalid(detail),
            }
        }
        AccessError::NoElement { length, .. } => invalid(match (&named, length) {
            (_, 0) => "The sequence is empty, so no index is valid.".to_owned(),
            (Some(key), n) => format!(
                "The sequence has {n} element{}, so the index {key} is past its end: the last is {}.",
                if *n == 1 { "" } else { "s" },
                n - 1
            ),
            (None, _) => "The given index is past the end of the sequence.".to_owned(),
        }),
        AccessError::BadIndex(BadIndex::Null) => invalid(
            "The key is null, which is no key of anything.".to_owned(),
        ),
        AccessError::BadIndex(BadIndex::NotWhole) => invalid(match &named {
            Some(key) => format!(
                "The elements of a sequence are counted from 0, so {key} is no index: it must be a whole number that is not negative."
            ),
            None => "An index must be a whole number that is not negative.".to_owned(),
        }),
        AccessError::BadIndex(BadIndex::NotNumber(ty)) => invalid(format!(
            "The elements of a sequence are found by number, but the key is {}.",
            super::explain::with_article(&ty.friendly_name())
        )),
        AccessError::BadIndex(BadIndex::NotString(ty)) => invalid(format!(
            "The elements of a map or object are found by name, but the key is {}.",
            super::explain::with_article(&ty.friendly_name())
        )),
        AccessError::NotIndexable(Type::Set(_)) => invalid(
            "The elements of a set have neither order nor key, so none can be picked by index."
                .to_owned(),
        )
        .hint("Go through it with a for expression, or make a list of it with tolist, if any order will do."),
        AccessError::NotIndexable(_) | AccessError::NoAttribute { .. } => invalid(format!(
            "The value is {}, which has no elements.",
            super::explain::a_type(value)
        )),
    }
}
