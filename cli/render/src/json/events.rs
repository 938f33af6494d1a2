//! The event stream: one JSON object a line, `ui` 1.2.
//!
//! The stream is no store: what is sensitive is never in it.

use super::tree::write_key;
use super::write::{self, Object};
use crate::diagnostics::{Signatures, Snippets, write_diagnostic};
use crate::text::lines::{LOCKING, UNLOCKING, apply_line, duration, plan_line, seconds};
use crate::text::progress::{finished, id, provisioning, started, still, words};
use formwork_addresses::{AbsResourceInstance, InstanceKey, ResourceMode};
use formwork_diagnostics::{Diagnostic, Severity, SourceMap};
use formwork_plan::{
    Action, ActionReason, ChangeSummary, Event, Hook, OutputChange, ProvisionStep,
    ResourceInstanceChange,
};
use formwork_state::OutputState;
use std::time::Duration;

/// Writes the lines of a stream. Each has its time, an RFC 3339 text that the caller takes from its
/// clock, and ends with a line feed.
#[derive(Clone, Copy)]
pub struct EventStream<'a> {
    /// The name in `@message` of the first line.
    pub product: &'a str,
    /// Our own version.
    pub tool_version: &'a str,
    /// The language version that consumers read as `terraform`.
    pub language_version: &'a str,
    /// Whether the command is `destroy`, which has a closing line of its own.
    pub by_destroy: bool,
    /// Where diagnostics point.
    pub sources: &'a SourceMap,
    /// Signatures of functions, for diagnostics.
    pub signatures: &'a dyn Signatures,
}

