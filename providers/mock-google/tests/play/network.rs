//! Networks, subnetworks, firewalls, routers, addresses; operations, lists, request ids.

use serde_json::{Value, json};

use crate::world::{PROJECT, World};

const NETWORKS: &str = "projects/formwork-mock/global/networks";
const SUBNETWORKS: &str = "projects/formwork-mock/regions/us-central1/subnetworks";

#[tokio::test]
async fn a_network_is_made_and_filled_in() {
    let world = World::new().await;
    let operation = world
        .post(
            NETWORKS,
            json!({"name": "n", "autoCreateSubnetworks": false}),
        )
        .await;
    assert_eq!(operation["status"], "RUNNING");
    assert_eq!(operation["kind"], "compute#operation");
    assert!(operation["id"].as_str().unwrap().parse::<u64>().is_ok());
    assert_eq!(
        operation["targetLink"],
        "https://www.googleapis.com/compute/v1/projects/formwork-mock/global/networks/n"
    );
    assert_eq!(world.ends(&operation).await, "done");
    let network = world.get(&format!("{NETWORKS}/n")).await;
    assert_eq!(network["kind"], "compute#network");
    assert_eq!(
        network["networkFirewallPolicyEnforcementOrder"],
        "AFTER_CLASSIC_FIREWALL"
    );
    assert_eq!(
        network["routingConfig"],
        json!({"routingMode": "REGIONAL", "bgpBestPathSelectionMode": "LEGACY"})
    );
    assert_eq!(network.get("mtu"), None);
    // the project's number leads to the same object
    let same = world.get("projects/415104041262/global/networks/n").await;
    assert_eq!(same, network);
}

#[tokio::test]
async fn bad_networks_are_refused() {
    let world = World::new().await;
    world.network("n").await;
    for (body, expected) in [
        (
            json!({"name": "N"}),
            "400 invalid: Invalid value for field 'resource.name': 'N'.",
        ),
        (
            json!({"name": "n"}),
            "409 alreadyExists: The resource 'projects/formwork-mock/global/networks/n' already exists",
        ),
        (
            json!({"name": "m", "mtu": 1000}),
            "400 invalid: Invalid value for field 'resource.mtu': '1000'.",
        ),
        (
            json!({"name": "m", "mtu": 9000}),
            "400 invalid: Invalid value for field 'resource.mtu': '9000'.",
        ),
        (
            json!({"name": "m", "colour": "red"}),
            "400 invalid: Invalid JSON payload received. Unknown name \"colour\"",
        ),
        (
            json!({"mtu": 1460}),
            "400 required: Required field 'resource.name' not specified",
        ),
        (
            json!({"name": "m", "networkProfile": "global/networkProfiles/us-central1-f-vpc-roce"}),
            "400 invalid: Invalid value for field 'resource.networkProfile'",
        ),
    ] {
        let refusal = world.refused("POST", NETWORKS, body).await;
        assert!(refusal.starts_with(expected), "{refusal}");
    }
    assert!(
        world
            .refused("GET", &format!("{NETWORKS}/m"), Value::Null)
            .await
            .starts_with("404 notFound")
    );
    assert!(
        world
            .refused("GET", "projects/other/global/networks/m", Value::Null)
            .await
            .starts_with("404")
    );
    let (status, body) = world
        .call(
            "POST",
            &format!("{PROJECT}/zones/us-central1-a/instanceGroupManagers"),
            json!({"name": "m", "targetSize": 1}),
        )
        .await;
    assert_eq!(
        (status, &body["error"]["errors"][0]["reason"]),
        (501, &json!("notImplemented"))
    );
    assert!(
        world
            .mock
            .log()
            .iter()
            .filter(|line| line.committed)
            .count()
            == 1
    );
}

