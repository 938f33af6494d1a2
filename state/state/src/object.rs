//! One remote object as remembered.

use crate::raw::RawJson;
use crate::resource::OtherKeys;
use crate::sensitive::SensitivePaths;
use formwork_addresses::AbsResource;
use std::fmt;
use std::sync::Arc;

/// Whether an object may be used as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ObjectStatus {
    /// Complete.
    #[default]
    Ready,
    /// It exists, but its creation did not end well: the next plan replaces it.
    Tainted,
}

/// The attributes of an object as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attributes {
    /// A JSON object by the schema of the stated version.
    Json(RawJson),
    /// The map of flattened paths to texts that tools before Terraform 0.12 wrote; only a provider's
    /// schema upgrade can read it.
    Flat(RawJson),
}

/// One remote object as the last run left it.
///
/// The attributes stay text until somebody with the provider's schema decodes them, after an upgrade
/// from `schema_version` where needed.
#[derive(Clone, PartialEq, Eq)]
pub struct ResourceInstanceObject {
    /// Ready or tainted.
    pub status: ObjectStatus,
    /// Version of the provider's schema by which the attributes were written.
    pub schema_version: u64,
    /// The attributes.
    pub attributes: Attributes,
    /// Which attributes are sensitive beyond what the schema says.
    pub sensitive: SensitivePaths,
    /// The provider's identity of the object, where it gives one.
    pub identity: Option<RawJson>,
    /// Version of the schema of `identity`; some tools write it without an identity.
    pub identity_schema_version: Option<u64>,
    /// Bytes that the provider asked to be kept and given back to it.
    pub private: Option<Arc<[u8]>>,
    /// What this object was made from, so that it can be destroyed in the right order when the
    /// configuration is gone.
    pub dependencies: Arc<[AbsResource]>,
    /// Whether its replacement is to be created first.
    pub create_before_destroy: bool,
    /// What else stood at the object in the file, in order.
    pub other: OtherKeys,
}

impl ResourceInstanceObject {
    /// A ready object with these attributes and nothing else.
    pub fn new(schema_version: u64, attributes: RawJson) -> Self {
        Self {
            status: ObjectStatus::Ready,
            schema_version,
            attributes: Attributes::Json(attributes),
            sensitive: SensitivePaths::none(),
            identity: None,
            identity_schema_version: None,
            private: None,
            dependencies: Arc::from([]),
            create_before_destroy: false,
            other: OtherKeys::default(),
        }
    }

    /// The attributes as JSON; `None` for the flat form.
    pub fn attributes_json(&self) -> Option<&RawJson> {
        match &self.attributes {
            Attributes::Json(json) => Some(json),
            Attributes::Flat(_) => None,
        }
    }

    /// Whether the next plan must replace it.
    pub fn is_tainted(&self) -> bool {
        self.status == ObjectStatus::Tainted
    }

    /// The same object, tainted.
    #[must_use]
    pub fn tainted(mut self) -> Self {
        self.status = ObjectStatus::Tainted;
        self
    }
}

impl fmt::Debug for ResourceInstanceObject {
    /// Shape only: attributes and private bytes may be sensitive.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceInstanceObject")
            .field("status", &self.status)
            .field("schema_version", &self.schema_version)
            .field("attributes", &self.attributes)
            .field("identity", &self.identity)
            .field("private_bytes", &self.private.as_ref().map(|p| p.len()))
            .field("dependencies", &self.dependencies.len())
            .field("create_before_destroy", &self.create_before_destroy)
            .finish_non_exhaustive()
    }
}
