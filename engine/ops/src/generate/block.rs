//! The text of a resource block that says what an object is like.
//!
//! What only the provider sets is left out, and so is what is deprecated; what is secret is null, with a
//! comment. Arguments that are null are written as such: they are there to be looked at.

use formwork_addresses::Resource;
use formwork_diagnostics::FileId;
use formwork_provider_schema::{
    Attribute, AttributeKind, AttributeNesting, Block, BlockNesting, NestedBlock, Schema,
};
use formwork_syntax::quote;
use formwork_values::{Kind, Value, implied_from_json, value_to_json};

/// The block, laid out, without a line end.
pub(super) fn resource_block(
    resource: &Resource,
    provider: Option<&str>,
    schema: &Schema,
    value: &Value,
) -> String {
    let mut out = format!("resource \"{}\" \"{}\" {{\n", resource.kind, resource.name);
    if let Some(provider) = provider {
        out.push_str(&format!("provider = {provider}\n"));
    }
    body(&mut out, true, &schema.block, value);
    out.push('}');
    let (laid_out, _) = formwork_syntax::format(FileId(0), out.as_bytes());
    String::from_utf8(laid_out).unwrap_or(out)
}

fn body(out: &mut String, top: bool, block: &Block, value: &Value) {
    for (name, attribute) in block.attributes() {
        // by old custom the id is the provider's, though it could be written
        let own = top && &**name == "id" && attribute.computed;
        if own || !is_written(attribute) {
            continue;
        }
        let value = value.attribute(name);
        if attribute.sensitive || value.is_some_and(Value::is_marked) {
            out.push_str(&format!("{name} = null # sensitive\n"));
            continue;
        }
        out.push_str(&format!("{name} = "));
        match value {
            Some(value) => argument(out, attribute, value),
            None => out.push_str("null"),
        }
        out.push('\n');
    }
    for (name, nested) in block.nested_blocks() {
        if let Some(value) = value.attribute(name) {
            blocks(out, name, nested, value);
        }
    }
}

fn is_written(attribute: &Attribute) -> bool {
    (attribute.required || attribute.optional) && attribute.deprecated.is_none()
}

fn blocks(out: &mut String, name: &str, nested: &NestedBlock, value: &Value) {
    let mut one = |label: &str, value: &Value| {
        out.push_str(&format!("{name} {label}{{\n"));
        body(out, false, &nested.block, value);
        out.push_str("}\n");
    };
    match nested.nesting {
        BlockNesting::Single | BlockNesting::Group if value.is_null() => {}
        BlockNesting::Single | BlockNesting::Group => one("", value),
        BlockNesting::List | BlockNesting::Set => {
            elements(value).iter().for_each(|v| one("", v));
        }
        BlockNesting::Map => {
            for (key, value) in value.as_map().unwrap_or_default() {
                one(&format!("{} ", quote(key)), value);
            }
        }
    }
}

fn elements(value: &Value) -> &[Value] {
    match value.kind() {
        Kind::List(all) | Kind::Set(all) | Kind::Tuple(all) => all,
        _ => &[],
    }
}

/// The value of an argument; of nested attributes only what can be written.
fn argument(out: &mut String, attribute: &Attribute, value: &Value) {
    let AttributeKind::Nested(nested) = &attribute.kind else {
        expression(out, value);
        return;
    };
    if value.is_null() {
        out.push_str("null");
        return;
    }
    let one = |out: &mut String, value: &Value| {
        out.push_str("{\n");
        body(out, false, &nested.object, value);
        out.push('}');
    };
    match nested.nesting {
        AttributeNesting::Single => one(out, value),
        AttributeNesting::List | AttributeNesting::Set => {
            out.push('[');
            for value in elements(value) {
                out.push('\n');
                one(out, value);
                out.push(',');
            }
            out.push_str(if elements(value).is_empty() {
                "]"
            } else {
                "\n]"
            });
        }
        AttributeNesting::Map => {
            out.push_str("{\n");
            for (name, value) in value.as_map().unwrap_or_default() {
                out.push_str(&format!("{} = ", key(name)));
                one(out, value);
                out.push('\n');
            }
            out.push('}');
        }
    }
}

fn expression(out: &mut String, value: &Value) {
    match value.kind() {
        Kind::Null(_) | Kind::Unknown(_) | Kind::Marked(..) => out.push_str("null"),
        Kind::Bool(_) | Kind::Number(_) => out.push_str(&formwork_values::print::console(value)),
        Kind::String(text) => match json_of(text) {
            Some(content) => {
                out.push_str("jsonencode(");
                expression(out, &content);
                out.push(')');
            }
            None => out.push_str(&quote(text)),
        },
        Kind::List(all) | Kind::Set(all) | Kind::Tuple(all) => {
            out.push('[');
            for (i, value) in all.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                expression(out, value);
            }
            out.push(']');
        }
        Kind::Map(entries) => entries_of(out, entries.iter().map(|(k, v)| (&**k, v))),
        Kind::Object(ty, values) => {
            entries_of(out, ty.names().iter().map(|n| &**n).zip(values));
        }
    }
}

