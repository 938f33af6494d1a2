//! `tests/oracle`: what Terraform made of some texts. The scripts that recorded them stand there too.

use formwork_diagnostics::{FileId, SourceMap};
use formwork_syntax::format;
use serde_json::Value;

fn cases(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a case a line"))
        .collect()
}

#[test]
fn formats_as_recorded() {
    for case in cases(include_str!("../../../../tests/oracle/fmt.jsonl")) {
        let text = case["in"].as_str().expect("text");
        let (out, diagnostics) = format(FileId(0), text.as_bytes());
        let mut out = String::from_utf8(out).expect("text");
        match case["out"].as_str() {
            Some(expected) => {
                assert!(diagnostics.is_empty(), "in {text}: {diagnostics:?}");
                // Recorded from standard output, where a missing last line break is added.
                if !out.ends_with('\n') {
                    out.push('\n');
                }
                assert_eq!(out, expected, "of {text}");
            }
            None => {
                let summary = diagnostics.iter().next().map(|d| d.summary.as_str());
                assert_eq!(summary, case["summary"].as_str(), "in {text}");
            }
        }
    }
}

/// Accepts what Terraform accepts and lays it out the same, byte for byte; refuses what it refuses,
/// and nearly always says the same of the same line first.
#[test]
fn judges_as_recorded() {
    let (mut refused, mut same_place) = (0, 0);
    for case in cases(include_str!("../../../../tests/oracle/syntax.jsonl")) {
        let text = case["in"].as_str().expect("text");
        let mut sources = SourceMap::new();
        let file = sources.add("x.tf", text.as_bytes());
        let (out, diagnostics) = format(file, text.as_bytes());
        let said: Vec<(u64, &str)> = diagnostics
            .iter()
            .map(|d| {
                let range = d.subject.expect("a place");
                let line = sources.get(file).expect("added").position(range.start).line;
                (u64::from(line), d.summary.as_str())
            })
            .collect();
        if let Some(expected) = case["out"].as_str() {
            assert_eq!(said, [], "in {text:?}");
            let quirk = case["quirk"].as_bool().unwrap_or(false);
            if !quirk {
                assert_eq!(String::from_utf8_lossy(&out), expected, "of {text:?}");
            }
            continue;
        }
        let expected: Vec<(u64, &str)> = case["errors"]
            .as_array()
            .expect("errors where there is no text")
            .iter()
            .map(|e| {
                (
                    e[0].as_u64().expect("line"),
                    e[1].as_str().expect("summary"),
                )
            })
            .collect();
        assert!(!said.is_empty(), "accepted {text:?}, but {expected:?}");
        refused += 1;
        if expected.contains(&said[0]) {
            same_place += 1;
        } else {
            println!("{text:?}\n  ours {said:?}\n  theirs {expected:?}");
        }
    }
    println!("{same_place} of {refused} refusals begin with the same words in the same line");
    assert!(refused > 500 && same_place * 100 >= refused * 96);
}
