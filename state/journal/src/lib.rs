//! What a run does, written down before and after it does it, so that a crash loses nothing.
//!
//! A journal extends one snapshot of the state. Its head names that snapshot; each further line is a
//! [`JournalEntry`]: an operation was begun, something was noted of it, it ended. State is at every
//! moment what [`Ledger::record`] makes of the snapshot and the entries; apply uses the same function
//! while it runs as [`replay`] does after a crash, so the two cannot differ.
//!
//! Invariants:
//!
//! - An operation moves by the table in [`Phase::may_follow`], and one object has at most one open
//!   operation.
//! - A line counts only as a whole and only in its place: its checksum covers the line before. A last
//!   line that was cut off never happened (nobody was told that it is durable); damage before a good
//!   line is refused.
//! - A journal is replayed only onto the very snapshot it extends. If another tool has written since,
//!   nothing is replayed; each operation whose object the new snapshot lacks becomes pending. No
//!   silent orphan.
//! - An operation that was begun and not ended is a [`PendingOperation`], which somebody has to settle.
//!
//! Entries hold what state holds, sensitive values included, and go nowhere but into a store of mode
//! 0600; ephemeral and write-only values are not among them (whoever records must have taken them
//! out). `Debug` prints neither.
//!
//! Pure: no I/O, no clock, no provider.
#![forbid(unsafe_code)]

mod codec;
mod entry;
mod ledger;
mod pending;
mod recorder;
mod replay;

pub use codec::{Encoder, Head, Journal, SnapshotHash, decode};
pub use entry::{Begun, JournalEntry, OperationAction, OperationId, Phase, Resolution};
pub use ledger::{IllegalMove, Ledger};
pub use pending::{PendingOperation, read_pending, write_pending};
pub use recorder::Recorder;
pub use replay::{Relation, Replay, replay};

#[cfg(test)]
mod tests;
