//! What fetching is handed.

use crate::archive::Limits;
use formwork_environment::Environment;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Gives tokens for Google Cloud Storage.
#[async_trait::async_trait]
pub trait GoogleTokens: Send + Sync {
    /// A token; `None` where there is no account to speak for.
    ///
    /// # Errors
    /// Why there is none though there should be one.
    async fn token(&self) -> Result<Option<String>, String>;
}

/// Something to tell while modules are installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// A package is being fetched.
    Fetching {
        /// The package without credentials, with its version if it has one.
        package: String,
        /// The modules that want it.
        modules: Vec<String>,
    },
    /// A module lies ready, newly.
    Installed {
        /// Its key.
        module: String,
        /// Its directory.
        directory: PathBuf,
    },
    /// A module's files are not those that were fetched, so it is fetched again.
    Damaged {
        /// Its key.
        module: String,
    },
    /// Somebody else is installing modules here, and is waited for.
    Waiting,
}

/// Where and how modules are fetched.
#[derive(Clone)]
pub struct Settings {
    /// Variables, directories, randomness.
    pub environment: Environment,
    /// The directory of working data, from the working directory: `.terraform`.
    pub data_directory: PathBuf,
    /// Tokens by host. Tokens in the environment (`TF_TOKEN_...`) come first.
    pub credentials: BTreeMap<String, String>,
    /// Addresses of services by host, instead of those that the host itself would name.
    pub services: BTreeMap<String, BTreeMap<String, String>>,
    /// Tokens for Google Cloud Storage.
    pub google: Option<Arc<dyn GoogleTokens>>,
    /// How much a package may be.
    pub limits: Limits,
    /// How many packages are fetched at once; at least 1.
    pub parallelism: usize,
    /// How long an answer may be waited for.
    pub patience: Duration,
    /// How long before a failed request is made again.
    pub pause: Duration,
    /// Whether repositories of this machine (`git::file://`) may be fetched from.
    pub own_files: bool,
    /// What we call ourselves to servers.
    pub user_agent: String,
    /// Whether to stop.
    pub cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Where progress is told.
    pub tell: Arc<dyn Fn(Told) + Send + Sync>,
}

impl fmt::Debug for Settings {
    /// Without credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("environment", &self.environment)
            .field("data_directory", &self.data_directory)
            .field("credentials", &self.credentials.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Settings with nothing special in them.
    pub fn new(environment: Environment, data_directory: impl Into<PathBuf>) -> Self {
        Self {
            environment,
            data_directory: data_directory.into(),
            credentials: BTreeMap::new(),
            services: BTreeMap::new(),
            google: None,
            limits: Limits::default(),
            parallelism: 10,
            patience: Duration::from_secs(60),
            pause: Duration::from_secs(1),
            own_files: true,
            user_agent: concat!("formwork/", env!("CARGO_PKG_VERSION")).to_owned(),
            cancelled: Arc::new(|| false),
            tell: Arc::new(|_| {}),
        }
    }

    /// The environment variable that holds a host's token: dots are underscores, hyphens two.
    pub(crate) fn token_variable(host: &str) -> String {
        format!(
            "TF_TOKEN_{}",
            host.replace('-', "__").replace(['.', ':'], "_")
        )
    }

    /// The token for a host.
    pub(crate) fn token(&self, host: &str) -> Option<String> {
        // a hyphen may also stand as it is, where the shell allows that
        let exact = format!("TF_TOKEN_{}", host.replace(['.', ':'], "_"));
        [Self::token_variable(host), exact]
            .iter()
            .find_map(|name| self.environment.variable(name))
            .map(str::to_owned)
            .or_else(|| self.credentials.get(host).cloned())
    }
}
