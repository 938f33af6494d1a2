//! From changes to the execution graph: what is done in which order.
//!
//! Order comes from two sources: the configuration (what a block refers to now, through variables,
//! locals and outputs) for making, and the state (what an object was made from) for destroying. Both
//! are known per block, so orders run through joins and stay linear in instances plus references:
//!
//! - `made B`: everything of block B is made; what refers to B waits for it.
//! - `B may go`: what was made from B's objects is destroyed; destroying any of them waits for it. So
//!   does what is handled by a provider that B configures. Objects of one block that were made from
//!   different blocks are taken apart ([`crate::lots`]), each lot with a join of its own.
//! - `B may go late`: also, everything that refers to B is up to date. Deletions wait for it, and the
//!   former halves of replacements that are created first: their users must have turned to the new
//!   object. The former half of a replacement that is deleted first cannot wait so long, since its
//!   users wait for the new object in turn; nor can whatever was made from such a half, which has to
//!   be gone even before it.
//! - `B holds`: the conditions of B that only apply can decide are fulfilled. Whoever gets B's value
//!   waits for it.

use crate::lots::Lots;
use formwork_addresses::{
    AbsProviderConfig, AbsResource, AbsResourceInstance, ModulePath, Resource, ResourceMode,
};
use formwork_graph::Dag;
use formwork_plan::{
    Action, ActionReason, ExecutionGraph, NodeId, OperationKind, ResourceInstanceChange,
};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A block of the configuration, or one that only the state still knows.
pub type BlockAddress = (ModulePath, Resource);

/// The block that an instance or a stored dependency belongs to.
pub fn block_of(resource: &AbsResource) -> BlockAddress {
    (resource.module.path(), resource.resource.clone())
}

/// What refers to what, as far as resources go: the nearest ones, through everything that is none.
#[derive(Clone, Debug, Default)]
pub struct References {
    /// Per resource block.
    pub resources: BTreeMap<BlockAddress, BTreeSet<BlockAddress>>,
    /// Per provider block.
    pub providers: BTreeMap<AbsProviderConfig, BTreeSet<BlockAddress>>,
    /// Per output of the root module.
    pub outputs: BTreeMap<String, BTreeSet<BlockAddress>>,
    /// Per block with conditions that only apply can decide, by its address.
    pub checks: BTreeMap<String, Conditioned>,
}

/// Where a block with open conditions stands among the others.
#[derive(Clone, Debug, Default)]
pub struct Conditioned {
    /// What its conditions refer to.
    pub needs: BTreeSet<BlockAddress>,
    /// The resource whose conditions they are, if it is one's: it counts as made only once they hold.
    pub of: Option<BlockAddress>,
    /// Resource blocks that get its value, not through other resources.
    pub resources: BTreeSet<BlockAddress>,
    /// Provider blocks that do.
    pub providers: BTreeSet<AbsProviderConfig>,
    /// Outputs of the root module that do.
    pub outputs: BTreeSet<String>,
    /// Blocks with open conditions that do, by their addresses.
    pub checks: BTreeSet<String>,
}

/// Conditions of one instance that planning could not decide.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenCheck {
    /// The address of the block, without keys.
    pub block: String,
    /// The address of the instance.
    pub instance: String,
}

/// What must be done beside the changes.
#[derive(Clone, Debug, Default)]
pub struct Further {
    /// Outputs of the root module that change.
    pub outputs: Vec<String>,
    /// Checks and conditions that planning could not decide.
    pub checks: Vec<OpenCheck>,
    /// Provider configurations that were not wholly known when planning.
    pub unknown_providers: BTreeSet<AbsProviderConfig>,
    /// Ephemeral resources, each with who handles it. Those that something needs are opened.
    pub ephemeral: Vec<(AbsResourceInstance, AbsProviderConfig)>,
}

/// What is by block here is only looked up, so its order shows nowhere.
struct Builder<'a> {
    graph: ExecutionGraph,
    references: &'a References,
    made: FxHashMap<BlockAddress, NodeId>,
    makes: FxHashMap<BlockAddress, Vec<NodeId>>,
    configures: BTreeMap<AbsProviderConfig, NodeId>,
}

