//! Against the binary itself, where there is one: what one tool has applied, the other finds in order.
//!
//! Two folders hold one configuration. Formwork applies in the first, Terraform in the second; then
//! each plans over the other's work, and each goes on where the other has stopped. Skipped, visibly,
//! where there is no `terraform`.

use crate::comparing::{difference, meaning_of_state, renamed};
use crate::surroundings::{session, text};
use formwork_configuration::{Given, InputLayer, InputOrigin};
use formwork_ops::PlanOptions;
use formwork_plan::PlanMode;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

const MAIN: &str = r#"
terraform {
  required_version = ">= 1.8"
}

variable "keys" {
  type    = set(string)
  default = ["plain", "with space", "a.b", "a/b", "quo\"te", "x[0]", "$${y}", "%%{z}", "üñí", "日本", "back\\slash", "new\nline", "-", "0", ""]
}
variable "secret" {
  type      = string
  default   = "hunter2"
  sensitive = true
}
variable "size" {
  type    = number
  default = 2
}
variable "shape" {
  type = object({
    name = optional(string, "none")
    list = optional(list(number))
    deep = optional(map(object({ on = optional(bool, true) })), {})
  })
  default = { deep = { a = {}, b = { on = false } } }
}
variable "nothing" {
  type    = string
  default = null
}

locals {
  huge   = 123456789012345678901234567890
  small  = 0.000000000000000000000000000012345
  third  = 1 / 3
  texts  = { for k in var.keys : k => { key = k, length = length(k), up = upper(k) } }
  merged = merge(local.texts["plain"], { n = null, secret = var.secret })
}

