//! Validation: the planning walk with nothing known.
//!
//! Every managed object is unknown of its type, with its origin; every repeated block stands for all
//! its instances. What is wrong whatever the values are (names, types, arguments, functions) shows
//! all the same. A provider that is not there, or that does not serve a type, leaves blocks' bodies
//! unchecked but for their references and functions, which is said once per provider.

use crate::conditions::{judge, placed_at_value};
use crate::provisioning::{check_provisioners, check_removed};
use crate::walk::with_origin;
use formwork_addresses::{
    AbsProviderConfig, InstanceKey, ModulePath, ProviderAddr, Resource, ResourceMode,
};
use formwork_configuration::{Module, ResourceBlock};
use formwork_diagnostics::{Diagnostic, Diagnostics, Severity, SourceRange, nearest};
use formwork_evaluation::{
    Condition, Evaluator, Expansion, ModuleScope, RepetitionData, decode, expand,
};
use formwork_graph::{StaticGraph, What};
use formwork_provider::{Providers, Reported, validate_block};
use formwork_values::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Checks a configuration without a plan. The evaluator's setting says that it is validating, and
/// its root variables are unknown.
pub async fn validate(
    evaluator: &Evaluator,
    graph: &StaticGraph,
    providers: &Providers,
) -> Diagnostics {
    let mut v = Validation {
        evaluator,
        providers,
        unchecked: Unchecked::default(),
        said: Diagnostics::new(),
    };
    // Everything is looked at even if something that it needs is wrong: what is wrong there is unknown
    // here, so nothing is said twice.
    for node in graph.order() {
        if let Some(n) = graph.get(*node) {
            v.visit(&n.module, &n.what).await;
        }
    }
    let Validation {
        unchecked,
        mut said,
        ..
    } = v;
    said.append(check_removed(evaluator, providers).await);
    said.append(unchecked.told(providers));
    said
}

struct Validation<'a> {
    evaluator: &'a Evaluator,
    providers: &'a Providers,
    unchecked: Unchecked,
    said: Diagnostics,
}

