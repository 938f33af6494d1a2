//! `replace_triggered_by`: whether something that it names is about to change.

use crate::managed::Shared;
use crate::walk::{Walk, lock};
use formwork_addresses::{AbsResourceInstance, InstanceKey, ReferenceStep, Resource, Subject};
use formwork_configuration::expression_references;
use formwork_diagnostics::Diagnostics;
use formwork_evaluation::{ModuleFunctions, ModuleScope, computed_key};
use formwork_plan::{Action, ResourceInstanceChange};
use formwork_values::{Path, Value};

impl<'a> Walk<'a> {
    pub(crate) async fn triggered(
        &self,
        shared: &Shared<'_>,
        scope: &ModuleScope<'_>,
        functions: &ModuleFunctions<'_>,
    ) -> (bool, Diagnostics) {
        let mut said = Diagnostics::new();
        let mut triggered = false;
        for expression in &shared.block.lifecycle.replace_triggered_by {
            let (found, _) = expression_references(expression);
            let Some(reference) =
                found
                    .into_iter()
                    .find_map(|f| match f.reference.subject.clone() {
                        Subject::Resource(r) => Some((r, None, f.reference.remaining)),
                        Subject::ResourceInstance(i) => {
                            Some((i.resource, Some(i.key), f.reference.remaining))
                        }
                        _ => None,
                    })
            else {
                continue;
            };
            let (resource, mut key, mut steps) = reference;
            if key.is_none()
                && let Some((computed, after)) = computed_key(expression)
            {
                let (value, problems) = self
                    .input
                    .evaluator
                    .calls()
                    .settled(|r| scope.read(&computed, functions, r))
                    .await;
                said.append(problems);
                key = as_key(&value);
                steps = after;
            }
            triggered |= self.is_triggered(shared, &resource, key.as_ref(), &steps);
        }
        (triggered, said)
    }

    fn is_triggered(
        &self,
        shared: &Shared<'_>,
        resource: &Resource,
        key: Option<&InstanceKey>,
        steps: &[ReferenceStep],
    ) -> bool {
        let address = resource.in_module(shared.module_instance);
        let path = path_of(steps);
        if let Some(key) = key {
            return self.one_triggers(&address.instance(key.clone()), &path);
        }
        let asked = (address, path);
        if let Some(known) = lock(&self.any_triggers).get(&asked) {
            return *known;
        }
        let (address, path) = &asked;
        let keys = self
            .input
            .evaluator
            .objects()
            .expansion(address)
            .map(|e| e.keys());
        let any = keys
            .unwrap_or_default()
            .into_iter()
            .any(|k| self.one_triggers(&address.instance(k), path));
        lock(&self.any_triggers).insert(asked, any);
        any
    }

    fn one_triggers(&self, address: &AbsResourceInstance, path: &Path) -> bool {
        let changes = lock(&self.changes);
        let at = lock(&self.index).get(address).copied();
        at.and_then(|at| changes.get(at))
            .is_some_and(|c| triggers(c, path))
    }
}

/// Whether a change, or the change of one part of the object, triggers.
fn triggers(change: &ResourceInstanceChange, path: &Path) -> bool {
    if path.is_empty() {
        return change.action == Action::Update || change.action.is_replace();
    }
    if matches!(change.action, Action::NoOp | Action::Delete | Action::Read) {
        return false;
    }
    let at = |v: &Value| v.clone().unmark_deep().0.at(path).ok();
    match (at(&change.before), at(&change.after)) {
        (Some(before), Some(after)) => before != after || !after.is_wholly_known(),
        (None, None) => false,
        _ => true,
    }
}

fn as_key(value: &Value) -> Option<InstanceKey> {
    let value = value.unmarked();
    if let Some(text) = value.as_shared_str() {
        return Some(InstanceKey::Text(text.clone()));
    }
    value
        .as_number()
        .and_then(formwork_values::Number::to_i64)
        .map(InstanceKey::Int)
}

fn path_of(steps: &[ReferenceStep]) -> Path {
    steps.iter().fold(Path::ROOT, |path, step| match step {
        ReferenceStep::Attribute(name) => path.attribute(name.clone()),
        ReferenceStep::Index(InstanceKey::Text(k)) => path.key(k.clone()),
        ReferenceStep::Index(InstanceKey::Int(n)) => path.index(Value::int(*n)),
        ReferenceStep::Index(InstanceKey::None) => path,
    })
}
