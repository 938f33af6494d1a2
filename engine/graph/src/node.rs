//! What a node of the static graph stands for.

use formwork_addresses::{ModulePath, ProviderAddr, Resource};
use std::fmt;
use std::sync::Arc;

/// A block of a module, all its instances together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StaticNode {
    /// The module it stands in.
    pub module: ModulePath,
    /// Which block of it.
    pub what: What,
}

/// A kind of block, and its name. The order of the variants is that of numbering within a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    /// A module call: how often the module exists. What stands in the module comes after it.
    ModuleCall(Arc<str>),
    /// An input variable.
    Variable(Arc<str>),
    /// A local value.
    Local(Arc<str>),
    /// A provider configuration; of the root module perhaps one without a block.
    Provider {
        /// Which provider.
        provider: ProviderAddr,
        /// Its alias.
        alias: Option<Arc<str>>,
    },
    /// A resource: its expansion, and the planning or reading of its instances.
    Resource(Resource),
    /// A check.
    Check(Arc<str>),
    /// An output value.
    Output(Arc<str>),
    /// The end of a module call: everything in the module is done. Exists only where a `depends_on`
    /// names the module; there is nothing to do for it.
    ModuleDone(Arc<str>),
}

impl fmt::Display for StaticNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        match &self.what {
            What::ModuleCall(n) => write!(f, "module.{n}"),
            What::Variable(n) => write!(f, "var.{n}"),
            What::Local(n) => write!(f, "local.{n}"),
            What::Provider { provider, alias } => {
                write!(f, "provider[\"{provider}\"]")?;
                alias.as_ref().map_or(Ok(()), |a| write!(f, ".{a}"))
            }
            What::Resource(r) => r.fmt(f),
            What::Check(n) => write!(f, "check.{n}"),
            What::Output(n) => write!(f, "output.{n}"),
            What::ModuleDone(n) => write!(f, "module.{n} (done)"),
        }
    }
}
