//! `plan`.

use crate::arguments;
use crate::operation::{Operation, Wanted, refused};
use crate::plan_file;
use crate::runtime::{Interrupts, block_on};
use crate::session::{Session, exit};
use formwork_diagnostics::SourceMap;
use formwork_ops::{PlanOptions, PlanOutcome};
use formwork_plan::{Plan, PlanMode};
use formwork_render::plan_text;

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Plan) -> u8 {
    block_on(session, async |interrupts| {
        plan(session, arguments, interrupts).await
    })
}

async fn plan(session: &Session, arguments: &arguments::Plan, interrupts: &Interrupts) -> u8 {
    let planning = &arguments.planning;
    let mode = mode(planning.destroy);
    let session = match streaming(session, planning, mode) {
        Ok(session) => session,
        Err(code) => return code,
    };
    let session = &session;
    session.notice();
    if let Err(code) = needs_configuration(session, mode) {
        return code;
    }
    let wanted = Wanted::planning(planning);
    let (operation, said) = match Operation::begin(session, interrupts, &wanted).await {
        Ok(begun) => begun,
        Err(refusal) => return refused(session, &refusal),
    };
    session.say(&said, &operation.ops.sources);
    let (outcome, code) = make(session, &operation, planning, mode).await;
    let mut code = code;
    if let (exit::SUCCESS, Some(plan)) = (code, &outcome.plan) {
        code = save(session, arguments, plan);
    }
    let said = match outcome.held {
        Some(held) => held.release(&operation.ops).await,
        None => formwork_diagnostics::Diagnostics::new(),
    };
    code = code.max(session.say(&said, &SourceMap::new()));
    let changes = outcome.plan.as_ref().is_some_and(Plan::has_changes);
    if code == exit::SUCCESS && arguments.detailed_exitcode && changes {
        code = exit::CHANGES;
    }
    operation.end().await;
    code
}

/// Refuses to plan a directory that holds no configuration: what the state holds would all have to go.
/// To destroy, none is needed.
pub fn needs_configuration(session: &Session, mode: PlanMode) -> Result<(), u8> {
    if mode == PlanMode::Destroy || session.has_configuration() {
        return Ok(());
    }
    Err(session.fail(
        "No configuration files",
        "This directory holds no .tf files. A plan of nothing would be to destroy all that the state holds. Go to the \
         directory of the configuration (-chdir=DIR), or say that you want that: destroy.",
    ))
}

/// The session, telling programs what happens if that is wanted.
pub fn streaming(
    session: &Session,
    planning: &arguments::Planning,
    mode: PlanMode,
) -> Result<Session, u8> {
    let strict = planning.reading.strict_version;
    session.streaming(&planning.streaming, strict, mode)
}

/// Which kind of plan is wanted.
pub fn mode(destroy: bool) -> PlanMode {
    if destroy {
        PlanMode::Destroy
    } else {
        PlanMode::Normal
    }
}

/// Plans, and shows the plan and what there is to say about it.
pub async fn make(
    session: &Session,
    operation: &Operation,
    planning: &arguments::Planning,
    mode: PlanMode,
) -> (PlanOutcome, u8) {
    let options = PlanOptions {
        mode,
        refresh: planning.refresh,
        ..PlanOptions::default()
    };
    let outcome = formwork_ops::plan(&operation.ops, &options).await;
    if let (Some(stream), Some(plan)) = (&session.stream, &outcome.plan) {
        stream.planned_outputs(&plan.outputs);
    }
    if let Some(plan) = outcome
        .plan
        .as_ref()
        .filter(|p| !p.errored && session.is_for_people)
    {
        let text = plan_text(plan, &outcome.providers.all_schemas(), session.style);
        session.tell(&format!("\n{text}"));
        if !text.ends_with('\n') {
            session.tell("\n");
        }
    }
    let mut code = session.say_as(
        &outcome.diagnostics,
        outcome.sources(),
        planning.reading.compact_warnings,
        false,
    );
    let interrupted = operation.ops.cancel.is_cancelled();
    if code == exit::SUCCESS && (interrupted || outcome.plan.as_ref().is_none_or(|p| p.errored)) {
        code = session.fail(
            "Planning did not come to an end",
            if interrupted {
                "It was interrupted. Nothing was changed."
            } else {
                "There is no plan, and nothing was changed."
            },
        );
    }
    (outcome, code)
}

fn save(session: &Session, arguments: &arguments::Plan, plan: &Plan) -> u8 {
    let rule = "\u{2500}".repeat(session.style.width.unwrap_or(78).min(78));
    let Some(path) = &arguments.out else {
        if plan.has_changes() && !session.automation {
            session.tell(&format!(
                "\n{rule}\n\nThe plan was not saved (-out). The next apply plans anew, and may find another \
                 world by then.\n"
            ));
        }
        return exit::SUCCESS;
    };
    if let Err(said) = plan_file::write(session, path, plan) {
        return session.say(&said, &SourceMap::new());
    }
    let shown = path.display();
    let mut text = format!("\n{rule}\n\nSaved the plan to: {shown}\n");
    if plan.has_changes() && !session.automation {
        let mock = if session.is_mock() { " -mock" } else { "" };
        text.push_str(&format!(
            "\nTo do exactly this, run:\n    {} apply{mock} {:?}\n",
            session.called,
            shown.to_string()
        ));
    }
    session.tell(&text);
    exit::SUCCESS
}
