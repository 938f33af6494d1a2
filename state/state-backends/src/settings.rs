//! What may be said of a backend: its arguments, by name and kind, and what was said of them.
//!
//! Names, kinds and environment variables are Terraform's (documentation of its backends, and tried
//! with Terraform 1.11.4): the arguments stand in `backend` blocks, on command lines, in the data
//! directory's `terraform.tfstate`, and in the `config` of `terraform_remote_state`. Here they are
//! checked, whoever brings them. What they mean is decided in [`crate::place`].

use formwork_diagnostics::{Diagnostic, nearest};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::fmt;

/// Types of backends of Terraform and OpenTofu, whether they are served here or not.
pub const BACKENDS: &[&str] = &[
    "azurerm",
    "cloud",
    "consul",
    "cos",
    "gcs",
    "http",
    "inmem",
    "kubernetes",
    "local",
    "oss",
    "pg",
    "remote",
    "s3",
];

/// What an argument's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// Text.
    Text,
    /// A number.
    Number,
    /// True or false.
    Truth,
    /// A list of texts.
    Texts,
}

impl fmt::Display for ArgumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Number => "a number",
            Self::Truth => "true or false",
            Self::Texts => "a list of texts",
        })
    }
}

/// An argument of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What its value is.
    pub kind: ArgumentKind,
    /// Environment variables that say it where nothing else does, the first that is set.
    pub environment: &'static [&'static str],
    /// Whether a backend of this type cannot be without.
    pub required: bool,
}

const fn text(name: &'static str, environment: &'static [&'static str]) -> Argument {
    Argument {
        name,
        kind: ArgumentKind::Text,
        environment,
        required: false,
    }
}

const fn required(argument: Argument) -> Argument {
    Argument {
        required: true,
        ..argument
    }
}

const fn of(kind: ArgumentKind, argument: Argument) -> Argument {
    Argument { kind, ..argument }
}

/// In order of their names, which the hash of a configuration is made in.
const LOCAL: &[Argument] = &[text("path", &[]), text("workspace_dir", &[])];

const GCS: &[Argument] = &[
    text("access_token", &["GOOGLE_OAUTH_ACCESS_TOKEN"]),
    required(text("bucket", &[])),
    text(
        "credentials",
        &["GOOGLE_BACKEND_CREDENTIALS", "GOOGLE_CREDENTIALS"],
    ),
    text("encryption_key", &["GOOGLE_ENCRYPTION_KEY"]),
    text(
        "impersonate_service_account",
        &[
            "GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT",
            "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT",
        ],
    ),
    of(
        ArgumentKind::Texts,
        text("impersonate_service_account_delegates", &[]),
    ),
    text("kms_encryption_key", &["GOOGLE_KMS_ENCRYPTION_KEY"]),
    text("prefix", &[]),
    text(
        "storage_custom_endpoint",
        &[
            "GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT",
            "GOOGLE_STORAGE_CUSTOM_ENDPOINT",
        ],
    ),
];

const HTTP: &[Argument] = &[
    required(text("address", &["TF_HTTP_ADDRESS"])),
    text(
        "client_ca_certificate_pem",
        &["TF_HTTP_CLIENT_CA_CERTIFICATE_PEM"],
    ),
    text(
        "client_certificate_pem",
        &["TF_HTTP_CLIENT_CERTIFICATE_PEM"],
    ),
    text(
        "client_private_key_pem",
        &["TF_HTTP_CLIENT_PRIVATE_KEY_PEM"],
    ),
    text("lock_address", &["TF_HTTP_LOCK_ADDRESS"]),
    text("lock_method", &["TF_HTTP_LOCK_METHOD"]),
    text("password", &["TF_HTTP_PASSWORD"]),
    of(
        ArgumentKind::Number,
        text("retry_max", &["TF_HTTP_RETRY_MAX"]),
    ),
    of(
        ArgumentKind::Number,
        text("retry_wait_max", &["TF_HTTP_RETRY_WAIT_MAX"]),
    ),
    of(
        ArgumentKind::Number,
        text("retry_wait_min", &["TF_HTTP_RETRY_WAIT_MIN"]),
    ),
    of(ArgumentKind::Truth, text("skip_cert_verification", &[])),
    text("unlock_address", &["TF_HTTP_UNLOCK_ADDRESS"]),
    text("unlock_method", &["TF_HTTP_UNLOCK_METHOD"]),
    text("update_method", &["TF_HTTP_UPDATE_METHOD"]),
    text("username", &["TF_HTTP_USERNAME"]),
];

/// The arguments of a type of backend, in order of their names; `None` if it is not served.
pub fn arguments(backend: &str) -> Option<&'static [Argument]> {
    match backend {
        "local" => Some(LOCAL),
        "gcs" => Some(GCS),
        "http" => Some(HTTP),
        _ => None,
    }
}

