//! That the order of what a run asks of the system is the promised one, read from its trace.
//!
//! * Before the first byte of a request that changes something, an fdatasync of the journal has
//!   returned that was called after its Begun and its Noted entries were written.
//! * Before the Begun entry of what depends on an object stands the Succeeded entry of that object, which
//!   is durable no later, and so before any request of the dependent.
//! * The state is written as: a temporary file, its fdatasync, its lock, the rename, the fsync of the
//!   directory; and only then is the journal taken away.
//!
//! Which requests have changed something is what the mock says in its log.

use crate::lab::Lab;
use crate::points::{Shape, Stage};
use crate::strace::{self, Call, Traced};
use crate::{APPLY, DESTROY};
use base64::Engine;
use formwork_testkit::Scenario;
use serde_json::Value;
use std::collections::BTreeMap;

/// Enough to see all of a request and of what the journal is given.
pub const ALL: usize = 4 << 20;

/// An entry of the journal, and the line of the trace from which on it was durable.
pub struct Entry {
    /// The entry.
    pub entry: Value,
    /// When its bytes were written.
    pub written: usize,
    /// When they were durable.
    pub durable: usize,
}

fn name(lab: &Lab) -> String {
    lab.journal().to_string_lossy().into_owned()
}

/// Whether the call has succeeded.
fn done(call: &Call) -> bool {
    call.result.is_some_and(|result| result >= 0)
}

/// The first fdatasync or fsync of the file at `path` that was called after this line: when it returned.
fn synced(traced: &Traced, path: &str, after: usize) -> usize {
    let syncs = |call: &&Call| {
        ["fdatasync", "fsync"].contains(&call.name.as_str())
            && call.path() == Some(path)
            && call.begun > after
            && done(call)
    };
    let found = traced.calls.iter().find(syncs);
    found.map_or(usize::MAX, |call| call.ended)
}

/// What was appended to the journal.
pub fn entries(traced: &Traced, journal: &str) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut rest = Vec::new();
    for call in &traced.calls {
        if call.name != "write" || call.path() != Some(journal) || !done(call) {
            continue;
        }
        let whole = usize::try_from(call.result.unwrap_or(0)).unwrap_or(0);
        let text = call.texts().into_iter().next().unwrap_or_default();
        assert_eq!(text.len(), whole, "the trace shows all that is written");
        let durable = synced(traced, journal, call.ended);
        rest.extend(text);
        while let Some(end) = rest.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            let line: Value = serde_json::from_slice(&line).expect("a line of the journal");
            if !line["entry"].is_null() {
                found.push(Entry {
                    entry: line["entry"].clone(),
                    written: call.ended,
                    durable,
                });
            }
        }
    }
    assert!(rest.is_empty(), "whole lines are written");
    found
}

/// The entry that notes a request before it is sent.
pub fn noted<'e>(entries: &'e [Entry], method: &str, path: &str) -> Option<&'e Entry> {
    let bare = path.split('?').next().unwrap_or_default();
    entries.iter().find(|entry| {
        let note = entry.entry["noted"]["note"].as_str().unwrap_or_default();
        let note = base64::engine::general_purpose::STANDARD.decode(note);
        let note: Value = note
            .ok()
            .and_then(|note| serde_json::from_slice(&note).ok())
            .unwrap_or_default();
        let text = |key: &str| note[key].as_str().unwrap_or_default().to_owned();
        let id = text("request_id");
        note["method"] == method
            && bare == format!("/{}/{}", text("service"), text("path"))
            && (id.is_empty() || path.contains(&id))
    })
}

/// Requests to the mock: `METHOD path?query`, and the line at which their first byte was sent.
fn requests(traced: &Traced) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for call in &traced.calls {
        let sends = ["write", "writev", "sendto", "sendmsg"].contains(&call.name.as_str());
        if !sends || call.target() != "mock" {
            continue;
        }
        let text = call.texts().into_iter().next().unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let line = text.lines().next().unwrap_or_default();
        if let Some(line) = line.strip_suffix(" HTTP/1.1") {
            found.push((line.to_owned(), call.begun));
        }
    }
    found
}

