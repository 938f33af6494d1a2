//! Creating an object, changing it in place, and making the new half of a replacement.

use crate::record::{NoteLog, Wait};
use crate::run::{Ended, Run, lock};
use crate::world::plain;
use formwork_addresses::{AbsResourceInstance, ResourceMode};
use formwork_configuration::{IgnoreChanges, Module, ProvisionerTime, ResourceBlock};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_evaluation::{Condition, ModuleFunctions, ModuleScope, Provisioners, decode};
use formwork_journal::{Begun, JournalEntry, OperationAction, OperationId};
use formwork_plan::{Action, Event, Hook, ResourceInstanceChange, decide};
use formwork_provider::{
    ApplyRequest, ApplyResponse, Bytes, PlanRequest, PlanResponse, Provider, Reported,
    validate_block,
};
use formwork_provider_schema::{
    IdentitySchema, Ignored, Schema, adopted, adopted_loosely, assert_object_compatible, marked,
    marks_without_ignored, proposed_new_state, without_ignored, without_write_only,
};
use formwork_state::{ResourceInstanceObject, SensitivePaths, State};
use formwork_values::{Path, PathMarks, Type, Value, to_msgpack};
use std::sync::Arc;
use std::time::Duration;

/// What is needed to handle one instance.
pub(crate) struct Place<'r> {
    pub module: &'r Module,
    pub block: &'r ResourceBlock,
    pub schema: Arc<Schema>,
    /// The schema of identities of its type, if there is one.
    pub identity: Option<Arc<IdentitySchema>>,
    pub provider: Arc<dyn Provider>,
    /// The configuration with its marks, once it is evaluated; null before.
    pub config: Value,
}

/// What came of making an object.
struct Made {
    good: bool,
    /// The object with its marks, unknown if it is not known.
    shown: Value,
    /// As the state has it now; nothing if nothing is there, or if nobody knows.
    object: Option<Arc<ResourceInstanceObject>>,
}

