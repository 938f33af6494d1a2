//! `console`: expressions, one a line, or more lines where a bracket, template, heredoc or comment is
//! open.
//!
//! Every result is printed as it is found. Evaluation goes on after an expression that failed, and the
//! command then fails at its end. What is typed is kept nowhere but in memory: a line may hold a
//! secret.

use crate::arguments;
use crate::line_editor::{Line, LineEditor};
use crate::operation::{Operation, Wanted, refused};
use crate::runtime::{Interrupts, block_on};
use crate::session::{Session, exit};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_eval::ConsoleResult;
use formwork_ops::{Console, ConsoleView};
use formwork_syntax::{ScanMode, TokenKind, scan};
use formwork_values::print;

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Console) -> u8 {
    let printing = match Printing::of(session) {
        Ok(printing) => printing,
        Err(said) => return session.say(&said, &SourceMap::new()),
    };
    block_on(session, async |interrupts| {
        console(session, arguments, printing, interrupts).await
    })
}

/// Which results a pipe is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Printing {
    /// Each, and evaluation goes on after a failure.
    Each,
    /// Terraform's way: the last one, and the first failure is the end.
    Last,
}

impl Printing {
    const VARIABLE: &str = "FORMWORK_CONSOLE";

    fn of(session: &Session) -> Result<Self, Diagnostics> {
        match session.environment.variable(Self::VARIABLE) {
            None | Some("each") => Ok(Self::Each),
            Some("last") => Ok(Self::Last),
            Some(other) => Err(Diagnostic::error(
                "Invalid FORMWORK_CONSOLE",
                format!(
                    "FORMWORK_CONSOLE is {other:?}. It may be each, so that a pipe is given the result of \
                     every expression, or last, so that it is given that of the last one only."
                ),
            )
            .into()),
        }
    }
}

async fn console(
    session: &Session,
    arguments: &arguments::Console,
    printing: Printing,
    interrupts: &Interrupts,
) -> u8 {
    let interactive = session.terminal.input;
    if interactive {
        session.notice();
    }
    let wanted = Wanted {
        variables: Some(&arguments.variables),
        reading: arguments.reading.clone(),
        state: arguments.state.clone(),
        for_program: !interactive,
        ..Wanted::default()
    };
    let (operation, _) = match Operation::begin(session, interrupts, &wanted).await {
        Ok(begun) => begun,
        Err(refusal) => return refused(session, &refusal),
    };
    let view = if arguments.plan {
        ConsoleView::Plan
    } else {
        ConsoleView::State
    };
    let code = match formwork_ops::console(&operation.ops, view).await {
        Err((said, sources)) => session.say(&said, &sources),
        Ok((console, said)) => {
            session.say_as(&said, console.sources(), false, !interactive);
            if interactive {
                converse(session, console).await
            } else {
                answer_all(session, console, printing).await
            }
        }
    };
    operation.end().await;
    code
}

/// Answers whoever types until they leave.
async fn converse(session: &Session, mut console: Console) -> u8 {
    let mut editor = match LineEditor::new(session, console.names(), is_open) {
        Ok(editor) => editor,
        Err(error) => {
            return session.fail(
                "Terminal cannot be used",
                format!("Nothing can be asked for at this terminal: {error}."),
            );
        }
    };
    loop {
        let text = match editor.read() {
            Ok(Line::Text(text)) => text,
            Ok(Line::Dropped) => continue,
            Ok(Line::End) => return exit::SUCCESS,
            Err(error) => {
                return session.fail(
                    "Terminal cannot be read",
                    format!("Reading from the terminal failed: {error}."),
                );
            }
        };
        match question(&text) {
            Question::Nothing => {}
            Question::Leave => return exit::SUCCESS,
            Question::Expression(text) => {
                let (_, shown) = answer(session, &mut console, &text).await;
                if let Some(shown) = shown {
                    session.streams.out(&shown);
                }
            }
        }
    }
}

