//! The commands: thin wrappers over operations.

mod apply;
mod console;
mod fmt;
mod force_unlock;
mod get;
mod graph;
mod import;
mod init;
mod mock;
mod output;
mod plan;
mod providers;
mod show;
mod state;
mod state_edit;
mod test;
mod validate;
mod version;
mod workspace;

use crate::arguments::Command;
use crate::session::Session;
use formwork_plan::PlanMode;

pub use version::VERSION;

/// Runs a command and gives its exit code.
pub fn run(session: &Session, command: &Command) -> u8 {
    match command {
        Command::Init(arguments) => init::run(session, arguments),
        Command::Get(arguments) => get::run(session, arguments),
        Command::Modules(arguments) => get::list(session, arguments),
        Command::Validate(arguments) => validate::run(session, arguments),
        Command::Plan(arguments) => plan::run(session, arguments),
        Command::Apply(arguments) => apply::run(session, arguments, None),
        Command::Destroy(arguments) => apply::run(session, arguments, Some(PlanMode::Destroy)),
        Command::Refresh(arguments) => apply::run(session, arguments, Some(PlanMode::RefreshOnly)),
        Command::Show(arguments) => show::run(session, arguments),
        Command::Output(arguments) => output::run(session, arguments),
        Command::Import(arguments) => import::run(session, arguments),
        Command::State(command) => state::run(session, command),
        Command::Taint(arguments) => state_edit::taint(session, arguments, true),
        Command::Untaint(arguments) => state_edit::taint(session, arguments, false),
        Command::ForceUnlock(arguments) => force_unlock::run(session, arguments),
        Command::Workspace(command) => workspace::run(session, command),
        Command::Graph(arguments) => graph::run(session, arguments),
        Command::Providers(arguments) => providers::run(session, arguments),
        Command::Metadata(command) => providers::metadata(session, command),
        Command::Fmt(arguments) => fmt::run(session, arguments),
        Command::Console(arguments) => console::run(session, arguments),
        Command::Test(arguments) => test::run(session, arguments),
        Command::Version(arguments) => version::run(session, arguments),
        Command::Mock(command) => mock::run(session, command),
    }
}
