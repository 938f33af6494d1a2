//! A type as a whole: addresses, methods, how it is changed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use formwork_provider_schema::Schema;

use crate::node::{Node, find};

/// A resource type or data source.
#[derive(Clone, Debug)]
pub struct Resource {
    /// `google_compute_network`.
    pub name: Arc<str>,
    /// The schema, with `id` and `timeouts`.
    pub schema: Arc<Schema>,
    /// The fields, in the order of the schema's block.
    pub fields: Vec<Node>,
    /// The service by the first label of its host; empty when no API stands behind the type.
    pub service: Arc<str>,
    /// The discovery document, `compute.v1`, or empty.
    pub document: Arc<str>,
    /// The name of the API's object in it, or empty.
    pub api_schema: Arc<str>,
    /// The REST methods.
    pub methods: Methods,
    /// How it is changed in place.
    pub update: UpdateMapping,
    /// The id: attributes in braces.
    pub id: Arc<str>,
    /// Forms of import ids, the most telling first.
    pub import: Vec<Arc<str>>,
    /// Operations on the same key must not run at once.
    pub mutex: Option<Arc<str>>,
    /// The default of the attribute `deletion_policy`; `None` when the type has no such attribute.
    pub deletion_policy: Option<Arc<str>>,
    /// The object is a part of another one.
    pub nested: Option<Nested>,
    /// The path of the part in its whole; of it the nodes' paths are relative.
    pub prefix: Vec<Arc<str>>,
    /// Time limits per action.
    pub timeouts: BTreeMap<Arc<str>, Duration>,
    /// The policy functions wrap the policy in an object (IAM types only).
    pub wrapped_policy: bool,
    /// Only the beta provider of the original has this type.
    pub beta: bool,
    /// Identity attributes and whether an import must give them.
    pub identity: BTreeMap<Arc<str>, bool>,
    /// How sure the facts are: `auto` for those joined by program.
    pub grade: Arc<str>,
    /// Fields that no place in the API was found for, as dotted paths.
    pub unmapped: Vec<Arc<str>>,
    /// Kinds of hand-written code that the original has for this type.
    pub custom_code: Vec<Arc<str>>,
}

impl Resource {
    /// A top-level field.
    pub fn field(&self, name: &str) -> Option<&Node> {
        find(&self.fields, name)
    }

    /// The position of a top-level field in the object.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.schema.object_type().position(name)
    }
}

/// The acts that have methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Make.
    Create,
    /// Look.
    Read,
    /// Change.
    Update,
    /// Remove.
    Delete,
}

/// The methods of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Methods {
    /// Makes one.
    pub create: Option<MethodMapping>,
    /// Reads one.
    pub read: Option<MethodMapping>,
    /// Changes one.
    pub update: Option<MethodMapping>,
    /// Removes one.
    pub delete: Option<MethodMapping>,
    /// Lists those of one place.
    pub list: Option<MethodMapping>,
    /// Lists those of all places.
    pub aggregated: Option<MethodMapping>,
}

impl Methods {
    /// The method of an act.
    pub fn of(&self, act: Act) -> Option<&MethodMapping> {
        match act {
            Act::Create => self.create.as_ref(),
            Act::Read => self.read.as_ref(),
            Act::Update => self.update.as_ref(),
            Act::Delete => self.delete.as_ref(),
        }
    }
}

/// One REST method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodMapping {
    /// The discovery id, `compute.networks.insert`.
    pub id: Arc<str>,
    /// `GET`, `POST`...
    pub http: Arc<str>,
    /// The path below the host: attributes in braces.
    pub url: Arc<str>,
    /// Query parameters: name and template.
    pub query: Vec<(Arc<str>, Arc<str>)>,
    /// Whether it takes a `requestId`.
    pub request_id: bool,
    /// The family of operations it answers with (`compute`, `longrunning`, `container`, `sql`), or
    /// `None` when it is done when it answers.
    pub operation: Option<Arc<str>>,
}

/// How a type is changed in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateMapping {
    /// The general way.
    pub style: UpdateStyle,
    /// Whether the request names the changed fields in `updateMask`.
    pub mask: bool,
    /// Fields that have a method of their own.
    pub setters: Vec<Setter>,
}

/// The general way of changing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateStyle {
    /// Nothing can be changed.
    None,
    /// PATCH of what changed.
    Patch,
    /// PUT of the whole.
    Put,
    /// POST of the whole.
    Post,
    /// Only what has a setter can be changed.
    Setters,
    /// The IAM policy is read, changed and written.
    Iam,
    /// Code of the provider.
    Hook,
}

/// A method for a few fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setter {
    /// The top-level fields that it sets.
    pub fields: Vec<Arc<str>>,
    /// `POST`, `PATCH`.
    pub http: Arc<str>,
    /// The path.
    pub url: Arc<str>,
    /// The API's field with the fingerprint that must be sent along.
    pub fingerprint: Option<Arc<str>>,
    /// A name for a body of another shape than the fields' own: `paths`, `sku_count`.
    pub shape: Option<Arc<str>>,
}

/// An object that is a part of another one's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nested {
    /// The path of the list in the whole.
    pub keys: Vec<Arc<str>>,
}
