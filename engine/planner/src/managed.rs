//! Managed resources: each configured instance against its object in the refreshed state.

use crate::conditions::judge_for;
use crate::imports::Wanted;
use crate::instance::{Subject, Wishes, plan_configured, put_off};
use crate::prior::PriorObject;
use crate::protection::protection;
use crate::provisioning::check_provisioners;
use crate::walk::{Walk, join, lock};
use formwork_addresses::{
    AbsProviderConfig, AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance, ResourceMode,
};
use formwork_configuration::{CheckRule, IgnoreChanges, Module, ResourceBlock};
use formwork_diagnostics::{Diagnostic, Diagnostics, nearest};
use formwork_evaluation::{
    Condition, Evaluator, Expansion, ModuleFunctions, ModuleScope, Verdict, decode,
};
use formwork_graph::{Node, Visit};
use formwork_plan::{CheckKind, Event, PlanMode};
use formwork_provider::{Provider, Reported, validate_block};
use formwork_provider_schema::{IdentitySchema, Ignored, Schema, adopted_loosely};
use formwork_values::{Path, Step, Type, Value};
use futures::StreamExt as _;
use std::sync::Arc;

/// What all instances of a block share.
pub(crate) struct Shared<'w> {
    pub module_instance: &'w ModuleInstance,
    pub module: &'w Module,
    pub block: &'w ResourceBlock,
    pub expansion: &'w Expansion,
    pub provider_config: AbsProviderConfig,
    pub provider: Arc<dyn Provider>,
    pub schema: Arc<Schema>,
    pub identity: Option<Arc<IdentitySchema>>,
    pub dependencies: Vec<AbsResource>,
    pub create_first: bool,
}

/// A resource block in one instance of its module.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'w> {
    pub node: Node,
    pub module_instance: &'w ModuleInstance,
    pub module: &'w Module,
    pub block: &'w ResourceBlock,
    pub expansion: &'w Expansion,
}

impl<'w> Placed<'w> {
    /// Where one of its instances is evaluated.
    pub fn scope<'e>(&self, evaluator: &'e Evaluator, key: &InstanceKey) -> ModuleScope<'e>
    where
        'w: 'e,
    {
        let repetition = evaluator.repetition(
            &self.block.address.in_module(self.module_instance),
            &self.block.repetition,
            self.expansion,
            key,
        );
        ModuleScope::new(evaluator, self.module_instance, repetition)
    }
}

