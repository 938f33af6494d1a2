//! All that planning a configuration goes through, in the form and the words of Terraform's picture of
//! its own plan: blocks that are expanded, modules and providers that are opened and closed, and a root
//! that everything leads to.

use super::{mermaid_label, on_cycles, quoted};
use formwork_addresses::{AbsResource, ModulePath, ProviderAddr, ResourceMode};
use formwork_graph::{Dag, Node, StaticGraph, What};
use formwork_state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

/// What is to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationsOf {
    /// Planning.
    Plan,
    /// Applying.
    Apply,
}

/// Steps and what each waits for, ready to be drawn.
pub struct Operations {
    steps: Vec<Step>,
    arrows: Dag,
}

struct Step {
    name: String,
    look: Look,
}

/// How a step is drawn: as a shape with the name of what it is about, or as a bare name.
enum Look {
    Bare,
    Shape(&'static str, String),
}

impl Operations {
    /// Of planning or applying a configuration.
    pub fn of(graph: &StaticGraph, what: OperationsOf) -> Self {
        let mut drawing = Drawing::default();
        let used = used_providers(graph);
        let mut places: Vec<Option<Node>> = Vec::new();
        for (n, node) in (0u32..).zip(graph.nodes()) {
            let text = node.to_string();
            let is_root = node.module.is_root();
            let step = match &node.what {
                What::Resource(_) => Step::shaped(format!("{text} (expand)"), "box", text),
                What::Provider { .. } if used.contains(&n) => {
                    Step::shaped(text.clone(), "diamond", text)
                }
                What::Provider { .. } => {
                    places.push(None);
                    continue;
                }
                What::Variable(_) if is_root => Step::shaped(text.clone(), "note", text),
                What::ModuleDone(name) => Step::bare(closing(&node.module.child(name))),
                _ => Step::bare(format!("{text} (expand)")),
            };
            places.push(Some(drawing.step(step)));
        }
        let place = |n: Node| places.get(n as usize).copied().flatten();
        for (from, to) in graph.dag().edges() {
            if let (Some(from), Some(to)) = (place(from), place(to)) {
                drawing.arrow(from, to);
            }
        }
        for (n, node) in (0u32..).zip(graph.nodes()) {
            let Some(here) = place(n) else { continue };
            match &node.what {
                What::Provider { .. } => {
                    let close = drawing.step(Step::bare(format!("{node} (close)")));
                    drawing.arrow(close, here);
                    for user in graph.dag().dependents(n) {
                        let resource = graph.get(*user).map(|u| &u.what);
                        if let (Some(What::Resource(_)), Some(user)) = (resource, place(*user)) {
                            drawing.arrow(close, user);
                        }
                    }
                }
                What::Check(_) if what == OperationsOf::Plan => {
                    let report = drawing.step(Step::bare(format!("{node} (report)")));
                    drawing.arrow(here, report);
                }
                _ => {}
            }
            // every module that it stands in, however deep, is closed after it
            let mut module = node.module.clone();
            while let Some(parent) = module.parent() {
                let close = drawing.step(Step::bare(closing(&module)));
                drawing.arrow(close, here);
                let opened = What::ModuleCall(Arc::from(module.name().unwrap_or_default()));
                if let Some(call) = graph.find(&parent, opened).and_then(place) {
                    drawing.arrow(close, call);
                }
                if !parent.is_root() {
                    let outer = drawing.step(Step::bare(closing(&parent)));
                    drawing.arrow(outer, close);
                }
                module = parent;
            }
        }
        drawing.finished()
    }

    /// Of destroying all that a state holds: what depends on others goes before them.
    pub fn of_destroying(state: &State, outputs: &BTreeSet<Arc<str>>) -> Self {
        let mut drawing = Drawing::default();
        // instances of modules and of resources are one step, as in the picture of planning
        let mut places: BTreeMap<String, Node> = BTreeMap::new();
        let mut providers: BTreeMap<ProviderAddr, (Node, Node)> = BTreeMap::new();
        let held = || {
            let resources = state.resources();
            resources.filter(|(a, _)| a.resource.mode == ResourceMode::Managed)
        };
        for (address, resource) in held() {
            let text = static_text(address);
            let step = Step::shaped(format!("{text} (destroy)"), "box", text.clone());
            let here = drawing.step(step);
            places.insert(text, here);
            let provider = &resource.provider.provider;
            let (opened, close) = *providers.entry(provider.clone()).or_insert_with(|| {
                let text = format!("provider[\"{provider}\"]");
                let close = drawing.step(Step::bare(format!("{text} (close)")));
                (
                    drawing.step(Step::shaped(text.clone(), "diamond", text)),
                    close,
                )
            });
            drawing.arrow(here, opened);
            drawing.arrow(close, here);
        }
        for (address, resource) in held() {
            let Some(here) = places.get(&static_text(address)) else {
                continue;
            };
            let objects = resource.instances.values();
            for object in objects.filter_map(|i| i.current.as_ref()) {
                for needed in &*object.dependencies {
                    // what it needs goes after it
                    if let Some(first) = places.get(&static_text(needed)).filter(|n| *n != here) {
                        drawing.arrow(*first, *here);
                    }
                }
            }
        }
        for name in outputs {
            drawing.step(Step::bare(format!("output.{name} (expand)")));
        }
        drawing.finished()
    }

