//! One life per type of storage, file, iam and serviceusage.

use serde_json::json;

use crate::mock_tests::compute::network;
use crate::mock_tests::lab::{Lab, with};

#[tokio::test]
async fn buckets_and_objects() {
    let lab = Lab::new().await;
    let kind = "google_storage_bucket";
    let config = |more: serde_json::Value| {
        with(
            json!({"name": "formwork-b", "location": "us-central1", "uniform_bucket_level_access": true, "force_destroy": true,
            "labels": {"a": "1", "b": "2"}}),
            &more,
        )
    };
    let state = lab
        .life(
            kind,
            config(json!({})),
            &[
                config(json!({"versioning": [{"enabled": true}]})),
                config(json!({"versioning": [{"enabled": true}], "labels": {"a": "3"}})),
                config(json!({"versioning": [{"enabled": true}], "lifecycle_rule": [{"action": [{"type": "Delete"}], "condition": [{"age": 3, "with_state": "ARCHIVED"}]}]})),
                config(json!({"versioning": [{"enabled": true}]})),
                config(json!({"versioning": [{"enabled": true}], "soft_delete_policy": [{"retention_duration_seconds": 0}]})),
            ],
        )
        .await;
    let object = "google_storage_bucket_object";
    let text =
        |content: &str| json!({"bucket": "formwork-b", "name": "dir/o.txt", "content": content});
    let file = lab.life(object, text("one"), &[text("two")]).await;
    assert_eq!(
        file.attribute("id").unwrap().as_str(),
        Some("formwork-b-dir/o.txt")
    );
    let member = "google_storage_bucket_iam_member";
    let config = |who: &str| json!({"bucket": "formwork-b", "role": "roles/storage.objectViewer", "member": who});
    let first = lab.life(member, config("user:a@example.com"), &[]).await;
    let second = lab.life(member, config("user:b@example.com"), &[]).await;
    assert_eq!(
        first.attribute("id").unwrap().as_str(),
        Some("b/formwork-b/roles/storage.objectViewer/user:a@example.com")
    );
    lab.delete(member, &first).await;
    lab.quiet(member, config("user:b@example.com"), &second)
        .await;
    let binding = "google_storage_bucket_iam_binding";
    let config = |who: &[&str]| json!({"bucket": "formwork-b", "role": "roles/storage.objectAdmin", "members": who});
    let bound = lab
        .life(
            binding,
            config(&["user:a@example.com"]),
            &[config(&["user:a@example.com", "user:c@example.com"])],
        )
        .await;
    lab.delete(binding, &bound).await;
    // The bucket takes its objects along.
    lab.delete(kind, &state).await;
}

#[tokio::test]
async fn filestore() {
    let lab = Lab::new().await;
    let (_, id) = network(&lab).await;
    let kind = "google_filestore_instance";
    let config = |more: serde_json::Value| {
        with(
            json!({"name": "home", "location": "us-central1-b", "tier": "BASIC_SSD",
            "file_shares": [{"name": "home", "capacity_gb": 2560}],
            "networks": [{"network": id, "modes": ["MODE_IPV4"]}], "labels": {"a": "1"}}),
            &more,
        )
    };
    let state = lab
        .life(
            kind,
            config(json!({})),
            &[
                config(json!({"description": "d"})),
                config(json!({"description": "d", "labels": {"b": "1"}})),
                config(json!({"description": "d", "labels": {"b": "1"}, "file_shares": [{"name": "home", "capacity_gb": 3072}]})),
            ],
        )
        .await;
    lab.delete(kind, &state).await;
}

