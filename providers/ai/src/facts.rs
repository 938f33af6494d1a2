//! From facts to values. One function per object, so that type and value cannot drift apart: the
//! type is that of the object without any facts.

use formwork_topology::{
    CapacityMode, Fabric, FabricKind, Interface, InterfaceRole, MachineKind, MachineType, NicType,
    Offer,
};
use formwork_values::{Number, Type, Value};

/// The answer of `machine`: all null but the name for a type that nobody knows.
pub(crate) fn machine_value(name: &str, machine: Option<&MachineType>) -> Value {
    let m = machine;
    Value::object([
        ("machine_type", Value::string(name)),
        ("known", Value::bool(m.is_some())),
        ("family", text(m.map(|m| &*m.family))),
        ("kind", text(m.map(|m| kind_word(m.kind)))),
        (
            "architecture",
            text(m.and_then(|m| m.architecture.as_deref())),
        ),
        (
            "cpu_platform",
            text(m.and_then(|m| m.cpu_platform.as_deref())),
        ),
        ("vcpus", number(m.and_then(|m| m.vcpus))),
        ("memory_gib", number(m.and_then(|m| m.memory_gib))),
        ("memory_mib", number(m.and_then(MachineType::memory_mib))),
        ("cpu", cpu(m)),
        ("accelerator", accelerator(m)),
        ("slurm", slurm(m)),
        ("local_ssd", local_ssd(m)),
        ("physical_nics", fraction(m.and_then(|m| m.physical_nics))),
        (
            "max_bandwidth_gbps",
            number(m.and_then(|m| m.max_bandwidth_gbps)),
        ),
        (
            "fabric",
            text(m.and_then(|m| m.network.fabric).map(FabricKind::word)),
        ),
        ("capacity", capacity(m)),
        ("capacity_modes", modes(m)),
        ("placement", placement(m)),
        (
            "boot_disk_types",
            texts(m.and_then(|m| m.boot_disk_types.as_deref())),
        ),
        ("gke", gke(m)),
        ("tpu", tpu(m)),
        ("notes", texts(m.map(|m| &*m.notes))),
        ("sources", texts(m.map(|m| &*m.sources))),
    ])
}

/// The type of what `machine` answers.
pub(crate) fn machine_type() -> Type {
    machine_value("", None).type_of()
}

/// The answer of `fabric`.
pub(crate) fn fabric_value(name: &str, fabric: Option<&Fabric<'_>>) -> Value {
    let m = fabric.map(|f| f.machine);
    let n = m.map(|m| &m.network);
    let interfaces = fabric.and_then(Fabric::interfaces);
    let profile = fabric.and_then(Fabric::profile);
    let count = |role| number(m.and_then(|m| m.interface_count(role)));
    let nic_type = |role| text(m.and_then(|m| m.nic_type(role)).map(NicType::word));
    let url = profile.as_ref().map(|p| {
        format!("https://www.googleapis.com/compute/v1/projects/%s/global/networkProfiles/{p}")
    });
    Value::object([
        ("machine_type", Value::string(name)),
        ("zone", text(fabric.map(|f| &*f.zone))),
        ("region", text(fabric.map(|f| &*f.region))),
        ("kind", text(n.and_then(|n| n.fabric).map(FabricKind::word))),
        (
            "title",
            text(n.and_then(|n| n.fabric).map(FabricKind::title)),
        ),
        ("interfaces", interface_list(interfaces.as_deref())),
        (
            "host",
            Value::object([
                ("networks", number(n.and_then(|n| n.host_networks))),
                ("subnetworks", number(n.and_then(|n| n.host_subnetworks))),
                ("interfaces", count(InterfaceRole::Host)),
                ("nic_type", nic_type(InterfaceRole::Host)),
                ("mtu", number(n.and_then(|n| n.host_mtu))),
            ]),
        ),
        (
            "gpu",
            Value::object([
                ("networks", number(n.and_then(|n| n.gpu_networks))),
                ("interfaces", count(InterfaceRole::Gpu)),
                ("nic_type", nic_type(InterfaceRole::Gpu)),
                ("mtu", number(n.and_then(|n| n.gpu_mtu))),
            ]),
        ),
        (
            "rdma",
            Value::object([
                ("networks", number(n.and_then(|n| n.rdma_networks))),
                ("subnetworks", number(n.and_then(|n| n.rdma_subnetworks))),
                (
                    "subnetworks_predefined",
                    flag(n.and_then(|n| n.rdma_subnetworks_predefined)),
                ),
                ("interfaces", count(InterfaceRole::Rdma)),
                ("nic_type", nic_type(InterfaceRole::Rdma)),
                ("mtu", number(n.and_then(|n| n.rdma_mtu))),
            ]),
        ),
        ("rails", number(fabric.and_then(Fabric::rails))),
        ("profile", text(profile.as_deref())),
        (
            "profile_path",
            text(fabric.and_then(Fabric::profile_path).as_deref()),
        ),
        ("profile_url_format", text(url.as_deref())),
    ])
}

