//! A session in a folder of its own: fixed clock and randomness, the built-in provider, local state.

use formwork_builtin::BuiltinProvider;
use formwork_configuration::{DiskReader, InputLayer, LocalModulesOnly};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_environment::{Environment, Fixed};
use formwork_graph::Cancellation;
use formwork_ops::{Session, Settings};
use formwork_plan::{Event, EventSink, Plan};
use formwork_provider::{
    FunctionFailure, Provider, ProviderFactory, Provisioner, RawState, UpgradeRequest,
    UpgradeResponse,
};
use formwork_provisioners::Running;
use formwork_state_backends::{Backup, LocalStore, RemoteStates};
use formwork_values::{Type, Value, value_from_json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Makes the built-in provider, and no other.
pub struct Builtins(pub Environment);

#[async_trait::async_trait]
impl ProviderFactory for Builtins {
    async fn launch(
        &self,
        provider: &formwork_addresses::ProviderAddr,
    ) -> Result<Arc<dyn Provider>, Diagnostics> {
        if provider.to_string() == formwork_builtin::SOURCE {
            let states = Arc::new(RemoteStates::new(self.0.clone()));
            return Ok(Arc::new(BuiltinProvider::new(self.0.clone(), states)));
        }
        Err(Diagnostic::error("Provider not available", provider.to_string()).into())
    }

    fn provisioner(&self, kind: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        formwork_provisioners::find(kind, &self.0, &Running::default())
    }
}

struct NoSleep;

#[async_trait::async_trait]
impl formwork_state::Sleeper for NoSleep {
    async fn sleep(&self, _time: Duration) {}
}

/// Remembers events.
#[derive(Default)]
pub struct Recorder(Mutex<Vec<Event>>);

impl Recorder {
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl EventSink for Recorder {
    fn emit(&self, event: Event) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(event);
    }
}

/// A session in a folder. `seed` is what random numbers come from.
pub fn session(folder: &Path, inputs: Vec<InputLayer>, seed: u64) -> Session {
    let fixed = Arc::new(Fixed::new(1_790_000_000, seed));
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
        inputs,
        sources: SourceMap::new(),
        judge: Arc::new(|_: &Plan| Diagnostics::new()),
        events: Arc::new(()),
        read: None,
        cancel: Cancellation::new(),
        settings: Settings {
            tool_version: "0.1.0".to_owned(),
            ..Settings::default()
        },
        trial: None,
        environment,
    }
}

/// Diagnostics as text, one a line.
pub fn text(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
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

/// The answer of a provider whose stored objects are as its schema has them.
pub fn as_written(request: &UpgradeRequest, ty: &Type) -> UpgradeResponse {
    let upgraded = match &request.state {
        RawState::Json(json) => value_from_json(json, ty).expect("of the schema's type"),
        RawState::Flatmap(_) => Value::null(ty.clone()),
    };
    UpgradeResponse {
        upgraded,
        reported: Vec::new(),
    }
}

/// The answer of a provider that has no functions.
pub fn no_functions() -> FunctionFailure {
    FunctionFailure {
        text: "There are no functions.".to_owned(),
        argument: None,
    }
}
