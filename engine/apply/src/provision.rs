//! Provisioners: run after an object was created, or before it is destroyed.
//!
//! Those of a creation are an operation of their own in the journal: from the moment that the object is
//! there until they have succeeded it is tainted, so a run that dies in between replaces it. Those of a
//! destruction come before its operation begins: if they fail, or the run dies, the object is there as it
//! was. An object that is tainted, or that its replacement has left behind, is destroyed without.

use crate::make::broken;
use crate::record::Wait;
use crate::run::Run;
use formwork_addresses::AbsResourceInstance;
use formwork_configuration::{Provisioner, ProvisionerTime, Repetition};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_evaluation::{
    ModuleFunctions, ModuleScope, ProvisionerBody, ProvisionerSchemas, Provisioners,
};
use formwork_journal::{Begun, JournalEntry, OperationAction};
use formwork_plan::{Action, Event, EventSink, Hook, ProvisionStep, ResourceInstanceChange};
use formwork_provider::{LineSink, ProvisionRequest, Reported, connection_schema};
use formwork_state::{ObjectStatus, ResourceInstanceObject};
use std::sync::Arc;

/// Tells what a provisioner writes, or that it is not told.
struct Output<'r> {
    events: &'r dyn EventSink,
    hook: &'r Hook,
    kind: &'r Arc<str>,
    withheld: Option<&'static str>,
}

impl Output<'_> {
    fn tell(&self, step: ProvisionStep) {
        let event = Event::Provision(self.hook.clone(), self.kind.clone(), step);
        self.events.emit(event);
    }
}

impl LineSink for Output<'_> {
    fn line(&self, line: &str) {
        self.tell(ProvisionStep::Output(match self.withheld {
            None => line.to_owned(),
            Some(word) => format!("(output suppressed due to {word} value in config)"),
        }));
    }
}

