//! Disks that fail: full at each write in turn, broken at each sync, read-only at each rename.
//!
//! An error is put into one call of a run on a file of the state, its journal, the backup or the lock's
//! message (`strace -e inject=write:error=ENOSPC:when=N`), or into it and all that follow. Each time:
//! exit 1 and an error that says what could not be written and why; after the call no operation is
//! begun any more, and no request that changes something is sent but those that stood in the journal
//! durably before; what the state and the journal say is true; and the next run, with space, ends with
//! state and cloud in agreement and an empty plan, as after a kill.
//!
//! The calls are those of a run that goes well. One of them is tried for every second of
//! `FORMWORK_TEST_BUDGET` (10 without), spread evenly over all; 600 are more than there are. Each begins
//! with a copy of folder and cloud before the run, and as many are done side by side as there are cores.

use crate::durable::{ALL, entries, noted};
use crate::lab::{Lab, Saved, side_by_side};
use crate::points::{Shape, Stage};
use crate::strace::{self, Call, Injection, with_new};
use crate::truth;
use crate::{APPLY, DESTROY, PLAN};
use formwork_testkit::{Scenario, budget};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Which files are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    State,
    Journal,
    Backup,
    Message,
    Directory,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::State,
        Self::Journal,
        Self::Backup,
        Self::Message,
        Self::Directory,
    ];

    /// Their paths, for `strace -P`.
    fn files(self, lab: &Lab) -> Vec<String> {
        let state = lab.state();
        let beside = |name: &str| state.with_file_name(name);
        match self {
            Self::State => with_new(&state).into(),
            Self::Journal => with_new(&lab.journal()).into(),
            Self::Backup => with_new(&beside("terraform.tfstate.backup")).into(),
            Self::Message => vec![text(beside(".terraform.tfstate.lock.info"))],
            Self::Directory => vec![text(state.parent().expect("a directory").to_owned())],
        }
    }

    /// Whether a call is about such a file.
    fn is_of(self, call: &Call) -> bool {
        // what is renamed is named by the text of its path
        let from = call.texts().into_iter().next().unwrap_or_default();
        let from = String::from_utf8_lossy(&from);
        let path = match call.name.as_str() {
            "rename" => &*from,
            _ => call.path().unwrap_or_default(),
        };
        let name = path.rsplit('/').next().unwrap_or_default();
        match self {
            Self::Directory => path.ends_with("/mock/state"),
            Self::Message => name == ".terraform.tfstate.lock.info",
            Self::Journal => name.contains("terraform.tfstate.journal"),
            Self::Backup => name.contains("terraform.tfstate.backup"),
            Self::State => {
                name == "terraform.tfstate"
                    || name.ends_with(".formwork-new")
                        && !Self::Journal.is_of(call)
                        && !Self::Backup.is_of(call)
            }
        }
    }
}

fn text(path: PathBuf) -> String {
    path.to_string_lossy().into_owned()
}

/// A run: what was there before, what is changed.
#[derive(Clone, Copy, Debug)]
enum Run {
    Create,
    Update,
    Replace,
    Destroy,
}

const RUNS: [Run; 4] = [Run::Create, Run::Update, Run::Replace, Run::Destroy];

impl Run {
    fn command(self) -> &'static [&'static str] {
        match self {
            Self::Destroy => &DESTROY,
            _ => &APPLY,
        }
    }

    /// A lab in which the run is what comes next.
    fn lab(self) -> Lab {
        let lab = Lab::of(strace::binary(), &scenario(), "root", |_| {});
        let write = |stage| {
            let shape = Shape { each: 2, stage };
            lab.env.write("root/main.tf", shape.text());
        };
        write(Stage::Made);
        match self {
            Self::Create => {}
            Self::Update | Self::Replace => {
                lab.run(&APPLY).exits(0);
                write(match self {
                    Self::Update => Stage::Updated,
                    _ => Stage::ReplacedBefore,
                });
            }
            Self::Destroy => {
                lab.run(&APPLY).exits(0);
            }
        }
        lab
    }
}

fn scenario() -> Scenario {
    Scenario::new().taking(1, 5)
}

/// One failure.
#[derive(Clone, Debug)]
struct Case {
    run: Run,
    kind: Kind,
    call: String,
    what: &'static str,
    when: String,
}

