//! The `configuration` of the plan JSON: blocks as written, expressions as constants or as the
//! references they make.
//!
//! Facts of the format: an expression is `{"constant_value": V}` if it can be known from its text
//! alone, else `{"references": [...]}` with each reference followed by its prefixes down to what is
//! named, else (calls without references) `{}`. What a provider defines is read by its schema;
//! blocks that only evaluation can expand (`dynamic`) are not there.

use super::values::known;
use super::write::{self, Array, Object};
use crate::schemas::SchemaCache;
use formwork_addresses::{LocalProviderConfig, ModulePath, ProviderAddr, ResourceMode, Subject};
use formwork_configuration::{
    Configuration, FoundReference, Module, ModuleCall, Provisioner, Repetition, ResourceBlock,
    StaticReference, expression_references,
};
use formwork_eval::evaluate_literal;
use formwork_provider_schema::{Block as SchemaBlock, BlockNesting, NestedBlock};
use formwork_syntax::{AttributeSchema, BlockSchema, Body, BodySchema, Expression, on_deep_stack};
use std::collections::{BTreeMap, BTreeSet};

/// The fields of `configuration`.
pub(crate) fn write_configuration(
    o: &mut Object<'_>,
    configuration: &Configuration,
    cache: &mut SchemaCache<'_>,
) {
    let providers = provider_configs(configuration);
    if !providers.is_empty() {
        o.object("provider_config", |o| {
            for (key, config) in &providers {
                o.object(key, |o| write_provider(o, config, cache));
            }
        });
    }
    o.object("root_module", |o| {
        if let Some(root) = configuration.root() {
            let mut writer = Writer {
                configuration,
                cache,
            };
            writer.module(o, &ModulePath::root(), root);
        }
    });
}

/// A provider configuration of a module, declared or implied.
struct ProviderEntry<'c> {
    module: ModulePath,
    local: LocalProviderConfig,
    provider: ProviderAddr,
    version: Option<String>,
    body: Option<&'c Body>,
}

/// How the format names a provider configuration.
fn provider_key(module: &ModulePath, local: &LocalProviderConfig) -> String {
    if module.is_root() {
        local.to_string()
    } else {
        format!("{module}:{local}")
    }
}

fn provider_configs(configuration: &Configuration) -> BTreeMap<String, ProviderEntry<'_>> {
    let mut all = BTreeMap::new();
    for (path, module) in configuration.modules() {
        let mut locals: BTreeSet<LocalProviderConfig> = module.providers.keys().cloned().collect();
        locals.extend(
            module
                .requirements
                .keys()
                .map(|n| LocalProviderConfig::default_of(n)),
        );
        let scoped = module.scoped_resources().map(|(_, r)| r);
        for resource in module.resources.values().chain(scoped) {
            let local = resource.local_provider();
            // what is handed in or taken over is the caller's
            let resolved = configuration.resolve_provider(path, &local);
            let own = resolved.is_ok_and(|r| !r.declared || r.config.module == *path);
            if own {
                locals.insert(local);
            }
        }
        for local in locals {
            let block = module.providers.get(&local);
            let required = module.requirements.get(&local.name);
            let version = block
                .and_then(|b| b.version.as_ref())
                .or_else(|| required.and_then(|r| r.version.as_ref()))
                .map(ToString::to_string);
            let entry = ProviderEntry {
                module: path.clone(),
                provider: module.provider_of_name(&local.name),
                version,
                body: block.map(|b| &b.body),
                local: local.clone(),
            };
            all.insert(provider_key(path, &local), entry);
        }
    }
    all
}

fn write_provider(o: &mut Object<'_>, entry: &ProviderEntry<'_>, cache: &mut SchemaCache<'_>) {
    o.text("name", &entry.local.name);
    o.text("full_name", &entry.provider.to_string());
    if let Some(alias) = &entry.local.alias {
        o.text("alias", alias);
    }
    if let Some(version) = &entry.version {
        o.text("version_constraint", version);
    }
    if !entry.module.is_root() {
        o.text("module_address", &entry.module.to_string());
    }
    if let Some(body) = entry.body {
        let schema = cache.provider_config(&entry.provider);
        let block = schema.as_ref().map(|s| &*s.block);
        write_expressions(o, "expressions", body, block);
    }
}

struct Writer<'c, 's, 'w> {
    configuration: &'c Configuration,
    cache: &'w mut SchemaCache<'s>,
}

