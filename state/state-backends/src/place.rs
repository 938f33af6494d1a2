//! Where the states of a configuration are: one for each workspace.
//!
//! A [`Place`] is what a backend's arguments come to, with what the environment says where they do not.
//! Facts, from the documentation of Terraform's backends and tried with Terraform 1.11.4:
//!
//! - `local`: the default workspace is `path`, by default `terraform.tfstate`; any other is
//!   `NAME/terraform.tfstate` in `workspace_dir`, by default `terraform.tfstate.d`, whatever `path` says;
//! - `gcs`: `PREFIX/NAME.tfstate` in the bucket;
//! - `http`: one state, of the default workspace.

use crate::gcs::{CustomerKey, GcsConfig, GcsStore};
use crate::http::{HttpConfig, HttpStore};
use crate::local::{Backup, LocalStore};
use crate::settings::Settings;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_environment::Environment;
use formwork_google_client::Credentials;
use formwork_state::StateStores;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The workspace that is always there.
pub const DEFAULT_WORKSPACE: &str = "default";
/// The name of a state's file.
const FILE: &str = "terraform.tfstate";
/// Where the states of other workspaces than the default one are.
const FOLDER: &str = "terraform.tfstate.d";

/// Where the states of a configuration are.
#[derive(Clone, Debug)]
pub enum Place {
    /// In files.
    Local {
        /// The state of the default workspace.
        path: PathBuf,
        /// The folder of the others, each in a folder of its name.
        folder: PathBuf,
    },
    /// In a bucket. The workspace that the configuration names is passed over.
    Gcs(Box<GcsConfig>),
    /// At an address.
    Http(Box<HttpConfig>),
}

/// Why a backend cannot be as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misconfigured {
    /// The argument that is to blame, if it is one.
    pub argument: Option<&'static str>,
    /// What is wrong.
    pub diagnostic: Box<Diagnostic>,
}

impl Default for Place {
    /// Where the states are of a configuration that says nothing of it.
    fn default() -> Self {
        Self::Local {
            path: FILE.into(),
            folder: FOLDER.into(),
        }
    }
}

impl Place {
    /// The place that settings name. Nothing is sent; files that they name are read.
    ///
    /// # Errors
    /// An argument that is missing or cannot be used.
    pub fn of(settings: &Settings, environment: &Environment) -> Result<Self, Misconfigured> {
        let variable = |name: &str| environment.variable(name).map(str::to_owned);
        let text = |name: &str| settings.text(name, &variable);
        for argument in settings.needed() {
            if text(argument.name).is_none() {
                let mut d = Diagnostic::error(
                    "Invalid backend configuration",
                    format!(
                        "The backend \"{}\" needs the argument \"{}\", and nothing says it.",
                        settings.backend(),
                        argument.name
                    ),
                );
                let said = format!("init -backend-config=\"{}=...\"", argument.name);
                d = d.hint(match argument.environment.first() {
                    None => format!("Write it into the backend block, or give it by {said}."),
                    Some(variable) => format!(
                        "Write it into the backend block, give it by {said}, or set {variable}."
                    ),
                });
                return Err(Misconfigured {
                    argument: None,
                    diagnostic: Box::new(d),
                });
            }
        }
        match settings.backend() {
            "gcs" => gcs(settings, environment, &text),
            "http" => http(settings, &text),
            _ => Ok(Self::Local {
                path: text("path").map_or_else(|| FILE.into(), PathBuf::from),
                folder: text("workspace_dir").map_or_else(|| FOLDER.into(), PathBuf::from),
            }),
        }
    }

    /// The same place in a mock cloud at `base`, where nobody is asked who they are.
    pub fn in_mock(&mut self, base: &str) {
        if let Self::Gcs(config) = self {
            config.endpoint = Some(base.to_owned());
            config.credentials = Credentials::None;
            config.customer_key = None;
        }
    }

