//! The provider as the engine sees it.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use formwork_diagnostics::{Diagnostic, Diagnostics, nearest};
use formwork_environment::Environment;
use formwork_google_schema::Resource;
use formwork_provider::{
    ApplyRequest, ApplyResponse, Bytes, CallFunctionRequest, ConfigureRequest, DeferredReason,
    FunctionFailure, ImportRequest, ImportedObject, OperationLog, PendingOperation, PlanRequest,
    PlanResponse, Provider, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, Reported,
    Settlement, UpgradeRequest, UpgradeResponse, ValidateRequest,
};
use formwork_provider_schema::SchemaSource;
use formwork_values::{Path, Type, Value};

use crate::World;
use crate::cloud::Cloud;
use crate::data;
use crate::draft::Draft;
use crate::engine::Subject;
use crate::engine::apply::private;
use crate::engine::read::{Item, read_many};
use crate::engine::settle::settle;
use crate::failure::Failure;
use crate::hooks::{SUPPORTED, hooks};
use crate::import;
use crate::plan::Plan;
use crate::settings;
use crate::source::Source;
use crate::validate;

/// The native provider for hashicorp/google and hashicorp/google-beta.
pub struct GoogleProvider {
    environment: Environment,
    world: World,
    version: String,
    state: RwLock<State>,
}

#[derive(Clone)]
enum State {
    /// Not configured.
    New,
    /// Configured with values that are not known yet: it can plan nothing that reads. Whether it may
    /// say so instead of planning.
    Waiting {
        defers: bool,
    },
    Ready(Arc<Cloud>),
}

impl GoogleProvider {
    /// A provider for a world. `version` is the release that it stands for: see
    /// [`best_version`](crate::best_version).
    pub fn new(environment: Environment, world: World, version: &str) -> Self {
        Self {
            environment,
            world,
            version: version.to_owned(),
            state: RwLock::new(State::New),
        }
    }

