//! Planning, from files to a verified plan.

use crate::files::RecordingFiles;
use crate::generate::{Generated, plan_generating};
use crate::light::refresh_changed;
use crate::load::{Evaluation, Loaded, load};
use crate::session::Session;
use crate::settle::settle;
use crate::state::{Held, hash_text, hold};
use crate::takeover::take_over;
use crate::told::told_once;
use formwork_addresses::{AbsResource, AbsResourceInstance, DeposedKey, InstanceKey, ResourceMode};
use formwork_configuration::{MoveTarget, Moves};
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, SourceMap};
use formwork_evaluation::{Evaluator, Objects};
use formwork_plan::{
    Event, ModuleFolder, Phase, Plan, PlanMode, PlannedProvider, PlannedVariable, Prior, verify,
};
use formwork_planner::{
    Limits, Needed, PlanInput, Planned, RefreshOptions, Refreshed, Scope, configure_from_state,
    objects_of_state, refresh,
};
use formwork_provider::Providers;
use formwork_state::{ResourceInstanceObject, Snapshot, State, v4};
use formwork_values::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What kind of plan is wanted.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// Normal, destroy or refresh only.
    pub mode: PlanMode,
    /// Whether to read the world.
    pub refresh: bool,
    /// Whether only that is read which the plan touches. Nothing is read where `refresh` is not set; a
    /// destroy run touches everything.
    pub only_changed: bool,
    /// Instances to replace.
    pub replace: BTreeSet<AbsResourceInstance>,
    /// What the run is limited to.
    pub limits: Limits,
    /// The file in which blocks are to stand that are generated for imports without configuration;
    /// without, none are.
    pub generate: Option<String>,
    /// Whether what cannot be planned yet is left to a later round, instead of failing the run.
    pub defer: bool,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            mode: PlanMode::Normal,
            refresh: true,
            only_changed: false,
            replace: BTreeSet::new(),
            limits: Limits::default(),
            generate: None,
            defer: false,
        }
    }
}

/// What planning gives.
pub struct PlanOutcome {
    /// The plan, if there is one that may be shown. With errors it is marked as errored and must not
    /// be applied.
    pub plan: Option<Plan>,
    /// Everything there is to say.
    pub diagnostics: Diagnostics,
    /// The configuration and its files.
    pub loaded: Loaded,
    /// The providers, for their schemas.
    pub providers: Arc<Providers>,
    /// The configuration over the objects as planned; `None` if planning did not get that far.
    pub evaluator: Option<Arc<Evaluator>>,
    /// The text of blocks that were generated, for the file that was named.
    pub generated: Option<String>,
    /// The state, still locked, for an apply that follows at once; release it otherwise.
    pub held: Option<Held>,
}

impl PlanOutcome {
    /// The files that diagnostics point into.
    pub fn sources(&self) -> &SourceMap {
        &self.loaded.sources
    }
}

