//! Terraform's side: run where it is there and allowed to take its time, or taken from what was kept.

use super::{APPLY, PLAN, alike, folder, plan_of, state_of, tool};
use crate::generate::Tree;
use crate::measure::{Tools, Usage};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Changes with what is compared and how, so that older answers are not held against newer questions.
const FORM: &str = "1";

/// What Terraform did.
pub(super) struct Theirs {
    /// What it took.
    pub usage: Usage,
    /// The digest of the plan or state it made.
    pub digest: String,
    /// What it made, if it ran just now.
    pub meaning: Option<Json>,
    /// Whether this was kept from an earlier run.
    pub kept: bool,
}

/// Terraform, its answers kept in a file if one is given.
pub(super) struct Peer<'a> {
    tools: &'a Tools,
    slow: bool,
    cache: Option<PathBuf>,
    kept: serde_json::Map<String, Json>,
}

impl<'a> Peer<'a> {
    pub(super) fn new(
        tools: &'a Tools,
        slow: bool,
        cache: Option<PathBuf>,
    ) -> Result<Self, String> {
        let kept = match cache.as_ref().map(std::fs::read) {
            Some(Ok(bytes)) => serde_json::from_slice(&bytes)
                .map_err(|e| format!("What was kept of Terraform's answers: {e}"))?,
            _ => serde_json::Map::new(),
        };
        Ok(Self {
            tools,
            slow,
            cache,
            kept,
        })
    }

    /// What Terraform does with a configuration: `plan`, `apply`, or `plan again` from a state. Nothing
    /// where it is not there, or would take minutes and may not.
    pub(super) fn ask(
        &mut self,
        command: &str,
        tree: &Tree,
        state: Option<&Path>,
        slow: bool,
    ) -> Result<Option<Theirs>, String> {
        let version = self.tools.terraform_version();
        let key = format!(
            "{FORM} {command} {} {}",
            digest(tree),
            version.unwrap_or_default()
        );
        if let Some(kept) = self.kept.get(&key).and_then(from_kept) {
            return Ok(Some(kept));
        }
        let Some(program) = self.tools.theirs().filter(|_| self.slow || !slow) else {
            return Ok(None);
        };
        let theirs = folder(tree)?;
        if let Some(state) = state {
            let to = theirs.path().join("terraform.tfstate");
            std::fs::copy(state, to).map_err(|e| e.to_string())?;
        }
        tool(program, theirs.path(), &["init", "-no-color"])?;
        let (usage, meaning) = if command == "apply" {
            let usage = tool(program, theirs.path(), &APPLY)?;
            (usage, state_of(theirs.path())?)
        } else {
            let usage = tool(program, theirs.path(), &PLAN)?;
            (usage, plan_of(program, theirs.path())?)
        };
        let digest = alike::digest(&meaning);
        if let Some(file) = &self.cache {
            let micros = |d: Duration| u64::try_from(d.as_micros()).unwrap_or(u64::MAX);
            let entry = json!({
                "cpu": micros(usage.cpu), "wall": micros(usage.wall), "peak": usage.peak,
                "digest": digest,
            });
            self.kept.insert(key, entry);
            let text = serde_json::to_string_pretty(&self.kept).map_err(|e| e.to_string())?;
            std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))?;
        }
        Ok(Some(Theirs {
            usage,
            digest,
            meaning: Some(meaning),
            kept: false,
        }))
    }
}

fn from_kept(entry: &Json) -> Option<Theirs> {
    let number = |name: &str| entry[name].as_u64();
    Some(Theirs {
        usage: Usage {
            cpu: Duration::from_micros(number("cpu")?),
            wall: Duration::from_micros(number("wall")?),
            peak: number("peak")?,
        },
        digest: entry["digest"].as_str()?.to_owned(),
        meaning: None,
        kept: true,
    })
}

fn digest(tree: &Tree) -> String {
    let mut hash = Sha256::new();
    for (name, text) in &tree.files {
        hash.update(name);
        hash.update([0]);
        hash.update(text);
        hash.update([0]);
    }
    hex::encode(&hash.finalize()[..12])
}
