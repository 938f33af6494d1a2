//! Plans by hand, for the tests of rules.

use crate::review;
use formwork_diagnostics::Diagnostics;
use formwork_plan::{Action, Plan, ResourceInstanceChange};
use formwork_topology::Topology;
use formwork_values::{Origin, Path, Type, Value};
use std::sync::Arc;

/// Text.
pub(crate) fn text(text: &str) -> Value {
    Value::string(text)
}

/// The attribute of an instance that is not known yet.
pub(crate) fn of(address: &str, attribute: &str) -> Value {
    let origin = Origin {
        address: Arc::new(address.parse().expect("an address")),
        path: Path::ROOT.attribute(attribute),
    };
    Value::unknown(Type::String).with_origin(&Arc::new(origin))
}

/// An object, as a block has it.
pub(crate) fn object<const N: usize>(attributes: [(&'static str, Value); N]) -> Value {
    Value::object(attributes)
}

/// Blocks of one kind.
pub(crate) fn list(values: Vec<Value>) -> Value {
    let element = values.first().map_or(Type::Dynamic, Value::type_of);
    Value::list(element, values)
}

/// A plan that grows.
#[derive(Clone, Default)]
pub(crate) struct Sample(Vec<ResourceInstanceChange>);

type Attributes = Vec<(&'static str, Value)>;

impl Sample {
    /// An instance that is made; what Google fills in is unknown.
    pub fn create(&mut self, address: &str, attributes: impl Into<Attributes>) {
        let mut all = attributes.into();
        for computed in ["id", "self_link", "project"] {
            if !all.iter().any(|(name, _)| *name == computed) {
                all.push((computed, Value::unknown(Type::String)));
            }
        }
        let after = Value::object(all);
        self.push(address, Action::Create, Value::NULL, after);
    }

    /// An instance that stays as it is.
    pub fn keep(&mut self, address: &str, attributes: impl Into<Attributes>) {
        let value = Value::object(attributes.into());
        self.push(address, Action::NoOp, value.clone(), value);
    }

    /// An instance that goes.
    pub fn delete(&mut self, address: &str, attributes: impl Into<Attributes>) {
        let value = Value::object(attributes.into());
        self.push(address, Action::Delete, value, Value::NULL);
    }

    fn push(&mut self, address: &str, action: Action, before: Value, after: Value) {
        self.0.push(ResourceInstanceChange {
            address: address.parse().expect("an address"),
            previous_address: None,
            deposed: None,
            provider: "provider[\"registry.terraform.io/hashicorp/google\"]"
                .parse()
                .expect("a provider"),
            action,
            reason: None,
            before,
            after,
            replace_paths: Vec::new(),
            planned_private: [].into(),
            schema_version: 0,
            dependencies: Vec::new(),
            create_before_destroy: false,
            importing: None,
            legacy_type_system: false,
            identity: Default::default(),
        });
    }

    /// The plan, in address order as plans are.
    pub fn plan(mut self) -> Plan {
        self.0.sort_by(|a, b| a.address.cmp(&b.address));
        Plan {
            changes: self.0,
            ..Plan::default()
        }
    }

    /// What the rules find, by the built-in machine facts.
    pub fn review(self) -> Diagnostics {
        review(&self.plan(), Topology::builtin())
    }
}
