//! The rules between us and providers, beyond what was recorded: proposed objects, what a provider may
//! plan and make, what it says and where, what it gives up. A scripted provider answers by rule; what is
//! right is worked out from the documents of the protocol.

use crate::disk::guard;
use crate::scripted::{Deed, Stand, says, string, with};
use formwork_diagnostics::Diagnostic;
use formwork_ops::PlanOptions;
use formwork_provider::{
    Bytes, DeferredReason, ImportedObject, MoveResponse, RawState, Reported, UpgradeResponse,
};
use formwork_values::{Path, Type, Value};
use serde_json::json;
use std::sync::Arc;

/// `key=made` of each object in an attribute or block.
fn pairs(object: &Value, name: &str) -> Vec<String> {
    let pair = |v: &Value| {
        let key = string(v, "key")?;
        let made = v.attribute("made")?;
        Some(match made.is_known() {
            true => format!("{key}={}", made.as_str().unwrap_or("null")),
            false => format!("{key}=?"),
        })
    };
    let Some(value) = object.attribute(name) else {
        return vec![format!("no {name}")];
    };
    if let Some(one) = pair(value) {
        return vec![one];
    }
    let elements = value.elements().unwrap_or_default();
    let mut all: Vec<String> = elements.iter().filter_map(|(_, v)| pair(v)).collect();
    if matches!(value.type_of(), Type::Set(_)) {
        all.sort();
    }
    all
}

const NESTED: [&str; 9] = [
    "single", "list", "set", "map", "bsingle", "bgroup", "blist", "bset", "bmap",
];

/// A configuration with these keys in each nested part: of maps the key is the text before it.
fn nested(one: &str, many: &[&str], note: &str) -> String {
    let key = |k: &&str| format!("{{ key = \"{k}\" }}");
    let list: Vec<String> = many.iter().map(key).collect();
    let entry = |(i, k): (usize, &&str)| format!("m{i} = {{ key = \"{k}\" }}");
    let map: Vec<String> = many.iter().enumerate().map(entry).collect();
    let mut text = format!(
        "resource \"x_thing\" \"t\" {{\n  name = \"t\"\n  note = \"{note}\"\n  single = {{ key = \"{one}\" }}\n  \
         list = [{0}]\n  set = [{0}]\n  map = {{ {1} }}\n  bsingle {{\n    key = \"{one}\"\n  }}\n  bgroup {{\n    \
         key = \"{one}\"\n  }}\n",
        list.join(", "),
        map.join(", ")
    );
    for block in ["blist", "bset"] {
        for k in many {
            text += &format!("  {block} {{\n    key = \"{k}\"\n  }}\n");
        }
    }
    for (i, k) in many.iter().enumerate() {
        text += &format!("  bmap \"m{i}\" {{\n    key = \"{k}\"\n  }}\n");
    }
    text + "}\n"
}

#[tokio::test]
async fn what_is_proposed_in_every_nesting() {
    let stand = Stand::new(&nested("s", &["a", "b"], "1"));
    stand.script.applies(|_, mut response| {
        // each says of which key it was made
        response.new = response.new.transform(&mut |_, v| {
            let made = v
                .attribute("made")
                .and_then(|m| Some(m.as_str()? == "made"));
            match (string(&v, "key"), made) {
                (Some(key), Some(true)) => {
                    with(&v, &[("made", Value::string(format!("of {key}")))])
                }
                _ => v,
            }
        });
        Deed::Answers(Box::new(response))
    });
    let ran = stand.run().await;
    assert!(ran.complete, "{}", ran.said);
    let check = |proposed: &Value, expected: [&[&str]; 9]| {
        for (name, expected) in NESTED.iter().zip(expected) {
            assert_eq!(pairs(proposed, name), expected, "{name}");
        }
    };
    let first = guard(&stand.script.planned).remove(0);
    // Nothing was there, so the configuration is proposed as it is.
    let one: &[&str] = &["s=null"];
    let two: &[&str] = &["a=null", "b=null"];
    check(
        &first.proposed,
        [one, two, two, two, one, one, two, two, two],
    );

    // What the configuration leaves to the provider is what it was: by position in lists, by key in
    // maps, by the rest of the element in sets.
    guard(&stand.script.planned).clear();
    stand.write(&nested("s", &["b", "c", "a"], "2"));
    let ran = stand.run().await;
    assert!(ran.complete, "{}", ran.said);
    assert_eq!(ran.changes, ["x_thing.t update"]);
    let second = guard(&stand.script.planned).remove(0);
    let one: &[&str] = &["s=of s"];
    let by_place: &[&str] = &["b=of a", "c=of b", "a=null"];
    let by_rest: &[&str] = &["a=of a", "b=of b", "c=null"];
    check(
        &second.proposed,
        [
            one, by_place, by_rest, by_place, one, one, by_place, by_rest, by_place,
        ],
    );

    // What is no longer there proposes nothing, and nothing else changes.
    guard(&stand.script.planned).clear();
    stand.write("resource \"x_thing\" \"t\" {\n  name = \"t\"\n  note = \"2\"\n}\n");
    let ran = stand.run().await;
    assert!(ran.complete, "{}", ran.said);
    let third = guard(&stand.script.planned).remove(0);
    for name in NESTED {
        assert_eq!(pairs(&third.proposed, name), [] as [&str; 0], "{name}");
    }
    assert_eq!(string(&third.proposed, "id").as_deref(), Some("id-1"));
    assert!(stand.run().await.changes.is_empty());
}

