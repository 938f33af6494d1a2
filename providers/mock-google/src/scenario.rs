//! The world as somebody wants it: projects, quotas, capacity, latencies, faults, first objects.
//!
//! The format is described in docs/formats/scenario.md. A field that is not known is an error: a
//! misspelled fault that never fires would make a test pass for nothing.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::checking::Body;

/// The name of the format, first field of every file.
pub const FORMAT: &str = "formwork-mock-scenario/1";

const DEFAULT: &str = include_str!("../data/default-scenario.json");

/// A scenario file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    format: String,
    #[serde(default)]
    #[allow(dead_code)] // for people
    about: String,
    #[serde(default)]
    #[allow(dead_code)] // laid over before this is read
    base: Option<String>,
    #[serde(default)]
    pub(crate) seed: u64,
    #[serde(default)]
    pub(crate) operations: Operations,
    pub(crate) projects: Vec<Project>,
    #[serde(default)]
    pub(crate) quotas: Vec<Quota>,
    #[serde(default)]
    pub(crate) capacity: Vec<Capacity>,
    #[serde(default)]
    pub(crate) objects: Vec<Seed>,
    #[serde(default)]
    pub(crate) faults: Vec<Fault>,
    #[serde(default)]
    pub(crate) eventual: Eventual,
    #[serde(default)]
    pub(crate) machine_types: Vec<ExtraMachineType>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Operations {
    /// Shortest and longest time from request to end.
    #[serde(default = "no_latency")]
    pub(crate) latency_ms: (u64, u64),
    /// Of that, how long it stays PENDING.
    #[serde(default)]
    pub(crate) pending_ms: u64,
    /// Other latencies for some methods, by pattern.
    #[serde(default)]
    pub(crate) by_method: BTreeMap<String, (u64, u64)>,
    /// How long `wait` waits at most.
    #[serde(default = "two_minutes")]
    pub(crate) wait_ms: u64,
    /// How often `wait` answers at once with an operation that is not done.
    #[serde(default)]
    pub(crate) wait_early: f64,
}

fn no_latency() -> (u64, u64) {
    (0, 0)
}

fn two_minutes() -> u64 {
    120_000
}

impl Default for Operations {
    fn default() -> Self {
        Self {
            latency_ms: no_latency(),
            pending_ms: 0,
            by_method: BTreeMap::new(),
            wait_ms: two_minutes(),
            wait_early: 0.0,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Project {
    pub(crate) id: String,
    pub(crate) number: String,
    #[serde(default)]
    pub(crate) name: String,
    /// APIs that are on: `compute`, `storage`...
    #[serde(default)]
    pub(crate) services: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Quota {
    /// All projects without.
    #[serde(default)]
    pub(crate) project: Option<String>,
    pub(crate) metric: String,
    /// A region, `*` for each region on its own, global without.
    #[serde(default)]
    pub(crate) region: Option<String>,
    pub(crate) limit: i64,
    #[serde(default)]
    pub(crate) refused: When,
}

/// Where a limit shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum When {
    /// The request is refused.
    #[default]
    AtOnce,
    /// The request is taken, its operation fails.
    InOperation,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Capacity {
    pub(crate) zone: String,
    /// `*` at the end stands for any ending.
    pub(crate) machine_type: String,
    /// Machines outside reservations that the zone has.
    pub(crate) machines: i64,
    /// Only for machines of this provisioning model.
    #[serde(default)]
    pub(crate) provisioning_model: Option<String>,
}

/// An object that is there from the start.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seed {
    /// The method that makes it: `compute.reservations.insert`.
    pub(crate) method: String,
    /// Its path and query parameters.
    #[serde(default, rename = "in")]
    pub(crate) parameters: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) body: Value,
    /// Of a reservation, its blocks.
    #[serde(default)]
    pub(crate) blocks: Vec<Block>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Block {
    pub(crate) name: String,
    pub(crate) count: i64,
}

/// Something that goes wrong on purpose.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    /// Method id, `*` at the end stands for any ending; every method without.
    #[serde(default)]
    pub(crate) method: Option<String>,
    /// Only requests whose path or body's name ends with this.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// Only requests that change something.
    #[serde(default)]
    pub(crate) mutating: bool,
    /// From which matching request on (1 is the first)...
    #[serde(default)]
    pub(crate) nth: Option<u64>,
    /// ...and for how many of them; 1 where `nth` is given, else all.
    #[serde(default)]
    pub(crate) times: Option<u64>,
    /// How often, of the requests that are left.
    #[serde(default)]
    pub(crate) probability: Option<f64>,
    /// Wait so long before anything else.
    #[serde(default)]
    pub(crate) delay_ms: u64,
    /// Refuse with this status...
    #[serde(default)]
    pub(crate) status: Option<u16>,
    /// ...reason...
    #[serde(default)]
    pub(crate) reason: Option<String>,
    /// ...and text.
    #[serde(default)]
    pub(crate) message: Option<String>,
    /// Cut the connection.
    #[serde(default)]
    pub(crate) cut: Option<Cut>,
    /// Take the request; let its operation fail.
    #[serde(default)]
    pub(crate) operation_error: Option<OperationFault>,
}

/// When a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Cut {
    /// Nothing has happened.
    BeforeCommit,
    /// It has happened, and nobody is told.
    AfterCommit,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperationFault {
    pub(crate) code: String,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default = "internal")]
    pub(crate) http: u16,
}

