//! One test file: its runs in order, then its clean-up.

use super::expected::{Expected, Rules};
use super::memory::MemoryState;
use super::suite::{Schemas, TestEvent, TestOptions, TestSink};
use super::trial::Trial;
use super::values::{RunValues, Variables, of_run};
use super::worlds::{TestWorlds, side_by_side, worlds_of};
use crate::apply::apply;
use crate::load::{disk, with_loading};
use crate::plan::{PlanOptions, PlanOutcome, plan_untold};
use crate::session::Session;
use crate::state::read_state;
use crate::told::told_once;
use formwork_addresses::{InstanceKey, ModuleInstance, Target};
use formwork_configuration::{
    Configuration, InputLayer, MoveTarget, RunBlock, RunCommand, TestFile, load_run,
};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap, SourceRange};
use formwork_evaluation::{Condition, Evaluator, Runs, Verdict, check};
use formwork_graph::Cancellation;
use formwork_plan::{FileReport, LeftBehind, Plan, PlanMode, RunReport, TestStatus};
use formwork_planner::Limits;
use formwork_state::{Snapshot, State};
use formwork_values::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// A file that is being run.
pub(super) struct FileRun<'s> {
    session: &'s Session,
    options: &'s TestOptions,
    worlds: &'s dyn TestWorlds,
    sink: &'s dyn TestSink,
    file: Arc<TestFile>,
    /// The test files and those of values.
    sources: SourceMap,
    /// Values that are given to every run of the file.
    layers: Vec<InputLayer>,
    globals: Variables,
    /// Which world each state is in.
    numbers: BTreeMap<Arc<str>, usize>,
    states: BTreeMap<Arc<str>, InUse>,
    /// Outputs of the runs that have ended.
    outputs: Mutex<BTreeMap<Arc<str>, Value>>,
    overridden: Mutex<Overridden>,
}

/// What is known of the file's overrides so far.
#[derive(Default)]
struct Overridden {
    /// Of nothing in any run's configuration.
    idle: BTreeMap<SourceRange, Diagnostic>,
    /// Of something.
    live: BTreeSet<SourceRange>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A state of a file.
struct InUse {
    store: Arc<MemoryState>,
    /// The last run that worked on it, with what its operations were given.
    last: Mutex<Option<(usize, Session)>>,
}

/// What a run has to show.
enum Shown {
    Plan(Box<Plan>, Arc<Configuration>, Schemas),
    State(Box<Snapshot>, Schemas),
}

/// How a run came out.
#[derive(Default)]
struct Ended {
    status: TestStatus,
    said: Diagnostics,
    sources: SourceMap,
    failed_asserts: usize,
    shown: Option<Shown>,
}

impl Ended {
    fn error(said: Diagnostics, sources: SourceMap) -> Self {
        Self {
            status: TestStatus::Error,
            said,
            sources,
            ..Self::default()
        }
    }
}

impl<'s> FileRun<'s> {
    #[allow(clippy::too_many_arguments)] // one call, from the suite
    pub fn new(
        session: &'s Session,
        options: &'s TestOptions,
        worlds: &'s dyn TestWorlds,
        sink: &'s dyn TestSink,
        file: Arc<TestFile>,
        sources: SourceMap,
        layers: Vec<InputLayer>,
        globals: Variables,
    ) -> Self {
        let numbers = worlds_of(&file);
        let states = numbers
            .keys()
            .map(|key| {
                let name = match &**key {
                    "" => file.name.to_string(),
                    key => format!("{} {key}", file.name),
                };
                let store = options.states.begin(&name);
                (
                    key.clone(),
                    InUse {
                        store,
                        last: Mutex::default(),
                    },
                )
            })
            .collect();
        Self {
            session,
            options,
            worlds,
            sink,
            file,
            sources,
            layers,
            globals,
            numbers,
            states,
            outputs: Mutex::default(),
            overridden: Mutex::default(),
        }
    }

