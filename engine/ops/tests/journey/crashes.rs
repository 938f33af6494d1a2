//! A run may die at any write of the state or its journal. Whatever it left, the next run gets through,
//! and then the state holds what exists, no more and no less.
//!
//! Every write of a whole run is cut off in turn, before and after it took effect; so is every write of
//! the run that recovers. Objects are those of `terraform_data`, but they exist in a world of their own
//! beside the state, in which a provider notes what it does; so an object that the state forgot is seen.
//!
//! What follows a death in several ways does so after every second, third or fourth of them;
//! `FORMWORK_TEST_BUDGET` (seconds, 10 without) of 40 or more is enough for all.

use crate::disk::{DEATHS, Death, Disk, Store, guard};
use crate::surroundings::{session, text};
use formwork_builtin::BuiltinProvider;
use formwork_configuration::MemoryReader;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_ops::{PlanOptions, Session, Word};
use formwork_plan::PlanMode;
use formwork_provider::{
    ApplyRequest, ApplyResponse, CallFunctionRequest, ConfigureRequest, FunctionFailure,
    ImportRequest, ImportedObject, OperationLog, PendingOperation, PlanRequest, PlanResponse,
    Provider, ProviderFactory, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse,
    Reported, Settlement, UpgradeRequest, UpgradeResponse, ValidateRequest,
};
use formwork_provider_schema::SchemaSource;
use formwork_state_backends::RemoteStates;
use formwork_values::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What exists, by id; and what operations made, by their note.
#[derive(Clone, Default)]
struct World {
    objects: BTreeMap<String, Value>,
    done: BTreeMap<Vec<u8>, Value>,
    /// Whether it says what became of an operation.
    silent: bool,
    /// Whether it plans otherwise than before.
    lies: bool,
    /// Whether operations go on after whoever waits for them has lost patience.
    slow: bool,
    /// How often it still says that an operation runs.
    running: usize,
}

#[derive(Clone, Default)]
struct Scene {
    disk: Arc<Mutex<Disk>>,
    world: Arc<Mutex<World>>,
}

impl Scene {
    /// As it is now, on its own from here on.
    fn fork(&self) -> Self {
        Self {
            disk: Arc::new(Mutex::new(guard(&self.disk).clone())),
            world: Arc::new(Mutex::new(guard(&self.world).clone())),
        }
    }
}

/// The built-in provider, with a world in which its objects exist.
struct Worldly {
    inner: BuiltinProvider,
    world: Arc<Mutex<World>>,
}

fn id(object: &Value) -> String {
    let id = object.attribute("id").and_then(Value::as_shared_str);
    id.expect("an id").to_string()
}

/// Tells one note from another; an operation notes once.
fn token(request: &ApplyRequest, world: &World) -> Vec<u8> {
    let what = if request.prior.is_null() {
        "create".to_owned()
    } else {
        id(&request.prior)
    };
    format!("{what} {}", world.done.len()).into_bytes()
}

