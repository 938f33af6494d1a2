//! Every address, reference and key of the field; each parses and prints round trip.
#![forbid(unsafe_code)]
