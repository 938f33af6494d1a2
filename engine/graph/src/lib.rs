//! References to the static graph; cycles explained; the parallel walk.
#![forbid(unsafe_code)]
