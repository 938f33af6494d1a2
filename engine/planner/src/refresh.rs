//! The refresh stage: what the world looks like now, before anything is planned.
//!
//! Objects are grouped by the provider configuration that handles them and read in batches, so that a
//! provider may list a collection once instead of asking for each object. An object is gone only if
//! its provider says so for certain; what could not be read is an error, never an absence. Objects
//! whose provider cannot be configured yet are left for the planning walk.

use crate::instance::{in_json, put_off};
use crate::prior::{PriorObject, decode_managed, identified};
use formwork_addresses::{AbsProviderConfig, AbsResourceInstance, DeposedKey, ResourceMode};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_graph::Cancellation;
use formwork_plan::{Action, Event, EventSink, Hook, Identities, ResourceInstanceChange};
use formwork_provider::{Bytes, Providers, ReadRequest, ReadResponse, Reported};
use formwork_provider_schema::{Schema, adopted_loosely, marked};
use formwork_state::{ResourceInstanceObject, State};
use formwork_values::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Names one object of the state.
pub type ObjectKey = (AbsResourceInstance, Option<DeposedKey>);

/// The state as refreshed.
#[derive(Clone)]
pub struct Refreshed {
    /// The state with what has changed taken over.
    pub state: State,
    /// Every managed object that is there, decoded.
    pub objects: BTreeMap<ObjectKey, PriorObject>,
    /// What has changed in the world since the state was written.
    pub drift: Vec<ResourceInstanceChange>,
    /// Where instances stood before `moved` blocks were obeyed, by where they stand now.
    pub moved_from: BTreeMap<AbsResourceInstance, AbsResourceInstance>,
    /// Objects that have not been read because their provider is not configured.
    pub unread: BTreeSet<ObjectKey>,
}

impl Refreshed {
    /// A state of which nothing was read.
    pub fn unread(state: &State) -> Self {
        Self {
            state: state.clone(),
            objects: BTreeMap::new(),
            drift: Vec::new(),
            moved_from: BTreeMap::new(),
            unread: BTreeSet::new(),
        }
    }
}

/// How to refresh.
pub struct RefreshOptions<'a> {
    /// Whether to read at all; if not, the state is believed.
    pub read: bool,
    /// Limits the stage to these instances.
    pub scope: Option<&'a (dyn Fn(&AbsResourceInstance) -> bool + Sync)>,
    /// Where events go.
    pub events: &'a dyn EventSink,
    /// A request to stop: nothing more is read then, which the plan that follows tells.
    pub cancel: &'a Cancellation,
}

struct Item {
    key: ObjectKey,
    prior: PriorObject,
    schema: Arc<Schema>,
}

