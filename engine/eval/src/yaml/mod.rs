//! YAML as the language's functions read and write it: mostly 1.1, as configuration tools use it.
//!
//! Reading: `saphyr-parser` turns text into events (it follows 1.2, which differs in syntax only at
//! the edges); what a plain word means is decided here: `yes`, `on` and `y` are true, `017` is
//! seventeen, `0o17` is fifteen, `1_000` is text, a date becomes a full timestamp, `<<` merges.
//! Writing: block style, all text quoted, in the layout that everybody's golden files expect.
//!
//! What it does not do: several documents in one text, keys that are not words, tags of one's own.

mod read;
mod write;

pub(crate) use read::decode;
pub(crate) use write::encode;
