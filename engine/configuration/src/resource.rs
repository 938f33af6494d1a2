//! Resources: `resource`, `data` and `ephemeral` blocks.
//!
//! The three kinds share one type, told apart by the mode of the address: what only managed
//! resources have is empty in the others, and was refused when the block was read.

use crate::check::CheckRule;
use crate::constant::flag_argument;
use crate::depends_on::{
    ProviderReference, StaticReference, depends_on, provider_reference, static_list, static_path,
};
use crate::module::Unserved;
use crate::provider::provider_word;
use crate::references::{expression_references, instance_key};
use crate::shape::{Shape, labels, name_label, suggest};
use formwork_addresses::{InstanceKey, LocalProviderConfig, Resource, ResourceMode, Subject};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_syntax::{Attribute, Block, Body, Expression, Step};
use formwork_values::Path;

/// How often a resource or module exists.
#[derive(Clone, Debug, Default)]
pub enum Repetition {
    /// Once, without a key.
    #[default]
    Single,
    /// As many times as this says, by number.
    Count(Expression),
    /// Once for each element of this, by text.
    ForEach(Expression),
    /// Once without a key, or not at all, as this says.
    Enabled(Expression),
}

/// A `resource`, `data` or `ephemeral` block.
#[derive(Clone, Debug)]
pub struct ResourceBlock {
    /// Mode, type and name.
    pub address: Resource,
    /// How often it exists.
    pub repetition: Repetition,
    /// The provider configuration, where one is named.
    pub provider: Option<ProviderReference>,
    /// What must be done first, beyond what the arguments refer to.
    pub depends_on: Vec<StaticReference>,
    /// How it comes and goes, and what must hold.
    pub lifecycle: Lifecycle,
    /// The connection of its provisioners, unless one has its own.
    pub connection: Option<Body>,
    /// What to run after creation or before destruction, in order.
    pub provisioners: Vec<Provisioner>,
    /// What the provider is given, without the arguments and blocks above.
    pub body: Body,
    /// The header of the block.
    pub range: SourceRange,
    /// The label that names the type.
    pub type_range: SourceRange,
    /// Where a missing argument is reported: the opening brace.
    pub open: SourceRange,
    /// What of it is not acted on; the module's list holds it.
    pub(crate) unserved: Vec<Unserved>,
}

/// The `lifecycle` block of a resource.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// Whether a replacement is made before the old object goes; `None` if not said.
    pub create_before_destroy: Option<bool>,
    /// Whether a plan that destroys it is an error; judged for each instance that would be destroyed.
    pub prevent_destroy: Option<Expression>,
    /// Which arguments are left as they are.
    pub ignore_changes: IgnoreChanges,
    /// What else makes a replacement necessary when it changes.
    pub replace_triggered_by: Vec<Expression>,
    /// What must hold before it is planned.
    pub preconditions: Vec<CheckRule>,
    /// What must hold afterwards.
    pub postconditions: Vec<CheckRule>,
    /// The header of the block.
    pub range: Option<SourceRange>,
}

/// Which arguments keep their stored value whatever the configuration says.
#[derive(Clone, Debug, Default)]
pub enum IgnoreChanges {
    /// None.
    #[default]
    Nothing,
    /// All of them.
    All,
    /// These, each with where it was written.
    Paths(Vec<(Path, SourceRange)>),
}

/// A `provisioner` block.
#[derive(Clone, Debug)]
pub struct Provisioner {
    /// Its kind, such as `local-exec`.
    pub kind: std::sync::Arc<str>,
    /// When it runs.
    pub when: ProvisionerTime,
    /// Whether the run goes on when it fails.
    pub continue_on_failure: bool,
    /// Its own connection.
    pub connection: Option<Body>,
    /// Its arguments; what they may be only its kind knows.
    pub body: Body,
    /// The header of the block.
    pub range: SourceRange,
    /// Where a missing argument is reported: the opening brace.
    pub open: SourceRange,
}

/// When a provisioner runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvisionerTime {
    /// After the object is created.
    Create,
    /// Before the object is destroyed.
    Destroy,
}

impl Repetition {
    /// Whether instances have keys.
    pub fn is_repeated(&self) -> bool {
        matches!(self, Self::Count(_) | Self::ForEach(_))
    }

    /// The expression that decides, if there is one.
    pub fn expression(&self) -> Option<&Expression> {
        match self {
            Self::Single => None,
            Self::Count(e) | Self::ForEach(e) | Self::Enabled(e) => Some(e),
        }
    }

