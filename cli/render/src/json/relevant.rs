//! `relevant_attributes`: which attributes of which resources have a say in what the plan changes.
//!
//! Beginning with the blocks that change and the outputs, references are followed through local
//! values, inputs and outputs of modules, until they name a resource. Resources are named without
//! keys of module instances: this is about blocks, not about instances.

use super::write::Object;
use formwork_addresses::{ModulePath, ReferenceStep, Subject};
use formwork_configuration::{
    Configuration, FoundReference, Module, ResourceBlock, body_references, expression_references,
};
use formwork_plan::{Action, Plan, PlanMode};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The field, if there are any.
pub(crate) fn write_relevant_attributes(
    o: &mut Object<'_>,
    plan: &Plan,
    configuration: &Configuration,
) {
    let mut search = Search {
        configuration,
        seen: BTreeSet::new(),
        pending: Vec::new(),
        found: BTreeSet::new(),
    };
    for output in plan.outputs.iter().filter(|o| o.action() != Action::NoOp) {
        search.visit(Node::Output(ModulePath::root(), Arc::from(&*output.name)));
    }
    // Outputs of modules count whether anybody uses them or not.
    let all = configuration.modules();
    for (path, module) in all.filter(|(p, _)| !p.is_root() && plan.mode != PlanMode::Destroy) {
        for name in module.outputs.keys() {
            search.visit(Node::Output(path.clone(), name.clone()));
        }
    }
    let mut blocks = BTreeSet::new();
    for change in plan.changes.iter().filter(|c| c.action != Action::NoOp) {
        blocks.insert((change.address.module_path(), &change.address.resource));
    }
    for (path, resource) in blocks {
        let module = configuration.module(&path);
        if let Some(block) = module.and_then(|m| m.resource(resource)).cloned() {
            search.resource(&path, &block);
        }
    }
    search.run();
    if search.found.is_empty() {
        return;
    }
    o.array("relevant_attributes", |a| {
        for (resource, steps) in &search.found {
            a.object(|o| {
                o.text("resource", resource);
                o.array("attribute", |a| {
                    for step in steps {
                        match step {
                            Part::Text(t) => a.text(t),
                            Part::Number(n) => a.raw(&n.to_string()),
                        }
                    }
                });
            });
        }
    });
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Text(String),
    Number(i64),
}

/// Something whose references lead on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Local(ModulePath, Arc<str>),
    Variable(ModulePath, Arc<str>),
    Output(ModulePath, Arc<str>),
}

struct Search<'c> {
    configuration: &'c Configuration,
    seen: BTreeSet<Node>,
    pending: Vec<Node>,
    found: BTreeSet<(String, Vec<Part>)>,
}

impl Search<'_> {
    fn visit(&mut self, node: Node) {
        if self.seen.insert(node.clone()) {
            self.pending.push(node);
        }
    }

    fn run(&mut self) {
        let configuration = self.configuration;
        while let Some(node) = self.pending.pop() {
            match &node {
                Node::Local(path, name) => {
                    let local = configuration.module(path).and_then(|m| m.locals.get(name));
                    if let Some(local) = local {
                        self.references(path, expression_references(&local.expression).0);
                    }
                }
                Node::Output(path, name) => {
                    let output = configuration.module(path).and_then(|m| m.outputs.get(name));
                    if let Some(output) = output {
                        self.references(path, expression_references(&output.expression).0);
                    }
                }
                Node::Variable(path, name) => {
                    let Some((_, call)) = configuration.call_of(path) else {
                        continue;
                    };
                    if let (Some(argument), Some(parent)) = (call.argument(name), path.parent()) {
                        let found = expression_references(&argument.expression).0;
                        self.references(&parent, found);
                    }
                }
            }
        }
    }

    fn resource(&mut self, path: &ModulePath, block: &ResourceBlock) {
        self.references(path, body_references(&block.body).0);
        if let Some(e) = block.repetition.expression() {
            self.references(path, expression_references(e).0);
        }
    }

    fn references(&mut self, path: &ModulePath, found: Vec<FoundReference>) {
        for reference in found {
            self.reference(path, &reference);
        }
    }

    fn reference(&mut self, path: &ModulePath, found: &FoundReference) {
        let module = self.configuration.module(path).cloned();
        match &found.reference.subject {
            Subject::Resource(r) => self.resource_named(path, r.to_string(), found),
            Subject::ResourceInstance(r) => self.resource_named(path, r.to_string(), found),
            Subject::LocalValue(name) => self.visit(Node::Local(path.clone(), name.clone())),
            Subject::InputVariable(name) => self.visit(Node::Variable(path.clone(), name.clone())),
            Subject::ModuleCallOutput(call, _, output) => {
                self.visit(Node::Output(path.child(call), output.clone()));
            }
            Subject::ModuleCall(call) | Subject::ModuleCallInstance(call, _) => {
                let is_call = module.is_some_and(|m: Arc<Module>| m.calls.contains_key(call));
                let child = path.child(call);
                let outputs: Vec<Arc<str>> = self
                    .configuration
                    .module(&child)
                    .filter(|_| is_call)
                    .map(|m| m.outputs.keys().cloned().collect())
                    .unwrap_or_default();
                for output in outputs {
                    self.visit(Node::Output(child.clone(), output));
                }
            }
            _ => {}
        }
    }

    fn resource_named(&mut self, path: &ModulePath, resource: String, found: &FoundReference) {
        let address = match path.is_root() {
            true => resource,
            false => format!("{path}.{resource}"),
        };
        let steps = found
            .reference
            .remaining
            .iter()
            .map(|step| match step {
                ReferenceStep::Attribute(name) => Part::Text(name.to_string()),
                ReferenceStep::Index(formwork_addresses::InstanceKey::Int(n)) => Part::Number(*n),
                ReferenceStep::Index(formwork_addresses::InstanceKey::Text(t)) => {
                    Part::Text(t.to_string())
                }
                ReferenceStep::Index(formwork_addresses::InstanceKey::None) => {
                    Part::Text(String::new())
                }
            })
            .collect();
        self.found.insert((address, steps));
    }
}