/// Builds the graph. `prior_dependencies` gives, per change, what its object in the state was made
/// from.
pub fn build(
    changes: &[ResourceInstanceChange],
    prior_dependencies: &[Vec<AbsResource>],
    references: &References,
    further: &Further,
) -> ExecutionGraph {
    let mut b = Builder {
        graph: ExecutionGraph::default(),
        references,
        made: FxHashMap::default(),
        makes: FxHashMap::default(),
        configures: BTreeMap::new(),
    };
    let mut providers: BTreeMap<AbsProviderConfig, Vec<NodeId>> = BTreeMap::new();
    let mut destroys: Vec<(usize, NodeId)> = Vec::new();
    let mut makes: Vec<(usize, NodeId)> = Vec::new();
    let mut last: Vec<NodeId> = Vec::new();
    for (i, change) in changes.iter().enumerate() {
        let index = Some(u32::try_from(i).unwrap_or(u32::MAX));
        let address = change.address.clone();
        let make = || OperationKind::Make(address.clone());
        let destroy = || match &change.deposed {
            Some(key) => OperationKind::DestroyDeposed(address.clone(), key.clone()),
            None => OperationKind::Destroy(address.clone()),
        };
        let mut nodes = Vec::new();
        match change.action {
            Action::NoOp => continue,
            Action::Create | Action::Update => {
                let node = b.graph.add(make(), index);
                makes.push((i, node));
                nodes.push(node);
            }
            Action::Read => {
                let node = b.graph.add(OperationKind::ReadData(address.clone()), index);
                makes.push((i, node));
                nodes.push(node);
                if change.reason == Some(ActionReason::ReadBecauseCheckNested) {
                    last.push(node);
                }
            }
            Action::Delete => {
                let node = b.graph.add(destroy(), index);
                destroys.push((i, node));
                nodes.push(node);
            }
            Action::DeleteThenCreate | Action::CreateThenDelete => {
                let (old, new) = (b.graph.add(destroy(), index), b.graph.add(make(), index));
                if change.action == Action::DeleteThenCreate {
                    b.graph.order(old, new);
                } else {
                    b.graph.order(new, old);
                }
                destroys.push((i, old));
                makes.push((i, new));
                nodes.extend([old, new]);
            }
            Action::Forget => {
                // No provider is asked, so none has to be configured for it.
                b.graph.add(OperationKind::Forget(address.clone()), index);
                continue;
            }
        }
        providers
            .entry(change.provider.clone())
            .or_default()
            .extend(nodes);
    }
    for (i, node) in &makes {
        if let Some(change) = changes.get(*i) {
            b.makes
                .entry(block_of(&change.address.abs_resource()))
                .or_default()
                .push(*node);
        }
    }
    if !further.ephemeral.is_empty() {
        let needed = b.needed(&providers, further);
        for (address, config) in &further.ephemeral {
            let block = block_of(&address.abs_resource());
            if needed.contains(&block) {
                let node = b
                    .graph
                    .add(OperationKind::OpenEphemeral(address.clone()), None);
                b.makes.entry(block).or_default().push(node);
                providers.entry(config.clone()).or_default().push(node);
            }
        }
    }
    let anything = !b.graph.is_empty() || !further.checks.is_empty();
    if anything {
        b.order_makes();
        order_destroys(
            &mut b,
            changes,
            prior_dependencies,
            &destroys,
            &makes,
            &further.unknown_providers,
        );
        configure_providers(&mut b, &providers, further);
    }
    read_last(&mut b.graph, &last);
    b.outputs_and_checks(further, anything);
    b.graph
}

/// What only a check looks at is read when everything else is done, as it is then.
fn read_last(graph: &mut ExecutionGraph, last: &[NodeId]) {
    if last.is_empty() {
        return;
    }
    let others: Vec<NodeId> = graph
        .nodes()
        .iter()
        .zip(0u32..)
        .filter(|(n, id)| n.change.is_some() && !last.contains(&NodeId(*id)))
        .map(|(_, id)| NodeId(id))
        .collect();
    let join = graph.add(OperationKind::Join("everything else done".to_owned()), None);
    for node in others {
        graph.order(node, join);
    }
    for node in last {
        graph.order(join, *node);
    }
}

