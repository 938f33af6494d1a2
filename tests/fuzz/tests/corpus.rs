//! The kept corpus, replayed: each text that a fuzzer found worth keeping does no harm.

use formwork_fuzz::TARGETS;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// More than any text here may take, with room for a slow machine and an unoptimised build.
const LONGEST: Duration = Duration::from_secs(20);

#[test]
fn the_corpus_does_no_harm() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, target) in TARGETS {
        let folder = root.join(name);
        let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
            .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{} is empty", folder.display());
        let mut bytes = 0;
        for file in &files {
            let text = std::fs::read(file).expect("a file of the corpus");
            bytes += text.len();
            let begun = Instant::now();
            let shown = file.display().to_string();
            if let Err(why) = std::panic::catch_unwind(|| target(&text)) {
                eprintln!("while replaying {shown}");
                std::panic::resume_unwind(why);
            }
            let taken = begun.elapsed();
            assert!(taken < LONGEST, "{shown} took {taken:?}");
        }
        println!("{name}: {} texts, {bytes} bytes", files.len());
    }
}