/// That a type of backend is not served, or does not exist.
pub fn unserved(backend: &str) -> Diagnostic {
    if BACKENDS.contains(&backend) {
        return Diagnostic::error(
            "Backend not served yet",
            format!(
                "The state is kept in a backend of type \"{backend}\", which this version of Formwork \
                 does not serve; it serves local, gcs and http. It will not fall back to a local file: two \
                 states of one world lose each other's work."
            ),
        );
    }
    let d = Diagnostic::error(
        "Unsupported backend type",
        format!("There is no backend type named \"{backend}\"."),
    );
    match nearest(backend, BACKENDS.iter().copied()) {
        Some(near) => d.hint(format!("Did you mean \"{near}\"?")),
        None => d,
    }
}

/// What was said of a backend: for each argument its value, or that nothing was said. The debug form
/// shows no value.
#[derive(Clone, PartialEq)]
pub struct Settings {
    backend: &'static str,
    arguments: &'static [Argument],
    values: BTreeMap<&'static str, Json>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("backend", &self.backend)
            .field("said", &self.values.keys().collect::<Vec<_>>())
            .finish()
    }
}

impl Settings {
    /// Of a backend of which nothing is said yet; `None` if the type is not served.
    pub fn new(backend: &str) -> Option<Self> {
        let (backend, arguments) = ["local", "gcs", "http"]
            .into_iter()
            .find(|name| *name == backend)
            .and_then(|name| Some((name, arguments(name)?)))?;
        Some(Self {
            backend,
            arguments,
            values: BTreeMap::new(),
        })
    }

    /// Of a backend, as a JSON object says it; `null` says nothing.
    ///
    /// # Errors
    /// The first argument that is unknown or of another kind.
    pub fn from_json(backend: &str, config: &Map<String, Json>) -> Result<Self, Box<Diagnostic>> {
        let mut settings = Self::new(backend).ok_or_else(|| Box::new(unserved(backend)))?;
        for (name, value) in config {
            settings.set(name, value.clone())?;
        }
        Ok(settings)
    }

    /// The type of the backend.
    pub fn backend(&self) -> &'static str {
        self.backend
    }

    /// Says an argument; null takes back what was said. What converts to the argument's kind without
    /// loss is converted: numbers and truth values are text, and the other way round.
    ///
    /// # Errors
    /// That there is no such argument, or that the value is of another kind; the value is not quoted.
    pub fn set(&mut self, name: &str, value: Json) -> Result<(), Box<Diagnostic>> {
        let Some(argument) = self.arguments.iter().find(|a| a.name == name) else {
            let d = Diagnostic::error(
                "Unsupported argument",
                format!(
                    "The backend \"{}\" has no argument named \"{name}\".",
                    self.backend
                ),
            );
            let near = nearest(name, self.arguments.iter().map(|a| a.name));
            return Err(Box::new(match near {
                Some(near) => d.hint(format!("Did you mean \"{near}\"?")),
                None => d,
            }));
        };
        if value.is_null() {
            self.values.remove(argument.name);
            return Ok(());
        }
        let Some(value) = converted(argument.kind, value) else {
            return Err(Box::new(Diagnostic::error(
                "Incorrect attribute value type",
                format!(
                    "The argument \"{name}\" of the backend \"{}\" must be {}.",
                    self.backend, argument.kind
                ),
            )));
        };
        self.values.insert(argument.name, value);
        Ok(())
    }

    /// All arguments, those of which nothing was said as null: as the data directory remembers them.
    pub fn to_json(&self) -> Map<String, Json> {
        let all = self.arguments.iter();
        all.map(|a| {
            let value = self.values.get(a.name).cloned().unwrap_or(Json::Null);
            (a.name.to_owned(), value)
        })
        .collect()
    }

    /// The hash by which Terraform tells whether a `backend` block has changed: CRC-32 over the block's
    /// values in a notation of their own, tried with Terraform 1.11.4.
    pub fn hash(&self) -> u32 {
        let mut bytes = format!("<\"{}\";<", self.backend);
        for argument in self.arguments {
            match self.values.get(argument.name) {
                None => bytes.push('~'),
                Some(value) => noted(&mut bytes, value),
            }
            bytes.push(';');
        }
        bytes.push_str(">;>");
        crc32(bytes.as_bytes())
    }

    /// An argument as text: what was said, else what the environment says. Empty text says nothing.
    pub(crate) fn text(
        &self,
        name: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Option<String> {
        let argument = self.arguments.iter().find(|a| a.name == name)?;
        let said = match self.values.get(name) {
            Some(Json::String(text)) => Some(text.clone()),
            Some(Json::Number(n)) => Some(n.to_string()),
            Some(Json::Bool(b)) => Some(b.to_string()),
            _ => None,
        };
        let fallback = || argument.environment.iter().find_map(|name| variable(name));
        said.filter(|t| !t.is_empty())
            .or_else(fallback)
            .filter(|t| !t.is_empty())
    }

    /// An argument that is a list of texts.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let list = self.values.get(name).and_then(Json::as_array);
        let texts = list.into_iter().flatten();
        texts
            .filter_map(|t| t.as_str().map(str::to_owned))
            .collect()
    }

    /// Whether an argument was said to be true.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.values.get(name) == Some(&Json::Bool(true))
    }

    /// What is to be said, and where, when an argument that the backend needs is missing.
    pub(crate) fn needed(&self) -> impl Iterator<Item = &'static Argument> {
        self.arguments.iter().filter(|a| a.required)
    }
}

