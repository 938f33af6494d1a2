//! Conditions, outputs and checks that only apply can decide.

use crate::run::{Ended, Run, lock};
use formwork_addresses::{AbsResourceInstance, ModuleInstance};
use formwork_configuration::{CheckRule, Module};
use formwork_diagnostics::{Diagnostics, Severity};
use formwork_evaluation::{Condition, ModuleFunctions, ModuleScope, Verdict, check};
use formwork_plan::{CheckKind, CheckObject, CheckStatus};
use formwork_state::OutputState;

impl Run<'_> {
    /// Judges rules; the answer says whether none is broken.
    pub(crate) async fn judge(
        &self,
        rules: &[CheckRule],
        kind: Condition,
        scope: &ModuleScope<'_>,
        functions: &ModuleFunctions<'_>,
    ) -> (Vec<Verdict>, Diagnostics) {
        let mut verdicts = Vec::with_capacity(rules.len());
        let mut said = Diagnostics::new();
        for rule in rules {
            let (verdict, problems) = self
                .input
                .evaluator
                .calls()
                .settled(|r| check(rule, kind, scope, functions, r))
                .await;
            said.append(problems);
            verdicts.push(verdict);
        }
        (verdicts, said)
    }

    /// Judges the conditions of an instance and keeps the result.
    pub(crate) async fn conditions_hold(
        &self,
        rules: &[CheckRule],
        kind: Condition,
        address: &AbsResourceInstance,
        scope: &ModuleScope<'_>,
        functions: &ModuleFunctions<'_>,
    ) -> bool {
        if rules.is_empty() {
            return true;
        }
        let (verdicts, mut said) = self.judge(rules, kind, scope, functions).await;
        said.default_address(address);
        self.keep_result(CheckKind::Resource, &address.to_string(), &verdicts);
        self.say(said);
        !verdicts
            .iter()
            .any(|v| matches!(v, Verdict::Fail(_) | Verdict::Error))
    }

    /// Replaces what the plan could not say of an object's conditions.
    pub(crate) fn keep_result(&self, kind: CheckKind, address: &str, verdicts: &[Verdict]) {
        let mut status = CheckStatus::Pass;
        let mut failures = Vec::new();
        for verdict in verdicts {
            status = status.max(match verdict {
                Verdict::Pass => CheckStatus::Pass,
                Verdict::Unknown => CheckStatus::Unknown,
                Verdict::Error => CheckStatus::Error,
                Verdict::Fail(message) => {
                    failures.push(message.clone());
                    CheckStatus::Fail
                }
            });
        }
        let mut checks = lock(&self.checks);
        for result in checks.iter_mut().filter(|r| r.kind == kind) {
            for object in result.objects.iter_mut().filter(|o| o.address == address) {
                // An instance has pre- and postconditions; a failure of either stays.
                if object.status == CheckStatus::Unknown || status > object.status {
                    *object = CheckObject {
                        address: address.to_owned(),
                        status,
                        failures: failures.clone(),
                    };
                }
            }
            result.status = result
                .objects
                .iter()
                .map(|o| o.status)
                .max()
                .unwrap_or(CheckStatus::Pass);
        }
    }

    /// Gives a root output its value.
    pub(crate) async fn output(&self, name: &str) -> Ended {
        let change = self.input.plan.outputs.iter().find(|o| o.name == name);
        let removed = change.is_some_and(|c| c.after.is_none());
        if removed {
            self.input
                .record
                .change(|s| drop(s.remove_output(name)))
                .await;
            return Ended::Done;
        }
        let root = ModuleInstance::root();
        let evaluator = &self.input.evaluator;
        let memo = evaluator.prepare_output(&root, name).await;
        let mut said = memo.take_diagnostics();
        let sensitive = evaluator
            .configuration()
            .root()
            .and_then(|m| m.outputs.get(name))
            .is_some_and(|o| o.sensitive);
        if !said.has_errors() && !memo.has_errors() {
            if memo.value.is_known() && memo.value.is_null() {
                self.input
                    .record
                    .change(|s| drop(s.remove_output(name)))
                    .await;
            } else {
                match OutputState::from_value(&memo.value, sensitive) {
                    Ok(output) => self.input.record.change(|s| s.set_output(name, output)).await,
                    Err(_) => said.push(
                        formwork_diagnostics::Diagnostic::error(
                            "Output value not known",
                            format!(
                                "The value of output \"{name}\" holds something that is not known although \
                                 everything that it refers to is done."
                            ),
                        )
                        .about(format!("output.{name}")),
                    ),
                }
            }
        }
        let failed = said.has_errors();
        self.say(said);
        if failed { Ended::Failed } else { Ended::Done }
    }

    /// Decides a check block's assertions or an output's preconditions, by the address of the
    /// instance.
    pub(crate) async fn check(&self, address: &str) -> Ended {
        let Some((head, name)) = address.rsplit_once('.') else {
            return Ended::Done;
        };
        let (module, word) = head.rsplit_once('.').unwrap_or(("", head));
        let Ok(instance) = module.parse::<ModuleInstance>() else {
            return Ended::Done;
        };
        let evaluator = &self.input.evaluator;
        let Some(m) = evaluator.module(&instance) else {
            return Ended::Done;
        };
        let m: &Module = m;
        let functions = evaluator.functions(m);
        let scope = evaluator.scope(&instance);
        let (rules, kind, which) = match word {
            "output" => match m.outputs.get(name) {
                Some(o) => (&o.preconditions, Condition::Output, CheckKind::Output),
                None => return Ended::Done,
            },
            _ => match m.checks.get(name) {
                Some(c) => (&c.asserts, Condition::Assertion, CheckKind::Check),
                None => return Ended::Done,
            },
        };
        let (verdicts, said) = self.judge(rules, kind, &scope, &functions).await;
        self.keep_result(which, address, &verdicts);
        if which == CheckKind::Check {
            // An assertion never fails a run.
            let softened = said.into_iter().map(|mut d| {
                d.severity = Severity::Warning;
                d
            });
            self.say(softened.collect());
            return Ended::Done;
        }
        let failed = said.has_errors();
        self.say(said);
        if failed { Ended::Failed } else { Ended::Done }
    }
}
