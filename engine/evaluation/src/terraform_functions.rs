//! `provider::terraform::*`: values as text of the language, and back.
//!
//! These functions belong to the built-in provider by name, but they are syntax, so they are answered
//! here. The layout is that of `fmt`; what Terraform 1.11.4 answers was tried, and stands in the
//! tests. What holds something unknown has no text yet and gives an unknown one.

use formwork_addresses::is_identifier;
use formwork_configuration::parse_tfvars;
use formwork_diagnostics::{FileId, SourceMap};
use formwork_eval::{CallError, Outcome};
use formwork_syntax::{format, quote};
use formwork_values::{Kind, Refinement, Type, Value};
use std::fmt::Write as _;
use std::sync::Arc;

/// The provider whose functions these are.
pub(crate) const PROVIDER: &str = "terraform.io/builtin/terraform";

/// Answers a call; arguments are converted and without marks. `None` if there is no such function.
pub(crate) fn call(name: &str, arguments: &[Value]) -> Option<Outcome> {
    let argument = arguments.first().cloned().unwrap_or(Value::NULL);
    let answer = match name {
        "encode_expr" | "encode_tfvars" if !argument.is_wholly_known() => {
            Ok(Value::unknown_with(Type::String, Refinement::NOT_NULL))
        }
        "encode_expr" => Ok(Value::string(&*encode_expression(&argument))),
        "encode_tfvars" => encode_variables(&argument).map(|t| Value::string(&*t)),
        "decode_tfvars" => decode_variables(argument.as_str().unwrap_or_default()),
        _ => return None,
    };
    Some(match answer {
        Ok(value) => Outcome::Value(value, formwork_diagnostics::Diagnostics::new()),
        Err(detail) => Outcome::Failed(CallError::call(detail)),
    })
}

fn encode_expression(value: &Value) -> String {
    const NAME: &str = "v = ";
    let mut text = NAME.to_owned();
    write(&mut text, value);
    text.push('\n');
    let text = laid_out(&text);
    let text = text.strip_prefix(NAME).unwrap_or(&text);
    text.strip_suffix('\n').unwrap_or(text).to_owned()
}

fn encode_variables(value: &Value) -> Result<String, String> {
    let entries = entries(value)
        .ok_or("The value must be an object or a map, whose keys become the names of variables.")?;
    let mut text = String::new();
    for (name, value) in entries {
        if !is_identifier(&name) {
            return Err(format!(
                "The key {} cannot be the name of a variable. A name begins with a letter or an \
                 underscore and holds letters, digits, underscores and dashes only.",
                quote(&name)
            ));
        }
        let _ = write!(text, "{name} = ");
        write(&mut text, &value);
        text.push('\n');
    }
    Ok(laid_out(&text))
}

fn decode_variables(text: &str) -> Result<Value, String> {
    let mut sources = SourceMap::new();
    let (values, said) = parse_tfvars("the text", text.as_bytes(), &mut sources);
    if let Some(d) = said.iter().find(|d| d.is_error()) {
        let place = d.subject.map_or(String::new(), |r| sources.place(r));
        return Err(format!(
            "It does not read as a file of variable values: {place}: {}. {}",
            d.summary, d.detail
        ));
    }
    Ok(Value::object(
        values.into_iter().map(|(name, given)| (name, given.value)),
    ))
}

