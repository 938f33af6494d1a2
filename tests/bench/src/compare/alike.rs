//! Whether two tools made the same plan and the same state, ids aside.
//!
//! An id is drawn at random by whoever makes the object, so each stands for the address of its object.
//! What says when and by which program something was made is left out; arrays whose order says nothing
//! are sorted; dependencies in state count as what they mean, everything near and far. What is then
//! left must be equal, digit by digit.

use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A plan as `show -json` prints it, without what may differ.
pub(super) fn plan(text: &[u8]) -> Result<Json, String> {
    let mut plan: Json = serde_json::from_slice(text).map_err(|e| format!("plan: {e}"))?;
    let mut ids = HashMap::new();
    for change in items(&plan["resource_changes"]) {
        let address = &change["address"];
        for side in ["before", "after"] {
            name_id(&change["change"][side], address, &mut ids);
        }
    }
    drop_keys(
        &mut plan,
        &[
            "timestamp",
            "terraform_version",
            "formwork",
            "format_version",
        ],
    );
    if let Some(prior) = plan.get_mut("prior_state") {
        drop_keys(prior, &["terraform_version", "format_version"]);
        close_depends_on(prior);
    }
    for change in plan["resource_changes"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        // Terraform gives a reason for making what was not there, in some of its paths.
        if change["change"]["actions"] == serde_json::json!(["create"]) {
            drop_keys(change, &["action_reason"]);
        }
    }
    Ok(settled(plan, &ids))
}

/// A state file, without what may differ.
pub(super) fn state(text: &[u8]) -> Result<Json, String> {
    let mut state: Json = serde_json::from_slice(text).map_err(|e| format!("state: {e}"))?;
    let mut ids = HashMap::new();
    for resource in items(&state["resources"]) {
        for instance in items(&resource["instances"]) {
            let address = format!(
                "{}.{}[{}]",
                resource["type"], resource["name"], instance["index_key"]
            );
            name_id(&instance["attributes"], &Json::String(address), &mut ids);
        }
    }
    drop_keys(&mut state, &["lineage", "serial", "terraform_version"]);
    close_dependencies(&mut state);
    Ok(settled(state, &ids))
}

/// What stands for a whole document.
pub(super) fn digest(of: &Json) -> String {
    hex::encode(Sha256::digest(of.to_string()))
}

/// The first places where two documents differ, by path.
pub(super) fn differences(theirs: &Json, ours: &Json) -> Vec<String> {
    let mut out = Vec::new();
    let mut open = vec![(String::new(), theirs, ours)];
    while let Some((path, theirs, ours)) = open.pop() {
        if out.len() == 10 {
            break;
        }
        match (theirs, ours) {
            (Json::Object(t), Json::Object(o)) => {
                for key in t.keys().chain(o.keys()).collect::<BTreeSet<_>>() {
                    let of = |m: &'_ serde_json::Map<String, Json>| m.contains_key(key);
                    if of(t) && of(o) {
                        open.push((format!("{path}.{key}"), &t[key], &o[key]));
                    } else {
                        let who = if of(t) { "theirs" } else { "ours" };
                        let what = t.get(key).or_else(|| o.get(key)).map(short);
                        out.push(format!(
                            "{path}.{key}: only {who} has it: {}",
                            what.unwrap_or_default()
                        ));
                    }
                }
            }
            (Json::Array(t), Json::Array(o)) if t.len() == o.len() => {
                for (i, (t, o)) in t.iter().zip(o).enumerate() {
                    open.push((format!("{path}[{i}]"), t, o));
                }
            }
            (t, o) if t == o => {}
            (t, o) => out.push(format!("{path}: theirs {}, ours {}", short(t), short(o))),
        }
    }
    out
}