fn internal() -> u16 {
    500
}

/// What is true only after a while.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Eventual {
    /// A new service account answers 404 for so long.
    #[serde(default)]
    pub(crate) service_account_ms: u64,
}

/// A machine type that the catalogue lacks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtraMachineType {
    pub(crate) name: String,
    pub(crate) zones: Vec<String>,
    /// As the API shows it: guestCpus, memoryMb, accelerators...
    pub(crate) body: Body,
}

impl Scenario {
    /// The world that `-mock` shows when nobody wrote another.
    #[must_use]
    pub fn default_world() -> Self {
        // part of the binary, and read by a test
        #[allow(clippy::expect_used)]
        Self::parse(DEFAULT).expect("the default scenario is well formed")
    }

    /// The text of the default world, for those who want to write another from it.
    #[must_use]
    pub fn default_text() -> &'static str {
        DEFAULT
    }

    /// Reads a scenario file. The error says what is wrong and where, in one sentence.
    ///
    /// With `"base": "default"` its fields stand in the place of those of the default world.
    ///
    /// # Errors
    ///
    /// Whatever is not as docs/formats/scenario.md says.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let scenario: Self = match value.get("base").and_then(Value::as_str) {
            // from the text: its errors know line and column
            None => serde_json::from_str(text),
            Some("default") => serde_json::from_str(DEFAULT).and_then(|mut whole: Value| {
                if let (Value::Object(whole), Value::Object(own)) = (&mut whole, value) {
                    whole.extend(own);
                }
                serde_json::from_value(whole)
            }),
            Some(other) => {
                return Err(format!(
                    "there is no scenario \"{other}\" to build on; only \"default\""
                ));
            }
        }
        .map_err(|error| error.to_string())?;
        if scenario.format != FORMAT {
            return Err(format!(
                "its format is \"{}\"; this mock reads \"{FORMAT}\"",
                scenario.format
            ));
        }
        for (index, fault) in scenario.faults.iter().enumerate() {
            if fault.delay_ms == 0
                && fault.status.is_none()
                && fault.cut.is_none()
                && fault.operation_error.is_none()
            {
                return Err(format!(
                    "faults[{index}] does nothing; it needs delay_ms, status, cut or operation_error"
                ));
            }
            if let Some(probability) = fault.probability
                && !(0.0..=1.0).contains(&probability)
            {
                return Err(format!(
                    "faults[{index}].probability is not between 0 and 1"
                ));
            }
        }
        for project in &scenario.projects {
            if !project.number.chars().all(|c| c.is_ascii_digit()) || project.number.is_empty() {
                return Err(format!(
                    "the number of project {} is not a number",
                    project.id
                ));
            }
        }
        Ok(scenario)
    }

    pub(crate) fn project(&self, id: &str) -> Option<&Project> {
        self.projects
            .iter()
            .find(|project| project.id == id || project.number == id)
    }

    pub(crate) fn latency(&self, method: &str) -> (u64, u64) {
        self.operations
            .by_method
            .iter()
            .find(|(pattern, _)| matches(pattern, method))
            .map_or(self.operations.latency_ms, |(_, latency)| *latency)
    }

    /// The limit of a metric in a place, if there is one.
    pub(crate) fn quota(&self, project: &str, place: &str, metric: &str) -> Option<&Quota> {
        self.quotas.iter().find(|quota| {
            quota.metric == metric
                && quota.project.as_deref().is_none_or(|id| id == project)
                && match quota.region.as_deref() {
                    None => place == "global",
                    Some("*") => place != "global",
                    Some(region) => region == place,
                }
        })
    }
}

/// Whether a text is what a pattern says; `*` at the pattern's end stands for any ending.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => text.starts_with(start),
        None => pattern == text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_world_reads() {
        let world = Scenario::default_world();
        assert!(world.project("formwork-mock").is_some());
        assert_eq!(world.objects.len(), 3);
    }

    #[test]
    fn mistakes_are_named() {
        let with = |faults: &str| {
            format!(r#"{{"format": "{FORMAT}", "projects": [], "faults": [{faults}]}}"#)
        };
        let own = format!(r#"{{"format": "{FORMAT}", "base": "default", "quotas": []}}"#);
        let own = Scenario::parse(&own).unwrap();
        assert_eq!((own.objects.len(), own.quotas.len()), (3, 0));
        for (text, part) in [
            (
                r#"{"format": "x", "base": "other"}"#.to_owned(),
                "there is no scenario",
            ),
            (
                r#"{"format": "x/1", "projects": []}"#.to_owned(),
                "its format is \"x/1\"",
            ),
            (
                r#"{"format": "x", "projects": [], "foo": 1}"#.to_owned(),
                "unknown field `foo`",
            ),
            (with(r#"{"method": "compute.*"}"#), "faults[0] does nothing"),
            (
                with(r#"{"cut": "after_commit", "probability": 5}"#),
                "faults[0].probability",
            ),
            (with(r#"{"cut": "sometimes"}"#), "sometimes"),
        ] {
            let error = Scenario::parse(&text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
