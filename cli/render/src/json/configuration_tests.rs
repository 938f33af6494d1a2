//! The configuration of the plan JSON, against what Terraform 1.11.4 answered for the same files.

use super::configuration::write_configuration;
use super::write;
use crate::Schemas;
use crate::schemas::SchemaCache;
use formwork_addresses::ProviderAddr;
use formwork_configuration::{
    LanguageLevel, Loading, LocalModulesOnly, MemoryReader, StaticInputs, load,
};
use formwork_diagnostics::SourceMap;
use formwork_provider_schema::{
    Attribute, Block, BlockNesting, NestedBlock, ProviderSchema, Schema,
};
use formwork_values::Type;
use serde_json::Value as Json;
use std::sync::Arc;

fn schemas() -> Schemas {
    let any = || Attribute::new(Type::Dynamic).optional();
    let data = Block::of_attributes([
        ("id", Attribute::new(Type::String).computed()),
        ("input", any()),
        ("output", Attribute::new(Type::Dynamic).computed()),
        ("triggers_replace", any()),
    ]);
    let remote = Block::of_attributes([
        ("backend", Attribute::new(Type::String).required()),
        ("config", any()),
        ("outputs", Attribute::new(Type::Dynamic).computed()),
    ]);
    let mut builtin = ProviderSchema::default();
    builtin
        .resources
        .insert("terraform_data".into(), Arc::new(Schema::new(0, data)));
    builtin.data_sources.insert(
        "terraform_remote_state".into(),
        Arc::new(Schema::new(0, remote)),
    );
    let disk = Block::of_attributes([("size", Attribute::new(Type::Number).optional())]);
    let vm = Block::new(
        [("name", Attribute::new(Type::String).required())],
        [
            ("disk", NestedBlock::new(BlockNesting::List, disk.clone())),
            ("boot", NestedBlock::new(BlockNesting::Single, disk)),
        ],
    );
    let region = Block::of_attributes([("region", Attribute::new(Type::String).optional())]);
    let mut demo = ProviderSchema {
        provider_config: Some(Arc::new(Schema::new(0, region))),
        ..ProviderSchema::default()
    };
    demo.resources
        .insert("demo_vm".into(), Arc::new(Schema::new(2, vm)));
    let mut all = Schemas::new();
    all.insert(ProviderAddr::implied("terraform"), Arc::new(builtin));
    all.insert(ProviderAddr::implied("demo"), Arc::new(demo));
    all
}

#[track_caller]
fn check(files: &[(&str, &str)], want: &str) {
    let reader: MemoryReader = files.iter().copied().collect();
    let mut sources = SourceMap::new();
    let loading = Loading {
        reader: &reader,
        fetcher: &LocalModulesOnly,
        level: LanguageLevel::default(),
        statics: StaticInputs::default(),
    };
    let (configuration, said) = load(std::path::Path::new("."), &loading, &mut sources);
    assert!(!said.has_errors(), "{said:?}");
    let schemas = schemas();
    let mut cache = SchemaCache::new(&schemas);
    let got = write::object(|o| write_configuration(o, &configuration, &mut cache));
    let got: Json = serde_json::from_str(&got).expect("JSON");
    let want: Json = serde_json::from_str(want).expect("JSON");
    assert_eq!(got, want, "\n{got:#}");
}

