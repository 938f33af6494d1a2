//! What a provider is asked, against recorded calls of Terraform: `tests/oracle/rpc/scenarios.jsonl`.
//!
//! A provider that plays the recording answers each request as the recording does, by the bytes of the
//! values in it. A request that was not recorded, and a recorded one that is not made, is a
//! difference; so are another order of the requests about an instance, other changes, other
//! diagnostics and another state. Requests to check a configuration are compared as a set, over
//! validation, plan and apply of a step.

#[path = "../../../../tests/oracle/rpc/thing.rs"]
mod thing;

use crate::comparing::{difference, meaning_of_state, ordered};
use crate::surroundings::{no_functions, session};
use formwork_addresses::ProviderAddr;
use formwork_diagnostics::{Diagnostic, Diagnostics, Severity};
use formwork_ops::PlanOptions;
use formwork_plan::PlanMode;
use formwork_provider::{
    ApplyRequest, ApplyResponse, Bytes, CallFunctionRequest, ConfigureRequest, FunctionFailure,
    ImportRequest, ImportedObject, OpenRequest, OpenResponse, OperationLog, PendingOperation,
    PlanRequest, PlanResponse, Provider, ProviderFactory, RawState, ReadDataRequest,
    ReadDataResponse, ReadRequest, ReadResponse, Reported, Settlement, UpgradeRequest,
    UpgradeResponse, ValidateRequest,
};
use formwork_provider_schema::{Attribute, Block, BlockNesting, NestedBlock, Schema, SchemaSource};
use formwork_values::{Path, Type, Value, from_msgpack, to_msgpack};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Differences that are meant: scenario, how they begin, and why.
const ON_PURPOSE: &[(&str, &str, &str)] = &[
    (
        "destroy",
        "step 2: plan PlanResourceChange: was not asked by us: {\"config\":\"de",
        "they plan as usual before they plan to destroy",
    ),
    (
        "remove-from-config",
        "step 2: plan PlanResourceChange: came after ReadResource",
        "a deletion is planned of the object as it is, so it is read first, as everything else is",
    ),
    (
        "data-source",
        "step 2: not asked by them: ValidateDataResourceConfig rec_lookup",
        "what is read later is checked when planning all the same, so that nothing is made before \
         a mistake is found",
    ),
    (
        "unknown-collections",
        "step 1: not asked by us: ValidateResourceConfig rec_thing {\"config\":\"de001aa3626167c0aa\
         636f756e745f7365656ec0a46469736b90a364796e92c41a",
        TYPED,
    ),
    (
        "unknown-collections",
        "step 1: not asked by them: ValidateResourceConfig rec_thing {\"config\":\"de001aa3626167c0aa\
         636f756e745f7365656ec0a46469736b90a364796e92c419",
        TYPED,
    ),
    (
        "unknown-values",
        "step 1: not asked by us: ValidateResourceConfig rec_thing {\"config\":\"de001aa3626167c0aa\
         636f756e745f7365656ec0a46469736b9184a46d6f6465c0a46e616d65d40000a470617468c0a473697a65c0a3\
         64796ed4",
        TYPED,
    ),
    (
        "unknown-values",
        "step 1: not asked by them: ValidateResourceConfig rec_thing {\"config\":\"de001aa3626167c0aa\
         636f756e745f7365656ec0a46469736b9184a46d6f6465c0a46e616d65d40000a470617468c0a473697a65c0a3\
         64796e92",
        TYPED,
    ),
    (
        "ephemeral-write-only",
        "step 1: state.resources[0].instances[0].dependencies",
        NOT_KEPT,
    ),
    (
        "ephemeral-write-only",
        "step 2: state.resources[0].instances[0].dependencies",
        NOT_KEPT,
    ),
];

/// They check a block's references as if they could be of any type; of ours the type is known.
const TYPED: &str = "what refers to a resource is checked with the type that its schema gives it";

const NOT_KEPT: &str =
    "an object depends on what the state has, and of ephemeral resources it has nothing";

struct Schemas {
    config: Arc<Schema>,
    thing: Arc<Schema>,
    lookup: Arc<Schema>,
    token: Arc<Schema>,
}

