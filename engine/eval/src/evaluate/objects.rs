//! Objects written out.

use std::sync::Arc;

use crate::convert::Converts;
use formwork_diagnostics::Diagnostic;
use formwork_syntax::{Expression, ExpressionKind, ObjectItem, ObjectKey};
use formwork_values::{Kind, Marks, Type, Value};

use super::{Evaluator, Locals};

/// What a key expression came to.
pub(super) enum KeyFound {
    Name(Arc<str>),
    Unknown,
    Failed,
}

impl Evaluator<'_> {
    pub(super) fn object(&mut self, items: &[ObjectItem], locals: Locals<'_>) -> Value {
        let mut entries: Vec<(Arc<str>, Value)> = Vec::with_capacity(items.len());
        let mut marks = Marks::NONE;
        let mut complete = true;
        for item in items {
            let key = match &item.key {
                ObjectKey::Name { name, .. } => KeyFound::Name(name.clone()),
                ObjectKey::Expression(key) => self.item_key(key, &mut marks, locals),
            };
            let value = self.value_of(&item.value, locals);
            match key {
                KeyFound::Name(name) => entries.push((name, value)),
                KeyFound::Unknown | KeyFound::Failed => complete = false,
            }
        }
        if complete {
            Value::object(entries).with_marks(&marks)
        } else {
            // not even the names are known
            Value::dynamic().with_marks(&marks)
        }
    }

    fn item_key(&mut self, key: &Expression, marks: &mut Marks, locals: Locals<'_>) -> KeyFound {
        if let ExpressionKind::Traversal(t) = key.kind() {
            let problem = Diagnostic::error(
                "Ambiguous attribute key",
                format!("The key {t} could be a reference or a name with dots in it."),
            )
            .hint(format!(
                "If its value shall be the key, write ({t}); if it is a name, write \"{t}\"."
            ));
            self.tell(problem.at(key.range()), key, locals);
            return KeyFound::Failed;
        }
        let start = self.bookmark();
        let value = self.value_of(key, locals);
        if self.failed_since(start) {
            return KeyFound::Failed;
        }
        self.key_text(
            value,
            key,
            ["Null value as key", "Incorrect key type"],
            marks,
            locals,
        )
    }

    /// A key as text. The summaries are for null and for what is no text.
    pub(super) fn key_text(
        &mut self,
        value: Value,
        key: &Expression,
        [null, misfit]: [&str; 2],
        marks: &mut Marks,
        locals: Locals<'_>,
    ) -> KeyFound {
        let value = super::strip(value, marks);
        let problem = if value.is_null() {
            Diagnostic::error(null, "The key is null, but every key must be text.")
        } else {
            match value.convert(&Type::String) {
                Ok(text) => {
                    return match text.kind() {
                        Kind::String(s) => KeyFound::Name(s.clone()),
                        _ => KeyFound::Unknown,
                    };
                }
                Err(_) => Diagnostic::error(
                    misfit,
                    format!(
                        "A key must be text (or a number or truth value, which have a text), but \
                         this one is {}.",
                        super::explain::a_type(&value)
                    ),
                ),
            }
        };
        self.tell(problem.at(key.range()), key, locals);
        KeyFound::Failed
    }
}
