//! Installing from real git repositories and from servers on loopback.

// A test may end by panicking, its hands too.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr
)]

mod archives;
mod git;
mod http;
mod runs;
mod world;
