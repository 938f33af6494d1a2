//! init, validate, plan, apply, destroy: values in, values and events out.
#![forbid(unsafe_code)]