impl Schemas {
    fn new() -> Self {
        let string = || Attribute::new(Type::String);
        let auth = Block::of_attributes([("token", string().optional().sensitive())]);
        let config = Block::new(
            [
                ("endpoint", string().optional()),
                ("region", string().optional()),
                (
                    "settings",
                    Attribute::new(Type::map(Type::String)).optional(),
                ),
            ],
            [("auth", NestedBlock::new(BlockNesting::List, auth))],
        );
        let found = Type::object([("found", Type::String)]);
        let lookup = Block::of_attributes([
            ("id", string().computed()),
            ("name", string().required()),
            ("result", Attribute::new(found).computed()),
        ]);
        let token = Block::of_attributes([
            ("scope", string().optional()),
            ("value", string().computed()),
        ]);
        Self {
            config: Arc::new(Schema::new(0, config)),
            thing: Arc::new(Schema::new(1, thing::thing())),
            lookup: Arc::new(Schema::new(0, lookup)),
            token: Arc::new(Schema::new(0, token)),
        }
    }

    fn of(&self, kind: &str) -> &Arc<Schema> {
        match kind {
            "rec_thing" => &self.thing,
            "rec_lookup" => &self.lookup,
            "rec_token" => &self.token,
            _ => &self.config,
        }
    }
}

impl SchemaSource for Schemas {
    fn provider_config(&self) -> Arc<Schema> {
        self.config.clone()
    }

    fn resource(&self, name: &str) -> Option<Arc<Schema>> {
        (name == "rec_thing").then(|| self.thing.clone())
    }

    fn data_source(&self, name: &str) -> Option<Arc<Schema>> {
        (name == "rec_lookup").then(|| self.lookup.clone())
    }

    fn ephemeral_resource(&self, name: &str) -> Option<Arc<Schema>> {
        (name == "rec_token").then(|| self.token.clone())
    }

    fn ephemeral_resource_names(&self) -> Vec<Arc<str>> {
        vec![Arc::from("rec_token")]
    }

    fn resource_names(&self) -> Vec<Arc<str>> {
        vec![Arc::from("rec_thing")]
    }

    fn data_source_names(&self) -> Vec<Arc<str>> {
        vec![Arc::from("rec_lookup")]
    }
}

/// What was recorded of a step, and what differed so far.
#[derive(Default)]
struct Tape {
    phase: &'static str,
    calls: Vec<(Json, bool)>,
    /// Which of the calls were made, in the order in which they first were.
    made: Vec<usize>,
    /// What was asked to be checked in this step.
    validated: BTreeSet<String>,
    differences: Vec<String>,
}

/// Requests to check a configuration are compared as a set: how often and when is our own matter.
fn validates(rpc: &str) -> bool {
    rpc.starts_with("Validate")
}

struct Player {
    schemas: Arc<Schemas>,
    tape: Mutex<Tape>,
}

impl Player {
    fn tape(&self) -> std::sync::MutexGuard<'_, Tape> {
        self.tape.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The recorded answer to a request. Values are given by field, private data as it is.
    fn answer(
        &self,
        rpc: &str,
        kind: &str,
        values: &[(&str, &Value)],
        private: Option<(&str, &Bytes)>,
    ) -> Json {
        let ty = self.schemas.of(kind).ty();
        let mut asked = json!({});
        for (name, value) in values {
            let bytes = to_msgpack(value, &ty).expect("of the schema's type");
            asked[name] = json!(bytes.iter().map(|b| format!("{b:02x}")).collect::<String>());
        }
        if let Some((name, bytes)) = private.filter(|(_, b)| !b.is_empty()) {
            // recorded byte by byte
            asked[name] = json!(bytes.iter().map(|b| char::from(*b)).collect::<String>());
        }
        self.answer_to(rpc, kind, &asked)
    }

