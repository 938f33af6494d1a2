//! Between numbers and machine numbers.

use dashu_int::UBig;
use dashu_int::ops::BitTest;

use super::{DOUBLE, Form, Held, INTEGER, Number, Parts};

impl Number {
    /// A number from a 64-bit float, with its 53 bits of precision. `None` for not-a-number.
    pub fn from_f64(value: f64) -> Option<Number> {
        if value.is_nan() {
            return None;
        }
        if value.is_infinite() {
            return Some(Number::infinite(value < 0.0, DOUBLE));
        }
        let bits = value.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        let raised = i64::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
        let (mantissa, exponent) = if raised == 0 {
            (fraction, -1074)
        } else {
            (fraction | (1 << 52), raised - 1075)
        };
        let negative = value.is_sign_negative();
        Some(Number::rounded(
            negative,
            UBig::from(mantissa),
            exponent,
            false,
            DOUBLE,
        ))
    }

    /// The nearest 64-bit float, half to even; infinite when out of range.
    pub fn to_f64(&self) -> f64 {
        let (mantissa, exponent) = match self.parts() {
            Parts::Infinite if self.is_negative() => return f64::NEG_INFINITY,
            Parts::Infinite => return f64::INFINITY,
            Parts::Finite(m, e) => (m, e),
        };
        if mantissa == UBig::ZERO {
            return if self.is_negative() { -0.0 } else { 0.0 };
        }
        let bits = i64::try_from(mantissa.bit_len()).unwrap_or(i64::MAX);
        let top = exponent.saturating_add(bits);
        // value lies in [2^(top-1), 2^top)
        let size = if top > 1024 {
            f64::INFINITY
        } else if top < -1074 {
            0.0
        } else {
            // fewer bits below the normal range; at top = -1074 none, only rounding up to the least
            let keep = (top + 1074).min(53);
            let cut = bits - keep;
            let (whole, exponent) = if cut > 0 {
                let cut = usize::try_from(cut).unwrap_or(usize::MAX);
                let half = mantissa.bit(cut - 1);
                let rest = mantissa.trailing_zeros().unwrap_or(0) < cut - 1;
                let whole = if cut >= mantissa.bit_len() {
                    UBig::ZERO
                } else {
                    mantissa >> cut
                };
                let up = half && (rest || whole.bit(0));
                (
                    if up { whole + 1u8 } else { whole },
                    exponent + i64::try_from(cut).unwrap_or(0),
                )
            } else {
                (mantissa, exponent)
            };
            let whole = u64::try_from(&whole).unwrap_or(u64::MAX);
            scale(whole, exponent)
        };
        if self.is_negative() { -size } else { size }
    }

    /// The number as a 64-bit float if that is exact.
    pub fn to_f64_exact(&self) -> Option<f64> {
        let value = self.to_f64();
        let back = Number::from_f64(value)?;
        (back == *self).then_some(value)
    }

    /// The number as a signed integer, if it is one that fits.
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Held::Small { value, .. } => Some(*value),
            Held::Big(b) => (b.form == Form::Zero).then_some(0),
        }
    }

    /// The number as an unsigned integer, if it is one that fits.
    pub fn to_u64(&self) -> Option<u64> {
        match &self.0 {
            Held::Small { value, .. } => u64::try_from(*value).ok(),
            Held::Big(b) if b.form == Form::Zero => Some(0),
            Held::Big(b) if !b.negative => match &b.form {
                Form::Finite { mantissa, exponent } => {
                    let shift = u32::try_from(*exponent).ok()?;
                    let mantissa = u64::try_from(mantissa).ok()?;
                    (shift <= mantissa.leading_zeros()).then(|| mantissa << shift)
                }
                _ => None,
            },
            Held::Big(_) => None,
        }
    }

    /// The number as a position, if it is one that fits.
    pub fn to_usize(&self) -> Option<usize> {
        self.to_u64().and_then(|n| usize::try_from(n).ok())
    }

    /// The whole number in decimal digits, exact and in full, if the number is whole and has no more
    /// than a million digits.
    pub fn to_integer_text(&self) -> Option<String> {
        match self.parts() {
            Parts::Finite(m, e) if (0..4_000_000).contains(&e) => {
                let sign = if self.is_negative() && m != UBig::ZERO {
                    "-"
                } else {
                    ""
                };
                Some(format!("{sign}{}", m << usize::try_from(e).unwrap_or(0)))
            }
            _ => None,
        }
    }

    /// Reads an integer in a base from 2 to 36, exactly: the precision is what it takes, at least
    /// 512 bits.
    pub fn parse_integer(digits: &str, base: u32) -> Option<Number> {
        let (negative, unsigned) = match digits.as_bytes().first() {
            Some(b'-') => (true, &digits[1..]),
            Some(b'+') => (false, &digits[1..]),
            _ => (false, digits),
        };
        let plain = !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_alphanumeric());
        if !plain || !(2..=36).contains(&base) {
            return None;
        }
        let size = UBig::from_str_radix(unsigned, base).ok()?;
        let precision = u16::try_from(size.bit_len()).ok()?.max(super::LITERAL);
        let negative = negative && size != UBig::ZERO;
        Some(Number::rounded(negative, size, 0, false, precision))
    }
}

/// `whole * 2^exponent`, exact by construction of the caller.
fn scale(whole: u64, exponent: i64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    // built from bits, in the normal or the denormal range
    let length = 64 - i64::from(whole.leading_zeros());
    let top = exponent + length;
    if top > 1024 {
        return f64::INFINITY;
    }
    if top >= -1021 {
        let mantissa = (whole << (64 - length)) >> 11;
        let raised = u64::try_from(top + 1022).unwrap_or(0);
        return f64::from_bits((raised << 52) | (mantissa & ((1 << 52) - 1)));
    }
    let shift = exponent + 1074;
    let bits = if shift >= 0 {
        whole << shift
    } else {
        whole >> -shift
    };
    f64::from_bits(bits)
}

impl From<i64> for Number {
    fn from(value: i64) -> Number {
        Number(Held::Small {
            value,
            precision: INTEGER,
        })
    }
}

impl From<i32> for Number {
    fn from(value: i32) -> Number {
        Number::from(i64::from(value))
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Number {
        match i64::try_from(value) {
            Ok(value) => Number::from(value),
            Err(_) => Number::rounded(false, UBig::from(value), 0, false, INTEGER),
        }
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Number {
        Number::from(value as u64)
    }
}
