//! Small things between numbers and text that the functions share.

use formwork_values::Number;

/// The number as strings and documents show it.
pub(crate) fn text(number: &Number) -> String {
    number.to_text()
}

/// Decimal text as a number, if it is one.
pub(crate) fn parse(text: &str) -> Option<Number> {
    Number::parse(text).ok()
}

/// Infinity with a sign.
pub(crate) fn infinity(negative: bool) -> Option<Number> {
    let infinity = Number::infinity();
    Some(if negative {
        infinity.negated()
    } else {
        infinity
    })
}

/// Digits in a base from 2 to 36, without a sign.
pub(crate) fn integer_in(digits: &str, base: u32) -> Option<Number> {
    if digits.starts_with(['+', '-']) {
        return None;
    }
    Number::parse_integer(digits, base)
}
