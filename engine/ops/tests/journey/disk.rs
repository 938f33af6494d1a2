//! A disk in memory that outlives processes, and how a process dies at one of its writes.

use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_state::{
    Durable, JournalStore, JournalSupport, LockError, LockInfo, SnapshotStore, StateLock,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What outlives a process.
#[derive(Clone, Default)]
pub struct Disk {
    pub snapshot: Option<Vec<u8>>,
    pub journal: Vec<u8>,
    /// Whether another process writes the journal.
    pub busy: bool,
    /// What another process leaves once it no longer does: snapshot and journal.
    pub meanwhile: Option<(Option<Vec<u8>>, Vec<u8>)>,
    /// Whether snapshot and journal are looked at after every write.
    pub watchful: bool,
    /// What was wrong with them.
    pub illegal: Vec<String>,
}

/// How a process dies.
#[derive(Clone, Copy, Debug)]
pub enum Death {
    /// Before the write.
    Before,
    /// After half of it, where it is no replacement.
    Within,
    /// After it.
    After,
}

pub const DEATHS: [Death; 3] = [Death::Before, Death::Within, Death::After];

/// What a mutex holds, whatever became of others who held it.
pub fn guard<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A disk seen by one process, which dies at its `fatal`th write.
pub struct Store {
    pub disk: Arc<Mutex<Disk>>,
    pub fatal: Option<(usize, Death)>,
    pub writes: Mutex<usize>,
}

impl Disk {
    /// Notes what is wrong with snapshot and journal together.
    fn look(&mut self) {
        if !self.watchful {
            return;
        }
        let text =
            |d: &Diagnostics| format!("{:?}", d.iter().map(|d| &d.detail).collect::<Vec<_>>());
        let mut said = Diagnostics::new();
        let snapshot = self.snapshot.as_ref().and_then(|bytes| {
            let read = said.take(formwork_state::v4::read(bytes, "snapshot"));
            read.map(|s| (s, formwork_journal::SnapshotHash::of(bytes)))
        });
        let together = formwork_journal::decode(&self.journal, "journal").and_then(|journal| {
            let snapshot = snapshot.as_ref().map(|(s, h)| (s, *h));
            formwork_journal::replay(snapshot, journal.as_ref()).map(|_| ())
        });
        if let Err(d) = together {
            self.illegal.push(text(&d));
        }
        if said.has_errors() {
            self.illegal.push(text(&said));
        }
    }
}

impl Store {
    /// Does a write; a dead process does none. `half` is what stands if it dies within.
    fn write(
        &self,
        whole: impl FnOnce(&mut Disk),
        half: Option<&dyn Fn(&mut Disk)>,
    ) -> Result<(), Diagnostics> {
        let mut writes = guard(&self.writes);
        let number = *writes;
        *writes += 1;
        let mut disk = guard(&self.disk);
        let dead = Err(Diagnostic::error("Dead", "This process has died.").into());
        match self.fatal {
            Some((fatal, _)) if number > fatal => dead,
            Some((fatal, death)) if number == fatal => {
                match (death, half) {
                    (Death::After, _) => whole(&mut disk),
                    (Death::Within, Some(half)) => half(&mut disk),
                    _ => {}
                }
                disk.look();
                dead
            }
            _ => {
                whole(&mut disk);
                disk.look();
                Ok(())
            }
        }
    }
}

#[async_trait::async_trait]
impl SnapshotStore for Store {
    fn describe(&self) -> String {
        "disk".to_owned()
    }
    async fn read_snapshot(&self) -> Result<Option<Vec<u8>>, Diagnostics> {
        Ok(guard(&self.disk).snapshot.clone())
    }
    async fn write_snapshot(&self, bytes: &[u8]) -> Result<(), Diagnostics> {
        self.write(|disk| disk.snapshot = Some(bytes.to_vec()), None)
    }
}

#[async_trait::async_trait]
impl StateLock for Store {
    async fn lock(&self, _info: &LockInfo) -> Result<(), LockError> {
        Ok(())
    }
    async fn unlock(&self, _id: &str) -> Result<(), Diagnostics> {
        Ok(())
    }
}

#[async_trait::async_trait]
impl JournalStore for Store {
    fn journal_support(&self) -> JournalSupport {
        JournalSupport::Durable
    }
    async fn read_journal(&self) -> Result<Vec<u8>, Diagnostics> {
        Ok(guard(&self.disk).journal.clone())
    }
    async fn lock_journal(&self) -> Result<(), LockError> {
        let mut disk = guard(&self.disk);
        if disk.busy {
            return Err(LockError::Held {
                what: "disk.journal".to_owned(),
                holder: None,
            });
        }
        if let Some((snapshot, journal)) = disk.meanwhile.take() {
            (disk.snapshot, disk.journal) = (snapshot, journal);
        }
        Ok(())
    }
    fn append_journal(&self, bytes: Vec<u8>) -> Durable {
        let half = bytes[..bytes.len() / 2].to_vec();
        let done = self.write(
            |disk| disk.journal.extend(&bytes),
            Some(&|disk| disk.journal.extend(&half)),
        );
        Box::pin(async { done })
    }
    async fn replace_journal(&self, bytes: Vec<u8>) -> Result<(), Diagnostics> {
        self.write(|disk| disk.journal = bytes, None)
    }
    async fn unlock_journal(&self) {}
}
