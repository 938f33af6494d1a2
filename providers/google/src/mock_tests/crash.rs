//! Cut connections, and what a run finds after one before it died.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use formwork_mock_google::Scenario;
use formwork_provider::{Bytes, NoteError, OperationLog, PendingOperation, Provider, Settlement};
use formwork_values::Value;
use serde_json::{Value as Json, json};

use crate::mock_tests::lab::{Lab, Notes, configured, differences, told};

fn scenario(faults: Json, latency: [u32; 2]) -> Scenario {
    let text = include_str!("../../../mock-google/data/default-scenario.json");
    let mut json: Json = serde_json::from_str(text).unwrap();
    json["faults"] = faults;
    json["operations"] = json!({"latency_ms": latency});
    Scenario::parse(&json.to_string()).unwrap()
}

/// A log after whose nth note the process is dead: the note is durable, and nothing more happens.
struct Dying {
    notes: Mutex<Vec<Vec<u8>>>,
    after: usize,
    dead: tokio::sync::Notify,
}

#[async_trait]
impl OperationLog for Dying {
    async fn note(&self, note: Vec<u8>) -> Result<(), NoteError> {
        let count = {
            let mut notes = self.notes.lock().unwrap();
            notes.push(note);
            notes.len()
        };
        if count >= self.after {
            self.dead.notify_one();
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

/// Applies until the log says that the process is dead; the notes.
async fn die(
    lab: &Lab,
    kind: &str,
    config: Option<&Value>,
    prior: Option<&Value>,
    planned: Option<&Value>,
    after: usize,
) -> Vec<Bytes> {
    let log = Dying {
        notes: Mutex::default(),
        after,
        dead: tokio::sync::Notify::new(),
    };
    tokio::select! {
        applied = lab.apply(kind, config, prior, planned, &log) => {
            panic!("{kind} ended before note {after}: {}", told(&applied.reported));
        }
        () = log.dead.notified() => {}
    }
    log.notes
        .into_inner()
        .unwrap()
        .into_iter()
        .map(Bytes::from)
        .collect()
}

async fn settle(
    lab: &Lab,
    kind: &str,
    prior: Option<&Value>,
    planned: Option<&Value>,
    notes: Vec<Bytes>,
) -> Settlement {
    let null = || Value::null(formwork_google_schema::resource(kind).unwrap().schema.ty());
    loop {
        let settled = lab
            .provider
            .settle_operation(PendingOperation {
                kind: kind.into(),
                prior: prior.cloned().unwrap_or_else(null),
                planned: planned.cloned().unwrap_or_else(null),
                planned_private: Bytes::from([]),
                notes: notes.clone(),
            })
            .await;
        if matches!(settled, Settlement::StillRunning) {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            continue;
        }
        return settled;
    }
}

fn done(settled: Settlement) -> Value {
    match settled {
        Settlement::Done {
            object, reported, ..
        } => {
            assert!(reported.is_empty(), "{}", told(&reported));
            object
        }
        Settlement::NotDone => panic!("not done"),
        Settlement::StillRunning => panic!("still running"),
        Settlement::Unknown { reason } => panic!("unknown: {reason}"),
    }
}

/// Committed requests of a method.
fn committed(lab: &Lab, id: &str) -> usize {
    lab.mock
        .log()
        .iter()
        .filter(|line| line.committed && line.id.as_deref() == Some(id))
        .count()
}

#[tokio::test]
async fn a_cut_connection_makes_nothing_twice() {
    let cases = [
        ("after_commit", "compute.networks.insert"),
        ("before_commit", "compute.networks.insert"),
        ("after_commit", "compute.networks.patch"),
        ("before_commit", "compute.networks.patch"),
        ("after_commit", "compute.networks.delete"),
        ("before_commit", "compute.networks.delete"),
    ];
    for (cut, method) in cases {
        let lab = Lab::with(scenario(
            json!([{"method": method, "nth": 1, "cut": cut}]),
            [5, 20],
        ))
        .await;
        let kind = "google_compute_network";
        let config = json!({"name": "n", "auto_create_subnetworks": false});
        let changed = json!({"name": "n", "auto_create_subnetworks": false, "mtu": 8896});
        let state = lab.life(kind, config, &[changed]).await;
        lab.delete(kind, &state).await;
        for (id, times) in [
            ("compute.networks.insert", 1),
            ("compute.networks.patch", 1),
            ("compute.networks.delete", 1),
        ] {
            assert_eq!(committed(&lab, id), times, "{cut} {method}: {id}");
        }
    }
}

#[tokio::test]
async fn what_died_is_settled() {
    let lab = Lab::with(scenario(json!([]), [30, 60])).await;
    let kind = "google_compute_network";
    let config = configured(kind, json!({"name": "n", "auto_create_subnetworks": false}));
    let planned = lab.plan(kind, &config, None).await.planned;

    // Before the first note: nothing was sent.
    assert!(matches!(
        settle(&lab, kind, None, Some(&planned), Vec::new()).await,
        Settlement::NotDone
    ));
    // After the note, before the request.
    let notes = die(&lab, kind, Some(&config), None, Some(&planned), 1).await;
    assert!(matches!(
        settle(&lab, kind, None, Some(&planned), notes).await,
        Settlement::NotDone
    ));
    // After the operation was noted.
    let notes = die(&lab, kind, Some(&config), None, Some(&planned), 2).await;
    let made = done(settle(&lab, kind, None, Some(&planned), notes.clone()).await);
    assert!(differences(&planned, &made).is_empty() && made.is_wholly_known());
    assert_eq!(committed(&lab, "compute.networks.insert"), 1);
    // Sent and answered, but the operation's name was lost: found by the request's id.
    let request_only = vec![Arc::clone(&notes[0])];
    let again = done(settle(&lab, kind, None, Some(&planned), request_only).await);
    assert!(differences(&made, &again).is_empty());

    // Changing.
    let config = configured(
        kind,
        json!({"name": "n", "auto_create_subnetworks": false, "mtu": 1500}),
    );
    let planned = lab.plan(kind, &config, Some(&made)).await.planned;
    let notes = die(&lab, kind, Some(&config), Some(&made), Some(&planned), 2).await;
    let changed = done(settle(&lab, kind, Some(&made), Some(&planned), notes).await);
    assert!(differences(&planned, &changed).is_empty());
    // Noted and not sent: what is there is what was there.
    let config = configured(
        kind,
        json!({"name": "n", "auto_create_subnetworks": false, "mtu": 1400}),
    );
    let planned = lab.plan(kind, &config, Some(&changed)).await.planned;
    let notes = die(&lab, kind, Some(&config), Some(&changed), Some(&planned), 1).await;
    let same = done(settle(&lab, kind, Some(&changed), Some(&planned), notes).await);
    assert!(differences(&changed, &same).is_empty());

    // Deleting.
    let notes = die(&lab, kind, None, Some(&changed), None, 1).await;
    assert!(matches!(
        settle(&lab, kind, Some(&changed), None, notes).await,
        Settlement::NotDone
    ));
    let notes = die(&lab, kind, None, Some(&changed), None, 2).await;
    assert!(done(settle(&lab, kind, Some(&changed), None, notes).await).is_null());
}

#[tokio::test]
async fn another_s_object_is_not_adopted() {
    let lab = Lab::new().await;
    let kind = "google_compute_network";
    let theirs = lab
        .put(
            kind,
            json!({"name": "n", "auto_create_subnetworks": false, "mtu": 1500}),
            None,
        )
        .await;
    // Creating it again is refused, and nothing of theirs is taken.
    let config = configured(
        kind,
        json!({"name": "n", "auto_create_subnetworks": false, "mtu": 8896}),
    );
    let planned = lab.plan(kind, &config, None).await.planned;
    let notes = Notes::default();
    let applied = lab
        .apply(kind, Some(&config), None, Some(&planned), &notes)
        .await;
    assert!(
        applied.new.is_null() && !applied.outcome_unknown,
        "{}",
        told(&applied.reported)
    );
    assert_eq!(
        applied.reported[0].diagnostic.summary,
        "Object exists already"
    );
    // A note whose request was never sent, and an object of that name that is not what was planned.
    let notes = die(&lab, kind, Some(&config), None, Some(&planned), 1).await;
    assert!(matches!(
        settle(&lab, kind, None, Some(&planned), notes).await,
        Settlement::Unknown { .. }
    ));
    lab.delete(kind, &theirs).await;
}

#[tokio::test]
async fn an_operation_that_fails_leaves_nothing_or_says_what() {
    let faults = json!([{"method": "compute.networks.insert", "nth": 1,
        "operation_error": {"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": "none left", "http": 503}}]);
    let lab = Lab::with(scenario(faults, [5, 10])).await;
    let kind = "google_compute_network";
    let config = configured(kind, json!({"name": "n", "auto_create_subnetworks": false}));
    let planned = lab.plan(kind, &config, None).await.planned;
    let applied = lab
        .apply(kind, Some(&config), None, Some(&planned), &Notes::default())
        .await;
    assert!(applied.new.is_null() && !applied.outcome_unknown);
    assert_eq!(
        applied.reported[0].diagnostic.summary,
        "Google has no capacity"
    );
    lab.put(
        kind,
        json!({"name": "n", "auto_create_subnetworks": false}),
        None,
    )
    .await;
}

/// Every type with the configuration of one object, in the order of their needs.
fn inventory() -> Vec<(&'static str, Json)> {
    vec![
        (
            "google_compute_network",
            json!({"name": "n", "auto_create_subnetworks": false}),
        ),
        (
            "google_compute_subnetwork",
            json!({"name": "s", "network": "n", "ip_cidr_range": "10.0.0.0/20"}),
        ),
        (
            "google_compute_firewall",
            json!({"name": "f", "network": "n", "allow": [{"protocol": "tcp"}]}),
        ),
        (
            "google_compute_router",
            json!({"name": "r", "network": "n"}),
        ),
        (
            "google_compute_router_nat",
            json!({"name": "nat", "router": "r", "nat_ip_allocate_option": "AUTO_ONLY", "source_subnetwork_ip_ranges_to_nat": "ALL_SUBNETWORKS_ALL_IP_RANGES"}),
        ),
        (
            "google_compute_route",
            json!({"name": "rt", "network": "n", "dest_range": "10.99.0.0/16", "next_hop_gateway": "default-internet-gateway"}),
        ),
        ("google_compute_address", json!({"name": "a"})),
        ("google_compute_global_address", json!({"name": "g"})),
        (
            "google_compute_disk",
            json!({"name": "d", "size": 10, "image": "debian-cloud/debian-12"}),
        ),
        (
            "google_compute_resource_policy",
            json!({"name": "p", "group_placement_policy": [{"collocation": "COLLOCATED"}]}),
        ),
        (
            "google_compute_reservation",
            json!({"name": "res", "zone": "us-central1-b", "specific_reservation": [{"count": 1, "instance_properties": [{"machine_type": "n2-standard-2"}]}]}),
        ),
        (
            "google_compute_instance",
            json!({"name": "vm", "machine_type": "n2-standard-2", "boot_disk": [{"initialize_params": [{"image": "debian-cloud/debian-12"}]}], "network_interface": [{"subnetwork": "s"}]}),
        ),
        (
            "google_compute_instance_template",
            json!({"name_prefix": "t-", "machine_type": "n2-standard-2", "disk": [{"source_image": "debian-cloud/debian-12"}], "network_interface": [{"network": "n"}]}),
        ),
        (
            "google_storage_bucket",
            json!({"name": "formwork-crash", "location": "US"}),
        ),
        (
            "google_storage_bucket_object",
            json!({"bucket": "formwork-crash", "name": "o", "content": "c"}),
        ),
        (
            "google_storage_bucket_iam_member",
            json!({"bucket": "formwork-crash", "role": "roles/storage.objectViewer", "member": "user:a@example.com"}),
        ),
        (
            "google_storage_bucket_iam_binding",
            json!({"bucket": "formwork-crash", "role": "roles/storage.objectAdmin", "members": ["user:b@example.com"]}),
        ),
        (
            "google_filestore_instance",
            json!({"name": "fs", "location": "us-central1-b", "tier": "BASIC_SSD", "file_shares": [{"name": "home", "capacity_gb": 2560}], "networks": [{"network": "n", "modes": ["MODE_IPV4"]}]}),
        ),
        ("google_service_account", json!({"account_id": "crasher"})),
        (
            "google_project_iam_member",
            json!({"project": "formwork-mock", "role": "roles/logging.logWriter", "member": "user:a@example.com"}),
        ),
        (
            "google_project_service",
            json!({"service": "run.googleapis.com", "disable_on_destroy": true}),
        ),
    ]
}

/// Each type's creation dies after each of its notes, its deletion too; settled, nothing is lost and
/// nothing is made twice.
#[tokio::test]
async fn every_type_dies_at_every_note() {
    let lab = Lab::with(scenario(json!([]), [10, 30])).await;
    let mut standing: Vec<(&str, Value)> = Vec::new();
    for (kind, config) in inventory() {
        let wanted = configured(kind, config.clone());
        let mut deaths = 0;
        let made = loop {
            let planned = lab.plan(kind, &wanted, None).await.planned;
            deaths += 1;
            let log = Dying {
                notes: Mutex::default(),
                after: deaths,
                dead: tokio::sync::Notify::new(),
            };
            let ended = tokio::select! {
                applied = lab.apply(kind, Some(&wanted), None, Some(&planned), &log) => Some(applied),
                () = log.dead.notified() => None,
            };
            if let Some(applied) = ended {
                assert!(
                    applied.reported.is_empty(),
                    "{kind}: {}",
                    told(&applied.reported)
                );
                break applied.new;
            }
            let notes: Vec<Bytes> = log
                .notes
                .into_inner()
                .unwrap()
                .into_iter()
                .map(Bytes::from)
                .collect();
            match settle(&lab, kind, None, Some(&planned), notes).await {
                Settlement::NotDone => {}
                done_or_worse => {
                    // It is there: the state is whole, and the next death is at one note more.
                    let made = done(done_or_worse);
                    assert!(made.is_wholly_known(), "{kind}");
                    lab.quiet(kind, config.clone(), &made).await;
                    lab.delete(kind, &made).await;
                }
            }
            assert!(deaths < 12, "{kind} notes without end");
        };
        assert!(deaths > 1, "{kind} notes nothing");
        lab.quiet(kind, config, &made).await;
        standing.push((kind, made));
    }
    for (kind, made) in standing.into_iter().rev() {
        let mut deaths = 0;
        loop {
            deaths += 1;
            let log = Dying {
                notes: Mutex::default(),
                after: deaths,
                dead: tokio::sync::Notify::new(),
            };
            let ended = tokio::select! {
                applied = lab.apply(kind, None, Some(&made), None, &log) => Some(applied),
                () = log.dead.notified() => None,
            };
            if let Some(applied) = ended {
                assert!(
                    applied.reported.is_empty() && applied.new.is_null(),
                    "{kind}: {}",
                    told(&applied.reported)
                );
                break;
            }
            let notes: Vec<Bytes> = log
                .notes
                .into_inner()
                .unwrap()
                .into_iter()
                .map(Bytes::from)
                .collect();
            match settle(&lab, kind, Some(&made), None, notes).await {
                Settlement::NotDone => {}
                other => {
                    assert!(done(other).is_null(), "{kind}");
                    break;
                }
            }
            assert!(deaths < 12, "{kind} notes without end");
        }
        assert!(
            lab.read(kind, &made).await.is_null(),
            "{kind} is still there"
        );
    }
    let left: Vec<String> = lab
        .mock
        .list()
        .into_iter()
        .filter(|o| !o.seeded && o.owner.is_none() && o.service != "serviceusage")
        .map(|o| o.self_link)
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Answers are cut at random before and after they take effect, for all changing requests.
#[tokio::test]
async fn a_bad_line_makes_nothing_twice() {
    let faults = json!([
        {"mutating": true, "probability": 0.15, "cut": "after_commit"},
        {"mutating": true, "probability": 0.15, "cut": "before_commit"}]);
    let lab = Lab::with(scenario(faults, [1, 10])).await;
    let mut standing = Vec::new();
    for (kind, config) in inventory() {
        let made = lab.put(kind, config.clone(), None).await;
        lab.quiet(kind, config, &made).await;
        standing.push((kind, made));
    }
    let mut created: Vec<String> = lab
        .mock
        .log()
        .into_iter()
        .filter(|l| {
            l.committed
                && l.id
                    .as_deref()
                    .is_some_and(|id| id.ends_with(".insert") || id.ends_with(".create"))
        })
        .filter_map(|l| l.target)
        .collect();
    let all = created.len();
    created.sort();
    created.dedup();
    assert!(all >= 14, "only {all} creations");
    assert_eq!(all, created.len(), "something was made twice");
    for (kind, made) in standing.iter().rev() {
        lab.delete(kind, made).await;
    }
}
