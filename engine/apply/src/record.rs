//! The journal as apply writes it.

use async_trait::async_trait;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_journal::{JournalEntry, Ledger, OperationId, PendingOperation, Recorder};
use formwork_provider::{NoteError, OperationLog, Provider};
use formwork_state::{JournalStore, State};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::Mutex;

/// Takes entries in, keeps the state that they make, and makes them durable.
pub struct Record {
    recorder: Mutex<Recorder>,
    kept: Kept,
    /// Whether something was recorded since for whose durability nobody has waited.
    queued: AtomicBool,
}

/// Whether an operation goes on before an entry is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It waits: what comes next is done, or was done, where only this entry tells of it.
    Durable,
    /// It goes on. The entry is durable no later than the next one for which somebody waits, so before
    /// any request that a provider notes is sent; and if it is lost with the process, what it tells is
    /// found out by what is noted, or nothing was done outside of this process.
    Queued,
}

impl Wait {
    /// How the entries of an operation of this provider are waited for.
    pub fn of(provider: &dyn Provider) -> Self {
        match provider.keeps_notes() {
            true => Self::Queued,
            false => Self::Durable,
        }
    }
}

/// Where entries are made durable.
enum Kept {
    InJournal(Arc<dyn JournalStore>),
    InState(Box<Written>),
}

/// What of a record is in the state by now.
struct Written {
    store: Arc<dyn PendingStore>,
    /// How many entries were recorded; counted under the recorder's lock.
    recorded: AtomicU64,
    /// How many of them are in the state; an error once one could not be brought there.
    written: Mutex<Result<u64, Diagnostics>>,
}

/// Keeps the state and what is open, where there is no journal.
#[async_trait]
pub trait PendingStore: Send + Sync {
    /// Makes both durable, in the place of what was kept before. It is called by one at a time.
    ///
    /// # Errors
    /// Why they could not be written.
    async fn keep(&self, state: State, pending: Vec<PendingOperation>) -> Result<(), Diagnostics>;
}

impl Record {
    /// A record whose beginning is already in the store.
    pub fn new(recorder: Recorder, store: Arc<dyn JournalStore>) -> Self {
        Self {
            recorder: Mutex::new(recorder),
            kept: Kept::InJournal(store),
            queued: AtomicBool::new(false),
        }
    }

    /// A record for a backend that keeps no journal: the state is kept up to date instead.
    pub fn in_state(recorder: Recorder, store: Arc<dyn PendingStore>) -> Self {
        Self {
            recorder: Mutex::new(recorder),
            kept: Kept::InState(Box::new(Written {
                store,
                recorded: AtomicU64::new(0),
                written: Mutex::new(Ok(0)),
            })),
            queued: AtomicBool::new(false),
        }
    }

    /// Records that an operation begins; `entry` is given its id.
    ///
    /// # Errors
    /// If it could not be made durable: then it must not begin.
    pub(crate) async fn begin(
        &self,
        wait: Wait,
        entry: impl FnOnce(OperationId) -> JournalEntry,
    ) -> Result<OperationId, Diagnostics> {
        let recorder = self.recorder.lock().await;
        let id = recorder.next_id();
        self.write(recorder, entry(id), wait).await?;
        Ok(id)
    }

    /// Records an entry.
    ///
    /// # Errors
    /// If it could not be made durable, or must not follow what was recorded.
    pub(crate) async fn entry(&self, wait: Wait, entry: JournalEntry) -> Result<(), Diagnostics> {
        let recorder = self.recorder.lock().await;
        self.write(recorder, entry, wait).await
    }

    /// Waits until all that was recorded is durable.
    ///
    /// # Errors
    /// If something is not.
    pub(crate) async fn settle(&self) -> Result<(), Diagnostics> {
        if !self.queued.swap(false, Ordering::SeqCst) {
            return Ok(());
        }
        match &self.kept {
            Kept::InJournal(store) => store.append_journal(Vec::new()).await,
            Kept::InState(kept) => {
                let all = kept.recorded.load(Ordering::SeqCst);
                self.bring_to_state(kept, all).await
            }
        }
    }