#[async_trait::async_trait]
impl Provider for Worldly {
    async fn get_schema(&self) -> Result<Arc<dyn SchemaSource>, Diagnostics> {
        self.inner.get_schema().await
    }
    async fn validate_provider_config(&self, config: &Value) -> Vec<Reported> {
        self.inner.validate_provider_config(config).await
    }
    async fn configure(&self, request: ConfigureRequest) -> Vec<Reported> {
        self.inner.configure(request).await
    }
    async fn validate_resource_config(&self, request: ValidateRequest) -> Vec<Reported> {
        self.inner.validate_resource_config(request).await
    }
    async fn validate_data_config(&self, request: ValidateRequest) -> Vec<Reported> {
        self.inner.validate_data_config(request).await
    }
    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let mut response = self.inner.plan_resource_change(request).await;
        if guard(&self.world).lies && !response.planned.is_null() {
            response.planned = response.planned.transform(&mut |path, value| {
                if path.to_string() == ".input" {
                    Value::string("another")
                } else {
                    value
                }
            });
        }
        response
    }
    fn keeps_notes(&self) -> bool {
        true
    }

    async fn apply_resource_change(
        &self,
        request: ApplyRequest,
        log: &dyn OperationLog,
    ) -> ApplyResponse {
        let token = token(&request, &guard(&self.world));
        if let Err(e) = log.note(token.clone()).await {
            return ApplyResponse {
                new: request.prior,
                private: request.planned_private,
                legacy_type_system: false,
                outcome_unknown: false,
                reported: vec![Reported::whole(Diagnostic::error("No note", e.reason))],
                identity: None,
            };
        }
        let response = self.inner.apply_resource_change(request.clone(), log).await;
        let slow = {
            let mut world = guard(&self.world);
            if response.new.is_null() {
                world.objects.remove(&id(&request.prior));
            } else {
                let new = response.new.clone();
                world.objects.insert(id(&new), new);
            }
            world.done.insert(token, response.new.clone());
            world.slow
        };
        if slow {
            std::future::pending::<()>().await;
        }
        response
    }
    async fn settle_operation(&self, operation: PendingOperation) -> Settlement {
        let mut world = guard(&self.world);
        if world.running > 0 {
            world.running -= 1;
            return Settlement::StillRunning;
        }
        if world.silent {
            let reason = format!(
                "the service says only {:?} and {:?}",
                operation
                    .prior
                    .attribute("input")
                    .and_then(Value::as_shared_str),
                operation
                    .planned
                    .attribute("input")
                    .and_then(Value::as_shared_str)
            );
            return Settlement::Unknown { reason };
        }
        match operation.notes.last().and_then(|n| world.done.get(&**n)) {
            None => Settlement::NotDone,
            Some(object) => Settlement::Done {
                object: object.clone(),
                private: Arc::from([]),
                reported: Vec::new(),
            },
        }
    }
    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        let there = guard(&self.world)
            .objects
            .get(&id(&request.current))
            .cloned();
        ReadResponse {
            new: there.unwrap_or_else(|| Value::null(request.current.type_of())),
            private: request.private,
            deferred: None,
            reported: Vec::new(),
            identity: None,
        }
    }
    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        self.inner.read_data_source(request).await
    }
    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> UpgradeResponse {
        self.inner.upgrade_resource_state(request).await
    }
    async fn import_resource_state(
        &self,
        request: ImportRequest,
    ) -> Result<Vec<ImportedObject>, Vec<Reported>> {
        let there = guard(&self.world).objects.get(&request.id).cloned();
        let found = there.map(|state| ImportedObject {
            kind: request.kind,
            state,
            private: Arc::from([]),
            identity: None,
        });
        Ok(found.into_iter().collect())
    }
    async fn call_function(&self, request: CallFunctionRequest) -> Result<Value, FunctionFailure> {
        self.inner.call_function(request).await
    }
}

struct Factory {
    environment: formwork_environment::Environment,
    world: Arc<Mutex<World>>,
}

#[async_trait::async_trait]
impl ProviderFactory for Factory {
    async fn launch(
        &self,
        _provider: &formwork_addresses::ProviderAddr,
    ) -> Result<Arc<dyn Provider>, Diagnostics> {
        let states = Arc::new(RemoteStates::new(self.environment.clone()));
        Ok(Arc::new(Worldly {
            inner: BuiltinProvider::new(self.environment.clone(), states),
            world: self.world.clone(),
        }))
    }
}

const SECRET: &str = "correct horse battery";

/// A stage of the configuration: what follows is created, changed in place, replaced in both orders,
/// and deleted.
fn configuration(stage: u8) -> String {
    let late = if stage == 1 { "old" } else { "new" };
    format!(
        r#"
resource "terraform_data" "changed" {{
  input = sensitive("{SECRET} {stage}")
}}
resource "terraform_data" "replaced" {{
  input            = nonsensitive(terraform_data.changed.id)
  triggers_replace = {stage}
}}
resource "terraform_data" "first" {{
  input            = terraform_data.replaced.id
  triggers_replace = {stage}
  lifecycle {{ create_before_destroy = true }}
}}
resource "terraform_data" "{late}" {{
  input = terraform_data.first.id
}}
output "first" {{ value = terraform_data.first.id }}
"#
    )
}

