//! Every machine type that there are facts about, given to the blueprint: built as it needs to be, or
//! refused while planning, by the name of its fabric.
//!
//! The expectations are written out here, so that a slip in the facts does not pass as right.

use crate::world::{World, call, errors, json, planned};
use formwork_topology::Topology;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What is made for a machine that the blueprint builds.
struct Builds {
    machine: &'static str,
    rails: usize,
    ssds: usize,
}

const BUILDS: [Builds; 6] = [
    builds("a3-ultragpu-8g", 8, 32),
    builds("a3-ultragpu-8g-nolssd", 8, 0),
    builds("a4-highgpu-8g", 8, 32),
    builds("a4-highgpu-8g-nolssd", 8, 0),
    builds("a4x-highgpu-4g", 4, 4),
    builds("a4x-highgpu-4g-nolssd", 4, 0),
];

const fn builds(machine: &'static str, rails: usize, ssds: usize) -> Builds {
    Builds {
        machine,
        rails,
        ssds,
    }
}

/// What the refusal says of all others.
const REFUSED: [(&str, &[&str]); 7] = [
    ("is RoCEv2 on bare metal", &["a4x-maxgpu-4g-metal"]),
    (
        "is GPUDirect-TCPXO over gVNIC",
        &["a3-megagpu-8g", "a3-megagpu-8g-nolssd"],
    ),
    (
        "is GPUDirect-TCPX over gVNIC",
        &[
            "a3-highgpu-8g",
            "a3-highgpu-8g-nolssd",
            "a3-edgegpu-8g",
            "a3-edgegpu-8g-nolssd",
        ],
    ),
    (
        "is Cloud RDMA (Falcon)",
        &[
            "h4d-standard-192",
            "h4d-highmem-192",
            "h4d-highmem-192-lssd",
        ],
    ),
    (
        "is TPU inter-chip interconnect",
        &[
            "tpu7x-standard-4t",
            "ct6e-standard-1t",
            "ct6e-standard-4t",
            "ct6e-standard-8t",
            "ct5p-hightpu-4t",
            "ct5lp-hightpu-4t",
            "ct4p-hightpu-4t",
            "ct4l-hightpu-4t",
        ],
    ),
    (
        "is an ordinary VPC",
        &[
            "a3-highgpu-1g",
            "a3-highgpu-1g-nolssd",
            "a3-highgpu-2g",
            "a3-highgpu-2g-nolssd",
            "a3-highgpu-4g",
            "a3-highgpu-4g-nolssd",
            "a2-ultragpu-1g",
            "a2-ultragpu-1g-nolssd",
            "a2-ultragpu-2g",
            "a2-ultragpu-2g-nolssd",
            "a2-ultragpu-4g",
            "a2-ultragpu-4g-nolssd",
            "a2-ultragpu-8g",
            "a2-ultragpu-8g-nolssd",
            "a2-highgpu-1g",
            "a2-highgpu-2g",
            "a2-highgpu-4g",
            "a2-highgpu-8g",
            "a2-megagpu-16g",
            "g4-standard-6",
            "g4-standard-12",
            "g4-standard-24",
            "g4-standard-48",
            "g4-standard-96",
            "g4-standard-192",
            "g4-standard-384",
            "g2-standard-4",
            "g2-standard-8",
            "g2-standard-12",
            "g2-standard-16",
            "g2-standard-24",
            "g2-standard-32",
            "g2-standard-48",
            "g2-standard-96",
            "n1-*",
            "ct5lp-hightpu-1t",
            "ct5l-hightpu-1t",
            "ct5l-hightpu-4t",
            "ct5lp-hightpu-8t",
            "ct5l-hightpu-8t",
            "ct3-hightpu-4t",
            "ct3p-hightpu-4t",
        ],
    ),
    (
        "is not known",
        &[
            "tpu7x-standard-1t",
            "tpu7x-ultranet-4t",
            "tpu7-standard-1t",
            "tpu7-standard-4t",
        ],
    ),
];

/// The first zone in which the mock cloud has each machine type.
fn zones() -> BTreeMap<String, String> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../providers/mock-google/data/catalogue.json"
    );
    let text = std::fs::read_to_string(path).expect("the catalogue");
    let catalogue: Value = serde_json::from_str(&text).expect("JSON");
    let mut zones = BTreeMap::new();
    for series in catalogue["machine_types"].as_array().into_iter().flatten() {
        let Some(zone) = series["zones"][0].as_str() else {
            continue;
        };
        for size in series["sizes"].as_array().into_iter().flatten() {
            let name = size[0].as_str().expect("a name");
            zones.insert(name.to_owned(), zone.to_owned());
        }
    }
    zones
}

