//! Files that are replaced as a whole, and locked files.

use crate::file_lock::{self, try_lock};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Ends the names of files that are not finished; one that a crash left is removed by the next holder
/// of the lock.
const UNFINISHED: &str = ".formwork-new";

/// Ends the second name of the file that is locked, before [`UNFINISHED`].
const HELD: &str = ".held";

/// `path` with `suffix` at its end.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// The directory of a path.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

/// `.NAME` + `suffix` in the directory of `path`.
pub(crate) fn hidden(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(suffix);
    parent(path).join(name)
}

/// Follows symbolic links, so that a rename replaces the file and not the link to it.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    let mut at = path.to_owned();
    // as many links as the kernel follows
    for _ in 0..40 {
        match fs::read_link(&at) {
            Ok(target) => at = parent(&at).join(target),
            Err(_) => break,
        }
    }
    at
}

/// All of a file, `None` if there is none.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// All of an open file.
pub(crate) fn read_open(mut file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Makes a file that is about to hold secrets readable by its owner only: one that was there before, of
/// another tool perhaps, has the mode that it was made with. Of a file that is somebody else's, who let
/// this user write to it, the mode is theirs to choose.
pub(crate) fn make_private(file: &File) {
    let private = |m: fs::Metadata| m.permissions().mode() & 0o077 == 0;
    if !file.metadata().is_ok_and(private) {
        let _ = file.set_permissions(Permissions::from_mode(0o600));
    }
}

/// Replaces the file at `path` by one with `bytes`, durable when it returns. The new file, open for
/// appending, comes back; it was locked before it took its place if `locked`.
pub(crate) fn replace(path: &Path, bytes: &[u8], process: u32, locked: bool) -> io::Result<File> {
    let new = hidden(path, &format!(".{process}{UNFINISHED}"));
    let write = || {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&new)?;
        // one that a process of the same number left
        file.set_len(0)?;
        make_private(&file);
        file.write_all(bytes)?;
        // its length is part of that; its times are not, and nobody needs them
        file.sync_data()?;
        if locked && !try_lock(&file)? {
            return Err(io::Error::other("another process uses the new file"));
        }
        fs::rename(&new, path)?;
        sync_directory(path)?;
        Ok(file)
    };
    write().inspect_err(|_| {
        // it may hold secrets; that it cannot be removed changes nothing of the error
        let _ = fs::remove_file(&new);
    })
}

/// Replaces the file at `path`, which `held` is and which this process has locked, by one with `bytes`, and
/// then by `held` again with the same bytes: whoever waits for the lock of the file that stands there
/// (Terraform opens it once and keeps it) gets the one that holds the state. At no time does `path` lead to
/// less than all of the old or of the new bytes. What stood there in between comes back, or, where a file
/// cannot have two names or the second step fails, what stands there now and whether it failed.
pub(crate) fn replace_held(
    path: &Path,
    bytes: &[u8],
    process: u32,
    held: &File,
) -> io::Result<Replaced> {
    let second = hidden(path, &format!(".{process}{HELD}{UNFINISHED}"));
    let _ = fs::remove_file(&second);
    if fs::hard_link(path, &second).is_err() {
        return replace(path, bytes, process, true).map(|new| Replaced::New(new, Ok(())));
    }
    let new = replace(path, bytes, process, true).inspect_err(|_| {
        let _ = fs::remove_file(&second);
    })?;
    let back = || {
        // by the descriptor that has the lock: closing another could give it up
        let mut held = held;
        make_private(held);
        held.set_len(0)?;
        held.write_all(bytes)?;
        held.sync_data()?;
        fs::rename(&second, path)?;
        sync_directory(path)
    };
    Ok(match back() {
        Ok(()) => Replaced::Held(new),
        Err(error) => {
            let _ = fs::remove_file(&second);
            if is_at(held, path) {
                // only the directory could not be made durable
                return Err(error);
            }
            Replaced::New(new, Err(error))
        }
    })
}

/// What stands where a locked file was replaced.
pub(crate) enum Replaced {
    /// The same file, with the new bytes; this one stood there in between.
    Held(File),
    /// Another one, and whether that was meant.
    New(File, io::Result<()>),
}

/// Makes a new, renamed or removed name durable.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(parent(path))?.sync_all()
}

/// Removes what crashed writers of `path` left.
pub(crate) fn remove_unfinished(path: &Path) {
    let start = hidden(path, ".");
    let Some(start) = start.file_name().and_then(|n| n.to_str()) else {
        return;
    };
    for entry in fs::read_dir(parent(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let mine = name.to_str().is_some_and(|n| {
            n.strip_prefix(start)
                .and_then(|n| n.strip_suffix(UNFINISHED))
                .map(|n| n.strip_suffix(HELD).unwrap_or(n))
                .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
        });
        if mine {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether no other file than this one stands at `path`.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(mine), Ok(there)) => (mine.dev(), mine.ino()) == (there.dev(), there.ino()),
        (_, Err(e)) => e.kind() == ErrorKind::NotFound,
        (Err(_), _) => false,
    }
}

/// A file that this process alone may write.
pub(crate) struct Locked {
    /// Open for reading and appending.
    pub file: File,
    /// Whether it was made in order to be locked.
    pub created: bool,
}

impl Drop for Locked {
    fn drop(&mut self) {
        file_lock::unlock(&self.file);
    }
}

/// Opens and locks the file at `path`, making it if there is none; `None` if somebody else has it.
pub(crate) fn open_locked(path: &Path) -> io::Result<Option<Locked>> {
    fs::create_dir_all(parent(path))?;
    // whoever held it may have replaced the file between our opening and our locking it
    for _ in 0..100 {
        let open = |new: bool| {
            OpenOptions::new()
                .read(true)
                .append(true)
                .create_new(new)
                .mode(0o600)
                .open(path)
        };
        let (file, created) = match open(false) {
            Err(e) if e.kind() == ErrorKind::NotFound => match open(true) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                made => (made?, true),
            },
            opened => (opened?, false),
        };
        if !try_lock(&file)? {
            return Ok(None);
        }
        if path.exists() && is_at(&file, path) {
            return Ok(Some(Locked { file, created }));
        }
    }
    Ok(None)
}
