//! A provider that answers by rule: as a good one does, but where a test says otherwise.
//!
//! Its objects are in a world that outlives processes. It remembers what it was asked, in order, and
//! keeps no notes, as a plugin does.

use crate::disk::guard;
use crate::surroundings::{Builtins, as_written, no_functions, session, text};
use formwork_addresses::ProviderAddr;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_ops::{PlanOptions, PlanOutcome, Session};
use formwork_plan::{Action, Plan};
use formwork_provider::{
    ApplyRequest, ApplyResponse, Bytes, CallFunctionRequest, ConfigureRequest, FunctionFailure,
    ImportRequest, ImportedObject, MoveRequest, MoveResponse, OpenRequest, OpenResponse,
    OperationLog, PendingOperation, PlanRequest, PlanResponse, Provider, ProviderFactory,
    Provisioner, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, RenewResponse,
    Reported, Settlement, UpgradeRequest, UpgradeResponse, ValidateRequest,
};
use formwork_provider::{UpgradeIdentityRequest, UpgradeIdentityResponse};
use formwork_provider_schema::{
    Attribute, AttributeNesting, Block, BlockNesting, Capabilities, IdentityAttribute,
    IdentitySchema, NestedBlock, Schema, SchemaSource,
};
use formwork_values::{Path, Type, Value};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// What the provider does with a request that changes something.
pub enum Deed {
    /// It answers.
    Answers(Box<ApplyResponse>),
    /// It never does.
    Hangs,
    /// It waits until it is told to stop, and answers that it did not get there.
    Waits,
    /// It breaks down.
    Breaks,
    /// It loses the connection.
    Loses,
}

type OnPlan = dyn Fn(&PlanRequest, PlanResponse) -> PlanResponse + Send + Sync;
type OnApply = dyn Fn(&ApplyRequest, ApplyResponse) -> Deed + Send + Sync;
type OnRead = dyn Fn(&ReadRequest, ReadResponse) -> ReadResponse + Send + Sync;
type OnImport = dyn Fn(&ImportRequest, Vec<ImportedObject>) -> Result<Vec<ImportedObject>, Vec<Reported>>
    + Send
    + Sync;
type OnUpgrade = dyn Fn(&UpgradeRequest) -> Option<UpgradeResponse> + Send + Sync;
type OnMove = dyn Fn(&MoveRequest) -> MoveResponse + Send + Sync;
type OnIdentity = dyn Fn(&UpgradeIdentityRequest) -> UpgradeIdentityResponse + Send + Sync;
type OnData = dyn Fn(&ReadDataRequest, ReadDataResponse) -> ReadDataResponse + Send + Sync;
type OnCheck = dyn Fn(&ValidateRequest) -> Vec<Reported> + Send + Sync;
type OnOpen = dyn Fn(&OpenRequest, OpenResponse) -> OpenResponse + Send + Sync;
type OnRenew = dyn Fn(Bytes) -> RenewResponse + Send + Sync;

