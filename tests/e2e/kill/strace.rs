//! The binary under `strace`: what it asks of the system, in order, and a signal or an error put into
//! one of these calls.
//!
//! strace counts calls for each thread on its own, so "the Nth write" is that of the thread which is the
//! first to come to its Nth. A call that SIGKILL was put into is not carried out; one with SIGSTOP is.
//! The order of lines is the order of events: a call has returned before another one was begun if its
//! end stands above the other's beginning, since strace lets no thread go on before it has written its
//! line.

use crate::lab::Lab;
use formwork_testkit::TestEnv;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The calls by which anything leaves the process.
pub const CALLS: [&str; 9] = [
    "fdatasync",
    "write",
    "writev",
    "sendto",
    "sendmsg",
    "recvfrom",
    "rename",
    "renameat",
    "renameat2",
];

/// What is followed besides, to know what is durable.
const FOLLOWED: [&str; 4] = ["fsync", "unlink", "fcntl", "ftruncate"];

/// No run takes so long, on however slow a machine.
const HANGS: Duration = Duration::from_secs(240);

/// From this budget on the harnesses run the binary that people get.
const LARGE: Duration = Duration::from_secs(300);

/// Whether a process may be traced here; says so if not.
pub fn is_allowed() -> bool {
    static ALLOWED: OnceLock<bool> = OnceLock::new();
    let allowed = *ALLOWED.get_or_init(|| {
        let mut command = Command::new("strace");
        command.args(["-f", "-o", "/dev/null", "true"]);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    });
    if !allowed {
        crate::skipped("strace is not there, or may not trace (ptrace)");
    }
    allowed
}

/// The binary that is traced: the one that `FORMWORK_BIN` names; else, with a large budget, the release
/// binary, which is built; else the one that cargo has built for the tests.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let binary = match std::env::var_os("FORMWORK_BIN") {
            Some(named) => std::path::absolute(named).expect("a path"),
            None if formwork_testkit::budget() >= LARGE => release(),
            None => PathBuf::from(env!("CARGO_BIN_EXE_formwork")),
        };
        println!("strace: the binary is {}", binary.display());
        binary
    })
}

fn release() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = [
        "build",
        "--release",
        "-p",
        "formwork",
        "--message-format=json",
    ];
    let built = Command::new(cargo)
        .args(build)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "the release binary is built");
    let told = String::from_utf8_lossy(&built.stdout).into_owned();
    let mut told = told
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let binary = told.find_map(|line| line["executable"].as_str().map(PathBuf::from));
    binary.expect("cargo says where the binary is")
}

/// What is put into a call.
#[derive(Clone, Debug)]
pub struct Injection {
    /// The call.
    pub call: String,
    /// `signal=SIGKILL`, `error=ENOSPC`.
    pub what: &'static str,
    /// Which one, in the words of `strace -e inject`: `7`, `7+`.
    pub when: String,
    /// The files whose calls alone are counted (and traced); all calls if there are none. `$$` in them
    /// is the process's number.
    pub files: Vec<String>,
}

impl Injection {
    /// SIGKILL instead of a call.
    pub fn kill(call: &str, when: usize) -> Self {
        Self::put("signal=SIGKILL", call, when)
    }

    /// Something put into the `when`th of these calls.
    pub fn put(what: &'static str, call: &str, when: usize) -> Self {
        Self {
            call: call.to_owned(),
            what,
            when: when.to_string(),
            files: Vec::new(),
        }
    }

    /// Counting only calls on these files.
    #[must_use]
    pub fn on(mut self, files: impl IntoIterator<Item = String>) -> Self {
        self.files.extend(files);
        self
    }
}

/// The file at this path, and the one that is written before it takes its place.
pub fn with_new(path: &Path) -> [String; 2] {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}.$$.formwork-new"));
    [path, &new].map(|path| path.to_string_lossy().into_owned())
}

/// One call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The thread.
    pub thread: u32,
    /// `fdatasync`
    pub name: String,
    /// Its arguments, as strace writes them.
    pub arguments: String,
    /// What it returned; none if the process died first.
    pub result: Option<i64>,
    /// Whether strace put an error into it.
    pub injected: bool,
    /// The line at which it began.
    pub begun: usize,
    /// The line at which it returned.
    pub ended: usize,
}

