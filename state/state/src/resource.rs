//! Resources, their instances, and outputs.

use crate::object::ResourceInstanceObject;
use crate::raw::RawJson;
use formwork_addresses::{AbsProviderConfig, DeposedKey, InstanceKey};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Keys of a JSON object that the format does not define, or that were spelt in a way which would be
/// lost otherwise (an explicit null, an empty list), in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherKeys(Option<Arc<Vec<OtherKey>>>);

type OtherKey = (Arc<str>, RawJson);

impl OtherKeys {
    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.0.iter().flat_map(|v| v.iter()).map(|(k, v)| (&**k, v))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&RawJson> {
        self.iter().find(|(k, _)| *k == key).map(|(_, v)| v)
    }

    /// Sets a key in its place, or at the end.
    pub fn set(&mut self, key: &str, value: RawJson) {
        let keys = Arc::make_mut(self.0.get_or_insert_default());
        match keys.iter_mut().find(|(k, _)| &**k == key) {
            Some(entry) => entry.1 = value,
            None => keys.push((Arc::from(key), value)),
        }
    }

    /// Takes a key away.
    pub fn remove(&mut self, key: &str) {
        if self.get(key).is_some()
            && let Some(keys) = &mut self.0
        {
            Arc::make_mut(keys).retain(|(k, _)| &**k != key);
        }
        if self.is_empty() {
            self.0 = None;
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|v| v.is_empty())
    }
}

/// The objects of one instance: the current one, and those that a replacement created first has left
/// to be destroyed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceState {
    /// The provider instance that last handled it, where that is one of a block with for_each; else
    /// it is the resource's.
    pub provider: Option<Arc<AbsProviderConfig>>,
    /// The object that references mean; absent while only deposed ones are left.
    pub current: Option<Arc<ResourceInstanceObject>>,
    /// Deposed objects.
    pub deposed: BTreeMap<DeposedKey, Arc<ResourceInstanceObject>>,
}

impl InstanceState {
    /// Whether no object is left.
    pub fn is_empty(&self) -> bool {
        self.current.is_none() && self.deposed.is_empty()
    }
}

/// One object's place in a list of instances.
pub(crate) type ObjectPlace = (InstanceKey, Option<DeposedKey>);

/// A resource and its instances.
#[derive(Clone, Debug)]
pub struct ResourceState {
    /// The provider configuration that last handled its instances, but those that name their own.
    pub provider: AbsProviderConfig,
    /// `list` or `map` where a tool wrote it; Terraform of today writes none.
    pub each: Option<Arc<str>>,
    /// Instances by key.
    pub instances: BTreeMap<InstanceKey, Arc<InstanceState>>,
    /// What else stood at the resource in the file.
    pub other: OtherKeys,
    /// Order of the objects in the file, if it was not the usual one.
    pub(crate) order: Option<Arc<[ObjectPlace]>>,
}

impl ResourceState {
    /// A resource without instances.
    pub fn new(provider: AbsProviderConfig) -> Self {
        Self {
            provider,
            each: None,
            instances: BTreeMap::new(),
            other: OtherKeys::default(),
            order: None,
        }
    }

    /// The provider configurations that handle its instances; some may come several times.
    pub fn providers(&self) -> impl Iterator<Item = &AbsProviderConfig> {
        self.instances
            .values()
            .map(|i| i.provider.as_deref().unwrap_or(&self.provider))
    }

    /// The provider instance that an instance names as its own.
    pub(crate) fn own_provider(&self, key: &InstanceKey) -> Option<&AbsProviderConfig> {
        self.instances.get(key)?.provider.as_deref()
    }

    /// The objects as they are written: by key, the current one first.
    pub(crate) fn objects(
        &self,
    ) -> impl Iterator<Item = (ObjectPlace, &Arc<ResourceInstanceObject>)> {
        self.instances.iter().flat_map(|(key, instance)| {
            let current = instance.current.iter().map(|o| ((key.clone(), None), o));
            let deposed = instance
                .deposed
                .iter()
                .map(|(d, o)| ((key.clone(), Some(d.clone())), o));
            current.chain(deposed)
        })
    }
}

impl PartialEq for ResourceState {
    /// Content; the order in which a file had it is no part of it.
    fn eq(&self, other: &Self) -> bool {
        self.provider == other.provider
            && self.each == other.each
            && self.instances == other.instances
            && self.other == other.other
    }
}

impl Eq for ResourceState {}

/// An output of the root module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputState {
    /// Its value.
    pub value: RawJson,
    /// Its type, in the JSON notation of types: `"string"`, `["list","number"]`.
    pub kind: RawJson,
    /// Whether it may only be shown on demand.
    pub sensitive: bool,
    /// What else stood at the output in the file.
    pub other: OtherKeys,
}
