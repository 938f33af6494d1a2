//! `format` and `formatlist`: verbs `%v %t %b %d %o %x %X %e %E %f %g %G %s %q %%`, with flags, a
//! width, a precision and `%[n]` for the argument to take.

use formwork_values::{Kind, Number, Refinement, Type, Value};
use unicode_segmentation::UnicodeSegmentation;

use super::collections::is_open_set;
use super::{Answer, Given, room_for_text, unknown};
use crate::convert::Converts;
use crate::functions::CallError;

/// Widths and precisions beyond this are mistakes.
const WIDEST: usize = 4_096;

/// A piece of a format.
enum Piece {
    Text(String),
    Verb(Verb),
}

struct Verb {
    /// As written, for messages.
    written: String,
    /// Byte offset in the format.
    at: usize,
    plus: bool,
    space: bool,
    minus: bool,
    alternate: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
    /// Position of the argument.
    argument: usize,
    letter: char,
}

type Rest<'a> = std::iter::Peekable<std::str::CharIndices<'a>>;

/// Digits as a number, as far as it is of use; `None` if there are none.
fn digits(rest: &mut Rest<'_>) -> Option<usize> {
    let mut number: Option<usize> = None;
    while let Some((_, d)) = rest.next_if(|(_, c)| c.is_ascii_digit()) {
        let digit = d.to_digit(10).map_or(0, |d| d as usize);
        number = Some((number.unwrap_or(0) * 10 + digit).min(WIDEST + 1));
    }
    number
}

/// Reads a format; also answers how many arguments it uses.
fn parse(format: &str) -> Result<(Vec<Piece>, usize), String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut next = 0;
    let mut used = 0;
    let mut rest = format.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        let mut verb = Verb {
            written: String::new(),
            at,
            plus: false,
            space: false,
            minus: false,
            alternate: false,
            zero: false,
            width: None,
            precision: None,
            argument: next,
            letter: ' ',
        };
        while let Some((_, flag)) = rest.next_if(|(_, c)| "+ -#0".contains(*c)) {
            match flag {
                '+' => verb.plus = true,
                ' ' => verb.space = true,
                '-' => verb.minus = true,
                '#' => verb.alternate = true,
                _ => verb.zero = true,
            }
        }
        verb.width = digits(&mut rest);
        if rest.next_if(|(_, c)| *c == '.').is_some() {
            verb.precision = Some(digits(&mut rest).unwrap_or(0));
        }
        if verb.width.is_some_and(|w| w > WIDEST) || verb.precision.is_some_and(|p| p > WIDEST) {
            return Err(format!(
                "The width or precision of the verb at offset {at} is over {WIDEST}."
            ));
        }
        if rest.next_if(|(_, c)| *c == '[').is_some() {
            let mut number = 0usize;
            while let Some((_, d)) = rest.next_if(|(_, c)| c.is_ascii_digit()) {
                let digit = d.to_digit(10).map_or(0, |d| d as usize);
                number = number.saturating_mul(10).saturating_add(digit);
            }
            if rest.next_if(|(_, c)| *c == ']').is_none() || number == 0 {
                return Err(format!(
                    "The verb at offset {at} does not say which argument to take: write %[1]s for the first."
                ));
            }
            verb.argument = number - 1;
        }
        let Some((end, letter)) = rest.next() else {
            return Err(format!(
                "The verb that begins at offset {at} is not finished. A percent sign is written %%."
            ));
        };
        verb.letter = letter;
        verb.written = format[at..end + letter.len_utf8()].to_owned();
        match letter {
            '%' if verb.written == "%%" => {
                text.push('%');
                continue;
            }
            'v' | 't' | 'b' | 'd' | 'o' | 'x' | 'X' | 'e' | 'E' | 'f' | 'g' | 'G' | 's' | 'q' => {}
            other => {
                return Err(format!(
                    "There is no verb {other:?} (in {:?} at offset {at}). A percent sign is written %%.",
                    verb.written
                ));
            }
        }
        next = verb.argument + 1;
        used = used.max(next);
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        pieces.push(Piece::Verb(verb));
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok((pieces, used))
}

pub(super) fn format(given: &Given<'_>) -> Answer {
    let arguments = given.arguments.get(1..).unwrap_or(&[]);
    if arguments
        .iter()
        .any(|v| !v.is_known() && v.type_of().is_dynamic())
    {
        return Ok(Value::dynamic());
    }
    let Some(format) = given.at(0).as_str() else {
        return Ok(unknown(Type::String));
    };
    let (pieces, used) = parse(format).map_err(CallError::call)?;
    too_many(used, arguments.len())?;
    one(&pieces, arguments).map_err(CallError::call)
}

