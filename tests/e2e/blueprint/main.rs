//! The blueprint `roce-cluster`, used as people use it: the binary applies each example to the mock
//! cloud, sees the cloud change underneath, mends that, and takes everything away again. Every machine
//! type goes through its plan, and the plans of the examples are those kept beside them.

// A test may end by panicking, its helpers too.
#![allow(clippy::expect_used, clippy::panic)]

mod capacity;
mod drift;
mod examples;
mod machines;
mod pinned;
mod place;
mod world;
