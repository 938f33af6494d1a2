//! [`Type`]: what a value may be, and [`ObjectType`], which many values share.
//!
//! `Dynamic` stands for "not known yet" in unknown values and for "any" in conversions. Optional
//! attributes belong to conversions only: the type of an actual value has none
//! ([`Type::without_optional`]).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// Any type; of an unknown value: a type not known yet.
    Dynamic,
    /// `true` or `false`.
    Bool,
    /// An exact number, see [`crate::Number`].
    Number,
    /// Text in Unicode normal form C.
    String,
    /// A sequence of values of one type.
    List(Arc<Type>),
    /// Distinct values of one type, without order of their own.
    Set(Arc<Type>),
    /// Values of one type by text keys.
    Map(Arc<Type>),
    /// A value per name, each with a type of its own.
    Object(Arc<ObjectType>),
    /// A value per position, each with a type of its own.
    Tuple(Arc<[Type]>),
}

impl Type {
    /// `list(element)`.
    pub fn list(element: Type) -> Type {
        Type::List(Arc::new(element))
    }

    /// `set(element)`.
    pub fn set(element: Type) -> Type {
        Type::Set(Arc::new(element))
    }

    /// `map(element)`.
    pub fn map(element: Type) -> Type {
        Type::Map(Arc::new(element))
    }

    /// `object({...})` of the given attributes, none optional.
    pub fn object<N: Into<Arc<str>>>(attributes: impl IntoIterator<Item = (N, Type)>) -> Type {
        Type::Object(Arc::new(ObjectType::new(attributes)))
    }

    /// `tuple([...])`.
    pub fn tuple(elements: impl IntoIterator<Item = Type>) -> Type {
        Type::Tuple(elements.into_iter().collect())
    }

    /// Whether this is [`Type::Dynamic`] itself.
    pub fn is_dynamic(&self) -> bool {
        matches!(self, Type::Dynamic)
    }

    /// Whether [`Type::Dynamic`] occurs anywhere.
    pub fn has_dynamic(&self) -> bool {
        match self {
            Type::Dynamic => true,
            Type::Bool | Type::Number | Type::String => false,
            Type::List(e) | Type::Set(e) | Type::Map(e) => crate::with_stack(|| e.has_dynamic()),
            Type::Object(o) => o
                .types
                .iter()
                .any(|t| crate::with_stack(|| t.has_dynamic())),
            Type::Tuple(ts) => ts.iter().any(|t| crate::with_stack(|| t.has_dynamic())),
        }
    }

    /// Whether this is bool, number or string.
    pub fn is_primitive(&self) -> bool {
        matches!(self, Type::Bool | Type::Number | Type::String)
    }

    /// Whether this is a list, set or map.
    pub fn is_collection(&self) -> bool {
        matches!(self, Type::List(_) | Type::Set(_) | Type::Map(_))
    }

    /// The element type of a list, set or map.
    pub fn element(&self) -> Option<&Type> {
        match self {
            Type::List(e) | Type::Set(e) | Type::Map(e) => Some(e),
            _ => None,
        }
    }

    /// The object type, if this is one.
    pub fn as_object(&self) -> Option<&Arc<ObjectType>> {
        match self {
            Type::Object(o) => Some(o),
            _ => None,
        }
    }

    /// The same type with no attribute optional, at any depth: the type that values have.
    pub fn without_optional(&self) -> Type {
        if !self.has_optional() {
            return self.clone();
        }
        match self {
            Type::List(e) => Type::list(e.without_optional()),
            Type::Set(e) => Type::set(e.without_optional()),
            Type::Map(e) => Type::map(e.without_optional()),
            Type::Object(o) => Type::object(
                o.iter()
                    .map(|(name, ty)| (name.clone(), crate::with_stack(|| ty.without_optional()))),
            ),
            Type::Tuple(ts) => Type::tuple(
                ts.iter()
                    .map(|ty| crate::with_stack(|| ty.without_optional())),
            ),
            other => other.clone(),
        }
    }

    /// Whether an attribute at any depth is optional.
    pub fn has_optional(&self) -> bool {
        match self {
            Type::Dynamic | Type::Bool | Type::Number | Type::String => false,
            Type::List(e) | Type::Set(e) | Type::Map(e) => crate::with_stack(|| e.has_optional()),
            Type::Object(o) => {
                o.optional.iter().any(|o| *o)
                    || o.types
                        .iter()
                        .any(|t| crate::with_stack(|| t.has_optional()))
            }
            Type::Tuple(ts) => ts.iter().any(|t| crate::with_stack(|| t.has_optional())),
        }
    }

