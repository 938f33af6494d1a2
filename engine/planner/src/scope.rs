//! [`Scope`]: what of a configuration and its state takes part in a plan.
//!
//! With targets it is what they name and what that needs; in a destroy run what they name and what is
//! made from it. Within one instance of a module only that instance is needed: naming `module.m["a"]`
//! brings nothing of `module.m["b"]` along. What is excluded does not take part, nor does what needs it
//! (in a destroy run: what it needs). Outputs of the root module take part if they are made from
//! resources, all of which do. Checks do not, since what they look at may not be as it is to be.

use crate::modules::ModuleSet;
use crate::refresh::Refreshed;
use formwork_addresses::{
    AbsResourceInstance, ModuleInstance, ModulePath, Resource, ResourceMode, Target,
};
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

type BlockAddress = (ModulePath, Resource);

/// Which instances of a block take part.
#[derive(Clone, Debug, Default)]
struct Part {
    /// In these modules all.
    needed: ModuleSet,
    /// Elsewhere those that a target names; all if there is no target.
    named: bool,
    /// But in these modules none.
    barred: ModuleSet,
}

impl Part {
    fn is_empty(&self, path: &ModulePath) -> bool {
        (self.needed.is_empty() && !self.named) || self.barred.covers(path)
    }
}

/// What takes part.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    limits: Limits,
    /// By node of the static graph; empty if nothing is limited, or what is destroyed is.
    visited: Vec<bool>,
    /// By block of resources, those that only the state knows included.
    blocks: BTreeMap<BlockAddress, Part>,
}

impl Scope {
    /// What takes part in a run over this configuration and state.
    pub fn new(graph: &StaticGraph, state: &State, mode: PlanMode, limits: Limits) -> Self {
        if !limits.is_limited() {
            return Self::default();
        }
        let mut scope = Self {
            limits,
            visited: Vec::new(),
            blocks: BTreeMap::new(),
        };
        match mode {
            PlanMode::Destroy => scope.of_state(state),
            _ => scope.of_graph(graph, state),
        }
        scope
    }

    fn of_graph(&mut self, graph: &StaticGraph, state: &State) {
        let block = |n: Node| match graph.get(n) {
            Some(node) => match &node.what {
                What::Resource(r) => Some((&node.module, r)),
                _ => None,
            },
            None => None,
        };
        let dag = graph.dag();
        let root = ModulePath::root();
        let blocks = Blocks {
            paths: (dag.nodes().map(|n| graph.get(n)))
                .map(|node| node.map_or(&root, |node| &node.module))
                .collect(),
            resources: dag.nodes().map(|n| block(n).map(|(_, r)| r)).collect(),
        };
        let mut parts = blocks.parts(&self.limits, |n| dag.dependencies(n), |n| dag.dependents(n));
        let mut visited: Vec<bool> = parts
            .iter()
            .zip(&blocks.paths)
            .map(|(part, path)| !part.is_empty(path))
            .collect();
        include_outputs(graph, &mut visited);
        for n in dag.nodes() {
            let what = graph.get(n).map(|s| &s.what);
            if let Some(v) = visited.get_mut(n as usize)
                && matches!(what, Some(What::Check(_)))
            {
                *v = false;
            }
            if let (Some((path, r)), Some(part)) = (block(n), parts.get_mut(n as usize)) {
                let part = std::mem::take(part);
                self.blocks.insert((path.clone(), r.clone()), part);
            }
        }
        // what only the state knows needs nothing of the configuration
        for (resource, _) in state.resources() {
            let key = (resource.module.path(), resource.resource.clone());
            self.blocks.entry(key).or_insert_with(|| Part {
                named: true,
                ..Part::default()
            });
        }
        self.visited = visited;
    }

    /// In a destroy run the state says what is made from what.
    fn of_state(&mut self, state: &State) {
        let block = |a: &formwork_addresses::AbsResource| (a.module.path(), a.resource.clone());
        let mut needs: BTreeMap<BlockAddress, BTreeSet<BlockAddress>> = BTreeMap::new();
        for (address, resource) in state.resources() {
            let needs = needs.entry(block(address)).or_default();
            let objects = resource.instances.values();
            let objects = objects.flat_map(|i| i.current.iter().chain(i.deposed.values()));
            needs.extend(objects.flat_map(|o| o.dependencies.iter()).map(&block));
        }
        let number: BTreeMap<&BlockAddress, Node> = needs.keys().zip(0..).collect();
        let mut made_from: Vec<Vec<Node>> = Vec::with_capacity(needs.len());
        let mut made: Vec<Vec<Node>> = vec![Vec::new(); needs.len()];
        for (of, on) in needs.values().enumerate() {
            let on: Vec<Node> = on.iter().filter_map(|b| number.get(b).copied()).collect();
            for n in &on {
                if let (Some(made), Ok(of)) = (made.get_mut(*n as usize), Node::try_from(of)) {
                    made.push(of);
                }
            }
            made_from.push(on);
        }
        let blocks = Blocks {
            paths: needs.keys().map(|(path, _)| path).collect(),
            resources: needs.keys().map(|(_, r)| Some(r)).collect(),
        };
        let parts = blocks.parts(&self.limits, |n| of(&made, n), |n| of(&made_from, n));
        self.blocks = needs.into_keys().zip(parts).collect();
    }

