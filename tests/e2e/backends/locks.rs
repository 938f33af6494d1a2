//! Who holds a state is told in a form that pipelines read, and who has left it can be put out.

use super::*;
use formwork_testkit::until;
use serde_json::json;
use std::path::Path;

/// The part of the message that tofu-controller and terraform-exec read.
#[track_caller]
fn lock_info(ran: &Ran) -> Vec<(String, String)> {
    ran.exits(1).says(&["Error acquiring the state lock"]);
    let (_, block) = ran
        .stderr
        .split_once("Lock Info:\n")
        .unwrap_or_else(|| panic!("no block in {}", ran.stderr));
    let lines = block.lines().take_while(|l| !l.is_empty());
    let pairs: Vec<(String, String)> = lines
        .map(|l| {
            let (name, value) = l.split_once(':').expect("a name");
            (name.trim().to_owned(), value.trim().to_owned())
        })
        .collect();
    let names: Vec<&str> = pairs.iter().map(|(n, _)| n.as_str()).collect();
    assert_eq!(
        names,
        [
            "ID",
            "Path",
            "Operation",
            "Who",
            "Version",
            "Created",
            "Info"
        ]
    );
    pairs
}

fn value<'i>(info: &'i [(String, String)], name: &str) -> &'i str {
    info.iter()
        .find(|(n, _)| n == name)
        .map_or("", |(_, v)| v.as_str())
}

/// A run of ours that holds the state of a bucket until it is let go: the first object of its journal is
/// long in coming.
fn slow_bucket(env: &TestEnv) -> Bucket {
    let slow = json!({
        "method": "storage.objects.insert", "name": "p/default.tfjournal/0000000001-0000000000",
        "times": 1, "delay_ms": 2_500,
    });
    Bucket::new(env, &Scenario::new().fault(slow))
}

#[test]
fn a_bucket_held_by_us() {
    let env = surroundings();
    let bucket = slow_bucket(&env);
    for folder in ["one", "two"] {
        env.write(&format!("{folder}/main.tf"), bucket.block("p") + CONTENT);
        env.run(&[&format!("-chdir={folder}"), "init"]).exits(0);
    }
    let mut first = env.start(&["-chdir=one", "apply", "-auto-approve"]);
    until("it is locked", || {
        bucket
            .objects(&env)
            .contains(&"p/default.tflock".to_owned())
    });
    let refused = env.run(&["-chdir=two", "apply", "-auto-approve"]);
    let info = lock_info(&refused);
    assert_eq!(value(&info, "Operation"), "OperationTypeApply");
    assert_eq!(value(&info, "Path"), "gs://states/p/default.tfstate");
    assert!(value(&info, "ID").parse::<u64>().is_ok(), "{info:?}");
    // who only looks is not kept from it, and who says so
    env.run(&["-chdir=two", "state", "list"])
        .exits(1)
        .says(&["No state file was found"]);
    env.run(&["-chdir=two", "plan", "-lock=false"]).exits(0);
    if let Some(terraform) = terraform() {
        let theirs = run_terraform(&env, &terraform, "two", &["plan", "-no-color"]);
        theirs.exits(1).says(&[
            &format!("ID:        {}", value(&info, "ID")),
            "Operation: OperationTypeApply",
        ]);
    }
    // who waits gets it
    env.run(&["-chdir=two", "apply", "-auto-approve", "-lock-timeout=60s"])
        .exits(0)
        .says(&["No changes."]);
    assert!(
        first.wait().expect("it ends").success(),
        "{}",
        env.started_output()
    );
    assert_eq!(bucket.objects(&env), ["p/default.tfstate"]);
}

