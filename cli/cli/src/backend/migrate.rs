//! Bringing states along when a backend changes: every workspace's, one after the other, each locked in
//! both places. Lineage and serial stay, so that whoever worked with the one state goes on with the
//! other. The states that were copied stay where they were, but for one that lay in the working
//! directory unspoken of: it is set aside as a backup, lest it be taken for the state some day.

use super::Initialising;
use crate::operation::Operation;
use crate::session::Session;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_ops::{StateView, copy_state, read_state};
use formwork_state_backends::{Backup, DEFAULT_WORKSPACE, Place};
use std::path::Path;

/// What is brought where.
pub struct Wanted<'a> {
    pub from: &'a Place,
    pub to: &'a Place,
    /// Whether what was copied stays as it is.
    pub leave: bool,
    pub how: &'a Initialising<'a>,
}

/// One workspace that has something to bring.
struct Load {
    /// The workspace there.
    from: String,
    /// The one here.
    to: String,
    /// Whether there is another state here already.
    replaces: bool,
}

/// Brings the states along.
///
/// # Errors
/// Why it was not done, or not for all.
pub async fn migrate(
    session: &Session,
    operation: &Operation,
    wanted: &Wanted<'_>,
) -> Result<Diagnostics, Diagnostics> {
    let mut said = Diagnostics::new();
    let (loads, left) = loads(session, operation, wanted).await?;
    if !left.is_empty() {
        said.push(
            Diagnostic::warning(
                "Workspaces left behind",
                format!(
                    "The backend \"{}\" keeps one state, so only that of the selected workspace is brought \
                     along. Where they were stay: {}.",
                    wanted.to.backend(),
                    left.join(", ")
                ),
            )
            .hint("Give each a backend of its own."),
        );
    }
    if loads.is_empty() {
        return Ok(said);
    }
    if !wanted.how.force_copy && !approved(session, wanted, &loads)? {
        return Ok(said);
    }
    for load in &loads {
        let from = at(session, operation, wanted.from, &load.from, Backup::None)?;
        let to = at(session, operation, wanted.to, &load.to, Backup::Beside)?;
        said.append(copy_state(&from, &to).await?);
        if !wanted.leave
            && load.from == DEFAULT_WORKSPACE
            && let Some(path) = wanted.from.file(&load.from)?
        {
            set_aside(session, &path)?;
        }
        session.tell(&format!(
            "Copied the state of the workspace \"{}\" to {}.\n",
            load.from,
            to.store.describe()
        ));
    }
    if !wanted.to.has_workspaces()
        && session.workspace() != DEFAULT_WORKSPACE
        && session.environment.variable("TF_WORKSPACE").is_none()
    {
        session.select(DEFAULT_WORKSPACE)?;
    }
    Ok(said)
}

/// An operation on another state.
fn at(
    session: &Session,
    operation: &Operation,
    place: &Place,
    workspace: &str,
    backup: Backup,
) -> Result<formwork_ops::Session, Diagnostics> {
    let mut ops = operation.ops.clone();
    ops.store = place.store(&session.environment, workspace, backup)?;
    Ok(ops)
}

