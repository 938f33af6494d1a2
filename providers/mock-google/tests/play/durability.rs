//! What survives, what goes wrong on purpose, and who may look.

use std::io::Write;

use formwork_mock_google::{Config, Mock, OpenError, Served, served};
use serde_json::{Value, json};

use crate::world::{PROJECT, World, scenario};

const NETWORKS: &str = "projects/formwork-mock/global/networks";

#[tokio::test]
async fn a_world_is_the_same_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let slow = || json!({"operations": {"latency_ms": [5000, 5000]}});
    let world = World::at(home.path(), slow(), 1000).await;
    assert!(
        matches!(served(home.path()), Served::At(at) if at.pid == 42 && at.world == world.mock.world())
    );
    let operation = world.post(NETWORKS, json!({"name": "n"})).await;
    let busy = Mock::open(Config {
        directory: Some(home.path().to_owned()),
        scenario: scenario(json!({})),
        clock: world.clock.clone(),
        randomness: world.clock.clone(),
        process: 43,
    });
    assert!(matches!(busy, Err(OpenError::Busy(_))));
    let (id, log) = (world.mock.world(), world.mock.log());
    world.server.stop().await;
    drop(world.mock);
    assert_eq!(served(home.path()), Served::Nobody);

    // a line that was never finished is forgotten
    let journal = home.path().join("journal.jsonl");
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&journal)
        .unwrap();
    file.write_all(b"{\"at\":1,\"ne").unwrap();

    let world = World::at(home.path(), slow(), 1002).await;
    assert_eq!(world.mock.world(), id);
    assert_eq!(world.mock.log(), log);
    let path = format!(
        "{PROJECT}/global/operations/{}",
        operation["name"].as_str().unwrap()
    );
    assert_eq!(world.get(&path).await["status"], "RUNNING");
    world.pass(4000);
    assert_eq!(world.get(&path).await["status"], "DONE");
    assert_eq!(world.get(&format!("{NETWORKS}/n")).await["name"], "n");
    let network = world
        .mock
        .list()
        .into_iter()
        .find(|o| o.collection == "compute.networks")
        .unwrap();
    assert!(!network.seeded && network.owner.is_none());

    let new = world.post("/_mock/reset", Value::Null).await["world"].clone();
    assert_ne!(new, id.as_str());
    assert!(world.mock.list().iter().all(|object| object.seeded));
    assert!(world.mock.log().is_empty());
    world.server.stop().await;
    drop(world.mock);

    std::fs::write(
        &journal,
        "{\"format\":\"formwork-mock-journal/1\",\"world\":\"w\"}\nnonsense\n",
    )
    .unwrap();
    let damaged = Mock::open(Config {
        directory: Some(home.path().to_owned()),
        scenario: scenario(json!({})),
        clock: world.clock.clone(),
        randomness: world.clock.clone(),
        process: 43,
    });
    assert!(matches!(damaged, Err(OpenError::Corrupt { line: 2, .. })));
}

#[tokio::test]
async fn control_pages_answer() {
    let world = World::new().await;
    world.network("n").await;
    let page = world.get("/_mock/world").await;
    assert_eq!(page["world"], world.mock.world().as_str());
    let list = world.get("/_mock/list").await;
    let network = list
        .as_array()
        .unwrap()
        .iter()
        .find(|o| o["collection"] == "compute.networks")
        .unwrap();
    assert_eq!(
        network["selfLink"],
        format!("https://www.googleapis.com/compute/v1/{NETWORKS}/n")
    );
    assert_eq!(network["object"]["mtu"], 8896);
    let log = world.get("/_mock/log?after=1").await;
    assert_eq!(log[0]["seq"], 2);
    world
        .get(&format!("{NETWORKS}?access_token=secret&filter=name%3Dn"))
        .await;
    let text = world.get("/_mock/log").await.to_string();
    assert!(text.contains("filter=name") && !text.contains("secret"));
}

#[tokio::test]
async fn faults_strike_where_they_are_told() {
    let world = World::with(json!({"faults": [
        {"method": "compute.networks.insert", "name": "a", "status": 503, "nth": 1},
        {"method": "compute.networks.insert", "name": "b", "cut": "before_commit", "nth": 1},
        {"method": "compute.networks.insert", "name": "c", "cut": "after_commit", "nth": 1},
        {"method": "compute.networks.insert", "name": "d", "operation_error": {"code": "INTERNAL_ERROR"}},
        {"method": "compute.networks.get", "status": 403, "reason": "forbidden", "message": "No.", "nth": 2},
        {"method": "compute.routes.*", "status": 429}
    ]}))
    .await;
    assert_eq!(
        world.refused("POST", NETWORKS, json!({"name": "a"})).await,
        "503 backendError: The scenario refuses compute.networks.insert."
    );
    world.network("a").await;
    for (name, there) in [("b", false), ("c", true)] {
        // a client of our own would not repeat it; reqwest does not for POST either
        assert!(
            world
                .try_call("POST", NETWORKS, json!({"name": name}))
                .await
                .is_err(),
            "{name}"
        );
        let there_now = world
            .mock
            .list()
            .iter()
            .any(|o| o.self_link.ends_with(&format!("networks/{name}")));
        assert_eq!(there_now, there, "{name}");
    }
    let operation = world.post(NETWORKS, json!({"name": "d"})).await;
    assert_eq!(world.ends(&operation).await, "INTERNAL_ERROR");
    world.get(&format!("{NETWORKS}/a")).await;
    assert_eq!(
        world
            .refused("GET", &format!("{NETWORKS}/a"), Value::Null)
            .await,
        "403 forbidden: No."
    );
    assert!(
        world
            .refused("GET", &format!("{NETWORKS}/d"), Value::Null)
            .await
            .starts_with("404")
    );
    assert!(
        world
            .refused("GET", &format!("{PROJECT}/global/routes"), Value::Null)
            .await
            .starts_with("429")
    );
    let cut: Vec<_> = world
        .mock
        .log()
        .into_iter()
        .filter(|line| line.status.is_none())
        .collect();
    assert_eq!(
        cut.iter().map(|line| line.committed).collect::<Vec<_>>(),
        [false, true]
    );
}