impl Call {
    /// The file that the call is about: the last component of its path as it was when it was called;
    /// or the peer, or what kind of thing the descriptor is.
    pub fn target(&self) -> String {
        let text = &self.arguments;
        if self.name.starts_with("rename") || self.name == "unlink" {
            let last = text.rsplit('"').nth(1).unwrap_or_default();
            return file_name(last);
        }
        let (number, rest) = text.split_once('<').unwrap_or((text, ""));
        if let Some(peers) = rest.strip_prefix("TCP:[") {
            let peer = peers.split(']').next().unwrap_or_default();
            return match peer.split_once("->") {
                Some(_) => "mock".to_owned(),
                None => "socket".to_owned(),
            };
        }
        let end = rest.find('>').unwrap_or(rest.len());
        let what = rest.get(..end).unwrap_or_default();
        match what {
            what if what.starts_with('/') => file_name(what),
            what if what.starts_with("anon_inode:") => what.replace("anon_inode:", ""),
            _ if number == "1" => "stdout".to_owned(),
            _ if number == "2" => "stderr".to_owned(),
            what => what.split(':').next().unwrap_or_default().to_owned(),
        }
    }

    /// The path that a descriptor was opened by.
    pub fn path(&self) -> Option<&str> {
        let (_, rest) = self.arguments.split_once('<')?;
        let path = rest.split_once('>')?.0;
        path.starts_with('/').then_some(path)
    }

    /// Whether this call put a file at `path`.
    fn ends_at(&self, path: &str) -> bool {
        let texts = self.texts();
        texts.last().is_some_and(|to| to == path.as_bytes())
    }

    /// The texts among the arguments, as they were before strace escaped them.
    pub fn texts(&self) -> Vec<Vec<u8>> {
        let mut texts = Vec::new();
        let mut bytes = self.arguments.bytes().peekable();
        while let Some(byte) = bytes.next() {
            if byte != b'"' {
                continue;
            }
            let mut text = Vec::new();
            while let Some(byte) = bytes.next() {
                match byte {
                    b'"' => break,
                    b'\\' => match bytes.next().unwrap_or_default() {
                        b'n' => text.push(b'\n'),
                        b'r' => text.push(b'\r'),
                        b't' => text.push(b'\t'),
                        b'f' => text.push(0x0c),
                        b'v' => text.push(0x0b),
                        first @ b'0'..=b'7' => {
                            let mut number = u32::from(first - b'0');
                            for _ in 0..2 {
                                let more = bytes.next_if(|b| (b'0'..=b'7').contains(b));
                                let Some(digit) = more else { break };
                                number = number * 8 + u32::from(digit - b'0');
                            }
                            text.push(u8::try_from(number).unwrap_or_default());
                        }
                        other => text.push(other),
                    },
                    other => text.push(other),
                }
            }
            texts.push(text);
        }
        texts
    }
}

/// The last component of a path, without the process's number.
fn file_name(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    let parts = name.split('.');
    let parts: Vec<&str> = parts
        .map(|part| match part.parse::<u32>() {
            Ok(_) => "N",
            Err(_) => part,
        })
        .collect();
    parts.join(".")
}

/// A run that has ended.
pub struct Traced {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to both streams.
    pub output: String,
    /// Its calls, in the order in which they began.
    pub calls: Vec<Call>,
}

impl Traced {
    /// The call that something was put into: the first that is the `when`th of its thread.
    pub fn hit(&self, injection: &Injection) -> Option<&Call> {
        let when: usize = injection.when.trim_end_matches('+').parse().ok()?;
        let mut counts = BTreeMap::<u32, usize>::new();
        // with files named, calls on others are not in the trace
        let mut named = self.calls.iter().filter(|c| c.name == injection.call);
        named.find(|call| {
            let count = counts.entry(call.thread).or_default();
            *count += 1;
            *count == when && (call.result.is_none() || call.injected)
        })
    }

    /// How many of the last bytes of the file at `path` were not synced when the run ended.
    pub fn unsynced(&self, path: &Path) -> u64 {
        let path = path.to_string_lossy();
        let mut unsynced = 0;
        for call in &self.calls {
            let mine = call.path() == Some(&*path);
            match (call.name.as_str(), call.result) {
                ("write", Some(length)) if mine => unsynced += u64::try_from(length).unwrap_or(0),
                ("fsync" | "fdatasync", Some(0)) if mine => unsynced = 0,
                (name, Some(0)) if name.starts_with("rename") && call.ends_at(&path) => {
                    unsynced = 0
                }
                _ => {}
            }
        }
        unsynced
    }
}

