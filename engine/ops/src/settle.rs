//! Settling: what became of the operations that a former run left open.
//!
//! Each is settled with its provider: by the operation that it noted, else by the object's key. What
//! cannot be told is left open, and nothing is planned or applied until the user says what became of
//! it.

use crate::session::Session;
use crate::state::{Held, begin_journal, end_journal, write};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_evaluation::ImportBy;
use formwork_journal::{JournalEntry, OperationAction, PendingOperation, Resolution};
use formwork_plan::{Action, Event, Hook};
use formwork_planner::decode_managed;
use formwork_provider::{self as provider, Bytes, Providers, Reported, Settlement};
use formwork_provider_schema::marked;
use formwork_state::ResourceInstanceObject;
use formwork_values::{Marks, PathMarks, Value, from_msgpack};
use std::sync::Arc;
use std::time::Duration;

/// Settles everything that is open. Afterwards the state is folded, and written if it is locked; what
/// could not be settled is an error for each.
pub(crate) async fn settle(
    session: &Session,
    held: &mut Held,
    providers: &Providers,
) -> Diagnostics {
    let mut said = Diagnostics::new();
    if held.view.pending.is_empty() && !held.view.folded {
        return said;
    }
    if let Err(d) = held.own_journal(session).await {
        said.append(d);
        return said;
    }
    let pending = held.view.pending.clone();
    let lineage = held.lineage(session);
    if let Err(d) = write_folded(session, held, &lineage).await {
        said.append(d);
        return said;
    }
    let mut recorder = match begin_journal(session, held, &lineage, &pending).await {
        Ok(r) => r,
        Err(d) => {
            said.append(d);
            return said;
        }
    };
    let mut open = Vec::new();
    for operation in pending {
        let id = operation.begun.id;
        let answer = settle_one(session, providers, &operation).await;
        match answer {
            Ok((resolution, words, problems)) => {
                said.append(problems);
                if let Err(e) = recorder.record(&JournalEntry::Settled { id, resolution }) {
                    said.push(Diagnostic::error(
                        "Journal refuses an entry",
                        format!("This is a fault of Formwork: {e}."),
                    ));
                    open.push(operation);
                    continue;
                }
                let hook = Hook {
                    address: operation.begun.address.clone(),
                    action: action_of(operation.begun.action),
                    id: None,
                };
                session.events.emit(Event::Settled(hook, words));
            }
            Err(d) => {
                said.append(d);
                open.push(operation);
            }
        }
    }
    let state = recorder.into_ledger().into_state();
    held.view.pending = open.clone();
    let written = write(session, held, &lineage, state).await;
    let ended = match written {
        Ok(()) => end_journal(session, held, &lineage, &open).await,
        Err(d) => Err(d),
    };
    if let Err(d) = ended {
        said.append(d);
    }
    said
}

/// The state with the journal replayed becomes the snapshot, so that the journal begins anew on it.
async fn write_folded(
    session: &Session,
    held: &mut Held,
    lineage: &str,
) -> Result<(), Diagnostics> {
    let state = held.view.state.clone();
    write(session, held, lineage, state).await
}

fn action_of(action: OperationAction) -> Action {
    match action {
        OperationAction::Create | OperationAction::Provision => Action::Create,
        OperationAction::Update => Action::Update,
        OperationAction::Delete => Action::Delete,
        OperationAction::Read => Action::Read,
        OperationAction::Forget => Action::Forget,
    }
}

