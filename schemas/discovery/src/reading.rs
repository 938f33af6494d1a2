//! From the compressed bytes to [`Document`]: the file's own shape, and the conversion.
//!
//! The wire structs are private so that the file format can change without its readers noticing.

use std::collections::BTreeMap;
use std::io::Read;

use serde::Deserialize;

use crate::shape::{Document, FieldKind, Http, Location, MediaUpload, Method, Parameter, Schema};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireDocument {
    service: String,
    version: String,
    revision: String,
    root_url: String,
    service_path: String,
    parameters: Vec<WireParameter>,
    methods: BTreeMap<String, WireMethod>,
    schemas: BTreeMap<String, WireSchema>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireMethod {
    http: String,
    path: String,
    flat_path: Option<String>,
    parameters: Vec<WireParameter>,
    request: Option<String>,
    response: Option<String>,
    media_upload: Option<WireUpload>,
    #[serde(default)]
    media_download: bool,
}

#[derive(Deserialize)]
struct WireUpload {
    simple: Option<String>,
    resumable: Option<String>,
}

#[derive(Deserialize)]
struct WireParameter {
    name: String,
    location: String,
    #[serde(rename = "type")]
    kind: String,
    format: Option<String>,
    pattern: Option<String>,
    #[serde(rename = "enum", default)]
    values: Vec<String>,
    default: Option<String>,
    #[serde(default)]
    required: bool,
    #[serde(default)]
    repeated: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSchema {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "$ref")]
    reference: Option<String>,
    format: Option<String>,
    pattern: Option<String>,
    #[serde(rename = "enum", default)]
    values: Vec<String>,
    #[serde(default)]
    enum_deprecated: Vec<String>,
    default: Option<String>,
    #[serde(default)]
    read_only: bool,
    #[serde(default)]
    required_for: Vec<String>,
    #[serde(default)]
    required_in_text: bool,
    #[serde(default)]
    immutable: bool,
    #[serde(default)]
    deprecated: bool,
    items: Option<Box<WireSchema>>,
    additional_properties: Option<Box<WireSchema>>,
    properties: Option<BTreeMap<String, WireSchema>>,
}

/// Unpacks a document. The error is one line that says what is wrong with the bytes.
pub(crate) fn unpack(packed: &[u8]) -> Result<Document, String> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(packed)
        .read_to_end(&mut text)
        .map_err(|error| error.to_string())?;
    let wire: WireDocument = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let methods = wire
        .methods
        .into_iter()
        .map(|(id, method)| Ok((id.clone(), read_method(id, method)?)))
        .collect::<Result<_, String>>()?;
    let schemas = wire
        .schemas
        .into_iter()
        .map(|(name, schema)| Ok((name, read_schema(schema)?)))
        .collect::<Result<_, String>>()?;
    Ok(Document {
        service: wire.service,
        version: wire.version,
        revision: wire.revision,
        root_url: wire.root_url,
        service_path: wire.service_path,
        parameters: wire
            .parameters
            .into_iter()
            .map(read_parameter)
            .collect::<Result<_, _>>()?,
        methods,
        schemas,
    })
}

fn read_method(id: String, wire: WireMethod) -> Result<Method, String> {
    let http = match wire.http.as_str() {
        "GET" => Http::Get,
        "POST" => Http::Post,
        "PUT" => Http::Put,
        "PATCH" => Http::Patch,
        "DELETE" => Http::Delete,
        other => return Err(format!("{id}: unknown verb {other}")),
    };
    Ok(Method {
        id,
        http,
        flat_path: wire.flat_path.unwrap_or_else(|| wire.path.clone()),
        path: wire.path,
        parameters: wire
            .parameters
            .into_iter()
            .map(read_parameter)
            .collect::<Result<_, _>>()?,
        request: wire.request,
        response: wire.response,
        media_upload: wire.media_upload.map(|upload| MediaUpload {
            simple: upload.simple,
            resumable: upload.resumable,
        }),
        media_download: wire.media_download,
    })
}

fn read_parameter(wire: WireParameter) -> Result<Parameter, String> {
    let location = match wire.location.as_str() {
        "path" => Location::Path,
        "query" => Location::Query,
        other => return Err(format!("{}: unknown location {other}", wire.name)),
    };
    Ok(Parameter {
        kind: scalar(&wire.kind)?,
        name: wire.name,
        location,
        required: wire.required,
        repeated: wire.repeated,
        format: wire.format,
        pattern: wire.pattern,
        enum_values: wire.values,
        default: wire.default,
    })
}

fn scalar(kind: &str) -> Result<FieldKind, String> {
    match kind {
        "string" => Ok(FieldKind::String),
        "integer" => Ok(FieldKind::Integer),
        "number" => Ok(FieldKind::Number),
        "boolean" => Ok(FieldKind::Boolean),
        "any" => Ok(FieldKind::Any),
        other => Err(format!("unknown type {other}")),
    }
}

// Recursion is as deep as the embedded document nests, a handful of levels.
fn read_schema(wire: WireSchema) -> Result<Schema, String> {
    let kind = if let Some(name) = wire.reference {
        FieldKind::Reference(name)
    } else if let Some(items) = wire.additional_properties {
        FieldKind::Map(Box::new(read_schema(*items)?))
    } else {
        match wire.kind.as_deref() {
            Some("array") => {
                let items = wire.items.ok_or("an array without items")?;
                FieldKind::Array(Box::new(read_schema(*items)?))
            }
            Some("object") | None => FieldKind::Object(
                wire.properties
                    .unwrap_or_default()
                    .into_iter()
                    .map(|(name, field)| Ok((name, read_schema(field)?)))
                    .collect::<Result<_, String>>()?,
            ),
            Some(kind) => scalar(kind)?,
        }
    };
    Ok(Schema {
        kind,
        format: wire.format,
        pattern: wire.pattern,
        enum_values: wire.values,
        enum_deprecated: wire.enum_deprecated,
        default: wire.default,
        read_only: wire.read_only,
        required_for: wire.required_for,
        required_in_text: wire.required_in_text,
        immutable: wire.immutable,
        deprecated: wire.deprecated,
    })
}
