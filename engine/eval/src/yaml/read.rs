//! Reading YAML: events to values, with the meaning of plain words decided here.

use std::sync::Arc;

use formwork_values::{Number, Value};
use rustc_hash::FxHashMap;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

const CORE: &str = "tag:yaml.org,2002:";

/// The one document in `text` as a value: mappings become objects, sequences tuples.
///
/// # Errors
/// A sentence (without full stop) saying what is wrong, with line and column where known.
pub(crate) fn decode(text: &str) -> Result<Value, String> {
    refuse_other_versions(text)?;
    let mut reader = Reader::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|e| {
            let at = e.marker();
            format!(
                "on line {}, column {}: {}",
                at.line(),
                at.col() + 1,
                e.info()
            )
        })?;
        let line = span.start.line();
        reader
            .event(event)
            .map_err(|problem| format!("on line {line}: {problem}"))?;
    }
    match reader.root {
        Some(value) => Ok(value),
        None => Err("the text holds no document".to_owned()),
    }
}

/// Only 1.1 may be asked for by directive; the parser below would take any 1.x.
fn refuse_other_versions(text: &str) -> Result<(), String> {
    for line in text.lines() {
        if let Some(version) = line.strip_prefix("%YAML") {
            if version.split_whitespace().next() != Some("1.1") {
                return Err("only YAML 1.1 may be asked for by a %YAML directive".to_owned());
            }
        } else if !line.starts_with('%')
            && !line.trim_start().starts_with('#')
            && !line.trim().is_empty()
        {
            break;
        }
    }
    Ok(())
}

/// How many nodes a document may have with its aliases written out.
const MOST_NODES: u64 = 1_000_000;

enum Container {
    Sequence {
        anchor: usize,
        items: Vec<Value>,
    },
    Mapping {
        anchor: usize,
        entries: Vec<(Arc<str>, Value)>,
        key: Option<Key>,
    },
}

enum Key {
    Name(Arc<str>),
    Merge,
}

/// A finished node.
struct Node {
    value: Value,
    /// How many nodes it has, itself and aliases written out included.
    size: u64,
    /// Whether it is the word `<<`, quoted or not.
    merge: bool,
}

#[derive(Default)]
struct Reader {
    root: Option<Value>,
    documents: usize,
    open: Vec<Container>,
    /// The size so far of each open container.
    sizes: Vec<u64>,
    anchors: FxHashMap<usize, (Value, u64)>,
}

impl Reader {
    fn event(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err("a second document begins here, only one is allowed".to_owned());
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref())?;
                let merge = tag.is_none() && text == "<<";
                self.remember(anchor, &value, 1);
                self.place(Node {
                    value,
                    size: 1,
                    merge,
                })?;
            }
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some((value, size)) => {
                    let node = Node {
                        value: value.clone(),
                        size: *size,
                        merge: false,
                    };
                    self.place(node)?;
                }
                None => {
                    return Err("an alias refers to a node that is not finished yet".to_owned());
                }
            },
            Event::SequenceStart(anchor, tag) => {
                expect_tag(tag.as_deref(), "seq", "sequence")?;
                self.sizes.push(1);
                self.open.push(Container::Sequence {
                    anchor,
                    items: Vec::new(),
                });
            }
            Event::MappingStart(anchor, tag) => {
                expect_tag(tag.as_deref(), "map", "mapping")?;
                self.sizes.push(1);
                self.open.push(Container::Mapping {
                    anchor,
                    entries: Vec::new(),
                    key: None,
                });
            }
            Event::SequenceEnd | Event::MappingEnd => self.close()?,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let (anchor, value) = match self.open.pop() {
            Some(Container::Sequence { anchor, items }) => (anchor, Value::tuple(items)),
            Some(Container::Mapping {
                anchor, entries, ..
            }) => (anchor, Value::object(entries)),
            None => return Ok(()),
        };
        let size = self.sizes.pop().unwrap_or(1);
        self.remember(anchor, &value, size);
        self.place(Node {
            value,
            size,
            merge: false,
        })
    }

    fn remember(&mut self, anchor: usize, value: &Value, size: u64) {
        if anchor != 0 {
            self.anchors.insert(anchor, (value.clone(), size));
        }
    }

    fn place(&mut self, node: Node) -> Result<(), String> {
        if let Some(size) = self.sizes.last_mut() {
            *size += node.size;
            if *size > MOST_NODES {
                return Err(format!(
                    "the aliases make more than {MOST_NODES} nodes when they are written out"
                ));
            }
        }
        match self.open.last_mut() {
            None => self.root = Some(node.value),
            Some(Container::Sequence { items, .. }) => items.push(node.value),
            Some(Container::Mapping { entries, key, .. }) => match key.take() {
                None => {
                    *key = Some(if node.merge {
                        Key::Merge
                    } else {
                        key_of(&node.value)?
                    })
                }
                Some(Key::Name(name)) => entries.push((name, node.value)),
                Some(Key::Merge) => merge(entries, &node.value)?,
            },
        }
        Ok(())
    }
}

