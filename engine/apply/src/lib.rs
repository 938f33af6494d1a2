//! Apply: obeys an execution graph.
//!
//! It may fill in what was unknown, and must plan each object again with the now known
//! configuration; if that yields another action, another replace path, or a change to a value that
//! the plan showed as known, it stops at that object. It never chooses.
//!
//! Every operation is journalled ([`Record`]): that it begins is durable before its provider is
//! called, how it ended is durable before anything that waits for it starts. An operation whose
//! outcome nobody knows does not end; the next run settles it. What a failed operation keeps from
//! being done is left undone; what does not depend on it goes on.
//!
//! What this crate does not do: it decides nothing, reads no files, writes no snapshots.
#![forbid(unsafe_code)]

mod conditions;
mod destroy;
mod make;
mod open;
mod providers;
mod provision;
mod read;
mod record;
mod results;
mod run;
mod world;

pub use record::{NoteLog, PendingStore, Record};
pub use run::{Applied, ApplyInput, apply};