    /// In DOT, for Graphviz.
    pub fn dot(&self) -> String {
        let name = |n: Node| {
            let step = self.steps.get(n as usize);
            quoted(&format!("[root] {}", step.map_or("", |s| &*s.name)))
        };
        let mut boxes = BTreeSet::new();
        for (n, step) in (0u32..).zip(&self.steps) {
            if let Look::Shape(shape, label) = &step.look {
                let label = quoted(label);
                boxes.insert(format!(
                    "{} [label = {label}, shape = \"{shape}\"]",
                    name(n)
                ));
            }
        }
        let red = on_cycles(&self.arrows);
        let mut arrows = BTreeSet::new();
        for (from, to) in self.arrows.edges() {
            let look = match red.contains(&(from, to)) {
                true => " [color = \"red\", penwidth = \"2.0\"]",
                false => "",
            };
            arrows.insert(format!("{} -> {}{look}", name(from), name(to)));
        }
        let mut out = String::from(
            "digraph {\n\tcompound = \"true\"\n\tnewrank = \"true\"\n\tsubgraph \"root\" {\n",
        );
        for line in boxes.iter().chain(&arrows) {
            // writing to a String cannot fail
            let _ = writeln!(out, "\t\t{line}");
        }
        out.push_str("\t}\n}\n");
        out
    }

    /// In Mermaid.
    pub fn mermaid(&self) -> String {
        let mut out = String::from("flowchart RL\n");
        // writing to a String cannot fail
        for (n, step) in self.steps.iter().enumerate() {
            let label = mermaid_label(&step.name);
            let _ = match &step.look {
                Look::Bare => writeln!(out, "  n{n}([{label}])"),
                Look::Shape("diamond", _) => writeln!(out, "  n{n}{{{{{label}}}}}"),
                Look::Shape(..) => writeln!(out, "  n{n}[{label}]"),
            };
        }
        for (from, to) in self.arrows.edges() {
            let _ = writeln!(out, "  n{from} --> n{to}");
        }
        out
    }
}

impl Step {
    fn bare(name: String) -> Self {
        Self {
            name,
            look: Look::Bare,
        }
    }

    fn shaped(name: String, shape: &'static str, label: String) -> Self {
        Self {
            name,
            look: Look::Shape(shape, label),
        }
    }
}

fn closing(module: &ModulePath) -> String {
    format!("{module} (close)")
}

fn static_text(address: &AbsResource) -> String {
    let module = address.module.path();
    if module.is_root() {
        address.resource.to_string()
    } else {
        format!("{module}.{}", address.resource)
    }
}

/// The provider configurations that some resource is handled by; others are not drawn.
fn used_providers(graph: &StaticGraph) -> BTreeSet<Node> {
    let is_resource = |n: &Node| {
        let what = graph.get(*n).map(|node| &node.what);
        matches!(what, Some(What::Resource(_)))
    };
    (0u32..)
        .zip(graph.nodes())
        .filter(|(n, node)| {
            matches!(node.what, What::Provider { .. })
                && graph.dag().dependents(*n).iter().any(is_resource)
        })
        .map(|(n, _)| n)
        .collect()
}

/// Steps being collected, each name once.
#[derive(Default)]
struct Drawing {
    steps: Vec<Step>,
    index: BTreeMap<String, Node>,
    arrows: Vec<(Node, Node)>,
}

impl Drawing {
    fn step(&mut self, step: Step) -> Node {
        let next = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
        match self.index.entry(step.name.clone()) {
            std::collections::btree_map::Entry::Occupied(known) => *known.get(),
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(next);
                self.steps.push(step);
                next
            }
        }
    }

    fn arrow(&mut self, from: Node, to: Node) {
        self.arrows.push((from, to));
    }

    /// With a root that waits for everything.
    fn finished(mut self) -> Operations {
        let all = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
        if all > 0 {
            let root = self.step(Step::bare("root".to_owned()));
            self.arrows.extend((0..all).map(|n| (root, n)));
        }
        Operations {
            arrows: Dag::new(self.steps.len(), self.arrows).reduced(),
            steps: self.steps,
        }
    }
}
