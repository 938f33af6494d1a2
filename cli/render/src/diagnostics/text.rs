//! Diagnostics as people read them.
//!
//! ```text
//! Error: Invalid index
//!
//!   on main.tf line 20, in resource "terraform_data" "y":
//!   20:   input = var.names["zz"]
//!                          ^^^^^^
//!     var.names is an object with 1 attribute "a"
//!
//! No element has this key. ...
//!
//! Hint: Did you mean "a"?
//! ```
//!
//! On a terminal the same stands beside a line of its colour, and the offending text is underlined
//! instead of pointed at.

use super::snippet::{Snippet, Snippets};
use crate::style::{Role, Style, wrap};
use formwork_diagnostics::{Diagnostic, Diagnostics, Severity, SourceMap};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Most lines of one subject that are shown; the middle of a longer one is left out.
const MOST_LINES: usize = 12;
/// How wide a line of source may be where nobody knows how wide the reader's screen is.
const WIDEST_LINE: usize = 200;

/// One diagnostic, with a blank line before it and a line end after it.
pub fn diagnostic_text(diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> String {
    let mut out = String::new();
    write(&mut out, diagnostic, &mut Snippets::new(sources), style);
    out
}

/// All of them in order, each with a blank line before it.
pub fn diagnostics_text(diagnostics: &Diagnostics, sources: &SourceMap, style: Style) -> String {
    let mut snippets = Snippets::new(sources);
    let mut out = String::new();
    for diagnostic in diagnostics {
        write(&mut out, diagnostic, &mut snippets, style);
    }
    out
}

/// Errors in full; of warnings only the summaries and where they stand, each summary once.
pub fn compact_warnings(diagnostics: &Diagnostics, sources: &SourceMap, style: Style) -> String {
    let mut snippets = Snippets::new(sources);
    let mut out = String::new();
    let mut warnings: Vec<(&str, Vec<String>)> = Vec::new();
    for diagnostic in diagnostics {
        if diagnostic.is_error() {
            write(&mut out, diagnostic, &mut snippets, style);
            continue;
        }
        let place = match diagnostic.subject.map(|s| sources.place(s)) {
            Some(place) if !place.is_empty() => place,
            _ => diagnostic.address.clone().unwrap_or_default(),
        };
        match warnings.iter_mut().find(|(s, _)| *s == diagnostic.summary) {
            Some((_, places)) => places.push(place),
            None => warnings.push((&diagnostic.summary, vec![place])),
        }
    }
    if !warnings.is_empty() {
        out.push('\n');
        out.push_str(&style.paint(Role::Warning, "Warnings:"));
        out.push_str("\n\n");
    }
    for (summary, places) in warnings {
        out.push_str(&format!("- {summary}"));
        let mut known = places.iter().filter(|p| !p.is_empty());
        if let Some(first) = known.next() {
            out.push_str(&format!("\n  at {first}"));
        }
        if places.len() > 1 {
            out.push_str(&format!(" (and {} more)", places.len() - 1));
        }
        out.push('\n');
    }
    out
}

fn write(out: &mut String, diagnostic: &Diagnostic, snippets: &mut Snippets<'_>, style: Style) {
    let diagnostic = &*snippets.presentable(diagnostic);
    let (role, word) = match diagnostic.severity {
        Severity::Error => (Role::Error, "Error: "),
        Severity::Warning => (Role::Warning, "Warning: "),
    };
    // room for the border
    let width = style.width.map(|w| w.saturating_sub(2).max(20));
    let mut lines = vec![format!(
        "{}{}",
        style.paint(role, word),
        style.paint(Role::Strong, &diagnostic.summary)
    )];
    lines.push(String::new());
    match snippets.of(diagnostic) {
        Some(snippet) => {
            push_snippet(&mut lines, diagnostic, &snippet, style);
            lines.push(String::new());
        }
        None => {
            if let Some(address) = &diagnostic.address {
                lines.push(format!("  with {address}"));
                lines.push(String::new());
            }
        }
    }
    if !diagnostic.detail.is_empty() {
        lines.extend(wrap(&diagnostic.detail, width));
        lines.push(String::new());
    }
    for hint in &diagnostic.hints {
        lines.extend(wrap(&format!("Hint: {hint}"), width));
        lines.push(String::new());
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    if style.boxes {
        out.push_str(&style.paint(role, "╷"));
        out.push('\n');
        for line in lines {
            out.push_str(&style.paint(role, "│"));
            if !line.is_empty() {
                out.push(' ');
                out.push_str(&line);
            }
            out.push('\n');
        }
        out.push_str(&style.paint(role, "╵"));
        out.push('\n');
    } else {
        for line in std::iter::once(String::new()).chain(lines) {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
}

fn push_snippet(lines: &mut Vec<String>, diagnostic: &Diagnostic, snippet: &Snippet, style: Style) {
    if let Some(address) = &diagnostic.address {
        lines.push(format!("  with {address},"));
    }
    let mut place = format!("  on {} line {}", snippet.file, snippet.start.line);
    if let Some(context) = &snippet.context {
        place.push_str(", in ");
        place.push_str(context);
    }
    place.push(':');
    lines.push(place);
    if snippet.lines.is_empty() {
        lines.push("  (not shown: values may be secrets)".to_owned());
    }
    let digits = (snippet.first_line as usize + snippet.lines.len())
        .to_string()
        .len()
        .max(2);
    let cut = snippet.lines.len() > MOST_LINES;
    let mut before = 0;
    for (i, line) in snippet.lines.iter().enumerate() {
        let number = snippet.first_line as usize + i;
        let marked = part(line, before, &snippet.highlight);
        before += line.len() + 1;
        if cut && i >= MOST_LINES / 2 && i + MOST_LINES / 2 < snippet.lines.len() {
            if i == MOST_LINES / 2 {
                let left_out = snippet.lines.len() - 2 * (MOST_LINES / 2);
                lines.push(format!("  {:digits$}  ... {left_out} lines", ""));
            }
            continue;
        }
        let gutter = style.paint(Role::Faint, &format!("{number:>digits$}:"));
        // room for the border, the gutter and the space around it
        let room = style
            .width
            .map_or(WIDEST_LINE, |w| w.saturating_sub(digits + 8).max(20));
        let shown = Shown::of(line, marked, room);
        let Some((start, end)) = shown.marked else {
            lines.push(format!("  {gutter} {}", shown.text));
            continue;
        };
        let (line, at_end) = (&shown.text, start >= shown.text.len());
        if style.colour && !at_end {
            let painted = style.paint(Role::Offending, &line[start..end]);
            lines.push(format!(
                "  {gutter} {}{painted}{}",
                &line[..start],
                &line[end..]
            ));
            continue;
        }
        lines.push(format!("  {gutter} {line}"));
        // tabs stay tabs, so that the marks stand below what they mean
        let mut indent = String::new();
        for (i, part) in line[..start].split('\t').enumerate() {
            if i > 0 {
                indent.push('\t');
            }
            indent.push_str(&" ".repeat(part.width()));
        }
        let marks = "^".repeat(line[start..end].width().max(1));
        lines.push(format!(
            "  {:digits$}  {indent}{}",
            "",
            style.paint(Role::Error, &marks)
        ));
    }
    for value in &diagnostic.values {
        lines.push(format!("    {} {}", value.traversal, value.statement));
    }
    if let Some(call) = diagnostic
        .function_call
        .as_ref()
        .filter(|c| !c.signature.is_empty())
    {
        lines.push(format!("    the function is {}", call.signature));
    }
}

/// A line as it can be shown, and which of its bytes are meant.
struct Shown {
    text: String,
    marked: Option<(usize, usize)>,
}

impl Shown {
    /// Cuts a line that is wider than the room there is, around what is meant in it, and replaces what
    /// would move the cursor.
    fn of(line: &str, marked: Option<(usize, usize)>, room: usize) -> Self {
        let mut shown = Self {
            text: line.to_owned(),
            marked,
        };
        if line.width() > room {
            shown = shown.cut(room);
        }
        if shown.text.contains(is_control) {
            // of the same length in bytes, so that the mark stays where it is: all of these are one
            // byte in UTF-8 but for the second range, which two bytes take the place of
            shown.text = shown
                .text
                .chars()
                .map(|c| match c {
                    c if !is_control(c) => c,
                    c if c.len_utf8() == 1 => '?',
                    _ => '\u{b7}',
                })
                .collect();
        }
        shown
    }

    fn cut(self, room: usize) -> Self {
        let line = self.text;
        let (start, end) = self.marked.unwrap_or((0, 0));
        // a third of the room before what is meant, the rest for it and what follows
        let mut from = start;
        let mut used = 0;
        for c in line[..start].chars().rev() {
            used += c.width().unwrap_or(1);
            if used > room / 3 {
                break;
            }
            from -= c.len_utf8();
        }
        if from <= ELLIPSIS.len() {
            from = 0;
        }
        let mut to = from;
        used = 0;
        for c in line[from..].chars() {
            used += c.width().unwrap_or(1);
            if used > room.saturating_sub(2) {
                break;
            }
            to += c.len_utf8();
        }
        let before = if from > 0 { ELLIPSIS } else { "" };
        let after = if to < line.len() { ELLIPSIS } else { "" };
        let shift = |at: usize| before.len() + at.clamp(from, to) - from;
        Self {
            marked: self.marked.map(|_| (shift(start), shift(end))),
            text: format!("{before}{}{after}", &line[from..to]),
        }
    }
}

/// Stands for what was cut off.
const ELLIPSIS: &str = "…";

/// Whether a character does something to a terminal instead of being shown.
fn is_control(c: char) -> bool {
    c.is_control() && c != '\t'
}

/// Which bytes of a line, `before` bytes into the text, are meant: leading white space is not.
fn part(line: &str, before: usize, highlight: &std::ops::Range<usize>) -> Option<(usize, usize)> {
    if highlight.end <= before && highlight.start < before {
        return None;
    }
    let boundary = |mut at: usize| {
        while !line.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = highlight
        .start
        .checked_sub(before)
        .unwrap_or_else(|| line.len() - line.trim_start().len());
    if start > line.len() {
        return None;
    }
    let start = boundary(start);
    let end = boundary(
        highlight
            .end
            .saturating_sub(before)
            .clamp(start, line.len()),
    );
    // the end of a subject of several lines may reach just into a line
    (end > start || highlight.start >= before).then_some((start, end))
}
