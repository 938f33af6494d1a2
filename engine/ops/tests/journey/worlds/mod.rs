//! Generated worlds: random configurations, states, provider behaviours and modes of running, and what
//! must hold whatever happens.
//!
//! Each world goes through a few steps. Before a step its configuration changes, and perhaps somebody
//! changes or deletes objects; then a run is planned and applied in one of the modes, by a provider
//! that does as a script says (it fails, fails after the deed, dies in mid-call, hangs, lies, leaves
//! things unknown), in a process that may die at any of its writes. After each step:
//!
//! - the state holds what the provider holds, value by value; what it does not know is a pending
//!   operation's, or was done behind its back and not yet read;
//! - the journal is legal, at every write;
//! - nothing was made or changed before everything that it needs was, and nothing was destroyed before
//!   everything that was made from it;
//! - a mode did what it says and no more; a fault was told.
//!
//! In the end a run without faults succeeds whatever was left, the plan after it is empty, and a
//! destroy leaves nothing.
//!
//! `FORMWORK_TEST_BUDGET` sets the number of worlds ([`PER_SECOND`] for each second), `FORMWORK_TEST_SEED`
//! where to begin, `FORMWORK_TEST_WORLD` tries that one alone. A failure prints the world: its seed, the
//! configuration of each step, what was asked and what went wrong on purpose.

mod holds;
mod maker;
mod thing;
mod user;

use crate::disk::{DEATHS, Disk, Store, guard};
use crate::surroundings::{session, text};
use formwork_configuration::MemoryReader;
use formwork_environment::Fixed;
use formwork_ops::{PlanOptions, PlanOutcome, Rounds, Session};
use formwork_plan::{Action, Plan, PlanMode};
use maker::{Maker, Mode, Step, World, address, first_key, is_module};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use thing::{Call, Cloud, Factory, Watch};
use tokio::sync::Notify;

/// Worlds for each second of the budget.
const PER_SECOND: u64 = 10;
const SEED: u64 = 20_261_130;

/// What outlives processes.
#[derive(Default)]
struct Scene {
    disk: Arc<Mutex<Disk>>,
    cloud: Arc<Mutex<Cloud>>,
    /// Processes so far; each draws other ids.
    processes: Mutex<u64>,
    seed: u64,
}

/// What one run did.
#[derive(Default)]
struct Ran {
    /// Whether there was a plan without errors.
    planned: bool,
    complete: bool,
    /// Whether it was killed while the provider hung.
    killed: bool,
    /// Whether it was interrupted.
    interrupted: bool,
    /// Whether something is left to a further round that there was not.
    left: bool,
    /// Whether the state was changed under a saved plan.
    overtaken: bool,
    rounds: usize,
    /// What nobody may ask of a provider.
    illegal: Vec<String>,
    errors: bool,
    said: String,
    /// What was to change.
    changes: Vec<String>,
    calls: Vec<Call>,
    reads: usize,
    faults: Vec<String>,
    writes: usize,
}

fn process(scene: &Scene, world: &World, step: &Step) -> (Session, Arc<Store>, Factory) {
    let number = {
        let mut processes = guard(&scene.processes);
        *processes += 1;
        *processes
    };
    let mut session = session(Path::new("."), Vec::new(), scene.seed * 1_000 + number);
    let mut reader = MemoryReader::new();
    let (root, modules) = world.texts();
    reader.insert("main.tf", root.into_bytes());
    for (name, module) in modules {
        reader.insert(format!("{name}/main.tf"), module.into_bytes());
    }
    let store = Arc::new(Store {
        disk: scene.disk.clone(),
        fatal: step.death.map(|(at, how)| (at, DEATHS[how])),
        writes: Mutex::new(0),
    });
    let factory = || Factory {
        cloud: scene.cloud.clone(),
        watch: Arc::new(Mutex::new(Watch {
            script: step.script.clone(),
            cancel: session.cancel.clone(),
            ..Watch::default()
        })),
        hung: Arc::new(Notify::new()),
    };
    let factory = factory();
    session.reader = Arc::new(reader);
    session.store = store.clone();
    session.factory = Arc::new(Factory {
        cloud: factory.cloud.clone(),
        watch: factory.watch.clone(),
        hung: factory.hung.clone(),
    });
    session.settings.detach_after = Duration::ZERO;
    session.settings.parallelism = step.parallelism;
    (session, store, factory)
}

/// The instance of a block that `-replace` names.
fn first(world: &World, name: &str) -> Option<String> {
    let inner = if is_module(name) {
        ".world_thing.z"
    } else {
        ""
    };
    let key = first_key(&world.blocks[name].repeat)?;
    Some(format!("{}{key}{inner}", address(name)))
}

