use crate::text::plan_text;
use crate::{Schemas, Style};
use formwork_addresses::{AbsProviderConfig, ProviderAddr};
use formwork_plan::{Action, ActionReason, Importing, OutputChange, Plan, ResourceInstanceChange};
use formwork_provider_schema::{
    Attribute, Block, BlockNesting, NestedBlock, ProviderSchema, Schema,
};
use formwork_values::{Path, Type, Value};
use std::sync::Arc;

fn provider() -> ProviderAddr {
    ProviderAddr::implied("demo")
}

fn schemas() -> Schemas {
    let optional = |ty| Attribute::new(ty).optional();
    let computed = |ty| Attribute::new(ty).computed();
    let disk = Block::of_attributes([
        ("size", optional(Type::Number)),
        ("kind", optional(Type::String)),
        ("source", computed(Type::String)),
    ]);
    let block = Block::new(
        [
            ("id", computed(Type::String)),
            ("name", Attribute::new(Type::String).required()),
            ("mtu", optional(Type::Number)),
            ("labels", optional(Type::map(Type::String))),
            ("ranges", optional(Type::set(Type::String))),
            ("zones", optional(Type::list(Type::String))),
            ("script", optional(Type::String)),
            ("any", optional(Type::Dynamic)),
            ("secret", optional(Type::String).sensitive()),
            ("self_link", computed(Type::String)),
            ("etag", computed(Type::String)),
        ],
        [
            ("disk", NestedBlock::new(BlockNesting::List, disk)),
            (
                "rule",
                NestedBlock::new(
                    BlockNesting::Set,
                    Block::of_attributes([
                        ("port", optional(Type::Number)),
                        ("protocol", optional(Type::String)),
                    ]),
                ),
            ),
        ],
    );
    let mut schema = ProviderSchema::default();
    schema
        .resources
        .insert("demo_vm".into(), Arc::new(Schema::new(0, block)));
    let mut all = Schemas::new();
    all.insert(provider(), Arc::new(schema));
    all
}

/// An object of `demo_vm` with these attributes.
fn vm(attributes: &[(&str, Value)]) -> Value {
    let schemas = schemas();
    let schema = schemas[&provider()].resource("demo_vm").expect("defined");
    let given = attributes.iter().map(|(n, v)| (*n, v.clone()));
    let mut all: std::collections::BTreeMap<&str, Value> =
        [("name", Value::string("a"))].into_iter().collect();
    all.extend(given);
    schema.block.coerce(Value::object(all)).expect("fits")
}

fn change(action: Action, before: Option<Value>, after: Option<Value>) -> ResourceInstanceChange {
    let ty = vm(&[]).type_of();
    let null = Value::null(ty);
    ResourceInstanceChange {
        address: "demo_vm.a".parse().expect("an address"),
        previous_address: None,
        deposed: None,
        provider: AbsProviderConfig::root_default(provider()),
        action,
        reason: None,
        before: before.unwrap_or_else(|| null.clone()),
        after: after.unwrap_or_else(|| null.clone()),
        replace_paths: Vec::new(),
        planned_private: Arc::from([]),
        schema_version: 0,
        dependencies: Vec::new(),
        create_before_destroy: false,
        importing: None,
        legacy_type_system: false,
        identity: Default::default(),
    }
}

fn plan(changes: Vec<ResourceInstanceChange>) -> Plan {
    Plan {
        changes,
        complete: true,
        applyable: true,
        ..Plan::default()
    }
}

/// The paragraphs about resources, without legend and closing line.
#[track_caller]
fn check(change: ResourceInstanceChange, want: &str) {
    let text = plan_text(&plan(vec![change]), &schemas(), Style::PLAIN);
    let start = text.find("  # ").expect("a resource");
    let end = text.find("\nPlan: ").expect("a closing line");
    assert_eq!(&text[start..end], want, "\n{text}");
}

fn s(text: &str) -> Value {
    Value::string(text)
}

fn unknown() -> Value {
    Value::unknown(Type::String)
}

fn list(items: &[&str]) -> Value {
    Value::list(Type::String, items.iter().map(s_).collect())
}

fn s_(text: &&str) -> Value {
    s(text)
}

fn disk(size: i64, source: Value) -> Value {
    Value::object([
        ("size", Value::int(size)),
        ("kind", s("ssd")),
        ("source", source),
    ])
}

