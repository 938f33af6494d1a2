//! Tables on the terminal.

use crate::measure::Usage;
use std::time::Duration;

/// Rows under headings, printed with each column as wide as its widest cell.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(headings: &[&str]) -> Self {
        Self {
            rows: vec![headings.iter().map(|h| (*h).to_owned()).collect()],
        }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn print(&self) {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| {
            let cells = self.rows.iter().filter_map(|r| r.get(c));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (c, cell) in row.iter().enumerate() {
                let gap = " ".repeat(widths[c] - cell.chars().count());
                if c == 0 {
                    line += &format!("{cell}{gap}");
                } else {
                    line += &format!("  {gap}{cell}");
                }
            }
            println!("{}", line.trim_end());
        }
    }
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

pub(crate) fn megabytes(bytes: u64) -> String {
    #[allow(clippy::cast_precision_loss)] // for people
    let megabytes = bytes as f64 / 1e6;
    format!("{megabytes:.0} MB")
}

/// How many times more `theirs` is than `ours`.
pub(crate) fn ratio(theirs: Option<Usage>, ours: Usage) -> String {
    theirs.map_or_else(
        || "-".to_owned(),
        |t| {
            format!(
                "{:.1}x",
                t.cpu.as_secs_f64() / ours.cpu.as_secs_f64().max(1e-9)
            )
        },
    )
}

/// The growth from one usage to another.
pub(crate) fn growth(small: Usage, large: Usage) -> String {
    format!(
        "{:.1}x",
        large.cpu.as_secs_f64() / small.cpu.as_secs_f64().max(1e-9)
    )
}
