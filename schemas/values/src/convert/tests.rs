//! Answers recorded from `terraform console` 1.11.4.

use super::*;

fn ty(text: &str) -> Type {
    Type::from_json_bytes(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn common_types() {
    fn check(types: &[&str], want: Option<&str>) {
        let types: Vec<Type> = types.iter().map(|t| ty(t)).collect();
        let got = unify(&types).map(|t| t.to_json().to_string());
        assert_eq!(got.as_deref(), want, "{types:?}");
    }
    let (s, n, b, d) = (r#""string""#, r#""number""#, r#""bool""#, r#""dynamic""#);
    check(&[n, s], Some(s));
    check(&[b, n], None);
    check(&[d, n], Some(n));
    check(&[d, d], Some(d));
    check(
        &[
            r#"["object",{"a":"number"}]"#,
            r#"["object",{"b":"number"}]"#,
        ],
        Some(r#"["map","number"]"#),
    );
    check(
        &[
            r#"["object",{"a":"number"}]"#,
            r#"["object",{"b":"string"}]"#,
        ],
        Some(r#"["map","string"]"#),
    );
    check(
        &[r#"["object",{}]"#, r#"["object",{"a":"number"}]"#],
        Some(r#"["map","number"]"#),
    );
    check(
        &[
            r#"["object",{"a":"number","b":"string"}]"#,
            r#"["object",{"a":"string","b":"dynamic"}]"#,
        ],
        Some(r#"["object",{"a":"string","b":"string"}]"#),
    );
    check(
        &[
            r#"["object",{"a":"number","c":["tuple",["number"]]}]"#,
            r#"["object",{"b":"string"}]"#,
        ],
        None,
    );
    check(
        &[
            r#"["tuple",["number",["tuple",["number"]]]]"#,
            r#"["tuple",["string"]]"#,
        ],
        None,
    );
    check(
        &[r#"["list","number"]"#, r#"["set","number"]"#],
        Some(r#"["list","number"]"#),
    );
    check(
        &[r#"["tuple",["number"]]"#, r#"["set","string"]"#],
        Some(r#"["set","string"]"#),
    );
    check(
        &[r#"["set","number"]"#, r#"["tuple",["string"]]"#],
        Some(r#"["set","number"]"#),
    );
    check(
        &[r#"["list","number"]"#, r#"["tuple",["string"]]"#],
        Some(r#"["list","string"]"#),
    );
    check(
        &[
            r#"["object",{"a":["object",{"b":"number"}]}]"#,
            r#"["object",{"a":["object",{"c":"number"}]}]"#,
        ],
        Some(r#"["object",{"a":["map","number"]}]"#),
    );
    check(
        &[r#"["map","number"]"#, r#"["object",{"b":"string"}]"#],
        Some(r#"["map","string"]"#),
    );
    check(
        &[
            r#"["map","number"]"#,
            r#"["object",{"b":["tuple",["number"]]}]"#,
        ],
        None,
    );
    check(&[d, r#"["object",{"a":"number"}]"#], Some(d));
    check(&[d, r#"["list","number"]"#], Some(d));
    check(
        &[r#"["list","dynamic"]"#, r#"["list","number"]"#],
        Some(r#"["list","number"]"#),
    );
    check(
        &[
            r#"["map","dynamic"]"#,
            r#"["object",{"a":["object",{}],"b":["set","string"]}]"#,
        ],
        Some(r#"["object",{"a":["object",{}],"b":["set","string"]}]"#),
    );
    check(
        &[d, r#"["object",{"a":"bool"}]"#, r#"["map","string"]"#],
        Some(r#"["map","string"]"#),
    );
    check(
        &[r#"["tuple",["number"]]"#, r#"["list","string"]"#, d],
        Some(r#"["list","string"]"#),
    );
    check(
        &[
            r#"["tuple",["dynamic","string"]]"#,
            r#"["tuple",[["map","dynamic"],["tuple",["dynamic"]],["list","string"]]]"#,
        ],
        None,
    );
    check(&[r#"["object",{}]"#, r#"["tuple",[]]"#], None);
    check(&[s, r#"["tuple",["number"]]"#], None);
    check(
        &[
            r#"["tuple",[["tuple",["number"]],["tuple",["number","number"]]]]"#,
            r#"["tuple",[["tuple",["string"]]]]"#,
        ],
        Some(r#"["list",["list","string"]]"#),
    );
}

fn num(n: i64) -> Value {
    Value::number(Number::literal(n))
}

use crate::Number;

#[test]
fn values() {
    fn check(value: Value, to: &str, want: Result<Value, &str>) {
        let shown = format!("{value:?} to {to}");
        let got = convert(value, &ty(to));
        match (got, want) {
            (Ok(got), Ok(want)) => assert_eq!(got, want, "{shown}"),
            (Err(got), Err(want)) => assert_eq!(got.to_string(), want, "{shown}"),
            (got, want) => panic!("{shown}: got {got:?}, want {want:?}"),
        }
    }
    let s = Value::string;
    check(num(5), r#""string""#, Ok(s("5")));
    check(
        s("1.50"),
        r#""number""#,
        Ok(Value::number(Number::parse("1.5").unwrap())),
    );
    check(
        s("0x10"),
        r#""number""#,
        Err("a number is required, and this text is not one in decimal digits"),
    );
    check(
        Value::TRUE,
        r#""number""#,
        Err("a number is required, not a bool"),
    );
    check(s("1"), r#""bool""#, Ok(Value::TRUE));
    check(
        s("TRUE"),
        r#""bool""#,
        Err("a bool is required, and this text is neither \"true\" nor \"false\""),
    );
    check(
        Value::tuple(vec![s("a"), num(1), Value::TRUE]),
        r#"["list","dynamic"]"#,
        Ok(Value::list(Type::String, vec![s("a"), s("1"), s("true")])),
    );
    check(
        Value::tuple(vec![num(1), Value::TRUE]),
        r#"["list","dynamic"]"#,
        Err("all elements of a list must have one type, and these have none in common"),
    );
    check(
        Value::tuple(vec![]),
        r#"["list","dynamic"]"#,
        Ok(Value::list(Type::Dynamic, vec![])),
    );
    check(
        Value::tuple(vec![Value::NULL, num(1)]),
        r#"["list","dynamic"]"#,
        Ok(Value::list(
            Type::Number,
            vec![Value::null(Type::Number), num(1)],
        )),
    );
    check(
        Value::tuple(vec![Value::NULL]),
        r#"["list","dynamic"]"#,
        Ok(Value::list(Type::Dynamic, vec![Value::NULL])),
    );
    check(
        Value::tuple(vec![Value::NULL, Value::object([("a", num(1))])]),
        r#"["list","dynamic"]"#,
        Err("all elements of a list must have one type, and these have none in common"),
    );
    check(
        Value::NULL,
        r#"["list","dynamic"]"#,
        Ok(Value::null(Type::list(Type::Dynamic))),
    );
    check(
        Value::tuple(vec![num(3), num(20), num(3)]),
        r#"["set","string"]"#,
        Ok(Value::set(Type::String, vec![s("20"), s("3")])),
    );
    let object = Value::object([("a", num(1)), ("b", s("x")), ("c", Value::TRUE)]);
    check(
        object.clone(),
        r#"["object",{"a":"string","d":["list","string"]},["d"]]"#,
        Ok(Value::object([
            ("a", s("1")),
            ("d", Value::null(Type::list(Type::String))),
        ])),
    );
    check(
        object.clone(),
        r#"["object",{"a":"string","d":"string","e":"bool"}]"#,
        Err("attributes \"d\" and \"e\" are required"),
    );
    check(
        object.clone(),
        r#"["map","dynamic"]"#,
        Ok(Value::map(
            Type::String,
            [("a", s("1")), ("b", s("x")), ("c", s("true"))],
        )),
    );
    check(
        object,
        r#"["object",{"b":"number"}]"#,
        Err("at .b: a number is required, and this text is not one in decimal digits"),
    );
    let map = Value::map(Type::Number, [("a", num(1))]);
    check(
        map.clone(),
        r#"["object",{"a":"string","b":"bool"},["b"]]"#,
        Ok(Value::object([
            ("a", s("1")),
            ("b", Value::null(Type::Bool)),
        ])),
    );
    check(
        map,
        r#"["object",{"a":"string","z":"string"}]"#,
        Err("attribute \"z\" is required"),
    );
    check(s("x").sensitive(), r#""dynamic""#, Ok(s("x").sensitive()));
    check(num(1).sensitive(), r#""string""#, Ok(s("1").sensitive()));
    check(
        Value::tuple(vec![num(1).sensitive()]),
        r#"["set","string"]"#,
        Ok(Value::set(Type::String, vec![s("1")]).sensitive()),
    );
    check(
        Value::dynamic(),
        r#"["list","string"]"#,
        Ok(Value::unknown(Type::list(Type::String))),
    );
    check(
        Value::tuple(vec![Value::dynamic(), s("b")]),
        r#"["list","dynamic"]"#,
        Ok(Value::list(
            Type::String,
            vec![Value::unknown(Type::String), s("b")],
        )),
    );
    check(
        Value::unknown_with(
            Type::tuple([Type::Number, Type::Bool]),
            crate::Refinement::NOT_NULL,
        ),
        r#"["set","string"]"#,
        Ok(Value::unknown_with(
            Type::set(Type::String),
            crate::Refinement::length(1, Some(2)),
        )),
    );
    check(
        Value::null(Type::tuple([Type::Number])),
        r#"["list","dynamic"]"#,
        Ok(Value::null(Type::list(Type::Number))),
    );
    check(
        Value::list(Type::String, vec![s("1"), s("x")]),
        r#"["list","number"]"#,
        Err("at [1]: a number is required, and this text is not one in decimal digits"),
    );
    check(
        Value::tuple(vec![num(1)]),
        r#"["tuple",["string","string"]]"#,
        Err("a tuple of 2 elements is required, and this one has 1"),
    );
    check(
        s("a"),
        r#"["list","string"]"#,
        Err("a list of string is required, not a string"),
    );
    check(
        Value::tuple(vec![
            Value::object([("a", Value::tuple(vec![num(1)]))]),
            Value::object([("a", Value::tuple(vec![s("x"), s("y")]))]),
        ]),
        r#"["list","dynamic"]"#,
        Ok(Value::list(
            Type::object([("a", Type::list(Type::String))]),
            vec![
                Value::object([("a", Value::list(Type::String, vec![s("1")]))]),
                Value::object([("a", Value::list(Type::String, vec![s("x"), s("y")]))]),
            ],
        )),
    );
}

#[test]
fn errors_hold_no_content() {
    let message = |v: Value, ty: &str| convert(v, &self::ty(ty)).unwrap_err().to_string();
    let set = Value::set(Type::String, vec!["hunter2".into()]);
    assert!(message(set, r#"["set","number"]"#).starts_with("at [...]: a number"));
    let map = Value::map(Type::String, [("hunter2", "x".into())]).sensitive();
    assert!(message(map, r#"["map","number"]"#).starts_with("a number"));
}

#[test]
fn origins_survive_conversion() {
    let address: formwork_addresses::AbsResourceInstance = "a_b.c".parse().unwrap();
    let origin = std::sync::Arc::new(crate::Origin {
        address: address.into(),
        path: Path::default(),
    });
    let whole = Value::dynamic().with_origin(&origin);
    let id = whole.get_attribute("id").unwrap();
    assert_eq!(id.origin().unwrap().path.to_string(), ".id");
    let text = convert(id, &Type::String).unwrap();
    assert_eq!(text.origin().unwrap().path.to_string(), ".id");
    let list = convert(Value::tuple(vec![text]), &Type::list(Type::String)).unwrap();
    assert_eq!(
        list.as_sequence().unwrap()[0]
            .origin()
            .unwrap()
            .path
            .to_string(),
        ".id"
    );
}
