//! A provider whose objects lie in regions, in a world that the test looks into: what one region's
//! configuration made, another's does not find.
//!
//! Where it may, it puts off what it cannot do yet: everything while its region is not known, a thing
//! named `needs-X` until there is one named `X`, and data sources while there is nothing at all. A thing
//! named `rude` is put off whether that is allowed or not. With the token `strict` it does not let itself
//! be configured by a region that is not known.

use crate::surroundings::{as_written, no_functions};
use formwork_addresses::ProviderAddr;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_provider::{
    ApplyRequest, ApplyResponse, Bytes, CallFunctionRequest, ConfigureRequest, DeferredReason,
    FunctionFailure, ImportRequest, ImportedObject, OpenRequest, OpenResponse, OperationLog,
    PendingOperation, PlanRequest, PlanResponse, Provider, ProviderFactory, ReadDataRequest,
    ReadDataResponse, ReadRequest, ReadResponse, RenewResponse, Reported, Settlement,
    UpgradeRequest, UpgradeResponse, ValidateRequest,
};
use formwork_provider_schema::{Attribute, Block, Schema, SchemaSource};
use formwork_values::{Path, Type, Value};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub struct Schemas {
    config: Arc<Schema>,
    thing: Arc<Schema>,
    region: Arc<Schema>,
    token: Arc<Schema>,
}

impl Schemas {
    fn new() -> Self {
        let string = || Attribute::new(Type::String);
        let schema = |attributes: Vec<(&str, Attribute)>| {
            Arc::new(Schema::new(0, Block::of_attributes(attributes)))
        };
        Self {
            config: schema(vec![
                ("region", string().optional()),
                ("token", string().optional()),
            ]),
            thing: schema(vec![
                ("id", string().computed()),
                ("name", string().optional()),
                ("region", string().computed()),
                ("secret_wo", string().optional().write_only()),
            ]),
            token: schema(vec![
                ("name", string().optional()),
                ("token", string().computed()),
            ]),
            region: schema(vec![("region", string().computed())]),
        }
    }
}

impl SchemaSource for Schemas {
    fn provider_config(&self) -> Arc<Schema> {
        self.config.clone()
    }

    fn resource(&self, name: &str) -> Option<Arc<Schema>> {
        (name == "place_thing").then(|| self.thing.clone())
    }

    fn data_source(&self, name: &str) -> Option<Arc<Schema>> {
        (name == "place_region").then(|| self.region.clone())
    }

    fn ephemeral_resource(&self, name: &str) -> Option<Arc<Schema>> {
        (name == "place_token").then(|| self.token.clone())
    }

    fn ephemeral_resource_names(&self) -> Vec<Arc<str>> {
        vec![Arc::from("place_token")]
    }

    fn resource_names(&self) -> Vec<Arc<str>> {
        vec![Arc::from("place_thing")]
    }

    fn data_source_names(&self) -> Vec<Arc<str>> {
        vec![Arc::from("place_region")]
    }
}

/// What there is, and what was done.
#[derive(Default)]
pub struct World {
    /// Names by region and id.
    pub things: BTreeMap<(String, String), String>,
    made: usize,
    /// What was done with ephemeral things: opened, renewed, closed, used.
    pub told: Vec<String>,
    opened: usize,
    /// Names of things that were read.
    pub read: Vec<String>,
}

/// Makes the provider, over one world.
#[derive(Clone, Default)]
pub struct Places(pub Arc<Mutex<World>>);

impl Places {
    /// Each thing as `region: name`, sorted.
    pub fn things(&self) -> Vec<String> {
        let world = self.world();
        let told = |((region, _), name): (&(String, String), &String)| format!("{region}: {name}");
        let mut things: Vec<String> = world.things.iter().map(told).collect();
        things.sort();
        things
    }

    /// What was done with ephemeral things since last asked.
    pub fn told(&self) -> Vec<String> {
        std::mem::take(&mut self.world().told)
    }

    /// Names of the things that were read since last asked, sorted.
    pub fn read(&self) -> Vec<String> {
        let mut read = std::mem::take(&mut self.world().read);
        read.sort();
        read
    }

