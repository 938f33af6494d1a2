//! Help, made from the definitions.

use clap::{Arg, Command};
use std::fmt::Write as _;

/// Width of the column of names.
const NAMES: usize = 26;
/// Where explanations are broken.
const WIDTH: usize = 96;

/// The help of a command; `path` is how it is called, `formwork state list`.
pub(super) fn help(root: &Command, path: &[String]) -> String {
    let mut command = root;
    for name in path {
        command = command.find_subcommand(name).unwrap_or(command);
    }
    let called = std::iter::once(root.get_name())
        .chain(path.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ");
    let has_subcommands = command.get_subcommands().next().is_some();
    let mut out = format!("Usage: {called}");
    out.push_str(match (path.is_empty(), has_subcommands) {
        (true, _) => " [flags] <command> [arguments]",
        (_, true) => " <command> [arguments]",
        _ => " [flags]",
    });
    for positional in command.get_positionals() {
        let name = positional.get_value_names().and_then(|n| n.first());
        let name = name.map_or("ARGUMENT", |n| n.as_str());
        let many = positional
            .get_num_args()
            .is_some_and(|n| n.max_values() > 1);
        let dots = if many { "..." } else { "" };
        // writing to a String cannot fail
        let _ = if positional.is_required_set() {
            write!(out, " {name}{dots}")
        } else {
            write!(out, " [{name}{dots}]")
        };
    }
    out.push_str("\n\n");
    if let Some(about) = command.get_about() {
        let _ = writeln!(
            out,
            "{about}.\n",
            about = about.to_string().trim_end_matches('.')
        );
    }
    if has_subcommands {
        out.push_str("Commands:\n");
        for sub in command.get_subcommands() {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            entry(&mut out, sub.get_name(), &sentence(&about));
        }
        out.push('\n');
    }
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|a| !a.is_positional() && !a.is_global_set() && a.get_long().is_some())
        .collect();
    if !own.is_empty() {
        out.push_str(if path.is_empty() {
            "Flags before the command:\n"
        } else {
            "Flags:\n"
        });
        flags(&mut out, own);
        if path.is_empty() {
            entry(&mut out, "-version", "Say which version this is.");
        }
        out.push('\n');
    }
    out.push_str("Flags of every command:\n");
    let global = root.get_arguments().filter(|a| a.is_global_set());
    flags(&mut out, global.collect());
    entry(&mut out, "-help", "Explain the command.");
    out
}

fn flags(out: &mut String, mut all: Vec<&Arg>) {
    all.sort_by_key(|a| a.get_long());
    for arg in all {
        let long = arg.get_long().unwrap_or_default();
        let value = arg.get_value_names().and_then(|n| n.first());
        let value = value.map_or("", |v| v.as_str());
        let optional = arg.get_num_args().is_some_and(|n| n.min_values() == 0);
        let on = arg.get_default_values().iter().any(|v| v == "true");
        let name = match (value, optional) {
            // switches: those that are on are shown by how to turn them off
            ("BOOL", _) if on => format!("-{long}=false"),
            ("BOOL", _) if long == "input" => format!("-{long}=false"),
            ("BOOL", _) => format!("-{long}"),
            (value, true) => format!("-{long}[={value}]"),
            (value, false) => format!("-{long}={value}"),
        };
        let mut text = arg.get_help().map(ToString::to_string).unwrap_or_default();
        text = sentence(&text);
        if value != "BOOL"
            && let Some(default) = arg.get_default_values().first()
        {
            let _ = write!(text, " Default {}.", default.to_string_lossy());
        } else if on || long == "input" {
            text.push_str(" Default true.");
        }
        entry(out, &name, &text);
    }
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() || text.ends_with(['.', '?']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

fn entry(out: &mut String, name: &str, text: &str) {
    let mut line = format!("  {name:<NAMES$}");
    if name.len() > NAMES {
        line.push_str("  ");
    }
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            out.push_str(line.trim_end());
            out.push('\n');
            line = " ".repeat(NAMES + 2);
        }
        if !line.ends_with(' ') {
            line.push(' ');
        }
        line.push_str(word);
    }
    out.push_str(line.trim_end());
    out.push('\n');
}
