//! What Terraform 1.11.4 answered for the same states and configurations, recorded.
//! `tests/oracle/distil.py` makes the data.
//!
//! The order of child modules, resources and check results is not significant.

#![allow(clippy::expect_used)] // a test: helpers outside test functions too

use formwork_addresses::ProviderAddr;
use formwork_configuration::{
    DiskReader, LanguageLevel, Loading, LocalModulesOnly, StaticInputs, load,
};
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

fn oracle() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle")
}

/// Each step of each recorded configuration: its name, its folder and the answers.
fn steps() -> Vec<(String, PathBuf, Json)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(oracle().join("configs")).expect("the recordings") {
        let folder = entry.expect("an entry").path();
        let text = std::fs::read_to_string(folder.join("case.json")).expect("the case");
        let mut case: Json = serde_json::from_str(&text).expect("JSON");
        let Json::Array(steps) = case["steps"].take() else {
            panic!("{folder:?} has no steps");
        };
        for (i, step) in steps.into_iter().enumerate() {
            let files = folder.join(format!("step{}", i + 1));
            all.push((files.display().to_string(), files, step));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
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
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, _, mut step) in steps() {
        let (mut state, mut want) = (step["state"].take(), step["show_state"].take());
        let Some(fields) = state.as_object_mut() else {
            continue;
        };
        count += 1;
        fields.insert("version".into(), 4.into());
        fields.insert("lineage".into(), "x".into());
        fields.insert("terraform_version".into(), "1.11.4".into());
        let bytes = serde_json::to_vec(&state).expect("JSON");
        let (snapshot, said) = v4::read(&bytes, "state");
        assert!(!said.has_errors(), "{name}: {said:?}");
        let got = state_json(snapshot.as_ref(), &schemas());
        let mut got: Json = serde_json::from_str(&got).expect("JSON");
        assert_eq!(got["format_version"].take(), "1.0");
        // the recordings say nothing of versions
        for version in ["format_version", "terraform_version"] {
            got.as_object_mut().map(|fields| fields.remove(version));
        }
        settled(&mut got);
        settled(&mut want);
        if got != want {
            wrong.push((name, got, want));
        }
    }
    assert!(count > 60, "{count} states");
    none(&wrong, count);
}

#[test]
fn configurations() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, base, mut step) in steps() {
        let mut want = step["plan"]["json"]["configuration"].take();
        if want.is_null() {
            continue;
        }
        count += 1;
        let loading = Loading {
            reader: &DiskReader { base },
            fetcher: &LocalModulesOnly,
            level: LanguageLevel::default(),
            statics: StaticInputs::default(),
        };
        let (configuration, said) = load(Path::new("."), &loading, &mut SourceMap::new());
        assert!(!said.has_errors(), "{name}: {said:?}");
        let got = plan_json(&Plan::default(), Some(&configuration), &schemas());
        let mut got: Json = serde_json::from_str(&got).expect("JSON");
        let mut got = got["configuration"].take();
        settled(&mut got);
        settled(&mut want);
        if got != want {
            wrong.push((name, got, want));
        }
    }
    assert!(count > 60, "{count} configurations");
    none(&wrong, count);
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
    let text = std::fs::read_to_string(oracle().join("functions.json")).expect("the recorded data");
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
