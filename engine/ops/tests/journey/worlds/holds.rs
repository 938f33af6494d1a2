//! What must hold of a world after each step.

use super::maker::{Mode, Step, World};
use super::thing::{self, Call, Cloud, SCHEMA, SECRET, Script, Verb};
use super::{Ran, Scene, first, process};
use crate::disk::guard;
use crate::surroundings::text;
use formwork_values::value_from_json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What does not hold after a step, in sentences.
pub async fn broken(scene: &Scene, world: &World, step: &Step, ran: &Ran) -> Vec<String> {
    let mut out = Vec::new();
    let calm = Step {
        death: None,
        script: Script::default(),
        ..step.clone()
    };
    let (session, _, _) = process(scene, world, &calm);
    let view = match formwork_ops::read_state(&session).await {
        Ok((view, _)) => view,
        Err(d) => {
            out.push(format!(
                "The state cannot be read: {}",
                text(&d, &session.sources)
            ));
            return out;
        }
    };
    let mut cloud = guard(&scene.cloud);
    // what pending operations may have changed
    let (mut made, mut unmade) = (BTreeSet::new(), BTreeSet::new());
    for pending in &view.pending {
        for note in &pending.notes {
            if let Some(effect) = cloud.effects.get(&**note) {
                made.extend(effect.after.as_ref().and_then(|o| thing::text(o, "id")));
                unmade.extend(effect.before.clone());
            }
        }
    }
    // Once another version of the state is written, what is still there of them is left to a refresh.
    let Cloud { drifted, gone, .. } = &mut *cloud;
    for call in ran.calls.iter().filter(|c| !c.done) {
        match call.verb {
            Verb::Create => {}
            Verb::Update => drifted.extend(call.id.clone()),
            Verb::Delete => gone.extend(call.id.clone()),
        }
    }
    drifted.extend(made.iter().cloned());
    gone.extend(unmade.iter().cloned());
    let mut remembered = BTreeMap::new();
    let mut untold = BTreeSet::new();
    for (address, instance) in view.state.instances() {
        if !address.to_string().contains("world_thing") || address.to_string().starts_with("data.")
        {
            continue;
        }
        for object in instance.current.iter().chain(instance.deposed.values()) {
            let Some(json) = object.attributes_json() else {
                out.push(format!("{address} has no attributes"));
                continue;
            };
            match value_from_json(json.get().as_bytes(), &SCHEMA.ty()) {
                Err(e) => out.push(format!("{address} cannot be read: {e}")),
                Ok(value) => match thing::text(&value, "id") {
                    None => out.push(format!("{address} has no id")),
                    Some(id) => {
                        let present = instance
                            .current
                            .as_ref()
                            .is_some_and(|c| Arc::ptr_eq(c, object));
                        if present && !object.is_tainted() && cloud.unfinished.contains(&id) {
                            untold.insert(format!("{address} ({id})"));
                        }
                        if let Some((other, _)) =
                            remembered.insert(id.clone(), (address.to_string(), value))
                        {
                            out.push(format!("{id} is in the state twice: {other} and {address}"));
                        }
                    }
                },
            }
        }
    }
    for (id, (address, value)) in &remembered {
        match cloud.objects.get(id) {
            None if unmade.contains(id) || cloud.gone.contains(id) => {}
            None => out.push(format!(
                "{address} ({id}) is in the state and does not exist"
            )),
            Some(there) if there == value => {}
            Some(_) if cloud.drifted.contains(id) || made.contains(id) => {}
            Some(there) => out.push(format!(
                "{address} ({id}) is {there:?}, the state says {value:?}"
            )),
        }
    }
    let nobodys = cloud.strays.clone();
    cloud.once_strays.extend(nobodys);
    // what was taken over is somebody's again
    cloud.strays.retain(|id| !remembered.contains_key(id));
    for id in cloud.objects.keys() {
        if !remembered.contains_key(id) && !made.contains(id) && !cloud.strays.contains(id) {
            out.push(format!("{id} exists, and the state does not know it"));
        }
    }
    for finished in untold {
        out.push(format!(
            "{finished} is as good as finished, and its provisioner failed"
        ));
    }
    out.extend(ran.illegal.iter().cloned());
    {
        let mut disk = guard(&scene.disk);
        out.append(&mut disk.illegal);
        let written = disk.snapshot.iter().chain([&disk.journal]);
        let mut written = written.map(|bytes| String::from_utf8_lossy(bytes));
        if written.any(|text| text.contains(SECRET)) {
            out.push("An ephemeral value was written".to_owned());
        }
    }
    if step.death.is_none() && !ran.killed && view.folded {
        out.push("A run that ended by itself left its journal".to_owned());
    }
    out
}