/// The type of what `fabric` answers.
pub(crate) fn fabric_type() -> Type {
    fabric_value("", None).type_of()
}

fn cpu(m: Option<&MachineType>) -> Value {
    Value::object([
        ("sockets", number(m.and_then(|m| m.cpu.sockets))),
        (
            "cores_per_socket",
            number(m.and_then(|m| m.cpu.cores_per_socket)),
        ),
        (
            "threads_per_core",
            number(m.and_then(|m| m.cpu.threads_per_core)),
        ),
    ])
}

fn accelerator(m: Option<&MachineType>) -> Value {
    let a = m.map(|m| &m.accelerator);
    Value::object([
        ("type", text(a.and_then(|a| a.kind.as_deref()))),
        ("model", text(a.and_then(|a| a.model.as_deref()))),
        ("count", fraction(a.and_then(|a| a.count))),
        ("counts", numbers(a.and_then(|a| a.counts.as_deref()))),
        ("memory_gb_each", number(a.and_then(|a| a.memory_gb_each))),
    ])
}

/// Slurm's words for the GPUs: the type without the maker, and a whole count.
fn slurm(m: Option<&MachineType>) -> Value {
    let gpu = m.filter(|m| m.kind == MachineKind::Gpu);
    let kind = gpu
        .and_then(|m| m.accelerator.kind.as_deref())
        .map(|k| k.strip_prefix("nvidia-").unwrap_or(k));
    Value::object([
        ("gres_type", text(kind)),
        (
            "gres_count",
            number(gpu.and_then(|m| m.accelerator.whole_count())),
        ),
    ])
}

fn local_ssd(m: Option<&MachineType>) -> Value {
    let s = m.map(|m| &m.local_ssd);
    Value::object([
        ("included", flag(s.and_then(|s| s.included))),
        ("disks", number(s.and_then(|s| s.disks))),
        ("gib_per_disk", number(s.and_then(|s| s.gib_per_disk))),
        ("total_gib", number(s.and_then(|s| s.total_gib))),
        (
            "optional_disk_counts",
            numbers(s.and_then(|s| s.optional_disk_counts.as_deref())),
        ),
        ("max_total_gib", number(s.and_then(|s| s.max_total_gib))),
    ])
}

fn capacity(m: Option<&MachineType>) -> Value {
    let offer = |mode| {
        flag(m.and_then(|m| match m.offers(mode) {
            Offer::Offered => Some(true),
            Offer::Refused => Some(false),
            Offer::Unconfirmed => None,
        }))
    };
    Value::object([
        ("standard", offer(CapacityMode::Standard)),
        ("spot", offer(CapacityMode::Spot)),
        ("flex_start", offer(CapacityMode::FlexStart)),
        ("reservation", offer(CapacityMode::Reservation)),
        (
            "reservation_required",
            flag(m.and_then(|m| m.capacity.reservation_required)),
        ),
    ])
}

fn modes(m: Option<&MachineType>) -> Value {
    let words = m.map(|m| {
        m.offered_modes()
            .into_iter()
            .map(CapacityMode::word)
            .collect::<Vec<_>>()
    });
    texts(words.as_deref())
}

