//! Source text to a lossless tree with exact spans; the formatter. Never fails.
#![forbid(unsafe_code)]
