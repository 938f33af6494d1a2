//! The plan as plain data: what a run will do, saved, shown, judged by rules, and obeyed by apply.
//!
//! A [`Plan`] holds all that apply needs: the source files as bytes (editing files after planning
//! changes nothing), the root variables, the prior state, every change, and the [`ExecutionGraph`],
//! the only graph of instances. If apply ever needs the planner, the plan lacks a field.
//!
//! Invariants, held by [`verify`] after planning and again before apply: the graph is acyclic, every
//! change that does something is reached by exactly the operations its action needs, and an object
//! is destroyed only after those that depend on it.
//!
//! The plan file ([`encode`], [`decode`]) is sealed by a checksum: a truncated or altered file is
//! refused, never half-applied. It is a store: it holds sensitive values, marked, and is written with
//! mode 0600 by whoever writes it; ephemeral values are never in it.
//!
//! [`Event`] is the words of a run, which `ops` emits and `render` prints.
//!
//! This crate does not evaluate, does not plan and does not apply.
#![forbid(unsafe_code)]

mod action;
mod change;
mod checks;
mod codec;
mod decision;
mod deferred;
mod event;
mod execution;
mod file;
mod test_report;
mod text;
mod verify;

pub use action::{Action, ActionReason};
pub use change::{Identities, Importing, OutputChange, ResourceInstanceChange};
pub use checks::{CheckKind, CheckObject, CheckResult, CheckStatus};
pub use decision::{Decision, decide};
pub use deferred::{DeferredChange, DeferredReason};
pub use event::{ChangeSummary, Event, EventSink, Hook, Phase, ProvisionStep, identifier};
pub use execution::{ExecutionGraph, NodeId, Operation, OperationKind};
pub use file::{FORMAT_VERSION, PlanEncodeError, PlanFileError, decode, encode};
pub use test_report::{FileReport, LeftBehind, RunReport, TestCounts, TestReport, TestStatus};
pub use verify::{Defect, verify};

use formwork_addresses::{
    AbsProviderConfig, AbsResource, AbsResourceInstance, ModuleInstance, ModulePath,
};
use formwork_values::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What kind of run was planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PlanMode {
    /// Make the world as configured.
    #[default]
    Normal,
    /// Destroy everything in the state.
    Destroy,
    /// Only take over into the state what changed in the world.
    RefreshOnly,
}

impl PlanMode {
    /// The word used in files: `normal`, `destroy`, `refresh-only`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Destroy => "destroy",
            Self::RefreshOnly => "refresh-only",
        }
    }

    /// The mode that a word means.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Normal, Self::Destroy, Self::RefreshOnly]
            .into_iter()
            .find(|m| m.word() == word)
    }
}

/// One file of the configuration as it was when planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// Path as shown, relative to the working directory.
    pub name: String,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

/// What functions of the configuration have read of the disk while planning: apply gives the same
/// answers, whatever has happened to the files since. Paths are as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesRead {
    /// Contents.
    pub contents: BTreeMap<String, Arc<[u8]>>,
    /// Whether there is a regular file.
    pub exists: BTreeMap<String, bool>,
    /// Entries of directories: name, whether it is a directory, whether it is a regular file.
    pub listings: BTreeMap<String, Vec<(String, bool, bool)>>,
}

/// Where a module's files lie, so that the tree is built again without looking at the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleFolder {
    /// Which module.
    pub module: ModulePath,
    /// Its folder as shown.
    pub folder: String,
}

/// Which instances a block has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedKeys {
    /// One, without a key.
    Single,
    /// Numbered from 0.
    Count(u64),
    /// By these keys, in order.
    Keys(Vec<Arc<str>>),
    /// None: `enabled` is false.
    Disabled,
}

/// A provider that the plan was made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedProvider {
    /// Which configuration.
    pub config: AbsProviderConfig,
    /// Version, empty for the built-in ones.
    pub version: String,
    /// Hash of the schemas used, to notice another build of the same version.
    pub schema_hash: String,
}

/// A root variable as it was resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum PlannedVariable {
    /// Its value, marks included.
    Value(Value),
    /// An ephemeral variable: its value must be given again at apply.
    Ephemeral,
}

/// What the plan was made against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prior {
    /// Lineage of the snapshot; empty if there was none.
    pub lineage: String,
    /// Its serial.
    pub serial: u64,
    /// The world it belongs to: the mock's random id, `None` for the real one.
    pub cloud: Option<String>,
    /// The state after refresh, as v4 JSON: where apply begins.
    pub refreshed: Arc<Vec<u8>>,
    /// SHA-256 of the snapshot's bytes as they lay in the store, journal folded; apply refuses
    /// another.
    pub hash: String,
}

