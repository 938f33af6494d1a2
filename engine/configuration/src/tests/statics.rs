//! What is evaluated before anything is planned.

use super::*;
use crate::{Given, InputLayer, InputOrigin, ModuleFetcher, ModuleRequest};
use crate::{StaticInputs, StaticVariables};
use formwork_diagnostics::Diagnostic;
use formwork_environment::Fixed;
use formwork_eval::{Builtins, NoFiles, Surroundings};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

/// Notes what is asked for, level by level, and finds it below `fetched`.
#[derive(Default)]
struct Asked(RefCell<Vec<String>>);

impl ModuleFetcher for Asked {
    fn prepare(&self, requests: &[ModuleRequest<'_>]) {
        let said: Vec<String> = requests
            .iter()
            .map(|r| {
                let version = r.version.map_or(String::new(), |v| format!(" {v}"));
                format!("{} = {}{version}", r.path(), r.source)
            })
            .collect();
        self.0.borrow_mut().push(said.join(", "));
    }

    fn directory(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>> {
        let names: Vec<String> = request.path().names().map(str::to_owned).collect();
        Ok(PathBuf::from(format!("fetched/{}", names.join("."))))
    }
}

struct Read {
    configuration: Configuration,
    told: Vec<String>,
    details: Vec<String>,
    asked: Vec<String>,
}

fn read_with(text: &str, given: &[(&str, &str)], partial: bool) -> Read {
    let reader = reader_of(text);
    let mut sources = SourceMap::new();
    let layers = [InputLayer {
        origin: InputOrigin::CommandLine,
        values: given
            .iter()
            .map(|(k, v)| (Arc::from(*k), Given::Text((*v).to_owned())))
            .collect(),
    }];
    let builtins = Builtins::new(Surroundings {
        files: Arc::new(NoFiles),
        clock: Arc::new(Fixed::new(0, 0)),
        randomness: Arc::new(Fixed::new(0, 0)),
        plan_time: None,
        settle_impure: false,
    });
    let asked = Asked::default();
    let with = Loading {
        reader: &reader,
        fetcher: &asked,
        level: LanguageLevel::default(),
        statics: StaticInputs {
            variables: StaticVariables::Layers(&layers),
            workspace: "blue",
            functions: Some(&builtins),
            partial,
            ..StaticInputs::default()
        },
    };
    let (configuration, d) = load(Path::new("."), &with, &mut sources);
    Read {
        configuration,
        told: told(&d, &sources),
        details: d
            .iter()
            .map(|d| {
                let values: Vec<String> = d
                    .values
                    .iter()
                    .map(|v| format!("{} {}", v.traversal, v.statement))
                    .collect();
                format!("{} [{}]", d.detail, values.join(", "))
            })
            .collect(),
        asked: asked.0.into_inner(),
    }
}

#[track_caller]
fn wrong(text: &str, given: &[(&str, &str)], told: &[&str], detail: &str) {
    let read = read_with(text, given, false);
    assert_eq!(read.told, told, "of:\n{text}");
    let details = read.details.join("\n");
    assert!(details.contains(detail), "{detail}\nis not in\n{details}");
}

#[test]
fn sources_and_versions() {
    let text = r#"
variable "env" {}
variable "pins" {
  type    = map(string)
  default = { network = "~> 9.0" }
}
locals {
  suffix = "${lower(var.env)}-${terraform.workspace}"
}
module "a" {
  source = "./modules/${local.suffix}"
  deeper = "inner"
  pin    = var.pins["network"]
}
module "b" {
  source  = "terraform-google-modules/network/google"
  version = var.pins["network"]
}
module "c" {
  source = var.env == "DEV" ? "git::https://example.com/c.git?ref=v${1 + 1}" : "./c"
}
## modules/dev-blue/a.tf
variable "deeper" {}
variable "pin" {
  type  = string
  const = true
}
module "inner" {
  source = "${path.module}/${var.deeper}" == "modules/dev-blue/inner" ? "./${var.deeper}" : "./no"
}
module "net" {
  source  = "terraform-google-modules/network/google"
  version = var.pin
}
## modules/dev-blue/inner/a.tf
## fetched/b/a.tf
## fetched/c/a.tf
## fetched/a.net/a.tf
"#;
    let read = read_with(text, &[("env", "DEV")], false);
    assert_eq!(read.told, [""; 0]);
    assert_eq!(
        read.asked,
        [
            "module.b = registry.terraform.io/terraform-google-modules/network/google ~> 9.0, module.c = git::https://example.com/c.git?ref=v2",
            "module.a.module.net = registry.terraform.io/terraform-google-modules/network/google ~> 9.0",
        ]
    );
    let paths: Vec<String> = read
        .configuration
        .modules()
        .map(|(p, m)| format!("{p} {}", m.directory.display()))
        .collect();
    assert_eq!(
        paths,
        [
            " .",
            "module.a modules/dev-blue",
            "module.a.module.inner modules/dev-blue/inner",
            "module.a.module.net fetched/a.net",
            "module.b fetched/b",
            "module.c fetched/c",
        ]
    );
}

/// One directory, called twice: what is computed in it is what it is at each path.
#[test]
fn each_path_has_its_own() {
    let text = r#"
module "x" {
  source = "./m"
  which  = "hashicorp/google"
  minor  = 1
}
module "y" {
  source = "./m"
  which  = "hashicorp/google-beta"
  minor  = 2
}
## m/main.tf
variable "which" {}
variable "minor" {
  type = number
}
locals {
  pinned = { source = var.which, version = "~> 7.${var.minor}" }
}
terraform {
  required_version = ">= 1.${var.minor}"
  required_providers {
    cloud = { source = var.which, version = "~> 7.${var.minor}" }
    other = local.pinned
  }
}
resource "cloud_thing" "a" {}
"#;
    let read = read_with(text, &[], false);
    assert_eq!(
        read.told,
        [
            "W m/main.tf:12:5-25 Duplicate required provider",
            "W m/main.tf:12:5-25 Duplicate required provider",
        ],
        "of two different providers"
    );
    let of = |name: &str| {
        let path: ModulePath = [name].into_iter().collect();
        let m = read.configuration.module(&path).expect("module").clone();
        let r = &m.requirements["cloud"];
        format!(
            "{} {} {}",
            r.source.for_display(),
            r.version.as_ref().expect("version"),
            m.required_versions[0].0
        )
    };
    assert_eq!(of("x"), "hashicorp/google ~> 7.1 >= 1.1");
    assert_eq!(of("y"), "hashicorp/google-beta ~> 7.2 >= 1.2");
    assert_eq!(read.configuration.distinct_modules().count(), 2);
}

#[test]
fn where_state_is_kept() {
    let text = r#"
variable "name" {}
variable "key" {
  sensitive = true
}
terraform {
  backend "gcs" {
    bucket = "b-${var.name}"
    prefix = terraform.workspace
    nested {
      list = [for x in ["a", var.name] : upper(x)]
    }
    n = -length(var.name)
  }
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = var.key
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    state {
      method = method.aes_gcm.m
    }
  }
}
"#;
    let read = read_with(text, &[("name", "x"), ("key", "k")], false);
    assert_eq!(read.told, [""; 0]);
    let root = read.configuration.root().expect("root");
    let backend = root.backend.as_ref().expect("backend");
    let literal = |body: &formwork_syntax::Body, name: &str| {
        let a = body.attribute(name).expect("argument");
        let (value, d) = formwork_eval::evaluate_literal(&a.expression);
        assert!(d.is_empty(), "{d:?}");
        format!("{value:?}")
    };
    let nested = &backend.body.blocks()[0].body;
    assert!(literal(&backend.body, "bucket").contains("\"b-x\""));
    assert!(literal(&backend.body, "prefix").contains("\"blue\""));
    assert!(literal(&backend.body, "n").contains("-1"));
    assert!(literal(nested, "list").contains("\"X\""));
    assert_eq!(
        read.configuration
            .unserved()
            .map(|u| u.construct)
            .collect::<Vec<_>>(),
        ["encryption"]
    );
    // A look without values leaves it as it is; to act on it they must be there.
    assert_eq!(read_with(text, &[], true).told, [""; 0]);
    assert_eq!(
        read_with(text, &[], false).told,
        [
            "main.tf:7:19-27 No value for required variable",
            "main.tf:16:20-27 No value for required variable",
        ]
    );
    let json = r#"
## main.tf.json
{ "variable": { "p": { "default": "x" } },
  "terraform": { "backend": { "local": { "path": "${var.p}/s" } } } }
"#;
    let read = read_with(json, &[], false);
    assert_eq!(read.told, [""; 0]);
    let root = read.configuration.root().expect("root").clone();
    assert!(literal(&root.backend.as_ref().expect("backend").body, "path").contains("\"x/s\""));
}

#[test]
fn what_cannot_be_known_names_the_way() {
    let source = |e: &str, rest: &str| format!("module \"m\" {{\n source = {e}\n}}\n{rest}\n");
    wrong(
        &source(
            "local.a",
            "locals {\n a = \"./${local.b}\"\n b = a_b.c.id\n}\nresource \"a_b\" \"c\" {}",
        ),
        &[],
        &["main.tf:2:11-18 Dynamic value in static context"],
        "The source of module \"m\" uses local.a, which uses local.b, which uses a_b.c, which is \
         only known after apply.",
    );
    wrong(
        &source(
            "\"./${module.n.x}\"",
            "module \"n\" {\n source = \"./n\"\n}\n## n/n.tf\noutput \"x\" {\n value = 1\n}",
        ),
        &[],
        &["main.tf:2:16-26 Dynamic value in static context"],
        "uses module.n.x, which is known only when that module is planned",
    );
    wrong(
        &source("timestamp()", ""),
        &[],
        &["main.tf:2:11-22 Dynamic value in static context"],
        "known only when it is applied",
    );
    wrong(
        &source("local.a", "locals {\n a = local.b\n b = local.a\n}"),
        &[],
        &["main.tf:2:11-18 Circular reference"],
        "it uses local.a, which uses local.b, which uses local.a again",
    );
    wrong(
        &source("\"./${var.x}\"", "variable \"x\" {}"),
        &[],
        &["main.tf:2:16-21 No value for required variable"],
        "The source of module \"m\" uses var.x, which has no default, and no value is given",
    );
    wrong(
        &source("var.x", "variable \"x\" {\n sensitive = true\n}"),
        &[("x", "./secret")],
        &["main.tf:2:11-16 Sensitive value not allowed"],
        "[var.x has a sensitive value]",
    );
    wrong(
        &source("var.x", "variable \"x\" {\n ephemeral = true\n}"),
        &[("x", "./m")],
        &["main.tf:2:11-16 Ephemeral value not allowed"],
        "lives for the run only",
    );
    wrong(
        &source(
            "var.x",
            "variable \"x\" {\n const = false\n default = \"./m\"\n}",
        ),
        &[],
        &["main.tf:2:11-16 Dynamic value in static context"],
        "says const = false",
    );
    wrong(
        &source("var.x", "variable \"x\" {}"),
        &[("x", "here")],
        &[
            "main.tf:2:11-16 Invalid module source address | For a directory beside this file, write \"./here\".",
        ],
        "[var.x is \"here\"]",
    );
    wrong(
        &source("var.x", "variable \"x\" {\n type = list(string)\n}"),
        &[("x", "[\"a\"]")],
        &["main.tf:2:11-16 Unsuitable value type"],
        "must be a text, but it is of type list of string. [var.x is a list of string with 1 element]",
    );
    wrong(
        &source("var.x", "variable \"x\" {\n type = number\n}"),
        &[("x", "no")],
        &["main.tf:4:1-13 Invalid value for input variable"],
        "does not fit the type number",
    );
    // What is undeclared is told once, where it stands.
    wrong(
        &source("local.a", "locals {\n a = var.gone\n}"),
        &[],
        &[
            "main.tf:5:6-14 Reference to undeclared input variable | To declare it, add a block: variable \"gone\" {}",
        ],
        "",
    );
    wrong(
        "module \"a\" {\n source = local.s\n}\nmodule \"b\" {\n source = \"${local.s}x\"\n}\nlocals {\n s = local.t\n t = uuid() == \"\" ? data.a_b.c.d : data.a_b.c.d\n}\ndata \"a_b\" \"c\" {}\n",
        &[],
        &["main.tf:2:11-18 Dynamic value in static context"],
        "data.a_b.c, which is only read while planning",
    );
    wrong(
        "module \"m\" {\n source = \"./m\"\n for_each = toset([\"a\"])\n x = each.key\n}\n## m/m.tf\nvariable \"x\" {}\nmodule \"n\" {\n source = \"./${var.x}\"\n}\n",
        &[],
        &["m/m.tf:3:16-21 Dynamic value in static context"],
        "uses var.x of module.m, which uses each.key, which is another for each instance",
    );
    wrong(
        "module \"m\" {\n source = \"./m\"\n x = a_b.c.id\n}\nresource \"a_b\" \"c\" {}\n## m/m.tf\nvariable \"x\" {\n const = true\n}\n",
        &[],
        &["main.tf:3:6-14 Dynamic value in static context"],
        "The variable \"x\" of module.m, which says const = true, uses a_b.c, which is only known",
    );
    for kind in ["sensitive", "ephemeral"] {
        wrong(
            &format!("variable \"x\" {{\n const = true\n {kind} = true\n}}\n"),
            &[],
            &[&format!("main.tf:3:2-18 Const variable cannot be {kind}")],
            "Remove one of the two",
        );
    }
}

/// A chain of ten thousand locals is followed without a deep stack.
#[test]
fn long_chains() {
    let mut text = String::from("module \"m\" {\n source = local.l0\n}\nlocals {\n");
    for i in 0..10_000 {
        text.push_str(&format!(" l{i} = local.l{}\n", i + 1));
    }
    text.push_str(" l10000 = \"./m\"\n}\n## m/m.tf\n");
    assert_eq!(read_with(&text, &[], false).told, [""; 0]);
}
