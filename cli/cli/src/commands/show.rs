//! `show`: a state or a saved plan.

use super::state::{folded, schemas, view};
use crate::arguments;
use crate::operation::{Operation, Wanted, refused};
use crate::plan_file;
use crate::preview::Preview;
use crate::runtime::{Interrupts, block_on};
use crate::session::{Session, exit};
use formwork_diagnostics::SourceMap;
use formwork_plan::Plan;
use formwork_provider::Providers;
use formwork_render::{plan_json, plan_text, state_json, state_text};
use formwork_state::{Snapshot, v4};
use std::path::Path;

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Show) -> u8 {
    block_on(session, async |interrupts| match &arguments.file {
        None => current(session, arguments, interrupts).await,
        Some(path) => file(session, path, arguments.json, interrupts).await,
    })
}

async fn current(session: &Session, arguments: &arguments::Show, interrupts: &Interrupts) -> u8 {
    let json = arguments.json;
    if !json {
        session.notice();
    }
    let wanted = Wanted {
        inputs: Some(&arguments.inputs),
        for_program: json,
        ..Wanted::default()
    };
    let shown = view(session, interrupts, &wanted, async |operation, view| {
        let snapshot = folded(view);
        print_state(session, operation, snapshot.as_ref(), json).await;
        exit::SUCCESS
    });
    shown.await.unwrap_or_else(|code| code)
}

async fn print_state(
    session: &Session,
    operation: &Operation,
    snapshot: Option<&Snapshot>,
    json: bool,
) {
    let empty = formwork_state::State::new();
    let state = snapshot.map_or(&empty, |s| &s.state);
    let schemas = schemas(operation, state).await;
    let text = if json {
        state_json(snapshot, &schemas)
    } else {
        let text = state_text(state, &schemas, session.style);
        if text.is_empty() {
            "The state is empty.\n".to_owned()
        } else {
            text
        }
    };
    session.streams.out(&text);
}

/// Shows a file, whichever world it is of: nothing is read but the file.
async fn file(session: &Session, path: &Path, json: bool, interrupts: &Interrupts) -> u8 {
    let bytes = match plan_file::bytes_of(session, path) {
        Ok(bytes) => bytes,
        Err(said) => return session.say(&said, &SourceMap::new()),
    };
    if plan_file::is_plan(&bytes) {
        let plan = match plan_file::read(&bytes, path) {
            Ok(plan) => plan,
            Err(said) => return session.say(&said, &SourceMap::new()),
        };
        return self::plan(session, path, &plan, json, interrupts).await;
    }
    let (snapshot, said) = v4::read(&bytes, &path.display().to_string());
    if said.has_errors() {
        return session.say(&said, &SourceMap::new());
    }
    let wanted = Wanted {
        for_program: json,
        no_cloud: true,
        no_state: true,
        ..Wanted::default()
    };
    let (operation, _) = match Operation::begin(session, interrupts, &wanted).await {
        Ok(begun) => begun,
        Err(refusal) => return refused(session, &refusal),
    };
    if !json {
        let cloud = snapshot.as_ref().and_then(Snapshot::cloud);
        let of = identity(cloud.as_deref());
        session
            .streams
            .out(&format!("{}: a state of {of}\n\n", path.display()));
    }
    print_state(session, &operation, snapshot.as_ref(), json).await;
    operation.end().await;
    exit::SUCCESS
}

fn identity(cloud: Option<&str>) -> String {
    match cloud {
        None => "the real cloud".to_owned(),
        Some(id) => format!("the mock cloud {id}"),
    }
}

async fn plan(
    session: &Session,
    path: &Path,
    plan: &Plan,
    json: bool,
    interrupts: &Interrupts,
) -> u8 {
    let wanted = Wanted {
        for_program: json,
        no_cloud: true,
        no_state: true,
        plan: Some(plan),
        ..Wanted::default()
    };
    let (operation, _) = match Operation::begin(session, interrupts, &wanted).await {
        Ok(begun) => begun,
        Err(refusal) => return refused(session, &refusal),
    };
    let preview = Preview::of_plan(session, plan);
    let named = plan.providers.iter().map(|p| p.config.provider.clone());
    let changed = plan.changes.iter().map(|c| c.provider.provider.clone());
    let level = operation.ops.settings.level.version.to_string();
    let factory = operation.ops.factory.clone();
    let (providers, _) = Providers::launch(factory, &level, named.chain(changed)).await;
    let schemas = providers.all_schemas();
    if json {
        let configuration = (!preview.diagnostics.has_errors()).then_some(&preview.configuration);
        session
            .streams
            .out(&plan_json(plan, configuration.map(|c| &**c), &schemas));
    } else {
        let of = identity(plan.prior.cloud.as_deref());
        session
            .streams
            .out(&format!("{}: a plan for {of}\n\n", path.display()));
        let text = plan_text(plan, &schemas, session.style);
        session.streams.out(&text);
        if !text.ends_with('\n') {
            session.streams.out("\n");
        }
    }
    operation.end().await;
    exit::SUCCESS
}