fn laid_out(text: &str) -> String {
    let (bytes, _) = format(FileId(0), text.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The keys and values of an object or map.
fn entries(value: &Value) -> Option<Vec<(Arc<str>, Value)>> {
    match value.kind() {
        Kind::Map(entries) => Some(
            entries
                .iter()
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect(),
        ),
        Kind::Object(ty, values) => Some(
            ty.names()
                .iter()
                .cloned()
                .zip(values.iter().cloned())
                .collect(),
        ),
        _ => None,
    }
}

/// The value as an expression, not laid out.
fn write(out: &mut String, value: &Value) {
    formwork_syntax::on_deep_stack(|| match value.kind() {
        // Marks are off and nothing is unknown, by the signatures and by `call`.
        Kind::Marked(value, _) => write(out, value),
        Kind::Null(_) | Kind::Unknown(_) => out.push_str("null"),
        Kind::Bool(b) => out.push_str(if b { "true" } else { "false" }),
        Kind::Number(n) => out.push_str(&n.to_text()),
        Kind::String(s) => out.push_str(&quote(s)),
        Kind::List(values) | Kind::Set(values) | Kind::Tuple(values) => {
            out.push('[');
            for (i, value) in values.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write(out, value);
            }
            out.push(']');
        }
        Kind::Map(_) | Kind::Object(..) => {
            out.push('{');
            for (i, (key, value)) in entries(value).unwrap_or_default().iter().enumerate() {
                if i == 0 {
                    out.push('\n');
                }
                if is_identifier(key) {
                    out.push_str(key);
                } else {
                    out.push_str(&quote(key));
                }
                out.push_str(" = ");
                write(out, value);
                out.push('\n');
            }
            out.push('}');
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_eval::{Builtins, Functions, NoFiles, Surroundings, evaluate};
    use formwork_syntax::{OffsetMap, parse_expression};

    fn value(text: &str) -> Value {
        struct Empty;
        impl formwork_eval::Scope for Empty {
            fn resolve(&self, r: &formwork_syntax::Traversal) -> formwork_eval::Resolved {
                formwork_eval::Resolved::failed(
                    formwork_diagnostics::Diagnostic::error("No", "Nothing is here.").at(r.range()),
                )
            }
        }
        let fixed = Arc::new(formwork_environment::Fixed::new(0, 1));
        let builtins = Builtins::new(Surroundings {
            files: Arc::new(NoFiles),
            clock: fixed.clone(),
            randomness: fixed,
            plan_time: None,
            settle_impure: false,
        });
        assert!(builtins.signature("upper").is_some());
        let (e, said) = parse_expression(FileId(0), text.as_bytes(), OffsetMap::PLAIN);
        assert!(!said.has_errors(), "{said:?}");
        evaluate(&e, &Empty, &builtins).value
    }

    fn answer(function: &str, argument: &str) -> String {
        match call(function, &[value(argument)]) {
            Some(Outcome::Value(v, _)) => match v.as_str() {
                Some(text) => text.to_owned(),
                None => formwork_values::print::console(&v),
            },
            Some(Outcome::Failed(e)) => format!("failed: {}", e.detail),
            _ => "nothing".to_owned(),
        }
    }

    #[test]
    fn as_terraform_answers() {
        let cases = [
            (
                "encode_tfvars",
                r#"{ a = [1, "x", true, null, 1.50], b = { "c d" = null, e = { f = {} } }, long_name = [], s = "q\"\n$${x} %%{y} \t é" }"#,
                "a = [1, \"x\", true, null, 1.5]\nb = {\n  \"c d\" = null\n  e = {\n    f = {}\n  }\n}\n\
                 long_name = []\ns         = \"q\\\"\\n$${x} %%{y} \\t é\"\n",
            ),
            ("encode_tfvars", "tomap({ b = 1, a = 2 })", "a = 2\nb = 1\n"),
            ("encode_tfvars", "{}", ""),
            (
                "encode_expr",
                "[{ a = 1 }, { bb = [1, { c = 2 }] }]",
                "[{\n  a = 1\n  }, {\n  bb = [1, {\n    c = 2\n  }]\n}]",
            ),
            ("encode_expr", r#""a\nb\n""#, r#""a\nb\n""#),
            ("encode_expr", "{}", "{}"),
            ("encode_expr", "1e30", "1000000000000000000000000000000"),
            ("encode_expr", r#"toset(["b", "a"])"#, r#"["a", "b"]"#),
            (
                "encode_expr",
                r#"{ a-b = 1, "1x" = 2, "for" = 3, "null" = 4, é = 5, abcdef = 6 }"#,
                "{\n  \"1x\"   = 2\n  a-b    = 1\n  abcdef = 6\n  for    = 3\n  null   = 4\n  é      = 5\n}",
            ),
            ("encode_expr", r#""\u0001 \\ \r""#, r#""\u0001 \\ \r""#),
            (
                "decode_tfvars",
                r#""a=1+2\nbb=[\"x\",null]\n""#,
                "{\n  \"a\" = 3\n  \"bb\" = [\n    \"x\",\n    null,\n  ]\n}",
            ),
            ("decode_tfvars", r#""""#, "{}"),
            ("encode_expr", "[uuid()]", "(known after apply)"),
        ];
        for (function, argument, expected) in cases {
            assert_eq!(
                answer(function, argument),
                expected,
                "{function}({argument})"
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let cases = [
            ("encode_tfvars", "[1]", "must be an object or a map"),
            (
                "encode_tfvars",
                "{ \"a b\" = 1 }",
                "\"a b\" cannot be the name",
            ),
            (
                "decode_tfvars",
                "\"a=b\"",
                "the text:1:3: Variables not allowed",
            ),
            (
                "decode_tfvars",
                "\"a {\\n}\"",
                "the text:1:1: Unexpected \"a\" block",
            ),
            ("decode_tfvars", "\"a=\"", "the text:1:3:"),
        ];
        for (function, argument, expected) in cases {
            let said = answer(function, argument);
            assert!(said.contains(expected), "{function}({argument}): {said}");
        }
    }
}
