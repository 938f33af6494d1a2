//! [`LocalStore`]: a state in a file, its lock, its backup and its journal beside it.

use crate::explain::explain;
use crate::file_lock;
use crate::files::{self, Locked, Replaced, hidden, with_suffix};
use crate::journal::{JournalThread, gone};
use async_trait::async_trait;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_environment::Environment;
use formwork_state::{
    Durable, JournalStore, JournalSupport, LockError, LockInfo, SnapshotStore, StateLock,
};
use futures::channel::oneshot;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Where the state that a run found is kept before the run writes its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backup {
    /// At the state's path with `.backup` behind it.
    Beside,
    /// At this path.
    At(PathBuf),
    /// Nowhere.
    None,
}

/// A state in a file: `terraform.tfstate` or what `-state` names.
///
/// The backup is written once in the life of a store, before its first write, if there was a state.
pub struct LocalStore {
    inner: Arc<Inner>,
    journal_path: PathBuf,
    journal: Mutex<Option<JournalThread>>,
}

struct Inner {
    /// As given, for messages.
    shown: String,
    path: PathBuf,
    backup: Option<PathBuf>,
    process: u32,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    lock: Option<(Locked, LockInfo)>,
    /// Files that stood at the path while the lock was held. Who opened one of them before it was
    /// replaced must not take it for the state.
    replaced: Vec<File>,
    backed_up: bool,
}

impl LocalStore {
    /// The state at `path`, which is relative to the working directory.
    pub fn new(environment: &Environment, path: &Path, backup: Backup) -> Self {
        let full = files::resolve(&environment.working.join(path));
        let backup = match backup {
            Backup::Beside => Some(with_suffix(&full, ".backup")),
            Backup::At(path) => Some(environment.working.join(path)),
            Backup::None => None,
        };
        Self {
            journal_path: with_suffix(&full, ".journal"),
            inner: Arc::new(Inner {
                shown: path.display().to_string(),
                path: full,
                backup,
                process: environment.process,
                held: Mutex::default(),
            }),
            journal: Mutex::new(None),
        }
    }

    /// The file that holds the state.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The file that holds the journal.
    pub fn journal_path(&self) -> &Path {
        &self.journal_path
    }

    /// Runs `work` on a thread of its own: it waits for the disk.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, LockError> + Send + 'static,
    ) -> Result<T, LockError> {
        let inner = self.inner.clone();
        let (answer, answered) = oneshot::channel();
        std::thread::Builder::new()
            .name("state".to_owned())
            .spawn(move || {
                let result = work(&inner);
                // a caller that drops the store after the answer expects its locks to be gone
                drop(inner);
                // nobody waits for an answer that cannot be delivered
                let _ = answer.send(result);
            })
            .map_err(|e| LockError::Failed(self.no_thread(&e)))?;
        answered.await.unwrap_or_else(|_| {
            Err(LockError::Failed(Diagnostics::from(Diagnostic::error(
                "Failed to reach the state",
                format!("The work on {} ended without an answer.", self.inner.shown),
            ))))
        })
    }

    fn no_thread(&self, error: &io::Error) -> Diagnostics {
        explain(
            "Failed to reach the state",
            "Starting the thread that works on",
            &self.inner.path,
            error,
        )
        .into()
    }

    /// Has something done with the journal's thread, which is started at its first use.
    fn journal<T>(
        &self,
        ask: impl FnOnce(&JournalThread) -> Result<T, Diagnostics>,
    ) -> Result<T, Diagnostics> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if journal.is_none() {
            let started = JournalThread::start(self.journal_path.clone(), self.inner.process);
            *journal = Some(started.map_err(|e| self.no_thread(&e))?);
        }
        journal.as_ref().map_or_else(|| Err(gone()), ask)
    }
}

impl Inner {
    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn info_path(&self) -> PathBuf {
        hidden(&self.path, ".lock.info")
    }

