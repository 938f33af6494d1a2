//! Whole journeys beside Terraform's: the same configurations through both, in one run, with what each
//! costs, and whether they made the same plan and the same state.
//!
//! What must hold is written here as numbers, once ([`REQUIRED`] and below); a run prints them beside
//! what it measured and fails where one does not hold. CPU is user and system time of the process and
//! all its children. Settings are the defaults of both tools: state refreshed, journal durable, the
//! text of a plan written to a file and the plan itself with `-out`. Applies run below `strace`, which
//! stops them at nothing but `fdatasync` and `fsync`, so that these are seen in the very runs that are
//! measured; what `strace` costs counts against us.
//!
//! Terraform needs minutes for some rows. Those run only when asked for; what it answered can be kept
//! in a file, by configuration and version, and then stands for it in later runs.

mod alike;
mod google;
mod growth;
mod peer;
mod report;
mod shapes;

use crate::generate::Tree;
use crate::measure::{Keeping, Tools, Usage, once};
use peer::{Peer, Theirs};
use report::{Report, Verdict};
use serde_json::Value as Json;
use shapes::Kind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to compare, and how far.
pub(crate) struct Asked {
    /// Small sizes: whether everything works and agrees; ratios are shown and not judged.
    pub quick: bool,
    /// Whether Terraform runs where that takes minutes.
    pub slow: bool,
    /// Where its answers are kept.
    pub cache: Option<PathBuf>,
    /// Which parts; all when empty.
    pub only: Vec<Part>,
}

/// Parts of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// `version`, and `plan` of an empty configuration.
    Start,
    /// Plans of many blocks beside Terraform's.
    Plan,
    /// Plans of one resource over a map.
    Map,
    /// Applies beside Terraform's.
    Apply,
    /// Plans without changes beside Terraform's.
    Noop,
    /// How plan, apply and plan again grow.
    Growth,
    /// A plan of a million.
    Million,
    /// The google provider against the mock cloud.
    Google,
}

/// How many instances each part works on.
struct Sizes {
    plan: usize,
    keys: usize,
    apply: [usize; 2],
    growth: usize,
    million: usize,
    google: usize,
}

const WHOLE: Sizes = Sizes {
    plan: 10_000,
    keys: 1_000,
    apply: [1_000, 3_000],
    growth: 10_000,
    million: 1_000_000,
    google: 3_000,
};

const QUICK: Sizes = Sizes {
    plan: 300,
    keys: 100,
    apply: [60, 150],
    growth: 1_000,
    million: 20_000,
    google: 60,
};

/// How many times less CPU than Terraform's: what must be, and what is aimed at.
struct Ratio {
    required: f64,
    aim: f64,
}

/// Plans and plans without changes, of blocks one by one and in layers.
const REQUIRED: Ratio = Ratio {
    required: 50.0,
    aim: 100.0,
};
/// One resource over a map.
const BY_MAP: Ratio = Ratio {
    required: 100.0,
    aim: 100.0,
};
/// Applies, the smaller and the larger.
const APPLIES: [Ratio; 2] = [
    Ratio {
        required: 100.0,
        aim: 100.0,
    },
    Ratio {
        required: 500.0,
        aim: 1_000.0,
    },
];
/// Ten times the work costs at most so many times as much.
const GROWTH: f64 = 12.0;
/// CPU from start to end of a command that has nothing to do, in milliseconds.
const START: f64 = 30.0;

const PLAN: [&str; 4] = ["plan", "-input=false", "-no-color", "-out=saved.plan"];
const APPLY: [&str; 4] = ["apply", "-auto-approve", "-input=false", "-no-color"];

/// Everything that the parts share.
struct Comparison<'a> {
    tools: &'a Tools,
    seed: u64,
    runs: usize,
    quick: bool,
    peer: Peer<'a>,
    report: Report,
}

