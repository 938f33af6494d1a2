//! Diagnostics as JSON: `validate -json`, format 1.0, and the diagnostics of the event stream.

use super::snippet::Snippets;
use crate::json::write::{self, Object};
use formwork_diagnostics::{Diagnostic, Diagnostics, FunctionCall, Severity, SourceMap};

/// Signatures of functions, as `metadata functions -json` has them: given a name as called, the JSON
/// object of its signature.
pub trait Signatures {
    /// `{"name":...,"params":[...],"variadic_param":...,"return_type":...}`, if the function is known.
    fn signature(&self, called_as: &str) -> Option<String>;
}

/// Knows none.
impl Signatures for () {
    fn signature(&self, _called_as: &str) -> Option<String> {
        None
    }
}

/// The answer of `validate -json`, indented, with a line end.
pub fn validate_json(
    diagnostics: &Diagnostics,
    sources: &SourceMap,
    signatures: &dyn Signatures,
) -> String {
    let mut snippets = Snippets::new(sources);
    let compact = write::object(|o| {
        o.text("format_version", "1.0");
        o.bool("valid", !diagnostics.has_errors());
        o.count("error_count", diagnostics.error_count());
        o.count("warning_count", diagnostics.warning_count());
        o.array("diagnostics", |a| {
            for diagnostic in diagnostics {
                a.object(|o| write_diagnostic(o, diagnostic, &mut snippets, signatures));
            }
        });
    });
    let mut out = write::indented(&compact);
    out.push('\n');
    out
}

/// The fields of one diagnostic. Hints have no field of their own in this format; they follow the
/// detail.
pub(crate) fn write_diagnostic(
    o: &mut Object<'_>,
    diagnostic: &Diagnostic,
    snippets: &mut Snippets<'_>,
    signatures: &dyn Signatures,
) {
    let diagnostic = &*snippets.presentable(diagnostic);
    o.text(
        "severity",
        match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
    );
    o.text("summary", &diagnostic.summary);
    let mut detail = diagnostic.detail.clone();
    for hint in &diagnostic.hints {
        if !detail.is_empty() {
            detail.push_str("\n\n");
        }
        detail.push_str("Hint: ");
        detail.push_str(hint);
    }
    o.text("detail", &detail);
    if let Some(address) = &diagnostic.address {
        o.text("address", address);
    }
    let Some(snippet) = snippets.of(diagnostic) else {
        return;
    };
    o.object("range", |o| {
        o.text("filename", &snippet.file);
        for (key, position) in [("start", snippet.start), ("end", snippet.end)] {
            o.object(key, |o| {
                o.integer("line", position.line);
                o.integer("column", position.column);
                o.integer("byte", position.byte);
            });
        }
    });
    o.object("snippet", |o| {
        o.text_or_null("context", snippet.context.as_deref());
        o.text("code", &snippet.lines.join("\n"));
        o.integer("start_line", snippet.first_line);
        o.count("highlight_start_offset", snippet.highlight.start);
        o.count("highlight_end_offset", snippet.highlight.end);
        o.array("values", |a| {
            for value in &diagnostic.values {
                a.object(|o| {
                    o.text("traversal", &value.traversal);
                    o.text("statement", &value.statement);
                });
            }
        });
        if let Some(call) = &diagnostic.function_call {
            write_call(o, call, signatures);
        }
    });
}

fn write_call(o: &mut Object<'_>, call: &FunctionCall, signatures: &dyn Signatures) {
    o.object("function_call", |o| {
        o.text("called_as", &call.called_as);
        if let Some(signature) = signatures.signature(&call.called_as) {
            o.raw("signature", &signature);
        }
    });
}
