use super::*;
use async_trait::async_trait;
use formwork_diagnostics::Diagnostic;
use formwork_environment::{Environment, Fixed};
use formwork_provider::{
    ApplyRequest, Bytes, ImportRequest, MoveRequest, NoteError, OperationLog, PendingOperation,
    PlanRequest, PlanResponse, Provider, RawState, ReadDataRequest, ReadRequest, Reported,
    Settlement, UpgradeRequest, ValidateRequest,
};
use formwork_provider_schema::{
    Schema, assert_object_compatible, assert_plan_valid, proposed_new_state,
};
use formwork_state::{RawJson, StateBytes, StateReadError, StateReader};
use formwork_values::{Type, Value};
use futures::executor::block_on;
use std::sync::Arc;

/// One state, at the backend "here".
struct Here(Option<&'static str>);

#[async_trait]
impl StateReader for Here {
    async fn read_state(
        &self,
        backend: &str,
        workspace: Option<&str>,
        config: &RawJson,
    ) -> Result<Option<StateBytes>, StateReadError> {
        let failed = |text: &str| Diagnostic::error("No", text).into();
        if backend != "here" {
            return Err(StateReadError::Backend(failed("no such backend")));
        }
        if config.get().contains("wrong") {
            return Err(StateReadError::Config(failed("wrong configuration")));
        }
        assert!(matches!(workspace, None | Some("w")));
        Ok(self.0.map(|text| StateBytes {
            name: "here".to_owned(),
            bytes: text.as_bytes().to_vec(),
        }))
    }
}

fn provider(state: Option<&'static str>) -> BuiltinProvider {
    let fixed = Arc::new(Fixed::new(1_000, 7));
    let environment = Environment {
        variables: Default::default(),
        home: None,
        working: "/w".into(),
        temporary: "/t".into(),
        who: "u@h".into(),
        process: 1,
        clock: fixed.clone(),
        randomness: fixed,
    };
    BuiltinProvider::new(environment, Arc::new(Here(state)))
}

fn schema(provider: &BuiltinProvider) -> Arc<Schema> {
    let all = block_on(provider.get_schema()).expect("a schema");
    all.resource("terraform_data").expect("there")
}

fn null() -> Value {
    Value::null(Type::Dynamic)
}

fn unknown() -> Value {
    Value::unknown(Type::String)
}

/// A configuration of input and triggers.
fn config(input: Value, triggers: Value) -> Value {
    Value::object([
        ("id", Value::null(Type::String)),
        ("input", input),
        ("output", null()),
        ("triggers_replace", triggers),
    ])
}

fn bytes() -> Bytes {
    Bytes::from([])
}

fn plan(provider: &BuiltinProvider, prior: &Value, config: &Value) -> PlanResponse {
    let schema = schema(provider);
    let proposed = if config.is_null() {
        config.clone()
    } else {
        proposed_new_state(&schema.block, prior, config)
    };
    let response = block_on(provider.plan_resource_change(PlanRequest {
        kind: "terraform_data".to_owned(),
        prior: prior.clone(),
        proposed,
        config: config.clone(),
        prior_private: bytes(),
        identity: None,
    }));
    assert!(response.reported.is_empty());
    let errors = assert_plan_valid(&schema.block, prior, config, &response.planned);
    assert!(errors.is_empty(), "the planned object obeys the protocol");
    response
}

struct NoLog;

#[async_trait]
impl OperationLog for NoLog {
    async fn note(&self, _note: Vec<u8>) -> Result<(), NoteError> {
        panic!("there is nothing to note");
    }
}

fn apply(provider: &BuiltinProvider, prior: &Value, planned: &Value, config: &Value) -> Value {
    let request = ApplyRequest {
        kind: "terraform_data".to_owned(),
        prior: prior.clone(),
        planned: planned.clone(),
        config: config.clone(),
        planned_private: bytes(),
        identity: None,
    };
    let response = block_on(provider.apply_resource_change(request, &NoLog));
    assert!(response.reported.is_empty());
    assert!(response.new.is_wholly_known());
    let schema = schema(provider);
    let errors = assert_object_compatible(&schema.block, planned, &response.new);
    assert!(errors.is_empty(), "the new object is what was planned");
    response.new
}

fn create(provider: &BuiltinProvider, input: Value, triggers: Value) -> Value {
    let config = config(input, triggers);
    let nothing = Value::null(schema(provider).ty());
    let planned = plan(provider, &nothing, &config).planned;
    apply(provider, &nothing, &planned, &config)
}

fn of<'a>(object: &'a Value, name: &str) -> &'a Value {
    object.attribute(name).expect("there")
}

