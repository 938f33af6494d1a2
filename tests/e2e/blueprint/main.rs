//! The blueprint `roce-cluster`, used as people use it: the binary applies each example to the mock
//! cloud, sees the cloud change underneath, mends that, and takes everything away again.

// A test may end by panicking, its helpers too.
#![allow(clippy::expect_used, clippy::panic)]

mod drift;
mod examples;
mod place;
