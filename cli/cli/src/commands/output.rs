//! `output`.

use super::state::view;
use crate::arguments;
use crate::operation::Wanted;
use crate::runtime::block_on;
use crate::session::{Session, exit};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap, nearest};
use formwork_render::{output_json, output_values, outputs_json};
use formwork_state::{OutputState, State};
use formwork_values::{Type, convert, print};

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Output) -> u8 {
    if arguments.json && arguments.raw {
        return session.fail(
            "Invalid output format",
            "-json and -raw ask for two forms of one answer. Name one.",
        );
    }
    if arguments.raw && arguments.name.is_none() {
        return session.fail("Output name required", "-raw writes one output: name it.");
    }
    block_on(session, async |interrupts| {
        let for_program = arguments.json || arguments.raw;
        if !for_program {
            session.notice();
        }
        let wanted = Wanted {
            inputs: Some(&arguments.inputs),
            state: arguments.state.clone(),
            for_program,
            ..Wanted::default()
        };
        let found = view(session, interrupts, &wanted, async |_, view| {
            answer(session, arguments, &view.state)
        });
        match found.await {
            Ok(code) => code,
            Err(code) => code,
        }
    })
}

fn answer(session: &Session, arguments: &arguments::Output, state: &State) -> u8 {
    let text = match &arguments.name {
        None if arguments.json => Ok(outputs_json(state.outputs())),
        None if state.outputs().len() == 0 => {
            let d = Diagnostic::warning(
                "No outputs found",
                "The state holds no outputs. Outputs are stored when an apply ends; a configuration gets them by output blocks.",
            );
            session.say(&d.into(), &SourceMap::new());
            return exit::SUCCESS;
        }
        None => Ok(output_values(state.outputs())),
        Some(name) => match state.output(name) {
            None => Err(missing(name, state)),
            Some(output) if arguments.json => Ok(output_json(output)),
            Some(output) if arguments.raw => raw(name, output),
            Some(output) => Ok(match output.to_value() {
                // who asks by name wants to see it
                Some(value) => format!("{}\n", print::console(&value.reveal())),
                None => output_json(output),
            }),
        },
    };
    match text {
        Ok(text) => {
            session.streams.out(&text);
            exit::SUCCESS
        }
        Err(said) => session.say(&said, &SourceMap::new()),
    }
}

fn missing(name: &str, state: &State) -> Diagnostics {
    let mut d = Diagnostic::error(
        format!("Output \"{name}\" not found"),
        "The state holds no output of this name. If it was added to the configuration lately, apply first.",
    );
    if let Some(near) = nearest(name, state.outputs().map(|(n, _)| n)) {
        d = d.hint(format!("Did you mean \"{near}\"?"));
    }
    d.into()
}

/// The text of an output that has one: of text, a number or a truth value.
fn raw(name: &str, output: &OutputState) -> Result<String, Diagnostics> {
    let value = output.to_value();
    let text = value
        .filter(|v| !v.is_null())
        .and_then(|v| convert(v.reveal(), &Type::String).ok())
        .and_then(|v| v.as_str().map(str::to_owned));
    text.ok_or_else(|| {
        Diagnostic::error(
            "Unsupported value for raw output",
            format!(
                "-raw writes text, numbers and truth values, and the output \"{name}\" is none. Use -json."
            ),
        )
        .into()
    })
}
