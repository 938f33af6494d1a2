//! [`Ledger`]: what the entries make of the state.

use crate::entry::{Begun, JournalEntry, OperationAction, OperationId, Phase, Resolution};
use crate::pending::PendingOperation;
use crate::replay::key_of;
use formwork_addresses::{AbsResourceInstance, DeposedKey};
use formwork_state::{ObjectStatus, ResourceInstanceObject, State};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// An entry that must not follow what was recorded before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IllegalMove {
    /// Which operation.
    pub id: OperationId,
    /// Why, as a clause.
    pub reason: String,
}

impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.reason)
    }
}

impl std::error::Error for IllegalMove {}

/// An object of the state: an instance and which of its objects.
pub(crate) type Place = (AbsResourceInstance, Option<DeposedKey>);

/// A state, and the operations that are open on it.
#[derive(Clone, Debug)]
pub struct Ledger {
    state: State,
    open: BTreeMap<OperationId, PendingOperation>,
    /// Objects with an open operation.
    busy: BTreeMap<Place, OperationId>,
    next: OperationId,
    /// Whether what an entry presupposes of the state may be absent: see [`Ledger::outcomes`].
    lenient: bool,
    /// The operation that made each object; kept only if lenient.
    pub(crate) makers: BTreeMap<Place, Arc<Begun>>,
}

impl Ledger {
    /// Nothing recorded yet; the first operation will be `next`.
    pub fn new(state: State, next: OperationId) -> Self {
        Self {
            state,
            open: BTreeMap::new(),
            busy: BTreeMap::new(),
            next,
            lenient: false,
            makers: BTreeMap::new(),
        }
    }

    /// A ledger that starts from nothing and collects what entries of a foreign snapshot left behind.
    pub(crate) fn outcomes(next: OperationId) -> Self {
        Self {
            lenient: true,
            ..Self::new(State::new(), next)
        }
    }

    /// The state as it is now.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// For what changes state without an operation: outputs, results of checks, moves. Such changes
    /// are not in the journal; they last once the next snapshot is written.
    pub fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// The state as it is now, at the end of a run.
    pub fn into_state(self) -> State {
        self.state
    }

    /// The id that the next operation must have.
    pub fn next_id(&self) -> OperationId {
        self.next
    }

    /// Leaves out ids that were given before.
    pub(crate) fn skip_to(&mut self, next: OperationId) {
        self.next = self.next.max(next);
    }

    /// An operation that has begun and not ended.
    pub fn open(&self, id: OperationId) -> Option<&PendingOperation> {
        self.open.get(&id)
    }

    /// Operations that began, did not end, and may have changed the world; by id.
    pub fn pending(&self) -> impl Iterator<Item = &PendingOperation> {
        self.open
            .values()
            .filter(|o| o.begun.action.changes_the_world())
    }

    /// Takes an entry in.
    ///
    /// # Errors
    /// If it must not follow what was recorded; nothing is changed then.
    pub fn record(&mut self, entry: &JournalEntry) -> Result<(), IllegalMove> {
        let id = entry.id();
        let illegal = |reason: String| Err(IllegalMove { id, reason });
        let before = match self.open.get(&id) {
            Some(open) if open.notes.is_empty() => Some(Phase::Begun),
            Some(_) => Some(Phase::Noted),
            None if id < self.next => return illegal("it has ended already".to_owned()),
            None => None,
        };
        if !entry.phase().may_follow(before) {
            return illegal(match before {
                None => "it was never begun".to_owned(),
                Some(_) => "it was begun already".to_owned(),
            });
        }
        match entry {
            JournalEntry::Begun(begun) => self.begin(begun),
            JournalEntry::Noted { note, .. } => {
                if let Some(open) = self.open.get_mut(&id) {
                    open.notes.push(note.clone());
                }
                Ok(())
            }
            JournalEntry::Succeeded { object, .. } => {
                if let Some(open) = self.end(id) {
                    self.done(&open.begun, object.as_ref());
                }
                Ok(())
            }
            JournalEntry::Settled {
                resolution: Resolution::Done(object),
                ..
            } => {
                if let Some(open) = self.end(id) {
                    self.found_out(&open.begun, object.as_ref());
                }
                Ok(())
            }
            JournalEntry::Failed { object, .. } => {
                if let Some(open) = self.end(id) {
                    match object {
                        Some(object) => self.done(&open.begun, Some(object)),
                        None => self.not_done(&open.begun),
                    }
                }
                Ok(())
            }
            JournalEntry::Settled {
                resolution: Resolution::NotDone,
                ..
            } => {
                if let Some(open) = self.end(id) {
                    self.not_done(&open.begun);
                }
                Ok(())
            }
        }
    }

