//! [`GcsStore`]: a state in a Cloud Storage bucket, its lock and its journal beside it.
//!
//! Names and lock are Terraform's: the state of a workspace is `PREFIX/WORKSPACE.tfstate`, its lock the
//! object `PREFIX/WORKSPACE.tflock`, which exists for as long as the state is locked and whose
//! generation is the lock's id. So the two tools exclude each other. The journal is ours:
//! `PREFIX/WORKSPACE.tfjournal/EPOCH-NUMBER`, one new object per group of appends.
//!
//! What holds:
//!
//! - *Nothing is overwritten unseen.* Every write carries the generation that it replaces, 0 for an
//!   object that must not be there yet. A write whose answer was lost is told from a lost race by
//!   reading what is there.
//! - *The journal is durable when it says so.* An append is done when the service has answered that
//!   the object with its bytes exists. Objects of the journal are created, never changed.
//! - *A lock that is lost is noticed.* Nobody enforces it; so after each append, before what was
//!   appended counts as durable, and before the journal is replaced, the lock object is looked at: is it
//!   there, and the same? If not, nothing is begun any more, and nobody's journal is touched.
//! - *The journal is replaced at once.* A new epoch begins with one object that holds all of it, and
//!   a reader reads the latest epoch only; what is left of former ones is removed behind.
//!
//! All work on a store is done by one task on a thread of its own, in order: appends that wait
//! together become one object.

mod explain;
mod journal;
mod objects;
#[cfg(test)]
mod tests;
mod worker;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_google_client::{ClientConfig, Credentials, ErrorKind};
use formwork_state::{
    Durable, JournalStore, JournalSupport, LockError, LockInfo, SnapshotStore, StateLock,
};
use futures::channel::oneshot;
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::mpsc::UnboundedSender;
use worker::{Job, Worker};

/// Where a state is in Cloud Storage, and how the service is spoken to.
#[derive(Clone, Debug)]
pub struct GcsConfig {
    /// The bucket.
    pub bucket: String,
    /// What stands before every object's name, as a folder; empty for nothing.
    pub prefix: String,
    /// The workspace, `default` for the unnamed one.
    pub workspace: String,
    /// The Cloud KMS key that new objects are encrypted with, if not the bucket's own.
    pub kms_key: Option<String>,
    /// The key that all objects are encrypted with, if the caller keeps it.
    pub customer_key: Option<CustomerKey>,
    /// Who we are.
    pub credentials: Credentials,
    /// A random id of this run: two runs must never write the same bytes as their lock.
    pub run: String,
    /// The root of the service's address, if not Google's own, with or without `storage/v1/b` at its
    /// end: `storage_custom_endpoint`, or a mock cloud.
    pub endpoint: Option<String>,
}

/// A key that encrypts objects and that the service does not keep. The debug form does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct CustomerKey {
    key: String,
    sum: String,
}

impl CustomerKey {
    /// A key for AES-256: 32 bytes.
    pub fn new(key: &[u8]) -> Self {
        Self {
            key: STANDARD.encode(key),
            sum: STANDARD.encode(Sha256::digest(key)),
        }
    }

    /// The headers that every request about an object's content carries.
    fn headers(&self) -> [(&'static str, String); 3] {
        [
            ("x-goog-encryption-algorithm", "AES256".to_owned()),
            ("x-goog-encryption-key", self.key.clone()),
            ("x-goog-encryption-key-sha256", self.sum.clone()),
        ]
    }
}

impl fmt::Debug for CustomerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CustomerKey(..)")
    }
}

impl GcsConfig {
    fn client(&self) -> ClientConfig {
        let mut client = ClientConfig::google(self.credentials.clone());
        if let Some(base) = &self.endpoint {
            // uploads have their own path below the same root
            let base = base.trim_end_matches('/');
            let base = base.strip_suffix("/b").unwrap_or(base);
            let root = base.strip_suffix("/storage/v1").unwrap_or(base);
            client.endpoints.set("storage", root);
        }
        client
    }

    /// What stands before every object's name: nothing, or a folder with a slash at its end.
    fn folder(&self) -> String {
        let folder = self.prefix.trim_start_matches('/');
        let slash = if folder.is_empty() || folder.ends_with('/') {
            ""
        } else {
            "/"
        };
        format!("{folder}{slash}")
    }

    /// The name of an object of this workspace: `PREFIX/WORKSPACE` and `suffix`.
    fn name(&self, suffix: &str) -> String {
        format!("{}{}{suffix}", self.folder(), self.workspace)
    }
}

/// A state in a bucket.
pub struct GcsStore {
    config: GcsConfig,
    running: Mutex<Option<Running>>,
}

struct Running {
    jobs: UnboundedSender<Job>,
    thread: JoinHandle<()>,
}

impl GcsStore {
    /// The state that a configuration names. Nothing is sent yet.
    pub fn new(config: GcsConfig) -> Self {
        Self {
            config,
            running: Mutex::new(None),
        }
    }

