//! The index, as it lies in the file. Changing anything here is a new format version.
//!
//! A number typed [`Blob`] names a piece of content; the others are positions in the tables at the
//! index's end, as their names say. Words are those of the domain types' `word()`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of a blob in the content.
pub(super) type Blob = u32;
/// Position in [`Index::instances`].
pub(super) type Instance = u32;
/// Position in [`Index::resources`].
pub(super) type ResourceAt = u32;
/// Position in [`Index::provider_configs`].
pub(super) type Provider = u32;

fn no(value: &bool) -> bool {
    !*value
}

fn zero(value: &u64) -> bool {
    *value == 0
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Index {
    pub mode: String,
    pub targets: Vec<String>,
    pub sources: Vec<(String, Blob)>,
    /// Module path and folder.
    pub folders: Vec<(String, String)>,
    pub files: FilesRecord,
    /// `None`: ephemeral, to be given again.
    pub variables: BTreeMap<String, Option<Blob>>,
    pub providers: Vec<ProviderRecord>,
    pub lock_file: Option<Blob>,
    pub prior: PriorRecord,
    pub tool_version: String,
    pub language_version: String,
    pub timestamp: String,
    pub complete: bool,
    pub applyable: bool,
    pub errored: bool,
    pub changes: Vec<ChangeRecord>,
    pub not_read: Option<u64>,
    pub deferred: Vec<DeferredRecord>,
    pub deferred_outputs: Vec<String>,
    pub drift: Vec<ChangeRecord>,
    pub outputs: Vec<OutputRecord>,
    pub checks: Vec<CheckRecord>,
    pub operations: Vec<OperationRecord>,
    /// `(before, after)`.
    pub orders: Vec<(u32, u32)>,
    pub resource_keys: Vec<(ResourceAt, KeysRecord)>,
    /// Calling module instance, name of the call, keys.
    pub call_keys: Vec<(String, String, KeysRecord)>,
    pub alternatives: Vec<AlternativeRecord>,

    pub instances: Vec<String>,
    pub resources: Vec<String>,
    pub provider_configs: Vec<String>,
    pub types: Vec<TypeRecord>,
    pub origins: Vec<OriginRecord>,
    /// Length of each blob; they lie one after the other.
    pub blobs: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilesRecord {
    pub contents: BTreeMap<String, Blob>,
    pub exists: BTreeMap<String, bool>,
    /// Name, whether it is a directory, whether it is a regular file.
    pub listings: BTreeMap<String, Vec<(String, bool, bool)>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeferredRecord {
    pub address: String,
    pub module: String,
    #[serde(default, skip_serializing_if = "no")]
    pub key_unknown: bool,
    pub reason: String,
    pub waits_for: Vec<String>,
    pub change: ChangeRecord,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProviderRecord {
    pub config: Provider,
    pub version: String,
    pub schema_hash: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriorRecord {
    pub lineage: String,
    pub serial: u64,
    pub cloud: Option<String>,
    pub refreshed: Blob,
    pub hash: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeRecord {
    pub address: Instance,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Instance>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposed: Option<String>,
    pub provider: Provider,
    pub action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub before: Blob,
    pub after: Blob,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replace: Vec<PathRecord>,
    pub private: Blob,
    #[serde(default, skip_serializing_if = "zero")]
    pub schema_version: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<ResourceAt>,
    #[serde(default, skip_serializing_if = "no")]
    pub create_before_destroy: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import_identity: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_after: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<String>,
    #[serde(default, skip_serializing_if = "no")]
    pub legacy: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputRecord {
    pub name: String,
    pub before: Option<Blob>,
    pub after: Option<Blob>,
    pub sensitive: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckRecord {
    pub kind: String,
    pub address: String,
    pub status: String,
    /// Address, status, failures.
    pub objects: Vec<(String, String, Vec<String>)>,
}

/// What an operation does, in the words of its kinds.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WorkRecord {
    Join(String),
    Configure(Provider),
    Read(Instance),
    Make(Instance),
    Destroy(Instance),
    DestroyDeposed(Instance, String),
    Forget(Instance),
    Open(Instance),
    Close(Instance),
    Check(String),
    Output(String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OperationRecord {
    pub work: WorkRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeysRecord {
    Single,
    Count(u64),
    Keys(Vec<String>),
    Disabled,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AlternativeRecord {
    pub pinned: BTreeMap<String, Blob>,
    pub envelope: Vec<ChangeRecord>,
}

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OriginRecord {
    pub address: Instance,
    pub path: PathRecord,
}

pub(super) type PathRecord = Vec<StepRecord>;

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StepRecord {
    Attribute(String),
    Position(i64),
    Key(String),
    /// Any other index, such as an element of a set.
    Value(Blob),
}

/// A type, made of earlier ones by their position in [`Index::types`].
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TypeRecord {
    Dynamic,
    Bool,
    Number,
    String,
    List(u32),
    Set(u32),
    Map(u32),
    Tuple(Vec<u32>),
    /// Names with their types, then the positions that are optional.
    Object(Vec<(String, u32)>, Vec<u32>),
}
