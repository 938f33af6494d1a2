//! What the cloud answers when it refuses: status, reason and the three body styles of Google's APIs.
//!
//! Texts are ours; codes, reasons, and the shape of the bodies are Google's. Clients decide by code
//! and reason; of texts only those that carry a fact (a path, a field, a range) keep Google's form.

use serde_json::{Map, Value, json};

/// A refused request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ApiError {
    /// HTTP status.
    pub(crate) http: u16,
    /// The reason of the legacy style: `notFound`, `invalid`, `quotaExceeded`...
    pub(crate) reason: &'static str,
    /// The status of the newer style: `NOT_FOUND`...
    pub(crate) status: &'static str,
    /// What people read.
    pub(crate) message: String,
    /// `google.rpc` details of the newer style.
    pub(crate) details: Vec<Value>,
}

/// Which of the body styles a service speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Legacy,
    LegacyWithStatus,
    Aip,
}

fn style(service: &str) -> Style {
    match service {
        "compute" | "storage" | "sqladmin" => Style::Legacy,
        "container" | "iam" | "dns" | "bigquery" => Style::LegacyWithStatus,
        _ => Style::Aip,
    }
}

impl ApiError {
    pub(crate) fn new(
        http: u16,
        reason: &'static str,
        status: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            http,
            reason,
            status,
            message: message.into(),
            details: Vec::new(),
        }
    }

    pub(crate) fn not_found(path: &str) -> Self {
        Self::new(
            404,
            "notFound",
            "NOT_FOUND",
            format!("The resource '{path}' was not found"),
        )
    }

    pub(crate) fn already_exists(path: &str) -> Self {
        Self::new(
            409,
            "alreadyExists",
            "ALREADY_EXISTS",
            format!("The resource '{path}' already exists"),
        )
    }

    /// A value the server does not take: `resource.mtu` and why.
    pub(crate) fn invalid(field: &str, value: &str, why: impl AsRef<str>) -> Self {
        Self::bad(format!(
            "Invalid value for field '{field}': '{value}'. {}",
            why.as_ref()
        ))
    }

    /// A request that makes no sense, in one sentence.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(400, "invalid", "INVALID_ARGUMENT", message)
    }

    pub(crate) fn required(field: &str) -> Self {
        Self::new(
            400,
            "required",
            "INVALID_ARGUMENT",
            format!("Required field '{field}' not specified"),
        )
    }

    pub(crate) fn in_use(path: &str, by: &str) -> Self {
        Self::new(
            400,
            "resourceInUseByAnotherResource",
            "FAILED_PRECONDITION",
            format!("The resource '{path}' is already being used by '{by}'"),
        )
    }

    pub(crate) fn not_ready(path: &str) -> Self {
        Self::new(
            400,
            "resourceNotReady",
            "FAILED_PRECONDITION",
            format!("The resource '{path}' is not ready"),
        )
    }

    /// A precondition on the object as it stands, such as a stale fingerprint.
    pub(crate) fn condition_not_met(message: impl Into<String>) -> Self {
        Self::new(412, "conditionNotMet", "FAILED_PRECONDITION", message)
    }

    /// A rule on the state of things, not on a value.
    pub(crate) fn failed_precondition(message: impl Into<String>) -> Self {
        Self::new(400, "failedPrecondition", "FAILED_PRECONDITION", message)
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(403, "forbidden", "PERMISSION_DENIED", message)
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(409, "conflict", "ABORTED", message)
    }

    pub(crate) fn quota(metric: &str, limit: i64, place: &str) -> Self {
        Self::new(
            403,
            "quotaExceeded",
            "RESOURCE_EXHAUSTED",
            format!("Quota '{metric}' exceeded. Limit: {limit}.0 {place}."),
        )
    }

    /// The API is not switched on in the project.
    pub(crate) fn service_off(service: &str, number: &str) -> Self {
        let host = format!("{service}.googleapis.com");
        let mut error = Self::new(
            403,
            "accessNotConfigured",
            "PERMISSION_DENIED",
            format!(
                "{host} has not been used in project {number} before or it is disabled. Enable it, \
                 wait a few minutes for the change to reach every system, and try again."
            ),
        );
        error.details.push(json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "SERVICE_DISABLED",
            "domain": "googleapis.com",
            "metadata": {"service": host, "consumer": format!("projects/{number}")},
        }));
        error
    }

    /// A method that the documents know and this mock does not play.
    pub(crate) fn not_played(method: &str) -> Self {
        Self::new(
            501,
            "notImplemented",
            "UNIMPLEMENTED",
            format!("The mock cloud does not play the method {method}."),
        )
    }

    /// The body as the service would send it.
    pub(crate) fn body(&self, service: &str) -> Value {
        let style = style(service);
        let mut error = Map::new();
        error.insert("code".into(), self.http.into());
        error.insert("message".into(), self.message.clone().into());
        if style != Style::Aip {
            error.insert(
                "errors".into(),
                json!([{"domain": "global", "message": self.message, "reason": self.reason}]),
            );
        }
        if style != Style::Legacy {
            error.insert("status".into(), self.status.into());
        }
        if !self.details.is_empty() {
            error.insert("details".into(), self.details.clone().into());
        }
        json!({ "error": error })
    }
}
