//! What planning is given, and what it gives.

use crate::imports::Found;
use crate::refresh::Refreshed;
use crate::scope::Scope;
use formwork_addresses::{AbsResource, AbsResourceInstance, ModuleInstance};
use formwork_evaluation::Evaluator;
use formwork_graph::{Cancellation, StaticGraph};
use formwork_plan::{
    CheckResult, DeferredChange, EventSink, ExecutionGraph, OutputChange, PlanMode, PlannedKeys,
    ResourceInstanceChange,
};
use formwork_provider::Providers;
use formwork_state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What planning is given.
pub struct PlanInput {
    /// The configuration, with objects still empty.
    pub evaluator: Arc<Evaluator>,
    /// Its static graph, acyclic.
    pub graph: Arc<StaticGraph>,
    /// The providers, some of them configured by the refresh stage.
    pub providers: Arc<Providers>,
    /// The state as refreshed.
    pub refreshed: Refreshed,
    /// What kind of run.
    pub mode: PlanMode,
    /// What of it takes part.
    pub scope: Scope,
    /// Objects to import that have been found and read already.
    pub found: Arc<BTreeMap<AbsResourceInstance, Found>>,
    /// Instances to replace whatever they look like.
    pub replace: BTreeSet<AbsResourceInstance>,
    /// Whether what cannot be planned yet is left to a later round, instead of failing the run.
    pub defer: bool,
    /// Whether this is only to see what a plan would touch: data sources that the state knows are
    /// believed.
    pub trial: bool,
    /// How many instances are planned at a time.
    pub parallelism: usize,
    /// Where events go.
    pub events: Arc<dyn EventSink>,
    /// A request to stop.
    pub cancel: Cancellation,
}

/// What planning gives.
#[derive(Default)]
pub struct Planned {
    /// Every instance of configuration and state, no-ops included, in address order.
    pub changes: Vec<ResourceInstanceChange>,
    /// What is left to a later round.
    pub deferred: Vec<DeferredChange>,
    /// Root outputs that wait for it.
    pub deferred_outputs: Vec<String>,
    /// What the refresh found.
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
    /// The refreshed state, with the data sources that were read.
    pub state: State,
    /// Whether everything is planned.
    pub complete: bool,
}
