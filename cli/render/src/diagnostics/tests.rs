use super::*;
use crate::Style;
use formwork_diagnostics::{
    Diagnostic, Diagnostics, ExpressionValue, FunctionCall, SourceMap, SourceRange,
};

const SOURCE: &str = "\
variable \"zone\" {
  default = \"us-east1-b\"
}
resource \"terraform_data\" \"y\" {
\tinput = formatdate(\"é\", var.zone)
}
resource \"terraform_data\" \"z\" {
  input = merge(
    var.zone,
    1,
  )
  bad =
}
";

/// A diagnostic about the `nth` occurrence of `text`.
fn about(text: &str) -> (SourceMap, SourceRange) {
    let mut map = SourceMap::new();
    let file = map.add("main.tf", SOURCE.as_bytes());
    let start = SOURCE.find(text).expect("in the source");
    let range = SourceRange::new(
        file,
        u32::try_from(start).expect("short"),
        u32::try_from(start + text.len()).expect("short"),
    );
    (map, range)
}

fn error() -> Diagnostic {
    Diagnostic::error(
        "Bad thing",
        "This is not good, and it should be made better soon.",
    )
}

#[track_caller]
fn check(diagnostic: Diagnostic, sources: &SourceMap, style: Style, want: &str) {
    assert_eq!(diagnostic_text(&diagnostic, sources, style), want);
}

