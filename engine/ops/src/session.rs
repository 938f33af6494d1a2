//! What a run is handed.

use crate::test::Trial;
use formwork_configuration::{InputLayer, LanguageLevel, ModuleFetcher, SourceReader};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_environment::Environment;
use formwork_eval::Confinement;
use formwork_graph::Cancellation;
use formwork_plan::{ChangeSummary, EventSink, Plan};
use formwork_provider::{ProviderFactory, Providers};
use formwork_state::{Sleeper, StateStores};
use futures::future::Either;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How a run is to go.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many operations run at a time; at least 1.
    pub parallelism: usize,
    /// Whether to lock the state.
    pub lock: bool,
    /// How long to wait for the lock.
    pub lock_timeout: Duration,
    /// Whether what is planned is applied at once: so it is told to those who wait for the lock.
    pub applies: bool,
    /// How long an interrupted apply waits for operations whose end the next run can find out, before it
    /// leaves them running.
    pub detach_after: Duration,
    /// What former rounds of this run have done; the sentence at its end counts it, too.
    pub done: ChangeSummary,
    /// The language level claimed.
    pub level: LanguageLevel,
    /// Version of Formwork.
    pub tool_version: String,
    /// `terraform.workspace`.
    pub workspace: String,
    /// Where the command was called, for `path.cwd`; the working directory if it went nowhere else
    /// first.
    pub called_in: Option<PathBuf>,
    /// The directory within which functions may read files; anywhere without.
    pub files_within: Option<Arc<Confinement>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            parallelism: 10,
            lock: true,
            lock_timeout: Duration::ZERO,
            detach_after: Duration::from_secs(10),
            applies: false,
            done: ChangeSummary::default(),
            level: LanguageLevel::default(),
            tool_version: String::new(),
            workspace: "default".to_owned(),
            called_in: None,
            files_within: None,
        }
    }
}

/// Rules over a plan that the composition root wants judged.
pub type Judge = dyn Fn(&Plan) -> Diagnostics + Send + Sync;

/// Everything a run is handed.
#[derive(Clone)]
pub struct Session {
    /// Variables, directories, clock, randomness.
    pub environment: Environment,
    /// Where configuration files come from; paths relative to the working directory.
    pub reader: Arc<dyn SourceReader + Send + Sync>,
    /// Where modules other than local ones come from.
    pub fetcher: Arc<dyn ModuleFetcher + Send + Sync>,
    /// The configuration, if it was read before ([`crate::read_configuration`]) with the same reader,
    /// fetcher and inputs; else it is read when it is needed.
    pub read: Option<Arc<crate::ReadConfiguration>>,
    /// Who makes providers.
    pub factory: Arc<dyn ProviderFactory>,
    /// Where the state is.
    pub store: Arc<dyn StateStores>,
    /// Waiting.
    pub sleeper: Arc<dyn Sleeper>,
    /// Identity of the mock cloud; `None` for the real one.
    pub cloud: Option<String>,
    /// Values of root variables, lowest layer first.
    pub inputs: Vec<InputLayer>,
    /// The files that those were read from; ranges in `inputs` are ranges of this map, and every map
    /// of files that an operation gives back begins with it.
    pub sources: SourceMap,
    /// Rules over plans.
    pub judge: Arc<Judge>,
    /// Where events go.
    pub events: Arc<dyn EventSink>,
    /// A request to stop.
    pub cancel: Cancellation,
    /// How the run is to go.
    pub settings: Settings,
    /// The run of a test that this is, if it is one.
    pub trial: Option<Arc<Trial>>,
}

impl Session {
    /// Does work that waits for providers. The first request to stop is passed on to them, once, so that
    /// they may end what they can; the work is waited for all the same.
    pub(crate) async fn stoppable<T>(
        &self,
        providers: &Providers,
        work: impl Future<Output = T>,
    ) -> T {
        let work = std::pin::pin!(work);
        let stop = std::pin::pin!(async {
            self.cancel.cancelled().await;
            providers.stop().await;
            std::future::pending::<()>().await;
        });
        match futures::future::select(work, stop).await {
            Either::Left((done, _)) => done,
            Either::Right(((), work)) => work.await,
        }
    }

    /// The same for work that changes nothing. Once stopping has been asked for, providers have as long as
    /// operations have that are not waited for; then the work is left, and nothing comes of it.
    pub(crate) async fn endable<T>(
        &self,
        providers: &Providers,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let work = std::pin::pin!(self.stoppable(providers, work));
        let patience = std::pin::pin!(async {
            self.cancel.cancelled().await;
            tokio::time::sleep(self.settings.detach_after).await;
        });
        match futures::future::select(work, patience).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(((), _)) => None,
        }
    }

    /// What is said of work that was left.
    pub(crate) fn unanswered(&self) -> Diagnostics {
        Diagnostic::error(
            "Planning was interrupted",
            format!(
                "A provider had not answered {} seconds after it was asked to stop, and was left. Nothing was \
                 changed.",
                self.settings.detach_after.as_secs()
            ),
        )
        .into()
    }

    /// Where the command was called, which `-chdir` does not change.
    pub(crate) fn called_in(&self) -> &Path {
        let called_in = self.settings.called_in.as_deref();
        called_in.unwrap_or(&self.environment.working)
    }
}
