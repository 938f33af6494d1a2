//! A mock cloud in a process of its own, and its scenario.

use crate::TestEnv;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

/// What the world is like: the one in the binary, with fields of it replaced.
#[derive(Clone, Debug)]
pub struct Scenario(Value);

impl Default for Scenario {
    fn default() -> Self {
        Self(json!({"format": "formwork-mock-scenario/1", "base": "default"}))
    }
}

impl Scenario {
    /// The world in the binary.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a field replaced; docs/formats/scenario.md describes them.
    #[must_use]
    pub fn with(mut self, field: &str, value: Value) -> Self {
        self.0[field] = value;
        self
    }

    /// With operations that take so many milliseconds.
    #[must_use]
    pub fn taking(self, shortest: u64, longest: u64) -> Self {
        self.with("operations", json!({"latency_ms": [shortest, longest]}))
    }

    /// With one more thing that goes wrong.
    #[must_use]
    pub fn fault(mut self, fault: Value) -> Self {
        match self.0.get_mut("faults").and_then(Value::as_array_mut) {
            Some(all) => all.push(fault),
            None => self.0["faults"] = json!([fault]),
        }
        self
    }
}

/// A running `mock serve`. It is killed when this is dropped.
pub struct MockProcess {
    child: Child,
    /// `http://127.0.0.1:PORT`
    pub url: String,
    /// The flag that makes a command use it: `-mock=URL`.
    pub flag: String,
}

impl MockProcess {
    pub(crate) fn start(env: &TestEnv, data: &str, scenario: &Scenario) -> Self {
        let file = format!("scenario-{}.json", data.replace('/', "-"));
        std::fs::write(env.path().join("..").join(&file), scenario.0.to_string())
            .expect("a scenario");
        let scenario = format!("-scenario=../{file}");
        let data = format!("-data={data}");
        let mut child = env
            .command(&["mock", "serve", &scenario, &data])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let told: Value =
            serde_json::from_str(&line).unwrap_or_else(|e| panic!("mock serve said {line:?}: {e}"));
        let url = told["address"].as_str().expect("an address").to_owned();
        Self {
            child,
            flag: format!("-mock={url}"),
            url,
        }
    }

    /// Every object that no scenario and no other object has made.
    #[track_caller]
    pub fn made(&self, env: &TestEnv) -> Vec<Value> {
        made(
            &env.run(&["mock", "list", "-json", &self.flag])
                .exits(0)
                .json(),
        )
    }

    /// Every request, oldest first.
    #[track_caller]
    pub fn log(&self, env: &TestEnv) -> Vec<Value> {
        let log = env.run(&["mock", "log", "-json", &self.flag]);
        log.exits(0).json().as_array().expect("a list").clone()
    }

    /// The requests that have changed the world.
    #[track_caller]
    pub fn committed(&self, env: &TestEnv) -> Vec<Value> {
        let mut log = self.log(env);
        log.retain(|line| line["committed"] == true);
        log
    }

    /// Kills it at once, as a crash does.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }
}

impl Drop for MockProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Of a list of objects those that no scenario and no other object has made.
pub(crate) fn made(list: &Value) -> Vec<Value> {
    let all = list.as_array().expect("a list").iter();
    all.filter(|o| o["seeded"] == false && o.get("owner").is_none())
        .cloned()
        .collect()
}
