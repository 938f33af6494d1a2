//! `plan`.

use crate::arguments::{self, Refresh};
use crate::operation::{Operation, Wanted, refused};
use crate::plan_file;
use crate::runtime::{Interrupts, block_on};
use crate::session::{Session, exit};
use formwork_addresses::{AbsResourceInstance, ResourceMode, Target};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_ops::{Limits, PlanOptions, PlanOutcome};
use formwork_plan::{Plan, PlanMode};
use formwork_render::plan_text_explained;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Plan) -> u8 {
    block_on(session, async |interrupts| {
        plan(session, arguments, interrupts).await
    })
}

async fn plan(session: &Session, arguments: &arguments::Plan, interrupts: &Interrupts) -> u8 {
    let planning = &arguments.planning;
    let mode = match mode(session, planning, None) {
        Ok(mode) => mode,
        Err(code) => return code,
    };
    let session = match streaming(session, planning, None) {
        Ok(session) => session,
        Err(code) => return code,
    };
    let session = &session;
    session.notice();
    if let Err(code) = needs_configuration(session, mode) {
        return code;
    }
    let mut options = match options(session, planning, mode) {
        Ok(options) => options,
        Err(said) => return session.say(&said, &SourceMap::new()),
    };
    if let Some(file) = &arguments.generate_config_out {
        if session.environment.working.join(file).exists() {
            return session.fail(
                "Target generated file already exists",
                format!(
                    "{} is to hold generated blocks, but it is there already, and is not overwritten. Name another \
                     file, or move what it holds to where it belongs.",
                    file.display()
                ),
            );
        }
        options.generate = Some(file.to_string_lossy().into_owned());
    }
    let wanted = Wanted::planning(planning);
    let (operation, said) = match Operation::begin(session, interrupts, &wanted).await {
        Ok(begun) => begun,
        Err(refusal) => return refused(session, &refusal),
    };
    session.say(&said, &operation.ops.sources);
    let (outcome, mut code) = make(session, &operation, planning, &options).await;
    match &outcome.plan {
        // what went wrong is in it, for those who look at plans by program
        Some(plan) if plan.errored => code = code.max(save_errored(session, arguments, plan)),
        Some(plan) if code == exit::SUCCESS => code = save(session, arguments, plan),
        _ => {}
    }
    if let (Some(file), Some(text)) = (&arguments.generate_config_out, &outcome.generated) {
        code = code.max(write_generated(session, file, text));
    }
    let said = match outcome.held {
        Some(held) => held.release(&operation.ops).await,
        None => formwork_diagnostics::Diagnostics::new(),
    };
    code = code.max(session.say(&said, &SourceMap::new()));
    let changes = outcome
        .plan
        .as_ref()
        .is_some_and(|p| p.has_changes() || p.is_deferred());
    if code == exit::SUCCESS && arguments.detailed_exitcode && changes {
        code = exit::CHANGES;
    }
    operation.end().await;
    // Never freed, as the configuration is not: the process ends here, and taking a large plan apart
    // node by node costs as much as a part of making it.
    std::mem::forget((outcome.plan, outcome.loaded, outcome.evaluator));
    code
}

