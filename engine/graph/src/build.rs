//! From a configuration to its static graph.
//!
//! Edges come from references, `depends_on`, providers and modules:
//!
//! - what stands in a module needs its call (which says how often the module exists, and waits for
//!   the call's own `depends_on`);
//! - a variable of a module needs what its argument refers to, in the caller;
//! - `module.x.y` needs the output `y` of that module, and `module.x` all its outputs;
//! - a resource needs its provider configuration;
//! - `depends_on = [module.x]` needs the end of that call, which needs all resources and outputs in
//!   the module and below. The end is a node of its own so that a hundred blocks that wait for a
//!   module of a hundred resources make two hundred edges, not ten thousand.

use crate::dag::Node;
use crate::node::{StaticNode, What};
use formwork_addresses::{ModulePath, Resource, ResourceMode, Subject};
use formwork_configuration::{
    CheckRule, Configuration, FoundReference, Module, ModuleCall, ResourceBlock, body_references,
    expression_references,
};
use formwork_diagnostics::{Checked, SourceRange};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Nodes in the order of their numbers, edges `(dependent, dependency)`, and what refers to itself.
#[derive(Default)]
pub(crate) struct Built {
    pub nodes: Vec<StaticNode>,
    pub ranges: Vec<Option<SourceRange>>,
    pub index: FxHashMap<StaticNode, Node>,
    pub edges: Vec<(Node, Node)>,
    /// Where an edge was written, if it was.
    pub written: BTreeMap<(Node, Node), SourceRange>,
    pub self_references: Vec<(Node, SourceRange)>,
}

pub(crate) fn build(configuration: &Configuration) -> Built {
    let mut found: BTreeMap<StaticNode, Option<SourceRange>> = BTreeMap::new();
    for (path, module) in configuration.modules() {
        collect(configuration, path, module, &mut found);
    }
    let mut built = Built::default();
    built.index.reserve(found.len());
    built.nodes.reserve(found.len());
    built.ranges.reserve(found.len());
    for (number, (node, range)) in (0u32..).zip(found) {
        built.index.insert(node.clone(), number);
        built.nodes.push(node);
        built.ranges.push(range);
    }
    for (path, module) in configuration.modules() {
        let mut wiring = Wiring {
            configuration,
            path,
            module,
            built: &mut built,
            at: 0,
        };
        wiring.module();
    }
    built
}

fn node(path: &ModulePath, what: What) -> StaticNode {
    StaticNode {
        module: path.clone(),
        what,
    }
}

fn collect(
    configuration: &Configuration,
    path: &ModulePath,
    module: &Module,
    found: &mut BTreeMap<StaticNode, Option<SourceRange>>,
) {
    for c in module.calls.values() {
        found.insert(node(path, What::ModuleCall(c.name.clone())), Some(c.range));
    }
    for v in module.variables.values() {
        found.insert(node(path, What::Variable(v.name.clone())), Some(v.range));
    }
    for l in module.locals.values() {
        found.insert(node(path, What::Local(l.name.clone())), Some(l.range));
    }
    for o in module.outputs.values() {
        found.insert(node(path, What::Output(o.name.clone())), Some(o.range));
    }
    for c in module.checks.values() {
        found.insert(node(path, What::Check(c.name.clone())), Some(c.range));
    }
    for p in module.providers.values() {
        let what = What::Provider {
            provider: module.provider_of_name(&p.local.name),
            alias: p.local.alias.clone(),
        };
        found.insert(node(path, what), Some(p.range));
    }
    let scoped = module.scoped_resources().map(|(_, r)| r);
    for r in module.resources.values().chain(scoped) {
        found.insert(node(path, What::Resource(r.address.clone())), Some(r.range));
        // A provider without a block has a node all the same, so that each resource has one to wait
        // for and the walk configures it.
        let provider = configuration.provider_of(path, r).config;
        let what = What::Provider {
            provider: provider.provider,
            alias: provider.alias,
        };
        found.entry(node(&provider.module, what)).or_insert(None);
    }
    for d in waited_for(module) {
        found.insert(node(path, What::ModuleDone(d)), None);
    }
}

/// Module calls that a `depends_on` of the module names.
fn waited_for(module: &Module) -> Vec<Arc<str>> {
    let scoped = module.scoped_resources().map(|(_, r)| r);
    let resources = module
        .resources
        .values()
        .chain(scoped)
        .map(|r| &r.depends_on);
    let calls = module.calls.values().map(|c| &c.depends_on);
    let outputs = module.outputs.values().map(|o| &o.depends_on);
    resources
        .chain(calls)
        .chain(outputs)
        .flatten()
        .filter_map(|d| match &d.reference.subject {
            Subject::ModuleCall(n) | Subject::ModuleCallInstance(n, _)
                if module.calls.contains_key(n) =>
            {
                Some(n.clone())
            }
            _ => None,
        })
        .collect()
}

