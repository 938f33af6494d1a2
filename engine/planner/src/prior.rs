//! Objects of the prior state, decoded by the provider's current schema.

use formwork_addresses::{AbsProviderConfig, AbsResource, AbsResourceInstance};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_provider::{Bytes, Providers, RawState, Reported, UpgradeRequest};
use formwork_provider_schema::{Schema, adopted_loosely, marked};
use formwork_state::{Attributes, ResourceInstanceObject};
use formwork_values::{Mark, Marks, PathMarks, Value};
use std::sync::Arc;

/// An object as the prior state has it, decoded by the provider's current schema.
#[derive(Clone)]
pub struct PriorObject {
    /// The object, marks included.
    pub value: Value,
    /// Private data kept with it.
    pub private: Bytes,
    /// Whether its creation did not end well.
    pub tainted: bool,
    /// Whether its replacement was to be created first, as stored.
    pub create_before_destroy: bool,
    /// What it was made from, as stored.
    pub dependencies: Vec<AbsResource>,
    /// The object as stored; written back as it is if nothing changes.
    pub stored: Arc<ResourceInstanceObject>,
}

impl PriorObject {
    /// The same object with another value.
    #[must_use]
    pub fn with_value(mut self, value: Value) -> Self {
        self.value = value;
        self
    }
}

/// The sensitive paths that state keeps with an object, as marks.
pub fn stored_marks(object: &ResourceInstanceObject) -> PathMarks {
    let mut sensitive = Marks::default();
    sensitive.insert(Mark::Sensitive);
    object
        .sensitive
        .paths()
        .iter()
        .map(|p| (p.clone(), sensitive.clone()))
        .collect()
}

/// Decodes a managed object: upgraded by its provider where needed, marks put on.
///
/// # Errors
/// That the provider or type is not there, that the object was written by a newer version of the
/// provider, or what the provider says about upgrading it.
pub async fn decode_managed(
    providers: &Providers,
    config: &AbsProviderConfig,
    address: &AbsResourceInstance,
    object: &Arc<ResourceInstanceObject>,
) -> Result<(PriorObject, Arc<Schema>), Diagnostics> {
    let (Some(provider), Some(schema)) = (
        providers.unconfigured(&config.provider),
        providers.schema_of(&config.provider, &address.resource),
    ) else {
        return Err(providers
            .unknown_type(&config.provider, &address.resource)
            .about(address)
            .into());
    };
    if object.schema_version > schema.version {
        return Err(newer_version(config, address, object.schema_version, schema.version).into());
    }
    let state = raw_state(object);
    let response = provider
        .upgrade_resource_state(UpgradeRequest {
            kind: address.resource.kind.to_string(),
            version: object.schema_version,
            state,
        })
        .await;
    let mut diagnostics = Reported::placed(response.reported, address, &|_| None);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let Some(upgraded) = adopted_loosely(&schema.block, response.upgraded) else {
        diagnostics.push(
            Diagnostic::error(
                "Resource state not usable",
                format!(
                    "The provider {} read the stored object of {address} as something that does not \
                     have the type of its schema. This is a fault of the provider.",
                    config.provider.for_display()
                ),
            )
            .about(address),
        );
        return Err(diagnostics);
    };
    let value = marked(&schema.block, &upgraded, &stored_marks(object));
    let prior = PriorObject {
        value,
        private: object.private.clone().unwrap_or_else(|| Bytes::from([])),
        tainted: object.is_tainted(),
        create_before_destroy: object.create_before_destroy,
        dependencies: object.dependencies.to_vec(),
        stored: object.clone(),
    };
    Ok((prior, schema))
}

/// An object as the state holds it, to be handed to a provider.
pub fn raw_state(object: &ResourceInstanceObject) -> RawState {
    match &object.attributes {
        Attributes::Json(json) => RawState::Json(Bytes::from(json.get().as_bytes())),
        Attributes::Flat(json) => RawState::Flatmap(flat_pairs(json.get())),
    }
}

fn newer_version(
    config: &AbsProviderConfig,
    address: &AbsResourceInstance,
    stored: u64,
    current: u64,
) -> Diagnostic {
    Diagnostic::error(
        "Resource instance managed by newer provider version",
        format!(
            "The stored object of {address} was written by version {stored} of its schema, but the \
             provider {} in use knows only version {current}. Read it with a provider that is at \
             least as new as the one that wrote it.",
            config.provider.for_display()
        ),
    )
    .about(address)
}

/// The pairs of an ancient flat map. Anything else than texts in it makes no sense and is left to
/// the provider to miss.
fn flat_pairs(json: &str) -> Vec<(String, String)> {
    match formwork_values::implied_from_json(json.as_bytes()) {
        Ok(value) => value
            .elements()
            .unwrap_or_default()
            .into_iter()
            .filter_map(|(k, v)| Some((k.as_str()?.to_owned(), v.as_str()?.to_owned())))
            .collect(),
        Err(_) => Vec::new(),
    }
}
