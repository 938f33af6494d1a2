//! Static paths in arguments: `depends_on`, `provider`, `moved.from` and their kin.

use crate::references::{FoundReference, parse_reference};
use formwork_addresses::{LocalProviderConfig, is_identifier};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_syntax::{Body, Expression, Step, Traversal};
use std::sync::Arc;

/// A reference written as itself, to be obeyed and not evaluated.
pub type StaticReference = FoundReference;

/// Warns that a path stands in quotes, which was once required.
fn quoted(e: &Expression, diagnostics: &mut Diagnostics) {
    diagnostics.push(
        Diagnostic::warning(
            "Quoted references are deprecated",
            "A reference is written here without quotes. The quotes are still understood, but take \
             them off.",
        )
        .at(e.range()),
    );
}

/// An expression as a static path that was never written in quotes.
pub(crate) fn plain_static_path(
    e: &Expression,
    diagnostics: &mut Diagnostics,
) -> Option<Traversal> {
    let quoted = e.as_literal_string().is_some() && e.as_traversal().is_none();
    if !quoted {
        return static_path(e, diagnostics);
    }
    diagnostics.push(
        Diagnostic::error(
            "Invalid expression",
            "A plain path is wanted here: names joined by dots, without quotes.",
        )
        .at(e.range()),
    );
    None
}

/// An expression as a static path. Text in quotes is read as one too, with a warning.
pub(crate) fn static_path(e: &Expression, diagnostics: &mut Diagnostics) -> Option<Traversal> {
    if e.is_invalid() {
        return None;
    }
    if let Some(t) = e.as_traversal() {
        return Some(t);
    }
    if let Some(text) = e.as_literal_string()
        && let Some(t) = plain_path(text, e.range())
    {
        quoted(e, diagnostics);
        return Some(t);
    }
    diagnostics.push(not_a_path(e.range()));
    None
}

/// That something is no path of names.
pub(crate) fn not_a_path(range: SourceRange) -> Diagnostic {
    Diagnostic::error(
        "Invalid expression",
        "A plain path is wanted here: names joined by dots, and keys that are written out. Nothing \
         can be computed, since this must be known before anything is evaluated.",
    )
    .at(range)
}

/// Dotted names as a path. Ranges are those of the text within its quotes, which is exact as long
/// as it holds no escapes; names hold none.
fn plain_path(text: &str, range: SourceRange) -> Option<Traversal> {
    let mut parts = text.split('.');
    let root = parts.next().filter(|p| is_identifier(p))?;
    let mut at = range.start + 1;
    let length = |p: &str| u32::try_from(p.len()).unwrap_or(u32::MAX);
    let root_range = SourceRange::new(range.file, at, at.saturating_add(length(root)));
    at = root_range.end;
    let mut steps = Vec::new();
    for part in parts {
        if !is_identifier(part) {
            return None;
        }
        let end = at.saturating_add(length(part)).saturating_add(1);
        steps.push(Step::Attribute {
            name: Arc::from(part),
            range: SourceRange::new(range.file, at, end),
        });
        at = end;
    }
    Some(Traversal {
        root: Arc::from(root),
        root_range,
        steps: steps.into(),
    })
}

/// The items of a list that is written out.
pub(crate) fn static_list<'a>(
    e: &'a Expression,
    diagnostics: &mut Diagnostics,
) -> &'a [Expression] {
    match e.as_static_list() {
        Some(items) => items,
        None => {
            if !e.is_invalid() {
                diagnostics.push(
                    Diagnostic::error(
                        "Invalid expression",
                        "A list in brackets is wanted here, written out and not computed.",
                    )
                    .at(e.range()),
                );
            }
            &[]
        }
    }
}

/// The `depends_on` argument of a body.
pub(crate) fn depends_on(body: &Body, diagnostics: &mut Diagnostics) -> Vec<StaticReference> {
    let Some(a) = body.attribute("depends_on") else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for item in static_list(&a.expression, diagnostics) {
        let Some(path) = static_path(item, diagnostics) else {
            continue;
        };
        match parse_reference(&path) {
            Ok(found) => {
                if let (Some(first), Some(last)) =
                    (found.remaining().first(), found.remaining().last())
                {
                    diagnostics.push(
                        Diagnostic::error(
                            "Invalid depends_on reference",
                            format!(
                                "A dependency is on a whole object, not on an attribute of one. \
                                 Write {} alone.",
                                found.reference.subject
                            ),
                        )
                        .at(first.range().to(last.range())),
                    );
                }
                all.push(found);
            }
            Err(d) => diagnostics.push(*d),
        }
    }
    all
}

/// A provider configuration as written: `google` or `google.alias`, perhaps with a key.
#[derive(Clone, Debug)]
pub struct ProviderReference {
    /// Local name and alias.
    pub local: LocalProviderConfig,
    /// The key, for a provider block with for_each.
    pub key: Option<Expression>,
    /// All of it.
    pub range: SourceRange,
}

/// Reads a provider reference.
pub(crate) fn provider_reference(
    e: &Expression,
    diagnostics: &mut Diagnostics,
) -> Option<ProviderReference> {
    let e = e.static_form();
    let (path, key) = match e.kind() {
        formwork_syntax::ExpressionKind::Index {
            collection, key, ..
        } => (collection, Some(key.clone())),
        _ => (e, None),
    };
    let shaped = path.as_traversal().is_some() || path.as_literal_string().is_some();
    if !shaped && !path.is_invalid() {
        diagnostics.push(
            Diagnostic::error(
                "Invalid provider configuration reference",
                "A provider configuration is named by its local name and, where it has one, its alias, \
                 as in google or google.europe.",
            )
            .at(e.range()),
        );
        return None;
    }
    let path = static_path(path, diagnostics)?;
    let mut key = key;
    let alias = match &path.steps[..] {
        [] => None,
        [Step::Attribute { name, .. }] => Some(name.clone()),
        [Step::Attribute { name, .. }, Step::Index { key: k, range }] => {
            let kind = match k {
                formwork_syntax::IndexKey::String(s) => {
                    formwork_syntax::ExpressionKind::String(s.clone())
                }
                formwork_syntax::IndexKey::Number(n) => {
                    formwork_syntax::ExpressionKind::Number(n.clone())
                }
            };
            key = Some(Expression::new(kind, *range));
            Some(name.clone())
        }
        _ => {
            diagnostics.push(
                Diagnostic::error(
                    "Invalid provider configuration reference",
                    "A provider configuration is named by its local name and, where it has one, its \
                     alias, as in google or google.europe.",
                )
                .at(e.range()),
            );
            return None;
        }
    };
    Some(ProviderReference {
        local: LocalProviderConfig {
            name: path.root.clone(),
            alias,
        },
        key,
        range: e.range(),
    })
}
