//! [`Module`]: the blocks of one directory, decoded.

use crate::check::CheckBlock;
use crate::constant::{constant, text};
use crate::language::LanguageLevel;
use crate::module_call::ModuleCall;
use crate::provider::{ProviderConfig, ProviderRequirement, constraints, requirements};
use crate::refactoring::{ImportBlock, MovedBlock, RemovedBlock};
use crate::resource::ResourceBlock;
use crate::shape::{Shape, labels};
use crate::variable::{InputVariable, LocalValue, OutputValue};
use crate::version::VersionConstraints;
use formwork_addresses::{LocalProviderConfig, ProviderAddr, Resource, ResourceMode};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap, SourceRange};
use formwork_syntax::{Attribute, Block, Body, Expression, ExpressionKind};
use formwork_values::{Type, Value, convert};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// One module: what the files of a directory say together.
///
/// Several calls of the same directory share one `Module`, so it knows nothing of where it is called
/// from; that is in [`crate::Configuration`].
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The directory it was read from, as it was given or joined.
    pub directory: PathBuf,
    /// Whether there was any file of configuration at all.
    pub has_files: bool,
    /// Whether all files and declarations could be read; if not, what is referred to may be missing.
    pub is_readable: bool,
    /// By name.
    pub variables: BTreeMap<Arc<str>, InputVariable>,
    /// By name.
    pub locals: BTreeMap<Arc<str>, LocalValue>,
    /// By name.
    pub outputs: BTreeMap<Arc<str>, OutputValue>,
    /// By name.
    pub calls: BTreeMap<Arc<str>, ModuleCall>,
    /// Managed, data and ephemeral resources by address. Data sources within check blocks are there.
    pub resources: BTreeMap<Resource, Arc<ResourceBlock>>,
    /// By local name and alias.
    pub providers: BTreeMap<LocalProviderConfig, ProviderConfig>,
    /// By local name.
    pub requirements: BTreeMap<Arc<str>, ProviderRequirement>,
    /// By name.
    pub checks: BTreeMap<Arc<str>, CheckBlock>,
    /// In source order.
    pub moved: Vec<MovedBlock>,
    /// In source order.
    pub removed: Vec<RemovedBlock>,
    /// In source order.
    pub imports: Vec<ImportBlock>,
    /// Where state is kept, if the module says so.
    pub backend: Option<Backend>,
    /// `required_version` constraints, each with its range.
    pub required_versions: Vec<(VersionConstraints, SourceRange)>,
    /// `required_version` arguments that are computed.
    pub(crate) computed_versions: Vec<Attribute>,
    /// The `encryption` block.
    pub encryption: Option<Block>,
    /// `provider_meta` blocks by provider; accepted, and sent nowhere.
    pub provider_meta: BTreeMap<Arc<str>, Body>,
    /// What was read but is not acted on.
    pub unserved: Vec<Unserved>,
}

/// A `backend` or `cloud` block.
#[derive(Clone, Debug)]
pub struct Backend {
    /// `local`, `gcs`, ..., or `cloud` for a `cloud` block.
    pub kind: Arc<str>,
    /// Its arguments.
    pub body: Body,
    /// The header of the block.
    pub range: SourceRange,
    /// Where a missing argument is reported.
    pub open: SourceRange,
}

/// A part of a valid configuration that this version reads but does not act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unserved {
    /// What it is: `action`, `list`, `lifecycle.enabled`, ...
    pub construct: &'static str,
    /// Where it stands.
    pub range: SourceRange,
}

impl Unserved {
    /// The error for a command that would have to act on it.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error(
            "Not served yet",
            format!(
                "This version of Formwork reads \"{}\" but does not act on it, and will not go on \
                 as if it were not there.",
                self.construct
            ),
        )
        .at(self.range)
    }
}

/// The `terraform` block.
pub(crate) const SETTINGS: Shape = Shape {
    attributes: &[
        ("required_version", false),
        ("experiments", false),
        ("language", false),
    ],
    blocks: &[
        ("required_providers", &[]),
        ("backend", &["type"]),
        ("cloud", &[]),
        ("provider_meta", &["name"]),
        ("state_store", &["type"]),
        ("encryption", &[]),
    ],
};

