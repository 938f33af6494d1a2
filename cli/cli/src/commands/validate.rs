//! `validate`.

use crate::arguments::{self, Variables};
use crate::operation::{Operation, Wanted};
use crate::runtime::block_on;
use crate::session::{Session, exit};
use crate::stream::private_file;
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_render::{KnownFunctions, validate_json};
use std::io::Write as _;
use std::path::Path;

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Validate) -> u8 {
    let json = arguments.streaming.json;
    if let Err(code) = session.one_stream(&arguments.streaming) {
        return code;
    }
    // a file that cannot be written is told of before anything is done
    let into = arguments.streaming.json_into.as_deref();
    let mut file = match into.map(|path| private_file(session, path)).transpose() {
        Ok(file) => file,
        Err(error) => return session.cannot_stream(into.unwrap_or(Path::new("-")), &error),
    };
    if !json {
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
            for_program: json,
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
    if json {
        session
            .streams
            .out(&as_json(session, &diagnostics, &sources));
        return if diagnostics.has_errors() {
            exit::FAILURE
        } else {
            exit::SUCCESS
        };
    }
    if let (Some(file), Some(path)) = (&mut file, into)
        && let Err(error) = file.write_all(as_json(session, &diagnostics, &sources).as_bytes())
    {
        return session.cannot_stream(path, &error);
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

fn as_json(session: &Session, diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    let functions = session.signatures();
    validate_json(diagnostics, sources, &KnownFunctions(&functions))
}
