//! [`Configuration`]: the tree of modules.

use crate::language::LanguageLevel;
use crate::lock::DependencyLock;
use crate::module::{Module, Unserved};
use crate::module_call::ModuleCall;
use crate::provider::ProviderConfig;
use crate::resource::ResourceBlock;
use crate::version::VersionConstraints;
use formwork_addresses::{
    AbsProviderConfig, InstanceKey, LocalProviderConfig, ModulePath, ProviderAddr,
};
use formwork_diagnostics::SourceRange;
use formwork_syntax::Expression;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A loaded configuration: every module by the path of calls that leads to it.
///
/// Calls of the same directory share one [`Module`], unless something in it is computed from its
/// variables before anything is planned, such as the source of a module that it calls: then each path
/// has its own, in which that has come to what it is there.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    pub(crate) modules: BTreeMap<ModulePath, Arc<Module>>,
    /// The dependency lock file of the root module.
    pub lock: DependencyLock,
    /// The language level it was checked against.
    pub level: LanguageLevel,
    /// Whether all of its text could be read. If not, half of the declarations may be missing, and what
    /// seems to be wrong with the rest may not be.
    pub is_readable: bool,
}

/// Which provider configuration a local name comes to.
#[derive(Clone, Debug)]
pub struct ResolvedProvider {
    /// The configuration: the module whose block it is, or the root's default one if there is none.
    pub config: AbsProviderConfig,
    /// Whether there is a block. Without one the provider is configured with nothing.
    pub declared: bool,
    /// The keys chosen on the way to the block, the nearest first. A block with for_each needs exactly
    /// one, any other none.
    pub keys: Vec<ProviderKey>,
}

/// The key of a provider instance, as it is chosen in a `provider` or `providers` argument.
#[derive(Clone, Debug)]
pub struct ProviderKey {
    /// The module in which it is written: that of the resource, or one whose call leads to it.
    pub module: ModulePath,
    /// What it is.
    pub expression: Expression,
}

/// A provider that is required, and what of it.
#[derive(Clone, Debug, Default)]
pub struct RequiredProvider {
    /// Constraints on its version, each with the module that has it and where.
    pub constraints: Vec<(ModulePath, VersionConstraints, SourceRange)>,
    /// A place that needs it.
    pub needed_at: Option<SourceRange>,
}

impl Configuration {
    /// The root module.
    pub fn root(&self) -> Option<&Arc<Module>> {
        self.modules.get(&ModulePath::root())
    }

    /// A module by its path.
    pub fn module(&self, path: &ModulePath) -> Option<&Arc<Module>> {
        self.modules.get(path)
    }

    /// All modules, callers before what they call.
    pub fn modules(&self) -> impl Iterator<Item = (&ModulePath, &Arc<Module>)> {
        self.modules.iter()
    }

    /// The call that made a module, and its caller.
    pub fn call_of(&self, path: &ModulePath) -> Option<(&Arc<Module>, &ModuleCall)> {
        let caller = self.modules.get(&path.parent()?)?;
        Some((caller, caller.calls.get(path.name()?)?))
    }

    /// The provider configuration that a local name in a module comes to: its own block, or one
    /// handed in by the caller, or the caller's default one for the same provider.
    ///
    /// # Errors
    /// Where an aliased configuration is neither declared nor handed in: the module that lacks it,
    /// and by what name.
    pub fn resolve_provider(
        &self,
        path: &ModulePath,
        local: &LocalProviderConfig,
    ) -> Result<ResolvedProvider, (ModulePath, LocalProviderConfig)> {
        let (mut path, mut local) = (path.clone(), local.clone());
        let mut keys = Vec::new();
        loop {
            let Some(module) = self.modules.get(&path) else {
                return Err((path, local));
            };
            let provider = module.provider_of_name(&local.name);
            if module.providers.contains_key(&local) {
                let alias = local.alias;
                return Ok(ResolvedProvider {
                    config: AbsProviderConfig {
                        module: path,
                        provider,
                        alias,
                        key: InstanceKey::None,
                    },
                    declared: true,
                    keys,
                });
            }
            let Some((parent, call)) = path.parent().zip(self.call_of(&path)) else {
                if local.alias.is_some() {
                    return Err((path, local));
                }
                return Ok(ResolvedProvider {
                    config: AbsProviderConfig::root_default(provider),
                    declared: false,
                    keys,
                });
            };
            let (caller, call) = call;
            let passed = call
                .providers
                .iter()
                .flatten()
                .find(|p| p.child == local)
                .map(|p| &p.parent);
            if let Some(expression) = passed.and_then(|p| p.key.clone()) {
                keys.push(ProviderKey {
                    module: parent.clone(),
                    expression,
                });
            }
            local = match passed {
                Some(in_parent) => in_parent.local.clone(),
                None if local.alias.is_some() => return Err((path, local)),
                None => LocalProviderConfig {
                    name: caller.local_name_of(&provider),
                    alias: None,
                },
            };
            path = parent;
        }
    }

