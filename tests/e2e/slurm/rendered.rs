//! The files an example puts into the mock's bucket.

use std::path::Path;

/// Writes the files that the example renders into `folder`; false, said aloud, where they cannot be
/// had.
pub fn into(example: &str, folder: &Path) -> bool {
    // A folder of files rendered otherwise, one sub-folder per example, for work on the harness.
    let Ok(given) = std::env::var("FORMWORK_TEST_SLURM_FILES") else {
        crate::cluster::skipped("the Slurm test, since the binary cannot apply yet");
        return false;
    };
    for entry in std::fs::read_dir(Path::new(&given).join(example)).expect("rendered files") {
        let entry = entry.expect("a file");
        std::fs::copy(entry.path(), folder.join(entry.file_name())).expect("a copy");
    }
    true
}