    /// The recorded answer to a request that is spelt out.
    fn answer_to(&self, rpc: &str, kind: &str, asked: &Json) -> Json {
        let ty = self.schemas.of(kind).ty();
        let mut tape = self.tape();
        let phase = tape.phase;
        if validates(rpc) {
            tape.validated.insert(line_of(rpc, kind, asked));
            let recorded = tape.calls.iter().map(|(c, _)| c);
            let equal = |c: &&Json| c["rpc"] == rpc && c["asked"] == *asked;
            return recorded
                .filter(|c| c["type"].as_str().is_none_or(|t| t == kind))
                .find(equal)
                .map_or(Json::Null, |c| c["answer"].clone());
        }
        let of_kind = |c: &Json| {
            c["in"] == phase && c["rpc"] == rpc && c["type"].as_str().is_none_or(|t| t == kind)
        };
        let pick = |tape: &Tape, equal: bool, used: bool| {
            tape.calls
                .iter()
                .position(|(c, u)| of_kind(c) && (*u == used) && (!equal || c["asked"] == *asked))
        };
        let exact = pick(&tape, true, false).or_else(|| {
            // How often these are asked is our own matter: they read and change nothing.
            ["ConfigureProvider", "UpgradeResourceState"]
                .contains(&rpc)
                .then(|| pick(&tape, true, true))
                .flatten()
        });
        let found = exact.or_else(|| {
            let near = pick(&tape, false, false);
            let line = match near.and_then(|i| tape.calls.get(i)) {
                Some((call, _)) => {
                    let parts: Vec<String> = unequal(&call["asked"], asked)
                        .into_iter()
                        .map(|name| {
                            format!(
                                "\n    {name}: expected {}\n    {name}: got      {}",
                                shown(&call["asked"][&name], &ty),
                                shown(&asked[&name], &ty)
                            )
                        })
                        .collect();
                    format!("{phase} {rpc}: asked otherwise{}", parts.concat())
                }
                None => format!("{phase} {rpc}: was not asked by them: {asked}"),
            };
            tape.differences.push(line);
            near
        });
        match found {
            Some(i) => {
                let (call, used) = tape.calls.get_mut(i).expect("found");
                let first = !std::mem::replace(used, true);
                let answer = call["answer"].clone();
                if first {
                    tape.made.push(i);
                }
                answer
            }
            None => Json::Null,
        }
    }

    fn value(&self, kind: &str, hex: &Json) -> Value {
        let ty = self.schemas.of(kind).ty();
        match bytes(hex) {
            Some(bytes) => from_msgpack(&bytes, &ty).expect("recorded"),
            None => Value::null(ty),
        }
    }

    fn begin(&self, phase: &'static str) {
        self.tape().phase = phase;
    }

    /// Recorded calls of the phase that were not made, or not in that order for an instance.
    fn end(&self) {
        let mut tape = self.tape();
        let phase = tape.phase;
        let mut found = Vec::new();
        let of_phase = |c: &Json| c["in"] == phase;
        let rpc_of = |c: &Json| c["rpc"].as_str().unwrap_or_default().to_owned();
        for (i, (call, used)) in tape.calls.iter().enumerate() {
            let rpc = rpc_of(call);
            if *used || !of_phase(call) || validates(&rpc) {
                continue;
            }
            // How often providers are configured is our own matter. And an object that planning has
            // brought to the current schema is not brought there again: the plan holds what came out.
            let again = tape.calls.iter().enumerate().any(|(j, (c, used))| {
                let same = match &*rpc {
                    "ConfigureProvider" => c["asked"] == call["asked"],
                    "UpgradeResourceState" => {
                        c["in"] == "plan" && self.instance_of(c) == self.instance_of(call)
                    }
                    _ => false,
                };
                j != i && *used && same && c["rpc"] == call["rpc"]
            });
            if !again {
                found.push(format!(
                    "{phase} {rpc}: was not asked by us: {}",
                    call["asked"]
                ));
            }
        }
        let mut last: BTreeMap<String, usize> = BTreeMap::new();
        for i in &tape.made {
            let Some((call, _)) = tape.calls.get(*i) else {
                continue;
            };
            let former = last.insert(self.instance_of(call), *i);
            if let Some(former) = former.filter(|f| f > i) {
                found.push(format!(
                    "{phase} {}: came after {}",
                    rpc_of(call),
                    rpc_of(&tape.calls[former].0)
                ));
            }
        }
        tape.made.clear();
        tape.differences.extend(found);
    }

    /// What was to be checked in all the phases of a step, and what was.
    fn end_step(&self) -> Vec<String> {
        let mut tape = self.tape();
        let asked = std::mem::take(&mut tape.validated);
        let recorded: BTreeSet<String> = tape
            .calls
            .iter()
            .filter_map(|(c, _)| Some((c["rpc"].as_str()?, c)))
            .filter(|(rpc, _)| validates(rpc))
            .map(|(rpc, c)| line_of(rpc, c["type"].as_str().unwrap_or_default(), &c["asked"]))
            .collect();
        let mut found = std::mem::take(&mut tape.differences);
        let missing = recorded.difference(&asked);
        found.extend(missing.map(|l| format!("not asked by us: {l}")));
        let more = asked.difference(&recorded);
        found.extend(more.map(|l| format!("not asked by them: {l}")));
        found
    }

