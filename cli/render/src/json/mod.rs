//! JSON as programs read it.

mod checks;
mod configuration;
mod events;
mod plan;
mod relevant;
mod schemas;
mod state;
mod test_events;
mod tree;
mod values;
pub(crate) mod write;

pub use events::EventStream;
pub use plan::{PlanRemarks, plan_json, plan_json_with};
pub use schemas::{KnownFunctions, functions_json, schemas_json};
pub use state::{
    LeftOpen, output_json, outputs_json, state_json, state_json_with, state_object_json,
    workspaces_json,
};
pub use test_events::TestStream;

#[cfg(test)]
mod configuration_tests;
#[cfg(test)]
mod plan_tests;
