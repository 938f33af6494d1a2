//! The variables of a test: what is given to all runs, to those of a file, and to one of them.

use crate::session::Session;
use formwork_addresses::Subject;
use formwork_configuration::{
    Given, GivenValue, InputLayer, InputOrigin, Module, RunBlock, TestFile, parse_test_reference,
};
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap, nearest};
use formwork_eval::{Builtins, Resolved, Scope, Surroundings, evaluate};
use formwork_evaluation::Runs;
use formwork_syntax::{Attribute, Traversal};
use formwork_values::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) type Variables = BTreeMap<Arc<str>, Value>;

/// What a run is given.
#[derive(Default)]
pub(super) struct RunValues {
    /// What expressions of the test see as `var.NAME`.
    pub seen: Variables,
    /// What the module under test is given, lowest first.
    pub layers: Vec<InputLayer>,
}

/// The values that are given to every run, as the root module's variables have them.
pub(super) fn globals(
    root: Option<&Arc<Module>>,
    layers: &[InputLayer],
    sources: &SourceMap,
) -> Variables {
    let mut all = Variables::new();
    for (name, given) in layers.iter().flat_map(|l| &l.values) {
        let variable = root.and_then(|m| m.variables.get(name));
        let value = match (given, variable) {
            (Given::Value(g), _) => g.value.clone(),
            // What is wrong with it is said by the run that gets it.
            (Given::Text(text), Some(v)) => v.value_from_text(text, &mut sources.clone()).0,
            (Given::Text(text), None) => Value::string(text),
        };
        let value = match variable {
            Some(v) => v
                .accept(value.clone())
                .unwrap_or(value)
                .with_marks(&v.marks()),
            None => value,
        };
        all.insert(name.clone(), value);
    }
    all
}

/// Evaluates the variables of a file and of one of its runs.
pub(super) fn of_run(
    session: &Session,
    file: &TestFile,
    run: &RunBlock,
    layers: &[InputLayer],
    globals: &Variables,
    runs: &Runs,
) -> (RunValues, Diagnostics) {
    let mut said = Diagnostics::new();
    let functions = Builtins::new(Surroundings {
        files: crate::load::disk(session),
        clock: session.environment.clock.clone(),
        randomness: session.environment.randomness.clone(),
        plan_time: None,
        settle_impure: true,
    });
    let mut values = RunValues {
        seen: globals.clone(),
        layers: layers.to_vec(),
    };
    for (attributes, of_run) in [(&file.variables, false), (&run.variables, true)] {
        let seen = values.seen.clone();
        let place = Place {
            variables: &seen,
            runs: of_run.then_some(runs),
        };
        let mut layer = BTreeMap::new();
        for (name, attribute) in attributes {
            if let Some(value) = value(attribute, &place, &functions, &mut said) {
                values.seen.insert(name.clone(), value.clone());
                let range = attribute.expression.range();
                let given = GivenValue {
                    value,
                    range,
                    name_range: attribute.name_range,
                };
                layer.insert(name.clone(), Given::Value(given));
            }
        }
        values.layers.push(InputLayer {
            origin: InputOrigin::File(file.name.to_string()),
            values: layer,
        });
    }
    (values, said)
}

fn value(
    attribute: &Attribute,
    place: &Place<'_>,
    functions: &Builtins,
    said: &mut Diagnostics,
) -> Option<Value> {
    let evaluated = evaluate(&attribute.expression, place, functions);
    let failed = evaluated.diagnostics.has_errors();
    said.append(evaluated.diagnostics);
    if failed {
        return None;
    }
    if !evaluated.value.is_wholly_known() {
        said.push(
            Diagnostic::error(
                "Reference to unknown value",
                format!(
                    "The value of \"{}\" is not known: it refers to an output of a run that only planned. \
                     Let that run apply, or give the value in another way.",
                    attribute.name
                ),
            )
            .at(attribute.expression.range()),
        );
        return None;
    }
    Some(evaluated.value)
}

/// Where the values of variables are written.
struct Place<'a> {
    variables: &'a Variables,
    /// Outputs of earlier runs, in a run.
    runs: Option<&'a Runs>,
}

impl Scope for Place<'_> {
    fn resolve(&self, reference: &Traversal) -> Resolved {
        let found = match parse_test_reference(reference) {
            Ok(found) => found,
            Err(d) => return Resolved::failed(*d),
        };
        let steps = found.subject_steps;
        match (&found.reference.subject, self.runs) {
            (Subject::InputVariable(name), _) => match self.variables.get(name) {
                Some(value) => Resolved::new(value.clone(), steps),
                None => {
                    let d = Diagnostic::error(
                        "Reference to unavailable variable",
                        format!(
                            "var.{name} has no value here. What can be referred to are variables that are \
                             given a value {}; defaults of the module under test do not count.",
                            if self.runs.is_some() {
                                "for all runs of the file, on the command line or in a file of values"
                            } else {
                                "on the command line or in a file of values"
                            }
                        ),
                    );
                    let near = nearest(name, self.variables.keys().map(|k| &**k));
                    let d = match near {
                        Some(near) => d.hint(format!("Did you mean var.{near}?")),
                        None => d,
                    };
                    Resolved::failed(d.at(reference.range()))
                }
            },
            (Subject::Run(name), Some(runs)) => runs.resolve(name, steps, reference),
            (subject, runs) => {
                let what = if runs.is_some() {
                    "variables that are given a value and outputs of earlier runs (run.NAME.OUTPUT)"
                } else {
                    "variables that are given a value on the command line or in a file of values"
                };
                Resolved::failed(
                    Diagnostic::error(
                        "Invalid reference",
                        format!(
                            "{subject} means nothing here, where values of variables are given. They may \
                             be made from {what}."
                        ),
                    )
                    .at(reference.range()),
                )
            }
        }
    }
}
