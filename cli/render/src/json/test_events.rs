//! The event stream of a run of tests: one JSON object a line, `ui` 1.2.
//!
//! Like every stream it is no store: what is sensitive is null in it.

use super::events::EventStream;
use super::plan::{write_changes, write_output_changes};
use super::relevant::write_relevant_attributes;
use super::schemas::write_schemas;
use super::state::write_values;
use super::write::{self, Object};
use crate::diagnostics::{Signatures, Snippets, write_diagnostic};
use crate::schemas::{SchemaCache, Schemas, withheld};
use crate::test_report::{counted, progress};
use formwork_configuration::Configuration;
use formwork_diagnostics::{Diagnostic, Severity, SourceMap};
use formwork_plan::{
    FileReport, LeftBehind, OutputChange, Plan, ResourceInstanceChange, RunReport, TestReport,
};
use formwork_state::State;
use std::sync::Arc;

/// Writes the lines of a run of tests. Each has its time, an RFC 3339 text that the caller takes from
/// its clock, and ends with a line feed.
#[derive(Clone, Copy)]
pub struct TestStream<'a> {
    /// The name in `@message` of the first line.
    pub product: &'a str,
    /// Our own version.
    pub tool_version: &'a str,
    /// The language version that consumers read as `terraform`.
    pub language_version: &'a str,
    /// Signatures of functions, for diagnostics.
    pub signatures: &'a dyn Signatures,
}

/// What a line is about.
#[derive(Clone, Copy, Default)]
struct About<'a> {
    file: Option<&'a str>,
    run: Option<&'a str>,
}

impl TestStream<'_> {
    /// The first line.
    pub fn version(&self, at: &str) -> String {
        let sources = SourceMap::new();
        EventStream {
            product: self.product,
            tool_version: self.tool_version,
            language_version: self.language_version,
            by_destroy: false,
            sources: &sources,
            signatures: self.signatures,
        }
        .version(at)
    }

    /// A line of plain information.
    pub fn log(&self, at: &str, message: &str) -> String {
        line("info", message, at, About::default(), |o| {
            o.text("type", "log")
        })
    }

    /// The files and the names of their runs.
    pub fn found(&self, at: &str, files: &[(Arc<str>, Vec<Arc<str>>)]) -> String {
        let runs: usize = files.iter().map(|(_, r)| r.len()).sum();
        let message = format!(
            "Found {} and {}",
            counted(files.len(), "file"),
            counted(runs, "run block")
        );
        line("info", &message, at, About::default(), |o| {
            o.object("test_abstract", |o| {
                for (file, runs) in files {
                    if runs.is_empty() {
                        o.raw(file, "null");
                    } else {
                        o.array(file, |a| runs.iter().for_each(|r| a.text(r)));
                    }
                }
            });
            o.text("type", "test_abstract");
        })
    }

    /// A file begins.
    pub fn file_begun(&self, at: &str, file: &str) -> String {
        let message = progress(file, "in progress");
        test_file(&message, at, file, |o| o.text("progress", "starting"))
    }

    /// The clean-up of a file begins.
    pub fn file_ending(&self, at: &str, file: &str) -> String {
        let message = progress(file, "tearing down");
        test_file(&message, at, file, |o| o.text("progress", "teardown"))
    }

    /// A file has ended.
    pub fn file_ended(&self, at: &str, report: &FileReport) -> String {
        let message = progress(&report.name, crate::test_report::word(report.status));
        test_file(&message, at, &report.name, |o| {
            o.text("progress", "complete");
            o.text("status", report.status.word());
        })
    }

    /// A run begins.
    pub fn run_begun(&self, at: &str, file: &str, run: &str) -> String {
        test_run("in progress", at, file, run, |o| {
            o.text("progress", "starting");
            o.integer("elapsed", 0);
        })
    }

    /// A run has ended.
    pub fn run_ended(&self, at: &str, file: &str, report: &RunReport) -> String {
        let word = crate::test_report::word(report.status);
        test_run(word, at, file, &report.name, |o| {
            o.text("progress", "complete");
            o.text("status", report.status.word());
        })
    }

    /// The clean-up of what a run was the last to work on begins.
    pub fn run_ending(&self, at: &str, file: &str, run: &str) -> String {
        test_run("tearing down", at, file, run, |o| {
            o.text("progress", "teardown");
            o.integer("elapsed", 0);
        })
    }

    /// A diagnostic about a file, perhaps about one of its runs.
    pub fn diagnostic(
        &self,
        at: &str,
        file: Option<&str>,
        run: Option<&str>,
        diagnostic: &Diagnostic,
        sources: &SourceMap,
    ) -> String {
        let (level, word) = match diagnostic.severity {
            Severity::Error => ("error", "Error"),
            Severity::Warning => ("warn", "Warning"),
        };
        let message = format!("{word}: {}", diagnostic.summary);
        let mut snippets = Snippets::new(sources);
        line(level, &message, at, About { file, run }, |o| {
            o.object("diagnostic", |o| {
                write_diagnostic(o, diagnostic, &mut snippets, self.signatures);
            });
            o.text("type", "diagnostic");
        })
    }

    /// What a run has planned.
    pub fn planned(
        &self,
        at: &str,
        (file, run): (&str, &str),
        plan: &Plan,
        configuration: &Configuration,
        schemas: &Schemas,
    ) -> String {
        let changes: Vec<ResourceInstanceChange> = plan
            .changes
            .iter()
            .map(|c| ResourceInstanceChange {
                before: withheld(c.before.clone()),
                after: withheld(c.after.clone()),
                ..c.clone()
            })
            .collect();
        let outputs: Vec<OutputChange> = plan.outputs.iter().map(without_secrets).collect();
        let message = "The plan of the run follows (-verbose)";
        let about = About {
            file: Some(file),
            run: Some(run),
        };
        line("info", message, at, about, |o| {
            o.object("test_plan", |o| {
                o.text("plan_format_version", "1.2");
                write_output_changes(o, &outputs);
                write_changes(o, &changes);
                write_relevant_attributes(o, plan, configuration);
                o.text("provider_format_version", "1.0");
                write_schemas(o, schemas);
            });
            o.text("type", "test_plan");
        })
    }

    /// What a run has made.
    pub fn made(
        &self,
        at: &str,
        (file, run): (&str, &str),
        state: &State,
        schemas: &Schemas,
    ) -> String {
        let mut cache = SchemaCache::withholding(schemas);
        let message = "The state after the run follows (-verbose)";
        let about = About {
            file: Some(file),
            run: Some(run),
        };
        line("info", message, at, about, |o| {
            o.object("test_state", |o| {
                o.text("state_format_version", "1.0");
                write_values(o, state, &mut cache);
                o.text("provider_format_version", "1.0");
                write_schemas(o, schemas);
            });
            o.text("type", "test_state");
        })
    }

    /// What a clean-up has left behind.
    pub fn left(&self, at: &str, file: &str, left: &LeftBehind) -> String {
        let message = format!(
            "{file}/{}: {} could not be destroyed and must be removed by hand",
            left.run,
            counted(left.addresses.len(), "object")
        );
        let about = About {
            file: Some(file),
            run: Some(&left.run),
        };
        line("error", &message, at, about, |o| {
            o.object("test_cleanup", |o| {
                o.array("failed_resources", |a| {
                    for address in &left.addresses {
                        // the key of the half that a replacement left behind stands by itself
                        let (instance, key) = match address.split_once(" (deposed object ") {
                            Some((instance, key)) => (instance, key.strip_suffix(')')),
                            None => (address.as_str(), None),
                        };
                        a.object(|o| {
                            o.text("instance", instance);
                            if let Some(key) = key {
                                o.text("deposed_key", key);
                            }
                        });
                    }
                });
            });
            o.text("type", "test_cleanup");
        })
    }

    /// The last line.
    pub fn summary(&self, at: &str, report: &TestReport) -> String {
        let counts = report.counts();
        let message = crate::test_report::summary(report);
        line("info", &message, at, About::default(), |o| {
            o.object("test_summary", |o| {
                o.text("status", report.status().word());
                o.count("passed", counts.passed);
                o.count("failed", counts.failed);
                o.count("errored", counts.errored);
                o.count("skipped", counts.skipped);
            });
            o.text("type", "test_summary");
        })
    }
}