const ONE: &str = "resource \"x_thing\" \"t\" {\n  name = \"t\"\n  note = \"n\"\n  list = [{ key = \"a\" }]\n  blist {\n    key = \"a\"\n  }\n}\n";

/// An object with something that breaks the rules.
fn broken(what: &str, object: &Value) -> Value {
    let empty = |name: &str| {
        let list = object.attribute(name).map(|v| v.type_of());
        match list {
            Some(Type::List(element)) => Value::list((*element).clone(), Vec::new()),
            _ => Value::dynamic(),
        }
    };
    match what {
        "another value" => with(object, &[("note", Value::string("other"))]),
        "a value where none was written" => with(object, &[("force", Value::string("other"))]),
        "null instead of a value" => with(object, &[("note", Value::null(Type::String))]),
        "an element less" => with(object, &[("list", empty("list"))]),
        "a block less" => with(object, &[("blist", empty("blist"))]),
        "nothing" => Value::null(object.type_of()),
        "not known" => with(object, &[("size", Value::unknown(Type::Number))]),
        _ => object.clone(),
    }
}

const BREACHES: [&str; 5] = [
    "another value",
    "a value where none was written",
    "null instead of a value",
    "an element less",
    "a block less",
];

#[tokio::test]
async fn plans_against_the_rules() {
    for (breach, legacy) in BREACHES.iter().flat_map(|b| [(*b, false), (*b, true)]) {
        let stand = Stand::new(ONE);
        stand.script.plans(move |request, mut response| {
            if !request.proposed.is_null() {
                response.planned = broken(breach, &response.planned);
            }
            response.legacy_type_system = legacy;
            response
        });
        stand.script.applies(move |_, mut response| {
            response.legacy_type_system = legacy;
            Deed::Answers(Box::new(response))
        });
        let ran = stand.run().await;
        assert_eq!(ran.complete, legacy, "{breach}: {}", ran.said);
        assert_eq!(
            ran.said
                .contains("Error Provider produced invalid plan [x_thing.t]"),
            !legacy,
            "{breach}: {}",
            ran.said
        );
        assert_eq!(stand.script.ids().len(), usize::from(legacy), "{breach}");
    }
}

#[tokio::test]
async fn objects_that_were_not_planned() {
    const INCONSISTENT: &str =
        "Error Provider produced inconsistent result after apply [x_thing.t]";
    const UNKNOWN: &str = "Error Provider returned invalid result object after apply [x_thing.t]";
    let more = [
        ("nothing", INCONSISTENT, true),
        ("not known", UNKNOWN, true),
    ];
    let cases = BREACHES.map(|b| (b, INCONSISTENT, false));
    for (breach, summary, always) in cases.into_iter().chain(more) {
        for legacy in [false, true] {
            let stand = Stand::new(ONE);
            stand.script.applies(move |_, mut response| {
                response.new = broken(breach, &response.new);
                response.legacy_type_system = legacy;
                Deed::Answers(Box::new(response))
            });
            let ran = stand.run().await;
            let refused = !legacy || always;
            assert_eq!(ran.complete, !refused, "{breach}: {}", ran.said);
            assert_eq!(
                ran.said.contains(summary),
                refused,
                "{breach}: {}",
                ran.said
            );
            // What was made is there all the same, and is made anew.
            let expected: &[&str] = match (breach, refused) {
                ("nothing", _) => &[],
                (_, true) => &["x_thing.t id-1 tainted"],
                (_, false) => &["x_thing.t id-1"],
            };
            assert_eq!(stand.objects(), expected, "{breach}");
        }
    }
}

