//! Blocks and what nests in them.

use std::sync::Arc;

use formwork_values::{ObjectType, Type, Value};

use crate::Attribute;

/// The schema of a resource, a data source, an ephemeral resource or a provider configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// Raised by the provider when stored objects need upgrading.
    pub version: u64,
    /// What it holds.
    pub block: Arc<Block>,
}

/// A block body: attributes and nested blocks, by name.
#[derive(Clone, Debug)]
pub struct Block {
    fields: Vec<Field>,
    object: Arc<ObjectType>,
    /// What it is, for people.
    pub description: Arc<str>,
    /// Whether the description is Markdown.
    pub markdown: bool,
    /// Its author advises against using it. The message may be empty.
    pub deprecated: Option<Arc<str>>,
}

/// An attribute or a nested block.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    /// `name = value`.
    Attribute(Attribute),
    /// `name { ... }`.
    Block(NestedBlock),
}

/// A kind of block inside another.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedBlock {
    /// How blocks of the name become a value.
    pub nesting: BlockNesting,
    /// What each holds.
    pub block: Arc<Block>,
    /// At least so many blocks.
    pub min_items: u64,
    /// At most so many blocks; 0 for any number.
    pub max_items: u64,
    ty: Type,
}

/// How nested blocks of one name become a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockNesting {
    /// At most one block; an object, or null without one.
    Single,
    /// At most one block; an object, whose attributes are null without one.
    Group,
    /// Any number; a list in the order written.
    List,
    /// Any number; a set.
    Set,
    /// One label each; a map by label.
    Map,
}

impl Schema {
    /// A schema.
    pub fn new(version: u64, block: impl Into<Arc<Block>>) -> Schema {
        Schema {
            version,
            block: block.into(),
        }
    }

    /// The type of its objects.
    pub fn object_type(&self) -> &Arc<ObjectType> {
        self.block.object_type()
    }

    /// The type of its objects, as a [`Type`].
    pub fn ty(&self) -> Type {
        self.block.ty()
    }
}

impl Block {
    /// A block of the given attributes and nested blocks. A name must not be given twice; if it is,
    /// the last counts.
    pub fn new<N: Into<Arc<str>>, M: Into<Arc<str>>>(
        attributes: impl IntoIterator<Item = (N, Attribute)>,
        blocks: impl IntoIterator<Item = (M, NestedBlock)>,
    ) -> Block {
        let attributes = attributes
            .into_iter()
            .map(|(n, a)| (n.into(), Field::Attribute(a)));
        let blocks = blocks.into_iter().map(|(n, b)| (n.into(), Field::Block(b)));
        let by_name: std::collections::BTreeMap<Arc<str>, Field> =
            attributes.chain(blocks).collect();
        let object = ObjectType::new(
            by_name
                .iter()
                .map(|(name, field)| (name.clone(), field.ty().without_optional())),
        );
        Block {
            fields: by_name.into_values().collect(),
            object: Arc::new(object),
            description: "".into(),
            markdown: false,
            deprecated: None,
        }
    }

    /// A block of attributes only.
    pub fn of_attributes<N: Into<Arc<str>>>(
        attributes: impl IntoIterator<Item = (N, Attribute)>,
    ) -> Block {
        Block::new(attributes, [] as [(Arc<str>, NestedBlock); 0])
    }

    /// The same with a description.
    pub fn described(mut self, text: impl Into<Arc<str>>) -> Block {
        self.description = text.into();
        self
    }

    /// The type of its objects: shared, never copied.
    pub fn object_type(&self) -> &Arc<ObjectType> {
        &self.object
    }

    /// The type of its objects, as a [`Type`].
    pub fn ty(&self) -> Type {
        Type::Object(self.object.clone())
    }

    /// The fields in the order of the object type's names.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The fields with their names, in byte order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Field)> {
        self.object.names().iter().zip(&self.fields)
    }

    /// A field by name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.object.position(name).map(|at| &self.fields[at])
    }

    /// An attribute by name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        match self.field(name) {
            Some(Field::Attribute(a)) => Some(a),
            _ => None,
        }
    }

    /// A nested block by name.
    pub fn nested_block(&self, name: &str) -> Option<&NestedBlock> {
        match self.field(name) {
            Some(Field::Block(b)) => Some(b),
            _ => None,
        }
    }

    /// The attributes with their names.
    pub fn attributes(&self) -> impl Iterator<Item = (&Arc<str>, &Attribute)> {
        self.iter().filter_map(|(name, field)| match field {
            Field::Attribute(a) => Some((name, a)),
            Field::Block(_) => None,
        })
    }

    /// The nested blocks with their names.
    pub fn nested_blocks(&self) -> impl Iterator<Item = (&Arc<str>, &NestedBlock)> {
        self.iter().filter_map(|(name, field)| match field {
            Field::Block(b) => Some((name, b)),
            Field::Attribute(_) => None,
        })
    }

    /// The name of this block's that is nearest to a misspelt one.
    pub fn suggest(&self, name: &str) -> Option<&str> {
        formwork_diagnostics::nearest(name, self.object.names().iter().map(|n| &**n))
    }

    /// The object of a block that was written empty: attributes null, nested blocks absent.
    pub fn empty_value(&self) -> Value {
        let values = self
            .fields
            .iter()
            .zip(self.object.types())
            .map(|(field, ty)| match field {
                Field::Attribute(_) => Value::null(ty.clone()),
                Field::Block(nested) => nested.empty_value(),
            });
        Value::object_of(self.object.clone(), values.collect())
    }
}

impl PartialEq for Block {
    fn eq(&self, other: &Block) -> bool {
        std::ptr::eq(self, other)
            || (self.object == other.object
                && self.fields == other.fields
                && self.description == other.description
                && self.markdown == other.markdown
                && self.deprecated == other.deprecated)
    }
}

impl Field {
    /// The type of its value.
    pub fn ty(&self) -> &Type {
        match self {
            Field::Attribute(a) => a.ty(),
            Field::Block(b) => b.ty(),
        }
    }
}

impl NestedBlock {
    /// Any number of blocks nested so.
    pub fn new(nesting: BlockNesting, block: impl Into<Arc<Block>>) -> NestedBlock {
        let block = block.into();
        let one = block.ty();
        // objects whose own types differ do not fit a collection of one element type
        let ty = match nesting {
            BlockNesting::Single | BlockNesting::Group => one,
            BlockNesting::List | BlockNesting::Map if one.has_dynamic() => Type::Dynamic,
            BlockNesting::List => Type::list(one),
            BlockNesting::Set => Type::set(one),
            BlockNesting::Map => Type::map(one),
        };
        NestedBlock {
            nesting,
            block,
            min_items: 0,
            max_items: 0,
            ty,
        }
    }

    /// The same with bounds on how many; `max` 0 for any number.
    pub fn bounded(mut self, min: u64, max: u64) -> NestedBlock {
        self.min_items = min;
        self.max_items = max;
        self
    }

    /// The type of the value that all blocks of the name become.
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// The value when no block of the name is written.
    pub fn empty_value(&self) -> Value {
        let element = || self.block.ty();
        let dynamic = self.ty.is_dynamic();
        match self.nesting {
            BlockNesting::Single => Value::null(self.ty.clone()),
            BlockNesting::Group => self.block.empty_value(),
            BlockNesting::List if dynamic => Value::tuple(Vec::new()),
            BlockNesting::List => Value::list(element(), Vec::new()),
            BlockNesting::Set => Value::set(element(), Vec::new()),
            BlockNesting::Map if dynamic => Value::empty_object(),
            BlockNesting::Map => Value::map::<Arc<str>>(element(), []),
        }
    }
}