/// Runs the parts and prints what came of it; whether everything required holds.
pub(crate) fn run(tools: &Tools, seed: u64, runs: usize, asked: &Asked) -> Result<bool, String> {
    let mut all = Comparison {
        tools,
        seed,
        runs: runs.max(1),
        quick: asked.quick,
        peer: Peer::new(tools, asked.slow, asked.cache.clone())?,
        report: Report::default(),
    };
    println!(
        "seed {seed}{}",
        if asked.quick { ", small sizes" } else { "" }
    );
    let sizes = if asked.quick { QUICK } else { WHOLE };
    let wanted = |part| asked.only.is_empty() || asked.only.contains(&part);
    if wanted(Part::Start) {
        all.start()?;
    }
    if wanted(Part::Plan) {
        for kind in [Kind::Flat, Kind::Layered, Kind::Count] {
            all.plan(kind, sizes.plan)?;
        }
    }
    if wanted(Part::Map) {
        all.map(sizes.keys)?;
    }
    if wanted(Part::Apply) {
        // Layers are for the equality of states: what hangs on what.
        all.apply(Kind::Layered, sizes.apply[0] / 4, None, false)?;
        for (i, (instances, ratio)) in sizes.apply.into_iter().zip(APPLIES).enumerate() {
            all.apply(Kind::Flat, instances, Some(ratio), i == 1)?;
        }
    }
    if wanted(Part::Noop) {
        for kind in [Kind::Flat, Kind::Layered] {
            all.plan_again(kind, sizes.plan)?;
        }
    }
    if wanted(Part::Growth) {
        growth::grows(&mut all, sizes.growth)?;
    }
    if wanted(Part::Million) {
        growth::million(&mut all, sizes.million)?;
    }
    if wanted(Part::Google) {
        google::beside_terraform_data(&mut all, sizes.google)?;
    }
    Ok(all.report.print())
}

/// A number with its thousands apart.
fn many(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

fn folder(tree: &Tree) -> Result<tempfile::TempDir, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    tree.write(folder.path())?;
    Ok(folder)
}

/// Runs a tool in a folder, its text into a file there.
fn tool(program: &Path, folder: &Path, arguments: &[&str]) -> Result<Usage, String> {
    let text = folder.join("text.out");
    once(
        program,
        folder,
        arguments,
        &Keeping {
            text: Some(&text),
            trace: None,
        },
    )
}

/// What a saved plan means.
fn plan_of(program: &Path, folder: &Path) -> Result<Json, String> {
    let out = Command::new(program)
        .args(["show", "-json", "saved.plan"])
        .current_dir(folder)
        .output()
        .map_err(|e| e.to_string())?;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        return Err(format!("{} show -json: {said}", program.display()));
    }
    alike::plan(&out.stdout)
}

fn state_of(folder: &Path) -> Result<Json, String> {
    let bytes = std::fs::read(folder.join("terraform.tfstate")).map_err(|e| e.to_string())?;
    alike::state(&bytes)
}

