//! `state mv`, `state rm`, `state push`, `state replace-provider`, `taint`, `untaint`: the state, edited
//! by hand.

use crate::arguments::{Editing, StateMove, StatePush, StateRemove, StateReplaceProvider, Taint};
use crate::commands::state::no_address;
use crate::operation::{Operation, Wanted, refused};
use crate::runtime::{Interrupts, block_on};
use crate::session::{Session, exit};
use formwork_addresses::{AbsResourceInstance, ProviderAddr};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_ops::{Edited, StateAddress, StateEdit, edit_state, preview_state_edit, push_state};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// What is wanted of an operation that edits.
fn wanted<'a>(session: &Session, editing: &Editing, keeps: bool) -> Wanted<'a> {
    // an edit by hand is not undone by another run, so each has a backup of its own
    let now = session.environment.clock.now();
    let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let own = || {
        let state = editing.state.clone();
        let mut name = state.unwrap_or_else(|| PathBuf::from("terraform.tfstate"));
        name.as_mut_os_string().push(format!(".{seconds}.backup"));
        name
    };
    let backup = editing.backup.clone();
    Wanted {
        locking: Some(editing.locking.clone()),
        state: editing.state.clone(),
        backup: if keeps && !session.is_mock() {
            Some(backup.unwrap_or_else(own))
        } else {
            backup
        },
        ..Wanted::default()
    }
}

/// Edits, or says what an edit would do.
async fn edit(
    session: &Session,
    interrupts: &Interrupts,
    wanted: &Wanted<'_>,
    edit: &StateEdit,
    dry_run: bool,
) -> Result<Edited, Diagnostics> {
    let (operation, _) = Operation::begin(session, interrupts, wanted)
        .await
        .map_err(|refusal| refusal.0)?;
    let result = if dry_run {
        preview_state_edit(&operation.ops, edit).await
    } else {
        edit_state(&operation.ops, edit).await
    };
    operation.end().await;
    let (edited, said) = result?;
    session.say(&said, &SourceMap::new());
    session.say(&edited.warnings, &SourceMap::new());
    Ok(edited)
}

/// `state mv`.
pub fn state_move(session: &Session, arguments: &StateMove) -> u8 {
    let mut ends = Vec::new();
    for text in [&arguments.source, &arguments.destination] {
        match StateAddress::parse(text) {
            Some(address) => ends.push(address),
            None => return session.say(&no_address(text), &SourceMap::new()),
        }
    }
    let (Some(to), Some(from)) = (ends.pop(), ends.pop()) else {
        return exit::FAILURE;
    };
    session.notice();
    let wanted = wanted(session, &arguments.editing, true);
    let word = if arguments.dry_run {
        "Would move"
    } else {
        "Move"
    };
    let text = format!("{word} {:?} to {:?}\n", from.to_string(), to.to_string());
    let moving = StateEdit::Move { from, to };
    block_on(session, async |interrupts| {
        match edit(session, interrupts, &wanted, &moving, arguments.dry_run).await {
            Ok(_) => {
                session.streams.out(&text);
                if !arguments.dry_run {
                    session.streams.out("Successfully moved 1 object(s).\n");
                }
                exit::SUCCESS
            }
            Err(said) => session.say(&said, &SourceMap::new()),
        }
    })
}

/// `state rm`.
pub fn state_remove(session: &Session, arguments: &StateRemove) -> u8 {
    let mut addresses = Vec::new();
    for text in &arguments.addresses {
        match StateAddress::parse(text) {
            Some(address) => addresses.push(address),
            None => return session.say(&no_address(text), &SourceMap::new()),
        }
    }
    session.notice();
    let wanted = wanted(session, &arguments.editing, true);
    let removal = StateEdit::Remove(addresses);
    block_on(session, async |interrupts| {
        match edit(session, interrupts, &wanted, &removal, arguments.dry_run).await {
            Ok(edited) => {
                let word = if arguments.dry_run {
                    "Would remove"
                } else {
                    "Removed"
                };
                let mut text = String::new();
                for address in &edited.addresses {
                    text.push_str(&format!("{word} {address}\n"));
                }
                if !arguments.dry_run {
                    text.push_str(&format!(
                        "Successfully removed {} resource instance(s).\n",
                        edited.addresses.len()
                    ));
                }
                session.streams.out(&text);
                exit::SUCCESS
            }
            Err(said) => session.say(&said, &SourceMap::new()),
        }
    })
}

