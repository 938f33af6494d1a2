//! Hermetic surroundings for tests that run the binary.
//!
//! A [`TestEnv`] is a folder of its own with a clean environment: nothing of the developer's machine
//! (variables, credentials, home directory) reaches what runs in it, and nothing of what runs in it
//! stays. The binary is handed in by its path, so this crate names no crate of the binary and may be a
//! dev-dependency of anybody.
//!
//! Everything here panics when it fails: it is for tests only.
#![forbid(unsafe_code)]
// A test may end by panicking, its hands too.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod cloud;
mod formats;
mod ran;
mod server;

pub use cloud::{MockProcess, Scenario};
pub use formats::Format;
pub use ran::Ran;
pub use server::{Answer, Asked, Server};

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long a run may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder, an environment, and the binary.
pub struct TestEnv {
    folder: tempfile::TempDir,
    binary: PathBuf,
    variables: BTreeMap<String, String>,
}

impl TestEnv {
    /// An empty folder for the binary at this path.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        std::fs::create_dir_all(&home).expect("a home");
        std::fs::create_dir_all(folder.path().join("work")).expect("a working directory");
        let text = |p: &Path| p.to_string_lossy().into_owned();
        let variables = [
            ("HOME".to_owned(), text(&home)),
            ("TMPDIR".to_owned(), text(folder.path())),
            ("USER".to_owned(), "tester".to_owned()),
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
            // what a library would look for on Google's machines
            ("GCE_METADATA_HOST".to_owned(), "127.0.0.1:1".to_owned()),
        ];
        Self {
            binary: binary.into(),
            variables: variables.into(),
            folder,
        }
    }

    /// The working directory.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Sets an environment variable for all runs.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Writes a file below the working directory.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
        self
    }

    /// The bytes of a file below the working directory.
    pub fn bytes(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.path().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// The text of a file below the working directory.
    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).expect("text")
    }

    /// Whether there is such a file.
    pub fn has(&self, path: &str) -> bool {
        self.path().join(path).exists()
    }

    /// Copies a folder's content into the working directory, but for what a run has left in it.
    pub fn copy(&self, from: &Path) -> &Self {
        self.copy_to(from, "")
    }

    /// Copies a folder's content to a place below the working directory.
    pub fn copy_to(&self, from: &Path, to: &str) -> &Self {
        let mut folders = vec![(from.to_owned(), self.path().join(to))];
        while let Some((from, to)) = folders.pop() {
            std::fs::create_dir_all(&to).expect("a folder");
            for entry in std::fs::read_dir(&from).unwrap_or_else(|e| panic!("{from:?}: {e}")) {
                let entry = entry.expect("an entry");
                let name = entry.file_name();
                let hidden = name.to_string_lossy().starts_with('.');
                if entry.file_type().expect("a type").is_dir() {
                    if !hidden {
                        folders.push((entry.path(), to.join(name)));
                    }
                } else if !name.to_string_lossy().contains(".tfstate") {
                    std::fs::copy(entry.path(), to.join(name)).expect("a copy");
                }
            }
        }
        self
    }

    /// The command, not yet run.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .envs(&self.variables)
            .stdin(Stdio::null());
        command
    }

    /// The command run by another program, such as `strace -f`, in the same surroundings; not yet run.
    pub fn wrapped<S: AsRef<std::ffi::OsStr>>(&self, wrapper: &[S], arguments: &[&str]) -> Command {
        let (program, before) = wrapper.split_first().expect("a program");
        let mut command = Command::new(program);
        command
            .args(before)
            .arg(&self.binary)
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .envs(&self.variables)
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end, with nothing on standard input.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "", &[])
    }

    /// Runs the binary to its end with this input and these additional variables.
    #[track_caller]
    pub fn run_with(&self, arguments: &[&str], input: &str, variables: &[(&str, &str)]) -> Ran {
        let ran = self.feed(self.command(arguments), arguments, input, variables);
        formats::check_run(arguments, &ran.stdout);
        ran
    }

    /// Runs another program in the same surroundings.
    #[track_caller]
    pub fn run_program(&self, program: &str, arguments: &[&str], input: &str) -> Ran {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .envs(&self.variables);
        self.feed(command, arguments, input, &[])
    }

    #[track_caller]
    fn feed(
        &self,
        mut command: Command,
        arguments: &[&str],
        input: &str,
        variables: &[(&str, &str)],
    ) -> Ran {
        command
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_owned();
        let feeding = std::thread::spawn(move || {
            // who does not read their input has their reasons
            let _ = stdin.write_all(input.as_bytes());
        });
        let ran = Ran::of(child, arguments, PATIENCE);
        feeding.join().expect("fed");
        ran
    }

    /// Starts the binary and lets it run; its output goes nowhere but to files in the folder above the
    /// working directory.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.start_command(self.command(arguments))
    }

    /// Starts a command and lets it run; its output goes where that of [`TestEnv::start`] goes.
    pub fn start_command(&self, mut command: Command) -> Child {
        let file = |name: &str| {
            std::fs::File::create(self.folder.path().join(name)).expect("a file for output")
        };
        command
            .stdout(file("stdout"))
            .stderr(file("stderr"))
            .spawn()
            .expect("the binary runs")
    }

    /// What the last started binary has written so far: standard output, then standard error.
    pub fn started_output(&self) -> String {
        let text =
            |name: &str| std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        text("stdout") + &text("stderr")
    }

    /// Starts `mock serve` with a world that lives below the working directory.
    pub fn serve(&self, data: &str, scenario: &Scenario) -> MockProcess {
        MockProcess::start(self, data, scenario)
    }
}

/// Interrupts a process as Ctrl-C does.
pub fn interrupt(child: &Child) {
    let id = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    let id = id.expect("a process id");
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it runs");
}

/// Waits until something holds, looking often; panics if it takes too long.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "still waiting: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// How many seconds a long harness may work: `FORMWORK_TEST_BUDGET`, 10 without.
pub fn budget() -> Duration {
    let seconds = std::env::var("FORMWORK_TEST_BUDGET")
        .ok()
        .and_then(|v| v.parse().ok());
    Duration::from_secs(seconds.unwrap_or(10))
}
