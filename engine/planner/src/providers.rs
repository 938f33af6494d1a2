//! Configuring providers by what is known.

use crate::prior::decode_managed;
use formwork_addresses::{
    AbsProviderConfig, AbsResource, InstanceKey, ModuleInstance, ModulePath, Resource, ResourceMode,
};
use formwork_diagnostics::Diagnostics;
use formwork_evaluation::{Evaluator, Expansion, Objects};
use formwork_graph::{StaticGraph, StaticNode, What};
use formwork_provider::{Providers, Reported};
use formwork_state::State;
use formwork_values::{Value, value_from_json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How configuring a provider went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Configured {
    /// By values that are all known.
    Fully,
    /// By values some of which are not known yet.
    Partly,
    /// Not: some values are not known yet, and without them it refuses. What it says is no mistake of
    /// the configuration.
    NotYet,
    /// Not, or not without errors.
    Failed,
}

/// Evaluates a provider's configuration and configures it.
pub async fn configure_provider(
    evaluator: &Evaluator,
    providers: &Providers,
    config: &AbsProviderConfig,
) -> (Configured, Diagnostics) {
    let Some(schemas) = providers.schemas(&config.provider) else {
        // That it could not be launched has been said.
        return (Configured::Failed, Diagnostics::new());
    };
    if providers.is_stood_in_for(config) {
        return (Configured::Fully, Diagnostics::new());
    }
    let schema = schemas.provider_config();
    let (value, mut diagnostics) = evaluator.provider_config(config, &schema.block).await;
    let Some(value) = value else {
        return (Configured::Failed, diagnostics);
    };
    let plain = value.clone().unmark_deep().0;
    let range = evaluator.provider_block(config).map(|b| b.range);
    let reported = providers.validate_config(&config.provider, &plain).await;
    let failed = reported.iter().any(Reported::is_error);
    place(
        Reported::hiding(reported, &[&value]),
        config,
        range,
        &mut diagnostics,
    );
    if failed {
        return (Configured::Failed, diagnostics);
    }
    let known = plain.is_wholly_known();
    let before = diagnostics.error_count();
    match providers.configure(config, plain).await {
        Ok(reported) => {
            place(
                Reported::hiding(reported, &[&value]),
                config,
                range,
                &mut diagnostics,
            );
        }
        Err(d) => {
            diagnostics.append(d);
            return (Configured::Failed, diagnostics);
        }
    }
    let configured = match (known, diagnostics.error_count() > before) {
        (true, false) => Configured::Fully,
        (false, false) => Configured::Partly,
        (true, true) => Configured::Failed,
        (false, true) => Configured::NotYet,
    };
    (configured, diagnostics)
}

fn place(
    reported: Vec<Reported>,
    config: &AbsProviderConfig,
    range: Option<formwork_diagnostics::SourceRange>,
    diagnostics: &mut Diagnostics,
) {
    for r in reported {
        diagnostics.push(r.diagnostic.at_opt(range).about(config));
    }
}

/// What the values of the objects of a state are wanted for.
pub enum Needed<'a> {
    /// Expressions that may name any of them.
    Everything,
    /// To configure providers: only what their blocks refer to is decoded, which mostly is nothing.
    ByProviders(&'a StaticGraph),
}

impl Needed<'_> {
    /// The blocks that are needed; all without.
    fn blocks(&self) -> Option<BTreeSet<(&ModulePath, &Resource)>> {
        let Self::ByProviders(graph) = self else {
            return None;
        };
        let providers = (0u32..)
            .zip(graph.nodes())
            .filter(|(_, n)| matches!(n.what, What::Provider { .. }));
        let near = providers.flat_map(|(node, _)| graph.nearest_resources(node));
        let blocks = near.filter_map(|n| match graph.get(n) {
            Some(StaticNode {
                module,
                what: What::Resource(resource),
            }) => Some((module, resource)),
            _ => None,
        });
        Some(blocks.collect())
    }
}

