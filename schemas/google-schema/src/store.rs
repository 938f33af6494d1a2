//! The embedded files: unpacked once, decoded type by type.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::decode;
use crate::resource::Resource;

static RESOURCES: &[u8] = include_bytes!("../data/resources.jsonl.gz");
static DATA_SOURCES: &[u8] = include_bytes!("../data/data-sources.jsonl.gz");
static KNOWN_TYPES: &str = include_str!("../data/known-types.txt");
static VERSIONS: &str = include_str!("../data/versions.txt");

/// The release of hashicorp/google whose types the data describes.
pub const RELEASE: &str = "7.45.0";

struct Store {
    text: String,
    /// Name to byte range of its line.
    lines: BTreeMap<Arc<str>, (usize, usize)>,
    decoded: Mutex<BTreeMap<Arc<str>, Arc<Resource>>>,
}

impl Store {
    fn open(packed: &[u8]) -> Self {
        let mut text = String::new();
        // The file is part of the program; were it broken, every type would be unknown, and the
        // tests of this crate would say so.
        let _ = flate2::read::GzDecoder::new(packed).read_to_string(&mut text);
        let mut lines = BTreeMap::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            // Keys are sorted, so "type" stands near the end; it is found by its own mark.
            if let Some(name) = line
                .rfind("\"type\":\"google_")
                .and_then(|i| line[i + 8..].split('"').next())
            {
                lines.insert(Arc::from(name), (at, at + line.len()));
            }
            at += line.len();
        }
        Self {
            text,
            lines,
            decoded: Mutex::default(),
        }
    }

    fn get(&self, name: &str) -> Option<Arc<Resource>> {
        let (from, to) = *self.lines.get(name)?;
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = decoded.get(name) {
            return Some(Arc::clone(found));
        }
        let made = Arc::new(decode::resource(self.text.get(from..to)?)?);
        decoded.insert(Arc::clone(&made.name), Arc::clone(&made));
        Some(made)
    }
}

fn resources() -> &'static Store {
    static STORE: OnceLock<Store> = OnceLock::new();
    STORE.get_or_init(|| Store::open(RESOURCES))
}

fn data_sources() -> &'static Store {
    static STORE: OnceLock<Store> = OnceLock::new();
    STORE.get_or_init(|| Store::open(DATA_SOURCES))
}

/// A managed resource type.
pub fn resource(name: &str) -> Option<Arc<Resource>> {
    resources().get(name)
}

/// Names of all managed resource types with data, in byte order.
pub fn resource_names() -> Vec<Arc<str>> {
    resources().lines.keys().cloned().collect()
}

/// A data source: its schema; there is no mapping.
pub fn data_source(name: &str) -> Option<Arc<Resource>> {
    data_sources().get(name)
}

/// Names of all data sources with data, in byte order.
pub fn data_source_names() -> Vec<Arc<str>> {
    data_sources().lines.keys().cloned().collect()
}

/// Names of managed resource types of hashicorp/google and hashicorp/google-beta without data here.
pub fn unserved_resource_names() -> Vec<Arc<str>> {
    without_data("resource ", resources())
}

/// Names of data sources of hashicorp/google and hashicorp/google-beta without data here.
pub fn unserved_data_source_names() -> Vec<Arc<str>> {
    without_data("data ", data_sources())
}

fn without_data(kind: &str, store: &Store) -> Vec<Arc<str>> {
    KNOWN_TYPES
        .lines()
        .filter_map(|line| line.strip_prefix(kind))
        .filter(|name| !store.lines.contains_key(*name))
        .map(Arc::from)
        .collect()
}

/// Released versions of hashicorp/google from 5.0.0 below 8.0, ascending; where the list is from
/// stands in its head.
pub fn versions() -> impl Iterator<Item = &'static str> {
    VERSIONS
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}
