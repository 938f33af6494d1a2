//! The journey with the built-in provider: plan, apply, plan again, change, destroy.

use crate::surroundings::{session, text};
use formwork_configuration::{Given, InputLayer, InputOrigin};
use formwork_ops::PlanOptions;
use formwork_plan::{Action, Plan, PlanMode};
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

/// Plans and applies; gives the changes that were not no-ops.
async fn apply(folder: &Path, variables: &[(&str, &str)], mode: PlanMode) -> Vec<String> {
    let session = session(folder, layers(variables), 7);
    let outcome = formwork_ops::plan(
        &session,
        &PlanOptions {
            mode,
            ..PlanOptions::default()
        },
    )
    .await;
    assert!(
        !outcome.diagnostics.has_errors(),
        "{}",
        text(&outcome.diagnostics, outcome.sources())
    );
    let plan = outcome.plan.expect("a plan");
    let actions = actions(&plan);
    let applied = formwork_ops::apply(&session, plan, outcome.held).await;
    assert!(
        applied.complete,
        "{}",
        text(&applied.diagnostics, &applied.sources)
    );
    actions
}

fn actions(plan: &Plan) -> Vec<String> {
    plan.changes
        .iter()
        .filter(|c| c.action != Action::NoOp)
        .map(|c| format!("{} {}", c.action.word(), c.display_address()))
        .collect()
}

const MAIN: &str = r#"
variable "names" {
  type    = set(string)
  default = ["a", "b"]
}
variable "size" {
  type    = number
  default = 1
}
locals {
  tags = { for n in var.names : n => upper(n) }
}
resource "terraform_data" "each" {
  for_each = local.tags
  input    = each.value
}
resource "terraform_data" "dep" {
  count            = var.size
  input            = { ids = [for k, v in terraform_data.each : v.id], n = count.index }
  triggers_replace = [var.size]
}
module "m" {
  source   = "./m"
  for_each = var.names
  value    = terraform_data.each[each.key].output
}
output "ids"  { value = [for d in terraform_data.dep : d.output.n] }
output "outs" { value = { for k, m in module.m : k => m.out } }
"#;

const CHILD: &str = r#"
variable "value" { type = string }
resource "terraform_data" "inner" {
  input = "in ${var.value}"
}
output "out" { value = terraform_data.inner.output }
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn plan_apply_change_destroy() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    std::fs::create_dir(path.join("m")).expect("made");
    std::fs::write(path.join("main.tf"), MAIN).expect("written");
    std::fs::write(path.join("m/main.tf"), CHILD).expect("written");

    let first = apply(path, &[], PlanMode::Normal).await;
    assert_eq!(
        first,
        [
            "create terraform_data.dep[0]",
            "create terraform_data.each[\"a\"]",
            "create terraform_data.each[\"b\"]",
            "create module.m[\"a\"].terraform_data.inner",
            "create module.m[\"b\"].terraform_data.inner",
        ]
    );
    let state = std::fs::read_to_string(path.join("terraform.tfstate")).expect("a state");
    assert!(state.contains("\"in A\""), "{state}");
    assert!(state.contains("\"outs\""), "{state}");
    assert!(!path.join("terraform.tfstate.journal").exists());

    assert_eq!(
        apply(path, &[], PlanMode::Normal).await,
        [] as [String; 0],
        "the second plan is empty"
    );

    let changed = apply(
        path,
        &[("size", "2"), ("names", "[\"b\", \"c\"]")],
        PlanMode::Normal,
    )
    .await;
    assert_eq!(
        changed,
        [
            "delete-create terraform_data.dep[0]",
            "create terraform_data.dep[1]",
            "delete terraform_data.each[\"a\"]",
            "create terraform_data.each[\"c\"]",
            "delete module.m[\"a\"].terraform_data.inner",
            "create module.m[\"c\"].terraform_data.inner",
        ]
    );
    let gone = apply(path, &[], PlanMode::Destroy).await;
    assert_eq!(gone.len(), 6, "{gone:?}");
    let state = std::fs::read_to_string(path.join("terraform.tfstate")).expect("a state");
    assert!(
        state.contains("\"resources\": []") && state.contains("\"outputs\": {}"),
        "{state}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn apply_knows_when_the_plan_was_made_and_what_moved() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let write = |text: &str| std::fs::write(path.join("main.tf"), text).expect("written");
    write(
        "resource \"terraform_data\" \"z\" { input = plantimestamp() }\nresource \"terraform_data\" \"b\" { input = terraform_data.z.id }\n",
    );
    apply(path, &[], PlanMode::Normal).await;
    let state = std::fs::read_to_string(path.join("terraform.tfstate")).expect("a state");
    assert!(state.contains("\"2026-09-"), "{state}");
    // What was made from the moved object is destroyed before it all the same: the plan is verified.
    write(
        "moved {\n  from = terraform_data.z\n  to   = terraform_data.a\n}\nresource \"terraform_data\" \"a\" {}\n",
    );
    let gone = apply(path, &[], PlanMode::Destroy).await;
    assert_eq!(gone, ["delete terraform_data.a", "delete terraform_data.b"]);
}
