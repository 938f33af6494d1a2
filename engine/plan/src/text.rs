//! The plan's plain-text face: stable, for tests and for people who look into a plan file.
//!
//! Values are printed by the redacting printer: what is sensitive is named, never shown.

use crate::{Plan, PlannedKeys, PlannedVariable, ResourceInstanceChange};
use formwork_values::{Value, print};
use std::fmt::Write as _;

impl Plan {
    /// Everything in the plan as text, without the bytes of files and of the prior state.
    pub fn debug_text(&self) -> String {
        let mut out = String::new();
        let mut line = |indent: usize, text: &str| {
            for part in text.split('\n') {
                let _ = writeln!(out, "{:indent$}{part}", "");
            }
        };
        let mut flags = vec![self.mode.word()];
        for (set, word) in [
            (self.complete, "complete"),
            (self.applyable, "applyable"),
            (self.errored, "errored"),
        ] {
            if set {
                flags.push(word);
            }
        }
        line(0, &format!("plan {}", flags.join(", ")));
        line(
            0,
            &format!(
                "tool {} language {} at {}",
                self.tool_version, self.language_version, self.timestamp
            ),
        );
        let mut prior = format!(
            "prior {:?} serial {}",
            self.prior.lineage, self.prior.serial
        );
        if let Some(cloud) = &self.prior.cloud {
            let _ = write!(prior, " cloud {cloud}");
        }
        line(0, &prior);
        for target in &self.targets {
            line(0, &format!("target {target}"));
        }
        for source in &self.sources {
            line(0, &format!("file {} {}", source.name, source.bytes.len()));
        }
        for folder in &self.folders {
            line(
                0,
                &format!("folder {:?} of [{}]", folder.folder, folder.module),
            );
        }
        for (name, bytes) in &self.files.contents {
            line(0, &format!("read {name:?} {}", bytes.len()));
        }
        for (name, is_file) in &self.files.exists {
            let answer = if *is_file { "a file" } else { "no file" };
            line(0, &format!("looked for {name:?}: {answer}"));
        }
        for (name, entries) in &self.files.listings {
            line(0, &format!("listed {name:?}: {} entries", entries.len()));
        }
        for (name, variable) in &self.variables {
            let value = match variable {
                PlannedVariable::Value(value) => print::console(value),
                PlannedVariable::Ephemeral => "(to be given again)".to_owned(),
            };
            line(0, &format!("variable {name} = {value}"));
        }
        for p in &self.providers {
            let text = format!("provider {} {} {}", p.config, p.version, p.schema_hash);
            line(0, text.trim_end());
        }
        for (resource, keys) in &self.resource_keys {
            line(0, &format!("instances {resource} {}", keys_text(keys)));
        }
        for ((module, name), keys) in &self.call_keys {
            line(0, &format!("calls [{module}] {name} {}", keys_text(keys)));
        }
        let mut changes = |word: &str, list: &[ResourceInstanceChange]| {
            for change in list {
                line(0, &format!("{word} {}", headline(change)));
                for (side, value) in [("before", &change.before), ("after", &change.after)] {
                    line(2, &format!("{side} {}", value_text(value)));
                }
                for path in &change.replace_paths {
                    line(2, &format!("replaced for {path}"));
                }
                for dependency in &change.dependencies {
                    line(2, &format!("depends on {dependency}"));
                }
            }
        };
        changes("change", &self.changes);
        changes("drift", &self.drift);
        for alternative in &self.alternatives {
            changes("alternative", &alternative.envelope);
        }
        for output in &self.outputs {
            let side = |v: &Option<Value>| v.as_ref().map_or("(none)".to_owned(), value_text);
            line(
                0,
                &format!("output {} {}", output.name, output.action().word()),
            );
            // a plan holds the value; whether it may be shown is said by the flag as well
            if !output.sensitive {
                line(2, &format!("before {}", side(&output.before)));
                line(2, &format!("after {}", side(&output.after)));
            }
        }
        for check in &self.checks {
            line(
                0,
                &format!("check {} {}", check.address, check.status.word()),
            );
        }
        out.push_str(&self.graph.debug_text());
        out
    }
}

fn value_text(value: &Value) -> String {
    print::console(value)
}

fn headline(change: &ResourceInstanceChange) -> String {
    let mut text = format!("{} {}", change.display_address(), change.action.word());
    if let Some(reason) = change.reason {
        let _ = write!(text, " {}", reason.word());
    }
    if let Some(previous) = &change.previous_address {
        let _ = write!(text, " moved from {previous}");
    }
    if let Some(importing) = &change.importing {
        let _ = write!(text, " imported by {}", importing.by());
    }
    if change.create_before_destroy {
        text.push_str(" create_before_destroy");
    }
    text
}

fn keys_text(keys: &PlannedKeys) -> String {
    match keys {
        PlannedKeys::Single => "single".to_owned(),
        PlannedKeys::Count(n) => format!("count {n}"),
        PlannedKeys::Disabled => "disabled".to_owned(),
        PlannedKeys::Keys(keys) => format!("keys {keys:?}"),
    }
}
