//! Opening, locking, folding and writing the state.

use crate::in_state::{pending_of, set_pending};
use crate::session::Session;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_journal::{
    Head, OperationId, PendingOperation, Recorder, SnapshotHash, decode, replay,
};
use formwork_plan::Event;
use formwork_state::{
    JournalSupport, LockInfo, OtherKeys, Sleeper, Snapshot, State, lock_within, timestamp, v4,
};
use std::sync::Arc;
use std::time::Duration;

/// The state as it is, the journal folded in.
#[derive(Clone)]
pub struct StateView {
    /// The snapshot as it lies in the store; `None` if there is none yet.
    pub snapshot: Option<Snapshot>,
    /// Its bytes' hash.
    pub hash: Option<SnapshotHash>,
    /// Its bytes as they were read, while nothing has been written since.
    pub bytes: Option<Arc<Vec<u8>>>,
    /// What is remembered: the snapshot with the journal replayed on it.
    pub state: State,
    /// Operations of a former run of which nobody knows how they ended.
    pub pending: Vec<PendingOperation>,
    /// The id of the next operation.
    pub next: OperationId,
    /// Whether the journal has changed the state.
    pub folded: bool,
    /// The lineage that the journal names, if there is one.
    pub lineage: Option<String>,
}

/// A state held under its lock.
pub struct Held {
    pub(crate) view: StateView,
    /// The lock's id, if it was taken.
    lock: Option<String>,
    /// Hash of the journal's bytes as they were read.
    journal: SnapshotHash,
    /// Whether the journal is this run's alone.
    own_journal: bool,
}

impl Held {
    /// The state.
    pub fn view(&self) -> &StateView {
        &self.view
    }

    /// The lineage: that of the snapshot; without one that which the journal names, since the first
    /// snapshot must be the one that the journal extends; without either a new one.
    pub(crate) fn lineage(&self, session: &Session) -> String {
        let known = match &self.view.snapshot {
            Some(s) => Some(&s.lineage),
            None => self.view.lineage.as_ref(),
        };
        match known {
            Some(lineage) if !lineage.is_empty() => lineage.clone(),
            _ => session.environment.uuid(),
        }
    }

    /// Makes the journal this run's alone, before the first write. The state's lock does not say it:
    /// either run may have been told to do without (`-lock=false`), and a run that only looks needs
    /// none.
    ///
    /// # Errors
    /// That another run is writing, or has written since the state was read.
    pub(crate) async fn own_journal(&mut self, session: &Session) -> Result<(), Diagnostics> {
        if self.own_journal {
            return Ok(());
        }
        let store = &session.store;
        // where there is no journal this locks nothing, and another's writing can still be seen
        store
            .lock_journal()
            .await
            .map_err(formwork_state::LockError::into_diagnostics)?;
        self.own_journal = true;
        let snapshot = store
            .read_snapshot()
            .await?
            .as_deref()
            .map(SnapshotHash::of);
        let journal = SnapshotHash::of(&store.read_journal().await?);
        if snapshot == self.view.hash && journal == self.journal {
            return Ok(());
        }
        Err(Diagnostic::error(
            "State changed meanwhile",
            format!(
                "Another run has written the state {} since this one read it, which can only be while it is not locked. \
                 Nothing was done. Run again, without -lock=false where others may run too.",
                store.describe()
            ),
        )
        .into())
    }

    /// Gives the state up.
    pub async fn release(self, session: &Session) -> Diagnostics {
        session.store.unlock_journal().await;
        match self.lock {
            Some(id) => unlock(session, &id).await.err().unwrap_or_default(),
            None => Diagnostics::new(),
        }
    }
}

/// Reads the state without locking it, for commands that only look.
///
/// # Errors
/// Why it cannot be read, or that it is another cloud's.
pub async fn read_state(session: &Session) -> Result<(StateView, Diagnostics), Diagnostics> {
    let (view, _, said) = read(session).await?;
    Ok((view, said))
}

