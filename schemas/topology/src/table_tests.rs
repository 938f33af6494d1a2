//! The table over all machine types, lookups, and overlays.

use super::*;
use crate::{CapacityMode, CapacityProblem, FabricKind, InterfaceRole, Offer};

/// Name, vCPUs, GiB, accelerators, interfaces, fabric, regular VPCs / RDMA VPCs x subnetworks, MTU
/// regular/RDMA, standard spot flex-start reservation-bound reservation-required, local SSD GiB.
/// A question mark is a fact that nobody confirmed.
const ALL: &str = "\
a4x-maxgpu-4g-metal 144 960 4 2IDPF+8MRDMA rocev2-metal 1/1x1 8896/8896 nnnyy 12000
a4x-highgpu-4g 140 884 4 2GVNIC+4MRDMA rocev2-vm 2/1x4 8896/8896 nnnyy 12000
a4-highgpu-8g 224 3968 8 2GVNIC+8MRDMA rocev2-vm 2/1x8 8896/8896 nyyyn 12000
a3-ultragpu-8g 224 2952 8 2GVNIC+8MRDMA rocev2-vm 2/1x8 8896/8896 nyyyn 12000
a3-megagpu-8g 208 1872 8 1GVNIC+8GVNIC gpudirect-tcpxo 9/0x0 8244/? ?yyyn 6000
a3-highgpu-1g 26 234 1 1? standard 1/0x0 ?/? nyy?n 750
a3-highgpu-2g 52 468 2 1? standard 1/0x0 ?/? nyy?n 1500
a3-highgpu-4g 104 936 4 1? standard 1/0x0 ?/? nyy?n 3000
a3-highgpu-8g 208 1872 8 1GVNIC+4GVNIC gpudirect-tcpx 5/0x0 8244/? ?yyyn 6000
a3-edgegpu-8g 208 1872 8 1GVNIC+4GVNIC gpudirect-tcpx 5/0x0 ?/? ????? 6000
a2-ultragpu-1g 12 170 1 1GVNIC standard 1/0x0 ?/? ????? 375
a2-ultragpu-2g 24 340 2 1GVNIC standard 1/0x0 ?/? ????? 750
a2-ultragpu-4g 48 680 4 1GVNIC standard 1/0x0 ?/? ????? 1500
a2-ultragpu-8g 96 1360 8 1GVNIC standard 1/0x0 ?/? ????? 3000
a2-highgpu-1g 12 85 1 1GVNIC standard 1/0x0 ?/? y???? ?
a2-highgpu-2g 24 170 2 1GVNIC standard 1/0x0 ?/? ????? ?
a2-highgpu-4g 48 340 4 1GVNIC standard 1/0x0 ?/? ????? ?
a2-highgpu-8g 96 680 8 1GVNIC standard 1/0x0 ?/? ????? ?
a2-megagpu-16g 96 1360 16 1GVNIC standard 1/0x0 ?/? ????? ?
g4-standard-6 6 22 0.125 ? standard ?/0x0 ?/? ????? ?
g4-standard-12 12 45 0.25 ? standard ?/0x0 ?/? ????? ?
g4-standard-24 24 90 0.5 ? standard ?/0x0 ?/? ????? ?
g4-standard-48 48 180 1 ? standard ?/0x0 ?/? yyy?n ?
g4-standard-96 96 360 2 ? standard ?/0x0 ?/? ????? ?
g4-standard-192 192 720 4 ? standard ?/0x0 ?/? ????? ?
g4-standard-384 384 1440 8 ? standard ?/0x0 ?/? ????? ?
g2-standard-4 4 16 1 1GVNIC standard 1/0x0 ?/? y???? ?
g2-standard-8 8 32 1 1GVNIC standard 1/0x0 ?/? ????? ?
g2-standard-12 12 48 1 1GVNIC standard 1/0x0 ?/? ????? ?
g2-standard-16 16 64 1 1GVNIC standard 1/0x0 ?/? ????? ?
g2-standard-24 24 96 2 1GVNIC standard 1/0x0 ?/? ????? ?
g2-standard-32 32 128 1 1GVNIC standard 1/0x0 ?/? ????? ?
g2-standard-48 48 192 4 1GVNIC standard 1/0x0 ?/? ????? ?
g2-standard-96 96 384 8 1GVNIC standard 1/0x0 ?/? ????? ?
n1-* ? ? ? 1GVNIC standard 1/0x0 ?/? ????? ?
h4d-standard-192 192 720 0 1GVNIC+1IRDMA falcon 1/1x1 8896/8896 yyy?n 0
h4d-highmem-192 192 1488 0 1GVNIC+1IRDMA falcon 1/1x1 8896/8896 yyy?n 0
h4d-highmem-192-lssd 192 1488 0 1GVNIC+1IRDMA falcon 1/1x1 8896/8896 yyy?n ?
tpu7x-standard-4t 224 960 4 2GVNIC tpu-ici 2/0x0 8896/? yyy?n 0
tpu7x-standard-1t 56 248 1 ? ? ?/?x? ?/? ????? ?
tpu7x-ultranet-4t 224 992 4 ? ? ?/?x? ?/? ????? ?
tpu7-standard-1t 56 240 1 ? ? ?/?x? ?/? ????? ?
tpu7-standard-4t 224 960 4 ? ? ?/?x? ?/? ????? ?
ct6e-standard-1t 44 176 1 1GVNIC tpu-ici 1/0x0 ?/? yyy?n 0
ct6e-standard-4t 180 720 4 2GVNIC tpu-ici 2/0x0 8896/? yyy?n 0
ct6e-standard-8t 360 1440 8 1GVNIC tpu-ici 1/0x0 ?/? yyy?n 0
ct5p-hightpu-4t 208 448 4 1GVNIC tpu-ici 1/0x0 ?/? yyy?n 0
ct5lp-hightpu-1t 24 48 1 1GVNIC standard 1/0x0 ?/? ????? ?
ct5l-hightpu-1t 24 48 1 1GVNIC standard 1/0x0 ?/? ????? ?
ct5lp-hightpu-4t 112 192 4 1GVNIC tpu-ici 1/0x0 ?/? ????? ?
ct5l-hightpu-4t 112 192 4 1GVNIC standard 1/0x0 ?/? ????? ?
ct5lp-hightpu-8t 224 384 8 1GVNIC standard 1/0x0 ?/? ????? ?
ct5l-hightpu-8t 224 384 8 1GVNIC standard 1/0x0 ?/? ????? ?
ct4p-hightpu-4t 240 407 4 1GVNIC tpu-ici 1/0x0 ?/? ????? ?
ct4l-hightpu-4t 48 340 4 1GVNIC tpu-ici 1/0x0 ?/? ????? ?
ct3-hightpu-4t 96 340 4 1GVNIC standard 1/0x0 ?/? ????? ?
ct3p-hightpu-4t 48 340 4 1GVNIC standard 1/0x0 ?/? ????? ?
";

