//! Planning: the configuration, the refreshed state and the providers make a list of changes and the
//! graph that carries them out.
//!
//! Three stages, each an entry point of its own:
//!
//! 1. [`configure_from_state`] and [`refresh`]: what the world looks like now.
//! 2. [`plan`]: the static graph is walked; each block is evaluated, expanded and planned, in
//!    dependency order, each instance once. What only the state still knows is planned for deletion.
//! 3. [`execution::build`]: the changes become the execution graph.
//!
//! [`validate`] walks the same graph with every object unknown of its type, so what it finds, planning
//! would find too.
//!
//! Invariants: nothing here changes the world or writes the state. A node that fails keeps those that
//! need it from being looked at, so that one mistake is one error. Providers answer for one instance
//! at a time, but refresh asks in batches.
#![forbid(unsafe_code)]

mod conditions;
mod data;
mod deferral;
mod ephemeral;
pub mod execution;
mod imports;
mod input;
mod instance;
mod judged;
mod lots;
mod managed;
mod modules;
mod orphans;
mod outputs;
mod prior;
mod protection;
mod providers;
mod provisioning;
mod refresh;
mod relations;
mod renewal;
mod scope;
mod triggers;
mod validate;
mod walk;

pub use imports::{Found, find, taken_over};
pub use input::{PlanInput, Planned};
pub use instance::{PlannedInstance, Subject, Wishes, plan_configured, plan_deletion};
pub use prior::{PriorObject, decode_managed, raw_state, stored_identity, stored_marks};
pub use providers::{
    Configured, Needed, configure_from_state, configure_provider, objects_of_state,
};
pub use refresh::{ObjectKey, RefreshOptions, Refreshed, refresh};
pub use scope::{Limits, Scope};
pub use validate::validate;
pub use walk::plan;
