//! Where snapshots, locks and journals are kept: the local file system.
#![forbid(unsafe_code)]
