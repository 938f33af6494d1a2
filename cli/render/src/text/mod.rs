//! Text for people: values and their differences, plans, states, progress and closing sentences.

mod align;
mod body;
mod difference;
pub mod lines;
mod page;
mod plan;
pub(crate) mod progress;
mod state;

pub use plan::{plan_text, short_summary};
pub use progress::Progress;
pub use state::{
    output_values, outputs_text, state_list, state_list_where, state_show, state_text,
};

#[cfg(test)]
mod plan_tests;
#[cfg(test)]
mod state_tests;