/// The rules of a provider, and its world.
pub struct Script {
    pub version: u64,
    pub on_plan: Mutex<Arc<OnPlan>>,
    pub on_apply: Mutex<Arc<OnApply>>,
    pub on_read: Mutex<Arc<OnRead>>,
    pub on_import: Mutex<Arc<OnImport>>,
    pub on_upgrade: Mutex<Arc<OnUpgrade>>,
    pub on_data: Mutex<Arc<OnData>>,
    pub on_check: Mutex<Arc<OnCheck>>,
    /// Whether objects of `x_thing` have identities: their id, and a region.
    pub names: AtomicBool,
    /// How a stored identity of an older version is read.
    pub on_identity: Mutex<Arc<OnIdentity>>,
    /// What it takes over; nothing if not set, and then it does not say that it can.
    pub on_move: Mutex<Option<Arc<OnMove>>>,
    /// What is done when it is configured.
    pub on_configure: Mutex<Arc<dyn Fn() + Send + Sync>>,
    /// What it was asked to plan.
    pub planned: Mutex<Vec<PlanRequest>>,
    /// What it was asked to make.
    pub applied: Mutex<Vec<ApplyRequest>>,
    pub on_open: Mutex<Arc<OnOpen>>,
    pub on_renew: Mutex<Option<Arc<OnRenew>>>,
    /// Whether what is read is never answered.
    pub reading_hangs: AtomicBool,
    /// Whether what is read is answered only when it is told to stop.
    pub read_waits: AtomicBool,
    /// Objects by id.
    pub world: Mutex<BTreeMap<String, Value>>,
    /// What was asked.
    pub calls: Mutex<Vec<String>>,
    made: Mutex<usize>,
    stop: tokio::sync::Notify,
    /// Told when a call begins to wait, for ever or to be told to stop.
    pub waiting: tokio::sync::Notify,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            version: 1,
            on_plan: Mutex::new(Arc::new(|_, r| r)),
            on_apply: Mutex::new(Arc::new(|_, r| Deed::Answers(Box::new(r)))),
            on_read: Mutex::new(Arc::new(|_, r| r)),
            on_import: Mutex::new(Arc::new(|_, r| Ok(r))),
            on_upgrade: Mutex::new(Arc::new(|_| None)),
            on_data: Mutex::new(Arc::new(|_, r| r)),
            on_check: Mutex::new(Arc::new(|_| Vec::new())),
            names: AtomicBool::new(false),
            on_identity: Mutex::new(Arc::new(|_| UpgradeIdentityResponse {
                upgraded: Value::null(Type::Dynamic),
                reported: Vec::new(),
            })),
            on_move: Mutex::default(),
            on_configure: Mutex::new(Arc::new(|| ())),
            planned: Mutex::default(),
            applied: Mutex::default(),
            on_open: Mutex::new(Arc::new(|_, r| r)),
            on_renew: Mutex::default(),
            reading_hangs: AtomicBool::new(false),
            read_waits: AtomicBool::new(false),
            world: Mutex::default(),
            calls: Mutex::default(),
            made: Mutex::default(),
            stop: tokio::sync::Notify::new(),
            waiting: tokio::sync::Notify::new(),
        }
    }
}

impl Script {
    pub fn plans(
        &self,
        rule: impl Fn(&PlanRequest, PlanResponse) -> PlanResponse + Send + Sync + 'static,
    ) {
        *guard(&self.on_plan) = Arc::new(rule);
    }

    pub fn applies(
        &self,
        rule: impl Fn(&ApplyRequest, ApplyResponse) -> Deed + Send + Sync + 'static,
    ) {
        *guard(&self.on_apply) = Arc::new(rule);
    }

    pub fn reads(
        &self,
        rule: impl Fn(&ReadRequest, ReadResponse) -> ReadResponse + Send + Sync + 'static,
    ) {
        *guard(&self.on_read) = Arc::new(rule);
    }

    pub fn opens(
        &self,
        rule: impl Fn(&OpenRequest, OpenResponse) -> OpenResponse + Send + Sync + 'static,
    ) {
        *guard(&self.on_open) = Arc::new(rule);
    }

    /// Answers as a good provider again.
    pub fn behaves(&self) {
        self.plans(|_, r| r);
        self.applies(|_, r| Deed::Answers(Box::new(r)));
        self.reads(|_, r| r);
        *guard(&self.on_import) = Arc::new(|_, r| Ok(r));
        *guard(&self.on_upgrade) = Arc::new(|_| None);
        *guard(&self.on_data) = Arc::new(|_, r| r);
        *guard(&self.on_check) = Arc::new(|_| Vec::new());
        *guard(&self.on_configure) = Arc::new(|| ());
        *guard(&self.on_open) = Arc::new(|_, r| r);
    }

