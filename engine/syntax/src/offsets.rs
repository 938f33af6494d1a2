//! From offsets in a text that was taken out of a file to offsets in the file.

/// Says where in its file a text stands that is parsed by itself: a JSON string after unescaping, or
/// a piece of a file.
#[derive(Clone, Debug, Default)]
pub struct OffsetMap {
    base: u32,
    /// `(offset in the text, offset in the file)`, rising: from there on both run side by side.
    runs: Vec<(u32, u32)>,
}

impl OffsetMap {
    /// The text is the file.
    pub const PLAIN: &'static OffsetMap = &OffsetMap {
        base: 0,
        runs: Vec::new(),
    };

    /// The text stands in the file from `offset` on, as it is.
    pub fn starting_at(offset: u32) -> Self {
        Self {
            base: offset,
            runs: Vec::new(),
        }
    }

    /// The text was unescaped. Each run `(in the text, in the file)` says that from there up to the
    /// next run both go side by side; runs rise, and the first begins at 0 in the text.
    pub fn unescaped(runs: Vec<(u32, u32)>) -> Self {
        Self { base: 0, runs }
    }

    /// The range in the file.
    pub(crate) fn map(&self, start: u32, end: u32) -> (u32, u32) {
        (self.place(start), self.place(end))
    }

    fn place(&self, offset: u32) -> u32 {
        let index = self.runs.partition_point(|(text, _)| *text <= offset);
        match index.checked_sub(1).and_then(|i| self.runs.get(i)) {
            Some((text, file)) => file + (offset - text),
            None => self.base + offset,
        }
    }
}
