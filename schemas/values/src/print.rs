//! Values and types as text for people, in the notation of the language. Redacting: what is marked
//! sensitive or ephemeral is named, never shown.
//!
//! [`console`] prints as `terraform console` does. Numbers and short strings stand on one line,
//! collections with an element a line, strings of several lines as heredocs; collections say what
//! they are (`tolist`, `toset`, `tomap`), nulls of a known type too.

use crate::text::write_go_quoted;
use crate::{Kind, Type, Value};

/// The value as the console prints it, without a line end.
pub fn console(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value, 0);
    out
}

/// The type as the console's `type` function prints it: objects and tuples with a line per part.
pub fn console_type(ty: &Type) -> String {
    let mut out = String::new();
    write_type(&mut out, ty, 0);
    out
}

/// Spaces per level of values.
const STEP: usize = 2;
/// Spaces per level of types.
const TYPE_STEP: usize = 4;

fn line(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

fn write_value(out: &mut String, value: &Value, indent: usize) {
    crate::with_stack(|| match value.kind() {
        // whether a value is there yet is no secret
        Kind::Marked(inner, _) if !inner.is_known() => out.push_str("(known after apply)"),
        Kind::Marked(_, marks) if marks.is_ephemeral() => out.push_str("(ephemeral value)"),
        Kind::Marked(_, marks) if marks.is_sensitive() => out.push_str("(sensitive value)"),
        Kind::Marked(value, _) => write_value(out, value, indent),
        Kind::Unknown(_) => out.push_str("(known after apply)"),
        Kind::Null(ty) => out.push_str(&null(ty)),
        Kind::Bool(b) => out.push_str(if b { "true" } else { "false" }),
        Kind::Number(n) => out.push_str(&n.to_text()),
        Kind::String(s) => write_text(out, s, indent),
        Kind::List(values) => write_sequence(out, "tolist([", values, "])", indent),
        Kind::Set(values) => write_sequence(out, "toset([", values, "])", indent),
        Kind::Tuple(values) => write_sequence(out, "[", values, "]", indent),
        Kind::Map(entries) => {
            let entries = entries.iter().map(|(k, v)| (&**k, v));
            write_entries(out, "tomap({", entries, "})", indent);
        }
        Kind::Object(ty, values) => {
            let entries = ty.names().iter().map(|n| &**n).zip(values);
            write_entries(out, "{", entries, "}", indent);
        }
    });
}

fn write_sequence(out: &mut String, open: &str, values: &[Value], close: &str, indent: usize) {
    out.push_str(open);
    for value in values {
        line(out, indent + STEP);
        write_value(out, value, indent + STEP);
        out.push(',');
    }
    if !values.is_empty() {
        line(out, indent);
    }
    out.push_str(close);
}

fn write_entries<'a>(
    out: &mut String,
    open: &str,
    entries: impl ExactSizeIterator<Item = (&'a str, &'a Value)>,
    close: &str,
    indent: usize,
) {
    out.push_str(open);
    let empty = entries.len() == 0;
    for (key, value) in entries {
        line(out, indent + STEP);
        write_text(out, key, indent + STEP);
        out.push_str(" = ");
        write_value(out, value, indent + STEP);
    }
    if !empty {
        line(out, indent);
    }
    out.push_str(close);
}

/// Text in quotes, or as a heredoc if it has several lines.
fn write_text(out: &mut String, text: &str, indent: usize) {
    if !text.contains('\n') {
        write_go_quoted(out, text);
        return;
    }
    let mut word = "EOT".to_owned();
    while text.split('\n').any(|l| l.trim() == word) {
        word.push('_');
    }
    out.push_str(if indent > 0 { "<<-" } else { "<<" });
    out.push_str(&word);
    for text in text.split('\n') {
        line(out, indent);
        out.push_str(text);
    }
    line(out, indent);
    out.push_str(&word);
}

fn null(ty: &Type) -> String {
    match ty {
        Type::Dynamic => "null".to_owned(),
        Type::Bool => "tobool(null)".to_owned(),
        Type::Number => "tonumber(null)".to_owned(),
        Type::String => "tostring(null)".to_owned(),
        Type::List(e) => format!("tolist(null) /* of {} */", outline(e)),
        Type::Set(e) => format!("toset(null) /* of {} */", outline(e)),
        Type::Map(e) => format!("tomap(null) /* of {} */", outline(e)),
        Type::Object(_) => "null /* object */".to_owned(),
        Type::Tuple(_) => "null /* tuple */".to_owned(),
    }
}