/// Every call on a file that a run makes, once and from there on; and what is there before the run.
fn cases(run: Run) -> (Saved, Vec<Case>) {
    let mut lab = run.lab();
    let saved = lab.save(&scenario());
    let traced = strace::run(&lab, run.command(), None, 16);
    assert_eq!(traced.code, Some(0), "{run:?}: {}", traced.output);
    let mut cases = Vec::new();
    for kind in Kind::ALL {
        let mut counts = BTreeMap::<(u32, &str), usize>::new();
        let mut numbers = BTreeSet::<(&str, usize)>::new();
        for call in traced.calls.iter().filter(|call| kind.is_of(call)) {
            let name = call.name.as_str();
            let what = match name {
                "write" => "error=ENOSPC",
                "fdatasync" | "fsync" => "error=EIO",
                "rename" => "error=EROFS",
                _ => continue,
            };
            let count = counts.entry((call.thread, name)).or_default();
            *count += 1;
            if !numbers.insert((name, *count)) {
                continue;
            }
            for when in [count.to_string(), format!("{count}+")] {
                cases.push(Case {
                    run,
                    kind,
                    call: name.to_owned(),
                    what,
                    when,
                });
            }
        }
    }
    (saved, cases)
}

/// Whether the failure was met.
fn check(saved: &Saved, case: &Case) -> bool {
    let Case {
        run,
        kind,
        call,
        what,
        when,
    } = case;
    let lab = Lab::again(strace::binary(), &scenario(), "root", saved);
    let before = lab.log().len();
    let mut injection = Injection::put(what, call, 1).on(kind.files(&lab));
    injection.when.clone_from(when);
    let traced = strace::run(&lab, run.command(), Some(&injection), ALL);
    let told = &traced.output;
    if !traced.calls.iter().any(|call| call.injected) {
        assert_eq!(traced.code, Some(0), "{case:?} was not met, yet: {told}");
        return false;
    }
    assert_eq!(traced.code, Some(1), "{case:?}: {told}");
    let flat: Vec<&str> = told.split_whitespace().collect();
    let flat = flat.join(" ");
    let why = match *what {
        "error=ENOSPC" => "the disk is full",
        "error=EROFS" => "mounted read-only",
        _ => "Input/output error",
    };
    assert!(flat.contains("Error: "), "{case:?}: {told}");
    assert!(flat.contains(why), "{case:?}: {told}");

    // after the call nothing is begun, and nothing is sent but what stood in the journal before
    if let (Kind::Journal, Some(hit)) = (kind, traced.hit(&injection)) {
        let entries = entries(&traced, &text(lab.journal()));
        for entry in &entries {
            let begun = &entry.entry["begun"]["address"];
            let late = !begun.is_null() && entry.written > hit.ended;
            assert!(!late, "{case:?}: {begun} was begun after that");
        }
        let changes = |line: &&serde_json::Value| line["committed"] == true;
        for line in lab.log().split_off(before).iter().filter(changes) {
            let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            let noted = noted(&entries, &word("method"), &word("path"));
            let before = noted.is_some_and(|entry| entry.durable < hit.ended);
            assert!(before, "{case:?}: {line} was not in the journal");
        }
    }
    lab.run(run.command()).exits(0);
    truth::check_agreement(&lab, &format!("{case:?}"));
    if matches!(run, Run::Destroy) {
        assert!(truth::state(&lab).is_empty(), "{case:?}");
    } else {
        let plan = lab.run(&PLAN);
        assert_eq!(plan.code, 0, "{case:?}: {}\nbefore: {told}", plan.text());
    }
    true
}

#[test]
fn a_disk_that_fails_stops_the_run() {
    if !strace::is_allowed() {
        return;
    }
    let all: Vec<(Saved, Vec<Case>)> = RUNS.into_iter().map(cases).collect();
    let all: Vec<(&Saved, &Case)> = all
        .iter()
        .flat_map(|(saved, cases)| cases.iter().map(move |case| (saved, case)))
        .collect();
    let wanted = usize::try_from(budget().as_secs()).unwrap_or(10);
    let every = (all.len() / wanted.max(1)).max(1);
    let tried: Vec<_> = all.iter().step_by(every).collect();
    let met = AtomicUsize::new(0);
    let begun = Instant::now();
    side_by_side(&tried, |_, (saved, case)| {
        met.fetch_add(usize::from(check(saved, case)), Ordering::Relaxed);
    });
    let met = met.into_inner();
    println!(
        "disks: {} of {} failures tried in {:.0} s, {met} of them met; none lost anything",
        tried.len(),
        all.len(),
        begun.elapsed().as_secs_f64()
    );
    assert!(met * 3 > tried.len() * 2, "too few failures were met");
}
