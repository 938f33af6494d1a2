//! The main job in small: an A4 machine with its RDMA network, every NIC in place.

use serde_json::json;

use crate::mock_tests::lab::Lab;

#[tokio::test]
async fn an_a4_machine_with_ten_nics_from_a_reservation() {
    let lab = Lab::new().await;
    let mut subnetworks = Vec::new();
    for i in 0..2 {
        let network = lab
            .put("google_compute_network", json!({"name": format!("gvnic-{i}"), "auto_create_subnetworks": false, "mtu": 8896}), None)
            .await;
        let id = network
            .attribute("id")
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned();
        let config = json!({"name": format!("gvnic-{i}"), "network": id, "ip_cidr_range": format!("10.{i}.0.0/20")});
        subnetworks.push((
            lab.put("google_compute_subnetwork", config, None).await,
            "GVNIC",
        ));
    }
    let profile = "projects/formwork-mock/global/networkProfiles/us-central1-b-vpc-roce";
    let rdma = lab
        .put(
            "google_compute_network",
            json!({"name": "rdma", "auto_create_subnetworks": false, "mtu": 8896, "network_profile": profile}),
            None,
        )
        .await;
    let id = rdma.attribute("id").unwrap().as_str().unwrap().to_owned();
    for rail in 0..8 {
        let config = json!({"name": format!("rail-{rail}"), "network": id, "ip_cidr_range": format!("10.{}.0.0/18", 16 + rail)});
        subnetworks.push((
            lab.put("google_compute_subnetwork", config, None).await,
            "MRDMA",
        ));
    }
    let policy = lab
        .put(
            "google_compute_resource_policy",
            json!({"name": "compact", "workload_policy": [{"type": "HIGH_THROUGHPUT"}]}),
            None,
        )
        .await;
    let _ = policy;
    let nics: Vec<serde_json::Value> = subnetworks
        .iter()
        .map(|(s, kind)| json!({"subnetwork": s.attribute("self_link").unwrap().as_str().unwrap(), "nic_type": kind}))
        .collect();
    let config = json!({
        "name": "a4-0", "machine_type": "a4-highgpu-8g",
        "boot_disk": [{"initialize_params": [{"image": "rocky-linux-cloud/rocky-linux-9", "size": 100, "type": "hyperdisk-balanced"}]}],
        "network_interface": nics,
        "scheduling": [{"on_host_maintenance": "TERMINATE", "provisioning_model": "RESERVATION_BOUND", "instance_termination_action": "DELETE", "automatic_restart": false}],
        "reservation_affinity": [{"type": "SPECIFIC_RESERVATION",
            "specific_reservation": [{"key": "compute.googleapis.com/reservation-name", "values": ["a4-reservation"]}]}],
        "metadata": {"x": "y"}, "labels": {"role": "compute"}});
    let state = lab.life("google_compute_instance", config, &[]).await;
    let made = lab
        .mock
        .list()
        .into_iter()
        .find(|o| o.collection == "compute.instances")
        .unwrap()
        .object;
    let kinds: Vec<&str> = made["networkInterfaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n["nicType"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[..2], ["GVNIC", "GVNIC"]);
    assert!(kinds[2..].iter().all(|k| *k == "MRDMA") && kinds.len() == 10);
    assert_eq!(made["reservationAffinity"]["values"][0], "a4-reservation");
    assert_eq!(made["scheduling"]["provisioningModel"], "RESERVATION_BOUND");
    lab.delete("google_compute_instance", &state).await;
    let refused: Vec<String> = lab
        .mock
        .log()
        .into_iter()
        .filter(|l| l.refusal.is_some() && l.status != Some(404))
        .map(|l| format!("{:?} {:?}", l.id, l.refusal))
        .collect();
    assert!(refused.is_empty(), "{refused:?}");
}
