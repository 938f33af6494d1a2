//! Field by field beside a live Terraform: what both write for programs, of the same stories.
//!
//! A story (`stories/*.story`) is a folder's files and the commands that are run on it, in turn. Each side
//! has a folder of its own. After each command the exit codes, what stands on standard output as JSON, and
//! the files of the states are compared key by key, the order of arrays included. What differs from run to
//! run (ids, times) is made the same first. The rest are differences: each is either one of [`EXCUSES`],
//! which say why, or a failure.
//!
//! `FORMWORK_STORY=NAME` tries one story alone.

mod compare;
mod excuses;
mod stream;

use crate::{env, repository};
use compare::{Difference, differences, settled};
use excuses::{EXCUSES, Excuse};
use formwork_testkit::{Ran, TestEnv};
use serde_json::Value;
use std::collections::BTreeMap;

/// A line of a story.
enum Step {
    /// Files of the folder are written, or removed (`None`).
    File(String, Option<String>),
    /// A command is run.
    Run(String),
}

struct Story {
    name: String,
    steps: Vec<Step>,
}

fn stories() -> Vec<Story> {
    let folder = repository("tests/e2e/side_by_side/stories");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("stories") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let name = path.file_stem().expect("a name").to_string_lossy();
        all.push(Story {
            name: name.into_owned(),
            steps: parse(&text),
        });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// `== NAME` begins a file, `== NAME -` removes it, `$ WORDS` is a command; the first line is a title.
fn parse(text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut open: Option<(String, String)> = None;
    let close = |open: &mut Option<(String, String)>, steps: &mut Vec<Step>| {
        if let Some((name, text)) = open.take() {
            steps.push(Step::File(name, Some(text)));
        }
    };
    for line in text.lines().skip(1) {
        if let Some(name) = line.strip_prefix("== ") {
            close(&mut open, &mut steps);
            match name.strip_suffix(" -") {
                Some(name) => steps.push(Step::File(name.to_owned(), None)),
                None => open = Some((name.to_owned(), String::new())),
            }
        } else if let Some(words) = line.strip_prefix("$ ") {
            close(&mut open, &mut steps);
            steps.push(Step::Run(words.to_owned()));
        } else if let Some((_, text)) = &mut open {
            text.push_str(line);
            text.push('\n');
        }
    }
    close(&mut open, &mut steps);
    steps
}

/// One of the two, in its folder.
struct Side {
    env: TestEnv,
    program: String,
}

impl Side {
    fn ours() -> Self {
        let env = env();
        // by the name of the version beside which it stands
        env.write("../bin/.keep", "");
        let link = env.path().join("../bin/terraform1.11.4");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_formwork"), &link).expect("a link");
        let program = link.display().to_string();
        Self { env, program }
    }

    fn theirs(program: &str) -> Self {
        let env = env()
            .with("TF_CLI_CONFIG_FILE", "/dev/null")
            .with("CHECKPOINT_DISABLE", "1");
        Self {
            env,
            program: program.to_owned(),
        }
    }

    #[track_caller]
    fn run(&self, words: &str) -> Ran {
        let words: Vec<&str> = words.split(' ').collect();
        let mut ran = self.env.run_program(&self.program, &words, "");
        let folder = self.env.path().display().to_string();
        ran.stdout = ran.stdout.replace(&folder, "FOLDER");
        ran
    }

    fn state(&self) -> Value {
        let path = self.env.path().join("terraform.tfstate");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }
}

/// What a command writes, as what it is compared: a document, or lines of an event stream.
fn compare_runs(words: &str, ours: &Ran, theirs: &Ran, found: &mut Vec<Difference>) {
    if ours.code != theirs.code {
        found.push(Difference::new("exit", &ours.code, &theirs.code));
    }
    if !words.split(' ').any(|w| w == "-json") {
        return;
    }
    let lines = |ran: &Ran| -> Option<Vec<Value>> {
        ran.stdout
            .lines()
            .filter(|l| !l.trim().is_empty())
            .map(|l| {
                serde_json::from_str::<Value>(l)
                    .ok()
                    .filter(|v| v.get("@level").is_some())
            })
            .collect()
    };
    if let (Some(a), Some(b)) = (lines(ours), lines(theirs))
        && !(a.is_empty() && b.is_empty())
    {
        stream::compare(&a, &b, found);
        return;
    }
    let document = |ran: &Ran| serde_json::from_str::<Value>(&ran.stdout).ok();
    match (document(ours), document(theirs)) {
        (Some(ours), Some(theirs)) => differences("", &settled(ours), &settled(theirs), found),
        (None, None) => {
            if ours.stdout.trim().is_empty() != theirs.stdout.trim().is_empty() {
                found.push(Difference::new("text", &ours.stdout, &theirs.stdout));
            }
        }
        _ => found.push(Difference::new(
            "form",
            &format!("{}{}", ours.stdout, ours.stderr),
            &format!("{}{}", theirs.stdout, theirs.stderr),
        )),
    }
}

/// Plays a story on both sides; what differs, each with the command and the line of the story.
fn play(story: &Story, terraform: &str) -> Vec<(String, Difference)> {
    let (ours, theirs) = (Side::ours(), Side::theirs(terraform));
    let mut all = Vec::new();
    for step in &story.steps {
        match step {
            Step::File(name, text) => {
                for side in [&ours, &theirs] {
                    match text {
                        Some(text) => drop(side.env.write(name, text)),
                        None => {
                            std::fs::remove_file(side.env.path().join(name)).expect("removed");
                        }
                    }
                }
            }
            Step::Run(words) => {
                let (a, b) = (ours.run(words), theirs.run(words));
                let mut found = Vec::new();
                compare_runs(words, &a, &b, &mut found);
                let states = (ours.state(), theirs.state());
                differences(
                    "statefile",
                    &settled(states.0),
                    &settled(states.1),
                    &mut found,
                );
                all.extend(found.into_iter().map(|d| (words.clone(), d)));
            }
        }
    }
    all
}

fn terraform() -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join("terraform"))
        .find(|file| file.is_file());
    if found.is_none() {
        // straight to the stream: what macros print is shown only of tests that fail
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: there is no terraform here to stand beside\n",
        );
    }
    found.map(|f| f.display().to_string())
}

/// The stories of this run, and whether they are all.
fn chosen() -> (Vec<Story>, bool) {
    let mut all = stories();
    match std::env::var("FORMWORK_STORY") {
        Ok(name) => {
            all.retain(|s| s.name == name);
            (all, false)
        }
        Err(_) => (all, true),
    }
}

#[test]
fn beside_terraform() {
    let Some(terraform) = terraform() else { return };
    let (stories, whole) = chosen();
    let mut wrong = Vec::new();
    let mut used: BTreeMap<usize, usize> = BTreeMap::new();
    for story in &stories {
        for (words, difference) in play(story, &terraform) {
            let excuse = EXCUSES
                .iter()
                .position(|e: &Excuse| e.is_for(&story.name, &words, &difference));
            match excuse {
                Some(at) => *used.entry(at).or_default() += 1,
                None => wrong.push(format!("{} $ {words}\n  {difference}", story.name)),
            }
        }
    }
    for (at, excuse) in EXCUSES.iter().enumerate() {
        if whole && !excuse.by_chance && !used.contains_key(&at) {
            wrong.push(format!("excuse without a case: {excuse:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differences:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