fn without_secrets(output: &OutputChange) -> OutputChange {
    let hide = |value: &formwork_values::Value| match output.sensitive {
        true => withheld(value.clone().sensitive()),
        false => withheld(value.clone()),
    };
    OutputChange {
        before: output.before.as_ref().map(hide),
        after: output.after.as_ref().map(hide),
        ..output.clone()
    }
}

fn test_file(message: &str, at: &str, file: &str, fill: impl FnOnce(&mut Object<'_>)) -> String {
    let about = About {
        file: Some(file),
        run: None,
    };
    line("info", message, at, about, |o| {
        o.object("test_file", |o| {
            o.text("path", file);
            fill(o);
        });
        o.text("type", "test_file");
    })
}

fn test_run(
    word: &str,
    at: &str,
    file: &str,
    run: &str,
    fill: impl FnOnce(&mut Object<'_>),
) -> String {
    let message = format!("  \"{run}\"... {word}");
    let about = About {
        file: Some(file),
        run: Some(run),
    };
    line("info", &message, at, about, |o| {
        o.object("test_run", |o| {
            o.text("path", file);
            o.text("run", run);
            fill(o);
        });
        o.text("type", "test_run");
    })
}

fn line(
    level: &str,
    message: &str,
    at: &str,
    about: About<'_>,
    fill: impl FnOnce(&mut Object<'_>),
) -> String {
    let mut out = write::object(|o| {
        o.text("@level", level);
        o.text("@message", message);
        o.text("@module", "terraform.ui");
        if let Some(file) = about.file {
            o.text("@testfile", file);
        }
        if let Some(run) = about.run {
            o.text("@testrun", run);
        }
        o.text("@timestamp", at);
        fill(o);
    });
    out.push('\n');
    out
}
