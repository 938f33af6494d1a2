//! The native Google provider: an interpreter of google-schema plus hooks for the odd ones.
//!
//! One engine runs every type: it *expands* the planned object into the API's JSON, sends it, waits
//! for the operation, reads the object back and *flattens* it, all by the data of
//! `formwork-google-schema`; code exists only where data cannot say it (`hooks/`). It answers for
//! hashicorp/google and hashicorp/google-beta alike, with the names, ids and schema versions of 7.x.
//!
//! Invariants:
//!
//! - A request that changes anything is noted before it is sent (see `engine/exchange.rs`), and is
//!   never sent again unless it is known not to have happened.
//! - *Gone* is only said after a 404 for that one object.
//! - A state never drifts by spelling: what means the same as before stays as it was.
//! - Types with data that this provider does not run yet are refused by name when they are planned.
//!
//! It does not read the process's environment, clock or randomness; all come by [`Environment`], but
//! for the kept credentials library, which looks for application default credentials itself.
#![forbid(unsafe_code)]

mod cloud;
mod data;
mod draft;
mod engine;
mod failure;
mod hooks;
mod import;
mod json;
mod labels;
mod names;
mod place;
mod plan;
mod provider;
mod same;
mod settings;
mod source;
mod validate;
mod versions;

use std::sync::Arc;

pub use provider::GoogleProvider;
pub use versions::{best_version, latest_version};

/// Which Google a provider works with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum World {
    /// Google itself, or what the provider block's endpoints name.
    Google,
    /// A mock cloud: every service below one address, no credentials.
    Mock {
        /// Its address, `http://127.0.0.1:PORT`.
        base: String,
        /// The project that is meant where nobody names one.
        project: Option<Arc<str>>,
    },
}

/// Names of the managed resource types that this provider really runs, in byte order.
pub fn supported_resources() -> &'static [&'static str] {
    &hooks::SUPPORTED
}

/// Names of the data sources that this provider really reads, in byte order.
pub fn supported_data_sources() -> &'static [&'static str] {
    &data::SUPPORTED
}

#[cfg(test)]
mod mock_tests;
