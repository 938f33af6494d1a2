//! [`StaticGraph`]: one node per block per module, before there are instances or values.

use crate::build::build;
use crate::dag::{Dag, Direction, Node};
use crate::node::{StaticNode, What};
use formwork_addresses::{ModulePath, Resource, ResourceMode};
use formwork_configuration::Configuration;
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceRange};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The blocks of a configuration and what each needs.
///
/// Numbers ascend by module, then by kind and name, so that whatever goes through them in order is
/// the same on each run.
#[derive(Clone, Debug, Default)]
pub struct StaticGraph {
    nodes: Vec<StaticNode>,
    ranges: Vec<Option<SourceRange>>,
    /// Hashed: it is asked once for every instance, and comparing names costs more.
    index: FxHashMap<StaticNode, Node>,
    dag: Dag,
    order: Vec<Node>,
    self_references: Vec<(Node, SourceRange)>,
}

impl StaticGraph {
    /// The graph of a configuration that was loaded without errors. Each cycle is an error that names
    /// all that lies on it; the graph must not be walked then.
    pub fn build(configuration: &Configuration) -> Checked<Self> {
        let built = build(configuration);
        let dag = Dag::new(built.nodes.len(), built.edges);
        let mut diagnostics = Diagnostics::new();
        let order = dag.topological_order().unwrap_or_else(|cycles| {
            for cycle in &cycles {
                diagnostics.push(explain(cycle, &built.nodes, &built.written, &built.ranges));
            }
            Vec::new()
        });
        let graph = Self {
            nodes: built.nodes,
            ranges: built.ranges,
            index: built.index,
            dag,
            order,
            self_references: built.self_references,
        };
        (graph, diagnostics)
    }

    /// Nodes and edges as numbers, for walks and closures.
    pub fn dag(&self) -> &Dag {
        &self.dag
    }

    /// All nodes by number.
    pub fn nodes(&self) -> &[StaticNode] {
        &self.nodes
    }

    /// A node by its number.
    pub fn get(&self, node: Node) -> Option<&StaticNode> {
        self.nodes.get(node as usize)
    }

    /// The number of a block.
    pub fn find(&self, module: &ModulePath, what: What) -> Option<Node> {
        let module = module.clone();
        self.index.get(&StaticNode { module, what }).copied()
    }

    /// The number of a resource.
    pub fn resource(&self, module: &ModulePath, resource: &Resource) -> Option<Node> {
        self.find(module, What::Resource(resource.clone()))
    }

    /// Where a block stands; none for what has no block.
    pub fn range(&self, node: Node) -> Option<SourceRange> {
        self.ranges.get(node as usize).copied().flatten()
    }

    /// Every node after what it needs; empty if there is a cycle.
    pub fn order(&self) -> &[Node] {
        &self.order
    }

    /// An error for each block that refers to itself. Such a block can be checked, but neither
    /// planned nor applied.
    pub fn self_references(&self) -> Diagnostics {
        self.self_references
            .iter()
            .filter_map(|(n, range)| {
                let node = self.get(*n)?;
                Some(
                    Diagnostic::error(
                        "Self-referential block",
                        format!(
                            "The configuration of {node} refers to itself, so it would have to be \
                             known before it is made. In a postcondition or a provisioner, write \
                             \"self\"."
                        ),
                    )
                    .at(*range)
                    .about(node),
                )
            })
            .collect()
    }

