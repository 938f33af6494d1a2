//! Killed at every kind of call, over the whole life of a configuration.
//!
//! The binary runs under `strace -e inject=CALL:signal=SIGKILL:when=N` ([`crate::strace`]), without any
//! hook of its own; the mock cloud is another process. A configuration of objects of Google and of
//! `terraform_data` is created, refreshed, updated, replaced in both orders, moved by `state mv`,
//! imported by the command and by blocks, deleted in part and destroyed. Each of these steps is killed;
//! in a third of them the run that recovers is killed too; then one runs to its end. Afterwards:
//!
//! * the state holds exactly what is in the cloud, no object is tainted or deposed, nothing is open in
//!   the journal, and the plan is empty (0 lost, 0 twice, 0 orphaned);
//! * what the step does not replace or delete is the same object as before;
//! * what was made by a run that was killed is still there and still the same object, `terraform_data`
//!   included, whose objects are nowhere but in the state.
//!
//! A first life without kills tells which calls each step makes, and keeps a copy of folder and cloud
//! before each: every kill begins with one of these copies, and as many are done side by side as there
//! are cores. The steps take turns. Points are drawn from the calls by a seed, those first whose call,
//! file or peer, or number of journal entries was not met yet; where a run is over before its call came,
//! it is not counted, and another number is tried. What a point was is read from the trace and the
//! journal after the death. Calls that are never killed at are named: those that stand in no trace.
//!
//! With the state in the mock's storage (`backend "gcs"`), the folder of the root module is deleted after
//! each death, so that the run that recovers has nothing but the configuration; the lock that the dead
//! run has left in the bucket is released by `force-unlock`.
//!
//! One run is killed for every second of `FORMWORK_TEST_BUDGET` (10 without). With a budget of 300 or
//! more it is the release binary that runs, which is then built, and the configuration is larger; a
//! smaller one runs what cargo has built for the tests. `FORMWORK_BIN` names another binary. At least
//! 500 distinct points, and half as many runs killed with the state in a bucket:
//!
//! ```text
//! FORMWORK_TEST_BUDGET=900 cargo test -p formwork --test kill points -- --nocapture --test-threads=1
//! ```

use crate::durable::{ALL, entries};
use crate::lab::{BACKEND, GOOGLE, Lab, Saved, side_by_side};
use crate::strace::{self, CALLS, Injection, Traced};
use crate::truth::{self, Cloud};
use crate::{APPLY, DESTROY, Draw, PLAN};
use formwork_testkit::{Scenario, budget};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Instant;

/// How much of each kind there is, and what has become of it.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// How many of a kind.
    pub each: usize,
    /// How far it has come.
    pub stage: Stage,
}

/// How far the configuration has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Made,
    Drifted,
    Updated,
    ReplacedAfter,
    ReplacedBefore,
    Moved,
    Imported,
    ImportedByBlock,
    Deleted,
}

impl Shape {
    /// The configuration.
    pub fn text(self) -> String {
        let Self { each, stage } = self;
        let from = |when: Stage, new: &'static str, old: &'static str| {
            if stage >= when { new } else { old }
        };
        let version = from(Stage::Updated, "two", "one");
        let described = from(
            Stage::Updated,
            "two",
            from(Stage::Drifted, "drifted", "one"),
        );
        let octet = from(Stage::ReplacedAfter, "2", "1");
        let trigger = from(Stage::ReplacedAfter, "two", "one");
        let first = from(Stage::ReplacedBefore, "two", "one");
        let kept = from(Stage::Moved, "moved", "kept");
        let count = if stage >= Stage::Deleted { 1 } else { each };
        let mut text = format!(
            r#"
{GOOGLE}
resource "google_compute_network" "n" {{
  name                    = "n"
  auto_create_subnetworks = false
}}

resource "google_compute_subnetwork" "s" {{
  count         = {count}
  name          = "s-${{count.index}}"
  network       = google_compute_network.n.id
  ip_cidr_range = "10.${{count.index}}.{octet}.0/24"
}}

resource "google_compute_firewall" "f" {{
  count         = {each}
  name          = "f-${{count.index}}"
  network       = google_compute_network.n.id
  description   = count.index == 0 ? "{described}" : "{version}"
  source_ranges = ["10.0.0.0/24"]

  allow {{
    protocol = "icmp"
  }}
}}

resource "google_compute_disk" "{kept}" {{
  count  = {count}
  name   = "kept-${{count.index}}"
  size   = 10
  labels = {{ version = "{version}" }}
}}

resource "google_compute_disk" "first" {{
  count = {count}
  name  = "first-{first}-${{count.index}}"
  size  = 10

  lifecycle {{
    create_before_destroy = true
  }}
}}

resource "google_service_account" "a" {{
  account_id = "account-a"
}}

resource "google_project_iam_member" "a" {{
  project = "formwork-mock"
  role    = "roles/viewer"
  member  = google_service_account.a.member
}}

resource "terraform_data" "t" {{
  count            = {count}
  input            = "{version} ${{google_compute_network.n.name}}"
  triggers_replace = "{trigger}"
}}
"#
        );
        if stage == Stage::ImportedByBlock {
            for number in 0..each {
                text.push_str(&format!(
                    "\nimport {{\n  to = google_compute_firewall.f[{number}]\n  id = \"{}\"\n}}\n",
                    firewall(number)
                ));
            }
        }
        text
    }
}

