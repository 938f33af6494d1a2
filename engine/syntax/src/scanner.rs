//! Bytes to tokens.
//!
//! The scanner is modal: code, quoted string, heredoc and bare template each have rules of their own,
//! and `${`, `%{`, `"` and `<<END` move between them on an explicit stack, so any depth scans without
//! recursion. It never fails: what fits nowhere is a token of an invalid kind, which the parser
//! reports. Tokens tile the text; only spaces, tabs and a leading byte order mark lie between them.
//!
//! Facts that shape it (of the language, checked against Terraform 1.11):
//! - A line comment includes its line ending and so ends an argument; a block comment never does.
//! - A number is the longest run of digits, dots and exponents that ends in a digit. `1.5.5` is one
//!   (bad) number, and `a.0.1` holds the number `0.1`.
//! - Literal text in templates is cut at line ends (heredocs, bare templates) and around each `$` and
//!   `%`. The cuts matter: `~` trims the one adjoining piece only.
//! - `$${` and `%%{` are literal text.
//! - A heredoc's end marker stands alone on its line, blanks around it allowed, and the line must end
//!   in a line break.

use unicode_ident::{is_xid_continue, is_xid_start};

/// A piece of text: `start..end` in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// First byte.
    pub start: u32,
    /// After the last byte.
    pub end: u32,
}

/// What a [`Token`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // named after the characters they stand for; the odd ones carry a line
pub enum TokenKind {
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    OpenParen,
    CloseParen,
    /// `"` that begins a string.
    OpenQuote,
    /// `"` that ends a string.
    CloseQuote,
    /// `<<END` or `<<-END` with its line ending.
    OpenHeredoc,
    /// The end marker with the blanks around it.
    CloseHeredoc,
    /// `${` or `${~`
    OpenInterpolation,
    /// `%{` or `%{~`
    OpenDirective,
    /// `}` or `~}` that ends an interpolation or directive.
    CloseSequence,
    /// Literal text within quotes, escapes still in it.
    QuotedText,
    /// Literal text of a heredoc or bare template: at most one line.
    Text,
    Number,
    Identifier,
    /// A comment that ends with a line ending, which is part of it.
    LineComment,
    /// A comment without line ending: `/* */`, or the last line of the file.
    InlineComment,
    Newline,
    Star,
    Slash,
    Plus,
    Minus,
    Percent,
    Assign,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
    Not,
    Dot,
    Comma,
    Ellipsis,
    FatArrow,
    Question,
    Colon,
    DoubleColon,
    // What follows is valid nowhere.
    /// A line break within quotes.
    QuotedNewline,
    /// A lone `&`.
    Ampersand,
    /// A lone `|`.
    Pipe,
    Caret,
    Tilde,
    StarStar,
    Apostrophe,
    Backtick,
    Semicolon,
    /// A character the language does not use.
    Strange,
    /// Bytes that are no UTF-8.
    BadEncoding,
    /// `/*` without `*/`: the rest of the file.
    OpenComment,
    /// End of the text; the last token, empty.
    End,
}

impl TokenKind {
    /// Whether it is valid nowhere, so that the scan alone is reason for a diagnostic.
    pub fn is_invalid(self) -> bool {
        use TokenKind as T;
        matches!(
            self,
            T::QuotedNewline
                | T::Ampersand
                | T::Pipe
                | T::Caret
                | T::Tilde
                | T::StarStar
                | T::Apostrophe
                | T::Backtick
                | T::Semicolon
                | T::Strange
                | T::BadEncoding
                | T::OpenComment
        )
    }
}

/// Where the scan begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanMode {
    /// Arguments, blocks, expressions.
    Code,
    /// A bare template: text until the first `${` or `%{`.
    Template,
}

/// All tokens of `text`, the last being [`TokenKind::End`]. `text` must be shorter than 4 GiB.
pub fn scan(text: &[u8], mode: ScanMode) -> Vec<Token> {
    let mut scanner = Scanner {
        text,
        at: 0,
        // Ordinary configuration has a token for each four to five bytes.
        tokens: Vec::with_capacity(text.len() / 4 + 4),
        modes: Vec::new(),
        mode: match mode {
            ScanMode::Code => Mode::Code { braces: 0 },
            ScanMode::Template => Mode::Bare,
        },
    };
    if mode == ScanMode::Code && text.starts_with(&[0xef, 0xbb, 0xbf]) {
        scanner.at = 3;
    }
    while scanner.at < text.len() {
        match scanner.mode {
            Mode::Code { .. } => scanner.code(),
            Mode::Quoted => scanner.quoted(),
            Mode::Heredoc { .. } => scanner.heredoc(),
            Mode::Bare => scanner.bare(),
        }
    }
    scanner.token_to(TokenKind::End, text.len());
    scanner.tokens
}

