//! Storage, IAM, Resource Manager, Filestore.

use serde_json::{Value, json};

use crate::world::{PROJECT, World};

const BUCKETS: &str = "/storage/v1/b";

async fn bucket(world: &World, name: &str, more: Value) {
    let mut body = json!({"name": name, "location": "us-central1", "iamConfiguration": {"uniformBucketLevelAccess": {"enabled": true}}});
    body.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    world
        .post(&format!("{BUCKETS}?project=formwork-mock"), body)
        .await;
}

async fn upload(world: &World, bucket: &str, name: &str, text: &str) -> Value {
    let client = reqwest::Client::new();
    let body = format!(
        "--edge\r\nContent-Type: application/json\r\n\r\n{}\r\n--edge\r\nContent-Type: text/plain\r\n\r\n{text}\r\n--edge--",
        json!({"name": name, "metadata": {"k": "v"}})
    );
    let url = format!(
        "{}upload/storage/v1/b/{bucket}/o?uploadType=multipart",
        world.server.endpoint("storage")
    );
    let response = client
        .post(url)
        .header("content-type", "multipart/related; boundary=edge")
        .body(body)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
    response.json().await.unwrap()
}

#[tokio::test]
async fn buckets_live() {
    let world = World::new().await;
    bucket(
        &world,
        "checkpoints",
        json!({"hierarchicalNamespace": {"enabled": true}}),
    )
    .await;
    let path = format!("{BUCKETS}/checkpoints");
    let made = world.get(&path).await;
    assert_eq!(made["location"], "US-CENTRAL1");
    assert_eq!(made["locationType"], "region");
    assert_eq!(made["metageneration"], "1");
    assert_eq!(
        made["iamConfiguration"]["bucketPolicyOnly"]["enabled"],
        true
    );
    assert_eq!(made.get("rpo"), None);
    for (query, body, expected) in [
        (
            "?project=formwork-mock",
            json!({"name": "checkpoints"}),
            "409 conflict",
        ),
        (
            "?project=formwork-mock",
            json!({"name": "UP"}),
            "400 invalid",
        ),
        (
            "?project=formwork-mock",
            json!({"name": "nowhere", "location": "atlantis"}),
            "400 invalid",
        ),
        (
            "?project=formwork-mock",
            json!({"name": "flat", "hierarchicalNamespace": {"enabled": true}}),
            "400 invalid: Hierarchical",
        ),
        ("?project=other", json!({"name": "other"}), "404 notFound"),
        ("", json!({"name": "none"}), "400 required"),
    ] {
        let refusal = world
            .refused("POST", &format!("{BUCKETS}{query}"), body)
            .await;
        assert!(refusal.starts_with(expected), "{refusal}");
    }
    let lifecycle =
        json!({"lifecycle": {"rule": [{"action": {"type": "Delete"}, "condition": {"age": 30}}]}});
    let (status, changed) = world
        .call(
            "PATCH",
            &format!("{path}?ifMetagenerationMatch=1"),
            lifecycle.clone(),
        )
        .await;
    assert_eq!((status, &changed["metageneration"]), (200, &json!("2")));
    assert!(
        world
            .refused(
                "PATCH",
                &format!("{path}?ifMetagenerationMatch=1"),
                lifecycle
            )
            .await
            .starts_with("412 conditionNotMet")
    );
    let (_, cleared) = world.call("PATCH", &path, json!({"lifecycle": null})).await;
    assert_eq!(cleared.get("lifecycle"), None);
    let list = world
        .get(&format!("{BUCKETS}?project=formwork-mock&prefix=check"))
        .await;
    assert_eq!(list["items"].as_array().unwrap().len(), 1);

    world
        .post(
            &format!("{path}/folders?recursive=true"),
            json!({"name": "a/b"}),
        )
        .await;
    assert!(
        world
            .refused("DELETE", &format!("{path}/folders/a%2F"), Value::Null)
            .await
            .starts_with("409 conflict")
    );
    assert_eq!(
        world.get(&format!("{path}/folders/a%2Fb")).await["name"],
        "a/b/"
    );

    upload(&world, "checkpoints", "slurm/slurm.conf", "x").await;
    assert_eq!(
        world.refused("DELETE", &path, Value::Null).await,
        "409 conflict: The bucket you tried to delete is not empty."
    );
    let (status, _) = world
        .call(
            "DELETE",
            &format!("{path}/o/slurm%2Fslurm.conf"),
            Value::Null,
        )
        .await;
    assert_eq!(status, 204);
    let (status, _) = world.call("DELETE", &path, Value::Null).await;
    assert_eq!(status, 204);
    assert!(
        world
            .refused("GET", &path, Value::Null)
            .await
            .starts_with("404 notFound: The specified bucket")
    );
    assert!(world.mock.list().iter().all(|object| object.seeded));
}

