//! Providers: their sources, and their configurations.

use crate::instance::InstanceKey;
use crate::is_identifier;
use crate::module::{ModuleInstance, ModulePath};
use crate::parse::{ParseError, Steps};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The registry host that a source address without a host means.
pub const DEFAULT_HOST: &str = "registry.terraform.io";
/// The registry host that OpenTofu writes into state.
pub const OPENTOFU_HOST: &str = "registry.opentofu.org";
/// The host of providers that are part of the tool itself.
pub const BUILTIN_HOST: &str = "terraform.io";

/// Where a provider comes from: host, namespace and type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderAddr {
    /// Registry host, lower case.
    pub host: Arc<str>,
    /// Namespace, such as `hashicorp`.
    pub namespace: Arc<str>,
    /// Type, such as `google`.
    pub kind: Arc<str>,
}

impl ProviderAddr {
    /// A provider by its three parts.
    pub fn new(host: &str, namespace: &str, kind: &str) -> Self {
        Self {
            host: Arc::from(host),
            namespace: Arc::from(namespace),
            kind: Arc::from(kind),
        }
    }

    /// The provider that a local name without a requirement means: `hashicorp/NAME`, or the
    /// built-in one for `terraform`.
    pub fn implied(local_name: &str) -> Self {
        if local_name == "terraform" {
            Self::new(BUILTIN_HOST, "builtin", "terraform")
        } else {
            Self::new(DEFAULT_HOST, "hashicorp", local_name)
        }
    }

    /// Short form for people: without the default host, and without `hashicorp/` on it.
    pub fn for_display(&self) -> String {
        match &*self.host {
            DEFAULT_HOST => format!("{}/{}", self.namespace, self.kind),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for ProviderAddr {
    /// `registry.terraform.io/hashicorp/google`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.kind)
    }
}

impl FromStr for ProviderAddr {
    type Err = ParseError;

    /// Reads `TYPE`, `NAMESPACE/TYPE` or `HOST/NAMESPACE/TYPE`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let parts: Vec<&str> = text.split('/').collect();
        let (host, namespace, kind) = match parts[..] {
            [kind] => (DEFAULT_HOST, "hashicorp", kind),
            [namespace, kind] => (DEFAULT_HOST, namespace, kind),
            [host, namespace, kind] => (host, namespace, kind),
            _ => {
                return Err(ParseError::new(
                    text,
                    "a provider source has the form [HOST/][NAMESPACE/]TYPE",
                ));
            }
        };
        let name_ok = |part: &str| {
            !part.is_empty()
                && part
                    .chars()
                    .all(|c| c.is_alphanumeric() || c == '-' || c == '_')
                && !part.starts_with('-')
                && !part.ends_with('-')
        };
        for (part, what) in [(namespace, "namespace"), (kind, "type")] {
            if !name_ok(part) {
                return Err(ParseError::new(
                    text,
                    format!(
                        "its {what} {part:?} must hold letters, digits, dashes and underscores only"
                    ),
                ));
            }
        }
        let host_ok = !host.is_empty()
            && (parts.len() < 3 || host.contains('.') || host.contains(':') || host == "localhost")
            && host
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | ':'));
        if !host_ok {
            return Err(ParseError::new(
                text,
                format!("{host:?} is not a registry host name"),
            ));
        }
        Ok(Self::new(
            &host.to_lowercase(),
            &namespace.to_lowercase(),
            &kind.to_lowercase(),
        ))
    }
}

/// A provider configuration as a module names it: local name and alias.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalProviderConfig {
    /// Local name, such as `google`.
    pub name: Arc<str>,
    /// Alias, absent for the default configuration.
    pub alias: Option<Arc<str>>,
}

impl LocalProviderConfig {
    /// The default configuration of a local name.
    pub fn default_of(name: &str) -> Self {
        Self {
            name: Arc::from(name),
            alias: None,
        }
    }
}

impl fmt::Display for LocalProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.alias.as_ref().map_or(Ok(()), |a| write!(f, ".{a}"))
    }
}

/// A provider configuration as state names it: the module it stands in, provider and alias, and one
/// instance of it where its block has for_each.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AbsProviderConfig {
    /// Module that holds the provider block.
    pub module: ModulePath,
    /// Which provider.
    pub provider: ProviderAddr,
    /// Alias, absent for the default configuration.
    pub alias: Option<Arc<str>>,
    /// The element of the block's for_each; none for the block as a whole, or one without for_each.
    pub key: InstanceKey,
}

