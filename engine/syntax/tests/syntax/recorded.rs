//! `tests/oracle/fmt.jsonl`: what Terraform made of some texts.

use formwork_diagnostics::FileId;
use formwork_syntax::format;

const CASES: &str = include_str!("../../../../tests/oracle/fmt.jsonl");

#[test]
fn formats_as_recorded() {
    for line in CASES.lines() {
        let case: serde_json::Value = serde_json::from_str(line).expect("a case a line");
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