/// Draws the edges of one module.
struct Wiring<'a> {
    configuration: &'a Configuration,
    path: &'a ModulePath,
    module: &'a Arc<Module>,
    built: &'a mut Built,
    /// The node whose edges are being drawn.
    at: Node,
}

impl Wiring<'_> {
    fn module(&mut self) {
        let module = self.module.clone();
        for c in module.calls.values() {
            self.start(What::ModuleCall(c.name.clone()));
            c.repetition
                .expression()
                .into_iter()
                .for_each(|e| self.all(expression_references(e)));
            self.depends_on(&c.depends_on);
            // Which provider configuration is handed in must be known when what is in it is planned.
            for key in c
                .providers
                .iter()
                .flatten()
                .filter_map(|p| p.parent.key.as_ref())
            {
                self.all(expression_references(key));
            }
            self.arguments(c);
        }
        for v in module.variables.values() {
            self.start(What::Variable(v.name.clone()));
            self.rules(&v.validations);
        }
        for l in module.locals.values() {
            self.start(What::Local(l.name.clone()));
            self.all(expression_references(&l.expression));
        }
        for o in module.outputs.values() {
            self.start(What::Output(o.name.clone()));
            self.all(expression_references(&o.expression));
            self.rules(&o.preconditions);
            self.depends_on(&o.depends_on);
        }
        for p in module.providers.values() {
            self.start(What::Provider {
                provider: module.provider_of_name(&p.local.name),
                alias: p.local.alias.clone(),
            });
            p.for_each
                .iter()
                .for_each(|e| self.all(expression_references(e)));
            self.all(body_references(&p.body));
        }
        for r in module.resources.values() {
            self.resource(r);
        }
        for (_, r) in module.scoped_resources() {
            self.resource(r);
        }
        for c in module.checks.values() {
            self.start(What::Check(c.name.clone()));
            self.rules(&c.asserts);
            if let Some(d) = &c.data {
                self.resource_edge(&d.address, None);
            }
        }
        for import in module.imports.iter().filter(|_| self.path.is_root()) {
            // What is imported, and by what id, must be known when the resource is planned.
            let to = node(
                &import.to_resource.module.path(),
                What::Resource(import.to_resource.resource.clone()),
            );
            if let Some(n) = self.built.index.get(&to) {
                self.at = *n;
                let given = [&import.for_each, &import.id, &import.identity];
                for e in given.into_iter().flatten().chain(import.to.computed_keys()) {
                    self.all(expression_references(e));
                }
            }
        }
        for name in waited_for(&module) {
            self.start(What::ModuleDone(name.clone()));
            self.everything_in(&self.path.child(&name));
        }
    }

    /// Begins the edges of a node; it needs the call of its module.
    fn start(&mut self, what: What) {
        if let Some(n) = self.built.index.get(&node(self.path, what)) {
            self.at = *n;
        }
        if let (Some(parent), Some(name)) = (self.path.parent(), self.path.name()) {
            self.edge_to(node(&parent, What::ModuleCall(Arc::from(name))), None);
        }
    }

    fn edge_to(&mut self, target: StaticNode, written: Option<SourceRange>) {
        let Some(to) = self.built.index.get(&target).copied() else {
            return; // Reported when the configuration was loaded.
        };
        self.edge(to, written);
    }

    fn edge(&mut self, to: Node, written: Option<SourceRange>) {
        if let Some(range) = written {
            self.built.written.entry((self.at, to)).or_insert(range);
        }
        self.built.edges.push((self.at, to));
    }

    /// Variables of a called module need what their arguments refer to here.
    fn arguments(&mut self, call: &ModuleCall) {
        let call_node = self.at;
        let child = self.path.child(&call.name);
        for a in &call.arguments {
            let variable = node(&child, What::Variable(a.name.clone()));
            if let Some(n) = self.built.index.get(&variable) {
                self.at = *n;
                self.all(expression_references(&a.expression));
            }
        }
        self.at = call_node;
    }

    fn resource(&mut self, r: &ResourceBlock) {
        self.start(What::Resource(r.address.clone()));
        r.repetition
            .expression()
            .into_iter()
            .for_each(|e| self.all(expression_references(e)));
        self.all(body_references(&r.body));
        r.connection
            .iter()
            .for_each(|c| self.all(body_references(c)));
        for p in &r.provisioners {
            self.all(body_references(&p.body));
            p.connection
                .iter()
                .for_each(|c| self.all(body_references(c)));
        }
        if let Some(e) = &r.lifecycle.prevent_destroy {
            self.all(expression_references(e));
        }
        self.rules(&r.lifecycle.preconditions);
        self.rules(&r.lifecycle.postconditions);
        r.lifecycle
            .replace_triggered_by
            .iter()
            .for_each(|e| self.all(expression_references(e)));
        self.depends_on(&r.depends_on);
        if let Some(key) = r.provider.as_ref().and_then(|p| p.key.as_ref()) {
            self.all(expression_references(key));
        }
        let provider = self.configuration.provider_of(self.path, r).config;
        let what = What::Provider {
            provider: provider.provider,
            alias: provider.alias,
        };
        self.edge_to(node(&provider.module, what), None);
    }

    fn rules(&mut self, rules: &[CheckRule]) {
        for rule in rules {
            self.all(expression_references(&rule.condition));
            self.all(expression_references(&rule.error_message));
        }
    }

    /// Edges to all that is referred to. What is wrong with references was said when the
    /// configuration was loaded.
    fn all(&mut self, (found, _): Checked<Vec<FoundReference>>) {
        found.iter().for_each(|f| self.reference(f));
    }

    fn reference(&mut self, f: &FoundReference) {
        let written = Some(f.subject_range());
        match &f.reference.subject {
            Subject::InputVariable(n) => {
                let target = node(self.path, What::Variable(n.clone()));
                // A validation refers to its own variable.
                if self.built.index.get(&target) != Some(&self.at) {
                    self.edge_to(target, written);
                }
            }
            Subject::LocalValue(n) => {
                self.edge_to(node(self.path, What::Local(n.clone())), written)
            }
            Subject::Resource(r) => self.resource_edge(r, written),
            Subject::ResourceInstance(r) => self.resource_edge(&r.resource, written),
            Subject::ModuleCallOutput(name, _, output) => {
                self.edge_to(node(self.path, What::ModuleCall(name.clone())), None);
                let target = node(&self.path.child(name), What::Output(output.clone()));
                self.edge_to(target, written);
            }
            Subject::ModuleCall(name) | Subject::ModuleCallInstance(name, _) => {
                self.edge_to(node(self.path, What::ModuleCall(name.clone())), written);
                let child = self.path.child(name);
                let outputs: Vec<_> = self
                    .configuration
                    .module(&child)
                    .map(|m| m.outputs.keys().cloned().collect())
                    .unwrap_or_default();
                for output in outputs {
                    self.edge_to(node(&child, What::Output(output)), written);
                }
            }
            _ => {}
        }
    }

    /// An edge to a resource, unless it is the one whose edges are being drawn: that is no matter of
    /// order but a mistake of its own.
    fn resource_edge(&mut self, r: &Resource, written: Option<SourceRange>) {
        let target = node(self.path, What::Resource(r.clone()));
        let Some(to) = self.built.index.get(&target).copied() else {
            return; // Reported when the configuration was loaded.
        };
        match written {
            Some(range) if to == self.at => self.built.self_references.push((self.at, range)),
            _ => self.edge(to, written),
        }
    }

    fn depends_on(&mut self, references: &[FoundReference]) {
        for f in references {
            match &f.reference.subject {
                Subject::ModuleCall(n) | Subject::ModuleCallInstance(n, _) => {
                    let target = node(self.path, What::ModuleDone(n.clone()));
                    self.edge_to(target, Some(f.range()));
                }
                _ => self.reference(f),
            }
        }
    }

    /// Edges to all that is done in a module and below.
    fn everything_in(&mut self, inner: &ModulePath) {
        let inside: Vec<StaticNode> = self
            .configuration
            .modules()
            .filter(|(p, _)| p.is_within(inner))
            .flat_map(|(p, m)| {
                let scoped = m.scoped_resources().map(|(_, r)| r);
                let resources = m
                    .resources
                    .values()
                    .chain(scoped)
                    .filter(|r| r.address.mode != ResourceMode::Ephemeral)
                    .map(|r| node(p, What::Resource(r.address.clone())));
                let outputs = m.outputs.keys().map(|o| node(p, What::Output(o.clone())));
                resources.chain(outputs).collect::<Vec<_>>()
            })
            .collect();
        if let (Some(parent), Some(name)) = (inner.parent(), inner.name()) {
            self.edge_to(node(&parent, What::ModuleCall(Arc::from(name))), None);
        }
        for target in inside {
            self.edge_to(target, None);
        }
    }
}
