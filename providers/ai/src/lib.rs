//! The `formwork` provider: what AI machines need, as functions a configuration can call.
//!
//! `provider::formwork::machine(type)` and `provider::formwork::fabric(type, zone)` give the facts of
//! `schemas/topology` as one static object type each, so a blueprint derives networks, interfaces,
//! MTU, disks and capacity instead of writing them down. The attributes are described in
//! `docs/formats/provider-formwork.md`.
//!
//! Invariants: the type of an answer never depends on the arguments; a fact that nobody confirmed is
//! null in it; both functions are pure over the facts the provider was made with, so they may be
//! called while validating, in the console and by an editor, and no configuration is needed.
//!
//! It has no resources and no data sources, and it never talks to Google: whether a zone really has
//! a machine type or a profile is the `google` provider's to say.
#![forbid(unsafe_code)]

mod facts;
mod provider;

pub use provider::FormworkProvider;

/// Source address of the provider.
pub const SOURCE: &str = "formwork/formwork";
