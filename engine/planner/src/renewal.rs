//! The state that a plan leads on from: what was refreshed, as far as the configuration says more of it.

use crate::walk::{Walk, lock};
use formwork_addresses::{AbsResource, ResourceMode};
use formwork_graph::{Node, What};
use formwork_plan::{Action, PlanMode, ResourceInstanceChange};
use formwork_state::State;
use std::collections::{BTreeMap, BTreeSet};

/// What an untouched object was made from, who handles it and whether its replacement comes first is
/// what its block says now. The content is left as it is.
pub(crate) fn renew_untouched(
    walk: &Walk<'_>,
    state: &mut State,
    changes: &[ResourceInstanceChange],
) {
    let graph = &walk.input.graph;
    let mut closures: BTreeMap<Node, BTreeSet<AbsResource>> = BTreeMap::new();
    let untouched = |c: &&ResourceInstanceChange| {
        c.action == Action::NoOp
            && c.deposed.is_none()
            && c.address.resource.mode == ResourceMode::Managed
    };
    for change in changes.iter().filter(untouched) {
        let Some(stored) = state.object(&change.address).cloned() else {
            continue;
        };
        let mut same = *stored.dependencies == *change.dependencies;
        let node = graph.resource(&change.address.module_path(), &change.address.resource);
        if let (false, Some(node)) = (same, node) {
            // Terraform stores the far ones, too; as long as they are what the near ones lead to,
            // they mean the same.
            let near: BTreeSet<&AbsResource> = change.dependencies.iter().collect();
            let kept: BTreeSet<&AbsResource> = stored.dependencies.iter().collect();
            same = near.is_subset(&kept) && {
                let all = closures
                    .entry(node)
                    .or_insert_with(|| everything_before(walk, node));
                kept.iter().all(|d| all.contains(*d))
            };
        }
        let handled = state.provider(&change.address) == Some(&change.provider);
        if same && handled && stored.create_before_destroy == change.create_before_destroy {
            continue;
        }
        let mut object = (*stored).clone();
        if !same {
            object.dependencies = change.dependencies.clone().into();
        }
        object.create_before_destroy = change.create_before_destroy;
        state.set_object(&change.address, &change.provider, object);
    }
}

/// Every managed resource that a node needs, near and far.
fn everything_before(walk: &Walk<'_>, node: Node) -> BTreeSet<AbsResource> {
    let graph = &walk.input.graph;
    let reached = graph
        .dag()
        .closure([node], formwork_graph::Direction::Dependencies);
    graph
        .nodes()
        .iter()
        .zip(reached)
        .filter(|(_, reached)| *reached)
        .filter_map(|(n, _)| match &n.what {
            What::Resource(r) if r.mode == ResourceMode::Managed => {
                Some(r.in_module(&n.module.unkeyed_instance()))
            }
            _ => None,
        })
        .collect()
}

/// The refreshed state, with the data sources of this plan instead of those of former runs.
pub(crate) fn state_with_data(walk: &Walk<'_>) -> State {
    let mut state = walk.input.refreshed.state.clone();
    for imported in lock(&walk.imported).iter() {
        state.set_object(
            &imported.address,
            &imported.provider,
            imported.object.clone(),
        );
    }
    if walk.input.mode == PlanMode::Destroy {
        return state;
    }
    let scope = &walk.input.scope;
    let takes_part = |a: &AbsResource, r: &formwork_state::ResourceState| {
        let mut keys = r.instances.keys();
        keys.any(|k| scope.takes(&a.instance(k.clone())))
    };
    let old: Vec<AbsResource> = state
        .resources()
        .filter(|(a, r)| a.resource.mode == ResourceMode::Data && takes_part(a, r))
        .filter(|(a, _)| {
            let node = walk.input.graph.resource(&a.module.path(), &a.resource);
            !node.is_some_and(|n| walk.is_waiting(n))
        })
        .map(|(a, _)| a.clone())
        .collect();
    for address in old {
        state.remove_resource(&address);
    }
    for (address, resource) in lock(&walk.data).resources() {
        state.set_resource(address.clone(), resource.clone());
    }
    state
}
