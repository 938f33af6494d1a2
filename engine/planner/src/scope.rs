//! [`Scope`]: what of a configuration and its state takes part in a plan.
//!
//! With targets it is what they name and what that needs; in a destroy run what they name and what is
//! made from it. What is excluded does not take part, nor does what needs it (in a destroy run: what it
//! needs). Outputs of the root module take part if they are made from resources, all of which do. Checks
//! do not, since what they look at may not be as it is to be.

use crate::refresh::Refreshed;
use formwork_addresses::{AbsResourceInstance, ModulePath, Resource, ResourceMode, Target};
use formwork_graph::{Direction, Node, StaticGraph, What};
use formwork_plan::PlanMode;
use formwork_state::State;
use std::collections::{BTreeMap, BTreeSet};

/// What a run is limited to.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Only this and what it needs; everything if empty.
    pub targets: Vec<Target>,
    /// Not this, nor what needs it.
    pub excludes: Vec<Target>,
}

impl Limits {
    /// Whether there are any.
    pub fn is_limited(&self) -> bool {
        !self.targets.is_empty() || !self.excludes.is_empty()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// No instance.
    Out,
    /// The instances that a target names.
    Named,
    /// All instances.
    Whole,
}

type BlockAddress = (ModulePath, Resource);

/// What takes part.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    limits: Limits,
    /// By node of the static graph; empty if nothing is limited.
    reach: Vec<Reach>,
    /// By block of resources, those that only the state knows included.
    blocks: BTreeMap<BlockAddress, Reach>,
}

impl Scope {
    /// What takes part in a run over this configuration and state.
    pub fn new(graph: &StaticGraph, state: &State, mode: PlanMode, limits: Limits) -> Self {
        if !limits.is_limited() {
            return Self::default();
        }
        let mut scope = Self {
            limits,
            reach: Vec::new(),
            blocks: BTreeMap::new(),
        };
        match mode {
            PlanMode::Destroy => scope.of_state(state),
            _ => scope.of_graph(graph, state),
        }
        scope
    }

    fn of_graph(&mut self, graph: &StaticGraph, state: &State) {
        let limits = &self.limits;
        let block = |n: &Node| match &graph.get(*n)?.what {
            What::Resource(r) => Some((&graph.get(*n)?.module, r)),
            _ => None,
        };
        let all: Vec<Node> = graph.dag().nodes().collect();
        let named = |targets: &[Target]| -> Vec<Node> {
            let touched = |n: &&Node| {
                block(n).is_some_and(|(path, r)| targets.iter().any(|t| t.touches(path, r)))
            };
            all.iter().filter(touched).copied().collect()
        };
        let direct = named(&limits.targets);
        let mut reach = if limits.targets.is_empty() {
            vec![Reach::Whole; all.len()]
        } else {
            let needs = direct.iter().flat_map(|n| graph.dag().dependencies(*n));
            let needed = graph
                .dag()
                .closure(needs.copied().collect::<Vec<_>>(), Direction::Dependencies);
            let mut reach: Vec<Reach> = needed
                .iter()
                .map(|n| if *n { Reach::Whole } else { Reach::Out })
                .collect();
            for n in &direct {
                if let Some(r) = reach.get_mut(*n as usize)
                    && *r == Reach::Out
                {
                    *r = Reach::Named;
                }
            }
            reach
        };
        // Who needs one excluded instance needs the block, so all that needs the block stays out; of
        // the block itself the other instances take part.
        let barred = named(&limits.excludes);
        let users = barred.iter().flat_map(|n| graph.dag().dependents(*n));
        let users = graph
            .dag()
            .closure(users.copied().collect::<Vec<_>>(), Direction::Dependents);
        for (r, user) in reach.iter_mut().zip(users) {
            if user {
                *r = Reach::Out;
            }
        }
        for n in barred {
            let whole = block(&n).is_some_and(|(path, r)| {
                let mut excludes = limits.excludes.iter();
                excludes.any(|t| t.is_whole() && t.touches(path, r))
            });
            if let Some(r) = reach.get_mut(n as usize).filter(|_| whole) {
                *r = Reach::Out;
            }
        }
        include_outputs(graph, &mut reach);
        for n in &all {
            let what = graph.get(*n).map(|s| &s.what);
            if let Some(r) = reach.get_mut(*n as usize)
                && matches!(what, Some(What::Check(_)))
            {
                *r = Reach::Out;
            }
        }
        for (n, reach) in all.iter().zip(&reach) {
            if let Some((path, r)) = block(n) {
                self.blocks.insert((path.clone(), r.clone()), *reach);
            }
        }
        // what only the state knows needs nothing of the configuration
        for (resource, _) in state.resources() {
            let key = (resource.module.path(), resource.resource.clone());
            if !self.blocks.contains_key(&key) {
                let named = self.limits.targets.is_empty();
                let reach = if named { Reach::Whole } else { Reach::Named };
                self.blocks.insert(key, reach);
            }
        }
        self.reach = reach;
    }

