//! Results of conditions and checks, as the plan left them and as apply completes them.

use formwork_evaluation::Verdict;
use formwork_plan::{CheckKind, CheckObject, CheckResult, CheckStatus};
use std::collections::HashMap;

/// All results, each object found by its address: completing N of them takes N steps.
pub(crate) struct CheckResults {
    results: Vec<CheckResult>,
    /// Where the objects of an address stand: result, then object.
    places: HashMap<(CheckKind, String), Vec<(usize, usize)>>,
    touched: Vec<CheckKind>,
}

impl CheckResults {
    /// Those that a plan brings.
    pub(crate) fn new(results: Vec<CheckResult>) -> Self {
        let mut places: HashMap<_, Vec<_>> = HashMap::new();
        for (r, result) in results.iter().enumerate() {
            for (o, object) in result.objects.iter().enumerate() {
                places
                    .entry((result.kind, object.address.clone()))
                    .or_default()
                    .push((r, o));
            }
        }
        Self {
            results,
            places,
            touched: Vec::new(),
        }
    }

    /// Replaces what the plan could not say of an object's conditions.
    pub(crate) fn keep(&mut self, kind: CheckKind, address: &str, verdicts: &[Verdict]) {
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
        if !self.touched.contains(&kind) {
            self.touched.push(kind);
        }
        let Some(places) = self.places.get(&(kind, address.to_owned())) else {
            return;
        };
        for &(result, object) in places {
            let object = &mut self.results[result].objects[object];
            // An instance has pre- and postconditions, and a check may read data; a failure of either
            // stays, and what fails as well is added.
            if object.status == CheckStatus::Fail && status == CheckStatus::Fail {
                for failure in &failures {
                    if !object.failures.contains(failure) {
                        object.failures.push(failure.clone());
                    }
                }
            } else if object.status == CheckStatus::Unknown || status > object.status {
                *object = CheckObject {
                    address: address.to_owned(),
                    status,
                    failures: failures.clone(),
                };
            }
        }
    }

    /// What came of it: each result is as bad as its worst object.
    pub(crate) fn finish(mut self) -> Vec<CheckResult> {
        for result in &mut self.results {
            if self.touched.contains(&result.kind) {
                result.status = result
                    .objects
                    .iter()
                    .map(|o| o.status)
                    .max()
                    .unwrap_or(CheckStatus::Pass);
            }
        }
        self.results
    }
}
