//! One trial: a configuration goes through validate and plan, and what comes of it is judged.

use crate::corpus::Seed;
use crate::world::World;
use formwork_diagnostics::{Diagnostics, FileId, SourceMap};
use formwork_ops::{PlanOptions, apply, plan, validate};
use formwork_plan::{decode, encode};
use formwork_render::{Style, diagnostics_text, plan_json, plan_text, validate_json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

/// A run longer than this is a hang.
const LIMIT: Duration = Duration::from_secs(10);

/// A configuration to try.
#[derive(Clone)]
pub struct Trial {
    pub folder: PathBuf,
    pub files: Vec<(String, Vec<u8>)>,
    pub inputs: Vec<(String, String)>,
    pub state: Option<Vec<u8>>,
}

/// An error as it was said.
#[derive(Clone, Debug)]
pub struct Said {
    pub summary: String,
    pub detail: String,
    pub place: Option<String>,
}

/// What came of it.
#[derive(Default)]
pub struct Outcome {
    /// Errors of validate.
    pub validate: Vec<Said>,
    /// Errors of plan.
    pub plan: Vec<Said>,
    /// Whether there was a plan.
    pub planned: bool,
    /// What must not happen, if it did.
    pub findings: Vec<Finding>,
}

/// Something that must not happen.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The same for the same fault.
    pub kind: String,
    pub text: String,
    /// Whether going on makes no sense.
    pub fatal: bool,
}

impl Outcome {
    fn find(&mut self, kind: &str, text: &str) {
        self.findings.push(Finding {
            kind: kind.to_owned(),
            text: text.to_owned(),
            fatal: false,
        });
    }
}

static ARMED: AtomicBool = AtomicBool::new(false);
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps panics of trials instead of printing them.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if ARMED.load(Ordering::SeqCst) {
                PANICS
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(info.to_string());
            } else {
                before(info);
            }
        }));
    });
}

/// Processor time that this process has used, where it can be had: on a busy machine, waiting is no
/// hang.
fn used() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit(") ").next()?.split(' ').skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis((user + system) * 10))
}

impl Trial {
    /// Of a seed as it is.
    pub fn of(seed: &Seed, folder: &Path, state: Option<Vec<u8>>) -> Self {
        Self {
            folder: folder.to_path_buf(),
            files: seed
                .files
                .iter()
                .map(|(n, t)| (n.clone(), t.as_bytes().to_vec()))
                .collect(),
            inputs: Vec::new(),
            state,
        }
    }

