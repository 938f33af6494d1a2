//! [`Diagnostic`] and the ordered collection of them.

use crate::source::SourceRange;
use std::fmt;

/// How bad it is. Nothing else: notes are hints of the diagnostic they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The command cannot do what was asked.
    Error,
    /// The command goes on, but the user should know.
    Warning,
}

/// What a reference in the failing expression stood for, already fit to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionValue {
    /// The reference as written, such as `var.zone`.
    pub traversal: String,
    /// What it is, as a clause: `is "us-east1-b"`, `is a list of string`, `has a sensitive value`.
    pub statement: String,
}

/// The function whose call failed, for consumers of `validate -json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCall {
    /// Name as written at the call, with its namespace if it has one.
    pub called_as: String,
    /// Signature as `name(a, b...)`, empty where unknown.
    pub signature: String,
}

/// One thing to tell the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Fixed and short, without a full stop; the same mistake always has the same summary.
    pub summary: String,
    /// Full sentences: what is wrong with this very input, why, and what to do about it.
    pub detail: String,
    /// The offending text.
    pub subject: Option<SourceRange>,
    /// The wider text the subject stands in (its block or expression), where that helps.
    pub context: Option<SourceRange>,
    /// Address of the object concerned, such as `module.net.google_compute_network.rdma[0]`.
    pub address: Option<String>,
    /// Further advice, each a sentence, drawn apart from the detail.
    pub hints: Vec<String>,
    /// What the references in the failing expression are; never a sensitive value.
    pub values: Vec<ExpressionValue>,
    /// The failing function call, if it was one.
    pub function_call: Option<FunctionCall>,
}

impl Diagnostic {
    /// An error with a summary and a detail.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Error, summary.into(), detail.into())
    }

    /// A warning with a summary and a detail.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Warning, summary.into(), detail.into())
    }

    fn new(severity: Severity, summary: String, detail: String) -> Self {
        Self {
            severity,
            summary,
            detail,
            subject: None,
            context: None,
            address: None,
            hints: Vec::new(),
            values: Vec::new(),
            function_call: None,
        }
    }

    /// With the range of the offending text.
    #[must_use]
    pub fn at(mut self, subject: SourceRange) -> Self {
        self.subject = Some(subject);
        self
    }

    /// With the range of the offending text, where there is one.
    #[must_use]
    pub fn at_opt(mut self, subject: Option<SourceRange>) -> Self {
        self.subject = subject.or(self.subject);
        self
    }

    /// With the wider text the subject stands in.
    #[must_use]
    pub fn within(mut self, context: SourceRange) -> Self {
        self.context = Some(context);
        self
    }

    /// With the address of the object concerned.
    #[must_use]
    pub fn about(mut self, address: impl fmt::Display) -> Self {
        self.address = Some(address.to_string());
        self
    }

    /// With one more piece of advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Diagnostics in the order in which they arose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "diagnostics must reach the user"]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// None yet.
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds all of `other`.
    pub fn append(&mut self, other: Diagnostics) {
        self.0.extend(other.0);
    }

    /// Takes the value of a checked result and keeps its diagnostics here.
    pub fn take<T>(&mut self, checked: crate::Checked<T>) -> T {
        self.append(checked.1);
        checked.0
    }

    /// Whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// How many errors there are.
    pub fn error_count(&self) -> usize {
        self.0.iter().filter(|d| d.is_error()).count()
    }

    /// How many warnings there are.
    pub fn warning_count(&self) -> usize {
        self.0.len() - self.error_count()
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// In order, to add what is known of them elsewhere.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Diagnostic> {
        self.0.iter_mut()
    }

    /// In order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// `Ok` with everything said if there is no error, else `Err` with everything said.
    ///
    /// # Errors
    /// The diagnostics themselves, if one of them is an error.
    pub fn into_result(self) -> Result<Diagnostics, Diagnostics> {
        if self.has_errors() {
            Err(self)
        } else {
            Ok(self)
        }
    }

    /// Gives each diagnostic that has no subject yet the range of what was being read.
    pub fn default_subject(&mut self, range: SourceRange) {
        for d in &mut self.0 {
            d.subject.get_or_insert(range);
        }
    }

    /// Gives each diagnostic that has no address yet the one of the object being handled.
    pub fn default_address(&mut self, address: impl fmt::Display) {
        for d in &mut self.0 {
            d.address.get_or_insert_with(|| address.to_string());
        }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(d: Diagnostic) -> Self {
        Self(vec![d])
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, iter: I) {
        self.0.extend(iter);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_results() {
        let mut d = Diagnostics::new();
        d.push(Diagnostic::warning("Odd", "Odd indeed."));
        assert!(!d.has_errors());
        let d = d.into_result().expect("only a warning");
        let mut d = d;
        d.push(Diagnostic::error("Bad", "Bad indeed."));
        assert_eq!((d.error_count(), d.warning_count(), d.len()), (1, 1, 2));
        assert!(d.into_result().is_err());
    }

    #[test]
    fn defaults_do_not_overwrite() {
        let mut d = Diagnostics::from(Diagnostic::error("Bad", "").about("a.b"));
        d.push(Diagnostic::error("Bad", ""));
        d.default_address("c.d");
        let addresses: Vec<_> = d.iter().map(|d| d.address.as_deref()).collect();
        assert_eq!(addresses, [Some("a.b"), Some("c.d")]);
    }
}
