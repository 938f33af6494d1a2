//! Expressions, templates and functions over a scope, to values.
#![forbid(unsafe_code)]
