//! Going through a value with the path of each part.

use std::sync::Arc;

use crate::value::{MarkedValue, Repr};
use crate::{Marks, Path, PathMarks, Step, Value};

impl Value {
    /// Visits the value and everything inside, outside in, each with its path. Marked values are
    /// visited once, with their marks; the visitor says whether to go inside.
    pub fn walk(&self, visit: &mut dyn FnMut(&Path, &Value) -> bool) {
        walk(&mut Path::default(), self, visit);
    }

    /// Rebuilds the value inside out: `change` gets each part after its contents, with its path, and
    /// answers what stands there instead. Parts in which nothing changes are shared, not copied.
    ///
    /// Types follow the new contents of tuples and objects; the element type of a collection stays
    /// if its elements still have it, else it becomes their common type, or dynamic.
    pub fn transform(self, change: &mut dyn FnMut(&Path, Value) -> Value) -> Value {
        transform(&mut Path::default(), self, change)
    }

    /// The value without its own marks, and these.
    pub fn unmark(self) -> (Value, Marks) {
        match self.0 {
            Repr::Marked(m) => match Arc::try_unwrap(m) {
                Ok(MarkedValue { value, marks }) => (value, marks),
                Err(m) => (m.value.clone(), m.marks.clone()),
            },
            _ => (self, Marks::NONE),
        }
    }

    /// The marks of the value itself.
    pub fn marks(&self) -> &Marks {
        match &self.0 {
            Repr::Marked(m) => &m.marks,
            _ => const { &Marks::NONE },
        }
    }

    /// The value without its own marks, by reference.
    pub fn unmarked(&self) -> &Value {
        match &self.0 {
            Repr::Marked(m) => &m.value,
            _ => self,
        }
    }

    /// The value without any marks, and those with the path of what carried them.
    pub fn unmark_deep(self) -> (Value, PathMarks) {
        if !self.contains_marks() {
            return (self, Vec::new());
        }
        let mut found = Vec::new();
        self.walk(&mut |path, value| {
            if let Repr::Marked(m) = &value.0 {
                found.push((path.clone(), m.marks.clone()));
            }
            value.contains_marks()
        });
        let bare = self.transform(&mut |_, value| value.unmark().0);
        (bare, found)
    }

    /// The value without any marks, these thrown away. For stores, which keep the marks beside it,
    /// and for what the user asked to see by name. Callers are listed by tests/tidy.
    pub fn reveal(self) -> Value {
        if self.contains_marks() {
            self.transform(&mut |_, value| value.unmark().0)
        } else {
            self
        }
    }

    /// The texts of sensitive and ephemeral parts that are long enough to be told from ordinary words (4 characters
    /// and more), so that whoever shows somebody else's words can take them out. Shown to nobody.
    pub fn sensitive_texts(&self) -> Vec<std::sync::Arc<str>> {
        let mut found = Vec::new();
        self.walk(&mut |_, value| {
            if value.marks().is_sensitive() || value.marks().is_ephemeral() {
                value.unmarked().clone().reveal().walk(&mut |_, part| {
                    if let Some(text) = part.as_shared_str()
                        && text.chars().count() >= 4
                    {
                        found.push(text.clone());
                    }
                    true
                });
                return false;
            }
            true
        });
        // The longest first: a text may hold another.
        found.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        found.dedup();
        found
    }

    /// All marks of the value and inside it, together.
    pub fn all_marks(&self) -> Marks {
        let mut marks = Marks::NONE;
        self.walk(&mut |_, value| {
            marks.extend(value.marks());
            value.contains_marks()
        });
        marks
    }

    /// The value with objects of just the types of what they hold, where they were declared to hold
    /// anything: what an expression sees of an object that a provider has made.
    #[must_use]
    pub fn with_own_types(self) -> Value {
        let (bare, marks) = self.unmark();
        let own = match &bare.0 {
            Repr::Object(o) if o.ty.types().iter().any(crate::Type::has_dynamic) => {
                let names = o.ty.names().iter().cloned();
                let values = o.values.iter().cloned();
                Value::object(names.zip(values.map(|v| crate::with_stack(|| v.with_own_types()))))
            }
            Repr::Tuple(t)
                if t.values
                    .iter()
                    .any(|v| matches!(v.unmarked().0, Repr::Object(_) | Repr::Tuple(_))) =>
            {
                Value::tuple(
                    t.values
                        .iter()
                        .map(|v| crate::with_stack(|| v.clone().with_own_types()))
                        .collect(),
                )
            }
            _ => bare,
        };
        own.with_marks(&marks)
    }

    /// The value with marks put back at the given paths. A path into a set, or one that does not
    /// exist, marks the nearest thing outside that does.
    pub fn mark_with_paths(self, marks: &[(Path, Marks)]) -> Value {
        if marks.is_empty() {
            return self;
        }
        let all: Vec<(&[Step], &Marks)> = marks.iter().map(|(p, m)| (p.steps(), m)).collect();
        apply_marks(self, &all)
    }

