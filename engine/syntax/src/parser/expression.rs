//! Expressions.

use super::Parser;
use super::literal::is_number;
use crate::expression::{
    BinaryOperator, Conditional, Expression, ExpressionKind as K, ForExpression, FunctionCall,
    ObjectItem, ObjectKey, Splat, SplatKind, UnaryOperator,
};
use crate::scanner::{Token, TokenKind as T};
use crate::traversal::{IndexKey, Step, Traversal};
use formwork_diagnostics::{Diagnostic, SourceRange};
use std::sync::Arc;

/// What postfix steps are being gathered onto.
enum Source {
    /// A plain name.
    Root(Arc<str>, Token),
    /// Any other expression.
    Other(Expression),
}

impl Parser<'_> {
    /// One expression. In recovery it may be partial or invalid.
    pub(super) fn expression(&mut self) -> Expression {
        let start = self.peek().start;
        self.nested(Self::conditional)
            .unwrap_or_else(|| self.invalid(start))
    }

    fn node(&self, kind: K, start: u32) -> Expression {
        let range = self.range(start, self.read_to.max(start));
        Expression::new(kind, range)
    }

    fn conditional(&mut self) -> Expression {
        let start = self.peek().start;
        let condition = self.operation(1);
        if self.recovery || self.read_if(T::Question).is_none() {
            return condition;
        }
        let yes = self.expression();
        if self.recovery {
            return self.invalid(start);
        }
        let colon = self.peek();
        if colon.kind != T::Colon {
            self.unexpected(
                "Missing false expression in conditional",
                "A conditional has two results, condition ? yes : no. A colon and the second result \
                 are expected here.",
                colon,
            );
            return self.invalid(start);
        }
        self.read();
        let no = self.expression();
        let parts = Conditional { condition, yes, no };
        self.node(K::Conditional(parts), start)
    }

    /// Binary operators that bind at least as tightly as `precedence`, by precedence climbing.
    fn operation(&mut self, precedence: u8) -> Expression {
        let start = self.peek().start;
        let mut left = self.operand();
        while !self.recovery {
            let Some(operator) = binary_operator(self.peek().kind) else {
                break;
            };
            if operator.precedence() < precedence {
                break;
            }
            let token = self.read();
            let right = self.operation(operator.precedence() + 1);
            let kind = K::Binary {
                left,
                operator,
                operator_range: self.token_range(token),
                right,
            };
            left = self.node(kind, start);
        }
        left
    }

    /// A term with its prefix operators and postfix steps.
    fn operand(&mut self) -> Expression {
        let token = self.peek();
        let operator = match token.kind {
            T::Minus => UnaryOperator::Negate,
            T::Not => UnaryOperator::Not,
            T::Identifier => return self.name_operand(),
            _ => {
                let term = self.term();
                return self.steps(Source::Other(term), token.start);
            }
        };
        self.read();
        let operand = self
            .nested(Self::operand)
            .unwrap_or_else(|| self.invalid(token.start));
        let kind = K::Unary {
            operator,
            operator_range: self.token_range(token),
            operand,
        };
        self.node(kind, token.start)
    }

    /// A reference, a keyword or a call, with its steps.
    fn name_operand(&mut self) -> Expression {
        let token = self.read();
        if matches!(self.peek().kind, T::OpenParen | T::DoubleColon) {
            let call = self.call(token);
            return self.steps(Source::Other(call), token.start);
        }
        let keyword = match self.bytes(token) {
            b"true" => K::Bool(true),
            b"false" => K::Bool(false),
            b"null" => K::Null,
            _ => {
                let name = self.name(token);
                return self.steps(Source::Root(name, token), token.start);
            }
        };
        let keyword = self.node(keyword, token.start);
        self.steps(Source::Other(keyword), token.start)
    }

    fn term(&mut self) -> Expression {
        let token = self.peek();
        match token.kind {
            T::Number => {
                self.read();
                if is_number(self.bytes(token)) {
                    let kind = K::Number(self.name(token));
                    return self.node(kind, token.start);
                }
                let range = self.token_range(token);
                self.report(
                    Diagnostic::error(
                        "Invalid number literal",
                        "This is not a number. Numbers are digits with at most one decimal point and \
                         one exponent, such as 1.5 or 2e6; versions and addresses are strings, in \
                         quotes.",
                    )
                    .at(range),
                );
                self.invalid(token.start)
            }
            T::OpenQuote | T::OpenHeredoc => self.quoted_template(),
            T::OpenParen => self.parentheses(),
            T::OpenBracket => self.tuple_or_for(),
            T::OpenBrace => self.object_or_for(),
            T::End => {
                self.unexpected(
                    "Missing expression",
                    "A value is expected here, but the file ends.",
                    token,
                );
                self.invalid(token.start)
            }
            _ => {
                let detail = match token.kind {
                    T::Newline => {
                        "A value is expected here, but the line ends. A value that begins \
                                   on the next line must stand in parentheses."
                    }
                    T::Assign => {
                        "A value is expected here, not an equals sign. To compare two \
                                  values, write ==."
                    }
                    T::Comma => "A value is expected here, not a comma.",
                    _ => "A value is expected here, but this does not begin one.",
                };
                self.unexpected("Invalid expression", detail, token);
                self.invalid(token.start)
            }
        }
    }

    fn parentheses(&mut self) -> Expression {
        let open = self.read();
        self.with_newlines(false, |p| {
            let inner = p.expression();
            if !p.recovery && p.peek().kind != T::CloseParen {
                let next = p.peek();
                p.unexpected(
                    "Unbalanced parentheses",
                    "A closing parenthesis is expected here to end the expression.",
                    next,
                );
            }
            p.close(T::CloseParen);
            p.node(K::Parentheses(inner), open.start)
        })
    }

    /// Reads the closing bracket that is next, or finds it if the place is lost.
    fn close(&mut self, closer: T) -> SourceRange {
        let token = if self.recovery {
            self.skip_to(closer)
        } else {
            self.read_if(closer)
        };
        match token {
            Some(token) => self.token_range(token),
            None => self.range(self.read_to, self.read_to),
        }
    }

    /// Postfix steps: attributes, indexes, splats.
    fn steps(&mut self, source: Source, start: u32) -> Expression {
        let mut source = source;
        let mut steps: Vec<Step> = Vec::new();
        while !self.recovery {
            match self.peek().kind {
                T::Dot => {
                    let dot = self.read();
                    if self.peek().kind == T::Star {
                        let star = self.read();
                        let inner = self.flush(source, &mut steps, start);
                        source = Source::Other(self.attribute_splat(inner, dot, star, start));
                    } else if let Some(step) = self.dot_step(dot, false) {
                        steps.push(step);
                    }
                }
                T::OpenBracket => {
                    let open = self.read();
                    if let Some(star) = self.read_if(T::Star) {
                        let inner = self.flush(source, &mut steps, start);
                        return self.full_splat(inner, open, star, start);
                    }
                    let key = self.with_newlines(false, |p| {
                        let key = p.expression();
                        if !p.recovery && p.peek().kind != T::CloseBracket {
                            let next = p.peek();
                            p.unexpected(
                                "Missing close bracket on index",
                                "A closing bracket is expected here to end the index.",
                                next,
                            );
                        }
                        p.close(T::CloseBracket);
                        key
                    });
                    let brackets = self.range(open.start, self.read_to);
                    match key.as_index_key() {
                        Some(key) => steps.push(Step::Index {
                            key,
                            range: brackets,
                        }),
                        None => {
                            let collection = self.flush(source, &mut steps, start);
                            let kind = K::Index {
                                collection,
                                key,
                                brackets,
                            };
                            source = Source::Other(self.node(kind, start));
                        }
                    }
                }
                _ => break,
            }
        }
        self.flush(source, &mut steps, start)
    }

    /// The step after a dot: a name, or a number in the old form of index.
    fn dot_step(&mut self, dot: Token, in_splat: bool) -> Option<Step> {
        let token = self.peek();
        match token.kind {
            T::Identifier => {
                self.read();
                Some(Step::Attribute {
                    name: self.name(token),
                    range: self.range(dot.start, token.end),
                })
            }
            T::Number if self.bytes(token).contains(&b'.') => {
                let text = String::from_utf8_lossy(self.bytes(token)).into_owned();
                let range = self.token_range(token);
                let brackets = text.replace('.', "][");
                self.report(
                    Diagnostic::error(
                        "Invalid legacy index syntax",
                        format!(
                            "The old form of index cannot be chained: .{text} reads as a fraction. \
                             Write [{brackets}] instead."
                        ),
                    )
                    .at(range),
                );
                self.read();
                None
            }
            T::Number => {
                self.read();
                Some(Step::Index {
                    key: IndexKey::Number(self.name(token)),
                    range: self.range(dot.start, token.end),
                })
            }
            T::Star if in_splat => {
                self.unexpected(
                    "Nested splat expression not allowed",
                    "A splat of the old form, .*, cannot stand within another. Write [*] for both.",
                    token,
                );
                None
            }
            _ => {
                self.unexpected(
                    "Invalid attribute name",
                    "The name of an attribute is expected after this dot.",
                    if token.kind == T::Newline { dot } else { token },
                );
                None
            }
        }
    }

    /// The expression gathered so far.
    fn flush(&mut self, source: Source, steps: &mut Vec<Step>, start: u32) -> Expression {
        let end = match (steps.last(), &source) {
            (Some(step), _) => Some(step.range()),
            (None, Source::Other(e)) => Some(e.range()),
            (None, Source::Root(..)) => None,
        };
        let steps = std::mem::take(steps).into_boxed_slice();
        match source {
            Source::Root(root, token) => {
                let root_range = self.token_range(token);
                let traversal = Traversal {
                    root,
                    root_range,
                    steps,
                };
                let range = traversal.range();
                Expression::new(K::Traversal(traversal), range)
            }
            Source::Other(expression) if steps.is_empty() => expression,
            Source::Other(source) => {
                let mut range = self.range(start, start);
                if let Some(end) = end {
                    range.end = end.end;
                }
                Expression::new(K::Relative { source, steps }, range)
            }
        }
    }

    /// `.*` has been read: only `.name` and `.0` belong to what is taken of each element.
    fn attribute_splat(
        &mut self,
        source: Expression,
        dot: Token,
        star: Token,
        start: u32,
    ) -> Expression {
        let marker = self.range(dot.start, star.end);
        let item = Expression::new(K::SplatItem, marker);
        let mut steps = Vec::new();
        while !self.recovery {
            let Some(dot) = self.read_if(T::Dot) else {
                break;
            };
            if let Some(step) = self.dot_step(dot, true) {
                steps.push(step);
            }
        }
        let each = self.flush(Source::Other(item), &mut steps, dot.start);
        let splat = Splat {
            source,
            kind: SplatKind::Attribute,
            each,
            marker,
        };
        self.node(K::Splat(splat), start)
    }

    /// `[*` has been read: all further steps belong to what is taken of each element.
    fn full_splat(
        &mut self,
        source: Expression,
        open: Token,
        star: Token,
        start: u32,
    ) -> Expression {
        let close = self.peek();
        if close.kind == T::CloseBracket {
            self.read();
        } else {
            self.unexpected(
                "Missing close bracket on splat index",
                "A closing bracket is expected right after the star of a splat, as in list[*].id.",
                close,
            );
            self.skip_to(T::CloseBracket);
        }
        let marker = self.range(open.start, self.read_to.max(star.end));
        let item = Expression::new(K::SplatItem, marker);
        let each = if self.recovery {
            item
        } else {
            let unread = item.clone();
            self.nested(|p| p.steps(Source::Other(item), open.start))
                .unwrap_or(unread)
        };
        let splat = Splat {
            source,
            kind: SplatKind::Full,
            each,
            marker,
        };
        self.node(K::Splat(splat), start)
    }

    /// A call, the first part of its name read and `(` or `::` next.
    fn call(&mut self, first: Token) -> Expression {
        let mut name = String::from_utf8_lossy(self.bytes(first)).into_owned();
        while self.read_if(T::DoubleColon).is_some() {
            let part = self.peek();
            if part.kind != T::Identifier {
                self.unexpected(
                    "Missing function name",
                    "The name of a function is expected after ::, as in provider::google::name(...).",
                    part,
                );
                return self.invalid(first.start);
            }
            self.read();
            name.push_str("::");
            name.push_str(&String::from_utf8_lossy(self.bytes(part)));
        }
        let name_range = self.range(first.start, self.read_to);
        let open = self.peek();
        if open.kind != T::OpenParen {
            self.unexpected(
                "Missing open parenthesis",
                "A name with :: in it is that of a function. An opening parenthesis and the \
                 arguments are expected here.",
                open,
            );
            return self.invalid(first.start);
        }
        self.read();
        let (arguments, expand_final, close) = self.with_newlines(false, Self::arguments);
        let call = FunctionCall {
            name: name.into(),
            name_range,
            arguments: arguments.into(),
            expand_final,
            open: self.token_range(open),
            close,
        };
        self.node(K::FunctionCall(call), first.start)
    }

    /// Arguments and the closing parenthesis.
    fn arguments(&mut self) -> (Vec<Expression>, bool, SourceRange) {
        let mut arguments = Vec::new();
        let mut expand_final = false;
        while self.peek().kind != T::CloseParen {
            arguments.push(self.expression());
            if self.recovery {
                break;
            }
            let next = self.peek();
            match next.kind {
                T::CloseParen => {}
                T::Comma => {
                    self.read();
                }
                T::Ellipsis => {
                    self.read();
                    expand_final = true;
                    let next = self.peek();
                    if next.kind != T::CloseParen {
                        self.unexpected(
                            "Missing closing parenthesis",
                            "The closing parenthesis is expected right after ..., which only the \
                             last argument may carry.",
                            next,
                        );
                        break;
                    }
                }
                T::End => {
                    self.unexpected(
                        "Unterminated function call",
                        "This call has no closing parenthesis before the end of the file.",
                        next,
                    );
                    break;
                }
                _ => {
                    self.unexpected(
                        "Missing argument separator",
                        "A comma or the closing parenthesis is expected after an argument.",
                        next,
                    );
                    break;
                }
            }
        }
        let close = self.close(T::CloseParen);
        (arguments, expand_final, close)
    }

    fn tuple_or_for(&mut self) -> Expression {
        let open = self.read();
        self.with_newlines(false, |p| {
            if p.next_is_for() {
                return p.for_expression(open, T::CloseBracket);
            }
            let mut items = Vec::new();
            while p.peek().kind != T::CloseBracket {
                items.push(p.expression());
                if p.recovery {
                    break;
                }
                let next = p.peek();
                match next.kind {
                    T::CloseBracket => {}
                    T::Comma => {
                        p.read();
                    }
                    T::End => {
                        p.unexpected(
                            "Unterminated tuple constructor expression",
                            "This list has no closing bracket before the end of the file.",
                            next,
                        );
                        break;
                    }
                    _ => {
                        p.unexpected(
                            "Missing item separator",
                            "A comma or the closing bracket is expected after an item.",
                            next,
                        );
                        break;
                    }
                }
            }
            p.close(T::CloseBracket);
            p.node(K::Tuple(items.into()), open.start)
        })
    }

    fn next_is_for(&mut self) -> bool {
        let token = self.peek();
        token.kind == T::Identifier && self.bytes(token) == b"for"
    }

    fn object_or_for(&mut self) -> Expression {
        let open = self.read();
        let is_for = self.with_newlines(false, |p| {
            let at = p.at;
            let is_for = p.next_is_for();
            if !is_for {
                p.at = at;
            }
            is_for
        });
        if is_for {
            return self.with_newlines(false, |p| p.for_expression(open, T::CloseBrace));
        }
        self.with_newlines(true, |p| {
            let mut items = Vec::new();
            loop {
                match p.peek().kind {
                    T::Newline => {
                        p.read();
                        continue;
                    }
                    T::CloseBrace => break,
                    _ => {}
                }
                if let Some(item) = p.object_item() {
                    items.push(item);
                }
                if p.recovery {
                    break;
                }
                let next = p.peek();
                match next.kind {
                    T::CloseBrace => break,
                    T::Comma | T::Newline => {
                        p.read();
                    }
                    T::End => {
                        p.unexpected(
                            "Unterminated object constructor expression",
                            "This object has no closing brace before the end of the file.",
                            next,
                        );
                        break;
                    }
                    _ => {
                        p.unexpected(
                            "Missing attribute separator",
                            "A comma, a line break or the closing brace is expected after a value. \
                             If this belongs to the value, an operator or quotes may be missing.",
                            next,
                        );
                        break;
                    }
                }
            }
            p.close(T::CloseBrace);
            p.node(K::Object(items.into()), open.start)
        })
    }

    fn object_item(&mut self) -> Option<ObjectItem> {
        let key = self.expression();
        if self.recovery {
            return None;
        }
        let next = self.peek();
        match next.kind {
            T::Assign | T::Colon => {
                self.read();
            }
            T::Newline | T::Comma => {
                self.unexpected(
                    "Missing attribute value",
                    "A key in an object is followed by an equals sign and a value, on the same line. \
                     For a list of values, use [ and ].",
                    next,
                );
                return None;
            }
            T::End => {
                self.unexpected(
                    "Unterminated object constructor expression",
                    "This object has no closing brace before the end of the file.",
                    next,
                );
                return None;
            }
            _ => {
                self.unexpected(
                    "Missing key/value separator",
                    "An equals sign is expected between the key and the value of an object. A key \
                     with spaces or dots in it stands in quotes.",
                    next,
                );
                return None;
            }
        }
        let value = self.expression();
        let key = match key.as_keyword() {
            Some(name) => ObjectKey::Name {
                name: match key.kind() {
                    K::Traversal(t) => t.root.clone(),
                    _ => Arc::from(name),
                },
                range: key.range(),
            },
            None => ObjectKey::Expression(key),
        };
        Some(ObjectItem { key, value })
    }

    /// `for`, next, to the closing bracket.
    fn for_expression(&mut self, open: Token, closer: T) -> Expression {
        self.read();
        let parts = self.for_parts(open, closer == T::CloseBrace);
        if !self.recovery && self.peek().kind != closer {
            let next = self.peek();
            self.bad_for(
                "The closing bracket of the 'for' expression is expected here.",
                next,
            );
        }
        let close = self.close(closer);
        match parts {
            Some(mut parts) => {
                parts.close = close;
                self.node(K::For(Box::new(parts)), open.start)
            }
            None => self.invalid(open.start),
        }
    }

    fn bad_for(&mut self, detail: &str, at: Token) {
        self.unexpected("Invalid 'for' expression", detail, at);
    }

    fn for_parts(&mut self, open: Token, object: bool) -> Option<ForExpression> {
        let (key_name, value_name) = self.for_names("Invalid 'for' expression")?;
        let collection = self.expression();
        if self.recovery {
            return None;
        }
        let colon = self.peek();
        if colon.kind != T::Colon {
            self.bad_for(
                "A colon is expected after the collection to go through.",
                colon,
            );
            return None;
        }
        self.read();
        let mut value = self.expression();
        let mut key = None;
        if self.recovery {
            return None;
        }
        let arrow = self.peek();
        if arrow.kind == T::FatArrow {
            self.read();
            key = Some(std::mem::replace(&mut value, self.expression()));
            if self.recovery {
                return None;
            }
        }
        let group = self.read_if(T::Ellipsis);
        let mut condition = None;
        let next = self.peek();
        if next.kind == T::Identifier && self.bytes(next) == b"if" {
            self.read();
            condition = Some(self.expression());
            if self.recovery {
                return None;
            }
        }
        let complaint = match (object, &key, group) {
            (true, None, _) => Some((
                "Each item of an object needs a key: write key => value, or use [ and ] for a list.",
                colon,
            )),
            (false, Some(_), _) => Some((
                "Items of a list have no keys. Write the value alone, or use { and } for an object.",
                arrow,
            )),
            (false, None, Some(ellipsis)) => Some((
                "Only an object can group values of the same key with ...; this is a list.",
                ellipsis,
            )),
            _ => None,
        };
        if let Some((detail, at)) = complaint {
            let range = self.token_range(at);
            self.report(Diagnostic::error("Invalid 'for' expression", detail).at(range));
        }
        let open = self.token_range(open);
        Some(ForExpression {
            key_name,
            value_name,
            collection,
            key,
            value,
            group: group.is_some(),
            condition,
            open,
            close: open,
        })
    }

    /// `name in` or `name, name in` of a `for`.
    pub(super) fn for_names(&mut self, summary: &str) -> Option<(Option<Named>, Named)> {
        let first = self.peek();
        if first.kind != T::Identifier {
            self.unexpected(
                summary,
                "The name of a variable is expected after 'for'.",
                first,
            );
            return None;
        }
        self.read();
        let mut key = None;
        let mut value = (self.name(first), self.token_range(first));
        if self.read_if(T::Comma).is_some() {
            let second = self.peek();
            if second.kind != T::Identifier {
                let detail = "The name of a second variable is expected after the comma.";
                self.unexpected(summary, detail, second);
                return None;
            }
            self.read();
            let second = (self.name(second), self.token_range(second));
            key = Some(std::mem::replace(&mut value, second));
        }
        let word = self.peek();
        if word.kind != T::Identifier || self.bytes(word) != b"in" {
            self.unexpected(
                summary,
                "The word 'in' and what to go through are expected after the names.",
                word,
            );
            return None;
        }
        self.read();
        Some((key, value))
    }
}

/// A name with its range.
pub(super) type Named = (Arc<str>, SourceRange);

fn binary_operator(kind: T) -> Option<BinaryOperator> {
    use BinaryOperator as B;
    Some(match kind {
        T::Or => B::Or,
        T::And => B::And,
        T::Equal => B::Equal,
        T::NotEqual => B::NotEqual,
        T::Less => B::Less,
        T::LessOrEqual => B::LessOrEqual,
        T::Greater => B::Greater,
        T::GreaterOrEqual => B::GreaterOrEqual,
        T::Plus => B::Add,
        T::Minus => B::Subtract,
        T::Star => B::Multiply,
        T::Slash => B::Divide,
        T::Percent => B::Modulo,
        _ => return None,
    })
}
