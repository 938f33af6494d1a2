//! Blocks: meta-arguments, settings, refactoring.

use super::*;

#[test]
fn meta_arguments() {
    let resource = |inner: &str| format!("resource \"a_b\" \"a\" {{\n{inner}\n}}\n");
    check(
        &resource(" lifecycle {}\n lifecycle {}"),
        &["main.tf:3:2-11 Duplicate lifecycle block"],
    );
    check(
        &resource(" lifecycle {\n prevent_destory = true\n }"),
        &["main.tf:3:2-17 Unsupported argument | Did you mean \"prevent_destroy\"?"],
    );
    check(
        &resource("  depends_on = [\"a_b.b\"]"),
        &[
            "W main.tf:2:17-24 Quoted references are deprecated",
            "main.tf:2:18-23 Reference to undeclared resource | Did you mean \"a_b.a\"?",
        ],
    );
    check(
        &resource("  depends_on = [a_b.a.id]"),
        &["main.tf:2:22-25 Invalid depends_on reference"],
    );
    check(
        &resource("  depends_on = a_b.b"),
        &["main.tf:2:16-21 Invalid expression"],
    );
    check(
        &resource("  provider = a.x"),
        &["main.tf:2:14-17 Provider configuration not present"],
    );
    check(
        &resource("  lifecycle {\n ignore_changes=[\"*\"]\n }"),
        &["main.tf:3:18-21 Invalid ignore_changes wildcard"],
    );
    check(
        &resource(
            "  lifecycle {\n replace_triggered_by=[var.x]\n }\n}\nvariable \"x\" {\n default = 1",
        ),
        &["main.tf:3:24-29 Invalid reference in replace_triggered_by expression"],
    );
    check(
        &resource("  provisioner \"local-exec\" {\n when=foo\n command=\"x\"\n }"),
        &["main.tf:3:7-10 Invalid \"when\" keyword"],
    );
    check(
        &resource(
            "  provisioner \"local-exec\" {\n when=destroy\n command=\"${self.id} ${path.module} ${local.x}\"\n }\n}\nlocals {\n x = 1",
        ),
        &["main.tf:4:39-46 Invalid reference from destroy provisioner"],
    );
    check(
        &resource(" locals {\n }"),
        &["main.tf:2:2-8 Reserved block type name in resource block"],
    );
    check(
        "data \"a_b\" \"a\" {\n lifecycle {\n prevent_destroy=true\n}\n provisioner \"x\" {}\n}",
        &[
            "main.tf:3:2-22 Invalid data resource lifecycle argument",
            "main.tf:5:2-13 Unsupported block type",
        ],
    );
    check(
        &resource(" count = 1\n lifecycle {\n enabled = true\n }"),
        &["main.tf:4:2-9 Invalid combination of \"count\", \"for_each\" and \"enabled\""],
    );
    check(
        &resource(" lifecycle {\n enabled = \"maybe\"\n prevent_destroy = 7\n }"),
        &[
            "main.tf:4:20-21 Invalid prevent_destroy argument",
            "main.tf:3:12-19 Invalid enabled argument",
        ],
    );
    check(
        &resource(" lifecycle {\n enabled = each.key\n prevent_destroy = self.x || var.nope\n }"),
        &[
            "main.tf:3:12-20 Reference to \"each\" in context without for_each",
            "main.tf:4:20-24 Invalid \"self\" reference",
            "main.tf:4:30-38 Reference to undeclared input variable | To declare it, add a block: variable \"nope\" {}",
        ],
    );
    check(
        "module \"m\" {\n source=\"./m\"\n for_each = {}\n lifecycle {\n enabled = 1 > 0\n destroy = false\n }\n lifecycle {}\n}",
        &[
            "main.tf:6:2-9 Unsupported argument",
            "main.tf:8:2-11 Duplicate lifecycle block",
            "main.tf:5:2-9 Invalid combination of \"count\", \"for_each\" and \"enabled\"",
            "main.tf:2:9-14 Unreadable module directory",
        ],
    );
    // Valid, and kept for whoever acts on them.
    let (c, d, _) = read(&resource(
        "  _ {\n count = 1\n }\n lifecycle {\n enabled = true\n ignore_changes = [a, b[\"c\"], d[0].e]\n }",
    ));
    assert!(d.is_empty());
    let root = c.root().expect("root");
    let r = &root.resources[&Resource::managed("a_b", "a")];
    assert!(matches!(r.repetition, Repetition::Enabled(_)));
    assert!(r.body.attribute("count").is_some());
    assert_eq!(c.unserved().count(), 0);
    assert!(matches!(&r.lifecycle.ignore_changes, crate::IgnoreChanges::Paths(p) if p.len() == 3));
}

