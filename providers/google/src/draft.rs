//! Objects in the making: positional, by the schema's names.

use std::sync::Arc;

use formwork_google_schema::Resource;
use formwork_values::{Kind, ObjectType, Type, Value};

/// An object of a resource type whose attributes can be replaced.
#[derive(Clone)]
pub(crate) struct Draft {
    ty: Arc<ObjectType>,
    values: Vec<Value>,
}

impl Draft {
    /// All null.
    pub(crate) fn empty(resource: &Resource) -> Self {
        let ty = Arc::clone(resource.schema.object_type());
        let values = ty.types().iter().map(|t| Value::null(t.clone())).collect();
        Self { ty, values }
    }

    /// Of an object; of null, all null. An object of another type is read by name.
    pub(crate) fn of(resource: &Resource, value: &Value) -> Self {
        let mut draft = Self::empty(resource);
        match value.kind() {
            Kind::Object(ty, values) if **ty == *draft.ty => draft.values = values.to_vec(),
            Kind::Object(ty, values) => {
                for (name, v) in ty.names().iter().zip(values) {
                    draft.set(name, v.clone());
                }
            }
            _ => {}
        }
        draft
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.ty.position(name).and_then(|at| self.values.get(at))
    }

    /// Text that is known and not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)
            .and_then(Value::as_str)
            .filter(|t| !t.is_empty())
    }

    pub(crate) fn bool(&self, name: &str) -> Option<bool> {
        self.get(name).and_then(Value::as_bool)
    }

    /// Replaces an attribute; a name that the type does not have is ignored.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        if let Some(slot) = self
            .ty
            .position(name)
            .and_then(|at| self.values.get_mut(at))
        {
            *slot = value;
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.ty.has(name)
    }

    pub(crate) fn ty(&self, name: &str) -> Type {
        self.ty.attribute(name).cloned().unwrap_or(Type::Dynamic)
    }

    pub(crate) fn into_value(self) -> Value {
        Value::object_of(self.ty, self.values)
    }
}

/// The text of an attribute of an object, if it is known and not empty.
pub(crate) fn text<'v>(object: &'v Value, name: &str) -> Option<&'v str> {
    object
        .attribute(name)
        .and_then(Value::as_str)
        .filter(|t| !t.is_empty())
}

/// A string map's entries whose values are known texts.
pub(crate) fn entries(map: Option<&Value>) -> Vec<(Arc<str>, Arc<str>)> {
    map.and_then(Value::as_map)
        .into_iter()
        .flatten()
        .filter_map(|(k, v)| Some((Arc::clone(k), Arc::clone(v.as_shared_str()?))))
        .collect()
}
