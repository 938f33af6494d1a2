//! Values of root variables: where they are given, from the lowest to the highest.

use crate::arguments::{Input, Inputs};
use crate::preview::Preview;
use crate::session::Session;
use formwork_configuration::{
    Given, InputLayer, InputOrigin, InputVariable, automatic_value_files, parse_tfvars,
    root_variables,
};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;

/// Layers of values, lowest first, and the files that they were read from.
#[derive(Default)]
pub struct Values {
    /// The layers.
    pub layers: Vec<InputLayer>,
    /// The files.
    pub sources: SourceMap,
}

/// Reads what is given: `TF_VAR_*`, the files that are read unasked, then the command line's in its
/// order.
pub fn gather(session: &Session, inputs: &Inputs) -> (Values, Diagnostics) {
    let mut values = Values::default();
    let mut said = Diagnostics::new();
    let environment = &session.environment;
    let given = environment.variables.iter().filter_map(|(name, value)| {
        let name = name.strip_prefix("TF_VAR_")?;
        Some((Arc::from(name), Given::Text(value.clone())))
    });
    values.layers.push(InputLayer {
        origin: InputOrigin::Environment,
        values: given.collect(),
    });
    let names: Vec<String> = std::fs::read_dir(&environment.working)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    for name in automatic_value_files(names.iter().map(String::as_str)) {
        let bytes = session.reader().read(Path::new(name));
        values.file(name, InputOrigin::File, bytes, &mut said);
    }
    for input in &inputs.0 {
        match input {
            Input::File(name) => {
                let bytes = std::fs::read(session.environment.working.join(name));
                values.file(name, InputOrigin::NamedFile, bytes, &mut said);
            }
            Input::Value(text) => match text.split_once('=') {
                Some((name, value)) if !name.trim().is_empty() => {
                    let name: Arc<str> = Arc::from(name.trim());
                    values.layers.push(InputLayer {
                        origin: InputOrigin::CommandLine,
                        values: BTreeMap::from([(name, Given::Text(value.to_owned()))]),
                    });
                }
                _ => said.push(Diagnostic::error(
                    "Invalid -var option",
                    format!(
                        "-var {text:?} gives no variable a value. Write the variable's name, an \
                         equals sign, and the value: -var=\"zone=us-east1-b\"."
                    ),
                )),
            },
        }
    }
    (values, said)
}

/// Reads the files of values that lie with the tests, for the tests that lie there.
pub fn gather_tests(
    session: &Session,
    directory: &Path,
    sources: &mut SourceMap,
) -> (Vec<InputLayer>, Diagnostics) {
    let mut values = Values {
        layers: Vec::new(),
        sources: std::mem::take(sources),
    };
    let mut said = Diagnostics::new();
    // in the configuration's own directory they have been read already
    let own = directory.components().all(|c| c == Component::CurDir);
    let names: Vec<String> = std::fs::read_dir(session.environment.working.join(directory))
        .into_iter()
        .filter(|_| !own)
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    for name in automatic_value_files(names.iter().map(String::as_str)) {
        let path = directory.join(name);
        let bytes = session.reader().read(&path);
        let name = path.to_string_lossy();
        values.file(&name, InputOrigin::File, bytes, &mut said);
    }
    *sources = values.sources;
    (values.layers, said)
}

impl Values {
    fn file(
        &mut self,
        name: &str,
        origin: fn(String) -> InputOrigin,
        bytes: io::Result<Vec<u8>>,
        said: &mut Diagnostics,
    ) {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                said.push(Diagnostic::error(
                    "Failed to read variables file",
                    match error.kind() {
                        std::io::ErrorKind::NotFound => format!("There is no file {name}."),
                        _ => format!("The file {name} cannot be read: {error}."),
                    },
                ));
                return;
            }
        };
        let read = parse_tfvars(name, &bytes, &mut self.sources);
        let values = said.take(read).into_iter();
        self.layers.push(InputLayer {
            origin: origin(name.to_owned()),
            values: values.map(|(n, v)| (n, Given::Value(v))).collect(),
        });
    }

    /// Asks for the values that are missing, or for those alone without which the configuration cannot
    /// be read; whether there are new ones.
    pub fn ask(&mut self, session: &Session, preview: &Preview, early: bool) -> bool {
        let Some(root) = preview.configuration.root() else {
            return false;
        };
        // what is wrong with the values is said by the operation
        let (all, _) = root_variables(root, &self.layers, &mut self.sources.clone());
        let mut answers = BTreeMap::new();
        let needed = preview.needed_values();
        for name in all.missing {
            if early && !needed.contains(&format!("var.{name}")) {
                continue;
            }
            let Some(variable) = root.variables.get(&name) else {
                continue;
            };
            let Some(answer) = ask(session, variable) else {
                break;
            };
            answers.insert(name, Given::Text(answer));
        }
        let answered = !answers.is_empty();
        if answered {
            self.layers.push(InputLayer {
                origin: InputOrigin::Prompt,
                values: answers,
            });
        }
        answered
    }
}

fn ask(session: &Session, variable: &InputVariable) -> Option<String> {
    let mut text = format!("var.{}\n", variable.name);
    if let Some(description) = &variable.description {
        for line in description.lines() {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text.push_str("\n  Enter a value: ");
    session.streams.out(&text);
    let answer = if variable.sensitive {
        session.streams.read_hidden()
    } else {
        session.streams.read_line()
    };
    session.streams.out("\n");
    answer.ok().flatten()
}
