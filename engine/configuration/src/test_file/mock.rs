//! What stands in for the world in tests: mocked providers, and overrides of single resources, data
//! sources and modules.

use super::TestProvider;
use crate::constant::{constant, text_argument};
use crate::depends_on::static_path;
use crate::provider::ProviderConfig;
use crate::refactoring::MoveTarget;
use crate::shape::{Shape, labels, name_label, suggest};
use crate::written_address::move_target;
use formwork_addresses::{
    AbsResourceInstance, InstanceKey, LocalProviderConfig, ModuleInstance, ResourceMode,
    is_identifier,
};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap, SourceRange};
use formwork_syntax::{Block, Body};
use formwork_values::{Type, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What an override stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverrideTarget {
    /// A resource or data source: without a key all its instances.
    Resource(AbsResourceInstance),
    /// A module call: without a key all its instances.
    Module(ModuleInstance),
}

impl fmt::Display for OverrideTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resource(r) => r.fmt(f),
            Self::Module(m) => m.fmt(f),
        }
    }
}

/// An `override_resource`, `override_data` or `override_module` block.
#[derive(Clone)]
pub struct Override {
    /// What it stands for.
    pub target: OverrideTarget,
    /// The values of computed attributes, or of outputs: an object.
    pub values: Value,
    /// Whether the values are known when planning; otherwise only when applying. `None` if it is not
    /// said.
    pub during_plan: Option<bool>,
    /// The header of the block.
    pub range: SourceRange,
    /// Where the target is written.
    pub target_range: SourceRange,
}

// Values may be anything, secrets included.
impl fmt::Debug for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Override")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// Overrides of one place: a file, a run, or a mocked provider.
#[derive(Clone, Debug, Default)]
pub struct Overrides(Vec<Override>);

/// What a mocked provider makes objects of one type from.
#[derive(Clone)]
pub struct MockDefaults {
    /// The values of computed attributes: an object.
    pub values: Value,
    /// Whether they are known when planning; `None` if it is not said.
    pub during_plan: Option<bool>,
    /// The header of the block.
    pub range: SourceRange,
}

impl fmt::Debug for MockDefaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MockDefaults").finish_non_exhaustive()
    }
}

/// A `mock_provider` block.
#[derive(Clone, Debug)]
pub struct MockProvider {
    /// By type.
    pub resources: BTreeMap<Arc<str>, MockDefaults>,
    /// By type.
    pub data: BTreeMap<Arc<str>, MockDefaults>,
    /// What is put in the place of what the provider handles.
    pub overrides: Overrides,
    /// Whether values are known when planning, where nothing nearer says it.
    pub during_plan: bool,
    /// The header of the block.
    pub range: SourceRange,
}

impl Override {
    fn word(kind: &str) -> &'static str {
        if kind == "override_module" {
            "outputs"
        } else {
            "values"
        }
    }
}

impl Overrides {
    /// All of them, in source order.
    pub fn iter(&self) -> impl Iterator<Item = &Override> {
        self.0.iter()
    }

    /// What stands for an instance: the override that names it with its keys before one that names all
    /// its instances.
    pub fn resource(&self, address: &AbsResourceInstance) -> Option<&Override> {
        let best = self.0.iter().filter_map(|o| match &o.target {
            OverrideTarget::Resource(target)
                if target.resource == address.resource
                    && covers(&target.module, &address.module)
                    && key_covers(&target.key, &address.key) =>
            {
                let exact = target.module == address.module;
                Some(((target.key == address.key, exact), o))
            }
            _ => None,
        });
        best.max_by_key(|(rank, _)| *rank).map(|(_, o)| o)
    }

    /// What stands for an instance of a module.
    pub fn module(&self, instance: &ModuleInstance) -> Option<&Override> {
        let best = self.0.iter().filter_map(|o| match &o.target {
            OverrideTarget::Module(target) if covers(target, instance) => {
                Some((target == instance, o))
            }
            _ => None,
        });
        best.max_by_key(|(exact, _)| *exact).map(|(_, o)| o)
    }

    /// Whether there is any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads a block and adds it.
    pub(super) fn decode(
        &mut self,
        block: &Block,
        sources: &SourceMap,
        diagnostics: &mut Diagnostics,
    ) {
        let kind = &block.block_type;
        // What else stands there has been said.
        if !["override_resource", "override_data", "override_module"].contains(&&**kind) {
            return;
        }
        let Some(read) = read_override(block, diagnostics) else {
            return;
        };
        if let Some(before) = self.0.iter().find(|o| o.target == read.target) {
            diagnostics.push(
                Diagnostic::error(
                    format!("Duplicate {kind} block"),
                    format!(
                        "{} is overridden here already, at {}.",
                        read.target,
                        sources.place(before.range)
                    ),
                )
                .at(read.range),
            );
            return;
        }
        self.0.push(read);
    }
}

