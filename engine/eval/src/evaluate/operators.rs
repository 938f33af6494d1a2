//! Operators. Operands are converted first; null is an error; unknown operands give an unknown
//! result unless what is known of them already decides.

use std::cmp::Ordering;

use crate::convert::Converts;
use formwork_diagnostics::Diagnostic;
use formwork_syntax::{BinaryOperator, Expression, UnaryOperator};
use formwork_values::{Kind, Marks, Number, NumberError, Refinement, Type, Unknown, Value};

use super::{Evaluator, Locals, unknown_bool};

impl Evaluator<'_> {
    pub(super) fn unary(
        &mut self,
        operator: UnaryOperator,
        operand: &Expression,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let start = self.bookmark();
        let value = self.value_of(operand, locals);
        let (ty, result) = match operator {
            UnaryOperator::Negate => (Type::Number, Type::Number),
            UnaryOperator::Not => (Type::Bool, Type::Bool),
        };
        if self.failed_since(start) {
            // what the result would have been is known all the same
            return Value::unknown(result);
        }
        let mut marks = Marks::NONE;
        let Some(value) = self.operand(
            value,
            &ty,
            operand,
            whole,
            operator.symbol(),
            &mut marks,
            locals,
        ) else {
            return Value::unknown(result);
        };
        match value.kind() {
            Kind::Number(n) => Value::number(n.negated()),
            Kind::Bool(b) => Value::bool(!b),
            Kind::Unknown(u) => {
                let flipped = Refinement {
                    not_null: true,
                    lower: u
                        .refinement
                        .upper
                        .as_ref()
                        .map(|(n, own)| (n.negated(), *own)),
                    upper: u
                        .refinement
                        .lower
                        .as_ref()
                        .map(|(n, own)| (n.negated(), *own)),
                    ..Refinement::NONE
                };
                Value::unknown_with(result, flipped)
            }
            _ => Value::unknown(result),
        }
        .with_marks(&marks)
    }

    pub(super) fn binary(
        &mut self,
        left: &Expression,
        operator: BinaryOperator,
        right: &Expression,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        use BinaryOperator as Op;
        match operator {
            Op::And | Op::Or => return self.logical(left, operator, right, whole, locals),
            Op::Equal | Op::NotEqual => {}
            _ => return self.arithmetic(left, operator, right, whole, locals),
        }
        let start = self.bookmark();
        let a = self.value_of(left, locals);
        let b = self.value_of(right, locals);
        if self.failed_since(start) {
            return unknown_bool();
        }
        let equal = a.equals(&b);
        if operator == Op::Equal {
            return equal;
        }
        let (equal, marks) = equal.unmark();
        match equal.as_bool() {
            Some(b) => Value::bool(!b),
            None => equal,
        }
        .with_marks(&marks)
    }

    /// `&&` and `||`. Either side decides alone where it can, and then nothing that went wrong on
    /// the other side counts.
    fn logical(
        &mut self,
        left: &Expression,
        operator: BinaryOperator,
        right: &Expression,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let deciding = operator == BinaryOperator::Or;
        let mut marks = Marks::NONE;
        let start = self.bookmark();
        let a = self.truth(left, whole, operator, &mut marks, locals);
        let middle = self.bookmark();
        if a == Some(Some(deciding)) {
            // references of the other side are still looked at: undeclared names are firm
            let mut unseen = Marks::NONE;
            let _ = self.truth(right, whole, operator, &mut unseen, locals);
            self.forgive(middle, self.bookmark());
            return Value::bool(deciding).with_marks(&marks);
        }
        let b = self.truth(right, whole, operator, &mut marks, locals);
        if b == Some(Some(deciding)) {
            self.forgive(start, middle);
            return Value::bool(deciding).with_marks(&marks);
        }
        if self.failed_since(start) {
            return unknown_bool();
        }
        match (a, b) {
            (Some(Some(_)), Some(Some(_))) => Value::bool(!deciding),
            _ => unknown_bool(),
        }
        .with_marks(&marks)
    }

    /// One side of a logical operator: `None` if it failed, `Some(None)` if it is unknown.
    #[allow(clippy::option_option)] // failed, unknown and known are three things here
    fn truth(
        &mut self,
        side: &Expression,
        whole: &Expression,
        operator: BinaryOperator,
        marks: &mut Marks,
        locals: Locals<'_>,
    ) -> Option<Option<bool>> {
        let start = self.bookmark();
        let value = self.value_of(side, locals);
        if self.failed_since(start) {
            return None;
        }
        let value = self.operand(
            value,
            &Type::Bool,
            side,
            whole,
            operator.symbol(),
            marks,
            locals,
        )?;
        Some(value.as_bool())
    }

    fn arithmetic(
        &mut self,
        left: &Expression,
        operator: BinaryOperator,
        right: &Expression,
        whole: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let start = self.bookmark();
        let a = self.value_of(left, locals);
        let b = self.value_of(right, locals);
        let failed = || Value::unknown(result_type(operator));
        if self.failed_since(start) {
            return failed();
        }
        let symbol = operator.symbol();
        let mut marks = Marks::NONE;
        let a = self.operand(a, &Type::Number, left, whole, symbol, &mut marks, locals);
        let b = self.operand(b, &Type::Number, right, whole, symbol, &mut marks, locals);
        let (Some(a), Some(b)) = (a, b) else {
            return failed();
        };
        let result = match (a.kind(), b.kind()) {
            (Kind::Number(x), Kind::Number(y)) => match compute(operator, x, y) {
                Ok(value) => value,
                Err(error) => {
                    let detail = match (operator, error) {
                        (
                            BinaryOperator::Divide | BinaryOperator::Modulo,
                            NumberError::NotANumber,
                        ) => "Zero divided by zero (or infinity by infinity) has no result."
                            .to_owned(),
                        (_, error) => {
                            format!("The operands of \"{symbol}\" have no result: {error}.")
                        }
                    };
                    let diagnostic = Diagnostic::error("Operation failed", detail);
                    self.tell(diagnostic.at(whole.range()), whole, locals);
                    return failed();
                }
            },
            _ => undecided(operator, &a, &b),
        };
        result.with_marks(&marks)
    }

    /// An operand converted to what the operator works on, without marks; `None` after telling why
    /// that cannot be.
    #[allow(clippy::too_many_arguments)] // what it is, where it is, and where its marks go
    fn operand(
        &mut self,
        value: Value,
        ty: &Type,
        operand: &Expression,
        whole: &Expression,
        symbol: &str,
        marks: &mut Marks,
        locals: Locals<'_>,
    ) -> Option<Value> {
        let (value, own) = value.unmark();
        marks.extend(&own);
        let converted = match value.convert(ty) {
            Ok(converted) => converted,
            Err(_) => {
                let detail = format!(
                    "The operator \"{symbol}\" works on a {}, but this operand is {}.",
                    ty.friendly_name(),
                    super::explain::a_type(&value),
                );
                let diagnostic = Diagnostic::error("Invalid operand", detail).at(operand.range());
                let diagnostic = diagnostic.within(whole.range());
                self.tell(diagnostic, operand, locals);
                return None;
            }
        };
        if converted.is_null() {
            let detail = format!(
                "The operator \"{symbol}\" cannot work on null. Give a default first, as in coalesce(x, y)."
            );
            let diagnostic = Diagnostic::error("Operation failed", detail).at(whole.range());
            self.tell(diagnostic, whole, locals);
            return None;
        }
        Some(converted)
    }
}

