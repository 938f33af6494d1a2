//! What the language has beyond Terraform, step by step. There is no recording to hold it against: the
//! expectations are those of docs/formats/language-beyond-terraform.md.

use crate::places::Places;
use crate::surroundings::{session, text};
use formwork_configuration::{Given, InputLayer, InputOrigin};
use formwork_ops::PlanOptions;
use formwork_plan::{Action, Plan, PlanMode};
use formwork_provider::ProviderFactory;
use std::path::Path;
use std::sync::Arc;

fn layers(variables: &[(&str, &str)]) -> Vec<InputLayer> {
    let values = variables
        .iter()
        .map(|(k, v)| (Arc::from(*k), Given::Text((*v).to_owned())))
        .collect();
    vec![InputLayer {
        origin: InputOrigin::CommandLine,
        values,
    }]
}

/// What a plan does and why, a line for each change.
pub fn changes(plan: &Plan) -> Vec<String> {
    plan.changes
        .iter()
        .filter(|c| c.action != Action::NoOp || c.previous_address.is_some())
        .map(|c| {
            let mut line = format!("{} {}", c.action.word(), c.display_address());
            if let Some(old) = &c.previous_address {
                line += &format!(" from {old}");
            }
            if let Some(reason) = c.reason {
                line += &format!(" ({})", reason.word());
            }
            line
        })
        .collect()
}

/// A folder that changes from step to step.
pub struct Story {
    folder: tempfile::TempDir,
    /// Other providers than the built-in one.
    pub factory: Option<Arc<dyn ProviderFactory>>,
}

