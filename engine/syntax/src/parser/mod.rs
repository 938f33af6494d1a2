//! Tokens to tree: recursive descent with recovery.
//!
//! After an error the parser is *in recovery*: it has lost its place, says nothing further and leaves
//! constructs early, until the nearest enclosing bracket or line finds the place again by skipping to
//! its own end ([`Parser::skip_to`], [`Parser::skip_line`]). So one mistake gives one diagnostic, and
//! the rest of the file is still read. A skip never runs over the closing brace of an enclosing
//! construct, nor over a line that begins an argument or block in the first column: a forgotten
//! parenthesis costs its block, not the file.
//!
//! Line breaks end arguments but mean nothing within brackets: `newlines` says which holds, and
//! [`Parser::peek`] hides what does not count.

mod body;
mod expression;
mod literal;
mod template;

use crate::body::Body;
use crate::expression::{Expression, ExpressionKind};
use crate::scanner::{ScanMode, Token, TokenKind, scan};
use crate::traversal::Traversal;
use crate::{MAX_DIAGNOSTICS, MAX_NESTING, OffsetMap, on_deep_stack};
use formwork_diagnostics::{Checked, Diagnostic, Diagnostics, FileId, SourceRange};
use rustc_hash::FxHashMap;
use std::sync::Arc;

pub(crate) struct Parser<'a> {
    text: &'a [u8],
    file: FileId,
    offsets: &'a OffsetMap,
    tokens: Vec<Token>,
    at: usize,
    /// Whether line breaks count at present.
    newlines: bool,
    /// Whether the place has been lost and not found again.
    recovery: bool,
    /// Whether quotes no longer match, so that what follows is told apart wrongly into text and names:
    /// nothing more is said.
    is_lost: bool,
    depth: u32,
    /// End of the last token read.
    read_to: u32,
    names: FxHashMap<&'a [u8], Arc<str>>,
    diagnostics: Vec<Diagnostic>,
    /// Mistakes met so far, told or not.
    mistakes: usize,
}

pub(crate) fn parse(file: FileId, text: &[u8]) -> Checked<Body> {
    let (body, _, diagnostics) = parse_keeping_tokens(file, text);
    (body, diagnostics)
}

/// The same, with the tokens, for whoever works on both.
pub(crate) fn parse_keeping_tokens(file: FileId, text: &[u8]) -> (Body, Vec<Token>, Diagnostics) {
    let mut parser = Parser::new(file, text, ScanMode::Code, OffsetMap::PLAIN);
    parser.newlines = true;
    let end = parser.end_of_text();
    let (attributes, blocks) = parser.items(None);
    let whole = parser.range(0, end);
    let body = Body::new(attributes, blocks, whole, parser.range(end, end));
    let tokens = std::mem::take(&mut parser.tokens);
    (body, tokens, parser.finish())
}

pub(crate) fn parse_expression(
    file: FileId,
    text: &[u8],
    offsets: &OffsetMap,
) -> Checked<Expression> {
    let mut parser = Parser::new(file, text, ScanMode::Code, offsets);
    // As an argument would be read: a line break outside brackets ends it.
    parser.newlines = true;
    while parser.peek().kind == TokenKind::Newline {
        parser.read();
    }
    let expression = parser.expression();
    while parser.peek().kind == TokenKind::Newline {
        parser.read();
    }
    let next = parser.peek();
    if next.kind != TokenKind::End {
        let said = "The text goes on after the end of the expression. One expression is expected here; \
                    if it spans several lines, put it in parentheses.";
        parser.unexpected("Extra characters after expression", said, next);
    }
    (expression, parser.finish())
}

pub(crate) fn parse_template(
    file: FileId,
    text: &[u8],
    offsets: &OffsetMap,
) -> Checked<Expression> {
    let mut parser = Parser::new(file, text, ScanMode::Template, offsets);
    let expression = parser.bare_template();
    (expression, parser.finish())
}

