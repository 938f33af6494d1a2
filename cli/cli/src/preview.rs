//! What a command must know of the configuration before an operation reads it: where its state is,
//! which versions of providers it wants, which variables it has.

use crate::mock::STATE;
use crate::session::Session;
use formwork_configuration::{
    Configuration, Loading, LocalModulesOnly, MemoryReader, SourceReader, load,
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
        Self::read(session, &*session.reader())
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
            if self.diagnostics.has_errors() && !given {
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
