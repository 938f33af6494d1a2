//! Lines of JSON for programs: `-json`, and `-json-into` beside the text for people.

use crate::env;
use formwork_testkit::{TestEnv, interrupt, until};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;

const MAIN: &str = r#"
variable "v" {
  default = 1
  validation {
    condition     = var.v < 5
    error_message = "too big"
  }
}
resource "terraform_data" "a" { input = var.v }
check "c" {
  assert {
    condition     = terraform_data.a.output == 7
    error_message = "warn me"
  }
}
output "o" { value = terraform_data.a.output }
output "s" {
  value     = "hunter2"
  sensitive = true
}
"#;

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}")))
        .collect()
}

fn kinds(lines: &[Value]) -> String {
    let kind = |l: &Value| l["type"].as_str().expect("a type").to_owned();
    lines.iter().map(kind).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_a_run_tells() {
    let env = env();
    env.write("main.tf", MAIN);
    for (arguments, exit, want) in [
        (
            &["plan", "-json", "-out=p"][..],
            0,
            "version planned_change change_summary outputs diagnostic",
        ),
        (
            &["apply", "-json", "p"],
            0,
            "version planned_change apply_start apply_complete diagnostic change_summary outputs",
        ),
        (
            &["apply", "-json", "-auto-approve", "-var=v=2"],
            0,
            "version refresh_start refresh_complete planned_change change_summary outputs apply_start \
             apply_complete diagnostic change_summary outputs",
        ),
        (&["apply", "-json"], 1, "version diagnostic"),
        (
            &["plan", "-json", "-destroy"],
            0,
            "version refresh_start refresh_complete planned_change change_summary outputs",
        ),
        (
            &["destroy", "-json", "-auto-approve"],
            0,
            "version refresh_start refresh_complete planned_change change_summary outputs apply_start \
             apply_complete change_summary",
        ),
    ] {
        let ran = env.run(arguments);
        assert!(
            ran.exits(exit).stderr.is_empty(),
            "{arguments:?}: {}",
            ran.stderr
        );
        let lines = lines(&ran.stdout);
        // what is said of an apply is said before its counts
        let last = |kind: &str| lines.iter().rposition(|l| l["type"] == kind);
        if let (Some(said), Some(summed)) = (last("diagnostic"), last("change_summary"))
            && kinds(&lines).contains("apply_complete")
            && exit == 0
        {
            assert!(said < summed, "{arguments:?}: {}", kinds(&lines));
        }
        // a plan may tell what it found at any time
        let mut got: Vec<String> = kinds(&lines).split(' ').map(str::to_owned).collect();
        let mut want: Vec<String> = want.split_whitespace().map(str::to_owned).collect();
        assert_eq!(got.first().map(String::as_str), Some("version"));
        for side in [&mut got, &mut want] {
            side.retain(|k| k != "diagnostic" || exit != 0);
        }
        assert_eq!(got, want, "{arguments:?}");
        assert!(!ran.stdout.contains("hunter2"));
        assert_eq!(lines[0]["ui"], "1.2");
    }
    env.write("bad.tf", "x");
    let ran = env.run(&["plan", "-json"]);
    let told = lines(&ran.exits(1).stdout);
    assert_eq!(kinds(&told), "version diagnostic");
    assert_eq!(told[1]["diagnostic"]["range"]["filename"], "bad.tf");
    env.write("bad.tf", "");
    let ran = env.run(&["plan", "-json", "-var=v=9"]);
    let told = lines(&ran.exits(1).stdout);
    let said = told
        .iter()
        .find(|l| l["type"] == "diagnostic")
        .expect("an error");
    assert_eq!(said["diagnostic"]["summary"], "Invalid value for variable");
    env.run(&["plan", "-json", "-json-into=x"]).exits(1);
}

#[test]
fn a_file_beside_the_text() {
    let env = env();
    env.write("main.tf", MAIN);
    env.run(&["apply", "-auto-approve", "-json-into=lines"])
        .exits(0)
        .says(&["Apply complete! Resources: 1 added"]);
    let told = kinds(&lines(&env.text("lines")));
    assert!(
        told.starts_with("version planned_change change_summary outputs"),
        "{told}"
    );
    assert!(told.ends_with(" outputs"), "{told}");
    for command in [
        &["init", "-json-into=more"][..],
        &["plan", "-json-into=more"],
        &["refresh", "-json-into=more"],
        &["apply", "-auto-approve", "-concise", "-json-into=more"],
        &["destroy", "-auto-approve", "-json-into=more"],
    ] {
        let ran = env.run(command);
        assert!(!ran.exits(0).stdout.starts_with('{'), "{command:?}");
        let told = lines(&env.text("more"));
        assert_eq!(told[0]["type"], "version", "{command:?}");
        assert!(told.len() > 1, "{command:?}");
        for line in &told {
            if let Err(why) = formwork_testkit::Format::Ui.check(line) {
                panic!("{command:?}: {why}");
            }
        }
    }
    // commands that answer with one document, and tests
    env.write("more", "old").write(
        "a.tftest.hcl",
        "run \"r\" {\n  expect_failures = [check.c]\n}\n",
    );
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(env.path().join("more"), open).expect("set");
    env.run(&["validate", "-json-into=more"])
        .exits(0)
        .says(&["The configuration is valid"]);
    assert_eq!(
        env.text("more"),
        env.run(&["validate", "-json"]).exits(0).stdout
    );
    assert_eq!(mode(&env, "more"), 0o600);
    env.run(&["test", "-json-into=tested"])
        .exits(0)
        .says(&["1 passed"]);
    let told = kinds(&lines(&env.text("tested")));
    assert!(
        told.starts_with("version test_abstract test_file"),
        "{told}"
    );
    assert!(told.ends_with("test_summary"), "{told}");
    assert_eq!(mode(&env, "tested"), 0o600);
    // what goes wrong is in it
    env.write("bad.tf", "x");
    for command in ["plan", "apply", "refresh", "init"] {
        let ran = env.run(&[command, "-json-into=wrong"]);
        ran.exits(1);
        let told = lines(&env.text("wrong"));
        let last = told.last().expect("lines");
        assert_eq!(last["@level"], "error", "{command}: {last}");
        assert_eq!(mode(&env, "wrong"), 0o600);
    }
    env.run(&["validate", "-json-into=wrong"]).exits(1);
    let told: Value = serde_json::from_str(&env.text("wrong")).expect("JSON");
    assert_eq!(told["valid"], false);
    for command in ["validate", "test"] {
        env.run(&[command, "-json", "-json-into=x"]).exits(1);
    }
    env.run(&["plan", "-json-into=none/lines"])
        .exits(1)
        .says(&["Failed to write the event stream"]);
}

fn mode(env: &TestEnv, path: &str) -> u32 {
    let file = std::fs::metadata(env.path().join(path)).expect("a file");
    file.permissions().mode() & 0o777
}

/// A run that is interrupted tells its end.
#[test]
fn an_interrupted_run() {
    let env = env();
    env.write(
        "main.tf",
        "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"touch begun; \
         while [ ! -e end ]; do sleep 0.05; done\"\n  }\n}\nresource \"terraform_data\" \"b\" {\n  input = \
         terraform_data.a.id\n}\n",
    );
    let mut run = env.start(&["apply", "-auto-approve", "-json-into=lines"]);
    until("it works", || env.has("begun"));
    interrupt(&run);
    until("it has noticed", || {
        env.started_output().to_lowercase().contains("interrupt")
    });
    env.write("end", "");
    assert!(!run.wait().expect("it ends").success());
    let told = lines(&env.text("lines"));
    let last = told.last().expect("lines");
    assert_eq!(last["type"], "diagnostic", "{}", kinds(&told));
    assert_eq!(mode(&env, "lines"), 0o600);
}
