//! Data sources that could not be read when planning.

use crate::make::{broken, hook};
use crate::run::{Ended, Run};
use formwork_diagnostics::Diagnostics;
use formwork_evaluation::{Condition, ModuleScope};
use formwork_journal::{Begun, JournalEntry, OperationAction};
use formwork_plan::{Action, Event, ResourceInstanceChange};
use formwork_provider::{ReadDataRequest, Reported};
use formwork_provider_schema::{adopted, marked};
use formwork_state::ResourceInstanceObject;
use formwork_values::Value;
use std::sync::Arc;

impl Run<'_> {
    pub(crate) async fn read(&self, change: &ResourceInstanceChange) -> Ended {
        match self.try_read(change).await {
            Ok(true) => Ended::Done,
            Ok(false) => Ended::Failed,
            Err(mut d) => {
                d.default_address(&change.address);
                self.say(d);
                Ended::Failed
            }
        }
    }

    async fn try_read(&self, change: &ResourceInstanceChange) -> Result<bool, Diagnostics> {
        let place = self.place(change)?;
        let address = &change.address;
        let evaluator = &self.input.evaluator;
        let functions = evaluator.functions(place.module);
        let resource = address.abs_resource();
        let expansion = evaluator.objects().expansion(&resource).unwrap_or_default();
        let repetition =
            evaluator.repetition(&resource, &place.block.repetition, &expansion, &address.key);
        let scope = ModuleScope::new(evaluator, &address.module, repetition);
        let lifecycle = &place.block.lifecycle;
        if !self
            .conditions_hold(
                &lifecycle.preconditions,
                Condition::Precondition,
                address,
                &scope,
                &functions,
            )
            .await
        {
            return Ok(false);
        }
        let (config, said) = self.config(&place, &scope, &functions).await;
        if said.has_errors() {
            return Err(said);
        }
        let (config, marks) = config.unmark_deep();
        if !config.is_wholly_known() {
            return Err(broken(
                address,
                "its configuration holds values that are still not known",
            ));
        }
        let hook = hook(address, Action::Read, &config);
        let id = self
            .input
            .record
            .begin(|id| {
                let begun = Begun::new(
                    id,
                    OperationAction::Read,
                    address.clone(),
                    change.provider.clone(),
                );
                JournalEntry::Begun(Box::new(Begun {
                    schema_version: place.schema.version,
                    ..begun
                }))
            })
            .await?;
        let request = ReadDataRequest {
            kind: address.resource.kind.to_string(),
            config,
        };
        let (answer, elapsed) = self
            .watched(&hook, place.provider.read_data_source(request))
            .await;
        let said = Reported::placed(answer.reported, address, Some(place.block.range));
        let read = adopted(&place.schema.block, answer.state).unwrap_or_else(Value::dynamic);
        let value = marked(&place.schema.block, &read, &marks);
        let object = if said.has_errors() {
            None
        } else {
            ResourceInstanceObject::from_value(place.schema.version, &value, &place.schema.ty())
                .ok()
        };
        let Some(object) = object else {
            let reason = "Reading the data source failed".to_owned();
            self.input
                .record
                .entry(JournalEntry::Failed {
                    id,
                    object: None,
                    reason,
                })
                .await?;
            self.input.events.emit(Event::ApplyFailed(hook, elapsed));
            if said.has_errors() {
                return Err(said);
            }
            self.say(said);
            return Err(broken(
                address,
                "its provider read it as something that is not wholly known",
            ));
        };
        self.input
            .record
            .entry(JournalEntry::Succeeded {
                id,
                object: Some(Arc::new(object)),
            })
            .await?;
        self.input.events.emit(Event::ApplyFinished(hook, elapsed));
        self.say(said);
        evaluator.objects().set(address, value.clone());
        let scope = scope.with_self(value);
        Ok(self
            .conditions_hold(
                &lifecycle.postconditions,
                Condition::Postcondition,
                address,
                &scope,
                &functions,
            )
            .await)
    }
}
