use super::*;
use crate::Snapshot;
use proptest::prelude::*;
use serde_json::Value as Json;
use std::sync::Arc;

fn check_error(text: &str, expected: &str) {
    let (snapshot, diagnostics) = read(text.as_bytes(), "x.tfstate");
    assert!(snapshot.is_none());
    let told: Vec<String> = diagnostics
        .iter()
        .map(|d| {
            let at = d.address.as_ref().map(|a| format!(" [{a}]"));
            format!("{}: {}{}", d.summary, d.detail, at.unwrap_or_default())
        })
        .collect();
    assert!(
        told.iter().any(|t| t.contains(expected)),
        "{expected}\nnot in\n{told:#?}"
    );
}

#[test]
fn errors_name_the_place_and_the_reason() {
    let resource = |rest: &str| {
        format!(
            "{{\"version\":4,\"serial\":1,\"lineage\":\"l\",\"resources\":[\n{{\"mode\":\"managed\",\"type\":\"a\",\"name\":\"b\",{rest}}}]}}"
        )
    };
    let instances = |list: &str| {
        resource(&format!(
            "\"provider\":\"provider[\\\"terraform.io/builtin/terraform\\\"]\",\"instances\":[{list}]"
        ))
    };
    for (text, expected) in [
        (
            "{\"version\":4,\n  oops",
            "not valid JSON: line 2, column 3: key must be a string",
        ),
        (
            "{\"version\":4,",
            "not valid JSON: line 1, column 13: EOF while parsing",
        ),
        ("[]", "line 1, column 1: a state must be an object"),
        ("{}", "has no \"version\""),
        (
            "{\"version\":3,\"terraform_version\":\"0.11.14\"}",
            "format version 3, written by version 0.11.14 of its tool. Formwork reads version 4",
        ),
        (
            "{\"version\":5,\"terraform_version\":\"9.0.0\"}",
            "format version 5, written by version 9.0.0 of its tool",
        ),
        (
            "{\"version\":4,\"serial\":-1}",
            "line 1, column 23: \"serial\" must be a whole number",
        ),
        (
            "{\"version\":4,\"resources\":{}}",
            "\"resources\" must be a list",
        ),
        (
            &resource("\"x\":1"),
            "line 2, column 1: a resource has no \"provider\"",
        ),
        (
            &resource("\"provider\":\"provider.google\""),
            "run `terraform apply` with Terraform 0.13",
        ),
        (
            &instances("{\"index_key\":1.5}"),
            "\"index_key\" must be a text or a whole number. [a.b]",
        ),
        (&instances("{},{}"), "a.b stands in it twice. [a.b]"),
        (
            &instances("{\"private\":\"?\"}"),
            "\"private\" is not valid base64. [a.b]",
        ),
        (
            &instances("{\"sensitive_attributes\":[1]}"),
            "\"sensitive_attributes\" must be a list of paths",
        ),
    ] {
        check_error(text, expected);
    }
    assert!(read(b"\xff", "x").1.has_errors());
    let (none, d) = read(b" \n", "x");
    assert!(none.is_none() && d.is_empty(), "an empty file is no state");
}

