//! Identities of objects: kept in the state, handed on to providers, upgraded, and what imports find
//! objects by; imports of what is known only later.

use crate::disk::guard;
use crate::rules::stored;
use crate::scripted::{Deed, Stand, identity, with};
use formwork_ops::PlanOptions;
use formwork_provider::UpgradeIdentityResponse;
use formwork_values::Value;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The identity of the one object in the state.
fn kept(stand: &Stand) -> (serde_json::Value, serde_json::Value) {
    let instance = stand.state()["resources"][0]["instances"][0].clone();
    (
        instance["identity"].clone(),
        instance["identity_schema_version"].clone(),
    )
}

#[tokio::test]
async fn identities_are_kept_and_handed_on() {
    let configuration = |note: &str| {
        format!("resource \"x_thing\" \"t\" {{\n  name = \"t\"\n  note = \"{note}\"\n}}\n")
    };
    let stand = Stand::new(&configuration("1"));
    stand.script.names.store(true, Ordering::SeqCst);
    let ran = stand.run().await;
    assert!(ran.complete, "{}", ran.said);
    let here = (json!({"id": "id-1", "region": "here"}), json!(1));
    assert_eq!(kept(&stand), here);
    // It goes with every request; a provider that says nothing of it changes nothing.
    let silent = |_: &formwork_provider::ApplyRequest,
                  mut response: formwork_provider::ApplyResponse| {
        response.identity = None;
        Deed::Answers(Box::new(response))
    };
    stand.script.applies(silent);
    stand.script.reads(|request, response| {
        assert_eq!(request.identity, Some(identity("id-1", "here")));
        response
    });
    guard(&stand.script.planned).clear();
    stand.write(&configuration("2"));
    let (plan, said) = stand.plan().await;
    let shown = plan.expect("a plan").changes[0].identity.clone();
    let text = |side: Option<Arc<str>>| side.map(|s| serde_json::from_str(&s).expect("JSON"));
    assert_eq!(
        (text(shown.before), text(shown.after)),
        (Some(here.0.clone()), Some(here.0.clone())),
        "{said}"
    );
    let ran = stand.run().await;
    assert!(ran.complete, "{}", ran.said);
    for asked in guard(&stand.script.planned).iter() {
        assert_eq!(asked.identity, Some(identity("id-1", "here")));
    }
    assert_eq!(kept(&stand), here);
    // What reading tells anew is stored, without a change of anything else.
    stand.script.reads(|_, mut response| {
        response.identity = Some(identity("id-1", "there"));
        response
    });
    let ran = stand
        .run_with(&PlanOptions {
            mode: formwork_plan::PlanMode::RefreshOnly,
            ..PlanOptions::default()
        })
        .await;
    assert!(ran.complete, "{}", ran.said);
    assert_eq!(kept(&stand).0["region"], "there");
    // One that is not of the schema is none.
    stand.script.reads(|_, mut response| {
        response.identity = Some(Value::object([("other", Value::int(1))]));
        response
    });
    let ran = stand.run().await;
    assert!(
        ran.said
            .contains("Error Provider produced invalid identity [x_thing.t]"),
        "{}",
        ran.said
    );
    stand.script.behaves();
    stand.script.applies(|_, mut response| {
        response.identity = Some(Value::string("nonsense"));
        Deed::Answers(Box::new(response))
    });
    stand.write(&configuration("3"));
    let ran = stand.run().await;
    assert!(
        ran.said
            .contains("Error Provider produced inconsistent result after apply [x_thing.t]"),
        "{}",
        ran.said
    );
    assert_eq!(kept(&stand).0["region"], "there");
}