    /// What was asked since this was last called.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *guard(&self.calls))
    }

    /// How often it was told to stop.
    pub fn stops(&self) -> usize {
        guard(&self.calls).iter().filter(|c| *c == "Stop").count()
    }

    pub fn ids(&self) -> Vec<String> {
        guard(&self.world).keys().cloned().collect()
    }

    fn call(&self, what: &str, value: &Value) {
        let name = string(value, "name").unwrap_or_default();
        guard(&self.calls).push(format!("{what} {name}"));
    }

    /// Waits until it is told to stop; not at all if it was.
    async fn told_to_stop(&self) {
        let mut stop = std::pin::pin!(self.stop.notified());
        stop.as_mut().enable();
        self.waiting.notify_one();
        if self.stops() == 0 {
            stop.await;
        }
    }

    fn new_id(&self) -> String {
        let mut made = guard(&self.made);
        *made += 1;
        format!("id-{made}")
    }
}

/// A text of an object.
pub fn string(value: &Value, name: &str) -> Option<String> {
    Some(value.attribute(name)?.as_str()?.to_owned())
}

/// The object with other values at some of its attributes.
pub fn with(object: &Value, changes: &[(&str, Value)]) -> Value {
    object.clone().transform(&mut |path, value| {
        let at = path.to_string();
        let change = changes.iter().find(|(name, _)| at == format!(".{name}"));
        change.map_or(value, |(_, v)| v.clone())
    })
}

/// An error or warning about the whole.
pub fn says(d: Diagnostic) -> Vec<Reported> {
    vec![Reported::whole(d)]
}

/// The schema of `x_thing` and `x_other`.
fn thing() -> Block {
    let string = || Attribute::new(Type::String);
    let part = || {
        Arc::new(Block::of_attributes([
            ("key", string().required()),
            ("made", string().optional().computed()),
        ]))
    };
    let nested = |nesting| Attribute::nested(nesting, part()).optional();
    let block = |nesting| {
        NestedBlock::new(
            nesting,
            Block::of_attributes([
                ("key", string().optional()),
                ("made", string().optional().computed()),
            ]),
        )
    };
    Block::new(
        [
            ("id", string().computed()),
            ("name", string().required()),
            ("force", string().optional()),
            ("note", string().optional()),
            ("secret", string().optional().write_only()),
            ("size", Attribute::new(Type::Number).optional().computed()),
            ("single", nested(AttributeNesting::Single)),
            ("list", nested(AttributeNesting::List)),
            ("set", nested(AttributeNesting::Set)),
            ("map", nested(AttributeNesting::Map)),
        ],
        [
            ("bsingle", block(BlockNesting::Single)),
            ("bgroup", block(BlockNesting::Group)),
            ("blist", block(BlockNesting::List)),
            ("bset", block(BlockNesting::Set)),
            ("bmap", block(BlockNesting::Map)),
        ],
    )
}

/// The schema of identities of `x_thing`.
fn identity_schema() -> IdentitySchema {
    let of = |required: bool| IdentityAttribute {
        ty: Type::String,
        required_for_import: required,
        optional_for_import: !required,
        description: Arc::from(""),
    };
    IdentitySchema::new(1, [("id", of(true)), ("region", of(false))])
}

/// The identity of an object.
pub fn identity(id: &str, region: &str) -> Value {
    Value::object([("id", Value::string(id)), ("region", Value::string(region))])
}

struct Schemas {
    moves: bool,
    names: bool,
    config: Arc<Schema>,
    thing: Arc<Schema>,
    other: Arc<Schema>,
    data: Arc<Schema>,
    token: Arc<Schema>,
}

impl Schemas {
    fn new(version: u64, moves: bool, names: bool) -> Self {
        let string = || Attribute::new(Type::String);
        let data = Block::of_attributes([
            ("name", string().required()),
            ("found", string().computed()),
        ]);
        let token = Block::of_attributes([
            ("name", string().required()),
            ("value", string().computed()),
        ]);
        Self {
            moves,
            names,
            config: Arc::new(Schema::new(
                0,
                Block::of_attributes([("region", string().optional())]),
            )),
            thing: Arc::new(Schema::new(version, thing())),
            other: Arc::new(Schema::new(0, thing())),
            data: Arc::new(Schema::new(0, data)),
            token: Arc::new(Schema::new(0, token)),
        }
    }
}

