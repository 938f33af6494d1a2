//! The thread that writes a journal.
//!
//! A sync takes milliseconds and blocks; were it done on the caller's thread, an async runtime would
//! stand still, and ten operations that end together would wait for ten syncs. One thread waits for a
//! moment, takes what is queued, writes all of it, syncs once, and answers everybody.

use crate::explain::explain;
use crate::files::{self, Locked};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_state::LockError;
use futures::channel::oneshot;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

type Answer<T> = oneshot::Sender<T>;

/// How long the first entry waits for those that are queued with it. Operations that begin or end
/// together are queued within some ten microseconds of each other, and without this the first would
/// have a sync of its own, which takes a hundred times as long and keeps the others waiting.
const GATHERING: Duration = Duration::from_micros(50);

/// What the thread is asked to do.
pub(crate) enum Job {
    Read(Answer<Result<Vec<u8>, Diagnostics>>),
    Lock(Answer<Result<(), LockError>>),
    Append(Vec<u8>, Answer<Result<(), Diagnostics>>),
    Replace(Vec<u8>, Answer<Result<(), Diagnostics>>),
    Unlock(Answer<()>),
}

/// Starts the thread; it ends when the sender is dropped.
pub(crate) fn start(path: PathBuf, process: u32) -> io::Result<(Sender<Job>, JoinHandle<()>)> {
    let (sender, receiver) = channel();
    let thread = std::thread::Builder::new()
        .name("journal".to_owned())
        .spawn(move || {
            let mut writer = Writer {
                path,
                process,
                locked: None,
                kept: false,
                broken: None,
            };
            writer.run(&receiver);
            writer.unlock();
        })?;
    Ok((sender, thread))
}

struct Writer {
    path: PathBuf,
    process: u32,
    locked: Option<Locked>,
    /// Whether exclusive use was asked for by name: then it lasts until it is given up.
    kept: bool,
    /// Why an append failed: what follows would not stand on firm ground.
    broken: Option<Diagnostics>,
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
                    for answer in answers {
                        let _ = answer.send(result.clone());
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
        if let Some(broken) = &self.broken {
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
        let mut write = || {
            locked.file.write_all(bytes)?;
            locked.file.sync_data()
        };
        write().map_err(|e| {
            let broken = self.told("Appending to", &e);
            self.broken = Some(broken.clone());
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
        self.broken = None;
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => files::sync_directory(path),
    }
}