    fn lock(&self, info: &LockInfo) -> Result<(), LockError> {
        let mut held = self.held();
        if let Some((_, holder)) = &held.lock {
            return Err(LockError::Held {
                what: self.shown.clone(),
                holder: Some(Box::new(holder.clone())),
            });
        }
        let locked = files::open_locked(&self.path).map_err(|e| {
            let d = explain(
                "Error acquiring the state lock",
                "Locking the state",
                &self.path,
                &e,
            );
            LockError::Failed(d.into())
        })?;
        let Some(locked) = locked else {
            let message = fs::read(self.info_path()).ok();
            return Err(LockError::Held {
                what: self.shown.clone(),
                holder: message
                    .and_then(|bytes| LockInfo::from_json(&bytes))
                    .map(Box::new),
            });
        };
        files::remove_unfinished(&self.path);
        let told = self.tell_holder(info);
        held.lock = Some((locked, info.clone()));
        told.map_err(|e| {
            drop(held);
            // what was locked is given up, and a file that was made for it is removed
            let _ = self.unlock(&info.id);
            let d = explain(
                "Error acquiring the state lock",
                "Writing who holds the lock to",
                &self.info_path(),
                &e,
            );
            LockError::Failed(d.into())
        })
    }

    /// Writes the message for others. The lock stands without it, so where no such file may be made
    /// (a directory that is read-only) there is none; a disk that is full or broken is told of before
    /// anything is begun.
    fn tell_holder(&self, info: &LockInfo) -> io::Result<()> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(self.info_path());
        match file {
            Ok(mut file) => {
                files::make_private(&file);
                file.write_all(info.to_json().as_bytes())
            }
            Err(_) => Ok(()),
        }
    }

    fn unlock(&self, id: &str) -> Result<(), Diagnostics> {
        let mut held = self.held();
        match held.lock.take() {
            Some((locked, info)) if info.id == id => {
                let _ = fs::remove_file(self.info_path());
                let empty = locked.file.metadata().is_ok_and(|m| m.len() == 0);
                if locked.created && empty {
                    // made only to be locked
                    let _ = fs::remove_file(&self.path);
                }
                for old in held.replaced.drain(..) {
                    file_lock::unlock(&old);
                }
                Ok(())
            }
            other => {
                held.lock = other;
                Err(Diagnostic::error(
                    "Error releasing the state lock",
                    format!(
                        "The state {} is not locked by this run with the lock id {id}.",
                        self.shown
                    ),
                )
                .into())
            }
        }
    }

    /// A lock of a living process ends with the process only; one that a dead process left is no more
    /// than its message, which is removed.
    fn break_lock(&self, id: &str) -> Result<(), Diagnostics> {
        const SUMMARY: &str = "Error releasing the state lock";
        let message = fs::read(self.info_path()).ok();
        let holder = message.and_then(|bytes| LockInfo::from_json(&bytes));
        let refused = |why: String| Diagnostics::from(Diagnostic::error(SUMMARY, why));
        if holder.as_ref().is_none_or(|h| h.id != id) {
            return Err(refused(format!(
                "The state {} is not locked with the lock id {id}.",
                self.shown
            )));
        }
        let known = LockInfo {
            id: id.to_owned(),
            ..LockInfo::default()
        };
        match self.lock(&known) {
            // its message goes with the lock
            Ok(()) => self.unlock(id),
            Err(LockError::Failed(d)) => Err(d),
            Err(LockError::Held { .. }) => Err(refused(format!(
                "The state {} is locked by a process that runs ({}). The lock of a file belongs to the \
                 process and ends with it; nobody else can release it.",
                self.shown,
                holder.unwrap_or_default()
            ))),
        }
    }

    /// Somebody has put another file where the locked one was.
    fn lock_is_lost(&self) -> Diagnostic {
        Diagnostic::error(
            "State lock lost",
            format!(
                "The state {} is not the file any more that this run locked: somebody has put another one in its place \
                 meanwhile, without looking at the lock. It was not overwritten.",
                self.shown
            ),
        )
        .hint(
            "What this run did stands in the journal beside the state. Find out who wrote the state, then run again: \
             what the state lacks is then settled.",
        )
    }

    fn current(&self, held: &Held) -> io::Result<Option<Vec<u8>>> {
        let bytes = match &held.lock {
            Some((locked, _)) => Some(files::read_open(&locked.file)?),
            None => files::read(&self.path)?,
        };
        // what Terraform and we leave when a state that is not there yet is locked
        Ok(bytes.filter(|b| !b.is_empty()))
    }

    fn read(&self) -> Result<Option<Vec<u8>>, Diagnostics> {
        let held = self.held();
        self.current(&held)
            .map_err(|e| explain("Failed to read the state", "Reading", &self.path, &e).into())
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Diagnostics> {
        const SUMMARY: &str = "Failed to write the state";
        let mut held = self.held();
        if let Some((locked, _)) = &held.lock
            && !files::is_at(&locked.file, &self.path)
        {
            return Err(self.lock_is_lost().into());
        }
        if let Some(backup) = self.backup.as_ref().filter(|_| !held.backed_up) {
            let old = self
                .current(&held)
                .map_err(|e| explain(SUMMARY, "Reading, for its backup,", &self.path, &e))?;
            if let Some(old) = old {
                files::replace(backup, &old, self.process, false)
                    .map_err(|e| explain(SUMMARY, "Writing the backup", backup, &e))?;
            }
        }
        held.backed_up = true;
        let failed = |e| Diagnostics::from(explain(SUMMARY, "Writing", &self.path, &e));
        fs::create_dir_all(files::parent(&self.path)).map_err(failed)?;
        let held = &mut *held;
        let Some((lock, _)) = &mut held.lock else {
            return files::replace(&self.path, bytes, self.process, false)
                .map(drop)
                .map_err(failed);
        };
        match files::replace_held(&self.path, bytes, self.process, &lock.file).map_err(failed)? {
            Replaced::Held(between) => {
                lock.created = false;
                held.replaced.push(between);
                Ok(())
            }
            Replaced::New(new, meant) => {
                lock.created = false;
                let old = std::mem::replace(&mut lock.file, new);
                held.replaced.push(old);
                meant.map_err(failed)
            }
        }
    }
}

