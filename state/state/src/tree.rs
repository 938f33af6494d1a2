//! [`State`]: the remembered world, and the changes that a run makes to it.

use crate::object::ResourceInstanceObject;
use crate::raw::RawJson;
use crate::resource::{InstanceState, OutputState, ResourceState};
use formwork_addresses::{
    AbsProviderConfig, AbsResource, AbsResourceInstance, DeposedKey, InstanceKey, ModuleInstance,
};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Resources, outputs of the root module, and results of checks.
///
/// A clone shares everything. The first change after a clone copies the map of resources (addresses
/// and pointers, no objects); further changes copy nothing but the entry they touch.
#[derive(Clone, Debug)]
pub struct State {
    resources: Arc<BTreeMap<AbsResource, Arc<ResourceState>>>,
    outputs: Arc<BTreeMap<Arc<str>, OutputState>>,
    /// As written by whoever checked last; `None` where the file has no such key.
    check_results: Option<RawJson>,
    /// Order of the resources in the file, if it was not the usual one.
    pub(crate) order: Option<Arc<[AbsResource]>>,
}

/// Why an object cannot be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveError {
    /// There is nothing at the old address.
    NothingThere(String),
    /// The new address holds an object already.
    Occupied(String),
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingThere(a) => write!(f, "the state holds nothing at {a}"),
            Self::Occupied(a) => write!(f, "the state holds an object at {a} already"),
        }
    }
}

impl std::error::Error for MoveError {}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for State {
    /// Content; the order in which a file had it is no part of it.
    fn eq(&self, other: &Self) -> bool {
        self.resources == other.resources
            && self.outputs == other.outputs
            && self.check_results == other.check_results
    }
}

impl Eq for State {}

impl State {
    /// Nothing.
    pub fn new() -> Self {
        Self {
            resources: Arc::default(),
            outputs: Arc::default(),
            check_results: Some(RawJson::null()),
            order: None,
        }
    }

