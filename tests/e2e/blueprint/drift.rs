//! The cloud changes behind our back: the plan sees that, and nothing else; apply mends it.
//!
//! One cluster is applied; each case then changes one thing from outside, through the API, as any user
//! of the cloud could, and has it mended again.

use crate::place::{Place, Serving};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PROJECT: &str = "/compute/compute/v1/projects/formwork-mock";
const BUCKET: &str = "/storage/storage/v1/b/formwork-mock-a4";

/// A network that no machine is in, beside the example.
const SPARE: &str = r#"
resource "google_compute_network" "spare" {
  name                    = "spare"
  auto_create_subnetworks = false
  mtu                     = 1460
}
"#;

struct Case {
    what: &'static str,
    change: fn(&Serving),
    /// The one address that the plan names; none if nothing is to be done.
    address: Option<&'static str>,
    action: &'static [&'static str],
    /// The attributes that change; empty for an object that is made.
    attributes: &'static [&'static str],
    /// The one call that mends it.
    call: &'static str,
}

fn cases() -> Vec<Case> {
    vec![
        Case {
            what: "a firewall's source range",
            change: |cloud| {
                let body = json!({"sourceRanges": ["0.0.0.0/0"]});
                let path = format!("{PROJECT}/global/firewalls/a4-host-1-internal");
                cloud.change("PATCH", &path, Some(&body));
            },
            address: Some("module.cluster.google_compute_firewall.internal[1]"),
            action: &["update"],
            attributes: &["source_ranges"],
            call: "compute.firewalls.patch",
        },
        Case {
            what: "a label",
            change: |cloud| {
                let path = format!("{PROJECT}/zones/us-central1-b/instances/a4-gpu-0");
                let now = cloud.get(&path);
                let mut labels = now["labels"].clone();
                labels["formwork-cluster"] = json!("stolen");
                let body = json!({"labels": labels, "labelFingerprint": now["labelFingerprint"]});
                cloud.change("POST", &format!("{path}/setLabels"), Some(&body));
            },
            address: Some("module.cluster.google_compute_instance.node[0]"),
            action: &["update"],
            attributes: &["effective_labels", "labels", "terraform_labels"],
            call: "compute.instances.setLabels",
        },
        Case {
            what: "the MTU of a network without VMs",
            change: |cloud| {
                let body = json!({"mtu": 1500});
                cloud.change(
                    "PATCH",
                    &format!("{PROJECT}/global/networks/spare"),
                    Some(&body),
                );
            },
            address: Some("google_compute_network.spare"),
            action: &["update"],
            attributes: &["mtu"],
            call: "compute.networks.patch",
        },
        Case {
            what: "a VM deleted",
            change: |cloud| {
                let path = format!("{PROJECT}/zones/us-central1-b/instances/a4-gpu-1");
                cloud.change("DELETE", &path, None);
            },
            address: Some("module.cluster.google_compute_instance.node[1]"),
            action: &["create"],
            attributes: &[],
            call: "compute.instances.insert",
        },
        Case {
            what: "a bucket setting",
            change: |cloud| {
                let body = json!({"iamConfiguration": {"publicAccessPrevention": "inherited"}});
                cloud.change("PATCH", BUCKET, Some(&body));
            },
            address: Some("module.cluster.google_storage_bucket.cluster"),
            action: &["update"],
            attributes: &["public_access_prevention"],
            call: "storage.buckets.patch",
        },
        Case {
            what: "a field that the server owns",
            change: |cloud| {
                let body = json!({"softDeletePolicy": {"retentionDurationSeconds": "864000"}});
                cloud.change("PATCH", BUCKET, Some(&body));
            },
            address: None,
            action: &[],
            attributes: &[],
            call: "",
        },
        Case {
            what: "somebody else's label",
            change: |cloud| {
                let path = format!("{PROJECT}/zones/us-central1-b/instances/a4-gpu-0");
                let now = cloud.get(&path);
                let mut labels = now["labels"].clone();
                labels["watched-by"] = json!("somebody");
                let body = json!({"labels": labels, "labelFingerprint": now["labelFingerprint"]});
                cloud.change("POST", &format!("{path}/setLabels"), Some(&body));
            },
            address: None,
            action: &[],
            attributes: &[],
            call: "",
        },
    ]
}

/// The top-level attributes that differ.
fn differing(change: &Value) -> BTreeSet<String> {
    let (before, after) = (&change["before"], &change["after"]);
    let unknown = change["after_unknown"].as_object();
    let mut found: BTreeSet<String> = unknown
        .into_iter()
        .flatten()
        .filter(|(_, v)| **v == Value::Bool(true))
        .map(|(k, _)| k.clone())
        .collect();
    for key in before.as_object().into_iter().flatten().map(|(k, _)| k) {
        if before[key] != after[key] {
            found.insert(key.clone());
        }
    }
    found
}

