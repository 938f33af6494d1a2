//! Rounds: what a provider puts off, and generated configurations with numbers that only apply tells.
//! Light refreshes: what is read.

use crate::beyond::Story;
use crate::places::Places;
use crate::surroundings::{session, text};
use formwork_environment::{Fixed, Randomness};
use formwork_ops::{Limits, PlanOptions, Rounds, Session};
use formwork_plan::{Action, Plan, PlanMode};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

fn story(main: &str) -> (Story, Places) {
    let mut story = Story::of(&[("main.tf", main)]);
    let places = Places::default();
    story.factory = Some(Arc::new(places.clone()));
    (story, places)
}

fn session_of(story: &Story) -> Session {
    let mut session = session(story.path(), Vec::new(), 7);
    if let Some(factory) = &story.factory {
        session.factory = factory.clone();
    }
    session
}

fn told(plan: &Plan) -> Vec<String> {
    let done = plan
        .changes
        .iter()
        .filter(|c| c.action != Action::NoOp)
        .map(|c| format!("{} {}", c.action.word(), c.display_address()));
    let deferred = plan
        .deferred
        .iter()
        .map(|d| format!("deferred {} {}", d.address, d.reason.word()));
    done.chain(deferred).collect()
}

/// Applies in rounds; gives what each plan does and defers, and the errors that end it.
async fn rounds(session: &Session, mut options: PlanOptions) -> (Vec<Vec<String>>, Vec<String>) {
    let mut rounds = Rounds::new();
    let mut all = Vec::new();
    loop {
        let outcome = formwork_ops::plan(session, &options).await;
        let errors = |d: &formwork_diagnostics::Diagnostics| -> Vec<String> {
            let errors = d.iter().filter(|d| d.is_error());
            errors.map(|d| d.summary.clone()).collect()
        };
        let mut said = errors(&outcome.diagnostics);
        let plan = outcome.plan;
        if let Some(plan) = plan.as_ref().filter(|_| said.is_empty()) {
            all.push(told(plan));
            assert_eq!(plan.complete, plan.deferred.is_empty());
            if let Err(d) = rounds.begin(plan) {
                said = errors(&d);
            }
        }
        let (Some(plan), true) = (plan, said.is_empty()) else {
            if let Some(held) = outcome.held {
                let _ = held.release(session).await;
            }
            return (all, said);
        };
        let more = plan.is_deferred();
        Rounds::after(&mut options, &plan);
        let applied = formwork_ops::apply(session, plan, outcome.held).await;
        assert!(
            applied.complete,
            "{}",
            text(&applied.diagnostics, &applied.sources)
        );
        if !more {
            return (all, Vec::new());
        }
    }
}

fn deferring() -> PlanOptions {
    PlanOptions {
        defer: true,
        ..PlanOptions::default()
    }
}

/// Checks what each round does, or the errors at the end.
async fn check(story: &Story, options: PlanOptions, expected: &[&[&str]], errors: &[&str]) {
    let (found, said) = rounds(&session_of(story), options).await;
    assert_eq!(found, expected);
    assert_eq!(said, errors);
}

#[tokio::test]
async fn a_provider_puts_off_what_it_cannot_do_yet() {
    let main = r#"
provider "place" {
  region = "one"
}
resource "place_thing" "a" { name = "a" }
resource "place_thing" "b" { name = "needs-a" }
resource "place_thing" "c" { name = place_thing.b.region }
data "place_region" "d" {}
output "b" { value = place_thing.b.id }
"#;
    let (story_, places) = story(main);
    check(
        &story_,
        deferring(),
        &[
            &[
                "create place_thing.a",
                "deferred data.place_region.d absent_prereq",
                "deferred place_thing.b absent_prereq",
                "deferred place_thing.c deferred_prereq",
            ],
            &["create place_thing.b", "create place_thing.c"],
        ],
        &[],
    )
    .await;
    assert_eq!(places.things(), ["one: a", "one: needs-a", "one: one"]);
    assert_eq!(story_.state()["outputs"]["b"]["value"], "t2");

    // without leave it plans with what it has
    let (story_, places) = story(main);
    let all = [
        "create place_thing.a",
        "create place_thing.b",
        "create place_thing.c",
    ];
    check(&story_, PlanOptions::default(), &[&all], &[]).await;
    assert_eq!(places.things().len(), 3);

    // and must not put anything off
    let (story_, _) = story("resource \"place_thing\" \"a\" { name = \"rude\" }\n");
    let unasked = "Provider deferred changes when deferrals are not allowed";
    check(&story_, PlanOptions::default(), &[], &[unasked]).await;
    check(
        &story_,
        deferring(),
        &[&["deferred place_thing.a resource_config_unknown"]],
        &["Deferred changes make no progress"],
    )
    .await;
}