    /// Runs it, watching for panics and hangs.
    pub fn run(&self, runtime: &tokio::runtime::Runtime, world: &Arc<World>) -> Outcome {
        listen();
        PANICS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        ARMED.store(true, Ordering::SeqCst);
        let (send, receive) = channel();
        let (trial, world) = (self.clone(), world.clone());
        let (begun, before) = (Instant::now(), used());
        // A thread of its own: an operation is driven where it is called, and one that never ends would
        // take the test with it.
        let handle = runtime.handle().clone();
        std::thread::spawn(move || {
            let _ = send.send(handle.block_on(trial.judge(&world)));
        });
        let answer = loop {
            match receive.recv_timeout(Duration::from_millis(500)) {
                Err(RecvTimeoutError::Timeout) => {
                    let spent = match (before, used()) {
                        (Some(b), Some(n)) if begun.elapsed() < 12 * LIMIT => n.saturating_sub(b),
                        _ => begun.elapsed(),
                    };
                    if spent > LIMIT {
                        break Err("hang");
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break Err("panic"),
                Ok(outcome) => break Ok(outcome),
            }
        };
        ARMED.store(false, Ordering::SeqCst);
        let mut outcome = Outcome::default();
        match answer {
            Ok(o) => outcome = o,
            Err("hang") => outcome.findings.push(Finding {
                kind: "hang".to_owned(),
                text: format!("It had not ended after {LIMIT:?}."),
                fatal: true,
            }),
            Err(_) => {}
        }
        for panic in PANICS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .drain(..)
        {
            let place = panic.lines().next().unwrap_or_default().to_owned();
            outcome.findings.push(Finding {
                kind: place,
                text: panic,
                fatal: false,
            });
        }
        if outcome.findings.is_empty() && answer_lost(&outcome) {
            outcome.findings.push(Finding {
                kind: "lost".to_owned(),
                text: "The task ended without an answer.".to_owned(),
                fatal: false,
            });
        }
        outcome
    }

    async fn judge(&self, world: &World) -> Outcome {
        let (session, _) =
            world.session(&self.folder, &self.files, &self.inputs, self.state.clone());
        let mut outcome = Outcome::default();
        let validated = validate(&session, None).await;
        outcome.validate = said(&validated.diagnostics, &validated.sources);
        self.look(
            "validate",
            &validated.diagnostics,
            &validated.sources,
            &mut outcome,
        );
        let planned = plan(&session, &PlanOptions::default()).await;
        outcome.plan = said(&planned.diagnostics, planned.sources());
        self.look(
            "plan",
            &planned.diagnostics,
            planned.sources(),
            &mut outcome,
        );
        outcome.planned = planned.plan.as_ref().is_some_and(|p| !p.errored);
        if planned.plan.as_ref().is_none_or(|p| p.errored) && outcome.plan.is_empty() {
            outcome.findings.push(Finding {
                kind: "silent".to_owned(),
                text: "plan: there is no plan to apply and no error says why".to_owned(),
                fatal: false,
            });
        }
        // What people and pipelines are shown of it is made as well.
        for (diagnostics, sources) in [
            (&validated.diagnostics, &validated.sources),
            (&planned.diagnostics, planned.sources()),
        ] {
            let shown = diagnostics_text(diagnostics, sources, Style::terminal(80));
            let json = validate_json(diagnostics, sources, &());
            if serde_json::from_str::<&serde_json::value::RawValue>(&json).is_err() {
                outcome.find("bad JSON of diagnostics", &json);
            }
            drop(shown);
        }
        if let Some(plan) = &planned.plan {
            let schemas = planned.providers.all_schemas();
            let text = plan_text(plan, &schemas, Style::PLAIN);
            let json = plan_json(plan, Some(&planned.loaded.configuration), &schemas);
            if serde_json::from_str::<&serde_json::value::RawValue>(&json).is_err() {
                outcome.find("bad JSON of a plan", &json);
            }
            if self.hides_its_secret() && text.contains(SECRET) {
                outcome.find("secret: plan", &text);
            }
            if !plan.errored {
                let again = encode(plan)
                    .map_err(|e| format!("{e:?}"))
                    .and_then(|bytes| decode(&bytes).map_err(|e| format!("{e:?}")));
                match again {
                    Ok(again) if again.debug_text() == plan.debug_text() => {}
                    Ok(again) => outcome.find("plan file: another plan", &again.debug_text()),
                    Err(e) => outcome.find("plan file", &e),
                }
            }
        }
        if let Some(held) = planned.held {
            let _ = held.release(&session).await;
        }
        outcome
    }

    /// The state after an apply, if it can be applied.
    pub async fn applied(&self, world: &World) -> Option<Vec<u8>> {
        let (session, store) = world.session(&self.folder, &self.files, &self.inputs, None);
        let planned = plan(&session, &PlanOptions::default()).await;
        let plan = planned.plan.filter(|p| !p.errored)?;
        let done = apply(&session, plan, planned.held).await;
        if done.complete {
            store.snapshot()
        } else {
            None
        }
    }
}

/// Every trial that was answered has been validated or planned or says why not.
fn answer_lost(outcome: &Outcome) -> bool {
    !outcome.planned && outcome.plan.is_empty()
}

fn said(diagnostics: &Diagnostics, sources: &SourceMap) -> Vec<Said> {
    diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| Said {
            summary: d.summary.clone(),
            detail: d.detail.clone(),
            place: d
                .subject
                .map(|r| sources.place(r))
                .filter(|p| !p.is_empty()),
        })
        .collect()
}

/// Errors that are no mistake in the configuration.
const WITHOUT_A_PLACE: &[&str] = &[
    // A name on the command line.
    "Value for undeclared variable",
];

impl Trial {
    /// What must not happen to diagnostics.
    fn look(
        &self,
        command: &str,
        diagnostics: &Diagnostics,
        sources: &SourceMap,
        outcome: &mut Outcome,
    ) {
        let mut find = |kind: String, text: String| {
            outcome.findings.push(Finding {
                kind,
                text,
                fatal: false,
            });
        };
        let secret = self.hides_its_secret();
        let mut told = std::collections::BTreeSet::new();
        for d in diagnostics.iter() {
            let words = format!("{command}: {}: {} [{:?}]", d.summary, d.detail, d.address);
            if d.is_error() && d.subject.is_none() && !WITHOUT_A_PLACE.contains(&&*d.summary) {
                find(format!("no range: {}", d.summary), words.clone());
            }
            if d.summary.contains("does not hold together")
                || d.detail.contains("fault of Formwork")
                || d.detail.contains("defect of Formwork")
            {
                find(format!("fault: {}", d.summary), words.clone());
            }
            let ended = d.detail.ends_with(['.', '?', '!', ')', ':', '"', '}']);
            if d.summary.is_empty()
                || d.summary.ends_with('.')
                || (d.is_error() && d.detail.is_empty() && !OF_THE_USER.contains(&&*d.summary))
            {
                find(format!("no words: {}", d.summary), words.clone());
            } else if !ended && !OF_THE_USER.contains(&&*d.summary) {
                find(format!("no end: {}", d.summary), words.clone());
            }
            if secret && format!("{d:?}").contains(SECRET) {
                find(format!("secret: {}", d.summary), words.clone());
            }
            if d.is_error() && !told.insert((&d.summary, &d.detail, d.subject)) {
                find(format!("told twice: {}", d.summary), words.clone());
            }
            for range in d.subject.iter().chain(&d.context) {
                let inside = sources.get(FileId(range.file.0)).is_some_and(|f| {
                    range.start <= range.end && range.end as usize <= f.bytes.len()
                });
                if !inside {
                    find(format!("range outside: {}", d.summary), words.clone());
                }
            }
        }
    }

    /// Whether the secret stands in `sensitive("...")` only, and nothing lays it open.
    fn hides_its_secret(&self) -> bool {
        let hidden = format!("sensitive(\"{SECRET}\")");
        self.files.iter().all(|(_, text)| {
            let text = String::from_utf8_lossy(text).replace(&hidden, "");
            !text.contains(SECRET) && !text.contains("nonsensitive")
        })
    }
}

/// A text that mutants hold in sensitive values.
const SECRET: &str = "s3cr3t";

/// Whose details are the user's own words.
const OF_THE_USER: &[&str] = &[
    "Resource precondition failed",
    "Resource postcondition failed",
    "Module output value precondition failed",
    "Invalid value for variable",
    "Check block assertion failed",
];
