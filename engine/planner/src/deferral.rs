//! What is left to a later round: blocks of which it is not known how many instances they have,
//! instances that their provider cannot plan yet, and everything that needs them.
//!
//! A node of the static graph *waits* if something of it is deferred or something that it needs waits.
//! That is known per block, so that nothing is planned by what may still change: all instances of a
//! block wait together. What waits is looked at only as far as it can be shown. Objects of the state
//! that belong to blocks which wait stay as they are, and so does everything that those were made from.

use crate::managed::{Placed, Shared, addressed, decode_block};
use crate::prior::PriorObject;
use crate::walk::{Walk, join, lock, with_origin};
use formwork_addresses::{
    AbsProviderConfig, AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance, ModulePath,
    Resource, ResourceMode,
};
use formwork_configuration::{Module, ResourceBlock};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_evaluation::{Expansion, ModuleScope, NotKnown, RepetitionData};
use formwork_graph::{Node, Visit, What};
use formwork_plan::{Action, DeferredChange, DeferredReason, PlanMode, ResourceInstanceChange};
use formwork_provider::Bytes;
use formwork_provider_schema::{
    Schema, marked, proposed_new_state, unknown_computed, without_write_only,
};
use formwork_values::{Origin, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// What has been deferred so far.
#[derive(Default)]
pub(crate) struct Deferral {
    /// By node of the static graph; empty where nothing may be deferred.
    waiting: Mutex<Vec<bool>>,
    /// Provider blocks that could not be configured, with what they wait for.
    providers: Mutex<BTreeMap<AbsProviderConfig, Vec<String>>>,
    /// Modules of which some call has unknown instances, with what it waits for.
    calls: Mutex<BTreeMap<ModulePath, Vec<String>>>,
    found: Mutex<Vec<DeferredChange>>,
    outputs: Mutex<BTreeSet<String>>,
}

impl Deferral {
    pub(crate) fn new(nodes: usize, allowed: bool) -> Self {
        let deferral = Self::default();
        if allowed {
            lock(&deferral.waiting).resize(nodes, false);
        }
        deferral
    }

    /// All that was found, in the order of addresses, and the outputs that wait.
    pub(crate) fn take(&self) -> (Vec<DeferredChange>, Vec<String>) {
        let mut found = std::mem::take(&mut *lock(&self.found));
        found.sort_by(|a, b| {
            let key = |d: &DeferredChange| (d.change.address.clone(), d.change.deposed.clone());
            key(a).cmp(&key(b)).then_with(|| a.address.cmp(&b.address))
        });
        let outputs = std::mem::take(&mut *lock(&self.outputs));
        (found, outputs.into_iter().collect())
    }
}

/// The reason that a provider gives, in the plan's words.
pub(crate) fn answered(reason: formwork_provider::DeferredReason) -> DeferredReason {
    use formwork_provider::DeferredReason as Given;
    match reason {
        Given::ResourceConfigUnknown => DeferredReason::ResourceConfigUnknown,
        Given::ProviderConfigUnknown => DeferredReason::ProviderConfigUnknown,
        Given::AbsentPrerequisite => DeferredReason::AbsentPrerequisite,
    }
}

fn texts(origins: &[Arc<Origin>]) -> Vec<String> {
    origins
        .iter()
        .map(|o| format!("{}{}", o.address, o.path))
        .collect()
}

/// A block in a module instance, of which some part of the address may not be known.
struct Foreseen<'w> {
    node: Node,
    /// Without keys where they are not known.
    module_instance: &'w ModuleInstance,
    /// The same as people read it.
    module_text: String,
    module: &'w Module,
    block: &'w ResourceBlock,
    provider: AbsProviderConfig,
    schema: Arc<Schema>,
}

