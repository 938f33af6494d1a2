//! `test`.

use crate::arguments;
use crate::inputs::gather_tests;
use crate::operation::{Operation, Wanted, refused};
use crate::runtime::{Interrupts, block_on};
use crate::session::{CloudChoice, Session, exit};
use crate::stream::private_file;
use crate::test_worlds::Worlds;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_eval::Builtins;
use formwork_ops::{KeptState, TestEvent, TestOptions, TestSink, TestStates};
use formwork_plan::{LeftBehind, TestReport, TestStatus};
use formwork_render::{
    KnownFunctions, TestStream, TestText, diagnostics_text, junit, outputs_text, plan_text,
    state_text,
};
use formwork_state::timestamp;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Test) -> u8 {
    if arguments.cloud_run.is_some() {
        return session.fail(
            "Not served",
            "-cloud-run hands the tests to HCP Terraform, which Formwork does not work with. Without the flag they run \
             here; with -mock they touch nothing real.",
        );
    }
    if let Err(code) = session.one_stream(&arguments.streaming) {
        return code;
    }
    if !arguments.streaming.json {
        session.notice_of_tests();
    }
    block_on(session, async |interrupts| {
        test(session, arguments, interrupts).await
    })
}

async fn test(session: &Session, arguments: &arguments::Test, interrupts: &Interrupts) -> u8 {
    let json = arguments.streaming.json;
    let into = arguments.streaming.json_into.as_deref();
    let beside = match into.map(|path| private_file(session, path)).transpose() {
        Ok(file) => file.map(Mutex::new),
        Err(error) => return session.cannot_stream(into.unwrap_or(Path::new("-")), &error),
    };
    let variables = arguments::Variables {
        inputs: arguments.inputs.clone(),
        input: Some(false),
    };
    let wanted = Wanted {
        variables: Some(&variables),
        reading: arguments.reading.clone(),
        parallelism: Some(arguments.parallelism),
        for_program: true,
        // each test file has a cloud of its own
        no_cloud: true,
        no_state: true,
        ..Wanted::default()
    };
    let (mut operation, said) = match Operation::begin(session, interrupts, &wanted).await {
        Ok(begun) => begun,
        Err(refusal) => return refused(session, &refusal),
    };
    let (inputs, more) = gather_tests(
        session,
        &arguments.test_directory,
        &mut operation.ops.sources,
    );
    let mut code = exit::SUCCESS;
    for said in [&said, &more] {
        code = code.max(session.say_as(said, &operation.ops.sources, false, json));
    }
    if code != exit::SUCCESS {
        operation.end().await;
        return code;
    }
    let states = TestStates::default();
    let options = TestOptions {
        directory: arguments.test_directory.clone(),
        filters: arguments.filter.clone(),
        inputs,
        states: states.clone(),
    };
    let recoverable = session.cloud != CloudChoice::Mock;
    if recoverable {
        let working = session.environment.working.clone();
        let streams = session.streams;
        interrupts.before_the_end(move || {
            for kept in states.kept() {
                let KeptState {
                    name,
                    state,
                    journal,
                } = kept;
                match save(&working, &state, &journal) {
                    Ok(path) => streams.error(&format!(
                        "What {name} made is in the state {}.\n",
                        path.display()
                    )),
                    Err(error) => streams.error(&format!(
                        "What {name} made is lost track of: its state cannot be written: {error}.\n"
                    )),
                }
            }
        });
    }
    let sink = Sink {
        session,
        json,
        beside,
        verbose: arguments.verbose,
        level: operation.ops.settings.level.version.to_string(),
        functions: session.signatures(),
        recoverable,
    };
    if sink.json || sink.beside.is_some() {
        sink.line(|s, at| s.version(at));
    }
    let worlds = Worlds::new(session, interrupts);
    let report = formwork_ops::test(&operation.ops, &options, &worlds, &sink).await;
    operation.end().await;
    let Some(report) = report else {
        return exit::FAILURE;
    };
    if let Some(path) = &arguments.junit_xml {
        code = write_junit(session, path, &report);
    }
    let interrupted = interrupts.cancellation().is_cancelled();
    if report.status() != TestStatus::Pass || interrupted {
        code = exit::FAILURE;
    }
    code
}

