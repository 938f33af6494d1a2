//! Mutants of configurations through validate and plan: no panic, no hang over ten seconds, and no
//! error without a place in the text.
//!
//! How long it goes on is `FORMWORK_TEST_BUDGET` in seconds (10 without). Mutants are numbered; the
//! number decides all about one. A mutant with which something was found is cut down to the lines
//! that matter and printed; the one being tried lies in `last-mutant.txt` in cargo's folder for
//! temporary files of tests, for the case that the process dies of it.
#![allow(clippy::expect_used, clippy::print_stdout)] // a test fails by panicking, and tells what it did

mod choices;
mod corpus;
mod mutator;
mod trial;
mod world;

use choices::Choices;
use corpus::Seed;
use formwork_diagnostics::FileId;
use formwork_syntax::parse_named;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trial::{Outcome, Trial};
use world::World;

/// The first number; with `FORMWORK_MUTATIONS_FROM` another.
const FROM: u64 = 1;
/// How many mutants are made for a second of the budget, at most: a faster machine tries nothing that
/// a slower one did not.
const PER_SECOND: u64 = 70;

struct Harness {
    runtime: tokio::runtime::Runtime,
    world: Arc<World>,
    seeds: Vec<Seed>,
    folders: Vec<PathBuf>,
    states: Vec<Option<Vec<u8>>>,
    _temporary: tempfile::TempDir,
}

impl Harness {
    fn new(seeds: Vec<Seed>, with_states: bool) -> Self {
        let temporary = tempfile::tempdir().expect("a folder");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(3)
            .enable_all()
            .build()
            .expect("a runtime");
        let world = Arc::new(runtime.block_on(World::start(temporary.path())));
        let mut folders = Vec::new();
        let mut states = Vec::new();
        for (i, seed) in seeds.iter().enumerate() {
            let folder = seed.folder.clone().unwrap_or_else(|| {
                let folder = temporary.path().join(i.to_string());
                std::fs::create_dir_all(&folder).expect("made");
                for (name, text) in &seed.others {
                    let path = folder.join(name);
                    std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
                    std::fs::write(path, text).expect("written");
                }
                folder
            });
            let google = seed.files.iter().any(|(_, t)| t.contains("google_"));
            let trial = Trial::of(seed, &folder, None);
            // The cloud's clock stands still, so nothing is ever finished there.
            let state = if !with_states || google {
                None
            } else {
                runtime.block_on(trial.applied(&world))
            };
            folders.push(folder);
            states.push(state);
        }
        Self {
            runtime,
            world,
            seeds,
            folders,
            states,
            _temporary: temporary,
        }
    }

    fn run(&self, trial: &Trial) -> Outcome {
        trial.run(&self.runtime, &self.world)
    }

    /// The mutant of that number: what is tried, and which file is damaged.
    fn mutant(&self, number: u64) -> (Trial, usize, String) {
        let choices = &mut Choices::new(number);
        let total: usize = self.seeds.iter().map(|s| s.weight).sum();
        let mut at = choices.below(total);
        let index = self
            .seeds
            .iter()
            .position(|s| {
                let here = at < s.weight;
                at = at.saturating_sub(s.weight);
                here
            })
            .unwrap_or_default();
        let seed = &self.seeds[index];
        let state = self.states[index].clone().filter(|_| choices.one_in(2));
        let mut trial = Trial::of(seed, &self.folders[index], state);
        let file = choices.below(trial.files.len());
        let donor = choices.pick(&self.seeds).expect("seeds");
        let donor = choices.pick(&donor.files).expect("files").1.clone();
        let name = &seed.files[file].0;
        let json = name.ends_with(".json");
        trial.files[file].1 = mutator::mutate(choices, &seed.files[file].1, &donor, json);
        if choices.one_in(8) {
            const GIVEN: &[&str] = &[
                "",
                "x",
                "null",
                "[",
                "[1, 2]",
                "{ a = 1 }",
                "\"q\"",
                "true",
                "-1",
                "${x}",
                "é",
                "{}",
                "1e500",
                "[null]",
                "{\"a\": {}}",
                "file(\"x\")",
                "var.x",
            ];
            let variables: Vec<String> = seed.files[file]
                .1
                .lines()
                .filter_map(|l| l.strip_prefix("variable \""))
                .filter_map(|l| l.split('"').next().map(str::to_owned))
                .collect();
            if let Some(v) = choices.pick(&variables) {
                trial.inputs.push((v.clone(), choices.of(GIVEN).to_owned()));
            }
        }
        (trial, file, seed.name.clone())
    }

