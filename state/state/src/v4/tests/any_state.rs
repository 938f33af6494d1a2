//! Any state at all, read and written, is the same JSON.

use super::{read_well, written};
use proptest::prelude::*;
use serde_json::Value as Json;

type Part = BoxedStrategy<Vec<(String, String)>>;

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text")
}

fn some_of(texts: &[&str]) -> BoxedStrategy<String> {
    let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
    prop::sample::select(texts).boxed()
}

/// JSON as text, with numbers that f64 would spoil.
fn json() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        some_of(&["null", "true", "[ ]", "{}"]),
        "-?[1-9][0-9]{0,40}(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?",
        any::<String>().prop_map(|s| quoted(&s)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|v| format!("[{}]", v.join(" , "))),
            prop::collection::btree_map(any::<String>(), inner, 0..4).prop_map(|m| {
                let entries: Vec<String> = m
                    .iter()
                    .map(|(k, v)| format!("{} :{v}", quoted(k)))
                    .collect();
                format!("{{{}}}", entries.join(",\n"))
            }),
        ]
    })
    .boxed()
}

fn one(key: &'static str, value: BoxedStrategy<String>) -> Part {
    value.prop_map(move |v| vec![(key.to_owned(), v)]).boxed()
}

fn optional(key: &'static str, value: BoxedStrategy<String>) -> Part {
    prop::option::of(value)
        .prop_map(move |v| v.into_iter().map(|v| (key.to_owned(), v)).collect())
        .boxed()
}

/// An object of these parts and of keys that the format does not know, in any order.
fn object_of(parts: Vec<Part>) -> BoxedStrategy<String> {
    let unknown = prop::collection::btree_map("x_[a-z<]{1,6}", json(), 0..3);
    (parts, unknown)
        .prop_map(|(parts, unknown)| {
            let mut entries: Vec<(String, String)> = parts.into_iter().flatten().collect();
            entries.extend(unknown);
            entries
        })
        .prop_shuffle()
        .prop_map(|entries| {
            let entries: Vec<String> = entries
                .iter()
                .map(|(k, v)| format!("{}: {v}", quoted(k)))
                .collect();
            format!("{{ {} }}", entries.join(","))
        })
        .boxed()
}

