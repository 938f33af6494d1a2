//! What a package's folder holds: looked through, compared, copied.
//!
//! The *content* of a folder is a hash over names and bytes of its files, in the form that the
//! dependency lock file uses for providers (`h1:`). Its *signature* is a hash over names, sizes and
//! times, which is had without reading a file: while it is the same, nothing was changed and nothing
//! needs to be read. Where it differs (a folder that was copied to another machine), the content
//! decides.

use crate::problem::{Outcome, Problem};
use base64::Engine;
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A file or link in a folder.
struct Item {
    /// From the folder, with `/` between parts.
    name: String,
    path: PathBuf,
    link: bool,
    metadata: fs::Metadata,
}

/// All files and links below a folder, in the order of their names. Links are not followed.
fn items(root: &Path) -> io::Result<Vec<Item>> {
    let mut found = Vec::new();
    let mut folders = vec![(root.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let file_name = entry.file_name();
            let name = file_name.to_string_lossy();
            let name = if prefix.is_empty() {
                name.into_owned()
            } else {
                format!("{prefix}/{name}")
            };
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                folders.push((entry.path(), name));
            } else {
                found.push(Item {
                    name,
                    path: entry.path(),
                    link: metadata.is_symlink(),
                    metadata,
                });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The hash over names and bytes.
pub(crate) fn content(root: &Path) -> io::Result<String> {
    let mut all = Sha256::new();
    for item in items(root)? {
        let mut one = Sha256::new();
        if item.link {
            one.update(b"link to ");
            one.update(fs::read_link(&item.path)?.as_os_str().as_encoded_bytes());
        } else {
            io::copy(&mut fs::File::open(&item.path)?, &mut one)?;
        }
        all.update(hex::encode(one.finalize()).as_bytes());
        all.update(b"  ");
        all.update(item.name.as_bytes());
        all.update(b"\n");
    }
    Ok(format!(
        "h1:{}",
        base64::engine::general_purpose::STANDARD.encode(all.finalize())
    ))
}

/// The hash over names, sizes and times.
pub(crate) fn signature(root: &Path) -> io::Result<String> {
    let mut all = Sha256::new();
    for item in items(root)? {
        let changed = item.metadata.modified()?;
        let changed = changed
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos();
        all.update(item.name.as_bytes());
        all.update([0, u8::from(item.link)]);
        all.update(item.metadata.len().to_le_bytes());
        all.update(changed.to_le_bytes());
    }
    Ok(hex::encode(all.finalize()))
}

/// Copies a folder; times are not kept, the right to execute is.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut folders = vec![(from.to_path_buf(), to.to_path_buf())];
    while let Some((from, to)) = folders.pop() {
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let target = to.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                fs::create_dir(&target)?;
                folders.push((entry.path(), target));
            } else if kind.is_symlink() {
                link(&fs::read_link(entry.path())?, &target)?;
            } else {
                fs::copy(entry.path(), &target)?;
            }
        }
    }
    Ok(())
}

#[cfg(unix)]
pub(crate) fn link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
pub(crate) fn link(_to: &Path, _at: &Path) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "links are not served on this system",
    ))
}

/// Makes a fetched folder fit to be kept: what only belongs to version control is taken out, links
/// that lead nowhere too, and a link that leads out of the folder is refused, since reading the module
/// would read the machine's own files.
pub(crate) fn settle(root: &Path) -> Outcome<()> {
    let unreadable = |e: io::Error| Problem::local("What was fetched cannot be looked through", &e);
    let real = root.canonicalize().map_err(unreadable)?;
    let mut folders = vec![root.to_path_buf()];
    let mut links = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let kind = entry.file_type().map_err(unreadable)?;
            let path = entry.path();
            if entry.file_name() == ".git" {
                let removed = if kind.is_dir() {
                    fs::remove_dir_all(&path)
                } else {
                    fs::remove_file(&path)
                };
                removed.map_err(unreadable)?;
            } else if kind.is_dir() {
                folders.push(path);
            } else if kind.is_symlink() {
                links.push(path);
            } else if !kind.is_file() {
                return Err(Problem::failed(format!(
                    "The package holds \"{}\", which is neither a file nor a directory nor a link.",
                    within(root, &path)
                )));
            }
        }
    }
    for path in links {
        match path.canonicalize() {
            Ok(target) if target.starts_with(&real) => {}
            Ok(_) => {
                return Err(Problem::failed(format!(
                    "The package holds a link, \"{}\", that leads out of it, to \"{}\". Reading it \
                     would read files of this machine that are no part of the module.",
                    within(root, &path),
                    fs::read_link(&path).unwrap_or_default().display()
                )));
            }
            // it leads nowhere now, but might one day
            Err(_) => fs::remove_file(&path).map_err(unreadable)?,
        }
    }
    Ok(())
}

fn within(root: &Path, path: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}

