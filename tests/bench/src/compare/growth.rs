//! How our own costs grow: ten times the instances, and a million.

use super::shapes::Kind;
use super::{APPLY, Comparison, GROWTH, PLAN, Verdict, folder, many, tool};
use crate::generate::Tree;
use crate::measure::Usage;

/// Most memory of anything that is ten times as large.
const MOST: f64 = 1.5 * GIB;
/// Most memory of a plan of a million.
const MILLION: f64 = 8.0 * GIB;
const GIB: f64 = 1_073_741_824.0;

const STEPS: [(&str, &[&str]); 3] = [
    ("plan", &PLAN),
    ("apply", &APPLY),
    ("plan without changes", &PLAN),
];

/// Plan, apply and plan again, at a size and at ten times it.
pub(super) fn grows(all: &mut Comparison<'_>, instances: usize) -> Result<(), String> {
    for kind in [Kind::Flat, Kind::Layered, Kind::Count, Kind::Map] {
        let small = steps(all, &kind.tree(all.seed, instances), all.runs)?;
        let tenfold = kind.tree_like(all.seed, instances * 10, instances);
        let large = steps(all, &tenfold, 1)?;
        for (i, (step, _)) in STEPS.iter().enumerate() {
            let what = format!(
                "{step}, {}, {}, to a tenth of it",
                kind.name(),
                many(instances * 10)
            );
            all.grown(&what, small[i], large[i], GROWTH);
            memory(all, &what, large[i], MOST);
        }
    }
    Ok(())
}

/// The steps in one folder after another, each as often as asked; of each the median.
fn steps(all: &Comparison<'_>, tree: &Tree, runs: usize) -> Result<Vec<Usage>, String> {
    let mut used = vec![Vec::new(); STEPS.len()];
    for _ in 0..runs {
        let folder = folder(tree)?;
        for (i, (_, arguments)) in STEPS.iter().enumerate() {
            used[i].push(tool(all.tools.ours(), folder.path(), arguments)?);
        }
    }
    Ok(used.into_iter().map(super::median).collect())
}

/// A plan of very many instances of one resource.
pub(super) fn million(all: &mut Comparison<'_>, instances: usize) -> Result<(), String> {
    let folder = folder(&Kind::Count.tree(all.seed, instances))?;
    let used = tool(all.tools.ours(), folder.path(), &PLAN)?;
    memory(
        all,
        &format!("plan, by count, {}", many(instances)),
        used,
        MILLION,
    );
    Ok(())
}

fn memory(all: &mut Comparison<'_>, what: &str, used: Usage, most: f64) {
    #[allow(clippy::cast_precision_loss)] // for people
    let peak = used.peak as f64;
    let measured = format!("{:.2}", peak / GIB);
    let required = format!("< {:.1} GiB", most / GIB);
    let what = format!("{what}: memory");
    all.report.row(
        &[&what, &required, "", &measured],
        Some(used),
        None,
        Verdict::of(peak < most),
    );
}