/// A process that looks at a scene. Each draws other ids.
fn process(scene: &Scene, stage: u8, fatal: Option<(usize, Death)>) -> (Session, Arc<Store>) {
    static SEED: Mutex<u64> = Mutex::new(0);
    let seed = {
        let mut seed = guard(&SEED);
        *seed += 1;
        *seed
    };
    let mut session = session(Path::new("."), Vec::new(), seed);
    let mut reader = MemoryReader::new();
    reader.insert("main.tf", configuration(stage).into_bytes());
    let store = Arc::new(Store {
        disk: scene.disk.clone(),
        fatal,
        writes: Mutex::new(0),
    });
    session.reader = Arc::new(reader);
    session.store = store.clone();
    session.factory = Arc::new(Factory {
        environment: session.environment.clone(),
        world: scene.world.clone(),
    });
    session.settings.parallelism = 1;
    (session, store)
}

/// What one process did.
struct Ran {
    complete: bool,
    said: String,
    writes: usize,
    changes: usize,
}

/// Stage 0 is to destroy everything.
async fn run(scene: &Scene, stage: u8, fatal: Option<(usize, Death)>) -> Ran {
    let (session, store) = process(scene, stage.max(1), fatal);
    let options = PlanOptions {
        mode: if stage == 0 {
            PlanMode::Destroy
        } else {
            PlanMode::Normal
        },
        ..PlanOptions::default()
    };
    let planned = formwork_ops::plan(&session, &options).await;
    let mut said = text(&planned.diagnostics, planned.sources());
    let mut complete = false;
    let mut changes = 0;
    match planned.plan.filter(|p| !p.errored) {
        None => {
            if let Some(held) = planned.held {
                let _ = held.release(&session).await;
            }
        }
        Some(plan) => {
            let changed = |c: &&formwork_plan::ResourceInstanceChange| {
                c.action != formwork_plan::Action::NoOp
            };
            changes = plan.changes.iter().filter(changed).count();
            let applied = formwork_ops::apply(&session, plan, planned.held).await;
            said += &text(&applied.diagnostics, &applied.sources);
            complete = applied.complete;
        }
    }
    let writes = *guard(&store.writes);
    Ran {
        complete,
        said,
        writes,
        changes,
    }
}

/// The state holds what exists, nothing is open, and there is nothing to do.
async fn settled(scene: &Scene, stage: u8, of: &str) {
    let (session, _) = process(scene, stage, None);
    let (view, _) = formwork_ops::read_state(&session)
        .await
        .unwrap_or_else(|d| panic!("{of}: {d:?}"));
    assert!(view.pending.is_empty() && !view.folded, "{of}");
    assert!(guard(&scene.disk).journal.is_empty(), "{of}");
    let mut remembered = BTreeSet::new();
    for (address, instance) in view.state.instances() {
        assert!(
            instance.deposed.is_empty(),
            "{of}: {address} has deposed objects"
        );
        let json = instance.current.as_ref().and_then(|o| o.attributes_json());
        let json: serde_json::Value =
            serde_json::from_str(json.expect("JSON").get()).expect("JSON");
        remembered.insert(json["id"].as_str().expect("an id").to_owned());
    }
    let exist: BTreeSet<String> = guard(&scene.world).objects.keys().cloned().collect();
    assert_eq!(remembered, exist, "{of}: the state, and what exists");
    assert_eq!(exist.len(), if stage == 0 { 0 } else { 4 }, "{of}");
    if stage > 0 {
        let again = run(scene, stage, None).await;
        assert!(again.complete && again.changes == 0, "{of}: {}", again.said);
    }
}

/// The scene before each stage: nothing; then what the stage before left.
async fn scenes() -> Vec<(Scene, u8)> {
    let scene = Scene::default();
    let mut scenes = Vec::new();
    for stage in [1, 2, 0] {
        scenes.push((scene.fork(), stage));
        let ran = run(&scene, stage, None).await;
        assert!(ran.complete, "{}", ran.said);
        settled(&scene, stage, "without a crash").await;
    }
    scenes
}

