//! An operation's hands: everything that `ops` wants to be given, made from arguments and settings.

use crate::arguments::{Inputs, Locking, Planning, Reading, Variables};
use crate::backend::{self, Found};
use crate::inputs::{Values, gather};
use crate::mock::{self, MockCloud};
use crate::modules;
use crate::preview::Preview;
use crate::progress::{Foot, Teller};
use crate::providers::NativeProviders;
use crate::runtime::{Interrupts, RuntimeSleeper};
use crate::session::{Session, exit};
use formwork_addresses::ProviderAddr;
use formwork_configuration::{ModuleFetcher, disclose_undecided};
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_ops::Settings;
use formwork_plan::{ChangeSummary, Plan};
use formwork_state_backends::{Backup, DEFAULT_WORKSPACE, Place};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What a command says about how its operation is to go.
#[derive(Default)]
pub struct Wanted<'a> {
    /// Values for variables, for commands that evaluate.
    pub variables: Option<&'a Variables>,
    /// Values for variables, for commands that only look for the state: where it is may depend on them.
    pub inputs: Option<&'a Inputs>,
    /// Whether they matter only where they are needed before anything is planned, such as for the
    /// source of a module: no others are asked for, and what is wrong with them is not said.
    pub early: bool,
    /// How the configuration is read.
    pub reading: Reading,
    /// How the state is locked; `None` where nothing is locked.
    pub locking: Option<Locking>,
    /// Whether what is planned is applied at once.
    pub applies: bool,
    /// How many objects are worked on at once.
    pub parallelism: Option<usize>,
    /// The file of the state, if it was named.
    pub state: Option<PathBuf>,
    /// Where the former state is kept, if it was named.
    pub backup: Option<PathBuf>,
    /// A plan whose own configuration and versions are to be used.
    pub plan: Option<&'a Plan>,
    /// Whether only what changes something or goes wrong is told while it happens.
    pub concise: bool,
    /// Whether standard output belongs to a program: nothing but the answer is written to it.
    pub for_program: bool,
    /// Whether answers are taken from standard input where that is no terminal, too.
    pub piped_answers: bool,
    /// Whether the operation needs no cloud at all, but for the one that keeps its state.
    pub no_cloud: bool,
    /// Whether the operation has nothing to do with the state.
    pub no_state: bool,
    /// Whether the configuration is only looked at, so that values of variables may be missing.
    pub partial: bool,
    /// Where modules come from; from where they are installed without.
    pub fetcher: Option<Fetcher>,
}

/// Where modules come from.
pub type Fetcher = Arc<dyn ModuleFetcher + Send + Sync>;

impl<'a> Wanted<'a> {
    /// As plan and apply have it.
    pub fn planning(planning: &'a Planning) -> Self {
        Self {
            variables: Some(&planning.variables),
            reading: planning.reading.clone(),
            locking: Some(planning.locking.clone()),
            parallelism: Some(planning.parallelism),
            state: planning.state.clone(),
            concise: planning.concise,
            piped_answers: !planning.streaming.json,
            ..Self::default()
        }
    }
}

/// An operation about to be run.
pub struct Operation {
    /// What `ops` is given.
    pub ops: formwork_ops::Session,
    /// The configuration as it was looked at.
    pub preview: Preview,
    /// Where the states of the configuration are.
    pub place: Place,
    /// The board at the foot of the terminal, if there is one.
    pub foot: Option<Arc<Foot>>,
    cloud: Option<MockCloud>,
}

/// Why an operation cannot begin, and the files that it points into.
pub type Refusal = Box<(Diagnostics, SourceMap)>;

