//! Lines of JSON, each with a checksum that covers the one before.
//!
//! The first line is the head: `{"sum":"…","head":{"formwork_journal":1,…}}`; each further one an
//! entry: `{"sum":"…","entry":{"begun":{…}}}`. The sum is the first half of the SHA-256 of the sum
//! before and of the exact text of the part. Bytes are base64, objects as the state format has them.

use crate::entry::{Begun, JournalEntry, OperationAction, OperationId, Resolution};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_state::{RawJson, ResourceInstanceObject, v4};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::fmt::{self, Write};
use std::sync::Arc;

/// The format's version, in the head.
const VERSION: u32 = 1;
/// What the sum of the head covers as the line before it.
const SEED: &str = "formwork journal";

/// SHA-256 of a snapshot's bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SnapshotHash([u8; 32]);

impl SnapshotHash {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (i, b) in bytes.iter_mut().enumerate() {
            *b = u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for SnapshotHash {
    /// Hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for SnapshotHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SnapshotHash({self})")
    }
}

/// Which snapshot a journal extends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its lineage; the one that the first snapshot will have if there is none yet.
    pub lineage: String,
    /// Its serial; 0 if there is none yet.
    pub serial: u64,
    /// Hash of its bytes; `None` if there is none yet.
    pub snapshot: Option<SnapshotHash>,
    /// Identity of the mock cloud; `None` for the real one.
    pub cloud: Option<String>,
    /// Id of the first operation that this journal adds.
    pub next: OperationId,
}

/// A journal as read.
#[derive(Clone, Debug)]
pub struct Journal {
    /// Where it was read from, for messages.
    pub name: String,
    /// What it extends.
    pub head: Head,
    /// Its entries, in order.
    pub entries: Vec<JournalEntry>,
    /// Bytes at the end that are no whole line: an append that the crash cut off. They never happened.
    pub torn: usize,
}

/// Gives the line of each entry.
#[derive(Clone, Debug)]
pub struct Encoder {
    sum: String,
}

impl Encoder {
    /// The first line, and the encoder of the others.
    pub fn begin(head: &Head) -> (Self, Vec<u8>) {
        let mut encoder = Self {
            sum: SEED.to_owned(),
        };
        let wire = HeadWire {
            formwork_journal: VERSION,
            lineage: head.lineage.clone(),
            serial: head.serial,
            snapshot: head.snapshot.map(|h| h.to_string()),
            cloud: head.cloud.clone(),
            next: head.next.0,
        };
        let bytes = encoder.seal("head", &to_json(&wire));
        (encoder, bytes)
    }

    /// The next line.
    pub fn line(&mut self, entry: &JournalEntry) -> Vec<u8> {
        self.seal("entry", &entry_to_json(entry))
    }

    fn seal(&mut self, key: &str, text: &str) -> Vec<u8> {
        self.sum = sum(&self.sum, text);
        format!("{{\"sum\":\"{}\",\"{key}\":{text}}}\n", self.sum).into_bytes()
    }
}

fn sum(before: &str, text: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(before);
    hash.update("\n");
    hash.update(text);
    let mut out = String::new();
    for b in hash.finalize().iter().take(16) {
        // writing to a String cannot fail
        let _ = write!(out, "{b:02x}");
    }
    out
}

fn to_json(wire: &impl Serialize) -> String {
    // plain structs of texts, numbers and raw JSON cannot fail to serialise
    serde_json::to_string(wire).unwrap_or_default()
}

#[derive(Serialize, Deserialize)]
struct HeadWire {
    formwork_journal: u32,
    lineage: String,
    serial: u64,
    snapshot: Option<String>,
    cloud: Option<String>,
    next: u64,
}

#[derive(Deserialize)]
struct LineWire<'a> {
    sum: &'a str,
    #[serde(borrow)]
    head: Option<&'a RawValue>,
    #[serde(borrow)]
    entry: Option<&'a RawValue>,
}

