//! `local-exec`: a command on this machine.

use crate::command::{Ended, Wanted, run};
use crate::running::Running;
use async_trait::async_trait;
use formwork_diagnostics::Diagnostic;
use formwork_environment::Environment;
use formwork_provider::{LineSink, ProvisionRequest, Provisioner, Reported, Stop};
use formwork_provider_schema::{Attribute, Block};
use formwork_values::{Path, Type, Value};
use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, LazyLock};

/// Runs a command on this machine: by `/bin/sh -c`, or by the `interpreter` that is named.
pub struct LocalExec {
    environment: Environment,
    running: Running,
}

impl LocalExec {
    /// Commands see the variables of `environment` and begin in its working directory; `running` knows
    /// of those that run.
    pub fn new(environment: Environment, running: Running) -> Self {
        Self {
            environment,
            running,
        }
    }

    /// What a configuration, wholly known, wants to be run.
    fn wanted(&self, config: &Value) -> Result<Wanted, Box<Reported>> {
        let command = text(config, "command").unwrap_or_default();
        if command.is_empty() {
            return Err(Box::new(empty_command()));
        }
        let interpreter = config.attribute("interpreter");
        let mut words = Vec::new();
        for word in interpreter.and_then(Value::as_sequence).unwrap_or_default() {
            match word.as_str() {
                Some(word) => words.push(word.to_owned()),
                None => return Err(Box::new(null_word())),
            }
        }
        if words.is_empty() {
            words = vec!["/bin/sh".to_owned(), "-c".to_owned()];
        }
        words.push(command.to_owned());
        let mut words = words.into_iter();
        let program = words.next().unwrap_or_default();
        let mut variables = self.environment.variables.clone();
        let own = config.attribute("environment").and_then(Value::as_map);
        for (name, value) in own.into_iter().flatten() {
            // a variable that is null is none
            if let Some(value) = value.as_str() {
                variables.insert(name.to_string(), value.to_owned());
            }
        }
        let directory = text(config, "working_dir").filter(|d| !d.is_empty());
        let working = &self.environment.working;
        Ok(Wanted {
            program,
            arguments: words.collect(),
            directory: directory.map_or_else(|| working.clone(), |d| working.join(d)),
            variables,
        })
    }
}

#[async_trait]
impl Provisioner for LocalExec {
    fn schema(&self) -> Arc<Block> {
        static SCHEMA: LazyLock<Arc<Block>> = LazyLock::new(|| {
            let optional = |ty| Attribute {
                optional: true,
                ..Attribute::new(ty)
            };
            let command = Attribute {
                required: true,
                ..Attribute::new(Type::String)
            };
            Arc::new(Block::of_attributes([
                ("command", command),
                ("interpreter", optional(Type::list(Type::String))),
                ("working_dir", optional(Type::String)),
                ("environment", optional(Type::map(Type::String))),
                ("quiet", optional(Type::Bool)),
            ]))
        });
        SCHEMA.clone()
    }

    fn validate(&self, config: &Value) -> Vec<Reported> {
        let command = config.attribute("command");
        let empty =
            command.is_some_and(|c| c.is_known() && c.as_str().unwrap_or_default().is_empty());
        let words = config.attribute("interpreter").and_then(Value::as_sequence);
        let null = |word: &Value| word.is_known() && word.is_null();
        let mut said = Vec::new();
        if empty {
            said.push(empty_command());
        }
        if words.unwrap_or_default().iter().any(null) {
            said.push(null_word());
        }
        said
    }

    async fn provision(
        &self,
        request: ProvisionRequest,
        lines: &dyn LineSink,
        stop: Stop<'_>,
    ) -> Result<(), Vec<Reported>> {
        let config = &request.config;
        let wanted = self.wanted(config).map_err(|r| vec![*r])?;
        let quiet = config.attribute("quiet").and_then(Value::as_bool) == Some(true);
        if quiet {
            lines.line("local-exec: Executing: Suppressed by quiet=true");
        } else {
            lines.line(&format!("Executing: {}", quoted(&wanted)));
        }
        let command = match request.withheld {
            Some(_) => "The command".to_owned(),
            None => format!(
                "The command `{}`",
                text(config, "command").unwrap_or_default()
            ),
        };
        let directory = wanted.directory.clone();
        let program = wanted.program.clone();
        let ended = match run(wanted, &self.running, lines, stop).await {
            Ok(ended) => ended,
            Err(e) => {
                let detail = if request.withheld.is_some() {
                    format!("{command} could not be started: {}.", e.kind())
                } else if directory.is_dir() {
                    format!("{command} could not be started by {program}: {e}.")
                } else {
                    format!(
                        "{command} could not be started: its working_dir {} is no directory.",
                        directory.display()
                    )
                };
                return Err(vec![failed(detail)]);
            }
        };
        let Some(how) = how_it_failed(&ended) else {
            return Ok(());
        };
        let output = match request.withheld {
            Some(word) => format!(
                " What it wrote is withheld, since its configuration holds a value that is {word}."
            ),
            None => ended.tail.told(),
        };
        Err(vec![failed(format!("{command} {how}.{output}"))])
    }
}

/// `None` if it did not.
fn how_it_failed(ended: &Ended) -> Option<String> {
    let status = ended.status;
    if status.is_some_and(|s| s.success()) {
        return None;
    }
    if ended.stopped {
        return Some("was ended before it was done, since the run was interrupted".to_owned());
    }
    let how = status.map(|s| match (s.code(), s.signal()) {
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "did not succeed".to_owned(),
    });
    Some(how.unwrap_or_else(|| "could not be waited for".to_owned()))
}

fn failed(detail: String) -> Reported {
    Reported::whole(Diagnostic::error("local-exec provisioner error", detail))
}

fn empty_command() -> Reported {
    Reported::at(
        Path::default().attribute("command"),
        Diagnostic::error(
            "Invalid local-exec provisioner command",
            "The command is null or empty, so there is nothing to run.",
        ),
    )
}

fn null_word() -> Reported {
    Reported::at(
        Path::default().attribute("interpreter"),
        Diagnostic::error(
            "Invalid local-exec provisioner interpreter",
            "The list of the interpreter and its arguments holds a null. Leave out what is not wanted, \
             for example by compact().",
        ),
    )
}

fn text<'v>(config: &'v Value, name: &str) -> Option<&'v str> {
    config.attribute(name)?.as_str()
}

/// Program and arguments, each in quotes, as logs know them.
fn quoted(wanted: &Wanted) -> String {
    let words = std::iter::once(&wanted.program).chain(&wanted.arguments);
    let words: Vec<String> = words.map(|w| quoted_word(w)).collect();
    format!("[{}]", words.join(" "))
}

fn quoted_word(word: &str) -> String {
    let mut out = String::with_capacity(word.len() + 2);
    out.push('"');
    for c in word.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
