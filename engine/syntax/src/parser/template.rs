//! Templates: first a flat list of pieces, on which strip markers and indentation work, then the tree
//! of directives, built with a stack of its own so that directives may be nested deeply.

use super::Parser;
use super::expression::Named;
use super::literal::{multi_line_string, unterminated_string};
use crate::MAX_NESTING;
use crate::expression::{Expression, ExpressionKind as K};
use crate::scanner::{Token, TokenKind as T};
use crate::template::{Template, TemplateFlavour, TemplatePart, TemplateParts};
use formwork_diagnostics::{Diagnostic, SourceRange};
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

/// A piece of a template, in order of the text.
enum Piece {
    Literal(String),
    Interpolation(Expression),
    If(Expression),
    Else,
    EndIf,
    For {
        key: Option<Named>,
        value: Named,
        collection: Expression,
    },
    EndFor,
    /// A directive that could not be read.
    Broken,
}

type Placed = (Piece, SourceRange);

impl Parser<'_> {
    /// A string in quotes or a heredoc; its opening is next.
    pub(super) fn quoted_template(&mut self) -> Expression {
        let open = self.read();
        if open.kind == T::OpenQuote
            && let Some(value) = self.plain_quoted()
        {
            return Expression::new(K::String(value), self.range(open.start, self.read_to));
        }
        let (closer, flavour) = if open.kind == T::OpenQuote {
            (T::CloseQuote, TemplateFlavour::Quoted)
        } else {
            (T::CloseHeredoc, TemplateFlavour::Heredoc)
        };
        let before = self.mistakes;
        let (mut pieces, closed) = self.pieces(closer);
        if !closed {
            return self.unclosed(open);
        }
        if self.bytes(open).starts_with(b"<<-") {
            strip_indentation(&mut pieces);
        }
        let range = self.range(open.start, self.read_to);
        let sound = before == self.mistakes;
        self.template(pieces, flavour, range, sound)
    }

    /// A whole text that is a template.
    pub(super) fn bare_template(&mut self) -> Expression {
        let (pieces, _) = self.pieces(T::End);
        let range = self.range(0, self.end_of_text());
        self.template(pieces, TemplateFlavour::Bare, range, true)
    }

    /// Reports a string without end. A line break within quotes has been reported already.
    fn unclosed(&mut self, open: Token) -> Expression {
        let at = self.tokens[self.at.saturating_sub(1)];
        if at.kind != T::QuotedNewline {
            let mut diagnostic = unterminated_string().at(self.token_range(open));
            if open.kind == T::OpenHeredoc {
                let marker = String::from_utf8_lossy(self.bytes(open));
                let marker = marker.trim_start_matches(['<', '-']).trim();
                diagnostic = diagnostic.hint(format!(
                    "A line that holds nothing but {marker} ends it; if that is the last line of the \
                     file, it needs a line break after it."
                ));
            }
            self.report(diagnostic);
        }
        let invalid = self.invalid(open.start);
        // What was swallowed cannot be told from what was meant as text: the line is the best guess.
        self.recovery = true;
        invalid
    }

    /// The pieces up to the closing token, which is read, and whether it was found.
    fn pieces(&mut self, closer: T) -> (Vec<Placed>, bool) {
        let mut pieces: Vec<Placed> = Vec::new();
        let mut strip_next = false;
        let mut told_newline = false;
        loop {
            let token = self.tokens[self.at];
            let strip = std::mem::replace(&mut strip_next, false);
            if token.kind == closer {
                self.read_raw(token);
                return (pieces, true);
            }
            match token.kind {
                T::QuotedText | T::Text => {
                    self.read_raw(token);
                    let mut text = String::new();
                    self.unescape(token, &mut text);
                    if strip {
                        text.drain(..text.len() - text.trim_start().len());
                    }
                    pieces.push((Piece::Literal(text), self.token_range(token)));
                }
                T::OpenInterpolation | T::OpenDirective => {
                    if token.end - token.start == 3 {
                        strip_last(&mut pieces);
                    }
                    self.read_raw(token);
                    let piece = self.with_newlines(false, |p| {
                        if token.kind == T::OpenInterpolation {
                            p.interpolation()
                        } else {
                            p.directive()
                        }
                    });
                    let close = if self.recovery {
                        self.skip_to(T::CloseSequence)
                    } else {
                        self.with_newlines(false, |p| p.read_if(T::CloseSequence))
                    };
                    strip_next = close.is_some_and(|close| close.end - close.start == 2);
                    pieces.push((piece, self.range(token.start, self.read_to)));
                    if close.is_none() {
                        return (pieces, self.abandon(closer));
                    }
                }
                T::QuotedNewline => {
                    if !told_newline {
                        self.report(multi_line_string().at(self.token_range(token)));
                        told_newline = true;
                    }
                    self.read_raw(token);
                    if token.start == token.end {
                        // The scanner takes the string to end here.
                        return (pieces, false);
                    }
                }
                // Reported when they were scanned.
                T::BadEncoding | T::Strange => self.read_raw(token),
                _ => return (pieces, false),
            }
        }
    }

    /// The rest of a string in quotes if it is nothing but text without escapes, as most are.
    pub(super) fn plain_quoted(&mut self) -> Option<Arc<str>> {
        let text = self.tokens[self.at];
        if text.kind != T::QuotedText
            || self.tokens.get(self.at + 1)?.kind != T::CloseQuote
            || self.bytes(text).contains(&b'\\')
            || matches!(self.bytes(text), b"$${" | b"%%{")
        {
            return None;
        }
        self.read_to = self.tokens[self.at + 1].end;
        self.at += 2;
        Some(self.name(text))
    }

    /// Reads a token of a template, where no token is hidden.
    fn read_raw(&mut self, token: Token) {
        if token.kind != T::End {
            self.at += 1;
        }
        self.read_to = token.end;
    }

    /// The end of a sequence is lost: goes on after the string if that can be found.
    fn abandon(&mut self, closer: T) -> bool {
        self.recovery = true;
        self.skip_to(closer).is_some()
    }

    fn interpolation(&mut self) -> Piece {
        let before = self.diagnostics.len();
        let expression = self.expression();
        if self.recovery
            && self.diagnostics.len() > before
            && let Some(last) = self.diagnostics.last_mut()
            && last.summary == "Invalid expression"
            && last.hints.is_empty()
        {
            last.hints.push(
                "If ${...} is meant for a shell or another program, write $${ to keep it as it is."
                    .to_owned(),
            );
        }
        if !self.recovery {
            let next = self.peek();
            match next.kind {
                T::CloseSequence => {}
                T::End | T::OpenQuote => {
                    self.unexpected(
                        "Unclosed template interpolation sequence",
                        "The closing brace of the interpolation is expected here. Quotes within it \
                         begin a string of its own.",
                        next,
                    );
                    self.is_lost = true;
                }
                T::Colon => self.unexpected(
                    "Extra characters after interpolation expression",
                    "The closing brace of the interpolation is expected here. If ${...:...} is meant \
                     for a shell or another program, write $${ to keep it as it is.",
                    next,
                ),
                _ => self.unexpected(
                    "Extra characters after interpolation expression",
                    "The closing brace of the interpolation is expected here. If ${...} is meant for \
                     a shell or another program, write $${ to keep it as it is.",
                    next,
                ),
            }
        }
        Piece::Interpolation(expression)
    }

    fn directive(&mut self) -> Piece {
        let word = self.peek();
        if word.kind != T::Identifier {
            self.unexpected(
                "Invalid template directive",
                "One of if, else, endif, for and endfor is expected after %{. For a literal %{, write \
                 %%{.",
                word,
            );
            return Piece::Broken;
        }
        self.read();
        let piece = match self.bytes(word) {
            b"if" => Piece::If(self.expression()),
            b"else" => Piece::Else,
            b"endif" => Piece::EndIf,
            b"endfor" => Piece::EndFor,
            b"for" => match self.for_names("Invalid 'for' directive") {
                Some((key, value)) => Piece::For {
                    key,
                    value,
                    collection: self.expression(),
                },
                None => Piece::Broken,
            },
            other => {
                let detail = format!(
                    "\"{}\" is no template directive. Known are if, else, endif, for and endfor; for \
                     a literal %{{, write %%{{.",
                    String::from_utf8_lossy(other)
                );
                self.unexpected("Invalid template control keyword", detail, word);
                Piece::Broken
            }
        };
        if !self.recovery {
            let next = self.peek();
            if next.kind != T::CloseSequence {
                let summary = format!(
                    "Extra characters in {} marker",
                    String::from_utf8_lossy(self.bytes(word))
                );
                self.unexpected(
                    &summary,
                    "The closing brace of the directive is expected here.",
                    next,
                );
            }
        }
        piece
    }

    /// The expression that the pieces make.
    fn template(
        &mut self,
        pieces: Vec<Placed>,
        flavour: TemplateFlavour,
        range: SourceRange,
        sound: bool,
    ) -> Expression {
        if let [(Piece::Interpolation(inner), _)] = pieces.as_slice() {
            return Expression::new(K::TemplateWrap(inner.clone()), range);
        }
        let parts = self.parts(pieces, sound);
        let kind = match parts.as_slice() {
            [] => K::String("".into()),
            [TemplatePart::Literal { value, .. }] => K::String(value.clone()),
            _ => K::Template(Template {
                flavour,
                parts: parts.into(),
            }),
        };
        Expression::new(kind, range)
    }

    /// Nests the pieces by their directives. If some piece is broken (not `sound`), directives that
    /// do not match are no news.
    fn parts(&mut self, pieces: Vec<Placed>, sound: bool) -> Vec<TemplatePart> {
        let broken = pieces.iter().any(|(p, _)| matches!(p, Piece::Broken));
        let mut tell = sound && !broken && !self.recovery;
        let mut stack: Vec<Open> = Vec::new();
        let mut parts = Parts::default();
        for (piece, range) in pieces {
            match piece {
                Piece::Literal(text) => parts.literal(&text, range),
                Piece::Interpolation(expression) => {
                    parts.push(TemplatePart::Interpolation { expression, range });
                }
                Piece::Broken => {}
                Piece::If(condition) => {
                    if !self.room_for_directive(&stack, range) {
                        tell = false;
                        break;
                    }
                    let outer = std::mem::take(&mut parts);
                    let kind = OpenKind::If {
                        condition,
                        then: None,
                    };
                    stack.push(Open { kind, range, outer });
                }
                Piece::For {
                    key,
                    value,
                    collection,
                } => {
                    if !self.room_for_directive(&stack, range) {
                        tell = false;
                        break;
                    }
                    let outer = std::mem::take(&mut parts);
                    let kind = OpenKind::For {
                        key,
                        value,
                        collection,
                    };
                    stack.push(Open { kind, range, outer });
                }
                Piece::Else => match stack.last_mut().map(|open| &mut open.kind) {
                    Some(OpenKind::If { then, .. }) if then.is_none() => {
                        *then = Some(std::mem::take(&mut parts).finish().into());
                    }
                    Some(OpenKind::If { .. }) => {
                        self.unbalanced(tell, "else", "This if already has an else.", range);
                    }
                    Some(OpenKind::For { .. }) => {
                        self.unbalanced(tell, "else", "A for has no else.", range);
                    }
                    None => self.unbalanced(tell, "else", "There is no if before it.", range),
                },
                Piece::EndIf | Piece::EndFor => {
                    let ends_if = matches!(piece, Piece::EndIf);
                    let word = if ends_if { "endif" } else { "endfor" };
                    match stack.pop() {
                        Some(open) => {
                            if matches!(open.kind, OpenKind::If { .. }) != ends_if {
                                let other = if ends_if { "a for" } else { "an if" };
                                let detail = format!("The directive that is open here is {other}.");
                                self.unbalanced(tell, word, &detail, range);
                            }
                            parts = open.end(parts, range);
                        }
                        None => {
                            let detail = "There is no open directive that it could end.";
                            self.unbalanced(tell, word, detail, range);
                        }
                    }
                }
            }
        }
        while let Some(open) = stack.pop() {
            if tell {
                let word = match open.kind {
                    OpenKind::If { .. } => "if",
                    OpenKind::For { .. } => "for",
                };
                self.report(
                    Diagnostic::error(
                        "Unexpected end of template",
                        format!(
                            "This {word} directive has no %{{ end{word} }} before the template ends."
                        ),
                    )
                    .at(open.range),
                );
            }
            let end = open.range;
            parts = open.end(parts, end);
        }
        parts.finish()
    }

    fn room_for_directive(&mut self, stack: &[Open], range: SourceRange) -> bool {
        let room = stack.len() < MAX_NESTING as usize;
        if !room {
            self.report(
                Diagnostic::error(
                    "Nesting too deep",
                    format!("Directives may stand in each other {MAX_NESTING} deep."),
                )
                .at(range),
            );
        }
        room
    }

    fn unbalanced(&mut self, tell: bool, word: &str, detail: &str, range: SourceRange) {
        if tell {
            let summary = format!("Unexpected {word} directive");
            self.report(Diagnostic::error(summary, detail).at(range));
        }
    }
}

