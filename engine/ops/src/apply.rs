//! Applying a plan.

use crate::files::PlannedFiles;
use crate::in_state::InState;
use crate::load::{Evaluation, disk, early_surroundings, given};
use crate::planned::{PlanPlace, planned_configuration};
use crate::session::Session;
use crate::state::{Held, begin_journal, end_journal, hash_text, hold, write};
use crate::test::stand_in;
use formwork_addresses::{DeposedKey, ProviderAddr};
use formwork_apply::{Applied, ApplyInput, Record};
use formwork_configuration::{Configuration, InputOrigin, TestConfiguration};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_evaluation::{Evaluator, Objects};
use formwork_plan::{ChangeSummary, CheckResult, Event, Phase, Plan, PlannedVariable, verify};
use formwork_provider::Providers;
use formwork_state::{JournalSupport, RawJson, State, v4};
use formwork_values::{Type, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What applying gives.
pub struct ApplyOutcome {
    /// What was done.
    pub summary: ChangeSummary,
    /// Whether everything was done.
    pub complete: bool,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// The state afterwards.
    pub state: State,
    /// Everything there is to say.
    pub diagnostics: Diagnostics,
    /// The files that diagnostics point into.
    pub sources: SourceMap,
    /// Evaluates over what is there now, if it came to that.
    pub evaluator: Option<Arc<Evaluator>>,
    /// The providers, for their schemas.
    pub providers: Option<Arc<Providers>>,
}

/// Carries a plan out. `held` is the state as planning left it, still locked; without it the state is
/// locked and read here, and must be the one that the plan was made against.
pub async fn apply(session: &Session, plan: Plan, held: Option<Held>) -> ApplyOutcome {
    let mut outcome = ApplyOutcome {
        summary: ChangeSummary::default(),
        complete: false,
        interrupted: false,
        state: State::new(),
        diagnostics: Diagnostics::new(),
        sources: session.sources.clone(),
        evaluator: None,
        providers: None,
    };
    let fresh = held.is_some();
    let held = match held {
        Some(held) => Ok(held),
        None => match refuse(session, &plan) {
            Some(d) => Err(d),
            None => hold(session, "OperationTypeApply")
                .await
                .map(|(held, said)| {
                    outcome.diagnostics.append(said);
                    held
                }),
        },
    };
    let mut held = match held {
        Ok(held) => held,
        Err(d) => {
            outcome.diagnostics.append(d);
            return outcome;
        }
    };
    let plan = Arc::new(plan);
    if let Err(d) = run(session, &plan, fresh, &mut held, &mut outcome).await {
        outcome.diagnostics.append(d);
        outcome.complete = false;
    }
    outcome.state = held.view.state.clone();
    let released = held.release(session).await;
    outcome.diagnostics.append(released);
    outcome
}

/// Why a plan must not be applied here, as far as it tells itself.
fn refuse(session: &Session, plan: &Plan) -> Option<Diagnostics> {
    let error =
        |summary: &str, detail: String| Some(Diagnostics::from(Diagnostic::error(summary, detail)));
    if plan.errored {
        return error(
            "Cannot apply incomplete plan",
            "Planning ended with errors, so the plan shows only a part of what would be done. Plan again.".to_owned(),
        );
    }
    if plan.prior.cloud != session.cloud {
        let detail = match (&plan.prior.cloud, &session.cloud) {
            (Some(_), None) => {
                "The plan was made against a mock cloud, but this run is for the real one. Add -mock."
            }
            (None, Some(_)) => {
                "The plan was made against the real cloud, but this run is for a mock one. Leave -mock out."
            }
            _ => "The plan was made against another mock cloud than the one in use.",
        };
        return error("Plan for another cloud", detail.to_owned());
    }
    if plan.tool_version != session.settings.tool_version {
        return error(
            "Plan of another version",
            format!(
                "The plan was made by Formwork {}, and this is {}. Plan again with the version that is to apply it.",
                plan.tool_version, session.settings.tool_version
            ),
        );
    }
    let defects = verify(plan);
    if let Some(first) = defects.first() {
        return error(
            "Plan does not hold together",
            format!("Nothing was done by it: {}.", first.0),
        );
    }
    None
}

fn stale(plan: &Plan, held: &Held) -> Option<Diagnostic> {
    let view = held.view();
    let serial = view.snapshot.as_ref().map_or(0, |s| s.serial);
    let same = hash_text(view) == plan.prior.hash && view.pending.is_empty() && !view.folded;
    (!same).then(|| {
        Diagnostic::error(
            "Saved plan is stale",
            format!(
                "The plan was made against version {} of the state, but it has changed since (it is at version {serial} \
                 now). What the plan shows may no longer be what would happen. Plan again.",
                plan.prior.serial
            ),
        )
    })
}

/// `fresh` says that this very run has made the plan.
async fn run(
    session: &Session,
    plan: &Arc<Plan>,
    fresh: bool,
    held: &mut Held,
    outcome: &mut ApplyOutcome,
) -> Result<(), Diagnostics> {
    if let Some(d) = stale(plan, held) {
        return Err(d.into());
    }
    held.own_journal(session).await?;
    let (configuration, test) = configuration(session, plan, fresh, &mut outcome.sources)?;
    let wanted: BTreeSet<ProviderAddr> = configuration
        .required_providers()
        .into_keys()
        .chain(plan.changes.iter().map(|c| c.provider.provider.clone()))
        .collect();
    let level = session.settings.level.version.to_string();
    let (mut providers, said) = Providers::launch(session.factory.clone(), &level, wanted).await;
    if said.has_errors() {
        return Err(said);
    }
    if let Some(made) = &test {
        stand_in(session, made, &mut providers);
    }
    let providers = Arc::new(providers);
    let variables = variables(session, plan, &configuration)?;
    let files = Arc::new(PlannedFiles {
        inner: disk(session),
        answers: plan.files.clone(),
    });
    let evaluation = Evaluation {
        session,
        configuration: &configuration,
        providers: &providers,
        files,
        plan_time: plan_time(&plan.timestamp),
        applying: true,
        validating: false,
    };
    let evaluator = evaluation.over(Objects::new(), variables);
    outcome.evaluator = Some(evaluator.clone());
    outcome.providers = Some(providers.clone());

    // The world as refreshed becomes the state on which the journal begins.
    let (refreshed, said) = v4::read(&plan.prior.refreshed, "the plan's state");
    if said.has_errors() {
        return Err(said);
    }
    let refreshed = refreshed.map(|s| s.state).unwrap_or_default();
    let lineage = held.lineage(session);
    write(session, held, &lineage, refreshed).await?;
    let recorder = begin_journal(session, held, &lineage, &[]).await?;
    let in_state = (session.store.journal_support() == JournalSupport::Unsupported).then(|| {
        Arc::new(InState::new(
            session.store.clone(),
            lineage.clone(),
            session.settings.level.version.to_string(),
            session.cloud.clone(),
            (held.view.snapshot.clone(), held.view.hash),
        ))
    });
    let record = Arc::new(match &in_state {
        None => Record::new(recorder, session.store.clone()),
        Some(in_state) => {
            outcome.diagnostics.push(less_is_promised(session));
            Record::in_state(recorder, in_state.clone())
        }
    });
    let randomness = session.environment.randomness.clone();
    let input = ApplyInput {
        plan: plan.clone(),
        evaluator,
        providers: providers.clone(),
        record: record.clone(),
        new_deposed_key: Arc::new(move || {
            let mut bytes = [0; 4];
            randomness.fill(&mut bytes);
            DeposedKey::from_bytes(bytes)
        }),
        events: session.events.clone(),
        cancel: session.cancel.clone(),
        detach_after: session.settings.detach_after,
        parallelism: session.settings.parallelism,
    };
    session
        .events
        .emit(Event::Started(Phase::Apply, Some(plan.graph.nodes().len())));
    let (applied, said) = {
        let applying = formwork_apply::apply(&input);
        session.stoppable(&providers, applying).await
    };
    drop(input);
    // What is deferred is told where the rounds are driven.
    let limited = !plan.targets.is_empty() || !plan.is_deferred();
    if !plan.complete && limited {
        outcome.diagnostics.push(
            Diagnostic::warning(
                "Applied changes may be incomplete",
                "The plan was limited (-target, -exclude), so the configuration may ask for more than was \
                 done.",
            )
            .hint("Plan without limits to see what is left. Outputs may not be up to date until then."),
        );
    }
    outcome.diagnostics.append(said);
    if let Some(in_state) = in_state {
        (held.view.snapshot, held.view.hash) = in_state.latest();
        held.view.bytes = None;
    }
    finish(session, held, &lineage, record, applied, outcome).await
}

/// That the backend keeps no journal.
fn less_is_promised(session: &Session) -> Diagnostic {
    Diagnostic::warning(
        "Backend keeps no journal",
        format!(
            "The backend of the state {} has no place for a journal, so the state is written before and after \
             every change, and what is open stands in it. A run that is cut short is settled by the next one all \
             the same, unless another tool writes the state in between.",
            session.store.describe()
        ),
    )
    .hint("The backends \"local\" and \"gcs\" keep a journal, which is quicker and which nobody drops.")
}

/// Writes what came of it, whatever it was.
async fn finish(
    session: &Session,
    held: &mut Held,
    lineage: &str,
    record: Arc<Record>,
    applied: Applied,
    outcome: &mut ApplyOutcome,
) -> Result<(), Diagnostics> {
    outcome.summary = applied.summary;
    outcome.interrupted = applied.interrupted;
    outcome.complete = applied.complete && !outcome.diagnostics.has_errors();
    let Some(record) = Arc::into_inner(record) else {
        return Err(Diagnostic::error("Journal still in use", "This is a fault of Formwork: an operation outlived its run. The journal holds everything; the next run folds it.").into());
    };
    let ledger = record.into_ledger();
    let pending: Vec<_> = ledger.pending().cloned().collect();
    let next = ledger.next_id();
    let mut state = ledger.into_state();
    if let Some(results) = check_results(&applied.checks) {
        state.set_check_results(Some(results));
    } else if state.check_results().is_some() {
        state.set_check_results(Some(RawJson::null()));
    }
    held.view.pending = pending.clone();
    let journals = session.store.journal_support() == JournalSupport::Durable;
    write(session, held, lineage, state).await.map_err(|mut d| {
        if !journals {
            d.push(Diagnostic::warning(
                "The state holds what was done before",
                format!(
                    "The last version of the state {} could not be written. The one before it is there, and what \
                     was open by then stands in it: once the cause is gone, the next plan or apply settles it.",
                    session.store.describe()
                ),
            ));
            return d;
        }
        d.push(Diagnostic::warning(
            "The journal holds what was done",
            format!(
                "The state {} could not be written, but every operation of this run is in the journal beside it. Once \
                 the cause is gone, any command folds it.",
                session.store.describe()
            ),
        ));
        d
    })?;
    held.view.next = next;
    end_journal(session, held, lineage, &pending).await?;
    Ok(())
}

/// The configuration from the plan's own files; in a test, or where it was planned a moment ago, the one
/// that was planned.
fn configuration(
    session: &Session,
    plan: &Plan,
    fresh: bool,
    sources: &mut SourceMap,
) -> Result<(Arc<Configuration>, Option<Arc<TestConfiguration>>), Diagnostics> {
    if let Some(trial) = &session.trial {
        let (configuration, test) = trial.configuration();
        return Ok((Arc::new(configuration), test));
    }
    if let Some(read) = &session.read
        && fresh
        && read.is_what_was_planned(session, plan)
    {
        sources.clone_from(&read.sources);
        return Ok((read.configuration.clone(), None));
    }
    let place = PlanPlace {
        surroundings: early_surroundings(&session.environment, disk(session)),
        called_in: session.called_in(),
        workspace: &session.settings.workspace,
        level: session.settings.level.clone(),
        generated: true,
    };
    let (configuration, said) = planned_configuration(plan, place, sources);
    if said.has_errors() {
        Err(said)
    } else {
        Ok((Arc::new(configuration), None))
    }
}

/// When the plan was made, for `plantimestamp`.
fn plan_time(timestamp: &str) -> Option<std::time::SystemTime> {
    formwork_state::parse_timestamp(timestamp)
}

/// The root variables of the plan; ephemeral ones are given again.
fn variables(
    session: &Session,
    plan: &Plan,
    configuration: &Configuration,
) -> Result<BTreeMap<Arc<str>, Value>, Diagnostics> {
    let Some(root) = configuration.root() else {
        return Ok(BTreeMap::new());
    };
    let mut sources = session.sources.clone();
    let layers = given(session, root);
    let (given, said) = formwork_configuration::root_variables(root, &layers, &mut sources);
    // Who names a value at apply means it, but what was planned was planned with another.
    let named = |name: &Arc<str>| {
        let origin = layers
            .iter()
            .rev()
            .find(|l| l.values.contains_key(name))
            .map(|l| &l.origin);
        matches!(
            origin,
            Some(InputOrigin::CommandLine | InputOrigin::NamedFile(_))
        )
    };
    let mut refused: Diagnostics = said
        .iter()
        .filter(|d| d.is_error() && d.address.is_none())
        .cloned()
        .collect();
    let mut missing = Diagnostics::new();
    let mut values = BTreeMap::new();
    for (name, planned) in &plan.variables {
        let name: Arc<str> = Arc::from(name.as_str());
        match planned {
            PlannedVariable::Value(value) => {
                let other = given
                    .values
                    .get(&name)
                    .is_some_and(|g| g.clone().unmark_deep().0 != value.clone().unmark_deep().0);
                if other && named(&name) {
                    refused.push(changed_variable(&name));
                }
                values.insert(name, value.clone());
            }
            PlannedVariable::Ephemeral => {
                let variable = root.variables.get(&name);
                match (given.values.get(&name), variable) {
                    (Some(value), Some(v)) => {
                        values.insert(name, value.clone().with_marks(&v.marks()));
                    }
                    (None, Some(v)) => missing.push(formwork_configuration::missing_variable(v)),
                    _ => {
                        values.insert(name, Value::unknown(Type::Dynamic));
                    }
                }
            }
        }
    }
    // What does not suit an ephemeral variable is told; the others are the plan's.
    let ephemeral = |d: &Diagnostic| {
        plan.variables.iter().any(|(name, planned)| {
            matches!(planned, PlannedVariable::Ephemeral)
                && d.address.as_deref() == Some(&*format!("var.{name}"))
        })
    };
    missing.extend(said.into_iter().filter(|d| d.is_error() && ephemeral(d)));
    missing.append(refused);
    if missing.has_errors() {
        Err(missing)
    } else {
        Ok(values)
    }
}

fn changed_variable(name: &str) -> Diagnostic {
    Diagnostic::error(
        "Can't change variable when applying a saved plan",
        format!(
            "The command line gives var.{name} another value (-var or -var-file) than the plan was made with, and a \
             saved plan is applied as it is. Leave the value out, or plan again with it."
        ),
    )
    .about(format_args!("var.{name}"))
}

/// Results of checks in the form that state keeps.
fn check_results(checks: &[CheckResult]) -> Option<RawJson> {
    if checks.is_empty() {
        return None;
    }
    let text = |s: &str| RawJson::text(s).get().to_owned();
    let results: Vec<String> = checks
        .iter()
        .map(|c| {
            let objects: Vec<String> = c
                .objects
                .iter()
                .map(|o| {
                    let mut object = format!(
                        "{{\"object_addr\":{},\"status\":{}",
                        text(&o.address),
                        text(o.status.word())
                    );
                    if !o.failures.is_empty() {
                        let failures: Vec<String> = o.failures.iter().map(|f| text(f)).collect();
                        object.push_str(&format!(",\"failure_messages\":[{}]", failures.join(",")));
                    }
                    object.push('}');
                    object
                })
                .collect();
            let objects = if objects.is_empty() {
                "null".to_owned()
            } else {
                format!("[{}]", objects.join(","))
            };
            format!(
                "{{\"object_kind\":{},\"config_addr\":{},\"status\":{},\"objects\":{objects}}}",
                text(c.kind.state_word()),
                text(&c.address),
                text(c.status.word()),
            )
        })
        .collect();
    RawJson::parse(&format!("[{}]", results.join(","))).ok()
}