fn too_many(used: usize, given: usize) -> Result<(), CallError> {
    if given > used {
        return Err(CallError::argument(
            used + 1,
            format!(
                "The format uses {used} argument{} only.",
                if used == 1 { "" } else { "s" }
            ),
        ));
    }
    Ok(())
}

/// One text.
fn one(pieces: &[Piece], arguments: &[Value]) -> Result<Value, String> {
    let mut out = String::new();
    let mut open = false;
    for piece in pieces {
        match piece {
            Piece::Text(text) if !open => out.push_str(text),
            Piece::Text(_) => {}
            Piece::Verb(verb) => {
                let Some(argument) = arguments.get(verb.argument) else {
                    return Err(format!(
                        "The verb {:?} at offset {} takes argument {}, but there {} {}.",
                        verb.written,
                        verb.at,
                        verb.argument + 1,
                        if arguments.len() == 1 {
                            "is only"
                        } else {
                            "are only"
                        },
                        arguments.len()
                    ));
                };
                if !argument.is_wholly_known() {
                    open = true;
                    continue;
                }
                let text = verb.render(argument)?;
                if !open {
                    out.push_str(&text);
                    room_for_text(out.len()).map_err(|e| e.detail)?;
                }
            }
        }
    }
    Ok(if open {
        Value::unknown_with(Type::String, Refinement::string_prefix(&out))
    } else {
        Value::string(out)
    })
}

pub(super) fn formatlist(given: &Given<'_>) -> Answer {
    let arguments = given.arguments.get(1..).unwrap_or(&[]);
    let Some(format) = given.at(0).as_str() else {
        return Ok(unknown(Type::list(Type::String)));
    };
    let mut rows: Option<(usize, usize)> = None;
    let mut open = false;
    for (at, argument) in arguments.iter().enumerate() {
        let repeats = !matches!(
            argument.type_of(),
            Type::List(_) | Type::Set(_) | Type::Tuple(_) | Type::Dynamic
        );
        if repeats || argument.is_null() {
            continue;
        }
        let Some(items) = argument.as_sequence().filter(|_| !is_open_set(argument)) else {
            open = true;
            continue;
        };
        match rows {
            None => rows = Some((items.len(), at)),
            Some((length, first)) if length != items.len() => {
                return Err(CallError::argument(
                    at + 1,
                    format!(
                        "It has {} elements, but argument {} has {length}; lists must be of one length.",
                        items.len(),
                        first + 2
                    ),
                ));
            }
            Some(_) => {}
        }
    }
    if matches!(rows, Some((0, _))) && !open {
        // nothing is formatted, and nobody looks whether it could be
        return Ok(Value::list(Type::String, Vec::new()));
    }
    let (pieces, used) = parse(format).map_err(CallError::call)?;
    too_many(used, arguments.len()).map_err(|e| CallError::call(e.detail))?;
    if open {
        return Ok(unknown(Type::list(Type::String)));
    }
    let mut results = Vec::new();
    for row in 0..rows.map_or(1, |r| r.0) {
        let here: Vec<Value> = arguments
            .iter()
            .map(|a| match a.as_sequence() {
                Some(items) => items.get(row).cloned().unwrap_or(Value::NULL),
                None => a.clone(),
            })
            .collect();
        let text = one(&pieces, &here).map_err(|problem| {
            CallError::call(match rows {
                Some(_) => format!("For element {row}: {problem}"),
                None => problem,
            })
        })?;
        results.push(text);
    }
    Ok(Value::list(Type::String, results))
}

impl Verb {
    fn misfit(&self, wanted: &str) -> String {
        format!(
            "The verb {:?} at offset {} needs {wanted}.",
            self.written, self.at
        )
    }

    fn render(&self, value: &Value) -> Result<String, String> {
        match self.letter {
            'v' => match value.kind() {
                _ if self.alternate => self.json(value),
                Kind::String(s) => Ok(self.pad(s.to_string())),
                // as short as it can be, and then text: neither precision nor sign flags count
                Kind::Number(n) => Ok(self.pad(plain(n))),
                Kind::Bool(b) => Ok(self.pad(b.to_string())),
                _ => self.json(value),
            },
            't' => match value.convert(&Type::Bool) {
                Ok(b) if !b.is_null() => Ok(b.as_bool().unwrap_or(false).to_string()),
                _ => Err(self.misfit("a bool")),
            },
            's' | 'q' => {
                let text = value.convert(&Type::String).ok();
                let Some(text) = text.as_ref().and_then(Value::as_str) else {
                    return Err(self.misfit("a string"));
                };
                let cut: String = match self.precision {
                    // none is as good as none given
                    None | Some(0) => text.to_owned(),
                    Some(p) => text.graphemes(true).take(p).collect(),
                };
                Ok(self.pad(if self.letter == 'q' {
                    super::json::quoted(&cut)
                } else {
                    cut
                }))
            }
            letter => {
                let number = value.convert(&Type::Number).ok();
                let Some(number) = number.as_ref().and_then(Value::as_number) else {
                    return Err(self.misfit("a number"));
                };
                match letter {
                    'b' | 'd' | 'o' | 'x' | 'X' => {
                        if !number.is_integer() {
                            return Err(self.misfit("a whole number"));
                        }
                        self.integer(number)
                    }
                    _ => Ok(self.number(number, letter)),
                }
            }
        }
    }