fn options(world: &World, step: &Step) -> PlanOptions {
    let mut options = PlanOptions {
        defer: step.defers,
        ..PlanOptions::default()
    };
    let target = |name: &str| vec![address(name).parse().expect("an address")];
    match &step.mode {
        Mode::Normal => {}
        Mode::Destroy => options.mode = PlanMode::Destroy,
        Mode::RefreshOnly => options.mode = PlanMode::RefreshOnly,
        Mode::Target(name) => options.limits.targets = target(name),
        Mode::Exclude(name) => options.limits.excludes = target(name),
        Mode::DestroyTarget(name) => {
            options.mode = PlanMode::Destroy;
            options.limits.targets = target(name);
        }
        Mode::Replace(name) => {
            let named = first(world, name).map(|a| a.parse().expect("an address"));
            options.replace.extend(named);
        }
        Mode::WithoutRefresh => options.refresh = false,
        Mode::Light => options.only_changed = true,
    }
    options
}

/// What a plan is to change, one a line; what was read again is no change.
fn changes(plan: &Plan) -> Vec<String> {
    let mut out = Vec::new();
    for c in &plan.changes {
        if !matches!(c.action, Action::NoOp | Action::Read) {
            out.push(format!("{:?} {}", c.action, c.address));
        }
    }
    out
}

/// A run: a plan and its apply, in as many rounds as there are.
async fn run(scene: &Scene, world: &World, step: &Step) -> Ran {
    let mut ran = Ran::default();
    let planning = Step {
        death: step.death.filter(|_| !step.saved),
        ..step.clone()
    };
    let process = process(scene, world, &planning);
    let mut options = options(world, step);
    let mut rounds = Rounds::new();
    loop {
        guard(&process.2.watch).round += 1;
        let planned = formwork_ops::plan(&process.0, &options).await;
        let more = round(scene, world, step, &process, planned, &mut rounds, &mut ran).await;
        let Some(plan) = more else { break };
        Rounds::after(&mut options, &plan);
    }
    saw(&process, &mut ran);
    ran
}

/// What a process saw.
fn saw((session, store, factory): &(Session, Arc<Store>, Factory), ran: &mut Ran) {
    let mut watch = guard(&factory.watch);
    ran.calls.append(&mut watch.calls);
    ran.faults.append(&mut watch.faults);
    ran.illegal.append(&mut watch.illegal);
    ran.reads += watch.reads;
    ran.writes += *guard(&store.writes);
    ran.interrupted |= session.cancel.is_cancelled();
    if !ran.killed {
        let open = watch.open.iter();
        ran.illegal
            .extend(open.map(|key| format!("{key} was not closed")));
    }
}

/// Carries out one plan. The plan, if there is to be a further round.
async fn round(
    scene: &Scene,
    world: &World,
    step: &Step,
    own: &(Session, Arc<Store>, Factory),
    planned: PlanOutcome,
    rounds: &mut Rounds,
    ran: &mut Ran,
) -> Option<Plan> {
    ran.complete = false;
    ran.rounds += 1;
    ran.errors |= planned.diagnostics.has_errors();
    ran.said += &text(&planned.diagnostics, planned.sources());
    let mut plan = planned
        .plan
        .filter(|p| !p.errored && !planned.diagnostics.has_errors());
    if let Some(Err(d)) = plan.as_ref().map(|p| rounds.begin(p)) {
        ran.errors = true;
        ran.said += &text(&d, &own.0.sources);
        plan = None;
    }
    let Some(plan) = plan else {
        if let Some(held) = planned.held {
            let _ = held.release(&own.0).await;
        }
        return None;
    };
    ran.planned = true;
    ran.changes.extend(changes(&plan));
    ran.left = plan.is_deferred();
    let forgotten = plan.changes.iter().filter(|c| c.action == Action::Forget);
    let forgotten = forgotten.filter_map(|c| thing::text(&c.before.clone().unmark_deep().0, "id"));
    guard(&scene.cloud).strays.extend(forgotten);
    let more = (ran.left && !step.saved).then(|| plan.clone());
    if !step.saved {
        apply(own, plan, planned.held, ran).await;
    } else {
        if let Some(held) = planned.held {
            let _ = held.release(&own.0).await;
        }
        let bytes = formwork_plan::encode(&plan).expect("a plan is written");
        if step.overtaken {
            ran.overtaken = user::overtake(scene, world, step).await;
        }
        let plan = formwork_plan::decode(&bytes).expect("a plan is read");
        let mut other = process(scene, world, step);
        // everything that apply needs is in the plan
        other.0.reader = Arc::new(MemoryReader::new());
        apply(&other, plan, None, ran).await;
        saw(&other, ran);
    }
    let more = more.filter(|_| ran.complete && !ran.killed && !ran.errors);
    ran.complete &= !ran.left || more.is_some();
    more
}