impl Builder<'_> {
    /// Every block whose value is asked for by what is done, through providers and ephemeral resources,
    /// too: those exist only while they are open. Of everything else that nothing is done to the value
    /// is there.
    fn needed(
        &self,
        providers: &BTreeMap<AbsProviderConfig, Vec<NodeId>>,
        further: &Further,
    ) -> BTreeSet<BlockAddress> {
        let references = self.references;
        let near = |block: &BlockAddress| references.resources.get(block).into_iter().flatten();
        let mut open: Vec<&BlockAddress> = self.makes.keys().flat_map(near).collect();
        let of_provider = |config: &AbsProviderConfig| {
            references
                .providers
                .get(&config.block())
                .into_iter()
                .flatten()
        };
        open.extend(providers.keys().flat_map(of_provider));
        for name in &further.outputs {
            open.extend(references.outputs.get(name).into_iter().flatten());
        }
        for check in &further.checks {
            let block = references.checks.get(&check.block);
            open.extend(block.into_iter().flat_map(|c| c.needs.iter().chain(&c.of)));
        }
        let mut handlers: BTreeMap<BlockAddress, Vec<&AbsProviderConfig>> = BTreeMap::new();
        for (address, config) in &further.ephemeral {
            let block = block_of(&address.abs_resource());
            handlers.entry(block).or_default().push(config);
        }
        let mut needed = BTreeSet::new();
        while let Some(block) = open.pop() {
            if !needed.insert(block.clone()) || block.1.mode != ResourceMode::Ephemeral {
                continue;
            }
            open.extend(near(block));
            for config in handlers.get(block).into_iter().flatten() {
                open.extend(of_provider(config));
            }
        }
        needed
    }

    /// The join after which everything of a block is made.
    fn made(&mut self, block: &BlockAddress) -> NodeId {
        if let Some(join) = self.made.get(block) {
            return *join;
        }
        let join = self
            .graph
            .add(OperationKind::Join(join_name(block, "made")), None);
        for node in self.makes.get(block).into_iter().flatten() {
            self.graph.order(*node, join);
        }
        self.made.insert(block.clone(), join);
        join
    }

    fn join_of(&mut self, lots: &Lots, lot: usize, what: &str) -> NodeId {
        let name = lots.name(lot).map(|block| join_name(block, what));
        let name = name.unwrap_or_else(|| what.to_owned());
        self.graph.add(OperationKind::Join(name), None)
    }

    /// Everything of a block is made after everything of the blocks that it refers to.
    fn order_makes(&mut self) {
        let references = self.references;
        for (block, dependencies) in &references.resources {
            // Who waits for a block that waits for nothing finds its makes by itself.
            if dependencies.is_empty() {
                continue;
            }
            let join = self.made(block);
            for dependency in dependencies {
                let before = self.made(dependency);
                self.graph.order(before, join);
                for node in self.makes.get(block).into_iter().flatten() {
                    self.graph.order(before, *node);
                }
            }
        }
    }
}

