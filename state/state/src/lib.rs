//! What Formwork remembers of the world, and the words of the stores that keep it.
//!
//! [`State`] is the remembered world: resources, their instances, the objects of each (the current
//! one and those deposed by a replacement), the root module's outputs and the results of checks. A
//! [`Snapshot`] is one version of it: lineage, serial, and whatever else stood in the file. [`v4`] is
//! the codec of the format that Terraform and OpenTofu read and write. [`SnapshotStore`],
//! [`StateLock`] and [`JournalStore`] are what a backend implements; they carry bytes, so no backend
//! can read, or leak, a value.
//!
//! Invariants:
//!
//! - Attributes are JSON text ([`RawJson`]), never decoded here. A number keeps its digits, an object
//!   that nobody changes is written back as it was read, and no schema is needed to move state about.
//! - What the format does not know is kept, in its order, at every level.
//! - Cloning a [`State`] copies no object, and changing one object copies at most the instance it
//!   belongs to unless a clone shares the maps.
//! - Nothing here prints an attribute: `Debug` says how long a text is, not what it says.
//!
//! This crate does no I/O, knows no provider and no schema. What a run does to state while it lasts
//! is `journal`'s business.
#![forbid(unsafe_code)]

mod from_values;
mod lock;
mod object;
mod raw;
mod resource;
mod sensitive;
mod snapshot;
mod stores;
mod tree;
pub mod v4;

pub use lock::{LockError, LockInfo, Sleeper, lock_within, parse_timestamp, timestamp};
pub use object::{Attributes, ObjectStatus, ResourceInstanceObject};
pub use raw::{InvalidJson, RawJson};
pub use resource::{InstanceState, OtherKeys, OutputState, ResourceState};
pub use sensitive::SensitivePaths;
pub use snapshot::{CLOUD_KEY, PENDING_KEY, Snapshot};
pub use stores::{
    Durable, JournalStore, JournalSupport, SnapshotStore, StateBytes, StateLock, StateReadError,
    StateReader, StateStores,
};
pub use tree::{MoveError, State};
