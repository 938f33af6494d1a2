//! Rules over a plan's facts, known or followed by origin.
#![forbid(unsafe_code)]
