//! Where what is not known comes from: through locals, variables and outputs back to the attributes of
//! objects that only apply will tell.
//!
//! A value keeps its origin while it is handed on, but not through operations: `length(x.a.id)` has
//! none. So the references of an expression are followed instead. What is looked at has been evaluated
//! already; nothing is said of it again.

use crate::evaluator::Evaluator;
use crate::scope::{ModuleScope, RepetitionData};
use formwork_addresses::{InstanceKey, ModuleInstance, Subject};
use formwork_configuration::parse_reference;
use formwork_eval::value_of_reference;
use formwork_syntax::{Expression, Traversal, on_deep_stack};
use formwork_values::{Origin, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many places are looked into for one expression.
const PLACES: usize = 1_000;
/// How many origins are told apart.
const ORIGINS: usize = 32;

/// The attributes that an expression waits for, in the order in which they are met; empty if all of it
/// is known or if it cannot be told.
pub fn origins_of(expression: &Expression, scope: &ModuleScope<'_>) -> Vec<Arc<Origin>> {
    let mut search = Search {
        found: Vec::new(),
        seen: BTreeSet::new(),
    };
    on_deep_stack(|| search.expression(expression, scope));
    search.found
}

struct Search {
    found: Vec<Arc<Origin>>,
    /// Named values that have been looked into.
    seen: BTreeSet<(ModuleInstance, String)>,
}

impl Search {
    fn expression(&mut self, expression: &Expression, scope: &ModuleScope<'_>) {
        for reference in expression.variables() {
            if self.found.len() >= ORIGINS {
                return;
            }
            if let Some(value) = value_of_reference(reference, scope)
                && !value.is_wholly_known()
            {
                self.reference(reference, &value, scope);
            }
        }
    }

    fn reference(&mut self, reference: &Traversal, value: &Value, scope: &ModuleScope<'_>) {
        let before = self.found.len();
        value.walk(&mut |_, v| {
            if let Some(origin) = v.origin() {
                self.add(origin);
            }
            self.found.len() < ORIGINS
        });
        if self.found.len() > before {
            return;
        }
        let Ok(parsed) = parse_reference(reference) else {
            return;
        };
        on_deep_stack(|| self.behind(&parsed.reference.subject, scope));
    }

    fn add(&mut self, origin: &Arc<Origin>) {
        if self.found.len() < ORIGINS && !self.found.contains(origin) {
            self.found.push(origin.clone());
        }
    }

    /// Looks into what a name stands for.
    fn behind(&mut self, subject: &Subject, scope: &ModuleScope<'_>) {
        let instance = scope.instance();
        if self.seen.len() >= PLACES || !self.seen.insert((instance.clone(), subject.to_string())) {
            return;
        }
        let evaluator = scope.evaluator();
        let Some(module) = evaluator.module(instance) else {
            return;
        };
        match subject {
            Subject::LocalValue(name) => {
                if let Some(local) = module.locals.get(name) {
                    self.expression(&local.expression, &evaluator.scope(instance));
                }
            }
            Subject::InputVariable(name) => {
                let (Some(parent), Some(step)) = (instance.parent(), instance.steps().last())
                else {
                    return;
                };
                let call = evaluator
                    .module(&parent)
                    .and_then(|m| m.calls.get(&step.name));
                if let Some(call) = call
                    && let Some(argument) = call.argument(name)
                {
                    let repetition = evaluator.call_repetition(&parent, call, &step.key);
                    let scope = ModuleScope::new(evaluator, &parent, repetition);
                    self.expression(&argument.expression, &scope);
                }
            }
            Subject::ModuleCallOutput(name, key, output) => {
                let key = Some(key).filter(|k| **k != InstanceKey::None);
                self.outputs(evaluator, instance, name, key, Some(output));
            }
            Subject::ModuleCallInstance(name, key) => {
                self.outputs(evaluator, instance, name, Some(key), None);
            }
            Subject::ModuleCall(name) => self.outputs(evaluator, instance, name, None, None),
            _ => {}
        }
    }

    /// Looks into outputs of a call: of one instance or all, one output or all.
    fn outputs(
        &mut self,
        evaluator: &Evaluator,
        caller: &ModuleInstance,
        name: &Arc<str>,
        key: Option<&InstanceKey>,
        output: Option<&Arc<str>>,
    ) {
        let expansion = evaluator.objects().call_expansion(caller, name);
        for k in expansion.map(|e| e.keys()).unwrap_or_default() {
            if key.is_some_and(|wanted| *wanted != k) {
                continue;
            }
            let child = caller.child(name, k);
            let Some(module) = evaluator.module(&child) else {
                continue;
            };
            for (n, block) in &module.outputs {
                if output.is_none_or(|o| o == n)
                    && self.seen.len() < PLACES
                    && self.seen.insert((child.clone(), format!("output.{n}")))
                {
                    let scope = ModuleScope::new(evaluator, &child, RepetitionData::default());
                    self.expression(&block.expression, &scope);
                }
            }
        }
    }
}
