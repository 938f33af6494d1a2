//! Text for people: values and their differences, plans, states, progress and closing sentences.

mod align;
mod board;
mod body;
pub(crate) mod causes;
mod difference;
pub mod lines;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod progress;
mod state;

pub use board::{Board, UsualTimes};
pub use plan::{plan_text, plan_text_explained, short_summary};
pub use progress::Progress;
pub use state::{
    output_values, outputs_text, state_list, state_list_where, state_show, state_text,
};

#[cfg(test)]
mod plan_tests;
#[cfg(test)]
mod state_tests;
