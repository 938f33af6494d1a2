//! Failures that a run expects.
//!
//! A failure is told from other errors about the same object by its summary and by the rule that it is
//! about, so that a mistake in a configuration never passes for the failure that was wanted.

use formwork_addresses::{AbsResourceInstance, Resource, Subject};
use formwork_configuration::{Configuration, RunBlock};
use formwork_diagnostics::{Diagnostic, Diagnostics, Severity, SourceRange};
use formwork_evaluation::Condition;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The planner's word for an assertion of a check block that only apply can judge.
const KNOWN_AFTER_APPLY: &str = "Check block assertion known after apply";

#[derive(Clone, PartialEq, Eq)]
enum Checkable {
    Variable(Arc<str>),
    Output(Arc<str>),
    Check(Arc<str>),
    Resource,
}

/// The rules of a configuration, by where they stand.
pub(super) struct Rules {
    /// Those of the root module, by the range of the condition.
    root: BTreeMap<SourceRange, Checkable>,
    /// Data sources within check blocks, with the check where it is the root module's.
    scoped: BTreeMap<Resource, Option<Arc<str>>>,
}

impl Rules {
    pub fn of(configuration: &Configuration) -> Self {
        let mut rules = Self {
            root: BTreeMap::new(),
            scoped: BTreeMap::new(),
        };
        for (path, module) in configuration.modules() {
            for (check, data) in module.scoped_resources() {
                let name = path.is_root().then(|| check.name.clone());
                rules.scoped.insert(data.address.clone(), name);
            }
        }
        let Some(module) = configuration.root() else {
            return rules;
        };
        let mut add = |all: &[formwork_configuration::CheckRule], what: Checkable| {
            for rule in all {
                rules.root.insert(rule.condition.range(), what.clone());
            }
        };
        for v in module.variables.values() {
            add(&v.validations, Checkable::Variable(v.name.clone()));
        }
        for o in module.outputs.values() {
            add(&o.preconditions, Checkable::Output(o.name.clone()));
        }
        for c in module.checks.values() {
            add(&c.asserts, Checkable::Check(c.name.clone()));
        }
        let scoped = module.scoped_resources().map(|(_, r)| r);
        for r in module.resources.values().chain(scoped) {
            add(&r.lifecycle.preconditions, Checkable::Resource);
            add(&r.lifecycle.postconditions, Checkable::Resource);
        }
        rules
    }

    /// What has failed, if that is what the diagnostic says.
    fn failed(&self, d: &Diagnostic) -> Option<Subject> {
        if d.summary == KNOWN_AFTER_APPLY {
            return match self.root.get(&d.subject?)? {
                Checkable::Check(name) => Some(Subject::Check(name.clone())),
                _ => None,
            };
        }
        let kinds = [
            Condition::Precondition,
            Condition::Postcondition,
            Condition::Output,
            Condition::Assertion,
            Condition::Validation,
        ];
        if !kinds.iter().any(|k| k.is_failure(&d.summary)) {
            let check = self.scoped_data(d)?.as_ref();
            return check.map(|check| Subject::Check(check.clone()));
        }
        match self.root.get(&d.subject?)? {
            Checkable::Variable(name) => Some(Subject::InputVariable(name.clone())),
            Checkable::Output(name) => Some(Subject::OutputValue(name.clone())),
            Checkable::Check(name) => Some(Subject::Check(name.clone())),
            Checkable::Resource => {
                let address: AbsResourceInstance = d.address.as_deref()?.parse().ok()?;
                address
                    .module
                    .is_root()
                    .then(|| Subject::ResourceInstance(address.resource.instance(address.key)))
            }
        }
    }

    /// The check, if it is the root module's, of a data source that a diagnostic is about.
    fn scoped_data(&self, d: &Diagnostic) -> Option<&Option<Arc<str>>> {
        if d.is_error() {
            return None;
        }
        let address: AbsResourceInstance = d.address.as_deref()?.parse().ok()?;
        self.scoped.get(&address.resource)
    }

