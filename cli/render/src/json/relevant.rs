//! `relevant_attributes`: which attributes of which resources have a say in what the plan changes.
//!
//! Beginning with the blocks that change and the outputs, references are followed through local
//! values, inputs and outputs of modules, until they name a resource. Within a module it is the same
//! instance of it that is spoken of; whoever refers to a module without a key speaks of all of them at
//! once, and then the key is left out.

use super::write::Object;
use formwork_addresses::{InstanceKey, ModuleInstance, ModulePath, ReferenceStep, Subject};
use formwork_configuration::{
    Configuration, FoundReference, Module, ResourceBlock, body_references, expression_references,
};
use formwork_plan::{Action, Plan, PlanMode};
use std::collections::{BTreeMap, BTreeSet};
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
        search.visit(Node::Output(
            ModuleInstance::root(),
            Arc::from(&*output.name),
        ));
    }
    // Outputs of modules count whether anybody uses them or not.
    let all = configuration.modules();
    let known = module_instances(plan);
    for (path, module) in all.filter(|(p, _)| !p.is_root() && plan.mode != PlanMode::Destroy) {
        let unkeyed = BTreeSet::from([path.unkeyed_instance()]);
        for instance in known.get(path).unwrap_or(&unkeyed) {
            for name in module.outputs.keys() {
                search.visit(Node::Output(instance.clone(), name.clone()));
            }
        }
    }
    let mut blocks = BTreeSet::new();
    for change in plan.changes.iter().filter(|c| c.action != Action::NoOp) {
        blocks.insert((&change.address.module, &change.address.resource));
    }
    for (path, resource) in blocks {
        let module = configuration.module(&path.path());
        if let Some(block) = module.and_then(|m| m.resource(resource)).cloned() {
            search.resource(path, &block);
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

/// The instances of modules that the plan's objects lie in, by module.
fn module_instances(plan: &Plan) -> BTreeMap<ModulePath, BTreeSet<ModuleInstance>> {
    let mut all: BTreeMap<ModulePath, BTreeSet<ModuleInstance>> = BTreeMap::new();
    let mut last = None;
    for change in &plan.changes {
        // objects of one module stand together
        let module = &change.address.module;
        if last == Some(module) {
            continue;
        }
        last = Some(module);
        let mut here = Some(module.clone());
        while let Some(module) = here.filter(|m| !m.is_root()) {
            let known = all.entry(module.path()).or_default();
            here = known
                .insert(module.clone())
                .then(|| module.parent())
                .flatten();
        }
    }
    all
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Text(String),
    Number(i64),
}

/// Something whose references lead on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Local(ModuleInstance, Arc<str>),
    Variable(ModuleInstance, Arc<str>),
    Output(ModuleInstance, Arc<str>),
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
                    let module = configuration.module(&path.path());
                    let local = module.and_then(|m| m.locals.get(name));
                    if let Some(local) = local {
                        self.references(path, expression_references(&local.expression).0);
                    }
                }
                Node::Output(path, name) => {
                    let module = configuration.module(&path.path());
                    let output = module.and_then(|m| m.outputs.get(name));
                    if let Some(output) = output {
                        self.references(path, expression_references(&output.expression).0);
                    }
                }
                Node::Variable(path, name) => {
                    let Some((_, call)) = configuration.call_of(&path.path()) else {
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

    fn resource(&mut self, path: &ModuleInstance, block: &ResourceBlock) {
        self.references(path, body_references(&block.body).0);
        if let Some(e) = block.repetition.expression() {
            self.references(path, expression_references(e).0);
        }
    }

    fn references(&mut self, path: &ModuleInstance, found: Vec<FoundReference>) {
        for reference in found {
            self.reference(path, &reference);
        }
    }

    fn reference(&mut self, path: &ModuleInstance, found: &FoundReference) {
        let module = self.configuration.module(&path.path()).cloned();
        match &found.reference.subject {
            Subject::Resource(r) => self.resource_named(path, r.to_string(), found),
            Subject::ResourceInstance(r) => self.resource_named(path, r.to_string(), found),
            Subject::LocalValue(name) => self.visit(Node::Local(path.clone(), name.clone())),
            Subject::InputVariable(name) => self.visit(Node::Variable(path.clone(), name.clone())),
            Subject::ModuleCallOutput(call, key, output) => {
                self.visit(Node::Output(path.child(call, key.clone()), output.clone()));
            }
            Subject::ModuleCall(call) | Subject::ModuleCallInstance(call, _) => {
                let key = match &found.reference.subject {
                    Subject::ModuleCallInstance(_, key) => key.clone(),
                    _ => InstanceKey::None,
                };
                let is_call = module.is_some_and(|m: Arc<Module>| m.calls.contains_key(call));
                let child = path.child(call, key);
                let outputs: Vec<Arc<str>> = self
                    .configuration
                    .module(&child.path())
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

    fn resource_named(&mut self, path: &ModuleInstance, resource: String, found: &FoundReference) {
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
