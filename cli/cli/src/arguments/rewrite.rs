//! From Terraform's spelling of a command line to the one that clap reads.

use super::{Arguments, help, words};
use clap::{Arg, Command, CommandFactory, FromArgMatches};
use formwork_diagnostics::{Diagnostic, Diagnostics, nearest};

/// What a command line asks for.
#[derive(Debug)]
pub enum Parsed {
    /// A command.
    Run(Box<Arguments>),
    /// An explanation, which was asked for.
    Help(String),
    /// An explanation, since no command was named.
    NoCommand(String),
    /// The help of a group of commands of which none was named.
    NoSubcommand(String),
}

/// Terraform's commands that are not served yet: known, so that nobody is told that they misspelt one.
const COMMANDS_TO_COME: &[&str] = &["login", "logout"];
const STATE_COMMANDS_TO_COME: &[&str] = &["identities"];
const PROVIDERS_COMMANDS_TO_COME: &[&str] = &["lock", "mirror"];
/// Terraform's flags that are not served yet.
const FLAGS_TO_COME: &[&str] = &["deposed", "get", "lockfile", "plugin-dir", "state-out"];

/// Reads a command line, without the name of the program. `variable` gives environment variables.
pub fn parse(
    words: Vec<String>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Parsed, Diagnostics> {
    let root = Arguments::command();
    let mut line = Line {
        root: &root,
        command: &root,
        path: Vec::new(),
        out: vec![root.get_name().to_owned()],
    };
    let mut pending: std::collections::VecDeque<String> = words.into();
    let mut from_environment = false;
    let mut only_positionals = false;
    while let Some(word) = pending.pop_front() {
        if only_positionals || word == "-" || !word.starts_with('-') {
            if line.command.get_subcommands().next().is_none() {
                line.out.push(word);
                continue;
            }
            line.enter(&word)?;
            let next = pending.front();
            let goes_on = line.command.is_subcommand_required_set()
                || next.is_some_and(|word| line.command.find_subcommand(word).is_some());
            if !goes_on && !from_environment {
                from_environment = true;
                let mut extra = Vec::new();
                let name = format!("TF_CLI_ARGS_{}", line.path.join("_").replace('-', "_"));
                for name in ["TF_CLI_ARGS".to_owned(), name] {
                    extra.extend(words_of(&name, &variable)?);
                }
                for word in extra.into_iter().rev() {
                    pending.push_front(word);
                }
            }
            continue;
        }
        if word == "--" {
            line.out.push(word);
            only_positionals = true;
            continue;
        }
        let flag = word
            .strip_prefix("--")
            .or(word.strip_prefix('-'))
            .unwrap_or_default();
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        match name {
            "help" | "h" => return Ok(Parsed::Help(help::help(&root, &line.path))),
            "version" | "v" if line.path.is_empty() => {
                line.enter("version")?;
                continue;
            }
            _ => {}
        }
        let arg = line.flag(name)?;
        let takes_a_word = arg.get_num_args().is_none_or(|n| n.min_values() > 0);
        let text = match value {
            Some(value) => format!("--{name}={value}"),
            None if takes_a_word => match pending.pop_front() {
                Some(value) => format!("--{name}={value}"),
                None => {
                    return Err(line.wrong(format!(
                        "The flag -{name} needs a value: -{name}={}.",
                        value_name(arg)
                    )));
                }
            },
            None => format!("--{name}"),
        };
        line.out.push(text);
    }
    if line.path.is_empty() || line.command.is_subcommand_required_set() {
        let text = help::help(&root, &line.path);
        return Ok(match line.path.is_empty() {
            true => Parsed::NoCommand(text),
            false => Parsed::NoSubcommand(text),
        });
    }
    let path = line.path.clone();
    let out = std::mem::take(&mut line.out);
    let matches = root
        .clone()
        .try_get_matches_from(out)
        .and_then(|m| Arguments::from_arg_matches(&m));
    match matches {
        Ok(arguments) => Ok(Parsed::Run(Box::new(arguments))),
        Err(error) => Err(refused(&error, &root, &path)),
    }
}

struct Line<'c> {
    root: &'c Command,
    command: &'c Command,
    path: Vec<String>,
    out: Vec<String>,
}

impl<'c> Line<'c> {
    fn called(&self) -> String {
        called(self.root, &self.path)
    }

    fn wrong(&self, detail: String) -> Diagnostics {
        wrong(detail, &self.called())
    }

