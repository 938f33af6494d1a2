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