impl EventStream<'_> {
    /// The first line.
    pub fn version(&self, at: &str) -> String {
        let message = format!("{} {}", self.product, self.tool_version);
        line("info", &message, at, |o| {
            o.text("terraform", self.language_version);
            o.text("type", "version");
            o.text("ui", "1.2");
            o.object("formwork", |o| {
                o.text("format_version", "1.0");
                o.text("tool_version", self.tool_version);
            });
        })
    }

    /// A line of plain information.
    pub fn log(&self, at: &str, message: &str) -> String {
        line("info", message, at, |o| o.text("type", "log"))
    }

    /// A step of `init`, with the word that programs know it by.
    pub fn init_output(&self, at: &str, code: &str, message: &str) -> String {
        line("info", message, at, |o| {
            o.text("message_code", code);
            o.text("type", "init_output");
        })
    }

    /// A diagnostic.
    pub fn diagnostic(&self, at: &str, diagnostic: &Diagnostic) -> String {
        let (level, word) = match diagnostic.severity {
            Severity::Error => ("error", "Error"),
            Severity::Warning => ("warn", "Warning"),
        };
        let message = format!("{word}: {}", diagnostic.summary);
        let mut snippets = Snippets::new(self.sources);
        line(level, &message, at, |o| {
            o.object("diagnostic", |o| {
                write_diagnostic(o, diagnostic, &mut snippets, self.signatures);
            });
            o.text("type", "diagnostic");
        })
    }

    /// What a plan does to outputs.
    pub fn planned_outputs(&self, at: &str, outputs: &[OutputChange]) -> String {
        let message = format!("Outputs: {}", outputs.len());
        line("info", &message, at, |o| {
            o.object("outputs", |o| {
                for output in outputs {
                    o.object(&output.name, |o| {
                        o.bool("sensitive", output.sensitive);
                        o.text("action", action_word(output.action()));
                    });
                }
            });
            o.text("type", "outputs");
        })
    }

    /// The outputs after an apply.
    pub fn outputs<'o>(
        &self,
        at: &str,
        outputs: impl ExactSizeIterator<Item = (&'o str, &'o OutputState)>,
    ) -> String {
        let message = format!("Outputs: {}", outputs.len());
        line("info", &message, at, |o| {
            o.object("outputs", |o| {
                for (name, output) in outputs {
                    o.object(name, |o| {
                        o.bool("sensitive", output.sensitive);
                        o.raw("type", output.kind.get());
                        if !output.sensitive {
                            o.raw("value", output.value.get());
                        }
                    });
                }
            });
            o.text("type", "outputs");
        })
    }

    /// The line of an event; `None` for what the stream has no word for.
    pub fn event(&self, at: &str, event: &Event) -> Option<String> {
        Some(match event {
            Event::Started(..) | Event::Finished(..) => return None,
            Event::RefreshStarted(hook) => {
                let text = format!("Refreshing state...{}", id(hook));
                hooked(at, "refresh_start", hook, &text, Fields::ID)
            }
            Event::RefreshFinished(hook) => {
                let text = format!("Refresh complete{}", id(hook));
                hooked(at, "refresh_complete", hook, &text, Fields::ID)
            }
            Event::Drift(change) => {
                let word = ui_action(change);
                let text = format!("Drift detected ({word})");
                changed(at, "resource_drift", change, &text)
            }
            Event::Planned(change) => {
                let text = format!("Plan to {}", ui_action(change));
                changed(at, "planned_change", change, &text)
            }
            Event::PlanSummary(summary) => summed(at, &plan_line(summary), "plan", summary),
            Event::ApplySummary(summary) => {
                let operation = if self.by_destroy { "destroy" } else { "apply" };
                let line = apply_line(self.by_destroy, summary);
                summed(at, &line, operation, summary)
            }
            Event::ApplyStarted(hook) => {
                let kind = kind_of(hook, "apply_start", "ephemeral_op_start");
                let text = of_reads(hook, started(hook), ("Reading", "Refreshing"));
                hooked(at, kind, hook, &text, Fields::ACTION_AND_ID)
            }
            Event::ApplyProgress(hook, time) => {
                let kind = kind_of(hook, "apply_progress", "ephemeral_op_progress");
                hooked(at, kind, hook, &still(hook, *time), Fields::running(*time))
            }
            Event::ApplyFinished(hook, time) => {
                let kind = kind_of(hook, "apply_complete", "ephemeral_op_complete");
                let text = of_reads(
                    hook,
                    finished(hook, *time),
                    ("Read complete", "Refresh complete"),
                );
                hooked(at, kind, hook, &text, Fields::ended(hook, *time))
            }
            Event::ApplyFailed(hook, time) => {
                let kind = kind_of(hook, "apply_errored", "ephemeral_op_errored");
                let text = format!("{} errored after {}", words(hook).noun, duration(*time));
                hooked(at, kind, hook, &text, Fields::running(*time))
            }
            Event::Provision(hook, kind, step) => provision(at, hook, kind, step),
            Event::Settled(hook, how) => {
                let message = format!("{}: left open by an earlier run: {how}", hook.address);
                line("info", &message, at, |o| {
                    o.text("type", "log");
                    o.object("formwork", |o| {
                        o.text("format_version", "1.0");
                        o.text("settled", &hook.address.to_string());
                    });
                })
            }
            Event::Locking => line("info", LOCKING, at, |o| {
                o.text("type", "state_lock_acquire");
            }),
            Event::Unlocking => line("info", UNLOCKING, at, |o| {
                o.text("type", "state_lock_release");
            }),
            Event::Said(diagnostic) => self.diagnostic(at, diagnostic),
        })
    }
}

fn line(level: &str, message: &str, at: &str, fill: impl FnOnce(&mut Object<'_>)) -> String {
    let mut out = write::object(|o| {
        o.text("@level", level);
        o.text("@message", message);
        o.text("@module", "terraform.ui");
        o.text("@timestamp", at);
        fill(o);
    });
    out.push('\n');
    out
}

/// What a person reads of a data source, in the stream's word for it.
fn of_reads(hook: &Hook, text: String, (word, theirs): (&str, &str)) -> String {
    match (hook.address.resource.mode, text.strip_prefix(word)) {
        (ResourceMode::Data, Some(rest)) => format!("{theirs}{rest}"),
        _ => text,
    }
}

/// Ephemeral resources have event types of their own.
fn kind_of(hook: &Hook, usual: &'static str, ephemeral: &'static str) -> &'static str {
    match hook.address.resource.mode {
        ResourceMode::Ephemeral => ephemeral,
        _ => usual,
    }
}

