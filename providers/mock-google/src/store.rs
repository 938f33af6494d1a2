//! The world's objects and operations, and the indexes that answer questions about them.
//!
//! A key is the service and the resource's path: `compute/projects/p/global/networks/n`,
//! `storage/b/bucket/o/name`. The store changes only by [`Change`]s, in two places: when a record of
//! the journal is applied, and when an operation ends. Indexes are derived and never written down:
//! who refers to whom, which addresses of a subnetwork are taken, how much of each quota, capacity
//! and reservation is in use. Each costs one object's own size to keep.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checking::Body;
use crate::compute::Range;
use crate::links;
use crate::operations::Operation;
use crate::time::Millis;

/// One object of the cloud.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Object {
    /// `compute.networks`
    pub(crate) collection: String,
    /// As the API shows it.
    pub(crate) body: Body,
    /// What the API does not show: policies, content, what it consumes.
    #[serde(default, skip_serializing_if = "Body::is_empty")]
    pub(crate) hidden: Body,
    /// The operation that is at work on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pending: Option<Work>,
}

/// What an operation under way does to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Work {
    Creating,
    Deleting,
}

impl Object {
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.body.get(field).and_then(Value::as_str)
    }

    pub(crate) fn hidden_text(&self, field: &str) -> Option<&str> {
        self.hidden.get(field).and_then(Value::as_str)
    }

    pub(crate) fn is(&self, work: Work) -> bool {
        self.pending == Some(work)
    }
}

/// What can happen to the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Change {
    /// A new object, or a whole new version of one.
    Put {
        key: String,
        object: Object,
    },
    Remove {
        key: String,
    },
    /// Top-level fields of an object that is there; null takes a field away.
    Set {
        key: String,
        #[serde(default, skip_serializing_if = "Body::is_empty")]
        body: Body,
        #[serde(default, skip_serializing_if = "Body::is_empty")]
        hidden: Body,
    },
    /// An operation takes hold of an object, or lets go of it.
    Mark {
        key: String,
        pending: Option<Work>,
    },
    /// A new operation.
    Begin {
        key: String,
        operation: Box<Operation>,
    },
}

/// See the module's header.
#[derive(Debug, Default)]
pub(crate) struct Store {
    objects: BTreeMap<String, Object>,
    operations: BTreeMap<String, Operation>,
    /// Operations under way, by their end.
    due: BTreeSet<(Millis, String)>,
    /// Operation by project and request id.
    requests: BTreeMap<(String, String), String>,
    /// Keys of the objects that refer to a key.
    users: BTreeMap<String, BTreeSet<String>>,
    /// Addresses taken in a subnetwork (or, of external ones, in the region).
    taken: BTreeMap<String, BTreeMap<Ipv4Addr, u32>>,
    /// Of a subnetwork, the address below which nothing is free: see [`Store::free_address`].
    full_below: RefCell<BTreeMap<String, Ipv4Addr>>,
    /// How much is in use, by what.
    usage: BTreeMap<String, i64>,
}

impl Store {
    pub(crate) fn get(&self, key: &str) -> Option<&Object> {
        self.objects.get(key)
    }

