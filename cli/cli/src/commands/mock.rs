//! `mock serve`, `mock list`, `mock log`, `mock reset`.

use crate::arguments::{Mock, MockLook, MockReset, MockServe};
use crate::mock::{self, Look};
use crate::runtime::{Interrupts, block_on};
use crate::session::{CloudChoice, Session, exit};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_mock_google::Scenario;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;

/// Runs the command.
pub fn run(session: &Session, command: &Mock) -> u8 {
    let done = block_on(session, async |interrupts| match command {
        Mock::Serve(arguments) => serve(session, arguments, interrupts).await,
        Mock::List(arguments) => list(session, arguments).await,
        Mock::Log(arguments) => log(session, arguments).await,
        Mock::Reset(arguments) => reset(session, arguments).await,
    });
    match done {
        Ok(()) => exit::SUCCESS,
        Err(diagnostics) => session.say(&diagnostics, &SourceMap::new()),
    }
}

async fn serve(
    session: &Session,
    arguments: &MockServe,
    interrupts: &Interrupts,
) -> Result<(), Diagnostics> {
    let listen = listen_address(&arguments.listen)?;
    let scenario = match &arguments.scenario {
        None => mock::default_world(),
        Some(path) => scenario(session, path)?,
    };
    let directory = arguments
        .data
        .as_ref()
        .map(|d| session.environment.working.join(d));
    let world = mock::open(&session.environment, directory.as_deref(), scenario)
        .map_err(|e| Diagnostic::error("Mock cloud cannot be opened", e.to_string()))?;
    let server = world
        .serve(listen)
        .await
        .map_err(|e| mock::not_served(&e))?;
    let line = json!({
        "address": server.url(),
        "pid": session.environment.process,
        "world": world.world(),
    });
    session.streams.out(&format!("{line}\n"));
    interrupts.expect();
    interrupts.cancellation().cancelled().await;
    server.stop().await;
    Ok(())
}

/// Only the loopback interface: the mock asks nobody who they are.
fn listen_address(text: &str) -> Result<SocketAddr, Diagnostics> {
    let text = text.replace("localhost", "127.0.0.1");
    let full = match text.strip_prefix(':') {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.clone(),
    };
    match full.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(address),
        Ok(_) => Err(Diagnostic::error(
            "Invalid listen address",
            format!(
                "{text} is not an address of the loopback interface. The mock cloud asks nobody who \
                 they are, so it listens there only."
            ),
        )
        .into()),
        Err(_) => Err(Diagnostic::error(
            "Invalid listen address",
            format!("{text:?} is no address; write one such as 127.0.0.1:8080."),
        )
        .into()),
    }
}

fn scenario(session: &Session, path: &Path) -> Result<Scenario, Diagnostics> {
    let shown = path.display();
    let text = std::fs::read_to_string(session.environment.working.join(path)).map_err(|e| {
        Diagnostic::error(
            "Failed to read file",
            format!("{shown} cannot be read: {e}."),
        )
    })?;
    Scenario::parse(&text).map_err(|why| {
        Diagnostic::error(
            "Invalid scenario",
            format!("{shown}: {}.", why.trim_end_matches('.')),
        )
        .into()
    })
}

async fn list(session: &Session, arguments: &MockLook) -> Result<(), Diagnostics> {
    let world = Look::into_world(session, arguments.data.as_deref()).await?;
    let all = world.list().await?;
    if arguments.json {
        session.streams.out(&format!("{all:#}\n"));
        return Ok(());
    }
    let rows: Vec<[&str; 3]> = rows(&all)
        .map(|o| {
            [
                text(o, "service"),
                text(o, "collection"),
                text(o, "selfLink"),
            ]
        })
        .collect();
    session.streams.out(&columns(&rows));
    Ok(())
}

async fn log(session: &Session, arguments: &MockLook) -> Result<(), Diagnostics> {
    let world = Look::into_world(session, arguments.data.as_deref()).await?;
    let all = world.log().await?;
    if arguments.json {
        session.streams.out(&format!("{all:#}\n"));
        return Ok(());
    }
    let mut out = String::new();
    for line in rows(&all) {
        let status = match line.get("status").and_then(Value::as_u64) {
            Some(status) => status.to_string(),
            None => "cut".to_owned(),
        };
        let committed = line.get("committed").and_then(Value::as_bool) == Some(true);
        out.push_str(&format!(
            "{:>6} {} {status:>3} {} {:<6} {}",
            line.get("seq").and_then(Value::as_u64).unwrap_or_default(),
            text(line, "time"),
            if committed { "*" } else { " " },
            text(line, "method"),
            text(line, "path"),
        ));
        if let Some(refusal) = line.get("refusal").and_then(Value::as_str) {
            out.push_str(&format!("  ({refusal})"));
        }
        out.push('\n');
    }
    session.streams.out(&out);
    Ok(())
}

fn rows(all: &Value) -> impl Iterator<Item = &Value> {
    all.as_array().into_iter().flatten()
}

fn text<'v>(object: &'v Value, key: &str) -> &'v str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Rows with their columns below each other.
fn columns(rows: &[[&str; 3]]) -> String {
    let width = |column: usize| rows.iter().map(|r| r[column].len()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let mut out = String::new();
    for [a, b, c] in rows {
        out.push_str(&format!("{a:<first$}  {b:<second$}  {c}\n"));
    }
    out
}

async fn reset(session: &Session, arguments: &MockReset) -> Result<(), Diagnostics> {
    let world = Look::into_world(session, arguments.data.as_deref()).await?;
    let id = world.world().await?;
    // The state here is the one of this world: by its place, or by what it says.
    let state = session.environment.working.join(mock::STATE);
    let own = arguments.data.is_none() && !matches!(session.cloud, CloudChoice::MockAt(_));
    let ours = own || cloud_of(&state).is_some_and(|cloud| cloud == id);
    if !arguments.auto_approve {
        let what = if ours {
            "Every object of the mock cloud is removed, and the state of what was made in it."
        } else {
            "Every object of the mock cloud is removed."
        };
        if !session.approve("Empty the mock cloud?", what)? {
            session.streams.out("Nothing was removed.\n");
            return Ok(());
        }
    }
    world.reset().await?;
    if ours && let Some(directory) = state.parent() {
        match std::fs::remove_dir_all(directory) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(Diagnostic::error(
                    "Failed to remove the state",
                    format!("{} cannot be removed: {e}.", directory.display()),
                )
                .into());
            }
            _ => {}
        }
    }
    session
        .streams
        .out("The mock cloud is as it was at first.\n");
    Ok(())
}

/// The cloud that a state says it belongs to.
fn cloud_of(state: &Path) -> Option<String> {
    let bytes = std::fs::read(state).ok()?;
    let (snapshot, _) = formwork_state::v4::read(&bytes, "state");
    snapshot?.cloud()
}
