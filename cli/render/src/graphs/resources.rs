//! The resources of a configuration, in their modules, and which needs which.

use super::{mermaid_label, on_cycles, quoted};
use formwork_addresses::{ModulePath, Resource, ResourceMode};
use formwork_graph::{Dag, Node, StaticGraph, What};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The resources of a configuration, ready to be drawn.
pub struct ResourcePicture {
    /// By module, then by kind, type and name.
    boxes: Vec<Box>,
    /// Boxes by their places.
    arrows: Dag,
}

struct Box {
    module: ModulePath,
    resource: Resource,
}

impl Box {
    fn address(&self) -> String {
        if self.module.is_root() {
            self.resource.to_string()
        } else {
            format!("{}.{}", self.module, self.resource)
        }
    }
}

impl ResourcePicture {
    /// Of the blocks of a configuration.
    pub fn of(graph: &StaticGraph) -> Self {
        let mut found: Vec<(Node, Box)> = (0u32..)
            .zip(graph.nodes())
            .filter_map(|(n, node)| match &node.what {
                What::Resource(resource) => Some((
                    n,
                    Box {
                        module: node.module.clone(),
                        resource: resource.clone(),
                    },
                )),
                _ => None,
            })
            .collect();
        found.sort_by_cached_key(|(_, b)| {
            let mode = match b.resource.mode {
                ResourceMode::Data => 0,
                ResourceMode::Ephemeral => 1,
                ResourceMode::Managed => 2,
            };
            let r = &b.resource;
            (b.module.clone(), mode, r.kind.clone(), r.name.clone())
        });
        let places: BTreeMap<Node, Node> = found.iter().map(|(n, _)| *n).zip(0u32..).collect();
        let edges = found.iter().zip(0u32..).flat_map(|((n, _), from)| {
            let needed = graph.nearest_resources(*n).into_iter();
            let places = &places;
            needed.filter_map(move |to| Some((from, *places.get(&to)?)))
        });
        let arrows = Dag::new(found.len(), edges).reduced();
        Self {
            boxes: found.into_iter().map(|(_, b)| b).collect(),
            arrows,
        }
    }

    /// The address of each box, by its place.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = String> {
        self.boxes.iter().map(Box::address)
    }

    /// Who waits for whom, by their places.
    pub(crate) fn arrows(&self) -> impl Iterator<Item = (Node, Node)> {
        self.arrows.edges()
    }

    /// The boxes of each module, with their places.
    fn modules(&self) -> impl Iterator<Item = (&ModulePath, Vec<(Node, &Box)>)> {
        let mut modules: BTreeMap<&ModulePath, Vec<(Node, &Box)>> = BTreeMap::new();
        for (n, b) in (0u32..).zip(&self.boxes) {
            modules.entry(&b.module).or_default().push((n, b));
        }
        modules.into_iter()
    }

    /// In DOT, for Graphviz.
    pub fn dot(&self) -> String {
        // writing to a String cannot fail
        let mut out = String::from(
            "digraph G {\n  rankdir = \"RL\";\n  node [shape = rect, fontname = \"sans-serif\"];\n",
        );
        if self.boxes.is_empty() {
            out.push_str("  /* There are no resources in the configuration. */\n");
        }
        for (module, boxes) in self.modules() {
            let indent = if module.is_root() { "  " } else { "    " };
            if !module.is_root() {
                let title = module.to_string();
                let cluster = quoted(&format!("cluster_{title}"));
                let _ = writeln!(
                    out,
                    "  subgraph {cluster} {{\n    label = {}\n    fontname = \"sans-serif\"",
                    quoted(&title)
                );
            }
            for (_, b) in boxes {
                let label = quoted(&b.resource.to_string());
                let _ = writeln!(out, "{indent}{} [label={label}];", quoted(&b.address()));
            }
            if !module.is_root() {
                out.push_str("  }\n");
            }
        }
        let red = on_cycles(&self.arrows);
        for (from, to) in self.arrows.edges() {
            let name = |n: Node| {
                self.boxes
                    .get(n as usize)
                    .map_or(String::new(), Box::address)
            };
            let look = match red.contains(&(from, to)) {
                true => " [color = \"red\", penwidth = \"2.0\"]",
                false => "",
            };
            let (from, to) = (quoted(&name(from)), quoted(&name(to)));
            let _ = writeln!(out, "  {from} -> {to}{look};");
        }
        out.push_str("}\n");
        out
    }

    /// In Mermaid.
    pub fn mermaid(&self) -> String {
        // writing to a String cannot fail
        let mut out = String::from("flowchart RL\n");
        for (i, (module, boxes)) in self.modules().enumerate() {
            let indent = if module.is_root() { "  " } else { "    " };
            if !module.is_root() {
                let title = mermaid_label(&module.to_string());
                let _ = writeln!(out, "  subgraph m{i}[{title}]");
            }
            for (n, b) in boxes {
                let label = mermaid_label(&b.resource.to_string());
                let _ = writeln!(out, "{indent}n{n}[{label}]");
            }
            if !module.is_root() {
                out.push_str("  end\n");
            }
        }
        for (from, to) in self.arrows.edges() {
            let _ = writeln!(out, "  n{from} --> n{to}");
        }
        out
    }
}