    /// The objects directly under a prefix that ends in `/`, in order of name.
    pub(crate) fn children<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a Object)> + 'a {
        self.below(prefix)
            .filter(move |(key, _)| !key[prefix.len()..].contains('/'))
    }

    /// All objects whose key begins with a prefix.
    pub(crate) fn below<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a Object)> + 'a {
        self.objects
            .range(prefix.to_owned()..)
            .take_while(move |(key, _)| key.starts_with(prefix))
            .map(|(key, object)| (key.as_str(), object))
    }

    /// Every object.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &Object)> {
        self.objects
            .iter()
            .map(|(key, object)| (key.as_str(), object))
    }

    pub(crate) fn operation(&self, key: &str) -> Option<&Operation> {
        self.operations.get(key)
    }

    /// Operations whose key begins with a prefix.
    pub(crate) fn operations_below<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = &'a Operation> + 'a {
        self.operations
            .range(prefix.to_owned()..)
            .take_while(move |(key, _)| key.starts_with(prefix))
            .map(|(_, operation)| operation)
    }

    /// The key of the operation that a request id began.
    pub(crate) fn requested(&self, project: &str, request_id: &str) -> Option<&str> {
        self.requests
            .get(&(project.to_owned(), request_id.to_owned()))
            .map(String::as_str)
    }

    /// Objects that refer to a key and are not themselves being deleted, with their keys.
    pub(crate) fn users<'a>(
        &'a self,
        key: &str,
    ) -> impl Iterator<Item = (&'a str, &'a Object)> + 'a {
        self.users
            .get(key)
            .into_iter()
            .flatten()
            .filter_map(|user| self.objects.get_key_value(user))
            .map(|(key, object)| (key.as_str(), object))
    }

    pub(crate) fn is_taken(&self, place: &str, address: Ipv4Addr) -> bool {
        self.taken
            .get(place)
            .is_some_and(|taken| taken.contains_key(&address))
    }

    /// The lowest address that is neither on an interface nor reserved in a
    /// subnetwork. What lies below the last answer is full until something there is given back, so the
    /// search begins where the last one ended.
    pub(crate) fn free_address(&self, subnetwork: &str, range: Range) -> Option<Ipv4Addr> {
        let mut full = self.full_below.borrow_mut();
        let start = full
            .get(subnetwork)
            .copied()
            .unwrap_or(Ipv4Addr::UNSPECIFIED);
        let (nic, reserved) = (
            format!("nic/{subnetwork}"),
            format!("reserved/{subnetwork}"),
        );
        let free = |address: &Ipv4Addr| {
            !self.is_taken(&nic, *address) && !self.is_taken(&reserved, *address)
        };
        let found = range
            .hosts_from(start)
            .find(free)
            // a range that has grown may have grown downwards
            .or_else(|| range.hosts_from(Ipv4Addr::UNSPECIFIED).find(free))?;
        full.insert(subnetwork.to_owned(), found);
        Some(found)
    }

    pub(crate) fn usage(&self, what: &str) -> i64 {
        self.usage.get(what).copied().unwrap_or_default()
    }

    /// Ends every operation whose time has come, in order.
    pub(crate) fn advance(&mut self, now: Millis) {
        while let Some((end, key)) = self.due.first().cloned() {
            if end > now {
                return;
            }
            self.due.pop_first();
            let Some(operation) = self.operations.get_mut(&key) else {
                continue;
            };
            operation.done = true;
            for effect in std::mem::take(&mut operation.effects) {
                self.apply(effect);
            }
            self.answer_of(&key);
        }
    }

    /// Fills in the response of a long-running operation that has ended.
    fn answer_of(&mut self, key: &str) {
        let Some(operation) = self.operations.get(key) else {
            return;
        };
        let Some((target, kind)) = operation.response_of.clone() else {
            return;
        };
        let mut response = self
            .objects
            .get(&target)
            .map(|o| o.body.clone())
            .unwrap_or_default();
        response.insert("@type".into(), kind.into());
        if let Some(operation) = self.operations.get_mut(key) {
            operation.response = response;
        }
    }

    /// Makes a change.
    pub(crate) fn apply(&mut self, change: Change) {
        match change {
            Change::Put { key, object } => {
                self.forget(&key);
                self.remember(&key, &object);
                self.objects.insert(key, object);
            }
            Change::Remove { key } => {
                self.forget(&key);
                self.objects.remove(&key);
            }
            Change::Set { key, body, hidden } => {
                let Some(mut object) = self.objects.get(&key).cloned() else {
                    return;
                };
                self.forget(&key);
                lay_over(&mut object.body, body);
                lay_over(&mut object.hidden, hidden);
                self.remember(&key, &object);
                self.objects.insert(key, object);
            }
            Change::Mark { key, pending } => {
                if let Some(object) = self.objects.get_mut(&key) {
                    object.pending = pending;
                }
            }
            Change::Begin { key, operation } => {
                if let Some(id) = &operation.request_id {
                    let project = project_of(&operation.path).to_owned();
                    self.requests.insert((project, id.clone()), key.clone());
                }
                if !operation.done {
                    self.due.insert((operation.end, key.clone()));
                }
                self.operations.insert(key, *operation);
            }
        }
    }

    fn remember(&mut self, key: &str, object: &Object) {
        for target in referenced(object) {
            self.users.entry(target).or_default().insert(key.to_owned());
        }
        for (place, address) in crate::usage::addresses(object) {
            *self
                .taken
                .entry(place)
                .or_default()
                .entry(address)
                .or_default() += 1;
        }
        for (what, amount) in crate::usage::amounts(key, object) {
            *self.usage.entry(what).or_default() += amount;
        }
    }

    fn forget(&mut self, key: &str) {
        let Some(object) = self.objects.get(key) else {
            return;
        };
        for target in referenced(object) {
            if let Some(users) = self.users.get_mut(&target) {
                users.remove(key);
                if users.is_empty() {
                    self.users.remove(&target);
                }
            }
        }
        for (place, address) in crate::usage::addresses(object) {
            let full = self.full_below.get_mut();
            if let Some((_, subnetwork)) = place.split_once('/')
                && full.get(subnetwork).is_some_and(|below| *below > address)
            {
                full.insert(subnetwork.to_owned(), address);
            }
            let Some(taken) = self.taken.get_mut(&place) else {
                continue;
            };
            let left = taken
                .get(&address)
                .map_or(0, |count| count.saturating_sub(1));
            if left == 0 {
                taken.remove(&address);
            } else {
                taken.insert(address, left);
            }
        }
        for (what, amount) in crate::usage::amounts(key, object) {
            *self.usage.entry(what).or_default() -= amount;
        }
    }
}

/// What an object refers to, in its body or (`holds`) without showing it.
fn referenced(object: &Object) -> Vec<String> {
    let mut keys = links::references(&object.body);
    keys.extend(
        crate::usage::list(object.hidden.get("holds"))
            .iter()
            .filter_map(|key| key.as_str().map(str::to_owned)),
    );
    keys
}

fn lay_over(into: &mut Body, fields: Body) {
    for (name, value) in fields {
        if value.is_null() {
            into.remove(&name);
        } else {
            into.insert(name, value);
        }
    }
}

/// `p` of `projects/p/...`; empty where there is none.
pub(crate) fn project_of(path: &str) -> &str {
    path.strip_prefix("projects/")
        .map_or("", |rest| rest.split('/').next().unwrap_or_default())
}

impl Store {
    /// Changes that make an empty store into this one.
    pub(crate) fn everything(&self) -> Vec<Change> {
        let objects = self.objects.iter().map(|(key, object)| Change::Put {
            key: key.clone(),
            object: object.clone(),
        });
        let operations = self
            .operations
            .iter()
            .map(|(key, operation)| Change::Begin {
                key: key.clone(),
                operation: Box::new(operation.clone()),
            });
        objects.chain(operations).collect()
    }
}
