//! Override files: `override.tf` and `*_override.tf` change blocks that other files declare.
//!
//! The merge is done on the blocks as parsed, before anything is decoded: an argument takes the
//! place of the argument of its name; nested blocks of a type take the place of all nested blocks of
//! that type (a dynamic block counts as the type it makes), but `lifecycle` and `required_providers`
//! are merged argument by argument. An override that has nothing to override is an error, and so is
//! one of what cannot be overridden.
//!
//! Where one of the two is JSON, what the language knows of the block is read first and merged as if it
//! were written natively; the rest is read by its schema, the override over its base.

use crate::module::SETTINGS;
use crate::{module_call, resource};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_syntax::{AttributeSchema, Block, BlockSchema, Body, BodySchema};
use std::sync::Arc;

/// Changes `base` by the blocks of one override file.
pub(crate) fn apply(base: &mut Vec<Block>, overrides: &[Block], diagnostics: &mut Diagnostics) {
    for over in overrides {
        match &*over.block_type {
            "locals" => locals(base, over, diagnostics),
            "terraform" => terraform(base, over, diagnostics),
            "provider" => provider(base, over, diagnostics),
            "check" => diagnostics.push(cannot(
                "Can't override check blocks".to_owned(),
                "check",
                over,
            )),
            kind @ ("moved" | "removed" | "import") => {
                diagnostics.push(cannot(
                    format!("Cannot override '{kind}' blocks"),
                    kind,
                    over,
                ));
            }
            kind => match find(base, over) {
                Some(b) => *b = merged(b, &allowed(over, diagnostics), diagnostics),
                None => {
                    let name = over
                        .labels
                        .iter()
                        .map(|l| &*l.value)
                        .collect::<Vec<_>>()
                        .join(".");
                    let summary = match kind {
                        "resource" | "ephemeral" => format!("Missing {kind} to override"),
                        "data" => "Missing data resource to override".to_owned(),
                        "variable" => "Missing base variable declaration to override".to_owned(),
                        "output" => "Missing base output definition to override".to_owned(),
                        "module" => "Missing module call to override".to_owned(),
                        // An unknown kind of block is reported when it is decoded.
                        _ => {
                            base.push(over.clone());
                            continue;
                        }
                    };
                    diagnostics.push(
                        Diagnostic::error(
                            summary,
                            format!(
                                "This is an override file, which changes what other files declare, \
                                 and no other file declares the {kind} \"{name}\"."
                            ),
                        )
                        .at(over.header_range()),
                    );
                }
            },
        }
    }
}

fn cannot(summary: String, kind: &str, over: &Block) -> Diagnostic {
    Diagnostic::error(
        summary,
        format!(
            "A {kind} block stands for itself, and cannot be changed by another. Put it into a file \
             that is not an override file."
        ),
    )
    .at(over.header_range())
}

/// What of a block can be overridden. What it waits for is said by the block itself, and of rules there
/// are many, so that it would not be known which is meant.
fn allowed(over: &Block, diagnostics: &mut Diagnostics) -> Block {
    let (attribute, rule) = match &*over.block_type {
        "variable" => (None, Some("validation")),
        "output" => (None, Some("precondition")),
        "resource" | "data" | "ephemeral" | "module" => (Some("depends_on"), None),
        _ => return over.clone(),
    };
    let attributes: Vec<_> = attribute
        .into_iter()
        .map(AttributeSchema::optional)
        .collect();
    let blocks: Vec<_> = rule.into_iter().map(|r| BlockSchema::new(r, &[])).collect();
    let schema = BodySchema {
        attributes: &attributes,
        blocks: &blocks,
    };
    // What is wrong with the body is told when it is decoded.
    let ((refused, rest), _) = over.body.partial_content(&schema);
    for a in &refused.attributes {
        let items = a.expression.as_static_list();
        if items.is_some_and(<[_]>::is_empty) {
            continue;
        }
        let first = items.and_then(<[_]>::first).unwrap_or(&a.expression);
        diagnostics.push(
            Diagnostic::error(
                "Unsupported override",
                "What a block waits for cannot be overridden: say it in the block itself.",
            )
            .at(first.range()),
        );
    }
    for b in &refused.blocks {
        let (kind, rule) = (&over.block_type, &b.block_type);
        diagnostics.push(
            Diagnostic::error(
                format!("Can't override {rule} blocks"),
                format!(
                    "The {kind} may have several {rule} blocks, without names by which they could be \
                     told apart. Change them where the {kind} is declared."
                ),
            )
            .at(b.type_range),
        );
    }
    Block {
        body: rest,
        ..over.clone()
    }
}

