//! Functions that the recorded binary does not have: OpenTofu's `base64gunzip`, `cidrcontains` and
//! `urldecode`, and `convert`, which Terraform has from 1.15. The answers are those that the documents
//! of these tools promise.

use formwork_diagnostics::SourceMap;
use formwork_eval::{EmptyScope, MapScope, evaluate, evaluate_console};
use formwork_syntax::OffsetMap;
use formwork_values::{Type, Value, print};

use super::recorded::builtins;

/// What the console prints, or the first error as `summary: detail`.
pub fn console(text: &str, scope: &dyn formwork_eval::Scope) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add("here", text.as_bytes());
    let (expression, said) =
        formwork_syntax::parse_expression(file, text.as_bytes(), OffsetMap::PLAIN);
    let functions = builtins();
    let (result, found) = evaluate_console(&expression, scope, &functions);
    match said.iter().chain(found.iter()).find(|d| d.is_error()) {
        Some(d) => format!("{}: {}", d.summary, d.detail),
        None => match result {
            formwork_eval::ConsoleResult::Value(v) => print::console(&v),
            formwork_eval::ConsoleResult::Type(t) => print::console_type(&t),
        },
    }
}

fn check(cases: &[(&str, &str)]) {
    let scope: MapScope = [
        ("secret".into(), Value::string("hunter2").sensitive()),
        ("later".into(), Value::unknown(Type::String)),
        ("anything".into(), Value::dynamic()),
    ]
    .into_iter()
    .collect();
    for (text, expected) in cases {
        let found = console(text, &scope);
        match expected.strip_suffix("...") {
            Some(begin) => assert!(found.starts_with(begin), "{text}: {found}"),
            None => assert_eq!(found, *expected, "{text}"),
        }
    }
}

