//! The mock cloud that a command works with: found, or served for as long as the command runs.
//!
//! Under the directory of the command lies `.formwork/mock/`: `cloud/` is the world (its journal, log
//! and lock), `state/` is the state of what was made in it. With `-mock` one of three things happens:
//!
//! - a process serves the world already: it is used. Should that process go away in mid-run, the world
//!   is opened here and served at the same address, so that a client sees a connection cut and no more;
//! - nobody serves it: it is opened and served here, for this command and for whoever comes meanwhile;
//! - `-mock=URL`: the one at that address is used, whatever it is.
//!
//! Every world has a random id. It is put into states and plans as `x_formwork_cloud`, by which
//! operations refuse to mix worlds.

use crate::session::{CloudChoice, Session};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_environment::Environment;
use formwork_google_client::{
    Client, ClientConfig, Credentials, ErrorKind, Method, Request, encode_segment,
};
use formwork_mock_google::{
    Config, Mock, OpenError, Scenario, Served, Server, Serving, endpoint, served,
};
use formwork_state_backends::Place;
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Where a directory's mock world lives.
pub const CLOUD: &str = ".formwork/mock/cloud";
/// Where the state of what was made in it lives.
pub const STATE: &str = ".formwork/mock/state/terraform.tfstate";

/// What is said before anything else, where people read.
pub fn notice(choice: &CloudChoice) -> Option<String> {
    match choice {
        CloudChoice::Real => None,
        CloudChoice::Mock => Some(
            "Mock cloud: nothing real is touched. State and cloud are in .formwork/mock.\n"
                .to_owned(),
        ),
        CloudChoice::MockAt(url) => Some(format!(
            "Mock cloud at {url}: nothing real is touched. The state is in .formwork/mock.\n"
        )),
    }
}

/// How long another process may take from opening a world to serving it.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a server that is used, or awaited, is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A mock cloud in use.
pub struct MockCloud {
    /// `http://127.0.0.1:PORT`
    pub base: String,
    /// The world's id.
    pub world: String,
    /// The project that is meant where nobody names one.
    pub project: Option<String>,
    server: Option<Server>,
    standing_by: Option<JoinHandle<()>>,
}

/// A world that is looked into.
pub enum Look {
    /// At an address.
    At(Remote),
    /// Opened here.
    Here(Mock),
}

/// A world served by somebody.
pub struct Remote {
    base: String,
    client: reqwest::Client,
}

/// `GET /_mock/world`
#[derive(Deserialize)]
struct WorldPage {
    world: String,
    #[serde(default)]
    project: Option<String>,
}

impl MockCloud {
    /// The mock cloud that the session chose; `None` for the real cloud.
    ///
    /// # Errors
    /// That it does not answer, cannot be opened, or is held by a process that does not serve it.
    pub async fn of(session: &Session) -> Result<Option<Self>, Diagnostics> {
        match &session.cloud {
            CloudChoice::Real => Ok(None),
            CloudChoice::MockAt(url) => {
                let page = Remote::new(url)?.world().await?;
                Ok(Some(Self {
                    base: url.clone(),
                    world: page.world,
                    project: page.project,
                    server: None,
                    standing_by: None,
                }))
            }
            CloudChoice::Mock => {
                prepare(&session.environment)?;
                let directory = session.environment.working.join(CLOUD);
                Self::in_directory(&session.environment, directory)
                    .await
                    .map(Some)
            }
        }
    }

