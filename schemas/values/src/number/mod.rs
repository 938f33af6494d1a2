//! Exact numbers: binary floating point of any size, each with a precision of its own.
//!
//! Terraform's numbers are Go's `big.Float`: literals and parsed text carry 512 bits, lengths and
//! indices 64, what passed through a 64-bit float 53; an operation yields the greater precision of
//! its operands, rounded half to even. All of that shows: `1/3` prints 155 digits while
//! `length(a)/length(b)` prints 20. So it is modelled here, on arbitrary integers of `dashu-int`
//! (a float type of that family would add its own rules for infinities and signs of zero):
//! a number is `mantissa * 2^exponent` with an odd mantissa, which makes equality structural, and a
//! whole number that fits 64 bits is held as such. Infinities exist (`1/0`), not-a-number does not
//! (an operation that would yield it is an error), and minus zero is kept.

mod arithmetic;
mod convert;
mod text;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use dashu_int::UBig;
use dashu_int::ops::BitTest;

/// A number of the language.
#[derive(Clone)]
pub struct Number(Held);

#[derive(Clone)]
enum Held {
    /// A whole number, exact at its precision.
    Small {
        value: i64,
        precision: u16,
    },
    Big(Arc<Big>),
}

/// What does not fit [`Held::Small`].
struct Big {
    precision: u16,
    negative: bool,
    form: Form,
}

#[derive(PartialEq, Eq, Hash, Clone)]
enum Form {
    /// Minus zero only: plain zero is small.
    Zero,
    Infinite,
    /// The mantissa is odd.
    Finite {
        mantissa: UBig,
        exponent: i64,
    },
}

/// The precision of literals and parsed text.
pub(crate) const LITERAL: u16 = 512;
/// The precision of lengths, indices and other machine integers.
pub(crate) const INTEGER: u16 = 64;
/// The precision of what passed through a 64-bit float.
pub(crate) const DOUBLE: u16 = 53;

/// Why there is no such number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberError {
    /// The text is not a decimal number.
    Syntax,
    /// The exponent is beyond what can be computed with (a hundred thousand decimal digits).
    TooLarge,
    /// The operation has no answer: `0/0`, `inf - inf`, `0 * inf`.
    NotANumber,
}

impl fmt::Display for NumberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NumberError::Syntax => "not a decimal number",
            NumberError::TooLarge => "the exponent is too large",
            NumberError::NotANumber => "the operation has no numeric result",
        })
    }
}

impl std::error::Error for NumberError {}

impl Number {
    /// Zero, as a literal.
    pub const ZERO: Number = Number(Held::Small {
        value: 0,
        precision: LITERAL,
    });
    /// One, as a literal.
    pub const ONE: Number = Number(Held::Small {
        value: 1,
        precision: LITERAL,
    });

    /// Positive infinity.
    pub fn infinity() -> Number {
        Number::infinite(false, LITERAL)
    }

    fn infinite(negative: bool, precision: u16) -> Number {
        Number(Held::Big(Arc::new(Big {
            precision,
            negative,
            form: Form::Infinite,
        })))
    }

    fn zero(negative: bool, precision: u16) -> Number {
        if negative {
            Number(Held::Big(Arc::new(Big {
                precision,
                negative,
                form: Form::Zero,
            })))
        } else {
            Number(Held::Small {
                value: 0,
                precision,
            })
        }
    }

    /// A whole number with the precision of a literal.
    pub fn literal(value: i64) -> Number {
        Number(Held::Small {
            value,
            precision: LITERAL,
        })
    }

    /// `±mantissa * 2^exponent`, rounded half to even to the precision. `sticky` says that a little
    /// less than the last bit was cut off the exact value before.
    fn rounded(
        negative: bool,
        mantissa: UBig,
        exponent: i64,
        sticky: bool,
        precision: u16,
    ) -> Number {
        let mut mantissa = mantissa;
        let mut exponent = exponent;
        let bits = mantissa.bit_len();
        let keep = usize::from(precision);
        if bits > keep {
            let cut = bits - keep;
            let half = mantissa.bit(cut - 1);
            let rest = sticky || (mantissa.trailing_zeros().unwrap_or(0) < cut - 1);
            mantissa >>= cut;
            exponent += i64::try_from(cut).unwrap_or(i64::MAX);
            if half && (rest || mantissa.bit(0)) {
                mantissa += 1u8;
            }
        }
        let Some(zeros) = mantissa.trailing_zeros() else {
            return Number::zero(negative, precision);
        };
        mantissa >>= zeros;
        exponent = exponent.saturating_add(i64::try_from(zeros).unwrap_or(i64::MAX));
        if exponent >= 0 {
            let room = 64usize.saturating_sub(mantissa.bit_len());
            if usize::try_from(exponent).is_ok_and(|e| e <= room) {
                let whole = u64::try_from(&mantissa).map(|m| m << exponent);
                let value = match whole {
                    Ok(w) if negative => 0i64.checked_sub_unsigned(w),
                    Ok(w) => i64::try_from(w).ok(),
                    Err(_) => None,
                };
                if let Some(value) = value {
                    return Number(Held::Small { value, precision });
                }
            }
        }
        let form = Form::Finite { mantissa, exponent };
        Number(Held::Big(Arc::new(Big {
            precision,
            negative,
            form,
        })))
    }

