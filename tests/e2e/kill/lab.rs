//! A configuration, a mock cloud in a process of its own, and a binary that is killed and run again.

use formwork_testkit::{MockProcess, Ran, Scenario, TestEnv, until};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// No run takes so long, on however slow a machine.
const HANGS: Duration = Duration::from_secs(240);

/// Where the mock's data are, below the working directory.
const WORLD: &str = "world";

/// What every configuration of objects in the mock begins with.
pub const GOOGLE: &str = r#"terraform {
  required_providers {
    google = {
      source = "hashicorp/google"
    }
  }
}

provider "google" {
  project = "formwork-mock"
  region  = "us-central1"
  zone    = "us-central1-b"
}
"#;

/// When a run is killed with -9.
#[derive(Clone, Copy, Debug)]
pub enum Kill {
    /// So long after its start.
    After(Duration),
    /// As soon as the mock's request log has so many lines more than at its start.
    AtLine(usize),
}

/// A folder, and the mock cloud that is served from it.
pub struct Lab {
    /// The folder.
    pub env: TestEnv,
    /// Its root module, from the working directory.
    root: &'static str,
    server: Option<MockProcess>,
    /// Whether the state is kept in the mock's own storage, as [`BACKEND`] says.
    pub in_bucket: bool,
}

/// What is below a lab's working directory, the cloud's data included, as it was at a moment.
pub struct Saved(TestEnv);

/// Copies a folder, hidden files too.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&entry.path(), &to),
            false => {
                std::fs::copy(entry.path(), to).expect("a copy");
            }
        }
    }
}

/// Does the work of all cases, on as many threads as there are cores; the work is told the case's number.
pub fn side_by_side<Case: Sync>(cases: &[Case], work: impl Fn(usize, &Case) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(4) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(number) else { break };
                    work(number, case);
                }
            });
        }
    });
}

/// The backend of a lab whose state is kept in a bucket.
pub const BACKEND: &str = "\nterraform {\n  backend \"gcs\" {\n    bucket = \"lab-states\"\n    prefix = \"lab\"\n  }\n}\n";

/// Where the objects of the bucket are, at the mock.
pub const OBJECTS: &str = "/storage/v1/b/lab-states/o";

impl Lab {
    /// Serves a scenario beside the root module at `root`, which `fill` puts there.
    pub fn new(scenario: &Scenario, root: &'static str, fill: impl FnOnce(&TestEnv)) -> Self {
        let binary = Path::new(env!("CARGO_BIN_EXE_formwork"));
        Self::of(binary, scenario, root, fill)
    }

    /// The same for a binary of the caller's choice.
    pub fn of(
        binary: &Path,
        scenario: &Scenario,
        root: &'static str,
        fill: impl FnOnce(&TestEnv),
    ) -> Self {
        let env = TestEnv::new(binary);
        fill(&env);
        let server = Some(env.serve(WORLD, scenario));
        Self {
            env,
            root,
            server,
            in_bucket: false,
        }
    }

    fn server(&self) -> &MockProcess {
        self.server.as_ref().expect("a mock cloud that is served")
    }

    /// Kills the mock's process, if it lives, and starts another one on the same data.
    pub fn serve_again(&mut self, scenario: &Scenario) {
        if let Some(server) = self.server.take() {
            server.kill();
        }
        self.server = Some(self.env.serve(WORLD, scenario));
    }

    /// Keeps what is there now. The cloud's process is another one afterwards.
    pub fn save(&mut self, scenario: &Scenario) -> Saved {
        if let Some(server) = self.server.take() {
            server.kill();
        }
        let saved = TestEnv::new("");
        copy(&self.env.path(), &saved.path());
        self.server = Some(self.env.serve(WORLD, scenario));
        Saved(saved)
    }

    /// A lab in which everything is as it was then.
    pub fn again(binary: &Path, scenario: &Scenario, root: &'static str, saved: &Saved) -> Self {
        Self::of(binary, scenario, root, |env| {
            copy(&saved.0.path(), &env.path());
        })
    }

    /// The arguments of a command on the root module and the mock cloud.
    pub fn arguments(&self, command: &[&str]) -> Vec<String> {
        let mut all = vec![format!("-chdir={}", self.root)];
        all.extend(command.iter().map(ToString::to_string));
        all.push(self.server().flag.clone());
        if self.in_bucket {
            all.push("-mock-backend".to_owned());
        }
        all
    }

    /// Runs a command to its end.
    #[track_caller]
    pub fn run(&self, command: &[&str]) -> Ran {
        let arguments = self.arguments(command);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.env.run(&arguments)
    }

    /// Starts a command and lets it run.
    pub fn start(&self, command: &[&str]) -> Child {
        let arguments = self.arguments(command);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.env.start(&arguments)
    }

    /// How many lines the log has beyond so many, those about a state in a bucket aside.
    pub fn worked(&self, logged: usize) -> usize {
        let log = std::fs::read_to_string(self.env.path().join(WORLD).join("log.jsonl"));
        let log = log.unwrap_or_default();
        let lines = log.lines().skip(logged);
        lines.filter(|line| !line.contains("lab-states")).count()
    }

    /// Runs a command that is killed if it does not end before; its exit code, if it ended.
    pub fn run_killed(&self, command: &[&str], kill: Kill) -> Option<i32> {
        let before = self.log_lines();
        self.watched(command, |begun| match kill {
            Kill::After(time) => begun.elapsed() >= time,
            Kill::AtLine(line) => self.log_lines() >= before + line,
        })
    }

