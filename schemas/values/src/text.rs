//! Text: normal form, prefixes that are safe to promise, keys as written in the language.

use std::borrow::Cow;
use std::fmt;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};
use unicode_segmentation::GraphemeCursor;

/// The text in Unicode normal form C, which every string value has.
pub fn normalise(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

/// The greatest prefix a string refinement may hold.
const MAX_PREFIX: usize = 256;

/// The part of `text` that stays as it is whatever text follows, at most 256 bytes.
///
/// What follows may combine with the last grapheme cluster, so that one is left out, unless it is a
/// character with which nothing combines (ASCII punctuation, digits and space: `-` of `pre-` stays).
pub fn safe_prefix(text: &str) -> &str {
    let mut end = text.len().min(MAX_PREFIX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let cut = &text[..end];
    match cut.chars().next_back() {
        None => return cut,
        Some(last) if keeps_to_itself(last) => return cut,
        Some(_) => {}
    }
    let mut cursor = GraphemeCursor::new(cut.len(), cut.len(), true);
    match cursor.prev_boundary(cut, 0) {
        Ok(Some(at)) => &cut[..at],
        _ => "",
    }
}

/// Whether no following character can join this one in a composed character. Combining marks do
/// attach to punctuation visually, but compose with letters (and few symbols: `<`, `=`, `>`) only.
fn keeps_to_itself(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_alphabetic() && !matches!(c, '<' | '=' | '>' | '\r')
}

/// Whether a name can stand as an object key or attribute without quotes.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// Writes a key as the language writes it: bare where that is possible, else quoted.
pub(crate) fn write_key(f: &mut impl fmt::Write, name: &str) -> fmt::Result {
    if is_identifier(name) {
        f.write_str(name)
    } else {
        write_quoted(f, name)
    }
}

/// Writes text as a quoted template without interpolation.
pub(crate) fn write_quoted(f: &mut impl fmt::Write, text: &str) -> fmt::Result {
    f.write_char('"')?;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '$' | '%' if rest.peek() == Some(&'{') => {
                f.write_char(c)?;
                f.write_char(c)?;
            }
            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}