#[tokio::test]
async fn blocks_that_legacy_providers_leave_null_are_none() {
    let stand = Stand::new("resource \"x_thing\" \"t\" {\n  name = \"t\"\n}\n");
    let without = |v: &Value| {
        let null =
            |name: &str| Value::null(v.attribute(name).map_or(Type::Dynamic, |v| v.type_of()));
        with(v, &[("blist", null("blist")), ("bset", null("bset"))])
    };
    stand.script.plans(move |request, mut response| {
        if !request.proposed.is_null() {
            response.planned = without(&response.planned);
        }
        response.legacy_type_system = true;
        response
    });
    stand.script.applies(move |request, mut response| {
        if !request.planned.is_null() {
            response.new = without(&response.new);
        }
        response.legacy_type_system = true;
        Deed::Answers(Box::new(response))
    });
    let ran = stand.run().await;
    assert!(ran.complete, "{}", ran.said);
    let object = stand.state()["resources"][0]["instances"][0]["attributes"].clone();
    assert_eq!(
        (&object["blist"], &object["bset"]),
        (&json!([]), &json!([]))
    );
    let again = stand.run().await;
    assert!(again.complete && again.changes.is_empty(), "{}", again.said);
}

#[tokio::test]
async fn what_requires_a_replacement() {
    let configuration = |note: &str| {
        format!(
            "resource \"x_thing\" \"t\" {{\n  name = \"t\"\n  note = \"{note}\"\n  list = [{{ key = \"{note}\" }}]\n}}\n"
        )
    };
    let at = |name: &str| Path::ROOT.attribute(name);
    let cases: Vec<(Path, &str)> = vec![
        (at("note"), "replace"),
        // what does not change replaces nothing
        (at("name"), "update"),
        (at("list").index(Value::int(0)).attribute("key"), "replace"),
        // nothing is there, before or after
        (at("list").index(Value::int(7)).attribute("key"), "update"),
        (at("single").attribute("key"), "update"),
        (at("nosuch"), "error"),
        (at("list").index(Value::int(0)).attribute("nosuch"), "error"),
    ];
    for (path, expected) in cases {
        let stand = Stand::new(&configuration("a"));
        assert!(stand.run().await.complete);
        let named = path.clone();
        stand.script.plans(move |request, mut response| {
            if !request.prior.is_null() && !request.proposed.is_null() {
                response.requires_replace = vec![named.clone()];
            }
            response
        });
        stand.write(&configuration("b"));
        let ran = stand.run().await;
        let changes: &[&str] = match expected {
            "replace" => &["x_thing.t delete-create replace_because_cannot_update"],
            "update" => &["x_thing.t update"],
            _ => &[],
        };
        assert_eq!(ran.changes, changes, "{path}: {}", ran.said);
        assert_eq!(
            ran.said.contains("Provider produced invalid plan"),
            expected == "error",
            "{path}: {}",
            ran.said
        );
    }
}

#[tokio::test]
async fn objects_left_behind_are_deleted_by_the_next_run() {
    let configuration = |force: &str| {
        format!(
            "resource \"x_thing\" \"t\" {{\n  name  = \"t\"\n  force = \"{force}\"\n  lifecycle {{\n    create_before_destroy = true\n  }}\n}}\n"
        )
    };
    let stand = Stand::new(&configuration("1"));
    assert!(stand.run().await.complete);
    // Deletions fail: each replacement leaves one more behind.
    stand.script.applies(|request, mut response| {
        if request.planned.is_null() {
            response.new = request.prior.clone();
            response.reported = says(Diagnostic::error("Not now", "It is in use."));
        }
        Deed::Answers(Box::new(response))
    });
    for force in ["2", "3"] {
        stand.write(&configuration(force));
        let ran = stand.run().await;
        assert!(
            !ran.complete && ran.said.contains("Not now"),
            "{}",
            ran.said
        );
    }
    assert_eq!(
        stand.objects(),
        [
            "x_thing.t id-1 deposed",
            "x_thing.t id-2 deposed",
            "x_thing.t id-3"
        ]
    );
    stand.script.behaves();
    let ran = stand.run().await;
    assert!(ran.complete, "{}", ran.said);
    assert_eq!(
        ran.changes,
        ["x_thing.t (deposed) delete", "x_thing.t (deposed) delete"]
    );
    assert_eq!(stand.objects(), ["x_thing.t id-3"]);
    assert_eq!(stand.script.ids(), ["id-3"]);
    assert!(stand.run().await.changes.is_empty());
}

