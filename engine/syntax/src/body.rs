//! [`Body`]: the arguments and blocks of a file or block.

use crate::expression::Expression;
use crate::json::JsonBody;
use crate::layers::Layers;
use crate::on_deep_stack;
use formwork_diagnostics::SourceRange;
use std::fmt;
use std::sync::Arc;

/// What stands in a file or between the braces of a block. Clones share it.
#[derive(Clone)]
pub struct Body(Arc<Syntax>);

enum Syntax {
    Native(Contents),
    Json(JsonBody),
    Layers(Layers),
}

struct Contents {
    attributes: Vec<Attribute>,
    blocks: Vec<Block>,
    range: SourceRange,
    end: SourceRange,
}

/// `name = expression`
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The argument's name.
    pub name: Arc<str>,
    /// Where the name stands.
    pub name_range: SourceRange,
    /// Where the equals sign stands.
    pub equals: SourceRange,
    /// The value, not evaluated.
    pub expression: Expression,
    /// From the name to the end of the value.
    pub range: SourceRange,
}

/// `type "label" { ... }`
#[derive(Clone, Debug)]
pub struct Block {
    /// The block type, such as `resource`.
    pub block_type: Arc<str>,
    /// Where the block type stands.
    pub type_range: SourceRange,
    /// The labels, in order.
    pub labels: Box<[Label]>,
    /// What stands between the braces.
    pub body: Body,
    /// The opening brace.
    pub open_brace: SourceRange,
    /// The closing brace; the end of the file if it is missing.
    pub close_brace: SourceRange,
}

/// A label of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The label, unescaped.
    pub value: Arc<str>,
    /// Where it stands, quotes included.
    pub range: SourceRange,
    /// Whether it was written in quotes.
    pub quoted: bool,
}

