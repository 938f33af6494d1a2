//! What is sent and what comes back.

use serde_json::Value;
use std::fmt;

/// HTTP methods that Google's APIs use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
}

impl Method {
    /// The method as written in a request line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// The method of that name (upper case).
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete]
            .into_iter()
            .find(|m| m.as_str() == text)
    }
}

/// Whether a request changes anything. POST alone does not say: `wait`, `getIamPolicy` and
/// `resolve` only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It may be repeated at will.
    Reads,
    /// It may be repeated only when it is known not to have happened.
    Mutates,
}

/// The body of a request. Its debug form says what kind it is, never what is in it.
#[derive(Clone, PartialEq)]
pub enum Body {
    /// Nothing.
    None,
    /// A JSON document.
    Json(Value),
    /// Anything else, with its content type: media uploads.
    Bytes(String, Vec<u8>),
}

/// One request. Its debug form leaves out the values of the query and the body: both may hold
/// sensitive values.
#[derive(Clone, PartialEq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The service by the first label of its host: `compute`, `storage`, `cloudresourcemanager`.
    pub service: String,
    /// The path below the host, without a leading slash, already encoded:
    /// `compute/v1/projects/p/global/networks`.
    pub path: String,
    /// Query parameters in order, not yet encoded.
    pub query: Vec<(String, String)>,
    /// The body.
    pub body: Body,
    /// Whether it changes anything.
    pub effect: Effect,
    /// The project that quota and billing are put to (`X-Goog-User-Project`).
    pub user_project: Option<String>,
    /// Headers that only this request has. They may be secret.
    pub headers: Vec<(&'static str, String)>,
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Json(_) => f.write_str("Json(..)"),
            Self::Bytes(kind, bytes) => write!(f, "Bytes({kind:?}, {} bytes)", bytes.len()),
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.query.iter().map(|(n, _)| n.as_str()).collect();
        f.debug_struct("Request")
            .field("line", &self.line())
            .field("query", &names)
            .field("body", &self.body)
            .field("effect", &self.effect)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl Request {
    /// A request without query or body; GET reads, everything else mutates.
    pub fn new(method: Method, service: &str, path: impl Into<String>) -> Self {
        Self {
            method,
            service: service.to_owned(),
            path: path.into(),
            query: Vec::new(),
            body: Body::None,
            effect: if method == Method::Get {
                Effect::Reads
            } else {
                Effect::Mutates
            },
            user_project: None,
            headers: Vec::new(),
        }
    }

    /// A GET.
    pub fn get(service: &str, path: impl Into<String>) -> Self {
        Self::new(Method::Get, service, path)
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With a JSON body.
    #[must_use]
    pub fn json(mut self, body: Value) -> Self {
        self.body = Body::Json(body);
        self
    }

    /// With one more query parameter.
    #[must_use]
    pub fn query(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.push((name.to_owned(), value.into()));
        self
    }

    /// Declared to change nothing, though it is no GET.
    #[must_use]
    pub fn reads(mut self) -> Self {
        self.effect = Effect::Reads;
        self
    }

    /// The request line without query, for messages and logs.
    pub fn line(&self) -> String {
        format!("{} {} {}", self.method.as_str(), self.service, self.path)
    }
}

/// A successful answer. Its debug form leaves out the body, which may hold sensitive values.
#[derive(Clone, PartialEq)]
pub struct Response {
    /// 200 to 299.
    pub status: u16,
    /// The body; `Null` when it was empty (204).
    pub body: Value,
}

/// Percent-encodes one path segment: everything but unreserved characters, so that object names
/// with slashes stay one segment.
pub fn encode_segment(text: &str) -> String {
    const KEEP: &percent_encoding::AsciiSet = &percent_encoding::NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'_')
        .remove(b'.')
        .remove(b'~')
        .remove(b':')
        .remove(b'@');
    percent_encoding::utf8_percent_encode(text, KEEP).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_debug_form_shows_no_values() {
        let request = Request::new(
            Method::Post,
            "compute",
            "compute/v1/projects/p/global/networks",
        )
        .query("token", "hunter2")
        .json(json!({"password": "hunter2"}));
        let response = Response {
            status: 200,
            body: json!({"password": "hunter2"}),
        };
        let bytes = Body::Bytes("text/plain".into(), b"hunter2".to_vec());
        let text = format!("{request:?} {response:?} {bytes:?}");
        assert!(!text.contains("hunter2"), "{text}");
        for part in [
            "POST compute",
            "token",
            "Json(..)",
            "status: 200",
            "7 bytes",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
