//! A light refresh: only what the change touches is read.
//!
//! The configuration is planned over the state as it is remembered, without a word. What that would
//! change, replace or destroy is read, together with the objects that the changed ones are made from, and
//! the same is planned again over what was found; until nothing else is touched. Then the plan is made
//! over the state so refreshed. What was not read is believed to be as the state has it: the plan says
//! how many objects that are.

use crate::session::Session;
use formwork_addresses::{AbsResource, AbsResourceInstance, ModulePath, Resource, ResourceMode};
use formwork_diagnostics::Diagnostics;
use formwork_plan::{Action, ResourceInstanceChange};
use formwork_planner::{PlanInput, RefreshOptions, Refreshed, refresh};
use formwork_provider::Providers;
use formwork_state::State;
use std::collections::BTreeSet;

/// How often it is planned again at most; then what is still touched is read without looking further.
const PASSES: usize = 10;

type Block = (ModulePath, Resource);

fn block(resource: &AbsResource) -> Block {
    (resource.module.path(), resource.resource.clone())
}

/// Reads what a plan touches. `input` makes what is planned without a word over a state; the answer says
/// how many objects that take part were not read.
pub(crate) async fn refresh_changed(
    session: &Session,
    state: &State,
    providers: &Providers,
    takes_part: &(dyn Fn(&AbsResourceInstance) -> bool + Sync),
    input: impl Fn(Refreshed) -> PlanInput,
) -> (Refreshed, u64, Diagnostics) {
    let remembered = RefreshOptions {
        read: false,
        scope: None,
        events: &(),
        cancel: &session.cancel,
    };
    let (mut refreshed, said) = refresh(state, providers, &remembered).await;
    let mut all = said;
    let mut read: BTreeSet<AbsResourceInstance> = BTreeSet::new();
    for _ in 0..PASSES {
        if all.has_errors() {
            break;
        }
        // What is wrong shows again when the plan is made.
        let (planned, _) = formwork_planner::plan(input(refreshed.clone())).await;
        let wanted: BTreeSet<AbsResourceInstance> = touched(&planned.changes, &refreshed)
            .into_iter()
            .filter(|a| takes_part(a) && !read.contains(a))
            .collect();
        if wanted.is_empty() {
            break;
        }
        let scope = |a: &AbsResourceInstance| wanted.contains(a);
        let options = RefreshOptions {
            read: true,
            scope: Some(&scope),
            events: &*session.events,
            cancel: &session.cancel,
        };
        let before = refreshed.state.clone();
        let (mut next, said) = refresh(&before, providers, &options).await;
        all.append(said);
        let found = !next.drift.is_empty();
        next.drift
            .splice(0..0, std::mem::take(&mut refreshed.drift));
        next.unread.extend(std::mem::take(&mut refreshed.unread));
        refreshed = next;
        read.extend(wanted);
        // Over the same values the same would be planned.
        if !found {
            break;
        }
    }
    let not_read = refreshed
        .objects
        .keys()
        .filter(|(address, _)| takes_part(address) && !read.contains(address))
        .count();
    (refreshed, u64::try_from(not_read).unwrap_or(u64::MAX), all)
}

/// The instances that a plan changes, and those that the changed ones are made from.
fn touched(
    changes: &[ResourceInstanceChange],
    refreshed: &Refreshed,
) -> BTreeSet<AbsResourceInstance> {
    let mut touched = BTreeSet::new();
    let mut made_from: BTreeSet<Block> = BTreeSet::new();
    let there = changes.iter().filter(|c| {
        c.address.resource.mode == ResourceMode::Managed
            && !matches!(c.action, Action::NoOp | Action::Forget)
    });
    for change in there {
        touched.insert(change.address.clone());
        if change.action != Action::Delete {
            made_from.extend(change.dependencies.iter().map(block));
        }
    }
    if !made_from.is_empty() {
        let instances = refreshed.objects.keys().map(|(address, _)| address);
        let needed = instances
            .filter(|a| made_from.contains(&(a.module.path(), a.resource.clone())))
            .cloned();
        touched.extend(needed);
    }
    touched
}
