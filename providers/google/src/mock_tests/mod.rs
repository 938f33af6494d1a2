//! Every type against the mock cloud, in one process: created, read, changed, planned again, deleted.

mod cluster;
mod compute;
mod crash;
mod data;
mod drift;
pub(crate) mod lab;
mod services;
