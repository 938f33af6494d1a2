//! Modules: the static path of calls, and one instance of it.

use crate::instance::InstanceKey;
use crate::parse::{ParseError, Steps};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The path of module calls from the root, without instance keys; empty for the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModulePath(Arc<[Arc<str>]>);

impl ModulePath {
    /// The root module.
    pub fn root() -> Self {
        Self::default()
    }

    /// The module called `name` by this one.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self(self.0.iter().cloned().chain([Arc::from(name)]).collect())
    }

    /// The caller, `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, rest) = self.0.split_last()?;
        Some(Self(rest.iter().cloned().collect()))
    }

    /// Name of the last call, `None` for the root.
    pub fn name(&self) -> Option<&str> {
        self.0.last().map(AsRef::as_ref)
    }

    /// Whether this is the root module.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Names of the calls from the root.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Whether this path is `ancestor` or lies below it.
    pub fn is_within(&self, ancestor: &ModulePath) -> bool {
        self.0.starts_with(&ancestor.0)
    }

    /// The instance of this path whose calls have no keys.
    pub fn unkeyed_instance(&self) -> ModuleInstance {
        ModuleInstance(
            self.0
                .iter()
                .map(|n| ModuleInstanceStep {
                    name: n.clone(),
                    key: InstanceKey::None,
                })
                .collect(),
        )
    }
}

impl fmt::Display for ModulePath {
    /// `module.a.module.b`, empty for the root.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.names().enumerate() {
            write!(f, "{}module.{name}", if i > 0 { "." } else { "" })?;
        }
        Ok(())
    }
}

impl<'a> FromIterator<&'a str> for ModulePath {
    fn from_iter<I: IntoIterator<Item = &'a str>>(iter: I) -> Self {
        Self(iter.into_iter().map(Arc::from).collect())
    }
}

/// One call in a [`ModuleInstance`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleInstanceStep {
    /// Name of the call.
    pub name: Arc<str>,
    /// Key, if the call has count or for_each.
    pub key: InstanceKey,
}

/// One instance of a module: calls with their keys; empty for the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleInstance(Arc<[ModuleInstanceStep]>);

impl ModuleInstance {
    /// The root module.
    pub fn root() -> Self {
        Self::default()
    }

    /// The instance of the call `name` with `key` in this module.
    #[must_use]
    pub fn child(&self, name: &str, key: InstanceKey) -> Self {
        Self(
            self.0
                .iter()
                .cloned()
                .chain([ModuleInstanceStep {
                    name: Arc::from(name),
                    key,
                }])
                .collect(),
        )
    }

    /// The calling instance, `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, rest) = self.0.split_last()?;
        Some(Self(rest.iter().cloned().collect()))
    }

    /// Whether this is the root module.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The calls from the root.
    pub fn steps(&self) -> &[ModuleInstanceStep] {
        &self.0
    }

    /// The static path, keys dropped.
    pub fn path(&self) -> ModulePath {
        ModulePath(self.0.iter().map(|s| s.name.clone()).collect())
    }

    /// Whether this instance is `ancestor` or lies below it.
    pub fn is_within(&self, ancestor: &ModuleInstance) -> bool {
        self.0.starts_with(&ancestor.0)
    }

    /// Whether this instance is one that `ancestor` stands for, or lies below it; a step of `ancestor`
    /// without a key stands for all instances of its call.
    pub fn is_within_any(&self, ancestor: &ModuleInstance) -> bool {
        let (have, want) = (self.steps(), ancestor.steps());
        have.len() >= want.len()
            && have
                .iter()
                .zip(want)
                .all(|(h, w)| h.name == w.name && (w.key == InstanceKey::None || h.key == w.key))
    }

    /// Key of the last call.
    pub fn key(&self) -> &InstanceKey {
        self.0.last().map_or(&InstanceKey::None, |s| &s.key)
    }

    pub(crate) fn from_steps(steps: Vec<ModuleInstanceStep>) -> Self {
        Self(steps.into())
    }
}

impl fmt::Display for ModuleInstance {
    /// `module.a["k"].module.b[0]`, empty for the root.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            write!(
                f,
                "{}module.{}{}",
                if i > 0 { "." } else { "" },
                step.name,
                step.key
            )?;
        }
        Ok(())
    }
}

impl FromStr for ModuleInstance {
    type Err = ParseError;

    /// Reads `module.a["k"].module.b`; the empty text is the root.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text.is_empty() {
            return Ok(Self::root());
        }
        let mut steps = Steps::new(text)?;
        let module = steps.module()?;
        steps.end()?;
        Ok(module)
    }
}
