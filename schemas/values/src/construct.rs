//! How values are made.

use std::sync::Arc;

use crate::value::{Inside, MapValue, MarkedValue, ObjectValue, Repr, Sequence, TupleValue};
use crate::{Marks, Number, ObjectType, Origin, Path, Refinement, Type, Unknown, Value};

impl Value {
    /// Truth.
    pub const TRUE: Value = Value(Repr::Bool(true));
    /// Falsehood.
    pub const FALSE: Value = Value(Repr::Bool(false));
    /// Null whose type is not known.
    pub const NULL: Value = Value(Repr::Null(Type::Dynamic));

    /// No value, of a type.
    pub fn null(ty: Type) -> Value {
        Value(Repr::Null(ty))
    }

    /// A value of type `ty` that will be known later.
    pub fn unknown(ty: Type) -> Value {
        Value::unknown_with(ty, Refinement::NONE)
    }

    /// A value of which not even the type is known.
    pub fn dynamic() -> Value {
        Value::unknown(Type::Dynamic)
    }

    /// An unknown value of which something is known. Parts that do not fit the type are dropped.
    pub fn unknown_with(ty: Type, refinement: Refinement) -> Value {
        let refinement = refinement.fit(&ty);
        Value(Repr::Unknown(Arc::new(Unknown {
            ty,
            refinement,
            origin: None,
        })))
    }

    /// A truth value.
    pub fn bool(value: bool) -> Value {
        Value(Repr::Bool(value))
    }

    /// Text, brought into normal form C.
    pub fn string(text: impl AsRef<str>) -> Value {
        Value(Repr::String(Arc::from(&*crate::normalise(text.as_ref()))))
    }

    /// Text that is shared and in normal form C already (checked: normalised if it is not).
    pub fn shared_string(text: Arc<str>) -> Value {
        match crate::normalise(&text) {
            std::borrow::Cow::Borrowed(_) => Value(Repr::String(text)),
            std::borrow::Cow::Owned(text) => Value(Repr::String(text.into())),
        }
    }

    /// A number.
    pub fn number(number: Number) -> Value {
        Value(Repr::Number(number))
    }

    /// A whole number with the precision of lengths and indices (64 bits).
    pub fn int(value: i64) -> Value {
        Value(Repr::Number(Number::from(value)))
    }

    /// A list. The elements have type `element` (or are unknown of any type).
    pub fn list(element: Type, values: Vec<Value>) -> Value {
        let inside = Inside::of(&values);
        Value(Repr::List(Arc::new(Sequence {
            element,
            values,
            inside,
        })))
    }

    /// A list whose element type is that of its first element that has one; `None` if it is empty.
    pub fn list_of(values: Vec<Value>) -> Option<Value> {
        let element = element_type(values.iter())?;
        Some(Value::list(element, values))
    }

    /// A set: sorted, duplicates dropped, marks of elements lifted to the set.
    pub fn set(element: Type, values: Vec<Value>) -> Value {
        let mut marks = Marks::NONE;
        let mut plain = values;
        for value in &mut plain {
            if value.contains_marks() {
                let (bare, inner) = std::mem::replace(value, Value::FALSE).unmark_deep();
                *value = bare;
                inner.iter().for_each(|(_, m)| marks.extend(m));
            }
        }
        crate::set_order::canonical(&mut plain);
        let inside = Inside::of(&plain);
        Value(Repr::Set(Arc::new(Sequence {
            element,
            values: plain,
            inside,
        })))
        .with_marks(&marks)
    }

