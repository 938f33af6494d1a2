//! Runs a command in a process group of its own, telling its output as it comes.

use crate::lines::{Lines, Tail};
use crate::running::Running;
use formwork_provider::{LineSink, Stop};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::time::Instant;

/// How long a command that is asked to end may take for it before it is killed.
const GRACE: Duration = Duration::from_secs(5);
/// How long a pipe is read on that a killed command has left to somebody outside its group.
const LINGER: Duration = Duration::from_secs(1);

/// What is run.
pub(crate) struct Wanted {
    pub program: String,
    pub arguments: Vec<String>,
    pub directory: PathBuf,
    pub variables: BTreeMap<String, String>,
}

/// How it ended.
pub(crate) struct Ended {
    /// `None` if it could not be waited for.
    pub status: Option<ExitStatus>,
    /// Whether it was asked to end.
    pub stopped: bool,
    /// The last that it wrote.
    pub tail: Tail,
}

/// Runs it to its end: until it has exited and everybody that it has handed its output to has closed
/// it.
pub(crate) async fn run(
    wanted: Wanted,
    running: &Running,
    sink: &dyn LineSink,
    mut stop: Stop<'_>,
) -> io::Result<Ended> {
    // One pipe for both, so that lines come in the order in which they were written.
    let (reader, writer) = io::pipe()?;
    let mut output = pipe::Receiver::from_owned_fd(reader.into())?;
    let mut command = Command::new(&wanted.program);
    command
        .args(&wanted.arguments)
        .current_dir(&wanted.directory)
        .env_clear()
        .envs(&wanted.variables)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0);
    let mut child = command.spawn()?;
    // it holds the writing ends, too
    drop(command);
    let group = child.id().and_then(|id| running.group(id));
    let signal = |signal| group.iter().for_each(|g| g.signal(signal));
    let mut ended = Ended {
        status: None,
        stopped: false,
        tail: Tail::default(),
    };
    let mut lines = Lines::default();
    let mut buffer = vec![0; 8 * 1024];
    let (mut open, mut exited, mut killed) = (true, false, false);
    let patience = tokio::time::sleep(Duration::ZERO);
    tokio::pin!(patience);
    while open || !exited {
        tokio::select! {
            read = output.read(&mut buffer), if open => {
                let read = read.unwrap_or(0);
                open = read > 0;
                lines.take(&buffer[..read], &mut |line| {
                    ended.tail.push(line);
                    sink.line(line);
                });
            }
            status = child.wait(), if !exited => {
                exited = true;
                ended.status = status.ok();
            }
            () = &mut stop, if !ended.stopped => {
                ended.stopped = true;
                signal(Signal::TERM);
                patience.as_mut().reset(Instant::now() + GRACE);
            }
            () = &mut patience, if ended.stopped => {
                if killed {
                    break;
                }
                killed = true;
                signal(Signal::KILL);
                patience.as_mut().reset(Instant::now() + LINGER);
            }
        }
    }
    lines.end(&mut |line| {
        ended.tail.push(line);
        sink.line(line);
    });
    if let Some(group) = group
        && !ended.stopped
    {
        group.ended();
    }
    Ok(ended)
}