/// The id by which a firewall is imported.
fn firewall(number: usize) -> String {
    format!("projects/formwork-mock/global/firewalls/f-{number}")
}

/// What is done, and what of the objects that were there is replaced or deleted by it.
struct Step {
    name: &'static str,
    stage: Option<Stage>,
    command: Vec<String>,
    /// What the last components of links begin with.
    ends: &'static [&'static str],
}

const REFRESH: [&str; 4] = ["apply", "-refresh-only", "-auto-approve", "-input=false"];

fn steps() -> Vec<Step> {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let step = |name, stage, command: &[&str], ends| Step {
        name,
        stage: Some(stage),
        command: words(command),
        ends,
    };
    vec![
        step("create", Stage::Made, &APPLY, &[]),
        step("refresh", Stage::Drifted, &REFRESH, &[]),
        step("update", Stage::Updated, &APPLY, &[]),
        step(
            "replace, deleted first",
            Stage::ReplacedAfter,
            &APPLY,
            &["s-"],
        ),
        step(
            "replace, created first",
            Stage::ReplacedBefore,
            &APPLY,
            &["first-one"],
        ),
        step(
            "state mv",
            Stage::Moved,
            &[
                "state",
                "mv",
                "google_compute_disk.kept",
                "google_compute_disk.moved",
            ],
            &[],
        ),
        step(
            "import",
            Stage::Imported,
            &[
                "import",
                "-input=false",
                "google_compute_firewall.f[0]",
                &firewall(0),
            ],
            &[],
        ),
        step("import by block", Stage::ImportedByBlock, &APPLY, &[]),
        step(
            "delete",
            Stage::Deleted,
            &APPLY,
            &["s-", "kept-", "first-two"],
        ),
        Step {
            name: "destroy",
            stage: None,
            command: words(&DESTROY),
            ends: &[""],
        },
    ]
}

/// Where a run may be killed: the first thread that comes to its `when`th such call.
#[derive(Clone, Debug)]
struct Candidate {
    call: String,
    target: String,
    /// How many entries were durable before.
    entries: u64,
    when: usize,
    /// Whether only calls on the journal are counted.
    on_journal: bool,
}

/// What tells one point from another.
type Key = (String, String, u64);

/// For each entry of a journal in a bucket, the line of the trace at which it was sent, roughly that from
/// which on it was durable.
fn sent(traced: &Traced) -> Vec<usize> {
    let mut found = Vec::new();
    for call in &traced.calls {
        if !call.name.starts_with("write") || call.target() != "mock" {
            continue;
        }
        let texts = call.texts().concat();
        let text = String::from_utf8_lossy(&texts);
        if text.lines().next().is_some_and(|l| l.contains("tfjournal")) {
            let number = text.matches("\"entry\":").count();
            found.extend(std::iter::repeat_n(call.ended, number));
        }
    }
    found
}

