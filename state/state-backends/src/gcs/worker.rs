//! The one task that works on a state in a bucket.

use super::GcsConfig;
use super::explain::explain;
use super::journal::Journal;
use super::objects::{Generation, Objects, Written};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_google_client::Client;
use formwork_state::{LockError, LockInfo};
use futures::channel::oneshot;
use tokio::sync::mpsc::UnboundedReceiver;

type Answer<T> = oneshot::Sender<T>;

/// What the task is asked to do.
pub(super) enum Job {
    ReadSnapshot(Answer<Result<Option<Vec<u8>>, Diagnostics>>),
    WriteSnapshot(Vec<u8>, Answer<Result<(), Diagnostics>>),
    Lock(LockInfo, Answer<Result<(), LockError>>),
    Unlock(String, Answer<Result<(), Diagnostics>>),
    ReadJournal(Answer<Result<Vec<u8>, Diagnostics>>),
    LockJournal(Answer<Result<(), LockError>>),
    Append(Vec<u8>, Answer<Result<(), Diagnostics>>),
    Replace(Vec<u8>, Answer<Result<(), Diagnostics>>),
    UnlockJournal(Answer<()>),
    Workspaces(Answer<Result<Vec<String>, Diagnostics>>),
    Delete(Answer<Result<(), Diagnostics>>),
}

pub(super) struct Worker {
    config: GcsConfig,
    objects: Objects,
    /// The generation of the state as last read or written; `None` before.
    state: Option<Generation>,
    /// The lock that this process holds: the id it chose, and the lock object's generation.
    lock: Option<(String, Generation)>,
    /// The journal's own lock, taken where the state is not locked.
    journal_lock: Option<Generation>,
    /// Whether exclusive use of the journal was asked for by name: then it lasts until it is given up.
    kept: bool,
    journal: Journal,
}

impl Worker {
    pub fn new(config: GcsConfig, client: Client) -> Self {
        Self {
            objects: Objects {
                client,
                bucket: config.bucket.clone(),
                kms_key: config.kms_key.clone(),
                customer_key: config.customer_key.clone(),
            },
            journal: Journal::new(config.name(".tfjournal/")),
            config,
            state: None,
            lock: None,
            journal_lock: None,
            kept: false,
        }
    }

    /// Works until nobody can ask any more.
    pub async fn run(mut self, mut jobs: UnboundedReceiver<Job>) {
        let mut next = jobs.recv().await;
        while let Some(job) = next.take() {
            // nobody waits for an answer that cannot be delivered
            match job {
                Job::ReadSnapshot(answer) => drop(answer.send(self.read().await)),
                Job::WriteSnapshot(bytes, answer) => drop(answer.send(self.write(&bytes).await)),
                Job::Lock(info, answer) => drop(answer.send(self.lock(&info).await)),
                Job::Unlock(id, answer) => drop(answer.send(self.unlock(&id).await)),
                Job::ReadJournal(answer) => {
                    drop(answer.send(self.journal.read(&self.objects).await))
                }
                Job::LockJournal(answer) => {
                    let locked = self.lock_journal().await;
                    self.kept |= locked.is_ok();
                    drop(answer.send(locked));
                }
                Job::Append(bytes, answer) => {
                    let (mut all, mut answers) = (bytes, vec![answer]);
                    while next.is_none() {
                        match jobs.try_recv() {
                            Ok(Job::Append(bytes, answer)) => {
                                all.extend(bytes);
                                answers.push(answer);
                            }
                            Ok(other) => next = Some(other),
                            Err(_) => break,
                        }
                    }
                    let done = self.append(&all).await;
                    for answer in answers {
                        drop(answer.send(done.clone()));
                    }
                }
                Job::Replace(bytes, answer) => drop(answer.send(self.replace(&bytes).await)),
                Job::UnlockJournal(answer) => {
                    self.kept = false;
                    self.unlock_journal().await;
                    let _ = answer.send(());
                }
                Job::Workspaces(answer) => drop(answer.send(self.workspaces().await)),
                Job::Delete(answer) => drop(answer.send(self.delete().await)),
            }
            if next.is_none() {
                next = jobs.recv().await;
            }
        }
        self.unlock_journal().await;
    }

    fn name(&self) -> String {
        self.config.name(".tfstate")
    }