#[tokio::test]
async fn content_comes_in_parts() {
    let world = World::new().await;
    bucket(&world, "files", json!({})).await;
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let begin = format!(
        "{}/upload/storage/v1/b/files/o?uploadType=resumable&name=a%2Fb&ifGenerationMatch=0",
        world.server.url()
    );
    let started = || {
        client
            .post(&begin)
            .header("x-upload-content-type", "text/x")
            .json(&json!({"metadata": {"k": "v"}}))
            .send()
    };
    let answer = started().await.unwrap();
    let session = answer.headers()["location"].to_str().unwrap().to_owned();
    // as Go's client sends parts
    let part = |range: &str, text: &'static str| {
        client
            .post(&session)
            .header("content-range", range)
            .header("x-guploader-no-308", "yes")
            .body(text)
            .send()
    };
    let answer = part("bytes 0-4/*", "hello").await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["x-http-status-code-override"], "308");
    assert_eq!(answer.headers()["range"], "bytes=0-4");
    assert_eq!(part("bytes 9-9/*", "x").await.unwrap().status(), 400);
    // and as others do
    let asked = client.put(&session).header("content-range", "bytes */*");
    assert_eq!(asked.send().await.unwrap().status(), 308);
    let answer = part("bytes 5-10/11", " world").await.unwrap();
    assert_eq!(answer.status(), 200);
    let made: Value = answer.json().await.unwrap();
    assert_eq!(made["name"], "a/b");
    assert_eq!(made["contentType"], "text/x");
    assert_eq!(made["metadata"], json!({"k": "v"}));
    assert_eq!(part("bytes */11", "").await.unwrap().status(), 404);
    assert_eq!(started().await.unwrap().status(), 412, "it is there by now");
    // the older interface reads it
    let url = format!("{}/files/a/b", world.server.url());
    let answer = client.get(url).send().await.unwrap();
    assert!(answer.headers().contains_key("x-goog-generation"));
    assert_eq!(answer.text().await.unwrap(), "hello world");
    assert!(
        world
            .mock
            .list()
            .iter()
            .all(|o| o.collection != "storage.uploads")
    );
}

#[tokio::test]
async fn objects_keep_their_content() {
    let world = World::new().await;
    bucket(&world, "files", json!({})).await;
    let text = "NodeName=n[0-3]\n\nEnd";
    let made = upload(&world, "files", "slurm/slurm.conf", text).await;
    assert_eq!(made["contentType"], "text/plain");
    assert_eq!(made["size"], text.len().to_string());
    assert_eq!(made["metadata"], json!({"k": "v"}));
    let path = format!("{BUCKETS}/files/o/slurm%2Fslurm.conf");
    let got = world.get(&path).await;
    assert_eq!(got["md5Hash"], made["md5Hash"]);
    assert_eq!(
        got["selfLink"],
        "https://www.googleapis.com/storage/v1/b/files/o/slurm%2Fslurm.conf"
    );
    assert_eq!(
        world.get(&format!("{path}?alt=media")).await,
        Value::String(text.into())
    );
    let client = reqwest::Client::new();
    let media = format!(
        "{}upload/storage/v1/b/files/o?uploadType=media&name=plain&ifGenerationMatch=0",
        world.server.endpoint("storage")
    );
    for status in [200, 412] {
        let response = client
            .post(&media)
            .header("content-type", "text/x")
            .body("hello")
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), status);
    }
    let again = upload(&world, "files", "slurm/slurm.conf", "new").await;
    assert_ne!(again["generation"], made["generation"]);
    let list = world.get(&format!("{BUCKETS}/files/o?delimiter=/")).await;
    assert_eq!(
        (&list["items"][0]["name"], &list["prefixes"]),
        (&json!("plain"), &json!(["slurm/"]))
    );
    let list = world.get(&format!("{BUCKETS}/files/o?prefix=slurm/")).await;
    assert_eq!(list["items"][0]["name"], "slurm/slurm.conf");
    let (_, changed) = world
        .call(
            "PATCH",
            &path,
            json!({"metadata": {"k": null, "l": "m"}, "size": "1"}),
        )
        .await;
    assert_eq!(
        (
            &changed["metadata"],
            &changed["metageneration"],
            &changed["size"]
        ),
        (&json!({"l": "m"}), &json!("2"), &json!("3"))
    );
    assert!(
        world
            .refused("GET", &format!("{BUCKETS}/files/o/none"), Value::Null)
            .await
            .starts_with("404 notFound: No such object: files/none")
    );
}