fn later(token: &str) -> String {
    format!(
        r#"
provider "place" {{
  region = "one"
}}
provider "place" {{
  alias  = "later"
  region = place_thing.a.region
  token  = "{token}"
}}
resource "place_thing" "a" {{ name = "a" }}
resource "place_thing" "b" {{
  provider = place.later
  name     = "b"
}}
data "place_region" "here" {{ provider = place.later }}
resource "place_thing" "c" {{ name = data.place_region.here.region }}
"#
    )
}

#[tokio::test]
async fn a_provider_configured_by_what_the_run_makes() {
    // as Terraform: configured by what is not known, and again when it is
    let (story_, places) = story(&later("any"));
    check(
        &story_,
        PlanOptions::default(),
        &[&[
            "read data.place_region.here",
            "create place_thing.a",
            "create place_thing.b",
            "create place_thing.c",
        ]],
        &[],
    )
    .await;
    assert_eq!(places.things(), ["one: a", "one: b", "one: one"]);

    let (story_, places) = story(&later("any"));
    let rest = ["create place_thing.b", "create place_thing.c"];
    check(
        &story_,
        deferring(),
        &[
            &[
                "read data.place_region.here",
                "create place_thing.a",
                "create place_thing.c",
                "deferred place_thing.b provider_config_unknown",
            ],
            &["create place_thing.b"],
        ],
        &[],
    )
    .await;
    assert_eq!(places.things(), ["one: a", "one: b", "one: one"]);

    // one that does not let itself be configured
    let (story_, places) = story(&later("strict"));
    check(&story_, PlanOptions::default(), &[], &["No region"]).await;
    check(
        &story_,
        deferring(),
        &[
            &[
                "create place_thing.a",
                "deferred data.place_region.here provider_config_unknown",
                "deferred place_thing.b provider_config_unknown",
                "deferred place_thing.c deferred_prereq",
            ],
            &rest,
        ],
        &[],
    )
    .await;
    assert_eq!(places.things(), ["one: a", "one: b", "one: one"]);
}

#[tokio::test]
async fn providers_whose_number_is_not_known() {
    let (story_, places) = story(
        r#"
provider "place" {
  region = "one"
}
resource "place_thing" "a" { name = "a" }
provider "place" {
  alias    = "in"
  for_each = toset([place_thing.a.region])
  region   = each.key
}
resource "place_thing" "b" {
  provider = place.in["one"]
  name     = "b"
}
"#,
    );
    check(
        &story_,
        PlanOptions::default(),
        &[],
        &["Invalid for_each argument"],
    )
    .await;
    check(
        &story_,
        deferring(),
        &[
            &[
                "create place_thing.a",
                "deferred place_thing.b provider_config_unknown",
            ],
            &["create place_thing.b"],
        ],
        &[],
    )
    .await;
    assert_eq!(places.things(), ["one: a", "one: b"]);
}

