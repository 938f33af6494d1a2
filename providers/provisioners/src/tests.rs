//! Commands that are really run.

use crate::{Running, find};
use formwork_environment::{Environment, Fixed};
use formwork_provider::{LineSink, ProvisionRequest, Provisioner, Reported};
use formwork_values::{Type, Value};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl LineSink for Told {
    fn line(&self, line: &str) {
        self.0.lock().expect("lock").push(line.to_owned());
    }
}

impl Told {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("lock"))
    }
}

fn environment() -> Environment {
    let fixed = Arc::new(Fixed::new(0, 0));
    Environment {
        variables: [
            ("PATH", std::env::var("PATH").expect("PATH")),
            ("OURS", "ours".to_owned()),
        ]
        .map(|(n, v)| (n.to_owned(), v))
        .into(),
        home: None,
        working: "/usr".into(),
        temporary: std::env::temp_dir(),
        who: String::new(),
        process: std::process::id(),
        clock: fixed.clone(),
        randomness: fixed,
    }
}

fn local_exec(running: &Running) -> Arc<dyn Provisioner> {
    find("local-exec", &environment(), running).expect("local-exec")
}

fn config(given: &[(&str, Value)]) -> Value {
    let null = |t: Type| Value::null(t);
    let mut all = vec![
        ("command", null(Type::String)),
        ("environment", null(Type::map(Type::String))),
        ("interpreter", null(Type::list(Type::String))),
        ("quiet", null(Type::Bool)),
        ("working_dir", null(Type::String)),
    ];
    for (name, value) in given {
        let slot = all.iter_mut().find(|(n, _)| n == name).expect("a name");
        slot.1 = value.clone();
    }
    Value::object(all)
}

fn request(given: &[(&str, Value)], withheld: Option<&'static str>) -> ProvisionRequest {
    ProvisionRequest {
        config: config(given),
        connection: Value::null(Type::Dynamic),
        withheld,
    }
}

fn detail(result: Result<(), Vec<Reported>>) -> String {
    match result {
        Ok(()) => "done".to_owned(),
        Err(said) => said
            .iter()
            .map(|r| format!("{}: {}", r.diagnostic.summary, r.diagnostic.detail))
            .collect(),
    }
}

#[tokio::test]
async fn commands() {
    let running = Running::default();
    let exec = local_exec(&running);
    let check = async |given: &[(&str, Value)], lines: &[&str], ended: &str| {
        let told = Told::default();
        let stop = std::pin::pin!(std::future::pending());
        let result = exec.provision(request(given, None), &told, stop).await;
        assert_eq!(told.take(), lines);
        assert_eq!(detail(result), ended, "{lines:?}");
    };
    let command = |text: &str| ("command", Value::string(text));
    check(
        &[command("echo a; echo b >&2; printf c")],
        &[
            "Executing: [\"/bin/sh\" \"-c\" \"echo a; echo b >&2; printf c\"]",
            "a",
            "b",
            "c",
        ],
        "done",
    )
    .await;
    let variables = Value::map(
        Type::String,
        [
            ("OWN", Value::string("own")),
            ("NONE", Value::null(Type::String)),
        ],
    );
    check(
        &[
            command("pwd; echo $OURS $OWN ${NONE-unset}"),
            ("environment", variables),
            ("working_dir", Value::string("bin/..")),
            ("quiet", Value::bool(true)),
        ],
        &[
            "local-exec: Executing: Suppressed by quiet=true",
            "/usr",
            "ours own unset",
        ],
        "done",
    )
    .await;
    check(
        &[
            command("a b"),
            (
                "interpreter",
                Value::list(
                    Type::String,
                    ["echo", "-n", "\u{1}"].map(Value::string).to_vec(),
                ),
            ),
        ],
        &[
            "Executing: [\"echo\" \"-n\" \"\\x01\" \"a b\"]",
            "\u{1} a b",
        ],
        "done",
    )
    .await;
    check(
        &[command("echo why; exit 4")],
        &["Executing: [\"/bin/sh\" \"-c\" \"echo why; exit 4\"]", "why"],
        "local-exec provisioner error: The command `echo why; exit 4` exited with status 4.\n\nIt wrote:\nwhy",
    )
    .await;
    check(
        &[command("kill -9 $$")],
        &["Executing: [\"/bin/sh\" \"-c\" \"kill -9 $$\"]"],
        "local-exec provisioner error: The command `kill -9 $$` was ended by signal 9.",
    )
    .await;
    check(
        &[command("x"), ("working_dir", Value::string("/nowhere"))],
        &["Executing: [\"/bin/sh\" \"-c\" \"x\"]"],
        "local-exec provisioner error: The command `x` could not be started: its working_dir /nowhere is no directory.",
    )
    .await;
    check(
        &[command("")],
        &[],
        "Invalid local-exec provisioner command: The command is null or empty, so there is nothing to run.",
    )
    .await;
}

