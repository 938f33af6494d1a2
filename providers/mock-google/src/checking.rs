//! Strict types: a request body is what its schema says, or it is refused.
//!
//! Numbers of 64 bits are taken as text or number and kept as text; fields that only the server
//! writes are dropped, as Google does; an explicit `null` is kept for the handlers to read as
//! "clear this" (and an unknown field that is null is forgiven, since Google forgives it). Names come
//! out spelled as in the schema.

use formwork_discovery::{Document, FieldKind, Schema};
use serde_json::{Map, Number, Value};

use crate::error::ApiError;

/// Deeper than any schema of Google's; protects the walk against a body made to nest.
const DEPTH: usize = 64;

/// A checked JSON object.
pub(crate) type Body = Map<String, Value>;

/// Checks a body against a schema of the document.
pub(crate) fn check(
    document: &Document,
    schema: &str,
    method: &str,
    body: &Value,
) -> Result<Body, ApiError> {
    let Some(schema) = document.schemas.get(schema) else {
        return Err(ApiError::not_played(method));
    };
    let walk = Walk { document, method };
    match walk.value(schema, body, &mut Vec::new())? {
        Value::Object(body) => Ok(body),
        other => Err(ApiError::bad(format!(
            "Invalid JSON payload received. The body must be an object, not {}.",
            kind_of(&other)
        ))),
    }
}

struct Walk<'a> {
    document: &'a Document,
    method: &'a str,
}

