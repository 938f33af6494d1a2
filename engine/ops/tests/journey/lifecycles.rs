//! In what order a provider is asked to make and unmake, and what of it the lifecycle settings decide:
//! replacements both ways round and how the way spreads, triggers, ignored changes, prevention, drift,
//! ephemeral resources that are closed whatever happens.

use crate::disk::guard;
use crate::scripted::{Deed, Stand, says, string, with};
use formwork_diagnostics::Diagnostic;
use formwork_values::Value;

/// What was asked that changes something, in order.
fn deeds(stand: &Stand) -> Vec<String> {
    let deed = |c: &String| {
        ["Create", "Update", "Delete"]
            .iter()
            .any(|d| c.starts_with(d))
    };
    stand.script.asked().into_iter().filter(deed).collect()
}

/// Two resources, the second made from the first; both are replaced when `force` changes.
fn pair(force: &str, first: &str, second: &str) -> String {
    format!(
        "resource \"x_thing\" \"a\" {{\n  name  = \"a\"\n  force = \"{force}\"\n  lifecycle {{\n    {first}\n  }}\n}}\n\
         resource \"x_thing\" \"b\" {{\n  name  = \"b\"\n  force = x_thing.a.id\n  lifecycle {{\n    {second}\n  }}\n}}\n"
    )
}

#[tokio::test]
async fn replacements_both_ways_round() {
    const FIRST: &str = "create_before_destroy = true";
    let new_first = ["Create a", "Create b", "Delete b", "Delete a"];
    let cases = [
        ("", "", ["Delete b", "Delete a", "Create a", "Create b"]),
        // what is made from what is kept until its successor is there must be kept, too, and the other
        // way round: it spreads to what an object is made from
        ("", FIRST, new_first),
        (FIRST, FIRST, new_first),
        (FIRST, "", ["Create a", "Delete b", "Create b", "Delete a"]),
    ];
    for (first, second, expected) in cases {
        let stand = Stand::new(&pair("1", first, second));
        let ran = stand.run().await;
        assert!(ran.complete, "{}", ran.said);
        assert_eq!(deeds(&stand), ["Create a", "Create b"]);
        stand.write(&pair("2", first, second));
        let ran = stand.run().await;
        assert!(ran.complete, "{}", ran.said);
        assert_eq!(deeds(&stand), expected, "{first} / {second}");
        assert_eq!(stand.script.ids().len(), 2);
        assert!(stand.run().await.changes.is_empty());
        // what the state says of it serves when the configuration is gone
        stand.write("");
        let ran = stand.run().await;
        assert!(ran.complete, "{}", ran.said);
        assert_eq!(deeds(&stand), ["Delete b", "Delete a"]);
    }
}

#[tokio::test]
async fn what_triggers_a_replacement() {
    let configuration = |note: &str, trigger: &str| {
        format!(
            "resource \"x_thing\" \"a\" {{\n  name = \"a\"\n  note = \"{note}\"\n}}\nresource \"x_thing\" \"b\" {{\n  name = \"b\"\n  \
             lifecycle {{\n    replace_triggered_by = [{trigger}]\n  }}\n}}\n"
        )
    };
    for (trigger, replaced) in [
        ("x_thing.a", true),
        ("x_thing.a.note", true),
        // another attribute, which stays
        ("x_thing.a.name", false),
    ] {
        let stand = Stand::new(&configuration("1", trigger));
        assert!(stand.run().await.complete);
        stand.write(&configuration("2", trigger));
        let ran = stand.run().await;
        assert!(ran.complete, "{}", ran.said);
        let mut expected = vec!["x_thing.a update"];
        if replaced {
            expected.push("x_thing.b delete-create replace_by_triggers");
        }
        assert_eq!(ran.changes, expected, "{trigger}");
        assert!(stand.run().await.changes.is_empty(), "{trigger}");
    }
}

#[tokio::test]
async fn what_changes_are_ignored() {
    let configuration = |note: &str, key: &str, ignored: &str| {
        format!(
            "resource \"x_thing\" \"t\" {{\n  name = \"t\"\n  note = \"{note}\"\n  map = {{ one = {{ key = \"{key}\" }}, two = {{ key = \"2\" }} }}\n  \
             lifecycle {{\n    ignore_changes = {ignored}\n  }}\n}}\n"
        )
    };
    let cases = [
        ("[note]", "2", "1", false),
        ("[note]", "1", "2", true),
        ("[map]", "1", "2", false),
        ("[map[\"one\"]]", "1", "2", false),
        ("[map[\"two\"]]", "1", "2", true),
        ("all", "2", "2", false),
    ];
    for (ignored, note, key, changes) in cases {
        let stand = Stand::new(&configuration("1", "1", ignored));
        let ran = stand.run().await;
        assert!(ran.complete, "{}", ran.said);
        stand.write(&configuration(note, key, ignored));
        guard(&stand.script.planned).clear();
        let ran = stand.run().await;
        assert!(ran.complete, "{}", ran.said);
        assert_eq!(!ran.changes.is_empty(), changes, "{ignored} {note} {key}");
        // What is ignored is not asked for: the provider sees what is there as what is wanted.
        if !changes {
            let asked = guard(&stand.script.planned).remove(0);
            assert_eq!(asked.proposed, asked.prior, "{ignored}");
        }
        // A new object is made as written.
        if ignored == "[note]" {
            stand.write("");
            assert!(stand.run().await.complete);
            stand.write(&configuration("9", "1", ignored));
            assert!(stand.run().await.complete);
            let made = guard(&stand.script.world).values().next().cloned();
            assert_eq!(made.and_then(|v| string(&v, "note")).as_deref(), Some("9"));
        }
    }
}

