//! A command's surroundings and settings, brought together.

use crate::arguments::{Arguments, Streaming};
use crate::stream::Stream;
use crate::surroundings::{Streams, Surroundings, Terminal};
use formwork_configuration::{ConfinedReader, DiskReader, LanguageLevel, SourceReader};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_environment::Environment;
use formwork_eval::{Builtins, Confinement, NoFiles};
use formwork_plan::PlanMode;
use formwork_render::{Style, compact_warnings, diagnostics_text};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What the process answers to who called it.
pub mod exit {
    /// Done.
    pub const SUCCESS: u8 = 0;
    /// Not done, and why was said.
    pub const FAILURE: u8 = 1;
    /// `-detailed-exitcode`: something would change.
    pub const CHANGES: u8 = 2;
    /// `fmt`: a file cannot be read or laid out.
    pub const UNREADABLE: u8 = 2;
    /// `fmt -check`: a file is not laid out as it should be.
    pub const NOT_LAID_OUT: u8 = 3;
    /// No command was named at all.
    pub const NO_COMMAND: u8 = 127;
    /// A group of commands was named, and none of them.
    pub const NO_SUBCOMMAND: u8 = 1;
}

/// Which cloud is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CloudChoice {
    /// The real one.
    Real,
    /// The mock of this directory.
    Mock,
    /// The mock at this address.
    MockAt(String),
}

/// Everything a command knows before it begins.
#[derive(Clone)]
pub struct Session {
    /// For operations.
    pub environment: Environment,
    /// Where text goes.
    pub streams: Streams,
    /// What people can see and answer.
    pub terminal: Terminal,
    /// How text on standard output looks.
    pub style: Style,
    /// How text on standard error looks.
    pub error_style: Style,
    /// The name by which the program was called.
    pub called: String,
    /// Whether questions may be asked, as the environment has it; `-input` may say otherwise.
    pub may_ask: bool,
    /// Whether a pipeline runs us: advice on what to run next is left out.
    pub automation: bool,
    /// Where the command was called, before `-chdir`.
    pub called_in: PathBuf,
    /// The directory within which the configuration may read files, if it may not read all.
    pub files_within: Option<Arc<Confinement>>,
    /// Where working data of the directory live: `.terraform`.
    pub data_directory: PathBuf,
    /// The claim about the language, if the environment has another.
    pub claim: Option<String>,
    /// Which cloud.
    pub cloud: CloudChoice,
    /// Whether the state is kept where a backend `gcs` says, in the mock cloud's own storage.
    pub mock_backend: bool,
    /// Where the lines for programs go, if there are any.
    pub stream: Option<Arc<Stream>>,
    /// Whether text for people is written at all.
    pub is_for_people: bool,
}

impl Session {
    /// Reads the settings.
    ///
    /// # Errors
    /// The surroundings back, and which setting is wrong.
    pub fn new(
        mut surroundings: Surroundings,
        arguments: &Arguments,
    ) -> Result<Self, Box<(Surroundings, Diagnostics)>> {
        let called_in = surroundings.environment.working.clone();
        if let Some(directory) = &arguments.before.chdir
            && let Err(error) = surroundings.change_directory(directory)
        {
            let d = Diagnostic::error(
                "Invalid -chdir option",
                format!(
                    "The directory {} cannot be gone to: {error}.",
                    directory.display()
                ),
            );
            return Err(Box::new((surroundings, d.into())));
        }
        let files_within = match confinement(&surroundings, arguments) {
            Ok(within) => within,
            Err(d) => return Err(Box::new((surroundings, d))),
        };
        let settings = read(&surroundings, arguments);
        let (claim, cloud) = match settings {
            Ok(settings) => settings,
            Err(d) => return Err(Box::new((surroundings, d))),
        };
        let Surroundings {
            called,
            environment,
            streams,
            terminal,
            ..
        } = surroundings;
        crate::log::start(&environment);
        let plain = arguments.anywhere.no_color || environment.variable("NO_COLOR").is_some();
        let product = stands_for(goes_by(&environment, &called)).map_or("Formwork", |(p, _)| p);
        let style = |watched: bool| Style {
            product,
            ..if watched && !plain {
                Style::terminal(terminal.width)
            } else {
                Style::PLAIN
            }
        };
        Ok(Self {
            style: style(terminal.output),
            error_style: style(terminal.error),
            called,
            called_in,
            files_within,
            may_ask: !matches!(environment.variable("TF_INPUT"), Some("0" | "false")),
            automation: environment.variable("TF_IN_AUTOMATION").is_some(),
            data_directory: environment
                .variable("TF_DATA_DIR")
                .unwrap_or(".terraform")
                .into(),
            claim,
            mock_backend: arguments.anywhere.mock_backend,
            cloud,
            environment,
            streams,
            terminal,
            stream: None,
            is_for_people: true,
        })
    }

