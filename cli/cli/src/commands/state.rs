//! `state list`, `state show`, `state pull`, `state settle` (edits are in `state_edit`); and looking at a state for other commands.

use crate::arguments::{State as StateCommand, StateList, StatePull, StateSettle, StateShow};
use crate::commands::state_edit;
use crate::operation::{Operation, Wanted, refused};
use crate::runtime::{Interrupts, block_on};
use crate::session::{Session, exit};
use formwork_addresses::AbsResourceInstance;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap, nearest};
use formwork_ops::{StateAddress, StateView, Word};
use formwork_provider::Providers;
use formwork_render::{Schemas, diagnostics_text, state_list_where, state_object_json, state_show};
use formwork_state::{Snapshot, State, v4};

/// Runs the command.
pub fn run(session: &Session, command: &StateCommand) -> u8 {
    match command {
        StateCommand::List(arguments) => block_on(session, async |interrupts| {
            list(session, arguments, interrupts).await
        }),
        StateCommand::Show(arguments) => block_on(session, async |interrupts| {
            show(session, arguments, interrupts).await
        }),
        StateCommand::Pull(arguments) => block_on(session, async |interrupts| {
            pull(session, arguments, interrupts).await
        }),
        StateCommand::Settle(arguments) => block_on(session, async |interrupts| {
            settle(session, arguments, interrupts).await
        }),
        StateCommand::Mv(arguments) => state_edit::state_move(session, arguments),
        StateCommand::Rm(arguments) => state_edit::state_remove(session, arguments),
        StateCommand::Push(arguments) => state_edit::push(session, arguments),
        StateCommand::ReplaceProvider(arguments) => {
            state_edit::replace_provider(session, arguments)
        }
    }
}

/// Looks at the state, the journal folded in.
///
/// # Errors
/// The exit code, when it could not be read, which was said.
pub async fn view<R>(
    session: &Session,
    interrupts: &Interrupts,
    wanted: &Wanted<'_>,
    look: impl AsyncFnOnce(&Operation, &StateView) -> R,
) -> Result<R, u8> {
    let (operation, _) = Operation::begin(session, interrupts, wanted)
        .await
        .map_err(|refusal| refused(session, &refusal))?;
    let answer = match formwork_ops::read_state(&operation.ops).await {
        Ok((view, said)) => {
            session.say_as(&said, &SourceMap::new(), false, wanted.for_program);
            if !wanted.for_program {
                session.say(&pending(&view), &SourceMap::new());
            }
            Ok(look(&operation, &view).await)
        }
        Err(said) => Err(session.say(&said, &SourceMap::new())),
    };
    operation.end().await;
    answer
}

/// What a former run left open.
fn pending(view: &StateView) -> Diagnostics {
    view.pending
        .iter()
        .map(|operation| {
            Diagnostic::warning(
                "Operation left open",
                "A run that was cut short had begun an operation on this object, and its end is not known. The next plan finds out.",
            )
            .about(&operation.begun.address)
        })
        .collect()
}

/// The schemas of the providers that a state names; those that cannot be had are left out.
pub async fn schemas(operation: &Operation, state: &State) -> Schemas {
    let wanted = state.resources().map(|(_, r)| r.provider.provider.clone());
    let level = operation.ops.settings.level.version.to_string();
    let factory = operation.ops.factory.clone();
    let (providers, _) = Providers::launch(factory, &level, wanted).await;
    providers.all_schemas()
}

/// The snapshot with what the journal says. A first run that was cut short has left a journal alone.
pub fn folded(operation: &Operation, view: &StateView) -> Option<Snapshot> {
    let mut snapshot = match (&view.snapshot, &view.lineage) {
        (Some(snapshot), _) => snapshot.clone(),
        (None, Some(lineage)) if view.folded => {
            let ops = &operation.ops;
            let version = ops.settings.level.version.to_string();
            let mut snapshot = Snapshot::new(lineage.clone(), version);
            snapshot.set_cloud(ops.cloud.as_deref());
            snapshot
        }
        _ => return None,
    };
    snapshot.state = view.state.clone();
    Some(snapshot)
}

async fn list(session: &Session, arguments: &StateList, interrupts: &Interrupts) -> u8 {
    let mut filters = Vec::new();
    for text in &arguments.addresses {
        match StateAddress::parse(text) {
            Some(filter) => filters.push(filter),
            None => return session.say(&no_address(text), &SourceMap::new()),
        }
    }
    let wanted = Wanted {
        inputs: Some(&arguments.inputs),
        state: arguments.state.clone(),
        for_program: true,
        ..Wanted::default()
    };
    let listed = view(session, interrupts, &wanted, async |_, view| {
        if view.snapshot.is_none() && view.lineage.is_none() {
            return session.say(&no_state(), &SourceMap::new());
        }
        // scripts read the addresses, people read this beside them
        let open = diagnostics_text(&pending(view), &SourceMap::new(), session.error_style);
        session.streams.error(&open);
        let state = &view.state;
        let text = state_list_where(state, |address| {
            (filters.is_empty() || filters.iter().any(|f| f.takes(address)))
                && arguments
                    .id
                    .as_ref()
                    .is_none_or(|id| id_of(state, address).as_deref() == Some(id))
        });
        session.streams.out(&text);
        let empty = filters
            .iter()
            .zip(&arguments.addresses)
            .find(|(f, _)| !state.instances().any(|(a, _)| f.takes(&a)));
        match empty {
            Some((_, text)) => session.say(&not_there(text, state), &SourceMap::new()),
            None => exit::SUCCESS,
        }
    });
    listed.await.unwrap_or_else(|code| code)
}

