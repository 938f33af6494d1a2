//! Resources by module: `root_module` and its `child_modules`.

use super::write::{Object, object};
use formwork_addresses::{InstanceKey, ModuleInstance, ModuleInstanceStep};
use formwork_syntax::on_deep_stack;
use std::collections::BTreeMap;

/// A module instance, the resources written in it, and the instances it calls.
#[derive(Default)]
pub(crate) struct ModuleTree {
    resources: Vec<String>,
    children: BTreeMap<ModuleInstanceStep, ModuleTree>,
}

impl ModuleTree {
    /// Puts a resource, as JSON, into its module.
    pub(crate) fn add(&mut self, module: &ModuleInstance, resource: String) {
        let mut here = self;
        for step in module.steps() {
            here = here.children.entry(step.clone()).or_default();
        }
        here.resources.push(resource);
    }

    /// The fields of the module.
    pub(crate) fn write(&self, o: &mut Object<'_>, module: &ModuleInstance) {
        on_deep_stack(|| {
            if !self.resources.is_empty() {
                o.array("resources", |a| {
                    for resource in &self.resources {
                        a.raw(resource);
                    }
                });
            }
            if !module.is_root() {
                o.text("address", &module.to_string());
            }
            if !self.children.is_empty() {
                o.array("child_modules", |a| {
                    for (step, child) in &self.children {
                        let address = module.child(&step.name, step.key.clone());
                        a.object(|o| child.write(o, &address));
                    }
                });
            }
        });
    }

    /// The JSON of the root module: always an object, since consumers follow it without asking.
    pub(crate) fn root_json(&self) -> String {
        object(|o| self.write(o, &ModuleInstance::root()))
    }
}

/// Instance keys as JSON: a number or a string.
pub(crate) fn write_key(o: &mut Object<'_>, field: &str, key: &InstanceKey) {
    match key {
        InstanceKey::None => {}
        InstanceKey::Int(n) => o.integer(field, *n),
        InstanceKey::Text(t) => o.text(field, t),
    }
}
