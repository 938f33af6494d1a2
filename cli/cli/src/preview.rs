//! What a command must know of the configuration before an operation reads it: where its state is,
//! which versions of providers it wants, which variables it has.

use crate::inputs::Values;
use crate::mock::STATE;
use crate::operation::Fetcher;
use crate::session::Session;
use formwork_configuration::Configuration;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_eval::{Surroundings, WorkingDirectory};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A configuration, read for a look.
pub struct Preview {
    /// The configuration.
    pub configuration: Arc<Configuration>,
    /// Its files.
    pub sources: SourceMap,
    /// What was wrong with it.
    pub diagnostics: Diagnostics,
}

impl Preview {
    /// Of the working directory, with the values that are given for its variables; `None` where it is
    /// only looked at, so that values may be missing. Modules are asked of `fetcher`.
    pub fn of_directory(session: &Session, values: Option<&Values>, fetcher: Fetcher) -> Self {
        let nothing = SourceMap::new();
        Self::of(&formwork_ops::read_configuration(&formwork_ops::Reading {
            environment: &session.environment,
            reader: session.reader(),
            fetcher,
            level: session.level(false),
            inputs: values.map_or(&[], |v| &v.layers),
            sources: values.map_or(&nothing, |v| &v.sources),
            workspace: &session.workspace(),
            called_in: &session.called_in,
            files_within: session.files_within.clone(),
            partial: values.is_none(),
        }))
    }

    /// Of what was read.
    pub fn of(read: &formwork_ops::ReadConfiguration) -> Self {
        Self {
            configuration: read.configuration.clone(),
            sources: read.sources.clone(),
            diagnostics: read.diagnostics.clone(),
        }
    }

    /// Of a plan's own files.
    pub fn of_plan(session: &Session, plan: &formwork_plan::Plan) -> Self {
        let mut sources = SourceMap::new();
        let place = formwork_ops::PlanPlace {
            surroundings: surroundings(session),
            called_in: &session.called_in,
            workspace: &session.workspace(),
            level: session.level(false),
        };
        let (configuration, diagnostics) =
            formwork_ops::planned_configuration(plan, place, &mut sources);
        Self {
            configuration: Arc::new(configuration),
            sources,
            diagnostics,
        }
    }

    /// Whether it is well but for values that are missing, which somebody can be asked for.
    pub fn can_be_asked_for(&self) -> bool {
        self.diagnostics
            .iter()
            .filter(|d| d.is_error())
            .all(lacks_value)
    }

    /// The variables without whose values the configuration cannot be read, by address.
    pub fn needed_values(&self) -> BTreeSet<String> {
        let lacking = self.diagnostics.iter().filter(|d| lacks_value(d));
        lacking.filter_map(|d| d.address.clone()).collect()
    }

    /// The file of the state: what `-state` names, the mock's own, or what a `local` backend says.
    ///
    /// # Errors
    /// That the backend or the workspace is not served, or that the configuration, which may name a
    /// backend, cannot be read: nobody falls back to a local file then.
    pub fn state_path(
        &self,
        session: &Session,
        given: Option<&Path>,
    ) -> Result<PathBuf, Diagnostics> {
        if let Some(given) = given.filter(|_| session.is_mock()) {
            return Ok(given.to_owned());
        }
        let workspace = session.workspace();
        if workspace != "default" && given.is_none() {
            let folder = self.workspace_folder(session)?;
            return Ok(folder.join(workspace).join("terraform.tfstate"));
        }
        if session.is_mock() {
            return Ok(PathBuf::from(STATE));
        }
        self.local_backend(given.is_some())?;
        if let Some(given) = given {
            return Ok(given.to_owned());
        }
        let path = self.backend_text("path")?;
        Ok(path.map_or_else(|| "terraform.tfstate".into(), PathBuf::from))
    }

    /// The folder in which the states of workspaces other than `default` lie, each in a folder of its
    /// name.
    ///
    /// # Errors
    /// As for [`Preview::state_path`].
    pub fn workspace_folder(&self, session: &Session) -> Result<PathBuf, Diagnostics> {
        const NAME: &str = "terraform.tfstate.d";
        if session.is_mock() {
            return Ok(Path::new(STATE).with_file_name(NAME));
        }
        self.local_backend(false)?;
        let folder = self.backend_text("workspace_dir")?;
        Ok(folder.map_or_else(|| NAME.into(), PathBuf::from))
    }

    /// Refuses a backend other than `local`, and a configuration that may name one and cannot be read.
    fn local_backend(&self, given: bool) -> Result<(), Diagnostics> {
        let root = self.configuration.root();
        let backend = root.and_then(|m| m.backend.as_ref());
        let Some(backend) = backend else {
            // what is wrong in other modules, or with getting them, has no say in where the state is
            if root.is_none_or(|r| !r.is_readable) && self.diagnostics.has_errors() && !given {
                return Err(self.diagnostics.clone());
            }
            return Ok(());
        };
        if &*backend.kind != "local" {
            return Err(Diagnostic::error(
                "Backend not served yet",
                format!(
                    "The state of this configuration is kept in a backend of type \"{}\", which \
                     this version of Formwork does not serve. It will not fall back to a local file: \
                     two states of one world lose each other's work.",
                    backend.kind
                ),
            )
            .at(backend.range)
            .hint(
                "Use -mock to try the configuration against the embedded mock cloud, where the \
                 backend is passed over.",
            )
            .into());
        }
        Ok(())
    }

    /// The text that an argument of the backend is set to.
    fn backend_text(&self, name: &str) -> Result<Option<String>, Diagnostics> {
        let root = self.configuration.root();
        let backend = root.and_then(|m| m.backend.as_ref());
        let Some(argument) = backend.and_then(|b| b.body.attribute(name)) else {
            return Ok(None);
        };
        // It has not come to a value: why is said already.
        if argument.expression.is_computed() && self.diagnostics.has_errors() {
            return Err(self.diagnostics.clone());
        }
        let (value, said) = formwork_eval::evaluate_literal(&argument.expression.as_constant());
        if said.has_errors() {
            return Err(said);
        }
        if value.is_null() {
            return Ok(None);
        }
        let text = value.as_str().filter(|t| !t.is_empty()).ok_or_else(|| {
            Diagnostic::error(
                "Invalid backend configuration",
                format!(
                    "The argument \"{name}\" of a local backend is text that stands there: a path."
                ),
            )
            .at(argument.expression.range())
        })?;
        Ok(Some(text.to_owned()))
    }
}

/// What functions reach that are called before anything is planned.
fn surroundings(session: &Session) -> Surroundings {
    let environment = &session.environment;
    Surroundings {
        files: Arc::new(WorkingDirectory {
            base: environment.working.clone(),
            home: environment.home.clone(),
            within: session.files_within.clone(),
        }),
        clock: environment.clock.clone(),
        randomness: environment.randomness.clone(),
        plan_time: None,
        settle_impure: false,
    }
}

fn lacks_value(d: &Diagnostic) -> bool {
    d.summary == "No value for required variable"
}