    fn json(&self, value: &Value) -> Result<String, String> {
        super::json::encode(value).map(|text| self.pad(text))
    }

    /// Text to the width, in characters as a reader counts them.
    fn pad(&self, text: String) -> String {
        let Some(width) = self.width else {
            return text;
        };
        let missing = width.saturating_sub(text.graphemes(true).count());
        if self.minus {
            text + &" ".repeat(missing)
        } else if self.zero {
            "0".repeat(missing) + &text
        } else {
            " ".repeat(missing) + &text
        }
    }

    /// Sign and digits to the width: zeros go between them.
    fn signed(&self, negative: bool, prefix: &str, digits: &str, zeros: bool) -> String {
        let sign = if negative {
            "-"
        } else if self.plus {
            "+"
        } else if self.space {
            " "
        } else {
            ""
        };
        let length = sign.len() + prefix.len() + digits.len();
        let missing = self.width.unwrap_or(0).saturating_sub(length);
        if self.minus {
            format!("{sign}{prefix}{digits}{}", " ".repeat(missing))
        } else if self.zero && zeros {
            format!("{sign}{prefix}{}{digits}", "0".repeat(missing))
        } else {
            format!("{}{sign}{prefix}{digits}", " ".repeat(missing))
        }
    }

    fn integer(&self, number: &Number) -> Result<String, String> {
        // a whole zero has no sign
        let bare = number.abs();
        let number = if number.is_zero() { &bare } else { number };
        let decimal = number
            .abs()
            .to_integer_text()
            .ok_or_else(|| self.misfit("a smaller number"))?;
        let (base, prefix) = match self.letter {
            'b' => (2, if self.alternate { "0b" } else { "" }),
            'o' => (8, if self.alternate { "0" } else { "" }),
            'x' => (16, if self.alternate { "0x" } else { "" }),
            'X' => (16, if self.alternate { "0X" } else { "" }),
            _ => (10, ""),
        };
        let mut digits = if base == 10 {
            decimal
        } else {
            let size = dashu_int::UBig::from_str_radix(&decimal, 10)
                .map_err(|_| self.misfit("a whole number"))?;
            let text = size.in_radix(base).to_string();
            if self.letter == 'X' {
                text.to_uppercase()
            } else {
                text
            }
        };
        if let Some(least) = self.precision {
            if least == 0 && number.is_zero() {
                return Ok(String::new());
            }
            digits = "0".repeat(least.saturating_sub(digits.len())) + &digits;
        }
        Ok(self.signed(
            number.is_negative(),
            prefix,
            &digits,
            self.precision.is_none(),
        ))
    }

    fn number(&self, number: &Number, letter: char) -> String {
        if number.is_infinite() {
            let sign = if number.is_negative() { "-" } else { "+" };
            return self.pad(format!("{sign}Inf"));
        }
        let size = number.abs();
        let digits = match letter {
            'f' => fixed(&size, self.precision.unwrap_or(6)),
            'e' | 'E' => scientific(&size, Some(self.precision.unwrap_or(6)), letter),
            _ => general(&size, self.precision, letter),
        };
        self.signed(number.is_negative(), "", &digits, true)
    }
}

/// A number as `%v` shows it.
fn plain(number: &Number) -> String {
    if number.is_infinite() {
        return number.to_text();
    }
    let sign = if number.is_negative() { "-" } else { "" };
    format!("{sign}{}", general(&number.abs(), None, 'g'))
}

/// Decimal digits of a positive number without leading zeros, and the place of the point: the value
/// is `0.DIGITS * 10^point`. Zero has no digits.
struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

/// The shortest digits that read back as the number.
fn shortest(size: &Number) -> Decimal {
    from_text(&size.to_text())
}

fn from_text(text: &str) -> Decimal {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let mut point = i64::try_from(whole.len()).unwrap_or(0);
    let leading = digits.iter().take_while(|d| **d == b'0').count();
    digits.drain(..leading);
    point -= i64::try_from(leading).unwrap_or(0);
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    if digits.is_empty() {
        point = 0;
    }
    Decimal { digits, point }
}

