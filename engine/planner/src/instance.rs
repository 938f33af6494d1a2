//! One instance's change: what the provider says an apply would make of it, and what kind of action
//! that is.
//!
//! Pure but for the calls to the provider. Apply reads answers by the same
//! [`formwork_plan::decide`], to see whether planning again, with everything known, still gives what
//! was approved.

use crate::prior::PriorObject;
use formwork_addresses::{AbsProviderConfig, AbsResource, AbsResourceInstance};
use formwork_configuration::ResourceBlock;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceRange};
use formwork_plan::{Action, ActionReason, Identities, Importing, ResourceInstanceChange, decide};
use formwork_provider::{Bytes, DeferredReason, PlanRequest, PlanResponse, Provider, Reported};
use formwork_provider_schema::{
    IdentitySchema, Ignored, Schema, adopted, adopted_loosely, assert_plan_valid, marked,
    marks_without_ignored, proposed_new_state, without_ignored,
};
use formwork_values::{Path, Step, Type, Value, value_to_json};
use std::sync::Arc;

/// What is asked for beyond the configuration.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// `ignore_changes`.
    pub ignored: Ignored,
    /// `-replace` names it.
    pub replace: bool,
    /// `replace_triggered_by` has been triggered.
    pub triggered: bool,
    /// A replacement is to be created first.
    pub create_before_destroy: bool,
}

/// An instance to plan.
pub struct Subject<'a> {
    /// Which.
    pub address: &'a AbsResourceInstance,
    /// Where it stood before, if elsewhere.
    pub previous_address: Option<AbsResourceInstance>,
    /// The provider configuration that handles it.
    pub provider_config: &'a AbsProviderConfig,
    /// The provider, configured.
    pub provider: &'a dyn Provider,
    /// The schema of its type.
    pub schema: &'a Arc<Schema>,
    /// The schema of identities of its type, if there is one.
    pub identity: Option<&'a IdentitySchema>,
    /// The nearest managed resources it depends on.
    pub dependencies: Vec<AbsResource>,
    /// Its block, if it is configured.
    pub block: Option<&'a ResourceBlock>,
    /// Set if it is imported.
    pub importing: Option<Importing>,
    /// Whether the provider may answer that it cannot plan it yet.
    pub may_defer: bool,
}

impl Subject<'_> {
    /// Where its block stands.
    fn range(&self) -> Option<SourceRange> {
        self.block.map(|b| b.range)
    }

    /// What its provider says of it, where it is written.
    fn placed(&self, reported: Vec<Reported>) -> Diagnostics {
        Reported::placed(reported, self.address, &|p| {
            self.block.map(|b| b.place_of(p))
        })
    }
}

/// An identity as plans hold it; nothing while something in it is unknown.
pub(crate) fn in_json(identity: &Value) -> Option<Arc<str>> {
    let json = value_to_json(identity).ok()?;
    Some(Arc::from(json))
}

/// One instance as its provider planned it.
pub struct PlannedInstance {
    /// What is to be done.
    pub change: ResourceInstanceChange,
    /// Set if the provider cannot plan it yet: then the change is what can be foreseen, and nothing is
    /// to be done by it.
    pub deferred: Option<DeferredReason>,
}