    /// In a destroy run the state says what is made from what.
    fn of_state(&mut self, state: &State) {
        let block = |a: &formwork_addresses::AbsResource| (a.module.path(), a.resource.clone());
        let mut needs: BTreeMap<BlockAddress, BTreeSet<BlockAddress>> = BTreeMap::new();
        let mut needed_by: BTreeMap<BlockAddress, BTreeSet<BlockAddress>> = BTreeMap::new();
        for (address, resource) in state.resources() {
            let of = block(address);
            let objects = resource.instances.values();
            let objects = objects.flat_map(|i| i.current.iter().chain(i.deposed.values()));
            for dependency in objects.flat_map(|o| o.dependencies.iter()) {
                let on = block(dependency);
                needed_by.entry(on.clone()).or_default().insert(of.clone());
                needs.entry(of.clone()).or_default().insert(on);
            }
            needs.entry(of).or_default();
        }
        let touched = |targets: &[Target]| -> BTreeSet<BlockAddress> {
            let hit = |b: &&BlockAddress| targets.iter().any(|t| t.touches(&b.0, &b.1));
            needs.keys().filter(hit).cloned().collect()
        };
        let direct = touched(&self.limits.targets);
        let made_from = beyond(&direct, &needed_by);
        let kept = touched(&self.limits.excludes);
        let needed = beyond(&kept, &needs);
        for b in needs.keys() {
            let mut reach = if self.limits.targets.is_empty() || made_from.contains(b) {
                Reach::Whole
            } else if direct.contains(b) {
                Reach::Named
            } else {
                Reach::Out
            };
            let mut excludes = self.limits.excludes.iter();
            let excluded = excludes.any(|t| t.is_whole() && t.touches(&b.0, &b.1));
            if excluded || needed.contains(b) {
                reach = Reach::Out;
            }
            self.blocks.insert(b.clone(), reach);
        }
    }

    /// Whether a node of the static graph is visited.
    pub(crate) fn visits(&self, node: Node) -> bool {
        self.reach
            .get(node as usize)
            .is_none_or(|r| *r != Reach::Out)
    }

    /// Whether an instance takes part.
    pub fn takes(&self, address: &AbsResourceInstance) -> bool {
        if !self.limits.is_limited() {
            return true;
        }
        if self.limits.excludes.iter().any(|t| t.contains(address)) {
            return false;
        }
        let key = (address.module.path(), address.resource.clone());
        match self.blocks.get(&key).copied() {
            Some(Reach::Whole) => true,
            Some(Reach::Named) | None => {
                self.limits.targets.is_empty()
                    || self.limits.targets.iter().any(|t| t.contains(address))
            }
            Some(Reach::Out) => false,
        }
    }

    /// Whether anything is limited.
    pub fn is_limited(&self) -> bool {
        self.limits.is_limited()
    }

    /// Instances that are moved by this run although they do not take part, by their new addresses.
    pub fn moved_outside<'r>(
        &'r self,
        refreshed: &'r Refreshed,
    ) -> impl Iterator<Item = (&'r AbsResourceInstance, &'r AbsResourceInstance)> {
        refreshed
            .moved_from
            .iter()
            .filter(|(to, _)| !self.takes(to))
    }
}

/// Everything that is reached from `from` by one step or more.
fn beyond(
    from: &BTreeSet<BlockAddress>,
    steps: &BTreeMap<BlockAddress, BTreeSet<BlockAddress>>,
) -> BTreeSet<BlockAddress> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&BlockAddress> = from.iter().collect();
    while let Some(b) = open.pop() {
        for next in steps.get(b).into_iter().flatten() {
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    reached
}

/// Lets outputs of the root module take part that are made from resources which all do, and what stands
/// between.
fn include_outputs(graph: &StaticGraph, reach: &mut [Reach]) {
    // what lies below a node: any resource, and any that does not take part
    let mut below = vec![(false, false); reach.len()];
    for node in graph.order() {
        let mut found = (false, false);
        for d in graph.dag().dependencies(*node) {
            let (any, out) = below.get(*d as usize).copied().unwrap_or_default();
            found.0 |= any;
            found.1 |= out;
            let what = graph.get(*d).map(|n| &n.what);
            if matches!(what, Some(What::Resource(r)) if r.mode != ResourceMode::Ephemeral) {
                found.0 = true;
                found.1 |= reach.get(*d as usize) == Some(&Reach::Out);
            }
        }
        if let Some(b) = below.get_mut(*node as usize) {
            *b = found;
        }
    }
    let mut included = Vec::new();
    for node in graph.dag().nodes() {
        let is_output = graph
            .get(node)
            .is_some_and(|n| n.module.is_root() && matches!(n.what, What::Output(_)));
        if !is_output {
            continue;
        }
        if below.get(node as usize) == Some(&(true, false)) {
            included.push(node);
        } else if let Some(r) = reach.get_mut(node as usize) {
            *r = Reach::Out;
        }
    }
    let needed = graph.dag().closure(included, Direction::Dependencies);
    for (r, needed) in reach.iter_mut().zip(needed) {
        if needed && *r == Reach::Out {
            *r = Reach::Whole;
        }
    }
}
