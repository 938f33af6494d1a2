//! Schemas by provider, looked up once per type.

use formwork_addresses::{ProviderAddr, Resource, ResourceMode};
use formwork_provider_schema::{Schema, SchemaSource};
use formwork_values::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The schemas of the providers that a plan or state names. A provider that is not here is rendered
/// by what its values look like.
pub type Schemas = BTreeMap<ProviderAddr, Arc<dyn SchemaSource>>;

/// Remembers what was looked up: a plan has thousands of instances of few types.
pub(crate) struct SchemaCache<'s> {
    schemas: &'s Schemas,
    known: BTreeMap<(ProviderAddr, ResourceMode, Arc<str>), Option<Arc<Schema>>>,
    /// Whether what is sensitive is left out, as where the text is no store.
    pub(crate) withholds: bool,
}

impl<'s> SchemaCache<'s> {
    pub(crate) fn new(schemas: &'s Schemas) -> Self {
        Self {
            schemas,
            known: BTreeMap::new(),
            withholds: false,
        }
    }

    /// The same for a text that is no store.
    pub(crate) fn withholding(schemas: &'s Schemas) -> Self {
        Self {
            withholds: true,
            ..Self::new(schemas)
        }
    }

    /// A value as it may be written.
    pub(crate) fn shown(&self, value: Value) -> Value {
        if self.withholds {
            withheld(value)
        } else {
            value
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

/// The value with null for each part that is sensitive; its marks stay.
pub(crate) fn withheld(value: Value) -> Value {
    value.transform(&mut |_, part| {
        if !part.marks().is_sensitive() {
            return part;
        }
        let (bare, marks) = part.unmark();
        Value::null(bare.type_of()).with_marks(&marks)
    })
}
