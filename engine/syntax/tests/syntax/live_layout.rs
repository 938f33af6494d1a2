//! Mangled configuration, laid out here and by `terraform fmt`, compared byte for byte.
//!
//! Skips with a word if there is no such binary. The texts are the repository's own configurations
//! and the generator's, with blanks, line breaks and comments moved, pieces taken out and repeated;
//! `FORMWORK_CORPUS=DIR` adds the files of a directory. Each round is one run of Terraform over a
//! directory. `FORMWORK_TEST_BUDGET` is the time in seconds, seeds rise from `FORMWORK_TEST_SEED`.
//!
//! A text that one tool refuses is compared too: it must come back as it was.

use crate::source::{Choices, file, within_budget_from};
use formwork_diagnostics::FileId;
use formwork_syntax::{ScanMode, TokenKind as T, format, scan};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PER_ROUND: usize = 400;

#[test]
fn mangled_text_is_laid_out_as_terraform_does() {
    let there = Command::new("terraform")
        .arg("version")
        .stdout(Stdio::null())
        .status();
    if !there.is_ok_and(|s| s.success()) {
        eprintln!("skipped: there is no terraform to compare layouts with");
        return;
    }
    let corpus = corpus();
    let first = std::env::var("FORMWORK_TEST_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(1);
    let (mut valid, mut all) = (0, 0);
    let mut differing = Vec::new();
    within_budget_from("layouts", first, 2, |round| {
        let folder = tempfile::tempdir().expect("a folder");
        let texts: Vec<Vec<u8>> = (0..PER_ROUND)
            .map(|i| {
                let seed = round * 1_000_003 + i as u64;
                let choices = &mut Choices::new(seed);
                let mut text = match choices.below(4) {
                    0 => file(choices).into_bytes(),
                    _ => corpus[choices.below(corpus.len())].clone(),
                };
                // Some as they are: they are mangled well enough.
                if !choices.one_in(8) {
                    text = mangled(choices, &text);
                }
                text
            })
            .collect();
        for (i, text) in texts.iter().enumerate() {
            std::fs::write(folder.path().join(format!("{i}.tf")), text).expect("written");
        }
        // A text it refuses makes it fail, but not before the others are written.
        let done = Command::new("terraform")
            .args(["fmt", "-list=false"])
            .arg(folder.path())
            .output()
            .expect("it runs");
        drop(done);
        for (i, text) in texts.iter().enumerate() {
            let theirs = std::fs::read(folder.path().join(format!("{i}.tf"))).expect("there");
            let (ours, said) = format(FileId(0), text);
            all += 1;
            valid += usize::from(!said.has_errors());
            if ours != theirs && !loses_text(text) {
                differing.push((text.clone(), ours, theirs));
            }
        }
    });
    println!("{all} texts, {valid} of them valid");
    if let Some(into) = std::env::var_os("FORMWORK_DIFFERENCES") {
        keep(Path::new(&into), &differing);
    }
    if let Some((text, ours, theirs)) = differing.iter().min_by_key(|(t, _, _)| t.len()) {
        panic!(
            "{} differ, the shortest:\n{}\n--- ours\n{}\n--- theirs\n{}",
            differing.len(),
            String::from_utf8_lossy(text),
            String::from_utf8_lossy(ours),
            String::from_utf8_lossy(theirs)
        );
    }
}

fn keep(into: &Path, differing: &[(Vec<u8>, Vec<u8>, Vec<u8>)]) {
    for (i, (text, ours, theirs)) in differing.iter().enumerate() {
        for (ending, bytes) in [("in", text), ("ours", ours), ("theirs", theirs)] {
            let _ = std::fs::write(into.join(format!("{i}.{ending}")), bytes);
        }
    }
}

/// Where Terraform itself loses text: a block label with `$` or `%` in it (see `format`).
fn loses_text(text: &[u8]) -> bool {
    let (body, _) = formwork_syntax::parse(FileId(0), text);
    let mut open = vec![body];
    while let Some(body) = open.pop() {
        for block in body.blocks() {
            if block.labels.iter().any(|l| l.value.contains(['$', '%'])) {
                return true;
            }
            open.push(block.body.clone());
        }
    }
    false
}

fn corpus() -> Vec<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts = Vec::new();
    for folder in ["blueprints", "tests/oracle/configs"] {
        collect(&root.join(folder), &mut texts);
    }
    if let Some(more) = std::env::var_os("FORMWORK_CORPUS") {
        collect(Path::new(&more), &mut texts);
    }
    for recorded in [
        include_str!("../../../../tests/oracle/fmt.jsonl"),
        include_str!("../../../../tests/oracle/syntax.jsonl"),
    ] {
        for line in recorded.lines() {
            let case: serde_json::Value = serde_json::from_str(line).expect("a case a line");
            texts.push(case["in"].as_str().expect("text").as_bytes().to_vec());
        }
    }
    texts
}