/// A type in words, without what objects and tuples are made of.
fn outline(ty: &Type) -> String {
    match ty {
        Type::List(e) => format!("list of {}", outline(e)),
        Type::Set(e) => format!("set of {}", outline(e)),
        Type::Map(e) => format!("map of {}", outline(e)),
        Type::Object(_) => "object".to_owned(),
        Type::Tuple(_) => "tuple".to_owned(),
        other => other.friendly_name(),
    }
}

fn write_type(out: &mut String, ty: &Type, indent: usize) {
    crate::with_stack(|| match ty {
        Type::Dynamic => out.push_str("dynamic"),
        Type::Bool => out.push_str("bool"),
        Type::Number => out.push_str("number"),
        Type::String => out.push_str("string"),
        Type::List(e) => write_element_type(out, "list(", e, indent),
        Type::Set(e) => write_element_type(out, "set(", e, indent),
        Type::Map(e) => write_element_type(out, "map(", e, indent),
        Type::Object(o) if o.is_empty() => out.push_str("object({})"),
        Type::Object(o) => {
            out.push_str("object({");
            for (name, ty) in o.iter() {
                line(out, indent + TYPE_STEP);
                out.push_str(name);
                out.push_str(": ");
                write_type(out, ty, indent + TYPE_STEP);
                out.push(',');
            }
            line(out, indent);
            out.push_str("})");
        }
        Type::Tuple(ts) if ts.is_empty() => out.push_str("tuple([])"),
        Type::Tuple(ts) => {
            out.push_str("tuple([");
            for ty in ts.iter() {
                line(out, indent + TYPE_STEP);
                write_type(out, ty, indent + TYPE_STEP);
                out.push(',');
            }
            line(out, indent);
            out.push_str("])");
        }
    });
}

fn write_element_type(out: &mut String, open: &str, element: &Type, indent: usize) {
    out.push_str(open);
    if matches!(element, Type::Object(_) | Type::Tuple(_)) {
        line(out, indent + TYPE_STEP);
        write_type(out, element, indent + TYPE_STEP);
        out.push(',');
        line(out, indent);
    } else {
        write_type(out, element, indent);
    }
    out.push(')');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Number;

    #[test]
    fn console_notation() {
        fn check(value: Value, want: &str) {
            assert_eq!(console(&value), want);
        }
        let s = Value::string;
        let n = |t: &str| Value::number(Number::parse(t).unwrap());
        check(s("a\u{7}b\"\\${x}"), r#""a\ab\"\\${x}""#);
        check(s("a\nEOT\nb"), "<<EOT_\na\nEOT\nb\nEOT_");
        check(
            Value::object([("a\nb", s("c")), ("d", Value::tuple(vec![s("\n")]))]),
            "{\n  <<-EOT\n  a\n  b\n  EOT = \"c\"\n  \"d\" = [\n    <<-EOT\n    \n    \n    EOT,\n  ]\n}",
        );
        check(
            Value::tuple(vec![
                Value::list(Type::String, vec![]),
                Value::empty_object(),
            ]),
            "[\n  tolist([]),\n  {},\n]",
        );
        check(
            Value::map(Type::Number, [("a b", n("1")), ("1", n("3"))]),
            "tomap({\n  \"1\" = 3\n  \"a b\" = 1\n})",
        );
        check(
            Value::null(Type::list(Type::String)),
            "tolist(null) /* of string */",
        );
        check(
            Value::null(Type::object([("a", Type::Bool)])),
            "null /* object */",
        );
        check(
            Value::tuple(vec![s("x").sensitive(), Value::dynamic()]),
            "[\n  (sensitive value),\n  (known after apply),\n]",
        );
        check(
            Value::set(Type::Number, vec![n("3"), n("20"), n("1.5"), n("-1")]),
            "toset([\n  -1,\n  1.5,\n  3,\n  20,\n])",
        );
        check(
            s("x").with_marks(&crate::Marks::EPHEMERAL),
            "(ephemeral value)",
        );
    }

    #[test]
    fn console_types() {
        let object = Type::object([
            ("a", Type::Number),
            ("b", Type::tuple([Type::list(Type::Bool)])),
        ]);
        assert_eq!(
            console_type(&Type::list(Type::map(object))),
            "list(map(\n    object({\n        a: number,\n        b: tuple([\n            list(bool),\n        ]),\n    }),\n))"
        );
    }
}
