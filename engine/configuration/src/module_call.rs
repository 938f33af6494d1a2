//! `module` blocks, and where modules come from.

use crate::constant::text_argument;
use crate::depends_on::{ProviderReference, StaticReference, depends_on, provider_reference};
use crate::provider::constraints;
use crate::resource::{Repetition, with_escaped};
use crate::shape::{Shape, labels, name_label};
use crate::version::VersionConstraints;
use formwork_addresses::LocalProviderConfig;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_syntax::{Attribute, Block, Expression, ExpressionKind, ObjectKey};
use std::fmt;
use std::sync::Arc;

/// A `module` block.
#[derive(Clone, Debug)]
pub struct ModuleCall {
    /// Its name.
    pub name: Arc<str>,
    /// Where the module comes from.
    pub source: ModuleSource,
    /// The `source` argument's value.
    pub source_range: SourceRange,
    /// Which versions will do, of a registry module.
    pub version: Option<VersionConstraints>,
    /// Source and version, where one of them is computed. What they come to is another for each path
    /// that the block stands at, and stands in the module at that path.
    pub(crate) computed: Option<ComputedSource>,
    /// How often it exists.
    pub repetition: Repetition,
    /// What must be done first, beyond what the arguments refer to.
    pub depends_on: Vec<StaticReference>,
    /// Provider configurations handed in; `None` if the module takes its caller's default ones.
    pub providers: Option<Vec<PassedProvider>>,
    /// Values of the module's variables.
    pub arguments: Vec<Attribute>,
    /// The header of the block.
    pub range: SourceRange,
    /// Where a missing argument is reported: the opening brace.
    pub open: SourceRange,
}

/// `source` and `version` as expressions.
#[derive(Clone, Debug)]
pub(crate) struct ComputedSource {
    pub source: Expression,
    pub version: Option<Expression>,
}

/// An argument's value and the text it is in.
pub(crate) type TextAt = (Arc<str>, SourceRange);

/// An entry of the `providers` argument.
#[derive(Clone, Debug)]
pub struct PassedProvider {
    /// What the configuration is called in the module.
    pub child: LocalProviderConfig,
    /// Where that was written.
    pub child_range: SourceRange,
    /// What it is called in the caller.
    pub parent: ProviderReference,
}

/// Where a module comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleSource {
    /// A directory relative to the caller's: `./m`, `../m`.
    Local(Arc<str>),
    /// A registry.
    Registry {
        /// Host; the default one if not written.
        host: Arc<str>,
        /// Namespace.
        namespace: Arc<str>,
        /// Name.
        name: Arc<str>,
        /// Target system.
        system: Arc<str>,
        /// Directory within the package.
        subdirectory: Option<Arc<str>>,
    },
    /// Anything that must be fetched some other way: git, archives, buckets; as written.
    Remote(Arc<str>),
}

impl ModuleSource {
    /// What stands where there is none, or none that can be read.
    pub(crate) fn none() -> Self {
        Self::Remote(Arc::from(""))
    }

    /// Whether there is none, which has been said.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::Remote(text) if text.is_empty())
    }

    /// Reads a source.
    ///
    /// # Errors
    /// Why it can be none.
    pub fn parse(text: &str) -> Result<Self, String> {
        if matches!(text, "." | "..") || text.starts_with("./") || text.starts_with("../") {
            return Ok(Self::Local(Arc::from(text)));
        }
        if text.starts_with(".\\") || text.starts_with("..\\") {
            return Ok(Self::Local(Arc::from(text.replace('\\', "/"))));
        }
        if text.is_empty() {
            return Err("a source cannot be empty".to_owned());
        }
        let (address, subdirectory) = match text.split_once("//") {
            Some((a, s)) if !a.ends_with(':') => (a, Some(Arc::from(s))),
            _ => (text, None),
        };
        let parts: Vec<&str> = address.split('/').collect();
        let alphanumeric = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let plain = |p: &&str| {
            p.chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
                && alphanumeric(p.chars().next())
                && alphanumeric(p.chars().next_back())
        };
        let system = |p: &str| {
            !p.is_empty()
                && p.chars()
                    .all(|c| c.is_ascii_digit() || c.is_ascii_lowercase())
        };
        // A name with a dot, or one of this machine with a port.
        let host_like = |h: &str| {
            let name = h.split(':').next().unwrap_or_default();
            let is_local = name == "localhost" && name != h;
            (name.contains('.') || is_local) && !h.contains("::") && !h.contains('@')
        };
        // These hosts have shorthands of their own that mean git repositories.
        let shorthand = |h: &str| matches!(h, "github.com" | "bitbucket.org");
        let registry = |host: &str, n: &str, name: &str, s: &str| Self::Registry {
            host: Arc::from(host.to_lowercase()),
            namespace: Arc::from(n),
            name: Arc::from(name),
            system: Arc::from(s),
            subdirectory: subdirectory.clone(),
        };
        match &parts[..] {
            [n, name, s] if plain(n) && plain(name) && system(s) => {
                Ok(registry(formwork_addresses::DEFAULT_HOST, n, name, s))
            }
            [host, n, name, s]
                if host_like(host) && !shorthand(host) && plain(n) && plain(name) && system(s) =>
            {
                Ok(registry(host, n, name, s))
            }
            _ if text.contains("::")
                || text.contains("://")
                || text.contains('@')
                || text.starts_with('/')
                || parts.len() > 1 && host_like(parts.first().unwrap_or(&"")) =>
            {
                Ok(Self::Remote(Arc::from(text)))
            }
            _ => Err(
                "it is neither a path, which begins with ./ or ../, nor a registry address, nor a \
                 URL"
                .to_owned(),
            ),
        }
    }
}

impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(t) | Self::Remote(t) => f.write_str(t),
            Self::Registry {
                host,
                namespace,
                name,
                system,
                subdirectory,
            } => {
                write!(f, "{host}/{namespace}/{name}/{system}")?;
                subdirectory.as_ref().map_or(Ok(()), |s| write!(f, "//{s}"))
            }
        }
    }
}

/// What of a module block is not a variable of the module.
pub(crate) const META: Shape = Shape {
    attributes: &[
        ("source", true),
        ("version", false),
        ("count", false),
        ("for_each", false),
        ("depends_on", false),
        ("providers", false),
    ],
    blocks: &[
        ("lifecycle", &[]),
        ("locals", &[]),
        ("provider", &[]),
        ("_", &[]),
    ],
};

/// What a module block's `lifecycle` may hold.
const LIFECYCLE: Shape = Shape {
    attributes: &[("enabled", false)],
    blocks: &[],
};

impl ModuleCall {
    /// The value given for a variable of the module.
    pub fn argument(&self, name: &str) -> Option<&Attribute> {
        self.arguments.iter().find(|a| &*a.name == name)
    }

    pub(crate) fn decode(block: &Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        let [name] = labels(block, ["name"], diagnostics)?;
        if !name_label(block, 0, "Invalid module instance name", diagnostics) {
            return None;
        }
        let (own, mut rest) = META.read_partial(&block.body, block.open_brace, diagnostics);
        let body = &own;
        let mut escaped = false;
        let mut enabled: Option<Attribute> = None;
        let mut lifecycle_seen = false;
        let unknown = rest.blocks().to_vec();
        for inner in own.blocks().iter().chain(&unknown) {
            let kind = &inner.block_type;
            if &**kind == "lifecycle" {
                if std::mem::replace(&mut lifecycle_seen, true) {
                    diagnostics.push(
                        Diagnostic::error(
                            "Duplicate lifecycle block",
                            "A module block may hold one lifecycle block only.",
                        )
                        .at(inner.header_range()),
                    );
                    continue;
                }
                labels(inner, [], diagnostics);
                let inner = LIFECYCLE.read(&inner.body, inner.open_brace, diagnostics);
                enabled = inner.attribute("enabled").cloned();
                continue;
            }
            if &**kind == "_" && !std::mem::replace(&mut escaped, true) {
                labels(inner, [], diagnostics);
                rest = with_escaped(&rest, inner, diagnostics);
                continue;
            }
            let d = if &**kind == "_" {
                Diagnostic::error(
                    "Duplicate escaping block",
                    "A module block may hold one escaping block only.",
                )
            } else if matches!(&**kind, "locals" | "provider") {
                Diagnostic::error(
                    "Reserved block type name in module block",
                    format!("A \"{kind}\" block has no meaning in a module block."),
                )
            } else {
                Diagnostic::error(
                    "Unsupported block type",
                    format!(
                        "A module block holds arguments only. If \"{kind}\" is a variable of the \
                         module, write an equals sign before the brace."
                    ),
                )
            };
            diagnostics.push(d.at(inner.type_range));
        }
        let expression = |name: &str| body.attribute(name).map(|a| a.expression.clone());
        let (source, version) = (expression("source"), expression("version"));
        let is_computed = [&source, &version]
            .into_iter()
            .flatten()
            .any(Expression::is_computed);
        let computed = source
            .as_ref()
            .filter(|_| is_computed)
            .map(|source| ComputedSource {
                source: source.clone(),
                version: version.clone(),
            });
        let providers = body
            .attribute("providers")
            .map(|a| passed_providers(&a.expression, diagnostics));
        let mut repetition = Repetition::decode(body, diagnostics);
        if let Some(enabled) = &enabled {
            repetition = repetition.with_enabled(enabled, diagnostics);
        }
        let mut call = Self {
            name: name.clone(),
            // Kept without a source too, so that references to it are not reported as well.
            source: ModuleSource::none(),
            source_range: source.as_ref().map_or(block.open_brace, Expression::range),
            version: None,
            computed,
            repetition,
            depends_on: depends_on(body, diagnostics),
            providers,
            arguments: if rest.is_json() {
                diagnostics.take(rest.just_attributes())
            } else {
                rest.attributes().to_vec()
            },
            range: block.header_range(),
            open: block.open_brace,
        };
        if call.computed.is_none() {
            // No version is any version.
            let any = version.is_some_and(|e| matches!(e.kind(), ExpressionKind::Null));
            let mut at = |name| {
                text_argument(body, name, diagnostics).map(|(t, a)| (t, a.expression.range()))
            };
            let source = at("source");
            let version = if any { None } else { at("version") };
            call.settle(source, version, diagnostics);
        }
        Some(call)
    }