#[tokio::test]
async fn what_failed_to_be_made_is_made_anew() {
    let stand = Stand::new("resource \"x_thing\" \"t\" {\n  name = \"t\"\n}\n");
    let half = |request: &formwork_provider::ApplyRequest,
                mut response: formwork_provider::ApplyResponse| {
        if request.prior.is_null() {
            response.reported = says(Diagnostic::error("Half made", "It is there, but not well."));
        }
        Deed::Answers(Box::new(response))
    };
    stand.script.applies(half);
    let ran = stand.run().await;
    assert!(
        !ran.complete && ran.said.contains("Half made"),
        "{}",
        ran.said
    );
    assert_eq!(stand.objects(), ["x_thing.t id-1 tainted"]);
    stand.script.behaves();
    // it was not put into the world by the provider's own account
    guard(&stand.script.world).insert(
        "id-1".to_owned(),
        guard(&stand.script.applied)[0].planned.clone(),
    );
    stand.script.reads(|request, mut response| {
        response.new = request.current.clone();
        response
    });
    guard(&stand.script.planned).clear();
    let ran = stand.run().await;
    assert!(ran.complete, "{}", ran.said);
    assert_eq!(
        ran.changes,
        ["x_thing.t delete-create replace_because_tainted"]
    );
    // It is planned as if nothing were there.
    assert!(guard(&stand.script.planned)[0].prior.is_null());
    assert_eq!(stand.objects(), ["x_thing.t id-2"]);
}

#[tokio::test]
async fn what_is_no_longer_configured_and_why() {
    let all = "resource \"x_thing\" \"gone\" {\n  name = \"gone\"\n}\nresource \"x_thing\" \"count\" {\n  count = 2\n  name  = \"count\"\n}\nresource \"x_thing\" \"each\" {\n  for_each = toset([\"a\", \"b\"])\n  name     = each.key\n}\nresource \"x_thing\" \"once\" {\n  name = \"once\"\n}\nresource \"x_thing\" \"many\" {\n  count = 2\n  name  = \"many\"\n}\nmodule \"m\" {\n  source = \"./m\"\n  count  = 2\n}\nmodule \"n\" {\n  source = \"./m\"\n}\n";
    let stand = Stand::new(all);
    let module = stand.folder.path().join("m");
    std::fs::create_dir(&module).expect("made");
    let text = "terraform {\n  required_providers {\n    x = { source = \"example.test/acme/x\" }\n  }\n}\nresource \"x_thing\" \"in\" {\n  name = \"in\"\n}\n";
    std::fs::write(module.join("main.tf"), text).expect("written");
    let ran = stand.run().await;
    assert!(ran.complete, "{}", ran.said);
    stand.write("resource \"x_thing\" \"count\" {\n  count = 1\n  name  = \"count\"\n}\nresource \"x_thing\" \"each\" {\n  for_each = toset([\"a\"])\n  name     = each.key\n}\nresource \"x_thing\" \"once\" {\n  for_each = toset([\"a\"])\n  name     = \"once\"\n}\nresource \"x_thing\" \"many\" {\n  for_each = toset([\"a\"])\n  name     = \"many\"\n}\nmodule \"m\" {\n  source = \"./m\"\n  count  = 1\n}\n");
    let ran = stand.run().await;
    assert!(ran.complete, "{}", ran.said);
    let mut deleted: Vec<&str> = ran
        .changes
        .iter()
        .map(String::as_str)
        .filter(|c| c.contains("delete"))
        .collect();
    deleted.sort_unstable();
    assert_eq!(
        deleted,
        [
            "module.m[1].x_thing.in delete delete_because_no_module",
            "module.n.x_thing.in delete delete_because_no_resource_config",
            "x_thing.count[1] delete delete_because_count_index",
            "x_thing.each[\"b\"] delete delete_because_each_key",
            "x_thing.gone delete delete_because_no_resource_config",
            "x_thing.many[0] delete delete_because_wrong_repetition",
            "x_thing.many[1] delete delete_because_wrong_repetition",
            "x_thing.once delete delete_because_wrong_repetition",
        ]
    );
    assert!(stand.run().await.changes.is_empty());
}

