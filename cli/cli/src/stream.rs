//! The event stream for programs: `-json`, in place of what people read, and `-json-into=FILE`, beside
//! it.

use crate::session::Session;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_environment::Clock;
use formwork_eval::Builtins;
use formwork_plan::{Event, OutputChange, PlanMode};
use formwork_render::{EventStream, KnownFunctions};
use formwork_state::{OutputState, timestamp};
use std::fs::{File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Lines of JSON as they come.
pub struct Stream {
    file: Option<Mutex<File>>,
    clock: Arc<dyn Clock>,
    product: &'static str,
    level: String,
    functions: Builtins,
    command: Option<PlanMode>,
}

/// Begins a file anew that only its owner may read.
///
/// # Errors
/// Why it cannot be written.
pub fn private_file(session: &Session, path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(session.environment.working.join(path))?;
    // one that was there before may be anybody's to read
    if file.metadata()?.is_file() {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

impl Stream {
    /// A stream to standard output, or into a file that is begun anew; its first line is written.
    ///
    /// # Errors
    /// Why the file cannot be written.
    pub fn begin(
        session: &Session,
        into: Option<&Path>,
        level: String,
        command: Option<PlanMode>,
    ) -> std::io::Result<Self> {
        let file = into.map(|path| private_file(session, path));
        let stream = Self {
            file: file.transpose()?.map(Mutex::new),
            clock: session.environment.clock.clone(),
            product: session.product(),
            level,
            functions: session.signatures(),
            command,
        };
        stream.with(&SourceMap::new(), |s, at| s.version(at));
        Ok(stream)
    }

    fn with(&self, sources: &SourceMap, line: impl FnOnce(&EventStream<'_>, &str) -> String) {
        let version = if self.product == "Formwork" {
            crate::commands::VERSION
        } else {
            &self.level
        };
        let stream = EventStream {
            product: self.product,
            tool_version: version,
            language_version: &self.level,
            by_destroy: self.command == Some(PlanMode::Destroy),
            sources,
            signatures: &KnownFunctions(&self.functions),
        };
        let at = timestamp(self.clock.now());
        let line = line(&stream, &at);
        if line.is_empty() {
            return;
        }
        match &self.file {
            // who reads it may have gone away, which stops nothing
            None => {
                let mut out = std::io::stdout().lock();
                let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
            }
            Some(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = file.write_all(line.as_bytes());
            }
        }
    }

    /// An event, if the stream has a word for it.
    pub fn event(&self, event: &Event) {
        let counts = matches!(event, Event::PlanSummary(_) | Event::ApplySummary(_));
        if counts && self.refreshes() {
            return;
        }
        self.with(&SourceMap::new(), |s, at| {
            s.event(at, event).unwrap_or_default()
        });
    }

    /// Whether the command is `refresh`, which has no plan to speak of.
    fn refreshes(&self) -> bool {
        self.command == Some(PlanMode::RefreshOnly)
    }

    /// Diagnostics.
    pub fn diagnostics(&self, diagnostics: &Diagnostics, sources: &SourceMap) {
        for d in diagnostics.iter() {
            self.diagnostic(d, sources);
        }
    }

    fn diagnostic(&self, diagnostic: &Diagnostic, sources: &SourceMap) {
        self.with(sources, |s, at| s.diagnostic(at, diagnostic));
    }

    /// A step of `init`.
    pub fn init_output(&self, code: &str, message: &str) {
        self.with(&SourceMap::new(), |s, at| s.init_output(at, code, message));
    }

    /// Plain information.
    pub fn log(&self, message: &str) {
        self.with(&SourceMap::new(), |s, at| s.log(at, message));
    }

    /// What a plan does to outputs; nothing if it has none.
    pub fn planned_outputs(&self, outputs: &[OutputChange]) {
        if !outputs.is_empty() && !self.refreshes() {
            self.with(&SourceMap::new(), |s, at| s.planned_outputs(at, outputs));
        }
    }

    /// The outputs after an apply.
    pub fn outputs<'o>(&self, outputs: impl ExactSizeIterator<Item = (&'o str, &'o OutputState)>) {
        self.with(&SourceMap::new(), |s, at| s.outputs(at, outputs));
    }
}
