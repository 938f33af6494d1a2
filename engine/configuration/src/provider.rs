//! Provider configurations and requirements.

use crate::constant::text_argument;
use crate::depends_on::{provider_reference, static_list};
use crate::resource::with_escaped;
use crate::shape::{Shape, labels, name_label, suggest};
use crate::version::VersionConstraints;
use formwork_addresses::{LocalProviderConfig, ProviderAddr, is_identifier};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_syntax::{Block, Body, Expression, ObjectKey};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A `provider` block.
#[derive(Clone, Debug)]
pub struct ProviderConfig {
    /// Local name and alias.
    pub local: LocalProviderConfig,
    /// Version constraint of the old form.
    pub version: Option<VersionConstraints>,
    /// One configuration for each element of this.
    pub for_each: Option<Expression>,
    /// What the provider is given.
    pub body: Body,
    /// The header of the block.
    pub range: SourceRange,
    /// Where a missing argument is reported: the opening brace.
    pub open: SourceRange,
}

/// An entry of `required_providers`.
#[derive(Clone, Debug)]
pub struct ProviderRequirement {
    /// What it is called in this module.
    pub local_name: Arc<str>,
    /// Where it comes from; implied by the local name if not written.
    pub source: ProviderAddr,
    /// Which versions will do.
    pub version: Option<VersionConstraints>,
    /// Configurations that a caller must hand in.
    pub configuration_aliases: Vec<LocalProviderConfig>,
    /// Source and version, where they are computed: what they come to stands in the module at each
    /// path.
    pub(crate) computed: ComputedRequirement,
    /// The entry.
    pub range: SourceRange,
}

/// What of a requirement is computed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComputedRequirement {
    /// All of it, in place of the object.
    pub whole: Option<Expression>,
    pub source: Option<Expression>,
    pub version: Option<Expression>,
}

impl ComputedRequirement {
    pub fn is_nothing(&self) -> bool {
        self.whole.is_none() && self.source.is_none() && self.version.is_none()
    }
}

impl ProviderConfig {
    pub(crate) fn decode(block: &Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        let [name] = labels(block, ["name"], diagnostics)?;
        if is_identifier(name) && !provider_word(name) || &**name == "-" {
            diagnostics.push(invalid_local_name(name, block.header_range()));
            return None;
        }
        if !name_label(block, 0, "Invalid provider name", diagnostics) {
            return None;
        }
        const SHAPE: Shape = Shape {
            attributes: &[
                ("alias", false),
                ("version", false),
                ("for_each", false),
                ("count", false),
                ("depends_on", false),
                ("source", false),
            ],
            blocks: &[("_", &[]), ("lifecycle", &[]), ("locals", &[])],
        };
        let (own, mut rest) = SHAPE.read_partial(&block.body, block.open_brace, diagnostics);
        let body = &own;
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
        let version = text_argument(body, "version", diagnostics).and_then(|(given, a)| {
            diagnostics.push(
                Diagnostic::warning(
                    "Version constraints inside provider configuration blocks are deprecated",
                    "Which versions of a provider will do is said in required_providers, within the \
                     terraform block. Move the constraint there.",
                )
                .at(a.expression.range()),
            );
            constraints(&given, a.expression.range(), diagnostics)
        });
        let for_each = body.attribute("for_each").map(|a| a.expression.clone());
        if let (Some(e), None) = (&for_each, body.attribute("alias")) {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid provider configuration",
                    "A provider block with for_each makes several configurations, so it cannot be \
                     the default one, which a resource has without asking. Give it an alias.",
                )
                .at(e.range()),
            );
        }
        for a in body.attributes() {
            if matches!(&*a.name, "count" | "depends_on" | "source") {
                diagnostics.push(
                    Diagnostic::error(
                        "Reserved argument name in provider block",
                        format!("\"{}\" has no meaning in a provider block.", a.name),
                    )
                    .at(a.name_range),
                );
            }
        }
        let mut escaped = false;
        for inner in body.blocks() {
            match &*inner.block_type {
                "_" if std::mem::replace(&mut escaped, true) => diagnostics.push(
                    Diagnostic::error(
                        "Duplicate escaping block",
                        "A provider block may hold one escaping block only.",
                    )
                    .at(inner.type_range),
                ),
                "_" => rest = with_escaped(&rest, inner, diagnostics),
                reserved => diagnostics.push(
                    Diagnostic::error(
                        "Reserved block type name in provider block",
                        format!("\"{reserved}\" has no meaning in a provider block."),
                    )
                    .at(inner.type_range),
                ),
            }
        }
        Some(Self {
            local: LocalProviderConfig {
                name: name.clone(),
                alias,
            },
            version,
            for_each,
            body: rest,
            range: block.header_range(),
            open: block.open_brace,
        })
    }
}

