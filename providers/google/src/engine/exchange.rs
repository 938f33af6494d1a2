//! One change: noted, sent, followed to its end.
//!
//! Before the request's first byte its note is durable: method, address, request id where the API has
//! one, and the key by which the object can be found. As soon as the operation has a name that is
//! noted too. When the outcome of the request is not known (the connection was cut, or the service
//! answered 5xx), it is looked for: first the operation by its client id, then the object by its key.
//! Only when neither is there has nothing happened, and only then is the request sent again, under a
//! new id.

use std::time::Duration;

use formwork_google_client::{ErrorKind, GoogleError, Listing, Operation, OperationKind, Request};
use formwork_google_schema::{Act, MethodMapping};
use formwork_provider::OperationLog;
use serde_json::{Value as Json, json};

use crate::cloud::Cloud;
use crate::engine::carries::{contradiction, shows};
use crate::failure::Failure;

/// How often a request whose fate was settled as "did not happen" is sent again.
const RESENDS: u32 = 4;

/// How long a new object may stay invisible to readers.
pub(crate) const EVENTUALLY: Duration = Duration::from_secs(15);

/// Whether an object says that it is on its way to another state.
pub(crate) fn is_busy(json: &Json) -> bool {
    ["state", "status"].iter().any(|key| {
        json.get(key).and_then(Json::as_str).is_some_and(|s| {
            matches!(
                s,
                "CREATING" | "PROVISIONING" | "STAGING" | "REPAIRING" | "DELETING" | "STOPPING"
            )
        })
    })
}

/// A change to be made.
pub(crate) struct Change {
    pub(crate) act: Act,
    pub(crate) request: Request,
    /// Whether the method takes a request id.
    pub(crate) request_id: bool,
    /// The family of operations it answers with.
    pub(crate) operation: Option<OperationKind>,
    /// How the object is read; `None` when only the answer tells.
    pub(crate) key: Option<Request>,
    /// What the object must not contradict to be ours.
    pub(crate) sent: Json,
    /// How long its operation may take.
    pub(crate) limit: Duration,
}

impl Change {
    /// A change by a mapped method.
    pub(crate) fn new(
        act: Act,
        request: Request,
        mapping: &MethodMapping,
        key: Option<Request>,
        limit: Duration,
    ) -> Self {
        let sent = match &request.body {
            formwork_google_client::Body::Json(json) => json.clone(),
            _ => Json::Null,
        };
        Self {
            act,
            request,
            request_id: mapping.request_id,
            operation: mapping.operation.as_deref().and_then(OperationKind::parse),
            key,
            sent,
            limit,
        }
    }
}

/// How a change ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The request or its operation answered this.
    Answered(Json),
    /// It was found to have happened; the object.
    Found(Json),
    /// The object is gone: a deletion's end.
    Gone,
}

/// What looking for the outcome of a request brought.
pub(crate) enum Look {
    Operation(Operation),
    Object(Json),
    Nothing,
}

