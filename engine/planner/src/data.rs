//! Data sources: read while planning where everything they need is known, else left for apply.

use crate::instance::put_off;
use crate::managed::{Placed, Shared, addressed, decode_config};
use crate::providers::data_value;
use crate::walk::{Walk, join, lock, with_origin};
use formwork_addresses::{AbsResourceInstance, InstanceKey, ModulePath, Subject};
use formwork_configuration::{ResourceBlock, StaticReference};
use formwork_diagnostics::{Diagnostic, Diagnostics, Severity};
use formwork_evaluation::{ModuleFunctions, ModuleScope, Verdict};
use formwork_graph::{Node, Visit, What};
use formwork_plan::{Action, ActionReason, CheckKind, Event, PlanMode, ResourceInstanceChange};
use formwork_provider::{Bytes, DeferredReason, ReadDataRequest, Reported, validate_block};
use formwork_provider_schema::{adopted_loosely, marked, unknown_computed};
use formwork_state::ResourceInstanceObject;
use formwork_values::Value;
use futures::StreamExt as _;
use std::sync::Arc;
use std::time::Instant;

/// How reading a data source while planning went.
enum Read {
    /// It was read: what it would be if it were still to be read, and what it is.
    Now(Value, Value),
    /// It is read during apply.
    Later,
    /// Its provider cannot read it yet; what it would be.
    Deferred(DeferredReason, Value),
    /// It could not be read; with what it would be if it were still to be read, where that is known.
    Not(Option<Value>),
}

