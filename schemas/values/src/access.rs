//! Reading values: content, attributes, elements, lengths; aware of unknowns and marks.

use std::fmt;
use std::sync::Arc;

use crate::value::Repr;
use crate::{Kind, Number, Origin, Path, Refinement, Step, Type, Unknown, Value};

/// Why a value has no such attribute or element. Callers word it: they know the expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessError {
    /// The value is null.
    Null,
    /// An object lacks the attribute; or a value of this type has no attributes at all.
    NoAttribute {
        /// What was asked for.
        name: Arc<str>,
        /// The type that lacks it.
        ty: Type,
    },
    /// The collection has no such element.
    NoElement {
        /// The type of the collection.
        ty: Type,
        /// How many elements it has.
        length: usize,
    },
    /// The index is of a type that does not fit, is null, negative, or not a whole number.
    BadIndex(BadIndex),
    /// A value of this type has no elements to index (sets among them), or no length.
    NotIndexable(Type),
}

/// What is wrong with an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadIndex {
    /// It is null.
    Null,
    /// It should be a number.
    NotNumber(Type),
    /// It should be a string.
    NotString(Type),
    /// It is a number, but negative or not whole.
    NotWhole,
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessError::Null => f.write_str("the value is null"),
            AccessError::NoAttribute { name, ty } => {
                write!(
                    f,
                    "a value of type {} has no attribute \"{name}\"",
                    ty.friendly_name()
                )
            }
            AccessError::NoElement { ty, length } => {
                write!(
                    f,
                    "this {} has {length} elements and none by that key",
                    ty.friendly_name()
                )
            }
            AccessError::BadIndex(BadIndex::Null) => f.write_str("the index is null"),
            AccessError::BadIndex(BadIndex::NotNumber(ty)) => {
                write!(f, "the index must be a number, not {}", ty.friendly_name())
            }
            AccessError::BadIndex(BadIndex::NotString(ty)) => {
                write!(f, "the key must be a string, not {}", ty.friendly_name())
            }
            AccessError::BadIndex(BadIndex::NotWhole) => {
                f.write_str("the index must be a whole number that is not negative")
            }
            AccessError::NotIndexable(ty) => {
                write!(
                    f,
                    "a value of type {} has no elements by index",
                    ty.friendly_name()
                )
            }
        }
    }
}

impl std::error::Error for AccessError {}

impl Value {
    /// The truth value, if this is a known, unmarked one.
    pub fn as_bool(&self) -> Option<bool> {
        match &self.0 {
            Repr::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// The number, if this is a known, unmarked one.
    pub fn as_number(&self) -> Option<&Number> {
        match &self.0 {
            Repr::Number(n) => Some(n),
            _ => None,
        }
    }

    /// The text, if this is known and unmarked text.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Repr::String(s) => Some(s),
            _ => None,
        }
    }

    /// The text to share, if this is known and unmarked text.
    pub fn as_shared_str(&self) -> Option<&Arc<str>> {
        match &self.0 {
            Repr::String(s) => Some(s),
            _ => None,
        }
    }

    /// The unknown value, if this is one. Marks do not matter.
    pub fn as_unknown(&self) -> Option<&Unknown> {
        match &self.unmarked().0 {
            Repr::Unknown(u) => Some(u),
            _ => None,
        }
    }

    /// Where an unknown value comes from, if that is still known.
    pub fn origin(&self) -> Option<&Arc<Origin>> {
        self.as_unknown()?.origin.as_ref()
    }

    /// Elements of a list, set or tuple that is known and unmarked.
    pub fn as_sequence(&self) -> Option<&[Value]> {
        match &self.0 {
            Repr::List(s) | Repr::Set(s) => Some(&s.values),
            Repr::Tuple(t) => Some(&t.values),
            _ => None,
        }
    }

