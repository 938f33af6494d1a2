//! Text. Lengths and positions count grapheme clusters, as a reader does.

use formwork_values::{Kind, Refinement, Type, Value};
use unicode_segmentation::UnicodeSegmentation;

use super::{Answer, Given, room_for_pieces, room_for_text, unknown};
use crate::functions::CallError;

pub(super) fn chomp(given: &Given<'_>) -> Answer {
    Ok(Value::string(given.text(0).trim_end_matches(['\r', '\n'])))
}

pub(super) fn endswith(given: &Given<'_>) -> Answer {
    Ok(Value::bool(given.text(0).ends_with(given.text(1))))
}

pub(super) fn startswith(given: &Given<'_>) -> Answer {
    let prefix = match given.at(1).kind() {
        Kind::String(s) => s,
        _ => return Ok(unknown(Type::Bool)),
    };
    match given.at(0).kind() {
        Kind::String(s) => Ok(Value::bool(s.starts_with(&**prefix))),
        Kind::Unknown(u) => {
            // what is promised of its beginning may decide already
            let known = u.refinement.prefix.as_deref().unwrap_or("");
            if prefix.is_empty() || known.starts_with(&**prefix) {
                return Ok(Value::TRUE);
            }
            if known
                .as_bytes()
                .iter()
                .zip(prefix.as_bytes())
                .any(|(a, b)| a != b)
            {
                return Ok(Value::FALSE);
            }
            Ok(unknown(Type::Bool))
        }
        _ => Ok(unknown(Type::Bool)),
    }
}

pub(super) fn strcontains(given: &Given<'_>) -> Answer {
    Ok(Value::bool(given.text(0).contains(given.text(1))))
}

pub(super) fn indent(given: &Given<'_>) -> Answer {
    let spaces = given.whole(0)?;
    let Some(spaces) = usize::try_from(spaces).ok().filter(|n| *n <= 1_000) else {
        return Err(CallError::argument(
            0,
            "The number of spaces must lie between 0 and 1000.",
        ));
    };
    let pad = format!("\n{}", " ".repeat(spaces));
    let lines = given.text(1).matches('\n').count();
    room_for_text(given.text(1).len().saturating_add(lines * spaces))?;
    Ok(Value::string(given.text(1).replace('\n', &pad)))
}

pub(super) fn join(given: &Given<'_>) -> Answer {
    if given.arguments.len() < 2 {
        return Err(CallError::call("At least one list must be given."));
    }
    let separator = given.text(0);
    let mut out = String::new();
    let mut first = true;
    for (at, list) in given.arguments.iter().enumerate().skip(1) {
        let Some(items) = list.as_sequence() else {
            return Ok(open(out));
        };
        for item in items {
            match item.kind() {
                Kind::String(s) => {
                    if !first {
                        out.push_str(separator);
                    }
                    first = false;
                    out.push_str(s);
                    room_for_text(out.len())?;
                }
                Kind::Unknown(_) => {
                    // nulls further on are still wrong
                    if items.iter().any(Value::is_null) {
                        return Err(null_element(at));
                    }
                    if !first {
                        out.push_str(separator);
                    }
                    return Ok(open(out));
                }
                _ => return Err(null_element(at)),
            }
        }
    }
    Ok(Value::string(out))
}

fn null_element(at: usize) -> CallError {
    CallError::argument(
        at,
        "An element is null, which cannot be joined. Drop it first, as with compact.",
    )
}

fn open(prefix: String) -> Value {
    Value::unknown_with(Type::String, Refinement::string_prefix(&prefix))
}

pub(super) fn lower(given: &Given<'_>) -> Answer {
    Ok(match given.at(0).as_str() {
        Some(s) => Value::string(s.chars().map(lower_of).collect::<String>()),
        None => unknown(Type::String),
    })
}

pub(super) fn upper(given: &Given<'_>) -> Answer {
    Ok(match given.at(0).as_str() {
        Some(s) => Value::string(s.chars().map(upper_of).collect::<String>()),
        None => unknown(Type::String),
    })
}