#[test]
fn creation() {
    let p = provider(None);
    let nothing = Value::null(schema(&p).ty());
    let planned = plan(&p, &nothing, &config(Value::int(1), null())).planned;
    // as seen with Terraform: the id is known not to be null, the output known by its type alone
    assert!(
        of(&planned, "id")
            .as_unknown()
            .expect("unknown")
            .refinement
            .not_null
    );
    assert_eq!(of(&planned, "output"), &Value::unknown(Type::Number));
    assert_eq!(of(&planned, "input"), &Value::int(1));
    let tuple = Value::tuple(vec![Value::int(1), Value::int(2)]);
    let planned = plan(&p, &nothing, &config(tuple.clone(), null())).planned;
    assert_eq!(of(&planned, "output"), &Value::unknown(tuple.type_of()));
    let planned = plan(&p, &nothing, &config(null(), Value::int(1))).planned;
    assert_eq!(
        of(&planned, "output"),
        &null(),
        "without an input there is none"
    );
    let planned = plan(&p, &nothing, &config(unknown(), unknown())).planned;
    assert_eq!(of(&planned, "output"), &unknown());

    let known = config(Value::string("x"), Value::bool(true));
    let made = apply(&p, &nothing, &planned, &known);
    assert_eq!(of(&made, "input"), &Value::string("x"));
    assert_eq!(of(&made, "output"), &Value::string("x"));
    assert_eq!(of(&made, "triggers_replace"), &Value::bool(true));
    let id = of(&made, "id").as_str().expect("text");
    assert_eq!((id.len(), &id[14..15]), (36, "4"));
    assert_ne!(of(&create(&p, null(), null()), "id"), of(&made, "id"));
}

/// Plans `after` over an object made of `before`, each input and triggers; says what the output is and
/// whether the object is replaced.
fn check(before: (Value, Value), after: (Value, Value), output: &str, replaced: bool) {
    let p = provider(None);
    let prior = create(&p, before.0, before.1);
    let wanted = config(after.0.clone(), after.1.clone());
    let response = plan(&p, &prior, &wanted);
    let planned = &response.planned;
    assert_eq!(of(planned, "id"), of(&prior, "id"));
    let seen = match of(planned, "output") {
        kept if kept == of(&prior, "output") => "kept",
        later if later == &Value::unknown(after.0.type_of()) => "later",
        _ => "other",
    };
    assert_eq!(seen, output);
    let paths: Vec<String> = response
        .requires_replace
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        paths.join(" "),
        if replaced { ".triggers_replace" } else { "" }
    );
    if after.0.is_wholly_known() && after.1.is_wholly_known() && !replaced {
        let made = apply(&p, &prior, planned, &wanted);
        assert_eq!(of(&made, "output"), &after.0);
        assert_eq!(of(&made, "id"), of(&prior, "id"));
    }
}

#[test]
fn changes() {
    let (one, text) = (|| Value::int(1), || Value::string("1"));
    let list = || Value::list(Type::Number, vec![Value::int(1)]);
    let tuple = || Value::tuple(vec![Value::int(1)]);
    check((one(), null()), (one(), null()), "kept", false);
    check((one(), null()), (Value::int(2), null()), "later", false);
    check((one(), null()), (null(), null()), "later", false);
    check((null(), null()), (one(), null()), "later", false);
    check((one(), null()), (text(), null()), "later", false);
    check((tuple(), null()), (list(), null()), "later", false);
    check((list(), null()), (tuple(), null()), "later", false);
    check((one(), null()), (unknown(), null()), "later", false);
    check((one(), one()), (one(), one()), "kept", false);
    check((one(), one()), (one(), text()), "kept", true);
    check((one(), one()), (one(), null()), "kept", true);
    check((one(), null()), (one(), one()), "kept", true);
    check((one(), one()), (one(), unknown()), "kept", true);
    check((one(), one()), (text(), list()), "later", true);
}

