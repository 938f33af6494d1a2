//! The provider behind the trait: it asks the module of the type concerned.

use crate::{data, functions, remote_state};
use async_trait::async_trait;
use formwork_diagnostics::Diagnostics;
use formwork_environment::Environment;
use formwork_provider::{
    ApplyRequest, ApplyResponse, CallFunctionRequest, ConfigureRequest, FunctionFailure,
    ImportRequest, ImportedObject, MoveRequest, MoveResponse, OperationLog, PendingOperation,
    PlanRequest, PlanResponse, Provider, ReadDataRequest, ReadDataResponse, ReadRequest,
    ReadResponse, Reported, Settlement, UpgradeRequest, UpgradeResponse, ValidateRequest,
    unsupported,
};
use formwork_provider_schema::{Capabilities, ProviderSchema, SchemaSource};
use formwork_state::StateReader;
use formwork_values::{Type, Value};
use std::sync::Arc;

/// The provider `terraform.io/builtin/terraform`.
pub struct BuiltinProvider {
    environment: Environment,
    states: Arc<dyn StateReader>,
    schema: Arc<ProviderSchema>,
    data: Type,
}

impl BuiltinProvider {
    /// Ids come from the environment, the states of other configurations from `states`.
    pub fn new(environment: Environment, states: Arc<dyn StateReader>) -> Self {
        let data = data::schema();
        let ty = data.ty();
        let mut schema = ProviderSchema {
            capabilities: Capabilities {
                move_resource_state: true,
                ..Capabilities::default()
            },
            ..ProviderSchema::default()
        };
        schema.resources.insert(data::KIND.into(), Arc::new(data));
        schema
            .data_sources
            .insert(remote_state::KIND.into(), Arc::new(remote_state::schema()));
        for (name, signature) in functions::signatures() {
            schema.functions.insert(name.into(), Arc::new(signature));
        }
        Self {
            environment,
            states,
            schema: Arc::new(schema),
            data: ty,
        }
    }
}

#[async_trait]
impl Provider for BuiltinProvider {
    async fn get_schema(&self) -> Result<Arc<dyn SchemaSource>, Diagnostics> {
        Ok(self.schema.clone())
    }

    async fn validate_provider_config(&self, _config: &Value) -> Vec<Reported> {
        Vec::new()
    }

    async fn configure(&self, _request: ConfigureRequest) -> Vec<Reported> {
        Vec::new()
    }

    async fn validate_resource_config(&self, request: ValidateRequest) -> Vec<Reported> {
        match request.kind.as_str() {
            data::KIND => data::validate(&request),
            other => vec![unsupported("resources", other)],
        }
    }

    async fn validate_data_config(&self, request: ValidateRequest) -> Vec<Reported> {
        match request.kind.as_str() {
            remote_state::KIND => remote_state::validate(&request, &*self.states),
            other => vec![unsupported("data sources", other)],
        }
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        if request.kind == data::KIND {
            return data::plan(&request);
        }
        PlanResponse {
            planned: request.prior,
            requires_replace: Vec::new(),
            private: request.prior_private,
            legacy_type_system: false,
            deferred: None,
            reported: vec![unsupported("planning", &request.kind)],
            identity: None,
        }
    }

    fn keeps_notes(&self) -> bool {
        true
    }

    async fn apply_resource_change(
        &self,
        request: ApplyRequest,
        _log: &dyn OperationLog,
    ) -> ApplyResponse {
        if request.kind == data::KIND {
            return data::apply(&request, &self.environment);
        }
        ApplyResponse {
            new: request.prior,
            private: request.planned_private,
            legacy_type_system: false,
            outcome_unknown: false,
            reported: vec![unsupported("changes", &request.kind)],
            identity: None,
        }
    }

    /// Nothing outside of the state was changed by what was begun.
    async fn settle_operation(&self, _operation: PendingOperation) -> Settlement {
        Settlement::NotDone
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        ReadResponse {
            reported: match request.kind.as_str() {
                data::KIND => Vec::new(),
                other => vec![unsupported("reading", other)],
            },
            new: request.current,
            private: request.private,
            deferred: None,
            identity: None,
        }
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        if request.kind == remote_state::KIND {
            return remote_state::read(&request, &*self.states).await;
        }
        ReadDataResponse {
            state: Value::null(Type::Dynamic),
            deferred: None,
            reported: vec![unsupported("reading", &request.kind)],
        }
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> UpgradeResponse {
        if request.kind == data::KIND {
            return data::upgrade(&request, &self.data);
        }
        UpgradeResponse {
            upgraded: Value::null(Type::Dynamic),
            reported: vec![unsupported("stored objects", &request.kind)],
        }
    }

    async fn import_resource_state(
        &self,
        request: ImportRequest,
    ) -> Result<Vec<ImportedObject>, Vec<Reported>> {
        match request.kind.as_str() {
            data::KIND => Ok(vec![data::import(&request)]),
            other => Err(vec![unsupported("import", other)]),
        }
    }

    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        match request.target_kind.as_str() {
            data::KIND => data::take_over(&request),
            _ => MoveResponse::unsupported(&request),
        }
    }

    async fn call_function(&self, request: CallFunctionRequest) -> Result<Value, FunctionFailure> {
        Err(FunctionFailure {
            text: format!(
                "The function \"{}\" is answered by the language, not by this provider. This is a \
                 defect of Formwork.",
                request.name
            ),
            argument: None,
        })
    }
}
