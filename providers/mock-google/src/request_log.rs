//! What was asked of the cloud, line by line. Bodies and headers are never in it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// Reason and message of a refusal, without what it quotes of the request's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// A message without the texts of the request's body, which may be secrets: the log holds none.
pub(crate) fn without_sent(message: &str, body: &[u8]) -> String {
    let mut message = message.to_owned();
    let Ok(sent) = serde_json::from_slice::<Value>(body) else {
        return message;
    };
    let (mut texts, mut rest) = (Vec::new(), vec![&sent]);
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) if text.chars().count() > 3 => texts.push(text),
            Value::Array(all) => rest.extend(all),
            Value::Object(all) => rest.extend(all.values()),
            _ => {}
        }
    }
    // the longest first: a text may hold another
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    for text in texts {
        if message.contains(text.as_str()) {
            message = message.replace(text.as_str(), "(sent)");
        }
    }
    message
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