/// Which fields a hook has beside its resource.
struct Fields {
    action: bool,
    id: bool,
    elapsed: Option<Duration>,
}

impl Fields {
    const ID: Self = Self {
        action: false,
        id: true,
        elapsed: None,
    };
    const ACTION_AND_ID: Self = Self {
        action: true,
        id: true,
        elapsed: None,
    };

    fn running(time: Duration) -> Self {
        Self {
            action: true,
            id: false,
            elapsed: Some(time),
        }
    }

    /// What is gone has no id.
    fn ended(hook: &Hook, time: Duration) -> Self {
        Self {
            action: true,
            id: hook.action != Action::Delete,
            elapsed: Some(time),
        }
    }
}

fn hooked(at: &str, kind: &str, hook: &Hook, text: &str, fields: Fields) -> String {
    let message = format!("{}: {text}", hook.address);
    line("info", &message, at, |o| {
        o.object("hook", |o| {
            o.object("resource", |o| write_resource(o, &hook.address));
            if fields.action {
                o.text("action", hook_action(hook));
            }
            if let Some((key, value)) = hook.id.as_ref().filter(|_| fields.id) {
                o.text("id_key", key);
                o.text("id_value", value);
            }
            if let Some(time) = fields.elapsed {
                o.integer("elapsed_seconds", i128::from(seconds(time)));
            }
        });
        o.text("type", kind);
    })
}

/// How a provisioner fares. Its hook has no action, and the provisioner's kind instead.
fn provision(at: &str, hook: &Hook, kind: &str, step: &ProvisionStep) -> String {
    let (word, text) = match step {
        ProvisionStep::Started => ("provision_start", provisioning(kind)),
        ProvisionStep::Output(output) => ("provision_progress", format!("({kind}): {output}")),
        ProvisionStep::Finished => (
            "provision_complete",
            format!("({kind}) Provisioning complete"),
        ),
        ProvisionStep::Failed => (
            "provision_errored",
            format!("({kind}) Provisioning errored"),
        ),
    };
    let message = format!("{}: {text}", hook.address);
    line("info", &message, at, |o| {
        o.object("hook", |o| {
            o.object("resource", |o| write_resource(o, &hook.address));
            o.text("provisioner", kind);
            if let ProvisionStep::Output(output) = step {
                o.text("output", output);
            }
        });
        o.text("type", word);
    })
}

fn hook_action(hook: &Hook) -> &'static str {
    match (hook.address.resource.mode, hook.action) {
        (ResourceMode::Ephemeral, Action::Delete) => "close",
        (ResourceMode::Ephemeral, _) => "open",
        (_, action) => action_word(action),
    }
}

fn changed(at: &str, kind: &str, change: &ResourceInstanceChange, text: &str) -> String {
    let message = format!("{}: {text}", change.address);
    line("info", &message, at, |o| {
        o.object("change", |o| {
            o.object("resource", |o| write_resource(o, &change.address));
            if let Some(previous) = &change.previous_address {
                o.object("previous_resource", |o| write_resource(o, previous));
            }
            o.text("action", ui_action(change));
            if let Some(reason) = change.reason {
                o.text("reason", ui_reason(reason));
            }
            if let Some(importing) = &change.importing {
                o.object("importing", |o| match &importing.identity {
                    Some(identity) => o.raw("identity", identity),
                    None => o.text("id", &importing.id),
                });
                if let Some(generated) = &importing.generated {
                    o.text("generated_config", generated);
                }
            }
        });
        o.text("type", kind);
    })
}

