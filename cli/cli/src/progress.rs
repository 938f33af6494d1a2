//! Events as they come, told to whoever watches.

use crate::session::Session;
use crate::stream::Stream;
use crate::surroundings::Streams;
use formwork_diagnostics::SourceMap;
use formwork_plan::{Event, EventSink};
use formwork_render::Progress;
use std::sync::Arc;

/// Writes a line for each event that people want to know of.
pub struct Teller {
    progress: Progress,
    streams: Streams,
    stream: Option<Arc<Stream>>,
    silent: bool,
}

impl Teller {
    /// For people, or silent where standard output belongs to a program. Where nobody watches, only
    /// what changes something or goes wrong is told.
    pub fn new(session: &Session, for_program: bool) -> Self {
        Self {
            progress: Progress {
                style: session.style,
                concise: !session.terminal.output,
            },
            streams: session.streams,
            stream: session.stream.clone(),
            silent: for_program || !session.is_for_people,
        }
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
        if let Some(line) = self.progress.line(&event, &SourceMap::new()) {
            self.streams.out(&line);
        }
    }
}