/// All digits of the exact value: every binary fraction has finitely many.
fn exact(size: &Number) -> Decimal {
    let mut wide = size.with_precision(u16::MAX);
    let ten = Number::literal(10_000_000_000).with_precision(u16::MAX);
    let mut places = 0i64;
    // ten digits at a time, until nothing is left behind the point
    while !wide.is_integer() && places < 20_000 {
        match wide.mul(&ten) {
            Ok(next) => wide = next,
            Err(_) => break,
        }
        places += 10;
    }
    let text = wide.truncated().to_integer_text().unwrap_or_default();
    let mut decimal = from_text(&text);
    decimal.point -= places;
    decimal
}

impl Decimal {
    /// Rounded half to even to so many digits; may be none or fewer.
    fn round(mut self, keep: i64) -> Decimal {
        let Ok(keep) = usize::try_from(keep) else {
            return Decimal {
                digits: Vec::new(),
                point: 0,
            };
        };
        if keep >= self.digits.len() {
            return self;
        }
        let rest = self.digits.split_off(keep);
        let half = rest.first() == Some(&b'5') && rest.iter().skip(1).all(|d| *d == b'0');
        let odd = self.digits.last().is_some_and(|d| (d - b'0') % 2 == 1);
        let up = rest.first().is_some_and(|d| *d >= b'5') && (!half || odd);
        if up {
            loop {
                match self.digits.pop() {
                    Some(b'9') => {}
                    Some(d) => {
                        self.digits.push(d + 1);
                        break;
                    }
                    None => {
                        self.digits.push(b'1');
                        self.point += 1;
                        break;
                    }
                }
            }
        }
        while self.digits.last() == Some(&b'0') {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.point = 0;
        }
        self
    }

    fn digit(&self, at: i64) -> char {
        usize::try_from(at)
            .ok()
            .and_then(|at| self.digits.get(at))
            .map_or('0', |d| char::from(*d))
    }

    /// With so many digits behind the point.
    fn fixed(&self, places: usize) -> String {
        let mut out = String::new();
        if self.point > 0 {
            (0..self.point).for_each(|i| out.push(self.digit(i)));
        } else {
            out.push('0');
        }
        if places > 0 {
            out.push('.');
            let places = i64::try_from(places).unwrap_or(0);
            (0..places).for_each(|i| out.push(self.digit(self.point + i)));
        }
        out
    }

    fn scientific(&self, places: usize, letter: char) -> String {
        let mut out = String::new();
        out.push(self.digit(0));
        if places > 0 {
            out.push('.');
            let places = i64::try_from(places).unwrap_or(0);
            (1..=places).for_each(|i| out.push(self.digit(i)));
        }
        let exponent = if self.digits.is_empty() {
            0
        } else {
            self.point - 1
        };
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push(if letter.is_uppercase() { 'E' } else { 'e' });
        out.push(sign);
        out.push_str(&format!("{:02}", exponent.abs()));
        out
    }
}

fn fixed(size: &Number, places: usize) -> String {
    let decimal = exact(size);
    let keep = decimal.point + i64::try_from(places).unwrap_or(0);
    decimal.round(keep).fixed(places)
}

fn scientific(size: &Number, places: Option<usize>, letter: char) -> String {
    match places {
        Some(places) => {
            let keep = i64::try_from(places).unwrap_or(0) + 1;
            exact(size).round(keep).scientific(places, letter)
        }
        None => {
            let decimal = shortest(size);
            let places = decimal.digits.len().saturating_sub(1);
            decimal.scientific(places, letter)
        }
    }
}

/// Plain for numbers of moderate size, scientific for others.
fn general(size: &Number, precision: Option<usize>, letter: char) -> String {
    let (decimal, mut limit) = match precision {
        None => (shortest(size), 6),
        Some(p) => {
            let p = p.max(1);
            (
                exact(size).round(i64::try_from(p).unwrap_or(6)),
                i64::try_from(p).unwrap_or(6),
            )
        }
    };
    let count = i64::try_from(decimal.digits.len()).unwrap_or(0);
    if precision.is_some() && limit > count && count >= decimal.point {
        limit = count;
    }
    let exponent = decimal.point - 1;
    if !decimal.digits.is_empty() && (exponent < -4 || exponent >= limit) {
        return decimal.scientific(decimal.digits.len().saturating_sub(1), letter);
    }
    let places = usize::try_from((count - decimal.point).max(0)).unwrap_or(0);
    decimal.fixed(places)
}