/// Plans one configured instance.
pub async fn plan_configured(
    subject: &Subject<'_>,
    prior: Option<&PriorObject>,
    config: &Value,
    wishes: &Wishes,
) -> (Option<PlannedInstance>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let null = Value::null(subject.schema.ty());
    let (config_plain, mut config_marks) = config.clone().unmark_deep();
    // What is ephemeral goes into write-only arguments, of which the object keeps nothing.
    config_marks.retain(|(_, marks)| !marks.is_ephemeral());
    let before = prior.map_or_else(|| null.clone(), |p| p.value.clone());
    let before_plain = before.clone().unmark_deep().0;
    let tainted = prior.is_some_and(|p| p.tainted);
    let identity = prior.and_then(|p| p.identity.clone());
    // A tainted object is planned as if it were not there, so nothing private of it counts.
    let private = prior
        .filter(|p| !p.tainted)
        .map_or_else(|| Bytes::from([]), |p| p.private.clone());

    // A tainted object is replaced whatever it looks like: it is planned as if it were not there.
    let start = if tainted { &null } else { &before_plain };
    let wanted = without_ignored(&subject.schema.block, &config_plain, start, &wishes.ignored);
    let all_marks = config_marks;
    let Some(first) = ask(
        subject,
        start,
        &wanted,
        (private.clone(), identity.clone().filter(|_| !tainted)),
        &[config, &before],
        &mut diagnostics,
    )
    .await
    else {
        return (None, diagnostics);
    };
    let deferred = first.deferred;
    let mut decision = decide(start, &first.planned, &first.requires_replace);
    let mut reason = None;
    if tainted {
        decision.action = Action::DeleteThenCreate;
        reason = Some(ActionReason::ReplaceBecauseTainted);
    } else if decision.action.is_replace() {
        reason = Some(if wishes.triggered {
            ActionReason::ReplaceByTriggers
        } else {
            ActionReason::ReplaceBecauseCannotUpdate
        });
    } else if !before.is_null() && wishes.replace {
        decision.action = Action::DeleteThenCreate;
        reason = Some(ActionReason::ReplaceByRequest);
    } else if !before.is_null() && wishes.triggered {
        decision.action = Action::DeleteThenCreate;
        reason = Some(ActionReason::ReplaceByTriggers);
    }

    let mut answer = first;
    if decision.action.is_replace() && !tainted && deferred.is_none() {
        // The new object is planned from nothing and as written: nothing of the former one carries
        // over, not even what was to be ignored in it.
        // Private data goes on from the first answer to the second, as providers know it.
        let handed_on = answer.private.clone();
        let Some(anew) = ask(
            subject,
            &null,
            &config_plain,
            (handed_on, None),
            &[config, &before],
            &mut diagnostics,
        )
        .await
        else {
            return (None, diagnostics);
        };
        answer = anew;
    }
    if decision.action.is_replace() && wishes.create_before_destroy {
        decision.action = Action::CreateThenDelete;
    }
    let marks = if tainted || decision.action.is_replace() {
        all_marks
    } else {
        marks_without_ignored(all_marks, &before, &wishes.ignored)
    };
    let mut after = marked(&subject.schema.block, &answer.planned, &marks);
    if decision.action == Action::NoOp {
        if after == before {
            // One value is held instead of two equal ones.
            after = before.clone();
        } else {
            // The same content that is now (or no longer) sensitive is a change of state, so it is
            // shown.
            decision.action = Action::Update;
        }
    }
    // What a provider does not say of an object that stays is what it was.
    let after_identity = match (&answer.identity, decision.action) {
        (None, Action::NoOp | Action::Update) => identity.clone(),
        (given, _) => given.clone(),
    };
    let change = ResourceInstanceChange {
        address: subject.address.clone(),
        previous_address: subject.previous_address.clone(),
        deposed: None,
        provider: subject.provider_config.clone(),
        action: decision.action,
        reason,
        before,
        after,
        replace_paths: decision.replace_paths,
        planned_private: answer.private,
        schema_version: subject.schema.version,
        dependencies: subject.dependencies.clone(),
        create_before_destroy: wishes.create_before_destroy,
        importing: subject.importing.clone(),
        legacy_type_system: answer.legacy_type_system,
        identity: Identities {
            before: identity.as_ref().and_then(in_json),
            after: after_identity.as_ref().and_then(in_json),
        },
    };
    let planned = PlannedInstance { change, deferred };
    (Some(planned), diagnostics)
}

/// Plans the deletion of an object: the current one, or one left behind.
pub async fn plan_deletion(
    subject: &Subject<'_>,
    prior: &PriorObject,
    reason: Option<ActionReason>,
) -> (Option<PlannedInstance>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let null = Value::null(subject.schema.ty());
    let response = subject
        .provider
        .plan_resource_change(PlanRequest {
            kind: subject.address.resource.kind.to_string(),
            prior: prior.value.clone().unmark_deep().0,
            proposed: null.clone(),
            config: null.clone(),
            prior_private: prior.private.clone(),
            identity: prior.identity.clone(),
        })
        .await;
    diagnostics.append(subject.placed(Reported::hiding(response.reported, &[&prior.value])));
    if let Some(deferred) = response.deferred
        && !subject.may_defer
    {
        diagnostics.push(unasked(subject, deferred));
    }
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let change = ResourceInstanceChange {
        address: subject.address.clone(),
        previous_address: subject.previous_address.clone(),
        deposed: None,
        provider: subject.provider_config.clone(),
        action: Action::Delete,
        reason,
        before: prior.value.clone(),
        after: null,
        replace_paths: Vec::new(),
        planned_private: response.private,
        schema_version: subject.schema.version,
        dependencies: prior.dependencies.clone(),
        create_before_destroy: prior.create_before_destroy,
        importing: None,
        legacy_type_system: response.legacy_type_system,
        identity: Identities {
            before: prior.identity.as_ref().and_then(in_json),
            after: None,
        },
    };
    let planned = PlannedInstance {
        change,
        deferred: response.deferred,
    };
    (Some(planned), diagnostics)
}

