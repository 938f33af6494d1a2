//! What is known about one machine type. `None` always means: not confirmed.

use std::collections::BTreeMap;

/// What a machine type is bought for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineKind {
    /// Graphics accelerators.
    Gpu,
    /// Tensor processing units.
    Tpu,
    /// No accelerator, but an RDMA interface.
    CpuRdma,
}

/// The network that joins the accelerators of several machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FabricKind {
    /// RDMA over converged Ethernet on VMs: one RDMA VPC, one subnetwork per rail.
    RoceVm,
    /// RDMA over converged Ethernet on bare metal: one RDMA VPC whose subnetwork Google makes.
    RoceMetal,
    /// GPUDirect-TCPX: one VPC per GPU network interface, all of them gVNIC.
    Tcpx,
    /// GPUDirect-TCPXO: as TCPX, with more interfaces.
    Tcpxo,
    /// Cloud RDMA over the Falcon transport.
    Falcon,
    /// TPU chips joined by their own interconnect; the VMs use ordinary VPCs.
    TpuIci,
    /// An ordinary VPC and nothing else.
    Standard,
}

impl FabricKind {
    /// All kinds, in a fixed order.
    pub const ALL: [Self; 7] = [
        Self::RoceVm,
        Self::RoceMetal,
        Self::Tcpx,
        Self::Tcpxo,
        Self::Falcon,
        Self::TpuIci,
        Self::Standard,
    ];

    /// The word that stands in files and configurations.
    pub fn word(self) -> &'static str {
        match self {
            Self::RoceVm => "rocev2-vm",
            Self::RoceMetal => "rocev2-metal",
            Self::Tcpx => "gpudirect-tcpx",
            Self::Tcpxo => "gpudirect-tcpxo",
            Self::Falcon => "falcon",
            Self::TpuIci => "tpu-ici",
            Self::Standard => "standard",
        }
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::RoceVm => "RoCEv2 on VMs",
            Self::RoceMetal => "RoCEv2 on bare metal",
            Self::Tcpx => "GPUDirect-TCPX over gVNIC",
            Self::Tcpxo => "GPUDirect-TCPXO over gVNIC",
            Self::Falcon => "Cloud RDMA (Falcon)",
            Self::TpuIci => "TPU inter-chip interconnect",
            Self::Standard => "an ordinary VPC",
        }
    }
}

/// The `nic_type` of a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NicType {
    /// Google's virtual NIC.
    Gvnic,
    /// The bare-metal NIC.
    Idpf,
    /// RDMA over a Mellanox NIC; attaches to RoCE profiles only.
    Mrdma,
    /// RDMA over Falcon; attaches to Falcon profiles only.
    Irdma,
    /// The paravirtual NIC.
    VirtioNet,
}

impl NicType {
    /// The API's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Gvnic => "GVNIC",
            Self::Idpf => "IDPF",
            Self::Mrdma => "MRDMA",
            Self::Irdma => "IRDMA",
            Self::VirtioNet => "VIRTIO_NET",
        }
    }
}

/// What an interface is for, hence which network it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceRole {
    /// Ordinary traffic.
    Host,
    /// GPU traffic over gVNIC, each interface in a VPC of its own.
    Gpu,
    /// RDMA, in the RDMA VPC; interface k is rail k.
    Rdma,
}

impl InterfaceRole {
    /// The word that stands in files and configurations.
    pub fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Gpu => "gpu",
            Self::Rdma => "rdma",
        }
    }
}

/// Some interfaces of a kind that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceGroup {
    /// Their `nic_type`.
    pub nic_type: Option<NicType>,
    /// What they are for.
    pub role: InterfaceRole,
    /// How many.
    pub count: u32,
}

/// The processor, as Slurm wants to know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Sockets.
    pub sockets: Option<u32>,
    /// Cores per socket.
    pub cores_per_socket: Option<u32>,
    /// Threads per core.
    pub threads_per_core: Option<u32>,
}

/// The accelerators of one machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accelerator {
    /// The API's accelerator type, such as `nvidia-b200`.
    pub kind: Option<String>,
    /// The maker's name.
    pub model: Option<String>,
    /// How many; a fraction where a machine has part of one.
    pub count: Option<f64>,
    /// The counts to choose from, where accelerators are attached by the user.
    pub counts: Option<Vec<u32>>,
    /// Memory of each, in GB as the maker counts.
    pub memory_gb_each: Option<u32>,
}

impl Accelerator {
    /// The count, where it is known and whole.
    pub fn whole_count(&self) -> Option<u32> {
        let count = self.count?;
        (0..=4096).find(|n| f64::from(*n) == count)
    }
}

/// Local SSDs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalSsd {
    /// Whether they come with the machine type.
    pub included: Option<bool>,
    /// How many come with it.
    pub disks: Option<u32>,
    /// Size of each in GiB.
    pub gib_per_disk: Option<u32>,
    /// All together in GiB.
    pub total_gib: Option<u32>,
    /// How many a user may attach, where they do not come with it.
    pub optional_disk_counts: Option<Vec<u32>>,
    /// The most a user may attach, in GiB.
    pub max_total_gib: Option<u32>,
}

