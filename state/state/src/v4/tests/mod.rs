//! Examples, errors, sharing; `any_state` is the property test.

mod any_state;

use super::*;
use crate::Snapshot;
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

#[test]
fn instances_of_providers_stand_at_the_instances() {
    let state = |resource: &str, first: &str, second: &str| {
        format!(
            r#"{{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {{}}, "resources": [
{{"mode": "managed", "type": "a_b", "name": "c", {resource}"instances": [
  {{"index_key": "x", {first}"schema_version": 0, "attributes": {{}}}},
  {{"index_key": "y", {second}"schema_version": 0, "attributes": {{}}}}
]}}], "check_results": null}}"#
        )
    };
    let whole = r#""provider": "provider[\"registry.terraform.io/hashicorp/a\"].in", "#;
    let of = |key: &str| {
        format!(r#""provider": "provider[\"registry.terraform.io/hashicorp/a\"].in[\"{key}\"]", "#)
    };
    let providers = |text: &str| {
        let snapshot = read_well(text);
        let state = snapshot.state;
        ["x", "y"].map(|key| {
            let address = format!("a_b.c[\"{key}\"]").parse().expect("valid");
            let provider = state.provider(&address).expect("one").to_string();
            provider.split("].in").nth(1).unwrap_or("?").to_owned()
        })
    };
    let own = state(whole, &of("x"), &of("y"));
    let written = written(&read_well(&own));
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    assert_eq!(json(&written), json(&own));
    for text in [own, state("", &of("x"), &of("y"))] {
        assert_eq!(providers(&text), ["[\"x\"]", "[\"y\"]"]);
    }
    assert_eq!(providers(&state(whole, &of("x"), "")), ["[\"x\"]", ""]);
    // as a tool might that names the resource's alone
    assert_eq!(providers(&state(&of("z"), "", "")), ["[\"z\"]", "[\"z\"]"]);
}
