//! A provider's configuration, from its block; and which of a block's configurations is meant, where it
//! has for_each.

use crate::Expansion;
use crate::decode::decode;
use crate::evaluator::Evaluator;
use crate::repetition::{NotKnown, Repeated, expand};
use crate::scope::{ModuleScope, RepetitionData};
use formwork_addresses::{AbsProviderConfig, InstanceKey, ModuleInstance};
use formwork_configuration::{
    ProviderConfig, ProviderKey, Repetition, ResolvedProvider, provider_key_mistake,
};
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics};
use formwork_provider_schema::Block;
use formwork_syntax::Expression;
use formwork_values::{Type, Value, convert};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The elements of a provider block's for_each.
pub(crate) type Elements = Arc<BTreeMap<Arc<str>, Value>>;

impl Evaluator {
    /// The block that a provider configuration stands in, if there is one.
    pub fn provider_block(&self, config: &AbsProviderConfig) -> Option<&ProviderConfig> {
        self.configuration().provider_block(config)
    }

    /// The configurations that a block makes: itself, or one for each element of its for_each. `None`
    /// if that cannot be told, which is said.
    pub async fn provider_instances(
        &self,
        block: &AbsProviderConfig,
    ) -> Checked<Option<Vec<AbsProviderConfig>>> {
        let each = self.provider_block(block).and_then(|b| b.for_each.as_ref());
        let Some(each) = each else {
            return (Some(vec![block.clone()]), Diagnostics::new());
        };
        let (elements, said) = self.provider_elements(block, each).await;
        let all = elements.map(|elements| {
            let keys = elements.keys().cloned();
            keys.map(|k| block.instance(InstanceKey::Text(k))).collect()
        });
        (all, said)
    }

    /// Why it is not known yet which configurations a block makes, if that is so. What is wrong with
    /// its for_each is not said here.
    pub async fn provider_repetition_unknown(
        &self,
        block: &AbsProviderConfig,
    ) -> Option<Box<NotKnown>> {
        let each = self.provider_block(block)?.for_each.as_ref()?;
        let instance = block.module.unkeyed_instance();
        let module = self.module(&instance)?;
        let functions = self.functions(module);
        let repetition = Repetition::ForEach(each.clone());
        let (repeated, _) = self
            .calls()
            .settled(|reading| expand(&repetition, &self.scope(&instance), &functions, reading))
            .await;
        match repeated {
            Repeated::Unknown(unknown) => Some(unknown),
            _ => None,
        }
    }

    async fn provider_elements(
        &self,
        config: &AbsProviderConfig,
        each: &Expression,
    ) -> Checked<Option<Elements>> {
        let block = config.block();
        if let Some(known) = self.known_provider_elements(&block) {
            return (Some(known), Diagnostics::new());
        }
        let instance = config.module.unkeyed_instance();
        let Some(module) = self.module(&instance) else {
            return (None, Diagnostics::new());
        };
        let functions = self.functions(module);
        let repetition = Repetition::ForEach(each.clone());
        let (repeated, mut said) = self
            .calls()
            .settled(|reading| expand(&repetition, &self.scope(&instance), &functions, reading))
            .await;
        match repeated {
            Repeated::Known(Expansion::ForEach(elements)) => {
                self.keep_provider_elements(block, &elements);
                (Some(elements), said)
            }
            Repeated::Unknown(unknown) => {
                if !self.setting().validating {
                    said.push(unknown.diagnostic.about(&block));
                }
                (None, said)
            }
            _ => (None, said),
        }
    }

    /// The value that a provider is configured with, marks included; empty for a default
    /// configuration that has no block.
    pub async fn provider_config(
        &self,
        config: &AbsProviderConfig,
        schema: &Block,
    ) -> Checked<Option<Value>> {
        let Some(block) = self.provider_block(config) else {
            if *config == AbsProviderConfig::root_default(config.provider.clone()) {
                return (Some(schema.empty_value()), Diagnostics::new());
            }
            let d = Diagnostic::error(
                "Provider configuration not present",
                format!(
                    "{config} is not configured any more, but objects in the state were made with it. \
                     Bring its provider block back until those objects are gone."
                ),
            );
            return (None, d.about(config).into());
        };
        let (repetition, mut said) = self.provider_repetition(config, block).await;
        let Some(repetition) = repetition else {
            return (None, said);
        };
        let (value, more) = self
            .decode_provider(config, block, schema, repetition)
            .await;
        said.append(more);
        (value, said)
    }