#[test]
fn expressions_modules_and_providers() {
    check(
        &[
            (
                "main.tf",
                r#"
variable "v" {
  description = "desc"
  default     = null
  type        = object({ a = string, b = optional(number, 3) })
}
variable "num" {
  default = 123456789012345678901234567890.5
}
locals {
  l = { x = [1, 2] }
}
resource "terraform_data" "a" {
  for_each         = { x = { name = "q" }, "y z" = { name = "r" } }
  input            = each.value.name
  triggers_replace = [null, "a-${1 + 2}", true ? 1 : 2, [for x in [1] : x]]
  depends_on       = [terraform_data.b]
}
resource "terraform_data" "b" {
  input            = null
  triggers_replace = local.l.x[0] + length(local.l.x) + data.terraform_remote_state.r[0].outputs["foo"].bar
}
resource "terraform_data" "c" {
  count            = 2
  input            = terraform_data.a["x"].output.foo[count.index].bar
  triggers_replace = terraform_data.a[*].id
  provisioner "local-exec" {
    command     = "echo ${self.id}"
    environment = { A = 1 }
    when        = create
  }
}
data "terraform_remote_state" "r" {
  count   = 1
  backend = "local"
  config  = { path = "${path.root}/x-${terraform.workspace}" }
}
module "m" {
  source     = "./m"
  for_each   = toset(["a"])
  x          = terraform_data.b.id
  depends_on = [terraform_data.b]
}
module "k" {
  source = "./k"
}
output "o" {
  value       = module.m["a"].out.foo
  description = "d"
  depends_on  = [module.m]
}
output "p" {
  value = module.m["a"]
}
output "lit" {
  value     = [1, "x", null]
  sensitive = true
}
"#,
            ),
            (
                "m/main.tf",
                r#"
variable "x" {}
module "n" {
  source = "./n"
  y      = "${var.x}-1"
}
output "out" {
  value = module.n.z
}
"#,
            ),
            (
                "m/n/main.tf",
                r#"
variable "y" {}
resource "terraform_data" "n" {
  input = sensitive("x")
}
output "z" {
  value = { foo = terraform_data.n.output }
}
"#,
            ),
            (
                "k/main.tf",
                r#"
terraform {
  required_providers {
    tf = {
      source = "terraform.io/builtin/terraform"
    }
  }
}
provider "tf" {
  alias = "q"
}
resource "terraform_data" "n" {
  provider = tf.q
}
resource "terraform_data" "nn" {
  provider = tf
}
"#,
            ),
        ],
        r#"{
  "provider_config": {
    "module.k:tf": {"name": "tf", "full_name": "terraform.io/builtin/terraform", "module_address": "module.k"},
    "module.k:tf.q": {"name": "tf", "full_name": "terraform.io/builtin/terraform", "alias": "q", "module_address": "module.k"},
    "module.m.module.n:terraform": {"name": "terraform", "full_name": "terraform.io/builtin/terraform", "module_address": "module.m.module.n"},
    "terraform": {"name": "terraform", "full_name": "terraform.io/builtin/terraform"}
  },
  "root_module": {
    "outputs": {
      "lit": {"expression": {"constant_value": [1, "x", null]}, "sensitive": true},
      "o": {"expression": {"references": ["module.m[\"a\"].out.foo", "module.m[\"a\"].out", "module.m[\"a\"]"]}, "depends_on": ["module.m"], "description": "d"},
      "p": {"expression": {"references": ["module.m[\"a\"]", "module.m"]}}
    },
    "resources": [
      {"address": "terraform_data.a", "mode": "managed", "type": "terraform_data", "name": "a", "provider_config_key": "terraform",
       "expressions": {"input": {"references": ["each.value.name", "each.value"]}, "triggers_replace": {"constant_value": [null, "a-3", 1, [1]]}},
       "schema_version": 0, "for_each_expression": {"constant_value": {"x": {"name": "q"}, "y z": {"name": "r"}}}, "depends_on": ["terraform_data.b"]},
      {"address": "terraform_data.b", "mode": "managed", "type": "terraform_data", "name": "b", "provider_config_key": "terraform",
       "expressions": {"input": {"constant_value": null}, "triggers_replace": {"references": ["local.l.x[0]", "local.l.x", "local.l", "local.l.x", "local.l", "data.terraform_remote_state.r[0].outputs[\"foo\"].bar", "data.terraform_remote_state.r[0].outputs[\"foo\"]", "data.terraform_remote_state.r[0].outputs", "data.terraform_remote_state.r[0]", "data.terraform_remote_state.r"]}},
       "schema_version": 0},
      {"address": "terraform_data.c", "mode": "managed", "type": "terraform_data", "name": "c", "provider_config_key": "terraform",
       "provisioners": [{"type": "local-exec", "expressions": {"command": {"references": ["self.id", "self"]}, "environment": {"constant_value": {"A": 1}}}}],
       "expressions": {"input": {"references": ["terraform_data.a[\"x\"].output.foo", "terraform_data.a[\"x\"].output", "terraform_data.a[\"x\"]", "terraform_data.a", "count.index"]}, "triggers_replace": {"references": ["terraform_data.a"]}},
       "schema_version": 0, "count_expression": {"constant_value": 2}},
      {"address": "data.terraform_remote_state.r", "mode": "data", "type": "terraform_remote_state", "name": "r", "provider_config_key": "terraform",
       "expressions": {"backend": {"constant_value": "local"}, "config": {"references": ["path.root", "terraform.workspace"]}},
       "schema_version": 0, "count_expression": {"constant_value": 1}}
    ],
    "module_calls": {
      "k": {"source": "./k", "module": {"resources": [
        {"address": "terraform_data.n", "mode": "managed", "type": "terraform_data", "name": "n", "provider_config_key": "module.k:tf.q", "schema_version": 0},
        {"address": "terraform_data.nn", "mode": "managed", "type": "terraform_data", "name": "nn", "provider_config_key": "module.k:tf", "schema_version": 0}]}},
      "m": {"source": "./m", "expressions": {"x": {"references": ["terraform_data.b.id", "terraform_data.b"]}},
        "module": {
          "outputs": {"out": {"expression": {"references": ["module.n.z", "module.n"]}}},
          "module_calls": {"n": {"source": "./n", "expressions": {"y": {"references": ["var.x"]}}, "module": {
            "outputs": {"z": {"expression": {"references": ["terraform_data.n.output", "terraform_data.n"]}}},
            "resources": [{"address": "terraform_data.n", "mode": "managed", "type": "terraform_data", "name": "n", "provider_config_key": "module.m.module.n:terraform", "expressions": {"input": {}}, "schema_version": 0}],
            "variables": {"y": {}}}}},
          "variables": {"x": {}}},
        "depends_on": ["terraform_data.b"]}
    },
    "variables": {"num": {"default": 123456789012345678901234567890.5}, "v": {"default": null, "description": "desc"}}
  }
}"#,
    );
}

