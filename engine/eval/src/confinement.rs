//! [`Confinement`]: reading files below one directory and nowhere else (`-restrict-files`).
//!
//! For configurations that nobody has reviewed: whatever path they name, by `..`, by an absolute path
//! or through links, nothing outside the directory is opened, and nothing is learnt of what is there,
//! not even whether it is.
//!
//! A path is walked by its names, from handles of directories that are held open, and links are read
//! and followed by hand; the system is never given a path of more than one name, and never follows a
//! link itself. So a link that is put in place while a path is walked leads to an error, not out. A
//! path that leaves the directory on its way is refused even if it would come back.
//!
//! What this cannot see: hard links and mounts within the directory.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use crate::builtins::{DirectoryEntry, FileError};

/// How many links may lie on the way to one file, as on Linux.
const MOST_LINKS: usize = 40;

/// A directory out of which no path leads.
#[derive(Debug)]
pub struct Confinement {
    /// The directory, without links, as messages name it and as paths are compared with it.
    root: PathBuf,
    handle: OwnedFd,
}

/// Where a path leads to.
enum Place {
    /// A directory, held open.
    Directory(OwnedFd),
    /// An entry of a directory that is no directory and no link.
    Other {
        parent: OwnedFd,
        name: OsString,
        kind: FileType,
    },
}