    /// Runs everything and cleans up.
    pub async fn run(&mut self) -> FileReport {
        let file = self.file.clone();
        let name = &*file.name;
        self.sink.emit(TestEvent::FileBegun(name));
        let mut reports: Vec<RunReport> = Vec::with_capacity(file.runs.len());
        let mut stopped = false;
        let mut ended: VecDeque<(Ended, SystemTime, Duration)> = VecDeque::new();
        let groups = side_by_side(&file);
        for (index, block) in file.runs.iter().enumerate() {
            let mut report = RunReport {
                name: block.name.to_string(),
                status: TestStatus::Skip,
                diagnostics: Diagnostics::new(),
                sources: SourceMap::new(),
                asserts: block.asserts.len(),
                failed_asserts: 0,
                began: None,
                took: Duration::ZERO,
            };
            let begun = !ended.is_empty();
            if !begun && (stopped || self.session.cancel.is_cancelled()) {
                self.sink.emit(TestEvent::RunEnded(name, &report));
                reports.push(report);
                continue;
            }
            if !begun {
                let group = groups.iter().find(|g| g.contains(&index)).cloned();
                let group = group.unwrap_or(index..index + 1);
                for block in file.runs.get(group.clone()).unwrap_or_default() {
                    self.sink.emit(TestEvent::RunBegun(name, &block.name));
                }
                let runs = file.runs.iter().enumerate();
                let runs = runs.skip(group.start).take(group.len());
                let this = &*self;
                let all = runs.map(|(index, block)| async move {
                    let clock = &this.session.environment.clock;
                    let began = clock.now();
                    let ended = this.one(index, block).await;
                    let took = clock.now().duration_since(began).unwrap_or_default();
                    (ended, began, took)
                });
                ended.extend(futures::future::join_all(all).await);
            }
            let Some((ended, began, took)) = ended.pop_front() else {
                continue;
            };
            report.began = Some(began);
            report.took = took;
            report.status = ended.status;
            report.failed_asserts = ended.failed_asserts;
            report.diagnostics = told_once(ended.said);
            report.sources = ended.sources;
            self.sink.emit(TestEvent::RunEnded(name, &report));
            match &ended.shown {
                Some(Shown::Plan(plan, configuration, schemas)) => {
                    let event = TestEvent::Planned {
                        file: name,
                        run: &block.name,
                        plan,
                        configuration,
                        schemas,
                    };
                    self.sink.emit(event);
                }
                Some(Shown::State(snapshot, schemas)) => {
                    let event = TestEvent::Made {
                        file: name,
                        run: &block.name,
                        snapshot,
                        schemas,
                    };
                    self.sink.emit(event);
                }
                None => {}
            }
            if !report.diagnostics.is_empty() {
                let (said, sources) = (&report.diagnostics, &report.sources);
                let run = Some(&*block.name);
                self.sink
                    .emit(TestEvent::Said(Some(name), run, said, sources));
            }
            stopped |= report.status == TestStatus::Error;
            reports.push(report);
        }
        let left = self.clean_up().await;
        self.options.states.forget_all();
        let idle: Diagnostics = std::mem::take(&mut lock(&self.overridden).idle)
            .into_values()
            .collect();
        if !idle.is_empty() {
            let event = TestEvent::Said(Some(name), None, &idle, &self.sources);
            self.sink.emit(event);
        }
        let mut status = TestStatus::Pass;
        for report in &reports {
            status = status.max(report.status);
        }
        if !left.is_empty() {
            status = TestStatus::Error;
        }
        let report = FileReport {
            name: name.to_owned(),
            status,
            runs: reports,
            left,
        };
        self.sink.emit(TestEvent::FileEnded(&report));
        report
    }

