//! `show`: a state or a saved plan.

use super::state::{folded, schemas, view};
use crate::arguments;
use crate::operation::{Operation, Wanted, refused};
use crate::plan_file;
use crate::preview::Preview;
use crate::providers;
use crate::runtime::{Interrupts, block_on};
use crate::session::{Session, exit};
use formwork_diagnostics::SourceMap;
use formwork_plan::Plan;
use formwork_provider::Providers;
use formwork_render::{
    LeftOpen, PlanRemarks, plan_html, plan_json_with, plan_text, plan_text_explained,
    state_json_with, state_text,
};
use formwork_state::{Snapshot, v4};
use std::path::Path;

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Show) -> u8 {
    if arguments.alternative.is_some() && (!arguments.json || arguments.file.is_none()) {
        return session.fail(
            "Failed to parse command-line flags",
            "-alternative=N shows an alternative of a saved plan as JSON: it needs -json and a plan file.",
        );
    }
    if arguments.html && (arguments.json || arguments.file.is_none()) {
        return session.fail(
            "Failed to parse command-line flags",
            "-html writes a page of a saved plan: name its file, and leave -json out.",
        );
    }
    block_on(session, async |interrupts| match &arguments.file {
        None => current(session, arguments, interrupts).await,
        Some(path) => file(session, path, arguments, interrupts).await,
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
        let snapshot = folded(operation, view);
        let pending = view.pending.iter().map(|operation| LeftOpen {
            address: operation.begun.address.to_string(),
            what: operation.describe(),
        });
        let pending: Vec<LeftOpen> = pending.collect();
        print_state(session, operation, snapshot.as_ref(), &pending, json).await;
        exit::SUCCESS
    });
    shown.await.unwrap_or_else(|code| code)
}

async fn print_state(
    session: &Session,
    operation: &Operation,
    snapshot: Option<&Snapshot>,
    pending: &[LeftOpen],
    json: bool,
) {
    let empty = formwork_state::State::new();
    let state = snapshot.map_or(&empty, |s| &s.state);
    let schemas = schemas(operation, state).await;
    let text = if json {
        state_json_with(snapshot, &schemas, pending)
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
async fn file(
    session: &Session,
    path: &Path,
    arguments: &arguments::Show,
    interrupts: &Interrupts,
) -> u8 {
    let json = arguments.json;
    let bytes = match plan_file::bytes_of(session, path) {
        Ok(bytes) => bytes,
        Err(said) => return session.say(&said, &SourceMap::new()),
    };
    if plan_file::is_plan(&bytes) {
        let plan = match plan_file::read(&bytes, path) {
            Ok(plan) => plan,
            Err(said) => return session.say(&said, &SourceMap::new()),
        };
        return self::plan(session, path, &plan, arguments, interrupts).await;
    }
    if arguments.html {
        return session.fail(
            "No plan file",
            format!(
                "{} is no saved plan, and -html writes a page of one.",
                path.display()
            ),
        );
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
    print_state(session, &operation, snapshot.as_ref(), &[], json).await;
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
    arguments: &arguments::Show,
    interrupts: &Interrupts,
) -> u8 {
    let json = arguments.json;
    let alternative = arguments.alternative.map(|n| plan.with_alternative(n));
    if let Some(None) = alternative {
        return session.fail(
            "No such alternative",
            match plan.alternatives.len() {
                0 => "The plan has no alternatives.".to_owned(),
                n => format!("The plan has {n} alternatives, numbered from 1."),
            },
        );
    }
    let shown = alternative.flatten();
    let plan = shown.as_ref().unwrap_or(plan);
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
    let (launched, _) = Providers::launch(factory, &level, named.chain(changed)).await;
    let schemas = launched.all_schemas();
    if arguments.html {
        let configuration = (!preview.diagnostics.has_errors()).then_some(&*preview.configuration);
        let title = path.display().to_string();
        let page = plan_html(plan, &title, &schemas, configuration, &preview.sources);
        session.streams.out(&page);
    } else if json {
        let configuration = (!preview.diagnostics.has_errors()).then_some(&preview.configuration);
        // what is wrong with the user's machine facts is told where they are used
        let found = providers::facts(session).map(|facts| formwork_review::findings(plan, &facts));
        let found = found.unwrap_or_default();
        let remarks = PlanRemarks {
            findings: found.iter().map(|f| (f.rule, &f.diagnostic)).collect(),
            alternative: arguments.alternative,
        };
        let configuration = configuration.map(|c| &**c);
        session
            .streams
            .out(&plan_json_with(plan, configuration, &schemas, &remarks));
    } else {
        let of = identity(plan.prior.cloud.as_deref());
        session
            .streams
            .out(&format!("{}: a plan for {of}\n\n", path.display()));
        let readable = !preview.diagnostics.has_errors();
        let text = if readable {
            let (configuration, sources) = (&preview.configuration, &preview.sources);
            plan_text_explained(plan, &schemas, session.style, configuration, sources)
        } else {
            plan_text(plan, &schemas, session.style)
        };
        session.streams.out(&text);
        if !text.ends_with('\n') {
            session.streams.out("\n");
        }
    }
    operation.end().await;
    exit::SUCCESS
}
