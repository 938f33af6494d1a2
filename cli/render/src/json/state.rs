//! States as JSON: `show -json` of a state, format 1.0, and outputs.

use super::checks::{stored_checks, write_checks};
use super::tree::{ModuleTree, write_key};
use super::values::{known, sensitive_parts};
use super::write::{self, Object};
use crate::schemas::{SchemaCache, Schemas};
use crate::stored::{decode_by_schema, mark};
use formwork_addresses::{AbsResourceInstance, DeposedKey};
use formwork_state::{InstanceState, OutputState, ResourceInstanceObject, Snapshot, State};

/// The state on one line, with a line end. Without a snapshot, or with an empty one, only the
/// format's version is there.
pub fn state_json(snapshot: Option<&Snapshot>, schemas: &Schemas) -> String {
    state_json_with(snapshot, schemas, &[])
}

/// An operation that a former run left open.
#[derive(Clone, Debug)]
pub struct LeftOpen {
    /// The instance.
    pub address: String,
    /// What was begun and what is known of it.
    pub what: String,
}

/// The same, with what former runs left open.
pub fn state_json_with(
    snapshot: Option<&Snapshot>,
    schemas: &Schemas,
    pending: &[LeftOpen],
) -> String {
    let mut cache = SchemaCache::new(schemas);
    let mut out = write::object(|o| {
        o.text("format_version", "1.0");
        if let Some(snapshot) = snapshot {
            write_state(o, &snapshot.state, &snapshot.terraform_version, &mut cache);
        }
        if !pending.is_empty() {
            o.object("formwork", |o| {
                o.text("format_version", "1.0");
                o.array("pending", |a| {
                    for operation in pending {
                        a.object(|o| {
                            o.text("address", &operation.address);
                            o.text("what", &operation.what);
                        });
                    }
                });
            });
        }
    });
    out.push('\n');
    out
}

/// The same of a state that holds the object at this address alone, and no outputs; `None` if it is
/// not there.
pub fn state_object_json(
    snapshot: &Snapshot,
    address: &AbsResourceInstance,
    schemas: &Schemas,
) -> Option<String> {
    let state = &snapshot.state;
    let instance = state.instance(address)?;
    let mut cache = SchemaCache::new(schemas);
    let mut tree = ModuleTree::default();
    add_instance(&mut tree, state, address, instance, &mut cache);
    let mut out = write::object(|o| {
        o.text("format_version", "1.0");
        if !snapshot.terraform_version.is_empty() {
            o.text("terraform_version", &snapshot.terraform_version);
        }
        o.object("values", |o| o.raw("root_module", &tree.root_json()));
    });
    out.push('\n');
    Some(out)
}

/// The current object of an instance, and its deposed ones.
fn add_instance(
    tree: &mut ModuleTree,
    state: &State,
    address: &AbsResourceInstance,
    instance: &InstanceState,
    cache: &mut SchemaCache<'_>,
) {
    let current = instance.current.iter().map(|object| (None, object));
    let deposed = instance.deposed.iter().map(|(key, o)| (Some(key), o));
    for (key, object) in current.chain(deposed) {
        let json = write::object(|o| write_object(o, state, address, key, object, cache));
        tree.add(&address.module, json);
    }
}

/// The state before a plan: results of checks are the plan's own.
pub(crate) fn write_prior(
    o: &mut Object<'_>,
    state: &State,
    version: &str,
    cache: &mut SchemaCache<'_>,
) {
    if !version.is_empty() {
        o.text("terraform_version", version);
    }
    o.object("values", |o| write_values(o, state, cache));
}

/// The fields after the format's version.
fn write_state(o: &mut Object<'_>, state: &State, version: &str, cache: &mut SchemaCache<'_>) {
    if state.is_empty() {
        return;
    }
    write_prior(o, state, version, cache);
    let checks = stored_checks(state.check_results());
    if !checks.is_empty() {
        o.array("checks", |a| write_checks(a, &checks));
    }
}

