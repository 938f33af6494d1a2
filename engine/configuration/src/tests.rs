//! Configurations as text, and what loading says about them.

use crate::{
    Configuration, LanguageLevel, Loading, LocalModulesOnly, MemoryReader, Repetition, load,
    parse_tfvars,
};
use formwork_addresses::{LocalProviderConfig, ModulePath, Resource};
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_values::{Kind, Value};
use std::path::Path;

/// Loads files; a text without file headers is `main.tf`, others begin with lines `## path`.
fn read(text: &str) -> (Configuration, Diagnostics, SourceMap) {
    let mut reader = MemoryReader::new();
    for part in format!("\n{text}")
        .split("\n## ")
        .filter(|p| !p.trim().is_empty())
    {
        match part.split_once('\n') {
            Some((name, text)) if text_has_header(part, name) => {
                reader.insert(name, text.as_bytes())
            }
            _ => reader.insert("main.tf", part.trim_start_matches('\n').as_bytes()),
        }
    }
    let mut sources = SourceMap::new();
    let with = Loading {
        reader: &reader,
        fetcher: &LocalModulesOnly,
        level: LanguageLevel::default(),
        statics: crate::StaticInputs::default(),
    };
    let (c, d) = load(Path::new("."), &with, &mut sources);
    (c, d, sources)
}

fn text_has_header(part: &str, name: &str) -> bool {
    !part.starts_with('\n') && (name.contains(".tf") || name.contains(".hcl"))
}

/// Each diagnostic as `file:line:column-column summary`, warnings with a `W`.
fn told(d: &Diagnostics, sources: &SourceMap) -> Vec<String> {
    d.iter()
        .map(|d| {
            let place = d.subject.map_or("-".to_owned(), |r| {
                let end = sources.get(r.file).map_or(0, |f| f.position(r.end).column);
                format!("{}-{end}", sources.place(r))
            });
            let kind = if d.is_error() { "" } else { "W " };
            let hint = d.hints.first().map_or(String::new(), |h| format!(" | {h}"));
            format!("{kind}{place} {}{hint}", d.summary)
        })
        .collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let (_, d, sources) = read(text);
    assert_eq!(told(&d, &sources), expected, "of:\n{text}");
}