fn write_junit(session: &Session, path: &Path, report: &TestReport) -> u8 {
    let text = junit(report, &timestamp);
    match std::fs::write(session.environment.working.join(path), text) {
        Ok(()) => exit::SUCCESS,
        Err(error) => session.fail(
            "Failed to write file",
            format!("{} cannot be written: {error}.", path.display()),
        ),
    }
}

/// Saves a state that a clean-up could not empty, under a name that is free.
fn save(working: &Path, state: &[u8], journal: &[u8]) -> std::io::Result<PathBuf> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let begin = |path: &Path| {
        std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
    };
    let mut n = 1u32;
    loop {
        let name = match n {
            1 => "errored_test.tfstate".to_owned(),
            n => format!("errored_test.{n}.tfstate"),
        };
        let path = working.join(&name);
        match begin(&path) {
            Ok(mut file) => {
                file.write_all(state)?;
                file.sync_all()?;
                if !journal.is_empty() {
                    let beside = working.join(format!("{name}.journal"));
                    let mut file = begin(&beside)?;
                    file.write_all(journal)?;
                    file.sync_all()?;
                }
                return Ok(name.into());
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && n < 10_000 => n += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Tells people or programs what happens.
struct Sink<'s> {
    session: &'s Session,
    /// Whether standard output is for programs.
    json: bool,
    /// The file for programs, beside text for people.
    beside: Option<Mutex<File>>,
    verbose: bool,
    level: String,
    functions: Builtins,
    /// Whether a state is of use to anybody once the process has ended.
    recoverable: bool,
}

impl Sink<'_> {
    fn line(&self, text: impl FnOnce(&TestStream<'_>, &str) -> String) {
        // by the name that we were called by
        let tool_version = match self.session.product() {
            "Formwork" => super::VERSION,
            _ => &self.level,
        };
        let stream = TestStream {
            product: self.session.product(),
            tool_version,
            language_version: &self.level,
            signatures: &KnownFunctions(&self.functions),
        };
        let at = timestamp(self.session.environment.clock.now());
        let line = text(&stream, &at);
        match &self.beside {
            None => self.session.streams.out(&line),
            Some(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = file.write_all(line.as_bytes());
            }
        }
    }

    fn diagnostic_lines(
        &self,
        file: Option<&str>,
        run: Option<&str>,
        said: &Diagnostics,
        sources: &SourceMap,
    ) {
        for d in said {
            self.line(|s, at| s.diagnostic(at, file, run, d, sources));
        }
    }

    fn diagnostics(&self, said: &Diagnostics, sources: &SourceMap) {
        let (errors, warnings): (Vec<_>, Vec<_>) =
            said.iter().cloned().partition(Diagnostic::is_error);
        let (errors, warnings): (Diagnostics, Diagnostics) =
            (errors.into_iter().collect(), warnings.into_iter().collect());
        if !warnings.is_empty() {
            let text = diagnostics_text(&warnings, sources, self.session.style);
            self.session.streams.out(&format!("{text}\n"));
        }
        if !errors.is_empty() {
            let text = diagnostics_text(&errors, sources, self.session.error_style);
            self.session.streams.error(&text);
        }
    }

    fn as_json(&self, event: &TestEvent<'_>) {
        match event {
            TestEvent::Found(files) => self.line(|s, at| s.found(at, files)),
            TestEvent::FileBegun(file) => self.line(|s, at| s.file_begun(at, file)),
            TestEvent::RunBegun(file, run) => self.line(|s, at| s.run_begun(at, file, run)),
            TestEvent::RunEnded(file, report) => self.line(|s, at| s.run_ended(at, file, report)),
            TestEvent::Planned {
                file,
                run,
                plan,
                configuration,
                schemas,
            } => {
                if self.verbose {
                    self.line(|s, at| s.planned(at, (file, run), plan, configuration, schemas));
                }
            }
            TestEvent::Made {
                file,
                run,
                snapshot,
                schemas,
            } => {
                if self.verbose {
                    self.line(|s, at| s.made(at, (file, run), &snapshot.state, schemas));
                }
            }
            TestEvent::Said(file, run, said, sources) => {
                self.diagnostic_lines(*file, *run, said, sources);
            }
            TestEvent::FileEnding(file) => self.line(|s, at| s.file_ending(at, file)),
            TestEvent::RunEnding(file, run) => self.line(|s, at| s.run_ending(at, file, run)),
            TestEvent::Left(file, left) => {
                if !left.addresses.is_empty() {
                    self.line(|s, at| s.left(at, file, left));
                }
                let run = Some(&*left.run);
                self.diagnostic_lines(Some(file), run, &left.diagnostics, &left.sources);
                if self.json {
                    self.save(left);
                }
            }
            TestEvent::FileEnded(report) => self.line(|s, at| s.file_ended(at, report)),
            TestEvent::Interrupted => {
                self.line(|s, at| s.log(at, "Interrupted: the tests that are left are skipped"));
            }
            TestEvent::Ended(report) => self.line(|s, at| s.summary(at, report)),
        }
    }

    fn as_text(&self, event: &TestEvent<'_>) {
        let style = self.session.style;
        let text = TestText { style };
        let out = |text: &str| self.session.streams.out(text);
        match event {
            TestEvent::Found(_) | TestEvent::RunBegun(..) | TestEvent::RunEnding(..) => {}
            TestEvent::Interrupted => {}
            TestEvent::FileBegun(file) => out(&text.file_begun(file)),
            TestEvent::RunEnded(_, report) => out(&text.run_ended(report)),
            TestEvent::Planned { plan, schemas, .. } => {
                if self.verbose {
                    let shown = plan_text(plan, schemas, style);
                    out(&format!("\n{}\n\n", shown.trim_end_matches('\n')));
                }
            }
            TestEvent::Made {
                snapshot, schemas, ..
            } => {
                if self.verbose {
                    let state = &snapshot.state;
                    let mut shown = state_text(state, schemas, style);
                    if shown.trim().is_empty() {
                        shown = outputs_text(state.outputs(), style);
                    }
                    out(&format!("\n{}\n\n", shown.trim_matches('\n')));
                }
            }
            TestEvent::Said(_, _, said, sources) => self.diagnostics(said, sources),
            TestEvent::FileEnding(file) => out(&text.file_ending(file)),
            TestEvent::Left(file, left) => {
                let style = self.session.error_style;
                let shown = TestText { style }.left(file, left);
                self.session.streams.error(&shown);
                self.save(left);
            }
            TestEvent::FileEnded(report) => out(&text.file_ended(report)),
            TestEvent::Ended(report) => out(&text.summary(report)),
        }
    }

    /// Keeps the state of what was left behind, where it is of use.
    fn save(&self, left: &LeftBehind) {
        if !self.recoverable || left.state.is_empty() && left.journal.is_empty() {
            return;
        }
        let working = &self.session.environment.working;
        match save(working, &left.state, &left.journal) {
            Ok(path) if self.json => {
                let said = format!("The state that knows them is in {}", path.display());
                self.line(|s, at| s.log(at, &said));
            }
            Ok(path) => self.session.streams.error(&format!(
                "The state that knows them is in {}: to try again to destroy them, run the module under test with it \
                 as its state.\n",
                path.display()
            )),
            Err(error) => {
                self.session.fail(
                    "Failed to write file",
                    format!("The state that knows them cannot be written: {error}."),
                );
            }
        }
    }
}

impl TestSink for Sink<'_> {
    fn emit(&self, event: TestEvent<'_>) {
        if self.json {
            self.as_json(&event);
        } else {
            self.as_text(&event);
            if self.beside.is_some() {
                self.as_json(&event);
            }
        }
    }
}