/// The blueprint with a machine type, and a reservation that nobody can look at from here.
fn root(machine: &str, zone: &str) -> String {
    call(
        machine,
        zone,
        "reservation = \"projects/somebody/reservations/shared\"",
    )
}

/// What is wrong with the plan of a machine that is to be built.
fn faults(plan: &Value, want: &Builds, zone: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut same = |what: &str, found: String, want: String| {
        if found != want {
            wrong.push(format!("{what}: {found}, not {want}"));
        }
    };
    let networks = planned(plan, "google_compute_network");
    let (rdma, host): (Vec<&Value>, Vec<&Value>) = networks
        .iter()
        .partition(|n| n["network_profile"].is_string());
    same(
        "VPCs",
        format!("{} {}", host.len(), rdma.len()),
        "2 1".to_owned(),
    );
    for network in &networks {
        same("MTU", network["mtu"].to_string(), "8896".to_owned());
    }
    let profile = rdma.first().and_then(|n| n["network_profile"].as_str());
    let profile = profile
        .and_then(|p| p.rsplit('/').next())
        .unwrap_or_default();
    same("profile", profile.to_owned(), format!("{zone}-vpc-roce"));

    let subnetworks = planned(plan, "google_compute_subnetwork");
    let rails = subnetworks.iter().filter(|s| {
        let name = s["name"].as_str().unwrap_or_default();
        name.starts_with("t-rail-")
    });
    let counts = format!("{} {}", subnetworks.len(), rails.count());
    same(
        "subnetworks",
        counts,
        format!("{} {}", 2 + want.rails, want.rails),
    );

    let nodes: Vec<&Value> = planned(plan, "google_compute_instance")
        .into_iter()
        .filter(|i| i["machine_type"] == want.machine)
        .collect();
    same("nodes", nodes.len().to_string(), "2".to_owned());
    for node in nodes {
        let mut kinds = String::new();
        for interface in node["network_interface"].as_array().into_iter().flatten() {
            let _ = write!(kinds, "{} ", interface["nic_type"].as_str().unwrap_or("?"));
        }
        let all = format!("GVNIC GVNIC {}", "MRDMA ".repeat(want.rails));
        same("interfaces", kinds, all);
        let disks = node["scratch_disk"].as_array().map_or(0, Vec::len);
        same("local SSDs", disks.to_string(), want.ssds.to_string());
    }
    wrong
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_machine_type_is_built_or_refused() {
    let refused: BTreeMap<&str, &str> = REFUSED
        .iter()
        .flat_map(|(why, all)| all.iter().map(|m| (*m, *why)))
        .collect();
    let built: BTreeMap<&str, &Builds> = BUILDS.iter().map(|b| (b.machine, b)).collect();

    // Nobody is left out.
    let topology = Topology::builtin();
    let mut known: Vec<&str> = topology.names().collect();
    known.sort_unstable();
    let mut listed: Vec<&str> = refused.keys().chain(built.keys()).copied().collect();
    listed.sort_unstable();
    assert_eq!(known, listed, "the table and the facts name other machines");

    let zones = zones();
    let world = World::new().await;
    let mut wrong = Vec::new();
    for machine in &known {
        let zone = zones.get(*machine).map_or("us-central1-b", String::as_str);
        let outcome = world.plan_text(&root(machine, zone)).await;
        let errors = errors(&outcome.diagnostics);
        if let Some(want) = built.get(machine) {
            match outcome.plan.filter(|p| !p.errored && errors.is_empty()) {
                None => wrong.push(format!("{machine} is refused: {errors:#?}")),
                Some(plan) => {
                    let plan = json(&plan, &outcome.providers);
                    for fault in faults(&plan, want, zone) {
                        wrong.push(format!("{machine}: {fault}"));
                    }
                }
            }
        } else {
            let why = format!("The fabric of {machine} {}", refused[machine]);
            if errors.len() != 1 || !errors[0].contains(&why) {
                wrong.push(format!("{machine} should be told {why:?}, not {errors:#?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(world.changes(), 0, "planning changed something");
}

/// A name that nobody knows is one error, with the nearest names, and nothing that follows from it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_misspelt_machine_type_is_one_error() {
    let world = World::new().await;
    let outcome = world
        .plan_text(&root("a4-highgpu-8gg", "us-central1-b"))
        .await;
    let errors = errors(&outcome.diagnostics);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(
        errors[0].contains("Did you mean \"a4-highgpu-8g\""),
        "{errors:#?}"
    );
}