fn shown<T: std::fmt::Display>(fact: Option<T>) -> String {
    fact.map_or("?".to_owned(), |f| f.to_string())
}

fn row(m: &MachineType) -> String {
    let nics = m.interfaces.as_ref().map(|groups| {
        let texts: Vec<String> = groups
            .iter()
            .map(|g| format!("{}{}", g.count, g.nic_type.map_or("?", |t| t.word())))
            .collect();
        texts.join("+")
    });
    let n = &m.network;
    let regular = n.host_networks.map(|h| h + n.gpu_networks.unwrap_or(0));
    let c = &m.capacity;
    let capacity: String = [
        c.standard,
        c.spot,
        c.flex_start,
        c.reservation_bound,
        c.reservation_required,
    ]
    .map(|f| f.map_or('?', |f| if f { 'y' } else { 'n' }))
    .into_iter()
    .collect();
    format!(
        "{} {} {} {} {} {} {}/{}x{} {}/{} {capacity} {}",
        m.name,
        shown(m.vcpus),
        shown(m.memory_gib),
        shown(m.accelerator.count),
        shown(nics),
        n.fabric.map_or("?", FabricKind::word),
        shown(regular),
        shown(n.rdma_networks),
        shown(n.rdma_subnetworks),
        shown(n.host_mtu),
        shown(n.rdma_mtu),
        shown(m.local_ssd.total_gib),
    )
}

#[test]
fn every_machine_type_is_as_the_facts_say() {
    let table = Topology::builtin();
    let rows: Vec<String> = table.machine_types().map(row).collect();
    let mut expected: Vec<&str> = ALL.lines().collect();
    expected.sort_unstable();
    let mut got: Vec<&str> = rows.iter().map(String::as_str).collect();
    got.sort_unstable();
    assert_eq!(got, expected);
    assert_eq!(got.len(), 57);
}