fn summed(at: &str, message: &str, operation: &str, summary: &ChangeSummary) -> String {
    line("info", message, at, |o| {
        o.object("changes", |o| {
            o.count("add", summary.add);
            o.count("change", summary.change);
            o.count("import", summary.import);
            o.count("remove", summary.remove);
            o.text("operation", operation);
        });
        o.text("type", "change_summary");
    })
}

fn write_resource(o: &mut Object<'_>, address: &AbsResourceInstance) {
    o.text("addr", &address.to_string());
    o.text("module", &address.module.to_string());
    let within = address.resource.instance(address.key.clone());
    o.text("resource", &within.to_string());
    o.text("implied_provider", address.resource.implied_provider());
    o.text("resource_type", &address.resource.kind);
    o.text("resource_name", &address.resource.name);
    match &address.key {
        InstanceKey::None => o.raw("resource_key", "null"),
        key => write_key(o, "resource_key", key),
    }
}

/// The stream's word for an action.
fn action_word(action: Action) -> &'static str {
    match action {
        Action::NoOp => "noop",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::DeleteThenCreate | Action::CreateThenDelete => "replace",
        Action::Delete => "delete",
        Action::Forget => "remove",
    }
}

/// What a change is for the stream: a move or an import that changes nothing has its own word.
fn ui_action(change: &ResourceInstanceChange) -> &'static str {
    match change.action {
        Action::NoOp if change.importing.is_some() => "import",
        Action::NoOp if change.previous_address.is_some() => "move",
        action => action_word(action),
    }
}

