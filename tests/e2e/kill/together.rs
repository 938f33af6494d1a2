//! Two runs at once on one state, of which one may be Terraform's, and runs of the two in turn.
//!
//! All of it with `terraform_data`, without any cloud. Where a run has to stand still while it holds
//! the state, it is stopped (SIGSTOP) at a call: as it begins to write its journal, before the rename of
//! its new state, between the rename and the sync of the directory, and as its journal goes.
//!
//! What needs the `terraform` binary, or ptrace, is skipped without it, and says so.

use crate::APPLY;
use crate::strace::{self, Injection, with_new};
use formwork_testkit::{Ran, TestEnv, until};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// Where Terraform is; says so if nowhere.
fn terraform() -> Option<&'static str> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut places = path.split(':').map(|place| format!("{place}/terraform"));
        places.find(|place| std::path::Path::new(place).is_file())
    });
    if found.is_none() {
        crate::skipped("there is no terraform here to run beside");
    }
    found.as_deref()
}

fn env() -> TestEnv {
    TestEnv::new(strace::binary())
        .with("TF_CLI_CONFIG_FILE", "/dev/null")
        .with("CHECKPOINT_DISABLE", "1")
}

/// Where a run has put its state in place, and has not made that durable yet.
const BETWEEN: &str = "between the rename and the sync of the directory";

/// A chain, so that some of it is done and some is not when a run dies.
fn configuration(word: &str, more: usize) -> String {
    format!(
        r#"
resource "terraform_data" "a" {{
  input = "{word}"
}}

resource "terraform_data" "b" {{
  count            = {more}
  input            = [terraform_data.a.output, count.index, null, {{ deep = true }}]
  triggers_replace = "{word}"
}}

resource "terraform_data" "c" {{
  for_each = toset(["x", "y z", "\"q\""])
  input    = sensitive("${{each.key}} {word}")

  lifecycle {{
    create_before_destroy = true
  }}
}}

output "word" {{
  value = terraform_data.a.output
}}
"#
    )
}

fn made_by_terraform(env: &TestEnv, terraform: &str, arguments: &[&str]) -> Ran {
    env.run_program(terraform, arguments, "")
}

fn flat(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// Whether the process stands still.
fn is_stopped(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    let state = status.rsplit(')').next().unwrap_or_default().trim_start();
    state.starts_with(['T', 't'])
}

/// A process that does not outlive the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Lets it go on, as often as it stops, to its end; whether that was a good one.
    fn goes_on(&mut self) -> bool {
        let id = i32::try_from(self.0.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw)
            .expect("a process");
        let mut ended = None;
        until("the stopped run ends", || {
            if is_stopped(&self.0) {
                let _ = rustix::process::kill_process(id, rustix::process::Signal::CONT);
            }
            ended = self.0.try_wait().expect("a child");
            ended.is_some()
        });
        ended.is_some_and(|status| status.success())
    }
}

#[test]
fn one_run_works_and_the_other_waits_or_is_told_who() {
    if !strace::is_allowed() {
        return;
    }
    type Stop = fn(&TestEnv) -> Injection;
    let stops: [(&str, Stop); 4] = [
        ("as it begins its journal", |_| {
            Injection::put("signal=SIGSTOP", "fdatasync", 1)
        }),
        ("before the rename", |env| {
            Injection::put("signal=SIGSTOP", "fdatasync", 1)
                .on(with_new(&env.path().join("terraform.tfstate")))
        }),
        // a call that SIGSTOP is put into is carried out, and the process stops as it returns
        (BETWEEN, |env| {
            Injection::put("signal=SIGSTOP", "rename", 1)
                .on(with_new(&env.path().join("terraform.tfstate")))
        }),
        ("as the journal goes", |env| {
            Injection::put("signal=SIGSTOP", "unlink", 1)
                .on(with_new(&env.path().join("terraform.tfstate.journal")))
        }),
    ];
    for before in [false, true] {
        for (what, injection) in stops {
            let env = env();
            if before {
                env.write("main.tf", configuration("zero", 1));
                env.run(&APPLY).exits(0);
            }
            env.write("main.tf", configuration("one", 2));
            let injection = injection(&env);
            let mut first = Running(strace::start(&env, &APPLY, Some(&injection), 32));
            let stopped = format!("SIGSTOP {what}");
            until(&stopped, || is_stopped(&first.0) && has_stopped(&env));
            if what.contains("rename") {
                let trace = env.path().join("../trace");
                let trace = std::fs::read_to_string(trace).expect("a trace");
                let mut renames = trace.lines().filter(|line| line.contains("rename("));
                let done = renames.any(|line| line.ends_with(" = 0"));
                assert_eq!(done, what == BETWEEN, "{what}: {trace}");
            }

            let refused = env.run(&APPLY);
            refused.exits(1);
            let told = flat(&refused.stderr);
            for word in [
                "Error acquiring the state lock",
                "Lock Info: ID: ",
                "Operation: OperationTypeApply",
                "Who: tester@",
                "Created: 20",
                "-lock-timeout",
            ] {
                assert!(told.contains(word), "{what}: {word:?}: {told}");
            }
            if let Some(terraform) = terraform() {
                let refused = made_by_terraform(&env, terraform, &["apply", "-auto-approve"]);
                refused.exits(1);
                let told = flat(&refused.text());
                for word in [
                    "Error acquiring the state lock",
                    "tester@",
                    "OperationTypeApply",
                ] {
                    assert!(told.contains(word), "{what}: {word:?}: {told}");
                }
            }
            let waits = [
                "apply",
                "-auto-approve",
                "-input=false",
                "-lock-timeout=90s",
            ];
            let mut second = env
                .command(&waits)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .map(Running)
                .expect("the binary runs");
            assert!(first.goes_on(), "{what}");
            assert!(second.goes_on(), "{what}");
            env.run(&["plan", "-detailed-exitcode"]).exits(0);
            assert!(!env.has(".terraform.tfstate.lock.info"), "{what}");
            assert!(!env.has("terraform.tfstate.journal"), "{what}");
        }
    }
}