impl Walk<'_> {
    /// Whether a node waits because something that it needs does, which it is from now on.
    pub(crate) fn joins_waiting(&self, node: Node) -> bool {
        if !self.input.defer {
            return false;
        }
        let mut waiting = lock(&self.deferral.waiting);
        let needed = self.input.graph.dag().dependencies(node);
        let waits = needed
            .iter()
            .any(|d| waiting.get(*d as usize).copied().unwrap_or(false));
        if waits && let Some(w) = waiting.get_mut(node as usize) {
            *w = true;
        }
        waits
    }

    pub(crate) fn set_waiting(&self, node: Node) {
        if let Some(w) = lock(&self.deferral.waiting).get_mut(node as usize) {
            *w = true;
        }
    }

    pub(crate) fn is_waiting(&self, node: Node) -> bool {
        lock(&self.deferral.waiting)
            .get(node as usize)
            .copied()
            .unwrap_or(false)
    }

    fn push_deferred(&self, deferred: DeferredChange) {
        // A run that only records leaves out what is not there yet, and that is all there is to it.
        if self.input.mode != PlanMode::RefreshOnly {
            lock(&self.deferral.found).push(deferred);
        }
    }

    /// Leaves an output of the root module as it is.
    pub(crate) fn defer_output(&self, name: &str) {
        lock(&self.deferral.outputs).insert(name.to_owned());
    }

    /// What a node waits for: the nearest blocks that wait themselves.
    fn waited_for(&self, node: Node) -> Vec<String> {
        let graph = &self.input.graph;
        graph
            .nearest_resources(node)
            .into_iter()
            .filter(|n| self.is_waiting(*n))
            .filter_map(|n| graph.get(n))
            .map(ToString::to_string)
            .collect()
    }

    fn causes(&self, origins: &[Arc<Origin>], node: Node) -> Vec<String> {
        if origins.is_empty() {
            self.waited_for(node)
        } else {
            texts(origins)
        }
    }

    /// Lets a provider block wait: whatever it handles is deferred.
    pub(crate) fn defer_provider(
        &self,
        node: Node,
        block: &AbsProviderConfig,
        origins: &[Arc<Origin>],
    ) {
        self.set_waiting(node);
        let mut causes = self.causes(origins, node);
        if causes.is_empty() {
            causes.extend(
                self.input
                    .graph
                    .nearest_resources(node)
                    .into_iter()
                    .filter_map(|n| self.input.graph.get(n))
                    .map(ToString::to_string),
            );
        }
        lock(&self.deferral.providers).insert(block.block(), causes);
    }

    /// Lets everything in the instances of a module call wait, whose number is not known.
    pub(crate) fn defer_call(
        &self,
        node: Node,
        path: &ModulePath,
        name: &Arc<str>,
        unknown: &NotKnown,
    ) {
        self.set_waiting(node);
        let causes = self.causes(&unknown.origins, node);
        lock(&self.deferral.calls).insert(path.child(name), causes);
    }

    /// Keeps what its provider cannot plan yet.
    pub(crate) fn defer_answered(
        &self,
        shared: &Shared<'_>,
        change: ResourceInstanceChange,
        reason: formwork_provider::DeferredReason,
    ) {
        let address = change.address.clone();
        let graph = &self.input.graph;
        let node = graph.resource(&address.module_path(), &address.resource);
        if let Some(node) = node {
            self.set_waiting(node);
        }
        let waits_for = match reason {
            formwork_provider::DeferredReason::ProviderConfigUnknown => {
                self.provider_waits_for(&shared.provider_config)
            }
            _ => Vec::new(),
        };
        self.see_later(&address, &change.after);
        self.push_deferred(DeferredChange {
            address: address.to_string(),
            module: address.module.to_string(),
            key_unknown: false,
            reason: answered(reason),
            waits_for,
            change,
        });
    }

    /// What the configuration of a provider is made from, as far as it is not known.
    fn provider_waits_for(&self, config: &AbsProviderConfig) -> Vec<String> {
        let block = config.block();
        let what = What::Provider {
            provider: block.provider.clone(),
            alias: block.alias.clone(),
        };
        let node = self.input.graph.find(&block.module, what);
        node.map(|node| self.unsettled_before(node))
            .unwrap_or_default()
    }

    /// The nearest resources that a node is made from and that change or wait themselves.
    fn unsettled_before(&self, node: Node) -> Vec<String> {
        let graph = &self.input.graph;
        let changing = lock(&self.changing).clone();
        graph
            .nearest_resources(node)
            .into_iter()
            .filter(|n| changing.contains(n) || self.is_waiting(*n))
            .filter_map(|n| graph.get(n))
            .map(ToString::to_string)
            .collect()
    }

    /// Keeps a deletion that has to wait.
    pub(crate) fn defer_deletion(
        &self,
        change: ResourceInstanceChange,
        reason: DeferredReason,
        waits_for: Vec<String>,
    ) {
        self.push_deferred(DeferredChange {
            address: change.address.to_string(),
            module: change.address.module.to_string(),
            key_unknown: false,
            reason,
            waits_for,
            change,
        });
    }

    /// Lets references see what is foreseen of an instance.
    fn see_later(&self, address: &AbsResourceInstance, after: &Value) {
        if !after.is_null() {
            let value = with_origin(address, after.clone());
            self.input.evaluator.objects().set(address, value);
        }
    }

    /// Defers a block that waits, as far as its instances are known.
    pub(crate) async fn waiting_resource(
        &self,
        node: Node,
        path: &ModulePath,
        module: &Module,
        block: &ResourceBlock,
    ) -> Visit {
        let evaluator = &self.input.evaluator;
        let config = evaluator.configuration().provider_of(path, block).config;
        let provider = lock(&self.deferral.providers).get(&config.block()).cloned();
        let (reason, waits_for) = match provider {
            Some(causes) => (DeferredReason::ProviderConfigUnknown, causes),
            None => (DeferredReason::DeferredPrerequisite, self.waited_for(node)),
        };
        let mut visit = self
            .in_every_module(node, path, module, block, async |placed| {
                self.foresee_instances(placed, reason, &waits_for).await
            })
            .await;
        if self.within_unknown(node, path, module, block).await == Visit::Failed {
            visit = Visit::Failed;
        }
        visit
    }

    /// Why a block has to wait though its number is known: it is not known which of its provider's
    /// configurations handles an instance, or what is to be imported.
    pub(crate) async fn must_wait(&self, placed: Placed<'_>) -> Option<DeferredReason> {
        if !self.input.defer {
            return None;
        }
        let evaluator = &self.input.evaluator;
        let path = placed.module_instance.path();
        let address = &placed.block.address;
        if address.mode == ResourceMode::Managed && self.imports_are_unknown(&path, address).await {
            return Some(DeferredReason::ResourceConfigUnknown);
        }
        let resolved = evaluator.configuration().provider_of(&path, placed.block);
        if resolved.keys.is_empty() {
            return None;
        }
        for key in placed.expansion.keys() {
            let scope = placed.scope(evaluator, &key);
            let module = placed.module_instance;
            if evaluator
                .provider_key_is_unknown(&resolved, module, &scope)
                .await
            {
                return Some(DeferredReason::ProviderConfigUnknown);
            }
        }
        None
    }

    /// Lets a block wait from now on.
    pub(crate) async fn wait_for(&self, placed: Placed<'_>, reason: DeferredReason) -> Visit {
        self.set_waiting(placed.node);
        let causes = self.unsettled_before(placed.node);
        self.foresee_instances(placed, reason, &causes).await
    }

    /// Defers the instances of a block that waits, in one instance of its module.
    async fn foresee_instances(
        &self,
        placed: Placed<'_>,
        reason: DeferredReason,
        waits_for: &[String],
    ) -> Visit {
        let Placed {
            node,
            module_instance: instance,
            module,
            block,
            expansion,
        } = placed;
        let foreseen = match self.foreseen(node, instance, None, module, block) {
            Ok(foreseen) => foreseen,
            Err(said) => return self.say(said),
        };
        let evaluator = &self.input.evaluator;
        let resource = block.address.in_module(instance);
        let mut visit = Visit::Done;
        for key in self.taking_part(placed) {
            let address = resource.instance(key.clone());
            let repetition = evaluator.repetition(&resource, &block.repetition, expansion, &key);
            let prior = self.input.refreshed.objects.get(&(address.clone(), None));
            match self.foresee(&foreseen, repetition, prior, &address).await {
                Ok(change) => {
                    self.see_later(&address, &change.after);
                    if block.address.mode != ResourceMode::Ephemeral {
                        self.push_deferred(DeferredChange {
                            address: address.to_string(),
                            module: foreseen.module_text.clone(),
                            key_unknown: false,
                            reason,
                            waits_for: waits_for.to_vec(),
                            change,
                        });
                    }
                }
                Err(said) => {
                    let _ = self.say(said);
                    visit = Visit::Failed;
                }
            }
        }
        visit
    }

    /// Defers a block of which it is not known how many instances it has.
    pub(crate) async fn defer_unknown(
        &self,
        node: Node,
        instance: &ModuleInstance,
        module: &Module,
        block: &ResourceBlock,
        unknown: &NotKnown,
    ) -> Visit {
        let causes = self.causes(&unknown.origins, node);
        self.set_waiting(node);
        self.defer_all(node, instance, None, module, block, causes)
            .await
    }

    /// Defers a block in module instances of which it is not known how many there are.
    async fn within_unknown(
        &self,
        node: Node,
        path: &ModulePath,
        module: &Module,
        block: &ResourceBlock,
    ) -> Visit {
        let mut visit = Visit::Done;
        for (instance, text) in self.unknown_modules(path) {
            let causes = {
                let calls = lock(&self.deferral.calls);
                let mut at = Some(path.clone());
                let mut found = None;
                while let Some(p) = at.filter(|_| found.is_none()) {
                    found = calls.get(&p).cloned();
                    at = p.parent();
                }
                found.unwrap_or_default()
            };
            let done = self
                .defer_all(node, &instance, Some(text), module, block, causes)
                .await;
            if done == Visit::Failed {
                visit = Visit::Failed;
            }
        }
        visit
    }

    async fn defer_all(
        &self,
        node: Node,
        instance: &ModuleInstance,
        module_text: Option<String>,
        module: &Module,
        block: &ResourceBlock,
        waits_for: Vec<String>,
    ) -> Visit {
        let foreseen = match self.foreseen(node, instance, module_text, module, block) {
            Ok(foreseen) => foreseen,
            Err(said) => {
                let _ = self.say(said);
                return Visit::Failed;
            }
        };
        let resource = block.address.in_module(instance);
        let repeated = block.repetition.is_repeated();
        let repetition = match repeated {
            true => RepetitionData::unknown(),
            false => RepetitionData::default(),
        };
        let address = resource.instance(InstanceKey::None);
        let change = match self.foresee(&foreseen, repetition, None, &address).await {
            Ok(change) => change,
            Err(said) => {
                let _ = self.say(said);
                return Visit::Failed;
            }
        };
        let objects = self.input.evaluator.objects();
        objects.set_expansion(&resource, Expansion::Unknown);
        objects.set_placeholder(&resource, Value::unknown(foreseen.schema.ty()));
        if block.address.mode == ResourceMode::Ephemeral {
            return Visit::Done;
        }
        let key = if repeated { "[*]" } else { "" };
        self.push_deferred(DeferredChange {
            address: join(&foreseen.module_text, &format!("{}{key}", block.address)),
            module: foreseen.module_text,
            key_unknown: repeated,
            reason: DeferredReason::InstanceCountUnknown,
            waits_for,
            change,
        });
        Visit::Done
    }

    fn foreseen<'w>(
        &self,
        node: Node,
        module_instance: &'w ModuleInstance,
        module_text: Option<String>,
        module: &'w Module,
        block: &'w ResourceBlock,
    ) -> Result<Foreseen<'w>, Diagnostics> {
        let configuration = self.input.evaluator.configuration();
        let path = module_instance.path();
        let provider = configuration.provider_of(&path, block).config;
        let schema = self.schema_of(&provider, block)?;
        Ok(Foreseen {
            node,
            module_instance,
            module_text: module_text.unwrap_or_else(|| module_instance.to_string()),
            module,
            block,
            provider,
            schema,
        })
    }

    /// What would be done, as far as it can be told without asking the provider.
    async fn foresee(
        &self,
        of: &Foreseen<'_>,
        repetition: RepetitionData,
        prior: Option<&PriorObject>,
        address: &AbsResourceInstance,
    ) -> Result<ResourceInstanceChange, Diagnostics> {
        let evaluator = &self.input.evaluator;
        let functions = evaluator.functions(of.module);
        let scope = ModuleScope::new(evaluator, of.module_instance, repetition);
        let (config, said) =
            decode_block(evaluator, of.block, &of.schema, &scope, &functions).await;
        if said.has_errors() {
            return Err(addressed(said, address));
        }
        let block = &of.schema.block;
        let (plain, mut marks) = config.unmark_deep();
        marks.retain(|(_, marks)| !marks.is_ephemeral());
        let plain = without_write_only(block, &plain);
        let before = prior.map_or_else(|| Value::null(of.schema.ty()), |p| p.value.clone());
        let after = match prior {
            Some(p) => proposed_new_state(block, &p.value.clone().unmark_deep().0, &plain),
            None => unknown_computed(block, &plain),
        };
        let after = marked(block, &after, &marks);
        let action = match (of.block.address.mode, prior) {
            (ResourceMode::Data, _) => Action::Read,
            (_, None) => Action::Create,
            (_, Some(_)) if after == before => Action::NoOp,
            (_, Some(_)) => Action::Update,
        };
        Ok(ResourceInstanceChange {
            address: address.clone(),
            previous_address: None,
            deposed: None,
            provider: of.provider.clone(),
            action,
            reason: None,
            before,
            after,
            replace_paths: Vec::new(),
            planned_private: Bytes::from([]),
            schema_version: of.schema.version,
            dependencies: match of.block.address.mode {
                ResourceMode::Managed => self.dependencies(of.node),
                _ => Vec::new(),
            },
            create_before_destroy: false,
            importing: None,
            legacy_type_system: false,
            identity: Default::default(),
        })
    }

    /// The instances of a module that stand for all that there may be: without keys where they are not
    /// known, with the address as people read it.
    fn unknown_modules(&self, path: &ModulePath) -> Vec<(ModuleInstance, String)> {
        if lock(&self.deferral.calls).is_empty() {
            return Vec::new();
        }
        let evaluator = &self.input.evaluator;
        let configuration = evaluator.configuration();
        let mut at = ModulePath::root();
        let mut unknown: Vec<(ModuleInstance, String)> = Vec::new();
        for name in path.names() {
            let call = configuration.module(&at).and_then(|m| m.calls.get(name));
            let repeated = call.is_some_and(|c| c.repetition.is_repeated());
            let key = if repeated { "[*]" } else { "" };
            let step = |(m, text): (ModuleInstance, String)| {
                let text = join(&text, &format!("module.{name}{key}"));
                (m.child(name, InstanceKey::None), text)
            };
            let mut next: Vec<(ModuleInstance, String)> = unknown.into_iter().map(step).collect();
            for known in evaluator.module_instances(&at) {
                if let Some(Expansion::Unknown) = evaluator.objects().call_expansion(&known, name) {
                    let text = known.to_string();
                    next.push(step((known, text)));
                }
            }
            unknown = next;
            at = at.child(name);
        }
        unknown
    }
}