pub fn stored(kind: &str, name: &str, instance: serde_json::Value) -> serde_json::Value {
    json!({
        "mode": "managed", "type": kind, "name": name,
        "provider": "provider[\"example.test/acme/x\"]",
        "instances": [instance],
    })
}

#[tokio::test]
async fn objects_become_other_types() {
    let configuration = "resource \"x_thing\" \"new\" {\n  name = \"it\"\n}\nmoved {\n  from = x_other.old\n  to   = x_thing.new\n}\n";
    let old = |provider: &str| {
        let mut resource = stored(
            "x_other",
            "old",
            json!({
                "schema_version": 3, "attributes": {"ident": "id-9", "called": "it"},
                "sensitive_attributes": [], "private": "cHJpdmF0ZQ==",
            }),
        );
        resource["provider"] = json!(format!("provider[\"{provider}\"]"));
        resource
    };
    // Its former provider is asked nothing: it need not be there, nor its type be known to anyone.
    for provider in ["example.test/acme/x", "example.test/acme/gone"] {
        let stand = Stand::new(configuration);
        let made = Stand::new("resource \"x_thing\" \"new\" {\n  name = \"it\"\n}\n");
        assert!(made.run().await.complete);
        let object = guard(&made.script.world)
            .values()
            .next()
            .expect("one")
            .clone();
        let object = with(&object, &[("id", Value::string("id-9"))]);
        guard(&stand.script.world).insert("id-9".to_owned(), object.clone());
        let named = provider.to_owned();
        *guard(&stand.script.on_move) = Some(Arc::new(move |request| {
            assert_eq!(request.source_provider, named);
            assert_eq!(
                (request.source_kind.as_str(), request.source_version),
                ("x_other", 3)
            );
            assert_eq!(&*request.private, b"private");
            let RawState::Json(json) = &request.state else {
                panic!("JSON")
            };
            assert_eq!(
                serde_json::from_slice::<serde_json::Value>(json).expect("JSON")["ident"],
                "id-9"
            );
            MoveResponse {
                target: object.clone(),
                private: Bytes::from(*b"new"),
                reported: Vec::new(),
                identity: None,
            }
        }));
        stand.put_state(&json!([old(provider)]));
        let ran = stand.run().await;
        assert!(ran.complete, "{provider}: {}", ran.said);
        assert!(ran.changes.is_empty(), "{provider}: {:?}", ran.changes);
        assert_eq!(stand.objects(), ["x_thing.new id-9"]);
        let state = stand.state();
        assert_eq!(
            state["resources"][0]["provider"],
            "provider[\"example.test/acme/x\"]"
        );
        let instance = &state["resources"][0]["instances"][0];
        assert_eq!(instance["schema_version"], 1);
        assert_eq!(instance["private"], "bmV3");
        assert!(stand.run().await.changes.is_empty());
    }
    // One that cannot, one that refuses and one that answers nonsense.
    for (rule, summary) in [
        (
            None,
            "Error Unsupported `moved` across resource types [x_thing.new]",
        ),
        (Some(true), "Error Not that one [x_thing.new]"),
        (
            Some(false),
            "Error Provider returned invalid value [x_thing.new]",
        ),
    ] {
        let stand = Stand::new(configuration);
        stand.put_state(&json!([old("example.test/acme/x")]));
        let before = stand.state();
        if let Some(refuses) = rule {
            *guard(&stand.script.on_move) = Some(Arc::new(move |_| MoveResponse {
                target: Value::null(Type::Dynamic),
                private: Bytes::from([]),
                reported: match refuses {
                    true => says(Diagnostic::error("Not that one", "It is of no use.")),
                    false => Vec::new(),
                },
                identity: None,
            }));
        }
        let ran = stand.run().await;
        assert!(ran.said.contains(summary), "{}", ran.said);
        assert!(ran.said.contains("main.tf:9"), "{}", ran.said);
        assert_eq!(stand.state(), before);
        assert!(!stand.script.asked().iter().any(|c| c.starts_with("Create")));
    }
}

