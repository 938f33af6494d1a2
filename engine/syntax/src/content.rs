//! What a body holds according to a schema: the one way to read a body that works for both syntaxes.
//!
//! The native syntax tells arguments from blocks by itself; JSON cannot: whether a property is an
//! argument, a block, or a level of block labels is known only from what the reader expects. So a
//! reader says what it expects, and gets arguments and blocks with everything wrong already told.

use crate::body::{Attribute, Block, Body};
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceRange, nearest};
use rustc_hash::FxHashMap;

/// The arguments and blocks that a reader expects.
#[derive(Clone, Copy, Debug, Default)]
pub struct BodySchema<'s> {
    /// Arguments.
    pub attributes: &'s [AttributeSchema<'s>],
    /// Block types.
    pub blocks: &'s [BlockSchema<'s>],
}

/// An argument that a reader expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeSchema<'s> {
    /// Its name.
    pub name: &'s str,
    /// Whether it is an error if it is missing.
    pub required: bool,
}

/// A block type that a reader expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSchema<'s> {
    /// The type.
    pub block_type: &'s str,
    /// What each label is called, such as `["type", "name"]`.
    pub labels: &'s [&'s str],
}

impl<'s> AttributeSchema<'s> {
    /// An argument that may be missing.
    pub const fn optional(name: &'s str) -> Self {
        Self {
            name,
            required: false,
        }
    }

    /// An argument that must be there.
    pub const fn required(name: &'s str) -> Self {
        Self {
            name,
            required: true,
        }
    }
}

impl<'s> BlockSchema<'s> {
    /// A block type with these labels.
    pub const fn new(block_type: &'s str, labels: &'s [&'s str]) -> Self {
        Self { block_type, labels }
    }
}

/// What a body holds of a [`BodySchema`]. All of it is also in the schema.
#[derive(Clone, Debug)]
pub struct Content {
    /// The arguments in source order, each name once.
    pub attributes: Vec<Attribute>,
    /// The blocks in source order, each with as many labels as the schema says.
    pub blocks: Vec<Block>,
    /// Where an item that is missing would go.
    pub missing_item_range: SourceRange,
}

impl Content {
    /// The argument of that name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|a| &*a.name == name)
    }

    /// The blocks of that type.
    pub fn blocks_of<'a>(&'a self, block_type: &'a str) -> impl Iterator<Item = &'a Block> {
        self.blocks
            .iter()
            .filter(move |b| &*b.block_type == block_type)
    }
}

/// A schema for look-ups by name.
pub(crate) struct Index<'s> {
    schema: &'s BodySchema<'s>,
    kinds: FxHashMap<&'s str, Kind<'s>>,
}

#[derive(Clone, Copy)]
pub(crate) enum Kind<'s> {
    Attribute,
    Block(&'s BlockSchema<'s>),
}

impl<'s> Index<'s> {
    pub(crate) fn new(schema: &'s BodySchema<'s>) -> Self {
        let mut kinds = FxHashMap::default();
        kinds.extend(schema.blocks.iter().map(|b| (b.block_type, Kind::Block(b))));
        kinds.extend(schema.attributes.iter().map(|a| (a.name, Kind::Attribute)));
        Self { schema, kinds }
    }

    pub(crate) fn kind(&self, name: &str) -> Option<Kind<'s>> {
        self.kinds.get(name).copied()
    }

    /// Reports required arguments that are not among those found.
    pub(crate) fn report_missing(
        &self,
        found: &[Attribute],
        place: SourceRange,
        diagnostics: &mut Diagnostics,
    ) {
        for attribute in self.schema.attributes {
            if attribute.required && !found.iter().any(|a| &*a.name == attribute.name) {
                diagnostics.push(
                    Diagnostic::error(
                        "Missing required argument",
                        format!(
                            "The argument \"{}\" is required, but it is not set here.",
                            attribute.name
                        ),
                    )
                    .at(place),
                );
            }
        }
    }

    fn unsupported_argument(&self, attribute: &Attribute) -> Diagnostic {
        let name = &*attribute.name;
        let mut d = Diagnostic::error(
            "Unsupported argument",
            format!("No argument named \"{name}\" is expected here."),
        )
        .at(attribute.name_range);
        if let Some(Kind::Block(_)) = self.kind(name) {
            d = d.hint(format!(
                "\"{name}\" is a block: write {name} {{ ... }}, without an equals sign."
            ));
        } else if let Some(near) = nearest(name, self.schema.attributes.iter().map(|a| a.name)) {
            d = d.hint(format!("Did you mean \"{near}\"?"));
        }
        d
    }

    fn unsupported_block(&self, block: &Block) -> Diagnostic {
        let name = &*block.block_type;
        let mut d = Diagnostic::error(
            "Unsupported block type",
            format!("Blocks of type \"{name}\" are not expected here."),
        )
        .at(block.type_range);
        if let Some(Kind::Attribute) = self.kind(name) {
            d = d.hint(format!(
                "\"{name}\" is an argument: write {name} = ..., with an equals sign."
            ));
        } else if let Some(near) = nearest(name, self.schema.blocks.iter().map(|b| b.block_type)) {
            d = d.hint(format!("Did you mean \"{near}\"?"));
        }
        d
    }
}

