//! The line at the foot of a terminal while a run works: how far it is, what runs, for how long, and
//! how long that usually takes.
//!
//! Pure: it is told events and times, and gives a line. What operations usually take is handed in and
//! what they took is handed out, by type of resource and action.

use super::lines::duration;
use super::progress::words;
use formwork_addresses::AbsResourceInstance;
use formwork_plan::{Action, Event, Hook, Phase};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

/// How long operations take, by `TYPE ACTION`.
pub type UsualTimes = BTreeMap<String, Duration>;

/// So many running operations are named.
const MOST_NAMED: usize = 3;
/// Differences below this are not worth a forecast.
const SHORT: Duration = Duration::from_secs(2);

/// What is known of a run while it works.
#[derive(Debug, Default)]
pub struct Board {
    usual: UsualTimes,
    parallelism: usize,
    phase: Option<Phase>,
    begun: Option<SystemTime>,
    total: usize,
    done: usize,
    failed: usize,
    running: BTreeMap<(AbsResourceInstance, &'static str), (Hook, SystemTime)>,
    /// What is being read, in the order in which it was begun: there may be many at once.
    reads: BTreeMap<u64, (AbsResourceInstance, SystemTime)>,
    /// The number under which an object is being read.
    reading: BTreeMap<AbsResourceInstance, u64>,
    begun_reads: u64,
    /// Operations to come, by `TYPE ACTION`.
    ahead: BTreeMap<String, usize>,
    took: Vec<(String, Duration)>,
}

/// Whether it reads a data source.
fn is_read(hook: &Hook) -> bool {
    hook.action == Action::Read
}

fn key(hook: &Hook) -> String {
    format!("{} {}", hook.address.resource.kind, hook.action.word())
}

impl Board {
    /// A board that knows what operations usually take.
    pub fn new(usual: UsualTimes, parallelism: usize) -> Self {
        Self {
            usual,
            parallelism: parallelism.max(1),
            ..Self::default()
        }
    }

