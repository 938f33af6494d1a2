//! The module tree: blocks decoded, static checks, references.
#![forbid(unsafe_code)]