/// Reads a journal; `None` if there is not even a head. `name` says where the bytes come from.
///
/// # Errors
/// If a line that others follow is damaged, or was written by a newer version.
pub fn decode(bytes: &[u8], name: &str) -> Result<Option<Journal>, Diagnostics> {
    let mut journal: Option<Journal> = None;
    let mut before = SEED.to_owned();
    let mut at = 0;
    let mut number = 0;
    while at < bytes.len() {
        number += 1;
        let rest = bytes.get(at..).unwrap_or_default();
        let end = rest.iter().position(|b| *b == b'\n');
        let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let damaged = |reason: &str| {
            Diagnostics::from(
                Diagnostic::error(
                    "Damaged journal",
                    format!(
                        "Line {number} of the journal {name} (from byte {at}) cannot be used: \
                         {reason}."
                    ),
                )
                .hint(
                    "Keep a copy of the state and of the journal. Then find out which of the objects \
                     named in the journal exist, import those that the state lacks, and move the \
                     journal away.",
                ),
            )
        };
        let checked = end.and_then(|length| Some((length, verified(line, &before)?)));
        let Some((length, (line, text))) = checked else {
            let later = rest.get(line.len() + 1..).unwrap_or_default();
            if lines_in(later) || runs_on(line, &before) {
                return Err(damaged(
                    "its checksum does not match its content, and lines follow it",
                ));
            }
            break;
        };
        match (&mut journal, line.head, line.entry) {
            (None, Some(_), None) => {
                let head = head_from_json(text).map_err(|e| damaged(&e))?;
                journal = Some(Journal {
                    name: name.to_owned(),
                    head,
                    entries: Vec::new(),
                    torn: 0,
                });
            }
            (Some(journal), None, Some(_)) => {
                journal
                    .entries
                    .push(entry_from_json(text).map_err(|e| damaged(&e))?);
            }
            _ => return Err(damaged("it is not where such a line may stand")),
        }
        before = line.sum.to_owned();
        at += length + 1;
    }
    if let Some(journal) = &mut journal {
        journal.torn = bytes.len() - at;
    }
    Ok(journal)
}

/// A line whose sum is right, and the text that the sum covers.
fn verified<'a>(line: &'a [u8], before: &str) -> Option<(LineWire<'a>, &'a str)> {
    let wire: LineWire<'a> = serde_json::from_slice(line).ok()?;
    let text = wire.head.or(wire.entry)?.get();
    (sum(before, text) == wire.sum).then_some((wire, text))
}

/// Whether a good line lost its end and the next one stands behind it.
fn runs_on(line: &[u8], before: &str) -> bool {
    let mut parts = serde_json::Deserializer::from_slice(line).into_iter::<&RawValue>();
    let Some(Ok(first)) = parts.next() else {
        return false;
    };
    let whole = first.get().len();
    verified(first.get().as_bytes(), before).is_some() && line.len() > whole + 1
}

