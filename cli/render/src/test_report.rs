//! Runs of tests for people, and as JUnit's XML.
//!
//! The words of the status lines and of the summary are facts that pipelines search for.

use crate::diagnostics::diagnostics_text;
use crate::style::{Role, Style};
use formwork_diagnostics::Diagnostics;
use formwork_plan::{FileReport, LeftBehind, RunReport, TestReport, TestStatus};
use std::fmt::Write as _;

/// The word of a status line.
pub(crate) fn word(status: TestStatus) -> &'static str {
    match status {
        TestStatus::Pass => "pass",
        TestStatus::Skip => "skip",
        TestStatus::Fail | TestStatus::Error => "fail",
    }
}

/// `NAME... WORD`
pub(crate) fn progress(name: &str, word: &str) -> String {
    format!("{name}... {word}")
}

/// `1 file`, `2 files`
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The line that ends it all.
pub(crate) fn summary(report: &TestReport) -> String {
    let counts = report.counts();
    let word = match report.status() {
        TestStatus::Pass | TestStatus::Skip => "Success!",
        TestStatus::Fail | TestStatus::Error => "Failure!",
    };
    let skipped = match counts.skipped {
        0 => String::new(),
        n => format!(", {n} skipped"),
    };
    format!(
        "{word} {} passed, {} failed{skipped}.",
        counts.passed,
        counts.failed + counts.errored
    )
}

/// A run of tests as people read it, piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct TestText {
    /// How it looks.
    pub style: Style,
}

impl TestText {
    fn status(self, status: TestStatus) -> String {
        let role = match status {
            TestStatus::Pass => Role::Good,
            TestStatus::Skip => Role::Faint,
            TestStatus::Fail | TestStatus::Error => Role::Error,
        };
        self.style.paint(role, word(status))
    }

    /// A file begins.
    pub fn file_begun(self, file: &str) -> String {
        let word = self.style.paint(Role::Faint, "in progress");
        format!("{}\n", progress(file, &word))
    }

    /// A run has ended.
    pub fn run_ended(self, report: &RunReport) -> String {
        let word = self.status(report.status);
        format!("  run \"{}\"... {word}\n", report.name)
    }

    /// The clean-up of a file begins.
    pub fn file_ending(self, file: &str) -> String {
        let word = self.style.paint(Role::Faint, "tearing down");
        format!("{}\n", progress(file, &word))
    }

    /// A file has ended.
    pub fn file_ended(self, report: &FileReport) -> String {
        format!("{}\n", progress(&report.name, &self.status(report.status)))
    }

    /// What a clean-up has left behind.
    pub fn left(self, file: &str, left: &LeftBehind) -> String {
        let mut out = diagnostics_text(&left.diagnostics, &left.sources, self.style);
        if left.addresses.is_empty() {
            return out;
        }
        // writing to a String cannot fail
        let _ = writeln!(
            out,
            "\nThe clean-up of {file} after run \"{}\" left {} behind, which must be removed by hand:",
            left.run,
            counted(left.addresses.len(), "object")
        );
        for address in &left.addresses {
            let _ = writeln!(out, "  - {address}");
        }
        out
    }

    /// The line that ends it all, after a blank one.
    pub fn summary(self, report: &TestReport) -> String {
        let line = summary(report);
        let (first, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let role = match report.status() {
            TestStatus::Pass | TestStatus::Skip => Role::Good,
            TestStatus::Fail | TestStatus::Error => Role::Error,
        };
        format!("\n{} {rest}\n", self.style.paint(role, first))
    }
}

/// The report as JUnit's XML, in the layout that readers of `terraform test -junit-xml` know. `time`
/// gives a moment as an RFC 3339 text.
pub fn junit(report: &TestReport, time: &dyn Fn(std::time::SystemTime) -> String) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><testsuites>\n".to_owned();
    for file in &report.files {
        let counts = file.counts();
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" skipped=\"{}\" failures=\"{}\" errors=\"{}\">",
            attribute(&file.name),
            file.runs.len(),
            counts.skipped,
            counts.failed,
            counts.errored
        );
        let mut stopped_by = None;
        for run in &file.runs {
            let _ = write!(
                out,
                "    <testcase name=\"{}\" classname=\"{}\"",
                attribute(&run.name),
                attribute(&file.name)
            );
            if let Some(began) = run.began {
                let _ = write!(
                    out,
                    " time=\"{:.9}\" timestamp=\"{}\"",
                    run.took.as_secs_f64(),
                    attribute(&time(began))
                );
            }
            out.push('>');
            case(&mut out, run, stopped_by);
            if run.status == TestStatus::Error {
                stopped_by = Some(&run.name);
            }
            out.push_str("</testcase>\n");
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn case(out: &mut String, run: &RunReport, stopped_by: Option<&String>) {
    let said = diagnostics_text(&run.diagnostics, &run.sources, Style::PLAIN);
    let (element, message, content) = match run.status {
        TestStatus::Pass => {
            if !said.is_empty() {
                let _ = write!(
                    out,
                    "\n      <system-err>{}</system-err>\n    ",
                    text(&said)
                );
            }
            return;
        }
        TestStatus::Fail => {
            let messages: Vec<&str> = failures(&run.diagnostics);
            let message = format!(
                "{} of {} failed: {}",
                run.failed_asserts,
                counted(run.asserts, "assertion"),
                messages.join(", ")
            );
            ("failure", message, said)
        }
        TestStatus::Error => ("error", "The run ended in error".to_owned(), said),
        TestStatus::Skip => {
            let why = match stopped_by {
                Some(name) => format!("Not run: \"{name}\" before it ended in error."),
                None => "Not run: the tests were interrupted.".to_owned(),
            };
            ("skipped", "Not run".to_owned(), why)
        }
    };
    let _ = write!(
        out,
        "\n      <{element} message=\"{}\">{}</{element}>\n    ",
        attribute(&message),
        text(&content)
    );
}

/// What the authors of failed assertions say.
fn failures(said: &Diagnostics) -> Vec<&str> {
    said.iter()
        .filter(|d| d.is_error())
        .map(|d| &*d.detail)
        .collect()
}

/// Whether XML 1.0 has the character at all.
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Text as the value of an attribute.
fn attribute(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            // as they are, readers would make blanks of them
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            c if is_allowed(c) => out.push(c),
            _ => out.push('\u{fffd}'),
        }
    }
    out
}

