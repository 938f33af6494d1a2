//! Generated configurations, changed step by step, planned and applied by both tools from one state.
//!
//! Each step begins with the same state in two folders. Both tools plan: the changes, their reasons,
//! values and what is unknown in them must be the same, or both must refuse with the same summaries.
//! Both apply, the states must mean the same, and the next step begins with one of them in turn.
//!
//! `FORMWORK_TEST_BUDGET` is the time in seconds, `FORMWORK_TEST_SEED` where to begin; skipped, visibly, where there is no `terraform`.

use crate::comparing::{difference, meaning_of_state, ordered, renamed};
use crate::live::terraform;
use crate::surroundings::session;
use formwork_environment::{Fixed, Randomness};
use formwork_ops::PlanOptions;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

const SEED: u64 = 20_261_130;

struct Maker(Fixed);

impl Maker {
    fn below(&self, n: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes) % n
    }

    fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<'t, T>(&self, of: &'t [T]) -> &'t T {
        let i = usize::try_from(self.below(of.len() as u64)).expect("small");
        &of[i]
    }
}

#[derive(Clone, PartialEq)]
enum Repeat {
    Single,
    Count(u64),
    Each(Vec<&'static str>),
}

/// A block of the generated configuration; `input` and so on are expressions.
#[derive(Clone)]
struct Block {
    repeat: Repeat,
    input: String,
    triggers: Option<String>,
    create_first: bool,
    ignore: Option<&'static str>,
    replaced_by: Option<String>,
    depends_on: Option<String>,
}

#[derive(Clone, Default)]
struct World {
    /// By name; a block refers only to those before it.
    blocks: BTreeMap<&'static str, Block>,
    /// The module call and what is in it, if it is there.
    module: Option<(Repeat, Block)>,
    moved: Option<(String, String)>,
    forgotten: BTreeSet<&'static str>,
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

impl Maker {
    fn repeat(&self) -> Repeat {
        match self.below(6) {
            0 => Repeat::Count(self.below(4)),
            1 | 2 => {
                let all = ["k", "l.m", "n\\\"o", "p q"];
                Repeat::Each(all.into_iter().filter(|_| self.one_in(2)).collect())
            }
            _ => Repeat::Single,
        }
    }

    /// A value that refers to what is there already.
    fn expression(&self, world: &World, own: &str) -> String {
        let before: Vec<(&&str, &Block)> = world.blocks.iter().filter(|(n, _)| **n < own).collect();
        if before.is_empty() || self.one_in(3) {
            let constants = [
                "1",
                "\"x\"",
                "null",
                "[1, \"a\", null]",
                "{ p = { q = 1 } }",
                "sensitive(\"s\")",
                "{ open = 1, shut = sensitive(2) }",
                "123456789012345678901234567890",
                "toset([\"z\", \"y\"])",
                "tolist([])",
                "true",
                "\"\"",
            ];
            return (*self.pick(&constants)).to_owned();
        }
        let (name, block) = *self.pick(&before);
        let attribute = *self.pick(&["id", "output", "input"]);
        match &block.repeat {
            Repeat::Single => match self.below(4) {
                0 => format!("\"pre-${{terraform_data.{name}.id}}\""),
                1 => format!("{{ of = terraform_data.{name}.{attribute}, and = 1 }}"),
                2 => format!("terraform_data.{name}"),
                _ => format!("terraform_data.{name}.{attribute}"),
            },
            Repeat::Count(_) => match self.below(3) {
                0 => format!("length(terraform_data.{name})"),
                1 => format!("try(terraform_data.{name}[0].{attribute}, null)"),
                _ => format!("terraform_data.{name}[*].{attribute}"),
            },
            Repeat::Each(_) => match self.below(3) {
                0 => format!("keys(terraform_data.{name})"),
                1 => format!("try(terraform_data.{name}[\"k\"].{attribute}, \"none\")"),
                _ => format!("{{ for k, v in terraform_data.{name} : k => v.{attribute} }}"),
            },
        }
    }

    fn block(&self, world: &World, own: &str) -> Block {
        let singles: Vec<&str> = world
            .blocks
            .iter()
            .filter(|(n, b)| **n < own && b.repeat == Repeat::Single)
            .map(|(n, _)| *n)
            .collect();
        let single = |rarely: u64| {
            (!singles.is_empty() && self.one_in(rarely))
                .then(|| format!("terraform_data.{}", self.pick(&singles)))
        };
        Block {
            repeat: self.repeat(),
            input: self.expression(world, own),
            triggers: self.one_in(3).then(|| self.expression(world, own)),
            create_first: self.one_in(5),
            ignore: self
                .one_in(6)
                .then(|| *self.pick(&["[input]", "all", "[triggers_replace]"])),
            replaced_by: single(6),
            depends_on: single(6),
        }
    }

