//! The planning walk: every block of the configuration, in dependency order.

use crate::conditions::Results;
use crate::deferral::{Deferral, ways_out};
use crate::execution::{self, Further, OpenCheck};
use crate::imports::{self, Imported};
use crate::input::{PlanInput, Planned};
use crate::judged::{open_checks, unjudged, with_unjudged};
use crate::managed::{Placed, check_ignored};
use crate::providers::{Configured, configure_provider};
use crate::provisioning::check_removed;
use crate::relations::references;
use crate::renewal::{renew_untouched, state_with_data};
use crate::{orphans, outputs};
use formwork_addresses::{
    AbsProviderConfig, AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance, ModulePath,
    Resource, ResourceMode,
};
use formwork_configuration::{Module, ResourceBlock};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_evaluation::{Expansion, NotKnown, Repeated, expand};
use formwork_graph::{Node, Outcome, Visit, WalkReport, What, walk};
use formwork_plan::{Action, CheckKind, PlanMode, PlannedKeys, ResourceInstanceChange};
use formwork_provider::OpenEphemerals;
use formwork_state::State;
use formwork_values::{Origin, Path, Value};
use futures::StreamExt as _;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Locks, whatever happened to others who held it: what is inside is whole at every moment.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A walk under way.
pub(crate) struct Walk<'a> {
    pub input: &'a PlanInput,
    pub changes: Mutex<Vec<ResourceInstanceChange>>,
    /// Where in `changes` the change of an instance's current object is.
    pub index: Mutex<FxHashMap<AbsResourceInstance, usize>>,
    pub diagnostics: Mutex<Diagnostics>,
    pub results: Results,
    pub resource_keys: Mutex<FxHashMap<AbsResource, PlannedKeys>>,
    pub call_keys: Mutex<BTreeMap<(ModuleInstance, Arc<str>), PlannedKeys>>,
    /// Data sources that were read.
    pub data: Mutex<State>,
    /// Ephemeral resources with who handles them; apply opens those that it needs.
    pub ephemeral: Mutex<Vec<(AbsResourceInstance, AbsProviderConfig)>>,
    /// Those that are open while planning.
    pub opened: OpenEphemerals,
    pub unknown_providers: Mutex<BTreeSet<AbsProviderConfig>>,
    /// Objects that were imported.
    pub imported: Mutex<Vec<Imported>>,
    /// Checks, validations and preconditions of outputs that only apply can decide.
    pub open_checks: Mutex<BTreeSet<OpenCheck>>,
    /// Instances of resources with a condition that only apply can decide.
    pub open_conditions: Mutex<BTreeSet<AbsResourceInstance>>,
    /// Managed resources with a change that is not a no-op.
    pub changing: Mutex<BTreeSet<Node>>,
    /// Whether a data source waits for what a depends_on names, once that is known.
    pub pending: Mutex<FxHashMap<Node, bool>>,
    /// What a block's objects are made from, once that is known.
    pub made_from: Mutex<FxHashMap<Node, Arc<Vec<AbsResource>>>>,
    /// Whether a change of any instance triggers, by the resource and the path within; asked only
    /// when all of them are planned.
    pub any_triggers: Mutex<FxHashMap<(AbsResource, Path), bool>>,
    /// Outputs of the root module that have been evaluated.
    pub outputs_done: Mutex<BTreeSet<Arc<str>>>,
    /// By node: created before the former object is destroyed.
    pub create_first: Vec<bool>,
    /// What is left to a later round.
    pub deferral: Deferral,
}

/// How often a resource block exists in one instance of its module.
pub(crate) enum Expanded {
    /// These instances.
    Known(Expansion),
    /// Left to a later round.
    Unknown(Box<NotKnown>),
    /// Wrong, which has been said.
    Failed,
}

impl<'a> Walk<'a> {
    fn new(input: &'a PlanInput) -> Self {
        let create_first = input
            .graph
            .create_before_destroy(input.evaluator.configuration());
        Self {
            input,
            changes: Mutex::default(),
            index: Mutex::default(),
            diagnostics: Mutex::default(),
            results: Results::default(),
            resource_keys: Mutex::default(),
            call_keys: Mutex::default(),
            data: Mutex::default(),
            ephemeral: Mutex::default(),
            opened: OpenEphemerals::default(),
            unknown_providers: Mutex::default(),
            imported: Mutex::default(),
            open_checks: Mutex::default(),
            open_conditions: Mutex::default(),
            changing: Mutex::default(),
            pending: Mutex::default(),
            made_from: Mutex::default(),
            any_triggers: Mutex::default(),
            outputs_done: Mutex::default(),
            create_first,
            deferral: Deferral::new(input.graph.nodes().len(), input.defer),
        }
    }

