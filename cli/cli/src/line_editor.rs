//! Lines typed at a terminal, with editing, completion and the lines before.
//!
//! The lines before are kept in memory for as long as the editor lives and never written to a file: an
//! expression may hold a secret. Ctrl-C drops what is being typed, Ctrl-D on an empty line ends. Where
//! standard output is no terminal there is nothing to edit in, and lines are read as they come.

use crate::session::Session;
use crate::surroundings::Streams;
use rustyline::completion::Completer;
use rustyline::config::{BellStyle, CompletionType, Config};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Editor, Helper};
use std::collections::BTreeSet;
use std::io;

/// What was typed.
pub enum Line {
    /// A line, or several where something was open.
    Text(String),
    /// Nothing: it was dropped.
    Dropped,
    /// No more comes.
    End,
}

/// Reads lines.
pub struct LineEditor(Reading);

enum Reading {
    Edited(Box<Editor<Typing, MemHistory>>),
    Plain(Streams, fn(&str) -> bool),
}

const PROMPT: &str = "> ";

impl LineEditor {
    /// An editor that completes these names; `is_open` says whether a text needs another line.
    ///
    /// # Errors
    /// The terminal's.
    pub fn new(
        session: &Session,
        names: Vec<String>,
        is_open: fn(&str) -> bool,
    ) -> io::Result<Self> {
        if !session.terminal.output {
            return Ok(Self(Reading::Plain(session.streams, is_open)));
        }
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .bell_style(BellStyle::None)
            .auto_add_history(true)
            .build();
        let mut editor = Editor::with_history(config, MemHistory::new()).map_err(io_error)?;
        editor.set_helper(Some(Typing { names, is_open }));
        Ok(Self(Reading::Edited(Box::new(editor))))
    }

    /// The next line.
    ///
    /// # Errors
    /// The terminal's.
    pub fn read(&mut self) -> io::Result<Line> {
        match &mut self.0 {
            Reading::Plain(streams, is_open) => plain(*streams, *is_open),
            Reading::Edited(editor) => match editor.readline(PROMPT) {
                Ok(text) => Ok(Line::Text(text)),
                Err(ReadlineError::Interrupted) => Ok(Line::Dropped),
                Err(ReadlineError::Eof) => Ok(Line::End),
                Err(error) => Err(io_error(error)),
            },
        }
    }
}

fn io_error(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

fn plain(streams: Streams, is_open: fn(&str) -> bool) -> io::Result<Line> {
    let mut text = String::new();
    loop {
        match streams.read_line()? {
            Some(line) => text.push_str(&line),
            None if text.is_empty() => return Ok(Line::End),
            None => return Ok(Line::Text(text)),
        }
        if !is_open(&text) {
            return Ok(Line::Text(text));
        }
        text.push('\n');
    }
}

/// What the editor is told about what is typed.
struct Typing {
    /// Sorted.
    names: Vec<String>,
    is_open: fn(&str) -> bool,
}

impl Helper for Typing {}
impl Highlighter for Typing {}

impl Hinter for Typing {
    type Hint = String;
}

impl Validator for Typing {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if (self.is_open)(context.input()) {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Completer for Typing {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(completions(&self.names, line.get(..at).unwrap_or(line)))
    }
}

/// Where the word at the end of a text begins, and what it may become: names as far as their next dot.
fn completions(names: &[String], before: &str) -> (usize, Vec<String>) {
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let word = before
        .char_indices()
        .rev()
        .take_while(|(_, c)| in_word(*c))
        .last()
        .map_or(before.len(), |(at, _)| at);
    let typed = &before[word..];
    let from = names.partition_point(|n| n.as_str() < typed);
    let found: BTreeSet<&str> = names[from..]
        .iter()
        .take_while(|n| n.starts_with(typed))
        .map(|name| match name[typed.len()..].find('.') {
            Some(dot) => &name[..=typed.len() + dot],
            None => name,
        })
        .collect();
    (word, found.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::completions;

    #[test]
    fn names_as_far_as_their_next_dot() {
        let names: Vec<String> = [
            "local.zone",
            "module.net",
            "module.net.id",
            "upper(",
            "values(",
            "var.name",
            "var.nodes",
        ]
        .map(str::to_owned)
        .to_vec();
        let cases = [
            ("va", 0, vec!["values(", "var."]),
            ("var.n", 0, vec!["var.name", "var.nodes"]),
            ("upper(var.na", 6, vec!["var.name"]),
            ("[1, \"${mod", 7, vec!["module.", "module.net"]),
            ("module.", 0, vec!["module.net", "module.net."]),
            ("nothing", 0, vec![]),
            ("é loc", 3, vec!["local."]),
            (
                "1 + ",
                4,
                vec![
                    "local.",
                    "module.",
                    "module.net",
                    "upper(",
                    "values(",
                    "var.",
                ],
            ),
        ];
        for (typed, start, mut expected) in cases {
            let (from, mut found) = completions(&names, typed);
            // a name is offered whole beside what goes on from it
            found.retain(|f| f != "module.net");
            expected.retain(|e| *e != "module.net");
            assert_eq!(
                (from, found),
                (start, expected.iter().map(|e| (*e).to_owned()).collect()),
                "{typed}"
            );
        }
    }
}
