//! One life per type.

use serde_json::json;

use crate::mock_tests::lab::{Lab, with};

#[tokio::test]
async fn networks() {
    let lab = Lab::new().await;
    let kind = "google_compute_network";
    let state = lab
        .life(
            kind,
            json!({"name": "n", "auto_create_subnetworks": false}),
            &[
                json!({"name": "n", "auto_create_subnetworks": false, "mtu": 8896}),
                json!({"name": "n", "auto_create_subnetworks": false, "mtu": 8896, "routing_mode": "GLOBAL"}),
            ],
        )
        .await;
    let paths = lab
        .replaces(
            kind,
            json!({"name": "n", "auto_create_subnetworks": false, "mtu": 8896, "description": "x"}),
            &state,
        )
        .await;
    assert_eq!(paths.len(), 1, "{paths:?}");
    lab.delete(kind, &state).await;
    // An RDMA network, its profile in a spelling of another host.
    let profile = "https://www.googleapis.com/compute/beta/projects/formwork-mock/global/networkProfiles/us-central1-b-vpc-roce";
    let config = json!({"name": "r", "auto_create_subnetworks": false, "mtu": 8896, "network_profile": profile});
    let state = lab.life(kind, config, &[]).await;
    lab.delete(kind, &state).await;
}

#[tokio::test]
async fn subnetworks() {
    let lab = Lab::new().await;
    let network = lab
        .put(
            "google_compute_network",
            json!({"name": "n", "auto_create_subnetworks": false}),
            None,
        )
        .await;
    let id = network
        .attribute("id")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    let kind = "google_compute_subnetwork";
    let config = |more: serde_json::Value| {
        with(
            json!({"name": "s", "network": id, "ip_cidr_range": "10.0.0.0/24", "region": "us-central1"}),
            &more,
        )
    };
    let state = lab
        .life(
            kind,
            config(json!({})),
            &[
                config(json!({"private_ip_google_access": true})),
                config(json!({"private_ip_google_access": true, "ip_cidr_range": "10.0.0.0/20"})),
                config(json!({"private_ip_google_access": true, "ip_cidr_range": "10.0.0.0/20",
                    "secondary_ip_range": [{"range_name": "pods", "ip_cidr_range": "10.8.0.0/16"}]})),
                config(json!({"private_ip_google_access": true, "ip_cidr_range": "10.0.0.0/20",
                    "secondary_ip_range": [{"range_name": "pods", "ip_cidr_range": "10.8.0.0/16"}],
                    "log_config": [{"flow_sampling": 0.25}]})),
            ],
        )
        .await;
    let paths = lab
        .replaces(
            kind,
            config(json!({"ip_cidr_range": "10.0.0.0/24"})),
            &state,
        )
        .await;
    assert_eq!(paths.len(), 1, "{paths:?}");
    lab.delete(kind, &state).await;
    lab.delete("google_compute_network", &network).await;
}

pub(crate) async fn network(lab: &Lab) -> (formwork_values::Value, String) {
    let network = lab
        .put(
            "google_compute_network",
            json!({"name": "n", "auto_create_subnetworks": false}),
            None,
        )
        .await;
    let id = network
        .attribute("id")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    (network, id)
}