/// Whether a whole line of a journal stands in `rest`. Lines are appended in order and confirmed in
/// order, so whole lines after a damaged one are taken for damage, not for an end that was cut off.
fn lines_in(rest: &[u8]) -> bool {
    rest.split_inclusive(|b| *b == b'\n')
        .filter_map(|line| line.strip_suffix(b"\n"))
        .any(|line| serde_json::from_slice::<LineWire<'_>>(line).is_ok())
}

fn head_from_json(text: &str) -> Result<Head, String> {
    #[derive(Deserialize)]
    struct Version {
        formwork_journal: u32,
    }
    let version: Version =
        serde_json::from_str(text).map_err(|_| "it names no version".to_owned())?;
    if version.formwork_journal != VERSION {
        return Err(format!(
            "it has version {}, and this Formwork reads version {VERSION}",
            version.formwork_journal
        ));
    }
    let wire: HeadWire = serde_json::from_str(text).map_err(|_| UNKNOWN_FORM.to_owned())?;
    let snapshot = match &wire.snapshot {
        None => None,
        Some(hex) => Some(SnapshotHash::from_hex(hex).ok_or(UNKNOWN_FORM)?),
    };
    Ok(Head {
        lineage: wire.lineage,
        serial: wire.serial,
        snapshot,
        cloud: wire.cloud,
        next: OperationId(wire.next),
    })
}

const UNKNOWN_FORM: &str = "it has a form that this Formwork does not know";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EntryWire {
    Begun(Box<BegunWire>),
    Noted {
        id: u64,
        note: String,
    },
    Succeeded {
        id: u64,
        object: Option<Box<RawValue>>,
    },
    Failed {
        id: u64,
        object: Option<Box<RawValue>>,
        reason: String,
    },
    Done {
        id: u64,
        object: Option<Box<RawValue>>,
    },
    NotDone {
        id: u64,
    },
}

#[derive(Serialize, Deserialize)]
struct BegunWire {
    id: u64,
    action: String,
    address: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deposed: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deposes: Option<String>,
    provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prior: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    planned: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    config: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    planned_private: Option<String>,
    /// An object without attributes: schema version, sensitive paths, dependencies and order of
    /// replacement of the object to come; tainted if provisioners are to run on it.
    becomes: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    found: Option<Box<RawValue>>,
}

fn object_to_wire(object: &ResourceInstanceObject) -> Option<Box<RawValue>> {
    RawValue::from_string(v4::write_object(object)).ok()
}

fn object_from_wire(raw: Option<&RawValue>) -> Result<Option<Arc<ResourceInstanceObject>>, String> {
    raw.map(|raw| v4::read_object(raw.get()).map(Arc::new))
        .transpose()
}

fn bytes_from_wire(text: Option<&String>) -> Result<Option<Arc<[u8]>>, String> {
    text.map(|t| {
        STANDARD
            .decode(t)
            .map(Arc::from)
            .map_err(|_| "it holds invalid base64".to_owned())
    })
    .transpose()
}

pub(crate) fn entry_to_json(entry: &JournalEntry) -> String {
    let wire = match entry {
        JournalEntry::Begun(b) => {
            let mut becomes = ResourceInstanceObject::new(b.schema_version, RawJson::null());
            becomes.sensitive = b.sensitive.clone();
            becomes.dependencies = b.dependencies.clone();
            becomes.create_before_destroy = b.create_before_destroy;
            let becomes = if b.provisions {
                becomes.tainted()
            } else {
                becomes
            };
            EntryWire::Begun(Box::new(BegunWire {
                id: b.id.0,
                action: b.action.word().to_owned(),
                address: b.address.to_string(),
                deposed: b.deposed.as_ref().map(ToString::to_string),
                deposes: b.deposes.as_ref().map(ToString::to_string),
                provider: b.provider.to_string(),
                prior: b.prior.as_deref().and_then(object_to_wire),
                planned: b.planned.as_ref().map(|p| STANDARD.encode(p)),
                config: b.config.as_ref().map(|p| STANDARD.encode(p)),
                planned_private: b.planned_private.as_ref().map(|p| STANDARD.encode(p)),
                becomes: object_to_wire(&becomes).unwrap_or_default(),
                found: b.found.as_deref().and_then(object_to_wire),
            }))
        }
        JournalEntry::Noted { id, note } => EntryWire::Noted {
            id: id.0,
            note: STANDARD.encode(note),
        },
        JournalEntry::Succeeded { id, object } => EntryWire::Succeeded {
            id: id.0,
            object: object.as_deref().and_then(object_to_wire),
        },
        JournalEntry::Failed { id, object, reason } => EntryWire::Failed {
            id: id.0,
            object: object.as_deref().and_then(object_to_wire),
            reason: reason.clone(),
        },
        JournalEntry::Settled { id, resolution } => match resolution {
            Resolution::Done(object) => EntryWire::Done {
                id: id.0,
                object: object.as_deref().and_then(object_to_wire),
            },
            Resolution::NotDone => EntryWire::NotDone { id: id.0 },
        },
    };
    to_json(&wire)
}

pub(crate) fn entry_from_json(text: &str) -> Result<JournalEntry, String> {
    let wire: EntryWire = serde_json::from_str(text).map_err(|_| UNKNOWN_FORM.to_owned())?;
    Ok(match wire {
        EntryWire::Begun(b) => JournalEntry::Begun(Box::new(begun_from_wire(&b)?)),
        EntryWire::Noted { id, note } => JournalEntry::Noted {
            id: OperationId(id),
            note: bytes_from_wire(Some(&note))?.unwrap_or_default(),
        },
        EntryWire::Succeeded { id, object } => JournalEntry::Succeeded {
            id: OperationId(id),
            object: object_from_wire(object.as_deref())?,
        },
        EntryWire::Failed { id, object, reason } => JournalEntry::Failed {
            id: OperationId(id),
            object: object_from_wire(object.as_deref())?,
            reason,
        },
        EntryWire::Done { id, object } => JournalEntry::Settled {
            id: OperationId(id),
            resolution: Resolution::Done(object_from_wire(object.as_deref())?),
        },
        EntryWire::NotDone { id } => JournalEntry::Settled {
            id: OperationId(id),
            resolution: Resolution::NotDone,
        },
    })
}

fn begun_from_wire(wire: &BegunWire) -> Result<Begun, String> {
    let becomes = v4::read_object(wire.becomes.get())?;
    let address = wire
        .address
        .parse()
        .map_err(|e| format!("it holds no address: {e}"))?;
    let provider = wire
        .provider
        .parse()
        .map_err(|e| format!("it holds no provider configuration: {e}"))?;
    let deposed = |key: &Option<String>| {
        key.as_ref()
            .map(|k| {
                k.parse()
                    .map_err(|e| format!("it holds no deposed key: {e}"))
            })
            .transpose()
    };
    Ok(Begun {
        id: OperationId(wire.id),
        address,
        deposed: deposed(&wire.deposed)?,
        deposes: deposed(&wire.deposes)?,
        action: OperationAction::from_word(&wire.action).ok_or(UNKNOWN_FORM)?,
        provider,
        provisions: becomes.is_tainted(),
        schema_version: becomes.schema_version,
        prior: object_from_wire(wire.prior.as_deref())?,
        planned: bytes_from_wire(wire.planned.as_ref())?,
        config: bytes_from_wire(wire.config.as_ref())?,
        planned_private: bytes_from_wire(wire.planned_private.as_ref())?,
        sensitive: becomes.sensitive,
        dependencies: becomes.dependencies,
        create_before_destroy: becomes.create_before_destroy,
        found: object_from_wire(wire.found.as_deref())?,
    })
}
