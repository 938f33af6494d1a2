//! Source text to a tree with exact spans, and back to tidy text.
//!
//! [`parse`] reads the native syntax, [`parse_json`] the JSON variant; both end in the same [`Body`],
//! whose arguments are [`Expression`]s that nobody has evaluated yet. Readers ask a body for its
//! [`Body::content`] by a schema, which works for both. [`format()`] lays out native text as
//! `terraform fmt` does.
//!
//! # What a reader may rely on
//!
//! - Nothing here fails or panics: each function that reads a user's text returns a value and
//!   diagnostics. After an error the tree holds all that could be understood; what could not is an
//!   [`ExpressionKind::Invalid`], which has been reported already.
//! - Each node carries the range of bytes it was read from. The tokens of [`scan`] tile the text:
//!   between two of them lie only spaces and tabs, so no byte is lost.
//! - Trees are immutable, shared and cheap to clone ([`Body`] and [`Expression`] are reference
//!   counted), `Send` and `Sync`; they outlive the parse and cross threads.
//! - Depth is limited ([`MAX_NESTING`]); within the limit no walk and no drop overflows the stack, a
//!   chain of ten thousand operators included. Whoever writes a recursive walk over expressions
//!   calls [`on_deep_stack`] at each step for the same reason.
//! - Literal strings are already unescaped, `~` strip markers and the indentation of `<<-` documents
//!   already applied. Numbers keep their text: no number passes through a float here.
//!
//! # What it does not know
//!
//! Which blocks and arguments exist, what a function or a reference means, values, types, modules.
//! It does no I/O and normalises no Unicode: that is for whoever makes values of the text.
#![forbid(unsafe_code)]

mod body;
mod content;
mod debug_text;
mod expression;
mod format;
mod json;
mod layers;
mod offsets;
mod parser;
mod scanner;
mod template;
mod traversal;
mod variables;

pub use body::{Attribute, Block, Body, BodyItem, Label};
pub use content::{AttributeSchema, BlockSchema, BodySchema, Content};
pub use expression::{
    BinaryOperator, Conditional, Expression, ExpressionKind, ForExpression, FunctionCall,
    ObjectItem, ObjectKey, Splat, SplatKind, UnaryOperator,
};
pub use format::format;
pub use json::{JsonStrings, parse_json};
pub use offsets::OffsetMap;
pub use scanner::{ScanMode, Token, TokenKind, scan};
pub use template::{Template, TemplateFlavour, TemplatePart, TemplateParts, quote};
pub use traversal::{IndexKey, Step, Traversal};

use formwork_diagnostics::{Checked, FileId};

/// How many brackets, blocks, directives, unary operators or conditionals may stand in each other.
pub const MAX_NESTING: u32 = 1_000;

/// Runs one step of a recursive walk, on a fresh piece of stack if the present one runs out.
pub fn on_deep_stack<R>(step: impl FnOnce() -> R) -> R {
    // Red zone: more than the largest run of frames between two calls of this function.
    stacker::maybe_grow(96 * 1024, 2 * 1024 * 1024, step)
}

/// How many diagnostics about one text are told before the rest is cut off.
pub const MAX_DIAGNOSTICS: usize = 100;

/// Reads a file of the native syntax (`.tf`, `.tfvars`, `.tftest.hcl`).
pub fn parse(file: FileId, text: &[u8]) -> Checked<Body> {
    parser::parse(file, text)
}

/// Reads one expression, to which all of `text` must belong.
///
/// `offsets` says where in `file` the text stands ([`OffsetMap::PLAIN`] if it is the file).
pub fn parse_expression(file: FileId, text: &[u8], offsets: &OffsetMap) -> Checked<Expression> {
    parser::parse_expression(file, text, offsets)
}

/// Reads a bare template: a whole file, or a string of the JSON syntax.
///
/// The result is an [`ExpressionKind::String`], [`ExpressionKind::TemplateWrap`] or
/// [`ExpressionKind::Template`].
pub fn parse_template(file: FileId, text: &[u8], offsets: &OffsetMap) -> Checked<Expression> {
    parser::parse_template(file, text, offsets)
}

/// Reads a static path such as `module.net.subnets["a"]`; `None` if it is none.
pub fn parse_traversal(
    file: FileId,
    text: &[u8],
    offsets: &OffsetMap,
) -> Checked<Option<Traversal>> {
    parser::parse_traversal(file, text, offsets)
}

/// Reads a configuration file in the syntax that its name says: JSON if it ends in `.json`.
///
/// Strings in JSON files of variable values (`.tfvars.json`) stand for themselves.
pub fn parse_named(file: FileId, name: &str, text: &[u8]) -> Checked<Body> {
    if !name.ends_with(".json") {
        return parse(file, text);
    }
    let strings = if name.ends_with(".tfvars.json") {
        JsonStrings::Literals
    } else {
        JsonStrings::Templates
    };
    parse_json(file, text, strings)
}

#[cfg(test)]
mod content_tests;