impl Operation {
    /// Makes everything ready. What there is to say by then is in the answer.
    ///
    /// # Errors
    /// Why the operation cannot begin.
    pub async fn begin(
        session: &Session,
        interrupts: &Interrupts,
        wanted: &Wanted<'_>,
    ) -> Result<(Self, Diagnostics), Refusal> {
        let refuse = |said, sources: &SourceMap| Box::new((said, sources.clone()));
        let nothing = Inputs::default();
        let inputs = wanted.variables.map(|v| &v.inputs).or(wanted.inputs);
        let inputs = inputs.unwrap_or(&nothing);
        let (mut values, said) = gather(session, inputs);
        let early = wanted.early || wanted.variables.is_none();
        let unreadable = said.has_errors() && !(early && inputs.0.is_empty());
        let fetcher = wanted.fetcher.clone();
        let fetcher = fetcher.unwrap_or_else(|| Arc::new(modules::installed(session)));
        let reader = session.reader();
        let given = |values: &Values| {
            let read = formwork_ops::read_configuration(&formwork_ops::Reading {
                environment: &session.environment,
                reader: reader.clone(),
                fetcher: fetcher.clone(),
                level: session.level(wanted.reading.strict_version),
                inputs: &values.layers,
                sources: &values.sources,
                workspace: &session.workspace(),
                called_in: &session.called_in,
                files_within: session.files_within.clone(),
                partial: wanted.partial,
            });
            // Never freed: the process ends with the operation, and taking a large configuration apart
            // node by node costs as much as reading it.
            std::mem::forget(read.clone());
            read
        };
        if unreadable {
            // what is wrong with a value is shown if its declaration says that it is no secret
            if wanted.plan.is_none() {
                let read = given(&values);
                if let Some(root) = Preview::of(&read).configuration.root() {
                    disclose_undecided(root, &mut values.sources);
                }
            }
            return Err(refuse(said, &values.sources));
        }
        let detach_after = session
            .detach_after()
            .map_err(|said| refuse(said, &values.sources))?;
        let mut read = None;
        let mut preview = match wanted.plan {
            Some(plan) => Preview::of_plan(session, plan),
            None => Preview::of(read.insert(given(&values))),
        };
        let asked = wanted.variables.and_then(|v| v.input);
        let may_ask =
            asked.unwrap_or(session.may_ask) && (wanted.piped_answers || session.terminal.input);
        if wanted.variables.is_some() && wanted.plan.is_none() && may_ask {
            // What answers have led to may need more of them.
            while preview.can_be_asked_for() && values.ask(session, &preview, wanted.early) {
                preview = Preview::of(read.insert(given(&values)));
            }
        }
        let found = if wanted.no_state {
            Ok(Found {
                place: Place::default(),
                workspace: DEFAULT_WORKSPACE.to_owned(),
            })
        } else {
            let edits = wanted.locking.is_some();
            backend::find(session, &preview, wanted.state.as_deref(), edits)
        };
        let Found {
            mut place,
            workspace,
        } = found.map_err(|said| refuse(said, &preview.sources))?;
        let cloud = if wanted.no_cloud && !session.mock_backend {
            None
        } else {
            MockCloud::of(session)
                .await
                .map_err(|said| refuse(said, &preview.sources))?
        };
        let made = async {
            if let Some(cloud) = &cloud {
                cloud.open_backend(&mut place).await?;
            }
            let providers = NativeProviders::new(session, cloud.as_ref(), &preview)?
                .with_running(interrupts.running().clone());
            let backup = match &wanted.backup {
                None => Backup::Beside,
                Some(path) if path == Path::new("-") => Backup::None,
                Some(path) => Backup::At(path.clone()),
            };
            let store = place.store(&session.environment, &workspace, backup)?;
            Ok((providers, store))
        };
        let (mut providers, store) = match made.await {
            Ok(made) => made,
            Err(said) => {
                if let Some(cloud) = cloud {
                    cloud.leave().await;
                }
                return Err(refuse(said, &preview.sources));
            }
        };
        if let Some(plan) = wanted.plan {
            providers = providers.with_planned(versions(plan));
        }
        if session.is_mock()
            && !wanted.no_state
            && wanted.state.is_none()
            && let Ok(Some(state)) = place.file(&workspace)
            && let Some(folder) = session.environment.working.join(&state).parent()
        {
            // what cannot be made here is told when the state is written
            let _ = mock::prepare(&session.environment);
            let _ = std::fs::create_dir_all(folder);
        }
        let locking = wanted.locking.as_ref();
        let facts = providers.facts().clone();
        let parallelism = wanted.parallelism.unwrap_or(10);
        let teller = Teller::new(session, wanted.for_program, wanted.concise, parallelism);
        let foot = teller.foot();
        let ops = formwork_ops::Session {
            environment: session.environment.clone(),
            reader,
            fetcher,
            read,
            factory: Arc::new(providers),
            store,
            sleeper: Arc::new(RuntimeSleeper),
            cloud: cloud.as_ref().map(|c| c.world.clone()),
            inputs: values.layers,
            sources: values.sources,
            judge: Arc::new(move |plan: &Plan| formwork_review::review(plan, &facts)),
            events: Arc::new(teller),
            cancel: interrupts.cancellation().clone(),
            settings: Settings {
                parallelism,
                lock: locking.is_none_or(|l| l.lock),
                lock_timeout: locking.map_or(Duration::ZERO, |l| l.lock_timeout),
                applies: wanted.applies,
                detach_after,
                level: session.level(wanted.reading.strict_version),
                tool_version: crate::commands::VERSION.to_owned(),
                workspace: session.workspace(),
                called_in: Some(session.called_in.clone()),
                files_within: session.files_within.clone(),
                done: ChangeSummary::default(),
            },
            trial: None,
        };
        let operation = Self {
            ops,
            preview,
            place,
            foot,
            cloud,
        };
        Ok((operation, said))
    }

    /// Turns a place to the mock cloud's own storage, if there is one that keeps states.
    ///
    /// # Errors
    /// Why its bucket cannot be made.
    pub async fn open_in_mock(
        &self,
        session: &Session,
        place: &mut Place,
    ) -> Result<(), Diagnostics> {
        match &self.cloud {
            Some(cloud) if session.mock_backend => cloud.open_backend(place).await,
            _ => Ok(()),
        }
    }

    /// Ends what was begun for it.
    pub async fn end(self) {
        drop(self.ops);
        if let Some(cloud) = self.cloud {
            cloud.leave().await;
        }
    }
}

/// Says why an operation could not begin.
pub fn refused(session: &Session, refusal: &Refusal) -> u8 {
    session.say(&refusal.0, &refusal.1);
    exit::FAILURE
}

fn versions(plan: &Plan) -> BTreeMap<ProviderAddr, String> {
    let all = plan.providers.iter();
    all.map(|p| (p.config.provider.clone(), p.version.clone()))
        .collect()
}
