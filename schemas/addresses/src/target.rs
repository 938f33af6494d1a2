//! [`Target`]: what `-target` and `-exclude` name.

use crate::{
    AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance, ModulePath, ParseError, Resource,
};
use std::fmt;
use std::str::FromStr;

/// A part of a configuration: a module, a resource, or one instance.
///
/// A module call without a key means all instances of the call, and a resource without a key all its
/// instances, as in Terraform's `-target`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Everything in a module.
    Module(ModuleInstance),
    /// All instances of a resource.
    Resource(AbsResource),
    /// One instance that has a key.
    Instance(AbsResourceInstance),
}

impl Target {
    /// The module that is named, or that the resource is in.
    pub fn module(&self) -> &ModuleInstance {
        match self {
            Self::Module(m) => m,
            Self::Resource(r) => &r.module,
            Self::Instance(i) => &i.module,
        }
    }

    /// Whether an instance is meant.
    pub fn contains(&self, address: &AbsResourceInstance) -> bool {
        let module = self.module();
        match self {
            Self::Module(_) => address.module.is_within_any(module),
            Self::Resource(r) => r.resource == address.resource && is_of(&address.module, module),
            Self::Instance(i) => {
                i.resource == address.resource
                    && i.key == address.key
                    && is_of(&address.module, module)
            }
        }
    }

    /// Whether any instance of a block can be meant.
    pub fn touches(&self, path: &ModulePath, resource: &Resource) -> bool {
        let module = self.module().path();
        match self {
            Self::Module(_) => path.is_within(&module),
            Self::Resource(AbsResource { resource: r, .. })
            | Self::Instance(AbsResourceInstance { resource: r, .. }) => {
                r == resource && *path == module
            }
        }
    }

    /// Whether all instances of a block are meant.
    pub fn is_whole(&self) -> bool {
        let unkeyed = |m: &ModuleInstance| m.steps().iter().all(|s| s.key == InstanceKey::None);
        !matches!(self, Self::Instance(_)) && unkeyed(self.module())
    }
}

fn is_of(module: &ModuleInstance, wanted: &ModuleInstance) -> bool {
    module.steps().len() == wanted.steps().len() && module.is_within_any(wanted)
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Module(m) => m.fmt(f),
            Self::Resource(r) => r.fmt(f),
            Self::Instance(i) => i.fmt(f),
        }
    }
}

impl FromStr for Target {
    type Err = ParseError;

    /// Reads `module.a["k"]`, `google_compute_network.main`, or `module.a.google_compute_network.main[0]`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        if let Ok(resource) = text.parse() {
            return Ok(Self::Resource(resource));
        }
        if let Ok(module) = text.parse::<ModuleInstance>()
            && !module.is_root()
        {
            return Ok(Self::Module(module));
        }
        text.parse().map(Self::Instance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_meant() {
        let check = |target: &str, meant: &[&str], not: &[&str]| {
            let t: Target = target.parse().expect("a target");
            assert_eq!(t.to_string(), target);
            for address in meant {
                let a = address.parse().expect("an address");
                assert!(t.contains(&a), "{target}: {address}");
                assert!(t.touches(&a.module.path(), &a.resource));
            }
            for address in not {
                let a = address.parse().expect("an address");
                assert!(!t.contains(&a), "{target}: {address}");
            }
        };
        check(
            "a.b",
            &["a.b", "a.b[0]", "a.b[\"k\"]"],
            &["a.c", "data.a.b", "module.m.a.b"],
        );
        check("a.b[0]", &["a.b[0]"], &["a.b", "a.b[1]"]);
        check(
            "module.m",
            &[
                "module.m.a.b",
                "module.m[0].a.b[1]",
                "module.m[\"k\"].module.n.data.a.b",
            ],
            &["a.b", "module.n.a.b"],
        );
        check(
            "module.m[0]",
            &["module.m[0].a.b"],
            &["module.m[1].a.b", "module.m.a.b"],
        );
        check(
            "module.m.module.n[1].a.b",
            &["module.m[0].module.n[1].a.b[3]"],
            &["module.m[0].module.n[0].a.b", "module.m.a.b"],
        );
        for (target, whole) in [
            ("a.b", true),
            ("module.m", true),
            ("a.b[0]", false),
            ("module.m[0].a.b", false),
        ] {
            let t: Target = target.parse().expect("a target");
            assert_eq!(t.is_whole(), whole, "{target}");
        }
        for bad in ["", "a", "module", "var.x y", "a.b["] {
            assert!(bad.parse::<Target>().is_err(), "{bad}");
        }
    }
}
