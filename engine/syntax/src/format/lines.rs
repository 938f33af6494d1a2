//! Lines, their indentation, and the columns of equals signs and comments.

use super::spacing::space_between;
use super::{Word, bracket_change};
use crate::scanner::TokenKind as T;
use std::ops::Range;

/// A line as ranges of words: what leads, an assignment, and a trailing comment.
struct Line {
    lead: Range<usize>,
    /// The equals sign and the value after it, if the value ends on the line; else empty.
    assign: Range<usize>,
    /// The trailing line comment, if any; else empty.
    comment: Range<usize>,
}

pub(super) fn lay_out(words: &mut [Word<'_>]) {
    let lines = lines(words);
    indent(words, &lines);
    space(words, &lines);
    align(
        words,
        &lines,
        |line| &line.assign,
        |line| line.lead.start..line.lead.end,
    );
    align(
        words,
        &lines,
        |line| &line.comment,
        |line| line.lead.start..line.comment.start,
    );
}

fn lines(words: &[Word<'_>]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (at, word) in words.iter().enumerate() {
        if word.ends_line() {
            lines.push(line(words, start..at + 1));
            start = at + 1;
        }
    }
    if start < words.len() {
        lines.push(line(words, start..words.len()));
    }
    lines
}

fn line(words: &[Word<'_>], all: Range<usize>) -> Line {
    let mut lead = all.clone();
    if all.len() > 1 && is_comment(words[all.end - 1].kind) {
        lead.end -= 1;
    }
    let comment = lead.end..all.end;
    let mut assign = lead.end..lead.end;
    let equals = lead.clone().skip(1).find(|at| words[*at].kind == T::Assign);
    if let Some(equals) = equals {
        let open: isize = words[equals..lead.end]
            .iter()
            .map(|w| bracket_change(w.kind))
            .sum();
        if open == 0 {
            assign.start = equals;
            lead.end = equals;
        }
    }
    Line {
        lead,
        assign,
        comment,
    }
}

fn is_comment(kind: T) -> bool {
    matches!(kind, T::LineComment | T::InlineComment)
}

/// Brackets a run of words leaves open, or closes beyond those it opens. What follows the start of a
/// heredoc is text, mostly, and does not count.
fn net_brackets(words: &[Word<'_>]) -> isize {
    words
        .iter()
        .take_while(|w| w.kind != T::OpenHeredoc)
        .map(|w| bracket_change(w.kind))
        .sum()
}

fn indent(words: &mut [Word<'_>], lines: &[Line]) {
    // How many brackets each level of indentation stands for.
    let mut levels: Vec<usize> = Vec::new();
    for line in lines {
        let Some(first) = words.get(line.lead.start).map(|w| w.kind) else {
            continue;
        };
        if line.lead.is_empty() {
            continue;
        }
        if first == T::Newline {
            words[line.lead.start].spaces = 0;
            continue;
        }
        let net =
            net_brackets(&words[line.lead.clone()]) + net_brackets(&words[line.assign.clone()]);
        if net < 0 {
            close_levels(&mut levels, net.unsigned_abs());
        }
        words[line.lead.start].spaces = 2 * levels.len();
        if net > 0 {
            levels.push(net.unsigned_abs());
        }
    }
}

/// Takes `closed` brackets off the innermost levels.
fn close_levels(levels: &mut Vec<usize>, mut closed: usize) {
    while closed > 0 {
        let Some(last) = levels.last_mut() else {
            return;
        };
        if closed < *last {
            *last -= closed;
            return;
        }
        closed -= *last;
        levels.pop();
    }
}

fn space(words: &mut [Word<'_>], lines: &[Line]) {
    for line in lines {
        for cell in [&line.lead, &line.assign] {
            for at in cell.clone().skip(1) {
                // The word before the pair tells a sign from a subtraction; cells stand alone.
                let before = at.checked_sub(2).filter(|b| *b >= cell.start);
                let before = before.map(|b| words[b].kind);
                let space = space_between(before, &words[at - 1], words[at].kind);
                words[at].spaces = usize::from(space);
            }
        }
        if !line.assign.is_empty() {
            words[line.assign.start].spaces = 1;
        }
    }
}

/// Puts one cell of successive lines that all have it into one column, one space beyond the widest of
/// what stands before it.
fn align(
    words: &mut [Word<'_>],
    lines: &[Line],
    cell: fn(&Line) -> &Range<usize>,
    before: fn(&Line) -> Range<usize>,
) {
    let mut chain: Vec<(usize, usize)> = Vec::new();
    for line in lines {
        let cell = cell(line);
        if cell.is_empty() {
            close_chain(words, &mut chain);
            continue;
        }
        let width = words[before(line)].iter().map(Word::width).sum();
        chain.push((cell.start, width));
    }
    close_chain(words, &mut chain);
}

fn close_chain(words: &mut [Word<'_>], chain: &mut Vec<(usize, usize)>) {
    let widest = chain.iter().map(|(_, width)| *width).max().unwrap_or(0);
    for (at, width) in chain.drain(..) {
        words[at].spaces = widest - width + 1;
    }
}
