//! Conditions, outputs and checks that only apply can decide.

use crate::run::{Ended, Run, lock};
use formwork_addresses::{AbsResourceInstance, ModuleInstance};
use formwork_configuration::{CheckRule, Module};
use formwork_diagnostics::{Diagnostic, Diagnostics, Severity};
use formwork_evaluation::{Condition, ModuleFunctions, ModuleScope, Verdict, check};
use formwork_plan::CheckKind;
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
        lock(&self.checks).keep(kind, address, verdicts);
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
                        Diagnostic::error(
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

    /// Decides what planning left open, by the address of the instance: the assertions of a check
    /// block, the preconditions of an output, the validations of a variable, or the conditions of a
    /// resource that nothing else is done to.
    pub(crate) async fn check(&self, address: &str) -> Ended {
        if let Some((instance, word, name)) = named(address) {
            return self.check_named(address, &instance, word, name).await;
        }
        match address.parse::<AbsResourceInstance>() {
            Ok(resource) => self.check_resource(&resource).await,
            Err(_) => self.cannot_check(address),
        }
    }

    fn cannot_check(&self, address: &str) -> Ended {
        self.say(
            Diagnostic::error(
                "Plan cannot be carried out",
                format!(
                    "The plan leaves conditions of {address} to be decided, but its configuration \
                     has no such block. Plan again."
                ),
            )
            .about(address)
            .into(),
        );
        Ended::Failed
    }

    async fn check_named(
        &self,
        address: &str,
        instance: &ModuleInstance,
        word: &str,
        name: &str,
    ) -> Ended {
        let evaluator = &self.input.evaluator;
        let Some(m) = evaluator.module(instance) else {
            return self.cannot_check(address);
        };
        let m: &Module = m;
        let found = match word {
            "output" => m
                .outputs
                .get(name)
                .map(|o| (&o.preconditions, Condition::Output, CheckKind::Output)),
            "var" => m
                .variables
                .get(name)
                .map(|v| (&v.validations, Condition::Validation, CheckKind::Variable)),
            _ => m
                .checks
                .get(name)
                .map(|c| (&c.asserts, Condition::Assertion, CheckKind::Check)),
        };
        let Some((rules, kind, which)) = found else {
            return self.cannot_check(address);
        };
        let functions = evaluator.functions(m);
        let scope = evaluator.scope(instance);
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

    async fn check_resource(&self, address: &AbsResourceInstance) -> Ended {
        let evaluator = &self.input.evaluator;
        let found = evaluator
            .configuration()
            .module(&address.module_path())
            .and_then(|m| Some((m, m.resource(&address.resource)?)));
        let object = evaluator.objects().object(address);
        let (Some((module, block)), Some(object)) = (found, object) else {
            return self.cannot_check(&address.to_string());
        };
        let functions = evaluator.functions(module);
        let resource = address.abs_resource();
        let expansion = evaluator.objects().expansion(&resource).unwrap_or_default();
        let repetition =
            evaluator.repetition(&resource, &block.repetition, &expansion, &address.key);
        let scope = ModuleScope::new(evaluator, &address.module, repetition);
        let lifecycle = &block.lifecycle;
        let before = Condition::Precondition;
        if !self
            .conditions_hold(
                &lifecycle.preconditions,
                before,
                address,
                &scope,
                &functions,
            )
            .await
        {
            return Ended::Failed;
        }
        let scope = scope.with_self(object);
        let after = Condition::Postcondition;
        let holds = self
            .conditions_hold(
                &lifecycle.postconditions,
                after,
                address,
                &scope,
                &functions,
            )
            .await;
        if holds { Ended::Done } else { Ended::Failed }
    }
}

/// The module instance, the word and the name of what is neither a resource nor within one.
fn named(address: &str) -> Option<(ModuleInstance, &str, &str)> {
    let (head, name) = address.rsplit_once('.')?;
    let (module, word) = head.rsplit_once('.').unwrap_or(("", head));
    if !matches!(word, "output" | "var" | "check") || name.ends_with(']') {
        return None;
    }
    let instance = if module.is_empty() {
        ModuleInstance::root()
    } else {
        module.parse().ok()?
    };
    Some((instance, word, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_conditions() {
        let check = |address: &str, wanted: Option<(&str, &str, &str)>| {
            let found = named(address).map(|(i, w, n)| (i.to_string(), w, n));
            let wanted = wanted.map(|(i, w, n)| (i.to_owned(), w, n));
            assert_eq!(found, wanted, "{address}");
        };
        check("output.o", Some(("", "output", "o")));
        check("module.m.var.v", Some(("module.m", "var", "v")));
        check(
            "module.m[\"a.var.b\"].check.c",
            Some(("module.m[\"a.var.b\"]", "check", "c")),
        );
        check("terraform_data.x", None);
        check("terraform_data.x[\"output.o\"]", None);
        check("terraform_data.x[\"module.m.output.o\"]", None);
        check("data.terraform_data.x[\"a.var.b\"]", None);
    }
}
