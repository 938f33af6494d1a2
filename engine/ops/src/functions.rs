//! Provider functions, answered by the providers of the run.

use async_trait::async_trait;
use formwork_addresses::ProviderAddr;
use formwork_diagnostics::Diagnostics;
use formwork_evaluation::ProviderFunctions;
use formwork_provider::{CallFunctionRequest, Providers};
use formwork_provider_schema::FunctionSignature;
use formwork_values::Value;
use std::sync::Arc;

/// The functions of launched providers; none of them needs to be configured.
pub(crate) struct FunctionsOf(pub Arc<Providers>);

#[async_trait]
impl ProviderFunctions for FunctionsOf {
    fn signature(&self, provider: &ProviderAddr, name: &str) -> Option<Arc<FunctionSignature>> {
        self.0.schemas(provider)?.function(name)
    }

    fn names(&self, provider: &ProviderAddr) -> Vec<Arc<str>> {
        self.0
            .schemas(provider)
            .map(|s| s.function_names())
            .unwrap_or_default()
    }

    async fn call(
        &self,
        provider: &ProviderAddr,
        name: &str,
        arguments: Vec<Value>,
    ) -> Result<(Value, Diagnostics), (Option<usize>, String)> {
        let Some(p) = self.0.unconfigured(provider) else {
            return Err((
                None,
                format!("The provider {} is not there.", provider.for_display()),
            ));
        };
        let request = CallFunctionRequest {
            name: name.to_owned(),
            arguments,
        };
        match p.call_function(request.clone()).await {
            Ok(value) => Ok((value, p.function_warnings(&request))),
            Err(failure) => Err((failure.argument, failure.text)),
        }
    }
}
