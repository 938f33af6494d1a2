//! `terraform_data`: a value that lives in state.
//!
//! `input` is given back as `output` once the object exists. `id` is made at creation. A change of
//! `triggers_replace`, whatever it was, replaces the object. A value is the same if its type is the
//! same too: the number 1 is not the text "1", and a tuple is not a list.

use formwork_diagnostics::Diagnostic;
use formwork_environment::Environment;
use formwork_provider::{
    ApplyRequest, ApplyResponse, Bytes, ImportRequest, ImportedObject, MoveRequest, MoveResponse,
    PlanRequest, PlanResponse, RawState, Reported, UpgradeRequest, UpgradeResponse,
    ValidateRequest,
};
use formwork_provider_schema::{Attribute, Block, Schema};
use formwork_values::{Path, Refinement, Type, Value, value_from_json};

pub(crate) const KIND: &str = "terraform_data";
const VERSION: u64 = 0;

pub(crate) fn schema() -> Schema {
    let any = || Attribute::new(Type::Dynamic);
    Schema::new(
        VERSION,
        Block::of_attributes([
            (
                "id",
                Attribute::new(Type::String)
                    .computed()
                    .described("A random id, made when the object is created."),
            ),
            (
                "input",
                any()
                    .optional()
                    .described("Any value; it is given back as `output`."),
            ),
            (
                "output",
                any()
                    .computed()
                    .described("The `input` of the object as it is; known once it is applied."),
            ),
            (
                "triggers_replace",
                any()
                    .optional()
                    .described("Any value; when it changes, the object is replaced."),
            ),
        ])
        .described("A value in the state, with the life of a resource."),
    )
}

fn object(id: Value, input: Value, output: Value, triggers: Value) -> Value {
    Value::object([
        ("id", id),
        ("input", input),
        ("output", output),
        ("triggers_replace", triggers),
    ])
}

fn get(object: &Value, name: &str) -> Value {
    object
        .attribute(name)
        .cloned()
        .unwrap_or_else(|| Value::null(Type::Dynamic))
}

/// Whether nothing of a value changes, its type included.
fn same(a: &Value, b: &Value) -> bool {
    a == b && a.is_wholly_known()
}

pub(crate) fn validate(request: &ValidateRequest) -> Vec<Reported> {
    let mut reported = Vec::new();
    for name in ["id", "output"] {
        if request.config.attribute(name).is_some_and(|v| !v.is_null()) {
            reported.push(Reported::at(
                Path::default().attribute(name),
                Diagnostic::error(
                    format!("\"{name}\" attribute is read-only"),
                    format!("The attribute \"{name}\" of terraform_data is set by the tool. Remove it from the block."),
                ),
            ));
        }
    }
    reported
}

pub(crate) fn plan(request: &PlanRequest) -> PlanResponse {
    let (prior, proposed) = (&request.prior, &request.proposed);
    let mut requires_replace = Vec::new();
    let planned = if proposed.is_null() {
        proposed.clone()
    } else {
        let (input, triggers) = (get(proposed, "input"), get(proposed, "triggers_replace"));
        let later = || Value::unknown(input.type_of());
        if prior.is_null() {
            let id = Value::unknown_with(Type::String, Refinement::NOT_NULL);
            let output = if input.is_null() {
                input.clone()
            } else {
                later()
            };
            object(id, input.clone(), output, triggers)
        } else {
            if !same(&get(prior, "triggers_replace"), &triggers) {
                requires_replace.push(Path::default().attribute("triggers_replace"));
            }
            let output = if same(&get(prior, "input"), &input) {
                get(prior, "output")
            } else {
                later()
            };
            object(get(prior, "id"), input.clone(), output, triggers)
        }
    };
    PlanResponse {
        planned,
        requires_replace,
        private: request.prior_private.clone(),
        legacy_type_system: false,
        deferred: None,
        reported: Vec::new(),
        identity: None,
    }
}

