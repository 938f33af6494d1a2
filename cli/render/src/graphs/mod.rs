//! Graphs as pictures: DOT for Graphviz, and Mermaid for pages that draw it.
//!
//! Three graphs are drawn: the resources of a configuration and what needs what ([`resources`]), all
//! that planning goes through ([`operations`]), and what a saved plan will do ([`execution`]). The
//! first two have the form and the names of Terraform's, since tools read those.
//!
//! An arrow leads from what waits to what it waits for. Arrows that others imply are left out.

mod execution;
mod operations;
mod resources;

pub use execution::{execution_dot, execution_mermaid};
pub use operations::{Operations, OperationsOf};
pub use resources::ResourcePicture;

use formwork_graph::{Dag, Node};
use std::collections::BTreeSet;

/// A name as DOT has it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A label as Mermaid has it.
fn mermaid_label(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "#quot;"))
}

/// The edges that lie on cycles.
fn on_cycles(dag: &Dag) -> BTreeSet<(Node, Node)> {
    let mut edges = BTreeSet::new();
    for cycle in dag.cycles() {
        let next = cycle.iter().skip(1).chain(cycle.first());
        edges.extend(cycle.iter().copied().zip(next.copied()));
    }
    edges
}