#[tokio::test]
async fn stored_identities_of_other_versions() {
    let configuration = |note: &str| {
        format!("resource \"x_thing\" \"t\" {{\n  name = \"t\"\n  note = \"{note}\"\n}}\n")
    };
    let made = Stand::new(&configuration("1"));
    assert!(made.run().await.complete);
    let object = guard(&made.script.world)
        .values()
        .next()
        .expect("one")
        .clone();
    let attributes = made.state()["resources"][0]["instances"][0]["attributes"].clone();
    let (old, new, newer) = (
        json!({"arn": "x:id-1"}),
        json!({"id": "id-1", "region": "up"}),
        json!({"id": "id-1", "zone": "z"}),
    );
    let cases = [
        // of a provider that knows of no identities: as it was, whatever is done to the object
        (false, old.clone(), json!(7), Some((old.clone(), json!(7)))),
        (true, old.clone(), json!(0), Some((new.clone(), json!(1)))),
        (true, new.clone(), json!(1), Some((new.clone(), json!(1)))),
        (true, newer, json!(2), None),
    ];
    for (names, stored_identity, version, expected) in cases {
        let stand = Stand::new(&configuration("2"));
        stand.script.names.store(names, Ordering::SeqCst);
        guard(&stand.script.world).insert("id-1".to_owned(), object.clone());
        *guard(&stand.script.on_identity) = Arc::new(|request| {
            assert_eq!(
                (request.kind.as_str(), request.stored.version),
                ("x_thing", 0)
            );
            UpgradeIdentityResponse {
                upgraded: identity("id-1", "up"),
                reported: Vec::new(),
            }
        });
        stand.script.applies(|_, mut response| {
            response.identity = None;
            Deed::Answers(Box::new(response))
        });
        stand.script.reads(move |request, mut response| {
            response.identity = request.identity.clone();
            response
        });
        stand.put_state(&json!([stored(
            "x_thing",
            "t",
            json!({
                "schema_version": 1, "attributes": attributes, "x_later": {"kept": true},
                "identity": stored_identity, "identity_schema_version": version,
            })
        )]));
        let ran = stand.run().await;
        assert_eq!(ran.complete, expected.is_some(), "{version}: {}", ran.said);
        match expected {
            Some(expected) => {
                assert_eq!(ran.changes, ["x_thing.t update"]);
                assert_eq!(kept(&stand), expected, "{version}");
                let instance = &stand.state()["resources"][0]["instances"][0];
                assert_eq!(instance["x_later"]["kept"], true);
            }
            None => assert!(
                ran.said
                    .contains("Error Resource instance managed by newer provider version"),
                "{}",
                ran.said
            ),
        }
    }
}

#[tokio::test]
async fn imports_by_identity() {
    let import = |identity: &str| {
        format!(
            "resource \"x_thing\" \"t\" {{\n  name = \"t\"\n}}\nimport {{\n  to       = x_thing.t\n  identity = {identity}\n}}\n"
        )
    };
    let cases = [
        ("{ id = \"id-1\" }", Ok(json!(null))),
        ("{ id = \"id-1\", region = \"r\" }", Ok(json!("r"))),
        ("tomap({ id = \"id-1\" })", Ok(json!(null))),
        (
            "{ region = \"r\" }",
            Err("Invalid import identity argument"),
        ),
        (
            "{ id = \"id-1\", zone = \"z\" }",
            Err("Invalid import identity argument"),
        ),
        (
            "{ id = [\"id-1\"] }",
            Err("Invalid import identity argument"),
        ),
        ("{ id = null }", Err("Invalid import identity argument")),
        ("null", Err("Invalid import identity argument")),
        ("\"id-1\"", Err("Invalid import identity argument")),
        (
            "{ id = sensitive(\"id-1\") }",
            Err("Invalid import identity argument"),
        ),
        ("{ id = \"id-9\" }", Err("Import returned no resources")),
    ];
    for (written, expected) in cases {
        let stand = Stand::new("resource \"x_thing\" \"t\" {\n  name = \"t\"\n}\n");
        stand.script.names.store(true, Ordering::SeqCst);
        assert!(stand.run().await.complete);
        std::fs::remove_file(stand.folder.path().join("terraform.tfstate")).expect("removed");
        *guard(&stand.script.on_import) = Arc::new(|request, mut found| {
            assert_eq!(request.id, "");
            for f in &mut found {
                f.identity = request.identity.clone();
            }
            Ok(found)
        });
        stand.write(&import(written));
        let (plan, _) = stand.plan().await;
        let ran = stand.run().await;
        assert_eq!(ran.complete, expected.is_ok(), "{written}: {}", ran.said);
        match expected {
            Ok(region) => {
                assert_eq!(stand.objects(), ["x_thing.t id-1"], "{written}");
                assert_eq!(
                    kept(&stand),
                    (json!({"id": "id-1", "region": region}), json!(1))
                );
                let importing = plan.expect("a plan").changes[0]
                    .importing
                    .clone()
                    .expect("imported");
                assert_eq!(importing.id, "");
                assert!(
                    importing
                        .identity
                        .is_some_and(|i| i.contains("\"id\":\"id-1\""))
                );
            }
            Err(summary) => {
                assert!(ran.said.contains(summary), "{written}: {}", ran.said);
                assert!(ran.said.contains("main.tf:11:"), "{written}: {}", ran.said);
            }
        }
    }
    // where the provider knows of none
    let stand = Stand::new(&import("{ id = \"id-1\" }"));
    let ran = stand.run().await;
    assert!(
        ran.said.contains("Import by identity not supported"),
        "{}",
        ran.said
    );
}