    fn world(&self) -> std::sync::MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait::async_trait]
impl ProviderFactory for Places {
    async fn launch(&self, provider: &ProviderAddr) -> Result<Arc<dyn Provider>, Diagnostics> {
        if &*provider.kind != "place" {
            return Err(Diagnostic::error("Provider not available", provider.to_string()).into());
        }
        Ok(Arc::new(Place {
            schemas: Arc::new(Schemas::new()),
            places: self.clone(),
            region: Mutex::default(),
            puts_off: AtomicBool::new(false),
            waiting: AtomicBool::new(false),
        }))
    }
}

struct Place {
    schemas: Arc<Schemas>,
    places: Places,
    region: Mutex<String>,
    /// Whether it may put things off.
    puts_off: AtomicBool,
    /// Whether its region is not known yet.
    waiting: AtomicBool,
}

fn text(object: &Value, name: &str) -> String {
    let path = Path::ROOT.attribute(name);
    let value = object.at(&path).ok();
    value
        .and_then(|v| v.as_str().map(str::to_owned))
        .unwrap_or_default()
}

impl Place {
    fn region(&self) -> String {
        self.region
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Why it cannot make a thing of this name yet.
    fn put_off(&self, name: &str) -> Option<DeferredReason> {
        if name == "rude" {
            return Some(DeferredReason::ResourceConfigUnknown);
        }
        if !self.puts_off.load(Ordering::Relaxed) {
            return None;
        }
        if self.waiting.load(Ordering::Relaxed) {
            return Some(DeferredReason::ProviderConfigUnknown);
        }
        let needed = name.strip_prefix("needs-")?;
        let there = self.places.world().things.values().any(|n| n == needed);
        (!there).then_some(DeferredReason::AbsentPrerequisite)
    }

    fn thing(&self, id: Value, name: &Value, region: Value) -> Value {
        Value::object([
            (Arc::from("id"), id),
            (Arc::from("name"), name.clone()),
            (Arc::from("region"), region),
            (Arc::from("secret_wo"), Value::null(Type::String)),
        ])
    }
}

fn attribute(object: &Value, name: &str) -> Value {
    object
        .at(&Path::ROOT.attribute(name))
        .unwrap_or_else(|_| Value::null(Type::String))
}

#[async_trait::async_trait]
impl Provider for Place {
    async fn get_schema(&self) -> Result<Arc<dyn SchemaSource>, Diagnostics> {
        Ok(self.schemas.clone())
    }

    async fn validate_provider_config(&self, _config: &Value) -> Vec<Reported> {
        Vec::new()
    }

    async fn configure(&self, request: ConfigureRequest) -> Vec<Reported> {
        let token = text(&request.config, "token");
        let unknown = !request.config.is_wholly_known();
        self.waiting.store(unknown, Ordering::Relaxed);
        self.puts_off
            .store(request.deferral_allowed, Ordering::Relaxed);
        if token == "strict" && unknown {
            let d = Diagnostic::error("No region", "Nothing works without a region.");
            return vec![Reported::whole(d)];
        }
        if !token.is_empty() {
            self.places
                .world()
                .told
                .push(format!("configured with {token}"));
        }
        *self.region.lock().unwrap_or_else(PoisonError::into_inner) =
            text(&request.config, "region");
        Vec::new()
    }

    async fn validate_resource_config(&self, _request: ValidateRequest) -> Vec<Reported> {
        Vec::new()
    }

    async fn validate_data_config(&self, _request: ValidateRequest) -> Vec<Reported> {
        Vec::new()
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let planned = if request.proposed.is_null() {
            request.proposed
        } else if request.prior.is_null() {
            let name = attribute(&request.proposed, "name");
            let unknown = || Value::unknown(Type::String);
            self.thing(unknown(), &name, unknown())
        } else {
            let part = |name| attribute(&request.proposed, name);
            self.thing(part("id"), &part("name"), part("region"))
        };
        let deferred = match planned.is_null() {
            true => None,
            false => self.put_off(&text(&planned, "name")),
        };
        PlanResponse {
            planned,
            requires_replace: Vec::new(),
            private: Bytes::from([]),
            legacy_type_system: false,
            deferred,
            reported: Vec::new(),
            identity: None,
        }
    }

