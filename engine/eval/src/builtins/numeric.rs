//! Numbers.

use formwork_values::{Kind, Number, NumberError, Type, Value};

use super::{Answer, Given, powers, unknown};
use crate::convert::Converts;
use crate::functions::CallError;

fn number<'a>(given: &Given<'a>, at: usize) -> &'a Number {
    static ZERO: Number = Number::ZERO;
    given.at(at).as_number().unwrap_or(&ZERO)
}

pub(super) fn abs(given: &Given<'_>) -> Answer {
    Ok(Value::number(number(given, 0).abs()))
}

pub(super) fn ceil(given: &Given<'_>) -> Answer {
    Ok(Value::number(number(given, 0).ceil()))
}

pub(super) fn floor(given: &Given<'_>) -> Answer {
    let n = number(given, 0).floor();
    // a zero has no sign left
    Ok(Value::number(if n.is_zero() { n.abs() } else { n }))
}

pub(super) fn signum(given: &Given<'_>) -> Answer {
    given.whole(0)?;
    Ok(Value::int(number(given, 0).signum()))
}

fn from_float(value: f64, what: &str) -> Answer {
    Number::from_f64(value)
        .map(Value::number)
        .ok_or_else(|| CallError::call(format!("{what} has no result among the real numbers.")))
}

pub(super) fn log(given: &Given<'_>) -> Answer {
    let (num, base) = (float(given, 0)?, float(given, 1)?);
    from_float(
        powers::ln(num) / powers::ln(base),
        "The logarithm of this number in this base",
    )
}

/// An argument as these functions compute with it.
fn float(given: &Given<'_>, at: usize) -> Result<f64, CallError> {
    let n = number(given, at);
    let float = n.to_f64();
    if float.is_infinite() && !n.is_infinite() {
        return Err(CallError::argument(
            at,
            "It is greater than any number that this function computes with (about 1.8e308).",
        ));
    }
    Ok(float)
}

pub(super) fn pow(given: &Given<'_>) -> Answer {
    let (num, power) = (float(given, 0)?, float(given, 1)?);
    from_float(powers::pow(num, power), "This power")
}

pub(super) fn max(given: &Given<'_>) -> Answer {
    extreme(given, std::cmp::Ordering::Greater)
}

pub(super) fn min(given: &Given<'_>) -> Answer {
    extreme(given, std::cmp::Ordering::Less)
}

fn extreme(given: &Given<'_>, wanted: std::cmp::Ordering) -> Answer {
    let mut best: Option<&Number> = None;
    for value in given.arguments {
        if let Some(n) = value.as_number()
            && best.is_none_or(|b| n.cmp(b) == wanted)
        {
            best = Some(n);
        }
    }
    best.map(|n| Value::number(n.clone()))
        .ok_or_else(|| CallError::call("At least one number must be given."))
}

pub(super) fn parseint(given: &Given<'_>) -> Answer {
    let text = given.at(0);
    let ty = text.type_of();
    let may_be_text = ty == Type::String || (ty.is_dynamic() && !text.is_known());
    if !may_be_text {
        return Err(CallError::argument(
            0,
            format!(
                "The digits must be given as a string, not as a {}.",
                ty.friendly_name()
            ),
        ));
    }
    if !text.is_known() || !given.at(1).is_known() {
        return Ok(unknown(Type::Number));
    }
    let base = number(given, 1)
        .to_i64()
        .and_then(|b| u32::try_from(b).ok());
    let Some(base) = base.filter(|b| (2..=62).contains(b)) else {
        return Err(CallError::argument(
            1,
            "The base must be a whole number from 2 to 62.",
        ));
    };
    let digits = given.text(0);
    let parsed = if base <= 36 {
        let plain = digits.strip_prefix(['+', '-']).unwrap_or(digits);
        if plain.starts_with(['+', '-']) {
            None
        } else {
            Number::parse_integer(digits, base)
        }
    } else {
        in_large_base(digits, base)
    };
    parsed.map(Value::number).ok_or_else(|| {
        CallError::argument(0, format!("{digits:?} is no whole number in base {base}."))
    })
}

