//! The blueprint planned inside the test, against a mock cloud inside the test: a plan takes a
//! fraction of a second, and with a clock that stands still it is the same on each run.

use crate::place::blueprint;
use async_trait::async_trait;
use formwork_addresses::ProviderAddr;
use formwork_ai::FormworkProvider;
use formwork_builtin::BuiltinProvider;
use formwork_configuration::{DiskReader, LocalModulesOnly};
use formwork_diagnostics::{Diagnostic, Diagnostics, Severity, SourceMap};
use formwork_environment::{Environment, Fixed};
use formwork_google::GoogleProvider;
use formwork_graph::Cancellation;
use formwork_mock_google::{Config, Mock, Scenario, Server};
use formwork_ops::{PlanOptions, PlanOutcome, Session, Settings};
use formwork_plan::{Event, EventSink, Plan};
use formwork_provider::{Provider, ProviderFactory, Providers};
use formwork_state_backends::{Backup, LocalStore, RemoteStates};
use formwork_testkit::TestEnv;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// 2026-01-01T00:00:00Z, when everything happens here.
const NOW: u64 = 1_767_225_600;

/// A mock cloud, and a folder in which the blueprint lies as `roce-cluster`.
pub struct World {
    env: TestEnv,
    mock: Mock,
    server: Server,
}

struct Factory {
    environment: Environment,
    base: String,
}

#[async_trait]
impl ProviderFactory for Factory {
    async fn launch(&self, address: &ProviderAddr) -> Result<Arc<dyn Provider>, Diagnostics> {
        let environment = self.environment.clone();
        Ok(match &*address.kind {
            "terraform" => {
                let states = Arc::new(RemoteStates::new(environment.clone()));
                Arc::new(BuiltinProvider::new(environment, states))
            }
            "google" => {
                let world = formwork_google::World::Mock {
                    base: self.base.clone(),
                    project: Some(Arc::from("formwork-mock")),
                };
                let version = formwork_google::best_version(|_| true).expect("a version");
                Arc::new(GoogleProvider::new(environment, world, version))
            }
            "formwork" => Arc::new(FormworkProvider::builtin()),
            other => return Err(Diagnostic::error("No such provider", other).into()),
        })
    }
}

struct Sleeper;

#[async_trait]
impl formwork_state::Sleeper for Sleeper {
    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

struct Deaf;

impl EventSink for Deaf {
    fn emit(&self, _: Event) {}
}

/// The errors, each as summary and detail.
pub fn errors(diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| format!("{}: {}", d.summary, d.detail))
        .collect()
}

/// A plan as `show -json` has it.
pub fn json(plan: &Plan, providers: &Providers) -> Value {
    let text = formwork_render::plan_json(plan, None, &providers.all_schemas());
    serde_json::from_str(&text).expect("JSON")
}

/// What is made of a type, as the plan's JSON has it.
pub fn planned<'p>(plan: &'p Value, kind: &str) -> Vec<&'p Value> {
    let all = plan["resource_changes"].as_array().into_iter().flatten();
    all.filter(|c| c["type"] == kind && c["mode"] == "managed")
        .map(|c| {
            assert_eq!(c["change"]["actions"], serde_json::json!(["create"]));
            &c["change"]["after"]
        })
        .collect()
}

/// A root module that calls the blueprint, beside it.
pub fn call(machine: &str, zone: &str, more: &str) -> String {
    format!(
        r#"
terraform {{
  required_providers {{
    formwork = {{ source = "formwork/formwork" }}
    google   = {{ source = "hashicorp/google" }}
  }}
}}

module "cluster" {{
  source = "../roce-cluster"

  project_id   = "formwork-mock"
  name         = "t"
  machine_type = "{machine}"
  zone         = "{zone}"

  controller_machine_type = "n2-standard-8"

  {more}
}}
"#
    )
}

impl World {
    /// The default world.
    pub async fn new() -> Self {
        Self::of(Scenario::default_world()).await
    }

    /// A world of one's own.
    pub async fn of(scenario: Scenario) -> Self {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let env = TestEnv::new(env!("CARGO_BIN_EXE_formwork"));
        env.copy_to(&blueprint(), "roce-cluster");
        let fixed = Arc::new(Fixed::new(NOW, 1));
        let mock = Mock::open(Config {
            directory: None,
            scenario,
            clock: fixed.clone(),
            randomness: fixed,
            process: 1,
        })
        .expect("a world");
        let server = mock
            .serve(std::net::SocketAddr::from(([127, 0, 0, 1], 0)))
            .await
            .expect("a port");
        Self { env, mock, server }
    }

    /// A folder in which a root module may lie.
    pub fn root(&self, path: &str) -> PathBuf {
        self.env.path().join(path)
    }

    /// Plans the root module of a folder that has no state yet.
    pub async fn plan(&self, root: &Path) -> PlanOutcome {
        let fixed = Arc::new(Fixed::new(NOW, 2));
        let environment = Environment {
            variables: BTreeMap::new(),
            home: None,
            working: root.to_owned(),
            temporary: self.env.path(),
            who: "tester@test".to_owned(),
            process: 1,
            clock: fixed.clone(),
            randomness: fixed,
        };
        let state = root.join("terraform.tfstate");
        let session = Session {
            reader: Arc::new(DiskReader {
                base: root.to_owned(),
            }),
            fetcher: Arc::new(LocalModulesOnly),
            factory: Arc::new(Factory {
                environment: environment.clone(),
                base: self.server.url(),
            }),
            store: Arc::new(LocalStore::new(&environment, &state, Backup::None)),
            sleeper: Arc::new(Sleeper),
            cloud: Some(self.mock.world()),
            inputs: Vec::new(),
            sources: SourceMap::new(),
            judge: Arc::new(|_: &Plan| Diagnostics::new()),
            events: Arc::new(Deaf),
            read: None,
            cancel: Cancellation::new(),
            settings: Settings {
                tool_version: "0.0.0".to_owned(),
                ..Settings::default()
            },
            trial: None,
            environment,
        };
        let mut outcome = formwork_ops::plan(&session, &PlanOptions::default()).await;
        if let Some(held) = outcome.held.take() {
            let said = held.release(&session).await;
            assert!(!said.has_errors(), "{:?}", errors(&said));
        }
        outcome
    }

    /// Plans a root module of one file.
    pub async fn plan_text(&self, text: &str) -> PlanOutcome {
        self.env.write("root/main.tf", text);
        self.plan(&self.root("root")).await
    }

    /// How many requests meant to change something.
    pub fn changes(&self) -> usize {
        let log = self.mock.log();
        log.iter().filter(|line| line.method != "GET").count()
    }
}