#[tokio::test]
async fn what_must_not_be_destroyed() {
    let configuration = |force: &str| {
        format!(
            "resource \"x_thing\" \"t\" {{\n  name  = \"t\"\n  force = \"{force}\"\n  lifecycle {{\n    prevent_destroy = true\n  }}\n}}\n"
        )
    };
    let stand = Stand::new(&configuration("1"));
    assert!(stand.run().await.complete);
    stand.script.asked();
    stand.write(&configuration("2"));
    let ran = stand.run().await;
    assert!(
        ran.said
            .contains("Error Instance cannot be destroyed [x_thing.t]"),
        "{}",
        ran.said
    );
    assert_eq!(deeds(&stand), [] as [&str; 0]);
    assert_eq!(stand.objects(), ["x_thing.t id-1"]);
}

#[tokio::test]
async fn what_changed_in_the_world_is_told_and_put_right() {
    let stand = Stand::new("resource \"x_thing\" \"t\" {\n  name = \"t\"\n  note = \"n\"\n}\n");
    assert!(stand.run().await.complete);
    for (name, mended) in [("note", true), ("size", false)] {
        let value = match name {
            "note" => Value::string("another"),
            _ => Value::int(99),
        };
        let object = guard(&stand.script.world)["id-1"].clone();
        guard(&stand.script.world)
            .insert("id-1".to_owned(), with(&object, &[(name, value.clone())]));
        let (plan, said) = stand.plan().await;
        let plan = plan.expect("a plan");
        let drift: Vec<_> = plan
            .drift
            .iter()
            .map(|d| (d.address.to_string(), d.after.attribute(name).cloned()))
            .collect();
        assert_eq!(
            drift,
            [("x_thing.t".to_owned(), Some(value.clone()))],
            "{said}"
        );
        let ran = stand.run().await;
        assert!(ran.complete, "{}", ran.said);
        // what the configuration leaves open is as the world has it
        assert_eq!(ran.changes.is_empty(), !mended, "{name}");
        let kept = guard(&stand.script.world)["id-1"].attribute(name).cloned();
        assert_eq!(kept == Some(value), !mended, "{name}");
    }
}

#[tokio::test]
async fn what_was_opened_is_closed_whatever_happens() {
    let configuration = "ephemeral \"x_token\" \"one\" {\n  name = \"one\"\n}\nephemeral \"x_token\" \"two\" {\n  name = \"two ${ephemeral.x_token.one.value == \"\" ? \"\" : \"\"}\"\n}\nresource \"x_thing\" \"t\" {\n  name   = \"t\"\n  secret = ephemeral.x_token.two.value\n}\n";
    // nothing goes wrong; opening the second fails; planning fails; making fails
    for fault in ["none", "open", "plan", "apply"] {
        let stand = Stand::new(configuration);
        match fault {
            "open" => stand.script.opens(|request, mut response| {
                if string(&request.config, "name").is_some_and(|n| n.starts_with("two")) {
                    response.reported = says(Diagnostic::error("Not opened", "It is shut."));
                }
                response
            }),
            "plan" => stand.script.plans(|_, mut response| {
                response.reported = says(Diagnostic::error("Not planned", "No."));
                response
            }),
            "apply" => stand.script.applies(|_, mut response| {
                response.reported = says(Diagnostic::error("Not made", "No."));
                Deed::Answers(Box::new(response))
            }),
            _ => {}
        }
        let ran = stand.run().await;
        assert_eq!(ran.complete, fault == "none", "{fault}: {}", ran.said);
        let asked = stand.script.asked();
        let mut open: Vec<String> = Vec::new();
        for call in &asked {
            let (verb, name) = call.split_once(' ').unwrap_or((call, ""));
            match verb {
                "Open" if fault == "open" && name.starts_with("two") => {}
                "Open" => open.push(name.to_owned()),
                // the last opened first, since it may have been opened by the one before
                "Close" => assert_eq!(open.pop().as_deref(), Some(name), "{fault}: {asked:?}"),
                _ => {}
            }
        }
        assert!(
            open.is_empty() && asked.iter().any(|c| c.starts_with("Close")),
            "{fault}: {asked:?}"
        );
        assert!(!stand.state().to_string().contains("token of"), "{fault}");
    }
}
