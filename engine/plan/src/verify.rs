//! The verifier: what must hold of a plan before anything is done by it.
//!
//! It runs after planning (a fault of ours becomes an error instead of a lost object) and again
//! before apply (a file may come from another build). It costs linear time.

use crate::action::Action;
use crate::execution::{NodeId, OperationKind};
use crate::{Plan, ResourceInstanceChange};
use formwork_addresses::{AbsResource, AbsResourceInstance};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Something that does not hold. Always a fault of the tool or of a tampered file, never the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect(pub String);

/// Everything that does not hold; empty for a good plan.
pub fn verify(plan: &Plan) -> Vec<Defect> {
    let mut defects = Vec::new();
    let count = plan.graph.nodes().len();
    if plan
        .graph
        .edges()
        .iter()
        .any(|(a, b)| a.0 as usize >= count || b.0 as usize >= count)
    {
        defects.push(Defect(
            "the execution graph orders an operation that it does not hold".into(),
        ));
        return defects;
    }
    if let Err(circle) = plan.graph.topological() {
        let names: Vec<String> = circle
            .iter()
            .filter_map(|id| plan.graph.get(*id))
            .map(|n| n.kind.text())
            .take(10)
            .collect();
        defects.push(Defect(format!(
            "operations wait for each other: {}",
            names.join(", ")
        )));
        return defects;
    }
    objects_change_once(plan, &mut defects);
    changes_are_carried_out(plan, &mut defects);
    destroys_come_after_dependents(plan, &mut defects);
    defects
}

/// No object has two changes: they would be carried out against each other.
fn objects_change_once(plan: &Plan, defects: &mut Vec<Defect>) {
    let mut seen =
        FxHashSet::with_capacity_and_hasher(plan.changes.len(), rustc_hash::FxBuildHasher);
    for change in &plan.changes {
        if !seen.insert((&change.address, &change.deposed)) {
            defects.push(Defect(format!(
                "{} is to be changed twice",
                change.display_address()
            )));
        }
    }
}

/// Each change has exactly the operations that its action needs, on its own object and in its
/// action's order, and no operation lacks a change.
fn changes_are_carried_out(plan: &Plan, defects: &mut Vec<Defect>) {
    let mut of_change: Vec<BTreeMap<&'static str, NodeId>> =
        vec![BTreeMap::new(); plan.changes.len()];
    for (id, node) in (0u32..).map(NodeId).zip(plan.graph.nodes()) {
        let (word, address, deposed) = match &node.kind {
            OperationKind::Make(a) => ("make", a, None),
            OperationKind::Destroy(a) => ("destroy", a, None),
            OperationKind::DestroyDeposed(a, key) => ("destroy", a, Some(key)),
            OperationKind::ReadData(a) => ("read", a, None),
            // Whether the object was left behind is the change's matter.
            OperationKind::Forget(a) => ("forget", a, None),
            _ => continue,
        };
        let index = node.change.map(|c| c as usize);
        let known = index.and_then(|i| Some((of_change.get_mut(i)?, plan.changes.get(i)?)));
        let Some((words, change)) = known else {
            defects.push(Defect(format!(
                "{} carries out no change",
                node.kind.text()
            )));
            continue;
        };
        if *address != change.address || (word != "forget" && deposed != change.deposed.as_ref()) {
            defects.push(Defect(format!(
                "{} is to carry out the change of {}",
                node.kind.text(),
                change.display_address()
            )));
        }
        if words.insert(word, id).is_some() {
            defects.push(Defect(format!("{} is there twice", node.kind.text())));
        }
    }
    let orders: FxHashSet<(NodeId, NodeId)> = plan.graph.edges().iter().copied().collect();
    for (change, words) in plan.changes.iter().zip(&of_change) {
        let needed: &[&str] = match change.action {
            Action::NoOp => &[],
            Action::Create | Action::Update => &["make"],
            Action::Read => &["read"],
            Action::Delete => &["destroy"],
            Action::DeleteThenCreate | Action::CreateThenDelete => &["destroy", "make"],
            Action::Forget => &["forget"],
        };
        let needed: BTreeSet<&str> = needed.iter().copied().collect();
        let found: BTreeSet<&str> = words.keys().copied().collect();
        if needed != found {
            defects.push(Defect(format!(
                "{} is to be {} by [{}], but the graph has [{}]",
                change.display_address(),
                change.action.word(),
                needed.into_iter().collect::<Vec<_>>().join(", "),
                found.into_iter().collect::<Vec<_>>().join(", ")
            )));
            continue;
        }
        let (Some(make), Some(destroy)) = (words.get("make"), words.get("destroy")) else {
            continue;
        };
        // The two halves are ordered directly: apply makes one of what the other has left.
        let (first, second) = if change.action == Action::CreateThenDelete {
            (*make, *destroy)
        } else {
            (*destroy, *make)
        };
        if !orders.contains(&(first, second)) {
            let name = |id| plan.graph.get(id).map(|n| n.kind.text());
            defects.push(Defect(format!(
                "{} does not wait for {}",
                name(second).unwrap_or_default(),
                name(first).unwrap_or_default()
            )));
        }
    }
}