/// The recorded mistakes: summary and range as terraform 1.11.4 answers them.
#[test]
fn recorded_mistakes() {
    check(
        "resource \"terraform_data\" \"a\" {\n}\n\nresource \"terraform_data\" \"a\" {\n}\n",
        &["main.tf:4:1-30 Duplicate resource \"terraform_data\" configuration"],
    );
    check(
        "output \"o\" {\n  value = terraform_data.missing.id\n}\n",
        &["main.tf:2:11-33 Reference to undeclared resource"],
    );
    check(
        "output \"o\" {\n  value = var.missing\n}\n\noutput \"l\" {\n  value = local.missing\n}\n\noutput \"m\" {\n  value = module.missing.x\n}\n",
        &[
            "main.tf:6:11-24 Reference to undeclared local value",
            "main.tf:10:11-27 Reference to undeclared module",
            "main.tf:2:11-22 Reference to undeclared input variable | To declare it, add a block: variable \"missing\" {}",
        ],
    );
    check(
        "bogus \"x\" {\n}\n",
        &["main.tf:1:1-6 Unsupported block type"],
    );
    check(
        "resource \"terraform_data\" {\n}\n",
        &["main.tf:1:27-28 Missing name for resource"],
    );
    check(
        "output \"o\" {\n}\n",
        &["main.tf:1:12-13 Missing required argument"],
    );
    check(
        "resource \"terraform_data\" \"a\" {\n  input = each.key\n}\n\nresource \"terraform_data\" \"b\" {\n  input = count.index\n}\n\nresource \"terraform_data\" \"c\" {\n  input = self.id\n}\n",
        &[
            "main.tf:2:11-19 Reference to \"each\" in context without for_each",
            "main.tf:6:11-22 Reference to \"count\" in non-counted context",
            "main.tf:10:11-15 Invalid \"self\" reference",
        ],
    );
    check(
        "resource \"terraform_data\" \"1bad\" {\n}\n",
        &["main.tf:1:27-33 Invalid resource name"],
    );
    check(
        "terraform {\n  required_version = \">= 99.0\"\n}\n",
        &[
            "main.tf:2:3-31 Unsupported Terraform Core version | If the module works with less, widen its constraint; if you want to try it as it is, claim another version with FORMWORK_TERRAFORM_VERSION.",
        ],
    );
    check(
        "resource \"terraform_data\" \"a\" {\n  count = 2\n}\n\noutput \"o\" {\n  value = terraform_data.a.id\n}\n",
        &["main.tf:6:11-27 Missing resource instance key"],
    );
    check(
        "resource \"terraform_data\" \"a\" {\n}\n\noutput \"o\" {\n  value = terraform_data.a[0].id\n}\n",
        &["main.tf:5:11-30 Unexpected resource instance key"],
    );
    check(
        "locals {\n  a = 1\n}\n\nlocals {\n  a = 2\n}\n\nvariable \"v\" {\n}\n\nvariable \"v\" {\n}\n\noutput \"o\" {\n  value = 1\n}\n\noutput \"o\" {\n  value = 2\n}\n",
        &[
            "main.tf:6:3-8 Duplicate local value definition",
            "main.tf:12:1-13 Duplicate variable declaration",
            "main.tf:19:1-11 Duplicate output definition",
        ],
    );
    check(
        "variable \"count\" {\n}\n\nvariable \"v\" {\n  type = strin\n}\n\nvariable \"w\" {\n  type = list\n}\n\nvariable \"x\" {\n  type    = string\n  nope    = 1\n}\n",
        &[
            "main.tf:1:10-17 Invalid variable name",
            "main.tf:5:10-15 Invalid type specification | Did you mean \"string\"?",
            "main.tf:14:3-7 Unsupported argument",
        ],
    );
    check(
        "module \"m\" {\n}\n",
        &["main.tf:1:12-13 Missing required argument"],
    );
    check(
        "check \"c\" {\n  assert {\n    condition     = 1 + 1 == 2\n    error_message = \"constant\"\n  }\n}\n",
        &["main.tf:3:21-31 Invalid assert expression"],
    );
    check(
        "check \"empty\" {\n}\n",
        &["main.tf:1:1-14 Zero assert blocks"],
    );
    check(
        "resource \"terraform_data\" \"both\" {\n  count    = 1\n  for_each = {}\n}\n",
        &["main.tf:3:3-11 Invalid combination of \"count\" and \"for_each\""],
    );
    check(
        "output \"o\" {\n  value     = \"x\"\n  ephemeral = true\n}\n",
        &["main.tf:1:1-11 Ephemeral output not allowed"],
    );
}

