//! `providers schema -json` and `metadata functions -json`, formats 1.0.

use super::write::{self, Object};
use crate::diagnostics::Signatures;
use crate::schemas::Schemas;
use formwork_eval::{Functions, Parameter, Signature};
use formwork_provider_schema::{
    Attribute, AttributeKind, AttributeNesting, Block, BlockNesting, FunctionParameter,
    FunctionSignature, IdentitySchema, Schema, SchemaSource,
};
use formwork_syntax::on_deep_stack;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All schemas of all providers, on one line, with a line end.
pub fn schemas_json(schemas: &Schemas) -> String {
    let mut out = write::object(|o| {
        o.text("format_version", "1.0");
        write_schemas(o, schemas);
    });
    out.push('\n');
    out
}

pub(super) fn write_schemas(o: &mut Object<'_>, schemas: &Schemas) {
    if !schemas.is_empty() {
        o.object("provider_schemas", |o| {
            for (address, source) in schemas {
                o.object(&address.to_string(), |o| write_source(o, &**source));
            }
        });
    }
}

/// Finds a schema of one kind by name.
type Find<'s> = &'s dyn Fn(&str) -> Option<Arc<Schema>>;

fn write_source(o: &mut Object<'_>, source: &dyn SchemaSource) {
    let config = source.provider_config();
    o.object("provider", |o| {
        o.integer("version", i128::from(config.version));
        if config.block.iter().len() > 0 {
            o.object("block", |o| write_block(o, &config.block));
        }
    });
    let kinds: [(&str, Vec<Arc<str>>, Find<'_>); 3] = [
        ("resource_schemas", source.resource_names(), &|n| {
            source.resource(n)
        }),
        ("data_source_schemas", source.data_source_names(), &|n| {
            source.data_source(n)
        }),
        (
            "ephemeral_resource_schemas",
            source.ephemeral_resource_names(),
            &|n| source.ephemeral_resource(n),
        ),
    ];
    for (field, names, find) in kinds {
        if names.is_empty() {
            continue;
        }
        o.object(field, |o| {
            for name in &names {
                if let Some(schema) = find(name) {
                    o.object(name, |o| {
                        o.integer("version", i128::from(schema.version));
                        o.object("block", |o| write_block(o, &schema.block));
                    });
                }
            }
        });
    }
    let functions = source.function_names();
    if !functions.is_empty() {
        o.object("functions", |o| {
            for name in &functions {
                if let Some(signature) = source.function(name) {
                    o.object(name, |o| write_function(o, &signature));
                }
            }
        });
    }
    let identities: Vec<(Arc<str>, Arc<IdentitySchema>)> = source
        .resource_names()
        .into_iter()
        .filter_map(|name| source.identity(&name).map(|i| (name, i)))
        .collect();
    if !identities.is_empty() {
        o.object("resource_identity_schemas", |o| {
            for (name, identity) in &identities {
                o.object(name, |o| write_identity_schema(o, identity));
            }
        });
    }
}

fn description_kind(markdown: bool) -> &'static str {
    if markdown { "markdown" } else { "plain" }
}

fn write_block(o: &mut Object<'_>, block: &Block) {
    on_deep_stack(|| {
        if block.attributes().next().is_some() {
            o.object("attributes", |o| write_attributes(o, block));
        }
        if block.nested_blocks().next().is_some() {
            o.object("block_types", |o| {
                for (name, nested) in block.nested_blocks() {
                    o.object(name, |o| {
                        o.text(
                            "nesting_mode",
                            match nested.nesting {
                                BlockNesting::Single => "single",
                                BlockNesting::Group => "group",
                                BlockNesting::List => "list",
                                BlockNesting::Set => "set",
                                BlockNesting::Map => "map",
                            },
                        );
                        o.object("block", |o| write_block(o, &nested.block));
                        if nested.min_items > 0 {
                            o.integer("min_items", i128::from(nested.min_items));
                        }
                        if nested.max_items > 0 {
                            o.integer("max_items", i128::from(nested.max_items));
                        }
                    });
                }
            });
        }
        if !block.description.is_empty() {
            o.text("description", &block.description);
        }
        o.text("description_kind", description_kind(block.markdown));
        if block.deprecated.is_some() {
            o.bool("deprecated", true);
        }
    });
}

fn write_attributes(o: &mut Object<'_>, block: &Block) {
    for (name, attribute) in block.attributes() {
        o.object(name, |o| write_attribute(o, attribute));
    }
}

