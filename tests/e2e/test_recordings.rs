//! `test` against what Terraform answers on the same configurations: `tests/oracle/tests.jsonl`.

use crate::{env, repository};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Where we differ on purpose, and why. A difference that has gone is a failure too.
const DIFFERENT: &[(&str, &str)] = &[
    ("unexpected-bad-plan", AT_THE_RULE),
    ("unexpected-bad-apply", AT_THE_RULE),
    ("expect-bad-apply", AT_THE_RULE),
    (
        "expect-pre-apply",
        "the warning says which expectation it is about",
    ),
    (
        "expect-post-apply",
        "the warning says which expectation it is about",
    ),
    (
        "cleanup-blocked",
        "shown where the prevention stands, not at the block around it",
    ),
    (
        "cleanup-blocked-main",
        "shown where the prevention stands, not at the block around it",
    ),
    (
        "alternate-module-missing",
        "shown at the source, not at the block around it",
    ),
    ("run-reference-unknown-output", TOLD),
    ("override-resource-plan", TOLD),
    ("mock-plan", TOLD),
    ("filter-unknown", "a filter that names nothing is warned of"),
    ("parallel", "the language level is 1.12, which has it"),
    (
        "override-instances-modules",
        "docs/decisions/0007-tests-and-mock-clouds.md",
    ),
    ("empty-run-block-reference", "one error for one mistake"),
    ("state-key-bad", "one error for one mistake"),
    ("each-in-assert", "all errors of a condition at once"),
    (
        "module-condition-expected-root",
        "an output of a child module is not the root module's of the same name",
    ),
];
const AT_THE_RULE: &str = "shown at the rule that the value breaks, not at the value";
const TOLD: &str = "what the reference is is told";

/// What is compared of an answer, one fact a line.
type Facts = BTreeSet<String>;

fn text(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// What a reference is told to be: texts, numbers and the like as they are; what is worded in sentences,
/// only that it is told.
fn stated(values: BTreeMap<String, String>) -> Json {
    let plain = |s: &str| {
        let rest = s.strip_prefix("is ").unwrap_or_default();
        rest.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit())
            || ["true", "false", "null"].contains(&rest)
    };
    let stated = values
        .into_iter()
        // Terraform does not name references whose values are sensitive.
        .filter(|(_, s)| !s.contains("sensitive"))
        .map(|(name, s)| match plain(&s) {
            true => (name, made_up(&s)),
            false => (name, "is told".to_owned()),
        });
    serde_json::to_value(stated.collect::<BTreeMap<_, _>>()).expect("a map of texts")
}

/// Ids that are others each time.
fn made_up(statement: &str) -> String {
    let is_hex = |s: &str, n: usize| s.len() == n && s.bytes().all(|b| b.is_ascii_hexdigit());
    let is_id = |s: &str| {
        let parts: Vec<&str> = s.split('-').collect();
        parts.len() == 5
            && parts
                .iter()
                .zip([8, 4, 4, 4, 12])
                .all(|(p, n)| is_hex(p, n))
    };
    let quoted = statement
        .strip_prefix("is \"")
        .and_then(|s| s.strip_suffix('"'));
    let lower = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    match quoted {
        Some(s) if is_id(s) => "is \"<id>\"".to_owned(),
        Some(s) if s.len() == 8 && s.bytes().all(lower) => "is \"<made up>\"".to_owned(),
        _ => statement.to_owned(),
    }
}

/// A recorded event as a fact.
fn recorded_event(event: &Json) -> String {
    match event {
        Json::Object(d) => {
            let message = d
                .get("message")
                .map(|m| format!(" {m}"))
                .unwrap_or_default();
            let values = d["values"].as_object().into_iter().flatten();
            let values = values.map(|(k, v)| (k.clone(), text(v))).collect();
            format!(
                "{} {} {} at {} {}{message}",
                d["about"],
                d["severity"],
                d["summary"],
                d["at"],
                stated(values)
            )
        }
        words => words.to_string(),
    }
}

/// A line of ours as a fact; `messages` tells whether the recording has the message of a diagnostic.
fn event(line: &Json, messages: &BTreeSet<String>) -> Option<String> {
    let kind = text(&line["type"]);
    if matches!(&*kind, "version" | "log") {
        return None;
    }
    let about = [&line["@testfile"], &line["@testrun"]];
    if kind == "diagnostic" {
        let d = &line["diagnostic"];
        let at = match &d["range"] {
            Json::Null => Json::Null,
            r => Json::from(format!("{}:{}", text(&r["filename"]), r["start"]["line"])),
        };
        let values: BTreeMap<String, String> = d["snippet"]["values"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|v| (text(&v["traversal"]), text(&v["statement"])))
            .collect();
        let detail = text(&d["detail"]);
        let first = detail.split("\n\n").next().unwrap_or_default();
        let message = match messages.contains(first) {
            true => format!(" {}", Json::from(first)),
            false => String::new(),
        };
        return Some(format!(
            "{} {} {} at {at} {}{message}",
            Json::from(about.into_iter().cloned().collect::<Vec<_>>()),
            d["severity"],
            d["summary"],
            stated(values)
        ));
    }
    let mut words = vec![Json::from(&*kind)];
    words.extend(about.into_iter().filter(|a| !a.is_null()).cloned());
    let body = &line[&*kind];
    match &*kind {
        "test_abstract" => words.push(body.clone()),
        "test_summary" => {
            let counts = ["status", "passed", "failed", "errored", "skipped"];
            words.extend(counts.iter().map(|k| body[k].clone()));
        }
        "test_cleanup" => {
            let all = body["failed_resources"].as_array().expect("a list");
            words.extend(all.iter().map(|r| r["instance"].clone()));
        }
        "test_file" | "test_run" => {
            let parts = ["progress", "status"].iter().map(|k| &body[k]);
            words.extend(parts.filter(|w| !w.is_null()).cloned());
        }
        _ => {}
    }
    Some(Json::from(words).to_string())
}

