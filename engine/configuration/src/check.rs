//! Conditions with messages: preconditions, postconditions, validations and assertions.

use crate::constant::text_argument;
use crate::references::expression_references;
use crate::resource::ResourceBlock;
use crate::shape::{Shape, labels, name_label};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_syntax::{Block, Expression};
use std::sync::Arc;

/// A condition that must hold, and what to say if it does not.
#[derive(Clone, Debug)]
pub struct CheckRule {
    /// Must come out true.
    pub condition: Expression,
    /// The message, evaluated only when needed.
    pub error_message: Expression,
    /// The header of the block.
    pub range: SourceRange,
}

/// A `check` block: assertions whose failure is a warning.
#[derive(Clone, Debug)]
pub struct CheckBlock {
    /// Its name.
    pub name: Arc<str>,
    /// The data source that only its assertions can refer to.
    pub data: Option<Arc<ResourceBlock>>,
    /// At least one.
    pub asserts: Vec<CheckRule>,
    /// The header of the block.
    pub range: SourceRange,
}

const RULE: Shape = Shape {
    attributes: &[("condition", true), ("error_message", true)],
    blocks: &[],
};

impl CheckRule {
    /// Reads a block with a condition and a message. A condition that refers to nothing outside
    /// itself can only ever hold or never, and is refused; with `allowed_self` naming what is meant
    /// by "outside".
    pub(crate) fn decode(block: &Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        let [] = labels(block, [], diagnostics)?;
        let body = RULE.read(&block.body, block.open_brace, diagnostics);
        let condition = body.attribute("condition")?.expression.clone();
        if !condition.is_invalid() {
            let (found, said) = expression_references(&condition);
            if found.is_empty() && !said.has_errors() {
                let kind = if &*block.block_type == "assert" {
                    "assert"
                } else {
                    &block.block_type
                };
                diagnostics.push(
                    Diagnostic::error(
                        format!("Invalid {kind} expression"),
                        "The condition refers to nothing else in the configuration, so it would \
                         always give the same answer. Refer to the value that shall be checked.",
                    )
                    .at(condition.range())
                    .within(block.header_range()),
                );
            }
        }
        let error_message = body.attribute("error_message")?.expression.clone();
        Some(Self {
            condition,
            error_message,
            range: block.header_range(),
        })
    }
}

impl CheckBlock {
    /// Reads a `check` block.
    pub(crate) fn decode(block: &Block, diagnostics: &mut Diagnostics) -> Option<Self> {
        const SHAPE: Shape = Shape {
            attributes: &[],
            blocks: &[("data", &["type", "name"]), ("assert", &[])],
        };
        let [name] = labels(block, ["name"], diagnostics)?;
        if !name_label(block, 0, "Invalid check block name", diagnostics) {
            return None;
        }
        let body = SHAPE.read(&block.body, block.open_brace, diagnostics);
        let mut data: Option<Arc<ResourceBlock>> = None;
        let mut asserts = Vec::new();
        for inner in body.blocks() {
            match &*inner.block_type {
                "data" if data.is_some() => diagnostics.push(
                    Diagnostic::error(
                        "Multiple data resource blocks",
                        "A check block may hold one data source only.",
                    )
                    .at(inner.header_range()),
                ),
                "data" => {
                    scoped(inner, diagnostics);
                    data = ResourceBlock::decode(inner, diagnostics).map(Arc::new);
                }
                "assert" => asserts.extend(CheckRule::decode(inner, diagnostics)),
                _ => {}
            }
        }
        if body.blocks_of("assert").next().is_none() {
            diagnostics.push(
                Diagnostic::error(
                    "Zero assert blocks",
                    "A check block without an assertion checks nothing. Add an assert block.",
                )
                .at(block.header_range()),
            );
        }
        Some(Self {
            name: name.clone(),
            data,
            asserts,
            range: block.header_range(),
        })
    }
}

/// A data source within a check is read once, whatever comes of it.
fn scoped(block: &Block, diagnostics: &mut Diagnostics) {
    const LOOK: Shape = Shape {
        attributes: &[("count", false), ("for_each", false)],
        blocks: &[("lifecycle", &[])],
    };
    let (own, _) = LOOK.split(&block.body, &mut Diagnostics::new());
    for a in own.attributes() {
        diagnostics.push(
            Diagnostic::error(
                format!("Invalid \"{}\" attribute", a.name),
                "The data source of a check block is read once. Leave the argument out.",
            )
            .at(a.name_range),
        );
    }
    for b in own.blocks() {
        diagnostics.push(
            Diagnostic::error(
                "Invalid lifecycle block",
                "The data source of a check block has no lifecycle settings: what must hold for it is \
                 said by the check's own assertions.",
            )
            .at(b.type_range),
        );
    }
}

/// A constant `description`, which is only kept for people.
pub(crate) fn description(
    body: &formwork_syntax::Body,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<str>> {
    text_argument(body, "description", diagnostics).map(|(t, _)| t)
}