    async fn in_directory(
        environment: &Environment,
        directory: PathBuf,
    ) -> Result<Self, Diagnostics> {
        let begun = tokio::time::Instant::now();
        loop {
            match served(&directory) {
                Served::At(serving) => {
                    let base = format!("http://{}", serving.address);
                    match Remote::new(&base)?.world().await {
                        Ok(page) => {
                            let standing_by = stand_by(environment, directory, serving);
                            return Ok(Self {
                                base,
                                world: page.world,
                                project: page.project,
                                server: None,
                                standing_by,
                            });
                        }
                        // it may have gone between telling its address and being asked
                        Err(d) if begun.elapsed() > PATIENCE => return Err(d),
                        Err(_) => {}
                    }
                }
                Served::Opening => {}
                Served::Nobody => match open(environment, Some(&directory), default_world()) {
                    Ok(mock) => return Self::serve(mock).await,
                    // somebody was quicker
                    Err(OpenError::Busy(_)) if begun.elapsed() <= PATIENCE => {}
                    Err(error) => return Err(not_opened(&error)),
                },
            }
            if begun.elapsed() > PATIENCE {
                return Err(not_opened(&OpenError::Busy(directory)));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn serve(mock: Mock) -> Result<Self, Diagnostics> {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = mock.serve(listen).await.map_err(|e| not_served(&e))?;
        Ok(Self {
            base: server.url(),
            world: mock.world(),
            project: mock.project(),
            server: Some(server),
            standing_by: None,
        })
    }

    /// Turns a place in Cloud Storage to this cloud's own, and makes its bucket if there is none.
    ///
    /// # Errors
    /// Why the bucket cannot be made.
    pub async fn open_backend(&self, place: &mut Place) -> Result<(), Diagnostics> {
        let storage = endpoint(&self.base, "storage");
        place.in_mock(&storage);
        let Place::Gcs(config) = place else {
            return Ok(());
        };
        let made = async {
            let mut client = ClientConfig::google(Credentials::None);
            client.endpoints.set("storage", &storage);
            let client = Client::new(client)?;
            let path = format!("storage/v1/b/{}", encode_segment(&config.bucket));
            match client.send(&Request::get("storage", path)).await {
                Err(e) if e.kind == ErrorKind::NotFound => {}
                answer => return answer.map(drop),
            }
            let request = Request::new(Method::Post, "storage", "storage/v1/b")
                .query("project", self.project.clone().unwrap_or_default())
                .json(serde_json::json!({"name": config.bucket}));
            match client.send(&request).await {
                // somebody was quicker
                Err(e) if e.kind == ErrorKind::Conflict => Ok(()),
                answer => answer.map(drop),
            }
        };
        made.await.map_err(|error| {
            Diagnostic::error(
                "Bucket cannot be made in the mock cloud",
                format!(
                    "The state is to be kept in the bucket {}, which the mock cloud lacks, and it cannot be \
                     made: {error}.",
                    config.bucket
                ),
            )
            .into()
        })
    }

    /// Ends what was begun for this command.
    pub async fn leave(self) {
        if let Some(task) = self.standing_by {
            task.abort();
            // a world that it serves is given free when the task is gone
            let _ = task.await;
        }
        if let Some(server) = self.server {
            server.stop().await;
        }
    }
}

impl std::fmt::Debug for MockCloud {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MockCloud")
            .field("base", &self.base)
            .field("world", &self.world)
            .finish_non_exhaustive()
    }
}

/// Takes a server's place when it goes away: opens its world and serves it at the same address.
fn stand_by(
    environment: &Environment,
    directory: PathBuf,
    serving: Serving,
) -> Option<JoinHandle<()>> {
    let address: SocketAddr = serving.address.parse().ok()?;
    let environment = environment.clone();
    Some(tokio::spawn(async move {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if served(&directory) != Served::Nobody {
                continue;
            }
            let Ok(mock) = open(&environment, Some(&directory), default_world()) else {
                continue;
            };
            if let Ok(_server) = mock.serve(address).await {
                // until the command ends and this task with it
                std::future::pending::<()>().await;
            }
        }
    }))
}

/// Opens a world.
pub fn open(
    environment: &Environment,
    directory: Option<&Path>,
    scenario: Scenario,
) -> Result<Mock, OpenError> {
    Mock::open(Config {
        directory: directory.map(Path::to_owned),
        scenario,
        clock: Arc::clone(&environment.clock),
        randomness: Arc::clone(&environment.randomness),
        process: environment.process,
    })
}

/// A world of its own that lasts as long as it is used, and of which nothing is written.
///
/// # Errors
/// That it cannot be served.
pub async fn in_memory(environment: &Environment) -> Result<MockCloud, Diagnostics> {
    let mock = open(environment, None, default_world()).map_err(|e| not_opened(&e))?;
    MockCloud::serve(mock).await
}

/// The world that nobody described.
pub fn default_world() -> Scenario {
    Scenario::default_world()
}

/// Makes `.formwork`, which nobody should commit.
pub fn prepare(environment: &Environment) -> Result<(), Diagnostics> {
    let ours = environment.working.join(".formwork");
    let ignore = ours.join(".gitignore");
    if ignore.exists() {
        return Ok(());
    }
    std::fs::create_dir_all(ours.join("mock"))
        .and_then(|()| std::fs::write(&ignore, "*\n"))
        .map_err(|error| {
            Diagnostic::error(
                "Failed to write file",
                format!("{} cannot be written: {error}.", ignore.display()),
            )
            .into()
        })
}

impl Look {
    /// The world to look into: of `data`, of `-mock=URL`, or of this directory.
    ///
    /// # Errors
    /// That it does not answer or cannot be opened.
    pub async fn into_world(session: &Session, data: Option<&Path>) -> Result<Self, Diagnostics> {
        let directory = match (data, &session.cloud) {
            (Some(_), CloudChoice::MockAt(_)) => {
                return Err(Diagnostic::error(
                    "Failed to parse command-line flags",
                    "Both -mock=URL and -data name a mock cloud. Name one.",
                )
                .into());
            }
            (Some(data), _) => session.environment.working.join(data),
            (None, CloudChoice::MockAt(url)) => return Ok(Self::At(Remote::new(url)?)),
            (None, _) => {
                prepare(&session.environment)?;
                session.environment.working.join(CLOUD)
            }
        };
        let begun = tokio::time::Instant::now();
        loop {
            match served(&directory) {
                Served::At(serving) => {
                    return Ok(Self::At(Remote::new(&format!(
                        "http://{}",
                        serving.address
                    ))?));
                }
                Served::Nobody => {
                    match open(&session.environment, Some(&directory), default_world()) {
                        Ok(mock) => return Ok(Self::Here(mock)),
                        Err(OpenError::Busy(_)) if begun.elapsed() <= PATIENCE => {}
                        Err(error) => return Err(not_opened(&error)),
                    }
                }
                Served::Opening if begun.elapsed() <= PATIENCE => {}
                Served::Opening => return Err(not_opened(&OpenError::Busy(directory))),
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Every object, as JSON.
    pub async fn list(&self) -> Result<serde_json::Value, Diagnostics> {
        match self {
            Self::At(remote) => remote.get("list").await,
            Self::Here(mock) => Ok(serde_json::to_value(mock.list()).unwrap_or_default()),
        }
    }

    /// Every request, as JSON.
    pub async fn log(&self) -> Result<serde_json::Value, Diagnostics> {
        match self {
            Self::At(remote) => remote.get("log").await,
            Self::Here(mock) => Ok(serde_json::to_value(mock.log()).unwrap_or_default()),
        }
    }

    /// The world's id.
    pub async fn world(&self) -> Result<String, Diagnostics> {
        match self {
            Self::At(remote) => Ok(remote.world().await?.world),
            Self::Here(mock) => Ok(mock.world()),
        }
    }

    /// Begins the world anew.
    pub async fn reset(&self) -> Result<(), Diagnostics> {
        match self {
            Self::At(remote) => {
                let answer = remote.client.post(remote.page("reset")).send().await;
                let answer = answer.and_then(reqwest::Response::error_for_status);
                answer.map(drop).map_err(|e| remote.silent(&e))
            }
            Self::Here(mock) => mock.reset().map(drop).map_err(|e| not_opened(&e)),
        }
    }
}

impl Remote {
    fn new(base: &str) -> Result<Self, Diagnostics> {
        let client = reqwest::Client::builder()
            .no_proxy()
            .connect_timeout(Duration::from_secs(5))
            .timeout(Duration::from_secs(60))
            .build()
            .map_err(|e| {
                Diagnostics::from(Diagnostic::error(
                    "Mock cloud cannot be reached",
                    format!("The HTTP client cannot be set up: {e}."),
                ))
            })?;
        Ok(Self {
            base: base.to_owned(),
            client,
        })
    }

    fn page(&self, name: &str) -> String {
        format!("{}/_mock/{name}", self.base)
    }

    async fn world(&self) -> Result<WorldPage, Diagnostics> {
        self.get("world").await
    }

    async fn get<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<T, Diagnostics> {
        let answer = self.client.get(self.page(name)).send().await;
        let answer = answer.and_then(reqwest::Response::error_for_status);
        match answer {
            Ok(answer) => answer.json().await.map_err(|e| self.silent(&e)),
            Err(error) => Err(self.silent(&error)),
        }
    }

    fn silent(&self, error: &reqwest::Error) -> Diagnostics {
        let mut why = String::new();
        let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
        while let Some(inner) = cause {
            why = inner.to_string();
            cause = inner.source();
        }
        if why.is_empty() {
            why = error.to_string();
        }
        Diagnostic::error(
            "Mock cloud cannot be reached",
            format!(
                "No mock cloud answers at {}: {}.",
                self.base,
                why.trim_end_matches('.')
            ),
        )
        .hint(
            "Start one with `formwork mock serve`, which prints its address, or leave the address \
             out: -mock serves the cloud of this directory itself.",
        )
        .into()
    }
}

fn not_opened(error: &OpenError) -> Diagnostics {
    Diagnostic::error("Mock cloud cannot be opened", error.to_string()).into()
}

/// That the mock cloud cannot listen.
pub fn not_served(error: &std::io::Error) -> Diagnostics {
    Diagnostic::error(
        "Mock cloud cannot be served",
        format!("The mock cloud cannot listen on the loopback interface: {error}."),
    )
    .into()
}