    /// The type of the backend.
    pub fn backend(&self) -> &'static str {
        match self {
            Self::Local { .. } => "local",
            Self::Gcs(_) => "gcs",
            Self::Http(_) => "http",
        }
    }

    /// Whether there can be other workspaces than the default one.
    pub fn has_workspaces(&self) -> bool {
        !matches!(self, Self::Http(_))
    }

    /// The file of a workspace's state, if it is in a file.
    ///
    /// # Errors
    /// That the name cannot be part of a path.
    pub fn file(&self, workspace: &str) -> Result<Option<PathBuf>, Diagnostics> {
        let Self::Local { path, folder } = self else {
            return Ok(None);
        };
        if workspace == DEFAULT_WORKSPACE {
            return Ok(Some(path.clone()));
        }
        nameable(workspace)?;
        Ok(Some(folder.join(workspace).join(FILE)))
    }

    /// The state of a workspace. Nothing is sent yet. `backup` matters for files only.
    ///
    /// # Errors
    /// That there can be no such workspace, or that the backend cannot be spoken to as it is
    /// configured.
    pub fn store(
        &self,
        environment: &Environment,
        workspace: &str,
        backup: Backup,
    ) -> Result<Arc<dyn StateStores>, Diagnostics> {
        match self {
            Self::Local { .. } => {
                let path = self.file(workspace)?.unwrap_or_default();
                Ok(Arc::new(LocalStore::new(environment, &path, backup)))
            }
            Self::Gcs(config) => {
                nameable(workspace)?;
                let mut config = (**config).clone();
                config.workspace = workspace.to_owned();
                Ok(Arc::new(GcsStore::new(config)))
            }
            Self::Http(_) if workspace != DEFAULT_WORKSPACE => Err(unsupported()),
            Self::Http(config) => Ok(Arc::new(HttpStore::new((**config).clone())?)),
        }
    }

    /// The names of all workspaces in order, `default` first, whether it has a state or not.
    ///
    /// # Errors
    /// That the backend has none, or why they cannot be listed.
    pub async fn workspaces(&self, environment: &Environment) -> Result<Vec<String>, Diagnostics> {
        match self {
            Self::Local { folder, .. } => {
                let folder = environment.working.join(folder);
                folders(&folder).map_err(|error| {
                    Diagnostic::error(
                        "Failed to list workspaces",
                        format!("The folder {} cannot be read: {error}.", folder.display()),
                    )
                    .into()
                })
            }
            Self::Gcs(config) => GcsStore::new((**config).clone()).workspaces().await,
            Self::Http(_) => Err(unsupported()),
        }
    }

    /// Removes the state of a workspace, and its journal.
    ///
    /// # Errors
    /// Why it is still there.
    pub async fn delete(
        &self,
        environment: &Environment,
        workspace: &str,
    ) -> Result<(), Diagnostics> {
        match self {
            Self::Local { folder, .. } => {
                nameable(workspace)?;
                let own = environment.working.join(folder).join(workspace);
                fs::remove_dir_all(&own).map_err(|error| {
                    Diagnostic::error(
                        "Failed to delete workspace",
                        format!("The folder {} cannot be removed: {error}.", own.display()),
                    )
                    .into()
                })
            }
            Self::Gcs(config) => {
                nameable(workspace)?;
                let mut config = (**config).clone();
                config.workspace = workspace.to_owned();
                GcsStore::new(config).delete_workspace().await
            }
            Self::Http(_) => Err(unsupported()),
        }
    }
}

fn unsupported() -> Diagnostics {
    Diagnostic::error(
        "Workspaces not supported",
        "The backend \"http\" keeps one state, that of the workspace \"default\": it has no others.",
    )
    .hint("Keep each in a place of its own (another address), or use a backend that has workspaces: local or gcs.")
    .into()
}

/// Refuses the name of a workspace that would lead elsewhere.
fn nameable(workspace: &str) -> Result<(), Diagnostics> {
    if workspace.is_empty() || workspace.contains('/') || workspace.starts_with('.') {
        return Err(Diagnostic::error(
            "Invalid workspace name",
            format!("{workspace:?} cannot be the name of a workspace."),
        )
        .into());
    }
    Ok(())
}

