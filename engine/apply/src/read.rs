//! Data sources that could not be read when planning.

use crate::make::{broken, hook};
use crate::record::Wait;
use crate::run::{Ended, Run};
use formwork_addresses::AbsResourceInstance;
use formwork_diagnostics::{Diagnostic, Diagnostics, Severity};
use formwork_evaluation::{Condition, ModuleScope, Verdict};
use formwork_journal::{Begun, JournalEntry, OperationAction};
use formwork_plan::{Action, ActionReason, CheckKind, Event, ResourceInstanceChange};
use formwork_provider::{ReadDataRequest, Reported};
use formwork_provider_schema::{adopted_loosely, marked};
use formwork_state::ResourceInstanceObject;
use formwork_values::Value;
use std::sync::Arc;

impl Run<'_> {
    pub(crate) async fn read(&self, change: &ResourceInstanceChange) -> Ended {
        let for_check = change.reason == Some(ActionReason::ReadBecauseCheckNested);
        match self.try_read(change, for_check).await {
            Ok(true) => Ended::Done,
            Ok(false) => Ended::Failed,
            Err(mut d) => {
                d.default_address(&change.address);
                if for_check {
                    self.fail_check(&change.address, d);
                    return Ended::Done;
                }
                self.say(d);
                Ended::Failed
            }
        }
    }

    /// What a check looks at cannot be read: the check fails, the run does not.
    fn fail_check(&self, address: &AbsResourceInstance, said: Diagnostics) {
        let configuration = self.input.evaluator.configuration();
        let check = configuration
            .module(&address.module_path())
            .and_then(|m| {
                m.scoped_resources()
                    .find(|(_, r)| r.address == address.resource)
                    .map(|(check, _)| check.name.clone())
            })
            .unwrap_or_default();
        let of = if address.module.is_root() {
            format!("check.{check}")
        } else {
            format!("{}.check.{check}", address.module)
        };
        let mut failures = Vec::new();
        let mut softened = Diagnostics::new();
        for mut d in said {
            if d.is_error() {
                failures.push(Verdict::Fail(format!("{}: {}", d.summary, d.detail)));
                d.severity = Severity::Warning;
            }
            softened.push(d);
        }
        self.keep_result(CheckKind::Check, &of, &failures);
        self.say(softened);
    }

    async fn try_read(
        &self,
        change: &ResourceInstanceChange,
        for_check: bool,
    ) -> Result<bool, Diagnostics> {
        let mut place = self.place(change)?;
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
        let (config, marks) = self
            .configured(&mut place, address, &scope, &functions)
            .await?;
        let shown = place.config.clone();
        let hook = hook(address, Action::Read, &shown);
        let id = self
            .input
            .record
            .begin(Wait::Queued, |id| {
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
        let mut said = Reported::placed(
            Reported::hiding(answer.reported, &[&shown]),
            address,
            &|p| Some(place.block.place_of(p)),
        );
        if answer.deferred.is_some() && !said.has_errors() {
            said.push(
                Diagnostic::error(
                    "Provider deferred changes when deferrals are not allowed",
                    format!(
                        "The provider {} says that it cannot read {address} yet, though all that it is \
                         read by is known now. Plan again: then what depends on it can wait.",
                        change.provider.provider.for_display()
                    ),
                )
                .at(place.block.range)
                .about(address),
            );
        }
        let read =
            adopted_loosely(&place.schema.block, answer.state).unwrap_or_else(Value::dynamic);
        let value = marked(&place.schema.block, &read, &marks);
        let object = if said.has_errors() {
            None
        } else {
            ResourceInstanceObject::from_value(place.schema.version, &value, &place.schema.ty())
                .ok()
        };
        // Of what a check could not read, the state keeps what was to be read.
        let stand_in = || {
            let planned = change.after.clone().unmark_deep().0;
            let value = marked(&place.schema.block, &known_only(planned), &marks);
            ResourceInstanceObject::from_value(place.schema.version, &value, &place.schema.ty())
                .ok()
        };
        if object.is_none()
            && for_check
            && said.has_errors()
            && let Some(object) = stand_in()
        {
            let object = Some(Arc::new(object));
            let entry = JournalEntry::Succeeded { id, object };
            self.input.record.entry(Wait::Queued, entry).await?;
            return Err(said);
        }
        let Some(object) = object else {
            let reason = "Reading the data source failed".to_owned();
            self.input
                .record
                .entry(
                    Wait::Queued,
                    JournalEntry::Failed {
                        id,
                        object: None,
                        reason,
                    },
                )
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
            .entry(
                Wait::Queued,
                JournalEntry::Succeeded {
                    id,
                    object: Some(Arc::new(object)),
                },
            )
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

/// The value with null for what is unknown.
fn known_only(value: Value) -> Value {
    value.transform(&mut |_, v| {
        if v.is_known() {
            v
        } else {
            Value::null(v.type_of())
        }
    })
}
