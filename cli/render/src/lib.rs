//! Plans, state, diagnostics and events as text and JSON.
#![forbid(unsafe_code)]
