//! What stands in for a journal where the backend keeps none: after each entry the state as it is by
//! then is written, and with it, under `x_formwork_pending`, the operations that are open.
//!
//! So the state knows of every request before it is sent, and other tools that read it see what has been
//! made so far. It promises less than a journal: every entry costs a write of the whole state (entries
//! that wait together share one), and a tool that does not know the key drops it.

use crate::state::following;
use async_trait::async_trait;
use formwork_apply::PendingStore;
use formwork_diagnostics::Diagnostics;
use formwork_journal::{PendingOperation, SnapshotHash, read_pending, write_pending};
use formwork_state::{OtherKeys, PENDING_KEY, Snapshot, State, StateStores, v4};
use std::sync::{Arc, Mutex, PoisonError};

/// The state of a run, written as it goes.
pub(crate) struct InState {
    pub store: Arc<dyn StateStores>,
    pub lineage: String,
    /// The version that is written into it.
    pub version: String,
    pub cloud: Option<String>,
    latest: Mutex<Latest>,
}

/// What lies in the store: the snapshot, and its bytes' hash.
type Latest = (Option<Snapshot>, Option<SnapshotHash>);

impl InState {
    pub fn new(
        store: Arc<dyn StateStores>,
        lineage: String,
        version: String,
        cloud: Option<String>,
        latest: Latest,
    ) -> Self {
        Self {
            store,
            lineage,
            version,
            cloud,
            latest: Mutex::new(latest),
        }
    }

    /// What lies in the store by now.
    pub fn latest(&self) -> Latest {
        let latest = self.latest.lock();
        latest.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl PendingStore for InState {
    async fn keep(&self, state: State, pending: Vec<PendingOperation>) -> Result<(), Diagnostics> {
        let (before, _) = self.latest();
        let next = following(
            before.as_ref(),
            &self.lineage,
            &self.version,
            self.cloud.as_deref(),
            state,
            Some(&pending),
        );
        let Some(snapshot) = next else {
            return Ok(());
        };
        let bytes = v4::write(&snapshot);
        self.store.write_snapshot(&bytes).await?;
        let hash = SnapshotHash::of(&bytes);
        let latest = self.latest.lock();
        *latest.unwrap_or_else(PoisonError::into_inner) = (Some(snapshot), Some(hash));
        Ok(())
    }
}

/// Puts open operations among a snapshot's other keys, in the place of those there are.
pub(crate) fn set_pending(other: &mut OtherKeys, pending: &[PendingOperation]) {
    if pending.is_empty() {
        other.remove(PENDING_KEY);
    } else {
        other.set(PENDING_KEY, write_pending(pending));
    }
}

/// The open operations that a snapshot carries.
///
/// # Errors
/// What is wrong with them, as a clause.
pub(crate) fn pending_of(snapshot: &Snapshot) -> Result<Vec<PendingOperation>, String> {
    match snapshot.other.get(PENDING_KEY) {
        Some(json) => read_pending(json),
        None => Ok(Vec::new()),
    }
}
