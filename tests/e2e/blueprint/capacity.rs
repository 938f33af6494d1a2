//! How nodes are obtained: each mode, and what is refused while planning.

use crate::world::{World, call, errors, json, planned};
use formwork_mock_google::Scenario;
use serde_json::{Value, json as value};

const ZONE: &str = "us-central1-b";

/// With the blocks of the reservation in the mock's world in the place of a word.
fn with_blocks(text: &str) -> String {
    let blocks =
        "reservation_blocks = [\"a4-reservation-block-0001\", \"a4-reservation-block-0002\"]";
    text.replace("BLOCKS", blocks)
}

/// The nodes, and how many placement policies there are.
async fn nodes(world: &World, more: &str) -> (Vec<Value>, usize) {
    let outcome = world.plan_text(&call("a4-highgpu-8g", ZONE, more)).await;
    let errors = errors(&outcome.diagnostics);
    assert!(errors.is_empty(), "{more}: {errors:#?}");
    let plan = json(&outcome.plan.expect("a plan"), &outcome.providers);
    let nodes = planned(&plan, "google_compute_instance");
    let nodes = nodes
        .into_iter()
        .filter(|i| i["machine_type"] == "a4-highgpu-8g");
    let policies = planned(&plan, "google_compute_resource_policy").len();
    (nodes.cloned().collect(), policies)
}