#[test]
fn references_that_name_nothing() {
    check(
        "output \"a\" {\n value=data.x\n}",
        &["main.tf:2:8-14 Invalid reference"],
    );
    check(
        "output \"a\" {\n value=var\n}",
        &["main.tf:2:8-11 Invalid reference"],
    );
    check(
        "output \"a\" {\n value=var[\"x\"]\n}",
        &["main.tf:2:11-16 Invalid reference"],
    );
    check(
        "output \"a\" {\n value=foo\n}",
        &["main.tf:2:8-11 Invalid reference"],
    );
    check(
        "output \"a\" {\n value=foo[\"a\"]\n}",
        &["main.tf:2:11-16 Invalid reference"],
    );
    check(
        "output \"a\" {\n value=count.x\n}",
        &["main.tf:2:8-15 Invalid \"count\" attribute"],
    );
    check(
        "output \"a\" {\n value=path.x\n}",
        &["main.tf:2:8-14 Invalid \"path\" attribute"],
    );
    check(
        "variable \"zone\" {\n default=1\n}\noutput \"a\" {\n value=var.zoen\n}",
        &["main.tf:5:8-16 Reference to undeclared input variable | Did you mean \"zone\"?"],
    );
    check(
        "check \"a\" {\n data \"x_y\" \"x\" {}\n assert {\n condition=data.x_y.x.b==\"\"\n error_message=\"x\"\n}\n}\noutput \"o\" {\n value=data.x_y.x.b\n}",
        &["main.tf:9:8-18 Reference to scoped resource"],
    );
    // Names bound nearby are no references.
    check(
        "resource \"a_b\" \"c\" {\n x = [for s in [1] : s.y]\n dynamic \"disk\" {\n for_each = [1]\n iterator = it\n content {\n size = it.value\n name = \"%{ for q in [1] }${q.z}%{ endfor }\"\n }\n }\n dynamic \"nic\" {\n for_each = [disk.value]\n content {\n a = nic.key\n }\n }\n}",
        &["main.tf:12:14-24 Reference to undeclared resource"],
    );
}

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
fn providers_through_modules() {
    let (c, d, sources) = read(
        r#"
terraform {
  required_providers {
    goo = { source = "hashicorp/google", version = ">= 6" }
  }
}
provider "goo" {
  region = "r"
}
provider "goo" {
  alias = "eu"
}
module "a" {
  source = "./m"
}
module "b" {
  source    = "./m"
  providers = { google = goo.eu }
}
## m/main.tf
resource "google_x" "y" {}
resource "null_resource" "z" {}
"#,
    );
    assert_eq!(told(&d, &sources), [""; 0]);
    let resolve = |module: &str, name: &str| {
        let path: ModulePath = [module].into_iter().collect();
        c.resolve_provider(&path, &LocalProviderConfig::default_of(name))
            .map(|r| format!("{} {}", r.config, r.declared))
            .expect("resolved")
    };
    let google = "provider[\"registry.terraform.io/hashicorp/google\"]";
    assert_eq!(resolve("a", "google"), format!("{google} true"));
    assert_eq!(resolve("b", "google"), format!("{google}.eu true"));
    assert_eq!(
        resolve("b", "null"),
        "provider[\"registry.terraform.io/hashicorp/null\"] false"
    );
    assert_eq!(c.required_providers().len(), 2);
    assert_eq!(c.distinct_modules().count(), 2);
}

