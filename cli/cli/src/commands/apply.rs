//! `apply` and `destroy`.

use super::plan::{make, mode, needs_configuration, options, streaming};
use crate::arguments::{self, Refresh};
use crate::operation::{Operation, Wanted, refused};
use crate::plan_file;
use crate::runtime::{Interrupts, block_on};
use crate::session::{Session, exit};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_ops::{ApplyOutcome, Held, PlanOptions, Rounds};
use formwork_plan::{Action, Event, Plan, PlanMode, ResourceInstanceChange};
use formwork_render::{lines, outputs_text};
use std::path::Path;

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Apply, mode: Option<PlanMode>) -> u8 {
    block_on(session, async |interrupts| match (&arguments.plan, mode) {
        (Some(path), None) => saved(session, arguments, path, interrupts).await,
        (Some(_), Some(mode)) => {
            let (command, flag) = match mode {
                PlanMode::RefreshOnly => ("refresh", "-refresh-only"),
                _ => ("destroy", "-destroy"),
            };
            session.fail(
                    "Failed to parse command-line flags",
                    format!(
                        "{command} makes its own plan and takes no plan file. Apply a plan made with {flag} \
                         instead."
                    ),
                )
        }
        (None, mode) => fresh(session, arguments, mode, interrupts).await,
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
    let plan = plan_file::bytes_of(session, path)
        .map_err(|said| plan_file::not_loaded(path, said))
        .and_then(|bytes| plan_file::read(&bytes, path));
    let session = &match streaming(session, planning, None) {
        Ok(session) => session,
        Err(code) => return code,
    };
    session.notice();
    let plan = match plan {
        Ok(plan) => plan,
        Err(said) => return session.say(&said, &SourceMap::new()),
    };
    let limiting = &planning.limiting;
    let shapes = planning.destroy
        || planning.refresh_only
        || planning.refresh != Refresh::All
        || planning.minimal_refresh
        || planning.allow_deferral.is_some()
        || limiting.is_given();
    if shapes {
        return session.fail(
            "Can't change a saved plan",
            "A saved plan is applied as it is: flags that shape a plan (-destroy, -refresh-only, -refresh, -target, -exclude, -replace, -allow-deferral) do not go with it. Make another plan with them.",
        );
    }
    let begun = {
        let mut wanted = Wanted::planning(planning);
        wanted.applies = true;
        wanted.backup = arguments.backup.clone();
        wanted.plan = Some(&plan);
        Operation::begin(session, interrupts, &wanted).await
    };
    let (mut operation, said) = match begun {
        Ok(begun) => begun,
        Err(refusal) => return refused(session, &refusal),
    };
    session.say(&said, &operation.ops.sources);
    if let Some(stream) = &session.stream {
        // what nothing is done for was told when it was planned; of what cannot be applied nothing is said
        let acts = |c: &&ResourceInstanceChange| c.action != Action::NoOp && !plan.errored;
        for change in plan.changes.iter().filter(acts) {
            stream.event(&Event::Planned(Box::new(change.clone())));
        }
    }
    let left = plan.deferred.len();
    let code = carry_out(session, &mut operation, plan, None, Closing::default()).await;
    if code == exit::SUCCESS && left > 0 {
        let again = format!("{} apply -allow-deferral", session.called);
        let text = format!(
            "This plan leaves {left} deferred change(s) to a further round, which needs a plan and an approval of its \
             own: {again}, or plan -allow-deferral -out=FILE."
        );
        session.tell(&format!("\n{text}\n"));
        if let Some(stream) = &session.stream {
            stream.log(&text);
        }
    }
    operation.end().await;
    code
}

/// Plans, asks, and applies.
async fn fresh(
    session: &Session,
    arguments: &arguments::Apply,
    command: Option<PlanMode>,
    interrupts: &Interrupts,
) -> u8 {
    let planning = &arguments.planning;
    let mode = match self::mode(session, planning, command) {
        Ok(mode) => mode,
        Err(code) => return code,
    };
    let approved = arguments.auto_approve || command == Some(PlanMode::RefreshOnly);
    let by_destroy = command == Some(PlanMode::Destroy);
    let session = &match streaming(session, planning, command) {
        Ok(session) => session,
        Err(code) => return code,
    };
    session.notice();
    if !session.is_for_people && !approved {
        return session.fail(
            "Plan file or auto-approve required",
            "Nobody can be asked for approval where the output is for programs (-json). Apply a saved plan, or add -auto-approve.",
        );
    }
    if let Err(code) = needs_configuration(session, mode) {
        return code;
    }
    let mut options = match options(session, planning, mode) {
        Ok(options) => options,
        Err(said) => return session.say(&said, &SourceMap::new()),
    };
    let mut wanted = Wanted::planning(planning);
    wanted.applies = true;
    wanted.backup = arguments.backup.clone();
    let (mut operation, said) = match Operation::begin(session, interrupts, &wanted).await {
        Ok(begun) => begun,
        Err(refusal) => return refused(session, &refusal),
    };
    session.say(&said, &operation.ops.sources);
    let mut rounds = Rounds::new();
    let code = loop {
        match round(
            session,
            arguments,
            &mut operation,
            &mut options,
            &mut rounds,
            approved,
            by_destroy,
        )
        .await
        {
            Round::Over(code) => break code,
            Round::More => {
                let next = rounds.number() + 1;
                session.tell(&format!("\nRound {next}: planning what was deferred.\n"));
                if let Some(stream) = &session.stream {
                    stream.log(&format!("Round {next}: planning what was deferred"));
                }
            }
        }
    };
    operation.end().await;
    code
}

/// How a round ended.
enum Round {
    /// The run is over.
    Over(u8),
    /// It was applied, and something is left.
    More,
}

/// Plans, asks, and applies what can be planned now.
async fn round(
    session: &Session,
    arguments: &arguments::Apply,
    operation: &mut Operation,
    options: &mut PlanOptions,
    rounds: &mut Rounds,
    approved: bool,
    by_destroy: bool,
) -> Round {
    let (outcome, mut code) = make(session, operation, &arguments.planning, options).await;
    let approved = match &outcome.plan {
        Some(plan) if code == exit::SUCCESS => rounds
            .begin(plan)
            .and_then(|()| approve(session, arguments, plan, approved)),
        _ => Ok(false),
    };
    match approved {
        Ok(true) => {
            if let Some(plan) = outcome.plan {
                let more = plan.is_deferred();
                Rounds::after(options, &plan);
                let closing = Closing {
                    round: more.then(|| rounds.number()),
                    by_destroy,
                };
                // What the plan was made from is not needed any more: it holds what it is applied by.
                drop((outcome.loaded, outcome.evaluator));
                code = carry_out(session, operation, plan, outcome.held, closing).await;
                if more && code == exit::SUCCESS {
                    return Round::More;
                }
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
                    session.tell(match rounds.number() {
                        0 | 1 => "Nothing was changed.\n",
                        _ => {
                            "Nothing more was changed. What the rounds before have applied stays.\n"
                        }
                    });
                    code = exit::FAILURE;
                }
                Ok(_) => {}
            }
        }
    }
    Round::Over(code)
}

fn approve(
    session: &Session,
    arguments: &arguments::Apply,
    plan: &Plan,
    approved: bool,
) -> Result<bool, Diagnostics> {
    if approved || !plan.has_changes() {
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
    let (question, what) = match plan.mode {
        PlanMode::Destroy => (
            "Do you really want to destroy all of this?",
            "Everything shown above is removed. There is no undo.",
        ),
        PlanMode::RefreshOnly => (
            "Do you want the state to record this?",
            "What is shown above is written into the state; nothing in the world is changed.",
        ),
        PlanMode::Normal => (
            "Do you want to do this?",
            "Everything shown above is carried out.",
        ),
    };
    session.tell("\n");
    session.approve(question, what)
}

/// What is said when a plan has been applied.
#[derive(Default)]
struct Closing {
    /// The number of the round, if others follow; outputs are then left for the end.
    round: Option<usize>,
    /// Whether the command was `destroy`, which has words of its own and shows no outputs.
    by_destroy: bool,
}

/// Applies a plan and says what came of it.
async fn carry_out(
    session: &Session,
    operation: &mut Operation,
    plan: Plan,
    held: Option<Held>,
    Closing { round, by_destroy }: Closing,
) -> u8 {
    if plan.has_changes() {
        session.tell("\n");
    }
    if let Some(foot) = &operation.foot {
        foot.expect(&plan);
    }
    let outcome = formwork_ops::apply(&operation.ops, plan, held).await;
    if let Some(foot) = &operation.foot {
        foot.end();
    }
    let code = session.say(&outcome.diagnostics, &outcome.sources);
    if code != exit::SUCCESS {
        return code;
    }
    if !outcome.complete {
        return unfinished(session, &outcome);
    }
    // after what there was to say, as programs know it
    let all = operation.ops.settings.done.plus(outcome.summary);
    operation.ops.events.emit(Event::ApplySummary(all));
    if let Some(stream) = session
        .stream
        .as_ref()
        .filter(|_| round.is_none() && !by_destroy)
    {
        stream.outputs(outcome.state.outputs());
    }
    if round.is_some() {
        operation.ops.settings.done = all;
    }
    let line = match round {
        Some(number) => lines::round_line(number, &outcome.summary),
        None => lines::apply_line(by_destroy, &all),
    };
    let mut text = format!("\n{}\n", session.style.good(&line));
    let outputs = outputs_text(outcome.state.outputs(), session.style);
    if !by_destroy && round.is_none() && !outputs.is_empty() {
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
