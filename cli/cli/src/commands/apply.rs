//! `apply` and `destroy`.

use super::plan::{make, mode, needs_configuration, streaming};
use crate::arguments;
use crate::operation::{Operation, Wanted, refused};
use crate::plan_file;
use crate::runtime::{Interrupts, block_on};
use crate::session::{Session, exit};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_ops::{ApplyOutcome, Held};
use formwork_plan::{Event, Plan, PlanMode};
use formwork_render::{lines, outputs_text};
use std::path::Path;

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Apply, destroy: bool) -> u8 {
    block_on(session, async |interrupts| {
        match &arguments.plan {
        Some(path) if !destroy => saved(session, arguments, path, interrupts).await,
        Some(_) => session.fail(
            "Failed to parse command-line flags",
            "destroy makes its own plan and takes no plan file. Apply a plan made with -destroy instead.",
        ),
        None => fresh(session, arguments, destroy, interrupts).await,
    }
    })
}

/// Applies a saved plan.
async fn saved(
    session: &Session,
    arguments: &arguments::Apply,
    path: &Path,
    interrupts: &Interrupts,
) -> u8 {
    let planning = &arguments.planning;
    let plan = plan_file::bytes_of(session, path).and_then(|bytes| plan_file::read(&bytes, path));
    let mode = plan.as_ref().map_or(PlanMode::Normal, |p| p.mode);
    let session = &match streaming(session, planning, mode) {
        Ok(session) => session,
        Err(code) => return code,
    };
    session.notice();
    let plan = match plan {
        Ok(plan) => plan,
        Err(said) => return session.say(&said, &SourceMap::new()),
    };
    if planning.destroy {
        return session.fail(
            "Failed to parse command-line flags",
            "A saved plan says itself whether it destroys; -destroy does not go with it.",
        );
    }
    let begun = {
        let mut wanted = Wanted::planning(planning);
        wanted.backup = arguments.backup.clone();
        wanted.plan = Some(&plan);
        Operation::begin(session, interrupts, &wanted).await
    };
    let (operation, said) = match begun {
        Ok(begun) => begun,
        Err(refusal) => return refused(session, &refusal),
    };
    session.say(&said, &operation.ops.sources);
    if let Some(stream) = &session.stream {
        for change in plan.changes.iter().filter(|c| c.is_told()) {
            stream.event(&Event::Planned(Box::new(change.clone())));
        }
    }
    let code = carry_out(session, &operation, plan, None).await;
    operation.end().await;
    code
}

/// Plans, asks, and applies.
async fn fresh(
    session: &Session,
    arguments: &arguments::Apply,
    destroy: bool,
    interrupts: &Interrupts,
) -> u8 {
    let planning = &arguments.planning;
    let mode = mode(destroy || planning.destroy);
    let session = &match streaming(session, planning, mode) {
        Ok(session) => session,
        Err(code) => return code,
    };
    session.notice();
    if !session.is_for_people && !arguments.auto_approve {
        return session.fail(
            "Plan file or auto-approve required",
            "Nobody can be asked for approval where the output is for programs (-json). Apply a saved plan, or add -auto-approve.",
        );
    }
    if let Err(code) = needs_configuration(session, mode) {
        return code;
    }
    let mut wanted = Wanted::planning(planning);
    wanted.backup = arguments.backup.clone();
    let (operation, said) = match Operation::begin(session, interrupts, &wanted).await {
        Ok(begun) => begun,
        Err(refusal) => return refused(session, &refusal),
    };
    session.say(&said, &operation.ops.sources);
    let (outcome, mut code) = make(session, &operation, planning, mode).await;
    let approved = match &outcome.plan {
        Some(plan) if code == exit::SUCCESS => approve(session, arguments, plan),
        _ => Ok(false),
    };
    match approved {
        Ok(true) => {
            if let Some(plan) = outcome.plan {
                code = carry_out(session, &operation, plan, outcome.held).await;
            }
        }
        not => {
            let said = match outcome.held {
                Some(held) => held.release(&operation.ops).await,
                None => Diagnostics::new(),
            };
            code = code.max(session.say(&said, &SourceMap::new()));
            match not {
                Err(said) => code = session.say(&said, &SourceMap::new()),
                Ok(_) if code == exit::SUCCESS => {
                    session.tell("Nothing was changed.\n");
                    code = exit::FAILURE;
                }
                Ok(_) => {}
            }
        }
    }
    operation.end().await;
    code
}

fn approve(
    session: &Session,
    arguments: &arguments::Apply,
    plan: &Plan,
) -> Result<bool, Diagnostics> {
    if arguments.auto_approve || !plan.has_changes() {
        return Ok(true);
    }
    if arguments.planning.variables.input == Some(false) || !session.may_ask {
        return Err(Diagnostic::error(
            "Nobody can be asked for approval",
            "The plan changes something and was not approved, and questions are turned off (-input=false or TF_INPUT).",
        )
        .hint("To apply without being asked, add -auto-approve.")
        .into());
    }
    let (question, what) = if plan.mode == PlanMode::Destroy {
        (
            "Do you really want to destroy all of this?",
            "Everything shown above is removed. There is no undo.",
        )
    } else {
        (
            "Do you want to do this?",
            "Everything shown above is carried out.",
        )
    };
    session.tell("\n");
    session.approve(question, what)
}

/// Applies a plan and says what came of it.
async fn carry_out(session: &Session, operation: &Operation, plan: Plan, held: Option<Held>) -> u8 {
    let mode = plan.mode;
    if plan.has_changes() {
        session.tell("\n");
    }
    let outcome = formwork_ops::apply(&operation.ops, plan, held).await;
    let code = session.say(&outcome.diagnostics, &outcome.sources);
    if code != exit::SUCCESS {
        return code;
    }
    if !outcome.complete {
        return unfinished(session, &outcome);
    }
    if let Some(stream) = &session.stream {
        stream.outputs(outcome.state.outputs());
    }
    let line = lines::apply_line(mode, &outcome.summary);
    let mut text = format!("\n{}\n", session.style.good(&line));
    let outputs = outputs_text(outcome.state.outputs(), session.style);
    if mode != PlanMode::Destroy && !outputs.is_empty() {
        text.push_str(&format!("\n{outputs}"));
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    session.tell(&text);
    exit::SUCCESS
}

fn unfinished(session: &Session, outcome: &ApplyOutcome) -> u8 {
    let done = &outcome.summary;
    let why = if outcome.interrupted {
        "It was interrupted"
    } else {
        "Not everything was done"
    };
    session.fail(
        "Apply did not come to an end",
        format!(
            "{why}: {} added, {} changed, {} destroyed so far. The state holds what was done; apply again to go on.",
            done.add, done.change, done.remove
        ),
    )
}