/// What must stay because something that waits may still need it.
pub(crate) struct Held<'w, 'i> {
    walk: &'w Walk<'i>,
    /// Blocks that objects of waiting blocks were made from, near and far; with one of those each.
    made_from: BTreeMap<(ModulePath, Resource), String>,
}

impl<'w, 'i> Held<'w, 'i> {
    pub(crate) fn new(walk: &'w Walk<'i>) -> Self {
        let mut held = Self {
            walk,
            made_from: BTreeMap::new(),
        };
        if !lock(&walk.deferral.waiting).contains(&true) || walk.input.mode == PlanMode::Destroy {
            return held;
        }
        let block = |a: &AbsResource| (a.module.path(), a.resource.clone());
        let mut needs: BTreeMap<(ModulePath, Resource), BTreeSet<(ModulePath, Resource)>> =
            BTreeMap::new();
        let mut open = Vec::new();
        for ((address, _), prior) in &walk.input.refreshed.objects {
            let of = block(&address.abs_resource());
            if held.waits(address) {
                open.push((of.clone(), address.abs_resource().to_string()));
            }
            needs
                .entry(of)
                .or_default()
                .extend(prior.dependencies.iter().map(block));
        }
        while let Some((of, because)) = open.pop() {
            for needed in needs.get(&of).into_iter().flatten() {
                if !held.made_from.contains_key(needed) {
                    held.made_from.insert(needed.clone(), because.clone());
                    open.push((needed.clone(), because.clone()));
                }
            }
        }
        held
    }