async fn settle_one(
    session: &Session,
    providers: &Providers,
    operation: &PendingOperation,
) -> Result<(Resolution, String, Diagnostics), Diagnostics> {
    let begun = &operation.begun;
    let address = &begun.address;
    // Data sources change nothing, and what is forgotten is not asked about.
    let asks = matches!(
        begun.action,
        OperationAction::Create | OperationAction::Update | OperationAction::Delete
    );
    let promised = || {
        let of_instance = providers.for_instance(&begun.provider, address);
        let any = || providers.unconfigured(&begun.provider.provider).cloned();
        of_instance.or_else(any).is_some_and(|p| p.keeps_notes())
    };
    if operation.notes.is_empty() && begun.found.is_none() && (!asks || promised()) {
        // Without a note no request was sent.
        return Ok((
            Resolution::NotDone,
            "it was never begun".to_owned(),
            Diagnostics::new(),
        ));
    }
    let (Some(schema), Some(p)) = (
        providers.schema_of(&begun.provider.provider, &address.resource),
        providers.configured(&begun.provider),
    ) else {
        return Err(open_operation(
            operation,
            "its provider could not be configured by what is known now",
        )
        .into());
    };
    if operation.notes.is_empty()
        && let Some(found) = &begun.found
    {
        return look_again(providers, operation, found, &schema, &*p).await;
    }
    let ty = schema.ty();
    let null = Value::null(ty.clone());
    let known = match &begun.prior {
        None => null.clone(),
        Some(object) => {
            let decoded = decode_managed(providers, &begun.provider, address, object).await?;
            marked(
                &schema.block,
                &decoded.0.value.unmark_deep().0,
                &marks(begun),
            )
        }
    };
    let prior = known.clone().unmark_deep().0;
    let planned = match &begun.planned {
        None => null.clone(),
        Some(bytes) => from_msgpack(bytes, &ty).map_err(|_| {
            Diagnostics::from(open_operation(
                operation,
                "what was planned for it was written by another version of the provider",
            ))
        })?,
    };
    // Services quote what they were sent.
    let secret = [known, marked(&schema.block, &planned, &marks(begun))];
    let hiding = |reported| Reported::hiding(reported, &[&secret[0], &secret[1]]);
    let request = provider::PendingOperation {
        kind: address.resource.kind.to_string(),
        prior,
        planned,
        planned_private: begun
            .planned_private
            .clone()
            .unwrap_or_else(|| Bytes::from([])),
        notes: operation.notes.clone(),
    };
    let mut waited = Duration::ZERO;
    loop {
        if session.cancel.is_cancelled() {
            return Err(
                open_operation(operation, "it still runs, and this run was interrupted").into(),
            );
        }
        match p.settle_operation(request.clone()).await {
            Settlement::Done {
                object,
                private,
                reported,
            } => {
                let problems = Reported::placed(hiding(reported), address, &|_| None);
                let tainted = begun.action == OperationAction::Create
                    && (problems.has_errors() || begun.provisions);
                // What went wrong in a former run is told, but it is no mistake of this one.
                let problems = problems
                    .into_iter()
                    .map(|mut d| {
                        d.severity = formwork_diagnostics::Severity::Warning;
                        d
                    })
                    .collect();
                if object.is_null() {
                    return Ok((Resolution::Done(None), "it is gone".to_owned(), problems));
                }
                let object =
                    stored(begun, &object, private, &schema, tainted).ok_or_else(|| {
                        Diagnostics::from(open_operation(
                            operation,
                            "the provider found something that is not of its schema's type",
                        ))
                    })?;
                return Ok((
                    Resolution::Done(Some(Arc::new(object))),
                    "it was done".to_owned(),
                    problems,
                ));
            }
            Settlement::NotDone => {
                return Ok((
                    Resolution::NotDone,
                    "it was not done".to_owned(),
                    Diagnostics::new(),
                ));
            }
            Settlement::StillRunning => {
                let pause =
                    (waited / 10).clamp(Duration::from_millis(200), Duration::from_secs(10));
                session.sleeper.sleep(pause).await;
                waited += pause;
            }
            Settlement::Unknown { reason } => {
                let said = hiding(vec![Reported::whole(open_operation(operation, &reason))]);
                return Err(said.into_iter().map(|r| r.diagnostic).collect());
            }
        }
    }
}

