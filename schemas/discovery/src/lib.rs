//! Google's discovery documents, pruned to a recorded list, and their reader: Google's words only.
//!
//! A discovery document says how an API looks on the wire: routes, verbs, parameters, the types of
//! every field, their enums and which of them only the server writes. It knows nothing of plans: which
//! field forces a replacement or what the server fills in stands elsewhere.
//!
//! `data/methods.txt` is the recorded list of methods, `generate.py` prunes the documents to it and
//! `data/revisions.tsv` names the revision of each. The files are embedded compressed; a document is
//! unpacked once, when it is first asked for, and lives as long as the process.
//!
//! Two readers share this crate without sharing anything else: the native provider, which builds
//! requests from it, and the mock cloud, which routes and checks them. What is not here is unknown to
//! both.
//!
//! ```
//! let compute = formwork_discovery::document("compute", "v1").unwrap();
//! let insert = &compute.methods["compute.networks.insert"];
//! assert_eq!(insert.path, "projects/{project}/global/networks");
//! let network = &compute.schemas["Network"];
//! assert!(network.property("mtu").is_some());
//! ```
#![forbid(unsafe_code)]

mod document;
mod embedded;
mod reading;
mod shape;

pub use document::{DocumentInfo, document, documents, method};
pub use shape::{Document, FieldKind, Http, Location, MediaUpload, Method, Parameter, Schema};