    async fn read(&mut self) -> Result<Option<Vec<u8>>, Diagnostics> {
        let name = self.name();
        let read = self.objects.read(&name).await.map_err(|e| {
            explain(
                "Failed to read the state",
                "Reading",
                &self.objects.shown(&name),
                &e,
            )
        })?;
        self.state = Some(read.as_ref().map_or(Generation::NONE, |(_, g)| *g));
        Ok(read.map(|(bytes, _)| bytes).filter(|b| !b.is_empty()))
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Diagnostics> {
        const SUMMARY: &str = "Failed to write the state";
        let name = self.name();
        let shown = self.objects.shown(&name);
        let before = match self.state {
            Some(generation) => generation,
            None => self
                .objects
                .generation(&name)
                .await
                .map_err(|e| explain(SUMMARY, "Looking at", &shown, &e))?,
        };
        match self.objects.write(&name, bytes, before).await {
            Ok(Written::Done(generation)) => {
                self.state = Some(generation);
                Ok(())
            }
            Ok(Written::Lost) => Err(Diagnostic::error(
                SUMMARY,
                format!(
                    "{shown} was written by somebody else since this run has read it, so this run does \
                     not replace it: the other's work would be lost."
                ),
            )
            .hint("What this run has done is in its journal. Runs exclude each other unless one is told -lock=false; run the command again to take the other's state into account.")
            .into()),
            Err(e) => Err(explain(SUMMARY, "Writing", &shown, &e).into()),
        }
    }

    fn lock_name(&self) -> String {
        self.config.name(".tflock")
    }

    async fn lock(&mut self, info: &LockInfo) -> Result<(), LockError> {
        let name = self.lock_name();
        let generation = self.take(&name, info).await?;
        self.lock = Some((info.id.clone(), generation));
        Ok(())
    }

    /// Makes a lock object, or says who has made it.
    async fn take(&self, name: &str, info: &LockInfo) -> Result<Generation, LockError> {
        let shown = self.objects.shown(name);
        let failed = |e| {
            LockError::Failed(
                explain(
                    "Error acquiring the state lock",
                    "Making the lock",
                    &shown,
                    &e,
                )
                .into(),
            )
        };
        let text = info.to_json();
        match self
            .objects
            .write(name, text.as_bytes(), Generation::NONE)
            .await
        {
            Ok(Written::Done(generation)) => Ok(generation),
            Ok(Written::Lost) => {
                let there = self.objects.read(name).await.map_err(failed)?;
                let holder = there.and_then(|(bytes, generation)| {
                    let mut info = LockInfo::from_json(&bytes)?;
                    // by this name the lock can be released by force, as Terraform does it
                    info.id = generation.0.to_string();
                    Some(Box::new(info))
                });
                Err(LockError::Held {
                    what: self.objects.shown(&self.name()),
                    holder,
                })
            }
            Err(e) => Err(failed(e)),
        }
    }

    async fn unlock(&mut self, id: &str) -> Result<(), Diagnostics> {
        const SUMMARY: &str = "Error releasing the state lock";
        let name = self.lock_name();
        let shown = self.objects.shown(&name);
        let ours = self.lock.take_if(|(held, _)| held == id);
        // a lock of somebody else is named by its generation
        let generation = ours
            .map(|(_, g)| g)
            .or_else(|| id.parse().ok().map(Generation));
        let Some(generation) = generation else {
            return Err(Diagnostic::error(
                SUMMARY,
                format!("The lock id \"{id}\" is none of {shown}: it must be a number."),
            )
            .into());
        };
        // the lock of a run that was told to do without the state's is named in the same way
        let journal = self.config.name(".tfjournal.lock");
        let deleted = match self.objects.delete(&name, generation).await {
            Ok(false) => self.objects.delete(&journal, generation).await,
            answer => answer,
        };
        match deleted {
            Ok(true) => Ok(()),
            Ok(false) => Err(Diagnostic::error(
                SUMMARY,
                format!(
                    "{shown} is not locked with the lock id {}: it was released or taken by somebody \
                     else.",
                    generation.0
                ),
            )
            .into()),
            Err(e) => Err(explain(SUMMARY, "Removing the lock", &shown, &e).into()),
        }
    }

    async fn lock_journal(&mut self) -> Result<(), LockError> {
        if self.lock.is_some() || self.journal_lock.is_some() {
            return Ok(());
        }
        let name = self.config.name(".tfjournal.lock");
        let info = LockInfo {
            id: self.config.run.clone(),
            operation: "a run without the state's lock".to_owned(),
            path: self.objects.shown(&self.name()),
            ..LockInfo::default()
        };
        self.journal_lock = Some(self.take(&name, &info).await?);
        Ok(())
    }

    async fn unlock_journal(&mut self) {
        if self.kept {
            return;
        }
        if let Some(generation) = self.journal_lock.take() {
            let name = self.config.name(".tfjournal.lock");
            // what stays is met, and named, by the next run without a lock
            let _ = self.objects.delete(&name, generation).await;
        }
    }

    async fn append(&mut self, bytes: &[u8]) -> Result<(), Diagnostics> {
        self.lock_journal()
            .await
            .map_err(LockError::into_diagnostics)?;
        self.journal.append(&self.objects, bytes).await?;
        // Asked after the append: whoever takes the lock later finds what was appended.
        let lost = match self.still_locked().await {
            Ok(()) => return Ok(()),
            Err(lost) => lost,
        };
        self.journal.give_up(&self.objects, lost.clone()).await;
        Err(lost)
    }

    /// Whether the lock that this process has taken is there, and the same. It is not a lock that
    /// anybody enforces: somebody may have removed it by hand or by force.
    async fn still_locked(&self) -> Result<(), Diagnostics> {
        let (name, ours) = match (&self.lock, self.journal_lock) {
            (Some((_, generation)), _) => (self.lock_name(), *generation),
            (None, Some(generation)) => (self.config.name(".tfjournal.lock"), generation),
            (None, None) => return Ok(()),
        };
        let shown = self.objects.shown(&name);
        let there = match self.objects.generation(&name).await {
            Ok(there) => there,
            Err(e) => return Err(explain("State lock lost", "Looking at", &shown, &e).into()),
        };
        if there == ours {
            return Ok(());
        }
        let what = match there {
            Generation::NONE => "was removed while this run worked".to_owned(),
            other => format!(
                "was removed while this run worked, and somebody else holds it now, with the lock id {}",
                other.0
            ),
        };
        Err(Diagnostic::error(
            "State lock lost",
            format!(
                "The lock {shown} {what}. Another run may be at work on the state {}, so this one begins \
                 nothing more.",
                self.objects.shown(&self.name())
            ),
        )
        .hint(
            "Find out who has removed the lock (force-unlock, or by hand), and wait until nobody works on the \
             state. Then run again: what this run did and what the state lacks is settled.",
        )
        .into())
    }

    async fn replace(&mut self, bytes: &[u8]) -> Result<(), Diagnostics> {
        self.lock_journal()
            .await
            .map_err(LockError::into_diagnostics)?;
        // somebody else's journal may stand there by now
        self.still_locked().await?;
        self.journal.replace(&self.objects, bytes).await?;
        if bytes.is_empty() {
            self.unlock_journal().await;
        }
        Ok(())
    }

    async fn workspaces(&self) -> Result<Vec<String>, Diagnostics> {
        let prefix = self.config.folder();
        let listed = self.objects.list(&prefix).await.map_err(|e| {
            explain(
                "Failed to list workspaces",
                "Listing",
                &self.objects.shown(&prefix),
                &e,
            )
        })?;
        let mut names: Vec<String> = listed
            .iter()
            .filter_map(|(name, _)| name.get(prefix.len()..)?.strip_suffix(".tfstate"))
            .filter(|name| !name.contains('/') && *name != "default")
            .map(str::to_owned)
            .collect();
        names.insert(0, "default".to_owned());
        Ok(names)
    }

    async fn delete(&mut self) -> Result<(), Diagnostics> {
        self.replace(b"").await?;
        let name = self.name();
        let failed = |e| {
            explain(
                "Failed to delete the workspace",
                "Deleting",
                &self.objects.shown(&name),
                &e,
            )
        };
        let generation = self.objects.generation(&name).await.map_err(failed)?;
        if generation != Generation::NONE {
            self.objects
                .delete(&name, generation)
                .await
                .map_err(failed)?;
        }
        self.state = Some(Generation::NONE);
        Ok(())
    }
}
