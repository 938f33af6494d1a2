//! Two tables of machine types, kept apart on purpose: what blueprints and rules believe
//! (`schemas/topology`), and what the mock cloud offers (`providers/mock-google`), so that the oracle
//! does not share our mistakes. Where both speak they must agree, and every disagreement is printed.

use formwork_tidy::root;
use serde_json::Value;

fn read(path: &str) -> Value {
    let text = std::fs::read_to_string(root().join(path)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Known and meant: TPU types are called by GKE's label in the facts, by the series in the mock.
fn meant(kind: &str, what: &str) -> bool {
    kind == "tpu" && what == "accelerator type"
}

/// Facts of a machine type by name, its twins without local SSDs included.
fn facts_of(machines: &Value, name: &str) -> Option<Value> {
    if let Some(m) = machines.get(name) {
        return Some(m.clone());
    }
    let all = machines.as_object()?;
    let of = all.values().find(|m| {
        let mut twins = m["without_local_ssd"].as_array().into_iter().flatten();
        twins.any(|t| t.as_str() == Some(name))
    })?;
    let mut twin = of.clone();
    twin["local_ssd"]["disks"] = 0.into();
    Some(twin)
}

/// How many interfaces of a kind the facts give.
fn interfaces(m: &Value, kind: &str) -> Option<u64> {
    let groups = m["interfaces"].as_array()?;
    if groups.iter().any(|g| g["nic_type"].is_null()) {
        return None;
    }
    let of_kind = groups
        .iter()
        .filter(|g| g["nic_type"].as_str() == Some(kind));
    Some(of_kind.filter_map(|g| g["count"].as_u64()).sum())
}

#[test]
fn the_mock_and_the_facts_agree() {
    let facts = read("schemas/topology/data/machines.json");
    let machines = &facts["machines"];
    let mock = read("providers/mock-google/data/catalogue.json");
    let mut compared = 0;
    let mut wrong: Vec<String> = Vec::new();
    for series in mock["machine_types"].as_array().into_iter().flatten() {
        for size in series["sizes"].as_array().into_iter().flatten() {
            let Some(m) = size[0].as_str().and_then(|n| facts_of(machines, n)) else {
                continue; // an ordinary machine type, of which the facts know nothing
            };
            compared += 1;
            let kind = m["kind"].as_str().unwrap_or_default();
            let mut same = |what: &str, ours: Option<Value>, theirs: Option<Value>| {
                if let (Some(ours), Some(theirs)) = (ours, theirs)
                    && !ours.is_null()
                    && ours != theirs
                    && !meant(kind, what)
                {
                    wrong.push(format!("{} {what}: facts {ours}, mock {theirs}", size[0]));
                }
            };
            let given = |i: usize| size.get(i).filter(|v| !v.is_null()).cloned();
            same("vCPUs", m.get("vcpus").cloned(), given(1));
            let mib = m["memory_gib"].as_u64().map(|g| Value::from(g * 1024));
            same("memory", mib, given(2));
            same(
                "accelerator type",
                m["accelerator"].get("type").cloned(),
                given(3),
            );
            // The API cannot say that a machine has an eighth of a GPU; the mock gives none then.
            let count = m["accelerator"]["count"].as_u64().map(Value::from);
            same("accelerators", count, given(4));
            same("local SSDs", m["local_ssd"].get("disks").cloned(), given(5));
            let arm = series["arch"].as_str() == Some("ARM64");
            let arch = if arm { "arm64" } else { "x86_64" };
            same(
                "architecture",
                m.get("architecture").cloned(),
                Some(arch.into()),
            );
            for (nic, count) in series["nics"].as_object().into_iter().flatten() {
                same(
                    nic,
                    interfaces(&m, nic).map(Value::from),
                    Some(count.clone()),
                );
            }
            if let Some(modes) = series["obtained"].as_array() {
                for (mode, fact) in [
                    ("RESERVATION_BOUND", "reservation_bound"),
                    ("SPOT", "spot"),
                    ("FLEX_START", "flex_start"),
                    ("STANDARD", "standard"),
                ] {
                    let offered = modes.iter().any(|m| m.as_str() == Some(mode));
                    same(mode, m["capacity"].get(fact).cloned(), Some(offered.into()));
                }
            }
            let of_series = |p: &&Value| {
                let mut all = p["series"].as_array().into_iter().flatten();
                all.any(|s| *s == series["series"])
            };
            let profiles = mock["network_profiles"].as_array();
            let profile = profiles.into_iter().flatten().find(of_series);
            let network = &m["network"];
            let none = || "none".to_owned();
            let ours = network["profile"].as_str().map(|p| p.replace("ZONE-", ""));
            let theirs = profile
                .and_then(|p| p["suffix"].as_str())
                .map(str::to_owned);
            same(
                "profile",
                Some(ours.unwrap_or_else(none).into()),
                Some(theirs.unwrap_or_else(none).into()),
            );
            let mtu = profile.and_then(|p| p.get("mtu")).cloned();
            same("RDMA MTU", network.get("rdma_mtu").cloned(), mtu);
        }
    }
    assert!(
        compared >= 50,
        "only {compared} machine types were compared"
    );
    assert!(wrong.is_empty(), "they disagree:\n  {}", wrong.join("\n  "));
}
