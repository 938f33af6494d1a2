//! What moved, removed, check, conditions, ephemeral values, lifecycle settings, remote states and
//! outputs do, step by step, against recorded answers of Terraform: `tests/oracle/blocks`.

use crate::recorded::run_in;
use std::path::{Path, PathBuf};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle/blocks")
}

/// What differs on purpose: the case, how the difference begins, and why.
const ON_PURPOSE: &[(&str, &str, &str)] = &[];

#[tokio::test]
async fn every_case_agrees() {
    let mut names: Vec<PathBuf> = std::fs::read_dir(cases())
        .expect("the cases")
        .map(|e| e.expect("an entry").path())
        .collect();
    names.sort();
    assert!(names.len() >= 70, "only {}", names.len());
    let mut told = Vec::new();
    for case in &names {
        for difference in run_in(case, ON_PURPOSE).await {
            let name = case.file_name().expect("a name").to_string_lossy();
            told.push(format!("{name}: {difference}"));
        }
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}
