//! The native Google provider: an interpreter of google-schema plus hooks for the odd ones.
#![forbid(unsafe_code)]
