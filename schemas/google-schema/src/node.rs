//! One field of a type, on both sides.

use std::sync::Arc;

use formwork_values::Type;

/// A field of a resource: its Terraform facts and its place in the API's JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Name in configurations.
    pub name: Arc<str>,
    /// Shape in configurations.
    pub kind: NodeKind,
    /// The user must set it.
    pub required: bool,
    /// The user may set it.
    pub optional: bool,
    /// Server or provider may fill it in.
    pub computed: bool,
    /// A change needs a new object.
    pub force_new: bool,
    /// What the provider puts where the user says nothing.
    pub default: Option<serde_json::Value>,
    /// At most one element or block.
    pub max_one: bool,
    /// Never shown.
    pub sensitive: bool,
    /// Sent, never remembered.
    pub write_only: bool,
    /// Advised against.
    pub deprecated: bool,
    /// Differences that are none.
    pub suppress: Option<Suppress>,
    /// Where it stands in the API's JSON, relative to the object of the parent; empty when it only
    /// groups fields of the parent's object; `None` when the API has no such field.
    pub path: Option<Arc<[Arc<str>]>>,
    /// The API's type of it.
    pub wire: Wire,
    /// Our list of strings is the API's list of objects with this one field.
    pub via: Option<Arc<str>>,
    /// A bare name (no slash) is short for this path before it.
    pub reference: Option<Arc<str>>,
    /// The API gives a URL where we keep its last part.
    pub name_only: bool,
    /// Part of the address; not sent in the body.
    pub in_url: bool,
    /// The API never takes it.
    pub read_only: bool,
    /// The values that Google's document names; empty when any is taken. New ones may be missing.
    pub values: Vec<Arc<str>>,
    /// Written as blocks rather than as an attribute.
    pub block: bool,
    /// Fields of the nested objects, in byte order.
    pub children: Vec<Node>,
    /// The type of its value.
    pub ty: Type,
}

/// The shape of a field in configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Text.
    String,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// A truth value.
    Bool,
    /// Primitive values by key.
    Map(Element),
    /// A list of primitive values.
    List(Element),
    /// A set of primitive values.
    Set(Element),
    /// A list of objects.
    Objects,
    /// A set of objects.
    ObjectSet,
    /// The block of time limits: local to the tool.
    Timeouts,
}

/// The elements of a map, list or set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Text.
    String,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// A truth value.
    Bool,
}

impl Element {
    /// Its type.
    pub fn ty(self) -> Type {
        match self {
            Self::String => Type::String,
            Self::Int | Self::Float => Type::Number,
            Self::Bool => Type::Bool,
        }
    }
}

/// The API's type of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Text, enums included.
    String,
    /// A JSON number without fraction.
    Int,
    /// A whole number written as text: Google's int64.
    Int64,
    /// A JSON number.
    Number,
    /// A JSON truth value.
    Bool,
    /// An object.
    Object,
    /// An array.
    Array(Box<Wire>),
    /// An object with keys of the user's.
    Map(Box<Wire>),
    /// A map written as an array of `{key, value}`: compute's metadata.
    Items,
    /// Anything.
    Any,
}

/// Two spellings of one value: differences that are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suppress {
    /// A self link, a partial path or the bare name.
    LinkOrName,
    /// A self link or a partial path.
    Link,
    /// Only the last part counts.
    LastSegment,
    /// A KMS key with or without its version.
    KeyVersion,
    /// Case does not count.
    Case,
    /// `/24` is any range of that size; a single address is a range of one.
    Netmask,
    /// Two spellings of one IP address.
    Address,
    /// Two spellings of one duration (`60s`, `1m`, `60.0s`).
    Duration,
    /// Two spellings of one instant.
    Time,
    /// A family or short name of an image stands for the image it resolves to.
    Image,
    /// `80` and `80-80`.
    PortRange,
    /// Padding of base64.
    Base64,
    /// Spaces around.
    Trim,
    /// `4:00` and `04:00`.
    Hourly,
    /// An absent block and one with zero values.
    EmptyBlock,
    /// Absent and this value.
    Default(Arc<str>),
    /// A firewall's sources: absent and everywhere.
    FirewallSources,
    /// A scope's short name (`cloud-platform`) and its URL.
    Scope,
    /// `b/NAME` and `NAME`.
    Bucket,
    /// `projects/NAME` and `NAME`.
    Project,
    /// A rule of the original that is not built; values are compared as they are.
    Other(Arc<str>),
}

impl Node {
    /// Whether the user may set it at all.
    pub fn configurable(&self) -> bool {
        self.required || self.optional
    }

    /// Whether it is made of objects.
    pub fn is_nested(&self) -> bool {
        matches!(self.kind, NodeKind::Objects | NodeKind::ObjectSet)
    }

    /// Whether it is a set.
    pub fn is_set(&self) -> bool {
        matches!(self.kind, NodeKind::Set(_) | NodeKind::ObjectSet)
    }

    /// A child by name.
    pub fn child(&self, name: &str) -> Option<&Node> {
        find(&self.children, name)
    }

    /// The type of one nested object.
    pub fn element_type(&self) -> Type {
        self.ty.element().cloned().unwrap_or(Type::Dynamic)
    }
}

pub(crate) fn find<'n>(nodes: &'n [Node], name: &str) -> Option<&'n Node> {
    nodes
        .binary_search_by(|n| (*n.name).cmp(name))
        .ok()
        .and_then(|at| nodes.get(at))
}
