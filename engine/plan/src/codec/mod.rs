//! What a plan file holds: an index of records, and content.
//!
//! The *index* is JSON, our own structs ([`records`]), never derives on domain types. Everything
//! that is big or binary stands in the *content*: blobs one after the other, which the index names
//! by number (source files, the prior state, private data, values). Equal blobs are written once,
//! so that an object that does not change costs one value, not two.
//!
//! Values have a notation of their own ([`values`]) rather than the protocol's MessagePack: a plan
//! must give back exactly the value it was shown as, with the types of nulls and of empty
//! collections, the precision of numbers, marks and origins, all in one pass. Types are kept in one
//! table ([`types`]), each once, built from others by number; reading shares them again.
//!
//! Cost is linear in the plan, and so is the file.

mod blobs;
mod read;
mod records;
mod types;
mod values;
mod write;

pub(crate) use read::read;
pub(crate) use write::{Written, write};

/// Runs a recursive step with room on the stack, so that depth is bounded by memory only.
fn with_stack<R>(step: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(96 * 1024, 2 * 1024 * 1024, step)
}
