//! A block body by its schema, to an object of the schema's type.
//!
//! Every argument is evaluated and converted, every nested block is decoded, dynamic blocks are
//! expanded, and what does not belong, is missing or is too often there is said with its range. The
//! result always has the schema's type: what could not be read is unknown in it.

use crate::dynamic::{self, Labels};
use crate::evaluator::Evaluator;
use crate::reading::Reading;
use crate::scope::ModuleScope;
use formwork_configuration::Module;
use formwork_diagnostics::{Diagnostic, SourceRange};
use formwork_eval::{Functions, Scope};
use formwork_provider_schema::{Attribute, AttributeKind, Block, BlockNesting, Field, NestedBlock};
use formwork_syntax::{self as syntax, AttributeSchema, BlockSchema, Body, BodyItem, BodySchema};
use formwork_values::{Marks, Refinement, Type, Value, convert};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Decodes `body` by `block`. `header` is where a missing argument is reported. The body holds only
/// what is the schema's: `configuration` has taken the language's own arguments out.
pub fn decode(
    body: &Body,
    block: &Block,
    header: SourceRange,
    scope: &dyn Scope,
    functions: &dyn Functions,
    reading: &mut Reading,
) -> Value {
    decode_at(true, body, block, header, scope, functions, reading)
}

/// Blocks and arguments of the language's own that a misspelt name at the top of a body may mean.
const OWN_BLOCKS: [&str; 3] = ["lifecycle", "provisioner", "connection"];
const OWN_ARGUMENTS: [&str; 5] = ["count", "for_each", "depends_on", "provider", "alias"];

fn decode_at(
    top: bool,
    body: &Body,
    block: &Block,
    header: SourceRange,
    scope: &dyn Scope,
    functions: &dyn Functions,
    reading: &mut Reading,
) -> Value {
    let from_json;
    let body = if body.is_json() {
        from_json = native(body, block, reading);
        &from_json
    } else {
        body
    };
    let mut nested: BTreeMap<&str, Vec<dynamic::Written<'_>>> = BTreeMap::new();
    // What is written under a wrong name is not missing besides.
    let mut misspelt_blocks: Vec<&str> = Vec::new();
    for b in body.blocks() {
        let written = dynamic::Written::of(b);
        if takes_blocks(block, written.name()) {
            nested.entry(written.name()).or_default().push(written);
        } else {
            let near = unsupported_block(&written, block, top, reading);
            misspelt_blocks.extend(near);
        }
    }
    let attributes: BTreeMap<&str, &syntax::Attribute> =
        body.attributes().iter().map(|a| (&*a.name, a)).collect();
    // What is written under a wrong name is not missing besides.
    let mut misspelt: Vec<&str> = Vec::new();
    for (name, a) in &attributes {
        match block.field(name) {
            Some(Field::Attribute(_)) => {}
            Some(Field::Block(_)) => reading.say(
                Diagnostic::error(
                    "Unsupported argument",
                    format!(
                        "\"{name}\" is a block here, not an argument: write `{name} {{ ... }}` without \
                         an equals sign."
                    ),
                )
                .at(a.name_range),
            ),
            None if top && OWN_BLOCKS.contains(name) => reading.say(
                Diagnostic::error(
                    "Unsupported argument",
                    format!(
                        "\"{name}\" is a block, not an argument: write `{name} {{ ... }}` without an \
                         equals sign."
                    ),
                )
                .at(a.name_range),
            ),
            None => {
                let own = top.then_some(OWN_ARGUMENTS).into_iter().flatten();
                let near = block
                    .suggest(name)
                    .or_else(|| formwork_diagnostics::nearest(name, own));
                misspelt.extend(near);
                reading.say(suggest(
                    Diagnostic::error(
                        "Unsupported argument",
                        format!("No argument named \"{name}\" is expected here."),
                    )
                    .at(a.name_range),
                    near,
                ));
            }
        }
    }
    let mut values = Vec::with_capacity(block.fields().len());
    for (name, field) in block.iter() {
        let value = match field {
            Field::Attribute(attribute) => match (attributes.get(&**name), nested.get(&**name)) {
                (Some(a), _) => decode_attribute(name, attribute, a, scope, functions, reading),
                (None, Some(blocks)) => {
                    attribute_as_blocks(name, attribute, blocks, scope, functions, reading)
                }
                (None, None) => {
                    if attribute.required {
                        if !misspelt.contains(&&**name) {
                            reading.say(missing(name, header));
                        }
                        Value::unknown(attribute.ty().without_optional())
                    } else {
                        Value::null(attribute.ty().without_optional())
                    }
                }
            },
            Field::Block(kind) => {
                let written = nested.get(&**name).map(Vec::as_slice).unwrap_or_default();
                if written.is_empty() && misspelt_blocks.contains(&&**name) {
                    values.push(Value::unknown(kind.ty().clone()));
                    continue;
                }
                decode_blocks(name, kind, written, header, scope, functions, reading)
            }
        };
        values.push(value);
    }
    Value::object_of(block.object_type().clone(), values)
}