/// The points of a run that went through, one for each kind of call, target, and length of the journal.
fn candidates(lab: &Lab, traced: &Traced) -> Vec<Candidate> {
    let journal = lab.journal().to_string_lossy().into_owned();
    let mut durable: Vec<usize> = match lab.in_bucket {
        true => sent(traced),
        false => entries(traced, &journal)
            .iter()
            .map(|e| e.durable)
            .collect(),
    };
    durable.sort_unstable();
    let mut found = Vec::new();
    let mut kinds = BTreeSet::new();
    for on_journal in [true, false] {
        let mut counts = BTreeMap::<(u32, &str), usize>::new();
        let mut reached = BTreeSet::<(&str, usize)>::new();
        for call in &traced.calls {
            let mine = call.path() == Some(&journal);
            let name = call.name.as_str();
            if !CALLS.contains(&name) || on_journal && !mine {
                continue;
            }
            let when = counts.entry((call.thread, name)).or_default();
            *when += 1;
            let entries = durable.partition_point(|line| *line < call.begun);
            let kind = (name.to_owned(), call.target(), entries);
            // another thread that comes to this number first is the one that dies
            if reached.insert((name, *when)) && kinds.insert(kind) {
                found.push(Candidate {
                    call: name.to_owned(),
                    target: call.target(),
                    entries: u64::try_from(entries).unwrap_or(0),
                    when: *when,
                    on_journal,
                });
            }
        }
    }
    found
}

/// What the harness has come to.
#[derive(Default)]
struct Tally {
    /// Of each step, where it may be killed; in the order in which that is tried.
    candidates: Vec<Vec<Candidate>>,
    /// The step that comes next.
    turn: usize,
    /// How many runs are to be killed, and how many points were given out for that.
    wanted: usize,
    given: usize,
    /// What was given out already.
    tried: BTreeSet<Key>,
    /// The points at which a run has died, and in which steps.
    points: BTreeMap<Key, BTreeSet<&'static str>>,
    /// The calls that any traced run has made.
    seen: BTreeSet<String>,
    killed: usize,
    survived: usize,
    /// Steps that were killed, and those whose recovery was killed too.
    steps: (usize, usize),
}

/// What is tried next.
struct Job {
    /// Which step.
    step: usize,
    candidate: Candidate,
    /// Where the run that recovers is killed.
    recovery: Option<Candidate>,
    draw: Draw,
}

impl Tally {
    /// Gives out where which step is killed next: the steps take turns; something new if there is any
    /// left. A third of the steps has its recovery killed too.
    fn next(&mut self, seed: u64) -> Option<Job> {
        if self.killed >= self.wanted || self.given >= 2 * self.wanted {
            return None;
        }
        let steps = self.candidates.len();
        let key = |c: &Candidate| (c.call.clone(), c.target.clone(), c.entries);
        for new in [true, false] {
            for step in (0..steps).map(|n| (self.turn + n) % steps) {
                let all = &self.candidates[step];
                let fits = |c: &Candidate| {
                    !new || !self.points.contains_key(&key(c)) && !self.tried.contains(&key(c))
                };
                let Some(at) = all.iter().position(fits) else {
                    continue;
                };
                let mut draw = Draw(seed ^ (self.given as u64).rotate_left(40));
                self.given += 1;
                self.turn = step + 1;
                let recovery = (self.steps.1 * 3 <= self.steps.0).then(|| {
                    let mut other = all[draw.up_to(all.len()) - 1].clone();
                    // there is less to do for a run that recovers
                    other.when = draw.up_to(other.when.div_ceil(2));
                    other
                });
                let candidate = self.candidates[step].remove(at);
                self.tried.insert(key(&candidate));
                return Some(Job {
                    step,
                    candidate,
                    recovery,
                    draw,
                });
            }
        }
        None
    }

    /// Takes note of the calls that a run has made.
    fn saw(&mut self, traced: &Traced) {
        let names = traced.calls.iter().map(|call| call.name.as_str());
        let names = names.filter(|name| CALLS.contains(name));
        let new: BTreeSet<&str> = names.filter(|name| !self.seen.contains(*name)).collect();
        self.seen.extend(new.into_iter().map(str::to_owned));
    }

    fn distinct(&self) -> usize {
        self.points.len()
    }

