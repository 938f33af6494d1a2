//! Objects of a state, read for showing.

use formwork_provider_schema::{Schema, sensitive_paths};
use formwork_state::ResourceInstanceObject;
use formwork_values::{Marks, Path, Value, implied_from_json, value_from_json};
use std::collections::BTreeSet;

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

/// The object with each text marked that repeats a sensitive one elsewhere in it, as `terraform_data`
/// repeats its input as its output. The state calls only the one sensitive, as Terraform's does; shown
/// is neither. Short texts are left alone: they are in too many places by chance.
pub(crate) fn without_echoes(value: Value) -> Value {
    if !value.contains_marks() {
        return value;
    }
    let secrets: BTreeSet<_> = value.sensitive_texts().into_iter().collect();
    if secrets.is_empty() {
        return value;
    }
    value.transform(&mut |_, part| match part.as_shared_str() {
        Some(text) if secrets.contains(text) => part.sensitive(),
        _ => part,
    })
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
