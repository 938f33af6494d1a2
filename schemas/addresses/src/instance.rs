//! Resources and their instances.

use crate::module::{ModuleInstance, ModulePath};
use crate::parse::{ParseError, Steps};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

/// Which kind of block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResourceMode {
    /// A `data` block: read, never changed.
    Data,
    /// A `resource` block.
    Managed,
    /// An `ephemeral` block: opened for a run, never stored.
    Ephemeral,
}

impl ResourceMode {
    /// The word that state and JSON use: `managed`, `data`, `ephemeral`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Data => "data",
            Self::Ephemeral => "ephemeral",
        }
    }
}

/// The key of one instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InstanceKey {
    /// The only instance of a block without count and for_each.
    #[default]
    None,
    /// From count.
    Int(i64),
    /// From for_each.
    Text(Arc<str>),
}

impl InstanceKey {
    /// A for_each key.
    pub fn text(key: &str) -> Self {
        Self::Text(Arc::from(key))
    }
}

impl fmt::Display for InstanceKey {
    /// Empty, `[0]` or `["key"]` with the language's escapes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Int(n) => write!(f, "[{n}]"),
            Self::Text(t) => write!(f, "[{}]", crate::parse::quote(t)),
        }
    }
}

/// A resource within its module: mode, type and name.
///
/// Names are shared where they come from one table, so that comparing them mostly needs not look at
/// the text.
#[derive(Clone, Debug, Eq)]
pub struct Resource {
    /// Managed, data or ephemeral.
    pub mode: ResourceMode,
    /// Such as `google_compute_network`.
    pub kind: Arc<str>,
    /// The block's second label.
    pub name: Arc<str>,
}

impl Resource {
    /// A managed resource.
    pub fn managed(kind: &str, name: &str) -> Self {
        Self {
            mode: ResourceMode::Managed,
            kind: Arc::from(kind),
            name: Arc::from(name),
        }
    }

    /// A data source.
    pub fn data(kind: &str, name: &str) -> Self {
        Self {
            mode: ResourceMode::Data,
            kind: Arc::from(kind),
            name: Arc::from(name),
        }
    }

    /// The local name of the provider that the type's first word implies: `google` of
    /// `google_compute_network`.
    pub fn implied_provider(&self) -> &str {
        self.kind.split('_').next().unwrap_or(&self.kind)
    }

    /// One instance of it.
    pub fn instance(&self, key: InstanceKey) -> ResourceInstance {
        ResourceInstance {
            resource: self.clone(),
            key,
        }
    }

    /// In a module instance.
    pub fn in_module(&self, module: &ModuleInstance) -> AbsResource {
        AbsResource {
            module: module.clone(),
            resource: self.clone(),
        }
    }
}

impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        // Names differ most, so they are looked at first.
        let same = |a: &Arc<str>, b: &Arc<str>| Arc::ptr_eq(a, b) || a == b;
        self.mode == other.mode && same(&self.name, &other.name) && same(&self.kind, &other.kind)
    }
}

impl Hash for Resource {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.mode.hash(state);
        self.kind.hash(state);
        self.name.hash(state);
    }
}

impl PartialOrd for Resource {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Resource {
    /// By mode, type and name.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_text = |a: &Arc<str>, b: &Arc<str>| match Arc::ptr_eq(a, b) {
            true => Ordering::Equal,
            false => a.cmp(b),
        };
        self.mode
            .cmp(&other.mode)
            .then_with(|| by_text(&self.kind, &other.kind))
            .then_with(|| by_text(&self.name, &other.name))
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            ResourceMode::Managed => {}
            ResourceMode::Data => f.write_str("data.")?,
            ResourceMode::Ephemeral => f.write_str("ephemeral.")?,
        }
        write!(f, "{}.{}", self.kind, self.name)
    }
}

/// An instance within its module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceInstance {
    /// Which block.
    pub resource: Resource,
    /// Which of its instances.
    pub key: InstanceKey,
}

impl fmt::Display for ResourceInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.resource, self.key)
    }
}

/// A resource in an instance of its module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AbsResource {
    /// Module instance.
    pub module: ModuleInstance,
    /// Block within it.
    pub resource: Resource,
}

impl AbsResource {
    /// One instance of it.
    pub fn instance(&self, key: InstanceKey) -> AbsResourceInstance {
        AbsResourceInstance {
            module: self.module.clone(),
            resource: self.resource.clone(),
            key,
        }
    }
}

impl fmt::Display for AbsResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        self.resource.fmt(f)
    }
}

impl FromStr for AbsResource {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let instance: AbsResourceInstance = text.parse()?;
        if instance.key == InstanceKey::None {
            Ok(instance.abs_resource())
        } else {
            Err(ParseError::new(
                text,
                "a whole resource, without an instance key, is wanted here",
            ))
        }
    }
}

/// One object of the configuration or the state: the unit of planning.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AbsResourceInstance {
    /// Module instance.
    pub module: ModuleInstance,
    /// Block within it.
    pub resource: Resource,
    /// Which of its instances.
    pub key: InstanceKey,
}

impl AbsResourceInstance {
    /// The resource it is an instance of.
    pub fn abs_resource(&self) -> AbsResource {
        AbsResource {
            module: self.module.clone(),
            resource: self.resource.clone(),
        }
    }

    /// The static path of its module.
    pub fn module_path(&self) -> ModulePath {
        self.module.path()
    }
}

impl fmt::Display for AbsResourceInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        write!(f, "{}{}", self.resource, self.key)
    }
}

impl FromStr for AbsResourceInstance {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut steps = Steps::new(text)?;
        let module = steps.module()?;
        let instance = steps.resource_instance()?;
        steps.end()?;
        Ok(Self {
            module,
            resource: instance.resource,
            key: instance.key,
        })
    }
}

/// Names one of the objects that an instance left behind when its replacement was created first:
/// eight hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeposedKey(Arc<str>);

impl DeposedKey {
    /// From four random bytes.
    pub fn from_bytes(bytes: [u8; 4]) -> Self {
        Self(Arc::from(format!("{:08x}", u32::from_be_bytes(bytes))))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DeposedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for DeposedKey {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text.len() == 8 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
            Ok(Self(Arc::from(text)))
        } else {
            Err(ParseError::new(
                text,
                "a deposed key is eight hexadecimal digits",
            ))
        }
    }
}