#[tokio::test]
async fn quotas_hold() {
    let world = World::with(json!({"quotas": [
        {"metric": "NETWORKS", "limit": 1},
        {"metric": "STATIC_ADDRESSES", "region": "us-central1", "limit": 0, "refused": "in_operation"}
    ]}))
    .await;
    world.network("n").await;
    let refusal = world.refused("POST", NETWORKS, json!({"name": "m"})).await;
    assert_eq!(
        refusal,
        "403 quotaExceeded: Quota 'NETWORKS' exceeded. Limit: 1.0 globally."
    );
    let addresses = format!("{PROJECT}/regions/us-central1/addresses");
    let operation = world.post(&addresses, json!({"name": "a"})).await;
    assert_eq!(world.ends(&operation).await, "QUOTA_EXCEEDED");
    assert!(
        world
            .refused("GET", &format!("{addresses}/a"), Value::Null)
            .await
            .starts_with("404")
    );
    let (_, operation) = world
        .call("DELETE", &format!("{NETWORKS}/n"), Value::Null)
        .await;
    world.ends(&operation).await;
    world.network("m").await;
}

#[tokio::test]
async fn a_service_that_is_off_refuses() {
    let world = World::with(json!({"projects": [{"id": "formwork-mock", "number": "1", "services": []}], "objects": []})).await;
    assert!(
        world
            .refused("GET", NETWORKS, Value::Null)
            .await
            .starts_with("403 accessNotConfigured")
    );
    let operation = world
        .post(
            "/serviceusage/v1/projects/1/services:batchEnable",
            json!({"serviceIds": ["compute.googleapis.com"]}),
        )
        .await;
    let name = operation["name"].as_str().unwrap();
    assert_eq!(
        world.get(&format!("/serviceusage/v1/{name}")).await["done"],
        true
    );
    world.get(NETWORKS).await;
    let on = world
        .get("/serviceusage/v1/projects/formwork-mock/services?filter=state:ENABLED")
        .await;
    assert_eq!(
        on["services"][0]["config"]["name"],
        "compute.googleapis.com"
    );
    world
        .post(
            "/serviceusage/v1/projects/1/services/compute.googleapis.com:disable",
            json!({}),
        )
        .await;
    assert_eq!(
        world
            .get("/serviceusage/v1/projects/1/services/compute.googleapis.com")
            .await["state"],
        "DISABLED"
    );
}

/// Whatever a crash leaves of the last line, the world before it is there, and goes on.
#[tokio::test]
async fn a_journal_may_end_anywhere() {
    let home = tempfile::tempdir().unwrap();
    let world = World::at(home.path(), json!({}), 1000).await;
    for name in ["a", "b", "c"] {
        world.network(name).await;
    }
    world.server.stop().await;
    drop(world.mock);
    let whole = std::fs::read(home.path().join("journal.jsonl")).unwrap();
    let ends: Vec<usize> = (0..whole.len())
        .filter(|at| whole[*at] == b'\n')
        .map(|at| at + 1)
        .collect();
    let before_last = ends[ends.len() - 2];
    let cuts = ends
        .iter()
        .copied()
        .chain((before_last..whole.len()).step_by(97));
    let mut seen = std::collections::BTreeSet::new();
    for cut in cuts {
        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join("journal.jsonl"), &whole[..cut]).unwrap();
        let clock = std::sync::Arc::new(formwork_environment::Fixed::new(2000, 9));
        let mock = Mock::open(Config {
            directory: Some(other.path().to_owned()),
            scenario: scenario(json!({})),
            clock: clock.clone(),
            randomness: clock,
            process: 1,
        })
        .unwrap();
        let networks: Vec<String> = mock
            .list()
            .into_iter()
            .filter(|object| object.collection == "compute.networks")
            .map(|object| object.object["name"].as_str().unwrap().to_owned())
            .collect();
        assert!(
            ["a", "b", "c"].starts_with(&networks.iter().map(String::as_str).collect::<Vec<_>>())
        );
        if cut > before_last && cut < whole.len() {
            assert_eq!(
                networks,
                ["a", "b"],
                "a line without its end counts for nothing"
            );
        }
        seen.insert(networks.len());
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
}