    /// Entries of a map that is known and unmarked, by key.
    pub fn as_map(&self) -> Option<&[(Arc<str>, Value)]> {
        match &self.0 {
            Repr::Map(m) => Some(&m.entries),
            _ => None,
        }
    }

    /// The attribute of a known, unmarked object, or entry of such a map. `None` if anything else is
    /// the case: for code that built the value itself. Expressions use [`Value::get_attribute`].
    pub fn attribute(&self, name: &str) -> Option<&Value> {
        match &self.0 {
            Repr::Object(o) => o.ty.position(name).and_then(|i| o.values.get(i)),
            Repr::Map(m) => {
                let at = m.entries.binary_search_by(|e| (*e.0).cmp(name)).ok()?;
                Some(&m.entries[at].1)
            }
            _ => None,
        }
    }

    /// `value.name` for objects and maps.
    ///
    /// An unknown value yields an unknown one, whose origin is one step further in; marks of the
    /// value are on the answer.
    pub fn get_attribute(&self, name: &str) -> Result<Value, AccessError> {
        let missing = |ty: Type| AccessError::NoAttribute {
            name: name.into(),
            ty,
        };
        match &self.0 {
            Repr::Marked(m) => Ok(m.value.get_attribute(name)?.with_marks(&m.marks)),
            Repr::Object(o) => match o.ty.position(name) {
                Some(at) => Ok(o.values[at].clone()),
                None => Err(missing(self.type_of())),
            },
            Repr::Map(m) => match m.entries.binary_search_by(|e| (*e.0).cmp(name)) {
                Ok(at) => Ok(m.entries[at].1.clone()),
                Err(_) => Err(AccessError::NoElement {
                    ty: self.type_of(),
                    length: m.entries.len(),
                }),
            },
            Repr::Unknown(u) => match &u.ty {
                Type::Object(o) => match o.attribute(name) {
                    Some(ty) => Ok(further(u, Step::Attribute(name.into()), ty.clone())),
                    None => Err(missing(u.ty.clone())),
                },
                Type::Map(e) => Ok(further(u, crate::walk::key(&name.into()), (**e).clone())),
                Type::Dynamic => Ok(further(u, Step::Attribute(name.into()), Type::Dynamic)),
                other => Err(missing(other.clone())),
            },
            Repr::Null(Type::Object(_) | Type::Map(_) | Type::Dynamic) => Err(AccessError::Null),
            _ => Err(missing(self.type_of())),
        }
    }

    /// `value[key]` for lists, tuples, maps and objects. Numbers given as text, and text given as
    /// numbers, are taken as what the collection needs.
    ///
    /// Unknown collections or keys yield unknown values; marks of both are on the answer.
    pub fn index(&self, key: &Value) -> Result<Value, AccessError> {
        if let Repr::Marked(k) = &key.0 {
            return Ok(self.index(&k.value)?.with_marks(&k.marks));
        }
        if let Repr::Marked(m) = &self.0 {
            return Ok(m.value.index(key)?.with_marks(&m.marks));
        }
        let ty = self.type_of();
        match &ty {
            Type::List(_) | Type::Tuple(_) => self.index_by_number(key, ty),
            Type::Map(_) | Type::Object(_) => self.index_by_text(key, ty),
            Type::Dynamic => match &self.0 {
                Repr::Null(_) => Err(AccessError::Null),
                Repr::Unknown(u) if key.is_known() && !key.is_null() => {
                    Ok(further(u, Step::Index(key.clone()), Type::Dynamic))
                }
                _ => Ok(Value::dynamic()),
            },
            _ if self.is_null() => Err(AccessError::Null),
            _ => Err(AccessError::NotIndexable(ty)),
        }
    }

