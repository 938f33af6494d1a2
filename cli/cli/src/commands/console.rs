//! `console`: expressions, one a line, or more where a bracket is open.

use crate::arguments;
use crate::operation::{Operation, Wanted, refused};
use crate::runtime::{Interrupts, block_on};
use crate::session::{Session, exit};
use formwork_eval::ConsoleResult;
use formwork_syntax::{ScanMode, TokenKind, scan};
use formwork_values::print;

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Console) -> u8 {
    block_on(session, async |interrupts| {
        console(session, arguments, interrupts).await
    })
}

async fn console(session: &Session, arguments: &arguments::Console, interrupts: &Interrupts) -> u8 {
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
    let mut code = exit::SUCCESS;
    match formwork_ops::console(&operation.ops).await {
        Err((said, sources)) => code = session.say(&said, &sources),
        Ok((mut console, said)) => {
            session.say_as(&said, console.sources(), false, !interactive);
            while let Some(text) = question(session, interactive) {
                let text = text.trim();
                if text.is_empty() {
                    continue;
                }
                if text == "exit" {
                    break;
                }
                let (result, said) = console.evaluate(text).await;
                let failed = session.say_as(&said, console.sources(), false, false);
                if let Some(result) = result {
                    let shown = match result {
                        ConsoleResult::Value(value) => print::console(&value),
                        ConsoleResult::Type(ty) => print::console_type(&ty),
                    };
                    session.streams.out(&format!("{shown}\n"));
                }
                // in a script the first error is the last line; a person tries again
                if failed != exit::SUCCESS && !interactive {
                    code = failed;
                    break;
                }
            }
        }
    }
    operation.end().await;
    code
}

/// The next expression: a line, and those after it for as long as a bracket is open.
fn question(session: &Session, interactive: bool) -> Option<String> {
    let mut text = String::new();
    loop {
        if interactive {
            let prompt = if text.is_empty() { "> " } else { ": " };
            session.streams.out(prompt);
        }
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

/// Whether more brackets are opened than closed.
fn is_open(text: &str) -> bool {
    use TokenKind as T;
    let mut depth = 0i64;
    for token in scan(text.as_bytes(), ScanMode::Code) {
        match token.kind {
            T::OpenBrace
            | T::OpenBracket
            | T::OpenParen
            | T::OpenInterpolation
            | T::OpenDirective => depth += 1,
            T::CloseBrace | T::CloseBracket | T::CloseParen | T::CloseSequence => depth -= 1,
            _ => {}
        }
    }
    depth > 0
}
