//! The loading benchmark: `validate` and `fmt -check -recursive` over many files.

use crate::generate::many_files;
use crate::measure::{Tools, Usage};
use crate::table::{Table, growth, megabytes, ratio, seconds};

/// What each tool is asked to do.
const COMMANDS: [(&str, &[&str]); 2] = [
    ("validate", &["validate"]),
    ("fmt -check -recursive", &["fmt", "-check", "-recursive"]),
];

pub(crate) fn run(tools: &Tools, seed: u64, files: usize, bytes: usize) -> Result<(), String> {
    let mut table = Table::new(&[
        "",
        "formwork cpu",
        "wall",
        "peak",
        "terraform cpu",
        "wall",
        "peak",
        "cpu ratio",
    ]);
    let mut costs: Vec<Vec<Usage>> = Vec::new();
    for tenth in [10, 1] {
        let tree = many_files(seed, files / tenth, bytes / tenth);
        let (count, size) = (tree.files.len(), tree.bytes());
        let directory = tempfile::tempdir().map_err(|e| e.to_string())?;
        tree.write(directory.path())?;
        tools.terraform_once(directory.path(), &["init", "-backend=false"])?;
        let mut row = Vec::new();
        for (name, arguments) in COMMANDS {
            let ours = tools.formwork(directory.path(), arguments)?;
            let theirs = tools.terraform(directory.path(), arguments)?;
            let shown = |usage: Option<Usage>| {
                usage.map_or_else(
                    || vec!["-".to_owned(); 3],
                    |u| vec![seconds(u.cpu), seconds(u.wall), megabytes(u.peak)],
                )
            };
            let mut cells = vec![format!("{name}, {count} files, {}", megabytes(size as u64))];
            cells.extend(shown(Some(ours)));
            cells.extend(shown(theirs));
            cells.push(ratio(theirs, ours));
            table.row(cells);
            row.push(ours);
        }
        costs.push(row);
    }
    table.print();
    for (i, (name, _)) in COMMANDS.iter().enumerate() {
        println!(
            "{name}: ten times the input costs {}",
            growth(costs[0][i], costs[1][i])
        );
    }
    Ok(())
}
