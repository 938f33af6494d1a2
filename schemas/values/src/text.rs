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
/// character with which nothing combines (space and most of ASCII's punctuation: `-` of `pre-`
/// stays). Which do was found by asking Terraform for each.
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

/// Whether no following character can join this one: combining marks compose with letters and with
/// `<`, `=`, `>`, and turn digits into keycaps.
fn keeps_to_itself(c: char) -> bool {
    matches!(c, ' ' | '\t') || (c.is_ascii_punctuation() && !matches!(c, '<' | '=' | '>' | '`'))
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

/// Writes text in double quotes as Go's `%q` does: what is not printable as an escape.
pub(crate) fn write_go_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{07}' => out.push_str("\\a"),
            '\u{08}' => out.push_str("\\b"),
            '\u{0c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{0b}' => out.push_str("\\v"),
            c if is_printable(c) => out.push(c),
            c => {
                let code = u32::from(c);
                let escape = match code {
                    0..0x20 | 0x7f => format!("\\x{code:02x}"),
                    0..=0xffff => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                };
                out.push_str(&escape);
            }
        }
    }
    out.push('"');
}

/// Whether a character is drawn: no control, no format character, no private use, no space but the
/// plain one.
fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    let format = matches!(u32::from(c),
        0xad | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x890..=0x891 | 0x8e2 | 0x180e
        | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfeff | 0xfff9..=0xfffb
        | 0x110bd | 0x110cd | 0x13430..=0x1343f | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a
        | 0xe0001..=0xe007f);
    let private = matches!(u32::from(c), 0xe000..=0xf8ff | 0xf0000..=0x10ffff);
    let no_character = u32::from(c) & 0xfffe == 0xfffe || matches!(u32::from(c), 0xfdd0..=0xfdef);
    !(c.is_control() || c.is_whitespace() || format || private || no_character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes() {
        for (text, want) in [
            ("pre-", "pre-"),
            ("https://", "https://"),
            ("ab1", "ab"),
            ("a", ""),
            ("caf\u{e9}", "caf"),
            ("a\r", "a"),
            ("a\t", "a\t"),
            ("x=", "x"),
            ("", ""),
        ] {
            assert_eq!(safe_prefix(text), want, "{text:?}");
        }
        assert_eq!(safe_prefix(&"-".repeat(300)).len(), 256);
    }

    #[test]
    fn quoted() {
        let mut out = String::new();
        write_go_quoted(
            &mut out,
            "a\u{7}\"\\\u{200b}\u{a0}\u{e000}\u{1}\u{85}é😀${x}",
        );
        assert_eq!(out, r#""a\a\"\\\u200b\u00a0\ue000\x01\u0085é😀${x}""#);
    }
}
