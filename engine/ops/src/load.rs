//! Loading: files to a configuration, its graph, and the providers it calls for.

use crate::files::{RecordingFiles, RecordingReader};
use crate::functions::FunctionsOf;
use crate::session::Session;
use crate::test::stand_in;
use formwork_addresses::ProviderAddr;
use formwork_configuration::{
    Configuration, InputLayer, Loading, Module, SourceReader, StaticInputs, StaticVariables,
    TestConfiguration, missing_variable, root_variables,
};
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceMap, SourceRange, nearest};
use formwork_eval::{Builtins, Files, Surroundings};
use formwork_evaluation::{Calls, Evaluator, Objects, Setting};
use formwork_graph::StaticGraph;
use formwork_plan::SourceText;
use formwork_provider::{Provider, ProviderFactory, Providers};
use formwork_state::State;
use formwork_values::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// A configuration, ready to be evaluated.
pub struct Loaded {
    /// The configuration.
    pub configuration: Arc<Configuration>,
    /// Its static graph.
    pub graph: Arc<StaticGraph>,
    /// The files that diagnostics point into.
    pub sources: SourceMap,
    /// The files it was read from.
    pub texts: Vec<SourceText>,
    /// The files that its functions read, remembered.
    pub(crate) files: Arc<RecordingFiles>,
    /// Whether values and types can be looked at, though there may be errors: all text could be read,
    /// and nothing waits for itself.
    pub checkable: bool,
    /// What stands in for parts of it, in a test.
    pub(crate) test: Option<Arc<TestConfiguration>>,
}

/// Reads the configuration of the working directory, to act on it.
pub fn load(session: &Session) -> (Loaded, Diagnostics) {
    load_with(session, false)
}

/// The same; `partial` if it is only looked at, so that values of variables may be missing.
pub(crate) fn load_with(session: &Session, partial: bool) -> (Loaded, Diagnostics) {
    let recording = Arc::new(RecordingReader::new(session.reader.clone()));
    let mut sources = session.sources.clone();
    let files = Arc::new(RecordingFiles::new(disk(session)));
    let ((configuration, test), mut diagnostics) =
        with_loading(session, &*recording, files.clone(), partial, |loading| {
            read(session, loading, &mut sources)
        });
    let mut checkable = configuration.is_readable;
    let graph = if checkable {
        let (graph, said) = StaticGraph::build(&configuration);
        checkable = !said.has_errors();
        diagnostics.append(said);
        graph
    } else {
        StaticGraph::default()
    };
    let loaded = Loaded {
        checkable,
        configuration: Arc::new(configuration),
        graph: Arc::new(graph),
        sources,
        texts: recording.texts(),
        files,
        test,
    };
    (loaded, diagnostics)
}

/// Does something with everything that loading needs besides the directory.
pub(crate) fn with_loading<T>(
    session: &Session,
    reader: &dyn SourceReader,
    files: Arc<dyn Files>,
    partial: bool,
    work: impl FnOnce(&Loading<'_>) -> T,
) -> T {
    let builtins = Builtins::new(early_surroundings(session, files));
    let working_directory = session.called_in().to_string_lossy();
    work(&Loading {
        reader,
        fetcher: &*session.fetcher,
        level: session.settings.level.clone(),
        statics: StaticInputs {
            variables: StaticVariables::Layers(&session.inputs),
            workspace: &session.settings.workspace,
            working_directory: &working_directory,
            functions: Some(&builtins),
            partial,
        },
    })
}

/// What functions reach that are called before anything is planned.
pub(crate) fn early_surroundings(session: &Session, files: Arc<dyn Files>) -> Surroundings {
    Surroundings {
        files,
        clock: session.environment.clock.clone(),
        randomness: session.environment.randomness.clone(),
        plan_time: None,
        settle_impure: false,
    }
}

/// The types of backends that there are.
const BACKENDS: [&str; 12] = [
    "local",
    "gcs",
    "s3",
    "http",
    "pg",
    "azurerm",
    "kubernetes",
    "consul",
    "cos",
    "oss",
    "inmem",
    "remote",
];

/// A configuration, and what stands in for parts of it in a test.
pub(crate) type Read = (Configuration, Option<Arc<TestConfiguration>>);

/// Reads what a session is about: the configuration of the working directory, or what a run of a test
/// tests.
pub(crate) fn read(
    session: &Session,
    loading: &Loading<'_>,
    sources: &mut SourceMap,
) -> Checked<Read> {
    match &session.trial {
        None => {
            let (configuration, said) =
                formwork_configuration::load(Path::new("."), loading, sources);
            ((configuration, None), said)
        }
        Some(trial) => (trial.configuration(), Diagnostics::new()),
    }
}

/// The values that root variables are given. A test gives values to all its runs, whether their
/// modules have such variables or not.
pub(crate) fn given<'s>(session: &'s Session, root: &Module) -> Cow<'s, [InputLayer]> {
    if session.trial.is_none() {
        return Cow::Borrowed(&session.inputs);
    }
    let mut layers = session.inputs.clone();
    for layer in &mut layers {
        layer
            .values
            .retain(|name, _| root.variables.contains_key(name));
    }
    Cow::Owned(layers)
}

