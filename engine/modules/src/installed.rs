//! Modules that were installed: looked up in the manifest, nothing fetched.

use crate::content;
use crate::manifest::{Entry, Home, Manifest, Record};
use crate::problem::{Outcome, Problem};
use crate::wanted::{acceptable, key, local, normal, wanted};
use formwork_addresses::ModulePath;
use formwork_configuration::{Configuration, ModuleFetcher, ModuleRequest, ModuleSource};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// How the files of a module stand to those that were fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Whole,
    /// Somebody else installed them, so nothing is known of them.
    Unknown,
    Changed,
    Gone,
}

impl Home {
    /// Looks at the files of a module.
    pub fn state(&self, working: &Path, entry: &Entry, record: &Record) -> State {
        if !working.join(&entry.directory).is_dir() {
            return State::Gone;
        }
        let Some(known) = record.packages.get(&entry.key) else {
            return State::Unknown;
        };
        let folder = self.package(&entry.key);
        // which we do not keep: another tool has installed it anew since
        if folder.join(".git").exists() {
            return State::Unknown;
        }
        // files that were not touched need not be read
        if content::signature(&folder).is_ok_and(|s| s == known.signature)
            || content::content(&folder).is_ok_and(|c| c == known.content)
        {
            State::Whole
        } else {
            State::Changed
        }
    }

    /// The folder of an entry's package; what another tool put elsewhere has bounds that are not known.
    pub fn bounds(&self, entry: &Entry) -> Option<PathBuf> {
        let package = self.shown.join(self.folder_name(&entry.key));
        Path::new(&entry.directory)
            .starts_with(&package)
            .then_some(package)
    }
}

/// Answers with what `init` or `get` have installed.
pub struct Installed {
    home: Home,
    working: PathBuf,
    product: String,
    read: OnceLock<Outcome<(Manifest, Record)>>,
    /// How the files of modules that were asked for stand; looked at once in a run.
    states: Mutex<BTreeMap<String, State>>,
}

impl Installed {
    /// Modules installed below a data directory. `product` is the name of the command that installs
    /// them, for advice. Nothing is read until a module is asked for.
    pub fn new(working: &Path, data_directory: &Path, product: &str) -> Self {
        Self {
            home: Home::new(working, data_directory),
            working: working.to_owned(),
            product: product.to_owned(),
            read: OnceLock::new(),
            states: Mutex::default(),
        }
    }

    /// The source of a module of a configuration, in normal form, and its version if it has one.
    pub fn description(
        &self,
        configuration: &Configuration,
        path: &ModulePath,
    ) -> (String, String) {
        let Some((_, call)) = configuration.call_of(path) else {
            return (String::new(), String::new());
        };
        let source = match &call.source {
            ModuleSource::Local(text) => local(text),
            source => wanted(source).map_or_else(|_| source.to_string(), |(text, _)| text),
        };
        let version = match self.read() {
            Ok((manifest, _)) => manifest.entries.get(&key(path)).map(|e| e.version.clone()),
            Err(_) => None,
        };
        (source, version.unwrap_or_default())
    }

    fn read(&self) -> &Outcome<(Manifest, Record)> {
        self.read.get_or_init(|| {
            self.home
                .read_manifest()
                .map(|manifest| (manifest, self.home.read_record()))
        })
    }

    fn find(&self, request: &ModuleRequest<'_>) -> Result<Entry, Problem> {
        let (source, _) = wanted(request.source)?;
        let (manifest, record) = self.read().as_ref().map_err(Clone::clone)?;
        let run = format!("Run `{} init` to install it.", self.product);
        let missing = |why: String| Problem::new("Module not installed", why).hint(run.clone());
        let name = &request.call.name;
        let Some(entry) = manifest.entries.get(&key(&request.path())) else {
            return Err(missing(format!(
                "The module \"{name}\" comes from \"{source}\" and is not installed yet."
            )));
        };
        let recorded = normal(&entry.source);
        if recorded != source {
            return Err(Problem::new(
                "Module source has changed",
                format!(
                    "The module \"{name}\" was installed from \"{recorded}\", but its source is \"{source}\" now."
                ),
            )
            .hint(run));
        }
        if !acceptable(&entry.version, request.version) {
            return Err(Problem::new(
                "Module version requirements have changed",
                format!(
                    "Version {} of the module \"{name}\" is installed, but \"{}\" is asked for now.",
                    entry.version,
                    request.version.map(ToString::to_string).unwrap_or_default()
                ),
            )
            .hint(run));
        }
        let state = *self
            .states
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(entry.key.clone())
            .or_insert_with(|| self.home.state(&self.working, entry, record));
        if state == State::Gone {
            return Err(missing(format!(
                "The module \"{name}\" was installed in {}, but there is nothing any more.",
                entry.directory
            )));
        }
        Ok(entry.clone())
    }
}

impl ModuleFetcher for Installed {
    fn directory(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>> {
        self.find(request)
            .map(|entry| entry.directory.into())
            .map_err(|p| Box::new(diagnostic(p)))
    }

    fn package(&self, request: &ModuleRequest<'_>) -> Option<PathBuf> {
        let (manifest, _) = self.read.get()?.as_ref().ok()?;
        self.home
            .bounds(manifest.entries.get(&key(&request.path()))?)
    }

    fn remarks(&self) -> Diagnostics {
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let changed: Vec<&String> = states
            .iter()
            .filter(|(_, state)| **state == State::Changed)
            .map(|(key, _)| key)
            .collect();
        let mut said = Diagnostics::new();
        if !changed.is_empty() {
            let (these, them) = match changed.len() {
                1 => ("this module", "it"),
                _ => ("these modules", "them"),
            };
            let names: Vec<String> = changed.iter().map(|k| format!("\"{k}\"")).collect();
            said.push(
                Diagnostic::warning(
                    "Installed module was changed",
                    format!(
                        "The files of {these} are no longer those that were fetched: {}. They are used as they \
                         are.",
                        names.join(", ")
                    ),
                )
                .hint(format!(
                    "To fetch {them} again, run `{} init`.",
                    self.product
                )),
            );
        }
        said
    }
}

/// A problem as a diagnostic without a place.
pub(crate) fn diagnostic(problem: Problem) -> Diagnostic {
    let d = Diagnostic::error(problem.summary, problem.detail);
    match problem.hint {
        Some(hint) => d.hint(hint),
        None => d,
    }
}
