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
//! A first life without kills tells which calls each step makes. Points are drawn from them by a seed,
//! those first whose call, file or peer, or number of journal entries was not met yet. What a point was
//! is read from the trace and the journal after the death.
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
use crate::lab::{BACKEND, Lab};
use crate::strace::{self, CALLS, Injection, Traced};
use crate::truth::{self, Cloud};
use crate::{APPLY, DESTROY, Draw, PLAN};
use formwork_testkit::{Scenario, budget};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

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
terraform {{
  required_providers {{
    google = {{
      source = "hashicorp/google"
    }}
  }}
}}

provider "google" {{
  project = "formwork-mock"
  region  = "us-central1"
  zone    = "us-central1-b"
}}

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
    /// Whether it is tried again if the run is over before.
    again: bool,
}

/// What tells one point from another.
type Key = (String, String, u64);

/// The points of a run that went through, one for each kind of call, target, and length of the journal.
fn candidates(lab: &Lab, traced: &Traced) -> Vec<Candidate> {
    let journal = lab.journal().to_string_lossy().into_owned();
    let mut durable: Vec<usize> = match lab.in_bucket {
        true => Vec::new(),
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
            // in a bucket, the journal's length is not to be seen here
            let length = if lab.in_bucket { *when } else { entries };
            let kind = (name.to_owned(), call.target(), length);
            // another thread that comes to this number first is the one that dies
            if reached.insert((name, *when)) && kinds.insert(kind) {
                found.push(Candidate {
                    call: name.to_owned(),
                    target: call.target(),
                    entries: u64::try_from(length).unwrap_or(0),
                    when: *when,
                    on_journal,
                    again: true,
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
    candidates: BTreeMap<&'static str, Vec<Candidate>>,
    /// The points at which a run has died, and in which steps.
    points: BTreeMap<Key, BTreeSet<&'static str>>,
    large: bool,
    killed: usize,
    survived: usize,
    /// Steps that were killed, and those whose recovery was killed too.
    steps: (usize, usize),
}

impl Tally {
    /// Draws where a step is killed next: something new if there is any left; else, where there are
    /// many steps to come, nothing.
    fn draw(&mut self, step: &'static str, draw: &mut Draw) -> Option<Candidate> {
        let all = self.candidates.get_mut(step)?;
        let points = &self.points;
        let new = all
            .iter()
            .position(|c| !points.contains_key(&(c.call.clone(), c.target.clone(), c.entries)));
        match new {
            Some(at) => Some(all.remove(at)),
            None if all.is_empty() || self.large => None,
            None => Some(all.remove(draw.up_to(all.len()) - 1)),
        }
    }

    /// How often a step is killed before it is let through: a third of the small ones twice, the large
    /// ones up to four times.
    fn kills(&self, step: &'static str, draw: &mut Draw) -> usize {
        let left = self.candidates.get(step).map_or(0, Vec::len);
        match draw.up_to(3) {
            times if left > 100 => 1 + times,
            1 => 2,
            _ => 1,
        }
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
            .filter(|call| !calls.contains_key(call))
            .collect();
        println!("calls that no run makes: {never:?}");
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

/// Runs the command of a step, perhaps under strace. What was done already is not done again.
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

/// Takes a lab through a step. With a draw, it is killed.
fn go(lab: &Lab, step: &Step, each: usize, tally: &mut Tally, mut draw: Option<&mut Draw>) {
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
    let before = Cloud::of(lab).objects;
    let known = remembered(lab);
    let command: Vec<&str> = step.command.iter().map(String::as_str).collect();
    let mut made = BTreeMap::new();
    let mut made_in_state = BTreeMap::new();
    match &mut draw {
        None => {
            let traced = strace::run(lab, &command, None, ALL);
            assert_eq!(traced.code, Some(0), "{}: {}", step.name, traced.output);
            let found = candidates(lab, &traced);
            tally.candidates.insert(step.name, found);
        }
        Some(draw) => {
            let kills = tally.kills(step.name, draw);
            let mut killed = 0;
            for _ in 0..kills {
                if !recovers(lab, step) {
                    break;
                }
                let Some(candidate) = tally.draw(step.name, draw) else {
                    break;
                };
                if kill(lab, step, &command, &candidate, tally) {
                    killed += 1;
                    if lab.in_bucket {
                        lab.lose_the_folder(|env| {
                            env.write("root/main.tf", &text);
                        });
                    }
                }
                made.extend(
                    Cloud::of(lab)
                        .objects
                        .into_iter()
                        .filter(|(link, birth)| before.get(link) != Some(birth)),
                );
                made_in_state.extend(
                    remembered(lab)
                        .into_iter()
                        .filter(|(id, _)| !known.contains_key(id)),
                );
            }
            tally.steps.0 += usize::from(killed > 0);
            tally.steps.1 += usize::from(killed > 1);
            if recovers(lab, step) {
                lab.run(&command).exits(0);
            }
        }
    }
    let what = step.name;
    let (cloud, _) = truth::check_agreement(lab, what);
    let now = remembered(lab);
    for (link, birth) in &before {
        let name = link.rsplit('/').next().unwrap_or_default();
        if !step.ends.iter().any(|end| name.starts_with(end)) {
            let there = cloud.objects.get(link);
            assert_eq!(there, Some(birth), "{what}: {link} was there before");
        }
    }
    for (link, birth) in &made {
        let there = cloud.objects.get(link);
        assert_eq!(there, Some(birth), "{what}: {link} was made before a kill");
    }
    for (id, address) in &made_in_state {
        assert_eq!(
            now.get(id),
            Some(address),
            "{what}: {address} was made before a kill"
        );
    }
    if !["replace, deleted first", "delete", "destroy"].contains(&step.name) {
        for (id, address) in &known {
            assert_eq!(
                now.get(id),
                Some(address),
                "{what}: {address} was there before"
            );
        }
    }
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

/// Runs a step's command and kills it at a point; whether it died there.
fn kill(
    lab: &Lab,
    step: &Step,
    command: &[&str],
    candidate: &Candidate,
    tally: &mut Tally,
) -> bool {
    let mut injection = Injection::kill(&candidate.call, candidate.when);
    if candidate.on_journal {
        injection = injection.on([lab.journal().to_string_lossy().into_owned()]);
    }
    let traced = strace::run(lab, command, Some(&injection), 32);
    if let Some(code) = traced.code {
        // threads take turns in another order now and then
        if let (true, Some(all)) = (candidate.again, tally.candidates.get_mut(step.name)) {
            all.push(Candidate {
                again: false,
                ..candidate.clone()
            });
        }
        assert_eq!(
            code, 0,
            "{} failed before it was killed ({injection:?})\n{}",
            step.name, traced.output
        );
        tally.survived += 1;
        return false;
    }
    let journal = lab.journal_bytes();
    let unsynced = match lab.in_bucket {
        true => 0,
        false => traced.unsynced(&lab.journal()),
    };
    let durable = journal.len() - usize::try_from(unsynced).unwrap_or(0);
    let lines = journal
        .iter()
        .take(durable)
        .filter(|b| **b == b'\n')
        .count();
    // the first line is the head
    let entries = u64::try_from(lines.saturating_sub(1)).unwrap_or(0);
    let target = match traced.hit(&injection) {
        Some(call) => call.target(),
        None => candidate.target.clone(),
    };
    tally.killed += 1;
    tally
        .points
        .entry((candidate.call.clone(), target, entries))
        .or_default()
        .insert(step.name);
    true
}

/// Takes lives until so many runs were killed.
fn lives(runs: usize, in_bucket: bool) -> Tally {
    let large = runs >= 100;
    let each = match (large, in_bucket) {
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
    let binary = strace::binary();
    let begin = |life: u64| {
        let scenario = Scenario::new()
            .with("seed", serde_json::json!(seed + life))
            .taking(1, 5);
        let mut lab = Lab::of(binary, &scenario, "root", |_| {});
        lab.in_bucket = in_bucket;
        lab
    };
    let mut tally = Tally {
        large,
        ..Tally::default()
    };
    let lab = begin(0);
    for step in steps() {
        go(&lab, &step, each, &mut tally, None);
    }
    drop(lab);
    let mut draw = Draw(seed);
    for all in tally.candidates.values_mut() {
        for at in (1..all.len()).rev() {
            all.swap(at, draw.up_to(at + 1) - 1);
        }
    }
    for life in 1.. {
        let tried = tally.killed + tally.survived;
        // those that were over before their call came are not counted, but not without end
        if tally.killed >= runs || tried >= 3 * runs {
            break;
        }
        let lab = begin(life);
        for step in steps() {
            go(&lab, &step, each, &mut tally, Some(&mut draw));
        }
        println!(
            "life {life}: {} runs killed, {} distinct points",
            tally.killed,
            tally.distinct()
        );
        if tried == tally.killed + tally.survived {
            println!("there is no point left that was not tried");
            break;
        }
    }
    tally.print();
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
    lives(runs / 2, true);
}
