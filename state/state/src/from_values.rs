//! Objects and outputs made of values, and outputs read back. Objects are read back only by whoever
//! has the provider's current schema.

use crate::object::ResourceInstanceObject;
use crate::raw::RawJson;
use crate::resource::OutputState;
use crate::sensitive::SensitivePaths;
use formwork_values::{EncodeError, Type, Value, value_from_json, value_to_json_as};

impl ResourceInstanceObject {
    /// A ready object with the attributes of `value`, an object of type `ty`; what is marked as
    /// sensitive becomes its sensitive paths.
    ///
    /// # Errors
    /// If the value holds something unknown, which state cannot.
    pub fn from_value(schema_version: u64, value: &Value, ty: &Type) -> Result<Self, EncodeError> {
        let (plain, marks) = value.clone().unmark_deep();
        let attributes = raw(value_to_json_as(&plain, ty)?);
        let sensitive = marks
            .into_iter()
            .filter(|(_, m)| m.is_sensitive())
            .map(|(p, _)| p)
            .collect();
        let mut object = Self::new(schema_version, attributes);
        object.sensitive = SensitivePaths::from_paths(sensitive);
        Ok(object)
    }
}

impl ResourceInstanceObject {
    /// Gives the object an identity, an object of type `ty`.
    ///
    /// # Errors
    /// If it holds something unknown, which state cannot.
    pub fn set_identity(
        &mut self,
        version: u64,
        identity: &Value,
        ty: &Type,
    ) -> Result<(), EncodeError> {
        self.identity = Some(raw(value_to_json_as(identity, ty)?));
        self.identity_schema_version = Some(version);
        Ok(())
    }

    /// Its identity as an object of type `ty`, if it has one that was stored by that version.
    pub fn identity_value(&self, version: u64, ty: &Type) -> Option<Value> {
        let identity = self.identity.as_ref()?;
        if self.identity_schema_version.unwrap_or(0) != version {
            return None;
        }
        let value = value_from_json(identity.get().as_bytes(), ty).ok()?;
        (!value.is_null()).then_some(value)
    }
}

impl OutputState {
    /// An output of this value.
    ///
    /// # Errors
    /// If the value holds something unknown, which state cannot.
    pub fn from_value(value: &Value, sensitive: bool) -> Result<Self, EncodeError> {
        let (plain, _) = value.clone().unmark_deep();
        let ty = plain.type_of();
        Ok(Self {
            value: raw(value_to_json_as(&plain, &ty)?),
            kind: raw(ty.to_json().to_string()),
            sensitive,
            other: crate::OtherKeys::default(),
        })
    }

    /// Its value, marked sensitive if it is; `None` if value and type do not agree.
    pub fn to_value(&self) -> Option<Value> {
        let ty = Type::from_json_bytes(self.kind.get().as_bytes()).ok()?;
        let value = value_from_json(self.value.get().as_bytes(), &ty).ok()?;
        Some(if self.sensitive {
            value.sensitive()
        } else {
            value
        })
    }
}

/// Text that an encoder of values has made.
fn raw(text: String) -> RawJson {
    // The encoder writes JSON, so the null never arises.
    RawJson::parse(&text).unwrap_or_else(|_| RawJson::null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_keep_sensitive_paths_and_dynamic_types() {
        let ty = Type::object([("any", Type::Dynamic), ("n", Type::Number)]);
        let value = Value::object([
            ("any", Value::string("x").sensitive()),
            ("n", Value::int(7)),
        ]);
        let object = ResourceInstanceObject::from_value(3, &value, &ty).expect("known");
        let json = object.attributes_json().expect("json").get();
        assert_eq!(json, r#"{"any":{"value":"x","type":"string"},"n":7}"#);
        assert_eq!(object.sensitive.paths().len(), 1);
        assert!(ResourceInstanceObject::from_value(0, &Value::unknown(ty.clone()), &ty).is_err());
    }

    #[test]
    fn outputs_round_trip() {
        for value in [
            Value::int(1),
            Value::tuple(vec![Value::bool(true), Value::null(Type::String)]),
        ] {
            let output = OutputState::from_value(&value.clone().sensitive(), true).expect("known");
            assert!(output.to_value() == Some(value.sensitive()));
        }
    }
}