impl Story {
    pub fn of(files: &[(&str, &str)]) -> Self {
        let story = Self {
            folder: tempfile::tempdir().expect("a folder"),
            factory: None,
        };
        for (name, text) in files {
            story.write(name, text);
        }
        story
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    pub fn state(&self) -> serde_json::Value {
        let bytes = std::fs::read(self.path().join("terraform.tfstate")).expect("a state");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    /// Plans, and applies unless there are errors; gives what is done, or the errors.
    pub async fn step(&self, variables: &[(&str, &str)], mode: PlanMode) -> Vec<String> {
        let mut session = session(self.path(), layers(variables), 7);
        if let Some(factory) = &self.factory {
            session.factory = factory.clone();
        }
        let options = PlanOptions {
            mode,
            ..PlanOptions::default()
        };
        let outcome = formwork_ops::plan(&session, &options).await;
        if outcome.diagnostics.has_errors() {
            let told = outcome
                .diagnostics
                .iter()
                .filter(|d| d.is_error())
                .map(|d| {
                    let place = d.subject.map(|r| outcome.sources().place(r).to_string());
                    format!("{} {}", place.unwrap_or_default(), d.summary)
                });
            let told: Vec<String> = told.collect();
            if let Some(held) = outcome.held {
                let _ = held.release(&session).await;
            }
            return told;
        }
        let plan = outcome.plan.expect("a plan");
        let told = changes(&plan);
        let applied = formwork_ops::apply(&session, plan, outcome.held).await;
        assert!(
            applied.complete,
            "{}",
            text(&applied.diagnostics, &applied.sources)
        );
        told
    }

    pub async fn check(&self, variables: &[(&str, &str)], expected: &[&str]) {
        let told = self.step(variables, PlanMode::Normal).await;
        assert_eq!(told, expected, "{variables:?}");
    }

    pub async fn destroy(&self, variables: &[(&str, &str)], expected: &[&str]) {
        let told = self.step(variables, PlanMode::Destroy).await;
        assert_eq!(told, expected, "{variables:?}");
    }

    pub fn output(&self, name: &str) -> serde_json::Value {
        self.state()["outputs"][name]["value"].clone()
    }
}

const ON: &[(&str, &str)] = &[("on", "true")];
const OFF: &[(&str, &str)] = &[("on", "false")];

#[tokio::test]
async fn resources_are_enabled_and_disabled() {
    let story = Story::of(&[(
        "main.tf",
        r#"
variable "on" { type = bool }
resource "terraform_data" "a" {
  input = "x"
  lifecycle { enabled = var.on }
}
resource "terraform_data" "b" {
  input = try(terraform_data.a.output, "none")
}
output "whole" { value = terraform_data.a == null }
output "guarded" { value = terraform_data.a != null ? terraform_data.a.output : "off" }
output "splat" { value = terraform_data.a[*].output }
"#,
    )]);
    story.check(OFF, &["create terraform_data.b"]).await;
    assert_eq!(story.output("guarded"), "off");
    assert_eq!(story.output("splat"), serde_json::json!([]));
    assert_eq!(story.output("whole"), true);
    story
        .check(ON, &["create terraform_data.a", "update terraform_data.b"])
        .await;
    assert_eq!(story.output("guarded"), "x");
    assert_eq!(story.output("splat"), serde_json::json!(["x"]));
    assert_eq!(story.output("whole"), false);
    assert!(story.state()["resources"][0]["instances"][0]["index_key"].is_null());
    story.check(ON, &[]).await;
    story
        .check(
            OFF,
            &[
                "delete terraform_data.a (delete_because_enabled_false)",
                "update terraform_data.b",
            ],
        )
        .await;
    story.check(OFF, &[]).await;
    story
        .check(ON, &["create terraform_data.a", "update terraform_data.b"])
        .await;
    story
        .destroy(OFF, &["delete terraform_data.a", "delete terraform_data.b"])
        .await;
}

#[tokio::test]
async fn what_reads_a_disabled_resource_must_expect_null() {
    let story = Story::of(&[(
        "main.tf",
        "variable \"on\" {}\nresource \"terraform_data\" \"a\" {\n  lifecycle {\n    enabled = var.on\n  }\n}\noutput \"o\" {\n  value = terraform_data.a.id\n}\n",
    )]);
    story
        .check(
            OFF,
            &["main.tf:8:27 Attempt to get attribute from null value"],
        )
        .await;
    let wrong = [
        ("maybe", "main.tf:4:15 Invalid enabled argument"),
        ("null", "main.tf:4:15 Invalid enabled argument"),
    ];
    for (value, told) in wrong {
        story.write(
            "main.tf",
            &format!("variable \"on\" {{ default = {} }}\nresource \"terraform_data\" \"a\" {{\n  lifecycle {{\n    enabled = var.on\n  }}\n}}\n", if value == "null" { value.to_owned() } else { format!("\"{value}\"") }),
        );
        story.check(&[], &[told]).await;
    }
    // not known before something is made; sensitive
    for expression in ["terraform_data.z.output == \"x\"", "sensitive(true)"] {
        story.write(
            "main.tf",
            &format!("resource \"terraform_data\" \"z\" {{\n  input = \"x\"\n}}\nresource \"terraform_data\" \"a\" {{\n  lifecycle {{\n    enabled = {expression}\n  }}\n}}\n"),
        );
        story
            .check(&[], &["main.tf:6:15 Invalid enabled argument"])
            .await;
    }
}

#[tokio::test]
async fn enabled_takes_over_from_count_and_gives_back() {
    let counted = "variable \"on\" { type = bool }\nresource \"terraform_data\" \"a\" {\n  count = var.on ? 1 : 0\n  input = 1\n}\n";
    let enabled = "variable \"on\" { type = bool }\nresource \"terraform_data\" \"a\" {\n  input = 1\n  lifecycle {\n    enabled = var.on\n  }\n}\n";
    let story = Story::of(&[("main.tf", counted)]);
    story.check(ON, &["create terraform_data.a[0]"]).await;
    story.write("main.tf", enabled);
    story
        .check(ON, &["no-op terraform_data.a from terraform_data.a[0]"])
        .await;
    story.write("main.tf", counted);
    story
        .check(ON, &["no-op terraform_data.a[0] from terraform_data.a"])
        .await;
    story.write("main.tf", enabled);
    story
        .check(
            OFF,
            &["delete terraform_data.a from terraform_data.a[0] (delete_because_enabled_false)"],
        )
        .await;
}

#[tokio::test]
async fn modules_are_enabled_and_disabled() {
    let story = Story::of(&[
        (
            "main.tf.json",
            r#"{
  "variable": {"on": {"type": "bool"}},
  "module": {"m": {"source": "./m", "lifecycle": {"enabled": "${var.on}"}}},
  "output": {"o": {"value": "${try(module.m.id, \"none\")}"}, "null": {"value": "${module.m == null}"}}
}"#,
        ),
        (
            "m/main.tf",
            "resource \"terraform_data\" \"a\" {\n  input = 1\n}\nmodule \"n\" {\n  source = \"../n\"\n}\noutput \"id\" {\n  value = terraform_data.a.output\n}\n",
        ),
        ("n/main.tf", "resource \"terraform_data\" \"b\" {}\n"),
    ]);
    story.check(OFF, &[]).await;
    story
        .check(
            ON,
            &[
                "create module.m.terraform_data.a",
                "create module.m.module.n.terraform_data.b",
            ],
        )
        .await;
    assert_eq!(story.output("o"), 1);
    story.check(ON, &[]).await;
    story
        .check(
            OFF,
            &[
                "delete module.m.terraform_data.a (delete_because_enabled_false)",
                "delete module.m.module.n.terraform_data.b (delete_because_enabled_false)",
            ],
        )
        .await;
    assert_eq!(story.output("o"), "none");
    assert_eq!(story.output("null"), true);
}

#[tokio::test]
async fn prevention_is_judged_when_an_object_would_go() {
    let story = Story::of(&[(
        "main.tf",
        r#"
variable "keep" { type = bool }
variable "keys" {
  type    = list(string)
  default = ["a", "b"]
}
variable "protected" {
  type    = map(bool)
  default = { a = true }
}
variable "on" { default = 1 }
resource "terraform_data" "one" {
  triggers_replace = var.on
  lifecycle {
    prevent_destroy = var.keep
  }
}
resource "terraform_data" "each" {
  for_each = toset(var.keys)
  lifecycle {
    prevent_destroy = lookup(var.protected, each.key, false)
  }
}
"#,
    )]);
    let keep = ("keep", "true");
    let free = ("keep", "false");
    story
        .check(
            &[keep],
            &[
                "create terraform_data.each[\"a\"]",
                "create terraform_data.each[\"b\"]",
                "create terraform_data.one",
            ],
        )
        .await;
    story
        .check(
            &[keep, ("on", "2")],
            &["main.tf:15:23 Instance cannot be destroyed"],
        )
        .await;
    story
        .check(
            &[free, ("on", "2")],
            &["delete-create terraform_data.one (replace_because_cannot_update)"],
        )
        .await;
    // of what is no longer configured, the key is left
    let two = ("on", "2");
    story
        .check(
            &[free, two, ("keys", "[\"b\"]")],
            &["main.tf:21:23 Instance cannot be destroyed"],
        )
        .await;
    story
        .check(
            &[free, two, ("keys", "[\"a\"]")],
            &["delete terraform_data.each[\"b\"] (delete_because_each_key)"],
        )
        .await;
    story
        .destroy(
            &[free, two],
            &["main.tf:21:23 Instance cannot be destroyed"],
        )
        .await;
    story
        .destroy(
            &[free, two, ("protected", "{}")],
            &[
                "delete terraform_data.each[\"a\"]",
                "delete terraform_data.one",
            ],
        )
        .await;
}

#[tokio::test]
async fn prevention_in_instances_of_modules_that_are_gone() {
    let story = Story::of(&[
        (
            "main.tf",
            r#"
variable "keep" { default = true }
variable "keys" {
  type    = map(bool)
  default = { a = false, b = true }
}
module "m" {
  source   = "./m"
  for_each = var.keys
  keep     = var.keep
}
module "v" {
  source   = "./m"
  for_each = var.keys
  keep     = each.value
}
"#,
        ),
        (
            "m/main.tf",
            "variable \"keep\" {}\nlocals {\n  keep = var.keep\n}\nresource \"terraform_data\" \"a\" {\n  lifecycle {\n    prevent_destroy = local.keep\n  }\n}\n",
        ),
    ]);
    story
        .check(
            &[],
            &[
                "create module.m[\"a\"].terraform_data.a",
                "create module.m[\"b\"].terraform_data.a",
                "create module.v[\"a\"].terraform_data.a",
                "create module.v[\"b\"].terraform_data.a",
            ],
        )
        .await;
    let fewer = ("keys", "{ b = false }");
    story
        .check(
            &[fewer],
            &[
                "m/main.tf:7:23 Instance cannot be destroyed",
                "m/main.tf:7:23 Invalid prevent_destroy argument",
            ],
        )
        .await;
    // while an element is there, its value counts, in destroy runs, too
    story
        .destroy(
            &[("keep", "false")],
            &["m/main.tf:7:23 Instance cannot be destroyed"],
        )
        .await;
    story
        .destroy(
            &[("keep", "false"), ("keys", "{ a = false, b = false }")],
            &[
                "delete module.m[\"a\"].terraform_data.a",
                "delete module.m[\"b\"].terraform_data.a",
                "delete module.v[\"a\"].terraform_data.a",
                "delete module.v[\"b\"].terraform_data.a",
            ],
        )
        .await;
}

#[tokio::test]
async fn moves_for_each_element() {
    let before = "resource \"terraform_data\" \"old\" {\n  for_each = toset([\"web\", \"db\", \"x y\"])\n  input    = each.key\n}\n";
    let after = |moved: &str| {
        format!(
            "variable \"extra\" {{\n  type    = map(string)\n  default = {{}}\n}}\nlocals {{\n  names = {{ web = \"front\", db = \"data\", \"x y\" = \"x y\" }}\n}}\nresource \"terraform_data\" \"new\" {{\n  for_each = local.names\n  input    = each.key\n}}\n{moved}"
        )
    };
    let created = [
        "create terraform_data.old[\"db\"]",
        "create terraform_data.old[\"web\"]",
        "create terraform_data.old[\"x y\"]",
    ];
    let moved = [
        "no-op terraform_data.new[\"db\"] from terraform_data.old[\"db\"]",
        "no-op terraform_data.new[\"web\"] from terraform_data.old[\"web\"]",
        "no-op terraform_data.new[\"x y\"] from terraform_data.old[\"x y\"]",
    ];
    let story = Story::of(&[("main.tf", before)]);
    story.check(&[], &created).await;
    // none to move: no moves
    story.write(
        "main.tf",
        &format!("{before}variable \"extra\" {{\n  type = map(string)\n  default = {{}}\n}}\nmoved {{\n  for_each = var.extra\n  from     = terraform_data.nowhere[each.key]\n  to       = terraform_data.elsewhere[each.value]\n}}\n"),
    );
    story.check(&[], &[]).await;
    story.write(
        "main.tf",
        &after("moved {\n  for_each = merge(local.names, var.extra)\n  from     = terraform_data.old[each.key]\n  to       = terraform_data.new[each.key]\n}\n"),
    );
    story.check(&[], &moved).await;
    story.check(&[], &[]).await;

    // in JSON, through a chain, into a module and to numbers
    story.write(
        "main.tf",
        "module \"m\" {\n  source = \"./m\"\n  count  = 2\n}\n",
    );
    story.write(
        "m/main.tf",
        "resource \"terraform_data\" \"in\" {\n  input = \"web\"\n}\n",
    );
    story.write(
        "moved.tf.json",
        r#"{"moved": [
  {"for_each": {"web": 0, "db": 1},
   "from": "terraform_data.new[each.key]",
   "to": "terraform_data.mid[\"${each.value}-\"]"},
  {"for_each": ["a"], "from": "terraform_data.p[each.key]", "to": "terraform_data.q[each.key]"},
  {"for_each": "${toset([\"0\", \"1\"])}",
   "from": "terraform_data.mid[\"${each.key}-\"]",
   "to": "module.m[tonumber(each.key)].terraform_data.in"}
]}"#,
    );
    story
        .check(&[], &["moved.tf.json:5:16 Invalid for_each argument"])
        .await;
    story.write(
        "moved.tf.json",
        r#"{"moved": [
  {"for_each": {"web": 0, "db": 1},
   "from": "terraform_data.new[each.key]",
   "to": "terraform_data.mid[\"${each.value}-\"]"},
  {"for_each": "${toset([\"0\", \"1\"])}",
   "from": "terraform_data.mid[\"${each.key}-\"]",
   "to": "module.m[tonumber(each.key)].terraform_data.in"}
]}"#,
    );
    story
        .check(
            &[],
            &[
                "delete terraform_data.new[\"x y\"] (delete_because_no_resource_config)",
                "no-op module.m[0].terraform_data.in from terraform_data.new[\"web\"]",
                "update module.m[1].terraform_data.in from terraform_data.new[\"db\"]",
            ],
        )
        .await;
}

