//! Override files: `override.tf` and `*_override.tf` change blocks that other files declare.
//!
//! The merge is done on the blocks as parsed, before anything is decoded: an argument takes the
//! place of the argument of its name; nested blocks of a type take the place of all nested blocks of
//! that type (a dynamic block counts as the type it makes), but `lifecycle` and `required_providers`
//! are merged argument by argument. An override that has nothing to override is an error.

use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_syntax::{Block, Body};
use std::sync::Arc;

/// Changes `base` by the blocks of one override file.
pub(crate) fn apply(base: &mut Vec<Block>, overrides: &[Block], diagnostics: &mut Diagnostics) {
    for over in overrides {
        let in_json = over.body.is_json() || find(base, over).is_some_and(|b| b.body.is_json());
        if in_json {
            diagnostics.push(
                Diagnostic::error(
                    "Not served yet",
                    "This version of Formwork does not read override files, or what they override, \
                     in the JSON form. Write both in the native form.",
                )
                .at(over.type_range),
            );
            continue;
        }
        match &*over.block_type {
            "locals" => locals(base, over, diagnostics),
            "terraform" => terraform(base, over),
            "provider" => match find(base, over) {
                Some(b) => *b = merged(b, over),
                None => base.push(over.clone()),
            },
            kind @ ("moved" | "removed" | "import" | "check") => diagnostics.push(
                Diagnostic::error(
                    format!("Cannot override '{kind}' blocks"),
                    format!(
                        "A {kind} block has no name by which it could be overridden. Put it into a \
                         file that is not an override file."
                    ),
                )
                .at(over.header_range()),
            ),
            kind => match find(base, over) {
                Some(b) => *b = merged(b, over),
                None => {
                    let name = over
                        .labels
                        .iter()
                        .map(|l| &*l.value)
                        .collect::<Vec<_>>()
                        .join(".");
                    let summary = match kind {
                        "resource" | "data" | "ephemeral" => format!("Missing {kind} to override"),
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

fn alias(block: &Block) -> Option<Arc<str>> {
    block
        .body
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

/// What a nested block makes: its type, or that of a dynamic block's label.
fn makes(block: &Block) -> &str {
    match &*block.block_type {
        "dynamic" => block.label(0).map_or("dynamic", |l| l),
        other => other,
    }
}

fn merged(base: &Block, over: &Block) -> Block {
    let body = &base.body;
    let mut attributes: Vec<_> = body
        .attributes()
        .iter()
        .map(|a| over.body.attribute(&a.name).unwrap_or(a).clone())
        .collect();
    attributes.extend(
        over.body
            .attributes()
            .iter()
            .filter(|a| body.attribute(&a.name).is_none())
            .cloned(),
    );
    // count and for_each exclude each other, so one overrides the other too.
    for (set, other) in [("count", "for_each"), ("for_each", "count")] {
        if over.body.attribute(set).is_some() && over.body.attribute(other).is_none() {
            attributes.retain(|a| &*a.name != other);
        }
    }
    // So does enabled, which stands in a lifecycle block.
    let repeats = |b: &Block| {
        ["count", "for_each"]
            .iter()
            .any(|n| b.body.attribute(n).is_some())
    };
    let enables = |b: &Block| {
        b.body
            .blocks_of("lifecycle")
            .any(|l| l.body.attribute("enabled").is_some())
    };
    if enables(over) && !repeats(over) {
        attributes.retain(|a| !matches!(&*a.name, "count" | "for_each"));
    }
    let unenabled = repeats(over) && !enables(over);
    let by_argument = |b: &Block| matches!(&*b.block_type, "lifecycle" | "required_providers");
    let mut blocks: Vec<Block> = Vec::new();
    for b in body.blocks() {
        let without;
        let mut b = b;
        if unenabled && &*b.block_type == "lifecycle" {
            without = without_argument(b, "enabled");
            b = &without;
        }
        let replaced = over.body.blocks().iter().find(|o| makes(o) == makes(b));
        match replaced {
            None => blocks.push(b.clone()),
            Some(o) if by_argument(b) => blocks.push(merged(b, o)),
            Some(_) => {}
        }
    }
    blocks.extend(
        over.body
            .blocks()
            .iter()
            .filter(|o| !by_argument(o) || body.blocks_of(&o.block_type).next().is_none())
            .cloned(),
    );
    Block {
        body: Body::new(attributes, blocks, body.range(), body.missing_item_range()),
        ..base.clone()
    }
}

/// A block without one of its arguments.
fn without_argument(block: &Block, name: &str) -> Block {
    let body = &block.body;
    if body.attribute(name).is_none() {
        return block.clone();
    }
    let rest = body.attributes().iter().filter(|a| &*a.name != name);
    Block {
        body: Body::new(
            rest.cloned().collect(),
            body.blocks().to_vec(),
            body.range(),
            body.missing_item_range(),
        ),
        ..block.clone()
    }
}

fn locals(base: &mut [Block], over: &Block, diagnostics: &mut Diagnostics) {
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
fn terraform(base: &mut Vec<Block>, over: &Block) {
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
        Some(b) => *b = merged(b, over),
        None => base.push(over.clone()),
    }
}
