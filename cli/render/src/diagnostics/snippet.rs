//! The lines of source that a diagnostic is about.

use formwork_diagnostics::{Diagnostic, FileId, Position, SourceMap, SourceRange};
use formwork_syntax::{Block, parse, quote};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How many lines a context may add before only the subject's own lines are shown.
const WIDEST_CONTEXT: u32 = 8;

/// Lines of a file, and what in them is meant.
pub(crate) struct Snippet {
    /// Name of the file.
    pub file: String,
    /// Where the subject begins.
    pub start: Position,
    /// Where it ends; after the start even for an empty subject.
    pub end: Position,
    /// Header of the outermost block around it, if there is one.
    pub context: Option<String>,
    /// Number of the first line shown.
    pub first_line: u32,
    /// The lines, without their ends; none where they may hold secrets.
    pub lines: Vec<String>,
    /// Bytes of the lines, joined by line feeds, that are meant.
    pub highlight: std::ops::Range<usize>,
}

/// Makes snippets, and keeps what it has found out about each file.
pub(crate) struct Snippets<'s> {
    sources: &'s SourceMap,
    /// Outermost blocks of each file, with their headers.
    blocks: BTreeMap<FileId, Vec<(SourceRange, String)>>,
}

impl<'s> Snippets<'s> {
    pub(crate) fn new(sources: &'s SourceMap) -> Self {
        Self {
            sources,
            blocks: BTreeMap::new(),
        }
    }

    /// A diagnostic as it may be shown.
    pub(crate) fn presentable<'d>(&self, diagnostic: &'d Diagnostic) -> Cow<'d, Diagnostic> {
        self.sources.presentable(diagnostic)
    }

    /// The snippet of a diagnostic; `None` if it has no subject in these sources.
    pub(crate) fn of(&mut self, diagnostic: &Diagnostic) -> Option<Snippet> {
        let subject = diagnostic.subject?;
        let file = self.sources.get(subject.file)?.clone();
        let start = file.position(subject.start);
        let mut end = file.position(subject.end.max(subject.start));
        if subject.is_empty() {
            end.byte += 1;
            end.column += 1;
        }
        // a subject that ends with a line feed does not reach into the next line, unless that is all
        // of it, as where something is missing at the end of a line
        let last = if end.column == 1 && end.line > start.line + 1 {
            end.line - 1
        } else {
            end.line
        };
        let (mut first_line, mut last_line) = (start.line, last);
        if let Some(context) = diagnostic.context.filter(|c| c.file == subject.file) {
            let first = file.position(context.start).line.min(first_line);
            let last = file.position(context.end).line.max(last_line);
            if last - first < WIDEST_CONTEXT {
                (first_line, last_line) = (first, last);
            }
        }
        if !self.sources.is_visible(subject) {
            return Some(Snippet {
                file: file.name.clone(),
                start,
                end,
                context: None,
                first_line,
                lines: Vec::new(),
                highlight: 0..0,
            });
        }
        let visible = self.sources.visible(subject.file);
        let lines: Vec<String> = (first_line..=last_line)
            .map(|n| file.line_in(n, &visible))
            .collect();
        // position of each place among the joined lines; a carriage return is no part of those
        let offset = |p: Position| {
            let before: usize = lines
                .iter()
                .take((p.line - first_line) as usize)
                .map(|l| l.len() + 1)
                .sum();
            let line_start = file.bytes[..(p.byte as usize).min(file.bytes.len())]
                .iter()
                .rposition(|b| *b == b'\n')
                .map_or(0, |at| at + 1);
            let within = (p.byte as usize).saturating_sub(line_start);
            before + within
        };
        let length = lines.iter().map(|l| l.len() + 1).sum::<usize>().max(1) - 1;
        let from = offset(start).min(length);
        let to = if subject.is_empty() {
            from + 1
        } else {
            offset(end)
        };
        let highlight = from..to.clamp(from, length.max(from));
        Some(Snippet {
            file: file.name.clone(),
            start,
            end,
            context: self.context(subject),
            first_line,
            lines,
            highlight,
        })
    }

    /// Header of the outermost block that holds the place before which the subject begins: a subject
    /// that is the block itself has none.
    fn context(&mut self, subject: SourceRange) -> Option<String> {
        let sources = self.sources;
        let blocks = self.blocks.entry(subject.file).or_insert_with(|| {
            let Some(file) = sources.get(subject.file) else {
                return Vec::new();
            };
            if file.name.ends_with(".json") {
                return Vec::new();
            }
            let (body, _) = parse(subject.file, &file.bytes);
            body.blocks()
                .iter()
                .map(|b| (b.range(), header(b)))
                .collect()
        });
        let at = blocks.partition_point(|(range, _)| range.start < subject.start);
        let (range, header) = blocks.get(at.checked_sub(1)?)?;
        (subject.start <= range.end).then(|| header.clone())
    }
}

fn header(block: &Block) -> String {
    let mut out = block.block_type.to_string();
    for label in &block.labels {
        out.push(' ');
        out.push_str(&quote(&label.value));
    }
    out
}
