//! Instances, disks, templates, reservations, capacity.

use serde_json::{Value, json};

use crate::world::{PROJECT, World};

const ZONE: &str = "projects/formwork-mock/zones/us-central1-b";

/// A network for everyday and one with rails.
async fn fabric(world: &World, profile: &str, rails: usize) {
    for name in ["host-0", "host-1"] {
        world.network(name).await;
        let at = if name == "host-0" { 0 } else { 1 };
        world
            .subnetwork(name, name, &format!("10.{at}.0.0/16"))
            .await;
    }
    world
        .make(
            &format!("{PROJECT}/global/networks"),
            json!({"name": "rdma", "autoCreateSubnetworks": false, "networkProfile": format!("global/networkProfiles/{profile}")}),
        )
        .await;
    for rail in 0..rails {
        world
            .subnetwork(
                &format!("rail-{rail}"),
                "rdma",
                &format!("192.168.{rail}.0/24"),
            )
            .await;
    }
}

fn node(name: &str, machine: &str, rails: usize, reservation: &str) -> Value {
    let mut nics = vec![
        json!({"subnetwork": "regions/us-central1/subnetworks/host-0", "nicType": "GVNIC"}),
        json!({"subnetwork": "regions/us-central1/subnetworks/host-1", "nicType": "GVNIC"}),
    ];
    nics.extend((0..rails).map(|rail| {
        json!({"subnetwork": format!("regions/us-central1/subnetworks/rail-{rail}"), "nicType": "MRDMA"})
    }));
    json!({
        "name": name, "machineType": machine, "networkInterfaces": nics,
        "disks": [{"boot": true, "autoDelete": true, "initializeParams": {
            "sourceImage": "projects/ubuntu-os-accelerator-images/global/images/family/ubuntu-accelerator-2404-amd64-with-nvidia-570",
            "diskType": format!("{ZONE}/diskTypes/hyperdisk-balanced"), "diskSizeGb": 100}}],
        "scheduling": {"provisioningModel": "RESERVATION_BOUND", "onHostMaintenance": "TERMINATE"},
        "reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION",
            "key": "compute.googleapis.com/reservation-name", "values": [reservation]},
        "metadata": {"items": [{"key": "startup-script", "value": "true"}]},
        "labels": {"role": "node"}, "tags": {"items": ["slurm"]}
    })
}