#[test]
fn plain() {
    let (map, range) = about("var.zone)");
    let mut d = error().at(range).about("terraform_data.y").hint("Ask.");
    d.subject = d
        .subject
        .map(|r| SourceRange::new(r.file, r.start, r.end - 1));
    d.values.push(ExpressionValue {
        traversal: "var.zone".into(),
        statement: "is \"us-east1-b\"".into(),
    });
    d.function_call = Some(FunctionCall {
        called_as: "formatdate".into(),
        signature: "formatdate(format, time)".into(),
    });
    check(
        d,
        &map,
        Style::PLAIN,
        "
Error: Bad thing

  with terraform_data.y,
  on main.tf line 5, in resource \"terraform_data\" \"y\":
   5: \tinput = formatdate(\"é\", var.zone)
      \t                        ^^^^^^^^
    var.zone is \"us-east1-b\"
    the function is formatdate(format, time)

This is not good, and it should be made better soon.

Hint: Ask.
",
    );
}

#[test]
fn several_lines_and_wrapping() {
    let (map, range) = about("merge(\n    var.zone,\n    1,\n  )");
    let narrow = Style {
        width: Some(30),
        ..Style::PLAIN
    };
    check(
        error().at(range),
        &map,
        narrow,
        "
Error: Bad thing

  on main.tf line 8, in resource \"terraform_data\" \"z\":
   8:   input = merge(
                ^^^^^^
   9:     var.zone,
          ^^^^^^^^^
  10:     1,
          ^^
  11:   )
        ^

This is not good, and it
should be made better soon.
",
    );
}

#[test]
fn boxed() {
    let (map, range) = about("bad");
    let style = Style {
        colour: false,
        boxes: true,
        width: Some(80),
        ..Style::PLAIN
    };
    check(
        error().at(range),
        &map,
        style,
        "╷
│ Error: Bad thing
│
│   on main.tf line 12, in resource \"terraform_data\" \"z\":
│   12:   bad =
│         ^^^
│
│ This is not good, and it should be made better soon.
╵
",
    );
}

#[test]
fn without_subject_and_compact() {
    let (map, range) = about("bad");
    let w = |at| {
        Diagnostic::warning("Odd", "Odd indeed.")
            .at_opt(at)
            .about("a.b")
    };
    let mut all = Diagnostics::from(error().about("terraform_data.y[0]"));
    all.push(w(Some(range)));
    all.push(w(None));
    assert_eq!(
        compact_warnings(&all, &map, Style::PLAIN),
        "
Error: Bad thing

  with terraform_data.y[0]

This is not good, and it should be made better soon.

Warnings:

- Odd
  at main.tf:12:3 (and 1 more)
"
    );
}

/// Facts of `oracle/configs/config-errors`: what a subject is, and the snippet it gets.
#[test]
fn snippets_as_terraform_has_them() {
    // (source, start, end, context, code, highlight, end line and column)
    type Case = (
        &'static str,
        u32,
        u32,
        Option<&'static str>,
        &'static str,
        (usize, usize),
        (u32, u32),
    );
    let cases: [Case; 5] = [
        // a block that is itself the subject has no context
        (
            "# one\nresource \"a\" \"b\" {\n}\n",
            6,
            22,
            None,
            "resource \"a\" \"b\" {",
            (0, 16),
            (2, 17),
        ),
        // its label has
        (
            "resource \"a\" \"1bad\" {\n}\n",
            13,
            19,
            Some("resource \"a\" \"1bad\""),
            "resource \"a\" \"1bad\" {",
            (13, 19),
            (1, 20),
        ),
        // an end of line
        (
            "resource \"a\" \"b\" {\n  input = \"x\n}\n",
            31,
            32,
            Some("resource \"a\" \"b\""),
            "  input = \"x\n}",
            (12, 13),
            (3, 1),
        ),
        // nothing at all
        ("a = \n", 4, 4, None, "a = ", (4, 4), (1, 6)),
        // carriage returns are no part of the code
        (
            "b {\r\n  c = 1\r\n}\r\n",
            7,
            8,
            Some("b"),
            "  c = 1",
            (2, 3),
            (2, 4),
        ),
    ];
    for (source, start, end, context, code, highlight, (line, column)) in cases {
        let mut map = SourceMap::new();
        let file = map.add("main.tf", source.as_bytes());
        let d = error().at(SourceRange::new(file, start, end));
        let snippet = Snippets::new(&map).of(&d).expect("has a subject");
        assert_eq!(snippet.context.as_deref(), context, "{source:?}");
        assert_eq!(snippet.lines.join("\n"), code, "{source:?}");
        assert_eq!(
            (snippet.highlight.start, snippet.highlight.end),
            highlight,
            "{source:?}"
        );
        assert_eq!(
            (snippet.end.line, snippet.end.column),
            (line, column),
            "{source:?}"
        );
    }
}

#[test]
fn validate() {
    struct One;
    impl Signatures for One {
        fn signature(&self, name: &str) -> Option<String> {
            (name == "f").then(|| r#"{"name":"f","params":[]}"#.to_owned())
        }
    }
    let (map, range) = about("bad");
    let mut d = error().at(range).hint("Ask.");
    d.function_call = Some(FunctionCall {
        called_as: "f".into(),
        signature: String::new(),
    });
    let mut all = Diagnostics::from(d);
    all.push(Diagnostic::warning("Odd", "").about("a.b"));
    assert_eq!(
        validate_json(&all, &map, &One),
        r#"{
  "format_version": "1.0",
  "valid": false,
  "error_count": 1,
  "warning_count": 1,
  "diagnostics": [
    {
      "severity": "error",
      "summary": "Bad thing",
      "detail": "This is not good, and it should be made better soon.\n\nHint: Ask.",
      "range": {
        "filename": "main.tf",
        "start": {
          "line": 12,
          "column": 3,
          "byte": 191
        },
        "end": {
          "line": 12,
          "column": 6,
          "byte": 194
        }
      },
      "snippet": {
        "context": "resource \"terraform_data\" \"z\"",
        "code": "  bad =",
        "start_line": 12,
        "highlight_start_offset": 2,
        "highlight_end_offset": 5,
        "values": [],
        "function_call": {
          "called_as": "f",
          "signature": {
            "name": "f",
            "params": []
          }
        }
      }
    },
    {
      "severity": "warning",
      "summary": "Odd",
      "detail": "",
      "address": "a.b"
    }
  ]
}
"#
    );
}
