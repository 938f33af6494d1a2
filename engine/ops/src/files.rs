//! Files: what a plan reads is kept in it, and apply is given the same answers.

use formwork_configuration::SourceReader;
use formwork_eval::{DirectoryEntry, FileError, Files};
use formwork_plan::{FilesRead, SourceText};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads through, and remembers what was read.
pub(crate) struct RecordingReader {
    inner: Arc<dyn SourceReader + Send + Sync>,
    read: Mutex<BTreeMap<String, Arc<[u8]>>>,
}

impl RecordingReader {
    pub fn new(inner: Arc<dyn SourceReader + Send + Sync>) -> Self {
        Self {
            inner,
            read: Mutex::default(),
        }
    }

    /// Everything read, by path.
    pub fn texts(&self) -> Vec<SourceText> {
        lock(&self.read)
            .iter()
            .map(|(name, bytes)| SourceText {
                name: name.clone(),
                bytes: bytes.clone(),
            })
            .collect()
    }
}

impl SourceReader for RecordingReader {
    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.inner.list(directory)
    }

    fn read(&self, file: &Path) -> io::Result<Vec<u8>> {
        let bytes = self.inner.read(file)?;
        lock(&self.read).insert(file.to_string_lossy().into_owned(), bytes.clone().into());
        Ok(bytes)
    }
}

/// Reads through, and remembers the answers.
pub(crate) struct RecordingFiles {
    inner: Arc<dyn Files>,
    read: Mutex<FilesRead>,
}

impl RecordingFiles {
    pub fn new(inner: Arc<dyn Files>) -> Self {
        Self {
            inner,
            read: Mutex::default(),
        }
    }

    /// Every answer given.
    pub fn answers(&self) -> FilesRead {
        lock(&self.read).clone()
    }
}

impl Files for RecordingFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let bytes = self.inner.read(path)?;
        lock(&self.read)
            .contents
            .insert(path.to_owned(), bytes.clone().into());
        Ok(bytes)
    }

    fn exists(&self, path: &str) -> Result<bool, FileError> {
        let exists = self.inner.exists(path)?;
        lock(&self.read).exists.insert(path.to_owned(), exists);
        Ok(exists)
    }

    fn list(&self, directory: &str) -> Result<Vec<DirectoryEntry>, FileError> {
        let entries = self.inner.list(directory)?;
        let kept = entries
            .iter()
            .map(|e| (e.name.clone(), e.directory, e.file))
            .collect();
        lock(&self.read).listings.insert(directory.to_owned(), kept);
        Ok(entries)
    }

    fn absolute(&self, path: &str) -> String {
        self.inner.absolute(path)
    }

    fn home(&self) -> Option<String> {
        self.inner.home()
    }
}

/// Answers as a plan has it; what the plan did not ask is read.
pub(crate) struct PlannedFiles {
    pub inner: Arc<dyn Files>,
    pub answers: FilesRead,
}

impl Files for PlannedFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        match self.answers.contents.get(path) {
            Some(bytes) => Ok(bytes.to_vec()),
            None => self.inner.read(path),
        }
    }

    fn exists(&self, path: &str) -> Result<bool, FileError> {
        match self.answers.exists.get(path) {
            Some(exists) => Ok(*exists),
            None => self.inner.exists(path),
        }
    }

    fn list(&self, directory: &str) -> Result<Vec<DirectoryEntry>, FileError> {
        match self.answers.listings.get(directory) {
            Some(entries) => Ok(entries
                .iter()
                .map(|(name, directory, file)| DirectoryEntry {
                    name: name.clone(),
                    directory: *directory,
                    file: *file,
                })
                .collect()),
            None => self.inner.list(directory),
        }
    }

    fn absolute(&self, path: &str) -> String {
        self.inner.absolute(path)
    }

    fn home(&self) -> Option<String> {
        self.inner.home()
    }
}