#[tokio::test]
async fn moves_of_modules_for_each_element_and_within_modules() {
    let call = |extra: &str| {
        format!(
            "module \"b\" {{\n  source   = \"./m\"\n  for_each = toset([\"k\", \"l\"])\n  names    = [\"one\"]\n  own      = each.key\n}}\n{extra}"
        )
    };
    let story = Story::of(&[
        (
            "main.tf",
            "module \"a\" {\n  source = \"./m\"\n  count  = 2\n  names  = []\n  own    = \"\"\n}\n",
        ),
        (
            "m/main.tf",
            "variable \"names\" {}\nvariable \"own\" {}\nresource \"terraform_data\" \"x\" {\n  count = 1\n}\n",
        ),
    ]);
    story
        .check(
            &[],
            &[
                "create module.a[0].terraform_data.x[0]",
                "create module.a[1].terraform_data.x[0]",
            ],
        )
        .await;
    story.write(
        "main.tf",
        &call("moved {\n  for_each = [\"k\", \"l\"]\n  from     = module.a[each.key]\n  to       = module.b[each.value]\n}\n"),
    );
    story
        .check(&[], &["main.tf:8:14 Invalid for_each argument"])
        .await;
    story.write(
        "main.tf",
        &call("moved {\n  for_each = { for i, k in [\"k\", \"l\"] : k => i }\n  from     = module.a[each.value]\n  to       = module.b[each.key]\n}\n"),
    );
    let child = |by: &str| {
        format!(
            "variable \"names\" {{}}\nvariable \"own\" {{}}\nresource \"terraform_data\" \"y\" {{\n  for_each = toset(var.names)\n}}\nmoved {{\n  for_each = {{ for i, n in {by} : n => i }}\n  from     = terraform_data.x[each.value]\n  to       = terraform_data.y[each.key]\n}}\n"
        )
    };
    story.write("m/main.tf", &child("[var.own]"));
    story
        .check(&[], &["m/main.tf:7:14 Invalid for_each argument"])
        .await;
    story.write("m/main.tf", &child("var.names"));
    story
        .check(
            &[],
            &[
                "no-op module.b[\"k\"].terraform_data.y[\"one\"] from module.a[0].terraform_data.x[0]",
                "no-op module.b[\"l\"].terraform_data.y[\"one\"] from module.a[1].terraform_data.x[0]",
            ],
        )
        .await;
}

