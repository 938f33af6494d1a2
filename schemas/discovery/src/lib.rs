//! Google's discovery documents, pruned to a recorded list, and their reader.
#![forbid(unsafe_code)]