#[tokio::test]
async fn policies_have_etags() {
    let world = World::with(json!({"eventual": {"service_account_ms": 3000}})).await;
    bucket(&world, "files", json!({})).await;
    let accounts = "/iam/v1/projects/formwork-mock/serviceAccounts";
    let account = world
        .post(
            accounts,
            json!({"accountId": "slurm-node", "serviceAccount": {"displayName": "Slurm"}}),
        )
        .await;
    let email = "slurm-node@formwork-mock.iam.gserviceaccount.com";
    assert_eq!(account["email"], email);
    assert_eq!(account["uniqueId"].as_str().unwrap().len(), 21);
    assert!(
        world
            .refused("POST", accounts, json!({"accountId": "slurm-node"}))
            .await
            .starts_with("409")
    );
    assert!(
        world
            .refused("POST", accounts, json!({"accountId": "x"}))
            .await
            .starts_with("400")
    );
    // it takes a while to be seen everywhere
    assert!(
        world
            .refused("GET", &format!("{accounts}/{email}"), Value::Null)
            .await
            .starts_with("404")
    );
    let path = format!("{BUCKETS}/files/iam");
    let policy = world.get(&path).await;
    let binding = json!({"role": "roles/storage.objectViewer", "members": [format!("serviceAccount:{email}")]});
    let mut next = policy.clone();
    next["bindings"]
        .as_array_mut()
        .unwrap()
        .push(binding.clone());
    let early = world.refused("PUT", &path, next.clone()).await;
    assert!(early.contains("does not exist"), "{early}");
    world.pass(4000);
    world.get(&format!("{accounts}/{email}")).await;
    let (status, set) = world.call("PUT", &path, next.clone()).await;
    assert_eq!(status, 200, "{set}");
    assert!(world.refused("PUT", &path, next).await.starts_with("412"));
    assert_eq!(
        world.get(&path).await["bindings"].as_array().unwrap().len(),
        3
    );

    let project = "/cloudresourcemanager/v1/projects/formwork-mock";
    let policy = world
        .post(&format!("{project}:getIamPolicy"), json!({}))
        .await;
    let next = json!({"policy": {"etag": policy["etag"], "bindings": [binding.clone(), binding]}});
    let set = world
        .post(&format!("{project}:setIamPolicy"), next.clone())
        .await;
    assert_eq!(set["bindings"].as_array().unwrap().len(), 1);
    assert!(
        world
            .refused("POST", &format!("{project}:setIamPolicy"), next)
            .await
            .starts_with("409 ABORTED")
    );
    assert_eq!(
        world
            .get("/cloudresourcemanager/v1/projects/415104041262")
            .await["projectId"],
        "formwork-mock"
    );
    assert_eq!(
        world
            .get("/cloudresourcemanager/v3/projects/formwork-mock")
            .await["name"],
        "projects/415104041262"
    );
    assert!(
        world
            .refused(
                "GET",
                "/cloudresourcemanager/v1/projects/other",
                Value::Null
            )
            .await
            .starts_with("403")
    );

    let patch = json!({"serviceAccount": {"displayName": "New"}, "updateMask": "display_name"});
    world
        .call("PATCH", &format!("{accounts}/{email}"), patch)
        .await;
    assert_eq!(
        world.get(&format!("{accounts}/{email}")).await["displayName"],
        "New"
    );
    let (status, body) = world
        .call("DELETE", &format!("{accounts}/{email}"), Value::Null)
        .await;
    assert_eq!((status, body), (200, json!({})));
}