/// Proves it of one run; how many requests have changed something.
fn prove(lab: &Lab, command: &[&str], depends: impl Fn(&str, &str) -> bool) -> usize {
    let before = lab.log().len();
    let traced = strace::run(lab, command, None, ALL);
    assert_eq!(traced.code, Some(0), "{command:?}: {}", traced.output);
    let log = lab.log().split_off(before);
    let journal = name(lab);
    let entries = entries(&traced, &journal);
    let of = |kind: &'static str| {
        entries
            .iter()
            .filter(move |entry| !entry.entry[kind].is_null())
    };
    let begun: BTreeMap<u64, &Entry> = of("begun")
        .filter_map(|entry| Some((entry.entry["begun"]["id"].as_u64()?, entry)))
        .collect();

    // every request that has changed something
    let sent = requests(&traced);
    let mut proved = 0;
    for line in log.iter().filter(|line| line["committed"] == true) {
        let (method, path) = (line["method"].as_str(), line["path"].as_str());
        let (method, path) = (method.expect("a method"), path.expect("a path"));
        let request = format!("{method} {path}");
        let (_, first_byte) = sent
            .iter()
            .find(|(sent, _)| *sent == request)
            .unwrap_or_else(|| panic!("{request} is in the trace"));
        let noted = noted(&entries, method, path);
        let noted = noted.unwrap_or_else(|| panic!("{request} was noted"));
        assert!(
            noted.durable < *first_byte,
            "{request}: durable at line {}, sent at line {first_byte}",
            noted.durable
        );
        let id = noted.entry["noted"]["id"].as_u64().expect("an id");
        let begun = begun.get(&id).unwrap_or_else(|| panic!("{request}: begun"));
        assert!(begun.durable < *first_byte, "{request}: begun");
        proved += 1;
    }

    // every dependent: what it is made from stands before it, and is durable when its first request,
    // whose first byte comes after all that it has noted, is sent
    let address = |entry: &Entry| {
        let address = entry.entry["begun"]["address"].as_str();
        address.unwrap_or_default().to_owned()
    };
    for dependent in begun.values() {
        for (id, other) in &begun {
            if !depends(&address(dependent), &address(other)) {
                continue;
            }
            let ended = of("succeeded").find(|entry| entry.entry["succeeded"]["id"] == *id);
            let ended = ended.unwrap_or_else(|| panic!("{id} has succeeded"));
            let order = |entry: &Entry| entries.iter().position(|e| std::ptr::eq(e, entry));
            assert!(
                order(ended) < order(dependent) && ended.durable <= dependent.durable,
                "{} began before {} had ended",
                address(dependent),
                address(other)
            );
        }
    }
    state_is_written_in_order(lab, &traced);
    proved
}

/// That the last state was put in place as promised.
fn state_is_written_in_order(lab: &Lab, traced: &Traced) {
    let state = lab.state();
    let directory = state.parent().expect("a directory").to_string_lossy();
    let state = state.to_string_lossy();
    let mut renames = 0;
    for rename in traced.calls.iter().filter(|c| c.name.starts_with("rename")) {
        let mut texts = rename.texts().into_iter();
        let mut text = || String::from_utf8_lossy(&texts.next().unwrap_or_default()).into_owned();
        let (from, to) = (text(), text());
        if to != state {
            continue;
        }
        renames += 1;
        let last = |name: &str, holds: &dyn Fn(&Call) -> bool| {
            let mut calls = traced.calls.iter().rev();
            let found = calls.find(|call| {
                call.name == name && call.path() == Some(&from) && done(call) && holds(call)
            });
            found
                .unwrap_or_else(|| panic!("a {name} of {from}"))
                .clone()
        };
        let any = |_: &Call| true;
        // The file that was locked all along takes its place again, which holds the same by then; it is
        // written by the descriptor that has the lock, under the name that it was opened by.
        let is_back = from.contains(".held.");
        if !is_back {
            let written = last("write", &any);
            let synced = last("fdatasync", &any);
            let locked = last("fcntl", &|call| {
                call.arguments.contains("SETLK") && call.arguments.contains("F_WRLCK")
            });
            assert!(written.ended < synced.begun, "synced after it was written");
            assert!(synced.ended < locked.begun, "locked after it was synced");
            assert!(locked.ended < rename.begun, "renamed after it was locked");
        }
        let directory = traced.calls.iter().find(|call| {
            call.name == "fsync" && call.path() == Some(&directory) && call.begun > rename.ended
        });
        let directory = directory.expect("the directory is synced");
        assert!(done(directory), "the directory is synced");
        let journal = name(lab);
        let gone = traced.calls.iter().find(|call| {
            call.begun > rename.ended
                && (call.name.starts_with("rename") || call.name == "unlink")
                && call
                    .texts()
                    .last()
                    .is_some_and(|text| text == journal.as_bytes())
        });
        if let Some(gone) = gone {
            assert!(
                directory.ended < gone.begun,
                "the journal goes after the state is durable"
            );
        }
    }
    assert!(renames > 0, "the state was written");
}

#[test]
fn what_is_sent_stands_in_the_journal_first() {
    if !strace::is_allowed() {
        return;
    }
    let lab = Lab::of(
        strace::binary(),
        &Scenario::new().taking(1, 5),
        "root",
        |_| {},
    );
    let network = "google_compute_network.n";
    let inside = ["google_compute_subnetwork.s", "google_compute_firewall.f"];
    let is_inside = |address: &str| inside.iter().any(|kind| address.starts_with(kind));
    let mut proved = 0;
    for stage in [
        Stage::Made,
        Stage::Updated,
        Stage::ReplacedAfter,
        Stage::ReplacedBefore,
    ] {
        let shape = Shape { each: 3, stage };
        lab.env.write("root/main.tf", shape.text());
        proved += prove(&lab, &APPLY, |dependent, other| {
            other == network && is_inside(dependent)
        });
    }
    proved += prove(&lab, &DESTROY, |dependent, other| {
        dependent == network && is_inside(other)
    });
    println!("durable: {proved} requests that changed something were in the journal before");
    assert!(proved > 40, "{proved}");
}