/// Whether an address names an instance: a step without a key names every instance of its call.
fn covers(target: &ModuleInstance, instance: &ModuleInstance) -> bool {
    let (target, instance) = (target.steps(), instance.steps());
    target.len() == instance.len()
        && target
            .iter()
            .zip(instance)
            .all(|(t, i)| t.name == i.name && key_covers(&t.key, &i.key))
}

fn key_covers(target: &InstanceKey, key: &InstanceKey) -> bool {
    *target == InstanceKey::None || target == key
}

fn read_override(block: &Block, diagnostics: &mut Diagnostics) -> Option<Override> {
    const VALUES: Shape = Shape {
        attributes: &[
            ("target", false),
            ("values", false),
            ("override_during", false),
        ],
        blocks: &[],
    };
    const OUTPUTS: Shape = Shape {
        attributes: &[
            ("target", false),
            ("outputs", false),
            ("override_during", false),
        ],
        blocks: &[],
    };
    let kind = &*block.block_type;
    labels(block, [], diagnostics);
    let word = Override::word(kind);
    let shape = if word == "outputs" { OUTPUTS } else { VALUES };
    let body = &shape.read(&block.body, block.open_brace, diagnostics);
    let during_plan = during(body, diagnostics);
    let values = object(body, word, diagnostics);
    let Some(a) = body.attribute("target") else {
        diagnostics.push(
            Diagnostic::error(
                "Missing target attribute",
                format!("A block {kind} must say what it stands for, as in target = ADDRESS."),
            )
            .at(block.header_range()),
        );
        return None;
    };
    let path = static_path(&a.expression, diagnostics)?;
    let target_range = path.range();
    let refuse = |wanted: &str, d: &mut Diagnostics| {
        d.push(
            Diagnostic::error(
                "Invalid override target",
                format!("What a block {kind} stands for is {wanted}, and this is something else."),
            )
            .at(target_range),
        );
        None
    };
    let mut said = Diagnostics::new();
    let Some(target) = move_target(&path, &mut said) else {
        // The words for moved blocks would not say which kinds of address this block takes.
        return refuse(
            "the address of a resource, data source or module",
            diagnostics,
        );
    };
    let target = match (kind, target) {
        ("override_module", MoveTarget::Module(m)) => OverrideTarget::Module(m),
        ("override_resource", MoveTarget::Resource(r))
            if r.resource.mode == ResourceMode::Managed =>
        {
            OverrideTarget::Resource(r)
        }
        ("override_data", MoveTarget::Resource(r)) if r.resource.mode == ResourceMode::Data => {
            OverrideTarget::Resource(r)
        }
        ("override_module", _) => return refuse("a module, as in module.NAME", diagnostics),
        ("override_data", _) => return refuse("a data source, as in data.TYPE.NAME", diagnostics),
        _ => return refuse("a managed resource, as in TYPE.NAME", diagnostics),
    };
    Some(Override {
        target,
        values: values?,
        during_plan,
        range: block.header_range(),
        target_range,
    })
}

/// A constant object; an empty one if the argument is not set, `None` if it is wrong.
fn object(body: &Body, name: &str, diagnostics: &mut Diagnostics) -> Option<Value> {
    let Some(a) = body.attribute(name) else {
        return Some(Value::object(Vec::<(Arc<str>, Value)>::new()));
    };
    let value = constant(&a.expression, diagnostics)?;
    if value.is_known()
        && !value.is_null()
        && matches!(value.type_of(), Type::Object(_) | Type::Map(_))
    {
        return Some(value);
    }
    diagnostics.push(
        Diagnostic::error(
            format!("Invalid {name} attribute"),
            format!("\"{name}\" is an object: names of attributes, each with its value."),
        )
        .at(a.expression.range()),
    );
    None
}

/// `override_during`: whether values are known when planning.
fn during(body: &Body, diagnostics: &mut Diagnostics) -> Option<bool> {
    let a = body.attribute("override_during")?;
    if a.expression.is_invalid() {
        return None;
    }
    let given = a.expression.as_keyword();
    match given {
        Some("plan") => Some(true),
        Some("apply") => Some(false),
        _ => {
            let d = Diagnostic::error(
                "Invalid override_during value",
                "\"override_during\" is plan or apply, written without quotes: whether the values are \
                 known when planning, or only when applying.",
            )
            .at(a.expression.range());
            let said = a.expression.as_literal_string().map(|t| &**t).or(given);
            diagnostics.push(suggest(d, said.unwrap_or_default(), ["plan", "apply"]));
            None
        }
    }
}

const CONTENT: &[(&str, &[&str])] = &[
    ("mock_resource", &["type"]),
    ("mock_data", &["type"]),
    ("override_resource", &[]),
    ("override_data", &[]),
    ("override_module", &[]),
];

