//! What went wrong, before it is known whose fault it is.

use crate::address::{Address, Package};
use std::fmt;

/// Why a package could not be had. Texts hold no credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Fixed and short, as diagnostics have it.
    pub summary: &'static str,
    /// Full sentences.
    pub detail: String,
    /// What to do, where there is something to add.
    pub hint: Option<String>,
}

/// The summary of whatever goes wrong on the way of a package to its folder.
pub(crate) const FAILED: &str = "Failed to download module";

impl Problem {
    pub(crate) fn new(summary: &'static str, detail: impl Into<String>) -> Self {
        Self {
            summary,
            detail: detail.into(),
            hint: None,
        }
    }

    /// Something went wrong on the way.
    pub(crate) fn failed(detail: impl Into<String>) -> Self {
        Self::new(FAILED, detail)
    }

    /// A file or folder of ours could not be worked with.
    pub(crate) fn local(what: &str, error: &std::io::Error) -> Self {
        Self::failed(format!("{what}: {error}."))
    }

    /// Names the package, where the text does not name it yet.
    #[must_use]
    pub(crate) fn of(mut self, package: &Package) -> Self {
        let address = package.address();
        let shown = Address::new(address.without_query()).to_string();
        if !self.detail.contains(&shown) {
            self.detail = format!("{} The package is {address}.", self.detail);
        }
        self
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.summary, self.detail)
    }
}

/// The outcome of a step.
pub(crate) type Outcome<T> = Result<T, Problem>;
