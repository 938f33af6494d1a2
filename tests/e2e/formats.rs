//! The JSON schemas of `schemas/json`: held against Terraform's recorded answers, against its live ones
//! where there is a `terraform`, and against ours. (What any other test has the binary answer in JSON is
//! held against them where it is run, in the testkit.)

use crate::{env, repository};
use formwork_testkit::{Format, TestEnv};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The recorded configurations, with their answers.
fn recorded() -> Vec<(PathBuf, Value)> {
    let mut all = Vec::new();
    for group in ["configs", "blocks"] {
        let folder = repository("tests/oracle").join(group);
        for entry in std::fs::read_dir(folder).expect("recordings") {
            let folder = entry.expect("an entry").path();
            let text = std::fs::read_to_string(folder.join("case.json")).expect("a case");
            all.push((folder, serde_json::from_str(&text).expect("JSON")));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(all.len() > 100);
    all
}

#[track_caller]
fn fits(format: Format, document: &Value, of: &str) {
    if let Err(why) = format.check(document) {
        panic!("{of} is no {format:?}: {why}\n{document}");
    }
}

/// The document with what the recordings leave out: versions and times.
fn completed(mut document: Value, version: &str) -> Value {
    if let Some(fields) = document.as_object_mut() {
        fields.insert("format_version".into(), version.into());
        fields.insert("terraform_version".into(), "1.11.4".into());
        if version == "1.2" {
            fields.insert("timestamp".into(), "2026-01-01T00:00:00Z".into());
        }
        if let Some(prior) = fields.get_mut("prior_state") {
            *prior = completed(prior.take(), "1.0");
        }
    }
    document
}

#[test]
fn recorded_answers() {
    let (mut plans, mut states) = (0, 0);
    for (folder, mut case) in recorded() {
        let name = folder.display().to_string();
        let steps = case["steps"].as_array_mut().expect("steps");
        for step in steps {
            for plan in ["plan", "second_plan"] {
                let plan = step[plan]["json"].take();
                if plan.is_object() {
                    plans += 1;
                    fits(Format::Plan, &completed(plan, "1.2"), &name);
                }
            }
            let state = step["show_state"].take();
            if state.is_object() {
                states += 1;
                fits(Format::State, &completed(state, "1.0"), &name);
            }
        }
    }
    assert!(
        plans > 100 && states > 100,
        "{plans} plans, {states} states"
    );
    let text = std::fs::read_to_string(repository("tests/oracle/functions.json")).expect("there");
    let signatures: Value = serde_json::from_str(&text).expect("JSON");
    let functions = json!({ "format_version": "1.0", "function_signatures": signatures });
    fits(Format::Functions, &functions, "functions.json");
    let text = std::fs::read_to_string(repository("tests/oracle/commands.jsonl")).expect("there");
    let mut answers = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).expect("JSON");
        for command in case["commands"].as_array().expect("commands") {
            let format = match command["command"].as_str() {
                Some("providers schema -json") => Format::ProviderSchemas,
                Some("modules -json") => Format::Modules,
                Some("output -json") => Format::Outputs,
                Some("show -json") => Format::State,
                _ => continue,
            };
            let stdout = command["stdout"].as_str().expect("an answer");
            fits(
                format,
                &serde_json::from_str(stdout).expect("JSON"),
                "commands.jsonl",
            );
            answers += 1;
        }
    }
    assert!(answers > 8, "{answers}");
}

/// How many configurations are tried: a fixed number for each second of the budget.
fn amount(per_second: f64) -> usize {
    let budget = std::env::var("FORMWORK_TEST_BUDGET").ok();
    let seconds: f64 = budget.and_then(|b| b.parse().ok()).unwrap_or(10.0);
    (seconds * per_second).ceil() as usize
}

/// Some of the recorded configurations, spread over all.
fn some(amount: usize) -> Vec<PathBuf> {
    let all: Vec<PathBuf> = recorded().into_iter().map(|(folder, _)| folder).collect();
    let stride = (all.len() / amount.max(1)).max(1);
    all.into_iter().step_by(stride).take(amount).collect()
}

/// Goes through the steps of a configuration; `run` is handed words and what is to come of them.
fn story(env: &TestEnv, folder: &Path, run: &dyn Fn(&[&str], &[Format])) {
    for step in 1.. {
        let files = folder.join(format!("step{step}"));
        if !files.is_dir() {
            break;
        }
        for entry in std::fs::read_dir(env.path()).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|e| e == "tf") {
                std::fs::remove_file(path).expect("removed");
            }
        }
        env.copy(&files);
        run(&["init", "-input=false"], &[]);
        run(&["validate", "-json"], &[Format::Validate]);
        run(&["plan", "-json", "-input=false", "-out=p"], &[Format::Ui]);
        run(&["show", "-json", "p"], &[Format::Plan, Format::State]);
        run(
            &["apply", "-json", "-auto-approve", "-input=false"],
            &[Format::Ui],
        );
        run(&["show", "-json"], &[Format::State]);
        run(&["output", "-json"], &[Format::Outputs]);
        run(
            &["providers", "schema", "-json"],
            &[Format::ProviderSchemas],
        );
        run(&["modules", "-json"], &[Format::Modules]);
    }
}

