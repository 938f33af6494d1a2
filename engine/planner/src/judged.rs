//! Blocks that are nothing but judged or said: outputs, checks and validations of variables, and what of
//! their conditions is left to apply.

use crate::conditions::{judge, judge_for, placed_at_value};
use crate::execution::OpenCheck;
use crate::walk::{Walk, join, lock};
use formwork_addresses::{AbsResourceInstance, ModuleInstance, ModulePath, ResourceMode};
use formwork_configuration::{Configuration, Module};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_evaluation::{Condition, Verdict, referenced};
use formwork_graph::{Node, Visit};
use formwork_plan::{
    Action, CheckKind, CheckObject, CheckResult, CheckStatus, PlanMode, ResourceInstanceChange,
};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Walk<'_> {
    /// Leaves the conditions of an instance to apply. Those of a node that waits are left to a later
    /// round.
    pub(crate) fn leave_open(&self, node: Option<Node>, block: String, instance: String) {
        if node.is_some_and(|n| self.is_waiting(n)) {
            return;
        }
        lock(&self.open_checks).insert(OpenCheck { block, instance });
    }

    pub(crate) async fn validations(
        &self,
        node: Node,
        instance: &ModuleInstance,
        module: &Module,
        name: &Arc<str>,
    ) -> Diagnostics {
        let Some(variable) = module.variables.get(name) else {
            return Diagnostics::new();
        };
        if variable.validations.is_empty() {
            return Diagnostics::new();
        }
        let evaluator = &self.input.evaluator;
        let block = join(&instance.path().to_string(), &format!("var.{name}"));
        self.results.declare(CheckKind::Variable, &block);
        let functions = evaluator.functions(module);
        let scope = evaluator.scope(instance);
        let (verdicts, mut said) = judge(
            evaluator,
            &variable.validations,
            Condition::Validation,
            &scope,
            &functions,
        )
        .await;
        placed_at_value(evaluator, instance, name, &mut said);
        let address = join(&instance.to_string(), &format!("var.{name}"));
        self.results
            .add(CheckKind::Variable, &block, &address, &verdicts);
        if verdicts.contains(&Verdict::Unknown) {
            self.leave_open(Some(node), block, address);
        }
        said
    }

    pub(crate) async fn output(
        &self,
        node: Node,
        path: &ModulePath,
        module: &Module,
        name: &Arc<str>,
    ) -> Visit {
        let evaluator = &self.input.evaluator;
        let Some(output) = module.outputs.get(name) else {
            return Visit::Done;
        };
        let block = join(&path.to_string(), &format!("output.{name}"));
        if !output.preconditions.is_empty() {
            self.results.declare(CheckKind::Output, &block);
        }
        let mut all = Diagnostics::new();
        for instance in evaluator.module_instances(path) {
            let functions = evaluator.functions(module);
            let scope = evaluator.scope(&instance);
            let (holds, verdicts, said) = judge_for(
                self.input.mode,
                evaluator,
                &output.preconditions,
                Condition::Output,
                &scope,
                &functions,
            )
            .await;
            all.append(said);
            if !output.preconditions.is_empty() {
                let address = join(&instance.to_string(), &format!("output.{name}"));
                self.results
                    .add(CheckKind::Output, &block, &address, &verdicts);
                if verdicts.contains(&Verdict::Unknown) {
                    self.leave_open(Some(node), block.clone(), address);
                }
            }
            if !holds {
                continue;
            }
            all.append(
                evaluator
                    .prepare_output(&instance, name)
                    .await
                    .take_diagnostics(),
            );
        }
        if path.is_root() && !all.has_errors() {
            lock(&self.outputs_done).insert(name.clone());
        }
        self.say(all)
    }

    pub(crate) async fn check(
        &self,
        node: Node,
        path: &ModulePath,
        module: &Module,
        name: &Arc<str>,
    ) -> Visit {
        let evaluator = &self.input.evaluator;
        let Some(check) = module.checks.get(name) else {
            return Visit::Done;
        };
        let block = join(&path.to_string(), &format!("check.{name}"));
        self.results.declare(CheckKind::Check, &block);
        for instance in evaluator.module_instances(path) {
            let functions = evaluator.functions(module);
            let scope = evaluator.scope(&instance);
            let (verdicts, said) = judge(
                evaluator,
                &check.asserts,
                Condition::Assertion,
                &scope,
                &functions,
            )
            .await;
            let address = join(&instance.to_string(), &format!("check.{name}"));
            self.results
                .add(CheckKind::Check, &block, &address, &verdicts);
            let mut said = said;
            if verdicts.contains(&Verdict::Unknown) {
                // With a data source that could not be read, that has been said.
                if check.data.is_none() {
                    for (rule, verdict) in check.asserts.iter().zip(&verdicts) {
                        if *verdict == Verdict::Unknown {
                            let mut open = known_after_apply(rule.condition.range(), &address);
                            open.values = referenced(rule, &scope);
                            said.push(open);
                        }
                    }
                }
                self.leave_open(Some(node), block.clone(), address);
            }
            // An assertion never fails a run, not even one that cannot be evaluated.
            let mut softened = Diagnostics::new();
            for mut d in said {
                d.severity = formwork_diagnostics::Severity::Warning;
                softened.push(d);
            }
            let _ = self.say(softened);
        }
        Visit::Done
    }
}

