//! The formwork provider: machine facts, fabric, capacity.
#![forbid(unsafe_code)]
