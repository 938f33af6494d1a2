//! Templates: text with interpolations and directives.
//!
//! Escapes, strip markers and heredoc indentation are the parser's work and done already.

use crate::convert::Converts;
use formwork_diagnostics::Diagnostic;
use formwork_syntax::{Expression, Template, TemplatePart, on_deep_stack};
use formwork_values::{Kind, Marks, Refinement, Type, Value};

use super::loops::Elements;
use super::{Evaluator, Local, Locals};

/// Text as far as it is known.
#[derive(Default)]
struct Text {
    known: String,
    /// Whether something unknown follows `known`; what comes after that is not kept.
    open: bool,
}

impl Text {
    fn push(&mut self, text: &str) {
        if !self.open {
            self.known.push_str(text);
        }
    }

    fn is_too_long(&self) -> bool {
        self.known.len() > crate::builtins::MOST_TEXT
    }
}

impl Evaluator<'_> {
    pub(super) fn template(
        &mut self,
        template: &Template,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let start = self.bookmark();
        let mut text = Text::default();
        let mut marks = Marks::NONE;
        self.parts(&template.parts, whole, &mut text, &mut marks, locals);
        if self.failed_since(start) {
            // whatever went wrong within, it would have been text
            return Value::unknown(Type::String);
        }
        self.work.text = self.work.text.saturating_add(text.known.len());
        if text.open {
            Value::unknown_with(Type::String, Refinement::string_prefix(&text.known))
        } else {
            Value::string(text.known)
        }
        .with_marks(&marks)
    }

    fn parts(
        &mut self,
        parts: &[TemplatePart],
        whole: &Expression,
        text: &mut Text,
        marks: &mut Marks,
        locals: Locals<'_>,
    ) {
        on_deep_stack(|| {
            for part in parts {
                if text.is_too_long() {
                    // Counted as all that may be made, which ends the evaluation with a word.
                    self.work.text = usize::MAX;
                    self.give_up(whole);
                    return;
                }
                self.part(part, whole, text, marks, locals);
            }
        });
    }

    fn part(
        &mut self,
        part: &TemplatePart,
        whole: &Expression,
        text: &mut Text,
        marks: &mut Marks,
        locals: Locals<'_>,
    ) {
        match part {
            TemplatePart::Literal { value, .. } => text.push(value),
            TemplatePart::Interpolation { expression, .. } => {
                let start = self.bookmark();
                let value = self.value_of(expression, locals);
                if !self.failed_since(start) {
                    self.interpolate(value, expression, whole, text, marks, locals);
                }
            }
            TemplatePart::If {
                condition,
                then,
                otherwise,
                ..
            } => match self.condition(condition, whole, marks, locals) {
                Some(Some(true)) => self.parts(then, whole, text, marks, locals),
                Some(Some(false)) => {
                    if let Some(parts) = otherwise {
                        self.parts(parts, whole, text, marks, locals);
                    }
                }
                Some(None) => text.open = true,
                None => {}
            },
            TemplatePart::For {
                key,
                value,
                collection,
                body,
                ..
            } => {
                match self.elements_of(collection, whole, marks, locals) {
                    Elements::Failed => {}
                    Elements::Unknown => text.open = true,
                    Elements::Known(elements) => {
                        let start = self.bookmark();
                        for (k, v) in &elements {
                            let outer = key.as_ref().map(|(name, _)| Local {
                                name,
                                value: k,
                                outer: locals,
                            });
                            let local = Local {
                                name: &value.0,
                                value: v,
                                outer: outer.as_ref().or(locals),
                            };
                            self.parts(body, whole, text, marks, Some(&local));
                            if self.failed_since(start) {
                                // the same mistake again for every further element is no news
                                break;
                            }
                        }
                    }
                }
            }
        }
    }

    fn interpolate(
        &mut self,
        value: Value,
        expression: &Expression,
        whole: &Expression,
        text: &mut Text,
        marks: &mut Marks,
        locals: Locals<'_>,
    ) {
        let value = super::strip(value, marks);
        let problem = if value.is_null() {
            "The value is null, which has no text.".to_owned()
        } else {
            match value.convert(&Type::String) {
                Ok(converted) => {
                    match converted.kind() {
                        Kind::String(s) => text.push(s),
                        Kind::Unknown(u) => {
                            if let Some(prefix) = &u.refinement.prefix {
                                text.push(prefix);
                            }
                            text.open = true;
                        }
                        _ => {}
                    }
                    return;
                }
                Err(_) => format!(
                    "Only text, numbers and truth values can stand in text, but this is {}. Encode \
                     it, as with jsonencode, or pick the part that is meant.",
                    super::explain::a_type(&value)
                ),
            }
        };
        let problem = Diagnostic::error("Invalid template interpolation value", problem)
            .at(expression.range())
            .within(whole.range());
        self.tell(problem, expression, locals);
    }
}
