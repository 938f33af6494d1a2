//! What the user is told when a file cannot be read or written.

use formwork_diagnostics::Diagnostic;
use std::io::{Error, ErrorKind};
use std::path::Path;

/// An error that says what was tried, why it failed, and what to do about it.
pub(crate) fn explain(summary: &str, tried: &str, path: &Path, error: &Error) -> Diagnostic {
    let path = path.display();
    let (why, advice) = match error.kind() {
        ErrorKind::StorageFull => (
            "the disk is full".to_owned(),
            "Free some space on it and run the command again. What was written before is unharmed.",
        ),
        ErrorKind::QuotaExceeded => (
            "your disk quota is used up".to_owned(),
            "Free some space and run the command again. What was written before is unharmed.",
        ),
        ErrorKind::ReadOnlyFilesystem => (
            "it lies on a file system that is mounted read-only".to_owned(),
            "Keep the state where it can be written, for example with -state=PATH.",
        ),
        ErrorKind::PermissionDenied => (
            "this user may not do that".to_owned(),
            "Look at the owner and the mode of the file and of its directory.",
        ),
        ErrorKind::IsADirectory => (
            "it is a directory".to_owned(),
            "Name a file, for example with -state=PATH.",
        ),
        ErrorKind::NotADirectory => (
            "a part of its path is a file, not a directory".to_owned(),
            "Name another path, for example with -state=PATH.",
        ),
        ErrorKind::NotFound => (
            "it does not exist, or its directory does not".to_owned(),
            "Make the directory, or name another path with -state=PATH.",
        ),
        _ => (format!("the system says: {error}"), ""),
    };
    let d = Diagnostic::error(summary, format!("{tried} {path} failed: {why}."));
    if advice.is_empty() { d } else { d.hint(advice) }
}
