//! Validating a configuration: no state, no credentials, no world.

use crate::load::{Evaluation, disk, load_with};
use crate::session::Session;
use crate::test::check_tests;
use crate::told::told_once;
use formwork_diagnostics::{Diagnostics, SourceMap, SourceRange};
use formwork_evaluation::Objects;
use formwork_provider::Providers;
use formwork_values::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What validation has to say.
pub struct Validated {
    /// Everything there is to say; valid if there is no error.
    pub diagnostics: Diagnostics,
    /// The files it points into.
    pub sources: SourceMap,
}

/// Checks the configuration of the working directory.
///
/// `tests` is the directory of tests, if test files are checked too.
pub async fn validate(session: &Session, tests: Option<&Path>) -> Validated {
    let (mut loaded, mut diagnostics) = load_with(session, true);
    if let Some(directory) = tests {
        diagnostics.append(check_tests(session, directory, &mut loaded.sources));
    }
    if !loaded.checkable {
        return Validated {
            diagnostics: told_once(diagnostics),
            sources: loaded.sources,
        };
    }
    // A provider that is not there is said by validation, as a warning, once.
    let wanted = loaded.configuration.required_providers().into_keys();
    let level = session.settings.level.version.to_string();
    let (providers, _) = Providers::launch(session.factory.clone(), &level, wanted).await;
    let providers = Arc::new(providers);
    let variables: BTreeMap<Arc<str>, Value> = loaded
        .configuration
        .root()
        .map(|m| {
            m.variables
                .iter()
                .map(|(name, v)| {
                    let value = Value::unknown(v.constraint.ty.without_optional());
                    (name.clone(), value.with_marks(&v.marks()))
                })
                .collect()
        })
        .unwrap_or_default();
    let evaluation = Evaluation {
        session,
        configuration: &loaded.configuration,
        providers: &providers,
        files: disk(session),
        plan_time: None,
        applying: false,
        validating: true,
    };
    let evaluator = evaluation.over(Objects::new(), variables);
    let said = formwork_planner::validate(&evaluator, &loaded.graph, &providers).await;
    // Names that are not declared have been told; evaluation meets them again.
    let known: Vec<SourceRange> = errors_at(&diagnostics).collect();
    diagnostics.extend(said.into_iter().filter(|d| {
        let again = d
            .subject
            .is_some_and(|s| known.iter().any(|k| overlap(*k, s)));
        !(d.is_error() && again)
    }));
    Validated {
        diagnostics: told_once(diagnostics),
        sources: loaded.sources,
    }
}

fn errors_at(diagnostics: &Diagnostics) -> impl Iterator<Item = SourceRange> {
    diagnostics
        .iter()
        .filter(|d| d.is_error())
        .filter_map(|d| d.subject)
}

fn overlap(a: SourceRange, b: SourceRange) -> bool {
    a.file == b.file && a.start < b.end && b.start < a.end
}