impl Confinement {
    /// Confines to this directory, which must be there.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn new(directory: &Path) -> io::Result<Self> {
        let root = std::fs::canonicalize(directory)?;
        let handle = rustix::fs::open(&root, DIRECTORY, Mode::empty())?;
        Ok(Self { root, handle })
    }

    /// The contents of a file; a relative path starts at `base`, which is absolute and without links.
    ///
    /// # Errors
    /// Why there are none.
    pub fn read(&self, base: &Path, path: &Path) -> Result<Vec<u8>, FileError> {
        match self.locate(base, path)? {
            Place::Other {
                parent,
                name,
                kind: FileType::RegularFile,
            } => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let file =
                    rustix::fs::openat(&parent, &name, flags, Mode::empty()).map_err(plain)?;
                let mut file = std::fs::File::from(file);
                let about = file
                    .metadata()
                    .map_err(|e| FileError::Other(e.to_string()))?;
                if !about.is_file() {
                    return Err(FileError::NotAFile);
                }
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes)
                    .map_err(|e| FileError::Other(e.to_string()))?;
                Ok(bytes)
            }
            _ => Err(FileError::NotAFile),
        }
    }

    /// Whether there is a regular file.
    ///
    /// # Errors
    /// [`FileError::NotAFile`] if there is something else, and what keeps from looking.
    pub fn exists(&self, base: &Path, path: &Path) -> Result<bool, FileError> {
        match self.locate(base, path) {
            Ok(Place::Other {
                kind: FileType::RegularFile,
                ..
            }) => Ok(true),
            Ok(_) => Err(FileError::NotAFile),
            Err(FileError::Missing) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// The entries of a directory, in any order; none if there is no such directory. Links that lead
    /// outside are neither files nor directories.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn list(&self, base: &Path, path: &Path) -> Result<Vec<DirectoryEntry>, FileError> {
        let directory = match self.locate(base, path) {
            Ok(Place::Directory(handle)) => handle,
            Ok(Place::Other { .. }) | Err(FileError::Missing) => return Ok(Vec::new()),
            Err(other) => return Err(other),
        };
        let mut entries = Vec::new();
        for entry in Dir::read_from(&directory).map_err(plain)? {
            let entry = entry.map_err(plain)?;
            // names that are no text cannot be matched by a pattern or be a value
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Symlink | FileType::Unknown => {
                    match self.locate(base, &path.join(name)) {
                        Ok(Place::Directory(_)) => FileType::Directory,
                        Ok(Place::Other { kind, .. }) => kind,
                        Err(_) => FileType::Unknown,
                    }
                }
                kind => kind,
            };
            entries.push(DirectoryEntry {
                name: name.to_owned(),
                directory: kind == FileType::Directory,
                file: kind == FileType::RegularFile,
            });
        }
        Ok(entries)
    }

    /// Whether a path leads to a directory within.
    pub fn is_directory(&self, base: &Path, path: &Path) -> bool {
        matches!(self.locate(base, path), Ok(Place::Directory(_)))
    }

    fn outside(&self) -> FileError {
        FileError::Outside(self.root.to_string_lossy().into_owned())
    }

    /// Walks a path to its end.
    fn locate(&self, base: &Path, path: &Path) -> Result<Place, FileError> {
        let mut pending: VecDeque<OsString> = VecDeque::new();
        push_front(&mut pending, path);
        if path.is_relative() {
            push_front(&mut pending, base);
        }
        // where the walk is: above the root only its own names are followed, which are no links
        let mut above: PathBuf = PathBuf::from("/");
        let mut below: Vec<OwnedFd> = Vec::new();
        let mut links = 0;
        if above == self.root {
            below.push(self.handle.try_clone().map_err(system)?);
        }
        while let Some(name) = pending.pop_front() {
            if name == "/" {
                above = PathBuf::from("/");
                below.clear();
                if above == self.root {
                    below.push(self.handle.try_clone().map_err(system)?);
                }
                continue;
            }
            if name == ".." {
                let at_top = above == Path::new("/");
                match below.len() {
                    // the top of everything is its own parent
                    0 | 1 if at_top => {}
                    0 => {
                        above.pop();
                    }
                    1 => return Err(self.outside()),
                    _ => {
                        below.pop();
                    }
                }
                continue;
            }
            let Some(parent) = below.last() else {
                above.push(&name);
                if !self.root.starts_with(&above) {
                    return Err(self.outside());
                }
                if above == self.root {
                    below.push(self.handle.try_clone().map_err(system)?);
                }
                continue;
            };
            let about =
                rustix::fs::statat(parent, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(plain)?;
            match FileType::from_raw_mode(about.st_mode) {
                FileType::Directory => {
                    let handle = rustix::fs::openat(parent, &name, DIRECTORY, Mode::empty())
                        .map_err(plain)?;
                    below.push(handle);
                }
                FileType::Symlink => {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(FileError::Other("too many links lie on the way".to_owned()));
                    }
                    let target =
                        rustix::fs::readlinkat(parent, &name, Vec::new()).map_err(plain)?;
                    let target = Path::new(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(
                        target.as_bytes(),
                    ));
                    push_front(&mut pending, target);
                }
                kind => {
                    if !pending.is_empty() {
                        return Err(FileError::Other(
                            "a part of the path that should be a directory is none".to_owned(),
                        ));
                    }
                    let Some(parent) = below.pop() else {
                        return Err(self.outside());
                    };
                    return Ok(Place::Other { parent, name, kind });
                }
            }
        }
        below
            .pop()
            .map(Place::Directory)
            .ok_or_else(|| self.outside())
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The names of a path, to be walked before all others; an absolute one begins with `/`.
fn push_front(pending: &mut VecDeque<OsString>, path: &Path) {
    for part in path.components().rev() {
        match part {
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir => pending.push_front("/".into()),
            Component::ParentDir => pending.push_front("..".into()),
            Component::Normal(name) => pending.push_front(name.to_owned()),
        }
    }
}

fn plain(error: rustix::io::Errno) -> FileError {
    match error {
        rustix::io::Errno::NOENT => FileError::Missing,
        other => FileError::Other(io::Error::from(other).to_string()),
    }
}

fn system(error: io::Error) -> FileError {
    FileError::Other(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// What reading a path gives, in a word.
    fn word(result: Result<Vec<u8>, FileError>) -> String {
        match result {
            Ok(bytes) => String::from_utf8(bytes).expect("text"),
            Err(FileError::Missing) => "missing".to_owned(),
            Err(FileError::NotAFile) => "no file".to_owned(),
            Err(FileError::Outside(_)) => "outside".to_owned(),
            Err(FileError::Other(why)) => why,
        }
    }

    #[test]
    fn no_path_leads_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let all = folder.path().canonicalize().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = all.join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("written");
        };
        write("out/secret", "hush");
        write("in/here", "here");
        write("in/work/near", "near");
        write("in/work/deep/er/file", "file");
        write("inner/secret", "hush");
        let link = |target: &Path, at: &str| symlink(target, all.join(at)).expect("a link");
        link(Path::new("../../out"), "in/work/away");
        link(Path::new("../../out/secret"), "in/work/stolen");
        link(Path::new("../../out/none"), "in/work/dangling_out");
        link(Path::new("none"), "in/work/dangling_in");
        link(Path::new("deep/er"), "in/work/short");
        link(Path::new("../here"), "in/work/up");
        link(&all.join("in/here"), "in/work/absolute");
        link(&all.join("out/secret"), "in/work/absolute_out");
        link(Path::new("loop"), "in/work/loop");
        link(Path::new("/proc/self/root"), "in/work/proc");
        link(Path::new("/"), "in/work/top");
        link(Path::new("../../in/here"), "in/work/out_and_in");
        let confined = Confinement::new(&all.join("in")).expect("confined");
        let base = all.join("in/work");
        let absolute = |path: &str| all.join(path).to_string_lossy().into_owned();
        let cases: &[(&str, &str)] = &[
            ("near", "near"),
            ("./near", "near"),
            ("../here", "here"),
            ("deep/../near", "near"),
            ("deep/er/../../near", "near"),
            ("short/file", "file"),
            ("short/../er/file", "file"),
            ("up", "here"),
            ("absolute", "here"),
            (&absolute("in/work/near"), "near"),
            (&absolute("in/../in/here"), "outside"),
            ("none", "missing"),
            ("none/../near", "missing"),
            ("dangling_in", "missing"),
            ("deep", "no file"),
            ("", "no file"),
            (
                "near/x",
                "a part of the path that should be a directory is none",
            ),
            (
                "near/..",
                "a part of the path that should be a directory is none",
            ),
            ("loop", "too many links lie on the way"),
            ("../../out/secret", "outside"),
            ("../../out/none", "outside"),
            ("../../inner/secret", "outside"),
            ("../../in/here", "outside"),
            ("../..", "outside"),
            ("away/secret", "outside"),
            ("away/none", "outside"),
            ("stolen", "outside"),
            ("dangling_out", "outside"),
            ("absolute_out", "outside"),
            ("out_and_in", "outside"),
            ("proc/etc/passwd", "outside"),
            ("top/etc/passwd", "outside"),
            ("/etc/passwd", "outside"),
            ("/no/such/thing", "outside"),
            ("/proc/self/cwd/Cargo.toml", "outside"),
            ("/proc/self/environ", "outside"),
            ("../../../../../../../../../../../../etc/passwd", "outside"),
            ("/", "outside"),
            (&absolute("out/secret"), "outside"),
            (&absolute("inner/secret"), "outside"),
        ];
        for (path, expected) in cases {
            let path = Path::new(path);
            assert_eq!(word(confined.read(&base, path)), *expected, "{path:?}");
            let there = confined.exists(&base, path);
            match *expected {
                "missing" => assert_eq!(there, Ok(false), "{path:?}"),
                "outside" => assert!(matches!(there, Err(FileError::Outside(_))), "{path:?}"),
                "here" | "near" | "file" => assert_eq!(there, Ok(true), "{path:?}"),
                _ => assert!(there.is_err(), "{path:?}"),
            }
        }
        let mut listed: Vec<String> = confined
            .list(&base, Path::new("."))
            .expect("a listing")
            .into_iter()
            .filter(|e| e.file || e.directory)
            .map(|e| format!("{}{}", e.name, if e.directory { "/" } else { "" }))
            .collect();
        listed.sort();
        assert_eq!(listed, ["absolute", "deep/", "near", "short/", "up"]);
        assert!(confined.list(&base, Path::new("away")).is_err());
        assert!(confined.list(&base, Path::new("../../out")).is_err());
        assert_eq!(confined.list(&base, Path::new("none")), Ok(Vec::new()));
        // a working directory outside sees nothing but what lies within
        let base = all.join("out");
        assert_eq!(word(confined.read(&base, Path::new("secret"))), "outside");
        let everything = Confinement::new(Path::new("/")).expect("confined");
        assert_eq!(word(everything.read(&base, Path::new("secret"))), "hush");
        assert_eq!(
            word(everything.read(&base, Path::new("../../../../../../../../../../.."))),
            "no file"
        );
    }

    #[test]
    fn a_link_put_in_place_meanwhile_leads_nowhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let all = folder.path().canonicalize().expect("a folder");
        for (place, text) in [("in/d", "fine"), ("out", "hush"), ("in/e", "fine")] {
            std::fs::create_dir_all(all.join(place)).expect("a folder");
            std::fs::write(all.join(place).join("f"), text).expect("written");
        }
        let confined = Confinement::new(&all.join("in")).expect("confined");
        let stop = std::sync::atomic::AtomicBool::new(false);
        let base = all.join("in");
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let (place, aside, bad) =
                    (all.join("in/d"), all.join("in/aside"), all.join("in/bad"));
                symlink("../out", &bad).expect("a link");
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let _ = std::fs::rename(&place, &aside);
                    let _ = std::fs::rename(&bad, &place);
                    let _ = std::fs::rename(&place, &bad);
                    let _ = std::fs::rename(&aside, &place);
                }
            });
            let mut read = 0;
            for _ in 0..20_000 {
                if let Ok(bytes) = confined.read(&base, Path::new("d/f")) {
                    assert_eq!(bytes, b"fine");
                    read += 1;
                }
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(read > 0);
        });
    }
}