#[tokio::test]
async fn a_light_refresh_reads_what_is_touched() {
    let main = |b: &str, d: &str| {
        format!(
            r#"
provider "place" {{
  region = "one"
}}
resource "place_thing" "a" {{ name = "a" }}
resource "place_thing" "b" {{
  count = 3
  name  = "{b}${{count.index}}-${{place_thing.a.region}}"
}}
resource "place_thing" "c" {{
  count = 2
  name  = "c${{count.index}}"
}}
{d}
"#
        )
    };
    let (story, places) = story(&main(
        "b",
        "resource \"place_thing\" \"d\" { name = \"d\" }",
    ));
    let light = || PlanOptions {
        only_changed: true,
        ..PlanOptions::default()
    };
    let session = session_of(&story);
    let plan = async |options: PlanOptions| {
        let outcome = formwork_ops::plan(&session, &options).await;
        assert!(!outcome.diagnostics.has_errors());
        (outcome.plan.expect("a plan"), outcome.held)
    };
    let (first, held) = plan(PlanOptions::default()).await;
    assert_eq!(first.not_read, None);
    formwork_ops::apply(&session, first, held).await;
    assert_eq!(places.read(), [] as [&str; 0]);
    let check = async |main: &str, options: PlanOptions, expected: &[&str], read: &[&str], not| {
        story.write("main.tf", main);
        let (plan, held) = plan(options).await;
        assert_eq!(told(&plan), expected);
        assert_eq!(places.read(), read);
        assert_eq!(plan.not_read, not);
        if let Some(held) = held {
            let _ = held.release(&session).await;
        }
    };
    let same = main("b", "resource \"place_thing\" \"d\" { name = \"d\" }");
    check(&same, light(), &[], &[], Some(7)).await;
    let everything = ["a", "b0-one", "b1-one", "b2-one", "c0", "c1", "d"];
    check(&same, PlanOptions::default(), &[], &everything, None).await;
    // what changes, and what it is made from; what is deleted
    check(
        &main("x", ""),
        light(),
        &[
            "update place_thing.b[0]",
            "update place_thing.b[1]",
            "update place_thing.b[2]",
            "delete place_thing.d",
        ],
        &["a", "b0-one", "b1-one", "b2-one", "d"],
        Some(2),
    )
    .await;
    let mut replacing = light();
    let c = "place_thing.c[1]".parse().expect("an address");
    replacing.replace.insert(c);
    check(
        &same,
        replacing,
        &["delete-create place_thing.c[1]"],
        &["c1"],
        Some(6),
    )
    .await;
    // gone outside: seen where the plan comes near, and what depends on it is looked at again
    let gone = {
        let mut world = places.0.lock().expect("whole");
        let key = world.things.iter().find(|(_, name)| *name == "a");
        let key = key.expect("there").0.clone();
        world.things.remove(&key);
        key
    };
    assert_eq!(gone.0, "one");
    check(&same, light(), &[], &[], Some(7)).await;
    check(
        &main("x", ""),
        light(),
        &[
            "create place_thing.a",
            "update place_thing.b[0]",
            "update place_thing.b[1]",
            "update place_thing.b[2]",
            "delete place_thing.d",
        ],
        &["a", "b0-one", "b1-one", "b2-one", "d"],
        Some(2),
    )
    .await;
    let mut unread = light();
    unread.refresh = false;
    check(&same, unread, &[], &[], None).await;
}

#[tokio::test]
async fn a_light_refresh_reads_data_sources_once() {
    let main = |name: &str| {
        format!(
            "provider \"place\" {{\n  region = \"one\"\n}}\nresource \"place_thing\" \"z\" {{ name = \"z\" }}\n\
             data \"place_region\" \"d\" {{}}\nresource \"place_thing\" \"a\" {{ name = \"{name}-${{data.place_region.d.region}}\" }}\n"
        )
    };
    let (story, places) = story(&main("a"));
    story
        .check(&[], &["create place_thing.a", "create place_thing.z"])
        .await;
    story.write("main.tf", &main("b"));
    let light = PlanOptions {
        only_changed: true,
        ..PlanOptions::default()
    };
    check(&story, light, &[&["update place_thing.a"]], &[]).await;
    assert_eq!(places.read(), ["a-one"]);
    assert_eq!(places.things(), ["one: b-one", "one: z"]);
}

// ---------------------------------------------------------------------------------- generated

const SEED: u64 = 20_261_130;

struct Maker(Fixed);

impl Maker {
    fn below(&self, n: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % n
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Single,
    Count,
    Each,
    Module,
}

/// A configuration of blocks, each made from earlier ones.
#[derive(Clone)]
struct World {
    blocks: Vec<(Kind, Option<usize>, u64)>,
}

impl Maker {
    fn world(&self) -> World {
        let size = 2 + usize::try_from(self.below(6)).expect("small");
        let blocks = (0..size)
            .map(|i| {
                let kind = match self.below(7) {
                    0 | 1 => Kind::Single,
                    2 | 3 => Kind::Count,
                    4 | 5 => Kind::Each,
                    _ => Kind::Module,
                };
                let from = (i > 0 && self.below(6) > 0)
                    .then(|| usize::try_from(self.below(i as u64)).expect("small"));
                (kind, from, self.below(5))
            })
            .collect();
        World { blocks }
    }

