//! Edits of the state by hand: moving, removing, tainting, another provider, another state altogether.
//!
//! An edit changes what is remembered and nothing in the world. It holds the state and its journal like
//! any run, folds the journal first, and is written as one new version of the state: a process that dies
//! leaves the old state or the new one. An object with an operation left open is not edited: what is
//! remembered of it may not be so.
//!
//! What depends on an object keeps a true list of what it depends on: an address that has moved is
//! renamed in it, one that is gone gives way to what it had itself depended on. So the order of a later
//! destroy is not lost.

use crate::session::Session;
use crate::state::{Held, begin_journal, end_journal, hold, write};
use formwork_addresses::{
    AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance, ProviderAddr,
};
use formwork_diagnostics::{Diagnostic, Diagnostics, Severity, nearest};
use formwork_state::{MoveError, ObjectStatus, Snapshot, State, v4};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// What of a state is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateAddress {
    /// All that lies in a module instance; without keys, in all instances of the calls, but where
    /// something is to be moved.
    Module(ModuleInstance),
    /// A resource with all its instances, or its only instance where it has no key.
    Resource(AbsResource),
    /// One instance that has a key.
    Instance(AbsResourceInstance),
}

impl StateAddress {
    /// Reads an address; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(resource) = text.parse() {
            return Some(Self::Resource(resource));
        }
        if let Ok(instance) = text.parse() {
            return Some(Self::Instance(instance));
        }
        text.parse().ok().map(Self::Module)
    }

    /// Whether an instance is meant by it.
    pub fn takes(&self, address: &AbsResourceInstance) -> bool {
        match self {
            Self::Module(m) => address.module.is_within_any(m),
            Self::Resource(r) => address.abs_resource() == *r,
            Self::Instance(i) => address == i,
        }
    }
}

impl fmt::Display for StateAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Module(m) => m.fmt(f),
            Self::Resource(r) => r.fmt(f),
            Self::Instance(i) => i.fmt(f),
        }
    }
}

/// An edit.
#[derive(Clone, Debug)]
pub enum StateEdit {
    /// To another address.
    Move {
        /// From here.
        from: StateAddress,
        /// To here.
        to: StateAddress,
    },
    /// Out of the state. The objects stay in the world, and nobody knows of them any more.
    Remove(Vec<StateAddress>),
    /// The next plan replaces the object.
    Taint(AbsResourceInstance),
    /// The next plan does not replace the object.
    Untaint(AbsResourceInstance),
    /// Another provider handles the resources of this one.
    ReplaceProvider {
        /// Instead of this.
        from: ProviderAddr,
        /// This.
        to: ProviderAddr,
    },
}

/// What an edit did, or would do.
#[derive(Clone, Debug, Default)]
pub struct Edited {
    /// The instances, or for another provider the resources, that it concerns, in order; after a move by
    /// their old addresses.
    pub addresses: Vec<String>,
    /// What there is to say of it.
    pub warnings: Diagnostics,
}

/// Makes an edit.
///
/// # Errors
/// Why it cannot be made; the state is then as it was.
pub async fn edit_state(
    session: &Session,
    edit: &StateEdit,
) -> Result<(Edited, Diagnostics), Diagnostics> {
    let (mut held, mut said) = hold(session, operation(edit)).await?;
    let result = make(session, &mut held, edit).await;
    let released = held.release(session).await;
    match result {
        Ok(edited) => {
            said.append(released);
            Ok((edited, said))
        }
        Err(mut d) => {
            d.append(released);
            Err(d)
        }
    }
}

/// What an edit would do; nothing is locked or written.
///
/// # Errors
/// Why it could not be made.
pub async fn preview_state_edit(
    session: &Session,
    edit: &StateEdit,
) -> Result<(Edited, Diagnostics), Diagnostics> {
    let (view, said) = crate::state::read_state(session).await?;
    let (edited, _) = edited(&view.state, edit)?;
    Ok((edited, said))
}

fn operation(edit: &StateEdit) -> &'static str {
    match edit {
        StateEdit::Move { .. } => "state-mv",
        StateEdit::Remove(_) => "state-rm",
        StateEdit::Taint(_) => "taint",
        StateEdit::Untaint(_) => "untaint",
        StateEdit::ReplaceProvider { .. } => "state-replace-provider",
    }
}

