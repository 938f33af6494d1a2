//! Source files, byte ranges in them, and the lines and columns those stand for.

use std::sync::{Arc, OnceLock};
use unicode_segmentation::UnicodeSegmentation;

/// A file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// Bytes `start..end` of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceRange {
    /// Which file.
    pub file: FileId,
    /// Offset in bytes of the first byte.
    pub start: u32,
    /// Offset in bytes after the last byte; equal to `start` for a place between bytes.
    pub end: u32,
}

impl SourceRange {
    /// Bytes `start..end` of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// From the start of this range to the end of `other`, which stands in the same file.
    #[must_use]
    pub fn to(self, other: SourceRange) -> Self {
        debug_assert_eq!(self.file, other.file, "ranges of one file");
        Self {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// Length in bytes.
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether it spans no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A place as people count: line and column from 1, and the byte offset from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in grapheme clusters, from 1.
    pub column: u32,
    /// Offset in bytes, from 0.
    pub byte: u32,
}

/// A file's name as shown, and its text.
#[derive(Debug)]
pub struct SourceFile {
    /// Path as shown to the user, relative to the working directory where it lies below it.
    pub name: String,
    /// The bytes, as read. Not necessarily UTF-8; the parser says so if they are not.
    pub bytes: Arc<[u8]>,
    lines: OnceLock<Vec<u32>>,
}

impl SourceFile {
    /// Offsets at which lines begin.
    fn line_starts(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let mut starts = vec![0];
            for (i, b) in self.bytes.iter().enumerate() {
                if *b == b'\n' {
                    starts.push(u32::try_from(i + 1).unwrap_or(u32::MAX));
                }
            }
            starts
        })
    }

    /// Where the byte at `offset` stands.
    pub fn position(&self, offset: u32) -> Position {
        let starts = self.line_starts();
        let index = starts.partition_point(|s| *s <= offset).saturating_sub(1);
        let start = starts[index] as usize;
        let end = (offset as usize).clamp(start, self.bytes.len());
        let text = String::from_utf8_lossy(&self.bytes[start..end]);
        Position {
            line: u32::try_from(index + 1).unwrap_or(u32::MAX),
            column: u32::try_from(text.graphemes(true).count() + 1).unwrap_or(u32::MAX),
            byte: offset,
        }
    }

    /// The text of a line, counted from 1, without its line ending; empty past the end.
    pub fn line(&self, line: u32) -> String {
        let starts = self.line_starts();
        let Some(start) = starts.get((line as usize).saturating_sub(1)) else {
            return String::new();
        };
        let end = starts
            .get(line as usize)
            .map_or(self.bytes.len(), |n| *n as usize);
        let text = String::from_utf8_lossy(&self.bytes[*start as usize..end]);
        text.trim_end_matches(['\n', '\r']).to_owned()
    }
}

/// The files of a run. Ranges are resolved against the map that handed out their file.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<Arc<SourceFile>>,
}

impl SourceMap {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file and hands out its id. Files over 4 GiB cannot be addressed; callers refuse them.
    pub fn add(&mut self, name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(Arc::new(SourceFile {
            name: name.into(),
            bytes: bytes.into(),
            lines: OnceLock::new(),
        }));
        id
    }

    /// A file by its id; `None` if another map handed it out.
    pub fn get(&self, id: FileId) -> Option<&Arc<SourceFile>> {
        self.files.get(id.0 as usize)
    }

    /// The text of a range, empty if it is not of this map.
    pub fn text(&self, range: SourceRange) -> String {
        self.get(range.file)
            .and_then(|f| f.bytes.get(range.start as usize..range.end as usize))
            .map(|b| String::from_utf8_lossy(b).into_owned())
            .unwrap_or_default()
    }

    /// `file:line:column` of a range's start, or an empty string for a foreign range.
    pub fn place(&self, range: SourceRange) -> String {
        self.get(range.file).map_or_else(String::new, |f| {
            let p = f.position(range.start);
            format!("{}:{}:{}", f.name, p.line, p.column)
        })
    }

    /// All files in order of their ids.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &Arc<SourceFile>)> {
        (0u32..).map(FileId).zip(self.files.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_graphemes() {
        let mut map = SourceMap::new();
        let id = map.add("main.tf", "a = \"e\u{301}x\"\r\nb\n".as_bytes());
        let file = map.get(id).expect("just added");
        let x = 8; // a, space, =, space, quote, e, two bytes of the accent
        assert_eq!(
            file.position(x),
            Position {
                line: 1,
                column: 7,
                byte: 8
            }
        );
        assert_eq!(file.line(1), "a = \"e\u{301}x\"");
        assert_eq!(file.line(2), "b");
        assert_eq!(file.line(9), "");
        assert_eq!(map.place(SourceRange::new(id, 12, 13)), "main.tf:2:1");
    }

    #[test]
    fn past_the_end_is_clamped() {
        let mut map = SourceMap::new();
        let id = map.add("x", "ab".as_bytes());
        assert_eq!(map.get(id).expect("there").position(99).column, 3);
        assert_eq!(map.text(SourceRange::new(id, 1, 99)), "");
        assert_eq!(map.place(SourceRange::new(FileId(7), 0, 0)), "");
    }
}