fn alias(block: &Block) -> Option<Arc<str>> {
    let schema = BodySchema {
        attributes: &[AttributeSchema::optional("alias")],
        blocks: &[],
    };
    // What is wrong with the body is told when it is decoded.
    let ((content, _), _) = block.body.partial_content(&schema);
    content
        .attribute("alias")
        .and_then(|a| a.expression.as_literal_string().cloned())
}

fn find<'a>(base: &'a mut [Block], over: &Block) -> Option<&'a mut Block> {
    base.iter_mut().find(|b| {
        b.block_type == over.block_type
            && b.labels.len() == over.labels.len()
            && b.labels
                .iter()
                .zip(&over.labels)
                .all(|(x, y)| x.value == y.value)
            && (&*b.block_type != "provider" || alias(b) == alias(over))
    })
}

/// A default configuration needs no base, others do.
fn provider(base: &mut Vec<Block>, over: &Block, diagnostics: &mut Diagnostics) {
    match find(base, over) {
        Some(b) => *b = merged(b, over, diagnostics),
        None if alias(over).is_none() => base.push(over.clone()),
        None => diagnostics.push(
            Diagnostic::error(
                "Missing base provider configuration for override",
                format!(
                    "This is an override file, which changes what other files declare, and no other \
                     file declares a configuration of \"{}\" with this alias.",
                    over.label(0).map_or("", |l| l)
                ),
            )
            .at(over.header_range()),
        ),
    }
}

/// What a nested block makes: its type, or that of a dynamic block's label.
fn makes(block: &Block) -> &str {
    match &*block.block_type {
        "dynamic" => block.label(0).map_or("dynamic", |l| l),
        other => other,
    }
}

/// A block with another over it.
fn merged(base: &Block, over: &Block, diagnostics: &mut Diagnostics) -> Block {
    let body = if !base.body.is_json() && !over.body.is_json() {
        merged_bodies(&base.body, &over.body, diagnostics)
    } else {
        let shape = match &*base.block_type {
            "resource" | "data" | "ephemeral" => Some(resource::META),
            "module" => Some(module_call::META),
            _ => None,
        };
        match shape {
            None => base.body.clone().overridden(over.body.clone()),
            Some(shape) => {
                let mut read = |b: &Block| shape.split(&b.body, diagnostics);
                let ((own, rest), (over_own, over_rest)) = (read(base), read(over));
                merged_bodies(&own, &over_own, diagnostics).joined(rest.overridden(over_rest))
            }
        }
    };
    Block {
        body,
        ..base.clone()
    }
}

/// Two native bodies. Blocks within them that are merged by argument may be JSON.
fn merged_bodies(body: &Body, over: &Body, diagnostics: &mut Diagnostics) -> Body {
    let mut attributes: Vec<_> = body
        .attributes()
        .iter()
        .map(|a| over.attribute(&a.name).unwrap_or(a).clone())
        .collect();
    attributes.extend(
        over.attributes()
            .iter()
            .filter(|a| body.attribute(&a.name).is_none())
            .cloned(),
    );
    // What says how often a block exists excludes each other, so one overrides the other too.
    for (set, other) in [("count", "for_each"), ("for_each", "count")] {
        if over.attribute(set).is_some() && over.attribute(other).is_none() {
            attributes.retain(|a| &*a.name != other);
        }
    }
    let by_argument = |b: &Block| matches!(&*b.block_type, "lifecycle" | "required_providers");
    let mut blocks: Vec<Block> = Vec::new();
    for b in body.blocks() {
        let replaced = over.blocks().iter().find(|o| makes(o) == makes(b));
        match replaced {
            None => blocks.push(b.clone()),
            Some(o) if by_argument(b) => blocks.push(merged(b, o, diagnostics)),
            Some(_) => {}
        }
    }
    blocks.extend(
        over.blocks()
            .iter()
            .filter(|o| !by_argument(o) || body.blocks_of(&o.block_type).next().is_none())
            .cloned(),
    );
    Body::new(attributes, blocks, body.range(), body.missing_item_range())
}

