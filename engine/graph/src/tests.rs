//! Graphs of small configurations, by their text face.

use crate::{StaticGraph, What};
use formwork_addresses::{ModulePath, Resource};
use formwork_configuration::{
    Configuration, LanguageLevel, Loading, LocalModulesOnly, MemoryReader, StaticInputs, load,
};
use formwork_diagnostics::{Diagnostics, SourceMap};
use std::path::Path;

fn read(files: &[(&str, &str)]) -> (Configuration, StaticGraph, Diagnostics, SourceMap) {
    let reader: MemoryReader = files.iter().copied().collect();
    let mut sources = SourceMap::new();
    let with = Loading {
        reader: &reader,
        fetcher: &LocalModulesOnly,
        level: LanguageLevel::default(),
        statics: StaticInputs::default(),
    };
    let (configuration, d) = load(Path::new("."), &with, &mut sources);
    assert!(!d.has_errors(), "{d:?}");
    let (graph, d) = StaticGraph::build(&configuration);
    (configuration, graph, d, sources)
}

const MODULES: &[(&str, &str)] = &[
    (
        "main.tf",
        r#"
variable "zone" {}
locals {
  where = "${var.zone}-x"
}
provider "a" {
  region = local.where
}
resource "a_b" "net" {}
module "m" {
  source = "./m"
  count  = length(local.where)
  net    = a_b.net.id
}
resource "a_b" "after" {
  x          = module.m[0].id
  depends_on = [module.m]
}
output "all" {
  value = module.m
}
"#,
    ),
    (
        "m/main.tf",
        r#"
variable "net" {
  validation {
    condition     = var.net != ""
    error_message = "No network."
  }
}
resource "a_b" "in" {
  net = var.net
}
output "id" {
  value = a_b.in.id
}
"#,
    ),
];

#[test]
fn text_face() {
    let (_, graph, d, _) = read(MODULES);
    assert!(d.is_empty());
    assert_eq!(
        graph.debug_text(),
        r#"module.m <- local.where
var.zone
local.where <- var.zone
provider["registry.terraform.io/hashicorp/a"] <- local.where
a_b.after <- module.m, provider["registry.terraform.io/hashicorp/a"], module.m (done), module.m.output.id
a_b.net <- provider["registry.terraform.io/hashicorp/a"]
output.all <- module.m, module.m.output.id
module.m (done) <- module.m, module.m.a_b.in, module.m.output.id
module.m.var.net <- module.m, a_b.net
module.m.a_b.in <- module.m, provider["registry.terraform.io/hashicorp/a"], module.m.var.net
module.m.output.id <- module.m, module.m.a_b.in
"#
    );
    assert_eq!(graph.order().len(), graph.nodes().len());
}

#[test]
fn nearest_resources_and_scope() {
    let (_, graph, _, _) = read(MODULES);
    let root = ModulePath::root();
    let after = graph
        .resource(&root, &Resource::managed("a_b", "after"))
        .expect("node");
    let name = |n: &u32| graph.get(*n).expect("node").to_string();
    let near: Vec<_> = graph.nearest_resources(after).iter().map(name).collect();
    assert_eq!(near, ["module.m.a_b.in"]);
    let net = graph
        .resource(&root, &Resource::managed("a_b", "net"))
        .expect("node");
    let scope = |t: Option<&[u32]>, e: &[u32]| -> Vec<String> {
        (0u32..)
            .zip(graph.scope(t, e))
            .filter(|(n, s)| *s && matches!(graph.get(*n).expect("node").what, What::Resource(_)))
            .map(|(n, _)| name(&n))
            .collect()
    };
    assert_eq!(scope(Some(&[net]), &[]), ["a_b.net"]);
    assert_eq!(scope(Some(&[after]), &[]).len(), 3);
    assert_eq!(scope(None, &[net]), [""; 0]);
    assert_eq!(scope(None, &[after]), ["a_b.net", "module.m.a_b.in"]);
}

#[test]
fn create_before_destroy_spreads_to_what_is_needed() {
    let (configuration, graph, _, _) = read(&[(
        "main.tf",
        r#"
resource "a_b" "base" {}
locals {
  id = a_b.base.id
}
resource "a_b" "top" {
  x = local.id
  lifecycle {
    create_before_destroy = true
  }
}
resource "a_b" "side" {
  x = a_b.base.id
}
"#,
    )]);
    let first = graph.create_before_destroy(&configuration);
    let names: Vec<_> = graph
        .nodes()
        .iter()
        .zip(first)
        .filter(|(_, b)| *b)
        .map(|(n, _)| n.to_string())
        .collect();
    assert_eq!(names, ["a_b.base", "a_b.top"]);
}

#[test]
fn cycles_name_everything_on_them() {
    let told = |text: &str| {
        let (_, _, d, sources) = read(&[("main.tf", text)]);
        d.iter()
            .map(|d| {
                format!(
                    "{} {} / {}",
                    sources.place(d.subject.expect("range")),
                    d.summary,
                    d.detail
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        told(
            "resource \"a_b\" \"a\" {\n  x = a_b.b.id\n}\nresource \"a_b\" \"b\" {\n  x = a_b.a.id\n}\n"
        ),
        [
            "main.tf:2:7 Cycle: a_b.a, a_b.b / These need each other in a circle, so there is none to begin with: a_b.a needs a_b.b; a_b.b needs a_b.a. One of these references must go: use a value that does not come from the circle."
        ]
    );
    assert_eq!(
        told("locals {\n a = local.b\n b = local.c\n c = local.a\n}\n").len(),
        1
    );
    assert!(told("locals {\n a = local.a\n}\n")[0].contains("Self-referencing local value"));

    let (_, graph, d, sources) =
        read(&[("main.tf", "resource \"a_b\" \"a\" {\n  x = a_b.a.id\n}\n")]);
    assert!(d.is_empty());
    let d = graph.self_references();
    assert_eq!(
        d.iter()
            .map(|d| format!("{} {}", sources.place(d.subject.expect("range")), d.summary))
            .collect::<Vec<_>>(),
        ["main.tf:2:7 Self-referential block"]
    );
}

#[test]
fn imports_come_before_what_they_import_to() {
    let (_, graph, d, _) = read(&[(
        "main.tf",
        "locals {\n id = \"x\"\n}\nimport {\n to = a_b.c\n id = local.id\n}\nresource \"a_b\" \"c\" {}\n",
    )]);
    assert!(d.is_empty());
    assert_eq!(
        graph.debug_text(),
        "local.id\nprovider[\"registry.terraform.io/hashicorp/a\"]\na_b.c <- local.id, provider[\"registry.terraform.io/hashicorp/a\"]\n"
    );
}
