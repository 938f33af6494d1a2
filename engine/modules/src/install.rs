//! Installing modules while the tree of a configuration grows.
//!
//! Loading asks for the modules of one level of the tree together ([`ModuleFetcher::prepare`]). What is
//! not there, or no longer what is wanted, is fetched: each package once, several at a time, into a
//! folder of this run's own beside where it will stand, and is put in its place by renaming only when it
//! is whole. Between what was there being taken away and the new being in place, the manifest has no
//! entry for the module; so whenever a run is killed, a module is installed or it is not.
//!
//! Each module has a folder of its own, named by its key, as Terraform has it: configurations see these
//! paths (`path.module`). A package that several modules use is fetched once and copied.
//!
//! Runs that install in one folder wait for each other. Those that only read need not.

use crate::address::{Package, Source};
use crate::content;
use crate::fetch::{fetch, off_the_loop};
use crate::http::{Http, Manners};
use crate::installed::{State as FileState, diagnostic};
use crate::manifest::{Entry, Home, Installation, Manifest, Record};
use crate::problem::{Outcome, Problem};
use crate::registry::RegistryModule;
use crate::settings::{Settings, Told};
use crate::wanted::{Wanted, acceptable, key, local, normal, wanted};
use formwork_configuration::{
    Configuration, ModuleFetcher, ModuleRequest, ModuleSource, VersionConstraints,
};
use formwork_diagnostics::Diagnostic;
use futures::StreamExt;
use reqwest::Url;
use semver::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Installs what loading asks for. Dropped without [`Installer::finish`], it leaves installed what it
/// has installed.
pub struct Installer {
    pub(crate) settings: Settings,
    home: Home,
    upgrade: bool,
    progress: Mutex<Progress>,
}

/// What has been done so far.
#[derive(Default)]
pub(crate) struct Progress {
    /// Held while this run installs.
    pub lock: Option<fs::File>,
    /// This run's own folder, taken away at the end.
    pub work: Option<PathBuf>,
    pub manifest: Manifest,
    pub record: Record,
    /// What became of each module that was asked for.
    pub ready: BTreeMap<String, Answered>,
    /// Where a package that was fetched by this run lies, what it came to, and its content.
    pub packages: BTreeMap<Package, Outcome<(PathBuf, String, String)>>,
    pub registries: BTreeMap<String, Outcome<Url>>,
    pub versions: BTreeMap<RegistryModule, Outcome<Vec<Version>>>,
    pub locations: BTreeMap<(RegistryModule, Version), Outcome<Source>>,
    pub fetched: usize,
}

/// What became of a module, asked for in this way. A configuration may be loaded several times in one
/// run; nothing is fetched, and nothing fails, twice.
pub(crate) struct Answered {
    pub asked: Asked,
    pub outcome: Outcome<Entry>,
}

/// A source and what is asked of its version, as they were written.
pub(crate) type Asked = (String, String);

fn asked(request: &ModuleRequest<'_>) -> Asked {
    (
        request.source.to_string(),
        request.version.map(ToString::to_string).unwrap_or_default(),
    )
}

/// A module that must be fetched.
pub(crate) struct Missing<'a> {
    pub key: String,
    /// Its source in normal form.
    pub source: String,
    pub wanted: Wanted,
    pub constraints: Option<&'a VersionConstraints>,
}

/// A module of which it is known what its package is.
pub(crate) struct Located {
    pub key: String,
    pub source: String,
    /// The package as it is told: a registry's module with its version, or the package's own address.
    pub title: String,
    pub version: String,
    pub package: Package,
    pub subdirectory: Option<String>,
}

impl Progress {
    /// Notes what became of a module that was asked for.
    pub fn answer(&mut self, key: &str, outcome: Outcome<Entry>) {
        if let Some(answered) = self.ready.get_mut(key) {
            answered.outcome = outcome;
        }
    }
}

