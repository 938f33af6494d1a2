//! `terraform_remote_state`: the outputs of another configuration's state.

use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_provider::{ReadDataRequest, ReadDataResponse, Reported, ValidateRequest};
use formwork_provider_schema::{Attribute, Block, Schema};
use formwork_state::{RawJson, StateReadError, StateReader, v4};
use formwork_values::{Path, Type, Value, value_to_json};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) const KIND: &str = "terraform_remote_state";

pub(crate) fn schema() -> Schema {
    Schema::new(
        0,
        Block::of_attributes([
            (
                "backend",
                Attribute::new(Type::String)
                    .required()
                    .described("Type of the backend that keeps the state, such as `local`."),
            ),
            (
                "workspace",
                Attribute::new(Type::String)
                    .optional()
                    .described("Workspace whose state is read; `default` if absent."),
            ),
            (
                "config",
                Attribute::new(Type::Dynamic)
                    .optional()
                    .described("The backend's configuration: what its block would hold."),
            ),
            (
                "defaults",
                Attribute::new(Type::Dynamic)
                    .optional()
                    .described("Values for outputs that the state does not have."),
            ),
            (
                "outputs",
                Attribute::new(Type::Dynamic)
                    .computed()
                    .described("Every output of the root module, as an object."),
            ),
        ])
        .described("The outputs of another configuration's state."),
    )
}

pub(crate) fn validate(request: &ValidateRequest, states: &dyn StateReader) -> Vec<Reported> {
    let defaults = request.config.attribute("defaults");
    let mut reported: Vec<Reported> = defaults.and_then(check_defaults).into_iter().collect();
    let backend = request.config.attribute("backend").and_then(Value::as_str);
    let config = request.config.attribute("config");
    // What is not known yet is judged when it is read.
    let config = config
        .filter(|c| c.is_wholly_known())
        .and_then(|c| value_to_json(c).ok())
        .and_then(|json| RawJson::parse(&json).ok());
    if let (Some(backend), Some(config)) = (backend, config) {
        reported.extend(match states.check(backend, &config) {
            Ok(()) => Vec::new(),
            Err(StateReadError::Backend(d)) => about("backend", d),
            Err(StateReadError::Config(d)) => about("config", d),
            Err(StateReadError::Failed(d)) => d.into_iter().map(Reported::whole).collect(),
        });
    }
    reported
}

/// What is wrong with an argument.
fn about(name: &'static str, diagnostics: Diagnostics) -> Vec<Reported> {
    let path = Path::default().attribute(name);
    diagnostics
        .into_iter()
        .map(|d| Reported::at(path.clone(), d))
        .collect()
}

/// Defaults must be an object or a map, as far as that can be said yet.
fn check_defaults(defaults: &Value) -> Option<Reported> {
    let wrong = !defaults.is_null() && !is_object(&defaults.type_of());
    wrong.then(|| {
        Reported::at(
            Path::default().attribute("defaults"),
            Diagnostic::error(
                "Invalid default values",
                "The argument \"defaults\" must be an object: the name of each output with its \
                 default value.",
            ),
        )
    })
}

fn is_object(ty: &Type) -> bool {
    matches!(ty, Type::Object(_) | Type::Map(_) | Type::Dynamic)
}

pub(crate) async fn read(request: &ReadDataRequest, states: &dyn StateReader) -> ReadDataResponse {
    let result = outputs(&request.config, states).await;
    let (state, reported) = match result {
        Ok(outputs) => {
            let get = |name| request.config.attribute(name).cloned();
            let any = |name| get(name).unwrap_or_else(|| Value::null(Type::Dynamic));
            let text = |name| get(name).unwrap_or_else(|| Value::null(Type::String));
            let state = Value::object([
                ("backend", text("backend")),
                ("config", any("config")),
                ("defaults", any("defaults")),
                ("outputs", outputs),
                ("workspace", text("workspace")),
            ]);
            (state, Vec::new())
        }
        Err(reported) => (Value::null(schema().ty()), reported),
    };
    ReadDataResponse {
        state,
        deferred: None,
        reported,
    }
}

async fn outputs(config: &Value, states: &dyn StateReader) -> Result<Value, Vec<Reported>> {
    let whole = |diagnostics: Diagnostics| -> Vec<Reported> {
        diagnostics.into_iter().map(Reported::whole).collect()
    };
    let text = |name| config.attribute(name).and_then(Value::as_str);
    if let Some(wrong) = config.attribute("defaults").and_then(check_defaults) {
        return Err(vec![wrong]);
    }
    let backend = text("backend").unwrap_or_default();
    let workspace = text("workspace");
    let configuration = match config.attribute("config").map(value_to_json) {
        None => RawJson::null(),
        Some(json) => json
            .ok()
            .and_then(|json| RawJson::parse(&json).ok())
            .ok_or_else(|| {
                about(
                    "config",
                    Diagnostic::error(
                        "Invalid backend configuration",
                        "The backend's configuration holds values that are not known yet.",
                    )
                    .into(),
                )
            })?,
    };
    let found = states
        .read_state(backend, workspace, &configuration)
        .await
        .map_err(|e| match e {
            StateReadError::Backend(d) => about("backend", d),
            StateReadError::Config(d) => about("config", d),
            StateReadError::Failed(d) => whole(d),
        })?;
    let snapshot = match found {
        None => None,
        Some(found) => {
            let (snapshot, diagnostics) = v4::read(&found.bytes, &found.name);
            if diagnostics.has_errors() {
                return Err(whole(diagnostics));
            }
            snapshot
        }
    };
    let Some(snapshot) = snapshot else {
        let missing = Diagnostic::error(
            "Unable to find remote state",
            format!(
                "There is no state in the workspace \"{}\" of the backend \"{backend}\" as it is \
                 configured here.",
                workspace.unwrap_or("default")
            ),
        )
        .hint("Apply the configuration whose state this is first, or look at path and workspace. Defaults stand in for single outputs only, not for a whole state.");
        return Err(match workspace {
            Some(_) => about("workspace", missing.into()),
            None => whole(missing.into()),
        });
    };
    let mut all: BTreeMap<Arc<str>, Value> = BTreeMap::new();
    for (key, value) in config
        .attribute("defaults")
        .and_then(Value::elements)
        .into_iter()
        .flatten()
    {
        if let Some(name) = key.as_shared_str() {
            all.insert(name.clone(), value);
        }
    }
    for (name, output) in snapshot.state.outputs() {
        // what is sensitive there is marked by nobody here: a provider's values carry no marks
        let value = output.to_value().map(|v| v.unmark().0).ok_or_else(|| {
            whole(
                Diagnostic::error(
                    "Invalid state file",
                    format!("The output \"{name}\" of the state does not have the type that stands with it."),
                )
                .into(),
            )
        })?;
        all.insert(Arc::from(name), value);
    }
    Ok(Value::object(all))
}
