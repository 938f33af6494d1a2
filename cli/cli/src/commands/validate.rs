//! `validate`.

use crate::arguments::{self, Variables};
use crate::operation::{Operation, Wanted};
use crate::runtime::block_on;
use crate::session::{Session, exit};
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_render::{KnownFunctions, validate_json};

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Validate) -> u8 {
    if !arguments.json {
        session.notice();
    }
    let (diagnostics, sources) = block_on(session, async |interrupts| {
        // What is not given is not asked for, whoever is there.
        let variables = Variables {
            inputs: arguments.inputs.clone(),
            input: Some(false),
        };
        let wanted = Wanted {
            variables: Some(&variables),
            early: true,
            reading: arguments.reading.clone(),
            for_program: arguments.json,
            no_cloud: true,
            no_state: true,
            partial: true,
            ..Wanted::default()
        };
        match Operation::begin(session, interrupts, &wanted).await {
            Err(refusal) => *refusal,
            Ok((operation, _)) => {
                let tests = (!arguments.no_tests).then_some(&*arguments.test_directory);
                let validated = formwork_ops::validate(&operation.ops, tests).await;
                operation.end().await;
                (validated.diagnostics, validated.sources)
            }
        }
    });
    if arguments.json {
        return as_json(session, &diagnostics, &sources);
    }
    let code = session.say_as(
        &diagnostics,
        &sources,
        arguments.reading.compact_warnings,
        false,
    );
    if code == exit::SUCCESS {
        let rest = if diagnostics.is_empty() {
            "."
        } else {
            ", but there is something to say about it, shown above."
        };
        let blank = if diagnostics.is_empty() { "" } else { "\n" };
        session.streams.out(&format!(
            "{blank}{} The configuration is valid{rest}\n",
            session.style.good("Success!")
        ));
    }
    code
}

fn as_json(session: &Session, diagnostics: &Diagnostics, sources: &SourceMap) -> u8 {
    let functions = session.signatures();
    let text = validate_json(diagnostics, sources, &KnownFunctions(&functions));
    session.streams.out(&text);
    if diagnostics.has_errors() {
        exit::FAILURE
    } else {
        exit::SUCCESS
    }
}