/// A JSON body as if it had been written in the native syntax: what is an argument there and what a
/// block is known from the schema only.
fn native(body: &Body, block: &Block, reading: &mut Reading) -> Body {
    let mut attributes = Vec::new();
    let mut blocks = vec![BlockSchema::new("dynamic", &["type"])];
    for (name, field) in block.iter() {
        match field {
            Field::Attribute(_) => attributes.push(AttributeSchema::optional(name)),
            Field::Block(kind) if kind.nesting == BlockNesting::Map => {
                blocks.push(BlockSchema::new(name, &["key"]));
            }
            Field::Block(_) => blocks.push(BlockSchema::new(name, &[])),
        }
    }
    let mut body = read_json(body, &attributes, &blocks, reading);
    if body.blocks().iter().any(|b| &*b.block_type == "dynamic") {
        const ATTRIBUTES: [AttributeSchema<'static>; 3] = [
            AttributeSchema::optional("for_each"),
            AttributeSchema::optional("iterator"),
            AttributeSchema::optional("labels"),
        ];
        const BLOCKS: [BlockSchema<'static>; 1] = [BlockSchema::new("content", &[])];
        let blocks = body
            .blocks()
            .iter()
            .cloned()
            .map(|mut b| {
                if &*b.block_type == "dynamic" {
                    b.body = read_json(&b.body, &ATTRIBUTES, &BLOCKS, reading);
                }
                b
            })
            .collect();
        body = Body::new(
            body.attributes().to_vec(),
            blocks,
            body.range(),
            body.missing_item_range(),
        );
    }
    body
}

fn read_json(
    body: &Body,
    attributes: &[AttributeSchema<'_>],
    blocks: &[BlockSchema<'_>],
    reading: &mut Reading,
) -> Body {
    let (content, said) = body.content(&BodySchema { attributes, blocks });
    reading.diagnostics.append(said);
    Body::new(
        content.attributes,
        content.blocks,
        body.range(),
        body.missing_item_range(),
    )
}

/// Whether blocks of a name may be written: nested blocks, and attributes of object collections,
/// which older configurations write as blocks.
fn takes_blocks(block: &Block, name: &str) -> bool {
    match block.field(name) {
        Some(Field::Block(_)) => true,
        Some(Field::Attribute(a)) => object_elements(a).is_some(),
        None => false,
    }
}

fn object_elements(attribute: &Attribute) -> Option<&Type> {
    match &attribute.kind {
        AttributeKind::Value(Type::List(element) | Type::Set(element))
            if element.as_object().is_some() =>
        {
            Some(element)
        }
        _ => None,
    }
}

fn decode_attribute(
    name: &str,
    attribute: &Attribute,
    written: &syntax::Attribute,
    scope: &dyn Scope,
    functions: &dyn Functions,
    reading: &mut Reading,
) -> Value {
    let ty = attribute.ty();
    let wanted = ty.without_optional();
    if !attribute.required && !attribute.optional {
        reading.say(
            Diagnostic::error(
                "Value for unconfigurable attribute",
                format!(
                    "\"{name}\" is set by the provider alone; its value can be read but not chosen. \
                     Take the argument away."
                ),
            )
            .at(written.name_range),
        );
        return Value::unknown(wanted);
    }
    if let Some(message) = &attribute.deprecated {
        reading.say(
            Diagnostic::warning(
                "Argument is deprecated",
                if message.is_empty() {
                    format!("The makers of the provider advise against the argument \"{name}\".")
                } else {
                    message.to_string()
                },
            )
            .at(written.name_range),
        );
    }
    let before = reading.diagnostics.len();
    let value = reading.evaluate(&written.expression, scope, functions);
    let value = fitted(name, attribute, written, value, reading);
    reading.explain_since(before, &written.expression, scope);
    value
}

/// The value as the attribute takes it.
fn fitted(
    name: &str,
    attribute: &Attribute,
    written: &syntax::Attribute,
    value: Value,
    reading: &mut Reading,
) -> Value {
    let wanted = attribute.ty().without_optional();
    let range = written.expression.range();
    let given = value.type_of();
    let converted = match convert(value, attribute.written_ty()) {
        Ok(v) => v,
        Err(e) => {
            let mut d = Diagnostic::error(
                "Incorrect attribute value type",
                format!("The value for the attribute \"{name}\" does not fit: {e}."),
            )
            .at(range);
            let takes_many = matches!(wanted, Type::List(_) | Type::Set(_));
            if takes_many && matches!(given, Type::String | Type::Number | Type::Bool) {
                d = d.hint("Put it in brackets to make a list of it: [...].");
            }
            reading.say(d);
            return Value::unknown(wanted);
        }
    };
    if attribute.required && converted.is_null() {
        reading.say(
            Diagnostic::error(
                "Missing required argument",
                format!("The argument \"{name}\" is required, but its value here is null."),
            )
            .at(range),
        );
        return Value::unknown(wanted);
    }
    if !reading.passes_on && !attribute.write_only && converted.all_marks().is_ephemeral() {
        reading.say(
            Diagnostic::error(
                "Invalid use of ephemeral value",
                format!(
                    "The value for \"{name}\" lives for this run only, but the attribute is kept in \
                     the state. Only write-only arguments take ephemeral values."
                ),
            )
            .at(range),
        );
        return Value::unknown(wanted);
    }
    converted
}

/// Blocks written for an attribute of objects, each an object.
fn attribute_as_blocks(
    name: &str,
    attribute: &Attribute,
    written: &[dynamic::Written<'_>],
    scope: &dyn Scope,
    functions: &dyn Functions,
    reading: &mut Reading,
) -> Value {
    let ty = attribute.ty().without_optional();
    let Some(object) = object_elements(attribute).and_then(Type::as_object) else {
        return Value::unknown(ty);
    };
    if !attribute.required && !attribute.optional {
        for w in written {
            reading.say(unsupported_computed(name, w.range()));
        }
        return Value::unknown(ty);
    }
    let block = Arc::new(Block::of_attributes(object.iter().map(|(n, t)| {
        let optional = Attribute::new(t.clone()).optional();
        (n.clone(), optional)
    })));
    let list = NestedBlock::new(BlockNesting::List, block);
    let header = written.first().map_or(
        SourceRange::new(formwork_diagnostics::FileId(0), 0, 0),
        |w| w.range(),
    );
    let value = decode_blocks(name, &list, written, header, scope, functions, reading);
    convert(value, &ty).unwrap_or_else(|_| Value::unknown(ty))
}

/// One nested block that was written, or that a dynamic block has made.
struct Made {
    label: Option<Arc<str>>,
    value: Value,
}

fn decode_blocks(
    name: &str,
    kind: &NestedBlock,
    written: &[dynamic::Written<'_>],
    header: SourceRange,
    scope: &dyn Scope,
    functions: &dyn Functions,
    reading: &mut Reading,
) -> Value {
    if written.is_empty() && kind.min_items == 0 {
        return kind.empty_value();
    }
    let mut made: Vec<Made> = Vec::with_capacity(written.len());
    let mut marks = Marks::default();
    let mut unknown = false;
    for w in written {
        let expansion = dynamic::expand(
            w,
            if kind.nesting == BlockNesting::Map {
                Labels::One
            } else {
                Labels::None
            },
            scope,
            functions,
            reading,
            &mut |content, header, label, scope, reading| {
                let value = decode_at(
                    false,
                    content,
                    &kind.block,
                    header,
                    scope,
                    functions,
                    reading,
                );
                made.push(Made { label, value });
            },
        );
        unknown |= expansion.unknown;
        marks.extend(&expansion.marks);
    }
    let ty = kind.ty().clone();
    if unknown {
        // Blocks are never null, and saying so tells these, which will be configured, from those that
        // nobody wrote and that a provider will fill in.
        let known = match kind.nesting {
            BlockNesting::List | BlockNesting::Set | BlockNesting::Map => Refinement::NOT_NULL,
            BlockNesting::Single | BlockNesting::Group => Refinement::NONE,
        };
        return Value::unknown_with(ty, known).with_marks(&marks);
    }
    let count = made.len() as u64;
    let single = matches!(kind.nesting, BlockNesting::Single | BlockNesting::Group);
    let max = if single { 1 } else { kind.max_items };
    if count < kind.min_items {
        let detail = if kind.min_items == 1 {
            format!("A block \"{name}\" is required here.")
        } else {
            format!(
                "At least {} blocks \"{name}\" are required here; there are {count}.",
                kind.min_items
            )
        };
        reading.say(Diagnostic::error(format!("Insufficient {name} blocks"), detail).at(header));
        return Value::unknown(ty);
    }
    if max > 0 && count > max {
        let range = written
            .get(usize::try_from(max).unwrap_or(0))
            .or(written.last())
            .map_or(header, |w| w.range());
        let detail = if max == 1 {
            format!("Only one block \"{name}\" is allowed here; there are {count}.")
        } else {
            format!("No more than {max} blocks \"{name}\" are allowed here; there are {count}.")
        };
        reading.say(Diagnostic::error(format!("Too many {name} blocks"), detail).at(range));
        return Value::unknown(ty);
    }
    let element = kind.block.ty();
    let value = match kind.nesting {
        BlockNesting::Single | BlockNesting::Group => {
            made.pop().map_or_else(|| kind.empty_value(), |m| m.value)
        }
        BlockNesting::List if ty.is_dynamic() => {
            Value::tuple(made.into_iter().map(|m| m.value).collect())
        }
        BlockNesting::List => Value::list(element, made.into_iter().map(|m| m.value).collect()),
        BlockNesting::Set => Value::set(element, made.into_iter().map(|m| m.value).collect()),
        BlockNesting::Map => {
            let mut entries: BTreeMap<Arc<str>, Value> = BTreeMap::new();
            for m in made {
                let label = m.label.unwrap_or_else(|| Arc::from(""));
                if entries.contains_key(&label) {
                    reading.say(
                        Diagnostic::error(
                            format!("Duplicate {name} block"),
                            format!(
                                "A block \"{name}\" with the label \"{label}\" is there already."
                            ),
                        )
                        .at(header),
                    );
                }
                entries.insert(label, m.value);
            }
            if ty.is_dynamic() {
                Value::object(entries)
            } else {
                Value::map(element, entries)
            }
        }
    };
    value.with_marks(&marks)
}

fn missing(name: &str, header: SourceRange) -> Diagnostic {
    Diagnostic::error(
        "Missing required argument",
        format!("The argument \"{name}\" is required here, but it is not set."),
    )
    .at(header)
}

fn unsupported_computed(name: &str, range: SourceRange) -> Diagnostic {
    Diagnostic::error(
        "Value for unconfigurable attribute",
        format!("\"{name}\" is set by the provider alone; take the block away."),
    )
    .at(range)
}

/// Says that a block does not belong; gives the name that it was most likely meant to have.
fn unsupported_block<'b>(
    written: &dynamic::Written<'_>,
    block: &'b Block,
    top: bool,
    reading: &mut Reading,
) -> Option<&'b str> {
    let name = written.name();
    if block.attribute(name).is_some() {
        reading.say(
            Diagnostic::error(
                "Unsupported block type",
                format!("\"{name}\" is an argument here, not a block: write `{name} = ...`."),
            )
            .at(written.range()),
        );
        return block
            .object_type()
            .names()
            .iter()
            .map(|n| &**n)
            .find(|n| *n == name);
    }
    let near = block.suggest(name);
    let mut d = Diagnostic::error(
        "Unsupported block type",
        format!("No block of type \"{name}\" is expected here."),
    )
    .at(written.range());
    if top && OWN_BLOCKS.contains(&name) {
        d = d.hint(format!(
            "A dynamic block makes blocks of the provider's; \"{name}\" is read before anything is \
             evaluated and must be written as it is."
        ));
    } else {
        let own = top.then_some(OWN_BLOCKS).into_iter().flatten();
        d = suggest(d, near.or_else(|| formwork_diagnostics::nearest(name, own)));
    }
    reading.say(d);
    near
}

fn suggest(diagnostic: Diagnostic, near: Option<&str>) -> Diagnostic {
    match near {
        Some(near) => diagnostic.hint(format!("Did you mean \"{near}\"?")),
        None => diagnostic,
    }
}

impl Evaluator {
    /// Checks what can be checked of a body without a schema: every reference and every call in it.
    pub async fn check_body(
        &self,
        module: &Module,
        body: &Body,
        scope: &ModuleScope<'_>,
    ) -> formwork_diagnostics::Diagnostics {
        let functions = self.functions(module);
        let (_, said) = self
            .calls()
            .settled(|reading| {
                check_body(body, scope, &functions, reading);
                reading.pending.extend(scope.take_pending());
            })
            .await;
        said
    }
}

/// Values are evaluated as they would be with a schema, and thrown away.
fn check_body(body: &Body, scope: &dyn Scope, functions: &dyn Functions, reading: &mut Reading) {
    if body.is_json() {
        // what of it is an expression and what a block nobody knows here
        let (references, _) = formwork_configuration::body_references(body);
        for reference in references {
            let resolved = scope.resolve(&reference.traversal);
            reading.diagnostics.append(resolved.diagnostics);
        }
        return;
    }
    for item in body.items() {
        match item {
            BodyItem::Attribute(a) => {
                reading.evaluate(&a.expression, scope, functions);
            }
            BodyItem::Block(b) => formwork_syntax::on_deep_stack(|| {
                let written = dynamic::Written::of(b);
                dynamic::expand(
                    &written,
                    Labels::Any,
                    scope,
                    functions,
                    reading,
                    &mut |content, _, _, scope, reading| {
                        check_body(content, scope, functions, reading);
                    },
                );
            }),
        }
    }
}