/// Runs a command of the lab under strace. `shown` bytes of what is read and written stand in the trace.
pub fn run(lab: &Lab, command: &[&str], injection: Option<&Injection>, shown: usize) -> Traced {
    let arguments = lab.arguments(command);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run_plain(lab, &arguments, injection, shown)
}

/// The same with arguments that are taken as they are.
pub fn run_plain(
    lab: &Lab,
    arguments: &[&str],
    injection: Option<&Injection>,
    shown: usize,
) -> Traced {
    let trace = lab.env.path().join("../trace");
    let mut child = start(&lab.env, arguments, injection, shown);
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if begun.elapsed() > HANGS {
            child.kill().expect("it runs");
            child.wait().expect("it has ended");
            let output = lab.env.started_output();
            panic!("{arguments:?} hangs with {injection:?}:\n{output}");
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    // strace outlives what it traces
    let id = child.id().to_string();
    let ends = |line: &str| {
        let mut words = line.split_whitespace();
        words.next() == Some(&id) && words.next() == Some("+++")
    };
    let mut text = String::new();
    formwork_testkit::until("strace writes its last line", || {
        let bytes = std::fs::read(&trace).unwrap_or_default();
        text = String::from_utf8_lossy(&bytes).into_owned();
        text.ends_with('\n') && text.lines().rev().take(100).any(ends)
    });
    Traced {
        code: status.code(),
        output: lab.env.started_output(),
        calls: calls(&text),
    }
}

/// Starts the binary under strace; the child is the binary itself. The trace goes to the file `trace`
/// beside the working directory.
pub fn start(
    env: &TestEnv,
    arguments: &[&str],
    injection: Option<&Injection>,
    shown: usize,
) -> Child {
    let trace = env.path().join("../trace");
    let _ = std::fs::remove_file(&trace);
    let traced: Vec<&str> = CALLS.iter().chain(&FOLLOWED).copied().collect();
    // with a filter, what is put into the Nth call is put into none (strace 6.1)
    let filter = match injection {
        Some(_) => "",
        None => "--seccomp-bpf",
    };
    let mut script = format!(
        "exec strace -D -f {filter} -yy -s {shown} -o '{}' -etrace={}",
        trace.display(),
        traced.join(",")
    );
    if let Some(injection) = injection {
        let Injection {
            call, what, when, ..
        } = injection;
        script.push_str(&format!(" -einject={call}:{what}:when={when}"));
        for file in &injection.files {
            script.push_str(&format!(" -P \"{file}\""));
        }
    }
    script.push_str(" \"$@\"");
    let wrapper = ["/bin/sh", "-c", &script, "strace"];
    env.start_command(env.wrapped(&wrapper, arguments))
}

/// The calls of a trace.
fn calls(text: &str) -> Vec<Call> {
    let mut calls = Vec::<Call>::new();
    // of each thread, the call that has not returned
    let mut open = BTreeMap::<u32, usize>::new();
    for (number, line) in text.lines().enumerate() {
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        let Ok(thread) = thread.parse::<u32>() else {
            continue;
        };
        let rest = rest.trim_start();
        if let Some(resumed) = rest.strip_prefix("<... ") {
            let end = resumed.split_once(" resumed>").map(|(_, end)| end);
            if let (Some(end), Some(at)) = (end, open.remove(&thread))
                && let Some(call) = calls.get_mut(at)
            {
                let (more, result, injected) = returned(end);
                call.arguments.push_str(more);
                (call.result, call.injected) = (result, injected);
                call.ended = number;
            }
            continue;
        }
        let Some((name, rest)) = rest.split_once('(') else {
            continue;
        };
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            continue;
        }
        let unfinished = rest.strip_suffix(" <unfinished ...>");
        let (arguments, result, injected) = match unfinished {
            Some(arguments) => (arguments, None, false),
            None => returned(rest),
        };
        if unfinished.is_some() {
            open.insert(thread, calls.len());
        }
        calls.push(Call {
            thread,
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            result,
            injected,
            begun: number,
            ended: if unfinished.is_some() {
                usize::MAX
            } else {
                number
            },
        });
    }
    calls
}

/// Arguments, what was returned, and whether that was put in: `1<x>, "text", 4) = 4`.
fn returned(text: &str) -> (&str, Option<i64>, bool) {
    let Some((arguments, result)) = text.rsplit_once(" = ") else {
        return (text, None, false);
    };
    let arguments = arguments.trim_end().trim_end_matches(')');
    let number = result.split([' ', '<']).next().unwrap_or_default();
    let number = match number.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    };
    (arguments, number, result.contains("(INJECTED)"))
}
