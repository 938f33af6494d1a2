//! Decimal text to numbers and back.

use dashu_int::UBig;
use dashu_int::ops::{BitTest, DivRem};

use super::{Held, LITERAL, Number, NumberError, Parts};

/// Exponents beyond this many decimal digits are refused: they only serve to exhaust memory, since
/// numbers print without an exponent.
const MAX_DECIMAL_EXPONENT: i64 = 100_000;

impl Number {
    /// Reads decimal text: an optional sign, digits with at most one point among or around them, an
    /// optional exponent; or `Inf`. The exact value is rounded half to even to 512 bits.
    ///
    /// # Errors
    /// [`NumberError::Syntax`] for anything else (no spaces, no `0x`, no `_`);
    /// [`NumberError::TooLarge`] beyond a hundred thousand digits.
    pub fn parse(text: &str) -> Result<Number, NumberError> {
        Number::parse_with_precision(text, LITERAL)
    }

    /// [`Number::parse`] to another precision.
    pub fn parse_with_precision(text: &str, precision: u16) -> Result<Number, NumberError> {
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        if matches!(unsigned, "Inf" | "inf") {
            return Ok(Number::infinite(negative, precision));
        }
        let (digits, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], parse_exponent(&unsigned[at + 1..])?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction)
        {
            return Err(NumberError::Syntax);
        }
        if fraction.is_empty()
            && exponent == 0
            && whole.len() <= 18
            && let Ok(value) = whole.parse::<i64>()
            && value.unsigned_abs().bit_len() <= usize::from(precision)
            && !(negative && value == 0)
        {
            let value = if negative { -value } else { value };
            return Ok(Number(Held::Small { value, precision }));
        }
        let fraction = fraction.trim_end_matches('0');
        let mut joined = String::with_capacity(whole.len() + fraction.len());
        joined.push_str(whole.trim_start_matches('0'));
        joined.push_str(fraction);
        let joined = joined.trim_start_matches('0');
        if joined.is_empty() {
            return Ok(Number::zero(negative, precision));
        }
        let digits = UBig::from_str_radix(joined, 10).map_err(|_| NumberError::Syntax)?;
        let exponent = exponent - i64::try_from(fraction.len()).unwrap_or(i64::MAX);
        if exponent.abs() > MAX_DECIMAL_EXPONENT {
            return Err(NumberError::TooLarge);
        }
        let power = usize::try_from(exponent.unsigned_abs()).map_err(|_| NumberError::TooLarge)?;
        if exponent >= 0 {
            // 10^n = 5^n * 2^n
            let mantissa = digits * UBig::from(5u8).pow(power);
            return Ok(Number::rounded(
                negative, mantissa, exponent, false, precision,
            ));
        }
        // digits / 5^n / 2^n: enough bits of the quotient, and whether something was left
        let divisor = UBig::from(5u8).pow(power);
        let wanted = usize::from(precision) + 2 + divisor.bit_len();
        let shift = wanted.saturating_sub(digits.bit_len());
        let (quotient, rest) = (digits << shift).div_rem(divisor);
        let lower = i64::try_from(shift).unwrap_or(i64::MAX);
        Ok(Number::rounded(
            negative,
            quotient,
            exponent - lower,
            rest != UBig::ZERO,
            precision,
        ))
    }

    /// The shortest decimal text that reads back as this number at its own precision; never with an
    /// exponent, whole numbers without a point. Infinity is `+Inf` or `-Inf`, minus zero `-0`.
    pub fn to_text(&self) -> String {
        if let Held::Small { value, precision } = &self.0
            && value.unsigned_abs().bit_len() <= usize::from(*precision)
            && (*precision >= 63 || value.unsigned_abs().bit_len() < usize::from(*precision))
        {
            return value.to_string();
        }
        let sign = if self.is_negative() { "-" } else { "" };
        match self.parts() {
            Parts::Infinite => if self.is_negative() { "-Inf" } else { "+Inf" }.to_owned(),
            Parts::Finite(mantissa, _) if mantissa == UBig::ZERO => format!("{sign}0"),
            Parts::Finite(mantissa, exponent) => {
                let (digits, point) = shortest(&mantissa, exponent, self.precision());
                format!("{sign}{}", plain(&digits, point))
            }
        }
    }

    /// At most ten significant digits, with an exponent where Go's `%.10g` has one; whole numbers in
    /// full. Only good for ordering sets as Terraform does.
    pub(crate) fn short_form(&self) -> String {
        if self.is_integer() || self.is_infinite() {
            return self.to_text();
        }
        let Parts::Finite(mantissa, exponent) = self.parts() else {
            return self.to_text();
        };
        let [(digits, point)] = leading([&mantissa], exponent);
        let (digits, point) = round_digits(&digits, point, 10);
        let sign = if self.is_negative() { "-" } else { "" };
        let scientific = point - 1;
        if !(-4..10).contains(&scientific) {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            let mark = if scientific < 0 { '-' } else { '+' };
            return format!("{sign}{first}{dot}{rest}e{mark}{:02}", scientific.abs());
        }
        format!("{sign}{}", plain(&digits, point))
    }
}

