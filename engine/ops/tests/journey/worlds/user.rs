//! What users do between runs, and others to the world.

use super::maker::{Edit, Meddling, Mode, Step, World, address};
use super::thing::{self, SCHEMA};
use super::{Scene, process};
use crate::disk::guard;
use formwork_addresses::AbsResourceInstance;
use formwork_ops::{StateAddress, StateEdit, Word};
use formwork_values::{Type, Value, value_from_json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The user looks at the world and says what became of each open operation.
pub async fn settled(scene: &Scene, world: &World) {
    if !guard(&scene.cloud).silent && world.fars.is_empty() {
        return;
    }
    let calm = Step {
        silent: true,
        ..Step::calm(Mode::Normal)
    };
    for _ in 0..50 {
        let (session, _, _) = process(scene, world, &calm);
        let (view, _) = formwork_ops::read_state(&session).await.expect("readable");
        let Some(pending) = view.pending.first() else {
            return;
        };
        let word = {
            let cloud = guard(&scene.cloud);
            let effect = pending.notes.last().and_then(|n| cloud.effects.get(&**n));
            let id = match (effect, &pending.begun.prior) {
                (Some(effect), _) => effect.after.as_ref().and_then(|o| thing::text(o, "id")),
                (None, None) => None,
                (None, Some(prior)) => {
                    let json = prior.attributes_json().expect("JSON").get();
                    let value = value_from_json(json.as_bytes(), &SCHEMA.ty()).expect("a thing");
                    thing::text(&value, "id")
                }
            };
            // what others have deleted since is not there either
            id.filter(|id| cloud.objects.contains_key(id))
                .map_or(Word::NotThere, Word::Exists)
        };
        let address = pending.begun.address.clone();
        if formwork_ops::settle_by_word(&session, &address, &word)
            .await
            .is_err()
        {
            return;
        }
    }
}

/// What others do.
pub fn outside(scene: &Scene, step: &Step) {
    let mut cloud = guard(&scene.cloud);
    for (which, meddling) in &step.outside {
        let ids: Vec<String> = cloud.objects.keys().cloned().collect();
        let Some(id) = ids.get(which % ids.len().max(1)) else {
            continue;
        };
        let object = cloud.objects[id].clone();
        match meddling {
            Meddling::Delete => {
                cloud.objects.remove(id);
                cloud.gone.insert(id.clone());
            }
            Meddling::Change => {
                let other = thing::with(&object, &[("note", Value::string("drift"))]);
                cloud.objects.insert(id.clone(), other);
                cloud.drifted.insert(id.clone());
            }
            Meddling::Copy => {
                let copy = format!("{id}-copy");
                // made from nothing: nobody could know what it hangs on
                let own = [
                    ("id", Value::string(&copy)),
                    ("at", Value::string("stray/")),
                    ("links", Value::null(Type::list(Type::String))),
                ];
                let other = thing::with(&object, &own);
                cloud.objects.insert(copy.clone(), other);
                cloud.strays.insert(copy);
            }
        }
    }
}

/// Ids of the state's objects, by the addresses of their instances.
async fn objects(scene: &Scene, world: &World) -> BTreeMap<AbsResourceInstance, Vec<String>> {
    let (session, _, _) = process(scene, world, &Step::calm(Mode::Normal));
    let Ok((view, _)) = formwork_ops::read_state(&session).await else {
        return BTreeMap::new();
    };
    let mut all = BTreeMap::new();
    for (address, instance) in view.state.instances() {
        if !address.to_string().contains("data.") {
            let objects = instance.current.iter().chain(instance.deposed.values());
            let values = objects.filter_map(|o| {
                value_from_json(o.attributes_json()?.get().as_bytes(), &SCHEMA.ty()).ok()
            });
            all.insert(
                address,
                values.filter_map(|v| thing::text(&v, "id")).collect(),
            );
        }
    }
    all
}

/// Edits the state, and lets Terraform have written it; whether something has moved.
pub async fn edits(scene: &Scene, world: &World, step: &Step, told: &mut String) -> bool {
    let mut moved = false;
    for (which, edit) in &step.edits {
        let before = objects(scene, world).await;
        let Some(at) = before.keys().nth(which % before.len().max(1)) else {
            continue;
        };
        let instance = StateAddress::Instance(at.clone());
        let asked = match edit {
            Edit::Taint => StateEdit::Taint(at.clone()),
            Edit::Untaint => StateEdit::Untaint(at.clone()),
            Edit::Remove => StateEdit::Remove(vec![instance]),
            Edit::Move(name) => StateEdit::Move {
                from: instance,
                to: StateAddress::parse(&address(name)).expect("an address"),
            },
        };
        let (session, _, _) = process(scene, world, &Step::calm(Mode::Normal));
        let made = formwork_ops::edit_state(&session, &asked).await;
        let _ = writeln!(told, "# edit {edit:?} of {at}: {}", made.is_ok());
        if made.is_err() {
            continue;
        }
        let mut cloud = guard(&scene.cloud);
        let ids = before.get(at).into_iter().flatten();
        match edit {
            Edit::Taint => {}
            Edit::Untaint => cloud.unfinished.retain(|id| ids.clone().all(|i| i != id)),
            Edit::Remove => cloud.strays.extend(ids.cloned()),
            Edit::Move(_) => moved = true,
        }
    }
    if step.transitive {
        written_by_terraform(scene);
    }
    moved
}

/// Something is done to the state between a saved plan and its apply; whether it came to that.
pub async fn overtake(scene: &Scene, world: &World, step: &Step) -> bool {
    let before = objects(scene, world).await;
    let Some(at) = before.keys().next() else {
        return false;
    };
    let (session, _, _) = process(
        scene,
        world,
        &Step {
            death: None,
            ..step.clone()
        },
    );
    let edit = StateEdit::Taint(at.clone());
    let Ok(was) = formwork_ops::read_state(&session).await else {
        return false;
    };
    let tainted = was.0.state.object(at).is_none_or(|o| o.is_tainted());
    !tainted && formwork_ops::edit_state(&session, &edit).await.is_ok()
}

/// Terraform stores also what an object was made from far off.
fn written_by_terraform(scene: &Scene) {
    let mut disk = guard(&scene.disk);
    let (true, Some(bytes)) = (disk.journal.is_empty(), disk.snapshot.clone()) else {
        return;
    };
    let mut state: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    let mut near: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let texts = |instance: &serde_json::Value| -> BTreeSet<String> {
        let all = instance["dependencies"].as_array().into_iter().flatten();
        all.filter_map(|d| d.as_str().map(str::to_owned)).collect()
    };
    let block = |resource: &serde_json::Value| {
        let module = resource["module"].as_str().unwrap_or_default();
        let module = module.split('[').next().unwrap_or_default();
        let name = format!(
            "world_thing.{}",
            resource["name"].as_str().unwrap_or_default()
        );
        if module.is_empty() {
            name
        } else {
            format!("{module}.{name}")
        }
    };
    let resources = state["resources"].as_array().cloned().unwrap_or_default();
    for resource in resources.iter().filter(|r| r["mode"] == "managed") {
        for instance in resource["instances"].as_array().into_iter().flatten() {
            near.entry(block(resource))
                .or_default()
                .extend(texts(instance));
        }
    }
    for resource in state["resources"].as_array_mut().into_iter().flatten() {
        let own = block(resource);
        for instance in resource["instances"].as_array_mut().into_iter().flatten() {
            let (mut open, mut far) = (texts(instance), BTreeSet::new());
            while let Some(next) = open.pop_first() {
                if next != own && far.insert(next.clone()) {
                    open.extend(near.get(&next).into_iter().flatten().cloned());
                }
            }
            if !far.is_empty() {
                instance["dependencies"] = far.into_iter().collect();
            }
        }
    }
    disk.snapshot = Some(serde_json::to_vec(&state).expect("JSON"));
}