    fn print(&self) {
        let mut calls = BTreeMap::<&str, usize>::new();
        let mut targets = BTreeSet::new();
        for (call, target, _) in self.points.keys() {
            *calls.entry(call).or_default() += 1;
            targets.insert(target.as_str());
        }
        let mut steps = BTreeMap::<&str, usize>::new();
        for step in self.points.values().flatten() {
            *steps.entry(step).or_default() += 1;
        }
        println!("points by call: {calls:?}");
        println!("points by step: {steps:?}");
        println!("files and peers: {targets:?}");
        let never: Vec<&str> = CALLS
            .into_iter()
            .filter(|call| !self.seen.contains(*call))
            .collect();
        println!("calls that stand in no trace, killed or not: {never:?}");
        println!(
            "{} runs killed ({} were over before), in {} steps, of which {} had their recovery killed too: {} \
             distinct points; 0 lost, 0 twice, 0 orphaned",
            self.killed,
            self.survived,
            self.steps.0,
            self.steps.1,
            self.distinct()
        );
    }
}

/// The ids of the objects that the state and its journal remember, `terraform_data` alone.
fn remembered(lab: &Lab) -> BTreeMap<String, String> {
    let pulled = lab.run(&["state", "pull"]);
    pulled.exits(0);
    let mut found = BTreeMap::new();
    let Ok(state) = serde_json::from_str::<Value>(&pulled.stdout) else {
        return found;
    };
    for resource in state["resources"].as_array().into_iter().flatten() {
        if resource["type"] != "terraform_data" {
            continue;
        }
        for instance in resource["instances"].as_array().into_iter().flatten() {
            let address = format!("{}[{}]", resource["name"], instance["index_key"]);
            let id = instance["attributes"]["id"].as_str().expect("an id");
            found.insert(id.to_owned(), address);
        }
    }
    found
}

/// Whether a step's command is what recovers. What was done already is not done again.
fn recovers(lab: &Lab, step: &Step) -> bool {
    let moved = "google_compute_disk.moved";
    let imported = "google_compute_firewall.f[0]";
    let done = match step.name {
        "state mv" => Some(moved),
        "import" => Some(imported),
        _ => None,
    };
    let Some(done) = done else { return true };
    let list = lab.run(&["state", "list"]);
    list.exits(0);
    !list.stdout.lines().any(|line| line.starts_with(done))
}

/// A step that is about to be done, as often as one likes.
struct Ready {
    step: Step,
    text: String,
    saved: Saved,
    /// The objects of the cloud.
    before: BTreeMap<String, String>,
    /// Those that are nowhere but in the state.
    known: BTreeMap<String, String>,
    /// How many requests the cloud has had.
    logged: usize,
}

impl Ready {
    /// Makes a lab ready for a step.
    fn new(lab: &mut Lab, step: Step, each: usize, scenario: &Scenario) -> Self {
        let shape = Shape {
            each,
            stage: step.stage.unwrap_or(Stage::Deleted),
        };
        let mut text = shape.text();
        if lab.in_bucket {
            text.push_str(BACKEND);
        }
        lab.env.write("root/main.tf", &text);
        match step.name {
            "refresh" => lab.outside(
                "PATCH",
                "/compute/compute/v1/projects/formwork-mock/global/firewalls/f-0",
                r#"{"description": "drifted"}"#,
            ),
            "import" => {
                lab.run(&["state", "rm", "google_compute_firewall.f[0]"])
                    .exits(0);
            }
            "import by block" => {
                lab.run(&["state", "rm", "google_compute_firewall.f"])
                    .exits(0);
            }
            _ => {}
        }
        Self {
            before: Cloud::of(lab).objects,
            known: remembered(lab),
            logged: lab.log().len(),
            saved: lab.save(scenario),
            step,
            text,
        }
    }

    fn command(&self) -> Vec<&str> {
        self.step.command.iter().map(String::as_str).collect()
    }