#[tokio::test]
async fn what_is_to_be_imported_may_be_known_later() {
    let configuration = "resource \"x_thing\" \"first\" {\n  name = \"first\"\n}\nresource \"x_thing\" \"t\" {\n  name = \"t\"\n}\nimport {\n  to = x_thing.t\n  id = \"of-${x_thing.first.id}\"\n}\n";
    let each = "resource \"x_thing\" \"first\" {\n  name = \"first\"\n}\nresource \"x_thing\" \"t\" {\n  for_each = toset([\"a\"])\n  name     = \"t\"\n}\nimport {\n  for_each = toset([\"of-${x_thing.first.id}\"])\n  to       = x_thing.t[\"a\"]\n  id       = each.key\n}\n";
    for (configuration, address) in [(configuration, "x_thing.t"), (each, "x_thing.t[\"a\"]")] {
        let stand = Stand::new("resource \"x_thing\" \"t\" {\n  name = \"t\"\n}\n");
        assert!(stand.run().await.complete);
        std::fs::remove_file(stand.folder.path().join("terraform.tfstate")).expect("removed");
        let object = guard(&stand.script.world).remove("id-1").expect("it");
        let object = with(&object, &[("id", Value::string("of-id-2"))]);
        guard(&stand.script.world).insert("of-id-2".to_owned(), object);
        stand.write(configuration);
        let ran = stand.run().await;
        assert!(!ran.complete && stand.objects().is_empty(), "{}", ran.said);
        let deferring = PlanOptions {
            defer: true,
            ..PlanOptions::default()
        };
        let (plan, said) = stand.plan_with(&deferring).await;
        let plan = plan.expect("a plan");
        assert!(!plan.errored && !plan.complete, "{said}");
        let waits: Vec<_> = plan
            .deferred
            .iter()
            .map(|d| (d.address.as_str(), d.reason.word(), d.waits_for.clone()))
            .collect();
        assert_eq!(
            waits,
            [(
                address,
                "resource_config_unknown",
                vec!["x_thing.first".to_owned()]
            )]
        );
        let ran = stand.run_with(&deferring).await;
        assert!(ran.complete, "{}", ran.said);
        assert_eq!(ran.changes, ["x_thing.first create"]);
        let ran = stand.run_with(&deferring).await;
        assert!(ran.complete, "{}", ran.said);
        assert_eq!(
            stand.objects(),
            [
                "x_thing.first id-2".to_owned(),
                format!("{address} of-id-2")
            ],
            "{}",
            ran.said
        );
    }
}