    /// The fewest lines of the damaged file with which the same is found.
    fn shrunk(&self, trial: &Trial, file: usize, kind: &str) -> Trial {
        let mut best = trial.clone();
        let mut tries = 0;
        let lines_of = |t: &Trial| -> Vec<Vec<u8>> {
            t.files[file]
                .1
                .split_inclusive(|b| *b == b'\n')
                .map(<[u8]>::to_vec)
                .collect()
        };
        let mut size = lines_of(&best).len().div_ceil(2).max(1);
        while tries < 200 {
            let mut at = 0;
            let mut cut = false;
            while at < lines_of(&best).len() && tries < 200 {
                let mut lines = lines_of(&best);
                let end = (at + size).min(lines.len());
                lines.drain(at..end);
                let mut smaller = best.clone();
                smaller.files[file].1 = lines.concat();
                tries += 1;
                if self.run(&smaller).findings.iter().any(|f| f.kind == kind) {
                    best = smaller;
                    cut = true;
                } else {
                    at += size;
                }
            }
            if size == 1 && !cut {
                break;
            }
            size = (size / 2).max(1);
        }
        best
    }
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(otherwise)
}

fn parses(trial: &Trial) -> bool {
    trial
        .files
        .iter()
        .all(|(name, text)| !parse_named(FileId(0), name, text).1.has_errors())
}

fn excerpt(text: &str, length: usize) -> String {
    text.replace('\n', "\\n").chars().take(length).collect()
}

