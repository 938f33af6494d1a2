//! Templates: text with interpolations and directives, in quotes, as a heredoc, or as a whole file.

use crate::expression::Expression;
use crate::on_deep_stack;
use formwork_diagnostics::SourceRange;
use std::fmt::{self, Write as _};
use std::sync::Arc;

/// A template that is more than one literal and not one interpolation alone.
///
/// Escapes, strip markers and the indentation of `<<-` are already applied.
#[derive(Clone, Debug)]
pub struct Template {
    /// How it was written.
    pub flavour: TemplateFlavour,
    /// Its parts in order; adjacent literals are merged.
    pub parts: TemplateParts,
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

/// Parts in order, read as a slice.
#[derive(Clone, Default)]
pub struct TemplateParts(Box<[TemplatePart]>);

impl std::ops::Deref for TemplateParts {
    type Target = [TemplatePart];
    fn deref(&self) -> &[TemplatePart] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a TemplateParts {
    type Item = &'a TemplatePart;
    type IntoIter = std::slice::Iter<'a, TemplatePart>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl From<Vec<TemplatePart>> for TemplateParts {
    fn from(parts: Vec<TemplatePart>) -> Self {
        Self(parts.into())
    }
}

impl fmt::Debug for TemplateParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        on_deep_stack(|| self.0.fmt(f))
    }
}

/// Directives may be nested deeply: they must not be freed by plain recursion.
impl Drop for TemplateParts {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            let parts = std::mem::take(&mut self.0);
            on_deep_stack(|| drop(parts));
        }
    }
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
        then: TemplateParts,
        /// Parts after `else`; `None` if there is none.
        otherwise: Option<TemplateParts>,
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
        body: TemplateParts,
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
            c if !is_printable(c) => {
                let code = u32::from(c);
                let _ = if code > 0xffff {
                    write!(out, "\\U{code:08x}")
                } else {
                    write!(out, "\\u{code:04x}")
                };
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether a character shows as itself: no control, format, private or unassigned character and no
/// blank but the plain space.
fn is_printable(c: char) -> bool {
    // After another character, so that combining marks are not taken for lone ones.
    c.is_ascii_graphic() || c == ' ' || !format!("a{c}").escape_debug().any(|e| e == '\\')
}