/// What Terraform 1.11.4 wrote, shortened.
const WRITTEN: &str = r#"{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 7,
  "lineage": "4034df4e-548e-f025-24ce-702566fc97ba",
  "outputs": {
    "o": {
      "value": "shh\u003c\u003e\u0026",
      "type": "string",
      "sensitive": true
    }
  },
  "resources": [
    {
      "mode": "managed",
      "type": "terraform_data",
      "name": "a",
      "provider": "provider[\"terraform.io/builtin/terraform\"]",
      "instances": [
        {
          "index_key": "x\"y\u003c",
          "schema_version": 0,
          "attributes": {
            "id": "b55deeed-fc6a-ea60-5046-e80a3564cbb9",
            "input": {
              "value": {
                "e": [],
                "l": [
                  1,
                  2.50,
                  123456789012345678901234567890
                ],
                "n": null
              },
              "type": "dynamic"
            }
          },
          "sensitive_attributes": [
            [
              {
                "type": "get_attr",
                "value": "input"
              }
            ]
          ],
          "private": "bm90ZXM=",
          "dependencies": [
            "module.m.terraform_data.b"
          ],
          "create_before_destroy": true
        }
      ]
    },
    {
      "module": "module.m[10]",
      "mode": "managed",
      "type": "terraform_data",
      "name": "z",
      "provider": "provider[\"terraform.io/builtin/terraform\"]",
      "instances": [
        {
          "schema_version": 0,
          "attributes": {},
          "sensitive_attributes": []
        },
        {
          "status": "tainted",
          "deposed": "0badcafe",
          "schema_version": 0,
          "attributes": {},
          "sensitive_attributes": []
        }
      ]
    },
    {
      "module": "module.m[2]",
      "mode": "managed",
      "type": "terraform_data",
      "name": "z",
      "provider": "provider[\"terraform.io/builtin/terraform\"]",
      "instances": []
    }
  ],
  "check_results": null
}
"#;

fn read_well(text: &str) -> Snapshot {
    let (snapshot, diagnostics) = read(text.as_bytes(), "x.tfstate");
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    snapshot.expect("a snapshot")
}

fn written(snapshot: &Snapshot) -> String {
    String::from_utf8(write(snapshot)).expect("text")
}

#[test]
fn what_terraform_wrote_comes_back_byte_for_byte() {
    let snapshot = read_well(WRITTEN);
    assert_eq!(written(&snapshot), WRITTEN);
    assert!(snapshot.state.order.is_none());
    let address = "terraform_data.a[\"x\\\"y<\"]".parse().expect("valid");
    let object = snapshot.state.object(&address).expect("there");
    assert_eq!(object.private.as_deref(), Some(&b"notes"[..]));
    assert_eq!(
        read_object(&write_object(object)).as_ref(),
        Ok(&**object),
        "one object alone"
    );
}

#[test]
fn the_mock_clouds_identity_is_kept() {
    let mut snapshot = read_well(WRITTEN);
    snapshot.set_cloud(Some("w-1"));
    let again = read_well(&written(&snapshot));
    assert_eq!(again.cloud().as_deref(), Some("w-1"));
    assert_eq!(again, snapshot);
    snapshot.set_cloud(None);
    assert_eq!(written(&snapshot), WRITTEN);
}

#[test]
fn many_instances_share_what_is_equal() {
    let instances: Vec<String> = (0..20_000)
        .map(|i| {
            format!(
                "{{\"index_key\":{i},\"schema_version\":0,\"attributes\":{{\"id\":\"{i}\"}},\"dependencies\":[\"a.b\"]}}"
            )
        })
        .collect();
    let snapshot = read_well(&format!(
        "{{\"version\":4,\"serial\":1,\"lineage\":\"l\",\"terraform_version\":\"1.0.0\",\"outputs\":{{}},\"resources\":[{{\"mode\":\"managed\",\"type\":\"t\",\"name\":\"n\",\"provider\":\"provider[\\\"a/b\\\"]\",\"instances\":[{}]}}]}}",
        instances.join(",")
    ));
    assert_eq!(snapshot.state.instance_count(), 20_000);
    let (seven, eight) = (
        "t.n[7]".parse().expect("valid"),
        "t.n[8]".parse().expect("valid"),
    );
    let object = |state: &crate::State, at| state.object(at).expect("there").clone();
    let provider = snapshot.state.provider(&seven).expect("there").clone();
    let mut clone = snapshot.state.clone();
    let before = object(&snapshot.state, &seven);
    clone.set_object(&seven, &provider, (*before).clone().tainted());
    let (a, b) = (object(&clone, &eight), object(&snapshot.state, &eight));
    assert!(Arc::ptr_eq(&a, &b), "what did not change is shared");
    assert!(Arc::ptr_eq(&a.dependencies, &before.dependencies));
    assert_eq!(read_well(&written(&snapshot)), snapshot);
}

// --- any state at all ---

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
        cases: 30 * seconds,
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
