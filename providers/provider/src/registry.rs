//! The providers of a run: launched, described, configured.

use crate::{ConfigureRequest, Provider, Reported};
use async_trait::async_trait;
use formwork_addresses::{AbsProviderConfig, ProviderAddr, Resource, ResourceMode};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_provider_schema::{Schema, SchemaSource};
use formwork_values::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

/// Who makes providers: the composition root, which knows the native ones by name.
#[async_trait]
pub trait ProviderFactory: Send + Sync {
    /// A fresh provider that nobody has configured.
    ///
    /// # Errors
    /// That the provider is neither native nor installed, or why it could not be started.
    async fn launch(&self, provider: &ProviderAddr) -> Result<Arc<dyn Provider>, Diagnostics>;
}

struct Launched {
    provider: Arc<dyn Provider>,
    schemas: Arc<dyn SchemaSource>,
}

#[derive(Clone)]
struct Configured {
    provider: Arc<dyn Provider>,
    config: Value,
}

/// The providers of a run. One of each is launched for its schemas, validation, upgrades and
/// functions; each configuration gets one of its own.
pub struct Providers {
    factory: Arc<dyn ProviderFactory>,
    language_version: String,
    launched: BTreeMap<ProviderAddr, Launched>,
    configured: RwLock<HashMap<AbsProviderConfig, Configured>>,
}

impl Providers {
    /// Launches one of each and reads its schemas. Providers that could not be launched are missing
    /// from the result and said.
    pub async fn launch(
        factory: Arc<dyn ProviderFactory>,
        language_version: &str,
        wanted: impl IntoIterator<Item = ProviderAddr>,
    ) -> (Self, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let mut launched = BTreeMap::new();
        for address in wanted {
            if launched.contains_key(&address) {
                continue;
            }
            let provider = match factory.launch(&address).await {
                Ok(p) => p,
                Err(d) => {
                    diagnostics.append(d);
                    continue;
                }
            };
            match provider.get_schema().await {
                Ok(schemas) => {
                    launched.insert(address, Launched { provider, schemas });
                }
                Err(d) => diagnostics.append(d),
            }
        }
        let providers = Self {
            factory,
            language_version: language_version.to_owned(),
            launched,
            configured: RwLock::default(),
        };
        (providers, diagnostics)
    }

    /// The schemas of a provider.
    pub fn schemas(&self, provider: &ProviderAddr) -> Option<&Arc<dyn SchemaSource>> {
        self.launched.get(provider).map(|l| &l.schemas)
    }

    /// The schemas of all that were launched.
    pub fn all_schemas(&self) -> BTreeMap<ProviderAddr, Arc<dyn SchemaSource>> {
        self.launched
            .iter()
            .map(|(a, l)| (a.clone(), l.schemas.clone()))
            .collect()
    }

    /// The schema of a resource's type.
    pub fn schema_of(&self, provider: &ProviderAddr, resource: &Resource) -> Option<Arc<Schema>> {
        let schemas = self.schemas(provider)?;
        match resource.mode {
            ResourceMode::Managed => schemas.resource(&resource.kind),
            ResourceMode::Data => schemas.data_source(&resource.kind),
            ResourceMode::Ephemeral => schemas.ephemeral_resource(&resource.kind),
        }
    }

    /// A provider that nobody has configured: for validation, upgrades and functions.
    pub fn unconfigured(&self, provider: &ProviderAddr) -> Option<&Arc<dyn Provider>> {
        self.launched.get(provider).map(|l| &l.provider)
    }

    /// Providers with their versions.
    pub fn versions(&self) -> impl Iterator<Item = (&ProviderAddr, String)> {
        self.launched.iter().map(|(a, l)| (a, l.provider.version()))
    }

    /// Configures a provider, unless it is configured with the same value already.
    ///
    /// # Errors
    /// What the provider says, or why it could not be launched.
    pub async fn configure(
        &self,
        address: &AbsProviderConfig,
        config: Value,
    ) -> Result<Vec<Reported>, Diagnostics> {
        let plain = config.unmark_deep().0;
        {
            let all = self
                .configured
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            if all.get(address).is_some_and(|c| c.config == plain) {
                return Ok(Vec::new());
            }
        }
        let provider = self.factory.launch(&address.provider).await?;
        let request = ConfigureRequest {
            config: plain.clone(),
            terraform_version: self.language_version.clone(),
        };
        let reported = provider.configure(request).await;
        if reported.iter().any(Reported::is_error) {
            return Ok(reported);
        }
        let mut all = self
            .configured
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        all.insert(
            address.clone(),
            Configured {
                provider,
                config: plain,
            },
        );
        Ok(reported)
    }

    /// A configured provider.
    pub fn configured(&self, address: &AbsProviderConfig) -> Option<Arc<dyn Provider>> {
        let all = self
            .configured
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        all.get(address).map(|c| c.provider.clone())
    }

    /// Whether it was configured with values that are all known.
    pub fn is_fully_configured(&self, address: &AbsProviderConfig) -> bool {
        let all = self
            .configured
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        all.get(address).is_some_and(|c| c.config.is_wholly_known())
    }

    /// Asks all configured providers to end soon.
    pub async fn stop(&self) {
        let all: Vec<Arc<dyn Provider>> = {
            let all = self
                .configured
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            all.values().map(|c| c.provider.clone()).collect()
        };
        for provider in all {
            provider.stop().await;
        }
    }

    /// An error that says that a provider has no such type, with the nearest name.
    pub fn unknown_type(&self, provider: &ProviderAddr, resource: &Resource) -> Diagnostic {
        let (what, names) = match (self.schemas(provider), resource.mode) {
            (None, _) => ("resource type", Vec::new()),
            (Some(s), ResourceMode::Managed) => ("resource type", s.resource_names()),
            (Some(s), ResourceMode::Data) => ("data source", s.data_source_names()),
            (Some(s), ResourceMode::Ephemeral) => {
                ("ephemeral resource type", s.ephemeral_resource_names())
            }
        };
        let mut d = Diagnostic::error(
            match resource.mode {
                ResourceMode::Managed => "Invalid resource type",
                ResourceMode::Data => "Invalid data source",
                ResourceMode::Ephemeral => "Invalid ephemeral resource",
            },
            format!(
                "The provider {} has no {what} \"{}\".",
                provider.for_display(),
                resource.kind
            ),
        );
        let names = names.iter().map(|n| &**n);
        if let Some(near) = formwork_diagnostics::nearest(&resource.kind, names) {
            d = d.hint(format!("Did you mean \"{near}\"?"));
        }
        d
    }
}