#[async_trait]
impl SnapshotStore for LocalStore {
    fn describe(&self) -> String {
        self.inner.shown.clone()
    }

    async fn read_snapshot(&self) -> Result<Option<Vec<u8>>, Diagnostics> {
        self.blocking(|inner| inner.read().map_err(LockError::Failed))
            .await
            .map_err(LockError::into_diagnostics)
    }

    async fn write_snapshot(&self, bytes: &[u8]) -> Result<(), Diagnostics> {
        let bytes = bytes.to_vec();
        self.blocking(move |inner| inner.write(&bytes).map_err(LockError::Failed))
            .await
            .map_err(LockError::into_diagnostics)
    }
}

#[async_trait]
impl StateLock for LocalStore {
    async fn lock(&self, info: &LockInfo) -> Result<(), LockError> {
        let info = info.clone();
        self.blocking(move |inner| inner.lock(&info)).await
    }

    async fn unlock(&self, id: &str) -> Result<(), Diagnostics> {
        let id = id.to_owned();
        self.blocking(move |inner| inner.unlock(&id).map_err(LockError::Failed))
            .await
            .map_err(LockError::into_diagnostics)
    }

    async fn break_lock(&self, id: &str) -> Result<(), Diagnostics> {
        let id = id.to_owned();
        self.blocking(move |inner| inner.break_lock(&id).map_err(LockError::Failed))
            .await
            .map_err(LockError::into_diagnostics)
    }
}

#[async_trait]
impl JournalStore for LocalStore {
    fn journal_support(&self) -> JournalSupport {
        JournalSupport::Durable
    }

    async fn read_journal(&self) -> Result<Vec<u8>, Diagnostics> {
        let answered = self.journal(JournalThread::read)?;
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    async fn lock_journal(&self) -> Result<(), LockError> {
        let answered = self
            .journal(JournalThread::lock)
            .map_err(LockError::Failed)?;
        answered
            .await
            .unwrap_or_else(|_| Err(LockError::Failed(gone())))
    }

    fn append_journal(&self, bytes: Vec<u8>) -> Durable {
        let answered = self.journal(|j| j.append(bytes));
        Box::pin(async move { answered?.await.unwrap_or_else(|_| Err(gone())) })
    }

    fn queue_journal(&self, bytes: Vec<u8>) -> Result<(), Diagnostics> {
        self.journal(|j| j.keep_back(&bytes))
    }

    async fn replace_journal(&self, bytes: Vec<u8>) -> Result<(), Diagnostics> {
        let answered = self.journal(|j| j.replace(bytes))?;
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    async fn unlock_journal(&self) {
        if let Ok(answered) = self.journal(JournalThread::unlock) {
            let _ = answered.await;
        }
    }
}
