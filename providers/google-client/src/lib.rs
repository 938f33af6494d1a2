//! Speaks to Google: credentials, transport, retries, rate, long-running operations.
#![forbid(unsafe_code)]
