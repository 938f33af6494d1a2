//! Errors are our voice: what is wrong, where, why, and what to do.
//!
//! A [`Diagnostic`] is plain data. Every function of Formwork that reads a user's text returns a
//! value *and* [`Diagnostics`], so warnings survive success and one mistake does not hide another.
//! Summaries are fixed and short (pipelines match on them); details are full sentences.
//!
//! A [`SourceRange`] is twelve bytes and means nothing without the [`SourceMap`] that handed out its
//! [`FileId`]; lines and columns are computed only when a diagnostic is drawn. Columns count
//! grapheme clusters, as HCL's do; offsets are bytes.
//!
//! This crate does not draw: text and JSON are made by `cli/render`. It never holds a sensitive
//! value: whoever adds an [`ExpressionValue`] has already redacted it.
#![forbid(unsafe_code)]

mod diagnostic;
mod source;
mod suggest;

pub use diagnostic::{Diagnostic, Diagnostics, ExpressionValue, FunctionCall, Severity};
pub use source::{FileId, Position, SourceFile, SourceMap, SourceRange};
pub use suggest::{nearest, nearest_within};

/// A value together with what there is to say about how it came to be.
///
/// The value may be partial: callers look at [`Diagnostics::has_errors`] before they rely on it.
pub type Checked<T> = (T, Diagnostics);
