//! Loading: files to a configuration, its graph, and the providers it calls for.

use crate::files::{RecordingFiles, RecordingReader};
use crate::functions::FunctionsOf;
use crate::session::Session;
use crate::takeover::becomes_another_type;
use crate::test::stand_in;
use formwork_addresses::ProviderAddr;
use formwork_configuration::{
    Configuration, InputLayer, LanguageLevel, Loading, Module, ModuleFetcher, SourceReader,
    StaticInputs, StaticVariables, TestConfiguration, missing_variable, root_variables,
};
use formwork_diagnostics::{Checked, Diagnostics, SourceMap, SourceRange};
use formwork_environment::Environment;
use formwork_eval::{Builtins, Confinement, Files, Surroundings};
use formwork_evaluation::{Calls, Evaluator, Objects, Setting};
use formwork_graph::StaticGraph;
use formwork_plan::{Plan, ResourceInstanceChange, SourceText};
use formwork_provider::{Provider, ProviderFactory, Providers, Provisioner};
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
    let known = session.read.as_ref().filter(|_| session.trial.is_none());
    let (read, test) = match known.filter(|read| read.is_of(session, partial)) {
        Some(read) => (read.clone(), None),
        None => Reading::of(session, partial)
            .recorded(|loading, sources| self::read(session, loading, sources)),
    };
    let mut diagnostics = read.diagnostics.clone();
    let mut checkable = read.configuration.is_readable;
    let graph = if checkable {
        let (graph, said) = StaticGraph::build(&read.configuration);
        checkable = !said.has_errors();
        diagnostics.append(said);
        graph
    } else {
        StaticGraph::default()
    };
    let loaded = Loaded {
        checkable,
        configuration: read.configuration.clone(),
        graph: Arc::new(graph),
        sources: read.sources.clone(),
        texts: read.texts.clone(),
        files: read.files.clone(),
        test,
    };
    (loaded, diagnostics)
}

/// A configuration as it was read, with all that reading it left behind. A caller who had to look at
/// it before the operation hands it over in [`Session::read`], so that it is read once.
pub struct ReadConfiguration {
    /// The configuration.
    pub configuration: Arc<Configuration>,
    /// Its files.
    pub sources: SourceMap,
    /// What was wrong with it.
    pub diagnostics: Diagnostics,
    texts: Vec<SourceText>,
    files: Arc<RecordingFiles>,
    reader: Arc<dyn SourceReader + Send + Sync>,
    fetcher: Arc<dyn ModuleFetcher + Send + Sync>,
    level: LanguageLevel,
    /// Where the layers of inputs lie; who changes them has others.
    inputs: (usize, usize),
    workspace: String,
    partial: bool,
}

impl ReadConfiguration {
    /// Whether the session would read the same.
    fn is_of(&self, session: &Session, partial: bool) -> bool {
        Arc::ptr_eq(&self.reader, &session.reader)
            && Arc::ptr_eq(&self.fetcher, &session.fetcher)
            && self.level == session.settings.level
            && self.inputs == place_of(&session.inputs)
            && self.workspace == session.settings.workspace
            && self.partial == partial
    }

    /// Whether a plan that this run has made was made from it, and is applied by nothing else.
    pub(crate) fn is_what_was_planned(&self, session: &Session, plan: &Plan) -> bool {
        let generated = |c: &ResourceInstanceChange| {
            c.importing.as_ref().is_some_and(|i| i.generated.is_some())
        };
        self.is_of(session, false)
            && self.texts == plan.sources
            && !self.diagnostics.has_errors()
            && !plan.changes.iter().any(generated)
    }
}

fn place_of(inputs: &[InputLayer]) -> (usize, usize) {
    let place = if inputs.is_empty() {
        0
    } else {
        inputs.as_ptr().addr()
    };
    (place, inputs.len())
}

/// What reading a configuration needs; the fields are those of [`Session`] and its settings.
#[allow(missing_docs)]
pub struct Reading<'a> {
    pub environment: &'a Environment,
    pub reader: Arc<dyn SourceReader + Send + Sync>,
    pub fetcher: Arc<dyn ModuleFetcher + Send + Sync>,
    pub level: LanguageLevel,
    pub inputs: &'a [InputLayer],
    pub sources: &'a SourceMap,
    pub workspace: &'a str,
    pub called_in: &'a Path,
    pub files_within: Option<Arc<Confinement>>,
    /// Whether values of variables may be missing, since it is only looked at.
    pub partial: bool,
}

