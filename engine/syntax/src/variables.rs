//! Which references an expression makes.

use crate::expression::{Expression, ExpressionKind as K, ObjectKey};
use crate::on_deep_stack;
use crate::template::TemplatePart;
use crate::traversal::Traversal;
use std::sync::Arc;

impl Expression {
    /// All references to names from outside, in source order: each traversal whose root is no
    /// variable of an enclosing `for`.
    ///
    /// Bare object keys are names, not references, and so are the words of a type, in `convert`; the steps after a splat or a calculated index are
    /// no part of the traversal before it.
    pub fn variables(&self) -> Vec<&Traversal> {
        let mut found = Vec::new();
        self.visit_variables(&mut |t| found.push(t));
        found
    }

    /// Calls `visit` for each of [`Self::variables`].
    pub fn visit_variables<'a>(&'a self, visit: &mut dyn FnMut(&'a Traversal)) {
        let mut walk = Walk {
            visit,
            bound: Vec::new(),
            calls: false,
        };
        walk.expression(self);
    }

    /// Whether its value is not in the text alone: it makes references or calls functions.
    pub fn is_computed(&self) -> bool {
        let mut refers = false;
        let mut walk = Walk {
            visit: &mut |_| refers = true,
            bound: Vec::new(),
            calls: false,
        };
        walk.expression(self);
        walk.calls || refers
    }
}

struct Walk<'a, 'v> {
    visit: &'v mut dyn FnMut(&'a Traversal),
    /// Names bound by the enclosing `for`s.
    bound: Vec<&'a Arc<str>>,
    /// Whether a function call was met.
    calls: bool,
}

impl<'a> Walk<'a, '_> {
    fn expression(&mut self, expression: &'a Expression) {
        on_deep_stack(|| self.kind(expression.kind()));
    }

    fn kind(&mut self, kind: &'a K) {
        match kind {
            K::Invalid | K::Null | K::Bool(_) | K::Number(_) | K::String(_) | K::SplatItem => {}
            K::Traversal(t) => {
                if !self.bound.contains(&&t.root) {
                    (self.visit)(t);
                }
            }
            K::Template(template) => self.parts(&template.parts),
            K::TemplateWrap(e) | K::Parentheses(e) => self.expression(e),
            K::Relative { source, .. } => self.expression(source),
            K::Index {
                collection, key, ..
            } => {
                self.expression(collection);
                self.expression(key);
            }
            K::Splat(splat) => {
                self.expression(&splat.source);
                self.expression(&splat.each);
            }
            K::FunctionCall(call) => {
                self.calls = true;
                self.all(call.value_arguments());
            }
            K::Conditional(c) => {
                self.expression(&c.condition);
                self.expression(&c.yes);
                self.expression(&c.no);
            }
            K::Unary { operand, .. } => self.expression(operand),
            K::Binary { left, right, .. } => {
                self.expression(left);
                self.expression(right);
            }
            K::Tuple(items) => self.all(items),
            K::Object(items) => {
                for item in items {
                    if let ObjectKey::Expression(key) = &item.key {
                        self.expression(key);
                    }
                    self.expression(&item.value);
                }
            }
            K::For(f) => {
                self.expression(&f.collection);
                let outer = self.bind(f.key_name.as_ref().map(|(n, _)| n), &f.value_name.0);
                let parts = [f.key.as_ref(), Some(&f.value), f.condition.as_ref()];
                for part in parts.into_iter().flatten() {
                    self.expression(part);
                }
                self.bound.truncate(outer);
            }
        }
    }

    fn all(&mut self, expressions: &'a [Expression]) {
        for e in expressions {
            self.expression(e);
        }
    }

    /// Binds the names of a `for`; gives how many were bound before.
    fn bind(&mut self, key: Option<&'a Arc<str>>, value: &'a Arc<str>) -> usize {
        let outer = self.bound.len();
        self.bound.extend(key);
        self.bound.push(value);
        outer
    }

    fn parts(&mut self, parts: &'a [TemplatePart]) {
        on_deep_stack(|| {
            for part in parts {
                self.part(part);
            }
        });
    }

    fn part(&mut self, part: &'a TemplatePart) {
        match part {
            TemplatePart::Literal { .. } => {}
            TemplatePart::Interpolation { expression, .. } => self.expression(expression),
            TemplatePart::If {
                condition,
                then,
                otherwise,
                ..
            } => {
                self.expression(condition);
                self.parts(then);
                if let Some(parts) = otherwise {
                    self.parts(parts);
                }
            }
            TemplatePart::For {
                key,
                value,
                collection,
                body,
                ..
            } => {
                self.expression(collection);
                let outer = self.bind(key.as_ref().map(|(n, _)| n), &value.0);
                self.parts(body);
                self.bound.truncate(outer);
            }
        }
    }
}