/// What there is to bring, and the workspaces that find no room.
async fn loads(
    session: &Session,
    operation: &Operation,
    wanted: &Wanted<'_>,
) -> Result<(Vec<Load>, Vec<String>), Diagnostics> {
    let all = if wanted.from.has_workspaces() {
        wanted.from.workspaces(&session.environment).await?
    } else {
        vec![DEFAULT_WORKSPACE.to_owned()]
    };
    let current = session.workspace();
    // of several states one that knows no others takes the selected one
    let one = !wanted.to.has_workspaces();
    let mut filled = Vec::new();
    for name in all {
        let from = at(session, operation, wanted.from, &name, Backup::None)?;
        let (view, _) = read_state(&from).await?;
        if holds(&view) {
            filled.push((name, from, view));
        }
    }
    let mut loads = Vec::new();
    let mut left = Vec::new();
    let chosen = match (one, filled.as_slice()) {
        (true, [(name, ..)]) => Some(name.clone()),
        (true, _) => Some(current),
        (false, _) => None,
    };
    for (name, from, view) in filled {
        if chosen.as_ref().is_some_and(|c| *c != name) {
            left.push(name);
            continue;
        }
        if let Some(first) = view.pending.first() {
            return Err(Diagnostic::error(
                "Operation left open",
                format!(
                    "A run that was cut short has left operations open in the state {}, one on {}. Their \
                     end must be known before the state goes elsewhere.",
                    from.store.describe(),
                    first.begun.address
                ),
            )
            .hint("Take the former backend configuration, and plan or apply: that finds out what became of them.")
            .into());
        }
        let there = if one { DEFAULT_WORKSPACE } else { &name };
        let to = at(session, operation, wanted.to, there, Backup::None)?;
        if to.store.describe() == from.store.describe()
            && wanted.to.backend() == wanted.from.backend()
        {
            continue;
        }
        let (target, _) = read_state(&to).await?;
        let same = view.snapshot.as_ref().zip(target.snapshot.as_ref());
        if same.is_some_and(|(a, b)| a.lineage == b.lineage && a.serial == b.serial)
            && view.state == target.state
        {
            continue;
        }
        loads.push(Load {
            to: there.to_owned(),
            from: name,
            replaces: holds(&target),
        });
    }
    Ok((loads, left))
}

/// Whether a state holds anything.
fn holds(view: &StateView) -> bool {
    !view.state.is_empty() || !view.pending.is_empty()
}

fn approved(session: &Session, wanted: &Wanted<'_>, loads: &[Load]) -> Result<bool, Diagnostics> {
    let replaced = loads.iter().filter(|l| l.replaces).count();
    let what = match (loads, replaced) {
        ([_], 0) => "The former backend holds a state, the new one none.".to_owned(),
        ([_], _) => {
            "Both backends hold a state. That of the new one would be replaced by the other."
                .to_owned()
        }
        (all, 0) => format!(
            "The former backend holds the states of {} workspaces: {}.",
            all.len(),
            names(all.iter())
        ),
        (all, _) => format!(
            "The former backend holds the states of {} workspaces: {}. The new one holds others of {}, \
             which would be replaced.",
            all.len(),
            names(all.iter()),
            names(all.iter().filter(|l| l.replaces))
        ),
    };
    let unanswered = || -> Diagnostics {
        Diagnostic::error(
            "Nobody can be asked whether to copy the state",
            format!("{what} Whether it is to be copied must be said, and nobody answers."),
        )
        .hint("To copy without being asked, add -force-copy. To take the new backend as it is, -reconfigure.")
        .into()
    };
    if !wanted.how.may_ask {
        return Err(unanswered());
    }
    session.streams.out(&format!(
        "Do you want to copy existing state to the new backend?\n  {what}\n  Enter \"yes\" to copy and \
         \"no\" to begin with what the new backend holds.\n\n  Enter a value: "
    ));
    let answer = session.streams.read_line().ok().flatten();
    session.streams.out("\n");
    match answer.as_deref().map(str::trim) {
        Some("yes") => Ok(true),
        Some("no") => Ok(false),
        _ => Err(unanswered()),
    }
}

fn names<'l>(loads: impl Iterator<Item = &'l Load>) -> String {
    loads
        .map(|l| l.from.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Makes a backup of a state that was copied.
fn set_aside(session: &Session, path: &Path) -> Result<(), Diagnostics> {
    let full = session.environment.working.join(path);
    let mut backup = full.clone();
    backup.as_mut_os_string().push(".backup");
    std::fs::rename(&full, &backup).map_err(|error| {
        Diagnostic::error(
            "Failed to set the former state aside",
            format!(
                "The state was copied, but {} cannot be renamed to {}: {error}.",
                path.display(),
                backup.display()
            ),
        )
        .into()
    })
}
