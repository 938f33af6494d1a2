//! What was asked of the cloud, line by line. Bodies and headers are never in it.

use serde::{Deserialize, Serialize};

/// One request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// Counts the requests of a world, from 1.
    pub seq: u64,
    /// When it came: `2026-11-30T15:52:18.123Z`.
    pub time: String,
    /// `POST`
    pub method: String,
    /// Path and query; credentials in the query are left out.
    pub path: String,
    /// The method's id: `compute.networks.insert`; none if the path led nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The status answered; none if nothing was (the connection was cut, or the process died).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether it changed the world.
    pub committed: bool,
    /// The object it was about: service and path, `compute/projects/p/global/networks/n`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Reason and message of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// A query string without credentials.
pub(crate) fn without_credentials(query: &str) -> String {
    query
        .split('&')
        .filter(|pair| {
            let name = pair.split('=').next().unwrap_or_default();
            !matches!(name, "access_token" | "oauth_token" | "key" | "upload_id")
        })
        .collect::<Vec<_>>()
        .join("&")
}