#[test]
fn deletion_reading_and_settling() {
    let p = provider(None);
    let prior = create(&p, Value::int(1), null());
    let nothing = Value::null(schema(&p).ty());
    let planned = plan(&p, &prior, &nothing).planned;
    assert!(planned.is_null());
    assert!(apply(&p, &prior, &planned, &nothing).is_null());
    let read = block_on(p.read_resource(ReadRequest {
        kind: "terraform_data".to_owned(),
        current: prior.clone(),
        private: bytes(),
        identity: None,
    }));
    assert_eq!(read.new, prior);
    let settled = block_on(p.settle_operation(PendingOperation {
        kind: "terraform_data".to_owned(),
        prior: nothing,
        planned: prior,
        planned_private: bytes(),
        notes: Vec::new(),
    }));
    assert!(matches!(settled, Settlement::NotDone));
}

fn told(reported: &[Reported]) -> String {
    let all: Vec<String> = reported
        .iter()
        .map(|r| format!("{}: {}", r.path, r.diagnostic.summary))
        .collect();
    all.join("; ")
}

fn upgrade(version: u64, state: RawState) -> Result<Value, String> {
    let response = block_on(provider(None).upgrade_resource_state(UpgradeRequest {
        kind: "terraform_data".to_owned(),
        version,
        state,
    }));
    if response.reported.is_empty() {
        Ok(response.upgraded)
    } else {
        Err(told(&response.reported))
    }
}

#[test]
fn stored_objects() {
    let json = |text: &str| RawState::Json(Bytes::from(text.as_bytes()));
    let text = r#"{"id":"i","input":{"value":null,"type":"string"},"output":{"value":[1],"type":["tuple",["number"]]},"triggers_replace":null}"#;
    let read = upgrade(0, json(text)).expect("readable");
    assert_eq!(of(&read, "input"), &Value::null(Type::String));
    assert_eq!(of(&read, "output"), &Value::tuple(vec![Value::int(1)]));
    assert_eq!(of(&read, "triggers_replace"), &null());
    for (version, state, error) in [
        (0, json("{\"new\":1}"), ": Invalid stored object"),
        (0, RawState::Flatmap(Vec::new()), ": Invalid stored object"),
        (
            1,
            json(text),
            ": Resource instance managed by newer provider version",
        ),
    ] {
        assert_eq!(upgrade(version, state), Err(error.to_owned()));
    }
}

#[test]
fn import_and_taking_over() {
    let p = provider(None);
    let found = block_on(p.import_resource_state(ImportRequest {
        kind: "terraform_data".to_owned(),
        id: "some-id".to_owned(),
        identity: None,
    }))
    .expect("any id will do");
    assert_eq!(found.len(), 1);
    assert_eq!(of(&found[0].state, "id"), &Value::string("some-id"));
    assert_eq!(of(&found[0].state, "input"), &null());
    let take = |provider: &str, kind: &str, json: &str| {
        block_on(p.move_resource_state(MoveRequest {
            source_provider: provider.to_owned(),
            source_kind: kind.to_owned(),
            source_version: 0,
            state: RawState::Json(Bytes::from(json.as_bytes())),
            private: bytes(),
            target_kind: "terraform_data".to_owned(),
            identity: None,
        }))
    };
    let theirs = "registry.opentofu.org/hashicorp/null";
    let taken = take(
        theirs,
        "null_resource",
        r#"{"id":"77","triggers":{"x":"y"}}"#,
    );
    assert!(taken.reported.is_empty());
    assert_eq!(of(&taken.target, "id"), &Value::string("77"));
    assert_eq!(
        of(&taken.target, "triggers_replace"),
        &Value::map(Type::String, [("x", Value::string("y"))])
    );
    let taken = take(theirs, "null_resource", r#"{"id":"77","triggers":null}"#);
    assert_eq!(of(&taken.target, "triggers_replace"), &null());
    assert!(!take(theirs, "other", "{}").reported.is_empty());
    assert!(!take("a/b/null", "null_resource", "{}").reported.is_empty());
    assert!(!take(theirs, "null_resource", "[]").reported.is_empty());
}

#[test]
fn read_only_attributes() {
    let reported = block_on(provider(None).validate_resource_config(ValidateRequest {
        kind: "terraform_data".to_owned(),
        config: Value::object([("id", Value::string("x")), ("output", null())]),
    }));
    assert_eq!(told(&reported), ".id: \"id\" attribute is read-only");
}

const STATE: &str = r#"{"version":4,"terraform_version":"1.11.4","serial":7,"lineage":"1","outputs":{"x":{"value":{"a":1},"type":["object",{"a":"number"}],"sensitive":true},"y":{"value":null,"type":"string"}},"resources":[],"check_results":null}"#;

fn remote(state: Option<&'static str>, changes: &[(&'static str, Value)]) -> Result<Value, String> {
    let p = provider(state);
    let mut config = vec![
        ("backend", Value::string("here")),
        ("config", null()),
        ("defaults", null()),
        ("outputs", null()),
        ("workspace", Value::null(Type::String)),
    ];
    for (name, value) in changes {
        config.retain(|(n, _)| n != name);
        config.push((name, value.clone()));
    }
    let response = block_on(p.read_data_source(ReadDataRequest {
        kind: "terraform_remote_state".to_owned(),
        config: Value::object(config),
    }));
    if response.reported.is_empty() {
        Ok(of(&response.state, "outputs").clone())
    } else {
        Err(told(&response.reported))
    }
}

