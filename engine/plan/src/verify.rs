//! The verifier: what must hold of a plan before anything is done by it.
//!
//! It runs after planning (a fault of ours becomes an error instead of a lost object) and again
//! before apply (a file may come from another build). It costs linear time.

use crate::Plan;
use crate::action::Action;
use crate::execution::{NodeId, OperationKind};
use formwork_addresses::{AbsResource, AbsResourceInstance};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

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
    changes_are_carried_out(plan, &mut defects);
    destroys_come_after_dependents(plan, &mut defects);
    defects
}

/// Each change has exactly the operations that its action needs, and no operation lacks a change.
fn changes_are_carried_out(plan: &Plan, defects: &mut Vec<Defect>) {
    let mut of_change: Vec<BTreeSet<&'static str>> = vec![BTreeSet::new(); plan.changes.len()];
    for node in plan.graph.nodes() {
        let word = match &node.kind {
            OperationKind::Make(_) => "make",
            OperationKind::Destroy(_) | OperationKind::DestroyDeposed(..) => "destroy",
            OperationKind::ReadData(_) => "read",
            OperationKind::Forget(_) => "forget",
            _ => continue,
        };
        let known = node.change.and_then(|c| of_change.get_mut(c as usize));
        match known {
            Some(words) => {
                if !words.insert(word) {
                    defects.push(Defect(format!("{} is there twice", node.kind.text())));
                }
            }
            None => defects.push(Defect(format!(
                "{} carries out no change",
                node.kind.text()
            ))),
        }
    }
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
        let found: BTreeSet<&str> = words.iter().copied().collect();
        if needed != found {
            defects.push(Defect(format!(
                "{} is to be {} by [{}], but the graph has [{}]",
                change.display_address(),
                change.action.word(),
                needed.into_iter().collect::<Vec<_>>().join(", "),
                found.into_iter().collect::<Vec<_>>().join(", ")
            )));
        }
    }
}

/// An object is destroyed only after what depends on it is destroyed: between the two there is an
/// order, directly or through joins.
fn destroys_come_after_dependents(plan: &Plan, defects: &mut Vec<Defect>) {
    let mut destroyed_by: HashMap<&AbsResourceInstance, NodeId> = HashMap::new();
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
    let replaces = plan.changes.iter().any(|c| c.action.is_replace());
    let prior = (replaces && !plan.prior.refreshed.is_empty())
        .then(|| formwork_state::v4::read(&plan.prior.refreshed, "the plan's state").0)
        .flatten()
        .map(|snapshot| snapshot.state);
    for change in plan.changes.iter().filter(|c| c.deposed.is_none()) {
        let Some(node) = destroyed_by.get(&change.address) else {
            continue;
        };
        let own = block(&change.address.abs_resource());
        // What a replacement makes may be made from other things than what it destroys.
        let former = prior
            .as_ref()
            .filter(|_| change.action.is_replace())
            .and_then(|state| state.object(&change.address))
            .map_or(&*change.dependencies, |object| &*object.dependencies);
        for dependency in former.iter().map(block) {
            let wanted = destroyed_in
                .get(&dependency)
                .map(Vec::as_slice)
                .unwrap_or_default();
            if wanted.is_empty() || dependency == own {
                continue;
            }
            if let Some(missing) = orders.not_reached(*node, &dependency, wanted) {
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
    through: HashMap<NodeId, HashSet<NodeId>>,
    /// Whether everything that destroys a resource waits for a join.
    covers: HashMap<(NodeId, AbsResource), bool>,
}

impl<'p> Orders<'p> {
    fn new(plan: &'p Plan) -> Self {
        let (after, _) = plan.graph.schedule();
        Self {
            plan,
            after,
            through: HashMap::new(),
            covers: HashMap::new(),
        }
    }

    fn next(&self, id: NodeId) -> &[NodeId] {
        self.after
            .get(id.0 as usize)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    fn is_join(&self, id: NodeId) -> bool {
        self.plan
            .graph
            .get(id)
            .is_some_and(|n| matches!(n.kind, OperationKind::Join(_)))
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
            .partition(|id| self.is_join(*id));
        for join in &joins {
            let key = (*join, resource.clone());
            let covered = match self.covers.get(&key) {
                Some(known) => *known,
                None => {
                    let reached = self.through_join(*join);
                    let all = wanted.iter().all(|w| reached.contains(w));
                    self.covers.insert(key, all);
                    all
                }
            };
            if covered {
                return None;
            }
        }
        let direct: HashSet<NodeId> = direct.into_iter().collect();
        let missing: Vec<NodeId> = wanted
            .iter()
            .copied()
            .filter(|w| !direct.contains(w))
            .collect();
        missing
            .into_iter()
            .find(|w| !joins.iter().any(|j| self.through_join(*j).contains(w)))
    }

    fn through_join(&mut self, join: NodeId) -> &HashSet<NodeId> {
        if !self.through.contains_key(&join) {
            let mut reached = HashSet::new();
            let mut seen = HashSet::new();
            let mut open = self.next(join).to_vec();
            while let Some(id) = open.pop() {
                if seen.insert(id) {
                    if self.is_join(id) {
                        open.extend_from_slice(self.next(id));
                    } else {
                        reached.insert(id);
                    }
                }
            }
            self.through.insert(join, reached);
        }
        self.through.entry(join).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ResourceInstanceChange;
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