    /// Says what will be applied, by type of resource and action, so that there is something to count
    /// up to. A replacement counts twice.
    pub fn expect<'p>(&mut self, changes: impl IntoIterator<Item = (&'p str, Action)>) {
        self.ahead.clear();
        self.total = 0;
        for (kind, action) in changes {
            let steps: &[Action] = match action {
                Action::DeleteThenCreate | Action::CreateThenDelete => {
                    &[Action::Delete, Action::Create]
                }
                Action::Create => &[Action::Create],
                Action::Update => &[Action::Update],
                Action::Delete => &[Action::Delete],
                _ => &[],
            };
            for step in steps {
                *self
                    .ahead
                    .entry(format!("{kind} {}", step.word()))
                    .or_default() += 1;
                self.total += 1;
            }
        }
    }

    /// Takes an event in.
    pub fn event(&mut self, event: &Event, now: SystemTime) {
        match event {
            Event::Started(phase @ (Phase::Refresh | Phase::Plan | Phase::Apply), of) => {
                self.phase = Some(*phase);
                self.begun = Some(now);
                (self.done, self.failed) = (0, 0);
                self.reads.clear();
                self.reading.clear();
                if *phase == Phase::Refresh {
                    self.total = of.unwrap_or(0);
                }
            }
            Event::Started(..) | Event::Finished(..) => self.phase = None,
            Event::RefreshStarted(hook) => self.read_begins(hook, now),
            Event::RefreshFinished(hook) => {
                self.done += 1;
                self.read_ends(hook);
            }
            Event::ApplyStarted(hook) if is_read(hook) => self.read_begins(hook, now),
            Event::ApplyFinished(hook, _) if is_read(hook) => self.read_ends(hook),
            Event::ApplyStarted(hook) if hook.action.changes_objects() => {
                if let Some(n) = self.ahead.get_mut(&key(hook)) {
                    *n = n.saturating_sub(1);
                }
                let place = (hook.address.clone(), hook.action.word());
                self.running.insert(place, (hook.clone(), now));
            }
            Event::ApplyFinished(hook, time) if hook.action.changes_objects() => {
                self.running
                    .remove(&(hook.address.clone(), hook.action.word()));
                self.done += 1;
                if *time >= SHORT {
                    self.took.push((key(hook), *time));
                }
            }
            Event::ApplyFailed(hook, _) => {
                self.read_ends(hook);
                self.running
                    .remove(&(hook.address.clone(), hook.action.word()));
                self.failed += 1;
            }
            _ => {}
        }
    }

    fn read_begins(&mut self, hook: &Hook, now: SystemTime) {
        self.begun_reads += 1;
        let number = self.begun_reads;
        self.reads.insert(number, (hook.address.clone(), now));
        if let Some(former) = self.reading.insert(hook.address.clone(), number) {
            self.reads.remove(&former);
        }
    }

    fn read_ends(&mut self, hook: &Hook) {
        if let Some(number) = self.reading.remove(&hook.address) {
            self.reads.remove(&number);
        }
    }

    /// That nothing runs any more.
    pub fn rest(&mut self) {
        self.phase = None;
        self.running.clear();
        self.reads.clear();
        self.reading.clear();
    }

    /// What operations took, those that are worth remembering.
    pub fn took(&mut self) -> Vec<(String, Duration)> {
        std::mem::take(&mut self.took)
    }

    /// The line, cut to a width; `None` while there is nothing to show.
    pub fn line(&self, now: SystemTime, width: usize) -> Option<String> {
        let since = |then: SystemTime| now.duration_since(then).unwrap_or_default();
        let elapsed = since(self.begun?);
        let mut out = String::new();
        // writing to a String cannot fail
        match self.phase? {
            Phase::Refresh => {
                let _ = write!(out, "Refreshing: {} of {}", self.done, self.total);
            }
            Phase::Plan => out.push_str("Planning"),
            Phase::Apply => {
                let total = self.total.max(self.done + self.failed + self.running.len());
                let _ = write!(out, "{} of {total} done", self.done);
                if self.failed > 0 {
                    let _ = write!(out, ", {} failed", self.failed);
                }
            }
            _ => return None,
        }
        let _ = write!(out, ", {}", duration(elapsed));
        if let Some(left) = self.left(now) {
            let _ = write!(out, ", about {} left", duration(left));
        }
        let mut running: Vec<&(Hook, SystemTime)> = self.running.values().collect();
        // those that run longest first
        running.sort_by_key(|(_, began)| *began);
        for (i, (hook, began)) in running.iter().take(MOST_NAMED).enumerate() {
            let lead = if i == 0 { " \u{b7} " } else { "; " };
            let time = duration(since(*began));
            let _ = write!(out, "{lead}{} {} {time}", words(hook).still, hook.address);
            if let Some(usual) = self.usual.get(&key(hook)) {
                let _ = write!(out, " of about {}", duration(*usual));
            }
        }
        // what is quick needs no line; what hangs does
        let free = MOST_NAMED.saturating_sub(running.len());
        let slow = |(_, began): &&(AbsResourceInstance, SystemTime)| since(*began) >= SHORT;
        for (i, (address, began)) in self.reads.values().take(free).take_while(slow).enumerate() {
            let lead = if i == 0 && running.is_empty() {
                " \u{b7} "
            } else {
                "; "
            };
            let _ = write!(out, "{lead}reading {address} {}", duration(since(*began)));
        }
        if let Some(more) = running.len().checked_sub(MOST_NAMED).filter(|n| *n > 0) {
            let _ = write!(out, "; {more} more");
        }
        if out.chars().count() >= width {
            out = out.chars().take(width.saturating_sub(2)).collect();
            out.push('\u{2026}');
        }
        Some(out)
    }

    /// How long it will take yet, if what is to come has been seen before.
    fn left(&self, now: SystemTime) -> Option<Duration> {
        if self.phase != Some(Phase::Apply) || self.usual.is_empty() {
            return None;
        }
        let mut all = Duration::ZERO;
        let mut longest = Duration::ZERO;
        for (hook, began) in self.running.values() {
            if let Some(usual) = self.usual.get(&key(hook)) {
                let left = usual.saturating_sub(now.duration_since(*began).unwrap_or_default());
                all += left;
                longest = longest.max(left);
            }
        }
        for (key, n) in self.ahead.iter().filter(|(_, n)| **n > 0) {
            if let Some(usual) = self.usual.get(key) {
                all += usual.saturating_mul(u32::try_from(*n).unwrap_or(u32::MAX));
                longest = longest.max(*usual);
            }
        }
        let lanes = u32::try_from(self.parallelism).unwrap_or(u32::MAX).max(1);
        let left = longest.max(all / lanes);
        (left >= SHORT).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let hook = |address: &str, action| Hook {
            address: address.parse().expect("an address"),
            action,
            id: None,
        };
        let usual = UsualTimes::from([("a create".to_owned(), Duration::from_secs(60))]);
        let mut board = Board::new(usual, 2);
        assert_eq!(board.line(at(0), 200), None);
        board.event(&Event::Started(Phase::Refresh, Some(7)), at(0));
        board.event(&Event::RefreshFinished(hook("a.b", Action::NoOp)), at(1));
        assert_eq!(
            board.line(at(2), 200).as_deref(),
            Some("Refreshing: 1 of 7, 2s")
        );
        board.event(&Event::RefreshStarted(hook("a.h", Action::NoOp)), at(2));
        assert_eq!(
            board.line(at(3), 200).as_deref(),
            Some("Refreshing: 1 of 7, 3s")
        );
        assert_eq!(
            board.line(at(9), 200).as_deref(),
            Some("Refreshing: 1 of 7, 9s \u{b7} reading a.h 7s")
        );
        board.event(&Event::Finished(Phase::Refresh, Duration::ZERO), at(3));
        assert_eq!(board.line(at(3), 200), None);
        board.event(&Event::Started(Phase::Plan, None), at(3));
        let data = |of| hook("data.d.e", of);
        board.event(&Event::ApplyStarted(data(Action::Read)), at(3));
        assert_eq!(
            board.line(at(8), 200).as_deref(),
            Some("Planning, 5s \u{b7} reading data.d.e 5s")
        );
        board.event(
            &Event::ApplyFinished(data(Action::Read), Duration::from_secs(6)),
            at(9),
        );
        assert_eq!(board.line(at(9), 200).as_deref(), Some("Planning, 6s"));
        board.event(&Event::Finished(Phase::Plan, Duration::ZERO), at(9));
        board.expect([
            ("a", Action::Create),
            ("a", Action::Create),
            ("a", Action::DeleteThenCreate),
        ]);
        board.event(&Event::Started(Phase::Apply, Some(99)), at(10));
        board.event(&Event::ApplyStarted(hook("a.x[0]", Action::Create)), at(10));
        assert_eq!(
            board.line(at(30), 200).as_deref(),
            Some("0 of 4 done, 20s, about 1m20s left \u{b7} creating a.x[0] 20s of about 1m0s")
        );
        let time = Duration::from_secs(50);
        board.event(
            &Event::ApplyFinished(hook("a.x[0]", Action::Create), time),
            at(60),
        );
        board.event(&Event::ApplyStarted(hook("a.y", Action::Delete)), at(60));
        board.event(
            &Event::ApplyFailed(hook("a.y", Action::Delete), time),
            at(61),
        );
        assert_eq!(
            board.line(at(61), 200).as_deref(),
            Some("1 of 4 done, 1 failed, 51s, about 1m0s left")
        );
        assert_eq!(
            board.line(at(61), 12).as_deref(),
            Some("1 of 4 don\u{2026}")
        );
        assert_eq!(board.took(), [("a create".to_owned(), time)]);
        board.rest();
        assert_eq!(board.line(at(62), 200), None);
    }
}
