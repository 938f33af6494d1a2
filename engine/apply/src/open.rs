//! Ephemeral resources: opened anew for what is done, since a plan holds nothing of them.

use crate::make::{Place, broken};
use crate::run::{Ended, Run};
use formwork_addresses::AbsResourceInstance;
use formwork_diagnostics::Diagnostics;
use formwork_evaluation::{Condition, ModuleScope};
use formwork_provider::Reported;
use formwork_provider_schema::{adopted, marked};
use formwork_values::{Mark, Type, Value};

impl Run<'_> {
    pub(crate) async fn open(&self, address: &AbsResourceInstance) -> Ended {
        match self.try_open(address).await {
            Ok(true) => Ended::Done,
            Ok(false) => Ended::Failed,
            Err(mut d) => {
                d.default_address(address);
                self.say(d);
                Ended::Failed
            }
        }
    }

    async fn try_open(&self, address: &AbsResourceInstance) -> Result<bool, Diagnostics> {
        let evaluator = &self.input.evaluator;
        let configuration = evaluator.configuration();
        let path = address.module_path();
        let found = configuration
            .module(&path)
            .and_then(|m| Some((&**m, &**m.resource(&address.resource)?)));
        let Some((module, block)) = found else {
            return Err(broken(
                address,
                "its block is not in the plan's configuration",
            ));
        };
        let functions = evaluator.functions(module);
        let resource = address.abs_resource();
        let expansion = evaluator.objects().expansion(&resource).unwrap_or_default();
        let repetition =
            evaluator.repetition(&resource, &block.repetition, &expansion, &address.key);
        let scope = ModuleScope::new(evaluator, &address.module, repetition);
        let resolved = configuration.provider_of(&path, block);
        let (config, said) = evaluator
            .provider_of_instance(&resolved, &address.module, &scope)
            .await;
        let Some(config) = config else {
            return Err(said);
        };
        let providers = &self.input.providers;
        let Some(schema) = providers.schema_of(&config.provider, &address.resource) else {
            let d = providers.unknown_type(&config.provider, &address.resource);
            return Err(d.about(address).into());
        };
        let Some(provider) = providers.configured(&config) else {
            return Err(self.not_configured(&config));
        };
        let lifecycle = &block.lifecycle;
        let before = Condition::Precondition;
        if !self
            .conditions_hold(
                &lifecycle.preconditions,
                before,
                address,
                &scope,
                &functions,
            )
            .await
        {
            return Ok(false);
        }
        let mut place = Place {
            identity: None,
            module,
            block,
            schema,
            provider,
            config: Value::null(Type::Dynamic),
        };
        let (plain, marks) = self
            .configured(&mut place, address, &scope, &functions)
            .await?;
        let (answer, reported) = self
            .opened
            .open(address, place.provider.clone(), plain)
            .await;
        let said = Reported::placed(
            Reported::hiding(reported, &[&place.config]),
            address,
            &|p| Some(block.place_of(p)),
        );
        if said.has_errors() {
            return Err(said);
        }
        self.say(said);
        let answer = adopted(&place.schema.block, answer);
        let Some(value) = answer.filter(|v| !v.is_null() && v.is_wholly_known()) else {
            return Err(broken(
                address,
                "its provider opened it as something that is not wholly known",
            ));
        };
        let value = marked(&place.schema.block, &value, &marks).mark(Mark::Ephemeral);
        evaluator.objects().set(address, value.clone());
        let scope = scope.with_self(value);
        let after = Condition::Postcondition;
        Ok(self
            .conditions_hold(
                &lifecycle.postconditions,
                after,
                address,
                &scope,
                &functions,
            )
            .await)
    }
}
