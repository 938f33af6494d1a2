//! Long-running operations: what they look like on the wire and how their end is awaited.
//!
//! Compute has a method `wait` that holds the line for up to two minutes and may come back early;
//! it is sent again at once when it held the line, and after a pause when it did not, so that a
//! server which answers at once is not hammered. Cloud Run's v2 has one as well. All others are
//! polled: first after 200 ms, then with pauses that grow to a tenth of the time already waited,
//! 10 s at most.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::client::Client;
use crate::error::{ErrorKind, GoogleError};
use crate::request::{Method, Request};

/// The families of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// compute#operation.
    Compute,
    /// google.longrunning.Operation.
    Longrunning,
    /// GKE's own.
    Container,
    /// Cloud SQL's own.
    Sql,
}

impl OperationKind {
    /// The name used in notes and data files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Longrunning => "longrunning",
            Self::Container => "container",
            Self::Sql => "sql",
        }
    }

    /// The kind of that name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Compute, Self::Longrunning, Self::Container, Self::Sql]
            .into_iter()
            .find(|k| k.as_str() == text)
    }
}

/// A running operation: everything needed to ask for it again, from another process too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Its family.
    pub kind: OperationKind,
    /// The service that runs it.
    pub service: String,
    /// The path to GET it at, below the host.
    pub path: String,
    /// The project that the requests are put to.
    pub user_project: Option<String>,
}

/// What is known of an operation.
#[derive(Debug, Clone, PartialEq)]
pub enum OperationState {
    /// It goes on.
    Running,
    /// It has ended well; its body.
    Done(Value),
    /// It has ended badly.
    Failed(GoogleError),
}

impl Operation {
    /// Reads the operation that answered `request`.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] when the body names no operation.
    pub fn from_answer(
        kind: OperationKind,
        request: &Request,
        body: &Value,
    ) -> Result<Self, GoogleError> {
        let name = body.get("name").and_then(Value::as_str).unwrap_or_default();
        if name.is_empty() {
            return Err(GoogleError::local(
                ErrorKind::Malformed,
                "the service answered without the name of an operation",
            )
            .of(&request.line()));
        }
        let path = match kind {
            OperationKind::Compute => compute_path(request, body, name),
            // `v1/` or `v2alpha1/`: the version of the request's path.
            OperationKind::Longrunning => {
                let mut parts = request.path.split('/');
                let first = parts.next().unwrap_or("v1");
                if request.service == "storage" {
                    // Storage nests operations below the bucket.
                    match body.get("selfLink").and_then(Value::as_str) {
                        Some(link) => after(link, "/storage/v1/").map_or_else(
                            || format!("storage/v1/{name}"),
                            |p| format!("storage/v1/{p}"),
                        ),
                        None => format!("storage/v1/{}", name.trim_start_matches('/')),
                    }
                } else {
                    format!("{first}/{name}")
                }
            }
            OperationKind::Container => {
                // The location is in the request; the operation's own links use the project's number.
                let version = request.path.split('/').next().unwrap_or("v1");
                let scope = scope_of(&request.path, "locations")
                    .or_else(|| scope_of(&request.path, "zones"))
                    .unwrap_or_default();
                format!("{version}/{scope}/operations/{name}")
            }
            OperationKind::Sql => {
                let head = request
                    .path
                    .split_once("/instances")
                    .map_or(request.path.as_str(), |(head, _)| head);
                format!("{head}/operations/{name}")
            }
        };
        Ok(Self {
            kind,
            service: request.service.clone(),
            path,
            user_project: request.user_project.clone(),
        })
    }

    /// The operation as a note, to be found again by [`Operation::from_note`].
    pub fn note(&self) -> Value {
        json!({"kind": self.kind.as_str(), "service": self.service, "path": self.path, "user_project": self.user_project})
    }

    /// Reads a note.
    pub fn from_note(note: &Value) -> Option<Self> {
        let text = |key: &str| note.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            kind: OperationKind::parse(&text("kind")?)?,
            service: text("service")?,
            path: text("path")?,
            user_project: text("user_project"),
        })
    }

    /// Reads the state in an operation's body.
    pub fn state(&self, body: &Value) -> OperationState {
        state_of(self.kind, body)
    }
}

