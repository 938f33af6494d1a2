//! [`Recorder`]: a ledger that also says what to write.

use crate::codec::{Encoder, Head};
use crate::entry::{JournalEntry, OperationId};
use crate::ledger::{IllegalMove, Ledger};
use crate::pending::PendingOperation;
use formwork_state::State;

/// Takes entries in and gives the bytes to append for each.
///
/// The bytes must be queued in the order in which they were given: hold the recorder's lock until
/// they are queued, not until they are durable.
#[derive(Debug)]
pub struct Recorder {
    ledger: Ledger,
    encoder: Encoder,
}

impl Recorder {
    /// Begins the journal of a snapshot with this state; the bytes are the whole of it so far: the
    /// head, and the operations that are still pending from before.
    ///
    /// # Errors
    /// If the pending operations contradict each other or the state.
    pub fn begin(
        head: &Head,
        state: State,
        pending: &[PendingOperation],
    ) -> Result<(Self, Vec<u8>), IllegalMove> {
        let (encoder, mut bytes) = Encoder::begin(head);
        let first = pending.iter().map(|p| p.begun.id).min();
        let mut recorder = Self {
            ledger: Ledger::new(state, first.unwrap_or(head.next)),
            encoder,
        };
        for entry in pending.iter().flat_map(PendingOperation::entries) {
            bytes.extend(recorder.record(&entry)?);
        }
        if recorder.ledger.next_id() < head.next {
            recorder.ledger.skip_to(head.next);
        }
        Ok((recorder, bytes))
    }

    /// The id that the next operation must have.
    pub fn next_id(&self) -> OperationId {
        self.ledger.next_id()
    }

    /// Takes an entry in; gives the bytes to append.
    ///
    /// # Errors
    /// If it must not follow what was recorded; nothing is changed then, and there is nothing to
    /// append.
    pub fn record(&mut self, entry: &JournalEntry) -> Result<Vec<u8>, IllegalMove> {
        self.ledger.record(entry)?;
        Ok(self.encoder.line(entry))
    }

    /// What the entries have made of the state.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// For what changes state without an operation; see [`Ledger::state_mut`].
    pub fn state_mut(&mut self) -> &mut State {
        self.ledger.state_mut()
    }

    /// The ledger, at the end of a run.
    pub fn into_ledger(self) -> Ledger {
        self.ledger
    }
}