/// Whether a word can be the type of a provider: small letters, digits and single dashes within.
pub(crate) fn provider_word(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() && !c.is_uppercase() || c == '-';
    !word.is_empty()
        && word.chars().all(plain)
        && !word.starts_with('-')
        && !word.ends_with('-')
        && !word.contains("--")
}

/// The error for a local name that can be no provider's.
fn invalid_local_name(name: &str, range: SourceRange) -> Diagnostic {
    Diagnostic::error(
        "Invalid provider local name",
        format!(
            "{name:?} cannot be the name of a provider: such names are of small letters, digits and \
             dashes, and begin and end without a dash."
        ),
    )
    .at(range)
}

/// Reads constraints, or says what is wrong with them.
pub(crate) fn constraints(
    given: &str,
    range: SourceRange,
    diagnostics: &mut Diagnostics,
) -> Option<VersionConstraints> {
    match VersionConstraints::parse(given) {
        Ok(c) => Some(c),
        Err(why) => {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid version constraint",
                    format!(
                        "This cannot be read as a version constraint: {why}. A constraint is one or \
                         more comparisons joined by commas, such as \">= 1.3, < 2.0\" or \"~> 5.1\"."
                    ),
                )
                .at(range),
            );
            None
        }
    }
}

/// Reads a `required_providers` block.
pub(crate) fn requirements(
    block: &Block,
    diagnostics: &mut Diagnostics,
) -> BTreeMap<Arc<str>, ProviderRequirement> {
    let mut all: BTreeMap<Arc<str>, ProviderRequirement> = BTreeMap::new();
    labels(block, [], diagnostics);
    for a in diagnostics.take(block.body.just_attributes()) {
        let mut requirement = ProviderRequirement {
            local_name: a.name.clone(),
            source: ProviderAddr::implied(&a.name),
            version: None,
            configuration_aliases: Vec::new(),
            computed: ComputedRequirement::default(),
            range: a.range,
        };
        if !provider_word(&a.name) {
            diagnostics.push(invalid_local_name(&a.name, a.range));
            continue;
        }
        let (object, old_form) = (
            a.expression.as_static_map(),
            a.expression.as_literal_string(),
        );
        match (object, old_form) {
            (Some(items), _) => {
                for item in items {
                    entry(&mut requirement, &item.key, &item.value, diagnostics);
                }
            }
            // The old form: the constraint alone.
            (None, Some(given)) => {
                requirement.version = constraints(given, a.expression.range(), diagnostics);
            }
            (None, None) if a.expression.is_invalid() => {}
            (None, None) if a.expression.is_computed() => {
                requirement.computed.whole = Some(a.expression.clone());
            }
            (None, None) => diagnostics.push(
                Diagnostic::error(
                    "Invalid required_providers object",
                    "A required provider is described by an object with a source and a version, as \
                     in { source = \"hashicorp/google\", version = \"~> 7.0\" }.",
                )
                .at(a.expression.range()),
            ),
        }
        if requirement.computed.is_nothing() {
            diagnostics.extend(twin(&all, &requirement));
        }
        all.insert(a.name.clone(), requirement);
    }
    all
}

