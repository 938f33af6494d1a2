//! Schemas by provider, looked up once per type.

use formwork_addresses::{ProviderAddr, Resource, ResourceMode};
use formwork_provider_schema::{Schema, SchemaSource};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The schemas of the providers that a plan or state names. A provider that is not here is rendered
/// by what its values look like.
pub type Schemas = BTreeMap<ProviderAddr, Arc<dyn SchemaSource>>;

/// Remembers what was looked up: a plan has thousands of instances of few types.
pub(crate) struct SchemaCache<'s> {
    schemas: &'s Schemas,
    known: BTreeMap<(ProviderAddr, ResourceMode, Arc<str>), Option<Arc<Schema>>>,
}

impl<'s> SchemaCache<'s> {
    pub(crate) fn new(schemas: &'s Schemas) -> Self {
        Self {
            schemas,
            known: BTreeMap::new(),
        }
    }

    /// The schema of a resource's type.
    pub(crate) fn schema(
        &mut self,
        provider: &ProviderAddr,
        resource: &Resource,
    ) -> Option<Arc<Schema>> {
        let key = (provider.clone(), resource.mode, resource.kind.clone());
        let schemas = self.schemas;
        self.known
            .entry(key)
            .or_insert_with(|| {
                let source = schemas.get(provider)?;
                match resource.mode {
                    ResourceMode::Managed => source.resource(&resource.kind),
                    ResourceMode::Data => source.data_source(&resource.kind),
                    ResourceMode::Ephemeral => source.ephemeral_resource(&resource.kind),
                }
            })
            .clone()
    }

    /// The schema of a provider's own configuration.
    pub(crate) fn provider_config(&self, provider: &ProviderAddr) -> Option<Arc<Schema>> {
        Some(self.schemas.get(provider)?.provider_config())
    }
}
