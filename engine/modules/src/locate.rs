//! Where packages are: registries are asked for versions and places, once each.

use crate::address::{Address, Source, clean_subdirectory};
use crate::http::Http;
use crate::install::{Installer, Located, Missing, stopped};
use crate::problem::{Outcome, Problem};
use crate::registry::{self, RegistryModule};
use crate::wanted::{Wanted, titled};
use formwork_configuration::VersionConstraints;
use reqwest::Url;
use semver::Version;
use std::collections::{BTreeMap, BTreeSet};

impl Installer {
    /// Finds out, of modules from registries, which version is wanted and where it is.
    pub(crate) async fn locate(&self, missing: Vec<Missing<'_>>, http: &Http) -> Vec<Located> {
        let settings = &self.settings;
        let modules: BTreeSet<RegistryModule> = missing
            .iter()
            .filter_map(|m| match &m.wanted {
                Wanted::Registry { module, .. } => Some(module.clone()),
                Wanted::Package(_) => None,
            })
            .collect();
        let hosts: BTreeSet<String> = modules.iter().map(|m| m.host.clone()).collect();
        let unknown: Vec<String> = {
            let progress = self.progress();
            hosts
                .into_iter()
                .filter(|h| !progress.registries.contains_key(h))
                .collect()
        };
        let answers = self
            .together(unknown, async |host: &String| {
                registry::discover(host, http, settings).await
            })
            .await;
        self.progress().registries.extend(answers);

        let unknown: Vec<(RegistryModule, Url)> = {
            let progress = self.progress();
            modules
                .into_iter()
                .filter(|m| !progress.versions.contains_key(m))
                .filter_map(|m| {
                    let base = progress.registries.get(&m.host)?.clone().ok()?;
                    Some((m, base))
                })
                .collect()
        };
        let answers = self
            .together(unknown, async |(module, base): &(RegistryModule, Url)| {
                registry::versions(base, module, http, settings).await
            })
            .await;
        self.progress().versions.extend(
            answers
                .into_iter()
                .map(|((module, _), answer)| (module, answer)),
        );

        // the version of each module, and then where those are
        let mut chosen = Vec::new();
        for m in missing {
            let choice = match &m.wanted {
                Wanted::Package(_) => Ok(None),
                Wanted::Registry { module, .. } => self.choose(module, m.constraints).map(Some),
            };
            match choice {
                Ok(choice) => chosen.push((m, choice)),
                Err(problem) => {
                    self.progress().answer(&m.key, Err(problem));
                }
            }
        }
        let unknown: Vec<(RegistryModule, Version, Url)> = {
            let progress = self.progress();
            let mut all: BTreeMap<(RegistryModule, Version), Url> = BTreeMap::new();
            for (m, choice) in &chosen {
                if let (Wanted::Registry { module, .. }, Some((version, base))) =
                    (&m.wanted, choice)
                {
                    let place = (module.clone(), version.clone());
                    if !progress.locations.contains_key(&place) {
                        all.insert(place, base.clone());
                    }
                }
            }
            all.into_iter().map(|((m, v), b)| (m, v, b)).collect()
        };
        let answers = self
            .together(
                unknown,
                async |(module, version, base): &(RegistryModule, Version, Url)| {
                    let text = registry::location(base, module, version, http, settings).await?;
                    Source::parse(&text).map_err(|why| {
                    Problem::failed(format!(
                        "The registry at {} says that version {version} is at \"{}\", but {why}.",
                        module.host,
                        Address::new(text)
                    ))
                })
                },
            )
            .await;
        self.progress().locations.extend(
            answers
                .into_iter()
                .map(|((m, v, _), answer)| ((m, v), answer)),
        );

        let mut located = Vec::new();
        for (m, choice) in chosen {
            let found = match (m.wanted, choice) {
                (Wanted::Package(source), _) => Ok(Located {
                    title: source.package.to_string(),
                    key: m.key.clone(),
                    source: m.source,
                    version: String::new(),
                    package: source.package,
                    subdirectory: source.subdirectory,
                }),
                (
                    Wanted::Registry {
                        module,
                        subdirectory,
                    },
                    Some((version, _)),
                ) => {
                    let place = (module.clone(), version.clone());
                    let location = self.progress().locations.get(&place).cloned();
                    match location {
                        Some(Ok(at)) => joined(at.subdirectory.as_deref(), subdirectory.as_deref())
                            .map(|subdirectory| Located {
                                title: titled(&module.to_string(), &version.to_string()),
                                key: m.key.clone(),
                                source: m.source,
                                version: version.to_string(),
                                package: at.package,
                                subdirectory,
                            }),
                        Some(Err(problem)) => Err(problem),
                        None => Err(stopped()),
                    }
                }
                (Wanted::Registry { .. }, None) => Err(stopped()),
            };
            match found {
                Ok(found) => located.push(found),
                Err(problem) => {
                    self.progress().answer(&m.key, Err(problem));
                }
            }
        }
        located
    }

    /// The newest version that will do.
    fn choose(
        &self,
        module: &RegistryModule,
        constraints: Option<&VersionConstraints>,
    ) -> Outcome<(Version, Url)> {
        let progress = self.progress();
        let base = progress.registries.get(&module.host).cloned();
        let base = base.unwrap_or_else(|| Err(stopped()))?;
        let versions = match progress.versions.get(module) {
            Some(Ok(versions)) => versions,
            Some(Err(problem)) => return Err(problem.clone()),
            None => return Err(stopped()),
        };
        let released = versions.iter().filter(|v| v.pre.is_empty()).max();
        let chosen = match constraints {
            Some(constraints) => constraints.highest(versions),
            None => released,
        };
        if let Some(version) = chosen {
            return Ok((version.clone(), base));
        }
        let newest = released.or_else(|| versions.iter().max());
        let newest = newest.map(ToString::to_string).unwrap_or_default();
        Err(match constraints {
            Some(constraints) => Problem::new(
                "Unresolvable module version constraint",
                format!(
                    "There is no version of {module} that \"{constraints}\" allows. The newest version there is \
                     {newest}."
                ),
            ),
            None => Problem::new(
                "Unresolvable module version constraint",
                format!(
                    "There are only pre-releases of {module} so far, the newest being {newest}, and a pre-release \
                     is chosen only where it is named."
                ),
            )
            .hint(format!("To use it, write version = \"{newest}\".")),
        })
    }
}

/// A directory below another, both within a package.
fn joined(outer: Option<&str>, inner: Option<&str>) -> Outcome<Option<String>> {
    let text = match (outer, inner) {
        (Some(a), Some(b)) => format!("{a}/{b}"),
        (Some(a), None) | (None, Some(a)) => a.to_owned(),
        (None, None) => return Ok(None),
    };
    clean_subdirectory(&text)
        .map_err(|why| Problem::failed(format!("As the registry names it, {why}.")))
}
