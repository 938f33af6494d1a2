//! The binary from outside, in hermetic surroundings, against mock clouds.

// A test may end by panicking, its helpers too.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr
)]

mod backends;
mod bad_input;
mod beyond;
mod command_line;
mod console;
mod deferral;
mod event_stream;
mod failing_apply;
mod formats;
mod imports;
mod limits;
mod mistakes;
mod mock_clouds;
mod modules;
mod pipelines;
mod recorded_commands;
mod restricted_files;
mod saved_plans;
mod secrets;
mod side_by_side;
mod skeleton;
mod state_commands;
mod test_command;
mod test_recordings;
mod unserved;

use formwork_testkit::TestEnv;
use std::path::PathBuf;

/// An empty folder for the binary.
fn env() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_formwork"))
}

/// A folder of the repository.
fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// The walking skeleton's configuration.
fn two_networks() -> TestEnv {
    let env = env();
    env.copy(&repository("tests/e2e/fixtures/two-networks"));
    env
}