impl Walk<'_> {
    fn value(
        &self,
        schema: &Schema,
        value: &Value,
        path: &mut Vec<String>,
    ) -> Result<Value, ApiError> {
        if value.is_null() {
            return Ok(Value::Null);
        }
        if path.len() > DEPTH {
            return Err(ApiError::bad(
                "Invalid JSON payload received. It nests too deeply.",
            ));
        }
        let target = self.document.resolve(schema);
        match (&target.kind, value) {
            (FieldKind::Object(properties), Value::Object(fields)) => {
                self.object(properties, fields, path)
            }
            (FieldKind::Map(items), Value::Object(fields)) => {
                let mut out = Map::new();
                for (name, field) in fields {
                    path.push(name.clone());
                    out.insert(name.clone(), self.value(items, field, path)?);
                    path.pop();
                }
                Ok(out.into())
            }
            (FieldKind::Array(items), Value::Array(values)) => {
                let mut out = Vec::with_capacity(values.len());
                for (index, item) in values.iter().enumerate() {
                    path.push(format!("[{index}]"));
                    if item.is_null() {
                        return Err(self.mistyped(items, item, path));
                    }
                    out.push(self.value(items, item, path)?);
                    path.pop();
                }
                Ok(out.into())
            }
            (FieldKind::Any, value) => Ok(value.clone()),
            (FieldKind::String, Value::String(text)) => self.text(target, text, path),
            (FieldKind::String, Value::Number(number)) if is_wide(target) => {
                self.text(target, &number.to_string(), path)
            }
            (FieldKind::Integer, Value::Number(number)) => {
                integer(target, number).ok_or_else(|| self.mistyped(target, value, path))
            }
            (FieldKind::Integer, Value::String(text)) => text
                .parse::<i64>()
                .ok()
                .and_then(|number| integer(target, &number.into()))
                .ok_or_else(|| self.mistyped(target, value, path)),
            (FieldKind::Number, Value::Number(_)) | (FieldKind::Boolean, Value::Bool(_)) => {
                Ok(value.clone())
            }
            (FieldKind::Number, Value::String(text)) => text
                .parse::<f64>()
                .ok()
                .and_then(Number::from_f64)
                .map(Value::Number)
                .ok_or_else(|| self.mistyped(target, value, path)),
            _ => Err(self.mistyped(target, value, path)),
        }
    }

    fn object(
        &self,
        properties: &std::collections::BTreeMap<String, Schema>,
        fields: &Map<String, Value>,
        path: &mut Vec<String>,
    ) -> Result<Value, ApiError> {
        let mut out = Map::new();
        for (name, field) in fields {
            let Some(schema) = properties.get(name) else {
                if field.is_null() {
                    continue;
                }
                return Err(ApiError::bad(format!(
                    "Invalid JSON payload received. Unknown name \"{name}\"{}: Cannot find field.",
                    if path.is_empty() {
                        String::new()
                    } else {
                        format!(" at '{}'", dotted(path))
                    }
                )));
            };
            path.push(name.clone());
            let checked = self.value(schema, field, path)?;
            path.pop();
            if !schema.read_only {
                out.insert(name.clone(), checked);
            }
        }
        // the annotation also names patch methods, which in truth take any part of an object
        let whole = !self.method.ends_with(".patch") && !self.method.ends_with(".update");
        for (name, schema) in properties {
            if whole
                && schema
                    .required_for
                    .iter()
                    .any(|method| method == self.method)
                && out.get(name).is_none_or(Value::is_null)
            {
                path.push(name.clone());
                return Err(ApiError::required(&format!("resource.{}", dotted(path))));
            }
        }
        Ok(out.into())
    }

    fn text(&self, schema: &Schema, text: &str, path: &[String]) -> Result<Value, ApiError> {
        if !schema.enum_values.is_empty() && !schema.enum_values.iter().any(|value| value == text) {
            return Err(ApiError::invalid(
                &format!("resource.{}", dotted(path)),
                text,
                format!("It must be one of: {}.", schema.enum_values.join(", ")),
            ));
        }
        let fits = match schema.format.as_deref() {
            Some("int64") => text.parse::<i64>().is_ok(),
            Some("uint64") => text.parse::<u64>().is_ok(),
            Some("google-duration") => text
                .strip_suffix('s')
                .is_some_and(|seconds| seconds.parse::<f64>().is_ok()),
            Some("byte") => text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+/-_=".contains(c)),
            _ => true,
        };
        if !fits {
            return Err(self.mistyped(schema, &Value::String(text.to_owned()), path));
        }
        Ok(text.into())
    }

    fn mistyped(&self, schema: &Schema, value: &Value, path: &[String]) -> ApiError {
        let wanted = match (&schema.kind, schema.format.as_deref()) {
            (FieldKind::String | FieldKind::Integer | FieldKind::Number, Some(format)) => {
                format!("TYPE_{}", format.to_uppercase())
            }
            (FieldKind::String, None) => "TYPE_STRING".to_owned(),
            (FieldKind::Integer, None) => "TYPE_INT32".to_owned(),
            (FieldKind::Number, None) => "TYPE_DOUBLE".to_owned(),
            (FieldKind::Boolean, _) => "TYPE_BOOL".to_owned(),
            (FieldKind::Array(_), _) => "a list".to_owned(),
            _ => "an object".to_owned(),
        };
        // the value itself stays out of the answer: it may be a secret
        ApiError::bad(format!(
            "Invalid value at '{}' ({wanted}): it is {}.",
            dotted(path),
            kind_of(value)
        ))
    }
}

fn integer(schema: &Schema, number: &Number) -> Option<Value> {
    let value = number.as_i64().or_else(|| {
        // 3.0 is a whole number, and JSON writers make it
        #[allow(clippy::cast_possible_truncation)]
        number
            .as_f64()
            .filter(|f| f.fract() == 0.0 && f.abs() < 1e15)
            .map(|f| f as i64)
    })?;
    let fits = match schema.format.as_deref() {
        Some("uint32") => u32::try_from(value).is_ok(),
        _ => i32::try_from(value).is_ok() || u32::try_from(value).is_ok(),
    };
    fits.then(|| value.into())
}