    async fn one(&self, index: usize, block: &RunBlock) -> Ended {
        let runs = Runs {
            ended: lock(&self.outputs).clone(),
            current: block.name.clone(),
            names: self.file.runs.iter().map(|r| r.name.clone()).collect(),
        };
        let mut expected = match Expected::of(block) {
            Ok(expected) => expected,
            Err(said) => return Ended::error(said, self.sources.clone()),
        };
        let (values, said) = of_run(
            self.session,
            &self.file,
            block,
            &self.layers,
            &self.globals,
            &runs,
        );
        if said.has_errors() {
            return Ended::error(said, self.sources.clone());
        }
        let mut session = match self.prepare(index, block, values, runs).await {
            Ok(session) => session,
            Err(ended) => return *ended,
        };
        let outcome = plan_untold(&session, &options(block)).await;
        let PlanOutcome {
            plan,
            diagnostics,
            loaded,
            providers,
            evaluator,
            held,
            ..
        } = outcome;
        let rules = Rules::of(&loaded.configuration);
        session.sources = loaded.sources.clone();
        let applies = block.command == RunCommand::Apply;
        let failed = diagnostics.has_errors() || plan.as_ref().is_none_or(|p| p.errored);
        let mut sorted = expected.sort(diagnostics, &rules, !applies);
        match plan {
            Some(plan) if applies && !failed => {
                self.apply(block, index, session, plan, held, expected, sorted.kept)
                    .await
            }
            plan => {
                let sources = loaded.sources.clone();
                if let Some(held) = held {
                    sorted.kept.append(held.release(&session).await);
                }
                let interrupted = session.cancel.is_cancelled();
                if applies {
                    return Ended::error(sorted.stopped(), sources);
                }
                let mut said = sorted.kept;
                if !interrupted {
                    said.append(expected.missing());
                }
                if said.has_errors() || interrupted {
                    return Ended::error(said, sources);
                }
                let schemas = providers.all_schemas();
                let mut ended = self.judge(block, evaluator, said, sources).await;
                if let Some(plan) = plan.filter(|_| ended.status != TestStatus::Error) {
                    ended.shown = Some(Shown::Plan(Box::new(plan), loaded.configuration, schemas));
                }
                ended
            }
        }
    }

    /// Everything that the operations of a run are given.
    async fn prepare(
        &self,
        index: usize,
        block: &RunBlock,
        values: RunValues,
        runs: Runs,
    ) -> Result<Session, Box<Ended>> {
        let mut sources = self.sources.clone();
        let given = Session {
            inputs: values.layers,
            ..self.session.clone()
        };
        let (made, said) = with_loading(&given, &*given.reader, disk(&given), false, |loading| {
            load_run(&self.file, block, loading, &mut sources)
        });
        if said.has_errors() {
            return Err(Box::new(Ended::error(said, sources)));
        }
        let idle = made.idle_overrides();
        let silent: BTreeSet<SourceRange> = idle.iter().filter_map(|d| d.subject).collect();
        let all = made.overrides.iter().flat_map(|(all, _, _)| all.iter());
        let used = all.map(|o| o.target_range).filter(|r| !silent.contains(r));
        {
            let mut overridden = lock(&self.overridden);
            let Overridden { idle: all, live } = &mut *overridden;
            live.extend(used);
            for d in idle {
                if let Some(range) = d.subject {
                    all.insert(range, d);
                }
            }
            all.retain(|range, _| !live.contains(range));
        }
        let state = block.state();
        let number = self.numbers.get(&state).copied().unwrap_or(0);
        let world = self
            .worlds
            .world(&self.file.name, number, &made.configuration, &sources)
            .await;
        let world = match world {
            Ok(world) => world,
            Err(said) => return Err(Box::new(Ended::error(said, sources))),
        };
        let store: Arc<MemoryState> = match self.states.get(&state) {
            Some(in_use) => in_use.store.clone(),
            None => Arc::new(MemoryState::new(&self.file.name)),
        };
        let settings = self.session.settings.clone();
        Ok(Session {
            factory: world.factory,
            cloud: world.cloud,
            store,
            sources,
            events: Arc::new(()),
            trial: Some(Arc::new(Trial {
                file: self.file.clone(),
                run: index,
                variables: values.seen,
                runs,
                made: Arc::new(made),
            })),
            settings,
            ..given
        })
    }

