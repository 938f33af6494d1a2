//! Files and blocks.

use super::Parser;
use crate::body::{Attribute, Block, Body, Label};
use crate::scanner::{Token, TokenKind as T};
use formwork_diagnostics::{Diagnostic, SourceRange};
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl Parser<'_> {
    /// Arguments and blocks up to the end of the text, or up to (not including) the brace that closes
    /// the block whose header `within` is.
    pub(super) fn items(&mut self, within: Option<SourceRange>) -> (Vec<Attribute>, Vec<Block>) {
        let mut attributes: Vec<Attribute> = Vec::new();
        let mut blocks = Vec::new();
        // Names of arguments by the address of their shared text; built once a body gets long.
        let mut seen: FxHashMap<*const u8, usize> = FxHashMap::default();
        loop {
            let token = self.peek();
            match token.kind {
                T::Newline => {
                    self.read();
                }
                T::CloseBrace if within.is_some() => break,
                T::End => break,
                T::Identifier => {
                    self.read();
                    let Some(item) = self.item(token, within) else {
                        continue;
                    };
                    match item {
                        Item::Block(block) => blocks.push(block),
                        Item::Attribute(attribute) => {
                            let known = known_attribute(&attributes, &mut seen, &attribute);
                            match known {
                                Some(first) => self.redefined(&attribute, &attributes[first]),
                                None => attributes.push(attribute),
                            }
                        }
                    }
                }
                _ => {
                    self.no_item(token, false);
                    self.skip_line(within.is_some());
                }
            }
        }
        (attributes, blocks)
    }

    fn redefined(&mut self, again: &Attribute, first: &Attribute) {
        // Counting lines is dear, so it is done only for what will be told.
        if self.has_said_enough() {
            return;
        }
        let line = self.line_of(first.name_range);
        self.report(
            Diagnostic::error(
                "Attribute redefined",
                format!(
                    "The argument \"{}\" was already set on line {line}. Each argument may be set \
                     only once in a block; remove one of the two.",
                    again.name
                ),
            )
            .at(again.name_range),
        );
    }

    fn line_of(&self, range: SourceRange) -> usize {
        let before = &self.text[..(range.start as usize).min(self.text.len())];
        1 + before.iter().filter(|b| **b == b'\n').count()
    }

    /// Reports a token that begins neither argument nor block.
    fn no_item(&mut self, token: Token, on_one_line: bool) {
        match token.kind {
            T::OpenQuote => self.unexpected(
                if on_one_line {
                    "Argument or block definition required"
                } else {
                    "Invalid argument name"
                },
                "Argument names and block types are written without quotes.",
                token,
            ),
            T::CloseBrace => self.unexpected(
                "Argument or block definition required",
                "This closing brace has no opening brace. An argument or block is expected here.",
                token,
            ),
            T::Minus => self.unexpected(
                "Argument or block definition required",
                "An argument (name = value) or a block (type \"label\" { ... }) is expected here. A \
                 comment begins with # or //.",
                token,
            ),
            _ => self.unexpected(
                "Argument or block definition required",
                "An argument (name = value) or a block (type \"label\" { ... }) is expected here.",
                token,
            ),
        }
    }

    /// An argument or block that begins with the name just read.
    fn item(&mut self, name: Token, within: Option<SourceRange>) -> Option<Item> {
        match self.peek().kind {
            T::Assign => {
                let attribute = self.attribute(name);
                self.end_of_attribute(&attribute, within.is_some());
                Some(Item::Attribute(attribute))
            }
            T::OpenBrace | T::OpenQuote | T::Identifier => {
                let block = self.nested(|p| p.block(name)).flatten();
                self.end_of_block(within.is_some());
                block.map(Item::Block)
            }
            _ => {
                self.name_without_item(name);
                self.skip_line(within.is_some());
                None
            }
        }
    }

    fn name_without_item(&mut self, name: Token) {
        let token = self.peek();
        let shown = self.name(name);
        let detail = match token.kind {
            T::Dot | T::OpenBracket => format!(
                "An argument or block is expected here. Arguments have plain names; part of \
                 \"{shown}\" cannot be set by itself. Set the whole value with {shown} = ..."
            ),
            T::Colon => format!(
                "An argument or block is expected here. To set \"{shown}\", use an equals sign, not \
                 a colon: {shown} = ..."
            ),
            _ => format!(
                "An argument or block is expected here. To set \"{shown}\", follow it with an equals \
                 sign and a value; to begin a block, with an opening brace."
            ),
        };
        // The name is what stands wrongly here, whatever follows it.
        self.unexpected("Argument or block definition required", detail, name);
    }

    /// `name = expression`, the name read and the equals sign next.
    fn attribute(&mut self, name: Token) -> Attribute {
        let equals = self.read();
        let expression = self.expression();
        Attribute {
            name: self.name(name),
            name_range: self.token_range(name),
            equals: self.token_range(equals),
            range: self.range(name.start, self.read_to),
            expression,
        }
    }

    fn end_of_attribute(&mut self, attribute: &Attribute, in_block: bool) {
        if !self.recovery {
            let next = self.peek();
            match next.kind {
                T::Newline => {
                    self.read();
                    return;
                }
                T::End => return,
                T::Comma => self.unexpected(
                    "Unexpected comma after argument",
                    "Arguments are separated by line breaks, not by commas. Put each argument on a \
                     line of its own and remove this comma.",
                    next,
                ),
                T::CloseBrace => self.unexpected(
                    "Missing newline after argument",
                    "An argument ends with its line. Put this closing brace on a line of its own.",
                    next,
                ),
                _ => {
                    let detail = format!(
                        "An argument ends with its line, but something follows its value here. {}",
                        self.what_follows(attribute, next)
                    );
                    self.unexpected("Missing newline after argument", detail, next);
                }
            }
        }
        self.skip_line(in_block);
    }

    /// What was most likely meant by something that follows a value.
    fn what_follows(&self, attribute: &Attribute, next: Token) -> &'static str {
        let word = self.bytes(next);
        match next.kind {
            T::Assign => "To compare two values, write ==.",
            T::Identifier if word == b"and" => "For \"and\" of two conditions, write &&.",
            T::Identifier if word == b"or" => "For \"or\" of two conditions, write ||.",
            _ if attribute.expression.as_keyword() == Some("if") => {
                "A choice between two values is written condition ? value : other."
            }
            _ if attribute.expression.as_keyword() == Some("not") => {
                "To negate a condition, write ! before it."
            }
            T::OpenParen => {
                "If a function is meant, its name stands alone before the parentheses, and what it works \
                 on within them: upper(var.name)."
            }
            _ => {
                "Put the next argument on a line of its own; if this belongs to the value, an operator \
                 or quotes may be missing."
            }
        }
    }

    fn end_of_block(&mut self, in_block: bool) {
        if !self.recovery {
            let next = self.peek();
            match next.kind {
                T::Newline => {
                    self.read();
                    return;
                }
                T::End => return,
                _ => self.unexpected(
                    "Missing newline after block definition",
                    "A block ends with its line, but something follows its closing brace here. Put \
                     it on a line of its own.",
                    next,
                ),
            }
        }
        self.skip_line(in_block);
    }

    /// `type label... { ... }`, the type read.
    fn block(&mut self, block_type: Token) -> Option<Block> {
        let mut labels = Vec::new();
        let mut header_end = block_type.end;
        let open = loop {
            let token = self.peek();
            header_end = header_end.max(self.read_to);
            match token.kind {
                T::OpenBrace => break self.read(),
                T::Identifier => {
                    self.read();
                    labels.push(Label {
                        value: self.name(token),
                        range: self.token_range(token),
                        quoted: false,
                    });
                }
                T::OpenQuote => {
                    let value = self.label();
                    labels.push(Label {
                        value,
                        range: self.range(token.start, self.read_to),
                        quoted: true,
                    });
                    if self.recovery {
                        return None;
                    }
                }
                _ => {
                    self.no_block(token, labels.len());
                    if token.kind != T::Newline {
                        return None;
                    }
                    // A brace on the next line opens the block all the same.
                    let brace = self.tokens[self.at..]
                        .iter()
                        .position(|t| {
                            !matches!(t.kind, T::Newline | T::LineComment | T::InlineComment)
                        })
                        .map(|n| self.at + n)
                        .filter(|at| self.tokens[*at].kind == T::OpenBrace)?;
                    self.at = brace;
                    self.recovery = false;
                    break self.read();
                }
            }
        };
        let header = self.range(block_type.start, header_end);
        let (attributes, blocks, close) = match self.peek().kind {
            T::Newline | T::End | T::CloseBrace => {
                let before = self.mistakes;
                let (attributes, blocks) = self.items(Some(header));
                let close = self.close_of_block(header, open, before);
                (attributes, blocks, close)
            }
            _ => self.single_line(open),
        };
        let open_brace = self.token_range(open);
        let end = self.range(close.start, close.start);
        Some(Block {
            block_type: self.name(block_type),
            type_range: self.token_range(block_type),
            labels: labels.into(),
            body: Body::new(
                attributes,
                blocks,
                open_brace.to(self.token_range(close)),
                end,
            ),
            open_brace,
            close_brace: self.token_range(close),
        })
    }

    fn no_block(&mut self, token: Token, labels: usize) {
        let detail = match token.kind {
            T::Assign => {
                "An equals sign sets an argument, and an argument has one plain name without labels. \
                 To begin a block, write an opening brace here."
            }
            T::Newline if labels == 1 => {
                "The opening brace of a block stands on the same line as its type and labels, but \
                 the line ends here. If this is meant as an argument, an equals sign is missing after \
                 its name."
            }
            T::Newline => {
                "The opening brace of a block stands on the same line as its type and labels, but \
                 the line ends here."
            }
            _ => "A label in quotes or an opening brace is expected here.",
        };
        self.unexpected("Invalid block definition", detail, token);
    }

    fn is_at_margin(&self, offset: u32) -> bool {
        let before = (offset as usize).checked_sub(1);
        before.is_none_or(|at| self.text.get(at) == Some(&b'\n'))
    }

    /// The closing brace. That it is missing is told only if nothing else is wrong in the block, since
    /// any other mistake may be what hides it.
    fn close_of_block(&mut self, header: SourceRange, open: Token, before: usize) -> Token {
        if let Some(close) = self.read_if(T::CloseBrace) {
            return close;
        }
        let end = self.peek();
        if self.mistakes > before {
            return end;
        }
        let mut diagnostic = Diagnostic::error(
            "Unclosed configuration block",
            "This block has no closing brace before the end of the file. If it seems to have \
             one, a block or object within it lacks its own.",
        )
        .at(header.to(self.token_range(open)));
        // Blocks begin at the margin, and what stands in them does not.
        let first = self.tokens.partition_point(|t| t.start < open.end);
        let margin = (first..self.tokens.len()).find(|at| self.begins_item(*at));
        if let Some(at) = margin.filter(|_| self.is_at_margin(header.start)) {
            let line = self.line_of(self.token_range(self.tokens[at]));
            diagnostic = diagnostic.hint(format!(
                "Line {line} begins at the margin, as if the block had ended: the brace may be missing \
                 before it."
            ));
        }
        self.report(diagnostic);
        end
    }

    /// The inside of `type { name = value }`: one argument at most, all on one line.
    fn single_line(&mut self, open: Token) -> (Vec<Attribute>, Vec<Block>, Token) {
        let mut attributes = Vec::new();
        let name = self.peek();
        if name.kind == T::Identifier {
            self.read();
            match self.peek().kind {
                T::Assign => {
                    attributes.push(self.attribute(name));
                    self.end_of_single_line(open);
                }
                T::OpenBrace | T::OpenQuote | T::Identifier => {
                    let detail = format!(
                        "A block written on one line holds one argument and no block. If \"{0}\" is \
                         an argument, set it with {0} = ...; if it is a block, put it on a line of \
                         its own.",
                        self.name(name)
                    );
                    self.unexpected("Argument definition required", detail, name);
                }
                _ => self.name_without_item(name),
            }
        } else {
            self.no_item(name, true);
        }
        let close = if self.recovery {
            self.skip_to(T::CloseBrace)
        } else {
            self.read_if(T::CloseBrace)
        };
        let close = close.unwrap_or_else(|| {
            let next = self.peek();
            Token {
                end: next.start,
                ..next
            }
        });
        (attributes, Vec::new(), close)
    }

    fn end_of_single_line(&mut self, open: Token) {
        let next = self.peek();
        if self.recovery || next.kind == T::CloseBrace {
            return;
        }
        let detail = match next.kind {
            T::Comma => {
                "A block written on one line holds one argument only. To set several, put each on a \
                 line of its own, without commas."
            }
            T::Newline => {
                "An argument on the line of the opening brace makes this a block of one line, so the \
                 closing brace must stand on that line too. Else begin a new line after the opening \
                 brace."
            }
            _ => {
                "A block written on one line holds one argument only, and its closing brace follows \
                 at once."
            }
        };
        let at = if next.kind == T::Newline { open } else { next };
        self.unexpected("Invalid single-argument block definition", detail, at);
    }
}

enum Item {
    Attribute(Attribute),
    Block(Block),
}

/// Index of the argument that has the same name. Names are shared, so their addresses tell.
fn known_attribute(
    attributes: &[Attribute],
    seen: &mut FxHashMap<*const u8, usize>,
    new: &Attribute,
) -> Option<usize> {
    const LONG: usize = 16;
    if attributes.len() < LONG {
        return attributes
            .iter()
            .position(|a| Arc::ptr_eq(&a.name, &new.name));
    }
    if seen.is_empty() {
        seen.extend(
            attributes
                .iter()
                .enumerate()
                .map(|(i, a)| (a.name.as_ptr(), i)),
        );
    }
    match seen.entry(new.name.as_ptr()) {
        std::collections::hash_map::Entry::Occupied(e) => Some(*e.get()),
        std::collections::hash_map::Entry::Vacant(e) => {
            e.insert(attributes.len());
            None
        }
    }
}
