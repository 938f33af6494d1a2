//! From directories to test files, and from a run to the configuration it is made with.

use super::{RunBlock, TestConfiguration, TestFile};
use crate::Configuration;
use crate::load::{Loading, load};
use crate::module_call::ModuleSource;
use crate::reader::{ModuleFetcher, ModuleRequest, normalised};
use formwork_addresses::ModulePath;
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceMap};
use formwork_syntax::{Block, Body};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Where tests are looked for besides the root module's own directory.
pub const DEFAULT_TEST_DIRECTORY: &str = "tests";

/// All test files of a configuration, in the order in which they are run.
#[derive(Clone, Debug, Default)]
pub struct TestSuite {
    /// By name.
    pub files: Vec<TestFile>,
    /// The directory of tests, as it was given.
    pub directory: PathBuf,
}

/// Whether a file holds tests, by its name.
pub fn is_test_file(name: &str) -> bool {
    let hidden = name.starts_with('.') || name.ends_with('~') || name.starts_with('#');
    !hidden && (name.ends_with(".tftest.hcl") || name.ends_with(".tftest.json"))
}

fn is_mock_file(name: &str) -> bool {
    let hidden = name.starts_with('.') || name.ends_with('~') || name.starts_with('#');
    let shared = [".tfmock.hcl", ".tfmock.json"];
    !hidden && (shared.iter().any(|s| name.ends_with(s)) || is_test_file(name))
}