#[tokio::test]
async fn what_is_withheld_is_in_no_error() {
    let exec = local_exec(&Running::default());
    for given in [
        vec![("command", Value::string("echo hunter22; exit 1"))],
        vec![
            ("command", Value::string("hunter22")),
            ("working_dir", Value::string("/hunter22")),
        ],
        vec![
            ("command", Value::string("hunter22")),
            (
                "interpreter",
                Value::list(Type::String, vec![Value::string("hunter22")]),
            ),
        ],
    ] {
        let stop = std::pin::pin!(std::future::pending());
        let told = Told::default();
        let said = detail(
            exec.provision(request(&given, Some("sensitive")), &told, stop)
                .await,
        );
        assert!(
            said.starts_with("local-exec provisioner error: ") && !said.contains("hunter22"),
            "{said}"
        );
    }
}

/// Whether somebody still holds the writing end of a pipe: then a process of the group lives.
async fn gone(path: &std::path::Path) -> bool {
    let begin = Instant::now();
    let pid = std::fs::read_to_string(path).expect("the process");
    while begin.elapsed() < Duration::from_secs(10) {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        if !stat.is_ok_and(|s| !s.contains(") Z ")) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

/// A command that leaves its own shell's child running, which ignores a polite request.
fn stubborn(pid: &std::path::Path) -> Value {
    Value::string(format!(
        "sh -c 'trap \"\" TERM; echo $$ > {0}.new; mv {0}.new {0}; echo ready; while :; do sleep 0.05; done' & wait",
        pid.display()
    ))
}

/// Says "ready" when the command does.
struct Ready(tokio::sync::Notify);

impl LineSink for Ready {
    fn line(&self, line: &str) {
        if line == "ready" {
            self.0.notify_one();
        }
    }
}

#[tokio::test]
async fn nothing_outlives_an_interruption() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = Running::default();
    let exec = local_exec(&running);
    let ready = Ready(tokio::sync::Notify::new());

    // asked to stop: what does not heed it is killed after a while
    let pid = folder.path().join("stopped");
    let stop = std::pin::pin!(ready.0.notified());
    let result = exec
        .provision(request(&[("command", stubborn(&pid))], None), &ready, stop)
        .await;
    assert!(
        detail(result).contains("since the run was interrupted"),
        "stopped"
    );
    assert!(gone(&pid).await, "stopped");

    // dropped
    let pid = folder.path().join("dropped");
    let never = std::pin::pin!(std::future::pending());
    tokio::select! {
        _ = exec.provision(request(&[("command", stubborn(&pid))], None), &ready, never) => panic!("it ended"),
        () = ready.0.notified() => {}
    }
    assert!(gone(&pid).await, "dropped");

    // killed at the end of the process
    let pid = folder.path().join("killed");
    let never = std::pin::pin!(std::future::pending());
    let run = exec.provision(request(&[("command", stubborn(&pid))], None), &ready, never);
    let killing = async {
        ready.0.notified().await;
        running.kill_all();
    };
    let (result, ()) = tokio::join!(run, killing);
    assert!(detail(result).contains("was ended by signal 9"), "killed");
    assert!(gone(&pid).await, "killed");
}

#[test]
fn others_are_refused_by_name() {
    let running = Running::default();
    let found = |kind: &str| find(kind, &environment(), &running);
    for kind in ["file", "remote-exec"] {
        let refusal = found(kind).expect("it is known").unserved();
        let detail = refusal.expect("it is not served").detail;
        assert!(
            detail.contains(&format!("does not run the provisioner \"{kind}\"")),
            "{detail}"
        );
    }
    let said = found("chef").err().expect("there is none");
    let detail: String = said.iter().map(|d| d.detail.clone()).collect();
    assert!(
        detail.contains("There is no provisioner \"chef\""),
        "{detail}"
    );
    let exec = found("remote-exec").expect("it is known");
    let check = |given: &[&str], wrong: usize| {
        let value = |n: &str| {
            let there = given.contains(&n);
            if there {
                Value::string("x")
            } else {
                Value::null(Type::String)
            }
        };
        let config = Value::object(["inline", "script", "scripts"].map(|n| (n, value(n))));
        assert_eq!(exec.validate(&config).len(), wrong, "{given:?}");
    };
    check(&[], 1);
    check(&["script"], 0);
    check(&["script", "inline"], 1);
}

#[test]
fn validation() {
    let exec = local_exec(&Running::default());
    let check = |given: &[(&str, Value)], want: &[&str]| {
        let said = exec.validate(&config(given));
        let said: Vec<_> = said.iter().map(|r| r.path.to_string()).collect();
        assert_eq!(said, want);
    };
    let command = ("command", Value::string("x"));
    check(std::slice::from_ref(&command), &[]);
    check(&[("command", Value::unknown(Type::String))], &[]);
    check(&[("command", Value::string(""))], &[".command"]);
    let word = Value::list(Type::String, vec![Value::null(Type::String)]);
    check(&[command, ("interpreter", word)], &[".interpreter"]);
}
