//! What a command must know of the configuration before an operation reads it: where its state is,
//! which versions of providers it wants, which variables it has.

use crate::mock::STATE;
use crate::session::Session;
use formwork_configuration::{
    Configuration, DiskReader, Loading, LocalModulesOnly, MemoryReader, SourceReader, load,
};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use std::path::{Path, PathBuf};

/// A configuration, read for a look.
pub struct Preview {
    /// The configuration.
    pub configuration: Configuration,
    /// Its files.
    pub sources: SourceMap,
    /// What was wrong with it.
    pub diagnostics: Diagnostics,
}

impl Preview {
    /// Of the working directory.
    pub fn of_directory(session: &Session) -> Self {
        let reader = DiskReader {
            base: session.environment.working.clone(),
        };
        Self::read(session, &reader)
    }

    /// Of a plan's own files.
    pub fn of_plan(session: &Session, plan: &formwork_plan::Plan) -> Self {
        let mut reader = MemoryReader::new();
        for text in &plan.sources {
            reader.insert(&text.name, text.bytes.clone());
        }
        Self::read(session, &reader)
    }

    fn read(session: &Session, reader: &dyn SourceReader) -> Self {
        let mut sources = SourceMap::new();
        let with = Loading {
            reader,
            fetcher: &LocalModulesOnly,
            level: session.level(false),
        };
        let (configuration, diagnostics) = load(Path::new("."), &with, &mut sources);
        Self {
            configuration,
            sources,
            diagnostics,
        }
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
        let workspace = session.workspace();
        if workspace != "default" {
            return Err(Diagnostic::error(
                "Workspace not served yet",
                format!(
                    "The workspace \"{workspace}\" is selected (by TF_WORKSPACE or the data \
                     directory), but this version of Formwork serves only the workspace \"default\"."
                ),
            )
            .into());
        }
        if session.is_mock() {
            return Ok(given.unwrap_or(Path::new(STATE)).to_owned());
        }
        let root = self.configuration.root();
        let backend = root.and_then(|m| m.backend.as_ref());
        let Some(backend) = backend else {
            if self.diagnostics.has_errors() && given.is_none() {
                return Err(self.diagnostics.clone());
            }
            return Ok(given.unwrap_or(Path::new("terraform.tfstate")).to_owned());
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
        if let Some(given) = given {
            return Ok(given.to_owned());
        }
        let Some(path) = backend.body.attribute("path") else {
            return Ok("terraform.tfstate".into());
        };
        let (value, said) = formwork_eval::evaluate_literal(&path.expression.as_constant());
        if said.has_errors() {
            return Err(said);
        }
        let wrong = || {
            Diagnostic::error(
                "Invalid backend configuration",
                "The path of a local backend is text that stands there: the name of a file.",
            )
            .at(path.expression.range())
        };
        if value.is_null() {
            return Ok("terraform.tfstate".into());
        }
        let text = value.as_str().filter(|t| !t.is_empty()).ok_or_else(wrong)?;
        Ok(text.into())
    }
}
