//! `workspace list`, `show`, `new`, `select`, `delete`: several states of one configuration.
//!
//! Which one is selected stands in the file `environment` of the data directory, or in `TF_WORKSPACE`,
//! which wins. Where their states are is the backend's affair. On success nothing is written to standard
//! error: programs read both streams as one.

use crate::arguments::{Workspace as Command, WorkspaceDelete, WorkspaceNew, WorkspaceSelect};
use crate::operation::{Operation, Wanted, refused};
use crate::runtime::{Interrupts, block_on};
use crate::session::{Session, exit};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_ops::{begin_state, push_state, read_state};
use formwork_render::workspaces_json;
use formwork_state_backends::{Backup, DEFAULT_WORKSPACE, Place};

/// Runs the command.
pub fn run(session: &Session, command: &Command) -> u8 {
    match command {
        Command::Show(_) => {
            session.streams.out(&format!("{}\n", session.workspace()));
            exit::SUCCESS
        }
        Command::List(arguments) => {
            with(session, async |known| list(session, known, arguments.json))
        }
        Command::New(arguments) => new(session, arguments),
        Command::Select(arguments) => select(session, arguments),
        Command::Delete(arguments) => delete(session, arguments),
    }
}

/// The workspaces that there are, and the operation that has found them out.
struct Known {
    operation: Operation,
    /// In order, `default` first.
    names: Vec<String>,
}

/// Does something with the workspaces that there are.
fn with(session: &Session, work: impl AsyncFnOnce(&mut Known) -> u8) -> u8 {
    locked_with(session, None, work)
}

/// The same, with locks as they are wanted.
fn locked_with(
    session: &Session,
    locking: Option<&crate::arguments::Locking>,
    work: impl AsyncFnOnce(&mut Known) -> u8,
) -> u8 {
    block_on(session, async |interrupts| {
        let mut known = match known(session, interrupts, locking).await {
            Ok(known) => known,
            Err(code) => return code,
        };
        let code = work(&mut known).await;
        known.operation.end().await;
        code
    })
}

async fn known(
    session: &Session,
    interrupts: &Interrupts,
    locking: Option<&crate::arguments::Locking>,
) -> Result<Known, u8> {
    let wanted = Wanted {
        locking: locking.cloned(),
        for_program: true,
        // names can be had without it, but a state must be of the cloud that is meant
        no_cloud: locking.is_none(),
        ..Wanted::default()
    };
    let (operation, _) = Operation::begin(session, interrupts, &wanted)
        .await
        .map_err(|refusal| refused(session, &refusal))?;
    match operation.place.workspaces(&session.environment).await {
        Ok(names) => Ok(Known { operation, names }),
        Err(said) => {
            let code = session.say(&said, &SourceMap::new());
            operation.end().await;
            Err(code)
        }
    }
}

impl Known {
    /// An operation on the state of another workspace.
    fn at(&self, session: &Session, name: &str) -> Result<formwork_ops::Session, Diagnostics> {
        let mut ops = self.operation.ops.clone();
        let place = &self.operation.place;
        ops.store = place.store(&session.environment, name, Backup::None)?;
        Ok(ops)
    }
}

fn list(session: &Session, known: &Known, json: bool) -> u8 {
    let current = session.workspace();
    if json {
        session
            .streams
            .out(&workspaces_json(&known.names, &current));
        return exit::SUCCESS;
    }
    let mut text = String::new();
    for name in &known.names {
        let mark = if *name == current { '*' } else { ' ' };
        text.push_str(&format!("{mark} {name}\n"));
    }
    text.push('\n');
    session.streams.out(&text);
    exit::SUCCESS
}

/// Whether a name can be part of a path and of an address as it stands.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !matches!(name, "." | "..")
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.~$&+=:@".contains(c))
}

/// Refuses a name, or a change of what the environment decides.
fn refuse(session: &Session, name: &str) -> Result<(), Diagnostics> {
    if !is_name(name) {
        return Err(Diagnostic::error(
            "Invalid workspace name",
            format!(
                "{name:?} cannot be the name of a workspace: it becomes part of paths and addresses, so \
                 it consists of letters, digits and the characters - _ . ~ $ & + = : @ only."
            ),
        )
        .into());
    }
    if session.environment.variable("TF_WORKSPACE").is_some() {
        return Err(Diagnostic::error(
            "Workspace is set by the environment",
            "TF_WORKSPACE says which workspace is selected, whatever is selected here.",
        )
        .hint("Unset TF_WORKSPACE, or set it to the workspace you want.")
        .into());
    }
    Ok(())
}

fn chosen(session: &Session, name: &str, text: &str) -> u8 {
    match session.select(name) {
        Ok(()) => {
            session.streams.out(text);
            exit::SUCCESS
        }
        Err(said) => session.say(&said, &SourceMap::new()),
    }
}