resource "terraform_data" "numbers" {
  input            = [local.huge, -local.huge, local.huge + 1, local.small, local.third, 1e40, 0, -0.5, 9007199254740993]
  triggers_replace = { huge = local.huge, size = var.size > 100 }
}
resource "terraform_data" "nothing" {
  input            = null
  triggers_replace = [null, var.nothing, { a = null }]
}
resource "terraform_data" "empty" {
  input = { list = [], map = {}, text = "", set = toset([]), typed = tolist(["a"]), mapped = tomap({ a = 1 }) }
}
resource "terraform_data" "odd" {
  for_each = local.texts
  input    = each.value
}
resource "terraform_data" "counted" {
  count = var.size
  input = {
    index = count.index
    of    = terraform_data.odd["quo\"te"].id
    all   = [for k, o in terraform_data.odd : o.output.length]
  }
}
resource "terraform_data" "hidden" {
  input            = { open = "o", shut = var.secret, inner = [var.secret, "x", { deep = var.secret }] }
  triggers_replace = var.secret
}
resource "terraform_data" "hidden_whole" {
  input = sensitive({ a = 1 })
}
resource "terraform_data" "markup" {
  input = "<a href='x'>&\u2028 \t é\"${var.size}"
}
resource "terraform_data" "shape" {
  input = var.shape
}
resource "terraform_data" "first" {
  input = terraform_data.markup.output
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "late" {
  input      = "late"
  depends_on = [module.outer, terraform_data.first]
  lifecycle {
    precondition {
      condition     = length(terraform_data.odd) > 0
      error_message = "There is nothing."
    }
    postcondition {
      condition     = self.output == "late"
      error_message = "Too late."
    }
  }
}

module "outer" {
  source   = "./outer"
  for_each = { "k one" = 1, "k.two" = 2 }
  n        = each.value
  from     = terraform_data.first.id
  secret   = var.secret
}

check "sane" {
  assert {
    condition     = terraform_data.late.output == "late"
    error_message = "Not late."
  }
}

output "numbers" {
  value = terraform_data.numbers.output
}
output "nothing" {
  value = terraform_data.nothing.output
}
output "odd" {
  value = { for k, o in terraform_data.odd : k => o.output }
}
output "secret" {
  value     = local.merged
  sensitive = true
}
output "modules" {
  value = module.outer
}
output "collections" {
  value = { list = tolist([1, 2]), set = toset(["b", "a"]), map = tomap({ x = true }), tuple = [1, "a", null] }
}
"#;

const OUTER: &str = r#"
variable "n" { type = number }
variable "from" {}
variable "secret" { sensitive = true }

module "inner" {
  source = "../inner"
  count  = var.n
  value  = "${var.from}/${count.index}"
}
resource "terraform_data" "o" {
  input = { inner = module.inner[*].value, secret = var.secret }
}
output "inner" { value = module.inner[*].value }
"#;

const INNER: &str = r#"
variable "value" { nullable = false }
resource "terraform_data" "i" {
  input = var.value
}
output "value" { value = terraform_data.i.output }
"#;

/// What is given later: values change, keys come and go, an object is made anew.
const CHANGED: [(&str, &str); 4] = [
    ("keys", r#"["plain", "a.b", "quo\"te", "neu", "0"]"#),
    ("size", "3"),
    ("secret", "correct horse"),
    ("nothing", "something"),
];

fn write(folder: &Path) {
    for (name, text) in [
        ("main.tf", MAIN),
        ("outer/main.tf", OUTER),
        ("inner/main.tf", INNER),
    ] {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, text).expect("written");
    }
}

pub fn terraform(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("terraform")
        .args(arguments)
        .current_dir(folder)
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_IN_AUTOMATION", "1")
        .env("TF_INPUT", "0")
        .output()
        .expect("terraform runs")
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn vars(changed: bool) -> Vec<String> {
    let given: &[(&str, &str)] = if changed { &CHANGED } else { &[] };
    given.iter().map(|(k, v)| format!("-var={k}={v}")).collect()
}

fn they_apply(folder: &Path, changed: bool, destroy: bool) {
    let mut arguments = vec!["apply", "-auto-approve", "-no-color"];
    let vars = vars(changed);
    arguments.extend(vars.iter().map(String::as_str));
    if destroy {
        arguments.push("-destroy");
    }
    let output = terraform(folder, &arguments);
    assert!(output.status.success(), "{}", said(&output));
}

fn they_find_nothing_to_do(folder: &Path, changed: bool) {
    let mut arguments = vec!["plan", "-detailed-exitcode", "-no-color"];
    let vars = vars(changed);
    arguments.extend(vars.iter().map(String::as_str));
    let output = terraform(folder, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

fn inputs(changed: bool) -> Vec<InputLayer> {
    let given: &[(&str, &str)] = if changed { &CHANGED } else { &[] };
    vec![InputLayer {
        origin: InputOrigin::CommandLine,
        values: given
            .iter()
            .map(|(k, v)| (Arc::from(*k), Given::Text((*v).to_owned())))
            .collect(),
    }]
}

/// Plans, and applies if asked to; gives the changes.
async fn we_plan(folder: &Path, changed: bool, mode: PlanMode, apply: bool) -> Vec<String> {
    let seed = if changed { 11 } else { 5 };
    let session = session(folder, inputs(changed), seed);
    let options = PlanOptions {
        mode,
        ..PlanOptions::default()
    };
    let outcome = formwork_ops::plan(&session, &options).await;
    let told = text(&outcome.diagnostics, outcome.sources());
    assert!(!outcome.diagnostics.has_errors(), "{told}");
    let plan = outcome.plan.expect("a plan");
    let mut changes: Vec<String> = plan
        .changes
        .iter()
        .filter(|c| c.action != formwork_plan::Action::NoOp)
        .map(|c| {
            format!(
                "{} {} {:?}",
                c.action.word(),
                c.display_address(),
                c.replace_paths
            )
        })
        .collect();
    changes.extend(
        plan.outputs
            .iter()
            .filter(|o| o.action() != formwork_plan::Action::NoOp)
            .map(|o| format!("{} output.{}", o.action().word(), o.name)),
    );
    if apply {
        let applied = formwork_ops::apply(&session, plan, outcome.held).await;
        let told = text(&applied.diagnostics, &applied.sources);
        assert!(applied.complete, "{told}");
    } else if let Some(held) = outcome.held {
        let _ = held.release(&session).await;
    }
    changes
}

async fn we_find_nothing_to_do(folder: &Path, changed: bool) {
    let changes = we_plan(folder, changed, PlanMode::Normal, false).await;
    assert_eq!(changes, [] as [&str; 0]);
}

fn state(folder: &Path) -> Json {
    let bytes = std::fs::read(folder.join("terraform.tfstate")).expect("a state");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// What `state list` says, of them and of us, is the same.
fn lists_agree(folder: &Path) {
    let theirs = terraform(folder, &["state", "list"]);
    assert!(theirs.status.success(), "{}", said(&theirs));
    let bytes = std::fs::read(folder.join("terraform.tfstate")).expect("a state");
    let (ours, _) = formwork_state::v4::read(&bytes, "terraform.tfstate");
    let ours = formwork_render::state_list(&ours.expect("a state").state);
    assert_eq!(ours, String::from_utf8_lossy(&theirs.stdout));
}

/// The states in both folders mean the same. Ids are named by the addresses of their objects.
fn states_agree(ours: &Path, theirs: &Path) {
    let named = |folder: &Path| {
        let mut state = state(folder);
        let mut names = BTreeMap::new();
        for r in state["resources"].as_array().into_iter().flatten() {
            for i in r["instances"].as_array().into_iter().flatten() {
                let id = i["attributes"]["id"].as_str().expect("an id").to_owned();
                let name = format!("<{} {} {}>", r["module"], r["name"], i["index_key"]);
                names.insert(id, name);
            }
        }
        renamed(&mut state, &names);
        meaning_of_state(state)
    };
    let mut differences = Vec::new();
    difference("", &named(theirs), &named(ours), &mut differences);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    // JSON numbers were compared as floats; these have more digits than floats hold
    let digits = |folder: &Path| {
        let text = std::fs::read_to_string(folder.join("terraform.tfstate")).expect("a state");
        [
            "123456789012345678901234567890",
            "123456789012345678901234567891",
            "9007199254740993",
            "0.3333333333333333333333333333333333",
        ]
        .map(|n| text.matches(n).count())
    };
    assert_eq!(digits(ours), digits(theirs));
}

#[tokio::test]
async fn each_takes_over_from_the_other() {
    if Command::new("terraform").arg("version").output().is_err() {
        // straight to the stream: what macros print is shown only of tests that fail
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: there is no terraform here to ask\n",
        );
        return;
    }
    let (ours, theirs) = (tempfile::tempdir(), tempfile::tempdir());
    let (ours, theirs) = (ours.expect("a folder"), theirs.expect("a folder"));
    let (ours, theirs) = (ours.path(), theirs.path());
    for folder in [ours, theirs] {
        write(folder);
        let output = terraform(folder, &["init", "-no-color"]);
        assert!(output.status.success(), "{}", said(&output));
    }

    we_plan(ours, false, PlanMode::Normal, true).await;
    they_apply(theirs, false, false);
    states_agree(ours, theirs);
    they_find_nothing_to_do(ours, false);
    we_find_nothing_to_do(theirs, false).await;
    lists_agree(ours);
    lists_agree(theirs);

    // each goes on in the other's folder
    we_plan(theirs, true, PlanMode::Normal, true).await;
    they_apply(ours, true, false);
    states_agree(theirs, ours);
    they_find_nothing_to_do(theirs, true);
    we_find_nothing_to_do(ours, true).await;
    lists_agree(ours);
    lists_agree(theirs);

    // and each clears up after the other
    we_plan(ours, true, PlanMode::Destroy, true).await;
    they_apply(theirs, true, true);
    states_agree(ours, theirs);
}
