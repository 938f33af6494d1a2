//! Points in time, as RFC 3339 writes them.

use std::time::{SystemTime, UNIX_EPOCH};

use formwork_values::{Type, Value};

use super::{Answer, Given, unknown};
use crate::functions::CallError;
use crate::text::{date_from_days, days_from_date, days_in_month};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// A point in time with the offset it was written with.
#[derive(Clone, Copy)]
struct Moment {
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    nanoseconds: i128,
    /// Minutes by which local time is ahead.
    offset: i64,
}

const SECOND: i128 = 1_000_000_000;

struct Local {
    year: i64,
    month: u32,
    day: u32,
    weekday: usize,
    hour: i64,
    minute: i64,
    second: i64,
}

impl Moment {
    /// Reads `2018-01-02T23:12:01.5-08:00`.
    fn parse(text: &str) -> Result<Moment, String> {
        let number = |range: std::ops::Range<usize>, what: &str, max: u32| {
            let digits = text
                .get(range)
                .filter(|d| d.bytes().all(|b| b.is_ascii_digit()));
            match digits.and_then(|d| d.parse::<u32>().ok()) {
                Some(n) if n <= max => Ok(n),
                Some(n) => Err(format!("its {what} is {n}")),
                None => Err(format!("its {what} is missing or not in digits")),
            }
        };
        let sign = |at: usize, signs: &str| match text.as_bytes().get(at) {
            Some(b) if signs.contains(char::from(*b)) => Ok(()),
            _ => Err(format!("{signs:?} is missing at position {}", at + 1)),
        };
        let year = i64::from(number(0..4, "year", 9999)?);
        sign(4, "-")?;
        let month = number(5..7, "month", 12)?;
        sign(7, "-")?;
        let day = number(8..10, "day", 31)?;
        sign(10, "T")?;
        let hour = i64::from(number(11..13, "hour", 23)?);
        sign(13, ":")?;
        let minute = i64::from(number(14..16, "minute", 59)?);
        sign(16, ":")?;
        let second = i64::from(number(17..19, "second", 59)?);
        if month == 0 || day == 0 || day > days_in_month(year, month) {
            return Err("it has no such day".to_owned());
        }
        let mut at = 19;
        let mut fraction = 0i128;
        if text.as_bytes().get(at) == Some(&b'.') {
            at += 1;
            let digits: String = text[at..]
                .chars()
                .take_while(char::is_ascii_digit)
                .collect();
            if digits.is_empty() {
                return Err("its fraction of a second has no digits".to_owned());
            }
            at += digits.len();
            let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
            fraction = nine.parse().unwrap_or(0);
        }
        let offset = match text.as_bytes().get(at) {
            Some(b'Z') if text.len() == at + 1 => 0,
            Some(b @ (b'+' | b'-')) if text.len() == at + 6 => {
                let hours = i64::from(number(at + 1..at + 3, "offset", 23)?);
                sign(at + 3, ":")?;
                let minutes = i64::from(number(at + 4..at + 6, "offset", 59)?);
                let size = hours * 60 + minutes;
                if *b == b'-' { -size } else { size }
            }
            _ => return Err("it must end in \"Z\" or an offset such as \"+01:00\"".to_owned()),
        };
        let seconds = days_from_date(year, month, day) * 86_400
            + hour * 3_600
            + (minute - offset) * 60
            + second;
        Ok(Moment {
            nanoseconds: i128::from(seconds) * SECOND + fraction,
            offset,
        })
    }