    /// What reads the files of the configuration.
    pub fn reader(&self) -> Arc<dyn SourceReader + Send + Sync> {
        let base = self.environment.working.clone();
        match &self.files_within {
            None => Arc::new(DiskReader { base }),
            Some(within) => Arc::new(ConfinedReader {
                base,
                within: within.clone(),
            }),
        }
    }

    /// The same session, telling programs what happens: in place of people (`-json`), or beside them in
    /// a file (`-json-into`).
    ///
    /// # Errors
    /// The exit code when the file cannot be written, which was said.
    pub fn streaming(
        &self,
        streaming: &Streaming,
        strict_version: bool,
        command: Option<PlanMode>,
    ) -> Result<Self, u8> {
        let mut session = self.clone();
        let into = streaming.json_into.as_deref();
        self.one_stream(streaming)?;
        if streaming.json || into.is_some() {
            let level = self.level(strict_version).version.to_string();
            match Stream::begin(self, into, level, command) {
                Ok(stream) => session.stream = Some(Arc::new(stream)),
                Err(error) => {
                    return Err(self.cannot_stream(into.unwrap_or(Path::new("-")), &error));
                }
            }
            session.is_for_people = !streaming.json;
        }
        Ok(session)
    }

    /// Refuses what programs read at two places.
    ///
    /// # Errors
    /// The exit code, when both are wanted, which was said.
    pub fn one_stream(&self, streaming: &Streaming) -> Result<(), u8> {
        if streaming.json && streaming.json_into.is_some() {
            return Err(self.fail(
                "Failed to parse command-line flags",
                "-json writes the lines to standard output, -json-into=FILE beside the text for people \
                 into a file: only one of them can be meant.",
            ));
        }
        Ok(())
    }

    /// Says why what programs read cannot be written, and gives the exit code.
    pub fn cannot_stream(&self, path: &Path, error: &std::io::Error) -> u8 {
        self.fail(
            "Failed to write the event stream",
            format!("The file {} cannot be written: {error}.", path.display()),
        )
    }

    /// The functions of the language, for what their signatures say: none of them reads a file.
    pub fn signatures(&self) -> Builtins {
        Builtins::new(formwork_eval::Surroundings {
            files: Arc::new(NoFiles),
            clock: self.environment.clock.clone(),
            randomness: self.environment.randomness.clone(),
            plan_time: None,
            settle_impure: false,
        })
    }

    /// Writes text for people, if any read.
    pub fn tell(&self, text: &str) {
        if self.is_for_people {
            self.streams.out(text);
        }
    }

    /// The language level that is claimed.
    pub fn level(&self, strict: bool) -> LanguageLevel {
        // a claim that is no version was refused at the start
        LanguageLevel::new(self.claim.as_deref(), strict).unwrap_or(LanguageLevel {
            strict,
            ..LanguageLevel::default()
        })
    }

