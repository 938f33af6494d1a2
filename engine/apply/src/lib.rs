//! Obeys an execution graph: parallel, journalled, resumable.
#![forbid(unsafe_code)]
