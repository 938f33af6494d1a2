//! Operations of which nobody knows how they ended.

use crate::codec::{entry_from_json, entry_to_json};
use crate::entry::{Begun, JournalEntry};
use formwork_state::RawJson;
use serde_json::value::RawValue;
use std::fmt;
use std::sync::Arc;

/// An operation that was begun and of whose end nothing is known.
#[derive(Clone, PartialEq, Eq)]
pub struct PendingOperation {
    /// What was begun.
    pub begun: Arc<Begun>,
    /// What the provider noted, in order. Without a note no request was sent.
    pub notes: Vec<Arc<[u8]>>,
}

impl PendingOperation {
    /// For people: what it is and why it is pending.
    pub fn describe(&self) -> String {
        let what = self.begun.describe();
        if self.begun.found.is_some() {
            format!(
                "{what}: it was done, but the state, which another tool has written since, lacks the object"
            )
        } else {
            format!("{what}: it was begun, and how it ended is not known")
        }
    }

    /// The entries that make it pending.
    pub fn entries(&self) -> impl Iterator<Item = JournalEntry> + '_ {
        let id = self.begun.id;
        std::iter::once(JournalEntry::Begun(Box::new((*self.begun).clone()))).chain(
            self.notes.iter().map(move |note| JournalEntry::Noted {
                id,
                note: note.clone(),
            }),
        )
    }
}

impl fmt::Debug for PendingOperation {
    /// Names only: the rest may be sensitive.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Pending({}, {} notes)",
            self.begun.describe(),
            self.notes.len()
        )
    }
}

/// As the JSON list that a snapshot carries where the backend keeps no journal.
pub fn write_pending<'a>(pending: impl IntoIterator<Item = &'a PendingOperation>) -> RawJson {
    let lines: Vec<String> = pending
        .into_iter()
        .flat_map(|p| p.entries().map(|e| entry_to_json(&e)).collect::<Vec<_>>())
        .collect();
    // each part is JSON by construction, so the null never arises
    RawJson::parse(&format!("[{}]", lines.join(","))).unwrap_or_else(|_| RawJson::null())
}

/// From that list.
///
/// # Errors
/// What is wrong with it, as a clause that quotes no content.
pub fn read_pending(json: &RawJson) -> Result<Vec<PendingOperation>, String> {
    let parts: Vec<&RawValue> =
        serde_json::from_str(json.get()).map_err(|_| "it must be a list".to_owned())?;
    let mut pending: Vec<PendingOperation> = Vec::new();
    for part in parts {
        match entry_from_json(part.get())? {
            JournalEntry::Begun(begun) => pending.push(PendingOperation {
                begun: Arc::new(*begun),
                notes: Vec::new(),
            }),
            JournalEntry::Noted { id, note } => pending
                .iter_mut()
                .find(|p| p.begun.id == id)
                .ok_or_else(|| format!("{id} was never begun"))?
                .notes
                .push(note),
            other => return Err(format!("{} has ended", other.id())),
        }
    }
    Ok(pending)
}
