//! Resolves a configuration's references over a value source; decodes bodies by schema.
#![forbid(unsafe_code)]
