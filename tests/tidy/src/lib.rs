//! Holds crates, arrows and documented names to the code.
#![forbid(unsafe_code)]