    /// Reads `count` and `for_each`, of which one may be set.
    pub(crate) fn decode(body: &Body, diagnostics: &mut Diagnostics) -> Self {
        match (body.attribute("count"), body.attribute("for_each")) {
            (None, None) => Self::Single,
            (Some(c), None) => Self::Count(c.expression.clone()),
            (None, Some(f)) => Self::ForEach(f.expression.clone()),
            (Some(c), Some(f)) => {
                let later = if c.name_range.start > f.name_range.start {
                    c
                } else {
                    f
                };
                diagnostics.push(
                    Diagnostic::error(
                        "Invalid combination of \"count\" and \"for_each\"",
                        "A block exists either as often as \"count\" says or once for each element \
                         of \"for_each\". Keep one of the two.",
                    )
                    .at(later.name_range),
                );
                Self::ForEach(f.expression.clone())
            }
        }
    }

    /// With the `enabled` of a lifecycle block, which excludes the other two.
    pub(crate) fn with_enabled(self, enabled: &Attribute, diagnostics: &mut Diagnostics) -> Self {
        let other = match &self {
            Self::Single | Self::Enabled(_) => {
                crate::constant::plain_flag(
                    &enabled.expression,
                    "Invalid enabled argument",
                    diagnostics,
                );
                return Self::Enabled(enabled.expression.clone());
            }
            Self::Count(_) => "count",
            Self::ForEach(_) => "for_each",
        };
        diagnostics.push(
            Diagnostic::error(
                "Invalid combination of \"count\", \"for_each\" and \"enabled\"",
                format!(
                    "\"enabled\" says whether one object without a key exists, but this block sets \
                     \"{other}\" too, which makes several. Keep one of the two."
                ),
            )
            .at(enabled.name_range),
        );
        self
    }
}

/// What of a resource is the language's and not the provider's; `locals` is kept for it.
pub(crate) const META: Shape = Shape {
    attributes: &[
        ("count", false),
        ("for_each", false),
        ("provider", false),
        ("depends_on", false),
    ],
    blocks: &[
        ("lifecycle", &[]),
        ("connection", &[]),
        ("provisioner", &["type"]),
        ("_", &[]),
        ("locals", &[]),
    ],
};

/// A body with what stands in an escaping block, `_`: all of it is the provider's, even where the
/// language has an argument of the same name.
pub(crate) fn with_escaped(body: &Body, escape: &Block, diagnostics: &mut Diagnostics) -> Body {
    if body.is_json() || escape.body.is_json() {
        return body.clone().joined(escape.body.clone());
    }
    let (inner, mut attributes) = (&escape.body, body.attributes().to_vec());
    for a in inner.attributes() {
        if body.attribute(&a.name).is_some() {
            diagnostics.push(
                Diagnostic::error(
                    "Duplicate argument",
                    format!(
                        "The argument \"{}\" is set beside the escaping block too; it may be set once.",
                        a.name
                    ),
                )
                .at(a.name_range),
            );
        } else {
            attributes.push(a.clone());
        }
    }
    let mut blocks = body.blocks().to_vec();
    blocks.extend(inner.blocks().iter().cloned());
    Body::new(attributes, blocks, body.range(), body.missing_item_range())
}

impl ResourceBlock {
    /// The local name of its provider configuration: the one named, or the first word of its type.
    pub fn local_provider(&self) -> LocalProviderConfig {
        self.provider.as_ref().map_or_else(
            || LocalProviderConfig::default_of(self.address.implied_provider()),
            |p| p.local.clone(),
        )
    }

    /// Where that is written which a path into its configuration names: the value of the argument, or
    /// the nearest block around it. The whole block where nothing of it is written.
    pub fn place_of(&self, path: &Path) -> SourceRange {
        let mut body = &self.body;
        let mut best = self.range;
        let mut steps = path.steps().iter().peekable();
        while let Some(step) = steps.next() {
            let formwork_values::Step::Attribute(name) = step else {
                continue;
            };
            if let Some(a) = body.attribute(name) {
                return a.expression.range();
            }
            let key = match steps.peek() {
                Some(formwork_values::Step::Index(key)) => Some(key),
                _ => None,
            };
            let dynamic = body
                .blocks_of("dynamic")
                .find(|b| b.labels.first().is_some_and(|l| l.value == *name));
            if let Some(dynamic) = dynamic {
                // Which of its blocks is meant depends on what it goes through.
                best = dynamic.header_range();
                match dynamic.body.blocks_of("content").next() {
                    Some(content) => body = &content.body,
                    None => break,
                }
                continue;
            }
            let mut blocks = body.blocks_of(name);
            let found = match key {
                None => blocks.next(),
                Some(key) => match (key.as_number(), key.as_str()) {
                    (Some(number), _) => number
                        .to_i64()
                        .and_then(|n| usize::try_from(n).ok())
                        .and_then(|n| blocks.nth(n)),
                    (None, Some(text)) => {
                        blocks.find(|b| b.labels.first().is_some_and(|l| *l.value == *text))
                    }
                    // An element of a set is known by its content alone.
                    (None, None) => None,
                },
            };
            let Some(found) = found else { break };
            best = found.header_range();
            body = &found.body;
        }
        best
    }