/// The targets as a plan keeps them.
fn targets(options: &PlanOptions) -> Vec<String> {
    options
        .limits
        .targets
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// What there is to say of the limits of a run: that there are any, and moves that they leave out.
fn limited(options: &PlanOptions, scope: &Scope, refreshed: &Refreshed) -> Diagnostics {
    let mut said = Diagnostics::new();
    for wanted in &options.replace {
        let whole = wanted.key == InstanceKey::None;
        let resource = wanted.abs_resource();
        let state = &refreshed.state;
        if whole && state.instance(wanted).is_none() && state.resource(&resource).is_some() {
            let keys: Vec<String> = state
                .keys(&resource)
                .map(|k| format!("-replace='{resource}{k}'"))
                .collect();
            said.push(
                Diagnostic::warning(
                    "Incompletely-matched force-replace resource instance",
                    format!(
                        "-replace names {wanted}, which has instances with keys. It names one instance at \
                         a time, so nothing is replaced by it."
                    ),
                )
                .hint(format!("Name the instances: {}", keys.join(" "))),
            );
        }
    }
    if !scope.is_limited() {
        return said;
    }
    let by = if options.limits.targets.is_empty() {
        "-exclude"
    } else {
        "-target"
    };
    said.push(
        Diagnostic::warning(
            "Resource targeting is in effect",
            format!(
                "The plan is limited by {by}, so it may not be all that the configuration asks for, and an \
                 object that takes part may not fit one that does not."
            ),
        )
        .hint("This is for exceptional situations. Plan without it afterwards."),
    );
    let outside: Vec<String> = scope
        .moved_outside(refreshed)
        .map(|(to, from)| format!("{from} to {to}"))
        .collect();
    if !outside.is_empty() {
        let names: Vec<String> = scope
            .moved_outside(refreshed)
            .map(|(to, _)| format!("-target='{to}'"))
            .collect();
        said.push(
            Diagnostic::error(
                "Moved resource instances excluded by targeting",
                format!(
                    "The configuration moves {}, but {by} leaves them out. A plan cannot leave a move undone: \
                     the object would be taken for one that is gone.",
                    outside.join(", ")
                ),
            )
            .hint(format!("Plan without limits first, or add {}.", names.join(" "))),
        );
    }
    said
}

/// Plans the configuration of the working directory.
pub async fn plan(session: &Session, options: &PlanOptions) -> PlanOutcome {
    let mut outcome = match &options.generate {
        Some(file) => plan_generating(session, options, file).await,
        None => plan_untold(session, options).await,
    };
    outcome.diagnostics = told_once(outcome.diagnostics);
    outcome
}

/// The same, with every diagnostic as it came, for a caller that looks at each.
pub(crate) async fn plan_untold(session: &Session, options: &PlanOptions) -> PlanOutcome {
    plan_with(session, options, None).await
}

/// The same, with blocks that were generated.
pub(crate) async fn plan_with(
    session: &Session,
    options: &PlanOptions,
    generated: Option<&Generated>,
) -> PlanOutcome {
    session.events.emit(Event::Started(Phase::Load, None));
    let (mut loaded, mut diagnostics) = load(session);
    let nothing = |loaded, diagnostics, providers: Option<Arc<Providers>>, held| async move {
        let providers = match providers {
            Some(p) => p,
            None => no_providers(session).await,
        };
        PlanOutcome {
            plan: None,
            diagnostics,
            loaded,
            providers,
            evaluator: None,
            generated: None,
            held,
        }
    };
    if diagnostics.has_errors() {
        return nothing(loaded, diagnostics, None, None).await;
    }
    diagnostics.append(loaded.unserved(session));
    diagnostics.append(loaded.configuration.removal_conflicts());
    let (variables, said) = loaded.variables(session);
    diagnostics.append(said);
    if diagnostics.has_errors() {
        return nothing(loaded, diagnostics, None, None).await;
    }
    let operation = if session.settings.applies {
        "OperationTypeApply"
    } else {
        "OperationTypePlan"
    };
    let mut held = match hold(session, operation).await {
        Ok((held, said)) => {
            diagnostics.append(said);
            held
        }
        Err(d) => {
            diagnostics.append(d);
            return nothing(loaded, diagnostics, None, None).await;
        }
    };
    let (providers, said) = loaded.launch(session, Some(&held.view.state)).await;
    diagnostics.append(said);
    if diagnostics.has_errors() {
        return nothing(loaded, diagnostics, Some(providers), Some(held)).await;
    }
    if options.defer {
        providers.allow_deferral();
    }
    let files = loaded.files.clone();
    let now = session.environment.clock.now();
    let (moves, said) = moves(session, &loaded, &providers, files.clone(), &variables).await;
    diagnostics.append(said);
    if diagnostics.has_errors() {
        return nothing(loaded, diagnostics, Some(providers), Some(held)).await;
    }
    let evaluation = Evaluation {
        session,
        configuration: &loaded.configuration,
        providers: &providers,
        files: files.clone(),
        plan_time: Some(now),
        applying: false,
        validating: false,
    };

    // What a former run left open, by providers configured from what is known now.
    let needed = Needed::ByProviders(&loaded.graph);
    let known = objects_of_state(&held.view.state, &providers, needed).await;
    let by_state = evaluation.over(known, variables.clone());
    configure_from_state(&by_state, &providers, &held.view.state).await;
    if !held.view.pending.is_empty() || held.view.folded {
        session
            .events
            .emit(Event::Started(Phase::Settle, Some(held.view.pending.len())));
        for operation in &held.view.pending {
            let config = &operation.begun.provider;
            if providers.configured(config).is_none()
                && let Some(schemas) = providers.schemas(&config.provider)
            {
                let (value, _) = by_state
                    .provider_config(config, &schemas.provider_config().block)
                    .await;
                if let Some(value) = value.filter(Value::is_wholly_known) {
                    let _ = providers.configure(config, value).await;
                }
            }
        }
        let said = settle(session, &mut held, &providers).await;
        let failed = said.has_errors();
        diagnostics.append(said);
        if failed {
            return nothing(loaded, diagnostics, Some(providers), Some(held)).await;
        }
    }

    let (mut state, moved_from, said) = moved(&held.view.state, &moves, &loaded);
    diagnostics.append(said);
    if !moved_from.is_empty() {
        let whole = state.to_mut();
        let said = take_over(whole, &moves, &moved_from, &loaded, &providers).await;
        let failed = said.has_errors();
        diagnostics.append(said);
        if failed {
            drop(state);
            return nothing(loaded, diagnostics, Some(providers), Some(held)).await;
        }
    }
    session
        .events
        .emit(Event::Started(Phase::Refresh, Some(state.instance_count())));
    let started = now;
    // What leaves the state is not looked at any more: its provider may be gone already.
    let left = |a: &AbsResource| {
        a.resource.mode == ResourceMode::Managed
            && loaded
                .configuration
                .removal_of(&a.module.path(), &a.resource)
                .is_some_and(|r| !r.destroy)
    };
    let forgets = loaded
        .configuration
        .modules()
        .any(|(_, m)| m.removed.iter().any(|r| !r.destroy));
    let leaving: BTreeSet<AbsResource> = state
        .resources()
        .map(|(a, _)| a)
        .filter(|a| forgets && left(a))
        .cloned()
        .collect();
    let limits = options.limits.clone();
    let scope = Scope::new(&loaded.graph, &state, options.mode, limits);
    let in_scope = |address: &AbsResourceInstance| {
        scope.takes(address) && !leaving.contains(&address.abs_resource())
    };
    let refresh_options = RefreshOptions {
        read: options.refresh,
        scope: (scope.is_limited() || !leaving.is_empty()).then_some(&in_scope),
        events: &*session.events,
        cancel: &session.cancel,
    };
    let input = |refreshed: Refreshed, trial: bool| PlanInput {
        evaluator: evaluation.over(Objects::new(), variables.clone()),
        graph: loaded.graph.clone(),
        providers: providers.clone(),
        refreshed,
        mode: options.mode,
        scope: scope.clone(),
        found: generated.map(Generated::found).unwrap_or_default(),
        replace: options.replace.clone(),
        defer: options.defer,
        trial,
        parallelism: session.settings.parallelism,
        events: match trial {
            true => Arc::new(()),
            false => session.events.clone(),
        },
        cancel: session.cancel.clone(),
    };
    let light = options.refresh && options.only_changed && options.mode == PlanMode::Normal;
    let (mut refreshed, not_read, said) = if light {
        let trial = |mut refreshed: Refreshed| {
            refreshed.moved_from.clone_from(&moved_from);
            input(refreshed, true)
        };
        let reading = refresh_changed(session, &state, &providers, &in_scope, trial);
        match session.endable(&providers, reading).await {
            Some((refreshed, not_read, said)) => (refreshed, Some(not_read), said),
            None => (Refreshed::unread(&state), None, session.unanswered()),
        }
    } else {
        let reading = refresh(&state, &providers, &refresh_options);
        let (refreshed, said) = match session.endable(&providers, reading).await {
            Some(read) => read,
            None => (Refreshed::unread(&state), session.unanswered()),
        };
        (refreshed, None, said)
    };
    refreshed.moved_from = moved_from;
    diagnostics.append(limited(options, &scope, &refreshed));
    let failed = said.has_errors();
    diagnostics.append(said);
    session.events.emit(Event::Finished(
        Phase::Refresh,
        session
            .environment
            .clock
            .now()
            .duration_since(started)
            .unwrap_or_default(),
    ));
    session.events.emit(Event::Started(Phase::Plan, None));
    let unplanned = failed.then(|| refreshed.state.clone());
    let input = input(refreshed, false);
    let evaluator = input.evaluator.clone();
    let (planned, said) = match unplanned {
        // by what is not known of the world nothing is planned; that it failed is in the plan
        Some(state) => {
            let nothing = Planned {
                state,
                ..Planned::default()
            };
            (nothing, Diagnostics::new())
        }
        None => {
            let planning = formwork_planner::plan(input);
            match session.endable(&providers, planning).await {
                Some(planned) => planned,
                None => {
                    let nothing = Planned {
                        state: held.view.state.clone(),
                        ..Planned::default()
                    };
                    (nothing, session.unanswered())
                }
            }
        }
    };
    diagnostics.append(said);
    if options.mode == PlanMode::Normal {
        diagnostics.append(moves.still_there(
            |path| evaluator.module_instances(path),
            |from| is_planned(&evaluator, from),
        ));
    }
    let errored = diagnostics.has_errors();
    let lineage = held.lineage(session);
    let prior = Prior {
        lineage: held
            .view
            .snapshot
            .as_ref()
            .map(|s| s.lineage.clone())
            .unwrap_or_default(),
        serial: held.view.snapshot.as_ref().map_or(0, |s| s.serial),
        cloud: session.cloud.clone(),
        refreshed: snapshot_bytes(session, &lineage, &mut held, planned.state),
        hash: hash_text(&held.view),
    };
    let mut plan = Plan {
        mode: options.mode,
        targets: targets(options),
        sources: loaded.texts.clone(),
        folders: folders(&loaded),
        files: files.answers(),
        variables: planned_variables(&loaded, variables),
        providers: planned_providers(&loaded, &providers),
        lock_file: None,
        prior,
        tool_version: session.settings.tool_version.clone(),
        language_version: session.settings.level.version.to_string(),
        timestamp: formwork_state::timestamp(now),
        complete: planned.complete && !errored && !options.limits.is_limited(),
        applyable: false,
        errored,
        changes: planned.changes,
        not_read,
        deferred: planned.deferred,
        deferred_outputs: planned.deferred_outputs,
        drift: planned.drift,
        outputs: planned.outputs,
        checks: planned.checks,
        graph: planned.graph,
        resource_keys: planned.resource_keys,
        call_keys: planned.call_keys,
        alternatives: Vec::new(),
    };
    if let Some(generated) = generated {
        generated.tell(&mut plan);
    }
    if !errored {
        let said = (session.judge)(&plan);
        plan.errored = said.has_errors();
        diagnostics.append(said);
        for defect in verify(&plan) {
            plan.errored = true;
            diagnostics.push(Diagnostic::error(
                "Plan does not hold together",
                format!(
                    "This is a fault of Formwork, and nothing was done by it: {}.",
                    defect.0
                ),
            ));
        }
    }
    plan.applyable = !plan.errored && plan.has_changes();
    for change in plan.changes.iter().filter(|c| c.is_told()) {
        session
            .events
            .emit(Event::Planned(Box::new(change.clone())));
    }
    session.events.emit(Event::PlanSummary(plan.summary()));
    PlanOutcome {
        plan: Some(plan),
        diagnostics: told_once(diagnostics),
        loaded,
        providers,
        evaluator: Some(evaluator),
        generated: None,
        held: Some(held),
    }
}

async fn no_providers(session: &Session) -> Arc<Providers> {
    Arc::new(Providers::launch(session.factory.clone(), "", []).await.0)
}

/// Whether the plan has an instance of just this address.
fn is_planned(evaluator: &Evaluator, named: &MoveTarget) -> bool {
    match named {
        MoveTarget::Resource(r) => evaluator
            .objects()
            .expansion(&r.abs_resource())
            .is_some_and(|e| e.has(&r.key)),
        MoveTarget::Module(m) if *m.key() != InstanceKey::None => {
            let step = m.steps().last().zip(m.parent());
            step.and_then(|(step, parent)| evaluator.objects().call_expansion(&parent, &step.name))
                .is_some_and(|e| e.has(m.key()))
        }
        // without a key it was seen before
        _ => false,
    }
}

/// What the configuration says has moved, each element of a `for_each` by itself.
async fn moves(
    session: &Session,
    loaded: &Loaded,
    providers: &Arc<Providers>,
    files: Arc<RecordingFiles>,
    variables: &BTreeMap<Arc<str>, Value>,
) -> Checked<Moves> {
    // Where no instance is known yet, as when validating, but with the values of variables.
    let evaluation = Evaluation {
        session,
        configuration: &loaded.configuration,
        providers,
        files,
        plan_time: Some(session.environment.clock.now()),
        applying: false,
        validating: true,
    };
    let evaluator = evaluation.over(Objects::new(), variables.clone());
    let mut evaluated = BTreeMap::new();
    for (path, module) in loaded.configuration.modules() {
        for each in module.moved.iter().filter_map(|m| m.for_each.as_ref()) {
            let key = (
                path.clone(),
                each.each.range().start,
                each.each.range().file,
            );
            evaluated.insert(key, evaluator.moves(path, each).await);
        }
    }
    Moves::of(&loaded.configuration, |path, each| {
        let key = (
            path.clone(),
            each.each.range().start,
            each.each.range().file,
        );
        evaluated.remove(&key).unwrap_or_default()
    })
}

/// The state with objects at the addresses to which they have moved.
fn moved<'s>(
    state: &'s State,
    moves: &Moves,
    loaded: &Loaded,
) -> (
    Cow<'s, State>,
    BTreeMap<AbsResourceInstance, AbsResourceInstance>,
    Diagnostics,
) {
    let addresses: BTreeSet<AbsResourceInstance> = state.instances().map(|(a, _)| a).collect();
    let mut results = moves.apply(&loaded.configuration, &addresses);
    // Nobody takes over what has become another type where none is configured: it goes as what it is.
    results.moved.retain(|to, from| {
        let configured = || {
            let module = loaded.configuration.module(&to.module_path());
            module.is_some_and(|m| m.resource(&to.resource).is_some())
        };
        from.resource.kind == to.resource.kind || configured()
    });
    let mut said = Diagnostics::new();
    said.extend(results.warning());
    if results.moved.is_empty() {
        return (Cow::Borrowed(state), BTreeMap::new(), said);
    }
    let mut new = state.clone();
    // All go before any arrives: moves may chain or swap.
    let mut taken = Vec::new();
    for (to, from) in &results.moved {
        let provider = state.provider(from).cloned();
        if let (Some(provider), Some(instance)) = (provider, new.remove_instance(from)) {
            taken.push((to.clone(), provider, instance));
        }
    }
    for (to, provider, instance) in taken {
        if let Some(object) = &instance.current {
            new.set_object(&to, &provider, object.clone());
        }
        for (key, object) in &instance.deposed {
            new.set_deposed(&to, key, &provider, object.clone());
        }
    }
    rename_dependencies(state, &mut new, &results.moved);
    let moved_from = results.moved.into_iter().collect();
    (Cow::Owned(new), moved_from, said)
}

