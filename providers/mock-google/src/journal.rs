//! Where a world lives between two starts: a directory with a journal, a request log and a lock.
//!
//! | file | what |
//! |---|---|
//! | `journal.jsonl` | first line: format and the world's id; then one line per request that changed anything, on disk before the request is answered |
//! | `log.jsonl` | one line per request |
//! | `lock` | held by the process that has the world open |
//! | `serve.json` | address and process of that process, while it serves |
//!
//! A last line without its end was never answered for and is cut off at the next start; a bad line
//! anywhere else is an error, since what follows it cannot be trusted. A journal that has grown far
//! beyond its world is written anew at start: one record that holds everything, renamed into place.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::request_log::LogLine;
use crate::store::{Change, Store};
use crate::time::Millis;

const FORMAT: &str = "formwork-mock-journal/1";

/// Journals beyond this size are written anew at start.
const COMPACT_BEYOND: u64 = 16 << 20;

#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    world: String,
}

/// What one request did.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) at: Millis,
    /// The counter behind ids, after the request.
    pub(crate) next: u64,
    pub(crate) changes: Vec<Change>,
    /// The request's line of the log as far as it was known, should the log have lost it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<LogLine>,
    /// Whether all of the scenario's first objects are made with this. A journal without such a
    /// record is of a world that died in its making, and is begun anew.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) sown: bool,
}

/// Why a world could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// Another process has it open.
    Busy(PathBuf),
    /// The file system says no.
    Io(PathBuf, std::io::Error),
    /// A line of the journal is not what it should be.
    Corrupt {
        /// The journal.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// The scenario's first objects cannot be made.
    Scenario(String),
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OpenError::Busy(path) => {
                write!(
                    f,
                    "Another process has the mock cloud in {} open.",
                    path.display()
                )
            }
            OpenError::Io(path, error) => write!(f, "{}: {error}.", path.display()),
            OpenError::Corrupt { file, line, why } => write!(
                f,
                "Line {line} of {} is damaged ({why}). The mock cloud's data cannot be used; \
                 `formwork mock reset` starts it anew.",
                file.display()
            ),
            OpenError::Scenario(why) => write!(f, "The scenario cannot be played: {why}"),
        }
    }
}

impl std::error::Error for OpenError {}

/// The open directory of a world.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    journal: File,
    log: File,
    /// Held for as long as the world is open.
    _lock: File,
}

/// What a directory held when it was opened.
pub(crate) struct Opened {
    pub(crate) directory: Directory,
    /// The world's id, if there was a world.
    pub(crate) world: Option<String>,
    pub(crate) records: Vec<Record>,
    pub(crate) log: Vec<LogLine>,
}

