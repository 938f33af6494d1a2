//! The entries of a journal, and which may follow which.

use formwork_addresses::{AbsProviderConfig, AbsResource, AbsResourceInstance, DeposedKey};
use formwork_state::{ResourceInstanceObject, SensitivePaths};
use std::fmt;
use std::sync::Arc;

/// Names an operation within its journal; grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId(pub u64);

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {}", self.0)
    }
}

/// What an operation does to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationAction {
    /// Makes it.
    Create,
    /// Reads a data source. Needs no settling: it can be read again.
    Read,
    /// Changes it in place.
    Update,
    /// Destroys it. A replacement is two operations.
    Delete,
    /// Drops it from state; the object itself stays.
    Forget,
    /// Runs the provisioners of an object that was just created. The object counts as tainted from
    /// its beginning until it has succeeded.
    Provision,
}

impl OperationAction {
    /// The word in the journal.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Forget => "forget",
            Self::Provision => "provision",
        }
    }

    /// The action of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Self::Create,
            Self::Read,
            Self::Update,
            Self::Delete,
            Self::Forget,
            Self::Provision,
        ]
        .into_iter()
        .find(|a| a.word() == word)
    }

    /// Whether the world may differ if the operation was begun and its end is not known. Only such
    /// operations become pending.
    pub fn changes_the_world(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Delete)
    }
}

/// An operation begins: enough to settle it with its provider after a crash, and to make the object
/// of state from the provider's answer.
#[derive(Clone, PartialEq, Eq)]
pub struct Begun {
    /// Which operation.
    pub id: OperationId,
    /// The instance.
    pub address: AbsResourceInstance,
    /// Which of its deposed objects; `None` for the current one.
    pub deposed: Option<DeposedKey>,
    /// The key under which the current object is deposed, because this creates its replacement first.
    /// If nothing is created it becomes current again.
    pub deposes: Option<DeposedKey>,
    /// What is done.
    pub action: OperationAction,
    /// The provider configuration that does it.
    pub provider: AbsProviderConfig,
    /// Version of the provider's schema for the values below and for the object to come.
    pub schema_version: u64,
    /// The object before, as state has it; `None` for a creation.
    pub prior: Option<Arc<ResourceInstanceObject>>,
    /// The object as planned, in the msgpack of the provider protocol by the type that the schema
    /// implies (it may hold unknowns, which JSON cannot say); `None` for a deletion. Ephemeral and
    /// write-only values are null.
    pub planned: Option<Arc<[u8]>>,
    /// The configuration, encoded likewise; `None` where it says nothing more.
    pub config: Option<Arc<[u8]>>,
    /// The provider's private bytes from planning.
    pub planned_private: Option<Arc<[u8]>>,
    /// Sensitive paths of the object to come.
    pub sensitive: SensitivePaths,
    /// Dependencies of the object to come.
    pub dependencies: Arc<[AbsResource]>,
    /// Whether the replacement of the object to come is created first.
    pub create_before_destroy: bool,
    /// Whether provisioners are to run on the object once it is there: until they have, it counts as
    /// tainted, however its creation is found to have ended.
    pub provisions: bool,
    /// The object that is known to exist although the state lacks it; only of an operation that was
    /// found in the journal of an older state.
    pub found: Option<Arc<ResourceInstanceObject>>,
}

impl Begun {
    /// An operation on the current object of `address`, all else empty.
    pub fn new(
        id: OperationId,
        action: OperationAction,
        address: AbsResourceInstance,
        provider: AbsProviderConfig,
    ) -> Self {
        Self {
            id,
            address,
            deposed: None,
            deposes: None,
            action,
            provider,
            schema_version: 0,
            prior: None,
            planned: None,
            config: None,
            planned_private: None,
            sensitive: SensitivePaths::none(),
            dependencies: Arc::from([]),
            create_before_destroy: false,
            provisions: false,
            found: None,
        }
    }

    /// For people: `create of a.b[0]`, `delete of a.b (deposed 0badcafe)`.
    pub fn describe(&self) -> String {
        match &self.deposed {
            None => format!("{} of {}", self.action.word(), self.address),
            Some(key) => format!("{} of {} (deposed {key})", self.action.word(), self.address),
        }
    }
}

impl fmt::Debug for Begun {
    /// Names only: the rest may be sensitive.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Begun({}, {})", self.id.0, self.describe())
    }
}

/// How an operation that was interrupted turned out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// It was done: the object as it is, `None` if it is gone.
    Done(Option<Arc<ResourceInstanceObject>>),
    /// It was never done; all is as before.
    NotDone,
}

/// One thing that happened to an operation.
#[derive(Clone, PartialEq, Eq)]
pub enum JournalEntry {
    /// It begins. Durable before the provider is called.
    Begun(Box<Begun>),
    /// The provider notes something by which the outcome can be found. Durable before the request is
    /// sent.
    Noted {
        /// Which operation.
        id: OperationId,
        /// Only the provider understands it.
        note: Arc<[u8]>,
    },
    /// It succeeded. Durable before a dependent starts.
    Succeeded {
        /// Which operation.
        id: OperationId,
        /// The object as it is now; `None` if it is gone.
        object: Option<Arc<ResourceInstanceObject>>,
    },
    /// It failed, and what is there now is known. An operation whose outcome is not known does not
    /// end: it stays pending.
    Failed {
        /// Which operation.
        id: OperationId,
        /// What is there nevertheless, tainted if it was being created; `None` if it is as before.
        object: Option<Arc<ResourceInstanceObject>>,
        /// Why, in one line without sensitive values.
        reason: String,
    },
    /// It had been interrupted, and its outcome was found.
    Settled {
        /// Which operation.
        id: OperationId,
        /// How.
        resolution: Resolution,
    },
}

impl JournalEntry {
    /// Which operation.
    pub fn id(&self) -> OperationId {
        match self {
            Self::Begun(begun) => begun.id,
            Self::Noted { id, .. }
            | Self::Succeeded { id, .. }
            | Self::Failed { id, .. }
            | Self::Settled { id, .. } => *id,
        }
    }

    /// The phase that it brings its operation into.
    pub fn phase(&self) -> Phase {
        match self {
            Self::Begun(_) => Phase::Begun,
            Self::Noted { .. } => Phase::Noted,
            Self::Succeeded { .. } => Phase::Succeeded,
            Self::Failed { .. } => Phase::Failed,
            Self::Settled { .. } => Phase::Settled,
        }
    }
}

impl fmt::Debug for JournalEntry {
    /// Names only: the rest may be sensitive.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begun(begun) => begun.fmt(f),
            other => write!(f, "{:?}({})", other.phase(), other.id().0),
        }
    }
}

/// Where an operation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Begun, nothing noted.
    Begun,
    /// Begun, something noted.
    Noted,
    /// Ended well.
    Succeeded,
    /// Ended badly, with a known outcome.
    Failed,
    /// Interrupted, and its outcome found later.
    Settled,
}

impl Phase {
    /// The table of legal moves: whether an operation may come into `self` from `before`, where `None`
    /// is an operation that nothing is known of.
    pub fn may_follow(self, before: Option<Phase>) -> bool {
        use Phase::{Begun, Failed, Noted, Settled, Succeeded};
        match (before, self) {
            (None, Begun) => true,
            (None, _) | (Some(_), Begun) => false,
            (Some(Begun | Noted), Noted | Succeeded | Failed | Settled) => true,
            (Some(Succeeded | Failed | Settled), _) => false,
        }
    }

    /// Whether nothing may follow.
    pub fn is_end(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Settled)
    }
}
