//! What became of an operation that a process began and did not see end.
//!
//! In this order: ask for the noted operation; else look for the operation by the request's id, else
//! for the object by its key, and take it for ours if it does not contradict what was planned.

use formwork_google_client::{ErrorKind, Method, Operation, OperationState, Request};
use formwork_google_schema::{Act, Resource};
use formwork_provider::{PendingOperation, Settlement};
use formwork_values::Value;
use serde_json::{Map, Value as Json};

use crate::cloud::Cloud;
use crate::engine::Subject;
use crate::engine::apply::private;
use crate::engine::carries::contradiction;
use crate::engine::exchange::{EVENTUALLY, is_busy};
use crate::failure::Failure;
use crate::hooks::hooks;
use crate::json;

/// Settles a pending operation.
pub(crate) async fn settle(
    cloud: &Cloud,
    resource: &Resource,
    pending: &PendingOperation,
) -> Settlement {
    let notes: Vec<Json> = pending
        .notes
        .iter()
        .filter_map(|note| serde_json::from_slice(note).ok())
        .collect();
    let Some(request) = notes.iter().rev().find(|n| n.get("act").is_some()) else {
        // Nothing was noted, so nothing was sent.
        return Settlement::NotDone;
    };
    // The act of the whole: a replacement's parts come as operations of their own.
    let act = match (pending.prior.is_null(), pending.planned.is_null()) {
        (true, _) => Act::Create,
        (false, true) => Act::Delete,
        (false, false) => Act::Update,
    };
    let object = if act == Act::Delete {
        &pending.prior
    } else {
        &pending.planned
    };
    let subject = Subject {
        cloud,
        resource,
        object,
    };
    match settle_noted(&subject, act, request, &notes, pending).await {
        Ok(settlement) => settlement,
        Err(failure) => Settlement::Unknown {
            reason: match failure {
                Failure::Google(e) | Failure::Lost(e) => format!(
                    "What became of {} cannot be told, because Google could not be asked: {e}.",
                    subject.title()
                ),
                Failure::Note(reason) | Failure::Refused(_, reason, _) => reason,
            },
        },
    }
}

async fn settle_noted(
    subject: &Subject<'_>,
    act: Act,
    noted: &Json,
    notes: &[Json],
    pending: &PendingOperation,
) -> Result<Settlement, Failure> {
    let cloud = subject.cloud;
    let text = |json: &Json, key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
    // Only an operation noted after the last request belongs to it.
    let operation = notes
        .iter()
        .rev()
        .take_while(|n| n.get("act").is_none())
        .find_map(|n| n.get("operation").and_then(Operation::from_note));
    let operation = match (operation, text(noted, "request_id")) {
        (Some(operation), _) => Some(operation),
        (None, Some(id)) => {
            let method = text(noted, "method")
                .and_then(|m| Method::parse(&m))
                .unwrap_or(Method::Post);
            let request = Request::new(
                method,
                &text(noted, "service").unwrap_or_default(),
                text(noted, "path").unwrap_or_default(),
            );
            cloud.operation_of(&request, &id).await?
        }
        (None, None) => None,
    };
    let mut ended = false;
    let mut refused = None;
    if let Some(operation) = operation {
        match cloud.client.operation(&operation).await {
            Ok(OperationState::Running) => return Ok(Settlement::StillRunning),
            Ok(OperationState::Done(_)) => ended = true,
            Ok(OperationState::Failed(e)) => refused = Some(e),
            // Forgotten by the service: the object tells.
            Err(e) if e.kind == ErrorKind::NotFound => {}
            Err(e) => return Err(e.into()),
        }
    }
    let found = match subject.key() {
        Some(_) => look(subject, act, ended).await?,
        None => {
            // The key as it was noted.
            let key = noted.get("key").filter(|k| k.is_object());
            match key {
                Some(key) => {
                    let get = cloud.get(
                        &text(key, "service").unwrap_or_default(),
                        text(key, "path").unwrap_or_default(),
                    );
                    match cloud.client.send(&get).await {
                        Ok(answer) => Some(answer.body),
                        Err(e) if e.kind == ErrorKind::NotFound => None,
                        Err(e) => return Err(e.into()),
                    }
                }
                None => {
                    return Ok(Settlement::Unknown {
                        reason: format!(
                            "The object of {} has no address that could be looked at.",
                            subject.resource.name
                        ),
                    });
                }
            }
        }
    };
    // On its way, and no operation to ask: the object itself says when it is there, or gone.
    if !ended && refused.is_none() && found.as_ref().is_some_and(is_busy) {
        return Ok(Settlement::StillRunning);
    }
    let reported = |what: &str| {
        refused
            .clone()
            .map(|e| Failure::from(e).report(what, &subject.title()))
            .into_iter()
            .collect::<Vec<_>>()
    };
    Ok(match (act, found) {
        (Act::Create, None) | (Act::Delete, Some(_)) if !ended => Settlement::NotDone,
        (Act::Create, None) => Settlement::NotDone,
        (Act::Create, Some(json)) => {
            let mut sent = Map::new();
            json::expand(
                &subject.resource.fields,
                subject.object,
                &subject.located(),
                &mut sent,
            );
            let against = hooks(&subject.resource.name).compared(&json);
            if !ended && let Some(field) = contradiction(against, &Json::Object(sent)) {
                return Ok(Settlement::Unknown {
                    reason: format!(
                        "{} exists, but its {field} is not what was asked for, so somebody else may have made it. If it is this one, say so with its id; if it was not created by this configuration, say that.",
                        subject.title()
                    ),
                });
            }
            Settlement::Done {
                object: subject.state(json, subject.object),
                private: private(subject.resource, subject.object),
                reported: reported("Creating"),
            }
        }
        (Act::Delete, None) => Settlement::Done {
            object: Value::null(subject.resource.schema.ty()),
            private: private(subject.resource, subject.object),
            reported: Vec::new(),
        },
        // Deleted and made again by somebody: it is there.
        (Act::Delete, Some(_)) => Settlement::NotDone,
        (_, Some(json)) => {
            let known = if ended && notes.iter().filter(|n| n.get("act").is_some()).count() == 1 {
                subject.object
            } else {
                &pending.prior
            };
            Settlement::Done {
                object: subject.state(json, known),
                private: private(subject.resource, subject.object),
                reported: reported("Changing"),
            }
        }
        (_, None) => Settlement::Done {
            object: Value::null(subject.resource.schema.ty()),
            private: private(subject.resource, subject.object),
            reported: Vec::new(),
        },
    })
}

/// Reads the object; where new ones are not seen at once, patiently.
async fn look(subject: &Subject<'_>, act: Act, ended: bool) -> Result<Option<Json>, Failure> {
    let patience = if act == Act::Create && !ended && hooks(&subject.resource.name).eventual() {
        EVENTUALLY / 3
    } else {
        std::time::Duration::ZERO
    };
    let begun = tokio::time::Instant::now();
    loop {
        let found = subject.read().await?;
        if found.is_some() || begun.elapsed() >= patience {
            return Ok(found);
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
}