/// The blocks of a file.
pub(crate) const TOP_LEVEL: Shape = Shape {
    attributes: &[],
    blocks: &[
        ("terraform", &[]),
        ("provider", &["name"]),
        ("variable", &["name"]),
        ("locals", &[]),
        ("output", &["name"]),
        ("module", &["name"]),
        ("resource", &["type", "name"]),
        ("data", &["type", "name"]),
        ("ephemeral", &["type", "name"]),
        ("moved", &[]),
        ("removed", &[]),
        ("import", &[]),
        ("check", &["name"]),
        ("action", &["type", "name"]),
        ("list", &["type", "name"]),
        ("language", &[]),
    ],
};

/// Puts a declaration under its key, or says that the key is taken.
fn declare<K: Ord, V>(
    map: &mut BTreeMap<K, V>,
    key: K,
    value: V,
    duplicate: impl FnOnce(&V) -> Diagnostic,
    diagnostics: &mut Diagnostics,
) {
    match map.entry(key) {
        std::collections::btree_map::Entry::Vacant(e) => {
            e.insert(value);
        }
        std::collections::btree_map::Entry::Occupied(e) => diagnostics.push(duplicate(e.get())),
    }
}

/// A body whose blocks nobody here knows, as arguments: what would be a block in it is then an object.
fn as_native(body: &Body, diagnostics: &mut Diagnostics) -> Body {
    if !body.is_json() {
        return body.clone();
    }
    let attributes = diagnostics.take(body.just_attributes());
    Body::new(
        attributes,
        Vec::new(),
        body.range(),
        body.missing_item_range(),
    )
}

/// What is wrong with the language's edition. There is one.
fn edition(e: &Expression) -> Option<Diagnostic> {
    let (summary, detail) = match e.as_keyword() {
        _ if e.is_invalid() => return None,
        Some("TF2021") => return None,
        None => (
            "Invalid language edition",
            "The edition of the language is a plain word, and there is one: TF2021.".to_owned(),
        ),
        Some(other) => (
            "Unsupported language edition",
            format!("There is no edition {other} of the language; there is one: TF2021."),
        ),
    };
    Some(Diagnostic::error(summary, detail).at(e.range()))
}

/// Whether declarations stand within the block that belong beside it, as after a brace that is missing:
/// what they declare is then not there.
fn swallows(block: &Block) -> bool {
    let kinds = ["variable", "locals", "output", "module", "resource"];
    let inner = block.body.blocks();
    inner.iter().any(|b| kinds.contains(&&*b.block_type))
}

impl Module {
    /// The local name under which the module knows a provider: the one it requires it by, or its
    /// type.
    pub fn local_name_of(&self, provider: &ProviderAddr) -> Arc<str> {
        self.requirements
            .values()
            .find(|r| r.source == *provider)
            .map_or_else(|| provider.kind.clone(), |r| r.local_name.clone())
    }

    /// The provider that a local name stands for.
    pub fn provider_of_name(&self, local: &str) -> ProviderAddr {
        self.requirements
            .get(local)
            .map_or_else(|| ProviderAddr::implied(local), |r| r.source.clone())
    }

    /// The block of a provider's configuration with this alias, by whichever of the module's names for
    /// the provider it was written.
    pub fn provider_block(
        &self,
        provider: &ProviderAddr,
        alias: Option<&Arc<str>>,
    ) -> Option<&ProviderConfig> {
        let of_alias = |p: &&ProviderConfig| p.local.alias.as_ref() == alias;
        let name = self.local_name_of(provider);
        let mut blocks = self.providers.values().filter(of_alias);
        blocks
            .clone()
            .find(|p| p.local.name == name)
            .or_else(|| blocks.find(|p| self.provider_of_name(&p.local.name) == *provider))
    }

    /// Resources of a mode, in order.
    pub fn resources_of(&self, mode: ResourceMode) -> impl Iterator<Item = &Arc<ResourceBlock>> {
        self.resources
            .values()
            .filter(move |r| r.address.mode == mode)
    }