impl Installer {
    /// Makes everything ready; nothing is touched. With `upgrade` everything is fetched anew, in the
    /// newest version that will do.
    pub fn new(settings: Settings, upgrade: bool) -> Self {
        let home = Home::new(&settings.environment.working, &settings.data_directory);
        Self {
            settings,
            home,
            upgrade,
            progress: Mutex::default(),
        }
    }

    pub(crate) fn progress(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the manifest of a tree. After an error in it (`complete` is false) what earlier runs
    /// installed stays noted; else what nobody needs any more is taken away.
    ///
    /// # Errors
    /// That it could not be written.
    pub fn finish(
        &self,
        configuration: &Configuration,
        complete: bool,
    ) -> Result<Manifest, Box<Diagnostic>> {
        self.conclude(configuration, complete)
            .map_err(|p| Box::new(diagnostic(p)))
    }

    fn conclude(&self, configuration: &Configuration, complete: bool) -> Outcome<Manifest> {
        let mut entries = BTreeMap::new();
        {
            let progress = self.progress();
            let modules = configuration.modules().count();
            if modules <= 1 && progress.ready.is_empty() && !self.home.manifest().exists() {
                return Ok(Manifest::default());
            }
            let called: BTreeSet<String> = configuration.modules().map(|(p, _)| key(p)).collect();
            for entry in progress.ready.values().flat_map(|a| &a.outcome) {
                // Those of tests are asked for like others, and stand in no configuration.
                let of_tests = entry.key.starts_with("test.");
                if !complete || of_tests || called.contains(&entry.key) {
                    entries.insert(entry.key.clone(), entry.clone());
                }
            }
        }
        entries.insert(
            String::new(),
            Entry {
                key: String::new(),
                source: String::new(),
                version: String::new(),
                directory: ".".to_owned(),
            },
        );
        for (path, module) in configuration.modules() {
            let key = key(path);
            if entries.contains_key(&key) {
                continue;
            }
            let Some((_, call)) = configuration.call_of(path) else {
                continue;
            };
            let ModuleSource::Local(text) = &call.source else {
                continue;
            };
            entries.insert(
                key.clone(),
                Entry {
                    key,
                    source: local(text),
                    version: String::new(),
                    directory: module.directory.to_string_lossy().into_owned(),
                },
            );
        }
        self.alone_now()?;
        let mut progress = self.progress();
        if !complete {
            for (key, entry) in &progress.manifest.entries {
                entries.entry(key.clone()).or_insert_with(|| entry.clone());
            }
        }
        let manifest = Manifest { entries };
        let stale: Vec<String> = progress
            .record
            .packages
            .keys()
            .filter(|key| !manifest.entries.contains_key(*key))
            .cloned()
            .collect();
        for key in &stale {
            progress.record.packages.remove(key);
        }
        self.home.write(&manifest, &progress.record)?;
        progress.manifest = manifest.clone();
        for key in &stale {
            // it is named nowhere any more; what cannot be removed harms nobody
            let _ = fs::remove_dir_all(self.home.package(key));
        }
        if let Some(work) = progress.work.take() {
            let _ = fs::remove_dir_all(work);
        }
        progress.packages.clear();
        progress.lock = None;
        Ok(manifest)
    }

    /// Waits, on this thread, until no other run installs here.
    fn alone_now(&self) -> Outcome<()> {
        blocking(&self.settings, async || self.alone().await)
    }

    /// Waits until no other run installs here, clears up after those that were killed, and reads what is
    /// installed.
    async fn alone(&self) -> Outcome<()> {
        if self.progress().lock.is_some() {
            return Ok(());
        }
        let failed = |e: std::io::Error| {
            Problem::new(
                "Failed to prepare module directory",
                format!("{} cannot be worked in: {e}.", self.home.shown.display()),
            )
        };
        fs::create_dir_all(&self.home.path).map_err(failed)?;
        let path = self.home.path.join(".formwork.lock");
        let file = fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(failed)?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(fs::TryLockError::WouldBlock) => {}
                Err(fs::TryLockError::Error(e)) => return Err(failed(e)),
            }
            if !told {
                (self.settings.tell)(Told::Waiting);
                told = true;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        for entry in fs::read_dir(&self.home.path).map_err(failed)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(WORK) {
                // whose it was is gone: we are alone
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let manifest = self.home.read_manifest()?;
        let record = self.home.read_record();
        let mut progress = self.progress();
        progress.manifest = manifest;
        progress.record = record;
        progress.lock = Some(file);
        Ok(())
    }

    /// A new folder within this run's own.
    fn room(&self) -> Outcome<PathBuf> {
        let mut progress = self.progress();
        progress.fetched += 1;
        let number = progress.fetched;
        let work = progress
            .work
            .get_or_insert_with(|| {
                self.home
                    .path
                    .join(format!("{WORK}{}", self.settings.environment.uuid()))
            })
            .join(number.to_string());
        fs::create_dir_all(&work)
            .map_err(|e| Problem::local("A folder for what is fetched cannot be made", &e))?;
        Ok(work)
    }

    async fn bring(&self, requests: &[ModuleRequest<'_>]) -> Outcome<()> {
        self.alone().await?;
        let mut missing = Vec::new();
        for request in requests {
            let key = key(&request.path());
            let asked = asked(request);
            if let Some(answered) = self.progress().ready.get(&key)
                && answered.asked == asked
            {
                continue;
            }
            let there = wanted(request.source).map(|(source, wanted)| {
                let there = self.there(&key, &source, request.version);
                (source, wanted, there)
            });
            let outcome = match there {
                Err(problem) => Err(problem),
                Ok((_, _, Some(entry))) => Ok(entry),
                Ok((source, wanted, None)) => {
                    missing.push(Missing {
                        key: key.clone(),
                        source,
                        wanted,
                        constraints: request.version,
                    });
                    Err(stopped())
                }
            };
            self.progress()
                .ready
                .insert(key, Answered { asked, outcome });
        }
        if missing.is_empty() {
            return Ok(());
        }
        let http = Http::new(
            &Manners {
                user_agent: self.settings.user_agent.clone(),
                patience: self.settings.patience,
                pause: self.settings.pause,
            },
            self.settings.limits,
        )?;
        let located = self.locate(missing, &http).await;
        self.download(&located, &http).await;
        self.place(located).await
    }

    /// The entry of a module that is installed as it should be.
    fn there(
        &self,
        key: &str,
        source: &str,
        constraints: Option<&VersionConstraints>,
    ) -> Option<Entry> {
        let progress = self.progress();
        if self.upgrade {
            return None;
        }
        let entry = progress.manifest.entries.get(key)?.clone();
        if normal(&entry.source) != source || !acceptable(&entry.version, constraints) {
            return None;
        }
        match self
            .home
            .state(&self.settings.environment.working, &entry, &progress.record)
        {
            FileState::Whole | FileState::Unknown => Some(entry),
            FileState::Gone => None,
            FileState::Changed => {
                (self.settings.tell)(Told::Damaged {
                    module: key.to_owned(),
                });
                None
            }
        }
    }

    /// Fetches every package that is not there yet.
    async fn download(&self, located: &[Located], http: &Http) {
        let mut wanted: BTreeMap<&Package, Vec<&Located>> = BTreeMap::new();
        for l in located {
            wanted.entry(&l.package).or_default().push(l);
        }
        let wanted: Vec<(&Package, Vec<&Located>)> = {
            let progress = self.progress();
            wanted
                .into_iter()
                .filter(|(package, _)| !progress.packages.contains_key(package))
                .collect()
        };
        for (_, users) in &wanted {
            if let Some(first) = users.first() {
                (self.settings.tell)(Told::Fetching {
                    package: first.title.clone(),
                    modules: users.iter().map(|l| l.key.clone()).collect(),
                });
            }
        }
        let packages: Vec<Package> = wanted.into_iter().map(|(p, _)| p.clone()).collect();
        let fetched = self
            .together(packages, async |package: &Package| {
                let room = self.room()?;
                let (folder, resolved) = fetch(package, &room, http, &self.settings).await?;
                let root = folder.clone();
                let content = off_the_loop(move || {
                    content::content(&root)
                        .map_err(|e| Problem::local("What was fetched cannot be read", &e))
                })
                .await?;
                Ok((folder, resolved, content))
            })
            .await;
        self.progress().packages.extend(fetched);
    }

    /// Puts fetched packages where their modules are looked for.
    async fn place(&self, located: Vec<Located>) -> Outcome<()> {
        let mut placing = Vec::new();
        {
            let mut progress = self.progress();
            let mut dropped = false;
            for l in located {
                match progress.packages.get(&l.package).cloned() {
                    Some(Ok(fetched)) => {
                        dropped |= progress.manifest.entries.remove(&l.key).is_some();
                        dropped |= progress.record.packages.remove(&l.key).is_some();
                        placing.push((l, fetched));
                    }
                    Some(Err(problem)) => {
                        progress.answer(&l.key, Err(problem));
                    }
                    None => progress.answer(&l.key, Err(stopped())),
                }
            }
            if dropped {
                self.home.write(&progress.manifest, &progress.record)?;
            }
        }
        let mut done = Vec::new();
        for (l, (folder, resolved, content)) in placing {
            let outcome = self.settle_in(&l, folder, resolved, content).await;
            done.push((l.key, outcome));
        }
        let mut progress = self.progress();
        for (key, outcome) in done {
            let outcome = outcome.map(|(entry, installation)| {
                progress.manifest.entries.insert(key.clone(), entry.clone());
                progress.record.packages.insert(key.clone(), installation);
                (self.settings.tell)(Told::Installed {
                    module: key.clone(),
                    directory: PathBuf::from(&entry.directory),
                });
                entry
            });
            progress.answer(&key, outcome);
        }
        self.home.write(&progress.manifest, &progress.record)
    }

    /// One module into its place.
    async fn settle_in(
        &self,
        l: &Located,
        folder: PathBuf,
        resolved: String,
        content: String,
    ) -> Outcome<(Entry, Installation)> {
        let subdirectory = match &l.subdirectory {
            None => None,
            Some(sub) => {
                let sub = content::expand(&folder, sub)?;
                if !folder.join(&sub).is_dir() {
                    return Err(Problem::new(
                        "Unreadable module subdirectory",
                        format!("The package {} has no directory \"{sub}\".", l.title),
                    ));
                }
                Some(sub)
            }
        };
        let room = self.room()?;
        let target = self.home.package(&l.key);
        let signature = off_the_loop(move || {
            let failed = |e| Problem::local("A module cannot be put in its place", &e);
            let staged = room.join("new");
            // copied, not moved: the next level may want the same package
            content::copy(&folder, &staged).map_err(failed)?;
            if fs::symlink_metadata(&target).is_ok() {
                fs::rename(&target, room.join("old")).map_err(failed)?;
            }
            fs::rename(&staged, &target).map_err(failed)?;
            content::signature(&target).map_err(failed)
        })
        .await?;
        let mut directory = self.home.shown.join(self.home.folder_name(&l.key));
        if let Some(sub) = &subdirectory {
            directory.push(sub);
        }
        Ok((
            Entry {
                key: l.key.clone(),
                source: l.source.clone(),
                version: l.version.clone(),
                directory: directory.to_string_lossy().into_owned(),
            },
            Installation {
                package: l.title.clone(),
                resolved,
                content,
                signature,
            },
        ))
    }

    /// Does something with each of several things, some at a time; answers in their order.
    pub(crate) async fn together<T, R>(
        &self,
        things: Vec<T>,
        work: impl AsyncFn(&T) -> Outcome<R>,
    ) -> Vec<(T, Outcome<R>)> {
        let work = &work;
        futures::stream::iter(things)
            .map(|thing| async move {
                let answer = work(&thing).await;
                (thing, answer)
            })
            .buffered(self.settings.parallelism.max(1))
            .collect()
            .await
    }
}

/// How this run's own folder is named.
const WORK: &str = ".fetch-";

pub(crate) fn stopped() -> Problem {
    Problem::failed("The run was stopped before the module was fetched.")
}

/// Runs something asynchronous to its end, or until the run is to stop. Loading is synchronous, and
/// may itself stand within an asynchronous run; so this has a thread and a runtime of its own.
pub(crate) fn blocking<R: Send>(
    settings: &Settings,
    work: impl AsyncFnOnce() -> Outcome<R> + Send,
) -> Outcome<R> {
    let cancelled = settings.cancelled.clone();
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Problem::local("Fetching cannot be begun", &e))?;
        let outcome = runtime.block_on(async {
            let stop = async {
                while !cancelled() {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            tokio::select! {
                outcome = work() => outcome,
                () = stop => Err(stopped()),
            }
        });
        // what unpacks is let end: it writes into a folder that is taken away afterwards
        drop(runtime);
        outcome
    };
    std::thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|_| {
        Err(Problem::failed(
            "Fetching stopped half-way. This is a fault of Formwork.",
        ))
    })
}

impl ModuleFetcher for Installer {
    fn prepare(&self, requests: &[ModuleRequest<'_>]) {
        if requests.is_empty() {
            return;
        }
        if let Err(problem) = blocking(&self.settings, async || self.bring(requests).await) {
            let mut progress = self.progress();
            for request in requests {
                let asked = asked(request);
                let answered = progress.ready.get(&key(&request.path()));
                let done = answered.is_some_and(|a| a.asked == asked && a.outcome.is_ok());
                if !done {
                    let outcome = Err(problem.clone());
                    let answered = Answered { asked, outcome };
                    progress.ready.insert(key(&request.path()), answered);
                }
            }
        }
    }

    fn package(&self, request: &ModuleRequest<'_>) -> Option<PathBuf> {
        let progress = self.progress();
        let answered = progress.ready.get(&key(&request.path()))?;
        let entry = answered.outcome.as_ref().ok()?;
        self.home.bounds(entry)
    }

    fn directory(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Box<Diagnostic>> {
        let outcome = self
            .progress()
            .ready
            .get(&key(&request.path()))
            .map_or_else(|| Err(stopped()), |a| a.outcome.clone());
        match outcome {
            Ok(entry) => Ok(entry.directory.into()),
            Err(problem) => {
                let whose = format!("The module \"{}\" cannot be installed. ", request.call.name);
                let detail = format!("{whose}{}", problem.detail);
                Err(Box::new(diagnostic(Problem { detail, ..problem })))
            }
        }
    }
}

impl Drop for Installer {
    fn drop(&mut self) {
        if let Some(work) = self.progress().work.take() {
            let _ = fs::remove_dir_all(work);
        }
    }
}

/// Where nothing is to be installed, but packages are fetched all the same.
pub(crate) fn fetch_alone(
    source: &Source,
    into: &Path,
    settings: &Settings,
) -> Outcome<(PathBuf, Option<String>)> {
    blocking(settings, async || {
        let http = Http::new(
            &Manners {
                user_agent: settings.user_agent.clone(),
                patience: settings.patience,
                pause: settings.pause,
            },
            settings.limits,
        )?;
        (settings.tell)(Told::Fetching {
            package: source.package.to_string(),
            modules: Vec::new(),
        });
        let (folder, _) = fetch(&source.package, into, &http, settings).await?;
        let sub = match &source.subdirectory {
            None => None,
            Some(sub) => Some(content::expand(&folder, sub)?),
        };
        Ok((folder, sub))
    })
}
