//! A request that was understood, and what answers it.

use formwork_discovery::{Document, Method};
use serde_json::Value;

use crate::checking::Body;
use crate::error::ApiError;
use crate::routing::Upload;

/// A request, routed and checked.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) document: &'static Document,
    pub(crate) method: &'static Method,
    /// Path variables, project numbers replaced by ids.
    pub(crate) variables: Vec<(String, String)>,
    /// The resource's path, project numbers replaced by ids: `projects/p/global/networks`.
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    /// The checked body; empty where the method has none.
    pub(crate) body: Body,
    /// The project that the path names, if it names one that exists.
    pub(crate) project: Option<String>,
    pub(crate) upload: Option<Upload>,
    /// The body as it came, for methods that take content.
    pub(crate) content: Vec<u8>,
    pub(crate) content_type: String,
    /// The address as it was asked, with its query: where an upload in parts goes on.
    pub(crate) address: String,
    /// What of a content the body is (`Content-Range`).
    pub(crate) content_range: Option<String>,
    /// Whether the client takes 308 for a redirection (`X-GUploader-No-308`).
    pub(crate) no_308: bool,
    /// The type of a content that is yet to come.
    pub(crate) upload_type: Option<String>,
}

impl Request {
    pub(crate) fn service(&self) -> &'static str {
        self.document.service.as_str()
    }

    /// The last but one part of the method's id: `networks` of `compute.networks.insert`.
    pub(crate) fn collection(&self) -> &'static str {
        self.method
            .collection()
            .rsplit('.')
            .next()
            .unwrap_or_default()
    }

    pub(crate) fn verb(&self) -> &'static str {
        self.method.verb()
    }

    /// A path variable; empty where the route has none of that name.
    pub(crate) fn variable(&self, name: &str) -> &str {
        self.variables
            .iter()
            .find(|(own, _)| own == name)
            .map_or("", |(_, value)| value)
    }

    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    /// All values of a parameter that may stand more than once.
    pub(crate) fn queries<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.query
            .iter()
            .filter(move |(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    /// The key of the object that the path names.
    pub(crate) fn key(&self) -> String {
        format!("{}/{}", self.service(), self.path)
    }

    /// A text field that must be there.
    pub(crate) fn required(&self, field: &str) -> Result<&str, ApiError> {
        self.body
            .get(field)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
            .ok_or_else(|| ApiError::required(&format!("resource.{field}")))
    }

    /// The fields of the update mask, in the spelling of JSON; none where the request has no mask.
    pub(crate) fn mask(&self) -> Option<Vec<String>> {
        let mut fields: Vec<String> = self
            .queries("updateMask")
            .flat_map(|mask| mask.split(','))
            .map(|field| camel(field.trim()))
            .filter(|field| !field.is_empty())
            .collect();
        fields.dedup();
        (!fields.is_empty()).then_some(fields)
    }
}

/// `snake_case.path` as `snakeCase.path`.
fn camel(field: &str) -> String {
    let mut out = String::new();
    let mut up = false;
    for c in field.chars() {
        if c == '_' {
            up = true;
        } else if up {
            out.push(c.to_ascii_uppercase());
            up = false;
        } else {
            out.push(c);
        }
    }
    out
}

/// What a handler answers.
#[derive(Debug)]
pub(crate) enum Answer {
    /// 200 with a body.
    Json(Value),
    /// 204.
    Empty,
    /// The content of an object.
    Content {
        content_type: String,
        bytes: Vec<u8>,
        headers: Vec<(&'static str, String)>,
    },
    /// 200 with an address to which the parts of a content are sent.
    Session { address: String },
    /// So many bytes of a content have come; more is awaited.
    More { received: usize, no_308: bool },
    /// The operation of that key, once it is done or the patience is at an end.
    Wait { key: String },
}
