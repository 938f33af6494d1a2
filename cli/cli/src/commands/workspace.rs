//! `workspace list`, `show`, `new`, `select`, `delete`: several states of one configuration.
//!
//! Which one is selected stands in the file `environment` of the data directory, or in `TF_WORKSPACE`,
//! which wins. The states of workspaces other than `default` lie where Terraform has them: in a folder
//! each of `terraform.tfstate.d`, or of the backend's `workspace_dir`.

use crate::arguments::{
    Inputs, Workspace as Command, WorkspaceDelete, WorkspaceNew, WorkspaceSelect,
};
use crate::inputs::gather;
use crate::modules;
use crate::operation::{Operation, Wanted, refused};
use crate::preview::Preview;
use crate::runtime::block_on;
use crate::session::{Session, exit};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_ops::{push_state, read_state};
use formwork_render::workspaces_json;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

const DEFAULT: &str = "default";

/// Runs the command.
pub fn run(session: &Session, command: &Command) -> u8 {
    match command {
        Command::Show(_) => {
            session.streams.out(&format!("{}\n", session.workspace()));
            exit::SUCCESS
        }
        Command::List(arguments) => list(session, arguments.json),
        Command::New(arguments) => new(session, arguments),
        Command::Select(arguments) => select(session, arguments),
        Command::Delete(arguments) => delete(session, arguments),
    }
}

/// The folder of the workspaces' states.
fn folder(session: &Session) -> Result<PathBuf, u8> {
    // where the folder is may depend on variables; what is wrong with them is for others to say
    let (values, _) = gather(session, &Inputs::default());
    let preview = Preview::of_directory(
        session,
        Some(&values),
        Arc::new(modules::installed(session)),
    );
    preview
        .workspace_folder(session)
        .map(|folder| session.environment.working.join(folder))
        .map_err(|said| session.say(&said, &preview.sources))
}