/// An object is destroyed only after what depends on it is destroyed: between the two there is an
/// order, directly or through joins.
fn destroys_come_after_dependents(plan: &Plan, defects: &mut Vec<Defect>) {
    let mut destroyed_by: FxHashMap<&AbsResourceInstance, NodeId> = FxHashMap::default();
    let mut destroyed_in: BTreeMap<AbsResource, Vec<NodeId>> = BTreeMap::new();
    for (id, node) in (0u32..).map(NodeId).zip(plan.graph.nodes()) {
        if let OperationKind::Destroy(address) = &node.kind {
            destroyed_by.insert(address, id);
            destroyed_in
                .entry(block(&address.abs_resource()))
                .or_default()
                .push(id);
        }
    }
    let mut orders = Orders::new(plan);
    let mut circles: Option<FxHashMap<AbsResource, usize>> = None;
    let replaces = plan.changes.iter().any(|c| c.action.is_replace());
    let prior = (replaces && !plan.prior.refreshed.is_empty())
        .then(|| formwork_state::v4::read(&plan.prior.refreshed, "the plan's state").0)
        .flatten()
        .map(|snapshot| snapshot.state);
    // What a replacement makes may be made from other things than what it destroys.
    let former = |change: &'_ ResourceInstanceChange| -> Vec<AbsResource> {
        let stored = prior
            .as_ref()
            .filter(|_| change.action.is_replace())
            .and_then(|state| state.object(&change.address));
        match stored {
            Some(object) => object.dependencies.iter().map(block).collect(),
            None => change.dependencies.iter().map(block).collect(),
        }
    };
    for change in plan.changes.iter().filter(|c| c.deposed.is_none()) {
        let Some(node) = destroyed_by.get(&change.address) else {
            continue;
        };
        let own = block(&change.address.abs_resource());
        for dependency in former(change) {
            let wanted = destroyed_in
                .get(&dependency)
                .map(Vec::as_slice)
                .unwrap_or_default();
            if wanted.is_empty() || dependency == own {
                continue;
            }
            if let Some(missing) = orders.not_reached(*node, &dependency, wanted) {
                // Where the state has blocks made from each other, no order keeps to all of it.
                let circles = circles.get_or_insert_with(|| {
                    let destroyed = |c: &&ResourceInstanceChange| {
                        c.action.is_replace() || c.action == Action::Delete
                    };
                    circles_of(plan.changes.iter().filter(destroyed).map(|c| {
                        let own = block(&c.address.abs_resource());
                        (own, former(c))
                    }))
                });
                let circle = |b: &AbsResource| circles.get(b);
                if circle(&own).is_some()
                    && circle(&own) == circle(&dependency)
                    && orders.leads(missing, *node)
                {
                    continue;
                }
                let name = plan
                    .graph
                    .get(missing)
                    .map(|n| n.kind.text())
                    .unwrap_or_default();
                defects.push(Defect(format!(
                    "{name} does not wait for the destruction of {}, which depends on it",
                    change.address
                )));
            }
        }
    }
}

