//! Plans, state, diagnostics and events as text and JSON.
//!
//! Everything here is a pure function from data to text: no terminal, no environment, no clock. How
//! text looks is decided by the [`Style`] handed in. Text is for people, and its closing sentences
//! are also matched by pipelines, so those stand word for word as the field knows them
//! . JSON is for programs: the formats, their field order and their versions
//! are those that consumers of Terraform's output read (plan 1.2, state 1.0, `validate` 1.0, the event
//! stream's `ui` 1.2), and whatever is ours alone stands under one key `formwork`.
//!
//! Invariants:
//!
//! - Text never shows what is sensitive; JSON of plans and states holds it, marked, because they are
//!   stores, and the event stream holds it as null.
//! - No number passes through a float.
//! - The same data give the same bytes.
//!
//! This crate does not decide anything: what is a change, what is drift and what is counted has been
//! decided by whoever made the plan.
#![forbid(unsafe_code)]

mod diagnostics;
mod graphs;
mod html;
mod json;
mod schemas;
mod stored;
mod style;
mod test_report;
mod text;
mod trees;
mod version;

pub use diagnostics::{
    Signatures, compact_warnings, diagnostic_text, diagnostics_text, validate_json,
};
pub use graphs::{Operations, OperationsOf, ResourcePicture, execution_dot, execution_mermaid};
pub use html::plan_html;
pub use json::{
    EventStream, KnownFunctions, LeftOpen, PlanRemarks, TestStream, functions_json, output_json,
    outputs_json, plan_json, plan_json_with, schemas_json, state_json, state_json_with,
    state_object_json, workspaces_json,
};
pub use schemas::Schemas;
pub use style::Style;
pub use test_report::{TestText, junit};
pub use text::{
    Board, Progress, UsualTimes, lines, output_values, outputs_text, plan_text,
    plan_text_explained, short_summary, state_list, state_list_where, state_show, state_text,
};
pub use trees::{Branch, tree_text};
pub use version::Versions;