/// Reads the test files of the root module's directory and of the directory of tests. Files are added
/// to `sources` as they are read.
pub fn load_tests(
    directory: &Path,
    with: &Loading<'_>,
    sources: &mut SourceMap,
) -> Checked<TestSuite> {
    let mut diagnostics = Diagnostics::new();
    let mut suite = TestSuite {
        files: Vec::new(),
        directory: directory.to_path_buf(),
    };
    let directory = normalised(directory);
    let outside = directory
        .components()
        .any(|c| !matches!(c, Component::Normal(_) | Component::CurDir));
    if outside {
        diagnostics.push(Diagnostic::error(
            "Invalid testing directory",
            format!(
                "{} is no path within the directory of the configuration. Tests lie beside what they \
                 test: name a directory below it.",
                directory.display()
            ),
        ));
        return (suite, diagnostics);
    }
    let root = PathBuf::from(".");
    let mut paths: Vec<(PathBuf, bool)> = Vec::new();
    let mut places = vec![(root.clone(), directory == root)];
    if directory != root {
        places.push((directory, true));
    }
    for (place, is_tests) in places {
        match with.reader.list(&place) {
            Ok(names) => paths.extend(
                names
                    .iter()
                    .filter(|n| is_test_file(n))
                    .map(|n| (normalised(&place.join(n)), is_tests)),
            ),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(why) => diagnostics.push(Diagnostic::error(
                "Failed to read test directory",
                format!("{} cannot be read: {why}.", place.display()),
            )),
        }
    }
    paths.sort();
    for (path, is_tests) in paths {
        let name = shown(&path);
        let Some((body, said)) = read(&path, &name, with, sources, &mut diagnostics) else {
            continue;
        };
        let broken = said.has_errors();
        diagnostics.append(said);
        let mut decoding = Diagnostics::new();
        // The files that mocks share are read while the file is decoded, so the map grows meanwhile.
        let mut grown = sources.clone();
        let mut shared = |source: &str, block: &Block, said: &mut Diagnostics| {
            shared_mocks(source, block, with, &mut grown, said)
        };
        let mut file = TestFile::decode(&name, &body, &mut shared, sources, &mut decoding);
        *sources = grown;
        file.in_test_directory = is_tests;
        // After a syntax error what follows may only seem wrong.
        if !broken {
            diagnostics.append(decoding);
        }
        suite.files.push(file);
    }
    (suite, diagnostics)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

fn read(
    path: &Path,
    name: &str,
    with: &Loading<'_>,
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
) -> Option<Checked<Body>> {
    match with.reader.read(path) {
        Ok(bytes) => {
            let file = sources.add(name, &bytes[..]);
            Some(formwork_syntax::parse_named(file, name, &bytes))
        }
        Err(why) => {
            diagnostics.push(Diagnostic::error(
                "Failed to read file",
                format!("{name} cannot be read: {why}."),
            ));
            None
        }
    }
}

/// The blocks of all files of a directory of mocks, as one body.
fn shared_mocks(
    source: &str,
    block: &Block,
    with: &Loading<'_>,
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
) -> Option<Body> {
    let directory = normalised(Path::new(source));
    let mut names = match with.reader.list(&directory) {
        Ok(names) => names,
        Err(_) => {
            diagnostics.push(
                Diagnostic::error(
                    "Failed to read mock data directory",
                    format!(
                        "There is no directory {} that could be read. \"source\" is a path from the \
                         root module's directory to one that holds .tfmock.hcl files.",
                        directory.display()
                    ),
                )
                .at(block.header_range()),
            );
            return None;
        }
    };
    names.retain(|n| is_mock_file(n));
    names.sort();
    let mut blocks: Vec<Block> = Vec::new();
    for name in names {
        let path = normalised(&directory.join(name));
        let name = shown(&path);
        let Some((body, said)) = read(&path, &name, with, sources, diagnostics) else {
            continue;
        };
        diagnostics.append(said);
        let body = super::mock::shared(&body, diagnostics);
        blocks.extend(body.blocks().iter().cloned());
    }
    let at = block.header_range();
    Some(Body::new(Vec::new(), blocks, at, at))
}

/// Reads the configuration that a run of `file` is made with: the root module's, or that of the module
/// that the run names, its providers, overrides and mocks put in.
pub fn load_run(
    file: &TestFile,
    run: &RunBlock,
    with: &Loading<'_>,
    sources: &mut SourceMap,
) -> Checked<TestConfiguration> {
    let mut diagnostics = Diagnostics::new();
    let Some(module) = &run.module else {
        let configuration = diagnostics.take(load(Path::new("."), with, sources));
        let made = configuration.for_test(file, run, &mut diagnostics);
        return (made, diagnostics);
    };
    let call = &module.call;
    let caller = file.module_path();
    let directory = match &call.source {
        ModuleSource::Local(relative) => Ok(normalised(Path::new(&**relative))),
        source => with.fetcher.directory(&ModuleRequest {
            caller: &caller,
            call,
            source,
            version: call.version.as_ref(),
        }),
    };
    let directory = match directory {
        Ok(directory) => directory,
        Err(why) => {
            diagnostics.push((*why).at_opt(Some(call.source_range)));
            return (TestConfiguration::default(), diagnostics);
        }
    };
    if let Err(why) = with.reader.list(&directory) {
        let why = if why.kind() == io::ErrorKind::NotFound {
            "there is no such directory".to_owned()
        } else {
            why.to_string()
        };
        diagnostics.push(
            Diagnostic::error(
                "Module not installed",
                format!(
                    "The module of this run, {}, cannot be read: {why}. A local path begins at the \
                     root module's directory, wherever the test file lies.",
                    directory.display()
                ),
            )
            .at(call.source_range)
            .within(call.range),
        );
        return (TestConfiguration::default(), diagnostics);
    }
    let below = Below {
        fetcher: with.fetcher,
        above: caller.child(&call.name),
    };
    let with = Loading {
        reader: with.reader,
        fetcher: &below,
        level: with.level.clone(),
        statics: with.statics,
    };
    let configuration = diagnostics.take(load(&directory, &with, sources));
    let made = configuration.for_test(file, run, &mut diagnostics);
    (made, diagnostics)
}

/// Modules below a run's module: their callers have no place in the configuration's own tree.
struct Below<'a> {
    fetcher: &'a dyn ModuleFetcher,
    above: ModulePath,
}

impl ModuleFetcher for Below<'_> {
    fn directory(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>> {
        let mut caller = self.above.clone();
        for name in request.caller.names() {
            caller = caller.child(name);
        }
        self.fetcher.directory(&ModuleRequest {
            caller: &caller,
            ..*request
        })
    }
}

impl TestFile {
    /// Where the modules that its runs name stand in the list of installed modules:
    /// `test.DIRECTORY.NAME`, below which each has the name of its run.
    pub fn module_path(&self) -> ModulePath {
        let mut path = ModulePath::root().child(&Arc::from("test"));
        let stem = self
            .name
            .strip_suffix(".tftest.hcl")
            .or_else(|| self.name.strip_suffix(".tftest.json"))
            .unwrap_or(&self.name);
        for part in stem.split('/') {
            path = path.child(&Arc::from(part));
        }
        path
    }
}

impl Configuration {
    /// The configuration as a run sees it.
    fn for_test(
        self,
        file: &TestFile,
        run: &RunBlock,
        diagnostics: &mut Diagnostics,
    ) -> TestConfiguration {
        TestConfiguration::of(self, file, run, diagnostics)
    }
}
