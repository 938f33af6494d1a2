//! What Terraform prints for the commands that draw, describe and list, and what we print
//! (`tests/oracle/commands.jsonl`, made by `record_commands.py`).

use crate::{env, repository};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Case {
    name: String,
    files: BTreeMap<String, String>,
    before: Vec<String>,
    commands: Vec<Recorded>,
}

#[derive(Deserialize)]
struct Recorded {
    command: String,
    exit: i32,
    /// Summaries of errors and warnings.
    said: Vec<String>,
    /// Absent where there are only diagnostics, whose sentences are our own.
    stdout: Option<String>,
}

/// Where we differ on purpose, by case and command, and why.
const DIFFERENT: &[(&str, &str, &str)] = &[
    ("empty directory", "graph", "the remark in it is our own"),
    ("no resources", "graph", "the remark in it is our own"),
    ("empty directory", "modules", "the sentence is our own"),
    ("no resources", "modules", "the sentence is our own"),
    ("empty directory", "show", "the sentence is our own"),
    (
        "empty directory",
        "modules -json",
        "no modules are an empty list, not null, which consumers would have to ask for",
    ),
    (
        "no resources",
        "modules -json",
        "no modules are an empty list, not null, which consumers would have to ask for",
    ),
    (
        "empty directory",
        "output x",
        "an output that was asked for and is not there is an error, not a warning",
    ),
    (
        "empty directory",
        "output -raw x",
        "an output that was asked for and is not there is an error: a script would take nothing for its value",
    ),
    (
        "outputs",
        "output text number",
        "an argument too many has one summary, whichever the command",
    ),
];

fn cases() -> Vec<Case> {
    let path = repository("tests/oracle/commands.jsonl");
    let text = std::fs::read_to_string(path).expect("recorded cases");
    text.lines()
        .map(|l| serde_json::from_str(l).expect("a case"))
        .collect()
}

/// The paths of a tree drawn with lines, sorted: Terraform's order changes from run to run, and it
/// forgets some of the lines.
fn branches(text: &str) -> Vec<String> {
    let mut path: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for line in text.lines() {
        match line.split_once("── ") {
            Some((lead, name)) => {
                path.truncate(lead.chars().count() / 4);
                path.push(name);
                all.push(path.join(" / "));
            }
            None => all.push(line.to_owned()),
        }
    }
    all.sort();
    all
}

fn without_sentences(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| {
                !matches!(&**name, "description" | "description_kind" | "summary")
            });
            fields.values_mut().for_each(without_sentences);
        }
        Value::Array(items) => items.iter_mut().for_each(without_sentences),
        _ => {}
    }
}

/// A standard output in the form in which it is compared.
fn comparable(command: &str, text: &str) -> Vec<String> {
    let json = || serde_json::from_str::<Value>(text).expect("JSON");
    // ids are random
    let ids = |text: &str| {
        let words = text.split('"').map(|word| {
            let is_id = word.len() == 36 && word.matches('-').count() == 4;
            if is_id { "ID" } else { word }
        });
        words.collect::<Vec<_>>().join("\"")
    };
    match command {
        "providers" | "modules" => branches(text),
        "modules -json" => {
            let mut all = json();
            if let Some(modules) = all["modules"].as_array_mut() {
                modules.sort_by_key(ToString::to_string);
            }
            vec![all.to_string()]
        }
        "providers schema -json" => {
            let mut all = json();
            without_sentences(&mut all);
            vec![all.to_string()]
        }
        "show -json" => {
            let mut all: Value = serde_json::from_str(&ids(text)).expect("JSON");
            if let Some(fields) = all.as_object_mut() {
                fields.remove("terraform_version");
            }
            vec![all.to_string()]
        }
        _ => vec![ids(text)],
    }
}

/// The kinds and summaries of what was said.
fn summaries(text: &str) -> Vec<String> {
    let starts = ["Error: ", "Warning: "];
    text.lines()
        .filter(|l| starts.iter().any(|s| l.starts_with(s)))
        .map(str::to_owned)
        .collect()
}

