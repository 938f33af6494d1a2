//! `run` blocks.

use super::{Overrides, given};
use crate::check::CheckRule;
use crate::constant::{flag_argument, text_argument};
use crate::depends_on::{static_list, static_path};
use crate::module_call::{ModuleCall, ModuleSource, PassedProvider, passed_providers};
use crate::provider::constraints;
use crate::refactoring::MoveTarget;
use crate::references::parse_test_reference;
use crate::resource::Repetition;
use crate::shape::{Shape, labels, name_label, suggest};
use crate::written_address::move_target;
use formwork_addresses::{AbsResourceInstance, Subject};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap, SourceRange};
use formwork_syntax::{Attribute, Block, Body};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a run does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunCommand {
    /// Plans, and checks what would be.
    Plan,
    /// Plans and applies, and checks what is.
    #[default]
    Apply,
}

/// `plan_options`.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Whether nothing is planned but what a refresh finds.
    pub refresh_only: bool,
    /// Whether the world is read first.
    pub refresh: bool,
    /// Instances that are replaced.
    pub replace: Vec<AbsResourceInstance>,
    /// What the run is limited to.
    pub targets: Vec<MoveTarget>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            refresh_only: false,
            refresh: true,
            replace: Vec::new(),
            targets: Vec::new(),
        }
    }
}

/// Another module than the root one, to be run instead.
#[derive(Clone, Debug)]
pub struct RunModule {
    /// Where it comes from, as the call of a module of the run's name.
    pub call: ModuleCall,
}

/// What is expected to fail.
#[derive(Clone, Debug)]
pub struct ExpectedFailure {
    /// A variable, output, check, resource or instance of a resource.
    pub subject: Subject,
    /// Where it is said.
    pub range: SourceRange,
}

/// A `run` block.
#[derive(Clone, Debug)]
pub struct RunBlock {
    /// Its name, by which later ones refer to it.
    pub name: Arc<str>,
    /// What it does.
    pub command: RunCommand,
    /// How it plans.
    pub options: RunOptions,
    /// Values for this run, by name.
    pub variables: BTreeMap<Arc<str>, Attribute>,
    /// The module that is run, if it is not the root one.
    pub module: Option<RunModule>,
    /// Which provider configurations of the file the module gets; all of them if it does not say.
    pub providers: Option<Vec<PassedProvider>>,
    /// What must hold afterwards.
    pub asserts: Vec<CheckRule>,
    /// What must fail.
    pub expect_failures: Vec<ExpectedFailure>,
    /// Which state it works on; runs of the same module share one unless they say otherwise.
    pub state_key: Option<Arc<str>>,
    /// Whether it may run at the same time as its neighbours; as its file says, if it says nothing.
    pub parallel: Option<bool>,
    /// What is put in the place of resources, data sources and modules, in this run.
    pub overrides: Overrides,
    /// The header of the block.
    pub range: SourceRange,
}

const RUN: Shape = Shape {
    attributes: &[
        ("command", false),
        ("providers", false),
        ("expect_failures", false),
        ("state_key", false),
        ("parallel", false),
    ],
    blocks: &[
        ("plan_options", &[]),
        ("variables", &[]),
        ("module", &[]),
        ("assert", &[]),
        ("override_resource", &[]),
        ("override_data", &[]),
        ("override_module", &[]),
    ],
};

impl RunBlock {
    /// What tells its state from those of other runs of its file: the key that it names, or else the
    /// module that it runs; nothing for the root module's.
    pub fn state(&self) -> Arc<str> {
        match (&self.state_key, &self.module) {
            (Some(key), _) => key.clone(),
            (None, Some(module)) => Arc::from(module.call.source.to_string()),
            (None, None) => Arc::from(""),
        }
    }

    pub(super) fn decode(
        block: &Block,
        sources: &SourceMap,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let [name] = labels(block, ["name"], diagnostics)?;
        if !name_label(block, 0, "Invalid run block name", diagnostics) {
            return None;
        }
        let body = &RUN.read(&block.body, block.open_brace, diagnostics);
        let mut run = Self {
            name: name.clone(),
            command: command(body, diagnostics),
            options: RunOptions::default(),
            variables: BTreeMap::new(),
            module: None,
            providers: body
                .attribute("providers")
                .map(|a| passed_providers(&a.expression, diagnostics)),
            asserts: Vec::new(),
            expect_failures: expected(body, diagnostics),
            state_key: text_argument(body, "state_key", diagnostics).map(|(key, _)| key),
            parallel: flag_argument(body, "parallel", diagnostics),
            overrides: Overrides::default(),
            range: block.header_range(),
        };
        let mut seen: BTreeMap<&str, SourceRange> = BTreeMap::new();
        for inner in body.blocks() {
            let kind = &*inner.block_type;
            if matches!(kind, "plan_options" | "variables" | "module") {
                labels(inner, [], diagnostics);
                if let Some(before) = seen.insert(kind, inner.header_range()) {
                    diagnostics.push(
                        Diagnostic::error(
                            format!("Multiple \"{kind}\" blocks"),
                            format!(
                                "This run has a {kind} block already, at {}.",
                                sources.place(before)
                            ),
                        )
                        .at(inner.header_range()),
                    );
                    continue;
                }
            }
            match kind {
                "plan_options" => run.options = options(inner, diagnostics),
                "variables" => run.variables = given(inner, diagnostics),
                "module" => run.module = module(&run.name, inner, diagnostics),
                "assert" => run.asserts.extend(CheckRule::decode(inner, diagnostics)),
                _ => run.overrides.decode(inner, sources, diagnostics),
            }
        }
        Some(run)
    }
}

