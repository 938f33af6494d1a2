//! A provider that may break down in any of its calls without taking the run with it.
//!
//! What panics in a call becomes that call's error, "Provider crashed". Of a request that changes
//! something nobody knows then what became of it, and its operation stays open. The registry guards
//! every provider that it hands out, so nobody else has to think of it.

use crate::{
    ApplyRequest, ApplyResponse, Bytes, CallFunctionRequest, ConfigureRequest, FunctionFailure,
    ImportRequest, ImportedObject, MoveRequest, MoveResponse, OpenRequest, OpenResponse,
    OperationLog, PendingOperation, PlanRequest, PlanResponse, Provider, ReadDataRequest,
    ReadDataResponse, ReadRequest, ReadResponse, RenewResponse, Reported, Settlement,
    UpgradeIdentityRequest, UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse,
    ValidateRequest,
};
use async_trait::async_trait;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_provider_schema::SchemaSource;
use formwork_values::{Type, Value};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

/// A provider with a guard around each call.
pub(crate) struct Guarded(Arc<dyn Provider>);

impl Guarded {
    pub fn around(provider: Arc<dyn Provider>) -> Arc<dyn Provider> {
        Arc::new(Self(provider))
    }
}

/// What a call answers; nothing if it breaks down.
async fn caught<T>(call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    poll_fn(|context| {
        let poll = AssertUnwindSafe(|| call.as_mut().poll(context));
        match catch_unwind(poll) {
            Ok(poll) => poll.map(Some),
            Err(_) => Poll::Ready(None),
        }
    })
    .await
}

fn said(what: &str) -> Diagnostic {
    Diagnostic::error(
        "Provider crashed",
        format!(
            "The provider broke down while it was asked {what}. This is a fault of the provider, not of the \
             configuration; please report it to its makers."
        ),
    )
}

fn crashed(what: &str) -> Vec<Reported> {
    vec![Reported::whole(said(what))]
}

fn nothing() -> Value {
    Value::null(Type::Dynamic)
}

fn no_bytes() -> Bytes {
    Bytes::from([])
}

fn not_read() -> ReadResponse {
    ReadResponse {
        new: nothing(),
        private: no_bytes(),
        deferred: None,
        reported: crashed("to read an object"),
        identity: None,
    }
}

#[async_trait]
impl Provider for Guarded {
    async fn get_schema(&self) -> Result<Arc<dyn SchemaSource>, Diagnostics> {
        let answer = caught(self.0.get_schema()).await;
        answer.unwrap_or_else(|| Err(said("for its schema").into()))
    }

    fn version(&self) -> String {
        self.0.version()
    }

    async fn validate_provider_config(&self, config: &Value) -> Vec<Reported> {
        let answer = caught(self.0.validate_provider_config(config)).await;
        answer.unwrap_or_else(|| crashed("to check its own configuration"))
    }

    async fn configure(&self, request: ConfigureRequest) -> Vec<Reported> {
        let answer = caught(self.0.configure(request)).await;
        answer.unwrap_or_else(|| crashed("to make itself ready"))
    }

    async fn stop(&self) {
        let _ = caught(self.0.stop()).await;
    }

    async fn validate_resource_config(&self, request: ValidateRequest) -> Vec<Reported> {
        let answer = caught(self.0.validate_resource_config(request)).await;
        answer.unwrap_or_else(|| crashed("to check a configuration"))
    }

    async fn validate_data_config(&self, request: ValidateRequest) -> Vec<Reported> {
        let answer = caught(self.0.validate_data_config(request)).await;
        answer.unwrap_or_else(|| crashed("to check a configuration"))
    }

    async fn validate_ephemeral_config(&self, request: ValidateRequest) -> Vec<Reported> {
        let answer = caught(self.0.validate_ephemeral_config(request)).await;
        answer.unwrap_or_else(|| crashed("to check a configuration"))
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let answer = caught(self.0.plan_resource_change(request)).await;
        answer.unwrap_or_else(|| PlanResponse {
            planned: nothing(),
            requires_replace: Vec::new(),
            private: no_bytes(),
            legacy_type_system: false,
            deferred: None,
            reported: crashed("to plan a change"),
            identity: None,
        })
    }