#[tokio::test]
async fn mistakes_in_moves_for_each_element() {
    let story = Story::of(&[]);
    let cases = [
        (
            "for_each = { a = \"b\", c = \"b\" }\n  from = terraform_data.x[each.key]\n  to = terraform_data.x[each.value]",
            &["main.tf:1:1 Ambiguous move statements"][..],
        ),
        (
            "for_each = { a = \"b\", b = \"a\" }\n  from = terraform_data.x[each.key]\n  to = terraform_data.x[each.value]",
            &["main.tf:1:1 Cyclic dependency in move statements"],
        ),
        (
            "for_each = { a = \"a\" }\n  from = terraform_data.x[each.key]\n  to = terraform_data.x[each.value]",
            &["main.tf:1:1 Redundant move statement"],
        ),
        (
            "for_each = { a = null, b = true, c = [] }\n  from = terraform_data.x[each.key]\n  to = terraform_data.y[each.value]",
            &[
                "main.tf:4:25 Invalid moved address key",
                "main.tf:4:25 Invalid moved address key",
            ],
        ),
        (
            "for_each = { a = terraform_data.z.id }\n  from = terraform_data.x[each.key]\n  to = terraform_data.y[each.value]",
            &["main.tf:4:25 Invalid moved address key"],
        ),
        (
            "for_each = toset([terraform_data.z.id])\n  from = terraform_data.x[each.key]\n  to = terraform_data.y[each.value]",
            &["main.tf:2:14 Invalid for_each argument"],
        ),
        (
            "for_each = {}\n  from = terraform_data.x[count.index]\n  to = terraform_data.y[local.nope]",
            &[
                "main.tf:3:27 Reference to \"count\" in non-counted context",
                "main.tf:4:25 Reference to undeclared local value",
            ],
        ),
        (
            "from = terraform_data.x[each.key]\n  to = terraform_data.y",
            &["main.tf:2:10 Invalid expression"],
        ),
        (
            "for_each = {}\n  from = terraform_data.x[each.key][0]\n  to = terraform_data.y.z[each.key]",
            &[
                "main.tf:3:36 Invalid address",
                "main.tf:4:8 Invalid address",
            ],
        ),
    ];
    for (body, expected) in cases {
        story.write(
            "main.tf",
            &format!("moved {{\n  {body}\n}}\nresource \"terraform_data\" \"z\" {{}}\n"),
        );
        let told = story.step(&[], PlanMode::Normal).await;
        assert_eq!(told, expected, "{body}");
    }
}