/// Reads the state in an operation's body.
fn state_of(kind: OperationKind, body: &Value) -> OperationState {
    let status = body
        .get("status")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match kind {
        OperationKind::Longrunning => {
            if body.get("done").and_then(Value::as_bool) != Some(true) {
                return OperationState::Running;
            }
            match body.get("error") {
                Some(error) if error.is_object() => {
                    OperationState::Failed(GoogleError::from_operation(error, 0))
                }
                _ => OperationState::Done(body.clone()),
            }
        }
        OperationKind::Compute | OperationKind::Sql => {
            if status != "DONE" {
                return OperationState::Running;
            }
            match body.get("error") {
                Some(error) if error.is_object() => {
                    let http = body
                        .get("httpErrorStatusCode")
                        .and_then(Value::as_u64)
                        .and_then(|n| u16::try_from(n).ok())
                        .unwrap_or(0);
                    OperationState::Failed(GoogleError::from_operation(error, http))
                }
                _ => OperationState::Done(body.clone()),
            }
        }
        OperationKind::Container => match status {
            "DONE" => {
                if let Some(error) = body.get("error").filter(|e| e.is_object()) {
                    return OperationState::Failed(GoogleError::from_operation(error, 0));
                }
                match body.get("statusMessage").and_then(Value::as_str) {
                    Some(message) if !message.is_empty() => OperationState::Failed(
                        GoogleError::from_operation(&json!({ "message": message }), 400),
                    ),
                    _ => OperationState::Done(body.clone()),
                }
            }
            "ABORTING" | "PENDING" | "RUNNING" | "" => OperationState::Running,
            other => OperationState::Failed(GoogleError::local(
                ErrorKind::Cancelled,
                format!("the operation ended in state {other}"),
            )),
        },
    }
}

fn compute_path(request: &Request, body: &Value, name: &str) -> String {
    if let Some(path) = body
        .get("selfLink")
        .and_then(Value::as_str)
        .and_then(|link| link.find("/compute/").map(|at| &link[at + 1..]))
    {
        return path.to_owned();
    }
    let prefix: Vec<&str> = request.path.split('/').take(4).collect();
    let prefix = prefix.join("/");
    let last = |key: &str| {
        body.get(key)
            .and_then(Value::as_str)
            .and_then(|url| url.rsplit('/').next())
            .map(str::to_owned)
    };
    match (last("zone"), last("region")) {
        (Some(zone), _) => format!("{prefix}/zones/{zone}/operations/{name}"),
        (None, Some(region)) => format!("{prefix}/regions/{region}/operations/{name}"),
        (None, None) => format!("{prefix}/global/operations/{name}"),
    }
}

/// `projects/P/locations/L` out of a longer path.
fn scope_of(path: &str, collection: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    let project = parts.iter().position(|p| *p == "projects")?;
    let at = parts.iter().position(|p| *p == collection)?;
    Some(format!(
        "projects/{}/{collection}/{}",
        parts.get(project + 1)?,
        parts.get(at + 1)?
    ))
}

fn after<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    text.find(mark).map(|at| &text[at + mark.len()..])
}

/// The pause before the next poll when `waited` has passed.
fn pause(waited: Duration) -> Duration {
    (waited / 10).clamp(Duration::from_millis(200), Duration::from_secs(10))
}

impl Client {
    /// Asks for an operation once.
    ///
    /// # Errors
    /// When the operation cannot be read; [`ErrorKind::NotFound`] when the service has forgotten it.
    pub async fn operation(&self, operation: &Operation) -> Result<OperationState, GoogleError> {
        let mut get = Request::get(&operation.service, operation.path.clone());
        get.user_project.clone_from(&operation.user_project);
        let answer = self.send(&get).await?;
        Ok(operation.state(&answer.body))
    }