impl SchemaSource for Schemas {
    fn provider_config(&self) -> Arc<Schema> {
        self.config.clone()
    }
    fn resource(&self, name: &str) -> Option<Arc<Schema>> {
        match name {
            "x_thing" => Some(self.thing.clone()),
            "x_other" => Some(self.other.clone()),
            _ => None,
        }
    }
    fn data_source(&self, name: &str) -> Option<Arc<Schema>> {
        (name == "x_data").then(|| self.data.clone())
    }
    fn ephemeral_resource(&self, name: &str) -> Option<Arc<Schema>> {
        (name == "x_token").then(|| self.token.clone())
    }
    fn resource_names(&self) -> Vec<Arc<str>> {
        vec![Arc::from("x_other"), Arc::from("x_thing")]
    }
    fn data_source_names(&self) -> Vec<Arc<str>> {
        vec![Arc::from("x_data")]
    }
    fn ephemeral_resource_names(&self) -> Vec<Arc<str>> {
        vec![Arc::from("x_token")]
    }
    fn identity(&self, name: &str) -> Option<Arc<IdentitySchema>> {
        (self.names && name == "x_thing").then(|| Arc::new(identity_schema()))
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            move_resource_state: self.moves,
            ..Capabilities::default()
        }
    }
}

struct Scripted(Arc<Script>);

impl Scripted {
    fn schemas(&self) -> Schemas {
        Schemas::new(
            self.0.version,
            guard(&self.0.on_move).is_some(),
            self.0.names.load(Ordering::SeqCst),
        )
    }

    fn ty(&self, kind: &str) -> Type {
        let schemas = self.schemas();
        let schema = schemas.resource(kind).or_else(|| schemas.data_source(kind));
        schema.map_or(Type::Dynamic, |s| s.ty())
    }
}

#[async_trait::async_trait]
impl Provider for Scripted {
    async fn get_schema(&self) -> Result<Arc<dyn SchemaSource>, Diagnostics> {
        Ok(Arc::new(self.schemas()))
    }

    async fn validate_provider_config(&self, _config: &Value) -> Vec<Reported> {
        Vec::new()
    }

    async fn configure(&self, _request: ConfigureRequest) -> Vec<Reported> {
        let rule = guard(&self.0.on_configure).clone();
        rule();
        Vec::new()
    }

    async fn stop(&self) {
        guard(&self.0.calls).push("Stop".to_owned());
        self.0.stop.notify_waiters();
    }

    async fn validate_resource_config(&self, request: ValidateRequest) -> Vec<Reported> {
        let rule = guard(&self.0.on_check).clone();
        rule(&request)
    }

    async fn validate_data_config(&self, _request: ValidateRequest) -> Vec<Reported> {
        Vec::new()
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let named = if request.config.is_null() {
            &request.prior
        } else {
            &request.config
        };
        self.0.call("Plan", named);
        guard(&self.0.planned).push(request.clone());
        let ty = self.ty(&request.kind);
        let unknown_where_null = |value: Value| {
            // of what is new, the provider decides what was not written
            value.transform(&mut |path, v| {
                let at = path.to_string();
                if at == ".secret" {
                    return Value::null(v.type_of());
                }
                let decided = at == ".id" || at == ".size" || at.ends_with(".made");
                if decided && v.is_null() && v.type_of() != Type::Dynamic {
                    Value::unknown(v.type_of())
                } else {
                    v
                }
            })
        };
        let planned = if request.proposed.is_null() {
            Value::null(ty)
        } else {
            unknown_where_null(request.proposed.clone())
        };
        let differs = !request.prior.is_null()
            && !request.proposed.is_null()
            && request.prior.attribute("force") != request.proposed.attribute("force");
        let response = PlanResponse {
            planned,
            requires_replace: if differs {
                vec![Path::ROOT.attribute("force")]
            } else {
                Vec::new()
            },
            private: request.prior_private.clone(),
            legacy_type_system: false,
            deferred: None,
            reported: Vec::new(),
            identity: None,
        };
        let rule = guard(&self.0.on_plan).clone();
        rule(&request, response)
    }