    /// Whether it is the other, neither of them changed since one was cloned from the other. Costs
    /// nothing; what was changed and changed back counts as changed.
    pub fn is_same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.resources, &other.resources)
            && Arc::ptr_eq(&self.outputs, &other.outputs)
            && self.check_results == other.check_results
    }

    /// Whether it holds neither resources nor outputs.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.outputs.is_empty()
    }

    // --- reading ---

    /// Resources in the order of their addresses.
    pub fn resources(&self) -> impl ExactSizeIterator<Item = (&AbsResource, &ResourceState)> {
        self.resources.iter().map(|(a, r)| (a, &**r))
    }

    /// One resource.
    pub fn resource(&self, address: &AbsResource) -> Option<&ResourceState> {
        self.resources.get(address).map(|r| &**r)
    }

    /// Every instance, in the order of addresses.
    pub fn instances(&self) -> impl Iterator<Item = (AbsResourceInstance, &InstanceState)> {
        self.resources.iter().flat_map(|(address, resource)| {
            resource
                .instances
                .iter()
                .map(|(key, instance)| (address.instance(key.clone()), &**instance))
        })
    }

    /// How many instances there are.
    pub fn instance_count(&self) -> usize {
        self.resources.values().map(|r| r.instances.len()).sum()
    }

    /// One instance.
    pub fn instance(&self, address: &AbsResourceInstance) -> Option<&InstanceState> {
        let resource = self.resources.get(&address.abs_resource())?;
        resource.instances.get(&address.key).map(|i| &**i)
    }

    /// The current object of an instance.
    pub fn object(&self, address: &AbsResourceInstance) -> Option<&Arc<ResourceInstanceObject>> {
        self.instance(address)?.current.as_ref()
    }

    /// A deposed object of an instance.
    pub fn deposed(
        &self,
        address: &AbsResourceInstance,
        key: &DeposedKey,
    ) -> Option<&Arc<ResourceInstanceObject>> {
        self.instance(address)?.deposed.get(key)
    }

    /// The provider configuration of an instance, or that of its resource if there is no such instance.
    pub fn provider(&self, address: &AbsResourceInstance) -> Option<&AbsProviderConfig> {
        let resource = self.resources.get(&address.abs_resource())?;
        let own = resource.instances.get(&address.key);
        let own = own.and_then(|i| i.provider.as_deref());
        Some(own.unwrap_or(&resource.provider))
    }

    /// Outputs by name.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = (&str, &OutputState)> {
        self.outputs.iter().map(|(n, o)| (&**n, o))
    }

    /// One output.
    pub fn output(&self, name: &str) -> Option<&OutputState> {
        self.outputs.get(name)
    }

    /// Results of checks as last written; `None` where the file had no such key.
    pub fn check_results(&self) -> Option<&RawJson> {
        self.check_results.as_ref()
    }

    // --- changing ---

    /// Sets the current object of an instance, and the provider of its resource.
    pub fn set_object(
        &mut self,
        address: &AbsResourceInstance,
        provider: &AbsProviderConfig,
        object: impl Into<Arc<ResourceInstanceObject>>,
    ) {
        self.instance_mut(address, provider).current = Some(object.into());
    }

    /// Sets a deposed object of an instance.
    pub fn set_deposed(
        &mut self,
        address: &AbsResourceInstance,
        key: &DeposedKey,
        provider: &AbsProviderConfig,
        object: impl Into<Arc<ResourceInstanceObject>>,
    ) {
        self.instance_mut(address, provider)
            .deposed
            .insert(key.clone(), object.into());
    }

    /// Takes the current object away; an instance or resource left with nothing goes too.
    pub fn remove_object(
        &mut self,
        address: &AbsResourceInstance,
    ) -> Option<Arc<ResourceInstanceObject>> {
        self.object(address)?;
        self.change(address, |instance| instance.current.take())
    }

    /// Takes a deposed object away; an instance or resource left with nothing goes too.
    pub fn remove_deposed(
        &mut self,
        address: &AbsResourceInstance,
        key: &DeposedKey,
    ) -> Option<Arc<ResourceInstanceObject>> {
        self.deposed(address, key)?;
        self.change(address, |instance| instance.deposed.remove(key))
    }

    /// Makes the current object a deposed one, so that its replacement can take its place. False if
    /// there is no current object, or the key is taken.
    pub fn depose(&mut self, address: &AbsResourceInstance, key: &DeposedKey) -> bool {
        let possible = self
            .instance(address)
            .is_some_and(|i| i.current.is_some() && !i.deposed.contains_key(key));
        if possible {
            self.change(address, |instance| {
                if let Some(object) = instance.current.take() {
                    instance.deposed.insert(key.clone(), object);
                }
                None::<()>
            });
        }
        possible
    }

    /// Makes a deposed object current again, because its replacement was not created. False if there
    /// is a current object, or none with this key.
    pub fn undepose(&mut self, address: &AbsResourceInstance, key: &DeposedKey) -> bool {
        let possible = self
            .instance(address)
            .is_some_and(|i| i.current.is_none() && i.deposed.contains_key(key));
        if possible {
            self.change(address, |instance| {
                instance.current = instance.deposed.remove(key);
                None::<()>
            });
        }
        possible
    }

    /// Takes an instance with all its objects away.
    pub fn remove_instance(&mut self, address: &AbsResourceInstance) -> Option<Arc<InstanceState>> {
        self.instance(address)?;
        let name = address.abs_resource();
        let resources = Arc::make_mut(&mut self.resources);
        let resource = Arc::make_mut(resources.get_mut(&name)?);
        let instance = resource.instances.remove(&address.key);
        if resource.instances.is_empty() {
            resources.remove(&name);
        }
        instance
    }

    /// Takes a whole resource away.
    pub fn remove_resource(&mut self, address: &AbsResource) -> Option<Arc<ResourceState>> {
        self.resource(address)?;
        Arc::make_mut(&mut self.resources).remove(address)
    }

    /// Sets a whole resource; one without instances is not kept.
    pub fn set_resource(&mut self, address: AbsResource, resource: impl Into<Arc<ResourceState>>) {
        let resource = resource.into();
        if resource.instances.values().all(|i| i.is_empty()) {
            self.remove_resource(&address);
        } else {
            Arc::make_mut(&mut self.resources).insert(address, resource);
        }
    }

    /// As read from a file: a resource without instances is kept, so that reading changes nothing.
    pub(crate) fn put_resource(&mut self, address: AbsResource, resource: ResourceState) {
        Arc::make_mut(&mut self.resources).insert(address, Arc::new(resource));
    }

    /// Sets the provider configuration of a resource. False if there is no such resource.
    pub fn set_provider(&mut self, address: &AbsResource, provider: &AbsProviderConfig) -> bool {
        match self.resource(address) {
            None => return false,
            Some(r) if r.providers().all(|p| p == provider) => return true,
            Some(_) => {}
        }
        let resources = Arc::make_mut(&mut self.resources);
        if let Some(resource) = resources.get_mut(address) {
            let resource = Arc::make_mut(resource);
            resource.provider = provider.clone();
            // Each keeps the element that it belongs to.
            for instance in resource.instances.values_mut() {
                if let Some(own) = &instance.provider {
                    let own = Arc::new(provider.instance(own.key.clone()));
                    Arc::make_mut(instance).provider = Some(own);
                }
            }
        }
        true
    }

    /// Moves an instance with all its objects.
    ///
    /// # Errors
    /// If the old address holds nothing or the new one holds something; nothing is changed then.
    pub fn move_instance(
        &mut self,
        from: &AbsResourceInstance,
        to: &AbsResourceInstance,
    ) -> Result<(), MoveError> {
        if from == to {
            return Ok(());
        }
        if self.instance(to).is_some() {
            return Err(MoveError::Occupied(to.to_string()));
        }
        let nothing = || MoveError::NothingThere(from.to_string());
        let provider = self.provider(from).cloned().ok_or_else(nothing)?;
        let instance = self.remove_instance(from).ok_or_else(nothing)?;
        *self.instance_mut(to, &provider) = Arc::unwrap_or_clone(instance);
        Ok(())
    }

    /// Moves a resource with all its instances.
    ///
    /// # Errors
    /// If the old address holds nothing or the new one holds something; nothing is changed then.
    pub fn move_resource(&mut self, from: &AbsResource, to: &AbsResource) -> Result<(), MoveError> {
        if from == to {
            return Ok(());
        }
        if self.resource(to).is_some() {
            return Err(MoveError::Occupied(to.to_string()));
        }
        let resource = self
            .remove_resource(from)
            .ok_or_else(|| MoveError::NothingThere(from.to_string()))?;
        Arc::make_mut(&mut self.resources).insert(to.clone(), resource);
        Ok(())
    }

    /// Moves a module instance with all that lies in it.
    ///
    /// # Errors
    /// If the old address holds nothing, or any of the new addresses holds something; nothing is
    /// changed then.
    pub fn move_module(
        &mut self,
        from: &ModuleInstance,
        to: &ModuleInstance,
    ) -> Result<(), MoveError> {
        if from == to {
            return Ok(());
        }
        let moves: Vec<(AbsResource, AbsResource)> = self
            .resources
            .keys()
            .filter(|a| a.module.is_within(from))
            .map(|a| (a.clone(), rebase(a, from, to)))
            .collect();
        if moves.is_empty() {
            return Err(MoveError::NothingThere(from.to_string()));
        }
        if let Some((_, taken)) = moves
            .iter()
            .find(|(_, new)| self.resource(new).is_some() && !new.module.is_within(from))
        {
            return Err(MoveError::Occupied(taken.to_string()));
        }
        let resources = Arc::make_mut(&mut self.resources);
        let taken: Vec<_> = moves
            .into_iter()
            .filter_map(|(old, new)| resources.remove(&old).map(|r| (new, r)))
            .collect();
        resources.extend(taken);
        Ok(())
    }

    /// Sets an output.
    pub fn set_output(&mut self, name: &str, output: OutputState) {
        if self.outputs.get(name) != Some(&output) {
            Arc::make_mut(&mut self.outputs).insert(Arc::from(name), output);
        }
    }

    /// Takes an output away.
    pub fn remove_output(&mut self, name: &str) -> Option<OutputState> {
        self.outputs.get(name)?;
        Arc::make_mut(&mut self.outputs).remove(name)
    }

    /// Sets the results of checks.
    pub fn set_check_results(&mut self, results: Option<RawJson>) {
        self.check_results = results;
    }

    fn instance_mut(
        &mut self,
        address: &AbsResourceInstance,
        provider: &AbsProviderConfig,
    ) -> &mut InstanceState {
        let resource = Arc::make_mut(&mut self.resources)
            .entry(address.abs_resource())
            .or_insert_with(|| Arc::new(ResourceState::new(provider.clone())));
        let resource = Arc::make_mut(resource);
        let block = provider.block();
        if resource.provider != block {
            let keyed = provider.key != InstanceKey::None;
            let others = keyed
                && resource
                    .instances
                    .iter()
                    .any(|(k, i)| *k != address.key && i.provider.is_none());
            // What has no provider instance of its own is still handled by the resource's.
            if !others {
                resource.provider = block;
            }
        }
        let instance = resource.instances.entry(address.key.clone()).or_default();
        let instance = Arc::make_mut(instance);
        if provider.key == InstanceKey::None {
            instance.provider = None;
        } else if instance.provider.as_deref() != Some(provider) {
            instance.provider = Some(Arc::new(provider.clone()));
        }
        instance
    }

    /// Changes an instance that exists, and drops what is left empty.
    fn change<T>(
        &mut self,
        address: &AbsResourceInstance,
        change: impl FnOnce(&mut InstanceState) -> Option<T>,
    ) -> Option<T> {
        let name = address.abs_resource();
        let resources = Arc::make_mut(&mut self.resources);
        let resource = Arc::make_mut(resources.get_mut(&name)?);
        let instance = Arc::make_mut(resource.instances.get_mut(&address.key)?);
        let result = change(instance);
        if instance.is_empty() {
            resource.instances.remove(&address.key);
            if resource.instances.is_empty() {
                resources.remove(&name);
            }
        }
        result
    }
}