/// What does not hold of the order of what was done.
pub fn disordered(scene: &Scene, world: &World, ran: &Ran) -> Vec<String> {
    let mut out = Vec::new();
    let strays = guard(&scene.cloud).once_strays.clone();
    let name = |call: &Call| call.at.split('/').next().unwrap_or_default().to_owned();
    for call in ran.calls.iter().filter(|c| c.verb != Verb::Delete) {
        let needs = world.needs_all(&name(call));
        for other in ran.calls.iter().filter(|c| c.verb != Verb::Delete) {
            if !needs.contains(&*name(other)) || other.round != call.round {
                continue;
            }
            if other.end.is_none_or(|end| end > call.begin) {
                out.push(format!(
                    "{} was begun before {}, which it needs, was done",
                    call.at, other.at
                ));
            } else if !other.done {
                out.push(format!(
                    "{} was begun although {}, which it needs, failed",
                    call.at, other.at
                ));
            }
        }
    }
    let deletes: Vec<&Call> = ran
        .calls
        .iter()
        .filter(|c| c.verb == Verb::Delete)
        .collect();
    for call in &deletes {
        let known = |c: &&&Call| c.id.as_ref().is_none_or(|id| !strays.contains(id));
        for other in deletes.iter().filter(known) {
            let needs = call.id.as_ref().is_some_and(|id| other.links.contains(id));
            // What is replaced goes in its round, although what waits for it was made from it; and what
            // is only deleted stays.
            let replaced = ran
                .calls
                .iter()
                .any(|c| c.verb == Verb::Create && name(c) == name(call) && c.round == call.round);
            // What was taken over anew has lost what was made from it.
            let lost = call.id.as_ref().is_some_and(|id| strays.contains(id));
            if !needs || lost || (replaced && other.round > call.round) {
                continue;
            }
            if other.end.is_none_or(|end| end > call.begin) {
                out.push(format!(
                    "{} was destroyed before {}, which was made from it",
                    call.at, other.at
                ));
            } else if !other.done {
                out.push(format!(
                    "{} was destroyed although {}, made from it, was not",
                    call.at, other.at
                ));
            }
        }
    }
    out
}

/// What a run did that its mode does not say.
pub fn beyond(world: &World, step: &Step, ran: &Ran) -> Vec<String> {
    let mut out = Vec::new();
    let name = |call: &Call| call.at.split('/').next().unwrap_or_default().to_owned();
    for call in &ran.calls {
        let of = name(call);
        let wrong = match step.mode {
            Mode::RefreshOnly => true,
            Mode::Destroy => call.verb != Verb::Delete,
            Mode::Target(t) => {
                world.blocks.contains_key(&*of) && of != t && !world.takes_along(t).contains(&*of)
            }
            Mode::Exclude(t) => of == t || world.takes_along(&of).contains(t),
            Mode::DestroyTarget(_) => call.verb != Verb::Delete,
            Mode::Normal | Mode::Replace(_) | Mode::WithoutRefresh | Mode::Light => false,
        };
        if wrong {
            out.push(format!(
                "{:?} of {} in mode {:?}",
                call.verb, call.at, step.mode
            ));
        }
    }
    let imports = !world.imports.is_empty();
    if step.mode == Mode::WithoutRefresh && ran.reads > 0 && !imports && ran.faults.is_empty() {
        out.push(format!("{} reads without refresh", ran.reads));
    }
    if let (Mode::Replace(t), true) = (&step.mode, ran.complete)
        && let Some(address) = first(world, t)
        && !ran.changes.iter().any(|c| {
            c.ends_with(&address) && (c.starts_with("Create") || c.starts_with("DeleteThenCreate"))
        })
    {
        out.push(format!("{address} was not replaced: {:?}", ran.changes));
    }
    out
}
