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

mod maker;
mod thing;

use crate::disk::{DEATHS, Disk, Store, guard};
use crate::surroundings::{session, text};
use formwork_configuration::MemoryReader;
use formwork_environment::Fixed;
use formwork_graph::Cancellation;
use formwork_ops::{PlanOptions, Session, Word};
use formwork_plan::{Action, Plan, PlanMode};
use formwork_values::{Type, Value, value_from_json};
use maker::{Maker, Meddling, Mode, Repeat, Step, World};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use thing::{Call, Cloud, Factory, SCHEMA, Script, Verb, Watch};
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

/// What one process did.
struct Ran {
    /// Whether there was a plan without errors.
    planned: bool,
    complete: bool,
    /// Whether it was killed while the provider hung.
    killed: bool,
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
    let (root, module) = world.texts();
    reader.insert("main.tf", root.into_bytes());
    reader.insert("m/main.tf", module.into_bytes());
    let store = Arc::new(Store {
        disk: scene.disk.clone(),
        fatal: step.death.map(|(at, how)| (at, DEATHS[how])),
        writes: Mutex::new(0),
    });
    let factory = || Factory {
        cloud: scene.cloud.clone(),
        watch: Arc::new(Mutex::new(Watch {
            script: step.script.clone(),
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
    session.cancel = Cancellation::new();
    session.settings.parallelism = step.parallelism;
    (session, store, factory)
}

fn address(name: &str) -> String {
    if name == "m" {
        "module.m".to_owned()
    } else {
        format!("world_thing.{name}")
    }
}

/// The instance of a block that `-replace` names.
fn first(world: &World, name: &str) -> Option<String> {
    let key = match &world.blocks[name].repeat {
        Repeat::Single => String::new(),
        Repeat::Count(0) => return None,
        Repeat::Count(_) => "[0]".to_owned(),
        Repeat::Each(keys) => format!("[\"{}\"]", keys.first()?),
    };
    Some(if name == "m" {
        format!("module.m{key}.world_thing.z")
    } else {
        format!("world_thing.{name}{key}")
    })
}

fn options(world: &World, mode: &Mode) -> PlanOptions {
    let mut options = PlanOptions::default();
    let target = |name: &str| vec![address(name).parse().expect("an address")];
    match mode {
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

async fn run(scene: &Scene, world: &World, step: &Step) -> Ran {
    let (session, store, factory) = process(scene, world, step);
    let planned = formwork_ops::plan(&session, &options(world, &step.mode)).await;
    let mut ran = Ran {
        planned: false,
        complete: false,
        killed: false,
        errors: planned.diagnostics.has_errors(),
        said: text(&planned.diagnostics, planned.sources()),
        changes: Vec::new(),
        calls: Vec::new(),
        reads: 0,
        faults: Vec::new(),
        writes: 0,
    };
    match planned
        .plan
        .filter(|p| !p.errored && !planned.diagnostics.has_errors())
    {
        None => {
            if let Some(held) = planned.held {
                let _ = held.release(&session).await;
            }
        }
        Some(plan) => {
            ran.planned = true;
            ran.changes = changes(&plan);
            let forgotten = plan.changes.iter().filter(|c| c.action == Action::Forget);
            let forgotten =
                forgotten.filter_map(|c| thing::text(&c.before.clone().unmark_deep().0, "id"));
            guard(&scene.cloud).strays.extend(forgotten);
            let applied = formwork_ops::apply(&session, plan, planned.held);
            tokio::select! {
                biased;
                applied = applied => {
                    ran.said += &text(&applied.diagnostics, &applied.sources);
                    ran.errors |= applied.diagnostics.has_errors();
                    ran.complete = applied.complete;
                }
                () = killed(&factory) => ran.killed = true,
            }
        }
    }
    let mut watch = guard(&factory.watch);
    ran.calls = std::mem::take(&mut watch.calls);
    ran.faults = std::mem::take(&mut watch.faults);
    ran.reads = watch.reads;
    ran.writes = *guard(&store.writes);
    ran
}

/// When a call hangs, others go on for a while, and then the process is killed.
async fn killed(factory: &Factory) {
    factory.hung.notified().await;
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

/// What does not hold after a step, in sentences.
async fn broken(scene: &Scene, world: &World, step: &Step, ran: &Ran) -> Vec<String> {
    let mut out = Vec::new();
    let calm = Step {
        death: None,
        script: Script::default(),
        ..step.clone()
    };
    let (session, _, _) = process(scene, world, &calm);
    let view = match formwork_ops::read_state(&session).await {
        Ok((view, _)) => view,
        Err(d) => {
            out.push(format!(
                "The state cannot be read: {}",
                text(&d, &session.sources)
            ));
            return out;
        }
    };
    let mut cloud = guard(&scene.cloud);
    // what pending operations may have changed
    let (mut made, mut unmade) = (BTreeSet::new(), BTreeSet::new());
    for pending in &view.pending {
        for note in &pending.notes {
            if let Some(effect) = cloud.effects.get(&**note) {
                made.extend(effect.after.as_ref().and_then(|o| thing::text(o, "id")));
                unmade.extend(effect.before.clone());
            }
        }
    }
    // Once another version of the state is written, what is still there of them is left to a refresh.
    let Cloud { drifted, gone, .. } = &mut *cloud;
    for call in ran.calls.iter().filter(|c| !c.done) {
        match call.verb {
            Verb::Create => {}
            Verb::Update => drifted.extend(call.id.clone()),
            Verb::Delete => gone.extend(call.id.clone()),
        }
    }
    drifted.extend(made.iter().cloned());
    gone.extend(unmade.iter().cloned());
    let mut remembered = BTreeMap::new();
    for (address, instance) in view.state.instances() {
        if !address.to_string().contains("world_thing") || address.to_string().starts_with("data.")
        {
            continue;
        }
        for object in instance.current.iter().chain(instance.deposed.values()) {
            let Some(json) = object.attributes_json() else {
                out.push(format!("{address} has no attributes"));
                continue;
            };
            match value_from_json(json.get().as_bytes(), &SCHEMA.ty()) {
                Err(e) => out.push(format!("{address} cannot be read: {e}")),
                Ok(value) => match thing::text(&value, "id") {
                    None => out.push(format!("{address} has no id")),
                    Some(id) => {
                        if let Some((other, _)) =
                            remembered.insert(id.clone(), (address.to_string(), value))
                        {
                            out.push(format!("{id} is in the state twice: {other} and {address}"));
                        }
                    }
                },
            }
        }
    }
    for (id, (address, value)) in &remembered {
        match cloud.objects.get(id) {
            None if unmade.contains(id) || cloud.gone.contains(id) => {}
            None => out.push(format!(
                "{address} ({id}) is in the state and does not exist"
            )),
            Some(there) if there == value => {}
            Some(_) if cloud.drifted.contains(id) || made.contains(id) => {}
            Some(there) => out.push(format!(
                "{address} ({id}) is {there:?}, the state says {value:?}"
            )),
        }
    }
    let nobodys = cloud.strays.clone();
    cloud.once_strays.extend(nobodys);
    // what was taken over is somebody's again
    cloud.strays.retain(|id| !remembered.contains_key(id));
    for id in cloud.objects.keys() {
        if !remembered.contains_key(id) && !made.contains(id) && !cloud.strays.contains(id) {
            out.push(format!("{id} exists, and the state does not know it"));
        }
    }
    out.append(&mut guard(&scene.disk).illegal);
    if step.death.is_none() && !ran.killed && view.folded {
        out.push("A run that ended by itself left its journal".to_owned());
    }
    out
}

/// What does not hold of the order of what was done.
fn disordered(scene: &Scene, world: &World, ran: &Ran) -> Vec<String> {
    let mut out = Vec::new();
    let strays = guard(&scene.cloud).once_strays.clone();
    let name = |call: &Call| call.at.split('/').next().unwrap_or_default().to_owned();
    for call in ran.calls.iter().filter(|c| c.verb != Verb::Delete) {
        let needs = world.needs_all(&name(call));
        for other in ran.calls.iter().filter(|c| c.verb != Verb::Delete) {
            if !needs.contains(&*name(other)) {
                continue;
            }
            if other.end.is_none_or(|end| end > call.begin) {
                out.push(format!(
                    "{} was begun before {}, which it needs, was done",
                    call.at, other.at
                ));
            } else if !other.done {
                out.push(format!(
                    "{} was begun although {}, which it needs, failed",
                    call.at, other.at
                ));
            }
        }
    }
    let deletes: Vec<&Call> = ran
        .calls
        .iter()
        .filter(|c| c.verb == Verb::Delete)
        .collect();
    for call in &deletes {
        let known = |c: &&&Call| c.id.as_ref().is_none_or(|id| !strays.contains(id));
        for other in deletes.iter().filter(known) {
            let needs = call.id.as_ref().is_some_and(|id| other.links.contains(id));
            if !needs {
                continue;
            }
            if other.end.is_none_or(|end| end > call.begin) {
                out.push(format!(
                    "{} was destroyed before {}, which was made from it",
                    call.at, other.at
                ));
            } else if !other.done {
                out.push(format!(
                    "{} was destroyed although {}, made from it, was not",
                    call.at, other.at
                ));
            }
        }
    }
    out
}

/// What a run did that its mode does not say.
fn beyond(world: &World, step: &Step, ran: &Ran) -> Vec<String> {
    let mut out = Vec::new();
    let name = |call: &Call| call.at.split('/').next().unwrap_or_default().to_owned();
    for call in &ran.calls {
        let of = name(call);
        let wrong = match step.mode {
            Mode::RefreshOnly => true,
            Mode::Destroy => call.verb != Verb::Delete,
            Mode::Target(t) => {
                world.blocks.contains_key(&*of) && of != t && !world.needs_all(t).contains(&*of)
            }
            Mode::Exclude(t) => of == t || world.needs_all(&of).contains(t),
            Mode::DestroyTarget(_) => call.verb != Verb::Delete,
            Mode::Normal | Mode::Replace(_) | Mode::WithoutRefresh => false,
        };
        if wrong {
            out.push(format!(
                "{:?} of {} in mode {:?}",
                call.verb, call.at, step.mode
            ));
        }
    }
    let imports = !world.imports.is_empty();
    if step.mode == Mode::WithoutRefresh && ran.reads > 0 && !imports && ran.faults.is_empty() {
        out.push(format!("{} reads without refresh", ran.reads));
    }
    if let (Mode::Replace(t), true) = (&step.mode, ran.complete)
        && let Some(address) = first(world, t)
        && !ran.changes.iter().any(|c| {
            c.ends_with(&address) && (c.starts_with("Create") || c.starts_with("DeleteThenCreate"))
        })
    {
        out.push(format!("{address} was not replaced: {:?}", ran.changes));
    }
    out
}

/// Summaries with which a plan may be refused here.
const REFUSALS: [&str; 8] = [
    "Operation of unknown outcome",
    "Resource postcondition failed",
    "Cannot import non-existent remote object",
    "Scripted",
    "Instance cannot be destroyed",
    "Moved resource instances excluded by targeting",
    "Resource has no configuration",
    "Unresolved resource instance address changes",
];

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
        outside(&scene, &step);
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
        let (root, module) = world.texts();
        let _ = write!(told, "# step {number}: {step:?}\n{root}\n# m\n{module}\n");
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
            (world.moved.is_some() && ran.complete, "moved"),
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
        let mut why = broken(&scene, &world, &step, &ran).await;
        why.extend(disordered(&scene, &world, &ran));
        // what was moved bears the name it had
        moved |= world.moved.is_some();
        if !moved {
            why.extend(beyond(&world, &step, &ran));
        }
        let died = step.death.is_some_and(|(at, _)| at < ran.writes);
        if !ran.faults.is_empty() && !ran.killed && !died && (ran.complete || !ran.errors) {
            why.push(format!("Faults were not told: {:?}", ran.faults));
        }
        if ran.faults.is_empty() && !died && !ran.complete {
            let meant = REFUSALS
                .iter()
                .any(|r| ran.said.contains(&format!("Error {r}")));
            if !meant {
                why.push("It failed for no reason".to_owned());
            }
        }
        if !why.is_empty() {
            return fail(&told, &why);
        }
    }
    // whatever was left, a run gets through
    for block in world.blocks.values_mut() {
        block.prevents_destroy = false;
        block.demands = false;
    }
    world.imports.clear();
    settled(&scene, &world).await;
    for mode in [Mode::Normal, Mode::Destroy] {
        let step = Step {
            mode: mode.clone(),
            script: Script::default(),
            outside: Vec::new(),
            death: None,
            parallelism: 10,
            silent: false,
        };
        let _ = write!(told, "# in the end: {mode:?}\n{}\n", world.texts().0);
        let ran = run(&scene, &world, &step).await;
        let _ = writeln!(told, "# did {:?}\n# said {}", ran.calls, ran.said);
        {
            let mut cloud = guard(&scene.cloud);
            cloud.gone.clear();
            cloud.drifted.clear();
        }
        let mut why = broken(&scene, &world, &step, &ran).await;
        why.extend(disordered(&scene, &world, &ran));
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

/// The user looks at the world and says what became of each open operation.
async fn settled(scene: &Scene, world: &World) {
    if !guard(&scene.cloud).silent {
        return;
    }
    let calm = Step {
        mode: Mode::Normal,
        script: Script::default(),
        outside: Vec::new(),
        death: None,
        parallelism: 1,
        silent: true,
    };
    for _ in 0..50 {
        let (session, _, _) = process(scene, world, &calm);
        let (view, _) = formwork_ops::read_state(&session).await.expect("readable");
        let Some(pending) = view.pending.first() else {
            return;
        };
        let word = {
            let cloud = guard(&scene.cloud);
            let effect = pending.notes.last().and_then(|n| cloud.effects.get(&**n));
            let id = match (effect, &pending.begun.prior) {
                (Some(effect), _) => effect.after.as_ref().and_then(|o| thing::text(o, "id")),
                (None, None) => None,
                (None, Some(prior)) => {
                    let json = prior.attributes_json().expect("JSON").get();
                    let value = value_from_json(json.as_bytes(), &SCHEMA.ty()).expect("a thing");
                    thing::text(&value, "id")
                }
            };
            // what others have deleted since is not there either
            id.filter(|id| cloud.objects.contains_key(id))
                .map_or(Word::NotThere, Word::Exists)
        };
        let address = pending.begun.address.clone();
        if formwork_ops::settle_by_word(&session, &address, &word)
            .await
            .is_err()
        {
            return;
        }
    }
}

/// What others do.
fn outside(scene: &Scene, step: &Step) {
    let mut cloud = guard(&scene.cloud);
    for (which, meddling) in &step.outside {
        let ids: Vec<String> = cloud.objects.keys().cloned().collect();
        let Some(id) = ids.get(which % ids.len().max(1)) else {
            continue;
        };
        let object = cloud.objects[id].clone();
        match meddling {
            Meddling::Delete => {
                cloud.objects.remove(id);
                cloud.gone.insert(id.clone());
            }
            Meddling::Change => {
                let other = thing::with(&object, &[("note", Value::string("drift"))]);
                cloud.objects.insert(id.clone(), other);
                cloud.drifted.insert(id.clone());
            }
            Meddling::Copy => {
                let copy = format!("{id}-copy");
                // made from nothing: nobody could know what it hangs on
                let own = [
                    ("id", Value::string(&copy)),
                    ("at", Value::string("stray/")),
                    ("links", Value::null(Type::list(Type::String))),
                ];
                let other = thing::with(&object, &own);
                cloud.objects.insert(copy.clone(), other);
                cloud.strays.insert(copy);
            }
        }
    }
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