    fn begin(&mut self, begun: &Begun) -> Result<(), IllegalMove> {
        let illegal = |reason: String| {
            Err(IllegalMove {
                id: begun.id,
                reason,
            })
        };
        let place = (begun.address.clone(), begun.deposed.clone());
        if let Some(other) = self.busy.get(&place) {
            return illegal(format!("{other} on the same object has not ended"));
        }
        if let Some(key) = &begun.deposes {
            // a pending operation that was carried over finds its object deposed already
            let there = self.state.deposed(&begun.address, key).is_some();
            if !there {
                if self.state.depose(&begun.address, key) {
                    self.maker_moves(&begun.address, None, Some(key));
                } else if !self.lenient {
                    return illegal(format!(
                        "{} has no object that could be deposed as {key}",
                        begun.address
                    ));
                }
            }
        }
        if begun.action == OperationAction::Provision {
            // the object is good only once its provisioners have run
            self.set_status(begun, ObjectStatus::Tainted);
        }
        self.busy.insert(place, begun.id);
        self.open.insert(
            begun.id,
            PendingOperation {
                begun: Arc::new(begun.clone()),
                notes: Vec::new(),
            },
        );
        self.next = OperationId(begun.id.0.saturating_add(1));
        Ok(())
    }

    fn end(&mut self, id: OperationId) -> Option<PendingOperation> {
        let open = self.open.remove(&id)?;
        self.busy
            .remove(&(open.begun.address.clone(), open.begun.deposed.clone()));
        Some(open)
    }

    fn done(&mut self, begun: &Arc<Begun>, object: Option<&Arc<ResourceInstanceObject>>) {
        let (address, provider) = (&begun.address, &begun.provider);
        match (object, &begun.deposed) {
            (Some(o), None) => self.state.set_object(address, provider, o.clone()),
            (Some(o), Some(key)) => self.state.set_deposed(address, key, provider, o.clone()),
            (None, None) => {
                self.state.remove_object(address);
            }
            (None, Some(key)) => {
                self.state.remove_deposed(address, key);
            }
        }
        // Provisioners make nothing: who made the object is who created it.
        if self.lenient && begun.action != OperationAction::Provision {
            let place = (address.clone(), begun.deposed.clone());
            match object {
                Some(_) => self.makers.insert(place, begun.clone()),
                None => self.makers.remove(&place),
            };
        }
    }

    /// What was found out of an operation of a former run. Another tool may have put another object in
    /// its place since: that one stays, and this one becomes a deposed one, which the next plan shows.
    fn found_out(&mut self, begun: &Arc<Begun>, object: Option<&Arc<ResourceInstanceObject>>) {
        let (address, provider) = (&begun.address, &begun.provider);
        let known = object.or(begun.prior.as_ref()).or(begun.found.as_ref());
        let taken = match known {
            Some(known) if begun.deposed.is_none() => self.is_taken(begun, known),
            _ => false,
        };
        match object {
            Some(object) if taken => {
                if let Some(key) = self.free_key(address) {
                    self.state
                        .set_deposed(address, &key, provider, object.clone());
                }
            }
            None if taken => {}
            _ => self.done(begun, object),
        }
    }

    /// Whether the current object is neither `known` nor the one that the operation was on.
    fn is_taken(&self, begun: &Begun, known: &ResourceInstanceObject) -> bool {
        let there = self.state.object(&begun.address).and_then(|o| key_of(o));
        let before = begun.prior.as_deref().and_then(key_of);
        match (there, key_of(known)) {
            (Some(there), Some(known)) => there != known && Some(there) != before,
            // without anything that tells objects apart, one at the address is taken for this one
            _ => false,
        }
    }

    fn free_key(&self, address: &AbsResourceInstance) -> Option<DeposedKey> {
        free_key(|k| {
            self.state.deposed(address, k).is_none()
                && !self.busy.contains_key(&(address.clone(), Some(k.clone())))
        })
    }

    fn not_done(&mut self, begun: &Begun) {
        if let Some(key) = &begun.deposes
            && self.state.undepose(&begun.address, key)
        {
            self.maker_moves(&begun.address, Some(key), None);
        }
        // What was there before the operation, and of which the state knows nothing, is there still.
        if let Some(found) = &begun.found
            && begun.action != OperationAction::Create
        {
            let (address, provider) = (&begun.address, &begun.provider);
            match &begun.deposed {
                None if self.state.object(address).is_none() => {
                    self.state.set_object(address, provider, found.clone());
                }
                Some(key) if self.state.deposed(address, key).is_none() => {
                    self.state
                        .set_deposed(address, key, provider, found.clone());
                }
                None if self.is_taken(begun, found) => {
                    if let Some(key) = self.free_key(address) {
                        self.state
                            .set_deposed(address, &key, provider, found.clone());
                    }
                }
                _ => {}
            }
        }
    }

    fn maker_moves(
        &mut self,
        address: &AbsResourceInstance,
        from: Option<&DeposedKey>,
        to: Option<&DeposedKey>,
    ) {
        if let Some(maker) = self.makers.remove(&(address.clone(), from.cloned())) {
            self.makers.insert((address.clone(), to.cloned()), maker);
        }
    }

    fn set_status(&mut self, begun: &Begun, status: ObjectStatus) {
        if let Some(object) = self.state.object(&begun.address)
            && object.status != status
        {
            let mut object = (**object).clone();
            object.status = status;
            self.state
                .set_object(&begun.address, &begun.provider, object);
        }
    }
}

/// The first key that is free.
pub(crate) fn free_key(is_free: impl Fn(&DeposedKey) -> bool) -> Option<DeposedKey> {
    (0..=u32::MAX)
        .map(|n| DeposedKey::from_bytes(n.to_be_bytes()))
        .find(is_free)
}