#[test]
fn every_fabric_is_whole() {
    let table = Topology::builtin();
    for m in table.machine_types() {
        let fabric = table.fabric(&m.name, "us-east4-b").expect("known");
        assert_eq!(fabric.region, "us-east4");
        let Some(interfaces) = fabric.interfaces() else {
            assert_eq!(fabric.rails(), None, "{}", m.name);
            continue;
        };
        for (i, interface) in interfaces.iter().enumerate() {
            assert_eq!(interface.index as usize, i, "{}", m.name);
        }
        let rails: Vec<u32> = interfaces
            .iter()
            .filter(|i| i.role == InterfaceRole::Rdma)
            .map(|i| i.ordinal)
            .collect();
        assert_eq!(Some(rails.len() as u32), fabric.rails(), "{}", m.name);
        // Rails come last and in order: NIC k+h belongs to rail k.
        assert!(
            rails.iter().enumerate().all(|(k, r)| k as u32 == *r),
            "{}",
            m.name
        );
        assert_eq!(interfaces[0].role, InterfaceRole::Host, "{}", m.name);
        let n = &m.network;
        if m.network.fabric == Some(FabricKind::RoceVm) {
            assert_eq!(n.rdma_subnetworks, fabric.rails(), "{}", m.name);
            assert_eq!(n.rdma_subnetworks_predefined, Some(false));
            assert_eq!(n.host_networks, m.interface_count(InterfaceRole::Host));
        }
        assert_eq!(
            fabric.profile().is_some(),
            n.rdma_networks == Some(1),
            "{}",
            m.name
        );
        assert_eq!(n.rdma_mtu.is_some(), n.rdma_networks == Some(1));
        assert!(!m.sources.is_empty() && m.sources.iter().all(|s| s.len() > 3));
    }
}

#[test]
fn profiles_by_zone() {
    let table = Topology::builtin();
    let f = table
        .fabric("a4-highgpu-8g", "europe-west1-b")
        .expect("known");
    assert_eq!(f.profile().as_deref(), Some("europe-west1-b-vpc-roce"));
    assert_eq!(
        f.profile_url("p").as_deref(),
        Some("projects/p/global/networkProfiles/europe-west1-b-vpc-roce")
    );
    let f = table
        .fabric("h4d-standard-192", "us-central1-a")
        .expect("known");
    assert_eq!(f.profile().as_deref(), Some("us-central1-a-vpc-falcon"));
    let f = table
        .fabric("g2-standard-4", "us-central1-a")
        .expect("known");
    assert_eq!(f.profile_url("p"), None);
}

#[test]
fn lookups_are_total() {
    let table = Topology::builtin();
    assert_eq!(
        table.machine("n1-standard-8").map(|m| &*m.name),
        Some("n1-*")
    );
    assert!(table.machine("n1-").is_none());
    let twin = table.machine("a4-highgpu-8g-nolssd").expect("a twin");
    assert_eq!(twin.variant_of.as_deref(), Some("a4-highgpu-8g"));
    assert_eq!(twin.local_ssd.total_gib, Some(0));
    assert_eq!(twin.vcpus, Some(224));
    assert_eq!(table.nearest("a4-higgpu-8g")[0], "a4-highgpu-8g");
    assert!(table.nearest("zzz").is_empty());
    assert_eq!(
        table.fabric("a4-highgpu-8", "us-central1-a"),
        Err(FabricError::UnknownMachine {
            nearest: table.nearest("a4-highgpu-8")
        })
    );
    assert_eq!(
        table.fabric("a4-highgpu-8g", "us-central1"),
        Err(FabricError::NotAZone)
    );
}

#[test]
fn zones_and_regions() {
    for (zone, region) in [
        ("us-central1-a", Some("us-central1")),
        ("northamerica-northeast2-b", Some("northamerica-northeast2")),
        ("us-south1-ai1b", Some("us-south1")),
        ("us-central1", None),
        ("us-central1-", None),
        ("US-central1-a", None),
        ("a-b-c", None),
        ("", None),
        ("1", None),
    ] {
        assert_eq!(region_of(zone), region, "{zone}");
    }
}

#[test]
fn capacity_by_mode() {
    use CapacityMode::*;
    let table = Topology::builtin();
    let check = |name: &str, mode, problem| {
        let m = table.machine(name).expect("known");
        assert_eq!(m.capacity_problem(mode), problem, "{name} {mode:?}");
    };
    check(
        "a4x-highgpu-4g",
        Spot,
        Some(CapacityProblem::ReservationRequired),
    );
    check("a4x-highgpu-4g", Reservation, None);
    check(
        "a4-highgpu-8g",
        Standard,
        Some(CapacityProblem::ModeRefused(Standard)),
    );
    check("a4-highgpu-8g", FlexStart, None);
    check("a3-highgpu-1g", Reservation, None);
    check("a2-ultragpu-8g", Standard, None);
    let a2 = table.machine("a2-ultragpu-8g").expect("known");
    assert_eq!(a2.offers(Standard), Offer::Unconfirmed);
    assert!(a2.offered_modes().is_empty());
    let a4 = table.machine("a4-highgpu-8g").expect("known");
    assert_eq!(a4.offered_modes(), [Spot, FlexStart, Reservation]);
    for (model, named, mode) in [
        ("STANDARD", false, Some(Standard)),
        ("STANDARD", true, Some(Reservation)),
        ("RESERVATION_BOUND", false, Some(Reservation)),
        ("SPOT", true, Some(Spot)),
        ("FLEX_START", false, Some(FlexStart)),
        ("SOMETHING", false, None),
    ] {
        assert_eq!(CapacityMode::of_provisioning_model(model, named), mode);
    }
}

