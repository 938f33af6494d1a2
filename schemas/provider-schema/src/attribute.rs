//! Attributes: arguments and results of a block.

use std::sync::Arc;

use formwork_values::{ObjectType, Type};

use crate::Block;

/// One attribute of a block or of a nested attribute's object.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// What it holds.
    pub kind: AttributeKind,
    /// The user must set it.
    pub required: bool,
    /// The user may set it.
    pub optional: bool,
    /// The provider may set it.
    pub computed: bool,
    /// Its value is sensitive wherever it is read.
    pub sensitive: bool,
    /// Its value is sent in configurations only and never remembered.
    pub write_only: bool,
    /// Its author advises against using it. The message may be empty.
    pub deprecated: Option<Arc<str>>,
    /// What it is, for people. May be empty.
    pub description: Arc<str>,
    /// Whether the description is Markdown rather than plain text.
    pub markdown: bool,
}

/// What an attribute holds.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeKind {
    /// A value of a type.
    Value(Type),
    /// Objects whose attributes have behaviour of their own.
    Nested(Arc<NestedAttributes>),
}

/// An attribute made of objects whose attributes are each required, optional, computed and so on.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedAttributes {
    /// How the objects are arranged.
    pub nesting: AttributeNesting,
    /// The attributes; it has no nested blocks.
    pub object: Arc<Block>,
    ty: Type,
    written: Type,
}

/// How the objects of a nested attribute are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttributeNesting {
    /// One object.
    Single,
    /// A list of objects.
    List,
    /// A set of objects.
    Set,
    /// Objects by key.
    Map,
}

impl NestedAttributes {
    /// Objects of the given attributes.
    pub fn new(nesting: AttributeNesting, object: Arc<Block>) -> NestedAttributes {
        let whole = |one: Type| match nesting {
            AttributeNesting::Single => one,
            AttributeNesting::List => Type::list(one),
            AttributeNesting::Set => Type::set(one),
            AttributeNesting::Map => Type::map(one),
        };
        let attributes = || {
            object.iter().filter_map(|(name, field)| match field {
                crate::Field::Attribute(a) => Some((name, a)),
                crate::Field::Block(_) => None,
            })
        };
        let written =
            ObjectType::new(attributes().map(|(n, a)| (n.clone(), a.written_ty().clone())))
                .with_optional(|name| object.attribute(name).is_some_and(|a| !a.required));
        NestedAttributes {
            nesting,
            ty: whole(Type::Object(object.object_type().clone())),
            written: whole(Type::Object(Arc::new(written))),
            object,
        }
    }

    /// The type of the whole attribute.
    pub fn ty(&self) -> &Type {
        &self.ty
    }
}

impl Attribute {
    /// An attribute of a type that is neither required, optional nor computed yet.
    pub fn new(ty: Type) -> Attribute {
        Attribute::of_kind(AttributeKind::Value(ty))
    }

    /// A nested attribute.
    pub fn nested(nesting: AttributeNesting, object: Arc<Block>) -> Attribute {
        Attribute::of_kind(AttributeKind::Nested(Arc::new(NestedAttributes::new(
            nesting, object,
        ))))
    }

    fn of_kind(kind: AttributeKind) -> Attribute {
        Attribute {
            kind,
            required: false,
            optional: false,
            computed: false,
            sensitive: false,
            write_only: false,
            deprecated: None,
            description: "".into(),
            markdown: false,
        }
    }

    /// The same, to be set by the user.
    pub fn required(mut self) -> Attribute {
        self.required = true;
        self
    }

    /// The same, for the user to set or not.
    pub fn optional(mut self) -> Attribute {
        self.optional = true;
        self
    }

    /// The same, set by the provider (if optional too: unless the user does).
    pub fn computed(mut self) -> Attribute {
        self.computed = true;
        self
    }

    /// The same, sensitive.
    pub fn sensitive(mut self) -> Attribute {
        self.sensitive = true;
        self
    }

    /// The same, write-only.
    pub fn write_only(mut self) -> Attribute {
        self.write_only = true;
        self
    }

    /// The same, deprecated with a message.
    pub fn deprecated(mut self, message: impl Into<Arc<str>>) -> Attribute {
        self.deprecated = Some(message.into());
        self
    }

    /// The same with a description.
    pub fn described(mut self, text: impl Into<Arc<str>>) -> Attribute {
        self.description = text.into();
        self
    }

    /// The type of its values.
    pub fn ty(&self) -> &Type {
        match &self.kind {
            AttributeKind::Value(ty) => ty,
            AttributeKind::Nested(nested) => nested.ty(),
        }
    }

    /// The type that a written value is brought to: in nested objects whatever is not required may be
    /// left out.
    pub fn written_ty(&self) -> &Type {
        match &self.kind {
            AttributeKind::Value(ty) => ty,
            AttributeKind::Nested(nested) => &nested.written,
        }
    }

    /// The nested objects, if it is made of such.
    pub fn as_nested(&self) -> Option<&Arc<NestedAttributes>> {
        match &self.kind {
            AttributeKind::Nested(nested) => Some(nested),
            AttributeKind::Value(_) => None,
        }
    }

    /// Whether the user may set it at all.
    pub fn configurable(&self) -> bool {
        self.required || self.optional
    }
}
