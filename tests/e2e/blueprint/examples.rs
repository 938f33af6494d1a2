//! Each example, applied: what then stands in the mock cloud.

use crate::place::{Place, short};
use serde_json::Value;
use std::collections::BTreeSet;

/// What an example is to make.
struct Want {
    example: &'static str,
    zone: &'static str,
    rails: usize,
    mtu: u64,
    reservation: &'static str,
    /// Whether the machines are laid out by a placement policy.
    placed: bool,
}

const EXAMPLES: [Want; 3] = [
    Want {
        example: "a3u",
        zone: "us-central1-b",
        rails: 8,
        mtu: 8896,
        reservation: "a3u-reservation",
        placed: false,
    },
    Want {
        example: "a4",
        zone: "us-central1-b",
        rails: 8,
        mtu: 8896,
        reservation: "a4-reservation",
        placed: false,
    },
    Want {
        example: "a4x",
        zone: "us-central1-a",
        rails: 4,
        mtu: 8896,
        reservation: "a4x-reservation",
        placed: true,
    },
];

/// The objects of a collection, without what the scenario made.
fn of<'o>(all: &'o [Value], collection: &str) -> Vec<&'o Value> {
    all.iter()
        .filter(|o| o["collection"] == collection && o["seeded"] == false)
        .map(|o| &o["object"])
        .collect()
}

fn text<'v>(object: &'v Value, key: &str) -> &'v str {
    object[key].as_str().unwrap_or_default()
}

/// First and last address of a range.
fn bounds(range: &str) -> (u32, u32) {
    let (address, length) = range.split_once('/').expect("a range");
    let address: std::net::Ipv4Addr = address.parse().expect("an address");
    let length: u32 = length.parse().expect("a length");
    let first = u32::from(address);
    (first, first + (1u32 << (32 - length)) - 1)
}