#[test]
fn commands_print_what_was_recorded() {
    let mut wrong = Vec::new();
    for case in cases() {
        let env = env();
        for (path, text) in &case.files {
            env.write(path, text);
        }
        for command in &case.before {
            env.run(&[command, "-auto-approve"]).exits(0);
        }
        for recorded in &case.commands {
            let words: Vec<&str> = recorded.command.split(' ').collect();
            let ran = env.run(&words);
            let command = &*recorded.command;
            let mut differs = Vec::new();
            if ran.code != recorded.exit {
                differs.push(format!("exit {} for {}", ran.code, recorded.exit));
            }
            if let Some(stdout) = &recorded.stdout {
                // warnings of other commands follow what is asked for
                let ours = ran.stdout.split("\nWarning: ").next().unwrap_or_default();
                let (ours, theirs) = (comparable(command, ours), comparable(command, stdout));
                if ours != theirs && recorded.exit == 0 {
                    differs.push(format!(
                        "--- ours\n{}\n--- theirs\n{}",
                        ours.join("\n"),
                        theirs.join("\n")
                    ));
                }
            }
            let said = summaries(&ran.text());
            // a cycle begins where it likes
            let cycle = |all: &[String]| all.iter().any(|s| s.contains("Cycle: "));
            if !recorded.said.is_empty()
                && said != recorded.said
                && !(cycle(&said) && cycle(&recorded.said))
            {
                differs.push(format!("says {said:?} for {:?}", recorded.said));
            }
            let known = DIFFERENT
                .iter()
                .any(|(name, c, _)| *name == case.name && *c == command);
            if known == differs.is_empty() {
                wrong.push(format!(
                    "{}: {command}: {}",
                    case.name,
                    if known {
                        "no longer differs".to_owned()
                    } else {
                        differs.join("\n")
                    }
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn pictures_of_other_kinds() {
    let env = env();
    env.write(
        "main.tf",
        "resource \"terraform_data\" \"a\" {}\nmodule \"m\" {\n  source = \"./m\"\n  v      = terraform_data.a.id\n}\n",
    )
    .write("m/main.tf", "variable \"v\" {}\nresource \"terraform_data\" \"b\" {\n  input = var.v\n}\n");
    let ran = env.run(&["graph", "-format=mermaid"]);
    assert_eq!(
        ran.exits(0).stdout,
        "flowchart RL\n  n0[\"terraform_data.a\"]\n  subgraph m1[\"module.m\"]\n    n1[\"terraform_data.b\"]\n  end\n  n1 --> n0\n"
    );
    let ran = env.run(&["graph", "-format=mermaid", "-type=plan"]);
    ran.exits(0).says(&[
        "{{\"provider[#quot;terraform.io/builtin/terraform#quot;]\"}}",
        "([\"module.m.var.v (expand)\"])",
        "([\"root\"])",
    ]);
    env.run(&["plan", "-out=p"]).exits(0);
    env.run(&["graph", "-plan=p"])
        .exits(0)
        .says(&["digraph G {", "module.m.terraform_data.b"]);
    env.run(&["graph", "-plan=p", "-format=mermaid"])
        .exits(0)
        .says(&["flowchart RL", "module.m.terraform_data.b"]);
    env.run(&["graph", "-plan=main.tf"]).exits(1);
    env.write(
        "main.tf",
        "resource \"terraform_data\" \"a\" { input = terraform_data.b.id }\nresource \"terraform_data\" \"b\" { input = terraform_data.a.id }\n",
    );
    env.run(&["graph", "-draw-cycles"]).exits(0).says(&[
        "\"terraform_data.a\" -> \"terraform_data.b\" [color = \"red\", penwidth = \"2.0\"];",
        "\"terraform_data.b\" -> \"terraform_data.a\" [color = \"red\", penwidth = \"2.0\"];",
    ]);
    env.run(&["graph", "-type=plan", "-draw-cycles"])
        .exits(0)
        .says(&[
            "\"[root] terraform_data.b (expand)\" -> \"[root] terraform_data.a (expand)\" [color",
        ]);
}

#[test]
fn answers_for_programs() {
    let env = env();
    env.write(
        "main.tf",
        "module \"m\" {\n  source = \"./m\"\n}\noutput \"o\" { value = 1 }\n",
    )
    .write(
        "m/main.tf",
        "resource \"terraform_data\" \"b\" {\n  count = 2\n  input = count.index\n}\n",
    );
    env.run(&["apply", "-auto-approve"]).exits(0);
    let shown = env.run(&["state", "show", "-json", "module.m.terraform_data.b[1]"]);
    let shown = shown.exits(0).json();
    assert_eq!(shown["format_version"], "1.0");
    assert!(shown["values"]["outputs"].is_null());
    let resources = &shown["values"]["root_module"]["child_modules"][0]["resources"];
    assert_eq!(resources.as_array().map(Vec::len), Some(1));
    assert_eq!(resources[0]["address"], "module.m.terraform_data.b[1]");
    assert_eq!(resources[0]["values"]["output"], 1);
    env.run(&["state", "show", "-json", "module.m.terraform_data.c"])
        .exits(1);

    let variables = [("TF_CLI_ARGS_providers", "-test-directory=none")];
    env.run_with(&["providers"], "", &variables)
        .exits(0)
        .says(&["Providers required by state"]);

    env.run(&["workspace", "new", "other"]).exits(0);
    let listed = env.run(&["workspace", "list", "-json"]).exits(0).json();
    assert_eq!(
        listed,
        serde_json::json!({
            "format_version": "1.0",
            "workspaces": [
                { "name": "default", "is_current": false },
                { "name": "other", "is_current": true },
            ],
            "diagnostics": [],
        })
    );
    let functions = env.run(&["metadata", "functions", "-json"]).exits(0).json();
    assert_eq!(functions["format_version"], "1.0");
    assert_eq!(
        functions["function_signatures"]["abs"]["return_type"],
        "number"
    );
    let variables = [("TF_CLI_ARGS_providers_schema", "-json")];
    let schemas = env.run_with(&["providers", "schema"], "", &variables);
    assert_eq!(schemas.exits(0).json()["format_version"], "1.0");
}
