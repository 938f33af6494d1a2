//! Two event streams compared.
//!
//! Objects are worked on side by side, so lines of different objects come in any order; what must agree is
//! which lines there are, the order of the kinds of work (reading, planning, what is planned, applying,
//! what came of it), and for each object the order of its lines.

use super::compare::{Difference, differences, settled};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a line belongs to. Data sources are read beside objects.
fn phase(line: &Value) -> &str {
    let is_read = object(line).starts_with("data.") || object(line).contains(".data.");
    if is_read && line.get("hook").is_some() {
        return "reading";
    }
    match line["type"].as_str().unwrap_or_default() {
        "refresh_start" | "refresh_complete" => "reading",
        "apply_start"
        | "apply_progress"
        | "apply_complete"
        | "apply_errored"
        | "provision_start"
        | "provision_progress"
        | "provision_complete"
        | "provision_errored"
        | "ephemeral_op_start"
        | "ephemeral_op_progress"
        | "ephemeral_op_complete"
        | "ephemeral_op_errored" => "working",
        other => other,
    }
}

/// The object that a line is about.
fn object(line: &Value) -> &str {
    let address = |kind: &str| line[kind]["resource"]["addr"].as_str();
    address("hook")
        .or_else(|| address("change"))
        .unwrap_or_default()
}

pub fn compare(ours: &[Value], theirs: &[Value], found: &mut Vec<Difference>) {
    let settle = |all: &[Value]| -> Vec<Value> { all.iter().cloned().map(settled).collect() };
    let (ours, theirs) = (settle(ours), settle(theirs));
    let phases = |all: &[Value]| {
        let mut phases: Vec<String> = all.iter().map(|l| phase(l).to_owned()).collect();
        phases.dedup();
        phases.join(" ")
    };
    let (a, b) = (phases(&ours), phases(&theirs));
    if a != b {
        found.push(Difference::new("phases", &a, &b));
    }
    // which lines there are, by what they are about, in their order
    let by_object = |all: &[Value]| {
        let mut groups: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
        for line in all {
            let key = match phase(line) {
                "working" | "reading" => object(line).to_owned(),
                _ => String::new(),
            };
            let group = groups.entry((phase(line).to_owned(), key)).or_default();
            group.push(line.clone());
        }
        groups
    };
    let (a, b) = (by_object(&ours), by_object(&theirs));
    let nothing = Vec::new();
    let mut keys: Vec<_> = a.keys().chain(b.keys()).collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        let (a, b) = (
            a.get(key).unwrap_or(&nothing),
            b.get(key).unwrap_or(&nothing),
        );
        let at = match key.1.is_empty() {
            true => format!("stream.{}", key.0),
            false => format!("stream.{}.<{}>", key.0, key.1.replace('.', ",")),
        };
        differences(
            &at,
            &Value::Array(a.clone()),
            &Value::Array(b.clone()),
            found,
        );
    }
}
