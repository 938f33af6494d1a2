//! Bodies of both syntaxes, read by the same schema.

use crate::{
    AttributeSchema, BlockSchema, Body, BodySchema, Content, JsonStrings, parse, parse_json,
};
use formwork_diagnostics::{Diagnostics, FileId};
use std::fmt::Write as _;

const SCHEMA: BodySchema<'static> = BodySchema {
    attributes: &[
        AttributeSchema::optional("a"),
        AttributeSchema::required("needed"),
    ],
    blocks: &[
        BlockSchema::new("one", &["name"]),
        BlockSchema::new("two", &["type", "name"]),
        BlockSchema::new("bare", &[]),
    ],
};

fn shown(content: &Content) -> String {
    let mut out = String::new();
    for a in &content.attributes {
        let _ = write!(out, "{}={} ", a.name, a.expression.debug_text());
    }
    for b in &content.blocks {
        let labels: Vec<_> = b.labels.iter().map(|l| &*l.value).collect();
        let _ = write!(out, "{}({}) ", b.block_type, labels.join(","));
    }
    out.trim_end().to_owned()
}

fn told(text: &str, diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics
        .iter()
        .map(|d| {
            let range = d.subject.expect("a place");
            format!(
                "{}: {}",
                d.summary,
                &text[range.start as usize..range.end as usize]
            )
        })
        .collect()
}

fn check(text: &str, body: &Body, content: &str, expected: &[&str]) {
    let (found, diagnostics) = body.content(&SCHEMA);
    assert_eq!(shown(&found), content, "in {text}");
    assert_eq!(told(text, &diagnostics), expected, "in {text}");
}

fn json(text: &str) -> Body {
    let (body, diagnostics) = parse_json(FileId(0), text.as_bytes(), JsonStrings::Templates);
    assert_eq!(told(text, &diagnostics), Vec::<String>::new(), "in {text}");
    body
}

#[test]
fn native_content() {
    let check = |text: &str, content: &str, expected: &[&str]| {
        check(
            text,
            &parse(FileId(0), text.as_bytes()).0,
            content,
            expected,
        );
    };
    check(
        "needed = 1\none \"x\" {}\nbare {}\n",
        "needed=1 one(x) bare()",
        &[],
    );
    check("a = 1\n", "a=1", &["Missing required argument: "]);
    check(
        "needed = 1\nned = 2\none = 3\na {}\nzwo {}\n",
        "needed=1",
        &[
            "Unsupported argument: ned",
            "Unsupported argument: one",
            "Unsupported block type: a",
            "Unsupported block type: zwo",
        ],
    );
    check(
        "needed = 1\none {}\ntwo \"x\" {}\nbare \"x\" {}\n",
        "needed=1",
        &[
            "Missing name for one: {",
            "Missing name for two: {",
            "Extraneous label for bare: \"x\"",
        ],
    );
}

#[test]
fn json_content() {
    let check =
        |text: &str, content: &str, expected: &[&str]| check(text, &json(text), content, expected);
    check(
        r#"{"needed": "x${y}", "one": {"p": {}, "q": [{}, {}]}, "//": 1}"#,
        r#"needed=(bare "x" y) one(p) one(q) one(q)"#,
        &[],
    );
    check(
        r#"[{"needed": 1.50}, {"two": [{"t": {"n": {}}}, {"t": [{"m": {}}]}]}, {"bare": null}]"#,
        "needed=1.50 two(t,n) two(t,m)",
        &[],
    );
    check(
        r#"{"needed": 1, "needed": 2, "x": 3, "bare": 4, "one": {}}"#,
        "needed=1",
        &[
            "Duplicate argument: \"needed\"",
            "Incorrect JSON value type: 4",
            "Missing block label: {",
            "Extraneous JSON object property: \"x\"",
        ],
    );
}