#[tokio::test]
async fn a_share_takes_its_time() {
    let world = World::with(json!({"operations": {"latency_ms": [1000, 1000]}})).await;
    let networks = format!("{PROJECT}/global/networks");
    world.post(&networks, json!({"name": "n"})).await;
    world.pass(2000);
    let instances = "/file/v1/projects/formwork-mock/locations/us-central1-b/instances";
    let body = |tier: &str, size: i64, network: &str| {
        json!({"tier": tier, "fileShares": [{"name": "home", "capacityGb": size.to_string()}],
               "networks": [{"network": network, "connectMode": "DIRECT_PEERING"}]})
    };
    for (body, expected) in [
        (body("BASIC_SSD", 1024, "n"), "at least 2560"),
        (body("GOLD", 1024, "n"), "GOLD"),
        (body("BASIC_SSD", 2560, "m"), "does not exist"),
    ] {
        let refusal = world
            .refused("POST", &format!("{instances}?instanceId=home"), body)
            .await;
        assert!(
            refusal.starts_with("400") && refusal.contains(expected),
            "{refusal}"
        );
    }
    let operation = world
        .post(
            &format!("{instances}?instanceId=home"),
            body(
                "BASIC_SSD",
                2560,
                "projects/formwork-mock/global/networks/n",
            ),
        )
        .await;
    assert_eq!(operation["done"], false);
    let name = operation["name"].as_str().unwrap();
    assert_eq!(
        world.get(&format!("{instances}/home")).await["state"],
        "CREATING"
    );
    assert!(
        world
            .refused(
                "POST",
                &format!("{instances}?instanceId=home"),
                body("BASIC_SSD", 2560, "n")
            )
            .await
            .starts_with("409")
    );
    world.pass(2000);
    let done = world.get(&format!("/file/v1/{name}")).await;
    assert_eq!(done["response"]["state"], "READY");
    assert_eq!(done["metadata"]["verb"], "create");
    let share = world.get(&format!("{instances}/home")).await;
    assert_eq!(share["networks"][0]["network"], "n");
    assert_eq!(share["networks"][0]["ipAddresses"], json!(["172.20.0.2"]));
    // the share keeps its network
    let (_, operation) = world
        .call("DELETE", &format!("{networks}/n"), Value::Null)
        .await;
    world.pass(2000);
    assert_eq!(
        world.ends(&operation).await,
        "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE"
    );
    let grow = json!({"fileShares": [{"name": "home", "capacityGb": 3000}]});
    let (status, _) = world
        .call(
            "PATCH",
            &format!("{instances}/home?updateMask=file_shares"),
            grow,
        )
        .await;
    assert_eq!(status, 200);
    let shrink = json!({"fileShares": [{"name": "home", "capacityGb": 2560}]});
    world.pass(2000);
    assert!(
        world
            .refused(
                "PATCH",
                &format!("{instances}/home?updateMask=fileShares"),
                shrink
            )
            .await
            .contains("only grow")
    );
    let (_, operation) = world
        .call("DELETE", &format!("{instances}/home"), Value::Null)
        .await;
    world.pass(2000);
    let done = world
        .get(&format!("/file/v1/{}", operation["name"].as_str().unwrap()))
        .await;
    assert_eq!(
        done["response"]["@type"],
        "type.googleapis.com/google.protobuf.Empty"
    );
    assert!(
        world
            .refused("GET", &format!("{instances}/home"), Value::Null)
            .await
            .starts_with("404 NOT_FOUND")
    );
}