    /// Awaits the end of an operation and returns its body. `first` is the body that the mutating
    /// request answered with: an operation that is already done costs no further request.
    ///
    /// # Errors
    /// The operation's own error; [`ErrorKind::Timeout`] when `limit` passes first (the operation
    /// goes on); [`ErrorKind::NotFound`] when the service does not know it.
    pub async fn wait(
        &self,
        operation: &Operation,
        first: Option<&Value>,
        limit: Duration,
    ) -> Result<Value, GoogleError> {
        let begun = Instant::now();
        let mut state = first.map_or(OperationState::Running, |body| operation.state(body));
        let holds_the_line = operation.kind == OperationKind::Compute;
        // An operation that has just been named may be unknown to the server that is asked next.
        let mut unknown = 0u32;
        loop {
            match state {
                OperationState::Done(body) => return Ok(body),
                OperationState::Failed(error) => return Err(error),
                OperationState::Running => {}
            }
            let waited = begun.elapsed();
            if waited >= limit {
                return Err(GoogleError::local(
                    ErrorKind::Timeout,
                    format!(
                        "the operation {} has not ended after {} s; it goes on",
                        operation.path,
                        waited.as_secs()
                    ),
                ));
            }
            let asked = Instant::now();
            let mut ask = if holds_the_line {
                Request::new(
                    Method::Post,
                    &operation.service,
                    format!("{}/wait", operation.path),
                )
                .reads()
            } else {
                tokio::time::sleep(pause(waited).min(limit - waited)).await;
                Request::get(&operation.service, operation.path.clone())
            };
            ask.user_project.clone_from(&operation.user_project);
            state = match self.send(&ask).await {
                Ok(answer) => operation.state(&answer.body),
                Err(e) if e.kind == ErrorKind::NotFound && unknown < 5 => {
                    unknown += 1;
                    OperationState::Running
                }
                // `wait` may hold the line for longer than a request may take: asking again is all
                // that is lost.
                Err(e) if e.kind == ErrorKind::Cut && begun.elapsed() < limit => {
                    OperationState::Running
                }
                Err(e) => return Err(e),
            };
            // The floor: `wait` that came back early and not done is asked again after a pause.
            let held = asked.elapsed();
            let floor = pause(begun.elapsed());
            if holds_the_line && state == OperationState::Running && held < floor {
                tokio::time::sleep(floor - held).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_found_where_they_live() {
        let cases = [
            (
                OperationKind::Compute,
                "compute",
                "compute/v1/projects/p/zones/z/instances",
                r#"{"name":"op1","zone":"https://www.googleapis.com/compute/v1/projects/p/zones/z"}"#,
                "compute/v1/projects/p/zones/z/operations/op1",
            ),
            (
                OperationKind::Compute,
                "compute",
                "compute/v1/projects/p/global/networks",
                r#"{"name":"op1","selfLink":"https://www.googleapis.com/compute/v1/projects/p/global/operations/op1"}"#,
                "compute/v1/projects/p/global/operations/op1",
            ),
            (
                OperationKind::Compute,
                "compute",
                "compute/v1/projects/p/global/networks",
                r#"{"name":"op1"}"#,
                "compute/v1/projects/p/global/operations/op1",
            ),
            (
                OperationKind::Longrunning,
                "file",
                "v1/projects/p/locations/l/instances",
                r#"{"name":"projects/p/locations/l/operations/o"}"#,
                "v1/projects/p/locations/l/operations/o",
            ),
            (
                OperationKind::Container,
                "container",
                "v1/projects/p/locations/l/clusters",
                r#"{"name":"operation-1"}"#,
                "v1/projects/p/locations/l/operations/operation-1",
            ),
            (
                OperationKind::Sql,
                "sqladmin",
                "sql/v1beta4/projects/p/instances",
                r#"{"name":"o"}"#,
                "sql/v1beta4/projects/p/operations/o",
            ),
        ];
        for (kind, service, path, body, want) in cases {
            let request = Request::new(Method::Post, service, path);
            let body: Value = serde_json::from_str(body).unwrap();
            let op = Operation::from_answer(kind, &request, &body).unwrap();
            assert_eq!(op.path, want);
            assert_eq!(Operation::from_note(&op.note()), Some(op));
        }
        let request = Request::new(
            Method::Post,
            "compute",
            "compute/v1/projects/p/global/networks",
        );
        assert!(Operation::from_answer(OperationKind::Compute, &request, &json!({})).is_err());
    }

    #[test]
    fn pauses_adapt() {
        for (waited, want) in [
            (0, 200),
            (1_000, 200),
            (5_000, 500),
            (60_000, 6_000),
            (600_000, 10_000),
        ] {
            assert_eq!(
                pause(Duration::from_millis(waited)),
                Duration::from_millis(want)
            );
        }
    }

    #[test]
    fn states() {
        use OperationKind as K;
        let cases = [
            (K::Compute, r#"{"status":"RUNNING"}"#, "running"),
            (K::Compute, r#"{"status":"DONE"}"#, "done"),
            (
                K::Compute,
                r#"{"status":"DONE","error":{"errors":[{"code":"X"}]}}"#,
                "failed",
            ),
            (K::Longrunning, r#"{"name":"o"}"#, "running"),
            (K::Longrunning, r#"{"done":true,"response":{}}"#, "done"),
            (
                K::Longrunning,
                r#"{"done":true,"error":{"code":8,"message":"m"}}"#,
                "failed",
            ),
            (
                K::Container,
                r#"{"status":"DONE","statusMessage":"bad"}"#,
                "failed",
            ),
            (K::Container, r#"{"status":"DONE"}"#, "done"),
        ];
        for (kind, body, want) in cases {
            let got = match state_of(kind, &serde_json::from_str(body).unwrap()) {
                OperationState::Running => "running",
                OperationState::Done(_) => "done",
                OperationState::Failed(_) => "failed",
            };
            assert_eq!(got, want, "{body}");
        }
    }
}
