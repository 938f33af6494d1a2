//! Outputs of the root module: what they were and what they will be.

use crate::walk::{Walk, lock};
use formwork_addresses::ModuleInstance;
use formwork_plan::{OutputChange, PlanMode};
use formwork_values::Value;
use std::collections::BTreeSet;

/// The change of every output that is configured or in the state, by name.
pub(crate) fn changes(walk: &Walk<'_>) -> Vec<OutputChange> {
    let input = walk.input;
    let state = &input.refreshed.state;
    let root = ModuleInstance::root();
    let module = input.evaluator.configuration().root();
    let destroy = input.mode == PlanMode::Destroy;
    let done = lock(&walk.outputs_done);
    let mut names: BTreeSet<String> = state.outputs().map(|(n, _)| n.to_owned()).collect();
    if let Some(m) = module
        && !destroy
    {
        names.extend(m.outputs.keys().map(ToString::to_string));
    }
    names
        .into_iter()
        .filter(|name| {
            // Of what was not got to, does not take part or must not be evaluated, there is nothing
            // to say.
            if input.scope.is_limited() {
                return done.contains(name.as_str());
            }
            destroy
                || module.is_none_or(|m| !m.outputs.contains_key(name.as_str()))
                || done.contains(name.as_str())
        })
        .map(|name| {
            let block = module.and_then(|m| m.outputs.get(name.as_str()));
            let stored = state.output(&name);
            let before = stored.and_then(|o| o.to_value());
            let configured = block.filter(|b| !destroy && !b.ephemeral);
            let after = configured.map(|b| {
                let value = input.evaluator.output(&root, &name).value.clone();
                if b.sensitive {
                    value.sensitive()
                } else {
                    value
                }
            });
            // What was sensitive is not shown as what it was, either.
            let sensitive =
                configured.is_some_and(|b| b.sensitive) || stored.is_some_and(|o| o.sensitive);
            OutputChange {
                name,
                before,
                after,
                sensitive,
            }
        })
        // A run that only records has nothing to record of what is not there yet.
        .filter(|change| {
            input.mode != PlanMode::RefreshOnly
                || change.after.as_ref().is_none_or(Value::is_wholly_known)
        })
        .collect()
}