async fn subnetwork(lab: &Lab, network: &str) -> String {
    let state = lab
        .put(
            "google_compute_subnetwork",
            json!({"name": "s", "network": network, "ip_cidr_range": "10.0.0.0/20", "region": "us-central1"}),
            None,
        )
        .await;
    state
        .attribute("self_link")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn firewalls() {
    let lab = Lab::new().await;
    let (_, id) = network(&lab).await;
    let kind = "google_compute_firewall";
    let config = |more: serde_json::Value| {
        with(
            json!({"name": "f", "network": id, "allow": [{"protocol": "TCP", "ports": ["22", "80-90"]}, {"protocol": "icmp"}]}),
            &more,
        )
    };
    // No source at all means everywhere; the state stays as configured.
    let state = lab
        .life(
            kind,
            config(json!({})),
            &[
                config(json!({"source_ranges": ["10.0.0.0/8", "192.168.0.0/16"]})),
                config(json!({"source_ranges": ["10.0.0.0/8"], "description": "d", "priority": 900})),
                config(json!({"source_ranges": ["10.0.0.0/8"], "log_config": [{"metadata": "INCLUDE_ALL_METADATA"}], "disabled": true})),
                config(json!({"source_ranges": ["10.0.0.0/8"]})),
            ],
        )
        .await;
    assert_eq!(
        lab.replaces(kind, config(json!({"direction": "EGRESS"})), &state)
            .await
            .len(),
        1
    );
    lab.delete(kind, &state).await;
}

#[tokio::test]
async fn routers_nats_routes_and_addresses() {
    let lab = Lab::new().await;
    let (_, id) = network(&lab).await;
    let kind = "google_compute_router";
    let router = lab
        .life(
            kind,
            json!({"name": "r", "network": id}),
            &[json!({"name": "r", "network": id, "bgp": [{"asn": 64514}]})],
        )
        .await;
    let address = "google_compute_address";
    let ip = lab
        .life(
            address,
            json!({"name": "a", "labels": {"x": "1"}}),
            &[json!({"name": "a", "labels": {"y": "2"}})],
        )
        .await;
    let link = ip
        .attribute("self_link")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    let kind = "google_compute_router_nat";
    let config = |more: serde_json::Value| {
        with(
            json!({"name": "nat", "router": "r", "region": "us-central1", "nat_ip_allocate_option": "AUTO_ONLY",
            "source_subnetwork_ip_ranges_to_nat": "ALL_SUBNETWORKS_ALL_IP_RANGES"}),
            &more,
        )
    };
    let other = lab.put(kind, config(json!({"name": "other"})), None).await;
    let nat = lab
        .life(
            kind,
            config(json!({})),
            &[
                config(json!({"min_ports_per_vm": 128, "log_config": [{"enable": true, "filter": "ERRORS_ONLY"}]})),
                config(json!({"nat_ip_allocate_option": "MANUAL_ONLY", "nat_ips": [link]})),
            ],
        )
        .await;
    lab.delete(kind, &nat).await;
    lab.quiet(kind, config(json!({"name": "other"})), &other)
        .await;
    lab.delete(kind, &other).await;
    lab.delete(address, &ip).await;
    lab.delete("google_compute_router", &router).await;
    let kind = "google_compute_global_address";
    let state = lab
        .life(
            kind,
            json!({"name": "g", "purpose": "VPC_PEERING", "address_type": "INTERNAL", "prefix_length": 16, "network": id}),
            &[],
        )
        .await;
    lab.delete(kind, &state).await;
    let kind = "google_compute_route";
    let state = lab
        .life(
            kind,
            json!({"name": "rt", "network": "n", "dest_range": "10.99.0.0/16", "next_hop_gateway": "default-internet-gateway", "priority": 100, "tags": ["a", "b"]}),
            &[],
        )
        .await;
    lab.delete(kind, &state).await;
}

#[tokio::test]
async fn disks_policies_and_reservations() {
    let lab = Lab::new().await;
    let kind = "google_compute_disk";
    let config = |more: serde_json::Value| {
        with(
            json!({"name": "d", "zone": "us-central1-b", "size": 20, "type": "pd-balanced", "labels": {"a": "1"}}),
            &more,
        )
    };
    let state = lab
        .life(
            kind,
            config(json!({})),
            &[
                config(json!({"size": 40})),
                config(json!({"size": 40, "labels": {"a": "2", "b": "3"}})),
                config(json!({"size": 40, "labels": null})),
            ],
        )
        .await;
    assert_eq!(
        lab.replaces(kind, config(json!({"size": 10})), &state)
            .await
            .len(),
        1
    );
    assert_eq!(
        lab.replaces(kind, config(json!({"size": 40, "type": "pd-ssd"})), &state)
            .await
            .len(),
        1
    );
    lab.delete(kind, &state).await;
    let kind = "google_compute_resource_policy";
    let state = lab
        .life(
            kind,
            json!({"name": "p", "region": "us-central1", "group_placement_policy": [{"vm_count": 2, "collocation": "COLLOCATED"}]}),
            &[],
        )
        .await;
    lab.delete(kind, &state).await;
    let kind = "google_compute_reservation";
    let config = |count: u32| {
        json!({"name": "r", "zone": "us-central1-b", "specific_reservation_required": true,
            "specific_reservation": [{"count": count, "instance_properties": [{"machine_type": "n2-standard-2"}]}]})
    };
    let state = lab.life(kind, config(2), &[config(3)]).await;
    lab.delete(kind, &state).await;
}

#[tokio::test]
async fn instances() {
    let lab = Lab::new().await;
    let (_, id) = network(&lab).await;
    let subnetwork = subnetwork(&lab, &id).await;
    let kind = "google_compute_instance";
    let config = |more: serde_json::Value| {
        with(
            json!({"name": "vm", "zone": "us-central1-b", "machine_type": "n2-standard-2",
            "boot_disk": [{"initialize_params": [{"image": "debian-cloud/debian-12", "size": 20, "type": "pd-balanced"}]}],
            "network_interface": [{"subnetwork": subnetwork, "nic_type": "GVNIC"}],
            "metadata": {"a": "1"}, "labels": {"l": "1"}, "tags": ["t"]}),
            &more,
        )
    };
    let state = lab
        .life(
            kind,
            config(json!({})),
            &[
                config(json!({"labels": {"l": "2"}})),
                config(json!({"metadata": {"b": "2"}, "tags": ["t", "u"]})),
                config(json!({"deletion_protection": true})),
                config(json!({})),
                config(json!({"allow_stopping_for_update": true, "machine_type": "n2-standard-4"})),
            ],
        )
        .await;
    // Without leave to stop it, the change is refused while planning.
    let change =
        crate::mock_tests::lab::configured(kind, config(json!({"machine_type": "n2-standard-8"})));
    let plan = lab.plan(kind, &change, Some(&state)).await;
    assert_eq!(plan.reported.len(), 1);
    assert_eq!(lab.replaces(kind, config(json!({"allow_stopping_for_update": true, "machine_type": "n2-standard-4", "metadata_startup_script": "x"})), &state).await.len(), 1);
    lab.delete(kind, &state).await;
    let scripted = config(
        json!({"name": "s", "metadata_startup_script": "#!/bin/sh", "service_account": [{"scopes": ["cloud-platform", "storage-ro"]}],
        "scheduling": [{"on_host_maintenance": "TERMINATE", "automatic_restart": true}]}),
    );
    let state = lab.life(kind, scripted, &[]).await;
    lab.delete(kind, &state).await;
}

#[tokio::test]
async fn instance_templates() {
    let lab = Lab::new().await;
    let (_, id) = network(&lab).await;
    let subnetwork = subnetwork(&lab, &id).await;
    let kind = "google_compute_instance_template";
    let config = |more: serde_json::Value| {
        with(
            json!({"name_prefix": "t-", "machine_type": "n2-standard-2",
            "disk": [{"source_image": "debian-cloud/debian-12", "disk_size_gb": 20}],
            "network_interface": [{"subnetwork": subnetwork}], "metadata": {"a": "1"}, "labels": {"l": "1"}}),
            &more,
        )
    };
    let state = lab.life(kind, config(json!({})), &[]).await;
    let name = state.attribute("name").unwrap().as_str().unwrap();
    assert!(name.starts_with("t-") && name.len() > 10, "{name}");
    assert!(
        !lab.replaces(
            kind,
            config(json!({"machine_type": "n2-standard-4"})),
            &state
        )
        .await
        .is_empty()
    );
    lab.delete(kind, &state).await;
}
