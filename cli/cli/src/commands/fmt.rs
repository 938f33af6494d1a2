//! `fmt`: files laid out as they should be.
//!
//! Files are `.tf`, `.tfvars`, `.tftest.hcl`, `.tfmock.hcl` and `.tfquery.hcl`; hidden ones and editors' leavings are
//! not looked at. Exit codes: 2 if something could not be read or parsed, else 3 if `-check` found a
//! file that would change.

use crate::arguments;
use crate::session::{Session, exit};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use similar::TextDiff;
use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

const ENDINGS: [&str; 5] = [
    ".tf",
    ".tfvars",
    ".tftest.hcl",
    ".tfmock.hcl",
    ".tfquery.hcl",
];
/// Directories below which nobody looks.
const MOST_DEPTH: usize = 100;

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Fmt) -> u8 {
    let standard_input = arguments.paths.iter().any(|p| p.as_os_str() == "-");
    let mut work = Work {
        session,
        list: arguments.list && !standard_input,
        write: arguments.write && !arguments.check,
        diff: arguments.diff,
        sources: SourceMap::new(),
        diagnostics: Diagnostics::new(),
        changed: false,
    };
    if standard_input {
        if arguments.paths.len() > 1 {
            return session.fail(
                "Failed to parse command-line flags",
                "Standard input (-) stands alone: name either it or files and directories.",
            );
        }
        work.standard_input(arguments.check);
    } else {
        let here = [PathBuf::from(".")];
        let paths: &[PathBuf] = if arguments.paths.is_empty() {
            &here
        } else {
            &arguments.paths
        };
        // In the order of the arguments, each file once.
        let mut seen = BTreeSet::new();
        for path in paths {
            let mut files = BTreeSet::new();
            work.collect(path, arguments.recursive, &mut files);
            for file in files {
                if seen.insert(file.clone()) {
                    work.file(&file);
                }
            }
        }
    }
    let errors = work.diagnostics.has_errors();
    session.say(&work.diagnostics, &work.sources);
    if errors {
        exit::UNREADABLE
    } else if arguments.check && work.changed {
        exit::NOT_LAID_OUT
    } else {
        exit::SUCCESS
    }
}

struct Work<'s> {
    session: &'s Session,
    list: bool,
    write: bool,
    diff: bool,
    sources: SourceMap,
    diagnostics: Diagnostics,
    changed: bool,
}

impl Work<'_> {
    /// Which files are meant by a path.
    fn collect(&mut self, path: &Path, recursive: bool, files: &mut BTreeSet<PathBuf>) {
        let full = self.session.environment.working.join(path);
        match std::fs::metadata(&full) {
            Ok(m) if m.is_dir() => self.directory(path, recursive, 0, files),
            Ok(_) if is_ours(path) => {
                files.insert(shown(path));
            }
            Ok(_) => self.diagnostics.push(Diagnostic::error(
                "File of another kind",
                format!(
                    "{} is not laid out by fmt, which knows files that end in {}.",
                    path.display(),
                    ENDINGS.join(", ")
                ),
            )),
            Err(error) => self.unreadable(path, &error),
        }
    }

    fn directory(
        &mut self,
        path: &Path,
        recursive: bool,
        depth: usize,
        files: &mut BTreeSet<PathBuf>,
    ) {
        let entries = std::fs::read_dir(self.session.environment.working.join(path))
            .and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(path, &error),
        };
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') || name.ends_with('~') {
                continue;
            }
            let below = path.join(&*name);
            let linked = entry.file_type().is_ok_and(|t| t.is_symlink());
            // Only what a link names must be asked for; of the rest the directory tells the kind.
            let kind = if linked {
                std::fs::metadata(entry.path()).map(|m| m.file_type())
            } else {
                entry.file_type()
            };
            match kind {
                Ok(kind) if kind.is_dir() => {
                    // a link to a directory above would go round for ever
                    if recursive && !linked && depth < MOST_DEPTH {
                        self.directory(&below, true, depth + 1, files);
                    }
                }
                Ok(_) if is_ours(&below) => {
                    files.insert(shown(&below));
                }
                Ok(_) => {}
                Err(error) if is_ours(&below) => self.unreadable(&below, &error),
                Err(_) => {}
            }
        }
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        let detail = if error.kind() == io::ErrorKind::NotFound {
            format!("There is no file or directory {}.", path.display())
        } else {
            format!("{} cannot be read: {error}.", path.display())
        };
        self.diagnostics
            .push(Diagnostic::error("Failed to read file", detail));
    }

    fn file(&mut self, path: &Path) {
        let full = self.session.environment.working.join(path);
        let before = match std::fs::read(&full) {
            Ok(bytes) => bytes,
            Err(error) => return self.unreadable(path, &error),
        };
        let name = path.display().to_string();
        let Some(after) = self.laid_out(&name, &before) else {
            return;
        };
        if before == after {
            return;
        }
        self.changed = true;
        if self.list {
            self.session.streams.out(&format!("{name}\n"));
        }
        if self.write
            && let Err(error) = write_over(&full, &after)
        {
            self.diagnostics.push(Diagnostic::error(
                "Failed to write file",
                format!("{name} cannot be written: {error}."),
            ));
        }
        if self.diff {
            self.show_difference(&name, &before, &after);
        }
    }

    fn standard_input(&mut self, check: bool) {
        let before = match self.session.streams.read_all() {
            Ok(bytes) => bytes,
            Err(error) => return self.unreadable(Path::new("<stdin>"), &error),
        };
        let Some(after) = self.laid_out("<stdin>", &before) else {
            return;
        };
        self.changed = before != after;
        if self.diff {
            if self.changed {
                self.show_difference("<stdin>", &before, &after);
            }
        } else if !check {
            self.session.streams.bytes(&after);
        }
    }

    fn laid_out(&mut self, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        let file = self.sources.add(name, bytes);
        let (after, said) = formwork_syntax::format(file, bytes);
        let failed = said.has_errors();
        self.diagnostics.append(said);
        (!failed).then_some(after)
    }

    fn show_difference(&self, name: &str, before: &[u8], after: &[u8]) {
        let before = String::from_utf8_lossy(before);
        let after = String::from_utf8_lossy(after);
        let text = TextDiff::from_lines(&*before, &*after)
            .unified_diff()
            .header(&format!("old/{name}"), &format!("new/{name}"))
            .to_string();
        self.session.streams.out(&text);
    }
}

/// Replaces a file's content; who reads it meanwhile sees the old or the new one.
fn write_over(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // through a link to what it names: a link stays a link
    let path = path.canonicalize()?;
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    io::Write::write_all(&mut file, bytes)?;
    file.as_file()
        .set_permissions(std::fs::metadata(&path)?.permissions())?;
    file.persist(&path)?;
    Ok(())
}

fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ENDINGS.iter().any(|e| name.ends_with(e))
}

/// Without `.` in it.
fn shown(path: &Path) -> PathBuf {
    path.components()
        .filter(|c| !matches!(c, Component::CurDir))
        .collect()
}