/// One of some words, without quotes; `None` with an error if it is another.
fn keyword(
    body: &Body,
    name: &str,
    words: &[&'static str],
    diagnostics: &mut Diagnostics,
) -> Option<&'static str> {
    let a = body.attribute(name)?;
    if a.expression.is_invalid() {
        return None;
    }
    let given = a.expression.as_keyword();
    if let Some(word) = words.iter().find(|w| given == Some(**w)) {
        return Some(word);
    }
    let d = Diagnostic::error(
        format!("Invalid \"{name}\" keyword"),
        format!(
            "\"{name}\" is one of these words, written without quotes: {}.",
            words.join(", ")
        ),
    )
    .at(a.expression.range());
    let said = a.expression.as_literal_string().map(|t| &**t).or(given);
    let said = said.unwrap_or_default();
    diagnostics.push(if words.contains(&said) {
        d.hint(format!("Take the quotes off: {name} = {said}"))
    } else {
        suggest(d, said, words.iter().copied())
    });
    None
}

fn command(body: &Body, diagnostics: &mut Diagnostics) -> RunCommand {
    match keyword(body, "command", &["plan", "apply"], diagnostics) {
        Some("plan") => RunCommand::Plan,
        _ => RunCommand::Apply,
    }
}

fn options(block: &Block, diagnostics: &mut Diagnostics) -> RunOptions {
    const SHAPE: Shape = Shape {
        attributes: &[
            ("mode", false),
            ("refresh", false),
            ("replace", false),
            ("target", false),
        ],
        blocks: &[],
    };
    let body = &SHAPE.read(&block.body, block.open_brace, diagnostics);
    let mode = keyword(body, "mode", &["normal", "refresh-only"], diagnostics);
    let mut options = RunOptions {
        refresh_only: mode == Some("refresh-only"),
        refresh: flag_argument(body, "refresh", diagnostics).unwrap_or(true),
        ..RunOptions::default()
    };
    for (target, range) in addresses(body, "replace", diagnostics) {
        match target {
            MoveTarget::Resource(instance) => options.replace.push(instance),
            MoveTarget::Module(_) => diagnostics.push(
                Diagnostic::error(
                    "Invalid address",
                    "What is replaced are instances of resources; a module is none.",
                )
                .at(range),
            ),
        }
    }
    let targets = addresses(body, "target", diagnostics);
    options.targets = targets.into_iter().map(|(target, _)| target).collect();
    options
}

fn addresses(
    body: &Body,
    name: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<(MoveTarget, SourceRange)> {
    let Some(a) = body.attribute(name) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for item in static_list(&a.expression, diagnostics) {
        if let Some(path) = static_path(item, diagnostics)
            && let Some(target) = move_target(&path, diagnostics)
        {
            all.push((target, path.range()));
        }
    }
    all
}

fn module(name: &Arc<str>, block: &Block, diagnostics: &mut Diagnostics) -> Option<RunModule> {
    const SHAPE: Shape = Shape {
        attributes: &[("source", false), ("version", false)],
        blocks: &[],
    };
    let body = &SHAPE.read(&block.body, block.open_brace, diagnostics);
    let version = text_argument(body, "version", diagnostics);
    if body.attribute("source").is_none() {
        diagnostics.push(
            Diagnostic::error(
                "Missing \"source\" attribute for module block",
                "A run that tests another module than the root one must say where that module comes \
                 from: source = \"./DIRECTORY\", or as in a module block.",
            )
            .at(block.header_range()),
        );
        return None;
    }
    let (given, a) = text_argument(body, "source", diagnostics)?;
    let source_range = a.expression.range();
    let source = match ModuleSource::parse(&given) {
        Ok(source @ (ModuleSource::Local(_) | ModuleSource::Registry { .. })) => source,
        Ok(source) => {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid module source address",
                    format!(
                        "\"{given}\" is neither a local directory nor a registry address. A run tests \
                         modules of these two kinds only."
                    ),
                )
                .at(source_range)
                .hint("Write a small module beside the tests that calls it, and test that."),
            );
            source
        }
        Err(why) => {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid module source address",
                    format!("\"{given}\" is no module source: {why}."),
                )
                .at(source_range)
                .hint(format!(
                    "For a directory of this configuration, write \"./{given}\"."
                )),
            );
            return None;
        }
    };
    let version =
        version.and_then(|(given, a)| constraints(&given, a.expression.range(), diagnostics));
    Some(RunModule {
        call: ModuleCall {
            name: name.clone(),
            source,
            source_range,
            version,
            computed: None,
            repetition: Repetition::default(),
            depends_on: Vec::new(),
            providers: None,
            arguments: Vec::new(),
            range: block.header_range(),
            open: block.open_brace,
        },
    })
}

fn expected(body: &Body, diagnostics: &mut Diagnostics) -> Vec<ExpectedFailure> {
    let Some(a) = body.attribute("expect_failures") else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for item in static_list(&a.expression, diagnostics) {
        let Some(path) = static_path(item, diagnostics) else {
            continue;
        };
        match parse_test_reference(&path) {
            Ok(found) => all.push(ExpectedFailure {
                range: found.range(),
                subject: found.reference.subject,
            }),
            Err(d) => diagnostics.push(*d),
        }
    }
    all
}