impl Builder<'_> {
    /// Outputs and open conditions come after what they refer to, and whoever gets a block's value
    /// comes after its conditions: where one fails, nothing is made of the value.
    fn outputs_and_checks(&mut self, further: &Further, anything: bool) {
        let references = self.references;
        let mut outputs: BTreeMap<&str, NodeId> = BTreeMap::new();
        for name in &further.outputs {
            let node = self.graph.add(OperationKind::Output(name.clone()), None);
            outputs.insert(name, node);
            if anything {
                for block in references.outputs.get(name).into_iter().flatten() {
                    let made = self.made(block);
                    self.graph.order(made, node);
                }
            }
        }
        let mut checks: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
        for open in &further.checks {
            let kind = OperationKind::Check(open.instance.clone());
            let node = self.graph.add(kind, None);
            checks.entry(&open.block).or_default().push(node);
        }
        for (name, nodes) in &checks {
            let Some(block) = references.checks.get(*name) else {
                continue;
            };
            for needed in &block.needs {
                let made = self.made(needed);
                for node in nodes {
                    self.graph.order(made, *node);
                }
            }
            let mut users: Vec<NodeId> = Vec::new();
            users.extend(block.of.as_ref().map(|own| self.made(own)));
            for user in &block.resources {
                users.push(self.made(user));
                users.extend(self.makes.get(user).into_iter().flatten());
            }
            // As with what it refers to: a configuration that was known needs to wait for nothing.
            let waits = |p: &AbsProviderConfig| {
                further.unknown_providers.contains(p) && block.providers.contains(&p.block())
            };
            let providers = self.configures.iter().filter(|(p, _)| waits(p));
            users.extend(providers.map(|(_, node)| *node));
            users.extend(block.outputs.iter().filter_map(|o| outputs.get(&**o)));
            for other in block.checks.iter().filter(|o| o != name) {
                users.extend(checks.get(&**other).into_iter().flatten());
            }
            if users.is_empty() {
                continue;
            }
            let holds = self
                .graph
                .add(OperationKind::Join(format!("{name} holds")), None);
            for node in nodes {
                self.graph.order(*node, holds);
            }
            for user in users {
                self.graph.order(holds, user);
            }
        }
    }
}

/// Provider configurations that wait for something to be made anew which is deleted only after what they
/// are to destroy: each with the objects whose destruction waits for it.
pub fn configured_too_late(
    graph: &ExecutionGraph,
) -> BTreeMap<AbsProviderConfig, BTreeSet<String>> {
    let mut late: BTreeMap<AbsProviderConfig, BTreeSet<String>> = BTreeMap::new();
    if graph.topological().is_ok() {
        return late;
    }
    // whoever waits depends on what it waits for
    let edges = graph.edges().iter().map(|(first, then)| (then.0, first.0));
    let waiting = Dag::new(graph.nodes().len(), edges);
    for circle in waiting.circles() {
        for config in &circle {
            let Some(OperationKind::ConfigureProvider(provider)) =
                graph.get(NodeId(*config)).map(|n| &n.kind)
            else {
                continue;
            };
            let users = waiting.dependents(*config).iter();
            let users = users.filter(|u| circle.binary_search(u).is_ok());
            let destroyed = users.filter_map(|u| match &graph.get(NodeId(*u))?.kind {
                OperationKind::Destroy(a) | OperationKind::DestroyDeposed(a, _) => {
                    Some(a.to_string())
                }
                _ => None,
            });
            late.entry(provider.clone()).or_default().extend(destroyed);
        }
    }
    late
}

fn join_name(block: &BlockAddress, what: &str) -> String {
    let (module, resource) = block;
    if module.is_root() {
        format!("{resource} {what}")
    } else {
        format!("{module}.{resource} {what}")
    }
}