#[tokio::test]
async fn stored_objects_of_other_versions() {
    let configuration = "resource \"x_thing\" \"t\" {\n  name = \"t\"\n}\n";
    let made = Stand::new(configuration);
    assert!(made.run().await.complete);
    let object = guard(&made.script.world)
        .values()
        .next()
        .expect("one")
        .clone();
    let current = made.state()["resources"][0]["instances"][0]["attributes"].clone();
    let cases = [
        (
            json!({"schema_version": 0, "attributes": {"old": "t"}}),
            "json 0",
            true,
        ),
        (
            json!({"schema_version": 0, "attributes_flat": {"id": "id-1", "tags.%": "0"}}),
            "flat 0",
            true,
        ),
        (json!({"attributes": {"old": "t"}}), "json 0", true),
        (
            json!({"schema_version": 1, "attributes": current}),
            "json 1",
            true,
        ),
        (
            json!({"schema_version": 2, "attributes": current}),
            "",
            false,
        ),
    ];
    for (instance, expected, good) in cases {
        let stand = Stand::new(configuration);
        guard(&stand.script.world).insert("id-1".to_owned(), object.clone());
        let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
        let (heard, answer) = (asked.clone(), object.clone());
        *guard(&stand.script.on_upgrade) = Arc::new(move |request| {
            let form = match &request.state {
                RawState::Json(_) => "json",
                RawState::Flatmap(pairs) => {
                    assert!(pairs.contains(&("id".to_owned(), "id-1".to_owned())));
                    "flat"
                }
            };
            guard(&heard).push(format!("{form} {}", request.version));
            Some(UpgradeResponse {
                upgraded: answer.clone(),
                reported: Vec::new(),
            })
        });
        stand.put_state(&json!([stored("x_thing", "t", instance.clone())]));
        let ran = stand.run().await;
        assert_eq!(ran.complete, good, "{instance}: {}", ran.said);
        assert!(ran.changes.is_empty(), "{instance}: {:?}", ran.changes);
        if good {
            assert!(
                guard(&asked).iter().all(|a| a == expected),
                "{instance}: {asked:?}"
            );
            assert_eq!(
                stand.state()["resources"][0]["instances"][0]["schema_version"],
                1
            );
        } else {
            assert!(
                ran.said.contains(
                    "Error Resource instance managed by newer provider version [x_thing.t]"
                ),
                "{}",
                ran.said
            );
            assert!(guard(&asked).is_empty());
        }
    }
}

#[tokio::test]
async fn private_data_goes_with_its_object() {
    let configuration = |note: &str, force: &str| {
        format!(
            "resource \"x_thing\" \"t\" {{\n  name = \"t\"\n  note = \"{note}\"\n  force = \"{force}\"\n}}\n"
        )
    };
    let stand = Stand::new(&configuration("1", "1"));
    stand.script.plans(|_, mut response| {
        response.private = [&response.private, &b"p"[..]].concat().into();
        response
    });
    stand.script.applies(|_, mut response| {
        response.private = [&response.private, &b"a"[..]].concat().into();
        Deed::Answers(Box::new(response))
    });
    stand.script.reads(|request, mut response| {
        response.private = [&request.private, &b"r"[..]].concat().into();
        response
    });
    let private = |stand: &Stand| stand.state()["resources"][0]["instances"][0]["private"].clone();
    assert!(stand.run().await.complete);
    // apply plans again, from what the object had
    assert_eq!(private(&stand), "cGE="); // pa
    stand.write(&configuration("2", "1"));
    assert!(stand.run().await.complete);
    assert_eq!(private(&stand), "cGFycGE="); // par pa
    stand.script.applied.lock().expect("held").clear();
    stand.write(&configuration("2", "2"));
    let ran = stand.run().await;
    assert!(ran.complete, "{}", ran.said);
    let applied = guard(&stand.script.applied);
    // the deletion is handed what the object had, the new object starts with what was planned for it
    assert!(applied[0].planned.is_null() && applied[0].planned_private.starts_with(b"parpar"));
    assert!(applied[1].prior.is_null());
}

#[tokio::test]
async fn what_is_gone_is_made_again() {
    let stand = Stand::new("resource \"x_thing\" \"t\" {\n  name = \"t\"\n}\n");
    assert!(stand.run().await.complete);
    guard(&stand.script.world).clear();
    let (plan, said) = stand.plan().await;
    let plan = plan.expect("a plan");
    let drift: Vec<String> = plan
        .drift
        .iter()
        .map(|c| format!("{} {}", c.address, c.action.word()))
        .collect();
    assert_eq!(drift, ["x_thing.t delete"], "{said}");
    let ran = stand.run().await;
    assert_eq!(
        (ran.complete, ran.changes),
        (true, vec!["x_thing.t create".to_owned()]),
        "{}",
        ran.said
    );
}