    fn keeps_notes(&self) -> bool {
        self.0.keeps_notes()
    }

    async fn apply_resource_change(
        &self,
        request: ApplyRequest,
        log: &dyn OperationLog,
    ) -> ApplyResponse {
        let answer = caught(self.0.apply_resource_change(request, log)).await;
        answer.unwrap_or_else(|| {
            let d = Diagnostic::error(
                "Provider crashed",
                "The provider broke down while it was at this. What became of its request is not known.",
            );
            ApplyResponse {
                new: Value::dynamic(),
                private: no_bytes(),
                legacy_type_system: false,
                outcome_unknown: true,
                reported: vec![Reported::whole(d)], identity: None }
        })
    }

    async fn settle_operation(&self, operation: PendingOperation) -> Settlement {
        let answer = caught(self.0.settle_operation(operation)).await;
        answer.unwrap_or_else(|| Settlement::Unknown {
            reason: "the provider broke down when it was asked".to_owned(),
        })
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        let answer = caught(self.0.read_resource(request)).await;
        answer.unwrap_or_else(not_read)
    }

    async fn read_resources(&self, requests: Vec<ReadRequest>) -> Vec<ReadResponse> {
        let number = requests.len();
        let answer = caught(self.0.read_resources(requests)).await;
        answer.unwrap_or_else(|| std::iter::repeat_with(not_read).take(number).collect())
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        let answer = caught(self.0.read_data_source(request)).await;
        answer.unwrap_or_else(|| ReadDataResponse {
            state: nothing(),
            deferred: None,
            reported: crashed("to read a data source"),
        })
    }

    async fn open_ephemeral_resource(&self, request: OpenRequest) -> OpenResponse {
        let answer = caught(self.0.open_ephemeral_resource(request)).await;
        answer.unwrap_or_else(|| OpenResponse {
            result: nothing(),
            private: no_bytes(),
            renew_at: None,
            reported: crashed("to open an ephemeral resource"),
        })
    }

    async fn renew_ephemeral_resource(&self, kind: &str, private: Bytes) -> RenewResponse {
        let kept = private.clone();
        let answer = caught(self.0.renew_ephemeral_resource(kind, private)).await;
        answer.unwrap_or_else(|| RenewResponse {
            private: kept,
            renew_at: None,
            reported: crashed("to renew an ephemeral resource"),
        })
    }

    async fn close_ephemeral_resource(&self, kind: &str, private: Bytes) -> Vec<Reported> {
        let answer = caught(self.0.close_ephemeral_resource(kind, private)).await;
        answer.unwrap_or_else(|| crashed("to close an ephemeral resource"))
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> UpgradeResponse {
        let answer = caught(self.0.upgrade_resource_state(request)).await;
        answer.unwrap_or_else(|| UpgradeResponse {
            upgraded: nothing(),
            reported: crashed("to read a stored object"),
        })
    }

    async fn upgrade_resource_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> UpgradeIdentityResponse {
        let answer = caught(self.0.upgrade_resource_identity(request)).await;
        answer.unwrap_or_else(|| UpgradeIdentityResponse {
            upgraded: nothing(),
            reported: crashed("to read a stored identity"),
        })
    }

    async fn import_resource_state(
        &self,
        request: ImportRequest,
    ) -> Result<Vec<ImportedObject>, Vec<Reported>> {
        let answer = caught(self.0.import_resource_state(request)).await;
        answer.unwrap_or_else(|| Err(crashed("to find an object")))
    }

    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        let answer = caught(self.0.move_resource_state(request)).await;
        answer.unwrap_or_else(|| MoveResponse {
            target: nothing(),
            private: no_bytes(),
            reported: crashed("to take over an object"),
            identity: None,
        })
    }

    async fn call_function(&self, request: CallFunctionRequest) -> Result<Value, FunctionFailure> {
        let answer = caught(self.0.call_function(request)).await;
        answer.unwrap_or_else(|| {
            Err(FunctionFailure {
                text: "The provider broke down while it was at this.".to_owned(),
                argument: None,
            })
        })
    }

    fn function_warnings(&self, request: &CallFunctionRequest) -> Diagnostics {
        self.0.function_warnings(request)
    }
}
