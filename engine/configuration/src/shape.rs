//! Reading bodies whose arguments and blocks are fixed: what is unknown, missing or misnamed.
//!
//! Every block of the language itself is read through here, so that the same mistake has the same
//! words and range everywhere. Bodies that a provider defines are read by `evaluation`.

use formwork_addresses::is_identifier;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange, nearest};
use formwork_syntax::{Attribute, AttributeSchema, Block, BlockSchema, Body, BodySchema, Content};
use std::sync::Arc;

/// What may stand in a body.
pub(crate) struct Shape {
    /// Names of arguments, and whether each must be there.
    pub attributes: &'static [(&'static str, bool)],
    /// Types of nested blocks, and what their labels are called.
    pub blocks: &'static [(&'static str, &'static [&'static str])],
}

impl Shape {
    /// The body as arguments and blocks, whichever syntax it was written in; says what does not
    /// belong in it and what is missing. `open` is where the body begins, which is where a missing
    /// argument is reported.
    pub(crate) fn read(
        &self,
        body: &Body,
        open: SourceRange,
        diagnostics: &mut Diagnostics,
    ) -> Body {
        if !body.is_json() {
            self.check(body, open, diagnostics);
            return body.clone();
        }
        let content = self.with_schema(|s| body.content(s));
        let (content, said) = content;
        diagnostics.append(said);
        self.missing(|n| content.attribute(n).is_some(), open, diagnostics);
        native(body, content)
    }

    /// The part of a body that belongs to the shape, and the rest, which is for another reader.
    pub(crate) fn read_partial(
        &self,
        body: &Body,
        open: SourceRange,
        diagnostics: &mut Diagnostics,
    ) -> (Body, Body) {
        if body.is_json() {
            let ((content, rest), said) = self.with_schema(|s| body.partial_content(s));
            diagnostics.append(said);
            self.missing(|n| content.attribute(n).is_some(), open, diagnostics);
            return (native(body, content), rest);
        }
        self.missing(|n| body.attribute(n).is_some(), open, diagnostics);
        let (own_attributes, attributes) = body
            .attributes()
            .iter()
            .cloned()
            .partition(|a| self.has_attribute(&a.name));
        let (own_blocks, blocks) = body
            .blocks()
            .iter()
            .cloned()
            .partition(|b| self.has_block(&b.block_type));
        let part = |a, b| Body::new(a, b, body.range(), body.missing_item_range());
        (part(own_attributes, own_blocks), part(attributes, blocks))
    }

    /// The part of a body that belongs to the shape, natively, and the rest; nothing is missed.
    pub(crate) fn split(&self, body: &Body, diagnostics: &mut Diagnostics) -> (Body, Body) {
        let ((content, rest), said) = self.with_schema(|s| body.partial_content(s));
        diagnostics.append(said);
        (native(body, content), rest)
    }

    fn with_schema<R>(&self, f: impl FnOnce(&BodySchema<'_>) -> R) -> R {
        let attributes: Vec<_> = self
            .attributes
            .iter()
            .map(|(n, _)| AttributeSchema::optional(n))
            .collect();
        let blocks: Vec<_> = self
            .blocks
            .iter()
            .map(|(t, labels)| BlockSchema::new(t, labels))
            .collect();
        f(&BodySchema {
            attributes: &attributes,
            blocks: &blocks,
        })
    }

    fn has_attribute(&self, name: &str) -> bool {
        self.attributes.iter().any(|(n, _)| *n == name)
    }

    fn has_block(&self, block_type: &str) -> bool {
        self.blocks.iter().any(|(t, _)| *t == block_type)
    }

    fn missing(
        &self,
        has: impl Fn(&str) -> bool,
        open: SourceRange,
        diagnostics: &mut Diagnostics,
    ) {
        for (name, required) in self.attributes {
            if *required && !has(name) {
                diagnostics.push(missing_argument(name, open));
            }
        }
    }

    fn check(&self, body: &Body, open: SourceRange, diagnostics: &mut Diagnostics) {
        for a in body.attributes() {
            if !self.has_attribute(&a.name) {
                diagnostics.push(self.unknown_attribute(a));
            }
        }
        for b in body.blocks() {
            if !self.has_block(&b.block_type) {
                diagnostics.push(self.unknown_block(b));
            }
        }
        self.missing(|n| body.attribute(n).is_some(), open, diagnostics);
    }

    fn unknown_attribute(&self, a: &Attribute) -> Diagnostic {
        if self.has_block(&a.name) {
            return Diagnostic::error(
                "Unsupported argument",
                format!(
                    "\"{}\" is a block here, not an argument: leave out the equals sign.",
                    a.name
                ),
            )
            .at(a.name_range);
        }
        unsupported_argument(a, self.attributes.iter().map(|(n, _)| *n))
    }

    fn unknown_block(&self, b: &Block) -> Diagnostic {
        if self.has_attribute(&b.block_type) {
            return Diagnostic::error(
                "Unsupported block type",
                format!(
                    "\"{}\" is an argument here, not a block: put an equals sign after it.",
                    b.block_type
                ),
            )
            .at(b.type_range);
        }
        unsupported_block(b, self.blocks.iter().map(|(t, _)| *t))
    }
}

/// What was read of a JSON body, as if it had been written in the native syntax.
fn native(body: &Body, content: Content) -> Body {
    Body::new(
        content.attributes,
        content.blocks,
        body.range(),
        body.missing_item_range(),
    )
}

/// The argument is not expected; the nearest that is gets named.
pub(crate) fn unsupported_argument<'a>(
    a: &Attribute,
    known: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let d = Diagnostic::error(
        "Unsupported argument",
        format!("No argument named \"{}\" is expected here.", a.name),
    )
    .at(a.name_range);
    suggest(d, &a.name, known)
}