/// An object that was made for certain, though the state lacks it: it is read, and if it is there it
/// comes into the state.
async fn look_again(
    providers: &Providers,
    operation: &PendingOperation,
    found: &Arc<ResourceInstanceObject>,
    schema: &formwork_provider_schema::Schema,
    p: &dyn provider::Provider,
) -> Result<(Resolution, String, Diagnostics), Diagnostics> {
    let begun = &operation.begun;
    let address = &begun.address;
    let known = decode_managed(providers, &begun.provider, address, found).await?;
    let known = known.0.value;
    let read = p
        .read_resource(provider::ReadRequest {
            kind: address.resource.kind.to_string(),
            current: known.clone().unmark_deep().0,
            private: found.private.clone().unwrap_or_else(|| Bytes::from([])),
            identity: None,
        })
        .await;
    let said = Reported::placed(Reported::hiding(read.reported, &[&known]), address, &|_| {
        None
    });
    if said.has_errors() {
        let mut said = said;
        said.push(open_operation(operation, "the object could not be read"));
        return Err(said);
    }
    if read.new.is_null() {
        let resolution = match begun.action {
            // what it would have replaced is current again
            OperationAction::Create => Resolution::NotDone,
            _ => Resolution::Done(None),
        };
        return Ok((resolution, "it is gone".to_owned(), said));
    }
    let object = stored(begun, &read.new, read.private, schema, found.is_tainted());
    let object = object.ok_or_else(|| {
        Diagnostics::from(open_operation(
            operation,
            "the provider read something that is not of its schema's type",
        ))
    })?;
    Ok((
        Resolution::Done(Some(Arc::new(object))),
        "it is there".to_owned(),
        said,
    ))
}

/// What of the object is sensitive by where it came from.
fn marks(begun: &formwork_journal::Begun) -> PathMarks {
    let paths = begun.sensitive.paths().iter();
    paths.map(|p| (p.clone(), Marks::SENSITIVE)).collect()
}

fn stored(
    begun: &formwork_journal::Begun,
    object: &Value,
    private: Bytes,
    schema: &formwork_provider_schema::Schema,
    tainted: bool,
) -> Option<ResourceInstanceObject> {
    let object = &formwork_provider_schema::adopted(&schema.block, object.clone())?;
    if object.is_null() || !object.is_wholly_known() {
        return None;
    }
    let value = marked(&schema.block, object, &marks(begun));
    let mut made = ResourceInstanceObject::from_value(schema.version, &value, &schema.ty()).ok()?;
    made.private = (!private.is_empty()).then_some(private);
    made.dependencies = begun.dependencies.clone();
    made.create_before_destroy = begun.create_before_destroy;
    Some(if tainted { made.tainted() } else { made })
}

fn open_operation(operation: &PendingOperation, why: &str) -> Diagnostic {
    let address = &operation.begun.address;
    Diagnostic::error(
        "Operation of unknown outcome",
        format!(
            "A former run was interrupted during the {}. What became of it cannot be told: {}. Nothing is planned \
             or applied until that is known, since the object might exist and be forgotten, or be made twice.",
            operation.begun.describe(),
            why.trim_end_matches('.')
        ),
    )
    .about(address)
    .hint(format!(
        "Look for the object yourself, then say `formwork state settle '{address}' -id=ID` if it exists, or \
         `formwork state settle '{address}' -not-created` if it does not."
    ))
}

/// What the user says of an operation whose outcome cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// The object exists, and this is its import id.
    Exists(String),
    /// It does not exist: it was never created, or is deleted.
    NotThere,
}

/// Settles one open operation by the user's word.
///
/// # Errors
/// That nothing is open at the address, or why the object cannot be read.
pub async fn settle_by_word(
    session: &Session,
    address: &formwork_addresses::AbsResourceInstance,
    word: &Word,
) -> Result<Diagnostics, Diagnostics> {
    let (mut loaded, mut said) = crate::load::load(session);
    if said.has_errors() {
        return Err(said);
    }
    said.append(loaded.unserved(session));
    let (variables, problems) = loaded.variables(session);
    said.append(problems);
    if said.has_errors() {
        return Err(said);
    }
    let (mut held, problems) = crate::state::hold(session, "OperationTypeSettle").await?;
    said.append(problems);
    let result = settle_held(session, &loaded, variables, &mut held, address, word).await;
    let released = held.release(session).await;
    match result {
        Ok(problems) => {
            said.append(problems);
            said.append(released);
            Ok(said)
        }
        Err(mut d) => {
            d.append(released);
            Err(d)
        }
    }
}