    /// Whether it tells that a check block failed, in whichever module, or could not be judged.
    fn is_of_check(&self, d: &Diagnostic) -> bool {
        d.summary == KNOWN_AFTER_APPLY
            || Condition::Assertion.is_failure(&d.summary)
            || self.scoped_data(d).is_some()
    }
}

/// What a run expects to fail, and what of it has.
pub(super) struct Expected {
    all: Vec<(Subject, SourceRange, bool)>,
}

/// What is left of diagnostics, and what was expected of them.
pub(super) struct Sorted {
    pub kept: Diagnostics,
    pub expected: Vec<(Diagnostic, Subject, SourceRange)>,
}

impl Expected {
    /// # Errors
    /// That something is named that cannot fail.
    pub fn of(run: &RunBlock) -> Result<Self, Diagnostics> {
        let mut said = Diagnostics::new();
        let mut all = Vec::new();
        let mut seen = BTreeSet::new();
        for e in &run.expect_failures {
            let resource = match &e.subject {
                Subject::Resource(r) => Some(r),
                Subject::ResourceInstance(r) => Some(&r.resource),
                _ => None,
            };
            let can_fail = match &e.subject {
                Subject::InputVariable(_) | Subject::OutputValue(_) | Subject::Check(_) => true,
                _ => resource.is_some(),
            };
            if !can_fail {
                said.push(
                    Diagnostic::error(
                        "Invalid `expect_failures` reference",
                        format!(
                            "{} has no conditions of its own that could fail. What can be expected to \
                             fail are variables (their validations), outputs, resources and data sources \
                             (their preconditions and postconditions) and check blocks of the module \
                             under test.",
                            e.subject
                        ),
                    )
                    .at(e.range),
                );
            } else if seen.insert(e.subject.to_string()) {
                all.push((e.subject.clone(), e.range, false));
            }
        }
        if said.has_errors() {
            Err(said)
        } else {
            Ok(Self { all })
        }
    }

    /// Takes out what was expected. `decided` says that what only apply can judge was looked for too.
    pub fn sort(&mut self, said: Diagnostics, rules: &Rules, decided: bool) -> Sorted {
        let mut sorted = Sorted {
            kept: Diagnostics::new(),
            expected: Vec::new(),
        };
        for mut d in said {
            if !decided && d.summary == KNOWN_AFTER_APPLY {
                continue;
            }
            let failed = rules.failed(&d);
            let found = failed.and_then(|f| {
                let e = self
                    .all
                    .iter_mut()
                    .find(|(subject, _, _)| covers(subject, &f))?;
                e.2 = true;
                Some((f, e.1))
            });
            match found {
                Some((subject, at)) => sorted.expected.push((d, subject, at)),
                None => {
                    if rules.is_of_check(&d) {
                        d.severity = Severity::Error;
                    }
                    sorted.kept.push(d);
                }
            }
        }
        sorted
    }

    /// What was expected and has not failed.
    pub fn missing(&self) -> Diagnostics {
        let missing = self.all.iter().filter(|(_, _, found)| !found);
        missing
            .map(|(subject, range, _)| {
                Diagnostic::error(
                    "Missing expected failure",
                    format!(
                        "The run expects {subject} to fail, but all of its conditions held, or it has none."
                    ),
                )
                .at(*range)
            })
            .collect()
    }
}

impl Sorted {
    /// What there is to say where an expected failure kept a run from applying.
    pub fn stopped(self) -> Diagnostics {
        let mut said = self.kept;
        for (d, subject, at) in self.expected {
            if !d.is_error() {
                continue;
            }
            said.push(
                Diagnostic::warning(
                    "Expected failure while planning",
                    format!(
                        "{subject} failed as the run expects, but when it was planned, so there was \
                         nothing to apply. To expect a failure of a plan, let the run plan: \
                         command = plan."
                    ),
                )
                .at(at),
            );
            said.push(d);
        }
        said
    }
}

/// Whether what failed is what was expected, or an instance of it.
fn covers(expected: &Subject, failed: &Subject) -> bool {
    match (expected, failed) {
        (Subject::Resource(r), Subject::ResourceInstance(i)) => *r == i.resource,
        (a, b) => a == b,
    }
}