fn key_of(value: &Value) -> Result<Key, String> {
    use formwork_values::Kind;
    match value.kind() {
        Kind::String(s) => Ok(Key::Name(s.clone())),
        Kind::Bool(b) => Ok(Key::Name(if b { "true" } else { "false" }.into())),
        Kind::Number(n) => Ok(Key::Name(crate::numbers::text(n).into())),
        Kind::Null(_) => Err("a mapping key is null".to_owned()),
        _ => Err("a mapping key is not a word, but only words can be keys".to_owned()),
    }
}

fn merge(entries: &mut Vec<(Arc<str>, Value)>, from: &Value) -> Result<(), String> {
    match from.kind() {
        formwork_values::Kind::Object(ty, values) => {
            entries.extend(ty.names().iter().cloned().zip(values.iter().cloned()));
            Ok(())
        }
        _ => Err("\"<<\" merges a mapping, but this is none".to_owned()),
    }
}

fn expect_tag(tag: Option<&Tag>, expected: &str, noun: &str) -> Result<(), String> {
    match tag {
        None => Ok(()),
        Some(tag) if tag.handle == CORE && tag.suffix == expected => Ok(()),
        Some(tag) => Err(format!(
            "the tag {} cannot stand before a {noun}",
            shown(tag)
        )),
    }
}

fn shown(tag: &Tag) -> String {
    if tag.handle == CORE {
        format!("!!{}", tag.suffix)
    } else {
        format!("{}{}", tag.handle, tag.suffix)
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    let plain = style == ScalarStyle::Plain;
    let Some(tag) = tag else {
        return if plain {
            meaning(text)
        } else {
            Ok(Value::string(text))
        };
    };
    if tag.handle != CORE {
        return Err(format!("the tag {} is not supported", shown(tag)));
    }
    let misfit = || Err(format!("the text does not fit its tag {}", shown(tag)));
    match &*tag.suffix {
        "str" => Ok(Value::string(text)),
        "binary" => {
            use base64::Engine;
            match base64::engine::general_purpose::STANDARD.decode(text) {
                Ok(_) => Ok(Value::string(text)),
                Err(_) => Err("the text tagged !!binary is not base64".to_owned()),
            }
        }
        "null" => Ok(Value::NULL),
        "int" | "float" | "bool" | "timestamp" if !plain => Ok(Value::string(text)),
        "int" | "float" => match number(text) {
            Some(n) => Ok(Value::number(n)),
            None => misfit(),
        },
        "bool" => match truth(text) {
            Some(b) => Ok(Value::bool(b)),
            None => misfit(),
        },
        "timestamp" => match timestamp(text) {
            Some(t) => Ok(Value::string(t)),
            None => misfit(),
        },
        _ => Err(format!("the tag {} is not supported", shown(tag))),
    }
}

/// What a word without quotes and tag means.
fn meaning(text: &str) -> Result<Value, String> {
    if let Some(b) = truth(text) {
        return Ok(Value::bool(b));
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::NULL),
        ".nan" | ".NaN" | ".NAN" => return Err("not-a-number has no value here".to_owned()),
        _ => {}
    }
    if let Some(n) = number(text) {
        return Ok(Value::number(n));
    }
    Ok(Value::string(
        timestamp(text).unwrap_or_else(|| text.to_owned()),
    ))
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => {
            Some(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => {
            Some(false)
        }
        _ => None,
    }
}

fn number(text: &str) -> Option<Number> {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return crate::numbers::infinity(false);
        }
        "-.inf" | "-.Inf" | "-.INF" => return crate::numbers::infinity(true),
        _ => {}
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return crate::numbers::integer_in(digits, radix);
        }
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((m, e)) => (m, Some(e)),
        None => (unsigned, None),
    };
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        None => digits(mantissa),
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
    };
    let exponent_fits =
        exponent.is_none_or(|e| digits(e.strip_prefix(['-', '+']).unwrap_or(e)) && e.len() < 8);
    if mantissa_fits && exponent_fits {
        crate::numbers::parse(text)
    } else {
        None
    }
}