/// Asks the provider, and checks that it answers by the rules.
async fn ask(
    subject: &Subject<'_>,
    prior: &Value,
    config: &Value,
    (prior_private, identity): (Bytes, Option<Value>),
    marked: &[&Value],
    diagnostics: &mut Diagnostics,
) -> Option<PlanResponse> {
    let proposed = proposed_new_state(&subject.schema.block, prior, config);
    let mut response = subject
        .provider
        .plan_resource_change(PlanRequest {
            kind: subject.address.resource.kind.to_string(),
            prior: prior.clone(),
            proposed,
            config: config.clone(),
            prior_private,
            identity,
        })
        .await;
    diagnostics.append(subject.placed(Reported::hiding(response.reported.clone(), marked)));
    if response.reported.iter().any(Reported::is_error) {
        return None;
    }
    if let Some(deferred) = response.deferred {
        if !subject.may_defer {
            diagnostics.push(unasked(subject, deferred));
            return None;
        }
        // What it foresees is only shown.
        let planned = adopted(&subject.schema.block, response.planned)
            .unwrap_or_else(|| Value::unknown(subject.schema.ty()));
        return Some(PlanResponse {
            planned,
            ..response
        });
    }
    let given = std::mem::replace(&mut response.planned, Value::dynamic());
    let answer = match response.legacy_type_system {
        true => adopted_loosely(&subject.schema.block, given),
        false => adopted(&subject.schema.block, given),
    };
    let Some(planned) = answer else {
        diagnostics.push(invalid_plan(
            subject,
            "the planned object does not have the type of its schema",
        ));
        return None;
    };
    // What is only logged is not looked for where nobody reads the log.
    let looked_at = !response.legacy_type_system || tracing::enabled!(tracing::Level::WARN);
    let wrong = match looked_at {
        true => assert_plan_valid(&subject.schema.block, prior, config, &planned),
        false => Vec::new(),
    };
    if response.legacy_type_system {
        for w in &wrong {
            tracing::warn!(
                address = %subject.address,
                problem = %w,
                "tolerated: a provider of the legacy type system plans against the rules"
            );
        }
    } else if !wrong.is_empty() {
        for w in wrong {
            diagnostics.push(invalid_plan(subject, &w.to_string()));
        }
        return None;
    }
    if let (Some(given), Some(schema)) = (response.identity.take(), subject.identity) {
        let Some(given) = schema.adopted(given) else {
            let what = "the identity that it gives is not of its schema's type";
            diagnostics.push(invalid_plan(subject, what));
            return None;
        };
        response.identity = Some(given);
    }
    let ty = subject.schema.ty();
    if let Some(path) = response
        .requires_replace
        .iter()
        .find(|p| !leads_somewhere(&ty, p))
    {
        let what =
            format!("it asks for a replacement because of {path}, which its schema does not have");
        diagnostics.push(invalid_plan(subject, &what));
        return None;
    }
    Some(PlanResponse {
        planned,
        ..response
    })
}

/// Whether objects of a type can have anything at a path.
fn leads_somewhere(ty: &Type, path: &Path) -> bool {
    let mut at = ty;
    for step in path.steps() {
        at = match (at, step) {
            (Type::Object(object), Step::Attribute(name)) => match object.attribute(name) {
                Some(inner) => inner,
                None => return false,
            },
            (Type::List(e) | Type::Set(e) | Type::Map(e), Step::Index(_)) => e,
            // What is of no fixed type can have anything.
            (Type::Dynamic | Type::Tuple(_) | Type::Object(_), _) => return true,
            _ => return false,
        };
    }
    true
}

/// That a provider puts off what it was not allowed to put off: `what` it was to do with the object.
pub(crate) fn put_off(
    config: &AbsProviderConfig,
    address: &AbsResourceInstance,
    what: &str,
    deferred: DeferredReason,
    range: Option<SourceRange>,
) -> Diagnostic {
    let why = match deferred {
        DeferredReason::ResourceConfigUnknown => "too little of its configuration is known",
        DeferredReason::ProviderConfigUnknown => {
            "too little of the provider's own configuration is known"
        }
        DeferredReason::AbsentPrerequisite => "something that it needs does not exist yet",
    };
    Diagnostic::error(
        "Provider deferred changes when deferrals are not allowed",
        format!(
            "The provider {} says that it cannot {what} {address} yet, because {why}, though it was told that \
             nothing can be put off in this run.",
            config.provider.for_display(),
        ),
    )
    .hint("Allow it with -allow-deferral: what can be planned is applied first, then the rest.")
    .at_opt(range)
    .about(address)
}

fn unasked(subject: &Subject<'_>, deferred: DeferredReason) -> Diagnostic {
    let (config, range) = (subject.provider_config, subject.range());
    put_off(config, subject.address, "plan", deferred, range)
}

fn invalid_plan(subject: &Subject<'_>, what: &str) -> Diagnostic {
    Diagnostic::error(
        "Provider produced invalid plan",
        format!(
            "The provider {} planned {} against the rules: {what}. This is a fault of the provider, \
             not of the configuration; please report it to its makers.",
            subject.provider_config.provider.for_display(),
            subject.address
        ),
    )
    .at_opt(subject.range())
    .about(subject.address)
}