/// A directive whose end has not been met.
struct Open {
    kind: OpenKind,
    range: SourceRange,
    /// The parts before it.
    outer: Parts,
}

enum OpenKind {
    If {
        condition: Expression,
        then: Option<TemplateParts>,
    },
    For {
        key: Option<Named>,
        value: Named,
        collection: Expression,
    },
}

impl Open {
    /// The parts before it with itself added, `inner` being what stands before its end.
    fn end(self, inner: Parts, end: SourceRange) -> Parts {
        let inner = TemplateParts::from(inner.finish());
        let range = self.range.to(end);
        let part = match self.kind {
            OpenKind::If {
                condition,
                then: None,
            } => TemplatePart::If {
                condition,
                then: inner,
                otherwise: None,
                range,
            },
            OpenKind::If {
                condition,
                then: Some(then),
            } => TemplatePart::If {
                condition,
                then,
                otherwise: Some(inner),
                range,
            },
            OpenKind::For {
                key,
                value,
                collection,
            } => TemplatePart::For {
                key,
                value,
                collection,
                body: inner,
                range,
            },
        };
        let mut parts = self.outer;
        parts.push(part);
        parts
    }
}

/// Parts being gathered; adjacent literals are merged, empty ones dropped.
#[derive(Default)]
struct Parts {
    done: Vec<TemplatePart>,
    literal: String,
    literal_range: Option<SourceRange>,
}

