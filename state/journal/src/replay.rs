//! From a snapshot and a journal to the state, and to what is pending.

use crate::codec::{Head, Journal, SnapshotHash};
use crate::entry::{Begun, OperationAction, OperationId};
use crate::ledger::{Ledger, Place, free_key};
use crate::pending::PendingOperation;
use formwork_addresses::ResourceMode;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_state::{ResourceInstanceObject, Snapshot, State};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How a journal stands to the snapshot beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It extends this very snapshot: state is the snapshot with the entries replayed.
    Extends,
    /// It extends another version of this state, because another tool has written since, or because
    /// this process died between writing the snapshot and clearing the journal: nothing is replayed.
    Stale,
}

/// What is known after a look at snapshot and journal.
#[derive(Clone, Debug)]
pub struct Replay {
    /// How the two stand to each other; `None` without a journal.
    pub relation: Option<Relation>,
    /// The state.
    pub state: State,
    /// Operations that somebody has to settle, by id.
    pub pending: Vec<PendingOperation>,
    /// The id of the next operation.
    pub next: OperationId,
    /// The lineage that the journal names. The first snapshot must get it if there is none yet, or the
    /// journal would be another state's.
    pub lineage: Option<String>,
}

/// Puts snapshot and journal together. `snapshot` comes with the hash of its bytes.
///
/// # Errors
/// If the journal belongs to another state, another cloud, or to a state that is gone; or if its
/// entries contradict each other. Nothing of it may then be used, or lost.
pub fn replay(
    snapshot: Option<(&Snapshot, SnapshotHash)>,
    journal: Option<&Journal>,
) -> Result<Replay, Diagnostics> {
    let state = snapshot.map_or_else(State::new, |(s, _)| s.state.clone());
    let Some(journal) = journal else {
        return Ok(Replay {
            relation: None,
            state,
            pending: Vec::new(),
            next: OperationId(1),
            lineage: None,
        });
    };
    let relation = relation(&journal.head, snapshot)
        .map_err(|reason| Diagnostics::from(refusal(journal, &reason)))?;
    let first = first_id(journal);
    let mut ledger = match relation {
        Relation::Extends => Ledger::new(state.clone(), first),
        Relation::Stale => Ledger::outcomes(first),
    };
    for (i, entry) in journal.entries.iter().enumerate() {
        ledger.record(entry).map_err(|illegal| {
            Diagnostic::error(
                "Damaged journal",
                format!(
                    "Line {} of the journal {} cannot follow the lines before it: {illegal}. It was \
                     not written by Formwork, or not as a whole.",
                    i + 2,
                    journal.name
                ),
            )
            .hint(KEEP)
        })?;
    }
    let next = ledger.next_id().max(journal.head.next);
    let lineage = Some(journal.head.lineage.clone());
    Ok(match relation {
        Relation::Extends => Replay {
            relation: Some(relation),
            pending: ledger.pending().cloned().collect(),
            next,
            lineage,
            state: ledger.into_state(),
        },
        Relation::Stale => Replay {
            relation: Some(relation),
            pending: lacking(&ledger, &state),
            next,
            lineage,
            state,
        },
    })
}

const KEEP: &str = "Keep a copy of the state and of the journal. Then find out which of the objects \
                    named in the journal exist, import those that the state lacks, and move the \
                    journal away.";

fn first_id(journal: &Journal) -> OperationId {
    let first = journal.entries.first().map(|e| e.id());
    first.map_or(journal.head.next, |id| id.min(journal.head.next))
}

fn relation(head: &Head, snapshot: Option<(&Snapshot, SnapshotHash)>) -> Result<Relation, String> {
    let Some((snapshot, hash)) = snapshot else {
        return match head.snapshot {
            None => Ok(Relation::Extends),
            Some(_) => Err(format!(
                "it extends the state of serial {}, but there is no state",
                head.serial
            )),
        };
    };
    if head.cloud != snapshot.cloud() {
        return Err("it belongs to another cloud than the state does".to_owned());
    }
    if head.snapshot.is_none() && head.lineage != snapshot.lineage {
        // there was no state when it began, so whoever wrote the first one did not know its lineage
        return Ok(Relation::Stale);
    }
    if head.lineage != snapshot.lineage {
        return Err(format!(
            "it belongs to the state of lineage {}, but the state has lineage {}",
            head.lineage, snapshot.lineage
        ));
    }
    Ok(
        if head.serial == snapshot.serial && head.snapshot == Some(hash) {
            Relation::Extends
        } else {
            Relation::Stale
        },
    )
}

