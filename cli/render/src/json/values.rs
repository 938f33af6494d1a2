//! Values as plans and states show them: what is known, and beside it which parts are unknown or
//! sensitive.
//!
//! Facts of the format: an unknown attribute or map element is left out, an unknown element of a
//! sequence is null. The companions hold `true` for what is unknown (sensitive); objects leave out
//! what is `false`, sequences do not; whatever lies inside an unknown collection is nothing at all.
//! Types are not written, and no number passes through a float. These are stores: what is sensitive
//! is written, and marked by the companion.

use super::write::push_string;
use formwork_syntax::on_deep_stack;
use formwork_values::{Kind, Type, Value};

/// What is known of a value; null if nothing is.
pub(crate) fn known(value: &Value) -> String {
    let mut out = String::new();
    push_known(&mut out, value);
    out
}

/// Appends what is known of a value.
pub(crate) fn push_known(out: &mut String, value: &Value) {
    on_deep_stack(|| match value.unmarked().kind() {
        // nothing is marked twice
        Kind::Null(_) | Kind::Unknown(_) | Kind::Marked(..) => out.push_str("null"),
        Kind::Bool(b) => out.push_str(if b { "true" } else { "false" }),
        // JSON has no infinity
        Kind::Number(n) if n.is_infinite() => out.push_str("null"),
        Kind::Number(n) => out.push_str(&n.to_text()),
        Kind::String(s) => push_string(out, s),
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => {
            out.push('[');
            for (i, value) in values.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                push_known(out, value);
            }
            out.push(']');
        }
        Kind::Map(entries) => push_entries(out, entries.iter().map(|(k, v)| (&**k, v))),
        Kind::Object(ty, values) => {
            push_entries(out, ty.names().iter().map(|n| &**n).zip(values));
        }
    });
}

fn push_entries<'v>(out: &mut String, entries: impl Iterator<Item = (&'v str, &'v Value)>) {
    out.push('{');
    let mut first = true;
    for (name, value) in entries.filter(|(_, v)| v.is_known()) {
        if !first {
            out.push(',');
        }
        first = false;
        push_string(out, name);
        out.push(':');
        push_known(out, value);
    }
    out.push('}');
}

/// Which companion of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Unknown,
    Sensitive,
}

/// Which parts of a value are unknown.
pub(crate) fn unknown_parts(value: &Value) -> String {
    flags(value, Flag::Unknown)
}

/// Which parts of a value are sensitive.
pub(crate) fn sensitive_parts(value: &Value) -> String {
    flags(value, Flag::Sensitive)
}

fn flags(value: &Value, flag: Flag) -> String {
    let mut out = String::new();
    push_flags(&mut out, value, flag);
    out
}

/// Appends the companion; whether it was plain `false`.
fn push_flags(out: &mut String, value: &Value, flag: Flag) -> bool {
    on_deep_stack(|| push_flags_step(out, value, flag))
}

fn push_flags_step(out: &mut String, value: &Value, flag: Flag) -> bool {
    if flag == Flag::Sensitive && value.marks().is_sensitive() {
        out.push_str("true");
        return false;
    }
    match value.unmarked().kind() {
        Kind::Unknown(u) => {
            let text = match (flag, &u.ty) {
                (Flag::Unknown, _) => "true",
                (Flag::Sensitive, Type::List(_) | Type::Set(_) | Type::Tuple(_)) => "[]",
                (Flag::Sensitive, Type::Map(_) | Type::Object(_)) => "{}",
                (Flag::Sensitive, _) => "false",
            };
            out.push_str(text);
            text == "false"
        }
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => {
            out.push('[');
            for (i, value) in values.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                push_flags(out, value, flag);
            }
            out.push(']');
            false
        }
        Kind::Map(entries) => {
            push_set_flags(out, entries.iter().map(|(k, v)| (&**k, v)), flag);
            false
        }
        Kind::Object(ty, values) => {
            push_set_flags(out, ty.names().iter().map(|n| &**n).zip(values), flag);
            false
        }
        _ => {
            out.push_str("false");
            true
        }
    }
}

/// Entries whose companion is not plain `false`.
fn push_set_flags<'v>(
    out: &mut String,
    entries: impl Iterator<Item = (&'v str, &'v Value)>,
    flag: Flag,
) {
    out.push('{');
    let mut first = true;
    for (name, value) in entries {
        let before = out.len();
        if !first {
            out.push(',');
        }
        push_string(out, name);
        out.push(':');
        if push_flags(out, value, flag) {
            out.truncate(before);
        } else {
            first = false;
        }
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_values::Number;

    #[test]
    fn values_and_companions() {
        let s = Value::string;
        let check = |value: Value, json: &str, unknown: &str, sensitive: &str| {
            assert_eq!(known(&value), json);
            assert_eq!(unknown_parts(&value), unknown, "{json}");
            assert_eq!(sensitive_parts(&value), sensitive, "{json}");
        };
        let digits = "123456789012345678901234567890.5";
        check(
            Value::number(Number::parse(digits).expect("a number")),
            digits,
            "false",
            "false",
        );
        check(Value::null(Type::String), "null", "false", "false");
        check(s("a<b"), "\"a\\u003cb\"", "false", "false");
        check(Value::unknown(Type::String), "null", "true", "false");
        check(
            Value::unknown(Type::list(Type::String)),
            "null",
            "true",
            "[]",
        );
        // as recorded of an object with a sensitive part and an unknown one
        check(
            Value::object([
                ("id", Value::unknown(Type::String)),
                (
                    "input",
                    Value::object([
                        ("list", Value::tuple(vec![s("x"), s("y").sensitive()])),
                        ("pw", s("z").sensitive()),
                        ("user", s("u")),
                    ]),
                ),
                (
                    "output",
                    Value::unknown(Type::object([("user", Type::String)])),
                ),
            ]),
            r#"{"input":{"list":["x","y"],"pw":"z","user":"u"}}"#,
            r#"{"id":true,"input":{"list":[false,false]},"output":true}"#,
            r#"{"input":{"list":[false,true],"pw":true},"output":{}}"#,
        );
        check(
            Value::tuple(vec![Value::unknown(Type::Number), Value::int(1)]),
            "[null,1]",
            "[true,false]",
            "[false,false]",
        );
        check(
            Value::map(
                Type::String,
                [("a", s("b")), ("c", Value::unknown(Type::String))],
            ),
            r#"{"a":"b"}"#,
            r#"{"c":true}"#,
            "{}",
        );
    }
}