impl<'a> Walk<'a> {
    /// What all instances of a block share; `None` if each chooses a provider configuration of its
    /// own. An error says what is missing.
    pub(crate) fn shared<'w>(&self, placed: Placed<'w>) -> Result<Option<Shared<'w>>, Diagnostics> {
        let configuration = self.input.evaluator.configuration();
        let path = placed.module_instance.path();
        let resolved = configuration.provider_of(&path, placed.block);
        let block = configuration.provider_block(&resolved.config);
        if !resolved.keys.is_empty() || block.is_some_and(|b| b.for_each.is_some()) {
            return Ok(None);
        }
        self.handled_by(placed, resolved.config).map(Some)
    }

    /// The same for one instance, whose provider configuration depends on its key.
    pub(crate) async fn of_instance<'w>(
        &self,
        placed: Placed<'w>,
        key: &InstanceKey,
    ) -> Result<Shared<'w>, Diagnostics> {
        let evaluator = &self.input.evaluator;
        let path = placed.module_instance.path();
        let resolved = evaluator.configuration().provider_of(&path, placed.block);
        let scope = placed.scope(evaluator, key);
        let (config, said) = evaluator
            .provider_of_instance(&resolved, placed.module_instance, &scope)
            .await;
        match config {
            Some(config) => self.handled_by(placed, config),
            None => {
                let resource = placed.block.address.in_module(placed.module_instance);
                Err(addressed(said, &resource.instance(key.clone())))
            }
        }
    }

    fn handled_by<'w>(
        &self,
        placed: Placed<'w>,
        config: AbsProviderConfig,
    ) -> Result<Shared<'w>, Diagnostics> {
        let Placed {
            node,
            module_instance,
            module,
            block,
            expansion,
        } = placed;
        let schema = self.schema_of(&config, block)?;
        let Some(provider) = self.input.providers.configured(&config) else {
            return Err(Diagnostics::new());
        };
        let identity = self
            .input
            .providers
            .identity_of(&config.provider, &block.address);
        Ok(Shared {
            identity,
            module_instance,
            module,
            block,
            expansion,
            provider_config: config,
            provider,
            schema,
            dependencies: self.dependencies(node),
            create_first: self
                .create_first
                .get(node as usize)
                .copied()
                .unwrap_or(false),
        })
    }

    /// The schema of a block's type.
    pub(crate) fn schema_of(
        &self,
        config: &AbsProviderConfig,
        block: &ResourceBlock,
    ) -> Result<Arc<Schema>, Diagnostics> {
        let providers = &self.input.providers;
        if let Some(schema) = providers.schema_of(&config.provider, &block.address) {
            return Ok(schema);
        }
        if providers.schemas(&config.provider).is_none() {
            // That the provider is not there has been said once, for all its blocks.
            return Err(Diagnostics::new());
        }
        let d = providers.unknown_type(&config.provider, &block.address);
        Err(d.at(block.type_range).into())
    }

    /// Who answers for an instance.
    pub(crate) fn provider_for(
        &self,
        shared: &Shared<'_>,
        address: &AbsResourceInstance,
    ) -> Arc<dyn Provider> {
        self.input
            .providers
            .for_instance(&shared.provider_config, address)
            .unwrap_or_else(|| shared.provider.clone())
    }

    pub(crate) async fn managed(&self, placed: Placed<'_>) -> Visit {
        let shared = match self.shared(placed) {
            Ok(s) => s,
            Err(d) => {
                let _ = self.say(d);
                return Visit::Failed;
            }
        };
        if self.say(self.check_provisioners(placed).await) == Visit::Failed {
            return Visit::Failed;
        }
        let shared = shared.as_ref();
        let keys = self.taking_part(placed);
        let imports = match self.imports_of(placed).await {
            Ok(imports) => imports,
            Err(said) => return self.say(said),
        };
        let imports = &imports;
        let outcomes: Vec<Visit> = futures::stream::iter(keys)
            .map(|key| async move {
                if self.input.cancel.is_cancelled() {
                    return Visit::Failed;
                }
                let own;
                let shared = match shared {
                    Some(shared) => shared,
                    None => match self.of_instance(placed, &key).await {
                        Ok(of_instance) => {
                            own = of_instance;
                            &own
                        }
                        Err(said) => {
                            let _ = self.say(said);
                            return Visit::Failed;
                        }
                    },
                };
                let (good, said) = self.managed_instance(shared, imports, key).await;
                let visit = self.say(said);
                if good { visit } else { Visit::Failed }
            })
            .buffered(self.input.parallelism.max(1))
            .collect()
            .await;
        if outcomes.contains(&Visit::Failed) {
            Visit::Failed
        } else {
            Visit::Done
        }
    }

    /// What is wrong with the provisioners, whatever the object will be.
    async fn check_provisioners(&self, placed: Placed<'_>) -> Diagnostics {
        let block = placed.block;
        if block.provisioners.is_empty() {
            return Diagnostics::new();
        }
        let evaluator = &self.input.evaluator;
        let providers = &self.input.providers;
        let Some(module) = evaluator.module(placed.module_instance) else {
            return Diagnostics::new();
        };
        let config = evaluator
            .configuration()
            .provider_of(&placed.module_instance.path(), block)
            .config;
        let schema = providers.schema_of(&config.provider, &block.address);
        let object = schema.map_or_else(Value::dynamic, |s| Value::unknown(s.ty()));
        let scope = ModuleScope::new(
            evaluator,
            placed.module_instance,
            crate::validate::repetition_of(block),
        )
        .with_self(object);
        let functions = evaluator.functions(module);
        check_provisioners(evaluator, providers, block, &scope, &functions).await
    }

    /// The instances that take part. Of the others references see what the state knows.
    pub(crate) fn taking_part(&self, placed: Placed<'_>) -> Vec<InstanceKey> {
        let mut keys = placed.expansion.keys();
        let scope = &self.input.scope;
        if !scope.is_limited() {
            return keys;
        }
        let resource = placed.block.address.in_module(placed.module_instance);
        keys.retain(|key| {
            let address = resource.instance(key.clone());
            let takes_part = scope.takes(&address);
            if !takes_part
                && let Some(prior) = self.input.refreshed.objects.get(&(address.clone(), None))
            {
                self.input
                    .evaluator
                    .objects()
                    .set(&address, prior.value.clone());
            }
            takes_part
        });
        keys
    }

    async fn managed_instance(
        &self,
        shared: &Shared<'_>,
        imports: &Wanted,
        key: InstanceKey,
    ) -> (bool, Diagnostics) {
        let evaluator = &self.input.evaluator;
        let block = shared.block;
        let address = block
            .address
            .in_module(shared.module_instance)
            .instance(key.clone());
        let functions = evaluator.functions(shared.module);
        let scope = ModuleScope::new(
            evaluator,
            shared.module_instance,
            evaluator.repetition(
                &block.address.in_module(shared.module_instance),
                &block.repetition,
                shared.expansion,
                &key,
            ),
        );
        let mut said = Diagnostics::new();
        let (good, before) = self
            .preconditions(shared, &address, &scope, &functions)
            .await;
        said.append(before);
        if !good {
            return (false, said);
        }
        let (config, problems) = decode_config(evaluator, shared, &scope, &functions).await;
        said.append(addressed(problems, &address));
        if said.has_errors() {
            return (false, said);
        }
        let plain = config.clone().unmark_deep().0;
        let provider = self.provider_for(shared, &address);
        let reported = validate_block(&*provider, &block.address, &config, plain).await;
        said.append(Reported::placed(reported, &address, &|p| {
            Some(block.place_of(p))
        }));
        if said.has_errors() {
            return (false, said);
        }
        let prior = match self.prior_of(shared, &address).await {
            Ok(prior) => prior,
            Err(d) => {
                said.append(d);
                return (false, said);
            }
        };
        let (prior, importing) = match (prior, imports.get(&address)) {
            (None, Some(wanted)) => match self.import(shared, wanted).await {
                Ok((prior, importing)) => (Some(prior), Some(importing)),
                Err(d) => {
                    said.append(d);
                    return (false, said);
                }
            },
            (prior, _) => (prior, None),
        };
        if self.input.mode == PlanMode::RefreshOnly {
            // What is not there yet is not known; what is, is as it is.
            let Some(prior) = prior else {
                return (true, said);
            };
            let value = prior.value;
            evaluator.objects().set(&address, value.clone());
            let (good, after) = self
                .postconditions(shared, &address, scope, &functions, value)
                .await;
            said.append(after);
            return (good, said);
        }
        let (triggered, problems) = self.triggered(shared, &scope, &functions).await;
        said.append(problems);
        let lifecycle = &block.lifecycle;
        let wishes = Wishes {
            ignored: ignored(&lifecycle.ignore_changes),
            replace: self.input.replace.contains(&address),
            triggered,
            create_before_destroy: shared.create_first,
        };
        let subject = Subject {
            address: &address,
            previous_address: self.input.refreshed.moved_from.get(&address).cloned(),
            provider_config: &shared.provider_config,
            provider: &*provider,
            schema: &shared.schema,
            identity: shared.identity.as_deref(),
            dependencies: shared.dependencies.clone(),
            block: Some(block),
            importing,
            may_defer: self.input.defer,
        };
        let (planned, problems) = plan_configured(&subject, prior.as_ref(), &config, &wishes).await;
        said.append(problems);
        let Some(planned) = planned else {
            return (false, said);
        };
        let change = planned.change;
        if let Some(reason) = planned.deferred {
            self.defer_answered(shared, change, reason);
            return (true, said);
        }
        if change.action.is_replace() {
            let protection = protection(evaluator, block, &address, &scope, &functions).await;
            let stays = protection.has_errors();
            said.append(protection);
            if stays {
                return (false, said);
            }
        }
        let after = (!lifecycle.postconditions.is_empty())
            .then(|| crate::walk::with_origin(&address, change.after.clone()));
        self.keep(change);
        let Some(after) = after else {
            return (true, said);
        };
        let (good, after_said) = self
            .postconditions(shared, &address, scope, &functions, after)
            .await;
        said.append(after_said);
        (good, said)
    }

    /// The object in the refreshed state; read now if its provider could not be configured earlier.
    async fn prior_of(
        &self,
        shared: &Shared<'_>,
        address: &AbsResourceInstance,
    ) -> Result<Option<PriorObject>, Diagnostics> {
        let key = (address.clone(), None);
        let Some(prior) = self.input.refreshed.objects.get(&key) else {
            return Ok(None);
        };
        if !self.input.refreshed.unread.contains(&key)
            || !self
                .input
                .providers
                .is_fully_configured(&shared.provider_config)
        {
            return Ok(Some(prior.clone()));
        }
        let request = crate::refresh::request_for(&address.resource.kind, prior);
        let hook = || crate::refresh::hook(address, &prior.value);
        self.input.events.emit(Event::RefreshStarted(hook()));
        let provider = self.provider_for(shared, address);
        let answer = provider.read_resource(request).await;
        self.input.events.emit(Event::RefreshFinished(hook()));
        let said = Reported::placed(
            Reported::hiding(answer.reported, &[&prior.value]),
            address,
            &|p| Some(shared.block.place_of(p)),
        );
        if said.has_errors() {
            return Err(said);
        }
        if let Some(deferred) = answer.deferred {
            return match self.input.defer {
                true => Ok(Some(prior.clone())),
                false => {
                    let config = &shared.provider_config;
                    let range = Some(shared.block.range);
                    Err(put_off(config, address, "read", deferred, range).into())
                }
            };
        }
        if answer.new.is_null() {
            return Ok(None);
        }
        let Some(new) = adopted_loosely(&shared.schema.block, answer.new) else {
            return Err(crate::refresh::invalid_object(&shared.provider_config, address).into());
        };
        let value = formwork_provider_schema::marked(
            &shared.schema.block,
            &new,
            &crate::prior::stored_marks(&prior.stored),
        );
        let given = answer.identity.zip(shared.identity.as_deref());
        let identity = match given {
            Some((given, schema)) => match crate::refresh::read_identity(given, schema) {
                Some(identity) => Some(identity),
                None => {
                    let config = &shared.provider_config;
                    return Err(crate::refresh::invalid_identity(config, address, "read").into());
                }
            },
            None => prior.identity.clone(),
        };
        Ok(Some(PriorObject {
            value,
            identity,
            private: answer.private,
            ..prior.clone()
        }))
    }

    pub(crate) async fn preconditions(
        &self,
        shared: &Shared<'_>,
        address: &AbsResourceInstance,
        scope: &ModuleScope<'_>,
        functions: &ModuleFunctions<'_>,
    ) -> (bool, Diagnostics) {
        let rules = &shared.block.lifecycle.preconditions;
        let kind = Condition::Precondition;
        self.conditions(shared, address, rules, kind, scope, functions)
            .await
    }

    pub(crate) async fn postconditions(
        &self,
        shared: &Shared<'_>,
        address: &AbsResourceInstance,
        scope: ModuleScope<'_>,
        functions: &ModuleFunctions<'_>,
        object: Value,
    ) -> (bool, Diagnostics) {
        let rules = &shared.block.lifecycle.postconditions;
        let kind = Condition::Postcondition;
        let scope = scope.with_self(object);
        self.conditions(shared, address, rules, kind, &scope, functions)
            .await
    }

    /// Whether the conditions of an instance hold, which is noted.
    async fn conditions(
        &self,
        shared: &Shared<'_>,
        address: &AbsResourceInstance,
        rules: &[CheckRule],
        kind: Condition,
        scope: &ModuleScope<'_>,
        functions: &ModuleFunctions<'_>,
    ) -> (bool, Diagnostics) {
        if rules.is_empty() {
            return (true, Diagnostics::new());
        }
        let mode = self.input.mode;
        let evaluator = &self.input.evaluator;
        let (holds, verdicts, said) =
            judge_for(mode, evaluator, rules, kind, scope, functions).await;
        self.note(shared, address, &verdicts);
        (holds, addressed(said, address))
    }

    fn note(&self, shared: &Shared<'_>, address: &AbsResourceInstance, verdicts: &[Verdict]) {
        let block = join(
            &shared.module_instance.path().to_string(),
            &shared.block.address.to_string(),
        );
        self.results
            .add(CheckKind::Resource, &block, &address.to_string(), verdicts);
        if verdicts.contains(&Verdict::Unknown) {
            lock(&self.open_conditions).insert(address.clone());
        }
    }
}

