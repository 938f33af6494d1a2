//! Byte forms recorded from Terraform 1.11.4.

use super::*;
use crate::{EncodeError, Number, Refinement};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn check(value: &Value, ty: &Type, want: &str) {
    let bytes = to_msgpack(value, ty).unwrap();
    assert_eq!(hex(&bytes), want, "{value:?}");
    assert_eq!(from_msgpack(&bytes, ty).unwrap(), *value);
}

#[test]
fn numbers() {
    for (text, want) in [
        ("0", "00"),
        ("-1", "ff"),
        ("127", "7f"),
        ("128", "cc80"),
        ("256", "cd0100"),
        ("65536", "ce00010000"),
        ("4294967296", "cf0000000100000000"),
        ("9223372036854775807", "cf7fffffffffffffff"),
        (
            "9223372036854775808",
            "b339323233333732303336383534373735383038",
        ),
        ("-129", "d1ff7f"),
        ("-32769", "d2ffff7fff"),
        ("-2147483649", "d3ffffffff7fffffff"),
        ("0.5", "cb3fe0000000000000"),
        ("0.1", "a3302e31"),
        (
            "123456789.123456789123456789",
            "bc3132333435363738392e313233343536373839313233343536373839",
        ),
    ] {
        check(
            &Value::number(Number::parse(text).unwrap()),
            &Type::Number,
            want,
        );
    }
}

#[test]
fn the_rest() {
    let s = Value::string;
    check(&Value::null(Type::Bool), &Type::Bool, "c0");
    check(&Value::unknown(Type::String), &Type::String, "d40000");
    check(
        &Value::unknown_with(Type::String, Refinement::NOT_NULL),
        &Type::String,
        "c7030c8101c2",
    );
    check(
        &Value::unknown_with(Type::String, Refinement::string_prefix("pre-")),
        &Type::String,
        "c7090c8201c202a47072652d",
    );
    check(&Value::dynamic(), &Type::Dynamic, "d40000");
    check(&s("a"), &Type::Dynamic, "92c40822737472696e6722a161");
    check(
        &Value::null(Type::String),
        &Type::Dynamic,
        "92c40822737472696e6722c0",
    );
    check(&Value::NULL, &Type::Dynamic, "c0");
    check(
        &Value::map(Type::Bool, [("b", Value::TRUE), ("a", Value::FALSE)]),
        &Type::map(Type::Bool),
        "82a161c2a162c3",
    );
    check(
        &Value::object([("b", s("x")), ("a", Value::int(1))]),
        &Type::object([("a", Type::Number), ("b", Type::String)]),
        "82a16101a162a178",
    );
    check(
        &Value::set(Type::String, vec![s("b"), s("a")]),
        &Type::set(Type::String),
        "92a161a162",
    );
    let known = Refinement {
        not_null: true,
        lower: Some((Number::ZERO, true)),
        upper: Some((Number::literal(9), false)),
        ..Refinement::NONE
    };
    check(
        &Value::unknown_with(Type::Number, known),
        &Type::Number,
        "c70b0c8301c2039200c3049209c2",
    );
    check(
        &Value::unknown_with(Type::list(Type::Bool), Refinement::length(1, Some(3))),
        &Type::list(Type::Bool),
        "c7070c8301c205010603",
    );
    // other extensions are unknown values too
    assert_eq!(
        from_msgpack(&[0xd5, 9, 1, 2], &Type::Bool).unwrap(),
        Value::unknown(Type::Bool)
    );
}

#[test]
fn refusals() {
    let marked = Value::tuple(vec![Value::TRUE.sensitive()]);
    let error = to_msgpack(&marked, &Type::tuple([Type::Bool])).unwrap_err();
    assert_eq!(error, EncodeError::Marked(Path::default().position(0)));
    for (bytes, ty, want) in [
        (
            &[0xc3, 0xc3][..],
            Type::Bool,
            "there are more bytes after the value (byte 1)",
        ),
        (&[0xa1], Type::String, "the bytes end early (byte 1)"),
        (&[0xa1, 0x61], Type::Bool, "a bool belongs here (byte 0)"),
        (
            &[0x80],
            Type::object([("a", Type::Bool)]),
            "attribute \"a\" is missing (byte 1)",
        ),
        (
            &[0xdd, 0xff, 0xff, 0xff, 0xff],
            Type::list(Type::Bool),
            "at [0]: the bytes end early (byte 5)",
        ),
    ] {
        assert_eq!(from_msgpack(bytes, &ty).unwrap_err().to_string(), want);
    }
}