    /// The provider configuration of a resource; that of its provider's default in the root if what
    /// it names is not there, which loading has reported.
    pub fn provider_of(&self, path: &ModulePath, resource: &ResourceBlock) -> ResolvedProvider {
        let local = resource.local_provider();
        let mut resolved =
            self.resolve_provider(path, &local)
                .unwrap_or_else(|_| ResolvedProvider {
                    config: AbsProviderConfig::root_default(self.provider_addr(path, &local)),
                    declared: false,
                    keys: Vec::new(),
                });
        let own = resource.provider.as_ref().and_then(|p| p.key.clone());
        if let Some(expression) = own {
            let module = path.clone();
            resolved.keys.insert(0, ProviderKey { module, expression });
        }
        resolved
    }

    /// The `provider` block of a configuration, or of one instance of it.
    pub fn provider_block(&self, config: &AbsProviderConfig) -> Option<&ProviderConfig> {
        self.modules
            .get(&config.module)?
            .provider_block(&config.provider, config.alias.as_ref())
    }

    /// Which provider a local name in a module means.
    pub fn provider_addr(&self, path: &ModulePath, local: &LocalProviderConfig) -> ProviderAddr {
        self.modules.get(path).map_or_else(
            || ProviderAddr::implied(&local.name),
            |m| m.provider_of_name(&local.name),
        )
    }

    /// Every provider that a requirement, a provider block or a resource calls for.
    pub fn required_providers(&self) -> BTreeMap<ProviderAddr, RequiredProvider> {
        let mut all: BTreeMap<ProviderAddr, RequiredProvider> = BTreeMap::new();
        for (path, module) in &self.modules {
            let mut need = |local: &str, range: SourceRange, v: Option<&VersionConstraints>| {
                let entry = all.entry(module.provider_of_name(local)).or_default();
                entry.needed_at.get_or_insert(range);
                if let Some(v) = v {
                    entry.constraints.push((path.clone(), v.clone(), range));
                }
            };
            for r in module.requirements.values() {
                need(&r.local_name, r.range, r.version.as_ref());
            }
            for p in module.providers.values() {
                need(&p.local.name, p.range, p.version.as_ref());
            }
            let scoped = module.scoped_resources().map(|(_, r)| r);
            for r in module.resources.values().chain(scoped) {
                need(&r.local_provider().name, r.range, None);
            }
        }
        all
    }

    /// A provider block that configures something in a module or below it.
    pub(crate) fn configured_below(&self, path: &ModulePath) -> Option<&ProviderConfig> {
        self.modules
            .range(path.clone()..)
            .take_while(|(p, _)| p.is_within(path))
            .flat_map(|(_, m)| m.providers.values())
            .find(|p| !p.body.is_empty())
    }

    /// What was read but is not acted on, in the order of modules.
    pub fn unserved(&self) -> impl Iterator<Item = &Unserved> {
        self.distinct_modules().flat_map(|(_, m)| &m.unserved)
    }

    /// Each directory's module once, however often it is called, with the first path that leads to it.
    pub fn distinct_modules(&self) -> impl Iterator<Item = (&ModulePath, &Arc<Module>)> {
        let mut seen = std::collections::BTreeSet::new();
        self.modules
            .iter()
            .filter(move |(_, m)| seen.insert(&m.directory))
    }
}
