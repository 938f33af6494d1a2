//! Objects that have moved to another type, or to the same type of another provider: the provider that
//! they have come to takes them over.
//!
//! It is given what the state holds, as it is: the former provider is asked nothing, and need not be
//! installed when every object of its has moved away.

use crate::load::Loaded;
use formwork_addresses::{
    AbsProviderConfig, AbsResource, AbsResourceInstance, DeposedKey, ResourceMode,
};
use formwork_configuration::{MoveTarget, Moves};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_planner::{raw_state, stored_identity, stored_marks};
use formwork_provider::{Bytes, MoveRequest, Providers, Reported};
use formwork_provider_schema::{adopted_loosely, marked};
use formwork_state::{ResourceInstanceObject, State};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether a block of the configuration says that objects of a resource in the state have become those
/// of another type.
pub(crate) fn becomes_another_type(loaded: &Loaded, resource: &AbsResource) -> bool {
    let path = resource.module.path();
    loaded.configuration.modules().any(|(within, module)| {
        module.moved.iter().any(|moved| {
            let (MoveTarget::Resource(from), MoveTarget::Resource(to)) = (&moved.from, &moved.to)
            else {
                return false;
            };
            from.resource == resource.resource
                && from.resource.kind != to.resource.kind
                && path
                    .names()
                    .eq(within.names().chain(from.module.path().names()))
        })
    })
}

/// Has what has moved to another type or provider taken over, in `state`, where it stands at its new
/// address already.
pub(crate) async fn take_over(
    state: &mut State,
    moves: &Moves,
    moved: &BTreeMap<AbsResourceInstance, AbsResourceInstance>,
    loaded: &Loaded,
    providers: &Providers,
) -> Diagnostics {
    let mut said = Diagnostics::new();
    for (to, from) in moved {
        if to.resource.mode != ResourceMode::Managed {
            continue;
        }
        let path = to.module_path();
        let block = loaded
            .configuration
            .module(&path)
            .and_then(|m| m.resource(&to.resource));
        let (Some(block), Some(former)) = (block, state.provider(to).cloned()) else {
            continue;
        };
        let config = loaded.configuration.provider_of(&path, block).config;
        if from.resource.kind == to.resource.kind && former.provider == config.provider {
            continue;
        }
        let range = moves.range_of(from).unwrap_or(block.range);
        let objects: Vec<(Option<DeposedKey>, Arc<ResourceInstanceObject>)> = state
            .instance(to)
            .map(|i| {
                let current = i.current.iter().map(|o| (None, o.clone()));
                let deposed = i.deposed.iter().map(|(k, o)| (Some(k.clone()), o.clone()));
                current.chain(deposed).collect()
            })
            .unwrap_or_default();
        for (key, object) in objects {
            match taken(providers, &former, &config, from, to, &object).await {
                Ok((taken, more)) => {
                    said.append(more);
                    match key {
                        None => state.set_object(to, &config, taken),
                        Some(key) => state.set_deposed(to, &key, &config, taken),
                    }
                }
                Err(mut problems) => {
                    problems.default_subject(range);
                    said.append(problems);
                }
            }
        }
    }
    said
}

async fn taken(
    providers: &Providers,
    former: &AbsProviderConfig,
    config: &AbsProviderConfig,
    from: &AbsResourceInstance,
    to: &AbsResourceInstance,
    object: &ResourceInstanceObject,
) -> Result<(Arc<ResourceInstanceObject>, Diagnostics), Diagnostics> {
    let (Some(provider), Some(schemas)) = (
        providers.unconfigured(&config.provider),
        providers.schemas(&config.provider),
    ) else {
        return Err(Diagnostics::new());
    };
    let Some(schema) = schemas.resource(&to.resource.kind) else {
        return Err(providers
            .unknown_type(&config.provider, &to.resource)
            .about(to)
            .into());
    };
    if !schemas.capabilities().move_resource_state {
        return Err(Diagnostic::error(
            "Unsupported `moved` across resource types",
            format!(
                "{from} has become {to}, an object of another type or provider, but the provider {} cannot \
                 take over objects of other types or providers.",
                config.provider.for_display()
            ),
        )
        .hint("Let the former object be forgotten by a removed block, and import it to the new address.")
        .about(to)
        .into());
    }
    let response = provider
        .move_resource_state(MoveRequest {
            source_provider: former.provider.to_string(),
            source_kind: from.resource.kind.to_string(),
            source_version: object.schema_version,
            state: raw_state(object),
            private: object.private.clone().unwrap_or_else(|| Bytes::from([])),
            target_kind: to.resource.kind.to_string(),
            identity: stored_identity(object),
        })
        .await;
    let said = Reported::placed(response.reported, to, &|_| None);
    if said.has_errors() {
        return Err(said);
    }
    let invalid = || -> Diagnostics {
        Diagnostic::error(
            "Provider returned invalid value",
            format!(
                "The provider {} took over {from} as {to}, but as something that is not a wholly known object \
                 of its schema's type. This is a fault of the provider.",
                config.provider.for_display()
            ),
        )
        .about(to)
        .into()
    };
    let target = adopted_loosely(&schema.block, response.target)
        .filter(|v| !v.is_null() && v.is_wholly_known())
        .ok_or_else(invalid)?;
    // What was sensitive by configuration has other places now, and planning finds them out.
    let value = marked(&schema.block, &target, &stored_marks(object));
    let made = ResourceInstanceObject::from_value(schema.version, &value, &schema.ty())
        .map_err(|_| invalid())?;
    let mut made = made;
    if let (Some(identity), Some(identities)) =
        (response.identity, schemas.identity(&to.resource.kind))
    {
        let identity = identities.adopted(identity).ok_or_else(invalid)?;
        let ty = identities.ty();
        made.set_identity(identities.version, &identity, &ty)
            .map_err(|_| invalid())?;
    }
    let object = ResourceInstanceObject {
        private: (!response.private.is_empty()).then_some(response.private),
        status: object.status,
        dependencies: object.dependencies.clone(),
        create_before_destroy: object.create_before_destroy,
        ..made
    };
    Ok((Arc::new(object), said))
}
