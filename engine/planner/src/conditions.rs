//! Collecting the results of conditions.

use formwork_addresses::ModuleInstance;
use formwork_configuration::CheckRule;
use formwork_diagnostics::{Diagnostics, Severity};
use formwork_evaluation::{Condition, Evaluator, ModuleFunctions, ModuleScope, Verdict, check};
use formwork_plan::{CheckKind, CheckObject, CheckResult, CheckStatus, PlanMode};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Results by block and instance, as they come in.
#[derive(Default)]
pub(crate) struct Results(Mutex<BTreeMap<(CheckKind, String), BTreeMap<String, CheckObject>>>);

impl Results {
    /// A block that has conditions, even if no instance of it exists.
    pub fn declare(&self, kind: CheckKind, block: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry((kind, block.to_owned())).or_default();
    }

    /// Adds verdicts of an instance to what is known of it.
    pub fn add(&self, kind: CheckKind, block: &str, instance: &str, verdicts: &[Verdict]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let object = all
            .entry((kind, block.to_owned()))
            .or_default()
            .entry(instance.to_owned())
            .or_insert_with(|| CheckObject {
                address: instance.to_owned(),
                status: CheckStatus::Pass,
                failures: Vec::new(),
            });
        for verdict in verdicts {
            let status = match verdict {
                Verdict::Pass => CheckStatus::Pass,
                Verdict::Unknown => CheckStatus::Unknown,
                Verdict::Fail(message) => {
                    object.failures.push(message.clone());
                    CheckStatus::Fail
                }
                Verdict::Error => CheckStatus::Error,
            };
            object.status = object.status.max(status);
        }
    }

    /// Everything, in order.
    pub fn take(&self) -> Vec<CheckResult> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *all)
            .into_iter()
            .map(|((kind, block), objects)| {
                CheckResult::of(kind, block, objects.into_values().collect())
            })
            .collect()
    }
}

/// Judges rules one after the other.
pub(crate) async fn judge(
    evaluator: &Evaluator,
    rules: &[CheckRule],
    kind: Condition,
    scope: &ModuleScope<'_>,
    functions: &ModuleFunctions<'_>,
) -> (Vec<Verdict>, Diagnostics) {
    let mut verdicts = Vec::with_capacity(rules.len());
    let mut diagnostics = Diagnostics::new();
    for rule in rules {
        let (verdict, said) = evaluator
            .calls()
            .settled(|reading| check(rule, kind, scope, functions, reading))
            .await;
        diagnostics.append(said);
        verdicts.push(verdict);
    }
    (verdicts, diagnostics)
}

/// Says of failed validations whose they are and, in a module that is called, points at the argument that
/// gives the value: there it is to be mended.
pub(crate) fn placed_at_value(
    evaluator: &Evaluator,
    module: &ModuleInstance,
    name: &str,
    said: &mut Diagnostics,
) {
    let address = if module.is_root() {
        format!("var.{name}")
    } else {
        format!("{module}.var.{name}")
    };
    said.default_address(address);
    let argument = evaluator
        .configuration()
        .call_of(&module.path())
        .and_then(|(_, call)| call.argument(name));
    let Some(argument) = argument else {
        return;
    };
    for d in said
        .iter_mut()
        .filter(|d| d.summary == Condition::Validation.failed())
    {
        d.subject = Some(argument.expression.range());
        d.context = None;
        d.hints.push(format!(
            "A validation of the variable \"{name}\" in {} asks for this.",
            module.path()
        ));
    }
}

/// Judges rules, and says whether what depends on them may go on. In a run that only records, what does
/// not hold is told and keeps nobody from recording it.
pub(crate) async fn judge_for(
    mode: PlanMode,
    evaluator: &Evaluator,
    rules: &[CheckRule],
    kind: Condition,
    scope: &ModuleScope<'_>,
    functions: &ModuleFunctions<'_>,
) -> (bool, Vec<Verdict>, Diagnostics) {
    let (verdicts, mut said) = judge(evaluator, rules, kind, scope, functions).await;
    if mode != PlanMode::RefreshOnly {
        return (!verdicts.iter().any(is_bad), verdicts, said);
    }
    for d in said.iter_mut().filter(|d| d.summary == kind.failed()) {
        d.severity = Severity::Warning;
    }
    let holds = !verdicts.iter().any(|v| matches!(v, Verdict::Error));
    (holds, verdicts, said)
}

/// Whether a verdict keeps what depends on it from going on.
fn is_bad(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Fail(_) | Verdict::Error)
}
