//! What apply knows of objects before it begins: instances from the plan, values from the state.

use formwork_addresses::{AbsResource, AbsResourceInstance, InstanceKey, ResourceMode};
use formwork_evaluation::{Expansion, Objects};
use formwork_plan::{Action, Plan, PlanMode, PlannedKeys};
use formwork_provider::Providers;
use formwork_provider_schema::marked;
use formwork_state::{ResourceInstanceObject, State};
use formwork_values::{Marks, PathMarks, Value, value_from_json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn expansion(keys: &PlannedKeys) -> Expansion {
    match keys {
        PlannedKeys::Single => Expansion::Single,
        PlannedKeys::Count(n) => Expansion::Count(*n),
        PlannedKeys::Disabled => Expansion::Disabled,
        PlannedKeys::Keys(keys) => Expansion::Keys(Arc::new(keys.iter().cloned().collect())),
    }
}

/// Fills in what is known.
pub(crate) fn fill(objects: &Objects, plan: &Plan, state: &State, providers: &Providers) {
    for ((module, name), keys) in &plan.call_keys {
        objects.set_call(module, name, expansion(keys));
    }
    for (resource, keys) in &plan.resource_keys {
        objects.set_expansion(resource, expansion(keys));
    }
    let whole = plan.mode == PlanMode::Destroy;
    let partial = !whole && (!plan.complete || plan.mode == PlanMode::RefreshOnly);
    if partial {
        // Blocks that were not looked at have what the state has: an orphan's provider may be
        // configured by them.
        let there = state.instances().filter(|(a, i)| {
            i.current.is_some() && !plan.resource_keys.contains_key(&a.abs_resource())
        });
        keys_of_state(objects, there.map(|(a, _)| a));
    }
    if whole {
        let made = plan
            .changes
            .iter()
            .filter(|c| c.deposed.is_none())
            .map(|c| c.address.clone());
        let there = state.instances().filter(|(_, i)| i.current.is_some());
        keys_of_state(objects, made.chain(there.map(|(a, _)| a)));
    }
    for change in plan.changes.iter().filter(|c| c.deposed.is_none()) {
        // What the plan knows of an object that is going to be made is promised; the rest is unknown
        // until it is made.
        let value = match change.action {
            Action::NoOp => &change.before,
            _ if whole => &change.before,
            Action::Delete | Action::Forget => continue,
            _ => &change.after,
        };
        if !value.is_null() {
            objects.set(&change.address, value.clone());
        }
    }
    let planned: BTreeSet<&AbsResourceInstance> = plan.changes.iter().map(|c| &c.address).collect();
    // Of what a limited plan leaves out the state knows (a destroyed object's provider may be configured
    // by it), and of everything where nothing is planned.
    let beside = |a: &AbsResource| {
        a.resource.mode == ResourceMode::Data
            || ((partial || whole) && a.resource.mode == ResourceMode::Managed)
    };
    for (resource, kept) in state.resources().filter(|(a, _)| beside(a)) {
        let Some(schema) = providers.schema_of(&kept.provider.provider, &resource.resource) else {
            continue;
        };
        for (key, instance) in &kept.instances {
            let json = instance
                .current
                .as_ref()
                .and_then(|o| Some((o, o.attributes_json()?)));
            let Some((object, json)) = json else { continue };
            if let Ok(value) = value_from_json(json.get().as_bytes(), &schema.ty()) {
                let value = marked(&schema.block, &value, &stored_marks(object));
                let address = resource.instance(key.clone());
                if !planned.contains(&address) || address.resource.mode == ResourceMode::Data {
                    objects.set(&address, value);
                }
            }
        }
    }
    if partial && !plan.complete {
        leave_out_missing(objects, plan);
    }
}

/// Instances that a limited plan leaves out and that are not there either are none that anybody could
/// see: an output of all instances has those that there are.
fn leave_out_missing(objects: &Objects, plan: &Plan) {
    for (resource, keys) in &plan.resource_keys {
        let is_there = |key: InstanceKey| objects.object(&resource.instance(key)).is_some();
        let left = match keys {
            PlannedKeys::Count(n) => {
                let last = (0..*n)
                    .rev()
                    .find(|i| i64::try_from(*i).is_ok_and(|i| is_there(InstanceKey::Int(i))));
                Expansion::Count(last.map_or(0, |i| i + 1))
            }
            PlannedKeys::Keys(keys) => {
                let there = keys
                    .iter()
                    .filter(|k| is_there(InstanceKey::Text((*k).clone())));
                Expansion::Keys(Arc::new(there.cloned().collect()))
            }
            PlannedKeys::Single | PlannedKeys::Disabled => continue,
        };
        objects.set_expansion(resource, left);
    }
}

/// In a destroy run the plan has no instances of its own: those of the state are what there is.
fn keys_of_state(objects: &Objects, addresses: impl Iterator<Item = AbsResourceInstance>) {
    let mut keys: BTreeMap<AbsResource, BTreeSet<InstanceKey>> = BTreeMap::new();
    for address in addresses {
        keys.entry(address.abs_resource())
            .or_default()
            .insert(address.key);
    }
    for (resource, keys) in keys {
        let expansion = match keys.iter().next_back() {
            None | Some(InstanceKey::None) => Expansion::Single,
            Some(InstanceKey::Int(n)) => {
                Expansion::Count(u64::try_from(*n).unwrap_or(0).saturating_add(1))
            }
            Some(InstanceKey::Text(_)) => Expansion::Keys(Arc::new(
                keys.iter()
                    .filter_map(|k| {
                        if let InstanceKey::Text(t) = k {
                            Some(t.clone())
                        } else {
                            None
                        }
                    })
                    .collect(),
            )),
        };
        objects.set_expansion(&resource, expansion);
    }
}

fn stored_marks(object: &ResourceInstanceObject) -> PathMarks {
    object
        .sensitive
        .paths()
        .iter()
        .map(|p| (p.clone(), Marks::SENSITIVE))
        .collect()
}

/// The value without marks.
pub(crate) fn plain(value: &Value) -> Value {
    value.clone().unmark_deep().0
}
