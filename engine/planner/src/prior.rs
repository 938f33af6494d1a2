//! Objects of the prior state, decoded by the provider's current schema.

use formwork_addresses::{AbsProviderConfig, AbsResource, AbsResourceInstance};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_provider::{
    Bytes, Provider, Providers, RawState, Reported, StoredIdentity, UpgradeIdentityRequest,
    UpgradeRequest,
};
use formwork_provider_schema::{IdentitySchema, Schema, adopted_loosely, marked};
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
    /// Its identity, as its provider knows it now.
    pub identity: Option<Value>,
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
    let identity = decode_identity(providers, &**provider, config, address, object).await?;
    let value = marked(&schema.block, &upgraded, &stored_marks(object));
    let prior = PriorObject {
        value,
        private: object.private.clone().unwrap_or_else(|| Bytes::from([])),
        tainted: object.is_tainted(),
        create_before_destroy: object.create_before_destroy,
        dependencies: object.dependencies.to_vec(),
        stored: object.clone(),
        identity,
    };
    Ok((prior, schema))
}

/// The identity of a stored object by its provider's current schema. Where the provider knows of no
/// identities, it is none, and what is stored stays as it is.
async fn decode_identity(
    providers: &Providers,
    provider: &dyn Provider,
    config: &AbsProviderConfig,
    address: &AbsResourceInstance,
    object: &ResourceInstanceObject,
) -> Result<Option<Value>, Diagnostics> {
    let Some(stored) = stored_identity(object) else {
        return Ok(None);
    };
    let Some(schema) = providers.identity_of(&config.provider, &address.resource) else {
        return Ok(None);
    };
    if let Some(value) = object.identity_value(schema.version, &schema.ty()) {
        return Ok(Some(value));
    }
    if stored.version > schema.version {
        return Err(newer_version(config, address, stored.version, schema.version).into());
    }
    let response = provider
        .upgrade_resource_identity(UpgradeIdentityRequest {
            kind: address.resource.kind.to_string(),
            stored,
        })
        .await;
    let said = Reported::placed(response.reported, address, &|_| None);
    if said.has_errors() {
        return Err(said);
    }
    let upgraded = schema.adopted(response.upgraded);
    upgraded
        .filter(Value::is_wholly_known)
        .map(Some)
        .ok_or_else(|| crate::refresh::invalid_identity(config, address, "upgraded").into())
}

/// An object's identity as the state holds it.
pub fn stored_identity(object: &ResourceInstanceObject) -> Option<StoredIdentity> {
    let json = object.identity.as_ref()?.get();
    (json != "null").then(|| StoredIdentity {
        version: object.identity_schema_version.unwrap_or(0),
        json: Bytes::from(json.as_bytes()),
    })
}

/// The stored object with another identity; as it is, where there is none.
pub(crate) fn identified(
    object: Arc<ResourceInstanceObject>,
    identity: Option<&Value>,
    schema: Option<&IdentitySchema>,
) -> Arc<ResourceInstanceObject> {
    let (Some(identity), Some(schema)) = (identity, schema) else {
        return object;
    };
    let mut changed = (*object).clone();
    match changed.set_identity(schema.version, identity, &schema.ty()) {
        Ok(()) => Arc::new(changed),
        Err(_) => object,
    }
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
