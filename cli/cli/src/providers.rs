//! Which provider an address means: the native ones, by name.
//!
//! The native Google provider answers for every release of hashicorp/google and hashicorp/google-beta
//! from 5.0 to below 8.0, from either registry that Terraform and OpenTofu write into states. What a
//! configuration constrains is met if some release in that range would meet it; the highest such one is
//! the version that plans name. Under a mock cloud the provider is bound to its address and sends
//! nothing anywhere else.

use crate::mock::MockCloud;
use crate::preview::Preview;
use crate::session::Session;
use async_trait::async_trait;
use formwork_addresses::ProviderAddr;
use formwork_ai::FormworkProvider;
use formwork_builtin::BuiltinProvider;
use formwork_configuration::{RequiredProvider, VersionConstraints};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_environment::Environment;
use formwork_google::{GoogleProvider, World, best_version};
use formwork_mock_google::endpoint;
use formwork_provider::{Provider, ProviderFactory, Provisioner};
use formwork_provisioners::Running;
use formwork_state_backends::{Reach, RemoteStates};
use formwork_topology::Topology;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Makes the native providers.
pub struct NativeProviders {
    environment: Environment,
    world: World,
    /// How far states of other configurations are read.
    reach: Reach,
    facts: Arc<Topology>,
    versions: Versions,
    running: Running,
}

/// How the version of a provider is chosen.
enum Versions {
    /// As the configuration constrains it.
    Constrained(BTreeMap<ProviderAddr, Constraints>),
    /// As a plan names it.
    Planned(BTreeMap<ProviderAddr, String>),
}

/// What a configuration wants of a provider's version.
#[derive(Clone, Debug, Default)]
pub struct Constraints {
    /// Each with the place where it stands.
    all: Vec<(VersionConstraints, String)>,
}

impl Constraints {
    fn of(required: &RequiredProvider, sources: &SourceMap) -> Self {
        let all = required.constraints.iter();
        Self {
            all: all
                .map(|(_, c, range)| (c.clone(), sources.place(*range)))
                .collect(),
        }
    }

    fn allow(&self, version: &str) -> bool {
        formwork_configuration::parse_version(version)
            .is_ok_and(|v| self.all.iter().all(|(c, _)| c.allows(&v)))
    }
}

/// A provider that we carry inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Native {
    Builtin,
    Google,
    Formwork,
}

fn native(address: &ProviderAddr) -> Option<Native> {
    let registry = matches!(
        &*address.host,
        "registry.terraform.io" | "registry.opentofu.org"
    );
    match (&*address.host, &*address.namespace, &*address.kind) {
        ("terraform.io", "builtin", "terraform") => Some(Native::Builtin),
        (_, "hashicorp", "google" | "google-beta") if registry => Some(Native::Google),
        (_, "formwork", "formwork") if registry => Some(Native::Formwork),
        _ => None,
    }
}

impl NativeProviders {
    /// Providers for the world of a session, their versions as the configuration wants them.
    ///
    /// # Errors
    /// What is wrong with the file of machine facts that the environment names.
    pub fn new(
        session: &Session,
        cloud: Option<&MockCloud>,
        preview: &Preview,
    ) -> Result<Self, Diagnostics> {
        Ok(Self {
            environment: session.environment.clone(),
            world: match cloud {
                None => World::Google,
                Some(cloud) => World::Mock {
                    base: cloud.base.clone(),
                    project: cloud.project.as_deref().map(Arc::from),
                },
            },
            reach: match cloud {
                _ if !session.is_mock() => Reach::Everywhere,
                Some(cloud) if session.mock_backend => {
                    Reach::Mock(Some(endpoint(&cloud.base, "storage")))
                }
                _ => Reach::Mock(None),
            },
            facts: facts(session)?,
            versions: Versions::Constrained(constraints(preview)),
            running: Running::default(),
        })
    }

    /// The same, where somebody knows of the commands that provisioners run.
    #[must_use]
    pub fn with_running(mut self, running: Running) -> Self {
        self.running = running;
        self
    }

    /// The machine facts that the providers go by.
    pub fn facts(&self) -> &Arc<Topology> {
        &self.facts
    }

    /// The same with versions that a plan names.
    #[must_use]
    pub fn with_planned(mut self, versions: BTreeMap<ProviderAddr, String>) -> Self {
        self.versions = Versions::Planned(versions);
        self
    }
}

fn constraints(preview: &Preview) -> BTreeMap<ProviderAddr, Constraints> {
    let required = preview.configuration.required_providers();
    required
        .iter()
        .map(|(address, r)| (address.clone(), Constraints::of(r, &preview.sources)))
        .collect()
}

