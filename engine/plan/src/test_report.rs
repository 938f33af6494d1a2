//! What a run of tests comes to: data that `ops` makes and `render` shows.

use formwork_diagnostics::{Diagnostics, SourceMap};
use std::time::{Duration, SystemTime};

/// How a run, a file or all of them ended; later ones outweigh earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestStatus {
    /// Not run, because one before it ended in error.
    Skip,
    /// Everything held.
    #[default]
    Pass,
    /// An assertion did not hold.
    Fail,
    /// Something went wrong that is not an assertion.
    Error,
}

impl TestStatus {
    /// The word of the event stream.
    pub fn word(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
        }
    }
}

/// What became of one run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// Its name.
    pub name: String,
    /// How it ended.
    pub status: TestStatus,
    /// Everything there is to say about it.
    pub diagnostics: Diagnostics,
    /// The files that this points into.
    pub sources: SourceMap,
    /// How many assertions it has.
    pub asserts: usize,
    /// How many of them did not hold.
    pub failed_asserts: usize,
    /// When it began; `None` if it did not.
    pub began: Option<SystemTime>,
    /// How long it took.
    pub took: Duration,
}

/// Objects that a test file made and that are still there.
#[derive(Clone, Debug)]
pub struct LeftBehind {
    /// The last run that worked on their state.
    pub run: String,
    /// Their addresses, left-behind halves of replacements with their keys.
    pub addresses: Vec<String>,
    /// Why they could not be destroyed.
    pub diagnostics: Diagnostics,
    /// The files that this points into.
    pub sources: SourceMap,
    /// The state that knows them.
    pub state: Vec<u8>,
    /// The journal beside it; empty if no operation is open.
    pub journal: Vec<u8>,
}

/// What became of one file.
#[derive(Clone, Debug)]
pub struct FileReport {
    /// Its name.
    pub name: String,
    /// How it ended, its clean-up included.
    pub status: TestStatus,
    /// Its runs, in order.
    pub runs: Vec<RunReport>,
    /// What its clean-up left behind.
    pub left: Vec<LeftBehind>,
}

/// What became of all of them.
#[derive(Clone, Debug, Default)]
pub struct TestReport {
    /// The files that were run, in order.
    pub files: Vec<FileReport>,
}

/// How many runs ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Passed.
    pub passed: usize,
    /// With an assertion that does not hold.
    pub failed: usize,
    /// With something else that went wrong.
    pub errored: usize,
    /// Not run.
    pub skipped: usize,
}

impl FileReport {
    /// How many of its runs ended how.
    pub fn counts(&self) -> TestCounts {
        let mut counts = TestCounts::default();
        for run in &self.runs {
            counts.count(run.status);
        }
        counts
    }
}

impl TestReport {
    /// How all of it ended.
    pub fn status(&self) -> TestStatus {
        let all = self.files.iter().map(|f| f.status);
        all.max().unwrap_or(TestStatus::Pass).max(TestStatus::Pass)
    }

    /// How many runs ended how.
    pub fn counts(&self) -> TestCounts {
        let mut counts = TestCounts::default();
        for run in self.files.iter().flat_map(|f| &f.runs) {
            counts.count(run.status);
        }
        counts
    }
}

impl TestCounts {
    fn count(&mut self, status: TestStatus) {
        match status {
            TestStatus::Pass => self.passed += 1,
            TestStatus::Fail => self.failed += 1,
            TestStatus::Error => self.errored += 1,
            TestStatus::Skip => self.skipped += 1,
        }
    }
}
