//! Changes from outside: the plan names them and nothing else, and one request mends each.

use formwork_google_client::{Method, Request};
use formwork_provider::{Bytes, Provider, ReadRequest};
use formwork_values::Value;
use serde_json::{Value as Json, json};

use crate::mock_tests::compute::network;
use crate::mock_tests::lab::{Lab, configured, differences};

fn link(state: &Value) -> String {
    let link = state.attribute("self_link").unwrap().as_str().unwrap();
    format!("compute/v1/{}", crate::names::relative(link))
}

async fn outside(lab: &Lab, method: Method, path: &str, body: Json) {
    lab.http
        .send(&Request::new(method, "compute", path).json(body))
        .await
        .unwrap();
    // Operations of the default world are over within 80 ms.
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
}

/// Reads, plans and applies: the plan changes `paths` alone, by one changing request.
async fn mended(lab: &Lab, kind: &str, config: Json, state: &Value, paths: &[&str]) -> Value {
    let read = lab.read(kind, state).await;
    let plan = lab
        .plan(kind, &configured(kind, config.clone()), Some(&read))
        .await;
    let mut found: Vec<String> = differences(&read, &plan.planned)
        .iter()
        .map(|d| {
            d.split([':', '['])
                .next()
                .unwrap()
                .trim_start_matches('.')
                .to_owned()
        })
        .collect();
    found.dedup();
    assert_eq!(found, paths, "{kind}");
    let before = lab.mock.log().len();
    let mended = lab.put(kind, config.clone(), Some(&read)).await;
    let changing = lab.mock.log()[before..]
        .iter()
        .filter(|line| line.committed)
        .count();
    assert_eq!(changing, 1, "{kind}");
    lab.quiet(kind, config, &mended).await;
    mended
}

#[tokio::test]
async fn drift_is_named_and_mended() {
    let lab = Lab::new().await;
    let kind = "google_compute_network";
    let config = json!({"name": "m", "auto_create_subnetworks": false, "mtu": 8896});
    let state = lab.put(kind, config.clone(), None).await;
    outside(&lab, Method::Patch, &link(&state), json!({"mtu": 1460})).await;
    mended(&lab, kind, config, &state, &["mtu"]).await;

    let (_, id) = network(&lab).await;
    let kind = "google_compute_firewall";
    let config = json!({"name": "f", "network": id, "allow": [{"protocol": "tcp"}], "source_ranges": ["10.0.0.0/8"]});
    let state = lab.put(kind, config.clone(), None).await;
    outside(
        &lab,
        Method::Patch,
        &link(&state),
        json!({"sourceRanges": ["0.0.0.0/0"]}),
    )
    .await;
    mended(&lab, kind, config, &state, &["source_ranges"]).await;

    let kind = "google_compute_disk";
    let config = json!({"name": "d", "size": 10, "labels": {"a": "1"}});
    let state = lab.put(kind, config.clone(), None).await;
    let token = state
        .attribute("label_fingerprint")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    let labels = json!({"labels": {"a": "2", "goog-terraform-provisioned": "true", "foreign": "x"}, "labelFingerprint": token});
    outside(
        &lab,
        Method::Post,
        &format!("{}/setLabels", link(&state)),
        labels,
    )
    .await;
    // The same label in the three attributes that show it; the foreign one is left alone.
    let state = mended(
        &lab,
        kind,
        config,
        &state,
        &["effective_labels", "labels", "terraform_labels"],
    )
    .await;
    let all = state
        .attribute("effective_labels")
        .unwrap()
        .as_map()
        .unwrap();
    assert!(all.iter().any(|(k, _)| &**k == "foreign"));
}

#[tokio::test]
async fn many_are_read_by_list_and_the_lost_one_is_asked_for() {
    let lab = Lab::new().await;
    let kind = "google_compute_network";
    let mut states = Vec::new();
    for i in 0..5 {
        let config = json!({"name": format!("n{i}"), "auto_create_subnetworks": false});
        states.push(lab.put(kind, config, None).await);
    }
    outside(&lab, Method::Delete, &link(&states[3]), json!({})).await;
    let before = lab.mock.log().len();
    let requests = states
        .iter()
        .map(|s| ReadRequest {
            kind: kind.into(),
            current: s.clone(),
            private: Bytes::from([]),
            identity: None,
        })
        .collect();
    let read = lab.provider.read_resources(requests).await;
    for (i, (read, state)) in read.iter().zip(&states).enumerate() {
        assert!(read.reported.is_empty());
        if i == 3 {
            assert!(read.new.is_null());
        } else {
            assert!(differences(state, &read.new).is_empty());
        }
    }
    let asked: Vec<String> = lab.mock.log()[before..]
        .iter()
        .filter_map(|l| l.id.clone())
        .collect();
    assert_eq!(asked, ["compute.networks.list", "compute.networks.get"]);
}
