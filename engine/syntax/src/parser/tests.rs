//! Text in, tree or diagnostics out.

use crate::{Body, OffsetMap, parse, parse_expression, parse_template};
use formwork_diagnostics::{Diagnostics, FileId};

/// Summaries with the text each points at.
fn told(text: &str, diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics
        .iter()
        .map(|d| {
            let range = d
                .subject
                .expect("every diagnostic of the parser has a place");
            let at = &text[range.start as usize..range.end as usize];
            format!("{}: {at}", d.summary)
        })
        .collect()
}

fn sound(text: &str) -> Body {
    let (body, diagnostics) = parse(FileId(0), text.as_bytes());
    assert_eq!(told(text, &diagnostics), Vec::<String>::new(), "in {text}");
    body
}

fn check_expression(text: &str, expected: &str) {
    let (expression, diagnostics) = parse_expression(FileId(0), text.as_bytes(), OffsetMap::PLAIN);
    assert_eq!(told(text, &diagnostics), Vec::<String>::new(), "in {text}");
    assert_eq!(expression.debug_text(), expected, "of {text}");
    let range = expression.range();
    assert_eq!(
        &text[range.start as usize..range.end as usize],
        text.trim(),
        "range of {text}"
    );
}

fn check_template(text: &str, expected: &str) {
    let (expression, diagnostics) = parse_template(FileId(0), text.as_bytes(), OffsetMap::PLAIN);
    assert_eq!(told(text, &diagnostics), Vec::<String>::new(), "in {text}");
    assert_eq!(expression.debug_text(), expected, "of {text}");
}

fn check_errors(text: &str, expected: &[&str]) {
    let (_, diagnostics) = parse(FileId(0), text.as_bytes());
    assert_eq!(told(text, &diagnostics), expected, "in {text}");
}

#[test]
fn operators() {
    for (text, expected) in [
        ("1 + 2 * 3 - 4", "(- (+ 1 (* 2 3)) 4)"),
        ("a || b && c == d", "(|| a (&& b (== c d)))"),
        ("a < b == c >= d", "(== (< a b) (>= c d))"),
        ("-a.b + !c", "(+ (- a.b) (! c))"),
        ("!!-a", "(! (! (- a)))"),
        ("a ? b : c ? d : e", "(if a b (if c d e))"),
        ("a == 1 ? -1 : (b)", "(if (== a 1) (- 1) (parens b))"),
        ("1 < 2 < 3", "(< (< 1 2) 3)"),
        ("a % b", "(% a b)"),
        ("a-b", "a-b"),
    ] {
        check_expression(text, expected);
    }
}

#[test]
fn references_and_steps() {
    for (text, expected) in [
        ("a.b[0].c[\"d\"]", "a.b[0].c[\"d\"]"),
        ("a.0.b", "a[0].b"),
        ("a.00", "a[00]"),
        ("a.1e5", "a[1e5]"),
        ("a[b.c].d", "(get (index a b.c) .d)"),
        ("a[-1]", "(index a (- 1))"),
        ("a[\"x${b}\"]", "(index a (template \"x\" b))"),
        ("f(x)[0].y", "(get (call f x) [0].y)"),
        ("(a).b", "(get (parens a) .b)"),
        ("a.*.b.0.c", "(splat. a (get @ .b[0].c))"),
        ("a.*.b[0]", "(get (splat. a (get @ .b)) [0])"),
        ("a.*", "(splat. a @)"),
        ("a[*]", "(splat a @)"),
        ("a[*].b[0]", "(splat a (get @ .b[0]))"),
        ("a[*].b[*].c", "(splat a (splat (get @ .b) (get @ .c)))"),
        ("a[*].b[c].d", "(splat a (get (index (get @ .b) c) .d))"),
        ("a[*].*.b", "(splat a (splat. @ (get @ .b)))"),
        ("true.a", "(get true .a)"),
        ("(a\n.b\n[0])", "(parens a.b[0])"),
        ("a [ 0 ] . b", "a[0].b"),
    ] {
        check_expression(text, expected);
    }
}

