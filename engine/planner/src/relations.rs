//! What refers to what, as far as resources go: what the execution graph is built from.

use crate::execution::{BlockAddress, Conditioned, OpenCheck, References};
use crate::input::PlanInput;
use crate::walk::join;
use formwork_addresses::{AbsProviderConfig, InstanceKey};
use formwork_graph::{Node, StaticNode, What};
use std::collections::BTreeSet;

/// The address of a block that can have conditions.
fn conditioned_address(node: &StaticNode) -> Option<String> {
    let name = match &node.what {
        What::Variable(n) => format!("var.{n}"),
        What::Output(n) => format!("output.{n}"),
        What::Check(n) => format!("check.{n}"),
        What::Resource(r) => r.to_string(),
        _ => return None,
    };
    Some(join(&node.module.to_string(), &name))
}

/// What refers to what, as far as resources go.
pub(crate) fn references(input: &PlanInput, open: &[OpenCheck]) -> References {
    let graph = &input.graph;
    let block = |node: Node| -> Option<BlockAddress> {
        let n = graph.get(node)?;
        match &n.what {
            What::Resource(r) => Some((n.module.clone(), r.clone())),
            _ => None,
        }
    };
    let open: BTreeSet<&str> = open.iter().map(|o| &*o.block).collect();
    let mut references = References::default();
    for (node, n) in (0u32..).zip(graph.nodes()) {
        let nearest = || {
            graph
                .nearest_resources(node)
                .into_iter()
                .filter_map(block)
                .collect::<BTreeSet<_>>()
        };
        match &n.what {
            What::Resource(r) => {
                references
                    .resources
                    .insert((n.module.clone(), r.clone()), nearest());
            }
            What::Provider { provider, alias } => {
                let config = AbsProviderConfig {
                    module: n.module.clone(),
                    provider: provider.clone(),
                    alias: alias.clone(),
                    key: InstanceKey::None,
                };
                references.providers.insert(config, nearest());
            }
            What::Output(name) if n.module.is_root() => {
                references.outputs.insert(name.to_string(), nearest());
            }
            _ => {}
        }
        if open.is_empty() {
            continue;
        }
        if let Some(address) = conditioned_address(n).filter(|a| open.contains(&**a)) {
            let mut conditioned = Conditioned {
                needs: nearest(),
                of: block(node),
                ..Conditioned::default()
            };
            if let (What::Output(name), true) = (&n.what, n.module.is_root()) {
                conditioned.outputs.insert(name.to_string());
            }
            // Who uses a resource waits for it to be made already.
            if conditioned.of.is_none() {
                users(input, node, &open, &mut conditioned);
            }
            references.checks.insert(address, conditioned);
        }
    }
    references
}

/// Who gets the value of a block, not through resources.
fn users(input: &PlanInput, node: Node, open: &BTreeSet<&str>, into: &mut Conditioned) {
    let graph = &input.graph;
    let mut seen = BTreeSet::new();
    let mut stack = graph.dag().dependents(node).to_vec();
    while let Some(n) = stack.pop() {
        if !seen.insert(n) {
            continue;
        }
        let Some(user) = graph.get(n) else { continue };
        match &user.what {
            What::Resource(r) => {
                into.resources.insert((user.module.clone(), r.clone()));
            }
            What::Provider { provider, alias } => {
                into.providers.insert(AbsProviderConfig {
                    module: user.module.clone(),
                    provider: provider.clone(),
                    alias: alias.clone(),
                    key: InstanceKey::None,
                });
            }
            What::Output(name) if user.module.is_root() => {
                into.outputs.insert(name.to_string());
            }
            _ => {}
        }
        if !matches!(user.what, What::Resource(_)) {
            stack.extend_from_slice(graph.dag().dependents(n));
        }
        if let Some(address) = conditioned_address(user).filter(|a| open.contains(&**a)) {
            into.checks.insert(address);
        }
    }
}