fn result_type(operator: BinaryOperator) -> Type {
    use BinaryOperator as Op;
    match operator {
        Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Modulo => Type::Number,
        _ => Type::Bool,
    }
}

fn compute(operator: BinaryOperator, x: &Number, y: &Number) -> Result<Value, NumberError> {
    use BinaryOperator as Op;
    Ok(match operator {
        Op::Add => Value::number(x.add(y)?),
        Op::Subtract => Value::number(x.sub(y)?),
        Op::Multiply => Value::number(x.mul(y)?),
        Op::Divide => Value::number(x.div(y)?),
        Op::Modulo => Value::number(x.rem(y)?),
        Op::Less => Value::bool(x < y),
        Op::LessOrEqual => Value::bool(x <= y),
        Op::Greater => Value::bool(x > y),
        Op::GreaterOrEqual => Value::bool(x >= y),
        Op::Equal | Op::And => Value::bool(x == y),
        Op::NotEqual | Op::Or => Value::bool(x != y),
    })
}

/// The bounds of a number, known or not.
struct Bounds {
    lower: Option<(Number, bool)>,
    upper: Option<(Number, bool)>,
}

fn bounds(value: &Value) -> Bounds {
    match value.kind() {
        Kind::Number(n) => Bounds {
            lower: Some((n.clone(), true)),
            upper: Some((n.clone(), true)),
        },
        Kind::Unknown(Unknown { refinement, .. }) => Bounds {
            lower: refinement.lower.clone(),
            upper: refinement.upper.clone(),
        },
        _ => Bounds {
            lower: None,
            upper: None,
        },
    }
}

/// The result of an operator of which an operand is unknown.
fn undecided(operator: BinaryOperator, a: &Value, b: &Value) -> Value {
    use BinaryOperator as Op;
    let (x, y) = (bounds(a), bounds(b));
    let decided = match operator {
        Op::Less => below(&x, &y),
        Op::GreaterOrEqual => below(&x, &y).map(|b| !b),
        Op::Greater => below(&y, &x),
        Op::LessOrEqual => below(&y, &x).map(|b| !b),
        _ => {
            let both = |p: &Option<(Number, bool)>, q: &Option<(Number, bool)>, op| match (p, q) {
                (Some((p, own)), Some((q, also))) => {
                    let sum: Result<Number, NumberError> = match op {
                        Op::Add => p.add(q),
                        _ => p.sub(q),
                    };
                    sum.ok().map(|n| (n, *own && *also))
                }
                _ => None,
            };
            let (lower, upper) = match operator {
                Op::Add => (
                    both(&x.lower, &y.lower, Op::Add),
                    both(&x.upper, &y.upper, Op::Add),
                ),
                Op::Subtract => (
                    both(&x.lower, &y.upper, Op::Subtract),
                    both(&x.upper, &y.lower, Op::Subtract),
                ),
                _ => (None, None),
            };
            let refinement = Refinement {
                not_null: true,
                lower,
                upper,
                ..Refinement::NONE
            };
            return Value::unknown_with(Type::Number, refinement);
        }
    };
    decided.map_or_else(unknown_bool, Value::bool)
}

/// Whether x < y, where the bounds tell.
fn below(x: &Bounds, y: &Bounds) -> Option<bool> {
    if let (Some((high, own)), Some((low, also))) = (&x.upper, &y.lower) {
        match high.cmp(low) {
            Ordering::Less => return Some(true),
            Ordering::Equal if !(*own && *also) => return Some(true),
            _ => {}
        }
    }
    if let (Some((low, _)), Some((high, _))) = (&x.lower, &y.upper)
        && low >= high
    {
        return Some(false);
    }
    None
}
