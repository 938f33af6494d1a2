//! Tests: the runs of test files, each against a state of its own that lasts for the file.
//!
//! What is promised:
//!
//! - A file's states live in memory and are its own: one for the root module and one for each other
//!   module or `state_key`. Whatever the runs did to them, all of it is destroyed when the file ends,
//!   the state that was worked on last first; that is not given up when a run fails or when the whole is
//!   interrupted. What cannot be destroyed is reported with its addresses and its state.
//! - A run that ends in error ends the file: the rest is skipped. An assertion that does not hold does
//!   not.
//! - A failing check block is an error in a test, unless it is expected to fail.
//!
//! [`Trial`] is how a run reaches the operations below it: they load what it tests instead of the
//! working directory's configuration and put in what stands in for the world.

mod expected;
mod memory;
mod mocked;
mod run;
mod suite;
mod trial;
mod values;
mod worlds;

pub use memory::{KeptState, TestStates};
pub use suite::{
    TestEvent, TestOptions, TestSink, TestedModule, check_tests, test, tested_modules,
};
pub use trial::Trial;
pub use worlds::{TestWorld, TestWorlds};

pub(crate) use trial::stand_in;