/// Those written for this test and the blueprint plan without an error; nothing is found with any.
#[test]
fn seeds_are_sound() {
    let harness = Harness::new(corpus::seeds(), false);
    let mut wrong = String::new();
    for (i, seed) in harness.seeds.iter().enumerate() {
        let trial = Trial::of(seed, &harness.folders[i], None);
        let outcome = harness.run(&trial);
        // The recorded ones are named by case and step; some of them are about errors.
        let said = outcome.validate.iter().chain(&outcome.plan);
        for s in said.filter(|_| !seed.name.contains('/')) {
            let place = s.place.clone().unwrap_or_default();
            let detail = excerpt(&s.detail, 300);
            let _ = writeln!(wrong, "{}: {place} {}: {detail}", seed.name, s.summary);
        }
        for f in outcome.findings {
            let _ = writeln!(wrong, "{}: {}: {}", seed.name, f.kind, f.text);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn mutants_do_no_harm() {
    let budget = Duration::from_secs(number("FORMWORK_TEST_BUDGET", 10));
    let from = number("FORMWORK_MUTATIONS_FROM", FROM);
    let harness = Harness::new(corpus::seeds(), true);
    let last = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("last-mutant.txt");

    let begun = Instant::now();
    let mut at = from;
    let (mut parsed, mut valid, mut planned, mut slowest) = (0, 0, 0, (Duration::ZERO, 0));
    let mut found: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut digest: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    let mut most: Vec<(usize, u64, String)> = Vec::new();
    let end = from + PER_SECOND * budget.as_secs();
    while at == from || (at < end && begun.elapsed() < budget && found.len() < 40) {
        let (trial, file, name) = harness.mutant(at);
        let text = String::from_utf8_lossy(&trial.files[file].1).into_owned();
        let _ = std::fs::write(
            &last,
            format!("{at} {name}: {}\n{text}", trial.files[file].0),
        );
        let start = Instant::now();
        let outcome = harness.run(&trial);
        slowest = slowest.max((start.elapsed(), at));
        let well = parses(&trial);
        parsed += u64::from(well);
        valid += u64::from(outcome.validate.is_empty());
        planned += u64::from(outcome.planned);
        let said = if outcome.plan.is_empty() {
            &outcome.validate
        } else {
            &outcome.plan
        };
        for s in said {
            let (count, examples) = digest.entry(s.summary.clone()).or_default();
            *count += 1;
            let example = format!(
                "{} {}",
                s.place.clone().unwrap_or_default(),
                excerpt(&s.detail, 400)
            );
            if examples.len() < 3 {
                examples.push(format!("#{at} {example}"));
            }
        }
        if well {
            let said = outcome
                .plan
                .iter()
                .map(|s| s.summary.as_str())
                .collect::<Vec<_>>();
            most.push((said.len(), at, said.join("; ")));
            most.sort_by(|a, b| b.cmp(a));
            most.truncate(8);
        }
        for finding in outcome.findings {
            let known = found.contains_key(&finding.kind);
            let entry = found.entry(finding.kind.clone()).or_default();
            entry.0 += 1;
            if known {
                continue;
            }
            let shrunk = if finding.fatal {
                trial.clone()
            } else {
                harness.shrunk(&trial, file, &finding.kind)
            };
            let text = String::from_utf8_lossy(&shrunk.files[file].1).into_owned();
            entry.1 = format!(
                "mutant {at} of {name}, {} (inputs {:?}, state {})\n{}\n{}",
                trial.files[file].0,
                trial.inputs,
                trial.state.is_some(),
                finding.text,
                excerpt_lines(&text),
            );
            assert!(!finding.fatal, "{}", entry.1);
        }
        at += 1;
    }
    let tried = at - from;
    let share = |n: u64| n * 100 / tried.max(1);
    println!("mutants {from} to {}, {:?}", at - 1, begun.elapsed());
    println!(
        "{}% parse, {}% are valid, {}% are planned; the slowest is {} with {:?}",
        share(parsed),
        share(valid),
        share(planned),
        slowest.1,
        slowest.0
    );
    for (summary, (count, examples)) in &digest {
        println!("{count:6} {summary}");
        for e in examples {
            println!("         {e}");
        }
    }
    println!("most errors, though the text parses:");
    for (count, number, said) in &most {
        println!("{count:6} mutant {number}: {}", excerpt(said, 600));
    }
    let report: String = found
        .iter()
        .map(|(kind, (count, text))| format!("== {kind} ({count} times)\n{text}\n"))
        .collect();
    assert!(
        found.is_empty(),
        "{} kinds of fault:\n{report}",
        found.len()
    );
    if tried >= 200 {
        assert!(
            (35..=65).contains(&share(parsed)),
            "about half of the mutants should parse"
        );
    }
}

/// Configurations with which something was found once, and what is said of them now.
const MENDED: &[(&str, &str, &str)] = &[
    (
        "a provider that is not there",
        "resource \"nope_thing\" \"a\" {}\n",
        "main.tf:1:1 Provider not available\n",
    ),
    (
        "two names for one provider",
        "terraform {\n  required_providers {\n    other = { source = \"hashicorp/google\" }\n  }\n}\n\
         provider \"google\" {\n  alias = \"east\"\n}\n",
        "",
    ),
    (
        "a block that is not understood makes no further mistakes",
        "local {\n  a = 1\n}\noutput \"a\" { value = local.a }\n",
        "main.tf:1:1 Unsupported block type\n",
    ),
    (
        "a declaration that is not understood makes no further mistakes",
        "variable \"count\" {}\noutput \"a\" { value = var.count }\n",
        "main.tf:1:10 Invalid variable name\n",
    ),
    (
        "declarations that were swallowed make no further mistakes",
        "variable \"v\" {\n  locals {\n    a = 1\n  }\n}\noutput \"a\" { value = local.a }\n",
        "main.tf:2:3 Unsupported block type\n",
    ),
    (
        "a block of another kind makes no further mistakes",
        "removed \"terraform_data\" \"a\" {\n  input = 1\n}\noutput \"a\" { value = terraform_data.a }\n",
        "main.tf:1:9 Extraneous label for removed\n",
    ),
    (
        "what a provider says of a sensitive value does not show it",
        "data \"terraform_remote_state\" \"r\" {\n  backend = sensitive(\"s3cr3t\")\n}\n",
        "main.tf:2:13 Invalid backend configuration\n",
    ),
    (
        "one mistake in all instances",
        "resource \"terraform_data\" \"a\" {\n  count = 3\n  input = 1 + \"x\"\n}\n",
        "main.tf:3:15 Invalid operand\n",
    ),
];

#[test]
fn what_was_found_stays_mended() {
    let seeds: Vec<Seed> = MENDED
        .iter()
        .map(|(name, text, _)| Seed {
            name: (*name).to_owned(),
            files: vec![("main.tf".to_owned(), (*text).to_owned())],
            others: Vec::new(),
            folder: None,
            weight: 1,
        })
        .collect();
    let harness = Harness::new(seeds, false);
    let mut wrong = String::new();
    for (i, (name, _, expected)) in MENDED.iter().enumerate() {
        let trial = Trial::of(&harness.seeds[i], &harness.folders[i], None);
        let outcome = harness.run(&trial);
        let said: String = outcome
            .plan
            .iter()
            .map(|s| {
                format!(
                    "{} {}\n",
                    s.place.as_deref().unwrap_or("nowhere"),
                    s.summary
                )
            })
            .collect();
        for f in &outcome.findings {
            let _ = writeln!(wrong, "{name}: {}: {}", f.kind, f.text);
        }
        if said != *expected {
            let _ = writeln!(wrong, "{name}: expected\n{expected}but it says\n{said}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn excerpt_lines(text: &str) -> String {
    text.lines()
        .map(|l| format!("    {}\n", excerpt(l, 300)))
        .collect()
}