    /// The same number with another precision, rounded to it.
    pub fn with_precision(&self, precision: u16) -> Number {
        match self.parts() {
            Parts::Infinite => Number::infinite(self.is_negative(), precision),
            Parts::Finite(mantissa, exponent) => {
                Number::rounded(self.is_negative(), mantissa, exponent, false, precision)
            }
        }
    }

    /// How many bits of mantissa the number carries.
    pub fn precision(&self) -> u16 {
        match &self.0 {
            Held::Small { precision, .. } => *precision,
            Held::Big(b) => b.precision,
        }
    }

    /// Whether the number is below zero, or minus zero.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Held::Small { value, .. } => *value < 0,
            Held::Big(b) => b.negative,
        }
    }

    /// Whether the number is zero, of either sign.
    pub fn is_zero(&self) -> bool {
        match &self.0 {
            Held::Small { value, .. } => *value == 0,
            Held::Big(b) => b.form == Form::Zero,
        }
    }

    /// Whether the number is infinite.
    pub fn is_infinite(&self) -> bool {
        matches!(&self.0, Held::Big(b) if b.form == Form::Infinite)
    }

    /// Whether the number is whole.
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Held::Small { .. } => true,
            Held::Big(b) => match &b.form {
                Form::Zero => true,
                Form::Infinite => false,
                Form::Finite { exponent, .. } => *exponent >= 0,
            },
        }
    }

    /// Below zero -1, zero 0, above 1.
    pub fn signum(&self) -> i64 {
        match (self.is_zero(), self.is_negative()) {
            (true, _) => 0,
            (_, true) => -1,
            _ => 1,
        }
    }

    fn parts(&self) -> Parts {
        match &self.0 {
            Held::Small { value, .. } => Parts::Finite(UBig::from(value.unsigned_abs()), 0),
            Held::Big(b) => match &b.form {
                Form::Zero => Parts::Finite(UBig::ZERO, 0),
                Form::Infinite => Parts::Infinite,
                Form::Finite { mantissa, exponent } => Parts::Finite(mantissa.clone(), *exponent),
            },
        }
    }
}

/// The size of a number.
enum Parts {
    Infinite,
    Finite(UBig, i64),
}

/// Numbers are equal by value; precision does not count, and minus zero equals zero.
impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        match (&self.0, &other.0) {
            (Held::Small { value: a, .. }, Held::Small { value: b, .. }) => a == b,
            (Held::Big(a), Held::Big(b)) => {
                a.form == b.form && (a.negative == b.negative || a.form == Form::Zero)
            }
            _ => self.is_zero() && other.is_zero(),
        }
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            _ if self.is_zero() => 0i64.hash(state),
            Held::Small { value, .. } => value.hash(state),
            Held::Big(b) => {
                b.negative.hash(state);
                b.form.hash(state);
            }
        }
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        if let (Held::Small { value: a, .. }, Held::Small { value: b, .. }) = (&self.0, &other.0) {
            return a.cmp(b);
        }
        let signs = self.signum().cmp(&other.signum());
        if signs.is_ne() || self.is_zero() {
            return signs;
        }
        let sizes = match (self.parts(), other.parts()) {
            (Parts::Infinite, Parts::Infinite) => Ordering::Equal,
            (Parts::Infinite, _) => Ordering::Greater,
            (_, Parts::Infinite) => Ordering::Less,
            (Parts::Finite(m, e), Parts::Finite(n, f)) => compare_sizes(&m, e, &n, f),
        };
        if self.is_negative() {
            sizes.reverse()
        } else {
            sizes
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares `m * 2^e` with `n * 2^f`, neither zero, without shifting by far.
fn compare_sizes(m: &UBig, e: i64, n: &UBig, f: i64) -> Ordering {
    let top = |m: &UBig, e: i64| e.saturating_add(i64::try_from(m.bit_len()).unwrap_or(i64::MAX));
    top(m, e).cmp(&top(n, f)).then_with(|| {
        // equal top bits: the exponents differ by less than the mantissas are long
        let low = e.min(f);
        let shift = |m: &UBig, e: i64| m.clone() << usize::try_from(e - low).unwrap_or(0);
        shift(m, e).cmp(&shift(n, f))
    })
}

/// The number as the language prints it: see [`Number::to_text`].
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}