impl Directory {
    /// Takes the lock and reads what is there.
    pub(crate) fn open(path: &Path) -> Result<Opened, OpenError> {
        let io = |file: &Path| {
            let file = file.to_owned();
            move |error| OpenError::Io(file, error)
        };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(io(path))?;
        let lock_path = path.join("lock");
        let lock = options().open(&lock_path).map_err(io(&lock_path))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(OpenError::Busy(path.to_owned())),
            Err(error) => return Err(OpenError::Io(lock_path, error.into())),
        }
        // the address of whoever had the lock before us
        let _ = std::fs::remove_file(path.join("serve.json"));
        let journal_path = path.join("journal.jsonl");
        let journal = options().open(&journal_path).map_err(io(&journal_path))?;
        let log_path = path.join("log.jsonl");
        let log = options().open(&log_path).map_err(io(&log_path))?;
        let mut directory = Self {
            path: path.to_owned(),
            journal,
            log,
            _lock: lock,
        };
        let (mut world, mut records) = directory.read_journal(&journal_path)?;
        if !records.iter().any(|record| record.sown) {
            (world, records) = (None, Vec::new());
        }
        let log = directory.read_log().map_err(io(&log_path))?;
        Ok(Opened {
            directory,
            world,
            records,
            log,
        })
    }

    fn read_journal(&mut self, path: &Path) -> Result<(Option<String>, Vec<Record>), OpenError> {
        let io = |error| OpenError::Io(path.to_owned(), error);
        let corrupt = |line: usize, why: String| OpenError::Corrupt {
            file: path.to_owned(),
            line,
            why,
        };
        let mut reader = BufReader::new(&self.journal);
        let mut line = Vec::new();
        let (mut world, mut records) = (None, Vec::new());
        let (mut number, mut whole) = (0, 0u64);
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(io)?;
            if line.last() != Some(&b'\n') {
                break; // the end, or a line that was never finished
            }
            number += 1;
            if number == 1 {
                let head: Head =
                    serde_json::from_slice(&line).map_err(|error| corrupt(1, error.to_string()))?;
                if head.format != FORMAT {
                    return Err(corrupt(1, format!("its format is {}", head.format)));
                }
                world = Some(head.world);
            } else {
                records.push(
                    serde_json::from_slice(&line)
                        .map_err(|error| corrupt(number, error.to_string()))?,
                );
            }
            whole += read as u64;
        }
        self.journal.set_len(whole).map_err(io)?;
        self.journal.seek(SeekFrom::End(0)).map_err(io)?;
        Ok((world, records))
    }

    fn read_log(&mut self) -> std::io::Result<Vec<LogLine>> {
        let mut text = String::new();
        // bytes that are no text: a line that was never finished
        let mut bytes = Vec::new();
        self.log.read_to_end(&mut bytes)?;
        text.push_str(&String::from_utf8_lossy(&bytes));
        if !text.is_empty() && !text.ends_with('\n') {
            self.log.write_all(b"\n")?;
        }
        Ok(text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect())
    }

    /// Begins a new world: whatever the journal and the log held is gone.
    pub(crate) fn begin(&mut self, world: &str) -> std::io::Result<()> {
        for file in [&mut self.journal, &mut self.log] {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
        }
        let mut line = serde_json::to_vec(&Head {
            format: FORMAT.to_owned(),
            world: world.to_owned(),
        })?;
        line.push(b'\n');
        self.journal.write_all(&line)?;
        self.journal.sync_data()
    }

    /// Appends a record; durable when this returns.
    pub(crate) fn append(&mut self, record: &Record) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        let before = self.journal.stream_position()?;
        let written = self
            .journal
            .write_all(&line)
            .and_then(|()| self.journal.sync_data());
        if written.is_err() {
            // half a line in the middle would make all that follows unreadable
            self.journal.set_len(before)?;
            self.journal.seek(SeekFrom::Start(before))?;
        }
        written
    }

    /// Appends a line to the log.
    pub(crate) fn log(&mut self, line: &LogLine) -> std::io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.log.write_all(&text)
    }

    /// Writes the journal anew if it has grown far beyond its world.
    pub(crate) fn compact(
        &mut self,
        world: &str,
        store: &Store,
        at: Millis,
        next: u64,
    ) -> std::io::Result<()> {
        if self.journal.metadata()?.len() < COMPACT_BEYOND {
            return Ok(());
        }
        let temporary = self.path.join("journal.jsonl.new");
        let mut file = options().truncate(true).open(&temporary)?;
        for line in [
            serde_json::to_vec(&Head {
                format: FORMAT.to_owned(),
                world: world.to_owned(),
            })?,
            serde_json::to_vec(&Record {
                at,
                next,
                changes: store.everything(),
                line: None,
                sown: true,
            })?,
        ] {
            file.write_all(&line)?;
            file.write_all(b"\n")?;
        }
        file.sync_all()?;
        std::fs::rename(&temporary, self.path.join("journal.jsonl"))?;
        self.journal = file;
        Ok(())
    }

    /// Tells others where this world is served.
    pub(crate) fn announce(&self, serving: &Serving) -> std::io::Result<()> {
        let temporary = self.path.join("serve.json.new");
        let mut file = options().truncate(true).open(&temporary)?;
        file.write_all(&serde_json::to_vec(serving)?)?;
        std::fs::rename(&temporary, self.path.join("serve.json"))
    }

    pub(crate) fn withdraw(&self) {
        let _ = std::fs::remove_file(self.path.join("serve.json"));
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600);
    options
}

/// Where a world is served: the content of `serve.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serving {
    /// `127.0.0.1:40123`
    pub address: String,
    /// Process id of the server.
    pub pid: u32,
    /// The world's id.
    pub world: String,
}

/// Whether somebody serves the world of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Served {
    /// Nobody has it open; a `serve.json` that lies there is a dead holder's.
    Nobody,
    /// A process has it open and does not tell an address (yet).
    Opening,
    /// A process serves it there.
    At(Serving),
}

/// Looks whether somebody serves the world of a directory.
#[must_use]
pub fn served(directory: &Path) -> Served {
    let Ok(lock) = File::open(directory.join("lock")) else {
        return Served::Nobody;
    };
    if flock(&lock, FlockOperation::NonBlockingLockShared).is_ok() {
        return Served::Nobody;
    }
    std::fs::read(directory.join("serve.json"))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .map_or(Served::Opening, Served::At)
}
