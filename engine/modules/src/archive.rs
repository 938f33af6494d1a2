//! Unpacking archives that somebody else packed.
//!
//! Whatever an archive holds, nothing is written outside the folder it is unpacked into: names that
//! are absolute or climb, hard links and devices are refused; links are made only after every file is
//! written, so that nothing is written through one, and are then looked at by [`crate::content`].
//! Sizes are counted while they are unpacked, not believed.
//!
//! zip and gzip are read here. bzip2, xz and zstd archives, which are rare, are read through the
//! program of that name, as git is.

use crate::content::link;
use crate::problem::{Outcome, Problem};
use formwork_environment::Environment;
use std::cell::Cell;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

/// How an archive is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Zip,
    Tar,
    TarGzip,
    /// A tar archive that the named program unpacks.
    TarBy(&'static str),
}

/// How much a package may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes that are downloaded.
    pub download: u64,
    /// Bytes that an archive holds, unpacked.
    pub unpacked: u64,
    /// Files, directories and links.
    pub entries: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            download: 1 << 30,
            unpacked: 4 << 30,
            entries: 250_000,
        }
    }
}

/// The packing by the name that `archive=` gives it, or a file name's end.
pub(crate) fn by_word(word: &str) -> Option<Packing> {
    Some(match word {
        "zip" => Packing::Zip,
        "tar" => Packing::Tar,
        "tar.gz" | "tgz" => Packing::TarGzip,
        "tar.bz2" | "tbz2" => Packing::TarBy("bzip2"),
        "tar.xz" | "txz" => Packing::TarBy("xz"),
        "tar.zst" | "tzst" => Packing::TarBy("zstd"),
        _ => return None,
    })
}

/// The packing that a path's end names.
pub(crate) fn by_name(path: &str) -> Option<Packing> {
    const ENDS: &[&str] = &[
        "tar.bz2", "tar.gz", "tar.xz", "tar.zst", "tbz2", "tgz", "txz", "tzst", "tar", "zip",
    ];
    let name = path.rsplit('/').next()?;
    ENDS.iter()
        .find(|end| {
            name.strip_suffix(**end)
                .is_some_and(|stem| stem.ends_with('.'))
        })
        .and_then(|end| by_word(end))
}

/// What is still allowed.
struct Budget {
    limits: Limits,
    bytes: u64,
    entries: u64,
}

impl Budget {
    fn entry(&mut self) -> Outcome<()> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(Problem::failed(format!(
                "The archive holds more than {} files, which no module does; it is not unpacked any \
                 further.",
                self.limits.entries
            )));
        }
        Ok(())
    }

    /// Copies, and stops at the limit.
    fn copy(&mut self, from: &mut impl Read, to: &mut impl io::Write) -> Outcome<()> {
        let left = self.limits.unpacked - self.bytes;
        let copied = io::copy(&mut from.take(left + 1), to)
            .map_err(|e| Problem::failed(format!("The archive cannot be unpacked: {e}.")))?;
        if copied > left {
            return Err(self.too_large());
        }
        self.bytes += copied;
        Ok(())
    }

    fn too_large(&self) -> Problem {
        Problem::failed(format!(
            "Unpacked, the archive holds more than {} MiB, which no module does; it is not unpacked \
             any further.",
            self.limits.unpacked >> 20
        ))
    }
}

