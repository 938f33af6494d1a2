//! What only the state still knows: objects whose block, module, number or key is gone, and objects
//! that a replacement has left behind. In a destroy run: everything.

use crate::deferral::Held;
use crate::instance::{Subject, plan_deletion};
use crate::prior::PriorObject;
use crate::protection::protection_of_orphan;
use crate::providers::{Needed, configure_provider, objects_of_state};
use crate::refresh::ObjectKey;
use crate::walk::{Walk, lock};
use formwork_addresses::{
    AbsProviderConfig, AbsResourceInstance, DeposedKey, InstanceKey, ModuleInstance, ModulePath,
    Resource, ResourceMode,
};
use formwork_configuration::Repetition;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_evaluation::Expansion;
use formwork_graph::{Direction, Node, What};
use formwork_plan::{Action, ActionReason, PlanMode, PlannedKeys, ResourceInstanceChange};
use formwork_provider::Bytes;
use formwork_values::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Plans the deletion of every object in the state that the walk has not planned.
pub(crate) async fn plan_orphans(walk: &Walk<'_>) {
    let input = walk.input;
    let planned: BTreeSet<AbsResourceInstance> = lock(&walk.index).keys().cloned().collect();
    let orphans: Vec<(&ObjectKey, &PriorObject)> = input
        .refreshed
        .objects
        .iter()
        .filter(|((address, deposed), _)| deposed.is_some() || !planned.contains(address))
        .filter(|((address, _), _)| input.scope.takes(address))
        .collect();
    let mut said = Diagnostics::new();
    let mut left: Vec<String> = Vec::new();
    let held = Held::new(walk);
    for ((address, deposed), prior) in orphans {
        let Some(config) = input.refreshed.state.provider(address).cloned() else {
            said.push(not_planned(address, "the state names no provider for it"));
            continue;
        };
        // What a block that waits will have is not known, so none of its objects is one too many.
        if held.waits(address) {
            continue;
        }
        let configuration = input.evaluator.configuration();
        let removal = configuration.removal_of(&address.module_path(), &address.resource);
        // A run that destroys everything destroys that, too.
        if input.mode == PlanMode::Normal && removal.is_some_and(|r| !r.destroy) {
            let mut change = forgotten(address, deposed.as_ref(), prior, config);
            if deposed.is_none() {
                change.previous_address = input.refreshed.moved_from.get(address).cloned();
                change.reason = Some(gone_reason(walk, address));
            }
            left.push(change.display_address());
            walk.keep(change);
            continue;
        }
        if let Some((reason, waits_for)) = held.keeps(address, &config) {
            let mut change = forgotten(address, deposed.as_ref(), prior, config);
            change.action = Action::Delete;
            change.reason = None;
            walk.defer_deletion(change, reason, waits_for);
            continue;
        }
        if input.providers.configured(&config).is_none() {
            let (_, problems) =
                configure_provider(&input.evaluator, &input.providers, &config).await;
            if problems.has_errors() {
                said.append(problems);
                continue;
            }
        }
        let Some(provider) = input.providers.for_instance(&config, address) else {
            said.push(not_planned(
                address,
                &format!("{config}, which handles it, is not configured"),
            ));
            continue;
        };
        let schema = input
            .providers
            .schema_of(&config.provider, &address.resource);
        let Some(schema) = schema else {
            let d = input
                .providers
                .unknown_type(&config.provider, &address.resource);
            said.push(d.about(address));
            continue;
        };
        let reason = match (input.mode, deposed) {
            (PlanMode::Destroy, _) | (_, Some(_)) => None,
            _ if removal.is_some() => Some(gone_reason(walk, address)),
            _ => Some(reason(walk, address)),
        };
        if deposed.is_none() {
            let protection = protection_of_orphan(&input.evaluator, address).await;
            let stays = protection.has_errors();
            said.append(protection);
            if stays {
                continue;
            }
        }
        let subject = Subject {
            address,
            previous_address: deposed
                .is_none()
                .then(|| input.refreshed.moved_from.get(address).cloned())
                .flatten(),
            provider_config: &config,
            provider: &*provider,
            schema: &schema,
            identity: None,
            dependencies: prior.dependencies.clone(),
            block: None,
            importing: None,
            may_defer: input.defer,
        };
        let (planned, problems) = plan_deletion(&subject, prior, reason).await;
        said.append(problems);
        if let Some(planned) = planned {
            let mut change = planned.change;
            change.deposed = deposed.clone();
            match planned.deferred {
                Some(reason) => {
                    walk.defer_deletion(change, crate::deferral::answered(reason), Vec::new());
                }
                None => walk.keep(change),
            }
        }
    }
    if !left.is_empty() {
        said.push(Diagnostic::warning(
            "Some objects will no longer be managed by Formwork",
            format!(
                "A removed block says that these leave the state and stay in the world, where nobody \
                 looks after them any more: {}. To manage one again, import it.",
                left.join(", ")
            ),
        ));
    }
    let _ = walk.say(said);
}

/// Why an object goes whose block is not there: it has gone, or the object has moved to where none
/// is.
fn gone_reason(walk: &Walk<'_>, address: &AbsResourceInstance) -> ActionReason {
    if walk.input.refreshed.moved_from.contains_key(address) {
        ActionReason::DeleteBecauseNoMoveTarget
    } else {
        ActionReason::DeleteBecauseNoResourceConfig
    }
}

/// An object of the state that would be left out of the plan without a word.
fn not_planned(address: &AbsResourceInstance, why: &str) -> Diagnostic {
    Diagnostic::error(
        "Deletion cannot be planned",
        format!(
            "{address} is in the state and no longer configured, so it would be deleted, but {why}."
        ),
    )
    .about(address)
}