fn object(index: Option<String>, deposed: bool) -> BoxedStrategy<String> {
    let sensitive = some_of(&[
        "[]",
        "null",
        r#"[[{"type":"get_attr","value":"input"}]]"#,
        r#"[[{"type":"get_attr","value":"a"},{"type":"index","value":{"value":3,"type":"number"}}]]"#,
        r#"[[{"value":"a","type":"get_attr","x_new":1.0e1}]]"#,
    ]);
    let attributes = prop_oneof![one("attributes", json()), one("attributes_flat", json())];
    let mut parts = vec![
        one("schema_version", "[1-9][0-9]{0,3}".boxed()),
        attributes.boxed(),
        optional("sensitive_attributes", sensitive),
        optional("private", some_of(&["null", "\"\"", "\"AAEC/w==\""])),
        optional("identity", json()),
        optional("identity_schema_version", some_of(&["0", "3", "null"])),
        optional("status", some_of(&["\"\"", "\"tainted\""])),
        optional("create_before_destroy", some_of(&["true", "false"])),
        optional(
            "dependencies",
            some_of(&["null", "[ ]", r#"["a.b", "module.m.data.c.d"]"#]),
        ),
    ];
    parts.extend(index.map(|i| one("index_key", Just(i).boxed())));
    if deposed {
        parts.push(one("deposed", some_of(&["\"00c0ffee\""])));
    }
    object_of(parts)
}

fn instances() -> BoxedStrategy<String> {
    let numbers = prop::collection::btree_set(0..20_i64, 0..4)
        .prop_map(|s| s.into_iter().map(|n| Some(n.to_string())).collect());
    let texts = prop::collection::btree_set(".{0,4}", 0..4)
        .prop_map(|s| s.iter().map(|k| Some(quoted(k))).collect());
    let keys = prop_oneof![Just(vec![None::<String>]), numbers, texts];
    (keys, any::<bool>())
        .prop_flat_map(|(keys, with_deposed)| {
            let mut all: Vec<BoxedStrategy<String>> = Vec::new();
            for key in keys {
                all.push(object(key.clone(), false));
                if with_deposed {
                    all.push(object(key, true));
                }
            }
            all
        })
        .prop_shuffle()
        .prop_map(|objects| format!("[{}]", objects.join(",\n")))
        .boxed()
}

fn resource(n: usize) -> BoxedStrategy<String> {
    let (mode, module) = match n % 4 {
        0 => ("\"managed\"", None),
        1 => ("\"data\"", Some("module.m[10]")),
        2 => ("\"managed\"", Some("module.m[2].module.\u{e9}[\"k<\"]")),
        _ => ("\"managed\"", Some("module.m[2]")),
    };
    let providers = some_of(&[
        r#""provider[\"terraform.io/builtin/terraform\"]""#,
        r#""module.m.provider[\"registry.opentofu.org/hashicorp/google\"].east""#,
    ]);
    let mut parts = vec![
        one("mode", some_of(&[mode])),
        one("type", some_of(&["\"terraform_data\""])),
        one("name", Just(format!("\"r{n}\"")).boxed()),
        one("provider", providers),
        optional("each", some_of(&["\"list\"", "\"map\"", "null"])),
        one("instances", instances()),
    ];
    parts.extend(module.map(|m| one("module", Just(quoted(m)).boxed())));
    object_of(parts)
}

fn state() -> BoxedStrategy<String> {
    let output = object_of(vec![
        one("value", json()),
        one("type", json()),
        optional("sensitive", some_of(&["true", "false"])),
    ]);
    let outputs = prop::collection::btree_map("[a-z]{1,3}", output, 0..3).prop_map(|m| {
        let entries: Vec<String> = m.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
        format!("{{{}}}", entries.join(","))
    });
    let resources = (0..6_usize)
        .prop_flat_map(|n| (0..n).map(resource).collect::<Vec<_>>())
        .prop_shuffle()
        .prop_map(|r| format!("[{}]", r.join(",")));
    object_of(vec![
        one("version", some_of(&["4"])),
        one(
            "terraform_version",
            "1\\.[0-9]\\.0".prop_map(|v| quoted(&v)).boxed(),
        ),
        one("serial", "[1-9][0-9]{0,15}".boxed()),
        one("lineage", "[a-z]{8}".prop_map(|v| quoted(&v)).boxed()),
        one("outputs", outputs.boxed()),
        one("resources", resources.boxed()),
        optional("check_results", json()),
    ])
}

/// The JSON but for white space, order of keys and spelling of texts; each digit of a number counts.
fn normal(text: &str) -> Json {
    let mut out = String::new();
    let (mut in_string, mut escaped, mut in_number) = (false, false, false);
    for c in text.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else {
            let digit = c.is_ascii_digit() || matches!(c, '-' | '+' | '.');
            let part = digit || (in_number && matches!(c, 'e' | 'E'));
            if part != in_number {
                out.push_str(if part { "\"#" } else { "\"" });
                in_number = part;
            }
            in_string = c == '"';
        }
        out.push(c);
    }
    serde_json::from_str(&out).expect("JSON")
}

fn budgeted() -> ProptestConfig {
    let seconds: u32 = std::env::var("FORMWORK_TEST_BUDGET")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(10);
    println!("seed 20261130, budget {seconds} s");
    ProptestConfig {
        cases: 12 * seconds,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_130),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(budgeted())]

    #[test]
    fn any_state_read_and_written_is_equal_as_json(text in state()) {
        let snapshot = read_well(&text);
        let once = written(&snapshot);
        prop_assert_eq!(normal(&text), normal(&once));
        let again = read_well(&once);
        prop_assert_eq!(&again, &snapshot);
        prop_assert_eq!(written(&again), once);
    }
}
