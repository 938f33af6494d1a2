//! The configuration that a run is made with.

use super::{MockProvider, Override, OverrideTarget, RunBlock, TestFile, TestProvider};
use crate::Configuration;
use crate::shape::suggest;
use formwork_addresses::{
    AbsProviderConfig, AbsResourceInstance, InstanceKey, LocalProviderConfig, ModuleInstance,
    ModulePath,
};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A provider configuration of the root module that comes from the test file.
#[derive(Clone, Debug)]
pub struct ProviderUnderTest {
    /// Which.
    pub config: AbsProviderConfig,
    /// What answers instead of it; `None` if it is a real one.
    pub mock: Option<Arc<MockProvider>>,
}

/// A configuration, and what stands in for parts of it.
#[derive(Clone, Debug, Default)]
pub struct TestConfiguration {
    /// The configuration, with the providers of the test file.
    pub configuration: Configuration,
    /// The provider configurations that are the test file's.
    pub providers: Vec<ProviderUnderTest>,
    /// Overrides, those that win first: of the run, of the file, of each mocked provider; each with
    /// whether its values are known when planning.
    pub overrides: Vec<(super::Overrides, Option<AbsProviderConfig>, bool)>,
}

impl TestConfiguration {
    pub(super) fn of(
        mut configuration: Configuration,
        file: &TestFile,
        run: &RunBlock,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let root = ModulePath::root();
        let mut made = Self::default();
        let Some(module) = configuration.modules.get(&root) else {
            made.configuration = configuration;
            return made;
        };
        let mut module = (**module).clone();
        let mut chosen: BTreeMap<LocalProviderConfig, TestProvider> = BTreeMap::new();
        match &run.providers {
            None => chosen.extend(file.providers.iter().map(|(k, v)| (k.clone(), v.clone()))),
            Some(passed) => {
                for p in passed {
                    let wanted = &p.parent.local;
                    let Some(provider) = file.providers.get(wanted) else {
                        let names: Vec<String> =
                            file.providers.keys().map(ToString::to_string).collect();
                        let d = Diagnostic::error(
                            format!("Missing provider definition for {wanted}"),
                            "The run is to be given this provider configuration, but the test file \
                             has no such provider block.",
                        )
                        .at(p.parent.range);
                        let known = names.iter().map(String::as_str);
                        diagnostics.push(suggest(d, &wanted.to_string(), known));
                        continue;
                    };
                    let mut provider = provider.clone();
                    provider.config.local = p.child.clone();
                    chosen.insert(p.child.clone(), provider);
                }
            }
        }
        for (local, provider) in chosen {
            let config = AbsProviderConfig {
                module: root.clone(),
                provider: module.provider_of_name(&local.name),
                alias: local.alias.clone(),
                key: InstanceKey::None,
            };
            // Another local name for the same provider would be a second block of the same address.
            module
                .providers
                .retain(|l, _| l.alias != local.alias || l.name != local.name);
            module.providers.insert(local, provider.config);
            made.providers.push(ProviderUnderTest {
                config,
                mock: provider.mock,
            });
        }
        configuration.modules.insert(root, Arc::new(module));
        made.configuration = configuration;
        made.overrides.push((run.overrides.clone(), None, false));
        made.overrides.push((file.overrides.clone(), None, false));
        for p in &made.providers {
            if let Some(mock) = &p.mock {
                made.overrides.push((
                    mock.overrides.clone(),
                    Some(p.config.clone()),
                    mock.during_plan,
                ));
            }
        }
        made
    }

    /// What stands for an instance of a resource or data source that a provider configuration handles,
    /// and whether its values are known when planning.
    pub fn override_of(
        &self,
        address: &AbsResourceInstance,
        provider: &AbsProviderConfig,
    ) -> Option<(&Override, bool)> {
        self.overrides
            .iter()
            .filter(|(_, of, _)| of.as_ref().is_none_or(|of| of == provider))
            .find_map(|(all, _, during)| {
                let o = all.resource(address)?;
                Some((o, o.during_plan.unwrap_or(*during)))
            })
    }

    /// What there is to say about overrides of what does not exist.
    pub fn idle_overrides(&self) -> Diagnostics {
        let mut said = Diagnostics::new();
        for (all, _, _) in &self.overrides {
            for o in all.iter() {
                let exists = match &o.target {
                    OverrideTarget::Module(m) => self.configuration.module(&m.path()).is_some(),
                    OverrideTarget::Resource(r) => self
                        .configuration
                        .module(&r.module_path())
                        .is_some_and(|m| m.resource(&r.resource).is_some()),
                };
                if !exists {
                    said.push(
                        Diagnostic::warning(
                            "Invalid override target",
                            format!(
                                "{} is overridden, but the configuration under test has no such thing. \
                                 The address may be misspelt, or the override is no longer needed.",
                                o.target
                            ),
                        )
                        .at(o.target_range),
                    );
                }
            }
        }
        said
    }
}

impl TestFile {
    /// What stands for an instance of a module in a run: what the run says before what the file does.
    pub fn module_override<'f>(
        &'f self,
        run: &'f RunBlock,
        instance: &ModuleInstance,
    ) -> Option<&'f Override> {
        let mocks = self.providers.values().filter_map(|p| p.mock.as_deref());
        [&run.overrides, &self.overrides]
            .into_iter()
            .chain(mocks.map(|m| &m.overrides))
            .find_map(|all| all.module(instance))
    }
}
