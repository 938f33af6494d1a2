//! Schemas of providers and resources, and the pure rules over them.
//!
//! A [`Schema`] says what a block of a resource, data source or provider may hold. Its [`Block`]
//! carries the implied object type, made once and shared by every value, so an instance costs only
//! its values. [`SchemaSource`] is how a provider offers its schemas: one by one, so that a provider
//! of a thousand types builds only those in use; [`ProviderSchema`] is the plain collection.
//!
//! Invariants: fields of a block stand in the byte order of their names, which is that of the
//! implied object type, so a field and its value have the same position; a name is an attribute or
//! a nested block, never both.
//!
//! What this crate does not know: configuration syntax, source positions, how a provider is run.
#![forbid(unsafe_code)]

mod attribute;
mod block;
mod conformance;
mod function;
mod lifecycle;
mod proposed;
mod shape;
mod source;
#[cfg(test)]
mod tests;

pub use attribute::{Attribute, AttributeKind, AttributeNesting, NestedAttributes};
pub use block::{Block, BlockNesting, Field, NestedBlock, Schema};
pub use conformance::{
    ConformanceError, assert_object_compatible, assert_plan_valid, normalise_legacy,
};
pub use function::{FunctionParameter, FunctionSignature};
pub use lifecycle::{
    Ignored, adopted, adopted_loosely, marked, marks_without_ignored, unknown_computed,
    without_ignored,
};
pub use proposed::proposed_new_state;
pub use shape::{schema_marks, sensitive_paths, without_write_only, write_only_paths};
pub use source::{Capabilities, IdentityAttribute, IdentitySchema, ProviderSchema, SchemaSource};