fn folders(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    match fs::read_dir(folder) {
        Ok(entries) => {
            for entry in entries {
                let entry = entry?;
                if entry.file_type()?.is_dir()
                    && let Ok(name) = entry.file_name().into_string()
                    && name != DEFAULT_WORKSPACE
                {
                    names.push(name);
                }
            }
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    names.sort();
    names.insert(0, DEFAULT_WORKSPACE.to_owned());
    Ok(names)
}

type Text<'t> = dyn Fn(&str) -> Option<String> + 't;

fn wrong(backend: &str, argument: &'static str, why: &str) -> Misconfigured {
    Misconfigured {
        argument: Some(argument),
        diagnostic: Box::new(Diagnostic::error(
            "Invalid backend configuration",
            format!(
                "The argument \"{argument}\" of the backend \"{backend}\" cannot be used: {why}."
            ),
        )),
    }
}

fn gcs(
    settings: &Settings,
    environment: &Environment,
    text: &Text<'_>,
) -> Result<Place, Misconfigured> {
    let customer_key = match text("encryption_key") {
        None => None,
        Some(key) => {
            let bytes = STANDARD.decode(key.trim()).ok().filter(|k| k.len() == 32);
            let bytes = bytes.ok_or_else(|| {
                wrong(
                    "gcs",
                    "encryption_key",
                    "it must be a key of 32 bytes, written in base64",
                )
            })?;
            Some(CustomerKey::new(&bytes))
        }
    };
    let kms_key = text("kms_encryption_key");
    if customer_key.is_some() && kms_key.is_some() {
        return Err(wrong(
            "gcs",
            "kms_encryption_key",
            "an object has one key, and encryption_key names another",
        ));
    }
    let endpoint = text("storage_custom_endpoint");
    if let Some(endpoint) = &endpoint
        && !reqwest::Url::parse(endpoint)
            .is_ok_and(|u| matches!(u.scheme(), "http" | "https") && u.has_host())
    {
        return Err(wrong(
            "gcs",
            "storage_custom_endpoint",
            "it must be an address that begins with http:// or https://",
        ));
    }
    let mut credentials = match (text("access_token"), text("credentials")) {
        (Some(token), _) => Credentials::token(&token),
        (None, Some(given)) => {
            let json = contents(environment, &given).ok_or_else(|| {
                wrong(
                    "gcs",
                    "credentials",
                    "it must be the path of a credentials file, or the JSON of one",
                )
            })?;
            Credentials::json(&json, &scopes())
                .map_err(|e| wrong("gcs", "credentials", e.to_string().trim_end_matches('.')))?
        }
        (None, None) => Credentials::application_default(&scopes()).map_err(|e| Misconfigured {
            argument: None,
            diagnostic: Box::new(Diagnostic::error(
                "Invalid backend configuration",
                format!("{e}."),
            )),
        })?,
    };
    if let Some(account) = text("impersonate_service_account") {
        let delegates = settings.texts("impersonate_service_account_delegates");
        credentials = credentials.impersonating(&account, &delegates, &scopes());
    }
    Ok(Place::Gcs(Box::new(GcsConfig {
        bucket: text("bucket").unwrap_or_default(),
        prefix: text("prefix").unwrap_or_default(),
        workspace: DEFAULT_WORKSPACE.to_owned(),
        kms_key,
        customer_key,
        credentials,
        run: environment.uuid(),
        endpoint,
    })))
}

fn scopes() -> [String; 1] {
    ["https://www.googleapis.com/auth/devstorage.read_write".to_owned()]
}

/// The JSON that an argument is, or that lies in the file which it names.
fn contents(environment: &Environment, given: &str) -> Option<String> {
    if given.trim_start().starts_with('{') {
        return Some(given.to_owned());
    }
    let path = match (given.strip_prefix("~/"), &environment.home) {
        (Some(below), Some(home)) => home.join(below),
        _ => environment.working.join(given),
    };
    fs::read_to_string(path).ok()
}

fn http(settings: &Settings, text: &Text<'_>) -> Result<Place, Misconfigured> {
    let mut config = HttpConfig::at(&text("address").unwrap_or_default());
    for (name, method) in [
        ("update_method", &mut config.update_method),
        ("lock_method", &mut config.lock_method),
        ("unlock_method", &mut config.unlock_method),
    ] {
        if let Some(given) = text(name) {
            *method = given;
        }
    }
    config.lock_address = text("lock_address");
    config.unlock_address = text("unlock_address");
    config.credentials = text("username").map(|user| (user, text("password").unwrap_or_default()));
    config.skip_cert_verification = settings.is_true("skip_cert_verification");
    let number = |name: &'static str| match text(name) {
        None => Ok(None),
        Some(given) => match given.parse::<u32>() {
            Ok(n) => Ok(Some(n)),
            Err(_) => Err(wrong("http", name, "it must be a whole number from 0")),
        },
    };
    if let Some(n) = number("retry_max")? {
        config.retry_max = n;
    }
    if let Some(n) = number("retry_wait_min")? {
        config.retry_wait_min = Duration::from_secs(n.into());
    }
    if let Some(n) = number("retry_wait_max")? {
        config.retry_wait_max = Duration::from_secs(n.into());
    }
    config.client_ca_certificate_pem = text("client_ca_certificate_pem");
    config.client_identity_pem = match (
        text("client_certificate_pem"),
        text("client_private_key_pem"),
    ) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        (Some(_), None) => {
            return Err(wrong(
                "http",
                "client_certificate_pem",
                "a certificate goes with its private key, client_private_key_pem",
            ));
        }
        (None, Some(_)) => {
            return Err(wrong(
                "http",
                "client_private_key_pem",
                "a private key goes with its certificate, client_certificate_pem",
            ));
        }
    };
    Ok(Place::Http(Box::new(config)))
}