    fn of_system(time: SystemTime) -> Moment {
        let nanoseconds = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()).unwrap_or(0),
            Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(0),
        };
        Moment {
            nanoseconds,
            offset: 0,
        }
    }

    fn local(self) -> Local {
        let seconds = self.nanoseconds.div_euclid(SECOND) + i128::from(self.offset) * 60;
        let days = i64::try_from(seconds.div_euclid(86_400)).unwrap_or(0);
        let rest = i64::try_from(seconds.rem_euclid(86_400)).unwrap_or(0);
        let (year, month, day) = date_from_days(days);
        Local {
            year,
            month,
            day,
            // the first of January 1970 was a Thursday
            weekday: usize::try_from((days + 4).rem_euclid(7)).unwrap_or(0),
            hour: rest / 3_600,
            minute: rest / 60 % 60,
            second: rest % 60,
        }
    }

    fn zone(self, colon: bool) -> String {
        let sign = if self.offset < 0 { '-' } else { '+' };
        let size = self.offset.abs();
        let colon = if colon { ":" } else { "" };
        format!("{sign}{:02}{colon}{:02}", size / 60, size % 60)
    }

    fn to_text(self) -> String {
        let l = self.local();
        let zone = if self.offset == 0 {
            "Z".to_owned()
        } else {
            self.zone(true)
        };
        let sign = if l.year < 0 { "-" } else { "" };
        format!(
            "{sign}{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{zone}",
            l.year.abs(),
            l.month,
            l.day,
            l.hour,
            l.minute,
            l.second
        )
    }
}

fn moment(text: &str) -> Result<Moment, String> {
    Moment::parse(text).map_err(|problem| {
        format!(
            "{text:?} is no point in time as RFC 3339 writes it (2025-01-31T08:00:00Z): {problem}."
        )
    })
}

pub(super) fn timestamp(given: &Given<'_>) -> Answer {
    if !given.surroundings().settle_impure {
        return Ok(unknown(Type::String));
    }
    let now = given.surroundings().clock.now();
    Ok(Value::string(Moment::of_system(now).to_text()))
}

pub(super) fn plantimestamp(given: &Given<'_>) -> Answer {
    Ok(match given.surroundings().plan_time {
        Some(time) => Value::string(Moment::of_system(time).to_text()),
        None => unknown(Type::String),
    })
}

/// As `moment`, but for what only a reader that is less strict takes: an hour of one digit, a comma
/// before the fraction of a second, offsets up to 24 hours and 60 minutes.
fn lenient_moment(text: &str) -> Result<Moment, String> {
    let strict = moment(text);
    if strict.is_ok() || !text.is_ascii() {
        return strict;
    }
    let mut plain = text.replace(',', ".");
    if plain.as_bytes().get(12) == Some(&b':') {
        plain.insert(11, '0');
    }
    let mut ahead = 0;
    let begin = plain.len().saturating_sub(6);
    if let Some((hours, minutes)) = plain[begin..].split_once(':')
        && let Some(sign) = hours.chars().next().filter(|s| "+-".contains(*s))
        && let (Ok(hours @ 0..=24), Ok(minutes @ 0..=60)) =
            (hours[1..].parse::<i64>(), minutes.parse::<i64>())
    {
        ahead = (hours * 60 + minutes) * if sign == '-' { -1 } else { 1 };
        plain.replace_range(begin.., "Z");
    }
    match Moment::parse(&plain) {
        Ok(m) => Ok(Moment {
            nanoseconds: m.nanoseconds - i128::from(ahead) * 60 * SECOND,
            offset: ahead,
        }),
        Err(_) => strict,
    }
}

pub(super) fn timecmp(given: &Given<'_>) -> Answer {
    let a = lenient_moment(given.text(0)).map_err(|detail| CallError::argument(0, detail))?;
    let b = lenient_moment(given.text(1)).map_err(|detail| CallError::argument(1, detail))?;
    Ok(Value::int(match a.nanoseconds.cmp(&b.nanoseconds) {
        std::cmp::Ordering::Less => -1,
        std::cmp::Ordering::Equal => 0,
        std::cmp::Ordering::Greater => 1,
    }))
}

pub(super) fn timeadd(given: &Given<'_>) -> Answer {
    let start = moment(given.text(0)).map_err(CallError::call)?;
    let Some(duration) = duration(given.text(1)) else {
        return Err(CallError::call(format!(
            "{:?} is no length of time: write numbers with units (h, m, s, ms, us, ns), such as \
             \"1h30m\" or \"-90s\".",
            given.text(1)
        )));
    };
    let end = Moment {
        nanoseconds: start.nanoseconds.saturating_add(duration),
        ..start
    };
    Ok(Value::string(end.to_text()))
}