/// The stream words reasons of replacement shorter than the plan does.
fn ui_reason(reason: ActionReason) -> &'static str {
    match reason {
        ActionReason::ReplaceBecauseTainted => "tainted",
        ActionReason::ReplaceByRequest => "requested",
        ActionReason::ReplaceByTriggers => "replace_triggered_by",
        ActionReason::ReplaceBecauseCannotUpdate => "cannot_update",
        other => other.word(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(sources: &SourceMap) -> EventStream<'_> {
        EventStream {
            product: "Formwork",
            tool_version: "0.1.0",
            language_version: "1.12.2",
            by_destroy: false,
            sources,
            signatures: &(),
        }
    }

    fn hook(address: &str, action: Action, id: Option<&str>) -> Hook {
        Hook {
            address: address.parse().expect("an address"),
            action,
            id: id.map(|i| ("id".to_owned(), i.to_owned())),
        }
    }

    /// As terraform 1.11.4 writes it.
    #[test]
    fn steps_of_init() {
        let sources = SourceMap::new();
        assert_eq!(
            stream(&sources).init_output(
                "2026-11-30T20:06:50Z",
                "initializing_backend_message",
                "Initializing the backend..."
            ),
            concat!(
                r#"{"@level":"info","@message":"Initializing the backend...","@module":"terraform.ui","#,
                r#""@timestamp":"2026-11-30T20:06:50Z","message_code":"initializing_backend_message","#,
                r#""type":"init_output"}"#,
                "\n"
            )
        );
    }

    /// Lines as recorded, time and version aside.
    #[test]
    fn lines() {
        let sources = SourceMap::new();
        let stream = stream(&sources);
        let second = Duration::from_secs(1);
        let summary = ChangeSummary {
            add: 1,
            ..ChangeSummary::default()
        };
        let resource = |address: &str, module: &str, rest: &str, key: &str| {
            format!(
                r#""resource":{{"addr":"{address}","module":"{module}","resource":"{rest}","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":{key}}}"#
            )
        };
        let a = resource("terraform_data.a", "", "terraform_data.a", "null");
        let cases = [
            (
                Event::RefreshStarted(hook("terraform_data.a", Action::NoOp, Some("x"))),
                format!(
                    r#""@message":"terraform_data.a: Refreshing state... [id=x]","@module":"terraform.ui","@timestamp":"T","hook":{{{a},"id_key":"id","id_value":"x"}},"type":"refresh_start"}}"#
                ),
            ),
            (
                Event::ApplyStarted(hook("terraform_data.a", Action::Create, None)),
                format!(
                    r#""@message":"terraform_data.a: Creating...","@module":"terraform.ui","@timestamp":"T","hook":{{{a},"action":"create"}},"type":"apply_start"}}"#
                ),
            ),
            (
                Event::ApplyFinished(hook("terraform_data.a", Action::Create, Some("x")), second),
                format!(
                    r#""@message":"terraform_data.a: Creation complete after 1s [id=x]","@module":"terraform.ui","@timestamp":"T","hook":{{{a},"action":"create","id_key":"id","id_value":"x","elapsed_seconds":1}},"type":"apply_complete"}}"#
                ),
            ),
            (
                Event::ApplyFailed(
                    hook("module.m[\"k\"].terraform_data.a[0]", Action::Create, None),
                    second,
                ),
                format!(
                    r#""@message":"module.m[\"k\"].terraform_data.a[0]: Creation errored after 1s","@module":"terraform.ui","@timestamp":"T","hook":{{{},"action":"create","elapsed_seconds":1}},"type":"apply_errored"}}"#,
                    resource(
                        r#"module.m[\"k\"].terraform_data.a[0]"#,
                        r#"module.m[\"k\"]"#,
                        "terraform_data.a[0]",
                        "0"
                    )
                ),
            ),
            (
                Event::Provision(
                    hook("terraform_data.a", Action::NoOp, None),
                    "local-exec".into(),
                    ProvisionStep::Output("made".to_owned()),
                ),
                format!(
                    r#""@message":"terraform_data.a: (local-exec): made","@module":"terraform.ui","@timestamp":"T","hook":{{{a},"provisioner":"local-exec","output":"made"}},"type":"provision_progress"}}"#
                ),
            ),
            (
                Event::Provision(
                    hook("terraform_data.a", Action::NoOp, None),
                    "local-exec".into(),
                    ProvisionStep::Finished,
                ),
                format!(
                    r#""@message":"terraform_data.a: (local-exec) Provisioning complete","@module":"terraform.ui","@timestamp":"T","hook":{{{a},"provisioner":"local-exec"}},"type":"provision_complete"}}"#
                ),
            ),
            (
                Event::PlanSummary(summary),
                r#""@message":"Plan: 1 to add, 0 to change, 0 to destroy.","@module":"terraform.ui","@timestamp":"T","changes":{"add":1,"change":0,"import":0,"remove":0,"operation":"plan"},"type":"change_summary"}"#.to_owned(),
            ),
        ];
        for (event, want) in cases {
            let got = stream.event("T", &event).expect("a line");
            assert_eq!(got, format!("{{\"@level\":\"info\",{want}\n"));
        }
    }

    #[test]
    fn diagnostics_and_sensitive_outputs() {
        let sources = SourceMap::new();
        let stream = stream(&sources);
        let d = Diagnostic::error("Bad", "Bad indeed.").about("a.b");
        assert_eq!(
            stream.diagnostic("T", &d),
            "{\"@level\":\"error\",\"@message\":\"Error: Bad\",\"@module\":\"terraform.ui\",\"@timestamp\":\"T\",\"diagnostic\":{\"severity\":\"error\",\"summary\":\"Bad\",\"detail\":\"Bad indeed.\",\"address\":\"a.b\"},\"type\":\"diagnostic\"}\n"
        );
        let secret = formwork_values::Value::string("hunter2");
        let output = OutputState::from_value(&secret, true).expect("known");
        let line = stream.outputs("T", [("o", &output)].into_iter());
        assert!(line.contains(r#""outputs":{"o":{"sensitive":true,"type":"string"}}"#));
        assert!(!line.contains("hunter2"));
    }
}