impl Cloud {
    /// Makes a change.
    pub(crate) async fn change(
        &self,
        change: &Change,
        log: &dyn OperationLog,
    ) -> Result<Outcome, Failure> {
        let mut sent = 0u32;
        loop {
            sent += 1;
            let mut request = change.request.clone();
            let id = change.request_id.then(|| self.environment.uuid());
            if let Some(id) = &id {
                request.query.push(("requestId".into(), id.clone()));
            }
            note_request(change, &request, id.as_deref(), log).await?;
            let error = match self.client.send(&request).await {
                Ok(answer) => return self.follow(change, &request, answer.body, log).await,
                Err(error) => error,
            };
            match (change.act, error.kind) {
                (Act::Delete, ErrorKind::NotFound) => return Ok(Outcome::Gone),
                // After a first attempt of unknown fate "exists already" may speak of our own object.
                (Act::Create, ErrorKind::AlreadyExists) if sent > 1 => {
                    if let Some(found) = self.found_ours(change).await.map_err(Failure::Lost)? {
                        return Ok(Outcome::Found(found));
                    }
                    return Err(error.into());
                }
                _ if error.outcome_known() => return Err(error.into()),
                _ => {}
            }
            tracing::debug!(request = %request.line(), "outcome unknown, looking for it");
            match self
                .look(change, id.as_deref())
                .await
                .map_err(Failure::Lost)?
            {
                Look::Operation(operation) => {
                    return self.await_operation(change, &operation, None, log).await;
                }
                Look::Object(object) => match change.act {
                    Act::Create => {
                        if contradiction(&object, &change.sent).is_none() {
                            return Ok(Outcome::Found(object));
                        }
                        return Err(error.into());
                    }
                    Act::Update if shows(&object, &change.sent) => {
                        return Ok(Outcome::Found(object));
                    }
                    _ => {}
                },
                Look::Nothing => {
                    if change.act == Act::Delete && change.key.is_some() {
                        return Ok(Outcome::Gone);
                    }
                }
            }
            if sent > RESENDS {
                // It was not there when it was looked for, but the last one may be on its way still.
                return Err(Failure::Lost(error));
            }
        }
    }

    /// Notes and sends a request once, without looking for a lost outcome: the caller reads what it
    /// changed anyway.
    pub(crate) async fn client_once(
        &self,
        change: &Change,
        act: Act,
        log: &dyn OperationLog,
    ) -> Result<(), Failure> {
        let noted = Change {
            act,
            request: change.request.clone(),
            request_id: false,
            operation: None,
            key: None,
            sent: Json::Null,
            limit: change.limit,
        };
        note_request(&noted, &noted.request, None, log).await?;
        self.client.send(&noted.request).await?;
        Ok(())
    }