#[test]
fn states_of_other_configurations() {
    let x = || Value::object([("a", Value::int(1))]);
    let y = || Value::null(Type::String);
    assert_eq!(
        remote(Some(STATE), &[]),
        Ok(Value::object([("x", x()), ("y", y())]))
    );
    let defaults = Value::object([("x", Value::int(5)), ("z", Value::int(6))]);
    assert_eq!(
        remote(Some(STATE), &[("defaults", defaults.clone())]),
        Ok(Value::object([
            ("x", x()),
            ("y", y()),
            ("z", Value::int(6))
        ])),
        "defaults are for what is missing"
    );
    let text = Value::string;
    for (state, changes, error) in [
        (None, vec![], ": Unable to find remote state"),
        (Some(""), vec![], ": Unable to find remote state"),
        (
            None,
            vec![("defaults", defaults), ("workspace", text("w"))],
            ".workspace: Unable to find remote state",
        ),
        (Some("{"), vec![], ": Unsupported state file format"),
        (
            Some(STATE),
            vec![("backend", text("there"))],
            ".backend: No",
        ),
        (
            Some(STATE),
            vec![("config", Value::object([("wrong", text("x"))]))],
            ".config: No",
        ),
        (
            Some(STATE),
            vec![("defaults", Value::tuple(vec![Value::int(1)]))],
            ".defaults: Invalid default values",
        ),
    ] {
        assert_eq!(remote(state, &changes), Err(error.to_owned()));
    }
}

#[test]
fn schemas_are_those_of_the_field() {
    let all = block_on(provider(None).get_schema()).expect("a schema");
    let names = |names: Vec<Arc<str>>| names.join(" ");
    assert_eq!(names(all.resource_names()), "terraform_data");
    assert_eq!(names(all.data_source_names()), "terraform_remote_state");
    assert_eq!(
        names(all.function_names()),
        "decode_tfvars encode_expr encode_tfvars"
    );
    let mut text = String::new();
    for schema in [
        all.resource("terraform_data"),
        all.data_source("terraform_remote_state"),
    ] {
        let schema = schema.expect("there");
        text += &format!("version {}\n", schema.version);
        for (name, a) in schema.block.attributes() {
            let how: Vec<&str> = [
                (a.required, "required"),
                (a.optional, "optional"),
                (a.computed, "computed"),
            ]
            .into_iter()
            .filter_map(|(is, word)| is.then_some(word))
            .collect();
            text += &format!("{name} {} {}\n", a.ty().friendly_name(), how.join(" "));
        }
    }
    assert_eq!(
        text,
        "version 0\n\
         id string computed\n\
         input dynamic optional\n\
         output dynamic computed\n\
         triggers_replace dynamic optional\n\
         version 0\n\
         backend string required\n\
         config dynamic optional\n\
         defaults dynamic optional\n\
         outputs dynamic computed\n\
         workspace string optional\n"
    );
    assert_eq!(SOURCE, "terraform.io/builtin/terraform");
}