async fn apply(
    (session, _, factory): &(Session, Arc<Store>, Factory),
    plan: Plan,
    held: Option<formwork_ops::Held>,
    ran: &mut Ran,
) {
    let applied = formwork_ops::apply(session, plan, held);
    tokio::select! {
        biased;
        applied = applied => {
            ran.said += &text(&applied.diagnostics, &applied.sources);
            ran.errors |= applied.diagnostics.has_errors();
            ran.complete = applied.complete;
        }
        () = killed(factory) => ran.killed = true,
    }
}

/// When a call hangs, others go on for a while, and then the process is killed.
async fn killed(factory: &Factory) {
    factory.hung.notified().await;
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

/// Summaries with which a plan may be refused here.
const REFUSALS: [&str; 12] = [
    "Operation of unknown outcome",
    "Resource postcondition failed",
    "Resource precondition failed",
    "Cannot import non-existent remote object",
    "Scripted",
    "Instance cannot be destroyed",
    "Moved resource instances excluded by targeting",
    "Resource has no configuration",
    "Unresolved resource instance address changes",
    "Provider configuration not present",
    "Deferred changes make no progress",
    TOO_LATE,
];

/// No order is possible: the user has to do something about it.
const TOO_LATE: &str = "Provider is configured by what is replaced";

/// Whether a run may fail although nothing went wrong.
fn meant(world: &World, step: &Step, ran: &Ran) -> bool {
    let said = |summary: &str| ran.said.contains(&format!("Error {summary}"));
    REFUSALS.iter().any(|r| said(r))
        || (!step.defers && world.counts_later() && said("Invalid count argument"))
        || (ran.overtaken && said("Saved plan is stale"))
        // a round of a saved plan
        || (ran.left && step.saved)
}

/// What happened in worlds: by kind, how often.
type Tally = BTreeMap<String, usize>;

fn count(tally: &mut Tally, what: impl Into<String>) {
    *tally.entry(what.into()).or_default() += 1;
}

async fn world(seed: u64, tally: &mut Tally) -> Result<(), String> {
    let maker = Maker(Fixed::new(0, seed));
    let scene = Scene {
        seed,
        ..Scene::default()
    };
    guard(&scene.disk).watchful = true;
    let mut told = format!("world {seed}\n");
    let (mut world, mut moved) = (World::default(), false);
    let fail = |told: &str, why: &[String]| Err(format!("{told}\n{}", why.join("\n")));
    for number in 0..=maker.below(4) {
        let old = std::mem::take(&mut world);
        world = maker.next(&old);
        let step = maker.step(&world);
        user::outside(&scene, &step);
        let strays: Vec<String> = {
            let mut cloud = guard(&scene.cloud);
            cloud.silent = step.silent;
            let there = cloud
                .strays
                .iter()
                .filter(|id| cloud.objects.contains_key(*id));
            there.cloned().collect()
        };
        maker.imports(&old, &mut world, &strays);
        moved |= user::edits(&scene, &world, &step, &mut told).await;
        let (root, modules) = world.texts();
        let _ = write!(told, "# step {number}: {step:?}\n{root}\n");
        for (name, module) in modules {
            let _ = write!(told, "# {name}\n{module}\n");
        }
        let ran = run(&scene, &world, &step).await;
        let _ = writeln!(told, "# did {:?}\n# said {}", ran.calls, ran.said);
        count(tally, "steps");
        let mode = format!("{:?}", step.mode);
        count(
            tally,
            format!("mode {}", mode.split('(').next().unwrap_or_default()),
        );
        for fault in &ran.faults {
            count(
                tally,
                format!("fault {}", fault.split(' ').next_back().unwrap_or_default()),
            );
        }
        for call in &ran.calls {
            count(tally, format!("call {:?}", call.verb));
        }
        for (happened, what) in [
            (ran.planned, "planned"),
            (ran.complete, "complete"),
            (ran.killed, "killed while hanging"),
            (
                step.death.is_some_and(|(at, _)| at < ran.writes),
                "died writing",
            ),
            (!world.imports.is_empty() && ran.complete, "imported"),
            (!world.moved.is_empty() && ran.complete, "moved"),
            (ran.interrupted, "interrupted"),
            (step.saved && ran.complete, "saved"),
            (ran.overtaken, "overtaken"),
            (ran.rounds > 1 && ran.complete, "rounds"),
            (
                ran.said.contains("Invalid count argument"),
                "count not known",
            ),
            (
                ran.said.contains("Check block assertion failed"),
                "check failed",
            ),
            (
                ran.said.contains("Deferred changes make no progress"),
                "no progress",
            ),
            (
                ran.said.contains("Resource postcondition failed"),
                "condition failed",
            ),
            (
                ran.said.contains("Operation of unknown outcome"),
                "left to the user",
            ),
        ] {
            if happened {
                count(tally, what);
            }
        }
        let mut why = holds::broken(&scene, &world, &step, &ran).await;
        why.extend(holds::disordered(&scene, &world, &ran));
        // what was moved bears the name it had
        moved |= !world.moved.is_empty();
        if !moved {
            why.extend(holds::beyond(&world, &step, &ran));
        }
        let died = step.death.is_some_and(|(at, _)| at < ran.writes);
        // A light refresh plans once to see what is touched, and says nothing of that.
        let twice = step.mode == Mode::Light && ran.faults.iter().all(|f| f.starts_with("plan "));
        let told_of = ran.errors || ran.interrupted;
        let untold = !twice && (ran.complete || !told_of);
        if !ran.faults.is_empty() && !ran.killed && !died && untold {
            why.push(format!("Faults were not told: {:?}", ran.faults));
        }
        let spared = ran.faults.is_empty() && !died && !ran.interrupted;
        if spared && !ran.complete && !meant(&world, &step, &ran) {
            why.push("It failed for no reason".to_owned());
        }
        if ran.overtaken && !ran.calls.is_empty() {
            why.push("A plan was applied to another state than its own".to_owned());
        }
        if !why.is_empty() {
            return fail(&told, &why);
        }
    }
    // whatever was left, a run gets through
    for block in world.blocks.values_mut() {
        block.prevents_destroy = false;
        block.demands = false;
        block.expects = None;
    }
    world.imports.clear();
    let settling = World {
        settling: true,
        ..world.clone()
    };
    user::settled(&scene, &settling).await;
    for mode in [Mode::Normal, Mode::Destroy] {
        let step = Step::calm(mode.clone());
        let _ = write!(told, "# in the end: {mode:?}\n{}\n", world.texts().0);
        let mut ran = run(&scene, &world, &step).await;
        if ran.calls.is_empty() && ran.said.contains(TOO_LATE) {
            count(tally, "provider configured too late");
            world.settling = true;
            ran = run(&scene, &world, &step).await;
        }
        let _ = writeln!(told, "# did {:?}\n# said {}", ran.calls, ran.said);
        {
            let mut cloud = guard(&scene.cloud);
            cloud.gone.clear();
            cloud.drifted.clear();
        }
        let mut why = holds::broken(&scene, &world, &step, &ran).await;
        why.extend(holds::disordered(&scene, &world, &ran));
        if !ran.complete {
            why.push("A run without faults did not succeed".to_owned());
        }
        let again = run(&scene, &world, &step).await;
        if !again.complete || !again.changes.is_empty() {
            why.push(format!(
                "The plan after it is not empty: {:?} {}",
                again.changes, again.said
            ));
        }
        let left = {
            let cloud = guard(&scene.cloud);
            let known = cloud
                .objects
                .keys()
                .filter(|id| !cloud.strays.contains(*id));
            known.count()
        };
        if mode == Mode::Destroy && left > 0 {
            why.push(format!("{left} objects are left after a destroy"));
        }
        if !guard(&scene.disk).journal.is_empty() {
            why.push("The journal is left".to_owned());
        }
        if !why.is_empty() {
            return fail(&told, &why);
        }
    }
    Ok(())
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|s| s.parse().ok())
}

#[tokio::test]
async fn whatever_happens_the_state_is_true() {
    let budget = number("FORMWORK_TEST_BUDGET").unwrap_or(10);
    let seed = number("FORMWORK_TEST_SEED").unwrap_or(SEED);
    let (from, to) = match number("FORMWORK_TEST_WORLD") {
        Some(one) => (one, one + 1),
        None => (seed, seed + budget * PER_SECOND),
    };
    println!("seed {from}");
    let (mut tally, mut failed) = (Tally::new(), Vec::new());
    for seed in from..to {
        if let Err(why) = world(seed, &mut tally).await {
            failed.push(why);
        }
        if failed.len() == 3 {
            break;
        }
    }
    println!("{} worlds: {tally:?}", to - from);
    assert!(
        failed.is_empty(),
        "{}\n(FORMWORK_TEST_WORLD=N tries one world alone)",
        failed.join("\n\n")
    );
}
