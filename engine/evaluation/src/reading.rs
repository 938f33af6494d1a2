//! What a reading of configuration collects: diagnostics, and the calls it must wait for.

use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_eval::{CallId, Functions, Scope, evaluate, explain};
use formwork_syntax::Expression;
use formwork_values::Value;

/// Diagnostics and pending calls of one attempt at reading something.
///
/// With a pending call the values read are not final: its answer is fetched and the reading repeated
/// from the start, with an empty `Reading`.
#[derive(Debug, Default)]
pub struct Reading {
    /// Whether what is read goes to a provider and into no store, so that it may be ephemeral: the
    /// configuration of a provider or of an ephemeral resource.
    pub passes_on: bool,
    /// What there is to say.
    pub diagnostics: Diagnostics,
    /// Calls whose answers are needed first.
    pub pending: Vec<CallId>,
}

impl Reading {
    /// Nothing said yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds something to say.
    pub fn say(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Evaluates an expression, keeping what it has to say.
    pub fn evaluate(
        &mut self,
        expression: &Expression,
        scope: &dyn Scope,
        functions: &dyn Functions,
    ) -> Value {
        let evaluated = evaluate(expression, scope, functions);
        self.diagnostics.append(evaluated.diagnostics);
        self.pending.extend(evaluated.pending);
        evaluated.value
    }

    /// Tells what the references in an expression stand for, in what was said about it since there were
    /// `from` diagnostics.
    pub fn explain_since(&mut self, from: usize, expression: &Expression, scope: &dyn Scope) {
        let range = expression.range();
        for d in self.diagnostics.iter_mut().skip(from) {
            if d.values.is_empty() && d.subject == Some(range) {
                d.values = explain(expression, scope);
            }
        }
    }

    /// Whether it is final and free of errors.
    pub fn is_good(&self) -> bool {
        self.pending.is_empty() && !self.diagnostics.has_errors()
    }
}