pub(crate) fn apply(request: &ApplyRequest, environment: &Environment) -> ApplyResponse {
    let planned = &request.planned;
    let new = if planned.is_null() {
        planned.clone()
    } else {
        // input and triggers are those of the configuration, which is known by now
        let known = |name: &str| {
            let value = get(planned, name);
            if value.is_wholly_known() {
                value
            } else {
                get(&request.config, name)
            }
        };
        let (input, triggers) = (known("input"), known("triggers_replace"));
        let id = match get(planned, "id") {
            id if id.is_known() && !id.is_null() => id,
            _ => Value::string(environment.uuid()),
        };
        let output = match get(planned, "output") {
            output if output.is_wholly_known() => output,
            _ => input.clone(),
        };
        object(id, input, output, triggers)
    };
    ApplyResponse {
        new,
        private: request.planned_private.clone(),
        legacy_type_system: false,
        outcome_unknown: false,
        reported: Vec::new(),
        identity: None,
    }
}

pub(crate) fn upgrade(request: &UpgradeRequest, ty: &Type) -> UpgradeResponse {
    let failed = |diagnostic| UpgradeResponse {
        upgraded: Value::null(ty.clone()),
        reported: vec![Reported::whole(diagnostic)],
    };
    if request.version > VERSION {
        return failed(Diagnostic::error(
            "Resource instance managed by newer provider version",
            format!(
                "The object was written by schema version {} of terraform_data, and this Formwork \
                 knows version {VERSION}.",
                request.version
            ),
        )
        .hint("Use the version of the tool that wrote it, or a newer Formwork."));
    }
    match &request.state {
        RawState::Json(json) => match value_from_json(json, ty) {
            Ok(upgraded) => UpgradeResponse {
                upgraded,
                reported: Vec::new(),
            },
            Err(e) => failed(Diagnostic::error(
                "Invalid stored object",
                format!("The attributes of the object in the state cannot be read: {e}."),
            )),
        },
        RawState::Flatmap(_) => failed(Diagnostic::error(
            "Invalid stored object",
            "The state holds the object in the flat form of Terraform 0.11 and older, which is older \
             than terraform_data itself.",
        )),
    }
}

pub(crate) fn import(request: &ImportRequest) -> ImportedObject {
    let null = || Value::null(Type::Dynamic);
    ImportedObject {
        kind: KIND.to_owned(),
        state: object(Value::string(&request.id), null(), null(), null()),
        private: Bytes::from([]),
        identity: None,
    }
}

/// Takes over a `null_resource` of hashicorp/null: its id, and its triggers as `triggers_replace`.
pub(crate) fn take_over(request: &MoveRequest) -> MoveResponse {
    let mut parts = request.source_provider.rsplit('/');
    let theirs = (parts.next(), parts.next()) == (Some("null"), Some("hashicorp"));
    if !theirs || request.source_kind != "null_resource" {
        return MoveResponse::unsupported(request);
    }
    let ty = Type::object([("id", Type::String), ("triggers", Type::map(Type::String))]);
    let read = match &request.state {
        RawState::Json(json) => value_from_json(json, &ty).ok(),
        RawState::Flatmap(_) => None,
    };
    let Some(source) = read else {
        return MoveResponse {
            target: Value::null(Type::Dynamic),
            private: Bytes::from([]),
            reported: vec![Reported::whole(Diagnostic::error(
                "Invalid stored object",
                "The attributes of the null_resource in the state cannot be read.",
            ))],
            identity: None,
        };
    };
    let null = || Value::null(Type::Dynamic);
    let triggers = match get(&source, "triggers") {
        none if none.is_null() => null(),
        triggers => triggers,
    };
    MoveResponse {
        target: object(get(&source, "id"), null(), null(), triggers),
        private: Bytes::from([]),
        reported: Vec::new(),
        identity: None,
    }
}