#[test]
fn blocks_by_schema_and_the_callers_provider() {
    check(
        &[
            (
                "main.tf",
                r#"
terraform {
  required_providers {
    demo = {
      version = "~> 1.0"
    }
  }
}
provider "demo" {
  region = var.region
}
variable "region" {
  default = "x"
}
module "m" {
  source = "./m"
}
"#,
            ),
            (
                "m/main.tf",
                r#"
resource "demo_vm" "a" {
  name = "a"
  disk {
    size = 1
  }
  disk {
    size = local.size
  }
  boot {}
}
locals {
  size = 2
}
"#,
            ),
        ],
        r#"{
  "provider_config": {
    "demo": {"name": "demo", "full_name": "registry.terraform.io/hashicorp/demo", "version_constraint": "~> 1.0", "expressions": {"region": {"references": ["var.region"]}}}
  },
  "root_module": {
    "module_calls": {"m": {"source": "./m", "module": {"resources": [
      {"address": "demo_vm.a", "mode": "managed", "type": "demo_vm", "name": "a", "provider_config_key": "demo",
       "expressions": {"name": {"constant_value": "a"}, "disk": [{"size": {"constant_value": 1}}, {"size": {"references": ["local.size"]}}], "boot": {}},
       "schema_version": 2}]}}},
    "variables": {"region": {"default": "x"}}
  }
}"#,
    );
}