    /// A map. Of a key given twice the last counts. Keys are brought into normal form C.
    pub fn map<K: Into<Arc<str>>>(
        element: Type,
        entries: impl IntoIterator<Item = (K, Value)>,
    ) -> Value {
        let mut entries: Vec<(Arc<str>, Value)> = entries
            .into_iter()
            .map(|(key, value)| {
                let key: Arc<str> = key.into();
                let key = match crate::normalise(&key) {
                    std::borrow::Cow::Borrowed(_) => key,
                    std::borrow::Cow::Owned(key) => key.into(),
                };
                (key, value)
            })
            .collect();
        if !entries.is_sorted_by(|a, b| a.0 < b.0) {
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            entries.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    std::mem::swap(later, earlier);
                }
                same
            });
        }
        let inside = Inside::of(entries.iter().map(|e| &e.1));
        Value(Repr::Map(Arc::new(MapValue {
            element,
            entries,
            inside,
        })))
    }

    /// An object of the given attributes. Of a name given twice the last counts.
    pub fn object<N: Into<Arc<str>>>(attributes: impl IntoIterator<Item = (N, Value)>) -> Value {
        let mut all: Vec<(Arc<str>, Value)> = attributes
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect();
        if !all.is_sorted_by(|a, b| a.0 < b.0) {
            all.sort_by(|a, b| a.0.cmp(&b.0));
            all.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    std::mem::swap(later, earlier);
                }
                same
            });
        }
        let ty = ObjectType::new(
            all.iter()
                .map(|(name, value)| (name.clone(), value.type_of())),
        );
        Value::object_of(
            Arc::new(ty),
            all.into_iter().map(|(_, value)| value).collect(),
        )
    }

    /// An object of a shared type; one value per name, in the order of the names. Missing ones are
    /// null, surplus ones are dropped.
    pub fn object_of(ty: Arc<ObjectType>, mut values: Vec<Value>) -> Value {
        values.truncate(ty.len());
        for missing in &ty.types()[values.len()..] {
            values.push(Value::null(missing.clone()));
        }
        let inside = Inside::of(&values);
        Value(Repr::Object(Arc::new(ObjectValue { ty, values, inside })))
    }

    /// The object without attributes.
    pub fn empty_object() -> Value {
        Value::object::<Arc<str>>([])
    }

    /// A tuple.
    pub fn tuple(values: Vec<Value>) -> Value {
        let inside = Inside::of(&values);
        let ty = Type::tuple(values.iter().map(Value::type_of));
        Value(Repr::Tuple(Arc::new(TupleValue { values, inside, ty })))
    }

    /// The value with these marks in addition to its own. No marks: the value as it is.
    pub fn with_marks(self, marks: &Marks) -> Value {
        if marks.is_empty() {
            return self;
        }
        match self.0 {
            Repr::Marked(m) => {
                let marks = m.marks.clone().union(marks);
                Value(Repr::Marked(Arc::new(MarkedValue {
                    value: m.value.clone(),
                    marks,
                })))
            }
            _ => Value(Repr::Marked(Arc::new(MarkedValue {
                value: self,
                marks: marks.clone(),
            }))),
        }
    }

    /// The value with one more mark.
    pub fn mark(self, mark: crate::Mark) -> Value {
        self.with_marks(&mark.into())
    }

    /// The value marked sensitive.
    pub fn sensitive(self) -> Value {
        self.with_marks(&Marks::SENSITIVE)
    }

    /// An unknown value with its origin, at this depth and within: an unknown at `path` within the
    /// value gets the origin's path extended by it. Those that have an origin keep it. Known parts
    /// stay as they are.
    pub fn with_origin(self, origin: &Arc<Origin>) -> Value {
        if !self.inside().unknown {
            return self;
        }
        self.transform(&mut |path: &Path, value: Value| match &value.0 {
            Repr::Unknown(u) if u.origin.is_none() => {
                let origin = if path.is_empty() {
                    origin.clone()
                } else {
                    Arc::new(Origin {
                        address: origin.address.clone(),
                        path: origin.path.clone().joined(path),
                    })
                };
                let unknown = Unknown {
                    origin: Some(origin),
                    ..Unknown::clone(u)
                };
                Value(Repr::Unknown(Arc::new(unknown)))
            }
            _ => value,
        })
    }

    /// The same unknown value with what else is known of it; known values stay as they are. The
    /// origin is kept.
    pub fn refine(self, more: &Refinement) -> Value {
        match self.0 {
            Repr::Unknown(u) => {
                let refinement = u.refinement.and(&more.fit(&u.ty));
                Value(Repr::Unknown(Arc::new(Unknown {
                    refinement,
                    ..Unknown::clone(&u)
                })))
            }
            Repr::Marked(m) => m.value.clone().refine(more).with_marks(&m.marks),
            other => Value(other),
        }
    }

    /// An unknown of another type that is still the same thing, so that the origin stays.
    pub(crate) fn unknown_like(unknown: &Unknown, ty: Type, refinement: Refinement) -> Value {
        let refinement = refinement.fit(&ty);
        Value(Repr::Unknown(Arc::new(Unknown {
            ty,
            refinement,
            origin: unknown.origin.clone(),
        })))
    }
}

/// The first type among the values that is not dynamic, or dynamic; `None` of no values.
fn element_type<'a>(values: impl Iterator<Item = &'a Value>) -> Option<Type> {
    let mut found = None;
    for value in values {
        let ty = value.type_of();
        if !ty.is_dynamic() {
            return Some(ty);
        }
        found = Some(ty);
    }
    found
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::bool(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::string(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::string(text)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::int(value)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Value {
        Value::number(number)
    }
}