    /// Whether the value or anything inside is marked.
    pub fn contains_marks(&self) -> bool {
        self.inside().marked
    }

    /// Whether the value itself is marked.
    pub fn is_marked(&self) -> bool {
        matches!(self.0, Repr::Marked(_))
    }

    /// Whether the value or anything inside is unknown.
    pub fn contains_unknown(&self) -> bool {
        self.inside().unknown
    }

    /// Whether nothing in the value is unknown.
    pub fn is_wholly_known(&self) -> bool {
        !self.contains_unknown()
    }

    /// Whether the value itself is known; its contents may not be. Marks do not matter.
    pub fn is_known(&self) -> bool {
        !matches!(self.unmarked().0, Repr::Unknown(_))
    }

    /// Whether the value itself is null. Marks do not matter.
    pub fn is_null(&self) -> bool {
        matches!(self.unmarked().0, Repr::Null(_))
    }
}

fn walk(path: &mut Path, value: &Value, visit: &mut dyn FnMut(&Path, &Value) -> bool) {
    if !visit(path, value) {
        return;
    }
    let mut inner = |path: &mut Path, step: Step, value: &Value| {
        path.push(step);
        crate::with_stack(|| walk(path, value, visit));
        path.pop();
    };
    match &value.unmarked().0 {
        Repr::List(s) => {
            s.values
                .iter()
                .enumerate()
                .for_each(|(i, v)| inner(path, position(i), v));
        }
        Repr::Tuple(t) => {
            t.values
                .iter()
                .enumerate()
                .for_each(|(i, v)| inner(path, position(i), v));
        }
        Repr::Set(s) => {
            s.values
                .iter()
                .for_each(|v| inner(path, Step::Index(v.clone()), v));
        }
        Repr::Map(m) => {
            m.entries.iter().for_each(|(k, v)| inner(path, key(k), v));
        }
        Repr::Object(o) => {
            let names = o.ty.names().iter();
            names
                .zip(&o.values)
                .for_each(|(n, v)| inner(path, Step::Attribute(n.clone()), v));
        }
        _ => {}
    }
}

pub(crate) fn position(at: usize) -> Step {
    Step::Index(Value::int(i64::try_from(at).unwrap_or(i64::MAX)))
}

pub(crate) fn key(key: &Arc<str>) -> Step {
    Step::Index(Value(Repr::String(key.clone())))
}

/// The values of `old` transformed; `None` when all came back as they were.
fn inner<'a>(
    path: &mut Path,
    old: impl ExactSizeIterator<Item = (Step, &'a Value)>,
    change: &mut dyn FnMut(&Path, Value) -> Value,
) -> Option<Vec<Value>> {
    let mut new = Vec::with_capacity(old.len());
    let mut changed = false;
    for (step, value) in old {
        path.push(step);
        let value_new = crate::with_stack(|| transform(path, value.clone(), change));
        path.pop();
        changed |= !identical(value, &value_new);
        new.push(value_new);
    }
    changed.then_some(new)
}

impl Value {
    /// Whether both are one value held twice, down to what `==` does not tell apart. Cheap, never
    /// wrongly true, and false for equal values that were made apart.
    pub fn is_same_as(&self, other: &Value) -> bool {
        identical(self, other)
    }
}

/// Cheap and never wrongly true: the same shared contents, or equal plain ones.
fn identical(a: &Value, b: &Value) -> bool {
    match (&a.0, &b.0) {
        (Repr::Unknown(a), Repr::Unknown(b)) => Arc::ptr_eq(a, b),
        (Repr::List(a), Repr::List(b)) | (Repr::Set(a), Repr::Set(b)) => Arc::ptr_eq(a, b),
        (Repr::Map(a), Repr::Map(b)) => Arc::ptr_eq(a, b),
        (Repr::Object(a), Repr::Object(b)) => Arc::ptr_eq(a, b),
        (Repr::Tuple(a), Repr::Tuple(b)) => Arc::ptr_eq(a, b),
        (Repr::Marked(a), Repr::Marked(b)) => Arc::ptr_eq(a, b),
        (Repr::Number(a), Repr::Number(b)) => {
            a == b && a.precision() == b.precision() && a.is_negative() == b.is_negative()
        }
        _ => a == b,
    }
}

/// The element type after a transformation.
fn element_after(old: &crate::Type, values: &[Value]) -> crate::Type {
    let mut found: Option<crate::Type> = None;
    for value in values {
        let ty = value.type_of();
        if ty.is_dynamic() && !value.is_known() {
            continue;
        }
        match &found {
            None => found = Some(ty),
            Some(same) if *same == ty => {}
            Some(_) => return crate::Type::Dynamic,
        }
    }
    match found {
        None => old.clone(),
        Some(ty) => ty,
    }
}