    /// The type in words, for messages: `list of string`, `object`, `dynamic`.
    pub fn friendly_name(&self) -> String {
        match self {
            Type::Dynamic => "dynamic".to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Number => "number".to_owned(),
            Type::String => "string".to_owned(),
            Type::List(e) => format!("list of {}", crate::with_stack(|| e.friendly_name())),
            Type::Set(e) => format!("set of {}", crate::with_stack(|| e.friendly_name())),
            Type::Map(e) => format!("map of {}", crate::with_stack(|| e.friendly_name())),
            Type::Object(o) if o.is_empty() => "object with no attributes".to_owned(),
            Type::Object(o) if o.len() == 1 => {
                format!("object with 1 attribute \"{}\"", o.names[0])
            }
            Type::Object(o) => format!("object with {} attributes", o.len()),
            Type::Tuple(_) => "tuple".to_owned(),
        }
    }

    /// The type in words when it states what is wanted: `any type` where [`Type::friendly_name`]
    /// says `dynamic`, so that a message can say "any type required" or "list of any type".
    pub fn friendly_name_for_constraint(&self) -> String {
        match self {
            Type::Dynamic => "any type".to_owned(),
            Type::List(e) => format!("list of {}", e.friendly_name_for_constraint()),
            Type::Set(e) => format!("set of {}", e.friendly_name_for_constraint()),
            Type::Map(e) => format!("map of {}", e.friendly_name_for_constraint()),
            other => other.friendly_name(),
        }
    }
}

/// The type as an expression of the language: `map(list(string))`, `object({a = optional(number)})`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dynamic => f.write_str("any"),
            Type::Bool => f.write_str("bool"),
            Type::Number => f.write_str("number"),
            Type::String => f.write_str("string"),
            Type::List(e) => crate::with_stack(|| write!(f, "list({e})")),
            Type::Set(e) => crate::with_stack(|| write!(f, "set({e})")),
            Type::Map(e) => crate::with_stack(|| write!(f, "map({e})")),
            Type::Object(o) => {
                f.write_str("object({")?;
                for (i, (name, ty)) in o.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    crate::text::write_key(f, name)?;
                    f.write_str(" = ")?;
                    if o.is_optional(i) {
                        crate::with_stack(|| write!(f, "optional({ty})"))?;
                    } else {
                        crate::with_stack(|| write!(f, "{ty}"))?;
                    }
                }
                f.write_str("})")
            }
            Type::Tuple(ts) => {
                f.write_str("tuple([")?;
                for (i, ty) in ts.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    crate::with_stack(|| write!(f, "{ty}"))?;
                }
                f.write_str("])")
            }
        }
    }
}

/// Attribute names in byte order, with their types. Shared by all values of the type.
#[derive(Clone, Debug)]
pub struct ObjectType {
    names: Box<[Arc<str>]>,
    types: Box<[Type]>,
    /// Empty when no attribute is optional, else one flag per attribute.
    optional: Box<[bool]>,
}

impl ObjectType {
    /// An object type of the given attributes, none optional. Of a name given twice the last counts.
    pub fn new<N: Into<Arc<str>>>(attributes: impl IntoIterator<Item = (N, Type)>) -> ObjectType {
        let mut all: Vec<(Arc<str>, Type)> = attributes
            .into_iter()
            .map(|(name, ty)| (name.into(), ty))
            .collect();
        if !all.is_sorted_by(|a, b| a.0 < b.0) {
            all.sort_by(|a, b| a.0.cmp(&b.0));
            // of equal names, which the stable sort left in order given, keep the last
            all.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    std::mem::swap(later, earlier);
                }
                same
            });
        }
        let (names, types): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        ObjectType {
            names: names.into(),
            types: types.into(),
            optional: Box::default(),
        }
    }

    /// The same with `is_optional` deciding which attributes a conversion may find absent.
    pub fn with_optional(mut self, is_optional: impl Fn(&str) -> bool) -> ObjectType {
        let flags: Box<[bool]> = self.names.iter().map(|n| is_optional(n)).collect();
        self.optional = if flags.contains(&true) {
            flags
        } else {
            Box::default()
        };
        self
    }

    /// The number of attributes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no attribute.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The position of an attribute, which is also that of its value in [`crate::Kind::Object`].
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.binary_search_by(|n| (**n).cmp(name)).ok()
    }

    /// The type of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&Type> {
        self.position(name).map(|i| &self.types[i])
    }

    /// Whether the type has this attribute.
    pub fn has(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// Names in byte order.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// Types in the order of the names.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// Names with their types, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Type)> {
        self.names.iter().zip(self.types.iter())
    }

    /// Whether the attribute at this position may be absent in a conversion.
    pub fn is_optional(&self, position: usize) -> bool {
        self.optional.get(position).copied().unwrap_or(false)
    }

    /// The names of the optional attributes, in order.
    pub fn optional_names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.names
            .iter()
            .enumerate()
            .filter(|(i, _)| self.is_optional(*i))
            .map(|(_, n)| n)
    }
}

impl PartialEq for ObjectType {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
            || (self.names == other.names
                && self.types == other.types
                && self.optional == other.optional)
    }
}

impl Eq for ObjectType {}

impl Hash for ObjectType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.names.hash(state);
        self.types.hash(state);
    }
}
