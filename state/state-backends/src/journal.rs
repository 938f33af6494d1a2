//! The thread that writes a journal.
//!
//! A sync takes milliseconds and blocks; were it done on the caller's thread, an async runtime would
//! stand still, and ten operations that end together would wait for ten syncs. One thread waits for a
//! moment, takes what is queued, writes all of it, syncs once, and answers everybody. Entries for whose
//! durability nobody waits are kept back for [`KEPT_BACK_FOR`], or until one comes for which somebody
//! does: the sync is then shared by all operations of that time.

use crate::explain::explain;
use crate::files::{self, Locked};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_state::LockError;
use futures::channel::oneshot;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

type Answer<T> = oneshot::Sender<T>;

/// Where the thread's answer comes.
pub(crate) type Receipt<T> = oneshot::Receiver<T>;

/// How long the first entry waits for those that are queued with it. Operations that begin or end
/// together are queued within some ten microseconds of each other, and without this the first would
/// have a sync of its own, which takes a hundred times as long and keeps the others waiting.
const GATHERING: Duration = Duration::from_micros(50);

/// How long entries may wait for whose durability nobody waits.
const KEPT_BACK_FOR: Duration = Duration::from_millis(10);

/// What the thread is asked to do.
enum Job {
    Read(Answer<Result<Vec<u8>, Diagnostics>>),
    Lock(Answer<Result<(), LockError>>),
    /// With an answer, if anybody waits for it.
    Append(Vec<u8>, Option<Answer<Result<(), Diagnostics>>>),
    /// Entries are kept back from now on.
    KeepsBack,
    Replace(Vec<u8>, Answer<Result<(), Diagnostics>>),
    Unlock(Answer<()>),
}

/// What is shared with the thread.
#[derive(Default)]
struct Shared {
    /// Entries for whose durability nobody waits, in order. Whatever is asked of the thread next comes
    /// behind them.
    kept_back: Vec<u8>,
    /// Why an append failed: what follows would not stand on firm ground.
    broken: Option<Diagnostics>,
}

fn guard(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread, and what it is asked. It ends, all written, when this is dropped.
pub(crate) struct JournalThread {
    jobs: Option<Sender<Job>>,
    shared: Arc<Mutex<Shared>>,
    thread: Option<JoinHandle<()>>,
}

impl JournalThread {
    /// Starts it for the journal at `path`.
    pub fn start(path: PathBuf, process: u32) -> io::Result<Self> {
        let (sender, receiver) = channel();
        let shared = Arc::<Mutex<Shared>>::default();
        let mut writer = Writer {
            path,
            process,
            locked: None,
            kept: false,
            shared: shared.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                writer.run(&receiver);
                writer.unlock();
            })?;
        Ok(Self {
            jobs: Some(sender),
            shared,
            thread: Some(thread),
        })
    }

    fn send(&self, job: Job) -> Result<(), Diagnostics> {
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(job));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(gone()),
        }
    }

    /// Asks for something that comes after all that is kept back.
    fn ask<T>(&self, job: impl FnOnce(Answer<T>) -> Job) -> Result<Receipt<T>, Diagnostics> {
        let (answer, answered) = oneshot::channel();
        // held until the job is queued: what is kept back later comes after it
        let mut shared = guard(&self.shared);
        if !shared.kept_back.is_empty() {
            let kept_back = std::mem::take(&mut shared.kept_back);
            self.send(Job::Append(kept_back, None))?;
        }
        self.send(job(answer))?;
        Ok(answered)
    }

    /// Adds bytes, and says when they are durable.
    pub fn append(&self, bytes: Vec<u8>) -> Result<Receipt<Result<(), Diagnostics>>, Diagnostics> {
        let (answer, answered) = oneshot::channel();
        let mut shared = guard(&self.shared);
        let mut all = std::mem::take(&mut shared.kept_back);
        all.extend_from_slice(&bytes);
        self.send(Job::Append(all, Some(answer)))?;
        Ok(answered)
    }

    /// Adds bytes for which nobody waits.
    pub fn keep_back(&self, bytes: &[u8]) -> Result<(), Diagnostics> {
        let mut shared = guard(&self.shared);
        if let Some(broken) = &shared.broken {
            return Err(broken.clone());
        }
        let first = shared.kept_back.is_empty();
        shared.kept_back.extend_from_slice(bytes);
        if first {
            self.send(Job::KeepsBack)?;
        }
        Ok(())
    }

    /// See [`formwork_state::JournalStore::read_journal`].
    pub fn read(&self) -> Result<Receipt<Result<Vec<u8>, Diagnostics>>, Diagnostics> {
        self.ask(Job::Read)
    }

    /// See [`formwork_state::JournalStore::lock_journal`].
    pub fn lock(&self) -> Result<Receipt<Result<(), LockError>>, Diagnostics> {
        self.ask(Job::Lock)
    }

    /// See [`formwork_state::JournalStore::replace_journal`].
    pub fn replace(&self, bytes: Vec<u8>) -> Result<Receipt<Result<(), Diagnostics>>, Diagnostics> {
        self.ask(|answer| Job::Replace(bytes, answer))
    }

    /// See [`formwork_state::JournalStore::unlock_journal`].
    pub fn unlock(&self) -> Result<Receipt<()>, Diagnostics> {
        self.ask(Job::Unlock)
    }
}