#[tokio::test]
async fn a_network_changes_where_it_may() {
    let world = World::new().await;
    world.network("n").await;
    let path = format!("{NETWORKS}/n");
    let (status, operation) = world
        .call("PATCH", &path, json!({"mtu": 1460, "fingerprint": null}))
        .await;
    assert_eq!(status, 200, "{operation}");
    world.ends(&operation).await;
    assert_eq!(world.get(&path).await["mtu"], 1460);
    let refusal = world
        .refused("PATCH", &path, json!({"autoCreateSubnetworks": true}))
        .await;
    assert!(refusal.contains("cannot be changed"), "{refusal}");
}

#[tokio::test]
async fn ranges_do_not_overlap() {
    let world = World::new().await;
    world.network("n").await;
    world.network("other").await;
    world.subnetwork("s", "n", "10.0.0.0/20").await;
    world.subnetwork("s2", "n", "10.0.16.0/20").await;
    let body = |name: &str, network: &str, range: &str| json!({"name": name, "network": network, "ipCidrRange": range});
    for (body, expected) in [
        (
            body("x", "n", "10.0.8.0/24"),
            "conflicts with existing subnetwork 's' (10.0.0.0/20) in region 'us-central1'",
        ),
        (
            body("x", "n", "10.0.0.0/8"),
            "conflicts with existing subnetwork 's'",
        ),
        (body("x", "n", "10.1.0.1/24"), "bits beyond the length"),
        (body("x", "n", "10.1.0.0/30"), "between 4 and 29"),
        (
            body("x", "m", "10.1.0.0/24"),
            "The referenced resource cannot be found",
        ),
        (
            json!({"name": "x", "network": "n", "ipCidrRange": "10.1.0.0/24",
                   "secondaryIpRanges": [{"rangeName": "r", "ipCidrRange": "10.0.17.0/24"}]}),
            "resource.secondaryIpRanges[0].ipCidrRange",
        ),
    ] {
        let refusal = world.refused("POST", SUBNETWORKS, body).await;
        assert!(
            refusal.starts_with("400 invalid") && refusal.contains(expected),
            "{refusal}"
        );
    }
    // another network is another matter
    world.subnetwork("x", "other", "10.0.0.0/20").await;
    let subnetwork = world.get(&format!("{SUBNETWORKS}/s")).await;
    assert_eq!(subnetwork["gatewayAddress"], "10.0.0.1");
    assert_eq!(subnetwork["purpose"], "PRIVATE");
    assert_eq!(subnetwork["stackType"], "IPV4_ONLY");
    assert_eq!(
        world.get(&format!("{NETWORKS}/n")).await["subnetworks"],
        json!([
            "https://www.googleapis.com/compute/v1/projects/formwork-mock/regions/us-central1/subnetworks/s",
            "https://www.googleapis.com/compute/v1/projects/formwork-mock/regions/us-central1/subnetworks/s2"
        ])
    );
}

#[tokio::test]
async fn stale_fingerprints_are_refused() {
    let world = World::new().await;
    world.network("n").await;
    world.subnetwork("s", "n", "10.0.0.0/24").await;
    let path = format!("{SUBNETWORKS}/s");
    let before = world.get(&path).await["fingerprint"].clone();
    let patch =
        |fingerprint: &Value| json!({"fingerprint": fingerprint, "privateIpGoogleAccess": true});
    assert!(
        world
            .refused("PATCH", &path, json!({"privateIpGoogleAccess": true}))
            .await
            .starts_with("400 required")
    );
    let (status, operation) = world.call("PATCH", &path, patch(&before)).await;
    assert_eq!(status, 200, "{operation}");
    world.ends(&operation).await;
    let after = world.get(&path).await;
    assert_eq!(after["privateIpGoogleAccess"], true);
    assert_ne!(after["fingerprint"], before);
    assert!(
        world
            .refused("PATCH", &path, patch(&before))
            .await
            .starts_with("412 conditionNotMet")
    );
    // a range only grows
    let grow = format!("{path}/expandIpCidrRange");
    assert!(
        world
            .refused("POST", &grow, json!({"ipCidrRange": "10.0.0.0/25"}))
            .await
            .contains("only grow")
    );
    let operation = world
        .post(&grow, json!({"ipCidrRange": "10.0.0.0/23"}))
        .await;
    world.ends(&operation).await;
    assert_eq!(world.get(&path).await["ipCidrRange"], "10.0.0.0/23");
}