async fn make(session: &Session, held: &mut Held, edit: &StateEdit) -> Result<Edited, Diagnostics> {
    let before = held.view().state.clone();
    let (edited, after) = edited(&before, edit)?;
    put(session, held, &before, after).await?;
    Ok(edited)
}

/// Puts another content in the place of the state held, if no open operation is concerned.
pub(crate) async fn put(
    session: &Session,
    held: &mut Held,
    before: &State,
    after: State,
) -> Result<(), Diagnostics> {
    let pending = held.view().pending.clone();
    for open in &pending {
        let address = &open.begun.address;
        if before.instance(address) != after.instance(address) {
            return Err(Diagnostic::error(
                "Operation left open",
                format!(
                    "A run that was cut short had begun the {}, and its end is not known: what the state \
                     holds at this address may not be what there is. Nothing was changed.",
                    open.begun.describe()
                ),
            )
            .about(address)
            .hint("The next plan or apply finds out what became of it. If it cannot, \"state settle\" takes your word for it.")
            .into());
        }
    }
    if after == *before {
        return Ok(());
    }
    held.own_journal(session).await?;
    let lineage = held.lineage(session);
    if held.view().folded || !pending.is_empty() {
        // what the journal says goes into the state first, so that the journal is about what is open
        write(session, held, &lineage, before.clone()).await?;
        begin_journal(session, held, &lineage, &pending).await?;
    }
    write(session, held, &lineage, after).await?;
    end_journal(session, held, &lineage, &pending).await
}

/// The state after an edit.
fn edited(before: &State, edit: &StateEdit) -> Result<(Edited, State), Diagnostics> {
    let mut after = before.clone();
    let mut moved = BTreeMap::new();
    let mut warnings = Diagnostics::new();
    let addresses = match edit {
        StateEdit::Move { from, to } => move_to(&mut after, from, to, &mut moved)?,
        StateEdit::Remove(wanted) => remove(&mut after, wanted, &mut warnings)?,
        StateEdit::Taint(address) => {
            set_status(&mut after, address, ObjectStatus::Tainted)?;
            vec![address.to_string()]
        }
        StateEdit::Untaint(address) => {
            let object = after
                .object(address)
                .ok_or_else(|| no_instance(before, address))?;
            if !object.is_tainted() {
                return Err(Diagnostic::error(
                    "Resource instance is not tainted",
                    "The object is not tainted, so there is no taint to take away.",
                )
                .about(address)
                .into());
            }
            set_status(&mut after, address, ObjectStatus::Ready)?;
            vec![address.to_string()]
        }
        StateEdit::ReplaceProvider { from, to } => {
            let all: Vec<AbsResource> = before
                .resources()
                .filter(|(_, r)| r.provider.provider == *from)
                .map(|(a, _)| a.clone())
                .collect();
            for address in &all {
                if let Some(resource) = before.resource(address) {
                    let mut provider = resource.provider.clone();
                    provider.provider = to.clone();
                    after.set_provider(address, &provider);
                }
            }
            all.iter().map(ToString::to_string).collect()
        }
    };
    mend_dependencies(before, &mut after, &moved);
    Ok((
        Edited {
            addresses,
            warnings,
        },
        after,
    ))
}

fn set_status(
    state: &mut State,
    address: &AbsResourceInstance,
    status: ObjectStatus,
) -> Result<(), Diagnostics> {
    let found = state
        .object(address)
        .cloned()
        .zip(state.provider(address).cloned());
    let Some((object, provider)) = found else {
        return Err(no_instance(state, address));
    };
    if object.status != status {
        let mut object = Arc::unwrap_or_clone(object);
        object.status = status;
        state.set_object(address, &provider, object);
    }
    Ok(())
}

/// There is nothing at this address.
fn no_instance(state: &State, address: &AbsResourceInstance) -> Diagnostics {
    let d = Diagnostic::error(
        "No such resource instance",
        format!(
            "The state holds no object at {address}. What has only been written into the configuration is \
             there after it has been applied."
        ),
    );
    near(state, &address.to_string(), d).into()
}

/// With the address that may have been meant.
fn near(state: &State, text: &str, d: Diagnostic) -> Diagnostic {
    let all: Vec<String> = state.instances().map(|(a, _)| a.to_string()).collect();
    match nearest(text, all.iter().map(String::as_str)) {
        Some(near) => d.hint(format!("Did you mean {near}?")),
        None => d,
    }
}

