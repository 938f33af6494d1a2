//! Sums, products, quotients, remainders. The answer has the greater precision of the operands and
//! is the exact result rounded once, half to even.

use dashu_int::ops::{BitTest, DivRem};
use dashu_int::{IBig, Sign, UBig};

use super::{Held, Number, NumberError, Parts};

/// Binary exponents beyond this are refused in answers: numbers print without an exponent, so a few
/// products could fill any memory. Somewhat more than the longest literal has.
const MAX_BINARY_EXPONENT: u64 = 400_000;

fn within_reach(exponent: i64) -> Result<i64, NumberError> {
    if exponent.unsigned_abs() > MAX_BINARY_EXPONENT {
        Err(NumberError::TooLarge)
    } else {
        Ok(exponent)
    }
}

impl Number {
    /// The number with the other sign; zero becomes minus zero.
    pub fn negated(&self) -> Number {
        match &self.0 {
            Held::Small { value, precision } if *value != 0 && *value != i64::MIN => {
                Number(Held::Small {
                    value: -value,
                    precision: *precision,
                })
            }
            _ => match self.parts() {
                Parts::Infinite => Number::infinite(!self.is_negative(), self.precision()),
                Parts::Finite(m, e) => {
                    Number::rounded(!self.is_negative(), m, e, false, self.precision())
                }
            },
        }
    }

    /// The number without its sign.
    pub fn abs(&self) -> Number {
        if self.is_negative() {
            self.negated()
        } else {
            self.clone()
        }
    }

    /// The sum.
    ///
    /// # Errors
    /// [`NumberError::NotANumber`] for infinities of different signs.
    pub fn add(&self, other: &Number) -> Result<Number, NumberError> {
        let precision = self.precision().max(other.precision());
        if let (Some(a), Some(b)) = (self.small(), other.small())
            && let Some(sum) = a.checked_add(b)
            && sum.unsigned_abs().bit_len() <= usize::from(precision)
        {
            return Ok(Number(Held::Small {
                value: sum,
                precision,
            }));
        }
        let (x, y) = match (self.parts(), other.parts()) {
            (Parts::Infinite, Parts::Infinite) if self.is_negative() != other.is_negative() => {
                return Err(NumberError::NotANumber);
            }
            (Parts::Infinite, _) => return Ok(Number::infinite(self.is_negative(), precision)),
            (_, Parts::Infinite) => return Ok(Number::infinite(other.is_negative(), precision)),
            (Parts::Finite(m, e), Parts::Finite(n, f)) => ((m, e), (n, f)),
        };
        if x.0 == UBig::ZERO && y.0 == UBig::ZERO {
            return Ok(Number::zero(
                self.is_negative() && other.is_negative(),
                precision,
            ));
        }
        if y.0 == UBig::ZERO {
            return Ok(Number::rounded(
                self.is_negative(),
                x.0,
                x.1,
                false,
                precision,
            ));
        }
        if x.0 == UBig::ZERO {
            return Ok(Number::rounded(
                other.is_negative(),
                y.0,
                y.1,
                false,
                precision,
            ));
        }
        let (x, y) = close_enough(x, y, precision);
        let low = x.1.min(y.1);
        let signed = |(m, e): (UBig, i64), negative: bool| {
            let sign = if negative {
                Sign::Negative
            } else {
                Sign::Positive
            };
            IBig::from_parts(sign, m << usize::try_from(e - low).unwrap_or(0))
        };
        let sum = signed(x, self.is_negative()) + signed(y, other.is_negative());
        let (sign, size) = sum.into_parts();
        Ok(Number::rounded(
            sign == Sign::Negative && size != UBig::ZERO,
            size,
            low,
            false,
            precision,
        ))
    }

    /// The difference.
    ///
    /// # Errors
    /// [`NumberError::NotANumber`] for infinities of the same sign.
    pub fn sub(&self, other: &Number) -> Result<Number, NumberError> {
        self.add(&other.negated())
    }

    /// The product.
    ///
    /// # Errors
    /// [`NumberError::NotANumber`] for zero times infinity, [`NumberError::TooLarge`] where the answer
    /// has more digits than any text may hold.
    pub fn mul(&self, other: &Number) -> Result<Number, NumberError> {
        let precision = self.precision().max(other.precision());
        let negative = self.is_negative() != other.is_negative();
        if let (Some(a), Some(b)) = (self.small(), other.small())
            && let Some(product) = a.checked_mul(b)
            && product.unsigned_abs().bit_len() <= usize::from(precision)
            && (product != 0 || !negative)
        {
            return Ok(Number(Held::Small {
                value: product,
                precision,
            }));
        }
        match (self.parts(), other.parts()) {
            (Parts::Finite(m, e), Parts::Finite(n, f)) => {
                let exponent = within_reach(e.saturating_add(f))?;
                Ok(Number::rounded(negative, m * n, exponent, false, precision))
            }
            _ if self.is_zero() || other.is_zero() => Err(NumberError::NotANumber),
            _ => Ok(Number::infinite(negative, precision)),
        }
    }