/// What a run will do. Plans compare as their values do: origins of unknown values do not count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What kind of run.
    pub mode: PlanMode,
    /// What it was limited to; empty for everything.
    pub targets: Vec<String>,
    /// The configuration's files.
    pub sources: Vec<SourceText>,
    /// Where each module's files lie.
    pub folders: Vec<ModuleFolder>,
    /// What its functions have read.
    pub files: FilesRead,
    /// Root variables.
    pub variables: BTreeMap<String, PlannedVariable>,
    /// Providers in use.
    pub providers: Vec<PlannedProvider>,
    /// The dependency lock file as it was, if there is one.
    pub lock_file: Option<Arc<[u8]>>,
    /// What it was made against.
    pub prior: Prior,
    /// Version of Formwork.
    pub tool_version: String,
    /// Language version claimed.
    pub language_version: String,
    /// When planned, RFC 3339.
    pub timestamp: String,
    /// Whether everything is planned (nothing was deferred, targeted away or failed).
    pub complete: bool,
    /// Whether applying makes sense.
    pub applyable: bool,
    /// Whether planning failed half-way.
    pub errored: bool,
    /// Every instance of configuration and state, no-ops included, in address order.
    pub changes: Vec<ResourceInstanceChange>,
    /// After a light refresh: how many objects that take part were not read, and are believed to be as the
    /// state has them. `None` where all were read, or none.
    pub not_read: Option<u64>,
    /// What is left to a later round, by address.
    pub deferred: Vec<DeferredChange>,
    /// Root outputs that wait for what is deferred; they stay as they are.
    pub deferred_outputs: Vec<String>,
    /// What the refresh found changed in the world.
    pub drift: Vec<ResourceInstanceChange>,
    /// Root outputs.
    pub outputs: Vec<OutputChange>,
    /// Results of conditions and checks.
    pub checks: Vec<CheckResult>,
    /// What to do, and in which order.
    pub graph: ExecutionGraph,
    /// Which instances each resource has.
    pub resource_keys: BTreeMap<AbsResource, PlannedKeys>,
    /// Which instances each module call has.
    pub call_keys: BTreeMap<(ModuleInstance, Arc<str>), PlannedKeys>,
    /// Further plans to fall back to, in order; see the architecture's "Capacity fallback".
    pub alternatives: Vec<Alternative>,
}

/// A plan to fall back to when capacity lacks.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The inputs pinned for it, by root variable.
    pub pinned: BTreeMap<String, Value>,
    /// The changes that may be made under it.
    pub envelope: Vec<ResourceInstanceChange>,
}

impl Plan {
    /// The change of one instance's current object.
    pub fn change_of(&self, address: &AbsResourceInstance) -> Option<&ResourceInstanceChange> {
        self.changes
            .iter()
            .find(|c| c.address == *address && c.deposed.is_none())
    }

    /// The plan as it would be if the alternative of this number, from 1, were taken: what it pins among
    /// the variables, and its envelope as the changes. It is there to be shown and judged; what is
    /// applied in the end is planned anew.
    pub fn with_alternative(&self, number: usize) -> Option<Self> {
        let alternative = self.alternatives.get(number.checked_sub(1)?)?;
        let mut plan = self.clone();
        for (name, value) in &alternative.pinned {
            let pinned = PlannedVariable::Value(value.clone());
            plan.variables.insert(name.clone(), pinned);
        }
        plan.changes = alternative.envelope.clone();
        plan.outputs.clear();
        plan.checks.clear();
        plan.graph = ExecutionGraph::default();
        plan.applyable = false;
        plan.complete = false;
        Some(plan)
    }

    /// Counts as the closing line of the plan has them.
    pub fn summary(&self) -> ChangeSummary {
        let mut summary = ChangeSummary::default();
        for change in &self.changes {
            summary.count(change.action, change.importing.is_some());
        }
        summary
    }

    /// Whether something is left to a later round.
    pub fn is_deferred(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// Whether applying would change anything: an object, an output or a recorded address.
    pub fn has_changes(&self) -> bool {
        self.changes.iter().any(|c| {
            c.action.changes_objects() || c.previous_address.is_some() || c.importing.is_some()
        }) || self.outputs.iter().any(|o| o.action() != Action::NoOp)
            || (self.mode == PlanMode::RefreshOnly && !self.drift.is_empty())
    }
}