/// Unpacks `archive` into `folder`, which exists and is empty.
pub(crate) fn unpack(
    archive: &Path,
    packing: Packing,
    folder: &Path,
    limits: Limits,
    environment: &Environment,
) -> Outcome<()> {
    let file = fs::File::open(archive)
        .map_err(|e| Problem::local("The downloaded archive cannot be read", &e))?;
    let mut budget = Budget {
        limits,
        bytes: 0,
        entries: 0,
    };
    let mut links = Vec::new();
    match packing {
        Packing::Zip => unzip(file, folder, &mut budget, &mut links)?,
        Packing::Tar => untar(file, folder, &mut budget, &mut links)?,
        Packing::TarGzip if !is_gzip(archive) => untar(file, folder, &mut budget, &mut links)?,
        Packing::TarGzip => untar(
            flate2::read::MultiGzDecoder::new(io::BufReader::new(file)),
            folder,
            &mut budget,
            &mut links,
        )?,
        Packing::TarBy(program) => {
            let child = Command::new(program)
                .arg("-dc")
                .env_clear()
                .envs(&environment.variables)
                .stdin(file)
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn();
            let mut child = child.map_err(|e| {
                if e.kind() == io::ErrorKind::NotFound {
                    Problem::failed(format!(
                        "The archive is packed with {program}, and there is no program {program} to \
                         unpack it."
                    ))
                    .hint(format!(
                        "Install {program}, or ask for the module as .zip or .tar.gz."
                    ))
                } else {
                    Problem::failed(format!("{program} cannot be started: {e}."))
                }
            })?;
            let out = child.stdout.take();
            let unpacked = match out {
                Some(out) => untar(out, folder, &mut budget, &mut links),
                None => Ok(()),
            };
            if unpacked.is_err() {
                // it waits for somebody to read the rest
                let _ = child.kill();
            }
            let ended = child.wait();
            unpacked?;
            if !ended.is_ok_and(|s| s.success()) {
                return Err(Problem::failed(format!(
                    "{program} could not unpack the archive to its end: it is damaged."
                )));
            }
        }
    }
    for (at, to) in links {
        make_room(&at)?;
        link(&to, &at).map_err(|e| Problem::local("A link cannot be made", &e))?;
    }
    Ok(())
}

/// Whether a file is packed with gzip. Some servers call that an encoding of the transfer, and it is
/// undone on the way.
fn is_gzip(path: &Path) -> bool {
    let mut first = [0; 2];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == [0x1f, 0x8b]
}

/// Where an entry goes; `None` for the folder itself.
fn place(folder: &Path, name: &Path) -> Outcome<Option<PathBuf>> {
    let mut path = folder.to_path_buf();
    let mut parts = 0;
    for part in name.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(p) => {
                path.push(p);
                parts += 1;
            }
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(Problem::failed(format!(
                    "The archive wants to write to \"{}\", which lies outside the folder that it is \
                     unpacked into. Nothing of it is kept.",
                    name.display()
                )));
            }
        }
    }
    Ok((parts > 0).then_some(path))
}

/// Makes the folders above a path; what stood at the path itself is replaced.
fn make_room(path: &Path) -> Outcome<()> {
    let failed = |e: io::Error| Problem::local("The archive cannot be unpacked", &e);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => Err(Problem::failed(
            "The archive holds a file and a directory of one name.",
        )),
        Ok(_) => fs::remove_file(path).map_err(failed),
        Err(_) => Ok(()),
    }
}

fn write(path: &Path, executable: bool, from: &mut impl Read, budget: &mut Budget) -> Outcome<()> {
    make_room(path)?;
    let mut file =
        fs::File::create(path).map_err(|e| Problem::local("The archive cannot be unpacked", &e))?;
    budget.copy(from, &mut file)?;
    #[cfg(unix)]
    if executable {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(fs::Permissions::from_mode(0o755))
            .map_err(|e| Problem::local("The archive cannot be unpacked", &e))?;
    }
    #[cfg(not(unix))]
    let _ = executable;
    Ok(())
}

fn unzip(
    file: fs::File,
    folder: &Path,
    budget: &mut Budget,
    links: &mut Vec<(PathBuf, PathBuf)>,
) -> Outcome<()> {
    let damaged = |e: zip::result::ZipError| {
        Problem::failed(format!(
            "What was downloaded is no zip archive that can be read: {e}."
        ))
    };
    let mut archive = zip::ZipArchive::new(io::BufReader::new(file)).map_err(damaged)?;
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(damaged)?;
        budget.entry()?;
        // some packers on Windows write the wrong kind of slash
        let name = entry.name().map_err(damaged)?.replace('\\', "/");
        let Some(path) = place(folder, Path::new(&name))? else {
            continue;
        };
        let mode = entry.unix_mode().unwrap_or(0o644);
        match mode & 0o170_000 {
            0o120_000 => {
                let mut target = Vec::new();
                budget.copy(&mut (&mut entry).take(4_096), &mut target)?;
                links.push((path, link_target(&name, &target)?));
            }
            0 | 0o040_000 | 0o100_000 => {
                if entry.is_dir() {
                    fs::create_dir_all(&path)
                        .map_err(|e| Problem::local("The archive cannot be unpacked", &e))?;
                } else {
                    write(&path, mode & 0o111 != 0, &mut entry, budget)?;
                }
            }
            _ => return Err(special(&name)),
        }
    }
    Ok(())
}

