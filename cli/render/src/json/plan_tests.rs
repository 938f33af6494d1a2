//! Parts of the plan JSON that recorded plans do not reach.

use super::plan_json;
use crate::Schemas;
use formwork_addresses::{AbsProviderConfig, ProviderAddr};
use formwork_plan::{
    Action, ActionReason, CheckKind, CheckObject, CheckResult, CheckStatus, Importing,
    OutputChange, Plan, PlannedVariable, Prior, ResourceInstanceChange,
};
use formwork_values::{Path, Type, Value};
use serde_json::{Value as Json, json};
use std::sync::Arc;

fn change(address: &str, action: Action, before: Value, after: Value) -> ResourceInstanceChange {
    ResourceInstanceChange {
        address: address.parse().expect("an address"),
        previous_address: None,
        deposed: None,
        provider: AbsProviderConfig::root_default(ProviderAddr::implied("demo")),
        action,
        reason: None,
        before,
        after,
        replace_paths: Vec::new(),
        planned_private: Arc::from([]),
        schema_version: 3,
        dependencies: Vec::new(),
        create_before_destroy: false,
        importing: None,
        legacy_type_system: false,
        identity: Default::default(),
    }
}

fn object(n: i64) -> Value {
    Value::object([
        ("id", Value::string("1")),
        ("n", Value::tuple(vec![Value::int(n)])),
        ("secret", Value::string("s").sensitive()),
    ])
}

fn null() -> Value {
    Value::null(object(1).type_of())
}

fn read(plan: &Plan) -> Json {
    serde_json::from_str(&plan_json(plan, None, &Schemas::new())).expect("JSON")
}

#[test]
fn changes() {
    let unknown = Value::object([
        ("id", Value::unknown(Type::String)),
        ("n", Value::tuple(vec![Value::int(2)])),
        ("secret", Value::string("s").sensitive()),
    ]);
    let mut replaced = change(
        "module.m[\"k\"].demo_vm.a[0]",
        Action::CreateThenDelete,
        object(1),
        unknown,
    );
    replaced.reason = Some(ActionReason::ReplaceBecauseCannotUpdate);
    replaced.replace_paths = vec![Path::ROOT.attribute("n").position(0)];
    replaced.previous_address = Some("demo_vm.old".parse().expect("an address"));
    let mut deposed = change("demo_vm.b", Action::Delete, object(1), null());
    deposed.deposed = Some("0123abcd".parse().expect("a key"));
    let mut imported = change("demo_vm.c", Action::NoOp, object(1), object(1));
    imported.importing = Some(Importing {
        id: "x".into(),
        identity: None,
        generated: None,
    });
    let read_already = change("data.demo_vm.d", Action::NoOp, object(1), object(1));
    let mut forgotten = change("demo_vm.e", Action::Forget, object(1), null());
    forgotten.reason = Some(ActionReason::DeleteBecauseNoResourceConfig);
    let plan = Plan {
        changes: vec![read_already, replaced, deposed, imported, forgotten],
        drift: vec![change("demo_vm.b", Action::Update, object(1), object(2))],
        ..Plan::default()
    };
    let got = read(&plan);
    let object = |n: i64| json!({"id": "1", "n": [n], "secret": "s"});
    let sensitive = json!({"n": [false], "secret": true});
    assert_eq!(
        got["resource_changes"],
        json!([
            {
                "address": "demo_vm.b", "mode": "managed", "type": "demo_vm", "name": "b",
                "provider_name": "registry.terraform.io/hashicorp/demo", "deposed": "0123abcd",
                "change": {
                    "actions": ["delete"], "before": object(1), "after": null,
                    "after_unknown": {}, "before_sensitive": sensitive, "after_sensitive": false
                }
            },
            {
                "address": "demo_vm.c", "mode": "managed", "type": "demo_vm", "name": "c",
                "provider_name": "registry.terraform.io/hashicorp/demo",
                "change": {
                    "actions": ["no-op"], "before": object(1), "after": object(1),
                    "after_unknown": {}, "before_sensitive": sensitive,
                    "after_sensitive": sensitive, "importing": {"id": "x"}
                }
            },
            {
                "address": "demo_vm.e", "mode": "managed", "type": "demo_vm", "name": "e",
                "provider_name": "registry.terraform.io/hashicorp/demo",
                "change": {
                    "actions": ["forget"], "before": object(1), "after": null,
                    "after_unknown": {}, "before_sensitive": sensitive, "after_sensitive": false
                },
                "action_reason": "delete_because_no_resource_config"
            },
            {
                "address": "module.m[\"k\"].demo_vm.a[0]", "previous_address": "demo_vm.old",
                "module_address": "module.m[\"k\"]", "mode": "managed", "type": "demo_vm",
                "name": "a", "index": 0, "provider_name": "registry.terraform.io/hashicorp/demo",
                "change": {
                    "actions": ["create", "delete"], "before": object(1),
                    "after": {"n": [2], "secret": "s"}, "after_unknown": {"id": true, "n": [false]},
                    "before_sensitive": sensitive, "after_sensitive": sensitive,
                    "replace_paths": [["n", 0]]
                },
                "action_reason": "replace_because_cannot_update"
            }
        ])
    );
    assert_eq!(got["resource_drift"][0]["change"]["after"], object(2));
    assert_eq!(
        got["planned_values"]["root_module"],
        json!({
            "resources": [{
                "address": "demo_vm.c", "mode": "managed", "type": "demo_vm", "name": "c",
                "provider_name": "registry.terraform.io/hashicorp/demo", "schema_version": 3,
                "values": object(1), "sensitive_values": sensitive
            }],
            "child_modules": [{
                "address": "module.m[\"k\"]",
                "resources": [{
                    "address": "module.m[\"k\"].demo_vm.a[0]", "mode": "managed",
                    "type": "demo_vm", "name": "a", "index": 0,
                    "provider_name": "registry.terraform.io/hashicorp/demo", "schema_version": 3,
                    "values": {"n": [2], "secret": "s"}, "sensitive_values": sensitive
                }]
            }]
        })
    );
}

