//! Deleting an object: for good, or as the former half of a replacement.

use crate::make::{hook, still_running};
use crate::record::{NoteLog, Wait};
use crate::run::{Ended, Run, lock};
use crate::world::plain;
use formwork_addresses::DeposedKey;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_journal::{Begun, JournalEntry, OperationAction};
use formwork_plan::{Action, Event, ResourceInstanceChange};
use formwork_provider::{ApplyRequest, Bytes, PlanRequest, Reported};
use formwork_state::ResourceInstanceObject;
use formwork_values::{Marks, Value};
use std::sync::Arc;

impl Run<'_> {
    pub(crate) async fn destroy(&self, change: &ResourceInstanceChange) -> Ended {
        match self.try_destroy(change).await {
            Ok(true) => Ended::Done,
            Ok(false) => Ended::Failed,
            Err(mut d) => {
                d.default_address(&change.address);
                self.say(d);
                Ended::Failed
            }
        }
    }

    async fn try_destroy(&self, change: &ResourceInstanceChange) -> Result<bool, Diagnostics> {
        let address = &change.address;
        let deposed: Option<DeposedKey> = match change.action {
            Action::CreateThenDelete => match lock(&self.deposed).get(address).cloned() {
                Some(key) => Some(key),
                // There was nothing to leave behind when the new object was made; what is current
                // now is the new object, which must not be touched.
                None => return Ok(true),
            },
            _ => change.deposed.clone(),
        };
        let stored = self
            .input
            .record
            .look(|state| match &deposed {
                Some(key) => state.deposed(address, key).cloned(),
                None => state.object(address).cloned(),
            })
            .await;
        let Some(stored) = stored else {
            // It is gone already: whoever interrupted an earlier run had got so far.
            return Ok(true);
        };
        let providers = &self.input.providers;
        let Some(schema) = providers.schema_of(&change.provider.provider, &address.resource) else {
            return Err(providers
                .unknown_type(&change.provider.provider, &address.resource)
                .about(address)
                .into());
        };
        let Some(provider) = providers.for_instance(&change.provider, address) else {
            return Err(self.not_configured(&change.provider));
        };
        let prior = plain(&change.before);
        let null = Value::null(schema.ty());
        // The former half of a replacement that was created first has not been planned by itself.
        let planned_private = if change.action == Action::CreateThenDelete {
            let response = provider
                .plan_resource_change(PlanRequest {
                    kind: address.resource.kind.to_string(),
                    prior: prior.clone(),
                    proposed: null.clone(),
                    config: null.clone(),
                    prior_private: stored.private.clone().unwrap_or_else(|| Bytes::from([])),
                    identity: None,
                })
                .await;
            let said = Reported::placed(
                Reported::hiding(response.reported, &[&change.before]),
                address,
                &|_| None,
            );
            if said.has_errors() {
                return Err(said);
            }
            self.say(said);
            response.private
        } else {
            change.planned_private.clone()
        };
        let hook = hook(address, Action::Delete, &change.before);
        let key = deposed.clone();
        let begun_prior = stored.clone();
        let begin = |id| {
            let mut begun = Begun::new(
                id,
                OperationAction::Delete,
                address.clone(),
                change.provider.clone(),
            );
            begun.deposed = key;
            begun.schema_version = schema.version;
            begun.prior = Some(begun_prior);
            begun.planned_private = (!planned_private.is_empty()).then(|| planned_private.clone());
            begun.dependencies = stored.dependencies.clone();
            begun.create_before_destroy = stored.create_before_destroy;
            begun.sensitive = stored.sensitive.clone();
            JournalEntry::Begun(Box::new(begun))
        };
        let wait = Wait::of(&*provider);
        let destroying = async {
            let said = self.provision_before_destroy(change, &stored).await;
            if said.has_errors() {
                return Err(said);
            }
            self.say(said);
            let id = self.input.record.begin(wait, begin).await?;
            let log = NoteLog::new(&self.input.record, id);
            let request = ApplyRequest {
                kind: address.resource.kind.to_string(),
                prior: prior.clone(),
                planned: null.clone(),
                config: null,
                planned_private: planned_private.clone(),
                identity: None,
            };
            Ok((id, self.carry_out(&*provider, request, &log).await))
        };
        let (ended, elapsed) = self.watched(&hook, destroying).await;
        let (id, response) = match ended {
            Ok(ended) => ended,
            Err(said) => {
                self.input.events.emit(Event::ApplyFailed(hook, elapsed));
                return Err(said);
            }
        };
        let Some(response) = response else {
            self.input.events.emit(Event::ApplyFailed(hook, elapsed));
            self.say(still_running(address, Action::Delete).into());
            return Ok(false);
        };
        let mut said = Reported::placed(
            Reported::hiding(response.reported, &[&change.before]),
            address,
            &|_| None,
        );
        if response.outcome_unknown {
            self.input.events.emit(Event::ApplyFailed(hook, elapsed));
            said.push(
                Diagnostic::warning(
                    "An operation is still open",
                    format!(
                        "Whether {address} was destroyed is not known. It is in the journal; the next plan or apply \
                         finds it out before it does anything else."
                    ),
                )
                .about(address),
            );
            self.say(said);
            return Ok(false);
        }
        if !said.has_errors() && !response.new.is_null() {
            said.push(
                Diagnostic::error(
                    "Provider returned invalid result object after apply",
                    format!(
                        "The provider {} still has an object for {address} after deleting it. This is a fault of the \
                         provider.",
                        change.provider.provider.for_display()
                    ),
                )
                .about(address),
            );
        }
        let failed = said.has_errors();
        let entry = if failed {
            let reason = said
                .iter()
                .find(|d| d.is_error())
                .map(|d| d.summary.clone())
                .unwrap_or_default();
            let left = left_over(&response.new, &prior, &stored, &schema);
            JournalEntry::Failed {
                id,
                object: left,
                reason,
            }
        } else {
            JournalEntry::Succeeded { id, object: None }
        };
        self.input.record.entry(wait, entry).await?;
        let event = if failed {
            Event::ApplyFailed
        } else {
            Event::ApplyFinished
        };
        self.input.events.emit(event(hook, elapsed));
        self.say(said);
        if failed {
            return Ok(false);
        }
        if change.action == Action::Delete && change.deposed.is_none() {
            self.input.evaluator.objects().remove(address);
        }
        self.count(Action::Delete);
        Ok(true)
    }

    pub(crate) async fn forget(&self, change: &ResourceInstanceChange) -> Ended {
        let address = &change.address;
        let begun = self
            .input
            .record
            .begin(Wait::Queued, |id| {
                let mut begun = Begun::new(
                    id,
                    OperationAction::Forget,
                    address.clone(),
                    change.provider.clone(),
                );
                begun.deposed = change.deposed.clone();
                JournalEntry::Begun(Box::new(begun))
            })
            .await;
        let ended = match begun {
            Ok(id) => {
                self.input
                    .record
                    .entry(Wait::Queued, JournalEntry::Succeeded { id, object: None })
                    .await
            }
            Err(d) => Err(d),
        };
        match ended {
            Ok(()) => {
                self.count(Action::Forget);
                Ended::Done
            }
            Err(d) => {
                self.say(d);
                Ended::Failed
            }
        }
    }
}

/// The object that a failed deletion has left, if it is another one than before.
fn left_over(
    new: &Value,
    prior: &Value,
    stored: &Arc<ResourceInstanceObject>,
    schema: &formwork_provider_schema::Schema,
) -> Option<Arc<ResourceInstanceObject>> {
    let new = &formwork_provider_schema::adopted(&schema.block, new.clone())?;
    if new.is_null() || new == prior || !new.is_wholly_known() {
        return None;
    }
    let marks = stored
        .sensitive
        .paths()
        .iter()
        .map(|p| (p.clone(), Marks::SENSITIVE))
        .collect();
    let value = formwork_provider_schema::marked(&schema.block, new, &marks);
    let made = ResourceInstanceObject::from_value(schema.version, &value, &schema.ty()).ok()?;
    Some(Arc::new(ResourceInstanceObject {
        attributes: made.attributes,
        sensitive: made.sensitive,
        schema_version: made.schema_version,
        ..(**stored).clone()
    }))
}