/// An object that leaves the state and stays in the world. Its provider is not asked.
fn forgotten(
    address: &AbsResourceInstance,
    deposed: Option<&DeposedKey>,
    prior: &PriorObject,
    provider: AbsProviderConfig,
) -> ResourceInstanceChange {
    ResourceInstanceChange {
        address: address.clone(),
        previous_address: None,
        deposed: deposed.cloned(),
        provider,
        action: Action::Forget,
        reason: Some(ActionReason::DeleteBecauseNoResourceConfig),
        before: prior.value.clone(),
        after: Value::null(prior.value.type_of()),
        replace_paths: Vec::new(),
        planned_private: Bytes::from([]),
        schema_version: prior.stored.schema_version,
        dependencies: prior.dependencies.clone(),
        create_before_destroy: prior.create_before_destroy,
        importing: None,
        legacy_type_system: false,
        identity: Default::default(),
    }
}

/// Why an instance is not configured any more.
fn reason(walk: &Walk<'_>, address: &AbsResourceInstance) -> ActionReason {
    let evaluator = &walk.input.evaluator;
    let configuration = evaluator.configuration();
    let mut parent = ModuleInstance::root();
    for step in address.module.steps() {
        match evaluator.objects().call_expansion(&parent, &step.name) {
            Some(e) if e.has(&step.key) => {}
            Some(Expansion::Disabled) => return ActionReason::DeleteBecauseEnabledFalse,
            Some(_) => return ActionReason::DeleteBecauseNoModule,
            // without the call, nothing of the module is configured
            None => return gone_reason(walk, address),
        }
        parent = parent.child(&step.name, step.key.clone());
    }
    let Some(module) = configuration.module(&address.module_path()) else {
        return ActionReason::DeleteBecauseNoModule;
    };
    if module.resource(&address.resource).is_none() {
        return gone_reason(walk, address);
    }
    let expansion = evaluator
        .objects()
        .expansion(&address.abs_resource())
        .unwrap_or_default();
    match (&expansion, &address.key) {
        (Expansion::Disabled, InstanceKey::None) => ActionReason::DeleteBecauseEnabledFalse,
        (Expansion::Count(_), InstanceKey::Int(_)) => ActionReason::DeleteBecauseCountIndex,
        (Expansion::ForEach(_) | Expansion::Keys(_), InstanceKey::Text(_)) => {
            ActionReason::DeleteBecauseEachKey
        }
        _ => ActionReason::DeleteBecauseWrongRepetition,
    }
}

/// A destroy run evaluates only what providers are configured by, over the objects as they are; the
/// rest of the configuration may be wrong without keeping anything from being destroyed.
pub(crate) async fn prepare_destroy(walk: &mut Walk<'_>) {
    let input = walk.input;
    let state = &input.refreshed.state;
    let from_state = objects_of_state(state, &input.providers, Needed::Everything).await;
    let objects = input.evaluator.objects();
    for (resource, kept) in state.resources() {
        if let Some(e) = from_state.expansion(resource) {
            objects.set_expansion(resource, e);
        }
        for key in kept.instances.keys() {
            let address = resource.instance(key.clone());
            if let Some(value) = from_state.object(&address) {
                objects.set(&address, value);
            }
        }
    }
    let graph = &input.graph;
    let used: BTreeSet<_> = state
        .resources()
        .filter(|(a, r)| {
            a.resource.mode == ResourceMode::Managed
                && r.instances
                    .keys()
                    .any(|k| input.scope.takes(&a.instance(k.clone())))
        })
        .flat_map(|(_, r)| r.providers().map(AbsProviderConfig::block))
        .collect();
    let seeds: Vec<Node> = used
        .iter()
        .filter_map(|c| {
            graph.find(
                &c.module,
                What::Provider {
                    provider: c.provider.clone(),
                    alias: c.alias.clone(),
                },
            )
        })
        .collect();
    let needed = graph.dag().closure(seeds, Direction::Dependencies);
    for node in graph.order().to_vec() {
        if !needed.get(node as usize).copied().unwrap_or(false) {
            continue;
        }
        let Some(n) = graph.get(node) else { continue };
        if let What::Resource(resource) = &n.what {
            empty_if_absent(walk, &n.module, resource);
        }
        let looked_at = match &n.what {
            What::Resource(r) => r.mode == ResourceMode::Ephemeral,
            What::Check(_) => false,
            _ => true,
        };
        if looked_at {
            walk.visit_for_destroy(node).await;
        }
    }
}

/// A repeated block of which the state has nothing has no instances: with that a provider can be
/// configured, where what does not exist once could only be unknown.
fn empty_if_absent(walk: &Walk<'_>, path: &ModulePath, resource: &Resource) {
    let evaluator = &walk.input.evaluator;
    let module = evaluator.configuration().module(path);
    let Some(block) = module.and_then(|m| m.resource(resource)) else {
        return;
    };
    let (none, expansion) = match &block.repetition {
        Repetition::Single => return,
        Repetition::Count(_) => (PlannedKeys::Count(0), Expansion::Count(0)),
        Repetition::ForEach(_) => (
            PlannedKeys::Keys(Vec::new()),
            Expansion::Keys(Arc::default()),
        ),
        Repetition::Enabled(_) => (PlannedKeys::Disabled, Expansion::Disabled),
    };
    for instance in evaluator.module_instances(path) {
        let address = resource.in_module(&instance);
        if evaluator.objects().expansion(&address).is_none() {
            evaluator
                .objects()
                .set_expansion(&address, expansion.clone());
            lock(&walk.resource_keys).insert(address, none.clone());
        }
    }
}
