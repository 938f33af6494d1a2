//! Sessions in memory: a state that is a field, providers as the command line composes them, and one
//! mock cloud for all.

use formwork_addresses::ProviderAddr;
use formwork_builtin::BuiltinProvider;
use formwork_configuration::{Given, InputLayer, InputOrigin, LocalModulesOnly, MemoryReader};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_environment::{Environment, Fixed};
use formwork_graph::Cancellation;
use formwork_mock_google::{Config, Mock, Scenario, Server};
use formwork_ops::{Session, Settings};
use formwork_plan::Plan;
use formwork_provider::{Provider, ProviderFactory};
use formwork_state::{
    Durable, JournalStore, JournalSupport, LockError, LockInfo, Sleeper, SnapshotStore, StateLock,
};
use formwork_state_backends::RemoteStates;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A state in memory.
#[derive(Default)]
pub struct Memory {
    snapshot: Mutex<Option<Vec<u8>>>,
    journal: Mutex<Vec<u8>>,
}

impl Memory {
    /// What is kept.
    pub fn snapshot(&self) -> Option<Vec<u8>> {
        self.snapshot
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[async_trait::async_trait]
impl SnapshotStore for Memory {
    fn describe(&self) -> String {
        "memory".to_owned()
    }
    async fn read_snapshot(&self) -> Result<Option<Vec<u8>>, Diagnostics> {
        Ok(self.snapshot())
    }
    async fn write_snapshot(&self, bytes: &[u8]) -> Result<(), Diagnostics> {
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = Some(bytes.to_vec());
        Ok(())
    }
}

#[async_trait::async_trait]
impl StateLock for Memory {
    async fn lock(&self, _info: &LockInfo) -> Result<(), LockError> {
        Ok(())
    }
    async fn unlock(&self, _id: &str) -> Result<(), Diagnostics> {
        Ok(())
    }
}

#[async_trait::async_trait]
impl JournalStore for Memory {
    fn journal_support(&self) -> JournalSupport {
        JournalSupport::Durable
    }
    async fn read_journal(&self) -> Result<Vec<u8>, Diagnostics> {
        Ok(self
            .journal
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone())
    }
    async fn lock_journal(&self) -> Result<(), LockError> {
        Ok(())
    }
    fn append_journal(&self, bytes: Vec<u8>) -> Durable {
        self.journal
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(bytes);
        Box::pin(async { Ok(()) })
    }
    async fn replace_journal(&self, bytes: Vec<u8>) -> Result<(), Diagnostics> {
        *self.journal.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
        Ok(())
    }
    async fn unlock_journal(&self) {}
}

struct Factory {
    environment: Environment,
    mock: String,
}

#[async_trait::async_trait]
impl ProviderFactory for Factory {
    async fn launch(&self, provider: &ProviderAddr) -> Result<Arc<dyn Provider>, Diagnostics> {
        let environment = self.environment.clone();
        Ok(
            match provider.to_string().rsplit_once('/').map(|(_, k)| k) {
                Some("terraform") => {
                    let states = Arc::new(RemoteStates::new(environment.clone()));
                    Arc::new(BuiltinProvider::new(environment, states))
                }
                Some("google" | "google-beta") => {
                    let world = formwork_google::World::Mock {
                        base: self.mock.clone(),
                        project: Some(Arc::from("formwork-mock")),
                    };
                    Arc::new(formwork_google::GoogleProvider::new(
                        environment,
                        world,
                        formwork_google::latest_version(),
                    ))
                }
                Some("formwork") => Arc::new(formwork_ai::FormworkProvider::builtin()),
                _ => {
                    return Err(Diagnostic::error(
                        "Provider not available",
                        format!("This test has no provider {provider}."),
                    )
                    .into());
                }
            },
        )
    }
}

struct NoSleep;

#[async_trait::async_trait]
impl Sleeper for NoSleep {
    async fn sleep(&self, _time: Duration) {}
}

/// The mock cloud that all mutants read.
pub struct World {
    mock: Mock,
    server: Server,
    temporary: PathBuf,
}

impl World {
    /// Serves a cloud that stands as its scenario seeds it; no mutant changes it.
    pub async fn start(temporary: &Path) -> Self {
        let fixed = Arc::new(Fixed::new(1_790_000_000, 7));
        let mock = Mock::open(Config {
            directory: None,
            scenario: Scenario::default_world(),
            clock: fixed.clone(),
            randomness: fixed,
            process: std::process::id(),
        })
        .expect("a world in memory");
        let listen = ([127, 0, 0, 1], 0).into();
        let server = mock.serve(listen).await.expect("a free port");
        Self {
            mock,
            server,
            temporary: temporary.to_path_buf(),
        }
    }

    /// A session over these files.
    pub fn session(
        &self,
        folder: &Path,
        files: &[(String, Vec<u8>)],
        inputs: &[(String, String)],
        state: Option<Vec<u8>>,
    ) -> (Session, Arc<Memory>) {
        let fixed = Arc::new(Fixed::new(1_790_000_000, 7));
        let environment = Environment {
            variables: BTreeMap::new(),
            home: None,
            working: folder.to_path_buf(),
            temporary: self.temporary.clone(),
            who: "tester@host".to_owned(),
            process: std::process::id(),
            clock: fixed.clone(),
            randomness: fixed,
        };
        let mut reader = MemoryReader::new();
        for (name, bytes) in files {
            reader.insert(name, bytes.clone());
        }
        let store = Arc::new(Memory {
            snapshot: Mutex::new(state),
            journal: Mutex::default(),
        });
        let values = inputs
            .iter()
            .map(|(k, v)| (Arc::from(k.as_str()), Given::Text(v.clone())))
            .collect();
        let session = Session {
            reader: Arc::new(reader),
            fetcher: Arc::new(LocalModulesOnly),
            factory: Arc::new(Factory {
                environment: environment.clone(),
                mock: self.server.url(),
            }),
            store: store.clone(),
            sleeper: Arc::new(NoSleep),
            cloud: Some(self.mock.world()),
            sources: SourceMap::new(),
            inputs: vec![InputLayer {
                origin: InputOrigin::CommandLine,
                values,
            }],
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
        };
        (session, store)
    }
}