fn short(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(160) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

fn items(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}

fn drop_keys(value: &mut Json, keys: &[&str]) {
    if let Json::Object(map) = value {
        for key in keys {
            map.remove(*key);
        }
    }
}

fn name_id(object: &Json, address: &Json, ids: &mut HashMap<String, String>) {
    if let (Some(id), Some(address)) = (object["id"].as_str(), address.as_str()) {
        ids.insert(id.to_owned(), format!("<id of {address}>"));
    }
}

/// Length of a UUID in text.
const UUID: usize = 36;

/// Puts names in the places of ids, within longer texts too.
fn named(text: &str, ids: &HashMap<String, String>) -> Option<String> {
    if ids.is_empty() || text.len() < UUID {
        return None;
    }
    if let Some(name) = ids.get(text) {
        return Some(name.clone());
    }
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    while at + UUID <= text.len() {
        let name = text
            .get(at..at + UUID)
            .filter(|part| part.as_bytes()[8] == b'-')
            .and_then(|part| ids.get(part));
        if let Some(name) = name {
            out.push_str(&text[kept..at]);
            out.push_str(name);
            at += UUID;
            kept = at;
        } else {
            at += 1;
        }
    }
    (kept > 0).then(|| out + &text[kept..])
}

/// Ids named, and arrays whose order says nothing in one order.
fn settled(value: Json, ids: &HashMap<String, String>) -> Json {
    match value {
        Json::Object(map) => map
            .into_iter()
            .map(|(key, v)| {
                let mut v = settled(v, ids);
                let free = matches!(
                    key.as_str(),
                    "child_modules"
                        | "resources"
                        | "checks"
                        | "check_results"
                        | "resource_changes"
                        | "instances"
                        | "relevant_attributes"
                        | "replace_paths"
                        | "sensitive_attributes"
                        | "references"
                );
                if let (true, Json::Array(items)) = (free, &mut v) {
                    items.sort_by_cached_key(Json::to_string);
                    items.dedup();
                }
                (key, v)
            })
            .collect(),
        Json::Array(items) => items.into_iter().map(|v| settled(v, ids)).collect(),
        Json::String(text) => Json::String(named(&text, ids).unwrap_or(text)),
        other => other,
    }
}

/// Dependencies of the resources of a state file as everything near and far.
fn close_dependencies(state: &mut Json) {
    let address = |r: &Json| {
        let text = |key: &str| r[key].as_str().unwrap_or_default().to_owned();
        format!("{}.{}", text("type"), text("name"))
    };
    let mut nearest = Nearest::default();
    for r in items(&state["resources"]) {
        for i in items(&r["instances"]) {
            nearest.add(address(r), &i["dependencies"]);
        }
    }
    for r in state["resources"].as_array_mut().into_iter().flatten() {
        for i in r["instances"].as_array_mut().into_iter().flatten() {
            nearest.close(&mut i["dependencies"]);
        }
    }
}

/// The same of what a plan shows of the state before it.
fn close_depends_on(prior: &mut Json) {
    let mut nearest = Nearest::default();
    let resources = &mut prior["values"]["root_module"]["resources"];
    for r in items(resources) {
        let block = format!(
            "{}.{}",
            r["type"].as_str().unwrap_or_default(),
            r["name"].as_str().unwrap_or_default()
        );
        nearest.add(block, &r["depends_on"]);
    }
    for r in resources.as_array_mut().into_iter().flatten() {
        if r.get("depends_on").is_some() {
            nearest.close(&mut r["depends_on"]);
        }
    }
}

/// What each block was made from, as it is written.
#[derive(Default)]
struct Nearest(BTreeMap<String, BTreeSet<String>>);

impl Nearest {
    fn names(list: &Json) -> impl Iterator<Item = String> {
        items(list).filter_map(Json::as_str).map(str::to_owned)
    }

    fn add(&mut self, block: String, list: &Json) {
        self.0.entry(block).or_default().extend(Self::names(list));
    }

    fn close(&self, list: &mut Json) {
        let (mut open, mut closure): (Vec<String>, _) =
            (Self::names(list).collect(), BTreeSet::new());
        while let Some(next) = open.pop() {
            if !closure.contains(&next) {
                open.extend(self.0.get(&next).into_iter().flatten().cloned());
                closure.insert(next);
            }
        }
        if !closure.is_empty() {
            *list = closure.into_iter().map(Json::String).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ONE: &str = "6d1f0b0e-0000-4000-8000-000000000001";
    const TWO: &str = "6d1f0b0e-0000-4000-8000-000000000002";

    fn states(ids: [&str; 2], dependencies: [&[&str]; 3]) -> Json {
        let one = |name: &str, id: &str, input: String, deps: &[&str]| {
            json!({"mode": "managed", "type": "t", "name": name, "instances":
                [{"attributes": {"id": id, "input": input}, "dependencies": deps}]})
        };
        let [a, b] = ids;
        let document = json!({"serial": a.len(), "lineage": a, "resources": [
            one("a", a, "x".into(), dependencies[0]),
            one("b", b, format!("{a},{b}!"), dependencies[1]),
            one("c", "plain", b.into(), dependencies[2]),
        ]});
        state(document.to_string().as_bytes()).expect("JSON")
    }

    #[test]
    fn ids_and_the_way_of_writing_dependencies_do_not_count() {
        let theirs = states([ONE, TWO], [&[], &["t.a"], &["t.a", "t.b"]]);
        let ours = states([TWO, ONE], [&[], &["t.a"], &["t.b"]]);
        assert_eq!(differences(&theirs, &ours), Vec::<String>::new());
        assert_eq!(digest(&theirs), digest(&ours));
    }

    #[test]
    fn everything_else_counts() {
        let theirs = states([ONE, TWO], [&[], &["t.a"], &["t.b"]]);
        // b's input holds other ids than b's and a's
        let ours = states([ONE, ONE], [&[], &["t.a"], &["t.b"]]);
        assert!(!differences(&theirs, &ours).is_empty());
        let ours = states([ONE, TWO], [&[], &[], &["t.b"]]);
        assert!(!differences(&theirs, &ours).is_empty());
        assert_ne!(digest(&theirs), digest(&ours));
    }
}