fn converted(kind: ArgumentKind, value: Json) -> Option<Json> {
    match (kind, value) {
        (ArgumentKind::Text, Json::String(text)) => Some(Json::String(text)),
        (ArgumentKind::Text, Json::Number(n)) => Some(Json::String(n.to_string())),
        (ArgumentKind::Text, Json::Bool(b)) => Some(Json::String(b.to_string())),
        (ArgumentKind::Number, Json::Number(n)) => Some(Json::Number(n)),
        (ArgumentKind::Number, Json::String(text)) => {
            // no other notation of JSON's begins so
            let number = serde_json::from_str::<serde_json::Number>(text.trim());
            number.ok().map(Json::Number)
        }
        (ArgumentKind::Truth, Json::Bool(b)) => Some(Json::Bool(b)),
        (ArgumentKind::Truth, Json::String(text)) => text.parse().ok().map(Json::Bool),
        (ArgumentKind::Texts, Json::Array(all)) => all
            .into_iter()
            .map(|v| converted(ArgumentKind::Text, v))
            .collect::<Option<_>>()
            .map(Json::Array),
        _ => None,
    }
}

/// A value in the notation that the hash is made of.
fn noted(out: &mut String, value: &Json) {
    match value {
        Json::Null | Json::Object(_) => out.push('~'),
        Json::Bool(b) => out.push(if *b { 'T' } else { 'F' }),
        Json::Number(n) => out.push_str(&n.to_string()),
        Json::String(text) => quoted(out, text),
        Json::Array(all) => {
            out.push('[');
            for value in all {
                // elements are texts: the notation is one deep
                if let Json::String(text) = value {
                    quoted(out, text);
                    out.push(';');
                }
            }
            out.push(']');
        }
    }
}

/// Text in quotes as Go writes it (`%q`).
fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                out.push_str(&format!("\\x{:02x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// CRC-32 as Ethernet and zip have it. The texts are short.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// As Terraform 1.11.4 wrote them for the same blocks.
    #[test]
    fn hashes_are_terraform_s() {
        let check = |backend: &str, config: Json, expected: u32| {
            let config = config.as_object().expect("an object");
            let settings = Settings::from_json(backend, config).expect("suitable");
            assert_eq!(settings.hash(), expected, "{config:?}");
        };
        check("local", json!({"path": "my.tfstate"}), 1_582_006_349);
        check(
            "local",
            json!({"path": "other.tfstate", "workspace_dir": null}),
            560_506_811,
        );
        check(
            "gcs",
            json!({
                "bucket": "b",
                "storage_custom_endpoint": "http://127.0.0.1:18099/storage/v1/b",
                "access_token": "tok",
                "impersonate_service_account_delegates": ["x"],
            }),
            1_140_770_985,
        );
        check(
            "http",
            json!({
                "address": "http://127.0.0.1:18099/s",
                "lock_address": "http://127.0.0.1:18099/l",
                "unlock_address": "http://127.0.0.1:18099/u",
                "retry_max": 3,
                "skip_cert_verification": true,
            }),
            856_471_995,
        );
    }

    #[test]
    fn what_is_said_is_checked() {
        let check = |backend: &str, config: Json, expected: Result<Json, &str>| {
            let config = config.as_object().expect("an object");
            let got = Settings::from_json(backend, config);
            let got = got.map(|s| {
                let said = s.to_json().into_iter().filter(|(_, v)| !v.is_null());
                Json::Object(said.collect())
            });
            match (got, expected) {
                (Ok(got), Ok(expected)) => assert_eq!(got, expected),
                (Err(d), Err(expected)) => {
                    let told = format!("{}: {} {:?}", d.summary, d.detail, d.hints);
                    assert!(told.contains(expected), "{told}");
                }
                (got, expected) => panic!("{got:?} and not {expected:?}"),
            }
        };
        check(
            "gcs",
            json!({"bucket": 5, "prefix": true, "kms_encryption_key": null}),
            Ok(json!({"bucket": "5", "prefix": "true"})),
        );
        check(
            "http",
            json!({"retry_max": "4", "skip_cert_verification": "true"}),
            Ok(json!({"retry_max": 4, "skip_cert_verification": true})),
        );
        check("gcs", json!({"bucket": ["b"]}), Err("must be text"));
        check(
            "gcs",
            json!({"buket": "b"}),
            Err("Did you mean \\\"bucket\\\"?"),
        );
        check("http", json!({"retry_max": "x"}), Err("must be a number"));
        check(
            "gcs",
            json!({"impersonate_service_account_delegates": [["a"]]}),
            Err("a list of texts"),
        );
        check("s3", json!({}), Err("Backend not served yet"));
        check("locl", json!({}), Err("Did you mean \\\"local\\\"?"));
    }
}
