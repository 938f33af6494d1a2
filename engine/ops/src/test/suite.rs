//! All test files, one after the other.

use super::memory::TestStates;
use super::run::FileRun;
use super::values::globals;
use super::worlds::TestWorlds;
use crate::load::{disk, with_loading};
use crate::session::Session;
use crate::told::told_once;
use formwork_addresses::{ModulePath, ProviderAddr};
use formwork_configuration::{Configuration, InputLayer, Loading, TestFile, load_run, load_tests};
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceMap, nearest};
use formwork_plan::{FileReport, LeftBehind, Plan, RunReport, TestReport};
use formwork_provider_schema::SchemaSource;
use formwork_state::Snapshot;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which tests are run, and how.
#[derive(Clone)]
pub struct TestOptions {
    /// The directory of tests.
    pub directory: PathBuf,
    /// Names of the files to run; all if there is none.
    pub filters: Vec<String>,
    /// Values for files in the directory of tests, above all others that are given to every run.
    pub inputs: Vec<InputLayer>,
    /// Where the states of the file that is being run can be seen.
    pub states: TestStates,
}

/// Schemas by provider.
pub type Schemas = BTreeMap<ProviderAddr, Arc<dyn SchemaSource>>;

/// What happens while tests run.
pub enum TestEvent<'e> {
    /// The files that will be run, each with the names of its runs.
    Found(&'e [(Arc<str>, Vec<Arc<str>>)]),
    /// A file begins.
    FileBegun(&'e str),
    /// A run begins.
    RunBegun(&'e str, &'e str),
    /// A run of a file has ended, or is skipped. What there is to say about it comes next.
    RunEnded(&'e str, &'e RunReport),
    /// What a run has planned.
    Planned {
        /// The file.
        file: &'e str,
        /// The run.
        run: &'e str,
        /// The plan.
        plan: &'e Plan,
        /// The configuration that was planned.
        configuration: &'e Configuration,
        /// The schemas of its providers.
        schemas: &'e Schemas,
    },
    /// What a run has made.
    Made {
        /// The file.
        file: &'e str,
        /// The run.
        run: &'e str,
        /// The state afterwards.
        snapshot: &'e Snapshot,
        /// The schemas of its providers.
        schemas: &'e Schemas,
    },
    /// What there is to say of a file, perhaps of one of its runs.
    Said(
        Option<&'e str>,
        Option<&'e str>,
        &'e Diagnostics,
        &'e SourceMap,
    ),
    /// The clean-up of a file begins.
    FileEnding(&'e str),
    /// The clean-up of what a run was the last to work on begins.
    RunEnding(&'e str, &'e str),
    /// What a clean-up has left behind.
    Left(&'e str, &'e LeftBehind),
    /// A file has ended.
    FileEnded(&'e FileReport),
    /// The run was interrupted; what is left to do is to clean up.
    Interrupted,
    /// All has ended.
    Ended(&'e TestReport),
}

/// Who is told.
pub trait TestSink: Send + Sync {
    /// Takes an event.
    fn emit(&self, event: TestEvent<'_>);
}

/// Runs the tests of the configuration in the working directory. `None` if the test files cannot be
/// read, which has been said.
pub async fn test(
    session: &Session,
    options: &TestOptions,
    worlds: &dyn TestWorlds,
    sink: &dyn TestSink,
) -> Option<TestReport> {
    let mut sources = session.sources.clone();
    let (suite, mut said) = loading(session, |loading| {
        let (suite, mut said) = load_tests(&options.directory, loading, &mut sources);
        if !said.has_errors() {
            said.append(modules_missing(&suite.files, loading, &sources));
        }
        (suite, said)
    });
    let chosen = chosen(suite.files, &options.filters, &mut said);
    if !said.is_empty() {
        sink.emit(TestEvent::Said(None, None, &said, &sources));
    }
    if said.has_errors() {
        return None;
    }
    let found: Vec<_> = chosen
        .iter()
        .map(|f| {
            (
                f.name.clone(),
                f.runs.iter().map(|r| r.name.clone()).collect(),
            )
        })
        .collect();
    sink.emit(TestEvent::Found(&found));
    // What is wrong with the configuration is said by the runs.
    let root = if chosen.is_empty() {
        Configuration::default()
    } else {
        loading(session, |loading| {
            formwork_configuration::load(Path::new("."), loading, &mut sources.clone()).0
        })
    };
    let mut report = TestReport::default();
    let mut told = false;
    for file in chosen {
        if session.cancel.is_cancelled() && !told {
            told = true;
            sink.emit(TestEvent::Interrupted);
        }
        let mut layers = session.inputs.clone();
        if file.in_test_directory {
            layers.extend(options.inputs.iter().cloned());
        }
        let globals = globals(root.root(), &layers, &sources);
        let name = file.name.clone();
        let mut run = FileRun::new(
            session,
            options,
            worlds,
            sink,
            Arc::new(file),
            sources.clone(),
            layers,
            globals,
        );
        report.files.push(run.run().await);
        worlds.close(&name).await;
    }
    sink.emit(TestEvent::Ended(&report));
    Some(report)
}

/// Everything that loading needs, for a configuration that is only looked at.
fn loading<T>(session: &Session, work: impl FnOnce(&Loading<'_>) -> T) -> T {
    with_loading(session, &*session.reader, disk(session), true, work)
}

/// The files to run.
fn chosen(files: Vec<TestFile>, filters: &[String], said: &mut Diagnostics) -> Vec<TestFile> {
    if filters.is_empty() {
        return files;
    }
    let wanted: Vec<String> = filters
        .iter()
        .map(|f| f.replace('\\', "/"))
        .map(|f| f.strip_prefix("./").unwrap_or(&f).to_owned())
        .collect();
    for name in &wanted {
        if files.iter().all(|f| *f.name != **name) {
            let d = Diagnostic::warning(
                "No such test file",
                format!("The filter \"{name}\" names no test file, so nothing is run for it."),
            );
            let near = nearest(name, files.iter().map(|f| &*f.name));
            said.push(match near {
                Some(near) => d.hint(format!("Did you mean \"{near}\"?")),
                None => d,
            });
        }
    }
    let mut files = files;
    files.retain(|f| wanted.iter().any(|w| **w == *f.name));
    files
}

/// Modules that runs name and that are not there.
fn modules_missing(files: &[TestFile], loading: &Loading<'_>, sources: &SourceMap) -> Diagnostics {
    let mut said = Diagnostics::new();
    for file in files {
        for run in file.runs.iter().filter(|r| r.module.is_some()) {
            let (_, problems) = load_run(file, run, loading, &mut sources.clone());
            // What is wrong within the module is said by the run.
            let missing = |d: &Diagnostic| {
                let own = run.module.as_ref().map(|m| m.call.source_range);
                d.is_error() && d.subject == own
            };
            said.extend(problems.into_iter().filter(missing));
        }
    }
    said
}

/// What is wrong with the test files of the configuration and with the modules that their runs name.
/// Those modules are asked of the session's fetcher, so a fetcher that installs has them afterwards.
pub fn check_tests(session: &Session, directory: &Path, sources: &mut SourceMap) -> Diagnostics {
    loading(session, |loading| check_files(directory, loading, sources))
}

/// A module that a run of a test file names, with all below it.
pub struct TestedModule {
    /// The name of the run.
    pub name: Arc<str>,
    /// The configuration of which that module is the root; the providers of the test file are not in it.
    pub configuration: Configuration,
}

/// The test files of the configuration, each with the runs that name a module of their own; what is
/// wrong with them is said.
pub fn tested_modules(
    session: &Session,
    directory: &Path,
    sources: &mut SourceMap,
) -> Checked<Vec<(ModulePath, Vec<TestedModule>)>> {
    loading(session, |loading| {
        let (suite, mut said) = load_tests(directory, loading, sources);
        let mut files = Vec::new();
        for file in &suite.files {
            let mut runs = Vec::new();
            for run in file.runs.iter().filter(|r| r.module.is_some()) {
                // of what the file adds to the module nothing is asked here
                let bare = TestFile {
                    providers: BTreeMap::new(),
                    ..file.clone()
                };
                let (made, problems) = load_run(&bare, run, loading, sources);
                said.append(problems);
                runs.push(TestedModule {
                    name: run.name.clone(),
                    configuration: made.configuration,
                });
            }
            files.push((file.module_path(), runs));
        }
        (files, said)
    })
}

fn check_files(directory: &Path, loading: &Loading<'_>, sources: &mut SourceMap) -> Diagnostics {
    let (suite, mut said) = load_tests(directory, loading, sources);
    let mut loaded: std::collections::BTreeSet<Arc<str>> = std::collections::BTreeSet::new();
    for file in &suite.files {
        for run in &file.runs {
            let Some(module) = &run.module else { continue };
            let source: Arc<str> = Arc::from(module.call.source.to_string());
            if loaded.insert(source) {
                said.append(load_run(file, run, loading, sources).1);
            }
        }
    }
    told_once(said)
}