/// `taint`, or `untaint`.
pub fn taint(session: &Session, arguments: &Taint, taints: bool) -> u8 {
    let text = &arguments.address;
    let Ok(address) = text.parse::<AbsResourceInstance>() else {
        return session.say(&no_address(text), &SourceMap::new());
    };
    session.notice();
    let wanted = wanted(session, &arguments.editing, false);
    let (change, done) = if taints {
        (
            StateEdit::Taint(address.clone()),
            format!("Resource instance {address} has been marked as tainted.\n"),
        )
    } else {
        (
            StateEdit::Untaint(address.clone()),
            format!("Resource instance {address} has been successfully untainted.\n"),
        )
    };
    block_on(session, async |interrupts| {
        match edit(session, interrupts, &wanted, &change, false).await {
            Ok(_) => {
                session.streams.out(&done);
                exit::SUCCESS
            }
            Err(said)
                if arguments.allow_missing
                    && said
                        .iter()
                        .any(|d| d.summary == "No such resource instance") =>
            {
                let d = Diagnostic::warning(
                    "No such resource instance",
                    format!(
                        "The state holds no object at {address}. With -allow-missing that is no error."
                    ),
                );
                session.say(&d.into(), &SourceMap::new())
            }
            Err(said) => session.say(&said, &SourceMap::new()),
        }
    })
}

/// `state replace-provider`.
pub fn replace_provider(session: &Session, arguments: &StateReplaceProvider) -> u8 {
    let mut ends = Vec::new();
    for text in [&arguments.from, &arguments.to] {
        match text.parse::<ProviderAddr>() {
            Ok(address) => ends.push(address),
            Err(_) => {
                return session.fail(
                    "Invalid provider source string",
                    format!(
                        "{text:?} is no address of a provider. One looks like hashicorp/google or \
                         registry.terraform.io/hashicorp/google."
                    ),
                );
            }
        }
    }
    let (Some(to), Some(from)) = (ends.pop(), ends.pop()) else {
        return exit::FAILURE;
    };
    session.notice();
    let wanted = wanted(session, &arguments.editing, true);
    let words = format!("  ~ Updating provider:\n    - {from}\n    + {to}\n");
    let change = StateEdit::ReplaceProvider { from, to };
    block_on(session, async |interrupts| {
        let would = match edit(session, interrupts, &wanted, &change, true).await {
            Ok(would) => would,
            Err(said) => return session.say(&said, &SourceMap::new()),
        };
        if would.addresses.is_empty() {
            session.streams.out("No matching resources found.\n");
            return exit::SUCCESS;
        }
        let n = would.addresses.len();
        let mut text = format!(
            "{} will perform the following actions:\n\n{words}\nChanging {n} resources:\n\n",
            session.product()
        );
        for address in &would.addresses {
            text.push_str(&format!("  {address}\n"));
        }
        text.push('\n');
        session.streams.out(&text);
        if !arguments.auto_approve {
            let what = "The state is changed as shown above; nothing in the world is.";
            match session.approve("Do you want to do this?", what) {
                Ok(true) => {}
                Ok(false) => {
                    session.streams.out("Nothing was changed.\n");
                    return exit::SUCCESS;
                }
                Err(said) => return session.say(&said, &SourceMap::new()),
            }
        }
        match edit(session, interrupts, &wanted, &change, false).await {
            Ok(edited) => {
                session.streams.out(&format!(
                    "Successfully replaced provider for {} resources.\n",
                    edited.addresses.len()
                ));
                exit::SUCCESS
            }
            Err(said) => session.say(&said, &SourceMap::new()),
        }
    })
}

/// `state push`.
pub fn push(session: &Session, arguments: &StatePush) -> u8 {
    let read = if arguments.file == Path::new("-") {
        session.streams.read_all()
    } else {
        std::fs::read(session.environment.working.join(&arguments.file))
    };
    let name = arguments.file.display().to_string();
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(error) => {
            return session.fail(
                "Failed to read the state",
                format!("{name} cannot be read: {error}."),
            );
        }
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
        let pushed = push_state(&operation.ops, &bytes, &name, arguments.force).await;
        operation.end().await;
        match pushed {
            Ok(said) | Err(said) => session.say(&said, &SourceMap::new()),
        }
    })
}
