//! The journey with the built-in provider: plan, apply, plan again, change, destroy.
#![allow(clippy::expect_used)] // a test fails by panicking

use formwork_builtin::BuiltinProvider;
use formwork_configuration::{DiskReader, Given, InputLayer, InputOrigin, LocalModulesOnly};
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_environment::{Environment, Fixed};
use formwork_graph::Cancellation;
use formwork_ops::{PlanOptions, Session, Settings};
use formwork_plan::{Action, Plan, PlanMode};
use formwork_provider::{Provider, ProviderFactory};
use formwork_state_backends::{Backup, LocalStates, LocalStore};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

struct Builtins(Environment);

#[async_trait::async_trait]
impl ProviderFactory for Builtins {
    async fn launch(
        &self,
        provider: &formwork_addresses::ProviderAddr,
    ) -> Result<Arc<dyn Provider>, Diagnostics> {
        if provider.to_string() == formwork_builtin::SOURCE {
            let states = Arc::new(LocalStates::new(self.0.clone()));
            return Ok(Arc::new(BuiltinProvider::new(self.0.clone(), states)));
        }
        Err(
            formwork_diagnostics::Diagnostic::error("Provider not available", provider.to_string())
                .into(),
        )
    }
}

struct NoSleep;

#[async_trait::async_trait]
impl formwork_state::Sleeper for NoSleep {
    async fn sleep(&self, _time: Duration) {}
}

fn session(folder: &Path, variables: &[(&str, &str)]) -> Session {
    let fixed = Arc::new(Fixed::new(1_790_000_000, 7));
    let environment = Environment {
        variables: BTreeMap::new(),
        home: None,
        working: folder.to_path_buf(),
        temporary: folder.to_path_buf(),
        who: "tester@host".to_owned(),
        process: std::process::id(),
        clock: fixed.clone(),
        randomness: fixed,
    };
    let values = variables
        .iter()
        .map(|(k, v)| (Arc::from(*k), Given::Text((*v).to_owned())))
        .collect();
    Session {
        reader: Arc::new(DiskReader {
            base: folder.to_path_buf(),
        }),
        fetcher: Arc::new(LocalModulesOnly),
        factory: Arc::new(Builtins(environment.clone())),
        store: Arc::new(LocalStore::new(
            &environment,
            Path::new("terraform.tfstate"),
            Backup::Beside,
        )),
        sleeper: Arc::new(NoSleep),
        cloud: None,
        inputs: vec![InputLayer {
            origin: InputOrigin::CommandLine,
            values,
        }],
        sources: SourceMap::new(),
        judge: Arc::new(|_: &Plan| Diagnostics::new()),
        events: Arc::new(()),
        cancel: Cancellation::new(),
        settings: Settings {
            tool_version: "0.1.0".to_owned(),
            ..Settings::default()
        },
        environment,
    }
}

fn text(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    diagnostics
        .iter()
        .map(|d| {
            let place = d.subject.map(|s| sources.place(s)).unwrap_or_default();
            format!(
                "{:?} {} [{}] {} ({})\n",
                d.severity,
                d.summary,
                d.address.clone().unwrap_or_default(),
                d.detail,
                place
            )
        })
        .collect()
}

/// Plans and applies; gives the changes that were not no-ops.
async fn apply(folder: &Path, variables: &[(&str, &str)], mode: PlanMode) -> Vec<String> {
    let session = session(folder, variables);
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
