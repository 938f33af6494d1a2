//! States in memory.

use async_trait::async_trait;
use formwork_diagnostics::Diagnostics;
use formwork_state::{
    Durable, JournalStore, JournalSupport, LockError, LockInfo, SnapshotStore, StateLock,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A state that lives as long as the process.
#[derive(Default)]
pub(crate) struct MemoryState {
    name: String,
    content: Mutex<Content>,
}

#[derive(Default)]
struct Content {
    snapshot: Option<Vec<u8>>,
    journal: Vec<u8>,
}

impl MemoryState {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            content: Mutex::default(),
        }
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state and its journal as they are now.
    pub fn bytes(&self) -> (Vec<u8>, Vec<u8>) {
        let content = self.content();
        (
            content.snapshot.clone().unwrap_or_default(),
            content.journal.clone(),
        )
    }
}

#[async_trait]
impl SnapshotStore for MemoryState {
    fn describe(&self) -> String {
        self.name.clone()
    }

    async fn read_snapshot(&self) -> Result<Option<Vec<u8>>, Diagnostics> {
        Ok(self.content().snapshot.clone())
    }

    async fn write_snapshot(&self, bytes: &[u8]) -> Result<(), Diagnostics> {
        self.content().snapshot = Some(bytes.to_vec());
        Ok(())
    }
}

#[async_trait]
impl StateLock for MemoryState {
    // Nobody else can reach it.
    async fn lock(&self, _info: &LockInfo) -> Result<(), LockError> {
        Ok(())
    }

    async fn unlock(&self, _id: &str) -> Result<(), Diagnostics> {
        Ok(())
    }
}

#[async_trait]
impl JournalStore for MemoryState {
    fn journal_support(&self) -> JournalSupport {
        JournalSupport::Durable
    }

    async fn read_journal(&self) -> Result<Vec<u8>, Diagnostics> {
        Ok(self.content().journal.clone())
    }

    async fn lock_journal(&self) -> Result<(), LockError> {
        Ok(())
    }

    fn append_journal(&self, bytes: Vec<u8>) -> Durable {
        self.content().journal.extend_from_slice(&bytes);
        Box::pin(std::future::ready(Ok(())))
    }

    async fn replace_journal(&self, bytes: Vec<u8>) -> Result<(), Diagnostics> {
        self.content().journal = bytes;
        Ok(())
    }

    async fn unlock_journal(&self) {}
}

/// The states of a file that is being run, so that they can be saved when the process must end at once.
/// Shared; every method takes `&self`.
#[derive(Clone, Default)]
pub struct TestStates(Arc<Mutex<Vec<Named>>>);

/// A state with its name.
type Named = (String, Arc<MemoryState>);

/// One state as it is.
pub struct KeptState {
    /// The test file, and the state within it.
    pub name: String,
    /// The state; empty if there is none yet.
    pub state: Vec<u8>,
    /// Its journal.
    pub journal: Vec<u8>,
}

impl TestStates {
    fn all(&self) -> MutexGuard<'_, Vec<Named>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, name: &str) -> Arc<MemoryState> {
        let state = Arc::new(MemoryState::new(name));
        self.all().push((name.to_owned(), state.clone()));
        state
    }

    pub(super) fn forget_all(&self) {
        self.all().clear();
    }

    /// Those that hold something: objects, or operations that were begun.
    pub fn kept(&self) -> Vec<KeptState> {
        let all = self.all();
        all.iter()
            .filter_map(|(name, state)| {
                let (state, journal) = state.bytes();
                let holds = !journal.is_empty() || has_objects(&state);
                holds.then(|| KeptState {
                    name: name.clone(),
                    state,
                    journal,
                })
            })
            .collect()
    }
}

fn has_objects(state: &[u8]) -> bool {
    !state.is_empty()
        && formwork_state::v4::read(state, "the state of a test")
            .0
            .is_none_or(|s| s.state.instances().next().is_some())
}