    /// Which instance a recorded call is about: type and name, since the recorded configurations give
    /// each object a name of its own.
    fn instance_of(&self, call: &Json) -> String {
        let kind = call["type"].as_str().unwrap_or_default();
        let asked = &call["asked"];
        let ty = self.schemas.of(kind).ty();
        let of_value = |field: &str| {
            let value = from_msgpack(&bytes(&asked[field])?, &ty).ok()?;
            let name = value.at(&Path::ROOT.attribute("name")).ok()?;
            Some(name.as_str()?.to_owned())
        };
        let name = ["prior_state", "current_state", "config"]
            .into_iter()
            .find_map(of_value)
            .or_else(|| Some(asked["raw_state"]["name"].as_str()?.to_owned()));
        format!("{kind} {}", name.unwrap_or_default())
    }
}

fn line_of(rpc: &str, kind: &str, asked: &Json) -> String {
    format!("{rpc} {kind} {asked}")
}

fn bytes(hex: &Json) -> Option<Vec<u8>> {
    let digit = |c: u8| u8::try_from((c as char).to_digit(16)?).ok();
    hex.as_str()?
        .as_bytes()
        .chunks(2)
        .map(|p| Some((digit(p[0])? << 4) | digit(p[1])?))
        .collect()
}

fn shown(hex: &Json, ty: &Type) -> String {
    match bytes(hex).and_then(|b| from_msgpack(&b, ty).ok()) {
        Some(value) => format!("{value:?}"),
        None => hex.to_string(),
    }
}

/// Names of the fields that differ.
fn unequal(a: &Json, b: &Json) -> Vec<String> {
    let names = |v: &Json| {
        v.as_object()
            .into_iter()
            .flatten()
            .map(|(k, _)| k.clone())
            .collect::<Vec<_>>()
    };
    let mut all = names(a);
    all.extend(names(b));
    all.sort();
    all.dedup();
    all.retain(|n| a.get(n) != b.get(n));
    all
}

fn path(json: &Json) -> Path {
    let mut path = Path::ROOT;
    for step in json["steps"].as_array().into_iter().flatten() {
        if let Some(name) = step["attribute_name"].as_str() {
            path = path.attribute(name);
        }
    }
    path
}

fn reported(answer: &Json) -> Vec<Reported> {
    answer["diagnostics"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|d| {
            let summary = d["summary"].as_str().unwrap_or_default();
            let make = if d["severity"] == 1 {
                Diagnostic::error
            } else {
                Diagnostic::warning
            };
            Reported::at(path(&d["attribute"]), make(summary, "As recorded."))
        })
        .collect()
}

fn private(answer: &Json) -> Bytes {
    let text = answer.as_str().unwrap_or_default();
    text.chars().filter_map(|c| u8::try_from(c).ok()).collect()
}

#[async_trait::async_trait]
impl Provider for Player {
    async fn get_schema(&self) -> Result<Arc<dyn SchemaSource>, Diagnostics> {
        Ok(self.schemas.clone())
    }

    async fn validate_provider_config(&self, config: &Value) -> Vec<Reported> {
        let rpc = "ValidateProviderConfig";
        reported(&self.answer(rpc, "", &[("config", config)], None))
    }

    async fn configure(&self, request: ConfigureRequest) -> Vec<Reported> {
        reported(&self.answer(
            "ConfigureProvider",
            "",
            &[("config", &request.config)],
            None,
        ))
    }

    async fn validate_resource_config(&self, request: ValidateRequest) -> Vec<Reported> {
        let answer = self.answer(
            "ValidateResourceConfig",
            &request.kind,
            &[("config", &request.config)],
            None,
        );
        reported(&answer)
    }

    async fn validate_data_config(&self, request: ValidateRequest) -> Vec<Reported> {
        let values = [("config", &request.config)];
        let rpc = "ValidateDataResourceConfig";
        reported(&self.answer(rpc, &request.kind, &values, None))
    }

    async fn validate_ephemeral_config(&self, request: ValidateRequest) -> Vec<Reported> {
        let values = [("config", &request.config)];
        let rpc = "ValidateEphemeralResourceConfig";
        reported(&self.answer(rpc, &request.kind, &values, None))
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let answer = self.answer(
            "PlanResourceChange",
            &request.kind,
            &[
                ("config", &request.config),
                ("prior_state", &request.prior),
                ("proposed_new_state", &request.proposed),
            ],
            Some(("prior_private", &request.prior_private)),
        );
        let planned = if answer.is_null() {
            request.proposed
        } else {
            self.value(&request.kind, &answer["planned_state"])
        };
        PlanResponse {
            planned,
            requires_replace: answer["requires_replace"]
                .as_array()
                .into_iter()
                .flatten()
                .map(path)
                .collect(),
            private: private(&answer["planned_private"]),
            legacy_type_system: false,
            deferred: None,
            reported: reported(&answer),
            identity: None,
        }
    }

