//! JSON as programs read it.

pub(crate) mod write;
