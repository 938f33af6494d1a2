//! Where files come from, and where modules that are not beside their caller come from.
//!
//! Loading asks a [`SourceReader`] for directories and files, so that a configuration can be read
//! from disk, from an editor's unsaved buffers, from the bytes in a saved plan, or from a test's
//! text. Modules with a source other than a local path are asked of a [`ModuleFetcher`].

use crate::module_call::{ModuleCall, ModuleSource};
use crate::version::VersionConstraints;
use formwork_addresses::ModulePath;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_eval::{Confinement, FileError};
use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Lists directories and reads files.
pub trait SourceReader {
    /// The names of the files (not directories) in a directory, in any order.
    ///
    /// # Errors
    /// As the file system has it; `NotFound` if there is no such directory.
    fn list(&self, directory: &Path) -> io::Result<Vec<String>>;

    /// The bytes of a file.
    ///
    /// # Errors
    /// As the file system has it.
    fn read(&self, file: &Path) -> io::Result<Vec<u8>>;
}

/// The file system, below a directory that relative paths start from.
#[derive(Clone, Debug)]
pub struct DiskReader {
    /// Where relative paths start.
    pub base: PathBuf,
}

impl SourceReader for DiskReader {
    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.base.join(directory))? {
            let entry = entry?;
            // Links are followed: a linked file is a file.
            let kind = entry.file_type()?;
            let linked = || std::fs::metadata(entry.path()).is_ok_and(|m| m.is_dir());
            if kind.is_dir() || kind.is_symlink() && linked() {
                continue;
            }
            if let Ok(name) = entry.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn read(&self, file: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(self.base.join(file))
    }
}

/// The file system, below a directory that relative paths start from, as far as a confinement lets it
/// be read.
#[derive(Clone, Debug)]
pub struct ConfinedReader {
    /// Where relative paths start; absolute and without links.
    pub base: PathBuf,
    /// The directory within which everything must lie.
    pub within: Arc<Confinement>,
}

fn refused(error: FileError) -> io::Error {
    match error {
        FileError::Missing => io::ErrorKind::NotFound.into(),
        FileError::NotAFile => io::Error::other(FileError::NotAFile),
        outside @ FileError::Outside(_) => io::Error::new(io::ErrorKind::PermissionDenied, outside),
        FileError::Other(why) => io::Error::other(why),
    }
}

impl SourceReader for ConfinedReader {
    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let entries = self.within.list(&self.base, directory).map_err(refused)?;
        if entries.is_empty() && !self.within.is_directory(&self.base, directory) {
            return Err(io::ErrorKind::NotFound.into());
        }
        // A link that leads outside is still named: reading it then says why it is not read.
        Ok(entries
            .into_iter()
            .filter(|e| !e.directory)
            .map(|e| e.name)
            .collect())
    }

    fn read(&self, file: &Path) -> io::Result<Vec<u8>> {
        self.within.read(&self.base, file).map_err(refused)
    }
}

/// Files held in memory, by path as loading asks for them (`main.tf`, `m/main.tf`).
#[derive(Clone, Debug, Default)]
pub struct MemoryReader {
    files: BTreeMap<PathBuf, Arc<[u8]>>,
}

impl MemoryReader {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, or replaces it.
    pub fn insert(&mut self, path: impl AsRef<Path>, bytes: impl Into<Arc<[u8]>>) {
        self.files.insert(normalised(path.as_ref()), bytes.into());
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for MemoryReader {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(iter: I) -> Self {
        let mut reader = Self::new();
        for (path, text) in iter {
            reader.insert(path, text.as_bytes());
        }
        reader
    }
}

impl SourceReader for MemoryReader {
    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let directory = normalised(directory);
        let top = directory == Path::new(".");
        let start = if top {
            Bound::Unbounded
        } else {
            Bound::Included(&*directory)
        };
        // What lies below a directory stands together in the order of paths.
        let below = self
            .files
            .range::<Path, _>((start, Bound::Unbounded))
            .map(|(path, _)| path)
            .take_while(|path| top || path.starts_with(&directory));
        let mut known = top;
        let mut names = Vec::new();
        let parent = if top { Path::new("") } else { &directory };
        for path in below {
            known = true;
            if path.parent() == Some(parent)
                && let Some(name) = path.file_name().and_then(|n| n.to_str())
            {
                names.push(name.to_owned());
            }
        }
        if names.is_empty() && !known {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(names)
    }

    fn read(&self, file: &Path) -> io::Result<Vec<u8>> {
        self.files
            .get(&normalised(file))
            .map(|b| b.to_vec())
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// A path without `.` and, as far as they can be folded, without `..`; `.` if nothing is left.
pub(crate) fn normalised(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                let folds = matches!(out.components().next_back(), Some(Component::Normal(_)));
                if !folds || !out.pop() {
                    out.push("..");
                }
            }
            other => out.push(other),
        }
    }
    if out.as_os_str().is_empty() {
        out.push(".");
    }
    out
}

/// A module call whose source is no local path, as it stands at one place in the tree.
///
/// The same block may stand in the tree several times, as often as its module is called, and its
/// source may come to something else each time; so what it came to stands beside the call.
#[derive(Clone, Copy, Debug)]
pub struct ModuleRequest<'a> {
    /// The module that makes the call.
    pub caller: &'a ModulePath,
    /// The call.
    pub call: &'a ModuleCall,
    /// Where the module comes from.
    pub source: &'a ModuleSource,
    /// Which versions will do; of a registry module only.
    pub version: Option<&'a VersionConstraints>,
}

impl ModuleRequest<'_> {
    /// The path of the module that is called.
    pub fn path(&self) -> ModulePath {
        self.caller.child(&self.call.name)
    }
}

/// Finds modules that are not local paths.
pub trait ModuleFetcher {
    /// All that will be asked for at one level of the tree, before any of it is: time to fetch
    /// several modules at once. What goes wrong is told by [`Self::directory`].
    fn prepare(&self, _requests: &[ModuleRequest<'_>]) {}

    /// The directory in which the module lies ready.
    ///
    /// # Errors
    /// Why it is not there, and what to do. Where the diagnostic names no place, it is put at the
    /// source of the call.
    fn directory(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>>;

    /// The directory of the package that the module is a part of: local paths of its modules may not
    /// lead out of it. `None` where it is not known.
    fn package(&self, _request: &ModuleRequest<'_>) -> Option<PathBuf> {
        None
    }

    /// What there is to say about the modules that were asked for, though they are there.
    fn remarks(&self) -> Diagnostics {
        Diagnostics::new()
    }
}

/// Knows no module but local paths.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalModulesOnly;

impl ModuleFetcher for LocalModulesOnly {
    fn directory(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>> {
        let kind = match request.source {
            ModuleSource::Registry { .. } => "modules from a registry",
            _ => "modules from a remote source",
        };
        Err(Box::new(Diagnostic::error(
            "Module not installed",
            format!(
                "The source is \"{}\", and this version of Formwork does not fetch {kind} yet. Put a \
                 copy of the module beside the configuration and name it by its path, such as \
                 \"./modules/{}\".",
                request.source, request.call.name
            ),
        )))
    }
}
