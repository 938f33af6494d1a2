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
    /// The last blob of a hash of bytes. Only looked up, so its order shows nowhere.
    known: HashMap<u64, Blob>,
    /// By blob: the one before it of the same hash.
    before: Vec<Option<Blob>>,
    hasher: RandomState,
}

/// Of longer blobs the beginning and the end are hashed, so much of each.
const HASHED: usize = 4096;

impl BlobWriter {
    /// For so many bytes in so many blobs, about: memory that is not used costs nothing.
    pub fn with_capacity(bytes: usize, blobs: usize) -> Self {
        Self {
            content: Vec::with_capacity(bytes),
            lengths: Vec::with_capacity(blobs),
            starts: Vec::with_capacity(blobs),
            known: HashMap::with_capacity(blobs),
            before: Vec::with_capacity(blobs),
            ..Self::default()
        }
    }

    fn hash(&self, bytes: &[u8]) -> u64 {
        match bytes.len().checked_sub(HASHED) {
            Some(end) if end > HASHED => self.hasher.hash_one((
                bytes.len(),
                bytes.get(..HASHED).unwrap_or_default(),
                bytes.get(end..).unwrap_or_default(),
            )),
            _ => self.hasher.hash_one(bytes),
        }
    }

    fn bytes(&self, blob: Blob) -> Option<&[u8]> {
        let start = *self.starts.get(blob as usize)?;
        let length = usize::try_from(*self.lengths.get(blob as usize)?).ok()?;
        self.content.get(start..start.checked_add(length)?)
    }

    /// The number of a blob with these bytes.
    pub fn add(&mut self, bytes: &[u8]) -> Blob {
        let hash = self.hash(bytes);
        let last = self.known.get(&hash).copied();
        let mut same_hash = last;
        while let Some(known) = same_hash {
            if self.bytes(known) == Some(bytes) {
                return known;
            }
            same_hash = self.before.get(known as usize).copied().flatten();
        }
        let number = Blob::try_from(self.lengths.len()).unwrap_or(Blob::MAX);
        self.known.insert(hash, number);
        self.before.push(last);
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