    /// The name by which we speak of ourselves: another tool's where we are called by its name, since
    /// pipelines look for that.
    pub fn product(&self) -> &'static str {
        self.style.product
    }

    /// Says first of all, where people read, that the cloud is a mock.
    pub fn notice(&self) {
        if let Some(notice) = crate::mock::notice(&self.cloud) {
            self.tell(&notice);
            if let Some(stream) = &self.stream {
                stream.log(notice.trim_end());
            }
        }
    }

    /// The same for tests, whose mock clouds are their own.
    pub fn notice_of_tests(&self) {
        match &self.cloud {
            CloudChoice::Mock => self.streams.out(
                "Mock clouds: nothing real is touched. Each test file has its own, and nothing of it is kept.\n",
            ),
            _ => self.notice(),
        }
    }

    /// Whether the working directory holds a configuration.
    pub fn has_configuration(&self) -> bool {
        let names = std::fs::read_dir(&self.environment.working);
        names.into_iter().flatten().flatten().any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            !name.starts_with('.') && (name.ends_with(".tf") || name.ends_with(".tf.json"))
        })
    }

    /// How long an interrupted apply waits for what runs: `FORMWORK_DETACH_AFTER`.
    ///
    /// # Errors
    /// That it is no duration.
    pub fn detach_after(&self) -> Result<Duration, Diagnostics> {
        const VARIABLE: &str = "FORMWORK_DETACH_AFTER";
        let Some(text) = self.environment.variable(VARIABLE) else {
            return Ok(Duration::from_secs(10));
        };
        crate::arguments::durations::duration(text).map_err(|why| {
            Diagnostic::error(format!("Invalid {VARIABLE}"), format!("{why}.")).into()
        })
    }

    /// The workspace that is selected, by `TF_WORKSPACE` or by the data directory.
    pub fn workspace(&self) -> String {
        if let Some(name) = self.environment.variable("TF_WORKSPACE") {
            return name.to_owned();
        }
        let file = self.environment.working.join(&self.data_directory);
        std::fs::read_to_string(file.join("environment"))
            .ok()
            .map(|text| text.trim().to_owned())
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "default".to_owned())
    }

    /// Writes down which workspace is selected.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub fn select(&self, name: &str) -> Result<(), Diagnostics> {
        let folder = self.environment.working.join(&self.data_directory);
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(folder.join("environment"), name))
            .map_err(|error| {
                Diagnostic::error(
                    "Failed to select workspace",
                    format!(
                        "Which workspace is selected cannot be written into {}: {error}.",
                        self.data_directory.display()
                    ),
                )
                .into()
            })
    }

    /// Says what there is to say: errors on standard error, warnings on standard output. Gives the
    /// exit code: failure if there was an error.
    pub fn say(&self, diagnostics: &Diagnostics, sources: &SourceMap) -> u8 {
        self.say_as(diagnostics, sources, false, false)
    }

    /// The same, with warnings shown compactly, or left out where standard output belongs to a
    /// program.
    pub fn say_as(
        &self,
        diagnostics: &Diagnostics,
        sources: &SourceMap,
        compact: bool,
        for_program: bool,
    ) -> u8 {
        if let Some(stream) = &self.stream {
            stream.diagnostics(diagnostics, sources);
        }
        if !self.is_for_people {
            return if diagnostics.has_errors() {
                exit::FAILURE
            } else {
                exit::SUCCESS
            };
        }
        let (errors, warnings): (Vec<_>, Vec<_>) =
            diagnostics.iter().cloned().partition(Diagnostic::is_error);
        let warnings: Diagnostics = warnings.into_iter().collect();
        let errors: Diagnostics = errors.into_iter().collect();
        if !warnings.is_empty() && !for_program {
            let text = if compact {
                compact_warnings(&warnings, sources, self.style)
            } else {
                diagnostics_text(&warnings, sources, self.style)
            };
            self.streams.out(&text);
        }
        if errors.is_empty() {
            return exit::SUCCESS;
        }
        let mut text = diagnostics_text(&errors, sources, self.error_style);
        // so many do not fit a screen
        if errors.len() > 5 {
            text.push_str(&format!("\n{} errors.\n", errors.len()));
        }
        self.streams.error(&text);
        exit::FAILURE
    }

    /// Says an error that has no place in a source, and gives the exit code of failure.
    pub fn fail(&self, summary: &str, detail: impl Into<String>) -> u8 {
        self.say(
            &Diagnostic::error(summary, detail).into(),
            &SourceMap::new(),
        )
    }

    /// Asks whether to go on; only `yes` does.
    ///
    /// # Errors
    /// That nobody answers.
    pub fn approve(&self, question: &str, what: &str) -> Result<bool, Diagnostics> {
        self.streams.out(&format!(
            "{question}\n  {what}\n  Only \"yes\" is taken for approval.\n\n  Enter a value: "
        ));
        let answer = self.streams.read_line().ok().flatten();
        self.streams.out("\n");
        if answer.is_none() && self.streams.is_interrupted() {
            return Ok(false);
        }
        answer.map(|a| a.trim() == "yes").ok_or_else(|| {
            Diagnostic::error(
                "Nobody can be asked for approval",
                format!(
                    "{what} That needs approval, and standard input ended before any was given."
                ),
            )
            .hint("To go on without being asked, add -auto-approve.")
            .into()
        })
    }

    /// Whether anything but the real cloud is meant.
    pub fn is_mock(&self) -> bool {
        self.cloud != CloudChoice::Real
    }
}

/// For whom we stand in, by the name we are called by: the product, and the version that stands in
/// the name (`terraform1.9.8`), as version managers have it.
fn stands_for(name: &str) -> Option<(&'static str, Option<String>)> {
    let (product, rest) = match (name.strip_prefix("terraform"), name.strip_prefix("tofu")) {
        (Some(rest), _) => ("Terraform", rest),
        (_, Some(rest)) => ("OpenTofu", rest),
        _ => return None,
    };
    let rest = rest.strip_suffix(".exe").unwrap_or(rest);
    let version = rest.trim_start_matches(['-', '_', 'v']);
    let is_version = version.starts_with(|c: char| c.is_ascii_digit())
        && formwork_configuration::parse_version(version).is_ok();
    match (rest.is_empty(), is_version) {
        (true, _) => Some((product, None)),
        (_, true) => Some((product, Some(version.to_owned()))),
        _ => None,
    }
}