fn check(place: &Place, cloud: &Serving, case: &Case) {
    let what = case.what;
    (case.change)(cloud);
    let plan = place.run(&["plan", "-mock", "-detailed-exitcode", "-out=drift.plan"]);
    let Some(address) = case.address else {
        plan.exits(0)
            .says(&["No changes"])
            .never_says(&["changed outside"]);
        return;
    };
    let shown = &plan.exits(2).stdout;
    assert!(shown.contains(address), "{what}: {shown}");
    let plan = place.json(&["show", "-json", "drift.plan"]);
    let changes: Vec<&Value> = plan["resource_changes"]
        .as_array()
        .expect("changes")
        .iter()
        .filter(|c| c["change"]["actions"] != json!(["no-op"]))
        .collect();
    assert_eq!(changes.len(), 1, "{what}: {shown}");
    assert_eq!(changes[0]["address"], address, "{what}");
    let drift = plan["resource_drift"].as_array().expect("drift");
    // That a disk is in use by now is known to the server alone, and not what was changed.
    let drift: Vec<&Value> = drift
        .iter()
        .filter(|d| !differing(&d["change"]).iter().eq(["users"]))
        .map(|d| &d["address"])
        .collect();
    assert_eq!(drift, [address], "{what}: {shown}");
    let change = &changes[0]["change"];
    assert_eq!(change["actions"], json!(case.action), "{what}: {shown}");
    if !case.attributes.is_empty() {
        let want: BTreeSet<String> = case.attributes.iter().map(|&a| a.to_owned()).collect();
        assert_eq!(differing(change), want, "{what}: {change:#}");
    }

    let before = place.requests(0).len();
    place.run(&["apply", "-mock", "-auto-approve"]).exits(0);
    let calls: Vec<Value> = place
        .requests(before)
        .into_iter()
        .filter(|r| r["committed"] == true)
        .collect();
    assert_eq!(calls.len(), 1, "{what}: {calls:#?}");
    assert_eq!(calls[0]["id"], case.call, "{what}");
    place.run(&["plan", "-mock", "-detailed-exitcode"]).exits(0);
}

#[test]
fn each_drift_is_seen_alone_and_mended_alone() {
    let place = Place::new("a4");
    std::fs::write(place.root().join("spare.tf"), SPARE).expect("a file");
    let cloud = place.serve();
    place.apply();
    for case in cases() {
        check(&place, &cloud, &case);
    }
    // What others changed in our objects is no reason not to let them go.
    place.run(&["destroy", "-mock", "-auto-approve"]).exits(0);
    let left = place.objects();
    assert!(left.iter().all(|o| o["seeded"] == true), "{left:#?}");
}

/// One node more is one machine more: no other is replaced, and the controller learns of it.
#[test]
fn a_growing_cluster_keeps_its_machines() {
    let place = Place::new("a4");
    let main = place.root().join("main.tf");
    let text = std::fs::read_to_string(&main).expect("the example");
    let spread = "reservation_blocks = [\"a4-reservation-block-0001\", \"a4-reservation-block-0002\"]\n  nodes_per_block = 1\n";
    let with = |nodes: &str, per: &str| {
        let spread = spread.replace("= 1", per);
        let line = format!("node_count   = {nodes}\n  {spread}");
        let new = text.replace("node_count   = 2\n", &line);
        assert_ne!(new, text, "the example has another number of nodes");
        std::fs::write(&main, new).expect("the example");
    };
    with("2", "= 2");
    place.apply();
    with("3", "= 2");
    place
        .run(&["plan", "-mock", "-detailed-exitcode", "-out=grow.plan"])
        .exits(2);
    let plan = place.json(&["show", "-json", "grow.plan"]);
    let changes = plan["resource_changes"].as_array().expect("changes");
    let changes: Vec<(&str, &Value)> = changes
        .iter()
        .filter(|c| c["change"]["actions"] != json!(["no-op"]))
        .map(|c| {
            (
                c["address"].as_str().unwrap_or_default(),
                &c["change"]["actions"][0],
            )
        })
        .collect();
    let (create, update) = (json!("create"), json!("update"));
    let object = |name| format!("module.cluster.google_storage_bucket_object.slurm[\"{name}\"]");
    let files = [
        object("gres.conf"),
        object("slurm.conf"),
        object("topology.conf"),
    ];
    let mut want = vec![
        ("module.cluster.google_compute_instance.controller", &update),
        ("module.cluster.google_compute_instance.node[2]", &create),
    ];
    want.extend(files.iter().map(|f| (f.as_str(), &update)));
    assert_eq!(changes, want);
    place.run(&["apply", "-mock", "grow.plan"]).exits(0);
    place.run(&["plan", "-mock", "-detailed-exitcode"]).exits(0);
}