    fn state(&self) -> State {
        self.state
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

fn unknown_type(kind: &str) -> Reported {
    let names = formwork_google_schema::resource_names();
    let hint = nearest(kind, names.iter().map(|n| &**n))
        .map(|n| format!(" Did you mean {n}?"))
        .unwrap_or_default();
    Reported::whole(Diagnostic::error(
        "Unsupported by the provider",
        format!("This provider does not know the type {kind}.{hint}"),
    ))
}

/// A type that has data and is run.
fn supported(kind: &str) -> Result<Arc<Resource>, Box<Reported>> {
    let resource =
        formwork_google_schema::resource(kind).ok_or_else(|| Box::new(unknown_type(kind)))?;
    if SUPPORTED.binary_search(&kind).is_err() {
        return Err(Box::new(Reported::whole(Diagnostic::error(
            "Unsupported by the provider",
            format!(
                "This provider knows what a {kind} looks like, but cannot create, change or read one yet. What is supported grows with each release."
            ),
        ))));
    }
    Ok(resource)
}

/// Plans an object where the provider's own configuration is not known yet: what comes of that (place
/// and labels) is left open, the rest is as always.
fn plan_waiting(resource: &Resource, request: &PlanRequest) -> PlanResponse {
    let settings = settings::unknown();
    let prior = (!request.prior.is_null()).then_some(&request.prior);
    let mut plan = Plan::new(resource, &settings, &request.config, prior);
    hooks(&request.kind).plan(&mut plan);
    let open = [
        "project",
        "region",
        "zone",
        "location",
        "effective_labels",
        "terraform_labels",
    ];
    // The provider block may still say where it belongs.
    plan.reported.retain(|r| {
        !open
            .iter()
            .any(|name| r.path == Path::ROOT.attribute(*name))
    });
    for name in open {
        if plan.configured(name).is_none()
            && plan.before(name).is_none_or(Value::is_null)
            && let Some(attribute) = resource.schema.block.attribute(name)
            && attribute.computed
        {
            plan.planned
                .set(name, Value::unknown(attribute.ty().clone()));
        }
    }
    let planned = plan.planned.into_value();
    PlanResponse {
        private: private(resource, &planned),
        planned,
        requires_replace: plan.replace,
        legacy_type_system: true,
        deferred: None,
        reported: plan.reported,
        identity: None,
    }
}

fn not_configured() -> Reported {
    Reported::whole(Diagnostic::error(
        "Provider not configured",
        "The Google provider was asked to work before it was configured. This is a fault of Formwork; please report it.",
    ))
}

#[async_trait]
impl Provider for GoogleProvider {
    async fn get_schema(&self) -> Result<Arc<dyn SchemaSource>, Diagnostics> {
        Ok(Arc::new(Source))
    }

    fn version(&self) -> String {
        self.version.clone()
    }

    async fn validate_provider_config(&self, config: &Value) -> Vec<Reported> {
        settings::validate(config)
    }

    async fn configure(&self, request: ConfigureRequest) -> Vec<Reported> {
        let reported = settings::validate(&request.config);
        if reported.iter().any(Reported::is_error) {
            return reported;
        }
        let state = if request.config.is_wholly_known() {
            match settings::settle(
                &request.config,
                &self.environment,
                &self.world,
                &self.version,
                &request.terraform_version,
            ) {
                Ok((settings, client)) => {
                    // Asked for now, so that a run without credentials ends before it begins.
                    if let Err(e) = client.config().credentials.access_token().await {
                        return vec![settings::denied(&e)];
                    }
                    State::Ready(Arc::new(Cloud::new(
                        client,
                        settings,
                        self.environment.clone(),
                    )))
                }
                Err(reported) => return reported,
            }
        } else {
            State::Waiting {
                defers: request.deferral_allowed,
            }
        };
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = state;
        reported
    }

    async fn validate_resource_config(&self, request: ValidateRequest) -> Vec<Reported> {
        match formwork_google_schema::resource(&request.kind) {
            Some(resource) => validate::resource(&resource, &request.config),
            None => vec![unknown_type(&request.kind)],
        }
    }

    async fn validate_data_config(&self, request: ValidateRequest) -> Vec<Reported> {
        if formwork_google_schema::data_source(&request.kind).is_some() {
            return Vec::new();
        }
        vec![unknown_type(&request.kind)]
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let answer = |planned: Value, reported: Vec<Reported>| PlanResponse {
            planned,
            requires_replace: Vec::new(),
            private: request.prior_private.clone(),
            legacy_type_system: true,
            deferred: None,
            reported,
            identity: None,
        };
        if request.proposed.is_null() {
            return answer(request.proposed.clone(), Vec::new());
        }
        let resource = match supported(&request.kind) {
            Ok(resource) => resource,
            Err(reported) => return answer(request.proposed.clone(), vec![*reported]),
        };
        let cloud = match self.state() {
            State::Ready(cloud) => cloud,
            State::Waiting { defers } => {
                let mut answer = plan_waiting(&resource, &request);
                answer.deferred = defers.then_some(DeferredReason::ProviderConfigUnknown);
                return answer;
            }
            State::New => return answer(request.proposed.clone(), vec![not_configured()]),
        };
        let prior = (!request.prior.is_null()).then_some(&request.prior);
        let mut plan = Plan::new(&resource, &cloud.settings, &request.config, prior);
        hooks(&request.kind).plan(&mut plan);
        let planned = plan.planned.into_value();
        // Kept as it is where nothing changes: the state is then written back byte for byte.
        let private = if prior == Some(&planned) {
            request.prior_private
        } else {
            private(&resource, &planned)
        };
        PlanResponse {
            planned,
            requires_replace: plan.replace,
            private,
            legacy_type_system: true,
            deferred: None,
            reported: plan.reported,
            identity: None,
        }
    }

    fn keeps_notes(&self) -> bool {
        true
    }

    async fn apply_resource_change(
        &self,
        request: ApplyRequest,
        log: &dyn OperationLog,
    ) -> ApplyResponse {
        let keep = |reported: Vec<Reported>| ApplyResponse {
            new: request.prior.clone(),
            private: request.planned_private.clone(),
            legacy_type_system: true,
            outcome_unknown: false,
            reported,
            identity: None,
        };
        let resource = match supported(&request.kind) {
            Ok(resource) => resource,
            Err(reported) => return keep(vec![*reported]),
        };
        let State::Ready(cloud) = self.state() else {
            return keep(vec![not_configured()]);
        };
        let left = match (request.prior.is_null(), request.planned.is_null()) {
            (true, true) => return keep(Vec::new()),
            (_, true) => {
                let subject = Subject {
                    cloud: &cloud,
                    resource: &resource,
                    object: &request.prior,
                };
                subject.delete(log).await
            }
            (true, false) => {
                let planned = configured(&resource, &request);
                let subject = Subject {
                    cloud: &cloud,
                    resource: &resource,
                    object: &planned,
                };
                subject.create(log).await
            }
            (false, false) => {
                let planned = configured(&resource, &request);
                let subject = Subject {
                    cloud: &cloud,
                    resource: &resource,
                    object: &planned,
                };
                subject.update(&request.prior, log).await
            }
        };
        ApplyResponse {
            new: left.object,
            private: request.planned_private,
            legacy_type_system: true,
            outcome_unknown: left.unknown,
            reported: left.reported,
            identity: None,
        }
    }

    async fn settle_operation(&self, operation: PendingOperation) -> Settlement {
        let resource = match supported(&operation.kind) {
            Ok(resource) => resource,
            Err(reported) => {
                return Settlement::Unknown {
                    reason: reported.diagnostic.detail,
                };
            }
        };
        let State::Ready(cloud) = self.state() else {
            return Settlement::Unknown {
                reason: "The Google provider is not configured, so Google cannot be asked.".into(),
            };
        };
        settle(&cloud, &resource, &operation).await
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        let null = Value::null(request.current.type_of());
        let mut answers = self.read_resources(vec![request]).await;
        answers.pop().unwrap_or_else(|| ReadResponse {
            new: null,
            private: Bytes::from([]),
            deferred: None,
            reported: vec![not_configured()],
            identity: None,
        })
    }

    async fn read_resources(&self, requests: Vec<ReadRequest>) -> Vec<ReadResponse> {
        let state = self.state();
        let answer = |request: &ReadRequest, new: Value, reported: Vec<Reported>| ReadResponse {
            new,
            private: request.private.clone(),
            deferred: None,
            reported,
            identity: None,
        };
        let State::Ready(cloud) = state else {
            return requests
                .iter()
                .map(|request| {
                    let mut response = answer(request, request.current.clone(), Vec::new());
                    match state {
                        State::Waiting { .. } => {
                            response.deferred = Some(DeferredReason::ProviderConfigUnknown)
                        }
                        _ => response.reported.push(not_configured()),
                    }
                    response
                })
                .collect();
        };
        let types: Vec<Result<Arc<Resource>, Box<Reported>>> =
            requests.iter().map(|r| supported(&r.kind)).collect();
        let mut items = Vec::new();
        let mut places = Vec::new();
        for (at, (request, resource)) in requests.iter().zip(&types).enumerate() {
            if let Ok(resource) = resource {
                items.push(Item {
                    resource,
                    object: &request.current,
                });
                places.push(at);
            }
        }
        let mut read: Vec<Option<_>> = Vec::new();
        read.resize_with(requests.len(), || None);
        for (at, json) in places.into_iter().zip(read_many(&cloud, &items).await) {
            if let Some(slot) = read.get_mut(at) {
                *slot = Some(json);
            }
        }
        requests
            .iter()
            .zip(&types)
            .zip(read)
            .map(|((request, resource), json)| match (resource, json) {
                (Ok(resource), Some(json)) => {
                    let subject = Subject {
                        cloud: &cloud,
                        resource,
                        object: &request.current,
                    };
                    match json {
                        Ok(Some(json)) => {
                            answer(request, subject.state(json, &request.current), Vec::new())
                        }
                        Ok(None) => answer(request, Value::null(resource.schema.ty()), Vec::new()),
                        Err(e) => {
                            let failure = Failure::from(e).report("Reading", &subject.title());
                            answer(request, request.current.clone(), vec![failure])
                        }
                    }
                }
                (Err(reported), _) => {
                    answer(request, request.current.clone(), vec![(**reported).clone()])
                }
                (Ok(_), None) => answer(request, request.current.clone(), vec![not_configured()]),
            })
            .collect()
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        let answer = |state: Value, reported: Vec<Reported>| ReadDataResponse {
            state,
            deferred: None,
            reported,
        };
        let Some(source) = formwork_google_schema::data_source(&request.kind) else {
            return answer(request.config, vec![unknown_type(&request.kind)]);
        };
        let cloud = match self.state() {
            State::Ready(cloud) => cloud,
            State::Waiting { .. } => {
                return ReadDataResponse {
                    state: request.config,
                    deferred: Some(DeferredReason::ProviderConfigUnknown),
                    reported: Vec::new(),
                };
            }
            State::New => return answer(request.config, vec![not_configured()]),
        };
        match data::read(&cloud, &source, &request.config).await {
            Ok(state) => answer(state, Vec::new()),
            Err(failure) => answer(
                request.config,
                vec![failure.report("Reading", &format!("data source {}", source.name))],
            ),
        }
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> UpgradeResponse {
        match formwork_google_schema::resource(&request.kind) {
            Some(resource) => import::upgrade(&resource, &request),
            None => UpgradeResponse {
                upgraded: Value::null(Type::Dynamic),
                reported: vec![unknown_type(&request.kind)],
            },
        }
    }

    async fn import_resource_state(
        &self,
        request: ImportRequest,
    ) -> Result<Vec<ImportedObject>, Vec<Reported>> {
        let resource = supported(&request.kind).map_err(|r| vec![*r])?;
        let State::Ready(cloud) = self.state() else {
            return Err(vec![not_configured()]);
        };
        import::import(&resource, &cloud.settings, &request.id)
            .map(|object| vec![object])
            .map_err(|r| vec![*r])
    }

    async fn call_function(&self, request: CallFunctionRequest) -> Result<Value, FunctionFailure> {
        Err(FunctionFailure {
            text: format!(
                "The Google provider has no function \"{}\" yet.",
                request.name
            ),
            argument: None,
        })
    }
}

/// The planned object, with write-only values as the configuration has them.
fn configured(resource: &Resource, request: &ApplyRequest) -> Value {
    if !resource.fields.iter().any(|node| node.write_only) {
        return request.planned.clone();
    }
    let mut draft = Draft::of(resource, &request.planned);
    for node in resource.fields.iter().filter(|node| node.write_only) {
        if let Some(value) = request.config.attribute(&node.name) {
            draft.set(&node.name, value.clone());
        }
    }
    draft.into_value()
}
