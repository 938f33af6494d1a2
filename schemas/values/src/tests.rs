//! Values: how they are made, read, compared, marked and taken apart.

use std::sync::Arc;

use crate::*;

fn s(text: &str) -> Value {
    Value::string(text)
}

fn origin() -> Arc<Origin> {
    let address: formwork_addresses::AbsResourceInstance =
        "google_compute_network.n[0]".parse().unwrap();
    Arc::new(Origin {
        address: address.into(),
        path: Path::default(),
    })
}

#[test]
fn values_are_small() {
    assert_eq!(std::mem::size_of::<Value>(), 24);
    assert!(std::mem::size_of::<Number>() <= 16);
}

#[test]
fn deep_values_live_and_die() {
    let mut value = s("core");
    for _ in 0..10_000 {
        value = Value::tuple(vec![value]);
    }
    assert_eq!(value.depth(), 10_000);
    let other = value
        .clone()
        .transform(&mut |_, v| if v == s("core") { Value::TRUE } else { v });
    assert_ne!(value, other);
    let ty = value.type_of();
    assert!(!ty.has_dynamic());
    // a type has no drop of its own: it is let go on a stack with room
    std::thread::Builder::new()
        .stack_size(64 << 20)
        .spawn(move || drop(ty))
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn strings_are_normalised() {
    assert_eq!(s("cafe\u{301}"), s("caf\u{e9}"));
    let map = Value::map(Type::Bool, [("cafe\u{301}", Value::TRUE)]);
    assert!(map.attribute("caf\u{e9}").is_some());
}

#[test]
fn sets_are_canonical() {
    fn check(values: &[&str], want: &[&str]) {
        // as jsonencode of a recorded set shows them
        let all = values
            .iter()
            .map(|t| implied_from_json(t.as_bytes()).unwrap())
            .collect();
        let set = convert(Value::tuple(all), &Type::set(Type::Dynamic)).unwrap();
        let shown: Vec<String> = set
            .as_sequence()
            .unwrap()
            .iter()
            .map(|v| value_to_json(v).unwrap())
            .collect();
        assert_eq!(shown, want);
    }
    check(
        &["3", "20", "100", "-1", "1.5", "3.0"],
        &["-1", "1.5", "3", "20", "100"],
    );
    check(
        &["\"b\"", "\"a\"", "10", "9", "\"b\""],
        &["\"10\"", "\"9\"", "\"a\"", "\"b\""],
    );
    check(&["null", "\"a\""], &["\"a\"", "null"]);
    check(&["[1]", "[1,2]", "[]"], &["[1,2]", "[1]", "[]"]);
    check(&["[10]", "[9]"], &["[10]", "[9]"]);
    check(
        &[
            "{\"a\":0.00001}",
            "{\"a\":123456789.123456}",
            "{\"a\":2.5}",
            "{\"a\":12345678901.5}",
            "{\"a\":-3.5}",
        ],
        &[
            "{\"a\":-3.5}",
            "{\"a\":12345678901.5}",
            "{\"a\":123456789.123456}",
            "{\"a\":0.00001}",
            "{\"a\":2.5}",
        ],
    );
    check(
        &["{\"a\":null}", "{\"a\":\"x\"}"],
        &["{\"a\":\"x\"}", "{\"a\":null}"],
    );
}

#[test]
fn sets_lift_marks_and_keep_unknowns() {
    let set = Value::set(Type::String, vec![s("a"), s("a").sensitive()]);
    assert_eq!(set, Value::set(Type::String, vec![s("a")]).sensitive());
    let unknown = || Value::unknown(Type::String);
    let set = Value::set(Type::String, vec![unknown(), s("a"), unknown()]);
    assert_eq!(set.as_sequence().unwrap().len(), 3);
    let length = set.length().unwrap();
    let bounds = &length.as_unknown().unwrap().refinement;
    assert_eq!(bounds.lower, Some((Number::ONE, true)));
    assert_eq!(bounds.upper, Some((Number::literal(3), true)));
}

#[test]
fn equality_of_the_language() {
    fn check(a: Value, b: Value, want: Option<bool>) {
        let shown = format!("{a:?} == {b:?}");
        assert_eq!(a.known_equal(&b), want, "{shown}");
        assert_eq!(b.known_equal(&a), want, "{shown}");
    }
    let one = || Value::int(1);
    let unknown = || Value::unknown(Type::String);
    let prefixed = |p: &str| Value::unknown_with(Type::String, Refinement::string_prefix(p));
    check(s("1"), one(), Some(false));
    check(
        Value::tuple(vec![one()]),
        Value::list(Type::Number, vec![one()]),
        Some(false),
    );
    check(
        Value::empty_object(),
        Value::map::<Arc<str>>(Type::Dynamic, []),
        Some(false),
    );
    check(Value::NULL, Value::null(Type::String), Some(true));
    check(Value::NULL, one(), Some(false));
    check(unknown(), s("a"), None);
    check(unknown(), one(), Some(false));
    check(unknown(), Value::NULL, None);
    check(prefixed("pre-"), Value::NULL, Some(false));
    check(prefixed("pre-"), s("pre-x"), None);
    check(prefixed("pre-"), s("other"), Some(false));
    check(prefixed("pre-"), prefixed("xre-"), Some(false));
    check(prefixed("pre-"), prefixed("pre-a-"), None);
    check(Value::dynamic(), one(), None);
    check(
        Value::tuple(vec![unknown(), s("x")]),
        Value::tuple(vec![unknown(), s("y")]),
        Some(false),
    );
    check(
        Value::tuple(vec![unknown()]),
        Value::tuple(vec![s("y")]),
        None,
    );
    check(
        Value::object([("a", unknown())]),
        Value::object([("b", one())]),
        Some(false),
    );
    check(
        Value::list(Type::String, vec![]),
        Value::list(Type::Bool, vec![]),
        Some(false),
    );
    check(
        // as recorded: compact([]) == tolist([]) is false
        Value::list(Type::String, vec![]),
        Value::list(Type::Dynamic, vec![]),
        Some(false),
    );
    check(
        Value::unknown_with(Type::list(Type::String), Refinement::length(2, None)),
        Value::list(Type::String, vec![s("a")]),
        Some(false),
    );
    let marked = Value::tuple(vec![one().sensitive()]).equals(&Value::tuple(vec![one()]));
    assert_eq!(marked, Value::TRUE.sensitive());
}

#[test]
fn access() {
    fn check(got: Result<Value, AccessError>, want: Result<Value, &str>) {
        match (got, want) {
            (Ok(got), Ok(want)) => assert_eq!(got, want),
            (Err(got), Err(want)) => assert_eq!(got.to_string(), want),
            (got, want) => panic!("got {got:?}, want {want:?}"),
        }
    }
    let object = Value::object([("a", Value::int(1)), ("b", s("x").sensitive())]);
    check(object.get_attribute("a"), Ok(Value::int(1)));
    check(object.get_attribute("b"), Ok(s("x").sensitive()));
    check(
        object.get_attribute("c"),
        Err("a value of type object with 2 attributes has no attribute \"c\""),
    );
    check(
        object.clone().sensitive().get_attribute("a"),
        Ok(Value::int(1).sensitive()),
    );
    check(object.index(&s("a")), Ok(Value::int(1)));
    let list = Value::list(Type::String, vec![s("p"), s("q")]);
    check(list.index(&Value::int(1)), Ok(s("q")));
    check(list.index(&s("1")), Ok(s("q")));
    check(
        list.index(&Value::int(2)),
        Err("this list of string has 2 elements and none by that key"),
    );
    check(
        list.index(&Value::number(Number::parse("0.5").unwrap())),
        Err("the index must be a whole number that is not negative"),
    );
    check(
        list.index(&Value::unknown(Type::Number)),
        Ok(Value::unknown(Type::String)),
    );
    check(
        list.index(&Value::int(0).sensitive()),
        Ok(s("p").sensitive()),
    );
    check(
        Value::set(Type::Bool, vec![]).index(&Value::int(0)),
        Err("a value of type set of bool has no elements by index"),
    );
    check(Value::NULL.get_attribute("a"), Err("the value is null"));
    check(
        s("x").get_attribute("a"),
        Err("a value of type string has no attribute \"a\""),
    );
    check(Value::dynamic().index(&Value::int(0)), Ok(Value::dynamic()));
    let map = Value::map(Type::Number, [("k", Value::int(5))]);
    check(map.get_attribute("k"), Ok(Value::int(5)));
    check(map.at(&Path::default().key("k")), Ok(Value::int(5)));
    check(list.length(), Ok(Value::int(2)));
    check(
        Value::unknown(Type::tuple([Type::Bool, Type::Bool])).length(),
        Ok(Value::int(2)),
    );
}

#[test]
fn origins_follow_traversal() {
    let ty = Type::object([(
        "nics",
        Type::list(Type::object([("network", Type::String)])),
    )]);
    let object = Value::unknown(ty).with_origin(&origin());
    let network = object
        .get_attribute("nics")
        .and_then(|v| v.index(&Value::int(1)))
        .and_then(|v| v.get_attribute("network"))
        .unwrap();
    assert_eq!(
        format!("{:?}", network.origin().unwrap()),
        "google_compute_network.n[0].nics[1].network"
    );
    // an object whose attributes are unknown one by one
    let object = Value::object([("id", Value::unknown(Type::String)), ("name", s("n"))]);
    let object = object.with_origin(&origin());
    let id = object.get_attribute("id").unwrap();
    assert_eq!(id.origin().unwrap().path.to_string(), ".id");
    // equality does not see it, and marks do not hide it
    assert_eq!(id, Value::unknown(Type::String));
    assert_eq!(id.clone().sensitive().origin(), id.origin());
    // it survives what else gets known, and nothing else makes one
    assert!(id.refine(&Refinement::NOT_NULL).origin().is_some());
    assert!(Value::unknown(Type::String).origin().is_none());
}

#[test]
fn marks_by_path() {
    let value = Value::object([("a", Value::tuple(vec![s("x").sensitive()])), ("b", s("y"))]);
    let (bare, marks) = value.clone().unmark_deep();
    let shown: Vec<String> = marks.iter().map(|(p, _)| p.to_string()).collect();
    assert_eq!(shown, [".a[0]"]);
    assert!(!bare.contains_marks());
    assert_eq!(bare.clone().mark_with_paths(&marks), value);
    // a path that leads nowhere marks what encloses it
    let nowhere = vec![(
        Path::default().attribute("a").attribute("zz"),
        Marks::SENSITIVE,
    )];
    let marked = bare.mark_with_paths(&nowhere);
    assert!(marked.attribute("a").unwrap().is_marked() && !marked.is_marked());
    let deprecated = Mark::Deprecated(Arc::new(Deprecation {
        source: "var.a".into(),
        message: "no".into(),
    }));
    let twice = s("x").mark(deprecated.clone()).sensitive().mark(deprecated);
    assert_eq!(twice.marks().iter().count(), 2);
}

#[test]
fn nothing_sensitive_is_shown() {
    let secret = Value::object([
        ("a", s("hunter2").sensitive()),
        (
            "b",
            Value::tuple(vec![s("hunter2").with_marks(&Marks::EPHEMERAL)]),
        ),
    ]);
    let shown = format!("{secret:?} {}", print::console(&secret));
    assert!(!shown.contains("hunter2"), "{shown}");
    let path = Path::default().index(s("hunter2").sensitive());
    assert!(!format!("{path} {path:?}").contains("hunter2"));
}

#[test]
fn paths_print() {
    let path = Path::default()
        .attribute("disk")
        .position(0)
        .attribute("labels")
        .key("a \"b\"");
    assert_eq!(path.to_string(), ".disk[0].labels[\"a \\\"b\\\"\"]");
    assert_eq!(
        Path::default().index(Value::empty_object()).to_string(),
        "[...]"
    );
}

#[test]
fn types_print_and_read() {
    let object = ObjectType::new([("a", Type::Number), ("b-c", Type::list(Type::Dynamic))])
        .with_optional(|n| n == "a");
    let ty = Type::Object(object.into());
    assert_eq!(
        ty.to_string(),
        "object({a = optional(number), b-c = list(any)})"
    );
    assert_eq!(
        ty.to_json().to_string(),
        r#"["object",{"a":"number","b-c":["list","dynamic"]},["a"]]"#
    );
    assert_eq!(Type::from_json(&ty.to_json()).unwrap(), ty);
    assert_ne!(ty.without_optional(), ty);
    for bad in [
        "1",
        "\"text\"",
        "[\"list\"]",
        "[\"object\",{},[\"x\"]]",
        "[\"tuple\",{}]",
        "{}",
    ] {
        assert!(Type::from_json_bytes(bad.as_bytes()).is_err(), "{bad}");
    }
    let twice = ObjectType::new([("b", Type::Bool), ("a", Type::Bool), ("b", Type::String)]);
    assert_eq!(twice.names().len(), 2);
    assert_eq!(twice.attribute("b"), Some(&Type::String));
}
