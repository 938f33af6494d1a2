//! What a command must know of the configuration before an operation reads it: where its state is,
//! which versions of providers it wants, which variables it has.

use crate::inputs::Values;
use crate::operation::Fetcher;
use crate::session::Session;
use formwork_configuration::Configuration;
use formwork_diagnostics::{Diagnostic, Diagnostics, SourceMap};
use formwork_eval::{Surroundings, WorkingDirectory};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A configuration, read for a look.
pub struct Preview {
    /// The configuration.
    pub configuration: Arc<Configuration>,
    /// Its files.
    pub sources: SourceMap,
    /// What was wrong with it.
    pub diagnostics: Diagnostics,
}

impl Preview {
    /// Of the working directory, with the values that are given for its variables; `None` where it is
    /// only looked at, so that values may be missing. Modules are asked of `fetcher`.
    pub fn of_directory(session: &Session, values: Option<&Values>, fetcher: Fetcher) -> Self {
        let nothing = SourceMap::new();
        Self::of(&formwork_ops::read_configuration(&formwork_ops::Reading {
            environment: &session.environment,
            reader: session.reader(),
            fetcher,
            level: session.level(false),
            inputs: values.map_or(&[], |v| &v.layers),
            sources: values.map_or(&nothing, |v| &v.sources),
            workspace: &session.workspace(),
            called_in: &session.called_in,
            files_within: session.files_within.clone(),
            partial: values.is_none(),
        }))
    }

    /// Of what was read.
    pub fn of(read: &formwork_ops::ReadConfiguration) -> Self {
        Self {
            configuration: read.configuration.clone(),
            sources: read.sources.clone(),
            diagnostics: read.diagnostics.clone(),
        }
    }

    /// Of a plan's own files.
    pub fn of_plan(session: &Session, plan: &formwork_plan::Plan) -> Self {
        let mut sources = SourceMap::new();
        let place = formwork_ops::PlanPlace {
            surroundings: surroundings(session),
            called_in: &session.called_in,
            workspace: &session.workspace(),
            level: session.level(false),
            generated: false,
        };
        let (configuration, diagnostics) =
            formwork_ops::planned_configuration(plan, place, &mut sources);
        Self {
            configuration: Arc::new(configuration),
            sources,
            diagnostics,
        }
    }

    /// Whether it is well but for values that are missing, which somebody can be asked for.
    pub fn can_be_asked_for(&self) -> bool {
        self.diagnostics
            .iter()
            .filter(|d| d.is_error())
            .all(lacks_value)
    }

    /// The variables without whose values the configuration cannot be read, by address.
    pub fn needed_values(&self) -> BTreeSet<String> {
        let lacking = self.diagnostics.iter().filter(|d| lacks_value(d));
        lacking.filter_map(|d| d.address.clone()).collect()
    }
}

/// What functions reach that are called before anything is planned.
fn surroundings(session: &Session) -> Surroundings {
    let environment = &session.environment;
    Surroundings {
        files: Arc::new(WorkingDirectory {
            base: environment.working.clone(),
            home: environment.home.clone(),
            within: session.files_within.clone(),
        }),
        clock: environment.clock.clone(),
        randomness: environment.randomness.clone(),
        plan_time: None,
        settle_impure: false,
    }
}

fn lacks_value(d: &Diagnostic) -> bool {
    d.summary == "No value for required variable"
}
