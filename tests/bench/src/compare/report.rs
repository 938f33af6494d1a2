//! What was required, what was measured, and what comes of it.

use super::peer::Theirs;
use crate::measure::Usage;
use crate::table::{Table, megabytes, seconds};

/// What comes of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// What is required holds.
    Holds,
    /// What is aimed at holds, too.
    Aim,
    /// What is required does not hold.
    Fails,
    /// Not judged, and why.
    NotShown(&'static str),
}

impl Verdict {
    pub(super) fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }

    pub(super) fn at_least(measured: f64, required: f64, aim: f64) -> Self {
        if measured >= aim && aim > required {
            Self::Aim
        } else {
            Self::of(measured >= required)
        }
    }
}

/// The rows so far.
#[derive(Default)]
pub(super) struct Report {
    rows: Vec<Vec<String>>,
    verdicts: Vec<Verdict>,
    notes: Vec<String>,
}

impl Report {
    /// Adds a row of what is compared, what is required, what is aimed at and what was measured.
    pub(super) fn row(
        &mut self,
        words: &[&str; 4],
        ours: Option<Usage>,
        theirs: Option<&Theirs>,
        verdict: Verdict,
    ) {
        let mut cells: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        cells.extend(ours.map_or([String::new(), String::new()], |u| {
            [seconds(u.cpu), megabytes(u.peak)]
        }));
        cells.extend(theirs.map_or([String::new(), String::new()], |t| {
            let kept = if t.kept { " (kept)" } else { "" };
            [
                format!("{}{kept}", seconds(t.usage.cpu)),
                megabytes(t.usage.peak),
            ]
        }));
        cells.push(match verdict {
            Verdict::Holds => "holds".to_owned(),
            Verdict::Aim => "holds, and the aim".to_owned(),
            Verdict::Fails => "FAILS".to_owned(),
            Verdict::NotShown(why) => format!("not judged: {why}"),
        });
        // Some rows take minutes: who waits sees how far it is.
        eprintln!(
            "{}: {} {}",
            words[0],
            words[3],
            cells.last().map_or("", String::as_str)
        );
        self.rows.push(cells);
        self.verdicts.push(verdict);
    }

    /// A row for something that must not be more than so much.
    pub(super) fn limit(
        &mut self,
        what: &str,
        measured: f64,
        most: f64,
        unit: &str,
        used: Option<Usage>,
    ) {
        let (required, measured_text) = (format!("<= {most:.1} {unit}"), format!("{measured:.1}"));
        self.row(
            &[what, &required, "", &measured_text],
            used,
            None,
            Verdict::of(measured <= most),
        );
    }

    /// A line below the table.
    pub(super) fn note(&mut self, line: &str) {
        eprintln!("{line}");
        self.notes.push(line.to_owned());
    }

    /// Prints everything; whether nothing failed.
    pub(super) fn print(&self) -> bool {
        let mut table = Table::new(&[
            "",
            "required",
            "aim",
            "measured",
            "formwork cpu",
            "peak",
            "terraform cpu",
            "peak",
            "verdict",
        ]);
        for row in &self.rows {
            table.row(row.clone());
        }
        table.print();
        for note in &self.notes {
            println!("{note}");
        }
        let count = |which: fn(&Verdict) -> bool| self.verdicts.iter().filter(|v| which(v)).count();
        let failed = count(|v| *v == Verdict::Fails);
        let open = count(|v| matches!(v, Verdict::NotShown(_)));
        println!(
            "{} hold, {failed} fail, {open} were not judged",
            self.verdicts.len() - failed - open
        );
        failed == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_fails_the_whole_and_an_open_row_does_not() {
        let mut report = Report::default();
        report.limit("a", 1.0, 2.0, "s", None);
        report.row(&["b", "", "", ""], None, None, Verdict::NotShown("no peer"));
        assert!(report.print());
        report.limit("c", 3.0, 2.0, "s", None);
        assert!(!report.print());
        assert_eq!(Verdict::at_least(60.0, 50.0, 100.0), Verdict::Holds);
        assert_eq!(Verdict::at_least(100.0, 50.0, 100.0), Verdict::Aim);
        assert_eq!(Verdict::at_least(49.9, 50.0, 100.0), Verdict::Fails);
        assert_eq!(Verdict::at_least(100.0, 100.0, 100.0), Verdict::Holds);
    }
}
