//! The words of a run: what `ops` emits and `render` prints, as text or JSON.

use crate::action::Action;
use crate::change::ResourceInstanceChange;
use formwork_addresses::AbsResourceInstance;
use formwork_diagnostics::Diagnostic;
use formwork_values::Value;
use std::sync::Arc;
use std::time::Duration;

/// Which object an event is about, and what is being done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The instance.
    pub address: AbsResourceInstance,
    /// What is being done; a replacement shows as its two halves.
    pub action: Action,
    /// Name of the identifying attribute and its value, where the object has one that is no secret.
    pub id: Option<(String, String)>,
}

/// The attribute that people know an object by, if it has one that is known and no secret.
pub fn identifier(value: &Value) -> Option<(String, String)> {
    let unmarked = value.unmarked();
    ["id", "name"].into_iter().find_map(|name| {
        let v = unmarked.attribute(name)?;
        if v.is_marked() || !v.is_known() || v.is_null() {
            return None;
        }
        Some((name.to_owned(), v.as_str()?.to_owned()))
    })
}

/// The parts of a run that take time of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Reading the configuration.
    Load,
    /// Settling what a former run left open.
    Settle,
    /// Reading the world.
    Refresh,
    /// Planning.
    Plan,
    /// Applying.
    Apply,
}

/// How many objects each action touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeSummary {
    /// Created, replacements included.
    pub add: usize,
    /// Changed in place.
    pub change: usize,
    /// Deleted, replacements included.
    pub remove: usize,
    /// Imported.
    pub import: usize,
    /// Forgotten.
    pub forget: usize,
}

impl ChangeSummary {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            add: self.add + other.add,
            change: self.change + other.change,
            remove: self.remove + other.remove,
            import: self.import + other.import,
            forget: self.forget + other.forget,
        }
    }

    /// Counts one change.
    pub fn count(&mut self, action: Action, importing: bool) {
        match action {
            Action::Create => self.add += 1,
            Action::Update => self.change += 1,
            Action::Delete => self.remove += 1,
            Action::DeleteThenCreate | Action::CreateThenDelete => {
                self.add += 1;
                self.remove += 1;
            }
            Action::Forget => self.forget += 1,
            Action::NoOp | Action::Read => {}
        }
        self.import += usize::from(importing);
    }
}

/// How far a provisioner has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProvisionStep {
    /// It begins.
    Started,
    /// It has written a line; told in its stead where the line must not be told.
    Output(String),
    /// It succeeded.
    Finished,
    /// It failed.
    Failed,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A part of the run begins, over so many objects where that is known.
    Started(Phase, Option<usize>),
    /// A part of the run has ended.
    Finished(Phase, Duration),
    /// An object's refresh begins.
    RefreshStarted(Hook),
    /// An object's refresh has ended.
    RefreshFinished(Hook),
    /// The refresh found an object changed or gone.
    Drift(Box<ResourceInstanceChange>),
    /// A change was planned.
    Planned(Box<ResourceInstanceChange>),
    /// Planning has ended.
    PlanSummary(ChangeSummary),
    /// An operation begins.
    ApplyStarted(Hook),
    /// An operation still runs.
    ApplyProgress(Hook, Duration),
    /// An operation succeeded.
    ApplyFinished(Hook, Duration),
    /// An operation failed; its diagnostics follow at the end of the run.
    ApplyFailed(Hook, Duration),
    /// A provisioner, named by its kind, runs for an object.
    Provision(Hook, Arc<str>, ProvisionStep),
    /// A pending operation of a former run was settled, and how.
    Settled(Hook, String),
    /// Applying has ended.
    ApplySummary(ChangeSummary),
    /// Locking the state takes a while.
    Locking,
    /// Releasing the state takes a while.
    Unlocking,
    /// Something to say at once.
    Said(Box<Diagnostic>),
}

/// Where events go. Called from many tasks; must not block for long.
pub trait EventSink: Send + Sync {
    /// Takes an event.
    fn emit(&self, event: Event);
}

/// Drops all events.
impl EventSink for () {
    fn emit(&self, _event: Event) {}
}
