//! A provider of things whose objects exist in a cloud in memory, and which does as a script says: it
//! fails, fails after the deed, dies in mid-call, hangs, lies, and leaves things unknown.

use crate::disk::guard;
use formwork_addresses::ProviderAddr;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_graph::Cancellation;
use formwork_provider::{
    ApplyRequest, ApplyResponse, Bytes, CallFunctionRequest, ConfigureRequest, FunctionFailure,
    ImportRequest, ImportedObject, LineSink, OpenRequest, OpenResponse, OperationLog,
    PendingOperation, PlanRequest, PlanResponse, Provider, ProviderFactory, ProvisionRequest,
    Provisioner, RawState, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, Reported,
    Settlement, Stop, UpgradeRequest, UpgradeResponse, ValidateRequest,
};
use formwork_provider_schema::{Attribute, Block, BlockNesting, NestedBlock, Schema, SchemaSource};
use formwork_values::{Path, Type, Value, value_from_json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use tokio::sync::Notify;

pub const THING: &str = "world_thing";
pub const LOOK: &str = "world_look";
pub const KEY: &str = "world_key";
/// What the keys begin with that nobody may keep.
pub const SECRET: &str = "ephemeral-secret-";

/// What is done at a call of apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// An error, and nothing done; the object as it was.
    Fails,
    /// An error and no object, though nothing was done.
    FailsWithNothing,
    /// Done, and an error nevertheless.
    FailsAfter,
    /// Nobody knows what became of it; nothing did.
    DiesBefore,
    /// Nobody knows what became of it; it was done.
    DiesAfter,
    /// It never answers; nothing was done.
    HangsBefore,
    /// It never answers, but it was done.
    HangsAfter,
    /// Another value comes out than was planned.
    Lies,
    /// Something is still unknown.
    LeavesUnknown,
    /// It says that it was done, and there is no object; or, of a deletion, that there still is one.
    Contradicts,
    /// It breaks down; nothing was done.
    PanicsBefore,
    /// It breaks down after the deed.
    PanicsAfter,
}

/// What is done at a call of plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thought {
    /// An error.
    Fails,
    /// Another value than configured.
    Lies,
}

/// Faults of one run, by the number of the call.
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub deeds: BTreeMap<usize, Deed>,
    pub thoughts: BTreeMap<usize, Thought>,
    /// Calls of read that fail.
    pub reads: BTreeSet<usize>,
    /// Provisioners that fail.
    pub provisions: BTreeSet<usize>,
    /// The call of apply at which the run is interrupted.
    pub interrupt: Option<usize>,
    /// Whether a call that hangs is left to itself by an interrupted run; else the process is killed.
    pub detaches: bool,
    /// How often others run while a call is under way.
    pub pauses: Vec<usize>,
}

/// What was done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Create,
    Update,
    Delete,
}

/// One call of apply.
#[derive(Clone, Debug)]
pub struct Call {
    pub verb: Verb,
    /// The thing's `at`: the name of its block, a slash, its key. Of a deletion, as it was.
    pub at: String,
    /// Id of the object before.
    pub id: Option<String>,
    /// Ids that the object before is linked to.
    pub links: Vec<String>,
    /// When it began and ended, in calls begun and ended before; no end if it never answered.
    pub begin: usize,
    pub end: Option<usize>,
    /// The round of the run.
    pub round: usize,
    /// Whether it was said to have succeeded.
    pub done: bool,
}

/// What an operation did to the world, by the note that it left.
#[derive(Clone, Debug)]
pub struct Effect {
    pub before: Option<String>,
    pub after: Option<Value>,
}

/// Everything outside of any process.
#[derive(Clone, Default)]
pub struct Cloud {
    pub objects: BTreeMap<String, Value>,
    /// Objects that are gone although nobody was told.
    pub gone: BTreeSet<String>,
    /// Objects that are nobody's: a run was to forget them, or others made them.
    pub strays: BTreeSet<String>,
    /// Objects that were nobody's once: what they hang on is not known any more.
    pub once_strays: BTreeSet<String>,
    /// Whether it does not say what became of operations.
    pub silent: bool,
    /// Objects that are not as anybody was told.
    pub drifted: BTreeSet<String>,
    /// Objects one of whose provisioners failed.
    pub unfinished: BTreeSet<String>,
    /// By note.
    pub effects: BTreeMap<Vec<u8>, Effect>,
    /// Numbers for ids and serials.
    pub next: i64,
}