fn overlaid(text: &str) -> Checked<Topology> {
    Topology::builtin().overlay(text, "facts.json")
}

#[test]
fn an_overlay_changes_and_adds() {
    let (table, diagnostics) = overlaid(
        r#"{"format": 1, "machines": {
            "a4-highgpu-8g": {"cpu": {"sockets": 2}, "network": {"host_mtu": null}},
            "a4-highgpu-8g-nolssd": {"memory_gib": 3000},
            "a5-highgpu-8g": {"like": "a4-highgpu-8g", "family": "A5", "vcpus": 256}
        }}"#,
    );
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let a4 = table.machine("a4-highgpu-8g").expect("known");
    assert_eq!((a4.cpu.sockets, a4.vcpus), (Some(2), Some(224)));
    assert_eq!(
        (a4.network.host_mtu, a4.network.rdma_mtu),
        (None, Some(8896))
    );
    let twin = table.machine("a4-highgpu-8g-nolssd").expect("known");
    assert_eq!(
        (twin.memory_gib, twin.local_ssd.disks),
        (Some(3000), Some(0))
    );
    let a5 = table
        .fabric("a5-highgpu-8g", "us-central1-a")
        .expect("known");
    assert_eq!((a5.machine.vcpus, a5.rails()), (Some(256), Some(8)));
    assert_eq!(table.nearest("a5-highgpu-8")[0], "a5-highgpu-8g");
    // The builtin table is untouched.
    assert!(Topology::builtin().machine("a5-highgpu-8g").is_none());
}

#[test]
fn a_bad_overlay_says_where() {
    let check = |text: &str, wanted: &str| {
        let (table, diagnostics) = overlaid(text);
        assert_eq!(table.machine_types().count(), 57, "{text}");
        let said: Vec<String> = diagnostics
            .iter()
            .map(|d| format!("{} {}", d.detail, d.hints.join(" ")))
            .collect();
        assert!(
            said.iter().any(|s| s.contains(wanted)),
            "{wanted:?} is not in {said:#?}"
        );
        assert!(diagnostics.has_errors());
        assert!(said.iter().all(|s| s.starts_with("facts.json ")));
    };
    check("{", "line 1, column 1");
    check("[]", "must be a JSON object");
    check("{}", "does not say which");
    check(r#"{"format": 2}"#, "says 2");
    check(r#"{"format": 1, "machine": {}}"#, "no member \"machine\"");
    check(
        r#"{"format": 1, "machines": {"x": {}}}"#,
        "machines.x.kind must be",
    );
    check(
        r#"{"format": 1, "machines": {"x": 1}}"#,
        "machines.x must be an object",
    );
    check(
        r#"{"format": 1, "machines": {"x": {"like": "a4-highgpu-9g"}}}"#,
        "Did you mean \"a4-highgpu-8g\"?",
    );
    check(
        r#"{"format": 1, "machines": {"a4-highgpu-8g": {"vcpu": 1}}}"#,
        "Did you mean \"vcpus\"?",
    );
    check(
        r#"{"format": 1, "machines": {"a4-highgpu-8g": {"network": {"host_mtu": "8896"}}}}"#,
        "machines.a4-highgpu-8g.network.host_mtu must be a whole number",
    );
    check(
        r#"{"format": 1, "machines": {"a4-highgpu-8g": {"network": {"fabric": "roce"}}}}"#,
        "one of \"rocev2-vm\"",
    );
    check(
        r#"{"format": 1, "machines": {"a4-highgpu-8g": {"interfaces": [{"count": 2}]}}}"#,
        "machines.a4-highgpu-8g.interfaces[0].role must be",
    );
}

#[test]
fn unknown_machines_are_warned_about() {
    let d = Topology::builtin().unknown_machine("a4-higgpu-8g");
    assert!(
        !d.is_error() && d.hints[0].contains("a4-highgpu-8g"),
        "{d:?}"
    );
}