#[test]
fn functions_of_opentofu() {
    check(&[
        (r#"urldecode("Hello+World%21")"#, r#""Hello World!""#),
        (r#"urldecode("%E2%98%83 %e2%98%83")"#, r#""☃ ☃""#),
        (
            r#"urldecode("foo%3Abar%40localhost%3Ffoo%3Dbar%26bar%3Dbaz")"#,
            r#""foo:bar@localhost?foo=bar&bar=baz""#,
        ),
        (r#"urldecode("")"#, r#""""#),
        (r#"urldecode("%25%2B")"#, r#""%+""#),
        (r#"urldecode(urlencode("a b&c=é%/~"))"#, r#""a b&c=é%/~""#),
        (r#"urldecode("100%")"#, "Error in function call: ..."),
        (r#"urldecode("%zz")"#, "Error in function call: ..."),
        (r#"urldecode("%+1")"#, "Error in function call: ..."),
        (r#"urldecode("%é")"#, "Error in function call: ..."),
        (r#"urldecode("%FF")"#, "Error in function call: ..."),
        (r#"urldecode(later)"#, "(known after apply)"),
        (r#"urldecode(secret)"#, "(sensitive value)"),
        (r#"urldecode(null)"#, "Invalid function argument: ..."),
        (
            r#"base64gunzip("H4sIAAAAAAAA/0osTkkDBAAA//+cxGXVBAAAAA==")"#,
            "Error in function call: ...",
        ),
        (r#"base64gunzip(base64gzip("asdf"))"#, r#""asdf""#),
        (r#"base64gunzip(base64gzip(""))"#, r#""""#),
        (
            r#"base64gunzip(base64gzip(join("é", range(500)))) == join("é", range(500))"#,
            "true",
        ),
        (r#"base64gunzip("AAAA")"#, "Error in function call: ..."),
        (
            r#"base64gunzip("not base64")"#,
            "Error in function call: ...",
        ),
        (r#"base64gunzip("")"#, "Error in function call: ..."),
        (r#"base64gunzip(later)"#, "(known after apply)"),
        (r#"cidrcontains("192.168.2.0/20", "192.168.2.1")"#, "true"),
        (
            r#"cidrcontains("192.168.2.0/20", "192.168.2.0/22")"#,
            "true",
        ),
        (r#"cidrcontains("192.168.2.0/20", "192.126.2.1")"#, "false"),
        (
            r#"cidrcontains("192.168.2.0/20", "192.126.2.0/18")"#,
            "false",
        ),
        (
            r#"cidrcontains("192.168.0.0/20", "192.168.0.0/19")"#,
            "false",
        ),
        (r#"cidrcontains("10.0.0.0/8", "10.0.0.0/8")"#, "true"),
        (r#"cidrcontains("0.0.0.0/0", "255.255.255.255")"#, "true"),
        (r#"cidrcontains("fe80::/48", "fe80::1")"#, "true"),
        (r#"cidrcontains("fe80::/48", "fe81::1")"#, "false"),
        (r#"cidrcontains("::/0", "fe81::/128")"#, "true"),
        (
            r#"cidrcontains("10.0.0.0/8", "fe80::1")"#,
            "Error in function call: ...",
        ),
        (
            r#"cidrcontains("10.0.0.0", "10.0.0.1")"#,
            "Error in function call: ...",
        ),
        (
            r#"cidrcontains("10.0.0.0/8", "10.0.0.256")"#,
            "Invalid function argument: ...",
        ),
        (
            r#"cidrcontains("10.0.0.0/8", "10.0.0.1/33")"#,
            "Invalid function argument: ...",
        ),
        (
            r#"core::cidrcontains("10.0.0.0/8", later)"#,
            "(known after apply)",
        ),
    ]);
}

#[test]
fn convert_to_a_written_type() {
    check(&[
        ("convert([], list(string))", "tolist([])"),
        (
            "convert({ test = {} }, map(object({ attr = optional(string), with_default = \
             optional(string, \"default\") })))",
            "tomap({\n  \"test\" = {\n    \"attr\" = tostring(null)\n    \"with_default\" = \
             \"default\"\n  }\n})",
        ),
        (r#"convert("true", bool)"#, "true"),
        (r#"convert("1e2", number)"#, "100"),
        ("convert(null, string)", "tostring(null)"),
        ("convert(null, any)", "null"),
        (
            "convert([1, \"true\"], set(any))",
            "toset([\n  \"1\",\n  \"true\",\n])",
        ),
        (
            "convert({ a = 1 }, object({ a = string, b = optional(number) }))",
            "{\n  \"a\" = \"1\"\n  \"b\" = tonumber(null)\n}",
        ),
        (
            "convert([{}, { n = 2 }], tuple([object({ n = optional(number, 1) }), any]))",
            "[\n  {\n    \"n\" = 1\n  },\n  {\n    \"n\" = 2\n  },\n]",
        ),
        (
            "[for x in [1, 2] : convert(x, string)]",
            "[\n  \"1\",\n  \"2\",\n]",
        ),
        ("type(convert([1], list(number)))", "list(number)"),
        ("core::convert(1, string)", "\"1\""),
        ("convert(later, number)", "(known after apply)"),
        ("type(convert(anything, map(number)))", "map(number)"),
        ("convert(secret, string)", "(sensitive value)"),
        (
            "convert(secret, number)",
            "Invalid function argument: The argument \"value\" cannot be made a number: the reason is \
             withheld, since it may tell of a sensitive value.",
        ),
        (
            "convert(\"x\", number)",
            "Invalid function argument: The argument \"value\" cannot be made a number: ...",
        ),
        ("try(convert(\"x\", number), 5)", "5"),
        ("can(convert([], map(string)))", "false"),
        ("convert(1)", "Not enough function arguments: ..."),
        ("convert()", "Not enough function arguments: ..."),
        ("convert(1, string, 2)", "Too many function arguments: ..."),
        ("convert([1, 2]...)", "Error in function call: ..."),
        ("convert(1, strin)", "Invalid type specification: ..."),
        (
            "try(convert(1, strin), 2)",
            "Invalid type specification: ...",
        ),
        (
            "convert(1, \"string\")",
            "Invalid quoted type constraints: ...",
        ),
        ("convert(1, list)", "Invalid function argument: ..."),
        ("convert([1], list)", "tolist([\n  1,\n])"),
        (
            "convert({}, object({ a = optional(number, later) }))",
            "Variables not allowed: ...",
        ),
    ]);
}

#[test]
fn the_type_given_to_convert_makes_no_reference() {
    let text = "convert([for v in first : v.x], list(object({ a = optional(string, \"b\") })))";
    let mut sources = SourceMap::new();
    let file = sources.add("here", text.as_bytes());
    let (expression, said) =
        formwork_syntax::parse_expression(file, text.as_bytes(), OffsetMap::PLAIN);
    assert!(!said.has_errors());
    let roots: Vec<&str> = expression.variables().iter().map(|t| &*t.root).collect();
    assert_eq!(roots, ["first"]);
    let evaluated = evaluate(&expression, &EmptyScope, &builtins());
    assert_eq!(evaluated.diagnostics.iter().count(), 1);
}
