//! `condition ? yes : no`: both branches have one type, and only the chosen one's mistakes count.

use crate::convert::Converts;
use formwork_diagnostics::Diagnostic;
use formwork_syntax::{Conditional, Expression};
use formwork_values::{Kind, Marks, Refinement, Type, Value};

use super::{Evaluator, Locals};

impl Evaluator<'_> {
    pub(super) fn conditional(
        &mut self,
        conditional: &Conditional,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let begin = self.bookmark();
        let mut marks = Marks::NONE;
        let condition = self.condition(&conditional.condition, whole, &mut marks, locals);
        let start = self.bookmark();
        let yes = self.value_of(&conditional.yes, locals);
        let middle = self.bookmark();
        let no = self.value_of(&conditional.no, locals);
        let end = self.bookmark();
        // which result was taken is no secret only if neither is
        marks.extend(yes.marks());
        marks.extend(no.marks());

        let chosen = match condition {
            None => {
                // the condition is wrong: what the branches say would only distract
                self.forgive(start, end);
                return Value::dynamic();
            }
            Some(Some(true)) => {
                self.forgive(middle, end);
                Some(&yes)
            }
            Some(Some(false)) => {
                self.forgive(start, middle);
                Some(&no)
            }
            // nobody knows which mistake will count, if one does
            Some(None) => {
                self.forgive(start, end);
                None
            }
        };
        // a mistake in what counts is told already; the type is still that of both branches
        let failed = self.failed_since(begin);
        let (yes_type, no_type) = (yes.type_of(), no.type_of());
        let untyped_null = |v: &Value| v.is_null() && v.type_of().is_dynamic();
        let result = if untyped_null(&yes) {
            no_type.clone()
        } else if untyped_null(&no) || yes_type == no_type {
            yes_type.clone()
        } else if yes_type.is_dynamic() || no_type.is_dynamic() {
            Type::Dynamic
        } else {
            match crate::convert::unify(&[yes_type.clone(), no_type.clone()]) {
                Some(ty) => ty,
                None if failed => Type::Dynamic,
                None => return self.mismatched(&yes, &no, whole, locals),
            }
        };
        if failed {
            return Value::unknown(result);
        }
        let convert = |value: &Value| {
            if result.is_dynamic() {
                Ok(value.clone())
            } else {
                value.convert(&result)
            }
        };
        if let Some(chosen) = chosen {
            return match convert(chosen) {
                Ok(value) => value.with_marks(&marks),
                Err(_) => self.mismatched(&yes, &no, whole, locals),
            };
        }
        let (Ok(yes), Ok(no)) = (convert(&yes), convert(&no)) else {
            return self.mismatched(&yes, &no, whole, locals);
        };
        let yes = super::strip(yes, &mut marks);
        let no = super::strip(no, &mut marks);
        if yes == no && yes.is_wholly_known() {
            return yes.with_marks(&marks);
        }
        let refinement = refinement_of(&yes).or(&refinement_of(&no));
        Value::unknown_with(result, refinement).with_marks(&marks)
    }

    fn mismatched(
        &mut self,
        yes: &Value,
        no: &Value,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let detail = format!(
            "Both results of a conditional must be of one type, since its type must be known \
             before its condition is. Here the result for true is {} and the result for false is \
             {}, and neither converts to the other.{}",
            super::explain::a_type(yes),
            super::explain::a_type(no),
            super::explain::difference(&yes.type_of(), &no.type_of()),
        );
        let diagnostic = Diagnostic::error("Inconsistent conditional result types", detail);
        self.tell(diagnostic.at(whole.range()), whole, locals)
    }

    /// A condition: `None` if it failed (that is told), `Some(None)` if it is unknown.
    #[allow(clippy::option_option)] // failed, unknown and known are three things here
    pub(super) fn condition(
        &mut self,
        condition: &Expression,
        whole: &Expression,
        marks: &mut Marks,
        locals: Locals<'_>,
    ) -> Option<Option<bool>> {
        let start = self.bookmark();
        let value = self.value_of(condition, locals);
        if self.failed_since(start) {
            return None;
        }
        let (value, own) = value.unmark();
        marks.extend(&own);
        let problem = if value.is_null() {
            Diagnostic::error(
                "Null condition",
                "The condition is null, so it does not say which result to take. Compare with \
                 null, as in \"x != null\", or give a default with coalesce.",
            )
        } else {
            match value.convert(&Type::Bool) {
                Ok(converted) => return Some(converted.as_bool()),
                Err(_) => Diagnostic::error(
                    "Incorrect condition type",
                    format!(
                        "A condition must be true or false, but this one is {}. Compare it with \
                         something, as in \"x != 0\" or \"x != null\".",
                        super::explain::a_type(&value)
                    ),
                ),
            }
        };
        let problem = problem.at(condition.range()).within(whole.range());
        self.tell(problem, condition, locals);
        None
    }
}

/// What can be said of a value that may be this one.
pub(super) fn refinement_of(value: &Value) -> Refinement {
    match value.kind() {
        Kind::Unknown(u) => u.refinement.clone(),
        Kind::Null(_) => Refinement::NONE,
        Kind::Number(n) => Refinement {
            not_null: true,
            lower: Some((n.clone(), true)),
            upper: Some((n.clone(), true)),
            ..Refinement::NONE
        },
        Kind::String(s) => Refinement {
            prefix: Some(s.clone()),
            ..Refinement::NOT_NULL
        },
        Kind::List(v) => Refinement::length(v.len() as u64, Some(v.len() as u64)),
        Kind::Set(v) if value.is_wholly_known() => {
            Refinement::length(v.len() as u64, Some(v.len() as u64))
        }
        Kind::Set(v) => Refinement::length(u64::from(!v.is_empty()), Some(v.len() as u64)),
        Kind::Map(v) => Refinement::length(v.len() as u64, Some(v.len() as u64)),
        _ => Refinement::NOT_NULL,
    }
}