/// The warning for a provider that is required under another name too.
pub(crate) fn twin(
    others: &BTreeMap<Arc<str>, ProviderRequirement>,
    requirement: &ProviderRequirement,
) -> Option<Diagnostic> {
    let twin = others.values().find(|r| {
        r.source == requirement.source
            && r.local_name != requirement.local_name
            && r.computed.is_nothing()
    })?;
    Some(
        Diagnostic::warning(
            "Duplicate required provider",
            format!(
                "{} is already required under the name \"{}\". Under two names its configurations \
                 are kept apart, which is rarely meant.",
                requirement.source.for_display(),
                twin.local_name
            ),
        )
        .at(requirement.range),
    )
}

impl ProviderRequirement {
    /// Takes what `source` has come to.
    pub(crate) fn settle_source(
        &mut self,
        given: &str,
        range: SourceRange,
        diagnostics: &mut Diagnostics,
    ) {
        match given.parse::<ProviderAddr>() {
            Ok(source) if source.kind.starts_with("terraform-provider-") => diagnostics.push(
                Diagnostic::error(
                    "Invalid provider type",
                    format!(
                        "\"{given}\" is the name of a repository. The provider's own name is what \
                         follows: \"{}\".",
                        given.replacen("terraform-provider-", "", 1)
                    ),
                )
                .at(range),
            ),
            Ok(source) => self.source = source,
            Err(why) => {
                let why: formwork_addresses::ParseError = why;
                let summary = match &why.reason {
                    _ if given.is_empty() => "Invalid provider source string",
                    r if r.contains("its type") => "Invalid provider type",
                    r if r.contains("its namespace") => "Invalid provider namespace",
                    r if r.contains("host") => "Invalid provider source hostname",
                    _ => "Invalid provider source string",
                };
                diagnostics.push(
                    Diagnostic::error(summary, format!("This is no provider source: {why}."))
                        .at(range),
                );
            }
        }
    }
}

fn entry(
    requirement: &mut ProviderRequirement,
    key: &ObjectKey,
    value: &Expression,
    diagnostics: &mut Diagnostics,
) {
    let known = ["source", "version", "configuration_aliases"];
    match key.as_literal().map(|k| &**k) {
        Some("source") => {
            if value.is_computed() {
                requirement.computed.source = Some(value.clone());
            } else if let Some(given) = value.as_literal_string() {
                requirement.settle_source(given, value.range(), diagnostics);
            } else if !value.is_invalid() {
                diagnostics.push(
                    Diagnostic::error(
                        "Invalid source",
                        "The source of a provider is a text, such as \"hashicorp/google\".",
                    )
                    .at(value.range()),
                );
            }
        }
        Some("version") => {
            if value.is_computed() {
                requirement.computed.version = Some(value.clone());
            } else if let Some(given) = value.as_literal_string() {
                requirement.version = constraints(given, value.range(), diagnostics);
            } else if !value.is_invalid() {
                diagnostics.push(
                    Diagnostic::error(
                        "Invalid version constraint",
                        "The version of a provider is a text, such as \"~> 7.0\".",
                    )
                    .at(value.range()),
                );
            }
        }
        Some("configuration_aliases") => {
            for item in static_list(value, diagnostics) {
                if item.as_traversal().is_none() && !item.is_invalid() {
                    diagnostics.push(
                        Diagnostic::error(
                            "Invalid expression",
                            "A provider configuration is named here, without quotes: the local name, a \
                             dot and the alias.",
                        )
                        .at(item.range()),
                    );
                    continue;
                }
                let Some(alias) = provider_reference(item, diagnostics) else {
                    continue;
                };
                if alias.local.name == requirement.local_name {
                    requirement.configuration_aliases.push(alias.local);
                } else {
                    diagnostics.push(
                        Diagnostic::error(
                            "Invalid configuration_aliases value",
                            format!(
                                "\"{}\" does not belong to the required provider \"{}\": an alias is \
                                 written as {}.ALIAS here.",
                                alias.local, requirement.local_name, requirement.local_name
                            ),
                        )
                        .at(alias.range),
                    );
                }
            }
        }
        other => {
            let name = other.unwrap_or("this key");
            let d = Diagnostic::error(
                "Invalid required_providers object",
                format!(
                    "A required provider is described by {}; {name} is none of them.",
                    known.join(", ")
                ),
            )
            .at(key.range());
            diagnostics.push(suggest(d, name, known));
        }
    }
}