    /// Whether an instance belongs to a block that waits.
    pub(crate) fn waits(&self, address: &AbsResourceInstance) -> bool {
        let graph = &self.walk.input.graph;
        self.walk.input.mode != PlanMode::Destroy
            && graph
                .resource(&address.module_path(), &address.resource)
                .is_some_and(|n| self.walk.is_waiting(n))
    }

    /// Why an object cannot be deleted yet, if so.
    pub(crate) fn keeps(
        &self,
        address: &AbsResourceInstance,
        config: &AbsProviderConfig,
    ) -> Option<(DeferredReason, Vec<String>)> {
        let key = (address.module.path(), address.resource.clone());
        if let Some(because) = self.made_from.get(&key) {
            return Some((DeferredReason::DeferredPrerequisite, vec![because.clone()]));
        }
        let block = config.block();
        if let Some(causes) = lock(&self.walk.deferral.providers).get(&block) {
            return Some((DeferredReason::ProviderConfigUnknown, causes.clone()));
        }
        None
    }
}

/// How a run that may not defer can go on although something is not known: a full command for each way.
pub(crate) fn ways_out(d: Diagnostic, block: &str, origins: &[Arc<Origin>]) -> Diagnostic {
    let mut targets: Vec<String> = Vec::new();
    for origin in origins {
        let target = format!("-target='{}'", origin.address);
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    let mut d = d;
    if !targets.is_empty() && targets.len() <= 8 {
        d = d.hint(format!(
            "To apply first what it depends on: formwork apply {}",
            targets.join(" ")
        ));
    }
    d.hint(format!(
        "To leave it out, with what needs it: formwork apply -exclude='{block}'"
    ))
    .hint("To have it done in rounds, each shown and approved: formwork apply -allow-deferral")
}