impl Writer<'_, '_, '_> {
    fn module(&mut self, o: &mut Object<'_>, path: &ModulePath, module: &Module) {
        on_deep_stack(|| self.module_step(o, path, module));
    }

    fn module_step(&mut self, o: &mut Object<'_>, path: &ModulePath, module: &Module) {
        if !module.outputs.is_empty() {
            o.object("outputs", |o| {
                for (name, output) in &module.outputs {
                    o.object(name, |o| {
                        if output.sensitive {
                            o.bool("sensitive", true);
                        }
                        if output.ephemeral {
                            o.bool("ephemeral", true);
                        }
                        o.raw("expression", &expression_json(&output.expression));
                        write_depends_on(o, &output.depends_on);
                        if let Some(text) = &output.description {
                            o.text("description", text);
                        }
                    });
                }
            });
        }
        // managed ones first, then what is read
        let mut resources: Vec<&ResourceBlock> = module
            .resources
            .values()
            .chain(module.scoped_resources().map(|(_, r)| r))
            .map(|r| &**r)
            .filter(|r| r.address.mode != ResourceMode::Ephemeral)
            .collect();
        resources.sort_by_key(|r| (r.address.mode != ResourceMode::Managed, &r.address));
        resources.dedup_by_key(|r| &r.address);
        if !resources.is_empty() {
            o.array("resources", |a| {
                for resource in resources {
                    a.object(|o| self.resource(o, path, resource));
                }
            });
        }
        if !module.calls.is_empty() {
            o.object("module_calls", |o| {
                for (name, call) in &module.calls {
                    o.object(name, |o| self.call(o, path, call));
                }
            });
        }
        if !module.variables.is_empty() {
            o.object("variables", |o| {
                for (name, variable) in &module.variables {
                    o.object(name, |o| {
                        if let Some(default) = &variable.default {
                            o.raw("default", &known(default));
                        }
                        if let Some(text) = &variable.description {
                            o.text("description", text);
                        }
                        if variable.sensitive {
                            o.bool("sensitive", true);
                        }
                        if variable.ephemeral {
                            o.bool("ephemeral", true);
                        }
                    });
                }
            });
        }
    }

    fn resource(&mut self, o: &mut Object<'_>, path: &ModulePath, resource: &ResourceBlock) {
        o.text("address", &resource.address.to_string());
        o.text("mode", resource.address.mode.word());
        o.text("type", &resource.address.kind);
        o.text("name", &resource.address.name);
        let local = resource.local_provider();
        let resolved = self.configuration.resolve_provider(path, &local).ok();
        let key = match &resolved {
            Some(r) if r.declared && r.config.module != *path => {
                let module = self.configuration.module(&r.config.module);
                let name = module.map_or_else(
                    || r.config.provider.kind.clone(),
                    |m| m.local_name_of(&r.config.provider),
                );
                let alias = r.config.alias.clone();
                provider_key(&r.config.module, &LocalProviderConfig { name, alias })
            }
            _ => provider_key(path, &local),
        };
        o.text("provider_config_key", &key);
        if !resource.provisioners.is_empty() {
            o.array("provisioners", |a| {
                for provisioner in &resource.provisioners {
                    a.object(|o| write_provisioner(o, provisioner));
                }
            });
        }
        let provider = self
            .configuration
            .provider_of(path, resource)
            .config
            .provider;
        let schema = self.cache.schema(&provider, &resource.address);
        let block = schema.as_ref().map(|s| &*s.block);
        write_expressions(o, "expressions", &resource.body, block);
        o.integer(
            "schema_version",
            schema.map_or(0, |s| i128::from(s.version)),
        );
        write_repetition(o, &resource.repetition);
        write_depends_on(o, &resource.depends_on);
    }

    fn call(&mut self, o: &mut Object<'_>, path: &ModulePath, call: &ModuleCall) {
        o.text("source", &call.source.to_string());
        if !call.arguments.is_empty() {
            o.object("expressions", |o| {
                let mut arguments: Vec<_> = call.arguments.iter().collect();
                arguments.sort_by(|x, y| x.name.cmp(&y.name));
                for argument in arguments {
                    o.raw(&argument.name, &expression_json(&argument.expression));
                }
            });
        }
        write_repetition(o, &call.repetition);
        let child = path.child(&call.name);
        o.object("module", |o| {
            if let Some(module) = self.configuration.module(&child) {
                self.module(o, &child, module);
            }
        });
        if let Some(version) = &call.version {
            o.text("version_constraint", &version.to_string());
        }
        write_depends_on(o, &call.depends_on);
    }
}

fn write_repetition(o: &mut Object<'_>, repetition: &Repetition) {
    let field = match repetition {
        Repetition::Single => return,
        Repetition::Count(_) => "count_expression",
        Repetition::ForEach(_) => "for_each_expression",
    };
    let json = repetition.expression().map(expression_json);
    if let Some(json) = json.filter(|j| j != "{}") {
        o.raw(field, &json);
    }
}

