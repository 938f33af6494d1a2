//! States that are kept elsewhere: in a bucket of the mock cloud, as Cloud Storage keeps them, and at an
//! address, as Terraform's backend `http` speaks of them. Where there is a `terraform` binary it takes
//! turns with ours on one state.

mod durable;
mod initialising;
mod locks;
mod taking_turns;

use crate::env;
use formwork_testkit::{Answer, MockProcess, Ran, Scenario, Server, TestEnv};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Two objects, one made of the other, and an output.
const CONTENT: &str = "variable \"v\" {
  default = \"1\"
}
resource \"terraform_data\" \"a\" {
  input = var.v
}
resource \"terraform_data\" \"b\" {
  input = terraform_data.a.output
}
output \"o\" {
  value = terraform_data.b.output
}
";

/// A mock cloud with a bucket `states`, whose storage is spoken to as if it were Google's.
struct Bucket {
    server: MockProcess,
}

impl Bucket {
    fn new(env: &TestEnv, scenario: &Scenario) -> Self {
        let server = env.serve("../cloud", scenario);
        // the quickest way to a bucket is to ask for the state in it, though there is none yet
        env.write("bucket/main.tf", block("gcs", "bucket = \"states\""));
        env.run(&[
            "-chdir=bucket",
            "state",
            "list",
            "-mock-backend",
            &server.flag,
        ])
        .exits(1)
        .says(&["No state file was found"]);
        Self { server }
    }

    /// A `backend` block for this bucket.
    fn block(&self, prefix: &str) -> String {
        block(
            "gcs",
            &format!(
                "bucket = \"states\"\n    prefix = \"{prefix}\"\n    access_token = \"tok\"\n    \
                 storage_custom_endpoint = \"{}/storage/v1/b\"",
                self.server.url
            ),
        )
    }

    /// Names of the objects in the bucket.
    fn objects(&self, env: &TestEnv) -> Vec<String> {
        let all = env.run(&["mock", "list", "-json", &self.server.flag]);
        let all = all.exits(0).json();
        let all = all.as_array().expect("a list").iter();
        all.filter_map(|o| {
            let link = o["selfLink"].as_str()?;
            let (_, name) = link.split_once("/b/states/o/")?;
            Some(name.replace("%2F", "/"))
        })
        .collect()
    }
}

/// A configuration's `terraform` block with a backend.
fn block(kind: &str, arguments: &str) -> String {
    format!("terraform {{\n  backend \"{kind}\" {{\n    {arguments}\n  }}\n}}\n")
}

/// A server that keeps one state, and its lock, as the backend `http` wants it.
struct StateServer {
    server: Server,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    state: Option<Vec<u8>>,
    lock: Option<Vec<u8>>,
}

impl StateServer {
    fn new() -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let own = kept.clone();
        let server = Server::new(move |asked| {
            let mut kept = own.lock().expect("no panic");
            match (asked.method.as_str(), kept.lock.clone()) {
                ("GET", _) => match &kept.state {
                    Some(state) => Answer::ok(state.clone()),
                    None => Answer::status(404),
                },
                ("LOCK", Some(holder)) => Answer {
                    status: 423,
                    body: holder,
                    ..Answer::default()
                },
                ("LOCK", None) => {
                    kept.lock = Some(asked.body.clone());
                    Answer::status(200)
                }
                ("UNLOCK", _) => {
                    kept.lock = None;
                    Answer::status(200)
                }
                ("POST", _) => {
                    kept.state = Some(asked.body.clone());
                    Answer::status(200)
                }
                _ => Answer::status(405),
            }
        });
        Self { server, kept }
    }

    fn block(&self) -> String {
        let url = self.server.url("/state");
        block(
            "http",
            &format!(
                "address = \"{url}\"\n    lock_address = \"{url}\"\n    unlock_address = \"{url}\""
            ),
        )
    }

    fn state(&self) -> Option<serde_json::Value> {
        let kept = self.kept.lock().expect("no panic");
        let state = kept.state.as_ref()?;
        Some(serde_json::from_slice(state).expect("JSON"))
    }
}

/// The `terraform` binary, if there is one; says so if not.
fn terraform() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join("terraform"))
        .find(|file| file.is_file());
    if found.is_none() {
        // straight to the stream: what macros print is shown only of tests that fail
        let _ = std::io::stderr()
            .write_all(b"skipped: there is no terraform here to take turns with\n");
    }
    found
}

/// Runs the `terraform` binary in a folder.
#[track_caller]
fn run_terraform(env: &TestEnv, terraform: &std::path::Path, folder: &str, words: &[&str]) -> Ran {
    let chdir = format!("-chdir={folder}");
    let mut all = vec![chdir.as_str()];
    all.extend(words);
    env.run_program(terraform.to_str().expect("text"), &all, "")
}

/// Surroundings in which `terraform` asks nobody outside.
fn surroundings() -> TestEnv {
    env()
        .with("TF_CLI_CONFIG_FILE", "/dev/null")
        .with("CHECKPOINT_DISABLE", "1")
}
