//! Rules over what a plan would make: mistakes that no schema can see and that Google would only
//! report in the middle of an apply.
//!
//! A rule looks at [`Facts`]: every instance that will be there after the plan, its attributes, and
//! above all what they *lead to*. On a first plan a subnetwork's network is "(known after apply)",
//! but the unknown value says whose attribute it is; later it is a link, in one of several
//! spellings, or a bare name. [`Facts::target_of`] answers all of these alike, so that a rule sees
//! which network a subnetwork belongs to, whether or not Google has named it yet.
//!
//! Invariants:
//!
//! - **A rule speaks only of what it knows.** What is unknown, or not confirmed by the machine
//!   facts, is no finding: an error here keeps the user from applying.
//! - A finding is about an instance that the plan creates, changes or replaces; what is there
//!   already and stays is Google's to judge.
//! - Sensitive values never reach a message ([`Fact::shown`]).
//! - Cost is linear in the instances, up to sorting; findings that many instances of a block share
//!   are one.
//!
//! What it does not do: read the cloud, know providers or their schemas (attributes are read by
//! name, and absent ones are absent), or look at the configuration's text.
//!
//! docs/how-to-add-a-rule.md says how to add one: a file in [`rules`] and a line in its list.
#![forbid(unsafe_code)]

mod fact;
mod facts;
mod links;
mod ranges;
mod rules;
#[cfg(test)]
mod sample;

pub use fact::Fact;
pub use facts::{Facts, Instance, Target};
pub use rules::RULES;

use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_plan::Plan;
use formwork_topology::Topology;

/// One rule.
pub struct Rule {
    /// What it is called in messages and documentation: words joined by dashes.
    pub id: &'static str,
    /// Why it is there, in one sentence.
    pub reason: &'static str,
    /// Finds what breaks it. Diagnostics carry the address they are about.
    pub check: fn(&Facts<'_>, &Topology) -> Diagnostics,
}

/// What breaks a rule, and which.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// What is wrong; it carries the address that it is about.
    pub diagnostic: Diagnostic,
}

/// Everything in a plan that breaks a rule. Each diagnostic names the rule in a hint.
pub fn review(plan: &Plan, topology: &Topology) -> Diagnostics {
    review_facts(&Facts::of_plan(plan), topology)
}

/// [`review`], each finding with the rule that it breaks.
pub fn findings(plan: &Plan, topology: &Topology) -> Vec<Finding> {
    found(&Facts::of_plan(plan), topology)
}

/// [`review`] of facts from elsewhere, such as a walk at validate.
pub fn review_facts(facts: &Facts<'_>, topology: &Topology) -> Diagnostics {
    let all = found(facts, topology).into_iter();
    all.map(|finding| finding.diagnostic).collect()
}

fn found(facts: &Facts<'_>, topology: &Topology) -> Vec<Finding> {
    let mut all = Vec::new();
    for rule in RULES {
        for diagnostic in (rule.check)(facts, topology) {
            all.push(Finding {
                rule: rule.id,
                diagnostic: diagnostic.hint(format!("Rule {}: {}", rule.id, rule.reason)),
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const DOCUMENT: &str = include_str!("../../../docs/how-to-add-a-rule.md");

    #[test]
    fn rules_are_named_once_and_documented() {
        let ids: BTreeSet<&str> = RULES.iter().map(|r| r.id).collect();
        assert_eq!(ids.len(), RULES.len(), "two rules share an id");
        for rule in RULES {
            assert!(rule.reason.ends_with('.'), "{}", rule.id);
            let row = format!("| `{}` | {} |", rule.id, rule.reason);
            assert!(DOCUMENT.contains(&row), "the document lacks: {row}");
        }
    }
}