/// Every `step`th of what deaths left, or more of it if there is time. A step that is no multiple of the
/// number of ways to die meets each of them.
fn some(left: Vec<(Scene, String)>, step: usize) -> Vec<(Scene, String)> {
    let budget: usize = std::env::var("FORMWORK_TEST_BUDGET")
        .ok()
        .and_then(|b| b.parse().ok())
        .unwrap_or(10);
    let step = (step * 10 / budget.max(1)).clamp(1, 10);
    left.into_iter().step_by(step).collect()
}

/// Deaths at each write of a run over this scene, with what they leave.
async fn deaths(scene: &Scene, stage: u8) -> Vec<(Scene, String)> {
    let whole = run(&scene.fork(), stage, None).await;
    let mut left = Vec::new();
    for at in 0..whole.writes {
        for death in DEATHS {
            let scene = scene.fork();
            let ran = run(&scene, stage, Some((at, death))).await;
            let of = format!("stage {stage}, {death:?} write {at} of {}", whole.writes);
            // the very last write is that the journal ends
            assert!(!ran.complete || at + 1 == whole.writes, "{of} was survived");
            left.push((scene, of));
        }
    }
    assert!(left.is_empty() || whole.writes > 10, "{}", whole.writes);
    left
}

#[tokio::test]
async fn a_run_that_dies_anywhere_leaves_no_dead_end() {
    for (before, stage) in scenes().await {
        for (left, of) in deaths(&before, stage).await {
            let recovered = left.fork();
            let ran = run(&recovered, stage, None).await;
            assert!(ran.complete, "{of}: {}", ran.said);
            settled(&recovered, stage, &of).await;
        }
    }
}

#[tokio::test]
async fn so_does_one_that_dies_while_it_recovers() {
    for (before, stage) in scenes().await {
        for (left, of) in some(deaths(&before, stage).await, 4) {
            // settling is what differs from any other run; it is the first few writes
            for at in 0..5 {
                for death in [Death::Before, Death::After] {
                    let of = format!("{of}, then {death:?} write {at} of the next");
                    let scene = left.fork();
                    run(&scene, stage, Some((at, death))).await;
                    let ran = run(&scene, stage, None).await;
                    assert!(ran.complete, "{of}: {}", ran.said);
                    settled(&scene, stage, &of).await;
                }
            }
        }
    }
}

/// What the user would say of the first open operation, having looked at the world.
async fn word(scene: &Scene, stage: u8) -> Option<(formwork_addresses::AbsResourceInstance, Word)> {
    let (session, _) = process(scene, stage, None);
    let (view, _) = formwork_ops::read_state(&session).await.expect("readable");
    let first = view.pending.first()?;
    let world = guard(&scene.world);
    let made = first.notes.last().and_then(|n| world.done.get(&**n));
    let there = match (made, &first.begun.prior) {
        (Some(object), _) => (!object.is_null()).then(|| id(object)),
        (None, None) => None,
        (None, Some(prior)) => {
            let json = prior.attributes_json().expect("JSON").get().to_owned();
            let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
            json["id"].as_str().map(str::to_owned)
        }
    };
    let word = there.map_or(Word::NotThere, Word::Exists);
    Some((first.begun.address.clone(), word))
}

#[tokio::test]
async fn what_only_the_user_knows_is_settled_by_word_even_if_that_dies() {
    let mut asked = 0;
    for (before, stage) in scenes().await {
        let written = stage.max(1);
        for (left, of) in some(deaths(&before, stage).await, 4) {
            guard(&left.world).silent = true;
            let Some((address, said)) = word(&left, written).await else {
                continue;
            };
            let refused = run(&left, stage, None).await;
            if refused.complete {
                // nothing was noted, so nothing was asked of the world
                continue;
            }
            asked += 1;
            assert!(
                refused.said.contains("Operation of unknown outcome"),
                "{of}: {}",
                refused.said
            );
            assert!(!refused.said.contains(SECRET), "{of}: {}", refused.said);
            for at in 0..6 {
                for death in [Death::Before, Death::After] {
                    let of = format!("{of}, then {death:?} write {at} of `state settle`");
                    let scene = left.fork();
                    let (session, _) = process(&scene, written, Some((at, death)));
                    let _ = formwork_ops::settle_by_word(&session, &address, &said).await;
                    if let Some((address, said)) = word(&scene, written).await {
                        let (session, _) = process(&scene, written, None);
                        let _ = formwork_ops::settle_by_word(&session, &address, &said)
                            .await
                            .unwrap_or_else(|d| panic!("{of}: {d:?}"));
                    }
                    let ran = run(&scene, stage, None).await;
                    assert!(ran.complete, "{of}: {}", ran.said);
                    settled(&scene, stage, &of).await;
                }
            }
        }
    }
    assert!(asked > 0, "nothing was open");
}