/// What objects were made from is known by block. What was made from a block is made from wherever the
/// block's objects are now, all moves at once: they may chain, and a block that has lost all its objects
/// may have got others.
fn rename_dependencies(
    before: &State,
    state: &mut State,
    moved: &BTreeMap<AbsResourceInstance, AbsResourceInstance>,
) {
    let of_block = |a: &AbsResource| a.resource.in_module(&a.module.path().unkeyed_instance());
    let block = |a: &AbsResourceInstance| of_block(&a.abs_resource());
    let mut renamed: BTreeMap<AbsResource, BTreeSet<AbsResource>> = BTreeMap::new();
    for (to, from) in moved {
        if block(from) != block(to) {
            renamed.entry(block(from)).or_default().insert(block(to));
        }
    }
    if renamed.is_empty() {
        return;
    }
    let gone: BTreeSet<&AbsResourceInstance> = moved.values().collect();
    let within: BTreeSet<AbsResource> = moved
        .iter()
        .filter(|(to, from)| block(to) == block(from))
        .map(|(to, _)| block(to))
        .collect();
    for (resource, of) in before.resources() {
        let name = of_block(resource);
        if let Some(places) = renamed.get_mut(&name) {
            let stays = |key| !gone.contains(&resource.instance(key));
            if within.contains(&name) || of.instances.keys().cloned().any(stays) {
                places.insert(name);
            }
        }
    }
    let all: Vec<(
        AbsResourceInstance,
        Option<DeposedKey>,
        Arc<ResourceInstanceObject>,
    )> = state
        .instances()
        .flat_map(|(a, i)| {
            let current = i.current.iter().map(|o| (None, o));
            let deposed = i.deposed.iter().map(|(k, o)| (Some(k.clone()), o));
            current
                .chain(deposed)
                .map(move |(k, o)| (a.clone(), k, o.clone()))
                .collect::<Vec<_>>()
        })
        .filter(|(_, _, o)| o.dependencies.iter().any(|d| renamed.contains_key(d)))
        .collect();
    for (address, key, object) in all {
        let Some(provider) = state.provider(&address).cloned() else {
            continue;
        };
        let mut object = (*object).clone();
        object.dependencies = object
            .dependencies
            .iter()
            .flat_map(|d| match renamed.get(d) {
                Some(places) => places.iter().cloned().collect(),
                None => vec![d.clone()],
            })
            .collect::<BTreeSet<AbsResource>>()
            .into_iter()
            .collect();
        match key {
            None => state.set_object(&address, &provider, object),
            Some(k) => state.set_deposed(&address, &k, &provider, object),
        }
    }
}