/// What a text is the JSON of, if it is an object or list just as `jsonencode` would write it: then it can
/// be written as what it stands for, and planning finds no difference.
fn json_of(text: &str) -> Option<Value> {
    // jsonencode has other spellings for these
    let respelt = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    if !text.starts_with(['{', '[']) || text.contains(respelt) {
        return None;
    }
    let content = implied_from_json(text.as_bytes()).ok()?;
    (value_to_json(&content).ok()? == text).then_some(content)
}

fn entries_of<'v>(out: &mut String, entries: impl Iterator<Item = (&'v str, &'v Value)>) {
    let mut entries = entries.peekable();
    if entries.peek().is_none() {
        out.push_str("{}");
        return;
    }
    out.push_str("{\n");
    for (name, value) in entries {
        out.push_str(&format!("{} = ", key(name)));
        expression(out, value);
        out.push('\n');
    }
    out.push('}');
}

/// A key as it is written: in quotes unless it is a plain word.
fn key(name: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let plain = name.chars().all(word) && !name.starts_with(|c: char| c.is_ascii_digit());
    if plain && !name.is_empty() {
        name.to_owned()
    } else {
        quote(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_values::Type;

    #[test]
    fn blocks_read_back() {
        let text = || Attribute::new(Type::String).optional();
        let part = Block::of_attributes([
            ("a", text()),
            ("set_by_provider", Attribute::new(Type::String).computed()),
        ]);
        let block = Block::new(
            [
                ("id", text().computed()),
                ("labels", Attribute::new(Type::map(Type::String)).optional()),
                ("name", text()),
                ("old", text().deprecated("")),
                ("secret", text().sensitive()),
                ("sizes", Attribute::new(Type::list(Type::Number)).optional()),
            ],
            [
                ("disk", NestedBlock::new(BlockNesting::List, part.clone())),
                (
                    "timeouts",
                    NestedBlock::new(BlockNesting::Single, part.clone()),
                ),
            ],
        );
        let schema = Schema::new(0, block);
        let disk = Value::object([
            ("a", Value::string("${x}\n")),
            ("set_by_provider", Value::string("p")),
        ]);
        let part_type = disk.type_of();
        let value = Value::object([
            ("id", Value::string("i")),
            (
                "labels",
                Value::map(
                    Type::String,
                    [("a.b", Value::string("1")), ("c", Value::string("2"))],
                ),
            ),
            ("name", Value::null(Type::String)),
            ("old", Value::string("o")),
            ("secret", Value::string("hunter22").sensitive()),
            (
                "sizes",
                Value::list(Type::Number, vec![Value::int(1), Value::int(2)]),
            ),
            ("disk", Value::list(part_type.clone(), vec![disk])),
            ("timeouts", Value::null(part_type)),
        ]);
        let resource: formwork_addresses::AbsResource = "x_y.z".parse().expect("a resource");
        let resource = resource.resource;
        assert_eq!(
            resource_block(&resource, Some("x.eu"), &schema, &value),
            r#"resource "x_y" "z" {
  provider = x.eu
  labels = {
    "a.b" = "1"
    c     = "2"
  }
  name   = null
  secret = null # sensitive
  sizes  = [1, 2]
  disk {
    a = "$${x}\n"
  }
}"#
        );
    }

    #[test]
    fn texts_that_are_json_are_written_as_what_they_stand_for() {
        let cases = [
            (
                r#"{"a":[1,2.5,"x",null,true],"b.c":{}}"#,
                "jsonencode({\n    a = [1, 2.5, \"x\", null, true]\n    \"b.c\" = {}\n  })",
            ),
            ("[]", "jsonencode([])"),
            // not as jsonencode writes it: with spaces, in another order, with what it spells otherwise
            (r#"{ "a": 1 }"#, r#""{ \"a\": 1 }""#),
            (r#"{"b":1,"a":2}"#, r#""{\"b\":1,\"a\":2}""#),
            (r#"["<"]"#, r#""[\"<\"]""#),
            ("[1,", "\"[1,\""),
            ("17", "\"17\""),
            ("{}x", "\"{}x\""),
        ];
        for (text, expected) in cases {
            let block = Block::of_attributes([("p", Attribute::new(Type::String).optional())]);
            let value = Value::object([("p", Value::string(text))]);
            let resource: formwork_addresses::AbsResource = "x_y.z".parse().expect("a resource");
            let got = resource_block(&resource.resource, None, &Schema::new(0, block), &value);
            let squeezed = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
            let wanted = format!("resource \"x_y\" \"z\" {{ p = {expected} }}");
            assert_eq!(squeezed(&got), squeezed(&wanted), "{text}");
        }
    }
}
