//! [`Value`] and how it is held.
//!
//! Containers know on construction how deep they are and whether anything inside is unknown or
//! marked, so those questions cost nothing later, and dropping a very deep value does not recurse.

use std::sync::Arc;

use crate::{Marks, Number, ObjectType, Type, Unknown};

/// A value of the language.
#[derive(Clone)]
pub struct Value(pub(crate) Repr);

#[derive(Clone)]
pub(crate) enum Repr {
    Null(Type),
    Unknown(Arc<Unknown>),
    Bool(bool),
    Number(Number),
    String(Arc<str>),
    List(Arc<Sequence>),
    Set(Arc<Sequence>),
    Map(Arc<MapValue>),
    Object(Arc<ObjectValue>),
    Tuple(Arc<TupleValue>),
    Marked(Arc<MarkedValue>),
}

/// What a container knows of its contents.
#[derive(Clone, Copy, Default)]
pub(crate) struct Inside {
    pub depth: u32,
    pub unknown: bool,
    pub marked: bool,
}

pub(crate) struct Sequence {
    pub element: Type,
    pub values: Vec<Value>,
    pub inside: Inside,
}

pub(crate) struct MapValue {
    pub element: Type,
    pub entries: Vec<(Arc<str>, Value)>,
    pub inside: Inside,
}

pub(crate) struct ObjectValue {
    pub ty: Arc<ObjectType>,
    pub values: Vec<Value>,
    pub inside: Inside,
}

pub(crate) struct TupleValue {
    pub values: Vec<Value>,
    pub inside: Inside,
    /// Its type: all instances of a resource are one tuple, and each reference to one of them asks.
    pub ty: Type,
}

pub(crate) struct MarkedValue {
    pub value: Value,
    pub marks: Marks,
}

impl Inside {
    pub fn of<'a>(values: impl IntoIterator<Item = &'a Value>) -> Inside {
        let mut all = Inside::default();
        for value in values {
            let one = value.inside();
            all.depth = all.depth.max(one.depth.saturating_add(1));
            all.unknown |= one.unknown;
            all.marked |= one.marked;
        }
        all
    }
}

/// What a value is, to match on.
#[derive(Clone, Copy)]
pub enum Kind<'a> {
    /// No value, of this type.
    Null(&'a Type),
    /// Known later.
    Unknown(&'a Unknown),
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(&'a Number),
    /// Text in normal form C.
    String(&'a Arc<str>),
    /// Elements in order.
    List(&'a [Value]),
    /// Distinct elements in canonical order. Unknown ones may be equal to others later.
    Set(&'a [Value]),
    /// Entries by key, in byte order.
    Map(&'a [(Arc<str>, Value)]),
    /// Values in the order of the type's names.
    Object(&'a Arc<ObjectType>, &'a [Value]),
    /// Elements in order.
    Tuple(&'a [Value]),
    /// Marks around an unmarked value.
    Marked(&'a Value, &'a Marks),
}

impl Value {
    /// What the value is, to match on. A marked value answers [`Kind::Marked`]: its content is
    /// reached by a call that says so.
    pub fn kind(&self) -> Kind<'_> {
        match &self.0 {
            Repr::Null(ty) => Kind::Null(ty),
            Repr::Unknown(u) => Kind::Unknown(u),
            Repr::Bool(b) => Kind::Bool(*b),
            Repr::Number(n) => Kind::Number(n),
            Repr::String(s) => Kind::String(s),
            Repr::List(l) => Kind::List(&l.values),
            Repr::Set(s) => Kind::Set(&s.values),
            Repr::Map(m) => Kind::Map(&m.entries),
            Repr::Object(o) => Kind::Object(&o.ty, &o.values),
            Repr::Tuple(t) => Kind::Tuple(&t.values),
            Repr::Marked(m) => Kind::Marked(&m.value, &m.marks),
        }
    }

    /// The type of the value. Marks do not matter.
    pub fn type_of(&self) -> Type {
        match &self.0 {
            Repr::Null(ty) => ty.clone(),
            Repr::Unknown(u) => u.ty.clone(),
            Repr::Bool(_) => Type::Bool,
            Repr::Number(_) => Type::Number,
            Repr::String(_) => Type::String,
            Repr::List(l) => Type::list(l.element.clone()),
            Repr::Set(s) => Type::set(s.element.clone()),
            Repr::Map(m) => Type::map(m.element.clone()),
            Repr::Object(o) => Type::Object(o.ty.clone()),
            Repr::Tuple(t) => t.ty.clone(),
            Repr::Marked(m) => m.value.type_of(),
        }
    }

    pub(crate) fn inside(&self) -> Inside {
        match &self.0 {
            Repr::Null(_) | Repr::Bool(_) | Repr::Number(_) | Repr::String(_) => Inside::default(),
            Repr::Unknown(_) => Inside {
                unknown: true,
                ..Inside::default()
            },
            Repr::List(s) | Repr::Set(s) => s.inside,
            Repr::Map(m) => m.inside,
            Repr::Object(o) => o.inside,
            Repr::Tuple(t) => t.inside,
            Repr::Marked(m) => {
                let inside = m.value.inside();
                Inside {
                    marked: true,
                    depth: inside.depth.saturating_add(1),
                    ..inside
                }
            }
        }
    }

    /// How many containers lie within each other: 0 for a value that holds no others.
    pub fn depth(&self) -> usize {
        self.inside().depth as usize
    }
}

/// Depth above which contents are taken apart one by one instead of by recursion.
const DEEP: u32 = 200;

/// Takes children out of containers that nobody else holds, until none is deep.
fn drop_flat(mut pending: Vec<Value>) {
    while let Some(value) = pending.pop() {
        if value.inside().depth < DEEP {
            continue;
        }
        match value.0 {
            Repr::List(s) | Repr::Set(s) => {
                if let Some(mut s) = Arc::into_inner(s) {
                    pending.append(&mut s.values);
                }
            }
            Repr::Map(m) => {
                if let Some(mut m) = Arc::into_inner(m) {
                    pending.extend(std::mem::take(&mut m.entries).into_iter().map(|e| e.1));
                }
            }
            Repr::Object(o) => {
                if let Some(mut o) = Arc::into_inner(o) {
                    pending.append(&mut o.values);
                }
            }
            Repr::Tuple(t) => {
                if let Some(mut t) = Arc::into_inner(t) {
                    pending.append(&mut t.values);
                }
            }
            Repr::Marked(m) => {
                if let Some(m) = Arc::into_inner(m) {
                    pending.push(m.value);
                }
            }
            _ => {}
        }
    }
}

macro_rules! drop_without_recursion {
    ($container:ident, $field:ident, $each:expr) => {
        impl Drop for $container {
            fn drop(&mut self) {
                if self.inside.depth > DEEP && !self.$field.is_empty() {
                    drop_flat(
                        std::mem::take(&mut self.$field)
                            .into_iter()
                            .map($each)
                            .collect(),
                    );
                }
            }
        }
    };
}
drop_without_recursion!(Sequence, values, |v| v);
drop_without_recursion!(MapValue, entries, |e| e.1);
drop_without_recursion!(ObjectValue, values, |v| v);
drop_without_recursion!(TupleValue, values, |v| v);
