//! Provider functions, answered by the providers of the run.

use async_trait::async_trait;
use formwork_addresses::ProviderAddr;
use formwork_diagnostics::Diagnostics;
use formwork_evaluation::ProviderFunctions;
use formwork_provider::{CallFunctionRequest, Providers};
use formwork_provider_schema::{FunctionParameter, FunctionSignature};
use formwork_values::{Type, Value};
use std::sync::Arc;

/// The functions of launched providers; none of them needs to be configured.
pub(crate) struct FunctionsOf {
    pub providers: Arc<Providers>,
    /// While validating, a function of a provider that is not there may be anything.
    pub validating: bool,
}

impl FunctionsOf {
    /// Whether a function that is not known may well be there: its provider could not be asked, or
    /// serves only a part.
    fn is_anything(&self, provider: &ProviderAddr, name: &str) -> bool {
        self.validating
            && match self.providers.schemas(provider) {
                Some(schemas) => schemas.is_partial() && schemas.function(name).is_none(),
                None => self.providers.why_absent(provider).is_some(),
            }
    }
}

/// The signature of a function of which nothing is known.
fn anything() -> FunctionSignature {
    FunctionSignature {
        parameters: Vec::new(),
        variadic: Some(FunctionParameter {
            name: Arc::from("arguments"),
            ty: Type::Dynamic,
            allow_null: true,
            allow_unknown: true,
            description: Arc::from(""),
        }),
        return_type: Type::Dynamic,
        summary: Arc::from(""),
        description: Arc::from(""),
        deprecated: None,
    }
}

#[async_trait]
impl ProviderFunctions for FunctionsOf {
    fn signature(&self, provider: &ProviderAddr, name: &str) -> Option<Arc<FunctionSignature>> {
        let known = self
            .providers
            .schemas(provider)
            .and_then(|s| s.function(name));
        known.or_else(|| {
            self.is_anything(provider, name)
                .then(|| Arc::new(anything()))
        })
    }

    fn names(&self, provider: &ProviderAddr) -> Vec<Arc<str>> {
        self.providers
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
        if self.is_anything(provider, name) {
            return Ok((Value::dynamic(), Diagnostics::new()));
        }
        let Some(p) = self.providers.unconfigured(provider) else {
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