fn is_wide(schema: &Schema) -> bool {
    matches!(schema.format.as_deref(), Some("int64" | "uint64"))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn dotted(path: &[String]) -> String {
    let mut out = String::new();
    for part in path {
        if !out.is_empty() && !part.starts_with('[') {
            out.push('.');
        }
        out.push_str(part);
    }
    out
}

/// Drops nulls, empty lists and empty objects, at any depth: what the server keeps of a new object.
pub(crate) fn without_nothing(body: &mut Body) {
    fn nothing(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        }
    }
    // bodies were depth-checked on the way in
    fn clean(value: &mut Value) {
        match value {
            Value::Object(fields) => without_nothing(fields),
            Value::Array(items) => items.iter_mut().for_each(clean),
            _ => {}
        }
    }
    body.values_mut().for_each(clean);
    body.retain(|_, value| !nothing(value));
}

/// Lays a PATCH body over an object: objects merge, everything else replaces, null clears.
pub(crate) fn merge(into: &mut Body, patch: &Body) {
    for (name, value) in patch {
        match (into.get_mut(name), value) {
            (_, Value::Null) => {
                into.remove(name);
            }
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            _ => {
                into.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check_body(schema: &str, body: Value, expected: &str) {
        let document = formwork_discovery::document("compute", "v1").unwrap();
        let method = format!("compute.{}s.insert", schema.to_lowercase());
        let text = match check(document, schema, &method, &body) {
            Ok(body) => Value::Object(body).to_string(),
            Err(error) => format!("{}: {}", error.http, error.message),
        };
        assert_eq!(text, expected);
    }

    #[test]
    fn types_are_strict() {
        check_body(
            "Network",
            json!({"name": "n", "mtu": "8896", "id": "7", "fingerprint": null, "description": null}),
            r#"{"description":null,"mtu":8896,"name":"n"}"#,
        );
        check_body(
            "Network",
            json!({"name": "n", "colour": 1}),
            "400: Invalid JSON payload received. Unknown name \"colour\": Cannot find field.",
        );
        check_body(
            "Network",
            json!({"name": "n", "routingConfig": {"mode": 1}}),
            "400: Invalid JSON payload received. Unknown name \"mode\" at 'routingConfig': Cannot find field.",
        );
        check_body(
            "Network",
            json!({"name": "n", "mtu": 1.5}),
            "400: Invalid value at 'mtu' (TYPE_INT32): it is a number.",
        );
        check_body(
            "Network",
            json!({"name": "n", "autoCreateSubnetworks": "false"}),
            "400: Invalid value at 'autoCreateSubnetworks' (TYPE_BOOL): it is text.",
        );
        check_body(
            "Network",
            json!({"name": "n", "routingConfig": {"routingMode": "LOCAL"}}),
            "400: Invalid value for field 'resource.routingConfig.routingMode': 'LOCAL'. It must be one of: GLOBAL, REGIONAL.",
        );
        check_body(
            "Disk",
            json!({"name": "d", "sizeGb": 10}),
            r#"{"name":"d","sizeGb":"10"}"#,
        );
        check_body(
            "Disk",
            json!({"name": "d", "sizeGb": "ten"}),
            "400: Invalid value at 'sizeGb' (TYPE_INT64): it is text.",
        );
        check_body(
            "Network",
            json!({}),
            "400: Required field 'resource.name' not specified",
        );
        check_body(
            "Instance",
            json!({"name": "i", "networkInterfaces": {}}),
            "400: Invalid value at 'networkInterfaces' (a list): it is an object.",
        );
    }

    #[test]
    fn a_patch_merges_and_clears() {
        let mut body = json!({"a": {"b": 1, "c": 2}, "d": [1], "e": 3})
            .as_object()
            .unwrap()
            .clone();
        merge(
            &mut body,
            json!({"a": {"b": null}, "d": [], "e": null})
                .as_object()
                .unwrap(),
        );
        assert_eq!(Value::Object(body.clone()), json!({"a": {"c": 2}, "d": []}));
        without_nothing(&mut body);
        assert_eq!(Value::Object(body), json!({"a": {"c": 2}}));
    }
}
