//! One version of the state.

use crate::raw::RawJson;
use crate::resource::OtherKeys;
use crate::tree::State;

/// Top-level key that holds the identity of the mock cloud a state belongs to. Real states have none.
pub const CLOUD_KEY: &str = "x_formwork_cloud";

/// Top-level key that holds operations not known to have ended, for backends that keep no journal.
pub const PENDING_KEY: &str = "x_formwork_pending";

/// A state, and which version of which line of states it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Made at random with the first snapshot; two lines never mix.
    pub lineage: String,
    /// Grows by one with each change.
    pub serial: u64,
    /// Version of the tool that wrote it.
    pub terraform_version: String,
    /// What is remembered.
    pub state: State,
    /// What else stood at the top of the file, in order.
    pub other: OtherKeys,
}

impl Snapshot {
    /// The first of a new line: empty, serial 0.
    pub fn new(lineage: impl Into<String>, terraform_version: impl Into<String>) -> Self {
        Self {
            lineage: lineage.into(),
            serial: 0,
            terraform_version: terraform_version.into(),
            state: State::new(),
            other: OtherKeys::default(),
        }
    }

    /// The identity of the mock cloud this state belongs to; `None` for the real one.
    pub fn cloud(&self) -> Option<String> {
        let raw = self.other.get(CLOUD_KEY)?;
        serde_json::from_str(raw.get()).ok()
    }

    /// Says which cloud this state belongs to; `None` for the real one.
    pub fn set_cloud(&mut self, cloud: Option<&str>) {
        match cloud {
            Some(id) => self.other.set(CLOUD_KEY, RawJson::text(id)),
            None => self.other.remove(CLOUD_KEY),
        }
    }

    /// The snapshot to write after this one if the state became `state`: the same line, one serial
    /// further. `None` if neither the state nor the other keys changed.
    #[must_use]
    pub fn successor(&self, state: State, other: OtherKeys, version: &str) -> Option<Self> {
        (state != self.state || other != self.other).then(|| Self {
            lineage: self.lineage.clone(),
            serial: self.serial.saturating_add(1),
            terraform_version: version.to_owned(),
            state,
            other,
        })
    }
}