/// All workspaces, in order, `default` first.
fn all(folder: &std::path::Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    match std::fs::read_dir(folder) {
        Ok(entries) => {
            for entry in entries {
                let entry = entry?;
                if entry.file_type()?.is_dir()
                    && let Ok(name) = entry.file_name().into_string()
                    && name != DEFAULT
                {
                    names.push(name);
                }
            }
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    names.sort();
    names.insert(0, DEFAULT.to_owned());
    Ok(names)
}

fn known(session: &Session) -> Result<(PathBuf, Vec<String>), u8> {
    let folder = folder(session)?;
    let names = all(&folder).map_err(|error| {
        session.fail(
            "Failed to list workspaces",
            format!("The folder {} cannot be read: {error}.", folder.display()),
        )
    })?;
    Ok((folder, names))
}

fn list(session: &Session, json: bool) -> u8 {
    let (_, names) = match known(session) {
        Ok(known) => known,
        Err(code) => return code,
    };
    let current = session.workspace();
    if json {
        session.streams.out(&workspaces_json(&names, &current));
        return exit::SUCCESS;
    }
    let mut text = String::new();
    for name in &names {
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

/// Writes down which workspace is selected.
fn remember(session: &Session, name: &str) -> io::Result<()> {
    let folder = session.environment.working.join(&session.data_directory);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("environment"), name)
}

fn chosen(session: &Session, name: &str, text: &str) -> u8 {
    match remember(session, name) {
        Ok(()) => {
            session.streams.out(text);
            exit::SUCCESS
        }
        Err(error) => session.fail(
            "Failed to select workspace",
            format!(
                "Which workspace is selected cannot be written into {}: {error}.",
                session.data_directory.display()
            ),
        ),
    }
}

fn make(session: &Session, folder: &std::path::Path, name: &str) -> u8 {
    if let Err(error) = std::fs::create_dir_all(folder.join(name)) {
        return session.fail(
            "Failed to create workspace",
            format!("The folder of the workspace {name:?} cannot be made: {error}."),
        );
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
    let (folder, names) = match known(session) {
        Ok(known) => known,
        Err(code) => return code,
    };
    if names.contains(name) {
        return session.fail(
            "Workspace already exists",
            format!("Workspace \"{name}\" already exists"),
        );
    }
    let bytes = match &arguments.state {
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
    let code = make(session, &folder, name);
    let Some((path, bytes)) = bytes.filter(|_| code == exit::SUCCESS) else {
        return code;
    };
    let wanted = Wanted {
        locking: Some(arguments.locking.clone()),
        ..Wanted::default()
    };
    block_on(session, async |interrupts| {
        let (operation, _) = match Operation::begin(session, interrupts, &wanted).await {
            Ok(begun) => begun,
            Err(refusal) => return refused(session, &refusal),
        };
        let pushed = push_state(&operation.ops, &bytes, &path, false).await;
        operation.end().await;
        match pushed {
            Ok(said) | Err(said) => session.say(&said, &SourceMap::new()),
        }
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
    let (folder, names) = match known(session) {
        Ok(known) => known,
        Err(code) => return code,
    };
    if names.contains(name) {
        let text = format!("Switched to workspace \"{name}\".\n");
        return chosen(session, name, &session.style.good(&text));
    }
    if arguments.or_create {
        return make(session, &folder, name);
    }
    let mut d = Diagnostic::error(
        "No such workspace",
        format!("Workspace \"{name}\" doesn't exist."),
    );
    if let Some(near) = formwork_diagnostics::nearest(name, names.iter().map(String::as_str)) {
        d = d.hint(format!("Did you mean \"{near}\"?"));
    }
    let d = d.hint("\"workspace new\" makes one, and so does -or-create here.");
    session.say(&d.into(), &SourceMap::new())
}

fn delete(session: &Session, arguments: &WorkspaceDelete) -> u8 {
    let name = &arguments.name;
    if !is_name(name) {
        return match refuse(session, name) {
            Err(said) => session.say(&said, &SourceMap::new()),
            Ok(()) => exit::FAILURE,
        };
    }
    let (folder, names) = match known(session) {
        Ok(known) => known,
        Err(code) => return code,
    };
    if !names.contains(name) {
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
    if name == DEFAULT {
        return session.fail(
            "Default workspace cannot be deleted",
            "The workspace \"default\" is always there.",
        );
    }
    let own = folder.join(name);
    let wanted = Wanted {
        locking: Some(arguments.locking.clone()),
        state: Some(own.join("terraform.tfstate")),
        no_cloud: true,
        ..Wanted::default()
    };
    block_on(session, async |interrupts| {
        let (operation, _) = match Operation::begin(session, interrupts, &wanted).await {
            Ok(begun) => begun,
            Err(refusal) => return refused(session, &refusal),
        };
        let read = read_state(&operation.ops).await;
        operation.end().await;
        let held = match &read {
            Ok((view, _)) => view.state.instance_count() + view.pending.len(),
            // what cannot be read may hold anything
            Err(_) => 1,
        };
        if held > 0 && !arguments.force {
            if let Err(said) = read {
                return session.say(&said, &SourceMap::new());
            }
            let d = Diagnostic::error(
                "Workspace is not empty",
                format!(
                    "Workspace \"{name}\" remembers {held} object(s), which would be forgotten and go on \
                     existing."
                ),
            )
            .hint("Destroy them first. -force deletes the workspace all the same.");
            return session.say(&d.into(), &SourceMap::new());
        }
        match std::fs::remove_dir_all(&own) {
            Ok(()) => {
                let text = format!("Deleted workspace \"{name}\"!\n");
                session.streams.out(&session.style.good(&text));
                exit::SUCCESS
            }
            Err(error) => session.fail(
                "Failed to delete workspace",
                format!("The folder {} cannot be removed: {error}.", own.display()),
            ),
        }
    })
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
