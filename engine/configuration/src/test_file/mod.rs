//! Test files: `*.tftest.hcl` and `*.tftest.json`, what `test` runs.
//!
//! A [`TestFile`] is one file, decoded: its variables, providers, overrides and run blocks in order.
//! Nothing is evaluated here but what must be known beforehand (values of mocks and overrides, which
//! are constants). [`load_tests`] reads the files of the root module's directory and of the directory
//! of tests; [`Configuration::for_test`] is the configuration that a run is made with.
//!
//! What it does not do: it runs nothing, and does not ask whether what is referred to exists; a run
//! says so, since that depends on the module it tests.

mod loading;
mod mock;
mod run;
mod under_test;

#[cfg(test)]
mod tests;

pub use loading::{DEFAULT_TEST_DIRECTORY, TestSuite, is_test_file, load_run, load_tests};
pub use mock::{MockDefaults, MockProvider, Override, OverrideTarget, Overrides};
pub use run::{ExpectedFailure, RunBlock, RunCommand, RunModule, RunOptions};
pub use under_test::{ProviderUnderTest, TestConfiguration};

use crate::constant::flag_argument;
use crate::provider::ProviderConfig;
use crate::shape::{Shape, labels};
use formwork_addresses::LocalProviderConfig;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap, SourceRange};
use formwork_syntax::{Attribute, Block, Body};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One file of tests.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// Its path as shown: `tests/main.tftest.hcl`.
    pub name: Arc<str>,
    /// Whether it lies in the directory of tests, so that the values given there are for it too.
    pub in_test_directory: bool,
    /// Values for every run, by name.
    pub variables: BTreeMap<Arc<str>, Attribute>,
    /// Provider configurations, by local name and alias, real and mocked.
    pub providers: BTreeMap<LocalProviderConfig, TestProvider>,
    /// What is put in the place of resources, data sources and modules, in every run.
    pub overrides: Overrides,
    /// Whether runs may run at the same time as their neighbours unless they say otherwise.
    pub parallel: bool,
    /// In the order in which they are run.
    pub runs: Vec<RunBlock>,
}

/// A `provider` or `mock_provider` block of a test file.
#[derive(Clone, Debug)]
pub struct TestProvider {
    /// The configuration; of a mock one without arguments.
    pub config: ProviderConfig,
    /// What answers instead of the provider.
    pub mock: Option<Arc<MockProvider>>,
}

const FILE: Shape = Shape {
    attributes: &[],
    blocks: &[
        ("run", &["name"]),
        ("variables", &[]),
        ("provider", &["name"]),
        ("mock_provider", &["name"]),
        ("override_resource", &[]),
        ("override_data", &[]),
        ("override_module", &[]),
        ("test", &[]),
    ],
};

impl TestFile {
    /// A run by its name.
    pub fn run(&self, name: &str) -> Option<&RunBlock> {
        self.runs.iter().find(|r| &*r.name == name)
    }

    fn decode(
        name: &str,
        body: &Body,
        mocks: &mut dyn FnMut(&str, &Block, &mut Diagnostics) -> Option<Body>,
        sources: &SourceMap,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let mut file = Self {
            name: Arc::from(name),
            in_test_directory: false,
            variables: BTreeMap::new(),
            providers: BTreeMap::new(),
            overrides: Overrides::default(),
            parallel: false,
            runs: Vec::new(),
        };
        let body = FILE.read(body, body.range(), diagnostics);
        let mut variables_at: Option<SourceRange> = None;
        for block in body.blocks() {
            let at = block.header_range();
            match &*block.block_type {
                "run" => {
                    let Some(run) = RunBlock::decode(block, sources, diagnostics) else {
                        continue;
                    };
                    if let Some(before) = file.run(&run.name) {
                        diagnostics.push(
                            Diagnostic::error(
                                "Duplicate \"run\" block names",
                                format!(
                                    "A run block \"{}\" is there already, at {}. Later runs name \
                                     earlier ones, so each needs a name of its own.",
                                    run.name,
                                    sources.place(before.range)
                                ),
                            )
                            .at(at),
                        );
                        continue;
                    }
                    file.runs.push(run);
                }
                "variables" => {
                    labels(block, [], diagnostics);
                    if let Some(before) = variables_at {
                        diagnostics.push(
                            Diagnostic::error(
                                "Multiple \"variables\" blocks",
                                format!(
                                    "This file gives its variables values already, at {}. Put all \
                                     of them into one block.",
                                    sources.place(before)
                                ),
                            )
                            .at(at),
                        );
                        continue;
                    }
                    variables_at = Some(at);
                    file.variables = given(block, diagnostics);
                }
                "provider" | "mock_provider" => {
                    let provider = if &*block.block_type == "provider" {
                        ProviderConfig::decode(block, diagnostics)
                            .map(|config| TestProvider { config, mock: None })
                    } else {
                        mock::provider(block, mocks, sources, diagnostics)
                    };
                    let Some(provider) = provider else { continue };
                    let local = provider.config.local.clone();
                    if let Some(before) = file.providers.get(&local) {
                        diagnostics.push(
                            Diagnostic::error(
                                "Duplicate provider block",
                                format!(
                                    "\"{local}\" is configured in this file already, at {}. Give \
                                     one of them another alias.",
                                    sources.place(before.config.range)
                                ),
                            )
                            .at(at),
                        );
                        continue;
                    }
                    file.providers.insert(local, provider);
                }
                "test" => {
                    labels(block, [], diagnostics);
                    const SHAPE: Shape = Shape {
                        attributes: &[("parallel", false)],
                        blocks: &[],
                    };
                    let body = SHAPE.read(&block.body, block.open_brace, diagnostics);
                    let flag = flag_argument(&body, "parallel", diagnostics);
                    file.parallel = flag.unwrap_or(file.parallel);
                }
                _ => file.overrides.decode(block, sources, diagnostics),
            }
        }
        file
    }
}

/// The arguments of a `variables` block.
fn given(block: &Block, diagnostics: &mut Diagnostics) -> BTreeMap<Arc<str>, Attribute> {
    diagnostics
        .take(block.body.just_attributes())
        .into_iter()
        .map(|a| (a.name.clone(), a))
        .collect()
}
