//! Data sources, imports and older states.

use formwork_google_schema::Resource;
use formwork_provider::{
    Bytes, ImportRequest, Provider, RawState, ReadDataRequest, UpgradeRequest,
};
use formwork_values::{Type, Value};
use serde_json::{Value as Json, json};

use crate::json::decode;
use crate::mock_tests::lab::{Lab, differences, told};

async fn data(lab: &Lab, kind: &str, config: Json) -> Value {
    let source: std::sync::Arc<Resource> = formwork_google_schema::data_source(kind).unwrap();
    let config = decode(&source.schema.ty(), &config);
    let read = lab
        .provider
        .read_data_source(ReadDataRequest {
            kind: kind.into(),
            config,
        })
        .await;
    assert!(read.reported.is_empty(), "{kind}: {}", told(&read.reported));
    assert!(read.state.is_wholly_known());
    assert_eq!(read.state.type_of(), source.schema.ty(), "{kind}");
    assert!(!read.state.attribute("id").unwrap().is_null(), "{kind}");
    read.state
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value
        .attribute(name)
        .unwrap()
        .as_str()
        .unwrap_or_else(|| panic!("{name}"))
}

#[tokio::test]
async fn data_sources_are_read() {
    let lab = Lab::new().await;
    let zones = data(
        &lab,
        "google_compute_zones",
        json!({"region": "us-central1"}),
    )
    .await;
    let names = zones.attribute("names").unwrap().as_sequence().unwrap();
    assert!(names.iter().any(|n| n.as_str() == Some("us-central1-b")) && names.len() >= 3);
    let image = data(
        &lab,
        "google_compute_image",
        json!({"family": "debian-12", "project": "debian-cloud"}),
    )
    .await;
    assert!(
        text(&image, "name").starts_with("debian-12-")
            && text(&image, "self_link").contains("/debian-cloud/")
    );
    let types = data(
        &lab,
        "google_compute_machine_types",
        json!({"zone": "us-central1-b", "filter": "name = \"a4-highgpu-8g\""}),
    )
    .await;
    let found = types
        .attribute("machine_types")
        .unwrap()
        .as_sequence()
        .unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(text(&found[0], "name"), "a4-highgpu-8g");
    let gpus = found[0]
        .attribute("accelerators")
        .unwrap()
        .as_sequence()
        .unwrap();
    assert_eq!(text(&gpus[0], "guest_accelerator_type"), "nvidia-b200");
    let none = data(
        &lab,
        "google_compute_machine_types",
        json!({"zone": "us-central1-b", "filter": "name = \"a5-highgpu-8g\""}),
    )
    .await;
    let found = none.attribute("machine_types").unwrap().as_sequence();
    assert_eq!(found.map(<[_]>::len), Some(0));
    let profile = data(
        &lab,
        "google_compute_network_profile",
        json!({"name": "us-central1-b-vpc-roce"}),
    )
    .await;
    assert_eq!(text(&profile, "zone"), "us-central1-b");
    assert!(text(&profile, "self_link").ends_with("/networkProfiles/us-central1-b-vpc-roce"));
    let reservation = data(
        &lab,
        "google_compute_reservation",
        json!({"name": "a4-reservation", "zone": "us-central1-b"}),
    )
    .await;
    let blocks = reservation
        .attribute("block_names")
        .unwrap()
        .as_sequence()
        .unwrap();
    assert_eq!(blocks.len(), 2);
    let client = data(&lab, "google_client_config", json!({})).await;
    assert_eq!(text(&client, "project"), "formwork-mock");
    let project = data(&lab, "google_project", json!({})).await;
    assert_eq!(
        (text(&project, "project_id"), text(&project, "number")),
        ("formwork-mock", "415104041262")
    );
    // Absent things are errors, not empty answers.
    let source = formwork_google_schema::data_source("google_compute_network_profile").unwrap();
    let read = lab
        .provider
        .read_data_source(ReadDataRequest {
            kind: "google_compute_network_profile".into(),
            config: decode(&source.schema.ty(), &json!({"name": "no-such"})),
        })
        .await;
    assert_eq!(read.reported.len(), 1);
}