#[tokio::test]
async fn what_is_in_use_stays() {
    let world = World::new().await;
    world.network("n").await;
    world.subnetwork("s", "n", "10.0.0.0/24").await;
    let (status, operation) = world
        .call("DELETE", &format!("{NETWORKS}/n"), Value::Null)
        .await;
    assert_eq!(status, 200);
    let link = operation["selfLink"]
        .as_str()
        .unwrap()
        .split_once("/v1/")
        .unwrap()
        .1
        .to_owned();
    let ended = world.get(&link).await;
    assert_eq!(
        ended["error"]["errors"][0]["code"],
        "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE"
    );
    assert_eq!(ended["httpErrorStatusCode"], 400);
    for path in [format!("{SUBNETWORKS}/s"), format!("{NETWORKS}/n")] {
        let (status, operation) = world.call("DELETE", &path, Value::Null).await;
        assert_eq!(status, 200, "{operation}");
        assert_eq!(world.ends(&operation).await, "done");
        assert!(
            world
                .refused("GET", &path, Value::Null)
                .await
                .starts_with("404")
        );
    }
    assert!(
        world.mock.list().iter().all(|object| object.seeded),
        "the default route went along"
    );
}

#[tokio::test]
async fn profiles_rule_their_networks() {
    let world = World::new().await;
    let profile = world
        .get(&format!(
            "{PROJECT}/global/networkProfiles/us-central1-b-vpc-roce"
        ))
        .await;
    assert_eq!(
        profile["features"]["allowVpcFirewallRules"],
        "VPC_FIREWALL_RULES_BLOCKED"
    );
    let body = |mtu: Value| {
        json!({"name": "rdma", "autoCreateSubnetworks": false, "mtu": mtu,
               "networkProfile": "https://www.googleapis.com/compute/beta/projects/formwork-mock/global/networkProfiles/us-central1-b-vpc-roce"})
    };
    assert!(
        world
            .refused("POST", NETWORKS, body(json!(1460)))
            .await
            .contains("an MTU of 8896")
    );
    world.make(NETWORKS, body(Value::Null)).await;
    let network = world.get(&format!("{NETWORKS}/rdma")).await;
    assert_eq!(network["mtu"], 8896);
    assert_eq!(
        network["networkProfile"],
        "https://www.googleapis.com/compute/v1/projects/formwork-mock/global/networkProfiles/us-central1-b-vpc-roce"
    );
    for (path, body, what) in [
        (
            format!("{PROJECT}/global/firewalls"),
            json!({"name": "f", "network": "rdma", "allowed": [{"IPProtocol": "tcp"}]}),
            "VPC firewall rules",
        ),
        (
            format!("{PROJECT}/regions/us-central1/routers"),
            json!({"name": "r", "network": "rdma"}),
            "Cloud Routers",
        ),
        (
            format!("{PROJECT}/regions/us-east1/subnetworks"),
            json!({"name": "s", "network": "rdma", "ipCidrRange": "10.0.0.0/24"}),
            "zone us-central1-b",
        ),
        (
            SUBNETWORKS.to_owned(),
            json!({"name": "s", "network": "rdma", "ipCidrRange": "10.0.0.0/24", "privateIpGoogleAccess": true}),
            "Private Google Access",
        ),
    ] {
        let refusal = world.refused("POST", &path, body).await;
        assert!(
            refusal.starts_with("400 invalid") && refusal.contains(what),
            "{refusal}"
        );
    }
    for rail in 0..8 {
        world
            .subnetwork(
                &format!("rail-{rail}"),
                "rdma",
                &format!("192.168.{rail}.0/24"),
            )
            .await;
    }
}

