//! Operations that take time.
//!
//! An operation is decided when it begins: its end, its error if it has one, and the changes that its
//! end brings are all written down at once. What happens later is only the passing of time, so a
//! world read back from its journal ends its operations as the first one would have.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::checking::Body;
use crate::store::Change;
use crate::time::{Millis, pacific, zulu};

/// What an operation ends with instead of success.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct OperationError {
    /// `ZONE_RESOURCE_POOL_EXHAUSTED`, `QUOTA_EXCEEDED`...; of long-running operations the message only.
    pub(crate) code: String,
    pub(crate) message: String,
    /// compute's `httpErrorStatusCode`.
    pub(crate) http: u16,
    /// compute's `httpErrorMessage`.
    pub(crate) http_message: String,
    /// The code of `google.rpc.Status`, for services with long-running operations.
    pub(crate) rpc: u8,
    #[serde(default)]
    pub(crate) details: Vec<Value>,
}

/// How an operation is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shape {
    /// `compute#operation`
    Compute,
    /// `google.longrunning.Operation`
    LongRunning,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Operation {
    pub(crate) shape: Shape,
    /// Path without service: `projects/p/global/operations/operation-1`, `operations/acat.p2-1`.
    pub(crate) path: String,
    pub(crate) id: String,
    /// The method that began it.
    pub(crate) method: String,
    /// `insert`, `delete`, `setLabels`...
    pub(crate) kind: String,
    pub(crate) target_link: String,
    pub(crate) target_id: String,
    #[serde(default)]
    pub(crate) request_id: Option<String>,
    pub(crate) insert: Millis,
    pub(crate) start: Millis,
    pub(crate) end: Millis,
    #[serde(default)]
    pub(crate) error: Option<OperationError>,
    /// What its end does to the world. Emptied when done.
    #[serde(default)]
    pub(crate) effects: Vec<Change>,
    /// Long-running: `metadata` and `response`.
    #[serde(default)]
    pub(crate) metadata: Body,
    #[serde(default)]
    pub(crate) response: Body,
    /// Whether the response is the target as it stands at the end, by its key, in a `@type`.
    #[serde(default)]
    pub(crate) response_of: Option<(String, String)>,
    #[serde(default)]
    pub(crate) done: bool,
}

/// Where compute says that things are, whatever host was called.
pub(crate) const COMPUTE: &str = "https://www.googleapis.com/compute/v1/";

impl Operation {
    /// The operation as the API shows it at a time.
    pub(crate) fn show(&self, now: Millis) -> Value {
        match self.shape {
            Shape::Compute => self.show_compute(now),
            Shape::LongRunning => self.show_long_running(),
        }
    }

    fn show_compute(&self, now: Millis) -> Value {
        let status = if self.done {
            "DONE"
        } else if now < self.start {
            "PENDING"
        } else {
            "RUNNING"
        };
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let mut out = json!({
            "id": self.id,
            "insertTime": pacific(self.insert),
            "kind": "compute#operation",
            "name": name,
            "operationType": self.kind,
            "progress": if self.done { 100 } else { 0 },
            "selfLink": format!("{COMPUTE}{}", self.path),
            "status": status,
            "targetId": self.target_id,
            "targetLink": self.target_link,
            "user": "formwork@mock.invalid",
        });
        if let Some(scope) = self.path.split_once("/operations/").map(|(scope, _)| scope) {
            for (part, field) in [("/zones/", "zone"), ("/regions/", "region")] {
                if scope.contains(part) {
                    out[field] = format!("{COMPUTE}{scope}").into();
                }
            }
        }
        if let Some(id) = &self.request_id {
            out["clientOperationId"] = id.clone().into();
        }
        if status != "PENDING" {
            out["startTime"] = pacific(self.start).into();
        }
        if self.done {
            out["endTime"] = pacific(self.end).into();
            if let Some(error) = &self.error {
                let mut entry = json!({"code": error.code, "message": error.message});
                if !error.details.is_empty() {
                    entry["errorDetails"] = error.details.clone().into();
                }
                out["error"] = json!({ "errors": [entry] });
                out["httpErrorStatusCode"] = error.http.into();
                out["httpErrorMessage"] = error.http_message.clone().into();
            }
        }
        out
    }

    fn show_long_running(&self) -> Value {
        let mut metadata = self.metadata.clone();
        if metadata.contains_key("createTime") {
            metadata.insert("createTime".into(), zulu(self.insert).into());
            if self.done {
                metadata.insert("endTime".into(), zulu(self.end).into());
            }
        }
        let mut out = json!({ "name": self.path });
        // Service Usage tells nothing before it is done
        if !metadata.is_empty() && (self.done || !self.method.starts_with("serviceusage.")) {
            out["metadata"] = metadata.into();
        }
        if self.done {
            out["done"] = true.into();
            match &self.error {
                Some(error) => {
                    out["error"] = json!({"code": error.rpc, "message": error.message});
                    if !error.details.is_empty() {
                        out["error"]["details"] = error.details.clone().into();
                    }
                }
                None => out["response"] = self.response.clone().into(),
            }
        } else if self.method.starts_with("file.") {
            // Filestore writes it out, most others leave it away
            out["done"] = false.into();
        }
        out
    }
}
