//! The providers of a run: launched, described, configured.

use crate::guarded::Guarded;
use crate::{ConfigureRequest, Provider, Provisioner, Reported, no_such_provisioner};
use async_trait::async_trait;
use formwork_addresses::{
    AbsProviderConfig, AbsResourceInstance, ProviderAddr, Resource, ResourceMode,
};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_provider_schema::{IdentitySchema, Schema, SchemaSource};
use formwork_values::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Who makes providers and provisioners: the composition root, which knows ours by name.
#[async_trait]
pub trait ProviderFactory: Send + Sync {
    /// A fresh provider that nobody has configured.
    ///
    /// # Errors
    /// That the provider is neither native nor installed, or why it could not be started.
    async fn launch(&self, provider: &ProviderAddr) -> Result<Arc<dyn Provider>, Diagnostics>;

    /// The provisioner of a kind, such as `local-exec`.
    ///
    /// # Errors
    /// That there is none.
    fn provisioner(&self, kind: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        Err(no_such_provisioner(kind))
    }
}

/// What answers for single instances instead of their providers, in tests.
pub trait Overriding: Send + Sync {
    /// Who answers for an instance instead of the provider that is configured for it; nobody for most.
    fn instead(
        &self,
        config: &AbsProviderConfig,
        address: &AbsResourceInstance,
    ) -> Option<Arc<dyn Provider>>;
}

struct Launched {
    provider: Arc<dyn Provider>,
    schemas: Arc<dyn SchemaSource>,
}

#[derive(Clone)]
struct Configured {
    provider: Arc<dyn Provider>,
    /// What it was configured with; nothing for what stands in for a provider.
    config: Option<Value>,
}