impl AbsProviderConfig {
    /// The default configuration of a provider in the root module.
    pub fn root_default(provider: ProviderAddr) -> Self {
        Self {
            module: ModulePath::root(),
            provider,
            alias: None,
            key: InstanceKey::None,
        }
    }

    /// One instance of the block.
    #[must_use]
    pub fn instance(&self, key: InstanceKey) -> Self {
        Self {
            key,
            ..self.clone()
        }
    }

    /// The block, whichever instance this is.
    #[must_use]
    pub fn block(&self) -> Self {
        self.instance(InstanceKey::None)
    }
}

impl fmt::Display for AbsProviderConfig {
    /// `module.x.provider["registry.terraform.io/hashicorp/google"].alias["key"]`, as state v4 has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        write!(f, "provider[\"{}\"]", self.provider)?;
        if let Some(alias) = &self.alias {
            write!(f, ".{alias}")?;
        }
        self.key.fmt(f)
    }
}

impl FromStr for AbsProviderConfig {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let fail = |reason: &str| ParseError::new(text, reason);
        let at = text
            .find("provider[\"")
            .ok_or_else(|| fail("provider[\"SOURCE\"] is missing"))?;
        let module = match &text[..at] {
            "" => ModuleInstance::root(),
            prefix => prefix
                .strip_suffix('.')
                .ok_or_else(|| fail("a dot is wanted before \"provider\""))?
                .parse()?,
        };
        if module.steps().iter().any(|s| s.key != InstanceKey::None) {
            return Err(fail(
                "a provider configuration belongs to a module, not to one instance of it",
            ));
        }
        let rest = &text[at + "provider[\"".len()..];
        let (source, after) = rest
            .split_once("\"]")
            .ok_or_else(|| fail("the source is not closed by \"]\""))?;
        let (alias, key) = match after.split_once('[') {
            None => (after, InstanceKey::None),
            Some((alias, key)) => match crate::parse::key(key) {
                Ok((key, "")) => (alias, key),
                Ok(_) => return Err(fail("nothing may follow the key")),
                Err(reason) => return Err(fail(&reason)),
            },
        };
        let alias = match alias {
            "" => None,
            _ => Some(Arc::from(
                alias
                    .strip_prefix('.')
                    .filter(|a| is_identifier(a))
                    .ok_or_else(|| fail("the alias is not a name"))?,
            )),
        };
        Ok(Self {
            module: module.path(),
            provider: source.parse()?,
            alias,
            key,
        })
    }
}

impl ModuleInstance {
    /// Splits an address into its module and whether more follows; used by targeting.
    pub fn parse_prefix(text: &str) -> Result<(Self, bool), ParseError> {
        let mut steps = Steps::new(text)?;
        let module = steps.module()?;
        Ok((module, !steps.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources() {
        for (text, full) in [
            ("google", "registry.terraform.io/hashicorp/google"),
            (
                "formwork/formwork",
                "registry.terraform.io/formwork/formwork",
            ),
            (
                "Registry.OpenTofu.org/hashicorp/Google",
                "registry.opentofu.org/hashicorp/google",
            ),
            ("localhost:8080/a/b", "localhost:8080/a/b"),
        ] {
            assert_eq!(text.parse::<ProviderAddr>().expect(text).to_string(), full);
        }
        for text in ["", "a/b/c/d", "a b", "-x", "x/y/z"] {
            assert!(text.parse::<ProviderAddr>().is_err(), "{text}");
        }
        assert_eq!(
            ProviderAddr::implied("terraform").to_string(),
            "terraform.io/builtin/terraform"
        );
    }

    #[test]
    fn configurations_round_trip() {
        for text in [
            "provider[\"registry.terraform.io/hashicorp/google\"]",
            "provider[\"registry.terraform.io/hashicorp/google\"].east",
            "module.a.module.b.provider[\"terraform.io/builtin/terraform\"]",
            "provider[\"a.b/c/d\"].in[\"eu \\\"west\\\".[4]\"]",
            "provider[\"a.b/c/d\"][\"x\"]",
        ] {
            assert_eq!(
                text.parse::<AbsProviderConfig>().expect(text).to_string(),
                text
            );
        }
        assert!(
            "module.a[0].provider[\"a/b\"]"
                .parse::<AbsProviderConfig>()
                .is_err()
        );
        assert!("provider.google".parse::<AbsProviderConfig>().is_err());
    }
}