impl Run<'_> {
    /// Runs the provisioners of an object that was just created and is tainted until then; whether all
    /// went well.
    pub(crate) async fn provision_made(
        &self,
        change: &ResourceInstanceChange,
        provisioners: &Provisioners<'_>,
        object: &ResourceInstanceObject,
        scope: &ModuleScope<'_>,
        functions: &ModuleFunctions<'_>,
    ) -> Result<bool, Diagnostics> {
        let address = &change.address;
        let begin = |id| {
            let action = OperationAction::Provision;
            let begun = Begun::new(id, action, address.clone(), change.provider.clone());
            JournalEntry::Begun(Box::new(begun))
        };
        let id = self.input.record.begin(Wait::Durable, begin).await?;
        let said = self
            .provision(address, provisioners, scope, functions)
            .await;
        let entry = match said.iter().find(|d| d.is_error()) {
            None => {
                let mut good = object.clone();
                good.status = ObjectStatus::Ready;
                JournalEntry::Succeeded {
                    id,
                    object: Some(Arc::new(good)),
                }
            }
            Some(d) => JournalEntry::Failed {
                id,
                object: None,
                reason: d.summary.clone(),
            },
        };
        self.input.record.entry(Wait::Durable, entry).await?;
        let good = !said.has_errors();
        self.say(said);
        Ok(good)
    }

    /// Runs the provisioners of an object that is about to be destroyed; with an error it is not.
    pub(crate) async fn provision_before_destroy(
        &self,
        change: &ResourceInstanceChange,
        stored: &ResourceInstanceObject,
    ) -> Diagnostics {
        let whole = matches!(change.action, Action::Delete | Action::DeleteThenCreate);
        if !whole || change.deposed.is_some() || stored.is_tainted() {
            return Diagnostics::new();
        }
        let address = &change.address;
        let evaluator = &self.input.evaluator;
        let configuration = evaluator.configuration();
        let path = address.module_path();
        let module = configuration.module(&path);
        let block = module.and_then(|m| m.resource(&address.resource));
        let when = ProvisionerTime::Destroy;
        let provisioners = match block {
            Some(block) => Provisioners::of_resource(block, when),
            None => match configuration.removal_of(&path, &address.resource) {
                Some(removed) => Provisioners::of_removal(removed, when),
                None => return Diagnostics::new(),
            },
        };
        let Some(module) = module.or_else(|| configuration.root()) else {
            return Diagnostics::new();
        };
        if provisioners.is_empty() {
            return Diagnostics::new();
        }
        // They may refer to the key and to the object itself, and to nothing that may be gone.
        let repetition =
            evaluator.configured_repetition(&address.module, &Repetition::Single, &address.key);
        let scope = ModuleScope::new(evaluator, &address.module, repetition)
            .with_self(change.before.clone());
        let functions = evaluator.functions(module);
        self.provision(address, &provisioners, &scope, &functions)
            .await
    }

    /// Runs them in order, until one fails that must not.
    async fn provision(
        &self,
        address: &AbsResourceInstance,
        provisioners: &Provisioners<'_>,
        scope: &ModuleScope<'_>,
        functions: &ModuleFunctions<'_>,
    ) -> Diagnostics {
        let mut said = Diagnostics::new();
        for p in provisioners.iter() {
            if self.input.cancel.is_cancelled() {
                let detail = format!(
                    "The run was interrupted before the provisioner \"{}\" of {address} began.",
                    p.kind
                );
                said.push(Diagnostic::error("Provisioning interrupted", detail).at(p.range));
                break;
            }
            match self
                .run_provisioner(address, provisioners, p, scope, functions)
                .await
            {
                Ok(more) => said.append(more),
                Err(more) => {
                    said.append(more);
                    break;
                }
            }
        }
        said.default_address(address);
        said
    }

    async fn run_provisioner(
        &self,
        address: &AbsResourceInstance,
        around: &Provisioners<'_>,
        p: &Provisioner,
        scope: &ModuleScope<'_>,
        functions: &ModuleFunctions<'_>,
    ) -> Result<Diagnostics, Diagnostics> {
        let provisioner = self
            .input
            .providers
            .provisioner(&p.kind)
            .map_err(|mut said| {
                said.default_subject(p.range);
                said
            })?;
        let schema = provisioner.schema();
        let schemas = ProvisionerSchemas {
            own: &schema,
            connection: connection_schema(),
        };
        let evaluator = &self.input.evaluator;
        let (body, said) = evaluator
            .read_provisioner(around, p, schemas, scope, functions)
            .await;
        if said.has_errors() {
            return Err(said);
        }
        let ProvisionerBody { config, connection } = body;
        if !config.is_wholly_known() || !connection.is_wholly_known() {
            let what = format!(
                "its provisioner \"{}\" refers to values that are still not known",
                p.kind
            );
            return Err(broken(address, &what));
        }
        let marks = config.all_marks();
        let withheld = match (marks.is_sensitive(), marks.is_ephemeral()) {
            (true, true) => Some("sensitive, ephemeral"),
            (true, false) => Some("sensitive"),
            (false, true) => Some("ephemeral"),
            (false, false) => None,
        };
        let hook = Hook {
            address: address.clone(),
            action: Action::NoOp,
            id: None,
        };
        let output = Output {
            events: &*self.input.events,
            hook: &hook,
            kind: &p.kind,
            withheld,
        };
        let secrets = [config.clone(), connection.clone()];
        let request = ProvisionRequest {
            config: config.unmark_deep().0,
            connection: connection.unmark_deep().0,
            withheld,
        };
        output.tell(ProvisionStep::Started);
        let stop = std::pin::pin!(self.input.cancel.cancelled());
        let ran = provisioner.provision(request, &output, stop).await;
        match ran {
            Ok(()) => {
                output.tell(ProvisionStep::Finished);
                Ok(Diagnostics::new())
            }
            Err(reported) => {
                output.tell(ProvisionStep::Failed);
                // What fails because the run is interrupted has not been allowed to succeed.
                if p.continue_on_failure && !self.input.cancel.is_cancelled() {
                    return Ok(Diagnostics::new());
                }
                let hidden = Reported::hiding(reported, &[&secrets[0], &secrets[1]]);
                Err(Reported::placed(hidden, address, &|_| Some(p.range)))
            }
        }
    }
}