    async fn apply_resource_change(
        &self,
        request: ApplyRequest,
        _log: &dyn OperationLog,
    ) -> ApplyResponse {
        let verb = match (request.prior.is_null(), request.planned.is_null()) {
            (true, _) => "Create",
            (_, true) => "Delete",
            _ => "Update",
        };
        let named = if request.planned.is_null() {
            &request.prior
        } else {
            &request.planned
        };
        self.0.call(verb, named);
        guard(&self.0.applied).push(request.clone());
        let new = request.planned.clone().transform(&mut |path, v| {
            if v.is_known() {
                v
            } else if path.to_string() == ".id" {
                Value::string(self.0.new_id())
            } else if v.type_of() == Type::Number {
                Value::int(7)
            } else {
                Value::string("made")
            }
        });
        let named = self.0.names.load(Ordering::SeqCst);
        let identity = string(&new, "id")
            .filter(|_| named)
            .map(|id| identity(&id, "here"));
        let response = ApplyResponse {
            new,
            private: request.planned_private.clone(),
            legacy_type_system: false,
            outcome_unknown: false,
            reported: Vec::new(),
            identity,
        };
        let rule = guard(&self.0.on_apply).clone();
        let done = |response: &ApplyResponse| {
            let mut world = guard(&self.0.world);
            if let Some(id) = string(&request.prior, "id") {
                world.remove(&id);
            }
            if let Some(id) = string(&response.new, "id") {
                world.insert(id, response.new.clone());
            }
        };
        match rule(&request, response.clone()) {
            Deed::Answers(answer) => {
                if !answer.reported.iter().any(Reported::is_error) {
                    done(&answer);
                }
                *answer
            }
            Deed::Hangs => {
                done(&response);
                self.0.waiting.notify_one();
                std::future::pending().await
            }
            Deed::Waits => {
                self.0.told_to_stop().await;
                ApplyResponse {
                    new: request.prior.clone(),
                    reported: says(Diagnostic::error("Stopped", "It was told to stop.")),
                    ..response
                }
            }
            Deed::Breaks => {
                done(&response);
                panic!("the provider breaks down, as the test wants it to")
            }
            Deed::Loses => {
                done(&response);
                ApplyResponse {
                    outcome_unknown: true,
                    reported: says(Diagnostic::error("Connection lost", "The line is dead.")),
                    ..response
                }
            }
        }
    }

    async fn settle_operation(&self, _operation: PendingOperation) -> Settlement {
        Settlement::Unknown {
            reason: "the provider keeps no notes".to_owned(),
        }
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        self.0.call("Read", &request.current);
        if self.0.read_waits.load(Ordering::SeqCst) {
            self.0.told_to_stop().await;
        }
        if self.0.reading_hangs.load(Ordering::SeqCst) {
            self.0.waiting.notify_one();
            return std::future::pending().await;
        }
        let id = string(&request.current, "id").unwrap_or_default();
        let there = guard(&self.0.world).get(&id).cloned();
        let response = ReadResponse {
            new: there.unwrap_or_else(|| Value::null(request.current.type_of())),
            private: request.private.clone(),
            deferred: None,
            reported: Vec::new(),
            identity: None,
        };
        let rule = guard(&self.0.on_read).clone();
        rule(&request, response)
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        self.0.call("ReadData", &request.config);
        let found = format!(
            "found {}",
            string(&request.config, "name").unwrap_or_default()
        );
        let response = ReadDataResponse {
            state: with(&request.config, &[("found", Value::string(found))]),
            deferred: None,
            reported: Vec::new(),
        };
        let rule = guard(&self.0.on_data).clone();
        rule(&request, response)
    }

