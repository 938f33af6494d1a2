//! A provider's configuration, from its block.

use crate::decode::decode;
use crate::evaluator::Evaluator;
use formwork_addresses::AbsProviderConfig;
use formwork_configuration::ProviderConfig;
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics};
use formwork_provider_schema::Block;
use formwork_values::Value;

impl Evaluator {
    /// The block that a provider configuration stands in, if there is one.
    pub fn provider_block(&self, config: &AbsProviderConfig) -> Option<&ProviderConfig> {
        let module = self.configuration().module(&config.module)?;
        module.provider_block(&config.provider, config.alias.as_ref())
    }

    /// The value that a provider is configured with, marks included; empty for a default
    /// configuration that has no block.
    pub async fn provider_config(
        &self,
        config: &AbsProviderConfig,
        schema: &Block,
    ) -> Checked<Option<Value>> {
        let Some(block) = self.provider_block(config) else {
            if config.alias.is_none() && config.module.is_root() {
                return (Some(schema.empty_value()), Diagnostics::new());
            }
            let d = Diagnostic::error(
                "Provider configuration not present",
                format!(
                    "{config} is not configured any more, but objects in the state were made with it. \
                     Bring its provider block back until those objects are gone."
                ),
            );
            return (None, d.about(config).into());
        };
        let instance = config.module.unkeyed_instance();
        let Some(module) = self.module(&instance) else {
            return (None, Diagnostics::new());
        };
        let functions = self.functions(module);
        let (value, said) = self
            .calls()
            .settled(|reading| {
                let scope = self.scope(&instance);
                let value = decode(&block.body, schema, block.open, &scope, &functions, reading);
                reading.pending.extend(scope.take_pending());
                value
            })
            .await;
        let value = (!said.has_errors()).then_some(value);
        (value, said)
    }
}