    /// What `each` is in a provider block.
    async fn provider_repetition(
        &self,
        config: &AbsProviderConfig,
        block: &ProviderConfig,
    ) -> Checked<Option<RepetitionData>> {
        let not_present = |detail: String| {
            let d = Diagnostic::error("Provider configuration not present", detail);
            (None, d.at(block.range).about(config).into())
        };
        match (&block.for_each, &config.key) {
            (None, InstanceKey::None) => (Some(RepetitionData::default()), Diagnostics::new()),
            (None, _) => not_present(format!(
                "Objects in the state were made with {config}, but the provider block has no for_each \
                 any more. Bring it back, take those objects out of the configuration or let them \
                 choose another provider configuration, and apply; then for_each can go."
            )),
            (Some(_), InstanceKey::None) => not_present(format!(
                "Objects in the state were made with {config}, but its block has come to set for_each, \
                 and it is not known which of its configurations knows them. Keep a block without \
                 for_each under this alias until their resources have chosen another one, and give \
                 the block with for_each a new alias."
            )),
            (Some(each), key) => {
                let (elements, mut said) = self.provider_elements(config, each).await;
                let Some(elements) = elements else {
                    return (None, said);
                };
                let value = match key {
                    InstanceKey::Text(k) => elements.get_key_value(k),
                    _ => None,
                };
                let Some((key, value)) = value else {
                    let (_, d) = not_present(format!(
                        "Objects in the state were made with {config}, but for_each of its provider \
                         block has no such element any more. Nothing else can reach those objects. \
                         Bring the element back, take the objects out of the configuration, and \
                         apply; then the element can go, too."
                    )) as Checked<Option<RepetitionData>>;
                    said.append(d);
                    return (None, said);
                };
                let data = RepetitionData {
                    each_key: Some(Value::shared_string(key.clone())),
                    each_value: Some(value.clone()),
                    ..RepetitionData::default()
                };
                (Some(data), said)
            }
        }
    }

    /// Decodes a provider block.
    pub async fn decode_provider(
        &self,
        config: &AbsProviderConfig,
        block: &ProviderConfig,
        schema: &Block,
        repetition: RepetitionData,
    ) -> Checked<Option<Value>> {
        let instance = config.module.unkeyed_instance();
        let Some(module) = self.module(&instance) else {
            return (None, Diagnostics::new());
        };
        let functions = self.functions(module);
        let (value, said) = self
            .calls()
            .settled(|reading| {
                let scope = ModuleScope::new(self, &instance, repetition.clone());
                reading.passes_on = true;
                // A test's own provider blocks stand in the root module, and see what the test sees.
                let scope = match self.test() {
                    Some(_) if instance.is_root() => scope.of_test(),
                    _ => scope,
                };
                let value = decode(&block.body, schema, block.open, &scope, &functions, reading);
                reading.pending.extend(scope.take_pending());
                value
            })
            .await;
        let value = (!said.has_errors()).then_some(value);
        (value, said)
    }