#[tokio::test]
async fn one_of_the_imported_objects_is_the_one() {
    let configuration = "resource \"x_thing\" \"t\" {\n  name = \"t\"\n}\nimport {\n  to = x_thing.t\n  id = \"id-1\"\n}\n";
    let cases = [
        // others of other types may come along
        (["x_other", "x_thing"].as_slice(), None),
        (&["x_other"], Some("Import returned no resources")),
        (&[], Some("Import returned no resources")),
    ];
    for (kinds, refused) in cases {
        let stand = Stand::new("resource \"x_thing\" \"t\" {\n  name = \"t\"\n}\n");
        assert!(stand.run().await.complete);
        std::fs::remove_file(stand.folder.path().join("terraform.tfstate")).expect("removed");
        stand.write(configuration);
        *guard(&stand.script.on_import) = Arc::new(move |_, found| {
            let first = found.into_iter().next();
            let of = |kind: &&str| {
                first.clone().map(|f| ImportedObject {
                    kind: (*kind).to_owned(),
                    ..f
                })
            };
            Ok(kinds.iter().filter_map(of).collect())
        });
        let ran = stand.run().await;
        assert_eq!(ran.complete, refused.is_none(), "{kinds:?}: {}", ran.said);
        if let Some(summary) = refused {
            assert!(ran.said.contains(summary), "{kinds:?}: {}", ran.said);
        } else {
            assert_eq!(stand.objects(), ["x_thing.t id-1"]);
        }
    }
}

#[tokio::test]
async fn what_is_write_only_is_sent_and_kept_nowhere() {
    let configuration = |note: &str| {
        format!(
            "resource \"x_thing\" \"t\" {{\n  name = \"t\"\n  note = \"{note}\"\n  secret = \"hunter2\"\n}}\n"
        )
    };
    let stand = Stand::new(&configuration("1"));
    for note in ["1", "2"] {
        stand.write(&configuration(note));
        let ran = stand.run().await;
        assert!(ran.complete, "{}", ran.said);
        let secret = |v: &Value| string(v, "secret");
        for asked in guard(&stand.script.planned)
            .drain(..)
            .filter(|r| !r.config.is_null())
        {
            assert_eq!(secret(&asked.config).as_deref(), Some("hunter2"));
            assert_eq!(secret(&asked.prior), None);
        }
        for asked in guard(&stand.script.applied).drain(..) {
            assert_eq!(secret(&asked.config).as_deref(), Some("hunter2"));
            assert_eq!((secret(&asked.planned), secret(&asked.prior)), (None, None));
        }
        assert!(!stand.state().to_string().contains("hunter2"));
    }
    assert!(stand.run().await.changes.is_empty());
    // A provider that gives it back breaks the rules.
    stand.write(&configuration("3"));
    stand.script.plans(|request, mut response| {
        if !request.config.is_null() {
            response.planned = with(&response.planned, &[("secret", Value::string("hunter2"))]);
        }
        response
    });
    let ran = stand.run().await;
    assert!(
        !ran.complete && ran.said.contains("Provider produced invalid plan"),
        "{}",
        ran.said
    );
    assert!(!ran.said.contains("hunter2"), "{}", ran.said);
}

#[tokio::test]
async fn what_is_put_off_without_leave_is_an_error() {
    const SUMMARY: &str = "Error Provider deferred changes when deferrals are not allowed";
    let stand = Stand::new("resource \"x_thing\" \"t\" {\n  name = \"t\"\n}\n");
    stand.script.plans(|_, mut response| {
        response.deferred = Some(DeferredReason::AbsentPrerequisite);
        response
    });
    let ran = stand.run().await;
    assert!(
        ran.said.contains(&format!("{SUMMARY} [x_thing.t]")),
        "{}",
        ran.said
    );
    stand.script.behaves();
    assert!(stand.run().await.complete);
    stand.script.reads(|_, mut response| {
        response.deferred = Some(DeferredReason::ProviderConfigUnknown);
        response
    });
    let ran = stand.run().await;
    assert!(
        ran.said.contains(&format!("{SUMMARY} [x_thing.t]")),
        "{}",
        ran.said
    );
    let deferring = PlanOptions {
        defer: true,
        ..PlanOptions::default()
    };
    let (plan, said) = stand.plan_with(&deferring).await;
    assert!(plan.is_some_and(|p| !p.errored), "{said}");
    stand.script.behaves();
    stand.write("data \"x_data\" \"d\" {\n  name = \"d\"\n}\nresource \"x_thing\" \"t\" {\n  name = \"t\"\n}\n");
    *guard(&stand.script.on_data) = Arc::new(|_, mut response| {
        response.deferred = Some(DeferredReason::ResourceConfigUnknown);
        response
    });
    let ran = stand.run().await;
    assert!(
        ran.said.contains(&format!("{SUMMARY} [data.x_data.d]")),
        "{}",
        ran.said
    );
}

