//! Rounds: plan, apply, and plan again what could not be planned before.
//!
//! A plan may leave changes to a later round. Whoever drives a run asks [`Rounds`] about each plan
//! before it is approved: it tells when another round would lead nowhere. Every round is a plan of its
//! own, verified, shown and approved like any other; nothing is carried from one to the next but what is
//! in the state, so a run that ends between two rounds is gone on with by the next one.

use crate::plan::PlanOptions;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_plan::{Action, DeferredReason, Plan};

/// How many rounds a run may have: beyond it something has surely gone wrong.
const MOST: usize = 100;
/// How many deferred changes a message names.
const NAMED: usize = 10;

/// What is deferred, and why.
type Left = Vec<(String, DeferredReason, Vec<String>)>;

/// The rounds of one run so far.
#[derive(Debug, Default)]
pub struct Rounds {
    number: usize,
    left: Left,
}

impl Rounds {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Which round this is, from 1; 0 before the first.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Takes the plan of the next round.
    ///
    /// # Errors
    /// That applying it would bring what is deferred no nearer: it changes nothing, or exactly the same
    /// was deferred for the same reasons before the former round was applied.
    pub fn begin(&mut self, plan: &Plan) -> Result<(), Diagnostics> {
        self.number += 1;
        let left: Left = plan
            .deferred
            .iter()
            .map(|d| (d.address.clone(), d.reason, d.waits_for.clone()))
            .collect();
        let same = self.number > 1 && left == self.left;
        if !left.is_empty() && (same || !plan.has_changes() || self.number > MOST) {
            return Err(no_progress(plan, self.number > 1).into());
        }
        self.left = left;
        Ok(())
    }

    /// What the next round is asked for, once a plan has been applied: what has been replaced by request,
    /// or made anew, is not replaced again.
    pub fn after(options: &mut PlanOptions, plan: &Plan) {
        for change in &plan.changes {
            let made = change.action.is_replace() || change.action == Action::Create;
            if change.deposed.is_none() && made {
                options.replace.remove(&change.address);
            }
        }
    }
}

fn no_progress(plan: &Plan, further: bool) -> Diagnostic {
    let mut names: Vec<String> = plan
        .deferred
        .iter()
        .take(NAMED)
        .map(|d| format!("{} ({})", d.address, d.why()))
        .collect();
    if plan.deferred.len() > NAMED {
        names.push(format!("and {} more", plan.deferred.len() - NAMED));
    }
    let before = if further {
        "What the rounds before have applied stays. "
    } else {
        ""
    };
    Diagnostic::error(
        "Deferred changes make no progress",
        format!(
            "Another round would not make known what these wait for: {}. {before}Something that they \
             wait for is new in every plan, or does not come about by this configuration.",
            names.join("; ")
        ),
    )
    .hint("Take the number or the keys of instances from what is known, or break the run up with -target.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_addresses::{AbsProviderConfig, ProviderAddr};
    use formwork_plan::{Action, DeferredChange, ResourceInstanceChange};
    use formwork_values::{Type, Value};

    fn change(address: &str, action: Action) -> ResourceInstanceChange {
        ResourceInstanceChange {
            address: address.parse().expect("an address"),
            previous_address: None,
            deposed: None,
            provider: AbsProviderConfig::root_default(ProviderAddr::implied("terraform")),
            action,
            reason: None,
            before: Value::null(Type::Dynamic),
            after: Value::null(Type::Dynamic),
            replace_paths: Vec::new(),
            planned_private: [].into(),
            schema_version: 0,
            dependencies: Vec::new(),
            create_before_destroy: false,
            importing: None,
            legacy_type_system: false,
            identity: Default::default(),
        }
    }

    fn plan(changes: &[(&str, Action)], deferred: &[(&str, &str)]) -> Plan {
        Plan {
            changes: changes.iter().map(|(a, x)| change(a, *x)).collect(),
            deferred: deferred
                .iter()
                .map(|(address, waits_for)| DeferredChange {
                    address: (*address).to_owned(),
                    module: String::new(),
                    key_unknown: true,
                    reason: DeferredReason::InstanceCountUnknown,
                    waits_for: vec![(*waits_for).to_owned()],
                    change: change("x.d", Action::Create),
                })
                .collect(),
            ..Plan::default()
        }
    }

    #[test]
    fn rounds_end() {
        use Action::{Create, NoOp};
        let b = ("x.b[*]", "x.a.id");
        let c = ("x.c[*]", "x.b[0].id");
        let progress = |plans: &[Plan]| {
            let mut rounds = Rounds::new();
            let all: Vec<bool> = plans.iter().map(|p| rounds.begin(p).is_ok()).collect();
            assert_eq!(rounds.number(), plans.len());
            all
        };
        let first = plan(&[("x.a", Create)], &[b, c]);
        let second = plan(&[("x.a", NoOp), ("x.b[0]", Create)], &[c]);
        let last = plan(&[("x.c[0]", Create)], &[]);
        assert_eq!(progress(&[first, second, last]), [true; 3]);
        // the same again, however much is done each time
        let again = || plan(&[("x.a", Create)], &[b]);
        assert_eq!(progress(&[again(), again()]), [true, false]);
        // another cause is another step
        let other = plan(&[("x.a", Create)], &[("x.b[*]", "x.z.id")]);
        assert_eq!(progress(&[again(), other]), [true, true]);
        // nothing to do, but something left
        assert_eq!(progress(&[plan(&[("x.a", NoOp)], &[b])]), [false]);
        assert_eq!(progress(&[plan(&[("x.a", NoOp)], &[])]), [true]);
        let said = Rounds::new()
            .begin(&plan(&[], &[b]))
            .expect_err("no way on");
        let d = said.iter().next().expect("one");
        assert!(
            d.detail
                .contains("x.b[*] (how many there are depends on x.a.id)"),
            "{}",
            d.detail
        );
    }

    #[test]
    fn what_was_replaced_is_not_replaced_again() {
        let mut options = PlanOptions::default();
        for a in ["x.a", "x.b", "x.c"] {
            options.replace.insert(a.parse().expect("an address"));
        }
        let plan = plan(
            &[
                ("x.a", Action::DeleteThenCreate),
                ("x.b", Action::NoOp),
                ("x.c", Action::Create),
            ],
            &[],
        );
        Rounds::after(&mut options, &plan);
        let left: Vec<String> = options.replace.iter().map(ToString::to_string).collect();
        assert_eq!(left, ["x.b"]);
    }
}