/// What one process did.
#[derive(Default)]
pub struct Watch {
    pub script: Script,
    pub calls: Vec<Call>,
    pub reads: usize,
    pub plans: usize,
    pub clock: usize,
    pub round: usize,
    /// Faults that came to pass.
    pub faults: Vec<String>,
    /// Provisioners that ran.
    pub provisions: usize,
    /// Objects whose destruction a provisioner has refused.
    pub refused: BTreeSet<String>,
    /// Keys that are open.
    pub open: BTreeSet<String>,
    /// What nobody may ask of a provider, and somebody did.
    pub illegal: Vec<String>,
    /// Interrupts the run.
    pub cancel: Cancellation,
}

pub static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    let string = || Attribute::new(Type::String);
    let disk = Block::of_attributes([
        ("gb", Attribute::new(Type::Number).required()),
        ("serial", Attribute::new(Type::Number).computed()),
    ]);
    let block = Block::new(
        [
            ("id", string().computed()),
            ("serial", Attribute::new(Type::Number).computed()),
            ("at", string().required()),
            ("force", Attribute::new(Type::Number).optional()),
            ("size", Attribute::new(Type::Number).optional().computed()),
            ("note", string().optional()),
            ("links", Attribute::new(Type::list(Type::String)).optional()),
            ("secret", string().optional().sensitive()),
            ("key", string().optional().write_only()),
        ],
        [("disk", NestedBlock::new(BlockNesting::List, disk))],
    );
    Arc::new(Schema::new(0, block))
});

static LOOKS: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    let string = || Attribute::new(Type::String);
    let block = Block::of_attributes([("of", string().required()), ("found", string().computed())]);
    Arc::new(Schema::new(0, block))
});

static KEYS: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    let string = || Attribute::new(Type::String);
    let block = Block::of_attributes([("of", string().optional()), ("key", string().computed())]);
    Arc::new(Schema::new(0, block))
});

struct Schemas(Arc<Schema>);

impl SchemaSource for Schemas {
    fn provider_config(&self) -> Arc<Schema> {
        self.0.clone()
    }
    fn resource(&self, name: &str) -> Option<Arc<Schema>> {
        (name == THING).then(|| SCHEMA.clone())
    }
    fn data_source(&self, name: &str) -> Option<Arc<Schema>> {
        (name == LOOK).then(|| LOOKS.clone())
    }
    fn ephemeral_resource(&self, name: &str) -> Option<Arc<Schema>> {
        (name == KEY).then(|| KEYS.clone())
    }
    fn ephemeral_resource_names(&self) -> Vec<Arc<str>> {
        vec![Arc::from(KEY)]
    }
    fn resource_names(&self) -> Vec<Arc<str>> {
        vec![Arc::from(THING)]
    }
    fn data_source_names(&self) -> Vec<Arc<str>> {
        vec![Arc::from(LOOK)]
    }
}

/// Text of an attribute.
pub fn text(object: &Value, name: &str) -> Option<String> {
    let value = object.attribute(name)?;
    value.as_str().map(str::to_owned)
}