const PLACES: &str = r#"
variable "regions" {
  type    = map(string)
  default = { eu = "europe", us = "america" }
}
variable "used" {
  type    = set(string)
  default = ["eu", "us"]
}
provider "place" {
  alias    = "in"
  for_each = var.regions
  region   = "${each.key} ${each.value}"
}
resource "place_thing" "direct" {
  for_each = var.used
  provider = place.in[each.key]
  name     = "direct"
}
data "place_region" "here" {
  for_each = var.used
  provider = place.in[each.key]
}
module "handed" {
  source    = "./handed"
  for_each  = var.used
  providers = { place = place.in[each.key] }
}
module "whole" {
  source    = "./whole"
  providers = { place.all = place.in }
}
output "regions" {
  value = { for k, d in data.place_region.here : k => d.region }
}
"#;

fn places(story: &mut Story) -> Places {
    let places = Places::default();
    story.factory = Some(Arc::new(places.clone()));
    story.write("main.tf", PLACES);
    story.write(
        "handed/main.tf",
        "module \"deep\" {\n  source = \"../deep\"\n}\n",
    );
    story.write(
        "deep/main.tf",
        "resource \"place_thing\" \"deep\" {\n  name = \"deep\"\n}\n",
    );
    story.write(
        "whole/main.tf",
        r#"
terraform {
  required_providers {
    place = {
      source                = "hashicorp/place"
      configuration_aliases = [place.all]
    }
  }
}
resource "place_thing" "chosen" {
  count    = 2
  provider = place.all[["eu", "us"][count.index]]
  name     = "chosen"
}
"#,
    );
    places
}

