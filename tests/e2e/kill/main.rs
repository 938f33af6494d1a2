//! Runs that are killed, cut off, refused: nothing is lost, nothing is made twice.
//!
//! **The kill test.** `mock serve` in a process of its own; `apply` of the blueprint's a4 example with
//! 4 nodes is killed with -9, in every second round the next `apply` too; then one runs to its end. 5 %
//! of the mock's answers to requests that change something are cut off after it has done what was
//! asked. Afterwards, each time: `mock list` shows exactly the objects of the state; the request log
//! holds at most one committed creation per object over the whole sequence, and no deletion; every
//! object that was there at a kill is there still, the same one; the next `plan` is empty.
//!
//! How many rounds there are is told by `FORMWORK_TEST_BUDGET`, in seconds:
//!
//! * below 300 (10 by default), the mock's operations take 20-80 ms, and the kill falls at the Nth
//!   line of its request log, N drawn from the seed: 3 rounds at least, then as many as there is time
//!   for;
//! * from 300 on they take 200-800 ms, and the kill falls at a moment drawn evenly over the length of a
//!   whole apply, which is measured first: one round for every 12 seconds. At least 3 of 5 kills must
//!   find an operation begun and not ended. 50 rounds:
//!
//!   ```text
//!   FORMWORK_TEST_BUDGET=600 cargo test -p formwork --test kill killed_applies -- --nocapture
//!   ```
//!
//! `FORMWORK_TEST_SEED` draws other moments; the seed is printed.
//!
//! **Changes** (`changes.rs`): the same while objects are changed, replaced and destroyed.
//!
//! **Faults** (`faults.rs`): everything else that may go wrong in the middle of an apply.
//!
//! **Locks** that are lost in the middle of a run (`lost.rs`), and runs that end in the middle of a
//! **provisioner** (`provisioned.rs`).
//!
//! **Under strace**, so skipped where ptrace is not allowed: killed at every kind of call over a whole
//! life (`points.rs`); that what is sent stands durably in the journal first (`durable.rs`); disks that
//! are full, broken or read-only (`disks.rs`); two runs at once, and Terraform's between ours
//! (`together.rs`). These run `FORMWORK_BIN`; without it, from a budget of 300 on, the release binary,
//! which they build into cargo's target directory; else what cargo has built for the tests.

// A test may end by panicking, its helpers too; and they say what they have tried.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod changes;
mod disks;
mod durable;
mod faults;
mod lab;
mod lost;
mod points;
mod provisioned;
mod strace;
mod together;
mod truth;

use formwork_testkit::{Scenario, TestEnv, budget};
use lab::{Kill, Lab};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

const ROOT: &str = "roce-cluster/examples/a4";
const APPLY: [&str; 3] = ["apply", "-auto-approve", "-input=false"];
const DESTROY: [&str; 3] = ["destroy", "-auto-approve", "-input=false"];
const PLAN: [&str; 3] = ["plan", "-detailed-exitcode", "-input=false"];

/// Says that something is not tried here, and why. Straight to the stream: what macros print is shown
/// only of tests that fail.
fn skipped(why: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// A small generator: a round's moments are a function of the seed and the round.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly from 1 to `most`.
    fn up_to(&mut self, most: usize) -> usize {
        1 + usize::try_from(self.next() % most.max(1) as u64).unwrap_or(0)
    }
}

/// The blueprint, with the a4 example made to have 4 nodes.
fn four_nodes(env: &TestEnv) {
    let blueprint = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../blueprints/roce-cluster");
    env.copy_to(&blueprint, "roce-cluster");
    let file = format!("{ROOT}/main.tf");
    let four: String = env
        .text(&file)
        .lines()
        .map(|line| match line.trim_start().starts_with("node_count ") {
            true => "  node_count = 4\n".to_owned(),
            false => format!("{line}\n"),
        })
        .collect();
    assert!(four.contains("node_count = 4\n"));
    env.write(&file, four);
}