/// The reservation that each node names.
fn named(nodes: &[Value]) -> Vec<&str> {
    nodes
        .iter()
        .map(|n| {
            let affinity = &n["reservation_affinity"][0];
            assert_eq!(affinity["type"], "SPECIFIC_RESERVATION");
            let name = &affinity["specific_reservation"][0]["values"][0];
            name.as_str().expect("a reservation")
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reservations() {
    let world = World::new().await;
    let own = "projects/formwork-mock/reservations/a4-reservation/reservationBlocks";
    let cases: [(&str, &[&str]); 6] = [
        (
            "reservation = \"a4-reservation\"",
            &["a4-reservation", "a4-reservation"],
        ),
        (
            "reservation = \"projects/p/reservations/r/reservationBlocks/b\"",
            &["projects/p/reservations/r/reservationBlocks/b"; 2],
        ),
        (
            "reservation = \"a4-reservation\"\nBLOCKS\nnode_count = 3",
            &["b-1", "b-1", "b-2"],
        ),
        (
            "reservation = \"a4-reservation\"\nBLOCKS\nnode_count = 4",
            &["b-1", "b-1", "b-2", "b-2"],
        ),
        (
            "reservation = \"a4-reservation\"\nBLOCKS\nnodes_per_block = 3\nnode_count = 4",
            &["b-1", "b-1", "b-1", "b-2"],
        ),
        (
            "reservation = \"a4-reservation\"\nBLOCKS\nnodes_per_block = 3\nnode_count = 6",
            &["b-1", "b-1", "b-1", "b-2", "b-2", "b-2"],
        ),
    ];
    for (more, want) in cases {
        let more = &with_blocks(more);
        let (nodes, policies) = nodes(&world, more).await;
        assert_eq!(policies, 0, "{more}: the reservation places the nodes");
        let want: Vec<String> = want
            .iter()
            .map(|w| match w.strip_prefix("b-") {
                Some(n) => format!("{own}/a4-reservation-block-000{n}"),
                None => (*w).to_owned(),
            })
            .collect();
        assert_eq!(named(&nodes), want, "{more}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_reservation() {
    let world = World::new().await;
    for (more, model, termination, seconds, placed) in [
        ("capacity = \"spot\"", "SPOT", "STOP", Value::Null, 1),
        (
            "capacity = \"flex-start\"\nmax_run_hours = 24",
            "FLEX_START",
            "DELETE",
            value!(86_400),
            // flex-start is placed by a workload policy of an instance group, not by a group placement
            0,
        ),
    ] {
        let (nodes, policies) = nodes(&world, more).await;
        assert_eq!((nodes.len(), policies), (2, placed), "{more}");
        for node in nodes {
            let scheduling = &node["scheduling"][0];
            assert_eq!(scheduling["provisioning_model"], model, "{more}");
            assert_eq!(
                scheduling["instance_termination_action"], termination,
                "{more}"
            );
            assert_eq!(
                scheduling["max_run_duration"][0]["seconds"], seconds,
                "{more}"
            );
            let affinity = &node["reservation_affinity"][0]["type"];
            assert_eq!(affinity, "NO_RESERVATION", "{more}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_while_planning() {
    let world = World::new().await;
    let cases = [
        (
            "a4-highgpu-8g",
            ZONE,
            "",
            "With capacity \"reservation\", var.reservation must name one.",
        ),
        (
            "a4x-highgpu-4g",
            "us-central1-a",
            "",
            "a4x-highgpu-4g can only be had from a reservation",
        ),
        (
            "a4x-highgpu-4g",
            "us-central1-a",
            "capacity = \"spot\"",
            "a4x-highgpu-4g is not offered with capacity \"spot\"",
        ),
        (
            "a4-highgpu-8g",
            ZONE,
            "capacity = \"spot\"\nreservation = \"a4-reservation\"",
            "Nodes with capacity \"spot\" cannot take a reservation",
        ),
        (
            "a4-highgpu-8g",
            ZONE,
            "reservation = \"a3u-reservation\"",
            "The reservation a3u-reservation holds another machine type than a4-highgpu-8g.",
        ),
        (
            "a4-highgpu-8g",
            ZONE,
            "reservation = \"nowhere\"",
            "nowhere",
        ),
        (
            "a4-highgpu-8g",
            ZONE,
            "reservation = \"a4-reservation\"\nBLOCKS\nnodes_per_block = 1\nnode_count = 3",
            "2 blocks of 1 nodes do not hold 3 nodes",
        ),
        (
            "a4x-highgpu-4g",
            "us-central1-a",
            "reservation = \"a4x-reservation\"\nnode_count = 19",
            "So node_count can be at most 18, not 19;",
        ),
        (
            "a4-highgpu-8g",
            ZONE,
            "reservation = \"a4-reservation\"\nreservation_blocks = [\"b-1\"]",
            "The reservation a4-reservation has no block b-1. It has: a4-reservation-block-0001",
        ),
        (
            "a4-highgpu-8g",
            ZONE,
            "reservation = \"r/reservationBlocks/b\"\nreservation_blocks = [\"c\"]",
            "var.reservation names a block already",
        ),
        (
            "a4-highgpu-8g",
            "us-central1-c",
            "reservation = \"a4-reservation\"",
            "The zone us-central1-c has no a4-highgpu-8g.",
        ),
        (
            "a4-highgpu-8g",
            ZONE,
            "reservation = \"a4-reservation\"\nrdma_range = \"10.0.0.0\"",
            "This must be an IPv4 range in CIDR form",
        ),
        (
            "a4-highgpu-8g",
            ZONE,
            "reservation = \"a4-reservation\"\nrdma_range = \"10.0.128.0/18\"",
            "10.0.0.0/16 and 10.0.128.0/18, overlap",
        ),
    ];
    for (machine, zone, more, why) in cases {
        let more = &with_blocks(more);
        let outcome = world.plan_text(&call(machine, zone, more)).await;
        let errors = errors(&outcome.diagnostics);
        assert_eq!(errors.len(), 1, "{machine} {more}: {errors:#?}");
        assert!(errors[0].contains(why), "{machine} {more}: {errors:#?}");
    }
    assert_eq!(world.changes(), 0, "planning changed something");
}

/// A domain of the GPU topology may be filled; one placement policy holds all of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_domain() {
    let world = World::new().await;
    let more = "reservation = \"a4x-reservation\"\nnode_count = 18";
    let outcome = world
        .plan_text(&call("a4x-highgpu-4g", "us-central1-a", more))
        .await;
    let errors = errors(&outcome.diagnostics);
    assert!(errors.is_empty(), "{errors:#?}");
    let plan = json(&outcome.plan.expect("a plan"), &outcome.providers);
    let policies = planned(&plan, "google_compute_resource_policy");
    assert_eq!(policies.len(), 1);
    let nodes = planned(&plan, "google_compute_instance");
    let nodes = nodes
        .into_iter()
        .filter(|i| i["machine_type"] == "a4x-highgpu-4g");
    assert_eq!(nodes.count(), 18);
}

/// A zone may have the machine before it has the network profile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zone_without_the_profile() {
    let scenario = value!({
        "format": "formwork-mock-scenario/1",
        "base": "default",
        "machine_types": [{
            "name": "a4-highgpu-8g",
            "zones": ["us-central1-b", "us-central1-c"],
            "body": {"guestCpus": 224, "memoryMb": 4_063_232}
        }]
    });
    let scenario = Scenario::parse(&scenario.to_string()).expect("a scenario");
    let world = World::of(scenario).await;
    let more = "reservation = \"projects/p/reservations/r\"";
    let outcome = world
        .plan_text(&call("a4-highgpu-8g", "us-central1-c", more))
        .await;
    let errors = errors(&outcome.diagnostics);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    let why = "The network profile \"us-central1-c-vpc-roce\"";
    assert!(errors[0].contains(why), "{errors:#?}");
    assert_eq!(world.changes(), 0, "planning changed something");
}
