//! Escapes, numbers and labels.

use super::Parser;
use crate::scanner::{Token, TokenKind as T};
use formwork_diagnostics::Diagnostic;
use std::sync::Arc;

impl Parser<'_> {
    /// Appends the text that a literal piece of a template stands for.
    pub(super) fn unescape(&mut self, token: Token, out: &mut String) {
        let bytes = self.bytes(token);
        let text = String::from_utf8_lossy(bytes);
        // The scanner makes `$${` and `%%{` pieces of their own.
        if let b"$${" | b"%%{" = bytes {
            out.push_str(&text[1..]);
            return;
        }
        if token.kind != T::QuotedText {
            out.push_str(&text);
            return;
        }
        let mut rest = &*text;
        while let Some(at) = rest.find('\\') {
            out.push_str(&rest[..at]);
            let start = token.start + offset(text.len() - rest.len() + at);
            rest = self.escape(&rest[at + 1..], start, out);
        }
        out.push_str(rest);
    }

    /// Appends what the escape stands for whose backslash stands at `start`; gives what follows it.
    fn escape<'t>(&mut self, after: &'t str, start: u32, out: &mut String) -> &'t str {
        let Some(selector) = after.chars().next() else {
            self.bad_escape(
                start,
                1,
                "A backslash needs a character after it. For a backslash \
                                       itself, write two.",
            );
            return after;
        };
        let rest = &after[selector.len_utf8()..];
        let plain = match selector {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '"' => '"',
            '\\' => '\\',
            'u' => return self.unicode_escape(rest, start, 4, out),
            'U' => return self.unicode_escape(rest, start, 8, out),
            other => {
                let length = 1 + offset(other.len_utf8());
                self.bad_escape(
                    start,
                    length,
                    &format!(
                        "\\{other} is no escape. Known are \\n, \\r, \\t, \\\", \\\\, \\uNNNN and \
                         \\UNNNNNNNN; for a backslash itself, write two."
                    ),
                );
                return rest;
            }
        };
        out.push(plain);
        rest
    }

    fn unicode_escape<'t>(
        &mut self,
        rest: &'t str,
        start: u32,
        digits: usize,
        out: &mut String,
    ) -> &'t str {
        let found = rest
            .bytes()
            .take(digits)
            .take_while(u8::is_ascii_hexdigit)
            .count();
        let (number, after) = rest.split_at(found);
        let length = 2 + offset(found);
        if found < digits {
            let detail = format!("This escape needs {digits} hexadecimal digits.");
            self.bad_escape(start, length, &detail);
            return after;
        }
        match u32::from_str_radix(number, 16)
            .ok()
            .and_then(char::from_u32)
        {
            Some(c) => out.push(c),
            None => {
                let detail = format!("There is no character U+{}.", number.to_uppercase());
                self.bad_escape(start, length, &detail);
            }
        }
        after
    }

    fn bad_escape(&mut self, start: u32, length: u32, detail: &str) {
        let range = self.range(start, start + length);
        self.report(Diagnostic::error("Invalid escape sequence", detail).at(range));
    }

    /// A block label in quotes; the quote is next.
    pub(super) fn label(&mut self) -> Arc<str> {
        let open = self.read();
        if let Some(value) = self.plain_quoted() {
            return value;
        }
        let mut value = String::new();
        loop {
            let token = self.read();
            match token.kind {
                T::CloseQuote => break,
                T::QuotedText => self.unescape(token, &mut value),
                T::OpenInterpolation | T::OpenDirective => {
                    self.unexpected(
                        "Invalid string literal",
                        "Block labels are fixed text: interpolations and directives are not allowed. \
                         For a literal ${ or %{, double its first character.",
                        token,
                    );
                    self.skip_to(T::CloseSequence);
                }
                T::QuotedNewline => {
                    let range = self.token_range(token);
                    self.report(multi_line_string().at(range));
                    self.recovery = true;
                    break;
                }
                T::BadEncoding => {}
                _ => {
                    self.report(
                        Diagnostic::error(
                            "Unterminated string literal",
                            "The label that begins here has no closing quote before the end of the \
                             file.",
                        )
                        .at(self.token_range(open)),
                    );
                    self.recovery = true;
                    break;
                }
            }
        }
        value.into()
    }
}

#[allow(clippy::cast_possible_truncation)] // within a text shorter than 4 GiB
fn offset(length: usize) -> u32 {
    length as u32
}

pub(super) fn multi_line_string() -> Diagnostic {
    Diagnostic::error(
        "Invalid multi-line string",
        "A string in quotes ends on the line on which it begins, but the line ends here. Add the \
         closing quote; for text of several lines write \\n, or a heredoc such as <<EOT.",
    )
}

pub(super) fn unterminated_string() -> Diagnostic {
    Diagnostic::error(
        "Unterminated template string",
        "The string that begins here has no end before the end of the file.",
    )
}

/// Whether `text`, a number token, is a number: digits, a fraction, an exponent of sane size.
pub(super) fn is_number(text: &[u8]) -> bool {
    let (mantissa, exponent) = match text.iter().position(|b| matches!(b, b'e' | b'E')) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let dots = mantissa.iter().filter(|b| **b == b'.').count();
    let exponent_fits = exponent.is_none_or(|digits| {
        let digits = match digits {
            [b'+' | b'-', rest @ ..] => rest,
            all => all,
        };
        // A second exponent is no digit either. Beyond nine digits no number can be held.
        let significant = digits.iter().skip_while(|b| **b == b'0').count();
        digits.iter().all(u8::is_ascii_digit) && significant <= 9
    });
    dots <= 1 && exponent_fits
}