/// The state, and the hash of the journal's bytes.
async fn read(session: &Session) -> Result<(StateView, SnapshotHash, Diagnostics), Diagnostics> {
    let mut said = Diagnostics::new();
    let store = &session.store;
    let bytes = store.read_snapshot().await?;
    let name = store.describe();
    let snapshot = match &bytes {
        None => None,
        Some(bytes) => {
            let snapshot = said.take(v4::read(bytes, &name));
            if said.has_errors() {
                return Err(said);
            }
            snapshot
        }
    };
    let hash = bytes
        .as_deref()
        .filter(|_| snapshot.is_some())
        .map(SnapshotHash::of);
    if let Some(s) = &snapshot {
        same_cloud(s.cloud().as_deref(), session.cloud.as_deref(), &name)?;
    }
    let journal_bytes = store.read_journal().await?;
    let journal = if journal_bytes.is_empty() {
        None
    } else {
        decode(&journal_bytes, &format!("{name}.journal"))?
    };
    if let (None, Some(journal)) = (&snapshot, &journal) {
        same_cloud(
            journal.head.cloud.as_deref(),
            session.cloud.as_deref(),
            &name,
        )?;
    }
    let before = snapshot
        .as_ref()
        .map(|s| s.state.clone())
        .unwrap_or_default();
    let replayed = replay(snapshot.as_ref().zip(hash), journal.as_ref())?;
    let folded = replayed.state != before;
    let (mut pending, mut next) = (replayed.pending, replayed.next);
    if let Some(snapshot) = &snapshot {
        let carried = pending_of(snapshot).map_err(|why| {
            Diagnostics::from(Diagnostic::error(
                "Damaged state",
                format!(
                    "The operations left open in the state {name} (x_formwork_pending) cannot be read: {why}."
                ),
            ))
        })?;
        for operation in carried {
            let id = operation.begun.id;
            next = next.max(OperationId(id.0.saturating_add(1)));
            // a journal knows more of the same operation
            if pending.iter().all(|p| p.begun.id != id) {
                pending.push(operation);
            }
        }
    }
    let view = StateView {
        bytes: bytes.filter(|_| snapshot.is_some()).map(Arc::new),
        snapshot,
        hash,
        state: replayed.state,
        pending,
        next,
        folded,
        lineage: replayed.lineage,
    };
    Ok((view, SnapshotHash::of(&journal_bytes), said))
}

/// Locks the state, if it is to be locked; gives the lock's id.
async fn lock(session: &Session, operation: &str) -> Result<Option<String>, Diagnostics> {
    if !session.settings.lock {
        return Ok(None);
    }
    let environment = &session.environment;
    let info = LockInfo {
        id: environment.uuid(),
        operation: operation.to_owned(),
        info: String::new(),
        who: environment.who.clone(),
        version: session.settings.tool_version.clone(),
        created: timestamp(environment.clock.now()),
        path: session.store.describe(),
    };
    let sleeper = UntilCancelled(session);
    let timeout = session.settings.lock_timeout;
    let locking = lock_within(&*session.store, &info, timeout, &sleeper);
    telling(session, Event::Locking, locking)
        .await
        .map_err(formwork_state::LockError::into_diagnostics)?;
    Ok(Some(info.id))
}

/// Releases the state.
async fn unlock(session: &Session, id: &str) -> Result<(), Diagnostics> {
    telling(session, Event::Unlocking, session.store.unlock(id)).await
}

/// How long a lock may take before those who watch are told of it, as Terraform has it.
const PATIENCE: Duration = Duration::from_millis(400);

/// Does something, and tells that it takes a while if it does.
async fn telling<T>(session: &Session, event: Event, work: impl Future<Output = T>) -> T {
    use futures::future::{Either, select};
    let work = std::pin::pin!(work);
    let patience = std::pin::pin!(session.sleeper.sleep(PATIENCE));
    match select(work, patience).await {
        Either::Left((done, _)) => done,
        Either::Right(((), work)) => {
            session.events.emit(event);
            work.await
        }
    }
}

