//! The one door through which the world is read and changed: [`Provider`], in the words of
//! Terraform's plugin protocol 6.
//!
//! Native providers, plugin providers and scripted ones in tests all stand behind this trait, so the
//! engine knows none of them by name. Two things go beyond the protocol, because losing nothing and
//! being fast need them:
//!
//! - [`Provider::read_resources`] reads many objects at once, so that a provider may list a collection
//!   instead of asking for each object. *Gone may only be answered from a single-object 404, or a
//!   complete list confirmed by a GET*; a partial, unreachable or failed scope is an error for each of
//!   its items, never an absence.
//! - [`OperationLog`] and [`Provider::settle_operation`]: before a provider sends a request that
//!   changes anything it notes how the outcome can be found again; the note is durable before the
//!   request's first byte. After a crash the engine hands the notes back and asks what became of it.
//!
//! Values are those of the language: unknown where the plan cannot know, null where absent, marks
//! already taken off (a provider is not trusted to carry them). Objects conform to the implied type
//! of their schema. Errors are diagnostics; a subject range is given to them by the engine, which
//! knows the configuration, from the attribute path that they name.
#![forbid(unsafe_code)]

mod ephemeral;
mod guarded;
mod hiding;
mod provisioner;
mod registry;
mod requests;
mod settle;

pub use ephemeral::OpenEphemerals;
pub use provisioner::{
    LineSink, ProvisionRequest, Provisioner, Stop, connection_schema, no_such_provisioner,
};
pub use registry::{Overriding, ProviderFactory, Providers};
pub use requests::{
    ApplyRequest, ApplyResponse, Bytes, CallFunctionRequest, ConfigureRequest, DeferredReason,
    FunctionFailure, ImportRequest, ImportedObject, MoveRequest, MoveResponse, OpenRequest,
    OpenResponse, PlanRequest, PlanResponse, RawState, ReadDataRequest, ReadDataResponse,
    ReadRequest, ReadResponse, RenewResponse, Reported, StoredIdentity, UpgradeIdentityRequest,
    UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse, ValidateRequest,
};
pub use settle::{NoteError, OperationLog, PendingOperation, Settlement};

use async_trait::async_trait;
use formwork_addresses::{Resource, ResourceMode};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_provider_schema::SchemaSource;
use formwork_values::Value;
use std::sync::Arc;

