//! Two bodies read as one.
//!
//! What a JSON body holds is known only to who reads it, so such bodies cannot be put together
//! beforehand: both are read, and what they hold is put together then.

use crate::body::{Attribute, Block, Body};
use crate::content::{AttributeSchema, BodySchema, Content, Index};
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics};

/// How two bodies make one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// What stands in the second takes the place of what stands in the first.
    Override,
    /// Everything of both; what is in both is an error.
    Union,
}

/// Two bodies, one of which at least is JSON.
pub(crate) struct Layers {
    first: Body,
    second: Body,
    how: How,
}

/// What a block makes: its type, or that of a dynamic block's label.
fn makes(block: &Block) -> &str {
    match &*block.block_type {
        "dynamic" => block.label(0).map_or("dynamic", |l| l),
        other => other,
    }
}

impl Layers {
    /// A body in which arguments of `over` take the place of those of its names in `base`, and blocks
    /// the place of all blocks of their type.
    pub fn overridden(base: Body, over: Body) -> Self {
        let (first, second, how) = (base, over, How::Override);
        Self { first, second, how }
    }

    /// A body of everything that stands in either.
    pub fn union(first: Body, second: Body) -> Self {
        let how = How::Union;
        Self { first, second, how }
    }

    /// The one that says where the body is.
    pub fn first(&self) -> &Body {
        &self.first
    }

    /// The other.
    pub fn second(&self) -> &Body {
        &self.second
    }

    fn attributes(
        &self,
        mut first: Vec<Attribute>,
        second: Vec<Attribute>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Attribute> {
        for a in second {
            match first.iter_mut().find(|b| b.name == a.name) {
                None => first.push(a),
                Some(b) if self.how == How::Override => *b = a,
                Some(_) => diagnostics.push(
                    Diagnostic::error(
                        "Duplicate argument",
                        format!(
                            "The argument \"{}\" is set twice; each may be set once.",
                            a.name
                        ),
                    )
                    .at(a.name_range),
                ),
            }
        }
        first
    }

    fn combined(&self, first: Content, second: Content, diagnostics: &mut Diagnostics) -> Content {
        let mut blocks = first.blocks;
        if self.how == How::Override {
            blocks.retain(|b| !second.blocks.iter().any(|o| makes(o) == makes(b)));
        }
        blocks.extend(second.blocks);
        Content {
            attributes: self.attributes(first.attributes, second.attributes, diagnostics),
            blocks,
            missing_item_range: first.missing_item_range,
        }
    }

    /// As [`Body::content`].
    pub fn content(&self, schema: &BodySchema<'_>) -> Checked<Content> {
        relaxed(schema, |relaxed| {
            let mut diagnostics = Diagnostics::new();
            let first = diagnostics.take(self.first.content(relaxed));
            let second = diagnostics.take(self.second.content(relaxed));
            let content = self.combined(first, second, &mut diagnostics);
            let place = content.missing_item_range;
            Index::new(schema).report_missing(&content.attributes, place, &mut diagnostics);
            (content, diagnostics)
        })
    }

    /// As [`Body::partial_content`]; the rest is two bodies again.
    pub fn partial_content(&self, schema: &BodySchema<'_>) -> Checked<(Content, Layers)> {
        relaxed(schema, |relaxed| {
            let mut diagnostics = Diagnostics::new();
            let (first, first_rest) = diagnostics.take(self.first.partial_content(relaxed));
            let (second, second_rest) = diagnostics.take(self.second.partial_content(relaxed));
            let content = self.combined(first, second, &mut diagnostics);
            let place = content.missing_item_range;
            Index::new(schema).report_missing(&content.attributes, place, &mut diagnostics);
            let rest = Self {
                first: first_rest,
                second: second_rest,
                how: self.how,
            };
            ((content, rest), diagnostics)
        })
    }

    /// As [`Body::just_attributes`].
    pub fn just_attributes(&self) -> Checked<Vec<Attribute>> {
        let mut diagnostics = Diagnostics::new();
        let first = diagnostics.take(self.first.just_attributes());
        let second = diagnostics.take(self.second.just_attributes());
        let all = self.attributes(first, second, &mut diagnostics);
        (all, diagnostics)
    }
}

/// Calls `f` with the schema in which nothing is required: what one body lacks the other may have.
fn relaxed<R>(schema: &BodySchema<'_>, f: impl FnOnce(&BodySchema<'_>) -> R) -> R {
    let attributes: Vec<AttributeSchema<'_>> = schema
        .attributes
        .iter()
        .map(|a| AttributeSchema::optional(a.name))
        .collect();
    f(&BodySchema {
        attributes: &attributes,
        blocks: schema.blocks,
    })
}