    /// Takes what source and version have come to.
    pub(crate) fn settle(
        &mut self,
        source: Option<TextAt>,
        version: Option<TextAt>,
        diagnostics: &mut Diagnostics,
    ) {
        if let Some((given, range)) = source {
            let parsed = ModuleSource::parse(&given);
            match &parsed {
                Err(why) => {
                    let d = Diagnostic::error(
                        "Invalid module source address",
                        format!("\"{given}\" is no module source: {why}."),
                    )
                    .at(range);
                    diagnostics.push(if given.is_empty() {
                        d
                    } else {
                        d.hint(format!(
                            "For a directory beside this file, write \"./{given}\"."
                        ))
                    });
                }
                Ok(ModuleSource::Registry { .. }) => {}
                Ok(_) if version.is_some() => diagnostics.push(
                    Diagnostic::error(
                        "Invalid registry module source address",
                        format!(
                            "A version can be asked of a registry only, and \"{given}\" is no \
                             registry address. Remove \"version\", or name the version in the source \
                             itself."
                        ),
                    )
                    .at(range),
                ),
                Ok(_) => {}
            }
            self.source = parsed.unwrap_or_else(|_| ModuleSource::none());
        }
        self.version = version.and_then(|(given, range)| constraints(&given, range, diagnostics));
    }
}

pub(crate) fn passed_providers(
    e: &Expression,
    diagnostics: &mut Diagnostics,
) -> Vec<PassedProvider> {
    let Some(items) = e.as_static_map() else {
        if !e.is_invalid() {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid expression",
                    "An object is wanted here, written out: the module's names of provider \
                     configurations, each with the one it stands for.",
                )
                .at(e.range()),
            );
        }
        return Vec::new();
    };
    let mut all: Vec<PassedProvider> = Vec::new();
    for item in items {
        let key = match &item.key {
            ObjectKey::Name { name, range } => {
                Some((LocalProviderConfig::default_of(name), *range))
            }
            ObjectKey::Expression(k) => {
                // A literal text is one name, a path is a name and an alias.
                let k = match k.kind() {
                    ExpressionKind::TemplateWrap(inner) => inner,
                    _ => k,
                };
                provider_reference(k, diagnostics).map(|p| (p.local, p.range))
            }
        };
        let Some((child, child_range)) = key else {
            continue;
        };
        let Some(parent) = provider_reference(&item.value, diagnostics) else {
            continue;
        };
        if all.iter().any(|p| p.child == child) {
            diagnostics.push(
                Diagnostic::error(
                    "Duplicate provider address",
                    format!("\"{child}\" is given twice; each may be given once."),
                )
                .at(child_range),
            );
            continue;
        }
        all.push(PassedProvider {
            child,
            child_range,
            parent,
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::ModuleSource;

    #[track_caller]
    fn check(text: &str, kind: &str) {
        let found = match ModuleSource::parse(text) {
            Ok(ModuleSource::Local(path)) => format!("local {path}"),
            Ok(ModuleSource::Remote(_)) => "remote".to_owned(),
            Ok(registry) => format!("registry {registry}"),
            Err(_) => "none".to_owned(),
        };
        assert_eq!(found, kind, "{text}");
    }

    #[test]
    fn kinds_of_sources() {
        // each as terraform 1.11.4 takes it, but for localhost with a port, which it takes for a scheme
        check("a_b/c-d/e1", "registry registry.terraform.io/a_b/c-d/e1");
        check("a/b/1", "registry registry.terraform.io/a/b/1");
        check("a/b/c//x", "registry registry.terraform.io/a/b/c//x");
        check("EXAMPLE.com/A/b/c", "registry example.com/A/b/c");
        check("example.com:8080/a/b/c", "registry example.com:8080/a/b/c");
        check("127.0.0.1:80/a/b/c", "registry 127.0.0.1:80/a/b/c");
        check("localhost:80/a/b/c", "registry localhost:80/a/b/c");
        check("gitlab.com/a/b/c", "registry gitlab.com/a/b/c");
        for text in [
            "github.com/a/b/c",
            "bitbucket.org/a/b/c",
            "git::a/b/c",
            "http://x",
            "git@github.com:a/b",
            "/abs",
        ] {
            check(text, "remote");
        }
        check("./m?x=1", "local ./m?x=1");
        check(".\\m\\n", "local ./m/n");
        check("..", "local ..");
        for text in [
            "",
            "a-/b/c",
            "-a/b/c",
            "a/b_/c",
            "a/b/C",
            "a/b/c-d",
            "example/a/b/c",
            "localhost/a/b/c",
            "a/b/c/d",
            "~/m",
            "modules/x",
            "a/b",
            "x",
            "a/b/c?x=1",
        ] {
            check(text, "none");
        }
    }
}
