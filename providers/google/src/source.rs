//! The provider's schemas, made when they are asked for.

use std::sync::{Arc, OnceLock};

use formwork_provider_schema::{
    Capabilities, IdentityAttribute, IdentitySchema, Schema, SchemaSource,
};
use formwork_values::Type;

/// All types with data, run or not: a configuration of any of them can be validated.
pub(crate) struct Source;

impl SchemaSource for Source {
    fn provider_config(&self) -> Arc<Schema> {
        static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
        Arc::clone(SCHEMA.get_or_init(|| Arc::new(crate::settings::schema())))
    }

    fn resource(&self, name: &str) -> Option<Arc<Schema>> {
        formwork_google_schema::resource(name).map(|r| Arc::clone(&r.schema))
    }

    fn data_source(&self, name: &str) -> Option<Arc<Schema>> {
        formwork_google_schema::data_source(name).map(|r| Arc::clone(&r.schema))
    }

    fn identity(&self, name: &str) -> Option<Arc<IdentitySchema>> {
        let resource = formwork_google_schema::resource(name)?;
        if resource.identity.is_empty() {
            return None;
        }
        Some(Arc::new(IdentitySchema::new(
            0,
            resource.identity.iter().map(|(name, required)| {
                let attribute = IdentityAttribute {
                    ty: Type::String,
                    required_for_import: *required,
                    optional_for_import: !*required,
                    description: Arc::from(""),
                };
                (Arc::clone(name), attribute)
            }),
        )))
    }

    fn resource_names(&self) -> Vec<Arc<str>> {
        formwork_google_schema::resource_names()
    }

    fn data_source_names(&self) -> Vec<Arc<str>> {
        formwork_google_schema::data_source_names()
    }

    fn is_partial(&self) -> bool {
        true
    }

    fn release(&self) -> Option<&str> {
        Some(formwork_google_schema::RELEASE)
    }

    fn unserved_resource_names(&self) -> Vec<Arc<str>> {
        formwork_google_schema::unserved_resource_names()
    }

    fn unserved_data_source_names(&self) -> Vec<Arc<str>> {
        formwork_google_schema::unserved_data_source_names()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
}
