//! Where snapshots, locks and journals are kept. Files ([`LocalStore`]), Cloud Storage
//! ([`GcsStore`]), and any server that speaks Terraform's HTTP protocol of states ([`HttpStore`]).
//!
//! Which of them a configuration means is said by arguments ([`Settings`]), which come to a [`Place`].
//!
//! A backend sees bytes. It knows nothing of values, so it cannot leak one; it knows no engine, so any
//! command can use it.
//!
//! How the local one keeps its promises:
//!
//! - *Locks exclude Terraform too.* Terraform takes a record lock by `fcntl` over the whole state
//!   file, and does not see `flock`. So do we, as a lock of the open file description where the
//!   platform has one. Terraform opens the file that stands at the path, so the new file is locked
//!   before it is renamed over the old one, and the old one stays locked until the lock is given up.
//!   `.NAME.lock.info` beside the state says who holds it; its presence alone means nothing.
//! - *A reader sees the old state or the new one.* The new one is written to a file of its own in the
//!   same directory, synced, renamed, and the directory is synced.
//! - *The journal is durable when it says so.* Appends are written by one thread, in the order in
//!   which they were queued, and those that wait together share one sync.
//! - *Stores are private.* Every file has mode 0600.
#![forbid(unsafe_code)]

mod explain;
mod file_lock;
mod files;
mod gcs;
mod http;
mod journal;
mod local;
mod place;
mod reader;
mod settings;

pub use gcs::{CustomerKey, GcsConfig, GcsStore};
pub use http::{HttpConfig, HttpStore};
pub use local::{Backup, LocalStore};
pub use place::{DEFAULT_WORKSPACE, Misconfigured, Place};
pub use reader::{Reach, RemoteStates};
pub use settings::{Argument, ArgumentKind, BACKENDS, Settings, arguments, unserved};

#[cfg(test)]
mod tests;