impl Loaded {
    /// What the configuration holds that this version reads but does not act on, and a backend that
    /// is not served: errors for every command that would have to.
    pub fn unserved(&self, session: &Session) -> Diagnostics {
        let mut diagnostics: Diagnostics = self
            .configuration
            .unserved()
            .map(|u| u.diagnostic())
            .collect();
        for (_, module) in self.configuration.modules() {
            for block in module.resources.values() {
                for p in &block.provisioners {
                    diagnostics.push(
                        Diagnostic::error(
                            "Not served yet",
                            format!(
                                "This version of Formwork does not run provisioners (\"{}\"), and will not go \
                                 on as if this one were not there.",
                                p.kind
                            ),
                        )
                        .at(p.range),
                    );
                }
            }
            for removed in module.removed.iter().filter(|r| !r.provisioners.is_empty()) {
                diagnostics.push(
                    Diagnostic::error(
                        "Not served yet",
                        "This version of Formwork does not run provisioners, and will not go on as if those of this \
                         removed block were not there.",
                    )
                    .at(removed.range),
                );
            }
        }
        let backend = self.configuration.root().and_then(|m| m.backend.as_ref());
        if let Some(b) = backend
            && &*b.kind != "local"
            && !session.settings.skip_backend
        {
            if !BACKENDS.contains(&&*b.kind) {
                let mut d = Diagnostic::error(
                    "Unsupported backend type",
                    format!("There is no backend of type \"{}\".", b.kind),
                )
                .at(b.range);
                if let Some(near) = nearest(&b.kind, BACKENDS) {
                    d = d.hint(format!("Did you mean \"{near}\"?"));
                }
                diagnostics.push(d);
                return diagnostics;
            }
            diagnostics.push(
                Diagnostic::error(
                    "Backend not served yet",
                    format!(
                        "The state of this configuration is kept in a backend of type \"{}\", which this version of \
                         Formwork does not serve. It will not fall back to a local file: two states of one world \
                         lose each other's work.",
                        b.kind
                    ),
                )
                .at(b.range)
                .hint("Use -mock to try the configuration against the embedded mock cloud, where the backend is passed over."),
            );
        }
        diagnostics
    }

    /// The values of root variables, marked; all that is missing or unsuitable is said.
    pub fn variables(&mut self, session: &Session) -> (BTreeMap<Arc<str>, Value>, Diagnostics) {
        let Some(root) = self.configuration.root().cloned() else {
            return (BTreeMap::new(), Diagnostics::new());
        };
        let (all, mut diagnostics) =
            root_variables(&root, &given(session, &root), &mut self.sources);
        for name in &all.missing {
            if let Some(v) = root.variables.get(name) {
                diagnostics.push(missing_variable(v));
            }
        }
        let values = all
            .values
            .into_iter()
            .map(|(name, value)| {
                let marks = root
                    .variables
                    .get(&name)
                    .map(|v| v.marks())
                    .unwrap_or_default();
                (name, value.with_marks(&marks))
            })
            .collect();
        (values, diagnostics)
    }