pub(crate) fn parse_traversal(
    file: FileId,
    text: &[u8],
    offsets: &OffsetMap,
) -> Checked<Option<Traversal>> {
    let (expression, mut diagnostics) = parse_expression(file, text, offsets);
    let traversal = expression.as_traversal();
    if traversal.is_none() && !diagnostics.has_errors() {
        diagnostics.push(
            Diagnostic::error(
                "Invalid reference",
                "A reference is a name followed by attribute names and literal indexes, such as \
                 aws_instance.web[0].id. Anything that must be calculated is not allowed here.",
            )
            .at(expression.range()),
        );
    }
    (traversal, diagnostics)
}

impl<'a> Parser<'a> {
    fn new(file: FileId, text: &'a [u8], mode: ScanMode, offsets: &'a OffsetMap) -> Self {
        let mut parser = Self {
            text,
            file,
            offsets,
            tokens: Vec::new(),
            at: 0,
            newlines: false,
            recovery: false,
            is_lost: false,
            depth: 0,
            read_to: 0,
            names: FxHashMap::default(),
            diagnostics: Vec::new(),
            mistakes: 0,
        };
        if u32::try_from(text.len()).is_err() {
            parser.diagnostics.push(
                Diagnostic::error(
                    "File too large",
                    "This file is 4 GiB or more, too large to be configuration.",
                )
                .at(SourceRange::new(file, 0, 0)),
            );
            parser.text = &[];
        }
        parser.tokens = scan(parser.text, mode);
        // About one token in sixteen is a name that was not there before.
        parser.names.reserve(parser.tokens.len() / 16);
        parser.report_invalid_tokens();
        parser
    }

    /// The diagnostics in order of place.
    fn finish(self) -> Diagnostics {
        let mut all = self.diagnostics;
        all.sort_by_key(|d| d.subject.map_or(0, |r| r.start));
        if all.len() > MAX_DIAGNOSTICS {
            all.truncate(MAX_DIAGNOSTICS);
            all.push(
                Diagnostic::error(
                    "Too many errors",
                    format!(
                        "Only the first {MAX_DIAGNOSTICS} syntax errors of this file are shown. \
                         Correct those and run again."
                    ),
                )
                .at_opt(all.last().and_then(|d| d.subject)),
            );
        }
        all.into_iter().collect()
    }

    fn end_of_text(&self) -> u32 {
        self.tokens.last().map_or(0, |t| t.end)
    }

    fn range(&self, start: u32, end: u32) -> SourceRange {
        let (start, end) = self.offsets.map(start, end);
        SourceRange::new(self.file, start, end)
    }

    fn token_range(&self, token: Token) -> SourceRange {
        self.range(token.start, token.end)
    }

