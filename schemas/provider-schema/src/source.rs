//! What a provider offers: schemas by kind and name.

use std::collections::BTreeMap;
use std::sync::Arc;

use formwork_values::{Kind, ObjectType, Type, Value};

use crate::{FunctionSignature, Schema};

/// The schemas of a provider, given one by one so that unused ones need not be made.
///
/// The same question always gets the same answer.
pub trait SchemaSource: Send + Sync {
    /// The provider's own configuration.
    fn provider_config(&self) -> Arc<Schema>;

    /// The type of `meta` blocks in modules, if the provider takes any.
    fn provider_meta(&self) -> Option<Arc<Schema>> {
        None
    }

    /// A managed resource type.
    fn resource(&self, name: &str) -> Option<Arc<Schema>>;

    /// A data source.
    fn data_source(&self, name: &str) -> Option<Arc<Schema>>;

    /// An ephemeral resource type.
    fn ephemeral_resource(&self, name: &str) -> Option<Arc<Schema>> {
        let _ = name;
        None
    }

    /// The identity of a managed resource type, if it has one.
    fn identity(&self, name: &str) -> Option<Arc<IdentitySchema>> {
        let _ = name;
        None
    }

    /// A function.
    fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        let _ = name;
        None
    }

    /// Names of managed resource types, in byte order.
    fn resource_names(&self) -> Vec<Arc<str>>;

    /// Names of data sources, in byte order.
    fn data_source_names(&self) -> Vec<Arc<str>>;

    /// Names of ephemeral resource types, in byte order.
    fn ephemeral_resource_names(&self) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// Names of functions, in byte order.
    fn function_names(&self) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// Whether the provider is known to have types elsewhere that it does not serve here, so that a
    /// type which is not among these need not be a mistake of the user's.
    fn is_partial(&self) -> bool {
        false
    }

    /// The release of the provider whose types these are, where they stand for other releases too.
    fn release(&self) -> Option<&str> {
        None
    }

    /// Names of managed resource types that the provider has elsewhere but does not serve here.
    fn unserved_resource_names(&self) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// Names of data sources that the provider has elsewhere but does not serve here.
    fn unserved_data_source_names(&self) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// What the provider can do beyond the minimum.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
}

/// What a provider can do beyond the minimum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// It wants to be asked to plan deletions too.
    pub plan_destroy: bool,
    /// It can take over objects of other types or providers.
    pub move_resource_state: bool,
    /// It can write configuration for imported objects itself.
    pub generate_resource_config: bool,
}

/// What identifies an object of a resource type for good.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentitySchema {
    /// Raised when stored identities need upgrading.
    pub version: u64,
    attributes: Vec<IdentityAttribute>,
    object: Arc<ObjectType>,
}

/// One attribute of an identity.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityAttribute {
    /// Its type.
    pub ty: Type,
    /// An import must give it.
    pub required_for_import: bool,
    /// An import may give it.
    pub optional_for_import: bool,
    /// What it is, for people.
    pub description: Arc<str>,
}

impl IdentitySchema {
    /// An identity of the given attributes.
    pub fn new<N: Into<Arc<str>>>(
        version: u64,
        attributes: impl IntoIterator<Item = (N, IdentityAttribute)>,
    ) -> IdentitySchema {
        let by_name: BTreeMap<Arc<str>, IdentityAttribute> =
            attributes.into_iter().map(|(n, a)| (n.into(), a)).collect();
        let object = ObjectType::new(by_name.iter().map(|(n, a)| (n.clone(), a.ty.clone())));
        IdentitySchema {
            version,
            attributes: by_name.into_values().collect(),
            object: Arc::new(object),
        }
    }

    /// The type of identities.
    pub fn object_type(&self) -> &Arc<ObjectType> {
        &self.object
    }

    /// The same as a type.
    pub fn ty(&self) -> Type {
        Type::Object(self.object.clone())
    }

    /// A provider's answer as an identity by this schema; `None` if it is none.
    pub fn adopted(&self, identity: Value) -> Option<Value> {
        match identity.kind() {
            Kind::Object(ty, values) if **ty == *self.object => {
                Some(Value::object_of(self.object.clone(), values.to_vec()))
            }
            _ => None,
        }
    }

    /// The attributes with their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &IdentityAttribute)> {
        self.object.names().iter().zip(&self.attributes)
    }
}

/// Schemas of a provider that are all there.
#[derive(Clone, Debug, Default)]
pub struct ProviderSchema {
    /// The provider's own configuration; absent for one without.
    pub provider_config: Option<Arc<Schema>>,
    /// The type of `meta` blocks in modules.
    pub provider_meta: Option<Arc<Schema>>,
    /// Managed resource types.
    pub resources: BTreeMap<Arc<str>, Arc<Schema>>,
    /// Data sources.
    pub data_sources: BTreeMap<Arc<str>, Arc<Schema>>,
    /// Ephemeral resource types.
    pub ephemeral_resources: BTreeMap<Arc<str>, Arc<Schema>>,
    /// Identities of managed resource types.
    pub identities: BTreeMap<Arc<str>, Arc<IdentitySchema>>,
    /// Functions.
    pub functions: BTreeMap<Arc<str>, Arc<FunctionSignature>>,
    /// What the provider can do beyond the minimum.
    pub capabilities: Capabilities,
}

impl SchemaSource for ProviderSchema {
    fn provider_config(&self) -> Arc<Schema> {
        match &self.provider_config {
            Some(schema) => schema.clone(),
            None => Arc::new(Schema::new(0, crate::Block::of_attributes::<Arc<str>>([]))),
        }
    }

    fn provider_meta(&self) -> Option<Arc<Schema>> {
        self.provider_meta.clone()
    }

    fn resource(&self, name: &str) -> Option<Arc<Schema>> {
        self.resources.get(name).cloned()
    }

    fn data_source(&self, name: &str) -> Option<Arc<Schema>> {
        self.data_sources.get(name).cloned()
    }

    fn ephemeral_resource(&self, name: &str) -> Option<Arc<Schema>> {
        self.ephemeral_resources.get(name).cloned()
    }

    fn identity(&self, name: &str) -> Option<Arc<IdentitySchema>> {
        self.identities.get(name).cloned()
    }

    fn function(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        self.functions.get(name).cloned()
    }

    fn resource_names(&self) -> Vec<Arc<str>> {
        self.resources.keys().cloned().collect()
    }

    fn data_source_names(&self) -> Vec<Arc<str>> {
        self.data_sources.keys().cloned().collect()
    }

    fn ephemeral_resource_names(&self) -> Vec<Arc<str>> {
        self.ephemeral_resources.keys().cloned().collect()
    }

    fn function_names(&self) -> Vec<Arc<str>> {
        self.functions.keys().cloned().collect()
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }
}