/// Makes a workspace, whose state is empty or what is given, and selects it.
async fn make(
    session: &Session,
    known: &Known,
    name: &str,
    state: Option<(String, Vec<u8>)>,
) -> u8 {
    let made = async {
        let ops = known.at(session, name)?;
        if let Place::Local { folder, .. } = &known.operation.place {
            // a folder is enough, and what Terraform makes
            let folder = session.environment.working.join(folder).join(name);
            std::fs::create_dir_all(&folder).map_err(|error| {
                Diagnostics::from(Diagnostic::error(
                    "Failed to create workspace",
                    format!("The folder of the workspace {name:?} cannot be made: {error}."),
                ))
            })?;
        } else if state.is_none() {
            return begin_state(&ops).await;
        }
        match state {
            Some((path, bytes)) => push_state(&ops, &bytes, &path, false).await,
            None => Ok(Diagnostics::new()),
        }
    };
    match made.await {
        Ok(said) => {
            session.say(&said, &SourceMap::new());
        }
        Err(said) => return session.say(&said, &SourceMap::new()),
    }
    let text = format!(
        "Created and switched to workspace \"{name}\"!\n\nIts state is its own: what has been applied in \
         another workspace is not seen here.\n"
    );
    chosen(session, name, &session.style.good(&text))
}

fn new(session: &Session, arguments: &WorkspaceNew) -> u8 {
    let name = &arguments.name;
    if let Err(said) = refuse(session, name) {
        return session.say(&said, &SourceMap::new());
    }
    let state = match &arguments.state {
        None => None,
        Some(path) => match std::fs::read(session.environment.working.join(path)) {
            Ok(bytes) => Some((path.display().to_string(), bytes)),
            Err(error) => {
                return session.fail(
                    "Failed to read the state",
                    format!("{} cannot be read: {error}.", path.display()),
                );
            }
        },
    };
    locked_with(session, Some(&arguments.locking), async |known| {
        if known.names.contains(name) {
            return session.fail(
                "Workspace already exists",
                format!("Workspace \"{name}\" already exists"),
            );
        }
        make(session, known, name, state).await
    })
}

fn select(session: &Session, arguments: &WorkspaceSelect) -> u8 {
    let name = &arguments.name;
    if let Err(said) = refuse(session, name) {
        return session.say(&said, &SourceMap::new());
    }
    if *name == session.workspace() {
        return exit::SUCCESS;
    }
    with(session, async |known| {
        if known.names.contains(name) {
            let text = format!("Switched to workspace \"{name}\".\n");
            return chosen(session, name, &session.style.good(&text));
        }
        if arguments.or_create {
            return make(session, known, name, None).await;
        }
        let mut d = Diagnostic::error(
            "No such workspace",
            format!("Workspace \"{name}\" doesn't exist."),
        );
        let names = known.names.iter().map(String::as_str);
        if let Some(near) = formwork_diagnostics::nearest(name, names) {
            d = d.hint(format!("Did you mean \"{near}\"?"));
        }
        let d = d.hint("\"workspace new\" makes one, and so does -or-create here.");
        session.say(&d.into(), &SourceMap::new())
    })
}

fn delete(session: &Session, arguments: &WorkspaceDelete) -> u8 {
    let name = &arguments.name;
    if !is_name(name) {
        return match refuse(session, name) {
            Err(said) => session.say(&said, &SourceMap::new()),
            Ok(()) => exit::FAILURE,
        };
    }
    locked_with(session, Some(&arguments.locking), async |known| {
        if !known.names.contains(name) {
            return session.fail(
                "No such workspace",
                format!("Workspace \"{name}\" doesn't exist."),
            );
        }
        if *name == session.workspace() {
            return session.fail(
                "Workspace is selected",
                format!(
                    "Workspace \"{name}\" is your active workspace, which cannot be deleted. Select another \
                     one first."
                ),
            );
        }
        if name == DEFAULT_WORKSPACE {
            return session.fail(
                "Default workspace cannot be deleted",
                "The workspace \"default\" is always there.",
            );
        }
        match remove(session, known, name, arguments.force).await {
            Ok(()) => {
                let text = format!("Deleted workspace \"{name}\"!\n");
                session.streams.out(&session.style.good(&text));
                exit::SUCCESS
            }
            Err(said) => session.say(&said, &SourceMap::new()),
        }
    })
}

/// Deletes a workspace that holds nothing, or any.
async fn remove(
    session: &Session,
    known: &Known,
    name: &str,
    force: bool,
) -> Result<(), Diagnostics> {
    let ops = known.at(session, name)?;
    let held = match read_state(&ops).await {
        Ok((view, _)) => view.state.instance_count() + view.pending.len(),
        // what cannot be read may hold anything
        Err(_) if force => 1,
        Err(said) => return Err(said),
    };
    if held > 0 && !force {
        return Err(Diagnostic::error(
            "Workspace is not empty",
            format!(
                "Workspace \"{name}\" remembers {held} object(s), which would be forgotten and go on \
                 existing."
            ),
        )
        .hint("Destroy them first. -force deletes the workspace all the same.")
        .into());
    }
    let place = &known.operation.place;
    formwork_ops::with_lock(&ops, "workspace-delete", async || {
        place.delete(&session.environment, name).await
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names() {
        for good in ["a", "prod-1", "a.b", "x@y", "~"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "a b", "ä", "a%", "a?"] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