/// The state where apply begins, as bytes. Where nothing in it has changed, they are those that were
/// read.
fn snapshot_bytes(session: &Session, lineage: &str, held: &mut Held, state: State) -> Arc<Vec<u8>> {
    let read = held.view.bytes.take();
    if let (Some(read), Some(before)) = (read, &held.view.snapshot)
        && before.state.is_same_as(&state)
        && before.cloud() == session.cloud
    {
        return read;
    }
    let version = session.settings.level.version.to_string();
    let mut snapshot = match &held.view.snapshot {
        Some(s) => s.clone(),
        None => Snapshot::new(lineage, &version),
    };
    snapshot.state = state;
    snapshot.set_cloud(session.cloud.as_deref());
    Arc::new(v4::write(&snapshot))
}

fn folders(loaded: &Loaded) -> Vec<ModuleFolder> {
    loaded
        .configuration
        .modules()
        .map(|(path, m)| ModuleFolder {
            module: path.clone(),
            folder: m.directory.to_string_lossy().into_owned(),
        })
        .collect()
}

fn planned_variables(
    loaded: &Loaded,
    variables: BTreeMap<Arc<str>, Value>,
) -> BTreeMap<String, PlannedVariable> {
    let root = loaded.configuration.root();
    variables
        .into_iter()
        .map(|(name, value)| {
            let ephemeral = root
                .and_then(|m| m.variables.get(&name))
                .is_some_and(|v| v.ephemeral);
            let value = if ephemeral {
                PlannedVariable::Ephemeral
            } else {
                PlannedVariable::Value(value)
            };
            (name.to_string(), value)
        })
        .collect()
}

fn planned_providers(loaded: &Loaded, providers: &Providers) -> Vec<PlannedProvider> {
    let versions: BTreeMap<_, _> = providers.versions().map(|(a, v)| (a.clone(), v)).collect();
    let mut found = BTreeMap::new();
    for (path, module) in loaded.configuration.modules() {
        for block in module.resources.values() {
            let config = loaded.configuration.provider_of(path, block).config;
            let version = versions.get(&config.provider).cloned().unwrap_or_default();
            found.entry(config.clone()).or_insert(PlannedProvider {
                config,
                version,
                schema_hash: String::new(),
            });
        }
    }
    found.into_values().collect()
}