    /// The provider configuration of one instance of a resource, whose scope is given. `None` if it
    /// cannot be told, which is said unless something is unknown while validating.
    pub async fn provider_of_instance(
        &self,
        resolved: &ResolvedProvider,
        module: &ModuleInstance,
        scope: &ModuleScope<'_>,
    ) -> Checked<Option<AbsProviderConfig>> {
        let config = &resolved.config;
        let block = self.provider_block(config);
        let each = block.and_then(|b| b.for_each.as_ref());
        if let Some(d) = provider_key_mistake(resolved, each.is_some()) {
            let d = match resolved.keys.first() {
                Some(key) => d.at(key.expression.range()),
                None => d,
            };
            return (None, d.into());
        }
        let (Some(each), Some(key)) = (each, resolved.keys.first()) else {
            return (Some(config.clone()), Diagnostics::new());
        };
        let (chosen, mut said) = self.provider_key(key, module, scope).await;
        let Some(chosen) = chosen else {
            return (None, said);
        };
        let (elements, more) = self.provider_elements(config, each).await;
        // That has been said where the block was visited.
        if more.has_errors() {
            return (None, said);
        }
        let Some(elements) = elements else {
            return (None, said);
        };
        if !elements.contains_key(&chosen) {
            let known: Vec<String> = elements.keys().map(|k| format!("\"{k}\"")).collect();
            let known = match known.len() {
                0 => "for_each of its block has no elements".to_owned(),
                _ => format!("for_each of its block has {}", known.join(", ")),
            };
            said.push(
                Diagnostic::error(
                    "Provider instance not present",
                    format!("There is no configuration of {config} for \"{chosen}\": {known}."),
                )
                .at(key.expression.range()),
            );
            return (None, said);
        }
        (Some(config.instance(InstanceKey::Text(chosen))), said)
    }

    /// Whether an instance chooses its provider configuration by something that is not known yet.
    pub async fn provider_key_is_unknown(
        &self,
        resolved: &ResolvedProvider,
        module: &ModuleInstance,
        scope: &ModuleScope<'_>,
    ) -> bool {
        let Some(key) = resolved.keys.first() else {
            return false;
        };
        let (value, said) = self.provider_key_value(key, module, scope).await;
        !said.has_errors() && value.is_some_and(|v| !v.unmark_deep().0.is_known())
    }

    /// The value of a chosen key, whatever it is.
    async fn provider_key_value(
        &self,
        key: &ProviderKey,
        module: &ModuleInstance,
        scope: &ModuleScope<'_>,
    ) -> Checked<Option<Value>> {
        let depth = key.module.names().len();
        let steps = module.steps();
        let outer = steps
            .iter()
            .take(depth)
            .fold(ModuleInstance::root(), |m, s| {
                m.child(&s.name, s.key.clone())
            });
        let Some(caller) = self.module(&outer) else {
            return (None, Diagnostics::new());
        };
        // Handed in by the call that leads from there to the resource.
        let handed_in = steps.get(depth).and_then(|step| {
            let call = caller.calls.get(&step.name)?;
            let repetition = self.call_repetition(&outer, call, &step.key);
            Some(ModuleScope::new(self, &outer, repetition))
        });
        let scope = handed_in.as_ref().unwrap_or(scope);
        let functions = self.functions(caller);
        let (value, said) = self
            .calls()
            .settled(|reading| scope.read(&key.expression, &functions, reading))
            .await;
        (Some(value), said)
    }

    /// A chosen key.
    async fn provider_key(
        &self,
        key: &ProviderKey,
        module: &ModuleInstance,
        scope: &ModuleScope<'_>,
    ) -> Checked<Option<Arc<str>>> {
        let (value, mut said) = self.provider_key_value(key, module, scope).await;
        let Some(value) = value.filter(|_| !said.has_errors()) else {
            return (None, said);
        };
        let marks = value.all_marks();
        let plain = value.clone().unmark_deep().0;
        let why = if marks.is_sensitive() {
            "it is sensitive, and is shown with every object"
        } else if marks.is_ephemeral() {
            "it is ephemeral, and objects outlive the run"
        } else if plain.is_null() {
            "it is null"
        } else {
            match convert(plain, &Type::String) {
                Ok(text) if !text.is_known() && self.setting().validating => return (None, said),
                Ok(text) if !text.is_known() => {
                    "it depends on values that are known only after apply"
                }
                Ok(text) => return (text.as_shared_str().cloned(), said),
                Err(_) => "it is no text",
            }
        };
        said.push(
            Diagnostic::error(
                "Invalid provider instance key",
                format!("The key chooses an element of the provider block's for_each, but {why}."),
            )
            .at(key.expression.range()),
        );
        (None, said)
    }
}