/// Reads a `mock_provider` block. `shared` gives the blocks of the files in its `source` directory.
pub(super) fn provider(
    block: &Block,
    shared: &mut dyn FnMut(&str, &Block, &mut Diagnostics) -> Option<Body>,
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Option<TestProvider> {
    const SHAPE: Shape = Shape {
        attributes: &[
            ("alias", false),
            ("source", false),
            ("override_during", false),
        ],
        blocks: CONTENT,
    };
    let [name] = labels(block, ["name"], diagnostics)?;
    if !name_label(block, 0, "Invalid provider name", diagnostics) {
        return None;
    }
    let body = &SHAPE.read(&block.body, block.open_brace, diagnostics);
    let mut alias = None;
    if let Some((given, a)) = text_argument(body, "alias", diagnostics) {
        if is_identifier(&given) {
            alias = Some(given);
        } else {
            diagnostics.push(crate::shape::invalid_name(
                "Invalid provider configuration alias",
                &given,
                a.expression.range(),
            ));
        }
    }
    let mut mock = MockProvider {
        resources: BTreeMap::new(),
        data: BTreeMap::new(),
        overrides: Overrides::default(),
        during_plan: during(body, diagnostics).unwrap_or(false),
        range: block.header_range(),
    };
    mock.content(body, sources, diagnostics);
    if let Some((source, _)) = text_argument(body, "source", diagnostics)
        && let Some(files) = shared(&source, block, diagnostics)
    {
        const SHAPE: Shape = Shape {
            attributes: &[],
            blocks: CONTENT,
        };
        let mut beyond = MockProvider {
            resources: BTreeMap::new(),
            data: BTreeMap::new(),
            overrides: Overrides::default(),
            during_plan: mock.during_plan,
            range: mock.range,
        };
        let files = SHAPE.read(&files, files.range(), diagnostics);
        beyond.content(&files, sources, diagnostics);
        mock.and_beyond(beyond);
    }
    let empty = Body::new(Vec::new(), Vec::new(), block.body.range(), block.open_brace);
    Some(TestProvider {
        config: ProviderConfig {
            local: LocalProviderConfig {
                name: name.clone(),
                alias,
            },
            version: None,
            for_each: None,
            body: empty,
            range: block.header_range(),
            open: block.open_brace,
        },
        mock: Some(Arc::new(mock)),
    })
}

impl MockProvider {
    fn content(&mut self, body: &Body, sources: &SourceMap, diagnostics: &mut Diagnostics) {
        for block in body.blocks() {
            let kind = &*block.block_type;
            let all = match kind {
                "mock_resource" => &mut self.resources,
                "mock_data" => &mut self.data,
                _ => {
                    self.overrides.decode(block, sources, diagnostics);
                    continue;
                }
            };
            let Some((name, defaults)) = defaults(block, diagnostics) else {
                continue;
            };
            if let Some(before) = all.get(&name) {
                diagnostics.push(
                    Diagnostic::error(
                        format!("Duplicate {kind} block"),
                        format!(
                            "\"{name}\" is mocked here already, at {}.",
                            sources.place(before.range)
                        ),
                    )
                    .at(defaults.range),
                );
                continue;
            }
            all.insert(name, defaults);
        }
    }

    /// Adds what files share; what the block itself says comes first.
    fn and_beyond(&mut self, shared: Self) {
        for (name, defaults) in shared.resources {
            self.resources.entry(name).or_insert(defaults);
        }
        for (name, defaults) in shared.data {
            self.data.entry(name).or_insert(defaults);
        }
        for o in shared.overrides.0 {
            if !self.overrides.0.iter().any(|own| own.target == o.target) {
                self.overrides.0.push(o);
            }
        }
    }
}

fn defaults(block: &Block, diagnostics: &mut Diagnostics) -> Option<(Arc<str>, MockDefaults)> {
    const SHAPE: Shape = Shape {
        attributes: &[("defaults", false), ("override_during", false)],
        blocks: &[],
    };
    let [name] = labels(block, ["type"], diagnostics)?;
    let body = &SHAPE.read(&block.body, block.open_brace, diagnostics);
    let during_plan = during(body, diagnostics);
    let values = object(body, "defaults", diagnostics)?;
    let defaults = MockDefaults {
        values,
        during_plan,
        range: block.header_range(),
    };
    Some((name.clone(), defaults))
}

/// What a file of shared mocks may hold; the rest is said.
pub(super) fn shared(body: &Body, diagnostics: &mut Diagnostics) -> Body {
    const SHAPE: Shape = Shape {
        attributes: &[],
        blocks: CONTENT,
    };
    SHAPE.read(body, body.range(), diagnostics)
}