    fn index_by_number(&self, key: &Value, ty: Type) -> Result<Value, AccessError> {
        if self.is_null() {
            return Err(AccessError::Null);
        }
        let parsed;
        let number = match &key.0 {
            Repr::Null(_) => return Err(AccessError::BadIndex(BadIndex::Null)),
            Repr::Unknown(u) => {
                return match &u.ty {
                    Type::Number | Type::String | Type::Dynamic => {
                        Ok(Value::unknown(element_of(&ty)))
                    }
                    other => Err(AccessError::BadIndex(BadIndex::NotNumber(other.clone()))),
                };
            }
            Repr::Number(n) => n,
            Repr::String(s) => match Number::parse(s) {
                Ok(n) => {
                    parsed = n;
                    &parsed
                }
                Err(_) => return Err(AccessError::BadIndex(BadIndex::NotNumber(Type::String))),
            },
            _ => return Err(AccessError::BadIndex(BadIndex::NotNumber(key.type_of()))),
        };
        let Some(at) = number.to_usize() else {
            return Err(AccessError::BadIndex(BadIndex::NotWhole));
        };
        match &self.0 {
            Repr::Unknown(u) => {
                let element = match &ty {
                    Type::Tuple(ts) => match ts.get(at) {
                        Some(ty) => ty.clone(),
                        None => {
                            let length = ts.len();
                            return Err(AccessError::NoElement {
                                ty: ty.clone(),
                                length,
                            });
                        }
                    },
                    _ => element_of(&ty),
                };
                if u.refinement.max_length.is_some_and(|max| at as u64 >= max) {
                    let length = usize::try_from(u.refinement.max_length.unwrap_or(0)).unwrap_or(0);
                    return Err(AccessError::NoElement { ty, length });
                }
                Ok(further(u, crate::walk::position(at), element))
            }
            _ => {
                let values = self.as_sequence().unwrap_or(&[]);
                values.get(at).cloned().ok_or(AccessError::NoElement {
                    ty,
                    length: values.len(),
                })
            }
        }
    }

    fn index_by_text(&self, key: &Value, ty: Type) -> Result<Value, AccessError> {
        if self.is_null() {
            return Err(AccessError::Null);
        }
        let name: Arc<str> = match &key.0 {
            Repr::Null(_) => return Err(AccessError::BadIndex(BadIndex::Null)),
            Repr::Unknown(u) => {
                return match &u.ty {
                    Type::Number | Type::String | Type::Bool | Type::Dynamic => {
                        Ok(Value::unknown(element_of(&ty)))
                    }
                    other => Err(AccessError::BadIndex(BadIndex::NotString(other.clone()))),
                };
            }
            Repr::String(s) => s.clone(),
            Repr::Number(n) => n.to_text().into(),
            Repr::Bool(b) => if *b { "true" } else { "false" }.into(),
            _ => return Err(AccessError::BadIndex(BadIndex::NotString(key.type_of()))),
        };
        match (&self.0, &ty) {
            (Repr::Unknown(u), Type::Map(e)) => {
                Ok(further(u, crate::walk::key(&name), (**e).clone()))
            }
            _ => self.get_attribute(&name),
        }
    }

    /// How many elements a collection, tuple or object has: a number, or an unknown one with what
    /// is known of it. Marks of the value are on the answer.
    pub fn length(&self) -> Result<Value, AccessError> {
        match &self.0 {
            Repr::Marked(m) => Ok(m.value.length()?.with_marks(&m.marks)),
            Repr::List(s) => Ok(count(s.values.len())),
            Repr::Set(s) if s.inside.unknown && s.values.len() > 1 => {
                // elements may turn out equal, but at least one stays
                let greatest = Number::from(s.values.len() as u64);
                Ok(Value::unknown_with(
                    Type::Number,
                    length_bounds(1, Some(greatest)),
                ))
            }
            Repr::Set(s) => Ok(count(s.values.len())),
            Repr::Map(m) => Ok(count(m.entries.len())),
            Repr::Object(o) => Ok(count(o.values.len())),
            Repr::Tuple(t) => Ok(count(t.values.len())),
            Repr::Unknown(u) => match &u.ty {
                Type::Tuple(ts) => Ok(count(ts.len())),
                Type::Object(o) => Ok(count(o.len())),
                Type::Dynamic => Ok(Value::unknown_with(Type::Number, length_bounds(0, None))),
                Type::List(_) | Type::Set(_) | Type::Map(_) => Ok(Value::unknown_with(
                    Type::Number,
                    length_bounds(
                        u.refinement.min_length,
                        u.refinement.max_length.map(Number::from),
                    ),
                )),
                other => Err(AccessError::NotIndexable(other.clone())),
            },
            Repr::Null(_) => Err(AccessError::Null),
            _ => Err(AccessError::NotIndexable(self.type_of())),
        }
    }