impl<'a> Reading<'a> {
    fn of(session: &'a Session, partial: bool) -> Self {
        Self {
            environment: &session.environment,
            reader: session.reader.clone(),
            fetcher: session.fetcher.clone(),
            level: session.settings.level.clone(),
            inputs: &session.inputs,
            sources: &session.sources,
            workspace: &session.settings.workspace,
            called_in: session.called_in(),
            files_within: session.settings.files_within.clone(),
            partial,
        }
    }

    /// Does something with everything that loading needs besides the directory.
    fn lend<T>(
        &self,
        reader: &dyn SourceReader,
        files: Arc<dyn Files>,
        work: impl FnOnce(&Loading<'_>) -> T,
    ) -> T {
        let builtins = Builtins::new(early_surroundings(self.environment, files));
        work(&Loading {
            reader,
            fetcher: &*self.fetcher,
            level: self.level.clone(),
            statics: StaticInputs {
                variables: StaticVariables::Layers(self.inputs),
                workspace: self.workspace,
                working_directory: &self.called_in.to_string_lossy(),
                functions: Some(&builtins),
                partial: self.partial,
            },
        })
    }

    /// What `read` reads, and all that it leaves behind.
    fn recorded(
        &self,
        read: impl FnOnce(&Loading<'_>, &mut SourceMap) -> Checked<Read>,
    ) -> (Arc<ReadConfiguration>, Option<Arc<TestConfiguration>>) {
        let recording = RecordingReader::new(self.reader.clone());
        let mut sources = self.sources.clone();
        let disk = formwork_eval::WorkingDirectory {
            base: self.environment.working.clone(),
            home: self.environment.home.clone(),
            within: self.files_within.clone(),
        };
        let files = Arc::new(RecordingFiles::new(Arc::new(disk)));
        let ((configuration, test), diagnostics) =
            self.lend(&recording, files.clone(), |loading| {
                read(loading, &mut sources)
            });
        let read = ReadConfiguration {
            configuration: Arc::new(configuration),
            sources,
            diagnostics,
            texts: recording.texts(),
            files,
            reader: self.reader.clone(),
            fetcher: self.fetcher.clone(),
            level: self.level.clone(),
            inputs: place_of(self.inputs),
            workspace: self.workspace.to_owned(),
            partial: self.partial,
        };
        (Arc::new(read), test)
    }
}

/// Reads the configuration of the working directory, to be handed over in [`Session::read`].
pub fn read_configuration(with: &Reading<'_>) -> Arc<ReadConfiguration> {
    let read = |loading: &Loading<'_>, sources: &mut SourceMap| {
        let (configuration, said) = formwork_configuration::load(Path::new("."), loading, sources);
        ((configuration, None), said)
    };
    with.recorded(read).0
}

/// Does something with everything that loading needs besides the directory.
pub(crate) fn with_loading<T>(
    session: &Session,
    reader: &dyn SourceReader,
    files: Arc<dyn Files>,
    partial: bool,
    work: impl FnOnce(&Loading<'_>) -> T,
) -> T {
    Reading::of(session, partial).lend(reader, files, work)
}

/// What functions reach that are called before anything is planned.
pub(crate) fn early_surroundings(environment: &Environment, files: Arc<dyn Files>) -> Surroundings {
    Surroundings {
        files,
        clock: environment.clock.clone(),
        randomness: environment.randomness.clone(),
        plan_time: None,
        settle_impure: false,
    }
}

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
    /// What the configuration holds that this version reads but does not act on: errors for every
    /// command that would have to.
    pub fn unserved(&self, session: &Session) -> Diagnostics {
        let mut diagnostics: Diagnostics = self
            .configuration
            .unserved()
            .map(|u| u.diagnostic())
            .collect();
        for (_, module) in self.configuration.modules() {
            let resources = module.resources.values().flat_map(|r| &r.provisioners);
            let removals = module.removed.iter().flat_map(|r| &r.provisioners);
            for p in resources.chain(removals) {
                let mut unserved = match session.factory.provisioner(&p.kind) {
                    Ok(provisioner) => provisioner.unserved().into_iter().collect(),
                    Err(said) => said,
                };
                unserved.default_subject(p.range);
                diagnostics.append(unserved);
            }
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
        for (address, resource) in state.into_iter().flat_map(State::resources) {
            if becomes_another_type(self, address) {
                continue; // its provider is asked nothing
            }
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

    fn provisioner(&self, kind: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        self.factory.provisioner(kind)
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

impl<'s> Evaluation<'s> {
    /// While nothing is planned, applied or validated: for what asks providers about single objects,
    /// with the files of the disk.
    pub fn at_rest(
        session: &'s Session,
        configuration: &'s Arc<Configuration>,
        providers: &'s Arc<Providers>,
    ) -> Self {
        Self {
            session,
            configuration,
            providers,
            files: disk(session),
            plan_time: None,
            applying: false,
            validating: false,
        }
    }

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
