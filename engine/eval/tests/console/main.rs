//! The console's answers: those recorded, and live ones where the binary is there.
// a broken fixture should stop the test where it is broken
#![allow(clippy::expect_used)]

mod later;
mod live;
mod recorded;
mod unknown;