/// Waiting that ends when the run is asked to stop.
struct UntilCancelled<'s>(&'s Session);

#[async_trait::async_trait]
impl Sleeper for UntilCancelled<'_> {
    async fn sleep(&self, time: Duration) {
        let slept = std::pin::pin!(self.0.sleeper.sleep(time));
        let cancelled = std::pin::pin!(self.0.cancel.cancelled());
        futures::future::select(slept, cancelled).await;
    }

    fn gives_up(&self) -> bool {
        self.0.cancel.is_cancelled()
    }
}

/// Does something while the state is locked, whatever it holds.
///
/// # Errors
/// That somebody else holds it, what went wrong meanwhile, or that it cannot be released.
pub async fn with_lock(
    session: &Session,
    operation: &str,
    work: impl AsyncFnOnce() -> Result<(), Diagnostics>,
) -> Result<(), Diagnostics> {
    let lock = lock(session, operation).await?;
    let mut done = work().await;
    if let Some(id) = lock
        && let Err(more) = unlock(session, &id).await
    {
        match &mut done {
            Ok(()) => done = Err(more),
            Err(said) => said.append(more),
        }
    }
    done
}

/// Begins a state that holds nothing, if there is none yet: so a workspace comes to be.
///
/// # Errors
/// Why it cannot be written.
pub async fn begin_state(session: &Session) -> Result<Diagnostics, Diagnostics> {
    let (held, mut said) = hold(session, "workspace-new").await?;
    let written = match held.view.snapshot {
        Some(_) => Ok(()),
        None => {
            let version = session.settings.level.version.to_string();
            let mut snapshot = Snapshot::new(held.lineage(session), &version);
            snapshot.set_cloud(session.cloud.as_deref());
            session.store.write_snapshot(&v4::write(&snapshot)).await
        }
    };
    let released = held.release(session).await;
    match written {
        Ok(()) => {
            said.append(released);
            Ok(said)
        }
        Err(mut d) => {
            d.append(released);
            Err(d)
        }
    }
}

/// Locks the state and reads it.
///
/// # Errors
/// That somebody else holds it, or why it cannot be read; it is not locked then.
pub(crate) async fn hold(
    session: &Session,
    operation: &str,
) -> Result<(Held, Diagnostics), Diagnostics> {
    let lock = lock(session, operation).await?;
    match read(session).await {
        Ok((view, journal, said)) => {
            let held = Held {
                view,
                lock,
                journal,
                own_journal: false,
            };
            Ok((held, said))
        }
        Err(mut d) => {
            if let Some(id) = lock
                && let Err(more) = unlock(session, &id).await
            {
                d.append(more);
            }
            Err(d)
        }
    }
}

pub(crate) fn same_cloud(
    of_state: Option<&str>,
    of_run: Option<&str>,
    name: &str,
) -> Result<(), Diagnostics> {
    let detail = match (of_state, of_run) {
        (None, None) => return Ok(()),
        (Some(a), Some(b)) if a == b => return Ok(()),
        (Some(_), None) => {
            "it belongs to a mock cloud, but this run is for the real one. Add -mock, or use another state."
        }
        (None, Some(_)) => {
            "it belongs to the real cloud, but this run is for a mock one. Leave -mock out, or use another state."
        }
        (Some(_), Some(_)) => {
            "it belongs to another mock cloud than the one in use. Use that cloud (-mock=URL), or empty the state with `formwork mock reset`."
        }
    };
    Err(Diagnostic::error(
        "State of another cloud",
        format!("The state {name} cannot be used here: {detail}"),
    )
    .into())
}