    /// The next world: blocks come, go, change and move.
    fn next(&self, old: &World) -> World {
        let mut world = World::default();
        for name in NAMES {
            let former = old.blocks.get(name);
            let block = match former {
                Some(_) if self.one_in(6) => {
                    if self.one_in(3) {
                        world.forgotten.insert(name);
                    }
                    continue;
                }
                None if self.one_in(3) => continue,
                Some(b) => {
                    let mut b = b.clone();
                    let fresh = self.block(&world, name);
                    // what a kept block refers to may have gone
                    let gone = |text: &str| {
                        NAMES.iter().any(|n| {
                            text.contains(&format!("terraform_data.{n}"))
                                && world.blocks.get(n).map(|x| &x.repeat)
                                    != old.blocks.get(n).map(|x| &x.repeat)
                        })
                    };
                    if self.one_in(3) || gone(&b.input) {
                        b.input = fresh.input;
                    }
                    if self.one_in(5) || b.triggers.as_deref().is_some_and(gone) {
                        b.triggers = fresh.triggers;
                    }
                    if self.one_in(4) {
                        b.repeat = fresh.repeat;
                    }
                    if self.one_in(6) {
                        b.create_first = fresh.create_first;
                    }
                    b.ignore = if self.one_in(4) {
                        fresh.ignore
                    } else {
                        b.ignore
                    };
                    b.replaced_by = fresh.replaced_by;
                    b.depends_on = fresh.depends_on;
                    b
                }
                None => self.block(&world, name),
            };
            world.blocks.insert(name, block);
        }
        let kept = old.module.is_some() && !self.one_in(5);
        if kept || self.one_in(3) {
            let inner = self.block(&World::default(), "z");
            let call = match &old.module {
                Some((repeat, inner)) if !self.one_in(3) => (repeat.clone(), inner.clone()),
                _ => (self.repeat(), inner),
            };
            world.module = Some(call);
        }
        let gone: Vec<&&str> = NAMES
            .iter()
            .filter(|n| old.blocks.contains_key(*n) && !world.blocks.contains_key(*n))
            .collect();
        let come: Vec<&&str> = NAMES
            .iter()
            .filter(|n| !old.blocks.contains_key(*n) && world.blocks.contains_key(*n))
            .collect();
        if !gone.is_empty() && !come.is_empty() && self.one_in(2) {
            let (from, to) = (*self.pick(&gone), *self.pick(&come));
            // A key comes or goes with a move of its own; ours lets it follow another move, theirs
            // does not.
            if let Some(block) = world.blocks.get_mut(*to) {
                block.repeat = old.blocks[*from].repeat.clone();
            }
            world.forgotten.remove(*from);
            world.moved = Some((
                format!("terraform_data.{from}"),
                format!("terraform_data.{to}"),
            ));
        }
        world
    }
}

fn write_block(out: &mut String, name: &str, b: &Block) {
    let _ = writeln!(out, "resource \"terraform_data\" \"{name}\" {{");
    write_repeat(out, &b.repeat);
    let _ = writeln!(out, "  input = {}", b.input);
    if let Some(t) = &b.triggers {
        let _ = writeln!(out, "  triggers_replace = {t}");
    }
    if let Some(d) = &b.depends_on {
        let _ = writeln!(out, "  depends_on = [{d}]");
    }
    let _ = writeln!(
        out,
        "  lifecycle {{\n    create_before_destroy = {}",
        b.create_first
    );
    if let Some(i) = b.ignore {
        let _ = writeln!(out, "    ignore_changes = {i}");
    }
    if let Some(r) = &b.replaced_by {
        let _ = writeln!(out, "    replace_triggered_by = [{r}]");
    }
    out.push_str("  }\n}\n");
}

fn write_repeat(out: &mut String, repeat: &Repeat) {
    match repeat {
        Repeat::Single => {}
        Repeat::Count(n) => {
            let _ = writeln!(out, "  count = {n}");
        }
        Repeat::Each(keys) => {
            let keys: Vec<String> = keys.iter().map(|k| format!("\"{k}\"")).collect();
            let _ = writeln!(out, "  for_each = toset([{}])", keys.join(", "));
        }
    }
}

impl World {
    /// The files: the root, and the module.
    fn texts(&self) -> (String, String) {
        let (mut root, mut module) = (String::new(), String::new());
        for (name, block) in &self.blocks {
            write_block(&mut root, name, block);
            let _ = writeln!(
                root,
                "output \"{name}\" {{\n  value = terraform_data.{name}\n  sensitive = true\n}}"
            );
        }
        if let Some((repeat, inner)) = &self.module {
            root.push_str("module \"m\" {\n  source = \"./m\"\n");
            write_repeat(&mut root, repeat);
            root.push_str("}\noutput \"m\" {\n  value = module.m\n  sensitive = true\n}\n");
            write_block(&mut module, "z", inner);
            module.push_str("output \"z\" {\n  value = terraform_data.z\n  sensitive = true\n}\n");
        }
        if let Some((from, to)) = &self.moved {
            let _ = writeln!(root, "moved {{\n  from = {from}\n  to = {to}\n}}");
        }
        for name in &self.forgotten {
            let _ = writeln!(
                root,
                "removed {{\n  from = terraform_data.{name}\n  lifecycle {{\n    destroy = false\n  }}\n}}"
            );
        }
        (root, module)
    }
}

fn write(folder: &Path, world: &World) {
    let (root, module) = world.texts();
    std::fs::create_dir_all(folder.join("m")).expect("made");
    std::fs::write(folder.join("main.tf"), root).expect("written");
    std::fs::write(folder.join("m/main.tf"), module).expect("written");
}

/// What a plan says, as far as it is compared.
fn facts(plan: &Json) -> Json {
    let mut facts = json!({});
    for key in ["resource_changes", "output_changes"] {
        if let Some(v) = plan.get(key).filter(|v| !v.is_null()) {
            let mut v = v.clone();
            // they give a reason for making what was not there, too
            for change in v.as_array_mut().into_iter().flatten() {
                if change["change"]["actions"] == json!(["create"]) {
                    change
                        .as_object_mut()
                        .expect("an object")
                        .remove("action_reason");
                }
            }
            facts[key] = v;
        }
    }
    ordered(facts)
}

/// Their plan, saved as `p`, or the summaries of its errors.
fn they_plan(folder: &Path) -> Result<Json, BTreeSet<String>> {
    let planned = terraform(folder, &["plan", "-out=p", "-json"]);
    if !planned.status.success() {
        let text = String::from_utf8_lossy(&planned.stdout).into_owned();
        return Err(text
            .lines()
            .filter_map(|l| serde_json::from_str::<Json>(l).ok())
            .filter(|l| l["diagnostic"]["severity"] == "error")
            .filter_map(|l| l["diagnostic"]["summary"].as_str().map(str::to_owned))
            .collect());
    }
    let shown = terraform(folder, &["show", "-json", "p"]);
    Ok(facts(&serde_json::from_slice(&shown.stdout).expect("JSON")))
}

/// One step; gives what differs, or whether it was applied.
async fn step(ours: &Path, theirs: &Path, seed: u64) -> Result<bool, Vec<String>> {
    let expected = they_plan(theirs);
    let session = session(ours, Vec::new(), seed);
    let outcome = formwork_ops::plan(&session, &PlanOptions::default()).await;
    let errors: BTreeSet<String> = outcome
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| d.summary.clone())
        .collect();
    let told = crate::surroundings::text(&outcome.diagnostics, outcome.sources());
    let schemas = outcome.providers.all_schemas();
    if let Some(held) = outcome.held {
        let _ = held.release(&session).await;
    }
    let expected = match expected {
        Err(summaries) if errors == summaries => return Ok(false),
        // Their order of destroying, by instance, has circles that ours has not.
        Err(summaries) if summaries.iter().all(|s| s.starts_with("Cycle: ")) => return Ok(false),
        Err(summaries) => {
            return Err(vec![format!("they refuse: {summaries:?}; we: {told}")]);
        }
        Ok(expected) => expected,
    };
    let Some(plan) = outcome.plan.filter(|_| errors.is_empty()) else {
        return Err(vec![format!("they plan, we do not: {told}")]);
    };
    let shown = formwork_render::plan_json(&plan, None, &schemas);
    let mut differences = Vec::new();
    let actual = facts(&serde_json::from_str(&shown).expect("JSON"));
    difference("plan", &expected, &actual, &mut differences);
    // Of what is made anew they forget that it is sensitive where its changes are ignored; ours does
    // not.
    let more_is_hidden =
        |d: &String| d.contains(".after_sensitive") && d.ends_with("not expected true");
    if !differences.is_empty() {
        let meant = differences.iter().all(more_is_hidden);
        return if meant { Ok(false) } else { Err(differences) };
    }
    let applied = terraform(theirs, &["apply", "-auto-approve", "-no-color", "p"]);
    let outcome = formwork_ops::apply(&session, plan, None).await;
    if applied.status.success() != outcome.complete {
        let told = crate::surroundings::text(&outcome.diagnostics, &outcome.sources);
        return Err(vec![format!(
            "applied by them: {}, by us: {}: {told}{}",
            applied.status.success(),
            outcome.complete,
            String::from_utf8_lossy(&applied.stderr)
        )]);
    }
    let named = |folder: &Path| {
        let Ok(bytes) = std::fs::read(folder.join("terraform.tfstate")) else {
            return json!({"check_results": null, "outputs": {}, "resources": []});
        };
        let mut state: Json = serde_json::from_slice(&bytes).expect("JSON");
        let mut names = BTreeMap::new();
        for r in state["resources"].as_array().into_iter().flatten() {
            for i in r["instances"].as_array().into_iter().flatten() {
                if let Some(id) = i["attributes"]["id"].as_str() {
                    let name = format!("<{} {} {}>", r["module"], r["name"], i["index_key"]);
                    names.insert(id.to_owned(), name);
                }
            }
        }
        // Theirs tells instances apart by which of them is named where the order spreads from; ours
        // goes by block, as their plan does.
        for r in state["resources"].as_array_mut().into_iter().flatten() {
            for i in r["instances"].as_array_mut().into_iter().flatten() {
                i.as_object_mut()
                    .expect("an object")
                    .remove("create_before_destroy");
            }
        }
        renamed(&mut state, &names);
        meaning_of_state(state)
    };
    difference("state", &named(theirs), &named(ours), &mut differences);
    if differences.is_empty() {
        Ok(true)
    } else {
        Err(differences)
    }
}

#[tokio::test]
async fn both_plan_and_apply_alike() {
    if std::process::Command::new("terraform")
        .arg("version")
        .output()
        .is_err()
    {
        // straight to the stream: what macros print is shown only of tests that fail
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: there is no terraform here to ask\n",
        );
        return;
    }
    let budget = std::env::var("FORMWORK_TEST_BUDGET")
        .ok()
        .and_then(|b| b.parse().ok());
    let budget: u64 = budget.unwrap_or(10);
    let end = Instant::now() + Duration::from_secs(budget);
    let seed = std::env::var("FORMWORK_TEST_SEED")
        .ok()
        .and_then(|s| s.parse().ok());
    let seed: u64 = seed.unwrap_or(SEED);
    println!("seed {seed}");
    let (mut worlds, mut steps, mut applied, mut failed) = (0, 0, 0, Vec::new());
    // one world for two seconds at most: a faster machine tries nothing that a slower one did not
    while worlds < budget.div_ceil(2) && Instant::now() < end && failed.len() < 5 {
        let maker = Maker(Fixed::new(0, seed + worlds));
        worlds += 1;
        let (ours, theirs) = (tempfile::tempdir(), tempfile::tempdir());
        let (ours, theirs) = (ours.expect("a folder"), theirs.expect("a folder"));
        let (ours, theirs) = (ours.path(), theirs.path());
        let mut world = World::default();
        let mut history = String::new();
        for number in 0..6 {
            let next = maker.next(&world);
            let modules = next.module.is_some() != world.module.is_some();
            world = next;
            for folder in [ours, theirs] {
                write(folder, &world);
            }
            if number == 0 || modules {
                let output = terraform(theirs, &["init", "-no-color"]);
                assert!(
                    output.status.success(),
                    "{}",
                    String::from_utf8_lossy(&output.stderr)
                );
            }
            let _ = write!(
                history,
                "# step {number}\n{}\n# m\n{}\n",
                world.texts().0,
                world.texts().1
            );
            steps += 1;
            match step(ours, theirs, seed + worlds * 100 + number).await {
                Ok(done) => applied += u64::from(done),
                Err(differences) => {
                    failed.push(format!(
                        "world {worlds}\n{history}\n{}",
                        differences.join("\n")
                    ));
                    break;
                }
            }
            let (from, to) = if number % 2 == 0 {
                (ours, theirs)
            } else {
                (theirs, ours)
            };
            let state = |f: &Path| f.join("terraform.tfstate");
            if state(from).exists() {
                std::fs::copy(state(from), state(to)).expect("copied");
            }
            if Instant::now() >= end {
                break;
            }
        }
    }
    println!("{worlds} worlds, {steps} steps, {applied} applied");
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