#[test]
fn calls_and_collections() {
    for (text, expected) in [
        ("f()", "(call f)"),
        ("f(a, b...)", "(call f a b...)"),
        ("f(\na,\n)", "(call f a)"),
        ("provider::x::f(1)", "(call provider::x::f 1)"),
        ("a :: b (1)", "(call a::b 1)"),
        ("[]", "(list)"),
        ("[1, [2],\n]", "(list 1 (list 2))"),
        ("{}", "(object)"),
        (
            "{a = 1, \"b\": 2, (c) = 3}",
            "(object (a = 1) (\"b\" = 2) ((parens c) = 3))",
        ),
        ("{\n\na = 1 # x\n b = 2,\n\n}", "(object (a = 1) (b = 2))"),
        (
            "{ true = 1, null = 2, a.b = 3 }",
            "(object (true = 1) (null = 2) (a.b = 3))",
        ),
        ("[for x in y : x]", "(for x in y : x)"),
        (
            "{for k, v in y : k => v... if v}",
            "(for k, v in y : k => v... if v)",
        ),
        ("{\nfor k in y :\n k\n =>\n 1 }", "(for k in y : k => 1)"),
    ] {
        check_expression(text, expected);
    }
}

#[test]
fn strings_and_templates() {
    for (text, expected) in [
        (r#""""#, r#""""#),
        (r#""a\n\t\"\\\u00e9\U0001F600""#, "\"a\\n\\t\\\"\\\\é😀\""),
        (
            r#""$${a} %%{b} $a %b 100% $""#,
            r#""$${a} %%{b} $a %b 100% $""#,
        ),
        (r#""$$${a}""#, r#""$$${a}""#),
        (r#""${a}""#, "(wrap a)"),
        (r#""${"${a}"}""#, "(wrap (wrap a))"),
        (r#""a${b}c""#, r#"(template "a" b "c")"#),
        (r#""a ${~ b ~} c""#, r#"(template "a" b "c")"#),
        (r#""${~ b ~}""#, "(wrap b)"),
        (r#""${ {a = "}"} }""#, r#"(wrap (object (a = "}")))"#),
        (
            r#""%{ if a }x%{ else }y%{ endif }""#,
            r#"(template %(if a "x" else "y"))"#,
        ),
        (
            r#""%{ for k, v in a ~} ${k} %{ endfor }""#,
            r#"(template %(for k, v in a : k " "))"#,
        ),
    ] {
        check_expression(text, expected);
    }
}

#[test]
fn heredocs() {
    let body = |text: &str| sound(text).debug_text();
    assert_eq!(
        body("a = <<E\n x\n  y $${z}\nE\n"),
        "a = \" x\\n  y $${z}\\n\"\n"
    );
    assert_eq!(
        body("a = <<-E\n    x\n\n      y\n  E\n"),
        "a = \"x\\n\\n  y\\n\"\n"
    );
    assert_eq!(
        body("a = <<-E\n    x\n  ${b} y\n  E\nb=1\n"),
        "a = (heredoc \"  x\\n\" b \" y\\n\")\nb = 1\n"
    );
    assert_eq!(
        body("a = <<-E\n    x\n${b}\nE\n"),
        "a = (heredoc \"    x\\n\" b \"\\n\")\n"
    );
    assert_eq!(
        body("a = <<E\n\\n \"q\" ${b}\nE  \n"),
        "a = (heredoc \"\\\\n \\\"q\\\" \" b \"\\n\")\n"
    );
    assert_eq!(
        body("a = <<E\r\nx\r\nE\r\nb = 1\r\n"),
        "a = \"x\\r\\n\"\nb = 1\n"
    );
    assert_eq!(
        body("a = [<<E\nx\nE\n, <<F\ny\nF\n]\n"),
        "a = (list \"x\\n\" \"y\\n\")\n"
    );
    assert_eq!(
        body("a = <<E\n%{ for x in y ~}\n  ${x}\n%{ endfor ~}\nE\n"),
        "a = (heredoc %(for x in y : \"  \" x \"\\n\"))\n"
    );
}

/// Strip markers and indentation meet in odd ways; each line is what Terraform makes of it.
#[test]
fn strip_markers_and_indentation() {
    let check = |inside: &str, expected: &str| {
        let text = format!("a = <<-E\n{inside}  E\n");
        assert_eq!(sound(&text).debug_text(), format!("a = {expected}\n"));
    };
    check(
        "    a\n      ${~ b ~}\n    c\n",
        r#"(heredoc "    a\n" b "    c\n")"#,
    );
    check(
        "    %{ if b ~}\n      x\n    %{ endif ~}\n    y\n",
        r#"(heredoc %(if b "      x\n") "    y\n")"#,
    );
    check("      ${b} a\n    c\n", r#"(heredoc "  " b " a\nc\n")"#);
    check("    a\n\n      b\n    \ttab\n", r#""a\n\n  b\n\ttab\n""#);
    check(
        "    %{ for i in b }\n    ${i}\n    %{ endfor }\n    end\n",
        r#"(heredoc %(for i in b : "\n" i "\n") "\nend\n")"#,
    );
    check("", r#""""#);
    check("    \n      x\n", r#""    \nx\n""#);
    check("    a${b\n}\n      c\n", r#"(heredoc "a" b "\n  c\n")"#);
    check(
        "      ${b}${~ c}\n       ${~ d ~}\n      w\n    e\n",
        r#"(heredoc "      " b c "\n" d "      w\n    e\n")"#,
    );
}

#[test]
fn bare_templates() {
    check_template("", "\"\"");
    check_template("a \"b\" \\n", r#""a \"b\" \\n""#);
    check_template("${a}", "(wrap a)");
    check_template("a\n${b}\n", r#"(bare "a\n" b "\n")"#);
    check_template(
        "%{ if a }\n%{ if b }x%{ endif }%{ endif }",
        r#"(bare %(if a "\n" %(if b "x")))"#,
    );
}

#[test]
fn bodies() {
    let text =
        "\u{feff}a = 1 # c\nb \"x\" y {\n  c {}\n  d { e = 1 }\n  f = /* g\n */ 2\n}\n// end";
    let expected = "a = 1\nb \"x\" y {\n  c {\n  }\n  d {\n    e = 1\n  }\n  f = 2\n}\n";
    assert_eq!(sound(text).debug_text(), expected);
    let body = sound(text);
    let block = &body.blocks()[0];
    let of = |r: formwork_diagnostics::SourceRange| &text[r.start as usize..r.end as usize];
    assert_eq!(of(block.header_range()), "b \"x\" y");
    assert_eq!(of(block.close_brace), "}");
    assert!(of(block.range()).ends_with("2\n}"));
    assert_eq!(of(body.attributes()[0].range), "a = 1");
}

#[test]
fn errors_are_told_where_they_are() {
    for (text, expected) in [
        ("a =\nb = 1\n", &["Invalid expression: \n"] as &[_]),
        (
            "a = 1 2\nb 3\n",
            &[
                "Missing newline after argument: 2",
                "Argument or block definition required: b",
            ],
        ),
        (
            "a = [1 2]\nb = {c 1}\n",
            &[
                "Missing item separator: 2",
                "Missing key/value separator: 1",
            ],
        ),
        ("a = f(1\nb = 2\n", &["Missing argument separator: b"]),
        (
            "r \"x\" {\n  a = f(1\n}\ns {\n",
            &[
                "Missing argument separator: }",
                "Unclosed configuration block: s {",
            ],
        ),
        (
            "a = \"x\nb = 1\nc = 2 2\n",
            &[
                "Invalid multi-line string: ",
                "Missing newline after argument: 2",
            ],
        ),
        ("a = \"x\ny\"\n", &["Invalid multi-line string: \n"]),
        ("a = 1\na = 2\n", &["Attribute redefined: a"]),
        ("a = b.0.1\n", &["Invalid legacy index syntax: 0.1"]),
        (
            "a = b.*.c.*.d\n",
            &["Nested splat expression not allowed: *"],
        ),
        ("a = 1.5.5\n", &["Invalid number literal: 1.5.5"]),
        (
            "a = \"\\q\\uD800\"\n",
            &[
                "Invalid escape sequence: \\q",
                "Invalid escape sequence: \\uD800",
            ],
        ),
        ("a = 1 & 2\n", &["Unsupported operator: &"]),
        ("a = 'x'\n", &["Invalid character: '"]),
        (
            "b { c = 1, d = 2 }\ne=1 1\n",
            &[
                "Invalid single-argument block definition: ,",
                "Missing newline after argument: 1",
            ],
        ),
        (
            "b { c = 1\n}\n",
            &["Invalid single-argument block definition: {"],
        ),
        ("b \"x\"\n{\n}\n", &["Invalid block definition: \n"]),
        ("\"a\" = 1\n", &["Invalid argument name: \""]),
        (
            "a = \"%{ if x }y\"\n",
            &["Unexpected end of template: %{ if x }"],
        ),
        (
            "a = \"%{ endif }\"\n",
            &["Unexpected endif directive: %{ endif }"],
        ),
        (
            "a = \"${b c}\" d\n",
            &[
                "Extra characters after interpolation expression: c",
                "Missing newline after argument: d",
            ],
        ),
        ("a = [for x y]\n", &["Invalid 'for' expression: y"]),
        (
            "a = x ? 1\n",
            &["Missing false expression in conditional: \n"],
        ),
        ("a = <<E\nx\nE", &["Unterminated template string: <<E\n"]),
        ("/* x", &["Unterminated comment: /* x"]),
        ("}\na = 1\n", &["Argument or block definition required: }"]),
    ] {
        check_errors(text, expected);
    }
}

#[test]
fn depth_is_no_danger() {
    let nested = format!("a = {}1{}\n", "[".repeat(999), "]".repeat(999));
    assert!(sound(&nested).attributes().len() == 1);
    let chain = format!("a = 1{}\n", " + 1".repeat(10_000));
    let body = sound(&chain);
    let expression = body.attributes()[0].expression.clone();
    drop(body);
    assert!(expression.variables().is_empty());
    assert!(expression.debug_text().len() > 40_000);
    assert!(format!("{expression:?}").len() > 40_000);
    drop(expression);
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{a=", "}"),
        ("f(", ")"),
        ("!", ""),
        ("\"${", "}\""),
        ("a?b:", ""),
    ] {
        let text = format!("a = {}1{}\n", open.repeat(5_000), close.repeat(5_000));
        let (_, diagnostics) = parse(FileId(0), text.as_bytes());
        let first = diagnostics.iter().next().map(|d| d.summary.as_str());
        assert_eq!(first, Some("Nesting too deep"), "for {open}");
    }
    let blocks = format!("{}{}", "a {\n".repeat(999), "}\n".repeat(999));
    drop(sound(&blocks));
    let directives = format!("{}{}", "%{if a}".repeat(999), "%{endif}".repeat(999));
    let (template, diagnostics) =
        parse_template(FileId(0), directives.as_bytes(), OffsetMap::PLAIN);
    assert!(diagnostics.is_empty());
    assert_eq!(template.variables().len(), 999);
}

#[test]
fn references_found() {
    let check = |text: &str, expected: &[&str]| {
        let (e, _) = parse_expression(FileId(0), text.as_bytes(), OffsetMap::PLAIN);
        let found: Vec<_> = e.variables().iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "in {text}");
    };
    check("a.b + c[d.e].f", &["a.b", "c", "d.e"]);
    check("{ a = b, (c) = d, e.f = g }", &["b", "c", "d", "e.f", "g"]);
    check("[for x in x : x.y + z if k]", &["x", "z", "k"]);
    check(
        "\"${a}%{ for i in b }${i}${c}%{ endfor }${i}\"",
        &["a", "b", "c", "i"],
    );
    check("a[*].b[c]", &["a", "c"]);
    check("a.*.b[c.d]", &["a", "c.d"]);
}