fn special(name: &str) -> Problem {
    Problem::failed(format!(
        "The archive holds \"{name}\", which is a hard link, a device or something else that no \
         module needs. Nothing of it is kept."
    ))
}

fn link_target(name: &str, target: &[u8]) -> Outcome<PathBuf> {
    let target = std::str::from_utf8(target).map_err(|_| {
        Problem::failed(format!(
            "The link \"{name}\" in the archive leads to no path."
        ))
    })?;
    if Path::new(target).is_absolute() {
        return Err(Problem::failed(format!(
            "The archive holds a link, \"{name}\", that leads out of it, to \"{target}\". Nothing of it \
             is kept."
        )));
    }
    Ok(PathBuf::from(target))
}

/// Reads at most what may be unpacked, whatever the archive says of itself.
struct Bounded<R> {
    inner: R,
    left: u64,
    /// What may still be read of what stands before an entry, while that is read: it is kept in memory.
    before: Rc<Cell<Option<u64>>>,
}

/// What [`Bounded`] says at its end.
const TOO_LARGE: &str = "the archive is too large";

/// What it says of names that would have to be held in memory.
const TOO_LONG: &str = "a name in the archive is too long";

/// The most that may stand before an entry: its name, and what a link leads to.
const LONGEST_NAMES: u64 = 1 << 20;

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or_else(|| io::Error::other(TOO_LARGE))?;
        if let Some(left) = self.before.get() {
            let left = left.checked_sub(read as u64);
            let left = left.ok_or_else(|| io::Error::other(TOO_LONG))?;
            self.before.set(Some(left));
        }
        Ok(read)
    }
}

fn untar(
    stream: impl Read,
    folder: &Path,
    budget: &mut Budget,
    links: &mut Vec<(PathBuf, PathBuf)>,
) -> Outcome<()> {
    // headers and padding come on top of what files hold
    let overhead = budget.limits.entries.saturating_mul(1_536);
    let allowed = budget.limits.unpacked.saturating_add(overhead);
    let before = Rc::new(Cell::new(None));
    let mut archive = tar::Archive::new(Bounded {
        inner: stream,
        left: allowed,
        before: before.clone(),
    });
    let large = budget.too_large();
    let damaged = |e: io::Error| {
        if e.to_string().contains(TOO_LARGE) {
            large.clone()
        } else if e.to_string().contains(TOO_LONG) {
            Problem::failed(
                "The archive holds a name of more than 1 MiB, which no module needs; it is not unpacked \
                 any further.",
            )
        } else {
            Problem::failed(format!(
                "What was downloaded is no tar archive that can be read: {e}."
            ))
        }
    };
    let mut any = false;
    let mut entries = archive.entries().map_err(damaged)?;
    loop {
        before.set(Some(LONGEST_NAMES));
        let Some(entry) = entries.next() else {
            break;
        };
        let mut entry = entry.map_err(damaged)?;
        before.set(None);
        any = true;
        budget.entry()?;
        extract(&mut entry, folder, budget, links, &damaged)?;
        // what is left of it is no part of what stands before the next
        budget.copy(&mut entry, &mut io::sink())?;
    }
    if !any {
        return Err(Problem::failed("The archive is empty."));
    }
    Ok(())
}

fn extract<R: Read>(
    entry: &mut tar::Entry<'_, R>,
    folder: &Path,
    budget: &mut Budget,
    links: &mut Vec<(PathBuf, PathBuf)>,
    damaged: &dyn Fn(io::Error) -> Problem,
) -> Outcome<()> {
    let kind = entry.header().entry_type();
    if kind.is_pax_global_extensions() {
        return Ok(());
    }
    let name = entry.path().map_err(damaged)?.into_owned();
    let Some(path) = place(folder, &name)? else {
        return Ok(());
    };
    let shown = name.display().to_string();
    match kind {
        tar::EntryType::Directory => fs::create_dir_all(&path)
            .map_err(|e| Problem::local("The archive cannot be unpacked", &e)),
        tar::EntryType::Regular | tar::EntryType::Continuous | tar::EntryType::GNUSparse => {
            let mode = entry.header().mode().unwrap_or(0o644);
            write(&path, mode & 0o111 != 0, entry, budget)
        }
        tar::EntryType::Symlink => {
            let target = entry.link_name_bytes().unwrap_or_default().into_owned();
            links.push((path, link_target(&shown, &target)?));
            Ok(())
        }
        _ => Err(special(&shown)),
    }
}
