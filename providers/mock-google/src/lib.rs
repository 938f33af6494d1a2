//! Google Cloud on a loopback port: lifecycles, constraints, quotas, capacity, faults.
#![forbid(unsafe_code)]
