//! The layout of `terraform fmt`, byte for byte.
//!
//! Formatting works on the tokens of sound text, in steps: [`rewrite`] modernises a few old forms
//! (which needs the tree), the tokens are cut into lines, and each line gets its indentation, the
//! spaces between its tokens, and its place in the columns of equals signs and comments around it.
//! No token is dropped but what `rewrite` replaces, and line breaks stay where they are.
//!
//! Facts of the layout (checked against Terraform 1.11):
//! - Indentation follows the net count of brackets opened per line, whatever their kind; a line that
//!   opens three and a line that opens one both indent by two spaces. Brackets after the start of a
//!   heredoc on the same line do not count.
//! - The equals signs of successive lines stand in one column, where the line is a name, an equals
//!   sign, and a value that leaves no bracket open; likewise the trailing comments of successive
//!   lines. Columns count grapheme clusters.
//! - One pass is not always a fixed point, in theirs as in ours.
//!
//! One known difference: Terraform loses a block label that holds a `$` or `%`; here it stays.

mod lines;
mod rewrite;
mod spacing;

use crate::parser::parse_keeping_tokens;
use crate::scanner::TokenKind;
use formwork_diagnostics::{Checked, FileId};
use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;

/// A token to be laid out.
#[derive(Clone)]
struct Word<'a> {
    kind: TokenKind,
    text: Cow<'a, [u8]>,
    /// How many spaces stand before it.
    spaces: usize,
}

impl<'a> Word<'a> {
    fn new(kind: TokenKind, text: impl Into<Cow<'a, [u8]>>) -> Self {
        Self {
            kind,
            text: text.into(),
            spaces: 0,
        }
    }

    /// Whether a line ends with it.
    fn ends_line(&self) -> bool {
        matches!(self.kind, TokenKind::Newline | TokenKind::LineComment)
    }

    /// Its width in columns, the spaces before it included.
    fn width(&self) -> usize {
        // In ASCII each byte is a column, but for the pair that ends a line.
        let text = if self.text.iter().all(|b| b.is_ascii() && *b != b'\r') {
            self.text.len()
        } else {
            String::from_utf8_lossy(&self.text).graphemes(true).count()
        };
        self.spaces + text
    }
}

/// How many brackets a token opens, or closes if negative.
fn bracket_change(kind: TokenKind) -> isize {
    use TokenKind as T;
    match kind {
        T::OpenBrace | T::OpenBracket | T::OpenParen | T::OpenInterpolation | T::OpenDirective => 1,
        T::CloseBrace | T::CloseBracket | T::CloseParen | T::CloseSequence => -1,
        _ => 0,
    }
}

/// Lays out native text. If it has syntax errors it comes back as it was, with the errors.
pub fn format(file: FileId, text: &[u8]) -> Checked<Vec<u8>> {
    let (body, tokens, diagnostics) = parse_keeping_tokens(file, text);
    if diagnostics.has_errors() {
        return (text.to_vec(), diagnostics);
    }
    let mut words = rewrite::words(text, &tokens, &body);
    lines::lay_out(&mut words);
    let mut out = Vec::with_capacity(text.len() + text.len() / 8);
    for word in &words {
        out.resize(out.len() + word.spaces, b' ');
        out.extend_from_slice(&word.text);
    }
    // Blanks on a last line without line break are no token's, and stay.
    let end = tokens.len().checked_sub(2).map_or(0, |i| tokens[i].end);
    out.resize(out.len() + (text.len() - end as usize), b' ');
    (out, diagnostics)
}

#[cfg(test)]
mod tests;