/// The simple mapping: one character to one character.
fn lower_of(c: char) -> char {
    let mut mapped = c.to_lowercase();
    // only the capital I with a dot maps to two characters, of which the first is the simple one
    mapped.next().unwrap_or(c)
}

/// The simple mapping: one character to one character; `ß` stays.
fn upper_of(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => match u32::from(c) {
            // Greek letters with a subscript iota: the simple mapping is the title form
            n @ (0x1f80..=0x1f87 | 0x1f90..=0x1f97 | 0x1fa0..=0x1fa7) => {
                char::from_u32(n + 8).unwrap_or(c)
            }
            0x1fb3 => '\u{1fbc}',
            0x1fc3 => '\u{1fcc}',
            0x1ff3 => '\u{1ffc}',
            _ => c,
        },
    }
}

/// Like upper case, but for the letters that hold two.
fn title_of(c: char) -> char {
    match c {
        '\u{1c4}'..='\u{1c6}' => '\u{1c5}',
        '\u{1c7}'..='\u{1c9}' => '\u{1c8}',
        '\u{1ca}'..='\u{1cc}' => '\u{1cb}',
        '\u{1f1}'..='\u{1f3}' => '\u{1f2}',
        _ => upper_of(c),
    }
}

pub(super) fn title(given: &Given<'_>) -> Answer {
    let separates = |c: char| {
        if c.is_ascii() {
            !c.is_ascii_alphanumeric() && c != '_'
        } else {
            !c.is_alphanumeric() && c.is_whitespace()
        }
    };
    let mut before = ' ';
    let out: String = given
        .text(0)
        .chars()
        .map(|c| {
            let mapped = if separates(before) { title_of(c) } else { c };
            before = c;
            mapped
        })
        .collect();
    Ok(Value::string(out))
}

pub(super) fn split(given: &Given<'_>) -> Answer {
    let (separator, text) = (given.text(0), given.text(1));
    room_for_pieces(text.matches(separator).count())?;
    let parts: Vec<Value> = if separator.is_empty() {
        text.chars()
            .map(|c| Value::string(c.encode_utf8(&mut [0; 4])))
            .collect()
    } else {
        text.split(separator).map(Value::string).collect()
    };
    Ok(Value::list(Type::String, parts))
}

pub(super) fn strrev(given: &Given<'_>) -> Answer {
    Ok(Value::string(
        given.text(0).graphemes(true).rev().collect::<String>(),
    ))
}

pub(super) fn substr(given: &Given<'_>) -> Answer {
    let text = given.text(0);
    let (offset, length) = (given.whole(1)?, given.whole(2)?);
    let skip = if offset < 0 {
        // from the end, which must be found first
        let total = i64::try_from(text.graphemes(true).count()).unwrap_or(i64::MAX);
        (total + offset).max(0)
    } else {
        offset
    };
    let skip = usize::try_from(skip).unwrap_or(usize::MAX);
    // a length below 0 is all that follows, and so, behind a place counted from the end, is 0
    let take = match length {
        0 if offset < 0 => usize::MAX,
        length => usize::try_from(length).unwrap_or(usize::MAX),
    };
    Ok(Value::string(
        text.graphemes(true)
            .skip(skip)
            .take(take)
            .collect::<String>(),
    ))
}

pub(super) fn trim(given: &Given<'_>) -> Answer {
    let cutset: Vec<char> = given.text(1).chars().collect();
    Ok(Value::string(given.text(0).trim_matches(&*cutset)))
}

pub(super) fn trimprefix(given: &Given<'_>) -> Answer {
    let text = given.text(0);
    Ok(Value::string(
        text.strip_prefix(given.text(1)).unwrap_or(text),
    ))
}

pub(super) fn trimsuffix(given: &Given<'_>) -> Answer {
    let text = given.text(0);
    Ok(Value::string(
        text.strip_suffix(given.text(1)).unwrap_or(text),
    ))
}

pub(super) fn trimspace(given: &Given<'_>) -> Answer {
    Ok(Value::string(given.text(0).trim()))
}
