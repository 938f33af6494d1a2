//! Schemas of providers and resources, and the pure rules over them: proposed new state, conformance.
#![forbid(unsafe_code)]