impl<'a> Walk<'a> {
    pub(crate) async fn data_sources(&self, placed: Placed<'_>) -> Visit {
        let shared = match self.shared(placed) {
            Ok(s) => s,
            Err(d) => {
                let _ = self.say(d);
                return Visit::Failed;
            }
        };
        let waits = self.dependency_pending(placed.node, placed.block);
        let shared = shared.as_ref();
        let outcomes: Vec<Visit> = futures::stream::iter(self.taking_part(placed))
            .map(|key| async move {
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
                let (good, said) = self.data_instance(shared, key, waits).await;
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

    /// Whether something is about to change that the block, or a call of a module that it is in,
    /// names in depends_on. The same for all instances of the modules, so it is looked up once.
    pub(crate) fn dependency_pending(&self, node: Node, block: &ResourceBlock) -> bool {
        if let Some(known) = lock(&self.pending).get(&node) {
            return *known;
        }
        let pending = self.find_dependency_pending(node, block);
        lock(&self.pending).insert(node, pending);
        pending
    }

    fn find_dependency_pending(&self, node: Node, block: &ResourceBlock) -> bool {
        let graph = &self.input.graph;
        let Some(n) = graph.get(node) else {
            return false;
        };
        let mut named: Vec<Node> = self.named(&n.module, &block.depends_on).collect();
        let configuration = self.input.evaluator.configuration();
        let mut path = n.module.clone();
        while let (Some(parent), Some(name)) = (path.parent(), path.name()) {
            let call = configuration
                .module(&parent)
                .and_then(|m| m.calls.get(name));
            if let Some(call) = call {
                named.extend(self.named(&parent, &call.depends_on));
            }
            path = parent;
        }
        if named.is_empty() {
            return false;
        }
        let reached = graph
            .dag()
            .closure(named, formwork_graph::Direction::Dependencies);
        lock(&self.changing)
            .iter()
            .any(|n| reached.get(*n as usize).copied().unwrap_or(false))
    }

    /// The nodes that a depends_on names.
    fn named<'r>(
        &'r self,
        module: &'r ModulePath,
        depends_on: &'r [StaticReference],
    ) -> impl Iterator<Item = Node> + 'r {
        let graph = &self.input.graph;
        depends_on
            .iter()
            .filter_map(move |d| match &d.reference.subject {
                Subject::Resource(r) => graph.resource(module, r),
                Subject::ResourceInstance(i) => graph.resource(module, &i.resource),
                Subject::ModuleCall(name)
                | Subject::ModuleCallInstance(name, _)
                | Subject::ModuleCallOutput(name, ..) => {
                    graph.find(module, What::ModuleDone(name.clone()))
                }
                _ => None,
            })
    }

    async fn data_instance(
        &self,
        shared: &Shared<'_>,
        key: InstanceKey,
        waits: bool,
    ) -> (bool, Diagnostics) {
        let evaluator = &self.input.evaluator;
        let block = shared.block;
        let resource = block.address.in_module(shared.module_instance);
        let address = resource.instance(key.clone());
        let functions = evaluator.functions(shared.module);
        let repetition = evaluator.repetition(&resource, &block.repetition, shared.expansion, &key);
        let scope = ModuleScope::new(evaluator, shared.module_instance, repetition);
        let scoped_to = shared
            .module
            .scoped_resources()
            .find(|(_, r)| r.address == block.address)
            .map(|(check, _)| check.name.clone());
        let (read, said) = self
            .read_now(shared, &address, scope, &functions, waits)
            .await;
        let read = match read {
            Read::Deferred(reason, after) => {
                let why = ActionReason::ReadBecauseConfigUnknown;
                let change = ResourceInstanceChange {
                    reason: None,
                    ..self.reading(shared, &address, why, after)
                };
                self.defer_answered(shared, change, reason);
                return (true, said);
            }
            read => read,
        };
        let Some(check) = scoped_to else {
            return match read {
                Read::Now(..) | Read::Later | Read::Deferred(..) => (true, said),
                Read::Not(_) => (false, said),
            };
        };
        // Within a check block nothing fails a run, and what the check looks at is read again when
        // all is done.
        let mut softened = Diagnostics::new();
        let mut failures = Vec::new();
        for mut d in said {
            if d.is_error() {
                failures.push(Verdict::Fail(format!("{}: {}", d.summary, d.detail)));
                d.severity = Severity::Warning;
            }
            softened.push(d);
        }
        let within = join(
            &shared.module_instance.to_string(),
            &format!("check.{check}"),
        );
        let block_of = join(
            &shared.module_instance.path().to_string(),
            &format!("check.{check}"),
        );
        self.results
            .add(CheckKind::Check, &block_of, &within, &failures);
        let node = self
            .input
            .graph
            .find(&shared.module_instance.path(), What::Check(check));
        self.leave_open(node, block_of, within);
        match read {
            Read::Later | Read::Deferred(..) => {}
            Read::Not(None) => evaluator
                .objects()
                .set(&address, Value::unknown(shared.schema.ty())),
            Read::Not(Some(after)) => self.keep(self.reading(
                shared,
                &address,
                ActionReason::ReadBecauseCheckNested,
                after,
            )),
            Read::Now(after, value) => {
                lock(&self.data).remove_object(&address);
                self.keep(self.reading(
                    shared,
                    &address,
                    ActionReason::ReadBecauseCheckNested,
                    after,
                ));
                evaluator
                    .objects()
                    .set(&address, with_origin(&address, value));
            }
        }
        (true, softened)
    }

    /// Reads the data source, if everything that it needs is known.
    async fn read_now(
        &self,
        shared: &Shared<'_>,
        address: &AbsResourceInstance,
        scope: ModuleScope<'_>,
        functions: &ModuleFunctions<'_>,
        waits: bool,
    ) -> (Read, Diagnostics) {
        let evaluator = &self.input.evaluator;
        let block = shared.block;
        let mut said = Diagnostics::new();
        let (good, before) = self.preconditions(shared, address, &scope, functions).await;
        said.append(before);
        if !good {
            return (Read::Not(None), said);
        }
        let (config, problems) = decode_config(evaluator, shared, &scope, functions).await;
        said.append(addressed(problems, address));
        if said.has_errors() {
            return (Read::Not(None), said);
        }
        let (plain, marks) = config.clone().unmark_deep();
        let kind = block.address.kind.to_string();
        let provider = self.provider_for(shared, address);
        let reported = validate_block(&*provider, &block.address, &config, plain.clone()).await;
        said.append(Reported::placed(reported, address, &|p| {
            Some(block.place_of(p))
        }));
        if said.has_errors() {
            return (Read::Not(None), said);
        }
        let reason = if !plain.is_wholly_known()
            || !self
                .input
                .providers
                .is_fully_configured(&shared.provider_config)
        {
            Some(ActionReason::ReadBecauseConfigUnknown)
        } else if waits {
            Some(ActionReason::ReadBecauseDependencyPending)
        } else {
            None
        };
        let after = marked(
            &shared.schema.block,
            &unknown_computed(&shared.schema.block, &plain),
            &marks,
        );
        if let Some(reason) = reason {
            if self.input.mode == PlanMode::RefreshOnly {
                // What it needs is not there yet, and this run makes nothing: there is nothing that
                // it could be read after.
                evaluator
                    .objects()
                    .set(address, with_origin(address, after));
                return (Read::Later, said);
            }
            self.keep(self.reading(shared, address, reason, after));
            return (Read::Later, said);
        }
        if let Some(value) = self.remembered(shared, address, &plain) {
            let object = with_origin(address, value.clone());
            evaluator.objects().set(address, object);
            return (Read::Now(after, value), said);
        }
        let mut hook = crate::refresh::hook(address, &config);
        hook.action = Action::Read;
        self.input.events.emit(Event::ApplyStarted(hook.clone()));
        let begin = Instant::now();
        let answer = provider
            .read_data_source(ReadDataRequest {
                kind,
                config: plain,
            })
            .await;
        said.append(Reported::placed(
            Reported::hiding(answer.reported, &[&config]),
            address,
            &|p| Some(block.place_of(p)),
        ));
        if said.has_errors() {
            return (Read::Not(Some(after)), said);
        }
        if let Some(deferred) = answer.deferred {
            if self.input.defer {
                return (Read::Deferred(deferred, after), said);
            }
            let config = &shared.provider_config;
            let range = Some(shared.block.range);
            said.push(put_off(config, address, "read", deferred, range));
            return (Read::Not(Some(after)), said);
        }
        self.input
            .events
            .emit(Event::ApplyFinished(hook, begin.elapsed()));
        let read = adopted_loosely(&shared.schema.block, answer.state);
        let Some(read) = read.filter(|v| !v.is_null() && v.is_wholly_known()) else {
            said.push(invalid_answer(shared, address));
            return (Read::Not(Some(after)), said);
        };
        let value = marked(&shared.schema.block, &read, &marks);
        match ResourceInstanceObject::from_value(shared.schema.version, &value, &shared.schema.ty())
        {
            Ok(object) => lock(&self.data).set_object(address, &shared.provider_config, object),
            Err(_) => {
                said.push(invalid_answer(shared, address));
                return (Read::Not(Some(after)), said);
            }
        }
        evaluator
            .objects()
            .set(address, with_origin(address, value.clone()));
        let (good, more) = self
            .postconditions(shared, address, scope, functions, value.clone())
            .await;
        said.append(more);
        let read = if good {
            Read::Now(after, value)
        } else {
            Read::Not(Some(after))
        };
        (read, said)
    }

    /// In a trial: the data source as the state has it, if it was read by the same configuration.
    fn remembered(
        &self,
        shared: &Shared<'_>,
        address: &AbsResourceInstance,
        config: &Value,
    ) -> Option<Value> {
        if !self.input.trial {
            return None;
        }
        let object = self.input.refreshed.state.object(address)?;
        let value = data_value(
            &self.input.providers,
            &shared.provider_config,
            &address.abs_resource(),
            object,
        )?;
        let plain = value.clone().unmark_deep().0;
        let same = shared.schema.block.attributes().all(|(name, _)| {
            let wanted = config.attribute(name).filter(|v| !v.is_null());
            wanted.is_none() || wanted == plain.attribute(name)
        });
        same.then_some(value)
    }

    fn reading(
        &self,
        shared: &Shared<'_>,
        address: &AbsResourceInstance,
        reason: ActionReason,
        after: Value,
    ) -> ResourceInstanceChange {
        ResourceInstanceChange {
            address: address.clone(),
            previous_address: None,
            deposed: None,
            provider: shared.provider_config.clone(),
            action: Action::Read,
            reason: Some(reason),
            before: Value::null(shared.schema.ty()),
            after,
            replace_paths: Vec::new(),
            planned_private: Bytes::from([]),
            schema_version: shared.schema.version,
            dependencies: Vec::new(),
            create_before_destroy: false,
            importing: None,
            legacy_type_system: false,
            identity: Default::default(),
        }
    }
}

fn invalid_answer(shared: &Shared<'_>, address: &AbsResourceInstance) -> Diagnostic {
    Diagnostic::error(
        "Provider produced invalid object",
        format!(
            "The provider {} read {address} as something that is not a wholly known object of its \
             schema's type. This is a fault of the provider.",
            Arc::new(shared.provider_config.provider.clone()).for_display()
        ),
    )
    .at(shared.block.range)
    .about(address)
}