    /// Goes on with a command of the current one.
    fn enter(&mut self, word: &str) -> Result<(), Diagnostics> {
        if let Some(next) = self.command.find_subcommand(word) {
            self.command = next;
            self.path.push(word.to_owned());
            self.out.push(word.to_owned());
            return Ok(());
        }
        let to_come = match self.path.first().map(String::as_str) {
            None => COMMANDS_TO_COME,
            Some("state") => STATE_COMMANDS_TO_COME,
            Some("providers") => PROVIDERS_COMMANDS_TO_COME,
            _ => &[],
        };
        let called = self.called();
        if to_come.contains(&word) {
            return Err(Diagnostic::error(
                "Command not served yet",
                format!("Formwork does not have the command \"{called} {word}\" yet."),
            )
            .into());
        }
        let mut d = Diagnostic::error(
            "Unknown command",
            format!("\"{called}\" has no command named \"{word}\"."),
        );
        let names = self.command.get_subcommands().map(Command::get_name);
        if let Some(near) = nearest(word, names) {
            d = d.hint(format!("Did you mean \"{near}\"?"));
        }
        Err(d
            .hint(format!("\"{called} -help\" lists the commands."))
            .into())
    }

    /// The definition of a flag of the current command.
    fn flag(&self, name: &str) -> Result<&'c Arg, Diagnostics> {
        let own = self.command.get_arguments();
        let global = self.root.get_arguments().filter(|a| a.is_global_set());
        let mut known: Vec<&'c Arg> = own
            .chain(global)
            .filter(|a| a.get_long().is_some())
            .collect();
        if let Some(arg) = known.iter().find(|a| a.get_long() == Some(name)) {
            return Ok(arg);
        }
        let called = self.called();
        if name == "chdir" {
            return Err(self.wrong("The flag -chdir stands before the command.".to_owned()));
        }
        if FLAGS_TO_COME.contains(&name) || (name == "json" && !self.path.is_empty()) {
            return Err(Diagnostic::error(
                "Flag not served yet",
                format!("Formwork does not have the flag -{name} of \"{called}\" yet."),
            )
            .into());
        }
        known.sort_by_key(|a| a.get_long());
        let mut d = Diagnostic::error(
            "Failed to parse command-line flags",
            format!("\"{called}\" has no flag -{name}."),
        );
        if let Some(near) = nearest(name, known.iter().filter_map(|a| a.get_long())) {
            d = d.hint(format!("Did you mean -{near}?"));
        }
        Err(d
            .hint(format!("\"{called} -help\" lists the flags."))
            .into())
    }
}

fn called(root: &Command, path: &[String]) -> String {
    let mut out = root.get_name().to_owned();
    for name in path {
        out.push(' ');
        out.push_str(name);
    }
    out
}

fn wrong(detail: String, called: &str) -> Diagnostics {
    Diagnostic::error("Failed to parse command-line flags", detail)
        .hint(format!("\"{called} -help\" lists the flags."))
        .into()
}

fn value_name(arg: &Arg) -> String {
    arg.get_value_names()
        .and_then(|n| n.first())
        .map_or_else(|| "VALUE".to_owned(), ToString::to_string)
}

fn words_of(
    name: &str,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Vec<String>, Diagnostics> {
    let text = variable(name).unwrap_or_default();
    words::shell_words(&text).map_err(|why| {
        Diagnostic::error(
            "Failed to parse command-line flags",
            format!("The environment variable {name} cannot be split into flags: {why}."),
        )
        .into()
    })
}

/// What clap has to say, in our words.
fn refused(error: &clap::Error, root: &Command, path: &[String]) -> Diagnostics {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(s)) => s.clone(),
        Some(ContextValue::Strings(all)) => all.join(", "),
        _ => String::new(),
    };
    // clap shows `--flag <VALUE>` or `<NAME>`
    let argument = text(ContextKind::InvalidArg);
    let argument = argument.split(' ').next().unwrap_or_default();
    let argument = match argument.strip_prefix("--") {
        Some(flag) => format!(
            "the flag -{}",
            flag.split(['=', '[']).next().unwrap_or(flag)
        ),
        None => format!(
            "the argument {}",
            argument.trim_matches(['<', '>', '[', ']', '.'])
        ),
    };
    let value = text(ContextKind::InvalidValue);
    let detail = match error.kind() {
        ErrorKind::InvalidValue => format!(
            "{value:?} is no value for {argument}; possible are {}.",
            text(ContextKind::ValidValue)
        ),
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map(ToString::to_string);
            format!(
                "{value:?} is no value for {argument}: {}.",
                why.unwrap_or_default().trim_end_matches('.')
            )
        }
        ErrorKind::MissingRequiredArgument => format!("{argument} is missing."),
        ErrorKind::UnknownArgument => format!("{argument} is one too many."),
        _ => error
            .to_string()
            .trim()
            .trim_start_matches("error: ")
            .to_owned(),
    };
    let mut capital = detail.chars();
    let detail = capital
        .next()
        .map(|c| c.to_uppercase().chain(capital).collect::<String>())
        .unwrap_or_default();
    wrong(detail, &called(root, path))
}
