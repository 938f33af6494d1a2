//! Blueprints derive what a machine needs; they do not write it down.
//!
//! No machine type, interface type, MTU, network profile or number of interfaces may stand in a
//! blueprint's own `.tf` files: those are facts, and facts come from the formwork provider. The
//! examples name a machine type, since somebody must.

use formwork_tidy::root;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The `.tf` files and templates of a folder and those below it, without examples and tests.
fn own_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|e| e.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !["examples", "tests"].contains(&&*name) && !name.starts_with('.') {
                own_files(&path, found);
            }
        } else if name.ends_with(".tf") || name.ends_with(".tftpl") {
            found.push(path);
        }
    }
}

/// Words of a line: runs of letters, digits, dashes and underscores.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
        .filter(|w| !w.is_empty())
}

/// Machine types, interface types and network profiles of the facts, and the MTUs they give.
fn facts() -> (BTreeSet<String>, BTreeSet<String>) {
    let text = std::fs::read_to_string(root().join("schemas/topology/data/machines.json"))
        .unwrap_or_default();
    let facts: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let mut names = BTreeSet::new();
    let mut mtus = BTreeSet::new();
    let machines = facts["machines"].as_object().cloned().unwrap_or_default();
    for (name, m) in &machines {
        names.insert(name.clone());
        for twin in m["without_local_ssd"].as_array().into_iter().flatten() {
            names.extend(twin.as_str().map(str::to_owned));
        }
        for group in m["interfaces"].as_array().into_iter().flatten() {
            names.extend(group["nic_type"].as_str().map(str::to_owned));
        }
        if let Some(profile) = m["network"]["profile"].as_str() {
            names.insert(profile.replace("ZONE-", ""));
        }
        for mtu in ["host_mtu", "gpu_mtu", "rdma_mtu"] {
            mtus.extend(m["network"][mtu].as_u64().map(|n| n.to_string()));
        }
    }
    (names, mtus)
}

/// Ordinary machine types, which the facts do not list: SERIES-KIND-SIZE.
fn looks_like_a_machine_type(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let [series, kind, size, ..] = parts.as_slice() else {
        return false;
    };
    let series = series.starts_with(|c: char| c.is_ascii_lowercase())
        && series.len() <= 4
        && series.bytes().any(|b| b.is_ascii_digit());
    let kinds = [
        "standard", "highmem", "highcpu", "highgpu", "megagpu", "ultragpu", "custom",
    ];
    series && kinds.contains(kind) && size.starts_with(|c: char| c.is_ascii_digit())
}

fn faults(line: &str, names: &BTreeSet<String>, mtus: &BTreeSet<String>) -> Vec<String> {
    let mut found: Vec<String> = words(line)
        .filter(|w| {
            names.contains(*w)
                || mtus.contains(*w)
                || looks_like_a_machine_type(w)
                || names
                    .iter()
                    .any(|n| n.starts_with("vpc-") && w.ends_with(n.as_str()))
        })
        .map(str::to_owned)
        .collect();
    // count = 8 and the like; whether there is one of something is no fact about a machine.
    let plain: String = line
        .split('#')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    for key in ["count=", "mtu=", "for_each=range("] {
        if let Some(rest) = plain.strip_prefix(key) {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let rest = &rest[digits.len()..];
            if digits.parse::<u32>().is_ok_and(|n| n > 1) && (rest.is_empty() || rest == ")") {
                found.push(plain.clone());
            }
        }
    }
    found
}

#[test]
fn blueprints_derive_their_facts() {
    let (names, mtus) = facts();
    assert!(
        names.len() > 60 && mtus.contains("8896"),
        "the facts were not read"
    );
    let mut files = Vec::new();
    own_files(&root().join("blueprints"), &mut files);
    assert!(!files.is_empty(), "no blueprints");
    let mut found = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for (i, line) in text.lines().enumerate() {
            for fault in faults(line, &names, &mtus) {
                found.push(format!("{}:{}: {fault}", path.display(), i + 1));
            }
        }
    }
    assert!(
        found.is_empty(),
        "facts about machines stand in blueprints; take them from provider::formwork:\n  {}",
        found.join("\n  ")
    );
}

#[test]
fn the_rule_sees_what_it_forbids() {
    let (names, mtus) = facts();
    for line in [
        "  machine_type = \"a4-highgpu-8g\"",
        "  machine_type = \"n2-standard-8\" # controller",
        "  nic_type = \"MRDMA\"",
        "  mtu = 8896",
        "  mtu = 1460",
        "  count = 8",
        "  for_each = range(8)",
        "  network_profile = \"${var.zone}-vpc-roce\"",
        "  # such as us-central1-b-vpc-roce",
    ] {
        assert!(!faults(line, &names, &mtus).is_empty(), "{line}");
    }
    for line in [
        "  count = local.fabric.rails",
        "  count = 1",
        "  description = \"a zone, such as us-central1-a\"",
        "  size = 50",
    ] {
        assert_eq!(faults(line, &names, &mtus), Vec::<String>::new(), "{line}");
    }
}
