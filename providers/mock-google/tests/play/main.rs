//! The mock cloud as a client sees it: over HTTP, one world per test.

mod durability;
mod machine;
mod network;
mod world;