fn known_after_apply(range: formwork_diagnostics::SourceRange, check: &str) -> Diagnostic {
    Diagnostic::warning(
        "Check block assertion known after apply",
        "The assertion refers to values that are known only after apply. It is judged then.",
    )
    .at(range)
    .about(check)
}

/// What is left to apply: everything said to be, and conditions of objects that nothing else is done
/// to. Where something is done, the conditions are judged along with it. What is destroyed is not
/// checked.
pub(crate) fn open_checks(walk: &Walk<'_>, changes: &[ResourceInstanceChange]) -> Vec<OpenCheck> {
    if walk.input.mode != PlanMode::Normal {
        return Vec::new();
    }
    let busy: BTreeSet<&AbsResourceInstance> = changes
        .iter()
        .filter(|c| c.deposed.is_none() && c.action != Action::NoOp)
        .map(|c| &c.address)
        .collect();
    let configuration = walk.input.evaluator.configuration();
    let mut open = lock(&walk.open_checks).clone();
    for address in lock(&walk.open_conditions).iter() {
        let path = address.module_path();
        // What is read for a check alone is the check's matter.
        // An ephemeral resource's are judged where it is opened.
        let on_its_own = address.resource.mode != ResourceMode::Ephemeral
            && configuration
                .module(&path)
                .is_some_and(|m| m.resources.contains_key(&address.resource));
        if on_its_own && !busy.contains(address) {
            open.insert(OpenCheck {
                block: join(&path.to_string(), &address.resource.to_string()),
                instance: address.to_string(),
            });
        }
    }
    open.into_iter().collect()
}

/// The results, with the blocks that nobody came to judge.
pub(crate) fn with_unjudged(walk: &Walk<'_>) -> Vec<CheckResult> {
    let mut judged = walk.results.take();
    let known: BTreeSet<(CheckKind, String)> =
        judged.iter().map(|c| (c.kind, c.address.clone())).collect();
    let mut all = unjudged(walk.input.evaluator.configuration(), walk.input.mode);
    all.retain(|c| !known.contains(&(c.kind, c.address.clone())));
    judged.append(&mut all);
    judged
}

/// Every block with conditions, none of them judged: what is destroyed is not checked.
pub(crate) fn unjudged(configuration: &Configuration, mode: PlanMode) -> Vec<CheckResult> {
    let mut blocks = BTreeSet::new();
    for (path, module) in configuration.modules() {
        let mut add = |kind, name: String| blocks.insert((kind, join(&path.to_string(), &name)));
        for (address, r) in &module.resources {
            if !r.lifecycle.preconditions.is_empty() || !r.lifecycle.postconditions.is_empty() {
                add(CheckKind::Resource, address.to_string());
            }
        }
        for o in module.outputs.values() {
            if !o.preconditions.is_empty() {
                add(CheckKind::Output, format!("output.{}", o.name));
            }
        }
        for name in module.checks.keys() {
            add(CheckKind::Check, format!("check.{name}"));
        }
        for v in module.variables.values() {
            if !v.validations.is_empty() {
                add(CheckKind::Variable, format!("var.{}", v.name));
            }
        }
    }
    blocks
        .into_iter()
        .map(|(kind, address)| {
            // what exists once whatever is planned is one object; how many others there are is not known
            let once = match kind {
                CheckKind::Output => mode == PlanMode::Destroy && address.starts_with("output."),
                CheckKind::Check => mode != PlanMode::Destroy && address.starts_with("check."),
                _ => false,
            };
            let object = |address: &String| CheckObject {
                address: address.clone(),
                status: CheckStatus::Unknown,
                failures: Vec::new(),
            };
            CheckResult {
                kind,
                objects: once.then(|| object(&address)).into_iter().collect(),
                address,
                status: CheckStatus::Unknown,
            }
        })
        .collect()
}