/// The networks that a cluster of this machine type stands on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// The fabric; `None` where nobody confirmed it.
    pub fabric: Option<FabricKind>,
    /// Ordinary VPCs for the host interfaces.
    pub host_networks: Option<u32>,
    /// Subnetworks in them, all together.
    pub host_subnetworks: Option<u32>,
    /// VPCs for GPU traffic over gVNIC.
    pub gpu_networks: Option<u32>,
    /// RDMA VPCs.
    pub rdma_networks: Option<u32>,
    /// Subnetworks in them: the rails.
    pub rdma_subnetworks: Option<u32>,
    /// Whether Google makes the RDMA subnetworks itself and a user may not.
    pub rdma_subnetworks_predefined: Option<bool>,
    /// Name of the network profile with `ZONE` where the zone goes.
    pub profile: Option<String>,
    /// MTU of the host networks.
    pub host_mtu: Option<u32>,
    /// MTU of the GPU networks.
    pub gpu_mtu: Option<u32>,
    /// MTU of the RDMA network.
    pub rdma_mtu: Option<u32>,
}

/// How the machine type may be obtained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// On demand.
    pub standard: Option<bool>,
    /// Spot.
    pub spot: Option<bool>,
    /// Flex-start.
    pub flex_start: Option<bool>,
    /// Bound to a reservation (`RESERVATION_BOUND`).
    pub reservation_bound: Option<bool>,
    /// Whether there is no way but a reservation.
    pub reservation_required: Option<bool>,
}

/// How machines are placed near each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Whether compact placement policies apply.
    pub compact: Option<bool>,
    /// Whether workload policies apply (to instance groups).
    pub workload_policy: Option<bool>,
    /// Whether GKE's own placement setting applies.
    pub gke_placement_policy: Option<bool>,
    /// Whether machines in a reservation are placed by the reservation, without a policy.
    pub from_reservation: Option<bool>,
    /// `collocation` of the group placement policy that plain VMs take.
    pub group_collocation: Option<String>,
    /// `gpu_topology` of that policy.
    pub group_gpu_topology: Option<String>,
    /// `accelerator_topology` of a workload policy.
    pub accelerator_topology: Option<String>,
    /// The most nodes in one compact placement on GKE.
    pub gke_max_nodes: Option<u32>,
}

/// What GKE calls things.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gke {
    /// The node label's value.
    pub accelerator_label: Option<String>,
    /// The GPUDirect stack.
    pub gpudirect_stack: Option<String>,
    /// Networks a node pool needs beside its first.
    pub min_extra_networks: Option<u32>,
    /// Whether the network resource driver serves it.
    pub dranet: Option<bool>,
}

/// Tensor processing units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tpu {
    /// The generation, such as `v6e`.
    pub version: Option<String>,
    /// Chips in one VM.
    pub chips_per_vm: Option<u32>,
    /// 2 or 3.
    pub topology_dimensions: Option<u32>,
    /// Slice topologies that may be asked for.
    pub topologies: Option<Vec<String>>,
    /// A rule for larger ones, in words.
    pub larger_topologies: Option<String>,
    /// Chips of the largest slice.
    pub max_chips: Option<u32>,
    /// NUMA nodes of a VM.
    pub numa_nodes: Option<u32>,
    /// Where a topology is asked for: `placement-policy` or `workload-policy`.
    pub topology_setting: Option<String>,
}

/// All that is known about a machine type.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineType {
    /// Its name, or a pattern that ends in `*` for a series that takes accelerators on demand.
    pub name: String,
    /// The family for people, such as `A4`.
    pub family: String,
    /// What it is bought for.
    pub kind: MachineKind,
    /// `x86_64` or `arm64`.
    pub architecture: Option<String>,
    /// The processor's name.
    pub cpu_platform: Option<String>,
    /// Virtual processors.
    pub vcpus: Option<u32>,
    /// Memory in GiB.
    pub memory_gib: Option<u32>,
    /// The processor's shape.
    pub cpu: Cpu,
    /// Accelerators.
    pub accelerator: Accelerator,
    /// Local SSDs.
    pub local_ssd: LocalSsd,
    /// Physical NICs; a fraction where a machine has part of one.
    pub physical_nics: Option<f64>,
    /// Largest bandwidth in Gbps.
    pub max_bandwidth_gbps: Option<u32>,
    /// Regions in which it differs.
    pub max_bandwidth_gbps_by_region: BTreeMap<String, u32>,
    /// Interfaces in order.
    pub interfaces: Option<Vec<InterfaceGroup>>,
    /// Networks.
    pub network: Network,
    /// Ways to obtain it.
    pub capacity: Capacity,
    /// Placement.
    pub placement: Placement,
    /// Disk types that it boots from.
    pub boot_disk_types: Option<Vec<String>>,
    /// GKE's words.
    pub gke: Gke,
    /// TPUs.
    pub tpu: Option<Tpu>,
    /// The type this is the twin of, where it is one without local SSDs.
    pub variant_of: Option<String>,
    /// Caveats in words.
    pub notes: Vec<String>,
    /// Where the facts come from.
    pub sources: Vec<String>,
}

impl MachineType {
    /// Memory in MiB, as the API and Slurm count.
    pub fn memory_mib(&self) -> Option<u64> {
        self.memory_gib.map(|g| u64::from(g) * 1024)
    }

    /// How many interfaces a VM of this type carries in that role; `None` where not confirmed.
    pub fn interface_count(&self, role: InterfaceRole) -> Option<u32> {
        let groups = self.interfaces.as_ref()?;
        Some(
            groups
                .iter()
                .filter(|g| g.role == role)
                .map(|g| g.count)
                .sum(),
        )
    }

    /// The one `nic_type` of the interfaces in that role; `None` where there are none, where not
    /// confirmed, or where they differ.
    pub fn nic_type(&self, role: InterfaceRole) -> Option<NicType> {
        let mut types = self
            .interfaces
            .iter()
            .flatten()
            .filter(|g| g.role == role)
            .map(|g| g.nic_type);
        let first = types.next()??;
        types.all(|t| t == Some(first)).then_some(first)
    }
}
