//! What google_* types look like and how they map to REST: distilled data and its reader.
#![forbid(unsafe_code)]
