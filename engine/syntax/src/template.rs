//! Templates: text with interpolations and directives, in quotes, as a heredoc, or as a whole file.

use crate::expression::Expression;
use formwork_diagnostics::SourceRange;
use std::fmt::Write as _;
use std::sync::Arc;

/// A template that is more than one literal and not one interpolation alone.
///
/// Escapes, strip markers and the indentation of `<<-` are already applied.
#[derive(Clone, Debug)]
pub struct Template {
    /// How it was written.
    pub flavour: TemplateFlavour,
    /// Its parts in order; adjacent literals are merged.
    pub parts: Box<[TemplatePart]>,
}

/// How a template was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateFlavour {
    /// Between double quotes.
    Quoted,
    /// `<<END`, or `<<-END`.
    Heredoc,
    /// A whole file or a JSON string.
    Bare,
}

/// One part of a [`Template`].
#[derive(Clone, Debug)]
pub enum TemplatePart {
    /// Text as it shall appear.
    Literal {
        /// The text, unescaped.
        value: Arc<str>,
        /// Where it stands.
        range: SourceRange,
    },
    /// `${ expression }`
    Interpolation {
        /// What stands between the braces.
        expression: Expression,
        /// From `${` to `}`.
        range: SourceRange,
    },
    /// `%{ if condition }...%{ else }...%{ endif }`
    If {
        /// The condition.
        condition: Expression,
        /// Parts up to `else` or `endif`.
        then: Box<[TemplatePart]>,
        /// Parts after `else`; `None` if there is none.
        otherwise: Option<Box<[TemplatePart]>>,
        /// From the opening directive to the end of the closing one.
        range: SourceRange,
    },
    /// `%{ for key, value in collection }...%{ endfor }`
    For {
        /// Name of the key or index, if asked for, with its range.
        key: Option<(Arc<str>, SourceRange)>,
        /// Name of the value, with its range.
        value: (Arc<str>, SourceRange),
        /// What to go through.
        collection: Expression,
        /// What to repeat.
        body: Box<[TemplatePart]>,
        /// From the opening directive to the end of the closing one.
        range: SourceRange,
    },
}

impl TemplatePart {
    /// Where the part stands.
    pub fn range(&self) -> SourceRange {
        match self {
            TemplatePart::Literal { range, .. }
            | TemplatePart::Interpolation { range, .. }
            | TemplatePart::If { range, .. }
            | TemplatePart::For { range, .. } => *range,
        }
    }
}

/// A quoted string literal that reads back as `text`.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' | '%' if rest.peek() == Some(&'{') => {
                out.push(c);
                out.push(c);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