/// Answers everything on standard input.
async fn answer_all(session: &Session, mut console: Console, printing: Printing) -> u8 {
    let mut code = exit::SUCCESS;
    let mut last = None;
    while let Some(text) = lines_of_pipe(session) {
        let text = match question(&text) {
            Question::Nothing => continue,
            Question::Leave => break,
            Question::Expression(text) => text,
        };
        let (failed, shown) = answer(session, &mut console, &text).await;
        if failed != exit::SUCCESS {
            code = failed;
        }
        match printing {
            Printing::Each => session.streams.out(&shown.unwrap_or_default()),
            Printing::Last if failed != exit::SUCCESS => return failed,
            Printing::Last => last = shown,
        }
    }
    session.streams.out(&last.unwrap_or_default());
    code
}

/// The exit code that an expression calls for, and what it comes to. What is wrong with it has been
/// said.
async fn answer(session: &Session, console: &mut Console, text: &str) -> (u8, Option<String>) {
    let (result, said) = console.evaluate(text).await;
    let for_program = !session.terminal.input;
    let code = session.say_as(&said, console.sources(), false, for_program);
    let shown = result.map(|result| {
        let shown = match result {
            ConsoleResult::Value(value) => print::console(&value),
            ConsoleResult::Type(ty) => print::console_type(&ty),
        };
        format!("{shown}\n")
    });
    (code, shown)
}

/// What a line, or several, ask for.
enum Question {
    /// Nothing: white space and comments.
    Nothing,
    /// To leave.
    Leave,
    /// The value of an expression.
    Expression(String),
}

fn question(text: &str) -> Question {
    use TokenKind as T;
    let trimmed = text.trim();
    if trimmed == "exit" {
        return Question::Leave;
    }
    let silent = scan(text.as_bytes(), ScanMode::Code).iter().all(|t| {
        matches!(
            t.kind,
            T::LineComment | T::InlineComment | T::Newline | T::End
        )
    });
    if silent {
        return Question::Nothing;
    }
    let mut expression = trimmed.to_owned();
    // the end of a heredoc is a line, and lines end
    if expression.contains('\n') {
        expression.push('\n');
    }
    Question::Expression(expression)
}

/// The next line of standard input, with those after it for as long as something is open.
fn lines_of_pipe(session: &Session) -> Option<String> {
    let mut text = String::new();
    loop {
        match session.streams.read_line() {
            Ok(Some(line)) => text.push_str(&line),
            // what was begun is asked as it is, and its error told
            Ok(None) | Err(_) => return (!text.is_empty()).then_some(text),
        }
        if !is_open(&text) {
            return Some(text);
        }
        text.push('\n');
    }
}

/// Whether more must come: a bracket, an interpolation, a heredoc or a comment has not ended. A string
/// that is broken by the end of the line is a mistake, and further lines do not mend it.
fn is_open(text: &str) -> bool {
    use TokenKind as T;
    let mut depth = 0i64;
    let mut heredocs = 0i64;
    for token in scan(format!("{text}\n").as_bytes(), ScanMode::Code) {
        match token.kind {
            T::OpenBrace
            | T::OpenBracket
            | T::OpenParen
            | T::OpenInterpolation
            | T::OpenDirective => depth += 1,
            T::CloseBrace | T::CloseBracket | T::CloseParen | T::CloseSequence => depth -= 1,
            T::OpenHeredoc => heredocs += 1,
            T::CloseHeredoc => heredocs -= 1,
            T::OpenComment => return true,
            T::QuotedNewline => return false,
            _ => {}
        }
    }
    depth > 0 || heredocs > 0
}

#[cfg(test)]
mod tests {
    use super::is_open;

    #[test]
    fn what_needs_another_line() {
        let open = [
            "[1,",
            "{",
            "f(",
            "\"${",
            "\"a${[1,",
            "<<E",
            "<<-E\nabc",
            "<<E\n${upper(\nE",
            "/* a",
            "[<<E\nx\nE",
            "\"%{ if",
        ];
        for text in open {
            assert!(is_open(text), "{text}");
        }
        let closed = [
            "",
            "1",
            "1 +",
            "\"a",
            "\"${1}",
            ")",
            "(]",
            "<<E\nabc\nE",
            "<<-E\n  abc\n  E",
            "/* a */",
            "# {",
            "\"{\"",
            "[\"a",
        ];
        for text in closed {
            assert!(!is_open(text), "{text}");
        }
    }
}
