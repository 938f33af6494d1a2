//! planner, in the making
#![forbid(unsafe_code)]
pub mod execution;