fn parse_exponent(text: &str) -> Result<i64, NumberError> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(NumberError::Syntax);
    }
    let digits = digits.trim_start_matches('0');
    if digits.len() > 7 {
        return Err(NumberError::TooLarge);
    }
    let size: i64 = if digits.is_empty() {
        0
    } else {
        digits.parse().map_err(|_| NumberError::Syntax)?
    };
    Ok(if negative { -size } else { size })
}

/// How many leading digits settle every question asked of a number's digits: more than its bits can
/// tell apart (about 155 for 512 bits).
const TELLING: i64 = 240;

/// Decimal digits of each `mantissa * 2^exponent` and where the point stands among them: value =
/// `0.DIGITS * 10^point`. No trailing zeros. All digits, or of a very long number the leading ones
/// with a `1` after them, which says that more follow: such a number never ends within them, since
/// a power of two or five that long has few factors of the other.
fn leading<const N: usize>(mantissas: [&UBig; N], exponent: i64) -> [(String, i64); N] {
    let power = usize::try_from(exponent.unsigned_abs()).unwrap_or(usize::MAX);
    let bits = mantissas.iter().map(|m| m.bit_len()).max().unwrap_or(0);
    // digits of the integer whose digits are wanted, by a rational a little below log10
    let length = |bits: i64, fives: i64| (bits * 30_102 + fives * 69_897) / 100_000;
    let bits = i64::try_from(bits).unwrap_or(i64::MAX / 100_000);
    let (all, scale) = if exponent >= 0 {
        (length(bits.saturating_add(exponent), 0), 0)
    } else {
        (length(bits, -exponent), -exponent)
    };
    let dropped = if all > 10 * TELLING { all - TELLING } else { 0 };
    let cut = usize::try_from(dropped).unwrap_or(0);
    let five = |power: usize| UBig::from(5u8).pow(power);
    let factor = if exponent >= 0 {
        five(cut)
    } else {
        // m / 2^n = m * 5^n / 10^n
        five(power - cut)
    };
    mantissas.map(|mantissa| {
        let integer = match (exponent >= 0, cut) {
            (true, 0) => mantissa.clone() << power,
            // m * 2^n / 10^c = m * 2^(n - c) / 5^c
            (true, _) => (mantissa.clone() << (power - cut)) / &factor,
            (false, _) => (mantissa * &factor) >> cut,
        };
        let mut digits = integer.to_string();
        let point = i64::try_from(digits.len()).unwrap_or(i64::MAX) - scale + dropped;
        if cut > 0 {
            digits.push('1');
        } else {
            digits.truncate(digits.trim_end_matches('0').len());
        }
        (digits, point)
    })
}

