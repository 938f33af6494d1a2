//! Why an object is replaced: which expression forces it, where that stands, and what change further up
//! it follows.
//!
//! The expression is found by the path of the attribute that cannot be changed in place; from its
//! references the search goes on through local values and the inputs and outputs of modules, until it
//! comes to resources that the plan changes, or to variables of the root module. Answers are kept by
//! block and attribute: the instances of a block share them.

use formwork_addresses::{AbsResourceInstance, ModulePath, Resource, Subject};
use formwork_configuration::{
    Configuration, FoundReference, ResourceBlock, body_references, expression_references,
};
use formwork_diagnostics::{SourceMap, SourceRange};
use formwork_plan::{Action, ActionReason, Plan, ResourceInstanceChange};
use formwork_syntax::Body;
use formwork_values::{Path, Step};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// So many causes of one replacement are named.
const MOST: usize = 3;

/// Finds causes.
pub(crate) struct Causes<'c> {
    configuration: &'c Configuration,
    sources: &'c SourceMap,
    /// What happens to the instances of each resource, the gravest of it.
    changed: BTreeMap<(ModulePath, &'c Resource), Action>,
    known: RefCell<BTreeMap<Key, Vec<String>>>,
}

/// A block, and the path of an attribute of it; none for what its lifecycle settings say.
type Key = (ModulePath, Resource, Option<String>);

impl<'c> Causes<'c> {
    pub(crate) fn new(
        plan: &'c Plan,
        configuration: &'c Configuration,
        sources: &'c SourceMap,
    ) -> Self {
        let weight = |action: Action| match action {
            a if a.is_replace() => 3,
            Action::Create | Action::Delete => 2,
            Action::Update => 1,
            _ => 0,
        };
        let mut changed: BTreeMap<(ModulePath, &Resource), Action> = BTreeMap::new();
        for change in plan.changes.iter().filter(|c| c.action.changes_objects()) {
            let key = (change.address.module_path(), &change.address.resource);
            let known = changed.entry(key).or_insert(change.action);
            if weight(change.action) > weight(*known) {
                *known = change.action;
            }
        }
        Self {
            configuration,
            sources,
            changed,
            known: RefCell::new(BTreeMap::new()),
        }
    }

    /// The causes of a replacement, a sentence each without its full stop; none for what has no
    /// expression, such as a taint.
    pub(crate) fn of(&self, change: &ResourceInstanceChange) -> Vec<String> {
        let address = &change.address;
        match change.reason {
            Some(ActionReason::ReplaceBecauseCannotUpdate) => {
                let mut all = Vec::new();
                for path in &change.replace_paths {
                    all.extend(self.of_path(address, path));
                }
                all
            }
            Some(ActionReason::ReplaceByTriggers) => self.remembered(address, None, |block, at| {
                let triggers = block.lifecycle.replace_triggered_by.iter();
                triggers
                    .flat_map(|e| {
                        let found = expression_references(e).0;
                        self.sentence("replace_triggered_by", e.range(), at, found)
                    })
                    .collect()
            }),
            _ => Vec::new(),
        }
    }

    fn of_path(&self, address: &AbsResourceInstance, path: &Path) -> Vec<String> {
        let name = path.to_string().trim_start_matches('.').to_owned();
        self.remembered(address, Some(name.clone()), |block, at| {
            let (range, found) = written(&block.body, path.steps());
            match range {
                Some(range) => self.sentence(&name, range, at, found).into_iter().collect(),
                None => Vec::new(),
            }
        })
    }

    fn remembered(
        &self,
        address: &AbsResourceInstance,
        path: Option<String>,
        find: impl FnOnce(&ResourceBlock, &ModulePath) -> Vec<String>,
    ) -> Vec<String> {
        let module = address.module_path();
        let key = (module.clone(), address.resource.clone(), path);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let block = self.configuration.module(&module);
        let block = block.and_then(|m| m.resource(&address.resource));
        let found = block.map_or_else(Vec::new, |block| find(block, &module));
        self.known.borrow_mut().insert(key, found.clone());
        found
    }

    /// `main.tf:12: network follows google_compute_network.main, which is replaced`
    fn sentence(
        &self,
        name: &str,
        range: SourceRange,
        module: &ModulePath,
        found: Vec<FoundReference>,
    ) -> Option<String> {
        let file = self.sources.get(range.file)?;
        let line = file.position(range.start).line;
        let mut causes = self.upstream(module, found);
        let more = causes.len().saturating_sub(MOST);
        causes.truncate(MOST);
        if more > 0 {
            causes.push(format!("{more} more"));
        }
        Some(if causes.is_empty() {
            format!("{name} is set at {}:{line}", file.name)
        } else {
            format!(
                "{name} is set at {}:{line} and follows {}",
                file.name,
                causes.join("; ")
            )
        })
    }

