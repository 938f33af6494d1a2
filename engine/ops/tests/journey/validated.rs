//! What Terraform's `validate` says of small configurations: `tests/oracle/validate.jsonl`.
//!
//! Severity, summary and line of every diagnostic are compared, and that the two point into one
//! another; sentences are not. Two differences of kind are everywhere, and passed over:
//!
//! - Terraform tells some mistakes twice, by their cause and by what follows from it at the same place.
//!   Here a mistake is told once, so each of its errors must be matched or stand beside one that is.
//! - Some of its errors name no place. Here nearly all do.
//!
//! What else differs on purpose stands in `validated_differences`, and a difference that has gone is a failure.

use crate::surroundings::session;
use crate::validated_differences::DIFFERENT;
use formwork_configuration::MemoryReader;
use formwork_diagnostics::{Diagnostics, Severity, SourceMap};
use formwork_ops::validate;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
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
    let of = |d: &formwork_diagnostics::Diagnostic| {
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
    };
    diagnostics.iter().map(of).collect()
}

/// Whether two places are of one file and line, one within the other or touching it.
fn near(a: &Json, b: &Json) -> bool {
    if a.is_null() || b.is_null() {
        return true;
    }
    let at = |p: &Json, i: usize| p[i].as_u64().unwrap_or(0);
    let touching = at(a, 2) <= at(b, 3) && at(b, 2) <= at(a, 3);
    // Where a block begins in JSON is a matter of taste.
    let json = a[0].as_str().is_some_and(|name| name.ends_with(".json"));
    a[0] == b[0] && a[1] == b[1] && (touching || json)
}

/// What a diagnostic is about: a summary whose rest tells the case is cut.
fn kind(d: &Json) -> (&str, &str) {
    let summary = d[1].as_str().unwrap_or("");
    let cut = ["Cycle", "Duplicate argument", "Attribute redefined"];
    let summary = cut
        .iter()
        .find(|c| summary.starts_with(**c))
        .copied()
        .unwrap_or(summary);
    (d[0].as_str().unwrap_or(""), summary)
}

fn agree(want: &[Json], got: &[Json]) -> bool {
    let same = |a: &&Json, b: &&Json| kind(a) == kind(b) && near(&a[2], &b[2]);
    let told = |w: &Json| got.iter().any(|g| same(&w, &g));
    let follows =
        |w: &Json| w[0] == "error" && want.iter().any(|o| o != w && told(o) && near(&o[2], &w[2]));
    want.iter().all(|w| told(w) || follows(w))
        && got.iter().all(|g| want.iter().any(|w| same(&w, &g)))
}

#[tokio::test]
async fn small_configurations() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle/validate.jsonl");
    let recorded = std::fs::read_to_string(path).expect("tests/oracle/validate.jsonl");
    let folder = tempfile::tempdir().expect("a folder");
    let (mut cases, mut wrong) = (0, Vec::new());
    let mut gone: BTreeSet<&str> = DIFFERENT.iter().flat_map(|(_, c)| *c).copied().collect();
    for line in recorded.lines() {
        let case: Json = serde_json::from_str(line).expect("a case");
        let text = case["in"].as_str().expect("a text");
        let want = case["said"].as_array().expect("what was said");
        let mut session = session(folder.path(), Vec::new(), 1);
        session.reader = Arc::new(files(text));
        let validated = validate(&session, None).await;
        let got = said(&validated.diagnostics, &validated.sources);
        cases += 1;
        let agrees = agree(want, &got);
        let different = DIFFERENT.iter().any(|(_, cases)| cases.contains(&text));
        if agrees {
            continue;
        }
        if different {
            gone.remove(text);
            continue;
        }
        let (want, got) = (Json::from(want.clone()), Json::from(got));
        wrong.push(format!("{text}\n  terraform {want}\n  formwork  {got}\n"));
    }
    println!("{cases} configurations, {} differ", wrong.len());
    assert!(cases > 400, "{cases} cases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(gone.is_empty(), "no longer different: {gone:?}");
}