/// Text as content.
fn text(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| if is_allowed(c) { c } else { '\u{fffd}' })
        .collect();
    // what would end the section is cut in two
    format!("<![CDATA[{}]]>", clean.replace("]]>", "]]]]><![CDATA[>"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_diagnostics::{Diagnostic, SourceMap};
    use std::time::{Duration, SystemTime};

    fn run(name: &str, status: TestStatus, said: Option<Diagnostic>) -> RunReport {
        RunReport {
            name: name.to_owned(),
            status,
            diagnostics: said.into_iter().collect(),
            sources: SourceMap::new(),
            asserts: 2,
            failed_asserts: 1,
            began: (status != TestStatus::Skip).then_some(SystemTime::UNIX_EPOCH),
            took: Duration::from_millis(1500),
        }
    }

    fn report() -> TestReport {
        let odd = Diagnostic::error("Test assertion failed", "a <b> & \"c\" ]]> d\u{1}");
        TestReport {
            files: vec![FileReport {
                name: "a&b.tftest.hcl".to_owned(),
                status: TestStatus::Error,
                runs: vec![
                    run("p", TestStatus::Pass, None),
                    run(
                        "w",
                        TestStatus::Pass,
                        Some(Diagnostic::warning("W", "Odd.")),
                    ),
                    run("f", TestStatus::Fail, Some(odd)),
                    run("e", TestStatus::Error, Some(Diagnostic::error("E", "Bad."))),
                    run("s", TestStatus::Skip, None),
                ],
                left: Vec::new(),
            }],
        }
    }

    #[test]
    fn words() {
        assert_eq!(
            summary(&report()),
            "Failure! 2 passed, 2 failed, 1 skipped."
        );
        assert_eq!(
            summary(&TestReport::default()),
            "Success! 0 passed, 0 failed."
        );
        let text = TestText {
            style: Style::PLAIN,
        };
        let report = &report();
        let file = &report.files[0];
        assert_eq!(text.file_begun("x"), "x... in progress\n");
        assert_eq!(text.file_ending("x"), "x... tearing down\n");
        assert_eq!(text.file_ended(file), "a&b.tftest.hcl... fail\n");
        let lines: String = file.runs.iter().map(|r| text.run_ended(r)).collect();
        assert_eq!(
            lines,
            "  run \"p\"... pass\n  run \"w\"... pass\n  run \"f\"... fail\n  run \"e\"... fail\n  run \"s\"... skip\n"
        );
    }

    #[test]
    fn xml_holds_any_text() {
        let xml = junit(&report(), &|_| "T".to_owned());
        assert_eq!(
            xml,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><testsuites>\n  \
             <testsuite name=\"a&amp;b.tftest.hcl\" tests=\"5\" skipped=\"1\" failures=\"1\" errors=\"1\">\n    \
             <testcase name=\"p\" classname=\"a&amp;b.tftest.hcl\" time=\"1.500000000\" timestamp=\"T\"></testcase>\n    \
             <testcase name=\"w\" classname=\"a&amp;b.tftest.hcl\" time=\"1.500000000\" timestamp=\"T\">\n      \
             <system-err><![CDATA[\nWarning: W\n\nOdd.\n]]></system-err>\n    </testcase>\n    \
             <testcase name=\"f\" classname=\"a&amp;b.tftest.hcl\" time=\"1.500000000\" timestamp=\"T\">\n      \
             <failure message=\"1 of 2 assertions failed: a &lt;b&gt; &amp; &quot;c&quot; ]]&gt; d\u{fffd}\">\
             <![CDATA[\nError: Test assertion failed\n\na <b> & \"c\" ]]]]><![CDATA[> d\u{fffd}\n]]></failure>\n    </testcase>\n    \
             <testcase name=\"e\" classname=\"a&amp;b.tftest.hcl\" time=\"1.500000000\" timestamp=\"T\">\n      \
             <error message=\"The run ended in error\"><![CDATA[\nError: E\n\nBad.\n]]></error>\n    </testcase>\n    \
             <testcase name=\"s\" classname=\"a&amp;b.tftest.hcl\">\n      \
             <skipped message=\"Not run\"><![CDATA[Not run: \"e\" before it ended in error.]]></skipped>\n    </testcase>\n  \
             </testsuite>\n</testsuites>\n"
        );
    }
}
