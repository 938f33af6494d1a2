//! The collection of mistakes in `docs/mistakes`: each is made again, and what is said of it must be
//! what stands there, to the letter.
//!
//! A file is a list of `##` headings. Below each stand the files of a configuration, as code blocks whose
//! info string is a language and a file name (and `crlf` or `noeol` for line ends as on Windows and for
//! none at the end), and one `console` block with the commands, begun by `$`, and all that they print.
//!
//! `FORMWORK_UPDATE=mistakes cargo test -p formwork --test e2e mistakes` writes what is said now in place
//! of what stands there; the difference is then read as prose.

use crate::{env, repository};
use formwork_testkit::TestEnv;

/// One block of code: its info string, and the lines within.
struct Code<'t> {
    info: &'t str,
    text: String,
}

/// A mistake, and its text from the heading to the next.
struct Mistake<'t> {
    heading: &'t str,
    code: Vec<Code<'t>>,
}

fn mistakes(text: &str) -> Vec<Mistake<'_>> {
    let mut all: Vec<Mistake<'_>> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            let code = Vec::new();
            all.push(Mistake { heading, code });
        } else if let Some(info) = line.strip_prefix("```") {
            let within: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
            let text = within.iter().flat_map(|l| [l, "\n"]).collect();
            if let Some(mistake) = all.last_mut() {
                mistake.code.push(Code { info, text });
            }
        }
    }
    all
}

/// Writes the files and gives what the commands print, with the commands.
fn made(mistake: &Mistake<'_>) -> String {
    let env = env();
    let mut commands = Vec::new();
    for code in &mistake.code {
        let mut words = code.info.split(' ');
        match (words.next(), words.next()) {
            (Some("console"), None) => {
                commands.extend(code.text.lines().filter_map(|l| l.strip_prefix("$ ")));
            }
            (Some(_), Some(file)) => {
                let mut text = code.text.clone();
                for flag in words {
                    text = match flag {
                        "crlf" => text.replace('\n', "\r\n"),
                        "noeol" => text.trim_end_matches(['\r', '\n']).to_owned(),
                        other => panic!("{}: what is {other}?", mistake.heading),
                    };
                }
                env.write(file, text);
            }
            _ => panic!("{}: a code block without a file", mistake.heading),
        }
    }
    let mut said = String::new();
    for command in commands {
        said.push_str(&format!("$ {command}\n{}", run(&env, command)));
    }
    said
}

fn run(env: &TestEnv, command: &str) -> String {
    let mut words: Vec<&str> = command.split(' ').collect();
    if words[0] == "rm" {
        std::fs::remove_file(env.path().join(words[1])).expect("a file");
        return String::new();
    }
    let program = words.iter().position(|w| *w == "formwork").expect("us");
    let variables: Vec<(&str, &str)> = words
        .drain(..=program)
        .filter_map(|w| w.split_once('='))
        .collect();
    let ran = env.run_with(&words, "", &variables);
    let place = env.path().to_string_lossy().into_owned();
    ran.text().replace(&place, ".")
}

/// The text with what is said now.
fn renewed(text: &str) -> String {
    let mut out = String::new();
    let mut mistakes = mistakes(text).into_iter();
    let mut lines = text.lines();
    let mut current = None;
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if line.starts_with("## ") {
            current = mistakes.next();
        } else if line == "```console" {
            lines.by_ref().find(|l| *l == "```");
            let mistake = current.as_ref().expect("a heading before the console");
            out.push_str(&made(mistake));
            out.push_str("```\n");
        }
    }
    out
}

#[test]
fn mistakes_are_told_as_the_collection_has_them() {
    let update = std::env::var("FORMWORK_UPDATE").is_ok_and(|v| v == "mistakes");
    let folder = repository("docs/mistakes");
    let mut count = 0;
    let mut differing = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the collection")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.file_name().is_some_and(|n| n != "README.md"))
        .collect();
    files.sort();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a text");
        count += mistakes(&text).len();
        let now = renewed(&text);
        if update {
            std::fs::write(&path, now).expect("written");
            continue;
        }
        for (was, is) in mistakes(&text).iter().zip(mistakes(&now)) {
            let console = |m: &Mistake<'_>| {
                let found = m.code.iter().find(|c| c.info == "console");
                found.expect("a console").text.clone()
            };
            if console(was) != console(&is) {
                differing.push(format!(
                    "=== {}\n--- in {}\n{}--- now\n{}",
                    was.heading,
                    path.display(),
                    console(was),
                    console(&is)
                ));
            }
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(count >= 60, "only {count} mistakes");
}
