//! What is known of the objects of a run: which instances there are, and what each one's value is.

use formwork_addresses::{AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance};
use formwork_values::{Type, Value};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

/// The instances of a block.
#[derive(Clone, Debug, Default)]
pub enum Expansion {
    /// One, without a key.
    #[default]
    Single,
    /// Numbered from 0.
    Count(u64),
    /// By key, each with its `each.value`, in key order.
    ForEach(Arc<BTreeMap<Arc<str>, Value>>),
    /// By key, as a plan has it; what `each.value` is has to be evaluated again.
    Keys(Arc<BTreeSet<Arc<str>>>),
    /// None, and no list of none either: `enabled` is false.
    Disabled,
    /// Not known yet, or wrong.
    Unknown,
}

impl Expansion {
    /// The keys, in order; none while unknown.
    pub fn keys(&self) -> Vec<InstanceKey> {
        match self {
            Self::Single => vec![InstanceKey::None],
            Self::Count(n) => (0..i64::try_from(*n).unwrap_or(i64::MAX))
                .map(InstanceKey::Int)
                .collect(),
            Self::ForEach(map) => map.keys().cloned().map(InstanceKey::Text).collect(),
            Self::Keys(keys) => keys.iter().cloned().map(InstanceKey::Text).collect(),
            Self::Disabled | Self::Unknown => Vec::new(),
        }
    }

    /// Whether everything that it says is known, `each.value` included, so that it may be kept.
    pub(crate) fn is_settled(&self) -> bool {
        match self {
            Self::Single | Self::Count(_) | Self::Disabled => true,
            Self::ForEach(map) => map.values().all(Value::is_wholly_known),
            Self::Keys(_) | Self::Unknown => false,
        }
    }

    /// Whether there is any instance; not while unknown.
    pub fn has_any(&self) -> bool {
        match self {
            Self::Single => true,
            Self::Count(n) => *n > 0,
            Self::ForEach(map) => !map.is_empty(),
            Self::Keys(keys) => !keys.is_empty(),
            Self::Disabled | Self::Unknown => false,
        }
    }

    /// Whether there is an instance of this key.
    pub fn has(&self, key: &InstanceKey) -> bool {
        match (self, key) {
            (Self::Single, InstanceKey::None) => true,
            (Self::Count(n), InstanceKey::Int(i)) => u64::try_from(*i).is_ok_and(|i| i < *n),
            (Self::ForEach(map), InstanceKey::Text(k)) => map.contains_key(k),
            (Self::Keys(keys), InstanceKey::Text(k)) => keys.contains(k),
            _ => false,
        }
    }
}

#[derive(Default)]
struct Resource {
    expansion: Expansion,
    /// The one without a key. Most blocks have no other, and a map is large for one.
    only: Option<Value>,
    /// Those with keys.
    keyed: BTreeMap<InstanceKey, Value>,
    /// Stands for every instance while the expansion is unknown.
    placeholder: Option<Value>,
    /// All instances as one value, made when first asked for after the last change.
    whole: Option<Value>,
}

impl Resource {
    fn object(&self, key: &InstanceKey) -> Option<&Value> {
        match key {
            InstanceKey::None => self.only.as_ref(),
            key => self.keyed.get(key),
        }
    }
}

/// What a reference to a resource, or to an instance of it, means.
pub(crate) enum Found {
    /// Which instances there are has not been said.
    NotExpanded,
    /// The instance that was asked for.
    Instance(Value),
    /// There is one object, and no key is wanted.
    Only(Value),
    /// All instances are meant, or there is none of this key.
    All,
}

/// A table of objects, filled as a run goes on. Shared; every method takes `&self`.
#[derive(Default)]
pub struct Objects {
    resources: RwLock<FxHashMap<AbsResource, Resource>>,
    calls: RwLock<FxHashMap<(ModuleInstance, Arc<str>), Expansion>>,
}

impl Objects {
    /// Nothing known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says which instances a resource has.
    pub fn set_expansion(&self, resource: &AbsResource, expansion: Expansion) {
        let mut all = self
            .resources
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let entry = all.entry(resource.clone()).or_default();
        entry.expansion = expansion;
        entry.whole = None;
    }

    /// Says what stands for every instance of a resource whose instances are not known: an unknown
    /// value of its type.
    pub fn set_placeholder(&self, resource: &AbsResource, value: Value) {
        let mut all = self
            .resources
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        all.entry(resource.clone()).or_default().placeholder = Some(value);
    }

    /// Says what an instance is, marks and origins included.
    pub fn set(&self, address: &AbsResourceInstance, value: Value) {
        let mut all = self
            .resources
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let entry = all.entry(address.abs_resource()).or_default();
        // Where a schema takes anything, expressions see what is there.
        let value = value.with_own_types();
        match &address.key {
            InstanceKey::None => entry.only = Some(value),
            key => {
                entry.keyed.insert(key.clone(), value);
            }
        }
        entry.whole = None;
    }