/// Writes a new version of the state, if it has changed, and gives the view of it. Where the backend
/// keeps no journal the open operations of the view are written with it.
///
/// # Errors
/// Why it could not be written. The old one is then still there, and so is the journal.
pub(crate) async fn write(
    session: &Session,
    held: &mut Held,
    lineage: &str,
    state: State,
) -> Result<(), Diagnostics> {
    let version = session.settings.level.version.to_string();
    // what is open goes with the state where there is no journal, or where it did before
    let before = held.view.snapshot.as_ref();
    let carries = session.store.journal_support() == JournalSupport::Unsupported
        || before.is_some_and(|s| s.other.get(formwork_state::PENDING_KEY).is_some());
    let next = following(
        before,
        lineage,
        &version,
        session.cloud.as_deref(),
        state.clone(),
        carries.then_some(held.view.pending.as_slice()),
    );
    held.view.state = state;
    held.view.folded = false;
    let Some(snapshot) = next else { return Ok(()) };
    let bytes = v4::write(&snapshot);
    session.store.write_snapshot(&bytes).await?;
    held.view.hash = Some(SnapshotHash::of(&bytes));
    held.view.bytes = None;
    held.view.snapshot = Some(snapshot);
    Ok(())
}

/// The snapshot that follows another, if anything changes. `pending` is what is open, if that goes with
/// the state.
pub(crate) fn following(
    before: Option<&Snapshot>,
    lineage: &str,
    version: &str,
    cloud: Option<&str>,
    state: State,
    pending: Option<&[PendingOperation]>,
) -> Option<Snapshot> {
    match before {
        Some(s) => {
            let mut other = s.other.clone();
            set_cloud(&mut other, cloud);
            if let Some(pending) = pending {
                set_pending(&mut other, pending);
            }
            s.successor(state, other, version)
        }
        None if state.is_empty() && pending.is_none_or(<[_]>::is_empty) => None,
        None => {
            let mut snapshot = Snapshot::new(lineage, version);
            snapshot.serial = 1;
            snapshot.state = state;
            snapshot.set_cloud(cloud);
            if let Some(pending) = pending {
                set_pending(&mut snapshot.other, pending);
            }
            Some(snapshot)
        }
    }
}

fn set_cloud(other: &mut OtherKeys, cloud: Option<&str>) {
    match cloud {
        Some(id) => other.set(formwork_state::CLOUD_KEY, formwork_state::RawJson::text(id)),
        None => other.remove(formwork_state::CLOUD_KEY),
    }
}

/// Begins a journal on the state as it lies in the store now.
///
/// # Errors
/// Why it could not be written, or that the pending operations contradict the state.
pub(crate) async fn begin_journal(
    session: &Session,
    held: &Held,
    lineage: &str,
    pending: &[PendingOperation],
) -> Result<Recorder, Diagnostics> {
    let head = Head {
        lineage: lineage.to_owned(),
        serial: held.view.snapshot.as_ref().map_or(0, |s| s.serial),
        snapshot: held.view.hash,
        cloud: session.cloud.clone(),
        next: held.view.next,
    };
    let (recorder, bytes) =
        Recorder::begin(&head, held.view.state.clone(), pending).map_err(|e| {
            Diagnostics::from(Diagnostic::error(
                "Journal contradicts the state",
                format!("The operations left open by a former run cannot be carried on: {e}."),
            ))
        })?;
    if session.store.journal_support() == JournalSupport::Durable {
        session.store.replace_journal(bytes).await?;
    }
    Ok(recorder)
}

/// Ends the journal: empty if nothing is open, else holding what is.
///
/// # Errors
/// Why it could not be written.
pub(crate) async fn end_journal(
    session: &Session,
    held: &Held,
    lineage: &str,
    pending: &[PendingOperation],
) -> Result<(), Diagnostics> {
    if pending.is_empty() || session.store.journal_support() == JournalSupport::Unsupported {
        session.store.replace_journal(Vec::new()).await
    } else {
        begin_journal(session, held, lineage, pending)
            .await
            .map(drop)
    }
}

/// Hash of the state that a plan was made against, for comparison.
pub(crate) fn hash_text(view: &StateView) -> String {
    view.hash
        .as_ref()
        .map(|h| format!("{h}"))
        .unwrap_or_default()
}