/// A provider: describes its types, plans, applies and reads.
///
/// Methods may be called concurrently. Until [`Provider::configure`] has succeeded only the schema,
/// validation, upgrade and function methods may be called.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The schemas of the provider, its resource types, data sources and functions.
    ///
    /// # Errors
    /// Diagnostics, if the provider cannot be started or its schema cannot be read.
    async fn get_schema(&self) -> Result<Arc<dyn SchemaSource>, Diagnostics>;

    /// The version of this provider as plans and lock files name it, such as `7.45.0`; empty for the
    /// built-in ones.
    fn version(&self) -> String {
        String::new()
    }

    /// Checks a provider configuration; unknown values are allowed.
    async fn validate_provider_config(&self, config: &Value) -> Vec<Reported>;

    /// Makes the provider ready for reading and changing.
    async fn configure(&self, request: ConfigureRequest) -> Vec<Reported>;

    /// Asks that running calls end soon. They may still succeed.
    async fn stop(&self) {}

    /// Checks a resource configuration; unknown values are allowed.
    async fn validate_resource_config(&self, request: ValidateRequest) -> Vec<Reported>;

    /// Checks a data source configuration; unknown values are allowed.
    async fn validate_data_config(&self, request: ValidateRequest) -> Vec<Reported>;

    /// Checks an ephemeral resource's configuration; unknown values are allowed.
    async fn validate_ephemeral_config(&self, request: ValidateRequest) -> Vec<Reported> {
        let _ = request;
        Vec::new()
    }

    /// Says what an apply would make of the object.
    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse;

    /// Whether every request that changes anything is noted before it is sent ([`OperationLog`]), or
    /// none is ever sent. Then an operation without a note was not done. A provider that does not
    /// promise it (plugins know of no notes) is asked what became of the operation, and mostly nobody
    /// can tell but the user.
    fn keeps_notes(&self) -> bool {
        false
    }

    /// Makes the world as planned. `log` is durable: see [`OperationLog`].
    async fn apply_resource_change(
        &self,
        request: ApplyRequest,
        log: &dyn OperationLog,
    ) -> ApplyResponse;

    /// Says what became of an operation that was begun by a process that died.
    async fn settle_operation(&self, operation: PendingOperation) -> Settlement;

    /// Reads one object. A null value in the answer says that it is gone for certain.
    async fn read_resource(&self, request: ReadRequest) -> ReadResponse;

    /// Reads many objects: one answer per item, in the order asked.
    ///
    /// The default asks one by one; providers that can list do better.
    async fn read_resources(&self, requests: Vec<ReadRequest>) -> Vec<ReadResponse> {
        let mut answers = Vec::with_capacity(requests.len());
        for request in requests {
            answers.push(self.read_resource(request).await);
        }
        answers
    }

    /// Reads a data source by its configuration.
    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse;

    /// Opens an ephemeral resource.
    async fn open_ephemeral_resource(&self, request: OpenRequest) -> OpenResponse {
        OpenResponse::unsupported(&request.kind)
    }

    /// Renews an open ephemeral resource.
    async fn renew_ephemeral_resource(&self, kind: &str, private: Bytes) -> RenewResponse {
        let _ = private;
        RenewResponse::unsupported(kind)
    }

    /// Closes an open ephemeral resource.
    async fn close_ephemeral_resource(&self, kind: &str, private: Bytes) -> Vec<Reported> {
        let _ = (kind, private);
        Vec::new()
    }

    /// Brings a stored object to the current schema. Also called for objects of the current version,
    /// since only the provider knows what its stored form means.
    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> UpgradeResponse;

    /// Brings a stored identity to the current schema; asked of older versions only.
    async fn upgrade_resource_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> UpgradeIdentityResponse {
        UpgradeIdentityResponse {
            upgraded: Value::null(formwork_values::Type::Dynamic),
            reported: vec![unsupported("upgrading identities", &request.kind)],
        }
    }

    /// Finds existing objects by an import id or an identity.
    async fn import_resource_state(
        &self,
        request: ImportRequest,
    ) -> Result<Vec<ImportedObject>, Vec<Reported>>;

    /// Takes over an object of another type or provider.
    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        MoveResponse::unsupported(&request)
    }

    /// Calls one of the provider's functions; needs no configuration.
    ///
    /// # Errors
    /// What is wrong, and with which argument.
    async fn call_function(&self, request: CallFunctionRequest) -> Result<Value, FunctionFailure>;

    /// What there is to say about a call that succeeded, as warnings; asked once per call, with the
    /// same request. The protocol has no such thing, so plugin providers have nothing to say.
    fn function_warnings(&self, request: &CallFunctionRequest) -> Diagnostics {
        let _ = request;
        Diagnostics::new()
    }
}

/// Has a provider check the configuration of a block, by the mode of the block; unknown values are
/// allowed. It is given `plain`; what is sensitive in `config`, the same with marks, is taken out of what
/// it says.
pub async fn validate_block(
    provider: &dyn Provider,
    block: &Resource,
    config: &Value,
    plain: Value,
) -> Vec<Reported> {
    let request = ValidateRequest {
        kind: block.kind.to_string(),
        config: plain,
    };
    let reported = match block.mode {
        ResourceMode::Managed => provider.validate_resource_config(request).await,
        ResourceMode::Data => provider.validate_data_config(request).await,
        ResourceMode::Ephemeral => provider.validate_ephemeral_config(request).await,
    };
    Reported::hiding(reported, &[config])
}

/// An error that says that a provider lacks something that was asked of it.
pub fn unsupported(what: &str, kind: &str) -> Reported {
    Reported::whole(Diagnostic::error(
        "Unsupported by the provider",
        format!("The provider does not support {what} for \"{kind}\"."),
    ))
}