#[tokio::test]
async fn a_node_of_a_cluster_stands() {
    let world = World::new().await;
    fabric(&world, "us-central1-b-vpc-roce", 8).await;
    let instances = format!("{ZONE}/instances");
    world
        .make(&instances, node("n0", "a4-highgpu-8g", 8, "a4-reservation"))
        .await;
    let n0 = world.get(&format!("{instances}/n0")).await;
    let kinds: Vec<&str> = n0["networkInterfaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n["nicType"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[..2], ["GVNIC"; 2]);
    assert_eq!(kinds[2..], ["MRDMA"; 8]);
    assert_eq!(n0["networkInterfaces"][9]["name"], "nic9");
    assert_eq!(n0["networkInterfaces"][9]["networkIP"], "192.168.7.2");
    assert!(
        n0["networkInterfaces"][2]["network"]
            .as_str()
            .unwrap()
            .ends_with("/global/networks/rdma")
    );
    assert_eq!(n0["status"], "RUNNING");
    assert_eq!(n0["cpuPlatform"], "Intel Emerald Rapids");
    assert_eq!(n0["guestAccelerators"][0]["acceleratorCount"], 8);
    assert_eq!(
        n0["machineType"],
        format!("https://www.googleapis.com/compute/v1/{ZONE}/machineTypes/a4-highgpu-8g")
    );
    assert_eq!(n0["disks"].as_array().unwrap().len(), 33);
    assert_eq!(n0["disks"][1]["type"], "SCRATCH");
    assert_eq!(n0["disks"][0].get("initializeParams"), None);
    assert_eq!(
        n0["resourceStatus"]["physicalHostTopology"]["block"],
        "a4-reservation-block-0001"
    );
    for token in ["fingerprint", "labelFingerprint"] {
        assert!(n0[token].is_string(), "{token}");
    }
    assert!(n0["metadata"]["fingerprint"].is_string() && n0["tags"]["fingerprint"].is_string());
    let disk = world.get(&format!("{ZONE}/disks/n0")).await;
    assert_eq!(disk["status"], "READY");
    assert_eq!(disk["users"], json!([n0["selfLink"]]));
    assert_eq!(disk["sizeGb"], "100");
    let listed = world
        .mock
        .list()
        .into_iter()
        .find(|o| o.self_link == disk["selfLink"])
        .unwrap();
    assert_eq!(listed.owner.as_deref(), n0["selfLink"].as_str());
    let reservation = world
        .get(&format!("{ZONE}/reservations/a4-reservation"))
        .await;
    assert_eq!(reservation["specificReservation"]["inUseCount"], "1");
    let block = world
        .get(&format!(
            "{ZONE}/reservations/a4-reservation/reservationBlocks/a4-reservation-block-0001"
        ))
        .await;
    assert_eq!(block["inUseCount"], 1);

    let refusal = world
        .refused(
            "DELETE",
            &format!("{PROJECT}/regions/us-central1/subnetworks/rail-3"),
            Value::Null,
        )
        .await;
    assert!(
        refusal.starts_with("400 resourceInUseByAnotherResource"),
        "{refusal}"
    );
    let refusal = world
        .refused("DELETE", &format!("{ZONE}/disks/n0"), Value::Null)
        .await;
    assert!(
        refusal.starts_with("400 resourceInUseByAnotherResource"),
        "{refusal}"
    );
    let (_, operation) = world
        .call("DELETE", &format!("{instances}/n0"), Value::Null)
        .await;
    assert_eq!(world.ends(&operation).await, "done");
    for path in ["instances/n0", "disks/n0"] {
        assert!(
            world
                .refused("GET", &format!("{ZONE}/{path}"), Value::Null)
                .await
                .starts_with("404")
        );
    }
    let reservation = world
        .get(&format!("{ZONE}/reservations/a4-reservation"))
        .await;
    assert_eq!(reservation["specificReservation"]["inUseCount"], "0");
}

#[tokio::test]
async fn bad_nodes_are_refused() {
    let world = World::new().await;
    fabric(&world, "us-central1-b-vpc-roce", 8).await;
    let instances = format!("{ZONE}/instances");
    let good = || node("n", "a4-highgpu-8g", 8, "a4-reservation");
    let with = |change: &dyn Fn(&mut Value)| {
        let mut body = good();
        change(&mut body);
        body
    };
    let cases = [
        (
            with(&|b| b["scheduling"]["provisioningModel"] = "STANDARD".into()),
            "can be had by RESERVATION_BOUND, SPOT, FLEX_START only",
        ),
        (
            with(&|b| {
                b["reservationAffinity"] = json!({"consumeReservationType": "NO_RESERVATION"})
            }),
            "names it",
        ),
        (
            with(&|b| b["scheduling"]["onHostMaintenance"] = "MIGRATE".into()),
            "do not migrate",
        ),
        (
            with(&|b| b["reservationAffinity"]["values"] = json!(["nothing"])),
            "does not exist in zone us-central1-b",
        ),
        (
            with(&|b| b["reservationAffinity"]["values"] = json!(["a3u-reservation"])),
            "The reservation is of a3-ultragpu-8g",
        ),
        (
            with(&|b| {
                b["reservationAffinity"]["values"] = json!(["a4-reservation/reservationBlocks/x"])
            }),
            "reservation block does not exist",
        ),
        (
            with(&|b| b["networkInterfaces"][2]["nicType"] = "GVNIC".into()),
            "2 interfaces of type GVNIC at most",
        ),
        (
            with(&|b| b["networkInterfaces"][1]["nicType"] = "MRDMA".into()),
            "RDMA",
        ),
        (
            with(&|b| b["networkInterfaces"][3] = b["networkInterfaces"][2].clone()),
            "different subnetworks",
        ),
        (
            with(&|b| b["networkInterfaces"][1]["subnetwork"] = "host-0".into()),
            "different networks",
        ),
        (
            with(&|b| b["networkInterfaces"][2]["accessConfigs"] = json!([{}])),
            "does not allow external addresses",
        ),
        (
            with(&|b| b["networkInterfaces"] = json!([])),
            "At least one network interface",
        ),
        (
            with(&|b| b["machineType"] = "a4x-highgpu-4g".into()),
            "cannot be found",
        ),
        (
            with(&|b| b["disks"][0]["initializeParams"]["diskType"] = "pd-balanced".into()),
            "takes Hyperdisk only",
        ),
        (
            with(&|b| {
                b["disks"][0]["initializeParams"]["sourceImage"] =
                    "projects/debian-cloud/global/images/family/debian-12-arm64".into();
            }),
            "architecture (ARM64) is not compatible",
        ),
        (
            with(&|b| {
                b["disks"][0]["initializeParams"]["sourceImage"] =
                    "projects/debian-cloud/global/images/family/debian-99".into()
            }),
            "image resource cannot be found",
        ),
        (
            with(&|b| {
                b["disks"]
                    .as_array_mut()
                    .unwrap()
                    .push(json!({"type": "SCRATCH"}))
            }),
            "has 32 local SSDs",
        ),
        (
            with(&|b| b["labels"] = json!({"Role": "x"})),
            "A label's key",
        ),
        (
            with(&|b| b["disks"][0]["initializeParams"]["diskSizeGb"] = 5.into()),
            "at least as large as its source",
        ),
    ];
    for (body, expected) in cases {
        let refusal = world.refused("POST", &instances, body).await;
        assert!(
            refusal.starts_with("400") && refusal.contains(expected),
            "{expected}: {refusal}"
        );
    }
    assert!(
        !world
            .mock
            .list()
            .iter()
            .any(|object| object.collection == "compute.disks")
    );
}

#[tokio::test]
async fn capacity_ends() {
    let world = World::with(json!({
        "capacity": [{"zone": "us-central1-b", "machine_type": "n2-*", "machines": 1}],
        "quotas": [{"metric": "CPUS", "region": "us-central1", "limit": 12}]
    }))
    .await;
    world.network("n").await;
    world.subnetwork("s", "n", "10.0.0.0/24").await;
    let vm = |name: &str, machine: &str| {
        json!({"name": name, "machineType": machine, "networkInterfaces": [{"network": "n", "subnetwork": "s"}],
               "disks": [{"autoDelete": true, "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}}]})
    };
    let instances = format!("{ZONE}/instances");
    world.make(&instances, vm("a", "n2-standard-4")).await;
    let operation = world.post(&instances, vm("b", "n2-standard-4")).await;
    assert_eq!(world.ends(&operation).await, "ZONE_RESOURCE_POOL_EXHAUSTED");
    assert!(
        world
            .refused("GET", &format!("{instances}/b"), Value::Null)
            .await
            .starts_with("404")
    );
    assert!(
        world
            .refused("GET", &format!("{ZONE}/disks/b"), Value::Null)
            .await
            .starts_with("404")
    );
    assert!(
        world
            .refused("POST", &instances, vm("c", "e2-standard-16"))
            .await
            .starts_with("403 quotaExceeded")
    );
    world
        .make(
            &format!("{PROJECT}/zones/us-central1-a/instances"),
            vm("c", "n2-standard-2"),
        )
        .await;
    // a reservation has an end too
    let world = World::with(json!({"objects": [{
        "method": "compute.reservations.insert", "in": {"project": "formwork-mock", "zone": "us-central1-b"},
        "body": {"name": "one", "specificReservationRequired": true,
                 "specificReservation": {"count": 1, "instanceProperties": {"machineType": "a4-highgpu-8g"}}}}]}))
    .await;
    fabric(&world, "us-central1-b-vpc-roce", 8).await;
    world
        .make(
            &instances,
            node(
                "n0",
                "a4-highgpu-8g",
                8,
                "projects/formwork-mock/reservations/one",
            ),
        )
        .await;
    let operation = world
        .post(&instances, node("n1", "a4-highgpu-8g", 8, "one"))
        .await;
    assert_eq!(world.ends(&operation).await, "ZONE_RESOURCE_POOL_EXHAUSTED");
    let refusal = world
        .refused("DELETE", &format!("{ZONE}/reservations/one"), Value::Null)
        .await;
    assert!(
        refusal.starts_with("400 resourceInUseByAnotherResource"),
        "{refusal}"
    );
}

#[tokio::test]
async fn a_machine_changes() {
    let world = World::new().await;
    world.network("n").await;
    world.subnetwork("s", "n", "10.0.0.0/24").await;
    let addresses = format!("{PROJECT}/regions/us-central1/addresses");
    world.make(&addresses, json!({"name": "out"})).await;
    let external = world.get(&format!("{addresses}/out")).await["address"].clone();
    let instances = format!("{ZONE}/instances");
    world
        .make(
            &instances,
            json!({"name": "vm", "machineType": "zones/us-central1-b/machineTypes/n2-standard-4",
                   "networkInterfaces": [{"subnetwork": "s", "accessConfigs": [{"natIP": external}]}],
                   "disks": [{"autoDelete": true, "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}}]}),
        )
        .await;
    let path = format!("{instances}/vm");
    assert_eq!(
        world.get(&format!("{addresses}/out")).await["status"],
        "IN_USE"
    );
    let refusal = world
        .refused("DELETE", &format!("{addresses}/out"), Value::Null)
        .await;
    assert!(refusal.contains("instances/vm"), "{refusal}");
    let vm = world.get(&path).await;
    assert_eq!(
        vm["scheduling"],
        json!({"automaticRestart": true, "onHostMaintenance": "MIGRATE", "preemptible": false, "provisioningModel": "STANDARD"})
    );
    let act = async |verb: &str, body: Value| {
        let operation = world.post(&format!("{path}/{verb}"), body).await;
        assert_eq!(world.ends(&operation).await, "done", "{verb}");
        world.get(&path).await
    };
    assert!(
        world
            .refused(
                "POST",
                &format!("{path}/setLabels"),
                json!({"labels": {"a": "b"}, "labelFingerprint": "AAAA"})
            )
            .await
            .starts_with("412")
    );
    let vm = act(
        "setLabels",
        json!({"labels": {"a": "b"}, "labelFingerprint": vm["labelFingerprint"]}),
    )
    .await;
    assert_eq!(vm["labels"], json!({"a": "b"}));
    assert!(
        world
            .refused("POST", &format!("{path}/setMetadata"), json!({"items": []}))
            .await
            .starts_with("412")
    );
    let vm = act("setMetadata", json!({"items": [{"key": "k", "value": "v"}], "fingerprint": vm["metadata"]["fingerprint"]})).await;
    assert_eq!(vm["metadata"]["items"][0]["value"], "v");
    let vm = act(
        "setTags",
        json!({"items": ["web"], "fingerprint": vm["tags"]["fingerprint"]}),
    )
    .await;
    assert_eq!(vm["tags"]["items"], json!(["web"]));
    let refusal = world
        .refused(
            "POST",
            &format!("{path}/setMachineType"),
            json!({"machineType": "zones/us-central1-b/machineTypes/n2-standard-8"}),
        )
        .await;
    assert!(refusal.contains("must be stopped"), "{refusal}");
    assert_eq!(act("stop", Value::Null).await["status"], "TERMINATED");
    let vm = act(
        "setMachineType",
        json!({"machineType": "zones/us-central1-b/machineTypes/n2-standard-8"}),
    )
    .await;
    assert!(
        vm["machineType"]
            .as_str()
            .unwrap()
            .ends_with("n2-standard-8")
    );
    let vm = act(
        "setServiceAccount",
        json!({"email": "a@b.iam.gserviceaccount.com", "scopes": ["x"]}),
    )
    .await;
    assert_eq!(
        vm["serviceAccounts"][0]["email"],
        "a@b.iam.gserviceaccount.com"
    );
    assert_eq!(act("start", Value::Null).await["status"], "RUNNING");

    world
        .make(
            &format!("{ZONE}/disks"),
            json!({"name": "data", "sizeGb": "50", "type": "pd-ssd"}),
        )
        .await;
    let vm = act(
        "attachDisk",
        json!({"source": format!("{ZONE}/disks/data"), "deviceName": "data"}),
    )
    .await;
    assert_eq!(vm["disks"][1]["deviceName"], "data");
    let operation = world
        .post(&format!("{ZONE}/disks/data/resize"), json!({"sizeGb": 60}))
        .await;
    world.ends(&operation).await;
    assert_eq!(
        world.get(&format!("{ZONE}/disks/data")).await["sizeGb"],
        "60"
    );
    assert!(
        world
            .refused(
                "POST",
                &format!("{ZONE}/disks/data/resize"),
                json!({"sizeGb": 10})
            )
            .await
            .contains("only grow")
    );
    let vm = act("detachDisk?deviceName=data", Value::Null).await;
    assert_eq!(vm["disks"].as_array().unwrap().len(), 1);

    let vm = act(
        "deleteAccessConfig?accessConfig=External%20NAT&networkInterface=nic0",
        Value::Null,
    )
    .await;
    assert_eq!(vm["networkInterfaces"][0].get("accessConfigs"), None);
    let vm = act(
        "addAccessConfig?networkInterface=nic0",
        json!({"name": "out"}),
    )
    .await;
    assert!(vm["networkInterfaces"][0]["accessConfigs"][0]["natIP"].is_string());
    let update = format!("{path}/updateNetworkInterface?networkInterface=nic0");
    assert!(
        world
            .refused("PATCH", &update, json!({"aliasIpRanges": []}))
            .await
            .starts_with("400 required")
    );
    let fingerprint = vm["networkInterfaces"][0]["fingerprint"].clone();
    let (status, _) = world
        .call(
            "PATCH",
            &update,
            json!({"fingerprint": fingerprint, "queueCount": 2}),
        )
        .await;
    assert_eq!(status, 200);
    act("setDeletionProtection?deletionProtection=true", Value::Null).await;
    assert!(
        world
            .refused("DELETE", &path, Value::Null)
            .await
            .contains("protected against deletion")
    );
}

#[tokio::test]
async fn templates_policies_and_reservations_live() {
    let world = World::new().await;
    world.network("n").await;
    world.subnetwork("s", "n", "10.0.0.0/24").await;
    let templates = format!("{PROJECT}/global/instanceTemplates");
    world
        .make(
            &templates,
            json!({"name": "t", "properties": {"machineType": "n2-standard-2",
                "networkInterfaces": [{"subnetwork": "projects/formwork-mock/regions/us-central1/subnetworks/s"}],
                "disks": [{"boot": true, "autoDelete": true, "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}}]}}),
        )
        .await;
    let template = world.get(&format!("{templates}/t")).await;
    let by_id = world
        .get(&format!("{templates}/{}", template["id"].as_str().unwrap()))
        .await;
    assert_eq!(by_id, template);
    assert_eq!(
        template["properties"]["disks"][0]["deviceName"],
        "persistent-disk-0"
    );
    let instances = format!("{ZONE}/instances");
    world
        .make(
            &format!("{instances}?sourceInstanceTemplate=global/instanceTemplates/t"),
            json!({"name": "vm"}),
        )
        .await;
    assert!(
        world.get(&format!("{instances}/vm")).await["machineType"]
            .as_str()
            .unwrap()
            .ends_with("n2-standard-2")
    );

    let policies = format!("{PROJECT}/regions/us-central1/resourcePolicies");
    world
        .make(
            &policies,
            json!({"name": "compact", "groupPlacementPolicy": {"collocation": "COLLOCATED"}}),
        )
        .await;
    assert_eq!(
        world.get(&format!("{policies}/compact")).await["status"],
        "READY"
    );
    let operation = world
        .post(
            &format!("{instances}/vm/addResourcePolicies"),
            json!({"resourcePolicies": ["regions/us-central1/resourcePolicies/compact"]}),
        )
        .await;
    world.ends(&operation).await;
    assert!(
        world
            .refused("DELETE", &format!("{policies}/compact"), Value::Null)
            .await
            .starts_with("400 resourceInUse")
    );

    let reservations = format!("{ZONE}/reservations");
    world.make(&reservations, json!({"name": "r", "specificReservation": {"count": "2", "instanceProperties": {"machineType": "n2-standard-4"}}})).await;
    let reservation = world.get(&format!("{reservations}/r")).await;
    assert_eq!(reservation["status"], "READY");
    assert_eq!(reservation["shareSettings"], json!({"shareType": "LOCAL"}));
    let operation = world
        .post(
            &format!("{reservations}/r/resize"),
            json!({"specificSkuCount": 5}),
        )
        .await;
    world.ends(&operation).await;
    assert_eq!(
        world.get(&format!("{reservations}/r")).await["specificReservation"]["count"],
        "5"
    );
    let blocks = world
        .get(&format!("{reservations}/a4-reservation/reservationBlocks"))
        .await;
    assert_eq!(blocks["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn what_hangs_together_holds_together() {
    let world = World::with(json!({"operations": {"latency_ms": [1000, 1000]}})).await;
    let networks = format!("{PROJECT}/global/networks");
    world
        .post(
            &networks,
            json!({"name": "n", "autoCreateSubnetworks": false}),
        )
        .await;
    world.pass(2000);
    let subnetworks = format!("{PROJECT}/regions/us-central1/subnetworks");
    world
        .post(
            &subnetworks,
            json!({"name": "s", "network": "n", "ipCidrRange": "10.0.0.0/24"}),
        )
        .await;
    world.pass(2000);
    let instances = format!("{ZONE}/instances");
    let vm = |email: &str| {
        json!({"name": "vm", "machineType": format!("{ZONE}/machineTypes/e2-medium"),
               "networkInterfaces": [{"subnetwork": "s"}], "serviceAccounts": [{"email": email, "scopes": ["x"]}],
               "disks": [{"autoDelete": true, "initializeParams": {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}}]})
    };
    let refusal = world
        .refused(
            "POST",
            &instances,
            vm("x@formwork-mock.iam.gserviceaccount.com"),
        )
        .await;
    assert!(refusal.contains("does not exist"), "{refusal}");
    world.post(&instances, vm("default")).await;
    let path = format!("{instances}/vm");
    assert_eq!(world.get(&path).await["status"], "PROVISIONING");
    assert!(
        world
            .refused("POST", &format!("{path}/stop"), Value::Null)
            .await
            .starts_with("400 resourceNotReady")
    );
    world.pass(2000);
    assert_eq!(
        world.get(&path).await["serviceAccounts"][0]["email"],
        "415104041262-compute@developer.gserviceaccount.com"
    );
    let refusal = world
        .refused("PATCH", &format!("{networks}/n"), json!({"mtu": 8896}))
        .await;
    assert!(refusal.contains("while machines in it run"), "{refusal}");
    // whoever deletes twice waits for the same end
    let (_, first) = world.call("DELETE", &path, Value::Null).await;
    world.pass(500);
    assert_eq!(world.get(&path).await["status"], "STOPPING");
    let (status, second) = world.call("DELETE", &path, Value::Null).await;
    assert_eq!(status, 200);
    world.pass(600);
    assert_eq!(world.ends(&first).await, "done");
    world.pass(600);
    assert_eq!(world.ends(&second).await, "done");
    for path in [path, format!("{ZONE}/disks/vm")] {
        assert!(
            world
                .refused("GET", &path, Value::Null)
                .await
                .starts_with("404")
        );
    }
    let (_, patched) = world
        .call("PATCH", &format!("{networks}/n"), json!({"mtu": 8896}))
        .await;
    assert_eq!(patched["operationType"], "updateNetwork");
}
