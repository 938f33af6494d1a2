//! One level of JSON at a time, with the place of each part, and errors that quote no content.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// What is wrong, and at which byte of the whole text.
#[derive(Debug)]
pub(super) struct Wrong {
    pub offset: usize,
    pub reason: String,
}

/// Entries of an object, in order.
pub(super) type Entries<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// The whole text; gives the place of each part of it.
#[derive(Clone, Copy)]
pub(super) struct Text<'a>(pub &'a str);

impl<'a> Text<'a> {
    pub fn wrong(self, part: &RawValue, reason: impl Into<String>) -> Wrong {
        // the part was borrowed from this text
        let offset = (part.get().as_ptr() as usize).saturating_sub(self.0.as_ptr() as usize);
        Wrong {
            offset,
            reason: reason.into(),
        }
    }

    /// The entries of an object, in order. A key that stands twice counts the last time.
    pub fn entries(self, raw: &'a RawValue, what: &str) -> Result<Entries<'a>, Wrong> {
        if !raw.get().starts_with('{') {
            return Err(self.wrong(raw, format!("{what} must be an object")));
        }
        let mut entries = serde_json::Deserializer::from_str(raw.get())
            .deserialize_map(EntriesVisitor)
            .map_err(|_| self.wrong(raw, format!("{what} has a key that is not valid Unicode")))?;
        drop_repeated(&mut entries);
        Ok(entries)
    }

    /// The elements of a list.
    pub fn elements(self, raw: &'a RawValue, what: &str) -> Result<Vec<&'a RawValue>, Wrong> {
        if !raw.get().starts_with('[') {
            return Err(self.wrong(raw, format!("{what} must be a list")));
        }
        serde_json::from_str(raw.get())
            .map_err(|_| self.wrong(raw, format!("{what} cannot be read")))
    }

    pub fn string(self, raw: &'a RawValue, what: &str) -> Result<Cow<'a, str>, Wrong> {
        let text = raw.get();
        if !text.starts_with('"') {
            return Err(self.wrong(raw, format!("{what} must be a text")));
        }
        let inner = text.get(1..text.len() - 1).unwrap_or_default();
        if !inner.contains('\\') {
            return Ok(Cow::Borrowed(inner));
        }
        serde_json::from_str::<String>(text)
            .map(Cow::Owned)
            .map_err(|_| self.wrong(raw, format!("{what} is not valid Unicode")))
    }

    pub fn whole_number(self, raw: &RawValue, what: &str) -> Result<u64, Wrong> {
        raw.get()
            .parse()
            .map_err(|_| self.wrong(raw, format!("{what} must be a whole number from 0 up")))
    }

    pub fn boolean(self, raw: &RawValue, what: &str) -> Result<bool, Wrong> {
        match raw.get() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.wrong(raw, format!("{what} must be true or false"))),
        }
    }
}

/// Up to so many keys are compared pair by pair.
const FEW: usize = 16;

fn drop_repeated(entries: &mut Entries<'_>) {
    if entries.len() <= FEW {
        let before = |i: usize| entries.get(..i).unwrap_or_default();
        let repeated = |(i, (key, _)): (usize, &(Cow<'_, str>, &RawValue))| {
            before(i).iter().any(|(k, _)| k == key)
        };
        if !entries.iter().enumerate().any(repeated) {
            return;
        }
    }
    let mut names: Vec<&str> = entries.iter().map(|(k, _)| &**k).collect();
    names.sort_unstable();
    if names.windows(2).all(|w| w[0] != w[1]) {
        return;
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut keep: Vec<bool> = entries
        .iter()
        .rev()
        .map(|(k, _)| seen.insert(k.to_string()))
        .collect();
    entries.retain(|_| keep.pop().unwrap_or(true));
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::with_capacity(8);
        while let Some(key) = map.next_key::<Key<'de>>()? {
            entries.push((key.0, map.next_value()?));
        }
        Ok(entries)
    }
}

/// A key, borrowed where it holds no escape.
struct Key<'de>(Cow<'de, str>);

impl<'de> serde::Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(v)))
            }
            fn visit_str<E>(self, v: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(v.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}