fn scenario(seed: u64, (shortest, longest): (u64, u64)) -> Scenario {
    Scenario::new()
        .with("seed", json!(seed))
        .taking(shortest, longest)
        .fault(json!({"mutating": true, "probability": 0.05, "cut": "after_commit"}))
}

/// What a round was like.
struct Round {
    /// Operations that were begun and not ended at the first kill.
    open: usize,
    /// Answers that were cut off.
    cut: usize,
}

/// One round: killed, perhaps killed again, run to its end; then everything is looked at.
fn round(number: u64, seed: u64, latency: (u64, u64), kills: &[Kill]) -> Round {
    let lab = Lab::new(&scenario(seed + number, latency), ROOT, four_nodes);
    let mut open = None;
    let mut survivors = BTreeMap::new();
    for kill in kills {
        let code = lab.run_killed(&APPLY, *kill);
        assert!(
            code.is_none_or(|code| code == 0),
            "round {number}: an apply failed before it was killed ({kill:?})\n{}",
            lab.env.started_output()
        );
        open.get_or_insert(truth::pending(&lab).len());
        survivors.extend(truth::Cloud::of(&lab).objects);
    }
    let what = format!("round {number}, {kills:?}");
    lab.run(&APPLY).exits(0);
    let (cloud, _) = truth::check_agreement(&lab, &what);
    for (link, birth) in survivors {
        assert_eq!(
            cloud.objects.get(&link),
            Some(&birth),
            "{what}: {link} was there at a kill"
        );
    }
    let log = lab.log();
    let twice = truth::made_twice(&log);
    assert!(twice.is_empty(), "{what}: made more than once: {twice:#?}");
    let deleted = truth::deleted(&log);
    assert!(deleted.is_empty(), "{what}: deleted: {deleted:#?}");
    lab.run(&PLAN).exits(0);
    Round {
        open: open.unwrap_or(0),
        cut: log.iter().filter(|line| line["status"].is_null()).count(),
    }
}

#[test]
fn killed_applies_lose_nothing() {
    let begun = Instant::now();
    let budget = budget();
    let seed = std::env::var("FORMWORK_TEST_SEED").map_or(20_260_401, |text| {
        text.parse().expect("FORMWORK_TEST_SEED is a whole number")
    });
    let by_clock = budget >= Duration::from_secs(300);
    let latency = if by_clock { (200, 800) } else { (20, 80) };

    // A whole apply, to be measured.
    let lab = Lab::new(&scenario(seed, latency), ROOT, four_nodes);
    let before = lab.log_lines();
    let whole = Instant::now();
    lab.run(&APPLY).exits(0);
    let whole = whole.elapsed();
    let lines = lab.log_lines() - before;
    drop(lab);
    println!(
        "kill test: seed {seed}, operations of {}-{} ms, a whole apply: {:.2} s, {lines} requests",
        latency.0,
        latency.1,
        whole.as_secs_f64()
    );

    let rounds = if by_clock {
        budget.as_secs() / 12
    } else {
        budget.as_secs().max(3)
    };
    let (mut done, mut with_open) = (0, 0);
    for number in 1..=rounds {
        if !by_clock && number > 3 && begun.elapsed() > budget {
            break;
        }
        let mut draw = Draw(seed ^ number.rotate_left(40));
        let mut moment = || {
            if by_clock {
                // the upper 53 bits: evenly between 0 and 1
                Kill::After(whole.mul_f64((draw.next() >> 11) as f64 / (1u64 << 53) as f64))
            } else {
                Kill::AtLine(draw.up_to(lines))
            }
        };
        let mut kills = vec![moment()];
        if number % 2 == 0 {
            kills.push(moment());
        }
        let Round { open, cut } = round(number, seed, latency, &kills);
        println!(
            "round {number}: {kills:?}: {open} operations begun and not ended at the kill, {cut} answers cut off"
        );
        done += 1;
        with_open += u64::from(open > 0);
    }
    println!(
        "kill test: in {with_open} of {done} rounds an operation was begun and not ended at the kill"
    );
    if by_clock {
        assert!(
            with_open * 5 >= done * 3,
            "too few kills fell into an operation: {with_open} of {done}"
        );
    }
}