impl Run<'_> {
    /// The block, schema and provider of a change.
    pub(crate) fn place(&self, change: &ResourceInstanceChange) -> Result<Place<'_>, Diagnostics> {
        let address = &change.address;
        let configuration = self.input.evaluator.configuration();
        let found = configuration
            .module(&address.module_path())
            .and_then(|m| Some((&**m, &**m.resource(&address.resource)?)));
        let Some((module, block)) = found else {
            return Err(broken(
                address,
                "its block is not in the plan's configuration",
            ));
        };
        let providers = &self.input.providers;
        let Some(schema) = providers.schema_of(&change.provider.provider, &address.resource) else {
            return Err(providers
                .unknown_type(&change.provider.provider, &address.resource)
                .about(address)
                .into());
        };
        let Some(provider) = providers.for_instance(&change.provider, address) else {
            return Err(self.not_configured(&change.provider));
        };
        Ok(Place {
            module,
            block,
            schema,
            identity: providers.identity_of(&change.provider.provider, &address.resource),
            provider,
            config: Value::null(Type::Dynamic),
        })
    }

    pub(crate) async fn make(&self, change: &ResourceInstanceChange) -> Ended {
        match self.try_make(change).await {
            Ok(true) => Ended::Done,
            Ok(false) => Ended::Failed,
            Err(mut d) => {
                d.default_address(&change.address);
                self.say(d);
                Ended::Failed
            }
        }
    }

    /// Whether everything that depends on the object may go on.
    async fn try_make(&self, change: &ResourceInstanceChange) -> Result<bool, Diagnostics> {
        let mut place = self.place(change)?;
        let address = &change.address;
        let evaluator = &self.input.evaluator;
        let functions = evaluator.functions(place.module);
        let resource = address.abs_resource();
        let expansion = evaluator.objects().expansion(&resource).unwrap_or_default();
        let repetition =
            evaluator.repetition(&resource, &place.block.repetition, &expansion, &address.key);
        let scope = ModuleScope::new(evaluator, &address.module, repetition.clone());
        let lifecycle = &place.block.lifecycle;
        if !self
            .conditions_hold(
                &lifecycle.preconditions,
                Condition::Precondition,
                address,
                &scope,
                &functions,
            )
            .await
        {
            return Ok(false);
        }
        let (config, marks) = self
            .configured(&mut place, address, &scope, &functions)
            .await?;
        let null = Value::null(place.schema.ty());
        let update = change.action == Action::Update;
        let prior = if update {
            plain(&change.before)
        } else {
            null.clone()
        };
        let left = ignored(&lifecycle.ignore_changes);
        let wanted = without_ignored(&place.schema.block, &config, &prior, &left);
        // What is made anew is made as written.
        let marks = if update {
            marks_without_ignored(marks, &change.before, &left)
        } else {
            marks
        };
        let stored = self.input.record.look(|s| s.object(address).cloned()).await;
        let private = match (&stored, update) {
            (Some(object), true) => object.private.clone().unwrap_or_else(|| Bytes::from([])),
            _ => Bytes::from([]),
        };
        let identity = match (&stored, &place.identity, update) {
            (Some(object), Some(schema), true) => {
                object.identity_value(schema.version, &schema.ty())
            }
            _ => None,
        };
        let (final_plan, said) = self
            .plan_again(&place, change, &prior, &wanted, (private, identity))
            .await?;
        let decision = decide(&prior, &final_plan.planned, &final_plan.requires_replace);
        let expected = if update {
            Action::Update
        } else {
            Action::Create
        };
        let turned = marked(&place.schema.block, &final_plan.planned, &marks);
        if update && decision.action == Action::NoOp && turned != change.before {
            // The same content, but other parts of it are sensitive now: that is the state's matter
            // alone, and the provider has nothing to do.
            self.say(said);
            let begun = self
                .begin_make(
                    change,
                    &place,
                    stored.clone(),
                    &wanted,
                    &final_plan,
                    &marks,
                    false,
                )
                .await?;
            let hook = hook(address, Action::Update, &change.before);
            let response = ApplyResponse {
                new: final_plan.planned.clone(),
                private: stored
                    .and_then(|s| s.private.clone())
                    .unwrap_or_else(|| Bytes::from([])),
                legacy_type_system: final_plan.legacy_type_system,
                outcome_unknown: false,
                reported: Vec::new(),
                identity: final_plan.identity.clone(),
            };
            let ending = self.end_make(change, &place, begun, &final_plan, response, &marks, false);
            let (made, elapsed) = self.watched(&hook, ending).await;
            if !self.told(&hook, made, elapsed)? {
                return Ok(false);
            }
            self.count(Action::Update);
            return Ok(self
                .after(
                    change,
                    &place,
                    scope,
                    &functions,
                    &marks,
                    &final_plan.planned,
                )
                .await);
        }
        if update && decision.action == Action::NoOp {
            // What was unknown has turned out to be what it was.
            self.say(said);
            evaluator.objects().set(
                address,
                marked(&place.schema.block, &final_plan.planned, &marks),
            );
            return Ok(self
                .after(
                    change,
                    &place,
                    scope,
                    &functions,
                    &marks,
                    &final_plan.planned,
                )
                .await);
        }
        if decision.action != expected {
            return Err(changed_course(
                change,
                &format!(
                    "planning it again with all values known yields the action \"{}\" instead of \"{}\"",
                    decision.action.word(),
                    expected.word()
                ),
            ));
        }
        self.say(said);
        let provisioners = Provisioners::of_resource(place.block, ProvisionerTime::Create);
        let provisions = !update && !provisioners.is_empty();
        let begun = self
            .begin_make(
                change,
                &place,
                stored,
                &wanted,
                &final_plan,
                &marks,
                provisions,
            )
            .await?;
        let hook = hook(
            address,
            expected,
            if update {
                &change.before
            } else {
                &change.after
            },
        );
        let log = NoteLog::new(&self.input.record, begun);
        let request = ApplyRequest {
            kind: address.resource.kind.to_string(),
            prior: prior.clone(),
            planned: final_plan.planned.clone(),
            // as written: what is ignored stands in the planned object
            config: config.clone(),
            planned_private: final_plan.private.clone(),
            identity: final_plan.identity.clone(),
        };
        let making = async {
            let provider = &*place.provider;
            let Some(response) = self.carry_out(provider, request, &log).await else {
                return Ok(self.detached(address, expected));
            };
            let mut made = self
                .end_make(
                    change,
                    &place,
                    begun,
                    &final_plan,
                    response,
                    &marks,
                    provisions,
                )
                .await?;
            if let (true, true, Some(object)) = (made.good, provisions, &made.object) {
                let scope = ModuleScope::new(evaluator, &address.module, repetition)
                    .with_self(made.shown.clone());
                made.good = self
                    .provision_made(change, &provisioners, object, &scope, &functions)
                    .await?;
            }
            Ok(made)
        };
        let (made, elapsed) = self.watched(&hook, making).await;
        if !self.told(&hook, made, elapsed)? {
            return Ok(false);
        }
        self.count(expected);
        let object = evaluator
            .objects()
            .object(address)
            .unwrap_or_else(Value::dynamic);
        Ok(self
            .after(change, &place, scope, &functions, &marks, &plain(&object))
            .await)
    }

    /// Postconditions, with the object known.
    async fn after(
        &self,
        change: &ResourceInstanceChange,
        place: &Place<'_>,
        scope: ModuleScope<'_>,
        functions: &ModuleFunctions<'_>,
        marks: &PathMarks,
        object: &Value,
    ) -> bool {
        let rules = &place.block.lifecycle.postconditions;
        if rules.is_empty() {
            return true;
        }
        let scope = scope.with_self(marked(&place.schema.block, object, marks));
        self.conditions_hold(
            rules,
            Condition::Postcondition,
            &change.address,
            &scope,
            functions,
        )
        .await
    }

    async fn config(
        &self,
        place: &Place<'_>,
        scope: &ModuleScope<'_>,
        functions: &ModuleFunctions<'_>,
    ) -> (Value, Diagnostics) {
        let block = place.block;
        self.input
            .evaluator
            .calls()
            .settled(|reading| {
                reading.passes_on = block.address.mode == ResourceMode::Ephemeral;
                let value = decode(
                    &block.body,
                    &place.schema.block,
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

    /// Evaluates the configuration of an instance, now that all of it must be known, and has the provider
    /// check it: without marks, and where these are. The place keeps it with them. Warnings about it were
    /// said when planning.
    pub(crate) async fn configured(
        &self,
        place: &mut Place<'_>,
        address: &AbsResourceInstance,
        scope: &ModuleScope<'_>,
        functions: &ModuleFunctions<'_>,
    ) -> Result<(Value, PathMarks), Diagnostics> {
        let (config, said) = self.config(place, scope, functions).await;
        if said.has_errors() {
            return Err(said);
        }
        place.config = config.clone();
        let (plain, marks) = config.unmark_deep();
        if !plain.is_wholly_known() {
            return Err(broken(
                address,
                "its configuration holds values that are still not known",
            ));
        }
        let provider = &*place.provider;
        let resource = &address.resource;
        let reported = validate_block(provider, resource, &place.config, plain.clone()).await;
        let said = Reported::placed(reported, address, &|p| Some(place.block.place_of(p)));
        if said.has_errors() {
            return Err(said.into_iter().filter(Diagnostic::is_error).collect());
        }
        Ok((plain, marks))
    }

    /// Plans the object again, now that everything is known, and holds the answer against the plan.
    async fn plan_again(
        &self,
        place: &Place<'_>,
        change: &ResourceInstanceChange,
        prior: &Value,
        wanted: &Value,
        (prior_private, identity): (Bytes, Option<Value>),
    ) -> Result<(PlanResponse, Diagnostics), Diagnostics> {
        let address = &change.address;
        let block = &place.schema.block;
        let response = place
            .provider
            .plan_resource_change(PlanRequest {
                kind: address.resource.kind.to_string(),
                prior: prior.clone(),
                proposed: proposed_new_state(block, prior, wanted),
                config: wanted.clone(),
                prior_private,
                identity,
            })
            .await;
        let said = Reported::placed(
            Reported::hiding(response.reported.clone(), &[&place.config]),
            address,
            &|p| Some(place.block.place_of(p)),
        );
        if said.has_errors() {
            return Err(said);
        }
        if response.deferred.is_some() {
            return Err(changed_course(
                change,
                "the provider says that it cannot plan it yet",
            ));
        }
        let Some(planned) = adopt(place, response.planned, response.legacy_type_system) else {
            return Err(changed_course(
                change,
                "the provider planned something that is not of its schema's type",
            ));
        };
        let identity = match (response.identity, &place.identity) {
            (Some(given), Some(schema)) => match schema.adopted(given) {
                Some(identity) => Some(identity),
                None => {
                    let what = "the provider gives it an identity that is not of its schema's type";
                    return Err(changed_course(change, what));
                }
            },
            _ => None,
        };
        let response = PlanResponse {
            planned,
            identity,
            ..response
        };
        let approved = plain(&change.after);
        let differences = if response.legacy_type_system {
            known_differences(&approved, &response.planned)
        } else {
            let all = assert_object_compatible(block, &approved, &response.planned);
            all.into_iter().map(|d| (d.path, d.message)).collect()
        };
        if !differences.is_empty() {
            let now = marked(
                block,
                &response.planned,
                &place.config.clone().unmark_deep().1,
            );
            return Err(another_plan(change, place, &now, &differences));
        }
        Ok((response, said))
    }

    #[allow(clippy::too_many_arguments)] // each is a fact of its own
    async fn begin_make(
        &self,
        change: &ResourceInstanceChange,
        place: &Place<'_>,
        stored: Option<Arc<ResourceInstanceObject>>,
        wanted: &Value,
        plan: &PlanResponse,
        marks: &PathMarks,
        provisions: bool,
    ) -> Result<OperationId, Diagnostics> {
        let address = &change.address;
        let ty = place.schema.ty();
        let block = &place.schema.block;
        let encode = |value: &Value| {
            to_msgpack(&without_write_only(block, value), &ty)
                .ok()
                .map(Arc::from)
        };
        let update = change.action == Action::Update;
        let deposes = if change.action == Action::CreateThenDelete && stored.is_some() {
            let key = (self.input.new_deposed_key)();
            lock(&self.deposed).insert(address.clone(), key.clone());
            Some(key)
        } else {
            None
        };
        let shown = marked(block, &plan.planned, marks);
        let sensitive = shown
            .unmark_deep()
            .1
            .into_iter()
            .filter(|(_, m)| m.is_sensitive())
            .map(|(p, _)| p)
            .collect();
        let action = if update {
            OperationAction::Update
        } else {
            OperationAction::Create
        };
        self.input
            .record
            .begin(waits(place, provisions), |id| {
                let mut begun = Begun::new(id, action, address.clone(), change.provider.clone());
                begun.deposes = deposes;
                begun.schema_version = place.schema.version;
                begun.prior = if update { stored } else { None };
                begun.planned = encode(&plan.planned);
                begun.config = encode(wanted);
                begun.planned_private = (!plan.private.is_empty()).then(|| plan.private.clone());
                begun.sensitive = SensitivePaths::from_paths(sensitive);
                begun.dependencies = change.dependencies.clone().into();
                begun.create_before_destroy = change.create_before_destroy;
                begun.provisions = provisions;
                JournalEntry::Begun(Box::new(begun))
            })
            .await
    }

    /// An operation that does not end: it stays open in the journal, and the next run settles it.
    fn left_open(&self, mut said: Diagnostics, address: &AbsResourceInstance) -> Made {
        said.push(
            Diagnostic::warning(
                "An operation is still open",
                format!(
                    "What became of the last request for {address} is not known for certain. It is in the journal; \
                     the next plan or apply finds it out before it does anything else."
                ),
            )
            .about(address),
        );
        self.say(said);
        Made {
            good: false,
            shown: Value::dynamic(),
            object: None,
        }
    }

    /// An operation that runs on without this run: the next one waits for it.
    fn detached(&self, address: &AbsResourceInstance, action: Action) -> Made {
        self.say(still_running(address, action).into());
        Made {
            good: false,
            shown: Value::dynamic(),
            object: None,
        }
    }

    /// Tells how it ended; whether it ended well.
    fn told(
        &self,
        hook: &Hook,
        made: Result<Made, Diagnostics>,
        elapsed: Duration,
    ) -> Result<bool, Diagnostics> {
        let good = made.as_ref().is_ok_and(|m| m.good);
        let id = made
            .as_ref()
            .ok()
            .and_then(|m| formwork_plan::identifier(&m.shown));
        let done = Hook {
            id: id.or_else(|| hook.id.clone()),
            ..hook.clone()
        };
        let event = if good {
            Event::ApplyFinished
        } else {
            Event::ApplyFailed
        };
        self.input.events.emit(event(done, elapsed));
        made.map(|m| m.good)
    }

    /// Records how the operation ended. An object on which provisioners are to run is tainted until they
    /// have.
    #[allow(clippy::too_many_arguments)] // each is a fact of its own
    async fn end_make(
        &self,
        change: &ResourceInstanceChange,
        place: &Place<'_>,
        id: OperationId,
        plan: &PlanResponse,
        response: ApplyResponse,
        marks: &PathMarks,
        provisions: bool,
    ) -> Result<Made, Diagnostics> {
        let address = &change.address;
        let mut said = Reported::placed(
            Reported::hiding(response.reported, &[&place.config]),
            address,
            &|p| Some(place.block.place_of(p)),
        );
        let failed_already = said.has_errors();
        if response.outcome_unknown {
            if !failed_already {
                said.push(
                    Diagnostic::error(
                        "Outcome not known",
                        "The provider does not know what became of the request.",
                    )
                    .about(address),
                );
            }
            return Ok(self.left_open(said, address));
        }
        let update = change.action == Action::Update;
        let Some(mut new) = adopt(place, response.new, response.legacy_type_system) else {
            said.push(inconsistent(
                change,
                place,
                "the object is not of its schema's type",
            ));
            return Ok(self.left_open(said, address));
        };
        if !failed_already {
            if new.is_null() {
                let problem = "nothing is there after it was made";
                said.push(inconsistent(change, place, problem));
            } else if !new.is_wholly_known() {
                const SUMMARY: &str = "Provider returned invalid result object after apply";
                let problem = "the object holds values that are not known";
                said.push(against_rules(SUMMARY, change, place, problem));
            } else if !response.legacy_type_system || tracing::enabled!(tracing::Level::WARN) {
                let mut wrong = assert_object_compatible(&place.schema.block, &plan.planned, &new);
                if response.legacy_type_system {
                    for w in wrong.drain(..) {
                        tracing::warn!(
                            %address,
                            problem = %w,
                            "tolerated: a provider of the legacy type system made something else than was planned"
                        );
                    }
                }
                let problem = wrong.first().map(ToString::to_string);
                said.extend(problem.map(|p| inconsistent(change, place, &p)));
            }
        }
        let given = response.identity.zip(place.identity.as_deref());
        let identity = match given.map(|(given, schema)| schema.adopted(given)) {
            Some(Some(identity)) if identity.is_wholly_known() => Some(identity),
            Some(_) if !said.has_errors() => {
                let problem = "its identity is not a wholly known object of its schema's type";
                said.push(inconsistent(change, place, problem));
                None
            }
            Some(_) => None,
            None => plan.identity.clone().filter(Value::is_wholly_known),
        };
        let failed = said.has_errors();
        if !new.is_wholly_known() {
            // An object that is there is kept, whatever is not known of it: the next run reads it.
            new = new.transform(&mut |_, value| {
                if value.is_known() {
                    value
                } else {
                    Value::null(value.type_of())
                }
            });
        }
        let shown = marked(&place.schema.block, &new, marks);
        let object = if new.is_null() {
            None
        } else {
            let made = ResourceInstanceObject::from_value(
                place.schema.version,
                &shown,
                &place.schema.ty(),
            );
            let Ok(mut object) = made else {
                said.push(inconsistent(change, place, "the object cannot be stored"));
                return Ok(self.left_open(said, address));
            };
            object.private = (!response.private.is_empty()).then(|| response.private.clone());
            if update {
                // What nobody says anything of stays as it was, what later versions of Terraform know, too.
                let former = self.input.record.look(|s| s.object(address).cloned()).await;
                if let Some(former) = former {
                    object.identity = former.identity.clone();
                    object.identity_schema_version = former.identity_schema_version;
                    object.other = former.other.clone();
                }
            }
            if let (Some(identity), Some(schema)) = (identity, &place.identity) {
                // what is known can be stored
                let _ = object.set_identity(schema.version, &identity, &schema.ty());
            }
            let mut dependencies = change.dependencies.clone();
            if failed && update {
                // It may still be made from what it was made from before, which must not be
                // destroyed before it then.
                let former = |s: &State| s.object(address).map(|o| o.dependencies.clone());
                let former = self.input.record.look(former).await;
                dependencies.extend(former.iter().flat_map(|d| d.iter().cloned()));
                dependencies.sort();
                dependencies.dedup();
            }
            object.dependencies = dependencies.into();
            object.create_before_destroy = change.create_before_destroy;
            let object = if (failed && !update) || provisions {
                object.tainted()
            } else {
                object
            };
            if !failed {
                self.input.evaluator.objects().set(address, shown.clone());
            }
            Some(Arc::new(object))
        };
        let entry = if failed {
            let reason = said
                .iter()
                .find(|d| d.is_error())
                .map(|d| d.summary.clone())
                .unwrap_or_default();
            JournalEntry::Failed {
                id,
                object: object.clone(),
                reason,
            }
        } else {
            JournalEntry::Succeeded {
                id,
                object: object.clone(),
            }
        };
        let wait = waits(place, provisions);
        self.input.record.entry(wait, entry).await?;
        self.say(said);
        Ok(Made {
            good: !failed,
            shown,
            object,
        })
    }
}

/// How the entries of an operation are waited for. What provisioners do is noted nowhere: before they
/// run it is certain that the object stands as tainted.
fn waits(place: &Place<'_>, provisions: bool) -> Wait {
    match provisions {
        true => Wait::Durable,
        false => Wait::of(&*place.provider),
    }
}

/// A provider's answer as an object of its schema; one of the legacy type system is brought into shape.
fn adopt(place: &Place<'_>, answer: Value, legacy: bool) -> Option<Value> {
    match legacy {
        true => adopted_loosely(&place.schema.block, answer),
        false => adopted(&place.schema.block, answer),
    }
}

fn inconsistent(change: &ResourceInstanceChange, place: &Place<'_>, problem: &str) -> Diagnostic {
    const SUMMARY: &str = "Provider produced inconsistent result after apply";
    against_rules(SUMMARY, change, place, problem)
}

/// That a provider's answer is none that it may give.
fn against_rules(
    summary: &str,
    change: &ResourceInstanceChange,
    place: &Place<'_>,
    problem: &str,
) -> Diagnostic {
    Diagnostic::error(
        summary,
        format!(
            "The provider {} answered for {} against the rules: {problem}. This is a fault of the provider, not of the \
             configuration; please report it to its makers.",
            change.provider.provider.for_display(),
            change.address
        ),
    )
    .at(place.block.range)
    .about(&change.address)
}

/// That an interrupted run has left an operation running.
pub(crate) fn still_running(address: &AbsResourceInstance, action: Action) -> Diagnostic {
    Diagnostic::warning(
        "An operation still runs",
        format!(
            "The run was interrupted, and did not wait for the end of the {} of {address}, which goes on. It is in \
             the journal; the next plan or apply waits for it and takes over what has come of it.",
            action.word()
        ),
    )
    .about(address)
}

/// Which object an event is about.
pub(crate) fn hook(address: &AbsResourceInstance, action: Action, value: &Value) -> Hook {
    Hook {
        address: address.clone(),
        action,
        id: formwork_plan::identifier(value),
    }
}

fn ignored(ignore: &IgnoreChanges) -> Ignored {
    match ignore {
        IgnoreChanges::Nothing => Ignored::Nothing,
        IgnoreChanges::All => Ignored::All,
        IgnoreChanges::Paths(paths) => {
            Ignored::Paths(paths.iter().map(|(p, _)| p.clone()).collect())
        }
    }
}

/// The paths at which the plan promised a known value and another one comes out.
fn known_differences(approved: &Value, now: &Value) -> Vec<(Path, String)> {
    let mut found = Vec::new();
    let mut differs = |path: &Path| {
        found.push((
            path.clone(),
            "it is another value than was planned".to_owned(),
        ));
    };
    approved.walk(&mut |path, value| {
        if !value.is_known() {
            return false;
        }
        let inner = value.as_sequence().is_some()
            || value.as_map().is_some()
            || matches!(value.kind(), formwork_values::Kind::Object(..));
        if inner && !value.is_null() {
            // Sets are compared as a whole: their elements have no places of their own.
            if matches!(value.kind(), formwork_values::Kind::Set(_)) {
                if value.is_wholly_known() && now.at(path).ok().as_ref() != Some(value) {
                    differs(path);
                }
                return false;
            }
            return true;
        }
        if now.at(path).ok().as_ref() != Some(value) {
            differs(path);
        }
        false
    });
    found
}

/// That the provider's second answer breaks the promise of its first: both answers, attribute by
/// attribute.
fn another_plan(
    change: &ResourceInstanceChange,
    place: &Place<'_>,
    now: &Value,
    differences: &[(Path, String)],
) -> Diagnostics {
    const MOST: usize = 10;
    let side = |of: &Value, path: &Path| match of.at(path) {
        Ok(value) => answer(&value),
        Err(_) => "nothing".to_owned(),
    };
    let mut lines: Vec<String> = differences
        .iter()
        .take(MOST)
        .map(|(path, what)| {
            let name = match path.to_string() {
                whole if whole.is_empty() => "the object".to_owned(),
                path => path.trim_start_matches('.').to_owned(),
            };
            format!(
                "  - {name}: planned as {}, now {} ({what})",
                side(&change.after, path),
                side(now, path)
            )
        })
        .collect();
    if differences.len() > MOST {
        lines.push(format!("  - and {} more", differences.len() - MOST));
    }
    Diagnostic::error(
        "Provider produced inconsistent final plan",
        format!(
            "{} was approved as planned, but asked again with all values known, the provider {} answers otherwise. \
             Nothing was done to it. What differs:\n{}\n\nThis is a fault of the provider, not of the \
             configuration; please report it to its makers.",
            change.address,
            change.provider.provider.for_display(),
            lines.join("\n")
        ),
    )
    .at(place.block.range)
    .about(&change.address)
    .into()
}

/// A value as an error tells it: what is secret is not told, and what is long is cut.
fn answer(value: &Value) -> String {
    const LONGEST: usize = 120;
    let text = formwork_values::print::console(value).replace('\n', " ");
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

fn changed_course(change: &ResourceInstanceChange, what: &str) -> Diagnostics {
    Diagnostic::error(
        "Provider produced inconsistent final plan",
        format!(
            "{} was approved as planned, but {what}. Nothing was done to it. If the provider is right now, plan \
             again and look at what has changed.",
            change.address
        ),
    )
    .about(&change.address)
    .into()
}

pub(crate) fn broken(address: &AbsResourceInstance, what: &str) -> Diagnostics {
    Diagnostic::error(
        "Plan cannot be carried out",
        format!("{address} cannot be handled: {what}."),
    )
    .about(address)
    .into()
}
