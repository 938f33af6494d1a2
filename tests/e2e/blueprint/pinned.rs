//! The plan of each example, kept in the blueprint's folder as `tests/plans/EXAMPLE.txt`.
//!
//! A change of the blueprint that changes what it makes shows there, in review: every attribute that
//! is known when planning, scripts and Slurm's files included. To renew the files:
//!
//! ```text
//! FORMWORK_RENEW_PLANS=1 cargo test -p formwork --test blueprint pinned
//! ```

use crate::place::blueprint;
use crate::world::{World, errors, json};
use serde_json::Value;
use std::fmt::Write as _;

/// Every leaf of a value with its path. Texts of several lines are set below it.
fn leaves(path: &str, value: &Value, out: &mut String) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (name, field) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                leaves(&format!("{path}{dot}{name}"), field, out);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                leaves(&format!("{path}[{i}]"), item, out);
            }
        }
        Value::String(text) if text.contains('\n') => {
            let _ = writeln!(out, "  {path} =");
            for line in text.lines() {
                let _ = writeln!(out, "{}", format!("    | {line}").trim_end());
            }
        }
        leaf => {
            let _ = writeln!(out, "  {path} = {leaf}");
        }
    }
}

/// What is made, read and given out, as text that is the same on each run.
fn face(plan: &Value) -> String {
    let mut out = String::new();
    for change in plan["resource_changes"].as_array().into_iter().flatten() {
        let actions = change["change"]["actions"].as_array().into_iter().flatten();
        let actions: Vec<&str> = actions.filter_map(Value::as_str).collect();
        let address = change["address"].as_str().unwrap_or_default();
        let _ = writeln!(out, "{address}: {}", actions.join(", "));
        leaves("", &change["change"]["after"], &mut out);
        out.push('\n');
    }
    out.push_str("outputs:\n");
    let outputs = plan["planned_values"]["outputs"].as_object();
    for (name, output) in outputs.into_iter().flatten() {
        leaves(name, &output["value"], &mut out);
    }
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_examples_plan_what_is_kept() {
    let world = World::new().await;
    let renew = std::env::var_os("FORMWORK_RENEW_PLANS").is_some();
    let folder = blueprint().join("tests/plans");
    let mut wrong = String::new();
    for example in ["a3u", "a4", "a4x"] {
        let root = world.root(&format!("roce-cluster/examples/{example}"));
        let outcome = world.plan(&root).await;
        let errors = errors(&outcome.diagnostics);
        assert!(errors.is_empty(), "{example}: {errors:#?}");
        let plan = outcome.plan.expect("a plan");
        let text = face(&json(&plan, &outcome.providers));
        let file = folder.join(format!("{example}.txt"));
        if renew {
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(&file, text).expect("the file can be written");
            continue;
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        if kept != text {
            let difference = similar::TextDiff::from_lines(&kept, &text);
            let difference = difference.unified_diff().context_radius(2).to_string();
            let _ = writeln!(wrong, "{}\n{difference}", file.display());
        }
    }
    assert!(
        wrong.is_empty(),
        "the examples plan something else than what is kept; if that is meant, renew it with \
         FORMWORK_RENEW_PLANS=1:\n{wrong}"
    );
}