/// A block whose body holds arguments only, natively.
fn just_arguments(block: &Block, diagnostics: &mut Diagnostics) -> Block {
    if !block.body.is_json() {
        return block.clone();
    }
    let attributes = diagnostics.take(block.body.just_attributes());
    let (range, end) = (block.body.range(), block.body.missing_item_range());
    Block {
        body: Body::new(attributes, Vec::new(), range, end),
        ..block.clone()
    }
}

fn locals(base: &mut [Block], over: &Block, diagnostics: &mut Diagnostics) {
    let over = just_arguments(over, diagnostics);
    for b in base.iter_mut().filter(|b| &*b.block_type == "locals") {
        *b = just_arguments(b, diagnostics);
    }
    for a in over.body.attributes() {
        let found = base
            .iter_mut()
            .find(|b| &*b.block_type == "locals" && b.body.attribute(&a.name).is_some());
        match found {
            Some(b) => {
                let attributes = b
                    .body
                    .attributes()
                    .iter()
                    .map(|x| if x.name == a.name { a } else { x }.clone())
                    .collect();
                b.body = Body::new(
                    attributes,
                    b.body.blocks().to_vec(),
                    b.body.range(),
                    b.body.missing_item_range(),
                );
            }
            None => diagnostics.push(
                Diagnostic::error(
                    "Missing base local value definition to override",
                    format!(
                        "This is an override file, which changes what other files declare, and no \
                         other file defines the local value \"{}\".",
                        a.name
                    ),
                )
                .at(a.range),
            ),
        }
    }
}

/// Settings need no base: what is not there yet is added. A backend or cloud block takes the place of
/// either.
fn terraform(base: &mut Vec<Block>, over: &Block, diagnostics: &mut Diagnostics) {
    let over = &settings(over, diagnostics);
    for b in base.iter_mut().filter(|b| &*b.block_type == "terraform") {
        *b = settings(b, diagnostics);
    }
    let stores = |b: &Block| matches!(&*b.block_type, "backend" | "cloud");
    if over.body.blocks().iter().any(stores) {
        for b in base.iter_mut().filter(|b| &*b.block_type == "terraform") {
            let blocks = b
                .body
                .blocks()
                .iter()
                .filter(|x| !stores(x))
                .cloned()
                .collect();
            b.body = Body::new(
                b.body.attributes().to_vec(),
                blocks,
                b.body.range(),
                b.body.missing_item_range(),
            );
        }
    }
    let requires = |b: &Block| b.body.blocks_of("required_providers").next().is_some();
    let wanted = requires(over);
    let at = base
        .iter()
        .position(|b| &*b.block_type == "terraform" && (!wanted || requires(b)))
        .or_else(|| base.iter().position(|b| &*b.block_type == "terraform"));
    match at.and_then(|i| base.get_mut(i)) {
        Some(b) => *b = merged(b, over, diagnostics),
        None => base.push(over.clone()),
    }
}

/// A `terraform` block, natively as far as it is merged.
fn settings(block: &Block, diagnostics: &mut Diagnostics) -> Block {
    if !block.body.is_json() {
        return block.clone();
    }
    let (own, _) = SETTINGS.split(&block.body, diagnostics);
    let blocks = own
        .blocks()
        .iter()
        .map(|b| match &*b.block_type {
            "required_providers" => just_arguments(b, diagnostics),
            _ => b.clone(),
        })
        .collect();
    Block {
        body: Body::new(
            own.attributes().to_vec(),
            blocks,
            own.range(),
            own.missing_item_range(),
        ),
        ..block.clone()
    }
}
