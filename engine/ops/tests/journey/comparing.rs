//! Comparing what we make with what is expected, as JSON: which parts differ, by path.

use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Adds a line for each part that differs.
pub fn difference(path: &str, expected: &Json, actual: &Json, out: &mut Vec<String>) {
    match (expected, actual) {
        (Json::Object(e), Json::Object(a)) => {
            let keys: BTreeSet<&String> = e.keys().chain(a.keys()).collect();
            for key in keys {
                let path = format!("{path}.{key}");
                match (e.get(key), a.get(key)) {
                    (Some(e), Some(a)) => difference(&path, e, a, out),
                    (Some(e), None) => out.push(format!("{path}: missing {e}")),
                    (None, Some(a)) => out.push(format!("{path}: not expected {a}")),
                    (None, None) => {}
                }
            }
        }
        (Json::Array(e), Json::Array(a)) if e.len() == a.len() => {
            for (i, (e, a)) in e.iter().zip(a).enumerate() {
                difference(&format!("{path}[{i}]"), e, a, out);
            }
        }
        (Json::String(e), Json::String(a)) => {
            // a sentence that is not ours: only what stands before it counts
            let same = match e.strip_suffix(": ...") {
                Some(start) => a.starts_with(start),
                None => e == a,
            };
            if !same {
                out.push(format!("{path}: expected {expected}, got {actual}"));
            }
        }
        (Json::Number(e), Json::Number(a)) => {
            // read by another way, the last digit of a float may differ
            let near = |e: f64, a: f64| e == a || (e - a).abs() <= e.abs() * 1e-15;
            if !e.as_f64().zip(a.as_f64()).is_some_and(|(e, a)| near(e, a)) {
                out.push(format!("{path}: expected {expected}, got {actual}"));
            }
        }
        _ if expected == actual => {}
        _ => out.push(format!("{path}: expected {expected}, got {actual}")),
    }
}

/// Puts arrays whose order says nothing into one order.
pub fn ordered(value: Json) -> Json {
    match value {
        Json::Object(map) => map
            .into_iter()
            .map(|(key, v)| {
                let mut v = ordered(v);
                let free = matches!(
                    key.as_str(),
                    "child_modules"
                        | "checks"
                        | "check_results"
                        | "objects"
                        | "resource_changes"
                        | "instances"
                        | "relevant_attributes"
                        | "replace_paths"
                        | "sensitive_attributes"
                        | "references"
                );
                if let (true, Json::Array(items)) = (free, &mut v) {
                    items.sort_by_key(ToString::to_string);
                    items.dedup();
                }
                (key, v)
            })
            .collect(),
        Json::Array(items) => Json::Array(items.into_iter().map(ordered).collect()),
        other => other,
    }
}

/// A v4 state with what differs from run to run taken out, and with dependencies as what they mean:
/// everything that an object was made from, near and far.
pub fn meaning_of_state(mut state: Json) -> Json {
    if let Json::Object(map) = &mut state {
        for key in ["lineage", "serial", "terraform_version", "version"] {
            map.remove(key);
        }
        if let Some(Json::Array(resources)) = map.get_mut("resources") {
            // they keep the name of a block that an apply has begun with and not got to
            resources.retain(|r| r["instances"].as_array().is_some_and(|i| !i.is_empty()));
            close_dependencies(resources);
        }
    }
    ordered(state)
}

fn close_dependencies(resources: &mut [Json]) {
    let address = |r: &Json| {
        let text = |key: &str| r[key].as_str().unwrap_or_default().to_owned();
        let module = match text("module") {
            m if m.is_empty() => m,
            m => without_keys(&m) + ".",
        };
        let mode = if text("mode") == "data" { "data." } else { "" };
        format!("{module}{mode}{}.{}", text("type"), text("name"))
    };
    let mut nearest: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for r in resources.iter() {
        let all = nearest.entry(address(r)).or_default();
        for i in r["instances"].as_array().into_iter().flatten() {
            all.extend(names(&i["dependencies"]));
        }
    }
    for r in resources.iter_mut() {
        for i in r["instances"].as_array_mut().into_iter().flatten() {
            let mut open: Vec<String> = names(&i["dependencies"]).collect();
            let mut closure = BTreeSet::new();
            while let Some(next) = open.pop() {
                if let Some(more) = nearest.get(&next).filter(|_| closure.insert(next.clone())) {
                    open.extend(more.iter().cloned());
                }
                closure.insert(next);
            }
            // data sources are read anew, so what they hang on is no matter of the objects in state
            closure.retain(|d| !d.split('.').any(|part| part == "data"));
            if !closure.is_empty() {
                i["dependencies"] = closure.into_iter().map(Json::String).collect();
            }
        }
    }
}

fn names(list: &Json) -> impl Iterator<Item = String> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(|d| d.as_str().map(str::to_owned))
        .collect::<Vec<_>>()
        .into_iter()
}

/// A module's address without instance keys.
pub fn without_keys(module: &str) -> String {
    let mut out = String::new();
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for c in module.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth -= 1,
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

/// Replaces text in every string, keys included.
pub fn renamed(value: &mut Json, names: &BTreeMap<String, String>) {
    match value {
        Json::String(text) => {
            for (from, to) in names {
                if text.contains(from.as_str()) {
                    *text = text.replace(from.as_str(), to);
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|v| renamed(v, names)),
        Json::Object(map) => map.values_mut().for_each(|v| renamed(v, names)),
        _ => {}
    }
}