impl Comparison<'_> {
    fn start(&mut self) -> Result<(), String> {
        for (what, arguments) in [
            ("version", &["version"][..]),
            ("plan of an empty configuration", &PLAN[..]),
        ] {
            let folder = folder(&Tree {
                files: vec![("main.tf".to_owned(), String::new())],
            })?;
            let used = self.ours(folder.path(), arguments, self.runs.max(9))?;
            let took = used.cpu.as_secs_f64() * 1e3;
            self.report
                .limit(what, took, START, "ms of CPU", Some(used));
        }
        Ok(())
    }

    /// The median by CPU of runs in one folder, with the most memory of any.
    fn ours(&self, folder: &Path, arguments: &[&str], runs: usize) -> Result<Usage, String> {
        let all = (0..runs).map(|_| tool(self.tools.ours(), folder, arguments));
        Ok(median(all.collect::<Result<_, _>>()?))
    }

    fn plan(&mut self, kind: Kind, instances: usize) -> Result<(), String> {
        let tree = kind.tree(self.seed, instances);
        let mine = folder(&tree)?;
        let used = self.ours(mine.path(), &PLAN, self.runs)?;
        let meaning = plan_of(self.tools.ours(), mine.path())?;
        let theirs = self.peer.ask("plan", &tree, None, false)?;
        let what = format!("plan, {}, {}", kind.name(), many(instances));
        self.beside(&what, used, theirs.as_ref(), Some(REQUIRED));
        // One block is little to hold for Terraform, too: of it nothing is required.
        if kind != Kind::Count {
            self.memory(&what, used, theirs.as_ref());
        }
        self.same(&what, &meaning, theirs);
        Ok(())
    }

    fn map(&mut self, keys: usize) -> Result<(), String> {
        let tree = Kind::Map.tree(self.seed, keys);
        let mine = folder(&tree)?;
        let used = self.ours(mine.path(), &PLAN, self.runs)?;
        let meaning = plan_of(self.tools.ours(), mine.path())?;
        let theirs = self.peer.ask("plan", &tree, None, false)?;
        let what = format!("plan, by map, {} keys", many(keys));
        self.beside(&what, used, theirs.as_ref(), Some(BY_MAP));
        self.same(&what, &meaning, theirs);
        let mine = folder(&Kind::Map.tree_like(self.seed, keys * 10, keys))?;
        let tenfold = self.ours(mine.path(), &PLAN, self.runs)?;
        let what = format!("plan, by map, {} keys, to the former", many(keys * 10));
        self.grown(&what, used, tenfold, GROWTH);
        Ok(())
    }

    fn apply(
        &mut self,
        kind: Kind,
        instances: usize,
        ratio: Option<Ratio>,
        slow: bool,
    ) -> Result<(), String> {
        let tree = kind.tree(self.seed, instances);
        let (mut all, mut least, mut meaning) = (Vec::new(), usize::MAX, Json::Null);
        let traced = Command::new("strace").arg("-V").output().is_ok();
        for _ in 0..self.runs {
            let mine = folder(&tree)?;
            let (text, trace) = (mine.path().join("text.out"), mine.path().join("trace.out"));
            let keeping = Keeping {
                text: Some(&text),
                trace: traced.then_some(&trace),
            };
            all.push(once(self.tools.ours(), mine.path(), &APPLY, &keeping)?);
            if traced {
                let seen = std::fs::read_to_string(&trace).map_err(|e| e.to_string())?;
                least = least.min(seen.matches("fdatasync(").count());
            }
            meaning = state_of(mine.path())?;
        }
        let used = median(all);
        let theirs = self.peer.ask("apply", &tree, None, slow)?;
        let what = format!("apply, {}, {}", kind.name(), many(instances));
        self.beside(&what, used, theirs.as_ref(), ratio);
        self.same(&what, &meaning, theirs);
        let seen = if traced {
            Verdict::of(least > 0)
        } else {
            Verdict::NotShown("there is no strace")
        };
        let measured = if traced { many(least) } else { "-".to_owned() };
        self.report.row(
            &[&format!("{what}: fdatasync seen"), "some", "", &measured],
            None,
            None,
            seen,
        );
        Ok(())
    }

    fn plan_again(&mut self, kind: Kind, instances: usize) -> Result<(), String> {
        let tree = kind.tree(self.seed, instances);
        let mine = folder(&tree)?;
        tool(self.tools.ours(), mine.path(), &APPLY)?;
        let used = self.ours(mine.path(), &PLAN, self.runs)?;
        let meaning = plan_of(self.tools.ours(), mine.path())?;
        let state = mine.path().join("terraform.tfstate");
        let theirs = self.peer.ask("plan again", &tree, Some(&state), false)?;
        let what = format!("plan without changes, {}, {}", kind.name(), many(instances));
        let changes = meaning["resource_changes"].as_array().into_iter().flatten();
        let none = changes
            .filter(|c| c["change"]["actions"][0] != "no-op")
            .count()
            == 0;
        let changed = if none { "none" } else { "some" };
        self.report.row(
            &[&format!("{what}: changes"), "none", "", changed],
            None,
            None,
            Verdict::of(none),
        );
        self.beside(&what, used, theirs.as_ref(), Some(REQUIRED));
        self.same(&what, &meaning, theirs);
        Ok(())
    }

    /// A row for how many times less CPU than theirs is used.
    fn beside(&mut self, what: &str, used: Usage, theirs: Option<&Theirs>, ratio: Option<Ratio>) {
        let times = theirs.map(|t| t.usage.cpu.as_secs_f64() / used.cpu.as_secs_f64().max(1e-9));
        let verdict = match (&ratio, times) {
            _ if self.quick => Verdict::NotShown("too small to judge"),
            (None, _) => Verdict::NotShown("nothing required"),
            (_, None) => Verdict::NotShown("Terraform was not asked"),
            (Some(ratio), Some(times)) => Verdict::at_least(times, ratio.required, ratio.aim),
        };
        let shown = |n: f64| format!("{n:.0}x");
        let [required, aim] = ratio.map_or([String::new(), String::new()], |r| {
            [shown(r.required), shown(r.aim)]
        });
        let measured = times.map_or("-".to_owned(), |t| format!("{t:.1}x"));
        self.report.row(
            &[what, &required, &aim, &measured],
            Some(used),
            theirs,
            verdict,
        );
    }

    fn memory(&mut self, what: &str, used: Usage, theirs: Option<&Theirs>) {
        #[allow(clippy::cast_precision_loss)] // for people
        let part = theirs.map(|t| used.peak as f64 / t.usage.peak.max(1) as f64);
        let verdict = match part {
            _ if self.quick => Verdict::NotShown("too small to judge"),
            None => Verdict::NotShown("Terraform was not asked"),
            Some(part) => Verdict::of(part <= 0.25),
        };
        let measured = part.map_or("-".to_owned(), |p| format!("{p:.2}"));
        let what = format!("{what}: memory, to theirs");
        self.report
            .row(&[&what, "0.25", "", &measured], Some(used), theirs, verdict);
    }

    fn grown(&mut self, what: &str, small: Usage, large: Usage, most: f64) {
        let times = large.cpu.as_secs_f64() / small.cpu.as_secs_f64().max(1e-9);
        let verdict = if self.quick {
            Verdict::NotShown("too small to judge")
        } else {
            Verdict::of(times <= most)
        };
        let (required, measured) = (format!("<= {most:.0}x"), format!("{times:.1}x"));
        self.report.row(
            &[what, &required, "", &measured],
            Some(large),
            None,
            verdict,
        );
    }

    /// A row for whether both made the same.
    fn same(&mut self, what: &str, meaning: &Json, theirs: Option<Theirs>) {
        let digest = alike::digest(meaning);
        let (measured, verdict) = match &theirs {
            None => ("-", Verdict::NotShown("Terraform was not asked")),
            Some(t) if t.digest == digest => ("equal", Verdict::Holds),
            Some(_) => ("differs", Verdict::Fails),
        };
        if let (Verdict::Fails, Some(t)) = (&verdict, &theirs) {
            self.report.note(&format!("{what} differs:"));
            match &t.meaning {
                None => self
                    .report
                    .note("  (from what was kept; run without it to see where)"),
                Some(theirs) => {
                    for line in alike::differences(theirs, meaning) {
                        self.report.note(&format!("  {line}"));
                    }
                }
            }
        }
        let what = format!("{what}: the same made");
        self.report
            .row(&[&what, "equal", "", measured], None, None, verdict);
    }
}

fn median(mut all: Vec<Usage>) -> Usage {
    all.sort_by_key(|u| u.cpu);
    let peak = all.iter().map(|u| u.peak).max().unwrap_or_default();
    let middle = all[all.len() / 2];
    Usage { peak, ..middle }
}
