//! The console's answers: those recorded, and live ones where the binary is there.
// a broken fixture should stop the test where it is broken
#![allow(clippy::expect_used)]

mod differential;
mod found;
mod later;
mod live;
mod odd;
mod patterns;
mod pools;
mod propagation;
mod recorded;
mod specification;
mod unknown;