    async fn open_ephemeral_resource(&self, request: OpenRequest) -> OpenResponse {
        self.0.call("Open", &request.config);
        let name = string(&request.config, "name").unwrap_or_default();
        let value = Value::string(format!("token of {name}"));
        let response = OpenResponse {
            result: with(&request.config, &[("value", value)]),
            private: name.into_bytes().into(),
            renew_at: None,
            reported: Vec::new(),
        };
        let rule = guard(&self.0.on_open).clone();
        rule(&request, response)
    }

    async fn renew_ephemeral_resource(&self, kind: &str, private: Bytes) -> RenewResponse {
        let name = String::from_utf8_lossy(&private).into_owned();
        guard(&self.0.calls).push(format!("Renew {name}"));
        let rule = guard(&self.0.on_renew).clone();
        match rule {
            Some(rule) => rule(private),
            None => RenewResponse::unsupported(kind),
        }
    }

    async fn close_ephemeral_resource(&self, _kind: &str, private: Bytes) -> Vec<Reported> {
        let name = String::from_utf8_lossy(&private).into_owned();
        guard(&self.0.calls).push(format!("Close {name}"));
        Vec::new()
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> UpgradeResponse {
        let rule = guard(&self.0.on_upgrade).clone();
        if let Some(answer) = rule(&request) {
            return answer;
        }
        let ty = self.ty(&request.kind);
        as_written(&request, &ty)
    }

    async fn import_resource_state(
        &self,
        request: ImportRequest,
    ) -> Result<Vec<ImportedObject>, Vec<Reported>> {
        let id = request.identity.as_ref().and_then(|i| string(i, "id"));
        let id = id.unwrap_or_else(|| request.id.clone());
        guard(&self.0.calls).push(format!("Import {id}"));
        let there = guard(&self.0.world).get(&id).cloned();
        let found = there.map(|state| ImportedObject {
            kind: request.kind.clone(),
            state,
            private: Bytes::from([]),
            identity: None,
        });
        let rule = guard(&self.0.on_import).clone();
        rule(&request, found.into_iter().collect())
    }

    async fn upgrade_resource_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> UpgradeIdentityResponse {
        let rule = guard(&self.0.on_identity).clone();
        rule(&request)
    }

    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        guard(&self.0.calls).push(format!(
            "Move {} to {}",
            request.source_kind, request.target_kind
        ));
        let rule = guard(&self.0.on_move).clone();
        match rule {
            Some(rule) => rule(&request),
            None => MoveResponse::unsupported(&request),
        }
    }

    async fn call_function(&self, _request: CallFunctionRequest) -> Result<Value, FunctionFailure> {
        Err(no_functions())
    }
}

struct Factory {
    script: Arc<Script>,
    others: Builtins,
}

#[async_trait::async_trait]
impl ProviderFactory for Factory {
    async fn launch(&self, provider: &ProviderAddr) -> Result<Arc<dyn Provider>, Diagnostics> {
        if &*provider.kind == "x" {
            return Ok(Arc::new(Scripted(self.script.clone())));
        }
        self.others.launch(provider).await
    }

    fn provisioner(&self, kind: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        self.others.provisioner(kind)
    }
}

/// A folder, a world, and runs in it.
pub struct Stand {
    pub folder: tempfile::TempDir,
    pub script: Arc<Script>,
    runs: Mutex<u64>,
}

/// What a run did.
pub struct Ran {
    pub complete: bool,
    /// What was said, of plan and apply.
    pub said: String,
    /// What was planned, no-ops left out: address and action, and what it is of a deposed object.
    pub changes: Vec<String>,
}

const HEAD: &str =
    "terraform {\n  required_providers {\n    x = { source = \"example.test/acme/x\" }\n  }\n}\n";

impl Stand {
    pub fn new(configuration: &str) -> Self {
        let stand = Self {
            folder: tempfile::tempdir().expect("a folder"),
            script: Arc::default(),
            runs: Mutex::default(),
        };
        stand.write(configuration);
        stand
    }

    pub fn write(&self, configuration: &str) {
        std::fs::write(
            self.folder.path().join("main.tf"),
            format!("{HEAD}{configuration}"),
        )
        .expect("written");
    }