#[tokio::test]
async fn accounts_services_and_project_policy() {
    let lab = Lab::new().await;
    let kind = "google_service_account";
    let config = |more: serde_json::Value| {
        with(
            json!({"account_id": "cluster", "display_name": "Cluster"}),
            &more,
        )
    };
    let account = lab
        .life(
            kind,
            config(json!({})),
            &[
                config(json!({"display_name": "Other", "description": "d"})),
                config(json!({"disabled": true})),
                config(json!({})),
            ],
        )
        .await;
    let email = account
        .attribute("email")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    let member = format!("serviceAccount:{email}");
    assert_eq!(
        account.attribute("member").unwrap().as_str(),
        Some(&*member)
    );
    let policy = "google_project_iam_member";
    let part = lab
        .life(policy, json!({"project": "formwork-mock", "role": "roles/logging.logWriter", "member": member}), &[])
        .await;
    lab.delete(policy, &part).await;
    lab.delete(kind, &account).await;
    let kind = "google_project_service";
    let state = lab
        .life(
            kind,
            json!({"service": "run.googleapis.com", "disable_on_destroy": true}),
            &[],
        )
        .await;
    lab.delete(kind, &state).await;
    // Left on unless asked otherwise.
    let state = lab
        .put(kind, json!({"service": "file.googleapis.com"}), None)
        .await;
    let applied = lab
        .apply(
            kind,
            None,
            Some(&state),
            None,
            &crate::mock_tests::lab::Notes::default(),
        )
        .await;
    assert!(applied.reported.is_empty() && applied.new.is_null());
    assert!(!lab.read(kind, &state).await.is_null());
}

#[tokio::test]
async fn a_bucket_s_setting_drifts() {
    use formwork_google_client::{Method, Request};
    let lab = Lab::new().await;
    let kind = "google_storage_bucket";
    let config = json!({"name": "formwork-d", "location": "us-central1", "uniform_bucket_level_access": true, "versioning": [{"enabled": true}],
        "hierarchical_namespace": [{"enabled": true}], "soft_delete_policy": [{"retention_duration_seconds": 0}], "public_access_prevention": "enforced"});
    let state = lab.put(kind, config.clone(), None).await;
    lab.quiet(kind, config.clone(), &state).await;
    let patch = Request::new(Method::Patch, "storage", "storage/v1/b/formwork-d")
        .json(json!({"versioning": {"enabled": false}}));
    lab.http.send(&patch).await.unwrap();
    let read = lab.read(kind, &state).await;
    let plan = lab
        .plan(
            kind,
            &crate::mock_tests::lab::configured(kind, config.clone()),
            Some(&read),
        )
        .await;
    let found = crate::mock_tests::lab::differences(&read, &plan.planned);
    assert_eq!(found, [".versioning[0].enabled: false -> true"]);
    let before = lab.mock.log().len();
    let mended = lab.put(kind, config.clone(), Some(&read)).await;
    assert_eq!(
        lab.mock.log()[before..]
            .iter()
            .filter(|l| l.committed)
            .count(),
        1
    );
    lab.quiet(kind, config, &mended).await;
}

#[tokio::test]
async fn bindings_of_projects_and_accounts() {
    let lab = Lab::new().await;
    let account = lab
        .put(
            "google_service_account",
            json!({"account_id": "cluster"}),
            None,
        )
        .await;
    let name = account
        .attribute("name")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    let project = |who: &[&str]| json!({"project": "formwork-mock", "role": "roles/monitoring.metricWriter", "members": who});
    let bound = lab
        .life(
            "google_project_iam_binding",
            project(&["user:a@example.com"]),
            &[project(&["user:b@example.com"])],
        )
        .await;
    lab.delete("google_project_iam_binding", &bound).await;
    let member = json!({"service_account_id": name, "role": "roles/iam.serviceAccountUser", "member": "user:a@example.com"});
    let part = lab
        .life("google_service_account_iam_member", member, &[])
        .await;
    lab.delete("google_service_account_iam_member", &part).await;
    let condition = json!({"project": "formwork-mock", "role": "roles/viewer", "member": "user:c@example.com",
        "condition": [{"title": "t", "expression": "request.time < timestamp(\"2030-01-01T00:00:00Z\")"}]});
    let part = lab.life("google_project_iam_member", condition, &[]).await;
    assert!(
        part.attribute("id")
            .unwrap()
            .as_str()
            .unwrap()
            .ends_with("/user:c@example.com/t")
    );
    lab.delete("google_project_iam_member", &part).await;
}