/// Objects by module, and outputs.
pub(crate) fn write_values(o: &mut Object<'_>, state: &State, cache: &mut SchemaCache<'_>) {
    let mut tree = ModuleTree::default();
    for (address, instance) in state.instances() {
        add_instance(&mut tree, state, &address, instance, cache);
    }
    if state.outputs().len() > 0 {
        o.object("outputs", |o| {
            for (name, output) in state.outputs() {
                let shown = match output.sensitive && cache.withholds {
                    true => "null",
                    false => output.value.get(),
                };
                o.object(name, |o| {
                    o.bool("sensitive", output.sensitive);
                    o.raw("value", shown);
                    o.raw("type", output.kind.get());
                });
            }
        });
    }
    o.raw("root_module", &tree.root_json());
}

/// The fields by which a resource instance is known, of plans and states alike.
pub(crate) fn write_identity(o: &mut Object<'_>, address: &AbsResourceInstance) {
    o.text("address", &address.to_string());
    o.text("mode", address.resource.mode.word());
    o.text("type", &address.resource.kind);
    o.text("name", &address.resource.name);
    write_key(o, "index", &address.key);
}

fn write_object(
    o: &mut Object<'_>,
    state: &State,
    address: &AbsResourceInstance,
    deposed: Option<&DeposedKey>,
    object: &ResourceInstanceObject,
    cache: &mut SchemaCache<'_>,
) {
    write_identity(o, address);
    let provider = state.provider(address).map(|p| p.provider.clone());
    if let Some(provider) = &provider {
        o.text("provider_name", &provider.to_string());
    }
    o.integer("schema_version", i128::from(object.schema_version));
    let schema = provider.and_then(|p| cache.schema(&p, &address.resource));
    let raw = object.attributes_json();
    match decode_by_schema(object, schema.as_deref()) {
        Some(value) => {
            let value = cache.shown(mark(value, object, schema.as_deref()));
            o.raw("values", &known(&value));
            o.raw("sensitive_values", &sensitive_parts(&value));
        }
        // without the schema by which it was written, what is stored is the best there is
        None => {
            if let Some(raw) = raw.filter(|_| !cache.withholds) {
                o.raw("values", raw.get());
            }
            let value = formwork_values::implied_from_json(
                raw.map_or(b"{}".as_slice(), |raw| raw.get().as_bytes()),
            );
            let sensitive = value.map_or_else(
                |_| "{}".to_owned(),
                |value| sensitive_parts(&mark(value, object, None)),
            );
            o.raw("sensitive_values", &sensitive);
        }
    }
    if !object.dependencies.is_empty() {
        o.array("depends_on", |a| {
            for dependency in object.dependencies.iter() {
                a.text(&dependency.to_string());
            }
        });
    }
    if object.is_tainted() {
        o.bool("tainted", true);
    }
    if let Some(key) = deposed {
        o.text("deposed_key", key.as_str());
    }
    if let Some(version) = object
        .identity_schema_version
        .filter(|_| object.identity.is_some())
    {
        o.integer("identity_schema_version", i128::from(version));
    }
    if let Some(identity) = &object.identity {
        o.raw("identity", identity.get());
    }
}

/// All outputs as `output -json` has them, indented, with a line end. They are asked for by name, so
/// sensitive ones are there.
pub fn outputs_json<'o>(outputs: impl IntoIterator<Item = (&'o str, &'o OutputState)>) -> String {
    let compact = write::object(|o| {
        for (name, output) in outputs {
            o.object(name, |o| {
                o.bool("sensitive", output.sensitive);
                o.raw("type", output.kind.get());
                o.raw("value", output.value.get());
            });
        }
    });
    let mut out = write::indented(&compact);
    out.push('\n');
    out
}

/// The value of one output on one line, with a line end.
pub fn output_json(output: &OutputState) -> String {
    format!("{}\n", output.value.get())
}

/// The workspaces as `workspace list -json` has them, indented, with a line end.
pub fn workspaces_json(names: &[String], current: &str) -> String {
    let compact = write::object(|o| {
        o.text("format_version", "1.0");
        o.array("workspaces", |a| {
            for name in names {
                a.object(|o| {
                    o.text("name", name);
                    o.bool("is_current", name == current);
                });
            }
        });
        o.array("diagnostics", |_| {});
    });
    let mut out = write::indented(&compact);
    out.push('\n');
    out
}