/// The texts of a list.
pub fn texts(object: &Value, name: &str) -> Vec<String> {
    let items = object.attribute(name).and_then(Value::as_sequence);
    let items = items.into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The object with other values in some places.
pub fn with(object: &Value, changes: &[(&str, Value)]) -> Value {
    let ty = object.type_of();
    let names = ty.as_object().expect("an object").clone();
    let values = names.names().iter().map(|name| {
        let other = changes.iter().find(|(n, _)| *n == &**name);
        match other {
            Some((_, v)) => v.clone(),
            None => object.attribute(name).expect("of its type").clone(),
        }
    });
    let values = values.collect();
    Value::object_of(names, values)
}

/// Everything that is unknown filled in.
fn filled(object: &Value, cloud: &mut Cloud) -> Value {
    cloud.next += 1;
    let number = cloud.next;
    let unknown = |name: &str| object.attribute(name).is_some_and(|v| !v.is_known());
    let mut changes = Vec::new();
    if unknown("id") {
        changes.push(("id", Value::string(format!("id-{number}"))));
    }
    if unknown("serial") {
        changes.push(("serial", Value::int(number)));
    }
    if unknown("size") {
        changes.push(("size", Value::int(number % 7)));
    }
    changes.push(("disk", disks(object, &Value::int(number))));
    with(object, &changes)
}

/// The blocks with their serial, where they have none.
fn disks(object: &Value, serial: &Value) -> Value {
    let block = object.attribute("disk").expect("of its type");
    let Some(items) = block.as_sequence() else {
        return block.clone();
    };
    let fresh = |d: &Value| {
        d.attribute("serial")
            .is_none_or(|s| !s.is_known() || s.is_null())
    };
    let items = items.iter().map(|d| {
        if fresh(d) {
            with(d, &[("serial", serial.clone())])
        } else {
            d.clone()
        }
    });
    let ty = match SCHEMA.ty().as_object().and_then(|o| o.attribute("disk")) {
        Some(Type::List(element)) => (**element).clone(),
        other => panic!("{other:?}"),
    };
    Value::list(ty, items.collect())
}

fn said(what: &str) -> Vec<Reported> {
    vec![Reported::whole(Diagnostic::error("Scripted", what))]
}

/// The provider of one process.
pub struct Things {
    pub cloud: Arc<Mutex<Cloud>>,
    pub watch: Arc<Mutex<Watch>>,
    /// Told when a call hangs.
    pub hung: Arc<Notify>,
    /// Whether everything that it is configured by is known.
    pub known: AtomicBool,
}

impl Things {
    /// A call hangs: the run is interrupted, or the process is going to be killed.
    async fn hang(&self) {
        let (detaches, cancel) = {
            let watch = guard(&self.watch);
            (watch.script.detaches, watch.cancel.clone())
        };
        if detaches {
            cancel.cancel();
        } else {
            self.hung.notify_one();
        }
        std::future::pending::<()>().await;
    }

    fn illegal(&self, what: String) {
        guard(&self.watch).illegal.push(what);
    }

    async fn pause(&self, call: usize) {
        let times = {
            let watch = guard(&self.watch);
            let pauses = &watch.script.pauses;
            pauses.get(call % pauses.len().max(1)).copied().unwrap_or(0)
        };
        for _ in 0..times {
            tokio::task::yield_now().await;
        }
    }

    fn fault(&self, what: String) {
        guard(&self.watch).faults.push(what);
    }

    /// Does what was planned; the object afterwards.
    fn act(&self, request: &ApplyRequest, token: &[u8], lie: bool) -> Value {
        let mut cloud = guard(&self.cloud);
        let before = text(&request.prior, "id");
        let new = if request.planned.is_null() {
            request.planned.clone()
        } else {
            let new = filled(&request.planned, &mut cloud);
            if lie {
                with(&new, &[("note", Value::string("a lie"))])
            } else {
                new
            }
        };
        if let Some(id) = &before {
            cloud.objects.remove(id);
        }
        let after = (!new.is_null()).then(|| new.clone());
        if let Some(object) = &after {
            let id = text(object, "id").expect("an id");
            cloud.objects.insert(id, object.clone());
        }
        cloud
            .effects
            .insert(token.to_vec(), Effect { before, after });
        new
    }
}

#[async_trait::async_trait]
impl Provider for Things {
    async fn get_schema(&self) -> Result<Arc<dyn SchemaSource>, Diagnostics> {
        let region = Attribute::new(Type::String).optional();
        let config = Schema::new(0, Block::of_attributes([("region", region)]));
        Ok(Arc::new(Schemas(Arc::new(config))))
    }

    async fn validate_provider_config(&self, _config: &Value) -> Vec<Reported> {
        Vec::new()
    }

    async fn configure(&self, request: ConfigureRequest) -> Vec<Reported> {
        let known = request.config.is_wholly_known();
        self.known.store(known, Ordering::Relaxed);
        Vec::new()
    }

    async fn validate_resource_config(&self, _request: ValidateRequest) -> Vec<Reported> {
        Vec::new()
    }

    async fn validate_data_config(&self, _request: ValidateRequest) -> Vec<Reported> {
        Vec::new()
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let thought = {
            let mut watch = guard(&self.watch);
            let call = watch.plans;
            watch.plans += 1;
            watch.script.thoughts.get(&call).copied()
        };
        let answer = |planned, requires_replace, reported| PlanResponse {
            planned,
            requires_replace,
            private: Bytes::from([]),
            legacy_type_system: false,
            deferred: None,
            reported,
            identity: None,
        };
        if request.proposed.is_null() {
            return answer(request.proposed, Vec::new(), Vec::new());
        }
        if thought == Some(Thought::Fails) {
            self.fault("plan fails".to_owned());
            return answer(request.proposed, Vec::new(), said("It cannot be planned."));
        }
        let number = Value::unknown(Type::Number);
        let mut changes = vec![("key", Value::null(Type::String))];
        let mut replace = Vec::new();
        let optional = request.config.attribute("size").is_some_and(Value::is_null);
        if request.prior.is_null() {
            changes.push(("id", Value::unknown(Type::String)));
            changes.push(("serial", number.clone()));
            if optional {
                changes.push(("size", number.clone()));
            }
            changes.push(("disk", disks(&request.proposed, &number)));
        } else {
            let differs =
                |name: &str| request.prior.attribute(name) != request.proposed.attribute(name);
            if differs("force") {
                replace.push(Path::default().attribute("force"));
            }
            changes.push(("disk", disks(&request.proposed, &number)));
            let so_far = with(&request.proposed, &changes);
            if so_far != request.prior {
                changes.push(("serial", number));
            }
        }
        if thought == Some(Thought::Lies) {
            self.fault("plan lies".to_owned());
            changes.push(("at", Value::string("nowhere")));
        }
        answer(with(&request.proposed, &changes), replace, Vec::new())
    }

    fn keeps_notes(&self) -> bool {
        true
    }

    async fn apply_resource_change(
        &self,
        request: ApplyRequest,
        log: &dyn OperationLog,
    ) -> ApplyResponse {
        let verb = match (request.prior.is_null(), request.planned.is_null()) {
            (true, _) => Verb::Create,
            (_, true) => Verb::Delete,
            _ => Verb::Update,
        };
        let (call, deed) = {
            let mut watch = guard(&self.watch);
            let call = watch.calls.len();
            let named = if verb == Verb::Delete {
                &request.prior
            } else {
                &request.planned
            };
            let record = Call {
                verb,
                at: text(named, "at").unwrap_or_default(),
                id: text(&request.prior, "id"),
                links: texts(&request.prior, "links"),
                begin: watch.clock,
                round: watch.round,
                end: None,
                done: false,
            };
            watch.clock += 1;
            // some are none for what is done here
            let deed = watch.script.deeds.get(&call).copied().filter(|d| match d {
                Deed::Lies | Deed::LeavesUnknown => verb != Verb::Delete,
                Deed::Contradicts => verb != Verb::Update,
                _ => true,
            });
            if watch.script.interrupt == Some(call) {
                watch.cancel.cancel();
            }
            if let Some(id) = text(&request.prior, "id")
                && verb == Verb::Delete
                && watch.refused.contains(&id)
            {
                watch
                    .illegal
                    .push(format!("{id} was deleted although its provisioner failed"));
            }
            if let Some(deed) = deed {
                watch
                    .faults
                    .push(format!("call {call} ({verb:?} {}) {deed:?}", record.at));
            }
            watch.calls.push(record);
            (call, deed)
        };
        let end = |done: bool| {
            let mut watch = guard(&self.watch);
            let now = watch.clock;
            watch.clock += 1;
            watch.calls[call].end = Some(now);
            watch.calls[call].done = done;
        };
        let answer = |new: Value, unknown: bool, reported: Vec<Reported>| {
            end(reported.is_empty() && !unknown);
            ApplyResponse {
                new,
                private: Bytes::from([]),
                legacy_type_system: false,
                outcome_unknown: unknown,
                reported,
                identity: None,
            }
        };
        // what it is configured by may not exist any more when all is destroyed
        if verb != Verb::Delete && !self.known.load(Ordering::Relaxed) {
            self.illegal(format!(
                "call {call} by a provider that is not configured yet"
            ));
        }
        if !request.config.is_wholly_known() {
            self.illegal(format!(
                "call {call} with a configuration that is not known"
            ));
        }
        self.pause(call).await;
        let prior = request.prior.clone();
        let null = Value::null(prior.type_of());
        match deed {
            Some(Deed::Fails) => return answer(prior, false, said("It failed.")),
            Some(Deed::FailsWithNothing) => return answer(null, false, said("It failed.")),
            _ => {}
        }
        let token = {
            let mut cloud = guard(&self.cloud);
            cloud.next += 1;
            format!("op-{}", cloud.next).into_bytes()
        };
        if let Err(e) = log.note(token.clone()).await {
            return answer(
                prior,
                false,
                vec![Reported::whole(Diagnostic::error("No note", e.reason))],
            );
        }
        self.pause(call + 1).await;
        match deed {
            Some(Deed::PanicsBefore) => std::panic::resume_unwind(Box::new("scripted")),
            Some(Deed::DiesBefore) => return answer(null, true, said("The provider died.")),
            Some(Deed::HangsBefore) => {
                self.hang().await;
            }
            _ => {}
        }
        let lie = deed == Some(Deed::Lies);
        let new = match deed {
            Some(Deed::Contradicts) if verb == Verb::Delete => {
                return answer(prior, false, Vec::new());
            }
            Some(Deed::Contradicts) if verb == Verb::Create => {
                return answer(null, false, Vec::new());
            }
            _ => self.act(&request, &token, lie),
        };
        self.pause(call + 2).await;
        match deed {
            Some(Deed::PanicsAfter) => std::panic::resume_unwind(Box::new("scripted")),
            Some(Deed::DiesAfter) => answer(null, true, said("The provider died.")),
            Some(Deed::HangsAfter) => {
                self.hang().await;
                answer(null, true, Vec::new())
            }
            Some(Deed::FailsAfter) => {
                if let (Verb::Delete, Some(id)) = (verb, text(&prior, "id")) {
                    guard(&self.cloud).gone.insert(id);
                }
                answer(new, false, said("It failed in the end."))
            }
            Some(Deed::LeavesUnknown) => {
                let id = text(&new, "id").expect("an id");
                guard(&self.cloud).drifted.insert(id);
                let new = with(&new, &[("serial", Value::unknown(Type::Number))]);
                answer(new, false, Vec::new())
            }
            _ => answer(new, false, Vec::new()),
        }
    }

    async fn settle_operation(&self, operation: PendingOperation) -> Settlement {
        let cloud = guard(&self.cloud);
        if cloud.silent {
            return Settlement::Unknown {
                reason: "the service does not say".to_owned(),
            };
        }
        match operation.notes.last().and_then(|n| cloud.effects.get(&**n)) {
            None => Settlement::NotDone,
            Some(effect) => {
                // what became of the object since is no matter of the operation, but it is what exists
                let now = effect.after.as_ref().and_then(|o| text(o, "id"));
                let now = now.and_then(|id| cloud.objects.get(&id));
                Settlement::Done {
                    object: now.cloned().unwrap_or_else(|| Value::null(SCHEMA.ty())),
                    private: Arc::from([]),
                    reported: Vec::new(),
                }
            }
        }
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        let fails = {
            let mut watch = guard(&self.watch);
            let call = watch.reads;
            watch.reads += 1;
            watch.script.reads.contains(&call)
        };
        let mut reported = Vec::new();
        if fails {
            self.fault("read fails".to_owned());
            reported = said("It cannot be read.");
        }
        let id = text(&request.current, "id");
        let there = id.and_then(|id| guard(&self.cloud).objects.get(&id).cloned());
        ReadResponse {
            new: there.unwrap_or_else(|| Value::null(request.current.type_of())),
            private: request.private,
            deferred: None,
            reported,
            identity: None,
        }
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        let of = text(&request.config, "of");
        let there = of.and_then(|id| guard(&self.cloud).objects.get(&id).cloned());
        // what cannot change in place: else it would be one thing before an apply and another after
        let found = there.map(|o| format!("{:?}", o.attribute("force")));
        let found = found.unwrap_or_else(|| "nothing".to_owned());
        ReadDataResponse {
            state: with(&request.config, &[("found", Value::string(found))]),
            deferred: None,
            reported: Vec::new(),
        }
    }

    async fn validate_ephemeral_config(&self, _request: ValidateRequest) -> Vec<Reported> {
        Vec::new()
    }

    async fn open_ephemeral_resource(&self, request: OpenRequest) -> OpenResponse {
        let key = {
            let mut cloud = guard(&self.cloud);
            cloud.next += 1;
            format!("{SECRET}{}", cloud.next)
        };
        if !request.config.is_wholly_known() {
            self.illegal("a key is opened for nobody knows what".to_owned());
        }
        guard(&self.watch).open.insert(key.clone());
        OpenResponse {
            result: with(&request.config, &[("key", Value::string(&key))]),
            private: Bytes::from(key.as_bytes()),
            renew_at: None,
            reported: Vec::new(),
        }
    }

    async fn close_ephemeral_resource(&self, _kind: &str, private: Bytes) -> Vec<Reported> {
        let key = String::from_utf8_lossy(&private).into_owned();
        if !guard(&self.watch).open.remove(&key) {
            self.illegal(format!("{key} is closed, which is not open"));
        }
        Vec::new()
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> UpgradeResponse {
        let ty = if request.kind == THING {
            SCHEMA.ty()
        } else {
            LOOKS.ty()
        };
        let upgraded = match &request.state {
            RawState::Json(bytes) => value_from_json(bytes, &ty).map_err(|e| e.to_string()),
            RawState::Flatmap(_) => Err("no flat maps".to_owned()),
        };
        match upgraded {
            Ok(upgraded) => UpgradeResponse {
                upgraded,
                reported: Vec::new(),
            },
            Err(e) => UpgradeResponse {
                upgraded: Value::null(ty),
                reported: said(&e),
            },
        }
    }

    async fn import_resource_state(
        &self,
        request: ImportRequest,
    ) -> Result<Vec<ImportedObject>, Vec<Reported>> {
        let there = guard(&self.cloud).objects.get(&request.id).cloned();
        let state = there.ok_or_else(|| said("There is no such thing."))?;
        Ok(vec![ImportedObject {
            kind: request.kind,
            state,
            private: Bytes::from([]),
            identity: None,
        }])
    }

    async fn call_function(&self, request: CallFunctionRequest) -> Result<Value, FunctionFailure> {
        Err(FunctionFailure {
            text: format!("There is no function {}.", request.name),
            argument: None,
        })
    }
}

pub struct Factory {
    pub cloud: Arc<Mutex<Cloud>>,
    pub watch: Arc<Mutex<Watch>>,
    pub hung: Arc<Notify>,
}

#[async_trait::async_trait]
impl ProviderFactory for Factory {
    async fn launch(&self, provider: &ProviderAddr) -> Result<Arc<dyn Provider>, Diagnostics> {
        if &*provider.kind == "world" {
            return Ok(Arc::new(Things {
                cloud: self.cloud.clone(),
                watch: self.watch.clone(),
                hung: self.hung.clone(),
                known: AtomicBool::new(true),
            }));
        }
        Err(Diagnostic::error("Provider not available", provider.to_string()).into())
    }

    fn provisioner(&self, _kind: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        Ok(Arc::new(Finisher {
            cloud: self.cloud.clone(),
            watch: self.watch.clone(),
        }))
    }
}

/// A provisioner that looks whether its object exists, and fails as the script says.
struct Finisher {
    cloud: Arc<Mutex<Cloud>>,
    watch: Arc<Mutex<Watch>>,
}

#[async_trait::async_trait]
impl Provisioner for Finisher {
    fn schema(&self) -> Arc<Block> {
        Arc::new(Block::of_attributes([
            ("of", Attribute::new(Type::String).required()),
            ("easy", Attribute::new(Type::Bool).optional()),
            ("gone", Attribute::new(Type::Bool).optional()),
        ]))
    }

    fn validate(&self, _config: &Value) -> Vec<Reported> {
        Vec::new()
    }

    async fn provision(
        &self,
        request: ProvisionRequest,
        _lines: &dyn LineSink,
        _stop: Stop<'_>,
    ) -> Result<(), Vec<Reported>> {
        let is = |name: &str| request.config.attribute(name).is_some_and(|v| !v.is_null());
        let id = text(&request.config, "of").unwrap_or_default();
        let mut cloud = guard(&self.cloud);
        let mut watch = guard(&self.watch);
        let there = cloud.objects.contains_key(&id) || cloud.gone.contains(&id);
        if !there {
            watch
                .illegal
                .push(format!("{id} is provisioned, which does not exist"));
        }
        let number = watch.provisions;
        watch.provisions += 1;
        if !watch.script.provisions.contains(&number) {
            return Ok(());
        }
        if is("gone") {
            watch.refused.insert(id);
            watch.faults.push("destroy provisioner fails".to_owned());
        } else if !is("easy") {
            cloud.unfinished.insert(id);
            watch.faults.push("provisioner fails".to_owned());
        }
        Err(said("It cannot be finished."))
    }
}