    /// A resource by its address, those within check blocks included.
    pub fn resource(&self, address: &Resource) -> Option<&Arc<ResourceBlock>> {
        self.resources.get(address).or_else(|| {
            self.scoped_resources()
                .find(|(_, r)| r.address == *address)
                .map(|(_, r)| r)
        })
    }

    /// The data sources within check blocks, with the check each belongs to.
    pub fn scoped_resources(&self) -> impl Iterator<Item = (&CheckBlock, &Arc<ResourceBlock>)> {
        self.checks
            .values()
            .filter_map(|c| c.data.as_ref().map(|d| (c, d)))
    }

    /// Decodes the blocks of a module, in order.
    pub(crate) fn decode<'a>(
        blocks: impl IntoIterator<Item = &'a Block>,
        level: &LanguageLevel,
        sources: &SourceMap,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let mut module = Self {
            is_readable: true,
            ..Self::default()
        };
        let mut requirements_at = None;
        for block in blocks {
            let said = diagnostics.len();
            module.block(block, level, sources, &mut requirements_at, diagnostics);
            if swallows(block) && diagnostics.iter().skip(said).any(Diagnostic::is_error) {
                module.is_readable = false;
            }
        }
        module
    }

    fn block(
        &mut self,
        block: &Block,
        level: &LanguageLevel,
        sources: &SourceMap,
        requirements_at: &mut Option<SourceRange>,
        diagnostics: &mut Diagnostics,
    ) {
        // With labels it was meant as something else, which is then not declared.
        if ["moved", "removed", "import"].contains(&&*block.block_type) && !block.labels.is_empty()
        {
            self.is_readable = false;
        }
        let header = block.header_range();
        let at = |range: SourceRange| sources.place(range);
        let error = |summary: String, detail: String| Diagnostic::error(summary, detail).at(header);
        match &*block.block_type {
            "terraform" => self.settings(block, level, requirements_at, diagnostics),
            "provider" => {
                if let Some(p) = ProviderConfig::decode(block, diagnostics) {
                    let key = p.local.clone();
                    let detail = |before: &ProviderConfig| match &before.local.alias {
                        None => format!(
                            "The default configuration of \"{}\" is given already, at {}. A further \
                             one needs an alias.",
                            before.local.name,
                            at(before.range)
                        ),
                        Some(a) => format!(
                            "The configuration of \"{}\" with the alias \"{a}\" is given already, \
                             at {}.",
                            before.local.name,
                            at(before.range)
                        ),
                    };
                    declare(
                        &mut self.providers,
                        key,
                        p,
                        |before| {
                            error(
                                "Duplicate provider configuration".to_owned(),
                                detail(before),
                            )
                        },
                        diagnostics,
                    );
                } else {
                    self.is_readable = false;
                }
            }
            "variable" => {
                if let Some(v) = InputVariable::decode(block, diagnostics) {
                    let name = v.name.clone();
                    declare(
                        &mut self.variables,
                        name.clone(),
                        v,
                        |before| {
                            error(
                                "Duplicate variable declaration".to_owned(),
                                format!(
                                    "A variable \"{name}\" is declared already, at {}.",
                                    at(before.range)
                                ),
                            )
                        },
                        diagnostics,
                    );
                } else {
                    self.is_readable = false;
                }
            }
            "locals" => {
                for local in LocalValue::decode_all(block, diagnostics) {
                    let (name, range) = (local.name.clone(), local.range);
                    declare(
                        &mut self.locals,
                        name.clone(),
                        local,
                        |before| {
                            Diagnostic::error(
                                "Duplicate local value definition",
                                format!(
                                    "A local value \"{name}\" is defined already, at {}.",
                                    at(before.range)
                                ),
                            )
                            .at(range)
                        },
                        diagnostics,
                    );
                }
            }
            "output" => {
                if let Some(o) = OutputValue::decode(block, diagnostics) {
                    let name = o.name.clone();
                    declare(
                        &mut self.outputs,
                        name.clone(),
                        o,
                        |before| {
                            error(
                                "Duplicate output definition".to_owned(),
                                format!(
                                    "An output \"{name}\" is defined already, at {}.",
                                    at(before.range)
                                ),
                            )
                        },
                        diagnostics,
                    );
                } else {
                    self.is_readable = false;
                }
            }
            "module" => {
                if let Some(c) = ModuleCall::decode(block, diagnostics) {
                    let name = c.name.clone();
                    declare(
                        &mut self.calls,
                        name.clone(),
                        c,
                        |before| {
                            error(
                                "Duplicate module call".to_owned(),
                                format!(
                                    "A module \"{name}\" is called already, at {}. Choose another name.",
                                    at(before.range)
                                ),
                            )
                        },
                        diagnostics,
                    );
                } else {
                    self.is_readable = false;
                }
            }
            kind @ ("resource" | "data" | "ephemeral") => {
                if let Some(r) = ResourceBlock::decode(block, diagnostics) {
                    self.unserved.extend(r.unserved.iter().cloned());
                    let address = r.address.clone();
                    declare(
                        &mut self.resources,
                        address.clone(),
                        Arc::new(r),
                        |before| {
                            error(
                                format!("Duplicate {kind} \"{}\" configuration", address.kind),
                                format!(
                                    "{address} is declared already, at {}. The names of a module's {kind} \
                                     blocks of one type must differ.",
                                    at(before.range)
                                ),
                            )
                        },
                        diagnostics,
                    );
                } else {
                    self.is_readable = false;
                }
            }
            "check" => {
                if let Some(c) = CheckBlock::decode(block, diagnostics) {
                    let name = c.name.clone();
                    declare(
                        &mut self.checks,
                        name.clone(),
                        c,
                        |before| {
                            error(
                                format!("Duplicate check \"{name}\" configuration"),
                                format!(
                                    "A check \"{name}\" is declared already, at {}.",
                                    at(before.range)
                                ),
                            )
                        },
                        diagnostics,
                    );
                }
            }
            "moved" => {
                self.moved.extend(MovedBlock::decode(block, diagnostics));
            }
            "removed" => self
                .removed
                .extend(RemovedBlock::decode(block, diagnostics)),
            "import" => self.imports.extend(ImportBlock::decode(block, diagnostics)),
            "action" => self.unserved.push(Unserved {
                construct: "action",
                range: header,
            }),
            "list" => self.unserved.push(Unserved {
                construct: "list",
                range: header,
            }),
            // Anything unknown was reported when the file was read.
            _ => {}
        }
    }

    /// A `provider_meta` block: its arguments are constants, and sent nowhere.
    fn provider_meta(&mut self, block: &Block, diagnostics: &mut Diagnostics) {
        let Some(name) = block.label(0) else {
            diagnostics.push(
                Diagnostic::error(
                    "Missing provider for provider_meta",
                    "A provider_meta block takes one label: the provider that it is for.",
                )
                .at(block.open_brace)
                .within(block.header_range()),
            );
            return;
        };
        if labels(block, ["provider"], diagnostics).is_none() {
            return;
        }
        if self.provider_meta.contains_key(name) {
            diagnostics.push(
                Diagnostic::error(
                    "Duplicate provider_meta block",
                    format!("There is a provider_meta block for \"{name}\" already."),
                )
                .at(block.header_range()),
            );
            return;
        }
        for a in block.body.attributes() {
            constant(&a.expression, diagnostics);
        }
        self.provider_meta.insert(name.clone(), block.body.clone());
    }

    /// Takes what `required_version` has come to.
    pub(crate) fn require_version(
        &mut self,
        given: &str,
        a: &Attribute,
        level: &LanguageLevel,
        diagnostics: &mut Diagnostics,
    ) {
        let Some(c) = constraints(given, a.expression.range(), diagnostics) else {
            return;
        };
        if c.names_prerelease() {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid required_version constraint",
                    format!(
                        "A pre-release cannot be required, as in \"{c}\": only released versions are \
                         compared. Remove what follows the dash."
                    ),
                )
                .at(a.expression.range()),
            );
        } else {
            diagnostics.extend(level.check(&c, a.range));
            self.required_versions.push((c, a.range));
        }
    }

    /// The `terraform` block.
    fn settings(
        &mut self,
        block: &Block,
        level: &LanguageLevel,
        requirements_at: &mut Option<SourceRange>,
        diagnostics: &mut Diagnostics,
    ) {
        labels(block, [], diagnostics);
        let body = SETTINGS.read(&block.body, block.open_brace, diagnostics);
        if let Some(a) = body.attribute("required_version") {
            let plain = constant(&a.expression, &mut Diagnostics::new());
            let is_text = |v: Value| convert(v, &Type::String).is_ok();
            if a.expression.is_computed() {
                self.computed_versions.push(a.clone());
            } else if matches!(a.expression.kind(), ExpressionKind::Null) {
                // No constraint is none.
            } else if plain.is_some_and(|v| !is_text(v)) {
                diagnostics.push(
                    Diagnostic::error(
                        "Invalid version constraint",
                        "A constraint on versions is a text, such as \">= 1.3, < 2.0\".",
                    )
                    .at(a.expression.range()),
                );
            } else if let Some(given) = text(&a.expression, diagnostics) {
                self.require_version(&given, a, level, diagnostics);
            }
        }
        if let Some(a) = body.attribute("experiments") {
            diagnostics.push(
                Diagnostic::error(
                    "Module uses experimental features",
                    "Experimental features of Terraform are part of none of its releases, and not \
                     part of Formwork.",
                )
                .at(a.name_range),
            );
        }
        if let Some(a) = body.attribute("language") {
            diagnostics.extend(edition(&a.expression));
        }
        for inner in body.blocks() {
            let header = inner.header_range();
            match &*inner.block_type {
                "required_providers" => {
                    if requirements_at.is_some() {
                        diagnostics.push(
                            Diagnostic::error(
                                "Duplicate required providers configuration",
                                "A module may hold one required_providers block only. Put all \
                                 providers into it.",
                            )
                            .at(header),
                        );
                        continue;
                    }
                    *requirements_at = Some(header);
                    self.requirements = requirements(inner, diagnostics);
                }
                kind @ ("backend" | "cloud") => {
                    let kind = if kind == "cloud" {
                        labels(inner, [], diagnostics);
                        Arc::from("cloud")
                    } else {
                        let Some([kind]) = labels(inner, ["type"], diagnostics) else {
                            continue;
                        };
                        kind.clone()
                    };
                    match &self.backend {
                        None => {
                            self.backend = Some(Backend {
                                kind,
                                body: as_native(&inner.body, diagnostics),
                                range: header,
                                open: inner.open_brace,
                            });
                        }
                        Some(b) if (&*b.kind == "cloud") == (&*kind == "cloud") => {
                            let (what, summary) = if &*kind == "cloud" {
                                ("cloud", "Duplicate HCP Terraform configurations")
                            } else {
                                ("backend", "Duplicate backend configuration")
                            };
                            diagnostics.push(
                                Diagnostic::error(
                                    summary,
                                    format!("A module may hold one {what} block only."),
                                )
                                .at(header),
                            );
                        }
                        Some(b) => diagnostics.push(
                            Diagnostic::error(
                                "Both a backend and cloud configuration are present",
                                "State is kept in one place: a module may hold a backend block or a \
                                 cloud block, not both.",
                            )
                            .at(if &*b.kind == "cloud" { header } else { b.range }),
                        ),
                    }
                }
                "provider_meta" => self.provider_meta(inner, diagnostics),
                "state_store" => self.unserved.push(Unserved {
                    construct: "state_store",
                    range: header,
                }),
                "encryption" => {
                    labels(inner, [], diagnostics);
                    self.unserved.push(Unserved {
                        construct: "encryption",
                        range: header,
                    });
                    let body = as_native(&inner.body, diagnostics);
                    self.encryption.get_or_insert_with(|| Block {
                        body,
                        ..inner.clone()
                    });
                }
                _ => {}
            }
        }
    }
}
