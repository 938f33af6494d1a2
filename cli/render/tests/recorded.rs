//! What Terraform 1.11.4 answered for the same states and configurations, recorded.
//! `tests/oracle/distil.py` makes the data.
//!
//! The order of child modules, resources and check results is not significant.

#![allow(clippy::expect_used)] // a test: helpers outside test functions too

use formwork_addresses::ProviderAddr;
use formwork_configuration::{LanguageLevel, Loading, LocalModulesOnly, MemoryReader, load};
use formwork_diagnostics::SourceMap;
use formwork_environment::Fixed;
use formwork_eval::{Builtins, NoFiles, Surroundings};
use formwork_plan::Plan;
use formwork_provider_schema::{Attribute, Block, ProviderSchema, Schema};
use formwork_render::{Schemas, functions_json, plan_json, state_json};
use formwork_state::v4;
use formwork_values::Type;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The built-in provider, as recorded in its schema.
fn schemas() -> Schemas {
    let optional = |ty| Attribute::new(ty).optional();
    let computed = |ty| Attribute::new(ty).computed();
    let data = Block::of_attributes([
        ("id", computed(Type::String)),
        ("input", optional(Type::Dynamic)),
        ("output", computed(Type::Dynamic)),
        ("triggers_replace", optional(Type::Dynamic)),
    ]);
    let remote = Block::of_attributes([
        ("backend", Attribute::new(Type::String).required()),
        ("config", optional(Type::Dynamic)),
        ("defaults", optional(Type::Dynamic)),
        ("outputs", computed(Type::Dynamic)),
        ("workspace", optional(Type::String)),
    ]);
    let mut builtin = ProviderSchema::default();
    builtin
        .resources
        .insert("terraform_data".into(), Arc::new(Schema::new(0, data)));
    builtin.data_sources.insert(
        "terraform_remote_state".into(),
        Arc::new(Schema::new(0, remote)),
    );
    let mut all = Schemas::new();
    all.insert(ProviderAddr::implied("terraform"), Arc::new(builtin));
    all
}

fn cases(name: &str) -> Vec<Json> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/oracle")
        .join(name);
    std::fs::read_to_string(&path)
        .expect("the recorded data")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// What means nothing is made the same: order, and the spelling of numbers (the recordings have
/// passed them through floats; unit tests hold that ours do not).
fn settled(json: &mut Json) {
    match json {
        Json::Number(n) => {
            let rounded = format!("{:.14e}", n.as_f64().unwrap_or_default());
            *json = Json::String(rounded);
        }
        Json::Array(items) => items.iter_mut().for_each(settled),
        Json::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                settled(value);
                let loose = ["child_modules", "resources", "checks", "instances"];
                if let (true, Json::Array(items)) = (loose.contains(&&**name), value) {
                    items.sort_by_key(|item| item["address"].to_string());
                }
            }
        }
        _ => {}
    }
}

/// Says which cases differ, and how.
fn none(wrong: &[(String, Json, Json)], of: usize) {
    let text: Vec<String> = wrong
        .iter()
        .map(|(name, got, want)| format!("{name}\n  ours {got}\n  its  {want}"))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {of}:\n{}",
        wrong.len(),
        text.join("\n")
    );
}

#[test]
fn states() {
    let all = cases("states.jsonl");
    let mut wrong = Vec::new();
    for case in &all {
        let bytes = serde_json::to_vec(&case["state"]).expect("JSON");
        let (snapshot, said) = v4::read(&bytes, "state");
        assert!(!said.has_errors(), "{said:?}");
        let got = state_json(snapshot.as_ref(), &schemas());
        let mut got: Json = serde_json::from_str(&got).expect("JSON");
        let mut want = case["shown"].clone();
        settled(&mut got);
        settled(&mut want);
        if got != want {
            wrong.push((case["name"].to_string(), got, want));
        }
    }
    none(&wrong, all.len());
}

#[test]
fn configurations() {
    let all = cases("configurations.jsonl");
    let mut wrong = Vec::new();
    for case in &all {
        let files = case["files"].as_object().expect("files");
        let reader: MemoryReader = files
            .iter()
            .map(|(name, text)| (&**name, text.as_str().expect("text")))
            .collect();
        let loading = Loading {
            reader: &reader,
            fetcher: &LocalModulesOnly,
            level: LanguageLevel::default(),
        };
        let (configuration, said) = load(Path::new("."), &loading, &mut SourceMap::new());
        assert!(!said.has_errors(), "{} {said:?}", case["name"]);
        let got = plan_json(&Plan::default(), Some(&configuration), &schemas());
        let mut got: Json = serde_json::from_str(&got).expect("JSON");
        let mut got = got["configuration"].take();
        let mut want = case["configuration"].clone();
        settled(&mut got);
        settled(&mut want);
        if got != want {
            wrong.push((case["name"].to_string(), got, want));
        }
    }
    none(&wrong, all.len());
}

#[test]
fn functions() {
    let fixed = Arc::new(Fixed::new(0, 0));
    let builtins = Builtins::new(Surroundings {
        files: Arc::new(NoFiles),
        clock: fixed.clone(),
        randomness: fixed,
        plan_time: None,
        settle_impure: false,
    });
    let got: Json = serde_json::from_str(&functions_json(&builtins)).expect("JSON");
    let got = &got["function_signatures"];
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle/functions.json");
    let text = std::fs::read_to_string(path).expect("the recorded data");
    let want: Json = serde_json::from_str(&text).expect("JSON");
    let mut wrong = Vec::new();
    for (name, want) in want.as_object().expect("an object") {
        for name in [name.clone(), format!("core::{name}")] {
            if got[&name] != *want {
                wrong.push((name.clone(), got[&name].clone(), want.clone()));
            }
        }
    }
    none(&wrong, want.as_object().map_or(0, serde_json::Map::len));
}