fn collect(folder: &Path, texts: &mut Vec<Vec<u8>>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let name = path.to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, texts);
        } else if [".tf", ".tfvars", ".hcl"].iter().any(|e| name.ends_with(e))
            && let Ok(bytes) = std::fs::read(&path)
        {
            texts.push(bytes);
        }
    }
}

/// The text with its blanks, line breaks and comments moved about, at one of several strengths.
fn mangled(choices: &mut Choices, text: &[u8]) -> Vec<u8> {
    let tokens = scan(text, ScanMode::Code);
    // One change in so many places.
    let rarity = [3, 10, 40, 200][choices.below(4)];
    let structural = choices.one_in(2);
    let mut out: Vec<u8> = Vec::with_capacity(text.len() * 2);
    let mut at = 0;
    for token in &tokens {
        let (start, end) = (token.start as usize, token.end as usize);
        let literal = matches!(token.kind, T::QuotedText | T::Text);
        if literal || !choices.one_in(rarity) {
            out.extend_from_slice(&text[at..start]);
        } else {
            match choices.below(12) {
                0..=2 => {}
                3 | 4 => out.extend_from_slice(b" "),
                5 => out.extend_from_slice(b"   "),
                6 => out.extend_from_slice(b"\t"),
                7 | 8 => out.extend_from_slice(b" /* c */ "),
                9 => out.extend_from_slice(b"\n"),
                10 => out.extend_from_slice(b" # c\n"),
                _ => out.extend_from_slice(b"\n\n  // c\n"),
            }
        }
        at = end;
        let piece = &text[start..end];
        if structural && !literal && choices.one_in(rarity * 4) {
            match choices.below(6) {
                0 => continue,
                1 => out.extend_from_slice(piece),
                2 => {
                    let other = tokens[choices.below(tokens.len())];
                    out.extend_from_slice(&text[other.start as usize..other.end as usize]);
                }
                3 => out.extend_from_slice("é日".as_bytes()),
                4 => out.extend_from_slice(choices.of(PIECES).as_bytes()),
                _ => {}
            }
        }
        if token.kind == T::Newline && choices.one_in(rarity * 3) {
            // lines joined, or parted further
            if choices.one_in(2) {
                out.extend_from_slice(b"\n\n");
            }
            continue;
        }
        out.extend_from_slice(piece);
    }
    if choices.one_in(30) {
        let text = String::from_utf8_lossy(&out).replace('\n', "\r\n");
        out = text.into_bytes();
    }
    if choices.one_in(60) {
        out.splice(0..0, [0xef, 0xbb, 0xbf]);
    }
    out
}

const PIECES: &[&str] = &[
    "\"${x}\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "-",
    "!",
    "- -1",
    "...",
    "[*]",
    ".*",
    ".0",
    " : ",
    " ? a : b",
    "=",
    "=>",
    "for",
    "in",
    "if",
    "null",
    "::",
    "\"a\"",
    "<<E\n x\n  ${y}\nE\n",
    "<<-E\n  x\n E\n",
    "a = 1",
    "b {}\n",
    "b \"x\" {\n}\n",
    "[for x in y : x if z]",
    "{ a = 1, b = 2 }",
    "[\n",
    "\n]",
    "{\n",
    "\n}",
    "(\n",
    "\n)",
    "%{ if x }",
    "\"%{ if x ~} y %{ endif }\"",
    "type = \"list\"\n",
    "variable x {\n type = list\n}\n",
];