/// The name by which we go: `FORMWORK_COMPAT`, or that of the program.
fn goes_by<'s>(environment: &'s Environment, called: &'s str) -> &'s str {
    environment.variable("FORMWORK_COMPAT").unwrap_or(called)
}

/// What `-restrict-files` asks for.
fn confinement(
    surroundings: &Surroundings,
    arguments: &Arguments,
) -> Result<Option<Arc<Confinement>>, Diagnostics> {
    let Some(directory) = &arguments.anywhere.restrict_files else {
        return Ok(None);
    };
    match Confinement::new(&surroundings.environment.working.join(directory)) {
        Ok(within) => Ok(Some(Arc::new(within))),
        Err(error) => Err(Diagnostic::error(
            "Invalid -restrict-files option",
            format!(
                "The directory {} cannot be opened: {error}.",
                directory.display()
            ),
        )
        .into()),
    }
}

/// The claim about the language level, and the cloud.
fn read(
    surroundings: &Surroundings,
    arguments: &Arguments,
) -> Result<(Option<String>, CloudChoice), Diagnostics> {
    let variable = |name: &str| surroundings.environment.variable(name);
    let name = goes_by(&surroundings.environment, &surroundings.called);
    let stands_for = stands_for(name);
    if let (Some(other), None) = (variable("FORMWORK_COMPAT"), &stands_for) {
        return Err(Diagnostic::error(
            "Invalid FORMWORK_COMPAT",
            format!(
                "FORMWORK_COMPAT is {other:?}. It may be terraform or tofu, with a version behind it or without \
                 (terraform1.9.8): the tool that pipelines take Formwork for."
            ),
        )
        .into());
    }
    let claim = variable("FORMWORK_TERRAFORM_VERSION").map(str::to_owned);
    let claim = claim.or(stands_for.and_then(|(_, version)| version));
    if let Err(why) = LanguageLevel::new(claim.as_deref(), false) {
        return Err(Diagnostic::error(
            "Invalid FORMWORK_TERRAFORM_VERSION",
            format!(
                "{:?} cannot be claimed: {why}. Write a version such as 1.12.2.",
                claim.unwrap_or_default()
            ),
        )
        .into());
    }
    let cloud = match (&arguments.anywhere.mock, variable("FORMWORK_CLOUD")) {
        (Some(url), _) if !url.is_empty() => CloudChoice::MockAt(address("-mock", url)?),
        (Some(_), _) => CloudChoice::Mock,
        (None, None) => CloudChoice::Real,
        (None, Some("mock")) => CloudChoice::Mock,
        (None, Some(other)) => match other.strip_prefix("mock=") {
            Some(url) => CloudChoice::MockAt(address("FORMWORK_CLOUD", url)?),
            None => {
                return Err(Diagnostic::error(
                    "Invalid FORMWORK_CLOUD",
                    format!(
                        "FORMWORK_CLOUD is {other:?}. It may be mock, or mock=URL; unset it to work \
                         with the real cloud."
                    ),
                )
                .into());
            }
        },
    };
    if arguments.anywhere.mock_backend && cloud == CloudChoice::Real {
        return Err(Diagnostic::error(
            "Failed to parse command-line flags",
            "-mock-backend says where the state of a mock cloud is kept, so it goes with -mock only.",
        )
        .into());
    }
    Ok((claim, cloud))
}

/// The address of a mock cloud: `http://HOST:PORT`.
fn address(given_by: &str, url: &str) -> Result<String, Diagnostics> {
    let url = url.trim_end_matches('/');
    let authority = url.strip_prefix("http://").unwrap_or_default();
    if authority.is_empty() || authority.contains(['/', '?', '#', '@']) {
        return Err(Diagnostic::error(
            "Invalid address of a mock cloud",
            format!(
                "{given_by} names {url:?}. The address of a mock cloud is http:// with a host and a \
                 port, such as http://127.0.0.1:8080."
            ),
        )
        .into());
    }
    Ok(url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |name: &str, want: Option<(&str, Option<&str>)>| {
            let got = stands_for(name);
            assert_eq!(
                got.as_ref().map(|(p, v)| (*p, v.as_deref())),
                want,
                "{name}"
            );
        };
        check("formwork", None);
        check("terraform", Some(("Terraform", None)));
        check("tofu", Some(("OpenTofu", None)));
        check("terraform1.9.8", Some(("Terraform", Some("1.9.8"))));
        check("terraform-v1.9.8", Some(("Terraform", Some("1.9.8"))));
        check("tofu1.10", Some(("OpenTofu", Some("1.10"))));
        check("tofu_1.10.0-rc1", Some(("OpenTofu", Some("1.10.0-rc1"))));
        check("terraformer", None);
        check("terraform-wrapper", None);
    }
}