/// The block is not expected; the nearest that is gets named.
pub(crate) fn unsupported_block<'a>(
    b: &Block,
    known: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let d = Diagnostic::error(
        "Unsupported block type",
        format!("No block of type \"{}\" is expected here.", b.block_type),
    )
    .at(b.type_range);
    suggest(d, &b.block_type, known)
}

/// A required argument is not there.
pub(crate) fn missing_argument(name: &str, open: SourceRange) -> Diagnostic {
    Diagnostic::error(
        "Missing required argument",
        format!("The argument \"{name}\" must be set here, and is not."),
    )
    .at(open)
}

/// With the nearest of the known names as advice.
pub(crate) fn suggest<'a>(
    d: Diagnostic,
    given: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    match nearest(given, known) {
        Some(name) => d.hint(format!("Did you mean \"{name}\"?")),
        None => d,
    }
}

/// The article with which a sentence about such a block begins.
fn article(kind: &str) -> &'static str {
    if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "An"
    } else {
        "A"
    }
}

/// The labels of a block, if they are as many as they have names; says so if not.
pub(crate) fn labels<'a, const N: usize>(
    block: &'a Block,
    names: [&str; N],
    diagnostics: &mut Diagnostics,
) -> Option<[&'a Arc<str>; N]> {
    let kind = &block.block_type;
    let a = article(kind);
    if let Some(extra) = block.labels.get(N) {
        let detail = if N == 0 {
            format!("{a} {kind} block takes no label.")
        } else {
            format!(
                "{a} {kind} block takes {N} label{} only: {}.",
                if N == 1 { "" } else { "s" },
                names.join(" and ")
            )
        };
        diagnostics.push(
            Diagnostic::error(format!("Extraneous label for {kind}"), detail)
                .at(extra.range)
                .within(block.header_range()),
        );
        return None;
    }
    if let Some(missing) = names.get(block.labels.len()) {
        diagnostics.push(
            Diagnostic::error(
                format!("Missing {missing} for {kind}"),
                format!(
                    "{a} {kind} block takes {N} label{}: {}.",
                    if N == 1 { "" } else { "s" },
                    names.join(" and ")
                ),
            )
            .at(block.open_brace)
            .within(block.header_range()),
        );
        return None;
    }
    let mut found = block.labels.iter().map(|l| &l.value);
    let mut out = [found.next(); N];
    for slot in out.iter_mut().skip(1) {
        *slot = found.next();
    }
    let mut whole = Vec::with_capacity(N);
    for slot in out {
        whole.push(slot?);
    }
    whole.try_into().ok()
}

/// Whether label `index` is a valid name; says so if not, with `summary`.
pub(crate) fn name_label(
    block: &Block,
    index: usize,
    summary: &str,
    diagnostics: &mut Diagnostics,
) -> bool {
    let Some(label) = block.labels.get(index) else {
        return false;
    };
    if is_identifier(&label.value) {
        return true;
    }
    diagnostics.push(invalid_name(summary, &label.value, label.range));
    false
}

/// A name that cannot be one.
pub(crate) fn invalid_name(summary: &str, name: &str, range: SourceRange) -> Diagnostic {
    Diagnostic::error(
        summary,
        format!(
            "{name:?} cannot be a name. A name begins with a letter or an underscore and holds \
             letters, digits, underscores and dashes only."
        ),
    )
    .at(range)
}
