//! [`Files`]: what the file functions see.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::confinement::Confinement;

/// Why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// There is none of that name.
    Missing,
    /// There is something else: a directory, a device.
    NotAFile,
    /// It lies outside this directory, and files may be read within it only.
    Outside(String),
    /// Anything else, in the system's words.
    Other(String),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Missing => f.write_str("there is no such file"),
            FileError::NotAFile => f.write_str("it is not a file"),
            FileError::Outside(root) => write!(
                f,
                "it lies outside {root}, and -restrict-files lets only files within be read"
            ),
            FileError::Other(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for FileError {}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its name.
    pub name: String,
    /// Whether it is a directory, links followed.
    pub directory: bool,
    /// Whether it is a regular file, links followed.
    pub file: bool,
}

/// The files that functions may read. Paths are as written in the configuration.
pub trait Files: Send + Sync {
    /// The contents of a file.
    ///
    /// # Errors
    /// Why there are none.
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError>;

    /// Whether there is a regular file of that name: `Ok(false)` if there is nothing.
    ///
    /// # Errors
    /// [`FileError::NotAFile`] if there is something else.
    fn exists(&self, path: &str) -> Result<bool, FileError>;

    /// The entries of a directory, in any order; none if there is no such directory.
    ///
    /// # Errors
    /// Why it could not be read.
    fn list(&self, directory: &str) -> Result<Vec<DirectoryEntry>, FileError>;

    /// A path as an absolute one, without `.` and `..`.
    fn absolute(&self, path: &str) -> String;

    /// The user's home directory.
    fn home(&self) -> Option<String>;
}

/// No files at all: for places where none may be read.
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _path: &str) -> Result<Vec<u8>, FileError> {
        Err(FileError::Other("files cannot be read here".to_owned()))
    }

    fn exists(&self, _path: &str) -> Result<bool, FileError> {
        Err(FileError::Other(
            "files cannot be looked for here".to_owned(),
        ))
    }

    fn list(&self, _directory: &str) -> Result<Vec<DirectoryEntry>, FileError> {
        Err(FileError::Other(
            "directories cannot be read here".to_owned(),
        ))
    }

    fn absolute(&self, path: &str) -> String {
        path.to_owned()
    }

    fn home(&self) -> Option<String> {
        None
    }
}

/// Files of the machine; relative paths start at a given directory.
#[derive(Clone, Debug)]
pub struct WorkingDirectory {
    /// Where relative paths start; absolute.
    pub base: PathBuf,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The directory within which files may be read; anywhere without. `base` is then without links.
    pub within: Option<Arc<Confinement>>,
}

impl WorkingDirectory {
    fn place(&self, path: &str) -> PathBuf {
        self.base.join(path)
    }
}

fn reason(error: &std::io::Error) -> FileError {
    match error.kind() {
        std::io::ErrorKind::NotFound => FileError::Missing,
        _ => FileError::Other(error.to_string()),
    }
}

impl Files for WorkingDirectory {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        if let Some(within) = &self.within {
            return within.read(&self.base, Path::new(path));
        }
        let place = self.place(path);
        let about = std::fs::metadata(&place).map_err(|e| reason(&e))?;
        if about.is_dir() {
            return Err(FileError::NotAFile);
        }
        std::fs::read(&place).map_err(|e| reason(&e))
    }

    fn exists(&self, path: &str) -> Result<bool, FileError> {
        if let Some(within) = &self.within {
            return within.exists(&self.base, Path::new(path));
        }
        match std::fs::metadata(self.place(path)) {
            Ok(about) if about.is_file() => Ok(true),
            Ok(_) => Err(FileError::NotAFile),
            Err(error) => match reason(&error) {
                FileError::Missing => Ok(false),
                other => Err(other),
            },
        }
    }

    fn list(&self, directory: &str) -> Result<Vec<DirectoryEntry>, FileError> {
        if let Some(within) = &self.within {
            return within.list(&self.base, Path::new(directory));
        }
        let place = self.place(directory);
        let read = match std::fs::read_dir(&place) {
            Ok(read) => read,
            Err(error) => {
                return match error.kind() {
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                        Ok(Vec::new())
                    }
                    _ => Err(reason(&error)),
                };
            }
        };
        let mut entries = Vec::new();
        for entry in read {
            let entry = entry.map_err(|e| reason(&e))?;
            // names that are no text cannot be matched by a pattern or be a value
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let about = std::fs::metadata(entry.path()).ok();
            entries.push(DirectoryEntry {
                name,
                directory: about.as_ref().is_some_and(std::fs::Metadata::is_dir),
                file: about.as_ref().is_some_and(std::fs::Metadata::is_file),
            });
        }
        Ok(entries)
    }

    fn absolute(&self, path: &str) -> String {
        let mut out = PathBuf::new();
        for part in self.place(path).components() {
            match part {
                std::path::Component::ParentDir => {
                    out.pop();
                }
                std::path::Component::CurDir => {}
                other => out.push(other),
            }
        }
        forward(&out)
    }

    fn home(&self) -> Option<String> {
        self.home.as_deref().map(forward)
    }
}

/// With forward slashes, as values hold paths on every system.
fn forward(path: &Path) -> String {
    let text = path.to_string_lossy().into_owned();
    if cfg!(windows) {
        text.replace('\\', "/")
    } else {
        text
    }
}