fn transform(
    path: &mut Path,
    value: Value,
    change: &mut dyn FnMut(&Path, Value) -> Value,
) -> Value {
    let (bare, marks) = match &value.0 {
        Repr::Marked(m) => (m.value.clone(), Some(&m.marks)),
        _ => (value.clone(), None),
    };
    let rebuilt = match &bare.0 {
        Repr::List(s) => inner(
            path,
            s.values.iter().enumerate().map(|(i, v)| (position(i), v)),
            change,
        )
        .map(|new| Value::list(element_after(&s.element, &new), new)),
        Repr::Set(s) => inner(
            path,
            s.values.iter().map(|v| (Step::Index(v.clone()), v)),
            change,
        )
        .map(|new| Value::set(element_after(&s.element, &new), new)),
        Repr::Tuple(t) => inner(
            path,
            t.values.iter().enumerate().map(|(i, v)| (position(i), v)),
            change,
        )
        .map(Value::tuple),
        Repr::Map(m) => {
            inner(path, m.entries.iter().map(|(k, v)| (key(k), v)), change).map(|new| {
                let element = element_after(&m.element, &new);
                Value::map(element, m.entries.iter().map(|e| e.0.clone()).zip(new))
            })
        }
        Repr::Object(o) => {
            let names = o.ty.names();
            let pairs = o.values.iter().enumerate();
            inner(
                path,
                pairs.map(|(i, v)| (Step::Attribute(names[i].clone()), v)),
                change,
            )
            .map(|new| {
                // A declared type may be wider than that of the value (an attribute of any type): it
                // stays as long as nothing of the value's own type has changed.
                if new
                    .iter()
                    .zip(o.ty.types())
                    .zip(&o.values)
                    .all(|((new, declared), old)| {
                        let ty = new.type_of();
                        ty == *declared || ty == old.type_of()
                    })
                {
                    Value::object_of(o.ty.clone(), new)
                } else {
                    Value::object(names.iter().cloned().zip(new))
                }
            })
        }
        _ => None,
    };
    let value = match (rebuilt, marks) {
        (Some(new), Some(marks)) => new.with_marks(marks),
        (Some(new), None) => new,
        (None, _) => value,
    };
    change(path, value)
}

/// Puts marks on a value whose path has been followed so far.
fn apply_marks(value: Value, marks: &[(&[Step], &Marks)]) -> Value {
    let (value, own) = value.unmark();
    let mut own = own;
    let mut deeper: Vec<(&Step, &[Step], &Marks)> = Vec::new();
    for (steps, m) in marks {
        match steps.split_first() {
            None => own.extend(m),
            Some((first, rest)) => deeper.push((first, rest, m)),
        }
    }
    if deeper.is_empty() {
        return value.with_marks(&own);
    }
    // marks by the position of the child they lead into; what leads nowhere stays here
    let mut by_child: std::collections::BTreeMap<usize, Vec<(&[Step], &Marks)>> =
        std::collections::BTreeMap::new();
    for (first, rest, m) in deeper {
        match child_position(&value, first) {
            Some(at) => by_child.entry(at).or_default().push((rest, m)),
            None => own.extend(m),
        }
    }
    let marked = |at: usize, v: &Value| match by_child.get(&at) {
        Some(inner) => crate::with_stack(|| apply_marks(v.clone(), inner)),
        None => v.clone(),
    };
    let all = |values: &[Value]| {
        values
            .iter()
            .enumerate()
            .map(|(i, v)| marked(i, v))
            .collect()
    };
    let rebuilt = match &value.0 {
        _ if by_child.is_empty() => value,
        Repr::List(s) => Value::list(s.element.clone(), all(&s.values)),
        Repr::Tuple(t) => Value::tuple(all(&t.values)),
        Repr::Object(o) => Value::object_of(o.ty.clone(), all(&o.values)),
        Repr::Map(m) => Value::map(
            m.element.clone(),
            m.entries
                .iter()
                .enumerate()
                .map(|(i, (k, v))| (k.clone(), marked(i, v))),
        ),
        _ => value,
    };
    rebuilt.with_marks(&own)
}

/// The position among the children to which a step leads. Never one of a set: those hold no marks.
fn child_position(value: &Value, step: &Step) -> Option<usize> {
    match (&value.0, step) {
        (Repr::Object(o), Step::Attribute(name)) => o.ty.position(name),
        (Repr::Map(m), Step::Attribute(name)) => m.entries.binary_search_by(|e| e.0.cmp(name)).ok(),
        (Repr::Map(m), Step::Index(key)) => match &key.unmarked().0 {
            Repr::String(key) => m.entries.binary_search_by(|e| e.0.cmp(key)).ok(),
            _ => None,
        },
        (Repr::Object(o), Step::Index(key)) => match &key.unmarked().0 {
            Repr::String(key) => o.ty.position(key),
            _ => None,
        },
        (Repr::List(s), Step::Index(key)) => index_within(key, s.values.len()),
        (Repr::Tuple(t), Step::Index(key)) => index_within(key, t.values.len()),
        _ => None,
    }
}

fn index_within(key: &Value, length: usize) -> Option<usize> {
    match &key.unmarked().0 {
        Repr::Number(n) => n.to_usize().filter(|i| *i < length),
        _ => None,
    }
}
