//! Source files, byte ranges in them, and the lines and columns those stand for.
//!
//! A file of *values* (`.tfvars`, `-backend-config`, a value on the command line, the CLI configuration)
//! is private: it may hold secrets, and which of its words are none is not known before the
//! declarations are. Places in it may be told; its text only where a part was disclosed.

use crate::diagnostic::Diagnostic;
use std::borrow::Cow;
use std::fmt;
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
pub struct SourceFile {
    /// Path as shown to the user, relative to the working directory where it lies below it.
    pub name: String,
    /// The bytes, as read. Not necessarily UTF-8; the parser says so if they are not.
    pub bytes: Arc<[u8]>,
    /// Whether its text may hold secrets, and is not shown but where it was disclosed
    /// ([`SourceMap::disclose`]).
    pub private: bool,
    lines: OnceLock<Vec<u32>>,
}

impl fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceFile")
            .field("name", &self.name)
            .field("length", &self.bytes.len())
            .finish_non_exhaustive()
    }
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
        self.line_in(line, &self.bytes)
    }

    /// The same of bytes that stand at the places of this file's ([`SourceMap::visible`]).
    pub fn line_in(&self, line: u32, bytes: &[u8]) -> String {
        let starts = self.line_starts();
        let Some(start) = starts.get((line as usize).saturating_sub(1)) else {
            return String::new();
        };
        let end = starts
            .get(line as usize)
            .map_or(self.bytes.len(), |n| *n as usize);
        let text = bytes.get(*start as usize..end).unwrap_or_default();
        let text = String::from_utf8_lossy(text);
        text.trim_end_matches(['\n', '\r']).to_owned()
    }
}

/// The files of a run. Ranges are resolved against the map that handed out their file.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<Arc<SourceFile>>,
    /// Parts of private files that hold no secret.
    disclosed: Vec<SourceRange>,
    /// Parts of private files that could not be understood, and for whom they were meant.
    undecided: Vec<(Arc<str>, SourceRange)>,
}

impl SourceMap {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file and hands out its id. Files over 4 GiB cannot be addressed; callers refuse them.
    pub fn add(&mut self, name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> FileId {
        self.push(name.into(), bytes.into(), false)
    }

    /// Adds a file of values, whose text may hold secrets.
    pub fn add_private(&mut self, name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> FileId {
        self.push(name.into(), bytes.into(), true)
    }

    fn push(&mut self, name: String, bytes: Arc<[u8]>, private: bool) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(Arc::new(SourceFile {
            name,
            bytes,
            private,
            lines: OnceLock::new(),
        }));
        id
    }

    /// Says that this part of a private file holds no secret.
    pub fn disclose(&mut self, range: SourceRange) {
        if self.get(range.file).is_some_and(|f| f.private) {
            self.disclosed.push(range);
        }
    }

    /// Says for what this part of a private file was meant, which could not be understood: whether it may
    /// be shown is known to those who know the declaration of that name.
    pub fn leave_undecided(&mut self, name: &Arc<str>, range: SourceRange) {
        self.undecided.push((name.clone(), range));
    }

    /// Discloses what was left undecided of all names that are `harmless`.
    pub fn decide(&mut self, harmless: impl Fn(&str) -> bool) {
        for (name, range) in std::mem::take(&mut self.undecided) {
            if harmless(&name) {
                self.disclose(range);
            } else {
                self.undecided.push((name, range));
            }
        }
    }

    /// The bytes of a file that may be shown, at their places: in a private one everything else but the
    /// ends of lines is blank. Empty for a foreign file, and for a private one of which nothing is
    /// disclosed.
    pub fn visible(&self, file: FileId) -> Cow<'_, [u8]> {
        let Some(found) = self.get(file) else {
            return Cow::Borrowed(&[]);
        };
        let mut disclosed = self.disclosed.iter().filter(|r| r.file == file).peekable();
        if !found.private {
            return Cow::Borrowed(&found.bytes);
        }
        if disclosed.peek().is_none() {
            return Cow::Borrowed(&[]);
        }
        let blank = |b: &u8| if matches!(b, b'\n' | b'\r') { *b } else { b' ' };
        let mut shown: Vec<u8> = found.bytes.iter().map(blank).collect();
        for range in disclosed {
            let part = range.start as usize..range.end as usize;
            if let (Some(to), Some(from)) = (shown.get_mut(part.clone()), found.bytes.get(part)) {
                to.copy_from_slice(from);
            }
        }
        Cow::Owned(shown)
    }

