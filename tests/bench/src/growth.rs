//! How planning and applying grow with the number of instances.

use crate::generate::Shape;
use crate::measure::Tools;
use crate::table::{Table, growth, megabytes, ratio, seconds};

pub(crate) fn run(tools: &Tools, most: usize, beside_terraform: bool) -> Result<(), String> {
    let mut table = Table::new(&[
        "",
        "instances",
        "formwork cpu",
        "peak",
        "growth",
        "terraform cpu",
        "cpu ratio",
    ]);
    const STEPS: [(&str, &[&str]); 3] = [
        ("plan", &["plan", "-input=false"]),
        ("apply", &["apply", "-auto-approve", "-input=false"]),
        ("plan again", &["plan", "-input=false"]),
    ];
    for shape in Shape::ALL {
        let mut before = [None; STEPS.len()];
        for instances in [most / 5, most] {
            let ours = tempfile::tempdir().map_err(|e| e.to_string())?;
            let theirs = tempfile::tempdir().map_err(|e| e.to_string())?;
            shape.tree(instances).write(ours.path())?;
            shape.tree(instances).write(theirs.path())?;
            if beside_terraform {
                tools.terraform_once(theirs.path(), &["init"])?;
            }
            for (i, (name, arguments)) in STEPS.iter().enumerate() {
                let used = tools.formwork_once(ours.path(), arguments)?;
                let beside = if beside_terraform {
                    tools.terraform_once(theirs.path(), arguments)?
                } else {
                    None
                };
                table.row(vec![
                    format!("{name}, {}", shape.name()),
                    instances.to_string(),
                    seconds(used.cpu),
                    megabytes(used.peak),
                    before[i].map_or_else(String::new, |b| growth(b, used)),
                    beside.map_or_else(|| "-".to_owned(), |u| seconds(u.cpu)),
                    ratio(beside, used),
                ]);
                before[i] = Some(used);
            }
        }
    }
    table.print();
    Ok(())
}