    /// Reads a `resource`, `data` or `ephemeral` block.
    pub(crate) fn decode(block: &Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        let (mode, name_summary) = match &*block.block_type {
            "data" => (ResourceMode::Data, "Invalid data resource name"),
            "ephemeral" => (ResourceMode::Ephemeral, "Invalid ephemeral resource name"),
            _ => (ResourceMode::Managed, "Invalid resource name"),
        };
        let [kind, name] = labels(block, ["type", "name"], diagnostics)?;
        let type_ok = name_label(block, 0, "Invalid resource type name", diagnostics);
        if !name_label(block, 1, name_summary, diagnostics) || !type_ok {
            return None;
        }
        let implied = kind.split('_').next().unwrap_or(kind);
        if !provider_word(implied) {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid resource type",
                    format!(
                        "\"{kind}\" is the type of no resource: it would belong to a provider \
                         \"{implied}\", and names of providers are of small letters, digits and dashes."
                    ),
                )
                .at(block.labels.first().map_or(block.type_range, |l| l.range)),
            );
            return None;
        }
        let (own, rest) = META.read_partial(&block.body, block.open_brace, diagnostics);
        let body = &own;
        let mut resource = Self {
            address: Resource {
                mode,
                kind: kind.clone(),
                name: name.clone(),
            },
            repetition: Repetition::decode(body, diagnostics),
            provider: body
                .attribute("provider")
                .and_then(|a| provider_reference(&a.expression, diagnostics)),
            depends_on: depends_on(body, diagnostics),
            lifecycle: Lifecycle::default(),
            connection: None,
            provisioners: Vec::new(),
            body: rest.clone(),
            unserved: Vec::new(),
            range: block.header_range(),
            type_range: block.labels.first().map_or(block.type_range, |l| l.range),
            open: block.open_brace,
        };
        let mut seen: Vec<(&str, SourceRange)> = Vec::new();
        for inner in body.blocks() {
            let managed = mode == ResourceMode::Managed;
            match &*inner.block_type {
                kind @ ("lifecycle" | "connection" | "_") if managed || kind != "connection" => {
                    labels(inner, [], diagnostics);
                    if seen.iter().any(|(k, _)| *k == kind) {
                        diagnostics.push(
                            Diagnostic::error(
                                if kind == "_" {
                                    "Duplicate escaping block".to_owned()
                                } else {
                                    format!("Duplicate {kind} block")
                                },
                                format!("A resource may hold one {kind} block only."),
                            )
                            .at(inner.header_range()),
                        );
                        continue;
                    }
                    seen.push((kind, inner.header_range()));
                    match kind {
                        "lifecycle" => {
                            let (lifecycle, enabled) =
                                Lifecycle::decode(inner, mode, &mut resource.unserved, diagnostics);
                            resource.lifecycle = lifecycle;
                            if let Some(enabled) = enabled {
                                resource.repetition = std::mem::take(&mut resource.repetition)
                                    .with_enabled(&enabled, diagnostics);
                            }
                        }
                        "connection" => {
                            resource.connection = Some(inner.body.clone());
                        }
                        _ => {
                            resource.body = with_escaped(&resource.body, inner, diagnostics);
                        }
                    }
                }
                "provisioner" if managed => {
                    resource
                        .provisioners
                        .extend(Provisioner::decode(inner, diagnostics));
                }
                "provisioner" | "connection" => diagnostics.push(
                    Diagnostic::error(
                        "Unsupported block type",
                        format!(
                            "A {} block is for managed resources (\"resource\" blocks) only.",
                            inner.block_type
                        ),
                    )
                    .at(inner.type_range),
                ),
                reserved => diagnostics.push(
                    Diagnostic::error(
                        "Reserved block type name in resource block",
                        format!(
                            "\"{reserved}\" is kept for the language. If the provider has a block \
                             of this name, put it into a block \"_\"."
                        ),
                    )
                    .at(inner.type_range),
                ),
            }
        }
        Some(resource)
    }
}

