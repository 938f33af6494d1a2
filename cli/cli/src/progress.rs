//! Events as they come, told to whoever watches: lines, and at a terminal a board at its foot.
//!
//! What operations usually take is remembered in the user's cache directory, per kind of cloud, and in
//! no state: `$XDG_CACHE_HOME/formwork/durations.json`, or `~/.cache/formwork/durations.json`. It is a
//! forecast and nothing more, so whatever goes wrong with it goes unsaid.

use crate::session::Session;
use crate::stream::Stream;
use crate::surroundings::Streams;
use formwork_diagnostics::SourceMap;
use formwork_environment::Clock;
use formwork_plan::{Event, EventSink, Plan};
use formwork_render::{Board, Progress, UsualTimes};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Writes a line for each event that people want to know of.
pub struct Teller {
    progress: Progress,
    streams: Streams,
    stream: Option<Arc<Stream>>,
    silent: bool,
    foot: Option<Arc<Foot>>,
}

impl Teller {
    /// For people, or silent where standard output belongs to a program. Where nobody watches, or with
    /// `concise`, only what changes something or goes wrong is told.
    pub fn new(session: &Session, for_program: bool, concise: bool, parallelism: usize) -> Self {
        let silent = for_program || !session.is_for_people;
        let concise = concise || !session.terminal.output;
        Self {
            progress: Progress {
                style: session.style,
                concise,
            },
            streams: session.streams,
            stream: session.stream.clone(),
            silent,
            foot: (!silent && !concise).then(|| Foot::begin(session, parallelism)),
        }
    }

    /// The board at the foot of the terminal, if there is one.
    pub fn foot(&self) -> Option<Arc<Foot>> {
        self.foot.clone()
    }
}

impl EventSink for Teller {
    fn emit(&self, event: Event) {
        if let Some(stream) = &self.stream {
            stream.event(&event);
        }
        if self.silent {
            return;
        }
        // diagnostics that are told at once have no place in a file
        let line = self.progress.line(&event, &SourceMap::new());
        match &self.foot {
            Some(foot) => foot.tell(&event, line.as_deref().unwrap_or_default()),
            None => line.iter().for_each(|line| self.streams.out(line)),
        }
    }
}

/// The board at the foot of a terminal.
pub struct Foot {
    board: Mutex<Board>,
    streams: Streams,
    clock: Arc<dyn Clock>,
    width: usize,
    /// Whether a line stands there.
    stands: AtomicBool,
    ended: AtomicBool,
    memory: Option<Memory>,
}

impl Foot {
    fn begin(session: &Session, parallelism: usize) -> Arc<Self> {
        let memory = Memory::of(session);
        let usual = memory.as_ref().map(Memory::usual).unwrap_or_default();
        let foot = Arc::new(Self {
            board: Mutex::new(Board::new(usual, parallelism)),
            streams: session.streams,
            clock: session.environment.clock.clone(),
            width: session.terminal.width,
            stands: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            memory,
        });
        let ticking = Arc::downgrade(&foot);
        // it ends with the foot, at the next second
        let _ = std::thread::Builder::new()
            .name("progress".to_owned())
            .spawn(move || {
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                    match ticking.upgrade() {
                        Some(foot) if !foot.ended.load(Ordering::Relaxed) => foot.draw(""),
                        _ => return,
                    }
                }
            });
        foot
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says what will be applied.
    pub fn expect(&self, plan: &Plan) {
        let changes = plan.changes.iter();
        let changes = changes.map(|c| (&*c.address.resource.kind, c.action));
        self.board().expect(changes);
    }

    fn tell(&self, event: &Event, line: &str) {
        self.board().event(event, self.clock.now());
        self.draw(line);
    }

    /// Writes lines in place of the board, and the board below them.
    fn draw(&self, lines: &str) {
        let board = self.board();
        let foot = board.line(self.clock.now(), self.width);
        let stood = self.stands.swap(foot.is_some(), Ordering::Relaxed);
        let mut text = String::new();
        if stood {
            text.push_str("\r\u{1b}[K");
        }
        text.push_str(lines);
        text.push_str(foot.as_deref().unwrap_or_default());
        if !text.is_empty() {
            self.streams.out(&text);
        }
        // held until it is written, so that two do not mix
        drop(board);
    }

    /// Takes the board away, and remembers what operations took.
    pub fn end(&self) {
        let took = {
            let mut board = self.board();
            board.rest();
            board.took()
        };
        self.draw("");
        if let Some(memory) = self.memory.as_ref().filter(|_| !took.is_empty()) {
            memory.remember(&took);
        }
    }
}

impl Drop for Foot {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// What operations took in earlier runs.
struct Memory {
    file: PathBuf,
    /// Which clouds the times are of: those of a mock say nothing of the real one.
    cloud: &'static str,
}

impl Memory {
    fn of(session: &Session) -> Option<Self> {
        let environment = &session.environment;
        let cache = match environment.variable("XDG_CACHE_HOME") {
            Some(folder) => PathBuf::from(folder),
            None => environment.home.as_ref()?.join(".cache"),
        };
        Some(Self {
            file: cache.join("formwork").join("durations.json"),
            cloud: if session.is_mock() { "mock" } else { "real" },
        })
    }

    /// Milliseconds by cloud, then by type and action.
    fn read(&self) -> BTreeMap<String, BTreeMap<String, u64>> {
        let text = std::fs::read(&self.file).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn usual(&self) -> UsualTimes {
        let all = self.read().remove(self.cloud).unwrap_or_default();
        all.into_iter()
            .map(|(key, time)| (key, Duration::from_millis(time)))
            .collect()
    }

    /// Moves what is remembered a third of the way to what was measured.
    fn remember(&self, took: &[(String, Duration)]) {
        let mut all = self.read();
        let of_cloud = all.entry(self.cloud.to_owned()).or_default();
        for (key, time) in took {
            let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            let known = of_cloud.entry(key.clone()).or_insert(time);
            *known = (*known / 3).saturating_mul(2).saturating_add(time / 3);
        }
        let Some(folder) = self.file.parent() else {
            return;
        };
        let _ = std::fs::create_dir_all(folder);
        let Ok(text) = serde_json::to_vec(&all) else {
            return;
        };
        // another run may write at the same time: the last one stands, whole
        if let Ok(mut file) = tempfile::NamedTempFile::new_in(folder)
            && file.write_all(&text).is_ok()
        {
            let _ = file.persist(&self.file);
        }
    }
}