/// A date, or a date and time, in the full form with whole seconds.
fn timestamp(text: &str) -> Option<String> {
    if !text.as_bytes().first()?.is_ascii_digit() || text.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    let (date, time) = match text.find(['T', 't', ' ', '\t']) {
        Some(at) => {
            let separator = text[at..].trim_start_matches([' ', '\t']);
            let rest = separator.strip_prefix(['T', 't']).unwrap_or(separator);
            (
                &text[..at],
                Some((rest, !text[at..].starts_with([' ', '\t']))),
            )
        }
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year: i64 = parts.next().filter(|y| y.len() == 4)?.parse().ok()?;
    let small = |s: &str, max: u32| -> Option<u32> {
        let fits = (1..=2).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_digit());
        s.parse().ok().filter(|n| fits && *n <= max)
    };
    let month = small(parts.next()?, 12).filter(|m| *m > 0)?;
    let day = small(parts.next()?, 31).filter(|d| *d > 0)?;
    if parts.next().is_some() || day > crate::text::days_in_month(year, month) {
        return None;
    }
    let Some((time, zoned)) = time else {
        return Some(format!("{year:04}-{month:02}-{day:02}T00:00:00Z"));
    };
    let zone_at = time.find(['Z', '+', '-', ' ']).unwrap_or(time.len());
    let (clock, zone) = (&time[..zone_at], time[zone_at..].trim_start());
    let clock = clock.split_once('.').map_or(clock, |(whole, _)| whole);
    let mut parts = clock.split(':');
    let hour = small(parts.next()?, 23)?;
    let minute = small(parts.next()?, 59)?;
    let second = small(parts.next()?, 59)?;
    if parts.next().is_some() {
        return None;
    }
    let zone = match zone {
        "" if !zoned => "Z".to_owned(),
        "Z" if zoned => "Z".to_owned(),
        z if zoned && z.len() == 6 && z.as_bytes()[3] == b':' => {
            small(&z[1..3], 23)?;
            small(&z[4..6], 59)?;
            z.to_owned()
        }
        _ => return None,
    };
    let zone = if zone == "+00:00" {
        "Z".to_owned()
    } else {
        zone
    };
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_of_aliases_have_an_end() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..20 {
            let before = format!("*a{}, ", level - 1).repeat(9);
            bomb.push_str(&format!("a{level}: &a{level} [{before}]\n"));
        }
        let problem = decode(&bomb).expect_err("too large");
        assert!(problem.contains("aliases"), "{problem}");
        assert!(decode("a: &x [1]\nb: *x\n").is_ok());
    }
}