fn nothing_at(state: &State, address: &StateAddress, summary: &str) -> Diagnostics {
    let d = Diagnostic::error(summary, format!("The state holds nothing at {address}."));
    let d = near(state, &address.to_string(), d);
    d.hint("\"state list\" shows what there is.").into()
}

fn remove(
    state: &mut State,
    wanted: &[StateAddress],
    warnings: &mut Diagnostics,
) -> Result<Vec<String>, Diagnostics> {
    let mut gone = BTreeSet::new();
    let mut missing = Diagnostics::new();
    for address in wanted {
        let found: Vec<AbsResourceInstance> = state
            .instances()
            .map(|(a, _)| a)
            .filter(|a| address.takes(a))
            .collect();
        if found.is_empty() {
            missing.append(nothing_at(state, address, "Invalid target address"));
        }
        gone.extend(found);
    }
    // as in Terraform, only nothing at all is an error
    if gone.is_empty() {
        return Err(missing);
    }
    warnings.extend(missing.into_iter().map(|mut d| {
        d.severity = Severity::Warning;
        d
    }));
    for address in &gone {
        state.remove_instance(address);
    }
    Ok(gone.iter().map(ToString::to_string).collect())
}

fn move_to(
    state: &mut State,
    from: &StateAddress,
    to: &StateAddress,
    moved: &mut BTreeMap<AbsResource, AbsResource>,
) -> Result<Vec<String>, Diagnostics> {
    let request = |why: String| -> Diagnostics {
        Diagnostic::error(
            "Invalid state move request",
            format!("{from} cannot be moved to {to}: {why}."),
        )
        .into()
    };
    let failed = |e: MoveError, state: &State| match e {
        MoveError::NothingThere(_) => nothing_at(state, from, "Invalid source address"),
        MoveError::Occupied(taken) => request(format!(
            "there is an object at {taken} already, which would be lost"
        )),
    };
    let addresses = state
        .instances()
        .map(|(a, _)| a)
        .filter(|a| from.takes(a))
        .map(|a| a.to_string())
        .collect();
    let kinds = |a: &AbsResource, b: &AbsResource| {
        if a.resource.mode != b.resource.mode {
            Err(request(
                "one is a managed resource, the other is not".to_owned(),
            ))
        } else if a.resource.kind != b.resource.kind {
            Err(request(format!(
                "an object of type {} cannot become one of type {}. A moved block can do that where the \
                 provider knows how",
                a.resource.kind, b.resource.kind
            )))
        } else {
            Ok(())
        }
    };
    match (from, to) {
        (StateAddress::Module(a), StateAddress::Module(b)) => {
            if a.is_root() || b.is_root() {
                return Err(request("the root module cannot be moved".to_owned()));
            }
            if b.is_within(a) && a != b {
                return Err(request("the one lies within the other".to_owned()));
            }
            let all: Vec<AbsResource> = state
                .resources()
                .map(|(address, _)| address.clone())
                .filter(|r| r.module.is_within(a))
                .collect();
            let snapshot = state.clone();
            state.move_module(a, b).map_err(|e| failed(e, &snapshot))?;
            for old in all {
                let below = old.module.steps().iter().skip(a.steps().len());
                let module = below.fold(b.clone(), |m, step| m.child(&step.name, step.key.clone()));
                let new = AbsResource {
                    module,
                    resource: old.resource.clone(),
                };
                moved.insert(old, new);
            }
        }
        (StateAddress::Resource(a), StateAddress::Resource(b)) => {
            kinds(a, b)?;
            // into a resource that has instances with keys there is no place for all of another
            state.move_resource(a, b).map_err(|e| failed(e, state))?;
            moved.insert(a.clone(), b.clone());
        }
        (StateAddress::Instance(_) | StateAddress::Resource(_), _) => {
            let (a, b) = match (instance(from), instance(to)) {
                (Some(a), Some(b)) => (a, b),
                _ => return Err(request("the one is a module, the other is not".to_owned())),
            };
            kinds(&a.abs_resource(), &b.abs_resource())?;
            if let StateAddress::Resource(whole) = from
                && state.instance(&a).is_none()
                && state.resource(whole).is_some()
            {
                return Err(Diagnostic::error(
                    "Invalid target address",
                    format!(
                        "{from} has instances with keys, and all of them cannot become the one instance \
                         {to}."
                    ),
                )
                .hint("Move one instance, such as ADDRESS[0], or give a whole resource as the destination.")
                .into());
            }
            state.move_instance(&a, &b).map_err(|e| failed(e, state))?;
            moved.insert(a.abs_resource(), b.abs_resource());
        }
        (StateAddress::Module(_), _) => {
            return Err(request("the one is a module, the other is not".to_owned()));
        }
    }
    Ok(addresses)
}