fn order_destroys(
    b: &mut Builder<'_>,
    changes: &[ResourceInstanceChange],
    prior_dependencies: &[Vec<AbsResource>],
    destroys: &[(usize, NodeId)],
    makes: &[(usize, NodeId)],
    unknown_providers: &BTreeSet<AbsProviderConfig>,
) {
    let references = b.references;
    let destroyed = destroys.iter().map(|(i, _)| *i);
    let lots = Lots::new(
        changes,
        prior_dependencies,
        destroyed,
        references,
        unknown_providers,
    );
    let may_go: Vec<NodeId> = (0..lots.len())
        .map(|lot| b.join_of(&lots, lot, "may go"))
        .collect();
    // Deletions cannot wait for their users where something that they were made from is deleted before
    // it is made anew: the users wait for that.
    let deleted_first = destroys.iter().enumerate().filter_map(|(object, (i, _))| {
        let action = changes.get(*i)?.action;
        lots.of(object)
            .filter(|_| action == Action::DeleteThenCreate)
    });
    let urgent = lots.everything_from(deleted_first);
    let mut may_go_late: BTreeMap<usize, NodeId> = BTreeMap::new();
    for (object, (i, node)) in destroys.iter().enumerate() {
        let (Some(change), Some(lot)) = (changes.get(*i), lots.of(object)) else {
            continue;
        };
        b.graph.order(may_go[lot], *node);
        for used in lots.made_from(lot) {
            b.graph.order(*node, may_go[*used]);
        }
        if change.action != Action::DeleteThenCreate && !urgent.contains(&lot) {
            let late = *may_go_late
                .entry(lot)
                .or_insert_with(|| b.join_of(&lots, lot, "may go late"));
            b.graph.order(late, *node);
        }
    }
    // Whoever refers to a block now, or did when it was made, turns away before the block's objects
    // go for good.
    for (i, node) in makes {
        let Some(change) = changes.get(*i) else {
            continue;
        };
        let own = block_of(&change.address.abs_resource());
        let stored = prior_dependencies.get(*i).into_iter().flatten();
        for dependency in stored.map(block_of).filter(|d| *d != own) {
            for lot in lots.of_block(&dependency) {
                if let Some(join) = may_go_late.get(lot) {
                    b.graph.order(*node, *join);
                }
            }
        }
    }
    for (block, dependencies) in &references.resources {
        for dependency in dependencies {
            for lot in lots.of_block(dependency) {
                if let Some(late) = may_go_late.get(lot).copied() {
                    let made = b.made(block);
                    b.graph.order(made, late);
                }
            }
        }
    }
}

