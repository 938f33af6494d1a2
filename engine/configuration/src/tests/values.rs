//! Types, defaults and values from outside.

use super::*;

#[test]
fn types_and_defaults() {
    let (c, d, sources) = read(
        r#"
variable "x" {
  type = map(object({
    name = string
    size = optional(number, 10)
    tags = optional(object({ a = optional(string, "x") }), {})
    note = optional(string)
  }))
}
"#,
    );
    assert_eq!(told(&d, &sources), [""; 0]);
    let x = &c.root().expect("root").variables["x"];
    let given = Value::object([(
        "k",
        Value::object([("name", Value::from("n")), ("size", Value::NULL)]),
    )]);
    let v = x.accept(given).expect("accepted");
    let Kind::Map(entries) = v.kind() else {
        panic!("no map");
    };
    let object = &entries[0].1;
    let text = |path: &str| object.attribute(path).cloned().expect("attribute");
    assert_eq!(
        text("size").as_number().map(ToString::to_string).as_deref(),
        Some("10")
    );
    assert_eq!(
        text("tags")
            .attribute("a")
            .and_then(|v| v.as_str().map(str::to_owned))
            .as_deref(),
        Some("x")
    );
    assert!(text("note").is_null());
    for (ty, column) in [
        (
            "\"string\"",
            "10-18 Invalid quoted type constraints | Write string.",
        ),
        ("object", "10-16 Invalid type specification"),
        (
            "lists(string)",
            "10-23 Invalid type specification | Did you mean \"list\"?",
        ),
        ("list()", "14-16 Invalid type specification"),
        ("optional(string)", "10-18 Invalid type specification"),
        ("tuple(string)", "16-22 Invalid type specification"),
        ("map(string,number)", "21-27 Invalid type specification"),
        (
            "list(\"string\")",
            "15-23 Invalid type specification | Write string, without quotes.",
        ),
        (
            "object({a=optional(number,\"x\")})",
            "36-39 Invalid default value for optional attribute",
        ),
        (
            "object({a=string,a=number})",
            "27-28 Invalid type specification",
        ),
    ] {
        check(
            &format!("variable \"a\" {{\n  type = {ty}\n}}"),
            &[&format!("main.tf:2:{column}")],
        );
    }
    check(
        "variable \"a\" {\n type=number\n default=\"x\"\n}",
        &["main.tf:3:10-13 Invalid default value for variable"],
    );
    check(
        "variable \"a\" {\n nullable=false\n default=null\n}",
        &["main.tf:3:10-14 Invalid default value for variable"],
    );
    check(
        "variable \"a\" {\n sensitive=\"x\"\n}",
        &["main.tf:2:12-15 Unsuitable value type"],
    );
    check(
        "variable \"a\" {\n validation {\n condition=true\n error_message=\"x\"\n}\n}",
        &["main.tf:3:12-16 Invalid validation expression"],
    );
}

#[test]
fn values_from_outside() {
    let (c, _, mut sources) = read(
        "variable \"s\" {}\nvariable \"l\" {\n type=list(string)\n}\nvariable \"n\" {\n nullable=false\n default=\"d\"\n}",
    );
    let root = c.root().expect("root").clone();
    let (v, d) = root.variables["s"].value_from_text("[1]", &mut sources);
    assert_eq!((v.as_str(), d.is_empty()), (Some("[1]"), true));
    let (v, d) = root.variables["l"].value_from_text("[1, \"a\"]", &mut sources);
    assert!(d.is_empty());
    assert_eq!(
        root.variables["l"]
            .accept(v)
            .expect("list")
            .as_sequence()
            .map(<[_]>::len),
        Some(2)
    );
    let (_, d) = root.variables["l"].value_from_text("hello", &mut sources);
    assert!(d.has_errors());
    assert_eq!(
        root.variables["n"]
            .accept(Value::NULL)
            .expect("default")
            .as_str(),
        Some("d")
    );

    let (values, d) = parse_tfvars(
        "x.tfvars",
        b"a = 1\nb = var.x\nvariable \"c\" {}\n",
        &mut sources,
    );
    assert_eq!(values.keys().map(|k| &**k).collect::<Vec<_>>(), ["a"]);
    assert_eq!(
        told(&d, &sources),
        [
            "x.tfvars:3:1-9 Unexpected \"variable\" block | Variables are declared in .tf files; here they are given values, as in name = \"value\".",
            "x.tfvars:2:5-10 Variables not allowed",
        ]
    );
}

#[test]
fn constants_are_computed_but_refer_to_nothing() {
    let (c, d, _) = read("variable \"a\" {\n default = 60 * 60 + 1\n}");
    assert!(d.is_empty(), "{d:?}");
    let default = c.root().expect("root").variables["a"].default.clone();
    assert_eq!(
        default
            .and_then(|v| v.as_number().map(ToString::to_string))
            .as_deref(),
        Some("3601")
    );
    check(
        "variable \"a\" {\n default=var.b\n}",
        &["main.tf:2:10-15 Variables not allowed"],
    );
    check(
        "variable \"a\" {\n default=upper(\"x\")\n}",
        &["main.tf:2:10-15 Function calls not allowed"],
    );
    check(
        "output \"a\" {\n value=1\n sensitive=var.x\n}",
        &["main.tf:3:12-17 Variables not allowed"],
    );
}
