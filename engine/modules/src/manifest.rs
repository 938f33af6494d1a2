//! What is installed: Terraform's manifest, and what we remember beside it.
//!
//! `modules.json` has the form that Terraform writes and that other tools (tflint) read: each module
//! of the tree with its key, source, version and directory. Beside it, `formwork.json` holds for each
//! fetched module what it was made from and a hash of its content. Both are replaced as a whole, so
//! they are never seen half-written.

use crate::problem::{Outcome, Problem};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A module of the tree, as the manifest has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Names of the calls from the root, joined by dots; empty for the root.
    #[serde(rename = "Key")]
    pub key: String,
    /// Where it comes from, in normal form.
    #[serde(rename = "Source")]
    pub source: String,
    /// Its version; empty but for modules of a registry.
    #[serde(rename = "Version", default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Where it lies, from the working directory.
    #[serde(rename = "Dir")]
    pub directory: String,
}

/// `modules.json`, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The modules.
    pub entries: BTreeMap<String, Entry>,
}

#[derive(Serialize, Deserialize)]
struct Form {
    #[serde(rename = "Modules", default)]
    modules: Vec<Entry>,
}

/// What is remembered of a fetched module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Installation {
    /// Its package, without directory.
    pub package: String,
    /// What that came to: a commit, or the address that a registry named.
    pub resolved: String,
    /// Hash over names and bytes of its files.
    pub content: String,
    /// Hash over names, sizes and times.
    pub signature: String,
}

/// `formwork.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    format_version: String,
    /// By the module's key.
    pub packages: BTreeMap<String, Installation>,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            format_version: "1.0".to_owned(),
            packages: BTreeMap::new(),
        }
    }
}

/// The folder that modules are installed in.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    /// As it stands in the manifest, from the working directory.
    pub shown: PathBuf,
    /// Where it is.
    pub path: PathBuf,
}

impl Home {
    pub fn new(working: &Path, data_directory: &Path) -> Self {
        let shown = data_directory.join("modules");
        Self {
            path: working.join(&shown),
            shown,
        }
    }

    pub fn manifest(&self) -> PathBuf {
        self.path.join("modules.json")
    }

    pub fn record(&self) -> PathBuf {
        self.path.join("formwork.json")
    }

    /// What the folder of a module's package is called.
    pub fn folder_name(&self, key: &str) -> String {
        /// What file systems take for a name, with room to spare.
        const LONGEST: usize = 200;
        // a module "json" in a module "modules" must not stand where the manifest stands
        if matches!(key, "modules.json" | "formwork.json") {
            return format!("{key}-module");
        }
        if key.len() <= LONGEST {
            return key.to_owned();
        }
        let begin: String = key.chars().take(LONGEST / 4).collect();
        let sum = hex::encode(Sha256::digest(key.as_bytes()));
        format!("{begin}-{}", sum.get(..16).unwrap_or_default())
    }

    /// Where the package of a module lies.
    pub fn package(&self, key: &str) -> PathBuf {
        self.path.join(self.folder_name(key))
    }

    /// The manifest; empty if there is none.
    pub fn read_manifest(&self) -> Outcome<Manifest> {
        let path = self.manifest();
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Manifest::default()),
            Err(e) => return Err(unreadable(&self.shown.join("modules.json"), &e)),
        };
        let form: Form = serde_json::from_slice(&bytes)
            .map_err(|e| unreadable(&self.shown.join("modules.json"), &e))?;
        Ok(Manifest {
            entries: form
                .modules
                .into_iter()
                .map(|e| (e.key.clone(), e))
                .collect(),
        })
    }

    /// The record; empty if there is none or it is none of ours: what it says can be found out again.
    pub fn read_record(&self) -> Record {
        fs::read(self.record())
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok())
            .filter(|r| r.format_version == "1.0")
            .unwrap_or_default()
    }

    pub fn write(&self, manifest: &Manifest, record: &Record) -> Outcome<()> {
        let failed = |e: io::Error| {
            Problem::new(
                "Failed to write module manifest",
                format!(
                    "{} cannot be written: {e}.",
                    self.shown.join("modules.json").display()
                ),
            )
        };
        let form = Form {
            modules: manifest.entries.values().cloned().collect(),
        };
        let text = serde_json::to_string(&form).map_err(|e| failed(e.into()))?;
        let notes = serde_json::to_string_pretty(record).map_err(|e| failed(e.into()))?;
        // first the record: an entry of the manifest is never without what is remembered of it
        replace(&self.record(), notes.as_bytes()).map_err(failed)?;
        replace(&self.manifest(), as_go_writes(&text).as_bytes()).map_err(failed)
    }
}

fn unreadable(path: &Path, why: &dyn std::fmt::Display) -> Problem {
    Problem::new(
        "Failed to read module manifest",
        format!("{} cannot be read: {why}.", path.display()),
    )
    .hint("Remove it and install the modules anew.")
}

/// JSON with the characters escaped that Terraform's encoder escapes; they only occur within texts.
fn as_go_writes(text: &str) -> String {
    text.replace('&', "\\u0026")
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
}

/// Writes a file beside, then puts it in place.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("json.new");
    let mut file = fs::File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_is_terraforms() {
        // written by terraform 1.11.4
        let text = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"dep","Source":"git::file:///repo//modules/b?depth=1\u0026ref=main","Dir":".terraform/modules/dep/modules/b"},{"Key":"exact","Source":"registry.terraform.io/ns/net/google//modules/s","Version":"1.2.0","Dir":".terraform/modules/exact/inner/modules/s"}]}"#;
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::new(folder.path(), Path::new(".terraform"));
        assert_eq!(home.read_manifest(), Ok(Manifest::default()));
        fs::create_dir_all(&home.path).expect("a folder");
        fs::write(home.manifest(), text).expect("a file");
        let manifest = home.read_manifest().expect("a manifest");
        assert_eq!(manifest.entries["exact"].version, "1.2.0");
        assert_eq!(
            manifest.entries["dep"].source,
            "git::file:///repo//modules/b?depth=1&ref=main"
        );
        home.write(&manifest, &Record::default()).expect("written");
        assert_eq!(fs::read_to_string(home.manifest()).expect("text"), text);
        fs::write(home.manifest(), "{").expect("a file");
        assert!(home.read_manifest().is_err());
    }
}