/// `address`, which lies within `from`, at the same place within `to`.
fn rebase(address: &AbsResource, from: &ModuleInstance, to: &ModuleInstance) -> AbsResource {
    let below = address.module.steps().iter().skip(from.steps().len());
    let module = below.fold(to.clone(), |m, step| m.child(&step.name, step.key.clone()));
    AbsResource {
        module,
        resource: address.resource.clone(),
    }
}

impl State {
    /// A stable text of what is there, without any attribute: an address a line, with status, deposed
    /// keys and provider. For tests and debugging.
    pub fn debug_text(&self) -> String {
        use fmt::Write;
        let mut out = String::new();
        for (address, resource) in self.resources() {
            for (place, object) in resource.objects() {
                let (key, deposed) = &place;
                let _ = write!(out, "{}", address.instance(key.clone()));
                if let Some(d) = deposed {
                    let _ = write!(out, " (deposed {d})");
                }
                if object.is_tainted() {
                    out.push_str(" (tainted)");
                }
                let provider = resource.own_provider(&place.0);
                let _ = writeln!(out, " by {}", provider.unwrap_or(&resource.provider));
            }
        }
        for (name, output) in self.outputs() {
            let secret = if output.sensitive { " (sensitive)" } else { "" };
            let _ = writeln!(out, "output.{name}{secret}");
        }
        out
    }