    /// Whether the text of a range may be shown: it stands in a file that is not private, or in one
    /// disclosed part of it.
    pub fn is_visible(&self, range: SourceRange) -> bool {
        let private = self.get(range.file).is_some_and(|f| f.private);
        !private
            || self
                .disclosed
                .iter()
                .any(|d| d.file == range.file && d.start <= range.start && range.end <= d.end)
    }

    /// A diagnostic as it may be shown: where it is about a part of a private file, its words do not
    /// quote that part either.
    pub fn presentable<'d>(&self, diagnostic: &'d Diagnostic) -> Cow<'d, Diagnostic> {
        let hidden = diagnostic.subject.filter(|s| !self.is_visible(*s));
        let Some(subject) = hidden else {
            return Cow::Borrowed(diagnostic);
        };
        let text = self.text(subject);
        let mut shown = diagnostic.clone();
        let all = [&mut shown.summary, &mut shown.detail];
        for said in all.into_iter().chain(&mut shown.hints) {
            *said = without_quotations(said, &text);
        }
        // what references stand for is told elsewhere, if anywhere
        shown.values.clear();
        Cow::Owned(shown)
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

/// `said` without those of its words in quotes that stand in `text`, as they are or with escapes.
fn without_quotations(said: &str, text: &str) -> String {
    const HIDDEN: &str = "(not shown)";
    let mut shown = String::with_capacity(said.len());
    let mut rest = said;
    while let Some(start) = rest.find('"') {
        let (before, quoted) = rest.split_at(start);
        shown.push_str(before);
        // its end, past characters that a backslash escapes
        let mut escaped = false;
        let end = quoted[1..].find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let Some(end) = end else {
            rest = quoted;
            break;
        };
        let (word, after) = quoted.split_at(end + 2);
        let inner = &word[1..=end];
        let meant = inner.replace("\\\"", "\"").replace("\\\\", "\\");
        if !inner.is_empty() && (text.contains(inner) || text.contains(&meant)) {
            shown.push_str(HIDDEN);
        } else {
            shown.push_str(word);
        }
        rest = after;
    }
    shown.push_str(rest);
    // words that are quoted otherwise, or not at all
    let text = text.trim();
    if text.chars().count() >= 4 && shown.contains(text) {
        shown = shown.replace(text, HIDDEN);
    }
    shown
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
    fn private_text_is_shown_where_it_is_disclosed() {
        let mut map = SourceMap::new();
        let text = "a = \"one\"\nb = two\n";
        let id = map.add_private("t.tfvars", text.as_bytes());
        let (a, b) = (SourceRange::new(id, 0, 9), SourceRange::new(id, 14, 17));
        map.disclose(a);
        assert_eq!(&*map.visible(id), b"a = \"one\"\n       \n");
        assert!(map.is_visible(SourceRange::new(id, 4, 9)) && !map.is_visible(b));
        let check = |at: SourceRange, said: &str, expected: &str| {
            let d = Diagnostic::error("Wrong", said).at(at);
            assert_eq!(map.presentable(&d).detail, expected);
        };
        check(a, "The word \"one\" is none.", "The word \"one\" is none.");
        check(
            b,
            "The word \"two\" is none.",
            "The word (not shown) is none.",
        );
        check(
            b,
            "The word \"tw\" of \"b\".",
            "The word (not shown) of \"b\".",
        );
        check(b, "A \" alone.", "A \" alone.");
        assert_eq!(
            without_quotations("No longword.", " longword\n"),
            "No (not shown)."
        );
        assert_eq!(
            without_quotations(r#"No "a\"b\\"!"#, r#"x a"b\ y"#),
            "No (not shown)!"
        );
        assert!(!format!("{map:?}").contains("two"));
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