#[test]
fn the_rest_is_for_another_reader() {
    for (text, body) in [
        ("needed = 1\nx = 2\ny {}\n", None),
        (r#"{"needed": 1, "x": 2, "y": {}}"#, Some(())),
    ] {
        let body = match body {
            None => parse(FileId(0), text.as_bytes()).0,
            Some(()) => json(text),
        };
        let ((content, rest), diagnostics) = body.partial_content(&SCHEMA);
        assert!(diagnostics.is_empty());
        assert_eq!(shown(&content), "needed=1");
        let schema = BodySchema {
            attributes: &[AttributeSchema::optional("x")],
            blocks: &[BlockSchema::new("y", &[])],
        };
        let (content, diagnostics) = rest.content(&schema);
        assert!(diagnostics.is_empty());
        assert_eq!(shown(&content), "x=2 y()");
    }
}

#[test]
fn json_strings_have_three_readings() {
    let body = json(
        r#"{"t": "a.b[0]", "k": "string", "c": "list(string)", "s": "${x", "w": "${a.b}", "l": ["q.r"]}"#,
    );
    let (all, diagnostics) = body.just_attributes();
    assert!(diagnostics.is_empty());
    let of = |name: &str| {
        &all.iter()
            .find(|a| &*a.name == name)
            .expect("there")
            .expression
    };
    assert_eq!(of("t").as_traversal().expect("one").to_string(), "a.b[0]");
    assert_eq!(of("t").as_traversal().expect("one").root_range.start, 7);
    assert_eq!(of("k").as_keyword(), Some("string"));
    assert_eq!(&*of("c").as_static_call().expect("a call").name, "list");
    assert_eq!(of("s").as_literal_string().map(|s| &**s), Some("${x"));
    assert!(of("s").is_invalid() && of("s").syntax_diagnostics().has_errors());
    assert_eq!(of("w").debug_text(), "(wrap a.b)");
    assert_eq!(of("w").as_constant().debug_text(), "\"$${a.b}\"");
    let list = of("l").as_static_list().expect("a list");
    assert_eq!(list[0].as_traversal().expect("one").to_string(), "q.r");
}

#[test]
fn json_errors() {
    for (text, expected) in [
        ("", &["Missing value: "] as &[_]),
        ("1", &["Root value must be object: 1"]),
        ("{\"a\": 01}", &["Invalid JSON number: 01"]),
        ("{\"a\": 1,}", &["Trailing comma in object: }"]),
        ("{\"a\": [1", &["Unclosed array: ["]),
        ("{\"a\": tru}", &["Invalid JSON keyword: tru"]),
        ("{a: 1}", &["Invalid object property name: a"]),
        ("{} x", &["Extraneous data after value: x"]),
        ("{\"a\": \"x\ny\"}", &["Invalid JSON string: \n"]),
    ] {
        let (_, diagnostics) = parse_json(FileId(0), text.as_bytes(), JsonStrings::Templates);
        assert_eq!(told(text, &diagnostics), expected, "in {text}");
    }
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let (_, diagnostics) = parse_json(FileId(0), deep.as_bytes(), JsonStrings::Templates);
    assert_eq!(told(&deep, &diagnostics), ["Nesting too deep: ["]);
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(900), "]".repeat(900));
    let (attributes, _) = json(&deep).just_attributes();
    assert_eq!(attributes.len(), 1);
}

#[test]
fn ranges_in_json_strings_are_those_of_the_file() {
    let text = r#"{"a": "\u00e9\n${ b.c } \ud83d\ude00 ${d}"}"#;
    let (all, _) = json(text).just_attributes();
    let found: Vec<_> = all[0]
        .expression
        .variables()
        .iter()
        .map(|t| &text[t.range().start as usize..t.range().end as usize])
        .collect();
    assert_eq!(found, ["b.c", "d"]);
}

#[test]
fn contexts() {
    let native = "a = 1\nr \"x\" y {\n  b {\n    c = 1\n  }\n} # d\n";
    let body = parse(FileId(0), native.as_bytes()).0;
    let at = |what: &str| u32::try_from(native.find(what).expect("there")).expect("small");
    assert_eq!(body.context_at(at("a = 1")), None);
    assert_eq!(body.context_at(at("\"x")).as_deref(), Some("r \"x\" \"y\""));
    assert_eq!(
        body.context_at(at("c = 1")).as_deref(),
        Some("r \"x\" \"y\"")
    );
    assert_eq!(body.context_at(at("# d")), None);
    let text = r#"{"r": {"x": [{"c": 1}, {"d": [2]}]}, "e": 3}"#;
    let body = json(text);
    let at = |what: &str| u32::try_from(text.find(what).expect("there")).expect("small");
    assert_eq!(body.context_at(at("1}")).as_deref(), Some("r.x[0]"));
    assert_eq!(body.context_at(at("2]")).as_deref(), Some("r.x[1].d"));
    assert_eq!(body.context_at(at("3}")), None);
}
