//! What Google refuses, in one form.
//!
//! Three forms come over the wire: *legacy* (`error.errors[].reason`: compute, storage, sqladmin),
//! *legacy with status* (container, iam, dns, bigquery) and *AIP* (`error.status`,
//! `error.details[]`: everything newer). Operations carry a fourth and a fifth. All become a
//! [`GoogleError`] whose [`ErrorKind`] says what a caller can do about it.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use serde_json::Value;

/// What a refusal means to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The object does not exist.
    NotFound,
    /// An object of that name exists.
    AlreadyExists,
    /// Somebody else changed it meanwhile (stale etag, generation or fingerprint): read again.
    Conflict,
    /// It cannot be deleted or changed while others use it.
    InUse,
    /// Something it refers to is not ready yet: later.
    NotReady,
    /// Another operation runs on it: later.
    Busy,
    /// A quota of the project is used up.
    Quota,
    /// Google has no such machine free at the moment.
    Capacity,
    /// Too many requests: later.
    RateLimited,
    /// The API is not enabled in the project.
    ServiceDisabled,
    /// The caller may not.
    Permission,
    /// The token was refused.
    Unauthenticated,
    /// No token could be had; nothing was sent.
    Credentials,
    /// The request is wrong, and will be wrong again.
    Invalid,
    /// The service failed (5xx). Whether it did what was asked is not known.
    Server,
    /// The answer is not what the API promises. Whether it did what was asked is not known.
    Malformed,
    /// No connection was made; nothing was sent.
    Unreachable,
    /// The connection was lost after the request was sent. The outcome is not known.
    Cut,
    /// An operation did not end within the time given to it.
    Timeout,
    /// The operation was cancelled.
    Cancelled,
}

/// The parts of a refusal.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorAnswer {
    /// What it means.
    pub kind: ErrorKind,
    /// The HTTP status, 0 when no answer came.
    pub http_status: u16,
    /// The machine-readable reason (`resourceNotReady`, `QUOTA_EXCEEDED`, `SERVICE_DISABLED`), or
    /// empty.
    pub reason: String,
    /// The canonical status (`FAILED_PRECONDITION`), or empty.
    pub status: String,
    /// Google's sentence, for people.
    pub message: String,
    /// Typed details as they came.
    pub details: Vec<Value>,
    /// How long the service asks to wait.
    pub retry_after: Option<Duration>,
    /// The request line that was refused, without query; empty for operations.
    pub request: String,
    /// The request line that it all began with: of an operation, the one that began it.
    pub call: String,
}

/// A refusal. Cheap to move; its parts are reached by dereference.
#[derive(Debug, Clone, PartialEq)]
pub struct GoogleError(Box<ErrorAnswer>);

impl Deref for GoogleError {
    type Target = ErrorAnswer;
    fn deref(&self) -> &ErrorAnswer {
        &self.0
    }
}

impl DerefMut for GoogleError {
    fn deref_mut(&mut self) -> &mut ErrorAnswer {
        &mut self.0
    }
}

impl std::error::Error for GoogleError {}

impl fmt::Display for GoogleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let code = if self.reason.is_empty() {
            &self.status
        } else {
            &self.reason
        };
        match (self.http_status, code.is_empty()) {
            (0, true) => Ok(()),
            (0, false) => write!(f, " ({code})"),
            (n, true) => write!(f, " (HTTP {n})"),
            (n, false) => write!(f, " (HTTP {n}, {code})"),
        }
    }
}