impl Lifecycle {
    /// Reads a `lifecycle` block; its `enabled`, which is a matter of repetition, comes beside it.
    fn decode(
        block: &Block,
        mode: ResourceMode,
        unserved: &mut Vec<Unserved>,
        diagnostics: &mut Diagnostics,
    ) -> (Self, Option<Attribute>) {
        const SHAPE: Shape = Shape {
            attributes: &[
                ("create_before_destroy", false),
                ("prevent_destroy", false),
                ("ignore_changes", false),
                ("replace_triggered_by", false),
                ("enabled", false),
                ("destroy", false),
            ],
            blocks: &[
                ("precondition", &[]),
                ("postcondition", &[]),
                ("action_trigger", &[]),
            ],
        };
        let body = &SHAPE.read(&block.body, block.open_brace, diagnostics);
        if let Some(a) = body.attribute("destroy") {
            unserved.push(Unserved {
                construct: "lifecycle destroy",
                range: a.name_range,
            });
        }
        unserved.extend(body.blocks_of("action_trigger").map(|b| Unserved {
            construct: "lifecycle action_trigger",
            range: b.type_range,
        }));
        let mut lifecycle = Self {
            range: Some(block.header_range()),
            ..Self::default()
        };
        let word = mode.word();
        let refused = |what: &str| {
            format!(
                "\"{what}\" is for managed resources (\"resource\" blocks) only, and has no meaning \
                 for {word} resources."
            )
        };
        if mode != ResourceMode::Managed {
            for a in body.attributes() {
                if SHAPE.attributes.iter().any(|(n, _)| *n == &*a.name) && &*a.name != "enabled" {
                    diagnostics.push(
                        Diagnostic::error(
                            format!("Invalid {word} resource lifecycle argument"),
                            refused(&a.name),
                        )
                        .at(a.range),
                    );
                }
            }
            for b in body.blocks_of("action_trigger") {
                diagnostics.push(
                    Diagnostic::error(
                        format!("Invalid {word} resource lifecycle block"),
                        refused("action_trigger"),
                    )
                    .at(b.type_range),
                );
            }
        } else {
            lifecycle.create_before_destroy =
                flag_argument(body, "create_before_destroy", diagnostics);
            lifecycle.prevent_destroy = body.attribute("prevent_destroy").map(|a| {
                crate::constant::plain_flag(
                    &a.expression,
                    "Invalid prevent_destroy argument",
                    diagnostics,
                );
                a.expression.clone()
            });
            if let Some(a) = body.attribute("ignore_changes") {
                lifecycle.ignore_changes = ignore_changes(&a.expression, diagnostics);
            }
            if let Some(a) = body.attribute("replace_triggered_by") {
                lifecycle.replace_triggered_by = replace_triggers(&a.expression, diagnostics);
            }
        }
        for inner in body.blocks() {
            match &*inner.block_type {
                "precondition" => lifecycle
                    .preconditions
                    .extend(CheckRule::decode(inner, diagnostics)),
                "postcondition" => lifecycle
                    .postconditions
                    .extend(CheckRule::decode(inner, diagnostics)),
                _ => {}
            }
        }
        (lifecycle, body.attribute("enabled").cloned())
    }
}

/// Expressions that name resources (or parts of them) whose change replaces this one.
fn replace_triggers(e: &Expression, diagnostics: &mut Diagnostics) -> Vec<Expression> {
    let mut triggers = Vec::new();
    for item in static_list(e, diagnostics) {
        let (found, said) = expression_references(item);
        if said.has_errors() {
            diagnostics.append(said);
            continue;
        }
        let mut names_resource = false;
        let mut wrong = None;
        for f in &found {
            match f.reference.subject {
                Subject::Resource(ref r) if r.mode == ResourceMode::Managed => {
                    names_resource = true
                }
                Subject::ResourceInstance(ref r) if r.resource.mode == ResourceMode::Managed => {
                    names_resource = true;
                }
                Subject::CountIndex | Subject::EachKey => {}
                _ => wrong = Some(f),
            }
        }
        if let Some(f) = wrong {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid reference in replace_triggered_by expression",
                    format!(
                        "{} cannot trigger a replacement: only managed resources can, with \
                         count.index and each.key to choose an instance. To trigger by another \
                         value, keep it in a terraform_data resource and name that.",
                        f.reference.subject
                    ),
                )
                .at(f.range()),
            );
        } else if names_resource {
            triggers.push(item.clone());
        } else if !item.is_invalid() {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid replace_triggered_by expression",
                    "Name a managed resource, or an attribute of one, whose change shall replace \
                     this resource.",
                )
                .at(item.range()),
            );
        }
    }
    triggers
}