/// An item of a body, in source order.
#[derive(Clone, Copy, Debug)]
pub enum BodyItem<'a> {
    /// An argument.
    Attribute(&'a Attribute),
    /// A nested block.
    Block(&'a Block),
}

impl Block {
    /// From the type to the end of the last label: where diagnostics about the block point.
    pub fn header_range(&self) -> SourceRange {
        self.labels
            .last()
            .map_or(self.type_range, |label| self.type_range.to(label.range))
    }

    /// From the type to the closing brace.
    pub fn range(&self) -> SourceRange {
        self.type_range.to(self.close_brace)
    }

    /// The text of label `index`.
    pub fn label(&self, index: usize) -> Option<&Arc<str>> {
        self.labels.get(index).map(|label| &label.value)
    }
}

impl Body {
    /// A body of these items, each list in source order. `range` is all of it, `end` the place where
    /// a missing item would go.
    pub fn new(
        attributes: Vec<Attribute>,
        blocks: Vec<Block>,
        range: SourceRange,
        end: SourceRange,
    ) -> Self {
        Self(Arc::new(Syntax::Native(Contents {
            attributes,
            blocks,
            range,
            end,
        })))
    }

    pub(crate) fn from_json(body: JsonBody) -> Self {
        Self(Arc::new(Syntax::Json(body)))
    }

    pub(crate) fn as_json(&self) -> Option<&JsonBody> {
        match &*self.0 {
            Syntax::Json(body) => Some(body),
            Syntax::Native(_) | Syntax::Layers(_) => None,
        }
    }

    pub(crate) fn as_layers(&self) -> Option<&Layers> {
        match &*self.0 {
            Syntax::Layers(layers) => Some(layers),
            Syntax::Native(_) | Syntax::Json(_) => None,
        }
    }

    pub(crate) fn from_layers(layers: Layers) -> Self {
        Self(Arc::new(Syntax::Layers(layers)))
    }

    /// This body with another over it: arguments of the other take the place of those of their names,
    /// its blocks that of all blocks of their type. For bodies of which one is JSON, which a reader
    /// then reads as such.
    pub fn overridden(self, over: Body) -> Body {
        Self::from_layers(Layers::overridden(self, over))
    }

    /// This body and another as one; an argument of both is an error. For bodies of which one is JSON,
    /// which a reader then reads as such.
    pub fn joined(self, other: Body) -> Body {
        Self::from_layers(Layers::union(self, other))
    }

    /// Whether it was written in JSON, so that only a schema tells arguments from blocks.
    pub fn is_json(&self) -> bool {
        !matches!(&*self.0, Syntax::Native(_))
    }

    /// The arguments in source order, each name once: a repeated one is an error, and the first
    /// stays. Native syntax only: a JSON body has none until a schema says what it holds, so readers
    /// of configuration call [`Body::content`] or [`Body::just_attributes`] instead.
    pub fn attributes(&self) -> &[Attribute] {
        match &*self.0 {
            Syntax::Native(contents) => &contents.attributes,
            Syntax::Json(_) | Syntax::Layers(_) => &[],
        }
    }

    /// The blocks in source order. Native syntax only, as [`Body::attributes`].
    pub fn blocks(&self) -> &[Block] {
        match &*self.0 {
            Syntax::Native(contents) => &contents.blocks,
            Syntax::Json(_) | Syntax::Layers(_) => &[],
        }
    }

    /// The argument of that name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes().iter().find(|a| &*a.name == name)
    }

    /// The blocks of that type.
    pub fn blocks_of<'a>(&'a self, block_type: &'a str) -> impl Iterator<Item = &'a Block> {
        self.blocks()
            .iter()
            .filter(move |b| &*b.block_type == block_type)
    }

    /// Arguments and blocks together, in source order. Native syntax only, as [`Body::attributes`].
    pub fn items(&self) -> impl Iterator<Item = BodyItem<'_>> {
        let mut attributes = self.attributes().iter().peekable();
        let mut blocks = self.blocks().iter().peekable();
        std::iter::from_fn(move || {
            let attribute_first = match (attributes.peek(), blocks.peek()) {
                (Some(a), Some(b)) => a.name_range.start < b.type_range.start,
                (a, _) => a.is_some(),
            };
            if attribute_first {
                attributes.next().map(BodyItem::Attribute)
            } else {
                blocks.next().map(BodyItem::Block)
            }
        })
    }

    /// All of it: the whole file, or from brace to brace.
    pub fn range(&self) -> SourceRange {
        match &*self.0 {
            Syntax::Native(contents) => contents.range,
            Syntax::Json(body) => body.range(),
            Syntax::Layers(layers) => layers.first().range(),
        }
    }

    /// Where an item that is missing would go: the closing brace, or the end of the file.
    pub fn missing_item_range(&self) -> SourceRange {
        match &*self.0 {
            Syntax::Native(contents) => contents.end,
            Syntax::Json(body) => body.missing_item_range(),
            Syntax::Layers(layers) => layers.first().missing_item_range(),
        }
    }

    /// What a place in this file belongs to, for a diagnostic's `in ...`: the header of the outermost
    /// block (`resource "a" "b"`), or in JSON the path of properties (`resource.a.b`). Meant for the
    /// body of a whole file; `None` outside all blocks.
    pub fn context_at(&self, offset: u32) -> Option<String> {
        if let Some(json) = self.as_json() {
            return json.context_at(offset);
        }
        let blocks = self.blocks();
        let after = blocks.partition_point(|b| b.type_range.start <= offset);
        let block = blocks.get(after.checked_sub(1)?)?;
        if offset >= block.close_brace.end {
            return None;
        }
        let mut out = block.block_type.to_string();
        for label in &block.labels {
            out.push(' ');
            out.push_str(&crate::quote(&label.value));
        }
        Some(out)
    }

    /// Whether there is neither argument nor block.
    pub fn is_empty(&self) -> bool {
        match &*self.0 {
            Syntax::Native(contents) => {
                contents.attributes.is_empty() && contents.blocks.is_empty()
            }
            Syntax::Json(body) => body.is_empty(),
            Syntax::Layers(layers) => layers.first().is_empty() && layers.second().is_empty(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(json) = self.as_json() {
            return f.write_str(&json.debug_text());
        }
        if let Some(layers) = self.as_layers() {
            return on_deep_stack(|| {
                f.debug_list()
                    .entry(layers.first())
                    .entry(layers.second())
                    .finish()
            });
        }
        on_deep_stack(|| f.debug_list().entries(self.items()).finish())
    }
}

/// Blocks may be nested deeply: they must not be freed by plain recursion.
impl Drop for Contents {
    fn drop(&mut self) {
        if !self.blocks.is_empty() {
            let blocks = std::mem::take(&mut self.blocks);
            on_deep_stack(|| drop(blocks));
        }
    }
}