    /// An instance that no longer is.
    pub fn remove(&self, address: &AbsResourceInstance) {
        let mut all = self
            .resources
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = all.get_mut(&address.abs_resource()) {
            match &address.key {
                InstanceKey::None => entry.only = None,
                key => {
                    entry.keyed.remove(key);
                }
            }
            entry.whole = None;
        }
    }

    /// Says which instances a module call has.
    pub fn set_call(&self, module: &ModuleInstance, name: &str, expansion: Expansion) {
        let mut all = self.calls.write().unwrap_or_else(PoisonError::into_inner);
        all.insert((module.clone(), Arc::from(name)), expansion);
    }

    /// Which instances a resource has; `None` if that has not been said.
    pub fn expansion(&self, resource: &AbsResource) -> Option<Expansion> {
        let all = self
            .resources
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        all.get(resource).map(|r| r.expansion.clone())
    }

    /// Which instances a module call has; `None` if that has not been said.
    pub fn call_expansion(&self, module: &ModuleInstance, name: &str) -> Option<Expansion> {
        let all = self.calls.read().unwrap_or_else(PoisonError::into_inner);
        all.get(&(module.clone(), Arc::from(name))).cloned()
    }

    /// What an instance is. While its expansion is unknown, what stands for it.
    pub fn object(&self, address: &AbsResourceInstance) -> Option<Value> {
        let all = self
            .resources
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let entry = all.get(&address.abs_resource())?;
        match entry.expansion {
            Expansion::Unknown => entry.placeholder.clone(),
            _ => entry.object(&address.key).cloned(),
        }
    }

    /// What a reference means, found in one look.
    pub(crate) fn find(&self, resource: &AbsResource, key: Option<&InstanceKey>) -> Found {
        let all = self
            .resources
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = all.get(resource) else {
            return Found::NotExpanded;
        };
        let or_dynamic = |value: Option<&Value>| value.cloned().unwrap_or_else(Value::dynamic);
        match (&entry.expansion, key) {
            (Expansion::Unknown, Some(_)) => {
                Found::Instance(or_dynamic(entry.placeholder.as_ref()))
            }
            (e, Some(key)) if e.has(key) => Found::Instance(or_dynamic(entry.object(key))),
            (Expansion::Single, _) => Found::Only(or_dynamic(entry.only.as_ref())),
            _ => Found::All,
        }
    }

    /// All instances of a resource as one value: the object itself, a tuple, an object by key, or null if
    /// it is disabled. An instance of which nothing is known (it failed) is unknown in it.
    pub fn whole(&self, resource: &AbsResource) -> Value {
        {
            let all = self
                .resources
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            match all.get(resource) {
                None => return Value::dynamic(),
                Some(Resource {
                    whole: Some(value), ..
                }) => return value.clone(),
                Some(_) => {}
            }
        }
        let mut all = self
            .resources
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = all.get_mut(resource) else {
            return Value::dynamic();
        };
        let one = |key: &InstanceKey| entry.object(key).cloned().unwrap_or_else(Value::dynamic);
        let value = match &entry.expansion {
            Expansion::Single => one(&InstanceKey::None),
            Expansion::Count(_) => Value::tuple(entry.expansion.keys().iter().map(one).collect()),
            Expansion::ForEach(map) => Value::object(
                map.keys()
                    .map(|k| (k.clone(), one(&InstanceKey::Text(k.clone())))),
            ),
            Expansion::Keys(keys) => Value::object(
                keys.iter()
                    .map(|k| (k.clone(), one(&InstanceKey::Text(k.clone())))),
            ),
            Expansion::Disabled => Value::null(Type::Dynamic),
            Expansion::Unknown => Value::unknown(Type::Dynamic),
        };
        entry.whole = Some(value.clone());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_values_follow_their_parts() {
        let objects = Objects::new();
        let a: AbsResource = "x.a".parse().expect("valid");
        assert!(!objects.whole(&a).is_known());
        objects.set_expansion(&a, Expansion::Count(2));
        objects.set(&a.instance(InstanceKey::Int(0)), Value::int(1));
        let half = objects.whole(&a);
        assert!(half.is_known() && !half.is_wholly_known());
        objects.set(&a.instance(InstanceKey::Int(1)), Value::int(2));
        assert!(objects.whole(&a) == Value::tuple(vec![Value::int(1), Value::int(2)]));
        assert!(
            objects
                .expansion(&a)
                .is_some_and(|e| e.has(&InstanceKey::Int(1)) && !e.has(&InstanceKey::Int(2)))
        );
    }

    #[test]
    fn unknown_expansions_have_a_stand_in() {
        let objects = Objects::new();
        let a: AbsResource = "x.a".parse().expect("valid");
        objects.set_expansion(&a, Expansion::Unknown);
        objects.set_placeholder(&a, Value::unknown(Type::Bool));
        let any = objects
            .object(&a.instance(InstanceKey::Int(7)))
            .expect("the stand-in");
        assert!(any.type_of() == Type::Bool && !any.is_known());
    }
}