fn refusal(journal: &Journal, reason: &str) -> Diagnostic {
    // what is in it, so that the user can judge what would be lost
    let mut ledger = Ledger::outcomes(first_id(journal));
    let readable = journal.entries.iter().all(|e| ledger.record(e).is_ok());
    let mut named: Vec<String> = ledger
        .pending()
        .map(|p| p.begun.describe())
        .chain(ledger.makers.values().map(|b| b.describe()))
        .collect();
    named.sort();
    let holds = match (readable, named.len()) {
        (true, 0) => "It holds nothing that the state could lack.".to_owned(),
        (_, n) if n <= 20 => format!("It holds: {}.", named.join(", ")),
        (_, n) => format!("It holds {}, and {} more.", named[..20].join(", "), n - 20),
    };
    Diagnostic::error(
        "Journal of another state",
        format!(
            "The journal {} cannot be used: {reason}. {holds}",
            journal.name
        ),
    )
    .hint(KEEP)
}

/// What the journal of another version left behind and this one lacks, such that a journal of this one
/// can carry it on: one operation per object, and none deposes what is not there.
fn lacking(ledger: &Ledger, state: &State) -> Vec<PendingOperation> {
    let mut pending: BTreeMap<OperationId, PendingOperation> = BTreeMap::new();
    let mut places: BTreeSet<Place> = BTreeSet::new();
    for operation in ledger.pending() {
        // a creation may have made an object that nobody knows; anything else is seen by a refresh
        // of the object, if the state still has it
        let begun = &operation.begun;
        let before = begun.prior.as_ref().or(begun.found.as_ref());
        if before.is_some_and(|object| holds(state, begun, object)) {
            continue;
        }
        let place = (begun.address.clone(), begun.deposed.clone());
        let mut operation = operation.clone();
        if begun.action != OperationAction::Create
            && ledger.makers.contains_key(&place)
            && let Some(object) = object_at(ledger.state(), &place)
        {
            // if nothing comes of the operation, the object that it was on is there still
            let mut begun = (**begun).clone();
            begun.found = Some(object.clone());
            operation.begun = Arc::new(begun);
        }
        places.insert(place);
        pending.insert(operation.begun.id, operation);
    }
    for (place, maker) in &ledger.makers {
        if maker.address.resource.mode == ResourceMode::Data || places.contains(place) {
            continue;
        }
        if let Some(object) = object_at(ledger.state(), place)
            && !holds(state, maker, object)
        {
            let mut begun = (**maker).clone();
            begun.found = Some(object.clone());
            if place.1.is_some() {
                // it was made as the current one, and has been deposed since
                begun.deposed.clone_from(&place.1);
                begun.deposes = None;
            }
            places.insert(place.clone());
            pending.insert(
                begun.id,
                PendingOperation {
                    begun: Arc::new(begun),
                    notes: Vec::new(),
                },
            );
        }
    }
    let mut pending: Vec<PendingOperation> = pending.into_values().collect();
    for operation in &mut pending {
        let address = &operation.begun.address;
        let Some(key) = &operation.begun.deposes else {
            continue;
        };
        let deposed = state.deposed(address, key).is_some();
        let deposes = match (deposed, state.object(address)) {
            (true, _) => continue,
            (false, None) => None,
            (false, Some(_)) if places.contains(&(address.clone(), Some(key.clone()))) => {
                // another object comes to be deposed by this key
                free_key(|k| {
                    state.deposed(address, k).is_none()
                        && !places.contains(&(address.clone(), Some(k.clone())))
                })
            }
            (false, Some(_)) => continue,
        };
        let mut begun = (*operation.begun).clone();
        begun.deposes = deposes;
        operation.begun = Arc::new(begun);
    }
    pending
}

fn object_at<'s>(
    state: &'s State,
    (address, deposed): &Place,
) -> Option<&'s Arc<ResourceInstanceObject>> {
    match deposed {
        None => state.object(address),
        Some(key) => state.deposed(address, key),
    }
}

/// Whether the state has this very object at the operation's address, whatever its attributes are by
/// now.
fn holds(state: &State, begun: &Begun, object: &Arc<ResourceInstanceObject>) -> bool {
    let Some(instance) = state.instance(&begun.address) else {
        return false;
    };
    let mut there = instance.current.iter().chain(instance.deposed.values());
    there.any(|o| match (key_of(o), key_of(object)) {
        (Some(a), Some(b)) => a == b,
        // without anything that tells objects apart, one at the address is taken for this one
        _ => true,
    })
}

/// What tells an object from others of its type: its id, else the provider's identity.
pub(crate) fn key_of(object: &ResourceInstanceObject) -> Option<String> {
    let id = object.attributes_json().and_then(|json| {
        let entries: BTreeMap<String, &RawValue> = serde_json::from_str(json.get()).ok()?;
        entries.get("id").map(|raw| raw.get().to_owned())
    });
    id.filter(|id| id != "null")
        .or_else(|| object.identity.as_ref().map(|i| i.get().to_owned()))
}
