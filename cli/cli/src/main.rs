//! `formwork`: the command.
//!
//! The composition root: the only crate that names concrete providers and state stores, and the only
//! one that reads the process's environment, its clock and its terminal. Everything that is decided
//! is decided below, in `ops`; how it looks is decided in `render`. A command here turns arguments and
//! settings into values for an operation, and what comes back into text and an exit code.
//!
//! Order of reading: [`arguments`] (what was asked for), [`surroundings`] (where it runs),
//! [`session`] (both, brought together), then the [`commands`].
#![forbid(unsafe_code)]

mod arguments;
mod backend;
mod cli_config;
mod commands;
mod inputs;
mod line_editor;
mod log;
mod mock;
mod modules;
mod operation;
mod plan_file;
mod preview;
mod progress;
mod providers;
mod runtime;
mod session;
mod stream;
mod surroundings;
mod test_worlds;

use arguments::{Parsed, parse};
use session::{Session, exit};
use std::process::ExitCode;
use surroundings::Surroundings;

/// Configurations and states are trees of many small nodes: the C library's allocator spends a quarter
/// of a run on them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let surroundings = Surroundings::of_process();
    ExitCode::from(run(surroundings))
}

fn run(surroundings: Surroundings) -> u8 {
    let words = surroundings.arguments.clone();
    let variables = surroundings.environment.variables.clone();
    let parsed = parse(words, |name| variables.get(name).cloned());
    let arguments = match parsed {
        Ok(Parsed::Run(arguments)) => *arguments,
        Ok(Parsed::Help(text)) => {
            surroundings.streams.out(&text);
            return exit::SUCCESS;
        }
        Ok(Parsed::NoCommand(text)) => {
            surroundings.streams.out(&text);
            return exit::NO_COMMAND;
        }
        Ok(Parsed::NoSubcommand(text)) => {
            surroundings.streams.out(&text);
            return exit::NO_SUBCOMMAND;
        }
        Err(diagnostics) => return surroundings.refuse(&diagnostics),
    };
    let session = match Session::new(surroundings, &arguments) {
        Ok(session) => session,
        Err(refused) => return refused.0.refuse(&refused.1),
    };
    commands::run(&session, &arguments.command)
}