    pub fn say(&self, diagnostics: Diagnostics) -> Visit {
        let failed = diagnostics.has_errors();
        lock(&self.diagnostics).append(diagnostics);
        if failed { Visit::Failed } else { Visit::Done }
    }

    /// Keeps a change, and lets references see what the object will be.
    pub fn keep(&self, change: ResourceInstanceChange) {
        let address = change.address.clone();
        if change.deposed.is_none() && !change.after.is_null() {
            self.input
                .evaluator
                .objects()
                .set(&address, with_origin(&address, change.after.clone()));
        }
        if change.action != Action::NoOp && address.resource.mode == ResourceMode::Managed {
            let what = What::Resource(address.resource.clone());
            let node = self.input.graph.find(&address.module_path(), what);
            lock(&self.changing).extend(node);
        }
        let mut changes = lock(&self.changes);
        if change.deposed.is_none() {
            lock(&self.index).insert(address, changes.len());
        }
        changes.push(change);
    }

    /// The nearest managed resources of a node, as state keeps them. Everything that it needs is
    /// planned when this is asked for, so it is found once.
    pub fn dependencies(&self, node: Node) -> Vec<AbsResource> {
        if let Some(known) = lock(&self.made_from).get(&node) {
            return known.to_vec();
        }
        let found = Arc::new(self.find_dependencies(node));
        lock(&self.made_from).insert(node, found.clone());
        found.to_vec()
    }

    fn find_dependencies(&self, node: Node) -> Vec<AbsResource> {
        let graph = &self.input.graph;
        let mut found = BTreeSet::new();
        let mut open = vec![node];
        let mut seen = BTreeSet::new();
        while let Some(node) = open.pop() {
            for near in graph.nearest_resources(node) {
                if !seen.insert(near) {
                    continue;
                }
                let Some(n) = graph.get(near) else { continue };
                if let What::Resource(resource) = &n.what {
                    let managed = resource.mode == ResourceMode::Managed;
                    if managed {
                        found.insert(resource.in_module(&n.module.unkeyed_instance()));
                    }
                    // A block without objects leaves nothing in the state to find the rest by.
                    if !managed || self.has_no_instances(&n.module, resource) {
                        open.push(near);
                    }
                }
            }
        }
        found.into_iter().collect()
    }

    fn has_no_instances(&self, module: &ModulePath, resource: &Resource) -> bool {
        let evaluator = &self.input.evaluator;
        evaluator.module_instances(module).iter().all(|m| {
            evaluator
                .objects()
                .expansion(&resource.in_module(m))
                .is_some_and(|e| !e.has_any())
        })
    }

    async fn visit(&self, node: Node) -> Visit {
        let Some(n) = self.input.graph.get(node) else {
            return Visit::Done;
        };
        if !self.input.scope.visits(node) {
            return Visit::Done;
        }
        let path = &n.module;
        let evaluator = &self.input.evaluator;
        let renewed = self.opened.renew_due(evaluator.now()).await;
        if self.say(renewed) == Visit::Failed {
            return Visit::Failed;
        }
        let Some(module) = evaluator.configuration().module(path) else {
            return Visit::Done;
        };
        let waits = self.joins_waiting(node);
        match &n.what {
            What::ModuleCall(name) => self.module_call(node, path, module, name).await,
            What::Variable(name) => {
                let mut visit = Visit::Done;
                for instance in evaluator.module_instances(path) {
                    let memo = evaluator.prepare_variable(&instance, name).await;
                    let mut said = memo.take_diagnostics();
                    if !memo.has_errors() {
                        said.append(self.validations(node, &instance, module, name).await);
                    }
                    if self.say(said) == Visit::Failed {
                        visit = Visit::Failed;
                    }
                }
                visit
            }
            What::Local(name) => {
                let mut said = Diagnostics::new();
                for instance in evaluator.module_instances(path) {
                    said.append(
                        evaluator
                            .prepare_local(&instance, name)
                            .await
                            .take_diagnostics(),
                    );
                }
                self.say(said)
            }
            What::Output(name) if waits && path.is_root() => {
                self.defer_output(name);
                Visit::Done
            }
            What::Output(name) => self.output(node, path, module, name).await,
            What::Provider { provider, alias } => {
                let block = AbsProviderConfig {
                    module: path.clone(),
                    provider: provider.clone(),
                    alias: alias.clone(),
                    key: InstanceKey::None,
                };
                if waits {
                    self.defer_provider(node, &block, &[]);
                    return Visit::Done;
                }
                self.provider(node, &block).await
            }
            What::Resource(resource) => self.resource(node, path, module, resource).await,
            What::Check(name) if waits => {
                let block = join(&path.to_string(), &format!("check.{name}"));
                self.results.declare(CheckKind::Check, &block);
                Visit::Done
            }
            What::Check(name) => self.check(node, path, module, name).await,
            What::ModuleDone(_) => Visit::Done,
        }
    }

