//! The run: operations of the graph, in parallel, each after what it waits for.

use crate::record::{NoteLog, Record};
use crate::results::CheckResults;
use crate::world;
use formwork_addresses::{AbsResourceInstance, DeposedKey, ResourceMode};
use formwork_diagnostics::Diagnostics;
use formwork_evaluation::Evaluator;
use formwork_graph::{Cancellation, Dag, Node, Visit, walk};
use formwork_plan::{
    Action, ChangeSummary, CheckResult, Event, EventSink, Hook, OperationKind, Plan, PlanMode,
    ResourceInstanceChange,
};
use formwork_provider::{ApplyRequest, ApplyResponse, OpenEphemerals, Provider, Providers};
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// What apply is given.
pub struct ApplyInput {
    /// The plan, verified.
    pub plan: Arc<Plan>,
    /// The configuration parsed from the plan's own files, with objects still empty.
    pub evaluator: Arc<Evaluator>,
    /// The providers, launched.
    pub providers: Arc<Providers>,
    /// The journal.
    pub record: Arc<Record>,
    /// Makes a key for an object that is left behind by its replacement.
    pub new_deposed_key: Arc<dyn Fn() -> DeposedKey + Send + Sync>,
    /// Where events go.
    pub events: Arc<dyn EventSink>,
    /// A request to stop starting work.
    pub cancel: Cancellation,
    /// How long an interrupted run waits for operations whose end the next run can find out.
    pub detach_after: Duration,
    /// How many operations run at a time.
    pub parallelism: usize,
}

/// What became of it. The state is in the record.
#[derive(Default)]
pub struct Applied {
    /// What was done.
    pub summary: ChangeSummary,
    /// Whether every operation was done.
    pub complete: bool,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// Results of conditions and checks, those of the plan included.
    pub checks: Vec<CheckResult>,
}

/// A run under way.
pub(crate) struct Run<'a> {
    pub input: &'a ApplyInput,
    pub diagnostics: Mutex<Diagnostics>,
    pub summary: Mutex<ChangeSummary>,
    /// Keys of the objects left behind by this run.
    pub deposed: Mutex<HashMap<AbsResourceInstance, DeposedKey>>,
    pub checks: Mutex<CheckResults>,
    /// Ephemeral resources that are open.
    pub opened: OpenEphemerals,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How an operation ended.
pub(crate) enum Ended {
    Done,
    Failed,
}

/// Carries a plan out.
pub async fn apply(input: &ApplyInput) -> (Applied, Diagnostics) {
    let state = input.record.look(Clone::clone).await;
    world::fill(
        input.evaluator.objects(),
        &input.plan,
        &state,
        &input.providers,
    );
    let run = Run {
        input,
        diagnostics: Mutex::default(),
        // the state that apply begins with holds them already
        summary: Mutex::new(ChangeSummary {
            import: input
                .plan
                .changes
                .iter()
                .filter(|c| c.importing.is_some())
                .count(),
            ..ChangeSummary::default()
        }),
        deposed: Mutex::default(),
        checks: Mutex::new(CheckResults::new(input.plan.checks.clone())),
        opened: OpenEphemerals::default(),
    };
    let graph = &input.plan.graph;
    let edges = graph
        .edges()
        .iter()
        .map(|(before, after)| (after.0, before.0));
    let dag = Dag::new(graph.nodes().len(), edges);
    let report = {
        let work = walk(&dag, input.parallelism, &input.cancel, |node| {
            run.operation(node)
        });
        let now = || input.evaluator.now();
        let (report, renewed) = run.opened.renewed_during(now, work).await;
        run.say(renewed);
        report
    };
    let closed = run.opened.close_all().await;
    run.say(closed);
    let durable = input.record.settle().await;
    let complete = report.all_done() && durable.is_ok();
    run.say(durable.err().unwrap_or_default());
    // A limited plan leaves something, and with it what was read and told of it.
    if complete && input.plan.complete && input.plan.mode == PlanMode::Destroy {
        input
            .record
            .change(|state| {
                let names: Vec<String> = state.outputs().map(|(n, _)| n.to_owned()).collect();
                for name in names {
                    state.remove_output(&name);
                }
                // What was read stood for what is gone now.
                let data: Vec<_> = state
                    .resources()
                    .filter(|(a, _)| a.resource.mode == ResourceMode::Data)
                    .map(|(a, _)| a.clone())
                    .collect();
                for address in data {
                    state.remove_resource(&address);
                }
            })
            .await;
    }
    let interrupted = input.cancel.is_cancelled() && !complete;
    let summary = *lock(&run.summary);
    let said = std::mem::take(&mut *lock(&run.diagnostics));
    let checks = run
        .checks
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let applied = Applied {
        summary,
        complete,
        interrupted,
        checks: checks.finish(),
    };
    (applied, said)
}

