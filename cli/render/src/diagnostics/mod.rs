//! Diagnostics as text for people and as JSON for programs.
//!
//! Both begin with the same [`Snippet`](snippet::Snippet): the lines in question, the block they
//! stand in, and what of them is meant.

mod json;
mod snippet;
mod text;

pub(crate) use json::write_diagnostic;
pub use json::{Signatures, validate_json};
pub(crate) use snippet::Snippets;
pub use text::{compact_warnings, diagnostic_text, diagnostics_text};

#[cfg(test)]
mod tests;