    async fn apply_resource_change(
        &self,
        request: ApplyRequest,
        _log: &dyn OperationLog,
    ) -> ApplyResponse {
        let region = self.region();
        let mut world = self.places.world();
        let mut reported = Vec::new();
        let new = if request.planned.is_null() {
            let id = text(&request.prior, "id");
            if world.things.remove(&(region.clone(), id)).is_none() {
                let d = Diagnostic::error("No such thing", format!("Not in {region}."));
                reported.push(Reported::whole(d));
            }
            request.planned
        } else {
            let name = attribute(&request.planned, "name");
            let id = if request.prior.is_null() {
                world.made += 1;
                format!("t{}", world.made)
            } else {
                text(&request.prior, "id")
            };
            let told = name.as_str().unwrap_or_default().to_owned();
            let secret = text(&request.config, "secret_wo");
            if !secret.is_empty() {
                world.told.push(format!("made {told} with {secret}"));
            }
            world.things.insert((region.clone(), id.clone()), told);
            self.thing(Value::string(id), &name, Value::string(region))
        };
        ApplyResponse {
            new,
            private: Bytes::from([]),
            legacy_type_system: false,
            outcome_unknown: false,
            reported,
            identity: None,
        }
    }

    async fn settle_operation(&self, _operation: PendingOperation) -> Settlement {
        Settlement::Unknown {
            reason: "nobody asked".to_owned(),
        }
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        let key = (self.region(), text(&request.current, "id"));
        let there = {
            let mut world = self.places.world();
            world.read.push(text(&request.current, "name"));
            world.things.contains_key(&key)
        };
        let new = if there {
            request.current
        } else {
            Value::null(self.schemas.thing.ty())
        };
        ReadResponse {
            new,
            private: request.private,
            deferred: None,
            reported: Vec::new(),
            identity: None,
        }
    }

    async fn read_data_source(&self, _request: ReadDataRequest) -> ReadDataResponse {
        let nothing = self.places.world().things.is_empty();
        let put_off = nothing && self.puts_off.load(Ordering::Relaxed);
        ReadDataResponse {
            state: Value::object([(Arc::from("region"), Value::string(self.region()))]),
            deferred: put_off.then_some(DeferredReason::AbsentPrerequisite),
            reported: Vec::new(),
        }
    }

    async fn open_ephemeral_resource(&self, request: OpenRequest) -> OpenResponse {
        let name = text(&request.config, "name");
        let mut world = self.places.world();
        world.opened += 1;
        let token = format!("token-{}", world.opened);
        world.told.push(format!("opened {name} as {token}"));
        OpenResponse {
            result: Value::object([
                (Arc::from("name"), attribute(&request.config, "name")),
                (Arc::from("token"), Value::string(&token)),
            ]),
            private: Bytes::from(token.as_bytes()),
            // one that is due at once
            renew_at: (name == "short").then_some(std::time::UNIX_EPOCH),
            reported: Vec::new(),
        }
    }

    async fn renew_ephemeral_resource(&self, _kind: &str, private: Bytes) -> RenewResponse {
        let token = String::from_utf8_lossy(&private).into_owned();
        self.places.world().told.push(format!("renewed {token}"));
        RenewResponse {
            private,
            renew_at: None,
            reported: Vec::new(),
        }
    }

    async fn close_ephemeral_resource(&self, _kind: &str, private: Bytes) -> Vec<Reported> {
        let token = String::from_utf8_lossy(&private).into_owned();
        self.places.world().told.push(format!("closed {token}"));
        Vec::new()
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> UpgradeResponse {
        let ty = self.schemas.thing.ty();
        as_written(&request, &ty)
    }

    async fn import_resource_state(
        &self,
        _request: ImportRequest,
    ) -> Result<Vec<ImportedObject>, Vec<Reported>> {
        Ok(Vec::new())
    }

    async fn call_function(&self, _request: CallFunctionRequest) -> Result<Value, FunctionFailure> {
        Err(no_functions())
    }
}