#[tokio::test]
async fn providers_for_each_element() {
    let mut story = Story::of(&[]);
    let places = places(&mut story);
    let all = [
        "create place_thing.direct[\"eu\"]",
        "create place_thing.direct[\"us\"]",
        "create module.handed[\"eu\"].module.deep.place_thing.deep",
        "create module.handed[\"us\"].module.deep.place_thing.deep",
        "create module.whole.place_thing.chosen[0]",
        "create module.whole.place_thing.chosen[1]",
    ];
    story.check(&[], &all).await;
    assert_eq!(
        places.things(),
        [
            "eu europe: chosen",
            "eu europe: deep",
            "eu europe: direct",
            "us america: chosen",
            "us america: deep",
            "us america: direct",
        ]
    );
    assert_eq!(
        story.output("regions"),
        serde_json::json!({"eu": "eu europe", "us": "us america"})
    );
    let state = story.state();
    let direct = state["resources"]
        .as_array()
        .expect("resources")
        .iter()
        .find(|r| r["name"] == "direct")
        .expect("it");
    let base = "provider[\"registry.terraform.io/hashicorp/place\"].in";
    assert_eq!(direct["provider"], base);
    assert_eq!(direct["instances"][1]["index_key"], "us");
    assert_eq!(
        direct["instances"][1]["provider"],
        format!("{base}[\"us\"]")
    );

    // Read by those that made them: nothing is gone.
    story.check(&[], &[]).await;
    // An element goes while objects need it.
    let told = story
        .step(&[("regions", "{ eu = \"europe\" }")], PlanMode::Normal)
        .await;
    assert!(
        told.iter()
            .any(|t| t.contains("Provider instance not present")),
        "{told:?}"
    );
    story.write(
        "whole/main.tf",
        &std::fs::read_to_string(story.path().join("whole/main.tf"))
            .expect("text")
            .replace("\"us\"", "\"eu\""),
    );
    let us_goes = ("used", "[\"eu\"]");
    // Only what is left over needs it now.
    let told = story
        .step(
            &[us_goes, ("regions", "{ eu = \"europe\" }")],
            PlanMode::Normal,
        )
        .await;
    assert_eq!(told, ["main.tf:10:1 Provider configuration not present"]);
    // First the objects, then the element. What has come to choose another is read there.
    story
        .check(
            &[us_goes],
            &[
                "delete place_thing.direct[\"us\"] (delete_because_each_key)",
                "delete module.handed[\"us\"].module.deep.place_thing.deep (delete_because_no_module)",
            ],
        )
        .await;
}

