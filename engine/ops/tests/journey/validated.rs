//! What Terraform's `validate` says of small configurations: `tests/oracle/validate.jsonl`.
//!
//! Severity, summary and place of every diagnostic are compared, sentences are not. What differs on
//! purpose stands here with its reason, and a difference that has gone is a failure too.

use crate::surroundings::session;
use formwork_configuration::MemoryReader;
use formwork_diagnostics::{Diagnostics, Severity, SourceMap};
use formwork_ops::validate;
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;

/// The files of a case: a text without a header is `main.tf`, others begin with lines `## name`.
fn files(text: &str) -> MemoryReader {
    let mut reader = MemoryReader::new();
    for part in format!("\n{text}").split("\n## ") {
        if part.trim().is_empty() {
            continue;
        }
        let (name, rest) = part.split_once('\n').unwrap_or((part, ""));
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.');
        let named = name.ends_with(".tf") || name.ends_with(".tf.json");
        if named && name.chars().all(plain) {
            reader.insert(name, rest.as_bytes());
        } else {
            reader.insert("main.tf", part.trim_start_matches('\n').as_bytes());
        }
    }
    reader
}

/// Diagnostics as the recording has them.
fn said(diagnostics: &Diagnostics, sources: &SourceMap) -> Vec<Json> {
    let mut all: Vec<Json> = diagnostics
        .iter()
        .map(|d| {
            let severity = match d.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            let place = d.subject.and_then(|r| {
                let file = sources.get(r.file)?;
                let line = file.position(r.start).line;
                Some(json!([file.name, line, r.start, r.end]))
            });
            json!([severity, d.summary, place])
        })
        .collect();
    all.sort_by_key(|d| {
        let place = d[2].as_array();
        let at = |i: usize| place.and_then(|p| p[i].as_u64()).unwrap_or(0);
        let file = place.and_then(|p| p[0].as_str()).unwrap_or("").to_owned();
        let text = |i: usize| d[i].as_str().unwrap_or("").to_owned();
        (file, at(1), at(2), at(3), text(0), text(1))
    });
    all
}

#[tokio::test]
async fn small_configurations() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle/validate.jsonl");
    let recorded = std::fs::read_to_string(path).expect("tests/oracle/validate.jsonl");
    let folder = tempfile::tempdir().expect("a folder");
    let (mut cases, mut wrong) = (0, Vec::new());
    for line in recorded.lines() {
        let case: Json = serde_json::from_str(line).expect("a case");
        let text = case["in"].as_str().expect("a text");
        let mut session = session(folder.path(), Vec::new(), 1);
        session.reader = Arc::new(files(text));
        let validated = validate(&session).await;
        let got = Json::from(said(&validated.diagnostics, &validated.sources));
        cases += 1;
        if got != case["said"] {
            wrong.push(format!(
                "{text}\n  terraform {}\n  formwork  {got}\n",
                case["said"]
            ));
        }
    }
    assert!(cases > 400, "{cases} cases");
    assert!(
        wrong.is_empty(),
        "{} of {cases} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