/// The circle that each block is in, of those made from each other, near or far.
fn circles_of(
    made_from: impl Iterator<Item = (AbsResource, Vec<AbsResource>)>,
) -> FxHashMap<AbsResource, usize> {
    let mut near: BTreeMap<AbsResource, BTreeSet<AbsResource>> = BTreeMap::new();
    for (own, used) in made_from {
        near.entry(own).or_default().extend(used);
    }
    let reach = |from: &AbsResource| {
        let mut open = vec![from];
        let mut seen = BTreeSet::new();
        while let Some(b) = open.pop() {
            for next in near.get(b).into_iter().flatten() {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let mut circles = FxHashMap::default();
    for (number, start) in near.keys().enumerate() {
        if circles.contains_key(start) {
            continue;
        }
        let reached = reach(start);
        if !reached.contains(start) {
            continue;
        }
        for other in reached {
            if reach(other).contains(start) {
                circles.insert(other.clone(), number);
            }
        }
    }
    circles
}

/// A resource without the keys of its module: stored dependencies have none.
fn block(resource: &AbsResource) -> AbsResource {
    resource
        .resource
        .in_module(&resource.module.path().unkeyed_instance())
}

/// What waits for what, with what is learnt of joins remembered, so that a thousand instances that
/// share a join cost one look at it.
struct Orders<'p> {
    plan: &'p Plan,
    after: Vec<Vec<NodeId>>,
    /// Operations that wait for a join, directly or through further joins.
    through: FxHashMap<NodeId, FxHashSet<NodeId>>,
    /// Of what destroys a resource, what waits for none of some joins.
    beyond: FxHashMap<(Vec<NodeId>, AbsResource), Vec<NodeId>>,
}

impl<'p> Orders<'p> {
    fn new(plan: &'p Plan) -> Self {
        let (after, _) = plan.graph.schedule();
        Self {
            plan,
            after,
            through: FxHashMap::default(),
            beyond: FxHashMap::default(),
        }
    }

    fn next(&self, id: NodeId) -> &[NodeId] {
        self.after
            .get(id.0 as usize)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The first of `wanted`, which destroy `resource`, that does not wait for `from`.
    fn not_reached(
        &mut self,
        from: NodeId,
        resource: &AbsResource,
        wanted: &[NodeId],
    ) -> Option<NodeId> {
        let (joins, direct): (Vec<NodeId>, Vec<NodeId>) = self
            .next(from)
            .iter()
            .copied()
            .partition(|id| is_join(self.plan, *id));
        let missing = match self.beyond.entry((joins.clone(), resource.clone())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let mut missing: Vec<NodeId> = wanted.to_vec();
                for join in &joins {
                    let reached = through_join(self.plan, &self.after, &mut self.through, *join);
                    missing.retain(|w| !reached.contains(w));
                }
                new.insert(missing)
            }
        };
        if missing.is_empty() {
            return None;
        }
        let direct: FxHashSet<NodeId> = direct.into_iter().collect();
        missing.iter().copied().find(|w| !direct.contains(w))
    }

    /// Whether an operation comes after another, directly or not.
    fn leads(&self, from: NodeId, to: NodeId) -> bool {
        let mut open = vec![from];
        let mut seen = FxHashSet::default();
        while let Some(id) = open.pop() {
            if id == to {
                return true;
            }
            if seen.insert(id) {
                open.extend_from_slice(self.next(id));
            }
        }
        false
    }
}

/// Operations that wait for a join, directly or through further joins.
fn through_join<'t>(
    plan: &Plan,
    after: &[Vec<NodeId>],
    through: &'t mut FxHashMap<NodeId, FxHashSet<NodeId>>,
    join: NodeId,
) -> &'t FxHashSet<NodeId> {
    through.entry(join).or_insert_with(|| {
        let next = |id: NodeId| after.get(id.0 as usize).map_or(&[][..], Vec::as_slice);
        let mut reached = FxHashSet::default();
        let mut seen = FxHashSet::default();
        let mut open = next(join).to_vec();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                if is_join(plan, id) {
                    open.extend_from_slice(next(id));
                } else {
                    reached.insert(id);
                }
            }
        }
        reached
    })
}