fn check(want: &Want) {
    let place = Place::new(want.example);
    let name = want.example;
    let ran = place.apply();
    let first = ran.stdout.lines().next().unwrap_or_default();
    assert!(first.starts_with("Mock cloud"), "{first}");
    let objects = place.objects();

    // Networks: two ordinary ones and one with the zone's profile.
    let networks = of(&objects, "compute.networks");
    let (rdma, host): (Vec<_>, Vec<_>) = networks
        .iter()
        .partition(|n| n["networkProfile"].is_string());
    assert_eq!((host.len(), rdma.len()), (2, 1), "{networks:#?}");
    for network in &networks {
        assert_eq!(network["mtu"], want.mtu, "{network:#}");
    }
    let profile = format!("/networkProfiles/{}-vpc-roce", want.zone);
    assert!(
        text(rdma[0], "networkProfile").ends_with(&profile),
        "{:#}",
        rdma[0]
    );

    // Subnetworks: one per host network and one per rail, no two ranges overlap.
    let subnetworks = of(&objects, "compute.subnetworks");
    assert_eq!(subnetworks.len(), 2 + want.rails);
    let mut ranges: Vec<(u32, u32)> = subnetworks
        .iter()
        .map(|s| bounds(text(s, "ipCidrRange")))
        .collect();
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        assert!(pair[0].1 < pair[1].0, "{subnetworks:#?}");
    }
    let links = |network: &Value| -> BTreeSet<String> {
        subnetworks
            .iter()
            .filter(|s| s["network"] == network["selfLink"])
            .map(|s| text(s, "name").to_owned())
            .collect()
    };
    let rails: BTreeSet<String> = (0..want.rails)
        .map(|k| format!("{name}-rail-{k}"))
        .collect();
    assert_eq!(links(rdma[0]), rails);
    for network in &host {
        assert_eq!(links(network).len(), 1, "{network:#}");
    }

    // Nodes: every interface in its place.
    let nodes: Vec<&Value> = of(&objects, "compute.instances")
        .into_iter()
        .filter(|i| text(i, "name").contains("-gpu-"))
        .collect();
    assert_eq!(nodes.len(), 2);
    let mut addresses = BTreeSet::new();
    for node in &nodes {
        let interfaces = node["networkInterfaces"].as_array().expect("interfaces");
        assert_eq!(interfaces.len(), 2 + want.rails, "{node:#}");
        for (i, interface) in interfaces.iter().enumerate() {
            let (kind, subnetwork, network) = if i < 2 {
                (
                    "GVNIC",
                    format!("{name}-host-{i}"),
                    format!("{name}-host-{i}"),
                )
            } else {
                (
                    "MRDMA",
                    format!("{name}-rail-{}", i - 2),
                    format!("{name}-rdma"),
                )
            };
            assert_eq!(interface["nicType"], kind, "interface {i}: {interface:#}");
            let ends =
                |key: &str, with: &str| short(text(interface, key)).ends_with(&format!("/{with}"));
            assert!(
                ends("subnetwork", &subnetwork),
                "interface {i}: {interface:#}"
            );
            assert!(ends("network", &network), "interface {i}: {interface:#}");
            assert!(interface["accessConfigs"].is_null(), "{interface:#}");
            assert!(
                addresses.insert(text(interface, "networkIP").to_owned()),
                "an address given twice: {interface:#}"
            );
        }
        assert_eq!(node["scheduling"]["provisioningModel"], "RESERVATION_BOUND");
        assert_eq!(node["scheduling"]["onHostMaintenance"], "TERMINATE");
        let affinity = &node["reservationAffinity"];
        assert_eq!(affinity["consumeReservationType"], "SPECIFIC_RESERVATION");
        assert_eq!(affinity["key"], "compute.googleapis.com/reservation-name");
        assert_eq!(affinity["values"], serde_json::json!([want.reservation]));
        let policies = node["resourcePolicies"].as_array().map_or(0, Vec::len);
        assert_eq!(policies, usize::from(want.placed), "{node:#}");
        let machine = text(node, "machineType");
        assert!(
            machine.contains(&format!("/zones/{}/", want.zone)),
            "{machine}"
        );
    }

    // Storage, and no word of refusal anywhere.
    let buckets = of(&objects, "storage.buckets");
    assert_eq!(buckets.len(), 1);
    assert_eq!(buckets[0]["hierarchicalNamespace"]["enabled"], true);
    let shares = objects.iter().filter(|o| {
        o["service"] == "file"
            && o["collection"]
                .as_str()
                .is_some_and(|c| c.ends_with("instances"))
    });
    assert_eq!(shares.count(), 1);
    for request in place.requests(0) {
        assert!(
            request["refusal"].is_null() && request["status"].as_u64().is_some_and(|s| s < 400),
            "refused: {request:#}"
        );
    }

    // Nothing more to do; and all of it goes.
    place
        .run(&["plan", "-mock", "-detailed-exitcode"])
        .exits(0)
        .says(&["No changes"]);
    place
        .run(&["destroy", "-mock", "-auto-approve"])
        .exits(0)
        .says(&["\nDestroy complete! Resources: "]);
    let left = place.objects();
    assert!(left.iter().all(|o| o["seeded"] == true), "{left:#?}");
    let untouched = Place::new(want.example).objects();
    assert_eq!(as_seeded(&left), as_seeded(&untouched));
}

/// Objects without what tells that they were touched.
fn as_seeded(objects: &[Value]) -> Vec<Value> {
    let mut all = objects.to_vec();
    for object in &mut all {
        if let Some(fields) = object["object"].as_object_mut() {
            for key in ["etag", "creationTimestamp", "id", "fingerprint"] {
                fields.remove(key);
            }
        }
    }
    all
}

#[test]
fn a3_ultra() {
    check(&EXAMPLES[0]);
}

#[test]
fn a4() {
    check(&EXAMPLES[1]);
}

#[test]
fn a4x() {
    check(&EXAMPLES[2]);
}