    async fn apply_resource_change(
        &self,
        request: ApplyRequest,
        _log: &dyn OperationLog,
    ) -> ApplyResponse {
        let answer = self.answer(
            "ApplyResourceChange",
            &request.kind,
            &[
                ("config", &request.config),
                ("prior_state", &request.prior),
                ("planned_state", &request.planned),
            ],
            Some(("planned_private", &request.planned_private)),
        );
        ApplyResponse {
            new: self.value(&request.kind, &answer["new_state"]),
            private: private(&answer["private"]),
            legacy_type_system: false,
            outcome_unknown: false,
            reported: reported(&answer),
            identity: None,
        }
    }

    async fn settle_operation(&self, _operation: PendingOperation) -> Settlement {
        Settlement::Unknown {
            reason: "nothing was recorded of it".to_owned(),
        }
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        let answer = self.answer(
            "ReadResource",
            &request.kind,
            &[("current_state", &request.current)],
            Some(("private", &request.private)),
        );
        let new = if answer.is_null() {
            request.current
        } else {
            self.value(&request.kind, &answer["new_state"])
        };
        ReadResponse {
            new,
            private: private(&answer["private"]),
            deferred: None,
            reported: reported(&answer),
            identity: None,
        }
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        let values = [("config", &request.config)];
        let answer = self.answer("ReadDataSource", &request.kind, &values, None);
        ReadDataResponse {
            state: self.value(&request.kind, &answer["state"]),
            deferred: None,
            reported: reported(&answer),
        }
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> UpgradeResponse {
        let RawState::Json(raw) = &request.state else {
            panic!("nothing of so old a form was recorded");
        };
        let raw: Json = serde_json::from_slice(raw).expect("JSON");
        let asked = json!({"raw_state": raw, "version": request.version});
        let answer = self.answer_to("UpgradeResourceState", &request.kind, &asked);
        UpgradeResponse {
            upgraded: self.value(&request.kind, &answer["upgraded_state"]),
            reported: reported(&answer),
        }
    }

    async fn import_resource_state(
        &self,
        request: ImportRequest,
    ) -> Result<Vec<ImportedObject>, Vec<Reported>> {
        let asked = json!({"id": request.id});
        let answer = self.answer_to("ImportResourceState", &request.kind, &asked);
        let all = answer["imported_resources"]
            .as_array()
            .into_iter()
            .flatten();
        Ok(all
            .map(|one| ImportedObject {
                kind: request.kind.clone(),
                state: self.value(&request.kind, &one["state"]["msgpack_hex"]),
                private: private(&one["private"]),
                identity: None,
            })
            .collect())
    }

    async fn open_ephemeral_resource(&self, request: OpenRequest) -> OpenResponse {
        let values = [("config", &request.config)];
        let answer = self.answer("OpenEphemeralResource", &request.kind, &values, None);
        OpenResponse {
            result: self.value(&request.kind, &answer["result"]),
            private: private(&answer["private"]),
            renew_at: None,
            reported: reported(&answer),
        }
    }

    async fn close_ephemeral_resource(&self, kind: &str, private: Bytes) -> Vec<Reported> {
        let private = Some(("private", &private));
        reported(&self.answer("CloseEphemeralResource", kind, &[], private))
    }

    async fn call_function(&self, _request: CallFunctionRequest) -> Result<Value, FunctionFailure> {
        Err(no_functions())
    }
}

struct Factory(Arc<Player>);

#[async_trait::async_trait]
impl ProviderFactory for Factory {
    async fn launch(&self, _provider: &ProviderAddr) -> Result<Arc<dyn Provider>, Diagnostics> {
        Ok(self.0.clone())
    }
}

/// Goes through a scenario; gives what differs.
async fn play(scenario: &Json) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut differences = Vec::new();
    for (number, step) in (1..).zip(scenario["steps"].as_array().into_iter().flatten()) {
        std::fs::write(
            folder.join("main.tf"),
            step["config"].as_str().expect("text"),
        )
        .expect("written");
        let calls = step["calls"].as_array().into_iter().flatten();
        let player = Arc::new(Player {
            schemas: Arc::new(Schemas::new()),
            tape: Mutex::new(Tape {
                calls: calls.map(|c| (c.clone(), false)).collect(),
                ..Tape::default()
            }),
        });
        let mut session = session(folder, Vec::new(), number);
        session.factory = Arc::new(Factory(player.clone()));
        let mut options = PlanOptions::default();
        for argument in step["args"].as_array().into_iter().flatten() {
            match argument.as_str().expect("text") {
                "-destroy" => options.mode = PlanMode::Destroy,
                "-refresh-only" => options.mode = PlanMode::RefreshOnly,
                "-refresh=false" => options.refresh = false,
                a if let Some(file) = a.strip_prefix("-generate-config-out=") => {
                    options.generate = Some(file.to_owned());
                }
                other => differences.push(format!("{other} is not served")),
            }
        }
        let mut found = Vec::new();
        if let Some(expected) = step.get("validate") {
            player.begin("validate");
            let checked = formwork_ops::validate(&session, None).await;
            player.end();
            let facts = json!({
                "diagnostics": summaries(&checked.diagnostics),
                "exit": i32::from(checked.diagnostics.has_errors()),
            });
            difference("validate", expected, &facts, &mut found);
        }
        if step.get("plan").is_none() {
            found.extend(player.end_step());
            differences.extend(found.into_iter().map(|d| format!("step {number}: {d}")));
            continue;
        }
        player.begin("plan");
        // They check with nothing known before they plan; of ours that is a command of its own.
        formwork_ops::validate(&session, None).await;
        let outcome = formwork_ops::plan(&session, &options).await;
        player.end();
        let schemas = outcome.providers.all_schemas();
        let mut facts = json!({"diagnostics": summaries(&outcome.diagnostics)});
        if let Some(plan) = &outcome.plan {
            let shown = formwork_render::plan_json(plan, None, &schemas);
            let mut shown: Json = serde_json::from_str(&shown).expect("JSON");
            for key in ["resource_changes", "resource_drift"] {
                if !shown[key].is_null() {
                    facts[key] = shown[key].take();
                }
            }
        }
        let mut expected = step["plan"].clone();
        expected.as_object_mut().expect("an object").remove("exit");
        difference("plan", &ordered(expected), &ordered(facts), &mut found);
        if let Some(held) = outcome.held {
            let _ = held.release(&session).await;
        }
        if let (Some(plan), Some(apply)) = (outcome.plan, step.get("apply")) {
            player.begin("apply");
            let applied = formwork_ops::apply(&session, plan, None).await;
            player.end();
            let facts = json!({
                "diagnostics": summaries(&applied.diagnostics),
                "exit": i32::from(!applied.complete),
            });
            // What was said of the plan is not said again.
            let mut apply = apply.clone();
            let said_already = step["plan"]["diagnostics"].clone();
            if let Some(said) = apply["diagnostics"].as_array_mut() {
                said.retain(|d| !said_already.as_array().is_some_and(|s| s.contains(d)));
            }
            difference("apply", &apply, &facts, &mut found);
            let state = std::fs::read(folder.join("terraform.tfstate")).ok();
            let state = state.map_or(json!({"resources": []}), |bytes| {
                serde_json::from_slice(&bytes).expect("JSON")
            });
            let only = |resources: &Json| meaning_of_state(json!({"resources": resources}));
            let (expected, actual) = (only(&step["resources"]), only(&state["resources"]));
            difference("state", &expected, &actual, &mut found);
        }
        found.extend(player.end_step());
        differences.extend(found.into_iter().map(|d| format!("step {number}: {d}")));
    }
    differences
}

fn summaries(diagnostics: &Diagnostics) -> Vec<String> {
    let mut all: Vec<String> = diagnostics
        .iter()
        .map(|d| {
            let word = match d.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            format!("{word}: {}", d.summary)
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

#[tokio::test]
async fn providers_are_asked_what_was_recorded() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/oracle/rpc/scenarios.jsonl"
    );
    let text = std::fs::read_to_string(path).expect("the recordings");
    let mut failed = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        let scenario: Json = serde_json::from_str(line).expect("JSON");
        let name = scenario["scenario"].as_str().expect("a name");
        let mut differences = play(&scenario).await;
        for (_, start, _) in ON_PURPOSE.iter().filter(|(s, ..)| *s == name) {
            let before = differences.len();
            differences.retain(|d| !d.starts_with(start));
            if differences.len() == before {
                differences.push(format!("{start}: was expected to differ, but agrees"));
            }
        }
        count += 1;
        if !differences.is_empty() {
            failed.push(format!("{name}:\n  {}", differences.join("\n  ")));
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {count} scenarios differ\n{}",
        failed.len(),
        failed.join("\n")
    );
}