    /// What must be true when the step is done. `made` and `made_in_state` were there at a death.
    fn check(
        &self,
        lab: &Lab,
        made: &BTreeMap<String, String>,
        made_in_state: &BTreeMap<String, String>,
    ) {
        let Self { step, .. } = self;
        let what = step.name;
        let (cloud, _) = truth::check_agreement(lab, what);
        let now = remembered(lab);
        for (link, birth) in &self.before {
            let name = link.rsplit('/').next().unwrap_or_default();
            if !step.ends.iter().any(|end| name.starts_with(end)) {
                let there = cloud.objects.get(link);
                assert_eq!(there, Some(birth), "{what}: {link} was there before");
            }
        }
        for (link, birth) in made {
            let there = cloud.objects.get(link);
            assert_eq!(there, Some(birth), "{what}: {link} was made before a kill");
        }
        for (id, address) in made_in_state {
            let there = now.get(id);
            assert_eq!(
                there,
                Some(address),
                "{what}: {address} was made before a kill"
            );
        }
        if !["replace, deleted first", "delete", "destroy"].contains(&what) {
            for (id, address) in &self.known {
                let there = now.get(id);
                assert_eq!(there, Some(address), "{what}: {address} was there before");
            }
        }
        let log = lab.log().split_off(self.logged);
        let twice = truth::made_twice(&log);
        assert!(twice.is_empty(), "{what}: made more than once: {twice:#?}");
        if step.stage.is_none() {
            assert!(
                cloud.objects.is_empty(),
                "{what}: left: {:?}",
                cloud.objects
            );
            assert!(truth::state(lab).is_empty(), "{what}");
        } else {
            lab.run(&PLAN).exits(0);
        }
    }

    /// Does the step, killed as the job says, and again to its end.
    fn killed(&self, job: Job, tally: &Mutex<Tally>, scenario: &Scenario, in_bucket: bool) {
        let Job {
            candidate,
            recovery,
            mut draw,
            ..
        } = job;
        let mut candidate = candidate;
        // threads take turns in another order now and then: then another number is tried
        let mut tries = 0;
        let lab = loop {
            let mut lab = Lab::again(strace::binary(), scenario, "root", &self.saved);
            lab.in_bucket = in_bucket;
            if kill(&lab, self, &candidate, tally) {
                break lab;
            }
            tries += 1;
            if tries == 4 {
                return;
            }
            candidate.when = draw.up_to(candidate.when.saturating_sub(1));
        };
        let mut made = BTreeMap::new();
        let mut made_in_state = BTreeMap::new();
        let mut looks = |lab: &Lab| {
            if lab.in_bucket {
                lab.lose_the_folder(|env| {
                    env.write("root/main.tf", &self.text);
                });
            }
            let objects = Cloud::of(lab).objects.into_iter();
            made.extend(objects.filter(|(link, birth)| self.before.get(link) != Some(birth)));
            let remembered = remembered(lab).into_iter();
            made_in_state.extend(remembered.filter(|(id, _)| !self.known.contains_key(id)));
        };
        looks(&lab);
        let mut twice = false;
        if let Some(recovery) = recovery
            && recovers(&lab, &self.step)
        {
            twice = kill(&lab, self, &recovery, tally);
            if twice {
                looks(&lab);
            }
        }
        if recovers(&lab, &self.step) {
            lab.run(&self.command()).exits(0);
        }
        self.check(&lab, &made, &made_in_state);
        let mut tally = tally.lock().expect("nobody has panicked");
        tally.steps.0 += 1;
        tally.steps.1 += usize::from(twice);
    }
}

/// Runs a step's command and kills it at a point; whether it died there.
fn kill(lab: &Lab, ready: &Ready, candidate: &Candidate, tally: &Mutex<Tally>) -> bool {
    let mut injection = Injection::kill(&candidate.call, candidate.when);
    if candidate.on_journal {
        injection = injection.on([lab.journal().to_string_lossy().into_owned()]);
    }
    let traced = strace::run(lab, &ready.command(), Some(&injection), 32);
    let name = ready.step.name;
    if let Some(code) = traced.code {
        assert_eq!(
            code, 0,
            "{name} failed before it was killed ({injection:?})\n{}",
            traced.output
        );
        let mut tally = tally.lock().expect("nobody has panicked");
        tally.survived += 1;
        return false;
    }
    let journal = lab.journal_bytes();
    let unsynced = match lab.in_bucket {
        true => 0,
        false => traced.unsynced(&lab.journal()),
    };
    let durable = journal.len() - usize::try_from(unsynced).unwrap_or(0);
    let journal = journal.iter().take(durable);
    let lines = journal.filter(|b| **b == b'\n').count();
    // the first line is the head
    let entries = u64::try_from(lines.saturating_sub(1)).unwrap_or(0);
    let target = match traced.hit(&injection) {
        Some(call) => call.target(),
        None => candidate.target.clone(),
    };
    let mut tally = tally.lock().expect("nobody has panicked");
    tally.saw(&traced);
    tally.killed += 1;
    let point = (candidate.call.clone(), target, entries);
    tally.points.entry(point).or_default().insert(name);
    true
}