#[tokio::test]
async fn what_a_provider_says_is_said_where_it_is_written() {
    let configuration = "resource \"x_thing\" \"t\" {\n  name = \"t\"\n  list = [\n    { key = \"a\" }\n  ]\n  blist {\n    key = \"a\"\n  }\n  blist {\n    key = \"b\"\n  }\n  dynamic \"bset\" {\n    for_each = [1]\n    content {\n      key = \"c\"\n    }\n  }\n  bmap \"k\" {\n    key = \"d\"\n  }\n}\n";
    // the configuration begins at line 6
    let at = |name: &str| Path::ROOT.attribute(name);
    let cases = [
        (at("name"), 7),
        (at("list").index(Value::int(0)).attribute("key"), 8),
        (at("blist").index(Value::int(1)).attribute("key"), 15),
        (at("blist").index(Value::int(1)).attribute("made"), 14),
        (at("blist").index(Value::int(9)), 6),
        (
            at("bset")
                .index(Value::object([("key", Value::string("c"))]))
                .attribute("key"),
            20,
        ),
        (at("bmap").index(Value::string("k")).attribute("key"), 24),
        (at("id"), 6),
        (Path::ROOT, 6),
    ];
    for (path, line) in cases {
        for stage in ["check", "plan", "apply"] {
            let stand = Stand::new(configuration);
            let said = {
                let path = path.clone();
                move || {
                    vec![Reported::at(
                        path.clone(),
                        Diagnostic::error("Not so", "Because."),
                    )]
                }
            };
            match stage {
                "check" => *guard(&stand.script.on_check) = Arc::new(move |_| said()),
                "plan" => stand.script.plans(move |_, mut r| {
                    r.reported = said();
                    r
                }),
                _ => stand.script.applies(move |_, mut r| {
                    r.reported = said();
                    Deed::Answers(Box::new(r))
                }),
            }
            let ran = stand.run().await;
            assert!(
                ran.said.contains("Error Not so [x_thing.t]"),
                "{}",
                ran.said
            );
            assert!(
                ran.said.contains(&format!("main.tf:{line}:")),
                "{path} at {stage}, {line}: {}",
                ran.said
            );
        }
    }
}

#[tokio::test]
async fn a_provider_that_breaks_down_takes_nothing_with_it() {
    let configuration = "data \"x_data\" \"d\" {\n  name = \"d\"\n}\nephemeral \"x_token\" \"e\" {\n  name = \"e\"\n}\nresource \"x_thing\" \"t\" {\n  name = \"t\"\n  note = \"NOTE\"\n}\n";
    let stand = Stand::new(configuration);
    assert!(stand.run().await.complete);
    let before = stand.state();
    for place in [
        "configure",
        "check",
        "plan",
        "read",
        "data",
        "open",
        "upgrade",
    ] {
        stand.script.behaves();
        stand.write(&configuration.replace("NOTE", "other"));
        let script = &stand.script;
        match place {
            "configure" => {
                *guard(&script.on_configure) = Arc::new(|| panic!("as the test wants it"))
            }
            "check" => *guard(&script.on_check) = Arc::new(|_| panic!("as the test wants it")),
            "plan" => script.plans(|_, _| panic!("as the test wants it")),
            "read" => script.reads(|_, _| panic!("as the test wants it")),
            "data" => *guard(&script.on_data) = Arc::new(|_, _| panic!("as the test wants it")),
            "open" => *guard(&script.on_open) = Arc::new(|_, _| panic!("as the test wants it")),
            _ => *guard(&script.on_upgrade) = Arc::new(|_| panic!("as the test wants it")),
        }
        let ran = stand.run().await;
        assert!(!ran.complete, "{place}");
        assert!(
            ran.said.contains("Error Provider crashed"),
            "{place}: {}",
            ran.said
        );
        assert_eq!(stand.state(), before, "{place}");
    }
    stand.script.behaves();
    let ran = stand.run().await;
    assert!(ran.complete, "{}", ran.said);
    assert_eq!(ran.changes, ["x_thing.t update"]);
}