/// Bases over 36 tell capital letters from small ones: 0-9, a-z, A-Z.
fn in_large_base(digits: &str, base: u32) -> Option<Number> {
    let (negative, unsigned) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits.strip_prefix('+').unwrap_or(digits)),
    };
    if unsigned.is_empty() {
        return None;
    }
    let mut total = Number::ZERO;
    let factor = Number::literal(i64::from(base));
    for c in unsigned.bytes() {
        let digit = match c {
            b'0'..=b'9' => u32::from(c - b'0'),
            b'a'..=b'z' => u32::from(c - b'a') + 10,
            b'A'..=b'Z' => u32::from(c - b'A') + 36,
            _ => return None,
        };
        if digit >= base {
            return None;
        }
        // 85 digits of base 62 fill 512 bits: beyond that the result would be rounded
        total = total
            .mul(&factor)
            .ok()?
            .add(&Number::literal(i64::from(digit)))
            .ok()?;
    }
    Some(if negative { total.negated() } else { total })
}

/// The most elements `range` makes.
const LONGEST_RANGE: usize = 1024;

pub(super) fn range(given: &Given<'_>) -> Answer {
    let zero = Number::from(0i64);
    let (start, end, step) = match given.arguments.len() {
        1 => (zero.clone(), number(given, 0).clone(), None),
        2 => (number(given, 0).clone(), number(given, 1).clone(), None),
        3 => (
            number(given, 0).clone(),
            number(given, 1).clone(),
            Some(number(given, 2).clone()),
        ),
        _ => {
            return Err(CallError::call(
                "It takes the end, or start and end, or start, end and step.",
            ));
        }
    };
    if start == end {
        // whatever the step
        return Ok(Value::list(Type::Number, Vec::new()));
    }
    let down = end < start;
    let step = step.unwrap_or_else(|| Number::from(if down { -1i64 } else { 1 }));
    if step.is_zero() {
        return Err(CallError::call("The step must not be zero."));
    }
    if down != step.is_negative() && start != end {
        return Err(CallError::argument(
            1,
            if down {
                "The end lies below the start, so the step must be negative."
            } else {
                "The end lies above the start, so the step must be positive."
            },
        ));
    }
    let mut values = Vec::new();
    let mut at = start;
    while if down { at > end } else { at < end } {
        if values.len() == LONGEST_RANGE {
            return Err(CallError::call(format!(
                "The range has more than {LONGEST_RANGE} elements. Bring start and end closer \
                 together, or take a greater step."
            )));
        }
        values.push(Value::number(at.clone()));
        at = at.add(&step).map_err(impossible)?;
    }
    Ok(Value::list(Type::Number, values))
}

fn impossible(error: NumberError) -> CallError {
    CallError::call(format!("The numbers cannot be added: {error}."))
}

pub(super) fn sum(given: &Given<'_>) -> Answer {
    let list = given.at(0);
    let ty = list.type_of();
    if !list.is_known() {
        return match ty {
            Type::List(_) | Type::Set(_) | Type::Tuple(_) | Type::Dynamic => {
                Ok(unknown(Type::Number))
            }
            _ => Err(not_summable(&ty)),
        };
    }
    let (Kind::List(items) | Kind::Set(items) | Kind::Tuple(items)) = list.kind() else {
        return Err(not_summable(&ty));
    };
    if items.is_empty() {
        return Err(CallError::argument(
            0,
            "There is nothing to add up: the list is empty.",
        ));
    }
    if !list.is_wholly_known() {
        return Ok(unknown(Type::Number));
    }
    let mut total: Option<Number> = None;
    for item in items {
        let converted = item.convert(&Type::Number).ok();
        let Some(n) = converted.as_ref().and_then(Value::as_number) else {
            return Err(CallError::argument(
                0,
                "All elements must be numbers, and none null.",
            ));
        };
        total = Some(match total {
            None => n.clone(),
            Some(sum) => sum.add(n).map_err(impossible)?,
        });
    }
    Ok(Value::number(total.unwrap_or(Number::ZERO)))
}

fn not_summable(ty: &Type) -> CallError {
    CallError::argument(
        0,
        format!(
            "It must be a list, set or tuple of numbers, not a {}.",
            ty.friendly_name()
        ),
    )
}
