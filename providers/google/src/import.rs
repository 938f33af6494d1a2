//! Objects that exist already: by an import id, or from a state that an older version wrote.

use std::sync::Arc;

use formwork_diagnostics::Diagnostic;
use formwork_google_schema::Resource;
use formwork_provider::{ImportedObject, RawState, Reported, UpgradeRequest, UpgradeResponse};
use formwork_values::{Type, Value};
use serde_json::Value as Json;

use crate::draft::Draft;
use crate::engine::apply::private;
use crate::json::decode;
use crate::names;
use crate::place;
use crate::settings::Settings;

/// What an import id tells of an object.
pub(crate) fn import(
    resource: &Resource,
    settings: &Settings,
    id: &str,
) -> Result<ImportedObject, Box<Reported>> {
    let id = id.trim();
    let plain = names::relative(id);
    let parts = resource
        .import
        .iter()
        .find_map(|form| place::parse(form, plain).or_else(|| place::parse(form, id)));
    let Some(parts) = parts else {
        let forms: Vec<String> = resource.import.iter().map(|f| format!("\"{f}\"")).collect();
        let detail = if forms.is_empty() {
            format!("Objects of type {} cannot be imported.", resource.name)
        } else {
            format!(
                "\"{id}\" is no id of a {}. It is written in one of these forms: {}.",
                resource.name,
                forms.join(", ")
            )
        };
        return Err(Box::new(Reported::whole(Diagnostic::error(
            "Invalid import id",
            detail,
        ))));
    };
    let mut draft = Draft::empty(resource);
    for (name, value) in parts {
        draft.set(&name, Value::string(value));
    }
    for (name, default) in [
        ("project", &settings.project),
        ("region", &settings.region),
        ("zone", &settings.zone),
    ] {
        let in_id = resource.id.contains(&format!("{{{name}}}"));
        if (in_id || name == "project")
            && draft.has(name)
            && draft.text(name).is_none()
            && let Some(default) = default
        {
            draft.set(name, Value::string(&**default));
        }
    }
    // An account's id stands before the at sign.
    let email = draft.text("email").map(str::to_owned);
    if let Some(email) = email {
        draft.set(
            "account_id",
            Value::string(email.split('@').next().unwrap_or(&email)),
        );
    }
    if let Some(default) = &resource.deletion_policy {
        draft.set("deletion_policy", Value::string(&**default));
    }
    let state = draft.into_value();
    Ok(ImportedObject {
        kind: resource.name.to_string(),
        private: private(resource, &state),
        state,
        identity: None,
    })
}

/// Brings a stored object to the schema of now.
pub(crate) fn upgrade(resource: &Resource, request: &UpgradeRequest) -> UpgradeResponse {
    let refuse = |detail: String| UpgradeResponse {
        upgraded: Value::null(resource.schema.ty()),
        reported: vec![Reported::whole(Diagnostic::error(
            "State of another version",
            detail,
        ))],
    };
    let RawState::Json(bytes) = &request.state else {
        return refuse(format!(
            "The state of this {} is in the form that Terraform wrote before 0.12. Let Terraform 0.12 or later write it anew first.",
            resource.name
        ));
    };
    let mut json: Json = match serde_json::from_slice(bytes) {
        Ok(json) => json,
        Err(e) => return refuse(format!("The stored object is not JSON: {e}.")),
    };
    let current = resource.schema.version;
    if request.version > current {
        return refuse(format!(
            "The state of this {} was written by schema version {} and this provider knows versions up to {current}. Use a provider at least as new as the one that wrote it.",
            resource.name, request.version
        ));
    }
    if request.version < current && !older(&resource.name, request.version, &mut json) {
        return refuse(format!(
            "The state of this {} was written by schema version {} and this provider cannot bring it to version {current}. Apply once with hashicorp/google 7.x, which can.",
            resource.name, request.version
        ));
    }
    UpgradeResponse {
        upgraded: filled(
            resource,
            &decode(
                &Type::Object(Arc::clone(resource.schema.object_type())),
                &json,
            ),
        ),
        reported: Vec::new(),
    }
}

/// Steps between versions that can be taken. Others are refused.
fn older(kind: &str, version: u64, json: &mut Json) -> bool {
    match (kind, version) {
        // Likewise: a zone became a location.
        ("google_filestore_instance", 0) => {
            let zone = json.get("zone").cloned().unwrap_or(Json::Null);
            if let Some(object) = json.as_object_mut()
                && object.get("location").is_none_or(Json::is_null)
            {
                object.insert("location".into(), zone);
            }
            true
        }
        // Reasoned from the attributes' names and types, not read in the original: the bucket gained
        // attributes with defaults, and retention_period became a text, which reading does by itself.
        ("google_storage_bucket", 0..=3) => true,
        // Likewise: what a template lost is dropped on reading anyway.
        ("google_compute_instance_template", 0) => true,
        // Of instances and firewalls only the present form is known to be readable.
        _ => false,
    }
}

/// Lists of blocks are never null in an object of the current schema.
fn filled(resource: &Resource, value: &Value) -> Value {
    let mut draft = Draft::of(resource, value);
    for node in &resource.fields {
        if node.block && draft.get(&node.name).is_some_and(Value::is_null) {
            let element = node.element_type();
            let empty = if node.is_set() {
                Value::set(element, Vec::new())
            } else {
                Value::list(element, Vec::new())
            };
            draft.set(&node.name, empty);
        }
    }
    draft.into_value()
}
