//! One object's change, and one output's.

use crate::action::{Action, ActionReason};
use formwork_addresses::{AbsProviderConfig, AbsResource, AbsResourceInstance, DeposedKey};
use formwork_values::{Path, Value};
use std::sync::Arc;

/// An object that is taken over from the world rather than made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Importing {
    /// The id it was imported by; empty if it was found by an identity.
    pub id: String,
    /// The identity it was imported by, as JSON.
    pub identity: Option<String>,
    /// The resource block that was generated for it, where none is written.
    pub generated: Option<String>,
}

impl Importing {
    /// What it was imported by, as people read it.
    pub fn by(&self) -> String {
        match &self.identity {
            Some(identity) => format!("the identity {identity}"),
            None => format!("{:?}", self.id),
        }
    }
}

/// What identifies an object for good, as its provider says, in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identities {
    /// Of the object now.
    pub before: Option<Arc<str>>,
    /// Of the object afterwards, where it is wholly known.
    pub after: Option<Arc<str>>,
}

/// What happens to one object.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceInstanceChange {
    /// Which instance.
    pub address: AbsResourceInstance,
    /// Where it stood in the prior state, if elsewhere.
    pub previous_address: Option<AbsResourceInstance>,
    /// Which of the objects left behind, if not the current one.
    pub deposed: Option<DeposedKey>,
    /// The provider configuration that does it.
    pub provider: AbsProviderConfig,
    /// What is done.
    pub action: Action,
    /// Why, where that is not plain.
    pub reason: Option<ActionReason>,
    /// The object now, marks included; null if there is none.
    pub before: Value,
    /// The object afterwards, marks and unknowns included; null if there will be none.
    pub after: Value,
    /// What forces a replacement.
    pub replace_paths: Vec<Path>,
    /// Private data that the provider handed out when planning; of the prior object for a deletion.
    pub planned_private: Arc<[u8]>,
    /// Version of the schema that `before` and `after` conform to.
    pub schema_version: u64,
    /// The nearest managed resources it depends on, kept in state for the order of destruction.
    pub dependencies: Vec<AbsResource>,
    /// Whether a replacement is made before the former object is deleted.
    pub create_before_destroy: bool,
    /// Set if the object is imported.
    pub importing: Option<Importing>,
    /// Its identity.
    pub identity: Identities,
    /// Whether the provider follows the loose rules of the legacy SDK.
    pub legacy_type_system: bool,
}

impl ResourceInstanceChange {
    /// Address with the deposed key, as people read it.
    pub fn display_address(&self) -> String {
        match &self.deposed {
            Some(key) => format!("{} (deposed object {key})", self.address),
            None => self.address.to_string(),
        }
    }

    /// Whether there is anything to tell of it: a change, a move or an import.
    pub fn is_told(&self) -> bool {
        self.action != Action::NoOp || self.previous_address.is_some() || self.importing.is_some()
    }
}

/// What happens to a root output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputChange {
    /// Its name.
    pub name: String,
    /// Its value in the prior state, marked as a whole if it was sensitive; `None` if it is not
    /// there.
    pub before: Option<Value>,
    /// Its value afterwards, marked as a whole if it is sensitive; `None` if it goes. State keeps no output that is null, so null is no
    /// value either.
    pub after: Option<Value>,
    /// Whether it is declared sensitive now or was before.
    pub sensitive: bool,
}

impl OutputChange {
    /// What is done to it.
    pub fn action(&self) -> Action {
        let after = self.after.as_ref().filter(|v| !v.is_null());
        match (&self.before, after) {
            (None, None) => Action::NoOp,
            (None, Some(_)) => Action::Create,
            (Some(_), None) => Action::Delete,
            (Some(before), Some(after)) => {
                // Which parts of a value are sensitive is not kept, only whether the output is.
                let same = before.marks().is_sensitive() == after.marks().is_sensitive()
                    && before.clone().unmark_deep().0 == after.clone().unmark_deep().0;
                if same { Action::NoOp } else { Action::Update }
            }
        }
    }
}