impl Parts {
    fn literal(&mut self, text: &str, range: SourceRange) {
        if text.is_empty() {
            return;
        }
        self.literal.push_str(text);
        self.literal_range = Some(self.literal_range.map_or(range, |r| r.to(range)));
    }

    fn push(&mut self, part: TemplatePart) {
        self.end_literal();
        self.done.push(part);
    }

    fn end_literal(&mut self) {
        if let Some(range) = self.literal_range.take() {
            let value = std::mem::take(&mut self.literal).into();
            self.done.push(TemplatePart::Literal { value, range });
        }
    }

    fn finish(mut self) -> Vec<TemplatePart> {
        self.end_literal();
        self.done
    }
}

/// `${~` and `%{~` take the blanks off the end of the piece before, if that is text.
fn strip_last(pieces: &mut [Placed]) {
    if let Some((Piece::Literal(text), _)) = pieces.last_mut() {
        text.truncate(text.trim_end().len());
    }
}

/// Takes the common indentation off a `<<-` document.
///
/// Facts: only pieces that begin a line count, and strip markers have worked already; a line that
/// begins with a sequence has no indentation; blank lines count for nothing and stay as they are;
/// indentation is measured in grapheme clusters.
fn strip_indentation(pieces: &mut [Placed]) {
    let mut least = usize::MAX;
    let mut line_start = true;
    let mut indented = Vec::new();
    for (index, (piece, _)) in pieces.iter().enumerate() {
        let text = match piece {
            Piece::Literal(text) => Some(text.as_str()),
            _ => None,
        };
        if line_start {
            line_start = false;
            match text {
                Some(text) => {
                    let blanks = &text[..text.len() - text.trim_start().len()];
                    if blanks.len() < text.len() || !text.ends_with('\n') {
                        least = least.min(blanks.graphemes(true).count());
                        indented.push(index);
                    }
                }
                None => least = 0,
            }
        }
        if text.is_some_and(|text| text.ends_with('\n')) {
            line_start = true;
        }
    }
    for index in indented {
        if let Some((Piece::Literal(text), _)) = pieces.get_mut(index) {
            let bytes: usize = text.graphemes(true).take(least).map(str::len).sum();
            text.drain(..bytes);
        }
    }
}
