//! The pages under `/_mock/`: what the commands `mock list`, `mock log` and `mock reset` talk to.
//!
//! | request | answer |
//! |---|---|
//! | `GET /_mock/world` | `{"world": ID, "ready": true, "project": ID}`: the project is the scenario's first |
//! | `GET /_mock/list` | a list of objects |
//! | `GET /_mock/log` | a list of requests; `?after=SEQ` for those after one |
//! | `POST /_mock/reset` | `{"world": NEW-ID}` |

use axum::body::Body;
use axum::http::{Response, StatusCode};
use serde_json::{Value, json};

use crate::cloud::{Cloud, Incoming};
use crate::server::json as respond;

/// The control page that a request asks for, if it asks for one.
pub(crate) fn page(cloud: &Cloud, incoming: &Incoming) -> Option<Response<Body>> {
    let name = incoming.path.strip_prefix("/_mock/")?;
    let (status, body) = match (incoming.http.as_str(), name) {
        ("GET", "world" | "ready") => (
            StatusCode::OK,
            json!({"world": cloud.id(), "ready": true, "project": cloud.project()}),
        ),
        ("GET", "list") => (StatusCode::OK, to_value(&cloud.list())),
        ("GET", "log") => {
            let after = incoming
                .query
                .split('&')
                .find_map(|pair| pair.strip_prefix("after="))
                .and_then(|text| text.parse().ok())
                .unwrap_or(0u64);
            let lines: Vec<_> = cloud
                .log()
                .into_iter()
                .filter(|line| line.seq > after)
                .collect();
            (StatusCode::OK, to_value(&lines))
        }
        ("POST", "reset") => match cloud.reset() {
            Ok(world) => (StatusCode::OK, json!({ "world": world })),
            Err(error) => (
                StatusCode::INTERNAL_SERVER_ERROR,
                json!({"error": error.to_string()}),
            ),
        },
        _ => (
            StatusCode::NOT_FOUND,
            json!({"error": format!("there is no control page {name}")}),
        ),
    };
    Some(respond(status, &body))
}

fn to_value<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}