/// Writes blocks that were generated, and says so.
fn write_generated(session: &Session, file: &Path, text: &str) -> u8 {
    use std::io::Write as _;
    let path = session.environment.working.join(file);
    let written = std::fs::File::create_new(&path).and_then(|mut f| f.write_all(text.as_bytes()));
    match written {
        Ok(()) => {
            session.tell(&format!(
                "Blocks for what is imported are in {}. Look them over before you apply.\n",
                file.display()
            ));
            exit::SUCCESS
        }
        Err(error) => session.fail(
            "Failed to write generated configuration",
            format!("{} cannot be written: {error}.", file.display()),
        ),
    }
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

/// The session, telling programs what happens if that is wanted; `command` is that of `destroy` and `refresh`.
pub fn streaming(
    session: &Session,
    planning: &arguments::Planning,
    command: Option<PlanMode>,
) -> Result<Session, u8> {
    let strict = planning.reading.strict_version;
    session.streaming(&planning.streaming, strict, command)
}

/// Which kind of plan is wanted, by the command or by flags.
///
/// # Errors
/// The exit code when two are wanted at once, which was said.
pub fn mode(
    session: &Session,
    planning: &arguments::Planning,
    command: Option<PlanMode>,
) -> Result<PlanMode, u8> {
    let destroys = planning.destroy || command == Some(PlanMode::Destroy);
    let refreshes = planning.refresh_only || command == Some(PlanMode::RefreshOnly);
    let wrong = |detail: &str| Err(session.fail("Incompatible plan mode options", detail));
    match (destroys, refreshes) {
        (true, true) => wrong(
            "A plan either destroys (-destroy) or only records what has changed outside (-refresh-only).",
        ),
        (_, true) if planning.refresh == Refresh::Nothing => wrong(
            "A plan that only refreshes (-refresh-only) does nothing at all with -refresh=false.",
        ),
        (_, true) if planning.refresh == Refresh::Changed || planning.minimal_refresh => wrong(
            "A plan that only refreshes (-refresh-only) touches nothing, so there is nothing that a light \
             refresh (-refresh=changed, -minimal-refresh) would read.",
        ),
        _ if planning.refresh == Refresh::Nothing && planning.minimal_refresh => wrong(
            "-refresh=false reads nothing, and -minimal-refresh what the plan touches: name one of the two.",
        ),
        (_, true) if !planning.limiting.replace.is_empty() => wrong(
            "A plan that only refreshes (-refresh-only) replaces nothing, so -replace does not go with it.",
        ),
        (true, _) if !planning.limiting.replace.is_empty() => wrong(
            "A plan that destroys (-destroy) replaces nothing, so -replace does not go with it.",
        ),
        (true, _) => Ok(PlanMode::Destroy),
        (_, true) => Ok(PlanMode::RefreshOnly),
        _ => Ok(PlanMode::Normal),
    }
}

/// How to plan, by the flags.
pub fn options(
    session: &Session,
    planning: &arguments::Planning,
    mode: PlanMode,
) -> Result<PlanOptions, Diagnostics> {
    let limiting = &planning.limiting;
    let mut said = Diagnostics::new();
    let limits = Limits {
        targets: targets(
            session,
            "-target",
            &limiting.target,
            &limiting.target_file,
            &mut said,
        ),
        excludes: targets(
            session,
            "-exclude",
            &limiting.exclude,
            &limiting.exclude_file,
            &mut said,
        ),
    };
    if !limits.targets.is_empty() && !limits.excludes.is_empty() {
        said.push(Diagnostic::error(
            "Invalid combination of arguments",
            "-target and -exclude do not go together: name either what takes part or what does not.",
        ));
    }
    let mut replace = BTreeSet::new();
    for text in &limiting.replace {
        match text.parse::<AbsResourceInstance>() {
            Ok(address) if address.resource.mode == ResourceMode::Managed => {
                replace.insert(address);
            }
            Ok(_) => said.push(Diagnostic::error(
                "Invalid force-replace address",
                format!("-replace names {text}, but only managed resources can be replaced."),
            )),
            Err(why) => said.push(Diagnostic::error(
                "Invalid force-replace address",
                format!("-replace names {text:?}, which is no address of an instance: {why}."),
            )),
        }
    }
    let defer = planning
        .allow_deferral
        .unwrap_or_else(|| deferral_setting(session, &mut said));
    if said.has_errors() {
        return Err(said);
    }
    Ok(PlanOptions {
        mode,
        refresh: planning.refresh != Refresh::Nothing,
        only_changed: planning.refresh == Refresh::Changed || planning.minimal_refresh,
        replace,
        limits,
        generate: None,
        defer,
    })
}

/// Whether changes may be deferred where no flag says so: `FORMWORK_ALLOW_DEFERRAL`.
fn deferral_setting(session: &Session, said: &mut Diagnostics) -> bool {
    const VARIABLE: &str = "FORMWORK_ALLOW_DEFERRAL";
    match session.environment.variable(VARIABLE) {
        None | Some("" | "0" | "false") => false,
        Some("1" | "true") => true,
        Some(other) => {
            said.push(Diagnostic::error(
                format!("Invalid {VARIABLE}"),
                format!("{VARIABLE} is {other:?}. It may be 1 or true, 0 or false."),
            ));
            false
        }
    }
}

/// The addresses that a flag and files name.
fn targets(
    session: &Session,
    flag: &str,
    given: &[String],
    files: &[PathBuf],
    said: &mut Diagnostics,
) -> Vec<Target> {
    let mut named: Vec<(String, String)> = Vec::new();
    named.extend(given.iter().map(|text| (text.clone(), flag.to_owned())));
    for path in files {
        match std::fs::read_to_string(session.environment.working.join(path)) {
            Ok(text) => {
                for (n, line) in text.lines().enumerate() {
                    let line = line.split('#').next().unwrap_or_default().trim();
                    if !line.is_empty() {
                        let from = format!("Line {} of {}", n + 1, path.display());
                        named.push((line.to_owned(), from));
                    }
                }
            }
            Err(error) => said.push(Diagnostic::error(
                "Failed to read targets",
                format!("{} cannot be read: {error}.", path.display()),
            )),
        }
    }
    let mut found = Vec::new();
    for (text, from) in named {
        match text.parse() {
            Ok(target) => found.push(target),
            Err(why) => said.push(Diagnostic::error(
                "Invalid target",
                format!("{from} names {text:?}, which is no address: {why}."),
            )),
        }
    }
    found
}

/// Plans, and shows the plan and what there is to say about it.
pub async fn make(
    session: &Session,
    operation: &Operation,
    planning: &arguments::Planning,
    options: &PlanOptions,
) -> (PlanOutcome, u8) {
    let outcome = formwork_ops::plan(&operation.ops, options).await;
    if let (Some(stream), Some(plan)) = (&session.stream, &outcome.plan) {
        stream.planned_outputs(&plan.outputs);
        for deferred in &plan.deferred {
            stream.log(&format!(
                "Deferred: {} ({})",
                deferred.address,
                deferred.why()
            ));
        }
    }
    if let Some(plan) = outcome
        .plan
        .as_ref()
        .filter(|p| session.is_for_people && (!p.errored || p.has_changes()))
    {
        let text = plan_text_explained(
            plan,
            &outcome.providers.all_schemas(),
            session.style,
            &outcome.loaded.configuration,
            outcome.sources(),
        );
        session.tell(&format!("\n{text}"));
        if !text.ends_with('\n') {
            session.tell("\n");
        }
    }
    // by the name that we were called by
    let named = outcome.diagnostics.iter().cloned().map(|mut d| {
        if let Some(start) = d.summary.strip_suffix("by Formwork") {
            d.summary = format!("{start}by {}", session.product());
        }
        d
    });
    let mut code = session.say_as(
        &named.collect(),
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

/// Saves a plan that cannot be applied, if it was asked for.
fn save_errored(session: &Session, arguments: &arguments::Plan, plan: &Plan) -> u8 {
    let saved = arguments
        .saved_to()
        .map(|path| plan_file::write(session, path, plan));
    match saved {
        Some(Err(said)) => session.say(&said, &SourceMap::new()),
        _ => exit::SUCCESS,
    }
}

fn save(session: &Session, arguments: &arguments::Plan, plan: &Plan) -> u8 {
    let rule = "\u{2500}".repeat(session.style.width.unwrap_or(78).min(78));
    let Some(path) = arguments.saved_to() else {
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
