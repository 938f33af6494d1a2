//! Whether a space stands between two words.

use super::{Word, bracket_change};
use crate::scanner::TokenKind as T;

/// Whether a space stands between `left` and a word of kind `right`, `before` being the kind of the
/// word before `left` in the same cell. The first rule that applies decides.
pub(super) fn space_between(before: Option<T>, left: &Word<'_>, right: T) -> bool {
    match (left.kind, right) {
        (_, T::Newline)
        | (T::Identifier, T::OpenParen | T::DoubleColon)
        | (T::DoubleColon, T::Identifier)
        | (T::Dot, _)
        | (_, T::Dot | T::Comma | T::Ellipsis) => false,
        (T::Comma, _) => true,
        // Text is never touched.
        (T::QuotedText | T::Text | T::OpenQuote | T::OpenHeredoc, _)
        | (_, T::QuotedText | T::Text | T::CloseQuote | T::CloseHeredoc) => false,
        // `for x in [1]`, where `in` is no reference to be indexed.
        (T::Identifier, _) if *left.text == *b"in" && before == Some(T::Identifier) => true,
        (T::Identifier | T::Number, T::OpenBracket) => false,
        (kind, T::OpenBracket) if bracket_change(kind) < 0 => false,
        (T::Not, _) => false,
        (T::Minus, _) => !is_sign(before),
        (T::OpenBrace, T::CloseBrace) => false,
        (T::OpenBrace, _) | (_, T::CloseBrace) => true,
        // An object right within an interpolation: `${ {a = 1} }`.
        (T::OpenInterpolation | T::OpenDirective, T::OpenBrace)
        | (T::CloseBrace, T::CloseSequence) => true,
        (T::CloseSequence, T::OpenInterpolation | T::OpenDirective) => false,
        (kind, _) if bracket_change(kind) > 0 => false,
        (_, kind) if bracket_change(kind) < 0 => false,
        _ => true,
    }
}

/// Whether a minus after a word of that kind is a sign, not a subtraction.
fn is_sign(before: Option<T>) -> bool {
    let Some(before) = before else { return true };
    matches!(
        before,
        T::OpenParen
            | T::OpenBrace
            | T::OpenBracket
            | T::Assign
            | T::Colon
            | T::Comma
            | T::Question
            | T::Plus
            | T::Star
            | T::Slash
            | T::Percent
            | T::Minus
            | T::Equal
            | T::NotEqual
            | T::Greater
            | T::GreaterOrEqual
            | T::Less
            | T::LessOrEqual
            | T::And
            | T::Or
            | T::Not
    )
}