    /// What references lead to that changes: resources of the plan, variables of the root module.
    fn upstream(&self, module: &ModulePath, found: Vec<FoundReference>) -> Vec<String> {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut causes = Vec::new();
        let mut pending: Vec<(ModulePath, FoundReference)> =
            found.into_iter().map(|f| (module.clone(), f)).collect();
        pending.reverse();
        while let Some((path, reference)) = pending.pop() {
            let subject = &reference.reference.subject;
            if !seen.insert(format!("{path} {subject:?}")) {
                continue;
            }
            let mut further = |path: ModulePath, found: Vec<FoundReference>| {
                pending.extend(found.into_iter().rev().map(|f| (path.clone(), f)));
            };
            match subject {
                Subject::Resource(r) => causes.extend(self.changing(&path, r)),
                Subject::ResourceInstance(r) => causes.extend(self.changing(&path, &r.resource)),
                Subject::LocalValue(name) => {
                    let local = self.configuration.module(&path);
                    if let Some(local) = local.and_then(|m| m.locals.get(name)) {
                        further(path, expression_references(&local.expression).0);
                    }
                }
                Subject::InputVariable(name) if path.is_root() => {
                    causes.push(format!("var.{name}"))
                }
                Subject::InputVariable(name) => {
                    let argument = self.configuration.call_of(&path);
                    let argument = argument.and_then(|(_, call)| call.argument(name));
                    if let (Some(argument), Some(parent)) = (argument, path.parent()) {
                        further(parent, expression_references(&argument.expression).0);
                    }
                }
                Subject::ModuleCallOutput(call, _, output) => {
                    let child = path.child(call);
                    let module = self.configuration.module(&child);
                    if let Some(output) = module.and_then(|m| m.outputs.get(output)) {
                        further(child, expression_references(&output.expression).0);
                    }
                }
                Subject::ModuleCall(call) | Subject::ModuleCallInstance(call, _) => {
                    let child = path.child(call);
                    if let Some(module) = self.configuration.module(&child) {
                        for output in module.outputs.values() {
                            further(child.clone(), expression_references(&output.expression).0);
                        }
                    }
                }
                _ => {}
            }
        }
        causes
    }

    fn changing(&self, module: &ModulePath, resource: &Resource) -> Option<String> {
        let action = self.changed.get(&(module.clone(), resource))?;
        let what = match action {
            Action::Create => "which is created",
            Action::Delete => "which is destroyed",
            a if a.is_replace() => "which is replaced",
            _ => "which changes",
        };
        let prefix = match module.is_root() {
            true => String::new(),
            false => format!("{module}."),
        };
        Some(format!("{prefix}{resource}, {what}"))
    }
}

/// Where a body sets what lies at a path, and what is referred to there. Of blocks that are made by
/// `dynamic` the whole block counts.
fn written(body: &Body, steps: &[Step]) -> (Option<SourceRange>, Vec<FoundReference>) {
    let Some(Step::Attribute(name)) = steps.first() else {
        return (None, Vec::new());
    };
    if let Some(attribute) = body.attribute(name) {
        let found = expression_references(&attribute.expression).0;
        return (Some(attribute.expression.range()), found);
    }
    let blocks: Vec<_> = body
        .blocks()
        .iter()
        .filter(|b| b.block_type == *name)
        .collect();
    let (index, rest) = match steps.get(1) {
        Some(Step::Index(key)) => {
            let n = key.unmarked().as_number();
            let n = n.and_then(|n| n.to_string().parse().ok()).unwrap_or(0);
            (n, steps.get(2..).unwrap_or_default())
        }
        _ => (0, steps.get(1..).unwrap_or_default()),
    };
    if let Some(block) = blocks.get(index).or_else(|| blocks.first()) {
        let (inner, found) = written(&block.body, rest);
        return match inner {
            Some(range) => (Some(range), found),
            None => (Some(block.header_range()), body_references(&block.body).0),
        };
    }
    let made = |b: &&formwork_syntax::Block| {
        &*b.block_type == "dynamic" && b.label(0).is_some_and(|l| **l == **name)
    };
    match body.blocks().iter().find(made) {
        Some(block) => (Some(block.header_range()), body_references(&block.body).0),
        None => (None, Vec::new()),
    }
}
