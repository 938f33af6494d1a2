//! What a backend implements. Bytes go in and out; what they mean is decided elsewhere.

use crate::lock::{LockError, LockInfo};
use crate::raw::RawJson;
use async_trait::async_trait;
use formwork_diagnostics::Diagnostics;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Where snapshots are kept.
#[async_trait]
pub trait SnapshotStore: Send + Sync {
    /// Where that is, for messages: `terraform.tfstate`, `gs://bucket/prefix/default.tfstate`.
    fn describe(&self) -> String;

    /// The latest snapshot; `None` if there is none yet.
    ///
    /// # Errors
    /// Why it could not be read.
    async fn read_snapshot(&self) -> Result<Option<Vec<u8>>, Diagnostics>;

    /// Replaces it as a whole: a reader sees the old one or the new one, and the new one is durable
    /// when this returns.
    ///
    /// # Errors
    /// Why it could not be written; the old one is then still there.
    async fn write_snapshot(&self, bytes: &[u8]) -> Result<(), Diagnostics>;
}

/// Exclusive use of a state.
#[async_trait]
pub trait StateLock: Send + Sync {
    /// Tries once.
    ///
    /// # Errors
    /// That somebody else holds it, or why it could not be tried.
    async fn lock(&self, info: &LockInfo) -> Result<(), LockError>;

    /// Releases the lock that was taken with this id.
    ///
    /// # Errors
    /// Why it could not be released.
    async fn unlock(&self, id: &str) -> Result<(), Diagnostics>;

    /// Releases a lock that somebody else took, by the id that its message shows.
    ///
    /// # Errors
    /// That there is no such lock, or that it cannot be taken from its holder.
    async fn break_lock(&self, id: &str) -> Result<(), Diagnostics> {
        self.unlock(id).await
    }
}

/// Whether a backend can keep a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalSupport {
    /// Appends are durable when they return.
    Durable,
    /// It cannot; operations not known to have ended then go into the snapshot, and a crash in
    /// between may lose them.
    Unsupported,
}

/// Done when what was queued is durable.
pub type Durable = Pin<Box<dyn Future<Output = Result<(), Diagnostics>> + Send>>;

/// Where the journal of operations is kept: beside the state, not with the process.
#[async_trait]
pub trait JournalStore: Send + Sync {
    /// Whether this backend keeps one at all.
    fn journal_support(&self) -> JournalSupport;

    /// All of it, in order; empty if there is none.
    ///
    /// # Errors
    /// Why it could not be read.
    async fn read_journal(&self) -> Result<Vec<u8>, Diagnostics>;

    /// Makes this process the only one that may write the journal, even where the state itself is not
    /// locked, until [`JournalStore::unlock_journal`]. Writing does so too, but only until the journal
    /// is emptied.
    ///
    /// # Errors
    /// That somebody else holds it, or why it could not be tried.
    async fn lock_journal(&self) -> Result<(), LockError>;

    /// Queues `bytes` to be appended, in the order in which this is called; the future says when they
    /// are durable. Appends that wait at the same time may be made durable together. Dropping the
    /// future takes nothing back.
    ///
    /// # Errors
    /// The future's: why they could not be written. Nothing may then be assumed of the bytes, and no
    /// later append succeeds.
    fn append_journal(&self, bytes: Vec<u8>) -> Durable;

    /// Queues `bytes` as [`JournalStore::append_journal`] does, for a caller that need not wait: they are
    /// durable with what is appended after them at the latest, and within some ten milliseconds where
    /// nothing is.
    ///
    /// # Errors
    /// Why something queued earlier could not be written, as far as that is known by now. What is not
    /// known yet is told by the next append.
    fn queue_journal(&self, bytes: Vec<u8>) -> Result<(), Diagnostics> {
        let mut durable = self.append_journal(bytes);
        match durable
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(done) => done,
            Poll::Pending => Ok(()),
        }
    }

    /// Replaces all of it at once. If `bytes` is empty nothing is left of it, not even its name, once
    /// exclusive use ends.
    ///
    /// # Errors
    /// Why it could not be written; the old one is then still there.
    async fn replace_journal(&self, bytes: Vec<u8>) -> Result<(), Diagnostics>;

    /// Ends exclusive use. Without this it ends with the store.
    async fn unlock_journal(&self);
}

/// All that one backend offers.
pub trait StateStores: SnapshotStore + StateLock + JournalStore {}

impl<T: SnapshotStore + StateLock + JournalStore> StateStores for T {}

/// Reads the state of another configuration, for the data source `terraform_remote_state`.
#[async_trait]
pub trait StateReader: Send + Sync {
    /// Whether there is a backend of this type, and whether it can be configured so, as far as that
    /// can be told without asking it.
    ///
    /// # Errors
    /// What is wrong, and with which of the two.
    fn check(&self, backend: &str, config: &RawJson) -> Result<(), StateReadError> {
        let _ = (backend, config);
        Ok(())
    }

    /// The latest snapshot at a backend of type `backend` in `workspace` (`default` if absent).
    /// `config` is the backend's configuration as a JSON object, or null; it may hold credentials.
    /// `None` if there is no state.
    ///
    /// # Errors
    /// What is wrong, and with which of the three.
    async fn read_state(
        &self,
        backend: &str,
        workspace: Option<&str>,
        config: &RawJson,
    ) -> Result<Option<StateBytes>, StateReadError>;
}

/// A snapshot as it is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct StateBytes {
    /// Where it was read from, for messages.
    pub name: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Why the state of another configuration cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateReadError {
    /// There is no backend of this type, or none that can be read yet.
    Backend(Diagnostics),
    /// The backend cannot be configured so.
    Config(Diagnostics),
    /// It could not be read.
    Failed(Diagnostics),
}