impl Validation<'_> {
    async fn visit(&mut self, path: &ModulePath, what: &What) {
        let evaluator = self.evaluator;
        let Some(module) = evaluator.configuration().module(path) else {
            return;
        };
        let instance = path.unkeyed_instance();
        match what {
            What::ModuleCall(name) => {
                if let Some(call) = module.calls.get(name) {
                    let functions = evaluator.functions(module);
                    let (_, said) = evaluator
                        .calls()
                        .settled(|r| {
                            expand(&call.repetition, &evaluator.scope(&instance), &functions, r)
                        })
                        .await;
                    self.said.append(said);
                }
                evaluator
                    .objects()
                    .set_call(&instance, name, Expansion::Single);
            }
            What::Variable(name) => {
                let memo = evaluator.prepare_variable(&instance, name).await;
                self.said.append(memo.take_diagnostics());
                if let Some(variable) = module.variables.get(name)
                    && !memo.has_errors()
                {
                    let functions = evaluator.functions(module);
                    let scope = evaluator.scope(&instance);
                    let (_, mut said) = judge(
                        evaluator,
                        &variable.validations,
                        Condition::Validation,
                        &scope,
                        &functions,
                    )
                    .await;
                    placed_at_value(evaluator, &instance, name, &mut said);
                    self.said.append(said);
                }
            }
            What::Local(name) => {
                self.said.append(
                    evaluator
                        .prepare_local(&instance, name)
                        .await
                        .take_diagnostics(),
                );
            }
            What::Output(name) => {
                self.said.append(
                    evaluator
                        .prepare_output(&instance, name)
                        .await
                        .take_diagnostics(),
                );
                if let Some(output) = module.outputs.get(name) {
                    let functions = evaluator.functions(module);
                    let scope = evaluator.scope(&instance);
                    let (_, said) = judge(
                        evaluator,
                        &output.preconditions,
                        Condition::Output,
                        &scope,
                        &functions,
                    )
                    .await;
                    self.said.append(said);
                }
            }
            What::Provider { provider, alias } => {
                let config = AbsProviderConfig {
                    module: path.clone(),
                    provider: provider.clone(),
                    alias: alias.clone(),
                    key: InstanceKey::None,
                };
                self.provider(module, &config).await;
            }
            What::Resource(resource) => self.resource(path, module, resource).await,
            What::Check(name) => {
                if let Some(check) = module.checks.get(name) {
                    let functions = evaluator.functions(module);
                    let scope = evaluator.scope(&instance);
                    let (_, said) = judge(
                        evaluator,
                        &check.asserts,
                        Condition::Assertion,
                        &scope,
                        &functions,
                    )
                    .await;
                    // Whether the world is as it should be is no matter of the text.
                    self.said
                        .extend(said.into_iter().filter(Diagnostic::is_error));
                }
            }
            What::ModuleDone(_) => {}
        }
    }

    async fn provider(&mut self, module: &Module, config: &AbsProviderConfig) {
        let block = module.provider_block(&config.provider, config.alias.as_ref());
        let evaluator = self.evaluator;
        let Some(block) = block else {
            return;
        };
        // One stands for all that a for_each makes.
        let (_, said) = evaluator.provider_instances(config).await;
        self.said.append(said);
        let repetition = match block.for_each {
            None => RepetitionData::default(),
            Some(_) => RepetitionData {
                count_index: None,
                ..RepetitionData::unknown()
            },
        };
        let Some(schemas) = self.providers.schemas(&config.provider) else {
            self.unchecked
                .without_provider(&config.provider, block.range);
            let instance = config.module.unkeyed_instance();
            let scope = ModuleScope::new(evaluator, &instance, repetition);
            let said = evaluator.check_body(module, &block.body, &scope).await;
            self.said.append(said);
            return;
        };
        let schema = schemas.provider_config();
        let (value, said) = evaluator
            .decode_provider(config, block, &schema.block, repetition)
            .await;
        self.said.append(said);
        let Some(value) = value else {
            return;
        };
        let plain = value.clone().unmark_deep().0;
        let reported = self
            .providers
            .validate_config(&config.provider, &plain)
            .await;
        for r in Reported::hiding(reported, &[&value]) {
            self.said.push(r.diagnostic.at_opt(Some(block.range)));
        }
    }

    async fn resource(&mut self, path: &ModulePath, module: &Module, resource: &Resource) {
        let Some(block) = module.resource(resource) else {
            return;
        };
        let evaluator = self.evaluator;
        let instance = path.unkeyed_instance();
        let address = resource.in_module(&instance);
        let functions = evaluator.functions(module);
        let (_, said) = evaluator
            .calls()
            .settled(|r| {
                expand(
                    &block.repetition,
                    &evaluator.scope(&instance),
                    &functions,
                    r,
                )
            })
            .await;
        self.said.append(said);
        let resolved = evaluator.configuration().provider_of(path, block);
        let config = resolved.config.clone();
        let schema = self.providers.schema_of(&config.provider, resource);
        if schema.is_none() {
            if self.providers.schemas(&config.provider).is_none() {
                self.unchecked
                    .without_provider(&config.provider, block.range);
            } else if self.providers.is_unserved(&config.provider, resource) {
                self.unchecked
                    .without_type(&config.provider, &block.address, block.range);
            } else {
                self.said.push(
                    self.providers
                        .unknown_type(&config.provider, resource)
                        .at(block.type_range),
                );
            }
        }
        let object = schema.as_ref().map_or_else(Value::dynamic, |s| {
            let one = address.instance(InstanceKey::None);
            with_origin(&one, Value::unknown(s.ty()))
        });
        let object = match resource.mode {
            ResourceMode::Ephemeral => object.mark(formwork_values::Mark::Ephemeral),
            _ => object,
        };
        if block.repetition.is_repeated() {
            evaluator
                .objects()
                .set_expansion(&address, Expansion::Unknown);
            evaluator
                .objects()
                .set_placeholder(&address, object.clone());
        } else {
            evaluator
                .objects()
                .set_expansion(&address, Expansion::Single);
            evaluator
                .objects()
                .set(&address.instance(InstanceKey::None), object.clone());
        }
        let scope = ModuleScope::new(evaluator, &instance, repetition_of(block));
        if !resolved.keys.is_empty() {
            let (_, said) = evaluator
                .provider_of_instance(&resolved, &instance, &scope)
                .await;
            self.said.append(said);
        }
        for (rules, kind) in [(&block.lifecycle.preconditions, Condition::Precondition)] {
            let (_, said) = judge(evaluator, rules, kind, &scope, &functions).await;
            self.said.append(said);
        }
        if let Some(schema) = schema {
            self.said
                .append(crate::managed::check_ignored(block, &schema));
            let before = self.said.error_count();
            let (value, said) = evaluator
                .calls()
                .settled(|reading| {
                    reading.passes_on = block.address.mode == ResourceMode::Ephemeral;
                    let value = decode(
                        &block.body,
                        &schema.block,
                        block.open,
                        &scope,
                        &functions,
                        reading,
                    );
                    reading.pending.extend(scope.take_pending());
                    value
                })
                .await;
            self.said.append(self.as_of_release(&config.provider, said));
            if self.said.error_count() == before {
                self.ask_provider(block, &config, &value).await;
            }
        } else {
            let said = evaluator.check_body(module, &block.body, &scope).await;
            self.said.append(said);
        }
        let scope = scope.with_self(object);
        let said = check_provisioners(evaluator, self.providers, block, &scope, &functions).await;
        self.said.append(said);
        let (_, said) = judge(
            evaluator,
            &block.lifecycle.postconditions,
            Condition::Postcondition,
            &scope,
            &functions,
        )
        .await;
        self.said.append(said);
    }

    /// What is said of a body whose provider is wanted in a release of another major version than the one
    /// that is known: what that one lacks or requires may be different there, so it is told as a warning.
    /// A name that is nearly one that is known is a mistake in any release.
    fn as_of_release(&self, provider: &ProviderAddr, said: Diagnostics) -> Diagnostics {
        const OF_RELEASES: [&str; 4] = [
            "Unsupported argument",
            "Unsupported block type",
            "Missing required argument",
            "Value for unconfigurable attribute",
        ];
        let Some((wanted, known)) = self.providers.other_release(provider) else {
            return said;
        };
        said.into_iter()
            .map(|mut d| {
                let misspelt = d.hints.iter().any(|h| h.starts_with("Did you mean"));
                if d.is_error() && OF_RELEASES.contains(&&*d.summary) && !misspelt {
                    d.severity = Severity::Warning;
                    d.hints.push(format!(
                        "The configuration wants {} {wanted}, and Formwork knows the arguments of \
                         {known}. It may be right there, but it cannot be planned.",
                        provider.for_display()
                    ));
                }
                d
            })
            .collect()
    }

    async fn ask_provider(
        &mut self,
        block: &ResourceBlock,
        config: &AbsProviderConfig,
        value: &Value,
    ) {
        let Some(provider) = self.providers.unconfigured(&config.provider) else {
            return;
        };
        let plain = value.clone().unmark_deep().0;
        let reported = validate_block(&**provider, &block.address, value, plain).await;
        let address = block
            .address
            .in_module(&formwork_addresses::ModuleInstance::root())
            .instance(InstanceKey::None);
        self.said.append(Reported::placed(reported, &address, &|p| {
            Some(block.place_of(p))
        }));
    }
}