    /// Names of the workspaces that have a state in this bucket under this prefix, `default` first,
    /// whether it has one or not.
    ///
    /// # Errors
    /// Why the bucket cannot be listed.
    pub async fn workspaces(&self) -> Result<Vec<String>, Diagnostics> {
        self.ask(Job::Workspaces).await?
    }

    /// Removes the state of this workspace, and its journal. It must be locked.
    ///
    /// # Errors
    /// Why it is still there.
    pub async fn delete_workspace(&self) -> Result<(), Diagnostics> {
        self.ask(Job::Delete).await?
    }

    /// Queues a job, and starts the thread if it does not run.
    fn queue(&self, job: Job) -> Result<(), Diagnostics> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_none() {
            *running = Some(self.start()?);
        }
        let sent = running.as_ref().is_some_and(|r| r.jobs.send(job).is_ok());
        if sent {
            Ok(())
        } else {
            Err(gone(&self.describe()))
        }
    }

    fn start(&self) -> Result<Running, Diagnostics> {
        let (jobs, queue) = tokio::sync::mpsc::unbounded_channel();
        let config = self.config.clone();
        let failed = |why: String| {
            Diagnostics::from(Diagnostic::error(
                "Failed to reach the state",
                format!("The work on {} cannot be begun: {why}.", self.describe()),
            ))
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| failed(e.to_string()))?;
        let client = formwork_google_client::Client::new(config.client())
            .map_err(|e| failed(e.to_string()))?;
        let thread = std::thread::Builder::new()
            .name("state".to_owned())
            .spawn(move || runtime.block_on(Worker::new(config, client).run(queue)))
            .map_err(|e| failed(e.to_string()))?;
        Ok(Running { jobs, thread })
    }

    async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<T>) -> Job) -> Result<T, Diagnostics> {
        let (answer, answered) = oneshot::channel();
        self.queue(job(answer))?;
        answered.await.map_err(|_| gone(&self.describe()))
    }
}

impl Drop for GcsStore {
    /// Waits for what is queued: a caller that was told nothing of an append may still need it.
    fn drop(&mut self) {
        let running = self
            .running
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = running.take() {
            drop(running.jobs);
            // a thread that panicked has nothing left to do
            let _ = running.thread.join();
        }
    }
}

fn gone(what: &str) -> Diagnostics {
    Diagnostic::error(
        "Failed to reach the state",
        format!(
            "The work on {what} ended without an answer. This is a defect of Formwork; the state is as \
             the last message about it says."
        ),
    )
    .into()
}

/// Whether a refusal says that what was to be there is not, or was to be absent and is there.
fn is_precondition(kind: ErrorKind, status: u16) -> bool {
    status == 412 || kind == ErrorKind::Conflict
}

#[async_trait]
impl SnapshotStore for GcsStore {
    fn describe(&self) -> String {
        format!(
            "gs://{}/{}",
            self.config.bucket,
            self.config.name(".tfstate")
        )
    }

    async fn read_snapshot(&self) -> Result<Option<Vec<u8>>, Diagnostics> {
        self.ask(Job::ReadSnapshot).await?
    }

    async fn write_snapshot(&self, bytes: &[u8]) -> Result<(), Diagnostics> {
        let bytes = bytes.to_vec();
        self.ask(|answer| Job::WriteSnapshot(bytes, answer)).await?
    }
}

#[async_trait]
impl StateLock for GcsStore {
    async fn lock(&self, info: &LockInfo) -> Result<(), LockError> {
        let info = info.clone();
        let locked = self.ask(|answer| Job::Lock(info, answer)).await;
        locked.map_err(LockError::Failed)?
    }

    async fn unlock(&self, id: &str) -> Result<(), Diagnostics> {
        let id = id.to_owned();
        self.ask(|answer| Job::Unlock(id, answer)).await?
    }
}

#[async_trait]
impl JournalStore for GcsStore {
    fn journal_support(&self) -> JournalSupport {
        JournalSupport::Durable
    }

    async fn read_journal(&self) -> Result<Vec<u8>, Diagnostics> {
        self.ask(Job::ReadJournal).await?
    }

    async fn lock_journal(&self) -> Result<(), LockError> {
        let locked = self.ask(Job::LockJournal).await;
        locked.map_err(LockError::Failed)?
    }

    fn append_journal(&self, bytes: Vec<u8>) -> Durable {
        let (answer, answered) = oneshot::channel();
        let queued = self.queue(Job::Append(bytes, answer));
        let what = self.describe();
        Box::pin(async move {
            queued?;
            answered.await.unwrap_or_else(|_| Err(gone(&what)))
        })
    }

    async fn replace_journal(&self, bytes: Vec<u8>) -> Result<(), Diagnostics> {
        self.ask(|answer| Job::Replace(bytes, answer)).await?
    }

    async fn unlock_journal(&self) {
        // nobody is told: what cannot be removed now is taken over by the state's lock later
        let _ = self.ask(Job::UnlockJournal).await;
    }
}