    /// The session of another process.
    pub fn session(&self) -> Session {
        let number = {
            let mut runs = guard(&self.runs);
            *runs += 1;
            *runs
        };
        let mut session = session(self.folder.path(), Vec::new(), number);
        session.factory = Arc::new(Factory {
            script: self.script.clone(),
            others: Builtins(session.environment.clone()),
        });
        session.settings.parallelism = 1;
        session
    }

    pub async fn plan_with(&self, options: &PlanOptions) -> (Option<Plan>, String) {
        let session = self.session();
        let outcome = formwork_ops::plan(&session, options).await;
        release(&session, outcome).await
    }

    pub async fn plan(&self) -> (Option<Plan>, String) {
        self.plan_with(&PlanOptions::default()).await
    }

    pub async fn run(&self) -> Ran {
        self.run_with(&PlanOptions::default()).await
    }

    /// Plans, and applies what was planned unless that failed.
    pub async fn run_with(&self, options: &PlanOptions) -> Ran {
        let session = self.session();
        let outcome = formwork_ops::plan(&session, options).await;
        let (plan, mut said) = release(&session, outcome).await;
        let mut ran = Ran {
            complete: false,
            changes: plan.as_ref().map(changes).unwrap_or_default(),
            said: String::new(),
        };
        if let Some(plan) = plan.filter(|p| !p.errored) {
            let applied = formwork_ops::apply(&session, plan, None).await;
            said += &text(&applied.diagnostics, &applied.sources);
            ran.complete = applied.complete;
        }
        ran.said = said;
        ran
    }

    /// Puts a state there, of resources in JSON.
    pub fn put_state(&self, resources: &Json) {
        let state = serde_json::json!({
            "version": 4,
            "terraform_version": "1.11.4",
            "serial": 1,
            "lineage": "8f2c1d52-0000-4000-8000-000000000001",
            "outputs": {},
            "resources": resources,
            "check_results": null,
        });
        let path = self.folder.path().join("terraform.tfstate");
        std::fs::write(path, state.to_string()).expect("written");
    }

    /// The state as it is written.
    pub fn state(&self) -> Json {
        let bytes = std::fs::read(self.folder.path().join("terraform.tfstate"));
        bytes.map_or(Json::Null, |b| serde_json::from_slice(&b).expect("JSON"))
    }

    /// The instances in the state: address, id, and what they are if not current and sound.
    pub fn objects(&self) -> Vec<String> {
        let state = self.state();
        let mut all = Vec::new();
        for resource in state["resources"].as_array().into_iter().flatten() {
            for instance in resource["instances"].as_array().into_iter().flatten() {
                let mut line = format!(
                    "{}.{}{} {}",
                    resource["type"].as_str().unwrap_or_default(),
                    resource["name"].as_str().unwrap_or_default(),
                    match &instance["index_key"] {
                        Json::Null => String::new(),
                        key => format!("[{key}]"),
                    },
                    instance["attributes"]["id"].as_str().unwrap_or("-"),
                );
                if !instance["deposed"].is_null() {
                    line += " deposed";
                }
                if instance["status"] == "tainted" {
                    line += " tainted";
                }
                all.push(line);
            }
        }
        all.sort();
        all
    }
}

/// What a plan changes.
pub fn changes(plan: &Plan) -> Vec<String> {
    plan.changes
        .iter()
        .filter(|c| c.action != Action::NoOp)
        .map(|c| {
            let deposed = if c.deposed.is_some() {
                " (deposed)"
            } else {
                ""
            };
            let reason = c
                .reason
                .map(|r| format!(" {}", r.word()))
                .unwrap_or_default();
            format!("{}{deposed} {}{reason}", c.address, c.action.word())
        })
        .collect()
}

async fn release(session: &Session, outcome: PlanOutcome) -> (Option<Plan>, String) {
    let said = text(&outcome.diagnostics, outcome.sources());
    if let Some(held) = outcome.held {
        let _ = held.release(session).await;
    }
    (outcome.plan, said)
}