#[tokio::test]
async fn imports_and_older_states() {
    let lab = Lab::new().await;
    let kind = "google_compute_network";
    let config = json!({"name": "n", "auto_create_subnetworks": false, "mtu": 8896});
    let made = lab.put(kind, config.clone(), None).await;
    for id in [
        "n",
        "formwork-mock/n",
        "projects/formwork-mock/global/networks/n",
        "https://www.googleapis.com/compute/v1/projects/formwork-mock/global/networks/n",
    ] {
        let request = ImportRequest {
            kind: kind.into(),
            id: id.into(),
            identity: None,
        };
        let found = lab
            .provider
            .import_resource_state(request)
            .await
            .map_err(|r| told(&r))
            .unwrap();
        let read = lab.read(kind, &found[0].state).await;
        let mut differs = differences(&made, &read);
        // What only the configuration knows.
        differs.retain(|d| !d.contains("delete_") && !d.ends_with("null(bool) -> false"));
        assert!(differs.is_empty(), "{id}: {differs:?}");
        lab.quiet(kind, config.clone(), &read).await;
    }
    let wrong = ImportRequest {
        kind: kind.into(),
        id: "a/b/c/d".into(),
        identity: None,
    };
    assert!(lab.provider.import_resource_state(wrong).await.is_err());

    let upgrade = |kind: &str, version: u64, json: Json| UpgradeRequest {
        kind: kind.into(),
        version,
        state: RawState::Json(Bytes::from(json.to_string().into_bytes())),
    };
    let upgraded = lab
        .provider
        .upgrade_resource_state(upgrade(
            kind,
            0,
            json!({"id": "i", "name": "n", "gone": 1, "mtu": 1460}),
        ))
        .await;
    assert!(upgraded.reported.is_empty());
    assert_eq!(text(&upgraded.upgraded, "name"), "n");
    assert_eq!(
        upgraded.upgraded.type_of(),
        Type::Object(
            formwork_google_schema::resource(kind)
                .unwrap()
                .schema
                .object_type()
                .clone()
        )
    );
    // Refused with both versions named, never read as if it were current.
    for (kind, version) in [
        ("google_compute_instance", 3),
        ("google_compute_network", 9),
    ] {
        let refused = lab
            .provider
            .upgrade_resource_state(upgrade(kind, version, json!({"name": "n"})))
            .await;
        let detail = &refused.reported[0].diagnostic.detail;
        assert!(detail.contains(&version.to_string()), "{detail}");
    }
}

#[tokio::test]
async fn types_that_are_not_run_are_refused_by_name() {
    let lab = Lab::new().await;
    let kind = "google_container_cluster";
    let config = crate::mock_tests::lab::configured(kind, json!({"name": "c"}));
    let plan = lab.plan(kind, &config, None).await;
    assert!(plan.reported[0].diagnostic.detail.contains(kind));
    for name in crate::supported_resources() {
        assert!(formwork_google_schema::resource(name).is_some(), "{name}");
    }
    assert!(crate::supported_resources().is_sorted());
}

#[tokio::test]
async fn private_bytes_are_those_of_the_original() {
    let lab = Lab::new().await;
    let private = async |kind: &str, config: Json| {
        let config = crate::mock_tests::lab::configured(kind, config);
        let plan = lab.plan(kind, &config, None).await;
        String::from_utf8(plan.private.to_vec()).unwrap()
    };
    let minutes = |n: u64| n * 60_000_000_000;
    let key = "e2bfb730-ecaa-11e6-8f88-34363bc7c4c0";
    let twenty = minutes(20);
    assert_eq!(
        private("google_compute_network", json!({"name": "n"})).await,
        format!(r#"{{"{key}":{{"create":{twenty},"delete":{twenty},"update":{twenty}}}}}"#)
    );
    assert_eq!(
        private(
            "google_compute_firewall",
            json!({"name": "n", "network": "x", "timeouts": {"create": "5m"}})
        )
        .await,
        format!(
            r#"{{"{key}":{{"create":{},"delete":{twenty},"update":{twenty}}},"schema_version":"1"}}"#,
            minutes(5)
        )
    );
    assert_eq!(
        private(
            "google_project_iam_member",
            json!({"project": "p", "role": "r", "member": "m"})
        )
        .await,
        "null"
    );
}