#[test]
fn our_answers() {
    for folder in some(amount(0.8)) {
        let env = env();
        // the testkit looks at what is written
        story(&env, &folder, &|words, _| drop(env.run(words)));
    }
    let env = env();
    env.run(&["version", "-json"]).exits(0);
    env.run(&["metadata", "functions", "-json"]).exits(0);
    env.run(&["workspace", "list", "-json"]).exits(0);
}

#[test]
fn live_answers() {
    let there = Command::new("terraform").arg("version").output();
    if there.is_err() {
        // straight to the stream: what macros print is shown only of tests that fail
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: Terraform's live answers, since there is no terraform\n",
        );
        return;
    }
    let path = std::env::var("PATH").unwrap_or_default();
    for folder in some(amount(0.3)) {
        let env = env();
        let name = folder.display().to_string();
        story(&env, &folder, &|words, formats| {
            let ran = Command::new("terraform")
                .args(words)
                .current_dir(env.path())
                .env_clear()
                .env("PATH", &path)
                .env("TF_CLI_CONFIG_FILE", "/dev/null")
                .output()
                .expect("it runs");
            let text = String::from_utf8(ran.stdout).expect("text");
            for line in text.lines().filter(|l| l.starts_with('{')).take(200) {
                let Ok(document) = serde_json::from_str::<Value>(line) else {
                    // an indented document
                    if let (Some(format), Ok(document)) =
                        (formats.first(), serde_json::from_str(&text))
                    {
                        fits(*format, &document, &name);
                    }
                    break;
                };
                let is_plan = document["planned_values"].is_object();
                let format = if formats.len() > 1 && !is_plan {
                    formats.get(1)
                } else {
                    formats.first()
                };
                if let Some(format) = format {
                    fits(*format, &document, &format!("{name} {words:?}"));
                }
            }
        });
    }
}

/// What is wrong is found: a schema that takes everything would hold nothing.
#[test]
fn wrong_documents() {
    let refuse = |format: Format, document: Value| {
        assert!(
            format.check(&document).is_err(),
            "{format:?} takes {document}"
        );
    };
    let plan = json!({
        "format_version": "1.2", "terraform_version": "1.12.2", "planned_values": { "root_module": {} },
        "timestamp": "2026-01-01T00:00:00Z", "applyable": false, "complete": true, "errored": false,
    });
    fits(Format::Plan, &plan, "a plan of nothing");
    let changed = |key: &str, value: Value| {
        let mut document = plan.clone();
        document[key] = value;
        document
    };
    refuse(Format::Plan, changed("format_version", json!("2.0")));
    refuse(Format::Plan, changed("planned_values", json!({})));
    refuse(Format::Plan, changed("terraform_version", json!("")));
    refuse(Format::Plan, changed("extra", json!(1)));
    refuse(Format::Plan, changed("resource_changes", json!([{}])));
    let change = |actions: Value| {
        json!([{
            "address": "a.b", "mode": "managed", "type": "a", "name": "b", "provider_name": "p",
            "change": {
                "actions": actions, "before": null, "after": {}, "after_unknown": {},
                "before_sensitive": false, "after_sensitive": {},
            },
        }])
    };
    fits(
        Format::Plan,
        &changed("resource_changes", change(json!(["create"]))),
        "a plan",
    );
    refuse(
        Format::Plan,
        changed("resource_changes", change(json!(["replace"]))),
    );
    refuse(Format::State, json!({}));
    refuse(
        Format::State,
        json!({ "format_version": "1.0", "values": {} }),
    );
    refuse(Format::Outputs, json!({ "a": 1 }));
    refuse(Format::Version, json!({ "terraform_version": "1.2.3" }));
    refuse(
        Format::Functions,
        json!({ "format_version": "1.0", "function_signatures": { "f": {} } }),
    );
    let line = json!({
        "@level": "info", "@message": "m", "@module": "terraform.ui", "@timestamp": "t", "type": "log",
    });
    fits(Format::Ui, &line, "a line");
    let mut other = line.clone();
    other["type"] = json!("news");
    refuse(Format::Ui, other);
    let mut other = line;
    other["more"] = json!(1);
    refuse(Format::Ui, other);
    let valid = json!({
        "format_version": "1.0", "valid": true, "error_count": 1, "warning_count": 0, "diagnostics": [],
    });
    refuse(Format::Validate, valid);
}