fn instance(address: &StateAddress) -> Option<AbsResourceInstance> {
    match address {
        StateAddress::Module(_) => None,
        StateAddress::Resource(r) => Some(r.instance(InstanceKey::None)),
        StateAddress::Instance(i) => Some(i.clone()),
    }
}

/// Names what objects depend on anew: what has moved wholly by its new address, what is gone by what it
/// had depended on.
fn mend_dependencies(
    before: &State,
    after: &mut State,
    moved: &BTreeMap<AbsResource, AbsResource>,
) {
    let gone: BTreeSet<AbsResource> = before
        .resources()
        .map(|(a, _)| a.clone())
        .filter(|a| after.resource(a).is_none())
        .collect();
    if gone.is_empty() {
        return;
    }
    let mut stands_for: BTreeMap<AbsResource, Arc<[AbsResource]>> = BTreeMap::new();
    for address in &gone {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut next = vec![address.clone()];
        while let Some(a) = next.pop() {
            if !seen.insert(a.clone()) {
                continue;
            }
            if !gone.contains(&a) {
                found.insert(a);
            } else if let Some(new) = moved.get(&a) {
                found.insert(new.clone());
            } else if let Some(resource) = before.resource(&a) {
                let objects = resource.instances.values().flat_map(|i| i.current.iter());
                next.extend(objects.flat_map(|o| o.dependencies.iter().cloned()));
            }
        }
        stands_for.insert(address.clone(), found.into_iter().collect());
    }
    let concerned: Vec<AbsResource> = after
        .resources()
        .filter(|(_, r)| {
            let mut objects = r
                .instances
                .values()
                .flat_map(|i| i.current.iter().chain(i.deposed.values()));
            objects.any(|o| o.dependencies.iter().any(|d| gone.contains(d)))
        })
        .map(|(a, _)| a.clone())
        .collect();
    for address in concerned {
        let Some(resource) = after.resource(&address) else {
            continue;
        };
        let mut resource = resource.clone();
        for instance in resource.instances.values_mut() {
            let instance = Arc::make_mut(instance);
            for object in instance
                .current
                .iter_mut()
                .chain(instance.deposed.values_mut())
            {
                if object.dependencies.iter().any(|d| gone.contains(d)) {
                    let mut all: BTreeSet<AbsResource> = BTreeSet::new();
                    for d in object.dependencies.iter() {
                        match stands_for.get(d) {
                            Some(others) => all.extend(others.iter().cloned()),
                            None => {
                                all.insert(d.clone());
                            }
                        }
                    }
                    all.remove(&address);
                    Arc::make_mut(object).dependencies = all.into_iter().collect();
                }
            }
        }
        after.set_resource(address, resource);
    }
}

/// Puts the state of a file in the place of the one there is.
///
/// # Errors
/// That it is of another lineage or older than the one there is and `force` is not said, or why it cannot
/// be read or written.
pub async fn push_state(
    session: &Session,
    bytes: &[u8],
    name: &str,
    force: bool,
) -> Result<Diagnostics, Diagnostics> {
    let mut said = Diagnostics::new();
    let snapshot = said.take(v4::read(bytes, name));
    if said.has_errors() {
        return Err(said);
    }
    let Some(new) = snapshot else {
        return Err(Diagnostic::error(
            "Failed to read the state",
            format!("{name} holds no state."),
        )
        .into());
    };
    crate::state::same_cloud(new.cloud().as_deref(), session.cloud.as_deref(), name)?;
    let (mut held, problems) = hold(session, "state-push").await?;
    said.append(problems);
    let result = push(session, &mut held, new, force).await;
    let released = held.release(session).await;
    match result {
        Ok(()) => {
            said.append(released);
            Ok(said)
        }
        Err(mut d) => {
            d.append(released);
            Err(d)
        }
    }
}

