//! Reading the states of other configurations, wherever a backend keeps them.

use crate::local::Backup;
use crate::place::{DEFAULT_WORKSPACE, Place};
use crate::settings::{BACKENDS, Settings, arguments, unserved};
use async_trait::async_trait;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_environment::Environment;
use formwork_state::{RawJson, StateBytes, StateReadError, StateReader};
use serde_json::{Map, Value as Json};

/// How far reading goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// To every backend.
    #[default]
    Everywhere,
    /// To files, and to the storage of a mock cloud at an address if there is one: nothing real is
    /// touched.
    Mock(Option<String>),
}

/// States wherever a backend keeps them.
pub struct RemoteStates {
    environment: Environment,
    reach: Reach,
}

impl RemoteStates {
    /// Relative paths are relative to the working directory.
    pub fn new(environment: Environment) -> Self {
        Self {
            environment,
            reach: Reach::Everywhere,
        }
    }

    /// The same, going no further than this.
    #[must_use]
    pub fn within(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// The place that a configuration names, as far as it may be gone to.
    fn place(&self, settings: &Settings) -> Result<Place, StateReadError> {
        let place = Place::of(settings, &self.environment);
        let mut place = place.map_err(|wrong| StateReadError::Config(renamed(wrong.diagnostic)))?;
        match (&self.reach, &place) {
            (Reach::Everywhere, _) | (_, Place::Local { .. }) => {}
            (Reach::Mock(Some(base)), Place::Gcs(_)) => place.in_mock(base),
            (Reach::Mock(_), _) => {
                let d = Diagnostic::error(
                    "State not read with a mock cloud",
                    format!(
                        "The state is kept in a backend of type \"{}\", which is real. With -mock nothing \
                         real is touched, so it is not read.",
                        place.backend()
                    ),
                )
                .hint(
                    "States in Cloud Storage are read in the mock cloud's own storage with -mock-backend. \
                     Others can be put into a file for a trial, which is read with backend = \"local\".",
                );
                return Err(StateReadError::Backend(d.into()));
            }
        }
        Ok(place)
    }
}

#[async_trait]
impl StateReader for RemoteStates {
    fn check(&self, backend: &str, config: &RawJson) -> Result<(), StateReadError> {
        if arguments(backend).is_none() && BACKENDS.contains(&backend) {
            // That it is not served is no mistake of the configuration.
            return Ok(());
        }
        // What the environment says may be missing where a configuration is only checked.
        settings(backend, config).map(|_| ())
    }

    async fn read_state(
        &self,
        backend: &str,
        workspace: Option<&str>,
        config: &RawJson,
    ) -> Result<Option<StateBytes>, StateReadError> {
        let place = self.place(&settings(backend, config)?)?;
        let workspace = workspace.unwrap_or(DEFAULT_WORKSPACE);
        let store = place
            .store(&self.environment, workspace, Backup::None)
            .map_err(StateReadError::Config)?;
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

fn settings(backend: &str, config: &RawJson) -> Result<Settings, StateReadError> {
    let invalid = |reason: &str| {
        let d = Diagnostic::error(
            SUMMARY,
            format!("The backend \"{backend}\" cannot be configured so: {reason}."),
        );
        StateReadError::Config(d.into())
    };
    if arguments(backend).is_none() {
        let mut d = unserved(backend);
        d.summary = if BACKENDS.contains(&backend) {
            "Unsupported backend".to_owned()
        } else {
            SUMMARY.to_owned()
        };
        if BACKENDS.contains(&backend) {
            d = d.hint("Fetch the state with the tool that wrote it (`state pull`), and name the file with backend = \"local\".");
        }
        return Err(StateReadError::Backend(d.into()));
    }
    let config: Json =
        serde_json::from_str(config.get()).map_err(|_| invalid("it is nested too deeply"))?;
    let config = match config {
        Json::Null => Map::new(),
        Json::Object(entries) => entries,
        _ => return Err(invalid("an object is required")),
    };
    Settings::from_json(backend, &config).map_err(|d| StateReadError::Config(renamed(d)))
}

const SUMMARY: &str = "Invalid backend configuration";

/// Whatever is wrong with it, it is one argument of the data source that is to blame.
fn renamed(mut d: Box<Diagnostic>) -> Diagnostics {
    d.summary = SUMMARY.to_owned();
    (*d).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_environment::{Environment, Fixed};
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::sync::Arc;

    fn states() -> RemoteStates {
        let fixed = Arc::new(Fixed::new(1, 1));
        RemoteStates::new(Environment {
            variables: BTreeMap::new(),
            home: None,
            working: PathBuf::from("/nowhere"),
            temporary: PathBuf::from("/nowhere"),
            who: "u@h".to_owned(),
            process: 1,
            clock: fixed.clone(),
            randomness: fixed,
        })
    }

    fn text(error: &StateReadError) -> String {
        let (StateReadError::Backend(d) | StateReadError::Config(d) | StateReadError::Failed(d)) =
            error;
        d.iter()
            .map(|d| format!("{}: {} {:?}", d.summary, d.detail, d.hints))
            .collect()
    }

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
            (
                "default",
                "{\"path\":[]}",
                Err("\"path\" of the backend \"local\" must be text"),
            ),
            ("default", "{\"pth\":1}", Err("Did you mean \\\"path\\\"?")),
        ] {
            let config = RawJson::parse(config).expect("JSON");
            let found = settings("local", &config).and_then(|s| states().place(&s));
            match (found, expected) {
                (Ok(place), Ok(expected)) => {
                    let file = place.file(workspace).expect("a name").expect("a file");
                    assert_eq!(file.to_str(), Some(expected));
                }
                (Err(e), Err(expected)) => assert!(text(&e).contains(expected), "{}", text(&e)),
                (found, expected) => panic!("{found:?} and not {expected:?}"),
            }
        }
        let place = Place::default();
        assert!(place.file("../x").is_err());
    }

    #[test]
    fn what_is_checked_without_asking() {
        for (backend, config, expected) in [
            ("gcs", "{\"bucket\":\"b\"}", Ok(())),
            ("gcs", "{}", Ok(())),
            ("s3", "{\"anything\":1}", Ok(())),
            ("gcs", "{\"bukket\":\"b\"}", Err("Did you mean")),
            ("locl", "{}", Err("Did you mean \\\"local\\\"?")),
        ] {
            let config = RawJson::parse(config).expect("JSON");
            let got = states().check(backend, &config);
            match expected {
                Ok(()) => assert_eq!(got, Ok(()), "{backend}"),
                Err(word) => {
                    let told = text(&got.expect_err("refused"));
                    assert!(told.contains(word), "{told}");
                }
            }
        }
    }

    #[tokio::test]
    async fn with_a_mock_cloud_nothing_real_is_read() {
        let states = states().within(Reach::Mock(None));
        let config = RawJson::parse("{\"bucket\":\"b\",\"access_token\":\"t\"}").expect("JSON");
        let refused = states.read_state("gcs", None, &config).await;
        let told = text(&refused.err().expect("refused"));
        assert!(told.contains("nothing real is touched"), "{told}");
        let told = text(
            &states
                .read_state("s3", None, &config)
                .await
                .err()
                .expect("refused"),
        );
        assert!(told.contains("Unsupported backend"), "{told}");
    }
}