#[test]
fn created() {
    let after = vm(&[
        ("id", unknown()),
        ("self_link", unknown()),
        ("etag", unknown()),
        ("mtu", Value::int(8896)),
        ("labels", Value::object([("a b", s("c")), ("d", s("e"))])),
        ("zones", list(&["x"])),
        ("secret", s("hunter2")),
        ("script", s("#!/bin/sh\necho \u{1b}[31m\n")),
        ("any", s("{\"a\":[1,null],\"b\":{}}")),
        ("disk", Value::tuple(vec![disk(1, unknown())])),
    ]);
    check(
        change(Action::Create, None, Some(after)),
        r##"  # demo_vm.a will be created
  + resource "demo_vm" "a" {
      + any    = jsonencode(
          + {
              + a = [
                  + 1,
                  + null,
                ]
              + b = {}
            }
        )
      + labels = {
          + "a b" = "c"
          + d     = "e"
        }
      + mtu    = 8896
      + name   = "a"
      + script = <<-EOT
            #!/bin/sh
            echo \u{1b}[31m
        EOT
      + secret = (sensitive value)
      + zones  = [
          + "x",
        ]
        # (known after apply: etag, id, self_link)

      + disk {
          + kind   = "ssd"
          + size   = 1
          + source = (known after apply)
        }
    }
"##,
    );
}

#[test]
fn updated() {
    let before = vm(&[
        ("id", s("1")),
        ("mtu", Value::int(1460)),
        (
            "labels",
            Value::object([("gone", s("x")), ("kept", s("y"))]),
        ),
        ("zones", list(&["a", "b", "c", "d", "e"])),
        ("ranges", list(&["10.0.0.0/8", "11.0.0.0/8"])),
        ("secret", s("hunter2")),
        ("script", s("1\n2\n3\n4\n5\n6\n7\n8\n")),
        ("any", s("{\"a\":{\"b\":1,\"c\":2},\"d\":[1,2]}")),
        ("etag", s("old")),
        ("self_link", s("link")),
        (
            "disk",
            Value::tuple(vec![disk(1, s("x")), disk(2, s("y")), disk(3, s("z"))]),
        ),
        (
            "rule",
            Value::tuple(vec![
                Value::object([("port", Value::int(22)), ("protocol", s("tcp"))]),
                Value::object([("port", Value::int(80)), ("protocol", s("tcp"))]),
            ]),
        ),
    ]);
    let after = vm(&[
        ("id", s("1")),
        ("mtu", Value::int(8896)),
        ("labels", Value::object([("new", s("x")), ("kept", s("y"))])),
        ("zones", list(&["a", "b", "c", "d", "f"])),
        ("ranges", list(&["10.0.0.0/8", "12.0.0.0/8"])),
        ("secret", s("hunter3")),
        ("script", s("1\n2\n3\n4\nfive\n6\n7\n8")),
        ("any", s("{\"a\":{\"b\":1,\"c\":3},\"d\":[1,2]}")),
        ("etag", unknown()),
        ("self_link", s("link")),
        ("disk", Value::tuple(vec![disk(1, s("x")), disk(9, s("y"))])),
        (
            "rule",
            Value::tuple(vec![
                Value::object([("port", Value::int(22)), ("protocol", s("tcp"))]),
                Value::object([("port", Value::int(81)), ("protocol", s("tcp"))]),
            ]),
        ),
    ]);
    check(
        change(Action::Update, Some(before), Some(after)),
        r#"  # demo_vm.a will be changed in place
  ~ resource "demo_vm" "a" {
      ~ any    = jsonencode(
          ~ {
              ~ a = {
                  ~ c = 2 -> 3
                    # (1 unchanged attribute hidden)
                }
                # (1 unchanged attribute hidden)
            }
        )
      ~ etag   = "old" -> (known after apply)
        id     = "1"
      ~ labels = {
          - gone = "x"
          + new  = "x"
            # (1 unchanged element hidden)
        }
      ~ mtu    = 1460 -> 8896
        name   = "a"
      ~ ranges = [
          - "11.0.0.0/8",
          + "12.0.0.0/8",
            # (1 unchanged element hidden)
        ]
      ~ script = <<-EOT
            # (2 unchanged lines hidden)
            3
            4
          - 5
          + five
            6
            7
            # (1 unchanged line hidden)
        EOT
        # (the line feed at the end goes)
      ~ secret = (sensitive value)
      ~ zones  = [
            # (3 unchanged elements hidden)
            "d",
          ~ "e" -> "f",
        ]
        # (1 unchanged attribute hidden)

      ~ disk {
          ~ size = 2 -> 9
            # (2 unchanged attributes hidden)
        }
      - disk {
          - kind = "ssd"
          - size = 3
            # (1 computed attribute hidden)
        }
      ~ rule {
          ~ port = 80 -> 81
            # (1 unchanged attribute hidden)
        }
        # (2 unchanged blocks hidden)
    }
"#,
    );
}

#[test]
fn replaced() {
    let before = vm(&[
        ("id", s("1")),
        ("mtu", Value::int(1)),
        ("self_link", s("l")),
    ]);
    let after = vm(&[
        ("id", unknown()),
        ("mtu", Value::int(2)),
        ("self_link", unknown()),
        ("etag", unknown()),
        ("any", unknown()),
    ]);
    let mut c = change(
        Action::DeleteThenCreate,
        Some(before.clone()),
        Some(after.clone()),
    );
    c.reason = Some(ActionReason::ReplaceBecauseCannotUpdate);
    c.replace_paths = vec![Path::ROOT.attribute("mtu")];
    check(
        c,
        r#"  # demo_vm.a must be replaced
  # (cannot be changed in place: mtu)
-/+ resource "demo_vm" "a" {
      + any       = (known after apply)
      + etag      = (known after apply)
      ~ id        = "1" -> (known after apply)
      ~ mtu       = 1 -> 2 # forces replacement
        name      = "a"
      ~ self_link = "l" -> (known after apply)
    }
"#,
    );
    let mut c = change(Action::CreateThenDelete, Some(before), Some(after));
    c.reason = Some(ActionReason::ReplaceBecauseTainted);
    c.previous_address = Some("demo_vm.old".parse().expect("an address"));
    let text = plan_text(&plan(vec![c]), &schemas(), Style::PLAIN);
    assert_eq!(
        text,
        r#"Formwork will do this; the signs mean:
+/- create anew, then destroy

  # demo_vm.a is tainted and must be replaced
  # (moved from demo_vm.old)
+/- resource "demo_vm" "a" {
      + any       = (known after apply)
      + etag      = (known after apply)
      ~ id        = "1" -> (known after apply)
      ~ mtu       = 1 -> 2
        name      = "a"
      ~ self_link = "l" -> (known after apply)
    }

Plan: 1 to add, 0 to change, 1 to destroy.
"#
    );
}

#[test]
fn deleted_forgotten_moved_imported() {
    let object = vm(&[("id", s("1")), ("mtu", Value::int(1))]);
    let mut gone = change(Action::Delete, Some(object.clone()), None);
    gone.address = "module.m.demo_vm.a[\"k\"]".parse().expect("an address");
    gone.reason = Some(ActionReason::DeleteBecauseEachKey);
    check(
        gone,
        r#"  # module.m.demo_vm.a["k"] will be destroyed
  # (for_each has no key ["k"])
  - resource "demo_vm" "a" {
      - id   = "1"
      - mtu  = 1
      - name = "a"
    }
"#,
    );
    let mut forgotten = change(Action::Forget, Some(object.clone()), None);
    forgotten.reason = Some(ActionReason::DeleteBecauseNoResourceConfig);
    let text = plan_text(&plan(vec![forgotten]), &schemas(), Style::PLAIN);
    assert!(
        text.ends_with(
            r#"
  # demo_vm.a will leave the state; the object itself stays
  . resource "demo_vm" "a" {
        id   = "1"
        name = "a"
        # (1 unchanged attribute hidden)
    }

Plan: 0 to add, 0 to change, 0 to destroy.
1 object will leave the state but not the world.
"#
        ),
        "{text}"
    );
    let mut moved = change(Action::NoOp, Some(object.clone()), Some(object.clone()));
    moved.previous_address = Some("demo_vm.old".parse().expect("an address"));
    check(
        moved,
        r#"  # demo_vm.a takes over what was demo_vm.old
    resource "demo_vm" "a" {
        id   = "1"
        name = "a"
        # (1 unchanged attribute hidden)
    }
"#,
    );
    let mut imported = change(Action::NoOp, Some(object.clone()), Some(object));
    imported.importing = Some(Importing {
        id: "x/1".into(),
        identity: None,
        generated: None,
    });
    check(
        imported,
        r#"  # demo_vm.a will be imported
  # (imported from "x/1")
    resource "demo_vm" "a" {
        id   = "1"
        mtu  = 1
        name = "a"
    }
"#,
    );
}

#[test]
fn outputs_drift_and_nothing() {
    let mut p = plan(Vec::new());
    let empty = plan_text(&p, &schemas(), Style::PLAIN);
    assert_eq!(
        empty.lines().next(),
        Some("No changes. Your infrastructure matches the configuration.")
    );
    let output =
        |name: &str, before: Option<Value>, after: Option<Value>, sensitive| OutputChange {
            name: name.into(),
            before,
            after,
            sensitive,
        };
    p.outputs = vec![
        output("gone", Some(Value::int(1)), None, false),
        output("new", None, Some(unknown()), false),
        output("same", Some(s("x")), Some(s("x")), false),
        output("secret", Some(s("hunter2")), Some(s("hunter3")), true),
    ];
    let with_outputs = plan_text(&p, &schemas(), Style::PLAIN);
    assert_eq!(
        with_outputs,
        "Changes to Outputs:
  - gone   = 1
  + new    = (known after apply)
  ~ secret = (sensitive value)

Applying this plan records these outputs in the state; it changes no object.
"
    );
    p.outputs.clear();
    let drift = change(
        Action::Update,
        Some(vm(&[("mtu", Value::int(1)), ("etag", s("x"))])),
        Some(vm(&[("mtu", Value::int(2)), ("etag", s("y"))])),
    );
    let mut gone = change(Action::Delete, Some(vm(&[("mtu", Value::int(1))])), None);
    gone.address = "demo_vm.gone".parse().expect("an address");
    p.drift = vec![drift];
    assert!(
        plan_text(&p, &schemas(), Style::PLAIN).starts_with("No changes."),
        "drift that has no consequences is not told"
    );
    p.drift.push(gone);
    p.changes = vec![change(
        Action::Update,
        Some(vm(&[("mtu", Value::int(2)), ("etag", s("y"))])),
        Some(vm(&[("mtu", Value::int(1)), ("etag", unknown())])),
    )];
    let text = plan_text(&p, &schemas(), Style::PLAIN);
    assert_eq!(
        text,
        r#"Note: Objects have changed outside of Formwork

  # demo_vm.a has changed
  ~ resource "demo_vm" "a" {
      ~ mtu  = 1 -> 2
        name = "a"
        # (1 unchanged attribute hidden)
    }

  # demo_vm.gone has been deleted
  - resource "demo_vm" "gone" {
        name = "a"
    }

Formwork will do this; the signs mean:
  ~ change in place

  # demo_vm.a will be changed in place
  ~ resource "demo_vm" "a" {
      ~ etag = "y" -> (known after apply)
      ~ mtu  = 2 -> 1
        name = "a"
    }

Plan: 0 to add, 1 to change, 0 to destroy.
"#
    );
}

#[test]
fn without_a_schema_and_with_marks() {
    let before = Value::object([
        ("id", s("1")),
        ("v", Value::tuple(vec![s("x").sensitive(), Value::int(1)])),
        ("w", s("same")),
    ]);
    let after = Value::object([
        ("id", s("1")),
        ("v", Value::tuple(vec![s("y").sensitive(), Value::int(2)])),
        ("w", s("same").sensitive()),
    ]);
    let mut c = change(Action::Update, Some(before), Some(after));
    c.address = "demo_other.a".parse().expect("an address");
    check(
        c,
        r#"  # demo_other.a will be changed in place
  ~ resource "demo_other" "a" {
        id = "1"
      ~ v  = [
          ~ (sensitive value),
          ~ 1 -> 2,
        ]
        # (becomes sensitive when applied)
      ~ w  = (sensitive value)
    }
"#,
    );
}

#[test]
fn long_texts_that_come_or_go_are_cut() {
    let script: String = (1..=50).map(|i| format!("line {i}\n")).collect();
    let object = vm(&[("script", s(&script))]);
    let p = plan(vec![change(Action::Create, None, Some(object))]);
    let text = plan_text(&p, &schemas(), Style::PLAIN);
    let end = "            line 20\n            # (30 more lines)\n        EOT\n";
    assert!(text.contains(end), "{text}");
}

#[test]
fn where_unknown_values_come_from_and_blocks_alike() {
    let from = |address: &str| {
        let origin = formwork_values::Origin {
            address: Arc::new(address.parse().expect("an address")),
            path: Path::ROOT.attribute("id"),
        };
        unknown().with_origin(&Arc::new(origin))
    };
    let disk = |kind: Value| {
        Value::object([
            ("size", Value::int(1)),
            ("kind", kind),
            ("source", unknown()),
        ])
    };
    let after = vm(&[
        ("id", unknown()),
        ("script", from("module.m.demo_vm.near[0]")),
        ("secret", from("demo_vm.secret")),
        (
            "disk",
            Value::tuple(vec![
                disk(from("demo_vm.far")),
                disk(from("demo_vm.other")),
                disk(s("x")),
                disk(s("x")),
                disk(s("x")),
            ]),
        ),
    ]);
    let mut c = change(Action::Create, None, Some(after));
    c.address = "module.m.demo_vm.a".parse().expect("an address");
    check(
        c,
        r#"  # module.m.demo_vm.a will be created
  + resource "demo_vm" "a" {
      + id     = (known after apply)
      + name   = "a"
      + script = (known after apply) # demo_vm.near[0].id
      + secret = (sensitive value)

      + disk {
          + kind   = (known after apply) # demo_vm.far.id
          + size   = 1
          + source = (known after apply)
        }
      + disk {
          + kind   = (known after apply) # demo_vm.other.id
          + size   = 1
          + source = (known after apply)
        }
      + disk {
          + kind   = "x"
          + size   = 1
          + source = (known after apply)
        }
        # (and 2 more like this)
    }
"#,
    );
}