    /// The elements with their keys: positions for lists and tuples, the elements themselves for
    /// sets, text for maps and objects. `None` for anything else, unknown, null or marked.
    pub fn elements(&self) -> Option<Vec<(Value, Value)>> {
        let numbered = |values: &[Value]| {
            let key = |i| Value::int(i64::try_from(i).unwrap_or(i64::MAX));
            values
                .iter()
                .enumerate()
                .map(|(i, v)| (key(i), v.clone()))
                .collect()
        };
        match self.kind() {
            Kind::List(values) | Kind::Tuple(values) => Some(numbered(values)),
            Kind::Set(values) => Some(values.iter().map(|v| (v.clone(), v.clone())).collect()),
            Kind::Map(entries) => Some(
                entries
                    .iter()
                    .map(|(k, v)| (Value(Repr::String(k.clone())), v.clone()))
                    .collect(),
            ),
            Kind::Object(ty, values) => Some(
                ty.names()
                    .iter()
                    .zip(values)
                    .map(|(k, v)| (Value(Repr::String(k.clone())), v.clone()))
                    .collect(),
            ),
            _ => None,
        }
    }

    /// Follows a path. A step into a set finds the element that is the same.
    pub fn at(&self, path: &Path) -> Result<Value, AccessError> {
        let mut here = self.clone();
        for step in path.steps() {
            here = here.step(step)?;
        }
        Ok(here)
    }

    fn step(&self, step: &Step) -> Result<Value, AccessError> {
        match step {
            Step::Attribute(name) => self.get_attribute(name),
            Step::Index(key) => match &self.unmarked().0 {
                Repr::Set(s) => match s.values.iter().find(|v| *v == key) {
                    Some(found) => Ok(found.clone().with_marks(self.marks())),
                    None => Err(AccessError::NoElement {
                        ty: self.type_of(),
                        length: s.values.len(),
                    }),
                },
                _ => self.index(key),
            },
        }
    }
}

fn count(length: usize) -> Value {
    Value::int(i64::try_from(length).unwrap_or(i64::MAX))
}

fn length_bounds(min: u64, max: Option<Number>) -> Refinement {
    Refinement {
        not_null: true,
        lower: Some((Number::from(min), true)),
        upper: max.map(|m| (m, true)),
        ..Refinement::NONE
    }
}

/// The type an element has when it is not known which it is.
fn element_of(ty: &Type) -> Type {
    let common = |types: &[Type]| match types.split_first() {
        Some((first, rest)) if rest.iter().all(|t| t == first) => first.clone(),
        _ => Type::Dynamic,
    };
    match ty {
        Type::List(e) | Type::Set(e) | Type::Map(e) => (**e).clone(),
        Type::Tuple(types) => common(types),
        Type::Object(o) => common(o.types()),
        _ => Type::Dynamic,
    }
}

/// An unknown value inside an unknown one: its origin lies one step further in.
fn further(unknown: &Unknown, step: Step, ty: Type) -> Value {
    let origin = unknown.origin.as_ref().map(|o| {
        let mut path = o.path.clone();
        path.push(step);
        Arc::new(Origin {
            address: o.address.clone(),
            path,
        })
    });
    Value(Repr::Unknown(Arc::new(Unknown {
        ty,
        refinement: Refinement::NONE,
        origin,
    })))
}
