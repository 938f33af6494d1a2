//! `TF_LOG`: what our crates say about their doings, on standard error or in the file of
//! `TF_LOG_PATH`.
//!
//! Only what our own crates say, and they never say a secret. Libraries' own words are left out: an
//! HTTP library may well print a header.

use formwork_environment::{Clock, Environment};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Begins to log, if the environment asks for it.
pub fn start(environment: &Environment) {
    let level = match environment.variable("TF_LOG").map(str::to_ascii_uppercase) {
        None => return,
        Some(level) => match level.as_str() {
            "OFF" => return,
            "ERROR" => Level::ERROR,
            "WARN" => Level::WARN,
            "INFO" => Level::INFO,
            "DEBUG" => Level::DEBUG,
            // JSON is a shape and not a level; Terraform's means everything, too
            _ => Level::TRACE,
        },
    };
    let file = environment.variable("TF_LOG_PATH").and_then(|path| {
        let path = environment.working.join(path);
        File::options().append(true).create(true).open(path).ok()
    });
    let log = Log {
        level,
        file: file.map(Mutex::new),
        clock: environment.clock.clone(),
    };
    // fails only if there is one already: this is called once
    let _ = tracing::subscriber::set_global_default(log);
}

struct Log {
    level: Level,
    file: Option<Mutex<File>>,
    clock: Arc<dyn Clock>,
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level && metadata.target().starts_with("formwork")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let time = formwork_state::timestamp(self.clock.now());
        let metadata = event.metadata();
        let mut line = format!("{time} [{}] {}:", metadata.level(), metadata.target());
        event.record(&mut Words(&mut line));
        line.push('\n');
        match &self.file {
            Some(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = file.write_all(line.as_bytes());
            }
            None => crate::surroundings::Streams.error(&line),
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Words<'a>(&'a mut String);

impl Visit for Words<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // writing to a String cannot fail
        let _ = if field.name() == "message" {
            write!(self.0, " {value:?}")
        } else {
            write!(self.0, " {}={value:?}", field.name())
        };
    }
}