/// The shortest digits between the halfway marks to both neighbours at the given precision.
///
/// Digit by digit of the exact value: as soon as cutting off here (down) or one more (up) stays
/// within the marks, that is the answer; if both do, the nearer. The marks themselves count when
/// the mantissa is even, since reading rounds half to even.
fn shortest(mantissa: &UBig, exponent: i64, precision: u16) -> (String, i64) {
    // the mantissa with exactly `precision` bits, and one more for the halves
    let widen = (usize::from(precision) + 1).saturating_sub(mantissa.bit_len());
    let wide = mantissa.clone() << widen;
    let exponent = exponent - i64::try_from(widen).unwrap_or(i64::MAX);
    let inclusive = !wide.bit(1);
    let [(value, point), (low, low_point), (high, high_point)] =
        leading([&wide, &(&wide - 1u8), &(&wide + 1u8)], exponent);
    // all three on the point of the greatest
    let top = point.max(low_point).max(high_point);
    let aligned = |digits: String, point: i64| {
        let zeros = usize::try_from(top - point).unwrap_or(0);
        let mut all = vec![b'0'; zeros];
        all.extend(digits.bytes());
        all
    };
    let value = aligned(value, point);
    let low = aligned(low, low_point);
    let high = aligned(high, high_point);
    for (i, &digit) in value.iter().enumerate() {
        let below = low.get(i).copied().unwrap_or(b'0');
        let above = high.get(i).copied().unwrap_or(b'0');
        // cutting here leaves something above the lower mark
        let down = below != digit || (inclusive && i + 1 == low.len());
        // adding one here stays below the upper mark
        let up = digit != above && (inclusive || digit + 1 < above || i + 1 < high.len());
        let cut = &value[..=i];
        let answer = match (down, up) {
            (true, true) => return finish(nearest(&value, i + 1), top),
            (true, false) => (cut.to_vec(), false),
            (false, true) => increment(cut),
            (false, false) => continue,
        };
        return finish(answer, top);
    }
    finish((value, false), top)
}

/// Cuts to `count` digits, rounding half to even.
fn nearest(value: &[u8], count: usize) -> (Vec<u8>, bool) {
    let cut = &value[..count.min(value.len())];
    let Some(&next) = value.get(count) else {
        return (cut.to_vec(), false);
    };
    let half = next == b'5' && value.len() == count + 1;
    let up = if half {
        cut.last().is_some_and(|d| (d - b'0') % 2 == 1)
    } else {
        next >= b'5'
    };
    if up {
        increment(cut)
    } else {
        (cut.to_vec(), false)
    }
}

/// One more in the last digit; says whether a digit was added in front.
fn increment(digits: &[u8]) -> (Vec<u8>, bool) {
    let mut out = digits.to_vec();
    for digit in out.iter_mut().rev() {
        if *digit == b'9' {
            *digit = b'0';
        } else {
            *digit += 1;
            return (out, false);
        }
    }
    out.insert(0, b'1');
    (out, true)
}

fn finish((digits, longer): (Vec<u8>, bool), point: i64) -> (String, i64) {
    let mut point = if longer { point + 1 } else { point };
    let text: String = digits.iter().map(|d| char::from(*d)).collect();
    let text = text.trim_end_matches('0');
    let leading = text.len() - text.trim_start_matches('0').len();
    point -= i64::try_from(leading).unwrap_or(0);
    (text[leading..].to_owned(), point)
}

/// Cuts to at most `count` digits, rounding half to even.
fn round_digits(digits: &str, point: i64, count: usize) -> (String, i64) {
    if digits.len() <= count {
        return (digits.to_owned(), point);
    }
    finish(nearest(digits.as_bytes(), count), point)
}

/// `0.DIGITS * 10^point` without an exponent.
fn plain(digits: &str, point: i64) -> String {
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    if point <= 0 {
        let zeros = usize::try_from(-point).unwrap_or(0);
        format!("0.{}{digits}", "0".repeat(zeros))
    } else if point >= length {
        let zeros = usize::try_from(point - length).unwrap_or(0);
        format!("{digits}{}", "0".repeat(zeros))
    } else {
        let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0));
        format!("{whole}.{fraction}")
    }
}
