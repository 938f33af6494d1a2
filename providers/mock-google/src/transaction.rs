//! One request's reading of the world, and the changes it asks for.
//!
//! Handlers see the store as it is and add changes; nobody else sees those before the whole request is
//! durable. A refused request changes nothing.

use serde_json::Value;

use crate::catalogue::Catalogue;
use crate::chance;
use crate::checking::Body;
use crate::error::ApiError;
use crate::operations::{Operation, OperationError, Shape};
use crate::request::Request;
use crate::scenario::{Scenario, When};
use crate::store::{Change, Object, Store, Work};
use crate::time::Millis;

/// See the module's header.
pub(crate) struct Transaction<'a> {
    pub(crate) store: &'a Store,
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) scenario: &'a Scenario,
    pub(crate) now: Millis,
    seed: u64,
    pub(crate) next: u64,
    pub(crate) changes: Vec<Change>,
    /// Key of the object that the request is about.
    pub(crate) target: Option<String>,
    /// An injected failure of the operation that the request begins.
    pub(crate) fail: Option<OperationError>,
}

/// An operation about to begin.
pub(crate) struct Begin {
    /// `insert`, `delete`, `setLabels`...
    pub(crate) kind: String,
    /// Key of the object it works on.
    pub(crate) target: String,
    pub(crate) target_id: String,
    /// What it brings if it succeeds...
    pub(crate) success: Vec<Change>,
    /// ...and if it fails.
    pub(crate) failure: Vec<Change>,
    pub(crate) error: Option<OperationError>,
}

impl<'a> Transaction<'a> {
    pub(crate) fn new(
        store: &'a Store,
        catalogue: &'a Catalogue,
        scenario: &'a Scenario,
        now: Millis,
        next: u64,
    ) -> Self {
        Self {
            store,
            catalogue,
            scenario,
            now,
            seed: scenario.seed,
            next,
            changes: Vec::new(),
            target: None,
            fail: None,
        }
    }

