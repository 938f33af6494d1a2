//! Configurations as text, and what loading says about them.

mod blocks;
mod files;
mod mistakes;
mod modules;
mod statics;
mod values;

use crate::{
    Configuration, LanguageLevel, Loading, LocalModulesOnly, MemoryReader, Repetition, load,
    parse_tfvars,
};
use formwork_addresses::{LocalProviderConfig, ModulePath, Resource};
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_values::{Kind, Value};
use std::path::Path;

/// Files as a text; one without file headers is `main.tf`, others begin with lines `## path`.
fn reader_of(text: &str) -> MemoryReader {
    let mut reader = MemoryReader::new();
    for part in format!("\n{text}")
        .split("\n## ")
        .filter(|p| !p.trim().is_empty())
    {
        match part.split_once('\n').unwrap_or((part, "")) {
            (name, text) if text_has_header(part, name) => reader.insert(name, text.as_bytes()),
            _ => reader.insert("main.tf", part.trim_start_matches('\n').as_bytes()),
        }
    }
    reader
}

fn read(text: &str) -> (Configuration, Diagnostics, SourceMap) {
    let reader = reader_of(text);
    let mut sources = SourceMap::new();
    let with = Loading {
        reader: &reader,
        fetcher: &LocalModulesOnly,
        level: LanguageLevel::default(),
        statics: crate::StaticInputs::default(),
    };
    let (c, d) = load(Path::new("."), &with, &mut sources);
    (c, d, sources)
}

fn text_has_header(part: &str, name: &str) -> bool {
    !part.starts_with('\n') && (name.contains(".tf") || name.contains(".hcl"))
}

/// Each diagnostic as `file:line:column-column summary`, warnings with a `W`.
fn told(d: &Diagnostics, sources: &SourceMap) -> Vec<String> {
    d.iter()
        .map(|d| {
            let place = d.subject.map_or("-".to_owned(), |r| {
                let end = sources.get(r.file).map_or(0, |f| f.position(r.end).column);
                format!("{}-{end}", sources.place(r))
            });
            let kind = if d.is_error() { "" } else { "W " };
            let hint = d.hints.first().map_or(String::new(), |h| format!(" | {h}"));
            format!("{kind}{place} {}{hint}", d.summary)
        })
        .collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let (_, d, sources) = read(text);
    assert_eq!(told(&d, &sources), expected, "of:\n{text}");
}