/// Puts what the state knows into an evaluator's objects: instances, values and module instances.
pub async fn objects_of_state(state: &State, providers: &Providers, needed: Needed<'_>) -> Objects {
    let objects = Objects::new();
    let blocks = needed.blocks();
    let mut calls: BTreeMap<(ModuleInstance, Arc<str>), BTreeSet<InstanceKey>> = BTreeMap::new();
    for (resource, kept) in state.resources() {
        let mut parent = ModuleInstance::root();
        for step in resource.module.steps() {
            calls
                .entry((parent.clone(), step.name.clone()))
                .or_default()
                .insert(step.key.clone());
            parent = parent.child(&step.name, step.key.clone());
        }
        let path = resource.module.path();
        if blocks
            .as_ref()
            .is_some_and(|b| !b.contains(&(&path, &resource.resource)))
        {
            continue;
        }
        let keys: BTreeSet<InstanceKey> = kept.instances.keys().cloned().collect();
        objects.set_expansion(resource, expansion_of(&keys));
        for (key, instance) in &kept.instances {
            let Some(object) = &instance.current else {
                continue;
            };
            let address = resource.instance(key.clone());
            let value = match resource.resource.mode {
                ResourceMode::Managed => {
                    decode_managed(providers, &kept.provider, &address, object)
                        .await
                        .ok()
                        .map(|(prior, _)| prior.value)
                }
                _ => data_value(providers, &kept.provider, resource, object),
            };
            if let Some(value) = value {
                objects.set(&address, value);
            }
        }
    }
    for ((module, name), keys) in calls {
        objects.set_call(&module, &name, expansion_of(&keys));
    }
    objects
}

/// A data source as the state has it; nothing if its schema has changed since.
pub(crate) fn data_value(
    providers: &Providers,
    config: &AbsProviderConfig,
    resource: &AbsResource,
    object: &formwork_state::ResourceInstanceObject,
) -> Option<Value> {
    let schema = providers.schema_of(&config.provider, &resource.resource)?;
    let json = object.attributes_json()?;
    let value = value_from_json(json.get().as_bytes(), &schema.ty()).ok()?;
    Some(formwork_provider_schema::marked(
        &schema.block,
        &value,
        &crate::prior::stored_marks(object),
    ))
}

fn expansion_of(keys: &BTreeSet<InstanceKey>) -> Expansion {
    let count = keys.iter().filter_map(|k| {
        if let InstanceKey::Int(n) = k {
            u64::try_from(*n).ok()
        } else {
            None
        }
    });
    match keys.iter().next_back() {
        None => Expansion::Unknown,
        Some(InstanceKey::None) => Expansion::Single,
        Some(InstanceKey::Int(_)) => match count.max().map_or(0, |n| n.saturating_add(1)) {
            // Keys far apart come from a file that nobody's count has made.
            n if n > 10_000_000 => Expansion::Unknown,
            n => Expansion::Count(n),
        },
        Some(InstanceKey::Text(_)) => Expansion::ForEach(Arc::new(
            keys.iter()
                .filter_map(|k| {
                    if let InstanceKey::Text(t) = k {
                        Some((t.clone(), Value::dynamic()))
                    } else {
                        None
                    }
                })
                .collect(),
        )),
    }
}

/// Configures the providers of everything in the state by what the state itself knows, for the
/// refresh stage. What cannot be configured yet is left alone without a word: the planning walk says
/// what is wrong, if something is.
pub async fn configure_from_state(evaluator: &Evaluator, providers: &Providers, state: &State) {
    let mut configs: Vec<&AbsProviderConfig> =
        state.resources().flat_map(|(_, r)| r.providers()).collect();
    configs.sort();
    configs.dedup();
    for config in configs {
        if providers.is_stood_in_for(config) {
            continue;
        }
        let Some(schemas) = providers.schemas(&config.provider) else {
            continue;
        };
        let (value, _) = evaluator
            .provider_config(config, &schemas.provider_config().block)
            .await;
        let Some(known) = value.filter(Value::is_wholly_known) else {
            continue;
        };
        let plain = known.unmark_deep().0;
        let reported = providers.validate_config(&config.provider, &plain).await;
        if !reported.iter().any(Reported::is_error) {
            let _ = providers.configure(config, plain).await;
        }
    }
}