/// Takes a life to find the points, and kills so many runs at them.
fn lives(runs: usize, in_bucket: bool) -> Tally {
    let each = match (runs >= 100, in_bucket) {
        (true, _) => 20,
        (false, true) => 1,
        (false, false) => 2,
    };
    let seed = std::env::var("FORMWORK_TEST_SEED").map_or(4, |text| {
        text.parse().expect("FORMWORK_TEST_SEED is a whole number")
    });
    let place = if in_bucket {
        "in a bucket"
    } else {
        "in a file"
    };
    println!("points: state {place}, seed {seed}, {runs} runs to be killed");
    let begun = Instant::now();
    let scenario = Scenario::new()
        .with("seed", serde_json::json!(seed))
        .taking(1, 5);
    let mut lab = Lab::of(strace::binary(), &scenario, "root", |_| {});
    lab.in_bucket = in_bucket;
    let mut tally = Tally {
        wanted: runs,
        ..Tally::default()
    };
    let mut all = Vec::new();
    let mut draw = Draw(seed);
    for step in steps() {
        let ready = Ready::new(&mut lab, step, each, &scenario);
        let traced = strace::run(&lab, &ready.command(), None, ALL);
        assert_eq!(
            traced.code,
            Some(0),
            "{}: {}",
            ready.step.name,
            traced.output
        );
        tally.saw(&traced);
        let mut found = candidates(&lab, &traced);
        for at in (1..found.len()).rev() {
            found.swap(at, draw.up_to(at + 1) - 1);
        }
        tally.candidates.push(found);
        ready.check(&lab, &BTreeMap::new(), &BTreeMap::new());
        all.push(ready);
    }
    drop(lab);
    let points: usize = tally.candidates.iter().map(Vec::len).sum();
    println!(
        "points: {points} found in a life of {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    let tally = Mutex::new(tally);
    let rounds: Vec<()> = vec![(); 2 * runs];
    side_by_side(&rounds, |number, ()| {
        let job = tally.lock().expect("nobody has panicked").next(seed);
        let Some(job) = job else { return };
        let Some(ready) = all.get(job.step) else {
            return;
        };
        ready.killed(job, &tally, &scenario, in_bucket);
        if number % 100 == 99 {
            let tally = tally.lock().expect("nobody has panicked");
            println!(
                "{:.0} s: {} runs killed, {} distinct points",
                begun.elapsed().as_secs_f64(),
                tally.killed,
                tally.distinct()
            );
        }
    });
    let tally = tally.into_inner().expect("nobody has panicked");
    tally.print();
    println!("points: {:.0} s", begun.elapsed().as_secs_f64());
    // a call that is made somewhere is one that runs are killed at, where there are enough of them
    if runs >= 100 {
        for call in &tally.seen {
            let killed = tally.points.keys().any(|(name, ..)| name == call);
            assert!(killed, "no run was killed at {call}");
        }
        assert!(
            tally.steps.1 * 4 >= tally.steps.0,
            "too few recoveries were killed"
        );
    }
    tally
}

#[test]
fn killed_at_every_kind_of_call() {
    if !strace::is_allowed() {
        return;
    }
    let runs = usize::try_from(budget().as_secs()).unwrap_or(10);
    let tally = lives(runs, false);
    if runs >= 900 {
        assert!(tally.distinct() >= 500, "too few points");
    }
}

#[test]
fn killed_with_the_state_in_a_bucket_and_the_folder_lost() {
    if !strace::is_allowed() {
        return;
    }
    let runs = usize::try_from(budget().as_secs()).unwrap_or(10);
    let tally = lives(runs / 2, true);
    if runs >= 900 {
        assert!(tally.distinct() >= 100, "too few points");
    }
}
