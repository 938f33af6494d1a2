//! Reading the states of other configurations: backend `local`.
//!
//! Facts, tried with Terraform 1.11.4: the default workspace is `path`, by default
//! `terraform.tfstate`; any other is `NAME/terraform.tfstate` in `workspace_dir`, by default
//! `terraform.tfstate.d`, whatever `path` says.

use crate::local::{Backup, LocalStore};
use async_trait::async_trait;
use formwork_diagnostics::{Diagnostic, Diagnostics, nearest};
use formwork_environment::Environment;
use formwork_state::{RawJson, SnapshotStore, StateBytes, StateReadError, StateReader};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// States in files.
pub struct LocalStates {
    environment: Environment,
}

impl LocalStates {
    /// Relative paths are relative to the working directory.
    pub fn new(environment: Environment) -> Self {
        Self { environment }
    }
}

#[async_trait]
impl StateReader for LocalStates {
    fn check(&self, backend: &str, config: &RawJson) -> Result<(), StateReadError> {
        match backend {
            "local" => path("default", config)
                .map(|_| ())
                .map_err(|reason| StateReadError::Config(invalid(&reason))),
            // That it is not served is no mistake of the configuration.
            other if KNOWN.contains(&other) => Ok(()),
            other => Err(StateReadError::Backend(unserved(other))),
        }
    }

    async fn read_state(
        &self,
        backend: &str,
        workspace: Option<&str>,
        config: &RawJson,
    ) -> Result<Option<StateBytes>, StateReadError> {
        if backend != "local" {
            return Err(StateReadError::Backend(unserved(backend)));
        }
        let path = path(workspace.unwrap_or("default"), config)
            .map_err(|reason| StateReadError::Config(invalid(&reason)))?;
        let store = LocalStore::new(&self.environment, &path, Backup::None);
        let bytes = store
            .read_snapshot()
            .await
            .map_err(StateReadError::Failed)?;
        Ok(bytes.map(|bytes| StateBytes {
            name: store.describe(),
            bytes,
        }))
    }
}

/// The state's path, or what is wrong with the configuration, as a clause.
fn path(workspace: &str, config: &RawJson) -> Result<PathBuf, String> {
    let config: Json =
        serde_json::from_str(config.get()).map_err(|_| "it is nested too deeply".to_owned())?;
    let entries = match &config {
        Json::Null => None,
        Json::Object(entries) => Some(entries),
        _ => return Err("an object is required".to_owned()),
    };
    let mut path = None;
    let mut directory = PathBuf::from("terraform.tfstate.d");
    for (key, value) in entries.into_iter().flatten() {
        let text = match value {
            Json::Null => None,
            Json::String(text) => Some(text.clone()),
            // as a number or truth value converts to text
            Json::Number(n) => Some(n.to_string()),
            Json::Bool(b) => Some(b.to_string()),
            _ => return Err(format!("\"{key}\" must be a text")),
        };
        match key.as_str() {
            "path" => path = text.map(PathBuf::from),
            "workspace_dir" => {
                if let Some(text) = text {
                    directory = PathBuf::from(text);
                }
            }
            _ => {
                let near = nearest(key, ["path", "workspace_dir"])
                    .map(|n| format!("; did you mean \"{n}\"?"))
                    .unwrap_or_default();
                return Err(format!("it has no argument \"{key}\"{near}"));
            }
        }
    }
    match path {
        Some(path) if workspace == "default" => Ok(path),
        None if workspace == "default" => Ok(PathBuf::from("terraform.tfstate")),
        _ if workspace.is_empty() || workspace.contains('/') || workspace.starts_with('.') => {
            Err(format!("{workspace:?} cannot be the name of a workspace"))
        }
        _ => Ok(directory
            .join(workspace)
            .join(Path::new("terraform.tfstate"))),
    }
}

fn invalid(reason: &str) -> Diagnostics {
    Diagnostic::error(
        "Invalid backend configuration",
        format!("The backend \"local\" cannot be configured so: {reason}."),
    )
    .into()
}

/// Backends of Terraform and OpenTofu.
const KNOWN: &[&str] = &[
    "azurerm",
    "cloud",
    "consul",
    "cos",
    "gcs",
    "http",
    "kubernetes",
    "local",
    "oss",
    "pg",
    "remote",
    "s3",
];

fn unserved(backend: &str) -> Diagnostics {
    let d = if KNOWN.contains(&backend) {
        Diagnostic::error(
            "Unsupported backend",
            format!(
                "States in a backend of type \"{backend}\" cannot be read yet; Formwork reads those \
                 of type \"local\"."
            ),
        )
        .hint("Fetch the state with the tool that wrote it (`state pull`), and name the file with backend = \"local\".")
    } else {
        let near = nearest(backend, KNOWN.iter().copied())
            .map(|n| format!(" Did you mean \"{n}\"?"))
            .unwrap_or_default();
        Diagnostic::error(
            "Invalid backend configuration",
            format!("There is no backend of type \"{backend}\".{near}"),
        )
    };
    d.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        for (workspace, config, expected) in [
            ("default", "null", Ok("terraform.tfstate")),
            ("default", "{\"path\":\"a/b\"}", Ok("a/b")),
            (
                "w",
                "{\"path\":\"a/b\"}",
                Ok("terraform.tfstate.d/w/terraform.tfstate"),
            ),
            (
                "w",
                "{\"path\":null}",
                Ok("terraform.tfstate.d/w/terraform.tfstate"),
            ),
            (
                "w",
                "{\"workspace_dir\":\"d\"}",
                Ok("d/w/terraform.tfstate"),
            ),
            ("default", "{\"path\":5}", Ok("5")),
            ("default", "\"x\"", Err("an object is required")),
            ("default", "{\"path\":[]}", Err("\"path\" must be a text")),
            (
                "default",
                "{\"pth\":1}",
                Err("it has no argument \"pth\"; did you mean \"path\"?"),
            ),
            (
                "../x",
                "{}",
                Err("\"../x\" cannot be the name of a workspace"),
            ),
        ] {
            let config = RawJson::parse(config).expect("JSON");
            let path = path(workspace, &config);
            assert_eq!(
                path.as_ref()
                    .map(|p| p.to_str().expect("text"))
                    .map_err(String::as_str),
                expected
            );
        }
        let told = unserved("gcs");
        assert_eq!(
            told.iter().next().expect("one").summary,
            "Unsupported backend"
        );
        let told = unserved("locl");
        assert!(
            told.iter()
                .next()
                .expect("one")
                .detail
                .ends_with("Did you mean \"local\"?")
        );
    }
}