fn ignore_changes(e: &Expression, diagnostics: &mut Diagnostics) -> IgnoreChanges {
    match e.as_keyword() {
        Some("all") => return IgnoreChanges::All,
        Some(word) => {
            let d = Diagnostic::error(
                "Invalid expression",
                "A list of argument names in brackets is wanted here, or the word \"all\".",
            )
            .at(e.range());
            diagnostics.push(suggest(d, word, ["all"]));
            return IgnoreChanges::Nothing;
        }
        None => {}
    }
    let mut paths = Vec::new();
    for item in static_list(e, diagnostics) {
        if item.as_literal_string().is_some_and(|s| &**s == "*") {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid ignore_changes wildcard",
                    "To leave all arguments as they are, write ignore_changes = all.",
                )
                .at(item.range()),
            );
            continue;
        }
        let Some(t) = static_path(item, diagnostics) else {
            continue;
        };
        let mut path = Path::default().attribute(t.root.clone());
        for step in &t.steps {
            path = match step {
                Step::Attribute { name, .. } => path.attribute(name.clone()),
                Step::Index { key, .. } => match instance_key(key) {
                    Some(InstanceKey::Text(k)) => path.key(k),
                    Some(InstanceKey::Int(n)) if n >= 0 => {
                        path.position(usize::try_from(n).unwrap_or(usize::MAX))
                    }
                    _ => {
                        diagnostics.push(
                            Diagnostic::error(
                                "Invalid expression",
                                "An element is named by its position, a whole number from 0, or by \
                                 its key, a text.",
                            )
                            .at(step.range()),
                        );
                        path
                    }
                },
            };
        }
        paths.push((path, t.range()));
    }
    if paths.is_empty() {
        IgnoreChanges::Nothing
    } else {
        IgnoreChanges::Paths(paths)
    }
}

impl Provisioner {
    pub(crate) fn decode(block: &Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        let [kind] = labels(block, ["type"], diagnostics)?;
        const SHAPE: Shape = Shape {
            attributes: &[("when", false), ("on_failure", false)],
            blocks: &[("connection", &[])],
        };
        const REMOVED: [&str; 4] = ["chef", "habitat", "puppet", "salt-masterless"];
        if REMOVED.contains(&&**kind) {
            diagnostics.push(
                Diagnostic::error(
                    format!("The \"{kind}\" provisioner has been removed"),
                    "Terraform 0.15 took it out of the language. Prepare an image with the software, or \
                     run it by local-exec or remote-exec.",
                )
                .at(block.labels.first().map_or(block.type_range, |l| l.range)),
            );
            return None;
        }
        let (body, rest) = SHAPE.read_partial(&block.body, block.open_brace, diagnostics);
        let reserved = |b: &Block| matches!(&*b.block_type, "lifecycle" | "provisioner");
        for inner in rest.blocks().iter().filter(|b| reserved(b)) {
            diagnostics.push(
                Diagnostic::error(
                    "Reserved block type name in provisioner block",
                    format!(
                        "\"{}\" has no meaning in a provisioner block.",
                        inner.block_type
                    ),
                )
                .at(inner.type_range),
            );
        }
        let in_json = block.body.is_json();
        let mut keyword = |name: &str, known: [&str; 2]| -> Option<bool> {
            let a = body.attribute(name)?;
            // The quoted form is older than the plain one and still common.
            let quoted = a.expression.as_literal_string();
            if quoted.is_some() && !in_json {
                diagnostics.push(
                    Diagnostic::warning(
                        "Quoted keywords are deprecated",
                        "This keyword is written without quotes. The quotes are still understood, but \
                         take them off.",
                    )
                    .at(a.expression.range()),
                );
            }
            let word = a.expression.as_keyword().or_else(|| quoted.map(|s| &**s));
            match word {
                Some(w) if w == known[0] => Some(false),
                Some(w) if w == known[1] => Some(true),
                _ => {
                    diagnostics.push(
                        Diagnostic::error(
                            format!("Invalid \"{name}\" keyword"),
                            format!("\"{name}\" is either {} or {}.", known[0], known[1]),
                        )
                        .at(a.expression.range()),
                    );
                    None
                }
            }
        };
        let destroy = keyword("when", ["create", "destroy"]).unwrap_or(false);
        let continue_on_failure = keyword("on_failure", ["fail", "continue"]).unwrap_or(false);
        let connection = body.blocks().first().map(|b| b.body.clone());
        Some(Self {
            kind: kind.clone(),
            when: if destroy {
                ProvisionerTime::Destroy
            } else {
                ProvisionerTime::Create
            },
            continue_on_failure,
            connection,
            body: rest,
            range: block.header_range(),
            open: block.open_brace,
        })
    }
}