fn configure_providers(
    b: &mut Builder<'_>,
    users: &BTreeMap<AbsProviderConfig, Vec<NodeId>>,
    further: &Further,
) {
    for (provider, nodes) in users {
        let configure = b
            .graph
            .add(OperationKind::ConfigureProvider(provider.clone()), None);
        b.configures.insert(provider.clone(), configure);
        for node in nodes {
            b.graph.order(configure, *node);
        }
        let blocks = b.references.providers.get(&provider.block());
        // What is ephemeral is known to nobody before it is opened.
        for block in blocks.into_iter().flatten() {
            if block.1.mode == ResourceMode::Ephemeral {
                let made = b.made(block);
                b.graph.order(made, configure);
            }
        }
        // A configuration that was known when planning needs nothing that this run makes.
        if further.unknown_providers.contains(provider) {
            for block in blocks.into_iter().flatten() {
                let made = b.made(block);
                b.graph.order(made, configure);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_addresses::{AbsResourceInstance, DeposedKey, ProviderAddr};
    use formwork_plan::{Plan, verify};
    use formwork_values::{Type, Value};

    fn change(address: &str, action: Action, depends: &[&str]) -> ResourceInstanceChange {
        let null = Value::null(Type::Dynamic);
        ResourceInstanceChange {
            address: address.parse::<AbsResourceInstance>().expect("an address"),
            previous_address: None,
            deposed: None,
            provider: AbsProviderConfig::root_default(ProviderAddr::implied("terraform")),
            action,
            reason: None,
            before: null.clone(),
            after: null,
            replace_paths: Vec::new(),
            planned_private: [].into(),
            schema_version: 0,
            dependencies: depends
                .iter()
                .map(|d| d.parse().expect("an address"))
                .collect(),
            create_before_destroy: action == Action::CreateThenDelete,
            importing: None,
            legacy_type_system: false,
            identity: Default::default(),
        }
    }

    fn block(text: &str) -> BlockAddress {
        block_of(&text.parse().expect("an address"))
    }

    /// `x.c` refers to `x.b`, which refers to `x.a`.
    fn chain(actions: [Action; 3]) -> Plan {
        let [a, b, c] = actions;
        let changes = vec![
            change("x.a", a, &[]),
            change("x.b", b, &["x.a"]),
            change("x.c", c, &["x.b"]),
        ];
        let prior: Vec<Vec<AbsResource>> = changes.iter().map(|c| c.dependencies.clone()).collect();
        let mut references = References::default();
        references.resources.insert(block("x.a"), BTreeSet::new());
        references
            .resources
            .insert(block("x.b"), [block("x.a")].into());
        references
            .resources
            .insert(block("x.c"), [block("x.b")].into());
        let graph = build(&changes, &prior, &references, &Further::default());
        Plan {
            changes,
            graph,
            ..Plan::default()
        }
    }

    /// The order in which operations end up, joins and providers left out.
    fn order(plan: &Plan) -> String {
        assert_eq!(verify(plan), []);
        let order = plan.graph.topological().expect("acyclic");
        let words: Vec<String> = order
            .iter()
            .filter_map(|id| plan.graph.get(*id))
            .filter(|n| n.change.is_some())
            .map(|n| n.kind.text().replace(" x.", " "))
            .collect();
        words.join(", ")
    }

    #[test]
    fn every_mix_of_actions_is_in_order() {
        use Action::{Create, CreateThenDelete, Delete, DeleteThenCreate, NoOp, Update};
        assert_eq!(order(&chain([Create; 3])), "make a, make b, make c");
        assert_eq!(
            order(&chain([Delete; 3])),
            "destroy c, destroy b, destroy a"
        );
        assert_eq!(
            order(&chain([DeleteThenCreate; 3])),
            "destroy c, destroy b, destroy a, make a, make b, make c"
        );
        assert_eq!(
            order(&chain([CreateThenDelete; 3])),
            "make a, make b, make c, destroy c, destroy b, destroy a"
        );
        assert_eq!(
            order(&chain([CreateThenDelete, Update, NoOp])),
            "make a, make b, destroy a"
        );
        assert_eq!(
            order(&chain([NoOp, DeleteThenCreate, Update])),
            "destroy b, make b, make c"
        );
        // every combination is acyclic and verified
        let all = [
            NoOp,
            Create,
            Update,
            Delete,
            DeleteThenCreate,
            CreateThenDelete,
        ];
        for a in all {
            for b in all {
                for c in all {
                    // create_before_destroy spreads to what is depended on, so the planner never
                    // makes a user first of something that is deleted first
                    let spreads = |user, used| user != CreateThenDelete || used != DeleteThenCreate;
                    if spreads(b, a) && spreads(c, b) && spreads(c, a) {
                        order(&chain([a, b, c]));
                    }
                }
            }
        }
    }

    /// Which of `x.a`, `x.b` and `x.c` refer to which others: all graphs, those with a circle last,
    /// each as what a block refers to.
    fn graphs() -> Vec<[Vec<usize>; 3]> {
        let pairs = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)];
        let mut graphs = Vec::new();
        for mask in 0u32..64 {
            let mut graph: [Vec<usize>; 3] = Default::default();
            for (bit, (user, used)) in pairs.iter().enumerate() {
                if mask & (1 << bit) != 0 {
                    graph[*user].push(*used);
                }
            }
            graphs.push(graph);
        }
        let circle = |g: &[Vec<usize>; 3]| (0..3).any(|n| reached(g, n).contains(&n));
        graphs.sort_by_key(circle);
        graphs
    }

    /// Everything that a block refers to, near and far.
    fn reached(graph: &[Vec<usize>; 3], from: usize) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut open = graph[from].clone();
        while let Some(n) = open.pop() {
            if seen.insert(n) {
                open.extend(&graph[n]);
            }
        }
        seen
    }

    /// Whatever the state's objects were made from, be it from each other, and whatever their blocks
    /// refer to now.
    #[test]
    fn every_change_of_references_is_in_order() {
        use Action::{Create, CreateThenDelete, Delete, DeleteThenCreate, NoOp, Update};
        const NAMES: [&str; 3] = ["x.a", "x.b", "x.c"];
        let all = [
            NoOp,
            Create,
            Update,
            Delete,
            DeleteThenCreate,
            CreateThenDelete,
        ];
        let graphs = graphs();
        let (straight, _) = graphs.split_at(25);
        // the names are interchangeable, so one of two graphs can keep to their order
        let in_order = |g: &&[Vec<usize>; 3]| (0..3).all(|n| g[n].iter().all(|d| *d < n));
        let mut tried = 0;
        for now in straight.iter().filter(in_order) {
            let references = References {
                resources: (0..3)
                    .map(|n| {
                        let used = now[n].iter().map(|d| block(NAMES[*d])).collect();
                        (block(NAMES[n]), used)
                    })
                    .collect(),
                ..References::default()
            };
            for then in &graphs {
                for mix in 0..all.len().pow(3) {
                    let actions = [all[mix % 6], all[mix / 6 % 6], all[mix / 36]];
                    // What is created was not made from anything, and nothing from it; nothing refers
                    // to what is deleted; create_before_destroy spreads to what is referred to.
                    let real = (0..3).all(|n| match actions[n] {
                        Create => then[n].is_empty() && then.iter().all(|t| !t.contains(&n)),
                        Delete => now[n].is_empty() && now.iter().all(|u| !u.contains(&n)),
                        CreateThenDelete => reached(now, n)
                            .iter()
                            .all(|used| actions[*used] != DeleteThenCreate),
                        _ => true,
                    });
                    if !real {
                        continue;
                    }
                    tried += 1;
                    let changes: Vec<ResourceInstanceChange> = (0..3)
                        .map(|n| {
                            let from: Vec<&str> = then[n].iter().map(|d| NAMES[*d]).collect();
                            change(NAMES[n], actions[n], &from)
                        })
                        .collect();
                    let prior: Vec<Vec<AbsResource>> =
                        changes.iter().map(|c| c.dependencies.clone()).collect();
                    let graph = build(&changes, &prior, &references, &Further::default());
                    let plan = Plan {
                        changes,
                        graph,
                        ..Plan::default()
                    };
                    assert_eq!(verify(&plan), [], "{actions:?}, then {then:?}, now {now:?}");
                }
            }
        }
        assert!(tried > 5_000, "{tried}");
    }

    /// Present and former objects of two blocks, made from each other in every way.
    #[test]
    fn former_objects_have_an_order_of_their_own() {
        use Action::{CreateThenDelete, Delete, DeleteThenCreate, Update};
        let key = || DeposedKey::from_bytes([1; 4]);
        let mut tried = 0;
        for mask in 0..16u32 {
            let from = |bit: u32, other: &'static str| match mask & (1 << bit) {
                0 => Vec::new(),
                _ => vec![other],
            };
            for first in [Update, Delete, DeleteThenCreate, CreateThenDelete] {
                for second in [Update, Delete, DeleteThenCreate, CreateThenDelete] {
                    if (first, second) == (DeleteThenCreate, CreateThenDelete) {
                        continue;
                    }
                    let mut changes = vec![
                        change("x.a", first, &from(0, "x.b")),
                        change("x.a", Delete, &from(1, "x.b")),
                        change("x.b", second, &from(2, "x.a")),
                        change("x.b", Delete, &from(3, "x.a")),
                    ];
                    changes[1].deposed = Some(key());
                    changes[3].deposed = Some(key());
                    let prior: Vec<Vec<AbsResource>> =
                        changes.iter().map(|c| c.dependencies.clone()).collect();
                    let mut references = References::default();
                    // what is deleted for good is not configured
                    if first != Delete && second != Delete {
                        let used = [block("x.a")].into();
                        references.resources.insert(block("x.b"), used);
                    }
                    let graph = build(&changes, &prior, &references, &Further::default());
                    let plan = Plan {
                        changes,
                        graph,
                        ..Plan::default()
                    };
                    assert_eq!(verify(&plan), [], "{mask:04b} {first:?} {second:?}");
                    tried += 1;
                }
            }
        }
        assert_eq!(tried, 16 * 15);
        // `a` was made from `b`, and replaced when that was turned round; the old one is still there
        let mut changes = vec![
            change("x.a", Delete, &[]),
            change("x.a", Delete, &["x.b"]),
            change("x.b", Delete, &["x.a"]),
        ];
        changes[1].deposed = Some(key());
        let prior: Vec<Vec<AbsResource>> = changes.iter().map(|c| c.dependencies.clone()).collect();
        let none = (&References::default(), &Further::default());
        let graph = build(&changes, &prior, none.0, none.1);
        let plan = Plan {
            changes,
            graph,
            ..Plan::default()
        };
        let wanted = "destroy a (deposed 01010101), destroy b, destroy a";
        assert_eq!(order(&plan), wanted);
    }

    /// An object is destroyed by a provider that is configured by what was made from it.
    #[test]
    fn providers_are_no_reason_to_wait_for_each_other() {
        let mut changes = vec![
            change("x.a", Action::Delete, &[]),
            change("x.b", Action::Delete, &["x.a"]),
        ];
        let handler = AbsProviderConfig::root_default(ProviderAddr::implied("other"));
        changes[0].provider = handler.clone();
        let prior: Vec<Vec<AbsResource>> = changes.iter().map(|c| c.dependencies.clone()).collect();
        let mut references = References::default();
        references.providers.insert(handler, [block("x.b")].into());
        let graph = build(&changes, &prior, &references, &Further::default());
        let plan = Plan {
            changes,
            graph,
            ..Plan::default()
        };
        assert_eq!(order(&plan), "destroy b, destroy a");
    }

    #[test]
    fn open_conditions_stand_between() {
        // `module.m.output.o` refers to `x.a`; `x.b` and the root's output get it
        let changes = vec![
            change("x.a", Action::Update, &[]),
            change("x.b", Action::Create, &[]),
        ];
        let mut references = References::default();
        references
            .resources
            .insert(block("x.b"), [block("x.a")].into());
        references.checks.insert(
            "module.m.output.o".to_owned(),
            Conditioned {
                needs: [block("x.a")].into(),
                resources: [block("x.b")].into(),
                outputs: ["o".to_owned()].into(),
                ..Conditioned::default()
            },
        );
        let further = Further {
            outputs: vec!["o".to_owned()],
            checks: vec![OpenCheck {
                block: "module.m.output.o".to_owned(),
                instance: "module.m[\"k\"].output.o".to_owned(),
            }],
            ..Further::default()
        };
        let text = build(&changes, &[Vec::new(), Vec::new()], &references, &further).debug_text();
        for wanted in [
            "check module.m[\"k\"].output.o\n  after join x.a made\n",
            "join module.m.output.o holds\n  after check module.m[\"k\"].output.o\n",
            "output o\n  after join module.m.output.o holds\n",
        ] {
            assert!(text.contains(wanted), "{wanted}in\n{text}");
        }
        let make = text.split("\nmake x.b\n").nth(1).expect("made");
        assert!(
            make.contains("  after join module.m.output.o holds\n"),
            "{text}"
        );
    }

    #[test]
    fn forgetting_asks_no_provider() {
        let changes = vec![change("x.a", Action::Forget, &[])];
        let graph = build(
            &changes,
            &[Vec::new()],
            &References::default(),
            &Further::default(),
        );
        assert_eq!(graph.debug_text(), "forget x.a\n");
    }

    #[test]
    fn orders_stay_linear() {
        let n = 300;
        let mut changes = Vec::new();
        for i in 0..n {
            changes.push(change(&format!("x.a[{i}]"), Action::DeleteThenCreate, &[]));
            changes.push(change(
                &format!("x.b[{i}]"),
                Action::DeleteThenCreate,
                &["x.a"],
            ));
        }
        let prior: Vec<Vec<AbsResource>> = changes.iter().map(|c| c.dependencies.clone()).collect();
        let mut references = References::default();
        references.resources.insert(block("x.a"), BTreeSet::new());
        references
            .resources
            .insert(block("x.b"), [block("x.a")].into());
        let graph = build(&changes, &prior, &references, &Further::default());
        assert!(
            graph.edges().len() < 20 * n,
            "{} orders",
            graph.edges().len()
        );
        let plan = Plan {
            changes,
            graph,
            ..Plan::default()
        };
        assert_eq!(verify(&plan), []);
    }
}
