//! What planning leaves to apply: conditions that it cannot decide, on which others wait, and data
//! sources that wait for what a `depends_on` names.

use crate::surroundings::{session, text};
use formwork_configuration::{Given, InputLayer, InputOrigin};
use formwork_ops::PlanOptions;
use formwork_plan::Action;
use std::path::Path;
use std::sync::Arc;

fn layers(turn: &str) -> Vec<InputLayer> {
    vec![InputLayer {
        origin: InputOrigin::CommandLine,
        values: [(Arc::from("turn"), Given::Text(turn.to_owned()))].into(),
    }]
}

/// Plans and applies with `turn` set; whether the run was complete, and what was said, as summaries
/// with addresses.
async fn run(folder: &Path, turn: &str) -> (bool, Vec<String>) {
    let session = session(folder, layers(turn), 7);
    let outcome = formwork_ops::plan(&session, &PlanOptions::default()).await;
    assert!(
        !outcome.diagnostics.has_errors(),
        "{}",
        text(&outcome.diagnostics, outcome.sources())
    );
    let plan = outcome.plan.expect("a plan");
    let applied = formwork_ops::apply(&session, plan, outcome.held).await;
    let said = applied
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| format!("{}: {}", d.summary, d.detail))
        .collect();
    (applied.complete, said)
}

/// Data sources that a plan with `turn` set leaves to apply, and why.
async fn left(folder: &Path, turn: &str) -> Vec<String> {
    let session = session(folder, layers(turn), 7);
    let outcome = formwork_ops::plan(&session, &PlanOptions::default()).await;
    assert!(
        !outcome.diagnostics.has_errors(),
        "{}",
        text(&outcome.diagnostics, outcome.sources())
    );
    let plan = outcome.plan.expect("a plan");
    plan.changes
        .iter()
        .filter(|c| c.action == Action::Read)
        .map(|c| format!("{} {:?}", c.address, c.reason))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn data_sources_wait_for_what_their_modules_wait_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    std::fs::create_dir_all(path.join("m/n")).expect("made");
    let main = r#"
module "m" {
  source     = "./m"
  depends_on = [terraform_data.first]
}
module "free" {
  source = "./m"
}
"#;
    let read = r#"
data "terraform_remote_state" "other" {
  backend = "local"
  config  = { path = "other.tfstate" }
}
"#;
    let other = r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {}, "resources": []}"#;
    std::fs::write(path.join("main.tf"), format!("{FIRST}{main}")).expect("written");
    std::fs::write(
        path.join("m/main.tf"),
        "module \"n\" {\n  count  = 2\n  source = \"./n\"\n}\n",
    )
    .expect("written");
    std::fs::write(path.join("m/n/main.tf"), read).expect("written");
    std::fs::write(path.join("other.tfstate"), other).expect("written");
    let waiting: Vec<String> = (0..2)
        .map(|n| {
            format!(
                "module.m.module.n[{n}].data.terraform_remote_state.other \
                 Some(ReadBecauseDependencyPending)"
            )
        })
        .collect();
    assert_eq!(left(path, "one").await, waiting);
    let (complete, said) = run(path, "one").await;
    assert!(complete, "{said:?}");
    assert_eq!(left(path, "one").await, [] as [String; 0]);
    assert_eq!(left(path, "two").await, waiting);
}

/// What each case begins with: `terraform_data.first` gets a new id whenever `turn` changes.
const FIRST: &str = r#"
variable "turn" { type = string }
resource "terraform_data" "first" {
  triggers_replace = var.turn
  input            = var.turn
}
"#;

/// Applies with turn "one", which must work, and with "two", which must fail with `message`; then the
/// state must not hold what is in `absent`.
async fn check(name: &str, main: &str, child: &str, message: &str, absent: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    std::fs::create_dir(path.join("m")).expect("made");
    std::fs::write(path.join("main.tf"), format!("{FIRST}{main}")).expect("written");
    std::fs::write(path.join("m/main.tf"), child).expect("written");
    let (complete, said) = run(path, "one").await;
    assert!(complete, "{name}: {said:?}");
    let (complete, said) = run(path, "two").await;
    assert!(!complete, "{name}: the condition was not judged");
    assert!(
        !said.is_empty() && said.iter().all(|s| s.contains(message)),
        "{name}: {said:?}"
    );
    let state = std::fs::read_to_string(path.join("terraform.tfstate")).expect("a state");
    assert!(state.contains("\"two\""), "{name}: {state}");
    assert!(!state.contains(absent), "{name}: {state}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_planning_left_open_is_judged() {
    check(
        "a validation of a module's variable",
        r#"
module "m" {
  source = "./m"
  value  = terraform_data.first.output
}
"#,
        r#"
variable "value" {
  type = string
  validation {
    condition     = var.value != "two"
    error_message = "not two, please"
  }
}
resource "terraform_data" "inner" {
  triggers_replace = "x-${var.value}"
}
"#,
        "not two, please",
        "x-two",
    )
    .await;
    for condition in ["precondition", "postcondition"] {
        check(
            &format!("a {condition} of an object that does not change"),
            &format!(
                r#"
resource "terraform_data" "still" {{
  input = "still"
  lifecycle {{
    {condition} {{
      condition     = terraform_data.first.output != "two"
      error_message = "still not two"
    }}
  }}
}}
resource "terraform_data" "user" {{
  triggers_replace = "${{terraform_data.still.output}}-${{var.turn}}"
}}
"#
            ),
            "",
            "still not two",
            "still-two",
        )
        .await;
    }
    // The child's file serves as the state that is read.
    check(
        "a condition of a data source that was read while planning",
        r#"
data "terraform_remote_state" "other" {
  for_each = toset(["output.o"])
  backend  = "local"
  config   = { path = "m/main.tf" }
  lifecycle {
    postcondition {
      condition     = self.outputs.name == "x" && terraform_data.first.output != "two"
      error_message = "${each.key} is not for two"
    }
  }
}
resource "terraform_data" "user" {
  input = "${data.terraform_remote_state.other["output.o"].outputs.name}-${var.turn}"
}
"#,
        r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "resources": [],
            "outputs": {"name": {"value": "x", "type": "string"}}}"#,
        "output.o is not for two",
        "x-two",
    )
    .await;
    check(
        "a precondition of a module's output",
        r#"
module "m" {
  for_each = toset(["k.l", "m"])
  source   = "./m"
  value    = terraform_data.first.output
}
resource "terraform_data" "after" {
  input = "after-${var.turn}-${module.m["m"].o}"
}
output "o" { value = "out-${var.turn}-${module.m["m"].o}" }
"#,
        r#"
variable "value" {}
output "o" {
  value = "x"
  precondition {
    condition     = var.value != "two" || terraform_data.inner.output == "z"
    error_message = "no such output"
  }
}
resource "terraform_data" "inner" { input = "inner" }
"#,
        "no such output",
        "after-two",
    )
    .await;
    check(
        "a precondition of the root's output",
        r#"
output "o" {
  value = "out-${var.turn}"
  precondition {
    condition     = terraform_data.first.output != "two"
    error_message = "root says no"
  }
}
"#,
        "",
        "root says no",
        "out-two",
    )
    .await;
}