/// The configuration of one instance by its type's schema.
pub(crate) async fn decode_config(
    evaluator: &Evaluator,
    shared: &Shared<'_>,
    scope: &ModuleScope<'_>,
    functions: &ModuleFunctions<'_>,
) -> (Value, Diagnostics) {
    decode_block(evaluator, shared.block, &shared.schema, scope, functions).await
}

/// The same for a block that nobody handles yet.
pub(crate) async fn decode_block(
    evaluator: &Evaluator,
    block: &ResourceBlock,
    schema: &Schema,
    scope: &ModuleScope<'_>,
    functions: &ModuleFunctions<'_>,
) -> (Value, Diagnostics) {
    evaluator
        .calls()
        .settled(|reading| {
            reading.passes_on = block.address.mode == ResourceMode::Ephemeral;
            let value = decode(
                &block.body,
                &schema.block,
                block.open,
                scope,
                functions,
                reading,
            );
            reading.pending.extend(scope.take_pending());
            value
        })
        .await
}

/// Diagnostics about an instance.
pub(crate) fn addressed(
    mut diagnostics: Diagnostics,
    address: &AbsResourceInstance,
) -> Diagnostics {
    diagnostics.default_address(address);
    diagnostics
}

/// What is wrong with the paths of `ignore_changes`, by the type's schema.
pub(crate) fn check_ignored(block: &ResourceBlock, schema: &Schema) -> Diagnostics {
    let mut said = Diagnostics::new();
    let IgnoreChanges::Paths(paths) = &block.lifecycle.ignore_changes else {
        return said;
    };
    let ty = schema.ty();
    for (path, range) in paths {
        if let Some(d) = not_there(block, path, &ty) {
            said.push(d.at(*range));
            continue;
        }
        let Some(Step::Attribute(first)) = path.steps().first() else {
            continue;
        };
        let attribute = schema.block.attribute(first);
        if attribute.is_some_and(|a| a.computed && !a.optional && !a.required) {
            said.push(
                Diagnostic::warning(
                    "Redundant ignore_changes element",
                    format!(
                        "Only the provider decides what {first} is; the configuration does not, so \
                         there is no change of it to ignore. Remove it from the list."
                    ),
                )
                .at(*range),
            );
        }
    }
    said
}