#[tokio::test]
async fn destroying_with_providers_for_each_element() {
    let mut story = Story::of(&[]);
    let places = places(&mut story);
    story.step(&[], PlanMode::Normal).await;
    assert_eq!(places.things().len(), 6);
    story.step(&[], PlanMode::Destroy).await;
    assert_eq!(places.things(), [] as [String; 0]);
}

#[tokio::test]
async fn mistakes_in_providers_for_each_element() {
    let mut story = Story::of(&[]);
    let places = Places::default();
    story.factory = Some(Arc::new(places));
    let provider = "provider \"place\" {\n  alias = \"in\"\n  for_each = toset([\"a\"])\n}\nprovider \"place\" {\n  alias = \"one\"\n}\n";
    let cases: &[(&str, &[&str])] = &[
        (
            "resource \"place_thing\" \"t\" {\n  provider = place.in\n}\n",
            &["main.tf:9:14 Invalid provider instance key"],
        ),
        (
            "resource \"place_thing\" \"t\" {\n  provider = place.one[\"a\"]\n}\n",
            &["main.tf:9:14 Invalid provider instance key"],
        ),
        (
            "resource \"place_thing\" \"t\" {\n  provider = place.in[each.key]\n}\n",
            &["main.tf:9:23 Reference to \"each\" in context without for_each"],
        ),
        (
            "resource \"place_thing\" \"t\" {\n  provider = place.in[\"b\"]\n}\n",
            &["main.tf:9:22 Provider instance not present"],
        ),
        (
            "resource \"place_thing\" \"t\" {\n  provider = place.in[null]\n}\n",
            &["main.tf:9:23 Invalid provider instance key"],
        ),
        (
            "resource \"place_thing\" \"s\" {\n  provider = place.one\n}\nresource \"place_thing\" \"t\" {\n  provider = place.in[place_thing.s.id]\n}\n",
            &["main.tf:12:23 Invalid provider instance key"],
        ),
        (
            "provider \"place\" {\n  for_each = toset([\"a\"])\n}\n",
            &["main.tf:9:14 Invalid provider configuration"],
        ),
        (
            "resource \"place_thing\" \"s\" {\n  provider = place.one\n}\nprovider \"place\" {\n  alias = \"x\"\n  for_each = toset([place_thing.s.id])\n}\n",
            &["main.tf:13:14 Invalid for_each argument"],
        ),
        (
            "provider \"place\" {\n  alias = \"x\"\n  region = each.key\n}\n",
            &["main.tf:10:12 Reference to \"each\" in context without for_each"],
        ),
    ];
    for (more, expected) in cases {
        story.write("main.tf", &format!("{provider}{more}"));
        let told = story.step(&[], PlanMode::Normal).await;
        assert_eq!(told, *expected, "{more}");
    }
}

#[tokio::test]
async fn providers_for_each_element_in_json() {
    let mut story = Story::of(&[(
        "main.tf.json",
        r#"{
  "provider": {"place": {"alias": "in", "for_each": {"a": "one", "b": "two"}, "region": "${each.value}"}},
  "resource": {"place_thing": {"t": {"for_each": "${toset([\"a\", \"b\"])}", "provider": "place.in[each.key]", "name": "t"}}}
}"#,
    )]);
    let places = Places::default();
    story.factory = Some(Arc::new(places.clone()));
    story
        .check(
            &[],
            &["create place_thing.t[\"a\"]", "create place_thing.t[\"b\"]"],
        )
        .await;
    assert_eq!(places.things(), ["one: t", "two: t"]);
    story.check(&[], &[]).await;
}