fn write_depends_on(o: &mut Object<'_>, depends_on: &[StaticReference]) {
    if !depends_on.is_empty() {
        o.array("depends_on", |a| {
            for reference in depends_on {
                a.text(&reference.reference.to_string());
            }
        });
    }
}

/// Arguments of a provisioner; it has no schema here, and no blocks of its own.
fn write_provisioner(o: &mut Object<'_>, provisioner: &Provisioner) {
    o.text("type", &provisioner.kind);
    write_expressions(o, "expressions", &provisioner.body, None);
}

/// The arguments and blocks of a body, by schema. Without one, arguments only.
fn write_expressions(o: &mut Object<'_>, field: &str, body: &Body, block: Option<&SchemaBlock>) {
    let json = write::object(|o| push_body(o, body, block));
    if json != "{}" {
        o.raw(field, &json);
    }
}

fn push_body(o: &mut Object<'_>, body: &Body, block: Option<&SchemaBlock>) {
    on_deep_stack(|| match block {
        Some(block) => push_body_by(o, body, block),
        None => {
            let (mut attributes, _) = body.just_attributes();
            attributes.sort_by(|x, y| x.name.cmp(&y.name));
            for attribute in &attributes {
                o.raw(&attribute.name, &expression_json(&attribute.expression));
            }
        }
    });
}

fn push_body_by(o: &mut Object<'_>, body: &Body, block: &SchemaBlock) {
    let attributes: Vec<AttributeSchema<'_>> = block
        .attributes()
        .map(|(name, _)| AttributeSchema {
            name,
            required: false,
        })
        .collect();
    const LABEL: &[&str] = &["key"];
    let blocks: Vec<BlockSchema<'_>> = block
        .nested_blocks()
        .map(|(name, nested)| BlockSchema {
            block_type: name,
            labels: match nested.nesting {
                BlockNesting::Map => LABEL,
                _ => &[],
            },
        })
        .collect();
    let schema = BodySchema {
        attributes: &attributes,
        blocks: &blocks,
    };
    // what does not fit has been reported by whoever evaluated it
    let ((content, _), _) = body.partial_content(&schema);
    let mut fields: BTreeMap<&str, String> = BTreeMap::new();
    for attribute in &content.attributes {
        fields.insert(&attribute.name, expression_json(&attribute.expression));
    }
    for (name, nested) in block.nested_blocks() {
        let found: Vec<_> = content
            .blocks
            .iter()
            .filter(|b| b.block_type == *name)
            .collect();
        if let Some(json) = blocks_json(nested, &found) {
            fields.insert(name, json);
        }
    }
    for (name, json) in fields {
        o.raw(name, &json);
    }
}

fn blocks_json(nested: &NestedBlock, found: &[&formwork_syntax::Block]) -> Option<String> {
    let body = |o: &mut Object<'_>, b: &formwork_syntax::Block| {
        push_body(o, &b.body, Some(&nested.block));
    };
    let first = found.first()?;
    Some(match nested.nesting {
        BlockNesting::Single | BlockNesting::Group => write::object(|o| body(o, first)),
        BlockNesting::List | BlockNesting::Set => write::array(|a: &mut Array<'_>| {
            for b in found {
                a.object(|o| body(o, b));
            }
        }),
        BlockNesting::Map => write::object(|o| {
            for b in found {
                if let Some(key) = b.label(0) {
                    o.object(key, |o| body(o, b));
                }
            }
        }),
    })
}

/// An expression as the format has it.
pub(crate) fn expression_json(expression: &Expression) -> String {
    let (found, _) = expression_references(expression);
    write::object(|o| {
        if !found.is_empty() {
            o.array("references", |a| {
                for reference in &found {
                    for text in reference_texts(reference) {
                        a.text(&text);
                    }
                }
            });
            return;
        }
        let (value, said) = evaluate_literal(expression);
        if !said.has_errors() && value.is_wholly_known() && !value.contains_marks() {
            o.raw("constant_value", &known(&value));
        }
    })
}

/// A reference and its prefixes, the longest first, down to what it names.
pub(crate) fn reference_texts(found: &FoundReference) -> Vec<String> {
    let mut texts = Vec::new();
    let mut reference = found.reference.clone();
    loop {
        texts.push(reference.to_string());
        if reference.remaining.pop().is_none() {
            break;
        }
    }
    // an instance belongs to its block; an output of a call to the call
    match &found.reference.subject {
        Subject::ResourceInstance(i) => texts.push(i.resource.to_string()),
        Subject::ModuleCallInstance(name, _) => texts.push(format!("module.{name}")),
        Subject::ModuleCallOutput(name, key, _) => texts.push(format!("module.{name}{key}")),
        _ => {}
    }
    texts
}
