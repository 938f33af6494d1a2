//! What to do, and in which order: the only graph of instances.
//!
//! Instances never have edges to each other pair by pair: a resource with a thousand instances that
//! depends on another with a thousand has a *join* between them ([`OperationKind::Join`]), so edges
//! stay linear in instances plus references.

use formwork_addresses::{AbsProviderConfig, AbsResourceInstance, DeposedKey};
use std::fmt::Write as _;

/// Index of a node in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// What a node does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperationKind {
    /// Nothing: a place where others meet. The text names it for people.
    Join(String),
    /// A provider is configured, with values that are now known.
    ConfigureProvider(AbsProviderConfig),
    /// A data source is read.
    ReadData(AbsResourceInstance),
    /// An object is created or changed in place, or the new half of a replacement is made.
    Make(AbsResourceInstance),
    /// The current object is deleted, or the former half of a replacement.
    Destroy(AbsResourceInstance),
    /// An object that was left behind is deleted.
    DestroyDeposed(AbsResourceInstance, DeposedKey),
    /// An object leaves the state.
    Forget(AbsResourceInstance),
    /// An ephemeral resource is opened.
    OpenEphemeral(AbsResourceInstance),
    /// An ephemeral resource is closed.
    CloseEphemeral(AbsResourceInstance),
    /// Conditions that planning could not decide.
    Check(String),
    /// A root output gets its value.
    Output(String),
}

impl OperationKind {
    /// For people and for the plain-text face.
    pub fn text(&self) -> String {
        match self {
            Self::Join(name) => format!("join {name}"),
            Self::ConfigureProvider(p) => format!("configure {p}"),
            Self::ReadData(a) => format!("read {a}"),
            Self::Make(a) => format!("make {a}"),
            Self::Destroy(a) => format!("destroy {a}"),
            Self::DestroyDeposed(a, k) => format!("destroy {a} (deposed {k})"),
            Self::Forget(a) => format!("forget {a}"),
            Self::OpenEphemeral(a) => format!("open {a}"),
            Self::CloseEphemeral(a) => format!("close {a}"),
            Self::Check(c) => format!("check {c}"),
            Self::Output(o) => format!("output {o}"),
        }
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it does.
    pub kind: OperationKind,
    /// Index into the plan's changes, for those that carry one out.
    pub change: Option<u32>,
}

/// Operations, and which must be done before which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionGraph {
    nodes: Vec<Operation>,
    /// `(before, after)`.
    edges: Vec<(NodeId, NodeId)>,
}

impl ExecutionGraph {
    /// Adds a node.
    pub fn add(&mut self, kind: OperationKind, change: Option<u32>) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Operation { kind, change });
        id
    }

    /// `before` must be done before `after` begins.
    pub fn order(&mut self, before: NodeId, after: NodeId) {
        if before != after {
            self.edges.push((before, after));
        }
    }

    /// All nodes; a node's index is its id.
    pub fn nodes(&self) -> &[Operation] {
        &self.nodes
    }

    /// All orders, `(before, after)`.
    pub fn edges(&self) -> &[(NodeId, NodeId)] {
        &self.edges
    }

    /// A node by its id.
    pub fn get(&self, id: NodeId) -> Option<&Operation> {
        self.nodes.get(id.0 as usize)
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// For each node, those that wait for it, and how many it waits for itself.
    pub fn schedule(&self) -> (Vec<Vec<NodeId>>, Vec<u32>) {
        let mut after = vec![Vec::new(); self.nodes.len()];
        let mut waits = vec![0u32; self.nodes.len()];
        for (a, b) in &self.edges {
            if let (Some(list), Some(count)) =
                (after.get_mut(a.0 as usize), waits.get_mut(b.0 as usize))
            {
                list.push(*b);
                *count += 1;
            }
        }
        (after, waits)
    }

    /// An order in which everything could be done one by one, or the nodes that wait for each other
    /// in a circle.
    ///
    /// # Errors
    /// The nodes that can never start.
    pub fn topological(&self) -> Result<Vec<NodeId>, Vec<NodeId>> {
        let (after, mut waits) = self.schedule();
        let ids = || (0u32..).map(NodeId).take(self.nodes.len());
        let mut ready: std::collections::VecDeque<NodeId> = ids()
            .zip(&waits)
            .filter(|(_, w)| **w == 0)
            .map(|(id, _)| id)
            .collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(id) = ready.pop_front() {
            order.push(id);
            for next in after.get(id.0 as usize).into_iter().flatten() {
                if let Some(w) = waits.get_mut(next.0 as usize) {
                    *w -= 1;
                    if *w == 0 {
                        ready.push_back(*next);
                    }
                }
            }
        }
        if order.len() == self.nodes.len() {
            Ok(order)
        } else {
            Err(ids()
                .zip(&waits)
                .filter(|(_, w)| **w > 0)
                .map(|(id, _)| id)
                .collect())
        }
    }

    /// The plain-text face: nodes by text, each with what must be done before it, sorted.
    pub fn debug_text(&self) -> String {
        let mut lines: Vec<(String, Vec<String>)> = self
            .nodes
            .iter()
            .map(|n| (n.kind.text(), Vec::new()))
            .collect();
        for (a, b) in &self.edges {
            if let Some(before) = self.get(*a).map(|n| n.kind.text())
                && let Some((_, list)) = lines.get_mut(b.0 as usize)
            {
                list.push(before);
            }
        }
        lines.sort();
        let mut out = String::new();
        for (node, mut before) in lines {
            before.sort();
            before.dedup();
            let _ = writeln!(out, "{node}");
            for b in before {
                let _ = writeln!(out, "  after {b}");
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(g: &mut ExecutionGraph, name: &str) -> NodeId {
        g.add(OperationKind::Join(name.to_owned()), None)
    }

    #[test]
    fn orders_and_circles() {
        let mut g = ExecutionGraph::default();
        let (a, b, c) = (join(&mut g, "a"), join(&mut g, "b"), join(&mut g, "c"));
        g.order(b, a);
        g.order(c, b);
        assert_eq!(g.topological(), Ok(vec![c, b, a]));
        assert_eq!(
            g.debug_text(),
            "join a\n  after join b\njoin b\n  after join c\njoin c\n"
        );
        g.order(a, b);
        assert_eq!(g.topological(), Err(vec![a, b]));
    }
}
