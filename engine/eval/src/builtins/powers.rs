//! Logarithms and powers to the last digit.
//!
//! What the C library gives differs between systems in the last place, and a value that differs is a
//! change of whatever is made from it. So these are computed here, by the steps that other tools of
//! the language take: the logarithm by the reduction and the polynomial of FreeBSD's msun (its
//! coefficients are approximations of 2/3, 2/5, ... by R. A. Remez's method), powers by squaring with
//! the exponent kept apart.

/// ln 2 in two parts, the first with its last bits zero.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

#[allow(clippy::excessive_precision)] // as they are published
const L: [f64; 7] = [
    6.666_666_666_666_735_13e-1,
    3.999_999_999_940_941_908e-1,
    2.857_142_874_366_239_149e-1,
    2.222_219_843_214_978_396e-1,
    1.818_357_216_161_805_012e-1,
    1.531_383_769_920_937_332e-1,
    1.479_819_860_511_658_591e-1,
];

/// A number as a fraction in [0.5, 1) and a power of two; not for zero, infinities and what is no number.
fn apart(x: f64) -> (f64, i32) {
    const FIELD: u64 = 0x7ff << 52;
    // a subnormal number is made a normal one first
    let (x, shift) = if x.abs() < f64::MIN_POSITIVE {
        (x * f64::from_bits((1023 + 52) << 52), -52)
    } else {
        (x, 0)
    };
    let bits = x.to_bits();
    let exponent = i32::try_from((bits & FIELD) >> 52).unwrap_or(0);
    (
        f64::from_bits((bits & !FIELD) | (1022 << 52)),
        exponent - 1022 + shift,
    )
}

/// A number times a power of two.
fn scaled(x: f64, by: i64) -> f64 {
    let mut x = x;
    let mut by = by.clamp(-2_200, 2_200);
    // in steps, of which none but the last may leave the range
    while by > 1_000 {
        x *= f64::from_bits((1023 + 1000) << 52);
        by -= 1_000;
    }
    while by < -1_000 {
        x *= f64::from_bits((1023 - 1000) << 52);
        by += 1_000;
    }
    let exponent = u64::try_from(1023 + by).unwrap_or(1023);
    x * f64::from_bits(exponent << 52)
}

/// The natural logarithm.
pub(super) fn ln(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 || x.is_infinite() {
        return x.ln();
    }
    let (mut fraction, mut exponent) = apart(x);
    if fraction < std::f64::consts::FRAC_1_SQRT_2 {
        fraction *= 2.0;
        exponent -= 1;
    }
    let f = fraction - 1.0;
    let k = f64::from(exponent);
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let odd = s2 * (L[0] + s4 * (L[2] + s4 * (L[4] + s4 * L[6])));
    let even = s4 * (L[1] + s4 * (L[3] + s4 * L[5]));
    let rest = odd + even;
    let half = 0.5 * f * f;
    k * LN2_HIGH - ((half - (s * (half + rest) + k * LN2_LOW)) - f)
}

/// `x` to the power of `y`.
pub(super) fn pow(x: f64, y: f64) -> f64 {
    // what is special is so for everybody
    let special = !x.is_finite() || !y.is_finite() || x == 0.0 || y == 0.0;
    if special || y.abs() >= 9.223_372_036_854_776e18 {
        return x.powf(y);
    }
    if y == 0.5 {
        return x.sqrt();
    }
    if y == -0.5 {
        return 1.0 / x.sqrt();
    }
    let (mut whole, mut part) = (y.abs().trunc(), y.abs().fract());
    if part != 0.0 && x < 0.0 {
        return f64::NAN;
    }
    let (mut result, mut exponent) = (1.0_f64, 0i64);
    if part != 0.0 {
        if part > 0.5 {
            part -= 1.0;
            whole += 1.0;
        }
        result = (part * ln(x)).exp();
    }
    let (mut square, power) = apart(x);
    let mut power = i64::from(power);
    #[allow(clippy::cast_possible_truncation)] // it is a whole number below 2^63
    let mut left = whole as i64;
    while left != 0 {
        if power.abs() > 1 << 12 {
            // far out of range, whatever follows
            exponent = exponent.saturating_add(power);
            break;
        }
        if left & 1 == 1 {
            result *= square;
            exponent += power;
        }
        square *= square;
        power *= 2;
        if square.abs() < 0.5 {
            square += square;
            power -= 1;
        }
        left >>= 1;
    }
    if y < 0.0 {
        result = 1.0 / result;
        exponent = -exponent;
    }
    scaled(result, exponent)
}

#[cfg(test)]
mod tests {
    use super::{apart, ln, pow};

    #[test]
    fn parts_and_edges() {
        for x in [
            1.0,
            0.5,
            3.75,
            1e300,
            1e-300,
            5e-324,
            f64::MIN_POSITIVE,
            8.0,
        ] {
            let (fraction, exponent) = apart(x);
            assert!((0.5..1.0).contains(&fraction), "{x}");
            assert_eq!(super::scaled(fraction, i64::from(exponent)), x);
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(pow(2.0, 10.0), 1024.0);
        assert_eq!(pow(2.0, -1074.0), 5e-324);
        assert_eq!(pow(10.0, 308.0), 1.000_000_000_000_000_6e308);
        assert_eq!(pow(10.0, 400.0), f64::INFINITY);
        assert_eq!(pow(-3.0, 3.0), -27.0);
        assert!(pow(-8.0, 1.0 / 3.0).is_nan());
        assert_eq!(pow(9.0, 0.5), 3.0);
        assert_eq!(pow(0.5, 1e6), 0.0);
    }
}
