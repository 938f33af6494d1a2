//! Version 4 of the state format, which Terraform has written since 0.12 and OpenTofu writes too.
//!
//! Facts, seen in what Terraform 1.11.4 writes: two spaces a level; keys in a fixed order; resources
//! by the text of their module's address (so `module.a[10]` stands before `module.a[2]`), then data
//! before managed, type, name; instances by key, numbers before texts; of each instance the current
//! object, then the deposed ones. `<`, `>`, `&`, U+2028 and U+2029 are escaped in texts. An empty
//! file, which Terraform leaves when it locks a state that is not there yet, is no state.
//!
//! Reading and writing again gives the same JSON, whatever the order of resources in the file, with
//! every key that the format does not know. In what Terraform wrote it gives the same bytes.

mod json;
mod read;
mod write;

pub use read::{read, read_object};
pub use write::{write, write_object};

#[cfg(test)]
mod tests;