fn is_join(plan: &Plan, id: NodeId) -> bool {
    let node = plan.graph.get(id);
    node.is_some_and(|n| matches!(n.kind, OperationKind::Join(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_addresses::{AbsProviderConfig, ProviderAddr};
    use formwork_values::{Type, Value};

    fn change(address: &str, action: Action, depends: &[&str]) -> ResourceInstanceChange {
        ResourceInstanceChange {
            address: address.parse().expect("an address"),
            previous_address: None,
            deposed: None,
            provider: AbsProviderConfig::root_default(ProviderAddr::implied("terraform")),
            action,
            reason: None,
            before: Value::null(Type::Dynamic),
            after: Value::null(Type::Dynamic),
            replace_paths: Vec::new(),
            planned_private: [].into(),
            schema_version: 0,
            dependencies: depends
                .iter()
                .map(|d| d.parse().expect("an address"))
                .collect(),
            create_before_destroy: false,
            importing: None,
            legacy_type_system: false,
            identity: Default::default(),
        }
    }

    /// A plan that deletes `b.x`, on which `a.x` depends, with or without the order between them.
    fn two_deletes(ordered: bool, through_join: bool) -> Plan {
        let changes = vec![
            change("a.x", Action::Delete, &["b.x"]),
            change("b.x", Action::Delete, &[]),
        ];
        let mut plan = Plan {
            changes,
            ..Plan::default()
        };
        let g = &mut plan.graph;
        let a = g.add(
            OperationKind::Destroy(plan.changes[0].address.clone()),
            Some(0),
        );
        let b = g.add(
            OperationKind::Destroy(plan.changes[1].address.clone()),
            Some(1),
        );
        if ordered && through_join {
            let j = g.add(OperationKind::Join("b.x may go".into()), None);
            g.order(a, j);
            g.order(j, b);
        } else if ordered {
            g.order(a, b);
        }
        plan
    }

    #[test]
    fn destroys_must_wait() {
        assert_eq!(verify(&two_deletes(true, false)), []);
        assert_eq!(verify(&two_deletes(true, true)), []);
        let defects = verify(&two_deletes(false, false));
        assert_eq!(
            defects,
            [Defect(
                "destroy b.x does not wait for the destruction of a.x, which depends on it".into()
            )]
        );
    }

    #[test]
    fn every_change_is_carried_out_once() {
        let changes = vec![change("a.x", Action::Create, &[])];
        let mut plan = Plan {
            changes,
            ..Plan::default()
        };
        assert_eq!(verify(&plan).len(), 1, "nothing makes it");
        let make = OperationKind::Make(plan.changes[0].address.clone());
        plan.graph.add(make.clone(), Some(0));
        assert_eq!(verify(&plan), []);
        plan.graph.add(make, Some(0));
        assert_eq!(verify(&plan), [Defect("make a.x is there twice".into())]);
    }

    #[test]
    fn operations_are_those_of_their_changes() {
        let check = |changes: &[(&str, Action, Option<&str>)],
                     nodes: &[(&str, &str, Option<&str>, u32)],
                     orders: &[(u32, u32)],
                     wanted: &[&str]| {
            let key = |k: &str| k.parse::<formwork_addresses::DeposedKey>().expect("a key");
            let mut plan = Plan {
                changes: changes
                    .iter()
                    .map(|(address, action, deposed)| ResourceInstanceChange {
                        deposed: deposed.map(key),
                        ..change(address, *action, &[])
                    })
                    .collect(),
                ..Plan::default()
            };
            for (word, address, deposed, of) in nodes {
                let address: AbsResourceInstance = address.parse().expect("an address");
                let kind = match (*word, deposed) {
                    ("make", _) => OperationKind::Make(address),
                    (_, Some(k)) => OperationKind::DestroyDeposed(address, key(k)),
                    _ => OperationKind::Destroy(address),
                };
                plan.graph.add(kind, Some(*of));
            }
            for (a, b) in orders {
                plan.graph.order(NodeId(*a), NodeId(*b));
            }
            let found: Vec<String> = verify(&plan).into_iter().map(|d| d.0).collect();
            assert_eq!(found, wanted);
        };
        let k = Some("0123abcd");
        check(
            &[("a.x", Action::Create, None)],
            &[("make", "a.y", None, 0)],
            &[],
            &["make a.y is to carry out the change of a.x"],
        );
        let deposed = ("a.x", Action::Delete, k);
        check(&[deposed], &[("destroy", "a.x", k, 0)], &[], &[]);
        check(
            &[deposed],
            &[("destroy", "a.x", None, 0)],
            &[],
            &["destroy a.x is to carry out the change of a.x (deposed object 0123abcd)"],
        );
        check(
            &[("a.x", Action::Delete, None)],
            &[("destroy", "a.x", k, 0)],
            &[],
            &["destroy a.x (deposed 0123abcd) is to carry out the change of a.x"],
        );
        check(
            &[("a.x", Action::Delete, None), deposed],
            &[("destroy", "a.x", None, 0), ("destroy", "a.x", k, 1)],
            &[],
            &[],
        );
        check(
            &[deposed, deposed],
            &[("destroy", "a.x", k, 0), ("destroy", "a.x", k, 1)],
            &[],
            &["a.x (deposed object 0123abcd) is to be changed twice"],
        );
        let halves = [("destroy", "a.x", None, 0), ("make", "a.x", None, 0)];
        for (action, good, bad) in [
            (
                Action::DeleteThenCreate,
                (0, 1),
                "make a.x does not wait for destroy a.x",
            ),
            (
                Action::CreateThenDelete,
                (1, 0),
                "destroy a.x does not wait for make a.x",
            ),
        ] {
            let changes = [("a.x", action, None)];
            check(&changes, &halves, &[good], &[]);
            check(&changes, &halves, &[], &[bad]);
            check(&changes, &halves, &[(good.1, good.0)], &[bad]);
        }
    }

    #[test]
    fn circles_are_named() {
        let mut plan = two_deletes(true, false);
        plan.graph.order(NodeId(1), NodeId(0));
        assert_eq!(
            verify(&plan),
            [Defect(
                "operations wait for each other: destroy a.x, destroy b.x".into()
            )]
        );
    }
}
