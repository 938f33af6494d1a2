//! What a saved plan will do: its execution graph, instance by instance.

use super::{mermaid_label, quoted};
use formwork_plan::{ExecutionGraph, OperationKind};
use std::fmt::Write as _;

/// The graph in DOT.
pub fn execution_dot(graph: &ExecutionGraph) -> String {
    let mut out = String::from(
        "digraph G {\n  rankdir = \"RL\";\n  node [shape = rect, fontname = \"sans-serif\"];\n",
    );
    // writing to a String cannot fail
    for (id, node) in graph.nodes().iter().enumerate() {
        let shape = match node.kind {
            OperationKind::Join(_) => ", shape = point",
            OperationKind::ConfigureProvider(_) => ", shape = diamond",
            _ => "",
        };
        let text = quoted(&node.kind.text());
        let _ = writeln!(out, "  n{id} [label = {text}{shape}];");
    }
    for (before, after) in graph.edges() {
        let _ = writeln!(out, "  n{} -> n{};", after.0, before.0);
    }
    out.push_str("}\n");
    out
}

/// The graph in Mermaid.
pub fn execution_mermaid(graph: &ExecutionGraph) -> String {
    let mut out = String::from("flowchart RL\n");
    // writing to a String cannot fail
    for (id, node) in graph.nodes().iter().enumerate() {
        let text = mermaid_label(&node.kind.text());
        let _ = match node.kind {
            OperationKind::Join(_) => writeln!(out, "  n{id}(({text}))"),
            _ => writeln!(out, "  n{id}[{text}]"),
        };
    }
    for (before, after) in graph.edges() {
        let _ = writeln!(out, "  n{} --> n{}", after.0, before.0);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures() {
        let mut graph = ExecutionGraph::default();
        let make = |text: &str| OperationKind::Make(text.parse().expect("an address"));
        let a = graph.add(make("x.a[\"k\"]"), None);
        let b = graph.add(make("x.b"), None);
        let join = graph.add(OperationKind::Join("x.a".into()), None);
        graph.order(a, join);
        graph.order(join, b);
        assert_eq!(
            execution_dot(&graph),
            r#"digraph G {
  rankdir = "RL";
  node [shape = rect, fontname = "sans-serif"];
  n0 [label = "make x.a[\"k\"]"];
  n1 [label = "make x.b"];
  n2 [label = "join x.a", shape = point];
  n2 -> n0;
  n1 -> n2;
}
"#
        );
        assert_eq!(
            execution_mermaid(&graph),
            "flowchart RL\n  n0[\"make x.a[#quot;k#quot;]\"]\n  n1[\"make x.b\"]\n  n2((\"join x.a\"))\n  n2 --> n0\n  n1 --> n2\n"
        );
    }
}
