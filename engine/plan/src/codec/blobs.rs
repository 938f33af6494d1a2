//! The content: blobs one after the other, equal ones once.

use super::records::Blob;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// Blobs being written.
#[derive(Default)]
pub(super) struct BlobWriter {
    pub content: Vec<u8>,
    pub lengths: Vec<u64>,
    starts: Vec<usize>,
    /// Blobs by a hash of their bytes. Only looked up, so its order shows nowhere.
    known: HashMap<u64, Vec<Blob>>,
    hasher: RandomState,
}

impl BlobWriter {
    /// The number of a blob with these bytes.
    pub fn add(&mut self, bytes: &[u8]) -> Blob {
        let same_hash = self.known.entry(self.hasher.hash_one(bytes)).or_default();
        for known in same_hash.iter() {
            let at = *known as usize;
            let (start, length) = (
                self.starts.get(at).copied().unwrap_or(0),
                self.lengths.get(at).copied().unwrap_or(0),
            );
            let end = start.saturating_add(usize::try_from(length).unwrap_or(0));
            if self.content.get(start..end) == Some(bytes) {
                return *known;
            }
        }
        let number = Blob::try_from(self.lengths.len()).unwrap_or(Blob::MAX);
        same_hash.push(number);
        self.starts.push(self.content.len());
        self.lengths.push(bytes.len() as u64);
        self.content.extend_from_slice(bytes);
        number
    }
}

/// Blobs being read.
pub(super) struct BlobReader<'a> {
    blobs: Vec<&'a [u8]>,
}

impl<'a> BlobReader<'a> {
    /// Cuts the content by the lengths, which must use it up.
    pub fn new(content: &'a [u8], lengths: &[u64]) -> Result<Self, String> {
        let mut rest = content;
        let mut blobs = Vec::with_capacity(lengths.len());
        for length in lengths {
            let cut = usize::try_from(*length)
                .ok()
                .and_then(|n| rest.split_at_checked(n));
            let Some((blob, after)) = cut else {
                return Err("the content is shorter than the index says".to_owned());
            };
            blobs.push(blob);
            rest = after;
        }
        if rest.is_empty() {
            Ok(Self { blobs })
        } else {
            Err("the content is longer than the index says".to_owned())
        }
    }

    pub fn get(&self, blob: Blob) -> Result<&'a [u8], String> {
        self.blobs
            .get(blob as usize)
            .copied()
            .ok_or_else(|| format!("there is no blob {blob}"))
    }

    pub fn len(&self) -> usize {
        self.blobs.len()
    }
}
