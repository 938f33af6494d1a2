//! Where the command runs: the process's environment, clock, randomness, streams and terminal.
//!
//! Nothing below this crate asks the process for any of it; it is all read here, once, at the start.

use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_environment::{Clock, Environment, Randomness};
use formwork_render::{Style, diagnostics_text};
use rand::RngCore;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, SystemTime};

/// What the process was given.
pub struct Surroundings {
    /// The words after the program's name.
    pub arguments: Vec<String>,
    /// The name by which the program was called, without directories.
    pub called: String,
    /// What operations are handed.
    pub environment: Environment,
    /// Where text goes.
    pub streams: Streams,
    /// What people can see and answer.
    pub terminal: Terminal,
}

/// What of the streams is a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// Whether somebody can answer.
    pub input: bool,
    /// Whether somebody watches standard output.
    pub output: bool,
    /// Whether somebody watches standard error.
    pub error: bool,
    /// Columns of the terminal of standard output.
    pub width: usize,
}

/// Standard output and standard error.
///
/// A reader that has gone away is nothing a run may stop for: an apply goes on when its `| head` has
/// ended. So writing never fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct Streams;

impl Streams {
    /// Writes to standard output.
    pub fn out(self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Writes bytes to standard output.
    pub fn bytes(self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// Writes to standard error.
    pub fn error(self, text: &str) {
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }

    /// Reads all of standard input.
    pub fn read_all(self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)?;
        Ok(bytes)
    }

    /// Reads a line of the terminal without showing what is typed.
    pub fn read_hidden(self) -> std::io::Result<Option<String>> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let input = std::io::stdin();
        let Ok(before) = tcgetattr(&input) else {
            return self.read_line();
        };
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&input, OptionalActions::Now, &hidden)?;
        let line = self.read_line();
        tcsetattr(&input, OptionalActions::Now, &before)?;
        line
    }

    /// Reads a line of standard input without its end; `None` at the end of the input, and when the run is
    /// asked to stop while nobody answers.
    pub fn read_line(self) -> std::io::Result<Option<String>> {
        // a read cannot be called off: its thread is left behind, and ends with the process
        let (answer, answered) = std::sync::mpsc::channel();
        std::thread::Builder::new()
            .name("input".to_owned())
            .spawn(move || {
                let mut line = String::new();
                let read = std::io::stdin().read_line(&mut line);
                // nobody waits any more where the run was stopped
                let _ = answer.send(read.map(|n| (n > 0).then_some(line)));
            })?;
        loop {
            match answered.recv_timeout(LOOKING) {
                Ok(line) => {
                    let ends = ['\n', '\r'];
                    return Ok(line?.map(|line| line.trim_end_matches(ends).to_owned()));
                }
                Err(RecvTimeoutError::Timeout) if !INTERRUPTED.load(Ordering::SeqCst) => {}
                Err(_) => return Ok(None),
            }
        }
    }

    /// Says that the run is asked to stop: nobody need answer a question any more.
    pub fn interrupt(self) {
        INTERRUPTED.store(true, Ordering::SeqCst);
    }

    /// Whether the run is asked to stop.
    pub fn is_interrupted(self) -> bool {
        INTERRUPTED.load(Ordering::SeqCst)
    }
}

/// Whether this process is asked to stop, for those who wait for standard input.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How often it is looked at while nobody answers.
const LOOKING: Duration = Duration::from_millis(50);

struct RealClock;

impl Clock for RealClock {
    #[allow(clippy::disallowed_methods)] // this is where the clock is read
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

struct RealRandomness;

impl Randomness for RealRandomness {
    fn fill(&self, bytes: &mut [u8]) {
        rand::rng().fill_bytes(bytes);
    }
}

impl Surroundings {
    /// Those of this process.
    pub fn of_process() -> Self {
        let lossy = |s: std::ffi::OsString| s.to_string_lossy().into_owned();
        let mut words = std::env::args_os().map(lossy);
        let called = words.next().unwrap_or_default();
        let called = called.rsplit('/').next().unwrap_or_default().to_owned();
        let variables: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, lossy(value))))
            .collect();
        let named = |name: &str| variables.get(name).filter(|v| !v.is_empty());
        let user = named("USER").or_else(|| named("LOGNAME"));
        let user = user.map_or("unknown", String::as_str);
        let host = rustix::system::uname();
        let host = host.nodename().to_string_lossy();
        let width = rustix::termios::tcgetwinsize(std::io::stdout())
            .map_or(0, |size| usize::from(size.ws_col));
        let environment = Environment {
            home: named("HOME").map(PathBuf::from),
            working: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            temporary: std::env::temp_dir(),
            who: format!("{user}@{host}"),
            process: std::process::id(),
            clock: Arc::new(RealClock),
            randomness: Arc::new(RealRandomness),
            variables,
        };
        Self {
            arguments: words.collect(),
            called,
            environment,
            streams: Streams,
            terminal: Terminal {
                input: std::io::stdin().is_terminal(),
                output: std::io::stdout().is_terminal(),
                error: std::io::stderr().is_terminal(),
                width: if width == 0 { 80 } else { width },
            },
        }
    }

    /// Says why nothing is done, and gives the exit code of that.
    pub fn refuse(&self, diagnostics: &Diagnostics) -> u8 {
        let coloured = self.terminal.error && self.environment.variable("NO_COLOR").is_none();
        let style = if coloured {
            Style::terminal(self.terminal.width)
        } else {
            Style::PLAIN
        };
        let text = diagnostics_text(diagnostics, &SourceMap::new(), style);
        self.streams.error(&text);
        crate::session::exit::FAILURE
    }

    /// Goes to another directory, for the process too: what it starts begins there.
    pub fn change_directory(&mut self, directory: &std::path::Path) -> std::io::Result<()> {
        std::env::set_current_dir(directory)?;
        self.environment.working = std::env::current_dir()?;
        Ok(())
    }
}
