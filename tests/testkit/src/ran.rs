//! What came of a run.

use std::io::Read;
use std::process::Child;
use std::time::{Duration, Instant};

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The arguments, for messages.
    pub arguments: String,
    /// The exit code; -1 if a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Ran {
    /// Waits for the end, and kills what takes too long.
    #[track_caller]
    pub(crate) fn of(mut child: Child, arguments: &[&str], patience: Duration) -> Self {
        fn read(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                if let Some(mut pipe) = pipe {
                    pipe.read_to_end(&mut bytes).expect("a pipe");
                }
                String::from_utf8_lossy(&bytes).into_owned()
            })
        }
        let (out, err) = (read(child.stdout.take()), read(child.stderr.take()));
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().expect("a child") {
                Some(status) => break status,
                None if begun.elapsed() > patience => {
                    child.kill().expect("killed");
                    panic!("{arguments:?} has not ended after {patience:?}");
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        Self {
            arguments: arguments.join(" "),
            code: status.code().unwrap_or(-1),
            stdout: out.join().expect("read"),
            stderr: err.join().expect("read"),
        }
    }

    /// Both streams, for searching.
    pub fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// The exit code must be this.
    #[track_caller]
    pub fn exits(&self, code: i32) -> &Self {
        assert_eq!(
            self.code, code,
            "{}\n--- stdout\n{}\n--- stderr\n{}",
            self.arguments, self.stdout, self.stderr
        );
        self
    }

    /// One of the streams must hold each of these.
    #[track_caller]
    pub fn says(&self, parts: &[&str]) -> &Self {
        let text = self.text();
        for part in parts {
            assert!(
                text.contains(part),
                "{}: {part:?} is missing\n--- stdout\n{}\n--- stderr\n{}",
                self.arguments,
                self.stdout,
                self.stderr
            );
        }
        self
    }

    /// Neither stream may hold any of these.
    #[track_caller]
    pub fn never_says(&self, parts: &[&str]) -> &Self {
        let text = self.text();
        for part in parts {
            assert!(
                !text.contains(part),
                "{}: {part:?} is there\n--- stdout\n{}\n--- stderr\n{}",
                self.arguments,
                self.stdout,
                self.stderr
            );
        }
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("{}: {e}\n{}", self.arguments, self.stdout))
    }
}
