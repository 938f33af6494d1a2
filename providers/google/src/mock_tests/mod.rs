//! Every type against the mock cloud, in one process: created, read, changed, planned again, deleted.

mod lab;
mod types;
