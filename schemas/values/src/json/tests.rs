use super::*;
use crate::{EncodeError, Marks, Number};

fn n(text: &str) -> Value {
    Value::number(Number::parse(text).unwrap())
}

#[test]
fn implied() {
    fn check(text: &str, want: Result<Value, &str>) {
        match (implied_from_json(text.as_bytes()), want) {
            (Ok(got), Ok(want)) => assert_eq!(got, want, "{text}"),
            (Err(got), Err(want)) => assert_eq!(got.to_string(), want, "{text}"),
            (got, want) => panic!("{text}: got {got:?}, want {want:?}"),
        }
    }
    check("{\"a\":1,\"a\":2}", Ok(Value::object([("a", n("2"))])));
    check(
        " [ 1E+2, 1e-2, -0, null, true ] ",
        Ok(Value::tuple(vec![
            n("100"),
            n("0.01"),
            n("-0"),
            Value::NULL,
            Value::TRUE,
        ])),
    );
    check(
        "\"\\ud83d\\ude00\\ud800x\\n\"",
        Ok(Value::string("😀\u{fffd}x\n")),
    );
    check("\"cafe\\u0301\"", Ok(Value::string("caf\u{e9}")));
    check(
        "01",
        Err("there is more text after the JSON value (byte 1)"),
    );
    check("nul", Err("this is no JSON value (byte 0)"));
    check(
        "\"a\tb\"",
        Err("a control character must be escaped in a string (byte 2)"),
    );
    check("[1,]", Err("at [1]: this is no JSON value (byte 3)"));
    check("", Err("the JSON text ends early (byte 0)"));
    check(
        "[1.]",
        Err("at [0]: a digit belongs after the decimal point (byte 3)"),
    );
    check("{\"a\" 1}", Err("a \":\" belongs here (byte 5)"));
    check(
        "{\"a\":{\"b\":[x]}}",
        Err("at .a.b[0]: this is no JSON value (byte 11)"),
    );
    let big = "1234567890123456789012345678901234567890.125";
    assert_eq!(
        implied_from_json(big.as_bytes())
            .unwrap()
            .as_number()
            .unwrap()
            .to_text(),
        big
    );
    let deep = "[".repeat(20_000);
    assert!(
        implied_from_json(deep.as_bytes())
            .unwrap_err()
            .message
            .contains("too deeply")
    );
    let fits = "[".repeat(1_500) + &"]".repeat(1_500);
    assert!(implied_from_json(fits.as_bytes()).is_ok());
    let fits = "{\"a\":".repeat(900) + "1" + &"}".repeat(900);
    assert!(
        implied_from_json(fits.as_bytes())
            .unwrap()
            .type_of()
            .as_object()
            .is_some()
    );
}

#[test]
fn typed_round_trip() {
    fn check(ty: &str, text: &str) {
        let ty = Type::from_json_bytes(ty.as_bytes()).unwrap();
        let value = value_from_json(text.as_bytes(), &ty).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(value_to_json_as(&value, &ty).unwrap(), text, "{value:?}");
    }
    check(r#""dynamic""#, r#"{"value":"a","type":"string"}"#);
    check(r#""dynamic""#, r#"{"value":null,"type":"number"}"#);
    check(r#""dynamic""#, "null");
    check(
        r#"["list","dynamic"]"#,
        r#"[{"value":[1,"a"],"type":["tuple",["number","string"]]}]"#,
    );
    check(
        r#"["object",{"a":"dynamic","b":["set","number"]}]"#,
        r#"{"a":{"value":{"x":1},"type":["object",{"x":"number"}]},"b":[1,2]}"#,
    );
    check(
        r#"["map",["list","bool"]]"#,
        r#"{"a":[true],"b":null,"c":[]}"#,
    );
    check(r#""number""#, "0.1");
    check(
        r#""string""#,
        r#""\u003c\u003e\u0026\u2028\u0001\t\b\f é😀\"\\/""#,
    );
}

#[test]
fn typed_leniency_and_errors() {
    let ty = Type::object([("a", Type::Number), ("b", Type::String), ("c", Type::Bool)]);
    let got = value_from_json(br#"{"b":5,"a":"7","c":"true"}"#, &ty).unwrap();
    assert_eq!(
        got,
        Value::object([("a", n("7")), ("b", "5".into()), ("c", Value::TRUE)])
    );
    let got = value_from_json(b"{}", &ty).unwrap();
    assert!(got.attribute("a").unwrap().is_null());
    let error = value_from_json(br#"{"z":1}"#, &ty).unwrap_err();
    assert_eq!(error.to_string(), "there is no attribute \"z\" (byte 5)");
    let either = br#"{"type":["list","number"],"value":[1]}"#;
    let got = value_from_json(either, &Type::Dynamic).unwrap();
    assert_eq!(got.type_of(), Type::list(Type::Number));
}

#[test]
fn refusals() {
    let path = |name: &str| Path::default().attribute(name);
    let object = |v: Value| Value::object([("a", v)]);
    assert_eq!(
        value_to_json(&object(Value::dynamic())),
        Err(EncodeError::Unknown(path("a")))
    );
    // nor what has no type to be written by, however deep
    let dynamic = Value::tuple(vec![Value::dynamic()]);
    assert!(matches!(
        value_to_json_as(&dynamic, &Type::Dynamic),
        Err(EncodeError::Unknown(_))
    ));

    let marked = object(Value::TRUE.with_marks(&Marks::SENSITIVE));
    assert_eq!(value_to_json(&marked), Err(EncodeError::Marked(path("a"))));
    let infinite = object(Value::number(Number::infinity()));
    assert_eq!(
        value_to_json(&infinite),
        Err(EncodeError::Infinite(path("a")))
    );
    assert!(value_to_json_as(&Value::TRUE, &Type::String).is_err());
}