    /// The object of a creation that was refused because it exists, if it is what was asked for. New
    /// objects are not seen everywhere at once, so it is looked for patiently.
    async fn found_ours(&self, change: &Change) -> Result<Option<Json>, GoogleError> {
        let Some(key) = &change.key else {
            return Ok(None);
        };
        let begun = tokio::time::Instant::now();
        loop {
            match self.client.send(key).await {
                Ok(answer) if contradiction(&answer.body, &change.sent).is_none() => {
                    return Ok(Some(answer.body));
                }
                Ok(_) => return Ok(None),
                Err(e) if e.kind == ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
            if begun.elapsed() > EVENTUALLY {
                return Ok(None);
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// Looks for what became of a request.
    pub(crate) async fn look(
        &self,
        change: &Change,
        id: Option<&str>,
    ) -> Result<Look, GoogleError> {
        for attempt in 0..2 {
            if attempt > 0 {
                // The request may still have been on its way.
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
            if let Some(id) = id
                && let Some(operation) = self.operation_of(&change.request, id).await?
            {
                return Ok(Look::Operation(operation));
            }
            if let Some(key) = &change.key {
                match self.client.send(key).await {
                    Ok(answer) => return Ok(Look::Object(answer.body)),
                    Err(e) if e.kind == ErrorKind::NotFound => {}
                    Err(e) => return Err(e),
                }
            }
        }
        Ok(Look::Nothing)
    }

    /// The compute operation that a request id began.
    pub(crate) async fn operation_of(
        &self,
        request: &Request,
        id: &str,
    ) -> Result<Option<Operation>, GoogleError> {
        let Some(scope) = operations_scope(&request.path) else {
            return Ok(None);
        };
        let mut list = self.get(&request.service, format!("{scope}/operations"));
        list.query
            .push(("filter".into(), format!("clientOperationId=\"{id}\"")));
        let listed = self
            .client
            .list(&list, &Listing::Array("items".into()))
            .await?;
        let found = listed
            .items
            .iter()
            .find(|op| op.get("clientOperationId").and_then(Json::as_str) == Some(id));
        found
            .map(|op| Operation::from_answer(OperationKind::Compute, request, op))
            .transpose()
    }

    async fn follow(
        &self,
        change: &Change,
        request: &Request,
        answer: Json,
        log: &dyn OperationLog,
    ) -> Result<Outcome, Failure> {
        let Some(kind) = change.operation else {
            return Ok(Outcome::Answered(answer));
        };
        let operation = Operation::from_answer(kind, request, &answer).map_err(Failure::Lost)?;
        self.await_operation(change, &operation, Some(&answer), log)
            .await
    }

    async fn await_operation(
        &self,
        change: &Change,
        operation: &Operation,
        first: Option<&Json>,
        log: &dyn OperationLog,
    ) -> Result<Outcome, Failure> {
        self.ended(change, operation, first, log)
            .await
            .map_err(|failure| failure.called(&change.request.line()))
    }

    async fn ended(
        &self,
        change: &Change,
        operation: &Operation,
        first: Option<&Json>,
        log: &dyn OperationLog,
    ) -> Result<Outcome, Failure> {
        note(log, &json!({"v": 1, "operation": operation.note()}))
            .await
            .map_err(Failure::after_sending)?;
        match self.client.wait(operation, first, change.limit).await {
            Ok(body) => Ok(Outcome::Answered(body)),
            // The service has forgotten the operation: the object tells.
            Err(e)
                if e.kind == ErrorKind::NotFound
                    && e.http_status == 404
                    && e.request.contains("/operations/") =>
            {
                match self.look(change, None).await.map_err(Failure::Lost)? {
                    Look::Object(object) if change.act != Act::Delete => Ok(Outcome::Found(object)),
                    Look::Nothing if change.act == Act::Delete => Ok(Outcome::Gone),
                    _ => Err(e.into()),
                }
            }
            Err(e) if change.act == Act::Delete && e.kind == ErrorKind::NotFound => {
                Ok(Outcome::Gone)
            }
            // The operation goes on, or could not be asked for: not its own end.
            Err(e) if e.kind == ErrorKind::Timeout || !e.request.is_empty() => {
                Err(Failure::Lost(e))
            }
            Err(e) => Err(e.into()),
        }
    }
}

async fn note_request(
    change: &Change,
    request: &Request,
    id: Option<&str>,
    log: &dyn OperationLog,
) -> Result<(), Failure> {
    let act = match change.act {
        Act::Create => "create",
        Act::Read => "read",
        Act::Update => "update",
        Act::Delete => "delete",
    };
    let key = change
        .key
        .as_ref()
        .map(|k| json!({"service": k.service, "path": k.path}));
    note(
        log,
        &json!({
            "v": 1, "act": act, "method": request.method.as_str(), "service": request.service,
            "path": request.path, "request_id": id, "key": key,
        }),
    )
    .await
}

/// Notes JSON; durable when it returns.
pub(crate) async fn note(log: &dyn OperationLog, json: &Json) -> Result<(), Failure> {
    log.note(json.to_string().into_bytes())
        .await
        .map_err(Failure::from)
}

/// Where compute keeps the operations of a request: `compute/v1/projects/p/zones/z`.
fn operations_scope(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    if parts.first() != Some(&"compute") || parts.get(2) != Some(&"projects") {
        return None;
    }
    let take = match parts.get(4) {
        Some(&"global") => 5,
        Some(&("zones" | "regions")) => 6,
        _ => return None,
    };
    Some(parts.get(..take)?.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_live_beside_the_collection() {
        for (path, scope) in [
            (
                "compute/v1/projects/p/global/networks",
                Some("compute/v1/projects/p/global"),
            ),
            (
                "compute/v1/projects/p/zones/z/instances/i/stop",
                Some("compute/v1/projects/p/zones/z"),
            ),
            (
                "compute/v1/projects/p/regions/r/routers/x",
                Some("compute/v1/projects/p/regions/r"),
            ),
            ("v1/projects/p/locations/l/instances", None),
        ] {
            assert_eq!(operations_scope(path).as_deref(), scope);
        }
    }
}