/// The providers of a run. One of each is launched for its schemas, validation, upgrades and
/// functions; each configuration gets one of its own.
pub struct Providers {
    factory: Arc<dyn ProviderFactory>,
    language_version: String,
    launched: BTreeMap<ProviderAddr, Launched>,
    /// Why those that were wanted and are not there could not be launched.
    absent: BTreeMap<ProviderAddr, Diagnostics>,
    configured: RwLock<HashMap<AbsProviderConfig, Configured>>,
    overriding: Option<Arc<dyn Overriding>>,
    deferral_allowed: AtomicBool,
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
        let mut absent = BTreeMap::new();
        for address in wanted {
            if launched.contains_key(&address) || absent.contains_key(&address) {
                continue;
            }
            let made = match factory.launch(&address).await {
                Ok(provider) => {
                    let provider = Guarded::around(provider);
                    provider
                        .get_schema()
                        .await
                        .map(|schemas| Launched { provider, schemas })
                }
                Err(said) => Err(said),
            };
            match made {
                Ok(made) => {
                    launched.insert(address, made);
                }
                Err(said) => {
                    diagnostics.append(said.clone());
                    absent.insert(address, said);
                }
            }
        }
        let providers = Self {
            factory,
            language_version: language_version.to_owned(),
            launched,
            absent,
            configured: RwLock::default(),
            deferral_allowed: AtomicBool::new(false),
            overriding: None,
        };
        (providers, diagnostics)
    }

    /// Lets something stand in for a provider configuration: it is never evaluated or configured, and
    /// `provider` answers for everything that it handles.
    pub fn stand_in(&mut self, config: &AbsProviderConfig, provider: Arc<dyn Provider>) {
        let all = self
            .configured
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        all.insert(
            config.clone(),
            Configured {
                provider: Guarded::around(provider),
                config: None,
            },
        );
    }

    /// Lets something answer for single instances.
    pub fn override_instances(&mut self, overriding: Arc<dyn Overriding>) {
        self.overriding = Some(overriding);
    }

    /// Whether something stands in for a provider configuration.
    pub fn is_stood_in_for(&self, config: &AbsProviderConfig) -> bool {
        let all = self
            .configured
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        all.get(config).is_some_and(|c| c.config.is_none())
    }

    /// Whether an instance is answered for by something else than its provider.
    pub fn is_overridden(&self, config: &AbsProviderConfig, address: &AbsResourceInstance) -> bool {
        self.overriding
            .as_ref()
            .is_some_and(|o| o.instead(config, address).is_some())
    }

    /// Who answers for an instance: the provider that is configured for it, unless something else does.
    pub fn for_instance(
        &self,
        config: &AbsProviderConfig,
        address: &AbsResourceInstance,
    ) -> Option<Arc<dyn Provider>> {
        self.overriding
            .as_ref()
            .and_then(|o| o.instead(config, address))
            .or_else(|| self.configured(config))
    }

    /// The schemas of a provider.
    pub fn schemas(&self, provider: &ProviderAddr) -> Option<&Arc<dyn SchemaSource>> {
        self.launched.get(provider).map(|l| &l.schemas)
    }

    /// Why a provider that was wanted is not there.
    pub fn why_absent(&self, provider: &ProviderAddr) -> Option<&Diagnostics> {
        self.absent.get(provider)
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

    /// The schema of the identities of a managed resource's type, if it has any.
    pub fn identity_of(
        &self,
        provider: &ProviderAddr,
        resource: &Resource,
    ) -> Option<Arc<IdentitySchema>> {
        let managed = resource.mode == ResourceMode::Managed;
        let schemas = self.schemas(provider).filter(|_| managed)?;
        schemas.identity(&resource.kind)
    }

    /// A provider that nobody has configured: for validation, upgrades and functions.
    pub fn unconfigured(&self, provider: &ProviderAddr) -> Option<&Arc<dyn Provider>> {
        self.launched.get(provider).map(|l| &l.provider)
    }

    /// The provisioner of a kind.
    ///
    /// # Errors
    /// That there is none.
    pub fn provisioner(&self, kind: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        self.factory.provisioner(kind)
    }

    /// Providers with their versions.
    pub fn versions(&self) -> impl Iterator<Item = (&ProviderAddr, String)> {
        self.launched.iter().map(|(a, l)| (a, l.provider.version()))
    }

    /// Has a provider check a configuration of its own, without marks; what is unknown may be unknown.
    /// It does so before it is configured.
    pub async fn validate_config(&self, provider: &ProviderAddr, plain: &Value) -> Vec<Reported> {
        match self.unconfigured(provider) {
            Some(provider) => provider.validate_provider_config(plain).await,
            None => Vec::new(),
        }
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
            if all
                .get(address)
                .is_some_and(|c| c.config.as_ref().is_none_or(|c| *c == plain))
            {
                return Ok(Vec::new());
            }
        }
        let provider = Guarded::around(self.factory.launch(&address.provider).await?);
        let request = ConfigureRequest {
            config: plain.clone(),
            terraform_version: self.language_version.clone(),
            deferral_allowed: self.deferral_allowed.load(Ordering::Relaxed),
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
                config: Some(plain),
            },
        );
        Ok(reported)
    }

    /// Lets providers that are configured from now on answer that they cannot do something yet.
    pub fn allow_deferral(&self) {
        self.deferral_allowed.store(true, Ordering::Relaxed);
    }

    /// Whether providers may answer that they cannot do something yet.
    pub fn is_deferral_allowed(&self) -> bool {
        self.deferral_allowed.load(Ordering::Relaxed)
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
        all.get(address)
            .is_some_and(|c| c.config.as_ref().is_none_or(Value::is_wholly_known))
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

    /// Whether a type that this provider does not serve is one that it has elsewhere, as far as can be
    /// told: its name is known, or the provider serves but a part and no known name is nearly it.
    pub fn is_unserved(&self, provider: &ProviderAddr, resource: &Resource) -> bool {
        let Some(schemas) = self.schemas(provider).filter(|s| s.is_partial()) else {
            return false;
        };
        if self.schema_of(provider, resource).is_some() {
            return false;
        }
        let (_, served, unserved) = types(Some(schemas), resource.mode);
        unserved.iter().any(|n| **n == *resource.kind)
            || nearly(&resource.kind, served.iter().chain(&unserved)).is_none()
    }

    /// The release that a provider stands for and the one that its schemas describe, where these are of
    /// different major versions: then arguments may have come and gone between them.
    pub fn other_release(&self, provider: &ProviderAddr) -> Option<(String, String)> {
        let launched = self.launched.get(provider)?;
        let described = launched.schemas.release()?.to_owned();
        let chosen = launched.provider.version();
        let major = |v: &str| v.split('.').next().map(str::to_owned);
        (major(&chosen) != major(&described)).then_some((chosen, described))
    }

    /// An error that says that a provider has no such type, with the nearest name, or that it is not
    /// served.
    pub fn unknown_type(&self, provider: &ProviderAddr, resource: &Resource) -> Diagnostic {
        let (what, served, unserved) = types(self.schemas(provider), resource.mode);
        let name = provider.for_display();
        let kind = &resource.kind;
        if self.is_unserved(provider, resource) {
            return Diagnostic::error(
                "Resource type not served",
                format!(
                    "Formwork's own provider {name} does not serve the {what} \"{kind}\" yet, so it \
                     can be validated but not planned."
                ),
            );
        }
        let summary = match resource.mode {
            ResourceMode::Managed => "Invalid resource type",
            ResourceMode::Data => "Invalid data source",
            ResourceMode::Ephemeral => "Invalid ephemeral resource",
        };
        let detail = format!("The provider {name} has no {what} \"{kind}\".");
        let mut d = Diagnostic::error(summary, detail);
        if let Some(near) = nearly(kind, served.iter().chain(&unserved)) {
            d = d.hint(format!("Did you mean \"{near}\"?"));
        } else if let Some(other) = self.other_mode(provider, resource) {
            d = d.hint(other);
        }
        d
    }

    /// What to say of a type that the provider has, but as something else than what was written.
    fn other_mode(&self, provider: &ProviderAddr, resource: &Resource) -> Option<String> {
        let schemas = self.schemas(provider)?;
        let kind = &*resource.kind;
        let (block, what) =
            if resource.mode != ResourceMode::Managed && schemas.resource(kind).is_some() {
                ("resource", "managed resource")
            } else if resource.mode != ResourceMode::Data && schemas.data_source(kind).is_some() {
                ("data", "data source")
            } else if resource.mode != ResourceMode::Ephemeral
                && schemas.ephemeral_resource(kind).is_some()
            {
                ("ephemeral", "ephemeral resource")
            } else {
                return None;
            };
        Some(format!(
            "There is a {what} of this name; its block begins with `{block}`."
        ))
    }
}

/// What a type of a mode is called, the names that a provider serves, and those that it does not.
fn types(
    schemas: Option<&Arc<dyn SchemaSource>>,
    mode: ResourceMode,
) -> (&'static str, Vec<Arc<str>>, Vec<Arc<str>>) {
    let what = match mode {
        ResourceMode::Managed => "resource type",
        ResourceMode::Data => "data source",
        ResourceMode::Ephemeral => "ephemeral resource type",
    };
    let (served, unserved) = match (schemas, mode) {
        (None, _) => Default::default(),
        (Some(s), ResourceMode::Managed) => (s.resource_names(), s.unserved_resource_names()),
        (Some(s), ResourceMode::Data) => (s.data_source_names(), s.unserved_data_source_names()),
        (Some(s), ResourceMode::Ephemeral) => (s.ephemeral_resource_names(), Vec::new()),
    };
    (what, served, unserved)
}

/// The name that a type was most likely meant to be. Names of types are long and made of few words, so
/// that quite different ones come near each other by the common measure: two slips at most are taken
/// for a slip.
fn nearly<'n>(kind: &str, names: impl Iterator<Item = &'n Arc<str>>) -> Option<&'n str> {
    formwork_diagnostics::nearest_within(kind, names.map(|n| &**n), 2)
}