    /// Configures a provider, once for each element if its block has for_each.
    async fn provider(&self, node: Node, block: &AbsProviderConfig) -> Visit {
        let evaluator = &self.input.evaluator;
        if self.input.defer
            && let Some(unknown) = evaluator.provider_repetition_unknown(block).await
        {
            self.defer_provider(node, block, &unknown.origins);
            return Visit::Done;
        }
        let (instances, mut all) = evaluator.provider_instances(block).await;
        let instances = instances.unwrap_or_default();
        let mut configured = futures::stream::iter(instances)
            .map(|config| async move {
                let providers = &self.input.providers;
                let (done, said) = configure_provider(evaluator, providers, &config).await;
                (config, done, said)
            })
            .buffered(self.input.parallelism.max(1));
        while let Some((config, done, said)) = configured.next().await {
            if done == Configured::NotYet && self.input.defer {
                self.defer_provider(node, block, &[]);
                continue;
            }
            if done != Configured::Fully {
                lock(&self.unknown_providers).insert(config);
            }
            all.append(said);
        }
        self.say(all)
    }

    /// The same, for what a destroy run needs to configure its providers.
    pub(crate) async fn visit_for_destroy(&self, node: Node) {
        let _ = self.visit(node).await;
    }

    async fn module_call(
        &self,
        node: Node,
        path: &ModulePath,
        module: &Module,
        name: &Arc<str>,
    ) -> Visit {
        let evaluator = &self.input.evaluator;
        let Some(call) = module.calls.get(name) else {
            return Visit::Done;
        };
        let mut visit = Visit::Done;
        for instance in evaluator.module_instances(path) {
            let functions = evaluator.functions(module);
            let (repeated, mut said) = evaluator
                .calls()
                .settled(|reading| {
                    expand(
                        &call.repetition,
                        &evaluator.scope(&instance),
                        &functions,
                        reading,
                    )
                })
                .await;
            let expansion = match repeated {
                Repeated::Known(e) => e,
                Repeated::Unknown(unknown) => {
                    if self.input.defer {
                        self.defer_call(node, path, name, &unknown);
                    } else {
                        let address = instance.child(name, InstanceKey::None).to_string();
                        let d = unknown.diagnostic.about(format!("module.{name}"));
                        said.push(ways_out(d, &address, &unknown.origins));
                    }
                    Expansion::Unknown
                }
                Repeated::Failed => Expansion::Unknown,
            };
            if let Some(keys) = planned_keys(&expansion) {
                lock(&self.call_keys).insert((instance.clone(), name.clone()), keys);
            }
            evaluator.objects().set_call(&instance, name, expansion);
            if self.say(said) == Visit::Failed {
                visit = Visit::Failed;
            }
        }
        visit
    }

    async fn resource(
        &self,
        node: Node,
        path: &ModulePath,
        module: &Module,
        resource: &Resource,
    ) -> Visit {
        let Some(block) = module.resource(resource) else {
            return Visit::Done;
        };
        let evaluator = &self.input.evaluator;
        if !block.lifecycle.preconditions.is_empty() || !block.lifecycle.postconditions.is_empty() {
            self.results.declare(
                CheckKind::Resource,
                &join(&path.to_string(), &resource.to_string()),
            );
        }
        let config = evaluator.configuration().provider_of(path, block).config;
        if let Some(schema) = self.input.providers.schema_of(&config.provider, resource)
            && self.say(check_ignored(block, &schema)) == Visit::Failed
        {
            return Visit::Failed;
        }
        if self.is_waiting(node) {
            return self.waiting_resource(node, path, module, block).await;
        }
        self.in_every_module(node, path, module, block, async |placed| {
            if let Some(reason) = self.must_wait(placed).await {
                return self.wait_for(placed, reason).await;
            }
            match resource.mode {
                ResourceMode::Managed => self.managed(placed).await,
                ResourceMode::Data => self.data_sources(placed).await,
                ResourceMode::Ephemeral => self.ephemerals(placed).await,
            }
        })
        .await
    }