/// Reads every managed object of the state.
pub async fn refresh(
    state: &State,
    providers: &Providers,
    options: &RefreshOptions<'_>,
) -> (Refreshed, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut groups: BTreeMap<AbsProviderConfig, Vec<Item>> = BTreeMap::new();
    for (address, instance) in state.instances() {
        if address.resource.mode != ResourceMode::Managed {
            continue;
        }
        let Some(config) = state.provider(&address) else {
            continue;
        };
        let current = instance.current.iter().map(|o| (None, o));
        let deposed = instance.deposed.iter().map(|(k, o)| (Some(k.clone()), o));
        for (deposed, object) in current.chain(deposed) {
            match decode_managed(providers, config, &address, object).await {
                Ok((prior, schema)) => groups.entry(config.clone()).or_default().push(Item {
                    key: (address.clone(), deposed),
                    prior,
                    schema,
                }),
                Err(d) => diagnostics.append(d),
            }
        }
    }
    let mut refreshed = Refreshed::unread(state);
    for (config, items) in groups {
        // What is not its provider's is not there to be read.
        let in_scope = |item: &Item| {
            options.scope.is_none_or(|s| s(&item.key.0))
                && !providers.is_overridden(&config, &item.key.0)
        };
        let (read, kept): (Vec<Item>, Vec<Item>) =
            items.into_iter().partition(|i| options.read && in_scope(i));
        for item in kept {
            refreshed.objects.insert(item.key, item.prior);
        }
        if read.is_empty() {
            continue;
        }
        let provider = providers.configured(&config);
        let Some(provider) = provider.filter(|_| !options.cancel.is_cancelled()) else {
            for item in read {
                refreshed.unread.insert(item.key.clone());
                refreshed.objects.insert(item.key, item.prior);
            }
            continue;
        };
        for item in &read {
            options
                .events
                .emit(Event::RefreshStarted(hook(&item.key.0, &item.prior.value)));
        }
        let requests = read.iter().map(request).collect();
        let answers = provider.read_resources(requests).await;
        if answers.len() != read.len() {
            diagnostics.push(Diagnostic::error(
                "Provider produced invalid answer",
                format!(
                    "The provider {} was asked for {} objects and answered for {}. This is a fault of \
                     the provider.",
                    config.provider.for_display(),
                    read.len(),
                    answers.len()
                ),
            ));
            continue;
        }
        for (item, mut answer) in read.into_iter().zip(answers) {
            let failed = answer.reported.iter().any(Reported::is_error);
            diagnostics.append(Reported::placed(
                Reported::hiding(std::mem::take(&mut answer.reported), &[&item.prior.value]),
                &item.key.0,
                &|_| None,
            ));
            options
                .events
                .emit(Event::RefreshFinished(hook(&item.key.0, &item.prior.value)));
            if failed {
                refreshed.objects.insert(item.key, item.prior);
                continue;
            }
            if let Some(deferred) = answer.deferred {
                if !providers.is_deferral_allowed() {
                    diagnostics.push(put_off(&config, &item.key.0, "read", deferred, None));
                }
                refreshed.unread.insert(item.key.clone());
                refreshed.objects.insert(item.key, item.prior);
                continue;
            }
            if let Err(d) = take_over(
                &mut refreshed,
                item,
                answer,
                &config,
                providers,
                options.events,
            ) {
                diagnostics.push(*d);
            }
        }
    }
    (refreshed, diagnostics)
}

/// Reads one object again, outside of the stage.
pub fn request_for(kind: &str, prior: &PriorObject) -> ReadRequest {
    ReadRequest {
        kind: kind.to_owned(),
        current: prior.value.clone().unmark_deep().0,
        private: prior.private.clone(),
        identity: prior.identity.clone(),
    }
}

fn request(item: &Item) -> ReadRequest {
    request_for(&item.key.0.resource.kind, &item.prior)
}

/// That a provider has read an object as something that it cannot be.
pub(crate) fn invalid_object(
    config: &AbsProviderConfig,
    address: &AbsResourceInstance,
) -> Diagnostic {
    Diagnostic::error(
        "Provider produced invalid object",
        format!(
            "The provider {} read {address} as something that does not have the type of its schema. This \
             is a fault of the provider.",
            config.provider.for_display()
        ),
    )
    .about(address)
}

/// An identity that was read, by its schema; `None` if it is none.
pub(crate) fn read_identity(
    given: Value,
    schema: &formwork_provider_schema::IdentitySchema,
) -> Option<Value> {
    schema.adopted(given).filter(Value::is_wholly_known)
}

/// That a provider gives an object an identity that is none.
pub(crate) fn invalid_identity(
    config: &AbsProviderConfig,
    address: &AbsResourceInstance,
    what: &str,
) -> Diagnostic {
    Diagnostic::error(
        "Provider produced invalid identity",
        format!(
            "The provider {} {what} the identity of {address} as something that is not a wholly known object of \
             its schema's type. This is a fault of the provider.",
            config.provider.for_display()
        ),
    )
    .about(address)
}

/// Which object an event is about.
pub fn hook(address: &AbsResourceInstance, value: &Value) -> Hook {
    Hook {
        address: address.clone(),
        action: Action::NoOp,
        id: formwork_plan::identifier(value),
    }
}

