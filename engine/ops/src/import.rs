//! `import`: one object brought under management at once, without a plan.

use crate::load::{Evaluation, Loaded, load};
use crate::session::Session;
use crate::state::{Held, hold};
use crate::state_edit::put;
use formwork_addresses::{AbsResourceInstance, ResourceMode};
use formwork_configuration::{Configuration, Repetition, ResourceBlock};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap, nearest};
use formwork_evaluation::ImportBy;
use formwork_plan::{Event, Hook};
use formwork_planner::{Needed, configure_provider, find, objects_of_state, taken_over};
use std::sync::Arc;

/// Finds the object with this id, and writes it into the state at this address.
///
/// # Errors
/// Why it cannot be, with the files that this points into; the state is then as it was.
pub async fn import_object(
    session: &Session,
    address: &AbsResourceInstance,
    id: &str,
) -> Result<Diagnostics, (Diagnostics, SourceMap)> {
    let (mut loaded, mut said) = load(session);
    if said.has_errors() {
        return Err((said, loaded.sources));
    }
    if let Err(d) = configured(&loaded.configuration, address) {
        return Err(((*d).into(), loaded.sources));
    }
    said.append(loaded.unserved(session));
    if said.has_errors() {
        return Err((said, loaded.sources));
    }
    let (mut held, problems) = match hold(session, "OperationTypeImport").await {
        Ok(held) => held,
        Err(d) => return Err((d, loaded.sources)),
    };
    said.append(problems);
    let result = import_held(session, &mut loaded, &mut held, address, id).await;
    let released = held.release(session).await;
    match result {
        Ok(problems) => {
            said.append(problems);
            said.append(released);
            Ok(said)
        }
        Err(mut d) => {
            d.append(released);
            Err((d, loaded.sources))
        }
    }
}

/// The block that an instance belongs to.
fn configured<'c>(
    configuration: &'c Configuration,
    address: &AbsResourceInstance,
) -> Result<&'c Arc<ResourceBlock>, Box<Diagnostic>> {
    if address.resource.mode != ResourceMode::Managed {
        return Err(Box::new(Diagnostic::error(
            "Invalid import address",
            format!(
                "{address} is read anew by every run; only managed resources hold objects that can be imported."
            ),
        )));
    }
    let path = address.module_path();
    let Some(module) = configuration.module(&path) else {
        return Err(Box::new(Diagnostic::error(
            "Import to non-existent module",
            format!("{path} is not called by the configuration. Write its module block first."),
        )));
    };
    let Some(block) = module.resources.get(&address.resource) else {
        let names: Vec<String> = module.resources.keys().map(ToString::to_string).collect();
        let wanted = address.resource.to_string();
        let mut d = Diagnostic::error(
            "Import to non-existent resource",
            format!(
                "resource address \"{}\" does not exist in the configuration. An imported object is \
                 managed by its resource block, so write that first.",
                address.abs_resource()
            ),
        );
        if let Some(near) = nearest(&wanted, names.iter().map(String::as_str)) {
            d = d.hint(format!("Did you mean {near}?"));
        }
        return Err(Box::new(d));
    };
    let keyed = matches!(
        block.repetition,
        Repetition::Count(_) | Repetition::ForEach(_)
    );
    let has_key = address.key != formwork_addresses::InstanceKey::None;
    if keyed != has_key {
        let why = if keyed {
            "has instances with keys; name one, such as ADDRESS[0] or 'ADDRESS[\"key\"]'"
        } else {
            "has one instance, which has no key"
        };
        return Err(Box::new(
            Diagnostic::error(
                "Invalid import address",
                format!("The resource {} {why}.", address.abs_resource()),
            )
            .at(block.range),
        ));
    }
    Ok(block)
}

async fn import_held(
    session: &Session,
    loaded: &mut Loaded,
    held: &mut Held,
    address: &AbsResourceInstance,
    id: &str,
) -> Result<Diagnostics, Diagnostics> {
    let before = held.view().state.clone();
    if before.object(address).is_some() {
        return Err(Diagnostic::error(
            "Resource already managed by Terraform",
            format!("The state holds an object at {address} already, which would be forgotten."),
        )
        .hint("If another object is to stand there, take this one out with \"state rm\" first.")
        .into());
    }
    let (variables, mut said) = loaded.variables(session);
    let (providers, problems) = loaded.launch(session, Some(&before)).await;
    said.append(problems);
    if said.has_errors() {
        return Err(said);
    }
    let block = configured(&loaded.configuration, address).map_err(|d| Diagnostics::from(*d))?;
    let resolved = loaded
        .configuration
        .provider_of(&address.module_path(), block);
    let evaluation = Evaluation::at_rest(session, &loaded.configuration, &providers);
    let known = objects_of_state(&before, &providers, Needed::Everything).await;
    let evaluator = evaluation.over(known, variables);
    if !evaluator.may_have(address, &block.repetition) {
        return Err(Diagnostic::error(
            "Configuration for import target does not exist",
            format!(
                "The configuration has {} but no instance {address}, so the next apply would destroy what is imported \
                 there.",
                address.abs_resource().resource
            ),
        )
        .at(block.range)
        .hint("Import to an instance that count or for_each, of the block and of the modules around it, let exist.")
        .into());
    }
    let (_, problems) = configure_provider(&evaluator, &providers, &resolved.config).await;
    said.append(problems);
    if said.has_errors() {
        return Err(said);
    }
    let (Some(schema), Some(provider)) = (
        providers.schema_of(&resolved.config.provider, &block.address),
        providers.configured(&resolved.config),
    ) else {
        let d = providers.unknown_type(&resolved.config.provider, &block.address);
        return Err(d.at(block.type_range).into());
    };
    let hook = |value: &formwork_values::Value| Hook {
        address: address.clone(),
        action: formwork_plan::Action::NoOp,
        id: formwork_plan::identifier(value),
    };
    let identities = providers.identity_of(&resolved.config.provider, &block.address);
    let schemas = (&*schema, identities.as_deref());
    let by = ImportBy::Id(Arc::from(id));
    let (found, problems) = find(&*provider, schemas, address, &by, |found| {
        session.events.emit(Event::RefreshStarted(hook(found)));
    })
    .await?;
    said.append(problems);
    session
        .events
        .emit(Event::RefreshFinished(hook(&found.value)));
    // what it is made from is written by the next plan
    let prior =
        taken_over(&found, schemas, Vec::new(), address).map_err(|d| Diagnostics::from(*d))?;
    let mut after = before.clone();
    after.set_object(address, &resolved.config, prior.stored);
    put(session, held, &before, after).await?;
    Ok(said)
}