/// Status lines and the summary.
fn is_status(line: &str) -> bool {
    line.starts_with("  run \"")
        || line.starts_with("Success! ")
        || line.starts_with("Failure! ")
        || (!line.starts_with(' ') && line.contains("... "))
}

/// The names, counts and elements of a JUnit report; no two of our lines look alike.
fn junit(xml: &str) -> Vec<String> {
    let mut facts = Vec::new();
    let attribute = |line: &str, name: &str| -> String {
        let (_, rest) = line.split_once(&format!(" {name}=\"")).unwrap_or_default();
        rest.split('"').next().unwrap_or_default().to_owned()
    };
    for line in xml.lines().map(str::trim_start) {
        if line.starts_with("<testsuite ") {
            let names = ["name", "tests", "skipped", "failures", "errors"];
            facts.push(format!("suite {:?}", names.map(|n| attribute(line, n))));
        } else if line.starts_with("<testcase ") {
            let names = ["name", "classname"];
            facts.push(format!("case {:?}", names.map(|n| attribute(line, n))));
        } else if let Some(element) = ["failure", "error", "skipped"]
            .into_iter()
            .find(|e| line.starts_with(&format!("<{e} message=")))
        {
            facts.push(element.to_owned());
        }
    }
    facts
}

fn recorded_junit(suites: &Json) -> Vec<String> {
    let mut facts = Vec::new();
    for suite in suites.as_array().into_iter().flatten() {
        let suite = suite.as_array().expect("a suite");
        let (cases, counts) = suite.split_last().expect("cases");
        let counts: Vec<String> = counts.iter().map(text).collect();
        facts.push(format!("suite {counts:?}"));
        for case in cases.as_array().expect("cases") {
            let case: Vec<String> = case.as_array().expect("a case").iter().map(text).collect();
            facts.push(format!("case {:?}", &case[..2]));
            facts.extend(case.get(2).cloned());
        }
    }
    facts
}

#[test]
fn as_recorded() {
    let recorded = std::fs::read_to_string(repository("tests/oracle/tests.jsonl"));
    let recorded = recorded.expect("the recordings");
    let mut lines = recorded
        .lines()
        .map(|l| serde_json::from_str::<Json>(l).expect("JSON"));
    let common = lines.next().expect("the common files");
    let mut differ: BTreeMap<String, String> = BTreeMap::new();
    let mut cases = 0;
    for case in lines {
        cases += 1;
        let name = text(&case["name"]);
        let env = env();
        for files in [&common["common"], &case["files"]] {
            for (path, content) in files.as_object().expect("files") {
                env.write(path, text(content));
            }
        }
        let given: Vec<String> = case["arguments"]
            .as_array()
            .expect("a list")
            .iter()
            .map(text)
            .collect();
        let with = |first: &[&'static str]| -> Vec<String> {
            let first = first.iter().map(ToString::to_string);
            first.chain(given.iter().cloned()).collect()
        };
        let run = |arguments: &[String]| {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            env.run(&arguments)
        };
        let people = run(&with(&["test", "-no-color", "-junit-xml=out.xml"]));
        let program = run(&with(&["test", "-json"]));

        let events = case["events"].as_array().expect("events");
        let messages: BTreeSet<String> = events.iter().map(|e| text(&e["message"])).collect();
        let mut want: Facts = events.iter().map(recorded_event).collect();
        let mut have: Facts = program
            .stdout
            .lines()
            .filter_map(|l| event(&serde_json::from_str(l).expect("JSON"), &messages))
            .collect();
        // In order: what is told of files and runs, and what people read of them.
        let order = |facts: Vec<String>| facts.join("\n");
        want.insert(order(
            events
                .iter()
                .filter(|e| e.is_array())
                .map(recorded_event)
                .collect(),
        ));
        have.insert(order(
            program
                .stdout
                .lines()
                .map(|l| serde_json::from_str::<Json>(l).expect("JSON"))
                .filter(|l| l["type"] != "diagnostic")
                .filter_map(|l| event(&l, &messages))
                .collect(),
        ));
        let status = |lines: &mut dyn Iterator<Item = &str>| {
            order(lines.filter(|l| is_status(l)).map(str::to_owned).collect())
        };
        let said = case["lines"].as_array().expect("lines");
        want.insert(status(&mut said.iter().filter_map(Json::as_str)));
        have.insert(status(&mut people.stdout.lines()));
        for (ran, key) in [(&people, "exit"), (&program, "json_exit")] {
            want.insert(format!("{key} {}", case[key]));
            have.insert(format!("{key} {}", ran.code));
        }
        if !case["junit"].is_null() || env.has("out.xml") {
            want.insert(order(recorded_junit(&case["junit"])));
            let xml = if env.has("out.xml") {
                env.text("out.xml")
            } else {
                String::new()
            };
            have.insert(order(junit(&xml)));
        }
        if want != have {
            let missing: Vec<_> = want.difference(&have).cloned().collect();
            let other: Vec<_> = have.difference(&want).cloned().collect();
            let text = format!("Terraform:\n{}\nwe:\n{}", order(missing), order(other));
            differ.insert(name, text);
        }
    }
    assert!(cases > 100, "{cases} recordings");
    let mut wrong = String::new();
    for (name, why) in &differ {
        if !DIFFERENT.iter().any(|(n, _)| n == name) {
            wrong.push_str(&format!("\n== {name} differs\n{why}\n"));
        }
    }
    for (name, why) in DIFFERENT {
        if !differ.contains_key(*name) {
            wrong.push_str(&format!("\n== {name} differs no more ({why})\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
