//! Sameness of representation (`==`) and equality in the language ([`Value::equals`]).

use std::hash::{Hash, Hasher};

use crate::value::{Inside, Repr};
use crate::{Number, Refinement, Type, Unknown, Value};

/// Same type, same content, same marks, same refinements: two unknown values are the same when
/// nothing tells them apart. Origins do not count. This is not the `==` of the language; that is
/// [`Value::equals`].
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (&self.0, &other.0) {
            (Repr::Null(a), Repr::Null(b)) => a == b,
            (Repr::Unknown(a), Repr::Unknown(b)) => a.ty == b.ty && a.refinement == b.refinement,
            (Repr::Bool(a), Repr::Bool(b)) => a == b,
            (Repr::Number(a), Repr::Number(b)) => a == b,
            (Repr::String(a), Repr::String(b)) => a == b,
            (Repr::List(a), Repr::List(b)) | (Repr::Set(a), Repr::Set(b)) => {
                std::ptr::eq(&**a, &**b)
                    || (a.element == b.element && crate::with_stack(|| a.values == b.values))
            }
            (Repr::Map(a), Repr::Map(b)) => {
                std::ptr::eq(&**a, &**b)
                    || (a.element == b.element && crate::with_stack(|| a.entries == b.entries))
            }
            (Repr::Object(a), Repr::Object(b)) => {
                std::ptr::eq(&**a, &**b)
                    || (a.ty == b.ty && crate::with_stack(|| a.values == b.values))
            }
            (Repr::Tuple(a), Repr::Tuple(b)) => {
                std::ptr::eq(&**a, &**b) || crate::with_stack(|| a.values == b.values)
            }
            (Repr::Marked(a), Repr::Marked(b)) => {
                a.marks == b.marks && crate::with_stack(|| a.value == b.value)
            }
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(&self.0).hash(state);
        match &self.0 {
            Repr::Null(ty) => ty.hash(state),
            Repr::Unknown(u) => u.ty.hash(state),
            Repr::Bool(b) => b.hash(state),
            Repr::Number(n) => n.hash(state),
            Repr::String(s) => s.hash(state),
            Repr::List(s) | Repr::Set(s) => crate::with_stack(|| s.values.hash(state)),
            Repr::Map(m) => crate::with_stack(|| m.entries.hash(state)),
            Repr::Object(o) => {
                o.ty.names().hash(state);
                crate::with_stack(|| o.values.hash(state));
            }
            Repr::Tuple(t) => crate::with_stack(|| t.values.hash(state)),
            Repr::Marked(m) => {
                m.marks.hash(state);
                crate::with_stack(|| m.value.hash(state));
            }
        }
    }
}

impl Value {
    /// Equality in the language: a truth value, or an unknown one where that cannot be said yet.
    /// Values of different types are not equal; null equals null of any type. The marks of both,
    /// at any depth, are on the answer.
    pub fn equals(&self, other: &Value) -> Value {
        let mut marks = self.all_marks();
        marks.extend(&other.all_marks());
        match self.known_equal(other) {
            Some(b) => Value::bool(b),
            None => Value::unknown_with(Type::Bool, Refinement::NOT_NULL),
        }
        .with_marks(&marks)
    }

    /// [`Value::equals`] for callers who want the answer now: `None` while it cannot be said.
    pub fn known_equal(&self, other: &Value) -> Option<bool> {
        compare(self, other)
    }
}

/// Marks count for nothing here.
fn compare(a: &Value, b: &Value) -> Option<bool> {
    let (a, b) = (a.unmarked(), b.unmarked());
    match (&a.0, &b.0) {
        (Repr::Unknown(x), Repr::Unknown(y)) => unknowns_differ(x, y).then_some(false),
        (Repr::Unknown(u), _) => may_be(u, b).then_some(()).map_or(Some(false), |()| None),
        (_, Repr::Unknown(u)) => may_be(u, a).then_some(()).map_or(Some(false), |()| None),
        (Repr::Null(_), Repr::Null(_)) => Some(true),
        (Repr::Null(_), _) | (_, Repr::Null(_)) => Some(false),
        (Repr::Bool(x), Repr::Bool(y)) => Some(x == y),
        (Repr::Number(x), Repr::Number(y)) => Some(x == y),
        (Repr::String(x), Repr::String(y)) => Some(x == y),
        (Repr::List(x), Repr::List(y)) => {
            if elements_differ((&x.element, x.inside), (&y.element, y.inside))
                || x.values.len() != y.values.len()
            {
                return Some(false);
            }
            all(x.values.iter().zip(&y.values))
        }
        (Repr::Set(x), Repr::Set(y)) => {
            if elements_differ((&x.element, x.inside), (&y.element, y.inside)) {
                return Some(false);
            }
            if x.inside.unknown || y.inside.unknown {
                // any element may still turn out equal to any other; only what is known on one
                // side and impossible on the other could decide, and that is not worth the search
                return None;
            }
            Some(x.values.len() == y.values.len() && x.values.iter().eq(y.values.iter()))
        }
        (Repr::Map(x), Repr::Map(y)) => {
            if elements_differ((&x.element, x.inside), (&y.element, y.inside))
                || x.entries.len() != y.entries.len()
                || x.entries.iter().zip(&y.entries).any(|(p, q)| p.0 != q.0)
            {
                return Some(false);
            }
            all(x
                .entries
                .iter()
                .map(|e| &e.1)
                .zip(y.entries.iter().map(|e| &e.1)))
        }
        (Repr::Object(x), Repr::Object(y)) => {
            if x.ty.names() != y.ty.names() {
                return Some(false);
            }
            all(x.values.iter().zip(&y.values))
        }
        (Repr::Tuple(x), Repr::Tuple(y)) => {
            if x.values.len() != y.values.len() {
                return Some(false);
            }
            all(x.values.iter().zip(&y.values))
        }
        _ => Some(false),
    }
}

