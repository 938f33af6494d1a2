//! Operations: validate, plan, apply, and what they stand on. Values in, values and events out.
//!
//! A [`Session`] is everything a run is handed: its surroundings, where files, providers and state
//! come from, where events go. A command is a thin wrapper over one function here, so a command line,
//! a controller and a test drive the same code.
//!
//! What the functions promise:
//!
//! - State is locked from before it is read until after it is written; the journal is folded before
//!   anything else is done, and what a former run left open is settled first.
//! - A state of another cloud is refused, a plan for another state is refused.
//! - A plan holds everything that apply needs; nothing is read from the configuration's folder again.
#![forbid(unsafe_code)]

mod apply;
mod console;
mod files;
mod functions;
mod generate;
mod import;
mod in_state;
mod light;
mod load;
mod migrate;
mod plan;
mod planned;
mod rounds;
mod session;
mod settle;
mod state;
mod state_edit;
mod takeover;
mod test;
mod told;
mod validate;

pub use apply::{ApplyOutcome, apply};
pub use console::{Console, ConsoleView, console};
pub use formwork_planner::Limits;
pub use import::import_object;
pub use load::{Loaded, ReadConfiguration, Reading, load, read_configuration};
pub use migrate::copy_state;
pub use plan::{PlanOptions, PlanOutcome, plan};
pub use planned::{PlanPlace, planned_configuration};
pub use rounds::Rounds;
pub use session::{Session, Settings};
pub use settle::{Word, settle_by_word};
pub use state::{Held, StateView, begin_state, read_state, with_lock};
pub use state_edit::{Edited, StateAddress, StateEdit, edit_state, preview_state_edit, push_state};
pub use test::{
    KeptState, TestEvent, TestOptions, TestSink, TestStates, TestWorld, TestWorlds, TestedModule,
    Trial, check_tests, test, tested_modules,
};
pub use validate::{Validated, validate};