impl Drop for JournalThread {
    /// Waits for what is queued, and for the journal's lock to be gone.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // a thread that panicked holds no lock any more
            let _ = thread.join();
        }
    }
}

/// The journal's thread ended, which it does not do of itself.
pub(crate) fn gone() -> Diagnostics {
    Diagnostic::error(
        "Failed to write the journal",
        "The thread that writes the journal is gone. This is a defect of Formwork.",
    )
    .into()
}

struct Writer {
    path: PathBuf,
    process: u32,
    locked: Option<Locked>,
    /// Whether exclusive use was asked for by name: then it lasts until it is given up.
    kept: bool,
    shared: Arc<Mutex<Shared>>,
}

impl Writer {
    fn run(&mut self, jobs: &Receiver<Job>) {
        let mut next = jobs.recv().ok();
        while let Some(job) = next.take() {
            // nobody waits for an answer that cannot be delivered
            match job {
                Job::Append(bytes, answer) => {
                    let (mut all, mut answers) = (bytes, vec![answer]);
                    std::thread::sleep(GATHERING);
                    loop {
                        match jobs.try_recv() {
                            Ok(Job::Append(bytes, answer)) => {
                                all.extend_from_slice(&bytes);
                                answers.push(answer);
                            }
                            Ok(other) => {
                                next = Some(other);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    let result = self.append(&all);
                    for answer in answers.into_iter().flatten() {
                        let _ = answer.send(result.clone());
                    }
                }
                Job::KeepsBack => {
                    next = jobs.recv_timeout(KEPT_BACK_FOR).ok();
                    if next.is_none() {
                        self.append_kept_back();
                    }
                }
                Job::Read(answer) => {
                    let _ = answer.send(self.read());
                }
                Job::Lock(answer) => {
                    let locked = self.lock();
                    self.kept |= locked.is_ok();
                    let _ = answer.send(locked);
                }
                Job::Replace(bytes, answer) => {
                    let _ = answer.send(self.replace(&bytes));
                }
                Job::Unlock(answer) => {
                    self.unlock();
                    let _ = answer.send(());
                }
            }
            if next.is_none() {
                next = jobs.recv().ok();
            }
        }
        self.append_kept_back();
    }

    /// Writes what nobody waits for. That it failed is told by whatever is asked for next.
    fn append_kept_back(&mut self) {
        let bytes = std::mem::take(&mut guard(&self.shared).kept_back);
        if !bytes.is_empty() {
            let _ = self.append(&bytes);
        }
    }

    fn told(&self, tried: &str, error: &io::Error) -> Diagnostics {
        explain("Failed to write the journal", tried, &self.path, error).into()
    }

    fn read(&self) -> Result<Vec<u8>, Diagnostics> {
        let bytes = match &self.locked {
            Some(locked) => files::read_open(&locked.file),
            None => files::read(&self.path).map(Option::unwrap_or_default),
        };
        bytes.map_err(|e| explain("Failed to read the journal", "Reading", &self.path, &e).into())
    }

    fn lock(&mut self) -> Result<(), LockError> {
        if self.locked.is_none() {
            let locked = files::open_locked(&self.path)
                .map_err(|e| LockError::Failed(self.told("Locking", &e)))?;
            let Some(locked) = locked else {
                return Err(LockError::Held {
                    what: self.path.display().to_string(),
                    holder: None,
                });
            };
            files::make_private(&locked.file);
            files::remove_unfinished(&self.path);
            self.locked = Some(locked);
        }
        Ok(())
    }

    fn locked(&mut self) -> Result<&mut Locked, Diagnostics> {
        if let Some(broken) = &guard(&self.shared).broken {
            return Err(broken.clone());
        }
        self.lock().map_err(LockError::into_diagnostics)?;
        self.locked.as_mut().ok_or_else(|| {
            Diagnostic::error(
                "Failed to write the journal",
                "The journal is not open, although it was just locked.",
            )
            .into()
        })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), Diagnostics> {
        let locked = self.locked()?;
        if bytes.is_empty() {
            return Ok(());
        }
        let mut write = || {
            locked.file.write_all(bytes)?;
            locked.file.sync_data()
        };
        write().map_err(|e| {
            let broken = self.told("Appending to", &e);
            guard(&self.shared).broken = Some(broken.clone());
            broken
        })
    }

    fn replace(&mut self, bytes: &[u8]) -> Result<(), Diagnostics> {
        self.locked()?;
        if bytes.is_empty() && !self.kept {
            remove(&self.path).map_err(|e| self.told("Removing", &e))?;
            self.locked = None;
            return Ok(());
        }
        let file = files::replace(&self.path, bytes, self.process, true)
            .map_err(|e| self.told("Writing", &e))?;
        self.locked = Some(Locked {
            file,
            created: false,
        });
        Ok(())
    }

    fn unlock(&mut self) {
        if let Some(locked) = self.locked.take()
            && locked.file.metadata().is_ok_and(|m| m.len() == 0)
        {
            // it is there only to be locked
            let _ = fs::remove_file(&self.path);
        }
        self.kept = false;
        guard(&self.shared).broken = None;
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => files::sync_directory(path),
    }
}