fn all<'a>(mut pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Option<bool> {
    let mut sure = true;
    let decided = pairs.any(|(x, y)| match crate::with_stack(|| compare(x, y)) {
        Some(false) => true,
        Some(true) => false,
        None => {
            sure = false;
            false
        }
    });
    if decided {
        Some(false)
    } else {
        sure.then_some(true)
    }
}

/// Whether two known collections differ by the types of their elements alone. With something unknown
/// inside, a dynamic element type may still become the other's; else it is one of its own:
/// `tolist([])` and `range(0)` are not equal.
fn elements_differ(a: (&Type, Inside), b: (&Type, Inside)) -> bool {
    if a.1.unknown || b.1.unknown {
        types_differ(a.0, b.0)
    } else {
        a.0 != b.0
    }
}

/// Whether two types can never be of equal values: they differ elsewhere than where one is dynamic.
fn types_differ(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Dynamic, _) | (_, Type::Dynamic) => false,
        (Type::List(a), Type::List(b))
        | (Type::Set(a), Type::Set(b))
        | (Type::Map(a), Type::Map(b)) => types_differ(a, b),
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() != b.len() || a.iter().zip(b.iter()).any(|(a, b)| types_differ(a, b))
        }
        (Type::Object(a), Type::Object(b)) => {
            let types = a.types().iter().zip(b.types());
            a.names() != b.names() || types.into_iter().any(|(a, b)| types_differ(a, b))
        }
        (a, b) => a != b,
    }
}

/// Whether an unknown value may turn out to be this known (or null, or partly unknown) value.
fn may_be(unknown: &Unknown, value: &Value) -> bool {
    let known = &unknown.refinement;
    if let Repr::Null(_) = value.0 {
        return !known.not_null;
    }
    let ty = value.type_of();
    // the type of what is wholly known stays as it is, dynamic elements of nothing included
    let settled = !unknown.ty.has_dynamic() && value.is_wholly_known() && unknown.ty != ty;
    if settled || types_differ(&unknown.ty, &ty) {
        return false;
    }
    match &value.0 {
        Repr::String(s) => known.prefix.as_ref().is_none_or(|p| s.starts_with(&**p)),
        Repr::Number(n) => within(n, known),
        Repr::List(s) => length_within(s.values.len(), known),
        Repr::Set(s) if !s.inside.unknown => length_within(s.values.len(), known),
        Repr::Map(m) => length_within(m.entries.len(), known),
        _ => true,
    }
}

fn within(n: &Number, known: &Refinement) -> bool {
    known
        .lower
        .as_ref()
        .is_none_or(|(low, own)| n > low || (*own && n == low))
        && known
            .upper
            .as_ref()
            .is_none_or(|(high, own)| n < high || (*own && n == high))
}

fn length_within(length: usize, known: &Refinement) -> bool {
    let length = length as u64;
    length >= known.min_length && known.max_length.is_none_or(|max| length <= max)
}

/// Whether two unknown values can be told apart already.
fn unknowns_differ(a: &Unknown, b: &Unknown) -> bool {
    let (x, y) = (&a.refinement, &b.refinement);
    if !(x.not_null || y.not_null) {
        return false;
    }
    if types_differ(&a.ty, &b.ty) {
        return true;
    }
    let prefixes = match (&x.prefix, &y.prefix) {
        (Some(p), Some(q)) => !p.starts_with(&**q) && !q.starts_with(&**p),
        _ => false,
    };
    let below = |high: &Option<(Number, bool)>, low: &Option<(Number, bool)>| match (high, low) {
        (Some((h, _)), Some((l, _))) => h < l,
        _ => false,
    };
    let shorter = |a: &Refinement, b: &Refinement| a.max_length.is_some_and(|m| m < b.min_length);
    prefixes
        || below(&x.upper, &y.lower)
        || below(&y.upper, &x.lower)
        || shorter(x, y)
        || shorter(y, x)
}
