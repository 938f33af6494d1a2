//! The parts of a `replace_triggered_by` expression that must be evaluated.

use formwork_addresses::ReferenceStep;
use formwork_configuration::instance_key;
use formwork_syntax::{Expression, ExpressionKind, Step};

/// The computed key of `resource[key]` or `resource[key].attribute`, and the literal steps after it.
pub fn computed_key(expression: &Expression) -> Option<(Expression, Vec<ReferenceStep>)> {
    match expression.without_parentheses().kind() {
        ExpressionKind::Index { key, .. } => Some((key.clone(), Vec::new())),
        ExpressionKind::Relative { source, steps } => {
            let (key, _) = computed_key(source)?;
            let after = steps
                .iter()
                .map_while(|s| match s {
                    Step::Attribute { name, .. } => Some(ReferenceStep::Attribute(name.clone())),
                    Step::Index { key, .. } => instance_key(key).map(ReferenceStep::Index),
                })
                .collect();
            Some((key, after))
        }
        _ => None,
    }
}
