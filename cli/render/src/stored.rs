//! Objects of a state, read for showing.

use formwork_provider_schema::{Schema, sensitive_paths};
use formwork_state::ResourceInstanceObject;
use formwork_values::{Marks, Path, Value, implied_from_json, value_from_json};

/// The object's attributes: by the schema where it fits, else by what they look like. `None` for the
/// flat form of tools of old, which only a provider can read.
pub(crate) fn decode(object: &ResourceInstanceObject, schema: Option<&Schema>) -> Option<Value> {
    decode_by_schema(object, schema).or_else(|| {
        let text = object.attributes_json()?.get().as_bytes();
        implied_from_json(text).ok()
    })
}

/// The object's attributes by the schema; `None` if they were written by another.
pub(crate) fn decode_by_schema(
    object: &ResourceInstanceObject,
    schema: Option<&Schema>,
) -> Option<Value> {
    let text = object.attributes_json()?.get().as_bytes();
    let schema = schema.filter(|s| s.version == object.schema_version)?;
    value_from_json(text, &schema.ty()).ok()
}

/// The value with everything marked that state or schema call sensitive.
pub(crate) fn mark(
    value: Value,
    object: &ResourceInstanceObject,
    schema: Option<&Schema>,
) -> Value {
    let marks: Vec<(Path, Marks)> = paths(&value, object, schema)
        .into_iter()
        .map(|p| (p, Marks::SENSITIVE))
        .collect();
    value.mark_with_paths(&marks)
}

/// What state or schema call sensitive.
pub(crate) fn paths(
    value: &Value,
    object: &ResourceInstanceObject,
    schema: Option<&Schema>,
) -> Vec<Path> {
    let mut paths: Vec<Path> = object.sensitive.paths().to_vec();
    if let Some(schema) = schema {
        paths.extend(sensitive_paths(&schema.block, value));
    }
    paths
}
