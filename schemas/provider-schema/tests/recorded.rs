//! Against recorded calls of Terraform 1.11.4 to a provider whose resource has every kind of field:
//! the bytes of values, the proposed new state, and which answers are accepted.
//!
//! The data is `tests/oracle/rpc/calls.jsonl`; the script beside it says what a line means.

#![allow(clippy::unwrap_used)] // a test: helpers outside test functions too

use formwork_provider_schema::{assert_object_compatible, assert_plan_valid, proposed_new_state};
use formwork_values::{Type, Value, from_msgpack, to_msgpack, value_from_json, value_to_json_as};
use thing::thing;

#[path = "../../../tests/oracle/rpc/thing.rs"]
mod thing;

struct Call {
    line: usize,
    json: serde_json::Value,
}

impl Call {
    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let hex = self.json[name].as_str()?;
        let digit = |c: u8| (c as char).to_digit(16).unwrap() as u8;
        Some(
            hex.as_bytes()
                .chunks(2)
                .map(|p| digit(p[0]) << 4 | digit(p[1]))
                .collect(),
        )
    }

    fn value(&self, name: &str, ty: &Type) -> Option<Value> {
        let bytes = self.bytes(name)?;
        Some(from_msgpack(&bytes, ty).unwrap_or_else(|e| panic!("{self}, {name}: {e}")))
    }

    fn is(&self, call: &str) -> bool {
        self.json["call"] == call
    }

    fn flag(&self, name: &str) -> bool {
        self.json[name] == true
    }
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "calls.jsonl line {} ({} of {})",
            self.line, self.json["call"], self.json["scenario"]
        )
    }
}

fn calls() -> Vec<Call> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/oracle/rpc/calls.jsonl"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let parse = |(i, line)| Call {
        line: i + 1,
        json: serde_json::from_str(line).unwrap(),
    };
    text.lines().enumerate().map(parse).collect()
}

const VALUES: [&str; 5] = ["config", "prior", "proposed", "planned", "new"];

#[test]
fn bytes_are_the_recorded_ones() {
    let ty = thing().ty();
    let mut checked = 0;
    for call in calls() {
        for name in VALUES {
            let Some(bytes) = call.bytes(name) else {
                continue;
            };
            let value = call.value(name, &ty).unwrap();
            assert_eq!(
                to_msgpack(&value, &ty).unwrap(),
                bytes,
                "{call}, {name}: {value:?}"
            );
            if value.is_wholly_known() {
                let json = value_to_json_as(&value, &ty).unwrap();
                assert_eq!(
                    value_from_json(json.as_bytes(), &ty).unwrap(),
                    value,
                    "{json}"
                );
            }
            checked += 1;
        }
    }
    assert!(checked > 300, "{checked}");
}

#[test]
fn proposed_new_states_are_the_recorded_ones() {
    let block = thing();
    let ty = block.ty();
    let mut checked = 0;
    for call in calls().iter().filter(|c| c.is("plan")) {
        let value = |name| call.value(name, &ty).unwrap();
        let (config, prior, proposed) = (value("config"), value("prior"), value("proposed"));
        if proposed.is_null() {
            continue; // a deletion: nothing is proposed
        }
        assert_eq!(
            proposed_new_state(&block, &prior, &config),
            proposed,
            "{call}"
        );
        checked += 1;
    }
    assert!(checked > 40, "{checked}");
}

#[test]
fn answers_are_judged_as_recorded() {
    let block = thing();
    let ty = block.ty();
    for call in calls() {
        let value = |name| call.value(name, &ty).unwrap();
        let (errors, refused) = if call.is("plan") && call.bytes("planned").is_some() {
            let errors =
                assert_plan_valid(&block, &value("prior"), &value("config"), &value("planned"));
            (errors, false)
        } else if call.is("apply") && call.bytes("new").is_some() {
            let errors = assert_object_compatible(&block, &value("planned"), &value("new"));
            (errors, call.flag("inconsistent"))
        } else {
            continue;
        };
        assert_eq!(!errors.is_empty(), refused, "{call}: {errors:?}");
    }
}