    /// The quotient. A number other than zero divided by zero is infinite.
    ///
    /// # Errors
    /// [`NumberError::NotANumber`] for `0/0` and infinity by infinity, [`NumberError::TooLarge`] as for
    /// products.
    pub fn div(&self, other: &Number) -> Result<Number, NumberError> {
        let precision = self.precision().max(other.precision());
        let negative = self.is_negative() != other.is_negative();
        match (self.parts(), other.parts()) {
            (Parts::Infinite, Parts::Infinite) => Err(NumberError::NotANumber),
            (Parts::Infinite, _) => Ok(Number::infinite(negative, precision)),
            (_, Parts::Infinite) => Ok(Number::zero(negative, precision)),
            (Parts::Finite(m, e), Parts::Finite(n, f)) => {
                if n == UBig::ZERO {
                    return if m == UBig::ZERO {
                        Err(NumberError::NotANumber)
                    } else {
                        Ok(Number::infinite(negative, precision))
                    };
                }
                let wanted = usize::from(precision) + 2 + n.bit_len();
                let shift = wanted.saturating_sub(m.bit_len());
                let (quotient, rest) = (m << shift).div_rem(n);
                let exponent =
                    within_reach(e.saturating_sub(f))? - i64::try_from(shift).unwrap_or(i64::MAX);
                Ok(Number::rounded(
                    negative,
                    quotient,
                    exponent,
                    rest != UBig::ZERO,
                    precision,
                ))
            }
        }
    }

    /// What is left after dividing, with the sign of the dividend: `-10.5 % 3` is `-1.5`. Division
    /// by zero leaves the dividend.
    ///
    /// It is `a - trunc(a / b) * b` with the quotient already rounded, as Terraform computes it, so
    /// `1 % 0.1` is 0 although the stored 0.1 is not exactly a tenth.
    ///
    /// # Errors
    /// [`NumberError::NotANumber`] if either is infinite.
    pub fn rem(&self, other: &Number) -> Result<Number, NumberError> {
        if other.is_zero() || other.is_infinite() {
            return if self.is_infinite() {
                Err(NumberError::NotANumber)
            } else {
                Ok(self.clone())
            };
        }
        if self.is_infinite() {
            return Err(NumberError::NotANumber);
        }
        if let (Some(a), Some(b)) = (self.small(), other.small())
            && let Some(rest) = a.checked_rem(b)
        {
            let precision = self.precision().max(other.precision());
            return Ok(Number(Held::Small {
                value: rest,
                precision,
            }));
        }
        let whole = self.div(other)?.truncated();
        self.sub(&whole.mul(other)?)
    }

    /// Cut towards zero.
    pub fn truncated(&self) -> Number {
        match self.parts() {
            Parts::Finite(m, e) if e < 0 => {
                let cut = usize::try_from(e.unsigned_abs()).unwrap_or(usize::MAX);
                let whole = if cut >= m.bit_len() {
                    UBig::ZERO
                } else {
                    m >> cut
                };
                // a whole number needs no more bits than it has, and at least those of an integer
                let precision = whole.bit_len().max(usize::from(super::INTEGER));
                let precision = u16::try_from(precision)
                    .unwrap_or(u16::MAX)
                    .max(self.precision());
                Number::rounded(self.is_negative(), whole, 0, false, precision)
            }
            _ => self.clone(),
        }
    }

    /// The greatest whole number not above.
    pub fn floor(&self) -> Number {
        let whole = self.truncated();
        if self.is_negative() && !self.is_integer() && !self.is_infinite() {
            whole
                .sub(&Number::ONE.with_precision(whole.precision()))
                .unwrap_or(whole)
        } else {
            whole
        }
    }

    /// The smallest whole number not below.
    pub fn ceil(&self) -> Number {
        let whole = self.truncated();
        if !self.is_negative() && !self.is_integer() && !self.is_infinite() {
            whole
                .add(&Number::ONE.with_precision(whole.precision()))
                .unwrap_or(whole)
        } else if whole.is_zero() {
            // what lay above minus one has no sign left
            Number::zero(false, whole.precision())
        } else {
            whole
        }
    }

    fn small(&self) -> Option<i64> {
        match &self.0 {
            Held::Small { value, .. } => Some(*value),
            Held::Big(_) => None,
        }
    }
}

/// Brings two sizes within reach of each other: one that lies far below what the precision can show
/// is replaced by the least thing that still tells on which side of a halfway mark the sum falls.
fn close_enough(x: (UBig, i64), y: (UBig, i64), precision: u16) -> ((UBig, i64), (UBig, i64)) {
    let top = |p: &(UBig, i64)| {
        p.1.saturating_add(i64::try_from(p.0.bit_len()).unwrap_or(i64::MAX))
    };
    let reach = |great: &(UBig, i64)| great.1.min(top(great) - i64::from(precision)) - 4;
    let least = |great: &(UBig, i64)| (UBig::ONE, reach(great));
    if top(&y) < reach(&x) {
        let tiny = least(&x);
        (x, tiny)
    } else if top(&x) < reach(&y) {
        let tiny = least(&y);
        (tiny, y)
    } else {
        (x, y)
    }
}