    /// The names of root variables for which no value is given.
    pub fn missing_variables(&mut self, session: &Session) -> Vec<Arc<str>> {
        let Some(root) = self.configuration.root().cloned() else {
            return Vec::new();
        };
        root_variables(&root, &session.inputs, &mut self.sources)
            .0
            .missing
    }

    /// Launches the providers that the configuration and the state call for.
    pub async fn launch(
        &self,
        session: &Session,
        state: Option<&State>,
    ) -> (Arc<Providers>, Diagnostics) {
        let places = needed_at(&self.configuration);
        let mut wanted: BTreeSet<ProviderAddr> = places.keys().cloned().collect();
        for (_, resource) in state.into_iter().flat_map(State::resources) {
            wanted.insert(resource.provider.provider.clone());
        }
        let level = session.settings.level.version.to_string();
        let factory = Arc::new(Placed {
            factory: session.factory.clone(),
            places,
        });
        let (mut providers, diagnostics) = Providers::launch(factory, &level, wanted).await;
        if let Some(made) = &self.test {
            stand_in(session, made, &mut providers);
        }
        (Arc::new(providers), diagnostics)
    }
}

/// The providers that a configuration calls for, each with a place that needs it.
fn needed_at(configuration: &Configuration) -> BTreeMap<ProviderAddr, Option<SourceRange>> {
    configuration
        .required_providers()
        .into_iter()
        .map(|(address, required)| (address, required.needed_at))
        .collect()
}

/// A factory whose failures name the place that needs the provider.
struct Placed {
    factory: Arc<dyn ProviderFactory>,
    places: BTreeMap<ProviderAddr, Option<SourceRange>>,
}

#[async_trait::async_trait]
impl ProviderFactory for Placed {
    async fn launch(&self, provider: &ProviderAddr) -> Result<Arc<dyn Provider>, Diagnostics> {
        let launched = self.factory.launch(provider).await;
        launched.map_err(|mut said| {
            if let Some(Some(range)) = self.places.get(provider) {
                said.default_subject(*range);
            }
            said
        })
    }
}

/// Who evaluates, and over what.
pub(crate) struct Evaluation<'s> {
    pub session: &'s Session,
    pub configuration: &'s Arc<Configuration>,
    pub providers: &'s Arc<Providers>,
    pub files: Arc<dyn Files>,
    pub plan_time: Option<SystemTime>,
    pub applying: bool,
    pub validating: bool,
}

impl Evaluation<'_> {
    /// An evaluator over these objects and root variables.
    pub fn over(&self, objects: Objects, variables: BTreeMap<Arc<str>, Value>) -> Arc<Evaluator> {
        let environment = &self.session.environment;
        let builtins = Builtins::new(Surroundings {
            files: self.files.clone(),
            clock: environment.clock.clone(),
            randomness: environment.randomness.clone(),
            plan_time: self.plan_time,
            settle_impure: self.applying,
        });
        let setting = Setting {
            working_directory: self.session.called_in().to_string_lossy().into_owned(),
            root_directory: self.configuration.root().map_or_else(
                || ".".to_owned(),
                |m| m.directory.to_string_lossy().into_owned(),
            ),
            workspace: self.session.settings.workspace.clone(),
            applying: self.applying,
            validating: self.validating,
        };
        let calls = Calls::new(Arc::new(FunctionsOf {
            providers: self.providers.clone(),
            validating: self.validating,
        }));
        let evaluator = Evaluator::new(
            self.configuration.clone(),
            Arc::new(objects),
            Arc::new(builtins),
            Arc::new(calls),
            setting,
            variables,
        );
        Arc::new(match &self.session.trial {
            None => evaluator,
            Some(trial) => evaluator.in_test(trial.surroundings()),
        })
    }
}

/// The files of the working directory.
pub(crate) fn disk(session: &Session) -> Arc<dyn Files> {
    Arc::new(formwork_eval::WorkingDirectory {
        base: session.environment.working.clone(),
        home: session.environment.home.clone(),
        within: session.settings.files_within.clone(),
    })
}