    fn bytes(&self, token: Token) -> &'a [u8] {
        &self.text[token.start as usize..token.end as usize]
    }

    /// The token's text, shared with all equal ones.
    fn name(&mut self, token: Token) -> Arc<str> {
        let bytes = self.bytes(token);
        self.names
            .entry(bytes)
            .or_insert_with(|| Arc::from(String::from_utf8_lossy(bytes)))
            .clone()
    }

    /// The next token that counts. A line comment stands for its line break.
    fn peek(&mut self) -> Token {
        loop {
            let token = self.tokens[self.at];
            match token.kind {
                TokenKind::InlineComment => {}
                TokenKind::LineComment | TokenKind::Newline => {
                    if self.newlines {
                        return Token {
                            kind: TokenKind::Newline,
                            ..token
                        };
                    }
                }
                _ => return token,
            }
            self.at += 1;
        }
    }

    fn read(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
            self.read_to = token.end;
        }
        token
    }

    fn read_if(&mut self, kind: TokenKind) -> Option<Token> {
        (self.peek().kind == kind).then(|| self.read())
    }

    /// Runs `inner` with line breaks counting or not, as said.
    fn with_newlines<R>(&mut self, count: bool, inner: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.newlines, count);
        let result = inner(self);
        self.newlines = before;
        result
    }

    /// Runs `inner` one level deeper, or reports that this is too deep and gives up on the text.
    fn nested<R>(&mut self, inner: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.depth > MAX_NESTING {
            let token = self.peek();
            let range = self.token_range(token);
            self.report(
                Diagnostic::error(
                    "Nesting too deep",
                    format!(
                        "Brackets, blocks, operators and conditionals may stand in each other \
                         {MAX_NESTING} deep; this goes deeper. Name parts of it as local values."
                    ),
                )
                .at(range),
            );
            // Said once: what comes after it in such a text is of no use to anybody.
            self.at = self.tokens.len().saturating_sub(1);
            self.recovery = true;
            return None;
        }
        self.depth += 1;
        let result = on_deep_stack(|| inner(self));
        self.depth -= 1;
        Some(result)
    }

    fn invalid(&self, start: u32) -> Expression {
        let range = self.range(start, self.read_to.max(start));
        Expression::new(ExpressionKind::Invalid, range)
    }

    /// Says something unless the place is lost or enough has been said.
    fn report(&mut self, diagnostic: Diagnostic) {
        self.mistakes += 1;
        if !self.recovery && !self.is_lost && !self.has_said_enough() {
            self.diagnostics.push(diagnostic);
        }
    }

    fn has_said_enough(&self) -> bool {
        // Some more than will be shown, so that the first in order of place are among them.
        self.diagnostics.len() >= 2 * MAX_DIAGNOSTICS
    }

    /// Reports that `token` fits nowhere here, and loses the place. Tokens that are valid nowhere
    /// have been reported when they were scanned.
    fn unexpected(&mut self, summary: &str, detail: impl Into<String>, token: Token) {
        self.mistakes += 1;
        if !token.kind.is_invalid() {
            let range = self.token_range(token);
            self.report(Diagnostic::error(summary, detail).at(range));
        }
        self.recovery = true;
    }

    /// Skips to the end of the enclosing bracket and past its `closer`, if it can be found.
    fn skip_to(&mut self, closer: TokenKind) -> Option<Token> {
        let mut level = 0u32;
        loop {
            let token = self.tokens[self.at];
            if token.kind == TokenKind::End || self.begins_item(self.at) {
                return None;
            }
            if level == 0 && token.kind == closer {
                self.at += 1;
                self.read_to = token.end;
                self.recovery = false;
                return Some(token);
            }
            if opens(token.kind) {
                level += 1;
            } else if closes(token.kind) {
                if level == 0 {
                    return None;
                }
                level -= 1;
            }
            self.at += 1;
        }
    }

    /// Skips to the end of the line on which an item ends and past its line break; stops before a
    /// brace that closes the enclosing block.
    fn skip_line(&mut self, in_block: bool) {
        let mut level = 0u32;
        loop {
            let token = self.tokens[self.at];
            match token.kind {
                TokenKind::End => break,
                TokenKind::Newline | TokenKind::LineComment if level == 0 => {
                    self.at += 1;
                    break;
                }
                TokenKind::CloseBrace if level == 0 && in_block => break,
                kind if opens(kind) => level += 1,
                kind if closes(kind) => level = level.saturating_sub(1),
                _ => {
                    if level > 0 && self.begins_item(self.at) {
                        break;
                    }
                }
            }
            self.at += 1;
        }
        self.recovery = false;
    }

    /// Whether the token begins, in the first column, what looks like an argument or block.
    fn begins_item(&self, at: usize) -> bool {
        let token = self.tokens[at];
        token.kind == TokenKind::Identifier
            && token.start > 0
            && self.text[token.start as usize - 1] == b'\n'
            && self.tokens.get(at + 1).is_some_and(|next| {
                use TokenKind as T;
                matches!(
                    next.kind,
                    T::Identifier | T::OpenQuote | T::OpenBrace | T::Assign
                )
            })
    }

    fn report_invalid_tokens(&mut self) {
        use TokenKind as T;
        let mut told = Vec::new();
        let mut found = Vec::new();
        let mut curly: Option<Token> = None;
        for token in &self.tokens {
            if !token.kind.is_invalid() || token.kind == T::QuotedNewline {
                continue;
            }
            if is_curly_quote(self.bytes(*token)) {
                // one quotes with two of them
                let again = curly.replace(*token).is_some_and(|before| {
                    let between = self.text.get(before.end as usize..token.start as usize);
                    between.is_some_and(|b| !b.contains(&b'\n'))
                });
                if again {
                    continue;
                }
            }
            // A wrong habit is explained once; each strange character is shown.
            if token.kind != T::Strange && told.contains(&token.kind) {
                continue;
            }
            told.push(token.kind);
            found.push(*token);
            if found.len() > MAX_DIAGNOSTICS {
                break;
            }
        }
        for token in found {
            let (summary, detail) = self.describe_invalid(token);
            let range = self.token_range(token);
            self.report(Diagnostic::error(summary, detail).at(range));
        }
        if std::str::from_utf8(self.text).is_err() {
            self.report_bad_comments();
        }
    }

    /// Bytes that are no UTF-8 do no harm in a comment, but the user should know.
    fn report_bad_comments(&mut self) {
        let bad = self.tokens.iter().find_map(|t| {
            let comment = matches!(t.kind, TokenKind::InlineComment | TokenKind::LineComment);
            let error = std::str::from_utf8(self.bytes(*t)).err()?;
            #[allow(clippy::cast_possible_truncation)] // within a text shorter than 4 GiB
            comment.then(|| t.start + error.valid_up_to() as u32)
        });
        if let Some(at) = bad {
            let range = self.range(at, at + 1);
            self.report(
                Diagnostic::warning(
                    "Invalid character encoding",
                    "This comment holds bytes that are not UTF-8. They are kept as they are; save \
                     the file as UTF-8 so that every tool can read it.",
                )
                .at(range),
            );
        }
    }

    fn describe_invalid(&self, token: Token) -> (&'static str, String) {
        use TokenKind as T;
        let text = String::from_utf8_lossy(self.bytes(token));
        match token.kind {
            T::Ampersand => bitwise("&", "For \"and\" of two conditions, write &&."),
            T::Pipe => bitwise("|", "For \"or\" of two conditions, write ||."),
            T::Tilde => bitwise("~", "To negate a condition, write !."),
            T::Caret => bitwise("^", "For a power, call pow(base, exponent)."),
            T::StarStar => (
                "Unsupported operator",
                "There is no operator ** here. For a power, call pow(base, exponent).".to_owned(),
            ),
            T::Apostrophe => (
                "Invalid character",
                "Single quotes do not enclose strings here. Use double quotes.".to_owned(),
            ),
            T::Backtick => (
                "Invalid character",
                "Backticks have no meaning here. Enclose strings in double quotes; for one of several \
                 lines, write a heredoc such as <<EOT."
                    .to_owned(),
            ),
            T::Semicolon => (
                "Invalid character",
                "Semicolons have no meaning here. Put each argument and block on a line of its own, \
                 and commas between the items of a list or object."
                    .to_owned(),
            ),
            T::BadEncoding => (
                "Invalid character encoding",
                "These bytes are not UTF-8, which all configuration must be. Choose UTF-8 as the \
                 encoding in your editor and save the file again."
                    .to_owned(),
            ),
            T::OpenComment => (
                "Unterminated comment",
                "This comment begins with /* and has no */ before the end of the file. Close it, or \
                 begin each line with # instead."
                    .to_owned(),
            ),
            _ if is_curly_quote(self.bytes(token)) => (
                "Invalid character",
                "Curly quotes do not enclose strings. Replace them by straight double quotes; word \
                 processors and chat programs often change them."
                    .to_owned(),
            ),
            _ => (
                "Invalid character",
                format!(
                    "The character {:?} has no meaning here.",
                    text.chars().next().unwrap_or(' ')
                ),
            ),
        }
    }
}

fn is_curly_quote(text: &[u8]) -> bool {
    ["\u{201c}", "\u{201d}", "\u{2018}", "\u{2019}"]
        .iter()
        .any(|q| q.as_bytes() == text)
}

fn bitwise(symbol: &str, instead: &str) -> (&'static str, String) {
    (
        "Unsupported operator",
        format!("There are no operators on bits, so {symbol} means nothing here. {instead}"),
    )
}

fn opens(kind: TokenKind) -> bool {
    use TokenKind as T;
    matches!(
        kind,
        T::OpenBrace
            | T::OpenBracket
            | T::OpenParen
            | T::OpenQuote
            | T::OpenHeredoc
            | T::OpenInterpolation
            | T::OpenDirective
    )
}

fn closes(kind: TokenKind) -> bool {
    use TokenKind as T;
    matches!(
        kind,
        T::CloseBrace
            | T::CloseBracket
            | T::CloseParen
            | T::CloseQuote
            | T::CloseHeredoc
            | T::CloseSequence
    )
}

#[cfg(test)]
mod tests;
