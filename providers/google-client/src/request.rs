//! What is sent and what comes back.

use serde_json::Value;

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

/// The body of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Nothing.
    None,
    /// A JSON document.
    Json(Value),
    /// Anything else, with its content type: media uploads.
    Bytes(String, Vec<u8>),
}

/// One request.
#[derive(Debug, Clone, PartialEq)]
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
        }
    }

    /// A GET.
    pub fn get(service: &str, path: impl Into<String>) -> Self {
        Self::new(Method::Get, service, path)
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

/// A successful answer.
#[derive(Debug, Clone, PartialEq)]
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
