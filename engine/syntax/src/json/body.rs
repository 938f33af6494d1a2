//! JSON objects as bodies.

use super::value::{JsonKind, JsonProperty, JsonString, JsonValue};
use super::{JsonStrings, expression};
use crate::body::{Attribute, Block, Body, Label};
use crate::content::{BlockSchema, BodySchema, Content, Index, Kind};
use crate::on_deep_stack;
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceRange, nearest};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The properties of an object, or of several read one after the other, that nobody has read yet.
pub(crate) struct JsonBody {
    properties: Vec<Property>,
    range: SourceRange,
    end: SourceRange,
    strings: JsonStrings,
    /// The value of a whole file, to find one's way in it.
    file: Option<Arc<JsonValue>>,
}

#[derive(Clone)]
struct Property {
    name: JsonString,
    name_range: SourceRange,
    colon: SourceRange,
    value: Arc<JsonValue>,
}

impl From<&JsonProperty> for Property {
    fn from(p: &JsonProperty) -> Self {
        Self {
            name: p.name.clone(),
            name_range: p.name_range,
            colon: p.colon,
            value: p.value.clone(),
        }
    }
}

impl Property {
    fn attribute(&self, strings: JsonStrings) -> Attribute {
        Attribute {
            name: self.name.text.clone(),
            name_range: self.name_range,
            equals: self.colon,
            expression: expression::expression(&self.value, strings),
            range: self.name_range.to(self.value.range),
        }
    }
}

impl JsonBody {
    /// A body of the properties of `value`, an object or an array of objects.
    pub fn new(value: &JsonValue, strings: JsonStrings) -> Self {
        let mut properties = Vec::new();
        let mut add = |v: &JsonValue| {
            if let JsonKind::Object(all) = &v.kind {
                properties.extend(
                    all.iter()
                        .filter(|p| &*p.name.text != "//")
                        .map(Property::from),
                );
            }
        };
        match &value.kind {
            JsonKind::Array(items) => items.iter().for_each(|v| add(v)),
            _ => add(value),
        }
        let last = value.range.end.saturating_sub(1).max(value.range.start);
        Self {
            properties,
            range: value.range,
            end: SourceRange::new(value.range.file, last, value.range.end),
            strings,
            file: None,
        }
    }

    /// A body of a whole file.
    pub fn of_file(value: Arc<JsonValue>, strings: JsonStrings) -> Self {
        let mut body = Self::new(&value, strings);
        body.file = Some(value);
        body
    }

    /// The path of properties and indexes whose objects and arrays hold the place.
    pub fn context_at(&self, offset: u32) -> Option<String> {
        let holds = |v: &JsonValue| {
            let container = matches!(v.kind, JsonKind::Object(_) | JsonKind::Array(_));
            container && (v.range.start..v.range.end).contains(&offset)
        };
        let mut path = String::new();
        let mut value = self.file.as_ref()?;
        loop {
            let next = match &value.kind {
                JsonKind::Object(properties) => {
                    let property = properties.iter().find(|p| holds(&p.value));
                    property.map(|p| (format!(".{}", p.name.text), &p.value))
                }
                JsonKind::Array(items) => {
                    let item = items.iter().enumerate().find(|(_, v)| holds(v));
                    item.map(|(index, v)| (format!("[{index}]"), v))
                }
                _ => None,
            };
            let Some((step, inner)) = next else { break };
            path.push_str(&step);
            value = inner;
        }
        let path = path.strip_prefix('.').unwrap_or(&path);
        (!path.is_empty()).then(|| path.to_owned())
    }

    pub fn range(&self) -> SourceRange {
        self.range
    }

    pub fn missing_item_range(&self) -> SourceRange {
        self.end
    }

    pub fn is_empty(&self) -> bool {
        self.properties.is_empty()
    }

    /// Names in order, for the text face.
    pub fn debug_text(&self) -> String {
        let names: Vec<&str> = self.properties.iter().map(|p| &*p.name.text).collect();
        format!("json {}", names.join(" "))
    }

    /// All properties as arguments.
    pub fn attributes(&self) -> Checked<Vec<Attribute>> {
        let mut diagnostics = Diagnostics::new();
        let mut attributes: Vec<Attribute> = Vec::with_capacity(self.properties.len());
        let mut seen: FxHashMap<&str, SourceRange> = FxHashMap::default();
        for property in &self.properties {
            if seen
                .insert(&property.name.text, property.name_range)
                .is_some()
            {
                diagnostics.push(duplicate("Duplicate attribute definition", property));
            } else {
                attributes.push(property.attribute(self.strings));
            }
        }
        (attributes, diagnostics)
    }

