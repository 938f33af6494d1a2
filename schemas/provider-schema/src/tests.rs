//! The rules over small schemas. Values are written as JSON and coerced; `"?"` stands for unknown.

use formwork_values::{Path, Type, Value, implied_from_json, print};

use crate::*;

/// A value of the block's type from JSON, with `"?"` for unknown values.
fn value(block: &Block, json: &str) -> Value {
    let loose = implied_from_json(json.as_bytes()).unwrap();
    let unknown = loose.transform(&mut |_, v| {
        if v.as_str() == Some("?") {
            Value::dynamic()
        } else {
            v
        }
    });
    block
        .coerce(unknown)
        .unwrap_or_else(|e| panic!("{json}: {e}"))
}

fn string() -> Attribute {
    Attribute::new(Type::String)
}

/// A rule with a computed name beside what the user sets.
fn rule() -> Block {
    Block::of_attributes([
        ("port", Attribute::new(Type::Number).optional()),
        ("id", string().computed()),
        ("mode", string().optional().computed()),
    ])
}

fn sample() -> Block {
    Block::new(
        [
            ("name", string().required()),
            ("id", string().computed()),
            ("zone", string().optional().computed()),
            ("note", string().optional()),
            ("tags", Attribute::new(Type::set(Type::String)).optional()),
            ("key", string().optional().sensitive()),
            (
                "auto",
                Attribute::nested(AttributeNesting::Set, rule().into())
                    .optional()
                    .computed(),
            ),
            (
                "one",
                Attribute::nested(AttributeNesting::Single, rule().into()).optional(),
            ),
        ],
        [
            ("rule", NestedBlock::new(BlockNesting::Set, rule())),
            ("disk", NestedBlock::new(BlockNesting::List, rule())),
            ("by", NestedBlock::new(BlockNesting::Map, rule())),
            ("opts", NestedBlock::new(BlockNesting::Single, rule())),
            ("grp", NestedBlock::new(BlockNesting::Group, rule())),
        ],
    )
}

