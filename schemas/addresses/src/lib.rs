//! Every address, reference and key of the field.
//!
//! Each type here is a newtype with one meaning, and each parses and prints round trip in the
//! notation people know: `module.net["a"].google_compute_network.rdma[0]`,
//! `registry.terraform.io/hashicorp/google`, `module.x.provider["…"].alias`. Ordering is the one used
//! in output: by module, then mode, type, name and key, with numbers before text.
//!
//! This crate knows no values: an [`InstanceKey`] is text or an integer, whatever expression gave it.
#![forbid(unsafe_code)]

mod instance;
mod module;
mod parse;
mod provider;
mod reference;
mod target;

pub use instance::{
    AbsResource, AbsResourceInstance, DeposedKey, InstanceKey, Resource, ResourceInstance,
    ResourceMode,
};
pub use module::{ModuleInstance, ModuleInstanceStep, ModulePath};
pub use parse::ParseError;
pub use provider::{
    AbsProviderConfig, BUILTIN_HOST, DEFAULT_HOST, LocalProviderConfig, OPENTOFU_HOST, ProviderAddr,
};
pub use reference::{Reference, ReferenceStep, Subject};
pub use target::Target;

/// Whether `text` is an identifier of the language: a letter or `_` first (by Unicode's ID_Start),
/// then letters, digits, `_` and `-`.
pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c == '_' || unicode_ident::is_xid_start(c))
        && chars.all(|c| c == '-' || unicode_ident::is_xid_continue(c))
}
