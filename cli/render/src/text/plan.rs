//! A plan as people read it: what changed outside, what will be done and why, what outputs become,
//! and the closing line.

use super::body::Body;
use super::causes::Causes;
use super::difference::{Differ, Place, Shape, width};
use super::lines::{no_changes_line, plan_line};
use super::page::{FORCES, Page, SENSITIVE, Sign, counted, key, label};
use crate::schemas::{SchemaCache, Schemas};
use crate::stored::without_echoes;
use crate::style::{Role, Style, wrap};
use formwork_addresses::{AbsResourceInstance, DeposedKey, InstanceKey, ResourceMode};
use formwork_configuration::Configuration;
use formwork_diagnostics::SourceMap;
use formwork_plan::{Action, ActionReason, OutputChange, Plan, PlanMode, ResourceInstanceChange};
use formwork_syntax::on_deep_stack;
use formwork_values::{Kind, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The plan as text, from the first section to the closing line, without a blank line around it.
pub fn plan_text(plan: &Plan, schemas: &Schemas, style: Style) -> String {
    write_plan(plan, schemas, style, None)
}

/// The same, with the cause of each replacement: the expression that forces it, by the configuration
/// that was planned and its files.
pub fn plan_text_explained(
    plan: &Plan,
    schemas: &Schemas,
    style: Style,
    configuration: &Configuration,
    sources: &SourceMap,
) -> String {
    let causes = Causes::new(plan, configuration, sources);
    write_plan(plan, schemas, style, Some(&causes))
}

fn write_plan(plan: &Plan, schemas: &Schemas, style: Style, causes: Option<&Causes<'_>>) -> String {
    let mut cache = SchemaCache::new(schemas);
    let mut page = Page::new(style);
    let changes: Vec<&ResourceInstanceChange> =
        plan.changes.iter().filter(|c| c.is_told()).collect();
    let outputs: Vec<&OutputChange> = plan
        .outputs
        .iter()
        .filter(|o| o.action() != Action::NoOp)
        .collect();
    drift(&mut page, plan, &changes, &mut cache);
    if let Some(count) = plan.not_read.filter(|n| *n > 0) {
        let objects = counted(usize::try_from(count).unwrap_or(usize::MAX), "object");
        let text = format!(
            "Light refresh: {objects} that this plan does not touch {} not read.",
            if count == 1 { "was" } else { "were" }
        );
        sentence(&mut page, &text);
        page.blank();
    }
    if changes.is_empty() && outputs.is_empty() {
        match plan.is_deferred() {
            true => deferred(&mut page, plan),
            false => nothing(&mut page, plan),
        }
        return page.out;
    }
    if plan.errored {
        sentence(
            &mut page,
            "Planning failed. This is what had been planned until then; it cannot be applied.",
        );
        page.blank();
    }
    if !changes.is_empty() {
        legend(&mut page, &changes);
        for change in &changes {
            page.blank();
            resource(&mut page, change, &mut cache, causes);
        }
        page.blank();
        if plan.is_deferred() {
            deferred(&mut page, plan);
            page.blank();
        }
        let line = plan_line(&plan.summary());
        let line = style.paint(Role::Strong, &line);
        page.out.push_str(&line);
        page.blank();
        let forgotten = plan.summary().forget;
        if forgotten > 0 {
            let objects = counted(forgotten, "object");
            sentence(
                &mut page,
                &format!("{objects} will leave the state but not the world."),
            );
        }
    }
    if !outputs.is_empty() {
        if changes.is_empty() && plan.is_deferred() {
            deferred(&mut page, plan);
            page.blank();
        } else if !changes.is_empty() {
            page.blank();
        }
        output_changes(&mut page, &outputs);
        if changes.is_empty() {
            page.blank();
            sentence(
                &mut page,
                "Applying this plan records these outputs in the state; it changes no object.",
            );
        }
    }
    page.out
}

/// What is left to a later round, a line each with the reason.
fn deferred(page: &mut Page, plan: &Plan) {
    let count = counted(plan.deferred.len(), "change");
    let title = format!("Deferred to a later round, too little is known yet: {count}");
    let title = page.style.paint(Role::Strong, &title);
    page.out.push_str(&title);
    page.blank();
    page.blank();
    for deferred in &plan.deferred {
        let foreseen = match deferred.change.action {
            Action::Delete => " (to be destroyed)",
            Action::Read => " (to be read)",
            _ => "",
        };
        comment(page, &format!("{}{foreseen}", deferred.address));
        page.out.push_str("  ");
        page.style.push(
            &mut page.out,
            Role::Faint,
            &format!("# ({})", deferred.why()),
        );
        page.blank();
    }
    if !plan.deferred_outputs.is_empty() {
        page.blank();
        let names = plan.deferred_outputs.join(", ");
        sentence(
            page,
            &format!("Outputs that stay as they are until then: {names}."),
        );
    }
}

fn sentence(page: &mut Page, text: &str) {
    for line in wrap(text, page.style.width) {
        page.out.push_str(&line);
        page.blank();
    }
}

fn nothing(page: &mut Page, plan: &Plan) {
    let line = page.style.paint(Role::Good, no_changes_line(plan.mode));
    page.out.push_str(&line);
    page.blank();
    page.blank();
    let product = page.style.product;
    let why = match plan.mode {
        PlanMode::Normal => {
            format!("{product} compared the configuration with the real objects; nothing differs.")
        }
        PlanMode::Destroy => "The state holds no object that could be destroyed.".to_owned(),
        PlanMode::RefreshOnly => {
            "The real objects are as the state remembers them; there is nothing to record."
                .to_owned()
        }
    };
    sentence(page, &why);
}

/// What changed outside. Of a normal plan only what has consequences: objects that are gone, and of
/// objects that the plan changes the values that it changes. What a server does to values of its own
/// is news to nobody; a refresh-only plan shows it.
pub(crate) fn drift(
    page: &mut Page,
    plan: &Plan,
    changes: &[&ResourceInstanceChange],
    cache: &mut SchemaCache<'_>,
) {
    let planned: BTreeMap<(&AbsResourceInstance, Option<&DeposedKey>), &ResourceInstanceChange> =
        changes
            .iter()
            .map(|c| ((&c.address, c.deposed.as_ref()), *c))
            .collect();
    let mut shown = Vec::new();
    for drift in &plan.drift {
        if plan.mode == PlanMode::RefreshOnly || drift.action == Action::Delete {
            shown.push(drift.clone());
        } else if let Some(change) = planned.get(&(&drift.address, drift.deposed.as_ref())) {
            let before = consequence(&drift.before, &drift.after, &change.after);
            if before != drift.after {
                let mut drift = drift.clone();
                drift.before = before;
                shown.push(drift);
            }
        }
    }
    if shown.is_empty() {
        return;
    }
    let note = format!(
        "Note: Objects have changed outside of {}",
        page.style.product
    );
    let note = page.style.paint(Role::Strong, &note);
    page.out.push_str(&note);
    page.blank();
    for change in &shown {
        page.blank();
        drifted(page, change, cache);
    }
    page.blank();
    if plan.mode == PlanMode::RefreshOnly {
        sentence(
            page,
            "This plan only records these changes in the state; it does not undo them.",
        );
        page.blank();
    }
}

/// The value before the drift, with everything taken as it is now that the plan leaves as it is now,
/// or that will be decided by the provider anyway.
fn consequence(before: &Value, now: &Value, planned: &Value) -> Value {
    let whole = before;
    on_deep_stack(|| {
        if now == planned || !planned.is_known() || planned.is_null() && now.is_null() {
            return now.clone();
        }
        match (before.kind(), now.kind(), planned.kind()) {
            (Kind::Object(b, before), Kind::Object(n, now), Kind::Object(p, planned))
                if b.names() == n.names() && n.names() == p.names() =>
            {
                let parts = before.iter().zip(now).zip(planned);
                let parts: Vec<Value> = parts.map(|((b, n), p)| consequence(b, n, p)).collect();
                Value::object(b.names().iter().cloned().zip(parts))
            }
            (Kind::List(before), Kind::List(now), Kind::List(planned))
                if before.len() == now.len() && now.len() == planned.len() =>
            {
                let parts = before.iter().zip(now).zip(planned);
                let parts: Vec<Value> = parts.map(|((b, n), p)| consequence(b, n, p)).collect();
                Value::list_of(parts).unwrap_or_else(|| whole.clone())
            }
            _ => before.clone(),
        }
    })
}

fn drifted(page: &mut Page, change: &ResourceInstanceChange, cache: &mut SchemaCache<'_>) {
    let address = change.display_address();
    let gone = change.action == Action::Delete;
    let what = if gone {
        "has been deleted"
    } else {
        "has changed"
    };
    comment(page, &format!("{address} {what}"));
    let sign = if gone { Sign::Remove } else { Sign::Change };
    block_between(page, change, sign, cache, gone);
}

fn legend(page: &mut Page, changes: &[&ResourceInstanceChange]) {
    sentence(
        page,
        &format!("{} will do this; the signs mean:", page.style.product),
    );
    let meanings = [
        (Sign::Add, "create"),
        (Sign::Change, "change in place"),
        (Sign::Remove, "destroy"),
        (Sign::Replace, "destroy, then create anew"),
        (Sign::ReplaceAddedFirst, "create anew, then destroy"),
        (Sign::Read, "read during apply"),
        (Sign::Forget, "remove from the state only"),
    ];
    for (sign, meaning) in meanings {
        if changes.iter().any(|c| sign_of(c.action) == sign) {
            page.line(0, sign, meaning);
        }
    }
}

pub(crate) fn sign_of(action: Action) -> Sign {
    match action {
        Action::NoOp => Sign::None,
        Action::Create => Sign::Add,
        Action::Read => Sign::Read,
        Action::Update => Sign::Change,
        Action::DeleteThenCreate => Sign::Replace,
        Action::CreateThenDelete => Sign::ReplaceAddedFirst,
        Action::Delete => Sign::Remove,
        Action::Forget => Sign::Forget,
    }
}

/// A comment line above a resource.
fn comment(page: &mut Page, text: &str) {
    page.out.push_str("  ");
    let text = format!("# {text}");
    page.style.push(&mut page.out, Role::Strong, &text);
    page.blank();
}

pub(crate) fn resource(
    page: &mut Page,
    change: &ResourceInstanceChange,
    cache: &mut SchemaCache<'_>,
    causes: Option<&Causes<'_>>,
) {
    let address = change.display_address();
    comment(page, &format!("{address} {}", fate(change)));
    let causes = causes.map(|c| c.of(change)).unwrap_or_default();
    for reason in reasons(change).into_iter().chain(causes) {
        page.out.push_str("  ");
        page.style
            .push(&mut page.out, Role::Faint, &format!("# ({reason})"));
        page.blank();
    }
    block(page, change, sign_of(change.action), cache);
}

/// What happens to it, after its address.
fn fate(change: &ResourceInstanceChange) -> String {
    let replaced = |why: &str| format!("will be replaced, {why}");
    match change.action {
        Action::NoOp if change.importing.is_some() => "will be imported".to_owned(),
        Action::NoOp => match &change.previous_address {
            Some(old) => format!("takes over what was {old}"),
            None => "stays as it is".to_owned(),
        },
        Action::Create => "will be created".to_owned(),
        Action::Read => "will be read during apply".to_owned(),
        Action::Update => "will be changed in place".to_owned(),
        Action::Delete => "will be destroyed".to_owned(),
        Action::Forget => "will leave the state; the object itself stays".to_owned(),
        Action::DeleteThenCreate | Action::CreateThenDelete => match change.reason {
            Some(ActionReason::ReplaceBecauseTainted) => {
                "is tainted and must be replaced".to_owned()
            }
            Some(ActionReason::ReplaceByRequest) => replaced("as -replace asks"),
            Some(ActionReason::ReplaceByTriggers) => replaced("as replace_triggered_by asks"),
            _ => "must be replaced".to_owned(),
        },
    }
}

/// Why, and what else is to know, each without parentheses.
fn reasons(change: &ResourceInstanceChange) -> Vec<String> {
    let mut all = Vec::new();
    let key = &change.address.key;
    let name = &change.address.resource;
    match change.reason {
        Some(ActionReason::ReplaceBecauseCannotUpdate) if !change.replace_paths.is_empty() => {
            let paths: Vec<String> = change
                .replace_paths
                .iter()
                .map(|p| p.to_string().trim_start_matches('.').to_owned())
                .collect();
            all.push(format!("cannot be changed in place: {}", paths.join(", ")));
        }
        Some(ActionReason::DeleteBecauseNoResourceConfig) if change.action == Action::Delete => {
            all.push(format!("{name} is no longer in the configuration"));
        }
        Some(ActionReason::DeleteBecauseNoModule) => {
            let module = &change.address.module;
            all.push(format!("{module} is no longer in the configuration"));
        }
        Some(ActionReason::DeleteBecauseWrongRepetition) => all.push(match key {
            InstanceKey::None => "its block has count or for_each now".to_owned(),
            InstanceKey::Int(_) => "its block no longer has count".to_owned(),
            InstanceKey::Text(_) => "its block no longer has for_each".to_owned(),
        }),
        Some(ActionReason::DeleteBecauseCountIndex) => {
            all.push(format!("count does not reach index {key}"));
        }
        Some(ActionReason::DeleteBecauseEachKey) => {
            all.push(format!("for_each has no key {key}"));
        }
        Some(ActionReason::DeleteBecauseNoMoveTarget) => {
            let target = change.previous_address.as_ref().map(ToString::to_string);
            all.push(match target {
                Some(old) => {
                    format!("it was moved from {old} to here, where nothing is configured")
                }
                None => "a moved block leads here, where nothing is configured".to_owned(),
            });
        }
        Some(ActionReason::DeleteBecauseEnabledFalse) => {
            all.push("enabled is false".to_owned());
        }
        Some(ActionReason::ReadBecauseConfigUnknown) => {
            all.push("its configuration holds values that are not known yet".to_owned());
        }
        Some(ActionReason::ReadBecauseDependencyPending) => {
            all.push("it depends on a resource that is going to change".to_owned());
        }
        Some(ActionReason::ReadBecauseCheckNested) => {
            all.push("its check is evaluated after everything else".to_owned());
        }
        _ => {}
    }
    if change.deposed.is_some() {
        all.push("left over from a replacement that did not come to its end".to_owned());
    }
    if let Some(old) = &change.previous_address
        && change.action != Action::NoOp
        && change.reason != Some(ActionReason::DeleteBecauseNoMoveTarget)
    {
        all.push(format!("moved from {old}"));
    }
    if let Some(importing) = &change.importing {
        all.push(match &importing.identity {
            Some(identity) => format!("imported by the identity {identity}"),
            None => format!("imported from {}", formwork_syntax::quote(&importing.id)),
        });
    }
    all
}

/// `resource "type" "name" { ... }`
fn block(
    page: &mut Page,
    change: &ResourceInstanceChange,
    sign: Sign,
    cache: &mut SchemaCache<'_>,
) {
    block_between(page, change, sign, cache, false);
}

/// The same; of an object that is `gone` only what names it.
fn block_between(
    page: &mut Page,
    change: &ResourceInstanceChange,
    sign: Sign,
    cache: &mut SchemaCache<'_>,
    gone: bool,
) {
    let resource = &change.address.resource;
    let schema = cache.schema(&change.provider.provider, resource);
    let word = match resource.mode {
        ResourceMode::Managed => "resource",
        ResourceMode::Data => "data",
        ResourceMode::Ephemeral => "ephemeral",
    };
    let mut header = format!("{word} \"{}\" \"{}\" {{", resource.kind, resource.name);
    if change.replace_paths.iter().any(|p| p.is_empty()) {
        header.push_str(FORCES);
    }
    page.line(0, sign, &header);
    let before = without_echoes(change.before.clone());
    let after = match change.action {
        // what leaves the state is no deletion
        Action::Forget => before.clone(),
        _ => without_echoes(change.after.clone()),
    };
    let block = schema.as_ref().map(|s| &*s.block);
    let mut differ = Differ::new(page, &change.replace_paths);
    differ.module = change.address.module.clone();
    if gone {
        let names = ["id", "name"].into_iter().filter_map(|name| {
            let value = change.before.unmarked().attribute(name)?;
            Some((name, value.clone()))
        });
        differ.snapshot(1, block, &Value::object(names));
    } else if change.action == Action::NoOp && change.importing.is_some() {
        differ.snapshot(1, block, after.unmarked());
    } else {
        let body = Body {
            block,
            before: Some(&before),
            after: Some(&after),
        };
        differ.body(1, body, true);
    }
    page.line(0, Sign::None, "}");
}

pub(crate) fn output_changes(page: &mut Page, outputs: &[&OutputChange]) {
    let title = page.style.paint(Role::Strong, "Changes to Outputs:");
    page.out.push_str(&title);
    page.blank();
    let width = width(outputs.iter().map(|o| &*o.name));
    for output in outputs {
        let label = label(&key(&output.name), width);
        if output.sensitive {
            let sign = sign_of(output.action());
            page.line(0, sign, &format!("{label}{SENSITIVE}"));
            continue;
        }
        let at = Place {
            depth: 0,
            label: &label,
            end: "",
        };
        Differ::new(page, &[]).entry(
            at,
            output.before.as_ref(),
            output.after.as_ref(),
            Shape::default(),
        );
    }
}

/// What the counts of a plan are, in a few words, for a title or a notification.
pub fn short_summary(plan: &Plan) -> String {
    let summary = plan.summary();
    let mut parts = Vec::new();
    for (n, word) in [
        (summary.import, "import"),
        (summary.add, "add"),
        (summary.change, "change"),
        (summary.remove, "destroy"),
        (summary.forget, "forget"),
    ] {
        if n > 0 {
            parts.push(format!("{n} to {word}"));
        }
    }
    let mut out = String::new();
    // writing to a String cannot fail
    let _ = match parts.is_empty() {
        true => write!(out, "no changes"),
        false => write!(out, "{}", parts.join(", ")),
    };
    out
}