/// Whether the trace says that a signal has stopped the process: before, it may be strace's doing.
fn has_stopped(env: &TestEnv) -> bool {
    let trace = std::fs::read(env.path().join("../trace")).unwrap_or_default();
    String::from_utf8_lossy(&trace).contains("--- stopped by SIGSTOP ---")
}

#[test]
fn terraform_holds_the_state() {
    let Some(terraform) = terraform() else { return };
    let env = env();
    env.write("main.tf", configuration("one", 2));
    made_by_terraform(&env, terraform, &["init"]).exits(0);
    // it holds the lock while it waits for an answer
    let mut command = Command::new(terraform);
    command
        .arg("apply")
        .current_dir(env.path())
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .env("CHECKPOINT_DISABLE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    let mut first = Running(command.spawn().expect("terraform runs"));
    let info = ".terraform.tfstate.lock.info";
    until("terraform holds the lock", || {
        env.has(info) && env.text(info).contains("OperationTypeApply")
    });
    let refused = env.run(&APPLY);
    refused.exits(1);
    let told = flat(&refused.stderr);
    for word in [
        "Error acquiring the state lock",
        "Who: ",
        "Operation: OperationTypeApply",
    ] {
        assert!(told.contains(word), "{word:?}: {told}");
    }
    let waits = [
        "apply",
        "-auto-approve",
        "-input=false",
        "-lock-timeout=90s",
    ];
    let mut second = env
        .command(&waits)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(Running)
        .expect("the binary runs");
    let mut answer = first.0.stdin.take().expect("a pipe");
    answer.write_all(b"yes\n").expect("answered");
    drop(answer);
    assert!(first.goes_on());
    assert!(second.goes_on());
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
    made_by_terraform(&env, terraform, &["plan", "-detailed-exitcode"]).exits(0);
}

/// The objects of a state: id, and the instance; with what is deposed.
fn objects(state: &str) -> BTreeMap<String, String> {
    let state: Value = serde_json::from_str(state).unwrap_or_default();
    let mut found = BTreeMap::new();
    for resource in state["resources"].as_array().into_iter().flatten() {
        for instance in resource["instances"].as_array().into_iter().flatten() {
            let id = instance["attributes"]["id"].as_str().expect("an id");
            let place = format!(
                "{}[{}]{}",
                resource["name"], instance["index_key"], instance["deposed"]
            );
            let other = found.insert(id.to_owned(), place);
            assert_eq!(other, None, "{id} is there twice");
        }
    }
    found
}

#[test]
fn terraform_applies_after_a_kill() {
    if !strace::is_allowed() {
        return;
    }
    let Some(terraform) = terraform() else { return };
    let points = match formwork_testkit::budget().as_secs() {
        300.. => 1..=30,
        _ => 2..=5,
    };
    let mut killed = 0;
    for before in [false, true] {
        for when in points.clone() {
            for call in ["fdatasync", "rename"] {
                let what = format!("killed at {call} {when}, state before: {before}");
                let env = env();
                if before {
                    env.write("main.tf", configuration("zero", 1));
                    env.run(&APPLY).exits(0);
                }
                let known = objects(&env.run(&["state", "pull"]).exits(0).stdout);
                env.write("main.tf", configuration("one", 3));
                let injection = Injection::kill(call, when);
                let mut child = strace::start(&env, &APPLY, Some(&injection), 32);
                let status = child.wait().expect("it has ended");
                if status.success() {
                    continue;
                }
                killed += 1;
                // what our run had done by then
                let ours = objects(&env.run(&["state", "pull"]).exits(0).stdout);

                // the lock's message that the dead left behind holds nobody up
                made_by_terraform(&env, terraform, &["init"]).exits(0);
                made_by_terraform(&env, terraform, &["apply", "-auto-approve"]).exits(0);
                let theirs = objects(&env.text("terraform.tfstate"));

                let plan = env.run(&["plan", "-detailed-exitcode", "-input=false"]);
                assert!([0, 2].contains(&plan.code), "{what}: {}", plan.text());
                let now = objects(&env.run(&["state", "pull"]).exits(0).stdout);
                for (id, place) in &theirs {
                    assert_eq!(now.get(id), Some(place), "{what}: terraform's {id}");
                }
                for (id, place) in ours.iter().filter(|(id, _)| !known.contains_key(*id)) {
                    assert!(
                        now.contains_key(id),
                        "{what}: our {id}, {place}, is forgotten"
                    );
                }
                let all: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
                for id in now.keys() {
                    assert!(
                        all.contains(id),
                        "{what}: {id} is from nowhere: {ours:#?} {theirs:#?} {now:#?}"
                    );
                }
                // what is there twice is in the plan, to go
                let twice = now.len() - theirs.len();
                let line = format!("0 to add, 0 to change, {twice} to destroy");
                if twice > 0 {
                    plan.says(&[&line, "deposed"]);
                } else {
                    plan.exits(0);
                }
                env.run(&APPLY).exits(0);
                assert_eq!(objects(&env.text("terraform.tfstate")), theirs, "{what}");
                env.run(&["plan", "-detailed-exitcode"]).exits(0);
                made_by_terraform(&env, terraform, &["plan", "-detailed-exitcode"]).exits(0);
            }
        }
    }
    println!("together: {killed} applies killed and followed by terraform's");
    assert!(killed > 4, "{killed}");
}

#[test]
fn either_goes_on_from_the_others_state() {
    let Some(terraform) = terraform() else { return };
    for ours_first in [true, false] {
        let env = env();
        env.write("main.tf", configuration("one", 1));
        made_by_terraform(&env, terraform, &["init"]).exits(0);
        for (number, word) in ["one", "two", "three", "four"].into_iter().enumerate() {
            env.write("main.tf", configuration(word, 1 + number % 3));
            if (number % 2 == 0) == ours_first {
                env.run(&APPLY).exits(0);
            } else {
                made_by_terraform(&env, terraform, &["apply", "-auto-approve"]).exits(0);
            }
            made_by_terraform(&env, terraform, &["plan", "-detailed-exitcode"]).exits(0);
            env.run(&["plan", "-detailed-exitcode"]).exits(0);
        }
    }
}

/// Terraform opens the file of the state once, and keeps it while it waits for the lock: what it gets must
/// be the state that our run has left, at the place where everybody looks for it.
#[test]
fn terraform_waits_for_a_run_of_ours() {
    let Some(terraform) = terraform() else { return };
    let env = env();
    made_by_terraform(&env, terraform, &["version"]).exits(0);
    for word in ["one", "two"] {
        env.write(
            "main.tf",
            format!(
                "{}\nresource \"terraform_data\" \"slow\" {{\n  triggers_replace = \"{word}\"\n  provisioner \"local-exec\" \
                 {{\n    command = \"touch began-{word}; while [ ! -e go-{word} ]; do sleep 0.1; done\"\n  }}\n}}\n",
                configuration(word, 2)
            ),
        );
        made_by_terraform(&env, terraform, &["init"]).exits(0);
        let mut ours = env.start(&APPLY);
        formwork_testkit::until("it holds the lock", || env.has(&format!("began-{word}")));
        let mut waits = Command::new(terraform)
            .args(["apply", "-auto-approve", "-no-color", "-lock-timeout=120s"])
            .current_dir(env.path())
            .env("TF_CLI_CONFIG_FILE", "/dev/null")
            .stdout(std::fs::File::create(env.path().join("said")).expect("a file"))
            .spawn()
            .expect("it runs");
        formwork_testkit::until("it waits", || env.text("said").contains("Acquiring"));
        env.write(&format!("go-{word}"), "");
        assert!(ours.wait().expect("it ends").success());
        assert!(waits.wait().expect("it ends").success());
        let said = env.text("said");
        assert!(said.contains("0 added, 0 changed, 0 destroyed"), "{said}");
        env.run(&["plan", "-detailed-exitcode"]).exits(0);
        let left = std::fs::read_dir(env.path()).expect("a directory");
        let left = left
            .flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned());
        assert!(left.into_iter().all(|name| !name.contains("formwork-new")));
    }
}

#[test]
fn the_message_of_a_dead_run_holds_nobody_up() {
    if !strace::is_allowed() {
        return;
    }
    let env = env();
    env.write("main.tf", configuration("one", 2));
    let injection = Injection::kill("fdatasync", 3);
    let mut child = strace::start(&env, &APPLY, Some(&injection), 32);
    assert!(!child.wait().expect("it has ended").success());
    assert!(env.has(".terraform.tfstate.lock.info"));
    env.run(&APPLY).exits(0);
    assert!(!env.has(".terraform.tfstate.lock.info"));
    env.run(&["plan", "-detailed-exitcode"]).exits(0);
}