/// That a path of `ignore_changes` names nothing.
fn not_there(block: &ResourceBlock, path: &Path, ty: &Type) -> Option<Diagnostic> {
    let mut at = ty;
    for step in path.steps() {
        let (Type::Object(object), Step::Attribute(name)) = (at, step) else {
            at = match at {
                Type::List(e) | Type::Set(e) | Type::Map(e) => e,
                _ => return None,
            };
            continue;
        };
        let Some(inner) = object.attribute(name) else {
            let d = Diagnostic::error(
                "Unsupported attribute",
                format!(
                    "{} has no argument, nested block or attribute \"{name}\".",
                    block.address.kind
                ),
            );
            let names = object.names().iter().map(|n| &**n);
            return Some(match nearest(name, names) {
                Some(near) => d.hint(format!("Did you mean \"{near}\"?")),
                None => d,
            });
        };
        at = inner;
    }
    None
}

/// `ignore_changes` in the words of the schema's rules.
pub(crate) fn ignored(ignore: &IgnoreChanges) -> Ignored {
    match ignore {
        IgnoreChanges::Nothing => Ignored::Nothing,
        IgnoreChanges::All => Ignored::All,
        IgnoreChanges::Paths(paths) => {
            Ignored::Paths(paths.iter().map(|(p, _)| p.clone()).collect())
        }
    }
}