/// Content of a native body, and what is not in the schema.
fn native(body: &Body, schema: &BodySchema<'_>) -> Checked<(Content, Vec<Attribute>, Vec<Block>)> {
    let index = Index::new(schema);
    let mut diagnostics = Diagnostics::new();
    let mut content = Content {
        attributes: Vec::new(),
        blocks: Vec::new(),
        missing_item_range: body.missing_item_range(),
    };
    let (mut other_attributes, mut other_blocks) = (Vec::new(), Vec::new());
    for attribute in body.attributes() {
        match index.kind(&attribute.name) {
            Some(Kind::Attribute) => content.attributes.push(attribute.clone()),
            _ => other_attributes.push(attribute.clone()),
        }
    }
    for block in body.blocks() {
        match index.kind(&block.block_type) {
            Some(Kind::Block(expected)) => {
                if check_labels(block, expected, &mut diagnostics) {
                    content.blocks.push(block.clone());
                }
            }
            _ => other_blocks.push(block.clone()),
        }
    }
    index.report_missing(
        &content.attributes,
        content.missing_item_range,
        &mut diagnostics,
    );
    ((content, other_attributes, other_blocks), diagnostics)
}

fn check_labels(block: &Block, expected: &BlockSchema<'_>, out: &mut Diagnostics) -> bool {
    let (have, want) = (block.labels.len(), expected.labels.len());
    let block_type = expected.block_type;
    let labels = expected.labels.join(", ");
    if have < want {
        let missing = expected.labels.get(have).copied().unwrap_or_default();
        out.push(
            Diagnostic::error(
                format!("Missing {missing} for {block_type}"),
                format!(
                    "Blocks of type \"{block_type}\" have {want} label(s) ({labels}); this one has \
                     {have}."
                ),
            )
            .at(block.open_brace)
            .within(block.header_range().to(block.open_brace)),
        );
    } else if let Some(extra) = block.labels.get(want) {
        let detail = if want == 0 {
            format!("Blocks of type \"{block_type}\" have no labels; remove this one.")
        } else {
            format!(
                "Blocks of type \"{block_type}\" have {want} label(s) ({labels}); remove what goes \
                 beyond."
            )
        };
        out.push(
            Diagnostic::error(format!("Extraneous label for {block_type}"), detail)
                .at(extra.range)
                .within(block.header_range()),
        );
    }
    have == want
}

impl Body {
    /// What the body holds of the schema; anything else in it is an error.
    pub fn content(&self, schema: &BodySchema<'_>) -> Checked<Content> {
        if let Some(layers) = self.as_layers() {
            return layers.content(schema);
        }
        if let Some(json) = self.as_json() {
            let ((content, rest), mut diagnostics) = json.content(schema);
            rest.report_extraneous(schema, &mut diagnostics);
            return (content, diagnostics);
        }
        let ((content, attributes, blocks), mut diagnostics) = native(self, schema);
        let index = Index::new(schema);
        diagnostics.extend(attributes.iter().map(|a| index.unsupported_argument(a)));
        diagnostics.extend(blocks.iter().map(|b| index.unsupported_block(b)));
        (content, diagnostics)
    }

    /// What the body holds of the schema, and a body with all the rest, for another reader.
    pub fn partial_content(&self, schema: &BodySchema<'_>) -> Checked<(Content, Body)> {
        if let Some(layers) = self.as_layers() {
            let ((content, rest), diagnostics) = layers.partial_content(schema);
            return ((content, Body::from_layers(rest)), diagnostics);
        }
        if let Some(json) = self.as_json() {
            let ((content, rest), diagnostics) = json.content(schema);
            return ((content, Body::from_json(rest)), diagnostics);
        }
        let ((content, attributes, blocks), diagnostics) = native(self, schema);
        let rest = Body::new(attributes, blocks, self.range(), self.missing_item_range());
        ((content, rest), diagnostics)
    }

    /// The body as arguments of any name, as in `locals` or a `.tfvars` file; blocks are an error.
    pub fn just_attributes(&self) -> Checked<Vec<Attribute>> {
        if let Some(layers) = self.as_layers() {
            return layers.just_attributes();
        }
        if let Some(json) = self.as_json() {
            return json.attributes();
        }
        let diagnostics = self
            .blocks()
            .iter()
            .map(|b| {
                Diagnostic::error(
                    format!("Unexpected \"{}\" block", b.block_type),
                    format!(
                        "Only arguments are expected here. To set \"{0}\", write {0} = ..., with an \
                         equals sign.",
                        b.block_type
                    ),
                )
                .at(b.type_range)
            })
            .collect();
        (self.attributes().to_vec(), diagnostics)
    }
}
