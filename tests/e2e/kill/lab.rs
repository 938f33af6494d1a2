//! A configuration, a mock cloud in a process of its own, and a binary that is killed and run again.

use formwork_testkit::{MockProcess, Ran, Scenario, TestEnv, until};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// No run takes so long, on however slow a machine.
const HANGS: Duration = Duration::from_secs(240);

/// Where the mock's data are, below the working directory.
const WORLD: &str = "world";

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
}

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
        Self { env, root, server }
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

    /// The arguments of a command on the root module and the mock cloud.
    pub fn arguments(&self, command: &[&str]) -> Vec<String> {
        let mut all = vec![format!("-chdir={}", self.root)];
        all.extend(command.iter().map(ToString::to_string));
        all.push(self.server().flag.clone());
        all
    }

    /// Runs a command to its end.
    #[track_caller]
    pub fn run(&self, command: &[&str]) -> Ran {
        let arguments = self.arguments(command);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.env.run(&arguments)
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
        let arguments = self.arguments(command);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let begun = Instant::now();
        let mut child = self.env.start(&arguments);
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
        let arguments = self.arguments(command);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut child = self.env.start(&arguments);
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
        std::fs::read(self.journal()).unwrap_or_default()
    }

    /// Asks the mock from outside, as somebody else would; panics unless it answers 200.
    pub fn outside(&self, method: &str, path: &str, body: &str) {
        let address = self.server().url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("the mock listens");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answered");
        assert!(
            answer.starts_with("HTTP/1.1 200"),
            "{method} {path}: {answer}"
        );
    }
}