    /// The recorder's lock is held until the bytes are queued, not until they are durable: entries are
    /// in the store in the order in which they were recorded, and those that wait together share a
    /// sync.
    async fn write(
        &self,
        mut recorder: tokio::sync::MutexGuard<'_, Recorder>,
        entry: JournalEntry,
        wait: Wait,
    ) -> Result<(), Diagnostics> {
        let bytes = recorder.record(&entry).map_err(|e| {
            Diagnostics::from(Diagnostic::error(
                "Journal refuses an entry",
                format!(
                    "This is a fault of Formwork: {e}. The operation was stopped before it began."
                ),
            ))
        })?;
        match (&self.kept, wait) {
            (Kept::InJournal(store), Wait::Durable) => {
                let durable = store.append_journal(bytes);
                drop(recorder);
                durable.await
            }
            (Kept::InJournal(store), Wait::Queued) => {
                self.queued.store(true, Ordering::SeqCst);
                store.queue_journal(bytes)
            }
            (Kept::InState(kept), wait) => {
                let own = kept.recorded.fetch_add(1, Ordering::SeqCst) + 1;
                drop(recorder);
                // an end is not held back here: no clock would bring it to the state
                if wait == Wait::Queued && matches!(entry, JournalEntry::Begun(_)) {
                    self.queued.store(true, Ordering::SeqCst);
                    return Ok(());
                }
                self.bring_to_state(kept, own).await
            }
        }
    }

    /// Waits until the entry of this number is in the state. Who comes first brings all there are.
    async fn bring_to_state(&self, kept: &Written, own: u64) -> Result<(), Diagnostics> {
        let mut written = kept.written.lock().await;
        if *written.as_ref().map_err(Clone::clone)? >= own {
            return Ok(());
        }
        let (state, pending, all) = {
            let recorder = self.recorder.lock().await;
            let ledger = recorder.ledger();
            (
                ledger.state().clone(),
                ledger.pending().cloned().collect(),
                kept.recorded.load(Ordering::SeqCst),
            )
        };
        let done = kept.store.keep(state, pending).await;
        *written = done.clone().map(|()| all);
        done
    }

    /// Changes the state without an operation: outputs, results of checks.
    pub async fn change(&self, change: impl FnOnce(&mut State)) {
        change(self.recorder.lock().await.state_mut());
    }

    /// Looks at the state as it is now.
    pub async fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(self.recorder.lock().await.ledger().state())
    }

    /// The ledger, at the end of a run.
    pub fn into_ledger(self) -> Ledger {
        self.recorder.into_inner().into_ledger()
    }
}

/// The notes of one operation.
pub struct NoteLog<'r> {
    record: &'r Record,
    id: OperationId,
    noted: AtomicBool,
}

impl<'r> NoteLog<'r> {
    /// Notes of the operation `id`.
    pub fn new(record: &'r Record, id: OperationId) -> Self {
        Self {
            record,
            id,
            noted: AtomicBool::new(false),
        }
    }

    /// Whether something is noted, and durable.
    pub fn is_noted(&self) -> bool {
        self.noted.load(Ordering::Acquire)
    }
}

#[async_trait]
impl OperationLog for NoteLog<'_> {
    async fn note(&self, note: Vec<u8>) -> Result<(), NoteError> {
        let entry = JournalEntry::Noted {
            id: self.id,
            note: note.into(),
        };
        self.record
            .entry(Wait::Durable, entry)
            .await
            .map_err(|d| NoteError {
                reason: d
                    .iter()
                    .map(|d| d.detail.clone())
                    .collect::<Vec<_>>()
                    .join(" "),
            })?;
        self.noted.store(true, Ordering::Release);
        Ok(())
    }
}
