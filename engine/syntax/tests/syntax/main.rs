//! The syntax crate as its users see it: recorded answers of Terraform, another parser as a second
//! opinion, and damaged text.
// A harness says which seeds it ran, and a broken test may panic.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr
)]

mod damaged;
mod deep;
mod generated;
mod live_layout;
mod recorded;
mod source;