    #[allow(clippy::too_many_arguments)] // what is known when a run has been planned
    async fn apply(
        &self,
        block: &RunBlock,
        index: usize,
        session: Session,
        plan: Plan,
        held: Option<crate::state::Held>,
        mut expected: Expected,
        planned: Diagnostics,
    ) -> Ended {
        if let Some(in_use) = self.states.get(&block.state()) {
            *lock(&in_use.last) = Some((index, session.clone()));
        }
        let outcome = apply(&session, plan, held).await;
        let mut said = planned;
        let mut failed = !outcome.complete && !outcome.diagnostics.has_errors();
        let sorted = match &outcome.evaluator {
            Some(evaluator) => {
                let rules = Rules::of(evaluator.configuration());
                let sorted = expected.sort(outcome.diagnostics, &rules, true);
                said.append(sorted.kept);
                sorted.expected
            }
            None => {
                failed |= outcome.diagnostics.has_errors();
                said.append(outcome.diagnostics);
                Vec::new()
            }
        };
        if outcome.interrupted {
            said.push(Diagnostic::error(
                "Run was interrupted",
                "Not everything of it was done. What was done is destroyed now.",
            ));
            return Ended::error(said, outcome.sources);
        }
        // Where only expected failures kept it from coming to its end, it came to the end it was to.
        failed &= sorted.is_empty();
        said.append(expected.missing());
        if failed && !said.has_errors() {
            said.push(Diagnostic::error(
                "Apply did not come to an end",
                "Not everything that the run planned was done.",
            ));
        }
        if said.has_errors() {
            return Ended::error(said, outcome.sources);
        }
        let schemas = outcome
            .providers
            .as_ref()
            .map(|p| p.all_schemas())
            .unwrap_or_default();
        let version = session.settings.level.version.to_string();
        let mut ended = self
            .judge(block, outcome.evaluator, said, outcome.sources)
            .await;
        if ended.status != TestStatus::Error {
            let mut snapshot = Snapshot::new("", &version);
            snapshot.state = outcome.state;
            ended.shown = Some(Shown::State(Box::new(snapshot), schemas));
        }
        ended
    }

    /// Judges the assertions of a run, and keeps its outputs for those after it.
    async fn judge(
        &self,
        block: &RunBlock,
        evaluator: Option<Arc<Evaluator>>,
        mut said: Diagnostics,
        sources: SourceMap,
    ) -> Ended {
        let Some(evaluator) = evaluator else {
            return Ended::error(said, sources);
        };
        let root = ModuleInstance::root();
        let Some(module) = evaluator.module(&root).cloned() else {
            return Ended::error(said, sources);
        };
        let functions = evaluator.functions(&module);
        let mut status = TestStatus::Pass;
        let mut failed_asserts = 0;
        for rule in &block.asserts {
            let (verdict, problems) = evaluator
                .calls()
                .settled(|reading| {
                    let scope = evaluator.test_scope(&root);
                    let verdict = check(rule, Condition::Test, &scope, &functions, reading);
                    reading.pending.extend(scope.take_pending());
                    verdict
                })
                .await;
            said.append(problems);
            status = status.max(match verdict {
                Verdict::Pass => TestStatus::Pass,
                Verdict::Fail(_) => TestStatus::Fail,
                Verdict::Unknown | Verdict::Error => TestStatus::Error,
            });
            failed_asserts += usize::from(verdict != Verdict::Pass);
        }
        if status != TestStatus::Error {
            let mut outputs = Vec::new();
            for (name, output) in module.outputs.iter().filter(|(_, o)| !o.ephemeral) {
                let value = evaluator.prepare_output(&root, name).await.value.clone();
                let value = if output.sensitive {
                    value.sensitive()
                } else {
                    value
                };
                outputs.push((name.clone(), value));
            }
            lock(&self.outputs).insert(block.name.clone(), Value::object(outputs));
        }
        Ended {
            status,
            said,
            sources,
            failed_asserts,
            shown: None,
        }
    }

