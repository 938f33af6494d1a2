//! Sentences that pipelines match, word for word as the field knows them, and durations.

use formwork_plan::{ChangeSummary, PlanMode};
use std::time::Duration;

/// While the state is being locked, if that takes a while.
pub const LOCKING: &str = "Acquiring state lock. This may take a few moments...";
/// While it is being released, the same.
pub const UNLOCKING: &str = "Releasing state lock. This may take a few moments...";

/// The closing line of a plan: `Plan: 1 to add, 0 to change, 0 to destroy.`
pub fn plan_line(summary: &ChangeSummary) -> String {
    let import = match summary.import {
        0 => String::new(),
        n => format!("{n} to import, "),
    };
    format!(
        "Plan: {import}{} to add, {} to change, {} to destroy.",
        summary.add, summary.change, summary.remove
    )
}

/// The sentence of a plan that changes nothing.
pub fn no_changes_line(mode: PlanMode) -> &'static str {
    match mode {
        PlanMode::Normal => "No changes. Your infrastructure matches the configuration.",
        PlanMode::Destroy => "No changes. No objects need to be destroyed.",
        PlanMode::RefreshOnly => "No changes. Your infrastructure still matches the configuration.",
    }
}

/// The closing line of an apply: `Apply complete! Resources: 1 added, 0 changed, 0 destroyed.`, or of
/// the command `destroy`: `Destroy complete! Resources: 1 destroyed.` (`apply -destroy` says it in the
/// words of `apply`.)
pub fn apply_line(by_destroy: bool, summary: &ChangeSummary) -> String {
    if by_destroy {
        return format!("Destroy complete! Resources: {} destroyed.", summary.remove);
    }
    let import = match summary.import {
        0 => String::new(),
        n => format!("{n} imported, "),
    };
    format!(
        "Apply complete! Resources: {import}{} added, {} changed, {} destroyed.",
        summary.add, summary.change, summary.remove
    )
}

/// The closing line of a round after which others follow.
pub fn round_line(number: usize, summary: &ChangeSummary) -> String {
    format!(
        "Round {number} is done: {} added, {} changed, {} destroyed.",
        summary.add, summary.change, summary.remove
    )
}

/// `0s`, `59s`, `1m0s`, `2h3m4s`: whole seconds, rounded.
pub fn duration(time: Duration) -> String {
    let all = seconds(time);
    let (hours, minutes, seconds) = (all / 3600, all / 60 % 60, all % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// Whole seconds, rounded.
pub(crate) fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_millis() >= 500)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (ms, text) in [
            (0, "0s"),
            (499, "0s"),
            (1_500, "2s"),
            (60_000, "1m0s"),
            (3_601_000, "1h0m1s"),
        ] {
            assert_eq!(duration(Duration::from_millis(ms)), text);
        }
    }

    #[test]
    fn sentences() {
        let mut s = ChangeSummary {
            add: 1,
            remove: 2,
            ..ChangeSummary::default()
        };
        assert_eq!(plan_line(&s), "Plan: 1 to add, 0 to change, 2 to destroy.");
        s.import = 3;
        assert_eq!(
            plan_line(&s),
            "Plan: 3 to import, 1 to add, 0 to change, 2 to destroy."
        );
        assert_eq!(
            apply_line(false, &s),
            "Apply complete! Resources: 3 imported, 1 added, 0 changed, 2 destroyed."
        );
        assert_eq!(
            apply_line(true, &s),
            "Destroy complete! Resources: 2 destroyed."
        );
    }
}
