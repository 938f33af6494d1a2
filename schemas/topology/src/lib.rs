//! Machine families, fabrics, capacity: what AI hardware needs, as data with total functions.
#![forbid(unsafe_code)]