#[tokio::test]
async fn a_journal_that_another_run_writes_is_left_alone() {
    let mut tried = 0;
    for (before, stage) in scenes().await {
        for (left, of) in deaths(&before, stage).await {
            if guard(&left.disk).journal.is_empty() {
                continue;
            }
            tried += 1;
            let (snapshot, journal) = {
                let mut disk = guard(&left.disk);
                disk.busy = true;
                (disk.snapshot.clone(), disk.journal.clone())
            };
            for locked in [true, false] {
                let (mut session, store) = process(&left, stage.max(1), None);
                session.settings.lock = locked;
                let planned = formwork_ops::plan(&session, &PlanOptions::default()).await;
                // where there is nothing to settle, a plan writes nothing and may be made
                if let Some(plan) = planned.plan {
                    let applied = formwork_ops::apply(&session, plan, planned.held).await;
                    assert!(!applied.complete, "{of}");
                } else {
                    assert!(planned.diagnostics.has_errors(), "{of}");
                }
                assert_eq!(*guard(&store.writes), 0, "{of}");
                // who only looks is not kept out
                assert!(formwork_ops::read_state(&session).await.is_ok(), "{of}");
            }
            // it ends between our reading and our locking
            {
                let mut disk = guard(&left.disk);
                assert!(disk.snapshot == snapshot && disk.journal == journal, "{of}");
                disk.busy = false;
                disk.meanwhile = Some((snapshot, Vec::new()));
            }
            let ran = run(&left, stage, None).await;
            assert!(!ran.complete && ran.writes == 0, "{of}: {}", ran.said);
            assert!(
                ran.said.contains("State changed meanwhile"),
                "{of}: {}",
                ran.said
            );
        }
    }
    assert!(tried > 10, "only {tried}");
}

/// Another tool, which knows no journal, drops these resources from the state, though they exist; gives
/// what was dropped.
fn dropped(scene: &Scene, names: &[&str]) -> BTreeSet<String> {
    let mut disk = guard(&scene.disk);
    let Some(bytes) = &disk.snapshot else {
        return BTreeSet::new();
    };
    let mut state: serde_json::Value = serde_json::from_slice(bytes).expect("JSON");
    let serial = state["serial"].as_u64().expect("a number");
    state["serial"] = (serial + 1).into();
    let mut ids = BTreeSet::new();
    let resources = state["resources"].as_array_mut().expect("a list");
    resources.retain(|r| {
        let drop = names.iter().any(|n| r["name"] == **n);
        if drop {
            for instance in r["instances"].as_array().into_iter().flatten() {
                let id = instance["attributes"]["id"].as_str().expect("an id");
                ids.insert(id.to_owned());
            }
        }
        !drop
    });
    disk.snapshot = Some(serde_json::to_vec(&state).expect("JSON"));
    ids
}

#[tokio::test]
async fn a_state_that_another_tool_wrote_after_the_death_is_no_dead_end() {
    const ALL: [&str; 5] = ["changed", "replaced", "first", "old", "new"];
    for (before, stage) in scenes().await {
        for (left, of) in some(deaths(&before, stage).await, 4) {
            for names in [&ALL[..0], &ALL[2..3], &ALL[..]] {
                for silent in [false, true] {
                    let of = format!("{of}, {names:?} dropped, silent: {silent}");
                    let scene = left.fork();
                    let lost = dropped(&scene, names);
                    guard(&scene.world).silent = silent;
                    let mut ran = run(&scene, stage, None).await;
                    // the user may have to say what became of each
                    for _ in 0..5 {
                        let Some((address, said)) = word(&scene, stage.max(1)).await else {
                            break;
                        };
                        assert!(silent && !ran.complete, "{of}: {}", ran.said);
                        let (session, _) = process(&scene, stage.max(1), None);
                        let _ = formwork_ops::settle_by_word(&session, &address, &said)
                            .await
                            .unwrap_or_else(|d| panic!("{of}: {d:?}"));
                        ran = run(&scene, stage, None).await;
                    }
                    assert!(ran.complete, "{of}: {}", ran.said);
                    // what the other tool itself forgot is its matter; all else is as ever
                    guard(&scene.world)
                        .objects
                        .retain(|id, _| !lost.contains(id));
                    run(&scene, stage, None).await;
                    settled(&scene, stage, &of).await;
                }
            }
        }
    }
}