    /// The same with other numbers, and some of the objects replaced.
    fn next(&self, world: &World) -> World {
        let mut next = world.clone();
        for (_, _, n) in &mut next.blocks {
            if self.below(3) == 0 {
                *n = (*n + 1 + self.below(4)) % 5;
            }
        }
        next
    }
}

impl World {
    /// The numbers that a block hands on: a list, unknown while anything in it is new.
    fn numbers(&self, i: usize) -> String {
        match self.blocks[i].0 {
            Kind::Single => format!("[terraform_data.b{i}.output]"),
            Kind::Count => format!("terraform_data.b{i}[*].output"),
            Kind::Each => format!(
                "[for k in sort(keys(terraform_data.b{i})) : terraform_data.b{i}[k].output]"
            ),
            Kind::Module => format!("flatten(module.b{i}[*].all)"),
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for (i, (kind, from, n)) in self.blocks.iter().enumerate() {
            let list = match from {
                Some(from) => self.numbers(*from),
                None => format!("[{n}]"),
            };
            let _ = writeln!(out, "locals {{\n  l{i} = {list}\n}}");
            let how_many = format!("(sum(concat([{n}], local.l{i})) % 3)");
            let _ = match kind {
                Kind::Single => writeln!(
                    out,
                    "resource \"terraform_data\" \"b{i}\" {{\n  input = {n} + length(local.l{i})\n  triggers_replace = {n}\n}}"
                ),
                Kind::Count => writeln!(
                    out,
                    "resource \"terraform_data\" \"b{i}\" {{\n  count = {how_many}\n  input = count.index + {n}\n  triggers_replace = {n}\n}}"
                ),
                Kind::Each => writeln!(
                    out,
                    "resource \"terraform_data\" \"b{i}\" {{\n  for_each = toset([for x in concat([{n}], local.l{i}) : \"k${{x % 3}}\"])\n  input = length(each.key) + {n}\n}}"
                ),
                Kind::Module => writeln!(
                    out,
                    "module \"b{i}\" {{\n  source = \"./m\"\n  count = {how_many}\n  n = {n} + count.index\n}}"
                ),
            };
            let _ = writeln!(out, "output \"o{i}\" {{\n  value = {}\n}}", self.numbers(i));
        }
        out
    }

    fn target(&self, i: usize) -> String {
        match self.blocks[i].0 {
            Kind::Module => format!("module.b{i}"),
            _ => format!("terraform_data.b{i}"),
        }
    }
}

const MODULE: &str = r#"
variable "n" {}
resource "terraform_data" "x" { input = var.n }
resource "terraform_data" "y" {
  count = terraform_data.x.output % 2 + 1
  input = var.n + count.index
}
output "all" { value = concat([terraform_data.x.output], terraform_data.y[*].output) }
"#;

/// What there is in the end, but for ids.
fn meaning(folder: &Path) -> Json {
    let bytes = std::fs::read(folder.join("terraform.tfstate")).unwrap_or_default();
    let state: Json = serde_json::from_slice(&bytes).unwrap_or_default();
    let mut objects = BTreeMap::new();
    for r in state["resources"].as_array().into_iter().flatten() {
        for i in r["instances"].as_array().into_iter().flatten() {
            let name = format!("{} {} {}", r["module"], r["name"], i["index_key"]);
            let a = &i["attributes"];
            let what = json!([
                a["input"],
                a["output"],
                a["triggers_replace"],
                i["status"],
                i["deposed"]
            ]);
            assert!(objects.insert(name, what).is_none());
        }
    }
    json!({ "objects": objects, "outputs": state["outputs"] })
}

async fn in_steps(folder: &Path, world: &World, seed: u64) {
    let session = session(folder, Vec::new(), seed);
    let mut all: Vec<Vec<String>> = (0..world.blocks.len())
        .map(|i| vec![world.target(i)])
        .collect();
    // what is within a module depends on itself
    for (i, (kind, ..)) in world.blocks.iter().enumerate().rev() {
        if *kind == Kind::Module {
            all.insert(i, vec![format!("module.b{i}.terraform_data.x")]);
        }
    }
    all.push(Vec::new());
    for targets in all {
        let options = PlanOptions {
            limits: Limits {
                targets: targets
                    .iter()
                    .map(|t| t.parse().expect("a target"))
                    .collect(),
                excludes: Vec::new(),
            },
            ..PlanOptions::default()
        };
        let outcome = formwork_ops::plan(&session, &options).await;
        assert!(
            !outcome.diagnostics.has_errors(),
            "{targets:?}: {}",
            text(&outcome.diagnostics, outcome.sources())
        );
        let plan = outcome.plan.expect("a plan");
        let applied = formwork_ops::apply(&session, plan, outcome.held).await;
        assert!(
            applied.complete,
            "{}",
            text(&applied.diagnostics, &applied.sources)
        );
    }
}

/// Rounds end, and leave what steps by -target leave. One world for each second of `FORMWORK_TEST_BUDGET` (10 without).
#[tokio::test]
async fn rounds_are_steps() {
    let budget = std::env::var("FORMWORK_TEST_BUDGET")
        .ok()
        .and_then(|b| b.parse::<u64>().ok());
    let worlds = budget.unwrap_or(10);
    println!("seed {SEED}, {worlds} worlds");
    let (mut most, mut several) = (0, 0);
    for number in 0..worlds {
        let maker = Maker(Fixed::new(0, SEED + number));
        let (ours, theirs) = (tempfile::tempdir(), tempfile::tempdir());
        let (ours, theirs) = (ours.expect("a folder"), theirs.expect("a folder"));
        let (ours, theirs) = (ours.path(), theirs.path());
        let mut world = maker.world();
        for stage in 0..3u64 {
            let main = world.text();
            for folder in [ours, theirs] {
                std::fs::create_dir_all(folder.join("m")).expect("a folder");
                std::fs::write(folder.join("main.tf"), &main).expect("written");
                std::fs::write(folder.join("m/main.tf"), MODULE).expect("written");
            }
            let seed = number * 10 + stage;
            let session = session(ours, Vec::new(), seed);
            let (found, said) = rounds(&session, deferring()).await;
            assert!(
                said.is_empty(),
                "world {number}, stage {stage}: {said:?}\n{found:#?}\n{main}"
            );
            most = most.max(found.len());
            several += usize::from(found.len() > 1);
            let (again, said) = rounds(&session, PlanOptions::default()).await;
            let empty: Vec<Vec<String>> = vec![Vec::new()];
            assert_eq!(
                (again, said),
                (empty, Vec::new()),
                "world {number}, stage {stage}\n{main}"
            );
            in_steps(theirs, &world, seed).await;
            assert_eq!(
                meaning(ours),
                meaning(theirs),
                "world {number}, stage {stage}\n{found:#?}\n{main}"
            );
            world = maker.next(&world);
        }
    }
    println!(
        "{several} of {} runs had several rounds, the longest {most}",
        worlds * 3
    );
    assert!(several * 2 > usize::try_from(worlds).expect("small") && most > 3);
}

/// Destroys by what the provider was configured by: something that there is none of, or that stays.
#[tokio::test]
async fn providers_are_configured_to_destroy() {
    let main = |region: &str, count: usize| {
        format!(
            r#"
provider "place" {{
  region = "one"
}}
provider "place" {{
  alias  = "by"
  region = {region}
}}
resource "place_thing" "b" {{
  count = {count}
  name  = "b"
}}
resource "place_thing" "a" {{
  provider = place.by
  name     = "a"
}}
"#
        )
    };
    let (story_, _places) = story(&main(r#"join("", concat(["x"], place_thing.b[*].id))"#, 0));
    story_.check(&[], &["create place_thing.a"]).await;
    story_.destroy(&[], &["delete place_thing.a"]).await;

    let (story_, _places) = story(&main("place_thing.b[0].id", 1));
    let (both, a) = (
        ["create place_thing.a", "create place_thing.b[0]"],
        "delete place_thing.a",
    );
    story_.check(&[], &both).await;
    let options = PlanOptions {
        mode: PlanMode::Destroy,
        limits: Limits {
            targets: vec!["place_thing.a".parse().expect("an address")],
            ..Limits::default()
        },
        ..PlanOptions::default()
    };
    let session = session_of(&story_);
    let outcome = formwork_ops::plan(&session, &options).await;
    let plan = outcome.plan.expect("a plan");
    assert_eq!(told(&plan), [a]);
    let applied = formwork_ops::apply(&session, plan, outcome.held).await;
    let said = text(&applied.diagnostics, &applied.sources);
    assert!(applied.complete, "{said}");
}

/// The provider of what is not configured any more is configured by what a limited plan leaves out.
#[tokio::test]
async fn providers_are_configured_by_what_is_left_out() {
    let main = r#"
provider "place" {
  region = "one"
}
provider "place" {
  alias  = "by"
  region = join("", [for b in place_thing.b : b.id])
}
resource "place_thing" "b" {
  for_each = toset(["k"])
  name     = "b"
}
"#;
    let orphan = "resource \"place_thing\" \"a\" {\n  provider = place.by\n  name = \"a\"\n}\n";
    let (story_, _places) = story(&format!("{main}{orphan}"));
    let both = ["create place_thing.a", "create place_thing.b[\"k\"]"];
    story_.check(&[], &both).await;
    story_.write("main.tf", main);
    let options = PlanOptions {
        limits: Limits {
            excludes: vec!["place_thing.b".parse().expect("an address")],
            ..Limits::default()
        },
        ..PlanOptions::default()
    };
    let session = session_of(&story_);
    let outcome = formwork_ops::plan(&session, &options).await;
    let plan = outcome.plan.expect("a plan");
    assert_eq!(told(&plan), ["delete place_thing.a"]);
    let applied = formwork_ops::apply(&session, plan, outcome.held).await;
    let said = text(&applied.diagnostics, &applied.sources);
    assert!(applied.complete, "{said}");
}