/// That nothing was ever applied here, which a script must be able to tell from an empty state.
fn no_state() -> Diagnostics {
    Diagnostic::error(
        "No state file was found",
        "There is no state here of which objects could be listed: nothing was applied in this folder and workspace yet, \
         or the state lies elsewhere.",
    )
    .hint("Look at -chdir, -state, the backend block and \"workspace show\".")
    .into()
}

fn id_of(state: &State, address: &AbsResourceInstance) -> Option<String> {
    let object = state.object(address)?;
    let json: serde_json::Value = serde_json::from_str(object.attributes_json()?.get()).ok()?;
    json.get("id")?.as_str().map(str::to_owned)
}

pub fn no_address(text: &str) -> Diagnostics {
    Diagnostic::error(
        "Invalid address",
        format!(
            "{text:?} is no address. One looks like google_compute_network.main, module.net, or \
             module.net.google_compute_subnetwork.rail[0]; put it in quotes where it has brackets."
        ),
    )
    .into()
}

fn not_there(text: &str, state: &State) -> Diagnostics {
    let mut d = Diagnostic::error(
        "No such object in the state",
        format!("The state holds nothing at {text}."),
    );
    let all: Vec<String> = state.instances().map(|(a, _)| a.to_string()).collect();
    if let Some(near) = nearest(text, all.iter().map(String::as_str)) {
        d = d.hint(format!("Did you mean {near}?"));
    }
    d.into()
}

async fn show(session: &Session, arguments: &StateShow, interrupts: &Interrupts) -> u8 {
    let text = &arguments.address;
    let Ok(address) = text.parse::<AbsResourceInstance>() else {
        return session.say(&no_address(text), &SourceMap::new());
    };
    if !arguments.json {
        session.notice();
    }
    let wanted = Wanted {
        inputs: Some(&arguments.inputs),
        state: arguments.state.clone(),
        for_program: arguments.json,
        ..Wanted::default()
    };
    let shown = view(session, interrupts, &wanted, async |operation, view| {
        let schemas = schemas(operation, &view.state).await;
        let shown = if arguments.json {
            folded(operation, view).and_then(|s| state_object_json(&s, &address, &schemas))
        } else {
            state_show(&view.state, &address, &schemas, session.style)
        };
        match shown {
            Some(shown) => {
                session.streams.out(&shown);
                exit::SUCCESS
            }
            None => session.say(&not_there(text, &view.state), &SourceMap::new()),
        }
    });
    shown.await.unwrap_or_else(|code| code)
}

async fn pull(session: &Session, arguments: &StatePull, interrupts: &Interrupts) -> u8 {
    let wanted = Wanted {
        inputs: Some(&arguments.inputs),
        for_program: true,
        ..Wanted::default()
    };
    let pulled = view(session, interrupts, &wanted, async |operation, view| {
        if let Some(snapshot) = folded(operation, view) {
            session.streams.bytes(&v4::write(&snapshot));
        }
        exit::SUCCESS
    });
    pulled.await.unwrap_or_else(|code| code)
}

async fn settle(session: &Session, arguments: &StateSettle, interrupts: &Interrupts) -> u8 {
    let text = &arguments.address;
    let Ok(address) = text.parse::<AbsResourceInstance>() else {
        return session.say(&no_address(text), &SourceMap::new());
    };
    let word = match (&arguments.id, arguments.not_created) {
        (Some(id), false) => Word::Exists(id.clone()),
        (None, true) => Word::NotThere,
        _ => {
            return session.fail(
                "Failed to parse command-line flags",
                "Say what became of the object: either -id=ID, if it exists, or -not-created.",
            );
        }
    };
    session.notice();
    let wanted = Wanted {
        variables: Some(&arguments.variables),
        locking: Some(arguments.locking.clone()),
        state: arguments.state.clone(),
        ..Wanted::default()
    };
    let (operation, said) = match Operation::begin(session, interrupts, &wanted).await {
        Ok(begun) => begun,
        Err(refusal) => return refused(session, &refusal),
    };
    session.say(&said, &operation.ops.sources);
    let settled = formwork_ops::settle_by_word(&operation.ops, &address, &word).await;
    let code = match settled {
        Ok(said) => session.say(&said, &operation.ops.sources),
        Err(said) => session.say(&said, &operation.ops.sources),
    };
    if code == exit::SUCCESS {
        session.streams.out(&match word {
            Word::Exists(id) => format!("{address} is in the state as {id}.\n"),
            Word::NotThere => format!("{address} counts as not there.\n"),
        });
    }
    operation.end().await;
    code
}