#[tokio::test]
async fn firewalls_routers_and_addresses_live() {
    let world = World::new().await;
    world.network("n").await;
    world.subnetwork("s", "n", "10.0.0.0/24").await;
    world
        .make(
            &format!("{PROJECT}/global/firewalls"),
            json!({"name": "f", "network": "global/networks/n", "sourceRanges": ["10.0.0.0/8"],
                   "allowed": [{"IPProtocol": "TCP", "ports": ["22"]}]}),
        )
        .await;
    let path = format!("{PROJECT}/global/firewalls/f");
    let firewall = world.get(&path).await;
    assert_eq!(firewall["direction"], "INGRESS");
    assert_eq!(firewall["priority"], 1000);
    assert_eq!(firewall["logConfig"], json!({"enable": false}));
    assert_eq!(firewall["allowed"][0]["IPProtocol"], "tcp");
    let (_, operation) = world
        .call("PATCH", &path, json!({"sourceRanges": ["10.1.0.0/16"]}))
        .await;
    world.ends(&operation).await;
    assert_eq!(
        world.get(&path).await["sourceRanges"],
        json!(["10.1.0.0/16"])
    );

    let routers = format!("{PROJECT}/regions/us-central1/routers");
    world
        .make(&routers, json!({"name": "r", "network": "n"}))
        .await;
    let nat = json!({"name": "nat", "natIpAllocateOption": "AUTO_ONLY",
                     "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"});
    let (_, operation) = world
        .call("PATCH", &format!("{routers}/r"), json!({"nats": [nat]}))
        .await;
    world.ends(&operation).await;
    assert_eq!(
        world.get(&format!("{routers}/r")).await["nats"][0]["type"],
        "PUBLIC"
    );

    let addresses = format!("{PROJECT}/regions/us-central1/addresses");
    world.make(&addresses, json!({"name": "out"})).await;
    assert_eq!(
        world.get(&format!("{addresses}/out")).await["status"],
        "RESERVED"
    );
    world
        .make(
            &addresses,
            json!({"name": "in", "addressType": "INTERNAL", "subnetwork": "s"}),
        )
        .await;
    assert_eq!(
        world.get(&format!("{addresses}/in")).await["address"],
        "10.0.0.2"
    );
    let taken =
        json!({"name": "in2", "addressType": "INTERNAL", "subnetwork": "s", "address": "10.0.0.2"});
    assert!(
        world
            .refused("POST", &addresses, taken)
            .await
            .contains("in-use")
    );
    let refusal = world
        .refused("DELETE", &format!("{SUBNETWORKS}/s"), Value::Null)
        .await;
    assert!(
        refusal.starts_with("400 resourceInUseByAnotherResource"),
        "{refusal}"
    );
}