    /// The resources that a node needs, directly or through values, modules and providers, but not
    /// through other resources: what state records as its dependencies. Ascending.
    pub fn nearest_resources(&self, node: Node) -> Vec<Node> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let mut stack = self.dag.dependencies(node).to_vec();
        while let Some(n) = stack.pop() {
            if !seen.insert(n) {
                continue;
            }
            match self.get(n).map(|s| &s.what) {
                Some(What::Resource(_)) => found.push(n),
                Some(_) => stack.extend_from_slice(self.dag.dependencies(n)),
                None => {}
            }
        }
        found.sort_unstable();
        found
    }

    /// For each node, whether it is a managed resource that is created before the old object is
    /// destroyed: because it says so, or because something that needs it does. The latter cannot
    /// be avoided: what is to be destroyed last must outlive what is created first.
    pub fn create_before_destroy(&self, configuration: &Configuration) -> Vec<bool> {
        let says_so = (0u32..).zip(&self.nodes).filter_map(|(n, node)| {
            let What::Resource(r) = &node.what else {
                return None;
            };
            let block = configuration.module(&node.module)?.resource(r)?;
            (block.lifecycle.create_before_destroy == Some(true)).then_some(n)
        });
        let reached = self.dag.closure(says_so, Direction::Dependencies);
        self.nodes
            .iter()
            .zip(reached)
            .map(|(node, reached)| {
                reached
                    && matches!(&node.what, What::Resource(r) if r.mode == ResourceMode::Managed)
            })
            .collect()
    }

    /// For each node, whether it takes part: all, or only what `targets` need; without what `excludes`
    /// are needed by.
    pub fn scope(&self, targets: Option<&[Node]>, excludes: &[Node]) -> Vec<bool> {
        let wanted = match targets {
            None => vec![true; self.nodes.len()],
            Some(t) => self.dag.closure(t.iter().copied(), Direction::Dependencies),
        };
        let barred = self
            .dag
            .closure(excludes.iter().copied(), Direction::Dependents);
        wanted.iter().zip(barred).map(|(w, b)| *w && !b).collect()
    }

    /// Each node with what it needs, a line each, in order of numbers: the graph's text face.
    pub fn debug_text(&self) -> String {
        let mut out = String::new();
        for (n, node) in (0u32..).zip(&self.nodes) {
            let _ = write!(out, "{node}");
            let needs: Vec<String> = self
                .dag
                .dependencies(n)
                .iter()
                .filter_map(|d| self.get(*d).map(ToString::to_string))
                .collect();
            if !needs.is_empty() {
                let _ = write!(out, " <- {}", needs.join(", "));
            }
            out.push('\n');
        }
        out
    }
}

fn explain(
    cycle: &[Node],
    nodes: &[StaticNode],
    written: &BTreeMap<(Node, Node), SourceRange>,
    ranges: &[Option<SourceRange>],
) -> Diagnostic {
    let name = |n: Node| {
        nodes
            .get(n as usize)
            .map_or_else(String::new, ToString::to_string)
    };
    let names: Vec<String> = cycle.iter().map(|n| name(*n)).collect();
    let mut steps = Vec::new();
    let mut first = None;
    for (i, from) in cycle.iter().enumerate() {
        let to = cycle.get(i + 1).or(cycle.first()).copied().unwrap_or(*from);
        steps.push(format!("{} needs {}", name(*from), name(to)));
        first = first.or_else(|| written.get(&(*from, to)).copied());
    }
    let itself = match cycle {
        [one] => nodes.get(*one as usize),
        _ => None,
    };
    let mut d = if let (Some(What::Local(_)), [name]) = (itself.map(|n| &n.what), &names[..]) {
        Diagnostic::error(
            "Self-referencing local value",
            format!(
                "{name} is defined by itself, so it would have to be known before it is. Refer to another \
                 value, or give this one another name."
            ),
        )
    } else {
        Diagnostic::error(
            format!("Cycle: {}", names.join(", ")),
            format!(
                "These need each other in a circle, so there is none to begin with: {}. One of these \
             references must go: use a value that does not come from the circle.",
                steps.join("; ")
            ),
        )
    };
    d = d.at_opt(first.or_else(|| {
        cycle
            .first()
            .and_then(|n| ranges.get(*n as usize).copied().flatten())
    }));
    if let Some(n) = cycle.first() {
        d = d.about(name(*n));
    }
    d
}
