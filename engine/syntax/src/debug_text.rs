//! The tree as stable text, for tests and for people: prefix form, one item of a body a line.

use crate::body::{Body, BodyItem};
use crate::expression::{Expression, ExpressionKind as K, ObjectKey, SplatKind};
use crate::on_deep_stack;
use crate::template::{TemplateFlavour, TemplatePart, quote};
use std::fmt::Write as _;

impl Body {
    /// The body as text: `name = expression` and `type "label" { ... }`, without positions.
    pub fn debug_text(&self) -> String {
        let mut out = String::new();
        write_body(self, 0, &mut out);
        out
    }
}

impl Expression {
    /// The expression as text in prefix form, such as `(+ 1 (call f x))`, without positions.
    pub fn debug_text(&self) -> String {
        let mut out = String::new();
        write_expression(self, &mut out);
        out
    }
}

fn write_body(body: &Body, depth: usize, out: &mut String) {
    if let Some(json) = body.as_json() {
        out.push_str(&json.debug_text());
        out.push('\n');
    }
    for item in body.items() {
        for _ in 0..depth {
            out.push_str("  ");
        }
        match item {
            BodyItem::Attribute(a) => {
                let _ = write!(out, "{} = ", a.name);
                write_expression(&a.expression, out);
                out.push('\n');
            }
            BodyItem::Block(block) => {
                out.push_str(&block.block_type);
                for label in &block.labels {
                    out.push(' ');
                    if label.quoted {
                        out.push_str(&quote(&label.value));
                    } else {
                        out.push_str(&label.value);
                    }
                }
                out.push_str(" {\n");
                on_deep_stack(|| write_body(&block.body, depth + 1, out));
                for _ in 0..depth {
                    out.push_str("  ");
                }
                out.push_str("}\n");
            }
        }
    }
}

fn list<'a>(name: &str, items: impl IntoIterator<Item = &'a Expression>, out: &mut String) {
    out.push('(');
    out.push_str(name);
    for item in items {
        out.push(' ');
        write_expression(item, out);
    }
    out.push(')');
}

fn write_expression(expression: &Expression, out: &mut String) {
    on_deep_stack(|| write_kind(expression.kind(), out));
}

fn write_kind(kind: &K, out: &mut String) {
    match kind {
        K::Invalid => out.push_str("<invalid>"),
        K::Null => out.push_str("null"),
        K::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        K::Number(n) => out.push_str(n),
        K::String(s) => out.push_str(&quote(s)),
        K::Template(template) => {
            out.push_str(match template.flavour {
                TemplateFlavour::Quoted => "(template",
                TemplateFlavour::Heredoc => "(heredoc",
                TemplateFlavour::Bare => "(bare",
            });
            write_parts(&template.parts, out);
            out.push(')');
        }
        K::TemplateWrap(e) => list("wrap", [e], out),
        K::Traversal(t) => {
            let _ = write!(out, "{t}");
        }
        K::Relative { source, steps } => {
            out.push_str("(get ");
            write_expression(source, out);
            out.push(' ');
            for step in steps {
                let _ = write!(out, "{step}");
            }
            out.push(')');
        }
        K::Index {
            collection, key, ..
        } => list("index", [collection, key], out),
        K::Splat(splat) => {
            let name = match splat.kind {
                SplatKind::Attribute => "splat.",
                SplatKind::Full => "splat",
            };
            list(name, [&splat.source, &splat.each], out);
        }
        K::SplatItem => out.push('@'),
        K::FunctionCall(call) => {
            out.push_str("(call ");
            out.push_str(&call.name);
            for argument in &call.arguments {
                out.push(' ');
                write_expression(argument, out);
            }
            out.push_str(if call.expand_final { "...)" } else { ")" });
        }
        K::Conditional(c) => list("if", [&c.condition, &c.yes, &c.no], out),
        K::Unary {
            operator, operand, ..
        } => list(operator.symbol(), [operand], out),
        K::Binary {
            left,
            operator,
            right,
            ..
        } => list(operator.symbol(), [left, right], out),
        K::Tuple(items) => list("list", items, out),
        K::Object(items) => {
            out.push_str("(object");
            for item in items {
                out.push_str(" (");
                match &item.key {
                    ObjectKey::Name { name, .. } => out.push_str(name),
                    ObjectKey::Expression(e) => write_expression(e, out),
                }
                out.push_str(" = ");
                write_expression(&item.value, out);
                out.push(')');
            }
            out.push(')');
        }
        K::For(f) => {
            out.push_str("(for ");
            if let Some((key, _)) = &f.key_name {
                let _ = write!(out, "{key}, ");
            }
            let _ = write!(out, "{} in ", f.value_name.0);
            write_expression(&f.collection, out);
            out.push_str(" : ");
            if let Some(key) = &f.key {
                write_expression(key, out);
                out.push_str(" => ");
            }
            write_expression(&f.value, out);
            if f.group {
                out.push_str("...");
            }
            if let Some(condition) = &f.condition {
                out.push_str(" if ");
                write_expression(condition, out);
            }
            out.push(')');
        }
        K::Parentheses(e) => list("parens", [e], out),
    }
}

fn write_parts(parts: &[TemplatePart], out: &mut String) {
    for part in parts {
        out.push(' ');
        on_deep_stack(|| write_part(part, out));
    }
}

fn write_part(part: &TemplatePart, out: &mut String) {
    match part {
        TemplatePart::Literal { value, .. } => out.push_str(&quote(value)),
        TemplatePart::Interpolation { expression, .. } => write_expression(expression, out),
        TemplatePart::If {
            condition,
            then,
            otherwise,
            ..
        } => {
            out.push_str("%(if ");
            write_expression(condition, out);
            write_parts(then, out);
            if let Some(parts) = otherwise {
                out.push_str(" else");
                write_parts(parts, out);
            }
            out.push(')');
        }
        TemplatePart::For {
            key,
            value,
            collection,
            body,
            ..
        } => {
            out.push_str("%(for ");
            if let Some((key, _)) = key {
                let _ = write!(out, "{key}, ");
            }
            let _ = write!(out, "{} in ", value.0);
            write_expression(collection, out);
            out.push_str(" :");
            write_parts(body, out);
            out.push(')');
        }
    }
}
