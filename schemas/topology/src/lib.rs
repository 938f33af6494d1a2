//! Machine families, fabrics, capacity: what AI hardware needs, as data with total functions.
//!
//! The facts stand in one versioned file (`data/machines.json`, distilled by `generate.py`, format
//! in `docs/formats/machine-facts.md`). A user lays a file of the same format over it with
//! [`Topology::overlay`], so that a machine type that Google announces tomorrow needs no release.
//!
//! Invariants:
//!
//! - **A fact that nobody confirmed is `None`, and stays so.** Nothing here guesses; whoever needs
//!   the fact says which one is missing.
//! - Every lookup is total: [`Topology::machine`] answers `None` for a name nobody knows,
//!   [`Topology::nearest`] says what the user may have meant.
//! - Interfaces are listed in the order in which a VM must carry them: [`Fabric::interfaces`] is NIC
//!   0, 1, 2 and so on, and the rails are numbered in that order.
//!
//! What it does not do: talk to Google (a zone that lacks a machine type or a profile is found by
//! the provider), know prices, or know the mock, whose machine types have sources of their own.
#![forbid(unsafe_code)]

mod capacity;
mod fabric;
mod machine;
mod read;
mod table;

pub use capacity::{CapacityMode, CapacityProblem, Offer};
pub use fabric::{Fabric, FabricError, Interface, region_of};
pub use machine::{
    Accelerator, Capacity, Cpu, FabricKind, Gke, InterfaceGroup, InterfaceRole, LocalSsd,
    MachineKind, MachineType, Network, NicType, Placement, Tpu,
};
pub use table::Topology;