/// Interrupts a run as soon as an operation begins.
struct Interrupting(formwork_graph::Cancellation);

impl formwork_plan::EventSink for Interrupting {
    fn emit(&self, event: formwork_plan::Event) {
        if matches!(event, formwork_plan::Event::ApplyStarted(_)) {
            self.0.cancel();
        }
    }
}

#[tokio::test]
async fn an_interrupted_run_leaves_what_takes_long_to_the_next() {
    for (scene, stage) in scenes().await {
        guard(&scene.world).slow = true;
        let mut interrupted = 0;
        // each run gets as far as its first operation
        loop {
            let (mut session, _) = process(&scene, stage.max(1), None);
            session.settings.detach_after = std::time::Duration::ZERO;
            session.events = Arc::new(Interrupting(session.cancel.clone()));
            let mode = if stage == 0 {
                PlanMode::Destroy
            } else {
                PlanMode::Normal
            };
            let options = PlanOptions {
                mode,
                ..PlanOptions::default()
            };
            // the service takes its time
            guard(&scene.world).running = 3;
            let planned = formwork_ops::plan(&session, &options).await;
            let said = text(&planned.diagnostics, planned.sources());
            let plan = planned.plan.unwrap_or_else(|| panic!("{said}"));
            assert!(!plan.errored, "{said}");
            guard(&scene.world).running = 0;
            if !plan.has_changes() {
                if let Some(held) = planned.held {
                    let _ = held.release(&session).await;
                }
                break;
            }
            let applied = formwork_ops::apply(&session, plan, planned.held).await;
            let said = text(&applied.diagnostics, &applied.sources);
            if applied.complete {
                break;
            }
            assert!(said.contains("An operation still runs"), "{said}");
            assert!(applied.interrupted, "{said}");
            let (view, _) = formwork_ops::read_state(&session).await.expect("readable");
            assert_eq!(view.pending.len(), 1, "{said}");
            interrupted += 1;
            assert!(interrupted < 20, "it gets nowhere: {said}");
        }
        assert!(interrupted >= 3, "stage {stage}: {interrupted}");
        guard(&scene.world).slow = false;
        let ran = run(&scene, stage, None).await;
        assert!(ran.complete, "{}", ran.said);
        settled(&scene, stage, "after interruptions").await;
    }
}

#[tokio::test]
async fn a_second_plan_that_differs_stops_its_object() {
    let scene = Scene::default();
    let (mut session, _) = process(&scene, 1, None);
    let mut reader = MemoryReader::new();
    let text_of = format!(
        "resource \"terraform_data\" \"a\" {{\n  input = \"one\"\n}}\n\
         resource \"terraform_data\" \"b\" {{\n  input = sensitive(\"{SECRET}\")\n}}\n"
    );
    reader.insert("main.tf", text_of.into_bytes());
    session.reader = Arc::new(reader);
    let planned = formwork_ops::plan(&session, &PlanOptions::default()).await;
    guard(&scene.world).lies = true;
    let plan = planned.plan.expect("a plan");
    let applied = formwork_ops::apply(&session, plan, planned.held).await;
    let said = text(&applied.diagnostics, &applied.sources);
    assert!(
        !applied.complete && guard(&scene.world).objects.is_empty(),
        "{said}"
    );
    for part in [
        "Provider produced inconsistent final plan [terraform_data.a]",
        "  - input: planned as \"one\", now \"another\" (",
        "Provider produced inconsistent final plan [terraform_data.b]",
        "  - input: planned as (sensitive value), now ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains(SECRET), "{said}");
}
