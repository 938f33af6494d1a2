//! The plan as plain data, its verifier, its file, and the words of a run.
#![forbid(unsafe_code)]