/// Blocks whose bodies could not be held against a schema.
#[derive(Default)]
struct Unchecked {
    /// Of providers that are not there.
    providers: BTreeMap<ProviderAddr, BTreeSet<SourceRange>>,
    /// Of types that a provider does not serve, each as its blocks begin.
    types: BTreeMap<ProviderAddr, BTreeMap<String, BTreeSet<SourceRange>>>,
}

impl Unchecked {
    fn without_provider(&mut self, provider: &ProviderAddr, block: SourceRange) {
        let blocks = self.providers.entry(provider.clone()).or_default();
        blocks.insert(block);
    }

    fn without_type(&mut self, provider: &ProviderAddr, resource: &Resource, block: SourceRange) {
        let name = match resource.mode {
            ResourceMode::Managed => resource.kind.to_string(),
            ResourceMode::Data => format!("data.{}", resource.kind),
            ResourceMode::Ephemeral => format!("ephemeral.{}", resource.kind),
        };
        let types = self.types.entry(provider.clone()).or_default();
        types.entry(name).or_default().insert(block);
    }

    /// One warning for each provider, at the first block concerned.
    fn told(self, providers: &Providers) -> Diagnostics {
        let mut said = Diagnostics::new();
        for (provider, blocks) in self.providers {
            let name = provider.for_display();
            let reason = providers
                .why_absent(&provider)
                .and_then(|d| d.iter().next());
            let (summary, why) = match reason {
                Some(d) => (d.summary.as_str(), d.detail.clone()),
                None => ("Missing required provider", format!("{name} is not there.")),
            };
            let only = only_partly(&blocks);
            let mut d = Diagnostic::warning(summary, format!("{why} {only}"))
                .at_opt(blocks.first().copied());
            let there: Vec<Arc<str>> = providers.versions().map(|(p, _)| p.kind.clone()).collect();
            let known = ["google", "google-beta", "formwork"];
            let names = there.iter().map(|n| &**n).chain(known);
            if let Some(near) = nearest(&provider.kind, names).filter(|n| **n != *provider.kind) {
                d = d.hint(format!("Did you mean \"{near}\"?"));
            }
            said.push(d);
        }
        for (provider, types) in self.types {
            let blocks: BTreeSet<SourceRange> = types.values().flatten().copied().collect();
            let names: Vec<&str> = types.keys().map(String::as_str).collect();
            let only = only_partly(&blocks);
            said.push(
                Diagnostic::warning(
                    "Resource types not served",
                    format!(
                        "Formwork's own provider {} does not serve yet: {}. {only} They cannot be planned.",
                        provider.for_display(),
                        names.join(", ")
                    ),
                )
                .at_opt(blocks.first().copied()),
            );
        }
        said
    }
}

fn only_partly(blocks: &BTreeSet<SourceRange>) -> String {
    match blocks.len() {
        1 => "Of the one block that needs it only the references and functions were checked, not the \
              names and types of its arguments."
            .to_owned(),
        n => format!(
            "Of the {n} blocks that need it only the references and functions were checked, not the \
             names and types of their arguments."
        ),
    }
}

/// What stands for all instances of a block.
pub(crate) fn repetition_of(block: &ResourceBlock) -> RepetitionData {
    use formwork_configuration::Repetition;
    let all = RepetitionData::unknown();
    match block.repetition {
        Repetition::Single | Repetition::Enabled(_) => RepetitionData::default(),
        Repetition::Count(_) => RepetitionData {
            count_index: all.count_index,
            ..RepetitionData::default()
        },
        Repetition::ForEach(_) => RepetitionData {
            count_index: None,
            ..all
        },
    }
}
