//! Types and values of the language: null, unknown, marks, exact numbers; conversion and codecs.
#![forbid(unsafe_code)]