#[derive(Clone, Copy)]
enum Mode {
    /// Code; `braces` counts the open `{` since the interpolation or file began.
    Code {
        braces: u32,
    },
    Quoted,
    Heredoc {
        marker: (u32, u32),
        line_start: bool,
    },
    Bare,
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    tokens: Vec<Token>,
    modes: Vec<Mode>,
    mode: Mode,
}

impl Scanner<'_> {
    fn byte(&self, at: usize) -> u8 {
        // NUL stands for the end; as a character it is strange anyway, and `at` is checked first.
        self.text.get(at).copied().unwrap_or(0)
    }

    #[allow(clippy::cast_possible_truncation)] // callers refuse texts of 4 GiB and more
    fn token_to(&mut self, kind: TokenKind, end: usize) {
        self.tokens.push(Token {
            kind,
            start: self.at as u32,
            end: end as u32,
        });
        self.at = end;
    }

    fn push_mode(&mut self, mode: Mode) {
        self.modes.push(self.mode);
        self.mode = mode;
    }

    fn pop_mode(&mut self) {
        if let Some(mode) = self.modes.pop() {
            self.mode = mode;
        }
    }

    fn code(&mut self) {
        use TokenKind as T;
        let at = self.at;
        let next = self.byte(at + 1);
        let (kind, length) = match self.text[at] {
            b' ' | b'\t' => {
                self.at += 1;
                return;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => return self.identifier(),
            b'0'..=b'9' => return self.number(),
            b'\n' => (T::Newline, 1),
            b'\r' if next == b'\n' => (T::Newline, 2),
            b'#' => return self.line_comment(),
            b'/' if next == b'/' => return self.line_comment(),
            b'/' if next == b'*' => return self.block_comment(),
            b'/' => (T::Slash, 1),
            b'"' => {
                self.token_to(T::OpenQuote, at + 1);
                return self.push_mode(Mode::Quoted);
            }
            b'{' => {
                if let Mode::Code { braces } = &mut self.mode {
                    *braces += 1;
                }
                (T::OpenBrace, 1)
            }
            b'}' => return self.close_brace(1),
            b'~' if next == b'}' && self.may_close_sequence() => return self.close_brace(2),
            b'~' => (T::Tilde, 1),
            b'[' => (T::OpenBracket, 1),
            b']' => (T::CloseBracket, 1),
            b'(' => (T::OpenParen, 1),
            b')' => (T::CloseParen, 1),
            b',' => (T::Comma, 1),
            b'.' if next == b'.' && self.byte(at + 2) == b'.' => (T::Ellipsis, 3),
            b'.' => (T::Dot, 1),
            b'=' if next == b'=' => (T::Equal, 2),
            b'=' if next == b'>' => (T::FatArrow, 2),
            b'=' => (T::Assign, 1),
            b'!' if next == b'=' => (T::NotEqual, 2),
            b'!' => (T::Not, 1),
            b'<' if next == b'<' => match self.heredoc_opening() {
                Some((marker, end)) => {
                    self.token_to(T::OpenHeredoc, end);
                    return self.push_mode(Mode::Heredoc {
                        marker,
                        line_start: true,
                    });
                }
                None => (T::Less, 1),
            },
            b'<' if next == b'=' => (T::LessOrEqual, 2),
            b'<' => (T::Less, 1),
            b'>' if next == b'=' => (T::GreaterOrEqual, 2),
            b'>' => (T::Greater, 1),
            b'&' if next == b'&' => (T::And, 2),
            b'&' => (T::Ampersand, 1),
            b'|' if next == b'|' => (T::Or, 2),
            b'|' => (T::Pipe, 1),
            b'^' => (T::Caret, 1),
            b'*' if next == b'*' => (T::StarStar, 2),
            b'*' => (T::Star, 1),
            b'+' => (T::Plus, 1),
            b'-' => (T::Minus, 1),
            b'%' => (T::Percent, 1),
            b'?' => (T::Question, 1),
            b':' if next == b':' => (T::DoubleColon, 2),
            b':' => (T::Colon, 1),
            b'\'' => (T::Apostrophe, 1),
            b'`' => (T::Backtick, 1),
            b';' => (T::Semicolon, 1),
            0x80.. => return self.beyond_ascii(),
            _ => (T::Strange, 1),
        };
        self.token_to(kind, at + length);
    }

    fn may_close_sequence(&self) -> bool {
        matches!(self.mode, Mode::Code { braces: 0 }) && !self.modes.is_empty()
    }

    fn close_brace(&mut self, length: usize) {
        if self.may_close_sequence() {
            self.token_to(TokenKind::CloseSequence, self.at + length);
            self.pop_mode();
        } else {
            if let Mode::Code { braces } = &mut self.mode {
                *braces = braces.saturating_sub(1);
            }
            self.token_to(TokenKind::CloseBrace, self.at + length);
        }
    }

    /// End of the run of identifier characters at `from`.
    fn identifier_end(&self, from: usize) -> usize {
        let mut at = from;
        loop {
            match self.byte(at) {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => at += 1,
                0x80.. => match decode(&self.text[at..]) {
                    Some((c, length)) if is_xid_continue(c) => at += length,
                    _ => return at,
                },
                _ => return at,
            }
        }
    }

    fn identifier(&mut self) {
        let end = self.identifier_end(self.at + 1);
        self.token_to(TokenKind::Identifier, end);
    }

    fn number(&mut self) {
        let mut at = self.at + 1;
        let mut end = at;
        loop {
            match self.byte(at) {
                b'0'..=b'9' => {
                    at += 1;
                    end = at;
                }
                b'.' => at += 1,
                b'e' | b'E' => {
                    let sign = usize::from(matches!(self.byte(at + 1), b'+' | b'-'));
                    if !self.byte(at + 1 + sign).is_ascii_digit() {
                        break;
                    }
                    at += sign + 2;
                    end = at;
                }
                _ => break,
            }
        }
        self.token_to(TokenKind::Number, end);
    }

    fn line_comment(&mut self) {
        let rest = &self.text[self.at..];
        match rest.iter().position(|b| *b == b'\n') {
            Some(i) => self.token_to(TokenKind::LineComment, self.at + i + 1),
            None => self.token_to(TokenKind::InlineComment, self.text.len()),
        }
    }

    fn block_comment(&mut self) {
        let body = &self.text[self.at + 2..];
        match body.windows(2).position(|w| w == b"*/") {
            Some(i) => self.token_to(TokenKind::InlineComment, self.at + 2 + i + 2),
            None => self.token_to(TokenKind::OpenComment, self.text.len()),
        }
    }

    fn beyond_ascii(&mut self) {
        match decode(&self.text[self.at..]) {
            Some((c, length)) if is_xid_start(c) => {
                let end = self.identifier_end(self.at + length);
                self.token_to(TokenKind::Identifier, end);
            }
            Some((_, length)) => self.token_to(TokenKind::Strange, self.at + length),
            None => self.bad_encoding(),
        }
    }

    /// One token for a run of bytes that are no UTF-8.
    fn bad_encoding(&mut self) {
        let mut end = self.at + 1;
        while end < self.text.len() && self.text[end] >= 0x80 && decode(&self.text[end..]).is_none()
        {
            end += 1;
        }
        self.token_to(TokenKind::BadEncoding, end);
    }

    /// The marker and the end of `<<END\n`, if that is what stands here.
    #[allow(clippy::cast_possible_truncation)] // as in token_to
    fn heredoc_opening(&self) -> Option<((u32, u32), usize)> {
        let start = self.at + 2 + usize::from(self.byte(self.at + 2) == b'-');
        let first = match self.byte(start) {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => 1,
            0x80.. => decode(&self.text[start..])
                .filter(|(c, _)| is_xid_start(*c))
                .map(|(_, length)| length)?,
            _ => return None,
        };
        let end = self.identifier_end(start + first);
        let line_end = match (self.byte(end), self.byte(end + 1)) {
            (b'\n', _) => end + 1,
            (b'\r', b'\n') => end + 2,
            _ => return None,
        };
        Some(((start as u32, end as u32), line_end))
    }

    /// `${`, `%{`, their escapes, or a lone `$` or `%`, at the current place.
    fn sequence_or_sign(&mut self, text_kind: TokenKind) {
        let at = self.at;
        let sign = self.text[at];
        if self.byte(at + 1) == b'{' {
            let kind = if sign == b'$' {
                TokenKind::OpenInterpolation
            } else {
                TokenKind::OpenDirective
            };
            let strip = usize::from(self.byte(at + 2) == b'~');
            self.token_to(kind, at + 2 + strip);
            self.push_mode(Mode::Code { braces: 0 });
        } else if self.byte(at + 1) == sign && self.byte(at + 2) == b'{' {
            self.token_to(text_kind, at + 3);
        } else {
            self.token_to(text_kind, at + 1);
        }
    }

    fn quoted(&mut self) {
        use TokenKind as T;
        let start = self.at;
        match self.text[start] {
            b'"' => {
                self.token_to(T::CloseQuote, start + 1);
                return self.pop_mode();
            }
            b'$' | b'%' => return self.sequence_or_sign(T::QuotedText),
            b'\n' => return self.quoted_newline(1),
            b'\r' if self.byte(start + 1) == b'\n' => return self.quoted_newline(2),
            b'\r' => return self.quoted_newline(1),
            _ => {}
        }
        let mut at = start;
        while at < self.text.len() {
            match self.text[at] {
                b'"' | b'$' | b'%' | b'\n' | b'\r' => break,
                b'\\' => {
                    at += 1;
                    match self.byte(at) {
                        b'\n' | b'\r' => break,
                        0x80.. => match decode(&self.text[at..]) {
                            Some((_, length)) => at += length,
                            None => break,
                        },
                        _ => at += 1,
                    }
                }
                0x80.. => match decode(&self.text[at..]) {
                    Some((_, length)) => at += length,
                    None if at == start => return self.bad_encoding(),
                    None => break,
                },
                _ => at += 1,
            }
        }
        self.token_to(T::QuotedText, at.min(self.text.len()));
    }

    /// A line break within quotes. If the next line reads like code, the quote was forgotten and the
    /// string ends here; else the user tries to write a string of several lines.
    fn quoted_newline(&mut self, length: usize) {
        let next = &self.text[self.at + length..];
        let line_end = next.iter().position(|b| *b == b'\n').unwrap_or(next.len());
        if reads_like_code(&next[..line_end]) {
            self.token_to(TokenKind::QuotedNewline, self.at);
            self.pop_mode();
        } else {
            self.token_to(TokenKind::QuotedNewline, self.at + length);
        }
    }

    fn heredoc(&mut self) {
        let Mode::Heredoc { marker, line_start } = self.mode else {
            return;
        };
        let start = self.at;
        if line_start {
            let rest = &self.text[start..];
            let marker_text = &self.text[marker.0 as usize..marker.1 as usize];
            let after = rest[blanks(rest)..].strip_prefix(marker_text);
            if let Some(after) = after {
                let trailing = blanks(after);
                if matches!(after[trailing..], [b'\n', ..] | [b'\r', b'\n', ..]) {
                    let end = self.text.len() - after.len() + trailing;
                    self.token_to(TokenKind::CloseHeredoc, end);
                    return self.pop_mode();
                }
            }
        }
        self.template_text(true);
        let ended = self.byte(self.at.wrapping_sub(1)) == b'\n';
        // Only text can begin a line; after a sequence the mode on top is another one.
        if let Mode::Heredoc { line_start, .. } = &mut self.mode {
            *line_start = ended;
        } else if let Some(Mode::Heredoc { line_start, .. }) = self.modes.last_mut() {
            *line_start = false;
        }
    }

    fn bare(&mut self) {
        self.template_text(false);
    }

    /// One piece of text of a heredoc or bare template, or the start of a sequence. In a heredoc, a
    /// carriage return must be part of a line ending.
    fn template_text(&mut self, heredoc: bool) {
        let start = self.at;
        let stray = |at: usize| heredoc && self.text.get(at + 1) != Some(&b'\n');
        if self.text[start] == b'\r' && stray(start) {
            return self.token_to(TokenKind::Strange, start + 1);
        }
        if matches!(self.text[start], b'$' | b'%') {
            return self.sequence_or_sign(TokenKind::Text);
        }
        let mut at = start;
        while at < self.text.len() {
            match self.text[at] {
                b'$' | b'%' => break,
                b'\r' if stray(at) => break,
                b'\n' => {
                    at += 1;
                    break;
                }
                0x80.. => match decode(&self.text[at..]) {
                    Some((_, length)) => at += length,
                    None if at == start => return self.bad_encoding(),
                    None => break,
                },
                _ => at += 1,
            }
        }
        self.token_to(TokenKind::Text, at);
    }
}

/// How many blanks `text` begins with.
fn blanks(text: &[u8]) -> usize {
    text.iter()
        .take_while(|b| matches!(b, b' ' | b'\t' | 0x0b | 0x0c))
        .count()
}

/// Whether a line looks like an argument, a block, a closing bracket, or nothing at all.
fn reads_like_code(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let name = line
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        .count();
    let rest = line[name..].trim_ascii_start();
    match (name, rest.first()) {
        (0, first) => matches!(first, None | Some(b'}' | b']' | b')' | b'#')),
        (_, Some(b'=' | b'{')) => true,
        (_, Some(b'"')) => line.ends_with(b"{"),
        _ => false,
    }
}

/// The character at the start of `text` and its length, if it is UTF-8.
pub(crate) fn decode(text: &[u8]) -> Option<(char, usize)> {
    let head = &text[..text.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(s) => s,
        Err(e) => std::str::from_utf8(&head[..e.valid_up_to()]).ok()?,
    };
    let c = valid.chars().next()?;
    Some((c, c.len_utf8()))
}