    fn watched(&self, command: &[&str], kills: impl Fn(Instant) -> bool) -> Option<i32> {
        let begun = Instant::now();
        let mut child = self.start(command);
        loop {
            if let Some(status) = child.try_wait().expect("a child") {
                return status.code();
            }
            let hangs = begun.elapsed() > HANGS;
            if hangs || kills(begun) {
                // SIGKILL
                child.kill().expect("it runs");
                child.wait().expect("it has ended");
                assert!(!hangs, "{command:?} hangs:\n{}", self.env.started_output());
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Runs a command, and kills the mock's process as soon as its log has `line` lines more. Exit code
    /// and output.
    pub fn run_orphaned(&mut self, command: &[&str], line: usize) -> (Option<i32>, String) {
        let before = self.log_lines();
        let mut child = self.start(command);
        until("requests are made", || self.log_lines() >= before + line);
        if let Some(server) = self.server.take() {
            server.kill();
        }
        let status = child.wait().expect("it ends");
        (status.code(), self.env.started_output())
    }

    /// Lines of the mock's request log.
    pub fn log_lines(&self) -> usize {
        let bytes = std::fs::read(self.env.path().join(WORLD).join("log.jsonl"));
        bytes.map_or(0, |bytes| bytes.iter().filter(|b| **b == b'\n').count())
    }

    /// Objects that are neither the scenario's nor come and go with another one.
    pub fn made(&self) -> Vec<Value> {
        self.server().made(&self.env)
    }

    /// Every request so far.
    pub fn log(&self) -> Vec<Value> {
        self.server().log(&self.env)
    }

    /// The file of the state.
    pub fn state(&self) -> PathBuf {
        let state = ".formwork/mock/state/terraform.tfstate";
        self.env.path().join(self.root).join(state)
    }

    /// The bytes of the state, none if there is none.
    pub fn state_bytes(&self) -> Vec<u8> {
        if self.in_bucket {
            return self.object("lab/default.tfstate");
        }
        std::fs::read(self.state()).unwrap_or_default()
    }

    /// The file of its journal.
    pub fn journal(&self) -> PathBuf {
        let mut name = self.state().into_os_string();
        name.push(".journal");
        name.into()
    }

    /// The bytes of its journal, none if there is none.
    pub fn journal_bytes(&self) -> Vec<u8> {
        if self.in_bucket {
            // the objects of the latest epoch, in order
            let names = self.objects("lab/default.tfjournal/");
            let epoch = |name: &String| name.rsplit_once('-').map(|(epoch, _)| epoch.to_owned());
            let last = names.last().and_then(epoch);
            let names = names.iter().filter(|name| epoch(name) == last);
            return names.flat_map(|name| self.object(name)).collect();
        }
        std::fs::read(self.journal()).unwrap_or_default()
    }

    /// The names of the bucket's objects that begin so, in order.
    fn objects(&self, prefix: &str) -> Vec<String> {
        let (status, body) = self.ask("GET", &format!("{OBJECTS}?prefix={prefix}"), "");
        if status == 404 {
            return Vec::new();
        }
        let listed: Value = serde_json::from_slice(&body).expect("a list");
        let items = listed["items"].as_array().into_iter().flatten();
        let mut names: Vec<String> = items
            .filter_map(|item| item["name"].as_str().map(str::to_owned))
            .collect();
        names.sort();
        names
    }

    /// The bytes of an object of the bucket, none if there is none.
    fn object(&self, name: &str) -> Vec<u8> {
        let path = format!("{OBJECTS}/{}?alt=media", name.replace('/', "%2F"));
        match self.ask("GET", &path, "") {
            (200, body) => body,
            _ => Vec::new(),
        }
    }

    /// Loses the machine that a run died on: nothing is left of the root module's folder but what
    /// `fill` puts there. The lock that the run has left in the bucket is released by its id.
    pub fn lose_the_folder(&self, fill: impl FnOnce(&TestEnv)) {
        std::fs::remove_dir_all(self.env.path().join(self.root)).expect("it was there");
        fill(&self.env);
        let lock = format!("{OBJECTS}/lab%2Fdefault.tflock");
        if let (200, lock) = self.ask("GET", &lock, "") {
            // the lock's id is the generation of its object, as Terraform has it
            let lock: Value = serde_json::from_slice(&lock).expect("an object");
            let id = lock["generation"].as_str().expect("a generation");
            self.run(&["force-unlock", "-force", id]).exits(0);
        }
    }

    /// Asks the mock from outside, as somebody else would; panics unless it answers 200.
    pub fn outside(&self, method: &str, path: &str, body: &str) {
        let (status, answer) = self.ask(method, path, body);
        let answer = String::from_utf8_lossy(&answer);
        assert_eq!(status, 200, "{method} {path}: {answer}");
    }

    /// Asks the mock from outside; status and body.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Vec<u8>) {
        let address = self.server().url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("the mock listens");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("answered");
        let end = answer.windows(4).position(|end| end == b"\r\n\r\n");
        let body = answer.split_off(end.expect("a head") + 4);
        let head = String::from_utf8_lossy(&answer).to_ascii_lowercase();
        assert!(!head.contains("transfer-encoding"), "{head}");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        (status.expect("a status"), body)
    }
}
