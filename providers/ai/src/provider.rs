//! The provider behind the trait: two functions and nothing else.

use crate::facts::{fabric_type, fabric_value, machine_type, machine_value};
use async_trait::async_trait;
use formwork_diagnostics::Diagnostics;
use formwork_provider::{
    ApplyRequest, ApplyResponse, Bytes, CallFunctionRequest, ConfigureRequest, FunctionFailure,
    ImportRequest, ImportedObject, OperationLog, PendingOperation, PlanRequest, PlanResponse,
    Provider, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, Reported, Settlement,
    UpgradeRequest, UpgradeResponse, ValidateRequest, unsupported,
};
use formwork_provider_schema::{
    FunctionParameter, FunctionSignature, ProviderSchema, SchemaSource,
};
use formwork_topology::{FabricError, Topology};
use formwork_values::{Type, Value};
use std::sync::Arc;

/// The `formwork` provider over a table of machine facts.
pub struct FormworkProvider {
    facts: Arc<Topology>,
    schema: Arc<ProviderSchema>,
}

impl FormworkProvider {
    /// Over the given facts: the built-in ones, with the user's files laid over them.
    pub fn new(facts: Arc<Topology>) -> Self {
        let mut schema = ProviderSchema::default();
        for (name, signature) in [("machine", machine()), ("fabric", fabric())] {
            schema.functions.insert(name.into(), Arc::new(signature));
        }
        Self {
            facts,
            schema: Arc::new(schema),
        }
    }

    /// Over the facts that Formwork was built with.
    pub fn builtin() -> Self {
        Self::new(Arc::new(Topology::builtin().clone()))
    }

    fn fabric(&self, name: &str, zone: &str) -> Result<Value, FunctionFailure> {
        match self.facts.fabric(name, zone) {
            Ok(fabric) => Ok(fabric_value(name, Some(&fabric))),
            Err(FabricError::NotAZone) => Err(FunctionFailure {
                text: format!(
                    "\"{zone}\" is not a zone. A zone is a region with a letter after it, such as \"us-central1-a\"."
                ),
                argument: Some(1),
            }),
            Err(FabricError::UnknownMachine { nearest }) => {
                let mut text = format!(
                    "Formwork has no facts about the machine type \"{name}\", so it cannot say what fabric it needs."
                );
                if let Some(near) = nearest.first() {
                    text.push_str(&format!(" Did you mean \"{near}\"?"));
                    if nearest.len() > 1 {
                        let rest: Vec<String> =
                            nearest[1..].iter().map(|n| format!("\"{n}\"")).collect();
                        text.push_str(&format!(" Near are also {}.", rest.join(" and ")));
                    }
                }
                Err(FunctionFailure {
                    text,
                    argument: Some(0),
                })
            }
        }
    }
}

fn machine() -> FunctionSignature {
    let mut name = FunctionParameter::new("machine_type", Type::String);
    name.description = "A machine type, such as the one of google_compute_instance.".into();
    let mut f = FunctionSignature::new([name], machine_type());
    f.summary = "What is known about a machine type".into();
    f.description = "Processor, memory, accelerators, local SSDs, capacity, placement and boot disks of a machine type. A fact that nobody confirmed is null. A machine type that nobody knows yields an object whose facts are all null, with a warning."
        .into();
    f
}

fn fabric() -> FunctionSignature {
    let mut name = FunctionParameter::new("machine_type", Type::String);
    name.description = "A machine type, such as the one of google_compute_instance.".into();
    let mut zone = FunctionParameter::new("zone", Type::String);
    zone.description = "The zone in which it is to run.".into();
    let mut f = FunctionSignature::new([name, zone], fabric_type());
    f.summary = "The networks and interfaces that a machine type needs in a zone".into();
    f.description = "Kind of fabric, interfaces in order, networks, subnetworks, MTU and network profile. A fact that nobody confirmed is null. A machine type that nobody knows is an error."
        .into();
    f
}

fn argument(request: &CallFunctionRequest, index: usize) -> Result<&str, FunctionFailure> {
    request
        .arguments
        .get(index)
        .and_then(Value::as_str)
        .ok_or_else(|| FunctionFailure {
            text: "A known text is needed here.".to_owned(),
            argument: Some(index),
        })
}

fn none() -> Bytes {
    Bytes::from([])
}

fn lacks(what: &str, kind: &str) -> Vec<Reported> {
    vec![unsupported(what, kind)]
}

#[async_trait]
impl Provider for FormworkProvider {
    async fn get_schema(&self) -> Result<Arc<dyn SchemaSource>, Diagnostics> {
        Ok(self.schema.clone())
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    async fn validate_provider_config(&self, _config: &Value) -> Vec<Reported> {
        Vec::new()
    }

    async fn configure(&self, _request: ConfigureRequest) -> Vec<Reported> {
        Vec::new()
    }

    async fn validate_resource_config(&self, request: ValidateRequest) -> Vec<Reported> {
        lacks("a resource", &request.kind)
    }

    async fn validate_data_config(&self, request: ValidateRequest) -> Vec<Reported> {
        lacks("a data source", &request.kind)
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        PlanResponse {
            planned: request.proposed,
            requires_replace: Vec::new(),
            private: none(),
            legacy_type_system: false,
            deferred: None,
            reported: lacks("a resource", &request.kind),
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
        ApplyResponse {
            new: request.prior,
            private: none(),
            legacy_type_system: false,
            outcome_unknown: false,
            reported: lacks("a resource", &request.kind),
            identity: None,
        }
    }

    async fn settle_operation(&self, _operation: PendingOperation) -> Settlement {
        Settlement::Unknown {
            reason: "The formwork provider has no resources, so it cannot have begun this."
                .to_owned(),
        }
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        ReadResponse {
            new: request.current,
            private: request.private,
            deferred: None,
            reported: lacks("a resource", &request.kind),
            identity: None,
        }
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        ReadDataResponse {
            state: Value::null(Type::Dynamic),
            deferred: None,
            reported: lacks("a data source", &request.kind),
        }
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> UpgradeResponse {
        UpgradeResponse {
            upgraded: Value::null(Type::Dynamic),
            reported: lacks("a resource", &request.kind),
        }
    }

    async fn import_resource_state(
        &self,
        request: ImportRequest,
    ) -> Result<Vec<ImportedObject>, Vec<Reported>> {
        Err(lacks("importing", &request.kind))
    }

    async fn call_function(&self, request: CallFunctionRequest) -> Result<Value, FunctionFailure> {
        match request.name.as_str() {
            "machine" => {
                let name = argument(&request, 0)?;
                Ok(machine_value(name, self.facts.machine(name)))
            }
            "fabric" => self.fabric(argument(&request, 0)?, argument(&request, 1)?),
            other => Err(FunctionFailure {
                text: format!("The formwork provider has no function \"{other}\"."),
                argument: None,
            }),
        }
    }

    fn function_warnings(&self, request: &CallFunctionRequest) -> Diagnostics {
        match (request.name.as_str(), argument(request, 0)) {
            ("machine", Ok(name)) if self.facts.machine(name).is_none() => {
                self.facts.unknown_machine(name).into()
            }
            _ => Diagnostics::new(),
        }
    }
}

#[cfg(test)]
#[path = "provider_tests.rs"]
mod tests;
