//! `fileset`: the files below a directory whose path matches a pattern.
//!
//! `*` and `?` match within a name, `[a-z]` and `[^a-z]` one character, `{a,b}` either, `**` as a
//! whole name any number of directories.

use formwork_values::{Type, Value};

use super::filesystem::{clean, expanded};
use super::{Answer, Given};
use crate::functions::CallError;

/// How many alternatives the braces of a pattern may make.
const MOST_ALTERNATIVES: usize = 1_000;

pub(super) fn fileset(given: &Given<'_>) -> Answer {
    let base = expanded(given, given.text(0))?;
    let patterns = alternatives(given.text(1)).map_err(|detail| CallError::argument(1, detail))?;
    let mut found = std::collections::BTreeSet::new();
    for pattern in patterns {
        let pattern = clean(&pattern);
        let mut parts = Vec::new();
        for part in pattern.split('/').filter(|p| !p.is_empty()) {
            let glob = Glob::parse(part).map_err(|detail| CallError::argument(1, detail))?;
            parts.push((part, glob));
        }
        search(given, &base, "", &parts, &mut found)?;
    }
    Ok(Value::set(
        Type::String,
        found.into_iter().map(Value::string).collect(),
    ))
}

/// Adds the files below `prefix` (relative to `base`) that the rest of a pattern matches.
fn search(
    given: &Given<'_>,
    base: &str,
    prefix: &str,
    parts: &[(&str, Glob)],
    found: &mut std::collections::BTreeSet<String>,
) -> Result<(), CallError> {
    let Some(((part, glob), rest)) = parts.split_first() else {
        return Ok(());
    };
    let below = |name: &str| {
        if prefix.is_empty() {
            name.to_owned()
        } else {
            format!("{prefix}/{name}")
        }
    };
    if *part == ".." {
        return search(given, base, &below(".."), rest, found);
    }
    let directory = if prefix.is_empty() {
        base.to_owned()
    } else {
        format!("{base}/{prefix}")
    };
    let entries = given
        .surroundings()
        .files
        .list(&directory)
        .map_err(|error| {
            CallError::call(format!(
                "The directory {directory:?} cannot be read: {error}."
            ))
        })?;
    for entry in entries {
        let path = below(&entry.name);
        if *part == "**" {
            if rest.is_empty() && entry.file {
                found.insert(path.clone());
            }
            if entry.directory {
                stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
                    search(given, base, &path, parts, found)
                })?;
            }
        } else if glob.matches(&entry.name) {
            if rest.is_empty() {
                if entry.file {
                    found.insert(path);
                }
            } else if entry.directory {
                search(given, base, &path, rest, found)?;
            }
        }
    }
    if *part == "**" && !rest.is_empty() {
        search(given, base, prefix, rest, found)?;
    }
    Ok(())
}

/// The pattern with its braces written out.
fn alternatives(pattern: &str) -> Result<Vec<String>, String> {
    let mut done = Vec::new();
    let mut pending = vec![pattern.to_owned()];
    while let Some(pattern) = pending.pop() {
        if done.len() + pending.len() > MOST_ALTERNATIVES {
            return Err(format!(
                "The braces of the pattern make more than {MOST_ALTERNATIVES} patterns."
            ));
        }
        let Some((open, close)) = braces(&pattern)? else {
            done.push(pattern);
            continue;
        };
        let (before, after) = (&pattern[..open], &pattern[close + 1..]);
        for option in options(&pattern[open + 1..close]) {
            pending.push(format!("{before}{option}{after}"));
        }
    }
    Ok(done)
}

/// The first brace and the one that closes it.
fn braces(pattern: &str) -> Result<Option<(usize, usize)>, String> {
    let mut open = None;
    let mut depth = 0;
    let mut escaped = false;
    for (at, c) in pattern.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match c {
            '\\' => escaped = true,
            '{' => {
                open.get_or_insert(at);
                depth += 1;
            }
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return Ok(open.map(|o| (o, at)));
                }
            }
            _ => {}
        }
    }
    match open {
        Some(_) => Err("The pattern has a \"{\" without \"}\".".to_owned()),
        None => Ok(None),
    }
}

/// What stands between the commas of a pair of braces.
fn options(inner: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut start = 0;
    let mut out = Vec::new();
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                out.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    out.push(&inner[start..]);
    out
}

/// A pattern for one name.
struct Glob(Vec<Piece>);

enum Piece {
    Char(char),
    Any,
    Many,
    Class {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
}

impl Glob {
    fn parse(text: &str) -> Result<Glob, String> {
        let mut pieces = Vec::new();
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            pieces.push(match c {
                '*' => {
                    while rest.next_if_eq(&'*').is_some() {}
                    Piece::Many
                }
                '?' => Piece::Any,
                '\\' => Piece::Char(rest.next().ok_or("The pattern ends in a backslash.")?),
                '[' => {
                    let negated = rest.next_if_eq(&'^').is_some();
                    let mut ranges = Vec::new();
                    loop {
                        let missing = "The pattern has a \"[\" without \"]\".";
                        let mut low = rest.next().ok_or(missing)?;
                        if low == ']' && !ranges.is_empty() {
                            break;
                        }
                        if low == '\\' {
                            low = rest.next().ok_or(missing)?;
                        }
                        let mut high = low;
                        if rest.next_if_eq(&'-').is_some() {
                            high = rest.next().ok_or(missing)?;
                            if high == '\\' {
                                high = rest.next().ok_or(missing)?;
                            }
                        }
                        ranges.push((low, high));
                    }
                    Piece::Class { ranges, negated }
                }
                c => Piece::Char(c),
            });
        }
        Ok(Glob(pieces))
    }

    fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        // the last `*` and where it stood, to go back to
        let (mut p, mut n) = (0, 0);
        let mut back: Option<(usize, usize)> = None;
        while n < name.len() {
            let fits = match self.0.get(p) {
                Some(Piece::Many) => {
                    back = Some((p, n));
                    p += 1;
                    continue;
                }
                Some(Piece::Any) => true,
                Some(Piece::Char(c)) => *c == name[n],
                Some(Piece::Class { ranges, negated }) => {
                    ranges
                        .iter()
                        .any(|(low, high)| (*low..=*high).contains(&name[n]))
                        != *negated
                }
                None => false,
            };
            if fits {
                p += 1;
                n += 1;
            } else if let Some((star, at)) = back {
                back = Some((star, at + 1));
                p = star + 1;
                n = at + 1;
            } else {
                return false;
            }
        }
        self.0[p..].iter().all(|piece| matches!(piece, Piece::Many))
    }
}