fn placement(m: Option<&MachineType>) -> Value {
    let p = m.map(|m| &m.placement);
    Value::object([
        ("compact", flag(p.and_then(|p| p.compact))),
        ("workload_policy", flag(p.and_then(|p| p.workload_policy))),
        ("from_reservation", flag(p.and_then(|p| p.from_reservation))),
        (
            "collocation",
            text(p.and_then(|p| p.group_collocation.as_deref())),
        ),
        (
            "gpu_topology",
            text(p.and_then(|p| p.group_gpu_topology.as_deref())),
        ),
        (
            "accelerator_topology",
            text(p.and_then(|p| p.accelerator_topology.as_deref())),
        ),
        ("gke_max_nodes", number(p.and_then(|p| p.gke_max_nodes))),
    ])
}

fn gke(m: Option<&MachineType>) -> Value {
    let g = m.map(|m| &m.gke);
    Value::object([
        (
            "accelerator_label",
            text(g.and_then(|g| g.accelerator_label.as_deref())),
        ),
        (
            "gpudirect_stack",
            text(g.and_then(|g| g.gpudirect_stack.as_deref())),
        ),
        (
            "min_extra_networks",
            number(g.and_then(|g| g.min_extra_networks)),
        ),
        ("dranet", flag(g.and_then(|g| g.dranet))),
    ])
}

fn tpu(m: Option<&MachineType>) -> Value {
    let t = m.and_then(|m| m.tpu.as_ref());
    Value::object([
        ("version", text(t.and_then(|t| t.version.as_deref()))),
        ("chips_per_vm", number(t.and_then(|t| t.chips_per_vm))),
        (
            "topology_dimensions",
            number(t.and_then(|t| t.topology_dimensions)),
        ),
        ("topologies", texts(t.and_then(|t| t.topologies.as_deref()))),
        ("max_chips", number(t.and_then(|t| t.max_chips))),
        ("numa_nodes", number(t.and_then(|t| t.numa_nodes))),
    ])
}

fn interface_list(interfaces: Option<&[Interface]>) -> Value {
    let one = |i: Option<&Interface>| {
        Value::object([
            ("index", number(i.map(|i| i.index))),
            (
                "nic_type",
                text(i.and_then(|i| i.nic_type).map(NicType::word)),
            ),
            ("role", text(i.map(|i| i.role.word()))),
            ("ordinal", number(i.map(|i| i.ordinal))),
        ])
    };
    let element = one(None).type_of();
    match interfaces {
        None => Value::null(Type::list(element)),
        Some(all) => Value::list(element, all.iter().map(|i| one(Some(i))).collect()),
    }
}

fn kind_word(kind: MachineKind) -> &'static str {
    match kind {
        MachineKind::Gpu => "gpu",
        MachineKind::Tpu => "tpu",
        MachineKind::CpuRdma => "cpu-rdma",
    }
}

fn text(fact: Option<&str>) -> Value {
    fact.map_or_else(|| Value::null(Type::String), Value::string)
}

fn flag(fact: Option<bool>) -> Value {
    fact.map_or_else(|| Value::null(Type::Bool), Value::bool)
}

fn number(fact: Option<impl Into<u64>>) -> Value {
    fact.and_then(|n| i64::try_from(n.into()).ok())
        .map_or_else(|| Value::null(Type::Number), Value::int)
}

/// Counts such as an eighth of an accelerator; the facts hold binary fractions only, so none is
/// rounded on its way.
fn fraction(fact: Option<f64>) -> Value {
    fact.and_then(Number::from_f64)
        .map_or_else(|| Value::null(Type::Number), Value::number)
}

fn texts<S: AsRef<str>>(fact: Option<&[S]>) -> Value {
    match fact {
        None => Value::null(Type::list(Type::String)),
        Some(all) => Value::list(
            Type::String,
            all.iter().map(|t| Value::string(t.as_ref())).collect(),
        ),
    }
}

fn numbers(fact: Option<&[u32]>) -> Value {
    match fact {
        None => Value::null(Type::list(Type::Number)),
        Some(all) => Value::list(
            Type::Number,
            all.iter().map(|n| Value::int(i64::from(*n))).collect(),
        ),
    }
}
