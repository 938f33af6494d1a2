//! The mock cloud as a client sees it: over HTTP, one world per test.
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod durability;
mod machine;
mod network;
mod official;
mod recordings;
mod services;
mod world;