pub(crate) async fn push(
    session: &Session,
    held: &mut Held,
    new: Snapshot,
    force: bool,
) -> Result<(), Diagnostics> {
    let there = held.view().snapshot.as_ref();
    let refused = |why: String| -> Diagnostics {
        Diagnostic::error("Failed to write state", why)
            .hint("Look at both before you decide: \"state pull\" writes the one there is. -force puts the new one in its place all the same.")
            .into()
    };
    if let Some(old) = there.filter(|_| !force) {
        if old.lineage != new.lineage && !old.lineage.is_empty() {
            return Err(refused(format!(
                "The state to be written has the lineage {:?}, the one there is {:?}: they are of two \
                 different beginnings, and the objects of the one there is would be forgotten.",
                new.lineage, old.lineage
            )));
        }
        if old.serial > new.serial {
            return Err(refused(format!(
                "The state to be written has the serial {}, the one there is {}: it is older, and what has \
                 happened since would be forgotten.",
                new.serial, old.serial
            )));
        }
        if old.serial == new.serial && (old.state != new.state || held.view().folded) {
            return Err(refused(format!(
                "Both states have the serial {}, but not the same content: somebody has changed one of \
                 them by hand.",
                new.serial
            )));
        }
    }
    if !held.view().pending.is_empty() {
        return Err(Diagnostic::error(
            "Operation left open",
            "A run that was cut short has left operations open whose end is not known. The state that is \
             pushed would not know of their objects.",
        )
        .hint("The next plan or apply finds out what became of them.")
        .into());
    }
    held.own_journal(session).await?;
    session.store.write_snapshot(&v4::write(&new)).await?;
    session.store.replace_journal(Vec::new()).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_addresses::AbsProviderConfig;
    use formwork_state::{RawJson, ResourceInstanceObject};

    fn state(objects: &[(&str, &[&str])]) -> State {
        let provider: AbsProviderConfig = "provider[\"terraform.io/builtin/terraform\"]"
            .parse()
            .expect("a provider");
        let mut state = State::new();
        for (address, dependencies) in objects {
            let mut object = ResourceInstanceObject::new(0, RawJson::parse("{}").expect("JSON"));
            object.dependencies = dependencies
                .iter()
                .map(|d| d.parse().expect("an address"))
                .collect();
            state.set_object(&address.parse().expect("an address"), &provider, object);
        }
        state
    }

    fn shown(state: &State) -> String {
        let lines = state.instances().map(|(address, instance)| {
            let current = instance.current.as_ref().expect("current");
            let needs: Vec<String> = current
                .dependencies
                .iter()
                .map(ToString::to_string)
                .collect();
            let taint = if current.is_tainted() { " tainted" } else { "" };
            format!("{address}{taint} <- {}", needs.join(" "))
                .trim_end_matches(" <- ")
                .to_owned()
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn address(text: &str) -> StateAddress {
        StateAddress::parse(text).expect("an address")
    }

    fn check(objects: &[(&str, &[&str])], edit: StateEdit, want: Result<&str, &str>) {
        let before = state(objects);
        match (edited(&before, &edit), want) {
            (Ok((_, after)), Ok(want)) => assert_eq!(shown(&after), want, "{edit:?}"),
            (Err(d), Err(want)) => {
                let text: String = d
                    .iter()
                    .map(|d| format!("{}: {} {:?}", d.summary, d.detail, d.hints))
                    .collect();
                assert!(text.contains(want), "{edit:?}: {text}");
            }
            (Ok((_, after)), Err(want)) => {
                panic!("{edit:?}: {want} expected, got {}", shown(&after))
            }
            (Err(d), Ok(_)) => panic!("{edit:?}: {d:?}"),
        }
    }

    const A: &str = "terraform_data.a";
    const B0: &str = "terraform_data.b[0]";
    const B1: &str = "terraform_data.b[1]";
    const C: &str = "terraform_data.c";
    const MX: &str = "module.m.terraform_data.x";

    fn world() -> Vec<(&'static str, &'static [&'static str])> {
        vec![
            (A, &[]),
            (B0, &[A]),
            (B1, &[A]),
            (C, &["terraform_data.b"]),
            (MX, &[A, C]),
        ]
    }

    #[test]
    fn moves() {
        let go = |from: &str, to: &str, want| {
            let edit = StateEdit::Move {
                from: address(from),
                to: address(to),
            };
            check(&world(), edit, want);
        };
        // dependents follow a resource that has moved wholly
        go(
            A,
            "terraform_data.z",
            Ok(
                "terraform_data.b[0] <- terraform_data.z\nterraform_data.b[1] <- terraform_data.z\n\
             terraform_data.c <- terraform_data.b\nterraform_data.z\n\
             module.m.terraform_data.x <- terraform_data.c terraform_data.z",
            ),
        );
        go(
            "terraform_data.b",
            "terraform_data.n",
            Ok("terraform_data.a\nterraform_data.c <- terraform_data.n\n\
             terraform_data.n[0] <- terraform_data.a\nterraform_data.n[1] <- terraform_data.a\nmodule.m.terraform_data.x <- terraform_data.a terraform_data.c"),
        );
        // one of two instances: the resource is still there
        go(
            B0,
            "terraform_data.n[\"k\"]",
            Ok(
                "terraform_data.a\nterraform_data.b[1] <- terraform_data.a\nterraform_data.c <- terraform_data.b\n\
             terraform_data.n[\"k\"] <- terraform_data.a\nmodule.m.terraform_data.x <- terraform_data.a terraform_data.c",
            ),
        );
        go(
            "module.m",
            "module.n[\"x\"]",
            Ok(
                "terraform_data.a\nterraform_data.b[0] <- terraform_data.a\nterraform_data.b[1] <- terraform_data.a\n\
             terraform_data.c <- terraform_data.b\n\
             module.n[\"x\"].terraform_data.x <- terraform_data.a terraform_data.c",
            ),
        );
        go(
            MX,
            "terraform_data.x[0]",
            Ok(
                "terraform_data.a\nterraform_data.b[0] <- terraform_data.a\nterraform_data.b[1] <- terraform_data.a\n\
             terraform_data.c <- terraform_data.b\nterraform_data.x[0] <- terraform_data.a terraform_data.c",
            ),
        );
        go(
            "terraform_data.b",
            "terraform_data.n[4]",
            Err("Invalid target address"),
        );
        go(
            A,
            "null_resource.z",
            Err("cannot become one of type null_resource"),
        );
        go(A, "data.terraform_data.z", Err("one is a managed resource"));
        go(A, C, Err("an object at terraform_data.c already"));
        go(B0, B1, Err("an object at terraform_data.b[1] already"));
        go(
            "terraform_data.aa",
            "terraform_data.z",
            Err("Did you mean terraform_data.a?"),
        );
        go("module.m", "terraform_data.z", Err("the one is a module"));
        go("module.m", "module.m.module.n", Err("within the other"));
    }

    #[test]
    fn removals() {
        let go = |wanted: &[&str], want| {
            let edit = StateEdit::Remove(wanted.iter().map(|a| address(a)).collect());
            check(&world(), edit, want);
        };
        // what depended on what is gone depends on what that depended on
        go(
            &["terraform_data.b", C],
            Ok("terraform_data.a\nmodule.m.terraform_data.x <- terraform_data.a"),
        );
        go(
            &[B0, "module.m"],
            Ok(
                "terraform_data.a\nterraform_data.b[1] <- terraform_data.a\nterraform_data.c <- terraform_data.b",
            ),
        );
        go(
            &["terraform_data.nope"],
            Err("nothing at terraform_data.nope"),
        );
        let (edited, _) = edited(
            &state(&world()),
            &StateEdit::Remove(vec![address(A), address("terraform_data.nope")]),
        )
        .expect("one is there");
        assert_eq!((edited.addresses.len(), edited.warnings.len()), (1, 1));
    }

    #[test]
    fn taints() {
        let one: &[(&str, &[&str])] = &[(A, &[])];
        check(
            one,
            StateEdit::Taint(A.parse().expect("an address")),
            Ok("terraform_data.a tainted"),
        );
        check(
            one,
            StateEdit::Untaint(A.parse().expect("an address")),
            Err("not tainted"),
        );
        check(
            one,
            StateEdit::Taint(C.parse().expect("an address")),
            Err("No such resource instance"),
        );
    }
}
