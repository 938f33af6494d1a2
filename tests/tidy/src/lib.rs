//! The house as data: what `cargo metadata` says, what `docs/architecture.md` says, and the text of
//! our source files. The rules that compare them are in `tests/`.
#![forbid(unsafe_code)]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// A package of the dependency tree.
#[derive(Debug)]
pub struct Package {
    /// Package name.
    pub name: String,
    /// Version.
    pub version: String,
    /// Licence expression, empty where the manifest gives none.
    pub licence: String,
    /// Where it comes from, `None` for our own.
    pub source: Option<String>,
    /// Folder of the manifest relative to the root, for our own.
    pub folder: Option<String>,
    /// Names of the packages it depends on, other than for its tests or build.
    pub dependencies: BTreeSet<String>,
}

/// All packages that the workspace's lock file holds.
///
/// # Panics
/// If `cargo metadata` does not answer, which is a failure of the test that asks.
pub fn packages() -> Vec<Package> {
    let cargo = option_env!("CARGO").unwrap_or("cargo");
    let version = Command::new("rustc")
        .arg("-vV")
        .output()
        .map(|o| o.stdout)
        .unwrap_or_default();
    let version = String::from_utf8_lossy(&version).into_owned();
    let host = version
        .lines()
        .find_map(|l| l.strip_prefix("host: "))
        .unwrap_or_default();
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", host])
        .current_dir(root())
        .output();
    let output = match output {
        Ok(o) if o.status.success() => o.stdout,
        Ok(o) => panic!(
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&o.stderr)
        ),
        Err(e) => panic!("cargo cannot be run: {e}"),
    };
    let metadata: Value = match serde_json::from_slice(&output) {
        Ok(v) => v,
        Err(e) => panic!("cargo metadata gave no JSON: {e}"),
    };
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
    list(&metadata["packages"])
        .iter()
        .map(|p| {
            let source = p["source"].as_str().map(str::to_owned);
            let folder = Path::new(p["manifest_path"].as_str().unwrap_or_default())
                .parent()
                .and_then(|f| f.strip_prefix(root()).ok())
                .map(|f| f.to_string_lossy().into_owned());
            Package {
                name: text(&p["name"]),
                version: text(&p["version"]),
                licence: text(&p["license"]),
                folder: if source.is_none() { folder } else { None },
                source,
                dependencies: list(&p["dependencies"])
                    .iter()
                    .filter(|d| d["kind"].is_null())
                    .map(|d| text(&d["name"]))
                    .collect(),
            }
        })
        .collect()
}

/// Name and version of every package that our builds use on this platform, with the features that
/// we turn on. (`cargo metadata` also lists optional ones that nobody turned on.) Other platforms'
/// packages may not have been downloaded; `cargo deny` looks at those.
///
/// # Panics
/// If `cargo tree` does not answer.
pub fn used() -> BTreeSet<(String, String)> {
    let cargo = option_env!("CARGO").unwrap_or("cargo");
    let output = Command::new(cargo)
        .args(["tree", "--workspace", "--prefix", "none", "--format", "{p}"])
        .args([
            "--edges",
            "normal,build,dev",
            "--locked",
            "--offline",
            "--quiet",
        ])
        .current_dir(root())
        .output();
    let output = match output {
        Ok(o) if o.status.success() => o.stdout,
        Ok(o) => panic!("cargo tree failed: {}", String::from_utf8_lossy(&o.stderr)),
        Err(e) => panic!("cargo cannot be run: {e}"),
    };
    String::from_utf8_lossy(&output)
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let (name, version) = (words.next()?, words.next()?);
            Some((name.to_owned(), version.trim_start_matches('v').to_owned()))
        })
        .collect()
}

/// A row of a table in `docs/architecture.md`: crate name, and which crates it may depend on
/// (`None` where the page says "everything").
pub type Rows = BTreeMap<String, Option<BTreeSet<String>>>;

/// What `docs/architecture.md` says: the crates that stand, by shelf, and those that do not yet.
pub struct Page {
    /// Shelf (`schemas`, `engine`...) and row of each crate.
    pub stands: BTreeMap<String, (String, Option<BTreeSet<String>>)>,
    /// Names under "Not yet".
    pub not_yet: BTreeSet<String>,
}

/// Reads the page's tables.
///
/// # Panics
/// If the page is absent.
pub fn page() -> Page {
    let text = match std::fs::read_to_string(root().join("docs/architecture.md")) {
        Ok(t) => t,
        Err(e) => panic!("docs/architecture.md: {e}"),
    };
    let (mut stands, mut not_yet) = (BTreeMap::new(), BTreeSet::new());
    let (mut section, mut shelf) = (String::new(), String::new());
    for line in text.lines() {
        if let Some(title) = line
            .strip_prefix("## ")
            .or_else(|| line.strip_prefix("### "))
        {
            section = title.to_owned();
        }
        let Some(row) = line.strip_prefix("| ") else {
            continue;
        };
        let cells: Vec<&str> = row
            .trim_end_matches('|')
            .split(" | ")
            .map(str::trim)
            .collect();
        let Some(first) = cells.first() else { continue };
        match section.as_str() {
            "Shelves and rooms" => {
                if let Some(name) = first.strip_prefix("**") {
                    shelf = name.trim_end_matches("**").trim_end_matches('/').to_owned();
                } else if cells.len() >= 3 && *first != "crate" {
                    let depends = cells.get(2).copied().unwrap_or_default();
                    let allowed = if depends.starts_with("everything") {
                        None
                    } else {
                        let words = depends
                            .split(',')
                            .map(|w| w.trim().split(' ').next().unwrap_or_default().to_owned());
                        Some(words.filter(|w| !w.is_empty() && w != "-").collect())
                    };
                    stands.insert((*first).to_owned(), (shelf.clone(), allowed));
                }
            }
            "Not yet" if *first != "crate" => {
                not_yet.insert((*first).to_owned());
            }
            _ => {}
        }
    }
    Page { stands, not_yet }
}

/// Our text files that git tracks or would track, relative to the root, with their text.
///
/// # Panics
/// If git cannot be run.
pub fn files(endings: &[&str]) -> Vec<(String, String)> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root())
        .output();
    let output = match output {
        Ok(o) if o.status.success() => o.stdout,
        _ => panic!("git ls-files failed; these rules need a checkout"),
    };
    let mut names: Vec<String> = output
        .split(|b| *b == 0)
        .map(|n| String::from_utf8_lossy(n).into_owned())
        .filter(|n| endings.iter().any(|e| n.ends_with(e)))
        .collect();
    names.sort();
    names.dedup();
    names
        .into_iter()
        .filter_map(|n| {
            std::fs::read_to_string(root().join(&n))
                .ok()
                .map(|t| (n, t))
        })
        .collect()
}

/// A Rust file's text without its test modules: everything before the first `#[cfg(test)]`.
pub fn without_tests(text: &str) -> &str {
    text.find("#[cfg(test)]").map_or(text, |at| &text[..at])
}
