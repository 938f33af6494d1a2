//! The corners of HCL's specification: heredocs, trimming, splats, old indexes, names beyond ASCII.
//! `tests/oracle/record_specification.py` made the answers.

use crate::recorded::{builtins, oracle};
use formwork_diagnostics::{FileId, SourceMap};
use formwork_eval::{EmptyScope, MapScope, evaluate};
use formwork_syntax::{Expression, OffsetMap, parse, parse_expression};
use formwork_values::Value;
use std::sync::Arc;

/// The value of an argument, written in a file as the recording wrote it.
fn argument(text: &str) -> Expression {
    let whole = if text.starts_with("<<") {
        format!("v = {text}")
    } else {
        format!("v = {text}\n")
    };
    let (body, said) = parse(FileId(0), whole.as_bytes());
    assert!(said.is_empty(), "{text}: {said:?}");
    body.attribute("v")
        .expect("just written")
        .expression
        .clone()
}

#[test]
fn specification_as_recorded() {
    let functions = builtins();
    let data = std::fs::read_to_string(oracle().join("specification.jsonl")).expect("the data");
    let mut lines = data
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a case a line"));
    let locals = lines.next().expect("the locals");
    let text = locals["locals"].as_str().expect("text");
    let mut sources = SourceMap::new();
    let file = sources.add("main.tf", text.as_bytes());
    let (body, said) = parse(file, text.as_bytes());
    assert!(said.is_empty(), "{said:?}");
    let mut values: Vec<(Arc<str>, Value)> = Vec::new();
    for block in body.blocks_of("locals") {
        for a in block.body.attributes() {
            let (value, said) = evaluate(&a.expression, &EmptyScope, &functions).into_checked();
            assert!(said.is_empty(), "{}: {said:?}", a.name);
            values.push((a.name.clone(), value));
        }
    }
    let mut scope = MapScope::new();
    scope.insert("local", Value::object(values));
    let (encode, _) = parse_expression(FileId(0), b"jsonencode(v)", OffsetMap::PLAIN);
    let mut wrong = Vec::new();
    for case in lines {
        let text = case["expr"].as_str().expect("text");
        let (value, said) = evaluate(&argument(text), &scope, &functions).into_checked();
        let mut of_value = MapScope::new();
        of_value.insert("v", value);
        let (json, failed) = evaluate(&encode, &of_value, &functions).into_checked();
        let ours = json.as_str().unwrap_or_default();
        if !said.is_empty() || !failed.is_empty() || Some(ours) != case["json"].as_str() {
            wrong.push(format!(
                "{text}\n  ours   {ours} {said:?}\n  theirs {}",
                case["json"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
