//! What `google_*` types look like and how they map to REST: distilled data and its reader.
//!
//! The data (`data/*.jsonl.gz`) holds one line per type: the Terraform schema facts, which no
//! discovery document knows (what forces a replacement, defaults, what the server may fill in), joined
//! with where each field stands in the API's JSON. `generate.py` makes it out of collected facts and
//! the discovery documents of `formwork-discovery`; corrections by hand stand in `overlay.json`.
//!
//! The reader unpacks the file once and decodes a type when it is first asked for. A [`Resource`]
//! carries the tree of [`Node`]s in the byte order of their names, so that a node, the field of the
//! schema's block and the value in an object have the same position.
//!
//! `known-types.txt` names all types of the provider, so that one that is merely not served here is told
//! from one that does not exist.
//!
//! Facts are of hashicorp/google 7.45 (see `data/NOTICE`). This crate knows no HTTP and does nothing;
//! which of the types the provider really runs is the provider's to say.
#![forbid(unsafe_code)]

mod decode;
mod node;
mod resource;
mod schema;
mod store;

pub use node::{Element, Node, NodeKind, Suppress, Wire};
pub use resource::{
    Act, MethodMapping, Methods, Nested, Resource, Setter, UpdateMapping, UpdateStyle,
};
pub use store::{
    RELEASE, data_source, data_source_names, resource, resource_names, unserved_data_source_names,
    unserved_resource_names, versions,
};