    /// Destroys what the runs made, the state worked on last first. It is not given up when the run was
    /// interrupted.
    async fn clean_up(&mut self) -> Vec<LeftBehind> {
        let file = self.file.clone();
        self.sink.emit(TestEvent::FileEnding(&file.name));
        let mut last: Vec<(usize, Session)> = self
            .states
            .values()
            .filter_map(|s| lock(&s.last).take())
            .collect();
        last.sort_by_key(|(index, _)| std::cmp::Reverse(*index));
        let mut all = Vec::new();
        for (index, mut session) in last {
            let run = file.runs.get(index).map_or("", |r| &*r.name);
            session.cancel = Cancellation::default();
            let (before, _, _) = remaining(&session).await;
            if before.is_empty() {
                continue;
            }
            self.sink.emit(TestEvent::RunEnding(&file.name, run));
            let (said, sources) = destroy(&session).await;
            let (addresses, state, journal) = remaining(&session).await;
            if addresses.is_empty() && !said.has_errors() {
                continue;
            }
            let left = LeftBehind {
                run: run.to_owned(),
                addresses,
                diagnostics: told_once(said),
                sources,
                state,
                journal,
            };
            self.sink.emit(TestEvent::Left(&file.name, &left));
            all.push(left);
        }
        all
    }
}

/// How a run plans.
fn options(block: &RunBlock) -> PlanOptions {
    let asked = &block.options;
    let target = |target: &MoveTarget| match target {
        MoveTarget::Module(module) => Target::Module(module.clone()),
        MoveTarget::Resource(r) if r.key == InstanceKey::None => Target::Resource(r.abs_resource()),
        MoveTarget::Resource(instance) => Target::Instance(instance.clone()),
    };
    PlanOptions {
        mode: match asked.refresh_only {
            true => PlanMode::RefreshOnly,
            false => PlanMode::Normal,
        },
        refresh: asked.refresh,
        replace: asked.replace.iter().cloned().collect(),
        limits: Limits {
            targets: asked.targets.iter().map(target).collect(),
            excludes: Vec::new(),
        },
        ..PlanOptions::default()
    }
}

/// Destroys everything in the state of a session.
async fn destroy(session: &Session) -> (Diagnostics, SourceMap) {
    let options = PlanOptions {
        mode: PlanMode::Destroy,
        ..PlanOptions::default()
    };
    let outcome = plan_untold(session, &options).await;
    let sources = outcome.sources().clone();
    let mut said = outcome.diagnostics;
    match (outcome.plan, outcome.held) {
        (Some(plan), held) if !said.has_errors() && !plan.errored => {
            let mut session = session.clone();
            session.sources = sources;
            let applied = apply(&session, plan, held).await;
            said.append(applied.diagnostics);
            (said, applied.sources)
        }
        (_, Some(held)) => {
            said.append(held.release(session).await);
            (said, sources)
        }
        _ => (said, sources),
    }
}

/// What is still there, and the state that knows it.
async fn remaining(session: &Session) -> (Vec<String>, Vec<u8>, Vec<u8>) {
    let store = &session.store;
    let bytes = store
        .read_snapshot()
        .await
        .ok()
        .flatten()
        .unwrap_or_default();
    let journal = store.read_journal().await.unwrap_or_default();
    let mut addresses = Vec::new();
    if let Ok((view, _)) = read_state(session).await {
        addresses = objects(&view.state);
        for pending in &view.pending {
            let address = pending.begun.address.to_string();
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
    }
    (addresses, bytes, journal)
}

/// The addresses of managed objects.
fn objects(state: &State) -> Vec<String> {
    let mut all = Vec::new();
    for (address, instance) in state.instances() {
        if address.resource.mode != formwork_addresses::ResourceMode::Managed {
            continue;
        }
        if instance.current.is_some() {
            all.push(address.to_string());
        }
        for key in instance.deposed.keys() {
            all.push(format!("{address} (deposed object {key})"));
        }
    }
    all
}