#[test]
fn proposals() {
    fn check(prior: &str, config: &str, want: &str) {
        let block = sample();
        let got = proposed_new_state(&block, &value(&block, prior), &value(&block, config));
        assert_eq!(
            print::console(&got),
            print::console(&value(&block, want)),
            "{prior} {config}"
        );
    }
    // computed: the prior value stays unless configured
    check(
        r#"{"name":"a","id":"1","zone":"z"}"#,
        r#"{"name":"b"}"#,
        r#"{"name":"b","id":"1","zone":"z"}"#,
    );
    check(
        r#"{"name":"a","zone":"z"}"#,
        r#"{"name":"a","zone":"y"}"#,
        r#"{"name":"a","zone":"y"}"#,
    );
    check(
        r#"{"name":"a","note":"n"}"#,
        r#"{"name":"a"}"#,
        r#"{"name":"a"}"#,
    );
    check("null", r#"{"name":"?"}"#, r#"{"name":"?"}"#);
    // sets pair by what the provider cannot have filled in
    check(
        r#"{"name":"a","rule":[{"port":1,"id":"r1","mode":"m"},{"port":2,"id":"r2","mode":"m"}]}"#,
        r#"{"name":"a","rule":[{"port":2},{"port":3}]}"#,
        r#"{"name":"a","rule":[{"port":2,"id":"r2","mode":"m"},{"port":3}]}"#,
    );
    check(
        r#"{"name":"a","rule":[{"port":1,"id":"r1","mode":"m"}]}"#,
        r#"{"name":"a","rule":[{"port":1,"mode":"other"}]}"#,
        r#"{"name":"a","rule":[{"port":1,"mode":"other"}]}"#,
    );
    // lists pair by position, maps by key
    check(
        r#"{"name":"a","disk":[{"port":1,"id":"d1"}],"by":{"x":{"id":"x1"}}}"#,
        r#"{"name":"a","disk":[{"port":9},{"port":8}],"by":{"x":{},"y":{}}}"#,
        r#"{"name":"a","disk":[{"port":9,"id":"d1"},{"port":8}],"by":{"x":{"id":"x1"},"y":{}}}"#,
    );
    check(
        r#"{"name":"a","opts":{"id":"o"},"grp":{"id":"g"},"one":{"id":"n"}}"#,
        r#"{"name":"a","grp":{"port":1},"one":{"port":2}}"#,
        r#"{"name":"a","grp":{"port":1,"id":"g"},"one":{"port":2,"id":"n"}}"#,
    );
    // an optional and computed nested attribute that holds what only the user can have set goes
    check(
        r#"{"name":"a","auto":[{"port":1,"id":"r"}]}"#,
        r#"{"name":"a"}"#,
        r#"{"name":"a"}"#,
    );
    check(
        r#"{"name":"a","auto":[{"id":"r"}]}"#,
        r#"{"name":"a"}"#,
        r#"{"name":"a","auto":[{"id":"r"}]}"#,
    );
}

#[test]
fn plans() {
    fn check(prior: &str, config: &str, planned: &str, want: &[&str]) {
        let block = sample();
        let v = |json| value(&block, json);
        let got = assert_plan_valid(&block, &v(prior), &v(config), &v(planned));
        let got: Vec<String> = got.iter().map(ToString::to_string).collect();
        assert_eq!(got, want, "{prior} {config} {planned}");
    }
    let a = r#"{"name":"a"}"#;
    check("null", a, r#"{"name":"a","id":"?","zone":"?"}"#, &[]);
    check(
        "null",
        a,
        r#"{"name":"b"}"#,
        &[".name: the planned value is not the configured one"],
    );
    check(a, r#"{"name":"A"}"#, a, &[]);
    check(
        a,
        r#"{"name":"A"}"#,
        r#"{"name":"c"}"#,
        &[".name: the planned value is neither the configured nor the prior one"],
    );
    check(
        "null",
        a,
        r#"{"name":"a","note":"?"}"#,
        &[".note: a value is planned for an attribute that the provider does not compute"],
    );
    check(
        "null",
        a,
        "null",
        &["planned for absence, but the configuration wants existence"],
    );
    check(
        "null",
        r#"{"name":"a","zone":"z"}"#,
        r#"{"name":"a","zone":"?"}"#,
        &[".zone: the planned value is not the configured one"],
    );
    check(
        "null",
        r#"{"name":"a","disk":[{"port":1}]}"#,
        r#"{"name":"a","disk":[]}"#,
        &[".disk: the plan has 0 blocks, the configuration 1"],
    );
    check(
        "null",
        r#"{"name":"a","disk":[{"port":1}]}"#,
        r#"{"name":"a","disk":[{"port":2,"id":"?"}]}"#,
        &[".disk[0].port: the planned value is not the configured one"],
    );
    check(
        "null",
        r#"{"name":"a","by":{"x":{}}}"#,
        r#"{"name":"a","by":{"y":{}}}"#,
        &[
            ".by[\"y\"]: a block is planned that the configuration lacks",
            ".by[\"x\"]: the plan lacks a block that the configuration has",
        ],
    );
    check(
        "null",
        r#"{"name":"a","rule":[{"port":1}]}"#,
        r#"{"name":"a","rule":[{"port":1,"id":"?","mode":"?"}]}"#,
        &[],
    );
    check(
        "null",
        r#"{"name":"a","rule":[{"port":1}]}"#,
        r#"{"name":"a","rule":[{"port":2}]}"#,
        &[
            ".rule[...]: no block in the plan answers this one of the configuration",
            ".rule[...]: no block in the configuration answers this one of the plan",
        ],
    );
    check(
        "null",
        a,
        r#"{"name":"a","auto":[{"port":1,"id":"x"}]}"#,
        &[],
    );
    check(
        "null",
        r#"{"name":"a","rule":"?"}"#,
        r#"{"name":"a","rule":"?"}"#,
        &[],
    );
    check(
        "null",
        r#"{"name":"a","rule":"?"}"#,
        r#"{"name":"a","rule":[]}"#,
        &[".rule: blocks that are not known yet must stay unknown in the plan"],
    );
    check(
        "null",
        r#"{"name":"a","one":{"port":1}}"#,
        r#"{"name":"a","one":{"port":1,"id":"?"}}"#,
        &[],
    );
}

#[test]
fn applies() {
    fn check(planned: &str, actual: &str, want: &[&str]) {
        let block = sample();
        let v = |json| value(&block, json);
        let got = assert_object_compatible(&block, &v(planned), &v(actual));
        let got: Vec<String> = got.iter().map(ToString::to_string).collect();
        assert_eq!(got, want, "{planned} {actual}");
    }
    check(r#"{"name":"a","id":"?"}"#, r#"{"name":"a","id":"1"}"#, &[]);
    check(
        r#"{"name":"a"}"#,
        r#"{"name":"b"}"#,
        &[".name: the value is not the planned one"],
    );
    check(
        r#"{"name":"a"}"#,
        r#"{"name":"a","id":"1"}"#,
        &[".id: was planned to be null, but has a value now"],
    );
    check(
        r#"{"name":"a","tags":["x"]}"#,
        r#"{"name":"a","tags":null}"#,
        &[".tags: was planned to have a value, but is null now"],
    );
    check(
        r#"{"name":"a","tags":["x","?"]}"#,
        r#"{"name":"a","tags":["x","y"]}"#,
        &[],
    );
    check(
        r#"{"name":"a","tags":["x","?"]}"#,
        r#"{"name":"a","tags":["x"]}"#,
        &[],
    );
    check(
        r#"{"name":"a","tags":["x"]}"#,
        r#"{"name":"a","tags":["x","y"]}"#,
        &[
            ".tags[...]: no element in the plan answers this one of the result",
            ".tags: the number of elements grew from 1 to 2",
        ],
    );
    check(
        r#"{"name":"a"}"#,
        "null",
        &["was planned to be present, but is absent now"],
    );
    check(
        r#"{"name":"a","disk":[{"port":1}]}"#,
        r#"{"name":"a","disk":[]}"#,
        &[".disk: the number of blocks changed from 1 to 0"],
    );
    check(
        r#"{"name":"a","rule":[{"port":1,"id":"?"}]}"#,
        r#"{"name":"a","rule":[{"port":1,"id":"x"}]}"#,
        &[],
    );
    check(
        r#"{"name":"a","rule":"?"}"#,
        r#"{"name":"a","rule":[{"port":1}]}"#,
        &[],
    );
    check(r#"{"name":"a","id":"?"}"#, r#"{"name":"a","id":"?"}"#, &[]);
    // what the plan promised of an unknown value binds
    let block = sample();
    let promise = formwork_values::Refinement::string_prefix("projects/");
    let planned = value(&block, r#"{"name":"a"}"#).transform(&mut |path, v| {
        if *path == Path::default().attribute("id") {
            Value::unknown_with(Type::String, promise.clone())
        } else {
            v
        }
    });
    let actual = value(&block, r#"{"name":"a","id":"zones/"}"#);
    assert_eq!(assert_object_compatible(&block, &planned, &actual).len(), 1);
}

#[test]
fn shapes() {
    let block = sample();
    assert!(!block.empty_value().attribute("grp").unwrap().is_null());
    assert!(block.empty_value().attribute("opts").unwrap().is_null());
    let refused = |json: &str| {
        block
            .coerce(implied_from_json(json.as_bytes()).unwrap())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(refused("{}"), "attribute \"name\" is required");
    assert_eq!(
        refused(r#"{"name":["a"]}"#),
        "at .name: a string is required, not a tuple"
    );
    assert!(refused(r#"{"name":"a","nope":1}"#).contains("is required"));
    assert_eq!(
        refused(r#"{"name":"a","disk":[{"port":"x"}]}"#),
        "at .disk[0].port: a number is required, and this text is not one in decimal digits"
    );
    assert_eq!(block.suggest("nane"), Some("name"));
    assert_eq!(block.suggest("entirely"), None);

    let secret = value(&block, r#"{"name":"a","key":"k"}"#);
    let paths: Vec<String> = sensitive_paths(&block, &secret)
        .iter()
        .map(Path::to_string)
        .collect();
    assert_eq!(paths, [".key"]);
    let marked = secret.mark_with_paths(&schema_marks(&block, &value(&block, r#"{"name":"a"}"#)));
    assert!(marked.attribute("key").unwrap().marks().is_sensitive());
}

#[test]
fn secrets_inside() {
    let inner = Block::of_attributes([
        ("pass", string().optional().sensitive()),
        ("token", string().optional().write_only()),
    ]);
    let block = Block::new(
        [(
            "objs",
            Attribute::nested(AttributeNesting::Map, inner.clone().into()).optional(),
        )],
        [
            ("list", NestedBlock::new(BlockNesting::List, inner.clone())),
            ("set", NestedBlock::new(BlockNesting::Set, inner)),
        ],
    );
    let v = value(
        &block,
        r#"{"objs":{"k":{"pass":"p","token":"t"}},"list":[{"token":"t"}],"set":[{"pass":"p"}]}"#,
    );
    let shown = |paths: Vec<Path>| paths.iter().map(Path::to_string).collect::<Vec<_>>();
    assert_eq!(
        shown(sensitive_paths(&block, &v)),
        [".list[0].pass", ".objs[\"k\"].pass", ".set"]
    );
    assert_eq!(
        shown(write_only_paths(&block, &v)),
        [".list[0].token", ".objs[\"k\"].token"]
    );
    let bare = without_write_only(&block, &v);
    assert!(write_only_paths(&block, &bare).is_empty());
    assert_eq!(
        bare.at(&Path::default().attribute("objs").key("k").attribute("pass"))
            .unwrap(),
        "p".into()
    );
}

#[test]
fn legacy_nulls_become_empty() {
    let block = sample();
    let empty = value(&block, r#"{"name":"a"}"#);
    let with_nulls = Value::object_of(
        block.object_type().clone(),
        block
            .iter()
            .zip(empty.elements().unwrap())
            .map(|((_, field), (_, v))| match field {
                Field::Block(nested) => Value::null(nested.ty().clone()),
                Field::Attribute(_) => v,
            })
            .collect(),
    );
    assert_eq!(normalise_legacy(&block, &with_nulls), empty);
}

#[test]
fn dynamic_blocks_have_dynamic_types() {
    let inner = Block::of_attributes([("any", Attribute::new(Type::Dynamic).optional())]);
    let block = Block::new(
        [("name", string().optional())],
        [
            ("list", NestedBlock::new(BlockNesting::List, inner.clone())),
            ("map", NestedBlock::new(BlockNesting::Map, inner)),
        ],
    );
    assert_eq!(block.object_type().attribute("list"), Some(&Type::Dynamic));
    let config = value(
        &block,
        r#"{"list":[{"any":1},{"any":"x"}],"map":{"k":{"any":true}}}"#,
    );
    assert_eq!(
        proposed_new_state(&block, &Value::null(block.ty()), &config),
        config
    );
    assert!(assert_plan_valid(&block, &Value::null(block.ty()), &config, &config).is_empty());
    assert!(assert_object_compatible(&block, &config, &config).is_empty());
}
