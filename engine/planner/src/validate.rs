//! Validation: the planning walk with nothing known.
//!
//! Every managed object is unknown of its type, with its origin; every repeated block stands for all
//! its instances. What is wrong whatever the values are (names, types, arguments, functions) shows
//! all the same. A provider that is not there leaves its blocks' bodies unchecked, which is said once
//! per provider.

use crate::conditions::judge;
use crate::walk::with_origin;
use formwork_addresses::{
    AbsProviderConfig, InstanceKey, ModulePath, ProviderAddr, Resource, ResourceMode,
};
use formwork_configuration::{Module, ResourceBlock};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_evaluation::{
    Condition, Evaluator, Expansion, ModuleScope, RepetitionData, decode, expand,
};
use formwork_graph::{StaticGraph, What};
use formwork_provider::{Providers, Reported, ValidateRequest};
use formwork_values::Value;
use std::collections::BTreeSet;

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
        missing: BTreeSet::new(),
        said: Diagnostics::new(),
    };
    // Everything is looked at even if something that it needs is wrong: what is wrong there is unknown
    // here, so nothing is said twice.
    for node in graph.order() {
        if let Some(n) = graph.get(*node) {
            v.visit(&n.module, &n.what).await;
        }
    }
    v.said
}

struct Validation<'a> {
    evaluator: &'a Evaluator,
    providers: &'a Providers,
    missing: BTreeSet<ProviderAddr>,
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
                    let (_, said) = judge(
                        evaluator,
                        &variable.validations,
                        Condition::Validation,
                        &scope,
                        &functions,
                    )
                    .await;
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

    /// Whether a provider is there; if not, says so the first time.
    fn is_there(&mut self, provider: &ProviderAddr, range: Option<SourceRange>) -> bool {
        if self.providers.schemas(provider).is_some() {
            return true;
        }
        if self.missing.insert(provider.clone()) {
            self.said.push(
                Diagnostic::warning(
                    "Provider not available",
                    format!(
                        "The provider {} is neither part of Formwork nor installed, so the bodies of its \
                         blocks were not checked. References, functions and types were.",
                        provider.for_display()
                    ),
                )
                .at_opt(range),
            );
        }
        false
    }

    async fn provider(&mut self, module: &Module, config: &AbsProviderConfig) {
        let block = module.provider_block(&config.provider, config.alias.as_ref());
        let evaluator = self.evaluator;
        if !self.is_there(&config.provider, block.map(|b| b.range)) {
            return;
        }
        let (Some(block), Some(schemas)) = (block, self.providers.schemas(&config.provider)) else {
            return;
        };
        let schema = schemas.provider_config();
        let instance = config.module.unkeyed_instance();
        let functions = evaluator.functions(module);
        let scope = evaluator.scope(&instance);
        let (value, said) = evaluator
            .calls()
            .settled(|reading| {
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
        let failed = said.has_errors();
        self.said.append(said);
        if failed {
            return;
        }
        if let Some(provider) = self.providers.unconfigured(&config.provider) {
            let reported = provider
                .validate_provider_config(&value.clone().unmark_deep().0)
                .await;
            for r in Reported::hiding(reported, &[&value]) {
                self.said.push(r.diagnostic.at_opt(Some(block.range)));
            }
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
        let config = evaluator.configuration().provider_of(path, block).config;
        let there = self.is_there(&config.provider, Some(block.range));
        let schema = self.providers.schema_of(&config.provider, resource);
        if there && schema.is_none() {
            self.said.push(
                self.providers
                    .unknown_type(&config.provider, resource)
                    .at(block.type_range),
            );
        }
        let object = schema.as_ref().map_or_else(Value::dynamic, |s| {
            let one = address.instance(InstanceKey::None);
            with_origin(&one, Value::unknown(s.ty()))
        });
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
        for (rules, kind) in [(&block.lifecycle.preconditions, Condition::Precondition)] {
            let (_, said) = judge(evaluator, rules, kind, &scope, &functions).await;
            self.said.append(said);
        }
        if let Some(schema) = schema {
            let before = self.said.error_count();
            let (value, said) = evaluator
                .calls()
                .settled(|reading| {
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
            self.said.append(said);
            if self.said.error_count() == before {
                self.ask_provider(block, &config, &value).await;
            }
        } else {
            self.references_only(block, &scope);
        }
        let scope = scope.with_self(object);
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

    async fn ask_provider(
        &mut self,
        block: &ResourceBlock,
        config: &AbsProviderConfig,
        value: &Value,
    ) {
        let Some(provider) = self.providers.unconfigured(&config.provider) else {
            return;
        };
        let request = ValidateRequest {
            kind: block.address.kind.to_string(),
            config: value.clone().unmark_deep().0,
        };
        let reported: Vec<Reported> = match block.address.mode {
            ResourceMode::Managed => provider.validate_resource_config(request).await,
            ResourceMode::Data => provider.validate_data_config(request).await,
            ResourceMode::Ephemeral => Vec::new(),
        };
        let address = block
            .address
            .in_module(&formwork_addresses::ModuleInstance::root())
            .instance(InstanceKey::None);
        self.said.append(crate::managed::placed_in(
            Reported::hiding(reported, &[value]),
            block,
            &address,
        ));
    }

    /// The body of a block whose type is not known: what it refers to must be there all the same.
    fn references_only(&mut self, block: &ResourceBlock, scope: &ModuleScope<'_>) {
        self.said
            .append(formwork_evaluation::check_body(&block.body, scope));
    }
}

fn repetition_of(block: &ResourceBlock) -> RepetitionData {
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