    fn counter(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// A fresh decimal id.
    pub(crate) fn id(&mut self) -> String {
        let counter = self.counter();
        chance::id(self.seed, counter)
    }

    /// A fresh fingerprint (or etag).
    pub(crate) fn fingerprint(&mut self) -> String {
        let counter = self.counter();
        chance::fingerprint(self.seed, counter)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a Object> {
        self.store.get(key)
    }

    pub(crate) fn put(&mut self, key: &str, object: Object) {
        self.changes.push(Change::Put {
            key: key.to_owned(),
            object,
        });
    }

    pub(crate) fn set(&mut self, key: &str, body: Body) {
        self.changes.push(Change::Set {
            key: key.to_owned(),
            body,
            hidden: Body::new(),
        });
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.changes.push(Change::Remove {
            key: key.to_owned(),
        });
    }

    /// The number of a project.
    pub(crate) fn number(&self, project: &str) -> &'a str {
        self.scenario
            .project(project)
            .map_or("0", |project| project.number.as_str())
    }

    /// Whether one more `amount` fits a quota: refused at once, or the error of the operation.
    pub(crate) fn quota(
        &self,
        project: &str,
        place: &str,
        metric: &str,
        amount: i64,
    ) -> Result<Option<OperationError>, ApiError> {
        let Some(quota) = self.scenario.quota(project, place, metric) else {
            return Ok(None);
        };
        let used = self
            .store
            .usage(&format!("quota/{project}/{place}/{metric}"));
        if used + amount <= quota.limit {
            return Ok(None);
        }
        let text = if place == "global" {
            "globally".to_owned()
        } else {
            format!("in region {place}")
        };
        let refusal = ApiError::quota(metric, quota.limit, &text);
        match quota.refused {
            When::AtOnce => Err(refusal),
            When::InOperation => Ok(Some(OperationError {
                code: "QUOTA_EXCEEDED".to_owned(),
                message: refusal.message,
                http: 403,
                http_message: "FORBIDDEN".to_owned(),
                rpc: 8,
                details: vec![serde_json::json!({
                    "quotaInfo": {
                        "metricName": format!("compute.googleapis.com/{}", metric.to_lowercase()),
                        "limitName": format!("{metric}-per-project{}", if place == "global" { "" } else { "-region" }),
                        "limit": quota.limit,
                        "dimensions": {"region": place},
                    }
                })],
            })),
        }
    }

    /// Begins an operation of compute in the scope of a path and answers it.
    pub(crate) fn begin_compute(&mut self, request: &Request, begin: Begin) -> Value {
        let target_path = path(&begin.target).to_owned();
        let link = crate::links::full(&target_path);
        let scope = scope_of(&request.path);
        let (name, id) = self.operation_name();
        let mut operation =
            self.operation(request, begin, format!("{scope}/operations/{name}"), id);
        operation.target_link = link;
        self.answer(operation, "compute")
    }

    /// Begins a `google.longrunning` operation with its metadata; the response is the target as it
    /// stands at the end under a `@type`, or `google.protobuf.Empty`.
    pub(crate) fn begin_long_running(
        &mut self,
        request: &Request,
        begin: Begin,
        operation_path: String,
        metadata: Body,
        response_type: Option<&str>,
    ) -> Value {
        let target = begin.target.clone();
        let id = self.id();
        let mut operation = self.operation(request, begin, operation_path, id);
        operation.shape = Shape::LongRunning;
        operation.metadata = metadata;
        match response_type {
            Some(kind) => operation.response_of = Some((target, kind.to_owned())),
            None => {
                operation.response.insert(
                    "@type".into(),
                    "type.googleapis.com/google.protobuf.Empty".into(),
                );
            }
        }
        self.answer(operation, request.service())
    }

    /// A name in compute's form, and the id.
    pub(crate) fn operation_name(&mut self) -> (String, String) {
        let counter = self.counter();
        let mixed = chance::mix(self.seed, counter);
        (
            format!(
                "operation-{}-{:013x}-{:08x}-{:08x}",
                self.now,
                counter,
                mixed >> 32,
                mixed & 0xffff_ffff
            ),
            chance::id(self.seed, counter),
        )
    }

    fn operation(
        &mut self,
        request: &Request,
        begin: Begin,
        path: String,
        id: String,
    ) -> Operation {
        let error = self.fail.take().or(begin.error);
        let (low, high) = self.scenario.latency(&request.method.id);
        let counter = self.counter();
        let latency = chance::between(self.seed, counter, low, high);
        Operation {
            shape: Shape::Compute,
            path,
            id,
            method: request.method.id.clone(),
            kind: begin.kind,
            target_link: String::new(),
            target_id: begin.target_id,
            request_id: request
                .query("requestId")
                .filter(|_| request.service() == "compute")
                .map(str::to_owned),
            insert: self.now,
            start: self.now + self.scenario.operations.pending_ms.min(latency),
            end: self.now + latency,
            effects: if error.is_some() {
                begin.failure
            } else {
                begin.success
            },
            error,
            metadata: Body::new(),
            response: Body::new(),
            response_of: None,
            done: false,
        }
    }

    fn answer(&mut self, operation: Operation, service: &str) -> Value {
        let shown = operation.show(self.now);
        let key = format!("{service}/{}", operation.path);
        // whoever waits for a second deletion waits for the first
        self.changes.push(Change::Begin {
            key,
            operation: Box::new(operation),
        });
        shown
    }

    /// What an object's creation brings: it is there at once, and its operation at work on it.
    pub(crate) fn creating(&mut self, key: &str, mut object: Object) {
        object.pending = Some(Work::Creating);
        self.put(key, object);
    }
}

/// The success of a creation: fields that come only at its end, and the object is free.
pub(crate) fn created(key: &str, fields: Body) -> Vec<Change> {
    vec![
        Change::Set {
            key: key.to_owned(),
            body: fields,
            hidden: Body::new(),
        },
        Change::Mark {
            key: key.to_owned(),
            pending: None,
        },
    ]
}

/// The mark of a deletion under way.
pub(crate) fn deleting(key: &str) -> Change {
    Change::Mark {
        key: key.to_owned(),
        pending: Some(Work::Deleting),
    }
}

/// A key without its service.
pub(crate) fn path(key: &str) -> &str {
    key.split_once('/').map_or(key, |(_, path)| path)
}

/// `projects/p/zones/z` of anything in that zone; `projects/p/global` of all else.
fn scope_of(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [
            "projects",
            project,
            scope @ ("zones" | "regions"),
            place,
            ..,
        ] => {
            format!("projects/{project}/{scope}/{place}")
        }
        ["projects", project, ..] => format!("projects/{project}/global"),
        _ => "global".to_owned(),
    }
}
