//! The Provider trait, in the words of plugin protocol 6.
#![forbid(unsafe_code)]
