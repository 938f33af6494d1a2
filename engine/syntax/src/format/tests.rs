//! Layout, case by case; the recorded ones stand in the integration tests.

use crate::format;
use formwork_diagnostics::FileId;

fn formatted(text: &str) -> String {
    let (out, diagnostics) = format(FileId(0), text.as_bytes());
    assert!(diagnostics.is_empty(), "in {text}: {diagnostics:?}");
    String::from_utf8(out).expect("text stays text")
}

fn check(text: &str, expected: &str) {
    assert_eq!(formatted(text), expected, "of {text}");
}

#[test]
fn spaces() {
    for (text, expected) in [
        ("a=b-c\n", "a = b-c\n"),
        ("d= - - b\n", "d = --b\n"),
        ("k = 1- 2\n", "k = 1 - 2\n"),
        (
            "f=[-c,-  d , {k=-1,l:-1}]\n",
            "f = [-c, -d, { k = -1, l : -1 }]\n",
        ),
        ("g=b?-c:-d\n", "g = b ? -c : -d\n"),
        ("l=c[ -1 ] [0] . e . * . f\n", "l = c[-1][0].e.*.f\n"),
        ("h=\"x\" [0]\n", "h = \"x\" [0]\n"),
        ("e=b ?c ::d(1 ...):f\n", "e = b ? c::d(1...) : f\n"),
        ("a=[for x in [1]:x]\n", "a = [for x in [1] : x]\n"),
        ("b = in [1]\n", "b = in[1]\n"),
        ("b {c=1}\nb  {}\nb {   }\n", "b { c = 1 }\nb {}\nb {}\n"),
        (
            "a=\"x${ { b = c } }${ d }%{ if e ~} y %{ endif }\"\n",
            "a = \"x${ { b = c } }${d}%{if e~} y %{endif}\"\n",
        ),
        ("a = (\td\t) # x  \n", "a = (d) # x  \n"),
        ("a=1#x\r\nb=2\r\n", "a = 1 #x\r\nb = 2\r\n"),
        ("\u{feff}a=1\n  \n", "a = 1\n\n"),
        ("a=1  ", "a = 1  "),
    ] {
        check(text, expected);
    }
}

#[test]
fn indentation() {
    check(
        "a=[[\n1\n]\n,[\n2\n]\n]\nb=f({\nc=1\n},[\n1\n])\n",
        "a = [[\n  1\n  ]\n  , [\n    2\n  ]\n]\nb = f({\n  c = 1\n  }, [\n  1\n])\n",
    );
    check(
        "x {\n a = <<EOT\n   ${ b(\n c\n) } \nEOT\nc=1\n}\n",
        "x {\n  a = <<EOT\n   ${b(\n  c\n)} \nEOT\nc = 1\n}\n",
    );
    check("a=f(b,\nc)\n# d\n  # e\n", "a = f(b,\nc)\n# d\n# e\n");
}

#[test]
fn columns() {
    check(
        "a = \"x\" # é\nbb = \"日本\" # x\nccc = \"👨‍👩‍👧\" # y\n",
        "a   = \"x\"  # é\nbb  = \"日本\" # x\nccc = \"👨‍👩‍👧\"  # y\n",
    );
    check(
        "a=1 /* x */ # z\nbb=2 # y\nccc={\n}\ndddd=1\n",
        "a  = 1 /* x */ # z\nbb = 2         # y\nccc = {\n}\ndddd = 1\n",
    );
    check("/* x */ b=1\ncc=2\n", "/* x */ b = 1\ncc        = 2\n");
}

#[test]
fn old_forms() {
    check("a = \"${b}\"\n", "a = b\n");
    check("a = \"${~ b ~}\" # c\n", "a = b # c\n");
    check(
        "a = \"${\"b\"}\"\nc = (\"${d}\")\n",
        "a = \"b\"\nc = (\"${d}\")\n",
    );
    check(
        "a = \"${b}${c}\"\nd = \"${e(\"${f}\")}\"\n",
        "a = \"${b}${c}\"\nd = e(\"${f}\")\n",
    );
    check("a = \"${\n  b ?\n c : d\n}\"\n", "a = (b ?\nc : d)\n");
    check("a = \"${\n(b)\n}\"\n", "a = (b)\n");
    check(
        "a = { b = \"${c}\" }\nx { d = \"${e}\" }\n",
        "a = { b = \"${c}\" }\nx { d = e }\n",
    );
    check(
        "variable x {\ntype=\"map\"\na {\ntype=list\n}\n}\ntype = list\nvariable y {\ntype=set # z\n}\nvariable z { type = \"string\" }\n",
        "variable \"x\" {\n  type = map(string)\n  a {\n    type = list\n  }\n}\ntype = list\nvariable \"y\" {\n  type = set(any) # z\n}\nvariable \"z\" { type = string }\n",
    );
    check(
        "a /* 1 */ b /* 2 */ \"c\\u00e9\\u0001\\u200b\" /* 3 */ {\n}\nd /* 4 */ {\n}\n",
        "a \"b\" \"cé\\u0001\\u200b\" /* 3 */ {\n}\nd /* 4 */ {\n}\n",
    );
    // Terraform drops this label.
    check("a \"x$y\" {}\n", "a \"x$y\" {}\n");
}

#[test]
fn text_with_errors_stays() {
    let (out, diagnostics) = format(FileId(0), b"a = \nb   = 1\n");
    assert_eq!(out, b"a = \nb   = 1\n");
    assert!(diagnostics.has_errors());
}