#[test]
fn a_lock_that_was_left() {
    let env = surroundings();
    let bucket = slow_bucket(&env);
    let http = StateServer::new();
    for (folder, block) in [("gcs", bucket.block("p")), ("http", http.block())] {
        env.write(&format!("{folder}/main.tf"), block + CONTENT);
        env.run(&[&format!("-chdir={folder}"), "init"]).exits(0);
    }
    // a run dies
    let mut first = env.start(&["-chdir=gcs", "apply", "-auto-approve"]);
    until("it is locked", || {
        bucket
            .objects(&env)
            .contains(&"p/default.tflock".to_owned())
    });
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    http.kept.lock().expect("no panic").lock =
        Some(br#"{"ID":"left","Who":"u@h","Version":"1.0.0"}"#.to_vec());
    for folder in ["gcs", "http"] {
        let chdir = format!("-chdir={folder}");
        let own = |words: &[&str]| {
            let mut all = vec![chdir.as_str()];
            all.extend(words);
            env.run(&all)
        };
        let info = lock_info(&own(&["plan"]));
        let id = value(&info, "ID");
        own(&["force-unlock", id])
            .exits(1)
            .says(&["Nobody can be asked", "-force"]);
        env.run_with(&[&chdir, "force-unlock", id], "no\n", &[])
            .exits(1)
            .says(&["cancelled"]);
        if folder == "gcs" {
            own(&["force-unlock", "-force", "12"])
                .exits(1)
                .says(&["12"]);
            own(&["force-unlock", "-force", "x"])
                .exits(1)
                .says(&["a number"]);
        }
        env.run_with(&[&chdir, "force-unlock", id], "yes\n", &[])
            .exits(0)
            .says(&["has been successfully unlocked!"]);
        own(&["apply", "-auto-approve"]).exits(0);
        own(&["plan", "-detailed-exitcode"]).exits(0);
    }
    assert!(http.kept.lock().expect("no panic").lock.is_none());
    assert_eq!(bucket.objects(&env), ["p/default.tfstate"]);
}

#[test]
fn a_file_that_was_left() {
    let env = surroundings();
    env.write("main.tf", CONTENT);
    env.run(&["apply", "-auto-approve"]).exits(0);
    // what a process that was killed leaves is a message, and no lock
    let message = r#"{"ID":"left","Operation":"OperationTypeApply","Info":"","Who":"u@h","Version":"1.11.4","Created":"2026-01-01T00:00:00Z","Path":"terraform.tfstate"}"#;
    env.write(".terraform.tfstate.lock.info", message);
    env.run(&["force-unlock", "-force", "other"])
        .exits(1)
        .says(&["not locked with the lock id other"]);
    env.run(&["force-unlock", "-force", "left"]).exits(0);
    assert!(!env.has(".terraform.tfstate.lock.info"));
    env.write(".terraform.tfstate.lock.info", message);
    env.run(&["apply", "-auto-approve", "-var=v=2"]).exits(0);
    assert!(!env.has(".terraform.tfstate.lock.info"));
}

/// Terraform holds it: in a file, in a bucket, at an address.
#[test]
fn states_held_by_terraform() {
    let Some(terraform) = terraform() else { return };
    let env = surroundings();
    let bucket = Bucket::new(&env, &Scenario::new());
    let http = StateServer::new();
    let path = std::env::var("PATH").unwrap_or_default();
    for (name, block) in [
        ("local", String::new()),
        ("gcs", bucket.block("held")),
        ("http", http.block()),
    ] {
        let theirs = format!("{name}-theirs");
        let ours = if name == "local" {
            theirs.clone()
        } else {
            format!("{name}-ours")
        };
        let waits = "resource \"terraform_data\" \"slow\" {\n  provisioner \"local-exec\" {\n    command = \
                     \"touch begun; while [ ! -e end ]; do sleep 0.05; done\"\n  }\n}\n";
        env.write(&format!("{ours}/main.tf"), format!("{block}{CONTENT}"));
        env.write(&format!("{theirs}/main.tf"), format!("{block}{waits}"));
        run_terraform(&env, &terraform, &theirs, &["init"]).exits(0);
        let mut holding = std::process::Command::new(&terraform)
            .args([&format!("-chdir={theirs}"), "apply", "-auto-approve"])
            .current_dir(env.path())
            .env("PATH", &path)
            .env("TF_CLI_CONFIG_FILE", "/dev/null")
            .env("CHECKPOINT_DISABLE", "1")
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("it runs");
        until("it works", || env.has(&format!("{theirs}/begun")));
        if name == "local" {
            env.write(&format!("{ours}/main.tf"), CONTENT);
        }
        let chdir = format!("-chdir={ours}");
        env.run(&[&chdir, "init"]).exits(0);
        let info = lock_info(&env.run(&[&chdir, "apply", "-auto-approve"]));
        assert_eq!(value(&info, "Operation"), "OperationTypeApply");
        assert_eq!(value(&info, "Version"), version_of(&terraform));
        assert!(value(&info, "Created").ends_with(" +0000 UTC"), "{info:?}");
        if name == "local" {
            env.run(&[&chdir, "force-unlock", "-force", value(&info, "ID")])
                .exits(1)
                .says(&["by a process that runs"]);
        }
        env.write(&format!("{theirs}/end"), "");
        assert!(holding.wait().expect("it ends").success());
        // what it has made is there, and goes
        env.run(&[&chdir, "apply", "-auto-approve"])
            .exits(0)
            .says(&["2 added, 0 changed, 1 destroyed"]);
    }
}

/// Whoever waits for a lock is told so, in the words and after the time that Terraform has.
#[test]
fn waiting_is_told() {
    let env = surroundings();
    let http = StateServer::new();
    env.write("main.tf", http.block() + CONTENT);
    env.run(&["init"]).exits(0);
    env.run(&["apply", "-auto-approve"]).exits(0);
    let line = "Acquiring state lock. This may take a few moments...";
    let more = "resource \"terraform_data\" \"c\" {}\n";
    env.write("main.tf", http.block() + CONTENT + more);
    // nobody has it: there is nothing to tell
    env.run(&["plan"]).exits(0).never_says(&[line]);
    http.kept.lock().expect("no panic").lock = Some(br#"{"ID":"held"}"#.to_vec());
    for words in [
        &["plan"][..],
        &["apply", "-auto-approve"],
        &["destroy", "-auto-approve"],
        &["refresh"],
        &["import", "terraform_data.c", "id"],
        &["taint", "terraform_data.a"],
        &["untaint", "terraform_data.a"],
        &["state", "rm", "terraform_data.a"],
        &["state", "mv", "terraform_data.a", "terraform_data.d"],
    ] {
        let (at, rest) = match words.split_first() {
            Some((&"state", rest)) => (vec!["state", rest[0]], &rest[1..]),
            Some((first, rest)) => (vec![*first], rest),
            None => continue,
        };
        let words = [&at[..], &["-lock-timeout=600ms"], rest].concat();
        let ran = env.run(&words);
        ran.exits(1).says(&["Error acquiring the state lock"]);
        let told = ran.stdout.lines().filter(|l| *l == line).count();
        assert_eq!(told, 1, "{words:?}: {}", ran.text());
        // who does not wait is not told to
        let hurried = [&at[..], rest].concat();
        env.run(&hurried).exits(1).never_says(&[line]);
    }
    let ran = env.run(&["plan", "-json", "-lock-timeout=600ms", "-no-color"]);
    let lines: Vec<serde_json::Value> = ran
        .exits(1)
        .stdout
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    let kinds: Vec<&str> = lines.iter().filter_map(|l| l["type"].as_str()).collect();
    assert_eq!(kinds, ["version", "state_lock_acquire", "diagnostic"]);
    assert_eq!(lines[1]["@message"], line);
}

fn version_of(terraform: &Path) -> String {
    let told = std::process::Command::new(terraform)
        .args(["version", "-json"])
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .env("CHECKPOINT_DISABLE", "1")
        .output()
        .expect("it runs");
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).expect("JSON");
    told["terraform_version"]
        .as_str()
        .expect("a version")
        .to_owned()
}