#[tokio::test]
async fn lists_have_pages_filters_and_scopes() {
    let world = World::new().await;
    for name in ["a", "b", "c"] {
        world.network(name).await;
    }
    let page = world.get(&format!("{NETWORKS}?maxResults=2")).await;
    let names = |page: &Value| -> Vec<String> {
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|i| i["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&page), ["a", "b"]);
    let token = page["nextPageToken"].as_str().unwrap();
    let rest = world
        .get(&format!("{NETWORKS}?maxResults=2&pageToken={token}"))
        .await;
    assert_eq!(names(&rest), ["c"]);
    assert_eq!(rest.get("nextPageToken"), None);
    assert_eq!(
        names(
            &world
                .get(&format!("{NETWORKS}?filter=name%20%3D%20b"))
                .await
        ),
        ["b"]
    );
    assert_eq!(
        names(
            &world
                .get(&format!("{NETWORKS}?filter=name+eq+%5Bac%5D"))
                .await
        ),
        ["a", "c"]
    );
    assert!(
        world
            .refused("GET", &format!("{NETWORKS}?filter=name"), Value::Null)
            .await
            .starts_with("400")
    );
    assert!(
        world
            .refused("GET", &format!("{NETWORKS}?colour=red"), Value::Null)
            .await
            .starts_with("400")
    );
    world.subnetwork("s", "a", "10.0.0.0/24").await;
    let all = world
        .get(&format!(
            "{PROJECT}/aggregated/subnetworks?returnPartialSuccess=true"
        ))
        .await;
    assert_eq!(
        all["items"]["regions/us-central1"]["subnetworks"][0]["name"],
        "s"
    );
    assert_eq!(
        all["items"]["regions/us-east1"]["warning"]["code"],
        "NO_RESULTS_ON_PAGE"
    );
    let zones = world
        .get(&format!(
            "{PROJECT}/zones?filter=region%20eq%20.*us-central1"
        ))
        .await;
    assert_eq!(
        names(&zones),
        [
            "us-central1-a",
            "us-central1-b",
            "us-central1-c",
            "us-central1-f"
        ]
    );
}

#[tokio::test]
async fn a_request_id_is_taken_once() {
    let world = World::with(json!({"operations": {"latency_ms": [500, 500]}})).await;
    let path = format!("{NETWORKS}?requestId=6b1f0f2e-8d5c-4a58-9d0b-111122223333");
    let first = world.post(&path, json!({"name": "n"})).await;
    assert_eq!(
        first["clientOperationId"],
        "6b1f0f2e-8d5c-4a58-9d0b-111122223333"
    );
    let second = world.post(&path, json!({"name": "n"})).await;
    assert_eq!(second["name"], first["name"]);
    let commits = world
        .mock
        .log()
        .iter()
        .filter(|line| line.committed)
        .count();
    assert_eq!(commits, 1);
    let zero = format!("{NETWORKS}?requestId=00000000-0000-0000-0000-000000000000");
    assert!(
        world
            .refused("POST", &zero, json!({"name": "m"}))
            .await
            .starts_with("400")
    );
}

#[tokio::test]
async fn operations_take_their_time() {
    let world =
        World::with(json!({"operations": {"latency_ms": [1000, 1000], "pending_ms": 300}})).await;
    let operation = world.post(NETWORKS, json!({"name": "n"})).await;
    assert_eq!(operation["status"], "PENDING");
    let path = format!(
        "{PROJECT}/global/operations/{}",
        operation["name"].as_str().unwrap()
    );
    world.pass(400);
    assert_eq!(world.get(&path).await["status"], "RUNNING");
    let early = world
        .refused(
            "POST",
            SUBNETWORKS,
            json!({"name": "s", "network": "n", "ipCidrRange": "10.0.0.0/24"}),
        )
        .await;
    assert!(early.starts_with("400 resourceNotReady"), "{early}");
    world.pass(700);
    let done = world.get(&path).await;
    assert_eq!(
        (&done["status"], &done["progress"]),
        (&json!("DONE"), &json!(100))
    );
    assert!(
        world
            .refused(
                "GET",
                &format!("{PROJECT}/global/operations/none"),
                Value::Null
            )
            .await
            .starts_with("404")
    );
}

#[tokio::test]
async fn wait_waits() {
    let world = World::real_time(json!({"operations": {"latency_ms": [150, 150]}})).await;
    let operation = world.post(NETWORKS, json!({"name": "n"})).await;
    let path = format!(
        "{PROJECT}/global/operations/{}/wait",
        operation["name"].as_str().unwrap()
    );
    assert_eq!(world.post(&path, Value::Null).await["status"], "DONE");

    let world =
        World::with(json!({"operations": {"latency_ms": [150, 150], "wait_early": 1.0}})).await;
    let operation = world.post(NETWORKS, json!({"name": "n"})).await;
    let path = format!(
        "{PROJECT}/global/operations/{}/wait",
        operation["name"].as_str().unwrap()
    );
    assert_eq!(world.post(&path, Value::Null).await["status"], "RUNNING");
}
