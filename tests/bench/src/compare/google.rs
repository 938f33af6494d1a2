//! The google provider against a mock cloud in another process, beside `terraform_data` of the same
//! number and shape.
//!
//! Only our own process counts; what the mock took is told apart. What a run takes on an empty
//! configuration is taken off each: it is the work per object that is compared.

use super::shapes::{GOOGLE, networks};
use super::{APPLY, Comparison, PLAN, Verdict, folder, many, tool};
use crate::generate::Tree;
use crate::measure::Usage;
use serde_json::Value as Json;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// At most so many times what `terraform_data` takes.
const MOST: f64 = 3.0;

/// Operations that are over at once, and no limits that so many objects would meet.
const SCENARIO: &str = r#"{
  "format": "formwork-mock-scenario/1",
  "operations": {"latency_ms": [0, 0]},
  "projects": [{"id": "formwork-mock", "number": "415104041262", "services": ["compute"]}]
}
"#;

/// A mock cloud in a process of its own, which ends with this value.
struct Mock {
    child: Child,
    url: String,
    _world: tempfile::TempDir,
}

impl Mock {
    fn start(formwork: &Path) -> Result<Self, String> {
        let world = tempfile::tempdir().map_err(|e| e.to_string())?;
        std::fs::write(world.path().join("scenario.json"), SCENARIO).map_err(|e| e.to_string())?;
        let mut child = Command::new(formwork)
            .args(["mock", "serve", "-scenario=scenario.json"])
            .current_dir(world.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("mock serve: {e}"))?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out)
                .read_line(&mut line)
                .map_err(|e| e.to_string())?;
        }
        let told: Json = serde_json::from_str(&line).unwrap_or_default();
        let mut mock = Self {
            child,
            url: told["address"].as_str().unwrap_or_default().to_owned(),
            _world: world,
        };
        if mock.url.is_empty() {
            let _ = mock.child.kill();
            return Err(format!("mock serve did not say where it is: {line}"));
        }
        Ok(mock)
    }

    /// CPU of the mock's process so far.
    fn used(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let stat = stat.unwrap_or_default();
        // Fields after the name, which may hold anything: user and system time are the 12th and 13th.
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let fields: Vec<u64> = fields
            .split_whitespace()
            .map(|f| f.parse().unwrap_or(0))
            .collect();
        let ticks = fields.get(11).unwrap_or(&0) + fields.get(12).unwrap_or(&0);
        Duration::from_millis(ticks * 10)
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn beside_terraform_data(
    all: &mut Comparison<'_>,
    instances: usize,
) -> Result<(), String> {
    let ours = all.tools.ours();
    let mock = Mock::start(ours)?;
    let flag = format!("-mock={}", mock.url);
    let with = |arguments: &[&'static str]| -> Vec<&str> {
        let mut out = vec![arguments[0], &flag];
        out.extend(&arguments[1..]);
        out
    };
    let empty = |text: &str| {
        folder(&Tree {
            files: vec![("main.tf".to_owned(), text.to_owned())],
        })
    };
    let runs = all.runs;
    let off = all.ours(empty("")?.path(), &PLAN, runs)?;
    let google_off = all.ours(empty(GOOGLE)?.path(), &with(&PLAN), runs)?;
    let plain = folder(&networks(all.seed, instances, false))?;
    let google = folder(&networks(all.seed, instances, true))?;
    for step in ["plan", "plan without changes"] {
        let expected = all.ours(plain.path(), &PLAN, runs)?;
        let mock_before = mock.used();
        let used = all.ours(google.path(), &with(&PLAN), runs)?;
        let mock_used = (mock.used() - mock_before) / u32::try_from(runs).unwrap_or(1);
        let less = |u: Usage, off: Usage| u.cpu.saturating_sub(off.cpu).as_secs_f64();
        let times = less(used, google_off) / less(expected, off).max(1e-9);
        let verdict = if all.quick {
            Verdict::NotShown("too small to judge")
        } else {
            Verdict::of(times <= MOST)
        };
        let what = format!(
            "{step}, {} networks and firewalls, to terraform_data",
            many(instances)
        );
        let measured = format!("{times:.1}x");
        all.report
            .row(&[&what, "<= 3x", "", &measured], Some(used), None, verdict);
        all.report.note(&format!(
            "{what}: {:.3} s less {:.3} s on an empty configuration, beside {:.3} s less {:.3} s; the mock took {:.3} s",
            used.cpu.as_secs_f64(),
            google_off.cpu.as_secs_f64(),
            expected.cpu.as_secs_f64(),
            off.cpu.as_secs_f64(),
            mock_used.as_secs_f64()
        ));
        if step == "plan" {
            tool(ours, plain.path(), &APPLY)?;
            tool(ours, google.path(), &with(&APPLY))?;
        }
    }
    Ok(())
}