#[test]
fn module_calls() {
    let call = |inner: &str, child: &str| {
        format!("module \"m\" {{\n source=\"./m\"\n{inner}\n}}\n## m/a.tf\n{child}\n")
    };
    check(
        &call("", "variable \"x\" {}"),
        &["main.tf:1:12-13 Missing required argument"],
    );
    check(
        &call("zoen=1", "variable \"zone\" {\n default=1\n}"),
        &["main.tf:3:1-5 Unsupported argument | Did you mean \"zone\"?"],
    );
    check(
        &call("y {\n}", ""),
        &["main.tf:3:1-2 Unsupported block type"],
    );
    check(
        &call("provider {\n}", ""),
        &["main.tf:3:1-9 Reserved block type name in module block"],
    );
    check(
        &call("version=\"1.0\"", ""),
        &["main.tf:2:9-14 Invalid registry module source address"],
    );
    check(
        &call("providers={\n foo=terraform\n}", ""),
        &["main.tf:4:6-15 Provider type mismatch"],
    );
    check(
        &call(
            "",
            "terraform {\n required_providers {\n terraform={\n source=\"terraform.io/builtin/terraform\"\n configuration_aliases=[terraform.x]\n}\n}\n}",
        ),
        &["main.tf:1:1-11 Missing required provider configuration"],
    );
    check(
        &call("count=1", "provider \"a\" {\n region=1\n}"),
        &["main.tf:1:1-11 Module is incompatible with count, for_each, and depends_on"],
    );
    check(
        &call("", "terraform {\n backend \"local\" {}\n}"),
        &["W m/a.tf:2:2-17 Backend configuration ignored"],
    );
    check(
        &call("", "import {\n to=a_b.x\n id=\"a\"\n}"),
        &["m/a.tf:1:1-7 Invalid import configuration"],
    );
    check(
        "module \"m\" {\n source=\"./\"\n}\n",
        &["main.tf:2:9-13 Module call cycle"],
    );
    check(
        "module \"m\" {\n source=\"m\"\n}\n",
        &[
            "main.tf:2:9-12 Invalid module source address | For a directory beside this file, write \"./m\".",
        ],
    );
    check(
        "module \"m\" {\n source=\"./gone\"\n}\noutput \"x\" {\n value=module.m.y\n}",
        &["main.tf:2:9-17 Unreadable module directory"],
    );
    check(
        "module \"m\" {\n source=\"terraform-google-modules/network/google\"\n}\n",
        &["main.tf:2:9-50 Module not installed"],
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
fn overrides() {
    let (c, d, _) = read(
        r#"
variable "v" {
  type    = string
  default = "base"
}
resource "a_b" "a" {
  count = 2
  x     = 1
  y     = 2
  disk {
    size = 1
  }
}
locals {
  a = 1
  b = 2
}
## z_override.tf
variable "v" {
  default = "over"
}
resource "a_b" "a" {
  for_each = {}
  x        = 3
  disk {
    size = 2
  }
}
locals {
  b = 3
}
"#,
    );
    assert!(d.is_empty(), "{d:?}");
    let root = c.root().expect("root");
    let default = root.variables["v"].default.clone().expect("default");
    assert_eq!(default.as_str(), Some("over"));
    let r = &root.resources[&Resource::managed("a_b", "a")];
    assert!(matches!(r.repetition, Repetition::ForEach(_)));
    assert_eq!(r.body.attributes().len(), 2);
    assert_eq!(r.body.blocks().len(), 1);
    check(
        "## x_override.tf\nvariable \"a\" {\n}\nlocals {\n x=1\n}\nresource \"a_b\" \"c\" {}\n",
        &[
            "x_override.tf:1:1-13 Missing base variable declaration to override",
            "x_override.tf:4:2-5 Missing base local value definition to override",
            "x_override.tf:6:1-19 Missing resource to override",
        ],
    );
}

#[test]
fn types_and_defaults() {
    let (c, d, sources) = read(
        r#"
variable "x" {
  type = map(object({
    name = string
    size = optional(number, 10)
    tags = optional(object({ a = optional(string, "x") }), {})
    note = optional(string)
  }))
}
"#,
    );
    assert_eq!(told(&d, &sources), [""; 0]);
    let x = &c.root().expect("root").variables["x"];
    let given = Value::object([(
        "k",
        Value::object([("name", Value::from("n")), ("size", Value::NULL)]),
    )]);
    let v = x.accept(given).expect("accepted");
    let Kind::Map(entries) = v.kind() else {
        panic!("no map");
    };
    let object = &entries[0].1;
    let text = |path: &str| object.attribute(path).cloned().expect("attribute");
    assert_eq!(
        text("size").as_number().map(ToString::to_string).as_deref(),
        Some("10")
    );
    assert_eq!(
        text("tags")
            .attribute("a")
            .and_then(|v| v.as_str().map(str::to_owned))
            .as_deref(),
        Some("x")
    );
    assert!(text("note").is_null());
    for (ty, column) in [
        (
            "\"string\"",
            "10-18 Invalid quoted type constraints | Write string.",
        ),
        ("object", "10-16 Invalid type specification"),
        (
            "lists(string)",
            "10-23 Invalid type specification | Did you mean \"list\"?",
        ),
        ("list()", "14-16 Invalid type specification"),
        ("optional(string)", "10-18 Invalid type specification"),
        ("tuple(string)", "16-22 Invalid type specification"),
        ("map(string,number)", "21-27 Invalid type specification"),
        (
            "list(\"string\")",
            "15-23 Invalid type specification | Write string, without quotes.",
        ),
        (
            "object({a=optional(number,\"x\")})",
            "36-39 Invalid default value for optional attribute",
        ),
        (
            "object({a=string,a=number})",
            "27-28 Invalid type specification",
        ),
    ] {
        check(
            &format!("variable \"a\" {{\n  type = {ty}\n}}"),
            &[&format!("main.tf:2:{column}")],
        );
    }
    check(
        "variable \"a\" {\n type=number\n default=\"x\"\n}",
        &["main.tf:3:10-13 Invalid default value for variable"],
    );
    check(
        "variable \"a\" {\n nullable=false\n default=null\n}",
        &["main.tf:3:10-14 Invalid default value for variable"],
    );
    check(
        "variable \"a\" {\n sensitive=\"x\"\n}",
        &["main.tf:2:12-15 Unsuitable value type"],
    );
    check(
        "variable \"a\" {\n validation {\n condition=true\n error_message=\"x\"\n}\n}",
        &["main.tf:3:12-16 Invalid validation expression"],
    );
}

#[test]
fn values_from_outside() {
    let (c, _, mut sources) = read(
        "variable \"s\" {}\nvariable \"l\" {\n type=list(string)\n}\nvariable \"n\" {\n nullable=false\n default=\"d\"\n}",
    );
    let root = c.root().expect("root").clone();
    let (v, d) = root.variables["s"].value_from_text("[1]", &mut sources);
    assert_eq!((v.as_str(), d.is_empty()), (Some("[1]"), true));
    let (v, d) = root.variables["l"].value_from_text("[1, \"a\"]", &mut sources);
    assert!(d.is_empty());
    assert_eq!(
        root.variables["l"]
            .accept(v)
            .expect("list")
            .as_sequence()
            .map(<[_]>::len),
        Some(2)
    );
    let (_, d) = root.variables["l"].value_from_text("hello", &mut sources);
    assert!(d.has_errors());
    assert_eq!(
        root.variables["n"]
            .accept(Value::NULL)
            .expect("default")
            .as_str(),
        Some("d")
    );

    let (values, d) = parse_tfvars(
        "x.tfvars",
        b"a = 1\nb = var.x\nvariable \"c\" {}\n",
        &mut sources,
    );
    assert_eq!(values.keys().map(|k| &**k).collect::<Vec<_>>(), ["a"]);
    assert_eq!(
        told(&d, &sources),
        [
            "x.tfvars:3:1-9 Unexpected \"variable\" block | Variables are declared in .tf files; here they are given values, as in name = \"value\".",
            "x.tfvars:2:5-10 Variables not allowed",
        ]
    );
}

#[test]
fn json_form() {
    let (c, d, sources) = read(
        r#"
## main.tf.json
{
  "variable": { "v": { "type": "list(string)", "default": ["a"] },
    "w": { "default": ["${x"], "description": "${y}" } },
  "locals": { "l": "${var.v}" },
  "resource": { "a_b": { "c": { "count": 2, "depends_on": ["a_b.d"], "x": "${local.nope}",
    "dynamic": { "disk": { "for_each": [1], "content": { "y": "${disk.value}" } } } },
    "d": { "lifecycle": { "ignore_changes": "all" } } } },
  "output": { "o": { "value": "${a_b.c[0].x}" } },
  "module": { "m": { "source": "./m", "in": 1 } }
}
## m/m.tf
variable "in" {}
"#,
    );
    assert_eq!(
        told(&d, &sources),
        ["main.tf.json:5:78-88 Reference to undeclared local value"]
    );
    let root = c.root().expect("root");
    assert_eq!(root.resources.len(), 2);
    assert_eq!(root.calls["m"].arguments.len(), 1);
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

#[test]
fn constants_are_computed_but_refer_to_nothing() {
    let (c, d, _) = read("variable \"a\" {\n default = 60 * 60 + 1\n}");
    assert!(d.is_empty(), "{d:?}");
    let default = c.root().expect("root").variables["a"].default.clone();
    assert_eq!(
        default
            .and_then(|v| v.as_number().map(ToString::to_string))
            .as_deref(),
        Some("3601")
    );
    check(
        "variable \"a\" {\n default=var.b\n}",
        &["main.tf:2:10-15 Variables not allowed"],
    );
    check(
        "variable \"a\" {\n default=upper(\"x\")\n}",
        &["main.tf:2:10-15 Function calls not allowed"],
    );
    check(
        "output \"a\" {\n value=1\n sensitive=var.x\n}",
        &["main.tf:3:12-17 Variables not allowed"],
    );
}

/// Damaged configurations load to something, with an error that has a range, and never panic.
///
/// A damage is a piece cut out, doubled, swapped or put elsewhere, so that about half of the texts
/// still parse. `FORMWORK_TEST_BUDGET` (seconds, default 10) sets the amount: a fifth of it is used.
#[test]
fn damaged_text_is_survived() {
    const TEXT: &str = r#"
terraform {
  required_version = ">= 1.3"
  required_providers {
    google = { source = "hashicorp/google", version = "~> 7.0", configuration_aliases = [google.eu] }
  }
  backend "local" { path = "x" }
}
provider "google" { alias = "eu" }
variable "x" {
  type    = map(object({ a = optional(number, 1), b = list(string) }))
  default = { k = { b = ["${"q"}"] } }
  validation {
    condition     = length(var.x) > 0
    error_message = "Empty."
  }
}
locals {
  l = [for k, v in var.x : v.a if k != "z"]
  m = { for s in ["a"] : s => s... }
}
module "m" {
  source    = "./m"
  for_each  = var.x
  providers = { google.eu = google.eu }
  in        = each.value
}
resource "google_x" "y" {
  count = length(local.l)
  name  = "n-${count.index}"
  dynamic "disk" {
    for_each = local.m
    iterator = d
    content { size = d.value[0] }
  }
  lifecycle {
    ignore_changes       = [name, disk[0].size]
    replace_triggered_by = [google_x.z.id]
    postcondition {
      condition     = self.name != ""
      error_message = "No."
    }
  }
  provisioner "local-exec" { command = "x" }
  depends_on = [module.m]
}
resource "google_x" "z" { provider = google.eu }
moved { 
  from = google_x.old[0]
  to   = google_x.z
}
removed {
  from = module.gone
  lifecycle { destroy = false }
}
import { 
  to = google_x.z 
  id = "a"
}
check "c" {
  assert {
    condition     = google_x.z.id != "" && module.m["k"].out == 1
    error_message = "Odd."
  }
}
output "o" { value = values(module.m)[*].out }
"#;
    let (_, d, sources) = read(&format!(
        "## main.tf\n{TEXT}\n## m/a.tf\nvariable \"in\" {{}}\noutput \"out\" {{\n value = var.in\n}}\n"
    ));
    assert_eq!(told(&d, &sources), [""; 0]);
    let budget: u64 = std::env::var("FORMWORK_TEST_BUDGET")
        .ok()
        .and_then(|b| b.parse().ok())
        .unwrap_or(10);
    let until = std::time::Instant::now() + std::time::Duration::from_millis(budget * 200);
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below.max(1) as u64).unwrap_or(0)
    };
    let pieces: Vec<&str> = TEXT
        .split_inclusive([' ', '\n', '.', '"', '{', '}'])
        .collect();
    let (mut rounds, mut clean) = (0u32, 0u32);
    while rounds < 50 || std::time::Instant::now() < until {
        let mut damaged = pieces.clone();
        for _ in 0..=random(3) {
            let (a, b) = (random(damaged.len()), random(damaged.len()));
            match random(4) {
                0 => drop(damaged.remove(a)),
                1 => damaged.insert(a, damaged[b]),
                2 => damaged.swap(a, b),
                _ => {
                    let piece = damaged.remove(a);
                    damaged.insert(b.min(damaged.len()), piece);
                }
            }
        }
        let text: String = damaged.concat();
        let mut reader = MemoryReader::new();
        reader.insert("main.tf", text.as_bytes());
        reader.insert(
            "m/a.tf",
            &b"variable \"in\" {}\noutput \"out\" {\n value = var.in\n}\n"[..],
        );
        let mut sources = SourceMap::new();
        let with = Loading {
            reader: &reader,
            fetcher: &LocalModulesOnly,
            level: LanguageLevel::default(),
            statics: crate::StaticInputs::default(),
        };
        let (configuration, d) = load(Path::new("."), &with, &mut sources);
        assert!(
            d.iter().all(|d| d.subject.is_some()),
            "no range in {d:?} of:\n{text}"
        );
        let _ = (
            crate::Moves::of(&configuration, |_, _| Default::default()),
            configuration.removal_conflicts(),
        );
        rounds += 1;
        clean += u32::from(!d.has_errors());
    }
    println!("{rounds} damaged texts, {clean} of them without an error");
}

#[test]
fn a_syntax_error_hides_what_only_seems_wrong() {
    check(
        "variable \"a\" {\n nope = 1\n}\nvariable \"b\" {\n default = \"x\n}\noutput \"o\" {\n value = var.gone\n}\n",
        &[
            "main.tf:5:14-14 Invalid multi-line string",
            "main.tf:2:2-6 Unsupported argument",
        ],
    );
    check(
        "variable \"a\" {\n\noutput \"o\" {\n value = 1\n}\noutput \"p\" {\n}\n",
        &["main.tf:1:1-15 Unclosed configuration block"],
    );
}