    /// Does something with a block in every instance of its module, where it is known how many there
    /// are of it; where it is not, the block is deferred.
    pub(crate) async fn in_every_module(
        &self,
        node: Node,
        path: &ModulePath,
        module: &Module,
        block: &ResourceBlock,
        each: impl AsyncFn(Placed<'_>) -> Visit,
    ) -> Visit {
        let mut visit = Visit::Done;
        for instance in self.input.evaluator.module_instances(path) {
            let done = match self.expand_resource(&instance, module, block).await {
                Expanded::Known(expansion) => {
                    let placed = Placed {
                        node,
                        module_instance: &instance,
                        module,
                        block,
                        expansion: &expansion,
                    };
                    each(placed).await
                }
                Expanded::Unknown(unknown) => {
                    self.defer_unknown(node, &instance, module, block, &unknown)
                        .await
                }
                Expanded::Failed => Visit::Failed,
            };
            if done == Visit::Failed {
                visit = Visit::Failed;
            }
        }
        visit
    }

    /// Reads how often a block exists, and keeps it.
    async fn expand_resource(
        &self,
        instance: &ModuleInstance,
        module: &Module,
        block: &ResourceBlock,
    ) -> Expanded {
        let evaluator = &self.input.evaluator;
        let functions = evaluator.functions(module);
        let (repeated, mut said) = evaluator
            .calls()
            .settled(|reading| {
                expand(
                    &block.repetition,
                    &evaluator.scope(instance),
                    &functions,
                    reading,
                )
            })
            .await;
        let address = block.address.in_module(instance);
        let expanded = match repeated {
            Repeated::Known(e) => Expanded::Known(e),
            Repeated::Unknown(unknown) if self.input.defer => Expanded::Unknown(unknown),
            Repeated::Unknown(unknown) => {
                let d = unknown.diagnostic.about(&address);
                said.push(ways_out(d, &address.to_string(), &unknown.origins));
                Expanded::Failed
            }
            Repeated::Failed => Expanded::Failed,
        };
        let _ = self.say(said);
        let expansion = match &expanded {
            Expanded::Known(expansion) => expansion.clone(),
            _ => Expansion::Unknown,
        };
        if let Some(keys) = planned_keys(&expansion) {
            lock(&self.resource_keys).insert(address.clone(), keys);
        }
        evaluator.objects().set_expansion(&address, expansion);
        expanded
    }
}

/// The value as references see it: what is unknown in it says where it comes from.
pub(crate) fn with_origin(address: &AbsResourceInstance, value: Value) -> Value {
    if value.is_wholly_known() {
        return value;
    }
    let origin = Arc::new(Origin {
        address: Arc::new(address.clone()),
        path: Path::ROOT,
    });
    value.with_origin(&origin)
}

/// The keys of an expansion, as a plan keeps them.
fn planned_keys(expansion: &Expansion) -> Option<PlannedKeys> {
    match expansion {
        Expansion::Single => Some(PlannedKeys::Single),
        Expansion::Count(n) => Some(PlannedKeys::Count(*n)),
        Expansion::ForEach(map) => Some(PlannedKeys::Keys(map.keys().cloned().collect())),
        Expansion::Keys(keys) => Some(PlannedKeys::Keys(keys.iter().cloned().collect())),
        Expansion::Disabled => Some(PlannedKeys::Disabled),
        Expansion::Unknown => None,
    }
}

/// `module.path` and a name within it.
pub(crate) fn join(module: &str, name: &str) -> String {
    if module.is_empty() {
        name.to_owned()
    } else {
        format!("{module}.{name}")
    }
}

/// Plans.
pub async fn plan(input: PlanInput) -> (Planned, Diagnostics) {
    let mut walk_ = Walk::new(&input);
    let graph = &input.graph;
    let mut said = Diagnostics::new();
    match input.mode {
        PlanMode::Normal | PlanMode::RefreshOnly => {
            said.append(graph.self_references());
            if input.mode == PlanMode::Normal {
                said.append(imports::without_configuration(&walk_));
                said.append(check_removed(&input.evaluator, &input.providers).await);
            }
            if !said.has_errors() {
                let work = walk(graph.dag(), input.parallelism, &input.cancel, |node| {
                    walk_.visit(node)
                });
                let evaluator = &input.evaluator;
                let (report, renewed) = walk_.opened.renewed_during(|| evaluator.now(), work).await;
                said.append(renewed);
                let silent = !input.cancel.is_cancelled() && !lock(&walk_.diagnostics).has_errors();
                if silent && !report.all_done() {
                    said.push(not_walked(&input, &report));
                }
            }
        }
        PlanMode::Destroy => orphans::prepare_destroy(&mut walk_).await,
    }
    said.append(walk_.opened.close_all().await);
    let failed = lock(&walk_.diagnostics).has_errors() || said.has_errors();
    let cancelled = input.cancel.is_cancelled();
    if !failed && !cancelled && input.mode != PlanMode::RefreshOnly {
        orphans::plan_orphans(&walk_).await;
    }
    let mut planned = Planned {
        drift: input.refreshed.drift.clone(),
        outputs: outputs::changes(&walk_),
        checks: match input.mode {
            PlanMode::Destroy => unjudged(input.evaluator.configuration(), input.mode),
            _ => with_unjudged(&walk_),
        },
        state: state_with_data(&walk_),
        complete: !failed && !cancelled,
        ..Planned::default()
    };
    said.append(std::mem::take(&mut *lock(&walk_.diagnostics)));
    (planned.deferred, planned.deferred_outputs) = walk_.deferral.take();
    planned.complete &= planned.deferred.is_empty();
    planned.resource_keys = std::mem::take(&mut *lock(&walk_.resource_keys))
        .into_iter()
        .collect();
    planned.call_keys = std::mem::take(&mut *lock(&walk_.call_keys));
    planned.changes = std::mem::take(&mut *lock(&walk_.changes));
    planned
        .changes
        .sort_by(|a, b| (&a.address, &a.deposed).cmp(&(&b.address, &b.deposed)));
    if input.mode == PlanMode::Normal {
        renew_untouched(&walk_, &mut planned.state, &planned.changes);
    }
    if cancelled {
        said.push(formwork_diagnostics::Diagnostic::error(
            "Planning was interrupted",
            "The plan is not complete, so it cannot be applied. Nothing was changed.",
        ));
    }
    if !said.has_errors() {
        let further = Further {
            outputs: planned
                .outputs
                .iter()
                .filter(|o| o.action() != Action::NoOp)
                .map(|o| o.name.clone())
                .collect(),
            checks: open_checks(&walk_, &planned.changes),
            unknown_providers: lock(&walk_.unknown_providers).clone(),
            ephemeral: lock(&walk_.ephemeral).clone(),
        };
        let imported: BTreeMap<_, _> = lock(&walk_.imported)
            .iter()
            .map(|i| (i.address.clone(), i.object.dependencies.to_vec()))
            .collect();
        let prior: Vec<Vec<AbsResource>> = planned
            .changes
            .iter()
            .map(|c| {
                // What is imported may be replaced at once: it counts as made from what its block needs.
                if c.importing.is_some() {
                    return imported.get(&c.address).cloned().unwrap_or_default();
                }
                // The state has been moved before it was refreshed.
                input
                    .refreshed
                    .objects
                    .get(&(c.address.clone(), c.deposed.clone()))
                    .map(|p| p.dependencies.clone())
                    .unwrap_or_default()
            })
            .collect();
        planned.graph = execution::build(
            &planned.changes,
            &prior,
            &references(&input, &further.checks),
            &further,
        );
        for (provider, destroyed) in execution::configured_too_late(&planned.graph) {
            said.push(too_late(&provider, &destroyed));
        }
    }
    (planned, said)
}

/// A provider would be configured by what comes instead of something that has to outlive what it is to
/// destroy.
fn too_late(provider: &AbsProviderConfig, destroyed: &BTreeSet<String>) -> Diagnostic {
    let mut names: Vec<&str> = destroyed.iter().map(String::as_str).take(10).collect();
    if destroyed.len() > names.len() {
        names.push("and more");
    }
    Diagnostic::error(
        "Provider is configured by what is replaced",
        format!(
            "{provider} is to destroy {}. It is configured by something that this plan deletes and \
             makes anew, which must not be deleted before these are; but how the provider is to be \
             configured is known only when it has been made anew.",
            names.join(", ")
        ),
    )
    .hint(
        "Destroy these in a run of their own first (-destroy with -target), or set \
         create_before_destroy in what the provider is configured by.",
    )
    .about(provider)
}

/// Blocks that were not planned although nothing was said against them: what the state holds of
/// them must not be taken for something that is gone from the configuration.
fn not_walked(input: &PlanInput, report: &WalkReport) -> Diagnostic {
    let names: Vec<String> = report
        .nodes(|o| o != Outcome::Done)
        .into_iter()
        .filter_map(|n| input.graph.get(n))
        .map(ToString::to_string)
        .take(10)
        .collect();
    Diagnostic::error(
        "Planning did not come to its end",
        format!(
            "These blocks were not planned, and no reason was given: {}. This is a fault of \
             Formwork. Nothing was changed.",
            names.join(", ")
        ),
    )
}
