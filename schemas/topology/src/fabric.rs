//! The networks a machine type needs in a zone, spelled out interface by interface.

use crate::{FabricKind, InterfaceRole, MachineType, NicType};

/// One network interface of a VM, in the order in which the VM carries them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its place: NIC 0 comes first.
    pub index: u32,
    /// Its `nic_type`.
    pub nic_type: Option<NicType>,
    /// What it is for.
    pub role: InterfaceRole,
    /// Its place among the interfaces of its role: for RDMA, the rail.
    pub ordinal: u32,
}

/// What a machine type needs in a zone.
#[derive(Clone, Debug, PartialEq)]
pub struct Fabric<'a> {
    /// The facts this is derived from.
    pub machine: &'a MachineType,
    /// The zone asked for.
    pub zone: String,
    /// Its region.
    pub region: String,
}

/// Why there is no fabric to speak of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FabricError {
    /// Nobody knows the machine type; the nearest names come along, best first.
    UnknownMachine {
        /// Names that may have been meant.
        nearest: Vec<String>,
    },
    /// That is not what a zone looks like (`REGION-LETTER`).
    NotAZone,
}

impl Fabric<'_> {
    /// The kind of fabric; `None` where nobody confirmed it.
    pub fn kind(&self) -> Option<FabricKind> {
        self.machine.network.fabric
    }

    /// The interfaces of a VM in order; `None` where not confirmed.
    pub fn interfaces(&self) -> Option<Vec<Interface>> {
        let groups = self.machine.interfaces.as_ref()?;
        let mut interfaces = Vec::new();
        for group in groups {
            for _ in 0..group.count {
                let ordinal = interfaces
                    .iter()
                    .filter(|i: &&Interface| i.role == group.role)
                    .count();
                interfaces.push(Interface {
                    index: small(interfaces.len()),
                    nic_type: group.nic_type,
                    role: group.role,
                    ordinal: small(ordinal),
                });
            }
        }
        Some(interfaces)
    }

    /// Rails: interfaces that carry RDMA. `None` where not confirmed.
    pub fn rails(&self) -> Option<u32> {
        self.machine.interface_count(InterfaceRole::Rdma)
    }

    /// Name of the network profile in this zone; `None` where the fabric takes none.
    pub fn profile(&self) -> Option<String> {
        let pattern = self.machine.network.profile.as_ref()?;
        Some(pattern.replace("ZONE", &self.zone))
    }

    /// Path of the profile below a project, `global/networkProfiles/NAME`.
    pub fn profile_path(&self) -> Option<String> {
        Some(format!("global/networkProfiles/{}", self.profile()?))
    }

    /// Path of the profile seen from `project`, `projects/PROJECT/global/networkProfiles/NAME`.
    pub fn profile_url(&self, project: &str) -> Option<String> {
        Some(format!("projects/{project}/{}", self.profile_path()?))
    }
}

fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The region of a zone: all but the letter after the last dash. `None` for what is no zone.
pub fn region_of(zone: &str) -> Option<&str> {
    let (region, letter) = zone.rsplit_once('-')?;
    let area = region.rsplit_once('-')?;
    let plain = |s: &str| {
        !s.is_empty()
            && s.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    let numbered = area.1.ends_with(|c: char| c.is_ascii_digit())
        && area.1.starts_with(|c: char| c.is_ascii_lowercase());
    // Zones of AI clusters carry more than a letter, such as us-south1-ai1b.
    let lettered = letter.starts_with(|c: char| c.is_ascii_lowercase()) && plain(letter);
    (plain(area.0) && plain(area.1) && numbered && lettered).then_some(region)
}