    /// Whether a node of the static graph is visited.
    pub(crate) fn visits(&self, node: Node) -> bool {
        self.visited.get(node as usize).copied().unwrap_or(true)
    }

    /// Whether an instance takes part.
    pub fn takes(&self, address: &AbsResourceInstance) -> bool {
        if !self.limits.is_limited() {
            return true;
        }
        if self.limits.excludes.iter().any(|t| t.contains(address)) {
            return false;
        }
        let is_named = || {
            self.limits.targets.is_empty()
                || self.limits.targets.iter().any(|t| t.contains(address))
        };
        let key = (address.module.path(), address.resource.clone());
        match self.blocks.get(&key) {
            Some(part) => {
                !part.barred.contains(&address.module)
                    && (part.needed.contains(&address.module) || (part.named && is_named()))
            }
            None => is_named(),
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

/// What stands at a node in a list by node.
fn of(all: &[Vec<Node>], node: Node) -> &[Node] {
    all.get(node as usize).map_or(&[], Vec::as_slice)
}

/// Blocks by number, and what stands where.
struct Blocks<'b> {
    paths: Vec<&'b ModulePath>,
    /// Those that are resources.
    resources: Vec<Option<&'b Resource>>,
}

impl Blocks<'_> {
    /// What of each block takes part, where what takes part brings along what it `needs`, and what stays
    /// out keeps out its `users`.
    fn parts<'g>(
        &self,
        limits: &Limits,
        needs: impl Fn(Node) -> &'g [Node],
        users: impl Fn(Node) -> &'g [Node],
    ) -> Vec<Part> {
        let (named, needed) = self.spread(&limits.targets, needs);
        // Who needs one excluded instance needs the block, so all that needs the block stays out; of
        // the block itself the other instances take part.
        let (_, barred) = self.spread(&limits.excludes, users);
        let all = named.into_iter().zip(needed).zip(barred);
        let mut parts: Vec<Part> = all
            .map(|((named, needed), barred)| Part {
                needed,
                named: named || limits.targets.is_empty(),
                barred,
            })
            .collect();
        let whole = limits.excludes.iter().filter(|t| t.is_whole());
        for target in whole {
            for n in self.touched(target) {
                if let Some(part) = parts.get_mut(n as usize) {
                    part.barred.insert(&ModuleInstance::root());
                }
            }
        }
        parts
    }

    /// Which blocks are named, and what is reached from them by a step or more: within a module that has
    /// keys only in the instance it began in, everywhere once it left the module.
    fn spread<'g>(
        &self,
        targets: &[Target],
        next: impl Fn(Node) -> &'g [Node],
    ) -> (Vec<bool>, Vec<ModuleSet>) {
        let mut named = vec![false; self.paths.len()];
        let mut reached = vec![ModuleSet::default(); self.paths.len()];
        let mut open: Vec<(Node, ModuleInstance)> = Vec::new();
        let step = |open: &mut Vec<(Node, ModuleInstance)>, from: Node, within: &ModuleInstance| {
            for n in next(from) {
                if let Some(path) = self.paths.get(*n as usize) {
                    open.push((*n, common(within, path)));
                }
            }
        };
        for target in targets {
            for n in self.touched(target) {
                if let Some(named) = named.get_mut(n as usize) {
                    *named = true;
                }
                step(&mut open, n, target.module());
            }
        }
        while let Some((n, within)) = open.pop() {
            if reached
                .get_mut(n as usize)
                .is_some_and(|set| set.insert(&within))
            {
                step(&mut open, n, &within);
            }
        }
        (named, reached)
    }

    fn touched<'s>(&'s self, target: &'s Target) -> impl Iterator<Item = Node> + 's {
        let all = self.paths.iter().zip(&self.resources).zip(0..);
        all.filter(|((path, r), _)| r.is_some_and(|r| target.touches(path, r)))
            .map(|(_, n)| n)
    }
}

/// The module that both lie in, with the keys of the first.
fn common(module: &ModuleInstance, path: &ModulePath) -> ModuleInstance {
    let steps = module.steps().iter().zip(path.names());
    let same = steps.take_while(|(step, name)| *step.name == **name);
    same.fold(ModuleInstance::root(), |m, (step, _)| {
        m.child(&step.name, step.key.clone())
    })
}

/// Lets outputs of the root module take part that are made from resources which all do, and what stands
/// between.
fn include_outputs(graph: &StaticGraph, visited: &mut [bool]) {
    // what lies below a node: any resource, and any that does not take part
    let mut below = vec![(false, false); visited.len()];
    for node in graph.order() {
        let mut found = (false, false);
        for d in graph.dag().dependencies(*node) {
            let (any, out) = below.get(*d as usize).copied().unwrap_or_default();
            found.0 |= any;
            found.1 |= out;
            let what = graph.get(*d).map(|n| &n.what);
            if matches!(what, Some(What::Resource(r)) if r.mode != ResourceMode::Ephemeral) {
                found.0 = true;
                found.1 |= visited.get(*d as usize) == Some(&false);
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
        } else if let Some(v) = visited.get_mut(node as usize) {
            *v = false;
        }
    }
    let needed = graph.dag().closure(included, Direction::Dependencies);
    for (visited, needed) in visited.iter_mut().zip(needed) {
        *visited |= needed;
    }
}
