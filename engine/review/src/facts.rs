//! What will be there after a plan, and what leads to what.

use crate::fact::Fact;
use crate::links;
use formwork_addresses::{AbsProviderConfig, AbsResourceInstance};
use formwork_plan::{Action, Plan};
use formwork_values::{Path, Value};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// A chain of origins is never longer than this; a longer one would be a circle.
const LONGEST_CHAIN: usize = 64;

/// An instance that will be there after the plan.
#[derive(Clone, Copy)]
pub struct Instance<'a> {
    /// Which.
    pub address: &'a AbsResourceInstance,
    /// The object as it will be: known, or unknown with an origin.
    pub value: &'a Value,
    /// The provider configuration that it belongs to.
    pub provider: &'a AbsProviderConfig,
    /// What the plan does to it.
    pub action: Action,
}

impl<'a> Instance<'a> {
    /// One of its attributes.
    pub fn field(&self, name: &str) -> Fact<'a> {
        Fact::of(self.value).field(name)
    }

    /// Its type, such as `google_compute_network`.
    pub fn kind(&self) -> &'a str {
        &self.address.resource.kind
    }

    /// Whether the plan creates, changes or replaces it.
    pub fn is_made(&self) -> bool {
        self.action.makes()
    }
}

/// What an attribute leads to. Two attributes that lead to the same thing have equal targets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target<'a> {
    /// An instance that the facts hold.
    Instance(&'a AbsResourceInstance),
    /// Something else: a link in its shortest full form, or an address that the facts do not hold.
    Elsewhere(String),
}

impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instance(address) => address.fmt(f),
            Self::Elsewhere(text) => f.write_str(links::readable(text)),
        }
    }
}

/// All instances that will be there, in the order given.
pub struct Facts<'a> {
    instances: Vec<Instance<'a>>,
    by_address: HashMap<&'a AbsResourceInstance, usize>,
    by_kind: BTreeMap<&'a str, Vec<usize>>,
    by_link: HashMap<String, usize>,
}

impl<'a> Facts<'a> {
    /// The facts of a plan: what it leaves behind, in address order.
    pub fn of_plan(plan: &'a Plan) -> Self {
        Self::of_instances(
            plan.changes
                .iter()
                .filter(|c| c.deposed.is_none() && !c.after.is_null())
                .map(|c| Instance {
                    address: &c.address,
                    value: &c.after,
                    provider: &c.provider,
                    action: c.action,
                }),
        )
    }

    /// The facts of these instances, for walks other than a plan.
    pub fn of_instances(instances: impl IntoIterator<Item = Instance<'a>>) -> Self {
        let instances: Vec<Instance<'a>> = instances.into_iter().collect();
        let mut by_address = HashMap::with_capacity(instances.len());
        let mut by_kind: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut by_link = HashMap::new();
        for (at, instance) in instances.iter().enumerate() {
            by_address.insert(instance.address, at);
            by_kind.entry(instance.kind()).or_default().push(at);
            for link in links::of_instance(instance) {
                by_link.entry(link).or_insert(at);
            }
        }
        Self {
            instances,
            by_address,
            by_kind,
            by_link,
        }
    }