/// Nanoseconds of `1h30m`, `-1.5h`, `0`.
fn duration(text: &str) -> Option<i128> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut rest = rest;
    let mut total = 0i128;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let units = [
            ("ns", 1),
            ("us", 1_000),
            ("µs", 1_000),
            ("μs", 1_000),
            ("ms", 1_000_000),
            ("s", SECOND),
            ("m", 60 * SECOND),
            ("h", 3_600 * SECOND),
        ];
        let (unit, size) = units.iter().find(|(unit, _)| after.starts_with(unit))?;
        let whole: i128 = if whole.is_empty() {
            0
        } else {
            whole.parse().ok()?
        };
        total = total.checked_add(whole.checked_mul(*size)?)?;
        let mut place = *size;
        for digit in fraction.bytes().take(18) {
            // each digit is a tenth of the one before
            total += place * i128::from(digit - b'0') / 10;
            place /= 10;
        }
        rest = &after[unit.len()..];
    }
    // 64 bits of nanoseconds: about 292 years
    let total = if negative { -total } else { total };
    i64::try_from(total).ok().map(i128::from)
}

pub(super) fn formatdate(given: &Given<'_>) -> Answer {
    let at = moment(given.text(1)).map_err(|detail| CallError::argument(1, detail))?;
    let local = at.local();
    let wrong = |detail: String| CallError::argument(0, detail);
    let mut out = String::new();
    let mut rest = given.text(0);
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            let (text, after) = quoted(rest).ok_or_else(|| {
                wrong("It has a text in single quotes that is not closed.".to_owned())
            })?;
            out.push_str(&text);
            rest = after;
            continue;
        }
        let run = rest.chars().take_while(|c| *c == first).count();
        let word = &rest[..run * first.len_utf8()];
        rest = &rest[word.len()..];
        if !first.is_ascii_alphabetic() {
            out.push_str(word);
            continue;
        }
        let twelve = match local.hour % 12 {
            0 => 12,
            n => n,
        };
        let half = if local.hour < 12 { "AM" } else { "PM" };
        let month = MONTHS.get(local.month as usize - 1).copied().unwrap_or("");
        let weekday = DAYS.get(local.weekday).copied().unwrap_or("");
        out.push_str(&match word {
            "YYYY" => format!("{:04}", local.year),
            "YY" => format!("{:02}", local.year.rem_euclid(100)),
            "M" => local.month.to_string(),
            "MM" => format!("{:02}", local.month),
            "MMM" => month.get(..3).unwrap_or(month).to_owned(),
            "MMMM" => month.to_owned(),
            "D" => local.day.to_string(),
            "DD" => format!("{:02}", local.day),
            "EEE" => weekday.get(..3).unwrap_or(weekday).to_owned(),
            "EEEE" => weekday.to_owned(),
            "h" => local.hour.to_string(),
            "hh" => format!("{:02}", local.hour),
            "H" => twelve.to_string(),
            "HH" => format!("{twelve:02}"),
            "AA" => half.to_owned(),
            "aa" => half.to_lowercase(),
            "m" => local.minute.to_string(),
            "mm" => format!("{:02}", local.minute),
            "s" => local.second.to_string(),
            "ss" => format!("{:02}", local.second),
            "Z" if at.offset == 0 => "Z".to_owned(),
            "Z" | "ZZZZZ" => at.zone(true),
            "ZZZ" if at.offset == 0 => "UTC".to_owned(),
            "ZZZ" | "ZZZZ" => at.zone(false),
            other => {
                return Err(wrong(format!(
                    "It has the verb {other:?}, which does not exist. Letters that shall appear as \
                     they are stand in single quotes."
                )));
            }
        });
    }
    Ok(Value::string(out))
}

/// The text in single quotes at the start, two of which stand for one, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('\'')?;
    if let Some(after) = rest.strip_prefix('\'') {
        return Some(("'".to_owned(), after));
    }
    let mut out = String::new();
    loop {
        let end = rest.find('\'')?;
        out.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('\'') {
            Some(after) => {
                out.push('\'');
                rest = after;
            }
            None => return Some((out, rest)),
        }
    }
}
