//! A folder of its own for one use of the blueprint: the binary runs there, its mock cloud lives there.
//!
//! The blueprint is copied, so that nothing is left in the repository and tests run side by side.

// Two test binaries use this file, each a part of it.
#![allow(dead_code)]

use serde_json::Value;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The blueprint in the repository.
pub fn blueprint() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../blueprints/roce-cluster")
}

/// Copies a folder, without what begins with a dot (a user's own mock cloud).
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder to copy") {
        let entry = entry.expect("an entry");
        let name = entry.file_name();
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(name));
        } else {
            std::fs::copy(entry.path(), to.join(name)).expect("a copy");
        }
    }
}

/// An example in a folder of its own.
pub struct Place {
    folder: tempfile::TempDir,
    example: String,
}

/// What a command came to.
pub struct Ran {
    /// What was run, for messages.
    pub command: String,
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub error: String,
}

impl Ran {
    /// Itself, if it ended with this code.
    #[track_caller]
    pub fn ends_with(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "{}\n{}\n{}",
            self.command, self.out, self.error
        );
        self
    }
}

impl Place {
    /// A copy of the blueprint, in which this example is used.
    pub fn new(example: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        copy(&blueprint(), &folder.path().join("roce-cluster"));
        Self {
            folder,
            example: example.to_owned(),
        }
    }

    /// The folder of the example's root module.
    pub fn root(&self) -> PathBuf {
        let examples = self.folder.path().join("roce-cluster/examples");
        examples.join(&self.example)
    }

    /// The binary, in surroundings that hold nothing of the tester's.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_formwork"));
        command
            .args(words)
            .current_dir(self.root())
            .env_clear()
            .env("HOME", self.folder.path())
            .env("TMPDIR", self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary in the example.
    pub fn run(&self, words: &[&str]) -> Ran {
        let output = self.command(words).output().expect("the binary runs");
        Ran {
            command: format!("formwork {}", words.join(" ")),
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            error: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Applies the example, and expects that to succeed.
    pub fn apply(&self) -> Ran {
        let ran = self.run(&["apply", "-mock", "-auto-approve"]).ends_with(0);
        assert!(
            ran.out.contains("\nApply complete! Resources: "),
            "{}",
            ran.out
        );
        ran
    }

    /// What a command prints as JSON.
    pub fn json(&self, words: &[&str]) -> Value {
        let ran = self.run(words).ends_with(0);
        serde_json::from_str(&ran.out)
            .unwrap_or_else(|e| panic!("{}: {e}\n{}", ran.command, ran.out))
    }

    /// The objects of the mock cloud.
    pub fn objects(&self) -> Vec<Value> {
        let all = self.json(&["mock", "list", "-json"]);
        all.as_array().expect("a list").clone()
    }

    /// The requests that the mock cloud was sent, from the one with this number on.
    pub fn requests(&self, from: usize) -> Vec<Value> {
        let all = self.json(&["mock", "log", "-json"]);
        all.as_array().expect("a list")[from..].to_vec()
    }

    /// Serves the example's mock cloud from a process of its own.
    pub fn serve(&self) -> Serving {
        let mut child = self
            .command(&["mock", "serve", "-data", ".formwork/mock/cloud"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut line = String::new();
        let out = child.stdout.take().expect("its output");
        std::io::BufReader::new(out)
            .read_line(&mut line)
            .expect("a line");
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        Serving {
            child,
            address: said["address"].as_str().expect("an address").to_owned(),
        }
    }
}

/// A mock cloud that is being served; it ends when this is dropped.
pub struct Serving {
    child: Child,
    address: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The part of a link below the project's or the service's root, by which links are compared.
pub fn short(link: &str) -> &str {
    link.split("/projects/").last().unwrap_or(link)
}

impl Serving {
    /// One request, as any user of the cloud could send it; the answer's text.
    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        runtime.block_on(async {
            let client = reqwest::Client::builder()
                .no_proxy()
                .build()
                .expect("a client");
            let method = method.parse::<reqwest::Method>().expect("a method");
            let url = format!("{}{path}", self.address);
            let mut request = client.request(method.clone(), &url).bearer_auth("anyone");
            if let Some(body) = body {
                request = request.json(body);
            }
            let answer = request.send().await.expect("an answer");
            let status = answer.status();
            let text = answer.text().await.expect("a text");
            assert!(status.is_success(), "{method} {url}: {status}\n{text}");
            text
        })
    }

    /// An object by its path.
    pub fn get(&self, path: &str) -> Value {
        serde_json::from_str(&self.send("GET", path, None)).expect("JSON")
    }

    /// Changes something, and waits for the operation where there is one.
    pub fn change(&self, method: &str, path: &str, body: Option<&Value>) {
        let text = self.send(method, path, body);
        let mut answer: Value = serde_json::from_str(&text).unwrap_or_default();
        while answer["kind"] == "compute#operation" && answer["status"] != "DONE" {
            let link = answer["selfLink"].as_str().expect("a link").to_owned();
            let path = format!("/compute/compute/v1/projects/{}/wait", short(&link));
            answer = serde_json::from_str(&self.send("POST", &path, None)).expect("JSON");
        }
        assert!(answer["error"].is_null(), "{answer:#}");
    }
}