impl Run<'_> {
    pub(crate) fn say(&self, diagnostics: Diagnostics) {
        lock(&self.diagnostics).append(diagnostics);
    }

    fn change(&self, index: Option<u32>) -> Option<&ResourceInstanceChange> {
        self.input.plan.changes.get(usize::try_from(index?).ok()?)
    }

    async fn renew(&self) {
        let said = self.opened.renew_due(self.input.evaluator.now()).await;
        self.say(said);
    }

    async fn operation(&self, node: Node) -> Visit {
        self.renew().await;
        let Some(operation) = self.input.plan.graph.get(formwork_plan::NodeId(node)) else {
            return Visit::Failed;
        };
        let change = self.change(operation.change);
        let ended = match (&operation.kind, change) {
            (OperationKind::Join(_), _) => Ended::Done,
            (OperationKind::ConfigureProvider(config), _) => self.configure(config).await,
            (OperationKind::Make(_), Some(change)) => self.make(change).await,
            (OperationKind::Destroy(_) | OperationKind::DestroyDeposed(..), Some(change)) => {
                self.destroy(change).await
            }
            (OperationKind::ReadData(_), Some(change)) => self.read(change).await,
            (OperationKind::Forget(_), Some(change)) => self.forget(change).await,
            (OperationKind::Output(name), _) => self.output(name).await,
            (OperationKind::Check(address), _) => self.check(address).await,
            (OperationKind::OpenEphemeral(address), _) => self.open(address).await,
            // All are closed when the run ends, however it ends.
            (OperationKind::CloseEphemeral(_), _) => Ended::Done,
            // The verifier has refused such a plan.
            (_, None) => Ended::Failed,
        };
        match ended {
            Ended::Done => Visit::Done,
            Ended::Failed => Visit::Failed,
        }
    }

    /// Waits for an operation, saying now and then that it still runs.
    pub(crate) async fn watched<T>(
        &self,
        hook: &Hook,
        operation: impl Future<Output = T>,
    ) -> (T, Duration) {
        const EVERY: Duration = Duration::from_secs(10);
        let events = &self.input.events;
        events.emit(Event::ApplyStarted(hook.clone()));
        let begin = Instant::now();
        let mut ticks = tokio::time::interval_at(begin + EVERY, EVERY);
        tokio::pin!(operation);
        loop {
            tokio::select! {
                done = &mut operation => return (done, begin.elapsed()),
                _ = ticks.tick() => events.emit(Event::ApplyProgress(hook.clone(), begin.elapsed())),
            }
        }
    }

    /// Has a provider do what was begun. Nothing if the run was interrupted and the operation is left to
    /// run on.
    pub(crate) async fn carry_out(
        &self,
        provider: &dyn Provider,
        request: ApplyRequest,
        log: &NoteLog<'_>,
    ) -> Option<ApplyResponse> {
        let call = provider.apply_resource_change(request, log);
        self.or_detached(log, call).await
    }

    /// Waits for a provider's call. Once the run is interrupted, and some time has been given to it, a
    /// call is left alone whose provider has noted how its outcome is found: nothing then, and the
    /// operation stays open in the journal, as if the process had died.
    async fn or_detached<T>(&self, log: &NoteLog<'_>, call: impl Future<Output = T>) -> Option<T> {
        const LOOK: Duration = Duration::from_millis(100);
        tokio::pin!(call);
        tokio::select! {
            done = &mut call => return Some(done),
            () = self.input.cancel.cancelled() => {}
        }
        let interrupted = Instant::now();
        loop {
            if interrupted.elapsed() >= self.input.detach_after && log.is_noted() {
                return None;
            }
            tokio::select! {
                done = &mut call => return Some(done),
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    pub(crate) fn count(&self, action: Action) {
        let mut summary = lock(&self.summary);
        match action {
            Action::Create => summary.add += 1,
            Action::Update => summary.change += 1,
            Action::Delete => summary.remove += 1,
            Action::Forget => summary.forget += 1,
            _ => {}
        }
    }
}
