//! Configuration and refreshed state to a plan.
#![forbid(unsafe_code)]