    /// What there is of the schema, and a body with the rest.
    pub fn content(&self, schema: &BodySchema<'_>) -> Checked<(Content, JsonBody)> {
        let index = Index::new(schema);
        let mut diagnostics = Diagnostics::new();
        let mut content = Content {
            attributes: Vec::new(),
            blocks: Vec::new(),
            missing_item_range: self.end,
        };
        let mut rest = Vec::new();
        for property in &self.properties {
            match index.kind(&property.name.text) {
                None => rest.push(property.clone()),
                Some(Kind::Attribute) => {
                    let name = &property.name.text;
                    if content.attributes.iter().any(|a| a.name == *name) {
                        diagnostics.push(duplicate("Duplicate argument", property));
                    } else {
                        content.attributes.push(property.attribute(self.strings));
                    }
                }
                Some(Kind::Block(expected)) => {
                    let mut blocks = Blocks {
                        expected,
                        property,
                        strings: self.strings,
                        labels: Vec::new(),
                        found: &mut content.blocks,
                        diagnostics: &mut diagnostics,
                    };
                    blocks.level(&property.value);
                }
            }
        }
        index.report_missing(&content.attributes, self.end, &mut diagnostics);
        let rest = JsonBody {
            properties: rest,
            range: self.range,
            end: self.end,
            strings: self.strings,
            file: None,
        };
        ((content, rest), diagnostics)
    }

    /// Reports all properties as unknown.
    pub fn report_extraneous(&self, schema: &BodySchema<'_>, diagnostics: &mut Diagnostics) {
        let attributes = schema.attributes.iter().map(|a| a.name);
        let blocks = schema.blocks.iter().map(|b| b.block_type);
        let names: Vec<&str> = attributes.chain(blocks).collect();
        for property in &self.properties {
            let name = &*property.name.text;
            let mut d = Diagnostic::error(
                "Extraneous JSON object property",
                format!("No argument or block type is named \"{name}\" here."),
            )
            .at(property.name_range);
            if let Some(near) = nearest(name, names.iter().copied()) {
                d = d.hint(format!("Did you mean \"{near}\"?"));
            }
            diagnostics.push(d);
        }
    }
}

fn duplicate(summary: &str, property: &Property) -> Diagnostic {
    Diagnostic::error(
        summary,
        format!(
            "The argument \"{}\" was already set above. Each argument may be set only once; remove \
             one of the two.",
            property.name.text
        ),
    )
    .at(property.name_range)
}

/// The blocks that one property stands for.
struct Blocks<'a, 'd> {
    expected: &'a BlockSchema<'a>,
    property: &'a Property,
    strings: JsonStrings,
    labels: Vec<Label>,
    found: &'d mut Vec<Block>,
    diagnostics: &'d mut Diagnostics,
}

impl Blocks<'_, '_> {
    /// A level of labels, or the blocks themselves once all labels are known.
    fn level(&mut self, value: &JsonValue) {
        let Some(label) = self.expected.labels.get(self.labels.len()) else {
            return self.blocks(value);
        };
        let objects: Vec<&JsonValue> = match &value.kind {
            JsonKind::Object(_) => vec![value],
            JsonKind::Array(items) => items.iter().map(|v| &**v).collect(),
            JsonKind::Null => Vec::new(),
            _ => return self.wrong_type(value, &format!("whose property names are the {label}")),
        };
        let mut any = false;
        for object in objects {
            let JsonKind::Object(properties) = &object.kind else {
                self.wrong_type(object, &format!("whose property names are the {label}"));
                any = true;
                continue;
            };
            // A comment is none at this level: names of properties are labels here.
            for property in properties {
                any = true;
                self.labels.push(Label {
                    value: property.name.text.clone(),
                    range: property.name_range,
                    quoted: true,
                });
                on_deep_stack(|| self.level(&property.value));
                self.labels.pop();
            }
        }
        if !any {
            self.diagnostics.push(
                Diagnostic::error(
                    "Missing block label",
                    format!(
                        "At least one property is expected here, whose name is the {label} of a \
                         \"{}\" block.",
                        self.expected.block_type
                    ),
                )
                .at(value.start()),
            );
        }
    }

    fn blocks(&mut self, value: &JsonValue) {
        match &value.kind {
            JsonKind::Null => {}
            JsonKind::Object(_) => self.block(value),
            JsonKind::Array(items) => {
                for item in items {
                    match &item.kind {
                        JsonKind::Object(_) => self.block(item),
                        _ => self.wrong_type(item, "holding the contents of a block"),
                    }
                }
            }
            _ => self.wrong_type(value, "holding the contents of a block"),
        }
    }

    fn block(&mut self, value: &JsonValue) {
        let body = Body::from_json(JsonBody::new(value, self.strings));
        let close_brace = body.missing_item_range();
        self.found.push(Block {
            block_type: self.property.name.text.clone(),
            type_range: self.property.name_range,
            labels: self.labels.clone().into(),
            open_brace: value.start(),
            close_brace,
            body,
        });
    }

    fn wrong_type(&mut self, value: &JsonValue, purpose: &str) {
        self.diagnostics.push(
            Diagnostic::error(
                "Incorrect JSON value type",
                format!(
                    "\"{}\" is a block type: a JSON object, or an array of objects, is expected \
                     here, {purpose}.",
                    self.expected.block_type
                ),
            )
            .at(value.start()),
        );
    }
}
