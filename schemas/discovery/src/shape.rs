//! What a discovery document says, as plain data.
//!
//! Field names follow Google's; see <https://developers.google.com/discovery/v1/type-format>. A field
//! of format `int64`, `uint64` or `byte` is a string on the wire: [`Schema::kind`] says `String` and
//! [`Schema::format`] says what the text holds.

use std::collections::BTreeMap;

/// One service in one version.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// `compute`
    pub service: String,
    /// `v1`
    pub version: String,
    /// Google's revision of the document, a date: `20261106`.
    pub revision: String,
    /// `https://compute.googleapis.com/`
    pub root_url: String,
    /// What stands between root and path: `compute/v1/`; empty for the newer services, whose paths
    /// begin with the version.
    pub service_path: String,
    /// Query parameters that every method takes (`alt`, `fields`, `key`, `$.xgafv`...).
    pub parameters: Vec<Parameter>,
    /// By id: `compute.networks.insert`.
    pub methods: BTreeMap<String, Method>,
    /// By name: `Network`.
    pub schemas: BTreeMap<String, Schema>,
}

impl Document {
    /// The schema that a field really has: itself, or the one it refers to.
    #[must_use]
    pub fn resolve<'a>(&'a self, schema: &'a Schema) -> &'a Schema {
        match &schema.kind {
            FieldKind::Reference(name) => self.schemas.get(name).unwrap_or(schema),
            _ => schema,
        }
    }
}

/// The verb of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Http {
    /// Reads.
    Get,
    /// Creates, and every custom method.
    Post,
    /// Replaces.
    Put,
    /// Changes what the body (or the update mask) names.
    Patch,
    /// Deletes.
    Delete,
}

impl Http {
    /// `GET`
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Http::Get => "GET",
            Http::Post => "POST",
            Http::Put => "PUT",
            Http::Patch => "PATCH",
            Http::Delete => "DELETE",
        }
    }
}

/// One method of a service.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// `compute.networks.insert`
    pub id: String,
    /// Its verb.
    pub http: Http,
    /// The path under the service path, with `{project}` for one segment and `{+parent}` for many.
    pub path: String,
    /// The path with every segment spelled out, one variable each: `v1/projects/{projectsId}/...`.
    /// The same as `path` where Google gives none.
    pub flat_path: String,
    /// Path parameters first, in order; then the query parameters by name.
    pub parameters: Vec<Parameter>,
    /// The schema of the request body.
    pub request: Option<String>,
    /// The schema of the answer.
    pub response: Option<String>,
    /// Where content is uploaded, if the method takes any.
    pub media_upload: Option<MediaUpload>,
    /// Whether `alt=media` answers the content.
    pub media_download: bool,
}

impl Method {
    /// The parameter of that name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters
            .iter()
            .find(|parameter| parameter.name == name)
    }

    /// The part of the id before its last dot: `compute.networks`.
    #[must_use]
    pub fn collection(&self) -> &str {
        self.id
            .rsplit_once('.')
            .map_or(self.id.as_str(), |(collection, _)| collection)
    }

    /// The last part of the id: `insert`.
    #[must_use]
    pub fn verb(&self) -> &str {
        self.id
            .rsplit_once('.')
            .map_or(self.id.as_str(), |(_, verb)| verb)
    }
}

/// Absolute paths under the root URL that take content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaUpload {
    /// `/upload/storage/v1/b/{bucket}/o`
    pub simple: Option<String>,
    /// `/resumable/upload/storage/v1/b/{bucket}/o`
    pub resumable: Option<String>,
}

/// Where a parameter stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// In the path.
    Path,
    /// After the question mark.
    Query,
}

/// A parameter of a method.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// `project`
    pub name: String,
    /// Path or query.
    pub location: Location,
    /// Whether a request without it is refused.
    pub required: bool,
    /// Whether it may stand more than once.
    pub repeated: bool,
    /// `string`, `integer`, `number` or `boolean`; the text is always a string.
    pub kind: FieldKind,
    /// `int32`, `uint32`, `int64`, `google-fieldmask`...
    pub format: Option<String>,
    /// The regular expression that its text must match (whole).
    pub pattern: Option<String>,
    /// The values allowed, if they are listed.
    pub enum_values: Vec<String>,
    /// What holds without it.
    pub default: Option<String>,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// Another schema of the document, by name.
    Reference(String),
    /// Named fields. May be empty: then nothing is known of its fields (`google.protobuf.Struct` is a
    /// [`FieldKind::Map`] of [`FieldKind::Any`]).
    Object(BTreeMap<String, Schema>),
    /// A map from text to values of one type.
    Map(Box<Schema>),
    /// A list of values of one type.
    Array(Box<Schema>),
    /// Text; with a format maybe a number, bytes, a time or a duration.
    String,
    /// A number without a fraction (32 bits wide).
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// Any JSON value.
    Any,
}

/// A schema, or a field of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// Its type.
    pub kind: FieldKind,
    /// `int32`, `int64`, `uint64`, `float`, `double`, `byte`, `google-duration`, `google-datetime`,
    /// `google-fieldmask`, `date`, `date-time`...
    pub format: Option<String>,
    /// The regular expression that its text must match (whole).
    pub pattern: Option<String>,
    /// The values allowed, if they are listed. Google may add one on any day.
    pub enum_values: Vec<String>,
    /// Those of them that Google marks as deprecated.
    pub enum_deprecated: Vec<String>,
    /// A constant, mostly of `kind` fields.
    pub default: Option<String>,
    /// Whether only the server writes it (the flag, or the words "output only" in Google's prose).
    pub read_only: bool,
    /// The ids of the methods that refuse a request without it. Only compute and storage tell.
    pub required_for: Vec<String>,
    /// Whether Google's prose says "Required." (the newer services).
    pub required_in_text: bool,
    /// Whether Google's prose says "Immutable." (the newer services; compute does not tell).
    pub immutable: bool,
    /// Whether Google marks it as deprecated.
    pub deprecated: bool,
}

impl Schema {
    /// The field of that name, if this is an object. References are not followed: see
    /// [`Document::resolve`].
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&Schema> {
        match &self.kind {
            FieldKind::Object(properties) => properties.get(name),
            _ => None,
        }
    }
}