fn write_attribute(o: &mut Object<'_>, attribute: &Attribute) {
    match &attribute.kind {
        AttributeKind::Value(ty) => o.raw("type", &ty.to_json().to_string()),
        AttributeKind::Nested(nested) => o.object("nested_type", |o| {
            o.object("attributes", |o| {
                on_deep_stack(|| write_attributes(o, &nested.object));
            });
            o.text(
                "nesting_mode",
                match nested.nesting {
                    AttributeNesting::Single => "single",
                    AttributeNesting::List => "list",
                    AttributeNesting::Set => "set",
                    AttributeNesting::Map => "map",
                },
            );
        }),
    }
    if !attribute.description.is_empty() {
        o.text("description", &attribute.description);
    }
    o.text("description_kind", description_kind(attribute.markdown));
    for (field, set) in [
        ("deprecated", attribute.deprecated.is_some()),
        ("required", attribute.required),
        ("optional", attribute.optional),
        ("computed", attribute.computed),
        ("sensitive", attribute.sensitive),
        ("write_only", attribute.write_only),
    ] {
        if set {
            o.bool(field, true);
        }
    }
}

fn write_identity_schema(o: &mut Object<'_>, identity: &IdentitySchema) {
    o.integer("version", i128::from(identity.version));
    o.object("attributes", |o| {
        for (name, attribute) in identity.iter() {
            o.object(name, |o| {
                o.raw("type", &attribute.ty.to_json().to_string());
                if !attribute.description.is_empty() {
                    o.text("description", &attribute.description);
                }
                if attribute.required_for_import {
                    o.bool("required_for_import", true);
                }
                if attribute.optional_for_import {
                    o.bool("optional_for_import", true);
                }
            });
        }
    });
}

/// A function of a provider.
fn write_function(o: &mut Object<'_>, signature: &FunctionSignature) {
    for (field, text) in [
        ("description", &signature.description),
        ("summary", &signature.summary),
    ] {
        if !text.is_empty() {
            o.text(field, text);
        }
    }
    if let Some(message) = &signature.deprecated {
        o.text("deprecation_message", message);
    }
    o.raw("return_type", &signature.return_type.to_json().to_string());
    let parameter = |o: &mut Object<'_>, p: &FunctionParameter| {
        o.text("name", &p.name);
        if !p.description.is_empty() {
            o.text("description", &p.description);
        }
        if p.allow_null {
            o.bool("is_nullable", true);
        }
        o.raw("type", &p.ty.to_json().to_string());
    };
    if !signature.parameters.is_empty() {
        o.array("parameters", |a| {
            for p in &signature.parameters {
                a.object(|o| parameter(o, p));
            }
        });
    }
    if let Some(p) = &signature.variadic {
        o.object("variadic_parameter", |o| parameter(o, p));
    }
}

/// The signatures of the language's own functions, on one line, with a line end. Each is there under
/// its plain name and under `core::`.
pub fn functions_json(functions: &dyn Functions) -> String {
    let mut by_name: BTreeMap<String, Arc<Signature>> = BTreeMap::new();
    for name in functions.names() {
        if let Some(signature) = functions.signature(&name) {
            if !name.contains("::") {
                by_name.insert(format!("core::{name}"), signature.clone());
            }
            by_name.insert(name.to_string(), signature);
        }
    }
    let mut out = write::object(|o| {
        o.text("format_version", "1.0");
        o.object("function_signatures", |o| {
            for (name, signature) in &by_name {
                o.object(name, |o| {
                    o.raw("return_type", &signature.returns.to_json().to_string());
                    if !signature.parameters.is_empty() {
                        o.array("parameters", |a| {
                            for p in &signature.parameters {
                                a.object(|o| write_parameter(o, p, true));
                            }
                        });
                    }
                    if let Some(p) = &signature.variadic {
                        o.object("variadic_parameter", |o| write_parameter(o, p, true));
                    }
                });
            }
        });
    });
    out.push('\n');
    out
}

fn write_parameter(o: &mut Object<'_>, parameter: &Parameter, with_null: bool) {
    o.text("name", &parameter.name);
    if with_null && parameter.nullable {
        o.bool("is_nullable", true);
    }
    o.raw("type", &parameter.ty.to_json().to_string());
}

/// The signatures that diagnostics show, of these functions.
pub struct KnownFunctions<'f>(pub &'f dyn Functions);

impl Signatures for KnownFunctions<'_> {
    fn signature(&self, called_as: &str) -> Option<String> {
        let signature = self.0.signature(called_as)?;
        Some(write::object(|o| {
            o.text("name", called_as);
            o.array("params", |a| {
                for p in &signature.parameters {
                    a.object(|o| write_parameter(o, p, false));
                }
            });
            if let Some(p) = &signature.variadic {
                o.object("variadic_param", |o| write_parameter(o, p, false));
            }
            o.raw("return_type", &signature.returns.to_json().to_string());
        }))
    }
}