/// Finds the directory that a subdirectory means, `*` and `?` expanded.
pub(crate) fn expand(root: &Path, subdirectory: &str) -> Outcome<String> {
    if !subdirectory.contains(['*', '?', '[']) {
        return Ok(subdirectory.to_owned());
    }
    let mut found = vec![String::new()];
    for pattern in subdirectory.split('/') {
        let mut next = Vec::new();
        for folder in &found {
            let entries = fs::read_dir(root.join(folder))
                .map_err(|e| Problem::local("What was fetched cannot be looked through", &e))?;
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let hidden = name.starts_with('.') && !pattern.starts_with('.');
                if entry.path().is_dir() && !hidden && matches(pattern, &name) {
                    next.push(if folder.is_empty() {
                        name
                    } else {
                        format!("{folder}/{name}")
                    });
                }
            }
        }
        found = next;
    }
    found.sort();
    match &found[..] {
        [one] => Ok(one.clone()),
        [] => Err(Problem::new(
            "Failed to expand subdir globs",
            format!("The package holds no directory that \"{subdirectory}\" would fit."),
        )),
        many => Err(Problem::new(
            "Failed to expand subdir globs",
            format!(
                "\"{subdirectory}\" fits {} directories of the package ({}), and one is wanted.",
                many.len(),
                many.iter()
                    .take(3)
                    .map(|m| format!("\"{m}\""))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        )),
    }
}

/// Whether a name fits a pattern of `*`, `?` and plain characters.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // where to go on if what follows the last star does not fit
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || Some(c) == name.get(n) => {
                p += 1;
                n += 1;
            }
            _ => match retry {
                Some((star, at)) => {
                    retry = Some((star, at + 1));
                    p = star + 1;
                    n = at + 1;
                }
                None => return false,
            },
        }
    }
    pattern
        .get(p..)
        .unwrap_or_default()
        .iter()
        .all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        folder
    }

    #[test]
    fn content_is_names_and_bytes() {
        let a = tree(&[("main.tf", "x"), ("m/a.tf", "y")]);
        let b = tree(&[("m/a.tf", "y"), ("main.tf", "x")]);
        let one = content(a.path()).expect("content");
        assert_eq!(one, content(b.path()).expect("content"));
        // the form of the lock file's h1: hashes, reckoned apart
        let sum = |bytes: &[u8]| hex::encode(Sha256::digest(bytes));
        let text = format!("{}  m/a.tf\n{}  main.tf\n", sum(b"y"), sum(b"x"));
        let expected =
            base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text.as_bytes()));
        assert_eq!(one, format!("h1:{expected}"));
        fs::write(b.path().join("m/a.tf"), "z").expect("a file");
        assert_ne!(one, content(b.path()).expect("content"));
        let c = tempfile::tempdir().expect("a folder");
        copy(a.path(), &c.path().join("copy")).expect("copied");
        assert_eq!(one, content(&c.path().join("copy")).expect("content"));
        let before = signature(a.path()).expect("signature");
        assert_eq!(before, signature(a.path()).expect("signature"));
        fs::write(a.path().join("main.tf"), "xx").expect("a file");
        assert_ne!(before, signature(a.path()).expect("signature"));
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_inside() {
        let t = tree(&[
            ("a/b/c/main.tf", "x"),
            (".git/config", "x"),
            ("s/.git", "gitdir: x"),
        ]);
        let at = |p: &str| t.path().join(p);
        link(Path::new("a/b"), &at("good")).expect("a link");
        link(Path::new("nowhere"), &at("dangling")).expect("a link");
        settle(t.path()).expect("settled");
        assert!(at("good/c/main.tf").exists());
        assert!(fs::symlink_metadata(at("dangling")).is_err());
        assert!(!at(".git").exists() && !at("s/.git").exists());
        // by its text it stays inside, by the links on its way it does not
        link(Path::new("../.."), &at("a/b/up")).expect("a link");
        link(Path::new("a/b/up/../.."), &at("sly")).expect("a link");
        let said = settle(t.path()).expect_err("a link leads out");
        assert!(said.detail.contains("\"sly\""), "{said}");
        fs::remove_file(at("sly")).expect("removed");
        link(Path::new("/etc"), &at("a/etc")).expect("a link");
        let said = settle(t.path()).expect_err("a link leads out");
        assert!(said.detail.contains("\"a/etc\""), "{said}");
    }

    #[test]
    fn patterns() {
        let t = tree(&[
            ("net-1.2/modules/x/m.tf", ""),
            ("net-1.2/modules/y/m.tf", ""),
            (".hidden/m.tf", ""),
            ("file", ""),
        ]);
        assert_eq!(expand(t.path(), "*"), Ok("net-1.2".to_owned()));
        assert_eq!(
            expand(t.path(), "net-?.*/modules/x"),
            Ok("net-1.2/modules/x".to_owned())
        );
        assert_eq!(
            expand(t.path(), "plain/absent"),
            Ok("plain/absent".to_owned())
        );
        assert!(
            expand(t.path(), "*/modules/*")
                .expect_err("two")
                .detail
                .contains("2 directories")
        );
        assert!(expand(t.path(), "z*").is_err());
        for (pattern, name, fits) in [
            ("*a*b", "xxaxxb", true),
            ("*a*b", "xxaxxbc", false),
            ("", "", true),
            ("?", "", false),
            ("**", "x", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
