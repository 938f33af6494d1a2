//! The table of machine types: builtin, with a user's files laid over it.

use crate::fabric::{Fabric, FabricError, region_of};
use crate::machine::MachineType;
use crate::read;
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, nearest};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

const BUILTIN: &str = include_str!("../data/machines.json");
const BUILTIN_NAME: &str = "the built-in machine facts";

/// The facts about machine types.
#[derive(Clone, Debug)]
pub struct Topology {
    // Kept beside the typed form, for the next file is merged into it.
    raw: Arc<Map<String, Value>>,
    sources: Arc<Map<String, Value>>,
    machines: BTreeMap<String, Arc<MachineType>>,
    revision: u64,
}

impl Topology {
    /// The facts that Formwork was built with.
    pub fn builtin() -> &'static Topology {
        static TABLE: LazyLock<Topology> = LazyLock::new(|| {
            let empty = Topology {
                raw: Arc::default(),
                sources: Arc::default(),
                machines: BTreeMap::new(),
                revision: 0,
            };
            let (table, diagnostics) = empty.overlay(BUILTIN, BUILTIN_NAME);
            debug_assert!(diagnostics.is_empty(), "{diagnostics:?}");
            table
        });
        &TABLE
    }

    /// These facts with those of a file on top.
    ///
    /// `text` is JSON in the format of `docs/formats/machine-facts.md`; `file` names it in messages.
    /// Objects are merged member by member, lists and single facts replaced; `null` makes a fact
    /// unknown again. With errors, the table is the one before.
    pub fn overlay(&self, text: &str, file: &str) -> Checked<Topology> {
        let mut diagnostics = Diagnostics::new();
        let document: Value = match serde_json::from_str(text) {
            Ok(v) => v,
            Err(e) => {
                diagnostics.push(read::problem(
                    file,
                    format!(
                        "it is not JSON: line {}, column {}: {}.",
                        e.line(),
                        e.column(),
                        reason(&e)
                    ),
                ));
                return (self.clone(), diagnostics);
            }
        };
        let Some(head) = read::header(&document, file, &mut diagnostics) else {
            return (self.clone(), diagnostics);
        };
        let mut raw = (*self.raw).clone();
        let mut sources = (*self.sources).clone();
        sources.extend(head.sources.clone());
        let mut machines = self.machines.clone();
        for (name, facts) in head.machines {
            let before = match facts.get("like") {
                None => raw
                    .get(name)
                    .cloned()
                    .or_else(|| twin_facts(&machines, &raw, name)),
                Some(Value::String(like)) if raw.contains_key(like) => raw.get(like).cloned(),
                Some(like) => {
                    let mut d = read::problem(
                        file,
                        format!(
                            "machines.{name}.like is {like}, which is not the name of a machine type that is known at this point."
                        ),
                    );
                    if let Some(near) = like
                        .as_str()
                        .and_then(|l| nearest(l, raw.keys().map(String::as_str)))
                    {
                        d = d.hint(format!("Did you mean \"{near}\"?"));
                    }
                    diagnostics.push(d);
                    continue;
                }
            };
            let mut merged = before.unwrap_or_else(|| Value::Object(Map::new()));
            let mut facts = facts.clone();
            facts.remove("like");
            merge(&mut merged, Value::Object(facts));
            let typed = read::machine(name, &merged, &sources, file, &mut diagnostics);
            for machine in typed {
                // A twin with facts of its own keeps them when its sibling changes.
                if machine.variant_of.is_none() || !raw.contains_key(&machine.name) {
                    machines.insert(machine.name.clone(), Arc::new(machine));
                }
            }
            raw.insert(name.clone(), merged);
        }
        if diagnostics.has_errors() {
            return (self.clone(), diagnostics);
        }
        let table = Topology {
            raw: Arc::new(raw),
            sources: Arc::new(sources),
            machines,
            revision: self.revision.max(head.revision),
        };
        (table, diagnostics)
    }

    /// Revision of the facts; it grows when their content changes.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The facts about a machine type, exact or by a series that takes accelerators on demand
    /// (`n1-*`). `None` for a type that nobody knows.
    pub fn machine(&self, name: &str) -> Option<&MachineType> {
        if let Some(m) = self.machines.get(name) {
            return Some(m);
        }
        self.machines.values().map(Arc::as_ref).find(|m| {
            m.name
                .strip_suffix('*')
                .is_some_and(|p| name.len() > p.len() && name.starts_with(p))
        })
    }

    /// The machine types of the table by name, without the twins that lack local SSDs.
    pub fn machine_types(&self) -> impl Iterator<Item = &MachineType> {
        self.machines
            .values()
            .map(Arc::as_ref)
            .filter(|m| m.variant_of.is_none())
    }

    /// Every name that [`Topology::machine`] answers exactly, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.machines.keys().map(String::as_str)
    }

    /// Names that may have been meant by one that nobody knows, best first, at most three.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        let mut rest: Vec<&str> = self.names().filter(|n| !n.ends_with('*')).collect();
        let mut found = Vec::new();
        while found.len() < 3 {
            let Some(near) = nearest(name, rest.iter().copied()) else {
                break;
            };
            found.push(near.to_owned());
            rest.retain(|n| *n != near);
        }
        found
    }

    /// What a machine type needs in a zone.
    ///
    /// # Errors
    /// A machine type that nobody knows, with the nearest names; a word that is no zone.
    pub fn fabric(&self, name: &str, zone: &str) -> Result<Fabric<'_>, FabricError> {
        let Some(machine) = self.machine(name) else {
            return Err(FabricError::UnknownMachine {
                nearest: self.nearest(name),
            });
        };
        let region = region_of(zone).ok_or(FabricError::NotAZone)?;
        Ok(Fabric {
            machine,
            zone: zone.to_owned(),
            region: region.to_owned(),
        })
    }

    /// The sentence and the names to add when a machine type is not known.
    pub fn unknown_machine(&self, name: &str) -> Diagnostic {
        let near = self.nearest(name);
        let mut d = Diagnostic::warning(
            "Unknown machine type",
            format!(
                "Formwork has no facts about the machine type \"{name}\": it is misspelt, or newer than this release. Its facts can be given in a machine facts file."
            ),
        );
        if let [one] = near.as_slice() {
            d = d.hint(format!("Did you mean \"{one}\"?"));
        } else if !near.is_empty() {
            let list: Vec<String> = near.iter().map(|n| format!("\"{n}\"")).collect();
            d = d.hint(format!("The nearest names are {}.", list.join(", ")));
        }
        d
    }
}

fn reason(e: &serde_json::Error) -> String {
    // serde_json ends its messages with the place, which stands in ours already.
    let text = e.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

/// The facts of a twin without local SSDs, spelled out so that a file can be laid over them.
fn twin_facts(
    machines: &BTreeMap<String, Arc<MachineType>>,
    raw: &Map<String, Value>,
    name: &str,
) -> Option<Value> {
    let of = machines.get(name)?.variant_of.as_ref()?;
    let mut facts = raw.get(of)?.as_object()?.clone();
    facts.remove("without_local_ssd");
    facts.insert(
        "local_ssd".to_owned(),
        serde_json::json!({ "included": false, "disks": 0, "total_gib": 0 }),
    );
    Some(Value::Object(facts))
}

fn merge(onto: &mut Value, from: Value) {
    match (onto, from) {
        (Value::Object(onto), Value::Object(from)) => {
            for (key, value) in from {
                merge(onto.entry(key).or_insert(Value::Null), value);
            }
        }
        (onto, from) => *onto = from,
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
