//! Our lock against Terraform's own, where Terraform is installed.
#![allow(clippy::print_stderr)] // a test that is skipped says so
#![allow(clippy::expect_used)] // helpers of a test

use formwork_environment::{Environment, Fixed};
use formwork_state::{LockError, LockInfo, SnapshotStore, StateLock};
use formwork_state_backends::{Backup, LocalStore};
use futures::executor::block_on;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const CONFIGURATION: &str = r#"
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "touch running; while [ ! -e finish ]; do sleep 0.05; done"
  }
}
"#;

fn terraform(dir: &Path) -> Command {
    let mut command = Command::new("terraform");
    command
        .current_dir(dir)
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_IN_AUTOMATION", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(dir: &Path, arguments: &[&str]) -> (bool, String) {
    let output = terraform(dir)
        .args(arguments)
        .output()
        .expect("terraform runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text.into_owned())
}

fn info() -> LockInfo {
    LockInfo {
        id: "5f0f6a2e-0000-4000-8000-000000000001".to_owned(),
        operation: "OperationTypeApply".to_owned(),
        who: "formwork@test".to_owned(),
        version: "1.12.2".to_owned(),
        created: "2026-11-30T16:00:00.000000Z".to_owned(),
        path: "terraform.tfstate".to_owned(),
        ..LockInfo::default()
    }
}

#[test]
fn the_two_exclude_each_other() {
    if Command::new("terraform").arg("version").output().is_err() {
        // straight to the stream: what macros print is shown only of tests that fail
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: terraform is not installed, so locks were not tried against it\n",
        );
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    fs::write(dir.join("main.tf"), CONFIGURATION).expect("written");
    let (ok, text) = run(dir, &["init", "-no-color"]);
    assert!(ok, "{text}");
    let fixed = Arc::new(Fixed::new(1_000, 7));
    let environment = Environment {
        variables: Default::default(),
        home: None,
        working: dir.to_owned(),
        temporary: dir.to_owned(),
        who: "formwork@test".to_owned(),
        process: std::process::id(),
        clock: fixed.clone(),
        randomness: fixed,
    };
    let store = LocalStore::new(&environment, Path::new("terraform.tfstate"), Backup::Beside);

    // ours keeps Terraform out, before and after the file is replaced, and our message is shown
    block_on(store.lock(&info())).expect("free");
    let empty = br#"{"version":4,"terraform_version":"1.11.4","serial":3,"lineage":"l","outputs":{},"resources":[],"check_results":null}"#;
    for _ in 0..2 {
        let (ok, text) = run(dir, &["plan", "-no-color"]);
        assert!(!ok, "{text}");
        assert!(text.contains("Error acquiring the state lock"), "{text}");
        assert!(text.contains("formwork@test"), "{text}");
        block_on(store.write_snapshot(empty)).expect("written");
    }
    block_on(store.unlock(&info().id)).expect("held");
    let (ok, text) = run(dir, &["plan", "-no-color"]);
    assert!(ok, "{text}");

    // theirs keeps us out
    let mut apply = terraform(dir)
        .args(["apply", "-auto-approve", "-no-color"])
        .spawn()
        .expect("terraform runs");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !dir.join("running").exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    match block_on(store.lock(&info())) {
        Err(LockError::Held {
            holder: Some(holder),
            ..
        }) => assert_eq!(holder.operation, "OperationTypeApply"),
        other => panic!("{other:?}"),
    }
    fs::write(dir.join("finish"), b"").expect("written");
    assert!(apply.wait().expect("ends").success());
    block_on(store.lock(&info())).expect("free again");
    let state = block_on(store.read_snapshot())
        .expect("readable")
        .expect("a state");
    let (snapshot, diagnostics) = formwork_state::v4::read(&state, "terraform.tfstate");
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let snapshot = snapshot.expect("a state");
    assert_eq!(snapshot.state.instance_count(), 1);
    assert_eq!(formwork_state::v4::write(&snapshot), state, "byte for byte");
    block_on(store.unlock(&info().id)).expect("held");
}
