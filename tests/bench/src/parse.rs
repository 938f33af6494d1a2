//! The parser, the layout and loading alone, in this process: megabytes per second of one thread.

use crate::generate::{Tree, many_files};
use crate::table::{Table, seconds};
use formwork_configuration::{
    LanguageLevel, Loading, LocalModulesOnly, MemoryReader, StaticInputs, load,
};
use formwork_diagnostics::{FileId, SourceMap};
use nix::sys::resource::{UsageWho, getrusage};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

/// CPU time of this process so far.
fn used() -> Duration {
    let micros = |t: nix::sys::time::TimeVal| {
        u64::try_from(t.tv_sec() * 1_000_000 + t.tv_usec()).unwrap_or_default()
    };
    getrusage(UsageWho::RUSAGE_SELF).map_or(Duration::ZERO, |u| {
        Duration::from_micros(micros(u.user_time()) + micros(u.system_time()))
    })
}

pub(crate) fn run(seed: u64, files: usize, bytes: usize, runs: usize) {
    let tree = many_files(seed, files, bytes);
    let mut table = Table::new(&["", "cpu", "speed"]);
    let mut row = |name: &str, work: &dyn Fn(&Tree)| {
        let mut times: Vec<Duration> = (0..runs.max(1))
            .map(|_| {
                let begun = used();
                work(&tree);
                used().saturating_sub(begun)
            })
            .collect();
        times.sort();
        let median = times[times.len() / 2];
        #[allow(clippy::cast_precision_loss)] // for people
        let speed = tree.bytes() as f64 / 1e6 / median.as_secs_f64();
        table.row(vec![
            name.to_owned(),
            seconds(median),
            format!("{speed:.0} MB/s"),
        ]);
    };
    row("scan", &|tree| {
        for (_, text) in &tree.files {
            black_box(formwork_syntax::scan(
                text.as_bytes(),
                formwork_syntax::ScanMode::Code,
            ));
        }
    });
    row("parse", &|tree| {
        for (_, text) in &tree.files {
            let _ = black_box(formwork_syntax::parse(FileId(0), text.as_bytes()));
        }
    });
    row("layout", &|tree| {
        for (_, text) in &tree.files {
            let _ = black_box(formwork_syntax::format(FileId(0), text.as_bytes()));
        }
    });
    let mut reader = MemoryReader::new();
    for (name, text) in &tree.files {
        reader.insert(name, text.as_bytes());
    }
    row("load and check", &|_| {
        let with = Loading {
            reader: &reader,
            fetcher: &LocalModulesOnly,
            level: LanguageLevel::default(),
            statics: StaticInputs::default(),
        };
        let _ = black_box(load(Path::new("."), &with, &mut SourceMap::new()));
    });
    println!("{} files, {} bytes", tree.files.len(), tree.bytes());
    table.print();
}