    /// Addresses of the instances of a resource, in order.
    pub fn keys(&self, address: &AbsResource) -> impl Iterator<Item = &InstanceKey> {
        self.resource(address)
            .into_iter()
            .flat_map(|r| r.instances.keys())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider() -> AbsProviderConfig {
        "provider[\"terraform.io/builtin/terraform\"]"
            .parse()
            .expect("valid")
    }

    fn at(text: &str) -> AbsResourceInstance {
        text.parse().expect("valid")
    }

    fn object(id: &str) -> ResourceInstanceObject {
        ResourceInstanceObject::new(0, RawJson::text(id))
    }

    fn state(addresses: &[&str]) -> State {
        let mut s = State::new();
        for a in addresses {
            s.set_object(&at(a), &provider(), object(a));
        }
        s
    }

    #[test]
    fn objects_come_and_go() {
        let mut s = state(&["a.b[0]", "a.b[1]"]);
        let before = s.clone();
        let key: DeposedKey = "0badcafe".parse().expect("valid");
        assert!(s.depose(&at("a.b[0]"), &key));
        assert!(!s.depose(&at("a.b[0]"), &key), "nothing current is left");
        assert!(s.object(&at("a.b[0]")).is_none());
        s.set_object(&at("a.b[0]"), &provider(), object("new").tainted());
        assert!(!s.undepose(&at("a.b[0]"), &key), "there is a current one");
        assert_eq!(
            s.debug_text()
                .replace(" by provider[\"terraform.io/builtin/terraform\"]", ""),
            "a.b[0] (tainted)\na.b[0] (deposed 0badcafe)\na.b[1]\n"
        );
        assert!(s.remove_object(&at("a.b[0]")).is_some());
        assert!(s.undepose(&at("a.b[0]"), &key));
        assert_eq!(s, before);
        assert!(s.remove_object(&at("a.b[0]")).is_some());
        assert!(s.remove_object(&at("a.b[0]")).is_none());
        assert!(s.remove_object(&at("a.b[1]")).is_some());
        assert!(s.is_empty(), "a resource without instances is gone");
        assert_eq!(before.instance_count(), 2, "the clone is its own");
    }

    #[test]
    fn moves() {
        let mut s = state(&["a.b", "module.m[0].a.b", "module.m[0].module.n.a.c[1]"]);
        assert_eq!(
            s.move_instance(&at("a.b"), &at("module.m[0].a.b")),
            Err(MoveError::Occupied("module.m[0].a.b".to_owned()))
        );
        assert!(s.move_instance(&at("a.b"), &at("a.z[\"k\"]")).is_ok());
        assert!(s.move_instance(&at("a.b"), &at("a.y")).is_err());
        let module = |t: &str| t.parse::<ModuleInstance>().expect("valid");
        assert!(
            s.move_module(&module("module.m[0]"), &module("module.x"))
                .is_ok()
        );
        assert!(
            s.move_module(&module("module.m[0]"), &module("module.x"))
                .is_err()
        );
        let addresses: Vec<String> = s.instances().map(|(a, _)| a.to_string()).collect();
        assert_eq!(
            addresses,
            ["a.z[\"k\"]", "module.x.a.b", "module.x.module.n.a.c[1]"]
        );
    }
}