impl GoogleError {
    /// An error of our own making: nothing came from Google.
    pub fn local(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(ErrorAnswer {
            kind,
            http_status: 0,
            reason: String::new(),
            status: String::new(),
            message: message.into(),
            details: Vec::new(),
            retry_after: None,
            request: String::new(),
            call: String::new(),
        }))
    }

    /// Reads the body of an answer with an error status.
    pub fn from_answer(http_status: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        let mut e = match serde_json::from_slice::<Value>(body) {
            Ok(json) if json.get("error").is_some_and(Value::is_object) => {
                Self::from_error_object(&json["error"], http_status)
            }
            // OAuth's form: {"error": "invalid_grant", "error_description": "..."}
            Ok(json) if json.get("error").is_some_and(Value::is_string) => {
                let mut e = Self::local(
                    ErrorKind::Invalid,
                    text(&json, "error_description").unwrap_or_default(),
                );
                e.reason = text(&json, "error").unwrap_or_default();
                e
            }
            _ => {
                // Not ours to parse: a proxy's HTML, or plain text (storage's media paths).
                let shown: String = String::from_utf8_lossy(body).chars().take(300).collect();
                Self::local(ErrorKind::Invalid, shown.trim().to_owned())
            }
        };
        e.http_status = http_status;
        e.retry_after = retry_after;
        if e.message.is_empty() {
            e.message = format!("the service answered {http_status} without a message");
        }
        e.kind = classify(&e);
        e
    }

    /// Reads the error of a finished operation: compute's and sql's `{errors: [...]}`, the others'
    /// `{code, message, details}`. `http` is compute's `httpErrorStatusCode`, else 0.
    pub fn from_operation(error: &Value, http: u16) -> Self {
        let mut e = Self::from_error_object(error, http);
        // google.rpc.Code: its name, and the HTTP status it stands for.
        let (http, status) = match error.get("code").and_then(Value::as_u64) {
            Some(1) => (499, "CANCELLED"),
            Some(3) => (400, "INVALID_ARGUMENT"),
            Some(4) => (504, "DEADLINE_EXCEEDED"),
            Some(5) => (404, "NOT_FOUND"),
            Some(6) => (409, "ALREADY_EXISTS"),
            Some(7) => (403, "PERMISSION_DENIED"),
            Some(8) => (429, "RESOURCE_EXHAUSTED"),
            Some(9) => (400, "FAILED_PRECONDITION"),
            Some(10) => (409, "ABORTED"),
            Some(11) => (400, "OUT_OF_RANGE"),
            Some(12) => (501, "UNIMPLEMENTED"),
            Some(14) => (503, "UNAVAILABLE"),
            Some(16) => (401, "UNAUTHENTICATED"),
            Some(n @ 400..=599) => (u16::try_from(n).unwrap_or(0), ""),
            _ => (0, ""),
        };
        if e.http_status == 0 {
            e.http_status = http;
        }
        if e.status.is_empty() {
            status.clone_into(&mut e.status);
        }
        if e.message.is_empty() {
            "the operation failed without a message".clone_into(&mut e.message);
        }
        e.kind = classify(&e);
        // An operation that has ended is never worth the same request's repetition by itself.
        if matches!(e.kind, ErrorKind::Server | ErrorKind::RateLimited) {
            e.kind = if e.kind == ErrorKind::RateLimited {
                ErrorKind::Quota
            } else {
                ErrorKind::Invalid
            };
        }
        e
    }

    fn from_error_object(error: &Value, http_status: u16) -> Self {
        let mut e = Self::local(
            ErrorKind::Invalid,
            text(error, "message").unwrap_or_default(),
        );
        e.http_status = http_status;
        e.status = text(error, "status").unwrap_or_default();
        if let Some(details) = error.get("details").and_then(Value::as_array) {
            e.details.clone_from(details);
        }
        let first = error
            .get("errors")
            .and_then(Value::as_array)
            .and_then(|all| all.first());
        if let Some(first) = first {
            e.reason = text(first, "reason")
                .or_else(|| text(first, "code"))
                .unwrap_or_default();
            if e.message.is_empty() {
                e.message = text(first, "message").unwrap_or_default();
            }
            if let Some(more) = first.get("errorDetails").and_then(Value::as_array) {
                e.details.extend(more.iter().cloned());
            }
        }
        if let Some(reason) = e.details.iter().find_map(error_info_reason) {
            // ErrorInfo's reason is finer than the legacy one, except that compute's operation
            // codes are already the finest.
            if e.reason.is_empty() || e.reason == "forbidden" || e.reason == "badRequest" {
                e.reason = reason;
            }
        }
        e
    }

    /// Whether it is known that the request had no effect. When it is not, the caller has to look.
    pub fn outcome_known(&self) -> bool {
        !matches!(
            self.kind,
            ErrorKind::Server | ErrorKind::Cut | ErrorKind::Malformed
        )
    }

    /// Zones that the service says could serve the request instead, from the details of a capacity
    /// error.
    pub fn zones_available(&self) -> Vec<String> {
        let mut zones = Vec::new();
        for detail in &self.details {
            let info = detail.get("errorInfo").unwrap_or(detail);
            let listed = info
                .get("metadatas")
                .or_else(|| info.get("metadata"))
                .and_then(|m| m.get("zonesAvailable"))
                .and_then(Value::as_str)
                .unwrap_or_default();
            zones.extend(
                listed
                    .split([',', ' '])
                    .filter(|z| !z.is_empty())
                    .map(str::to_owned),
            );
        }
        zones
    }

    /// With the request line that was refused.
    #[must_use]
    pub fn of(mut self, request: &str) -> Self {
        request.clone_into(&mut self.request);
        if self.call.is_empty() {
            request.clone_into(&mut self.call);
        }
        self
    }

    /// With the request line that it all began with.
    #[must_use]
    pub fn called(mut self, call: &str) -> Self {
        call.clone_into(&mut self.call);
        self
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn error_info_reason(detail: &Value) -> Option<String> {
    let info = detail.get("errorInfo").unwrap_or(detail);
    let typed = detail
        .get("@type")
        .and_then(Value::as_str)
        .is_some_and(|t| t.ends_with("google.rpc.ErrorInfo"));
    if typed || detail.get("errorInfo").is_some() {
        text(info, "reason")
    } else {
        None
    }
}

/// The table of meanings. Reasons first, then the canonical status, then HTTP.
fn classify(e: &ErrorAnswer) -> ErrorKind {
    let lower = e.message.to_lowercase();
    let says = |part: &str| lower.contains(part);
    match e.reason.as_str() {
        "notFound" | "RESOURCE_NOT_FOUND" => return ErrorKind::NotFound,
        "alreadyExists" | "RESOURCE_ALREADY_EXISTS" => return ErrorKind::AlreadyExists,
        "conditionNotMet" | "CONDITION_NOT_MET" => return ErrorKind::Conflict,
        "resourceInUseByAnotherResource"
        | "resourceInUse"
        | "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE" => return ErrorKind::InUse,
        "resourceNotReady" | "RESOURCE_NOT_READY" => return ErrorKind::NotReady,
        "operationInProgress"
        | "OPERATION_IN_PROGRESS"
        | "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED" => return ErrorKind::Busy,
        "rateLimitExceeded" | "userRateLimitExceeded" | "RATE_LIMIT_EXCEEDED" => {
            return ErrorKind::RateLimited;
        }
        "quotaExceeded" | "QUOTA_EXCEEDED" => {
            // "Quota exceeded for quota metric ... per minute" is a rate, and passes by itself.
            return if says("per minute") {
                ErrorKind::RateLimited
            } else {
                ErrorKind::Quota
            };
        }
        "ZONE_RESOURCE_POOL_EXHAUSTED"
        | "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"
        | "REGION_RESOURCE_POOL_EXHAUSTED"
        | "stockout"
        | "GCE_STOCKOUT" => return ErrorKind::Capacity,
        "accessNotConfigured" | "SERVICE_DISABLED" => return ErrorKind::ServiceDisabled,
        "authError" | "required_auth" | "ACCESS_TOKEN_EXPIRED" => {
            return ErrorKind::Unauthenticated;
        }
        _ => {}
    }
    if says("gce_stockout")
        || says("does not have enough resources available")
        || says("no more capacity in the zone")
        || (says("reservation") && says("insufficient") && says("capacity"))
    {
        return ErrorKind::Capacity;
    }
    if e.http_status == 400 || e.status == "FAILED_PRECONDITION" || e.http_status == 409 {
        if says("operation in progress")
            || says("operation is in progress")
            || says("incompatible operation")
            || says("is currently operating on")
            || says("another activation or deactivation")
        {
            return ErrorKind::Busy;
        }
        // A service account made a moment ago is not known everywhere yet.
        if says("service account") && says("does not exist") {
            return ErrorKind::NotReady;
        }
        if says("is not ready") {
            return ErrorKind::NotReady;
        }
        if says("is being used by") || says("in use by") {
            return ErrorKind::InUse;
        }
    }
    match e.status.as_str() {
        "NOT_FOUND" => return ErrorKind::NotFound,
        "ALREADY_EXISTS" => return ErrorKind::AlreadyExists,
        "ABORTED" => return ErrorKind::Conflict,
        "RESOURCE_EXHAUSTED" => {
            return if says("per minute") || says("rate") {
                ErrorKind::RateLimited
            } else if says("capacity") {
                ErrorKind::Capacity
            } else {
                ErrorKind::Quota
            };
        }
        "PERMISSION_DENIED" => return ErrorKind::Permission,
        "UNAUTHENTICATED" => return ErrorKind::Unauthenticated,
        "CANCELLED" => return ErrorKind::Cancelled,
        _ => {}
    }
    match e.http_status {
        401 => ErrorKind::Unauthenticated,
        403 if says("per minute") => ErrorKind::RateLimited,
        403 => ErrorKind::Permission,
        404 | 410 => ErrorKind::NotFound,
        409 if says("already exist") => ErrorKind::AlreadyExists,
        409 | 412 => ErrorKind::Conflict,
        429 => ErrorKind::RateLimited,
        499 => ErrorKind::Cancelled,
        // Not built there: it will not be there a second later either.
        501 => ErrorKind::Invalid,
        500..=599 => ErrorKind::Server,
        _ => ErrorKind::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ErrorKind as K;

    #[test]
    fn answers_of_every_style() {
        let legacy = |code: u16, reason: &str, message: &str| {
            format!(
                r#"{{"error":{{"code":{code},"message":"{message}","errors":[{{"message":"{message}","domain":"global","reason":"{reason}"}}]}}}}"#
            )
        };
        let aip = |code: u16, status: &str, message: &str, reason: &str| {
            format!(
                r#"{{"error":{{"code":{code},"message":"{message}","status":"{status}","details":[{{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"{reason}","domain":"googleapis.com"}}]}}}}"#
            )
        };
        let cases: Vec<(u16, String, K)> = vec![
            (
                404,
                legacy(404, "notFound", "The resource 'x' was not found"),
                K::NotFound,
            ),
            (
                409,
                legacy(409, "alreadyExists", "exists"),
                K::AlreadyExists,
            ),
            (
                400,
                legacy(400, "resourceInUseByAnotherResource", "used"),
                K::InUse,
            ),
            (
                400,
                legacy(400, "resourceNotReady", "not ready"),
                K::NotReady,
            ),
            (
                400,
                legacy(400, "invalid", "Invalid value for field"),
                K::Invalid,
            ),
            (412, legacy(412, "conditionNotMet", "stale"), K::Conflict),
            (
                403,
                legacy(403, "quotaExceeded", "Quota 'CPUS' exceeded"),
                K::Quota,
            ),
            (
                403,
                legacy(403, "rateLimitExceeded", "slow down"),
                K::RateLimited,
            ),
            (403, legacy(403, "forbidden", "no"), K::Permission),
            (
                403,
                legacy(403, "accessNotConfigured", "API off"),
                K::ServiceDisabled,
            ),
            (
                409,
                legacy(
                    409,
                    "conflict",
                    "The bucket you tried to delete is not empty.",
                ),
                K::Conflict,
            ),
            (404, aip(404, "NOT_FOUND", "gone", ""), K::NotFound),
            (
                409,
                aip(409, "ALREADY_EXISTS", "exists", ""),
                K::AlreadyExists,
            ),
            (409, aip(409, "ABORTED", "stale etag", ""), K::Conflict),
            (
                403,
                aip(403, "PERMISSION_DENIED", "off", "SERVICE_DISABLED"),
                K::ServiceDisabled,
            ),
            (403, aip(403, "PERMISSION_DENIED", "no", ""), K::Permission),
            (
                429,
                aip(429, "RESOURCE_EXHAUSTED", "rate", "RATE_LIMIT_EXCEEDED"),
                K::RateLimited,
            ),
            (
                400,
                aip(
                    400,
                    "FAILED_PRECONDITION",
                    "An operation is in progress",
                    "",
                ),
                K::Busy,
            ),
            (429, "slow".into(), K::RateLimited),
            (502, "<html>".into(), K::Server),
            (
                401,
                legacy(401, "authError", "Invalid Credentials"),
                K::Unauthenticated,
            ),
        ];
        for (status, body, kind) in cases {
            let e = GoogleError::from_answer(status, None, body.as_bytes());
            assert_eq!((e.kind, e.http_status), (kind, status), "{body}");
            assert!(!e.message.is_empty());
        }
    }

    #[test]
    fn operations_fail_in_their_own_words() {
        let stockout: Value = serde_json::from_str(
            r#"{"errors":[{"code":"ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS","message":"no a4","errorDetails":[{"errorInfo":{"reason":"resource_availability","metadatas":{"zonesAvailable":"us-a, us-b"}}}]}]}"#,
        )
        .unwrap();
        let e = GoogleError::from_operation(&stockout, 503);
        assert_eq!(e.kind, K::Capacity);
        assert_eq!(e.zones_available(), ["us-a", "us-b"]);
        let cases = [
            (
                r#"{"code":8,"message":"There is no more capacity in the zone"}"#,
                K::Capacity,
            ),
            (r#"{"code":6,"message":"exists"}"#, K::AlreadyExists),
            (r#"{"code":13,"message":"internal"}"#, K::Invalid),
            (
                r#"{"errors":[{"code":"QUOTA_EXCEEDED","message":"q"}]}"#,
                K::Quota,
            ),
            (
                r#"{"errors":[{"code":"RESOURCE_IN_USE_BY_ANOTHER_RESOURCE","message":"u"}]}"#,
                K::InUse,
            ),
        ];
        for (text, kind) in cases {
            let e = GoogleError::from_operation(&serde_json::from_str(text).unwrap(), 0);
            assert_eq!(e.kind, kind, "{text}");
        }
    }
}