/// The version of each native provider that a configuration calls for and that has versions.
pub fn selections(preview: &Preview) -> BTreeMap<String, String> {
    constraints(preview)
        .into_iter()
        .filter(|(address, _)| native(address) == Some(Native::Google))
        .filter_map(|(address, c)| {
            let version = best_version(|v| c.allow(v))?;
            Some((address.to_string(), version.to_owned()))
        })
        .collect()
}

#[async_trait]
impl ProviderFactory for NativeProviders {
    async fn launch(&self, address: &ProviderAddr) -> Result<Arc<dyn Provider>, Diagnostics> {
        match native(address) {
            Some(Native::Builtin) => {
                let states = RemoteStates::new(self.environment.clone());
                let states = Arc::new(states.within(self.reach.clone()));
                Ok(Arc::new(BuiltinProvider::new(
                    self.environment.clone(),
                    states,
                )))
            }
            Some(Native::Formwork) => Ok(Arc::new(FormworkProvider::new(self.facts.clone()))),
            Some(Native::Google) => {
                let version = self.google_version(address)?;
                Ok(Arc::new(GoogleProvider::new(
                    self.environment.clone(),
                    self.world.clone(),
                    &version,
                )))
            }
            None => Err(Diagnostic::error(
                "Missing required provider",
                format!(
                    "The provider {} is neither part of Formwork nor installed. Providers are made \
                     ready by `formwork init`; this version has its own for hashicorp/google, \
                     hashicorp/google-beta, formwork/formwork and terraform.io/builtin/terraform, and \
                     cannot install others yet.",
                    address.for_display()
                ),
            )
            .hint("`formwork validate` checks the configuration without the provider.")
            .into()),
        }
    }

    fn provisioner(&self, kind: &str) -> Result<Arc<dyn Provisioner>, Diagnostics> {
        formwork_provisioners::find(kind, &self.environment, &self.running)
    }
}

impl NativeProviders {
    fn google_version(&self, address: &ProviderAddr) -> Result<String, Diagnostics> {
        let none = Constraints::default();
        let constraints = match &self.versions {
            Versions::Planned(versions) => {
                if let Some(version) = versions.get(address).filter(|v| !v.is_empty()) {
                    return Ok(version.clone());
                }
                &none
            }
            Versions::Constrained(all) => all.get(address).unwrap_or(&none),
        };
        if let Some(version) = best_version(|v| constraints.allow(v)) {
            return Ok(version.to_owned());
        }
        let mut wanted = Vec::new();
        for (c, place) in &constraints.all {
            wanted.push(format!("{c} ({place})"));
        }
        Err(Diagnostic::error(
            "Provider version not served",
            format!(
                "The configuration wants {} in versions that satisfy {}. Formwork's native provider \
                 stands for the releases from 5.0.0 to below 8.0.0, and none of them does.",
                address.for_display(),
                wanted.join(" and ")
            ),
        )
        .hint("Widen the constraint so that one of those releases satisfies it.")
        .into())
    }
}

/// The machine facts: those inside, with those of the user's file on top.
///
/// # Errors
/// What is wrong with that file.
pub fn facts(session: &Session) -> Result<Arc<Topology>, Diagnostics> {
    let Some(path) = session.environment.variable("FORMWORK_MACHINE_FACTS") else {
        return Ok(Arc::new(Topology::builtin().clone()));
    };
    let text = std::fs::read_to_string(session.environment.working.join(path)).map_err(|e| {
        Diagnostics::from(Diagnostic::error(
            "Failed to read file",
            format!("{path}, which FORMWORK_MACHINE_FACTS names, cannot be read: {e}."),
        ))
    })?;
    let (facts, said) = Topology::builtin().overlay(&text, path);
    if said.has_errors() {
        return Err(said);
    }
    Ok(Arc::new(facts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let check = |text: &str, want: Option<Native>| {
            let address: ProviderAddr = text.parse().expect("an address");
            assert_eq!(native(&address), want, "{text}");
        };
        check("terraform.io/builtin/terraform", Some(Native::Builtin));
        check(
            "registry.terraform.io/hashicorp/google",
            Some(Native::Google),
        );
        check(
            "registry.opentofu.org/hashicorp/google-beta",
            Some(Native::Google),
        );
        check(
            "registry.terraform.io/formwork/formwork",
            Some(Native::Formwork),
        );
        check("registry.terraform.io/hashicorp/random", None);
        check("example.com/hashicorp/google", None);
    }
}
