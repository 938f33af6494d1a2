//! Old forms made new: `"${x}"` alone becomes `x`, quoted and bare type keywords of variables become
//! types, block labels are quoted.

use super::Word;
use crate::body::{Attribute, Block, Body, BodyItem};
use crate::scanner::{Token, TokenKind as T};
use crate::{on_deep_stack, quote};
use std::ops::Range;

/// The words of the text, old forms replaced.
pub(super) fn words<'a>(text: &'a [u8], tokens: &[Token], body: &Body) -> Vec<Word<'a>> {
    let mut edits = Edits {
        text,
        tokens,
        at: 0,
        found: Vec::new(),
    };
    edits.body(body, &[]);
    let Edits { found, .. } = edits;
    let mut words = Vec::with_capacity(tokens.len() + 16);
    let mut at = 0;
    for (range, replacement) in found {
        words.extend(tokens[at..range.start].iter().map(|t| word(text, *t)));
        words.extend(replacement);
        at = range.end;
    }
    let rest = tokens[at..].iter().filter(|t| t.kind != T::End);
    words.extend(rest.map(|t| word(text, *t)));
    words
}

fn word(text: &[u8], token: Token) -> Word<'_> {
    Word::new(token.kind, &text[token.start as usize..token.end as usize])
}

/// Replacements of token ranges, in source order.
struct Edits<'a, 't> {
    text: &'a [u8],
    tokens: &'t [Token],
    /// Where the last range that was looked up began; ranges are looked up in order.
    at: usize,
    found: Vec<(Range<usize>, Vec<Word<'a>>)>,
}

impl<'a> Edits<'a, '_> {
    fn body(&mut self, body: &Body, within: &[&str]) {
        for item in body.items() {
            match item {
                BodyItem::Attribute(a) if within == ["variable"] && &*a.name == "type" => {
                    self.type_expression(a);
                }
                BodyItem::Attribute(a) => self.value(a),
                BodyItem::Block(block) => {
                    self.labels(block);
                    // Only the innermost two levels matter: `type` directly in a `variable` at the top.
                    let inner: &[&str] = match within {
                        [] => &[&block.block_type],
                        _ => &["", ""],
                    };
                    on_deep_stack(|| self.body(&block.body, inner));
                }
            }
        }
    }

    /// The tokens from byte `start` to byte `end`, neither before those of an earlier call.
    fn range(&mut self, start: u32, end: u32) -> Range<usize> {
        let before = |at: usize, byte: u32| self.tokens.get(at).is_some_and(|t| t.start < byte);
        let mut first = self.at;
        while before(first, start) {
            first += 1;
        }
        let mut last = first;
        while before(last, end) {
            last += 1;
        }
        self.at = first;
        first..last
    }

    fn expression(&mut self, attribute: &Attribute) -> Range<usize> {
        let range = attribute.expression.range();
        self.range(range.start, range.end)
    }

    fn word(&self, token: Token) -> Word<'a> {
        word(self.text, token)
    }

    fn replace(&mut self, range: Range<usize>, words: Vec<Word<'a>>) {
        self.found.push((range, words));
    }

    /// Labels as they are written today: each in quotes, one space between.
    fn labels(&mut self, block: &Block) {
        let (Some(first), Some(last)) = (block.labels.first(), block.labels.last()) else {
            return;
        };
        // What stands between the type and the last label, comments included, is replaced.
        let after_type = self.range(block.type_range.start, block.type_range.end).end;
        let end = self.range(first.range.start, last.range.end).end;
        let words = block
            .labels
            .iter()
            .map(|label| {
                // One word; its kind matters to the spaces around it only.
                Word::new(T::Identifier, quote(&label.value).into_bytes())
            })
            .collect();
        self.replace(after_type..end, words);
    }

    fn type_expression(&mut self, attribute: &Attribute) {
        let range = self.expression(attribute);
        let text = |t: Token| &self.text[t.start as usize..t.end as usize];
        let (collection, element): (&[u8], Option<&'static [u8]>) = match self.tokens[range.clone()]
        {
            [name] if name.kind == T::Identifier => match text(name) {
                kind @ (b"list" | b"map" | b"set") => (kind, Some(b"any")),
                _ => return,
            },
            [open, name, close]
                if (open.kind, name.kind, close.kind)
                    == (T::OpenQuote, T::QuotedText, T::CloseQuote) =>
            {
                match text(name) {
                    b"string" => (b"string", None),
                    kind @ (b"list" | b"map") => (kind, Some(b"string")),
                    _ => return,
                }
            }
            _ => return,
        };
        let mut words = vec![Word::new(T::Identifier, collection)];
        if let Some(element) = element {
            words.push(Word::new(T::OpenParen, b"(".as_slice()));
            words.push(Word::new(T::Identifier, element));
            words.push(Word::new(T::CloseParen, b")".as_slice()));
        }
        self.replace(range, words);
    }

    fn value(&mut self, attribute: &Attribute) {
        let range = self.expression(attribute);
        let [open, interpolation, inside @ .., close, quote] = &self.tokens[range.clone()] else {
            return;
        };
        let shape = (open.kind, interpolation.kind, close.kind, quote.kind);
        let wrapped = (
            T::OpenQuote,
            T::OpenInterpolation,
            T::CloseSequence,
            T::CloseQuote,
        );
        if inside.is_empty() || shape != wrapped || !is_one_sequence(inside) {
            return;
        }
        let mut inside = inside;
        while let [first, rest @ ..] = inside
            && first.kind == T::Newline
        {
            inside = rest;
        }
        while let [rest @ .., last] = inside
            && last.kind == T::Newline
        {
            inside = rest;
        }
        let several_lines = inside.iter().any(|t| t.kind == T::Newline);
        let in_parentheses = inside.len() > 1
            && inside.first().is_some_and(|t| t.kind == T::OpenParen)
            && inside.last().is_some_and(|t| t.kind == T::CloseParen);
        let mut words: Vec<_> = inside.iter().map(|t| self.word(*t)).collect();
        if several_lines && !in_parentheses {
            words.insert(0, Word::new(T::OpenParen, b"(".as_slice()));
            words.push(Word::new(T::CloseParen, b")".as_slice()));
        }
        self.replace(range, words);
    }
}

/// Whether the tokens within `"${` and `}"` are of one interpolation, not of several with text.
fn is_one_sequence(inside: &[Token]) -> bool {
    let mut quotes = 0usize;
    for token in inside {
        match token.kind {
            T::OpenQuote => quotes += 1,
            T::CloseQuote => match quotes.checked_sub(1) {
                Some(n) => quotes = n,
                None => return false,
            },
            T::OpenInterpolation | T::CloseSequence | T::QuotedText if quotes == 0 => {
                return false;
            }
            _ => {}
        }
    }
    true
}
