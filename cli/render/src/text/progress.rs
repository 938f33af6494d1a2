//! What a run says while it works: one line per event.

use super::lines::{LOCKING, UNLOCKING, duration};
use crate::diagnostics::diagnostic_text;
use crate::style::{Role, Style};
use formwork_addresses::ResourceMode;
use formwork_diagnostics::SourceMap;
use formwork_plan::{Action, Event, Hook, ProvisionStep};
use std::time::Duration;

/// How a run's events are told.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// How text looks.
    pub style: Style,
    /// Only what changes something or goes wrong: nothing of reading, nothing of still running. For
    /// logs, where such lines were nine in ten.
    pub concise: bool,
}

impl Progress {
    /// The line of an event, with its line end; `None` for events that are told otherwise: what is
    /// planned by [`plan_text`](crate::plan_text), how it ended by
    /// [`apply_line`](crate::lines::apply_line).
    pub fn line(&self, event: &Event, sources: &SourceMap) -> Option<String> {
        match event {
            Event::Locking => return Some(format!("{LOCKING}\n")),
            Event::Unlocking => return Some(format!("{UNLOCKING}\n")),
            _ => {}
        }
        let (hook, text) = match event {
            Event::RefreshStarted(hook) if !self.concise => {
                (hook, format!("Refreshing state...{}", id(hook)))
            }
            Event::ApplyStarted(hook) if self.says(hook) => (hook, started(hook)),
            Event::ApplyProgress(hook, time) if !self.concise => (hook, still(hook, *time)),
            Event::ApplyFinished(hook, time) if self.says(hook) => (hook, finished(hook, *time)),
            Event::ApplyFailed(hook, time) => (
                hook,
                format!("{} failed after {}", words(hook).noun, duration(*time)),
            ),
            Event::Provision(hook, kind, ProvisionStep::Output(line)) => {
                let address = self.style.paint(Role::Strong, &hook.address.to_string());
                return Some(format!("{address} ({kind}): {line}\n"));
            }
            Event::Provision(hook, kind, ProvisionStep::Started) if !self.concise => {
                (hook, provisioning(kind))
            }
            Event::Provision(hook, kind, ProvisionStep::Failed) => {
                (hook, format!("Provisioner '{kind}' failed"))
            }
            Event::Settled(hook, how) => (hook, format!("left open by an earlier run: {how}")),
            Event::Said(diagnostic) => {
                return Some(diagnostic_text(diagnostic, sources, self.style));
            }
            _ => return None,
        };
        let address = self.style.paint(Role::Strong, &hook.address.to_string());
        Some(format!("{address}: {text}\n"))
    }

    fn says(&self, hook: &Hook) -> bool {
        !self.concise || hook.action.changes_objects()
    }
}

/// The words of what is being done.
pub(crate) struct Words {
    /// `Creating`.
    pub doing: &'static str,
    /// `creating`.
    pub still: &'static str,
    /// `Creation`.
    pub noun: &'static str,
}

pub(crate) fn words(hook: &Hook) -> Words {
    let (doing, still, noun) = match (hook.address.resource.mode, hook.action) {
        (ResourceMode::Ephemeral, Action::Delete) => ("Closing", "closing", "Closing"),
        (ResourceMode::Ephemeral, _) => ("Opening", "opening", "Opening"),
        (_, Action::Create) => ("Creating", "creating", "Creation"),
        (_, Action::Update) => ("Modifying", "modifying", "Modifications"),
        (_, Action::Delete) => ("Destroying", "destroying", "Destruction"),
        (_, Action::Read) => ("Reading", "reading", "Read"),
        (_, Action::Forget) => ("Forgetting", "forgetting", "Removal from the state"),
        (_, Action::DeleteThenCreate | Action::CreateThenDelete) => {
            ("Replacing", "replacing", "Replacement")
        }
        (_, Action::NoOp) => ("Checking", "checking", "Check"),
    };
    Words { doing, still, noun }
}

/// ` [id=...]`, or nothing.
pub(crate) fn id(hook: &Hook) -> String {
    match &hook.id {
        Some((key, value)) => format!(" [{key}={value}]"),
        None => String::new(),
    }
}

pub(crate) fn provisioning(kind: &str) -> String {
    format!("Provisioning with '{kind}'...")
}

pub(crate) fn started(hook: &Hook) -> String {
    format!("{}...{}", words(hook).doing, id(hook))
}

pub(crate) fn still(hook: &Hook, time: Duration) -> String {
    let id = match &hook.id {
        Some((key, value)) => format!("{key}={value}, "),
        None => String::new(),
    };
    let time = duration(time);
    format!("Still {}... [{id}{time} elapsed]", words(hook).still)
}

pub(crate) fn finished(hook: &Hook, time: Duration) -> String {
    // what is gone needs no id any more
    let id = match hook.action {
        Action::Delete => String::new(),
        _ => id(hook),
    };
    format!("{} complete after {}{id}", words(hook).noun, duration(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(address: &str, action: Action, id: Option<&str>) -> Hook {
        Hook {
            address: address.parse().expect("an address"),
            action,
            id: id.map(|i| ("id".to_owned(), i.to_owned())),
        }
    }

    #[test]
    fn lines() {
        let full = Progress {
            style: Style::PLAIN,
            concise: false,
        };
        let concise = Progress {
            concise: true,
            ..full
        };
        let seconds = Duration::from_secs;
        let create = |id| hook("a.b[0]", Action::Create, id);
        let cases: [(Event, &str, bool); 9] = [
            (
                Event::RefreshStarted(hook("a.b", Action::NoOp, Some("x"))),
                "a.b: Refreshing state... [id=x]\n",
                false,
            ),
            (
                Event::ApplyStarted(create(None)),
                "a.b[0]: Creating...\n",
                true,
            ),
            (
                Event::ApplyProgress(create(None), seconds(70)),
                "a.b[0]: Still creating... [1m10s elapsed]\n",
                false,
            ),
            (
                Event::ApplyFinished(create(Some("x")), seconds(1)),
                "a.b[0]: Creation complete after 1s [id=x]\n",
                true,
            ),
            (
                Event::ApplyStarted(hook("a.b", Action::Update, Some("x"))),
                "a.b: Modifying... [id=x]\n",
                true,
            ),
            (
                Event::ApplyProgress(hook("a.b", Action::Delete, Some("x")), seconds(10)),
                "a.b: Still destroying... [id=x, 10s elapsed]\n",
                false,
            ),
            (
                Event::ApplyFinished(hook("a.b", Action::Delete, Some("x")), seconds(0)),
                "a.b: Destruction complete after 0s\n",
                true,
            ),
            (
                Event::ApplyFinished(hook("data.a.b", Action::Read, Some("x")), seconds(0)),
                "data.a.b: Read complete after 0s [id=x]\n",
                false,
            ),
            (
                Event::ApplyFailed(create(None), seconds(3)),
                "a.b[0]: Creation failed after 3s\n",
                true,
            ),
        ];
        let sources = SourceMap::new();
        for (event, want, even_concise) in cases {
            assert_eq!(full.line(&event, &sources).as_deref(), Some(want));
            let said = concise.line(&event, &sources);
            assert_eq!(said.as_deref(), even_concise.then_some(want), "{want}");
        }
    }
}