    /// The instances of a resource type, data sources excepted.
    pub fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Instance<'a>> {
        self.by_kind
            .get(kind)
            .into_iter()
            .flatten()
            .filter_map(|at| self.instances.get(*at))
            .filter(|i| i.address.resource.mode == formwork_addresses::ResourceMode::Managed)
    }

    /// An instance by its address.
    pub fn get(&self, address: &AbsResourceInstance) -> Option<&Instance<'a>> {
        self.instances.get(*self.by_address.get(address)?)
    }

    /// What the attribute at `path` of an instance leads to, if that can be told: the instance whose
    /// attribute it will be, or the one that its link names. `kind` is the type that it refers to,
    /// since a bare name does not say.
    pub fn target_of(
        &self,
        address: &AbsResourceInstance,
        path: &Path,
        kind: &str,
    ) -> Option<Target<'a>> {
        let mut instance = *self.get(address)?;
        let mut path = path.clone();
        for _ in 0..LONGEST_CHAIN {
            let (fact, rest) = Fact::of(instance.value).follow(&path);
            let Some(unknown) = fact.unknown() else {
                return self.linked(&instance, fact, kind);
            };
            let Some(origin) = &unknown.origin else {
                // the provider will fill it in: an attribute of this instance, thus the instance
                return (instance.address != address).then_some(Target::Instance(instance.address));
            };
            let Some(next) = self.get(&origin.address) else {
                return Some(Target::Elsewhere(origin.address.to_string()));
            };
            instance = *next;
            path = origin.path.clone().joined(&Path::new(rest.to_vec()));
        }
        None
    }

    fn linked(&self, from: &Instance<'a>, fact: Fact<'_>, kind: &str) -> Option<Target<'a>> {
        let link = links::full(fact.text()?, from, kind);
        match self
            .by_link
            .get(&link)
            .and_then(|at| self.instances.get(*at))
        {
            Some(found) => Some(Target::Instance(found.address)),
            None => Some(Target::Elsewhere(link)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, of, text};

    const URL: &str = "https://www.googleapis.com/compute/v1/projects/p/global/networks/old";

    #[test]
    fn targets() {
        let mut plan = Sample::default();
        plan.create("google_compute_network.n", [("name", text("net"))]);
        plan.create(
            "module.m[0].google_compute_network.n",
            [("name", text("net2"))],
        );
        plan.keep(
            "google_compute_network.old",
            [
                ("name", text("old")),
                ("project", text("p")),
                ("self_link", text(URL)),
                ("id", text("projects/p/global/networks/old")),
            ],
        );
        plan.create(
            "google_compute_subnetwork.first",
            [("network", of("google_compute_network.n", "self_link"))],
        );
        for (network, want) in [
            // on a first plan, by origin: of the network, of another that has it, of one elsewhere
            (
                of("module.m[0].google_compute_network.n", "id"),
                Some("module.m[0].google_compute_network.n"),
            ),
            (
                of("google_compute_subnetwork.first", "network"),
                Some("google_compute_network.n"),
            ),
            (
                of("data.google_compute_network.shared", "self_link"),
                Some("data.google_compute_network.shared"),
            ),
            // by name, since names are known before anything is made
            (text("net"), Some("google_compute_network.n")),
            // by link in every spelling
            (text(URL), Some("google_compute_network.old")),
            (
                text("projects/p/global/networks/old"),
                Some("google_compute_network.old"),
            ),
            (
                text("https://compute.googleapis.com/compute/beta/projects/p/global/networks/old"),
                Some("google_compute_network.old"),
            ),
            (
                text("projects/host/global/networks/shared"),
                Some("projects/host/global/networks/shared"),
            ),
            (
                text("global/networks/net"),
                Some("google_compute_network.n"),
            ),
            (text("other"), Some("global/networks/other")),
            // nothing is known
            (Value::unknown(formwork_values::Type::String), None),
            (Value::null(formwork_values::Type::String), None),
        ] {
            let mut plan = plan.clone();
            plan.create(
                "google_compute_subnetwork.s",
                [("network", network.clone())],
            );
            let plan = plan.plan();
            let facts = Facts::of_plan(&plan);
            let address = "google_compute_subnetwork.s".parse().expect("an address");
            let path = Path::ROOT.attribute("network");
            let target = facts.target_of(&address, &path, "google_compute_network");
            let shown = target.map(|t| t.to_string());
            assert_eq!(shown.as_deref(), want, "{network:?}");
        }
    }

    #[test]
    fn a_circle_of_origins_leads_nowhere() {
        let mut plan = Sample::default();
        plan.create("a.x", [("link", of("a.y", "link"))]);
        plan.create("a.y", [("link", of("a.x", "link"))]);
        let plan = plan.plan();
        let path = Path::ROOT.attribute("link");
        let address = "a.x".parse().expect("an address");
        assert_eq!(Facts::of_plan(&plan).target_of(&address, &path, "a"), None);
    }
}