async fn settle_held(
    session: &Session,
    loaded: &crate::load::Loaded,
    variables: std::collections::BTreeMap<Arc<str>, Value>,
    held: &mut Held,
    address: &formwork_addresses::AbsResourceInstance,
    word: &Word,
) -> Result<Diagnostics, Diagnostics> {
    let pending = held.view.pending.clone();
    let Some(operation) = pending.iter().find(|p| p.begun.address == *address) else {
        let open: Vec<String> = pending
            .iter()
            .map(|p| p.begun.address.to_string())
            .collect();
        let detail = if open.is_empty() {
            format!(
                "There is no open operation at {address}, nor anywhere else: nothing needs settling."
            )
        } else {
            format!(
                "There is no open operation at {address}. Open are: {}.",
                open.join(", ")
            )
        };
        return Err(Diagnostic::error("Nothing to settle", detail)
            .about(address)
            .into());
    };
    let begun = &operation.begun;
    let mut said = Diagnostics::new();
    let resolution = match word {
        Word::NotThere if begun.action == OperationAction::Create => Resolution::NotDone,
        Word::NotThere => Resolution::Done(None),
        Word::Exists(id) => {
            let (providers, problems) = loaded.launch(session, Some(&held.view.state)).await;
            if problems.has_errors() {
                return Err(problems);
            }
            let evaluation =
                crate::load::Evaluation::at_rest(session, &loaded.configuration, &providers);
            let known = {
                let needed = formwork_planner::Needed::Everything;
                formwork_planner::objects_of_state(&held.view.state, &providers, needed).await
            };
            let evaluator = evaluation.over(known, variables);
            let (_, problems) =
                formwork_planner::configure_provider(&evaluator, &providers, &begun.provider).await;
            if problems.has_errors() {
                return Err(problems);
            }
            let object = import(&providers, begun, id, &mut said).await?;
            Resolution::Done(Some(Arc::new(object)))
        }
    };
    held.own_journal(session).await?;
    let lineage = held.lineage(session);
    let state = held.view.state.clone();
    write(session, held, &lineage, state).await?;
    let mut recorder = begin_journal(session, held, &lineage, &pending).await?;
    let id = begun.id;
    recorder
        .record(&JournalEntry::Settled { id, resolution })
        .map_err(|e| {
            Diagnostics::from(Diagnostic::error(
                "Journal refuses an entry",
                format!("{e}."),
            ))
        })?;
    let open: Vec<PendingOperation> = pending
        .iter()
        .filter(|p| p.begun.id != id)
        .cloned()
        .collect();
    let state = recorder.into_ledger().into_state();
    held.view.pending = open.clone();
    write(session, held, &lineage, state).await?;
    end_journal(session, held, &lineage, &open).await?;
    Ok(said)
}

/// The object that the user says exists.
async fn import(
    providers: &Providers,
    begun: &formwork_journal::Begun,
    id: &str,
    said: &mut Diagnostics,
) -> Result<ResourceInstanceObject, Diagnostics> {
    let address = &begun.address;
    let not_found = |why: &str| {
        Diagnostics::from(
            Diagnostic::error(
                "Cannot import the object",
                format!("The object \"{id}\" cannot be taken over for {address}: {why}."),
            )
            .about(address),
        )
    };
    let (Some(schema), Some(p)) = (
        providers.schema_of(&begun.provider.provider, &address.resource),
        providers.configured(&begun.provider),
    ) else {
        return Err(not_found("its provider is not there"));
    };
    let identities = providers.identity_of(&begun.provider.provider, &address.resource);
    let (found, problems) = formwork_planner::find(
        &*p,
        (&schema, identities.as_deref()),
        address,
        &ImportBy::Id(Arc::from(id)),
        |_| {},
    )
    .await?;
    said.append(problems);
    let object = found.value.unmark_deep().0;
    stored(begun, &object, found.private, &schema, begun.provisions)
        .ok_or_else(|| not_found("the provider read something that is not of its schema's type"))
}