fn take_over(
    refreshed: &mut Refreshed,
    item: Item,
    answer: ReadResponse,
    config: &AbsProviderConfig,
    providers: &Providers,
    events: &dyn EventSink,
) -> Result<(), Box<Diagnostic>> {
    let ReadResponse { new, private, .. } = answer;
    let Item {
        key,
        mut prior,
        schema,
    } = item;
    let (address, deposed) = &key;
    let before_plain = prior.value.clone().unmark_deep().0;
    let gone = new.is_null();
    let Some(new) = adopted_loosely(&schema.block, new) else {
        return Err(Box::new(invalid_object(config, address)));
    };
    let identity_schema = match (&answer.identity, gone) {
        (Some(_), false) => providers.identity_of(&config.provider, &address.resource),
        _ => None,
    };
    let identity = match (answer.identity, &identity_schema) {
        (Some(given), Some(schema)) => {
            let Some(identity) = read_identity(given, schema) else {
                return Err(Box::new(invalid_identity(config, address, "read")));
            };
            let stored_by = prior.stored.identity_schema_version.unwrap_or(0);
            let same = prior.identity.as_ref() == Some(&identity) && stored_by == schema.version;
            (!same).then_some(identity)
        }
        _ => None,
    };
    let named_anew = identity.is_some();
    let before_identity = prior.identity.clone();
    if named_anew {
        prior.identity = identity;
        let identity = prior.identity.as_ref();
        prior.stored = identified(prior.stored, identity, identity_schema.as_deref());
    }
    let changed = new != before_plain;
    if changed {
        let after = if gone {
            Value::null(schema.ty())
        } else {
            marked(
                &schema.block,
                &new,
                &crate::prior::stored_marks(&prior.stored),
            )
        };
        let drift = ResourceInstanceChange {
            address: address.clone(),
            previous_address: None,
            deposed: deposed.clone(),
            provider: config.clone(),
            action: if gone { Action::Delete } else { Action::Update },
            reason: None,
            before: prior.value.clone(),
            after: after.clone(),
            replace_paths: Vec::new(),
            planned_private: Bytes::from([]),
            schema_version: schema.version,
            dependencies: prior.dependencies.clone(),
            create_before_destroy: prior.create_before_destroy,
            importing: None,
            legacy_type_system: false,
            identity: Identities {
                before: before_identity.as_ref().and_then(in_json),
                after: prior.identity.as_ref().filter(|_| !gone).and_then(in_json),
            },
        };
        events.emit(Event::Drift(Box::new(drift.clone())));
        refreshed.drift.push(drift);
        if gone {
            match deposed {
                None => refreshed.state.remove_object(address),
                Some(key) => refreshed.state.remove_deposed(address, key),
            };
            return Ok(());
        }
        let stored = object_of(&after, &schema, &prior, &private, address)?;
        put(&mut refreshed.state, &key, config, &stored);
        refreshed.objects.insert(
            key,
            PriorObject {
                value: after,
                private,
                stored,
                ..prior
            },
        );
        return Ok(());
    }
    let private_changed = *prior.private != *private;
    let upgraded = prior.stored.schema_version != schema.version;
    if private_changed || upgraded || named_anew {
        let stored = object_of(&prior.value, &schema, &prior, &private, address)?;
        put(&mut refreshed.state, &key, config, &stored);
        refreshed.objects.insert(
            key,
            PriorObject {
                private,
                stored,
                ..prior
            },
        );
    } else {
        refreshed.objects.insert(key, prior);
    }
    Ok(())
}

fn put(
    state: &mut State,
    key: &ObjectKey,
    config: &AbsProviderConfig,
    stored: &Arc<ResourceInstanceObject>,
) {
    let (address, deposed) = key;
    match deposed {
        None => state.set_object(address, config, stored.clone()),
        Some(k) => state.set_deposed(address, k, config, stored.clone()),
    }
}

/// The object as state keeps it, with what the former one had beside its attributes.
pub fn object_of(
    value: &Value,
    schema: &Schema,
    prior: &PriorObject,
    private: &Bytes,
    address: &AbsResourceInstance,
) -> Result<Arc<ResourceInstanceObject>, Box<Diagnostic>> {
    let made = ResourceInstanceObject::from_value(schema.version, value, &schema.ty()).map_err(|e| {
        Box::new(
            Diagnostic::error(
                "Provider produced invalid object",
                format!("The object read of {address} cannot be stored: {e}. This is a fault of the provider."),
            )
            .about(address),
        )
    })?;
    Ok(Arc::new(ResourceInstanceObject {
        private: (!private.is_empty()).then(|| private.clone()),
        schema_version: schema.version,
        attributes: made.attributes,
        sensitive: made.sensitive,
        ..(*prior.stored).clone()
    }))
}
