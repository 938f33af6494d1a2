//! State, its v4 codec and the traits of the stores that keep it.
#![forbid(unsafe_code)]
