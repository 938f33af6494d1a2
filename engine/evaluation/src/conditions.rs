//! Conditions: preconditions, postconditions, validations and assertions.

use crate::reading::Reading;
use crate::scope::ModuleScope;
use formwork_configuration::CheckRule;
use formwork_diagnostics::{Diagnostic, ExpressionValue};
use formwork_eval::Functions;
use formwork_values::{Type, Value, convert};

/// Which kind of condition, for the summary of its failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Of a resource, before it is planned.
    Precondition,
    /// Of a resource, when its object is known.
    Postcondition,
    /// Of an output.
    Output,
    /// In a check block: failing is a warning.
    Assertion,
    /// Of a variable.
    Validation,
    /// In a run of a test.
    Test,
}

impl Condition {
    /// The summary of its failure.
    pub fn failed(self) -> &'static str {
        match self {
            Self::Precondition => "Resource precondition failed",
            Self::Postcondition => "Resource postcondition failed",
            Self::Output => "Module output value precondition failed",
            Self::Assertion => "Check block assertion failed",
            Self::Validation => "Invalid value for variable",
            Self::Test => "Test assertion failed",
        }
    }

    fn invalid(self) -> &'static str {
        match self {
            Self::Test => "Invalid condition run",
            _ => "Invalid condition result",
        }
    }

    /// The summary of a failure, by which one is told from other errors about the same object.
    pub fn is_failure(self, summary: &str) -> bool {
        self.failed() == summary
    }
}

/// How a condition came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It does not hold; the message as the configuration words it.
    Fail(String),
    /// Not known yet.
    Unknown,
    /// It could not be evaluated; said in the reading.
    Error,
}

/// Judges a condition. A failure is said in the reading: as an error, or for an assertion as a
/// warning.
pub fn check(
    rule: &CheckRule,
    kind: Condition,
    scope: &ModuleScope<'_>,
    functions: &dyn Functions,
    reading: &mut Reading,
) -> Verdict {
    let before = reading.diagnostics.error_count();
    let value = scope.read(&rule.condition, functions, reading);
    if reading.diagnostics.error_count() > before {
        return Verdict::Error;
    }
    let range = rule.condition.range();
    let (value, _) = value.unmark();
    let truth = match convert(value, &Type::Bool) {
        Ok(t) if t.is_null() => {
            reading.say(
                Diagnostic::error(
                    kind.invalid(),
                    "The condition is null; it must be true or false.",
                )
                .at(range),
            );
            return Verdict::Error;
        }
        Ok(t) => t,
        Err(e) => {
            let mut wrong = Diagnostic::error(
                kind.invalid(),
                format!("The condition must be true or false: {e}."),
            )
            .at(range)
            .within(rule.range);
            wrong.values = referenced(rule, scope);
            reading.say(wrong);
            return Verdict::Error;
        }
    };
    match truth.as_bool() {
        None if kind == Condition::Test => {
            let mut unknown = Diagnostic::error(
                "Unknown condition value",
                "The condition refers to something that is known only when it is applied, so it can be \
                 neither true nor false now. Let the run apply (command = apply), refer to what is known \
                 when planning, or give the value beforehand, with override_during = plan.",
            )
            .at(range)
            .within(rule.range);
            unknown.values = referenced(rule, scope);
            reading.say(unknown);
            Verdict::Unknown
        }
        None => Verdict::Unknown,
        Some(true) => Verdict::Pass,
        Some(false) => {
            let before = reading.diagnostics.error_count();
            let message = message(rule, kind, scope, functions, reading);
            if kind == Condition::Test && reading.diagnostics.error_count() > before {
                return Verdict::Error;
            }
            let d = if kind == Condition::Assertion {
                Diagnostic::warning
            } else {
                Diagnostic::error
            };
            let mut failure = d(kind.failed(), message.clone()).at(range);
            failure.values = referenced(rule, scope);
            reading.say(failure);
            Verdict::Fail(message)
        }
    }
}

/// The message of a failed condition.
fn message(
    rule: &CheckRule,
    kind: Condition,
    scope: &ModuleScope<'_>,
    functions: &dyn Functions,
    reading: &mut Reading,
) -> String {
    let mut attempt = Reading::new();
    let value = scope.read(&rule.error_message, functions, &mut attempt);
    reading.pending.extend(attempt.pending);
    if attempt.diagnostics.has_errors() {
        reading.diagnostics.append(attempt.diagnostics);
        return "The condition does not hold, and its message could not be evaluated.".to_owned();
    }
    let marks = value.all_marks();
    if marks.is_sensitive() || marks.is_ephemeral() {
        let (word, why) = if marks.is_ephemeral() {
            (
                "ephemeral",
                "is not to outlive this run, and so cannot be told",
            )
        } else {
            ("sensitive", "is not to be shown")
        };
        let d = if kind == Condition::Validation {
            Diagnostic::error
        } else {
            Diagnostic::warning
        };
        reading.say(
            d(
                &format!("Error message refers to {word} values"),
                format!(
                    "The message of this condition would tell a value that {why}, so the message is \
                     withheld. Word it without that value."
                ),
            )
            .at(rule.error_message.range()),
        );
        return "The condition does not hold. Its message refers to a value that may not be shown, so it \
                is withheld."
            .to_owned();
    }
    match convert(value, &Type::String)
        .ok()
        .as_ref()
        .and_then(Value::as_str)
    {
        Some(text) => text.trim().to_owned(),
        None => "The condition does not hold, and its message is not a known text.".to_owned(),
    }
}

/// What the references of the condition are, as far as they may be shown.
pub fn referenced(rule: &CheckRule, scope: &ModuleScope<'_>) -> Vec<ExpressionValue> {
    formwork_eval::explain(&rule.condition, scope)
}