/// What consumers follow without asking is always there.
#[test]
fn an_empty_plan() {
    let plan = Plan {
        language_version: "1.12.2".into(),
        tool_version: "0.1.0".into(),
        timestamp: "T".into(),
        complete: true,
        ..Plan::default()
    };
    assert_eq!(
        plan_json(&plan, None, &Schemas::new()),
        "{\"format_version\":\"1.2\",\"terraform_version\":\"1.12.2\",\"planned_values\":{\"root_module\":{}},\"timestamp\":\"T\",\"applyable\":false,\"complete\":true,\"errored\":false,\"formwork\":{\"format_version\":\"1.0\",\"tool_version\":\"0.1.0\",\"mode\":\"normal\",\"prior_snapshot\":{\"lineage\":\"\",\"serial\":0}}}\n"
    );
}

#[test]
fn variables_outputs_checks_and_ours() {
    let output = |name: &str, before, after, sensitive| OutputChange {
        name: name.to_owned(),
        before,
        after,
        sensitive,
    };
    let partly = Value::object([("a", Value::unknown(Type::String)), ("b", Value::int(1))]);
    let mut plan = Plan {
        outputs: vec![
            output("gone", Some(Value::int(1)), None, false),
            output("late", None, Some(Value::unknown(Type::String)), true),
            output("partly", None, Some(partly), false),
        ],
        checks: vec![CheckResult::of(
            CheckKind::Variable,
            "module.m.var.x".into(),
            vec![CheckObject {
                address: "module.m[\"k\"].var.x".into(),
                status: CheckStatus::Fail,
                failures: vec!["bad".into()],
            }],
        )],
        targets: vec!["demo_vm.a".into()],
        prior: Prior {
            cloud: Some("world".into()),
            ..Prior::default()
        },
        ..Plan::default()
    };
    let secret = Value::string("s").sensitive();
    plan.variables
        .insert("v".into(), PlannedVariable::Value(secret));
    plan.variables
        .insert("e".into(), PlannedVariable::Ephemeral);
    let got = read(&plan);
    assert_eq!(got["variables"], json!({"e": {}, "v": {"value": "s"}}));
    assert_eq!(
        got["output_changes"],
        json!({
            "gone": {"actions": ["delete"], "before": 1, "after": null, "after_unknown": false, "before_sensitive": false, "after_sensitive": false},
            "late": {"actions": ["create"], "before": null, "after_unknown": true, "before_sensitive": true, "after_sensitive": true},
            "partly": {"actions": ["create"], "before": null, "after": {"b": 1}, "after_unknown": {"a": true}, "before_sensitive": false, "after_sensitive": false}
        })
    );
    assert_eq!(
        got["planned_values"]["outputs"],
        json!({"late": {"sensitive": true}, "partly": {"sensitive": false}})
    );
    assert_eq!(
        got["checks"],
        json!([{
            "address": {"kind": "var", "module": "module.m", "name": "x", "to_display": "module.m.var.x"},
            "status": "fail",
            "instances": [{
                "address": {"module": "module.m[\"k\"]", "to_display": "module.m[\"k\"].var.x"},
                "status": "fail",
                "problems": [{"message": "bad"}]
            }]
        }])
    );
    assert_eq!(got["formwork"]["cloud"], "world");
    assert_eq!(got["formwork"]["targets"], json!(["demo_vm.a"]));
}

#[test]
fn identities_stand_with_the_change() {
    let object = || Value::object([("id", Value::string("1"))]);
    let mut imported = change("demo_vm.c", Action::NoOp, object(), object());
    imported.importing = Some(Importing {
        id: String::new(),
        identity: Some("{\"id\":\"1\"}".to_owned()),
        generated: None,
    });
    imported.identity = formwork_plan::Identities {
        before: Some("{\"id\":\"1\",\"region\":null}".into()),
        after: Some("{\"id\":\"1\",\"region\":\"r\"}".into()),
    };
    let plan = Plan {
        changes: vec![imported],
        ..Plan::default()
    };
    let shown = &read(&plan)["resource_changes"][0]["change"];
    assert_eq!(shown["importing"], json!({"identity": {"id": "1"}}));
    assert_eq!(shown["before_identity"], json!({"id": "1", "region": null}));
    assert_eq!(shown["after_identity"], json!({"id": "1", "region": "r"}));
}
