//! The commands: thin wrappers over operations.

mod fmt;
mod version;

use crate::arguments::Command;
use crate::session::Session;

/// Runs a command and gives its exit code.
pub fn run(session: &mut Session, command: Command) -> u8 {
    match command {
        Command::Fmt(arguments) => fmt::run(session, &arguments),
        Command::Version(arguments) => version::run(session, &arguments),
        other => {
            let debug = format!("{other:?}");
            let name = debug.split(['(', ' ']).next().unwrap_or_default();
            session.fail(
                "Command not served yet",
                format!("Formwork does not run \"{}\" yet.", name.to_lowercase()),
            )
        }
    }
}