#[test]
fn settings_and_providers() {
    check(
        "terraform {\n required_version = \"1.x\"\n}",
        &["main.tf:2:21-26 Invalid version constraint"],
    );
    check(
        "terraform {\n required_version = \"~> 1.5.0\"\n}",
        &["W main.tf:2:2-31 Unsupported Terraform Core version"],
    );
    check(
        "terraform {\n nope=1\n backendd \"local\" {}\n}",
        &[
            "main.tf:2:2-6 Unsupported argument",
            "main.tf:3:2-10 Unsupported block type | Did you mean \"backend\"?",
        ],
    );
    check(
        "terraform {\n required_providers {\n a={source=\"x/a\"}\n}\n required_providers {\n b={source=\"x/b\"}\n}\n}",
        &["main.tf:5:2-20 Duplicate required providers configuration"],
    );
    check(
        "terraform {\n required_providers {\n a={sauce=\"x/a\"}\n}\n}",
        &["main.tf:3:5-10 Invalid required_providers object | Did you mean \"source\"?"],
    );
    check(
        "terraform {\n backend \"local\" {}\n backend \"local\" {}\n}",
        &["main.tf:3:2-17 Duplicate backend configuration"],
    );
    check(
        "provider \"a\" {}\nprovider \"a\" {}\nprovider \"a\" {\n alias=\"x\"\n}\n",
        &["main.tf:2:1-13 Duplicate provider configuration"],
    );
    check(
        "provider \"a\" {\n count=1\n}",
        &["main.tf:2:2-7 Reserved argument name in provider block"],
    );
}

#[test]
fn refactoring_blocks() {
    check(
        "moved {\n from=a_b.x\n}",
        &["main.tf:1:7-8 Missing required argument"],
    );
    check(
        "moved {\n from=\"1x\"\n to=a_b.y\n}",
        &["main.tf:2:7-11 Invalid expression"],
    );
    check(
        "moved {\n from=module.x\n to=a_b.y\n}",
        &["main.tf:1:1-6 Invalid \"moved\" addresses"],
    );
    check(
        "removed {\n from=a_b.x[0]\n}",
        &["main.tf:2:7-15 Resource instance keys not allowed"],
    );
    check(
        "import {\n to=a_b.x\n}",
        &["main.tf:1:8-9 Missing required argument"],
    );
    let (c, d, sources) = read("resource \"a_b\" \"x\" {}\nremoved {\n from=a_b.x\n}");
    assert!(d.is_empty(), "{d:?}");
    assert_eq!(
        told(&c.removal_conflicts(), &sources),
        ["main.tf:1:1-19 Removed resource still exists"]
    );
    let (c, d, _) = read(
        "moved {\n from=module.x[\"a\"].a_b.c[0]\n to=module.y.a_b.c\n}\nimport {\n for_each={}\n to=a_b.x[each.key]\n id=each.value\n}\nremoved {\n from=module.z\n lifecycle {\n destroy=false\n }\n}",
    );
    assert!(d.is_empty(), "{d:?}");
    let root = c.root().expect("root");
    assert_eq!(root.moved[0].from.to_string(), "module.x[\"a\"].a_b.c[0]");
    assert_eq!(root.moved[0].to.to_string(), "module.y.a_b.c");
    assert_eq!(root.imports[0].to_resource.to_string(), "a_b.x");
    assert!(!root.removed[0].destroy);
}

#[test]
fn lock_file() {
    let (c, d, sources) = read(
        "## main.tf\n\n## .terraform.lock.hcl\nprovider \"registry.terraform.io/hashicorp/google\" {\n  version     = \"7.2.0\"\n  constraints = \"~> 7.0\"\n  hashes = [\n    \"h1:abc=\",\n  ]\n}\n",
    );
    assert_eq!(told(&d, &sources), [""; 0]);
    let locked = c.lock.providers.values().next().expect("provider");
    assert_eq!(
        (locked.version.to_string(), locked.hashes.len()),
        ("7.2.0".to_owned(), 1)
    );
}
