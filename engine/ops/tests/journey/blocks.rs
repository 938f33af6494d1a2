//! What moved, removed, check, conditions, ephemeral values, lifecycle settings, remote states and
//! outputs do, step by step, against recorded answers of Terraform: `tests/oracle/blocks`.

use crate::recorded::run_in;
use std::path::{Path, PathBuf};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle/blocks")
}

/// What differs on purpose: the case, how the difference begins, and why.
const ON_PURPOSE: &[(&str, &str, &str)] = &[
    (
        "check-fails",
        "step 3: plan.",
        "an assertion that is wrong is one all the same, and fails no run",
    ),
    (
        "check-scoped",
        "step 1: plan.json.planned_values.root_module.resources[0]",
        READ_AGAIN,
    ),
    (
        "check-scoped",
        "step 1: plan.json.resource_changes[0].change.after",
        READ_AGAIN,
    ),
    ("check-scoped", "step 1: second plan.exit", NO_CHANGE),
    ("check-scoped", "step 2: plan.exit", NO_CHANGE),
    ("check-scoped", "step 2: plan.json.applyable", NO_CHANGE),
    ("check-scoped", "step 2: second plan.exit", NO_CHANGE),
    (
        "ephemeral-flow",
        "step 1: plan.json.variables.t.value",
        IN_NO_PLAN,
    ),
    (
        "ephemeral-flow",
        "step 2: plan.json.variables.t.value",
        IN_NO_PLAN,
    ),
    (
        "ephemeral-flow",
        "step 2: apply",
        "the recording does not give the value again when it applies; this does",
    ),
    (
        "ephemeral-misuse-8",
        "step 1: plan.json.variables.t.value",
        IN_NO_PLAN,
    ),
    (
        "ephemeral-misuse-8",
        "step 1: state.check_results",
        "a run that changes nothing writes no state",
    ),
    (
        "ignore-changes-mistakes",
        "step 2: validate.diagnostics[0]",
        NEARER,
    ),
    (
        "ignore-changes-mistakes",
        "step 2: plan.diagnostics[0]",
        NEARER,
    ),
    (
        "ignore-changes-mistakes",
        "step 2: second plan.diagnostics[0]",
        NEARER,
    ),
    ("moved-destroy", "step 2: plan.events[0]", WHERE_FROM),
    (
        "moved-destroy",
        "step 2: plan.json.resource_changes[0].previous_address",
        WHERE_FROM,
    ),
    ("moved-renamed-and-counted", "step 2: ", KEPT),
    ("moved-renamed-and-uncounted", "step 2: ", KEPT),
    ("prevent-destroy", "step 2: plan.diagnostics[0]", NEARER),
    ("prevent-destroy", "step 3: plan.diagnostics[0]", NEARER),
    ("prevent-destroy", "step 4: plan.diagnostics[0]", NEARER),
    (
        "prevent-destroy-moved",
        "step 2: plan.diagnostics[0]",
        NEARER,
    ),
    ("provisioners-mistakes", "step 1: plan.", SHAPES),
    ("removed-after-moved", "step 2: plan.diagnostics[0]", NAMED),
    (
        "removed-after-moved",
        "step 2: plan.json.planned_values",
        LEFT,
    ),
    ("removed-forget", "step 2: plan.diagnostics[0]", NAMED),
    ("removed-forget", "step 2: plan.json.planned_values", LEFT),
    ("removed-in-module", "step 2: plan.diagnostics[0]", NAMED),
    (
        "removed-in-module",
        "step 2: plan.json.planned_values",
        LEFT,
    ),
    (
        "removed-module-forget",
        "step 2: plan.diagnostics[0]",
        NAMED,
    ),
    (
        "removed-module-forget",
        "step 2: plan.json.planned_values",
        LEFT,
    ),
    ("replace-triggered-by-mistakes", "step 1: validate", ONCE),
    ("replace-triggered-by-mistakes", "step 1: plan", ONCE),
    ("replace-triggered-by-mistakes", "step 2: validate", SOONER),
    ("replace-triggered-by-mistakes", "step 4: ", SOONER),
];

const READ_AGAIN: &str =
    "what is read for a check is read again when all is done, so what it is now is no promise";
const NO_CHANGE: &str = "reading for a check once more is no change that anybody must apply";
const IN_NO_PLAN: &str = "an ephemeral value is never in a plan";
const NEARER: &str = "the place is that of the argument, not of the block";
const WHERE_FROM: &str = "where an object was before it moved is told in destroy runs, too";
const KEPT: &str =
    "docs/decisions/0004: an object that moves to a block with count is kept, not destroyed";
const NAMED: &str = "the tool's own name stands in the summary";
const LEFT: &str = "what leaves the state is no planned value";
const ONCE: &str = "one mistake is told once";
const SHAPES: &str = "what is wrong with the shape of blocks is told before values are looked at";
const SOONER: &str = "what is not declared is told when validating";

#[tokio::test]
async fn every_case_agrees() {
    let mut names: Vec<PathBuf> = std::fs::read_dir(cases())
        .expect("the cases")
        .map(|e| e.expect("an entry").path())
        .collect();
    names.sort();
    assert!(names.len() >= 70, "only {}", names.len());
    let mut told = Vec::new();
    for case in &names {
        for difference in run_in(case, ON_PURPOSE).await {
            let name = case.file_name().expect("a name").to_string_lossy();
            told.push(format!("{name}: {difference}"));
        }
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}
