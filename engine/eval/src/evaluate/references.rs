//! Mistakes in references that need no evaluation.

use formwork_diagnostics::Diagnostics;
use formwork_syntax::Expression;

use crate::scope::Scope;

/// What [`Scope::check`] says of the references in an expression, wherever they stand in it.
pub fn check_references(expression: &Expression, scope: &dyn Scope) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    expression.visit_variables(&mut |traversal| diagnostics.append(scope.check(traversal)));
    diagnostics
}
