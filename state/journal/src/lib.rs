//! Operations as an append-only log: encoding, legal moves, replay.
#![forbid(unsafe_code)]
